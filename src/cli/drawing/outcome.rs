//! What a command changed in the context, in one sentence; or, with `--dry-run`, what it would
//! change.

use tract::Error;
use tract::deeds::usual_prune;
use tract::model::{EntryId, ProviderCount, Total};
use tract::query::TokenBudget;
use tract::query::audit::FactClass;
use tract::render::edit::changed_files;
use tract::render::{Label, Line, grouped, plural, row, signed, table, tokens};
use tract::repo::{Call, On, Repo, Touched};
use tract::rewrite::{Plan, Reach, Surgery, SurgeryOptions, Truncate};

use crate::cli::drawing::cache;
use crate::cli::{App, Result, Ui, trace};

/// How many messages of a kind a dry run lists, of the first and of the last.
const ENDS: usize = 10;

/// What other commands would reach, by their names; none where that would take a look at very many messages.
type Gentler = Vec<(&'static str, Option<Surgery>)>;

/// How this command is to be carried out. Of what it touches only a dry run lists more than the first, and the log.
pub fn options(app: &App, repo: &Repo, dry_run: bool) -> Result<SurgeryOptions> {
    Ok(SurgeryOptions {
        encoding: app.encoding(repo)?,
        dry_run,
        told: match dry_run {
            false if app.env.log.is_some() => usize::MAX,
            false => 1,
            true => ENDS,
        },
        told_last: if dry_run { ENDS } else { 0 },
        expect: None,
    })
}

/// Refuses a branch that nobody made, where nothing is to make it.
pub fn refuse_unmade(repo: &Repo, on: &On) -> Result<()> {
    if *on == On::Head || repo.head(on)?.commit().is_some() {
        return Ok(());
    }
    match repo.resolve(on, "HEAD") {
        Err(error @ Error::EmptyBranch { is_made: false, .. }) => Err(error.into()),
        _ => Ok(()),
    }
}

/// The same of a command that may be asked how many messages of each kind its dry run lists; 0: all.
pub fn limited(
    app: &App,
    repo: &Repo,
    dry_run: bool,
    limit: Option<usize>,
) -> Result<SurgeryOptions> {
    refuse_unmade(repo, &app.on()?)?;
    let usual = options(app, repo, dry_run)?;
    Ok(match limit.filter(|_| dry_run) {
        None => usual,
        Some(limit) => SurgeryOptions {
            told: if limit == 0 { usize::MAX } else { limit },
            told_last: 0,
            ..usual
        },
    })
}

/// The tokens that a change leaves, in the budget's own measure.
pub fn left(surgery: &Surgery, budget: TokenBudget) -> u64 {
    let ours = surgery.after.tokens;
    if budget.as_counted {
        ours.tokens
    } else {
        surgery.provider.total(ours).tokens
    }
}

/// `Hid 12 messages`.
pub fn hid(surgery: &Surgery) -> String {
    format!("Hid {}", plural(surgery.hidden.len() as u64, "message"))
}

/// Says that more was touched than was named, if so: the other end of a call.
pub fn partners(touched: impl IntoIterator<Item = EntryId>, named: &[EntryId]) -> &'static str {
    if touched.into_iter().all(|id| named.contains(&id)) {
        ""
    } else {
        ", tool partners included"
    }
}

/// `Hid 12 messages (-3,400 tokens); HEAD is now a1b2c3d`, and on a terminal how to get back.
pub fn tell(app: &mut App, on: &On, did: &str, surgery: &Surgery) {
    let Some(last) = surgery.commits.last() else {
        return;
    };
    trace::changed(did, surgery, app);
    let change = match surgery.delta() {
        0 => String::new(),
        delta @ (-1 | 1) => format!(" ({} token)", signed(delta)),
        delta => format!(" ({} tokens)", signed(delta)),
    };
    let line = Line::from(format!("{did}{change}; {on} is now "));
    app.ui.status(line + Label::Hash.of(last.hash.short()));
    if app.ui.is_read() {
        app.ui.hint("tract undo takes it back");
    }
}

/// What makes the context at `on` fit its budget again: commands that would do so if they were given.
pub fn smaller(app: &App, repo: &Repo, on: &On) -> Result<String> {
    let otherwise = "tract compact puts a summary in place of what is old".to_owned();
    let Some(max) = app.budget_max(repo)? else {
        return Ok(otherwise);
    };
    if repo.head(on)?.commit().is_none() {
        return Ok("tract config budget.max N allows more".to_owned());
    }
    let to = |tokens| {
        let as_counted = false;
        Truncate::new(Reach::ToBudget(TokenBudget { tokens, as_counted }))
    };
    let plans: [&dyn Plan; 3] = [&usual_prune(repo)?, &to(max * 80 / 100), &to(max)];
    let would = repo.compare(app.call(on, "…"), &options(app, repo, false)?, &plans)?;
    let does = |would: &Result<Surgery, Error>| would.as_ref().is_ok_and(|it| !it.is_nothing());
    let prunes = does(&would[0]).then_some("tract prune");
    let shorter = match (does(&would[1]), does(&would[2])) {
        (true, _) => Some("tract shrink --to 80%"),
        (_, true) => Some("tract truncate"),
        _ => None,
    };
    Ok(match (prunes, shorter) {
        (Some(prune), Some(shorter)) => format!("{prune}, or {shorter}"),
        (Some(only), None) | (None, Some(only)) => only.to_owned(),
        (None, None) => otherwise,
    })
}

/// `our count × 1.18 + 20,200`.
pub fn counted(count: &ProviderCount) -> String {
    let top = count.least.saturating_add_unsigned(count.thinking);
    let top = match top {
        ..0 => format!("- {}", grouped(top.unsigned_abs())),
        _ => format!("+ {}", grouped(top.unsigned_abs())),
    };
    if count.is_fitted() {
        format!("our count × {:.2} {top}", count.times())
    } else {
        format!("our count {top}")
    }
}

/// What would go, come and change; the sizes before and after; what a prompt cache keeps; and what
/// this command and gentler ones would reach.
pub fn foretell(
    app: &mut App,
    command: &str,
    surgery: &Surgery,
    gentler: &[(&str, Option<Surgery>)],
) -> Result<()> {
    let repo = app.repo()?;
    let ui = &mut app.ui;
    let lists = [
        ("Would hide", &surgery.hidden),
        ("Would bring in", &surgery.shown),
        ("Would change", &surgery.changed),
    ];
    for (title, touched) in lists {
        if !touched.is_empty() {
            let title = format!("{title} {}", plural(touched.len() as u64, "message"));
            ui.print(Label::Strong.of(title))?;
            let told = [touched.told(), touched.told_last()].concat();
            let how = List {
                limit: touched.told().len(),
                last: touched.told_last().len(),
                others: "to list all: -n 0",
                sum: true,
            };
            list(&repo, ui, &told, touched.all(), &how)?;
        }
    }
    let (before, after) = (surgery.before, surgery.after);
    let [were, are] = [before, after].map(|size| grouped(size.messages as u64));
    let messages = format!("{were} → {are}");
    let counts = format!("{} → {}", tokens(before.tokens), tokens(after.tokens));
    ui.print(format!("Messages  {messages}"))?;
    ui.print(format!("Tokens    {counts} ({})", signed(surgery.delta())))?;
    if let Some(count) = surgery.provider.count() {
        let spread = apart(count.range(after.tokens.tokens));
        let [before, after] = [before, after].map(|size| grouped(count.of(size.tokens.tokens)));
        let spread = spread.map_or(String::new(), |(low, high)| {
            format!(", {} to {} until it answers", grouped(low), grouped(high))
        });
        ui.print(format!(
            "          about {before} → {after} by the provider's count{spread}"
        ))?;
    }
    ui.print_wrapped(format!("Cache     {}", kept(surgery)))?;
    let reach = |surgery: &Surgery| {
        let cache = surgery.kept_percent();
        format!("{}, cache kept {cache}", tokens(surgery.after.tokens))
    };
    let mut line = format!("{command} would reach {}", reach(surgery));
    let mut others = Vec::new();
    for (name, surgery) in gentler {
        match surgery {
            Some(surgery) if surgery.is_nothing() => {}
            Some(surgery) => {
                line += &format!("; {name} {}", reach(surgery));
                others.push((*name, surgery));
            }
            None => line += &format!("; for {name} see tract {name} --dry-run"),
        }
    }
    ui.print_wrapped(line)?;
    cache::foretell(app, &repo, (command, surgery), &others)
}

/// Which facts nothing would say any more, by class; nothing where there are none.
pub fn foretell_facts(app: &mut App, repo: &Repo, call: Call<'_>, plan: &dyn Plan) -> Result<()> {
    let options = options(app, repo, true)?;
    let Some(lost) = repo.would_lose(call, plan, &options, changed_files)? else {
        let line = "Facts     not looked for in so many messages";
        return Ok(app.ui.print(line)?);
    };
    let of = |class: &FactClass| {
        lost.facts
            .iter()
            .filter(|found| found.fact.class == *class)
            .count()
    };
    let counts = FactClass::ALL
        .iter()
        .map(|class| (class.as_str(), of(class)));
    let counts = counts.filter(|(_, count)| *count > 0);
    let words: Vec<String> = counts
        .map(|(class, count)| plural(count as u64, class))
        .collect();
    if !words.is_empty() {
        let line = format!("Lost from view: {}", words.join(", "));
        app.ui.print_wrapped(line)?;
    }
    Ok(())
}

/// What a plan would change, and what a truncation and a prune would reach in its place: the
/// truncation to `budget.max`, or, where that is not set, of the older half.
pub fn foresee(
    app: &App,
    repo: &Repo,
    call: Call<'_>,
    plan: &dyn Plan,
    options: &SurgeryOptions,
) -> Result<(Surgery, Gentler)> {
    let as_counted = false;
    let (name, reach) = match app.budget_max(repo)? {
        Some(tokens) => (
            "truncate",
            Reach::ToBudget(TokenBudget { tokens, as_counted }),
        ),
        None => ("truncate (the older half)", Reach::Fraction("0.5".parse()?)),
    };
    let others: [&dyn Plan; 2] = [&Truncate::new(reach), &usual_prune(repo)?];
    let (wanted, would) = repo.foretell(call, options, plan, &others)?;
    Ok((wanted?, gentler([name, "prune"], would)?))
}

/// What each of these commands would reach; one that cannot reach anything is left out.
pub fn gentler(
    names: [&'static str; 2],
    would: Vec<Option<std::result::Result<Surgery, Error>>>,
) -> Result<Gentler> {
    let mut gentler = Vec::new();
    for (name, would) in names.into_iter().zip(would) {
        match would {
            // It cannot, so there is nothing to compare with.
            Some(Err(Error::CannotFit { .. })) => {}
            would => gentler.push((name, would.transpose()?)),
        }
    }
    Ok(gentler)
}

/// `the first 3 messages stay as they are: 412 tokens, 12%`.
pub fn kept(surgery: &Surgery) -> String {
    let which = match surgery.kept.messages as u64 {
        0 => return "nothing stays as it is from the beginning on".to_owned(),
        1 => "the first message stays as it is".to_owned(),
        count => format!("the first {} stay as they are", plural(count, "message")),
    };
    let (kept, percent) = (tokens(surgery.kept.tokens), surgery.kept_percent());
    format!("{which}: {kept} tokens, {percent}")
}

/// How messages are listed.
pub struct List {
    /// At most so many of the first.
    pub limit: usize,
    /// At most so many of the last of the others.
    pub last: usize,
    /// How one gets to see the others.
    pub others: &'static str,
    /// Whether a last line says how many there are, and their tokens.
    pub sum: bool,
}

/// What differs by less than one in so many is the same.
const SAME: u64 = 50;

/// The least and the most that a provider may count, where these are not nearly the same.
pub fn apart((low, high): (u64, u64)) -> Option<(u64, u64)> {
    (high - low > high / SAME).then_some((low, high))
}

/// The messages one to a line, a tool's result with its call.
pub fn list(repo: &Repo, ui: &mut Ui, told: &[Touched], all: Total, list: &List) -> Result<()> {
    let (first, others) = told.split_at(told.len().min(list.limit));
    let last = &others[others.len() - others.len().min(list.last)..];
    let listed = [first, last].concat();
    let entries: Vec<EntryId> = listed.iter().map(|one| one.id).collect();
    let calls = repo.calls_of(&entries)?;
    let injected = repo.injected(&entries)?;
    let cells = |one: &Touched| {
        let (label, who) = Label::speaker(one.role, injected.contains(&one.id));
        vec![
            Line::from(format!("  :{}", one.number)),
            label.of(format!("{who:<9}")),
            tokens(one.tokens).into(),
        ]
    };
    let mut rows: Vec<Vec<Line>> = listed.iter().map(cells).collect();
    let mut rest = all;
    listed.iter().for_each(|one| rest.remove(one.tokens));
    let gap = (rest.messages > 0).then_some(first.len());
    if let Some(gap) = gap {
        let more = format!("{} more", grouped(rest.messages));
        let more = Label::Dim.of(more);
        rows.insert(gap, vec!["  …".into(), more, tokens(rest.sum()).into()]);
    }
    if list.sum && all.messages > 1 {
        let count = Label::Strong.of(plural(all.messages, "message"));
        rows.push(vec!["  =".into(), count, tokens(all.sum()).into()]);
    }
    let width = ui.width_cols();
    for (at, mut line) in table::lines(rows, &[2]).enumerate() {
        let which = at - usize::from(gap.is_some_and(|gap| gap < at));
        if gap == Some(at) {
            line += "  ";
            line.fit(Label::Dim.of(list.others), width);
        } else if let Some(one) = listed.get(which) {
            line = row::after(line + "  ", calls[which].as_deref(), &one.preview, width);
        }
        ui.print(line)?;
    }
    Ok(())
}
