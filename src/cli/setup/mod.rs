//! Setting up, checking and taking back what has other programs use tract: their settings, a service, the repository
//! for everything below the home directory.
//!
//! Deliberately absent: what is kept of conversations. Of the library only the making of a repository is used.

mod check;
mod idle;
mod machine;
mod place;
mod record;
mod service;
mod settings;
mod tools;
mod undo;

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tract::Error;
use tract::render::{Label, Line, plural, table};
use tract::repo::Repo;

pub use check::check;
use machine::Machine;
use place::{Place, broken};
use record::Record;
use service::Service;
use settings::{Entry, Standing};
use tools::{File, Tool, meaning, tools};
pub use undo::undo;

use super::tool_sessions::{needs_home, not_in};
use super::{App, Exit, Failure, Result};

/// What can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The repository in the home directory
    Home,
    /// Claude Code
    ClaudeCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// OpenCode
    Opencode,
    /// `tract watch` from login on
    Watch,
}

impl Part {
    fn title(self) -> &'static str {
        match self {
            Self::Home => "Repository for everything below your home",
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Opencode => "OpenCode",
            Self::Watch => "tract watch, from login on",
        }
    }
}

/// All that is needed to set up, check or take back.
pub struct Setup<'a> {
    machine: Machine,
    record: Record,
    /// The parts that are meant; none: all.
    only: &'a [Part],
    /// The files that are left as they are, for something is wrong with them.
    refused: Vec<PathBuf>,
    /// Whether something did not go.
    failed: bool,
    /// Whether something was found to work.
    works: bool,
}

/// What is to become of a file of settings.
struct Outlook {
    place: Place,
    standings: Vec<Standing>,
    /// What is missing, and the text with that.
    new: Option<(Vec<Entry>, String)>,
}

/// What is to become of the service's file.
enum Unit {
    Missing(Box<Place>),
    There,
    Other,
}

impl<'a> Setup<'a> {
    /// Looks around.
    pub fn of(only: &'a [Part], app: &App) -> Result<Self> {
        let machine = Machine::of(app)?;
        Ok(Self {
            record: Record::load(&machine.settings)?,
            machine,
            only,
            refused: Vec::new(),
            failed: false,
            works: false,
        })
    }

    fn means(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }

    /// The tools that are meant.
    fn tools(&self, app: &App) -> Result<Vec<Tool>> {
        let mut tools = tools(&self.machine, app)?;
        tools.retain(|tool| self.means(tool.part));
        Ok(tools)
    }

    /// The service, if it is meant and the machine has one.
    fn service(&self) -> Option<Service> {
        let service = Service::of(&self.machine);
        service.filter(|_| self.means(Part::Watch))
    }

    /// Whether the repository in the home directory is there.
    fn has_repository(&self) -> bool {
        self.machine.home.join(".tract").exists()
    }

    /// What is to be done with a file.
    fn outlook(&self, file: &File) -> Result<Outlook> {
        let place = Place::read(&file.path)?;
        let (path, text) = (place.path.clone(), place.text()?.to_owned());
        let mend = |why: String| broken(&path, &why);
        let settings = file.form.read(&text).map_err(mend)?;
        let standings = file.entries.iter().map(|entry| entry.standing(&settings));
        let standings: Vec<Standing> = standings.collect();
        let both = file.entries.iter().zip(&standings);
        let missing = both.filter(|(_, standing)| **standing == Standing::Missing);
        let missing: Vec<Entry> = missing.map(|(entry, _)| entry.clone()).collect();
        if missing.is_empty() {
            let new = None;
            return Ok(Outlook {
                place,
                standings,
                new,
            });
        }
        place.may_be_written(self.machine.user)?;
        let text = file.form.add(&text, &missing).map_err(mend)?;
        let new = Some((missing, text));
        Ok(Outlook {
            place,
            standings,
            new,
        })
    }

    fn unit(&self, service: &Service) -> Result<Unit> {
        let place = Place::read(&service.path)?;
        let known = self.record.of(&place.path);
        match &place.content {
            Some(content) if content == service.text.as_bytes() => Ok(Unit::There),
            Some(content) if known.is_none_or(|known| !known.is(content)) => Ok(Unit::Other),
            _ => {
                place.may_be_written(self.machine.user)?;
                Ok(Unit::Missing(Box::new(place)))
            }
        }
    }

    /// Says what is wrong with one file; the others go on.
    fn complain(&mut self, path: &Path, failure: Failure, app: &mut App) {
        failure.report(&mut app.ui);
        self.refused.push(path.to_owned());
        self.failed = true;
    }

    fn done(self) -> Result<()> {
        if self.failed {
            return Err(Failure::Quiet(Exit::NotAllowed));
        }
        Ok(())
    }
}

/// Shows what would be written where, and writes it after a yes.
pub fn set_up(mut setup: Setup<'_>, is_yes: bool, app: &mut App) -> Result<()> {
    let count = show(&mut setup, app)?;
    if count == 0 {
        app.ui
            .status("Nothing is left to write; tract setup --check says what of it works");
    }
    if !is_yes && (count == 0 || !agrees(app)?) {
        return Ok(());
    }
    let written = write(&mut setup, app)?;
    if written > 0 {
        app.ui.status(format!("Wrote {}", plural(written, "file")));
        let hint = "tract setup --check says what of it works; tract setup --undo takes it back";
        app.ui.hint(hint);
        // Everything is written. A count that cannot be had is no failure of it.
        let sessions = to_bring_in(app).unwrap_or_default();
        if sessions > 0 {
            let sessions = plural(sessions, "session");
            let first = if needs_home(app) {
                "tract init ~ && "
            } else {
                ""
            };
            app.ui.hint(format!(
                "{sessions} of your agents are on this machine; {first}tract import --all brings them in"
            ));
        }
    }
    setup.done()
}

/// How many sessions on this machine have not come in.
fn to_bring_in(app: &mut App) -> Result<u64> {
    let found = app.tool_dirs()?.sessions();
    match app.repo() {
        Ok(repo) => not_in(&repo, &found),
        Err(Failure::Tract(Error::NoRepository { .. })) => Ok(found.len() as u64),
        Err(failure) => Err(failure),
    }
}

/// Lists what there is and what would be written; how many things that are.
fn show(setup: &mut Setup<'_>, app: &mut App) -> Result<u64> {
    let mut count = 0;
    if setup.means(Part::Home) {
        app.ui.print(Label::Strong.of(Part::Home.title()))?;
        let place = app.short_path(&setup.machine.home.join(".tract"));
        let is_there = setup.has_repository();
        count += u64::from(!is_there);
        app.ui.print(row(is_there, place.into()))?;
    }
    let mut absent = Vec::new();
    for tool in setup.tools(app)? {
        if !tool.is_here {
            absent.push(tool.part.title());
            continue;
        }
        app.ui.print(Label::Strong.of(tool.part.title()))?;
        for file in &tool.files {
            match setup.outlook(file) {
                Ok(outlook) => {
                    count += u64::from(outlook.new.is_some());
                    show_file(file, &outlook, app)?;
                }
                Err(failure) => setup.complain(&file.path, failure, app),
            }
        }
    }
    if setup.means(Part::Watch) {
        count += u64::from(show_service(setup, app)?);
    }
    if !absent.is_empty() {
        app.ui
            .print(Label::Dim.of(format!("Not on this machine: {}", absent.join(", "))))?;
    }
    Ok(count)
}

/// The same of the service; whether it would be written.
fn show_service(setup: &mut Setup<'_>, app: &mut App) -> Result<bool> {
    app.ui.print(Label::Strong.of(Part::Watch.title()))?;
    let Some(service) = setup.service() else {
        let line = "  neither systemd nor launchd is here; the hooks bring sessions in";
        app.ui.print(line)?;
        return Ok(false);
    };
    let name = Line::from(app.short_path(&service.path));
    match setup.unit(&service) {
        Ok(Unit::Missing(_)) => {
            app.ui.print(row(false, name))?;
            return Ok(true);
        }
        Ok(Unit::There) => app.ui.print(row(true, name))?,
        Ok(Unit::Other) => app
            .ui
            .print(row(true, name + "  is another one, and stays"))?,
        Err(failure) => setup.complain(&service.path, failure, app),
    }
    Ok(false)
}

/// `+` before what would be written, `=` before what is there.
fn row(is_there: bool, what: Line) -> Line {
    let mark = if is_there {
        Label::Dim.of("=")
    } else {
        Label::Added.of("+")
    };
    Line::from("  ") + mark + " " + what
}

fn show_file(file: &File, outlook: &Outlook, app: &mut App) -> Result<()> {
    let what = match outlook.place.content {
        None => "  (new)",
        Some(_) => "",
    };
    app.ui
        .print(Line::from("  ") + app.short_path(&file.path) + Label::Dim.of(what))?;
    let both = file.entries.iter().zip(&outlook.standings);
    let rows = both.map(|(entry, standing)| {
        let name = row(*standing != Standing::Missing, entry.at.join(".").into());
        let (what, more) = match standing {
            Standing::Other => (String::new(), "is set to something else, and stays"),
            _ => (entry.said(), meaning(entry).unwrap_or_default()),
        };
        let what = [Line::from(what), Label::Dim.of(more)];
        let what = what.into_iter().filter(|line| !line.is_empty());
        vec![Line::from("  ") + name, Line::join(what, "  ")]
    });
    let rows: Vec<Vec<Line>> = rows.collect();
    Ok(app
        .ui
        .print_all(table::list(rows, &[], app.ui.width_cols()))?)
}

/// Asks, where somebody can answer.
fn agrees(app: &mut App) -> Result<bool> {
    if !(app.ui.is_terminal() && app.ui.input_is_terminal()) {
        app.ui
            .hint("nothing was written; tract setup --yes writes it");
        return Ok(false);
    }
    write!(app.ui.out(), "Write this? [y/N] ")?;
    app.ui.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    let agrees = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !agrees {
        app.ui.status("Nothing was written");
    }
    Ok(agrees)
}

/// Writes what is missing, each by itself; how many files that were.
fn write(setup: &mut Setup<'_>, app: &mut App) -> Result<u64> {
    let mut count = 0;
    if setup.means(Part::Home) && !setup.has_repository() {
        let directory = setup.machine.home.join(".tract");
        match make_repository(setup, app) {
            Ok(repo) => app.tell_made(&repo),
            Err(failure) => setup.complain(&directory, failure, app),
        }
    }
    for tool in setup.tools(app)?.into_iter().filter(|tool| tool.is_here) {
        let mut has_hooks = false;
        for file in &tool.files {
            if setup.refused.contains(&file.path) {
                continue;
            }
            match write_file(setup, tool.part, file) {
                Ok(written) => {
                    count += u64::from(!written.is_empty());
                    has_hooks |= written.iter().any(|entry| entry.is_item);
                }
                Err(failure) => setup.complain(&file.path, failure, app),
            }
        }
        if let Some(afterwards) = tool.afterwards.filter(|_| has_hooks) {
            app.ui.notice(afterwards);
        }
    }
    let service = setup.service();
    if let Some(service) = service.filter(|service| !setup.refused.contains(&service.path)) {
        match start(setup, &service, app) {
            Ok(is_written) => count += u64::from(is_written),
            Err(failure) => setup.complain(&service.path, failure, app),
        }
    }
    Ok(count)
}

fn make_repository(setup: &mut Setup<'_>, app: &App) -> Result<Repo> {
    let directory = setup.machine.home.join(".tract");
    Place::read(&directory)?.may_be_written(setup.machine.user)?;
    setup.record.made_repository = true;
    setup.record.save()?;
    let made = Repo::init_as(&setup.machine.home, &app.visitor()?);
    if made.is_err() {
        setup.record.made_repository = false;
        setup.record.save()?;
    }
    Ok(made?.0)
}

/// Writes what is missing in a file as it is now; what that was.
fn write_file(setup: &mut Setup<'_>, part: Part, file: &File) -> Result<Vec<Entry>> {
    let outlook = setup.outlook(file)?;
    let Some((missing, text)) = outlook.new else {
        return Ok(Vec::new());
    };
    let whose = (part, Some(file.form));
    setup
        .record
        .write(&outlook.place, whose, missing.clone(), text.as_bytes())?;
    Ok(missing)
}

/// Writes the service's file, and has it started.
fn start(setup: &mut Setup<'_>, service: &Service, app: &mut App) -> Result<bool> {
    let Unit::Missing(place) = setup.unit(service)? else {
        return Ok(false);
    };
    let text = service.text.as_bytes();
    setup
        .record
        .write(&place, (Part::Watch, None), Vec::new(), text)?;
    match service.start() {
        Ok(()) => {
            setup.record.started_watch = true;
            setup.record.save()?;
        }
        Err(typed) => {
            app.ui.notice("tract watch could not be started from here");
            app.ui
                .hint(format!("{typed} starts it, in a session of yours"));
        }
    }
    Ok(true)
}

/// The repository in the home directory.
fn repository(home: &Path, app: &App) -> Result<Repo, Error> {
    let visitor = app.visitor().map_err(|_| Error::NoRepository {
        start: home.to_owned(),
    })?;
    Repo::open_as(home, &visitor)
}
