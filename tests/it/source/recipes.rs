//! The recipes of `docs/recipes.md`, each run from beginning to end.

use crate::sandbox::Sandbox;
use crate::sessions::import::SESSION;
use crate::source::shown;

const RECIPES: &str = include_str!("../../../docs/recipes.md");

/// The recipe under this heading.
fn recipe(title: &str) -> &'static str {
    let heading = format!("\n## {title}\n");
    let start = RECIPES.find(&heading).expect("it is there") + heading.len();
    let rest = &RECIPES[start..];
    &rest[..rest.find("\n## ").unwrap_or(rest.len())]
}

/// The blocks in this language.
fn blocks<'a>(recipe: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let blocks = recipe.split(&fence).skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap_or(rest))
        .collect()
}

/// Runs a recipe where the session is at hand, with the scripts that it shows.
fn run(title: &str) -> Sandbox {
    let recipe = recipe(title);
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    for script in blocks(recipe, "sh") {
        let name = script.strip_prefix("# ").expect("it says its name");
        let name = name.split([',', '\n']).next().expect("a word");
        sandbox.write(name, script);
    }
    assert!(!shown::commands(recipe).is_empty());
    shown::run(recipe, &sandbox);
    sandbox
}

#[test]
fn the_compaction_that_lost_what_i_decided() {
    let sandbox = run("The compaction that lost what I decided");
    assert!(sandbox.ok(&["compile"]).contains("Per file. If any"));
}

#[test]
fn my_context_is_full() {
    let sandbox = run("My context is full");
    assert!(sandbox.ok(&["status"]).contains("12 messages"), "undone");
}

#[test]
fn why_does_this_file_say_that() {
    run("Why does this file say that?");
}

#[test]
fn a_data_set_of_my_sessions() {
    run("A data set of my sessions");
}

#[test]
fn my_traces_belong_in_langfuse_phoenix_or_jaeger() {
    run("My traces belong in Langfuse, Phoenix or Jaeger");
}

#[test]
fn two_runs_differ() {
    run("Two runs differ");
}

#[test]
fn which_message_makes_it_fail() {
    run("Which message makes it fail");
}

#[test]
fn an_agent_from_a_shell_script() {
    let sandbox = run("An agent from a shell script");
    let request = std::fs::read_to_string(sandbox.work().join("request.json"));
    let request: serde_json::Value =
        serde_json::from_str(&request.expect("written")).expect("JSON");
    assert_eq!(request["model"], "gpt-5");
}

#[test]
fn a_rule_for_what_is_committed() {
    let sandbox = run("A rule for what is committed");
    assert!(!sandbox.ok(&["compile"]).contains("PRIVATE"));
}

#[test]
fn two_branches_that_meet_again() {
    let sandbox = run("Two branches that meet again");
    assert!(sandbox.ok(&["log", "--graph"]).contains("|/"));
}

#[test]
fn hooks() {
    run("Hooks");
    let settings = blocks(recipe("Hooks"), "json").concat();
    let settings: serde_json::Value = serde_json::from_str(&settings).expect("JSON");
    for event in ["PreCompact", "SessionEnd"] {
        let hook = &settings["hooks"][event][0]["hooks"][0];
        assert_eq!(hook["command"], "tract import --hook");
    }
}

#[test]
fn every_recipe_is_run() {
    let titles = RECIPES.lines().filter(|line| line.starts_with("## "));
    assert_eq!(titles.count(), 11);
}
