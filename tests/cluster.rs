//! A PostgreSQL server of the tests' own: on a socket in a temporary folder, started by whoever asks first,
//! gone when the test process is, however it ends.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// `new_cluster PROGRAMS FOLDER` makes a cluster that nobody has used. `initdb` runs once for each version of the server. What
/// it made is kept in one file in `/tmp`, which is there whole or not at all; to unpack it takes an eighth of the time. All
/// clusters have the same `system_identifier`.
pub const NEW_CLUSTER: &str = r#"
new_cluster() {
    made=/tmp/tract-postgres.$(id -u).$("$1/postgres" --version | cksum | cut -d ' ' -f 1).tar
    mkdir -m 700 "$2"
    if [ -O "$made" ] && tar -xf "$made" -C "$2" 2>/dev/null; then return; fi
    rm -rf "$2"
    "$1/initdb" -D "$2" -U tract --auth=trust -E UTF8 --no-locale -N
    if (umask 077; tar -cf "$made.$$" -C "$2" . && mv -f "$made.$$" "$made") 2>/dev/null; then return; fi
    rm -f "$made.$$"
}
"#;

/// Its first argument is the folder of the server's programs. It says where the server is, waits until
/// whoever started it is gone, and clears up.
const SCRIPT: &str = r#"
set -e
dir=$(mktemp -d /tmp/tract-postgres.XXXXXX)
trap 'rm -rf "$dir"' EXIT
new_cluster "$1" "$dir/data" >"$dir/log" 2>&1
"$1/postgres" -D "$dir/data" -k "$dir" -h '' -F -c max_connections=200 -c autovacuum=off \
    -c log_line_prefix='<%a> ' >>"$dir/log" 2>&1 &
server=$!
until grep -q ready "$dir/data/postmaster.pid" 2>/dev/null; do
    kill -0 $server
    sleep 0.05
done
echo "$dir"
read -r _ || true
kill -INT $server
wait $server || true
"#;

struct Server {
    folder: String,
    /// Its standard input closes with this process.
    _child: Child,
}

/// The folder of the server's programs, if it is installed.
pub fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join("initdb"));
    let mut debian: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin/initdb"))
        .collect();
    debian.sort();
    let mut all = in_path.chain(debian.into_iter().rev());
    let found = std::fs::canonicalize(all.find(|initdb| initdb.exists())?).ok()?;
    let folder = found.parent()?.to_owned();
    folder.join("postgres").exists().then_some(folder)
}

/// A shell that runs as somebody whom the server lets run it: it refuses root.
pub fn shell() -> Command {
    let is_root = Command::new("id").arg("-u").output();
    let is_root = is_root.is_ok_and(|id| id.stdout == b"0\n");
    if !is_root {
        return Command::new("sh");
    }
    let mut shell = Command::new("setpriv");
    shell.args([
        "--reuid=postgres",
        "--regid=postgres",
        "--clear-groups",
        "sh",
    ]);
    shell
}

fn start(programs: &Path) -> Option<Server> {
    let mut child = shell()
        .args(["-c", &[NEW_CLUSTER, SCRIPT].concat(), "sh"])
        .arg(programs)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut folder = String::new();
    let told = BufReader::new(child.stdout.take()?).read_line(&mut folder);
    told.is_ok_and(|bytes| bytes > 0).then(|| Server {
        folder: folder.trim_end().to_owned(),
        _child: child,
    })
}

/// The folder of the server's socket; none where no server is installed, which is said.
pub fn socket() -> Option<&'static str> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let server = SERVER.get_or_init(|| {
        let server = programs().and_then(|programs| start(&programs));
        if server.is_none() {
            // Past what the test harness keeps to itself.
            let why = b"\nno PostgreSQL server could be started: its tests are SKIPPED\n";
            let _ = std::io::stderr().write_all(why);
        }
        server
    });
    server.as_ref().map(|server| server.folder.as_str())
}

/// The address of a schema that nobody has named yet.
pub fn address() -> Option<String> {
    static SCHEMAS: AtomicU64 = AtomicU64::new(0);
    let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let socket = socket()?;
    Some(format!(
        "postgres://tract@/postgres?host={socket}&schema=test_{process}_{number}"
    ))
}
