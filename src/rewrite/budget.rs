//! Budgets: what happens to an append that makes the context larger than it should be.
//!
//! Only appends and edits are held to a budget, and only where the caller passes one: an import
//! keeps what it is given. Deliberately absent: running a summariser; [`Verdict::Compact`] says
//! that one is due.

use std::collections::{BTreeMap, HashSet};

use crate::context::plan::truncate::{Marker, Window, marker_number, truncate};
use crate::context::{Context, OrderEntry};
use crate::error::{Error, Result};
use crate::hash::CommitHash;
use crate::model::budget::{Budget, BudgetAction, BudgetWhen, NOTE};
use crate::model::tokens::{Counter, context_total};
use crate::model::{
    Draft, Encoding, EntryId, HideKind, Millis, Operation, Part, Priority, TokenCount,
};
use crate::query::cold::{self, CacheUse};
use crate::query::provider::{self, ProviderSays};
use crate::repo::append::CommitOptions;
use crate::repo::call::Call;
use crate::repo::chain::Chain;
use crate::repo::commit_rows::{Committed, Making};
use crate::repo::counts::Counting;
use crate::repo::repository::Repo;
use crate::repo::{load, path, pictures};
use crate::rewrite::{Needs, scene};
use crate::store::{Tx, View};

/// What a budget had to say about an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The context fits.
    Fits,
    /// The context is too large and stays so: nothing else was asked for, or what may be hidden is
    /// not enough.
    Over {
        /// Its tokens.
        total: TokenCount,
    },
    /// The last of the commits hides the oldest messages.
    Truncated {
        /// How many messages it hides.
        hidden: usize,
        /// The tokens with the new message.
        before: TokenCount,
        /// The tokens now.
        after: TokenCount,
    },
    /// The context is too large and stays so until the provider's cache is cold.
    Waits {
        /// Its tokens.
        total: TokenCount,
        /// The last use of the cache.
        last_use: CacheUse,
    },
    /// The context is too large, and old tool outputs are to be pruned.
    Prune {
        /// Its tokens.
        total: TokenCount,
        /// What is to happen where that does not keep the budget ([`Repo::keep_within`]).
        otherwise: Vec<BudgetAction>,
    },
    /// The context is too large, and this command is to summarise what is old. Where the repository
    /// isn't the caller's own ([`Repo::is_own`]), neither is the command: it is not to be run.
    Compact {
        /// Its tokens.
        total: TokenCount,
        /// The command.
        command: String,
        /// What is to happen where it makes no summary, or one that does not keep the budget
        /// ([`Repo::keep_within`]).
        otherwise: Vec<BudgetAction>,
    },
}

/// Commits that were made within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Within {
    /// The commits that were asked for, and after them a truncation's.
    pub commits: Vec<Committed>,
    /// Those of other branches, which moved along.
    pub moved: Vec<Committed>,
    /// What the budget had to say.
    pub verdict: Verdict,
}

impl Repo {
    /// Holds what was committed a moment ago to a budget, where what was done about it did not keep it: its actions
    /// are those that are left.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::commit`].
    pub fn keep_within(
        &self,
        call: Call<'_>,
        new: &[Committed],
        budget: &Budget,
    ) -> Result<Within> {
        let hold = |making: &mut Making<'_>| hold(making, new, budget, call.now);
        let options = CommitOptions::default();
        let (commits, verdict) = self.make(call, &[], &options, Chain::at, hold)?;
        Ok(Within {
            commits,
            moved: Vec::new(),
            verdict,
        })
    }

    /// Does what [`Repo::commit`] does, held to a budget: what it hides is part of the one operation.
    /// What of the context has no count yet is counted under the write lock.
    ///
    /// # Errors
    ///
    /// Those of [`Repo::commit`], and [`Error::OverBudget`] where the budget's action is to refuse.
    ///
    /// ```
    /// use tract::repo::{Call, CommitOptions, On, Repo};
    /// use tract::rewrite::Verdict;
    /// use tract::model::{Draft, Message, Role};
    ///
    /// let repo = Repo::ephemeral()?;
    /// repo.set_config("budget.max", Some("9"))?;
    /// let budget = repo.config()?.budget()?.expect("just set");
    /// let draft = |text| Draft::append(Message::text(Role::User, text));
    ///
    /// let options = CommitOptions::default();
    /// let small = repo.commit_within(Call::default(), &[draft("hello")], &options, &budget)?;
    /// assert_eq!(small.verdict, Verdict::Fits);
    /// let large = repo.commit_within(Call::default(), &[draft("and more")], &options, &budget)?;
    /// assert!(matches!(large.verdict, Verdict::Over { .. }));
    /// # Ok::<(), tract::Error>(())
    /// ```
    pub fn commit_within(
        &self,
        call: Call<'_>,
        drafts: &[Draft],
        options: &CommitOptions<'_>,
        budget: &Budget,
    ) -> Result<Within> {
        let hold = |making: &mut Making<'_>| {
            let new = making.done.clone();
            let verdict = hold(making, &new, budget, call.now)?;
            Ok((verdict, std::mem::take(&mut making.moved)))
        };
        let (commits, (verdict, moved)) = self.make(call, drafts, options, Chain::at, hold)?;
        Ok(Within {
            commits,
            moved,
            verdict,
        })
    }
}

/// Holds a chain to a budget, to which `new` was added last. A truncation is added as well.
///
/// # Errors
///
/// [`Error::OverBudget`] where the action is to refuse; nothing of the transaction may remain then.
fn hold(
    making: &mut Making<'_>,
    new: &[Committed],
    budget: &Budget,
    now: Millis,
) -> Result<Verdict> {
    let held = |committed: &Committed| {
        let operation = &committed.commit.operation;
        matches!(operation, Operation::Append { .. } | Operation::Edit { .. })
    };
    if !new.iter().any(held) {
        return Ok(Verdict::Fits);
    }
    let context = making.chain.context(making.tx)?.clone();
    let counting = Counting::new(budget.encoding);
    let tip = making.chain.tip();
    let Some(weighed) = weigh(making.tx, counting, tip, &context, budget.max)? else {
        return Ok(Verdict::Fits);
    };
    let counting = Counting::new(weighed.encoding);
    let ours = context_total(weighed.counts.iter().copied());
    let total = weighed.says.total(ours);
    let warm = match (budget.when, tip) {
        (BudgetWhen::Cold, Some(tip)) => cold::cache_use(making.tx, &tip, now)?,
        _ => None,
    };
    let warm = warm.filter(|last_use| !last_use.is_cold());
    let mut actions = budget.actions();
    while let Some(action) = actions.next() {
        if let Some(last_use) = warm.as_ref().filter(|_| action.makes_room()) {
            let last_use = last_use.clone();
            return Ok(Verdict::Waits { total, last_use });
        }
        match action {
            BudgetAction::Warn => break,
            BudgetAction::Refuse if shrank(making, counting, ours)? => break,
            BudgetAction::Refuse => {
                return Err(Error::OverBudget {
                    total: total.tokens,
                    max: budget.max,
                });
            }
            BudgetAction::Prune => {
                return Ok(Verdict::Prune {
                    total,
                    otherwise: actions.cloned().collect(),
                });
            }
            BudgetAction::Compact(command) => {
                return Ok(Verdict::Compact {
                    total,
                    command: command.clone(),
                    otherwise: actions.cloned().collect(),
                });
            }
            BudgetAction::Truncate => {
                let made = truncate_to(making, new, &context, &weighed, counting, budget)?;
                if let Some((hidden, after)) = made {
                    return Ok(Verdict::Truncated {
                        hidden,
                        before: total,
                        after,
                    });
                }
            }
        }
    }
    Ok(Verdict::Over { total })
}

/// Hides the oldest messages of a context that is too large: how many, and what is left; none where that would not
/// be enough.
fn truncate_to(
    making: &mut Making<'_>,
    new: &[Committed],
    context: &Context,
    Weighed { counts, says, .. }: &Weighed,
    counting: Counting,
    budget: &Budget,
) -> Result<Option<(usize, TokenCount)>> {
    let within = Budget {
        max: says.ours_within(budget.max),
        target: says.ours_within(budget.target),
        ..budget.clone()
    };
    let Some(draft) = truncation(making, new, counts, &within, counting.counter())? else {
        return Ok(None);
    };
    making.push(&draft)?;
    let after = making.chain.context(making.tx)?;
    let stays: HashSet<EntryId> = after.entries.iter().map(|entry| entry.id).collect();
    let hidden = context
        .entries
        .iter()
        .filter(|entry| entry.placed != Some(HideKind::Truncation) && !stays.contains(&entry.id));
    let counts = counting.fill_in(making.tx, after)?;
    let after = says.total(context_total(counts));
    Ok(Some((hidden.count(), after)))
}

/// Whether the context was larger before: an edit that helps is welcome, over budget or not.
fn shrank(making: &Making<'_>, counting: Counting, total: TokenCount) -> Result<bool> {
    let before = making.done.first().and_then(|first| first.commit.parent);
    let Some(before) = before else {
        return Ok(false);
    };
    let before = load::context(making.tx, &before)?;
    let before = context_total(counting.fill_in(making.tx, &before)?);
    Ok(total.tokens < before.tokens)
}

/// The hide that takes the context down to the target, or failing that as far as it goes; none if
/// it would still be over the most. `counts` are those of the context.
fn truncation(
    making: &Making<'_>,
    new: &[Committed],
    counts: &[TokenCount],
    budget: &Budget,
    counter: Counter,
) -> Result<Option<Draft>> {
    let tip = making.chain.tip().expect("something was just added");
    let new: HashSet<EntryId> = new
        .iter()
        .map(|committed| match &committed.commit.operation {
            Operation::Edit { target, .. } => path::entry_of(making.tx, *target),
            _ => Ok(committed.hash.into()),
        })
        .collect::<Result<_>>()?;
    let mut input = scene::input(making.tx, &tip, counts, &Needs::messages())?;
    let mut markers = BTreeMap::new();
    for entry in &mut input.order {
        if new.contains(&entry.entry.id) {
            // Never the new message: pinned here, where nobody else sees it.
            entry.entry.priority = Priority::Pinned;
        }
        if let Some(number) = automatic(making.tx, &entry.entry)? {
            markers.insert(entry.entry.id, number);
        }
    }
    let marker = Marker::Sum(markers);
    let longest = marker.longest(&input);
    let longest = longest.map_or(0, |message| counter.message(&message).tokens);
    let plan = |tokens| {
        let window = Window::Budget {
            tokens,
            whole: budget.max,
            marker: longest,
        };
        truncate(&input, window, false, &marker)
    };
    let planned = match plan(budget.target) {
        Err(Error::CannotFit { least, .. }) if least <= budget.max => plan(least),
        Err(Error::CannotFit { .. }) => Ok(None),
        planned => planned,
    }?;
    Ok(planned.map(|draft| Draft {
        note: Some(NOTE.to_owned()),
        author: None,
        ..draft
    }))
}

/// The number that an automatic truncation's marker states; none for any other entry.
fn automatic(view: &dyn View, entry: &OrderEntry) -> Result<Option<u64>> {
    let (Some((hide, HideKind::Truncation)), true) = (entry.placed, entry.visible) else {
        return Ok(None);
    };
    if load::commit(view, &hide)?.commit.note.as_deref() != Some(NOTE) {
        return Ok(None);
    }
    let message = load::content(view, &entry.content)?;
    Ok(match message.parts.as_slice() {
        [Part::Text { text }] => marker_number(text),
        _ => None,
    })
}

/// A context that is too large.
struct Weighed {
    /// The tokens of each entry, by our count.
    counts: Vec<TokenCount>,
    /// What they are counted in.
    encoding: Encoding,
    /// What the provider says it counts.
    says: ProviderSays,
}

/// The context's weight, if it is more than `max`.
fn weigh(
    tx: &dyn Tx,
    counting: Counting,
    tip: Option<CommitHash>,
    context: &Context,
    max: u64,
) -> Result<Option<Weighed>> {
    let mut encoding = counting.encoding();
    let mut counts = counting.fill_in(tx, context)?;
    if pictures::are_among(&counts) {
        encoding = pictures::within(tx, context, encoding)?;
        counts = Counting::new(encoding).fill_in(tx, context)?;
    }
    // Of a range nobody says that it is too much.
    let fits = |says: &ProviderSays| says.range(context_total(counts.iter().copied())).0 <= max;
    let says = match &tip {
        Some(tip) => match provider::says(tx, tip, context, &counts, encoding)? {
            says if fits(&says) => says,
            says => says.with_shape(tx, tip, encoding)?,
        },
        None => ProviderSays::Nothing,
    };
    Ok((!fits(&says)).then_some(Weighed {
        counts,
        encoding,
        says,
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::budget::BudgetTarget;
    use crate::model::{Message, Role};
    use crate::repo::{CommitOptions, On};

    fn budget(max: u64, action: BudgetAction) -> Budget {
        Budget {
            max,
            target: BudgetTarget::default().of(max),
            action,
            otherwise: Vec::new(),
            when: BudgetWhen::Always,
            encoding: Encoding::default(),
        }
    }

    fn said(role: Role, text: &str) -> Draft {
        Draft::append(Message::text(role, text))
    }

    fn result(call: &str) -> Draft {
        Draft::append(Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Tool,
            name: None,
            parts: vec![Part::ToolResult {
                call: call.into(),
                content: vec![Part::text("output ".repeat(20))],
                is_error: false,
            }],
        })
    }

    fn call(id: &str) -> Draft {
        Draft::append(Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role: Role::Assistant,
            name: None,
            parts: vec![Part::ToolCall {
                id: id.into(),
                name: "read".into(),
                arguments: "{}".into(),
                kind: None,
            }],
        })
    }

    fn commit(repo: &Repo, draft: Draft, budget: &Budget) -> Result<Within> {
        repo.commit_within(Call::default(), &[draft], &CommitOptions::default(), budget)
    }

    fn tip(repo: &Repo) -> Option<CommitHash> {
        repo.head(&On::Head).expect("a head").commit()
    }

    fn context(repo: &Repo) -> Context {
        tip(repo).map_or_else(Context::default, |tip| {
            repo.context(&tip).expect("a context")
        })
    }

    fn total(repo: &Repo) -> u64 {
        let counts = repo.counts(&context(repo), Encoding::default());
        context_total(counts.expect("counts")).tokens
    }

    fn texts(repo: &Repo) -> Vec<String> {
        let messages = repo.messages(&context(repo)).expect("messages");
        let text = |message: Message| match message.parts.into_iter().next() {
            Some(Part::Text { text }) => text.chars().take(40).collect(),
            Some(Part::ToolCall { id, .. }) => format!("call {id}"),
            Some(Part::ToolResult { call, .. }) => format!("result {call}"),
            other => format!("{other:?}"),
        };
        messages.into_iter().map(text).collect()
    }

    #[test]
    fn a_refusal_leaves_nothing_behind() {
        let repo = Repo::ephemeral().expect("a repository");
        let small = budget(20, BudgetAction::Refuse);
        commit(&repo, said(Role::User, "hello"), &small).expect("it fits");
        let before = tip(&repo);
        let draft = said(Role::User, &"far too long ".repeat(20));
        let content = draft.messages[0].hash();
        match commit(&repo, draft, &small) {
            Err(Error::OverBudget { total, max }) => assert!(total > max && max == 20),
            other => panic!("{other:?}"),
        }
        assert_eq!(tip(&repo), before);
        let view = repo.store.read().expect("a view");
        assert_eq!(view.content(&content).expect("reads"), None);
        assert_eq!(view.operations(None, 9).expect("reads").len(), 1);
    }

    #[test]
    fn an_edit_that_makes_the_context_smaller_is_not_refused() {
        let repo = Repo::ephemeral().expect("a repository");
        let roomy = budget(1_000, BudgetAction::Refuse);
        let long = said(Role::User, &"long ".repeat(50));
        let done = commit(&repo, long, &roomy).expect("it fits");
        let entry = EntryId::of(done.commits[0].hash);
        let tight = budget(20, BudgetAction::Refuse);
        let edit = |words| Draft::edit(entry, Message::text(Role::User, "less ".repeat(words)));
        let done = commit(&repo, edit(30), &tight).expect("it helps");
        assert!(matches!(done.verdict, Verdict::Over { .. }));
        let refused = commit(&repo, edit(31), &tight);
        assert!(matches!(refused, Err(Error::OverBudget { .. })));
    }

    #[test]
    fn an_overrun_that_stands_is_told() {
        let repo = Repo::ephemeral().expect("a repository");
        let warn = budget(8, BudgetAction::Warn);
        let done = commit(&repo, said(Role::User, "hello"), &warn).expect("an append");
        assert_eq!(done.verdict, Verdict::Fits);
        let done = commit(&repo, said(Role::User, "hello"), &warn).expect("an append");
        assert!(matches!(done.verdict, Verdict::Over { total } if total.tokens == 13));
        let compact = budget(8, BudgetAction::Compact("llm".into()));
        let done = commit(&repo, said(Role::User, "hello"), &compact).expect("an append");
        assert!(matches!(done.verdict, Verdict::Compact { command, .. } if command == "llm"));
        assert_eq!(context(&repo).entries.len(), 3);
    }

    #[test]
    fn a_truncation_is_one_operation_and_its_marker_adds_up() {
        let repo = Repo::ephemeral().expect("a repository");
        let budget = budget(150, BudgetAction::Truncate);
        let reply = "a reply of a few more words than that ".repeat(2);
        let mut truncations = 0;
        commit(&repo, said(Role::System, "rules"), &budget).expect("it fits");
        commit(&repo, said(Role::User, "the task"), &budget).expect("it fits");
        for round in 0..12 {
            let question = said(Role::User, &format!("question {round}"));
            for draft in [said(Role::Assistant, &reply), question] {
                let done = commit(&repo, draft, &budget).expect("an append");
                let now = total(&repo);
                assert!(now <= 150);
                if let Verdict::Truncated { after, .. } = done.verdict {
                    truncations += 1;
                    assert_eq!((done.commits.len(), after.tokens), (2, now));
                    assert!(now <= budget.target);
                }
            }
        }
        assert!(truncations >= 2);
        let seen = texts(&repo);
        assert_eq!(seen[..2], ["rules", "the task"]);
        let markers = context(&repo);
        let markers = markers
            .entries
            .iter()
            .filter(|entry| entry.placed.is_some());
        assert_eq!(markers.count(), 1, "{seen:?}");
        let hidden = context(&repo).total_entries - seen.len() as u64 - truncations;
        let marker = repo.messages(&context(&repo)).expect("messages").remove(2);
        let Some(Part::Text { text }) = marker.parts.first() else {
            panic!("{marker:?}");
        };
        // All entries are the messages and the markers; one marker is among those seen.
        assert_eq!(marker_number(text), Some(hidden + 1));
        let operations = repo.store.read().expect("a view").operations(None, 99);
        assert_eq!(operations.expect("reads").len(), 26, "one for each append");
    }

    #[test]
    fn the_current_turn_the_new_message_and_open_calls_stay() {
        let repo = Repo::ephemeral().expect("a repository");
        let none = budget(1_000_000, BudgetAction::Warn);
        for draft in [
            said(Role::User, "the task"),
            call("open"),
            call("a"),
            result("a"),
            said(Role::User, "now this"),
            call("b"),
        ] {
            commit(&repo, draft, &none).expect("it fits");
        }
        let tight = budget(total(&repo) + 20, BudgetAction::Truncate);
        let done = commit(&repo, result("b"), &tight).expect("an append");
        assert!(
            matches!(done.verdict, Verdict::Truncated { hidden: 2, .. }),
            "{done:?}"
        );
        let marker = "[Sliding window truncation: 2 messages hi";
        let marker = &marker[..40];
        let left = [
            "the task",
            "call open",
            marker,
            "now this",
            "call b",
            "result b",
        ];
        assert_eq!(texts(&repo), left);

        // Nothing more may go: the append stands, and nothing is hidden in vain.
        let tight = budget(30, BudgetAction::Truncate);
        let done = commit(&repo, said(Role::Assistant, "done"), &tight).expect("an append");
        assert!(matches!(done.verdict, Verdict::Over { .. }), "{done:?}");
        assert_eq!(done.commits.len(), 1);
        assert_eq!(context(&repo).entries.len(), 7);
    }

    #[test]
    fn an_edited_message_is_new_and_stays() {
        let repo = Repo::ephemeral().expect("a repository");
        let none = budget(1_000_000, BudgetAction::Warn);
        let mut made = Vec::new();
        for text in ["task", "one", "two", "three"] {
            let done = commit(&repo, said(Role::User, text), &none).expect("it fits");
            made.push(EntryId::of(done.commits[0].hash));
        }
        let long = Message::text(Role::User, "long ".repeat(30));
        let tight = budget(total(&repo) + 26, BudgetAction::Truncate);
        let edit = Draft::edit(made[1], long);
        let done = commit(&repo, edit, &tight).expect("an edit");
        // Of task, one, two and three only two may go, and its marker is larger.
        assert!(matches!(done.verdict, Verdict::Over { .. }), "{done:?}");
        assert!(texts(&repo)[1].starts_with("long"));
    }

    #[test]
    fn what_is_left_to_do_is_done_to_what_was_committed() {
        let repo = Repo::ephemeral().expect("a repository");
        let long = "one two three four ".repeat(30);
        for (at, text) in ["the task", &long, &long, "nine"].iter().enumerate() {
            let role = [Role::User, Role::Assistant][at % 2];
            commit(&repo, said(role, text), &budget(9_999, BudgetAction::Warn)).expect("stands");
        }
        let mut tight = budget(total(&repo) + 1, BudgetAction::Compact("false".into()));
        tight.otherwise = vec![BudgetAction::Truncate];
        let done = commit(&repo, said(Role::User, "more of it"), &tight).expect("it stands");
        let Verdict::Compact { otherwise, .. } = done.verdict else {
            panic!("{done:?}");
        };
        tight.action = otherwise[0].clone();
        tight.otherwise = Vec::new();
        let call = Call::default();
        let kept = repo
            .keep_within(call, &done.commits, &tight)
            .expect("it is held");
        assert!(
            matches!(kept.verdict, Verdict::Truncated { .. }),
            "{kept:?}"
        );
        assert!(total(&repo) <= tight.max);
        assert!(texts(&repo).last().is_some_and(|last| last == "more of it"));
        // Nothing is written where it fits.
        let before = repo.operations(99).expect("read").len();
        let again = repo
            .keep_within(call, &done.commits, &tight)
            .expect("it is held");
        assert_eq!(again.verdict, Verdict::Fits);
        assert_eq!(repo.operations(99).expect("read").len(), before);
    }

    #[test]
    fn settings_are_read_as_they_are_written() {
        let repo = Repo::ephemeral().expect("a repository");
        assert_eq!(repo.config().and_then(|c| c.budget()).expect("read"), None);
        let set = |key: &str, value: &str| repo.set_config(key, Some(value)).expect("set");
        set("budget.max", "1000");
        assert_eq!(
            repo.config().and_then(|c| c.budget()).expect("read"),
            Some(budget(1_000, BudgetAction::Warn))
        );
        set("budget.action", "compact:llm -m small");
        set("budget.target", "2000");
        let read = repo
            .config()
            .and_then(|c| c.budget())
            .expect("read")
            .expect("set");
        assert_eq!(read.target, 1_000, "never above the most");
        assert_eq!(read.action.to_string(), "compact:llm -m small");
    }

    proptest! {
        #![proptest_config(crate::conditions::laws(32))]

        /// A truncation that was made fits; one that was not could not have.
        #[test]
        fn whatever_is_said_a_truncation_keeps_the_budget_or_says_so(
            talk in prop::collection::vec((0_u8..6, 0_usize..60), 1..30),
            max in 20_u64..400,
        ) {
            let repo = Repo::ephemeral().expect("a repository");
            let budget = budget(max, BudgetAction::Truncate);
            for (at, (kind, words)) in talk.iter().enumerate() {
                let id = (at / 3).to_string();
                let draft = match kind {
                    0 | 1 => said(Role::User, &"ask ".repeat(*words)),
                    2 => said(Role::Assistant, &"say ".repeat(*words)),
                    3 => call(&id),
                    4 => result(&id),
                    _ => said(Role::System, &"rule ".repeat(*words % 5)),
                };
                let done = commit(&repo, draft, &budget).expect("it stands");
                let new = EntryId::of(done.commits[0].hash);
                prop_assert!(context(&repo).position(&new).is_some());
                match done.verdict {
                    Verdict::Fits => prop_assert!(total(&repo) <= max),
                    Verdict::Over { total: told } => {
                        prop_assert_eq!(told.tokens, total(&repo));
                        prop_assert!(told.tokens > max);
                    }
                    Verdict::Truncated { after, before, .. } => {
                        prop_assert_eq!(after.tokens, total(&repo));
                        prop_assert!(after.tokens <= max && before.tokens > max);
                    }
                    _ => prop_assert!(false),
                }
            }
            repo.second_reading()?;
        }
    }
}
