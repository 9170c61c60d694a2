//! Names, what joins them to a value, how that is quoted, and values, put together at random: thousands of forms that stand in no
//! table. A password is found in each, and what is none in none.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

static SECRETS: LazyLock<Secrets> = LazyLock::new(Secrets::new);

/// Words for a password or a key, cut as a name's words are.
const STEMS: [&[&str]; 16] = [
    &["password"],
    &["passwd"],
    &["passphrase"],
    &["db", "password"],
    &["smtp", "pass"],
    &["admin", "pw"],
    &["root", "pwd"],
    &["user", "password"],
    &["client", "secret"],
    &["api", "key"],
    &["access", "token"],
    &["auth", "token"],
    &["signing", "key"],
    &["shop", "api", "secret"],
    &["mail", "passwort"],
    &["usuario", "contrasena"],
];

/// How a name may be given a value.
const JOINTS: [&str; 39] = [
    "{N}={V}",
    "export {N}='{V}'",
    "{N}: {V}",
    "  {N}: \"{V}\"",
    "{N} = \"{V}\"",
    "\"{N}\": \"{V}\",",
    "'{N}' => '{V}',",
    "{N} := `{V}`",
    "{N} ||= '{V}'",
    "{N} ??= \"{V}\"",
    "let {N}: String = \"{V}\";",
    "const {N} string = \"{V}\"",
    "std::string {N}{\"{V}\"};",
    "{N} = N'{V}'",
    "{N} = SecretString(\"{V}\")",
    "set_{N}(\"{V}\")",
    "--{N} {V}",
    "--{N}={V}",
    "<{N}>{V}</{N}>",
    "<add key=\"{N}\" value=\"{V}\" />",
    "<entry key=\"{N}\">{V}</entry>",
    "<key>{N}</key>\n\t<string>{V}</string>",
    "- name: {N}\n  value: {V}",
    "{\"name\": \"{N}\", \"value\": \"{V}\"}",
    "variable \"{N}\" {\n  type = string\n  default = \"{V}\"\n}",
    "https://acme.io/f?{N}={V}&page=2",
    "user=mara&{N}={V}&remember=1",
    "| user | {N} |\n|---|---|\n| mara | {V} |",
    "| {N} | {V} |",
    "user,{N},role\nmara,{V},clerk",
    "INSERT INTO staff (name, {N}) VALUES ('mara', '{V}');",
    "settings['{N}'] = '{V}';",
    "cat > .env <<EOF\nMODE=prod\n{N}={V}\nEOF",
    "the {N} is {V}.",
    "{N} is now \"{V}\"",
    "{N} → {V}",
    "Das Passwort ist „{V}“",
    "le mot de passe : « {V} »",
    "{N} ist jetzt ‚{V}‘!",
];

/// What is given to names in programs and in what is told about them.
const NO_VALUES: [&str; 26] = [
    "string",
    "String",
    "None",
    "null",
    "true",
    "required",
    "get_password()",
    "self.password",
    "process.env.DB_PASSWORD",
    "os.environ[\"DB_PASSWORD\"]",
    "$DB_PASSWORD",
    "${DB_PASSWORD}",
    "{{ vault_password }}",
    "%s",
    "<your-password>",
    "changeme",
    "********",
    "/run/secrets/db_password",
    "./secrets/db.txt",
    "https://acme.io/reset",
    "hunter",
    "4096",
    "form.password.value",
    "user.passwordHash",
    "your_api_key_here",
    "vault:secret/data/shop#pass",
];

/// What names and values stand among, in no order that makes sense.
const PIECES: [&str; 40] = [
    "=",
    ": ",
    "=>",
    "||=",
    "->",
    " | ",
    "\t",
    "  ",
    "\n",
    "\\n",
    "\\u201e",
    "\"",
    "\\\"",
    "'",
    "`",
    "(",
    ")",
    "{",
    "}",
    "[",
    "<",
    ">",
    "</key>",
    "<string>",
    ",",
    ";",
    "${A:-",
    " is ",
    " lautet ",
    "„",
    "「",
    "是",
    "é",
    "😀",
    "value",
    "\"name\":\"",
    "VALUES (",
    "---",
    "\0",
    "…",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        (0..name::NEEDLES.len()).prop_map(|at| name::NEEDLES[at].to_owned()),
        (0..PIECES.len()).prop_map(|at| PIECES[at].to_owned()),
        name(),
        value(),
    ]
}

fn spelled(words: &[&str], spelling: usize) -> String {
    let capital = |word: &&str| word[..1].to_uppercase() + &word[1..];
    match spelling {
        0 => words.join("_"),
        1 => words.join("_").to_uppercase(),
        2 => words[0].to_owned() + &words[1..].iter().map(capital).collect::<String>(),
        3 => words.iter().map(capital).collect(),
        _ => words.join("-"),
    }
}

fn name() -> impl Strategy<Value = String> {
    (0..STEMS.len(), 0..5_usize).prop_map(|(stem, spelling)| spelled(STEMS[stem], spelling))
}

/// What a machine drew, and what people choose.
fn value() -> impl Strategy<Value = String> {
    let drawn = "[a-z][A-Z][0-9][a-zA-Z0-9]{14,30}[0-9][A-Z][a-z][0-9]";
    let chosen =
        (0..4_usize, 0..4_usize, 10..99_u32, 10..99_u32).prop_map(|(one, two, digits, more)| {
            let first = ["Lantern", "Walrus", "Copper", "Saffron"];
            let second = ["glacier", "juniper", "tundra", "pelican"];
            format!("{}{digits}{}{more}x", first[one], second[two])
        });
    let is_drawn = |it: &String| {
        !is_example(it.as_bytes())
            && !value::is_algorithm(it.as_bytes())
            && entropy(it.as_bytes()) >= 3.5
    };
    prop_oneof![drawn.prop_filter("looks drawn", is_drawn), chosen]
}

/// As it stands, as a text of JSON, as that in another; with letters of other alphabets as numbers, if so asked.
fn quoted(text: &str, depth: usize, is_ascii: bool) -> String {
    (0..depth).fold(format!("So:\n{text}\nThanks!"), |text, _| {
        let text = serde_json::json!({ "content": text }).to_string();
        let spelled = |it: char| match it {
            it if it.is_ascii() || !is_ascii => it.to_string(),
            it => it
                .encode_utf16(&mut [0; 2])
                .iter()
                .map(|half| format!("\\u{half:04x}"))
                .collect(),
        };
        text.chars().map(spelled).collect()
    })
}

proptest! {
    #![proptest_config(crate::conditions::laws(4096))]

    #[test]
    fn whatever_joins_a_name_to_a_password_it_is_found(name in name(), joint in 0..JOINTS.len(), value in value(), depth in 0..3_usize, is_ascii: bool) {
        let text = JOINTS[joint].replace("{N}", &name).replace("{V}", &value);
        let text = quoted(&text, depth, is_ascii);
        let out = SECRETS.redact_text(&text, &mut SecretCounts::new());
        let out = out.unwrap_or_else(|| text.clone());
        prop_assert!(!out.contains(&value[value.len() / 2..]), "{out}");
        let is_json = depth == 0 || serde_json::from_str::<serde_json::Value>(&out).is_ok();
        prop_assert!(is_json, "{out}");
        prop_assert!(SECRETS.find(out.as_bytes()).is_empty(), "{out}");
    }

    #[test]
    fn a_password_that_stands_in_each_of_three_messages_is_found_in_each(name in name(), joint in 0..JOINTS.len(), value in value(), is_ascii: bool) {
        let text = JOINTS[joint].replace("{N}", &name).replace("{V}", &value);
        let text = format!("[{}]", vec![quoted(&text, 1, is_ascii); 3].join(","));
        let out = SECRETS.redact_text(&text, &mut SecretCounts::new()).unwrap_or(text);
        prop_assert!(!out.contains(&value[value.len() / 2..]), "{out}");
        prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{out}");
    }

    #[test]
    fn what_is_no_password_is_found_nowhere(name in name(), joint in 0..JOINTS.len(), value in 0..NO_VALUES.len(), depth in 0..3_usize, is_ascii: bool) {
        let text = JOINTS[joint].replace("{N}", &name).replace("{V}", NO_VALUES[value]);
        let text = quoted(&text, depth, is_ascii);
        prop_assert_eq!(SECRETS.find(text.as_bytes()), [], "{}", text);
    }
    #[test]
    fn whatever_stands_together_json_stays_json(pieces in prop::collection::vec(piece(), 1..14), depth in 1..3_usize, is_ascii: bool) {
        let text = pieces.concat();
        for found in SECRETS.find(text.as_bytes()) {
            prop_assert!(text.get(found.place).is_some(), "{}", text);
        }
        let text = quoted(&text, depth, is_ascii);
        if let Some(out) = SECRETS.redact_text(&text, &mut SecretCounts::new()) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&out).is_ok(), "{}", out);
        }
    }
}
