//! A call as a part of a page, and what came of it.

use serde_json::Value;

use super::block::{Blocks, PEEK_BYTES, head};
use super::code;
use crate::diff::{HunkLine, Tag};
use crate::model::Part;
use crate::model::call::{self, Brief, BriefPiece};
use crate::render::code::Language;
use crate::render::edit::{Edits, FileEdit};
use crate::render::outcome::ToolOutcome;
use crate::render::page::AgentLink;
use crate::tree::console::printed;
use crate::tree::cut::{more_lines, omitted_lines};
use crate::tree::words::word;
use crate::tree::{NodeId, State, Tool, Tree};

/// An argument that is longer has lines of its own.
const ARGUMENT_BYTES: usize = 160;
/// An edit of at most so many lines is open.
const OPEN_LINES: usize = 16;
/// The keys of a command.
const COMMAND: [&str; 3] = ["command", "cmd", "script"];
/// The keys of what is written to be read.
const SAID: [&str; 3] = ["prompt", "plan", "message"];

impl Blocks<'_> {
    /// A call: closed, one line; open, all that it was told and gave back.
    pub(super) fn tool(&mut self, tool: &Tool) {
        let edits = Edits::of_tool(tool);
        let brief = Edits::brief_of(tool, edits.as_ref()).from(self.page.directory);
        let rows = edits.as_ref().map_or(usize::MAX, |edits| {
            let hunks = edits.files.iter().flat_map(|file| &file.hunks);
            hunks.map(|hunk| hunk.lines.len()).sum()
        });
        let class = format!("b tool is-{}", tool.state.as_str());
        self.fold("fold of-tool", &class, &tool.node, rows <= OPEN_LINES);
        self.brief(&brief);
        if let Some(edits) = &edits {
            self.tally(edits.tally());
        }
        if tool.state != State::Success {
            self.markup.raw(" ");
            self.markup.element("span", "state", tool.state.as_str());
        }
        self.badge(&tool.node);
        self.markup.raw("</summary>\n");
        if tool.is_call() {
            match &edits {
                Some(edits) => {
                    edits
                        .long_rest()
                        .for_each(|(key, text)| self.argument(key, text));
                    let names = edits.names_files();
                    edits.files.iter().for_each(|file| self.file(file, names));
                }
                None => self.arguments(&tool.arguments, &brief),
            }
            self.rest(&brief);
        }
        if let Some(agent) = &tool.agent {
            self.agent(agent);
        } else if let Some(link) = (self.page.agent_of)(&tool.call) {
            self.agent_link(&link);
        }
        let file = match edits {
            Some(_) => None,
            None => call::path(&tool.arguments),
        };
        let file = file.as_deref();
        if let Some((id, content)) = &tool.queued {
            self.output(*id, content, file);
        }
        match &tool.answer {
            Some((id, content)) => self.output(*id, content, file),
            None if tool.output.is_empty() => {}
            None => {
                let id = tool.cancelled.unwrap_or(tool.node.id);
                self.output(id, &[Part::text(tool.output.clone())], file);
            }
        }
        self.end_fold();
    }

    /// What a call says in brief: each piece as wide as there is room for.
    fn brief(&mut self, brief: &Brief) {
        self.markup.raw("<b>").text(&brief.name).raw("</b> ");
        self.markup.raw("<code class=\"peek\">");
        let mut is_first = true;
        for piece in &brief.pieces {
            if matches!(piece, BriefPiece::Reason(_)) {
                continue;
            }
            self.markup.raw(if is_first { "" } else { " " });
            is_first = false;
            match piece {
                BriefPiece::Path(path) => self.path(path),
                BriefPiece::Pair(key, value) => {
                    let value = head(value, PEEK_BYTES);
                    self.markup.raw("<span class=\"pair\">").text(key);
                    self.markup.raw("=").text(value);
                    self.markup.raw("</span>");
                }
                BriefPiece::Command(text) | BriefPiece::Words(text) | BriefPiece::Reason(text) => {
                    let text = head(text, 2 * PEEK_BYTES);
                    self.markup.raw("<span>").text(text).raw("</span>");
                }
            }
        }
        self.markup.raw("</code>");
        for piece in &brief.pieces {
            if let BriefPiece::Reason(text) = piece {
                self.markup.raw(" ").element("span", "reason", text);
            }
        }
    }

    /// A path, of which the folders are cut where there is no room, and never the name.
    fn path(&mut self, path: &str) {
        let at = path.trim_end_matches(['/', '\\']).rfind(['/', '\\']);
        let (folders, name) = path.split_at(at.map_or(0, |at| at + 1));
        self.markup
            .open("span", &[("class", Some("path")), ("title", Some(path))]);
        if !folders.is_empty() {
            self.markup.element("span", "folders", folders);
        }
        self.markup.element("span", "name", name).raw("</span>");
    }

    /// Arguments that say more than a line can.
    fn arguments(&mut self, arguments: &str, brief: &Brief) {
        let object = serde_json::from_str::<Value>(arguments).ok();
        let Some(Value::Object(object)) = object else {
            if brief.is_cut {
                self.argument("", arguments);
            }
            return;
        };
        for (key, value) in object {
            let text = match value {
                Value::String(text) => text,
                Value::Array(words) if COMMAND.contains(&key.as_str()) => {
                    let all = Value::Array(words);
                    call::command(&json_of(&key, &all)).unwrap_or_else(|| pretty(&all))
                }
                value => pretty(&value),
            };
            if text.len() > ARGUMENT_BYTES || text.trim_end().contains('\n') {
                self.argument(&key, &text);
            }
        }
    }

    fn argument(&mut self, key: &str, text: &str) {
        if SAID.contains(&key) {
            self.markup.element("h4", "key", key);
            return self.prose(text);
        }
        let is_command = COMMAND.contains(&key);
        if !key.is_empty() && !is_command {
            self.markup.element("h4", "key", key);
        }
        self.markup.pre(&[("class", Some("argument"))]);
        let language = Language::named("bash").filter(|_| is_command);
        code::write(&mut self.markup, text.trim_end(), language.as_ref());
        self.markup.raw("</pre>\n");
    }

    /// The arguments that the line leaves out, and that have no lines of their own.
    fn rest(&mut self, brief: &Brief) {
        let is_short =
            |(_, value): &&(String, String)| value.len() <= ARGUMENT_BYTES && !value.contains('\n');
        let rest = brief.rest.iter().filter(is_short);
        let rest: Vec<String> = rest.map(|(key, value)| format!("{key}={value}")).collect();
        if !rest.is_empty() {
            self.markup
                .element("p", "away rest", &rest.join(", "))
                .raw("\n");
        }
    }

    fn tally(&mut self, (added, removed): (usize, usize)) {
        self.markup.raw(" <span class=\"tally\">");
        if added > 0 {
            self.markup.raw("<ins>+").number(added as u64).raw("</ins>");
        }
        if removed > 0 {
            self.markup
                .raw("<del>-")
                .number(removed as u64)
                .raw("</del>");
        }
        self.markup.raw("</span>");
    }

    fn file(&mut self, file: &FileEdit, is_named: bool) {
        let path = file.path.as_deref().filter(|_| is_named);
        let fate = file.fate();
        if path.is_some() || fate.is_some() {
            let path = path.map(|path| call::relative(path, self.page.directory));
            self.markup
                .raw("<h4 class=\"key\">")
                .text(path.unwrap_or_default());
            self.markup.raw(" ").text(&fate.unwrap_or_default());
            self.tally(file.tally());
            self.markup.raw("</h4>\n");
        }
        if file.hunks.is_empty() {
            return;
        }
        self.markup.pre(&[("class", Some("diff"))]);
        for (place, hunk) in file.placed() {
            if let Some(place) = place {
                self.markup.raw("<i>").text(&place).raw("</i>");
            }
            hunk.lines.iter().for_each(|line| self.diff_line(line));
        }
        self.markup.raw("</pre>\n");
    }

    fn diff_line(&mut self, line: &HunkLine) {
        let (open, close) = match line.tag {
            Tag::Equal => ("<span>  ", "\n</span>"),
            Tag::Removed => ("<del>- ", "\n</del>"),
            Tag::Added => ("<ins>+ ", "\n</ins>"),
        };
        self.markup.raw(open);
        for piece in &line.pieces {
            if piece.changed && line.tag != Tag::Equal {
                self.markup.raw("<em>").text(&piece.text).raw("</em>")
            } else {
                self.markup.text(&piece.text)
            };
        }
        self.markup.raw(close);
    }

    /// What a call gave back; of a file that was read, by what it is written in.
    fn output(&mut self, id: NodeId, content: &[Part], file: Option<&str>) {
        let anchor = self.name(id);
        let attributes = [("class", Some("output")), ("id", anchor.as_deref())];
        self.markup.open("div", &attributes);
        self.number(id, anchor.is_some());
        let mut is_empty = true;
        for part in content {
            match part {
                Part::Image(media) | Part::File(media) => self.media(part, media),
                part => {
                    let text = word(part);
                    let text = printed(&text);
                    if text.trim().is_empty() {
                        continue;
                    }
                    self.outcome(&ToolOutcome::of(&text), file);
                }
            }
            is_empty = false;
        }
        if is_empty {
            self.markup.raw("<p class=\"away\">(nothing)</p>\n");
        }
        if let Some(more) = omitted_lines(content) {
            self.markup.element("p", "away", &more_lines(more));
        }
        self.markup.raw("</div>\n");
    }

    fn outcome(&mut self, outcome: &ToolOutcome<'_>, file: Option<&str>) {
        let text = outcome.text.trim_end();
        if text.is_empty() {
            self.markup.raw("<p class=\"away\">(nothing)</p>\n");
        } else {
            let language = file.filter(|_| outcome.first_line.is_some());
            let language = language.and_then(Language::of_file);
            self.markup.pre(&[]);
            code::write(&mut self.markup, text, language.as_ref());
            self.markup.raw("</pre>\n");
        }
        if let Some(first) = outcome.first_line.filter(|first| *first > 1) {
            self.markup
                .raw("<p class=\"away\">from line ")
                .number(first)
                .raw("</p>\n");
        }
        if let Some(aside) = outcome.aside {
            self.markup.raw("<details class=\"aside\"><summary>");
            self.markup
                .element("span", "peek", "what the client put behind it");
            self.markup
                .raw("</summary>\n")
                .element("div", "plain", aside);
            self.markup.raw("</details>\n");
        }
        if !outcome.facts.is_empty() {
            self.markup.element("p", "away", &outcome.facts()).raw("\n");
        }
    }

    fn agent(&mut self, agent: &Tree) {
        self.markup
            .raw("<details class=\"agent\"><summary>what the sub-agent did</summary>\n");
        self.depth += 1;
        let around = self.inside.take();
        self.items(&agent.items);
        self.inside = around;
        self.depth -= 1;
        self.markup.raw("</details>\n");
    }

    /// A sub-agent that is read elsewhere.
    fn agent_link(&mut self, link: &AgentLink) {
        self.markup.raw("<p class=\"agent\">");
        self.markup
            .open("a", &[("href", Some(link.address.as_str()))]);
        self.markup.raw("what the sub-agent did").raw("</a>");
        if !link.title.is_empty() {
            self.markup.raw(" ").element("span", "away", &link.title);
        }
        self.markup.raw("</p>\n");
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// An object with one member.
fn json_of(key: &str, value: &Value) -> String {
    format!("{{{}:{value}}}", Value::from(key))
}
