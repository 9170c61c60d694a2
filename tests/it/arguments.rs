//! What is said before anything is done: help, version, wrong usage.

use crate::sandbox::Sandbox;

#[test]
fn help_lists_the_commands_in_groups() {
    insta::assert_snapshot!(Sandbox::empty().tract(&["--help"]));
}

#[test]
fn without_a_command_and_a_repository_it_says_how_to_start() {
    insta::assert_snapshot!(Sandbox::empty().tract(&[]));
}

#[test]
fn a_mistyped_command_gets_the_nearest() {
    let sandbox = Sandbox::empty();
    insta::assert_snapshot!(sandbox.tract(&["staus"]));
    insta::assert_snapshot!(sandbox.tract(&["log", "--onelin"]));
    insta::assert_snapshot!(sandbox.tract(&["commit"]));
}

#[test]
fn the_version_is_the_packages() {
    let version = Sandbox::empty().ok(&["--version"]);
    assert_eq!(version, format!("tract {}\n", env!("CARGO_PKG_VERSION")));
}
