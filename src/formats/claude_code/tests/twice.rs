//! What stands in a file twice: a conversation that the client wrote once more, and records that it keeps.

use super::*;

/// What each path says, the main one first, by the steps that lead there.
fn paths(kept: &Kept) -> Vec<Vec<String>> {
    let mut paths = vec![sketches(kept.main())];
    let mut ends = kept
        .branches
        .iter()
        .skip(1)
        .map(|(at, _)| *at)
        .chain([kept.steps.len()]);
    for (at, branch) in &kept.branches {
        let before = branch.after.map_or(0, |step| step.0 + 1);
        let end = ends.next().expect("an end");
        let own = sketches(&kept.steps[*at..end]);
        paths.push([sketches(&kept.steps[..before]), own].concat());
    }
    paths
}

#[test]
fn a_conversation_that_is_written_once_more_is_told_once() {
    let kept = fixture("copied.jsonl");
    assert!(kept.problems.is_empty(), "{:?}", kept.problems);
    let first = [
        r#"user: "Weigh the flour.""#,
        r#"assistant: thinking "Two sacks.", call c1 {"command":"weigh a"}, call c2 {"command":"weigh b"}"#,
        r#"tool: result c1 ["40 kg"], result c2 ["60 kg"]"#,
        r#"assistant: "A hundred.""#,
    ];
    let second = [r#"user: "Of which?""#, r#"assistant: "Rye.""#];
    let third = [r#"user: "Thanks.""#];
    let paths = paths(&kept);
    assert_eq!(paths[0], [&first[..], &second, &third].concat());
    // Where each writing ended.
    assert_eq!(paths[1..], [first.to_vec(), [&first[..], &second].concat()]);
    assert_eq!(kept.steps.len(), 7, "what was said is one commit");
    let counted = kept.steps.iter().filter_map(|step| step.usage);
    let counted: Vec<u64> = counted.map(|usage| usage.output_tokens).collect();
    assert_eq!(counted, [20, 5, 7]);
    let uncovered = kept.end.expect("an end").other_records;
    assert!(uncovered.is_empty(), "{uncovered:?}");
}

#[test]
fn a_copy_that_says_something_else_parts_there_and_is_paid_for_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/copied.jsonl");
    let text = std::fs::read_to_string(path).expect("a fixture");
    let lines: Vec<&str> = text.lines().take(16).collect();
    // The second result of the copy was lost.
    let lines = lines.iter().enumerate().filter(|(at, _)| *at != 12);
    let lines: Vec<String> = lines.map(|(_, line)| format!("{line}\n")).collect();
    let kept = import(lines.concat().replace(r#""b6""#, r#""b5""#).as_bytes(), "s");
    let main = sketches(kept.main());
    assert_eq!(main[2], r#"tool: result c1 ["40 kg"]"#, "{main:?}");
    assert_eq!(main[5], r#"assistant: "Rye.""#);
    let counted = kept.steps.iter().filter_map(|step| step.usage);
    let counted: u64 = counted.map(|usage| usage.output_tokens).sum();
    assert_eq!(counted, 20 + 5 + 7);
    let found = paths(&kept);
    assert_eq!(
        found[1][2],
        r#"tool: result c1 ["40 kg"], result c2 ["60 kg"]"#
    );
    assert_eq!(found[1].len(), 4);
}

#[test]
fn records_that_are_kept_and_written_once_more_are_no_damage() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/claude-code/compaction.jsonl");
    let text = std::fs::read_to_string(path).expect("a fixture");
    let once = import(text.as_bytes(), "s");
    let again = text.replace(r#""version""#, r#""slug":"wide-green-mill","version""#);
    let twice = import((text.clone() + &again).as_bytes(), "s");
    assert_eq!(twice.steps, once.steps);
    assert!(!twice.problems.is_empty());
    assert!(
        twice.problems.iter().all(|problem| problem.harmless),
        "{:?}",
        twice.problems
    );
    // What says something else is another record, and lost.
    let other = text
        .replace(r#""content":"#, r#""content" :"#)
        .replace("the", "another");
    let twice = import((text + &other).as_bytes(), "s");
    assert!(twice.problems.iter().any(|problem| !problem.harmless));
}

#[test]
fn a_result_that_a_cleared_context_left_is_no_damage() {
    let record = |kind: &str, uuid: &str, parent: &str, content: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"sessionId":"s","message":{{"role":"{kind}","content":[{content}]}}}}"#
        ) + "\n"
    };
    let left = r#"{"type":"tool_result","tool_use_id":"gone","content":"The plan is kept."}"#;
    let said = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
    let begins = record("user", "u1", "null", left)
        + &record("user", "u2", r#""u1""#, &said("Carry it out."));
    let kept = import(begins.as_bytes(), "s");
    assert!(kept.problems.iter().all(|problem| problem.harmless));
    assert_eq!(kept.problems.len(), 1);
    assert_eq!(kept.steps.len(), 2);
    let later = record("user", "u0", "null", &said("Plan."))
        + &record("assistant", "a0", r#""u0""#, &said("Planned."))
        + &record("user", "u1", r#""a0""#, left);
    let kept = import(later.as_bytes(), "s");
    assert!(!kept.problems[0].harmless, "{:?}", kept.problems);
}
