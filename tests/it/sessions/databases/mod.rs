//! Tools that keep their sessions in a database: each comes in as a session of its own, whatever else is there.

mod in_projects;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use serde_json::{Value, json};

use crate::listing::web::served::Served;
use crate::sandbox::Sandbox;

const PLAIN: &str = include_str!("../../../data/opencode/plain.json");
const HIDDEN: &str = include_str!("../../../data/opencode/hidden.json");

/// A database of OpenCode's, which holds it open.
struct Tool {
    path: PathBuf,
    rows: Connection,
}

impl Tool {
    fn at(path: PathBuf) -> Self {
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        let rows = Connection::open(&path).expect("made");
        rows.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
               slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
               share_url text, summary_additions integer, summary_deletions integer,
               summary_files integer, summary_diffs text, revert text, permission text,
               time_created integer NOT NULL, time_updated integer NOT NULL,
               time_compacting integer, time_archived integer);
             CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
               time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
             CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
               time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);",
        )
        .expect("made");
        Self { path, rows }
    }

    /// OpenCode's own, where it keeps it.
    fn at_home(sandbox: &Sandbox) -> Self {
        Self::at(sandbox.home().join(".local/share/opencode/opencode.db"))
    }

    /// Puts a session in as its export says it.
    fn put(&self, session: &Value) {
        let info = &session["info"];
        let text = |value: &Value| (!value.is_null()).then(|| value.to_string());
        let add = "INSERT OR REPLACE INTO session (id, project_id, parent_id, slug, directory, title, version,
                   revert, time_created, time_updated) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let word = |key: &str| info[key].as_str();
        let time = &info["time"];
        let row = params![
            word("id"),
            word("projectID"),
            word("parentID"),
            word("slug"),
            word("directory"),
            word("title"),
            word("version"),
            text(&info["revert"]),
            time["created"].as_i64(),
            time["updated"].as_i64(),
        ];
        self.rows.execute(add, row).expect("written");
        for message in session["messages"].as_array().expect("messages") {
            self.put_message(message);
        }
    }

    fn put_message(&self, message: &Value) {
        let data = |value: &Value| {
            let mut data = value.as_object().expect("an object").clone();
            data.retain(|key, _| !["id", "sessionID", "messageID"].contains(&key.as_str()));
            Value::from(data).to_string()
        };
        let info = &message["info"];
        let (session, id) = (info["sessionID"].as_str(), info["id"].as_str());
        let time = info["time"]["created"].as_i64();
        let add = "INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        self.rows
            .execute(add, params![id, session, time, data(info)])
            .expect("written");
        for part in message["parts"].as_array().expect("parts") {
            let add = "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
            let row = params![part["id"].as_str(), id, session, time, data(part)];
            self.rows.execute(add, row).expect("written");
        }
    }
}

/// A session of the fixtures under other ids.
fn session(text: &str, id: &str, change: impl FnOnce(&mut Value)) -> Value {
    let own: Value = serde_json::from_str(text).expect("JSON");
    let own = own["info"]["id"].as_str().expect("an id");
    let text = text.replace(own, id).replace("mill\"", &format!("{id}\""));
    let mut session: Value = serde_json::from_str(&text).expect("JSON");
    change(&mut session);
    // As the tool writes them, ids stand behind the rest.
    for message in session["messages"].as_array_mut().expect("messages") {
        ids_last(&mut message["info"]);
        let parts = message["parts"].as_array_mut().expect("parts");
        parts.iter_mut().for_each(ids_last);
    }
    session
}

fn ids_last(object: &mut Value) {
    let object = object.as_object_mut().expect("an object");
    for key in ["id", "sessionID", "messageID"] {
        if let Some(id) = object.shift_remove(key) {
            object.insert(key.to_owned(), id);
        }
    }
}

/// A prompt that comes after all that is in the fixtures.
fn prompt(id: &str, text: &str, time: i64) -> Value {
    let message = format!("msg_d{time}{id}");
    json!({
        "info": {"id": message, "sessionID": id, "role": "user", "time": {"created": time},
            "agent": "build", "model": {"providerID": "anthropic", "modelID": "claude-opus-4-8"}},
        "parts": [{"id": format!("prt_d{time}{id}"), "sessionID": id, "messageID": message,
            "type": "text", "text": text}],
    })
}

/// What is said to a prompt, when it began, as far as it is there.
fn reply(id: &str, text: &str, time: i64, is_whole: bool) -> Value {
    let mut reply = prompt(id, text, time);
    let info = &mut reply["info"];
    info["role"] = json!("assistant");
    info["modelID"] = json!("claude-opus-4-8");
    if is_whole {
        info["time"]["completed"] = json!(time + 500);
        info["finish"] = json!("stop");
        info["tokens"] = json!({"input": 9, "output": 3});
    }
    reply
}

/// Two sessions, one of which started a third.
fn three(tool: &Tool) -> [Value; 3] {
    let sessions = [
        session(PLAIN, "ses_one", |_| {}),
        session(HIDDEN, "ses_two", |it| {
            it["info"].as_object_mut().expect("one").remove("parentID");
            it["info"]["time"]["updated"] = json!(1_772_100_200_000_i64);
        }),
        session(PLAIN, "ses_three", |it| {
            it["info"]["parentID"] = json!("ses_one");
            it["info"]["title"] = json!("Ask the miller");
            it["info"]["time"]["created"] = json!(1_772_100_000_001_i64);
        }),
    ];
    for session in &sessions {
        tool.put(session);
    }
    sessions
}

fn history(sandbox: &Sandbox, tool: &str, id: &str) -> String {
    let name = format!("refs/sessions/{tool}/{id}");
    sandbox.ok(&["log", &name, "-n", "0", "--format", "%H"])
}

/// The files beside a database, with their bytes.
fn files(path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = fs::read_dir(path.parent().expect("one")).expect("a folder");
    let paths = folder.map(|file| file.expect("one").path());
    let mut files: Vec<_> = paths
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).expect("read")))
        .collect();
    files.sort();
    files
}

#[test]
fn each_session_of_a_database_is_what_its_export_would_be() {
    let (by_rows, by_files) = (Sandbox::new(), Sandbox::new());
    let tool = Tool::at(by_rows.work().join("opencode.db"));
    let sessions = three(&tool);
    let before = files(&tool.path);
    insta::assert_snapshot!(by_rows.tract(&["import", "opencode.db"]));
    assert_eq!(files(&tool.path), before, "as it was");
    for session in &sessions {
        let id = session["info"]["id"].as_str().expect("an id");
        let file = format!("{id}.json");
        by_files.write(&file, session.to_string());
        by_files.ok(&["import", &file]);
        assert_eq!(
            history(&by_rows, "opencode", id),
            history(&by_files, "opencode", id)
        );
    }
    // Again: nothing is new. One that is named by its id: that one.
    insta::assert_snapshot!(by_rows.tract(&["import", "opencode.db"]));
    tool.put_message(&prompt("ses_two", "And the door?", 1_772_100_300_000));
    tool.put_message(&prompt("ses_one", "And the sluice?", 1_772_100_300_001));
    insta::assert_snapshot!(by_rows.tract(&["import", "opencode.db/ses_one"]));
    assert!(
        by_rows
            .tract(&["import", "opencode.db/ses_none"])
            .contains("ses_none")
    );
    // What is kept of it comes back.
    by_rows.ok(&[
        "export",
        "refs/sessions/opencode/ses_three",
        "--format",
        "opencode",
        "-o",
        "o.json",
    ]);
    let out: Value =
        serde_json::from_slice(&fs::read(by_rows.work().join("o.json")).expect("read"))
            .expect("JSON");
    assert_eq!(out["info"], sessions[2]["info"]);
}

#[test]
fn the_sessions_of_the_database_are_found_and_listed() {
    let sandbox = Sandbox::new();
    let tool = Tool::at_home(&sandbox);
    three(&tool);
    insta::assert_snapshot!(sandbox.tract(&["import", "--all", "--list"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]));
    insta::assert_snapshot!(sandbox.tract(&["branch"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "ses_two"]));
}

#[test]
fn a_watch_takes_in_what_its_log_grows_by() {
    let sandbox = Sandbox::new();
    let tool = Tool::at_home(&sandbox);
    three(&tool);
    let once = || sandbox.tract(&["watch", "--once"]);
    insta::assert_snapshot!(once());
    insta::assert_snapshot!(once());
    tool.put_message(&prompt("ses_one", "And the door?", 1_772_100_300_000));
    insta::assert_snapshot!(once());
    // A reply is made anew as often as it grows; it is the same session.
    for (at, text) in ["It", "It hangs.", "It hangs. Well."]
        .into_iter()
        .enumerate()
    {
        tool.put_message(&reply("ses_one", text, 1_772_100_300_100, at == 2));
        let told = once();
        assert!(told.contains("opencode/ses_one: 1 new commit"), "{told}");
        let last = sandbox.ok(&[
            "log",
            "refs/sessions/opencode/ses_one",
            "-n",
            "1",
            "--format",
            "%s",
        ]);
        assert!(last.trim_end().ends_with(text), "{last}");
        assert_eq!(history(&sandbox, "opencode", "ses_one").lines().count(), 8);
    }
    // It has gone, and come back as something else; what is here stays.
    let before = history(&sandbox, "opencode", "ses_two");
    let path = tool.path.clone();
    drop(tool);
    fs::write(&path, [&b"SQLite format 3\0"[..], &[7; 5_000]].concat()).expect("written");
    let told = once();
    assert!(
        told.contains("opencode.db: ") && told.contains("it is tried again"),
        "{told}"
    );
    fs::remove_file(&path).expect("removed");
    insta::assert_snapshot!(once());
    assert_eq!(history(&sandbox, "opencode", "ses_two"), before);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_comes_in() {
    let sandbox = Sandbox::new();
    let tool = Tool::at_home(&sandbox);
    three(&tool);
    // A row whose text is cut, a part without its message; a message without its session is nobody's.
    tool.rows
        .execute_batch(
            "UPDATE message SET data = substr(data, 1, 30) WHERE id = 'msg_1fe500000002ses_two';
             INSERT INTO part VALUES ('prt_x', 'msg_gone', 'ses_one', 1, 1, '{\"type\":\"text\",\"text\":\"left\"}');
             INSERT INTO message VALUES ('msg_y', 'ses_gone', 1, 1, '{}');",
        )
        .expect("written");
    insta::assert_snapshot!(sandbox.tract(&["import", "--all", "-v"]));
    // Other tables; none; no database at all.
    let work = |name: &str| sandbox.work().join("dbs").join(name);
    fs::create_dir(sandbox.work().join("dbs")).expect("made");
    Connection::open(work("other.db"))
        .and_then(|rows| rows.execute_batch("CREATE TABLE session (id); CREATE TABLE part (id)"))
        .expect("made");
    fs::write(work("text.db"), "none").expect("written");
    fs::write(
        work("torn.db"),
        [&b"SQLite format 3\0"[..], &[7; 5_000]].concat(),
    )
    .expect("written");
    let good = Tool::at(work("good.db"));
    good.put(&session(PLAIN, "ses_good", |_| {}));
    insta::assert_snapshot!(sandbox.tract(&["import", "dbs", "-v"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "dbs/other.db"]));
}

#[test]
fn kilo_code_keeps_its_sessions_alike() {
    let sandbox = Sandbox::new();
    let tool = Tool::at(sandbox.home().join(".local/share/kilo/kilo.db"));
    let session: Value =
        serde_json::from_str(include_str!("../../../data/kilo/plain.json")).expect("JSON");
    tool.put(&session);
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]));
    let id = session["info"]["id"].as_str().expect("an id");
    assert_eq!(history(&sandbox, "kilo", id).lines().count(), 4);
}

#[test]
fn kilo_codes_newer_client_tells_the_model_where_it_works_behind_each_prompt() {
    let sandbox = Sandbox::new();
    let tool = Tool::at(sandbox.home().join(".local/share/kilo/kilo.db"));
    let plain = include_str!("../../../data/kilo/plain.json");
    tool.put(&session(plain, "ses_newer", |it| {
        it["info"]["version"] = json!("7.7.7");
        it["info"]["directory"] = json!("/mill/two");
        it["messages"][0]["info"]["time"]["created"] = json!(1_772_438_400_250_i64);
        it["messages"][0]["info"]["editorContext"] = json!({"activeFile": "race.md"});
    }));
    let path = "ALTER TABLE session ADD COLUMN path text; UPDATE session SET path = 'two'";
    tool.rows.execute_batch(path).expect("written");
    sandbox.ok(&["import", "--all"]);
    let body: Value = serde_json::from_str(&sandbox.ok(&["compile"])).expect("JSON");
    let told = "\n\n<environment_details>\nMessage time: 2026-03-02T08:00:00Z\nWorking directory: /mill/two\n\
        Workspace root folder: /mill\nActive file: race.md\n</environment_details>";
    let content = body["messages"][0]["content"].as_array().expect("parts");
    assert_eq!(content.last().map(|part| &part["text"]), Some(&json!(told)));
}

/// Puts a session into the folder of small files that the tool had before.
fn put_files(storage: &Path, session: &Value) {
    let put = |name: String, value: &Value| {
        let path = storage.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, format!("{value:#}\n")).expect("written");
    };
    let id = |value: &Value| value["id"].as_str().expect("an id").to_owned();
    let info = &session["info"];
    put(format!("session/p/{}.json", id(info)), info);
    for message in session["messages"].as_array().expect("messages") {
        let own = id(&message["info"]);
        put(format!("message/{}/{own}.json", id(info)), &message["info"]);
        for part in message["parts"].as_array().expect("parts") {
            put(format!("part/{own}/{}.json", id(part)), part);
        }
    }
}

#[test]
fn what_stands_in_many_small_files_is_one_session() {
    let (by_parts, by_files) = (Sandbox::new(), Sandbox::new());
    let storage = by_parts.home().join(".local/share/opencode/storage");
    let mut old = session(
        include_str!("../../../data/kilo/plain.json"),
        "ses_old",
        |it| {
            it["info"]["version"] = json!("1.0.3");
        },
    );
    put_files(&storage, &old);
    insta::assert_snapshot!(by_parts.tract(&["import", "--all"]));
    by_files.write("old.json", old.to_string());
    by_files.ok(&["import", "old.json"]);
    assert_eq!(
        history(&by_parts, "opencode", "ses_old"),
        history(&by_files, "opencode", "ses_old")
    );
    // It grows by files; it is found in a directory that is named.
    let messages = old["messages"].as_array_mut().expect("messages");
    messages.push(prompt("ses_old", "And the weft?", 1_773_400_000_000));
    put_files(&storage, &old);
    insta::assert_snapshot!(by_parts.tract(&["watch", "--once"]));
    let named = storage.to_str().expect("UTF-8");
    insta::assert_snapshot!(by_parts.tract(&["import", named]));
    // What the tool has taken into its database goes on there.
    let tool = Tool::at_home(&by_parts);
    messages_into(&tool, &mut old);
    insta::assert_snapshot!(by_parts.tract(&["import", "--all"]));
    insta::assert_snapshot!(by_parts.tract(&["watch", "--once"]));
}

/// The session in the database, with one more message.
fn messages_into(tool: &Tool, session: &mut Value) {
    let messages = session["messages"].as_array_mut().expect("messages");
    messages.push(prompt("ses_old", "And the warp?", 1_773_400_000_001));
    tool.put(session);
}

/// A database with these tables, of rows as JSON says them: lists and objects in it are texts.
fn rows_of(path: &Path, tables: &str, rows: &[(&str, &[Value])]) -> Connection {
    fs::create_dir_all(path.parent().expect("it has one")).expect("made");
    let database = Connection::open(path).expect("made");
    let log = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;";
    database
        .execute_batch(&format!("{log}{tables}"))
        .expect("made");
    for (table, row) in rows
        .iter()
        .flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)))
    {
        let row = row.as_object().expect("a row");
        let names: Vec<String> = row.keys().map(|name| format!("\"{name}\"")).collect();
        let values = row.values().map(|value| match value {
            Value::Null => rusqlite::types::Value::Null,
            Value::Number(number) => number.as_i64().expect("whole").into(),
            Value::Bool(is_so) => i64::from(*is_so).into(),
            Value::String(text) => text.clone().into(),
            json => json.to_string().into(),
        });
        let marks = vec!["?"; names.len()].join(", ");
        let add = format!(
            "INSERT INTO {table} ({}) VALUES ({marks})",
            names.join(", ")
        );
        let added = database.execute(&add, rusqlite::params_from_iter(values));
        assert_eq!(added.expect("written"), 1);
    }
    database
}

/// The rows of a list in a document.
fn listed(document: &Value, key: &str) -> Vec<Value> {
    document[key].as_array().expect("a list").clone()
}

#[test]
fn the_sessions_of_the_agents_sdk_come_in_from_their_database() {
    let sandbox = Sandbox::empty();
    let [plain, branches] = [
        include_str!("../../../data/openai-agents/plain.json"),
        include_str!("../../../data/openai-agents/branches.json"),
    ]
    .map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let of = |key: &str| [&plain, &branches].map(|it| it[key].clone());
    let (sessions, mut items) = (of("agent_session"), listed(&plain, "agent_messages"));
    // Rows of all sessions are counted together.
    let mut order = listed(&branches, "message_structure");
    for row in &mut order {
        row["message_id"] = (row["message_id"].as_i64().expect("one") + 100).into();
    }
    items.extend(
        listed(&branches, "agent_messages")
            .into_iter()
            .map(|mut row| {
                row["id"] = (row["id"].as_i64().expect("one") + 100).into();
                row
            }),
    );
    let path = sandbox.work().join("talk.db");
    let tables = "CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
         CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT, created_at TIMESTAMP);
         CREATE TABLE message_structure (id INTEGER PRIMARY KEY, session_id TEXT, message_id INTEGER, branch_id TEXT,
           message_type TEXT, sequence_number INTEGER, user_turn_number INTEGER, branch_turn_number INTEGER,
           created_at TIMESTAMP);";
    let rows: [(&str, &[Value]); 3] = [
        ("agent_sessions", &sessions),
        ("agent_messages", &items),
        ("message_structure", &order),
    ];
    // It stays open: what was written last stands in its log alone.
    let open = rows_of(&path, tables, &rows);
    let before = files(&path);
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.db"]));
    assert_eq!(
        files(&path),
        before,
        "neither touched, nor any file made beside them"
    );
    insta::assert_snapshot!(sandbox.tract(&["branch"]));
    let add = "INSERT INTO agent_messages VALUES (300, 'mill:42', '{\"role\":\"user\",\"content\":\"Good night.\"}', NULL)";
    open.execute(add, []).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["import", "talk.db"]));
}

/// A database with one thread of Mastra's, whose row this is.
fn mastra_database(path: &Path, thread: Value) -> Connection {
    let document = include_str!("../../../data/mastra/thread.json");
    let document: Value = serde_json::from_str(document).expect("JSON");
    let tables = "CREATE TABLE mastra_threads (id TEXT PRIMARY KEY, resourceId TEXT, title TEXT, metadata TEXT,
           createdAt TEXT, updatedAt TEXT);
         CREATE TABLE mastra_messages (id TEXT PRIMARY KEY, thread_id TEXT, content TEXT, role TEXT, type TEXT,
           createdAt TEXT, resourceId TEXT);";
    let rows: [(&str, &[Value]); 2] = [
        ("mastra_threads", &[thread]),
        ("mastra_messages", &listed(&document, "mastra_messages")),
    ];
    rows_of(path, tables, &rows)
}

#[test]
fn threads_of_mastra_are_found_where_mastra_code_keeps_them() {
    let sandbox = Sandbox::empty();
    let thread = include_str!("../../../data/mastra/thread.json");
    let document: Value = serde_json::from_str(thread).expect("JSON");
    let mut row = document["mastra_thread"].clone();
    row["updatedAt"] = "2026-03-02T08:00:21.000Z".into();
    let path = sandbox.home().join(".local/share/mastracode/mastra.db");
    let open = mastra_database(&path, row);
    let before = files(&path);
    let told = sandbox.tract(&["import", "--all", "-v"]);
    assert!(told.contains("mastra \"Sacks\": 13 messages"), "{told}");
    assert_eq!(
        files(&path),
        before,
        "neither touched, nor any file made beside them"
    );
    // What is put together of the rows says what the fixture says.
    sandbox.write("thread.json", thread);
    let again = sandbox.tract(&["import", "-v", "thread.json"]);
    assert!(again.contains("Nothing new in mastra"), "{again}");
    let add = "INSERT INTO mastra_messages VALUES ('m7', 'mill:7', '{\"format\":2,\"parts\":[{\"type\":\"text\",\"text\":\"Good night.\"}]}',
        'user', 'v2', '2026-03-02T08:01:00.000Z', 'miller')";
    open.execute(add, []).expect("written");
    let grown = sandbox.tract(&["import", "--all", "-v"]);
    assert!(grown.contains("1 new commit, now 14 messages"), "{grown}");
}

/// A database of Google's kit with two sessions of one id.
fn googles_database(path: &Path) -> Connection {
    let session = include_str!("../../../data/google-adk/session.json");
    let document: Value = serde_json::from_str(session).expect("JSON");
    let mut row = document["adk_session"].clone();
    row["state"] = "{}".into();
    row["update_time"] = "2026-03-02 08:01:00.000000".into();
    let mut other = row.clone();
    other["user_id"] = "otto".into();
    let events = listed(&document, "adk_events").into_iter().zip(0..);
    let mut events: Vec<Value> = events
        .map(|(event, at)| {
            json!({"id": event["id"], "app_name": "mill", "user_id": "ida", "session_id": "s-1",
                "invocation_id": event["invocation_id"], "timestamp": format!("2026-03-02 08:00:{at:02}.000000"),
                "event_data": event.to_string()})
        })
        .collect();
    let mut first = events[0].clone();
    first["user_id"] = "otto".into();
    events.push(first);
    let tables = "CREATE TABLE sessions (app_name VARCHAR, user_id VARCHAR, id VARCHAR, state TEXT, create_time DATETIME,
           update_time DATETIME, PRIMARY KEY (app_name, user_id, id));
         CREATE TABLE events (id VARCHAR, app_name VARCHAR, user_id VARCHAR, session_id VARCHAR, invocation_id VARCHAR,
           timestamp DATETIME, event_data TEXT, PRIMARY KEY (id, app_name, user_id, session_id));";
    let rows: [(&str, &[Value]); 2] = [("sessions", &[row, other]), ("events", &events)];
    rows_of(path, tables, &rows)
}

#[test]
fn sessions_of_googles_kit_come_in_by_application_and_user() {
    let sandbox = Sandbox::empty();
    let session = include_str!("../../../data/google-adk/session.json");
    drop(googles_database(
        &sandbox.work().join("agents/.adk/session.db"),
    ));
    let told = sandbox.tract(&["import", "-v", "agents"]);
    assert!(told.contains("google-adk mill-ida-s-1"), "{told}");
    assert!(told.contains("google-adk mill-otto-s-1"), "{told}");
    sandbox.write("session.json", session);
    let again = sandbox.tract(&["import", "-v", "session.json"]);
    assert!(again.contains("Nothing new in google-adk"), "{again}");
}

#[test]
fn goose_keeps_its_sessions_in_a_database_too() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let export: Value =
        serde_json::from_str(include_str!("../../../data/goose/export.json")).expect("JSON");
    let row = |id: &str, parent: Option<&str>| {
        json!({"id": id, "name": export["name"], "working_dir": export["working_dir"],
            "created_at": "2026-03-02 08:00:00", "updated_at": "2026-03-02 08:00:40",
            "extension_data": export["extension_data"], "parent_session_id": parent})
    };
    let message = |session: &str, it: &Value| {
        json!({"session_id": session, "message_id": it["id"], "role": it["role"],
            "content_json": it["content"], "created_timestamp": it["created"],
            "metadata_json": it["metadata"]})
    };
    let all = listed(&export, "conversation");
    let own = all.iter().map(|it| message("20260302_1", it));
    let agents = all[13..].iter().map(|it| message("20260302_2", it));
    let messages: Vec<Value> = own.chain(agents).collect();
    let tables = "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, working_dir TEXT, created_at TIMESTAMP,
           updated_at TIMESTAMP, extension_data TEXT, parent_session_id TEXT);
         CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_id TEXT, role TEXT,
           content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);";
    let sessions = [
        row("20260302_2", Some("20260302_1")),
        row("20260302_1", None),
    ];
    let path = sandbox
        .home()
        .join(".local/share/goose/sessions/sessions.db");
    let rows: [(&str, &[Value]); 2] = [("sessions", &sessions), ("messages", &messages)];
    let open = rows_of(&path, tables, &rows);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    sandbox.write("export.json", export.to_string());
    // The tool's own export says the same.
    insta::assert_snapshot!(sandbox.tract(&["import", "export.json"]));
    // A message goes out of sight, and nothing else changes.
    let hide = "UPDATE messages SET metadata_json = '{\"userVisible\":true,\"agentVisible\":false}' WHERE id = 17";
    assert_eq!(open.execute(hide, []).expect("written"), 1);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
}

#[test]
fn crush_keeps_the_sessions_of_a_project_in_a_database() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let session: Value =
        serde_json::from_str(include_str!("../../../data/crush/session.json")).expect("JSON");
    let row = json!({"id": session["id"], "title": session["title"], "message_count": 9, "prompt_tokens": 1,
        "completion_tokens": 2, "created_at": 1_772_438_400, "updated_at": 1_772_438_409,
        "summary_message_id": session["summary_message_id"], "todos": null});
    let mut messages = listed(&session, "messages");
    for message in &mut messages {
        message["session_id"] = session["id"].clone();
        message["updated_at"] = message["created_at"].clone();
    }
    // What was said in the same second is told apart by its place alone.
    messages[0]["id"] = "z".into();
    let tables = "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, message_count INTEGER,
           prompt_tokens INTEGER, completion_tokens INTEGER, updated_at INTEGER, created_at INTEGER,
           summary_message_id TEXT, todos TEXT);
         CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, model TEXT,
           created_at INTEGER, updated_at INTEGER, finished_at INTEGER, provider TEXT, is_summary_message INTEGER);
         CREATE INDEX by_session ON messages (session_id, id);";
    let path = sandbox.work().join(".crush/crush.db");
    let rows: [(&str, &[Value]); 2] = [("sessions", &[row]), ("messages", &messages)];
    let open = rows_of(&path, tables, &rows);
    let first = sandbox.tract(&["import", ".crush/crush.db"]);
    // A reply that is not finished is there as far as it goes, and is made again once it is.
    assert!(first.contains("8 messages, 1 compaction"), "{first}");
    let done = "UPDATE messages SET parts = '[{\"type\":\"text\",\"data\":{\"text\":\"None.\"}},{\"type\":\"finish\",\"data\":{}}]',
        updated_at = 1772438411 WHERE id = 'm9'";
    assert_eq!(open.execute(done, []).expect("written"), 1);
    let more = sandbox.tract(&["import", ".crush/crush.db"]);
    assert!(more.contains("1 new"), "{more}");
    assert!(sandbox.tract(&["log"]).contains("None."));
}

#[test]
fn openclaw_keeps_the_sessions_of_each_agent_in_a_database() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let lines = include_str!("../../../data/openclaw/session.jsonl");
    let lines: Vec<&str> = lines.lines().collect();
    let id = "5e551000-0000-4000-8000-000000000007";
    let other = lines[0].replace("000000000007", "000000000008");
    let event = |session: &str, number: usize, line: &str| json!({"session_id": session, "seq": number, "event_json": line, "created_at": 1_772_438_400_000_i64});
    let own = lines[..8].iter().enumerate();
    let mut events: Vec<Value> = own.map(|(at, line)| event(id, at, line)).collect();
    // A session that the agent of the first started.
    let agent = id.replace("000000000007", "000000000008");
    events.extend([event(&agent, 0, &other), event(&agent, 1, lines[3])]);
    let window = |id: &str, key: &str, starter: Option<&str>| json!({"session_id": id, "session_key": key, "spawned_by": starter, "transcript_updated_at": null});
    let windows = [
        window(&agent, "agent:main:subagent:1", Some("agent:main:main")),
        window(id, "agent:main:main", None),
    ];
    let nodes = [json!({"session_key": "agent:main:main", "current_session_id": id})];
    let tables = "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, created_at INTEGER,
           event_zstd BLOB, event_utf8_bytes INTEGER);
         CREATE TABLE session_windows (session_id TEXT, session_key TEXT, spawned_by TEXT, transcript_updated_at INTEGER);
         CREATE TABLE session_nodes (session_key TEXT, current_session_id TEXT);";
    let rows: [(&str, &[Value]); 3] = [
        ("transcript_events", &events),
        ("session_windows", &windows),
        ("session_nodes", &nodes),
    ];
    let path = sandbox
        .home()
        .join(".openclaw/agents/mara/agent/openclaw-agent.sqlite");
    let open = rows_of(&path, tables, &rows);
    // One that the tool has packed.
    let pack = |number: i64, line: &str| {
        let packed = zstd::encode_all(line.as_bytes(), 1).expect("packed");
        let set =
            "UPDATE transcript_events SET event_json = NULL, event_zstd = ?1, event_utf8_bytes = ?2
            WHERE session_id = ?3 AND seq = ?4";
        let done = open.execute(set, params![packed, line.len() as i64, id, number]);
        assert_eq!(done.expect("written"), 1);
    };
    pack(5, lines[5]);
    let before = files(&path);
    let listed = sandbox.ok(&["import", "--all", "--list"]);
    assert_eq!(listed.lines().count(), 1 + 1, "{listed}");
    assert!(
        listed.contains("openclaw") && listed.contains("Count the sacks."),
        "{listed}"
    );
    let first = sandbox.tract(&["watch", "--once"]);
    assert_eq!(
        files(&path),
        before,
        "neither touched, nor any file made beside them"
    );
    assert!(first.contains("openclaw/5e551000"), "{first}");
    // What the mark leads away from is not sent, and a branch.
    let log = sandbox.ok(&["log", "openclaw-5e551000", "--oneline"]);
    assert!(
        log.contains("sacks.txt") && !log.contains("Given up."),
        "{log}"
    );
    let branches = sandbox.ok(&["branch"]);
    assert!(
        branches.contains("leaf-1") && branches.contains("agent-5e551000"),
        "{branches}"
    );
    let more = "INSERT INTO transcript_events (session_id, seq, event_json, created_at) VALUES (?1, ?2, ?3, 1772438406000)";
    for (at, line) in lines.iter().enumerate().skip(8) {
        open.execute(more, params![id, at as i64, line])
            .expect("written");
    }
    let grown = sandbox.tract(&["watch", "--once"]);
    assert!(grown.contains("1 new commit"), "{grown}");
    // It says what its lines would say.
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    sandbox.write("session.jsonl", text);
    let same = sandbox.tract(&["import", "session.jsonl"]);
    assert!(same.contains("Nothing new in openclaw"), "{same}");
    // A frame that is damaged is a line that is broken, and the rest comes in.
    let spoil = "UPDATE transcript_events SET event_zstd = x'28b52ffd00' WHERE seq = 5";
    assert_eq!(open.execute(spoil, []).expect("written"), 1);
    let place = path.join(id).to_string_lossy().into_owned();
    let broken = sandbox.tract(&["import", &place]);
    assert!(broken.contains("problem"), "{broken}");
}

#[test]
fn hermes_keeps_what_it_compacted_in_its_database() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let text = include_str!("../../../data/hermes/session.json");
    let mut session: Value = serde_json::from_str(text).expect("JSON");
    let messages = listed(&session, "messages");
    let messages = messages.into_iter().map(|mut message| {
        // Whole seconds will do, and a list of parts is marked.
        message["timestamp"] = json!(message["timestamp"].as_f64().expect("a time") as i64);
        if message["content"].is_array() {
            message["content"] = format!("\0json:{}", message["content"]).into();
        }
        message
    });
    let messages: Vec<Value> = messages.collect();
    session.as_object_mut().expect("one").remove("messages");
    session["started_at"] = json!(1_772_438_400);
    let mut agent = session.clone();
    agent["id"] = "agent".into();
    agent["model_config"] = json!({"_delegate_from": session["id"]});
    let asked = json!({"session_id": "agent", "role": "user", "content": "Look in the cellar.",
        "timestamp": 1_772_438_401, "active": 1, "compacted": 0});
    let columns: Vec<String> = session.as_object().expect("one").keys().cloned().collect();
    let tables = format!(
        "CREATE TABLE sessions ({});
         CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
           tool_calls TEXT, tool_name TEXT, timestamp REAL, finish_reason TEXT, reasoning TEXT, reasoning_content TEXT,
           observed INTEGER, active INTEGER, compacted INTEGER, api_content TEXT);",
        columns.join(", ")
    );
    let all = [&messages[..], &[asked]].concat();
    let rows: [(&str, &[Value]); 2] = [("sessions", &[session.clone(), agent]), ("messages", &all)];
    for folder in [".hermes", ".hermes/profiles/mill"] {
        let path = sandbox.home().join(folder).join("state.db");
        rows_of(&path, &tables, &rows);
    }
    let path = sandbox.home().join(".hermes/state.db");
    let open = Connection::open(&path).expect("opened");
    let listed = sandbox.ok(&["import", "--all", "--list"]);
    assert_eq!(
        listed.matches("hermes").count(),
        4,
        "each of two, with its place: {listed}"
    );
    let first = sandbox.tract(&["watch", "--once"]);
    assert!(first.contains("hermes/20260302"), "{first}");
    assert!(sandbox.ok(&["branch"]).contains("agent-agent"), "{first}");
    let name = "refs/sessions/hermes/20260302_080000_5e5510";
    let compiled = sandbox.ok(&["compile", name, "--format", "openai"]);
    let compiled: Value = serde_json::from_str(&compiled).expect("JSON");
    let said = compiled["messages"].as_array().expect("messages").iter();
    let roles: Vec<&str> = said.map(|it| it["role"].as_str().expect("one")).collect();
    assert_eq!(
        roles,
        [
            "system",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant"
        ]
    );
    // No reply was counted; what all requests came to is told, of both.
    let cost = sandbox.ok(&["cost"]);
    assert!(cost.contains("2,060") && cost.contains("120"), "{cost}");
    // The user takes the last turn back, and nothing else changes.
    let back = "UPDATE messages SET active = 0 WHERE session_id <> 'agent' AND id > 21";
    assert_eq!(open.execute(back, []).expect("written"), 1);
    open.execute("UPDATE sessions SET rewind_count = 2", [])
        .expect("written");
    let taken = sandbox.tract(&["watch", "--once"]);
    assert!(taken.contains("1 new commit"), "{taken}");
    let log = sandbox.ok(&["log", name, "--oneline", "-n", "1"]);
    assert!(log.contains("drop"), "{log}");
}

#[test]
fn conversations_of_kiro_come_in_from_both_of_its_tables() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let [one, other] = [
        include_str!("../../../data/kiro/conversation.json"),
        include_str!("../../../data/kiro/bare.json"),
    ]
    .map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let mut older = other;
    older["conversation_id"] = "older".into();
    let tables = "CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER, migration_time INTEGER);
         CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
         CREATE TABLE conversations_v2 (key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
           created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (key, conversation_id));";
    let id = &one["conversation_id"];
    let of = |key: &str, id: &Value, updated: i64| json!({"key": key, "conversation_id": id, "value": one, "created_at": 1, "updated_at": updated});
    let rows: [(&str, &[Value]); 2] = [
        (
            "conversations",
            &[
                json!({"key": "/home/mara/attic", "value": older}),
                json!({"key": "/home/mara/spoilt", "value": "{"}),
            ],
        ),
        (
            "conversations_v2",
            &[of("/home/mara/mill", id, 1_772_438_405_000)],
        ),
    ];
    let path = sandbox.home().join(".local/share/kiro-cli/data.sqlite3");
    let open = rows_of(&path, tables, &rows);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    let mut more = one.clone();
    let next = json!({"user": {"content": {"Prompt": {"prompt": "And barrels?"}}},
        "assistant": {"Response": {"message_id": "m5", "content": "None."}}});
    more["history"].as_array_mut().expect("a list").push(next);
    let put = "UPDATE conversations_v2 SET value = ?1, updated_at = 1772438409000";
    open.execute(put, [more.to_string()]).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
}

/// A value as MessagePack; a message is an object of its class.
fn packed(value: &Value) -> Vec<u8> {
    let sized = |kind: u8, count: usize| {
        let count = u32::try_from(count).expect("short").to_be_bytes();
        [&[kind][..], &count].concat()
    };
    match value {
        Value::Null => vec![0xc0],
        Value::Bool(is_so) => vec![0xc2 + u8::from(*is_so)],
        Value::Number(number) => {
            let number = number.as_i64().expect("whole").to_be_bytes();
            [&[0xd3][..], &number].concat()
        }
        Value::String(text) => [sized(0xdb, text.len()), text.as_bytes().to_vec()].concat(),
        Value::Array(list) => {
            let items = list.iter().flat_map(packed);
            sized(0xdd, list.len()).into_iter().chain(items).collect()
        }
        Value::Object(object) if object.contains_key("class") => {
            let module = json!("langchain_core.messages");
            let method = json!("model_validate_json");
            let held = [&module, &object["class"], &object["kwargs"], &method];
            let held: Vec<u8> = held.into_iter().flat_map(packed).collect();
            let held = [&[0x94][..], &held].concat();
            [sized(0xc9, held.len()), vec![5], held].concat()
        }
        Value::Object(object) => {
            let members = object.iter();
            let members = members.flat_map(|(key, value)| [packed(&json!(key)), packed(value)]);
            sized(0xdf, object.len())
                .into_iter()
                .chain(members.flatten())
                .collect()
        }
    }
}

#[test]
fn threads_of_langgraph_come_in_from_their_checkpoints() {
    let sandbox = Sandbox::empty();
    let thread = include_str!("../../../data/langgraph/thread.json");
    let document: Value = serde_json::from_str(thread).expect("JSON");
    let messages = listed(&document, "messages");
    let path = sandbox.work().join("graph.sqlite");
    let open = rows_of(
        &path,
        "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
           parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
           PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
         CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
           task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB);",
        &[],
    );
    let put = |space: &str, id: &Value, parent: &Value, kind: &str, state: &[u8]| {
        let add = "INSERT INTO checkpoints VALUES ('mill:1', ?1, ?2, ?3, ?4, ?5, '{}')";
        let row = params![space, id.as_str(), parent.as_str(), kind, state];
        open.execute(add, row).expect("written");
    };
    let mut lists: std::collections::HashMap<String, Vec<usize>> = std::collections::HashMap::new();
    for one in listed(&document, "checkpoints") {
        let (id, parent) = (&one["checkpoint_id"], &one["parent_checkpoint_id"]);
        let before = parent.as_str().and_then(|parent| lists.get(parent));
        let mut list = before.cloned().unwrap_or_default();
        let mut values = json!({"branch:to:agent": null});
        if let Some(keeps) = one["keeps"].as_u64() {
            list.truncate(usize::try_from(keeps).expect("few"));
            let then = one["then"].as_array().expect("a list").iter();
            list.extend(then.map(|at| usize::try_from(at.as_u64().expect("one")).expect("few")));
            let state: Vec<Value> = list.iter().map(|at| messages[*at].clone()).collect();
            values["messages"] = state.into();
        }
        let state = json!({"v": 3, "ts": one["ts"], "id": id, "channel_values": values});
        put("", id, parent, "msgpack", &packed(&state));
        lists.insert(id.as_str().expect("an id").to_owned(), list);
    }
    for at in ["a", "b"] {
        put("inside", &json!(at), &Value::Null, "msgpack", b"\x80");
    }
    let before = files(&path);
    insta::assert_snapshot!(sandbox.tract(&["import", "graph.sqlite"]));
    assert_eq!(
        files(&path),
        before,
        "neither touched, nor any file made beside them"
    );
    // What is put together of the rows says what the fixture says.
    sandbox.write("thread.json", thread);
    insta::assert_snapshot!(sandbox.tract(&["import", "thread.json"]));
    insta::assert_snapshot!(sandbox.tract(&["compile", "--format", "openai"]));
    // The first versions had JSON, and some programs pickle.
    let said = json!({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"],
        "kwargs": {"content": "Gladly.", "type": "ai"}});
    let state = json!({"v": 1, "ts": "2026-03-02T08:01:00+00:00", "channel_values":
        {"messages": [said]}});
    let ids = [11, 12].map(|at| json!(format!("1f0371bf-0000-6000-8000-{at:012}")));
    let last = json!("1f0371bf-0000-6000-8000-000000000010");
    put("", &ids[0], &last, "json", state.to_string().as_bytes());
    put("", &ids[1], &ids[0], "pickle", b"\x80\x04N.");
    insta::assert_snapshot!(sandbox.tract(&["import", "graph.sqlite"]));
}

/// What threads hold of which changes alone are kept, or of which a step did not end: as their framework says.
#[test]
fn threads_of_langgraph_hold_what_their_graph_says() {
    let sandbox = Sandbox::empty();
    let path = sandbox.work().join("graph.sqlite");
    let tables = include_str!("../../../data/langgraph-states/threads.sql");
    drop(rows_of(&path, tables, &[]));
    let states = include_str!("../../../data/langgraph-states/states.json");
    let states: Value = serde_json::from_str(states).expect("JSON");
    let said = |revision: &str| -> Vec<Value> {
        let request = sandbox.ok(&["compile", "--format", "openai", revision]);
        let request: Value = serde_json::from_str(&request).expect("JSON");
        let messages = listed(&request, "messages").into_iter();
        messages.map(|message| message["content"].clone()).collect()
    };
    insta::assert_snapshot!(sandbox.tract(&["import", "graph.sqlite"]));
    for (thread, ways) in states.as_object().expect("threads") {
        for (at, way) in ways.as_array().expect("ways").iter().enumerate() {
            let session = format!("refs/sessions/langgraph/{thread}");
            let name = match at {
                0 => session,
                at => format!("{session}/leaf-{at}"),
            };
            assert_eq!(&Value::from(said(&name)), way, "{name}");
        }
    }
    // A step that ends is the same step.
    let open = Connection::open(&path).expect("there");
    let ends = "INSERT INTO checkpoints SELECT 'crashed', '', substr(checkpoint_id, 1, 7) || 'f' || substr(checkpoint_id, 9),
          checkpoint_id, 'json', '{\"ts\": \"2026-12-01T08:00:00+00:00\", \"channel_versions\": {\"messages\": 9}}', metadata
        FROM checkpoints WHERE thread_id = 'crashed' ORDER BY checkpoint_id DESC LIMIT 1";
    assert_eq!(open.execute(ends, []).expect("written"), 1);
    let ended = sandbox.ok(&["import", "graph.sqlite"]);
    assert!(!ended.contains("anew"), "{ended}");
    let crashed = said("refs/sessions/langgraph/crashed");
    assert_eq!(Value::from(crashed), states["crashed"][0]);
    // What stands in a channel beside the messages is said to be left out.
    let beside = "INSERT INTO checkpoints VALUES ('beside', '', '1', NULL, 'json', json_object('channel_values', json_object(
        'messages', json_array(json_object('class', 'HumanMessage', 'kwargs', json_object('content', 'Hello.', 'id', 'a'))),
        'hints', json_array(json_object('class', 'HumanMessage', 'kwargs', json_object('content', 'Hello.', 'id', 'a')),
            json_object('class', 'SystemMessage', 'kwargs', json_object('content', 'Be brief.', 'id', 'b'))))), '{}')";
    assert_eq!(open.execute(beside, []).expect("written"), 1);
    insta::assert_snapshot!(sandbox.tract(&["import", "-v", "graph.sqlite/beside"]));
}

/// A graph inside another one: what it shares is there already, what it says of its own is a session which the other began.
#[test]
fn graphs_inside_a_thread_of_langgraph_are_its_agents() {
    let sandbox = Sandbox::empty();
    let path = sandbox.work().join("graph.sqlite");
    let open = rows_of(
        &path,
        "CREATE TABLE checkpoints (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
           parent_checkpoint_id TEXT, type TEXT, checkpoint BLOB, metadata BLOB,
           PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id));
         CREATE TABLE writes (thread_id TEXT NOT NULL, checkpoint_ns TEXT NOT NULL DEFAULT '', checkpoint_id TEXT NOT NULL,
           task_id TEXT NOT NULL, idx INTEGER NOT NULL, channel TEXT NOT NULL, type TEXT, value BLOB);",
        &[],
    );
    let put = |space: &str, id: &str, parent: Option<&str>, said: &[&str]| {
        let message = |text: &&str| {
            let class = if text.ends_with('?') {
                "HumanMessage"
            } else {
                "AIMessage"
            };
            json!({"class": class, "kwargs": {"content": text, "id": text}})
        };
        let messages: Vec<Value> = said.iter().map(message).collect();
        let state =
            json!({"ts": "2026-03-02T08:01:00+00:00", "channel_values": {"messages": messages}});
        let add = "INSERT INTO checkpoints VALUES ('mill', ?1, ?2, ?3, 'json', ?4, '{}')";
        let row = params![space, id, parent, state.to_string()];
        open.execute(add, row).expect("written");
    };
    put("", "1", None, &["Is the cellar dry?"]);
    put("shared:a", "2", None, &["Is the cellar dry?"]);
    put("look", "3", None, &["Water?"]);
    put("look|ask:c", "4", None, &["Who knows?", "The miller."]);
    put("look", "5", Some("3"), &["Water?", "None."]);
    put("", "6", Some("1"), &["Is the cellar dry?", "It is."]);
    let said = |session: &str| -> Vec<Value> {
        let request = sandbox.ok(&[
            "compile",
            "--format",
            "openai",
            &format!("refs/sessions/langgraph/{session}"),
        ]);
        let request: Value = serde_json::from_str(&request).expect("JSON");
        let messages = listed(&request, "messages").into_iter();
        messages.map(|message| message["content"].clone()).collect()
    };
    let first = sandbox.tract(&["import", "-v", "graph.sqlite"]);
    for told in [
        "Imported langgraph mill: 2 messages, 1 sub-agent, on main",
        "1 checkpoint of a graph inside",
        "Imported langgraph look: 2 messages, 1 sub-agent, on main/agent-mill/look",
        "2 messages, on main/agent-mill/look/agent-mill/look-ask-c-",
    ] {
        assert!(first.contains(told), "{told}: {first}");
    }
    assert_eq!(said("mill"), ["Is the cellar dry?", "It is."]);
    assert_eq!(said("mill/look"), ["Water?", "None."]);
    // They go on.
    put(
        "look",
        "7",
        Some("5"),
        &["Water?", "None.", "Rats?", "Two."],
    );
    put(
        "",
        "8",
        Some("6"),
        &["Is the cellar dry?", "It is.", "And clean?"],
    );
    let then = sandbox.tract(&["import", "graph.sqlite"]);
    for told in [
        "Updated langgraph mill: 1 new commit",
        "Updated langgraph look: 2 new commits",
    ] {
        assert!(then.contains(told), "{told}: {then}");
    }
    assert_eq!(said("mill/look"), ["Water?", "None.", "Rats?", "Two."]);
}

#[test]
fn chats_of_cursor_come_in_from_both_of_its_databases() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let [composer, tab] = [
        include_str!("../../../data/cursor/composer.json"),
        include_str!("../../../data/cursor/tab.json"),
    ]
    .map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let tables = "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
         CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);";
    // A workspace's: its chats whole, and of its composers no more than which there are.
    let mut chat = tab["cursor_chat"].clone();
    chat["bubbles"] = tab["bubbles"].clone();
    let id = composer["cursor_chat"]["composerId"]
        .as_str()
        .expect("an id");
    let items = [
        json!({"key": "workbench.panel.aichat.view.aichat.chatdata", "value": {"tabs": [chat]}}),
        json!({"key": "composer.composerData", "value": {"allComposers": [{"composerId": id}]}}),
    ];
    let workspace = sandbox.work().join("workspace.vscdb");
    drop(rows_of(&workspace, tables, &[("ItemTable", &items)]));
    // The one for all: a row for each bubble.
    let bubbles = listed(&composer, "bubbles");
    let mut about = composer["cursor_chat"].clone();
    let headers = bubbles
        .iter()
        .map(|it| json!({"bubbleId": it["bubbleId"], "type": it["type"]}));
    about["fullConversationHeadersOnly"] = headers.collect();
    let mut rows = vec![
        json!({"key": format!("composerData:{id}"), "value": about}),
        json!({"key": "composerData:empty", "value": {"composerId": "empty", "fullConversationHeadersOnly": []}}),
        json!({"key": "composerData:spoilt", "value": "{"}),
    ];
    rows.extend(bubbles.iter().map(|it| {
        let bubble = it["bubbleId"].as_str().expect("an id");
        json!({"key": format!("bubbleId:{id}:{bubble}"), "value": it})
    }));
    let global = sandbox.work().join("state.vscdb");
    let open = rows_of(&global, tables, &[("cursorDiskKV", &rows)]);
    insta::assert_snapshot!(sandbox.tract(&["import", "workspace.vscdb", "state.vscdb"]));
    // What is put together of the rows says what the fixtures say.
    sandbox.write("composer.json", composer.to_string());
    sandbox.write("tab.json", tab.to_string());
    insta::assert_snapshot!(sandbox.tract(&["import", "composer.json", "tab.json"]));
    // A bubble as bytes, and one that is gone.
    let put = "UPDATE cursorDiskKV SET value = CAST(value AS BLOB) WHERE key LIKE '%:b1'";
    assert_eq!(open.execute(put, []).expect("written"), 1);
    let gone = "DELETE FROM cursorDiskKV WHERE key LIKE '%:b7'";
    assert_eq!(open.execute(gone, []).expect("written"), 1);
    insta::assert_snapshot!(sandbox.tract(&["import", "state.vscdb"]));
    // Another editor's has no chats in it.
    drop(rows_of(
        &sandbox.work().join("other.vscdb"),
        tables,
        &[("ItemTable", &[json!({"key": "theme", "value": "dark"})])],
    ));
    insta::assert_snapshot!(sandbox.tract(&["import", "other.vscdb"]));
}

/// A conversation of Cursor's command line, whose database holds all that goes by a hash.
struct Chat {
    rows: Connection,
    about: Value,
    /// The directory that it ran in, as an address.
    workspace: String,
}

impl Chat {
    fn at(path: &Path, about: Value, workspace: &Path) -> Self {
        let tables = "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
             CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);";
        Self {
            rows: rows_of(path, tables, &[]),
            about,
            workspace: format!("file://{}", workspace.display()),
        }
    }

    /// Keeps bytes by a name that stands for their hash.
    fn keep(&self, number: usize, bytes: &[u8]) -> Vec<u8> {
        let id: Vec<u8> = (0..32).map(|at| (number * 37 + at) as u8).collect();
        let name: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let put = "INSERT OR REPLACE INTO blobs VALUES (?, ?)";
        self.rows.execute(put, params![name, bytes]).expect("kept");
        id
    }

    /// A field of a record, with its length.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let (number, mut length) = (u64::from(number) << 3 | 2, bytes.len());
        let mut field = vec![number as u8];
        while length > 0x7f {
            field.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        field.push(length as u8);
        [&field, bytes].concat()
    }

    /// Has these messages stand now, behind what summaries stand for.
    fn stand(&mut self, messages: &[Vec<u8>], archives: &[Vec<u8>]) {
        let mut state: Vec<u8> = messages.iter().flat_map(|id| Self::field(1, id)).collect();
        // How many tokens there are.
        state.extend([0x2a, 4, 0x08, 0xac, 0x02, 0]);
        state.extend(Self::field(9, self.workspace.as_bytes()));
        state.extend([0x50, 1]);
        state.extend(archives.iter().flat_map(|id| Self::field(13, id)));
        let root = self.keep(1_000 + state.len(), &state);
        let root: String = root.iter().map(|byte| format!("{byte:02x}")).collect();
        self.about["latestRootBlobId"] = root.into();
        let digits: String = self
            .about
            .to_string()
            .bytes()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let put = "INSERT OR REPLACE INTO meta VALUES ('0', ?)";
        self.rows.execute(put, [digits]).expect("kept");
    }
}

#[test]
fn conversations_of_cursors_command_line_come_in_as_the_model_has_them() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let text = include_str!("../../../data/cursor-cli/chat.json");
    let fixture: Value = serde_json::from_str(text).expect("JSON");
    let mut about = fixture["cursor_agent"].clone();
    about.as_object_mut().expect("one").remove("workspace");
    about["blobEncryptionKey"] = "k3y".into();
    let id = about["agentId"].as_str().expect("an id").to_owned();
    let folder = sandbox.home().join(".cursor/chats/0f0f").join(&id);
    let mut chat = Chat::at(&folder.join("store.db"), about, &sandbox.work());
    let messages = listed(&fixture, "messages");
    let ids: Vec<Vec<u8>> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| chat.keep(at, message.to_string().as_bytes()))
        .collect();
    let place = folder.join("store.db").to_string_lossy().into_owned();
    let import = || sandbox.tract(&["import", &place]).replace(&place, "STORE");
    // Before anything was summed up.
    chat.stand(&ids[..5], &[]);
    // It is the session of this directory.
    insta::assert_snapshot!(sandbox.tract(&["import"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "5e0f0c1e"]));
    chat.stand(&ids[..7], &[]);
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    // A summary, what it stands for, and what was said since.
    let mut archive: Vec<u8> = ids[2..7].iter().flat_map(|id| Chat::field(1, id)).collect();
    archive.extend(Chat::field(2, b"12 sacks."));
    archive.extend(Chat::field(4, &ids[7]));
    let archive = chat.keep(500, &archive);
    let now: Vec<Vec<u8>> = ids[..2].iter().chain(&ids[7..]).cloned().collect();
    chat.stand(&now, std::slice::from_ref(&archive));
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    insta::assert_snapshot!(sandbox.tract(&["log", "--oneline"]));
    // The key that is beside it is not kept.
    let kept = || sandbox.query("SELECT fingerprint FROM sources ORDER BY id");
    let before = kept();
    chat.about["blobEncryptionKey"] = "0th3r".into();
    chat.stand(&now, std::slice::from_ref(&archive));
    insta::assert_snapshot!(import());
    assert_eq!(kept(), before);
    // What is put together of the rows says what the fixture says.
    sandbox.write("chat.json", text);
    insta::assert_snapshot!(sandbox.tract(&["import", "chat.json"]));
    // One that is gone is named; and a database in which nothing was said has no conversation.
    let gone = "DELETE FROM blobs WHERE data LIKE '%Oak.%'";
    assert_eq!(chat.rows.execute(gone, []).expect("gone"), 1);
    insta::assert_snapshot!(import());
    chat.stand(&[], &[]);
    insta::assert_snapshot!(import());
}

#[test]
fn threads_of_zed_come_in_from_their_database() {
    let sandbox = Sandbox::new();
    let thread: Value =
        serde_json::from_str(include_str!("../../../data/zed/thread.json")).expect("JSON");
    let path = sandbox.home().join(".local/share/zed/threads/threads.db");
    let tables = "CREATE TABLE threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,
           data_type TEXT NOT NULL, data BLOB NOT NULL);
         ALTER TABLE threads ADD COLUMN parent_id TEXT;
         ALTER TABLE threads ADD COLUMN folder_paths TEXT;
         ALTER TABLE threads ADD COLUMN folder_paths_order TEXT;
         ALTER TABLE threads ADD COLUMN created_at TEXT;";
    let open = rows_of(&path, tables, &[]);
    let put = |id: &str, parent: Option<&str>, minute: u32, kind: &str, data: &[u8]| {
        let add =
            "INSERT OR REPLACE INTO threads VALUES (?1, 'Sacks', ?2, ?3, ?4, ?5, ?6, '0', ?2)";
        let time = format!("2026-03-02T08:{minute}:00+00:00");
        let row = params![id, time, kind, data, parent, "/home/mara/mill"];
        open.execute(add, row).expect("written");
    };
    let packed =
        |thread: &Value| zstd::encode_all(thread.to_string().as_bytes(), 3).expect("packed");
    // As it was before its last turn.
    let mut shorter = thread.clone();
    shorter["messages"]
        .as_array_mut()
        .expect("messages")
        .truncate(4);
    put(
        "child",
        Some("one"),
        11,
        "json",
        include_bytes!("../../../data/zed/older.json"),
    );
    put("one", None, 12, "zstd", &packed(&shorter));
    put("spoilt", None, 13, "zstd", b"no frame");
    put(
        "draft",
        None,
        14,
        "zstd",
        &packed(&json!({"title": "", "messages": [], "version": "0.3.0"})),
    );
    let before = files(&path);
    insta::assert_snapshot!(sandbox.tract(&["import", "--all", "--list"]));
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]));
    assert_eq!(files(&path), before, "as it was");
    let short = history(&sandbox, "zed", "one");
    insta::assert_snapshot!(sandbox.tract(&["log", "refs/sessions/zed/child"]));
    // It goes on where it was, whatever was summed up since.
    put("one", None, 15, "zstd", &packed(&thread));
    insta::assert_snapshot!(sandbox.tract(&["import", path.to_str().expect("text")]));
    let long = history(&sandbox, "zed", "one");
    assert!(long.ends_with(&short), "{short}{long}");
    insta::assert_snapshot!(sandbox.tract(&["compile", "refs/sessions/zed/one"]));
    // A thread in a file of its own says the same.
    sandbox.write("thread.json", thread.to_string());
    sandbox.ok(&["import", "thread.json"]);
    assert_eq!(history(&sandbox, "zed", "thread"), long);
    // A thread has its newest model alone, whichever made the replies before.
    let mut other = thread.clone();
    other["model"]["model"] = json!("gpt-5");
    put("one", None, 16, "zstd", &packed(&other));
    let again = sandbox.tract(&["import", &format!("{}/one", path.display())]);
    assert!(
        again.contains("Nothing new in zed \"Sacks in the mill\""),
        "{again}"
    );
}

/// Rows with these columns of each in place of others.
fn without(rows: &[Value], left_out: &[&str]) -> Vec<Value> {
    let mut rows = rows.to_vec();
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.retain(|key, _| !left_out.contains(&key.as_str()));
    }
    rows
}

#[test]
fn conversations_of_llm_come_in_from_both_kinds_of_its_tables() {
    let sandbox = Sandbox::empty();
    sandbox.ok(&["init"]);
    let [older, newer] = [
        include_str!("../../../data/llm/replies.json"),
        include_str!("../../../data/llm/tree.json"),
    ]
    .map(|text| serde_json::from_str::<Value>(text).expect("JSON"));
    let tables = "CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
         CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, options_json TEXT, response TEXT,
           response_json TEXT, conversation_id TEXT, duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER,
           output_tokens INTEGER, schema_id TEXT, reasoning TEXT);
         CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
         CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, \"order\" INTEGER);
         CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT);
         CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, \"order\" INTEGER);
         CREATE TABLE system_fragments (response_id TEXT, fragment_id INTEGER, \"order\" INTEGER);
         CREATE TABLE tools (id INTEGER PRIMARY KEY, hash TEXT, name TEXT, description TEXT, input_schema TEXT);
         CREATE TABLE tool_responses (tool_id INTEGER, response_id TEXT);
         CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, arguments TEXT,
           tool_call_id TEXT);
         CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, tool_id INTEGER, name TEXT, output TEXT,
           tool_call_id TEXT, exception TEXT);
         CREATE TABLE schemas (id TEXT PRIMARY KEY, content TEXT);
         CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
         CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT,
           payload TEXT);
         CREATE TABLE part_attachments (part_id INTEGER, attachment_id TEXT, \"order\" INTEGER);
         CREATE TABLE part_fragments (part_id INTEGER, fragment_id INTEGER, \"order\" INTEGER);
         CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
         CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT, model TEXT,
           resolved_model TEXT, options_json TEXT, schema_id TEXT, input_tokens INTEGER, output_tokens INTEGER,
           duration_ms INTEGER, datetime_utc TEXT, response_json TEXT);
         CREATE TABLE turn_tools (turn_id TEXT, tool_id INTEGER, instance_id INTEGER);";
    let replies = listed(&older, "responses");
    let messages = listed(&newer, "messages");
    let all = |list: &[Value], key: &str| -> Vec<Value> {
        let found = list.iter().filter_map(|it| it[key].as_array());
        found.flatten().cloned().collect()
    };
    let pairs = |list: &[Value], key: &str, of: &str, to: &str| -> Vec<Value> {
        let pair = |row: &Value, (at, it): (usize, &Value)| json!({of: row["id"], to: it["id"], "order": at});
        let pairs = list.iter().flat_map(|row| {
            let found = row[key].as_array().into_iter().flatten().enumerate();
            found.map(move |it| pair(row, it))
        });
        pairs.collect()
    };
    let parts = messages.iter().flat_map(|message| {
        let parts = message["parts"]
            .as_array()
            .expect("a list")
            .iter()
            .enumerate();
        parts.map(|(at, part)| {
            let mut part = part.clone();
            part["message_hash"] = message["hash"].clone();
            part["position"] = at.into();
            part
        })
    });
    let mut parts: Vec<Value> = parts.collect();
    for (number, part) in (1..).zip(&mut parts) {
        part["id"] = number.into();
    }
    let offered = |list: &[Value], of: &str| -> Vec<Value> {
        let with = list.iter().filter(|row| row["tools"].is_array());
        with.map(|row| json!({"tool_id": 1, of: row["id"]}))
            .collect()
    };
    let turns = listed(&newer, "turns");
    let attached = [all(&replies, "attachments"), all(&parts, "attachments")].concat();
    let mut texts = all(&replies, "fragments");
    texts.extend(
        replies[0]["system_fragments"]
            .as_array()
            .expect("some")
            .clone(),
    );
    texts.extend(all(&parts, "fragments"));
    let beside = [
        "fragments",
        "system_fragments",
        "attachments",
        "tools",
        "tool_calls",
        "tool_results",
        "schema",
        "parts",
    ];
    let rows: [(&str, &[Value]); 18] = [
        ("conversations", &[older["llm_conversation"].clone()]),
        ("responses", &without(&replies, &beside)),
        ("attachments", &without(&attached, &["content"])),
        (
            "prompt_attachments",
            &pairs(&replies, "attachments", "response_id", "attachment_id"),
        ),
        ("fragments", &texts),
        (
            "prompt_fragments",
            &pairs(&replies, "fragments", "response_id", "fragment_id"),
        ),
        (
            "system_fragments",
            &pairs(&replies, "system_fragments", "response_id", "fragment_id"),
        ),
        ("tools", &listed(&older, "tools")),
        ("tool_responses", &offered(&replies, "response_id")),
        ("tool_calls", &all(&replies, "tool_calls")),
        ("tool_results", &all(&replies, "tool_results")),
        (
            "schemas",
            &[json!({"id": "s1", "content": {"type": "object"}})],
        ),
        ("messages", &without(&messages, &beside)),
        ("parts", &without(&parts, &beside)),
        (
            "part_attachments",
            &pairs(&parts, "attachments", "part_id", "attachment_id"),
        ),
        (
            "part_fragments",
            &pairs(&parts, "fragments", "part_id", "fragment_id"),
        ),
        ("threads", &[newer["llm_conversation"].clone()]),
        ("turns", &without(&turns, &beside)),
    ];
    let path = sandbox.home().join(".config/io.datasette.llm/logs.db");
    let open = rows_of(&path, tables, &rows);
    for row in offered(&turns, "turn_id") {
        let turn = row["turn_id"].as_str().expect("a turn");
        let add = "INSERT INTO turn_tools VALUES (?1, 1, NULL)";
        open.execute(add, [turn]).expect("written");
    }
    let bytes = attached[0]["content"]["base64"].as_str().expect("some");
    let bytes = tract::model::Media {
        media_type: None,
        name: None,
        detail: None,
        source: tract::model::MediaSource::Base64(bytes.to_owned()),
    };
    let put = "UPDATE attachments SET content = ?1 WHERE id = 'a1'";
    open.execute(put, [bytes.bytes().expect("base64")])
        .expect("written");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
    // What is put together of the rows says what the fixtures say.
    sandbox.write("replies.json", older.to_string());
    sandbox.write("tree.json", newer.to_string());
    insta::assert_snapshot!(sandbox.tract(&["import", "replies.json", "tree.json"]));
    let add = "INSERT INTO messages VALUES ('b2:h', 'b2:g', 'user', NULL);
         INSERT INTO parts VALUES (100, 'b2:h', 0, 'text', NULL, 'Thanks.', NULL);
         INSERT INTO messages VALUES ('b2:i', 'b2:h', 'assistant', NULL);
         INSERT INTO parts VALUES (101, 'b2:i', 0, 'text', NULL, 'Gladly.', NULL);
         INSERT INTO turns (id, thread_id, parent_message_hash, tip_message_hash, model, datetime_utc)
           VALUES ('01tree0000000000000000aaaf', '01tree0000000000000000aaaa', 'b2:h', 'b2:i', 'claude-sonnet',
             '2026-03-02T09:05:00+00:00');
         UPDATE threads SET tip_message_hash = 'b2:i';";
    open.execute_batch(add).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["watch", "--once"]));
}

#[test]
fn opencode_goes_on_with_what_its_own_command_takes_in() {
    let sandbox = Sandbox::new();
    let tool = Tool::at_home(&sandbox);
    three(&tool);
    sandbox.ok(&["import", "--all"]);
    let line = sandbox.ok(&["resume", "refs/sessions/opencode/ses_two"]);
    let (import, go_on) = line.trim().split_once(" && ").expect("two commands");
    let file = import.strip_prefix("opencode import ").expect("the first");
    let id = go_on
        .strip_prefix("opencode --session ")
        .expect("the second");
    let written: Value = serde_json::from_slice(&fs::read(file).expect("read")).expect("JSON");
    assert_eq!(written["info"]["id"], id);
    // No row of it has an id that is in the store.
    let ids = |session: &Value| -> Vec<String> {
        let messages = session["messages"].as_array().expect("messages").iter();
        let parts = messages.flat_map(|message| {
            let parts = message["parts"].as_array().expect("parts").iter();
            parts.chain([&message["info"]])
        });
        parts
            .map(|it| it["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    let mut new = ids(&written);
    let count = new.len();
    new.sort();
    new.dedup();
    assert_eq!(new.len(), count);
    let old = ids(&session(HIDDEN, "ses_two", |_| {}));
    assert!(new.iter().all(|id| !old.contains(id)));
    let times: Vec<_> = written["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|it| {
            (
                it["info"]["time"]["created"].as_i64(),
                it["info"]["id"].as_str(),
            )
        })
        .collect();
    assert!(times.is_sorted());
    // Where it is in the store, and has grown, it goes on from the commit that was resumed.
    let before = history(&sandbox, "opencode", "ses_two");
    tool.put(&written);
    tool.put_message(&prompt(id, "On we go.", 1_773_600_000_000));
    sandbox.ok(&["import", "--all"]);
    let after = history(&sandbox, "opencode", id);
    assert_eq!(after.split_once('\n').expect("one more").1, before);
}

#[test]
fn a_session_that_is_as_it_was_is_not_said_to_have_grown() {
    let sandbox = Sandbox::new();
    let tool = Tool::at_home(&sandbox);
    three(&tool);
    sandbox.ok(&["import", "--all"]);
    let told = sandbox.tract(&["import", "--all"]);
    assert!(
        told.contains("2 files are as they were when they came in"),
        "{told}"
    );
    assert!(!told.contains("Nothing new"), "{told}");
    let grown = "has grown since";
    let page = || Served::of(&sandbox, &[]).settled("");
    let shown = page();
    assert!(
        shown.contains("opencode") && !shown.contains(grown),
        "{shown}"
    );
    tool.put_message(&prompt("ses_two", "And the door?", 1_772_100_300_000));
    let shown = page();
    assert_eq!(shown.matches(grown).count(), 1, "{shown}");
    let told = sandbox.tract(&["import", "--all"]);
    assert!(
        told.contains("Updated opencode") && told.contains("1 other file is as it was"),
        "{told}"
    );
    // What one of them started comes in with it, though that one is as it was.
    tool.put_message(&prompt("ses_three", "And the mill?", 1_772_100_300_001));
    sandbox.ok(&["import", "--all"]);
    assert!(sandbox.ok(&["find", "And the mill?"]).contains("ses_thre"));
}
