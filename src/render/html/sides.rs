//! Lines that went and lines that came, side by side; on a narrow screen one below the other.

use super::markup::Markup;
use crate::diff::{Hunk, HunkLine, Json, JsonChange, JsonChanged, LineDiff, Tag, ValueDiff};

/// How much of a line is shown, in bytes.
const LINE_BYTES: usize = 4_000;
/// How many lines stand on one side before the rest is closed.
const OPEN_LINES: usize = 24;
/// How many lines are written at all.
const LINES: usize = 1_000;

/// What differs between two texts, or two values of JSON; `root` names the value in paths.
pub(super) fn value(markup: &mut Markup, root: &str, diff: &ValueDiff) {
    match diff {
        ValueDiff::Lines(diff) => hunks(markup, diff),
        ValueDiff::Json(None) => {
            let same = format!("{root}: the same JSON in another spelling");
            markup.element("p", "away", &same).raw("\n");
        }
        ValueDiff::Json(Some(diff)) => {
            for change in diff.changes() {
                json(markup, root, &change);
            }
        }
    }
}

/// The hunks of a text; one that is the whole text needs no line numbers.
pub(super) fn hunks(markup: &mut Markup, diff: &LineDiff) {
    let at_start = |hunk: &Hunk| (hunk.before, hunk.after) == (0, 0);
    let is_whole = matches!(&diff.hunks[..], [only] if at_start(only));
    for hunk in &diff.hunks {
        markup.raw("<div class=\"hunk\">\n");
        if !is_whole {
            let (before, after) = hunk.extent();
            let [old, new] = [hunk.before + 1, hunk.after + 1];
            let place = format!("@@ -{old},{before} +{new},{after} @@");
            markup.element("p", "place", &place).raw("\n");
        }
        let mut rest = &hunk.lines[..];
        while let Some(first) = rest.first() {
            let is_same = first.tag == Tag::Equal;
            let end = rest
                .iter()
                .position(|line| (line.tag == Tag::Equal) != is_same);
            let (run, others) = rest.split_at(end.unwrap_or(rest.len()));
            rest = others;
            if is_same {
                same(markup, run);
                continue;
            }
            let of = |tag: Tag| run.iter().filter(move |line| line.tag == tag);
            pair(
                markup,
                |markup| of(Tag::Removed).for_each(|line| self::line(markup, line)),
                |markup| of(Tag::Added).for_each(|line| self::line(markup, line)),
            );
        }
        markup.raw("</div>\n");
    }
}

/// Lines that both sides have. On a narrow screen, and to who does not see, they are there once.
fn same(markup: &mut Markup, lines: &[HunkLine]) {
    markup.raw("<div class=\"pair same\"><pre class=\"old\">");
    lines.iter().for_each(|line| self::line(markup, line));
    markup.raw("</pre><pre class=\"new\" aria-hidden=\"true\">");
    lines.iter().for_each(|line| self::line(markup, line));
    markup.raw("</pre></div>\n");
}

/// What went, and what came.
fn pair(markup: &mut Markup, old: impl FnOnce(&mut Markup), new: impl FnOnce(&mut Markup)) {
    markup.raw("<div class=\"pair\"><pre class=\"old\">");
    old(markup);
    markup.raw("</pre><pre class=\"new\">");
    new(markup);
    markup.raw("</pre></div>\n");
}

fn line(markup: &mut Markup, line: &HunkLine) {
    let (open, close) = match line.tag {
        Tag::Equal => ("<span>  ", "\n</span>"),
        Tag::Removed => ("<del>- ", "\n</del>"),
        Tag::Added => ("<ins>+ ", "\n</ins>"),
    };
    markup.raw(open);
    let mut left = LINE_BYTES;
    for piece in &line.pieces {
        let text = head(piece.text.trim_end_matches('\r'), left);
        left -= text.len();
        if piece.changed && line.tag != Tag::Equal {
            markup.raw("<em>").text(text).raw("</em>");
        } else {
            markup.text(text);
        }
        if text.len() < piece.text.trim_end_matches('\r').len() {
            markup.raw("…");
            break;
        }
    }
    markup.raw(close);
}

/// A text that is on one side alone.
pub(super) fn alone(markup: &mut Markup, tag: Tag, text: &str) {
    let count = text.lines().count();
    if count <= OPEN_LINES + 1 {
        return one_side(markup, tag, text.lines());
    }
    one_side(markup, tag, text.lines().take(OPEN_LINES));
    let more = crate::render::plural((count - OPEN_LINES) as u64, "more line");
    markup
        .raw("<details class=\"more\"><summary>")
        .text(&more)
        .raw("</summary>\n");
    one_side(markup, tag, text.lines().skip(OPEN_LINES).take(LINES));
    if count > OPEN_LINES + LINES {
        let rest = crate::render::plural((count - OPEN_LINES - LINES) as u64, "more line");
        markup.element("p", "away", &format!("and {rest}"));
    }
    markup.raw("</details>\n");
}

fn one_side<'t>(markup: &mut Markup, tag: Tag, lines: impl Iterator<Item = &'t str>) {
    let all = |markup: &mut Markup| {
        lines.for_each(|text| line(markup, &HunkLine::plain(tag, text)));
    };
    match tag {
        Tag::Removed => pair(markup, all, |_| {}),
        _ => pair(markup, |_| {}, all),
    }
}

/// Two short texts, one in the place of the other.
pub(super) fn replaced(markup: &mut Markup, name: &str, before: &str, after: &str) {
    markup.element("h4", "key", name).raw("\n");
    let of = |tag, text: &str| {
        text.lines()
            .map(move |text| HunkLine::plain(tag, text))
            .collect()
    };
    let [old, new]: [Vec<HunkLine>; 2] = [of(Tag::Removed, before), of(Tag::Added, after)];
    pair(
        markup,
        |markup| old.iter().take(LINES).for_each(|it| line(markup, it)),
        |markup| new.iter().take(LINES).for_each(|it| line(markup, it)),
    );
}

/// One difference of a JSON value.
fn json(markup: &mut Markup, root: &str, change: &JsonChange<'_>) {
    let path = match change.path.as_str() {
        "" => root.to_owned(),
        path if path.starts_with('[') => format!("{root}{path}"),
        path => format!("{root}.{path}"),
    };
    match change.what {
        JsonChanged::Replaced(before, after) => {
            replaced(markup, &path, &read(before), &read(after))
        }
        JsonChanged::Text(diff) => {
            markup.element("h4", "key", &path).raw("\n");
            hunks(markup, diff);
        }
        JsonChanged::Added(value) => {
            markup.element("h4", "key", &path).raw("\n");
            alone(markup, Tag::Added, &read(value));
        }
        JsonChanged::Removed(value) => {
            markup.element("h4", "key", &path).raw("\n");
            alone(markup, Tag::Removed, &read(value));
        }
    }
}

/// A value as it is read: a text of several lines as such.
fn read(value: &Json) -> String {
    match value {
        Json::String(text) if text.contains('\n') => text.clone(),
        value => value.pretty(),
    }
}

fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
