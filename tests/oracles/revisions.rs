//! Whatever is typed as a revision or a name: it means one thing or nothing, and what it means can be
//! written down and means the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use tract::Result;
use tract::compile::Provider;
use tract::context::plan::truncate::Fraction;
use tract::error::Error;
use tract::hash::{CommitHash, ContentHash, HashPrefix};
use tract::model::pattern::Pattern;
use tract::model::{Draft, Encoding, EntryId, Message, Priority, RefName, Role};
use tract::query::FindOptions;
use tract::repo::{Call, CommitOptions, Named, On, Repo};
use tract::rewrite::SurgeryOptions;

/// A repository with names of every kind, and what is hard to tell apart.
pub struct World {
    repo: Repo,
    side: On,
}

impl World {
    /// It is only read: one serves many texts.
    pub fn new() -> Self {
        let repo = Repo::ephemeral().expect("a repository");
        let options = CommitOptions::default();
        for (role, text) in [
            (Role::System, "be brief"),
            (Role::User, "one..two @{3} :/x"),
            (Role::Assistant, "HEAD~1"),
            (Role::User, "three ^ é 🙂"),
            (Role::Assistant, "four"),
        ] {
            let draft = Draft::append(Message::text(role, text));
            repo.commit(Call::default(), &[draft], &options)
                .expect("committed");
        }
        for name in ["side", "a/b", "été", "main-2", "x@y"] {
            let name = RefName::branch(name).expect("a name");
            repo.create_branch(Call::default(), &name, "HEAD~1")
                .expect("made");
        }
        for name in ["v1", "side", "deadbee"] {
            let name = RefName::tag(name).expect("a name");
            // A name that could be a hash is refused, which is one answer.
            drop(repo.create_tag(Call::default(), &name, "HEAD~2", Some("a note")));
        }
        let on = On::Branch(RefName::branch("side").expect("a name"));
        let draft = Draft::append(Message::text(Role::User, "aside"));
        repo.commit(Call::default().on(&on), &[draft], &options)
            .expect("committed");
        repo.clear(Call::default().on(&on), true, &SurgeryOptions::default())
            .expect("cleared");
        Self { repo, side: on }
    }

    /// Holds a text against what is promised.
    pub fn hold(&self, text: &str) {
        for on in [&On::Head, &self.side] {
            self.revision(on, text);
        }
        if let Some(name) = answered(self.repo.reference_named(text)) {
            assert_eq!(
                self.repo
                    .reference_named(name.as_str())
                    .expect("a full name"),
                name
            );
        }
        for pattern in [Pattern::text(text), Pattern::regex(text)] {
            match pattern {
                Ok(pattern) => {
                    let find = FindOptions::new(pattern);
                    self.repo
                        .find_messages(&On::Head, &find, &mut |_| Ok(()))
                        .expect("it is looked for");
                }
                Err(Error::InvalidInput { .. }) => {}
                Err(error) => panic!("refused: {error:?}"),
            }
        }
        names(text);
    }

    fn revision(&self, on: &On, text: &str) {
        let repo = &self.repo;
        let found = answered(repo.resolve(on, text));
        if let Some(commit) = &found {
            for spelled in [commit.to_string(), format!("{commit}~0")] {
                assert_eq!(repo.resolve(on, &spelled).expect("a commit"), *commit);
            }
            repo.show(commit, Encoding::default()).expect("it is there");
        }
        assert_eq!(
            answered(repo.resolve(on, text)),
            found,
            "otherwise the second time"
        );
        if let Some((to, after)) = answered(repo.resolve_range(on, text)) {
            let after = after.map_or(String::new(), |after| format!("{after}.."));
            let (again, _) = repo
                .resolve_range(on, &format!("{after}{to}"))
                .expect("commits");
            assert_eq!(again, to);
        }
        if let Some(entry) = answered(repo.resolve_entry(on, text)) {
            let again = repo.resolve_entry(on, &entry.to_string());
            assert_eq!(again.expect("an entry's own name"), entry);
            let named = answered(repo.resolve_named(on, text));
            assert!(named.is_some(), "a message that is named by none");
        }
        if let Some(Named::Part(entry, part)) = answered(repo.resolve_named(on, text)) {
            let again = repo.resolve_named(on, &format!("{entry}#{part}"));
            assert_eq!(again.expect("its own name"), Named::Part(entry, part));
        }
        answered(repo.resolve_part(on, text));
    }
}

/// What was found; none where there is no such thing.
fn answered<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(found) => Some(found),
        Err(
            Error::UnknownRevision { .. }
            | Error::AmbiguousRevision { .. }
            | Error::NoSuchMessage { .. }
            | Error::BeyondFirst { .. }
            | Error::EmptyBranch { .. }
            | Error::NotOnPath { .. }
            | Error::NoMessage { .. }
            | Error::InvalidInput { .. }
            | Error::InvalidHash { .. }
            | Error::NoPreviousPosition,
        ) => None,
        Err(error) => panic!("refused: {error:?}"),
    }
}

/// What parses prints, and parses again as the same.
fn prints<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let printed = value.to_string();
        let Ok(again) = printed.parse::<T>() else {
            panic!("{printed:?} of {text:?} is none");
        };
        assert_eq!(again, value, "{text:?}");
        assert_eq!(again.to_string(), printed);
    }
}

fn names(text: &str) {
    prints::<RefName>(text);
    prints::<CommitHash>(text);
    prints::<ContentHash>(text);
    prints::<EntryId>(text);
    prints::<Role>(text);
    prints::<Priority>(text);
    prints::<Provider>(text);
    let _ = text.parse::<Fraction>();
    if let Some(prefix) = HashPrefix::parse(text) {
        let again = HashPrefix::parse(prefix.as_str()).expect("a prefix");
        assert_eq!(again.range(), prefix.range());
        assert!(prefix.range().0 <= prefix.range().1);
    }
    for made in [RefName::branch(text), RefName::tag(text)]
        .into_iter()
        .flatten()
    {
        let again: RefName = made.as_str().parse().expect("a full name");
        assert_eq!(again, made);
        let short = if made.is_branch() {
            RefName::branch(made.short())
        } else {
            RefName::tag(made.short())
        };
        assert_eq!(short.expect("its short name"), made, "{text:?}");
    }
    let (tool, id) = text.split_once('/').unwrap_or(("tool", text));
    let session = RefName::session("tool", id);
    assert_eq!(
        session
            .as_str()
            .parse::<RefName>()
            .expect("any id makes a name"),
        session
    );
    assert_eq!(session, RefName::session("tool", id));
    session.path(tool).expect("any id makes a name");
}

/// Revisions in every form that is read.
pub fn seeds() -> Vec<Vec<u8>> {
    [
        "HEAD",
        "@",
        "HEAD~2",
        "HEAD^^",
        "main@{1}",
        ":2",
        ":-1",
        "side:1",
        ":/three",
        "v1",
        "refs/tags/side",
        "HEAD~3..HEAD",
        "..side",
        ":/one..two",
        ":3#0",
        "a/b#1",
        "ORIG_HEAD",
        "PREV_HEAD",
        "refs/heads/été",
        "main~1:2#0",
        "x@y",
        "x@y@{0}",
        "deadbee",
        "main-2",
        "HEAD~99999999999999999999",
        ":-9223372036854775808",
        "0000",
        "refs/sessions/codex/a",
        "@{0}",
        "#0",
        "(?i)four|x{3}",
        "user",
        "pinned",
        "50%",
        "0.25",
        "4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9#12",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
