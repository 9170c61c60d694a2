//! What a running client sends otherwise than its records say.
//!
//! A client that reads a session back sends what the records say, and so a context is compiled. The one
//! that wrote them sent some of it in another form for as long as it ran. Deliberately absent: which
//! messages that concerns.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::formats::Input;
use crate::model::Millis;

/// What of a session was sent otherwise for one of its replies.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Texts beside the result of a call, by its id, in their order: each with the place of the record
    /// that is read as a message of its own, where there is one, which then is not sent.
    pub beside: HashMap<String, Vec<(Option<u64>, String)>>,
    /// The arguments of calls, by their ids, where the file holds others.
    pub arguments: HashMap<String, String>,
    /// The places of the records that are read as messages of their own, and were not sent.
    pub unsent: HashSet<u64>,
    /// The ids of calls that were left out: a kill left them without result.
    pub left_out: HashSet<String>,
    /// The places of the records of replies of other models: their thinking was left out.
    pub of_other_models: HashSet<u64>,
    /// How much effort was asked for, as the `output_config` that says so, by the places of the records of replies: that of
    /// the reply itself among them. The client sends it where it changes.
    pub efforts: HashMap<u64, String>,
    /// Blocks of the system message that tells what is attached, by the places of the attachments' records.
    pub system_blocks: HashMap<u64, Vec<String>>,
    /// The places of the records of prompts that were given in mid-turn, and were sent as the user's own text.
    pub own_turn: HashSet<u64>,
    /// Whether the client, once it reads the session back, sends what it sent while it ran.
    pub is_sent_again: bool,
}

impl Running {
    /// What of it is sent for the next reply, too, whoever makes it.
    pub fn next(self) -> Self {
        if !self.is_sent_again {
            return Self::default();
        }
        Self {
            beside: self.beside,
            arguments: self.arguments,
            own_turn: self.own_turn,
            is_sent_again: true,
            ..Self::default()
        }
    }
}

/// Reads a session up to the record of a reply, which begins at an offset and is of a model, and says
/// what was sent for it.
pub type ReadRunning = fn(&dyn Input, u64, Option<&str>) -> Result<Running>;

/// Reads a session, and gives the client's ids of processes and agents that its records say to have ended.
pub type ReadEnded = fn(&dyn Input) -> Result<EndedWork>;

/// The work that records say to have ended, by the client's ids, and when: what was started again since runs.
pub type EndedWork = HashMap<String, Option<Millis>>;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::formats::Format;

    /// What the records of a format say to have ended, in the order of the ids.
    fn ended(format: &str, records: &[Value]) -> Vec<String> {
        let lines: String = records.iter().map(|it| format!("{it}\n")).collect();
        let read = Format::named(format).expect("it is known").ended;
        let ended = read.expect("its records tell of ends")(&lines.as_bytes());
        let mut ids: Vec<String> = ended.expect("read").into_keys().collect();
        ids.sort();
        ids
    }

    #[test]
    fn records_tell_of_ends_before_the_model_is_told() {
        let notice = |id: &str, status: &str, note: &str| {
            let content = format!(
                "<task-notification>\n<task-id>{id}</task-id>\n<status>{status}</status>\n{note}</task-notification>"
            );
            json!({ "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-14T10:00:09.000Z", "content": content })
        };
        let claude_code = [
            notice("b1", "completed", ""),
            notice("b2", "stopped", "No completion record was found for it."),
            notice("b3", "running", ""),
            json!({ "type": "user", "content": "queue-operation <task-notification><task-id>b4</task-id><status>completed</status>" }),
        ];
        assert_eq!(ended("claude-code", &claude_code), ["b1"]);

        let kimi = [
            json!({ "type": "task.started", "info": { "taskId": "bash-1" }, "time": 1 }),
            json!({ "type": "task.terminated", "info": { "taskId": "bash-2", "status": "failed", "kind": "process" }, "time": 2 }),
            json!({ "type": "task.terminated", "info": { "taskId": "bash-3", "status": "lost", "kind": "process" }, "time": 3 }),
            json!({ "type": "task.terminated", "info": { "taskId": "agent-4", "status": "lost", "kind": "agent" }, "time": 3 }),
        ];
        assert_eq!(ended("kimi", &kimi), ["agent-4", "bash-2"]);

        let event = |payload: Value| json!({ "timestamp": "2026-03-14T10:00:09.000Z", "type": "event_msg", "payload": payload });
        let process = |id: &str| {
            event(
                json!({ "type": "item_completed", "item": { "type": "CommandExecution", "process_id": id } }),
            )
        };
        let world = |agents: Value| json!({ "type": "world_state", "payload": { "full": false, "state": { "environments": { "subagents": agents } } } });
        let mut codex = vec![
            json!({ "type": "session_meta", "payload": { "id": "own" } }),
            event(json!({ "type": "task_started" })),
            world(json!("- one: Ada\n- two: Grace")),
            event(json!({ "type": "exec_command_end", "process_id": "41" })),
            process("42"),
            event(
                json!({ "type": "item_completed", "item": { "type": "AgentMessage", "id": "m" } }),
            ),
            json!({ "type": "world_state", "payload": { "full": false, "state": { "environments": {} } } }),
        ];
        assert_eq!(ended("codex", &codex), ["41", "42"]);
        codex.push(world(json!("- two: Grace")));
        codex.push(event(json!({ "type": "task_complete" })));
        assert_eq!(ended("codex", &codex), ["41", "42", "one", "own"]);
        codex.push(event(json!({ "type": "task_started" })));
        codex.push(world(Value::Null));
        assert_eq!(ended("codex", &codex), ["41", "42", "one", "two"]);

        let copilot = |kind: &str, data: Value| json!({ "type": kind, "timestamp": "2026-03-14T10:00:09.000Z", "data": data });
        let told = |call: &str, content: &str| {
            copilot(
                "tool.execution_complete",
                json!({ "toolCallId": call, "result": { "content": content } }),
            )
        };
        let mut events = vec![
            told("c1", "<command started in background with shellId: 0>"),
            copilot(
                "tool.execution_start",
                json!({ "toolCallId": "c2", "arguments": { "command": "serve", "detach": true } }),
            ),
            told("c2", "<command started in background with shellId: 1>"),
            told("c3", "Agent started in background with agent_id: sacks."),
            copilot("subagent.completed", json!({ "toolCallId": "c3" })),
        ];
        assert_eq!(ended("copilot-cli", &events), ["sacks"]);
        let mut died = events.clone();
        events.push(copilot("session.shutdown", json!({})));
        assert_eq!(ended("copilot-cli", &events), ["0", "sacks"]);
        died.push(copilot("session.resume", json!({})));
        died.push(copilot("session.shutdown", json!({})));
        assert_eq!(ended("copilot-cli", &died), ["sacks"]);
    }
}
