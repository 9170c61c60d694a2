//! A pgbouncer of the tests' own, on a socket in a temporary folder before the tests' server.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::cluster;

/// Its arguments: the folder of the server's socket, and lines of settings. It says where the pooler is, waits until
/// whoever started it is gone, and clears up.
const SCRIPT: &str = r#"
set -e
dir=$(mktemp -d /tmp/tract-pooler.XXXXXX)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/ini" <<END
[databases]
* = host=$1 port=5432 user=tract
[pgbouncer]
listen_port = 5432
unix_socket_dir = $dir
auth_type = any
server_round_robin = 1
logfile = $dir/log
$2
END
PATH="$PATH:/usr/sbin" pgbouncer -q "$dir/ini" </dev/null >/dev/null 2>&1 &
pooler=$!
until [ -S "$dir/.s.PGSQL.5432" ]; do
    kill -0 $pooler
    sleep 0.05
done
echo "$dir"
read -r _ || true
kill -INT $pooler
wait $pooler || true
"#;

/// A pooler; it is gone when this is.
pub struct Pooler {
    folder: String,
    /// Its standard input closes with this.
    child: Child,
}

impl Pooler {
    /// One with these settings; none where no server or no pgbouncer is installed, which is said.
    pub fn new(settings: &str) -> Option<Self> {
        let server = cluster::socket()?;
        let pooler = Self::start(server, settings);
        if pooler.is_none() {
            // Past what the test harness keeps to itself.
            let why = b"\nno pgbouncer could be started: its tests are SKIPPED\n";
            let _ = std::io::stderr().write_all(why);
        }
        pooler
    }

    fn start(server: &str, settings: &str) -> Option<Self> {
        let found = Command::new("sh")
            .args(["-c", r#"PATH="$PATH:/usr/sbin" command -v pgbouncer"#])
            .output();
        if !found.is_ok_and(|found| found.status.success()) {
            return None;
        }
        let mut child = cluster::shell()
            .args(["-c", SCRIPT, "sh", server, settings])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut folder = String::new();
        let told = BufReader::new(child.stdout.take()?).read_line(&mut folder);
        told.is_ok_and(|bytes| bytes > 0).then(|| Self {
            folder: folder.trim_end().to_owned(),
            child,
        })
    }

    /// An address of the server's, by way of this.
    pub fn before(&self, address: &str) -> String {
        let server = cluster::socket().expect("a server");
        address.replace(server, &self.folder)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
