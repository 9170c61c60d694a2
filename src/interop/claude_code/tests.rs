use std::path::{Path, PathBuf};

use super::*;
use crate::interop::{Action, BranchStart, Problem, SessionEnd, SessionStart, Step};

/// Keeps all that it is told.
#[derive(Default)]
struct Kept {
    sessions: Vec<SessionStart>,
    branches: Vec<(usize, BranchStart)>,
    steps: Vec<Step>,
    end: Option<SessionEnd>,
    problems: Vec<Problem>,
}

impl Sink for Kept {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sessions.push(session);
        Ok(())
    }
    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.branches.push((self.steps.len(), branch));
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<()> {
        self.steps.push(step);
        Ok(())
    }
    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.end = Some(end);
        Ok(())
    }
    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
    fn progress(&mut self, _: u64, _: u64) {}
}

impl Kept {
    fn main(&self) -> &[Step] {
        let end = self.branches.first().map_or(self.steps.len(), |b| b.0);
        &self.steps[..end]
    }
}

fn import(bytes: &[u8], stem: &str) -> Kept {
    let mut kept = Kept::default();
    ClaudeCode
        .import(&bytes, ImportOptions { stem }, &mut kept)
        .expect("reads");
    kept
}

/// The real sessions, if they are there.
fn real_files() -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("TRACT_REAL_SESSIONS") else {
        eprintln!("skipped: TRACT_REAL_SESSIONS is not set");
        return Vec::new();
    };
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for item in std::fs::read_dir(folder).expect("a folder") {
            let path = item.expect("an item").path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(&root).join("claude-code"), &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

#[test]
fn real_sessions_import() {
    for path in real_files() {
        let bytes = std::fs::read(&path).expect("a file");
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let kept = import(&bytes, &stem);
        eprintln!(
            "{stem}: {} main of {} steps, {:?}, {:?}\n  {:?}",
            kept.main().len(),
            kept.steps.len(),
            kept.sessions,
            kept.branches,
            kept.end.as_ref().unwrap()
        );
        for p in kept.problems.iter().take(6) {
            eprintln!("   {p:?}");
        }
        let hides = kept
            .steps
            .iter()
            .filter(|s| matches!(s.action, Action::Hide(_)))
            .count();
        eprintln!("   hides {hides} problems {}", kept.problems.len());
    }
}
