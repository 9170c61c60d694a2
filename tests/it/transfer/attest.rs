//! What a run was: the manifest, its signature, and who may check it.

use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, on_servers};

fn run() -> Sandbox {
    let sandbox = Sandbox::new();
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/data/claude-code/compaction.jsonl"
    );
    sandbox.ok(&["import", fixture]);
    sandbox.ok(&["commit", "-r", "user", "-m", "Go on.", "--author", "Mara"]);
    sandbox
}

/// Whether there is no program for signatures, which is said.
fn cannot_sign() -> bool {
    let is_there = Command::new("ssh-keygen")
        .stdin(Stdio::null())
        .arg("-?")
        .output();
    if is_there.is_err() {
        eprintln!("skipped: ssh-keygen is not here");
    }
    is_there.is_err()
}

/// A pair of keys by this name.
fn key(sandbox: &Sandbox, name: &str) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f", name]);
    let made = command.current_dir(sandbox.work()).stdin(Stdio::null());
    assert!(made.status().expect("it runs").success());
}

#[test]
fn a_manifest_says_what_a_run_was() {
    let sandbox = run();
    insta::assert_snapshot!(sandbox.tract(&["attest"]), @r###"
    {
      "attest": 1,
      "name": "refs/heads/main",
      "tip": "013e91a3c3fef259ca78aff870a308e81e3974cb16faad8c941148fe7e3a0f04",
      "commits": 8,
      "root": "0b0e9f4aa6040f163bbc7e5891c7f3fb87016d63aa9daa1cf39898ba0a483d63",
      "messages": 3,
      "first_ms": 1767607201000,
      "last_ms": 1773489780000,
      "authors": [
        "Mara"
      ],
      "clients": [
        "claude-code"
      ],
      "models": [
        {
          "model": "claude-opus-4-5-20251101",
          "replies": 3,
          "input_tokens": 180,
          "cached_tokens": 90,
          "output_tokens": 15
        }
      ],
      "cost_micros": 945,
      "price_list": "genai-prices 0.2.1 of 2026-10-30",
      "tools": {
        "Bash": 2
      },
      "sources": [
        {
          "session": "refs/sessions/claude-code/11111111-2222-4333-8444-555555555555",
          "format": "claude-code",
          "size_bytes": 3431,
          "sha256": "b4e7b5f8279d3e84c6e58baa0c637071a4b0fdc7872ba4a6bd77eece04fb5ece"
        }
      ]
    }
    --- stderr
    hint: not signed: --key ~/.ssh/id_ed25519 signs it
    "###);
    // It follows from the commits alone.
    assert_eq!(sandbox.ok(&["attest"]), sandbox.ok(&["attest", "main"]));
    let other = Sandbox::new();
    sandbox.ok(&["bundle", "run.bundle", "--all", "--sources"]);
    let bundle = sandbox.work().join("run.bundle");
    other.ok(&["unbundle", bundle.to_str().expect("UTF-8")]);
    sandbox.ok(&["attest", "-o", "run.json"]);
    second_reader(&sandbox);
    // Without the session files the rest is compared.
    let bare = Sandbox::new();
    sandbox.ok(&["bundle", "bare.bundle", "--all"]);
    let bundle = sandbox.work().join("bare.bundle");
    bare.ok(&["unbundle", bundle.to_str().expect("UTF-8")]);
    let text = sandbox.ok(&["attest"]);
    insta::assert_snapshot!(bare.tract_with(&["attest", "--verify", "-"], &text), @r###"
    --- stderr
    Not signed
    note: the session files are not here: what follows from them is not compared
    The commits are as attested, in all 27 lines
    "###);
    assert_eq!(other.ok(&["attest", "main"]), sandbox.ok(&["attest"]));
}

/// What the second reader says of the manifest, as it is and with another root.
fn second_reader(sandbox: &Sandbox) {
    if on_servers() {
        return;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/check_repository.py");
    let check = || {
        let mut python = Command::new("python3");
        python.args([script, ".tract/tract.db", "--attest", "run.json"]);
        let output = python.current_dir(sandbox.work()).output();
        let output = output.expect("Python is here");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    let (code, said) = check();
    if code == Some(77) {
        eprintln!("no Python with zstd: the second reader was skipped");
        return;
    }
    assert_eq!((code, &*said), (Some(0), ""));
    let file = sandbox.work().join("run.json");
    let text = std::fs::read_to_string(&file).expect("read");
    sandbox.write("run.json", text.replace("\"root\": \"0", "\"root\": \"1"));
    let (code, said) = check();
    assert_eq!(code, Some(3));
    assert!(said.starts_with("attested: root is 1"), "{said}");
}

#[test]
fn one_that_is_not_signed_is_held_against_the_commits() {
    let sandbox = run();
    sandbox.ok(&["attest", "-o", "run.attest"]);
    insta::assert_snapshot!(sandbox.tract(&["attest", "-o", "run.attest"]), @r###"
    exit code: 1
    --- stderr
    hint: not signed: --key ~/.ssh/id_ed25519 signs it
    error: run.attest exists already
    hint: --force writes over it
    "###);
    insta::assert_snapshot!(sandbox.tract(&["attest", "--verify", "run.attest"]), @r###"
    --- stderr
    Not signed
    The commits are as attested, in all 38 lines
    "###);
    insta::assert_snapshot!(sandbox.tract(&["attest", "--verify", "run.attest", "--key", "run.attest"]), @r###"
    exit code: 3
    --- stderr
    error: run.attest is not signed
    hint: tract attest --key FILE signs one
    "###);
    // More commits since are no change of the run.
    sandbox.ok(&["commit", "-r", "user", "-m", "And on."]);
    insta::assert_snapshot!(sandbox.tract(&["attest", "--verify", "run.attest"]), @r###"
    --- stderr
    Not signed
    The commits are as attested, in all 38 lines
    "###);
    let text = std::fs::read_to_string(sandbox.work().join("run.attest")).expect("read");
    sandbox.write(
        "run.attest",
        text.replace("\"messages\": 3", "\"messages\": 4"),
    );
    insta::assert_snapshot!(sandbox.tract(&["attest", "--verify", "run.attest"]), @r###"
    exit code: 3
    attested  "messages": 4,
    here      "messages": 3,
    --- stderr
    Not signed
    "###);
    // The run of another repository.
    insta::assert_snapshot!(Sandbox::with_messages(&[("user", "Hi")]).tract_with(&["attest", "--verify", "-"], &text), @r###"
    exit code: 1
    --- stderr
    Not signed
    error: commit 013e91a3c3 is not here
    hint: tract pull, or tract unbundle, brings the run's commits here
    "###);
    insta::assert_snapshot!(sandbox.tract_with(&["attest", "--verify", "-"], "Hello"), @r###"
    exit code: 3
    --- stderr
    Not signed
    error: it is no manifest: expected value at line 1 column 1
    hint: tract attest writes one
    "###);
    insta::assert_snapshot!(sandbox.tract(&["attest", "nothing"]), @r###"
    exit code: 1
    --- stderr
    error: nothing here is called 'nothing'
    hint: tract log --oneline lists them, tract branch the branches
    "###);
}

#[test]
fn whoever_has_the_public_key_verifies_a_signed_one() {
    if cannot_sign() {
        return;
    }
    let sandbox = run();
    key(&sandbox, "mara");
    key(&sandbox, "other");
    insta::assert_snapshot!(sandbox.tract(&["attest", "--key", "mara", "-o", "run.attest"]), @r###"
    --- stderr
    Wrote run.attest, signed
    "###);
    let verify = |key: &str| sandbox.tract(&["attest", "--verify", "run.attest", "--key", key]);
    let sound = verify("mara.pub");
    assert!(sound.contains("Signed with ED25519 key SHA256:"), "{sound}");
    assert!(sound.contains("The commits are as attested"), "{sound}");
    assert!(!sound.contains("exit code"), "{sound}");
    let other = verify("other.pub");
    assert!(other.starts_with("exit code: 3"), "{other}");
    assert!(other.contains("the signature does not hold"), "{other}");
    let nobody = sandbox.tract(&["attest", "--verify", "run.attest"]);
    assert!(nobody.contains("hint: --key FILE"), "{nobody}");
    // Without tract, as the page says.
    let text = std::fs::read_to_string(sandbox.work().join("run.attest")).expect("read");
    let at = text.find("-----BEGIN SSH SIGNATURE").expect("it is signed");
    sandbox.write("run.json", &text[..at]);
    sandbox.write("run.json.sig", &text[at..]);
    let key = std::fs::read_to_string(sandbox.work().join("mara.pub")).expect("read");
    sandbox.write("signers", format!("mara namespaces=\"tract-attest\" {key}"));
    let line = "ssh-keygen -Y verify -f signers -I mara -n tract-attest -s run.json.sig < run.json";
    let mut command = Command::new("sh");
    let checked = command.args(["-c", line]).current_dir(sandbox.work());
    let checked = checked.output().expect("it runs");
    assert!(checked.status.success(), "{checked:?}");
    // One byte of any line: the signature is no longer its own, and the line is named.
    let lines = text[..at].lines().count();
    for line in [3, 4, 5, 6, lines - 3] {
        let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
        let changed = &mut all[line - 1];
        let digit = changed
            .rfind(|c: char| c.is_ascii_alphanumeric())
            .expect("it has one");
        let new = if changed[digit..].starts_with('7') {
            "8"
        } else {
            "7"
        };
        changed.replace_range(digit..=digit, new);
        sandbox.write("run.attest", all.join("\n") + "\n");
        let told = verify("mara.pub");
        assert!(told.starts_with("exit code: 3"), "{told}");
        assert!(told.contains("the signature does not hold"), "{told}");
        let named = all[line - 1].trim();
        let named = named
            .trim_end_matches(',')
            .rsplit('"')
            .nth(1)
            .unwrap_or(named);
        assert!(
            told.contains(&named[..named.len().min(10)]),
            "{line}: {told}"
        );
    }
    insta::assert_snapshot!(sandbox.tract(&["attest", "--key", "run.json"]).lines().skip(1).collect::<Vec<_>>().join("\n"), @r###"
    --- stderr
    error: ssh-keygen did not sign: Couldn't load public key run.json: No such file or directory
    hint: --key names a private key of SSH, or a public one whose private key an agent has
    "###);
}

/// What a fork goes through: two agents go on from one place, they meet again, a colleague pulls what came of it, goes on from there in
/// a client, and verifies what is attested.
#[test]
fn a_forks_whole_life() {
    // A clone is a file of its own.
    if on_servers() {
        return;
    }
    let (mara, ben) = (run(), Sandbox::empty());
    let hub = mara.work().join("hub");
    let hub = hub.to_str().expect("UTF-8");
    // Two agents, each on a branch of its own.
    mara.ok(&["checkout", "-b", "lexer", "HEAD~1"]);
    mara.ok(&[
        "--on",
        "main",
        "commit",
        "-r",
        "assistant",
        "-m",
        "The parser is mended.",
    ]);
    mara.ok(&[
        "--on",
        "lexer",
        "commit",
        "-r",
        "user",
        "-m",
        "And the lexer?",
    ]);
    mara.ok(&[
        "--on",
        "lexer",
        "commit",
        "-r",
        "assistant",
        "-m",
        "It drops the last token.",
    ]);
    mara.ok(&["checkout", "main"]);
    mara.ok(&["merge", "lexer", "--messages"]);
    let text = mara.ok(&["compile", "--format", "text"]);
    assert_eq!(
        text.matches("It drops the last token.").count(),
        1,
        "{text}"
    );
    // Where it came from is known through the merge.
    let blame = mara.ok(&["blame", ":-1"]);
    let origin = mara.ok(&["rev-parse", "lexer"]);
    assert!(
        blame.contains(&format!("copied from  {}", &origin[..7])),
        "{blame}"
    );
    mara.ok(&["attest", "main", "-o", "run.attest"]);
    mara.ok(&["init", "hub"]);
    mara.ok(&["remote", "add", "origin", hub]);
    mara.ok(&["push", "--sources"]);
    // A colleague.
    ben.ok(&["clone", hub, "."]);
    assert_eq!(ben.ok(&["compile", "--format", "text"]), text);
    let attested = std::fs::read_to_string(mara.work().join("run.attest")).expect("read");
    let told = ben.tract_with(&["attest", "--verify", "-"], &attested);
    assert!(told.contains("The commits are as attested"), "{told}");
    assert!(!told.contains("exit code"), "{told}");
    assert!(
        ben.ok(&["resume", "--in", "claude-code"])
            .contains("claude")
    );
    assert!(ben.ok(&["resume", "--in", "codex"]).contains("codex"));
    // More from there comes over by a pull, and the attested run stays what it was.
    mara.ok(&["commit", "-r", "user", "-m", "Thanks."]);
    mara.ok(&["push", "--sources"]);
    ben.ok(&["pull"]);
    assert!(ben.ok(&["log", "-1"]).contains("Thanks."));
    let told = ben.tract_with(&["attest", "--verify", "-"], &attested);
    assert!(told.contains("The commits are as attested"), "{told}");
    for sandbox in [&mara, &ben] {
        sandbox.ok(&["fsck"]);
    }
}

#[test]
fn the_commit_of_the_project_that_a_session_began_at_is_attested() {
    let session = include_str!("../../data/codex/plain.jsonl");
    let (first, rest) = session.split_once('\n').expect("several records");
    let mut first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let commit = "5f1f9a4b6d5b8f5c3b1f0c5d4e3f2a1b0c9d8e7f";
    first["payload"]["git"] = serde_json::json!({"commit_hash": commit, "branch": "main"});
    let sandbox = Sandbox::new();
    sandbox.write("rollout.jsonl", format!("{first}\n{rest}"));
    sandbox.ok(&["import", "rollout.jsonl"]);
    let manifest = sandbox.ok(&["attest"]);
    assert!(
        manifest.contains(&format!("\"git_commit\": \"{commit}\"")),
        "{manifest}"
    );
}

/// What is read again: each message, hidden ones too, and each session file.
#[test]
fn a_text_that_was_changed_is_not_as_attested() {
    if on_servers() {
        return;
    }
    let sandbox = run();
    sandbox.ok(&["commit", "-r", "user", "-m", "The answer is 42."]);
    sandbox.ok(&["drop", "--force", ":-1"]);
    sandbox.ok(&["attest", "-o", "run.attest"]);
    let verify = || sandbox.tract(&["attest", "--verify", "run.attest"]);
    assert!(verify().contains("The commits are as attested"));
    let swap = |was: &str, is: &str| {
        sandbox.change(&format!(
            "UPDATE bodies SET body = CAST(replace(CAST(body AS TEXT), 'is {was}.', 'is {is}.') AS BLOB)
             WHERE CAST(body AS TEXT) LIKE '%is {was}.%'"
        ));
    };
    swap("42", "43");
    let commit = sandbox.ok(&["rev-parse", "HEAD~1"]);
    insta::assert_snapshot!(verify().replace(&commit[..7], "[COMMIT]"), @r"
    exit code: 3
    --- stderr
    Not signed
    error: 1 message is not what was attested: that of commit [COMMIT]
    hint: tract fsck says what is damaged and what to do
    ");
    swap("43", "42");
    assert!(verify().contains("The commits are as attested"));
    // Bytes behind what is read for the manifest itself.
    sandbox.change(
        "UPDATE source_blocks SET data = CAST(replace(CAST(data AS TEXT), 'x', 'y') AS BLOB)",
    );
    sandbox.change("UPDATE sources SET size_bytes = size_bytes");
    let told = verify();
    assert!(told.starts_with("exit code: 3"), "{told}");
    assert!(!told.contains("The commits are as attested"), "{told}");
}

#[test]
fn a_text_that_was_purged_and_a_branch_that_was_shortened_are_said() {
    let sandbox = run();
    sandbox.ok(&["commit", "-r", "user", "-m", "The answer is 42."]);
    sandbox.ok(&["attest", "-o", "run.attest"]);
    let verify = || sandbox.tract(&["attest", "--verify", "run.attest"]);
    sandbox.ok(&["reset", "HEAD~2"]);
    insta::assert_snapshot!(verify(), @r"
    --- stderr
    Not signed
    note: main was shortened: it ends 2 commits before the attested tip
    The commits are as attested, in all 38 lines
    ");
    sandbox.ok(&["commit", "-r", "user", "-m", "Another way."]);
    let told = verify();
    let note = "note: main does not lead to the attested tip any more\n";
    assert!(told.contains(note) && !told.contains("exit code"), "{told}");
    sandbox.ok(&["undo"]);
    sandbox.ok(&["undo"]);
    assert!(!verify().contains("note: "));
    sandbox.ok(&["purge", "HEAD", "--force"]);
    let told = verify();
    let note = "note: 1 text was purged since: nobody can hold it against its hash\n";
    assert!(told.contains(note) && !told.contains("exit code"), "{told}");
}

#[test]
fn text_behind_a_signature_is_said() {
    if cannot_sign() {
        return;
    }
    let sandbox = run();
    key(&sandbox, "mara");
    sandbox.ok(&["attest", "--key", "mara", "-o", "run.attest"]);
    let text = std::fs::read_to_string(sandbox.work().join("run.attest")).expect("read");
    let told = |behind: &str| {
        let text = text.clone() + behind;
        let told = sandbox.tract_with(&["attest", "--verify", "-", "--key", "mara.pub"], &text);
        let is_sound = !told.contains("exit code");
        assert_eq!(is_sound, told.contains("signed them").eq(&false), "{told}");
        assert!(told.contains("Signed with ED25519"), "{told}");
        is_sound
    };
    assert!(told("") && told("\n\n"));
    assert!(!told("Approved by Ben.\n"));
    assert!(!told(&text));
}
