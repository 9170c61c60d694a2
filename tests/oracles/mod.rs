//! What must hold of whatever a stranger wrote: functions that take bytes and panic where it does not.
//!
//! Two drivers share them: the fuzzer in `tests/fuzz`, which looks for inputs by the code that they
//! reach, and `tests/it/hostile.rs`, which makes some in every run of the tests. They go by the
//! library's public door alone. Deliberately absent: where inputs come from.

pub mod bundles;
pub mod messages;
pub mod requests;
pub mod revisions;
pub mod sessions;
pub mod shown;
pub mod streams;

use std::path::{Path, PathBuf};

use tract::hash::fingerprint;
use tract::history::Repo;
use tract::interop::{Format, sniff::sniff};

/// The files in a folder of `tests`, in their order; none where there is no such folder.
#[allow(dead_code)]
fn files(folder: &str) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The fuzzer's own package lies in `tests`.
    let tests = [here.join("tests"), here.join("..")];
    let tests = tests
        .into_iter()
        .find(|tests| tests.join("oracles").is_dir());
    let found = std::fs::read_dir(tests.expect("the tests' folder").join(folder));
    let files = found
        .into_iter()
        .flatten()
        .map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some()).collect();
    files.sort();
    files
}

/// What an oracle chooses for an input: the same for the same bytes.
pub struct Choice([u8; 32], usize);

impl Choice {
    /// The choices for an input.
    pub fn of(bytes: &[u8]) -> Self {
        Self(fingerprint(bytes), 0)
    }

    /// The next one below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % 32]) % limit
    }
}

/// How much is done with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// What needs no repository: a hundred times as quick.
    Read,
    /// All of it.
    Kept,
}

impl Care {
    /// What a driver that has many inputs gives to this one.
    pub fn of(bytes: &[u8]) -> Self {
        match Choice::of(bytes).below(4) {
            0 => Self::Kept,
            _ => Self::Read,
        }
    }
}

/// An empty repository. Its tables are made once and copied, for that takes most of the time.
pub fn repository() -> (tempfile::TempDir, Repo) {
    thread_local! {
        static EMPTY: Vec<u8> = {
            let folder = tempfile::tempdir().expect("a folder");
            drop(Repo::init(folder.path()).expect("made"));
            std::fs::read(folder.path().join(".tract/tract.db")).expect("a file")
        };
    }
    let folder = tempfile::tempdir().expect("a folder");
    EMPTY.with(|empty| std::fs::write(folder.path().join("tract.db"), empty).expect("written"));
    let repo = Repo::open(folder.path()).expect("it is a repository");
    (folder, repo)
}

/// Something that takes what a stranger wrote.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// The folders of fixtures that are its first inputs.
    folders: &'static [&'static str],
    /// More of them.
    made: fn() -> Vec<Vec<u8>>,
    /// Panics where a promise is broken.
    pub hold: fn(&[u8], Care),
}

#[allow(dead_code)]
impl Target {
    /// Its first inputs: fixtures, what was found once, and what is made.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let folders = self.folders.iter().map(|folder| format!("data/{folder}"));
        let folders = folders.chain([format!("oracles/found/{}", self.name)]);
        let read = |path: &PathBuf| std::fs::read(path).expect("readable");
        let found = folders.flat_map(|folder| files(&folder).iter().map(read).collect::<Vec<_>>());
        found.chain((self.made)()).collect()
    }
}

const STREAMS: [&str; 6] = [
    "event-log",
    "claude-stream",
    "codex-exec",
    "anthropic-stream",
    "openai-stream",
    "responses-stream",
];

/// All there are.
pub const TARGETS: [Target; 35] = [
    Target {
        name: "claude_code",
        folders: &["claude-code"],
        made: Vec::new,
        hold: |bytes, care| session("claude-code", bytes, care),
    },
    Target {
        name: "codex",
        folders: &["codex"],
        made: Vec::new,
        hold: |bytes, care| session("codex", bytes, care),
    },
    Target {
        name: "gemini",
        folders: &["gemini"],
        made: Vec::new,
        hold: |bytes, care| session("gemini", bytes, care),
    },
    Target {
        name: "qwen",
        folders: &["qwen"],
        made: Vec::new,
        hold: |bytes, care| session("qwen", bytes, care),
    },
    Target {
        name: "opencode",
        folders: &["opencode"],
        made: Vec::new,
        hold: |bytes, care| session("opencode", bytes, care),
    },
    Target {
        name: "copilot_cli",
        folders: &["copilot-cli"],
        made: Vec::new,
        hold: |bytes, care| session("copilot-cli", bytes, care),
    },
    Target {
        name: "pi",
        folders: &["pi"],
        made: Vec::new,
        hold: |bytes, care| session("pi", bytes, care),
    },
    Target {
        name: "vscode_chat",
        folders: &["vscode-chat"],
        made: Vec::new,
        hold: |bytes, care| session("vscode-chat", bytes, care),
    },
    Target {
        name: "continue_dev",
        folders: &["continue"],
        made: Vec::new,
        hold: |bytes, care| session("continue", bytes, care),
    },
    Target {
        name: "droid",
        folders: &["droid"],
        made: Vec::new,
        hold: |bytes, care| session("droid", bytes, care),
    },
    Target {
        name: "kimi",
        folders: &["kimi"],
        made: Vec::new,
        hold: |bytes, care| session("kimi", bytes, care),
    },
    Target {
        name: "atif",
        folders: &["atif"],
        made: Vec::new,
        hold: |bytes, care| session("atif", bytes, care),
    },
    Target {
        name: "swe_agent",
        folders: &["swe-agent"],
        made: Vec::new,
        hold: |bytes, care| session("swe-agent", bytes, care),
    },
    Target {
        name: "mini_swe_agent",
        folders: &["mini-swe-agent"],
        made: Vec::new,
        hold: |bytes, care| session("mini-swe-agent", bytes, care),
    },
    Target {
        name: "openai_agents",
        folders: &["openai-agents"],
        made: Vec::new,
        hold: |bytes, care| session("openai-agents", bytes, care),
    },
    Target {
        name: "goose",
        folders: &["goose"],
        made: Vec::new,
        hold: |bytes, care| session("goose", bytes, care),
    },
    Target {
        name: "llm",
        folders: &["llm"],
        made: Vec::new,
        hold: |bytes, care| session("llm", bytes, care),
    },
    Target {
        name: "aider",
        folders: &["aider"],
        made: Vec::new,
        hold: |bytes, care| session("aider", bytes, care),
    },
    Target {
        name: "kiro",
        folders: &["kiro"],
        made: Vec::new,
        hold: |bytes, care| session("kiro", bytes, care),
    },
    Target {
        name: "amp",
        folders: &["amp"],
        made: Vec::new,
        hold: |bytes, care| session("amp", bytes, care),
    },
    Target {
        name: "langgraph",
        folders: &["langgraph"],
        made: Vec::new,
        hold: |bytes, care| session("langgraph", bytes, care),
    },
    Target {
        name: "cursor",
        folders: &["cursor"],
        made: Vec::new,
        hold: |bytes, care| session("cursor", bytes, care),
    },
    Target {
        name: "cursor_cli",
        folders: &["cursor-cli"],
        made: Vec::new,
        hold: |bytes, care| session("cursor-cli", bytes, care),
    },
    Target {
        name: "zed",
        folders: &["zed"],
        made: Vec::new,
        hold: |bytes, care| session("zed", bytes, care),
    },
    Target {
        name: "roo",
        folders: &["roo"],
        made: Vec::new,
        hold: |bytes, care| session("roo", bytes, care),
    },
    Target {
        name: "chatgpt",
        folders: &["chatgpt"],
        made: Vec::new,
        hold: |bytes, care| session("chatgpt", bytes, care),
    },
    Target {
        name: "claude_ai",
        folders: &["claude-ai"],
        made: Vec::new,
        hold: |bytes, care| session("claude-ai", bytes, care),
    },
    Target {
        name: "bodies",
        folders: &["bodies"],
        made: Vec::new,
        hold: |bytes, care| session("bodies", bytes, care),
    },
    Target {
        name: "chats",
        folders: &["chat"],
        made: Vec::new,
        hold: |bytes, care| one_of(&["openai", "anthropic"], bytes, care),
    },
    Target {
        name: "responses",
        folders: &["responses"],
        made: Vec::new,
        hold: |bytes, care| session("responses", bytes, care),
    },
    Target {
        name: "streams",
        folders: &STREAMS,
        made: Vec::new,
        hold: stream,
    },
    Target {
        name: "messages",
        folders: &["chat", "responses"],
        made: messages::seeds,
        hold: |bytes, care| messages::hold(&text(bytes), care),
    },
    Target {
        name: "revisions",
        folders: &[],
        made: revisions::seeds,
        hold: revision,
    },
    Target {
        name: "bundles",
        folders: &[],
        made: bundles::seeds,
        hold: |bytes, _| bundles::hold(bytes),
    },
    Target {
        name: "shown",
        folders: &[],
        made: shown::seeds,
        hold: |bytes, _| shown::hold_bytes(bytes),
    },
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn session(name: &str, bytes: &[u8], care: Care) {
    let format = Format::named(name).expect("a format");
    sessions::hold(format, bytes, care);
}

/// What looks like one of them is taken for it.
fn one_of(names: &[&str], bytes: &[u8], care: Care) {
    let looks = sniff(&bytes).expect("readable").map(|format| format.name);
    let name = names.iter().find(|name| Some(**name) == looks);
    session(
        name.unwrap_or(&names[Choice::of(bytes).below(names.len())]),
        bytes,
        care,
    );
}

fn stream(bytes: &[u8], care: Care) {
    one_of(&STREAMS, bytes, care);
    streams::hold(bytes, care);
}

fn revision(bytes: &[u8], _: Care) {
    thread_local! {
        static WORLD: revisions::World = revisions::World::new();
    }
    WORLD.with(|world| world.hold(&text(bytes)));
}
