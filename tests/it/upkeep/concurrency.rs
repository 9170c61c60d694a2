//! Several processes at once.

use std::thread;

use crate::sandbox::Sandbox;

const PROCESSES: usize = 4;
/// On one chain, where they get in each other's way.
const CHAIN: usize = 200;
/// On a branch each.
const BRANCH: usize = 100;

fn commit_in_parallel(sandbox: &Sandbox, commits: usize, on: impl Fn(usize) -> Vec<String>) {
    let commands: Vec<Vec<std::process::Command>> = (0..PROCESSES)
        .map(|worker| {
            (0..commits)
                .map(|number| {
                    let text = format!("worker {worker}, message {number}");
                    let mut arguments = on(worker);
                    arguments.extend(["commit", "-r", "user", "-m", &text].map(str::to_owned));
                    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                    sandbox.command(&arguments)
                })
                .collect()
        })
        .collect();
    thread::scope(|scope| {
        for commands in commands {
            scope.spawn(move || {
                for mut command in commands {
                    let output = command.output().expect("the program runs");
                    let told = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success(), "{told}");
                }
            });
        }
    });
}

#[test]
fn processes_that_commit_at_once_make_one_chain() {
    let sandbox = Sandbox::new();
    commit_in_parallel(&sandbox, CHAIN, |_| Vec::new());
    let log = sandbox.ok(&["log", "-n", "0"]);
    assert_eq!(log.lines().count(), PROCESSES * CHAIN);
}

#[test]
fn each_with_its_branch_they_make_four() {
    let sandbox = Sandbox::new();
    commit_in_parallel(&sandbox, BRANCH, |worker| {
        vec!["--on".into(), format!("agent-{worker}")]
    });
    for worker in 0..PROCESSES {
        let branch = format!("agent-{worker}");
        let log = sandbox.ok(&["--on", &branch, "log", "-n", "0"]);
        assert_eq!(log.lines().count(), BRANCH, "{branch}");
    }
}
