//! What many messages have in common is kept once, and goes where one of those messages is erased.

use rusqlite::Connection;

use crate::conditions;
use crate::purging::places_of;
use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};

const SECRET: &str = "the pass phrase of the archive is mauve-otter-41-lantern";

/// A session of so many messages of half a kilobyte each, of which every third says `secret`.
fn alike(messages: usize, secret: &str) -> String {
    alike_of(messages, 48, secret)
}

/// The same, of so many words each: ten bytes a word, or a little less.
pub fn alike_of(messages: usize, words: usize, secret: &str) -> String {
    const WORDS: [&str; 16] = [
        "directory",
        "owner",
        "listing",
        "changed",
        "permission",
        "archive",
        "checksum",
        "mounted",
        "skipped",
        "renamed",
        "compiled",
        "linked",
        "warning",
        "finished",
        "restored",
        "volume",
    ];
    let mut noise = 7 + secret.len() as u64;
    let mut pick = |of: usize| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (noise >> 33) as usize % of
    };
    let told: Vec<String> = (0..messages)
        .map(|number| {
            let role = ["user", "assistant"][number % 2];
            let words: Vec<String> = (0..words)
                .map(|_| format!("{} {}", WORDS[pick(WORDS.len())], pick(10)))
                .collect();
            let secret = if number % 3 == 0 { secret } else { "" };
            let text = format!("step {number}: {} {secret}", words.join(" "));
            serde_json::json!({"role": role, "content": text}).to_string()
        })
        .collect();
    format!(r#"{{"messages":[{}]}}"#, told.join(","))
}

/// A repository with a dictionary; of it all is said that can be.
fn leaning(secret: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("alike.json", alike(200, secret));
    sandbox.ok(&["import", "alike.json"]);
    sandbox.ok(&["gc"]);
    assert_eq!(dictionaries(&sandbox), 1);
    assert!(leant(&sandbox) > 150, "{}", leant(&sandbox));
    sandbox
}

fn ask(sandbox: &Sandbox, sql: &str) -> i64 {
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    database
        .query_row(sql, [], |row| row.get(0))
        .expect("reads")
}

fn dictionaries(sandbox: &Sandbox) -> i64 {
    ask(sandbox, "SELECT count(*) FROM dictionaries")
}

/// How many bodies lean on one.
fn leant(sandbox: &Sandbox) -> i64 {
    ask(sandbox, "SELECT count(*) FROM bodies WHERE encoding > 1")
}

fn spoil(sandbox: &Sandbox, sql: &str) {
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    assert!(database.execute(sql, []).expect("spoilt") > 0);
}

fn said(sandbox: &Sandbox) -> [String; 3] {
    [
        sandbox.ok(&["compile"]),
        sandbox.ok(&["log", "-n", "0"]),
        sandbox.ok(&["export", "--format", "openai"]),
    ]
}

fn is_sound(sandbox: &Sandbox) {
    sandbox.ok(&["fsck"]);
    let database = sandbox.work().join(".tract/tract.db");
    if let Some((sound, _, said)) = conditions::second_reader(&database) {
        assert!(sound, "{said}");
    }
}

#[test]
fn a_collection_keeps_what_messages_have_in_common_once() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("alike.json", alike(200, ""));
    sandbox.ok(&["import", "alike.json"]);
    let bytes = "SELECT sum(length(body)) FROM bodies";
    let (before, kept) = (said(&sandbox), ask(&sandbox, bytes));
    let told = sandbox.tract(&["gc"]);
    assert!(
        told.starts_with("--- stderr\nNothing to delete\nThe files have "),
        "{told}"
    );
    let data = ask(&sandbox, "SELECT length(data) FROM dictionaries");
    let now = ask(&sandbox, bytes) + data;
    assert!(now * 10 < kept * 9, "{now} of {kept}");
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
    // Once is enough.
    let rows = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["gc"]), @r"
    --- stderr
    Nothing to delete
    ");
    assert!(dump(&sandbox) == rows);
    // What comes since leans on it, too, and a copy has it.
    sandbox.ok(&[
        "commit",
        "-r",
        "user",
        "-m",
        "step 9: listing 4 owner 9 checksum 1 archive 3 "
            .repeat(9)
            .trim(),
    ]);
    let leant_before = leant(&sandbox);
    sandbox.ok(&["gc"]);
    assert_eq!(leant(&sandbox), leant_before + 1);
    let before = said(&sandbox);
    sandbox.ok(&["backup", "copy.db"]);
    std::fs::copy(
        sandbox.work().join("copy.db"),
        sandbox.work().join(".tract/tract.db"),
    )
    .expect("copied");
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
    // A bundle needs none.
    sandbox.ok(&["bundle", "all.bundle", "main"]);
    let other = Sandbox::new();
    other.write(
        "all.bundle",
        std::fs::read(sandbox.work().join("all.bundle")).expect("a bundle"),
    );
    other.ok(&["unbundle", "all.bundle"]);
    assert_eq!((dictionaries(&other), leant(&other)), (0, 0));
}

#[test]
fn a_few_messages_have_none() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("alike.json", alike(20, ""));
    sandbox.ok(&["import", "alike.json"]);
    sandbox.ok(&["gc"]);
    assert_eq!((dictionaries(&sandbox), leant(&sandbox)), (0, 0));
}

#[test]
fn what_comes_in_later_leans_on_it_and_twice_as_much_has_another() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning("");
    let leant_before = leant(&sandbox);
    sandbox.write("more.json", alike(120, "and something else than before"));
    sandbox.ok(&["import", "more.json", "--as", "more"]);
    assert!(
        leant(&sandbox) > leant_before + 30,
        "{leant_before} {}",
        leant(&sandbox)
    );
    sandbox.ok(&["gc"]);
    assert_eq!(ask(&sandbox, "SELECT max(id) FROM dictionaries"), 2);
    sandbox.write(
        "much.json",
        alike(400, "a third thing, which is said for the first time"),
    );
    sandbox.ok(&["import", "much.json", "--as", "much"]);
    let before = said(&sandbox);
    sandbox.ok(&["gc"]);
    assert_eq!(ask(&sandbox, "SELECT min(id) FROM dictionaries"), 3);
    assert_eq!(
        ask(
            &sandbox,
            "SELECT count(*) FROM bodies WHERE encoding IN (1, 2)"
        ),
        0
    );
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
}

#[test]
fn a_purge_leaves_no_piece_of_what_it_erases_in_the_dictionary() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning(SECRET);
    let piece = ["mauve-otter-41-lantern"];
    let places = places_of(&sandbox, &piece);
    assert!(places.contains(&"dictionaries".to_owned()), "{places:?}");
    let hashes = sandbox.ok(&["log", "-n", "0", "--format", "%H"]);
    sandbox.ok(&["purge", "--match", "mauve-otter", "--force"]);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert_eq!((dictionaries(&sandbox), leant(&sandbox)), (0, 0));
    assert_eq!(sandbox.ok(&["log", "-n", "0", "--format", "%H"]), hashes);
    let compiled = sandbox.ok(&["compile"]);
    assert!(compiled.contains("step 1: ") && compiled.contains("[purged]"));
    is_sound(&sandbox);
    // The next collection makes one of what is left.
    sandbox.ok(&["gc"]);
    assert_eq!(dictionaries(&sandbox), 1);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert!(sandbox.ok(&["compile"]) == compiled);
    is_sound(&sandbox);
}

#[test]
fn a_collection_leaves_no_piece_of_what_it_takes_out() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning("");
    sandbox.write("aside.json", alike(300, SECRET));
    sandbox.ok(&["import", "aside.json", "--as", "aside"]);
    sandbox.ok(&["gc"]);
    let piece = ["mauve-otter-41-lantern"];
    assert!(places_of(&sandbox, &piece).contains(&"dictionaries".to_owned()));
    let before = said(&sandbox);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["gc", "--expire", "now"]);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert_eq!(dictionaries(&sandbox), 1);
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
}

#[test]
fn a_purge_of_what_came_later_keeps_the_dictionary() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning("");
    sandbox.ok(&["commit", "-r", "user", "-m", SECRET]);
    sandbox.ok(&["gc"]);
    let leant_before = leant(&sandbox);
    sandbox.ok(&["purge", "--match", "mauve-otter", "--force"]);
    assert_eq!(places_of(&sandbox, &[SECRET]), Vec::<String>::new());
    assert_eq!((dictionaries(&sandbox), leant(&sandbox)), (1, leant_before));
    is_sound(&sandbox);
}

#[test]
fn a_purge_beside_a_reader_leaves_no_piece_once_it_is_finished() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning(SECRET);
    let piece = ["mauve-otter-41-lantern"];
    let reader = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM refs")
        .expect("reads");
    sandbox.tract(&["purge", "--match", "mauve-otter", "--force"]);
    assert!(
        places_of(&sandbox, &piece)
            .iter()
            .any(|place| place.starts_with("raw"))
    );
    reader.execute_batch("COMMIT").expect("ended");
    sandbox.ok(&["commit", "-r", "user", "-m", "and on"]);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    is_sound(&sandbox);
}

#[test]
fn a_damaged_dictionary_is_found_and_a_repair_saves_what_can_be_read_without_what_is_wrong() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning("");
    let before = said(&sandbox);
    // A byte in the middle of what many messages say.
    spoil(
        &sandbox,
        "UPDATE dictionaries SET data = CAST(substr(data, 1, length(data) - 40) || x'00'
             || substr(data, length(data) - 38) AS BLOB)",
    );
    let told = sandbox.tract(&["fsck"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert!(
        told.contains("damaged  dictionaries 2: not as it was written"),
        "{told}"
    );
    let database = sandbox.work().join(".tract/tract.db");
    if let Some((sound, _, said)) = conditions::second_reader(&database) {
        assert!(!sound && said.contains("dictionaries"), "{said}");
    }
    // Nothing else leans on it from now on.
    sandbox.ok(&["commit", "-r", "user", "-m", "and on"]);
    sandbox.ok(&["undo"]);
    let told = sandbox.tract(&["fsck", "--repair"]);
    assert!(told.contains("Set aside 1 row of dictionaries"), "{told}");
    assert_eq!((dictionaries(&sandbox), leant(&sandbox)), (0, 0));
    let lost = ask(
        &sandbox,
        "SELECT count(*) FROM contents WHERE id NOT IN (SELECT content FROM bodies)",
    );
    assert!(lost < 20, "{lost} of 200");
    // What was imported comes back.
    sandbox.ok(&["import", "alike.json"]);
    sandbox.ok(&["fsck"]);
    assert!(said(&sandbox) == before);
}

#[test]
fn a_dictionary_of_another_number_has_its_own_back() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning("");
    let before = said(&sandbox);
    spoil(&sandbox, "UPDATE dictionaries SET id = 66");
    let told = sandbox.tract(&["compile"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    let told = sandbox.tract(&["fsck", "--repair"]);
    assert!(!told.contains("Set aside"), "{told}");
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
}

#[test]
fn a_purge_that_would_leave_messages_unreadable_is_refused() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = leaning(SECRET);
    // One that says nothing of it.
    let spoilt = "UPDATE bodies SET body = zeroblob(9) WHERE content = (
         SELECT id FROM contents WHERE preview LIKE 'step 1:%')";
    spoil(&sandbox, spoilt);
    let before = dump(&sandbox);
    let told = sandbox.tract(&["purge", ":1", "--force"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert!(dump(&sandbox) == before);
    sandbox.tract(&["fsck", "--repair"]);
    sandbox.ok(&["purge", ":1", "--force"]);
    assert_eq!((dictionaries(&sandbox), leant(&sandbox)), (0, 0));
}
