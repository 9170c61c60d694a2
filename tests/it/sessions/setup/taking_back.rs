//! Each home as it was before: to the byte, or without what is tract's where the user changed it since.

use std::fs;

use super::homes::{CLAUDE, CODEX, HOMES, Machine, STATE, Thing, full};

#[test]
fn twenty_homes_come_back_to_the_byte() {
    for (name, make, refused) in HOMES {
        let machine = Machine::new();
        make(&machine);
        let before = machine.tree();
        let shown = machine.setup(&[]);
        assert_eq!(machine.tree(), before, "{name}: it is only shown\n{shown}");
        assert!(!shown.starts_with("exit code"), "{name}\n{shown}");

        let told = machine.setup(&["--yes"]);
        let errors = told.matches("error:").count();
        assert_eq!(
            (errors, told.matches("so it is left").count()),
            (refused, refused),
            "{name}\n{told}"
        );
        assert_eq!(
            told.starts_with("exit code: 1"),
            refused > 0,
            "{name}\n{told}"
        );
        let after = machine.tree();
        assert_ne!(after, before, "{name}");
        for (path, thing) in &before {
            // What is written is as readable as it was, and what is a link stays one.
            match (thing, &after[path]) {
                (Thing::File(mode, _), Thing::File(now, _)) => {
                    assert_eq!(mode, now, "{name}: {path:?}")
                }
                (thing, now) => assert_eq!(thing, now, "{name}: {path:?}"),
            }
        }

        let told = machine.setup(&["--yes"]);
        assert_eq!(machine.tree(), after, "{name}: twice is once\n{told}");

        let told = machine.setup(&["--undo"]);
        assert!(!told.contains("error:"), "{name}\n{told}");
        assert_eq!(machine.tree(), before, "{name}\n{told}");
        let told = machine.setup(&["--undo"]);
        assert!(told.contains("nothing was taken back"), "{name}\n{told}");
        for folder in [".codex", ".claude"] {
            if machine.path(folder).is_dir() {
                machine.mode(folder, 0o700);
            }
        }
    }
}

#[test]
fn what_the_user_changed_since_stays_when_it_is_taken_back() {
    let machine = Machine::new();
    full(&machine);
    machine.setup(&["--yes"]);
    let change = |name: &str, from: &str, to: &str| {
        let text = machine.read(name);
        assert!(text.contains(from), "{name}: {text}");
        machine.write(name, text.replace(from, to));
    };
    change(".claude/settings.json", "\"opus\"", "\"sonnet\"");
    change(".claude.json", "\"numStartups\": 7", "\"numStartups\": 8");
    change(".codex/config.toml", "# loud", "# soft");
    // A client keeps more with our server, which goes with it.
    let config = machine.read(".codex/config.toml");
    machine.write(
        ".codex/config.toml",
        config + "\n[mcp_servers.tract.tools.recall]\napproval_mode = \"approve\"\n",
    );
    fs::remove_file(machine.path(".gemini/settings.json")).expect("removed");
    machine.sandbox.ok(&[
        "--repo",
        &machine.home().display().to_string(),
        "commit",
        "-r",
        "user",
        "-m",
        "one",
    ]);
    insta::assert_snapshot!(machine.setup(&["--undo"]), @"
    --- stderr
    ~/.config/systemd/user/tract-watch.service: removed
    ~/.config/opencode/opencode.json: as it was before
    ~/.gemini/settings.json: gone already
    ~/.codex/hooks.json: as it was before
    ~/.codex/config.toml: changed since, so only what is tract's was taken out
    ~/.claude.json: changed since, so only what is tract's was taken out
    ~/.claude/settings.json: changed since, so only what is tract's was taken out
    note: ~/.tract stays, for there is something in it
    hint: rm -r [SANDBOX]/home/.tract erases it
    ");
    // White space is as whoever wrote last had it; every word is the user's.
    let words = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(
        words(&machine.read(".claude/settings.json")),
        words(&CLAUDE.replace("opus", "sonnet"))
    );
    assert_eq!(machine.read(".claude.json"), STATE.replace('7', "8"));
    assert_eq!(
        machine.read(".codex/config.toml"),
        CODEX.replace("loud", "soft")
    );
    assert!(!machine.path(".gemini/settings.json").exists());
    assert!(machine.path(".tract").exists());
    assert!(!machine.path(".config/tract").exists());
}

#[test]
fn what_the_user_changed_between_two_times_is_what_comes_back() {
    let machine = Machine::with(&["claude"]);
    machine.write(".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    machine.setup(&["--yes", "--only", "claude-code"]);
    // A newer version may have more to set up; here one of ours was taken out, and another setting changed.
    let text = machine.read(".claude/settings.json");
    let text = text.replace("SessionEnd", "Stop").replace("opus", "sonnet");
    machine.write(".claude/settings.json", text);
    machine.setup(&["--yes", "--only", "claude-code"]);
    assert_eq!(
        machine.json(".claude/settings.json")["hooks"]["SessionEnd"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    machine.setup(&["--undo"]);
    let rest = machine.json(".claude/settings.json");
    assert_eq!(rest["model"], "sonnet");
    let events: Vec<&String> = rest["hooks"]
        .as_object()
        .expect("the user's")
        .keys()
        .collect();
    assert_eq!(events, ["Stop"]);
    assert!(!machine.path(".config").exists());
}

#[test]
fn a_file_that_cannot_be_taken_back_is_named_and_stays_known() {
    let machine = Machine::with(&["claude", "codex"]);
    full(&machine);
    let before = machine.tree();
    machine.setup(&["--yes"]);
    let written = machine.read(".claude/settings.json");
    machine.write(".claude/settings.json", "{");
    machine.mode(".codex/hooks.json", 0o444);
    insta::assert_snapshot!(machine.setup(&["--undo"]), @"
    exit code: 1
    --- stderr
    ~/.config/opencode/opencode.json: as it was before
    ~/.gemini/settings.json: as it was before
    error: [SANDBOX]/home/.codex/hooks.json: it is read-only, so it is left as it is
    hint: chmod u+w [SANDBOX]/home/.codex/hooks.json, and try again
    ~/.codex/config.toml: as it was before
    ~/.claude.json: as it was before
    error: [SANDBOX]/home/.claude/settings.json: not valid JSON, line 1, column 1, so it is left as it is
    hint: mend it, and try again
    ~/.tract: removed
    ");
    machine.write(".claude/settings.json", written);
    machine.mode(".codex/hooks.json", 0o644);
    let told = machine.setup(&["--undo"]);
    assert_eq!(machine.tree(), before, "{told}");
}
