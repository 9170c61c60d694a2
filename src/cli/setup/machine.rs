//! The machine that is set up: where things are on it, and how this program is called there.

use std::path::{Path, PathBuf};

use crate::cli::{App, Failure, Result};

/// A machine, as one user has it.
pub struct Machine {
    /// The user's home.
    pub home: PathBuf,
    /// Where programs have their settings.
    pub settings: PathBuf,
    /// Where programs are.
    pub programs: Vec<PathBuf>,
    /// This program, as others call it: by its name, where they find it so.
    pub program: String,
    /// Where it is.
    pub program_path: PathBuf,
    /// Who runs it; none where files have no owners.
    pub user: Option<u32>,
}

impl Machine {
    /// This one.
    pub fn of(app: &App) -> Result<Self> {
        let env = &app.env;
        let (Some(home), Some(settings)) = (&env.home, &env.settings) else {
            return Err(Failure::refused(
                "HOME is not set, so it is not known whose settings are meant",
            ));
        };
        let programs = env.programs.iter().flat_map(std::env::split_paths);
        let own = std::env::current_exe().map_err(tract::Error::io("this program"))?;
        let mut machine = Self {
            home: home.clone(),
            settings: settings.clone(),
            programs: programs.filter(|path| path.is_absolute()).collect(),
            program: own.to_string_lossy().into_owned(),
            program_path: own,
            user: env.user(),
        };
        if let Some(found) = machine.find("tract")
            && machine.is_own(&found)
        {
            machine.program = "tract".to_owned();
            machine.program_path = found;
        }
        Ok(machine)
    }

    /// Whether this is the program that runs, perhaps by another name.
    pub fn is_own(&self, program: &Path) -> bool {
        let real = |path: &Path| std::fs::canonicalize(path).ok();
        real(program).is_some_and(|program| Some(program) == real(&self.program_path))
    }

    /// A program by its name, or by its path.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        if name.contains(['/', '\\']) {
            return Some(PathBuf::from(name)).filter(|path| is_program(path));
        }
        let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        let mut paths = self.programs.iter().map(|folder| folder.join(&name));
        paths.find(|path| is_program(path))
    }
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let facts = std::fs::metadata(path);
    facts.is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
