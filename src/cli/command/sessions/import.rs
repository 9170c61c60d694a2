//! `tract import`: sessions of other tools, in.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use indicatif::ProgressBar;
use tract::Error;
use tract::deeds::{At, ImportParams};
use tract::formats::{FORMATS, Format, sniff};
use tract::ingest::database::{self, Listings};
use tract::ingest::family::{Coming, Queue};
use tract::ingest::tool_dirs::walk_directory;
use tract::ingest::{
    self, FileInput, ImportReport, ImportRequest, Reading, Redaction, Trouble, Unread, Waiting,
};
use tract::model::secret::Secrets;
use tract::model::tokens::Counter;
use tract::model::{Millis, RefName};
use tract::render::{Label, grouped, plural};
use tract::repo::{On, Repo};

use crate::cli::drawing::{import, position, unreadable};
use crate::cli::failure::known_formats;
use crate::cli::machine::hook::Hook;
use crate::cli::machine::paths::{self, Spool};
use crate::cli::{App, Exit, Failure, progress, tool_sessions};

#[derive(Debug, clap::Args)]
#[command(about = ABOUT, long_about = long_about(), after_help = "\
Example:
  tract import                         list the sessions of this directory
  tract import --last                  the newest of them
  tract import 493c22a8                the one with this id, as it is listed
  tract import --all --list            those of every directory; without --list it takes them
  gunzip -c old.gz | tract import -    standard input; <(…) works as well
  tract import session.jsonl logs/     files, and all session files in a directory
  tract import opencode.db             every session of a tool's database
  tract import --onto main FILE        what is new in it, after main's own commits
  tract import --all --dry-run         say what each would bring, and import nothing
  tract import --redact --last         without the keys, tokens and passwords in it
  tract import ~/.config/Code/User/globalStorage/*roo-cline/tasks
                                       all of Roo Code's tasks, each under its id

As a Claude Code hook (PreCompact, SessionEnd), it captures a session before each compaction;
tract setup sets the hooks of all your agents:
  tract import --hook")]
pub struct Args {
    #[command(flatten)]
    deed: ImportParams,
    // No method has these: sessions lists them, and whoever asks knows the files.
    /// Take the sessions of every directory
    ///
    /// A file that is as it was when it came in is not read again; name it to have it read.
    #[arg(long, conflicts_with_all = ["paths", "hook"])]
    all: bool,
    /// Only list sessions, as without arguments
    #[arg(long, conflicts_with_all = ["paths", "last", "hook"])]
    list: bool,
    /// How many sessions to list; 0: all
    #[arg(short = 'n', long, value_name = "N")]
    #[arg(conflicts_with_all = ["paths", "last", "hook"])]
    limit: Option<usize>,
    /// Take the newest session of this directory
    #[arg(long, conflicts_with = "paths")]
    last: bool,
    /// Read a Claude Code hook's JSON on standard input, and import its transcript
    #[arg(long, conflicts_with_all = ["paths", "last"])]
    hook: bool,
    /// Report each session, each file that was skipped, and each kept record that is not a message
    #[arg(short, long)]
    verbose: bool,
}

impl Args {
    /// Whether a file is only read where it has changed since it came in.
    fn reads_what_changed(&self) -> bool {
        let deed = &self.deed;
        let is_plain = deed.format.is_none() && deed.onto.is_none();
        self.all && is_plain && !deed.strict && !deed.redact
    }
}

const ABOUT: &str = "Bring in sessions of coding agents, and other conversations";

fn long_about() -> String {
    format!(
        "{ABOUT}. --format lists the {} formats that are read.\n\n\
         Without arguments, it lists the sessions that agents keep of this directory. A file's format is \
         recognised from its content. Importing a file again adds only what is new in it. \
         Outside a repository, one is made here, though not with --all.",
        FORMATS.len(),
    )
}

pub fn run(args: &Args, app: &mut App) -> Result<(), Failure> {
    let done = bring_in(args, app);
    if args.hook {
        done.map_err(Failure::never_blocks)
    } else {
        done
    }
}

fn bring_in(args: &Args, app: &mut App) -> Result<(), Failure> {
    args.deed.format()?;
    let Some(mut files) = wanted(args, app)? else {
        let limit = args.limit.unwrap_or(tool_sessions::LISTED);
        return tool_sessions::list(args.all, limit, app);
    };
    if args.deed.branch.is_some() && files.len() > 1 {
        let failure = Failure::usage("--as names the branch of one session, and there are several");
        return Err(failure.with_hint("import them one by one, or leave --as out"));
    }
    names(args, app)?;
    let links = Passed::links(&mut files, args);
    if files.is_empty() {
        let failure = Failure::refused("no session files in there");
        return Err(failure.with_hint(LOOKED_AT));
    }
    let spools = Spools::of(&files)?;
    if args.deed.dry_run {
        return foretell(files, links, &spools, args, app);
    }
    if args.deed.strict {
        strict(&files, &spools, args, app)?;
    }
    let (repo, created) = open(&files, &spools, args, app)?;
    let before = repo.head(&On::Head)?;
    let mut listings = Listings::default();
    let unchanged = match args.reads_what_changed() {
        true => leave_out_unchanged(&repo, &mut files, &mut listings)?,
        false => 0,
    };
    // What comes in first is what HEAD is on, and that is to be what one worked on last.
    if files.len() > 1 && before.commit().is_none() {
        let newest = ingest::kin::newest(&files, &mut listings);
        files[..=newest.unwrap_or(0)].rotate_right(1);
    }
    let mut queue = Queue::of(&repo, &files, &before, listings)?;
    let mut intake = Intake::of(args, &repo, &spools, &files, app)?;
    intake.passed = links;
    while let Some(coming) = queue.take_next() {
        if let Some(report) = intake.take(&coming, app)? {
            queue.agents_of(&repo, &coming.file, &report)?;
            intake.reports.push((coming.file, report));
        }
    }
    intake.clear_bar();
    let Intake {
        reports,
        passed,
        worst,
        ..
    } = intake;
    if created {
        app.tell_made(&repo);
    }
    passed.tell("Skipped", args.verbose, app);
    if reports.is_empty() && worst.is_none() && unchanged == 0 {
        let failure = Failure::refused("no session in a known format was found");
        return Err(failure.with_hint(known_formats()));
    }
    let named: HashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
    let is_kin = |file: &Path| !named.contains(file);
    if !reports.is_empty() {
        import::tell_all(&repo, &reports, (args.verbose, &is_kin), app)?;
        if args.deed.branch.is_some() {
            import::tell_branch(&repo, &reports, app)?;
        }
    }
    tell_unchanged(unchanged, reports.is_empty(), app);
    if let Some(onto) = &args.deed.onto {
        let named = reports.iter().filter(|(file, _)| !is_kin(file));
        for (_, report) in named {
            append(&repo, report, onto, app)?;
        }
    }
    import::head_moved(&repo, &before, app)?;
    match worst {
        Some(exit) => Err(Failure::Quiet(exit)),
        None => Ok(()),
    }
}

/// Says what would come in, and what would not.
fn foretell(
    mut files: Vec<PathBuf>,
    mut passed: Passed,
    spools: &Spools,
    args: &Args,
    app: &mut App,
) -> Result<(), Failure> {
    let repo = match app.repo() {
        Err(Failure::Tract(Error::NoRepository { .. })) => {
            refuse_here(args, app)?;
            app.ui.status("Would make a repository here");
            Rc::new(Repo::ephemeral()?)
        }
        found => found?,
    };
    let unchanged = match args.reads_what_changed() {
        true => leave_out_unchanged(&repo, &mut files, &mut Listings::default())?,
        false => 0,
    };
    let read = files.iter().map(|file| {
        let is_named = is_named(file, args);
        (spools.at(file).to_owned(), is_named)
    });
    let read: Vec<(PathBuf, bool)> = read.collect();
    let mut failures = Vec::new();
    let is_one = read.len() == 1;
    let mut untaken = |file: &Path, error: Error, is_passed: bool| {
        let error = spools.renamed(error);
        match Trouble::of(&error) {
            _ if is_passed => passed.note(file, &error),
            trouble if is_one || trouble == Trouble::ServerLost => return Err(error.into()),
            trouble => failures.push((exit_of(trouble), error)),
        }
        Ok(())
    };
    let deed = args.deed.clone();
    let told = deed.forecast(&mut At::new(&repo, On::Head, app), &read, &mut untaken)?;
    let mut worst = None;
    for (exit, error) in failures {
        Failure::from(error).report(&mut app.ui);
        worst = worst.max(Some(exit));
    }
    import::foretell(&told, args.verbose, app)?;
    passed.tell("Would skip", args.verbose, app);
    tell_unchanged(unchanged, told.sessions.is_empty(), app);
    for problem in &told.problems {
        app.ui
            .complain(Label::Warning.of("problem:") + " " + problem.as_str());
    }
    if told.sessions.is_empty() && worst.is_none() && unchanged == 0 {
        let failure = Failure::refused("no session in a known format was found");
        return Err(failure.with_hint(known_formats()));
    }
    if told.problem_count > 0 {
        worst = worst.max(Some(Exit::Damaged));
    }
    match worst {
        Some(exit) => Err(Failure::Quiet(exit)),
        None => Ok(()),
    }
}

/// The exit code where one of several files could not be taken.
fn exit_of(trouble: Trouble) -> Exit {
    match trouble {
        Trouble::TooLate => Exit::Lost,
        _ => Exit::NotAllowed,
    }
}

/// Says how many files were not read, as they have not changed.
fn tell_unchanged(unchanged: u64, are_all: bool, app: &mut App) {
    let noun = if are_all { "file" } else { "other file" };
    let files = plural(unchanged, noun);
    match unchanged {
        0 => {}
        1 => app
            .ui
            .status(format!("{files} is as it was when it came in")),
        _ => app
            .ui
            .status(format!("{files} are as they were when they came in")),
    }
}

/// The files that are to come in; none where they are only listed.
fn wanted(args: &Args, app: &mut App) -> Result<Option<Vec<PathBuf>>, Failure> {
    Ok(Some(match (args.hook, args.last) {
        (true, _) => hook(app)?,
        (_, true) => vec![tool_sessions::found(args.all, app)?.swap_remove(0).path],
        _ if args.all && !args.list && args.limit.is_none() => tool_sessions::everything(app)?,
        _ if args.deed.paths.is_empty() => return Ok(None),
        _ => gather(args, app)?,
    }))
}

/// Leaves out those files that are as they were when they came in; how many.
fn leave_out_unchanged(
    repo: &Repo,
    files: &mut Vec<PathBuf>,
    listings: &mut Listings,
) -> Result<u64, Failure> {
    let (mut changed, mut unchanged) = (Vec::new(), 0);
    for file in files.drain(..) {
        match is_family_unchanged(repo, &file, listings)? {
            true => unchanged += 1,
            false => changed.push(file),
        }
    }
    *files = changed;
    Ok(unchanged)
}

/// Whether a file is as it was when it came in, and so is what it started in the same database: that comes in with it.
fn is_family_unchanged(repo: &Repo, file: &Path, listings: &mut Listings) -> Result<bool, Failure> {
    for started in listings.started_by(file) {
        if !is_unchanged(repo, &started, listings)? {
            return Ok(false);
        }
    }
    is_unchanged(repo, file, listings)
}

/// Whether a file is as it was when it came in.
fn is_unchanged(repo: &Repo, file: &Path, listings: &mut Listings) -> Result<bool, Failure> {
    Ok(ingest::has_changed(repo, file, listings)? == Some(false))
}

/// Files on their way in, one after the other.
struct Intake<'a> {
    args: &'a Args,
    format: Option<&'static Format>,
    repo: &'a Repo,
    spools: &'a Spools,
    /// What all files of one command have in the log, so that one undo takes them back.
    words: String,
    now: Millis,
    counter: Counter,
    secrets: Secrets,
    redaction: Redaction,
    unread: Unread,
    moves_head: bool,
    /// Counts the files, where there are several.
    bar: Option<ProgressBar>,
    /// What came in.
    reports: Vec<(PathBuf, ImportReport)>,
    passed: Passed,
    /// What databases hold, for what belongs to the files.
    listings: Listings,
    /// What the program ends with, where not all is well.
    worst: Option<Exit>,
}

impl<'a> Intake<'a> {
    /// Of so many files, before the first.
    fn of(
        args: &'a Args,
        repo: &'a Repo,
        spools: &'a Spools,
        named: &[PathBuf],
        app: &App,
    ) -> Result<Self, Failure> {
        let files = named.len();
        Ok(Self {
            words: words(args, named),
            now: app.now(),
            args,
            format: args.deed.format()?,
            repo,
            spools,
            counter: Counter::of(app.encoding(repo)?),
            secrets: app.secrets()?,
            redaction: match args.deed.redact {
                true => Redaction::Always,
                // One session is asked itself.
                false if args.hook || ingest::redacts(repo)? => Redaction::AsBefore,
                false => Redaction::Never,
            },
            unread: Unread::of(repo)?,
            // Where each directory has its HEAD, only what is named comes to the one here.
            moves_head: repo.seat().is_none() || (files == 1 && !args.hook && !args.all),
            bar: (files > 1).then(|| {
                let bar = progress::bar(app, "[{bar:30}] {pos} of {len} files  {msg}");
                bar.set_length(files as u64);
                bar
            }),
            reports: Vec::new(),
            passed: Passed::default(),
            listings: Listings::default(),
            worst: None,
        })
    }

    /// Takes a file in; none where it did not come, and others still may.
    fn take(&mut self, coming: &Coming, app: &mut App) -> Result<Option<ImportReport>, Failure> {
        let (args, file) = (self.args, &coming.file);
        if coming.is_kin
            && self.reading() == Reading::New
            && is_unchanged(self.repo, file, &mut self.listings)?
        {
            return Ok(None);
        }
        let is_named = !coming.is_kin && is_named(file, args);
        if let Some(bar) = &self.bar {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            bar.set_message(tract::render::Line::from(&*name).text());
            bar.inc(1);
        }
        let failure = match self.import(coming, app) {
            Ok(report) => {
                self.unread.was_read(self.repo, file)?;
                if report.problem_count > 0 {
                    self.worst = Some(Exit::Damaged);
                }
                return Ok(Some(report));
            }
            Err(error) => Failure::from(self.spools.renamed(error)),
        };
        let trouble = match &failure {
            Failure::Tract(error) => Trouble::of(error),
            _ => Trouble::File,
        };
        if args.all && trouble.is_the_files() {
            let why = unreadable::why(&failure);
            self.unread.failed(self.repo, file, &why, app.now())?;
        }
        match failure {
            Failure::Tract(error) if trouble.is_no_session() && !is_named => {
                self.passed.note(file, &error);
            }
            failure if self.bar.is_none() && !coming.is_kin || trouble == Trouble::ServerLost => {
                self.clear_bar();
                return Err(failure);
            }
            failure => {
                match &self.bar {
                    Some(bar) => bar.suspend(|| failure.report(&mut app.ui)),
                    None => failure.report(&mut app.ui),
                };
                self.worst = self.worst.max(Some(exit_of(trouble)));
            }
        }
        Ok(None)
    }

    fn reading(&self) -> Reading {
        match self.args.hook || self.args.deed.new_only || self.args.reads_what_changed() {
            true => Reading::New,
            false => Reading::Whole,
        }
    }

    fn clear_bar(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn import(&self, coming: &Coming, app: &App) -> tract::Result<ImportReport> {
        let args = self.args;
        let file = coming.file.display().to_string();
        let what = match self.words == format!("import {file}") {
            // Nobody typed it.
            _ if args.hook => format!("hook {file}"),
            true => self.words.clone(),
            false => format!("{}: {file}", self.words),
        };
        let request = ImportRequest {
            format: self.format,
            branch: if coming.is_kin {
                None
            } else {
                args.deed.branch.as_deref().or(coming.branch.as_deref())
            },
            now: self.now,
            what: &what,
            counter: Some(self.counter),
            secrets: Some(&self.secrets),
            redaction: self.redaction,
            reading: self.reading(),
            moves_head: self.moves_head && !app.names_a_branch() && !coming.is_aside,
            is_aside: coming.is_aside,
            is_live: false,
            waiting: Waiting::TO_THE_END,
        };
        // Of many files the one bar counts files.
        let bar = match self.bar {
            Some(_) => ProgressBar::hidden(),
            None => progress::bar(app, "[{bar:30}] {bytes} of {total_bytes}  {msg}"),
        };
        let import = if args.deed.strict {
            ingest::import_strict
        } else {
            ingest::import
        };
        let read = self.spools.at(&coming.file);
        let report = import(self.repo, read, &request, &mut |progress| {
            bar.set_length(progress.total_bytes);
            bar.set_position(progress.bytes);
            let seconds = bar.elapsed().as_secs_f64().max(0.001);
            let rate = progress.records as f64 / seconds;
            bar.set_message(format!("{} records/s", grouped(rate as u64)));
        });
        bar.finish_and_clear();
        report
    }
}

/// How the log names a command; of several files each has its own name behind it.
fn words(args: &Args, files: &[PathBuf]) -> String {
    let named = match (files, args.deed.paths.as_slice()) {
        ([file], _) => file.display().to_string(),
        (_, []) => "--all".to_owned(),
        (_, [folder]) => folder.display().to_string(),
        (_, [first, others @ ..]) => {
            format!("{} and {} more", first.display(), others.len())
        }
    };
    format!("import {named}")
}

/// Refuses a branch that cannot be made, before anything is.
fn names(args: &Args, app: &App) -> Result<(), Failure> {
    for name in args.deed.branch.iter().chain(&args.deed.onto) {
        let branch = RefName::branch(name)?;
        if let Err(error) = branch.refuse_hash() {
            let is_there = match app.repo() {
                Ok(repo) => repo.head(&On::Branch(branch))?.commit().is_some(),
                Err(_) => false,
            };
            if !is_there {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Refuses all files if anything is wrong in one, before a repository is made or opened.
fn strict(files: &[PathBuf], spools: &Spools, args: &Args, app: &mut App) -> Result<(), Failure> {
    let format = args.deed.format()?;
    for file in files {
        match ingest::check_strict(spools.at(file), format) {
            Ok(()) => {}
            Err(error) if Trouble::of(&error).is_no_session() && !is_named(file, args) => {}
            Err(error) => {
                let error = spools.renamed(error);
                if let Error::StrictImport { path, first, .. } = &error {
                    for (line, reason) in first {
                        import::problem(path, *line, reason, app);
                    }
                }
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// The pipes among the files, read.
struct Spools(Vec<(PathBuf, Spool)>);

impl Spools {
    fn of(files: &[PathBuf]) -> Result<Self, Failure> {
        let mut spools = Vec::new();
        for file in files {
            spools.extend(Spool::of(file)?.map(|spool| (file.clone(), spool)));
        }
        Ok(Self(spools))
    }

    /// What people call a file.
    fn name<'a>(&'a self, file: &'a Path) -> &'a Path {
        self.of_pipe(file).map_or(file, |spool| &spool.name)
    }

    /// What went wrong, by the name of the pipe and not of where it is kept meanwhile.
    fn renamed(&self, error: Error) -> Error {
        self.0.iter().fold(error, |error, (_, spool)| {
            paths::renamed(error, &spool.file, &spool.name)
        })
    }

    /// Where a file is to be read.
    fn at<'a>(&'a self, file: &'a Path) -> &'a Path {
        self.of_pipe(file).map_or(file, |spool| &spool.file)
    }

    fn of_pipe(&self, file: &Path) -> Option<&Spool> {
        let mut spools = self.0.iter();
        spools.find_map(|(pipe, spool)| (pipe == file).then_some(spool))
    }
}

/// Whether a file was named itself rather than found in a directory.
fn is_named(file: &Path, args: &Args) -> bool {
    if args.all {
        return false;
    }
    args.deed.paths.is_empty()
        || args
            .deed
            .paths
            .iter()
            .any(|path| path == file || !path.exists())
}

/// The files of a directory that are none of ours, by what they are.
#[derive(Default)]
struct Passed {
    files: Vec<(PathBuf, &'static str)>,
}

impl Passed {
    /// Takes out what was found and is a link that leads round, or to where nobody may look.
    fn links(files: &mut Vec<PathBuf>, args: &Args) -> Self {
        let is_lost = |file: &PathBuf| {
            !is_named(file, args) && file.is_symlink() && std::fs::metadata(file).is_err()
        };
        let lost = files.extract_if(.., |file| is_lost(file));
        let files = lost.map(|file| (file, "a link that leads nowhere"));
        Self {
            files: files.collect(),
        }
    }

    fn note(&mut self, file: &Path, error: &Error) {
        let what = match error {
            Error::UnknownFormat { known, .. } => known.unwrap_or("a file in no known format"),
            Error::BrokenFile { .. } => "a broken file",
            _ => "an empty file",
        };
        self.files.push((file.to_owned(), what));
    }

    /// Says how many there were, and with `-v` which, behind what became of them.
    fn tell(&self, became: &str, is_verbose: bool, app: &mut App) {
        if self.files.is_empty() {
            return;
        }
        let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, what) in &self.files {
            *kinds.entry(what).or_default() += 1;
        }
        let kinds: Vec<String> = kinds
            .iter()
            .map(|(what, count)| {
                let noun = what.split_once(' ').map_or(*what, |(_, noun)| noun);
                let end = noun.find(" in ").or_else(|| noun.find(" that "));
                let end = end.unwrap_or(noun.len());
                let (first, rest) = noun.split_at(end);
                plural(*count, first) + rest
            })
            .collect();
        let count = plural(self.files.len() as u64, "file");
        let advice = if is_verbose { "" } else { " (-v names them)" };
        let line = format!("{became} {count}: {}{advice}", kinds.join(", "));
        app.ui.status(line);
        if is_verbose {
            for (file, what) in &self.files {
                app.ui.status(format!("  {}: {what}", file.display()));
            }
        }
    }
}

/// The files that the paths mean.
fn gather(args: &Args, app: &App) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for typed in &args.deed.paths {
        if typed == Path::new(paths::STDIN) {
            if app.ui.input_is_terminal() {
                let failure = Failure::usage("- is standard input, and that is a terminal");
                return Err(failure.with_hint("cat FILE | tract import -"));
            }
            files.push(typed.clone());
            continue;
        }
        let path = app.path(typed)?;
        if !path.exists()
            && let Some(session) = tool_sessions::named(typed, app)?
        {
            files.push(session.path);
            continue;
        }
        if database::place(&path).is_some() {
            files.push(path);
            continue;
        }
        let facts = std::fs::metadata(&path).map_err(|error| {
            let may_be_id = typed.components().count() == 1 && typed.extension().is_none();
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            let failure = Failure::from(Error::io(&path)(error));
            if may_be_id && is_missing {
                failure.with_hint("tract import lists them")
            } else {
                failure
            }
        })?;
        if facts.is_dir() {
            files.extend(database::unfolded(walk_directory(&path)));
        } else {
            files.extend(database::unfolded(vec![path]));
        }
    }
    if files.is_empty() {
        let failure = Failure::refused("no session files in there");
        return Err(failure.with_hint(LOOKED_AT));
    }
    Ok(files)
}

/// Which files are looked at in a folder.
const LOOKED_AT: &str = "files that end in .jsonl, .json, .jsonl.zst, chat.history.md, .db, .sqlite or .vscdb are \
                         looked at";

/// The repository; made, unless there is nothing to put in it.
fn open(
    files: &[PathBuf],
    spools: &Spools,
    args: &Args,
    app: &App,
) -> Result<(Rc<Repo>, bool), Failure> {
    match app.repo() {
        // Nobody who runs a client has asked for one where that happens to run.
        Err(Failure::Tract(Error::NoRepository { .. })) if args.hook => {
            let failure = Failure::refused("no repository here or at home takes the session");
            return Err(failure.with_hint("tract init ~ makes one for all sessions"));
        }
        Err(Failure::Tract(Error::NoRepository { .. })) => {}
        found => return Ok((found?, false)),
    }
    refuse_here(args, app)?;
    if let ([file], None) = (files, &args.deed.format) {
        let opened = FileInput::open(spools.at(file));
        let input = opened.map_err(|error| spools.renamed(error))?;
        let path = spools.name(file).to_owned();
        if tract::formats::Input::size_bytes(&input) == 0 {
            return Err(Error::EmptyFile { path }.into());
        }
        let known = sniff::sniff(&input).map_err(|error| spools.renamed(error))?;
        if known.is_none() {
            return Err(ingest::unknown(&path, &input).into());
        }
    }
    app.repo_or_init()
}

/// Refuses to make a repository for the sessions of every directory in one of them, where one at home would be found from
/// all.
fn refuse_here(args: &Args, app: &App) -> Result<(), Failure> {
    if !args.all || !tool_sessions::needs_home(app) {
        return Ok(());
    }
    let failure =
        Failure::refused("no repository here or above, and --all makes none in one directory");
    let is_any_here = tool_sessions::here(app).is_ok_and(|found| !found.is_empty());
    Err(failure.with_hint(match is_any_here {
        true => {
            "tract init ~ makes one for all of them; tract import --last takes this directory's newest"
        }
        false => "tract init ~ makes one for all of them",
    }))
}

/// Appends what is new in the imported sessions to a branch.
fn append(repo: &Repo, report: &ImportReport, onto: &str, app: &mut App) -> Result<(), Failure> {
    let branch = RefName::branch(onto)?;
    let begun = position::begun(repo, &On::Branch(branch.clone()))?;
    position::tell_begun(begun.as_ref(), app);
    for session in &report.sessions {
        let what = format!("import --onto {onto}");
        let count = ingest::adopt(repo, &session.name, &branch, app.now(), &what)?;
        app.ui.status(match count {
            0 => format!("{onto} has all of it already"),
            _ => format!("Appended {} to {onto}", plural(count, "commit")),
        });
    }
    Ok(())
}

/// The transcripts of the hook's JSON on standard input. The hook's directory becomes ours.
fn hook(app: &mut App) -> Result<Vec<PathBuf>, Failure> {
    let hook = Hook::read()?;
    hook.enter(app)?;
    hook.transcripts(app)
}
