//! Which parts of a message are calls of tools and their results: those of memories, and those that name a file.

use std::collections::HashSet;

use crate::model::{Message, Part, ToolUse, call};

/// What the names of tools of memories have in them.
///
/// # Source
///
/// Observed: the tools of tract, claude-mem, deja-vu, mem0, Basic Memory, episodic-memory, Supermemory and the server
/// `memory` of the protocol's makers, as Claude Code and Codex name them.
const MEMORIES: [&str; 12] = [
    "mcp__tract__",
    "claude-mem",
    "claude_mem",
    "mem-search",
    "deja",
    "mem0",
    "openmemory",
    "basic-memory",
    "basic_memory",
    "episodic-memory",
    "supermemory",
    "mcp__memory__",
];
/// Programs that are memories, and their commands that show what is in them.
const COMMANDS: [(&str, &[&str]); 4] = [
    ("tract", &["find", "log", "show", "view", "diff"]),
    ("deja", &["search", "recall", "show", "list", "context"]),
    ("claude-mem", &["search", "recall", "timeline"]),
    ("cass", &["search", "view", "expand", "timeline", "context"]),
];
/// How many words may stand between a program and its command.
const OPTIONS: usize = 4;

/// The calls and results of a message.
#[derive(Default)]
pub(super) struct Own {
    parts: usize,
    /// Results, by the calls that they answer.
    results: Vec<(usize, String)>,
    /// The parts that are a memory's.
    own: HashSet<usize>,
    /// What is known of the arguments of calls.
    arguments: Vec<String>,
}

impl Own {
    pub(super) fn of(message: &Message) -> Self {
        let mut own = Self {
            parts: message.parts.len(),
            ..Self::default()
        };
        for (at, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall {
                    name, arguments, ..
                } => {
                    own.arguments.push(arguments.clone());
                    if is_own(name, arguments) {
                        own.own.insert(at);
                    }
                }
                Part::ToolResult { call, .. } => own.results.push((at, call.clone())),
                _ => {}
            }
        }
        own
    }

    /// Whether the message answers calls, which stand in other messages.
    pub(super) fn answers(&self) -> bool {
        !self.results.is_empty()
    }

    /// Takes the calls that it answers.
    pub(super) fn answered(&mut self, calls: &[ToolUse]) {
        for call in calls {
            self.arguments.push(call.line.clone());
            if is_own(&call.name, &call.line) {
                let answers = self.results.iter().filter(|(_, id)| *id == call.id);
                self.own.extend(answers.map(|(at, _)| *at));
            }
        }
    }

    /// Whether these parts are all a memory's.
    pub(super) fn has_all(&self, parts: &HashSet<usize>) -> bool {
        !parts.is_empty()
            && parts
                .iter()
                .all(|at| *at < self.parts && self.own.contains(at))
    }

    /// Whether a call names a path: all of it, or one that ends in it.
    pub(super) fn names(&self, path: &str) -> bool {
        let path = &*call::plain_path(path);
        let ends = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        self.arguments.iter().any(|text| {
            let text = call::plain_path(text);
            text.match_indices(path).any(|(at, _)| {
                let (before, after) = (&text[..at], &text[at + path.len()..]);
                !before.ends_with(ends) && !after.starts_with(|c| ends(c) && c != '.')
            })
        })
    }
}

/// Whether a call asks a memory what was said before: tract, or another one.
fn is_own(tool: &str, arguments: &str) -> bool {
    let tool = tool.to_lowercase();
    if MEMORIES.iter().any(|name| tool.contains(name)) || tool.starts_with("tract__") {
        return true;
    }
    let is_end = |c: char| c.is_whitespace() || "\"'`;|&()=[],\\".contains(c);
    let mut words = arguments.split(is_end).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        let name = word.rsplit('/').next().unwrap_or(word);
        let Some((_, showing)) = COMMANDS.iter().find(|(command, _)| *command == name) else {
            continue;
        };
        let mut after = words.clone().take(OPTIONS);
        if after.any(|word| showing.contains(&word)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tract_was_asked_is_its_own() {
        for (tool, arguments) in [
            ("mcp__tract__recall", r#"{"about":"x"}"#),
            (
                "Bash",
                r#"{"command":"tract find 'website redesign' -n 5"}"#,
            ),
            (
                "Bash",
                r#"{"command":"cd /x && ./target/debug/tract --repo /y log"}"#,
            ),
            ("shell", r#"{"command":["bash","-lc","tract show abc"]}"#),
            ("Bash", r#"Bash command="tract view HEAD""#),
            (
                "mcp__plugin_claude-mem_mcp-search__search",
                r#"{"query":"x"}"#,
            ),
            ("mcp__deja-vu__deja_recall", r#"{"query":"x"}"#),
            (
                "Bash",
                r#"{"command":"deja search \"how are prices rounded\""}"#,
            ),
            ("Bash", r#"{"command":"npx claude-mem search rounding"}"#),
        ] {
            assert!(is_own(tool, arguments), "{arguments}");
        }
        for (tool, arguments) in [
            ("Bash", r#"{"command":"git log && extract find"}"#),
            (
                "Bash",
                r#"{"command":"tract commit -m 'a long message to find'"}"#,
            ),
            ("Read", r#"{"path":"src/tract.rs"}"#),
            (
                "Bash",
                r#"{"command":"apt install fonts-dejavu && grep -rn search fonts"}"#,
            ),
            ("Write", r#"{"path":"memory.md"}"#),
        ] {
            assert!(!is_own(tool, arguments), "{arguments}");
        }
    }

    #[test]
    fn a_path_is_named_by_its_end() {
        let own = Own {
            arguments: vec![r#"{"file_path":"/home/me/src/lib.rs"}"#.to_owned()],
            ..Own::default()
        };
        assert!(own.names("src/lib.rs") && own.names("/home/me/src/lib.rs") && own.names("lib.rs"));
        assert!(own.names("src"));
        let windows = Own {
            arguments: vec![r#"{"file_path":"C:\\Users\\me\\lib.rs"}"#.to_owned()],
            ..Own::default()
        };
        assert!(windows.names(r"me\lib.rs") && windows.names("Users/me/lib.rs"));
        assert!(windows.names(r"C:\Users\me\lib.rs") && !windows.names(r"e\lib.rs"));
        assert!(!own.names("b.rs") && !own.names("src/li") && !own.names("x/src/lib.rs"));
    }
}
