//! What works in the background on a path, with no end there: known from what was looked at once, for as long as the path
//! goes on.
//!
//! Deliberately absent: what a message says of it ([`crate::model::background`]), and where a first look begins.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::background::{KnownStart, KnownWork, OpenWork, Register};
use crate::model::{Encoding, EntryId, Message};
use crate::repo::load;
use crate::repo::standouts::joined;
use crate::store::{Appended, Facts, View};

/// How many messages before a start its call stands at most.
pub(crate) const BEFORE: u64 = 64;
/// How many messages are read together.
const TOGETHER: usize = 256;

/// Where a message stands on its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// How many commits stand before its own.
    pub(crate) depth: u64,
    /// Its entry.
    pub(crate) entry: EntryId,
}

/// What is kept of the path to `tip`, in any encoding: of several the one that goes farthest.
pub(crate) fn known(view: &dyn View, tip: &CommitHash) -> Result<Option<KnownWork>> {
    let mut best: Option<KnownWork> = None;
    for encoding in Encoding::ALL {
        let newest = view.newest_summary(tip, encoding)?;
        let found = newest.and_then(|(_, summary)| summary.background);
        let covered = best.as_ref().map_or(0, |best| best.covered);
        best = found.filter(|found| found.covered > covered).or(best);
    }
    Ok(best)
}

/// What is open behind the first `until` commits of the path to `tip`, gone on from what is known: with what is to be kept of it.
pub(crate) fn gone_on(
    view: &dyn View,
    tip: &CommitHash,
    known: &KnownWork,
    until: u64,
) -> Result<(Vec<OpenWork<Place>>, KnownWork)> {
    let mut looked = BTreeSet::from_iter(known.calls.iter().copied());
    looked.extend(known.open.iter().flat_map(|start| [start.called, start.at]));
    let before = messages(view, tip, &looked)?;
    let mut register = Register::default();
    for depth in &known.calls {
        take(&mut register, before.get(depth));
    }
    let begun = known.open.iter().filter_map(|start| begun(start, &before));
    register.begin_with(begun.collect());
    let mut from = known.covered;
    while from < until {
        let end = until.min(from + TOGETHER as u64);
        let some = said(view, tip, from..end, |_| true)?;
        some.iter().for_each(|said| take(&mut register, Some(said)));
        from = end;
    }
    let calls = register.waiting().map(|place| place.depth);
    let calls = calls.filter(|depth| depth + BEFORE >= until);
    let calls: BTreeSet<u64> = calls.collect();
    let open = register.open();
    let starts = open.iter().map(|work| KnownStart {
        called: work.called.depth,
        at: work.at.depth,
        id: work.id.clone(),
    });
    let known = KnownWork {
        covered: until.max(known.covered),
        open: starts.collect(),
        calls: calls.into_iter().collect(),
    };
    Ok((open, known))
}

/// Whether what is kept of a path is what its messages tell; `before` is known to be so of a commit on it.
pub(crate) fn is_sound(
    view: &dyn View,
    tip: &CommitHash,
    kept: &KnownWork,
    before: Option<&KnownWork>,
) -> Result<bool> {
    let nothing = KnownWork::default();
    let before = before.filter(|before| before.covered <= kept.covered);
    let len = load::commit(view, tip)?.depth + 1;
    let until = kept.covered.min(len);
    let (_, right) = gone_on(view, tip, before.unwrap_or(&nothing), until)?;
    Ok(right == *kept)
}

type Said = (Place, Message);

fn take(register: &mut Register<Place>, said: Option<&Said>) {
    if let Some((place, message)) = said {
        register.take(message, *place);
    }
}

/// Work that has no end before what is known ends, from the messages that tell of it.
fn begun(start: &KnownStart, said: &HashMap<u64, Said>) -> Option<OpenWork<Place>> {
    let mut register = Register::default();
    take(&mut register, said.get(&start.called));
    take(&mut register, said.get(&start.at));
    let mut open = register.open().into_iter();
    open.find(|work| work.id == start.id)
}

/// The messages at these depths that can tell anything. Those between them are not looked at, however many there are.
fn messages(
    view: &dyn View,
    tip: &CommitHash,
    depths: &BTreeSet<u64>,
) -> Result<HashMap<u64, Said>> {
    let mut found = HashMap::new();
    let each = depths.iter().map(|depth| *depth..depth + 1);
    for near in joined(each.collect(), BEFORE) {
        let some = said(view, tip, near, |one| depths.contains(&one.depth))?;
        found.extend(some.into_iter().map(|it| (it.0.depth, it)));
    }
    Ok(found)
}

fn said(
    view: &dyn View,
    tip: &CommitHash,
    depths: Range<u64>,
    is_meant: impl Fn(&Appended) -> bool,
) -> Result<Vec<Said>> {
    let (mut places, mut contents) = (Vec::new(), Vec::new());
    view.appended(tip, depths, Facts::default(), &mut |one| {
        if (one.uses_tools || one.role.speaks_for_client()) && is_meant(&one) {
            places.push(Place {
                depth: one.depth,
                entry: EntryId::of(one.commit),
            });
            contents.push(one.content);
        }
        Ok(())
    })?;
    let messages = load::contents(view, &contents)?;
    Ok(places.into_iter().zip(messages).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Draft, Part, Role};
    use crate::repo::{Call, CommitOptions, On, Repo};

    /// What one message of a conversation does with the piece of work of this number.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Asks(u8),
        Starts(u8),
        Ends(u8),
        Kills(u8),
        Talks(Role),
    }

    fn step() -> impl Strategy<Value = Step> {
        let work = 0..4_u8;
        prop_oneof![
            4 => work.clone().prop_map(Step::Asks),
            4 => work.clone().prop_map(Step::Starts),
            2 => work.clone().prop_map(Step::Ends),
            1 => work.prop_map(Step::Kills),
            2 => prop_oneof![Just(Role::User), Just(Role::Assistant)].prop_map(Step::Talks),
        ]
    }

    fn call(id: String, name: &str, arguments: String) -> Message {
        let name = name.to_owned();
        let kind = None;
        Message::new(
            Role::Assistant,
            vec![Part::ToolCall {
                id,
                name,
                arguments,
                kind,
            }],
        )
    }

    fn messages_of(step: Step) -> Vec<Message> {
        let result = |call: String, text: String| {
            let content = vec![Part::Text { text }];
            let is_error = false;
            Message::new(
                Role::Tool,
                vec![Part::ToolResult {
                    call,
                    content,
                    is_error,
                }],
            )
        };
        match step {
            Step::Asks(work) => {
                let command = format!(r#"{{"command":"serve {work}","run_in_background":true}}"#);
                vec![call(format!("c{work}"), "Bash", command)]
            }
            Step::Starts(work) => {
                let told = format!("Command running in background with ID: b{work}. Wait.");
                vec![result(format!("c{work}"), told)]
            }
            Step::Ends(work) => {
                let told = format!(
                    "<task-notification><task-id>b{work}</task-id><status>completed</status></task-notification>"
                );
                vec![Message::text(Role::User, told)]
            }
            Step::Kills(work) => {
                let id = format!("k{work}");
                let killed = call(
                    id.clone(),
                    "KillShell",
                    format!(r#"{{"shell_id":"b{work}"}}"#),
                );
                vec![killed, result(id, "Successfully killed.".into())]
            }
            Step::Talks(role) => vec![Message::text(role, "On with it.")],
        }
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(64))]

        #[test]
        fn a_look_that_goes_on_finds_what_a_whole_one_does(
            steps in prop::collection::vec(step(), 1..40),
            stops in prop::collection::btree_set(0..60_u64, 0..6),
        ) {
            let repo = Repo::ephemeral().expect("made");
            let said = steps.into_iter().flat_map(messages_of).map(Draft::append);
            let said: Vec<Draft> = said.collect();
            let done = repo.commit(Call::default(), &said, &CommitOptions::default());
            let tip = done.expect("commits").last().expect("some").hash;
            let view = repo.store.read().expect("a view");
            let end = said.len() as u64;
            let look = |known: &KnownWork, until| {
                gone_on(&*view, &tip, known, until).expect("looked at")
            };
            let mut known = KnownWork::default();
            for stop in stops.into_iter().filter(|stop| *stop < end) {
                known = look(&known, stop).1;
                prop_assert!(is_sound(&*view, &tip, &known, None).expect("held against it"));
            }
            let whole = look(&KnownWork::default(), end);
            prop_assert_eq!(&look(&known, end), &whole);
            let mut wrong = whole.1.clone();
            wrong.calls.push(end);
            prop_assert!(!is_sound(&*view, &tip, &wrong, Some(&known)).expect("held against it"));
            drop(view);
            // It is read as it is kept, by the second reader too.
            let encoding = Encoding::default();
            let mut summary = repo.status(&On::Head, encoding).expect("told").summary;
            summary.background = Some(whole.1);
            let tx = repo.store.write().expect("the lock");
            tx.put_summary(&tip, encoding, &summary).expect("kept");
            tx.commit().expect("durable");
            let found = repo.fsck(false, &mut |_| Ok(())).expect("checked");
            prop_assert!(!found.is_damaged(), "{found:?}");
            repo.second_reading()?;
        }
    }
}
