//! What a command changed in the context, in one sentence; or, with `--dry-run`, what it would
//! change.

use std::io::Write;

use tract::Error;
use tract::history::surgery::{Prune, Reach, Truncate};
use tract::history::{Call, On, Repo, Size, Surgery, SurgeryOptions, TokenBudget, Touched};
use tract::render::escape;

use super::app::App;
use super::columns;
use super::failure::Failure;
use super::number::{Share, plural, signed, tokens};
use super::ui::{Label, Ui};

/// How many messages of a kind a dry run lists.
const LINES: usize = 20;

/// How this command is to be carried out.
pub fn options(app: &App, repo: &Repo, dry_run: bool) -> Result<SurgeryOptions, Failure> {
    let encoding = app.encoding(repo)?;
    Ok(SurgeryOptions { encoding, dry_run })
}

/// What `--to-budget` and `--as-counted` ask for.
pub fn budget(
    app: &App,
    repo: &Repo,
    share: Share,
    as_counted: bool,
) -> Result<TokenBudget, Failure> {
    let tokens = match (share, app.budget_max(repo)?) {
        (Share::Tokens(tokens), _) => tokens,
        (Share::Percent(percent), Some(max)) => max * percent / 100,
        (Share::Percent(percent), None) => {
            let what = format!("{percent}% of what? budget.max is not set");
            return Err(Failure::usage(what).with_hint("tract config budget.max 128k"));
        }
    };
    Ok(TokenBudget { tokens, as_counted })
}

/// `Hid 12 messages (-3,400 tokens); HEAD is now a1b2c3d`, and on a terminal how to get back.
pub fn tell(app: &mut App, on: &On, did: &str, surgery: &Surgery) {
    let Some(last) = surgery.commits.last() else {
        return;
    };
    let mut line = did.to_owned();
    if surgery.delta() != 0 {
        let delta = surgery.delta();
        let noun = if delta.abs() == 1 { "token" } else { "tokens" };
        line += &format!(" ({} {noun})", signed(delta));
    }
    let place = match on {
        On::Head => "HEAD".to_owned(),
        On::Branch(branch) => escape::line(branch.short()).into_owned(),
    };
    let hash = app.ui.paint_err(Label::Hash, &last.hash.short());
    app.ui.status(&format!("{line}; {place} is now {hash}"));
    if app.ui.is_read() {
        app.ui.hint("tract undo takes it back");
    }
}

/// What would go, come and change; the sizes before and after; what a prompt cache keeps; and what
/// this command and gentler ones would reach.
pub fn foretell(
    app: &mut App,
    command: &str,
    surgery: &Surgery,
    gentler: &[(&str, Surgery)],
) -> Result<(), Failure> {
    let ui = &mut app.ui;
    let lists = [
        ("Would hide", &surgery.hidden),
        ("Would bring in", &surgery.shown),
        ("Would change", &surgery.changed),
    ];
    for (title, touched) in lists {
        if !touched.is_empty() {
            let title = format!("{title} {}", plural(touched.len() as u64, "message"));
            let title = ui.paint(Label::Strong, &title);
            writeln!(ui.out(), "{title}")?;
            list(ui, touched, LINES)?;
        }
    }
    let (before, after) = (surgery.before, surgery.after);
    writeln!(
        ui.out(),
        "Messages  {} → {}\nTokens    {} → {} ({})\nCache     {}",
        before.messages,
        after.messages,
        tokens(before.tokens),
        tokens(after.tokens),
        signed(surgery.delta()),
        kept(surgery)
    )?;
    let reach = |surgery: &Surgery| {
        let cache = surgery.kept_percent();
        format!("{}, cache kept {cache}%", tokens(surgery.after.tokens))
    };
    let mut line = format!("{command} would reach {}", reach(surgery));
    for (name, surgery) in gentler.iter().filter(|(_, surgery)| !surgery.is_nothing()) {
        line += &format!("; {name} {}", reach(surgery));
    }
    Ok(writeln!(ui.out(), "{line}")?)
}

/// What a truncation and a prune would reach in place of a harsher command: the truncation to
/// `budget.max`, or, where that is not set, of the older half.
pub fn gentler(
    app: &App,
    repo: &Repo,
    call: Call<'_>,
    options: &SurgeryOptions,
) -> Result<Vec<(&'static str, Surgery)>, Failure> {
    let mut gentler = Vec::new();
    let (name, reach) = match app.budget_max(repo)? {
        Some(max) => (
            "truncate",
            Reach::ToBudget(TokenBudget {
                tokens: max,
                as_counted: false,
            }),
        ),
        None => ("truncate (the older half)", Reach::Fraction("0.5".parse()?)),
    };
    match repo.truncate(call, &Truncate::new(reach), options) {
        // It cannot, so there is nothing to compare with.
        Err(Error::CannotFit { .. }) => {}
        truncated => gentler.push((name, truncated?)),
    }
    gentler.push(("prune", repo.prune(call, &Prune::default(), options)?));
    Ok(gentler)
}

/// `the first 3 messages stay as they are: 412 tokens, 12%`.
pub fn kept(surgery: &Surgery) -> String {
    let Size {
        messages,
        tokens: kept,
    } = surgery.kept;
    if messages == 0 {
        return "nothing stays as it is from the beginning on".to_owned();
    }
    let which = match messages {
        1 => "the first message stays as it is".to_owned(),
        _ => format!(
            "the first {} stay as they are",
            plural(messages as u64, "message")
        ),
    };
    format!(
        "{which}: {} tokens, {}%",
        tokens(kept),
        surgery.kept_percent()
    )
}

/// The messages one to a line, at most `limit` of them.
pub fn list(ui: &mut Ui, touched: &[Touched], limit: usize) -> Result<(), Failure> {
    let number = |touched: &Touched| format!(":{}", touched.number);
    let shown = &touched[..touched.len().min(limit)];
    let numbers = shown.iter().map(|t| number(t).len()).max().unwrap_or(0);
    let counts = shown
        .iter()
        .map(|t| tokens(t.tokens).len())
        .max()
        .unwrap_or(0);
    for one in shown {
        let role = columns::left(one.role.as_str(), "assistant".len());
        let role = ui.paint(Label::role(one.role), &role);
        let head = format!("  {}  ", columns::left(&number(one), numbers));
        let count = columns::right(&tokens(one.tokens), counts);
        let preview = escape::line(&one.preview);
        let used = head.len() + "assistant".len() + 2 + counts + 2;
        let preview = match ui.width_cols() {
            Some(width) => columns::cut(&preview, width.saturating_sub(used)),
            None => preview.into_owned(),
        };
        let line = format!("{head}{role}  {count}  {preview}");
        writeln!(ui.out(), "{}", line.trim_end())?;
    }
    if touched.len() > limit {
        let more = format!("  … {} more", touched.len() - limit);
        let more = ui.paint(Label::Dim, &more);
        writeln!(ui.out(), "{more}")?;
    }
    Ok(())
}
