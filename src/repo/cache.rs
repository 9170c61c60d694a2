//! The cache of snapshots: contexts by the hash of the commit that they are compiled from.
//!
//! Everything that a context depends on is in the chain, so the hash is the whole key, and nothing
//! here knows of branches. SQLite stays the only truth: drop the cache at any moment, or forget to
//! tell it of a commit, and nothing changes but time. Deliberately absent: messages and counts
//! (the store keeps both), locks (a server puts the cache behind its own), and any eviction by age.

use std::mem::size_of;

use lru::LruCache;

use crate::context::{Context, Entry, Mask, MaskedPart};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::Operation;
use crate::repo::{Committed, Repo};

/// The contexts used last, up to a weight in bytes.
///
/// ```
/// # use tract::repo::{Cache, Call, CommitOptions, Repo};
/// # use tract::model::{Draft, Message, Role};
/// # let repo = Repo::ephemeral()?;
/// let mut cache = Cache::new(64 << 20);
/// let hello = Draft::append(Message::text(Role::User, "hello"));
/// let done = repo.commit(Call::default(), &[hello], &CommitOptions::default())?;
/// cache.follow(&done); // patched: reads nothing
/// let context = cache.context(&repo, &done[0].hash)?; // a hit
/// assert_eq!(context.entries.len(), 1);
/// assert_eq!((cache.stats().patches, cache.stats().hits), (1, 1));
/// # Ok::<(), tract::Error>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    snapshots: LruCache<CommitHash, Snapshot>,
    capacity_bytes: usize,
    stats: CacheStats,
}

/// What a cache has done, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Contexts that were here when they were asked for.
    pub hits: u64,
    /// Contexts that had to be compiled from the repository.
    pub misses: u64,
    /// Contexts made from their parent's without the repository.
    pub patches: u64,
    /// Contexts given up for others.
    pub evictions: u64,
    /// Contexts held now.
    pub snapshots: usize,
    /// Their weight. Each is weighed as if it were alone, though a patched one shares most of its
    /// entries with its parent's: the true size is at most this.
    pub size_bytes: usize,
}

#[derive(Debug, Default)]
struct Snapshot {
    context: Context,
    /// How many of its parts are hidden, at most: what a patch hides is added, and what it takes
    /// out is not looked for.
    hidden_parts: usize,
}

impl Snapshot {
    /// What it takes in memory if it shares nothing. Counted without a look at the entries, for a
    /// patch must cost less than that.
    fn size_bytes(&self) -> usize {
        let settings = self.context.settings.keys();
        let settings = settings.map(|key| key.len() + size_of::<(String, CommitHash)>());
        size_of::<(CommitHash, Self)>()
            + self.context.entries.len() * size_of::<Entry>()
            + self.hidden_parts * size_of::<(Mask, Vec<MaskedPart>, MaskedPart)>()
            + settings.sum::<usize>()
    }
}

impl Cache {
    /// An empty cache that holds at most so many bytes. A context of 10,000 messages weighs about
    /// 1 MB; one that is heavier than all of the capacity is never kept.
    pub fn new(capacity_bytes: usize) -> Self {
        Self {
            snapshots: LruCache::unbounded(),
            capacity_bytes,
            stats: CacheStats::default(),
        }
    }

    /// What compiling `commit` gives, as [`Repo::context`] does: from here, or else from `repo`.
    ///
    /// All commits asked for in one cache may come from any repository: equal hashes are equal
    /// histories.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::context`].
    pub fn context(&mut self, repo: &Repo, commit: &CommitHash) -> Result<Context> {
        if let Some(snapshot) = self.snapshots.get(commit) {
            self.stats.hits += 1;
            return Ok(snapshot.context.clone());
        }
        self.stats.misses += 1;
        let context = repo.context(commit)?;
        let masks = context.entries.iter().map(|entry| entry.mask.parts().len());
        let snapshot = Snapshot {
            hidden_parts: masks.sum(),
            context: context.clone(),
        };
        self.keep(*commit, snapshot);
        Ok(context)
    }

    /// Moves on to a commit that was just made, from the snapshot of its parent and without the
    /// repository, where that is enough: it is not for a restore, nor for anything else that names
    /// an entry that isn't visible. A batch isn't followed step by step either. What is not
    /// followed is compiled when it is asked for.
    pub fn follow(&mut self, done: &[Committed]) {
        let [Committed { hash, commit, .. }] = done else {
            return;
        };
        let root = Snapshot::default();
        let before = match &commit.parent {
            None => Some(&root),
            Some(parent) => self.snapshots.get(parent),
        };
        if let Some(before) = before
            && let Some(context) = before.context.step(*hash, commit)
        {
            let parts = match &commit.operation {
                Operation::Hide(hide) => hide.parts.len(),
                _ => 0,
            };
            let snapshot = Snapshot {
                context,
                hidden_parts: before.hidden_parts + parts,
            };
            self.stats.patches += 1;
            self.keep(*hash, snapshot);
        }
    }

    /// What it has done, and what it holds.
    pub fn stats(&self) -> CacheStats {
        CacheStats {
            snapshots: self.snapshots.len(),
            ..self.stats
        }
    }

    fn keep(&mut self, commit: CommitHash, snapshot: Snapshot) {
        let size_bytes = snapshot.size_bytes();
        if size_bytes > self.capacity_bytes {
            return;
        }
        if let Some(old) = self.snapshots.put(commit, snapshot) {
            self.stats.size_bytes -= old.size_bytes();
        }
        self.stats.size_bytes += size_bytes;
        while self.stats.size_bytes > self.capacity_bytes
            && let Some((_, oldest)) = self.snapshots.pop_lru()
        {
            self.stats.size_bytes -= oldest.size_bytes();
            self.stats.evictions += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::context::plan::{PlanInput, clear, compact, drop, prune, restore, skip, truncate};
    use crate::model::{
        Draft, Encoding, EntryId, Message, Part, Priority, RefName, RefValue, Role,
    };
    use crate::repo::{Call, CommitOptions, On};
    use crate::rewrite::Needs;

    const BRANCHES: [&str; 3] = ["refs/heads/main", "refs/heads/one", "refs/heads/two"];

    fn branch(number: u8) -> RefName {
        let name = BRANCHES[number as usize % BRANCHES.len()];
        name.parse().expect("a valid name")
    }

    fn message(kind: u8, number: u8) -> Message {
        let id = || format!("call {}", number % 4);
        let (role, part) = match kind % 4 {
            0 => (Role::System, Part::text("rules")),
            1 => (Role::User, Part::text(format!("question {number}"))),
            2 => {
                let (name, arguments, kind) = ("read".into(), "{}".into(), None);
                let id = id();
                let call = Part::ToolCall {
                    id,
                    name,
                    arguments,
                    kind,
                };
                (Role::Assistant, call)
            }
            _ => {
                let (call, content) = (id(), vec![Part::text("a long output of some tool")]);
                let is_error = false;
                (
                    Role::Tool,
                    Part::ToolResult {
                        call,
                        content,
                        is_error,
                    },
                )
            }
        };
        Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name: None,
            parts: vec![part, Part::text("more")],
        }
    }

    /// The drafts that these numbers stand for: each operation, and each plan.
    fn drafts(input: &PlanInput, (kind, a, b): (u8, u8, u8)) -> Vec<Draft> {
        let order = &input.order;
        let append = || {
            let mut draft = Draft::append(message(a, b));
            if b % 4 == 0 {
                draft.settings.insert("temperature".into(), b.to_string());
            }
            draft
        };
        if order.is_empty() || kind % 16 < 5 {
            return vec![append()];
        }
        let id = |number: u8| order[number as usize % order.len()].entry.id;
        let marker = truncate::Marker::Default;
        let truncate = |window| truncate::truncate(input, window, b > 200, &marker);
        let prune = prune::Limits {
            turns: 1,
            protect: 0,
            min: 0,
            enough: u64::MAX,
        };
        let priority = [Priority::Pinned, Priority::Normal, Priority::Skip][b as usize % 3];
        let made = match kind % 16 {
            5 => Ok(Some(Draft::edit(id(a), message(1, b)))),
            6 => truncate(truncate::Window::Keep(a as usize % 6)),
            7 => truncate(truncate::Window::Budget {
                tokens: 10 * u64::from(a),
                whole: 10 * u64::from(a),
                marker: 20,
            }),
            8 => compact::compact(input, &compact::Extent::KeepLast(a as usize % 6), "summary"),
            9 if a > 180 => Ok(clear::clear(input, false)),
            9 | 10 => drop::drop(input, &[id(a)], &[(id(b), 0)], true),
            11 => Ok(prune::prune(
                input,
                prune,
                true,
                |_, _| false,
                |_, _| Some(("gone".into(), 0)),
            )),
            12 => skip::annotate(input, &[id(a), id(b)], priority, None),
            13 | 14 => {
                return restore::restore(input, &[restore::Lost::Entry(id(a))]).unwrap_or_default();
            }
            _ => return vec![append(), append()],
        };
        made.ok().flatten().into_iter().collect()
    }

    fn tip(repo: &Repo, branch: u8) -> Option<CommitHash> {
        let on = On::Branch(self::branch(branch));
        repo.head(&on).expect("a head").commit()
    }

    /// Begins or moves a branch at the tip of another.
    fn point(repo: &Repo, branch: u8, at: u8) {
        if let Some(at) = tip(repo, at) {
            let tx = repo.store.write().expect("the lock");
            tx.begin_operation(crate::model::Millis(0), "branch")
                .expect("an operation");
            tx.set_reference(&self::branch(branch), Some(&RefValue::Commit(at)))
                .expect("a branch");
            tx.commit().expect("a commit");
        }
    }

    /// What a context of so many appended messages weighs.
    fn weight(messages: usize) -> usize {
        let repo = Repo::ephemeral().expect("a repository");
        let talk: Vec<Draft> = (0..messages)
            .map(|at| Draft::append(Message::text(Role::User, at.to_string())))
            .collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        let done = done.expect("appends");
        let mut cache = Cache::new(usize::MAX);
        cache
            .context(&repo, &done[messages - 1].hash)
            .expect("a context");
        cache.stats().size_bytes
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(48))]

        /// The cache's promise: nothing but time tells a cached answer from a cold one.
        #[test]
        fn a_cached_context_is_the_cold_one_in_every_field(
            steps in prop::collection::vec((any::<(u8, u8, u8)>(), any::<u8>()), 1..40),
        ) {
            for snapshots in [1, 2, 8] {
                let repo = Repo::ephemeral().expect("a repository");
                let mut cache = Cache::new(snapshots * weight(12));
                let (mut current, mut seen) = (0, Vec::new());
                for (draw, also) in &steps {
                    match also % 8 {
                        0 => current = also / 8,
                        1 => point(&repo, also / 8, also / 64),
                        _ => {}
                    }
                    let on = On::Branch(branch(current));
                    let scene = repo.scene(&on, Encoding::default(), &Needs {
                        hidden_links: true,
                        part_tokens: true,
                        plain_parts: true,
                        ..Needs::default()
                    });
                    let drafts = drafts(&scene.expect("a scene").input, *draw);
                    let call = Call::default().on(&on);
                    let done = repo.commit(call, &drafts, &CommitOptions::default());
                    let done = done.expect("plans fold");
                    // Now and then a commit is another process's, and the cache isn't told.
                    if also % 16 != 5 {
                        cache.follow(&done);
                    }
                    seen.extend(done.iter().map(|committed| committed.hash));
                    let asked = (0..3).filter_map(|branch| tip(&repo, branch));
                    let earlier = seen.get(*also as usize % seen.len().max(1)).copied();
                    for commit in asked.chain(earlier) {
                        let cached = cache.context(&repo, &commit).expect("a context");
                        let cold = repo.context(&commit).expect("a context");
                        prop_assert_eq!(&cached.entries, &cold.entries);
                        prop_assert_eq!(&cached.settings, &cold.settings);
                        prop_assert_eq!(cached.total_entries, cold.total_entries);
                        prop_assert_eq!(cached.hides, cold.hides);
                        prop_assert_eq!(&cached, &cold);
                        let literal = repo.order(&commit).expect("an order").context();
                        prop_assert_eq!(cached, literal);
                    }
                    prop_assert!(cache.stats().size_bytes <= snapshots * weight(12));
                }
                repo.second_reading()?;
            }
        }
    }

    /// A repository with so many messages on main, and its commits.
    fn talk(messages: usize) -> (Repo, Vec<CommitHash>) {
        let repo = Repo::ephemeral().expect("a repository");
        let mut commits = Vec::new();
        for at in 0..messages {
            commits.push(commit(&repo, said(&at.to_string()))[0].hash);
        }
        (repo, commits)
    }

    fn said(text: &str) -> Draft {
        Draft::append(Message::text(Role::User, text))
    }

    fn commit(repo: &Repo, draft: Draft) -> Vec<Committed> {
        let done = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        done.expect("a commit")
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let (repo, commits) = talk(8);
        // Those of 6, 7 and 8 messages fit beside each other; a fourth doesn't.
        let mut cache = Cache::new(weight(6) + weight(7) + weight(8));
        for at in [5, 6, 7, 5, 4] {
            cache.context(&repo, &commits[at]).expect("a context");
        }
        assert_eq!((cache.stats().hits, cache.stats().misses), (1, 4));
        assert_eq!((cache.stats().evictions, cache.stats().snapshots), (1, 3));
        for (at, hit) in [(5, true), (7, true), (4, true), (6, false)] {
            let before = cache.stats().hits;
            cache.context(&repo, &commits[at]).expect("a context");
            assert_eq!(cache.stats().hits > before, hit, "{at}");
        }
    }

    #[test]
    fn what_is_heavier_than_the_capacity_is_not_kept() {
        let (repo, commits) = talk(8);
        let mut cache = Cache::new(weight(7));
        cache.context(&repo, &commits[6]).expect("a context");
        let context = cache.context(&repo, &commits[7]).expect("a context");
        assert_eq!(context.entries.len(), 8);
        assert_eq!((cache.stats().snapshots, cache.stats().evictions), (1, 0));
    }

    #[test]
    fn a_context_that_was_handed_out_changes_nothing_here() {
        let (repo, commits) = talk(100);
        let mut cache = Cache::new(1 << 20);
        let mut mine = cache.context(&repo, &commits[99]).expect("a context");
        mine.entries[50].priority = Priority::Pinned;
        mine.entries.remove(3);
        mine.settings.insert("model".into(), commits[0]);
        let again = cache.context(&repo, &commits[99]).expect("a context");
        assert_eq!(again, repo.context(&commits[99]).expect("a context"));
        assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
    }

    #[test]
    fn what_names_only_visible_messages_is_patched_and_the_rest_recompiled() {
        let (repo, commits) = talk(6);
        let mut cache = Cache::new(1 << 20);
        cache.context(&repo, &commits[5]).expect("a context");
        let patched = |draft: Draft, cache: &mut Cache| {
            let before = cache.stats().patches;
            let done = commit(&repo, draft);
            cache.follow(&done);
            let patched = cache.stats().patches > before;
            let misses = cache.stats().misses;
            let cached = cache.context(&repo, &done[0].hash).expect("a context");
            assert_eq!(cached, repo.context(&done[0].hash).expect("a context"));
            assert_eq!(cache.stats().misses == misses, patched);
            patched
        };
        let input = || {
            let scene = repo.scene(&On::Head, Encoding::default(), &Needs::default());
            scene.expect("a scene").input
        };
        let id = |at: usize| EntryId::of(commits[at]);
        let annotated = |priority| {
            let draft = skip::annotate(&input(), &[id(4)], priority, None);
            draft.expect("allowed").expect("a change")
        };
        assert!(patched(said("append"), &mut cache));
        let edit = Message::text(Role::User, "edit");
        assert!(patched(Draft::edit(id(1), edit.clone()), &mut cache));
        assert!(patched(annotated(Priority::Pinned), &mut cache));
        let window = truncate::Window::Keep(4);
        let hide = truncate::truncate(&input(), window, false, &truncate::Marker::Default);
        assert!(patched(
            hide.expect("allowed").expect("a change"),
            &mut cache
        ));
        assert!(
            !patched(Draft::edit(id(1), edit), &mut cache),
            "of a hidden one"
        );
        assert!(patched(annotated(Priority::Skip), &mut cache));
        assert!(
            !patched(annotated(Priority::Normal), &mut cache),
            "an un-skip"
        );
        let restore = restore::restore(&input(), &[restore::Lost::Entry(id(1))])
            .expect("allowed")
            .remove(0);
        assert!(!patched(restore, &mut cache));

        let two = [said("one"), said("two")];
        let done = repo.commit(Call::default(), &two, &CommitOptions::default());
        let before = cache.stats();
        cache.follow(&done.expect("a batch"));
        assert_eq!(cache.stats(), before, "a batch");
    }
}
