//! The law of time: whatever is done to a repository, every commit that was made before compiles to
//! what it compiled to when it was made, for whoever opens the repository anew.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::{Draft, EntryId, Message, Millis, Part, Priority, RefName, Role};
use crate::repo::MergeForm;
use crate::repo::{Call, CommitOptions, Named, On, Repo, ResetMode, Target};
use crate::rewrite::SurgeryOptions;
use crate::rewrite::{
    Extent, Limits, Lost, Merge, MergeOptions, Prune, Reach, Summary, Truncate, Whose,
};

/// One number for each choice.
pub(crate) type Draw = (u8, u8, u8);

/// A message: what someone says, a call, or the result of one.
fn message(kind: u8, number: u8) -> Message {
    let id = (number % 3).to_string();
    let (role, part) = match kind % 5 {
        0 => (Role::System, Part::text("rules")),
        1 | 2 => (Role::User, Part::text(format!("question {number}"))),
        3 => {
            let (name, arguments, kind) = ("read".into(), "{}".into(), None);
            let call = Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            };
            (Role::Assistant, call)
        }
        _ => {
            let (content, is_error) = (vec![Part::text("output ".repeat(20))], false);
            let result = Part::ToolResult {
                call: id,
                content,
                is_error,
            };
            (Role::Tool, result)
        }
    };
    let parts = vec![part, Part::text("more")];
    Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role,
        name: None,
        parts,
    }
}

/// Carries out the command that `draw` stands for.
pub(crate) fn command(repo: &Repo, (kind, a, b): Draw, now: Millis) -> Result<()> {
    let (call, options) = (Call::at(now, "test"), SurgeryOptions::default());
    let tip = repo.head(&On::Head)?.commit();
    let order = tip
        .map(|tip| repo.order(&tip))
        .transpose()?
        .unwrap_or_default();
    let entries: Vec<EntryId> = order.entries().map(|entry| entry.id).collect();
    if entries.is_empty() || kind % 16 < 5 {
        let draft = Draft::append(message(a, b));
        return repo
            .commit(call, &[draft], &CommitOptions::default())
            .map(drop);
    }
    let pick = |number: u8| entries[number as usize % entries.len()];
    let named = [Named::Entry(pick(a))];
    match kind % 16 {
        5 => {
            let draft = Draft::edit(pick(a), message(1, b));
            repo.commit(call, &[draft], &CommitOptions::default())
                .map(drop)
        }
        6 => {
            let reach = Reach::Keep(a as usize % 5);
            repo.carry_out(call, &Truncate::new(reach), &options)
                .map(drop)
        }
        7 => repo.drop_named(call, &named, true, &options).map(drop),
        8 | 9 => {
            let hidden = order.entries().filter(|entry| !entry.visible);
            let hidden: Vec<Lost> = hidden.map(|entry| Lost::Entry(entry.id)).collect();
            let lost = hidden.get(a as usize % hidden.len().max(1));
            let lost: Vec<Lost> = lost.into_iter().copied().collect();
            if kind % 16 == 9 && b % 2 == 0 {
                let done = repo.restore_before(call, &lost, pick(b / 2), &options);
                return done.map(drop);
            }
            repo.restore(call, &lost, &options).map(drop)
        }
        10 => {
            let priority = [Priority::Pinned, Priority::Normal, Priority::Skip][b as usize % 3];
            repo.annotate(call, &[pick(a)], priority, None, &options)
                .map(drop)
        }
        11 => {
            let mode = [ResetMode::Soft, ResetMode::Hard][b as usize % 2];
            repo.reset(call, &format!("HEAD~{}", a % 4), mode).map(drop)
        }
        12 => {
            let branch = ["main", "one", "two"][a as usize % 3];
            let target = match RefName::branch(branch) {
                Ok(name) if b % 2 == 0 => Target::NewBranch(name, Some(format!("HEAD~{}", b % 4))),
                _ => Target::Named(branch.to_owned()),
            };
            repo.checkout(call, &target).map(drop)
        }
        13 => repo.undo(None, now).map(drop),
        14 => repo.redo(now).map(drop),
        _ => match a % 4 {
            3 => merge(repo, b, now),
            0 => repo.clear(call, b > 200, &options).map(drop),
            1 => {
                let (extent, summary) = (Extent::KeepLast(b as usize % 4), Summary::Text("so"));
                repo.compact(call, &extent, summary, &options).map(drop)
            }
            _ => {
                let limits = Limits {
                    turns: 0,
                    protect: 0,
                    min: 0,
                    ..Limits::default()
                };
                let prune = Prune {
                    limits,
                    ..Prune::default()
                };
                repo.carry_out(call, &prune, &options).map(drop)
            }
        },
    }
}

/// Merges one of the branches, in one of the forms.
fn merge(repo: &Repo, draw: u8, now: Millis) -> Result<()> {
    let name = ["main", "one", "two"][draw as usize % 3];
    let theirs = repo.resolve(&On::Head, name)?;
    let options = MergeOptions {
        form: MergeForm::ALL[draw as usize / 3 % 3],
        settle: [None, Some(Whose::Ours), Some(Whose::Theirs)][draw as usize / 9 % 3],
        unrelated: draw.is_multiple_of(2),
        ..MergeOptions::default()
    };
    let call = Call::at(now, "test");
    if let Merge::Conflicts(_) = repo.merge(call, &theirs, name, &options, None)? {
        repo.merge_abort(&On::Head)?;
    }
    Ok(())
}

/// What a commit compiles to.
fn compiled(repo: &Repo, commit: &CommitHash) -> (Context, Vec<Message>) {
    let context = repo.context(commit).expect("a context");
    let messages = repo.messages(&context).expect("its messages");
    (context, messages)
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    /// What a commit compiles to does not change, whatever is done later.
    #[test]
    fn no_command_changes_what_an_earlier_commit_compiles_to(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
    ) {
        let ground = super::Ground::new();
        let (repo, _) = Repo::init(ground.path()).expect("a repository");
        let mut then: BTreeMap<CommitHash, (Context, Vec<Message>)> = BTreeMap::new();
        for (at, draw) in draws.into_iter().enumerate() {
            let done = command(&repo, draw, Millis(at as i64));
            prop_assert!(!matches!(done, Err(Error::Store(_) | Error::Damaged { .. })), "{:?}", done);
            let Some(tip) = repo.head(&On::Head).expect("a head").commit() else { continue };

            let anew = Repo::open(ground.path()).expect("it opens");
            for (commit, then) in &then {
                prop_assert_eq!(&compiled(&anew, commit), then, "{} after {:?}", commit, draw);
                prop_assert_eq!(&anew.order(commit).expect("an order").context(), &then.0);
            }
            let path = repo.store.read().and_then(|view| view.ancestors(&tip, None, usize::MAX));
            for row in path.expect("a path") {
                then.entry(row.hash).or_insert_with(|| compiled(&repo, &row.hash));
            }
        }
        repo.second_reading()?;
    }
}
