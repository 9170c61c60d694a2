//! Messages said, replaced, pinned.

mod advance;
mod annotate;
mod budget;
mod commit;

pub use advance::AdvanceParams;
pub use annotate::AnnotateParams;
pub(in crate::deeds) use commit::signed;
pub use commit::{CommitAnswer, CommitParams, Edited, MadeCommit, Writing};

use crate::error::Error;
use crate::formats::shared::single::SingleMessage;
use crate::hash::CommitHash;
use crate::model::price::is_usual_tier;
use crate::repo::Repo;

/// A setting that a response says: of which message, its key, and its value as JSON.
pub type ServedSetting = (usize, (&'static str, String));

/// What responses say of who answered, as settings: in which of the messages, and what. Which model it is was asked
/// for, and is only said where nobody has named one; a tier is only said where another was in force.
///
/// # Errors
///
/// The store's.
pub fn served_settings(
    repo: &Repo,
    messages: &[SingleMessage],
    names_model: bool,
    tip: Option<CommitHash>,
) -> Result<Vec<ServedSetting>, Error> {
    let mut found = Vec::new();
    let mut of_model = messages.iter().map(|it| &it.model).enumerate();
    if !names_model
        && let Some((at, Some(model))) = of_model.find(|(_, model)| model.is_some())
        && tip.map_or(Ok(None), |tip| repo.model_at(&tip))?.is_none()
    {
        found.push((at, ("model", model.clone())));
    }
    if messages.iter().any(|it| it.tier.is_some()) {
        let mut held = tip.map_or(Ok(None), |tip| repo.tier_at(&tip))?;
        for (at, said) in messages.iter().enumerate() {
            let Some(tier) = &said.tier else { continue };
            let unusual = Some(tier.clone()).filter(|tier| !is_usual_tier(tier));
            if unusual != held {
                let json = serde_json::Value::from(tier.as_str()).to_string();
                found.push((at, ("service_tier", json)));
            }
            held = unusual;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deeds::{ApiError, At, ContextParams, Method, MoveParams, ResetParams, Still};
    use crate::model::{Millis, Part};
    use crate::repo::On;

    fn called<M: Method>(repo: &Repo, params: serde_json::Value) -> Result<M::Answer, ApiError> {
        let params: M = serde_json::from_value(params).expect("parameters");
        params.call(&mut At::new(repo, On::Head, &Still))
    }

    fn visible(repo: &Repo) -> usize {
        let context = ContextParams::default().call(&mut At::new(repo, On::Head, &Still));
        context.expect("a context").total
    }

    /// Says a text behind a commit, and gives its commit.
    fn after(repo: &Repo, rev: &str) -> String {
        let said = serde_json::json!({ "role": "user", "message": "hello", "after": rev });
        let made = called::<CommitParams>(repo, said).expect("commits");
        made.commits[0].hash.clone()
    }

    #[test]
    fn commits_behind_others_are_seen_when_the_branch_advances() {
        let repo = Repo::ephemeral().expect("a repository");
        let first = after(&repo, "none");
        let second = after(&repo, &first);
        assert_eq!(visible(&repo), 0);
        let to = serde_json::json!({ "rev": second, "expect": "none", "what": "turn" });
        called::<AdvanceParams>(&repo, to.clone()).expect("advances");
        assert_eq!(visible(&repo), 2);
        // All of it was one operation.
        assert_eq!(
            repo.undo(None, Millis(0)).expect("undoes").operation.what,
            "turn"
        );
        assert_eq!(visible(&repo), 0);
        called::<AdvanceParams>(&repo, to.clone()).expect("advances");
        let fault = called::<AdvanceParams>(&repo, to).expect_err("somebody was first");
        assert_eq!((fault.kind.as_str(), fault.exit_code), ("ref_moved", 4));
        let said = serde_json::json!({ "role": "user", "message": "aside", "after": first });
        let aside = called::<CommitParams>(&repo, said).expect("commits");
        let aside = &aside.commits[0].hash;
        let back = serde_json::json!({ "rev": aside, "expect": second });
        let fault = called::<AdvanceParams>(&repo, back).expect_err("not forward");
        assert_eq!(fault.kind, "not_forward");
        assert_eq!(visible(&repo), 2);
    }

    #[test]
    fn branches_move_at_once_or_not_at_all() {
        let repo = Repo::ephemeral().expect("a repository");
        let say = |more: serde_json::Value| {
            let mut said = serde_json::json!({ "role": "user", "message": "hello" });
            said.as_object_mut().expect("an object").extend(
                more.as_object()
                    .expect("an object")
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            called::<CommitParams>(&repo, said).map(|made| made.commits[0].hash.clone())
        };
        let refused = |fault: ApiError| (fault.kind.as_str() == "ref_moved", fault.exit_code);
        let at = |branch: &str| {
            let on = On::Branch(crate::model::RefName::branch(branch).expect("a name"));
            let head = repo.head(&on).expect("a branch");
            head.commit().map(|commit| commit.to_string())
        };
        let first = say(serde_json::json!({})).expect("commits");
        let aside = after(&repo, "none");
        // A commit brings another branch along.
        let along =
            serde_json::json!({ "moves": [{ "branch": "aside", "to": aside, "expect": "none" }] });
        let second = say(along.clone()).expect("commits");
        assert_eq!(at("aside"), Some(aside.clone()));
        let fault = say(along).expect_err("it is there");
        assert_eq!(refused(fault), (true, 4));
        assert_eq!(at("main"), Some(second.clone()));
        // All of them, or none; one that stays where it is expected is a condition.
        let moves = |expect: &str| {
            serde_json::json!({ "what": "back", "moves": [
                { "branch": "main", "to": first, "expect": second },
                { "branch": "new", "to": second },
                { "branch": "aside", "to": aside, "expect": expect },
            ] })
        };
        let fault = called::<MoveParams>(&repo, moves(&second)).expect_err("it is elsewhere");
        assert_eq!((refused(fault), at("new")), ((true, 4), None));
        let moved = called::<MoveParams>(&repo, moves(&aside)).expect("moves");
        assert_eq!(
            (at("main"), at("new")),
            (Some(first.clone()), Some(second.clone()))
        );
        assert_eq!(moved.moved[2].old, moved.moved[2].new);
        // It was one operation, and ORIG_HEAD keeps nothing.
        let undone = repo.undo(None, Millis(0)).expect("undoes").operation.what;
        assert_eq!(
            (undone.as_str(), at("main")),
            ("back", Some(second.clone()))
        );
        let orig = repo.resolve(&On::Head, "ORIG_HEAD");
        assert!(orig.is_err());
        let gone = serde_json::json!({ "moves": [{ "branch": "aside" }] });
        called::<MoveParams>(&repo, gone).expect("moves");
        assert_eq!(at("aside"), None);
        // The same condition holds for other changes.
        let back = serde_json::json!({ "rev": first, "expect": first });
        let fault = called::<ResetParams>(&repo, back).expect_err("it is elsewhere");
        assert_eq!(refused(fault), (true, 4));
        let skip =
            |expect: &str| serde_json::json!({ "revs": [first], "skip": true, "expect": expect });
        let fault = called::<AnnotateParams>(&repo, skip(&first)).expect_err("it is elsewhere");
        assert_eq!(refused(fault), (true, 4));
        called::<AnnotateParams>(&repo, skip(&second)).expect("annotates");
        assert_eq!(visible(&repo), 1);
    }

    #[test]
    fn a_commit_brings_messages_of_another_branch_along_and_names_them() {
        let repo = Repo::ephemeral().expect("a repository");
        let reply = serde_json::json!({
            "object": "chat.completion", "model": "m", "usage": { "prompt_tokens": 3, "completion_tokens": 1 },
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": "Aare." } }],
        });
        let ask = serde_json::json!({ "role": "user", "content": "Name a river." });
        let record = |expect: &str, to: serde_json::Value, batch: serde_json::Value| {
            let json =
                serde_json::json!({ "role": "user", "content": [{ "type": "note", "n": 1 }] });
            serde_json::json!({
                "json": json, "expect": expect, "made_block": "made",
                "moves": [{ "branch": "talk", "to": to, "expect": to.as_str().unwrap_or("none"), "batch": batch }],
            })
        };
        let none = serde_json::Value::Null;
        let first = record("none", none.clone(), serde_json::json!([ask, reply]));
        let made = called::<CommitParams>(&repo, first).expect("commits");
        let (record_at, talk) = (made.commits[0].hash.clone(), made.moved[1].hash.clone());
        assert!(made.moved.iter().all(|it| it.tokens.is_some()));
        let branch = crate::model::RefName::branch("talk").expect("a name");
        let on_talk = On::Branch(branch);
        let context = |on: On| {
            let context = ContextParams::default().call(&mut At::new(&repo, on, &Still));
            context.expect("a context")
        };
        assert_eq!(context(on_talk.clone()).total, 2);
        let tip = repo.head(&on_talk).expect("a head").commit();
        let tip = tip.expect("it has commits");
        assert_eq!(tip.to_string(), talk);
        assert!(repo.model_at(&tip).expect("read").is_some());
        // The record names them, behind what it says itself.
        let parts = context(On::Head).messages[0].message.parts.clone();
        let [Part::Opaque { .. }, Part::Opaque { data, .. }] = &*parts else {
            panic!("{parts:?}");
        };
        let names: Vec<&str> = made.moved.iter().map(|it| &*it.hash).collect();
        let block: serde_json::Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(
            block,
            serde_json::json!({ "type": "made", "commits": names })
        );
        // All of it, or nothing.
        let fault = called::<CommitParams>(
            &repo,
            record("none", talk.clone().into(), serde_json::json!([ask])),
        );
        assert_eq!(fault.expect_err("it is elsewhere").kind, "ref_moved");
        let elsewhere = record(&record_at, none, serde_json::json!([ask]));
        assert_eq!(
            called::<CommitParams>(&repo, elsewhere)
                .expect_err("it is there")
                .kind,
            "ref_moved"
        );
        assert_eq!((visible(&repo), context(on_talk.clone()).total), (1, 2));
        let next = record(&record_at, talk.into(), serde_json::json!([ask]));
        called::<CommitParams>(&repo, next).expect("commits");
        assert_eq!((visible(&repo), context(on_talk.clone()).total), (2, 3));
        // It was one operation.
        repo.undo(None, Millis(0)).expect("undoes");
        assert_eq!((visible(&repo), context(on_talk.clone()).total), (1, 2));
        // A move alone says as much.
        let to = repo
            .head(&on_talk)
            .expect("a head")
            .commit()
            .expect("it has commits");
        let along = serde_json::json!({ "moves": [{ "branch": "talk", "to": to.to_string(), "batch": [ask, ask] }] });
        called::<MoveParams>(&repo, along).expect("moves");
        assert_eq!(context(on_talk).total, 4);
        let odd = serde_json::json!({ "role": "user", "message": "a", "made_block": "made" });
        assert_eq!(
            called::<CommitParams>(&repo, odd)
                .expect_err("nothing is made")
                .kind,
            "invalid_params"
        );
    }

    #[test]
    fn a_commit_without_a_budget_is_not_refused() {
        let repo = Repo::ephemeral().expect("a repository");
        for (key, value) in [("budget.max", "9"), ("budget.action", "refuse")] {
            repo.set_config(key, Some(value)).expect("set");
        }
        let say = |unbudgeted: bool| {
            let text = "more words than nine tokens hold, and then some";
            let said =
                serde_json::json!({ "role": "user", "message": text, "unbudgeted": unbudgeted });
            called::<CommitParams>(&repo, said)
        };
        assert_eq!(say(false).expect_err("too much").kind, "over_budget");
        assert_eq!(say(true).expect("commits").budget, None);
    }

    #[test]
    fn a_stream_that_broke_off_is_kept_as_far_as_it_came() {
        let repo = Repo::ephemeral().expect("a repository");
        let events = serde_json::json!([
            { "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "All " } }] },
            { "choices": [{ "index": 0, "delta": { "content": "of a sud" } }] },
        ]);
        called::<CommitParams>(&repo, serde_json::json!({ "events": events })).expect("commits");
        let context = called::<ContextParams>(&repo, serde_json::json!({})).expect("a context");
        let message = &context.messages[0].message;
        assert!(message.interrupted);
        assert_eq!(message.parts, [Part::text("All of a sud")]);
        let odd = serde_json::json!({ "events": [{ "hello": 1 }] });
        let fault = called::<CommitParams>(&repo, odd).expect_err("no stream");
        assert_eq!((fault.kind.as_str(), visible(&repo)), ("invalid_input", 1));
    }
}
