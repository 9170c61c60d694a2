//! Databases that programs made with a framework keep in the directory of their project.

use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{googles_database, listed, mastra_database, rows_of};
use crate::sandbox::Sandbox;

fn mastras_database(path: &Path) -> Connection {
    let document = include_str!("../../../data/mastra/thread.json");
    let document: Value = serde_json::from_str(document).expect("JSON");
    let mut thread = document["mastra_thread"].clone();
    thread["updatedAt"] = "2026-03-02T08:00:21.000Z".into();
    // A program of one's own says nothing of its directory.
    thread["metadata"] = Value::Null;
    mastra_database(path, thread)
}

fn agnos_database(path: &Path) -> Connection {
    let document = include_str!("../../../data/agno/session.json");
    let document: Value = serde_json::from_str(document).expect("JSON");
    let mut session = document["agno_session"].clone();
    session["session_data"] = json!({});
    let runs = listed(&document, "agno_runs").into_iter().zip(0..);
    let runs: Vec<Value> = runs
        .map(|(run, at)| {
            json!({"run_id": run["run_id"], "session_id": session["session_id"], "run_index": at,
                "created_at": 1_772_438_400 + at, "run_data": run})
        })
        .collect();
    let tables = "CREATE TABLE agno_sessions (session_id TEXT PRIMARY KEY, session_type TEXT, user_id TEXT, session_data TEXT,
           agent_data TEXT, created_at INTEGER, updated_at INTEGER);
         CREATE TABLE agno_runs (run_id TEXT PRIMARY KEY, session_id TEXT, run_index INTEGER, created_at INTEGER,
           run_data TEXT);";
    let rows: [(&str, &[Value]); 2] = [("agno_sessions", &[session]), ("agno_runs", &runs)];
    rows_of(path, tables, &rows)
}

/// A database of nobody's.
fn other_database(path: &Path) -> Connection {
    rows_of(path, "CREATE TABLE tasks (id TEXT);", &[])
}

#[test]
fn sessions_are_found_where_programs_keep_them_in_a_project() {
    type Made = fn(&Path) -> Connection;
    let places: [(Made, &str, &[&str]); 3] = [
        (
            mastras_database,
            "mastra \"Sacks\": 13 messages",
            &[
                "mastra.db",
                "memory.db",
                "data/memory.db",
                "src/mastra/public/mastra.db",
                ".mastra/mastra.db",
                ".mastra/output/mastra.db",
            ],
        ),
        (
            agnos_database,
            "agno mill: ",
            &["agno.db", "workbench.db", "tmp/data.db", "data/agno.db"],
        ),
        (
            googles_database,
            "google-adk mill-ida-s-1",
            &[
                ".adk/session.db",
                "miller/.adk/session.db",
                "sessions.db",
                "data/talk.db",
            ],
        ),
    ];
    for (made, says, places) in places {
        for place in places {
            let sandbox = Sandbox::empty();
            sandbox.tract(&["init"]);
            drop(other_database(&sandbox.work().join("tasks.db")));
            drop(made(&sandbox.work().join(place)));
            let listed = sandbox.tract(&["import", "--list"]);
            let (format, _) = says.split_once(' ').expect("a format");
            assert!(listed.contains(format), "{place}: {listed}");
            // From a folder of the project, too.
            sandbox.write("lib/index.ts", "");
            let mut import = sandbox.command(&["import", "--all", "-v"]);
            let import = import.current_dir(sandbox.work().join("lib"));
            let told = sandbox.told(&import.output().expect("it runs"));
            assert!(told.contains(says), "{place}: {told}");
            assert!(!told.contains("tasks"), "{place}: {told}");
            let again = sandbox.tract(&["import", "--all", "-v"]);
            assert!(!again.contains("Imported"), "{place}: {again}");
            let watched = sandbox.tract(&["watch", "--once"]);
            assert!(!watched.contains("new commit"), "{place}: {watched}");
        }
    }
}

#[test]
fn an_agents_database_is_one_in_its_own_folder_and_in_its_project() {
    let sandbox = Sandbox::empty();
    sandbox.tract(&["init"]);
    let agent = sandbox.work().join("miller");
    drop(googles_database(&agent.join(".adk/session.db")));
    let mut list = sandbox.command(&["import", "--all", "--list"]);
    let listed = sandbox.told(&list.current_dir(agent).output().expect("it runs"));
    assert_eq!(listed.matches("  google-adk  ").count(), 2, "{listed}");
}

#[test]
fn a_database_of_a_project_that_cannot_be_read_is_told_of() {
    let sandbox = Sandbox::empty();
    sandbox.tract(&["init"]);
    sandbox.write("agno.db", "SQLite format 3\0 and no more");
    let told = sandbox.tract(&["import", "--all"]);
    assert!(told.contains("agno.db"), "{told}");
}
