//! What takes the room: the files by kinds of things, messages by whether anything shows or needs them,
//! by role, by tool and by branch, and kept session files.
//!
//! Deliberately absent: making it smaller; that is a collection's, or a purge's.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::AddAssign;

use crate::context::Mask;
use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::{RefName, Role};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::store::{CommitRow, ContentSize, Room, View};

/// How many contents are asked about at once.
const CONTENTS: usize = 1_000;

/// What takes the room.
#[derive(Clone, Debug, Default)]
pub struct Du {
    /// The files.
    pub room: Room,
    /// Messages by what needs them; together all that there are.
    pub by_need: Vec<(Needed, Heap)>,
    /// The same by who speaks, and whether a client attached it.
    pub by_role: Vec<(Role, bool, Heap)>,
    /// The same by the tools that are called or answer, the largest first; none of messages without.
    /// One that has to do with several goes to each in equal parts.
    pub by_tool: Vec<(Option<String>, Heap)>,
    /// Names, those of one place together, with what their paths hold, the largest first.
    pub by_name: Vec<NamedRoom>,
    /// Sessions with what is kept of their files, the largest first.
    pub sessions: Vec<SessionRoom>,
}

/// Messages together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// How many.
    pub messages: u64,
    /// What is kept of them, in bytes.
    pub kept_bytes: u64,
    /// Their canonical forms, in bytes.
    pub size_bytes: u64,
}

impl AddAssign for Heap {
    fn add_assign(&mut self, more: Self) {
        self.messages += more.messages;
        self.kept_bytes += more.kept_bytes;
        self.size_bytes += more.size_bytes;
    }
}

impl From<&ContentSize> for Heap {
    fn from(size: &ContentSize) -> Self {
        Self {
            messages: 1,
            kept_bytes: size.kept_bytes,
            size_bytes: size.size_bytes,
        }
    }
}

/// What needs a message, the strongest of all reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Needed {
    /// The context of a branch, a tag or a session shows it.
    Shown,
    /// It is hidden there, or was edited: history has it.
    Hidden,
    /// No ref leads to it; the log does, or something else that remembers a commit.
    Logged,
    /// Nothing leads to it.
    Nothing,
}

/// What the path of some names holds that are in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedRoom {
    /// The names, branches first.
    pub names: Vec<RefName>,
    /// What their path holds.
    pub all: Heap,
    /// What of it no other name's path holds.
    pub alone: Heap,
}

/// What is kept of a session's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRoom {
    /// The session.
    pub name: RefName,
    /// How many files are kept: the newest, and older ones that it is no longer the beginning of.
    pub files: u64,
    /// What is kept of them, in bytes.
    pub kept_bytes: u64,
    /// Their bytes, as they were imported.
    pub size_bytes: u64,
    /// What is kept of all but the newest.
    pub older_bytes: u64,
}

impl Repo {
    /// What takes the room. Reads all pages and all commits, and no message.
    ///
    /// # Errors
    ///
    /// The store's.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, Repo};
    /// use tract::upkeep::Needed;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let du = repo.du()?;
    /// let (needed, heap) = du.by_need[0];
    /// assert_eq!((needed, heap.messages), (Needed::Shown, 1));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn du(&self) -> Result<Du> {
        let view = self.store.read()?;
        let contents = view.content_sizes()?;
        let mut places: BTreeMap<CommitHash, Vec<RefName>> = BTreeMap::new();
        for (name, tip) in load::tips(&*view, "")? {
            places.entry(tip).or_default().push(name);
        }
        let mut named: Vec<CommitHash> = view.named_commits()?;
        named.extend(places.keys());
        let paths = Paths::of(&*view, &named, &contents)?;
        let shown = shown(&*view, places.keys())?;
        let by_name = by_name(&paths, &contents, &places);
        Ok(Du {
            by_need: by_need(&paths, &contents, &places, &shown),
            by_role: by_role(&contents),
            by_tool: by_tool(&*view, &contents)?,
            by_name,
            sessions: sessions(&*view)?,
            room: {
                drop(view);
                self.store.room()?
            },
        })
    }
}

/// Commits by number, with their parents' and those of the contents that they name.
struct Paths {
    numbers: HashMap<CommitHash, usize>,
    parents: Vec<Option<usize>>,
    contents: Vec<Vec<usize>>,
}

impl Paths {
    /// All commits on the paths to `tips`.
    fn of(view: &dyn View, tips: &[CommitHash], contents: &[ContentSize]) -> Result<Self> {
        let places = contents.iter().enumerate();
        let places: HashMap<ContentHash, usize> =
            places.map(|(at, size)| (size.hash, at)).collect();
        let mut rows = view.by_reach(tips)?.reached;
        // Parents first.
        rows.sort_unstable_by_key(|row| row.depth);
        let mut paths = Self {
            numbers: HashMap::with_capacity(rows.len()),
            parents: Vec::with_capacity(rows.len()),
            contents: Vec::with_capacity(rows.len()),
        };
        for CommitRow { hash, commit, .. } in rows {
            let parent = commit.parent.and_then(|it| paths.numbers.get(&it).copied());
            let named = commit.operation.contents();
            let named = named.iter().filter_map(|it| places.get(it).copied());
            paths.numbers.insert(hash, paths.parents.len());
            paths.parents.push(parent);
            paths.contents.push(named.collect());
        }
        Ok(paths)
    }

    /// The contents that the path to `tip` names, each as often as it does.
    fn to<'a>(&'a self, tip: &CommitHash) -> impl Iterator<Item = usize> + 'a {
        let from = self.numbers.get(tip).copied();
        let path = std::iter::successors(from, |at| self.parents[*at]);
        path.flat_map(|at| self.contents[at].iter().copied())
    }
}

/// The contents that contexts at these tips show, stubs too.
fn shown<'a>(
    view: &dyn View,
    tips: impl Iterator<Item = &'a CommitHash>,
) -> Result<HashSet<ContentHash>> {
    let mut shown = HashSet::new();
    for tip in tips {
        let context = load::context(view, tip)?;
        shown.extend(context.entries.iter().map(|entry| entry.content));
        let masks = context.entries.iter().map(|entry| &entry.mask);
        shown.extend(masks.flat_map(Mask::parts).filter_map(|part| part.stub));
    }
    Ok(shown)
}

fn by_need(
    paths: &Paths,
    contents: &[ContentSize],
    places: &BTreeMap<CommitHash, Vec<RefName>>,
    shown: &HashSet<ContentHash>,
) -> Vec<(Needed, Heap)> {
    let mut needs = vec![Needed::Nothing; contents.len()];
    for at in paths.contents.iter().flatten() {
        needs[*at] = Needed::Logged;
    }
    for at in places.keys().flat_map(|tip| paths.to(tip)) {
        needs[at] = Needed::Hidden;
    }
    let mut heaps: BTreeMap<Needed, Heap> = BTreeMap::new();
    for (size, need) in contents.iter().zip(needs) {
        let need = if shown.contains(&size.hash) {
            Needed::Shown
        } else {
            need
        };
        *heaps.entry(need).or_default() += size.into();
    }
    heaps.into_iter().collect()
}

fn by_role(contents: &[ContentSize]) -> Vec<(Role, bool, Heap)> {
    let mut heaps: Vec<(Role, bool, Heap)> = Vec::new();
    for size in contents {
        let found = heaps
            .iter_mut()
            .find(|(role, attached, _)| (*role, *attached) == (size.role, size.attached));
        match found {
            Some((_, _, heap)) => *heap += size.into(),
            None => heaps.push((size.role, size.attached, size.into())),
        }
    }
    heaps.sort_by_key(|(.., heap)| std::cmp::Reverse(heap.kept_bytes));
    heaps
}

fn by_tool(view: &dyn View, contents: &[ContentSize]) -> Result<Vec<(Option<String>, Heap)>> {
    let using: Vec<&ContentSize> = contents.iter().filter(|size| size.uses_tools).collect();
    let mut uses = Vec::with_capacity(using.len());
    for some in using.chunks(CONTENTS) {
        let hashes: Vec<ContentHash> = some.iter().map(|size| size.hash).collect();
        uses.extend(view.tool_uses(&hashes)?);
    }
    // Which message a result answers is another question: an id is as good as unique.
    let mut called: HashMap<&str, &str> = HashMap::new();
    for call in uses.iter().flatten().flat_map(|uses| &uses.calls) {
        called.entry(&call.id).or_insert(&call.name);
    }
    let mut heaps: HashMap<Option<&str>, Heap> = HashMap::new();
    for (size, uses) in using.iter().zip(&uses) {
        let uses = uses.iter();
        let tools = uses.flat_map(|uses| {
            let answered = uses.answers.iter();
            let answered = answered.filter_map(|id| called.get(id.as_str()).copied());
            uses.calls
                .iter()
                .map(|call| call.name.as_str())
                .chain(answered)
        });
        let mut tools: Vec<Option<&str>> = tools.map(Some).collect();
        tools.sort_unstable();
        tools.dedup();
        if tools.is_empty() {
            tools.push(None);
        }
        let share = tools.len() as u64;
        for (at, tool) in tools.into_iter().enumerate() {
            // What does not divide goes to the first.
            let part = |all: u64| all / share + if at == 0 { all % share } else { 0 };
            *heaps.entry(tool).or_default() += Heap {
                messages: u64::from(at == 0),
                kept_bytes: part(size.kept_bytes),
                size_bytes: part(size.size_bytes),
            };
        }
    }
    for size in contents.iter().filter(|size| !size.uses_tools) {
        *heaps.entry(None).or_default() += size.into();
    }
    let heaps = heaps.into_iter();
    let mut heaps: Vec<_> = heaps
        .map(|(tool, heap)| (tool.map(str::to_owned), heap))
        .collect();
    heaps.sort_by(|a, b| {
        let order = b.1.kept_bytes.cmp(&a.1.kept_bytes);
        order.then_with(|| a.0.cmp(&b.0))
    });
    Ok(heaps)
}

fn by_name(
    paths: &Paths,
    contents: &[ContentSize],
    places: &BTreeMap<CommitHash, Vec<RefName>>,
) -> Vec<NamedRoom> {
    /// Which places a content belongs to: none, the one by its number, or several.
    const NONE: usize = usize::MAX;
    const SEVERAL: usize = usize::MAX - 1;
    let mut owners = vec![NONE; contents.len()];
    let mut seen = vec![NONE; contents.len()];
    let mut rooms: Vec<NamedRoom> = Vec::with_capacity(places.len());
    for (number, (tip, names)) in places.iter().enumerate() {
        let mut all = Heap::default();
        for at in paths.to(tip) {
            if seen[at] == number {
                continue;
            }
            seen[at] = number;
            all += (&contents[at]).into();
            owners[at] = if owners[at] == NONE { number } else { SEVERAL };
        }
        let mut names = names.clone();
        names.sort_by_key(|name| (!name.is_branch(), name.clone()));
        rooms.push(NamedRoom {
            names,
            all,
            alone: Heap::default(),
        });
    }
    for (size, owner) in contents.iter().zip(owners) {
        if let Some(room) = rooms.get_mut(owner) {
            room.alone += size.into();
        }
    }
    rooms.sort_by(|a, b| {
        let order = b.all.kept_bytes.cmp(&a.all.kept_bytes);
        order.then_with(|| a.names.cmp(&b.names))
    });
    rooms
}

fn sessions(view: &dyn View) -> Result<Vec<SessionRoom>> {
    let kept = view.source_sizes()?.into_iter();
    let kept: HashMap<u64, u64> = kept.map(|size| (size.id, size.kept_bytes)).collect();
    let mut rooms: BTreeMap<RefName, SessionRoom> = BTreeMap::new();
    // Oldest first: what was the newest until now is older.
    let mut newest: HashMap<RefName, u64> = HashMap::new();
    for source in view.all_sources()? {
        let kept_bytes = kept.get(&source.id).copied().unwrap_or(0);
        let name = source.session;
        let room = rooms.entry(name.clone()).or_insert_with(|| SessionRoom {
            name: name.clone(),
            files: 0,
            kept_bytes: 0,
            size_bytes: 0,
            older_bytes: 0,
        });
        room.files += 1;
        room.kept_bytes += kept_bytes;
        room.size_bytes += source.size_bytes;
        room.older_bytes += newest.insert(name, kept_bytes).unwrap_or(0);
    }
    let mut rooms: Vec<SessionRoom> = rooms.into_values().collect();
    rooms.sort_by_key(|room| std::cmp::Reverse(room.kept_bytes));
    Ok(rooms)
}
