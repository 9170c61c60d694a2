//! Conversations as rows of data sets.

use serde_json::Value;

use crate::sandbox::Sandbox;
use crate::sessions::import::SESSION;

fn rows(text: &str) -> Vec<Value> {
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).expect("a row"))
        .collect()
}

fn imported() -> Sandbox {
    let sandbox = Sandbox::empty();
    sandbox.write("session.jsonl", SESSION);
    sandbox.ok(&["import", "session.jsonl"]);
    sandbox
}

#[test]
fn a_row_is_a_session_a_turn_or_a_prompt_with_its_answer() {
    let sandbox = imported();
    let sent = sandbox.ok(&["compile", "--format", "openai"]);
    let sent: Value = serde_json::from_str(&sent).expect("JSON");
    let sent = sent
        .get("messages")
        .unwrap_or(&sent)
        .as_array()
        .expect("a list")
        .clone();

    let session = rows(&sandbox.ok(&["dataset"]));
    assert_eq!(session.len(), 1);
    let row = &session[0];
    assert_eq!(
        row["messages"].as_array().expect("a list").len(),
        sent.len()
    );
    let roles = |list: &[Value]| -> Vec<String> {
        list.iter()
            .map(|it| it["role"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(
        roles(row["messages"].as_array().expect("a list")),
        roles(&sent)
    );
    assert!(row["output_tokens"].as_u64().is_some_and(|count| count > 0));
    assert!(row["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0));
    assert!(
        row["model"]
            .as_str()
            .is_some_and(|model| model.contains("claude"))
    );
    assert_eq!([&row["outcome"], &row["license"]], [&Value::Null; 2]);

    // What is hidden is in no row, and that is said.
    sandbox.ok(&["drop", ":1", "--force"]);
    let told = sandbox.tract(&["dataset"]);
    assert!(told.contains("note: not in the rows: "), "{told}");
    assert!(told.contains(" hidden message"), "{told}");
    sandbox.ok(&["undo"]);

    let turns = rows(&sandbox.ok(&["dataset", "--rows", "turn", "--license", "CC0-1.0"]));
    let of_turns: usize = turns
        .iter()
        .map(|row| row["messages"].as_array().map_or(0, Vec::len))
        .sum();
    assert!(turns.len() > 1 && of_turns <= sent.len(), "{of_turns}");
    assert!(
        turns
            .iter()
            .all(|row| row["messages"][0]["role"] == "user" && row["license"] == "CC0-1.0")
    );

    let prompts = rows(&sandbox.ok(&["dataset", "--rows", "prompt"]));
    let replies = sent.iter().filter(|it| it["role"] == "assistant").count();
    assert_eq!(prompts.len(), replies);
    for row in &prompts {
        let (prompt, answer) = (&row["prompt"], &row["completion"]);
        assert!(!prompt.as_array().expect("a list").is_empty());
        assert_eq!(answer.as_array().map(Vec::len), Some(1));
        assert_eq!(answer[0]["role"], "assistant");
    }
    let tokens = |rows: &[Value]| -> u64 {
        rows.iter()
            .filter_map(|row| row["output_tokens"].as_u64())
            .sum()
    };
    assert_eq!(tokens(&prompts), tokens(&session));
}

#[test]
fn rows_that_say_the_same_are_one_and_secrets_are_out() {
    let key = format!("sk-ant-api03-{}", "aB3dE6gH9jK2mN5pQ8".repeat(5));
    let sandbox = Sandbox::with_messages(&[
        ("user", &format!("The key is {key}.")),
        ("assistant", "Noted."),
    ]);
    sandbox.ok(&["branch", "other"]);
    let told = sandbox.ok(&["dataset", "main", "other"]);
    assert_eq!(rows(&told).len(), 1, "{told}");
    assert!(
        !told.contains(&key) && told.contains("[redacted:"),
        "{told}"
    );
    let all = sandbox.ok(&[
        "dataset",
        "main",
        "other",
        "--keep-duplicates",
        "--allow-secrets",
    ]);
    assert_eq!(rows(&all).len(), 2, "{all}");
    assert!(all.contains(&key));
    let answer: Value =
        serde_json::from_str(&sandbox.ok(&["api", "dataset", r#"{"revs": ["main", "other"]}"#]))
            .expect("JSON");
    assert_eq!(
        [&answer["rows"], &answer["duplicates"]],
        [&Value::from(1), &Value::from(1)]
    );
    assert_eq!(rows(answer["content"].as_str().expect("rows")).len(), 1);
}

#[test]
fn runs_of_one_context_with_other_verdicts_are_pairs() {
    let sandbox = Sandbox::with_messages(&[("user", "Hello."), ("user", "Name a river.")]);
    sandbox.ok(&["drop", ":1", "--force"]);
    let answers = ["The Elbe.", "A cat.", "The Rhine."];
    let script = "n=$(cat n 2>/dev/null || echo 0); n=$((n + 1)); echo $n > n; case $n in 1) echo 'The Elbe.';; 2) echo 'A cat.';; *) echo 'The Rhine.';; esac";
    sandbox.write("answer.sh", script);
    sandbox.tract(&[
        "run",
        "HEAD",
        "-n",
        "3",
        "-j",
        "1",
        "--name",
        "rivers",
        "--exec",
        "sh answer.sh",
        "--judge",
        "! grep -q cat",
    ]);
    let pairs = rows(&sandbox.ok(&["dataset", "--rows", "pair"]));
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    for pair in &pairs {
        assert_eq!(pair["prompt"][0]["content"], "Name a river.");
        let said = |column: &str| {
            pair[column][0]["content"]
                .as_str()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        assert_eq!(said("rejected"), answers[1]);
        assert!([answers[0], answers[2]].contains(&&*said("chosen")));
    }
    let told = sandbox.tract(&["dataset", "--rows", "pair"]);
    assert!(told.contains("not in the rows: 3 hidden"), "{told}");
    let session = rows(&sandbox.ok(&["dataset", "run/rivers/1", "run/rivers/2"]));
    let outcomes: Vec<&Value> = session.iter().map(|row| &row["outcome"]).collect();
    assert_eq!(outcomes, ["good", "bad"]);
    let none = sandbox.tract(&["dataset", "nothing", "--rows", "pair"]);
    assert!(
        none.starts_with("exit code: ")
            && none.contains("there are no runs 'nothing'")
            && none.contains("hint: "),
        "{none}"
    );
}

#[test]
fn a_file_is_written_once_and_said_so() {
    let sandbox = imported();
    let said = sandbox.tract(&["dataset", "-o", "rows.jsonl"]);
    assert!(said.contains("Wrote 1 row to rows.jsonl"), "{said}");
    let again = sandbox.tract(&["dataset", "-o", "rows.jsonl"]);
    assert!(again.starts_with("exit code: 1"), "{again}");
    sandbox.ok(&["dataset", "-o", "rows.jsonl", "--force"]);
    let text = std::fs::read_to_string(sandbox.work().join("rows.jsonl")).expect("written");
    assert_eq!(rows(&text).len(), 1);
    if !cfg!(feature = "parquet") {
        let told = sandbox.tract(&["dataset", "-o", "rows.parquet"]);
        assert!(
            told.contains("error: this tract was built without Parquet\nhint: "),
            "{told}"
        );
        assert!(!sandbox.work().join("rows.parquet").exists());
    }
}
