//! What is good of a server, and what is not.

use serde_json::{Value, json};

use super::{HealthCheck, HealthVerdict, ago, role};
use crate::model::Millis;
use crate::render::{grouped, plural};
use crate::repo::health::{Archiver, Connected, Connections, LockWait, ServerHealth};

/// The oldest server that has all that is asked of it.
const OLDEST_VERSION: u64 = 130_000;
/// A wait for a lock that is longer is no queue any more: whoever writes gives up after ten seconds.
const WAITED_MS: u64 = 3_000;
/// A transaction that is open for longer holds back what the server clears away.
const OPEN_MS: u64 = 10 * 60 * 1000;
/// Connections in use, in percent of those that there are.
const FULL_PERCENT: u64 = 80;
/// Clocks that differ by more put commits of two machines into another order than they were made in.
const CLOCK_MS: u64 = 5_000;
/// Statistics are old once so many rows have changed, and this part of the table.
const CHANGED_ROWS: u64 = 10_000;
const CHANGED_PART: u64 = 5;
/// An archive in which nothing came for so long stands still, or nothing was written.
const ARCHIVED_MS: i64 = 24 * 60 * 60 * 1000;
/// How many are named one by one.
const NAMED: usize = 3;

pub(super) fn checks(server: &ServerHealth, now: Millis) -> Vec<HealthCheck> {
    let mut checks = vec![
        access(server),
        connections(server),
        locks(server),
        transactions(server),
        durable(server),
        encryption(server),
        statistics(server, now),
        backup(server, now),
        clock(server),
    ];
    checks.retain(|check| !check.says.is_empty());
    checks
}

/// Whether it takes writes, and is of an age that is known.
fn access(server: &ServerHealth) -> HealthCheck {
    let (database, user) = (&server.database, &server.user);
    let facts = json!({
        "database": database, "user": user, "is_replica": server.is_replica, "trip_ms": server.trip_ms,
    });
    let says = format!("database {database} as {user}, {} ms away", server.trip_ms);
    let check = if server.version < OLDEST_VERSION {
        let says = format!("{says}; a server older than PostgreSQL 13");
        HealthCheck::look(
            "server",
            says,
            "upgrade it: what tract asks of it is not tried there",
        )
    } else if server.is_replica {
        let says = format!("{says}; a replica: it can only be read");
        HealthCheck::good("server", says)
    } else {
        HealthCheck::good("server", says)
    };
    check.with(facts)
}

fn connections(server: &ServerHealth) -> HealthCheck {
    let Some(all) = &server.connections else {
        return HealthCheck::unseen(
            "connections",
            "who is connected",
            &server.user,
            "SELECT ON pg_stat_activity",
        );
    };
    let setting = |name| server.setting(name).parse().unwrap_or(0);
    let max: u64 = setting("max_connections");
    let reserved: u64 = setting("superuser_reserved_connections");
    let used: u64 = all.iter().map(|one| one.count).sum();
    let free = max.saturating_sub(reserved);
    let named = |one: &Connections| format!("{} {}", one.count, name(&one.user, &one.program));
    let mut by: Vec<String> = all.iter().take(NAMED).map(named).collect();
    if all.len() > NAMED {
        let others: u64 = all[NAMED..].iter().map(|one| one.count).sum();
        by.push(format!("{others} others"));
    }
    let says = format!("{used} of {free}: {}", by.join(", "));
    let by: Vec<Value> = all
        .iter()
        .map(|one| json!({ "user": one.user, "program": one.program, "count": one.count }))
        .collect();
    let facts = json!({ "in_use": used, "max": max, "reserved": reserved, "by": by });
    let check = if used * 100 >= free * FULL_PERCENT {
        let advice = "a pooler such as pgbouncer lets many share a few, or raise max_connections";
        HealthCheck::look("connections", says, advice)
    } else {
        HealthCheck::good("connections", says)
    };
    check.with(facts)
}

/// `me (tract)`.
fn name(user: &str, program: &str) -> String {
    match (user, program) {
        ("", _) => "somebody".to_owned(),
        (user, "") => user.to_owned(),
        (user, program) => format!("{user} ({program})"),
    }
}

fn person(one: &Connected) -> String {
    format!("{}, process {}", name(&one.user, &one.program), one.process)
}

fn locks(server: &ServerHealth) -> HealthCheck {
    let Some(waits) = &server.waits else {
        return HealthCheck::unseen(
            "locks",
            "who waits for a lock",
            &server.user,
            "SELECT ON pg_locks",
        );
    };
    let facts: Vec<Value> = waits.iter().map(wait).collect();
    let facts = json!({ "waits": facts });
    let Some(first) = waits.first() else {
        return HealthCheck::good("locks", "nobody waits").with(facts);
    };
    let waited_ms = first.waited_ms.unwrap_or(0);
    let waiters = match waits.len() as u64 {
        1 => format!("{} waits", person(&first.waiter)),
        count => format!("{} wait", grouped(count)),
    };
    let mut says = format!(
        "{waiters} for {}, {} s so far",
        first.what,
        waited_ms / 1000
    );
    let held: Vec<String> = first.holders.iter().take(NAMED).map(person).collect();
    if !held.is_empty() {
        says = format!("{says}; held by {}", held.join("; "));
    }
    let check = match first.holders.first() {
        _ if waited_ms < WAITED_MS => HealthCheck::good("locks", says),
        Some(holder) => {
            let process = holder.process;
            let advice = format!("if it is stuck: SELECT pg_terminate_backend({process})");
            HealthCheck::look("locks", says, advice)
        }
        None => HealthCheck::look(
            "locks",
            says,
            "whoever has it may be a prepared transaction: SELECT * FROM pg_prepared_xacts",
        ),
    };
    check.with(facts)
}

fn wait(wait: &LockWait) -> Value {
    let who = |one: &Connected| json!({ "process": one.process, "user": one.user, "program": one.program });
    let holders: Vec<Value> = wait.holders.iter().map(who).collect();
    json!({
        "for": wait.what, "waiter": who(&wait.waiter), "waited_ms": wait.waited_ms, "holders": holders,
    })
}

fn transactions(server: &ServerHealth) -> HealthCheck {
    let unseen = if server.sees_others {
        String::new()
    } else {
        format!("; {} may see only its own", server.user)
    };
    let check = match &server.oldest {
        Some(oldest) if oldest.open_ms >= OPEN_MS => {
            let minutes = oldest.open_ms / 60_000;
            let says = format!("open for {} min: {}", grouped(minutes), person(&oldest.by));
            let advice = "while it is open no table gets smaller; idle_in_transaction_session_timeout ends such ones";
            HealthCheck::look("transactions", says + &unseen, advice)
        }
        _ if server.sees_others => HealthCheck::good("transactions", "none is open for long"),
        _ => HealthCheck::unseen(
            "transactions",
            "how long those of others are open",
            &server.user,
            "pg_read_all_stats",
        ),
    };
    let oldest = server.oldest.as_ref();
    check.with(
        json!({ "oldest_ms": oldest.map(|it| it.open_ms), "sees_others": server.sees_others }),
    )
}

fn durable(server: &ServerHealth) -> HealthCheck {
    let setting = |name| server.setting(name);
    let commit = setting("synchronous_commit");
    let facts = json!({
        "fsync": setting("fsync"), "synchronous_commit": commit,
        "full_page_writes": setting("full_page_writes"), "data_checksums": setting("data_checksums"),
        "synchronous_standby_names": setting("synchronous_standby_names"),
    });
    let check = if setting("fsync") == "off" {
        let says = "fsync is off: a crash of the machine can destroy the whole cluster";
        HealthCheck::look(
            "durable",
            says,
            "ALTER SYSTEM SET fsync = on, and SELECT pg_reload_conf()",
        )
    } else if setting("full_page_writes") == "off" {
        let says = "full_page_writes is off: a crash of the machine can tear pages";
        HealthCheck::look(
            "durable",
            says,
            "ALTER SYSTEM SET full_page_writes = on, and SELECT pg_reload_conf()",
        )
    } else if commit == "off" {
        let says = "synchronous_commit is off: the last commits before a crash are lost, though they were acknowledged";
        let user = &server.user;
        let advice = format!(
            "ALTER ROLE {} SET synchronous_commit = on; for all: ALTER SYSTEM",
            role(user)
        );
        HealthCheck::look("durable", says, advice)
    } else {
        let sums = match setting("data_checksums") {
            "on" => "pages have checksums",
            _ => "pages have no checksums (pg_checksums --enable, while it is stopped)",
        };
        let says =
            format!("a commit is on the disk (fsync on, synchronous_commit {commit}); {sums}");
        HealthCheck::good("durable", says)
    };
    check.with(facts)
}

fn encryption(server: &ServerHealth) -> HealthCheck {
    let transport = &server.transport;
    let mode = transport.sslmode;
    let facts = json!({ "sslmode": mode, "is_local": transport.is_local, "tls": transport.tls });
    let check = match (&transport.tls, transport.is_local) {
        (_, true) => HealthCheck::good("encryption", "nothing leaves this machine"),
        (Some(version), _) if mode == "verify-full" => HealthCheck::good(
            "encryption",
            format!("{version}, sslmode verify-full: it is the server that is meant"),
        ),
        (Some(version), _) => {
            let says = format!("{version}, sslmode {mode}: it may be somebody else's server");
            let advice =
                "sslmode=verify-full&sslrootcert=FILE in the address says whose certificate counts";
            HealthCheck::look("encryption", says, advice)
        }
        (None, _) => {
            let says = format!("plain text, sslmode {mode}: whoever is on the way reads along");
            let advice = "ssl = on at the server, and sslmode=verify-full in the address";
            HealthCheck::look("encryption", says, advice)
        }
    };
    check.with(facts)
}

fn statistics(server: &ServerHealth, now: Millis) -> HealthCheck {
    let Some(tables) = &server.tables else {
        return HealthCheck::unseen(
            "statistics",
            "those of the tables",
            &server.user,
            "SELECT ON pg_stat_all_tables",
        );
    };
    let facts: Vec<Value> = tables
        .iter()
        .map(|table| {
            json!({
                "table": table.name, "rows": table.rows, "changed": table.changed, "dead": table.dead,
                "analyzed_ms": table.analyzed.map(|time| time.0),
            })
        })
        .collect();
    let facts = json!({ "autovacuum": server.setting("autovacuum"), "tables": facts });
    let is_old = |changed: u64, rows: u64| changed >= CHANGED_ROWS && changed > rows / CHANGED_PART;
    let by_changes = tables.iter().max_by_key(|table| table.changed);
    let by_dead = tables.iter().max_by_key(|table| table.dead);
    let check = match (by_changes, by_dead) {
        _ if server.setting("autovacuum") == "off" => {
            let says = "autovacuum is off: statistics grow old, and deleted rows stay";
            HealthCheck::look(
                "statistics",
                says,
                "ALTER SYSTEM SET autovacuum = on, and SELECT pg_reload_conf()",
            )
        }
        (Some(table), _) if is_old(table.changed, table.rows) => {
            let since = match table.analyzed {
                Some(time) => format!("they were made {}", ago(time, now)),
                None => "there are none".to_owned(),
            };
            let says = format!(
                "{}: {} have changed, and {since}",
                table.name,
                plural(table.changed, "row")
            );
            HealthCheck::look("statistics", says, format!("ANALYZE {}", table.name))
        }
        (_, Some(table)) if is_old(table.dead, table.rows) => {
            let says = format!(
                "{}: {} are dead and take room",
                table.name,
                plural(table.dead, "row")
            );
            HealthCheck::look("statistics", says, format!("VACUUM {}", table.name))
        }
        _ => {
            let oldest = tables
                .iter()
                .filter(|it| it.rows > 0)
                .filter_map(|it| it.analyzed)
                .min();
            HealthCheck::good(
                "statistics",
                match oldest {
                    Some(time) => format!("the oldest were made {}", ago(time, now)),
                    None => "no table needs them yet".to_owned(),
                },
            )
        }
    };
    check.with(facts)
}

fn backup(server: &ServerHealth, now: Millis) -> HealthCheck {
    let is_on = !matches!(server.setting("archive_mode"), "off" | "");
    let replicas = server.replicas;
    let following = match replicas {
        Some(count) if count > 0 => format!(
            "; {} its log",
            plural(count, "connection") + if count == 1 { " takes" } else { " take" }
        ),
        _ => String::new(),
    };
    let Some(archiver) = &server.archiver else {
        return HealthCheck::unseen(
            "backup",
            "what is archived",
            &server.user,
            "SELECT ON pg_stat_archiver",
        );
    };
    let Archiver {
        archived,
        last,
        last_failed,
    } = archiver;
    let facts = json!({
        "archive_mode": server.setting("archive_mode"), "archived": archived, "replicas": replicas,
        "last_archived_ms": last.map(|time| time.0), "last_failed_ms": last_failed.map(|time| time.0),
    });
    let check = match (is_on, last, last_failed) {
        (false, ..) => {
            let says =
                format!("not known: nothing is archived, and pg_dump leaves no trace{following}");
            HealthCheck::new("backup", HealthVerdict::Unknown, says)
                .advising("archive_mode and pg_basebackup keep every moment: docs/scale.md")
        }
        (true, _, Some(failed)) if last.is_none_or(|last| last < *failed) => {
            let says = format!("archiving fails since {}{following}", ago(*failed, now));
            HealthCheck::look(
                "backup",
                says,
                "the server's log says why; its disk fills until it works",
            )
        }
        (true, None, _) => {
            let says = format!("archiving is on, and nothing was archived yet{following}");
            HealthCheck::look(
                "backup",
                says,
                "SELECT pg_switch_wal() shows whether archive_command works",
            )
        }
        (true, Some(last), _) => {
            let when = ago(*last, now);
            let still = now.0.saturating_sub(last.0) > ARCHIVED_MS;
            let quiet = if still {
                ", or nothing was written since"
            } else {
                ""
            };
            let says = format!(
                "its log was archived {when}{quiet}{following}; whether a base backup is there it does not know"
            );
            HealthCheck::good("backup", says)
        }
    };
    check.with(facts)
}

fn clock(server: &ServerHealth) -> HealthCheck {
    let ahead = server.clock_ahead_ms;
    let off = ahead.unsigned_abs();
    let facts = json!({ "ahead_ms": ahead });
    let which = if ahead < 0 { "behind" } else { "ahead of" };
    let check = if off > CLOCK_MS {
        let says = format!(
            "the server's is {} s {which} this machine's",
            grouped(off / 1000)
        );
        HealthCheck::look(
            "clock",
            says,
            "timedatectl says whether a machine's clock is set by the network",
        )
    } else {
        HealthCheck::good(
            "clock",
            format!("the server's is {off} ms {which} this machine's"),
        )
    };
    check.with(facts)
}
