//! The tools that can be set up: how one is found, in which files its settings are, and what is to stand there. A tool
//! more is one function, and its line in [`tools`].
//!
//! # Source
//!
//! What `mcp add` of each client writes, and the clients' own documentation of hooks: Claude Code 2.1.330, Codex
//! 0.169.0, Gemini CLI 0.61.0, OpenCode 1.18.33.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tract::render::shell_word;

use super::settings::{Entry, Form};
use super::{Machine, Part};
use crate::cli::{App, Result};

/// A tool, and what it is to have.
pub struct Tool {
    /// What it is called here.
    pub part: Part,
    /// Whether it is on this machine.
    pub is_here: bool,
    /// Its files of settings.
    pub files: Vec<File>,
    /// What switches all hooks off in the first of these files, and the value that does.
    pub switch: Option<(&'static [&'static str], bool)>,
    /// What the user has to do after that.
    pub afterwards: Option<&'static str>,
}

/// A file of settings, and what of ours is to stand in it.
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// How it is written.
    pub form: Form,
    /// What is to stand there.
    pub entries: Vec<Entry>,
}

impl File {
    fn json(path: PathBuf, entries: Vec<Entry>) -> Self {
        let form = Form::Json;
        Self {
            path,
            form,
            entries,
        }
    }
}

/// The tools, whether they are here or not.
pub fn tools(machine: &Machine, app: &App) -> Result<Vec<Tool>> {
    let dirs = app.tool_dirs()?;
    let dir = |format: &str| {
        let mut dirs = dirs.0.iter();
        let found = dirs.find(|(of, _)| of.name == format);
        found.map_or_else(|| machine.home.clone(), |(_, dir)| dir.clone())
    };
    Ok(vec![
        claude_code(
            machine,
            &dir("claude-code"),
            app.names_tool_dir("claude-code"),
        ),
        codex(machine, &dir("codex")),
        gemini(machine, &dir("gemini")),
        opencode(machine),
    ])
}

/// How long a hook may take, in seconds.
const PATIENCE: u64 = 30;
/// The same at the end of a session: the most that Codex allows. It gives one second where nothing is said.
const PATIENCE_AT_END: u64 = 3;
/// What Claude Code calls the setting that has it write each request into its session's file.
const KEEPS_REQUESTS: &str = "CLAUDE_CODE_ELEGANT_MEADOW";

/// What a setting does whose name does not say it.
pub fn meaning(entry: &Entry) -> Option<&'static str> {
    let keeps = entry.at.last().is_some_and(|name| name == KEEPS_REQUESTS);
    keeps.then_some("keeps each request in the session's file")
}

fn claude_code(machine: &Machine, dir: &Path, is_named: bool) -> Tool {
    // Its state, servers among it, stands beside its directory, but for one that a variable names.
    let state = if is_named { dir } else { &machine.home }.join(".claude.json");
    let former = dir.join(".config.json");
    let state = if former.exists() && !state.exists() {
        former
    } else {
        state
    };
    let mut entries = hooks(machine);
    entries.push(Entry::member(&["env", KEEPS_REQUESTS], json!("1")));
    let server = json!({"type": "stdio", "command": machine.program, "args": ["mcp"], "env": {}});
    Tool {
        part: Part::ClaudeCode,
        is_here: dir.exists() || machine.find("claude").is_some(),
        files: vec![
            File::json(dir.join("settings.json"), entries),
            File::json(state, vec![Entry::member(&["mcpServers", "tract"], server)]),
        ],
        switch: Some((&["disableAllHooks"], true)),
        afterwards: None,
    }
}

fn codex(machine: &Machine, dir: &Path) -> Tool {
    let server = json!({"command": machine.program, "args": ["mcp"]});
    Tool {
        part: Part::Codex,
        is_here: dir.exists() || machine.find("codex").is_some(),
        files: vec![
            File {
                path: dir.join("config.toml"),
                form: Form::Toml,
                entries: vec![Entry::member(&["mcp_servers", "tract"], server)],
            },
            File::json(dir.join("hooks.json"), hooks(machine)),
        ],
        switch: Some((&["features", "hooks"], false)),
        afterwards: Some(
            "Codex runs hooks that you trust: start codex, type /hooks, and trust these",
        ),
    }
}

fn gemini(machine: &Machine, dir: &Path) -> Tool {
    let server = json!({"command": machine.program, "args": ["mcp"]});
    // Its times are in milliseconds, and it shows the user whatever a hook says.
    let import = |event| hook(machine, event, "--quiet import", PATIENCE * 1_000);
    Tool {
        part: Part::Gemini,
        is_here: dir.exists() || machine.find("gemini").is_some(),
        files: vec![File::json(
            dir.join("settings.json"),
            vec![
                import("PreCompress"),
                import("SessionEnd"),
                Entry::member(&["mcpServers", "tract"], server),
            ],
        )],
        switch: Some((&["hooksConfig", "enabled"], false)),
        afterwards: None,
    }
}

fn opencode(machine: &Machine) -> Tool {
    let dir = machine.settings.join("opencode");
    let names = ["opencode.jsonc", "opencode.json"].map(|name| dir.join(name));
    let [usual, other] = &names;
    let file = if other.exists() && !usual.exists() {
        other
    } else {
        usual
    };
    let server = json!({"type": "local", "command": [machine.program, "mcp"], "enabled": true});
    Tool {
        part: Part::Opencode,
        is_here: dir.exists() || machine.find("opencode").is_some(),
        files: vec![File::json(
            file.clone(),
            vec![Entry::member(&["mcp", "tract"], server)],
        )],
        switch: None,
        afterwards: None,
    }
}

/// The hooks of a client that has Claude Code's events. What guards a compaction brings the session in as well.
fn hooks(machine: &Machine) -> Vec<Entry> {
    let mut after = hook(machine, "SessionStart", "guard", PATIENCE);
    after.value["matcher"] = json!("compact");
    vec![
        hook(machine, "PreCompact", "guard", PATIENCE),
        hook(machine, "PostCompact", "guard", PATIENCE),
        after,
        hook(machine, "SessionEnd", "import", PATIENCE_AT_END),
    ]
}

fn hook(machine: &Machine, event: &str, job: &str, timeout: u64) -> Entry {
    let command = format!("{} {job} --hook", shell_word(&machine.program));
    let hook: Value = json!({"type": "command", "command": command, "timeout": timeout});
    Entry::item(&["hooks", event], json!({ "hooks": [hook] }))
}
