//! `tract view -i`: a conversation on the whole screen, which goes on while others commit to it.
//!
//! Screens take keys and give lines ([`reader`], [`chooser`]); they know no terminal and are tested
//! without one. [`terminal`] enters, draws and leaves; the loop between them is here. What can be
//! typed after a slash are the program's own commands, run as they are everywhere. `tract chat` is the
//! same with somebody who answers ([`speaker`]). Deliberately absent: how a conversation is drawn,
//! which is the library's.

mod chooser;
mod help;
mod key;
mod paint;
mod preview;
mod prompt;
mod reader;
mod reel;
mod search;
mod sheet;
mod slash;
mod speaker;
mod terminal;
mod whereabouts;

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tract::Error;
use tract::model::budget::{Budget, BudgetAction};
use tract::model::{RefName, base64};
use tract::render::{Label, Line, plural};
use tract::repo::{On, Repo};

use super::conversation::{WINDOW, Which};
use super::drawing::listing;
use super::follow::{self, Followed, Step};
use super::in_memory::{self, Found};
use super::machine::pause::Pause;
use super::talk::Talk;
use super::{App, Cli, Failure, Result, command, tool_sessions};
use chooser::{Chooser, Chose};
use key::Told;
use paint::Paint;
use reader::{OPERATIONS, Picture, Reader, Wish};
use sheet::Sheet;
use speaker::Speaker;
use terminal::{Frame, Terminal};
use whereabouts::know;

/// How often it is asked whether somebody else has committed.
const POLL: Duration = Duration::from_millis(100);
/// The same while somebody answers.
const ANSWER_POLL: Duration = Duration::from_millis(30);
/// The columns of the mark before each line of a sheet.
const MARK_COLS: usize = 1;
/// The commands that leave the conversation as it is: they are for every session, and what they say is read at leisure.
const ASKS: [&str; 3] = ["audit", "resume", "export"];
/// How many operations are listed.
const OPERATION_LINES: usize = 200;

/// Whether there is a terminal to draw on and to read keys from.
pub fn can_draw(app: &App) -> bool {
    app.ui.is_terminal() && app.ui.input_is_terminal() && !app.env.surroundings.dumb
}

/// A talk on the whole screen: it is read as any conversation, and said on.
pub fn chat(talk: &mut Talk<'_>, app: &mut App) -> Result<()> {
    let repo = talk.repo;
    let pause = Pause::begin()?;
    let mut terminal = Terminal::enter()?;
    let mut place = Place::at(None, Which::Window(None), &terminal, app)?;
    let mut speaker = Speaker::new(talk);
    let done = place.read(repo, &pause, &mut terminal, Some(&mut speaker), app);
    // However it ends, what was said is kept.
    app.ui.capture();
    let kept = speaker.close(app);
    app.ui.captured();
    drop(terminal);
    if let End::Quit(read) = done? {
        // What was talked about last stays above the prompt.
        app.ui.print_all(read)?;
    }
    kept?;
    pause.obey()
}

/// Opens a conversation, or, where none is named and there are several, lets one be chosen.
pub fn run(what: Option<&str>, which: Which, app: &mut App) -> Result<()> {
    if !can_draw(app) {
        let what = "-i needs a terminal to draw on and to read keys from";
        return Err(Failure::usage(what).with_hint("tract view --follow goes on in a pipe"));
    }
    let (repo, read) = match what.map(|what| in_memory::find(what, app)).transpose()? {
        None => match app.repo() {
            Err(Failure::Tract(Error::NoRepository { .. })) => return elsewhere(which, app),
            repo => (repo?, None),
        },
        Some(Found::Here(repo)) => (repo, None),
        Some(Found::File(path)) => {
            let read = in_memory::read(&path, app)?;
            (Rc::clone(&read.repo), Some(read))
        }
    };
    let only = match &read {
        Some(read) if read.sessions.len() < 2 => {
            Some(read.only(what.unwrap_or_default())?.to_string())
        }
        _ => None,
    };
    let what = match read {
        Some(_) => only.as_deref(),
        None => what,
    };
    let pause = Pause::begin()?;
    let mut terminal = Terminal::enter()?;
    let mut place = Place::at(what, which, &terminal, app)?;
    place.is_kept = read.is_none();
    if let Some(name) = what.and_then(|what| branch_named(what, &repo)) {
        place.chose(&name, &repo, app)?;
    }
    let (mut chosen, mut was_read) = (what.is_some() || app.names_a_branch(), false);
    let done = loop {
        if !chosen {
            match place.choose(&repo, &pause, &mut terminal, app) {
                // Who chooses nothing goes back to what was read.
                Ok(found) if found || (was_read && !pause.is_over()) => {}
                Ok(_) => break Ok(()),
                Err(failure) => break Err(failure),
            }
        }
        was_read = true;
        match place.read(&repo, &pause, &mut terminal, None, app) {
            Ok(End::Choose) => chosen = false,
            Ok(End::Quit(_)) => break Ok(()),
            Err(failure) => break Err(failure),
        }
    };
    drop(terminal);
    done?;
    pause.obey()
}

/// Outside of any repository: a session that a tool has left is chosen, and read into memory.
fn elsewhere(which: Which, app: &mut App) -> Result<()> {
    let found = tool_sessions::found(true, app)?;
    let here: Vec<PathBuf> = tool_sessions::here(app)?
        .into_iter()
        .map(|session| session.path)
        .collect();
    let pause = Pause::begin()?;
    let mut terminal = Terminal::enter()?;
    let mut place = Place::at(None, which, &terminal, app)?;
    place.is_kept = false;
    let mut chooser = Chooser::of_files(found, &here, app.calendar(), place.size);
    let mut last = None;
    let done = loop {
        match place.pick(&mut chooser, None, &pause, &mut terminal, app) {
            Ok(Chose::File(path)) => {
                let name = path.file_name().unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                chooser.say(Label::Dim.of(format!("{name} …")));
                place.draw(chooser.picture(), &mut terminal)?;
                app.ui.capture();
                let read = in_memory::read(&path, app);
                app.ui.captured();
                let read = read.and_then(|read| Ok((read.only(&name)?.to_string(), read.repo)));
                match read {
                    Ok((session, repo)) => {
                        place.what = session;
                        place.is_tip = false;
                        last = Some(repo);
                    }
                    Err(failure) => {
                        chooser.say(failure.line());
                        continue;
                    }
                }
            }
            // Who chooses nothing goes back to what was read.
            Ok(_) if last.is_some() && !pause.is_over() => {}
            Ok(_) => break Ok(()),
            Err(failure) => break Err(failure),
        }
        let Some(repo) = &last else { continue };
        match place.read(repo, &pause, &mut terminal, None, app) {
            Ok(End::Choose) => chooser.resize(place.size),
            Ok(End::Quit(_)) => break Ok(()),
            Err(failure) => break Err(failure),
        }
    };
    drop(terminal);
    done?;
    pause.obey()
}

/// How reading ends.
enum End {
    Choose,
    /// With what was on the screen.
    Quit(Vec<Line>),
}

/// What is read for a while, and said on where somebody answers.
struct Session<'r, 't, 'a> {
    repo: &'r Repo,
    pause: &'r Pause,
    terminal: &'r mut Terminal,
    followed: Followed<'r>,
    reader: Reader,
    speaker: Option<&'r mut Speaker<'t, 'a>>,
    /// When it was asked last whether what is read goes on.
    asked: Instant,
}

/// What is read, and on which screen.
struct Place {
    size: (usize, usize),
    paint: Paint,
    /// What, as it would be typed.
    what: String,
    which: Which,
    /// Whether that is where a branch ends, so that commands act on what is seen.
    is_tip: bool,
    /// Whether it is in a repository that stays.
    is_kept: bool,
}

impl Place {
    fn at(what: Option<&str>, which: Which, terminal: &Terminal, app: &App) -> Result<Self> {
        Ok(Self {
            size: terminal.size()?,
            paint: Paint {
                is_plain: !app.ui.is_colored(),
                sought: None,
            },
            what: what.unwrap_or("HEAD").to_owned(),
            which,
            is_tip: what.is_none() || what == Some("HEAD"),
            is_kept: true,
        })
    }

    /// The first screen. Whether something was chosen.
    fn choose(
        &mut self,
        repo: &Repo,
        pause: &Pause,
        terminal: &mut Terminal,
        app: &mut App,
    ) -> Result<bool> {
        let here = app.cwd()?;
        let mut chooser = Chooser::open(repo, app.calendar(), self.size)?;
        let is_first = self.what == "HEAD" && !app.names_a_branch();
        if chooser.len() < 2 && is_first {
            return Ok(true);
        }
        match self.pick(&mut chooser, Some((repo, &here)), pause, terminal, app)? {
            Chose::Name(name) => {
                self.chose(&name, repo, app)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Lets one be chosen; what is known of each is in a repository, or in its file.
    fn pick(
        &mut self,
        chooser: &mut Chooser,
        known: Option<(&Repo, &Path)>,
        pause: &Pause,
        terminal: &mut Terminal,
        app: &App,
    ) -> Result<Chose> {
        let here = match known {
            Some((_, here)) => here.to_owned(),
            None => app.cwd()?,
        };
        let mut is_drawn = false;
        while !pause.is_over() {
            if !is_drawn {
                if let Some((repo, _)) = known {
                    chooser.look(repo, app.encoding(repo)?)?;
                }
                self.draw(chooser.picture(), terminal)?;
                is_drawn = true;
            }
            let wait = if chooser.is_busy() {
                Duration::ZERO
            } else {
                POLL
            };
            match terminal.wait(wait)? {
                Some(Told::Key(key)) => match chooser.take(&key) {
                    Chose::Going => is_drawn = false,
                    chose => return Ok(chose),
                },
                Some(Told::Resized) => {
                    self.size = terminal.size()?;
                    chooser.resize(self.size);
                    is_drawn = false;
                }
                Some(Told::Nothing | Told::Escaped(_)) | None => {}
            }
            if chooser.is_busy() {
                chooser.go_on(known.map(|(repo, _)| repo), &here)?;
                is_drawn = false;
            }
        }
        Ok(Chose::Left)
    }

    /// From here on commands act on this branch; a session is only read.
    fn chose(&mut self, name: &RefName, repo: &Repo, app: &mut App) -> Result<()> {
        self.is_tip = name.is_branch();
        let is_head = repo.head(&On::Head)?.branch() == Some(name);
        app.globals.on = (self.is_tip && !is_head).then(|| name.short().to_owned());
        app.ui.name_branch(app.globals.on.clone());
        self.what = if self.is_tip {
            "HEAD".to_owned()
        } else {
            name.to_string()
        };
        Ok(())
    }

    /// The conversation, until something else is wanted. With a speaker it is said on.
    fn read(
        &mut self,
        repo: &Repo,
        pause: &Pause,
        terminal: &mut Terminal,
        speaker: Option<&mut Speaker<'_, '_>>,
        app: &mut App,
    ) -> Result<End> {
        let mut session = self.begin(repo, pause, terminal, speaker, app)?;
        let mut is_drawn = false;
        while !pause.is_over() {
            let reader = &mut session.reader;
            if !is_drawn {
                self.paint.sought.clone_from(&reader.seeking.last);
                self.draw(reader.picture(), session.terminal)?;
                is_drawn = true;
            }
            let wait = match (reader.is_busy(), reader.answer.is_some()) {
                (true, _) => Duration::ZERO,
                (false, true) => ANSWER_POLL,
                (false, false) => POLL,
            };
            match session.terminal.wait(wait)? {
                Some(Told::Key(key)) => {
                    is_drawn = false;
                    match tried(reader.take(&key, repo), Wish::None, reader) {
                        Wish::Quit => break,
                        Wish::Choose if session.speaker.is_none() => return Ok(End::Choose),
                        wish => self.grant(wish, &mut session, app)?,
                    }
                }
                Some(Told::Resized) => {
                    self.size = session.terminal.size()?;
                    tried(reader.resize(repo, self.size), (), reader);
                    is_drawn = false;
                }
                Some(Told::Nothing | Told::Escaped(_)) | None => {}
            }
            is_drawn &= !self.go_on(&mut session, app);
        }
        if session.reader.answer.is_some() {
            self.close(&mut session, app);
        }
        Ok(End::Quit(session.reader.last_read()))
    }

    /// What is read, before the first look at the keys.
    fn begin<'r, 't, 'a>(
        &self,
        repo: &'r Repo,
        pause: &'r Pause,
        terminal: &'r mut Terminal,
        speaker: Option<&'r mut Speaker<'t, 'a>>,
        app: &App,
    ) -> Result<Session<'r, 't, 'a>> {
        let on = app.on()?;
        let window = match self.which {
            Which::Window(Some(size)) => size,
            _ => repo.config()?.window_size()?.unwrap_or(WINDOW),
        };
        let (title, directory) = self.title(repo, &on)?;
        let mut reader = Reader::new(title, self.which, window, self.size);
        reader.directory = directory.map(Into::into);
        reader.summariser = summariser(repo)?;
        if speaker.is_some() {
            reader.talk();
        }
        let mut followed = Followed::new(repo, on, self.what.as_str());
        if let Some(step) = followed.look()? {
            know(&mut reader, repo, step.tip.as_ref(), app)?;
            reader.show(repo, step.tip, 0)?;
        }
        Ok(Session {
            repo,
            pause,
            terminal,
            followed,
            reader,
            speaker,
            asked: Instant::now(),
        })
    }

    /// Does what the reader cannot do itself.
    fn grant(&self, wish: Wish, session: &mut Session<'_, '_, '_>, app: &mut App) -> Result<()> {
        let reader = &mut session.reader;
        match wish {
            Wish::None | Wish::Quit => {}
            Wish::Choose => reader.say("a talk stays where it is; tract view -i chooses"),
            Wish::Run(_) | Wish::Ask(_) | Wish::Save(_) | Wish::Rewind(_)
                if reader.answer.is_some() =>
            {
                reader.say("an answer is on its way; esc cancels it");
            }
            Wish::Ask(prompt) => self.ask(&prompt, session, app)?,
            Wish::Save(place) => {
                if let Some(speaker) = &mut session.speaker {
                    app.ui.capture();
                    let saved = speaker.talk.save(&place, app);
                    self.tell("chat", saved, reader, app);
                }
            }
            Wish::Cancel => self.close(session, app),
            Wish::Rewind(to) => self.rewind(&to, session, app)?,
            Wish::Operations => {
                let lines = operations(session.repo, app)?;
                reader.lay(Sheet::new(OPERATIONS, lines));
            }
            Wish::Copy(text, what) => {
                session.terminal.send(&clipboard(&text))?;
                reader.say(what);
            }
            Wish::Run(words) => {
                self.act(&words, session, app)?;
                let speaker = session.speaker.as_mut();
                if let Some(Err(failure)) = speaker.map(|to| to.talk.save_on(app)) {
                    session.reader.say(failure.line());
                }
                self.look_again(session, app);
                let sheet = session.reader.sheet();
                if let Some(sheet) = sheet.filter(|sheet| sheet.title == OPERATIONS) {
                    sheet.set(operations(session.repo, app)?);
                }
            }
        }
        Ok(())
    }

    /// Goes on with what takes long, listens, and looks whether anybody has written; whether there is
    /// anything new to see.
    fn go_on(&self, session: &mut Session<'_, '_, '_>, app: &mut App) -> bool {
        let Session { repo, reader, .. } = session;
        let mut is_new = reader.is_busy();
        if is_new {
            tried(reader.go_on(repo), (), reader);
        }
        if let Some(speaker) = &mut session.speaker {
            if let Some(lines) = speaker.listen(reader.width()) {
                reader.answer = Some(lines);
                is_new = true;
            }
            if speaker.is_over() {
                self.close(session, app);
                is_new = true;
            }
        }
        match session.followed.look() {
            Ok(Some(step)) => self.went(&step, session, true, app),
            Ok(None) => return self.is_over(session, app) || is_new,
            Err(failure) => session.reader.say(failure.line()),
        }
        true
    }

    /// Commits what the user says, and begins to listen.
    fn ask(&self, prompt: &str, session: &mut Session<'_, '_, '_>, app: &mut App) -> Result<()> {
        let (reader, Some(speaker)) = (&mut session.reader, &mut session.speaker) else {
            return Ok(());
        };
        app.ui.capture();
        let asked = match reader.summariser {
            // The budget may have one made, which can be interrupted.
            Some(_) => {
                let asked = session.terminal.lend(|| speaker.ask(prompt, app))?;
                session.pause.forget();
                asked
            }
            None => speaker.ask(prompt, app),
        };
        reader.answer = speaker.is_answering().then(Vec::new);
        self.tell("chat", asked, reader, app);
        // What is said now is seen, whatever was read.
        tried(reader.go_end(session.repo), (), reader);
        self.look_again(session, app);
        Ok(())
    }

    /// Keeps what was answered.
    fn close(&self, session: &mut Session<'_, '_, '_>, app: &mut App) {
        let Some(speaker) = &mut session.speaker else {
            return;
        };
        app.ui.capture();
        let closed = speaker.close(app);
        session.reader.answer = None;
        self.tell("chat", closed, &mut session.reader, app);
        self.look_again(session, app);
    }

    /// What this process has done is seen.
    fn look_again(&self, session: &mut Session<'_, '_, '_>, app: &App) {
        match session.followed.look_again() {
            Ok(Some(step)) => self.went(&step, session, false, app),
            Ok(None) => {}
            Err(failure) => session.reader.say(failure.line()),
        }
    }

    /// What is read has moved: it is read again, and said so where somebody else has done it.
    fn went(&self, step: &Step, session: &mut Session<'_, '_, '_>, is_told: bool, app: &App) {
        let Session { repo, reader, .. } = session;
        let known = know(reader, repo, step.tip.as_ref(), app);
        if let Err(failure) = known {
            reader.say(failure.line());
        }
        tried(reader.show(repo, step.tip, step.moved.came), (), reader);
        if is_told {
            let mut told = follow::changes(step);
            if step.moved.came > 0 {
                let came = plural(step.moved.came as u64, "new message");
                told.push(Label::Good.of(came));
            }
            reader.say(Line::join(told, "  "));
        }
    }

    /// Runs one of the program's commands; what it says is shown.
    fn act(
        &self,
        words: &[String],
        session: &mut Session<'_, '_, '_>,
        app: &mut App,
    ) -> Result<()> {
        let reader = &mut session.reader;
        let name = words.first().map(String::as_str).unwrap_or_default();
        if !self.is_kept && !ASKS.contains(&name) {
            let what = "nothing is kept of a session that is not imported; tract import keeps it";
            reader.say(Label::Error.of("error: ") + what);
            return Ok(());
        }
        if !self.is_tip && !ASKS.contains(&name) {
            let what = "this view is read-only: commands act at the end of a branch; s chooses one";
            reader.say(Label::Error.of("error: ") + what);
            return Ok(());
        }
        let mut arguments = vec!["tract".to_owned()];
        arguments.extend(words.iter().cloned());
        // What is seen is meant: not HEAD, where it is elsewhere.
        match name {
            "resume" if words.len() == 1 => arguments.push(self.what.clone()),
            "export" => arguments.push(self.what.clone()),
            "audit" => arguments.extend(["--within".to_owned(), self.what.clone()]),
            _ => {}
        }
        let parsed = match Cli::read(&arguments) {
            Ok(parsed) => parsed,
            Err(error) => {
                let text = error.to_string();
                let first = text.lines().next().unwrap_or_default().to_owned();
                reader.say(Label::Error.of(first));
                return Ok(());
            }
        };
        let stops = if words.iter().any(|word| word == "--exec") {
            "the command reads; ctrl+c stops it"
        } else {
            ""
        };
        reader.say(Label::Dim.of(format!("{name} … {stops}")));
        self.draw(reader.picture(), session.terminal)?;
        app.ui.capture_beside(MARK_COLS);
        // An undo is of all branches, whichever is seen.
        let on = matches!(name, "undo" | "redo").then(|| app.globals.on.take());
        // A command that runs another one can be interrupted.
        let done = session.terminal.lend(|| command::run(parsed.command, app));
        if let Some(on) = on {
            app.globals.on = on;
        }
        let done = done?;
        session.pause.forget();
        self.tell(name, done, reader, app);
        Ok(())
    }

    /// Shows what a command said since it was listened to.
    fn tell(&self, name: &str, done: Result<()>, reader: &mut Reader, app: &mut App) {
        let is_done = done.is_ok();
        if let Err(failure) = done {
            failure.report_of(name, None, &mut app.ui);
        }
        let said = app.ui.captured();
        let width = self.size.0;
        let cols: usize = said.iter().map(|line| line.width_cols() + 2).sum();
        let is_long = said.len() > 2 || cols > width;
        if is_done && ASKS.contains(&name) && said.len() > 1 || !is_done && is_long {
            // A mark stands before each line.
            let width = width.saturating_sub(MARK_COLS).max(8);
            let wrapped = said.iter().flat_map(|line| line.wrap(width));
            reader.lay(Sheet::new(format!("tract {name}"), wrapped.collect()));
        } else if is_done && name != "chat" {
            reader.say(said.into_iter().next().unwrap_or_default());
        } else if !said.is_empty() {
            reader.say(Line::join(said, "  "));
        }
    }

    /// What is read, and the directory of its session.
    fn title(&self, repo: &Repo, on: &On) -> Result<(Line, Option<String>)> {
        let head = repo.head(on)?;
        let name = match (self.is_tip, head.branch(), self.what.parse::<RefName>()) {
            (true, Some(branch), _) => Label::Branch.of(branch.short()),
            (true, None, _) => Label::Head.of("HEAD detached"),
            (false, _, Ok(name)) => Label::Session.of(listing::shown_name(&name, true)),
            (false, _, Err(_)) => Label::Session.of(self.what.as_str()),
        };
        let tip = if self.is_tip {
            head.commit()
        } else {
            repo.resolve(on, &self.what).ok()
        };
        let about = tip.map(|tip| repo.about(&tip)).transpose()?;
        let about = about.unwrap_or_default();
        // What was written by hand has no title, and its first message is on the screen.
        let prompt = about.prompt.filter(|_| about.tool.is_some());
        let title = about.title.or(prompt);
        let title = title.map(|title| Line::from("  ") + Label::Dim.of(title));
        Ok((name + title.unwrap_or_default(), about.cwd))
    }

    fn draw(&self, picture: Picture, terminal: &mut Terminal) -> io::Result<()> {
        let (width, height) = self.size;
        let mut frame = Frame::default();
        let bar = self.paint.bar(
            Line::from(" ") + picture.title,
            picture.position + " ",
            width,
        );
        frame.lines.push(bar);
        for (is_chosen, line) in picture.lines {
            let mark = if is_chosen {
                Label::Hint.of("▌")
            } else {
                Line::from(" ")
            };
            frame.lines.push(self.paint.line(&(mark + line).cut(width)));
        }
        let bottom = height.saturating_sub(1);
        frame.lines.truncate(bottom.max(1));
        frame.lines.resize(bottom, String::new());
        frame
            .lines
            .push(self.paint.line(&picture.bottom.cut(width)));
        if let Some(column) = picture.cursor {
            let small = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
            frame.cursor = Some((small(column), small(bottom)));
        }
        terminal.draw(&frame)
    }
}

/// The branch of this name, if there is one.
fn branch_named(what: &str, repo: &Repo) -> Option<RefName> {
    let name = RefName::branch(what).ok()?;
    let found = repo.references(name.as_str()).ok()?;
    found
        .iter()
        .any(|(found, _)| *found == name)
        .then_some(name)
}

/// What went well; else it is said at the bottom, and nothing is lost.
fn tried<T>(done: Result<T, Error>, otherwise: T, reader: &mut Reader) -> T {
    done.unwrap_or_else(|error| {
        reader.say(Failure::from(error).line());
        otherwise
    })
}

/// The command that the repository's budget has make summaries, if it is one's own.
fn summariser(repo: &Repo) -> Result<Option<String>> {
    let budget = repo.config()?.budget()?.filter(|_| repo.is_own());
    let mut actions = budget.iter().flat_map(Budget::actions);
    Ok(actions.find_map(|action| match action {
        BudgetAction::Compact(command) => Some(command.clone()),
        _ => None,
    }))
}

/// The operations, newest first, as `tract reflog` lists them.
fn operations(repo: &Repo, app: &App) -> Result<Vec<Line>> {
    let calendar = app.calendar();
    let line = |entry: tract::repo::OperationEntry| {
        let what = entry.operation.what.as_str();
        let what = if entry.undone {
            Label::Dim.of(format!("{what} (undone)"))
        } else {
            Label::Strong.of(what)
        };
        let age = Label::Time.of(calendar.ago(entry.operation.time)).left(16);
        Label::Hash.of(format!("#{}", entry.operation.id)).left(7) + age + what
    };
    let rows = repo.operations(OPERATION_LINES)?;
    Ok(rows.into_iter().map(line).collect())
}

/// The sequence that gives a text to the terminal's clipboard.
///
/// # Source
///
/// XTerm Control Sequences, "Manipulate Selection Data" (OSC 52).
fn clipboard(text: &str) -> String {
    format!("\u{1b}]52;c;{}\u{7}", base64::encode(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::key::Key;
    use super::*;

    #[test]
    fn the_clipboard_gets_no_byte_that_a_terminal_acts_on() {
        for (text, digits) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("\u{1b}[31m", "G1szMW0="),
        ] {
            assert_eq!(clipboard(text), format!("\u{1b}]52;c;{digits}\u{7}"));
        }
    }

    #[test]
    fn keys_are_told_apart() {
        use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
        let told = |code, with| Told::of(Event::Key(KeyEvent::new(code, with)));
        let control = told(KeyCode::Char('O'), KeyModifiers::CONTROL);
        assert_eq!(control, Told::Key(Key::Ctrl('o')));
        let shifted = told(KeyCode::Char('J'), KeyModifiers::SHIFT);
        assert_eq!(shifted, Told::Key(Key::Char('J')));
        assert_eq!(told(KeyCode::F(3), KeyModifiers::NONE), Told::Nothing);
    }
}
