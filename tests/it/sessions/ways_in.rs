//! Every way in is one way: whichever brings a session, its sub-agents come with it, and the same is here.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::conditions::{chance, slowly};
use crate::sandbox::Sandbox;
use crate::sessions::codex_files::Rollout;

/// Numbers that a seed gives.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % most
    }

    fn id(&mut self) -> String {
        let (one, two) = (self.below(1 << 31), self.below(1 << 31));
        format!(
            "{one:08x}-{:04x}-4{:03x}-8{:03x}-{two:012x}",
            two % 65_536,
            one % 4_096,
            two % 4_096
        )
    }
}

/// A session's own file, and those of its sub-agents.
struct Session {
    id: String,
    file: String,
    agents: Vec<String>,
}

/// What tools have left: files by their places below the home.
#[derive(Default)]
struct Home {
    files: Vec<(String, String)>,
    sessions: Vec<Session>,
}

/// A conversation of Claude Code's, of so many turns: a session's, or that of an agent of one.
fn claudes(session: &str, agent: Option<&str>, turns: u64, dice: &mut Dice) -> String {
    let mut text = String::new();
    let own = agent.unwrap_or(session);
    for turn in 0..2 * turns {
        let is_user = turn % 2 == 0;
        let role = if is_user { "user" } else { "assistant" };
        let mut record = json!({
            "parentUuid": (turn > 0).then(|| format!("{own}-{}", turn - 1)), "uuid": format!("{own}-{turn}"),
            "isSidechain": agent.is_some(), "sessionId": session, "cwd": "/p/shop", "version": "2.1.219",
            "type": role, "timestamp": format!("2026-09-03T09:{:02}:{:02}.000Z", turn / 60, turn % 60),
            "message": {"role": role, "content": format!("{own} says {turn}")},
        });
        if let Some(agent) = agent {
            record["agentId"] = json!(agent);
        }
        if !is_user {
            record["message"] = json!({
                "id": format!("msg_{own}_{turn}"), "role": role, "model": "claude-opus-4-5-20251101",
                "content": [{"type": "text", "text": format!("{own} answers {turn}")}],
                "usage": {"input_tokens": 10 + dice.below(100), "output_tokens": 1 + dice.below(50)},
            });
        }
        text += &format!("{record}\n");
    }
    text
}

/// A conversation of Gemini CLI's: in lines, or as one document, which says behind its messages what it is.
fn geminis(id: &str, is_agents: bool, is_document: bool, dice: &mut Dice) -> String {
    let user = json!({"id": format!("{id}-1"), "timestamp": "2026-09-03T09:00:01.000Z", "type": "user",
        "content": [{"text": format!("{id} asks")}]});
    let reply = json!({"id": format!("{id}-2"), "timestamp": "2026-09-03T09:00:02.000Z", "type": "gemini",
        "content": format!("{id} answers"), "model": "gemini-2.5-flash",
        "tokens": {"input": 10 + dice.below(100), "output": 1 + dice.below(50)}});
    let mut head = json!({"sessionId": id, "projectHash": "00", "startTime": "2026-09-03T09:00:00.000Z",
        "lastUpdated": "2026-09-03T09:00:02.000Z"});
    let kind = if is_agents { "subagent" } else { "main" };
    if is_document {
        let text = serde_json::to_string_pretty(&json!([user, reply])).expect("JSON");
        let head = serde_json::to_string_pretty(&head).expect("JSON");
        let head = head.trim_end_matches(['}', '\n']);
        return format!("{head},\n  \"messages\": {text},\n  \"kind\": \"{kind}\"\n}}\n");
    }
    head["kind"] = json!(kind);
    format!("{head}\n{user}\n{reply}\n")
}

impl Home {
    fn of(dice: &mut Dice) -> Self {
        let mut home = Self::default();
        for _ in 0..1 + dice.below(3) {
            home.claude(dice);
        }
        for is_document in [false, true] {
            home.gemini(is_document, dice);
        }
        home.qwen();
        home.kimi();
        home.cline();
        home.codex();
        home
    }

    fn put(&mut self, place: String, text: String) -> String {
        self.files.push((place.clone(), text));
        place
    }

    fn claude(&mut self, dice: &mut Dice) {
        let id = dice.id();
        let project = ".claude/projects/-p-shop";
        let turns = 1 + dice.below(4);
        let text = claudes(&id, None, turns, dice);
        let file = self.put(format!("{project}/{id}.jsonl"), text);
        let mut agents = Vec::new();
        for number in 0..dice.below(5) {
            let agent = format!("a{number}{}", &id[..8]);
            let folder = match dice.below(3) {
                0 => format!("{project}/{id}/subagents"),
                1 => format!("{project}/{id}/subagents/workflows/run-{number}"),
                _ => project.to_owned(),
            };
            let text = claudes(&id, Some(&agent), 1 + dice.below(3), dice);
            agents.push(self.put(format!("{folder}/agent-{agent}.jsonl"), text));
        }
        self.put(
            format!("{project}/{id}/subagents/workflows/run-0/journal.jsonl"),
            "{\"event\":\"run_started\"}\n".to_owned(),
        );
        self.put(
            format!("{project}/{id}/tool-results/big.txt"),
            "long".to_owned(),
        );
        self.sessions.push(Session { id, file, agents });
    }

    fn gemini(&mut self, is_document: bool, dice: &mut Dice) {
        let (id, agent) = (dice.id(), dice.id());
        let chats = ".gemini/tmp/shop/chats";
        let ending = if is_document { "json" } else { "jsonl" };
        let text = geminis(&id, false, is_document, dice);
        let file = self.put(
            format!("{chats}/session-2026-09-03T09-00-{}.{ending}", &id[..8]),
            text,
        );
        let text = geminis(&agent, true, is_document, dice);
        let agents = vec![self.put(format!("{chats}/{id}/{agent}.{ending}"), text)];
        self.sessions.push(Session { id, file, agents });
    }

    fn qwen(&mut self) {
        const ID: &str = "8b1d2c3b-0000-4000-8000-000000000021";
        let project = ".qwen/projects/-home-mara-pantry";
        let text = include_str!("../../data/qwen/plain.jsonl").to_owned();
        let file = self.put(format!("{project}/chats/{ID}.jsonl"), text);
        let text = include_str!("../../data/qwen/agent.jsonl").to_owned();
        let agent = self.put(format!("{project}/subagents/{ID}/agent-look-1.jsonl"), text);
        let (id, agents) = (ID.to_owned(), vec![agent]);
        self.sessions.push(Session { id, file, agents });
    }

    fn kimi(&mut self) {
        let place = ".kimi-code/sessions/wd_mill_0123456789ab/session_1/agents";
        let text = include_str!("../../data/kimi/plain.jsonl").to_owned();
        let file = self.put(format!("{place}/main/wire.jsonl"), text);
        let text = include_str!("../../data/kimi/hidden.jsonl").to_owned();
        let agents = vec![self.put(format!("{place}/agent-7/wire.jsonl"), text)];
        self.sessions.push(Session {
            id: "session_1".to_owned(),
            file,
            agents,
        });
    }

    fn cline(&mut self) {
        const ID: &str = "1793000000000_mill1";
        let place = format!(".cline/data/sessions/{ID}");
        macro_rules! text {
            ($name:literal) => {
                include_str!(concat!("../../data/cline-cli/1793000000000_mill1/", $name)).to_owned()
            };
        }
        // A hook's answer must hold no error.
        let text = text!("1793000000000_mill1.messages.json").replace("error", "fault");
        let file = self.put(format!("{place}/{ID}.messages.json"), text);
        let text = text!("1793000000000_mill1.json");
        self.put(format!("{place}/{ID}.json"), text);
        let text = text!("1793000000000_mill1.compaction.json").replace("error", "fault");
        self.put(format!("{place}/{ID}.compaction.json"), text);
        let (name, text) = (
            "agent_1793000004100_scout.messages.json",
            text!("agent_1793000004100_scout.messages.json"),
        );
        let agents = vec![self.put(format!("{place}/{name}"), text)];
        let id = ID.to_owned();
        self.sessions.push(Session { id, file, agents });
    }

    /// A session that was put away.
    fn codex(&mut self) {
        const ID: &str = "01a1fe4f-33f9-7941-9c3c-4fe4330026ba";
        let rollout = Rollout::new(ID).turn("one", "first");
        let name = rollout.name(1);
        let name = name.rsplit('/').next().expect("a name");
        let file = self.put(format!(".codex/archived_sessions/{name}"), rollout.text());
        let (id, agents) = (ID.to_owned(), Vec::new());
        self.sessions.push(Session { id, file, agents });
    }

    /// A sandbox with this home, and a repository.
    fn sandbox(&self) -> Sandbox {
        let sandbox = Sandbox::new();
        for (place, text) in &self.files {
            let path = sandbox.home().join(place);
            fs::create_dir_all(path.parent().expect("it has one")).expect("made");
            fs::write(path, text).expect("written");
        }
        sandbox
    }
}

/// The refs of sessions with their commits, and what each agent has cost.
fn state(sandbox: &Sandbox) -> (Vec<String>, String) {
    let rows = sandbox.query("SELECT r.name, c.hash FROM refs r JOIN commits c ON c.id = r.target");
    let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
    rows.retain(|row| row.contains("refs/sessions/"));
    rows.sort();
    let cost = sandbox.ok(&["cost", "--by", "agent"]);
    let mut lines: Vec<&str> = cost.lines().collect();
    lines.sort_unstable();
    (rows, lines.join("\n"))
}

/// Calls a hook of a client's.
fn hook(sandbox: &Sandbox, command: &[&str], event: &str, session: &Path, agent: Option<&Path>) {
    let told = json!({
        "transcript_path": session, "agent_transcript_path": agent, "cwd": sandbox.work(), "hook_event_name": event,
    });
    let told = sandbox.tract_with(command, told.to_string());
    assert!(!told.contains("error"), "{told}");
}

/// One way in: what brings all of a home.
type Way = fn(&Sandbox, &Home);

const WAYS: [(&str, Way); 9] = [
    ("watch", |sandbox, _| {
        sandbox.ok(&["watch", "--once"]);
    }),
    ("all", |sandbox, _| {
        sandbox.ok(&["import", "--all"]);
    }),
    ("all, some of which is here", |sandbox, home| {
        let first = path(sandbox, &home.sessions[0].file);
        sandbox.ok(&["import", &first.display().to_string()]);
        sandbox.ok(&["import", "--all"]);
    }),
    ("files", |sandbox, home| {
        for session in &home.sessions {
            let file = path(sandbox, &session.file);
            sandbox.ok(&["import", &file.display().to_string()]);
        }
    }),
    ("ids", |sandbox, home| {
        for session in &home.sessions {
            sandbox.ok(&["import", &session.id]);
        }
    }),
    ("a folder", |sandbox, _| {
        let home = sandbox.home().display().to_string();
        sandbox.ok(&["import", &home]);
    }),
    ("hooks", |sandbox, home| {
        for session in &home.sessions {
            let file = path(sandbox, &session.file);
            for agent in &session.agents {
                let agent = path(sandbox, agent);
                hook(
                    sandbox,
                    &["import", "--hook"],
                    "SubagentStop",
                    &file,
                    Some(&agent),
                );
            }
            hook(sandbox, &["import", "--hook"], "SessionEnd", &file, None);
        }
    }),
    ("guards", |sandbox, home| {
        for session in &home.sessions {
            let file = path(sandbox, &session.file);
            hook(sandbox, &["guard", "--hook"], "PreCompact", &file, None);
        }
    }),
    ("an agent's door", |sandbox, home| {
        for session in &home.sessions {
            asks(sandbox, &session.id);
        }
    }),
];

fn path(sandbox: &Sandbox, place: &str) -> PathBuf {
    sandbox.home().join(place)
}

/// A client of this session asks for its memory.
fn asks(sandbox: &Sandbox, id: &str) {
    let client = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "recall", "arguments": {"query": "answers"}, "_meta": {"sessionId": id}}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let told = sandbox.tract_with(&["mcp"], lines);
    let answer = told
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .next_back();
    assert!(answer.is_some_and(|answer| answer["id"] == 2), "{told}");
}

#[test]
fn all_ways_in_bring_the_same() {
    for number in 0..slowly(32) as u64 {
        let seed = chance().wrapping_add(number);
        let home = Home::of(&mut Dice(seed));
        let mut first: Option<(&str, (Vec<String>, String))> = None;
        for (name, way) in WAYS {
            let sandbox = home.sandbox();
            way(&sandbox, &home);
            let state = state(&sandbox);
            let count: usize = home.sessions.iter().map(|it| 1 + it.agents.len()).sum();
            assert_eq!(state.0.len(), count, "seed {seed}, {name}: {:#?}", state.0);
            match &first {
                None => first = Some((name, state)),
                Some((known, expected)) => {
                    assert_eq!(state, *expected, "seed {seed}: {name} and {known}")
                }
            }
        }
    }
}

/// A session with two sub-agents, one of them of a workflow, and one beside the session's file, as older versions have it.
fn with_agents() -> (Sandbox, Home) {
    const ID: &str = "9e2434f3-0000-4000-8000-000000000001";
    let (mut home, mut dice) = (Home::default(), Dice(1));
    let project = ".claude/projects/-p-shop";
    let text = claudes(ID, None, 2, &mut dice);
    let file = home.put(format!("{project}/{ID}.jsonl"), text);
    let places = [
        format!("{project}/{ID}/subagents/agent-one.jsonl"),
        format!("{project}/{ID}/subagents/workflows/run-1/agent-two.jsonl"),
        format!("{project}/agent-three.jsonl"),
    ];
    let agents = places.into_iter().zip(["one", "two", "three"]);
    let agents: Vec<String> = agents
        .map(|(place, name)| {
            let text = claudes(ID, Some(name), 1, &mut dice);
            home.put(place, text)
        })
        .collect();
    home.sessions.push(Session {
        id: ID.to_owned(),
        file,
        agents,
    });
    (home.sandbox(), home)
}

#[test]
fn the_line_of_a_session_tells_of_its_sub_agents() {
    let (sandbox, home) = with_agents();
    let file = path(&sandbox, &home.sessions[0].file);
    let name = file.display().to_string();
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Imported claude-code 9e2434f3-0000: 4 messages, 3 sub-agents, on main
      not in the file              system prompt, tool definitions
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Nothing new in claude-code 9e2434f3-0000: 4 messages, 3 sub-agents
    ");
    let agent = path(&sandbox, &home.sessions[0].agents[1]);
    let text = fs::read_to_string(&agent).expect("read");
    let more = text
        .replace("two-", "more-")
        .replace("msg_two", "msg_more")
        .replace("\"parentUuid\":null", "\"parentUuid\":\"two-1\"");
    fs::write(&agent, format!("{text}{more}")).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["import", &name]), @r"
    --- stderr
    Updated claude-code 9e2434f3-0000: 4 messages, 3 sub-agents (2 new commits)
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "--all"]), @r"
    --- stderr
    4 files are as they were when they came in
    ");
    // What is a sub-agent's own is told of where it is asked for.
    insta::assert_snapshot!(sandbox.tract(&["import", &agent.display().to_string()]), @r"
    --- stderr
    Nothing new in claude-code agent-two: 4 messages
    ");
    insta::assert_snapshot!(sandbox.tract(&["import", "-v", &name]), @r"
    --- stderr
    Nothing new in claude-code 9e2434f3-0000: 4 messages, 3 sub-agents
      not in the file              system prompt, tool definitions
    Nothing new in claude-code agent-one: 2 messages
      not in the file              system prompt, tool definitions
    Nothing new in claude-code agent-two: 4 messages
      not in the file              system prompt, tool definitions
    Nothing new in claude-code agent-three: 2 messages
      not in the file              system prompt, tool definitions
    ");
}

/// A tool's home has files of other kinds, which are newer than its sessions at times.
#[test]
fn head_is_on_the_newest_session_whatever_lies_beside_it() {
    let (sandbox, home) = with_agents();
    let folder = path(&sandbox, ".claude");
    fs::write(folder.join("history.jsonl"), "{\"display\":\"hi\"}\n").expect("written");
    sandbox.ok(&["import", &folder.display().to_string()]);
    let heads = sandbox.ok(&["branch"]);
    assert_eq!(heads.lines().count(), 4, "{heads}");
    let id = &home.sessions[0].id;
    let log = sandbox.ok(&["log", "-1"]);
    let is_sessions = |line: &str| line.contains(&format!("claude-code/{id})"));
    assert!(log.lines().any(is_sessions), "{log}");
}

#[test]
fn what_is_wrong_in_a_sub_agents_file_is_told() {
    let (sandbox, home) = with_agents();
    let file = path(&sandbox, &home.sessions[0].file);
    let agent = path(&sandbox, &home.sessions[0].agents[0]);
    let text = fs::read_to_string(&agent).expect("read");
    fs::write(&agent, format!("{{\"cut\n{text}")).expect("written");
    insta::assert_snapshot!(sandbox.tract(&["import", &file.display().to_string()]), @r"
    exit code: 3
    --- stderr
    Imported claude-code 9e2434f3-0000: 4 messages, 3 sub-agents, on main
      not in the file              system prompt, tool definitions
    problem: ~/.claude/projects/-p-shop/9e2434f3-0000-4000-8000-000000000001/subagents/agent-one.jsonl:1: bad JSON at column 5: EOF while parsing a string
    ");
}

#[test]
fn a_file_that_lies_elsewhere_brings_nothing_that_lies_around_it() {
    let sandbox = Sandbox::new();
    let (mut home, mut dice) = (Home::default(), Dice(1));
    home.claude(&mut dice);
    home.gemini(true, &mut dice);
    home.qwen();
    home.kimi();
    home.cline();
    home.codex();
    // A folder for each tool, with others beside it.
    for (number, session) in home.sessions.iter().enumerate() {
        let (place, text) = home
            .files
            .iter()
            .find(|(place, _)| *place == session.file)
            .expect("it is there");
        let name = place.rsplit('/').next().expect("a name");
        sandbox.write(&format!("kept/{number}/{name}"), text);
        sandbox.write(
            &format!("kept/{number}/other.json"),
            r#"[{"role":"user","content":"hi"}]"#,
        );
    }
    for number in 0..home.sessions.len() {
        let folder = fs::read_dir(sandbox.work().join(format!("kept/{number}"))).expect("read");
        let files = folder.map(|file| file.expect("read").path());
        let file = files
            .filter(|path| !path.ends_with("other.json"))
            .last()
            .expect("one");
        sandbox.ok(&["import", &file.display().to_string()]);
        let names = sandbox.texts("SELECT name FROM refs WHERE name LIKE 'refs/sessions/%'");
        let own = names.iter().filter(|name| !name.contains("leaf-"));
        assert_eq!(own.count(), number + 1, "{names:?}");
    }
}

/// The name of a directory's folder, as Claude Code makes it.
fn slug(directory: &Path) -> String {
    let name = directory.to_string_lossy().into_owned();
    name.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// A session of Claude Code's in a folder of that name, which ran in a directory.
fn ran(sandbox: &Sandbox, folder: &str, id: &str, directory: &Path) -> PathBuf {
    let text = claudes(id, None, 1, &mut Dice(1));
    let text = text.replace("/p/shop", &directory.to_string_lossy());
    // What the client writes first says no directory.
    let text = format!("{{\"type\":\"mode\",\"mode\":\"default\",\"sessionId\":\"{id}\"}}\n{text}");
    let path = sandbox
        .home()
        .join(format!(".claude/projects/{folder}/{id}.jsonl"));
    fs::create_dir_all(path.parent().expect("it has one")).expect("made");
    fs::write(&path, text).expect("written");
    path
}

const IDS: [&str; 3] = [
    "0a000000-0000-4000-8000-000000000001",
    "0b000000-0000-4000-8000-000000000002",
    "0c000000-0000-4000-8000-000000000003",
];

/// What a command says in a directory.
fn said_in(sandbox: &Sandbox, directory: &Path, arguments: &[&str]) -> String {
    let output = sandbox.command(arguments).current_dir(directory).output();
    sandbox.told(&output.expect("the program runs"))
}

#[test]
fn directories_whose_names_come_to_one_folder_have_each_their_own_sessions() {
    let sandbox = Sandbox::empty();
    let work = fs::canonicalize(sandbox.work()).expect("it is there");
    let [one, other, moved] = ["x-y/z", "x/y-z", "moved"].map(|name| work.join(name));
    let folder = slug(&one);
    assert_eq!(folder, slug(&other));
    for directory in [&one, &other, &moved] {
        fs::create_dir_all(directory).expect("made");
    }
    ran(&sandbox, &folder, IDS[0], &one);
    ran(&sandbox, &folder, IDS[1], &other);
    // A directory that was moved, and the folder with it.
    ran(&sandbox, &slug(&moved), IDS[2], Path::new("/where/it/was"));
    for (directory, id) in [(&one, IDS[0]), (&other, IDS[1]), (&moved, IDS[2])] {
        let listed = said_in(&sandbox, directory, &["import", "--list"]);
        let ids = IDS.iter().filter(|id| listed.contains(&id[..8]));
        assert_eq!(ids.collect::<Vec<_>>(), [&id], "{listed}");
        let last = said_in(&sandbox, directory, &["import", "--last"]);
        assert!(last.contains(&id[..8]), "{last}");
    }
}

#[cfg(unix)]
#[test]
fn links_to_folders_and_to_directories_are_followed() {
    use std::os::unix::fs::symlink;
    let sandbox = Sandbox::new();
    let work = fs::canonicalize(sandbox.work()).expect("it is there");
    // A project's folder that is a link, beside one that leads round.
    let stored = ran(&sandbox, "stored", IDS[0], Path::new("/p/shop"));
    let stored = stored.parent().expect("it has one");
    let projects = sandbox.home().join(".claude/projects");
    fs::rename(stored, work.join("stored")).expect("moved");
    symlink(work.join("stored"), projects.join("-p-shop")).expect("a link");
    symlink(&projects, projects.join("round")).expect("a link");
    // A directory that was moved, with a link in its place.
    let (disk, dev) = (work.join("disk/foo"), work.join("dev"));
    fs::create_dir_all(&disk).expect("made");
    symlink(work.join("disk"), &dev).expect("a link");
    ran(&sandbox, &slug(&dev.join("foo")), IDS[1], &dev.join("foo"));
    let listed = said_in(&sandbox, &disk, &["import", "--list"]);
    assert!(listed.contains("0b000000"), "{listed}");
    assert!(!listed.contains("0a000000"), "{listed}");
    for way in [["import", "--all"], ["watch", "--once"]] {
        let sandbox_of = |sandbox: &Sandbox| sandbox.texts("SELECT name FROM refs");
        said_in(&sandbox, &work, &way);
        let names = sandbox_of(&sandbox);
        let count = |id: &str| {
            names
                .iter()
                .filter(|name| name.contains("refs/sessions") && name.contains(id))
                .count()
        };
        assert_eq!(
            (count("0a000000"), count("0b000000")),
            (1, 1),
            "{way:?}: {names:?}"
        );
    }
    let again = said_in(&sandbox, &work, &["import", "--all"]);
    assert!(again.contains("2 files are as they were"), "{again}");
    let here = said_in(&sandbox, &disk, &["branch", "--here"]);
    assert!(
        here.lines().count() == 1 && here.contains("0b000000"),
        "{here}"
    );
}

#[test]
fn sessions_that_were_ended_or_put_away_are_found() {
    let sandbox = Sandbox::empty();
    let claws = sandbox.home().join(".openclaw/agents/main/sessions");
    fs::create_dir_all(&claws).expect("made");
    let ends = [
        "",
        ".reset.2026-05-04T06-25-26.636Z",
        ".deleted.2026-05-05T06-25-26.636Z",
    ];
    for (id, end) in IDS.iter().zip(ends) {
        let header = json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-05-04T06:00:00.000Z", "cwd": "/w"});
        let text = json!({"role": "user", "content": [{"type": "text", "text": format!("of {id}")}], "timestamp": 1});
        let entry = json!({"type": "message", "id": "e1", "parentId": null, "timestamp": "2026-05-04T06:00:01.000Z", "message": text});
        let model = json!({"type": "custom", "customType": "model-snapshot", "id": "e2", "parentId": "e1", "timestamp": "2026-05-04T06:00:02.000Z", "data": {}});
        let text = format!("{header}\n{entry}\n{model}\n");
        fs::write(claws.join(format!("{id}.jsonl{end}")), text).expect("written");
    }
    fs::write(claws.join("sessions.json"), "{}").expect("written");
    let archived = Rollout::new("01a1fe4f-33f9-7941-9c3c-4fe4330026ba").turn("one", "first");
    let place = sandbox.home().join(".codex/archived_sessions");
    fs::create_dir_all(&place).expect("made");
    let name = archived.name(1);
    fs::write(
        place.join(name.rsplit('/').next().expect("a name")),
        archived.text(),
    )
    .expect("written");
    let listed = sandbox.ok(&["import", "--all", "--list"]);
    assert_eq!(listed.lines().count(), 1 + 4, "{listed}");
    // Each by its id, and all at once.
    for id in IDS.iter().copied().chain(["01a1fe4f-33f9"]) {
        let told = sandbox.tract(&["import", id]);
        assert!(told.contains("Imported"), "{id}: {told}");
    }
    let told = sandbox.tract(&["import", "--all"]);
    assert!(told.contains("4 files are as they were"), "{told}");
    assert!(told.contains("Skipped 1 file"), "{told}");
}

/// OpenClaw writes what it sent beside a session: that is no session, wherever it is met.
#[test]
fn a_trajectory_of_openclaw_is_no_session() {
    let sandbox = Sandbox::empty();
    let folder = sandbox.home().join(".openclaw/agents/main/sessions");
    fs::create_dir_all(&folder).expect("made");
    let session = include_str!("../../data/openclaw/session.jsonl");
    fs::write(folder.join("7.jsonl"), session).expect("written");
    let event = |seq: u32, kind: &str, data: Value| {
        let id = "5e551000-0000-4000-8000-000000000007";
        let event = json!({"traceSchema": "openclaw-trajectory", "schemaVersion": 1, "traceId": id, "source": "runtime",
            "type": kind, "ts": "2026-04-22T08:00:00.000Z", "seq": seq, "sourceSeq": seq, "sessionId": id,
            "runId": "r", "provider": "anthropic", "modelId": "claude-opus-4-5", "modelApi": "anthropic-messages",
            "data": data});
        format!("{event}\n")
    };
    let said = json!([{"role": "user", "content": [{"type": "text", "text": "Count the sacks."}], "timestamp": 1},
        {"role": "assistant", "content": [{"type": "text", "text": "Twelve."}], "timestamp": 2}]);
    let context = json!({"systemPrompt": "You mill.", "prompt": "Count the sacks.", "messages": said,
        "tools": [{"name": "exec", "description": "Runs it.", "parameters": {"type": "object"}}], "imagesCount": 0});
    let trajectory = [
        event(1, "session.started", json!({"trigger": "user"})),
        event(2, "context.compiled", context),
        event(3, "model.completed", json!({"messagesSnapshot": said})),
    ];
    fs::write(folder.join("7.trajectory.jsonl"), trajectory.concat()).expect("written");
    let pointer = json!({"traceSchema": "openclaw-trajectory-pointer", "schemaVersion": 1, "sessionId": "7",
        "runtimeFile": "7.trajectory.jsonl"});
    fs::write(folder.join("7.trajectory-path.json"), pointer.to_string()).expect("written");
    let told = sandbox.tract(&["import", "--all"]);
    assert!(
        told.contains("Skipped 2 files: 2 OpenClaw trajectories"),
        "{told}"
    );
    assert!(
        told.contains("ID.trajectory.jsonl, which is not read"),
        "{told}"
    );
    // By its name, by its folder, and where OPENCLAW_TRAJECTORY_DIR puts it.
    let work = sandbox.work();
    fs::create_dir_all(work.join("traces")).expect("made");
    fs::write(work.join("traces/7.jsonl"), trajectory.concat()).expect("written");
    for part in [0, 1] {
        fs::write(work.join(format!("traces/{part}.jsonl")), &trajectory[part]).expect("written");
        let named = sandbox.tract(&["import", &format!("traces/{part}.jsonl")]);
        assert!(named.contains("exit code: 1"), "{named}");
        assert!(named.contains("an OpenClaw trajectory"), "{named}");
    }
    let named = sandbox.tract(&["import", "traces/7.jsonl"]);
    assert!(named.contains("an OpenClaw trajectory"), "{named}");
    let path = folder.display().to_string();
    let told = sandbox.tract(&["import", &path]);
    assert!(told.contains("Nothing new in openclaw"), "{told}");
    let refs = sandbox.texts("SELECT name FROM refs WHERE name LIKE 'refs/sessions/%'");
    assert_eq!(refs.len(), 2, "{refs:?}");
}

/// What an undo took back of a session that had grown comes in again, though its file is as it was.
#[test]
fn a_file_whose_import_was_undone_is_read_again() {
    let sandbox = Sandbox::new();
    let path = ran(
        &sandbox,
        "-p-shop",
        "9e2434f3-0000-4000-8000-000000000001",
        Path::new("/p/shop"),
    );
    let whole = fs::read_to_string(&path).expect("there");
    let mut lines: Vec<Value> = whole
        .lines()
        .map(|line| serde_json::from_str(line).expect("a record"))
        .collect();
    sandbox.ok(&["import", "--all"]);
    let mut more = lines.pop().expect("a record");
    more["parentUuid"] = more["uuid"].clone();
    more["uuid"] = json!("more");
    more["message"] = json!({"role": "user", "content": "And the sieve?"});
    fs::write(&path, format!("{whole}{more}\n")).expect("written");
    sandbox.ok(&["import", "--all"]);
    sandbox.ok(&["undo"]);
    assert!(
        sandbox
            .tract(&["find", "-F", "sieve"])
            .contains("No message matches")
    );
    // Whatever the log still knows of it.
    sandbox.ok(&["gc", "--expire", "now"]);
    sandbox.ok(&["import", "--all"]);
    assert!(
        sandbox
            .ok(&["find", "-F", "sieve"])
            .contains("And the sieve?")
    );
}
