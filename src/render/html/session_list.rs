//! The list of all conversations by day, its filters, and what a search over all of them found.

use super::document::{PageFrame, Setting};
use super::markup::Markup;
use crate::render::{Label, Line};

/// A list of conversations. All texts are hostile until escaped.
#[derive(Clone, Debug, Default)]
pub struct SessionList<'a> {
    /// What is searched for.
    pub words: &'a str,
    /// What can be chosen.
    pub filters: Vec<SessionFilter>,
    /// The day that is asked for.
    pub day: &'a str,
    /// Whether anything narrows the list.
    pub is_filtered: bool,
    /// How many conversations there are.
    pub count: String,
    /// Those that are listed, the newest first.
    pub days: Vec<ListedDay>,
    /// Where newer ones are listed.
    pub newer: Option<String>,
    /// Where older ones are listed.
    pub older: Option<String>,
    /// The messages that were found; none where nobody searched.
    pub hits: Option<Vec<ListedHit>>,
    /// Where the next of them are listed.
    pub more_hits: Option<String>,
    /// Whether it says more soon.
    pub is_pending: bool,
    /// Whether a search goes on.
    pub is_searching: bool,
    /// What a search without a server looks through.
    pub search: Option<SearchScripts<'a>>,
    /// What is to be known of it.
    pub remark: Option<&'a str>,
}

/// The files that hold what can be found, seen from the list.
#[derive(Clone, Copy, Debug)]
pub struct SearchScripts<'a> {
    /// Their addresses, none of which has a space in it.
    pub scripts: &'a [String],
}

/// A field to choose from.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Its name in an address.
    pub name: &'static str,
    /// What it is called.
    pub label: &'static str,
    /// What there is.
    pub choices: Vec<Choice>,
}

/// Something to choose.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// What the address says then.
    pub value: String,
    /// What people read.
    pub shown: String,
    /// Whether it is chosen.
    pub is_chosen: bool,
}

/// The conversations that went on last on a day.
#[derive(Clone, Debug, Default)]
pub struct ListedDay {
    /// The date; empty where it is not known.
    pub date: String,
    /// What it is called.
    pub name: String,
    /// The conversations.
    pub sessions: Vec<ListedSession>,
}

/// A conversation in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedSession {
    /// Its page, seen from the first one.
    pub address: String,
    /// Its title, or how its first prompt begins.
    pub title: String,
    /// What else is to be known of it.
    pub facts: Vec<String>,
    /// What it is beside the others.
    pub marks: Vec<String>,
    /// When it went on last: for machines, and for people.
    pub time: Option<(String, String)>,
    /// Those that belong to it.
    pub children: Vec<ListedSession>,
}

/// A message that was found.
#[derive(Clone, Debug, Default)]
pub struct ListedHit {
    /// Its place on its page, seen from the first one.
    pub address: String,
    /// The page of its conversation, seen from the first one.
    pub session: String,
    /// The title of its conversation.
    pub title: String,
    /// Who speaks.
    pub role: String,
    /// When: for machines, and for people.
    pub time: Option<(String, String)>,
    /// Where it stands there, or why it does not.
    pub place: String,
    /// Whether it is hidden.
    pub is_hidden: bool,
    /// The lines that answer, with the words marked.
    pub lines: Vec<Line>,
    /// How many lines more do.
    pub more: Option<String>,
}

/// The page of the list.
pub fn session_list(frame: &PageFrame<'_>, list: &SessionList<'_>) -> String {
    let mut markup = Markup::default();
    frame.begin("Sessions", &mut markup);
    let out = &mut markup;
    out.raw("<header>\n").element("h1", "title", "Sessions");
    out.raw("\n");
    form(frame, list, out);
    out.raw("</header>\n");
    let pending = match (list.is_searching, list.is_pending) {
        (true, _) => Some("search"),
        (false, true) => Some(""),
        (false, false) => None,
    };
    let search = list.search.map(|search| search.scripts.join(" "));
    let attributes = [
        ("class", Some("list")),
        ("data-pending", pending),
        ("data-search", search.as_deref()),
    ];
    out.open("main", &attributes);
    comparer(frame, out);
    out.raw("\n<p class=\"count\" role=\"status\">")
        .text(&list.count);
    if list.is_filtered {
        let all = frame.address("");
        out.raw(if list.count.is_empty() { "" } else { " · " });
        out.open("a", &[("href", Some(all.as_str()))]);
        out.raw("all").close("a");
    }
    out.raw("</p>\n");
    if let Some(remark) = list.remark {
        out.element("p", "remark", remark).raw("\n");
    }
    for day in &list.days {
        out.raw("<section class=\"day\"><h2>");
        time(out, &day.date, &day.name);
        out.raw("</h2>\n<ul class=\"sessions\">\n");
        day.sessions.iter().for_each(|it| session(frame, it, out));
        out.raw("</ul></section>\n");
    }
    if list.days.is_empty() && list.hits.is_none() {
        out.raw("<p class=\"earlier\">No sessions.</p>\n");
    }
    pager(&[("Newer", &list.newer), ("Older", &list.older)], out);
    if let Some(hits) = &list.hits {
        out.raw("<section class=\"hits\"><h2>Messages</h2>\n");
        // While it is still searched, nothing is known to be missing.
        if hits.is_empty() && !list.is_searching {
            out.raw("<p class=\"earlier\">No message matches.</p>\n");
        }
        out.raw("<ol>\n");
        for group in groups(hits) {
            group_of(frame, &group, out);
        }
        out.raw("</ol>\n");
        pager(&[("More", &list.more_hits)], out);
        out.raw("</section>\n");
    }
    out.raw("</main>\n");
    frame.end(&mut markup);
    markup.take()
}

/// The page of conversations that belong together, below the one that was first.
pub fn family(
    frame: &PageFrame<'_>,
    first: &ListedSession,
    count: &str,
    is_pending: bool,
) -> String {
    let mut markup = Markup::default();
    frame.begin(&first.title, &mut markup);
    let out = &mut markup;
    out.raw("<header>\n").element("h1", "title", &first.title);
    out.raw("\n</header>\n");
    let pending = is_pending.then_some("");
    out.open(
        "main",
        &[("class", Some("list")), ("data-pending", pending)],
    );
    comparer(frame, out);
    out.raw("\n").element("p", "count", count);
    out.raw("\n<ul class=\"sessions\">\n");
    session(frame, first, out);
    out.raw("</ul>\n</main>\n");
    frame.end(&mut markup);
    markup.take()
}

/// Where two that are marked can be compared.
fn comparer(frame: &PageFrame<'_>, out: &mut Markup) {
    if frame.setting == Setting::Served {
        let address = frame.address("compare");
        let attributes = [("id", Some("compare")), ("action", Some(address.as_str()))];
        out.raw("\n").open("form", &attributes);
        out.raw("<button class=\"button\">Compare the two that are marked</button></form>");
    }
}

/// What the list can be narrowed by. Without a server only words can be looked for, by a script.
fn form(frame: &PageFrame<'_>, list: &SessionList<'_>, out: &mut Markup) {
    let action = frame.address("");
    let attributes = [
        ("class", Some("filters")),
        ("role", Some("search")),
        ("action", Some(action.as_str())),
        ("method", Some("get")),
    ];
    out.open("form", &attributes);
    out.raw("<label class=\"words\"><span>Search</span>");
    let attributes = [
        ("id", Some("q")),
        ("name", Some("q")),
        ("type", Some("search")),
        ("value", Some(list.words)),
        ("autocomplete", Some("off")),
        ("spellcheck", Some("false")),
        ("placeholder", Some("Words, or \"a phrase\"")),
    ];
    out.open("input", &attributes).raw("</label>\n");
    for filter in list
        .filters
        .iter()
        .filter(|it| it.choices.len() > 1 || it.is_chosen())
    {
        out.raw("<label><span>").text(filter.label).raw("</span>");
        out.open("select", &[("name", Some(filter.name))]);
        out.raw("<option value=\"\">all</option>");
        for choice in &filter.choices {
            let selected = choice.is_chosen.then_some("");
            let value = Some(choice.value.as_str());
            out.open("option", &[("value", value), ("selected", selected)]);
            out.text(&choice.shown).raw("</option>");
        }
        out.raw("</select></label>\n");
    }
    if frame.setting == Setting::Served {
        out.raw("<label><span>Day</span>");
        let attributes = [
            ("name", Some("day")),
            ("type", Some("date")),
            ("value", Some(list.day)),
        ];
        out.open("input", &attributes);
        out.raw("</label>\n<button>Show</button>");
    }
    out.raw("<button type=\"button\" id=\"theme\" title=\"light or dark\" aria-label=\"light or dark\">◐</button></form>\n");
}

impl SessionFilter {
    fn is_chosen(&self) -> bool {
        self.choices.iter().any(|choice| choice.is_chosen)
    }
}

fn session(frame: &PageFrame<'_>, session: &ListedSession, out: &mut Markup) {
    let address = frame.address(&session.address);
    out.raw("<li><div class=\"row\">");
    out.open(
        "a",
        &[("class", Some("open")), ("href", Some(address.as_str()))],
    );
    out.text(&session.title).close("a");
    if frame.setting == Setting::Served {
        let label = format!("compare {}", session.title);
        let attributes = [
            ("type", Some("checkbox")),
            ("class", Some("marked")),
            ("name", Some("s")),
            ("value", Some(session.address.as_str())),
            ("form", Some("compare")),
            ("aria-label", Some(label.as_str())),
        ];
        out.open("input", &attributes);
    }
    if let Some((machine, shown)) = &session.time {
        time(out, machine, shown);
    }
    out.raw("<span class=\"facts\">");
    for mark in &session.marks {
        out.element("b", "mark-of", mark);
    }
    for fact in &session.facts {
        out.raw("<span>").text(fact).raw("</span>");
    }
    out.raw("</span></div>");
    if !session.children.is_empty() {
        out.raw("\n<ul class=\"sessions\">\n");
        session
            .children
            .iter()
            .for_each(|it| self::session(frame, it, out));
        out.raw("</ul>");
    }
    out.raw("</li>\n");
}

/// The messages by conversation: the one with the best message first, and in each the best first.
fn groups(hits: &[ListedHit]) -> Vec<Vec<&ListedHit>> {
    let mut groups: Vec<Vec<&ListedHit>> = Vec::new();
    for hit in hits {
        match groups
            .iter_mut()
            .find(|group| group[0].session == hit.session)
        {
            Some(group) => group.push(hit),
            None => groups.push(vec![hit]),
        }
    }
    groups
}

/// The messages of a conversation below its title.
fn group_of(frame: &PageFrame<'_>, group: &[&ListedHit], out: &mut Markup) {
    let Some(first) = group.first() else { return };
    let address = frame.address(&first.session);
    out.raw("<li class=\"group\"><h3>");
    out.open("a", &[("href", Some(address.as_str()))]);
    out.text(&first.title).close("a");
    out.raw("</h3>\n<ol>\n");
    group.iter().for_each(|it| hit(frame, it, out));
    out.raw("</ol></li>\n");
}

fn hit(frame: &PageFrame<'_>, hit: &ListedHit, out: &mut Markup) {
    let address = frame.address(&hit.address);
    out.raw("<li><div class=\"row\">");
    out.open(
        "a",
        &[("class", Some("open")), ("href", Some(address.as_str()))],
    );
    out.text(&hit.role).close("a");
    if let Some((machine, shown)) = &hit.time {
        time(out, machine, shown);
    }
    out.raw("<span class=\"facts\">");
    let class = if hit.is_hidden { "mark-of" } else { "place" };
    out.element("span", class, &hit.place).raw("</span></div>");
    for line in &hit.lines {
        out.raw("<p class=\"line\">");
        marked(line, out);
        out.raw("</p>");
    }
    if let Some(more) = &hit.more {
        out.element("p", "away", more);
    }
    out.raw("</li>\n");
}

/// A line with what was found in it marked.
fn marked(line: &Line, out: &mut Markup) {
    for run in line.runs() {
        match run.label {
            Label::Match => out.raw("<mark>").text(run.text()).raw("</mark>"),
            _ => out.text(run.text()),
        };
    }
}

fn time(out: &mut Markup, machine: &str, shown: &str) {
    if machine.is_empty() {
        out.text(shown);
        return;
    }
    out.open("time", &[("datetime", Some(machine))]);
    out.text(shown).close("time");
}

fn pager(links: &[(&'static str, &Option<String>)], out: &mut Markup) {
    if links.iter().all(|(_, address)| address.is_none()) {
        return;
    }
    out.raw("<p class=\"pager\">");
    for (name, address) in links {
        if let Some(address) = address {
            let attributes = [("class", Some("button")), ("href", Some(address.as_str()))];
            out.open("a", &attributes).raw(name).close("a").raw(" ");
        }
    }
    out.raw("</p>\n");
}
