//! How the server stands, by its own views. Each question is a statement for itself: what one may not see is a none,
//! and the rest is told.

use std::collections::HashSet;
use std::time::Instant;

use super::link::Link;
use super::session::Session;
use super::turn::LOCK;
use super::{Postgres, room, schema};
use crate::error::{Error, Result, ServerTrouble};
use crate::model::Millis;
use crate::store::{
    Archiver, Connected, Connections, Health, HealthOf, LockWait, OpenTransaction, Refs,
    ServerHealth, TableHealth, Transport,
};

/// The settings that say how safe a commit is, and how much there is room for.
const SETTINGS: [&str; 10] = [
    "archive_mode",
    "autovacuum",
    "data_checksums",
    "fsync",
    "full_page_writes",
    "max_connections",
    "superuser_reserved_connections",
    "synchronous_commit",
    "synchronous_standby_names",
    "wal_level",
];

type Row = Vec<Option<String>>;

/// All of it; `now` is the caller's clock.
pub(super) fn health(store: &Postgres, now: Millis) -> Result<Health> {
    // It looks as few as it can: each connection is one of those that it tells of.
    let (connection, clock) =
        store.enter_transaction(false, store.wait, |link| clock(link, now))?;
    let mut server = standing(&connection, clock)?;
    server.transport = transport(store, &connection)?;
    server.connections = connections(&connection)?;
    server.waits = waits(store, &connection)?;
    server.oldest = oldest(&connection)?;
    server.tables = tables(store, &connection)?;
    server.archiver = archiver(&connection)?;
    server.replicas = replicas(&connection)?;
    let owed = format!(
        "SELECT owes_scrub FROM {}",
        store.address.qualified("tract_repository")
    );
    let owed = connection.batch(&owed)?.pop().unwrap_or_default();
    store.give_back(connection);
    let session = Session::read(store)?;
    let version = server.setting("server_version").to_owned();
    Ok(Health {
        engine: format!(
            "PostgreSQL {}",
            version.split(' ').next().unwrap_or_default()
        ),
        format: schema::FORMAT,
        room: room::room(&session)?,
        upkeep: session.upkeep()?,
        owes_scrub: is_true(&owed, 0),
        place: HealthOf::Server(Box::new(server)),
    })
}

/// The rows of a statement; none where one may not see them.
fn seen(link: &Link, sql: &str) -> Result<Option<Vec<Row>>> {
    match link.batch(sql) {
        Ok(rows) => Ok(Some(rows)),
        Err(Error::Server {
            trouble: ServerTrouble::NotGranted(_),
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn text(row: &Row, at: usize) -> String {
    row.get(at).cloned().flatten().unwrap_or_default()
}

fn number(row: &Row, at: usize) -> Option<u64> {
    row.get(at)?.as_deref()?.parse().ok()
}

fn time(row: &Row, at: usize) -> Option<Millis> {
    row.get(at)?.as_deref()?.parse().ok().map(Millis)
}

fn is_true(row: &Row, at: usize) -> bool {
    text(row, at) == "t"
}

/// A time of the server's in milliseconds.
fn milliseconds(time: &str) -> String {
    format!("(extract(epoch FROM {time}) * 1000)::bigint")
}

/// How far the server's clock is ahead, in milliseconds, and how long it took to ask.
fn clock(link: &Link, now: Millis) -> Result<(i64, u64)> {
    let from = Instant::now();
    let sql = format!("SELECT {}", milliseconds("clock_timestamp()"));
    let row = link.batch(&sql)?.pop().unwrap_or_default();
    let trip_ms = u64::try_from(from.elapsed().as_millis()).unwrap_or(u64::MAX);
    // It was read in the middle of the trip.
    let ours = now.0.saturating_add_unsigned(trip_ms / 2);
    let ahead = time(&row, 0).map_or(0, |theirs| theirs.0.saturating_sub(ours));
    Ok((ahead, trip_ms))
}

/// Versions and settings.
fn standing(link: &Link, (clock_ahead_ms, trip_ms): (i64, u64)) -> Result<ServerHealth> {
    let settings = SETTINGS.map(|name| format!("current_setting('{name}', TRUE)"));
    let sql = format!(
        "SELECT current_setting('server_version'), current_setting('server_version_num'), current_database(),
             current_user, pg_has_role('pg_read_all_stats', 'MEMBER'), pg_is_in_recovery(), {}",
        settings.join(", ")
    );
    let row = link.batch(&sql)?.pop().unwrap_or_default();
    let version = ("server_version", text(&row, 0));
    let settings = SETTINGS.iter().enumerate();
    let settings = settings.map(|(at, name)| (*name, text(&row, 6 + at)));
    Ok(ServerHealth {
        version: number(&row, 1).unwrap_or(0),
        database: text(&row, 2),
        user: text(&row, 3),
        sees_others: is_true(&row, 4),
        is_replica: is_true(&row, 5),
        settings: [version].into_iter().chain(settings).collect(),
        clock_ahead_ms,
        trip_ms,
        ..ServerHealth::default()
    })
}

fn transport(store: &Postgres, link: &Link) -> Result<Transport> {
    let sql = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl";
    let row = seen(link, sql)?.and_then(|mut rows| rows.pop());
    Ok(Transport {
        sslmode: store.address.sslmode(),
        is_local: store.address.is_local(),
        tls: row.map(|row| text(&row, 0)),
    })
}

fn connections(link: &Link) -> Result<Option<Vec<Connections>>> {
    // What kind of process it is, not everybody may see; others than clients have no user, or no database.
    let sql = "SELECT usename, application_name, count(*) FROM pg_stat_activity
         WHERE datid IS NOT NULL AND usename IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
         GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2";
    let rows = seen(link, sql)?;
    let connections = |row: &Row| Connections {
        user: text(row, 0),
        program: text(row, 1),
        count: number(row, 2).unwrap_or(0),
    };
    Ok(rows.map(|rows| rows.iter().map(connections).collect()))
}

fn waits(store: &Postgres, link: &Link) -> Result<Option<Vec<LockWait>>> {
    let schema = store.schema.cast_unsigned();
    let sql = format!(
        "SELECT w.pid, a.usename, a.application_name,
             CASE WHEN w.locktype = 'advisory' AND w.classid = {LOCK} AND w.objid = {schema} THEN 'the repository'
                  WHEN w.locktype = 'advisory' AND w.classid = {schema} AND w.objsubid = 2 THEN 'a branch'
                  WHEN c.relname IS NOT NULL THEN 'the table ' || c.relname ELSE 'a ' || w.locktype END,
             greatest(0, {}), array_to_string(pg_blocking_pids(w.pid), ' ')
         FROM pg_locks AS w LEFT JOIN pg_stat_activity AS a USING (pid) LEFT JOIN pg_class AS c ON c.oid = w.relation
         WHERE NOT w.granted AND coalesce(w.database, 0) IN
             (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
         ORDER BY 5 DESC NULLS LAST, 1",
        // Servers before 14 do not tell since when.
        milliseconds("clock_timestamp() - (to_jsonb(w) ->> 'waitstart')::timestamptz")
    );
    let Some(rows) = seen(link, &sql)? else {
        return Ok(None);
    };
    let waiting: HashSet<u64> = rows.iter().filter_map(|row| number(row, 0)).collect();
    let blocking = |row: &Row| -> Vec<u64> {
        let all = text(row, 5);
        let all = all.split(' ').filter_map(|it| it.parse().ok());
        all.filter(|it| !waiting.contains(it)).collect()
    };
    let mut holders: Vec<u64> = rows.iter().flat_map(blocking).collect();
    holders.sort_unstable();
    holders.dedup();
    let holders = connected(link, &holders)?;
    let wait = |row: &Row| LockWait {
        what: text(row, 3),
        waiter: person(row, 0),
        waited_ms: number(row, 4),
        holders: {
            let blocking = blocking(row);
            let own = holders.iter().filter(|it| blocking.contains(&it.process));
            own.cloned().collect()
        },
    };
    Ok(Some(rows.iter().map(wait).collect()))
}

/// Who these are; without a name where one may not see it.
fn connected(link: &Link, processes: &[u64]) -> Result<Vec<Connected>> {
    if processes.is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<String> = processes.iter().map(ToString::to_string).collect();
    let sql = format!(
        "SELECT of.pid, usename, application_name FROM unnest('{{{}}}'::int[]) AS of (pid)
         LEFT JOIN pg_stat_activity USING (pid) ORDER BY 1",
        all.join(",")
    );
    let rows = seen(link, &sql)?.unwrap_or_default();
    Ok(rows.iter().map(|row| person(row, 0)).collect())
}

fn person(row: &Row, at: usize) -> Connected {
    Connected {
        process: number(row, at).unwrap_or(0),
        user: text(row, at + 1),
        program: text(row, at + 2),
    }
}

fn oldest(link: &Link) -> Result<Option<OpenTransaction>> {
    let sql = format!(
        "SELECT pid, usename, application_name, greatest(0, {}) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
             AND coalesce(backend_type, 'client backend') = 'client backend'
         ORDER BY xact_start LIMIT 1",
        milliseconds("clock_timestamp() - xact_start")
    );
    let row = seen(link, &sql)?.and_then(|mut rows| rows.pop());
    Ok(row.map(|row| OpenTransaction {
        by: person(&row, 0),
        open_ms: number(&row, 3).unwrap_or(0),
    }))
}

fn tables(store: &Postgres, link: &Link) -> Result<Option<Vec<TableHealth>>> {
    let sql = format!(
        "SELECT c.relname, greatest(c.reltuples, 0)::bigint, n_mod_since_analyze, n_dead_tup, {}
         FROM pg_class AS c LEFT JOIN pg_stat_all_tables AS s ON s.relid = c.oid
         WHERE c.relnamespace = {} AND c.relkind = 'r' ORDER BY 1",
        milliseconds("greatest(last_analyze, last_autoanalyze)"),
        store.schema.cast_unsigned()
    );
    let rows = seen(link, &sql)?;
    let table = |row: &Row| TableHealth {
        name: text(row, 0),
        rows: number(row, 1).unwrap_or(0),
        changed: number(row, 2).unwrap_or(0),
        dead: number(row, 3).unwrap_or(0),
        analyzed: time(row, 4),
    };
    Ok(rows.map(|rows| rows.iter().map(table).collect()))
}

fn archiver(link: &Link) -> Result<Option<Archiver>> {
    let sql = format!(
        "SELECT archived_count, {}, {} FROM pg_stat_archiver",
        milliseconds("last_archived_time"),
        milliseconds("last_failed_time")
    );
    let row = seen(link, &sql)?.and_then(|mut rows| rows.pop());
    Ok(row.map(|row| Archiver {
        archived: number(&row, 0).unwrap_or(0),
        last: time(&row, 1),
        last_failed: time(&row, 2),
    }))
}

fn replicas(link: &Link) -> Result<Option<u64>> {
    let row = seen(link, "SELECT count(*) FROM pg_stat_replication")?;
    Ok(row.and_then(|mut rows| number(&rows.pop()?, 0)))
}
