//! Each kind of name in each frame, and who is nobody.

use super::*;
use crate::model::secret::{SecretCounts, Secrets};

const SPELLINGS: [&str; 5] = [
    "alice.smith",
    "alice.smith@example.com",
    "Alice Smith",
    "/home/alice.smith/shop",
    r"C:\Users\alice.smith\shop",
];

fn met() -> People {
    let mut people = People::default();
    people.meet_one(["asmith@tinker", "/data/alice.smith"]);
    people.meet_home("/home/alice.smith/shop");
    people.meet(b"Author: Alice Smith <alice.smith@example.com>\n");
    people.meet("Reviewed-by: José Núñez <jn@firma.example>".as_bytes());
    people.meet(b"bob2@workhorse:~$ ls");
    people
}

fn clean(text: &str) -> String {
    let secrets = Secrets::new().anonymous(&met());
    let mut counts = SecretCounts::new();
    let clean = secrets.redact_text(text, &mut counts);
    let clean = clean.unwrap_or_else(|| text.to_owned());
    // By our own judge there is nobody left.
    assert_eq!(secrets.find(clean.as_bytes()), [], "{text}: {clean}");
    clean
}

/// Each kind in each frame: what is around it stays, and so does JSON.
#[test]
fn everybody_has_another_name_wherever_they_stand() {
    let frames: [fn(&str) -> String; 12] = [
        str::to_owned,
        |it| format!("see {it}, please"),
        |it| format!("({it})"),
        |it| format!("line\n{it}\nline"),
        |it| format!("\u{1b}[32m{it}\u{1b}[0m"),
        |it| format!("`{it}`: **{it}**"),
        |it| format!("OWNER={it};"),
        |it| format!("drwxr-xr-x 2 {it} staff"),
        |it| format!("<a title=\"{it}\">{it}</a>"),
        |it| serde_json::json!({"text": format!("\n{it}\t"), "n": 1}).to_string(),
        |it| {
            let inner = serde_json::json!({"command": format!("cat\n{it}")}).to_string();
            serde_json::json!({"arguments": inner}).to_string()
        },
        |it| serde_json::json!([it]).to_string().replace('/', "\\/"),
    ];
    for spelling in SPELLINGS
        .iter()
        .chain(&["José Núñez", "jn@firma.example", "workhorse", "bob2"])
    {
        for frame in frames {
            let text = frame(spelling);
            let clean = clean(&text);
            for part in [
                "alice",
                "smith",
                "Smith",
                "Alice",
                "Jos",
                "firma",
                "jn@",
                "bob2",
                "workhorse",
            ] {
                assert!(!clean.contains(part), "{text}: {clean}");
            }
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            let stays = serde_json::from_str::<serde_json::Value>(&clean).is_ok();
            assert_eq!(is_json, stays, "{text}: {clean}");
        }
    }
    // As Python's JSON spells it, quoted or not.
    assert_eq!(
        clean(r#"{"by": "Jos\u00e9 N\u00fa\u00f1ez"}"#),
        r#"{"by": "person-2"}"#
    );
}

#[test]
fn one_person_has_one_name() {
    assert_eq!(
        SPELLINGS.map(clean),
        [
            "person-1",
            "person-1@mail.invalid",
            "person-1",
            "/home/person-1/shop",
            r"C:\Users\person-1\shop"
        ]
    );
    assert_eq!(
        clean("asmith@tinker:~ and /data/alice.smith/x"),
        "person-1@host-1:~ and /data/person-1/x"
    );
    assert_eq!(
        clean("José Núñez <jn@firma.example>"),
        "person-2 <person-2@mail.invalid>"
    );
    assert_eq!(clean("-home-alice-smith-shop"), "-home-person-1-shop");
    assert_eq!(
        clean("123+alice.smith@users.noreply.github.com"),
        "person-1@mail.invalid"
    );
    assert_eq!(clean("bob2@workhorse:/srv"), "person-3@host-2:/srv");
    // Who comes in later than everybody was met.
    assert_eq!(
        clean("/Users/carol/x, dave@example.com"),
        "/Users/someone/x, someone@mail.invalid"
    );
}

#[test]
fn who_is_nobody_keeps_the_name() {
    for text in [
        "/home/user/shop",
        "/root/x and /Users/Shared",
        "git@github.com:owner/repo.git",
        "Co-Authored-By: Claude <noreply@anthropic.com>",
        "react@18.2.0 and @types/node@22.1.0",
        "https://example.com/home/about",
        "user@host:~$ ssh root@localhost",
        r#"{"alice.smith": 1}"#,
        "person-1 and person-1@mail.invalid on host-1",
        // As a page is read without its tags.
        "okperson-1@mail.invalidperson-1",
        "person-1@mail.inval",
        "ghp_ and [redacted:github-token]@github.com",
        "workhorses and malice.smithy",
    ] {
        assert_eq!(clean(text), text);
    }
    let picture = "iVBOR".repeat(60) + "/alice/" + &"w0KGgo".repeat(40);
    assert_eq!(clean(&picture), picture);
}

#[test]
fn a_secret_beside_a_name_is_a_secret() {
    let token = format!("ghp_{}", "0007q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe");
    let told = clean(&format!("https://alice.smith:{token}@github.com/x"));
    assert!(
        told.contains("[redacted:") && !told.contains("alice"),
        "{told}"
    );
}
