//! What replies have in common with others that are billed, and why a cache did not have a request, for people.

use jiff::civil::Date;
use tract::ingest::MissCause;
use tract::model::RefName;
use tract::query::BilledReply;
use tract::render::{Calendar, Label, Line, plural};

use super::cache::duration;
use super::listing;

/// How many days may be without replies among the others.
const DAYS: usize = 1_100;
/// What has no name.
pub const NOBODY: &str = "(none)";
/// What is of no session.
const NO_SESSION: &str = "(no session)";
/// What is no result of a tool, among tools.
pub const OTHERS: &str = "(other messages)";
/// What is no message, among messages and tools.
pub const REST: &str = "(system prompt and tools)";

/// The session that a reply counts with.
pub fn session(reply: &BilledReply) -> String {
    // A sub-agent, and what was taken back, stand below the session.
    named(reply, true, |_| false)
}

/// A session by its ref, with the sub-agent below it, if there is one.
pub fn shown_session(name: &str) -> String {
    let mut parts = name.match_indices('/').map(|(at, _)| at);
    let (root, below) = name.split_at(parts.nth(3).unwrap_or(name.len()));
    match root.parse() {
        Ok(root) => listing::shown_name(&root, true) + below,
        Err(_) => NO_SESSION.to_owned(),
    }
}

/// The same with the session's whole id.
pub fn whole_session(reply: &BilledReply) -> String {
    named(reply, false, |_| false)
}

/// The same with the session's whole id.
pub fn whole_agent(reply: &BilledReply) -> String {
    named(reply, false, is_agent)
}

fn is_agent(below: &str) -> bool {
    below.starts_with("agent-")
}

/// The session of a reply, and what stands below it as long as that is `wanted`.
fn named(reply: &BilledReply, short: bool, wanted: impl Fn(&str) -> bool) -> String {
    let Some((tool, id)) = reply.session.as_ref().and_then(RefName::as_session) else {
        return NO_SESSION.to_owned();
    };
    let mut below = id.split('/');
    let root = below.next().unwrap_or(id);
    let name = format!("{}{tool}/{root}", RefName::SESSIONS);
    let mut name = name
        .parse()
        .map_or(name, |name| listing::shown_name(&name, short));
    for part in below.take_while(|part| wanted(part)) {
        name += "/";
        name += part;
    }
    name
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
        MissCause::Unknown => "unknown".into(),
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
