//! What of it works: whether what was set up is still there, and whether what it starts is tract.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use tract::render::{Label, Line, table};

use super::machine::Machine;
use super::place::Place;
use super::settings::{Entry, Standing};
use super::tools::{File, Tool};
use super::{Part, Setup, repository};
use crate::cli::watch::lock;
use crate::cli::{App, Result, failure};

/// How something does.
enum State {
    Works,
    NotSetUp,
    /// Something else is there, and it is not ours to judge.
    Other,
    Fails(String),
}

/// What was written and is not there.
const GONE: &str = "gone; tract setup writes it again";

/// Says of each thing whether it works. What was set up and does not is a failure, and so is that nothing is set up.
pub fn check(mut setup: Setup<'_>, app: &mut App) -> Result<()> {
    if setup.means(Part::Home) {
        app.ui.print(Label::Strong.of(Part::Home.title()))?;
        let state = match repository(&setup.machine.home, app) {
            Ok(_) => State::Works,
            Err(_) if !setup.has_repository() && !setup.record.made_repository => State::NotSetUp,
            Err(error) => State::Fails(failure::sentence(&error)),
        };
        let name = app.short_path(&setup.machine.home.join(".tract"));
        tell(vec![([name, String::new()], state)], &mut setup, app)?;
    }
    let mut programs = Programs::default();
    for tool in setup.tools(app)?.iter().filter(|tool| tool.is_here) {
        app.ui.print(Label::Strong.of(tool.part.title()))?;
        for file in &tool.files {
            check_file(file, tool, &mut programs, &mut setup, app)?;
        }
    }
    if let Some(service) = setup.service() {
        app.ui.print(Label::Strong.of(Part::Watch.title()))?;
        let place = Place::read(&service.path)?;
        let is_ours = setup.record.of(&place.path).is_some();
        let state = match &place.content {
            _ if is_watched(&setup, app) == Some(true) => State::Works,
            Some(_) if is_ours => State::Fails("does not run".to_owned()),
            Some(_) => State::Other,
            None if is_ours => State::Fails(GONE.to_owned()),
            None => State::NotSetUp,
        };
        let name = app.short_path(&service.path);
        tell(vec![([name, String::new()], state)], &mut setup, app)?;
    }
    if !setup.works && !setup.failed {
        app.ui.status("Nothing is set up");
        app.ui
            .hint("tract setup shows what it would write where, and asks");
        setup.failed = true;
    }
    setup.done()
}

fn is_watched(setup: &Setup<'_>, app: &App) -> Option<bool> {
    let repo = repository(&setup.machine.home, app).ok()?;
    lock::is_held(&lock::path(&repo, app)?)
}

fn check_file(
    file: &File,
    tool: &Tool,
    programs: &mut Programs,
    setup: &mut Setup<'_>,
    app: &mut App,
) -> Result<()> {
    app.ui
        .print(Line::from("  ") + app.short_path(&file.path))?;
    let read = Place::read(&file.path).and_then(|place| {
        let settings = file.form.read(place.text()?);
        Ok((
            settings.map_err(|why| super::broken(&place.path, &why))?,
            place.path,
        ))
    });
    let (settings, path) = match read {
        Ok(read) => read,
        Err(failure) => {
            setup.complain(&file.path, failure, app);
            return Ok(());
        }
    };
    let is_ours = |entry: &Entry| {
        let written = setup.record.of(&path);
        written.is_some_and(|written| written.entries.contains(entry))
    };
    let states = file.entries.iter().map(|entry| {
        let state = match entry.standing(&settings) {
            Standing::Missing if is_ours(entry) => State::Fails(GONE.to_owned()),
            Standing::Missing => State::NotSetUp,
            Standing::Other => State::Other,
            Standing::There(program) => {
                let program = program.map(|program| programs.state(program, &setup.machine));
                let why = program.and_then(Result::err);
                let why = why.or_else(|| tool.leaves_alone(file, entry, &settings));
                why.map_or(State::Works, State::Fails)
            }
        };
        ([entry.at.join("."), entry.said()], state)
    });
    let states: Vec<([String; 2], State)> = states.collect();
    tell(states, setup, app)
}

fn tell(states: Vec<([String; 2], State)>, setup: &mut Setup<'_>, app: &mut App) -> Result<()> {
    let rows = states.into_iter().map(|([name, what], state)| {
        let state = match state {
            State::Works => {
                setup.works = true;
                Label::Good.of("works")
            }
            State::NotSetUp => Label::Dim.of("not set up"),
            State::Other => Label::Dim.of("yours"),
            State::Fails(why) => {
                setup.failed = true;
                Label::Error.of(why)
            }
        };
        vec![Line::from("    ") + name, what.into(), state]
    });
    let rows: Vec<Vec<Line>> = rows.collect();
    Ok(app
        .ui
        .print_all(table::list(rows, &[], app.ui.width_cols()))?)
}

/// What is to be done about settings that name another program.
const ANEW: &str = "; tract setup --undo, then tract setup";

/// The programs that settings name, each asked once.
#[derive(Default)]
struct Programs(BTreeMap<String, Result<(), String>>);

impl Programs {
    /// Whether it is there and is tract.
    fn state(&mut self, name: String, machine: &Machine) -> Result<(), String> {
        let known = self.0.entry(name);
        let ask = |name: &String| {
            let Some(path) = machine.find(name) else {
                return Err(format!("{name} is not found{ANEW}"));
            };
            if machine.is_own(&path) {
                return Ok(());
            }
            let done = Command::new(&path)
                .arg("--version")
                .stdin(Stdio::null())
                .output();
            match done {
                Ok(done) if done.stdout.starts_with(b"tract ") => Ok(()),
                _ => Err(format!("{name} is not tract{ANEW}")),
            }
        };
        known.or_insert_with_key(ask).clone()
    }
}
