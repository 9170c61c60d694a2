//! A search over the sessions that nobody imported: their files are read, the newest first, a little at each request.
//!
//! What was found for some words is kept until other words are looked for. Deliberately absent: what is in a repository.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tract::ingest::tool_dirs::SessionFile;
use tract::ingest::{self, Sifted};
use tract::model::pattern::Pattern;

/// For how long one request reads files.
const SLICE: Duration = Duration::from_millis(300);
/// How many messages of a session are listed.
const MESSAGES: usize = 3;
/// How many sessions are listed.
const SESSIONS: usize = 60;

/// What the words that were looked for last have found so far.
#[derive(Default)]
pub struct Sweep(Mutex<Swept>);

#[derive(Default)]
struct Swept {
    words: Vec<String>,
    read: HashSet<PathBuf>,
    found: Vec<SweptFile>,
}

/// A session in which words were found.
#[derive(Clone)]
pub struct SweptFile {
    /// What it is called in addresses.
    pub id: String,
    /// The tool that wrote it.
    pub tool: &'static str,
    /// What was found.
    pub found: Sifted,
}

impl Sweep {
    /// What these words find in these files, as far as they are read; and whether all of them are.
    pub fn look(&self, words: &[String], files: &[SessionFile]) -> (Vec<SweptFile>, bool) {
        let patterns: Vec<Pattern> = words
            .iter()
            .filter_map(|word| Pattern::text(word).ok())
            .collect();
        if patterns.is_empty() {
            return (Vec::new(), true);
        }
        let mut swept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if swept.words != words {
            *swept = Swept {
                words: words.to_vec(),
                ..Swept::default()
            };
        }
        let since = Instant::now();
        let mut is_whole = true;
        for file in files {
            if swept.read.contains(&file.path) {
                continue;
            }
            if since.elapsed() > SLICE {
                is_whole = false;
                break;
            }
            swept.read.insert(file.path.clone());
            // A file that cannot be read is listed as such.
            let Ok(found) = ingest::sift(&file.path, &patterns, MESSAGES) else {
                continue;
            };
            if found.count > 0 && swept.found.len() < SESSIONS {
                let id = format!("{}/{}", file.format.name, found.id);
                let tool = file.format.name;
                swept.found.push(SweptFile { id, tool, found });
            }
        }
        (swept.found.clone(), is_whole)
    }
}
