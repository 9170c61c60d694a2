//! What can be done to a conversation or to a message of it, as forms.

use tract::hash::CommitHash;
use tract::ingest::{Conversation, Scope};
use tract::model::{EntryId, Priority, RefName, preview};
use tract::render::html::{DeedPage, PageForm, PageInput, PageInputKind, Standing, deed as page};
use tract::render::plural;
use tract::repo::{On, Repo};

use super::deed::Deed;
use super::site::Opened;
use super::{Answer, Asked, Site, session_address};
use crate::cli::{Failure, Result};

/// How much of a message is said of it.
const ABOUT_CHARS: usize = 120;

/// Where a branch is.
pub fn tip_of(repo: &Repo, branch: &RefName) -> Result<Option<CommitHash>> {
    Ok(repo.head(&On::Branch(branch.clone()))?.commit())
}

/// The page of what can be done to a message, or to a conversation.
pub fn choices(site: &Site, asked: &Asked, opened: &Opened<'_>) -> Result<Answer> {
    let frame = site.frame(asked);
    let mut links = vec![(
        frame.address(&session_address(opened.id, "")),
        "Back to the conversation".to_owned(),
    )];
    let refuse = |what: &str, hint: &str, links: Vec<(String, String)>| {
        let words = [what, hint].map(|line| line.to_owned().into()).to_vec();
        let shown = DeedPage {
            title: "Nothing can be changed here".to_owned(),
            about: vec![opened.id.to_owned()],
            standing: Standing::Refused,
            words,
            links,
            ..DeedPage::default()
        };
        Ok(Answer::page(page(&frame, &shown)))
    };
    if !opened.is_kept() {
        let hint = format!("tract import {} brings it in", opened.id);
        return refuse("This session is in no repository.", &hint, links);
    }
    let branch = match &opened.name {
        Some(name) => opened.repo.branch_of(name)?,
        None => None,
    };
    let Some(branch) = branch else {
        let hint = format!("tract branch NAME {} makes one", opened.id);
        return refuse(
            "No branch follows it, and commands act on branches.",
            &hint,
            links,
        );
    };
    let tip = tip_of(opened.repo, &branch)?;
    let seen = asked.value("tip").unwrap_or_default();
    let is_own = opened.name.as_ref() == Some(&branch);
    if is_own && !seen.is_empty() && tip.is_none_or(|tip| !tip.to_string().starts_with(seen)) {
        let what = format!("{} has moved since that page was made.", branch.short());
        return refuse(&what, "Look again, then choose.", links);
    }
    if !is_own {
        let address = frame.address(&session_address(branch.short(), ""));
        links.push((address, format!("The branch {}", branch.short())));
    }
    let common = Common {
        site,
        asked,
        branch: branch.short().to_owned(),
        expect: tip.map_or("none".to_owned(), |tip| tip.to_string()),
    };
    let (title, about, forms) = match asked.value("rev") {
        Some(rev) => of_message(&common, opened, tip, rev)?,
        None => of_conversation(&common, opened)?,
    };
    let shown = DeedPage {
        title,
        about: [vec![format!("on {}", branch.short())], about].concat(),
        forms,
        links,
        ..DeedPage::default()
    };
    Ok(Answer::page(page(&frame, &shown)))
}

/// What all forms of a page send.
struct Common<'a> {
    site: &'a Site,
    asked: &'a Asked,
    branch: String,
    expect: String,
}

impl Common<'_> {
    fn form(&self, deed: Deed, word: &'static str) -> PageForm {
        PageForm {
            address: self.site.frame(self.asked).address("act"),
            fields: vec![
                ("deed", deed.word().to_owned()),
                ("on", self.branch.clone()),
                ("expect", self.expect.clone()),
            ],
            word,
            ..PageForm::default()
        }
    }
}

/// A title, what is said below it, and groups of forms.
type Choices = (String, Vec<String>, Vec<(&'static str, Vec<PageForm>)>);

/// What can be done to a message of the branch.
fn of_message(
    common: &Common<'_>,
    opened: &Opened<'_>,
    tip: Option<CommitHash>,
    rev: &str,
) -> Result<Choices> {
    let nothing = || Failure::refused(format!("there is no message {rev} on {}", common.branch));
    let id = opened.repo.resolve_entry(&On::Head, rev)?;
    let talk = Conversation::open(opened.repo, &tip.ok_or_else(nothing)?, Scope::All)?;
    let place = talk
        .place_of(opened.repo, &id, talk.len())?
        .ok_or_else(nothing)?;
    let rows = talk
        .listed()
        .read(opened.repo, place..place.saturating_add(1))?;
    let row = rows.first().ok_or_else(nothing)?;
    let (_, message) = talk.message(opened.repo, place)?.ok_or_else(nothing)?;
    let rev = rev_of(&id);
    let form = |deed, word| {
        let mut form = common.form(deed, word);
        form.fields.push(("rev", rev.clone()));
        form
    };
    let mut forms = Vec::new();
    if row.number.is_some() {
        let pin = match row.entry.priority {
            Priority::Pinned => form(Deed::Unpin, "Unpin"),
            _ => form(Deed::Pin, "Pin"),
        };
        forms.push(("", vec![pin, form(Deed::Drop, "Drop")]));
    } else {
        forms.push(("", vec![form(Deed::Restore, "Restore")]));
    }
    let mut copy = form(Deed::Pick, "Copy to the end of a branch");
    // What a form names as its branch is typed here, and is where it is when the copy is foretold.
    copy.fields
        .retain(|(name, _)| !matches!(*name, "on" | "expect"));
    let head = opened.repo.head(&On::Head)?;
    let head = head.branch().map(|branch| branch.short().to_owned());
    copy.inputs.push(PageInput {
        name: "on",
        label: "Branch",
        value: head.unwrap_or_else(|| common.branch.clone()),
        kind: PageInputKind::Line,
    });
    forms.push(("", vec![copy]));
    let name = match row.number {
        Some(number) => format!(":{number}"),
        None => id.commit.short(),
    };
    let said: String = preview(&message).chars().take(ABOUT_CHARS).collect();
    let about = vec![message.role.as_str().to_owned(), said];
    Ok((format!("Message {name}"), about, forms))
}

/// What can be done to a conversation.
fn of_conversation(common: &Common<'_>, opened: &Opened<'_>) -> Result<Choices> {
    let keep = |value: &str, label| PageInput {
        name: "keep",
        label,
        value: value.to_owned(),
        kind: PageInputKind::Count,
    };
    let mut truncate = common.form(Deed::Truncate, "Hide the oldest");
    truncate.inputs.push(keep("20", "Keep the newest"));
    let mut compact = common.form(Deed::Compact, "Put it in their place");
    compact.inputs = vec![
        PageInput {
            name: "text",
            label: "Summary",
            value: String::new(),
            kind: PageInputKind::Text,
        },
        keep("10", "Keep the newest"),
    ];
    let mut forms = vec![
        ("Hide the oldest messages", vec![truncate]),
        ("A summary in place of messages", vec![compact]),
    ];
    if let (Ok(Some(_)), Some(newest)) = (opened.repo.undoable(), opened.repo.newest_operation()?) {
        let mut undo = common.form(Deed::Undo, "Undo the newest command");
        undo.fields = vec![
            ("deed", Deed::Undo.word().to_owned()),
            ("newest", newest.to_string()),
        ];
        forms.push(("What was done last, on any branch", vec![undo]));
    }
    let count = opened.repo.outline(&opened.tip)?.visible().len();
    let about = vec![plural(count as u64, "visible message")];
    Ok((opened.id.to_owned(), about, forms))
}

/// A message as commands take it.
pub fn rev_of(id: &EntryId) -> String {
    match id.index {
        Some(index) => format!("{:.12}#{index}", id.commit),
        None => format!("{:.12}", id.commit),
    }
}
