//! Messages found by what they mean: with a model of thirty words, made here.
//!
//! `tests/meaning/models.py` does the same with models that others have made.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::programs::mcp::Client;
use crate::sandbox::Sandbox;

/// Words that mean much the same stand in one row.
const WORDS: [&[&str]; 4] = [
    &["rounding", "decimals", "fractions", "cents", "precision"],
    &["decide", "decided", "choose", "chose", "settled", "agreed"],
    &["login", "password", "signin", "credentials", "account"],
    &["deploy", "release", "ship", "rollout", "publish"],
];

/// A model of these words: each row of them is a direction.
fn model(folder: &Path) {
    std::fs::create_dir_all(folder).expect("made");
    let words: Vec<&str> = WORDS.iter().flat_map(|row| row.iter().copied()).collect();
    let vocabulary: serde_json::Map<String, serde_json::Value> = ["[UNK]"]
        .iter()
        .chain(&words)
        .zip(0..)
        .map(|(word, id)| ((*word).to_owned(), json!(id)))
        .collect();
    let tokenizer = json!({
        "normalizer": { "type": "BertNormalizer", "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": vocabulary },
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).expect("written");
    let mut rows = vec![[0.0_f32; 4]];
    for (direction, row) in WORDS.iter().enumerate() {
        for at in 0..row.len() {
            let mut vector = [0.0; 4];
            vector[direction] = 1.0;
            vector[(direction + 1) % 4] = at as f32 / 50.0;
            rows.push(vector);
        }
    }
    let data: Vec<u8> = rows
        .iter()
        .flatten()
        .flat_map(|it| it.to_le_bytes())
        .collect();
    let head = json!({ "embeddings": { "dtype": "F32", "shape": [rows.len(), 4], "data_offsets": [0, data.len()] } });
    let head = head.to_string();
    let mut file = (head.len() as u64).to_le_bytes().to_vec();
    file.extend(head.as_bytes());
    file.extend(data);
    std::fs::write(folder.join("model.safetensors"), file).expect("written");
}

fn with_model(sandbox: &Sandbox) -> PathBuf {
    let folder = sandbox.home().join("models/tiny");
    model(&folder);
    sandbox.ok(&["config", "--global", "recall.model", "~/models/tiny"]);
    folder
}

fn talk() -> Sandbox {
    Sandbox::with_messages(&[
        ("user", "Where do the cents go?"),
        (
            "assistant",
            "We settled it: fractions are cut off after two places.",
        ),
        ("user", "Then publish it."),
        ("assistant", "The rollout is done."),
    ])
}

const ASKED: &str = "how did we decide on rounding";

/// The first message that is told, by its first line.
fn first(told: &str) -> &str {
    let lines = told.lines().map(str::trim);
    let mut said = lines.filter(|line| line.ends_with(['.', '?']));
    said.next().unwrap_or_default()
}

#[test]
fn other_words_that_mean_the_same_are_found_once_a_model_is_set() {
    let sandbox = talk();
    insta::assert_snapshot!(sandbox.tract(&["find", "--like", ASKED]), @r"
    exit code: 1
    --- stderr
    error: there is no model to find meanings by
    hint: tract config --global recall.model FOLDER names one: model.safetensors and tokenizer.json
    ");
    assert_eq!(
        sandbox.tract(&["find", ASKED]),
        "exit code: 1\n--- stderr\nNo message matches\n"
    );
    let mut client = Client::of(sandbox.command(&["mcp"]));
    let told = client.told("recall", json!({ "query": ASKED }));
    assert!(told.starts_with("Nothing found"), "{told}");

    with_model(&sandbox);
    let found = sandbox.ok(&["find", "--like", ASKED, "-n", "1"]);
    assert_eq!(
        first(&found),
        "We settled it: fractions are cut off after two places.",
        "{found}"
    );
    let told = client.told("recall", json!({ "query": ASKED }));
    assert!(told.contains("We settled it"), "{told}");
    // What words find comes with it, and what must not be there does not.
    let found = sandbox.ok(&["find", "--like", "when did we ship? rollout"]);
    assert_eq!(first(&found), "The rollout is done.", "{found}");
    let found = sandbox.ok(&["find", "--like", "--", "cents decided -fractions"]);
    assert!(
        !found.contains("We settled it") && found.contains("cents go"),
        "{found}"
    );
    // Without being asked for, nothing is as it was not.
    assert_eq!(
        sandbox.tract(&["find", ASKED]),
        "exit code: 1\n--- stderr\nNo message matches\n"
    );
}

#[test]
fn what_comes_in_later_is_found_as_well_and_the_file_may_be_deleted() {
    let sandbox = talk();
    with_model(&sandbox);
    let find = |text: &str| sandbox.ok(&["find", "--like", text, "-n", "1"]);
    assert_eq!(
        first(&find(ASKED)),
        "We settled it: fractions are cut off after two places."
    );
    sandbox.ok(&[
        "commit",
        "-r",
        "assistant",
        "-m",
        "Your credentials were wrong.",
    ]);
    assert_eq!(
        first(&find("signin trouble")),
        "Your credentials were wrong."
    );
    sandbox.ok(&["drop", ":5"]);
    let told = sandbox.ok(&["find", "--like", "signin trouble"]);
    assert!(told.contains("(taken back"), "{told}");
    let file = sandbox.work().join(".tract/vectors");
    if file.exists() {
        let bytes = std::fs::read(&file).expect("read");
        std::fs::write(&file, &bytes[..bytes.len() - 1]).expect("written");
        assert_eq!(
            first(&find(ASKED)),
            "We settled it: fractions are cut off after two places."
        );
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(
            first(&find(ASKED)),
            "We settled it: fractions are cut off after two places."
        );
        assert!(file.exists());
    }
}

/// A vector tells of its text: where that goes, the vector goes.
#[test]
fn no_vector_of_an_erased_text_is_left() {
    for erased in [
        &["clear", "--purge", "--force"][..],
        &["purge", "--match", "credentials", "--force"],
    ] {
        let sandbox = talk();
        with_model(&sandbox);
        sandbox.ok(&["commit", "-r", "user", "-m", "My credentials are unknown."]);
        sandbox.ok(&["find", "--like", "signin"]);
        let file = sandbox.work().join(".tract/vectors");
        if !file.exists() {
            eprintln!("skipped: a repository on a server keeps no vectors");
            return;
        }
        let said = sandbox.tract(erased);
        assert!(!said.starts_with("exit code"), "{erased:?}: {said}");
        assert!(!file.exists(), "{erased:?}: {said}");
        let found = sandbox.tract(&["find", "--like", "signin"]);
        assert!(!found.contains("credentials"), "{erased:?}: {found}");
    }
}

#[test]
fn a_model_is_looked_at_when_it_is_set_and_missed_when_it_is_gone() {
    let sandbox = talk();
    let set = |folder: &str| sandbox.tract(&["config", "--global", "recall.model", folder]);
    let said = set("/nowhere");
    assert!(said.contains("error: /nowhere/tokenizer.json"), "{said}");
    let folder = with_model(&sandbox);
    std::fs::write(folder.join("model.safetensors"), "abc").expect("written");
    let said = set("~/models/tiny");
    assert!(said.contains("it is no file of safetensors"), "{said}");
    let said = sandbox.tract(&["find", "--like", ASKED]);
    assert!(said.contains("it is no file of safetensors"), "{said}");
    let mut client = Client::of(sandbox.command(&["mcp"]));
    let told = client.told("recall", json!({ "query": "rollout" }));
    assert!(
        told.contains("The rollout is done.") && told.contains("found by words alone"),
        "{told}"
    );
    std::fs::write(
        folder.join("tokenizer.json"),
        r#"{"model":{"type":"Magic","vocab":{}}}"#,
    )
    .expect("written");
    let said = set("~/models/tiny");
    assert!(
        said.contains("a tokenizer with the model 'Magic'"),
        "{said}"
    );
}
