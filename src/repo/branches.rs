//! Branches and tags: made, listed, renamed, deleted.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::error::{Error, Refusal, Result};
use crate::hash::CommitHash;
use crate::model::{
    Encoding, HideKind, Millis, RefName, RefValue, Role, TokenCount, Total, as_title,
};
use crate::repo::by_branch;
use crate::repo::call::{Call, On};
use crate::repo::copies::is_written;
use crate::repo::expect::retried;
use crate::repo::open_call::OpenCall;
use crate::repo::outline::Outline;
use crate::repo::path::SessionEnds;
use crate::repo::repository::{self, Repo};
use crate::repo::revision;
use crate::repo::{load, path, pictures, prompts, totals};
use crate::store::{Activity, TagNote, Tips, View};

/// A branch, with what a list says about it.
#[derive(Clone, Debug)]
pub struct BranchRow {
    /// Its full name.
    pub name: RefName,
    /// Its tip.
    pub tip: CommitHash,
    /// Whether HEAD is on it.
    pub is_head: bool,
    /// The title of the session that it came from.
    pub title: Option<String>,
    /// The beginning of the first thing that the user said on it, where there is no title.
    pub prompt: Option<String>,
    /// That session.
    pub session: Option<RefName>,
    /// Whose copy that session began as, where another branch in the list is called alike.
    pub copy_of: Option<CopyOf>,
    /// The directory that it ran in, where its file says so.
    pub cwd: Option<String>,
    /// The time of its newest commit that has one.
    pub last: Option<Millis>,
    /// The tokens of its context.
    pub tokens: TokenCount,
    /// The compactions that are active in it.
    pub compactions: u32,
}

/// The session that a copy was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyOf {
    /// Its ref.
    pub session: RefName,
    /// Whether `resume` wrote the copy, in this repository; else it is a fork.
    pub is_resumed: bool,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRow {
    /// Its full name.
    pub name: RefName,
    /// The commit.
    pub commit: CommitHash,
    /// Of an annotated tag: what it says, and when it was made.
    pub note: Option<(String, Millis)>,
}

/// A ref that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Its full name.
    pub name: RefName,
    /// Where it points.
    pub commit: CommitHash,
    /// The calls that wait for a result there.
    pub open: Option<OpenCall>,
}

/// How many of the first commits are looked at for a prompt.
const PROMPT_SEARCH: u64 = 16;
/// How many of these at first.
const FEW: u64 = 4;
/// How many branches are read at once.
const PAGE: usize = 512;

impl Repo {
    /// The branch on which something that is done to `name` is done: itself, or the one that follows a session.
    ///
    /// # Errors
    ///
    /// The store's.
    pub fn branch_of(&self, name: &RefName) -> Result<Option<RefName>> {
        if name.is_branch() {
            return Ok(Some(name.clone()));
        }
        revision::followed_by(&*self.store.read()?, name)
    }

    /// The branches, the one with the newest commit first. Counts what has no count yet; where a total is kept,
    /// no context is put together, and what had to be is kept for the next time.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Encoding, Message, Millis, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let idea = RefName::branch("idea")?;
    /// repo.create_branch(Call::at(Millis(0), "branch idea"), &idea, "HEAD")?;
    ///
    /// let branches = repo.branches(Encoding::default())?;
    /// let names: Vec<&str> = branches.iter().map(|row| row.name.short()).collect();
    /// assert_eq!(names, ["idea", "main"]);
    /// assert!(branches[1].is_head);
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn branches(&self, encoding: Encoding) -> Result<Vec<BranchRow>> {
        let mut all = Vec::new();
        for page in self.branch_pages(None, usize::MAX, encoding)? {
            all.extend(page?);
        }
        Ok(all)
    }

    /// What [`Repo::branches`] lists, a page at a time, none of them empty: at most so many branches, all that come behind
    /// `behind` if that is given. Each page is read when it is asked for, and costs the same, however many branches there are.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] where there is no such branch.
    pub fn branch_pages(
        &self,
        behind: Option<&RefName>,
        most: usize,
        encoding: Encoding,
    ) -> Result<BranchPages<'_>> {
        let behind = behind.map(|name| {
            let view = self.store.read()?;
            let tip = load::tip(&*view, name)?.ok_or_else(|| missing(name))?;
            Activity::at(&*view, name.clone(), &tip)
        });
        Ok(BranchPages {
            repo: self,
            encoding,
            behind: behind.transpose()?,
            left: most,
            has_more: true,
            ends: SessionEnds::default(),
        })
    }

    /// The total at a commit, counting what has no count yet, and whether it is worth keeping and certain.
    fn summed(&self, tip: &CommitHash, encoding: Encoding) -> Result<(Total, bool)> {
        let new = totals::catch_up(&*self.store, tip, encoding)?;
        if let Some((total, is_near)) = totals::known_at(&*self.store.read()?, tip, encoding)? {
            return Ok((total, !is_near));
        }
        match totals::at_commit(&*self.store.read()?, tip, &new, encoding)? {
            Some(total) => Ok((total, false)),
            None => totals::of_context(self, tip, encoding),
        }
    }

    /// Starts a branch at `start`, without moving HEAD.
    ///
    /// # Errors
    ///
    /// [`Error::RefExists`], and as [`Repo::resolve`].
    pub fn create_branch(&self, call: Call<'_>, name: &RefName, start: &str) -> Result<Made> {
        let made = retried(|| self.try_to_create(call, name, start, None))?;
        let open = self.open_call(&made, self.head(call.on)?.commit().as_ref())?;
        let (name, commit) = (name.clone(), made);
        Ok(Made { name, commit, open })
    }

    /// Renames a branch; HEAD follows where it is on it. The session that it follows, a merge that is under way on it and the
    /// remote that it goes to stay its own.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a branch that isn't there, [`Error::RefExists`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Millis, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let (main, trunk) = (RefName::branch("main")?, RefName::branch("trunk")?);
    /// repo.rename_branch(Call::at(Millis(0), "branch -m main trunk"), &main, &trunk)?;
    /// assert!(repo.resolve(&On::Head, "trunk").is_ok());
    /// assert!(repo.resolve(&On::Head, "main").is_err());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn rename_branch(&self, call: Call<'_>, old: &RefName, new: &RefName) -> Result<()> {
        let tx = self.store.write()?;
        let head = repository::head(&*tx, &On::Head)?;
        let on_it = head.branch() == Some(old);
        let tip = tx.reference(old)?;
        if tip.is_none() && !on_it {
            return Err(missing(old));
        }
        repository::refuse_name(&*tx, new)?;
        tx.begin_operation(call.now, call.what)?;
        tx.set_reference(new, tip.as_ref())?;
        tx.set_reference(old, None)?;
        if on_it {
            tx.set_reference(&RefName::head(), Some(&RefValue::Symbolic(new.clone())))?;
        }
        let [was, is] = [old, new].map(|name| RefValue::Symbolic(name.clone()));
        for (name, on) in tx.references("")? {
            if name.is_position() && on == was {
                tx.set_reference(&name, Some(&is))?;
            }
        }
        by_branch::take_along(&*tx, old, new)?;
        tx.commit()
    }

    /// Deletes a branch or a tag and gives where it pointed. Its commits stay.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for one that isn't there and for the branch that HEAD is on.
    pub fn delete_reference(&self, call: Call<'_>, name: &RefName) -> Result<CommitHash> {
        let deleted = self.delete_references(call, std::slice::from_ref(name))?;
        Ok(deleted[0])
    }

    /// The same of several, all or none, as one operation.
    ///
    /// # Errors
    ///
    /// As [`Repo::delete_reference`].
    pub fn delete_references(&self, call: Call<'_>, names: &[RefName]) -> Result<Vec<CommitHash>> {
        let tx = self.store.write()?;
        let own = repository::head(&*tx, &On::Head)?;
        let others = tx.references("")?.into_iter();
        let heads: Vec<(RefName, RefValue)> = others.filter(|(head, _)| head.is_head()).collect();
        let mut deleted = Vec::with_capacity(names.len());
        for name in names {
            deleted.push(load::tip(&*tx, name)?.ok_or_else(|| missing(name))?);
            let own = own.branch().filter(|branch| *branch == name);
            let is_on_it = |on: &RefValue| *on == RefValue::Symbolic(name.clone());
            let other = || heads.iter().find(|(_, on)| is_on_it(on));
            let on_it = own
                .map(|_| RefName::head())
                .or_else(|| Some(other()?.0.clone()));
            if let Some(head) = on_it {
                let (name, head) = (name.short().to_owned(), head.to_string());
                return Err(Error::Refused(Refusal::HeadIsOnIt { name, head }));
            }
        }
        tx.begin_operation(call.now, call.what)?;
        for name in names {
            tx.set_reference(name, None)?;
        }
        tx.commit()?;
        Ok(deleted)
    }

    /// The tags, by name.
    pub fn tags(&self) -> Result<Vec<TagRow>> {
        let view = self.store.read()?;
        let tags = load::tips(&*view, RefName::TAGS)?;
        let names: Vec<RefName> = tags.iter().map(|(name, _)| name.clone()).collect();
        let rows = tags.into_iter().zip(view.tag_notes(&names)?);
        let rows = rows.map(|((name, commit), note)| {
            let note = note.filter(|note| note.commit == commit);
            let note = note.map(|note| (note.text, note.time));
            TagRow { name, commit, note }
        });
        Ok(rows.collect())
    }

    /// Tags a commit; with a note the tag is an annotated one.
    ///
    /// # Errors
    ///
    /// [`Error::RefExists`], and as [`Repo::resolve`].
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::model::{Draft, Message, Millis, RefName, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// let draft = Draft::append(Message::text(Role::User, "hello"));
    /// repo.commit(Call::default(), &[draft], &CommitOptions::default())?;
    /// let name = RefName::tag("v1")?;
    /// let note = Some("all tests pass");
    /// repo.create_tag(Call::at(Millis(0), "tag v1 -m …"), &name, "HEAD", note)?;
    /// assert_eq!(repo.tags()?[0].note, Some(("all tests pass".to_owned(), Millis(0))));
    ///
    /// repo.delete_reference(Call::at(Millis(1), "tag -d v1"), &name)?;
    /// assert!(repo.tags()?.is_empty());
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn create_tag(
        &self,
        call: Call<'_>,
        name: &RefName,
        target: &str,
        note: Option<&str>,
    ) -> Result<CommitHash> {
        retried(|| self.try_to_create(call, name, target, note))
    }

    fn try_to_create(
        &self,
        call: Call<'_>,
        name: &RefName,
        target: &str,
        note: Option<&str>,
    ) -> Result<CommitHash> {
        let tx = self.store.begin_on(Some(name), &mut Vec::new)?;
        let commit =
            self.with_moments(target, |target| revision::resolve(&*tx, call.on, target))?;
        repository::refuse_name(&*tx, name)?;
        tx.hold_read()?;
        tx.begin_moves(call.now, call.what)?;
        tx.set_reference(name, Some(&RefValue::Commit(commit)))?;
        if name.is_branch() {
            by_branch::forget(&*tx, name)?;
        } else {
            let (text, time) = (note.map(str::to_owned), call.now);
            let note = text.map(|text| TagNote { commit, time, text });
            tx.set_tag_note(name, note.as_ref())?;
        }
        tx.commit()?;
        Ok(commit)
    }
}

/// Branches, the one with the newest commit first, some at a time: what [`Repo::branch_pages`] gives.
pub struct BranchPages<'a> {
    repo: &'a Repo,
    encoding: Encoding,
    /// The last of the page before.
    behind: Option<Activity>,
    /// How many are wanted yet.
    left: usize,
    has_more: bool,
    ends: SessionEnds,
}

impl Iterator for BranchPages<'_> {
    type Item = Result<Vec<BranchRow>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || !self.has_more {
            return None;
        }
        let page = self.read();
        self.has_more &= page.is_ok();
        Some(page).filter(|page| !page.as_ref().is_ok_and(Vec::is_empty))
    }
}

impl BranchPages<'_> {
    /// Whether there are branches behind those that were given.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    fn read(&mut self) -> Result<Vec<BranchRow>> {
        let (repo, encoding) = (self.repo, self.encoding);
        let most = self.left.min(PAGE);
        let mut view = repo.store.read()?;
        // One more tells whether there are more.
        view.look_ahead(Tips::Active(self.behind.as_ref(), most + 1))?;
        let head = repository::head(&*view, &On::Head)?;
        let purge = view.last_purge()?;
        let mut branches = view.active_branches(self.behind.as_ref(), most + 1)?;
        self.has_more = branches.len() > most;
        branches.truncate(most);
        self.left -= branches.len();
        let mut new_totals: BTreeMap<Encoding, Vec<_>> = BTreeMap::new();
        let mut rows = Vec::new();
        for (active, tip) in branches {
            let active = active.held(&*view, &tip)?;
            let mut counted_in = encoding;
            let total = loop {
                let (total, is_new) = match totals::known_at(&*view, &tip, counted_in)? {
                    Some((total, is_near)) => (total, !is_near),
                    None => {
                        drop(view);
                        let summed = repo.summed(&tip, counted_in)?;
                        view = repo.store.read()?;
                        summed
                    }
                };
                if is_new {
                    let totals = new_totals.entry(counted_in).or_default();
                    totals.push((tip, total));
                }
                let is_estimated = total.estimates > 0;
                match pictures::other(&*view, &tip, counted_in, is_estimated)? {
                    Some(by_rule) => counted_in = by_rule,
                    None => break total,
                }
            };
            let session = path::session_of_branch(&*view, (&active.name, &tip), &self.ends)?;
            let (session, known) = session.unzip();
            let known = known.unwrap_or_default();
            rows.push(BranchRow {
                is_head: head.branch() == Some(&active.name),
                session,
                copy_of: None,
                cwd: known.cwd,
                title: known.title,
                prompt: None,
                last: active.last,
                tokens: total.count(),
                compactions: Outline::of(&*view, &tip)?.active_hides(HideKind::Compaction),
                name: active.name.clone(),
                tip,
            });
            self.behind = Some(active);
        }
        let untitled = rows.iter_mut().filter(|row| row.title.is_none());
        first_prompts(&*view, untitled.collect())?;
        tell_apart(&*view, &mut rows, &self.ends)?;
        drop(view);
        for (encoding, totals) in new_totals {
            totals::keep(&*repo.store, purge, encoding, totals.into_iter());
        }
        Ok(rows)
    }
}

/// Says of those that are called alike whose copies they are.
fn tell_apart(view: &dyn View, rows: &mut [BranchRow], ends: &SessionEnds) -> Result<()> {
    let mut called: HashMap<String, u64> = HashMap::new();
    let mut at: HashMap<CommitHash, u64> = HashMap::new();
    for row in rows.iter() {
        *called.entry(row.called().to_owned()).or_default() += 1;
        *at.entry(row.tip).or_default() += 1;
    }
    // Where several end together, each is of the session that it follows.
    let mut following: HashMap<RefName, RefName> = HashMap::new();
    if at.values().any(|count| *count > 1) {
        let followers = view.followers()?.into_iter();
        following.extend(followers.map(|(session, branch)| (branch, session)));
    }
    for row in rows {
        if at[&row.tip] > 1
            && row.session.is_some()
            && let Some(own) = following.get(&row.name)
        {
            row.session = Some(own.clone());
        }
        // What a session's agents did is called so by their branch.
        let is_agents = row.name.above_agent().is_some();
        let is_alike = called[row.called()] > 1 && !is_agents;
        let Some(session) = row.session.as_ref().filter(|_| is_alike) else {
            continue;
        };
        let Some(tip) = load::tip(view, session)? else {
            continue;
        };
        if let Some((original, _)) = path::predecessor(view, (session, &tip), ends)? {
            row.copy_of = Some(CopyOf {
                is_resumed: is_written(view, session)?,
                session: original,
            });
        }
    }
    Ok(())
}

impl BranchRow {
    /// Its title, or the prompt that stands for one.
    pub fn called(&self) -> &str {
        let said = self.title.as_deref().or(self.prompt.as_deref());
        said.unwrap_or_default()
    }
}

/// Fills in one line of the first thing that the user said on each of these: most often one of the first few messages.
fn first_prompts(view: &dyn View, mut open: Vec<&mut BranchRow>) -> Result<()> {
    for depths in [0..FEW, FEW..PROMPT_SEARCH] {
        if depths.start > 0 {
            let tips: Vec<CommitHash> = open.iter().map(|row| row.tip).collect();
            view.look_ahead(Tips::To(&tips))?;
        }
        let mut said = Vec::new();
        for (at, row) in open.iter().enumerate() {
            for depth in depths.clone() {
                let Some(commit) = view.ancestor_at(&row.tip, depth)? else {
                    break;
                };
                if let Some(content) = load::commit(view, &commit)?.appended() {
                    said.push((at, commit, content));
                }
            }
        }
        let contents: Vec<_> = said.iter().map(|(.., content)| *content).collect();
        let shown = load::rows(view, &contents)?;
        said.retain(|(.., content)| {
            let row = &shown[content];
            row.role == Role::User && !row.attached && row.results == 0
        });
        let of_each = said.iter();
        let of_each = of_each.map(|(_, commit, content)| (*commit, &shown[content]));
        let typed = prompts::typed(view, &of_each.collect::<Vec<_>>())?;
        let mut done = HashSet::new();
        for ((at, _, content), is_typed) in said.into_iter().zip(typed) {
            let preview = &shown[&content].preview;
            if is_typed && done.insert(at) {
                open[at].prompt = Some(as_title(preview));
            }
            // What a tool puts before it is better than nothing.
            open[at].prompt.get_or_insert_with(|| as_title(preview));
        }
        let rest = open.into_iter().enumerate();
        let rest = rest.filter(|(at, _)| !done.contains(at));
        open = rest.map(|(_, row)| row).collect();
    }
    Ok(())
}

/// There is no such ref.
fn missing(name: &RefName) -> Error {
    let kind = if name.is_branch() { "branch" } else { "tag" };
    let name = name.short().to_owned();
    Error::Refused(Refusal::NoSuchRef { kind, name })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Draft, Message, Role};
    use crate::repo::CommitOptions;

    #[test]
    fn what_a_long_branch_comes_to_is_worked_out_once() {
        let repo = Repo::ephemeral().expect("a repository");
        let said = |at| Draft::append(Message::text(Role::User, format!("message {at}")));
        let drafts: Vec<Draft> = (0..300).map(said).collect();
        let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
        let tip = made.expect("committed")[299].hash;
        let encoding = Encoding::default();
        let kept = || {
            repo.store
                .read()
                .expect("a view")
                .newest_total(&tip, encoding)
                .expect("reads")
                .map(|(_, total)| total)
        };
        assert_eq!(kept(), None);
        let rows = repo.branches(encoding).expect("listed");
        let kept = kept().expect("kept");
        assert_eq!((kept.messages, kept.count()), (300, rows[0].tokens));
        let again = repo.branches(encoding).expect("listed");
        assert_eq!(again[0].tokens, rows[0].tokens);
    }

    #[test]
    fn the_newest_branches_are_the_beginning_of_all() {
        let repo = Repo::ephemeral().expect("a repository");
        // Two are as old, and names are in no order of time.
        let times = [5, 9, 7, 5, 1];
        for (at, time) in times.into_iter().enumerate() {
            let draft = Draft::append(Message::text(Role::User, format!("message {at}")));
            let on = On::Branch(RefName::branch(&format!("b{at}")).expect("a name"));
            let call = Call::at(Millis(time), "commit").on(&on);
            let made = repo.commit(call, &[draft], &CommitOptions::default());
            made.expect("committed");
        }
        let told = |rows: &[BranchRow]| -> Vec<String> {
            rows.iter().map(|row| format!("{row:?}")).collect()
        };
        let all = told(&repo.branches(Encoding::default()).expect("listed"));
        assert_eq!(all.len(), times.len());
        for most in 0..=all.len() + 1 {
            let mut pages = repo
                .branch_pages(None, most, Encoding::default())
                .expect("listed");
            let listed: Vec<BranchRow> = pages
                .by_ref()
                .flat_map(|page| page.expect("read"))
                .collect();
            assert_eq!(told(&listed), all[..most.min(all.len())]);
            assert_eq!(pages.has_more(), most < all.len());
            // And what is behind one of them is the rest.
            let Some(last) = listed.last() else { continue };
            let rest = repo.branch_pages(Some(&last.name), usize::MAX, Encoding::default());
            let rest = rest.expect("listed").flat_map(|page| page.expect("read"));
            assert_eq!(told(&rest.collect::<Vec<_>>()), all[listed.len()..]);
        }
    }

    #[test]
    fn more_branches_than_a_page_has_are_listed_once_each() {
        let repo = Repo::ephemeral().expect("a repository");
        let draft = Draft::append(Message::text(Role::User, "hello"));
        let made = repo.commit(Call::default(), &[draft], &CommitOptions::default());
        let tip = RefValue::Commit(made.expect("committed")[0].hash);
        let tx = repo.store.write().expect("the lock");
        tx.begin_operation(Millis(0), "branches").expect("open");
        for at in 0..PAGE + 8 {
            let name = RefName::branch(&format!("b{at:04}")).expect("a name");
            tx.set_reference(&name, Some(&tip)).expect("moved");
        }
        tx.commit().expect("made");
        let pages = repo.branch_pages(None, usize::MAX, Encoding::default());
        let pages: Vec<usize> = pages
            .expect("listed")
            .map(|page| page.expect("read").len())
            .collect();
        assert_eq!(pages, [PAGE, 9]);
        let all = repo.branches(Encoding::default()).expect("listed");
        assert!(all.is_sorted_by(|one, next| one.name < next.name));
    }
}
