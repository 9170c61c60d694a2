//! Names that point at commits.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::hash::{CommitHash, HashPrefix, as_text, fingerprint};

/// The full name of a ref: `HEAD`, `ORIG_HEAD`, `PREV_HEAD`, `refs/heads/main`,
/// `refs/tags/v1`, `refs/sessions/claude-code/ID`, `refs/remotes/origin/main`; and `at/home/me/project-…/HEAD`, which is
/// that of a directory, for those who stand elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(String);

/// What a ref holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefValue {
    /// A commit.
    Commit(CommitHash),
    /// Another ref, by name.
    Symbolic(RefName),
}

/// Where HEAD is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// On a branch, which may have no commit yet.
    Attached {
        /// The branch's full name.
        branch: RefName,
        /// Its tip; none while the branch is empty.
        tip: Option<CommitHash>,
    },
    /// At a commit, off every branch.
    Detached(CommitHash),
}

impl RefValue {
    /// The commit, unless it is another ref's.
    pub fn commit(&self) -> Option<CommitHash> {
        match self {
            Self::Commit(commit) => Some(*commit),
            Self::Symbolic(_) => None,
        }
    }
}

impl Head {
    /// The commit that HEAD stands on; none in an empty repository.
    pub fn commit(&self) -> Option<CommitHash> {
        match self {
            Self::Attached { tip, .. } => *tip,
            Self::Detached(commit) => Some(*commit),
        }
    }

    /// The branch that HEAD is on.
    pub fn branch(&self) -> Option<&RefName> {
        match self {
            Self::Attached { branch, .. } => Some(branch),
            Self::Detached(_) => None,
        }
    }
}

impl RefName {
    /// Where branches live.
    pub const HEADS: &'static str = "refs/heads/";
    /// Where tags live.
    pub const TAGS: &'static str = "refs/tags/";
    /// Where imported sessions live.
    pub const SESSIONS: &'static str = "refs/sessions/";
    /// Where it stands what refs of other repositories were last seen at.
    pub const REMOTES: &'static str = "refs/remotes/";

    /// Where the positions of other directories and other people live.
    pub(crate) const ELSEWHERE: [&'static str; 2] = [AT, BY];

    /// `HEAD`.
    pub fn head() -> Self {
        Self("HEAD".to_owned())
    }

    /// `ORIG_HEAD`: where a soft reset came from.
    pub fn orig_head() -> Self {
        Self("ORIG_HEAD".to_owned())
    }

    /// `PREV_HEAD`: what `checkout -` goes to.
    pub fn prev_head() -> Self {
        Self("PREV_HEAD".to_owned())
    }

    /// Whether this is one of those that say where somebody stands: `HEAD` and the two beside it, anybody's.
    pub fn is_position(&self) -> bool {
        !self.0.starts_with("refs/")
    }

    /// Whether this is a `HEAD`, anybody's.
    pub(crate) fn is_head(&self) -> bool {
        self.0 == "HEAD" || self.is_elsewhere() && self.0.ends_with("/HEAD")
    }

    /// What `HEAD`, or one beside it, of a directory is called for those who stand elsewhere:
    /// `at/home/me/project-…/HEAD`.
    pub(crate) fn of_directory(&self, directory: &str) -> Self {
        Self(format!("{AT}{}/{self}", nameable(directory)))
    }

    /// What `HEAD`, or one beside it, of a person is called for everybody else: `by/Mara/HEAD`.
    pub(crate) fn of_person(&self, name: &str) -> Self {
        Self(format!("{BY}{}/{self}", nameable(name)))
    }

    /// What `HEAD`, or one beside it, of nobody is called for those who have one of their own: `at/HEAD`.
    pub(crate) fn of_none(&self) -> Self {
        Self(format!("{AT}{self}"))
    }

    /// Whether this is how somebody's who stands elsewhere is called.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.0.starts_with(AT) || self.0.starts_with(BY)
    }

    /// `refs/heads/NAME`, or NAME where it begins so already.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`] by the rules of [`RefName::from_str`], and for `HEAD` and names
    /// that begin with `-`.
    pub fn branch(name: &str) -> Result<Self> {
        let bare = name.strip_prefix(Self::HEADS).unwrap_or(name);
        if bare == "HEAD" || bare.starts_with('-') {
            return refused(name, "not a branch's name");
        }
        Self::below(Self::HEADS, name)
    }

    /// The name below a folder, which may be given with it; an error names it as it was typed.
    fn below(folder: &str, name: &str) -> Result<Self> {
        let bare = name.strip_prefix(folder).unwrap_or(name);
        match format!("{folder}{bare}").parse() {
            Err(Error::InvalidRefName { reason, .. }) => refused(name, reason),
            parsed => parsed,
        }
    }

    /// `refs/tags/NAME`.
    ///
    /// # Errors
    ///
    /// As [`RefName::branch`].
    pub fn tag(name: &str) -> Result<Self> {
        Self::branch(name.strip_prefix(Self::TAGS).unwrap_or(name))?;
        Self::below(Self::TAGS, name)
    }

    /// `refs/remotes/REMOTE/NAME` for a branch of another repository, `refs/remotes/REMOTE/tags/NAME` and
    /// `refs/remotes/REMOTE/sessions/TOOL/ID` for what else it has.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`] for a remote's name that is more than one piece of a ref's, and for a branch
    /// that would stand where a tag or a session does.
    pub fn of_remote(remote: &str, name: &Self) -> Result<Self> {
        if remote.contains('/') || remote.starts_with('-') {
            return refused(remote, "a remote's name is one word");
        }
        let below = match name.0.strip_prefix(Self::HEADS) {
            Some(branch) if branch.starts_with("tags/") || branch.starts_with("sessions/") => {
                return refused(
                    branch,
                    "among a remote's branches, it would be a tag or a session",
                );
            }
            Some(branch) => branch,
            None => name.0.strip_prefix("refs/").unwrap_or(&name.0),
        };
        format!("{}{remote}/{below}", Self::REMOTES).parse()
    }

    /// `refs/sessions/TOOL/ID`. An `id` that cannot stand in a name, or is too long for one, is
    /// changed and cut, and ends with a hash of the whole, so that no two ids share a name.
    pub fn session(tool: &str, id: &str) -> Self {
        Self(format!("{}{tool}/{}", Self::SESSIONS, nameable(id)))
    }

    /// The name of a further path of a session, below the session's own.
    pub fn path(&self, name: &str) -> Result<Self> {
        format!("{self}/{}", nameable(name)).parse()
    }

    /// What the names begin with, before a number, of further paths that a session has left.
    pub const LEAF: &'static str = "leaf-";

    /// What the name of a sub-agent's session or branch begins with, before its id, below the one that started it.
    pub const AGENT: &'static str = "agent-";

    /// What the name of the session or branch is that started this sub-agent's, as far as a name tells it.
    pub fn above_agent(&self) -> Option<&str> {
        let (before, _) = self.0.rsplit_once(Self::AGENT)?;
        before.strip_suffix('/')
    }

    /// The session that this is a further path of, or a sub-agent's.
    pub fn above(&self) -> Option<Self> {
        let (above, _) = self.0.rsplit_once('/')?;
        let above = Self(above.to_owned());
        above.as_session().is_some().then_some(above)
    }

    /// The session or branch that has left this path of it, if it is one that was left.
    ///
    /// ```
    /// use tract::model::RefName;
    ///
    /// let left: RefName = "refs/heads/main/leaf-1".parse()?;
    /// assert_eq!(left.left_by().unwrap().short(), "main");
    /// assert_eq!("refs/heads/leaf-1".parse::<RefName>()?.left_by(), None);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn left_by(&self) -> Option<Self> {
        let (above, last) = self.0.rsplit_once('/')?;
        let number = last.strip_prefix(Self::LEAF)?;
        let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
        let is_below = above.matches('/').count() > 1;
        (is_number && is_below).then(|| Self(above.to_owned()))
    }

    /// The name beside this one for what wants the same: `NAME-2`, `NAME-3`, …
    pub fn numbered(&self, number: usize) -> Self {
        Self(format!("{self}-{number}"))
    }

    /// The full name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as people type it: without `refs/heads/`, `refs/tags/`, `refs/remotes/` or `refs/`. One that would
    /// then be taken for a hash is given whole.
    pub fn short(&self) -> &str {
        match self.bare() {
            bare if HashPrefix::parse(bare).is_some() => &self.0,
            bare => bare,
        }
    }

    /// What it is called where sessions stand beside branches: `TOOL/ID`, else as [`RefName::short`].
    pub fn label(&self) -> String {
        match self.as_session() {
            Some((tool, id)) => format!("{tool}/{id}"),
            None => self.short().to_owned(),
        }
    }

    fn bare(&self) -> &str {
        [Self::HEADS, Self::TAGS, Self::REMOTES, "refs/"]
            .iter()
            .find_map(|prefix| self.0.strip_prefix(prefix))
            .unwrap_or(&self.0)
    }

    /// Refuses a name that could be taken for a hash: for whoever makes it. One that is there is
    /// reached by its full name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRefName`].
    pub fn refuse_hash(&self) -> Result<()> {
        match HashPrefix::parse(self.bare()) {
            None => Ok(()),
            Some(_) => refused(self.bare(), "4 to 64 hex digits are taken for a hash"),
        }
    }

    /// The tool and the id of a session's ref.
    pub fn as_session(&self) -> Option<(&str, &str)> {
        self.0.strip_prefix(Self::SESSIONS)?.split_once('/')
    }

    /// The session below which a session's ref stands, such as that of a sub-agent: itself where it stands below none.
    pub fn root_session(&self) -> Option<&str> {
        let (_, id) = self.as_session()?;
        let root = id.split('/').next().unwrap_or(id);
        Some(&self.0[..self.0.len() - id.len() + root.len()])
    }

    /// Whether this is a branch.
    pub fn is_branch(&self) -> bool {
        self.0.starts_with(Self::HEADS)
    }
}

/// The names that say where somebody stands.
const POSITIONS: [&str; 3] = ["HEAD", "ORIG_HEAD", "PREV_HEAD"];
/// Before the positions of other directories, and those of nobody.
const AT: &str = "at/";
/// Before the positions of other people.
const BY: &str = "by/";

fn refused<T>(name: &str, reason: &'static str) -> Result<T> {
    let name = name.to_owned();
    Err(Error::InvalidRefName { name, reason })
}

/// The longest id that stands in a name as it is; a file's name is never longer.
const ID_BYTES_MAX: usize = 255;
/// What is left of one that is changed, before its hash. It ends with so many hex digits.
const CUT_BYTES: usize = 200;
/// How long a name may be.
const MOST_BYTES: usize = 1024;
const HASH_DIGITS: usize = 16;

/// An id as a piece of a name, or several. One that bears a hash already gets another, for it could
/// be what another id is changed to.
fn nameable(id: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let mut clean: String = id.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    for (from, to) in [("..", "-"), ("//", "/"), ("/.", "/-"), ("./", "-/")] {
        while clean.contains(from) {
            clean = clean.replace(from, to);
        }
    }
    clean = clean.replace(".lock/", "-lock/");
    let mut clean = clean.trim_matches(['.', '/']);
    while let Some(shorter) = clean.strip_suffix(".lock") {
        clean = shorter;
    }
    let hash = clean.rsplit_once('-').map_or("", |(_, end)| end);
    let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if clean == id && !clean.is_empty() && clean.len() <= ID_BYTES_MAX && !is_hash {
        return clean.to_owned();
    }
    let clean = &clean[..clean.floor_char_boundary(CUT_BYTES)];
    let clean = clean.trim_end_matches(['.', '/']);
    let clean = if clean.is_empty() { "session" } else { clean };
    let hash = fingerprint(id.as_bytes());
    let hash = hash[..HASH_DIGITS / 2].iter();
    let hash: String = hash.map(|byte| format!("{byte:02x}")).collect();
    format!("{clean}-{hash}")
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for RefName {
    type Err = Error;

    /// Checks a full name.
    ///
    /// # Source
    ///
    /// git-check-ref-format(1), rules 1 to 10; `#` is ours, for parts.
    fn from_str(name: &str) -> Result<Self> {
        let wrong = |reason| refused(name, reason);
        if is_plain(name) {
            return Ok(Self(name.to_owned()));
        }
        if POSITIONS.contains(&name) {
            return Ok(Self(name.to_owned()));
        }
        let below = name.strip_prefix(AT).or(name.strip_prefix(BY));
        let below = below.unwrap_or_default();
        let position = below
            .rsplit_once('/')
            .map_or(below, |(_, position)| position);
        if !name.starts_with("refs/") && !POSITIONS.contains(&position) {
            return wrong("it must begin with refs/");
        }
        if name.len() > MOST_BYTES {
            return wrong("it is too long");
        }
        if name.contains("..") || name.contains("@{") {
            return wrong("'..' and '@{' have a meaning in revisions");
        }
        if name
            .chars()
            .any(|c| c.is_control() || " ~^:?*[\\#".contains(c))
        {
            return wrong("it holds a space, a control character or one of ~^:?*[\\#");
        }
        let bad = |piece: &str| {
            piece.is_empty() || piece == "@" || piece.starts_with('.') || piece.ends_with(".lock")
        };
        if name.split('/').any(bad) || name.ends_with('.') {
            return wrong(
                "a piece of it is empty, '@', begins or ends with '.', or ends with '.lock'",
            );
        }
        Ok(Self(name.to_owned()))
    }
}

as_text!(RefName);

/// Whether a name keeps all rules at a glance, as most do: below `refs/`, of letters, digits, `-` and `_`.
fn is_plain(name: &str) -> bool {
    let mut before = b'/';
    name.len() <= MOST_BYTES
        && name.strip_prefix("refs/").is_some_and(|below| {
            let is_plain = |byte: u8| {
                let after = std::mem::replace(&mut before, byte);
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'-' | b'_')
                    || byte == b'/' && after != b'/'
            };
            below.bytes().all(is_plain) && before != b'/'
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_git_refuses_are_refused() {
        for bad in [
            "-x",
            "HEAD",
            "refs/heads/-x",
            "a..b",
            "a\u{7}",
            "a.lock",
            "a b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a.",
            "",
        ] {
            assert!(RefName::branch(bad).is_err(), "{bad:?}");
        }
        for good in ["main", "feature/x", "日本", "a-b_c.d"] {
            assert_eq!(RefName::branch(good).expect(good).short(), good);
        }
    }

    #[test]
    fn a_name_that_could_be_a_hash_is_given_whole_and_refused_to_makers() {
        let whole = "0123456789abcdef".repeat(4);
        for hash in ["cafe", "CAFE", "2024", &whole] {
            let name = RefName::branch(hash).expect("it may be there already");
            assert_eq!(name.short(), format!("refs/heads/{hash}"));
            assert!(
                name.refuse_hash().is_err()
                    && RefName::tag(hash).expect("one").refuse_hash().is_err()
            );
            assert_eq!(RefName::branch(name.short()).expect("the same"), name);
        }
        for name in ["caf", "cafes", "x/cafe", "cafe-1", &format!("{whole}0")] {
            let name = RefName::branch(name).expect("a name");
            assert!(
                name.refuse_hash().is_ok() && !name.short().starts_with("refs/"),
                "{name}"
            );
        }
    }

    const ODD: [&str; 19] = [
        "",
        ".",
        "..",
        "a b",
        "a-b",
        "x",
        "x.lock",
        "x.lock.lock",
        "a.lock/b",
        "a/b",
        "/a//b/",
        "a/.b",
        "../../etc",
        "\u{1b}[0m",
        "@",
        "@{1}",
        "-",
        "HEAD",
        "session",
    ];

    #[test]
    fn any_session_id_becomes_a_name_of_its_own() {
        let mut ids: Vec<String> = ODD.map(str::to_owned).into();
        for length in [255, 256, 1_000, 5_000] {
            ids.extend(["a", "é", ".", "/", "a."].map(|piece| piece.repeat(length)));
        }
        // What one is changed to is no other's name.
        let changed = ids.iter().map(|id| nameable(id)).collect::<Vec<_>>();
        ids.extend(changed.into_iter().filter(|id| id.len() > HASH_DIGITS));
        ids.sort();
        ids.dedup();
        let mut names: Vec<RefName> = Vec::new();
        for id in &ids {
            let name = RefName::session("codex", id);
            let inside = name.path(id).expect("it has room");
            for name in [&name, &name.numbered(usize::MAX), &inside] {
                assert!(
                    name.as_str().parse::<RefName>().is_ok(),
                    "{id:?} gave {name}"
                );
            }
            names.push(name);
        }
        names.sort();
        names.dedup();
        assert_eq!(names.len(), ids.len());
    }

    #[test]
    fn an_id_that_can_be_a_name_is_one() {
        for id in [
            "5b0c9a1e-7d42-4c8f-9e36-2f1d8a6b4c70",
            "chat/12",
            "日本",
            "a.b_c",
            &"a".repeat(255),
        ] {
            let name = RefName::session("codex", id);
            assert_eq!(name.as_session(), Some(("codex", id)));
        }
    }
}
