//! What an error means to whoever asked: one line of what is wrong, one of what to do, and the exit code. Every door
//! says the same.
//!
//! In a hint, what is typed stands between backquotes: a command (`` `tract undo` ``) or an option of the one that failed
//! (`` `--force` ``). Each door says it in its own language ([`worded`]); a program goes by
//! [`ApiError`](super::ApiError)'s kind.

use std::io;
use std::path::Path;

use crate::error::{
    Error, Interrupted, NameOf, PeerTrouble, Refusal, SPOILT_DATABASE, ServerTrouble,
};
use crate::formats::FORMATS;
use crate::hash::HashPrefix;
use crate::model::{Role, nearest};
use crate::render::{counted_secrets, grouped, plural, shell_word};

/// How many commits are named that bring secrets.
const LEAKS: usize = 5;
/// How many names are told that are here.
const NAMES: usize = 8;
/// What is said instead of `-`.
pub const STANDARD_INPUT: &str = "standard input";

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The repository or the revision doesn't allow it.
    NotAllowed = 1,
    /// Wrong usage.
    Usage = 2,
    /// Damaged data.
    Damaged = 3,
    /// Someone was first: try again.
    Lost = 4,
}

impl Exit {
    /// The exit code of a number; what is none of them is the first.
    pub const fn of(number: u8) -> Self {
        match number {
            2 => Self::Usage,
            3 => Self::Damaged,
            4 => Self::Lost,
            _ => Self::NotAllowed,
        }
    }
}

/// The exit code of an error.
pub fn exit(error: &Error) -> Exit {
    match error {
        Error::Busy { .. }
        | Error::Server {
            trouble: ServerTrouble::Full { .. } | ServerTrouble::Silent { .. },
            ..
        }
        | Error::Overtaken { .. }
        | Error::RefMoved { .. }
        | Error::Peer {
            trouble: PeerTrouble::Lost,
            ..
        } => Exit::Lost,
        Error::Damaged { .. }
        | Error::NoDirectory { .. }
        | Error::Unfinished { .. }
        | Error::ForeignDatabase { .. }
        | Error::OlderDatabase { .. }
        | Error::NewerDatabase { .. }
        | Error::ForeignJournal { .. }
        | Error::Malformed { .. }
        | Error::BrokenBundle { .. }
        | Error::StrictImport { .. }
        | Error::BrokenFile { .. }
        | Error::TornFile { .. }
        | Error::ExpandsTooFar { .. }
        | Error::Peer {
            trouble: PeerTrouble::Damaged,
            ..
        } => Exit::Damaged,
        Error::UnknownRole { .. }
        | Error::EmptyMessage
        | Error::InvalidInput { .. }
        | Error::SeveralMessages { .. }
        | Error::TooDeep { .. }
        | Error::InvalidHash { .. }
        | Error::InvalidRefName { .. }
        | Error::UnreadableMoment { .. }
        | Error::UnknownName { .. } => Exit::Usage,
        _ => Exit::NotAllowed,
    }
}

/// The error and what lies behind it, unless it says that itself.
pub fn sentence(error: &Error) -> String {
    use std::error::Error as _;
    let mut text = match error {
        // The system's own "(os error 2)" helps nobody.
        Error::Io { path, source } => format!("{}: {}", path.display(), reason(source)),
        Error::StrictImport { path, problems, .. } => {
            let problems = plural(*problems, "problem");
            format!("{problems} in {}; nothing was imported", path.display())
        }
        Error::OverBudget { total, max } => {
            let (total, max) = (grouped(*total), grouped(*max));
            format!(
                "the context would have {total} tokens, over its budget of {max}; nothing was committed"
            )
        }
        Error::CannotFit { least, tokens } => {
            let (least, tokens) = (grouped(*least), grouped(*tokens));
            format!("hiding all that may go leaves {least} tokens, more than {tokens}")
        }
        Error::Leaks { counts, commits } => {
            let place = match commits.len() {
                0 => "in addition to the messages".to_owned(),
                count if count > LEAKS => {
                    let shown = commits[..LEAKS].join(", ");
                    format!("in {shown} and {} more", count - LEAKS)
                }
                _ => format!("in {}", commits.join(", ")),
            };
            format!("{}, {place}; nothing was written", counted_secrets(counts))
        }
        // What was typed is what people recognise; damage is looked for by the whole name.
        error @ (Error::UnknownRevision { .. }
        | Error::AmbiguousRevision { .. }
        | Error::InvalidHash { .. }
        | Error::Damaged { .. }) => error.to_string(),
        error => with_short_hashes(&error.to_string()),
    };
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) && !matches!(error, Error::Io { .. }) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

/// A text in which hashes have their first digits, as lists show them.
fn with_short_hashes(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, word) = rest.split_at(start);
        let end = word.find(|c: char| !c.is_ascii_hexdigit());
        let (digits, after) = word.split_at(end.unwrap_or(word.len()));
        short += before;
        short += match digits.len() {
            64 => &digits[..7],
            _ => digits,
        };
        rest = after;
    }
    short + rest
}

/// What the system says, as a fragment.
pub fn reason(error: &io::Error) -> String {
    let text = match (error.kind(), error.raw_os_error()) {
        // The language's own words for it name an entity.
        (io::ErrorKind::NotFound, None) => "no such file or directory".to_owned(),
        _ => error.to_string(),
    };
    let text = text.split(" (os error").next().unwrap_or(&text);
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_lowercase);
    first.chain(letters).collect()
}

/// A command in a hint, whatever names it has in it.
pub fn command(line: &str) -> String {
    format!("`tract {}`", line.replace('`', "``"))
}

/// A hint with what it says to type as `say` words it: a command line without `tract`, or an option with its dashes; as
/// it stands where `say` has no words for it.
pub fn worded(hint: &str, mut say: impl FnMut(&str) -> Option<String>) -> String {
    let mut told = String::new();
    let mut rest = hint;
    while let Some((before, after)) = rest.split_once('`') {
        told += before;
        let Some((marked, behind)) = up_to_mark(after) else {
            return told + "`" + after;
        };
        rest = behind;
        let line = marked.strip_prefix("tract ");
        match line.or_else(|| marked.starts_with("--").then_some(&*marked)) {
            Some(line) => told += &say(line).unwrap_or(marked),
            None => told = told + "`" + &marked + "`",
        }
    }
    told + rest
}

/// What stands before the next mark that is not doubled, and behind it.
fn up_to_mark(text: &str) -> Option<(String, &str)> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        at += found;
        if !text[at + 1..].starts_with('`') {
            return Some((text[..at].replace("``", "`"), &text[at + 1..]));
        }
        at += 2;
    }
    None
}

/// A hint as it is read at a terminal.
pub fn plain(hint: &str) -> String {
    worded(hint, |_| None)
}

/// What to do about it.
pub fn hint(error: &Error) -> Option<String> {
    Some(match error {
        Error::NotOwned { place, .. } => {
            let place = shell_word(&place.display().to_string());
            format!(
                "if you trust it: {}; for one run: TRACT_SAFE_DIRECTORY={place}",
                command(&format!("config --global safe.directory {place}"))
            )
        }
        Error::OpenToAll { path, place } => {
            let path = shell_word(&path.display().to_string());
            let place = shell_word(&place.display().to_string());
            format!(
                "chmod o-w {path}, once you know that nobody has; to open it as another's: TRACT_SAFE_DIRECTORY={place}"
            )
        }
        Error::NoEntry { path } => {
            let path = shell_word(&path.display().to_string());
            format!("its owner can open it: chmod u+rwx {path}; `--repo PATH` names another")
        }
        Error::Unfinished { path } => {
            let holder = path.parent().filter(|holder| *holder != Path::new(""));
            let holder = holder.unwrap_or(Path::new(".")).display().to_string();
            let holder = shell_word(&holder);
            let init = command(&format!("init {holder}"));
            format!("{init} completes it; `--repo PATH` names another repository")
        }
        Error::BeforeItsFirst { name } => {
            let reflog = command(&format!("reflog {}", shell_word(name)));
            format!("{reflog} lists where it was")
        }
        Error::EmptyBranch {
            branch,
            remote: Some(remote),
            ..
        } => {
            let begin = command(&format!("branch {branch} {remote}"));
            format!("{remote} is a remote's branch: {begin} begins one here")
        }
        Error::UnknownRevision {
            nearest: Some(name),
            ..
        }
        | Error::EmptyBranch {
            nearest: Some(name),
            ..
        } => format!("did you mean {name}?"),
        Error::UnknownRevision {
            text,
            nothing_yet: false,
            ..
        } if too_short(text) => {
            let least = HashPrefix::MIN_DIGITS;
            format!("the beginning of a hash is {least} digits at least")
        }
        Error::DoesNotFit {
            reason: Refusal::NotHere { commits },
            ..
        } if commits.len() == 1 => {
            let pick = command(&format!("pick {}", commits[0]));
            format!("nothing was written; {pick} takes the message itself")
        }
        Error::NoSuchMessage { messages: last, .. } if *last > 1 => {
            let messages = plural(*last as u64, "message");
            format!("there are {messages}: :1 to :{last}, :-1 is the last")
        }
        Error::UnknownName { what, name, known } if !known.is_empty() => {
            match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near}?"),
                None => some_known(*what, known),
            }
        }
        Error::BeyondFirst { first, .. } => format!("the first is {first}"),
        Error::RefExists { name } => {
            let log = command(&format!("log {name}"));
            format!("choose another name, or look at it: {log}")
        }
        Error::NothingMoved { before, .. } => {
            let next = match before {
                Some(id) => format!("`tract undo {id}` reverses the command before it"),
                None => "`tract reflog` lists past commands".to_owned(),
            };
            format!("the session file that it wrote belongs to the tool; {next}")
        }
        Error::OperationSuperseded {
            by: None,
            before: Some(before),
            ..
        } => format!(
            "`tract undo --to {before}` also reverses what came since; `tract revert REV` does the opposite of one commit"
        ),
        Error::PurgedLast { before: Some(id) } => {
            format!("`tract undo {id}` reverses the command before it")
        }
        Error::Refused(Refusal::BehindOnto { commit, .. }) => {
            format!("`tract reset {commit}` moves the branch there")
        }
        Error::Conflicts { conflicts } => {
            let mut commits: Vec<&str> = conflicts.iter().map(|it| it.commit.as_str()).collect();
            commits.dedup();
            match commits[..] {
                [one] => format!("nothing was written; `tract show {one}` says what it does there"),
                _ => {
                    "nothing was written; `tract show` says what each of them does there".to_owned()
                }
            }
        }
        Error::UnknownRole { text } => match nearest(text, Role::ALL.map(Role::as_str)) {
            Some(role) => format!("did you mean {role}?"),
            None => "system, developer, user, assistant or tool".to_owned(),
        },
        Error::Io { path, source } if source.to_string().starts_with(SPOILT_DATABASE) => {
            let path = shell_word(&path.display().to_string());
            format!("sqlite3 {path} .recover | sqlite3 saved.db makes a database of what is whole")
        }
        Error::Io { path, source } => return no_room(source).or_else(|| on_path(path, source)),
        Error::Refused(Refusal::NoSuchRef {
            kind: kind @ ("branch" | "tag"),
            ..
        }) => format!("`tract {kind}` lists them"),
        Error::InvalidInput { what, detail } => return on_input(what, detail),
        Error::UnknownFormat {
            path,
            known: Some("a gzip archive"),
        } => {
            let path = if path == Path::new(STANDARD_INPUT) {
                "FILE".to_owned()
            } else {
                shell_word(&path.display().to_string())
            };
            format!("gunzip -c {path} | tract import -")
        }
        Error::UnknownFormat {
            known: Some(part), ..
        } if part.ends_with("session part") => {
            "import the session's folder: its files are read together".to_owned()
        }
        Error::UnknownFormat { .. } | Error::EmptyFile { .. } => known_formats(),
        error => {
            let fixed = hint_on_history(error).or_else(|| hint_on_data(error));
            return fixed.map(str::to_owned);
        }
    })
}

/// What to do about a path that the system refuses.
fn on_path(path: &Path, error: &io::Error) -> Option<String> {
    use io::ErrorKind;
    Some(match error.kind() {
        ErrorKind::NotFound => {
            "check the path: its directories must exist, and a relative path begins at the current directory"
                .to_owned()
        }
        ErrorKind::IsADirectory => "name a file, not a directory".to_owned(),
        ErrorKind::NotADirectory => "a part of the path is a file: name another path".to_owned(),
        ErrorKind::PermissionDenied => {
            let path = shell_word(&path.display().to_string());
            format!("ls -ld {path} shows who may read and write it")
        }
        ErrorKind::AlreadyExists => "name another path".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "name a path on a disk that can be written".to_owned(),
        _ => return None,
    })
}

/// What to do about a text of a kind that several commands read.
fn on_input(what: &str, detail: &str) -> Option<String> {
    Some(match what {
        "format" => {
            let typed = detail.split('\'').nth(1).unwrap_or_default();
            let mut names = FORMATS.iter().map(|format| format.name);
            if names.clone().any(|name| name == typed) {
                let written = FORMATS.iter().filter(|format| format.writer().is_ok());
                let written: Vec<&str> = written.map(|format| format.name).collect();
                return Some(format!("these are written: {}", written.join(", ")));
            }
            match nearest(typed, &mut names) {
                Some(name) => format!("did you mean {name}?"),
                None => known_formats(),
            }
        }
        _ if what.starts_with("the regular expression") => {
            "a backslash makes a special character plain: \\( \\[ \\. \\* \\+ \\?".to_owned()
        }
        _ if detail.starts_with("not valid UTF-8") && what == STANDARD_INPUT => {
            "iconv -f ISO-8859-1 -t UTF-8 converts Latin-1".to_owned()
        }
        _ if detail.starts_with("not valid UTF-8") => {
            let file = shell_word(what);
            format!("iconv -f ISO-8859-1 -t UTF-8 {file} converts Latin-1")
        }
        _ => return hint_on_address(what).map(str::to_owned),
    })
}

/// Some names that are here.
fn some_known(what: NameOf, known: &[String]) -> String {
    let some = known.iter().take(NAMES).map(String::as_str);
    let some = some.collect::<Vec<_>>().join(", ");
    let more = match known.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let are = match what {
        NameOf::Directory => "sessions ran in",
        NameOf::Tool => "this conversation calls",
        NameOf::Session | NameOf::File | NameOf::Author => "there are",
    };
    format!("{are} {some}{more}")
}

/// The same of what was asked of a history, where it does not depend on what was asked.
fn hint_on_history(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NoRepository { .. } => {
            "`tract import --last` takes in this directory's newest session, `tract init` makes an empty one"
        }
        Error::Leaks { .. } => {
            "`--redact` replaces them in what is written, `--allow-secrets` writes them too"
        }
        Error::UnknownName { what, .. } => match what {
            NameOf::Session => "`tract branch` lists the sessions",
            NameOf::Directory => "no session here says where it ran",
            NameOf::Tool => "no tool is called in this conversation",
            NameOf::File => {
                "the end of a path is enough: lib.rs; `tract log --files` lists what this conversation edited"
            }
            NameOf::Author => "`tract log -v` names the authors",
        },
        Error::UnknownRevision {
            nothing_yet: true, ..
        }
        | Error::EmptyBranch { .. } => "`tract import`, or `tract commit -r user -m \"…\"`",
        Error::UnknownRevision { text, .. } if text.starts_with(":/") => {
            "`tract find TEXT` searches all branches and sessions"
        }
        Error::UnknownRevision { text, .. } if text.starts_with("ORIG_HEAD") => {
            "a soft reset sets ORIG_HEAD; `tract reflog HEAD` lists where HEAD was"
        }
        Error::UnknownRevision { text, .. } if text.starts_with("PREV_HEAD") => {
            "a checkout sets PREV_HEAD; `tract reflog HEAD` lists where HEAD was"
        }
        Error::UnknownRevision { text, .. } if text.contains("@{") => {
            "`tract reflog REF` lists where a ref was"
        }
        Error::UnknownRevision { text, .. } if text.contains("..") => {
            "one message or commit is meant here; `tract log A..B` takes a range, as :3..5, or idea:3..5 on a branch"
        }
        Error::UnknownRevision { .. } => {
            "`tract log --oneline` lists them, `tract branch` the branches"
        }
        Error::AmbiguousRevision { .. } => "one of these?",
        Error::UnreadableMoment { .. } => {
            "such as HEAD@{3}, HEAD@{2 hours ago}, HEAD@{yesterday} or HEAD@{2026-01-31T14:00}"
        }
        Error::NoSuchMessage { messages: 0, .. } => "the context is empty",
        Error::NoSuchMessage { .. } => "there is one message: :1",
        Error::NoPreviousPosition => {
            "`tract checkout -` works once HEAD has moved; `tract branch` lists the branches"
        }
        Error::Refused(Refusal::NothingInCommon { .. }) => {
            "`--allow-unrelated-histories` merges it all the same; `tract pick` copies single messages"
        }
        Error::Refused(Refusal::MergeUnderWay) => {
            "`tract merge --continue` goes on with it, `tract merge --abort` gives it up"
        }
        Error::Refused(Refusal::NoMerge) => "`tract merge BRANCH` begins one",
        Error::Refused(Refusal::EmptySummary) => {
            "`tract compact -m TEXT` gives its text, `tract compact --exec CMD` lets a command write it"
        }
        Error::Refused(Refusal::EndsBeforeItBegins) => "the earlier message comes first: :4..:20",
        Error::Refused(Refusal::EndNotVisible) => "`tract log` shows the messages of the context",
        Error::Refused(
            Refusal::NothingToCompact | Refusal::OnlyTheTurn | Refusal::CompactedAlready,
        ) => "`tract log` shows the messages of the context; `tract compact :4..:20` names some",
        Error::Refused(Refusal::OnlyTheNewest { .. }) => "`--keep N` with a smaller number",
        Error::Refused(Refusal::NotHidden | Refusal::PartNotHidden) => {
            "`tract log --op hide` lists what was hidden"
        }
        Error::Refused(Refusal::Skipped) => "`tract annotate --normal REV` shows it again",
        Error::Refused(Refusal::Pinned { .. } | Refusal::PartnerPinned { .. }) => {
            "`tract annotate --normal REV` takes the pin away"
        }
        Error::Refused(Refusal::CallOpen { .. }) => {
            "`tract commit --call ID -m TEXT` writes the result"
        }
        Error::Refused(Refusal::OrigHeadOfOther { .. }) => {
            "`tract reflog BRANCH` lists where a branch was; `tract reset HASH` moves it to any commit"
        }
        Error::Refused(Refusal::DetachedRoot) => "`tract checkout BRANCH` goes back to a branch",
        Error::Refused(Refusal::HeadIsOnIt { .. }) => {
            "`tract checkout BRANCH` goes to another branch"
        }
        Error::Refused(Refusal::InSettings { .. }) => "`tract show REV` prints its settings",
        Error::Refused(Refusal::Noted { .. }) => {
            "`tract merge --continue` or `tract merge --abort` ends the merge"
        }
        Error::Refused(Refusal::NoConflict { .. }) => "`tract resolve` lists what is in conflict",
        Error::Purged | Error::PurgedLast { .. } => "what was purged does not come back",
        Error::DoesNotFit { .. } => {
            "nothing was written; `tract log BRANCH` lists what a branch has"
        }
        Error::NoMessage { messages: 0, .. } => {
            "`tract show` says what a commit does; `tract log` lists the messages"
        }
        Error::NoMessage { .. } => "a number behind it names one: REV#0; `tract show` has all",
        Error::NotOnPath { .. } => {
            "`tract log` lists what is on this one; `tract pick` takes single commits from others"
        }
        Error::Refused(Refusal::Unrelated) => {
            "`--from REV` says which commits to take; `tract pick` copies single messages"
        }
        Error::Refused(Refusal::Parted { .. }) => {
            "a call and its result go together: take both along, or leave both behind"
        }
        Error::NothingToUndo | Error::UnknownOperation { .. } | Error::NotUndoable { .. } => {
            "`tract reflog` lists past commands"
        }
        Error::NothingToRedo { since: Some(_) } => {
            "a redo would lose its commits; `tract undo` reverses it, `tract reflog` lists the rest"
        }
        Error::NothingToRedo { since: None } => {
            "redo reverses an undo, and there is none to reverse"
        }
        Error::InvalidRefName { .. } => "such as fix-parser or ideas/one",
        Error::NotYours { .. } => {
            "`tract undo` takes back what you did last; `--force` undoes what others did, and the log says who forced it"
        }
        Error::OperationSuperseded { .. } => {
            "`tract reflog` says what came since; `tract revert REV` does the opposite of one commit"
        }
        Error::SeveralMessages { .. } => {
            "for one message, give its JSON object alone; for all of them, on branches: `tract import FILE`"
        }
        Error::Refused(Refusal::NoSuchPart { .. }) => {
            "parts are counted from 0, as `tract show` prints them"
        }
        Error::Refused(Refusal::NoPlace) => {
            "name a visible message, such as :5; `tract log` shows the numbers"
        }
        Error::Essential { .. } => "`--force` drops it anyway",
        Error::EmptyMessage => "`tract commit -r user -m TEXT`",
        Error::TooDeep { .. } => "a plain text may have any depth: `tract commit -r ROLE -F FILE`",
        Error::DetachedHead { .. } => "to go on from here and keep both: `tract checkout -b NAME`",
        Error::RefMoved { .. } => {
            "someone else committed first: look at `tract log`, then try again"
        }
        Error::Overtaken { .. } => "try again: it continues from what is here now",
        Error::Busy { .. } => "try again",
        Error::OverBudget { .. } => "`tract status -v` says what fills the context",
        Error::CannotFit { .. } => "`tract prune` takes old tool outputs out",
        Error::StrictCompile { .. } => {
            "without `--strict`, the request is repaired and each repair is a notice"
        }
        _ => return None,
    })
}

/// The same of files, stores and whoever is at the other end.
fn hint_on_data(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NoDirectory { .. } => "move it away; `--repo PATH` names another repository",
        Error::Store(_) => "is the disk full, or failing? `tract log` says what was kept",
        Error::ReadOnly => {
            "reading still works; writing needs .tract, or a server's schema, to be writable"
        }
        Error::BrokenFile { .. } => {
            "fix the file there; `--format F` reads as much of it as possible, as F"
        }
        Error::TornFile { .. } => {
            "the file ends in the middle: copy it again from where it was written"
        }
        Error::ExpandsTooFar { .. } => {
            "if you trust the file: zstd -dc FILE > session.jsonl, and import that"
        }
        Error::StrictImport { .. } => {
            "without `--strict`, the good part comes in and the problems are listed"
        }
        Error::ForeignDatabase { .. } => {
            "nothing was changed; `--repo PATH` names another repository"
        }
        Error::Damaged { .. } => {
            "nothing was changed; `tract fsck` says what is damaged and what still compiles"
        }
        Error::BrokenBundle { .. } => {
            "nothing was written; `tract bundle` makes one where the commits are"
        }
        Error::MissingCommits { .. } => {
            "nothing was written; a bundle of the whole branch, not of a range, has them"
        }
        Error::Denied { .. } => {
            "nothing has moved; whoever keeps that repository sets it: tract config receive.…, there"
        }
        Error::NotForward { .. } => {
            "`tract pull` gets those commits; `--force-with-lease` gives them up there"
        }
        Error::BrokenPeer { .. } => {
            "what has arrived is kept; the same command continues from there"
        }
        Error::Peer {
            trouble: PeerTrouble::Lost,
            ..
        } => "try again: it continues from what is there now",
        Error::OlderDatabase { .. } => {
            "nothing was changed; the program that made it can make a bundle of it: `tract bundle`"
        }
        Error::AwaitsUpgrade { .. } => {
            "nothing was changed; the first command of its owner with this tract brings it up to date"
        }
        Error::ForeignJournal { .. } => {
            "nothing was changed; move tract.db-wal and tract.db-shm away, and keep them: they belong to the file before"
        }
        Error::WouldLose { .. } => {
            "nothing was changed; with `--force` the backup takes its place, and the old file is kept next to it"
        }
        Error::NewerDatabase { .. } => "update tract; nothing was changed",
        Error::NotBuilt { what: "S3" } => {
            "cargo install tract-context --features s3; ssh://HOST/PATH needs no feature"
        }
        Error::NotBuilt { .. } => {
            "cargo install tract-context --features postgres; `--repo PATH` names a directory"
        }
        Error::Unreachable { .. } => "is the server running, and may you log in? psql says more",
        Error::Server { trouble, .. } => hint_on_server(trouble),
        Error::Disconnected {
            during: Interrupted::InDoubt,
        } => "`tract log` says what is there; then try again",
        Error::Disconnected { .. } => "try again",
        Error::ServersOwn { .. } => {
            "pg_dump --schema NAME takes all of it; `tract bundle` takes branches and sessions"
        }
        _ => return None,
    })
}

/// The same of what an address, a variable or a service says that leads to no server.
fn hint_on_address(what: &str) -> Option<&'static str> {
    Some(match what {
        _ if what.starts_with("sslmode=") => {
            "require is the least for another host; only verify-full says that it is the server you mean"
        }
        _ if what.starts_with("the service '") => {
            "services stand in ~/.pg_service.conf, or in the file that PGSERVICEFILE names: [NAME], and host=HOST below it"
        }
        _ if what.starts_with("PG") => {
            "the variable is as psql takes it; what the address says goes before it: postgres://HOST:PORT/DATABASE"
        }
        _ if what.starts_with("postgres://") || what.starts_with("postgresql://") => {
            "postgres://USER@HOST:PORT/DATABASE?schema=NAME; docs/servers.md lists what else it may say"
        }
        _ => return None,
    })
}

/// The same of a server that is not talked to.
fn hint_on_server(trouble: &ServerTrouble) -> &'static str {
    match trouble {
        ServerTrouble::NoTls => {
            "sslmode=disable in the address sends everything in plain text, passwords too"
        }
        ServerTrouble::UnknownIssuer => {
            "sslrootcert=FILE in the address names the certificate of who signed it"
        }
        ServerTrouble::Expired | ServerTrouble::NotYetValid => {
            "the server needs another certificate; or is the clock of this machine wrong?"
        }
        ServerTrouble::OtherHost { .. } => {
            "name the host that it is for; sslmode=verify-ca asks only who signed it"
        }
        ServerTrouble::Full { .. } => {
            "try again; a pooler such as pgbouncer shares few connections among many"
        }
        ServerTrouble::Silent { .. } => {
            "is it PostgreSQL that listens there? connect_timeout=SECONDS in the address, or PGCONNECT_TIMEOUT, waits longer"
        }
        ServerTrouble::NotGranted(_) => {
            "the schema's owner may allow it: GRANT USAGE ON SCHEMA, GRANT SELECT ON ALL TABLES IN SCHEMA"
        }
        ServerTrouble::NoPassword => "PGPASSWORD says it, or a line in ~/.pgpass",
        ServerTrouble::OpenToOthers { .. } => "chmod 600 keeps it from others",
        ServerTrouble::StatementPooling => {
            "pool_mode = transaction, or session, keeps together what belongs together"
        }
        _ => "psql says more",
    }
}

/// What to do where there is no room for what was to be written.
pub fn no_room(error: &io::Error) -> Option<String> {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    let is_full = matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull);
    is_full.then(|| "make room, then try again".into())
}

fn too_short(text: &str) -> bool {
    text.len() < HashPrefix::MIN_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Where the formats are listed, for a hint.
pub fn known_formats() -> String {
    let count = FORMATS.len();
    format!("tract import --help lists the {count} formats that are known")
}
