//! `tract setup`: what is written into other programs' settings, and what is left alone.

mod homes;
mod taking_back;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use homes::{HOMES, Machine, full};

#[test]
fn it_is_shown_what_would_be_written_where() {
    let machine = Machine::with(&["systemctl"]);
    full(&machine);
    fs::remove_dir_all(machine.path(".gemini")).expect("removed");
    insta::assert_snapshot!(machine.setup(&[]), @"
    Repository for everything below your home
      + ~/.tract
    Claude Code
      ~/.claude/settings.json
        + hooks.PreCompact                tract guard --hook
        + hooks.PostCompact               tract guard --hook
        + hooks.SessionStart              tract guard --hook
        + hooks.SessionEnd                tract import --hook
        + env.CLAUDE_CODE_ELEGANT_MEADOW  1  keeps each request in the session's file
      ~/.claude.json
        + mcpServers.tract  tract mcp
    Codex
      ~/.codex/config.toml
        + mcp_servers.tract  tract mcp
      ~/.codex/hooks.json
        + hooks.PreCompact    tract guard --hook
        + hooks.PostCompact   tract guard --hook
        + hooks.SessionStart  tract guard --hook
        + hooks.SessionEnd    tract import --hook
    OpenCode
      ~/.config/opencode/opencode.json
        + mcp.tract  tract mcp
    tract watch, from login on
      + ~/.config/systemd/user/tract-watch.service
    Not on this machine: Gemini CLI
    --- stderr
    hint: nothing was written; tract setup --yes writes it
    ");
    let machine = Machine::with(&["systemctl"]);
    for (_, make, _) in HOMES
        .iter()
        .filter(|(name, ..)| name.starts_with("the names are"))
    {
        make(&machine);
    }
    let hooks = json!([{"hooks": [{"type": "command", "command": "~/bin/tract import --hook"}]}]);
    machine.write(
        ".codex/hooks.json",
        json!({"hooks": {"SessionEnd": hooks}}).to_string(),
    );
    insta::assert_snapshot!(machine.setup(&[]), @r#"
    Repository for everything below your home
      + ~/.tract
    Claude Code
      ~/.claude/settings.json
        + hooks.PreCompact                tract guard --hook
        + hooks.PostCompact               tract guard --hook
        + hooks.SessionStart              tract guard --hook
        + hooks.SessionEnd                tract import --hook
        = env.CLAUDE_CODE_ELEGANT_MEADOW  is set to something else, and stays
      ~/.claude.json
        = mcpServers.tract  is set to something else, and stays
    Codex
      ~/.codex/config.toml  (new)
        + mcp_servers.tract  tract mcp
      ~/.codex/hooks.json
        + hooks.PreCompact    tract guard --hook
        + hooks.PostCompact   tract guard --hook
        + hooks.SessionStart  tract guard --hook
        = hooks.SessionEnd    tract import --hook
    tract watch, from login on
      = ~/.config/systemd/user/tract-watch.service  is another one, and stays
    Not on this machine: Gemini CLI, OpenCode
    --- stderr
    hint: nothing was written; tract setup --yes writes it
    "#);
}

#[test]
fn each_client_gets_what_it_reads() {
    let machine = Machine::new();
    full(&machine);
    machine.setup(&["--yes"]);
    insta::assert_snapshot!(machine.read(".claude/settings.json"), @r#"
    {
        // Mine.
        "model": "opus",   /* the best */
        "env": {
            "EDITOR": "vi",
            "CLAUDE_CODE_ELEGANT_MEADOW": "1"
        },
        "hooks": {
            "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }],
            "PreCompact": [{ "matcher": "auto", "hooks": [{ "type": "command", "command": "date" }] },
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "tract guard --hook",
                            "timeout": 30
                        }
                    ]
                }],
            "PostCompact": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "tract guard --hook",
                            "timeout": 30
                        }
                    ]
                }
            ],
            "SessionStart": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "tract guard --hook",
                            "timeout": 30
                        }
                    ],
                    "matcher": "compact"
                }
            ],
            "SessionEnd": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "tract import --hook",
                            "timeout": 3
                        }
                    ]
                }
            ],
        },
    }
    "#);
    insta::assert_snapshot!(machine.read(".codex/config.toml"), @r#"
    # Mine.
    model = "gpt"   # the best

    [mcp_servers.files]
    command = "files"

    [mcp_servers.tract]
    command = "tract"
    args = ["mcp"]

    [tui]
    notifications = true # loud
    "#);
    insta::assert_snapshot!(machine.read(".gemini/settings.json"), @r#"
    {
      "hooks": {
        "PreCompress": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "tract --quiet import --hook",
                "timeout": 30000
              }
            ]
          }
        ],
        "SessionEnd": [
          {
            "hooks": [
              {
                "type": "command",
                "command": "tract --quiet import --hook",
                "timeout": 30000
              }
            ]
          }
        ]
      },
      "mcpServers": {
        "tract": {
          "command": "tract",
          "args": ["mcp"]
        }
      }
    }
    "#);
    insta::assert_snapshot!(machine.read(".config/opencode/opencode.json"), @r#"
    {
    	"$schema": "https://opencode.ai/config.json",
    	"mcp": {
    		"tract": {
    			"type": "local",
    			"command": ["tract", "mcp"],
    			"enabled": true
    		}
    	}
    }
    "#);
    let server = json!({"type": "stdio", "command": "tract", "args": ["mcp"], "env": {}});
    assert_eq!(machine.json(".claude.json")["mcpServers"]["tract"], server);
    let unit = machine.read(".config/systemd/user/tract-watch.service");
    let program = machine.bin().join("tract");
    assert!(
        unit.contains(&format!(
            "\nExecStart={} --repo %h watch\n",
            program.display()
        )),
        "{unit}"
    );
    let log = || fs::read_to_string(machine.bin().join("log")).expect("read");
    assert_eq!(log(), "systemctl --user enable --now tract-watch.service\n");
    machine.setup(&["--undo"]);
    assert!(
        log().ends_with("systemctl --user disable --now tract-watch.service\n"),
        "{}",
        log()
    );
}

#[test]
fn the_plugin_has_the_hooks_and_the_server_that_are_set_up() {
    let machine = Machine::with(&["codex"]);
    machine.setup(&["--yes", "--only", "codex"]);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/plugin/tract");
    let read = |name: &str| -> Value {
        let text = fs::read_to_string(plugin.join(name)).expect("it is there");
        serde_json::from_str(&text).expect("JSON")
    };
    assert_eq!(read("hooks/hooks.json"), machine.json(".codex/hooks.json"));
    let server = &read(".mcp.json")["mcpServers"]["tract"];
    let config = machine.read(".codex/config.toml");
    assert_eq!(
        config,
        "[mcp_servers.tract]\ncommand = \"tract\"\nargs = [\"mcp\"]\n"
    );
    assert_eq!(*server, json!({"command": "tract", "args": ["mcp"]}));
    for manifest in [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"] {
        assert_eq!(
            read(manifest)["version"],
            env!("CARGO_PKG_VERSION"),
            "{manifest}"
        );
    }
}

#[test]
fn a_check_says_what_of_it_works() {
    let machine = Machine::new();
    full(&machine);
    insta::assert_snapshot!(machine.setup(&["--check", "--only", "claude-code"]), @"
    exit code: 1
    Claude Code
      ~/.claude/settings.json
        hooks.PreCompact                tract guard --hook   not set up
        hooks.PostCompact               tract guard --hook   not set up
        hooks.SessionStart              tract guard --hook   not set up
        hooks.SessionEnd                tract import --hook  not set up
        env.CLAUDE_CODE_ELEGANT_MEADOW  1                    not set up
      ~/.claude.json
        mcpServers.tract  tract mcp  not set up
    --- stderr
    Nothing is set up
    hint: tract setup shows what it would write where, and asks
    ");
    machine.setup(&["--yes"]);
    insta::assert_snapshot!(machine.setup(&["--check"]), @"
    exit code: 1
    Repository for everything below your home
        ~/.tract  works
    Claude Code
      ~/.claude/settings.json
        hooks.PreCompact                tract guard --hook   works
        hooks.PostCompact               tract guard --hook   works
        hooks.SessionStart              tract guard --hook   works
        hooks.SessionEnd                tract import --hook  works
        env.CLAUDE_CODE_ELEGANT_MEADOW  1                    works
      ~/.claude.json
        mcpServers.tract  tract mcp  works
    Codex
      ~/.codex/config.toml
        mcp_servers.tract  tract mcp  works
      ~/.codex/hooks.json
        hooks.PreCompact    tract guard --hook   waits for your trust; start codex, type /hooks
        hooks.PostCompact   tract guard --hook   waits for your trust; start codex, type /hooks
        hooks.SessionStart  tract guard --hook   waits for your trust; start codex, type /hooks
        hooks.SessionEnd    tract import --hook  waits for your trust; start codex, type /hooks
    Gemini CLI
      ~/.gemini/settings.json
        hooks.PreCompress  tract --quiet import --hook  works
        hooks.SessionEnd   tract --quiet import --hook  works
        mcpServers.tract   tract mcp                    works
    OpenCode
      ~/.config/opencode/opencode.json
        mcp.tract  tract mcp  works
    tract watch, from login on
        ~/.config/systemd/user/tract-watch.service  does not run
    ");
    // Codex has been told to trust the hooks, the user has taken one out, and the program has gone.
    let config = machine.read(".codex/config.toml");
    let hooks = machine.path(".codex/hooks.json");
    let events = [
        ("pre_compact:0", 1),
        ("post_compact:0", 3),
        ("session_start:0", 4),
        ("session_end:0", 5),
    ];
    let trusted = events.map(|(event, hash)| {
        let key = format!("{}:{event}:0", hooks.display());
        format!("\n[hooks.state.\"{key}\"]\ntrusted_hash = \"sha256:{hash}\"\n")
    });
    machine.write(".codex/config.toml", config + &trusted.concat());
    insta::assert_snapshot!(machine.setup(&["--check", "--only", "codex"]), @"
    Codex
      ~/.codex/config.toml
        mcp_servers.tract  tract mcp  works
      ~/.codex/hooks.json
        hooks.PreCompact    tract guard --hook   works
        hooks.PostCompact   tract guard --hook   works
        hooks.SessionStart  tract guard --hook   works
        hooks.SessionEnd    tract import --hook  works
    ");
    let settings = machine.read(".claude/settings.json");
    let settings = settings.replacen('{', "{\"disableAllHooks\": true,", 1);
    machine.write(".claude/settings.json", settings);
    let settings = machine.read(".codex/config.toml");
    let settings = settings.replace("args = [\"mcp\"]\n", "args = [\"mcp\"]\nenabled = false\n");
    machine.write(
        ".codex/config.toml",
        settings + "[features]\nhooks = false\n",
    );
    insta::assert_snapshot!(machine.setup(&["--check", "--only", "claude-code", "--only", "codex"]), @"
    exit code: 1
    Claude Code
      ~/.claude/settings.json
        hooks.PreCompact                tract guard --hook   is switched off: disableAllHooks
        hooks.PostCompact               tract guard --hook   is switched off: disableAllHooks
        hooks.SessionStart              tract guard --hook   is switched off: disableAllHooks
        hooks.SessionEnd                tract import --hook  is switched off: disableAllHooks
        env.CLAUDE_CODE_ELEGANT_MEADOW  1                    works
      ~/.claude.json
        mcpServers.tract  tract mcp  works
    Codex
      ~/.codex/config.toml
        mcp_servers.tract  tract mcp  is switched off: enabled
      ~/.codex/hooks.json
        hooks.PreCompact    tract guard --hook   is switched off: features.hooks
        hooks.PostCompact   tract guard --hook   is switched off: features.hooks
        hooks.SessionStart  tract guard --hook   is switched off: features.hooks
        hooks.SessionEnd    tract import --hook  is switched off: features.hooks
    ");
    let settings = machine
        .read(".gemini/settings.json")
        .replace("PreCompress", "BeforeTool");
    machine.write(".gemini/settings.json", settings);
    let settings = machine.read(".config/opencode/opencode.json");
    machine.write(
        ".config/opencode/opencode.json",
        settings.replace("\"tract\", \"mcp\"", "\"/gone/tract\", \"mcp\""),
    );
    insta::assert_snapshot!(machine.setup(&["--check", "--only", "gemini", "--only", "opencode"]), @"
    exit code: 1
    Gemini CLI
      ~/.gemini/settings.json
        hooks.PreCompress  tract --quiet import --hook  gone; tract setup writes it again
        hooks.SessionEnd   tract --quiet import --hook  works
        mcpServers.tract   tract mcp                    works
    OpenCode
      ~/.config/opencode/opencode.json
        mcp.tract  tract mcp  /gone/tract is not found; tract setup --undo, then tract setup
    ");
}

#[test]
fn only_one_part_is_set_up_and_taken_back_where_that_is_asked_for() {
    let machine = Machine::new();
    let before = machine.tree();
    machine.setup(&["--yes", "--only", "opencode", "--only", "home"]);
    assert!(
        machine.path(".tract").exists() && machine.path(".config/opencode/opencode.jsonc").exists()
    );
    assert!(!machine.path(".claude").exists() && !machine.path(".codex").exists());
    // What a hook keeps of itself is nobody's message.
    machine.write(".tract/guard.json", "{}");
    machine.setup(&["--undo", "--only", "home"]);
    assert!(
        !machine.path(".tract").exists()
            && machine.path(".config/opencode/opencode.jsonc").exists()
    );
    machine.setup(&["--undo"]);
    assert_eq!(machine.tree(), before);
    insta::assert_snapshot!(machine.setup(&["--only", "emacs"]), @"
    exit code: 2
    --- stderr
    error: invalid value 'emacs' for '--only <PART>' [possible values: home, claude-code, codex, gemini, opencode, watch]
    hint: tract setup --help
    ");
}

#[test]
fn directories_that_variables_name_are_the_ones_that_are_set_up() {
    let machine = Machine::with(&["claude", "codex", "opencode"]);
    let named = [
        ("CLAUDE_CONFIG_DIR", "c"),
        ("CODEX_HOME", "x"),
        ("XDG_CONFIG_HOME", "s"),
    ];
    let named = named.map(|(name, folder)| (name, machine.path(folder)));
    let mut command = machine.command(&["--yes"]);
    let output = command.envs(named.clone()).output().expect("it runs");
    assert!(output.status.success(), "{}", machine.sandbox.told(&output));
    for name in [
        "c/settings.json",
        "c/.claude.json",
        "x/config.toml",
        "x/hooks.json",
        "s/opencode/opencode.jsonc",
    ] {
        assert!(machine.path(name).exists(), "{name}");
    }
    let mut command = machine.command(&["--undo"]);
    command.envs(named).output().expect("it runs");
    assert_eq!(machine.tree().len(), 1);
}

#[test]
fn the_files_of_another_user_are_left_alone() {
    let machine = Machine::with(&["claude", "codex"]);
    full(&machine);
    let owner = fs::metadata(machine.home()).expect("it is there");
    if std::os::unix::fs::MetadataExt::uid(&owner) != 0 {
        eprintln!("ignored: giving files to another user takes root");
        return;
    }
    for name in [".claude/settings.json", ".codex"] {
        std::os::unix::fs::chown(machine.path(name), Some(64_321), None).expect("root may");
    }
    insta::assert_snapshot!(machine.setup(&["--yes", "--only", "claude-code", "--only", "codex", "-q"]), @"
    exit code: 1
    Claude Code
      ~/.claude.json
        + mcpServers.tract  tract mcp
    Codex
    --- stderr
    error: [SANDBOX]/home/.claude/settings.json: it belongs to another user, so it is left as it is
    hint: run tract setup as that user
    error: [SANDBOX]/home/.codex/config.toml: its folder belongs to another user, so it is left as it is
    hint: run tract setup as that user
    error: [SANDBOX]/home/.codex/hooks.json: its folder belongs to another user, so it is left as it is
    hint: run tract setup as that user
    ");
}

#[test]
fn without_a_service_manager_or_a_home_it_says_so() {
    let machine = Machine::with(&[]);
    insta::assert_snapshot!(machine.setup(&["--only", "watch", "--only", "gemini"]), @"
    tract watch, from login on
      neither systemd nor launchd is here; the hooks bring sessions in
    Not on this machine: Gemini CLI
    --- stderr
    Nothing is left to write; tract setup --check says what of it works
    ");
    let mut command = machine.command(&[]);
    let output = command.env_remove("HOME").output().expect("it runs");
    insta::assert_snapshot!(machine.sandbox.told(&output), @r"
    exit code: 1
    --- stderr
    error: HOME is not set, so it is not known whose settings are meant
    hint: tract setup --help
    ");
    let failing = Machine::with(&["systemctl"]);
    fs::write(failing.bin().join("systemctl"), "#!/bin/sh\nexit 1\n").expect("written");
    insta::assert_snapshot!(failing.setup(&["--yes", "--only", "watch"]), @"
    tract watch, from login on
      + ~/.config/systemd/user/tract-watch.service
    --- stderr
    note: tract watch could not be started from here
    hint: systemctl --user enable --now tract-watch.service starts it, in a session of yours
    Wrote 1 file
    hint: tract setup --check says what of it works; tract setup --undo takes it back
    ");
    failing.write(".config/tract/setup/record.json", "{");
    insta::assert_snapshot!(failing.setup(&["--undo"]), @"
    exit code: 1
    --- stderr
    error: [SANDBOX]/home/.config/tract/setup/record.json: what was set up cannot be read: EOF while parsing an object at line 1 column 1
    hint: the copies beside it are the files as they were before
    ");
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_it_asks_first() {
    for (answer, is_yes) in [("y\n", true), ("n\n", false), ("\n", false)] {
        let machine = Machine::with(&[]);
        let ours = machine.command(&["--only", "home"]);
        let words = ours
            .get_args()
            .map(|word| word.to_string_lossy().into_owned());
        let line = format!(
            "{} {}",
            env!("CARGO_BIN_EXE_tract"),
            words.collect::<Vec<_>>().join(" ")
        );
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env_clear();
        script.envs(
            ours.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        script.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let child = script
            .current_dir(machine.home())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("ignored: there is no script(1)");
            return;
        };
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(answer.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("it ends");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains("Write this? [y/N]"), "{told}");
        assert_eq!(machine.path(".tract").exists(), is_yes, "{told}");
    }
}
