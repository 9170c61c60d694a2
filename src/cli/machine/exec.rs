//! Runs a command of the user's: text in, text out, never at the terminal, and within bounds.
//!
//! What it starts is one process group, which is killed in the end whatever the command leaves behind.
//! Who leaves the group is not waited for.

use std::io::{Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

use crate::cli::machine::shell::shell;

/// How often a running command is looked at.
const POLL: Duration = Duration::from_millis(10);
/// How long after its end what it printed may still arrive, from what it started.
const LINGER: Duration = Duration::from_secs(1);
/// The most that a command may print: no summary is that long.
const PRINTED_MAX: usize = 8 << 20;
/// How much is kept of what it writes to standard error; the rest is read and dropped.
const STDERR_KEPT: usize = 64 << 10;

/// Why a command gave no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// What went wrong, as a fragment.
    pub reason: String,
    /// What it wrote to standard error. Hostile until escaped.
    pub stderr: String,
}

/// Gives `input` to a shell command line on standard input and returns what it prints. Its
/// standard input is never a terminal; it is stopped when `timeout` is over, or it prints too much.
pub fn run(command: &str, input: &str, timeout: Duration) -> Result<String, Failed> {
    let Finished {
        code,
        printed,
        stderr,
    } = ended(shell(command), input, timeout)?;
    let printed = match code {
        Some(0) => {
            String::from_utf8(printed).map_err(|_| "what it printed is not UTF-8".to_owned())
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

/// Gives `input` to a program as [`run`] does, and returns how it ended, whatever it printed.
pub fn ended(program: Command, input: &str, timeout: Duration) -> Result<Finished, Failed> {
    // From here on an interrupt stops the command, and what called it goes on to say so. And where
    // interrupts were ignored, as in a background job, the command would inherit that; what is
    // caught here is back at its default there.
    let interrupted = Arc::new(AtomicBool::new(false));
    let handler = flag::register(SIGINT, Arc::clone(&interrupted));
    let _restored = Handler(handler.map_err(|error| Failed::silent(error.to_string()))?);
    let (agent, stdout) = Agent::of(program, input)?;
    let is_over = || interrupted.load(Ordering::Relaxed);
    agent.finish(stdout, timeout, PRINTED_MAX, is_over)
}

impl Failed {
    /// That of a command which wrote nothing to standard error, as far as anybody knows.
    pub fn silent(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            stderr: String::new(),
        }
    }
}

/// What a command did until its end.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; none: a signal ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub printed: Vec<u8>,
    /// What it wrote to standard error. Hostile until escaped.
    pub stderr: String,
}

/// A command that is at work: its input goes in and its output comes out meanwhile. Dropped, it and
/// all that it started are dead.
pub struct Agent {
    group: Group,
    stderr: Drain,
}

impl Agent {
    /// Starts a shell command line with this on its standard input; gives its standard output, too.
    pub fn start(command: &str, input: &str) -> Result<(Self, ChildStdout), Failed> {
        Self::of(shell(command), input)
    }

    /// The same of any program, with its arguments, directory and environment.
    pub fn of(program: Command, input: &str) -> Result<(Self, ChildStdout), Failed> {
        let started = Group::spawn(program);
        let mut group =
            started.map_err(|error| Failed::silent(format!("it could not be started: {error}")))?;
        let child = &mut group.child;
        let mut stdin = child.stdin.take().expect("it is piped");
        let input = input.to_owned();
        // It may speak before it has read everything, or never read: nobody waits for the thread.
        thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = Drain::of(child.stderr.take().expect("it is piped"), STDERR_KEPT);
        Ok((Self { group, stderr }, stdout))
    }

    /// Waits for its end, within these bounds, or until it `is_over`; of what it started, nothing is left.
    ///
    /// # Errors
    ///
    /// Where it took too long, printed too much, or was interrupted.
    pub fn finish(
        self,
        stdout: ChildStdout,
        timeout: Duration,
        printed_max: usize,
        is_over: impl Fn() -> bool,
    ) -> Result<Finished, Failed> {
        let Self { mut group, stderr } = self;
        let stdout = Drain::of(stdout, printed_max);
        let too_much = || format!("it printed more than {} MiB", printed_max >> 20);
        let ended = wait(&mut group.child, timeout, || {
            if is_over() {
                Some("it was interrupted".to_owned())
            } else {
                stdout.is_too_much().then(too_much)
            }
        });
        if ended.is_ok() {
            wait_for(LINGER, || stdout.is_done() && stderr.is_done());
        }
        drop(group);
        let stderr = String::from_utf8_lossy(&stderr.take()).into_owned();
        match ended {
            Err(reason) => Err(Failed { reason, stderr }),
            Ok(_) if stdout.is_too_much() => Err(Failed {
                reason: too_much(),
                stderr,
            }),
            Ok(status) => Ok(Finished {
                code: status.code(),
                printed: stdout.take(),
                stderr,
            }),
        }
    }

    /// Waits for the end of one that says nothing more, and not for long.
    pub fn end(mut self) -> Result<(), Failed> {
        let ended = wait(&mut self.group.child, LINGER, || None);
        if ended.is_ok() {
            wait_for(LINGER, || self.stderr.is_done());
        }
        drop(self.group);
        let failed = |reason: String| Failed {
            reason,
            stderr: String::from_utf8_lossy(&self.stderr.take()).into_owned(),
        };
        match ended.map(|status| status.code()) {
            Ok(Some(0)) => Ok(()),
            Ok(Some(code)) => Err(failed(format!("it ended with exit code {code}"))),
            Ok(None) => Err(failed("a signal ended it".to_owned())),
            Err(_) => Err(failed("it closed its output and went on".to_owned())),
        }
    }
}

/// A signal's handler, taken off when this is dropped.
struct Handler(SigId);

impl Drop for Handler {
    fn drop(&mut self) {
        unregister(self.0);
    }
}

/// A child with all that it starts; dropped, they are dead. They are, too, where this program is killed.
struct Group {
    child: Child,
    /// Ends them where this program cannot.
    #[cfg(unix)]
    watchdog: Option<Child>,
}

impl Group {
    fn spawn(mut shell: Command) -> std::io::Result<Self> {
        shell.stdin(Stdio::piped()).stdout(Stdio::piped());
        shell.stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let child = shell.spawn()?;
        Ok(Self {
            // Where there is none, the child works all the same.
            #[cfg(unix)]
            watchdog: watchdog(child.id()).ok(),
            child,
        })
    }
}

/// A shell that waits for a word, and kills a process group where its input ends without one: that is what a killed
/// program leaves. It is in a group of its own, so that no signal from the terminal comes to it.
#[cfg(unix)]
fn watchdog(group: u32) -> std::io::Result<Child> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"read word || kill -s KILL -- "-$1""#, "tract"]);
    shell.arg(group.to_string());
    shell.stdin(Stdio::piped());
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    shell.spawn()
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = rustix::process::Pid::from_raw(self.child.id().cast_signed()) {
            // Nobody is left in it, most of the time.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        #[cfg(unix)]
        if let Some(mut watchdog) = self.watchdog.take() {
            // The number of the group may be somebody else's from here on.
            let stdin = watchdog.stdin.take();
            let told = stdin.map(|mut stdin| stdin.write_all(b"done\n"));
            if !matches!(told, Some(Ok(()))) {
                let _ = watchdog.kill();
            }
            let _ = watchdog.wait();
        }
    }
}

/// What arrives on a stream, up to so many bytes.
pub struct Drain {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: thread::JoinHandle<()>,
    max: usize,
}

impl Drain {
    /// Begins to read.
    pub fn of(mut stream: impl Read + Send + 'static, max: usize) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bytes);
        let thread = thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            while let Ok(got @ 1..) = stream.read(&mut buffer) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                // One more than is kept tells that there was more.
                let room = (max + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&buffer[..got.min(room)]);
            }
        });
        Self { bytes, thread, max }
    }

    /// Whether no more will arrive.
    pub fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    fn is_too_much(&self) -> bool {
        let bytes = self.bytes.lock();
        bytes.unwrap_or_else(PoisonError::into_inner).len() > self.max
    }

    /// What has arrived.
    pub fn take(&self) -> Vec<u8> {
        let mut bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.truncate(self.max);
        std::mem::take(&mut bytes)
    }
}

/// Waits until something is so, but no longer than this.
pub fn wait_for(limit: Duration, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() && since.elapsed() < limit {
        thread::sleep(POLL);
    }
}

/// Waits for its end, or says why it is to be stopped: `stop` has a reason, or its time is over.
pub fn wait(
    child: &mut Child,
    timeout: Duration,
    stop: impl Fn() -> Option<String>,
) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        if let Some(reason) = stop() {
            return Err(reason);
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

    /// Runs it, which may take five seconds, and nothing of it may be left.
    #[cfg(target_os = "linux")]
    fn bounded(command: &str, timeout: Duration) -> Result<String, Failed> {
        let start = Instant::now();
        // What it starts sleeps so long that it can be told from what other tests start.
        let seconds = format!("{}", 100_000 + rand());
        let done = run(&command.replace("FOREVER", &seconds), "text", timeout);
        assert!(start.elapsed() < Duration::from_secs(5), "{command}");
        let left = || {
            let all = std::fs::read_dir("/proc").expect("it is there");
            all.flatten().any(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&line).contains(&seconds)
            })
        };
        // The kernel takes a moment.
        while left() {
            assert!(
                start.elapsed() < Duration::from_secs(6),
                "{command} is left"
            );
            thread::sleep(POLL);
        }
        done
    }

    #[cfg(target_os = "linux")]
    fn rand() -> u32 {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        std::process::id() % 1_000 * 100 + NEXT.fetch_add(1, Ordering::Relaxed)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_command_leaves_behind_is_not_waited_for_and_ends() {
        let said = bounded("echo summary; sleep FOREVER &", LONG);
        assert_eq!(said.expect("said"), "summary");
        let said = bounded("(sleep FOREVER; echo late) & echo summary", LONG);
        assert_eq!(said.expect("said"), "summary");
        let short = Duration::from_millis(300);
        for command in [
            "sleep FOREVER",
            "sleep FOREVER & wait",
            "exec 0<&-; exec 1>&-; exec 2>&-; sleep FOREVER",
            "trap '' INT TERM HUP PIPE; while :; do sleep FOREVER; done",
            "cat > /dev/null; sleep FOREVER",
        ] {
            let late = bounded(command, short).expect_err("too slow").reason;
            assert!(late.starts_with("it took longer"), "{command}: {late}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_leaves_the_group_is_not_waited_for() {
        let start = Instant::now();
        let said = run("echo summary; setsid sleep 8 & sleep 0.1", "", LONG);
        assert_eq!(said.expect("said"), "summary");
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn who_prints_without_end_is_stopped() {
        let start = Instant::now();
        let failed = run("yes; echo FOREVER", "", LONG).expect_err("too much");
        assert_eq!(failed.reason, "it printed more than 8 MiB");
        let failed = run("head -c 9000000 /dev/zero", "", LONG).expect_err("too much");
        assert_eq!(failed.reason, "it printed more than 8 MiB");
        let noisy = "head -c 20000000 /dev/zero | tr '\\0' 'x' >&2; echo summary; exit 1";
        let failed = run(noisy, "", LONG).expect_err("it fails");
        assert_eq!(failed.stderr.len(), STDERR_KEPT);
        let noisy = "head -c 20000000 /dev/zero >&2; echo summary";
        assert_eq!(run(noisy, "", LONG).expect("said"), "summary");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}
