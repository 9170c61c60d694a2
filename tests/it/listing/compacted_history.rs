//! Log, status and show on a history that a tool compacted.

use crate::sessions::import::with_demo;

#[test]
fn a_log_lists_what_each_commit_did() {
    let sandbox = with_demo();
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "6"]), @r"
    662930f  :12  2026-03-14 09:19:41  append  assistant   +22  1,082  (HEAD -> main, claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70)  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
    d78474a  :11  2026-03-14 09:19:38  append  tool        +20  1,060  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
    f1b4ce2  :10  2026-03-14 09:19:38  append  assistant   +75  1,040  Edit /home/mara/tally/CHANGELOG.md
    1538ca3   :9  2026-03-14 09:19:35  append  user        +17    965  Nice. One line in the changelog, then we're done.
    3071a26   :8  2026-03-14 09:18:43  append  assistant  +102    948  Both banks work now, without a flag: - `fixtures/march.csv`: 12 entries, 1,53…
    f6e8625   :7  2026-03-14 09:18:37  append  tool        +83    846  Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests, then both f… → running 10 tests .......... test result: ok. 10 passed; 0 failed; 0 ignored;…
    ");
    insta::assert_snapshot!(sandbox.tract(&["log", "-n", "1", "--op", "compact", "-v"]), @r"
    a091f7219d01fe42b832cd3aeb19a2bd9b1a31dd89f46db640ee0de9358a360a  :1
        2026-03-14 09:18:13 +0000  compact  injected  text  -23 +1 messages  -2,705 = 260 tokens
        This session is being continued from a previous conversation that ran out of…
    ");
    // Twenty, and that there are more is said to whoever reads, a program as well.
    assert_eq!(sandbox.ok(&["log"]).lines().count(), 20);
    for said in [&["log"][..], &["log", "--format", "%h"], &["log", "-v"]] {
        let said = sandbox.tract(said);
        assert!(
            said.ends_with("--- stderr\nhint: older ones: -n 0 lists all\n"),
            "{said}"
        );
    }
    for whole in [&["-q", "log"][..], &["log", "-20"], &["log", "-n", "0"]] {
        assert!(!sandbox.tract(whole).contains("--- stderr"), "{whole:?}");
    }
    let all = sandbox.ok(&["log", "-n", "0"]);
    assert!(all.lines().count() > 20);
    let range = sandbox.ok(&["log", "HEAD~5..HEAD"]);
    assert_eq!(range.lines().count(), 5);
    insta::assert_snapshot!(sandbox.tract(&["log", "--op", "squash"]), @r"
    exit code: 2
    --- stderr
    error: unknown operation 'squash'
    hint: append, edit, hide, restore, annotate, move, truncate, compact, clear, drop, prune
    ");
}

#[test]
fn status_says_where_one_is() {
    insta::assert_snapshot!(with_demo().tract(&["status"]), @r#"
    On main, HEAD 662930f  (claude-code "Read the bank's amounts, and never in silence")
    Context  12 messages, 23 hidden (1 compaction)
    Tokens   20,679 by the provider, 1,082 by tract (no budget set)
             user 2% · assistant 50% · tool 25% · injected by the client 24%
             largest: This session is being continued from a previous conv… 257 (:1)
    Cache    cold: the newest reply is 2 hours old, and the cache lasts 5 min

      662930f  :12  2026-03-14 09:19:41  append  assistant  +22  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
      d78474a  :11  2026-03-14 09:19:38  append  tool       +20  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
      f1b4ce2  :10  2026-03-14 09:19:38  append  assistant  +75  Edit /home/mara/tally/CHANGELOG.md
    "#);
}

#[test]
fn status_says_at_length_how_tokens_are_counted() {
    let told = with_demo().ok(&["status", "-v"]);
    let (_, counted) = told
        .split_once("How tokens are counted\n")
        .expect("a section");
    let (counted, _) = counted.split_once("\n\n").expect("its end");
    insta::assert_snapshot!(counted, @r"
      by tract         1,082 (o200k_base)
      by the provider  20,679 ±1%: our count × 1.21 + 19,366, fitted to 6 replies
      not in the file  system prompt, tool definitions
    ");
}

#[test]
fn a_compaction_is_shown_beside_what_it_hid() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    insta::assert_snapshot!(sandbox.tract(&["show", &line[..7]]), @r#"
    compact a091f7219d01fe42b832cd3aeb19a2bd9b1a31dd89f46db640ee0de9358a360a
    parent    b99fda9
    time      2026-03-14 09:18:13 +0000
    messages  -23 +1
    tokens    -2,705 = 260
    source    claude-code, 2 records

    In its place: injected

        This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:

        1. Request: `tally fixtures/march.csv` printed 0.00 without any problem. Find out why and fix it. Then: exports of the old bank (fixtures/old-bank.csv, `1,204.50`, line breaks inside quoted payees) must work as well, without a flag.
        2. Done in src/parse.rs: separator from the header line, quotes respected; unreadable amounts become `Problem::BadAmount` (it was `unwrap_or_default`); `1.204,50` is read; the loop goes over `records(text)`, which end at a line feed outside quotes. March: 12 entries, total 1,539.43.
        3. Open: the decimal mark. The rule "last mark in the amount is decimal" fails on `1.204` (test `a_deposit_of_the_old_bank`, 7 of 8 pass).
        4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.

    Hid 23 messages, 2,962 tokens
      :1   user        41  `tally fixtures/march.csv` prints a total of 0.00, and no problems either. Th…
      :2   assistant  114  I'll look at the parser and at the file side by side.
      :3   tool       977  Read /home/mara/tally/src/parse.rs (+2) → //! Reads a bank's CSV export into entries. use crate::entry::{Cents, Entry};…
      :4   assistant  195  Two causes. The file separates with `;` and writes `-1.204,50`, while the par…
      :5   tool        43  Bash cargo test --quiet 2>&1 | tail -n 20 # Run the tests as they are → running 4 tests .... test result: ok. 4 passed; 0 failed; 0 ignored; 0 measur…
      :6   assistant  109  Green, so nothing covers this. First the silence: an amount that can't be rea…
      :7   tool        42  Edit /home/mara/tally/src/parse.rs → tool use error: String to replace not found in file. String: let amount = par…
      :8   assistant  144  It stands on two lines; I misquoted it. Again, with the text as it is.
      :9   tool        20  Edit /home/mara/tally/src/parse.rs → The file /home/mara/tally/src/parse.rs has been updated.
      :10  assistant  199  Now the separator, taken from the header line, with quoted fields respected;…
      :11  tool        36  Edit /home/mara/tally/src/parse.rs (+1) → The file /home/mara/tally/src/parse.rs has been updated.
      :12  assistant   45  Bash cargo test --quiet 2>&1 | tail -n 30… # Run the tests, then the real f…
      :13  tool        75  Bash cargo test --quiet 2>&1 | tail -n 30… # Run the tests, then the real f… → running 5 tests ..... test result: ok. 5 passed; 0 failed; 0 ignored; 0 measu…
      :14  assistant  121  Fixed. `tally fixtures/march.csv` now reads all 12 entries: 3,026.35 in, 1,48…
      :15  user        50  Good. The old bank's exports (fixtures/old-bank.csv) write 1,204.50 instead,…
      :16  assistant  104  Let me see that file, and what happens with it today.
      :17  tool       173  Read /home/mara/tally/fixtures/old-bank.csv (+1) → Date,Payee,Amount 2019-11-02,"Greenfield Coop","-41.10" 2019-11-04,"Rent","-1…
      :18  assistant  146  Line breaks first: the loop goes over records, which end at a line feed outsi…
      :19  tool        20  Edit /home/mara/tally/src/parse.rs → The file /home/mara/tally/src/parse.rs has been updated.
      :20  assistant   34  Bash cargo test --quiet 2>&1 | tail -n 30 # Run the tests with the new cases
      :21  tool        90  Bash cargo test --quiet 2>&1 | tail -n 30 # Run the tests with the new cases → running 8 tests .......F failures: ---- parse::tests::a_deposit_of_the_old_ba…
      :22  assistant  141  One case is left, and it is a question for you: `1.204` alone could be 1204 o…
      :23  user        43  Per file. If any amount ends in a comma and two digits, the comma is the deci…
    "#);
}

#[test]
fn before_a_compaction_the_whole_context_compiles() {
    let sandbox = with_demo();
    let line = sandbox.ok(&["log", "--op", "compact"]);
    let before = format!("{}^", &line[..7]);
    let then = sandbox.ok(&["compile", &before, "--format", "text"]);
    let now = sandbox.ok(&["compile", "--format", "text"]);
    assert!(then.contains("prints a total of 0.00"), "{then}");
    assert!(
        !now.contains("prints a total of 0.00, and no problems"),
        "{now}"
    );
    assert!(now.contains("This session is being continued"), "{now}");
}
