//! Forms: what a page can ask its server to do. They work without a script.

use super::markup::Markup;

/// A form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageForm {
    /// Where it goes.
    pub address: String,
    /// Whether it only asks for a page, and changes nothing.
    pub is_question: bool,
    /// What it sends that nobody types.
    pub fields: Vec<(&'static str, String)>,
    /// What is typed.
    pub inputs: Vec<PageInput>,
    /// The word on its button.
    pub word: &'static str,
    /// What it is about, for who hears the page.
    pub about: String,
}

/// What is typed in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageInput {
    /// What it is sent as.
    pub name: &'static str,
    /// What stands before it.
    pub label: &'static str,
    /// What stands in it at first. Hostile until escaped.
    pub value: String,
    /// What may be typed.
    pub kind: PageInputKind,
}

/// What may be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageInputKind {
    /// A few words.
    Line,
    /// A number of at least one.
    Count,
    /// A text of many lines.
    Text,
    /// One of these.
    Choice(&'static [&'static str]),
}

/// Writes a form.
pub(super) fn write(markup: &mut Markup, form: &PageForm) {
    let attributes = [
        (
            "method",
            Some(if form.is_question { "get" } else { "post" }),
        ),
        ("action", Some(form.address.as_str())),
    ];
    markup.open("form", &attributes);
    for (name, value) in &form.fields {
        let attributes = [
            ("type", Some("hidden")),
            ("name", Some(*name)),
            ("value", Some(value.as_str())),
        ];
        markup.open("input", &attributes);
    }
    form.inputs
        .iter()
        .for_each(|input| self::input(markup, input));
    let about = Some(form.about.as_str()).filter(|about| !about.is_empty());
    let label = about.map(|about| format!("{}: {about}", form.word));
    let attributes = [("class", Some("button")), ("aria-label", label.as_deref())];
    markup.open("button", &attributes).raw(form.word);
    markup.raw("</button></form>\n");
}

fn input(markup: &mut Markup, input: &PageInput) {
    markup.raw("<label>").raw(input.label).raw(" ");
    let name = ("name", Some(input.name));
    let value = ("value", Some(input.value.as_str()));
    match input.kind {
        PageInputKind::Line => {
            let kind = ("type", Some("text"));
            markup.open("input", &[kind, name, value, ("autocomplete", Some("off"))]);
        }
        PageInputKind::Count => {
            let kind = ("type", Some("number"));
            markup.open("input", &[kind, name, value, ("min", Some("1"))]);
        }
        PageInputKind::Text => {
            let rows = ("rows", Some("8"));
            markup.open("textarea", &[name, rows, ("required", Some(""))]);
            markup.text(&input.value).raw("</textarea>");
        }
        PageInputKind::Choice(words) => {
            markup.open("select", &[name]);
            for word in words {
                let chosen = (input.value == *word).then_some("");
                markup.open("option", &[("selected", chosen)]);
                markup.text(word).raw("</option>");
            }
            markup.raw("</select>");
        }
    }
    markup.raw("</label> ");
}
