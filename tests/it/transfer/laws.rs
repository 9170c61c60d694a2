//! Two people and a repository that both push to and pull from, in processes of which many are killed while they
//! are at it: what is acknowledged is there, nothing is half done, and in the end all agree.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use proptest::prelude::*;

use crate::conditions::laws;
use crate::sandbox::Sandbox;

/// One each has, and one both have.
const BRANCHES: [&str; 3] = ["main", "own-0", "own-1"];
const ERASED: &str = " [purged]";

#[derive(Clone, Copy, Debug)]
enum What {
    /// So many messages, in one command.
    Say(u16),
    /// To the branch that is one's own, or to the other's name, or to the one of both.
    Checkout(usize),
    Push {
        with_lease: bool,
    },
    Pull,
    /// Erases what some of the messages of all steps up to this one say.
    Purge,
    Clear,
    Back,
    Undo,
}

/// Who does what, and after how many milliseconds that is killed, if it is.
#[derive(Clone, Copy, Debug)]
struct Step {
    who: usize,
    what: What,
    killed_after_ms: Option<u64>,
}

fn step() -> impl Strategy<Value = Step> {
    let what = prop_oneof![
        3 => prop_oneof![6 => 1..120_u16, 1 => 1_000..2_500_u16].prop_map(What::Say),
        1 => (0..BRANCHES.len()).prop_map(What::Checkout),
        4 => any::<bool>().prop_map(|with_lease| What::Push { with_lease }),
        4 => Just(What::Pull),
        1 => Just(What::Purge),
        1 => Just(What::Clear),
        1 => Just(What::Back),
        1 => Just(What::Undo),
    ];
    let killed = proptest::option::weighted(0.6, prop_oneof![3 => 0..60_u64, 1 => 0..600_u64]);
    // The third is the repository in the middle, where somebody works, too.
    let who = prop_oneof![4 => 0..2_usize, 1 => Just(2)];
    (who, what, killed).prop_map(|(who, what, killed_after_ms)| Step {
        // Who works in the middle has nobody to push to.
        who: match what {
            What::Push { .. } | What::Pull => who % 2,
            _ => who,
        },
        what,
        killed_after_ms,
    })
}

/// Where each of the branches is; empty where it isn't.
fn tips(sandbox: &Sandbox, under: &str) -> Vec<String> {
    let tip = |name: &&str| {
        let name = format!("{under}{name}");
        let told = sandbox.command(&["rev-parse", &name]).output();
        String::from_utf8(told.expect("it runs").stdout).expect("text")
    };
    BRANCHES.iter().map(tip).collect()
}

/// Runs it, and kills it then. Whether it came to an end that was good; none if it was killed.
fn run(sandbox: &Sandbox, arguments: &[&str], killed_after_ms: Option<u64>) -> Option<bool> {
    let mut command = sandbox.command(arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it runs");
    if let Some(wait_ms) = killed_after_ms {
        sleep(Duration::from_millis(wait_ms));
        let _ = child.kill();
    }
    let code = child.wait().expect("it ends").code()?;
    assert!(matches!(code, 0 | 1), "{arguments:?} ends with {code}");
    Some(code == 0)
}

/// The commits whose messages are erased there.
fn erased(sandbox: &Sandbox) -> BTreeSet<String> {
    let there = tips(sandbox, "");
    let names = BRANCHES
        .iter()
        .zip(there)
        .filter(|(_, tip)| !tip.is_empty());
    let lines = names.flat_map(|(name, _)| log(sandbox, name));
    lines.filter(|line| line.ends_with(ERASED)).collect()
}

fn take(at: usize, step: Step, people: &[Sandbox; 3]) {
    let (mine, hub) = (&people[step.who], &people[2]);
    let run = |arguments: &[&str]| run(mine, arguments, step.killed_after_ms);
    let (before, there) = (tips(mine, ""), tips(hub, ""));
    match step.what {
        What::Say(count) => {
            let line = |number| {
                let word = if number % 7 == 0 { "forget" } else { "said" };
                format!("{{\"role\":\"user\",\"content\":\"{word} {at} {number}\"}}\n")
            };
            let lines: String = (0..count).map(line).collect();
            mine.write("batch.jsonl", lines);
            let done = run(&["commit", "--batch", "batch.jsonl"]);
            let has = mine.tract(&["log", "-n", "0", "--format", "%s"]);
            let new = has
                .lines()
                .filter(|line| line.contains(&format!(" {at} ")))
                .count();
            assert!(new == 0 || new == usize::from(count), "{new} of {count}");
            assert!(
                done != Some(true) || new > 0,
                "what is acknowledged is there"
            );
        }
        What::Checkout(which) => {
            let name = BRANCHES[which];
            if before[which].is_empty() {
                run(&["checkout", "-b", name])
            } else {
                run(&["checkout", name])
            };
        }
        What::Push { with_lease } => {
            let done = if with_lease {
                run(&["push", "--force-with-lease", "origin"])
            } else {
                run(&["push", "origin"])
            };
            let now = tips(hub, "");
            for ((was, is), to) in there.iter().zip(&now).zip(&before) {
                assert!(is == was || is == to, "from {was} to {is}, not {to}");
                let goes_on = || {
                    hub.ok(&["log", "-n", "0", "--format", "%H", is.trim()])
                        .contains(was.trim())
                };
                assert!(is == was || with_lease || goes_on(), "{was} is lost");
            }
            if done == Some(true) {
                let own = mine.ok(&["rev-parse", "HEAD"]);
                let mut led = BRANCHES
                    .iter()
                    .map(|name| hub.tract(&["log", "-n", "0", "--format", "%H", name]));
                assert!(
                    led.any(|log| log.contains(own.trim())),
                    "{own} is not there"
                );
            }
        }
        What::Pull => {
            let gone = erased(mine);
            run(&["pull", "origin"]);
            assert!(
                erased(mine).is_superset(&gone),
                "what was erased has come back"
            );
            for ((was, is), to) in before.iter().zip(&tips(mine, "")).zip(&there) {
                assert!(is == was || is == to, "from {was} to {is}, not {to}");
            }
        }
        What::Purge => drop(run(&["purge", "--match", "forget [0-9]*[05] ", "--force"])),
        What::Clear => drop(run(&["clear"])),
        What::Back => drop(run(&["reset", "--soft", "HEAD~3"])),
        What::Undo => drop(run(&["undo"])),
    }
}

/// All that led to a branch: the commits, and what they say.
fn log(sandbox: &Sandbox, name: &str) -> Vec<String> {
    let told = sandbox.ok(&["log", "-n", "0", "--format", "%H %s", name]);
    told.lines().map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(laws(8))]

    /// Whatever was done by whom, and wherever it was killed.
    #[test]
    fn whoever_was_killed_all_agree_in_the_end(
        steps in proptest::collection::vec(step(), 1..30),
    ) {
        let people = [Sandbox::new(), Sandbox::new(), Sandbox::new()];
        let [_, _, hub] = &people;
        for sandbox in &people[..2] {
            sandbox.ok(&["remote", "add", "origin", &hub.place()]);
        }
        let first = Step { who: 0, what: What::Say(9), killed_after_ms: None };
        for (at, step) in [first].into_iter().chain(steps).enumerate() {
            take(at, step, &people);
        }
        for mine in &people[..2] {
            if tips(mine, "").iter().any(|tip| !tip.is_empty()) {
                mine.ok(&["fetch", "origin"]);
                mine.ok(&["push", "--all", "--force-with-lease", "origin"]);
                prop_assert!(mine.tract(&["push", "--all", "origin"]).contains("Nothing to send"));
            }
        }
        let there = tips(hub, "");
        for mine in &people[..2] {
            // A branch that an undo took away there is still seen here.
            mine.ok(&["fetch", "--prune", "origin"]);
            prop_assert_eq!(&tips(mine, "origin/"), &there);
            for (name, _) in BRANCHES.iter().zip(&there).filter(|(_, tip)| !tip.is_empty()) {
                let (ours, theirs) = (log(mine, &format!("origin/{name}")), log(hub, name));
                prop_assert_eq!(ours.len(), theirs.len());
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    prop_assert_eq!(&ours[..64], &theirs[..64]);
                    // What one has erased the other may have, and nothing else differs.
                    let is_erased = [ours, theirs].iter().any(|it| it.ends_with(ERASED));
                    prop_assert!(ours == theirs || is_erased, "{ours}\n{theirs}");
                }
            }
            let again = mine.tract(&["fetch", "origin"]);
            prop_assert!(again.contains("Nothing new"), "{}", again);
        }
        for sandbox in &people {
            sandbox.ok(&["fsck"]);
        }
    }
}
