//! What fills the context: kinds of things, the largest messages, and what a prune would give back.

use tract::deeds::{At, prunes};
use tract::model::TokenCount;
use tract::query::{Large, Stuff};
use tract::render::{self, Label, Line, grouped, plural, row, table, tokens};
use tract::repo::{On, Repo};
use tract::rewrite::{Limits, Surgery};

use crate::cli::{App, Result};

/// Says it below the status; `can_prune`: whether a prune would be carried out.
pub fn tell(app: &mut App, repo: &Repo, on: &On, total: TokenCount, can_prune: bool) -> Result<()> {
    let makeup = repo.makeup(on, app.encoding(repo)?)?;
    let prune = prune(app, repo, on, total, can_prune)?;
    let ui = &mut app.ui;
    let width = ui.width_cols();
    ui.heading("What fills it")?;
    let cells = |(stuff, count, parts): &(Stuff, TokenCount, usize)| {
        vec![
            Line::from("  ") + name(stuff).cut(NAME_COLS),
            Label::Tokens.of(tokens(*count)),
            percent(*count, total).into(),
            Label::Dim.of(held(stuff, *parts)),
        ]
    };
    let rows = makeup.stuffs.iter().map(cells).collect();
    ui.print_all(table::list(rows, &[1, 2], width))?;
    ui.heading("The largest")?;
    let cells = |one: &Large| {
        vec![
            Line::from(format!("  :{}", one.number)),
            Label::role(one.role).of(one.role.as_str()),
            Label::Tokens.of(tokens(one.tokens)),
            percent(one.tokens, total).into(),
        ]
    };
    let rows: Vec<Vec<Line>> = makeup.largest.iter().map(cells).collect();
    for (line, one) in table::lines(rows, &[0, 2, 3]).zip(&makeup.largest) {
        let call = one.call.as_deref();
        ui.print(row::after(line + "  ", call, &one.preview, width))?;
    }
    ui.heading("A prune gives back")?;
    Ok(ui.print_all(prune)?)
}

/// The most columns that a tool's name takes.
const NAME_COLS: usize = 32;

fn name(stuff: &Stuff) -> Line {
    match stuff {
        Stuff::Tool(name) => Label::Tool.of(name),
        Stuff::Text => "text".into(),
        Stuff::Thinking => "thinking".into(),
        Stuff::Unasked => "results without a call".into(),
        Stuff::Media => "pictures and files".into(),
        Stuff::Attached => "reminders and attachments".into(),
    }
}

fn held(stuff: &Stuff, parts: usize) -> String {
    let parts = parts as u64;
    match stuff {
        Stuff::Tool(_) if parts == 1 => "1 call or result".to_owned(),
        Stuff::Tool(_) => format!("{} calls and results", grouped(parts)),
        Stuff::Unasked => plural(parts, "result"),
        Stuff::Attached => plural(parts, "message"),
        _ => plural(parts, "part"),
    }
}

fn percent(count: TokenCount, total: TokenCount) -> String {
    render::percent(count.tokens, total.tokens)
}

/// What `tract prune` would give back, or, where that is nothing, what it would at most.
fn prune(app: &App, repo: &Repo, on: &On, total: TokenCount, can_prune: bool) -> Result<Vec<Line>> {
    let (usual, all) = prunes(&At::new(repo, on.clone(), app))?;
    let gain = |would: &Surgery| {
        let gain = TokenCount {
            tokens: would.delta().unsigned_abs(),
            estimated: false,
        };
        let share = percent(gain, total);
        format!("{} ({share})", plural(gain.tokens, "token"))
    };
    let lines = match (usual.is_nothing(), all.is_nothing()) {
        (false, _) if can_prune => vec![format!("{}: tract prune", gain(&usual))],
        (false, _) => vec![gain(&usual)],
        (true, false) => {
            let least = grouped(Limits::default().min);
            let most = format!(
                "less than {least} tokens as it is, and {} at most",
                gain(&all)
            );
            if can_prune {
                vec![most + ":", "tract prune --protect 0 --min 0".to_owned()]
            } else {
                vec![most]
            }
        }
        (true, true) => vec!["nothing".to_owned()],
    };
    let lines = lines.into_iter().map(|line| Line::from("  ") + line);
    Ok(lines.collect())
}
