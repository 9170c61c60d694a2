//! What a session format is, as a value.
//!
//! Whatever differs between formats is a field here, so that nobody else has to tell them apart.
//! Deliberately absent: reading directories and the environment; a [`Home`] says only where to look.

use std::fmt;

use crate::error::{Error, Result};
use crate::formats::shared::head::SourceHead;
use crate::formats::shared::recorded::RecordedRequest;
use crate::formats::shared::rows::Tables;
use crate::formats::shared::running::{ReadEnded, ReadRunning};
use crate::formats::shared::sent::ReadSent;
use crate::formats::shared::stream::reader::EventReader;
use crate::formats::{Continuer, Descent, Exporter, Importer};
use crate::model::Millis;

/// How much of a source tells how it is built: 1 MiB.
pub const FRONT_BYTES: u64 = 1 << 20;

/// What the name of a request has in it where only the reply's time tells it from others.
pub const LOOSE: &str = "@";

/// How a stream of a session lies to the file in which its client keeps it.
#[derive(Clone, Copy, Debug)]
pub struct StreamedSession {
    /// The format of that file: the session has the same id there, a UUID.
    pub kept_as: &'static str,
    /// Whether a stream says what all requests of the session came to, and not only those that it is of.
    pub sums_up_session: bool,
}

/// One session format.
pub struct Format {
    /// The name as it is typed and as it stands in session refs.
    pub name: &'static str,
    /// Other names that may be typed.
    pub aliases: &'static [&'static str],
    /// Whose sessions these are, as people call them.
    pub tools: &'static [&'static str],
    /// Which versions of its tool wrote the files that it was made from and is tried on, for people.
    pub seen: &'static str,
    /// Whether nothing that its tool has written for a real user was ever read: it is made by descriptions, by the
    /// tool's source, or by files that others made up for tests.
    pub unproven: bool,
    /// How a source is built.
    pub shape: Shape,
    /// Whether a source that begins so is one document, where the tool has written lines only later:
    /// what is written anew is of the other [`Self::shape`].
    pub is_document: Option<fn(front: &[u8]) -> bool>,
    /// Which of a source's first records shows that it is in this format; none: none does. The
    /// earliest decides between two formats.
    pub sniff: fn(&SourceHead<'_>) -> Option<usize>,
    /// Whether a source that begins so, and is no JSON, is in this format. Its records are plain text then.
    pub text: Option<fn(front: &[u8]) -> bool>,
    /// Reads a source.
    pub read: Importer,
    /// Goes on with a source from the middle, where the format can.
    pub go_on: Option<Continuer>,
    /// Writes one, where it is known how.
    pub write: Option<Exporter>,
    /// How its records become events, if it is a stream of them.
    pub events: Option<fn() -> Box<dyn EventReader>>,
    /// The provider whose requests these are.
    pub provider: Option<&'static str>,
    /// The provider that is sent the contents of its messages as its records hold them.
    pub contents_of: Option<&'static str>,
    /// How the request is read that stands behind a message as it was sent, if its sources hold such; of a format of one document
    /// the source is the request, if it is one.
    pub recorded: Option<ReadRecorded>,
    /// What its client sends otherwise while it runs, if that is known.
    pub running: Option<ReadRunning>,
    /// Which work in the background its records say to have ended, where they say more of that than messages do.
    pub ended: Option<ReadEnded>,
    /// The session of which a record is a copy, by its id, where records say so.
    pub copied_from: fn(record: &str) -> Option<String>,
    /// The name of the request that a record's reply answers, where records say it: copies of a reply have the same name,
    /// and no other reply has it. One that has [`LOOSE`] in it is of a server that names no requests: what `resume` wrote of
    /// its replies has other names.
    pub request_of: Option<fn(record: &str) -> Option<String>>,
    /// Of what a client prints: how it lies to what the same client keeps.
    pub streamed: Option<StreamedSession>,
    /// When the reply of a record was whole, of formats that give the time at which it was begun.
    pub replied_at: Option<fn(record: &str) -> Option<Millis>>,
    /// Whether a user's record says that its client made it, where records do.
    pub injected: Option<fn(record: &str) -> bool>,
    /// How its files hold the requests that were sent, if they do.
    pub sent: Option<&'static ReadSent>,
    /// Whether its records are bare messages, which stand in files of other such formats too: a
    /// file of one may be read as another where that is asked for.
    pub bare_messages: bool,
    /// Whether its files say what replies cost.
    pub tells_costs: bool,
    /// What its client sends in place of the result of a call that never got one, where that is known.
    pub unanswered: Option<&'static str>,
    /// Whether its files hold what a client attached as such; elsewhere it is the user's text.
    pub attaches: bool,
    /// The name, without extension, that every session's file has; the session is then called by
    /// its directory.
    pub common_stem: Option<&'static str>,
    /// How a session is a folder with one of its own for each agent, if it is one.
    pub agents: Option<Agents>,
    /// Where its tool keeps sessions, if it keeps them by working directory.
    pub home: Option<Home>,
    /// How sessions stand in a database of its tool, if it has one.
    pub tables: Option<Tables>,
    /// How its tool keeps a session in many small files, if it does.
    pub small_files: Option<SmallFiles>,
    /// How its tool keeps a session in several files of one folder, if it does.
    pub joined_files: Option<JoinedFiles>,
    /// How a folder is one source, with a file for each record, if there are such.
    pub record_files: Option<RecordFiles>,
    /// The folder of `tests/data` with sources of this format.
    #[cfg(test)]
    pub fixtures: &'static str,
}

/// How a session is a folder, in which each of its agents has one of its own with the file of what it did.
#[derive(Clone, Copy)]
pub struct Agents {
    /// The folder of these.
    pub folder: &'static str,
    /// The agent to which the user speaks.
    pub main: &'static str,
}

/// How a folder is one source of lines, with a file for each record.
#[derive(Clone, Copy)]
pub struct RecordFiles {
    /// Whether a file of this name holds a record.
    pub is_one: fn(name: &str) -> bool,
    /// What stands on the record's line before the file's text: by its name, and when it was written.
    pub before: fn(name: &str, time: Millis) -> String,
    /// What stands behind it.
    pub after: &'static str,
    /// Whether names tell their order; else it is when they were written.
    pub by_name: bool,
    /// The file beside the folder of which some is the source's last line, and how that is made of its text, if there is
    /// one.
    pub beside: Option<(&'static str, LineOf)>,
}

/// Makes a line of a file's text, if it says anything that belongs there.
pub type LineOf = fn(text: &str) -> Option<String>;

/// How a source is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// JSON Lines that grow at their end, records that are no messages among them.
    Lines,
    /// One document of messages, written anew when it changes. A summary is a message like any
    /// other there.
    Document,
}

/// How a tool keeps a session in many small files.
#[derive(Clone, Copy)]
pub struct SmallFiles {
    /// The folder in which each session has a file of its own, by project.
    pub sessions: &'static str,
    /// The folder beside it in which the messages of each session have a folder.
    pub messages: &'static str,
    /// That in which the parts of each message have one.
    pub parts: &'static str,
    /// The document of a session, of its file's text, and those of its messages.
    pub document: fn(session: &str, messages: &[WithParts]) -> String,
}

/// How a tool keeps a session in several files of one folder, one of which shows it.
#[derive(Clone, Copy)]
pub struct JoinedFiles {
    /// The name of the file that shows the session to which something in its folder belongs, by the path of that from
    /// there on, with `/` between names: of `journal/1.jsonl` it may be `CURRENT`, and of `CURRENT` itself. None of
    /// what belongs to no session.
    pub shown_by: fn(path: &str) -> Option<String>,
    /// Whether a file of that name shows a session, by its first 4 KiB.
    pub shows: fn(front: &[u8]) -> bool,
    /// The files that change while a session goes on, by their paths; some of them may not be there.
    pub growing: fn(folder: &dyn SessionFolder, shown: &str) -> Result<Vec<String>>,
    /// The document of a session, put together of its files.
    pub document: fn(folder: &dyn SessionFolder, shown: &str) -> Result<String>,
}

/// The folder in which a session's files lie. Paths begin there, with `/` between names.
pub trait SessionFolder {
    /// The text of a file; none where there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where it cannot be read.
    fn text(&self, path: &str) -> Result<Option<String>>;

    /// The names of what is in a folder, sorted; none where there is no folder.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where it cannot be read.
    fn names(&self, folder: &str) -> Result<Vec<String>>;
}

/// The text of a message's file, and those of its parts.
pub type WithParts = (String, Vec<String>);

/// Where below its tool's directory the sessions of a working directory lie.
pub type FolderOf = fn(cwd: &str) -> String;

/// Where a tool keeps its sessions.
pub struct Home {
    /// The environment variable that names the tool's directory.
    pub variable: Option<&'static str>,
    /// The directory's name in the user's home, without such a variable; none where only projects have one.
    pub directory: Option<&'static str>,
    /// Its names in earlier versions of the tool, which may be there still.
    pub formerly: &'static [&'static str],
    /// Folders of a project, from its directory, in which programs made with the tool keep a database, by whatever name.
    /// `*` is each folder there.
    pub in_projects: &'static [&'static str],
    /// Where below the tool's directory the sessions of a working directory lie, and how many levels of
    /// directories are below that; none: where all others do.
    pub of_directory: Option<(FolderOf, usize)>,
    /// Whether a file there is a session of the working directory that one would go on with: its
    /// name, the directory, and its first line; of a document over several lines, its beginning.
    pub belongs: fn(name: &str, cwd: &str, first_line: &dyn Fn() -> Option<String>) -> bool,
    /// Where the sessions of all working directories lie.
    pub everywhere: Everywhere,
    /// The folders of the tool's directory in which files that belong together lie.
    pub beside: &'static [&'static str],
    /// Where the files of a session's sub-agents lie, from the folder of its own file: a folder with all that is in
    /// it, where `{}` is the session's id, or, as `.`, those files beside it that are no sessions by their names.
    pub agents_in: &'static [&'static str],
    /// What a file's beginning, and the name of its folder, say of other sessions, and the file's own
    /// session's id: its first line, or of a document over several lines its front.
    pub descent: fn(first_line: &str, folder: &str) -> Option<(String, Descent)>,
    /// Whether the first line of a sub-agent's file, which is a session of its own, says who started it.
    pub names_starters: bool,
    /// The file in the tool's directory that names the folder of each working directory's sessions, and how
    /// it is read, where that is not told by the directory alone.
    pub folders: Option<FolderNames>,
    /// Whether it leaves files of a session's id that say no more than what a session begins with.
    pub leaves_stubs: bool,
    /// The number that a record bears among all of its session, by its first bytes.
    pub number: fn(record: &[u8]) -> Option<u64>,
    /// How to go on with a session there.
    pub resume: Option<Resume>,
}

impl Home {
    /// A tool that keeps all its sessions, so many levels of directories below a folder of its own, in files for
    /// whose names `is_session` holds, and of whose files no more is known.
    pub const fn of(
        directory: &'static str,
        folder: &'static str,
        depth: usize,
        is_session: fn(name: &str) -> bool,
    ) -> Self {
        Self {
            variable: None,
            directory: Some(directory),
            formerly: &[],
            in_projects: &[],
            of_directory: None,
            belongs: |_, _, _| false,
            everywhere: Everywhere {
                folder,
                depth,
                is_session,
            },
            beside: &[],
            agents_in: &[],
            descent: |_, _| None,
            names_starters: false,
            folders: None,
            leaves_stubs: false,
            number: |_| None,
            resume: None,
        }
    }

    /// A tool that keeps nothing but a database.
    pub const fn database(directory: &'static str, file: &'static str) -> Self {
        Self::of(directory, file, 0, |_| false)
    }

    /// A tool of which only the programs made with it keep databases, in these folders of their projects.
    pub const fn projects(folders: &'static [&'static str], file: &'static str) -> Self {
        let mut home = Self::database("", file);
        home.directory = None;
        home.in_projects = folders;
        home
    }

    /// Where below the tool's directory the sessions of a working directory lie, and how many levels of
    /// directories are below that.
    pub fn sessions(&self, cwd: &str) -> (String, usize) {
        let all = &self.everywhere;
        let shared = || (all.folder.to_owned(), all.depth);
        self.of_directory
            .map_or_else(shared, |(folder, depth)| (folder(cwd), depth))
    }
}

/// Where a tool keeps the sessions of all working directories.
pub struct Everywhere {
    /// The folder in the tool's directory.
    pub folder: &'static str,
    /// How many levels of directories are below that.
    pub depth: usize,
    /// Whether a file of this name is a session that one would go on with.
    pub is_session: fn(name: &str) -> bool,
}

/// How a tool goes on with a session that was written for it.
pub struct Resume {
    /// The words of the command, which the session's id follows.
    pub command: &'static [&'static str],
    /// The words of the command that answers one prompt in it, at no terminal, which the session's id follows; and those
    /// behind that. The prompt is given on standard input. None: no way is known.
    pub prompted: Option<(&'static [&'static str], &'static [&'static str])>,
    /// The words of the command that takes the file into the tool's store before, which the file's path
    /// follows; none: the tool finds it where it lies.
    pub brought_in_by: Option<&'static [&'static str]>,
    /// What else shows the session, and from when on, where its tool does not look into its files.
    pub shown: Option<&'static str>,
    /// A new id, from the time and random bytes.
    pub new_id: fn(Millis, &[u8; 32]) -> String,
    /// Where below the tool's directory a new session lies.
    pub file: fn(&NewFile<'_>) -> String,
    /// Whether a record says how things stand in the tool: what it has told the model of itself, with
    /// which settings a turn is made. It goes by the newest of them.
    pub state: fn(record: &str) -> bool,
    /// Whether a record is of the conversation: what stands behind it says how things stood later.
    pub is_said: fn(record: &str) -> bool,
    /// The directory to which a session has moved, by the records that say how things stand, oldest first.
    pub moved_to: fn(records: &[String]) -> Option<String>,
    /// The files in the tool's directory that such a record names, where it is of the session with this id.
    pub files: fn(record: &str, session: &str) -> Vec<String>,
    /// The commit of git that was checked out when a session began, where its first record says so.
    pub checked_out: fn(record: &str) -> Option<String>,
    /// The file in the tool's directory that says which provider its sessions talk to, and where it
    /// does, for sessions that came from elsewhere.
    pub provider: Option<ProviderSetting>,
}

impl Resume {
    /// By this command alone, with a file at this place that bears a random UUID.
    pub const fn by(command: &'static [&'static str], file: fn(&NewFile<'_>) -> String) -> Self {
        Self {
            command,
            prompted: None,
            brought_in_by: None,
            shown: None,
            new_id: random_uuid,
            file,
            state: |_| false,
            is_said: |_| true,
            moved_to: |_| None,
            files: |_, _| Vec::new(),
            checked_out: |_| None,
            provider: None,
        }
    }
}

/// Reads a record as the request that it is; none where it is none.
pub type ReadRecorded = fn(&Format, record: &str) -> Option<RecordedRequest>;

/// What the place of a new session is told by.
pub struct NewFile<'a> {
    /// The working directory.
    pub cwd: &'a str,
    /// The session's id.
    pub id: &'a str,
    /// The local date and time as `YYYY-MM-DDThh-mm-ss`.
    pub local_time: &'a str,
    /// The name of the folder of the working directory's sessions, by [`Home::folders`].
    pub folder: Option<&'a str>,
}

/// The file in a tool's directory that names folders, and what it says of a working directory.
pub type FolderNames = (&'static str, fn(text: &str, cwd: &str) -> Option<String>);

/// The file in a tool's directory that names a provider, and how it is read.
pub type ProviderSetting = (&'static str, fn(text: &str) -> Option<String>);

impl Format {
    /// A format of messages and no more, that no source shows and that no tool keeps at a known place.
    pub const fn of(name: &'static str, shape: Shape, read: Importer, write: Exporter) -> Self {
        Self {
            write: Some(write),
            ..Self::only_read(name, shape, read)
        }
    }

    /// The same where nothing is known of how to write it.
    pub const fn only_read(name: &'static str, shape: Shape, read: Importer) -> Self {
        Self {
            name,
            aliases: &[],
            tools: &[],
            seen: "",
            unproven: false,
            shape,
            is_document: None,
            sniff: |_| None,
            text: None,
            read,
            go_on: None,
            write: None,
            events: None,
            provider: None,
            contents_of: None,
            recorded: None,
            running: None,
            ended: None,
            copied_from: |_| None,
            request_of: None,
            streamed: None,
            replied_at: None,
            injected: None,
            sent: None,
            bare_messages: false,
            tells_costs: false,
            unanswered: None,
            attaches: false,
            common_stem: None,
            agents: None,
            home: None,
            tables: None,
            small_files: None,
            joined_files: None,
            record_files: None,
            #[cfg(test)]
            fixtures: name,
        }
    }

    /// What writes a source.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] where that is not known.
    pub fn writer(&self) -> Result<Exporter> {
        let only_read = || Error::input("format", format!("'{self}' can be read and not written"));
        self.write.ok_or_else(only_read)
    }

    /// How a source is built that begins so: its first [`FRONT_BYTES`], or all of it.
    pub fn shape_of(&self, front: &[u8]) -> Shape {
        match self.is_document {
            Some(is_document) if is_document(front) => Shape::Document,
            _ => self.shape,
        }
    }

    /// Whether its tool can go on with a session that is written for it.
    pub fn resume(&self) -> Option<&Resume> {
        self.home.as_ref()?.resume.as_ref()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name)
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// A random UUID (RFC 9562, version 4) of these bytes, as most tools name their sessions.
fn random_uuid(_: Millis, random: &[u8; 32]) -> String {
    let mut id = [0; 16];
    id.copy_from_slice(&random[..16]);
    uuid::Builder::from_random_bytes(id).into_uuid().to_string()
}
