//! What a browser asks for.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use tract::deeds::page;
use tract::hash::CommitHash;
use tract::model::EntryId;

/// How long an address may be.
const ADDRESS_BYTES: usize = 8 << 10;

/// What stands in a segment of an address as something else.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request, as far as it was let in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether it is to change something.
    pub is_post: bool,
    /// What the path holds behind the token, between its slashes, decoded. The first page is one empty segment.
    pub segments: Vec<String>,
    /// The pairs behind `?`, decoded.
    pub query: Vec<(String, String)>,
    /// The pairs of a form that was sent.
    pub form: Vec<(String, String)>,
    /// The way from this page to the first one.
    pub root: String,
}

impl Asked {
    /// What this path and query ask for; none for what no address of ours looks like.
    pub fn of(path: &str, query: Option<&str>) -> Option<Self> {
        if path.len() + query.map_or(0, str::len) > ADDRESS_BYTES {
            return None;
        }
        let segment = |segment: &str| {
            let text = percent_decode_str(segment).decode_utf8().ok()?;
            let is_step = text == "." || text == "..";
            let is_ours = !is_step && !text.contains(['\0', '\\']);
            is_ours.then(|| text.into_owned())
        };
        let path = path.strip_prefix('/')?;
        let segments: Vec<String> = path.split('/').map(segment).collect::<Option<_>>()?;
        Some(Self {
            root: "../".repeat(segments.len().saturating_sub(1)),
            segments,
            query: pairs(query.unwrap_or_default().as_bytes()),
            ..Self::default()
        })
    }

    /// The first value of this name behind `?`, unless it is empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        let own = self.query.iter().find(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// The first value of this name in the form that was sent.
    pub fn sent(&self, name: &str) -> Option<&str> {
        let own = self.form.iter().find(|(own, _)| own == name);
        own.map(|(_, value)| value.as_str())
    }

    /// What the conversation is called whose page this is, if it is one's: `s/ID/PAGE`, where an id may hold slashes.
    pub fn session(&self) -> Option<String> {
        match self.segments.as_slice() {
            [first, id @ .., _] if first == "s" && !id.is_empty() => Some(id.join("/")),
            _ => None,
        }
    }
}

/// The pairs of a form or of what stands behind `?`.
pub fn pairs(bytes: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(bytes).into_owned().collect()
}

/// The address of a page of the conversation with this id, seen from the first page. `page` is empty for its own page.
pub fn session_address(id: &str, page: &str) -> String {
    let segments = id.split('/').map(segment);
    let id: Vec<Cow<'_, str>> = segments.collect();
    format!("s/{}/{page}", id.join("/"))
}

/// The address at which a conversation's page shows a message, seen from the first page.
pub fn message_address(id: &str, entry: &EntryId) -> String {
    let (commit, anchor) = (entry.commit, message_anchor(entry));
    session_address(id, &format!("?m={commit}#{anchor}"))
}

/// The same, seen from that page.
pub fn address_on_page(commit: &CommitHash) -> String {
    format!("./?m={commit}#{}", page::name_of(commit))
}

/// What a message is called on the page of its conversation.
pub fn message_anchor(entry: &EntryId) -> String {
    let index = entry.index.filter(|index| *index > 0);
    let index = index.map_or(String::new(), |index| format!("-{index}"));
    page::name_of(&entry.commit) + &index
}

/// A text as one segment of an address.
pub fn segment(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, SEGMENT).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_and_put_together_again() {
        for id in ["claude-code/1-2", "main", "a b/ü%2F?#", "x:y@z"] {
            let address = session_address(id, "request");
            let asked = Asked::of(&format!("/{address}"), None).expect("an address");
            assert_eq!(asked.segments.join("/"), format!("s/{id}/request"));
            assert_eq!(asked.root, "../".repeat(asked.segments.len() - 1));
        }
        let asked = Asked::of("/", Some("q=a+b&q=c&n=")).expect("an address");
        assert_eq!(asked.segments, [""]);
        assert_eq!((asked.value("q"), asked.value("n")), (Some("a b"), None));
        assert_eq!(asked.root, "");
    }

    #[test]
    fn what_is_no_address_of_ours_is_refused() {
        let long = format!("/{}", "a".repeat(9000));
        for path in [
            "",
            "x",
            "/..",
            "/s/%2e%2e/x",
            "/a%00b",
            "/%ff",
            "/a%5Cb",
            "/./x",
            &long,
        ] {
            assert_eq!(Asked::of(path, None), None, "{path}");
        }
    }
}
