//! `tract watch` from login on: a unit of systemd's, or an agent of launchd's, whichever the machine has.

use std::path::{Path, PathBuf};
use std::process::Command;

use tract::render::shell_word;

use super::Machine;

/// What starts programs for a user.
pub struct Service {
    /// The file that tells it of ours.
    pub path: PathBuf,
    /// What stands there.
    pub text: String,
    /// Its program.
    manager: PathBuf,
    start: Vec<String>,
    stop: Vec<String>,
}

const UNIT: &str = include_str!("../../../docs/watch/tract-watch.service");
const AGENT: &str = include_str!("../../../docs/watch/tract.watch.plist");

impl Service {
    /// The machine's; none where it has none.
    pub fn of(machine: &Machine) -> Option<Self> {
        if cfg!(target_os = "macos") {
            Some(Self::launchd(machine, machine.find("launchctl")?))
        } else {
            Some(Self::systemd(machine, machine.find("systemctl")?))
        }
    }

    fn systemd(machine: &Machine, manager: PathBuf) -> Self {
        let program = unit_word(&machine.program_path);
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        Self {
            path: machine.settings.join("systemd/user/tract-watch.service"),
            text: UNIT.replace("%h/.cargo/bin/tract", &program),
            manager,
            start: words("--user enable --now tract-watch.service"),
            stop: words("--user disable --now tract-watch.service"),
        }
    }

    fn launchd(machine: &Machine, manager: PathBuf) -> Self {
        let path = machine.home.join("Library/LaunchAgents/tract.watch.plist");
        let escaped = |path: &Path| {
            let text = path.to_string_lossy();
            text.replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;")
        };
        let text = AGENT.replace(
            "/Users/YOU/.cargo/bin/tract",
            &escaped(&machine.program_path),
        );
        let words = |word: &str| {
            vec![
                word.to_owned(),
                "-w".to_owned(),
                path.to_string_lossy().into_owned(),
            ]
        };
        Self {
            text: text.replace("/Users/YOU", &escaped(&machine.home)),
            manager,
            start: words("load"),
            stop: words("unload"),
            path,
        }
    }

    /// Has it started, now and at each login.
    ///
    /// # Errors
    ///
    /// What is to be typed instead where that does not work.
    pub fn start(&self) -> Result<(), String> {
        self.run(&self.start)
    }

    /// Has it stopped, and not started again.
    pub fn stop(&self) -> Result<(), String> {
        self.run(&self.stop)
    }

    fn run(&self, arguments: &[String]) -> Result<(), String> {
        let done = Command::new(&self.manager).args(arguments).output();
        if done.is_ok_and(|done| done.status.success()) {
            return Ok(());
        }
        let name = self
            .manager
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        let words = arguments.iter().map(|word| shell_word(word));
        Err(format!("{name} {}", words.collect::<Vec<_>>().join(" ")))
    }
}

/// A path as one word of a unit's command line.
///
/// # Source
///
/// systemd.service(5), "Command lines"; systemd.unit(5), "Specifiers".
fn unit_word(path: &Path) -> String {
    let text = path.to_string_lossy().replace('%', "%%");
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,@:%".contains(c);
    if text.chars().all(is_plain) {
        return text;
    }
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_name_the_program_and_the_home_wherever_these_are() {
        let machine = Machine {
            home: "/home/m & n".into(),
            settings: "/home/m & n/.config".into(),
            programs: Vec::new(),
            program: "tract".to_owned(),
            program_path: "/opt/50% \"off\"/tract".into(),
            user: None,
        };
        let unit = Service::systemd(&machine, "systemctl".into());
        let start = "ExecStart=\"/opt/50%% \\\"off\\\"/tract\" --repo %h watch\n";
        assert!(unit.text.contains(start), "{}", unit.text);
        let agent = Service::launchd(&machine, "launchctl".into());
        assert!(
            agent
                .text
                .contains("<string>/opt/50% \"off\"/tract</string>")
        );
        assert!(agent.text.contains("<string>/home/m &amp; n</string>"));
        assert!(!agent.text.contains("YOU"), "{}", agent.text);
        assert_eq!(unit_word(Path::new("/usr/bin/tract")), "/usr/bin/tract");
    }
}
