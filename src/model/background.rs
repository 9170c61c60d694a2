//! Work in the background, as a conversation tells of it: which agents and shells were started, and which have no end
//! in it.
//!
//! A start is told by the result of the call that made it; an end by a notice of the client, by the result of a call that
//! asks for it or stops it. A client that died tells no end: what has none may run still, or not. Deliberately absent:
//! where the messages come from, and what runs on the machine.
//!
//! # Source
//!
//! Observed: Claude Code 2.0 to 2.1.332, Codex 0.118 to 0.171, Qwen Code 0.24, Copilot CLI 1.0.60 and 1.0.102, Kimi Code
//! 2.1, Gemini CLI 0.24 and 0.61.

use std::collections::HashMap;

use super::{Message, Part, call};

/// What works in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// An agent, or several of a workflow.
    Agent,
    /// A command.
    Shell,
}

impl WorkKind {
    /// `agent` or `shell`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Shell => "shell",
        }
    }
}

/// Work that was started and has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenWork<T> {
    /// The client's name for it.
    pub id: String,
    /// What it is.
    pub kind: WorkKind,
    /// Its command or its prompt. Hostile until escaped.
    pub what: String,
    /// The message with the call for it.
    pub called: T,
    /// The message that told of its start.
    pub at: T,
}

/// What of a path works in the background, as far as somebody has looked: from this the look goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownWork {
    /// How many commits of the path, from its root on, were looked at.
    pub covered: u64,
    /// What was started in them and has no end in them, in the order of the starts.
    pub open: Vec<KnownStart>,
    /// The depths of the newest messages in them with calls that have no result there, in order.
    pub calls: Vec<u64>,
}

/// Where work begins that has no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownStart {
    /// The depth of the message with the call for it.
    pub called: u64,
    /// The depth of the message that told of its start.
    pub at: u64,
    /// The client's name for it.
    pub id: String,
}

/// What of a conversation works in the background: takes one message after the other.
#[derive(Debug)]
pub struct Register<T> {
    /// Calls without result, by their ids: what they do, what they name, and whether they stop it.
    calls: HashMap<String, Asked<T>>,
    open: Vec<OpenWork<T>>,
}

/// What a call asks for.
#[derive(Debug)]
struct Asked<T> {
    /// The message with the call.
    at: T,
    kind: WorkKind,
    what: String,
    arguments: String,
    /// What the arguments name: no number of seconds or lines.
    named: Vec<String>,
    stops: bool,
    /// Whether it is a command that ends processes by their numbers.
    kills: bool,
    /// Whether it looks at what was started before.
    looks: bool,
}

impl<T> Default for Register<T> {
    fn default() -> Self {
        Self {
            calls: HashMap::new(),
            open: Vec::new(),
        }
    }
}

/// What stands before the id in the result of a call that starts something.
const STARTS: [&str; 11] = [
    "running in background with ID: ",
    "backgrounded by user with ID: ",
    "moved to the background with ID: ",
    "launched in background. Task ID: ",
    "Monitor started (task ",
    "\"resumedAgentId\":\"",
    "started in background with agent_id: ",
    "started in background with shellId: ",
    "Process running with session ID ",
    "Command moved to background (PID: ",
    "Background PIDs: ",
];
/// What a result begins with that starts something, and what stands before the id in it.
const LAUNCHES: [(&str, &str); 3] = [
    ("Async agent launched", "agentId: "),
    ("Background agent launched", "task_id: "),
    ("Background shell started", "id: "),
];
/// What says of a piece of work that it is over.
const OVER: [&str; 19] = [
    "<status>completed",
    "<status>failed",
    "<status>killed",
    "<status>stopped",
    "<status>cancelled",
    "status: completed",
    "status: failed",
    "status: killed",
    "status: cancelled",
    "status: timed_out",
    "Process exited with code",
    "exited with exit code",
    "completed with exit code",
    "EXITED",
    "status: idle",
    "No task found",
    "No shell found",
    "has completed",
    "\"completed\":",
];
/// What a client says that was started again of what the one before it has started: an agent is over, and a shell may run.
const LOST: &str = "lost";
/// What says that it goes on.
const GOES_ON: [&str; 4] = [
    "<status>running",
    "status: running",
    "Process running with session ID",
    "RUNNING",
];
/// What the names of tools that stop something have in them.
const STOPS: [&str; 5] = ["stop", "kill", "close_agent", "cancel", "terminate"];
/// What the names of tools that look at something have in them.
const LOOKS: [&str; 5] = ["write_stdin", "output", "read_", "wait", "list"];

impl<T: Clone> Register<T> {
    /// Takes the next message.
    pub fn take(&mut self, message: &Message, at: T) {
        for part in &message.parts {
            match part {
                Part::ToolCall {
                    id,
                    name,
                    arguments,
                    ..
                } => {
                    self.calls
                        .insert(id.clone(), Asked::of(name, arguments, at.clone()));
                }
                Part::ToolResult {
                    call,
                    content,
                    is_error,
                } => {
                    let texts = content.iter().filter_map(Part::as_text);
                    let text: Vec<&str> = texts.collect();
                    self.result(call, &text.join("\n"), *is_error, &at);
                }
                Part::Text { text } if message.role.speaks_for_client() => self.notice(text),
                _ => {}
            }
        }
    }

    /// Goes on from what is open already.
    pub fn begin_with(&mut self, open: Vec<OpenWork<T>>) {
        self.open = open;
    }

    /// The messages with calls that have no result.
    pub fn waiting(&self) -> impl Iterator<Item = &T> {
        self.calls.values().map(|asked| &asked.at)
    }

    /// What was started and has no end, in the order of the starts.
    pub fn open(self) -> Vec<OpenWork<T>> {
        self.open
    }

    fn result(&mut self, call: &str, text: &str, is_error: bool, at: &T) {
        let Some(asked) = self.calls.remove(call) else {
            return;
        };
        // A list tells of all that there are.
        let is_list = asked.looks && asked.named.is_empty();
        let named = |id: &str| is_list || asked.named.iter().any(|it| names(it, id));
        let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
        let is_over = |work: &OpenWork<T>, is_alone: bool| {
            let about = match is_alone {
                true => head,
                // Of several it says of each behind its id.
                false => match about(text, &work.id) {
                    Some(about) => about,
                    None => return false,
                },
            };
            let has = |marks: &[&str]| marks.iter().any(|mark| about.contains(mark));
            let is_lost = work.kind == WorkKind::Agent && has(&["status: lost"]);
            !has(&GOES_ON) && (has(&OVER) || is_lost)
        };
        let count = self.open.iter().filter(|work| named(&work.id)).count();
        let is_alone = count == 1 && !is_list;
        self.open.retain(|work| {
            let stops = asked.stops || asked.kills;
            let ends = stops && !is_error || is_over(work, is_alone);
            !(named(&work.id) && ends)
        });
        if is_error || asked.looks || asked.stops {
            return;
        }
        for id in started(text, &asked.arguments) {
            self.open.retain(|work| work.id != id);
            self.open.push(OpenWork {
                id,
                kind: asked.kind,
                what: asked.what.clone(),
                called: asked.at.clone(),
                at: at.clone(),
            });
        }
    }

    /// What a client says in the user's name.
    fn notice(&mut self, text: &str) {
        if self.open.is_empty() {
            return;
        }
        for notice in TaskEnd::all(text) {
            let is_it = |work: &OpenWork<T>| work.id == notice.id;
            let ends = |work: &OpenWork<T>| notice.is_seen || work.kind == WorkKind::Agent;
            self.open.retain(|work| !(is_it(work) && ends(work)));
        }
        for notice in between(text, "<notification ", "</notification>") {
            let kind = between(notice, "type=\"task.", "\"").next();
            let id = between(notice, "source_id=\"", "\"").next();
            if let (Some(kind), Some(id)) = (kind, id)
                && !GOING.contains(&kind)
            {
                let stays = |work: &OpenWork<T>| kind == LOST && work.kind == WorkKind::Shell;
                self.open.retain(|work| work.id != id || stays(work));
            }
        }
        let of_system = between(text, "<system_notification>", "</system_notification>");
        let of_agents = between(text, "<subagent_notification>", "</subagent_notification>");
        for notice in of_system.chain(of_agents) {
            let is_over = [
                "completed",
                "failed",
                "errored",
                "shutdown",
                "killed",
                "exited",
                "now idle",
            ];
            if is_over.iter().any(|it| notice.contains(it)) {
                self.open.retain(|work| !holds_word(notice, &work.id));
            }
        }
    }
}

/// A notice that a task has ended.
#[derive(Clone, Copy, Debug)]
pub struct TaskEnd<'t> {
    /// The client's name for it.
    pub id: &'t str,
    /// Whether the client saw the end. One that was started again only says that it found no record of one: an agent ended
    /// with the client before it, and a shell may run still.
    pub is_seen: bool,
}

impl<'t> TaskEnd<'t> {
    /// All in a text.
    pub fn all(text: &'t str) -> impl Iterator<Item = Self> {
        let notices = between(text, "<task-notification>", "</task-notification>");
        notices.filter_map(|notice| {
            let status = between(notice, "<status>", "</status>").next()?;
            let id = between(notice, "<task-id>", "</task-id>").next()?;
            (!GOING.contains(&status.trim())).then(|| Self {
                id: id.trim(),
                is_seen: !notice.contains(UNSEEN),
            })
        })
    }
}

/// What a notice says of a task whose end nobody saw.
const UNSEEN: &str = "No completion record was found";

/// How far behind an id a result says what became of it, where it tells of several.
const ABOUT_BYTES: usize = 160;

/// What a text that tells of several says of the one with this id: the rest of its line, and where that does not tell, the
/// lines behind it, up to the next one of several.
fn about<'t>(text: &'t str, id: &str) -> Option<&'t str> {
    let at = word_in(text, id)?;
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = text[begin..at].trim_end_matches(|c: char| c.is_ascii_digit());
    let rest = &text[at..text.floor_char_boundary(at + ABOUT_BYTES)];
    let line = rest.lines().next().unwrap_or_default();
    let tells = |mark: &&str| line.contains(*mark);
    if OVER.iter().chain(&GOES_ON).any(tells) {
        // In one line it says of each behind its id, too.
        return Some(&line[..line.len().min(line.floor_char_boundary(ABOUT_BYTES / 2))]);
    }
    let more = &rest[line.len()..];
    let next = match before.trim().is_empty() {
        true => more.find("\n\n"),
        false => more.find(before),
    };
    Some(&rest[..next.map_or(rest.len(), |next| line.len() + next)])
}
/// What is no end.
const GOING: [&str; 5] = [
    "running",
    "pending",
    "starting",
    "started",
    "awaiting_approval",
];

impl<T> Asked<T> {
    fn of(name: &str, arguments: &str, at: T) -> Self {
        let lower = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let command = call::command(arguments);
        let value: serde_json::Value = serde_json::from_str(arguments).unwrap_or_default();
        let said = ["prompt", "message", "task", "description", "script"];
        let said = said.iter().find_map(|key| value.get(key)?.as_str());
        Self {
            at,
            // A script is a workflow's, and of agents.
            kind: match (&command, value.get("script")) {
                (Some(_), None) => WorkKind::Shell,
                _ => WorkKind::Agent,
            },
            what: command
                .clone()
                .or_else(|| said.map(str::to_owned))
                .unwrap_or_else(|| call::summary(name, arguments)),
            arguments: arguments.to_owned(),
            stops: has(&STOPS),
            kills: command.as_deref().is_some_and(kills),
            named: match &command {
                Some(command) if kills(command) => words_of(command),
                Some(_) => Vec::new(),
                None => values(&value),
            },
            looks: has(&LOOKS),
        }
    }
}

/// What of arguments may name work: their values, but for those that measure something.
fn values(arguments: &serde_json::Value) -> Vec<String> {
    fn gather(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(text) => found.push(text.clone()),
            serde_json::Value::Number(number) => found.push(number.to_string()),
            serde_json::Value::Array(values) => values.iter().for_each(|it| gather(it, found)),
            serde_json::Value::Object(fields) => {
                let names = fields.iter().filter(|(name, _)| {
                    let name = name.to_lowercase();
                    !MEASURES.iter().any(|measure| name.contains(measure))
                });
                names.for_each(|(_, value)| gather(value, found));
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) => {}
        }
    }
    let mut found = Vec::new();
    gather(arguments, &mut found);
    found
}

/// What the names of arguments have in them that name no work.
const MEASURES: [&str; 12] = [
    "timeout", "delay", "yield", "wait", "lines", "limit", "max", "since", "chars", "offset",
    "reason", "message",
];

/// Whether a command ends processes by their numbers.
fn kills(command: &str) -> bool {
    let mut words = command.split(|c: char| c.is_whitespace() || ";&|(".contains(c));
    words.any(|word| word == "kill" || word.ends_with("/kill") || word == "taskkill")
}

fn words_of(command: &str) -> Vec<String> {
    let words = command.split(|c: char| c.is_whitespace() || ";&|()".contains(c));
    words
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a value names work by its id: a path may hold it, and a number be no part of another.
fn names(value: &str, id: &str) -> bool {
    value == id || id.bytes().any(|it| !it.is_ascii_digit()) && holds_word(value, id)
}

/// Whether a message may tell that something was started.
pub fn tells_of_start(message: &Message) -> bool {
    message.parts.iter().any(|part| match part {
        Part::ToolCall { arguments, .. } => asks_for_background(arguments),
        Part::ToolResult { content, .. } => {
            let mut texts = content.iter().filter_map(Part::as_text);
            texts.any(|text| !started(text, "").is_empty())
        }
        _ => false,
    })
}

fn asks_for_background(arguments: &str) -> bool {
    let mut rest = arguments.split("\"run_in_background\"").skip(1);
    rest.any(|rest| rest.trim_start_matches([':', ' ']).starts_with("true"))
}

/// The ids of what a result says to have started.
pub(crate) fn started(text: &str, arguments: &str) -> Vec<String> {
    for (begins, before) in LAUNCHES {
        if let (true, Some(id)) = (text.starts_with(begins), id_behind(text, before)) {
            return vec![id];
        }
    }
    // A result that quotes one of these much later is about something else.
    let head = &text[..text.floor_char_boundary(HEAD_BYTES)];
    for before in STARTS {
        let Some(at) = head.find(before) else {
            continue;
        };
        let rest = &text[at + before.len()..];
        let line = rest.lines().next().unwrap_or_default();
        let ids: Vec<String> = match before.ends_with("PIDs: ") {
            true => line.split(',').filter_map(|id| word(id.trim())).collect(),
            false => word(line).into_iter().collect(),
        };
        return ids;
    }
    let goes = GOING
        .iter()
        .any(|going| head.contains(&format!("status: {going}")));
    if goes && asks_for_background(arguments) {
        return id_behind(head, "task_id: ").into_iter().collect();
    }
    // Codex: {"agent_id":"…","nickname":"…"}
    match text.trim_start().strip_prefix("{\"agent_id\":\"") {
        Some(rest) => word(rest).into_iter().collect(),
        None => Vec::new(),
    }
}

/// How far into a result it may say that something was started.
const HEAD_BYTES: usize = 600;

fn id_behind(text: &str, before: &str) -> Option<String> {
    let at = text.find(before)?;
    word(&text[at + before.len()..])
}

/// The id that a text begins with.
fn word(text: &str) -> Option<String> {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '/' | '@'));
    let id = &text[..text.find(is_end).unwrap_or(text.len())];
    let id = id.trim_end_matches(':');
    (!id.is_empty()).then(|| id.to_owned())
}

/// Whether an id stands in a text, and not as a piece of a longer one.
fn holds_word(text: &str, id: &str) -> bool {
    word_in(text, id).is_some()
}

/// Where it stands there.
fn word_in(text: &str, id: &str) -> Option<usize> {
    let is_of = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut places = text.match_indices(id).map(|(at, _)| at);
    places.find(|at| {
        let (before, after) = (&text[..*at], &text[at + id.len()..]);
        !before.ends_with(is_of) && !after.starts_with(is_of)
    })
}

/// What stands between two marks, each time.
fn between<'t>(text: &'t str, open: &'t str, close: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(open).skip(1).map(move |rest| {
        let end = rest.find(close).unwrap_or(rest.len());
        &rest[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    /// A call and its result, or what was said: in a line each.
    enum Step {
        Call(&'static str, &'static str, &'static str),
        Said(&'static str),
    }
    use Step::{Call, Said};

    fn open(steps: &[Step]) -> String {
        let mut register = Register::default();
        for (at, step) in steps.iter().enumerate() {
            match step {
                Call(name, arguments, result) => {
                    let id = format!("c{at}");
                    let call = Part::ToolCall {
                        id: id.clone(),
                        name: (*name).to_owned(),
                        arguments: (*arguments).to_owned(),
                        kind: None,
                    };
                    register.take(&Message::new(Role::Assistant, vec![call]), at);
                    let result = Part::ToolResult {
                        call: id,
                        content: vec![Part::Text {
                            text: (*result).to_owned(),
                        }],
                        is_error: false,
                    };
                    register.take(&Message::new(Role::Tool, vec![result]), at);
                }
                Said(text) => register.take(&Message::text(Role::User, *text), at),
            }
        }
        let open = register.open();
        let lines = open
            .iter()
            .map(|it| format!("{} {} {} {}", it.at, it.kind.as_str(), it.id, it.what));
        lines.collect::<Vec<_>>().join("; ")
    }

    const SLEEP: &str = r#"{"command":"sleep 40","run_in_background":true}"#;

    #[test]
    fn claude_code_starts_ends_and_stops() {
        let started = || {
            Call(
                "Bash",
                SLEEP,
                "Command running in background with ID: b1f. Output is being written to: /tmp/b1f.output. You will be notified.",
            )
        };
        let agent = || {
            Call(
                "Agent",
                r#"{"description":"Long one","prompt":"Look at all.","run_in_background":true}"#,
                "Async agent launched successfully. (This is internal)\nagentId: a66 (internal ID)\nThe agent is working in the background.",
            )
        };
        assert_eq!(
            open(&[started(), agent()]),
            "0 shell b1f sleep 40; 1 agent a66 Look at all."
        );
        let ended = "<system-reminder>\n<task-notification>\n<task-id>b1f</task-id>\n<status>completed</status>\n</task-notification></system-reminder>";
        assert_eq!(
            open(&[started(), agent(), Said(ended)]),
            "1 agent a66 Look at all."
        );
        let event = "<task-notification>\n<task-id>b1f</task-id>\n<event>tick</event>\n</task-notification>";
        assert_eq!(open(&[started(), Said(event)]), "0 shell b1f sleep 40");
        let output = Call(
            "BashOutput",
            r#"{"bash_id":"b1f"}"#,
            "<status>running</status>\n\n<stdout>it exited with exit code</stdout>",
        );
        assert_eq!(open(&[started(), output]), "0 shell b1f sleep 40");
        let output = Call(
            "BashOutput",
            r#"{"bash_id":"b1f"}"#,
            "<status>completed</status>\n<exit_code>0</exit_code>",
        );
        assert_eq!(open(&[started(), output]), "");
        let output = Call(
            "BashOutput",
            r#"{"bash_id":"b1f"}"#,
            "<status>running</status>",
        );
        assert_eq!(open(&[started(), output]), "0 shell b1f sleep 40");
        let kill = Call(
            "KillShell",
            r#"{"shell_id":"b1f"}"#,
            "Successfully killed shell: b1f",
        );
        assert_eq!(open(&[started(), kill]), "");
        let other = Call(
            "TaskStop",
            r#"{"task_id":"b1"}"#,
            "Successfully stopped task: b1",
        );
        assert_eq!(open(&[started(), other]), "0 shell b1f sleep 40");
        let unseen = "<task-notification>\n<task-id>b1f</task-id>\n<status>stopped</status>\n<note>No completion record was found for it in the previous session.</note>\n</task-notification>\n<task-notification><task-id>a66</task-id><status>stopped</status><note>No completion record was found for it.</note></task-notification>";
        assert_eq!(
            open(&[started(), agent(), Said(unseen)]),
            "0 shell b1f sleep 40"
        );
        let resumed = Call(
            "SendMessage",
            r#"{"to":"a66","message":"One thing more."}"#,
            r#"{"success":true,"message":"resumed from transcript in the background","resumedAgentId":"a66"}"#,
        );
        let gone = Said(
            "<task-notification><task-id>a66</task-id><status>completed</status></task-notification>",
        );
        assert_eq!(
            open(&[agent(), gone, resumed]),
            "2 agent a66 One thing more."
        );
        let flow = Call(
            "Workflow",
            r#"{"script":"two()"}"#,
            "Workflow launched in background. Task ID: w0\nSummary: Two agents",
        );
        assert_eq!(open(&[flow]), "0 agent w0 two()");
    }

    #[test]
    fn other_clients_start_end_and_stop() {
        let codex = || {
            Call(
                "exec_command",
                r#"{"cmd":"npm run dev"}"#,
                "Chunk ID: 8c\nWall time: 1 s\nProcess running with session ID 4964\nOutput:\n",
            )
        };
        assert_eq!(open(&[codex()]), "0 shell 4964 npm run dev");
        let poll = |said| Call("write_stdin", r#"{"session_id":4964,"chars":""}"#, said);
        assert_eq!(
            open(&[
                codex(),
                poll("Process running with session ID 4964\nOutput:\n")
            ]),
            "0 shell 4964 npm run dev"
        );
        assert_eq!(
            open(&[codex(), poll("Process exited with code 130\nOutput:\n")]),
            ""
        );
        let spawned = || {
            Call(
                "spawn_agent",
                r#"{"message":"Look."}"#,
                r#"{"agent_id":"01a-7","nickname":"Ada"}"#,
            )
        };
        assert_eq!(open(&[spawned()]), "0 agent 01a-7 Look.");
        let waited = Call(
            "wait",
            r#"{"ids":["01a-7"]}"#,
            r#"{"status":{"01a-7":{"completed":"Seen."}},"timed_out":false}"#,
        );
        assert_eq!(open(&[spawned(), waited]), "");
        let told = Said(
            r#"<subagent_notification>{"agent_id":"01a-7","status":{"completed":"Seen."}}</subagent_notification>"#,
        );
        assert_eq!(open(&[spawned(), told]), "");

        let qwen = || {
            Call(
                "agent",
                r#"{"prompt":"Look."}"#,
                "Background agent launched successfully.\ntask_id: general-call_1 (internal ID)",
            )
        };
        assert_eq!(open(&[qwen()]), "0 agent general-call_1 Look.");
        let copilot = || {
            Call(
                "task",
                r#"{"prompt":"Count the sacks."}"#,
                "Agent started in background with agent_id: sacks.",
            )
        };
        assert_eq!(open(&[copilot()]), "0 agent sacks Count the sacks.");
        let told = Said(
            "<system_notification>\nAgent \"sacks\" (explore) has completed.\n</system_notification>",
        );
        assert_eq!(open(&[copilot(), told]), "");
        let kimi = || {
            Call(
                "Bash",
                SLEEP,
                "task_id: bash-12ab\nkind: bash\nstatus: running\ndescription: Sleeps",
            )
        };
        assert_eq!(open(&[kimi()]), "0 shell bash-12ab sleep 40");
        let told = Said(
            "<notification id=\"n1\" category=\"task\" type=\"task.completed\" source_kind=\"background_task\" source_id=\"bash-12ab\">\nTitle\n</notification>",
        );
        assert_eq!(open(&[kimi(), told]), "");
        let lost = Call(
            "TaskOutput",
            r#"{"task_id":"bash-12ab"}"#,
            "task_id: bash-12ab\nstatus: lost",
        );
        let told = Said(
            "<notification type=\"task.lost\" source_id=\"bash-12ab\">\nTitle\n</notification>",
        );
        assert_eq!(open(&[kimi(), lost, told]), "0 shell bash-12ab sleep 40");
        let gemini = Call(
            "run_shell_command",
            r#"{"command":"npm start &"}"#,
            "Command: npm start &\nExit Code: 0\nBackground PIDs: 41, 42\nProcess Group PGID: 40",
        );
        assert_eq!(
            open(&[gemini]),
            "0 shell 41 npm start &; 0 shell 42 npm start &"
        );
        let none = Call(
            "run_shell_command",
            r#"{"command":"ls"}"#,
            "Command: ls\nBackground PIDs: (none)",
        );
        assert_eq!(open(&[none]), "");
    }

    #[test]
    fn a_list_tells_of_each_and_a_number_that_measures_names_none() {
        let gemini = |id| {
            Call(
                "run_shell_command",
                r#"{"command":"npm start","is_background":true}"#,
                id,
            )
        };
        let both = || {
            [
                gemini("Command moved to background (PID: 41). Output hidden."),
                gemini("Command moved to background (PID: 42). Output hidden."),
            ]
        };
        let [one, other] = both();
        let list = Call(
            "list_background_processes",
            "{}",
            "- [PID 40] EXITED: `ls` (Exit Code: 0)\n- [PID 41] RUNNING: `npm start`\n- [PID 42] EXITED: `npm start` (Exit Code: 143)",
        );
        assert_eq!(open(&[one, other, list]), "0 shell 41 npm start");
        let [one, other] = both();
        let killed = Call(
            "run_shell_command",
            r#"{"command":"kill -9 42 && ls"}"#,
            "Output: (empty)",
        );
        assert_eq!(open(&[one, other, killed]), "0 shell 41 npm start");

        let copilot = |told| Call("bash", r#"{"command":"serve","mode":"async"}"#, told);
        let started = || {
            [
                copilot("<command started in background with shellId: 0>"),
                copilot("<command started in background with shellId: 1>"),
            ]
        };
        let [one, other] = started();
        let read = |id, told| Call("read_bash", id, told);
        let running = read(r#"{"shellId":"0","delay":1}"#, "<shellId: 0 is running>");
        assert_eq!(
            open(&[one, other, running]),
            "0 shell 0 serve; 1 shell 1 serve"
        );
        let [one, other] = started();
        let over = read(
            r#"{"shellId":"0","delay":1}"#,
            "<shellId: 0 completed with exit code 0>",
        );
        assert_eq!(open(&[one, other, over]), "1 shell 1 serve");

        let kimi = |id| Call("Bash", SLEEP, id);
        let list = Call(
            "TaskList",
            r#"{"limit":20}"#,
            "task_id: bash-1\nkind: process\nstatus: running\ntask_id: bash-2\nkind: process\nstatus: completed",
        );
        let one = kimi("task_id: bash-1\nstatus: running");
        let other = kimi("task_id: bash-2\nstatus: running");
        assert_eq!(open(&[one, other, list]), "0 shell bash-1 sleep 40");
    }

    #[test]
    fn what_is_only_quoted_starts_and_ends_nothing() {
        let quoted = "x\n".repeat(400) + "Command running in background with ID: b1f.";
        let read = Call("Read", r#"{"file_path":"notes.md"}"#, "");
        let mut register = Register::default();
        register.take(&Message::text(Role::User, quoted.clone()), 0);
        register.take(&Message::text(Role::Assistant, quoted), 1);
        assert!(register.open().is_empty());
        assert_eq!(open(&[read]), "");
    }
}
