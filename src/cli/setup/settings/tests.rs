use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::conditions::laws;

fn server() -> Entry {
    let server = json!({"command": "tract", "args": ["mcp"]});
    Entry::member(&["mcpServers", "tract"], server)
}

fn hook(event: &str, job: &str) -> Entry {
    let hook = json!({"type": "command", "command": format!("tract {job} --hook"), "timeout": 30});
    Entry::item(&["hooks", event], json!({ "hooks": [hook] }))
}

fn ours() -> Vec<Entry> {
    vec![
        hook("PreCompact", "import"),
        hook("PreCompact", "guard"),
        hook("SessionEnd", "import"),
        Entry::member(&["env", "KEEP"], json!("1")),
        server(),
    ]
}

const COMMENTED: &str = r#"{
    // what I like
    "model": "opus", /* best */
    "hooks": {
        "SessionEnd": [
            { "hooks": [{ "type": "command", "command": "/opt/tract/bin/tract --repo ~ import --hook" }] },
        ],
        "PreCompact": [],
    },
}
"#;

#[test]
fn what_is_added_to_json_leaves_comments_order_and_indentation_alone() {
    let settings = Form::Json.read(COMMENTED).expect("it is read");
    let standings: Vec<Standing> = ours().iter().map(|one| one.standing(&settings)).collect();
    let there = Standing::There(Some("/opt/tract/bin/tract".to_owned()));
    let missing = || Standing::Missing;
    assert_eq!(
        standings,
        [missing(), missing(), there, missing(), missing()]
    );
    let entries = [hook("PreCompact", "guard"), server()];
    let added = Form::Json.add(COMMENTED, &entries).expect("added");
    insta::assert_snapshot!(added, @r#"
    {
        // what I like
        "model": "opus", /* best */
        "hooks": {
            "SessionEnd": [
                { "hooks": [{ "type": "command", "command": "/opt/tract/bin/tract --repo ~ import --hook" }] },
            ],
            "PreCompact": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "tract guard --hook",
                            "timeout": 30
                        }
                    ]
                }
            ],
        },
        "mcpServers": {
            "tract": {
                "command": "tract",
                "args": ["mcp"]
            }
        },
    }
    "#);
    let before = Form::Json.read(COMMENTED).expect("it is read");
    let removed = Form::Json
        .remove(&added, &entries, &before)
        .expect("removed");
    assert_eq!(removed, COMMENTED);
}

#[test]
fn marks_and_ends_of_lines_of_other_systems_stay() {
    let text = "\u{feff}{\r\n  \"model\": \"opus\"\r\n}\r\n";
    let added = Form::Json.add(text, &ours()).expect("added");
    assert!(added.starts_with("\u{feff}{\r\n"), "{added:?}");
    assert_eq!(added.matches('\n').count(), added.matches("\r\n").count());
    let removed = Form::Json
        .remove(&added, &ours(), &Value::Null)
        .expect("removed");
    assert_eq!(removed, text);
}

#[test]
fn only_what_is_ours_is_taken_out_of_what_the_user_changed() {
    let entries = ours();
    let written = Form::Json.add("", &entries).expect("added");
    let changed = written.replace("\"PreCompact\": [", "// mine\n    \"PreCompact\": [");
    let changed = changed.replace("\"KEEP\": \"1\"", "\"KEEP\": \"1\", \"MINE\": \"2\"");
    let changed = changed.replace(
        "\"command\": \"tract\"",
        "\"env\": {}, \"command\": \"tract\"",
    );
    assert_ne!(written, changed);
    let rest = Form::Json
        .remove(&changed, &entries, &Value::Null)
        .expect("removed");
    insta::assert_snapshot!(rest, @r#"
                {
                  "hooks": {
                    // mine
                  },
                  "env": {
                 "MINE": "2"
                  }
                }
                "#);
}

#[test]
fn what_has_another_form_is_refused_and_named() {
    let add = |text: &str| Form::Json.add(text, &ours()).expect_err("refused");
    assert_eq!(add("[]"), "not an object of JSON");
    assert_eq!(
        add("{\n  \"hooks\": {,}\n}"),
        "not valid JSON, line 2, column 13"
    );
    assert_eq!(add("{'hooks': {}}"), "not valid JSON, line 1, column 2");
    assert_eq!(
        add("{\"hooks\": []}"),
        "'hooks' is set to something else there"
    );
    assert_eq!(
        add("{\"hooks\": {\"PreCompact\": {}}}"),
        "'PreCompact' is set to something else there"
    );
    assert_eq!(
        add("{\"hooks\": {}, \"hooks\": {}}"),
        "'hooks' stands there twice"
    );
    let add = |text: &str| Form::Toml.add(text, &[server()]).expect_err("refused");
    assert_eq!(add("a = 1\nb = \n"), "not valid TOML, line 2");
    assert_eq!(
        add("mcpServers = 1\n"),
        "'mcpServers' is set to something else there"
    );
}

#[test]
fn what_is_added_to_toml_leaves_the_rest_alone() {
    let text = "# mine\nmodel = \"gpt\"  # the big one\n\n[mcpServers.other]\ncommand = \"x\"\n\n[tui]\n# keep\nnotifications = true\n";
    let added = Form::Toml.add(text, &[server()]).expect("added");
    insta::assert_snapshot!(added, @r#"
    # mine
    model = "gpt"  # the big one

    [mcpServers.other]
    command = "x"

    [mcpServers.tract]
    command = "tract"
    args = ["mcp"]

    [tui]
    # keep
    notifications = true
    "#);
    let before = Form::Toml.read(text).expect("it is read");
    // What the client keeps of our server goes with it.
    let kept = format!("{added}\n[mcpServers.tract.tools.recall]\napproval_mode = \"approve\"\n");
    for text_then in [&added, &kept] {
        let removed = Form::Toml
            .remove(text_then, &[server()], &before)
            .expect("removed");
        assert_eq!(removed, text);
    }
    let inline = "mcpServers = { other = { command = \"x\" } }\n";
    let added = Form::Toml.add(inline, &[server()]).expect("added");
    assert_eq!(
        server().standing(&Form::Toml.read(&added).expect("read")),
        Standing::There(Some("tract".to_owned()))
    );
}

/// Settings as people have them: some of the names that ours go by, values of all kinds.
fn settings() -> impl Strategy<Value = Value> {
    let names = prop_oneof![
        "hooks",
        "PreCompact",
        "SessionEnd",
        "env",
        "KEEP",
        "mcpServers",
        "tract",
        "a\u{e9}\"b",
        "x"
    ];
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\ ]{0,6}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(names.clone(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    value.prop_filter("an object", Value::is_object)
}

/// The value as JSON, with comments and white space strewn in.
fn strewn(value: &Value, seed: &mut u32) -> String {
    let gaps = ["", " ", "\n", "\n    ", "/* c */", "// to the end\n", "\t"];
    let gap = |seed: &mut u32| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        gaps[(*seed >> 16) as usize % gaps.len()]
    };
    let mut text = String::from(gap(seed));
    match value {
        Value::Object(members) => {
            text.push('{');
            for (at, (name, value)) in members.iter().enumerate() {
                text += if at > 0 { "," } else { "" };
                text += &format!("{}{}{}:", gap(seed), Value::from(name.as_str()), gap(seed));
                text += &strewn(value, seed);
            }
            text += gap(seed);
            text.push('}');
        }
        Value::Array(items) => {
            let items = items.iter().map(|item| strewn(item, seed));
            text += &format!("[{}]", items.collect::<Vec<_>>().join(","));
        }
        other => text += &other.to_string(),
    }
    text + gap(seed)
}

/// The value as TOML: a table for each object, remarks in between.
fn tabled(value: &Value, at: &str, text: &mut String) {
    let members = value.as_object().expect("an object");
    let inner = |value: &&Value| !value.is_object();
    for (name, value) in members.iter().filter(|(_, value)| inner(value)) {
        let value = super::toml::item(value);
        *text += &format!("{} = {value} # c\n", Value::from(name.as_str()));
    }
    for (name, value) in members.iter().filter(|(_, value)| !inner(value)) {
        let at = format!("{at}{}", Value::from(name.as_str()));
        *text += &format!("\n# {}\n[{at}]\n", "c");
        tabled(value, &format!("{at}."), text);
    }
}

/// What the settings are with ours in them; none where something else has a name of ours.
fn merged(settings: &Value, entries: &[Entry]) -> Option<Value> {
    let mut merged = settings.clone();
    for entry in entries {
        let (name, around) = entry.names();
        let mut object = merged.as_object_mut()?;
        for name in around {
            let inner = object.entry(name).or_insert_with(|| json!({}));
            object = inner.as_object_mut()?;
        }
        if entry.is_item {
            let list = object.entry(name).or_insert_with(|| json!([]));
            list.as_array_mut()?.push(entry.value.clone());
        } else {
            object.insert(name.to_owned(), entry.value.clone());
        }
    }
    Some(merged)
}

fn holds(form: Form, text: &str, settings: &Value, ours: &[Entry]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&form.read(text).expect("it is read"), settings);
    let missing = ours
        .iter()
        .filter(|one| one.standing(settings) == Standing::Missing);
    let missing: Vec<Entry> = missing.cloned().collect();
    let Some(merged) = merged(settings, &missing) else {
        prop_assert!(form.add(text, &missing).is_err());
        return Ok(());
    };
    let added = form.add(text, &missing).expect("added");
    prop_assert_eq!(form.read(&added).expect("it is read"), merged);
    for remark in ["/* c */", "// to the end", "# c\n"] {
        prop_assert_eq!(
            added.matches(remark).count(),
            text.matches(remark).count(),
            "{}",
            added
        );
    }
    let removed = form.remove(&added, &missing, settings).expect("removed");
    prop_assert_eq!(
        &form.read(&removed).expect("it is read"),
        settings,
        "{}",
        removed
    );
    Ok(())
}

proptest! {
    #![proptest_config(laws(1_000))]

    /// What is put in is there, and nothing else changes; what is taken out is gone, and nothing else changes.
    #[test]
    fn settings_are_what_they_were_but_for_ours(settings in settings(), mut seed: u32) {
        let text = strewn(&settings, &mut seed);
        holds(Form::Json, &text, &settings, &ours())?;
        let mut text = String::new();
        tabled(&settings, "", &mut text);
        holds(Form::Toml, &text, &settings, &[server()])?;
    }
}
