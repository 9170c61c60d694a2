//! One conversation that goes on on two machines: whatever each of them takes in, pulls and pushes, in whatever order, they
//! come to agree, no push is refused once a pull has merged, and no commit is lost.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;

use crate::hash::CommitHash;
use crate::ingest::{ImportRequest, adopt, import};
use crate::model::secret::Leaving;
use crate::model::{Millis, RefName};
use crate::repo::{Call, On, Repo, ResetMode, Target, load};
use crate::rewrite::{Merge, MergeOptions};
use crate::sync::{FetchOptions, Follow, Here, PushOptions, PushRef, Pushed};

const ID: &str = "s";

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The file grows by so many messages, and comes in.
    Grow(usize),
    /// What is new of it goes onto the branch.
    Adopt,
    Pull,
    Push,
}

/// One of the two machines.
struct Home {
    repo: Repo,
    name: &'static str,
    said: usize,
}

fn main() -> RefName {
    RefName::branch("main").expect("a name")
}

fn session() -> RefName {
    RefName::session("claude-code", ID)
}

impl Home {
    fn new(name: &'static str, folder: &Path) -> Self {
        let home = Self {
            repo: Repo::ephemeral().expect("made"),
            name,
            said: 0,
        };
        home.take_in(folder);
        home
    }

    /// Four messages that both have, and those that were said here.
    fn take_in(&self, folder: &Path) {
        let mut lines = String::new();
        let mut parent = "null".to_owned();
        for at in 0..4 + self.said {
            let whose = if at < 4 { "both" } else { self.name };
            let (kind, id) = (["user", "assistant"][at % 2], format!("\"{whose}-{at}\""));
            lines += &format!(
                r#"{{"type":"{kind}","parentUuid":{parent},"uuid":{id},"isSidechain":false,"sessionId":"{ID}","timestamp":"2026-01-02T03:{:02}:{:02}Z","message":{{"role":"{kind}","content":"message {at} of {whose}"}}}}"#,
                at / 60,
                at % 60,
            );
            lines.push('\n');
            parent = id;
        }
        let path = folder.join(format!("{}.jsonl", self.name));
        std::fs::write(&path, lines).expect("written");
        let request = ImportRequest::at(Millis(0), "import");
        import(&self.repo, &path, &request, &mut |_| {}).expect("imported");
    }

    fn tip(&self, name: &RefName) -> Option<CommitHash> {
        let view = self.repo.store.read().expect("a view");
        load::tip(&*view, name).expect("reads")
    }

    /// As `tract pull --merge`.
    fn pull(&self, hub: &Repo) {
        let options = FetchOptions {
            remote: "hub",
            follow: Follow::Head,
            ..FetchOptions::default()
        };
        let call = Call::at(Millis(3), "pull");
        let mut there = Here {
            repo: hub,
            now: &|| Millis(2),
        };
        let fetched = self
            .repo
            .fetch(call, &mut there, &options, &mut |_, _| Ok(()));
        for parted in fetched.expect("fetched").parted {
            if parted.name != main() {
                continue;
            }
            let theirs = self.repo.resolve(&On::Head, parted.seen.as_str());
            let call = Call::at(Millis(3), "merge");
            let options = MergeOptions::default();
            let (theirs, seen) = (theirs.expect("seen"), parted.seen.short());
            let merged = self.repo.merge(call, &theirs, seen, &options, None);
            assert!(!matches!(merged.expect("merged"), Merge::Conflicts(_)));
        }
    }

    /// As `tract push`: the branch, and the session on its path.
    fn push(&self, hub: &Repo) -> Pushed {
        let tip = self.tip(&main()).expect("a tip");
        let of = self.repo.session_of(&tip).expect("reads");
        let names = [main()].into_iter().chain(of.map(|(name, _)| name));
        let wanted: Vec<PushRef> = names
            .map(|name| PushRef {
                commit: self.tip(&name),
                name,
            })
            .filter(|to| to.commit.is_some())
            .collect();
        let options = PushOptions {
            is_named: false,
            remote: Some("hub"),
            sources: false,
            with_lease: false,
            is_dry: false,
            leaving: Leaving::Allowed,
        };
        let mut there = Here {
            repo: hub,
            now: &|| Millis(2),
        };
        let call = Call::at(Millis(1), "push");
        let pushed = self
            .repo
            .push(call, &mut there, &wanted, &options, &mut |_, _| Ok(()));
        pushed.expect("pushed")
    }

    /// All that leads to a branch, by either parent.
    fn history(&self, name: &RefName) -> BTreeSet<CommitHash> {
        let view = self.repo.store.read().expect("a view");
        let tip = load::tip(&*view, name).expect("reads").expect("a tip");
        let all = view.by_reach(&[tip]).expect("reads").reached;
        all.into_iter().map(|row| row.hash).collect()
    }
}

/// What was pulled took the session farther, and HEAD was elsewhere: the branch stood where the two files part.
#[test]
fn a_branch_goes_along_with_the_file_that_it_follows() {
    let folder = tempfile::tempdir().expect("a folder");
    let hub = Repo::ephemeral().expect("made");
    let [mut laptop, mut desktop] =
        ["laptop", "desktop"].map(|name| Home::new(name, folder.path()));
    laptop.said = 2;
    laptop.take_in(folder.path());
    laptop.push(&hub);
    let elsewhere = RefName::branch("elsewhere").expect("a name");
    let elsewhere = Target::NewBranch(elsewhere, None);
    let call = Call::at(Millis(4), "checkout");
    desktop.repo.checkout(call, &elsewhere).expect("elsewhere");
    desktop.pull(&hub);
    assert_ne!(desktop.tip(&session()), desktop.tip(&main()));
    desktop.said = 3;
    desktop.take_in(folder.path());
    assert_eq!(desktop.tip(&session()), desktop.tip(&main()));
    // One that was moved stays.
    let call = Call::at(Millis(5), "reset");
    let on = On::Branch(main());
    desktop
        .repo
        .reset(call.on(&on), "HEAD~1", ResetMode::Hard)
        .expect("reset");
    let moved = desktop.tip(&main());
    desktop.said = 4;
    desktop.take_in(folder.path());
    assert_eq!(desktop.tip(&main()), moved);
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let step = prop_oneof![
        3 => (1..4_usize).prop_map(Step::Grow),
        1 => Just(Step::Adopt),
        2 => Just(Step::Pull),
        3 => Just(Step::Push),
    ];
    prop::collection::vec((0..2_usize, step), 1..16)
}

proptest! {
    #![proptest_config(crate::conditions::laws(320))]

    #[test]
    fn two_machines_with_one_conversation_come_to_agree(steps in steps()) {
        let folder = tempfile::tempdir().expect("a folder");
        let hub = Repo::ephemeral().expect("made");
        let mut homes = [Home::new("laptop", folder.path()), Home::new("desktop", folder.path())];
        let mut pushed: BTreeSet<CommitHash> = BTreeSet::new();
        for (at, step) in steps {
            let home = &mut homes[at];
            match step {
                Step::Grow(by) => {
                    home.said += by;
                    home.take_in(folder.path());
                }
                Step::Adopt => {
                    let what = "import --onto main";
                    adopt(&home.repo, &session(), &main(), Millis(5), what).expect("taken over");
                }
                Step::Pull => home.pull(&hub),
                Step::Push => {
                    let done = home.push(&hub);
                    if done.refs.iter().all(|row| !row.landed.is_refused()) {
                        pushed.extend(home.history(&main()));
                    }
                }
            }
        }
        for _ in 0..2 {
            for home in &homes {
                home.pull(&hub);
                let done = home.push(&hub);
                prop_assert!(
                    done.refs.iter().all(|row| !row.landed.is_refused()),
                    "{}: {:?}", home.name, done.refs
                );
                pushed.extend(home.history(&main()));
            }
        }
        homes[0].pull(&hub);
        let [laptop, desktop] = &homes;
        prop_assert_eq!(laptop.tip(&main()), desktop.tip(&main()));
        for home in &homes {
            prop_assert!(pushed.is_subset(&home.history(&main())));
            // Each has its own session, too.
            prop_assert!(home.tip(&session()).is_some());
            home.repo.second_reading()?;
        }
    }
}
