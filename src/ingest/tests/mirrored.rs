//! Sub-agents that stand in a file of their own and, without their texts and final counts, in the file of the session
//! that started them: whichever comes first, and however far each has come, they are one conversation.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use crate::ingest::{ImportRequest, Reading, import};
use crate::model::pattern::Pattern;
use crate::model::price::Prices;
use crate::model::{Message, Millis, Part, RefName, RefValue, Usage};
use crate::repo::{Call, Repo};
use crate::upkeep::Erasing;

pub(super) const SESSION: &str = "11111111-2222-4333-8444-555555555555";
pub(super) const AGENT: &str = "a0b1c2d3e4f5a6b7c";

/// How often the sub-agent calls a tool.
const ROUNDS: usize = 3;

pub(super) fn line(kind: &str, uuid: &str, parent: Option<&str>, at: usize, more: &str) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"{SESSION}","cwd":"/w","version":"2.1.63","timestamp":"2026-03-07T06:{at:02}:00.000Z",{more}}}"#
    ) + "\n"
}

pub(super) fn user(content: &str) -> String {
    format!(r#""message":{{"role":"user","content":[{content}]}}"#)
}

pub(super) fn reply(id: &str, content: &str, output_tokens: usize) -> String {
    format!(
        r#""message":{{"id":"{id}","role":"assistant","model":"claude-opus-4-6","content":[{content}],"usage":{{"input_tokens":100,"output_tokens":{output_tokens}}}}}"#
    )
}

pub(super) fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

pub(super) fn call(id: &str, name: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#)
}

pub(super) fn result(id: &str, content: &str) -> String {
    format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{content}"}}"#)
}

/// The lines of the session's file, with the mirror in it, and those of the sub-agent's own.
fn files() -> (Vec<String>, Vec<String>) {
    let mut parents = vec![
        line("user", "p1", None, 1, &user(&text("Have it looked at."))),
        line(
            "assistant",
            "p2",
            Some("p1"),
            2,
            &reply("msg_1", &call("toolu_T", "Task"), 20),
        ),
    ];
    let mut own = Vec::new();
    let mut mirrored = |at: usize, kind: &str, uuid: &str, message: &str| {
        let inner = format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","timestamp":"2026-03-07T06:{at:02}:00.000Z",{message}}}"#
        );
        let data = format!(
            r#""data":{{"type":"agent_progress","agentId":"{AGENT}","prompt":"","message":{inner}}},"parentToolUseID":"toolu_T""#
        );
        let before = format!("m{}", parents.len() - 1);
        let before = if parents.len() == 2 { "p2" } else { &before };
        let uuid = format!("m{}", parents.len());
        parents.push(line("progress", &uuid, Some(before), at, &data));
    };
    let mut say = |at: usize, kind: &str, message: &str| {
        let before = own.len().checked_sub(1).map(|before| format!("o{before}"));
        let uuid = format!("o{}", own.len());
        let more = format!(r#""isSidechain":true,"agentId":"{AGENT}",{message}"#);
        own.push(line(kind, &uuid, before.as_deref(), at, &more));
        uuid
    };
    let prompt = user(&text("Look at it."));
    let uuid = say(3, "user", &prompt);
    mirrored(3, "user", &uuid, &prompt);
    for round in 0..ROUNDS {
        let (at, id, tool) = (
            4 + 2 * round,
            format!("msg_A{round}"),
            format!("toolu_{round}"),
        );
        say(
            at,
            "assistant",
            &reply(&id, &text(&format!("I read file {round}.")), 2),
        );
        let calls = call(&tool, "Read");
        let uuid = say(at, "assistant", &reply(&id, &calls, 700));
        mirrored(at, "assistant", &uuid, &reply(&id, &calls, 2));
        let answer = user(&result(&tool, &format!("alpha {round}")));
        let uuid = say(at + 1, "user", &answer);
        mirrored(at + 1, "user", &uuid, &answer);
    }
    let last = reply("msg_A9", &text("It says alpha."), 900);
    say(30, "assistant", &last);
    let before = format!("m{}", parents.len() - 1);
    let answer = user(&result("toolu_T", "It says alpha."));
    parents.push(line("user", "p3", Some(&before), 31, &answer));
    let last = reply("msg_2", &text("It is alpha."), 30);
    parents.push(line("assistant", "p4", Some("p3"), 32, &last));
    (parents, own)
}

/// A folder with the session's file and the sub-agent's.
pub(super) struct Place {
    folder: tempfile::TempDir,
    parents: Vec<String>,
    own: Vec<String>,
}

impl Place {
    fn new() -> Self {
        let (parents, own) = files();
        Self::of(parents, own)
    }

    /// Files of these lines.
    pub(super) fn of(parents: Vec<String>, own: Vec<String>) -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            parents,
            own,
        }
    }

    /// The file of the session, or the sub-agent's, with so many lines.
    fn file(&self, is_own: bool, lines: usize) -> PathBuf {
        let (name, all) = match is_own {
            true => (
                format!("{SESSION}/subagents/agent-{AGENT}.jsonl"),
                &self.own,
            ),
            false => (format!("{SESSION}.jsonl"), &self.parents),
        };
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, all[..lines.min(all.len())].concat()).expect("written");
        path
    }
}

fn bring_in(repo: &Repo, path: &Path, reading: Reading) {
    let request = ImportRequest {
        reading,
        ..ImportRequest::at(Millis(7), "import")
    };
    import(repo, path, &request, &mut |_| {}).expect("imports");
}

/// The refs of all sessions.
pub(super) fn sessions(repo: &Repo) -> Vec<(RefName, RefValue)> {
    repo.references(RefName::SESSIONS).expect("refs")
}

fn agent() -> RefName {
    RefName::session("claude-code", &format!("{SESSION}/agent-{AGENT}"))
}

/// What the sub-agent's conversation says: each text, call and result.
pub(super) fn told(repo: &Repo) -> Vec<String> {
    let refs = sessions(repo).into_iter();
    let tips = refs.filter(|(name, _)| *name == agent());
    let tips: Vec<_> = tips.filter_map(|(_, value)| value.commit()).collect();
    let context = repo.context(&tips[0]).expect("a context");
    let messages = repo.messages(&context).expect("its messages").into_iter();
    let part = |part: Part| match part {
        Part::Text { text } => text,
        Part::ToolCall { id, .. } => id,
        Part::ToolResult { call, .. } => format!("result of {call}"),
        other => panic!("{other:?}"),
    };
    let parts = messages.flat_map(|Message { parts, .. }| parts);
    parts.map(part).collect()
}

/// How many replies were paid for, and what was counted for them.
pub(super) fn bill(repo: &Repo) -> (usize, u64, u64) {
    let billed = repo.billed(None, &Prices::none()).expect("a bill");
    let sum = |of: fn(&Usage) -> u64| billed.iter().map(|it| of(&it.usage)).sum();
    (
        billed.len(),
        sum(|it| it.input_tokens),
        sum(|it| it.output_tokens),
    )
}

/// All that the sub-agent said.
fn everything() -> Vec<String> {
    let mut all = vec!["Look at it.".to_owned()];
    for round in 0..ROUNDS {
        all.push(format!("I read file {round}."));
        all.push(format!("toolu_{round}"));
        all.push(format!("result of toolu_{round}"));
    }
    all.push("It says alpha.".to_owned());
    all
}

/// A repository into which files came, each with so many lines.
pub(super) fn taken(place: &Place, files: &[(bool, usize)]) -> Repo {
    let repo = Repo::ephemeral().expect("a repository");
    for (is_own, lines) in files {
        bring_in(&repo, &place.file(*is_own, *lines), Reading::Whole);
    }
    repo
}

pub(super) const ALL: usize = usize::MAX;
pub(super) const OWN: (bool, usize) = (true, ALL);
pub(super) const PARENTS: (bool, usize) = (false, ALL);

#[test]
fn a_sub_agents_own_file_wins_over_its_mirror_whichever_comes_first() {
    let place = Place::new();
    let first = taken(&place, &[PARENTS, OWN]);
    for order in [
        &[PARENTS, OWN][..],
        &[OWN, PARENTS],
        &[PARENTS, OWN, PARENTS, OWN],
        &[OWN, PARENTS, OWN, PARENTS],
        &[OWN, OWN, PARENTS, PARENTS],
    ] {
        let repo = taken(&place, order);
        assert_eq!(told(&repo), everything(), "{order:?}");
        assert_eq!(sessions(&repo), sessions(&first), "{order:?}");
        assert_eq!(bill(&repo), (ROUNDS + 3, 600, 3050), "{order:?}");
        let branches = repo.references(RefName::HEADS).expect("branches");
        assert_eq!(branches.len(), 2, "{order:?}: {branches:?}");
        let view = repo.store.read().expect("a view");
        let row = view.session(&agent()).expect("read").expect("a row");
        assert_eq!(row.cwd.as_deref(), Some("/w"), "{order:?}");
    }
}

/// What is erased is in a file, which is kept no more.
#[test]
fn a_mirror_takes_no_place_of_a_file_that_a_purge_has_erased() {
    let place = Place::new();
    for orders in [
        [&[OWN, PARENTS][..], &[PARENTS, OWN]],
        [&[OWN], &[PARENTS, OWN]],
    ] {
        let repo = taken(&place, orders[0]);
        let pattern = Pattern::regex("I read file 1").expect("a pattern");
        let what = Erasing {
            pattern: Some(&pattern),
            ..Erasing::default()
        };
        let purged = repo
            .erase(Call::at(Millis(8), "purge"), &what)
            .expect("erased");
        assert_eq!(purged.sources, 1);
        let mut all = everything();
        let at = all
            .iter()
            .position(|said| said == "I read file 1.")
            .expect("said");
        // The reply whose text it was.
        all.splice(at..at + 2, ["[purged]".to_owned()]);
        for (is_own, lines) in orders[1].iter().chain(orders[1]) {
            bring_in(&repo, &place.file(*is_own, *lines), Reading::Whole);
            assert_eq!(told(&repo), all);
        }
        assert_eq!(bill(&repo), (ROUNDS + 3, 600, 3050));
        assert_eq!(sessions(&repo).len(), 2);
    }
}

#[test]
fn the_file_of_its_own_wins_over_a_mirror_whose_file_a_purge_has_erased() {
    let place = Place::new();
    let repo = taken(&place, &[PARENTS]);
    let pattern = Pattern::regex("Have it looked at").expect("a pattern");
    let what = Erasing {
        pattern: Some(&pattern),
        ..Erasing::default()
    };
    let call = Call::at(Millis(8), "purge");
    let purged = repo.erase(call, &what).expect("erased");
    assert_eq!(purged.sources, 1);
    for (is_own, lines) in [OWN, PARENTS, OWN] {
        bring_in(&repo, &place.file(is_own, lines), Reading::Whole);
        assert_eq!(told(&repo), everything());
        assert_eq!(sessions(&repo).len(), 2);
        assert_eq!(bill(&repo), (ROUNDS + 3, 600, 3050));
    }
}

/// A fork's file holds a copy of the mirror, too, under its own id.
#[test]
fn what_a_copy_mirrors_of_a_sub_agent_is_paid_for_where_that_ran() {
    const FORK: &str = "99999999-2222-4333-8444-555555555555";
    let place = Place::new();
    let copied = format!(
        r#""sessionId":"{FORK}","forkedFrom":{{"sessionId":"{SESSION}","messageUuid":"p1"}}"#
    );
    let of = format!(r#""sessionId":"{SESSION}""#);
    let fork = place.folder.path().join(format!("{FORK}.jsonl"));
    std::fs::write(&fork, place.parents.concat().replace(&of, &copied)).expect("written");
    let files = [fork, place.file(false, ALL), place.file(true, ALL)];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let repo = Repo::ephemeral().expect("a repository");
        for at in order {
            bring_in(&repo, &files[at], Reading::Whole);
        }
        assert_eq!(bill(&repo), (ROUNDS + 3, 600, 3050), "{order:?}");
    }
}

#[test]
fn a_mirror_alone_is_the_conversation_as_before() {
    let repo = taken(&Place::new(), &[PARENTS]);
    let mut mirrored = everything();
    mirrored.retain(|said| !said.starts_with("I read"));
    mirrored.pop();
    assert_eq!(told(&repo), mirrored);
}

#[test]
fn what_the_mirror_alone_knows_stands_behind_an_own_file_that_was_cut_off() {
    let place = Place::new();
    // The prompt and the first round; then the call of the next.
    for lines in [1, 4, 6] {
        let cut = (true, lines);
        let first = taken(&place, &[PARENTS, cut]);
        let mut all = everything();
        all.pop();
        let said = |text: &String| match text.strip_prefix("I read file ") {
            Some(round) => place.own[..lines]
                .concat()
                .contains(&format!("file {round}")),
            None => true,
        };
        all.retain(said);
        assert_eq!(told(&first), all, "{lines} lines");
        let (replies, input, _) = bill(&first);
        assert_eq!((replies, input), (ROUNDS + 2, 500), "{lines} lines");
        for order in [
            &[cut, PARENTS][..],
            &[cut, PARENTS, cut],
            &[PARENTS, cut, PARENTS, cut],
        ] {
            let repo = taken(&place, order);
            assert_eq!(sessions(&repo), sessions(&first), "{order:?}");
            assert_eq!(bill(&repo), bill(&first), "{order:?}");
        }
        // Nothing is left of that once all of it is there.
        let whole = taken(&place, &[PARENTS, cut, OWN]);
        assert_eq!(sessions(&whole), sessions(&taken(&place, &[OWN, PARENTS])));
        assert_eq!(told(&whole), everything());
    }
}

#[test]
fn undo_gives_the_mirror_back_and_the_next_import_the_own_file() {
    let place = Place::new();
    let repo = taken(&place, &[PARENTS]);
    let before = repo.references("refs/").expect("refs");
    bring_in(&repo, &place.file(true, ALL), Reading::Whole);
    let after = repo.references("refs/").expect("refs");
    repo.undo(None, Millis(8)).expect("undone");
    assert_eq!(repo.references("refs/").expect("refs"), before);
    bring_in(&repo, &place.file(false, ALL), Reading::Whole);
    assert_eq!(repo.references("refs/").expect("refs"), before);
    bring_in(&repo, &place.file(true, ALL), Reading::Whole);
    assert_eq!(repo.references("refs/").expect("refs"), after);
    assert_eq!(told(&repo), everything());
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    /// However the two files grow, and whenever each is looked at.
    #[test]
    fn the_two_files_come_to_one_conversation(
        steps in prop::collection::vec((any::<bool>(), 1..6_usize, any::<bool>()), 1..12),
    ) {
        let place = Place::new();
        let repo = Repo::ephemeral().expect("a repository");
        let mut lines = [1, 1];
        for (is_own, more, is_grown) in steps {
            lines[usize::from(is_own)] += more;
            let reading = if is_grown { Reading::New } else { Reading::Whole };
            bring_in(&repo, &place.file(is_own, lines[usize::from(is_own)]), reading);
        }
        bring_in(&repo, &place.file(false, ALL), Reading::New);
        bring_in(&repo, &place.file(true, ALL), Reading::New);
        prop_assert_eq!(told(&repo), everything());
        prop_assert_eq!(sessions(&repo), sessions(&taken(&place, &[PARENTS, OWN])));
        prop_assert_eq!(bill(&repo), (ROUNDS + 3, 600, 3050));
        let branches = repo.references(RefName::HEADS).expect("branches");
        prop_assert_eq!(branches.len(), 2, "{:?}", branches);
        repo.second_reading()?;
    }
}
