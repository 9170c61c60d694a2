//! What of a page that is open somewhere differs from the page as it is now: splices of children, as small as elements
//! allow. Whoever does them in their order has the new page.
//!
//! Both pages were written by the painters here, so that their markup is well formed. Deliberately absent: what is on
//! the page, and who is told.

use serde::Serialize;

/// Elements whose children may come and go one by one.
const OPENED: [&str; 4] = ["article", "section", "details", "div"];
/// How deep elements are looked into.
const DEPTH: usize = 32;
/// Elements that have no end.
const VOID: [&str; 6] = ["br", "hr", "img", "input", "meta", "link"];

/// Children of an element in place of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Splice {
    /// The way to the element, from the outermost one: which child, of that which child.
    pub path: Vec<usize>,
    /// How many children it has before.
    pub of: usize,
    /// The first of those that go; what comes stands in its place.
    pub at: usize,
    /// How many go.
    pub drop: usize,
    /// What comes.
    pub html: String,
}

/// A piece of a page, with the elements in it.
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    html: String,
    /// What it is called where it stands on a page.
    state: String,
    children: Vec<Element>,
}

/// An element, by its places in the text of the page.
#[derive(Clone, Debug)]
struct Element {
    start: usize,
    /// Behind its beginning.
    inside: usize,
    end: usize,
    /// Its children, where nothing but those stand in it and they may come and go.
    children: Option<Vec<Self>>,
}

impl Fragment {
    /// Of what a painter wrote.
    pub fn of(html: String) -> Self {
        Self::with_state(html, String::new())
    }

    /// The same, with what it is called where it stands on a page.
    pub(super) fn with_state(html: String, state: String) -> Self {
        let children = Reader::new(&html).children().unwrap_or_default();
        Self {
            html,
            state,
            children,
        }
    }

    /// What it is called where it stands on a page, to tell it from what stood there before.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Its text.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// How many elements stand side by side in it.
    pub fn len(&self) -> usize {
        self.children.len()
    }

    /// Whether no element stands in it.
    pub fn is_empty(&self) -> bool {
        self.children.is_empty()
    }

    /// What makes the newer fragment of this one.
    pub fn splices(&self, new: &Self) -> Vec<Splice> {
        let mut splices = Vec::new();
        let (old, now) = ((self, &self.children[..]), (new, &new.children[..]));
        differ(old, now, &mut Vec::new(), &mut splices);
        splices
    }

    fn text(&self, element: &Element) -> &str {
        &self.html[element.start..element.end]
    }

    fn tag(&self, element: &Element) -> &str {
        &self.html[element.start..element.inside]
    }
}

/// Some neighbours of a fragment.
type Children<'a> = (&'a Fragment, &'a [Element]);

fn differ(
    (old, before): Children<'_>,
    (new, after): Children<'_>,
    path: &mut Vec<usize>,
    splices: &mut Vec<Splice>,
) {
    let of = before.len();
    let same = |(a, b): &(&Element, &Element)| old.text(a) == new.text(b);
    let front = before.iter().zip(after).take_while(same).count();
    let (before, after) = (&before[front..], &after[front..]);
    let backward = before.iter().rev().zip(after.iter().rev());
    let back = backward.take_while(same).count();
    let (mut before, mut after) = (&before[..before.len() - back], &after[..after.len() - back]);
    let mut at = front;
    // Elements that begin alike stay, and what is in them changes.
    while let ([a, rest @ ..], [b, others @ ..]) = (before, after)
        && let (Some(inside), Some(now)) = (&a.children, &b.children)
        && old.tag(a) == new.tag(b)
    {
        path.push(at);
        differ((old, inside), (new, now), path, splices);
        path.pop();
        (before, after, at) = (rest, others, at + 1);
    }
    if before.is_empty() && after.is_empty() {
        return;
    }
    let html = match after {
        [first, .., last] => &new.html[first.start..last.end],
        [one] => new.text(one),
        [] => "",
    };
    splices.push(Splice {
        path: path.clone(),
        of,
        at,
        drop: before.len(),
        html: html.to_owned(),
    });
}

/// What reads our own markup.
struct Reader<'a> {
    html: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    const fn new(html: &'a str) -> Self {
        let (at, depth) = (0, 0);
        Self { html, at, depth }
    }

    /// The elements up to the end of the one around; none where a text stands among them.
    fn children(&mut self) -> Option<Vec<Element>> {
        let mut children = Vec::new();
        let mut is_text = false;
        while let Some(found) = self.html[self.at..].find('<') {
            let start = self.at + found;
            is_text |= !self.html[self.at..start].trim().is_empty();
            self.at = start;
            if self.html[start..].starts_with("</") {
                return Some(children).filter(|_| !is_text);
            }
            children.push(self.element());
        }
        is_text |= !self.html[self.at..].trim().is_empty();
        self.at = self.html.len();
        Some(children).filter(|_| !is_text)
    }

    /// The element that begins here.
    fn element(&mut self) -> Element {
        let start = self.at;
        let name = self.tag();
        let inside = self.at;
        let mut children = None;
        if !VOID.contains(&name) {
            if self.depth < DEPTH {
                self.depth += 1;
                children = self.children().filter(|_| OPENED.contains(&name));
                self.depth -= 1;
                self.tag();
            } else {
                self.skip();
            }
        }
        let end = self.at;
        Element {
            start,
            inside,
            end,
            children,
        }
    }

    /// Goes behind a tag; its name.
    fn tag(&mut self) -> &'a str {
        let rest = &self.html[self.at..];
        let end = rest.find('>').map_or(rest.len(), |at| at + 1);
        self.at += end;
        let name = rest[..end].trim_start_matches(['<', '/']);
        let is_name = |c: char| c.is_ascii_alphanumeric();
        &name[..name.find(|c| !is_name(c)).unwrap_or(name.len())]
    }

    /// Goes behind the end of the element that has begun, whatever stands in it.
    fn skip(&mut self) {
        let mut open = 1_usize;
        while let Some(found) = self.html[self.at..].find('<').filter(|_| open > 0) {
            self.at += found;
            let is_end = self.html[self.at..].starts_with("</");
            let name = self.tag();
            match is_end {
                true => open -= 1,
                false if VOID.contains(&name) => {}
                false => open += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An element as a browser knows it.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Known {
        tag: String,
        /// What stands in it, where that is no element.
        text: Option<String>,
        children: Vec<Known>,
    }

    impl Known {
        fn all(html: &str) -> Vec<Self> {
            let fragment = Fragment::of(html.to_owned());
            Self::of(&fragment, &fragment.children)
        }

        fn of(fragment: &Fragment, elements: &[Element]) -> Vec<Self> {
            let one = |element: &Element| {
                let children = element.children.as_ref();
                Self {
                    tag: fragment.tag(element).to_owned(),
                    text: children
                        .is_none()
                        .then(|| fragment.text(element).to_owned()),
                    children: children.map_or(Vec::new(), |them| Self::of(fragment, them)),
                }
            };
            elements.iter().map(one).collect()
        }
    }

    fn apply(mut page: Vec<Known>, splices: &[Splice]) -> Vec<Known> {
        for splice in splices {
            let mut children = &mut page;
            for step in &splice.path {
                children = &mut children[*step].children;
            }
            assert_eq!(children.len(), splice.of, "{splice:?}");
            let place = splice.at..splice.at + splice.drop;
            children.splice(place, Known::all(&splice.html));
        }
        page
    }

    fn splices(before: &str, after: &str) -> Vec<Splice> {
        Fragment::of(before.to_owned()).splices(&Fragment::of(after.to_owned()))
    }

    #[test]
    fn what_comes_at_the_end_of_an_element_is_all_that_is_told() {
        let turn = |said: &str| {
            format!(
                "<article class=\"turn\">\n<section class=\"b user\">\n<p>go<br>on</p></section>\n\
                 <section class=\"response\">\n<h2>assistant</h2>\n{said}</section>\n</article>\n"
            )
        };
        let call = "<details class=\"b tool is-pending\"><summary>ls</summary>\n</details>\n";
        let told = splices(&turn(""), &turn(call));
        let [one] = &told[..] else {
            panic!("{told:?}");
        };
        assert_eq!(
            (one.path.clone(), one.of, one.at, one.drop),
            (vec![0, 1], 1, 1, 0)
        );
        assert_eq!(one.html.trim_end(), call.trim_end());
        assert_eq!(splices(&turn(call), &turn(call)), []);
        let answered = call.replace("pending", "success");
        let told = splices(&turn(call), &turn(&answered));
        assert_eq!((told.len(), told[0].at, told[0].drop), (1, 1, 1));
        let (before, after) = (turn(call), turn(&answered) + &turn(""));
        assert_eq!(
            apply(Known::all(&before), &splices(&before, &after)),
            Known::all(&after)
        );
    }

    #[test]
    fn elements_without_end_are_read_without_depth() {
        let deep = "<div>".repeat(100_000) + "x" + &"</div>".repeat(100_000);
        let told = splices("<div></div>", &deep);
        assert_eq!((told.len(), Fragment::of(deep).len()), (1, 1));
        // What is not well formed is one leaf.
        assert_eq!(Fragment::of("<div><p".to_owned()).len(), 1);
    }

    /// Some markup: elements that are opened and others, texts, and those that have no end.
    fn markup() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("<hr>\n".to_owned()),
            "[a-c]{1,2}".prop_map(|text| format!("<p>{text}</p>")),
            "[a-c]{1,2}".prop_map(|text| format!("<div class=\"b\">{text}</div>\n")),
        ];
        let element = leaf.prop_recursive(4, 24, 4, |inner| {
            let tag = prop::sample::select(vec!["article", "section", "details", "div", "ul"]);
            let class = prop::sample::select(vec!["", " class=\"x\""]);
            let inside = prop::collection::vec(inner, 0..4).prop_map(|all| all.concat());
            (tag, class, inside)
                .prop_map(|(tag, class, inside)| format!("<{tag}{class}>{inside}</{tag}>\n"))
        });
        prop::collection::vec(element, 0..5).prop_map(|all| all.concat())
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(256))]
        /// Splices done in their order make the new page of the old one.
        #[test]
        fn splices_make_the_new_page((before, after) in (markup(), markup())) {
            let made = apply(Known::all(&before), &splices(&before, &after));
            prop_assert_eq!(made, Known::all(&after));
        }
    }
}
