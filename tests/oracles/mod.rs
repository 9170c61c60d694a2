//! What must hold of whatever a stranger wrote: functions that take bytes and panic where it does not.
//!
//! Two drivers share them: the fuzzer in `tests/fuzz`, which looks for inputs by the code that they
//! reach, and `tests/it/terminal/hostile.rs`, which makes some in every run of the tests. They go by the
//! library's public door alone. Deliberately absent: where inputs come from.

pub mod bundles;
pub mod messages;
pub mod requests;
pub mod revisions;
pub mod sessions;
pub mod shown;
pub mod streams;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use tract::formats::sniff::sniff;
use tract::formats::{FORMATS, Format};
use tract::hash::fingerprint;
use tract::repo::Repo;

/// The files in a folder of `tests`, in their order; none where there is no such folder.
#[allow(dead_code)]
fn files(folder: &str) -> Vec<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The fuzzer's own package lies in `tests`.
    let tests = [here.join("tests"), here.join("..")];
    let tests = tests
        .into_iter()
        .find(|tests| tests.join("oracles").is_dir());
    let found = std::fs::read_dir(tests.expect("the tests' folder").join(folder));
    let files = found
        .into_iter()
        .flatten()
        .map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some()).collect();
    files.sort();
    files
}

/// What an oracle chooses for an input: the same for the same bytes.
pub struct Choice([u8; 32], usize);

impl Choice {
    /// The choices for an input.
    pub fn of(bytes: &[u8]) -> Self {
        Self(fingerprint(bytes), 0)
    }

    /// The next one below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % 32]) % limit
    }
}

/// How much is done with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// What needs no repository: a hundred times as quick.
    Read,
    /// All of it.
    Kept,
}

impl Care {
    /// What a driver that has many inputs gives to this one.
    pub fn of(bytes: &[u8]) -> Self {
        match Choice::of(bytes).below(4) {
            0 => Self::Kept,
            _ => Self::Read,
        }
    }
}

/// An empty repository. Its tables are made once and copied, for that takes most of the time.
pub fn repository() -> (tempfile::TempDir, Repo) {
    thread_local! {
        static EMPTY: Vec<u8> = {
            let folder = tempfile::tempdir().expect("a folder");
            drop(Repo::init(folder.path()).expect("made"));
            std::fs::read(folder.path().join(".tract/tract.db")).expect("a file")
        };
    }
    let folder = tempfile::tempdir().expect("a folder");
    EMPTY.with(|empty| std::fs::write(folder.path().join("tract.db"), empty).expect("written"));
    let repo = Repo::open(folder.path()).expect("it is a repository");
    (folder, repo)
}

/// What holds of an input, or panics.
pub type Hold = dyn Fn(&[u8], Care) + Send + Sync;

/// Something that takes what a stranger wrote.
pub struct Target {
    /// Its name: that of its format, where it is of one alone.
    pub name: &'static str,
    /// The folders of fixtures that are its first inputs.
    folders: Vec<&'static str>,
    /// More of them.
    made: fn() -> Vec<Vec<u8>>,
    /// Panics where a promise is broken.
    pub hold: Box<Hold>,
}

#[allow(dead_code)]
impl Target {
    fn of(
        name: &'static str,
        folders: Vec<&'static str>,
        hold: impl Fn(&[u8], Care) + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            folders,
            made: Vec::new,
            hold: Box::new(hold),
        }
    }

    /// Its first inputs: fixtures, what was found once, and what is made.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let folders = self.folders.iter().map(|folder| format!("data/{folder}"));
        let folders = folders.chain([format!("oracles/found/{}", self.name)]);
        let read = |path: &PathBuf| std::fs::read(path).expect("readable");
        let found = folders.flat_map(|folder| files(&folder).iter().map(read).collect::<Vec<_>>());
        found.chain((self.made)()).collect()
    }
}

/// All there are: each format, those that are told apart by a look alone together, and what else a stranger writes.
#[allow(dead_code)]
pub fn targets() -> &'static [Target] {
    static TARGETS: OnceLock<Vec<Target>> = OnceLock::new();
    TARGETS.get_or_init(|| {
        let chosen = |is_one: fn(&Format) -> bool| -> Vec<&'static Format> {
            FORMATS.into_iter().filter(|it| is_one(it)).collect()
        };
        let (chats, streams) = (
            chosen(|it| it.bare_messages),
            chosen(|it| it.events.is_some()),
        );
        let alone = chosen(|it| !it.bare_messages && it.events.is_none()).into_iter();
        let alone = alone.map(|format| {
            Target::of(format.name, vec![format.name], move |bytes, care| {
                sessions::hold(format, bytes, care);
            })
        });
        let of_streams = streams.iter().map(|it| it.name).collect();
        let others = [
            Target::of("chats", vec!["chat"], move |bytes, care| {
                one_of(&chats, bytes, care);
            }),
            Target::of("streams", of_streams, move |bytes, care| {
                one_of(&streams, bytes, care);
                streams::hold(bytes, care);
            }),
            Target {
                made: messages::seeds,
                ..Target::of("messages", vec!["chat", "responses"], |bytes, care| {
                    messages::hold(&text(bytes), care);
                })
            },
            Target {
                made: revisions::seeds,
                ..Target::of("revisions", Vec::new(), |bytes, _| revision(bytes))
            },
            Target {
                made: bundles::seeds,
                ..Target::of("bundles", Vec::new(), |bytes, _| bundles::hold(bytes))
            },
            Target {
                made: shown::seeds,
                ..Target::of("shown", Vec::new(), |bytes, _| shown::hold_bytes(bytes))
            },
        ];
        alone.chain(others).collect()
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What looks like one of them is taken for it.
fn one_of(formats: &[&'static Format], bytes: &[u8], care: Care) {
    let looks = sniff(&bytes).expect("readable");
    let format = looks.filter(|format| formats.contains(format));
    let format = format.unwrap_or(formats[Choice::of(bytes).below(formats.len())]);
    sessions::hold(format, bytes, care);
}

fn revision(bytes: &[u8]) {
    thread_local! {
        static WORLD: revisions::World = revisions::World::new();
    }
    WORLD.with(|world| world.hold(&text(bytes)));
}
