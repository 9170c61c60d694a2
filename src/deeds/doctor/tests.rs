//! What each fact means, of places as they may be.

use super::*;
use crate::repo::health::{
    Archiver, Connected, Connections, FileHealth, LockWait, OpenTransaction, ServerHealth,
    TableHealth, Transport, Upkeep,
};

const NOW: Millis = Millis(1_700_000_000_000);

fn of(place: HealthOf) -> Health {
    Health {
        engine: "Engine 1".to_owned(),
        format: 7,
        room: Room(vec![(RoomOf::Messages, 3_000), (RoomOf::Free, 10)]),
        upkeep: Upkeep::default(),
        owes_scrub: false,
        place,
    }
}

/// A server of which all is good and all is seen.
fn server() -> ServerHealth {
    let settings = [
        ("archive_mode", "on"),
        ("autovacuum", "on"),
        ("data_checksums", "on"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("max_connections", "100"),
        ("superuser_reserved_connections", "3"),
        ("synchronous_commit", "on"),
    ];
    ServerHealth {
        version: 150_018,
        database: "work".to_owned(),
        user: "me".to_owned(),
        sees_others: true,
        is_replica: false,
        settings: settings
            .map(|(name, value)| (name, value.to_owned()))
            .to_vec(),
        clock_ahead_ms: -12,
        trip_ms: 1,
        transport: Transport {
            sslmode: "verify-full",
            is_local: false,
            tls: Some("TLSv1.3".to_owned()),
        },
        connections: Some(vec![Connections {
            user: "me".to_owned(),
            program: "tract".to_owned(),
            count: 1,
        }]),
        waits: Some(Vec::new()),
        oldest: None,
        tables: Some(vec![TableHealth {
            name: "commits".to_owned(),
            rows: 1_000_000,
            changed: 150_000,
            dead: 10,
            analyzed: Some(NOW),
        }]),
        archiver: Some(Archiver {
            archived: 3,
            last: Some(Millis(NOW.0 - 60_000)),
            last_failed: Some(Millis(NOW.0 - 90_000)),
        }),
        replicas: Some(0),
    }
}

fn checks_of(server: ServerHealth) -> Vec<HealthCheck> {
    checks(&of(HealthOf::Server(Box::new(server))), NOW)
}

/// What of a server needs attention or is not known, once it is changed so.
fn told(change: impl FnOnce(&mut ServerHealth)) -> Vec<(String, HealthVerdict)> {
    let mut server = server();
    change(&mut server);
    let checks = checks_of(server).into_iter();
    let told = checks.filter(|check| check.verdict != HealthVerdict::Good);
    told.map(|check| {
        assert!(check.advice.is_some(), "{check:?}");
        (check.topic, check.verdict)
    })
    .collect()
}

fn set(server: &mut ServerHealth, name: &'static str, value: &str) {
    server.settings.retain(|(of, _)| *of != name);
    server.settings.push((name, value.to_owned()));
}

#[test]
fn a_server_that_is_as_it_should_be_is_good() {
    assert_eq!(told(|_| {}), []);
}

#[test]
fn each_thing_that_is_wrong_is_looked_at_and_no_other() {
    type Change = fn(&mut ServerHealth);
    let process = |process| Connected {
        process,
        user: "them".to_owned(),
        program: "psql".to_owned(),
    };
    let look: [(&str, Change); 14] = [
        ("server", |it| it.version = 120_000),
        ("connections", |it| {
            it.connections.as_mut().expect("seen")[0].count = 78
        }),
        ("durable", |it| set(it, "fsync", "off")),
        ("durable", |it| set(it, "full_page_writes", "off")),
        ("durable", |it| set(it, "synchronous_commit", "off")),
        ("encryption", |it| it.transport.tls = None),
        ("encryption", |it| it.transport.sslmode = "require"),
        ("statistics", |it| set(it, "autovacuum", "off")),
        ("statistics", |it| {
            it.tables.as_mut().expect("seen")[0].changed = 200_001
        }),
        ("statistics", |it| {
            it.tables.as_mut().expect("seen")[0].dead = 200_001
        }),
        ("backup", |it| {
            it.archiver.as_mut().expect("seen").last_failed = Some(NOW)
        }),
        ("backup", |it| {
            it.archiver.as_mut().expect("seen").last = None
        }),
        ("clock", |it| it.clock_ahead_ms = 5_001),
        ("clock", |it| it.clock_ahead_ms = i64::MIN),
    ];
    for (topic, change) in look {
        assert_eq!(told(change), [(topic.to_owned(), HealthVerdict::Look)]);
    }
    let wait = |waited_ms, holders: Vec<Connected>| LockWait {
        what: "the repository".to_owned(),
        waiter: process(7),
        waited_ms: Some(waited_ms),
        holders,
    };
    // A queue that moves is none.
    assert_eq!(
        told(|it| it.waits = Some(vec![wait(2_999, vec![process(8)])])),
        []
    );
    for holders in [vec![process(8)], Vec::new()] {
        let told = told(|it| it.waits = Some(vec![wait(3_000, holders)]));
        assert_eq!(told, [("locks".to_owned(), HealthVerdict::Look)]);
    }
    let open_ms = 10 * 60 * 1000;
    let open = |open_ms| OpenTransaction {
        by: process(9),
        open_ms,
    };
    assert_eq!(told(|it| it.oldest = Some(open(open_ms - 1))), []);
    let long = told(|it| it.oldest = Some(open(open_ms)));
    assert_eq!(long, [("transactions".to_owned(), HealthVerdict::Look)]);
}

#[test]
fn what_one_may_not_see_is_unknown_and_what_would_show_it_is_said() {
    let unseen = |change: fn(&mut ServerHealth)| {
        let mut server = server();
        server.user = "Bob \"B\"".to_owned();
        change(&mut server);
        let checks = checks_of(server).into_iter();
        let mut unknown = checks.filter(|it| it.verdict == HealthVerdict::Unknown);
        let check = unknown.next().expect("one");
        assert_eq!(unknown.next(), None);
        (check.topic, check.says, check.advice.expect("advice"))
    };
    let (topic, says, advice) = unseen(|it| it.connections = None);
    assert_eq!(topic, "connections");
    assert_eq!(says, "Bob \"B\" may not see who is connected");
    assert_eq!(advice, r#"GRANT SELECT ON pg_stat_activity TO "Bob ""B""""#);
    assert_eq!(unseen(|it| it.waits = None).0, "locks");
    assert_eq!(unseen(|it| it.tables = None).0, "statistics");
    assert_eq!(unseen(|it| it.archiver = None).0, "backup");
    assert_eq!(unseen(|it| it.sees_others = false).0, "transactions");
    // That nobody makes backups cannot be told of a server which archives nothing.
    assert_eq!(unseen(|it| set(it, "archive_mode", "off")).0, "backup");
}

#[test]
fn a_file_is_looked_at_where_it_has_much_to_give_back() {
    let told = |change: &dyn Fn(&mut Health, &mut FileHealth)| {
        let mut file = FileHealth {
            journal_mode: "wal".to_owned(),
            synchronous: 2,
            is_being_written: Some(false),
        };
        let mut health = of(HealthOf::File(FileHealth::default()));
        change(&mut health, &mut file);
        health.place = HealthOf::File(file);
        let checks = checks(&health, NOW).into_iter();
        let look = checks.filter(|it| it.verdict == HealthVerdict::Look);
        look.map(|it| it.topic).collect::<Vec<_>>()
    };
    assert!(told(&|_, _| {}).is_empty());
    assert!(told(&|_, file| file.is_being_written = Some(true)).is_empty());
    assert_eq!(told(&|_, file| file.synchronous = 1), ["durable"]);
    assert_eq!(told(&|health, _| health.owes_scrub = true), ["owed"]);
    assert_eq!(told(&|health, _| health.upkeep.rows_aside = 2), ["owed"]);
    let free = |all: u64, free: u64| {
        told(&|health, _| {
            health.room = Room(vec![(RoomOf::Messages, all - free), (RoomOf::Free, free)])
        })
    };
    assert_eq!(free(64 << 20, 17 << 20), ["space"]);
    assert!(free(69 << 20, 17 << 20).is_empty());
    assert!(free(20 << 20, 15 << 20).is_empty());
    assert_eq!(
        told(&|health, _| health.room.add(RoomOf::Journal, 64 << 20)),
        ["space"]
    );
}
