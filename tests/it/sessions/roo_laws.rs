//! What must hold of every Roo Code history: the context is what the tool would send, and a task
//! that goes on only grows.

use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};
use tract::formats::Format;
use tract::hash::CommitHash;
use tract::ingest::{ExportOptions, ImportRequest, Outcome, export, import};
use tract::model::{Millis, Part};
use tract::repo::{On, Repo};

/// What the tool sends of a history: from the last summary on, without what a tag hides whose
/// summary or marker is there. An assistant's summary leaves the first message in front.
fn sent(history: &[Value]) -> Vec<&Value> {
    let ids = |mark: &str, id: &str| -> Vec<&Value> {
        let marked = history.iter().filter(|m| m[mark] == true);
        marked.filter_map(|m| m.get(id)).collect()
    };
    let summaries = ids("isSummary", "condenseId");
    let markers = ids("isTruncationMarker", "truncationId");
    let mut from: Vec<&Value> = history.iter().collect();
    if let Some(last) = history.iter().rposition(|m| m["isSummary"] == true) {
        from = history[last..].iter().collect();
        if last > 0 && history[last]["role"] == "assistant" && history[0]["role"] == "user" {
            from.insert(0, &history[0]);
        }
    }
    from.retain(|m| {
        let condensed = m
            .get("condenseParent")
            .is_some_and(|id| summaries.contains(&id));
        let truncated = m
            .get("truncationParent")
            .is_some_and(|id| markers.contains(&id));
        !condensed && !truncated
    });
    from
}

fn words(messages: &[&Value]) -> Vec<String> {
    let word = |m: &&Value| m["content"].as_str().expect("a text").to_owned();
    messages.iter().map(word).collect()
}

/// A repository and the file of a task.
struct Task {
    repo: Repo,
    directory: tempfile::TempDir,
}

impl Task {
    fn new() -> Self {
        Self {
            repo: Repo::ephemeral().expect("made"),
            directory: tempfile::tempdir().expect("made"),
        }
    }

    fn import(&self, history: &[Value]) -> (CommitHash, Outcome) {
        let file = self.directory.path().join("api_conversation_history.json");
        fs::write(&file, serde_json::to_string(history).expect("JSON")).expect("written");
        let request = ImportRequest {
            format: Some(roo()),
            ..ImportRequest::at(Millis(0), "import")
        };
        let report = import(&self.repo, &file, &request, &mut |_| {}).expect("imported");
        assert_eq!(report.problem_count, 0);
        let session = &report.sessions[0];
        (session.tip.expect("messages"), session.outcome)
    }

    fn context(&self, commit: &CommitHash) -> Vec<String> {
        let context = self.repo.context(commit).expect("it folds");
        let messages = self.repo.messages(&context).expect("they are here");
        let words = messages.iter().map(|message| match &message.parts[..] {
            [Part::Text { text }] => text.clone(),
            other => panic!("not a text: {other:?}"),
        });
        words.collect()
    }

    fn export(&self, commit: &CommitHash) -> Vec<Value> {
        let options = ExportOptions {
            prices: None,
            format: roo(),
            now: Millis(0),
            session: None,
        };
        let mut bytes = Vec::new();
        export(&self.repo, commit, &options, &mut bytes).expect("written");
        serde_json::from_slice(&bytes).expect("JSON")
    }
}

fn roo() -> &'static Format {
    Format::named("roo").expect("a known format")
}

/// What is drawn for a record: whether it is a user's, its mark, the mark's id, and its tags.
type Drawn = (
    bool,
    Option<&'static str>,
    Option<&'static str>,
    Option<&'static str>,
    Option<&'static str>,
);

fn record(at: usize, (user, mark, own, condensed, truncated): Drawn) -> Value {
    let role = if user { "user" } else { "assistant" };
    let mut record = json!({"role": role, "content": format!("m{at}"), "ts": at});
    let own_key = match mark {
        Some("isSummary") => "condenseId",
        _ => "truncationId",
    };
    let ids = [
        (own_key, own),
        ("condenseParent", condensed),
        ("truncationParent", truncated),
    ];
    for (key, id) in ids {
        if let Some(id) = id {
            record[key] = json!(id);
        }
    }
    if let Some(mark) = mark {
        record[mark] = json!(true);
    }
    record
}

/// A history with tags anywhere, sensible or not.
fn any_history() -> impl Strategy<Value = Vec<Value>> {
    let one_of = |words: [&'static str; 3]| {
        prop::option::weighted(0.4, prop::sample::select(words.to_vec()))
    };
    let id = || one_of(["a", "b", "c"]);
    let mark = one_of(["isSummary", "isTruncationMarker", "isTruncationMarker"]);
    let drawn = (any::<bool>(), mark, id(), id(), id());
    prop::collection::vec(drawn, 1..14).prop_map(|all| {
        let all = all.into_iter().enumerate();
        all.map(|(at, drawn)| record(at, drawn)).collect()
    })
}

/// One thing that happens to a task.
#[derive(Clone, Copy, Debug)]
enum Event {
    Said,
    /// So many quarters of what follows the task; two as the tool does it.
    Truncated(usize),
    /// As the tool's older versions did it.
    CondensedInPlace,
    /// As its newer versions do.
    CondensedAtTheEnd,
    Imported,
}

/// What the tool makes of its file.
fn happen(history: &mut Vec<Value>, event: Event, number: usize) {
    let id = format!("id{number}");
    let tag = |message: &mut Value, key: &str| {
        if message.get(key).is_none() {
            message[key] = json!(id);
        }
    };
    match event {
        Event::Said => {
            let role = ["user", "assistant"][history.len() % 2];
            history.push(json!({"role": role, "content": format!("m{number}"), "ts": number}));
        }
        Event::Truncated(quarters) => {
            let seen: Vec<usize> = (0..history.len())
                .filter(|at| {
                    let message = &history[*at];
                    message.get("truncationParent").is_none()
                        && message.get("isTruncationMarker").is_none()
                })
                .collect();
            let count = seen.len().saturating_sub(1) * quarters / 4 / 2 * 2;
            if count > 0 {
                for at in &seen[1..=count] {
                    tag(&mut history[*at], "truncationParent");
                }
                let place = seen.get(count + 1).copied().unwrap_or(history.len());
                let marker = json!({"role": "user", "content": format!("m{number}"),
                    "isTruncationMarker": true, "truncationId": id, "ts": number});
                history.insert(place, marker);
            }
        }
        Event::CondensedInPlace if history.len() > 4 => {
            let place = history.len() - 3;
            let fresh = |m: &Value| m.get("isSummary").is_none();
            if history[place..].iter().all(fresh) {
                for message in &mut history[1..place] {
                    tag(message, "condenseParent");
                }
                let summary = json!({"role": "assistant", "content": format!("m{number}"),
                    "isSummary": true, "condenseId": id, "ts": number});
                history.insert(place, summary);
            }
        }
        Event::CondensedAtTheEnd if history.len() > 1 => {
            for message in history.iter_mut() {
                tag(message, "condenseParent");
            }
            history.push(json!({"role": "user", "content": format!("m{number}"),
                "isSummary": true, "condenseId": id, "ts": number}));
        }
        _ => {}
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    use Event::{CondensedAtTheEnd, CondensedInPlace, Imported, Said, Truncated};
    let with = |condensed: Event| {
        let event = prop_oneof![
            8 => Just(Said),
            1 => (1..=3usize).prop_map(Truncated),
            1 => Just(condensed),
            2 => Just(Imported),
        ];
        prop::collection::vec(event, 0..40)
    };
    // A task may see an older version of the tool and then a newer one, not the other way round.
    (with(CondensedInPlace), with(CondensedAtTheEnd))
        .prop_map(|(older, newer)| [vec![Said], older, newer].concat())
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// The context is what the tool would send; written alone, all of it would be sent.
    #[test]
    fn the_context_is_what_the_tool_would_send(history in any_history()) {
        let task = Task::new();
        let (tip, _) = task.import(&history);
        prop_assert_eq!(task.context(&tip), words(&sent(&history)));
        prop_assert_eq!(task.export(&tip), history);

        // Before the tip the file holds the context alone.
        for back in 1.. {
            let Ok(earlier) = task.repo.resolve(&On::Head, &format!("{tip}~{back}")) else {
                break;
            };
            let alone = task.export(&earlier);
            prop_assert_eq!(words(&alone.iter().collect::<Vec<_>>()), task.context(&earlier));
            prop_assert_eq!(sent(&alone).len(), alone.len());
        }
    }

    /// Whenever a task is imported while it goes on, its path only grows, and all that was in the
    /// context once can be gone back to.
    #[test]
    fn a_path_only_grows(events in events()) {
        let task = Task::new();
        let mut history = Vec::new();
        let mut seen: Vec<(CommitHash, Vec<String>)> = Vec::new();
        for (number, event) in events.into_iter().chain([Event::Imported]).enumerate() {
            happen(&mut history, event, number);
            if let Event::Imported = event {
                let (tip, outcome) = task.import(&history);
                prop_assert_ne!(outcome, Outcome::Rewritten);
                let effective = words(&sent(&history));
                prop_assert_eq!(task.context(&tip), effective.clone());
                prop_assert_eq!(task.export(&tip), history.clone());
                seen.push((tip, effective));
            }
        }
        for (commit, effective) in seen {
            prop_assert_eq!(task.context(&commit), effective);
        }
    }
}
