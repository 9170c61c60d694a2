//! The demo, as it reads in a pipe.

use crate::sandbox::Sandbox;

#[test]
fn the_demo_reads_well_in_a_pipe() {
    let sandbox = Sandbox::empty();
    let told = sandbox.ok(&["demo"]);
    let place = told
        .lines()
        .find_map(|line| line.strip_prefix("The repository stays: cd "))
        .and_then(|line| line.split(" && ").next())
        .expect("it names its place")
        .to_owned();
    assert!(
        std::path::Path::new(&place)
            .join(".tract/tract.db")
            .exists()
    );
    insta::assert_snapshot!(told.replace(&place, "[DEMO]"), @r#"
    # A session of Claude Code: a bug in a bank's CSV files, and one compaction.
    $ tract init
    Made an empty repository in .tract
    hint: tract import brings in a session; tract commit -r user -m "…" writes one
    $ tract import session.jsonl
    Imported claude-code "Read the bank's amounts, and never in silence": 34 messages, 1 compaction, on main
      records other than messages  2 records (-v lists them)
      not in the file              system prompt, tool definitions
    hint: before the last compaction: b99fda9, 2,965 tokens; tract resume b99fda9

    # Where am I? What a model would be sent, and how large that is.
    $ tract status
    On main, HEAD 662930f  (claude-code "Read the bank's amounts, and never in silence")
    Context  12 messages, 23 hidden (1 compaction)
    Tokens   20,679 by the provider, 1,082 by tract (no budget set)
             user 2% · assistant 50% · tool 25% · injected by the client 24%
             largest: This session is being continued from a previous conv… 257 (:1)
    Cache    cold: the newest reply is 2 hours old, and the cache lasts 5 min

      662930f  :12  2026-03-14 09:19:41  append  assistant  +22  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
      d78474a  :11  2026-03-14 09:19:38  append  tool       +20  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
      f1b4ce2  :10  2026-03-14 09:19:38  append  assistant  +75  Edit /home/mara/tally/CHANGELOG.md

    # Every message is a commit; so is what the tool's compaction hid.
    $ tract log -n 13
    662930f  :12  2026-03-14 09:19:41  append   assistant           +22         1,082  (HEAD -> main, claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70)  Done: one line under *Unreleased*, worded for someone whose totals were wrong…
    d78474a  :11  2026-03-14 09:19:38  append   tool                +20         1,060  Edit /home/mara/tally/CHANGELOG.md → The file /home/mara/tally/CHANGELOG.md has been updated.
    f1b4ce2  :10  2026-03-14 09:19:38  append   assistant           +75         1,040  Edit /home/mara/tally/CHANGELOG.md
    1538ca3   :9  2026-03-14 09:19:35  append   user                +17           965  Nice. One line in the changelog, then we're done.
    3071a26   :8  2026-03-14 09:18:43  append   assistant          +102           948  Both banks work now, without a flag: - `fixtures/march.csv`: 12 entries, 1,53…
    f6e8625   :7  2026-03-14 09:18:37  append   tool                +83           846  Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests, then both f… → running 10 tests .......... test result: ok. 10 passed; 0 failed; 0 ignored;…
    5ebad23   :6  2026-03-14 09:18:27  append   assistant           +50           763  Bash cargo test --quiet 2>&1 | tail -n 20; for f in f… # Tests, then both f…
    8b0445f   :5  2026-03-14 09:18:26  append   tool                +20           713  Edit /home/mara/tally/src/parse.rs → The file /home/mara/tally/src/parse.rs has been updated.
    7fdf293   :4  2026-03-14 09:18:26  append   assistant          +195           693  Edit /home/mara/tally/src/parse.rs
    32ae83b   :3  2026-03-14 09:18:20  append   tool               +144           498  Grep fn (records|fields|entry|parse_amount) /home/mara/tally/src/parse.rs (+1) → src/parse.rs:31:fn records(text: &str) -> impl Iterator<Item = (usize, &str)>…
    df4f355   :2  2026-03-14 09:18:18  append   assistant           +94           354  The rule is clear. A quick look at where things stand, then I'll put it in.
    a091f72   :1  2026-03-14 09:18:13  compact  -23 +1 messages  -2,705 tokens    260  This session is being continued from a previous conversation that ran out of…
    b99fda9       2026-03-14 09:18:10  append   user                +43         2,965  Per file. If any amount ends in a comma and two digits, the comma is the deci…

    # What was said last, as a chat.
    $ tract view --window 5
    ↑ 7 earlier messages (--transcript shows them)

    :8     assistant
               Both banks work now, without a flag:

               - `fixtures/march.csv`: 12 entries, 1,539.43
               - `fixtures/old-bank.csv`: 5 entries, 1,657.60, and `1.204` is 1.20 there, because `-41.10` says that the point is the decimal mark

               A file in which nothing decides it gets one problem per such amount. Ten tests pass, three of them new.

    :9     user
               Nice. One line in the changelog, then we're done.

    :10    assistant
               Edit /home/mara/tally/CHANGELOG.md  +2
                   ## Unreleased
                 +
                 + - Exports with `;` and decimal commas are read; an amount that can't be read is a problem with its line, where it used to count as 0.00.
    :11          The file /home/mara/tally/CHANGELOG.md has been updated.
    :12        Done: one line under *Unreleased*, worded for someone whose totals were wrong.

    # The request as it would be sent now: it begins with the summary.
    $ tract compile --format text | head -n 8
    [1] user
      This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:

      1. Request: `tally fixtures/march.csv` printed 0.00 without any problem. Find out why and fix it. Then: exports of the old bank (fixtures/old-bank.csv, `1,204.50`, line breaks inside quoted payees) must work as well, without a flag.
      2. Done in src/parse.rs: separator from the header line, quotes respected; unreadable amounts become `Problem::BadAmount` (it was `unwrap_or_default`); `1.204,50` is read; the loop goes over `records(text)`, which end at a line feed outside quotes. March: 12 entries, total 1,539.43.
      3. Open: the decimal mark. The rule "last mark in the amount is decimal" fails on `1.204` (test `a_deposit_of_the_old_bank`, 7 of 8 pass).
      4. The user decided: per file. If any amount ends in a comma and two digits, the comma is the decimal mark in that file, otherwise the point; if nothing decides it, report them as problems.

    # Before the compaction nothing was lost: go back there and send that.
    $ tract log -n 3 a091f72^
    b99fda9  :23  2026-03-14 09:18:10  append  user        +43  2,965  Per file. If any amount ends in a comma and two digits, the comma is the deci…
    8368cc6  :22  2026-03-14 09:16:41  append  assistant  +141  2,922  One case is left, and it is a question for you: `1.204` alone could be 1204 o…
    a3669f9  :21  2026-03-14 09:16:35  append  tool        +90  2,781  Bash cargo test --quiet 2>&1 | tail -n 30 # Run the tests with the new cases → running 8 tests .......F failures: ---- parse::tests::a_deposit_of_the_old_ba…
    $ tract compile a091f72^ --format text | head -n 8
    [1] user
      `tally fixtures/march.csv` prints a total of 0.00, and no problems either. That file is straight from the bank. Please find out why and fix it.

    [2] assistant
    (thinking) A total of zero with no problems reported. Either no line is read, or every amount becomes zero in silence. I should see the parser and the file side by side before guessing.
      I'll look at the parser and at the file side by side.
    → Read {"file_path":"/home/mara/tally/src/parse.rs"}
    → Read {"file_path":"/home/mara/tally/fixtures/march.csv"}

    # Or take it elsewhere, as a file of another format.
    $ tract export a091f72^ --format openai -o before.json
    Wrote 23 messages, 0 untouched, to before.json
    note: 6 thinking parts that the provider would refuse left out (first: message 2)

    # A message of one's own is a commit as well.
    $ tract commit -r user -m "Please show the totals by month, too."
    207423f user 13 tokens
    $ tract log -n 2
    207423f  :13  2026-03-14 12:01:00  append  user       +13  1,095  (HEAD -> main)  Please show the totals by month, too.
    662930f  :12  2026-03-14 09:19:41  append  assistant  +22  1,082  (claude-code/5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70)  Done: one line under *Unreleased*, worded for someone whose totals were wrong…

    The repository stays: cd [DEMO] && tract log
    There, `tract resume a091f72^` writes it back as a new session.

    Now yours: tract import
    "#);
    std::fs::remove_dir_all(place).expect("removed");
}
