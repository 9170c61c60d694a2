//! Homes in which `tract setup` is tried: full, empty, broken, linked, read-only.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A home, and the programs that a user of it has.
pub struct Machine {
    pub sandbox: Sandbox,
}

/// What is at one place.
#[derive(Debug, PartialEq, Eq)]
pub enum Thing {
    Folder(u32),
    File(u32, Vec<u8>),
    Link(PathBuf),
}

impl Machine {
    /// With these programs and nothing else.
    pub fn with(programs: &[&str]) -> Self {
        let machine = Self {
            sandbox: Sandbox::empty(),
        };
        fs::create_dir(machine.bin()).expect("made");
        symlink(env!("CARGO_BIN_EXE_tract"), machine.bin().join("tract")).expect("linked");
        for program in programs {
            // What is asked of a program is written down, and nothing is started.
            let log = machine.bin().join("log");
            let text = format!("#!/bin/sh\necho {program} \"$@\" >> '{}'\n", log.display());
            let path = machine.bin().join(program);
            fs::write(&path, text).expect("written");
            fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("set");
        }
        machine
    }

    /// With all tools.
    pub fn new() -> Self {
        Self::with(&["claude", "codex", "gemini", "opencode", "systemctl"])
    }

    pub fn bin(&self) -> PathBuf {
        self.sandbox.home().with_file_name("bin")
    }

    pub fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command(&[&["setup"], arguments].concat());
        command.env("PATH", self.bin());
        command
    }

    pub fn setup(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("it runs");
        self.sandbox.told(&output)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(path, text).expect("written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    pub fn mode(&self, name: &str, mode: u32) {
        let permissions = PermissionsExt::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("set");
    }

    /// All that is in the home.
    pub fn tree(&self) -> BTreeMap<PathBuf, Thing> {
        let mut tree = BTreeMap::new();
        walk(&self.home(), &mut tree);
        tree
    }
}

fn walk(path: &Path, tree: &mut BTreeMap<PathBuf, Thing>) {
    let facts = fs::symlink_metadata(path).expect("it is there");
    let mode = facts.permissions().mode() & 0o7777;
    let thing = if facts.is_symlink() {
        Thing::Link(fs::read_link(path).expect("a link"))
    } else if facts.is_dir() {
        for entry in fs::read_dir(path).expect("a folder") {
            walk(&entry.expect("an entry").path(), tree);
        }
        Thing::Folder(mode)
    } else {
        Thing::File(mode, fs::read(path).expect("a file"))
    };
    tree.insert(path.to_owned(), thing);
}

pub const CLAUDE: &str = r#"{
    // Mine.
    "model": "opus",   /* the best */
    "env": { "EDITOR": "vi" },
    "hooks": {
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
        "PreCompact": [{ "matcher": "auto", "hooks": [{ "type": "command", "command": "date" }] }],
    },
}
"#;
pub const STATE: &str = "{\n  \"numStartups\": 7,\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"files\"\n    }\n  }\n}";
pub const CODEX: &str = "# Mine.\nmodel = \"gpt\"   # the best\n\n[mcp_servers.files]\ncommand = \"files\"\n\n[tui]\nnotifications = true # loud\n";

pub fn full(machine: &Machine) {
    machine.write(".claude/settings.json", CLAUDE);
    machine.write(".claude.json", STATE);
    machine.write(".codex/config.toml", CODEX);
    machine.write(".codex/hooks.json", "{\"hooks\":{}}");
    machine.write(".gemini/settings.json", "{ }\n\n");
    machine.write(
        ".config/opencode/opencode.json",
        "{\n\t\"$schema\": \"https://opencode.ai/config.json\"\n}\n",
    );
    machine.mode(".claude.json", 0o600);
    machine.mode(".claude/settings.json", 0o640);
}

/// A home's name, how it is made, and how many of its files are refused.
type Made = (&'static str, fn(&Machine), usize);

/// The homes.
pub const HOMES: [Made; 20] = [
    ("nothing is there", |_| {}, 0),
    ("all is there, with remarks", full, 0),
    (
        "files without anything in them",
        |machine| {
            machine.write(".claude/settings.json", "");
            machine.write(".claude.json", "\n");
            machine.write(".codex/config.toml", "");
            machine.write(".gemini/settings.json", "// nothing yet\n");
        },
        0,
    ),
    (
        "files of another system",
        |machine| {
            machine.write(
                ".claude/settings.json",
                "\u{feff}{\r\n  \"model\": \"opus\"\r\n}\r\n",
            );
            machine.write(
                ".codex/config.toml",
                "model = \"gpt\"\r\n\r\n[tui]\r\nx = 1\r\n",
            );
        },
        0,
    ),
    (
        "hooks and a server by hand",
        |machine| {
            let hook =
                json!([{"hooks": [{"type": "command", "command": "~/bin/tract import --hook"}]}]);
            let settings = json!({"hooks": {"PreCompact": hook, "SessionEnd": hook}});
            machine.write(".claude/settings.json", settings.to_string());
            machine.write(
                ".claude.json",
                r#"{"mcpServers":{"tract":{"command":"tract","args":["mcp"]}}}"#,
            );
            machine.write(
                ".codex/config.toml",
                "mcp_servers.tract = { command = \"tract\", args = [\"mcp\"] }\n",
            );
        },
        0,
    ),
    (
        "the names are taken",
        |machine| {
            machine.write(
                ".claude/settings.json",
                r#"{"env":{"CLAUDE_CODE_ELEGANT_MEADOW":"0"}}"#,
            );
            machine.write(
                ".claude.json",
                r#"{"mcpServers":{"tract":{"type":"http","url":"http://127.0.0.1:1"}}}"#,
            );
            machine.write(
                ".config/systemd/user/tract-watch.service",
                "[Service]\n# mine\n",
            );
        },
        0,
    ),
    (
        "files are links",
        |machine| {
            full(machine);
            fs::create_dir(machine.path("dotfiles")).expect("made");
            for name in [".claude.json", ".codex"] {
                let kept = machine.path("dotfiles").join(name);
                fs::rename(machine.path(name), &kept).expect("moved");
                symlink(Path::new("dotfiles").join(name), machine.path(name)).expect("linked");
            }
        },
        0,
    ),
    (
        "a repository with messages",
        |machine| {
            let home = machine.home().display().to_string();
            machine.sandbox.ok(&["--repo", &home, "init"]);
            machine
                .sandbox
                .ok(&["--repo", &home, "commit", "-r", "user", "-m", "one"]);
        },
        0,
    ),
    (
        "the newer names of files",
        |machine| {
            machine.write(".config/opencode/opencode.jsonc", "{\n  // mine\n}\n");
            machine.write(".config/opencode/opencode.json", "{}");
            machine.write(".claude/.config.json", "{}");
        },
        0,
    ),
    (
        "settings in braces alone",
        |machine| {
            machine.write(".claude/settings.json", "{}");
            machine.write(".claude.json", "{}\n");
            machine.write(
                ".gemini/settings.json",
                "{\"mcpServers\": {}, \"hooks\": {\"SessionEnd\": []}}",
            );
        },
        0,
    ),
    (
        "broken JSON",
        |machine| {
            full(machine);
            machine.write(
                ".claude/settings.json",
                "{\n  \"model\": \"opus\",\n  \"hooks\": {\n}\n",
            );
        },
        1,
    ),
    (
        "broken TOML",
        |machine| {
            full(machine);
            machine.write(".codex/config.toml", "model = \"gpt\"\n[tui\n");
        },
        1,
    ),
    (
        "bytes that are no text",
        |machine| {
            full(machine);
            machine.write(".gemini/settings.json", b"{\"a\": \"\xff\"}");
        },
        1,
    ),
    (
        "another form than known",
        |machine| {
            full(machine);
            machine.write(".claude/settings.json", "{\"hooks\": [], \"env\": {}}");
            machine.write(".claude.json", "[]");
        },
        2,
    ),
    (
        "a name that stands there twice",
        |machine| {
            full(machine);
            machine.write(
                ".claude.json",
                "{\"mcpServers\": {}, \"mcpServers\": {\"a\": {}}}",
            );
        },
        1,
    ),
    (
        "read-only files",
        |machine| {
            full(machine);
            machine.mode(".claude/settings.json", 0o444);
            machine.mode(".codex/config.toml", 0o400);
        },
        2,
    ),
    (
        "a read-only folder",
        |machine| {
            full(machine);
            machine.mode(".codex", 0o500);
        },
        2,
    ),
    (
        "a link that leads nowhere",
        |machine| {
            full(machine);
            fs::remove_file(machine.path(".claude.json")).expect("removed");
            symlink("gone/claude.json", machine.path(".claude.json")).expect("linked");
        },
        1,
    ),
    (
        "a folder in place of a file",
        |machine| {
            full(machine);
            fs::remove_file(machine.path(".codex/hooks.json")).expect("removed");
            fs::create_dir(machine.path(".codex/hooks.json")).expect("made");
        },
        1,
    ),
    (
        "a file of two names",
        |machine| {
            full(machine);
            fs::hard_link(machine.path(".claude.json"), machine.path("other")).expect("linked");
        },
        1,
    ),
];
