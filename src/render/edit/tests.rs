//! Every shape, and what is none.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// An edit as a diff writes it, a file after the other.
fn shown(name: &str, arguments: &str) -> Option<String> {
    let edits = Edits::of_call(name, arguments)?;
    let mut text = edits.brief(name).whole() + "\n";
    for file in &edits.files {
        let path = file.path.as_deref().unwrap_or("-");
        text += &format!("{path} {:?} {:?}\n", file.kind, file.tally());
        for hunk in &file.hunks {
            text += &format!("@@ {}\n", hunk.place.as_deref().unwrap_or_default());
            for line in &hunk.lines {
                let sign = match line.tag {
                    Tag::Equal => ' ',
                    Tag::Removed => '-',
                    Tag::Added => '+',
                };
                text += &format!("{sign}{}\n", line.text());
            }
        }
    }
    Some(text)
}

const PATCH: &str = "*** Begin Patch
*** Update File: src/a.rs
*** Move to: src/b.rs
@@ fn main() {
 one
-two
+2
 three
@@
-last
*** Add File: new.txt
+hello
+
+there
*** Delete File: old.txt
*** End Patch
";

#[test]
fn every_tools_edits_are_drawn_as_one_model() {
    let (old, new) = ("one\ntwo\nthree\n", "one\n2\nthree\n");
    let blocks = "<<<<<<< SEARCH\n:start_line:7\n-------\none\ntwo\n=======\none\n2\n>>>>>>> REPLACE\n\n\
                  ------- SEARCH\nx\n=======\n+++++++ REPLACE\n";
    let unified =
        "--- a/x.txt\n+++ b/x.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n\\ No newline at end of file\n";
    let calls = [
        (
            "Edit",
            json!({"file_path": "a", "old_string": old, "new_string": new, "replace_all": true}),
        ),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [
            {"old_string": "x", "new_string": "y"}, {"old_string": "", "new_string": "z"}]}),
        ),
        ("Write", json!({"file_path": "a", "content": old})),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "cell_id": "3", "new_source": "1 + 1"}),
        ),
        ("edit", json!({"path": "a", "oldText": "x", "newText": ""})),
        (
            "replace",
            json!({"instruction": "so", "file_path": "a", "old_string": "x", "new_string": "y"}),
        ),
        (
            "multi_replace_string_in_file",
            json!({"explanation": "both", "replacements": [
            {"filePath": "a", "oldString": "x", "newString": "y"},
            {"filePath": "b", "oldString": "x", "newString": "y"}]}),
        ),
        (
            "str_replace_editor",
            json!({"command": "create", "path": "a", "file_text": "x"}),
        ),
        (
            "str_replace_editor",
            json!({"command": "insert", "path": "a", "insert_line": 3, "new_str": "x"}),
        ),
        ("edit", json!({"search": "x", "replace": "y"})),
        (
            "search_and_replace",
            json!({"path": "a", "operations": [{"search": "x", "replace": "y"}]}),
        ),
        ("apply_diff", json!({"path": "a", "diff": blocks})),
        ("apply_patch", json!({"input": PATCH, "explanation": "why"})),
        ("apply_patch", json!({"patch": unified})),
        (
            "shell",
            json!({"command": ["bash", "-lc", format!("cd x && apply_patch <<'EOF'\n{PATCH}EOF\nls")]}),
        ),
        (
            "exec_command",
            json!({"cmd": format!("apply_patch << EOF\n{PATCH}EOF")}),
        ),
    ];
    let shown = calls.map(|(name, arguments)| {
        let shown = shown(name, &arguments.to_string());
        shown.unwrap_or_else(|| panic!("{name} {arguments} is an edit"))
    });
    insta::assert_snapshot!(shown.join("\n"));
    insta::assert_snapshot!(self::shown("apply_patch", PATCH).expect("a patch"));
}

#[test]
fn what_only_looks_like_an_edit_is_none() {
    for (name, arguments) in [
        ("Read", json!({"file_path": "a"})),
        ("send", json!({"path": "a", "content": "x"})),
        ("find", json!({"search": "x", "replace": "y"})),
        ("cat", json!({"command": format!("cat <<EOF\n{PATCH}EOF")})),
        (
            "TodoWrite",
            json!({"todos": [{"content": "x", "status": "pending"}]}),
        ),
        ("write_stdin", json!({"session_id": 1, "chars": "x"})),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "same", "new_string": "same"}),
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": 1, "new_string": 2}),
        ),
        ("apply_diff", json!({"path": "a", "diff": "no block"})),
        ("Edit", json!(["file_path"])),
    ] {
        let found = Edits::of_call(name, &arguments.to_string());
        let hunks = found.iter().flat_map(|edits| &edits.files);
        assert_eq!(
            hunks.flat_map(|file| &file.hunks).count(),
            0,
            "{name} {arguments}"
        );
    }
    assert_eq!(
        Edits::of_call("Edit", r#"{"file_path": "a", "old_str"#),
        None
    );
}

proptest! {
    #![proptest_config(crate::conditions::laws(512))]

    /// The lines that went and stayed are the old text; those that came and stayed, the new one.
    #[test]
    fn an_edit_says_both_texts(old in "[ab\n]{0,40}", new in "[ab\n]{1,40}") {
        let arguments = json!({"path": "p", "old_str": old, "new_str": new}).to_string();
        let edits = Edits::of_call("edit", &arguments).expect("an edit");
        prop_assert_eq!(edits.files.len(), 1);
        let found = hunks(&old, &new, old.len().max(new.len()));
        prop_assert_eq!(found.is_empty(), old == new);
        let alike = old.is_empty() || old.ends_with('\n') == new.ends_with('\n');
        for (text, other) in [(&old, Tag::Added), (&new, Tag::Removed)] {
            let lines = found.iter().flat_map(|hunk| &hunk.lines);
            let lines = lines.filter(|line| line.tag != other).map(HunkLine::text);
            let whole: Vec<&str> = if alike { text.lines().collect() } else { text.split('\n').collect() };
            prop_assert!(old == new || whole == lines.collect::<Vec<_>>());
        }
    }

    /// Nothing that a model writes makes it fail.
    #[test]
    fn no_patch_is_too_wild(
        lines in prop::collection::vec(prop_oneof![
            "[-+@ *<>=]{0,9}[a-zé]{0,3}", Just("*** Update File: x".to_owned()), Just("@@".to_owned()),
            Just("<<<<<<< SEARCH".to_owned()), Just("=======".to_owned()), Just("--- ".to_owned()),
            Just("+++ ".to_owned()), Just("*** End Patch".to_owned()), Just(">>>>>>> REPLACE".to_owned()),
        ], 0..20),
        begin in prop::sample::select(vec!["*** Begin Patch\n", "@@ x\n", "--- a\n+++ b\n", ""]),
        key in prop::sample::select(vec!["patch", "diff", "input", "command", "content"]),
    ) {
        let text = begin.to_owned() + &lines.join("\n");
        Edits::of_call("apply_patch", &text);
        let arguments = json!({"path": "p", key: format!("apply_patch {text}")}).to_string();
        Edits::of_call("write", &arguments);
        Edits::of_call("x", &json!({"path": "p", key: text}).to_string());
    }
}
