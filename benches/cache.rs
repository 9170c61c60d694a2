//! What the cache of snapshots costs at 10,000 visible messages: `cargo bench --bench cache`.
//!
//! Prints the median of each kind of step beside a cold compile of the same repository.

use std::time::{Duration, Instant};

use tract::model::{
    Draft, EntryId, Hide, HideKind, Interval, Message, Operation, Priority, Replacement, Role,
};
use tract::repo::{Cache, Call, CommitOptions, Committed, On, Repo};

const MESSAGES: usize = 10_000;
const ROUNDS: usize = 31;

fn main() -> tract::Result<()> {
    let repo = Repo::ephemeral()?;
    let talk: Vec<Draft> = (0..MESSAGES)
        .map(|at| Draft::append(said(&format!("message {at}"))))
        .collect();
    let done = repo.commit(Call::default(), &talk, &CommitOptions::default())?;
    let tip = done[MESSAGES - 1].hash;
    let mut cache = Cache::new(1 << 30);

    let cold = median(|| timed(|| repo.context(&tip)))?;
    println!("{:28} {cold:>10.2?}", "cold");
    cache.context(&repo, &tip)?;
    let hit = median(|| timed(|| cache.context(&repo, &tip)))?;
    line("hit", hit, cold);

    let entry = |at: usize| EntryId::of(done[at].hash);
    let hide = |first: usize, last: usize, keep: Vec<EntryId>| {
        let marker = said("marker");
        let hide = Hide {
            kind: HideKind::Truncation,
            intervals: vec![Interval {
                first: entry(first),
                last: entry(last),
            }],
            keep,
            parts: Vec::new(),
            replacements: vec![Replacement {
                before: Some(entry(last + 1)),
                content: marker.hash(),
            }],
        };
        Draft::new(Operation::Hide(hide), vec![marker.into()])
    };
    let annotate = Operation::Annotate {
        targets: vec![entry(1)],
        priority: Priority::Pinned,
        reason: None,
    };
    let every_tenth = (1_000..9_000).step_by(10).map(entry).collect();
    for (name, draft) in [
        ("append", Draft::append(said("one more"))),
        ("edit of the first", Draft::edit(entry(0), said("better"))),
        ("annotate the second", Draft::new(annotate, Vec::new())),
        ("hide of 2", hide(10, 11, Vec::new())),
        ("hide of 100", hide(10, 109, Vec::new())),
        ("hide of 9,900", hide(1, 9_900, Vec::new())),
        ("hide of 7,200 around 800", hide(1_000, 8_999, every_tenth)),
    ] {
        // Each from the same parent: made once, followed many times.
        let branch = On::Branch(format!("refs/heads/{}", name.replace([' ', ','], "-")).parse()?);
        let made = commit_after(&repo, &branch, &talk, draft)?;
        let step = median(|| {
            let mut cache = Cache::new(1 << 30);
            cache.context(&repo, &tip)?;
            timed(|| {
                cache.follow(&made);
                Ok(cache)
            })
        })?;
        line(name, step, cold);
    }
    Ok(())
}

/// The commit of `draft` on a branch of its own that begins as the first one does.
fn commit_after(
    repo: &Repo,
    branch: &On,
    talk: &[Draft],
    draft: Draft,
) -> tract::Result<Vec<Committed>> {
    let mut all = talk.to_vec();
    all.push(draft);
    let mut done = repo.commit(Call::default().on(branch), &all, &CommitOptions::default())?;
    Ok(done.split_off(MESSAGES))
}

fn said(text: &str) -> Message {
    Message::text(Role::User, text)
}

fn timed<T>(work: impl FnOnce() -> tract::Result<T>) -> tract::Result<Duration> {
    let start = Instant::now();
    let made = work()?;
    let time = start.elapsed();
    drop(made);
    Ok(time)
}

fn median(mut work: impl FnMut() -> tract::Result<Duration>) -> tract::Result<Duration> {
    let mut times = (0..ROUNDS)
        .map(|_| work())
        .collect::<tract::Result<Vec<_>>>()?;
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}

fn line(name: &str, time: Duration, cold: Duration) {
    let ratio = cold.as_secs_f64() / time.as_secs_f64();
    println!("{name:28} {time:>10.2?}  1/{ratio:.0} of cold");
}
