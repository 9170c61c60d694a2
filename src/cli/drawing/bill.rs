//! What replies have in common with others that are billed, and why a cache did not have a request, for people.

use jiff::civil::Date;
use tract::deeds::{CostBy, StatsAnswer};
use tract::ingest::{MissCause, Misses};
use tract::model::RefName;
use tract::query::BilledReply;
use tract::render::{Calendar, Label, Line, plural};

use crate::cli::drawing::cache::duration;
use crate::cli::drawing::listing;
use crate::cli::drawing::prices::without_time;

/// How many days may be without replies among the others.
const DAYS: usize = 1_100;
/// What has no name.
pub const NOBODY: &str = "(none)";
/// What is of no session.
const NO_SESSION: &str = "(no session)";

/// The session that a reply counts with.
pub fn session(reply: &BilledReply) -> String {
    named(reply, CostBy::Session, true)
}

/// The sessions of a list, as it calls them: each id is cut to what tells it from the others.
pub struct SessionNames {
    ids: Vec<String>,
}

impl SessionNames {
    /// Of these refs.
    pub fn of<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let roots = names.filter_map(|name| parted(name).0.parse().ok());
        let ids = roots.filter_map(|root: RefName| Some(root.as_session()?.1.to_owned()));
        Self { ids: ids.collect() }
    }

    /// A session by its ref, with the sub-agent below it, if there is one.
    pub fn shown(&self, name: &str) -> String {
        let (root, below) = parted(name);
        match root.parse() {
            Ok(root) => listing::shown_among(&root, &self.ids) + below,
            Err(_) => NO_SESSION.to_owned(),
        }
    }
}

/// A session's ref, and what stands below it.
fn parted(name: &str) -> (&str, &str) {
    let mut parts = name.match_indices('/').map(|(at, _)| at);
    name.split_at(parts.nth(3).unwrap_or(name.len()))
}

fn spelled(name: &str, short: bool) -> String {
    let (root, below) = parted(name);
    match root.parse() {
        Ok(root) => listing::shown_name(&root, short) + below,
        Err(_) => NO_SESSION.to_owned(),
    }
}

/// The same with the session's whole id.
pub fn whole_session(reply: &BilledReply) -> String {
    named(reply, CostBy::Session, false)
}

/// The same with the session's whole id.
pub fn whole_agent(reply: &BilledReply) -> String {
    named(reply, CostBy::Agent, false)
}

fn named(reply: &BilledReply, by: CostBy, short: bool) -> String {
    let session = by.session_of(reply);
    session.map_or_else(|| NO_SESSION.to_owned(), |name| spelled(&name, short))
}

/// The day of a reply.
pub fn day(reply: &BilledReply, calendar: &Calendar) -> String {
    reply
        .time
        .map_or_else(|| "(no time)".to_owned(), |time| calendar.date(time))
}

/// The model that made a reply.
pub fn model(reply: &BilledReply) -> String {
    model_of(reply.model.as_deref())
}

/// A model by its name.
pub fn model_of(model: Option<&str>) -> String {
    model.unwrap_or(NOBODY).to_owned()
}

/// The directory that a reply's session ran in.
pub fn directory(reply: &BilledReply) -> String {
    reply.directory.clone().unwrap_or_else(|| NOBODY.to_owned())
}

/// The program whose session a reply is of.
pub fn client(reply: &BilledReply) -> String {
    let named = reply.session.as_ref().and_then(RefName::as_session);
    named.map_or(NOBODY, |(tool, _)| tool).to_owned()
}

/// How many recorded requests that cannot be told are named.
const LACKS: usize = 2;

/// Why recorded requests cannot be told: of the first few, and how many more there are.
pub fn lacking(found: &Misses) -> Vec<String> {
    let named = found.lacks.iter().take(LACKS);
    let mut said: Vec<String> = named
        .map(|lack| {
            Label::Text
                .quote(&format!("a recorded request: {lack}"))
                .text()
        })
        .collect();
    let more = found.lacks.len().saturating_sub(LACKS) as u64;
    if more > 0 {
        said.push(format!("{more} more like it: not all is in the files"));
    }
    if found.without_file > 0 {
        let misses = plural(found.without_file, "miss");
        said.push(format!(
            "{misses} of sessions whose file is not here: it may give another cause"
        ));
    }
    said
}

/// What the counts of work done leave out.
pub fn uncounted(answer: &StatsAnswer) -> Vec<String> {
    let short = plural(answer.total.short_outputs as u64, "reply");
    let short = (answer.total.short_outputs > 0)
        .then(|| format!("{short} recorded with less output than the text has"));
    let agents = answer.sub_agent_replies as u64;
    let agents = (agents > 0).then(|| without_agents(agents, None));
    let untimed = answer.untimed_replies as u64;
    let untimed = (untimed > 0).then(|| without_time(untimed, None));
    let uncounted = answer.uncounted_replies as u64;
    let uncounted = (uncounted > 0).then(|| {
        let replies = plural(uncounted, "reply");
        format!("{replies} without tokens of their own in these sums")
    });
    let notes = short.into_iter().chain(agents).chain(untimed);
    notes.chain(uncounted).collect()
}

/// What a path leaves out of the replies of its session, and what those cost.
pub fn without_agents(replies: u64, cost: Option<&str>) -> String {
    let replies = plural(replies, "reply");
    let cost = cost.map_or_else(String::new, |cost| format!(", {cost}"));
    format!("without {replies} of sub-agents{cost}: they are not on this path")
}

/// Why a cache did not have what it was given before.
pub fn cause(cause: &MissCause) -> Line {
    match cause {
        MissCause::Said { said, differs } => {
            let mut line = Line::from("provider: ") + Label::Text.quote(&said.reason);
            if let Some(tokens) = said.tokens {
                line += format!(", {}", plural(tokens, "token"));
            }
            match differs {
                Some(differs) => line + "; " + Label::Text.quote(differs),
                None => line,
            }
        }
        MissCause::Sent(differs) => Label::Text.quote(differs),
        MissCause::Model([old, new]) => {
            Line::from("model ") + Label::Text.quote(old) + " became " + Label::Text.quote(new)
        }
        MissCause::Changed { commit, verb } => {
            Label::Hide.of(*verb) + " " + Label::Hash.of(commit.short())
        }
        MissCause::Age { age_ms, life_ms } => {
            let (age, life) = (duration(*age_ms), duration(*life_ms));
            format!("{age} after the request before; kept for {life}").into()
        }
        MissCause::Alike => "alike; the provider had let go of it".into(),
        MissCause::Unknown => "unknown".into(),
    }
}

/// What misses have in common that have a cause of this kind.
pub fn kind(kind: &str) -> &'static str {
    match kind {
        "said" => "the provider says why",
        "sent" => "the request differs",
        "model" => "another model",
        "changed" => "the context was changed",
        "age" => "too long after the request before",
        "alike" => "the provider had let go of it",
        _ => "unknown",
    }
}

/// All days from the first to the last, where there are not too many without any.
pub fn between<'d>(days: impl Iterator<Item = &'d str> + Clone) -> Vec<String> {
    let date = |day: Option<&str>| day.and_then(|day| day.parse::<Date>().ok());
    let ends = date(days.clone().min()).zip(date(days.clone().max()));
    if let Some((first, last)) = ends {
        let all = first
            .series(jiff::Span::new().days(1))
            .take_while(|day| *day <= last);
        let all: Vec<String> = all.take(DAYS + 1).map(|day| day.to_string()).collect();
        if all.len() <= DAYS {
            return all;
        }
    }
    days.map(str::to_owned).collect()
}
