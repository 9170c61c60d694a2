//! Each form wherever it may stand, and what is only like one.

use super::*;

/// Kinds of what is found in a text. The tokens are put together here, so that no scanner takes this
/// file for a leak.
fn kinds(text: &str) -> Vec<&'static str> {
    let found = Secrets::new().find(text.as_bytes());
    found.into_iter().map(|secret| secret.kind).collect()
}

/// So many characters that look random.
fn random(size: usize) -> String {
    let letters = b"q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe";
    (0..size)
        .map(|at| char::from(letters[(at * 11 + at / 32) % 32]))
        .collect()
}

fn samples() -> Vec<(&'static str, String)> {
    let upper = random(64).to_uppercase().replace(
        |it: char| it.is_ascii_digit() && !('2'..='7').contains(&it),
        "Q",
    );
    let letters: String = random(200)
        .chars()
        .filter(char::is_ascii_alphabetic)
        .take(34)
        .collect();
    let hex: String = (0..64)
        .map(|at| char::from(b"0a9f3b7c2d8e1546"[(at * 7 + at / 16) % 16]))
        .collect();
    vec![
        ("aws-access-key", format!("AKIA{}", &upper[..16])),
        ("github-token", format!("ghp_{}", random(36))),
        (
            "github-token",
            format!("github_pat_{}_{}", random(22), random(59)),
        ),
        ("gitlab-token", format!("glpat-{}", random(20))),
        (
            "slack-token",
            format!("xoxb-{}-{}", "2718281828459", random(24)),
        ),
        (
            "slack-webhook",
            format!(
                "https://hooks.slack.com/services/T{}/B{}/{}",
                &upper[..9],
                &upper[9..18],
                random(24)
            ),
        ),
        (
            "openai-key",
            format!("sk-proj-{}T3BlbkFJ{}", random(40), random(40)),
        ),
        ("anthropic-key", format!("sk-ant-api03-{}AA", random(93))),
        ("google-key", format!("AIza{}", random(35))),
        ("google-oauth", format!("GOCSPX-{}", random(28))),
        ("stripe-key", format!("sk_live_{}", random(24))),
        ("npm-token", format!("npm_{}", random(36))),
        ("pypi-token", format!("pypi-AgE{}", random(60))),
        ("huggingface-token", format!("hf_{letters}")),
        ("sendgrid-key", format!("SG.{}.{}", random(22), random(43))),
        ("telegram-token", format!("271828182:AA{}", random(33))),
        ("digitalocean-token", format!("dop_v1_{hex}")),
        ("docker-token", format!("dckr_pat_{}", random(27))),
        ("vault-token", format!("hvs.{}", random(24))),
        (
            "jwt",
            format!("eyJ{}.eyJ{}.{}", random(20), random(40), random(43)),
        ),
    ]
}

#[test]
fn each_issuers_form_is_found_wherever_it_stands() {
    for (kind, token) in samples() {
        assert_eq!(kinds(&token), [kind], "{token}");
        assert_eq!(kinds(&format!("use {token}, please")), [kind], "{token}");
        // In JSON's spelling.
        assert_eq!(
            kinds(&format!(r#"{{"text":"here:\n{token}\nthere"}}"#)),
            [kind],
            "{token}"
        );
        // In the midst of a word it is something else.
        if token.starts_with(|it: char| it.is_ascii_alphanumeric()) && kind != "slack-webhook" {
            let longer = format!("abc{token}");
            assert!(
                !kinds(&longer).contains(&kind) || kind == "telegram-token",
                "{longer}"
            );
        }
    }
}

/// What redaction gives has no secret by the same judge, wherever the secret stood.
#[test]
fn nothing_is_found_in_what_was_redacted() {
    let frames = [
        "{}",
        "use {}, please",
        "https://{}@host/a.git",
        "https://me:{}@host/a.git",
        "postgres://app:{}@db/main",
        "redis://:{}@host:6379",
        "https://host/?token={}",
        "Authorization: Bearer {}",
        "Authorization: Basic {}",
        "curl -u me:{} https://host",
        "export API_KEY={}",
        "PASSWORD='{}'",
        r#"{"password": "{}"}"#,
        r#"{"api_key":"{}"}"#,
        r#"{\"text\": \"https://{}@host\"}"#,
        "https://x-access-token:{}@host/a/b",
        "{}:{}@host",
        "https://{}:{}@host",
    ];
    let secrets = Secrets::new();
    let mut all = samples();
    all.push(("a password", random(24)));
    for (kind, token) in all {
        for frame in frames {
            let text = frame.replace("{}", &token);
            let mut counts = SecretCounts::new();
            let out = secrets.redact(text.as_bytes(), &mut counts).into_owned();
            let out = String::from_utf8(out).expect("text");
            assert_eq!(kinds(&out), [""; 0], "{kind} in {frame}: {out}");
            assert!(
                kind == "a password" || !out.contains(&token),
                "{kind} in {frame}: {out}"
            );
        }
    }
}

#[test]
fn what_is_said_to_be_secret_is_found_by_its_name() {
    let secret = random(40);
    for text in [
        format!("aws_secret_access_key = {secret}"),
        format!(r#"{{"secretAccessKey": "{secret}"}}"#)
            .replace("secretAccessKey", "secret_access_key"),
    ] {
        assert_eq!(kinds(&text), ["aws-secret-key"], "{text}");
    }
    let header = format!("curl -H 'Authorization: Bearer {}'", random(30));
    assert_eq!(kinds(&header), ["authorization"]);
    let url = format!("postgres://app:{}@db.internal/main", random(12));
    assert_eq!(kinds(&url), ["url-password"]);
    let text = format!(r#"API_KEY="{}""#, random(24));
    assert_eq!(kinds(&text), ["password"]);
    let account = format!("AccountName=a;AccountKey={}==;", random(86));
    assert_eq!(kinds(&account), ["azure-storage-key"]);
}

#[test]
fn a_private_key_is_one_secret_from_its_first_line_to_its_last() {
    let (begin, end) = ("-----BEGIN OPENSSH ", "-----END OPENSSH ");
    let key = format!(
        "{begin}PRIVATE KEY-----\n{}\n{end}PRIVATE KEY-----",
        random(70)
    );
    let text = format!("before\n{key}\nafter");
    let mut counts = SecretCounts::new();
    let out = Secrets::new()
        .redact(text.as_bytes(), &mut counts)
        .into_owned();
    assert_eq!(
        String::from_utf8_lossy(&out),
        "before\n[redacted:private-key]\nafter"
    );
    assert_eq!(counts, SecretCounts::from([("private-key", 1)]));
}

#[test]
fn no_spelling_of_json_hides_a_secret() {
    let secrets = Secrets::new();
    let (_, token) = samples().swap_remove(1);
    let spelled = |it: char| format!("\\u{:04x}", u32::from(it));
    let all: String = token.chars().map(spelled).collect();
    let after_feed = format!("\\u000a{token}");
    let storage = format!("AccountKey={}/{}==", random(43), random(42)).replace('/', "\\/");
    let coloured = format!("\\u001b[32m{token}\\u001b[0m");
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    for text in [all, after_feed, storage, coloured] {
        // As it stands in a string, and as that does in one, and so on.
        let mut record = format!(r#"{{"a":"{text}","b":1}}"#);
        for depth in 0..4 {
            let mut counts = SecretCounts::new();
            let out = secrets.redact(record.as_bytes(), &mut counts).into_owned();
            assert_eq!(counts.values().sum::<usize>(), 1, "{depth}: {record}");
            let mut read = String::from_utf8(out).expect("text");
            for _ in 0..depth {
                let inner: serde_json::Value = serde_json::from_str(&read).expect("JSON");
                read = inner["in"].as_str().expect("a text").to_owned();
            }
            let value: serde_json::Value = serde_json::from_str(&read).expect("JSON");
            let left = value["a"].as_str().expect("a text");
            assert!(
                left.contains("[redacted:") && !left.contains(&token),
                "{left}"
            );
            record = format!(r#"{{"in":{}}}"#, quoted(&record));
        }
    }
}

#[test]
fn a_key_without_its_end_goes_as_far_as_it_may_and_a_mention_is_none() {
    let begin = "-----BEGIN RSA ";
    let body = random(64);
    let cut = format!("x {begin}PRIVATE KEY-----\n{body}\n{body} and so on");
    let mut counts = SecretCounts::new();
    let out = Secrets::new()
        .redact_text(&cut, &mut counts)
        .expect("redacted");
    assert!(!out.contains(&body), "{out}");
    // A quoted text ends where it ends.
    let record =
        serde_json::json!({"a": cut, "b": format!("{begin}PRIVATE KEY-----"), "c": "-----END "});
    let out = Secrets::new()
        .redact_text(&record.to_string(), &mut counts)
        .expect("redacted");
    let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!((&read["b"], &read["c"]), (&record["b"], &record["c"]));
    assert!(!out.contains(&body), "{out}");
    assert!(kinds(&format!("grep '{begin}PRIVATE KEY-----' *.pem")).is_empty());
    // What is told of it before its body has dashes of its own.
    let head = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00";
    let whole =
        format!("{begin}PRIVATE KEY-----\n{head}\n\n{body}\n-----END RSA PRIVATE KEY-----\nx");
    let out = Secrets::new()
        .redact_text(&whole, &mut counts)
        .expect("redacted");
    assert_eq!(out, "[redacted:private-key]\nx");
}

#[test]
fn a_message_is_redacted_wherever_it_is_secret() {
    use crate::model::{Media, MediaSource, Role};
    let (_, token) = samples().swap_remove(1);
    let thinking = |text: String, signature: &str| Part::Thinking {
        text,
        signature: Some(signature.into()),
        provider: Some("anthropic".into()),
    };
    let message = |token: &str, signed: &str| Message {
        name: Some("bob".into()),
        ..Message::new(
            Role::Assistant,
            vec![
                thinking("hm".into(), "EpYE"),
                Part::Thinking {
                    text: format!("it is {token}"),
                    signature: (!signed.is_empty()).then(|| signed.into()),
                    provider: Some("anthropic".into()),
                },
                Part::ToolCall {
                    id: "1".into(),
                    name: "sh".into(),
                    arguments: serde_json::json!({"c": format!("echo \"{token}\"\n")}).to_string(),
                    kind: None,
                },
                Part::ToolResult {
                    call: "1".into(),
                    content: vec![
                        Part::text(format!("{token}\n日本")),
                        Part::File(Media {
                            media_type: None,
                            name: None,
                            detail: None,
                            source: MediaSource::Url(format!("https://h/?t={token}")),
                        }),
                    ],
                    is_error: false,
                },
                Part::Opaque {
                    provider: "anthropic".into(),
                    data: serde_json::json!({"type": "x", "y": token}).to_string(),
                },
            ],
        )
    };
    let mut counts = SecretCounts::new();
    let out = Secrets::new().redact_message(&message(&token, "EpYF"), &mut counts);
    assert_eq!(out, Some(message("[redacted:github-token]", "")));
    assert_eq!(counts, SecretCounts::from([("github-token", 5)]));
    assert_eq!(
        Secrets::new().redact_message(&out.expect("one"), &mut counts),
        None
    );
}

#[test]
fn what_the_user_allows_is_no_secret() {
    let (_, token) = samples().swap_remove(1);
    let text = format!("GITHUB_TOKEN={token}");
    let kinds = |allowed: &str| {
        let secrets = Secrets::allowing(&[allowed]).expect("sound");
        secrets.find(text.as_bytes()).len()
    };
    assert_eq!(
        (kinds(&token[..12]), kinds("^ghp_"), kinds("^_")),
        (0, 0, 1)
    );
    // What stands beside it does not count.
    assert_eq!(kinds("GITHUB"), 1);
    let error = Secrets::allowing(&["a(b"])
        .expect_err("refused")
        .to_string();
    assert_eq!(error, "the regular expression 'a(b': unclosed group");
}

#[test]
fn what_begins_like_a_secret_all_the_time_takes_linear_work() {
    let secrets = Secrets::new();
    for text in [
        "-eyJ",
        "-----BEGIN PRIVATE KEY-----",
        "://",
        "api_key=",
        "token: '",
        "secret=\"",
        "\\u0041",
        "\\",
        "AIza",
        "-AIza",
        "AIzaSyD4x9Qm2",
        "-AIzaSyD4x9Qm2",
        "A",
    ] {
        let work = |count: usize| {
            work::BYTES.set(0);
            // The last spelling hides something, so that all is looked at twice.
            secrets.find((text.repeat(count) + "\\u0041").as_bytes());
            work::BYTES.get()
        };
        let (one, six) = (work(2_000), work(12_000));
        // At the ends of a short text less is looked at.
        assert!(six <= 9 * one + 100_000, "{text}: {one} {six}");
    }
}

#[test]
fn an_example_is_no_secret() {
    for text in [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("ghp_{}", "X".repeat(36)),
        "export GITHUB_TOKEN=ghp_your_token_here_0123456789abcdefghij".to_owned(),
        "OPENAI_API_KEY=your-key-goes-here-please".to_owned(),
        "token = self.metadata_total_output_tokens".to_owned(),
        "max_tokens = completion_usage_prompt_tokens_2024".to_owned(),
        "https://user:password@localhost/".to_owned(),
        "https://x-access-token:${GITHUB_TOKEN}@github.com".to_owned(),
        "Authorization: Bearer $ANTHROPIC_API_KEY_OF_MINE".to_owned(),
        "the token: 123e4567".to_owned(),
        String::new(),
    ] {
        assert_eq!(kinds(&text), [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_text_is_redacted_between_characters_and_stays_json() {
    let (_, token) = samples().swap_remove(1);
    let record = serde_json::json!({"text": format!("日本\t{token}\nfin"), "n": 1}).to_string();
    let mut counts = SecretCounts::new();
    let out = Secrets::new()
        .redact(record.as_bytes(), &mut counts)
        .into_owned();
    let read: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(read["text"], "日本\t[redacted:github-token]\nfin");
    assert!(Secrets::new().find(&out).is_empty());
    assert!(matches!(
        Secrets::new().redact(b"plain", &mut counts),
        Cow::Borrowed(_)
    ));
}

#[test]
fn a_secret_ends_with_a_whole_letter() {
    let secrets = Secrets::new();
    let plain = "aB3xY7k9QzT5uW2m";
    let mut found = 0;
    for len in 48..72 {
        let password: String = plain.chars().cycle().take(len).collect();
        let text = format!("sshpass -p {password}é漢字é ssh host");
        let Some(redacted) = secrets.redact_text(&text, &mut SecretCounts::new()) else {
            continue;
        };
        found += 1;
        assert!(!redacted.contains(&plain[..8]), "{redacted}");
    }
    assert!(found > 10, "{found}");
}
