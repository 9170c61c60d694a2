//! How the place stands where a repository is kept.

use serde_json::Value;

use crate::sandbox::{Sandbox, THE_FILE, dump, is_left_out};

/// The checks of `tract doctor --json`, and whether all is good.
fn asked(sandbox: &Sandbox, place: &[&str]) -> (Vec<Value>, bool) {
    let arguments = [place, &["doctor", "--json"]].concat();
    let output = sandbox.command(&arguments).output().expect("runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let is_good = answer["is_good"] == true;
    assert_eq!(output.status.code(), Some(i32::from(!is_good)));
    let checks = answer["checks"].as_array().expect("checks").clone();
    (checks, is_good)
}

fn of<'a>(checks: &'a [Value], topic: &str) -> &'a Value {
    let found = checks.iter().find(|check| check["topic"] == topic);
    found.unwrap_or_else(|| panic!("no {topic} among {checks:?}"))
}

#[test]
fn a_file_is_told_in_lines_and_stays_as_it_is() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "hello"), ("assistant", "good day")]);
    let before = dump(&sandbox);
    let said = sandbox.tract(&["doctor"]);
    // Versions and sizes are another test's.
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.contains("versions") && !line.contains("size "))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    good     locks         nobody is writing
    good     durable       what is acknowledged is on the disk (synchronous FULL)
    good     space         0 B of free pages
    unknown  backup        not known here: copies of a file leave no trace in it (tract backup FILE makes one, checked)
    good     owed          nothing is left to be done
    good     check         never checked as a whole (tract fsck checks it)
    --- stderr
    All good; 1 unknown
    ");
    assert_eq!(dump(&sandbox), before);
    let (checks, is_good) = asked(&sandbox, &[]);
    assert!(is_good);
    assert_eq!(
        of(&checks, "versions")["facts"]["tract"],
        env!("CARGO_PKG_VERSION")
    );
    assert!(of(&checks, "size")["facts"]["by_kind"]["commits"].as_u64() > Some(0));
    sandbox.ok(&["fsck"]);
    let (checks, _) = asked(&sandbox, &[]);
    assert!(of(&checks, "check")["facts"]["last_check_ms"].is_i64());
    // Somebody writes, and nothing is waited for.
    let database = sandbox.work().join(".tract/tract.db");
    let other = rusqlite::Connection::open(database).expect("opens");
    other.execute_batch("BEGIN IMMEDIATE").expect("begins");
    let (checks, is_good) = asked(&sandbox, &[]);
    assert!(is_good);
    assert_eq!(of(&checks, "locks")["facts"]["is_being_written"], true);
}

#[test]
fn what_a_repair_has_set_aside_needs_attention() {
    if is_left_out(THE_FILE) {
        return;
    }
    let sandbox = Sandbox::with_messages(&[("user", "hello")]);
    sandbox.ok(&["tag", "v1", "-m", "a note"]);
    let database = sandbox.work().join(".tract/tract.db");
    let connection = rusqlite::Connection::open(database).expect("opens");
    let broken = "UPDATE tag_notes SET note = 'x'";
    connection.execute_batch(broken).expect("SQL");
    drop(connection);
    sandbox.tract(&["fsck", "--repair"]);
    let said = sandbox.tract(&["doctor"]);
    let owed = said.lines().find(|line| line.contains("owed"));
    assert_eq!(
        owed,
        Some(
            "look     owed          1 damaged row set aside by a repair (import those sessions again; until then tract gc deletes nothing)"
        )
    );
    assert!(said.starts_with("exit code: 1\n"), "{said}");
    assert!(
        said.contains("1 thing needs attention; 1 unknown"),
        "{said}"
    );
}

#[cfg(feature = "postgres")]
mod on_a_server {
    use std::thread;
    use std::time::Duration;

    use super::{asked, of};
    use crate::client::Client;
    use crate::cluster;
    use crate::sandbox::Sandbox;

    /// A connection of somebody else's.
    fn client(address: &str, name: &str) -> Client {
        let (address, _) = address.split_once("&schema=").expect("it ends so");
        let address = format!("{address}&application_name={name}");
        Client::connect(&address.parse().expect("an address"))
    }

    #[test]
    fn what_is_wrong_with_it_is_looked_at() {
        let Some(address) = cluster::address() else {
            return;
        };
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init", &address]);
        let (checks, is_good) = asked(&sandbox, &["--repo", &address]);
        assert!(!is_good);
        // The server of these tests syncs nothing and clears nothing up, and the clock of a sandbox stands still.
        let look: Vec<&str> = checks
            .iter()
            .filter(|check| check["verdict"] == "look")
            .map(|check| check["topic"].as_str().expect("a word"))
            .collect();
        assert_eq!(look, ["durable", "statistics", "clock"]);
        let facts = |topic: &str| of(&checks, topic)["facts"].clone();
        assert_eq!(facts("durable")["fsync"], "off");
        assert_eq!(facts("encryption")["is_local"], true);
        assert!(facts("connections")["in_use"].as_u64() > Some(0));
        assert_eq!(facts("connections")["max"], 200);
        assert_eq!(facts("backup")["archive_mode"], "off");
        assert!(facts("clock")["ahead_ms"].as_i64() > Some(0));
        let tables = facts("statistics")["tables"]
            .as_array()
            .expect("tables")
            .len();
        assert!(tables > 20, "{tables}");
        // By a clock that goes right it is not to be seen.
        let mut command = sandbox.command(&["--repo", &address, "doctor", "--json"]);
        let output = command.env_remove("TRACT_CLOCK").output().expect("runs");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let checks = answer["checks"].as_array().expect("checks");
        assert_eq!(of(checks, "clock")["verdict"], "good");
    }

    #[test]
    fn who_waits_for_a_lock_is_told_with_who_has_it() {
        let Some(address) = cluster::address() else {
            return;
        };
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init", &address]);
        let table = format!("waited_for_{}", std::process::id());
        let holder = client(&address, "holder");
        for sql in [
            format!("CREATE TABLE {table} ()"),
            format!("BEGIN; LOCK TABLE {table}"),
        ] {
            holder.batch_execute(&sql).expect("locked");
        }
        let waiting = thread::spawn({
            let (address, table) = (address.clone(), table.clone());
            move || {
                let waiter = client(&address, "waiter");
                waiter.batch_execute(&format!("SELECT FROM {table}"))
            }
        });
        thread::sleep(Duration::from_millis(3_300));
        let (checks, _) = asked(&sandbox, &["--repo", &address]);
        holder
            .batch_execute(&format!("DROP TABLE {table}; COMMIT"))
            .expect("over");
        // Whoever came to nothing has waited all the same.
        let _ = waiting.join().expect("a thread");
        let locks = of(&checks, "locks");
        let waits = locks["facts"]["waits"].as_array().expect("waits");
        let wait = waits
            .iter()
            .find(|wait| wait["for"] == format!("the table {table}"));
        let wait = wait.unwrap_or_else(|| panic!("{locks}"));
        assert!(wait["waited_ms"].as_u64() >= Some(3_000), "{wait}");
        assert_eq!(wait["holders"][0]["program"], "holder");
        assert_eq!(locks["verdict"], "look");
    }

    #[test]
    fn whoever_may_see_little_is_told_so() {
        let Some(address) = cluster::address() else {
            return;
        };
        let sandbox = Sandbox::empty();
        let owner = client(&address, "owner");
        let name = format!("doctor_{}", std::process::id());
        for sql in [
            format!("CREATE DATABASE {name}"),
            format!("CREATE ROLE {name} LOGIN"),
        ] {
            owner.batch_execute(&sql).expect("SQL");
        }
        let address = address.replace("/postgres?", &format!("/{name}?"));
        let (place, schema) = address.split_once("&schema=").expect("it ends so");
        sandbox.ok(&["init", &address]);
        let owner = Client::connect(&place.parse().expect("an address"));
        owner
            .batch_execute(&format!(
                "GRANT USAGE ON SCHEMA {schema} TO {name}; GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {name};
                 REVOKE SELECT ON pg_stat_archiver, pg_stat_activity, pg_locks, pg_stat_replication, pg_stat_ssl,
                     pg_stat_all_tables FROM PUBLIC"
            ))
            .expect("SQL");
        let reader = address.replace("//tract@", &format!("//{name}@"));
        let (checks, _) = asked(&sandbox, &["--repo", &reader]);
        let unknown: Vec<&str> = checks
            .iter()
            .filter(|check| check["verdict"] == "unknown")
            .map(|check| check["topic"].as_str().expect("a word"))
            .collect();
        assert_eq!(
            unknown,
            [
                "connections",
                "locks",
                "transactions",
                "statistics",
                "backup"
            ]
        );
        let backup = of(&checks, "backup");
        assert_eq!(
            backup["says"],
            format!("{name} may not see what is archived")
        );
        assert_eq!(
            backup["advice"],
            format!("GRANT SELECT ON pg_stat_archiver TO {name}")
        );
    }
}
