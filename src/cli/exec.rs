//! Runs a command of the user's: text in, text out, never at the terminal.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(10);

/// Why a command gave no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What went wrong, as a fragment.
    pub reason: String,
    /// What it wrote to standard error. Hostile until escaped.
    pub stderr: String,
}

/// Gives `input` to a shell command line on standard input and returns what it prints. Its
/// standard input is never a terminal; it is stopped when `timeout` is over.
pub fn run(command: &str, input: &str, timeout: Duration) -> Result<String, Failed> {
    let silent = |reason: String| Failed {
        reason,
        stderr: String::new(),
    };
    // From here on an interrupt stops the command, and what called it goes on to say so. And where
    // interrupts were ignored, as in a background job, the command would inherit that; what is
    // caught here is back at its default there.
    let interrupted = Arc::new(AtomicBool::new(false));
    let handler = flag::register(SIGINT, Arc::clone(&interrupted));
    let _restored = Handler(handler.map_err(|error| silent(error.to_string()))?);
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| silent(format!("it could not be started: {error}")))?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let input = input.to_owned();
    // A command may print before it has read everything, or never read: each stream has a thread.
    thread::spawn(move || {
        let _ = stdin.write_all(input.as_bytes());
    });
    let stdout = child.stdout.take().expect("it is piped");
    let stderr = child.stderr.take().expect("it is piped");
    let (stdout, stderr) = (drain(stdout), drain(stderr));
    let status = wait(&mut child, timeout, &interrupted).map_err(|reason| {
        let _ = child.kill();
        let _ = child.wait();
        // What it started may still hold the streams open: they are not waited for.
        silent(reason)
    })?;
    let text = |stream: thread::JoinHandle<Vec<u8>>| stream.join().unwrap_or_default();
    let stderr = String::from_utf8_lossy(&text(stderr)).into_owned();
    let printed = match status.code() {
        Some(0) => {
            String::from_utf8(text(stdout)).map_err(|_| "what it printed is not UTF-8".into())
        }
        Some(code) => Err(format!("it ended with exit code {code}")),
        None => Err("it was interrupted".to_owned()),
    };
    let text = printed.and_then(|text| match text.trim() {
        "" => Err("it printed nothing".to_owned()),
        text => Ok(text.to_owned()),
    });
    text.map_err(|reason| Failed { reason, stderr })
}

/// A signal's handler, taken off when this is dropped.
struct Handler(SigId);

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}

fn drain(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

/// Waits for its end, or says why it is to be stopped: an interrupt, or the end of its time.
fn wait(
    child: &mut Child,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err("it was interrupted".to_owned());
        }
        if start.elapsed() >= timeout {
            return Err(format!("it took longer than {} s", timeout.as_secs()));
        }
        thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn text_goes_in_and_comes_out() {
        let big = "x".repeat(1 << 20);
        assert_eq!(run("wc -c", &big, LONG).expect("counted"), "1048576");
        assert_eq!(
            run("echo early; exit 0", &big, LONG).expect("said"),
            "early"
        );
    }

    #[test]
    fn every_way_to_fail_is_told() {
        let reason = |command| run(command, "", LONG).expect_err(command);
        let failed = reason("echo why >&2; exit 3");
        assert_eq!(failed.reason, "it ended with exit code 3");
        assert_eq!(failed.stderr, "why\n");
        assert_eq!(reason("true").reason, "it printed nothing");
        assert_eq!(reason("kill -INT $$").reason, "it was interrupted");
        assert_eq!(
            reason("printf '\\377'").reason,
            "what it printed is not UTF-8"
        );
        let late = run("sleep 60", "", Duration::from_millis(50)).expect_err("too slow");
        assert!(late.reason.starts_with("it took longer"), "{}", late.reason);
    }
}
