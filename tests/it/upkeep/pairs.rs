//! The law of pairs: two processes at once do what one after the other would have done. Of every two commands that change a
//! repository, collectors and repairs among them, each outcome that was acknowledged is there, and what was refused left
//! nothing.
//!
//! The model is the program itself, one command after the other. Each pair runs at once on the same repository, which is put
//! back before; then in turn, in one order and the other, until an order has led to the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use tract::deeds::METHODS;
use tract::model::RefValue;
use tract::repo::Repo;

use crate::conditions;
use crate::sandbox::Sandbox;

/// A command that changes something.
struct Deed {
    /// As the list of commands has it.
    command: &'static str,
    line: &'static str,
    input: &'static str,
}

const fn deed(command: &'static str, line: &'static str) -> Deed {
    let input = "";
    Deed {
        command,
        line,
        input,
    }
}

const fn told(command: &'static str, line: &'static str, input: &'static str) -> Deed {
    Deed {
        command,
        line,
        input,
    }
}

/// What is done at once. Words stand apart by spaces. What a name means is settled as a command begins: so messages and commits
/// go by tags that no deed moves, and not by their places.
const DEEDS: &[Deed] = &[
    deed("init", "init"),
    deed("import", "import grown.jsonl"),
    deed("import", "import new.jsonl"),
    deed("import", "import --onto side grown.jsonl"),
    deed("import", "import back.jsonl"),
    deed("watch", "watch --once"),
    deed("commit", "commit -r user -m one"),
    deed("commit", "commit -r user -m two --model gpt-5"),
    deed("commit", "--on side commit -r user -m three"),
    deed("commit", "commit --edit m2 -m changed"),
    told(
        "commit",
        "commit --batch -",
        "{\"role\":\"user\",\"content\":\"four\"}\n{\"role\":\"assistant\",\"content\":\"five\"}\n",
    ),
    deed("annotate", "annotate m3 --pin"),
    deed("annotate", "annotate m2 --skip"),
    deed("shrink", "shrink --to 40 --by-our-count"),
    deed("prune", "prune --turns 0 --protect 0 --min 0"),
    deed("drop", "drop m5"),
    deed("truncate", "truncate --keep 2"),
    deed("compact", "compact m2..m5 -m short"),
    deed("clear", "clear"),
    deed("clear", "clear --purge --force"),
    deed("undo", "undo"),
    deed("undo", "undo --to 22"),
    deed("redo", "redo"),
    deed("restore", "restore dropped"),
    deed("revert", "revert m5"),
    deed("revert", "revert dropped"),
    deed("pick", "pick beside"),
    deed("reset", "reset v1"),
    deed("reset", "reset --hard v1"),
    deed("checkout", "checkout side"),
    deed("checkout", "checkout -b fresh"),
    deed("branch", "branch fresh beside"),
    deed("branch", "branch -m other renamed"),
    deed("branch", "branch -m grown kept"),
    deed("branch", "branch -d other"),
    deed("tag", "tag v2"),
    deed("tag", "tag -d spare"),
    deed("merge", "merge beside"),
    deed("merge", "merge beside --messages"),
    deed("resolve", "resolve m5 --theirs"),
    deed("rebase", "--on side rebase last"),
    deed("bisect", "bisect start last"),
    deed("run", "run v1 --name tried --exec cat"),
    told(
        "record",
        "record",
        include_str!("../../data/claude-stream/tools.jsonl"),
    ),
    deed("api", "api commit {\"role\":\"user\",\"text\":\"six\"}"),
    deed("push", "push o side --allow-secrets"),
    deed("fetch", "fetch o"),
    deed("pull", "pull o --merge"),
    deed("remote", "remote add p elsewhere"),
    deed("remote", "remote set-url o moved"),
    deed("remote", "remote rename o q"),
    deed("remote", "remote remove o"),
    deed("bundle", "bundle out.tract main --allow-secrets"),
    deed("unbundle", "unbundle in.tract"),
    deed("config", "config budget.max 90000"),
    deed("config", "config --unset budget.max"),
    deed("redact", "redact"),
    deed("purge", "purge --match erase.me --force"),
    deed("gc", "gc"),
    deed("gc", "gc --expire now"),
    deed("gc", "gc --expire now --keep 1"),
    deed("fsck", "fsck --repair"),
    deed("backup", "backup out.db"),
    deed("backup", "backup --restore --force in.db"),
];

/// Whether a command forgets what the log says of earlier ones. Where it comes between two operations of one command, as of a
/// pull that merges, it forgets the first.
fn forgets(deed: &Deed) -> bool {
    let is_told = |word: &str| deed.line.contains(word);
    is_told("--expire now") || is_told("purge")
}

/// The operations of a command that is two of them: another command may come between (docs/reliability.md).
fn parts(whole: &Deed) -> Option<[Deed; 2]> {
    (whole.line == "pull o --merge")
        .then(|| [deed("fetch", "fetch o"), deed("merge", "merge o/main")])
}

/// Whether a command waits for a program of the user's, which is `cat`. What others do meanwhile comes between what it is given
/// and its answer, which is said anew: also of what a purge has erased by then.
fn waits(deed: &Deed) -> bool {
    deed.line.ends_with("--exec cat")
}

/// Whether one of them renames or removes a remote to which the other pushes. The other repository has what was pushed; where
/// its refs were seen is then written down for nobody.
fn parts_from_remote(one: &Deed, other: &Deed) -> bool {
    one.command == "push" && other.command == "remote"
        || one.command == "remote" && other.command == "push"
}

/// What changes no repository, or only one that nobody else is at, beside the methods that say so themselves.
const ELSEWHERE: &[(&str, &str)] = &[
    ("setup", "changes settings of other programs"),
    ("resume", "writes a session for another program"),
    ("clone", "makes a repository of its own"),
    ("demo", "has a repository of its own"),
    ("chat", "commits as commit does, once a model has answered"),
    ("mcp", "asks for what api asks for"),
    ("web", "asks for what api asks for"),
    ("completions", "writes a file of the shell's"),
    ("man", "writes pages"),
    ("guard", "reads"),
    ("view", "reads"),
    ("help", "reads"),
];

/// A record of a session of Claude Code.
fn record(session: &str, at: usize) -> String {
    let kind = ["user", "assistant"][at % 2];
    let parent = match at.checked_sub(1) {
        Some(parent) => format!("\"00000000-0000-4000-8000-{parent:012}\""),
        None => "null".to_owned(),
    };
    format!(
        "{{\"type\":\"{kind}\",\"parentUuid\":{parent},\"uuid\":\"00000000-0000-4000-8000-{at:012}\",\
         \"isSidechain\":false,\"sessionId\":\"{session}\",\"cwd\":\"/work\",\
         \"timestamp\":\"2026-01-02T03:04:05Z\",\
         \"message\":{{\"role\":\"{kind}\",\"content\":\"{session} {at}.\"}}}}\n"
    )
}

fn records(session: &str, count: usize) -> String {
    (0..count).map(|at| record(session, at)).collect()
}

/// Where pairs are tried, again and again from the same beginning.
struct Ground {
    sandbox: Sandbox,
    server: Option<Server>,
}

/// A database that is made anew from another one.
struct Server {
    socket: String,
    name: String,
}

impl Server {
    fn address(&self) -> String {
        format!(
            "postgres://tract@/{}?host={}&schema=pairs",
            self.name, self.socket
        )
    }

    #[cfg(feature = "postgres")]
    fn ask(&self, sql: &str) {
        let address = format!(
            "postgres://tract@/postgres?host={}&schema=public",
            self.socket
        );
        crate::sandbox::ask_server(&address, sql);
    }

    #[cfg(not(feature = "postgres"))]
    fn ask(&self, _: &str) {}

    fn anew(&self, from: &str, to: &str) {
        self.ask(&format!("DROP DATABASE IF EXISTS {to} WITH (FORCE)"));
        self.ask(&format!("CREATE DATABASE {to} TEMPLATE {from}"));
    }
}

/// What folders are put back.
const FOLDERS: [&str; 2] = ["work", "home"];

impl Ground {
    fn new(server: Option<Server>) -> Self {
        if let Some(server) = &server {
            server.anew("template1", &server.name);
        }
        let sandbox = Sandbox::empty();
        let ground = Self { sandbox, server };
        ground.begin();
        let root = ground.root();
        for folder in FOLDERS {
            copy(&root.join(folder), &root.join("saved").join(folder));
        }
        if let Some(server) = &ground.server {
            server.anew(&server.name, &format!("{}_saved", server.name));
        }
        ground
    }

    fn root(&self) -> PathBuf {
        self.sandbox
            .work()
            .parent()
            .expect("it is in one")
            .to_owned()
    }

    fn place(&self) -> PathBuf {
        match &self.server {
            Some(server) => server.address().into(),
            None => self.sandbox.work(),
        }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = self.sandbox.command(words);
        match &self.server {
            Some(server) => command.env("TRACT_REPO", server.address()),
            None => command.env_remove("TRACT_REPO"),
        };
        command
    }

    fn ok(&self, words: &[&str]) {
        let output = self.command(words).output().expect("the program runs");
        assert!(
            output.status.success(),
            "{words:?}: {}",
            self.sandbox.told(&output)
        );
    }

    /// A conversation with everything that the deeds name.
    fn begin(&self) {
        let words = |line: &'static str| line.split(' ').collect::<Vec<_>>();
        let write = |name: &str, text: &str| drop(self.sandbox.write(name, text));
        self.ok(&["init"]);
        let secret = format!(
            "the token is ghp_{}",
            "q7Zk2mWx9RtB4vLc8YpN3sHd6GfJ5uKe0042"
        );
        self.ok(&["commit", "-r", "system", "-m", "You are helpful."]);
        self.ok(&["commit", "-r", "user", "-m", "Read the file."]);
        let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#;
        let result = format!(
            r#"{{"role":"tool","tool_call_id":"c1","content":"{}"}}"#,
            "a line of it, and ".repeat(90)
        );
        write("batch.jsonl", &format!("{call}\n{result}\n"));
        self.ok(&["commit", "--batch", "batch.jsonl"]);
        self.ok(&["commit", "-r", "user", "-m", &secret]);
        self.ok(&["commit", "-r", "user", "-m", "erase me"]);
        self.ok(&["commit", "-r", "assistant", "-m", "So be it."]);
        self.ok(&["commit", "-r", "user", "-m", "to be dropped"]);
        self.ok(&["drop", ":-1", "--force"]);
        for line in [
            "tag dropped",
            "tag m2 :2",
            "tag m3 :3",
            "tag m5 :5",
            "tag v1 HEAD~2",
            "tag spare HEAD~2",
            "branch other HEAD~1",
            "checkout -b side",
        ] {
            self.ok(&words(line));
        }
        self.ok(&["commit", "-r", "user", "-m", "beside"]);
        self.ok(&["commit", "-r", "assistant", "-m", "beside as well"]);
        self.ok(&["tag", "beside"]);
        self.ok(&["checkout", "main"]);
        self.ok(&["commit", "-r", "user", "-m", "the last of these"]);
        self.ok(&["tag", "last"]);
        for session in ["grown", "back"] {
            let name = format!("{session}.jsonl");
            write(&name, &records(session, 4));
            self.ok(&["import", &name]);
        }
        write("grown.jsonl", &records("grown", 6));
        write("new.jsonl", &records("new", 3));
        let folder = self.sandbox.home().join(".claude/projects/-work");
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join("watched.jsonl"), records("watched", 3)).expect("written");
        self.there(&["init", "o"]);
        self.ok(&["remote", "add", "o", "o"]);
        self.ok(&["push", "o", "main", "--allow-secrets"]);
        self.there(&["--repo", "o", "commit", "-r", "user", "-m", "there"]);
        self.there(&[
            "--repo",
            "o",
            "bundle",
            "in.tract",
            "main",
            "--allow-secrets",
        ]);
        self.ok(&["config", "budget.max", "100000"]);
        if self.server.is_none() {
            self.ok(&["backup", "in.db"]);
        }
        self.ok(&["commit", "-r", "user", "-m", "here"]);
        self.ok(&["commit", "-r", "user", "-m", "taken back"]);
        self.ok(&["undo"]);
    }

    /// The same of the other repository, which is a folder.
    fn there(&self, words: &[&str]) {
        let mut command = self.sandbox.command(words);
        let output = command.env_remove("TRACT_REPO").output().expect("it runs");
        assert!(output.status.success(), "{}", self.sandbox.told(&output));
    }

    fn put_back(&self) {
        let root = self.root();
        for folder in FOLDERS {
            fs::remove_dir_all(root.join(folder)).expect("removed");
            copy(&root.join("saved").join(folder), &root.join(folder));
        }
        if let Some(server) = &self.server {
            server.anew(&format!("{}_saved", server.name), &server.name);
        }
    }

    fn start(&self, deed: &Deed, minute: i64) -> Child {
        self.spawn(self.of(deed, minute), deed.input)
    }

    fn of(&self, deed: &Deed, minute: i64) -> Command {
        let words: Vec<&str> = deed.line.split(' ').collect();
        let mut command = self.command(&words);
        // The same in whichever order.
        command.env("TRACT_CLOCK", (CLOCK + 60_000 * minute).to_string());
        command
    }

    fn spawn(&self, mut command: Command, input: &str) -> Child {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut pipe = child.stdin.take().expect("it is piped");
        // Who takes nothing in closes it.
        let _ = pipe.write_all(input.as_bytes());
        child
    }

    /// Does a deed that waits for a program, and the other while it waits: whether each was acknowledged.
    fn meanwhile(&self, whole: (&Deed, i64), other: (&Deed, i64)) -> [bool; 2] {
        self.put_back();
        let programs = self.root().join("programs");
        fs::create_dir_all(&programs).expect("made");
        let place = |name: &str| programs.join(name).display().to_string();
        let its = self.of(other.0, other.1);
        let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().expect("UTF-8"));
        let set = its.get_envs().map(|(name, value)| match value {
            Some(value) => format!(
                "export {}={}\n",
                name.to_str().expect("UTF-8"),
                quoted(value)
            ),
            None => format!("unset {}\n", name.to_str().expect("UTF-8")),
        });
        let words: Vec<String> = std::iter::once(its.get_program())
            .chain(its.get_args())
            .map(quoted)
            .collect();
        let script = format!(
            "#!/bin/sh\n/bin/cat > {given}\n(\n{}cd '{}'\n{} < {input} > /dev/null 2> {said}\n)\n\
             echo $? > {code}\nexec /bin/cat {given}\n",
            set.collect::<String>(),
            self.sandbox.work().display(),
            words.join(" "),
            given = place("given"),
            input = place("input"),
            said = place("said"),
            code = place("code"),
        );
        fs::write(place("input"), other.0.input).expect("written");
        let program = place("cat");
        fs::write(&program, script).expect("written");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("set");
        let mut command = self.of(whole.0, whole.1);
        let path = std::env::var("PATH").expect("a path");
        command.env("PATH", format!("{}:{path}", programs.display()));
        let (is_whole, _) = ended(self.spawn(command, whole.0.input));
        let said = fs::read_to_string(place("said")).expect("it ran");
        let code = fs::read_to_string(place("code")).expect("it ran");
        [is_whole, is_acknowledged(code.trim() == "0", &said)]
    }

    fn state(&self) -> State {
        let mut state = State::of(&self.place());
        let work = self.sandbox.work();
        state.beside.insert("o", State::of(&work.join("o")).refs);
        for name in ["out.tract", "out.db"] {
            let bytes = fs::read(work.join(name)).ok();
            let refs = bytes.map(|_| self.refs_in(name));
            state.beside.extend(refs.map(|refs| (name, refs)));
        }
        state
    }

    /// The refs of a bundle or of a backup, read into a repository of its own.
    fn refs_in(&self, name: &str) -> BTreeMap<String, String> {
        let aside = tempfile::tempdir().expect("a folder");
        let file = self.sandbox.work().join(name);
        let file = file.to_str().expect("UTF-8");
        let run = |words: &[&str]| {
            let mut command = self.sandbox.command(words);
            let command = command.current_dir(aside.path()).env_remove("TRACT_REPO");
            let output = command.output().expect("it runs");
            assert!(
                output.status.success(),
                "{words:?}: {}",
                self.sandbox.told(&output)
            );
        };
        run(&["init"]);
        if name.ends_with(".db") {
            run(&["backup", "--restore", "--force", file]);
        } else {
            run(&["unbundle", file]);
        }
        State::of(aside.path()).refs
    }
}

/// After all that the ground was made with.
const CLOCK: i64 = 1_773_576_000_000;

/// What is told of a repository: nothing of where in it something lies, for that is another matter in each order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    refs: BTreeMap<String, String>,
    /// What a model would be sent at each.
    contexts: BTreeMap<String, Vec<String>>,
    /// What the log says, in no order: a command may be several operations.
    log: Vec<String>,
    config: BTreeMap<String, String>,
    /// Refs of repositories and files beside it.
    beside: BTreeMap<&'static str, BTreeMap<String, String>>,
    faults: Vec<String>,
}

impl State {
    /// Leaves out where refs of others were seen.
    fn forget_seen(&mut self) {
        let is_own = |name: &String| !name.starts_with("refs/remotes/");
        self.refs.retain(|name, _| is_own(name));
        self.contexts.retain(|name, _| is_own(name));
    }

    fn of(place: &Path) -> Self {
        let repo = Repo::open(place).expect("opens");
        let mut state = Self::default();
        for (name, value) in repo.references("").expect("refs") {
            if let RefValue::Commit(commit) = &value {
                let context = repo.context(commit).expect("a context");
                let messages = repo.messages(&context).expect("messages");
                let texts = messages
                    .iter()
                    .map(|message| format!("{:?}", message.parts));
                state.contexts.insert(name.to_string(), texts.collect());
            }
            state.refs.insert(name.to_string(), format!("{value:?}"));
        }
        let log = repo.operations(0).expect("a log");
        state.log = log.into_iter().map(|entry| entry.operation.what).collect();
        state.log.sort();
        let config = repo.config().expect("settings");
        let set = config
            .iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        state.config = set.collect();
        let checked = repo.fsck(false, &mut |_| Ok(())).expect("checked");
        state.faults = checked.faults.iter().map(ToString::to_string).collect();
        state
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("reads") {
        let entry = entry.expect("reads");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("reads").is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).expect("copied");
        }
    }
}

/// Whether it was acknowledged, and what it said beside that. It may be refused, or told that others were at work; nobody finds
/// damage.
fn ended(child: Child) -> (bool, String) {
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 2 | 4)),
        "{:?}: {said}",
        output.status
    );
    (is_acknowledged(output.status.success(), &said), said)
}

/// What is erased is erased also where the command says who has to go before its files are written anew.
fn is_acknowledged(is_success: bool, said: &str) -> bool {
    is_success || said.contains("the files still hold it")
}

/// What is there after these deeds, one after the other, and whether each was acknowledged.
fn in_turn(ground: &Ground, deeds: &[(&Deed, i64)]) -> (State, Vec<bool>) {
    ground.put_back();
    let deeds = deeds.iter();
    let told: Vec<bool> = deeds
        .map(|(deed, minute)| ended(ground.start(deed, *minute)).0)
        .collect();
    (ground.state(), told)
}

/// What is there when the one that is two operations, or waits, has the other in between, if just so much is acknowledged.
fn between(
    ground: &Ground,
    whole: (&Deed, i64),
    other: (&Deed, i64),
    told: [bool; 2],
) -> Option<State> {
    if waits(whole.0) {
        let by = ground.meanwhile(whole, other);
        return (told == by).then(|| ground.state());
    }
    let [first, last] = parts(whole.0)?;
    let (state, by) = in_turn(ground, &[(&first, whole.1), other, (&last, whole.1)]);
    (told == [by[0] && by[2], by[1]]).then_some(state)
}

/// Tries a pair, the second so many milliseconds after the first.
fn at_once(ground: &Ground, one: &Deed, other: &Deed, lag: u64) -> Result<(), String> {
    let (a, b) = ((one, 1), (other, 2));
    ground.put_back();
    let first = ground.start(one, a.1);
    thread::sleep(Duration::from_millis(lag));
    let second = ground.start(other, b.1);
    let ((is_one, said_one), (is_other, said_other)) = (ended(first), ended(second));
    let mut state = ground.state();
    if !state.faults.is_empty() {
        return Err(format!("damage: {:?}", state.faults));
    }
    let is_several = parts(one).is_some() || parts(other).is_some();
    // A run is one for its branch and one for its answer.
    let is_logged = !is_several && !waits(one) && !waits(other);
    // It merges what it fetched by its hash, also where an undo has moved the ref back by then.
    if is_several && [one, other].iter().any(|deed| deed.command == "undo") {
        return Ok(());
    }
    let simplify = |state: &mut State| {
        if !is_logged || forgets(one) || forgets(other) {
            state.log.clear();
        }
        if parts_from_remote(one, other) {
            state.log.clear();
            state.forget_seen();
        }
    };
    simplify(&mut state);
    let orders: &[(&str, &[(&Deed, i64)])] = match (is_one, is_other) {
        (true, true) => &[("the first", &[a, b]), ("the second", &[b, a])],
        (true, false) => &[("the first alone", &[a])],
        (false, true) => &[("the second alone", &[b])],
        (false, false) => &[("nobody", &[])],
    };
    // Each is tried where those before it have not led there.
    let in_turn = orders.iter().map(|(who, deeds)| {
        let (state, told) = in_turn(ground, deeds);
        (*who, Some(state).filter(|_| !told.contains(&false)))
    });
    let parted = [
        ("the second between", a, b, [is_one, is_other]),
        ("the first between", b, a, [is_other, is_one]),
    ];
    let parted = parted
        .into_iter()
        .map(|(who, whole, other, told)| (who, between(ground, whole, other, told)));
    let mut told = format!("acknowledged: {is_one} {is_other}\n{said_one}{said_other}");
    for (who, allowed) in in_turn.chain(parted) {
        let Some(mut allowed) = allowed else { continue };
        simplify(&mut allowed);
        if allowed == state {
            return Ok(());
        }
        told += &format!("as after {who}:\n{}", difference(&state, &allowed));
    }
    Err(told)
}

fn difference(state: &State, wanted: &State) -> String {
    let lines = |state: &State| -> BTreeSet<String> {
        let text = format!("{state:#?}");
        let mut section = String::new();
        text.lines()
            .map(|line| {
                if line.starts_with("    ") && !line.starts_with("     ") {
                    section = line.trim().to_owned();
                }
                format!("{section} {}\n", line.trim())
            })
            .collect()
    };
    let (is, wanted) = (lines(state), lines(wanted));
    let more = is.difference(&wanted).map(|line| format!("  + {line}"));
    let less = wanted.difference(&is).map(|line| format!("  - {line}"));
    more.chain(less).collect()
}

/// Numbers that nobody chose, the same from the same seed.
struct Chance(u64);

impl Chance {
    /// One below `most`.
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % most as u64) as usize
    }
}

/// How many pairs are tried: so many by a plain run, `full` by `.ci/long`, and as many times that as `TRACT_LAWS` says.
fn tried(plain: u32, full: u32) -> u32 {
    let (times, part) = conditions::share();
    if times < part {
        return plain;
    }
    full * times / part
}

/// Tries so many pairs of those deeds.
fn pairs(ground: &Ground, deeds: &[&Deed], count: u32) {
    let seed = conditions::chance();
    let mut chance = Chance(seed);
    let mut found = Vec::new();
    for _ in 0..count {
        let [one, other] = [(); 2].map(|()| deeds[chance.below(deeds.len())]);
        let lag = chance.below(30) as u64;
        if let Err(why) = at_once(ground, one, other, lag) {
            found.push(format!("{} | {} ({lag} ms)\n{why}", one.line, other.line));
        }
    }
    assert!(found.is_empty(), "seed {seed}\n{}", found.join("\n"));
}

#[test]
fn every_command_is_in_one_of_both_lists() {
    let help = Sandbox::empty().ok(&["help", "--all"]);
    let listed: BTreeSet<&str> = help
        .lines()
        .take_while(|line| !line.starts_with("Options"))
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let deeds = DEEDS.iter().map(|deed| deed.command);
    let elsewhere = ELSEWHERE.iter().map(|(name, _)| *name);
    let reading = METHODS.iter().filter(|method| !method.changes);
    let reading = reading.map(|method| method.name);
    let known: BTreeSet<&str> = deeds
        .chain(elsewhere)
        .chain(reading.filter(|name| listed.contains(name)))
        .collect();
    assert_eq!(listed, known);
}

#[test]
fn two_commands_at_once_do_what_one_after_the_other_does() {
    let deeds: Vec<&Deed> = DEEDS.iter().collect();
    pairs(&Ground::new(None), &deeds, tried(100, 4_000));
}

#[cfg(feature = "postgres")]
#[test]
fn so_they_do_on_a_server() {
    let Some(socket) = crate::cluster::socket() else {
        return;
    };
    let server = Server {
        socket: socket.to_owned(),
        name: format!("pairs_{}", std::process::id()),
    };
    // A server has backups and repairs of its own.
    let is_here = |deed: &&Deed| !["backup", "init", "fsck"].contains(&deed.command);
    let deeds: Vec<&Deed> = DEEDS.iter().filter(is_here).collect();
    pairs(&Ground::new(Some(server)), &deeds, tried(25, 1_000));
}
