//! Many drafts on their way into one transaction: what needs neither the database nor an order is worked out ahead,
//! on other threads.
//!
//! Deliberately absent: all that is written, and whose turn it is.

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::Result;
use crate::model::tokens::Counter;
use crate::model::{Draft, TokenCount, depth};
use crate::store::crew::{with_crew, workers};
use crate::store::{Prepare, Prepared, Store};

/// From how many drafts on a thread is worth its start.
const WORTH_THREADS: usize = 256;
/// What is worked out at once, in drafts and in bytes of their messages.
const BATCH_DRAFTS: usize = 32;
const BATCH_BYTES: usize = 64 << 10;
/// How much is under way at most.
const AHEAD_BYTES: usize = 1 << 20;

/// What was worked out of a draft's messages, in their order. Any of it may be missing.
#[derive(Default)]
pub(crate) struct Readied {
    pub(crate) prepared: Vec<Prepared>,
    pub(crate) counts: Vec<TokenCount>,
}

impl Readied {
    fn of(draft: &Draft, counter: Option<Counter>, prepare: &Prepare) -> Self {
        let messages = draft.messages.iter();
        // One that is nested too deep is refused by whoever writes it: nobody goes down into it.
        if messages
            .clone()
            .any(|message| depth::check_message(message).is_err())
        {
            return Self::default();
        }
        let counts = counter.map(|counter| {
            messages
                .clone()
                .map(move |message| counter.message(message))
        });
        Self {
            counts: counts.into_iter().flatten().collect(),
            prepared: messages.map(prepare).collect(),
        }
    }
}

/// What works out ahead what is kept of messages, where these drafts are many.
pub(crate) fn preparing(store: &dyn Store, drafts: &[Draft]) -> Result<Option<Box<Prepare>>> {
    let are_many = drafts.len() >= WORTH_THREADS;
    are_many.then(|| store.preparing(false)).transpose()
}

/// Tells what was worked out of each draft, with its place, in their order.
pub(crate) fn each_readied(
    drafts: &[Draft],
    counter: Option<Counter>,
    prepare: &Prepare,
    take: &mut dyn FnMut(usize, Readied) -> Result<()>,
) -> Result<()> {
    let work = |batch: Range<usize>| -> Vec<Readied> {
        let batch = drafts[batch].iter();
        batch
            .map(|draft| Readied::of(draft, counter, prepare))
            .collect()
    };
    with_crew(workers(), &work, |crew| {
        let (mut begun, mut told) = (0, 0);
        let mut ahead = VecDeque::<usize>::new();
        loop {
            while begun < drafts.len() && ahead.iter().sum::<usize>() < AHEAD_BYTES {
                let (end, size_bytes) = batch(drafts, begun);
                crew.push(begun..end);
                ahead.push_back(size_bytes);
                begun = end;
            }
            let Some(batch) = crew.pop() else {
                return Ok(());
            };
            ahead.pop_front();
            for readied in batch {
                take(told, readied)?;
                told += 1;
            }
        }
    })
}

/// Where the batch ends that begins at a draft, and how many bytes its messages have.
fn batch(drafts: &[Draft], begin: usize) -> (usize, usize) {
    let (mut end, mut size_bytes) = (begin, 0);
    for draft in drafts[begin..].iter().take(BATCH_DRAFTS) {
        let canonical = draft
            .messages
            .iter()
            .map(|message| message.canonical().len());
        size_bytes += canonical.sum::<usize>();
        end += 1;
        if size_bytes >= BATCH_BYTES {
            break;
        }
    }
    (end, size_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Role};
    use crate::repo::{Call, CommitOptions, Repo};

    /// A repository does not say how its messages came in: by one call each, or many at once.
    #[test]
    fn many_drafts_are_stored_as_each_by_itself_would_be() {
        let text = |at: usize| format!("{at} and so on ").repeat(1 + at % 50);
        let draft = |at: usize| Draft::append(Message::text(Role::User, text(at)));
        let count = WORTH_THREADS + BATCH_DRAFTS / 2;
        let drafts: Vec<Draft> = (0..count).map(draft).collect();
        let counter = Counter::of(crate::model::Encoding::O200K_BASE);
        let options = CommitOptions {
            counter: Some(counter),
            ..CommitOptions::default()
        };
        let (one, all) = (
            Repo::ephemeral().expect("made"),
            Repo::ephemeral().expect("made"),
        );
        let commit = |repo: &Repo, drafts: &[Draft]| {
            let done = repo.commit(Call::default(), drafts, &options);
            done.expect("commits")
        };
        let each: Vec<_> = drafts
            .iter()
            .flat_map(|draft| commit(&one, std::slice::from_ref(draft)))
            .collect();
        assert_eq!(commit(&all, &drafts), each);
        for made in [&each[0], &each[count - 1]] {
            let shown = |repo: &Repo| repo.show(&made.hash, counter.encoding()).expect("shown");
            assert_eq!(format!("{:?}", shown(&one)), format!("{:?}", shown(&all)));
        }
    }
}
