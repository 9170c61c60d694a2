//! The calls that results of tools answer: looked for on the path before them, in rows, never in
//! bodies.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::hash::{CommitHash, ContentHash};
use crate::model::pairs::{Sought, answered};
use crate::model::{EntryId, Operation, ToolUse, ToolUses, uses};
use crate::repo::repository::Repo;
use crate::store::{CommitRow, ContentRow, ListedCommit, View};

/// How far back from a tool's result its call is looked for, in commits.
const CALL_SEARCH: usize = 256;
/// How far back a call is looked for by its id, in commits.
const ANSWER_SEARCH: usize = 4_096;
/// How many commits are read at once on the way: few at first, for most calls are near.
const PAGES: (usize, usize) = (4, 64);

/// What is known of a path and of how its messages use tools.
pub(crate) struct Callers<'a> {
    view: &'a dyn View,
    path: HashMap<CommitHash, CommitRow>,
    uses: HashMap<ContentHash, Option<ToolUses>>,
}

impl<'a> Callers<'a> {
    /// Knows nothing yet.
    pub(crate) fn new(view: &'a dyn View) -> Self {
        Self {
            view,
            path: HashMap::new(),
            uses: HashMap::new(),
        }
    }

    /// Takes commits that are read already, and reads at once how their messages use tools, but for
    /// those of which `speaks` says that they use none.
    pub(crate) fn know<'r>(
        &mut self,
        rows: impl IntoIterator<Item = &'r CommitRow>,
        speaks: impl Fn(&ContentHash) -> bool,
    ) -> Result<()> {
        let mut wanted = Vec::new();
        for row in rows {
            if let Operation::Append { content } = row.commit.operation {
                if speaks(&content) {
                    drop(self.uses.insert(content, None))
                } else {
                    wanted.push(content)
                }
            }
            self.path.insert(row.hash, row.clone());
        }
        self.read(&wanted)
    }

    /// The calls that a message answers, in the order of its results, as far as they are found:
    /// `content` is what it holds, `parent` the commit before the one that appends it.
    pub(crate) fn of(
        &mut self,
        parent: Option<CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<ToolUse>> {
        self.found(parent, content, false)
    }

    /// The same of what a commit brings.
    pub(crate) fn of_row(
        &mut self,
        row: &CommitRow,
        content: &ContentHash,
    ) -> Result<Vec<ToolUse>> {
        let is_in_place = row.appended() != Some(*content);
        self.found(row.commit.parent, content, is_in_place)
    }

    /// The same of what stands in the place of a message: what that answers is on the path already.
    fn of_replaced(
        &mut self,
        parent: Option<CommitHash>,
        content: &ContentHash,
    ) -> Result<Vec<ToolUse>> {
        self.found(parent, content, true)
    }

    fn found(
        &mut self,
        parent: Option<CommitHash>,
        content: &ContentHash,
        is_in_place: bool,
    ) -> Result<Vec<ToolUse>> {
        self.read(&[*content])?;
        let answers = match &self.uses[content] {
            Some(uses) if !uses.answers.is_empty() => uses.answers.clone(),
            _ => return Ok(Vec::new()),
        };
        let mut sought = Sought::of(answers.iter().map(String::as_str));
        let mut found: Vec<Option<ToolUse>> = vec![None; answers.len()];
        let (mut next, mut page_len) = (parent, PAGES.0);
        for _ in 0..CALL_SEARCH {
            let (Some(hash), false) = (next, sought.is_done()) else {
                break;
            };
            if !self.path.contains_key(&hash) {
                let page = self.view.ancestors(&hash, None, page_len)?;
                page_len = PAGES.1.min(2 * page_len);
                self.know(&page, |_| false)?;
            }
            let Some(row) = self.path.get(&hash) else {
                break;
            };
            next = row.commit.parent;
            let Operation::Append { content } = row.commit.operation else {
                continue;
            };
            self.read(&[content])?;
            if let Some(uses) = &self.uses[&content] {
                let answers = uses.answers.iter().filter(|_| !is_in_place);
                sought.before(
                    uses.calls.iter().map(|call| call.id.as_str()),
                    answers.map(String::as_str),
                    |result, call| found[result] = Some(uses.calls[call].clone()),
                );
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    /// Whether a message calls this tool, or answers a call of it; the rest as in [`Self::of`].
    pub(crate) fn has_to_do_with(
        &mut self,
        tool: &str,
        parent: Option<CommitHash>,
        content: &ContentHash,
    ) -> Result<bool> {
        let is_it = |call: &ToolUse| call.name.eq_ignore_ascii_case(tool);
        self.read(&[*content])?;
        let calls = self.uses[content].iter().flat_map(|uses| &uses.calls);
        Ok(calls.into_iter().any(is_it) || self.of_replaced(parent, content)?.iter().any(is_it))
    }

    fn read(&mut self, contents: &[ContentHash]) -> Result<()> {
        let unknown = contents.iter().filter(|hash| !self.uses.contains_key(hash));
        let unknown: Vec<ContentHash> = unknown.copied().collect();
        if !unknown.is_empty() {
            let read = self.view.tool_uses(&unknown)?;
            self.uses.extend(unknown.into_iter().zip(read));
        }
        Ok(())
    }
}

/// The same for commits that are told oldest first: where they stand one behind the other, a call is
/// remembered until it is answered, and nothing is looked for.
pub(crate) struct Told<'a> {
    callers: Callers<'a>,
    /// The commit told last.
    last: Option<CommitHash>,
    /// How many commits were told, and how many before the first of those that stand in a row.
    told: usize,
    from: usize,
    /// The calls of each id that no result has answered yet, each with how many commits were told before it.
    calls: HashMap<String, Vec<(usize, ToolUse)>>,
}

impl<'a> Told<'a> {
    /// For these commits, newest first.
    pub(crate) fn new(view: &'a dyn View, listed: &[ListedCommit]) -> Result<Self> {
        let mut callers = Callers::new(view);
        let follows = |pair: &[ListedCommit]| pair[0].row.commit.parent == Some(pair[1].row.hash);
        if !listed.windows(2).all(follows) {
            let speaks = |said: &ContentRow| said.calls == 0 && said.results == 0;
            let speakers = listed.iter().filter_map(|one| one.said.as_ref());
            let speakers = speakers.filter(|said| speaks(said)).map(|said| said.hash);
            let speakers: HashSet<ContentHash> = speakers.collect();
            let rows = listed.iter().map(|one| &one.row);
            callers.know(rows, |content| speakers.contains(content))?;
        }
        Ok(Self {
            callers,
            last: None,
            told: 0,
            from: 0,
            calls: HashMap::new(),
        })
    }

    /// The calls that the next commit's message answers: `said` is what it shows, and what it appends
    /// where it appends anything.
    pub(crate) fn next(
        &mut self,
        one: &mut ListedCommit,
        said: Option<&ContentRow>,
    ) -> Result<Vec<ToolUse>> {
        if self.last.is_none() || one.row.commit.parent != self.last {
            self.calls.clear();
            self.from = self.told;
        }
        self.last = Some(one.row.hash);
        self.told += 1;
        let Some(said) = said.filter(|said| said.calls + said.results > 0) else {
            return Ok(Vec::new());
        };
        if one.row.appended() != Some(said.hash) {
            return match said.results {
                0 => Ok(Vec::new()),
                _ => self.callers.of_replaced(one.row.commit.parent, &said.hash),
            };
        }
        let mut uses = one.uses.take();
        if uses.is_none() {
            self.callers.read(&[said.hash])?;
            uses = self.callers.uses.get(&said.hash).cloned().flatten();
        }
        let Some(uses) = uses else {
            return Ok(Vec::new());
        };
        let is_near = |told: usize| self.told - told <= CALL_SEARCH;
        let calls = &mut self.calls;
        let mut call = |id: &String| {
            let call = answered(calls.get_mut(id)?, |(told, _)| *told);
            call.filter(|(told, _)| is_near(*told))
                .map(|(_, call)| call)
        };
        let mut answered: Vec<ToolUse> = uses.answers.iter().filter_map(&mut call).collect();
        if answered.len() < uses.answers.len() && is_near(self.from) {
            answered = self.callers.of(one.row.commit.parent, &said.hash)?;
        }
        for call in uses.calls {
            let waiting = self.calls.entry(call.id.clone()).or_default();
            waiting.push((self.told, call));
        }
        Ok(answered)
    }
}

/// For each of these entries, the calls that its message answers, in a line; none where it answers
/// none. Edits count for nothing: what was said at first tells.
pub(crate) fn lines(view: &dyn View, entries: &[EntryId]) -> Result<Vec<Option<String>>> {
    let commits: Vec<CommitHash> = entries.iter().map(|id| id.commit).collect();
    let rows = view.commits(&commits)?;
    let mut callers = Callers::new(view);
    callers.know(rows.iter().flatten(), |_| false)?;
    let line = |row: Option<CommitRow>| match row.map(|row| row.commit) {
        Some(commit) => match commit.operation {
            Operation::Append { content } => {
                Ok(uses::answered(&callers.of(commit.parent, &content)?))
            }
            _ => Ok(None),
        },
        None => Ok(None),
    };
    rows.into_iter().map(line).collect()
}

impl Repo {
    /// For each of these entries, the calls that its message answers, in a line such as `read
    /// a.rs`; none where it answers none, or its calls are not found. Hostile until escaped.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn calls_of(&self, entries: &[EntryId]) -> Result<Vec<Option<String>>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        lines(&*self.store.read()?, entries)
    }

    /// Whether the newest calls with this id on the path to `tip` are all answered there already; none where
    /// none of the newest few thousand commits has it.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn is_answered(&self, tip: Option<&CommitHash>, id: &str) -> Result<Option<bool>> {
        let view = self.store.read()?;
        let (mut next, mut page_len, mut left) = (tip.copied(), PAGES.0, ANSWER_SEARCH);
        let mut answers = 0;
        while let Some(hash) = next.filter(|_| left > 0) {
            let page = view.ancestors(&hash, None, page_len)?;
            left = left.saturating_sub(page.len());
            page_len = PAGES.1.min(2 * page_len);
            let contents = page.iter().flat_map(|row| row.commit.operation.contents());
            let contents: Vec<ContentHash> = contents.collect();
            for uses in view.tool_uses(&contents)?.into_iter().flatten() {
                let calls = uses.calls.iter().filter(|call| call.id == id).count();
                if calls > answers {
                    return Ok(Some(false));
                }
                if calls > 0 {
                    return Ok(Some(true));
                }
                answers += uses.answers.iter().filter(|it| *it == id).count();
            }
            next = page.last().and_then(|row| row.commit.parent);
        }
        Ok((answers > 0).then_some(true))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Draft, EntryId, Message, Part, Role};
    use crate::query::LogOptions;
    use crate::repo::load::work;
    use crate::repo::{Call, CommitOptions, On, Repo};

    fn calls(id: &str, path: &str) -> Part {
        Part::ToolCall {
            id: id.into(),
            name: "read".into(),
            arguments: format!(r#"{{"path":"{path}"}}"#),
            kind: None,
        }
    }

    fn result(ids: &[&str], text: &str) -> Message {
        let part = |id: &&str| Part::ToolResult {
            call: (*id).to_owned(),
            content: vec![Part::text(text)],
            is_error: false,
        };
        Message::new(Role::Tool, ids.iter().map(part).collect())
    }

    #[test]
    fn a_result_is_told_with_its_own_call_and_no_body_is_read() {
        let repo = Repo::ephemeral().expect("opens");
        let mut said = vec![
            Message::new(
                Role::Assistant,
                vec![Part::text("two"), calls("a", "1"), calls("b", "2")],
            ),
            result(&["b"], "of b"),
            result(&["a"], "of a"),
            // The same id again, twice, and another of which nobody asked.
            Message::new(Role::Assistant, vec![calls("a", "3"), calls("a", "6")]),
            result(&["a", "never"], ""),
            result(&["a"], "of the second"),
            Message::new(Role::Assistant, vec![calls("far", "4"), calls("near", "5")]),
        ];
        said.extend((0..40).map(|n| Message::text(Role::User, n.to_string())));
        said.push(result(&["far", "near"], "late"));
        let drafts: Vec<Draft> = said.into_iter().map(Draft::append).collect();
        let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
        let made = made.expect("commits");
        let ids: Vec<EntryId> = made.iter().map(|one| EntryId::of(one.hash)).collect();
        let (work, told) = work::of(|| repo.calls_of(&ids).expect("told"));
        assert_eq!(work.bodies, 0);
        let said = [0, 1, 2, 3, 4, 5, 6, 47].map(|at| told[at].as_deref());
        let read = |path| Some(path);
        assert_eq!(
            said,
            [
                None,
                read("read 2"),
                read("read 1"),
                None,
                read("read 3"),
                read("read 6"),
                None,
                read("read 4 (+1)"),
            ]
        );
        let tip = repo.resolve(&On::Head, "HEAD").expect("there");
        let options = LogOptions {
            limit: 1,
            ..LogOptions::default()
        };
        // The first time all is counted, which reads all.
        repo.log(&tip, &LogOptions::default()).expect("listed");
        let (work, rows) = work::of(|| repo.log(&tip, &options).expect("listed"));
        assert_eq!(rows[0].call.as_deref(), Some("read 4 (+1)"));
        assert_eq!(work.bodies, 0);
        // A list of all says the same of each.
        let all = repo.log(&tip, &LogOptions::default()).expect("listed");
        let mut calls: Vec<_> = all.into_iter().map(|row| row.call).collect();
        calls.reverse();
        assert_eq!(calls, told);
    }
}
