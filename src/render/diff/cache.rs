//! What a provider's prompt cache can still use.

use crate::diff::Side;
use crate::render::diff::Painter;
use crate::render::diff::page::Page;
use crate::render::{Label, bytes, grouped, percent, plural, table, tokens};

/// Under `cache   `.
const INDENT: usize = 8;
/// How many characters of a context's name are repeated here.
const NAME_COLS: usize = 20;

impl Painter<'_> {
    /// How much of the beginning is the same, and where the first difference is.
    pub(super) fn cache(&self, page: &mut Page) {
        let (diff, Some(prefix)) = (self.diff, &self.frame.prefix) else {
            return;
        };
        let (old, new) = (diff.before.len(), diff.after.len());
        if old == 0 || new == 0 {
            return;
        }
        let (same, provider) = (prefix.messages, prefix.provider);
        let kept = diff.after.total_of(same);
        let percent = percent(kept.tokens, diff.after.total().tokens);
        let of = plural(new as u64, "message");
        let size = bytes(prefix.size_bytes as u64);
        let mut words = match same {
            0 => vec!["no message from the start is identical".to_owned()],
            _ if same == old && same == new => vec![format!("all {of} identical")],
            _ => {
                let first = format!("first {} of {of} identical", grouped(same as u64));
                let (tokens, size) = (tokens(kept), format!("{size} for {provider}"));
                let whole = format!("{first} ({tokens} tokens, {percent}; {size})");
                match page.width_cols {
                    Some(width) if INDENT + whole.chars().count() > width => {
                        vec![first, format!("{tokens} tokens, {percent}"), size]
                    }
                    _ => vec![whole],
                }
            }
        };
        let but_for_ids = diff.same_but_for_ids();
        if but_for_ids > same {
            let first = grouped(but_for_ids as u64);
            words.push(format!("same but for ids: first {first}"));
        }
        let head = Label::Strong.of("cache") + "   ";
        page.lines
            .extend(table::folded(head, &words, ";", page.width_cols));
        if same < old || same < new {
            let (before, after) = &self.frame.names;
            let place = |name: &str, side: &Side| {
                let name = ending(name, NAME_COLS);
                match side.entry(same) {
                    Some(entry) => format!("{name} {}", entry.id.commit.short()),
                    None => format!("{name} ends before it"),
                }
            };
            let places = match (diff.before.entry(same), diff.after.entry(same)) {
                (Some(old), Some(new)) if old.id == new.id => old.id.commit.short(),
                _ => {
                    let before = place(before, &diff.before);
                    format!("{before}, {}", place(after, &diff.after))
                }
            };
            let line = format!("first difference: :{} ({places})", same + 1);
            page.push(INDENT, line);
        }
        let whole: Vec<&str> = ["model", "tools"]
            .into_iter()
            .filter(|key| diff.before.settings.get(*key) != diff.after.settings.get(*key))
            .collect();
        if !whole.is_empty() {
            let what = whole.join(" and ");
            let s = if whole == ["model"] { "s" } else { "" };
            let line = format!("but {what} differ{s}: a provider's cache then keeps nothing");
            page.push(INDENT, line);
        }
    }
}

/// The end of a long name: session and trial tell branches apart there.
fn ending(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let end: String = name.chars().skip(count + 1 - most).collect();
    format!("…{end}")
}
