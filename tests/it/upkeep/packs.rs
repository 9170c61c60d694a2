//! What is said is kept once: messages in packs, and kept files beside them. A pack goes where a message in it is erased.

use rusqlite::Connection;

use crate::conditions;
use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};
use crate::upkeep::purge::places_of;

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

/// A repository with packs; of it all is said that can be.
fn packed(secret: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("alike.json", alike(200, secret));
    sandbox.ok(&["import", "alike.json"]);
    sandbox.ok(&["gc"]);
    assert!(packs(&sandbox) > 1);
    assert_eq!(in_packs(&sandbox), 200);
    assert_eq!(leaning_blocks(&sandbox), 1);
    sandbox
}

fn ask(sandbox: &Sandbox, sql: &str) -> i64 {
    let database = Connection::open(sandbox.work().join(".tract/tract.db")).expect("opens");
    database
        .query_row(sql, [], |row| row.get(0))
        .expect("reads")
}

fn packs(sandbox: &Sandbox) -> i64 {
    ask(sandbox, "SELECT count(*) FROM packs")
}

/// How many bodies stand in one.
fn in_packs(sandbox: &Sandbox) -> i64 {
    ask(sandbox, "SELECT count(*) FROM bodies WHERE encoding < 0")
}

/// How many blocks of kept files lean on messages.
fn leaning_blocks(sandbox: &Sandbox) -> i64 {
    ask(
        sandbox,
        "SELECT count(*) FROM source_blocks WHERE encoding > 1",
    )
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
fn an_import_keeps_what_is_said_once() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    let file = alike(200, "");
    sandbox.write("alike.json", &file);
    sandbox.ok(&["import", "alike.json"]);
    assert_eq!(leaning_blocks(&sandbox), 1);
    // The first few stand alone.
    assert!(in_packs(&sandbox) > 150);
    let kept = ask(&sandbox, "SELECT length(data) FROM source_blocks") as usize;
    assert!(kept * 6 < file.len(), "{kept} of {}", file.len());
    let before = said(&sandbox);
    is_sound(&sandbox);
    let told = sandbox.tract(&["gc"]);
    assert!(told.starts_with("--- stderr\nNothing to delete"), "{told}");
    assert_eq!(in_packs(&sandbox), 200);
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
    // Once is enough.
    let rows = dump(&sandbox);
    insta::assert_snapshot!(sandbox.tract(&["gc"]), @r"
    --- stderr
    Nothing to delete
    ");
    assert!(dump(&sandbox) == rows);
    // What comes since goes into packs by the next one, and a copy has it.
    for step in 7..10 {
        let text = format!("step {step}: listing 4 owner 9 checksum 1 archive 3 ").repeat(60);
        sandbox.ok(&["commit", "-r", "user", "-m", text.trim()]);
    }
    sandbox.ok(&["gc"]);
    assert_eq!(in_packs(&sandbox), 203);
    let before = said(&sandbox);
    sandbox.ok(&["backup", "copy.db"]);
    std::fs::copy(
        sandbox.work().join("copy.db"),
        sandbox.work().join(".tract/tract.db"),
    )
    .expect("copied");
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
}

#[test]
fn a_few_messages_stand_alone() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("alike.json", alike(10, ""));
    sandbox.ok(&["import", "alike.json"]);
    assert_eq!((packs(&sandbox), in_packs(&sandbox)), (0, 0));
}

#[test]
fn a_purge_leaves_no_piece_of_what_it_erases_in_a_pack() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = packed(SECRET);
    let piece = ["mauve-otter-41-lantern"];
    let places = places_of(&sandbox, &piece);
    assert!(places.contains(&"packs".to_owned()), "{places:?}");
    let hashes = sandbox.ok(&["log", "-n", "0", "--format", "%H"]);
    sandbox.ok(&["purge", "--match", "mauve-otter", "--force"]);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert_eq!((packs(&sandbox), leaning_blocks(&sandbox)), (0, 0));
    assert_eq!(sandbox.ok(&["log", "-n", "0", "--format", "%H"]), hashes);
    let compiled = sandbox.ok(&["compile"]);
    assert!(compiled.contains("step 1: ") && compiled.contains("[purged]"));
    is_sound(&sandbox);
    // The next collection puts what is left into others.
    sandbox.ok(&["gc"]);
    assert_eq!(in_packs(&sandbox), 200);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert!(sandbox.ok(&["compile"]) == compiled);
    is_sound(&sandbox);
}

#[test]
fn a_collection_leaves_no_piece_of_what_it_takes_out() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = packed("");
    sandbox.write("aside.json", alike(300, SECRET));
    sandbox.ok(&["import", "aside.json", "--as", "aside"]);
    sandbox.ok(&["gc"]);
    let piece = ["mauve-otter-41-lantern"];
    assert!(places_of(&sandbox, &piece).contains(&"packs".to_owned()));
    let before = said(&sandbox);
    sandbox.ok(&["undo"]);
    sandbox.ok(&["gc", "--expire", "now"]);
    assert_eq!(places_of(&sandbox, &piece), Vec::<String>::new());
    assert!(said(&sandbox) == before);
    is_sound(&sandbox);
}

/// Two files say the same, and lean on the same messages; only the one of them goes that a purge means.
#[test]
fn a_kept_file_stays_to_the_byte_where_a_message_that_it_leans_on_is_in_no_record_of_it_any_more() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = packed("");
    sandbox.write("more.json", alike(120, "and something else than before"));
    sandbox.ok(&["import", "more.json", "--as", "more"]);
    let kept = || sandbox.ok(&["export", "openai/more", "--format", "openai"]);
    let before = kept();
    sandbox.ok(&["commit", "-r", "user", "-m", SECRET]);
    sandbox.ok(&["gc"]);
    sandbox.ok(&["purge", "--match", "mauve-otter", "--force"]);
    assert_eq!(places_of(&sandbox, &[SECRET]), Vec::<String>::new());
    assert!(kept() == before);
    is_sound(&sandbox);
}

#[test]
fn a_purge_beside_a_reader_leaves_no_piece_once_it_is_finished() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.ok(&["commit", "-r", "user", "-m", SECRET]);
    sandbox.ok(&["commit", "-r", "user", "-m", "and on"]);
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
fn a_damaged_pack_is_found_and_what_is_imported_again_is_whole() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = packed("");
    let before = said(&sandbox);
    spoil(
        &sandbox,
        "UPDATE packs SET data = CAST(substr(data, 1, length(data) - 40) || x'00'
             || substr(data, length(data) - 38) AS BLOB) WHERE id = (SELECT max(id) FROM packs)",
    );
    let told = sandbox.tract(&["fsck"]);
    assert!(told.starts_with("exit code: 3\n"), "{told}");
    assert!(told.contains("damaged  packs "), "{told}");
    let database = sandbox.work().join(".tract/tract.db");
    if let Some((sound, _, said)) = conditions::second_reader(&database) {
        assert!(!sound && said.contains("packs"), "{said}");
    }
    let told = sandbox.tract(&["fsck", "--repair"]);
    assert!(told.contains("Set aside 1 row of packs"), "{told}");
    // What was imported comes back.
    sandbox.ok(&["import", "alike.json"]);
    sandbox.ok(&["fsck"]);
    assert!(said(&sandbox) == before);
}

#[test]
fn a_pack_of_another_number_has_its_own_back() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = packed("");
    let before = said(&sandbox);
    spoil(
        &sandbox,
        "UPDATE packs SET id = 66 WHERE id = (SELECT max(id) FROM packs)",
    );
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
    let sandbox = packed(SECRET);
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
}
