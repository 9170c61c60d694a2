//! A shelf in memory: what all refs share, who is killed while at it, and two at once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::*;
use crate::hash::fingerprint;

/// What stands on it.
#[derive(Default)]
struct Held {
    index: Option<Vec<u8>>,
    bundles: BTreeMap<String, Vec<u8>>,
    drawn: u64,
    /// How many bytes were ever put.
    put_bytes: u64,
    /// After how many steps whoever is at it is killed.
    left: Option<usize>,
    /// What somebody else does just before an index is put.
    meanwhile: Option<Box<dyn FnOnce()>>,
}

/// A shelf that several look at.
#[derive(Default)]
pub(super) struct Board {
    held: Rc<RefCell<Held>>,
    seen: Option<Vec<u8>>,
}

impl Board {
    /// The same, as somebody else sees it.
    pub(super) fn again(&self) -> Self {
        Self {
            held: Rc::clone(&self.held),
            seen: None,
        }
    }

    fn index(&self) -> Shelved {
        let held = self.held.borrow();
        let read = held.index.as_deref().map(Shelved::from_json);
        read.transpose().expect("it is one").unwrap_or_default()
    }

    fn names(&self) -> BTreeSet<String> {
        self.held.borrow().bundles.keys().cloned().collect()
    }

    fn room(&self) -> usize {
        self.held.borrow().bundles.values().map(Vec::len).sum()
    }

    /// Whether some bundle says this.
    fn says(&self, text: &str) -> bool {
        let held = self.held.borrow();
        let mut bundles = held.bundles.values();
        bundles.any(|bundle| {
            let packed = bundle
                .splitn(3, |byte| *byte == b'\n')
                .nth(2)
                .expect("a frame");
            let said = zstd::decode_all(packed).expect("it is one");
            String::from_utf8_lossy(&said).contains(text)
        })
    }

    fn step(&self) -> Result<()> {
        match &mut self.held.borrow_mut().left {
            Some(0) => Err(Error::Cancelled),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Nothing is there that nothing names, and all that is named is there.
    fn tidy(&self) {
        let is = self.index();
        let named: BTreeSet<String> = is.bundles.iter().map(|it| it.name.clone()).collect();
        assert_eq!(self.names(), named);
    }
}

impl Shelf for Board {
    fn look(&mut self) -> Result<Shelved> {
        self.seen = self.held.borrow().index.clone();
        Ok(self.index())
    }

    fn name(&mut self) -> Result<String> {
        let mut held = self.held.borrow_mut();
        held.drawn += 1;
        Ok(format!("{:032x}", held.drawn))
    }

    fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.held.borrow().bundles.get(name).cloned())
    }

    fn put(&mut self, is: &Shelved, new: &[(String, Vec<u8>)]) -> Result<bool> {
        let listed = self.names();
        for (name, bytes) in new {
            self.step()?;
            let mut held = self.held.borrow_mut();
            held.put_bytes += bytes.len() as u64;
            let old = held.bundles.insert(name.clone(), bytes.clone());
            assert_eq!(old, None, "a name is drawn once");
        }
        let meanwhile = self.held.borrow_mut().meanwhile.take();
        if let Some(act) = meanwhile {
            act();
        }
        self.step()?;
        if self.held.borrow().index != self.seen {
            for (name, _) in new {
                self.held.borrow_mut().bundles.remove(name);
            }
            return Ok(false);
        }
        self.seen = Some(is.to_json()?);
        self.held.borrow_mut().index = self.seen.clone();
        let named = |name: &String| is.bundles.iter().any(|it| it.name == *name);
        for name in listed.iter().filter(|name| !named(name)) {
            self.step()?;
            self.held.borrow_mut().bundles.remove(name);
        }
        Ok(true)
    }
}

fn seen<'a>(repo: &'a Repo, board: &Board) -> OnShelf<'a, Board> {
    OnShelf::new(repo, board.again()).expect("it can be seen")
}

fn push_as(
    repo: &Repo,
    board: &Board,
    names: &[RefName],
    options: &PushOptions<'_>,
) -> Result<Pushed> {
    let to = wanted(repo, names);
    let call = Call::at(Millis(1), "push");
    repo.push(call, &mut seen(repo, board), &to, options, &mut |_, _| {
        Ok(())
    })
}

/// Whoever has nothing yet has all that is there, and nothing is wrong with it.
fn cloned(board: &Board) -> Repo {
    let fresh = repo();
    fetch(&fresh, &mut seen(&fresh, board), Follow::Head).expect("cloned");
    for row in &board.index().refs {
        let name = RefName::of_remote("hub", &row.name).expect("a name");
        assert_eq!(tip(&fresh, &name), Some(row.commit));
    }
    sound(&fresh);
    fresh
}

const LEASED: PushOptions<'_> = PushOptions {
    with_lease: true,
    ..PUSH
};

#[test]
fn a_shelf_gets_what_is_new_and_gives_what_is_missing() {
    let (mine, yours) = (repo(), repo());
    let board = Board::default();
    let main = [branch("main")];
    let push = |repo: &Repo, options: &PushOptions<'_>| push_as(repo, &board, &main, options);
    for at in 0..3 {
        say(&mine, &On::Head, &format!("said {at}"));
        say(&mine, &On::Head, &format!("and {at}"));
        let done = push(&mine, &PUSH).expect("pushed");
        assert_eq!(done.carried.brought.commits, 2, "only what is new");
        let done = fetch(&yours, &mut seen(&yours, &board), Follow::Head).expect("pulled");
        assert_eq!(done.carried.brought.commits, 2);
    }
    assert_eq!(board.names().len(), 3, "a bundle for each");
    assert_eq!(tip(&yours, &main[0]), tip(&mine, &main[0]));
    assert_eq!(
        push(&mine, &PUSH).expect("pushed").carried,
        Carried::default()
    );
    // Both go on: who comes second is refused, and may take back what the other one has put there.
    say(&yours, &On::Head, "yours");
    push(&yours, &PUSH).expect("pushed");
    say(&mine, &On::Head, "mine");
    assert_eq!(
        push(&mine, &PUSH).expect("tried").refs[0].landed,
        Landed::Parted
    );
    fetch(&mine, &mut seen(&mine, &board), Follow::Tags).expect("fetched");
    assert_eq!(
        push(&mine, &LEASED).expect("pushed").refs[0].landed,
        Landed::Replaced
    );
    assert!(!board.says("\"yours\""), "what no ref leads to has gone");
    assert_eq!(board.names().len(), 4, "what was shared has stayed");
    let fresh = repo();
    fetch(&fresh, &mut seen(&fresh, &board), Follow::Head).expect("pulled");
    assert_eq!(tip(&fresh, &main[0]), tip(&mine, &main[0]));
    sound(&fresh);
    // Of a branch by another name, who has nothing yet is on that.
    mine.rename_branch(Call::at(Millis(5), "branch"), &main[0], &branch("idea"))
        .expect("renamed");
    let board = Board::default();
    push_as(&mine, &board, &[branch("idea")], &PUSH).expect("pushed");
    let fresh = repo();
    fetch(&fresh, &mut seen(&fresh, &board), Follow::Head).expect("pulled");
    let head = fresh.head(&On::Head).expect("reads");
    assert_eq!(
        (head.branch(), head.commit()),
        (Some(&branch("idea")), tip(&mine, &branch("idea")))
    );
}

#[test]
fn forks_share_what_they_have_in_common() {
    let mine = repo();
    for at in 0..200 {
        let noise = crate::hash::hex(&fingerprint(&[at]));
        say(&mine, &On::Head, &format!("said {at}: {noise}"));
    }
    let (board, main) = (Board::default(), branch("main"));
    let done = push_as(&mine, &board, &[main], &PUSH).expect("pushed");
    assert_eq!(done.carried.brought.commits, 200);
    let one = board.room();
    let mut names = Vec::new();
    for at in 0..10 {
        let name = branch(&format!("fork-{at}"));
        let to = format!("HEAD~{}", at * 10);
        let from = mine.resolve(&On::Head, &to).expect("it is there");
        mine.create_branch(Call::at(Millis(1), "branch"), &name, &from.to_string())
            .expect("made");
        say(&mine, &On::Branch(name.clone()), &format!("fork {at}"));
        names.push(name);
    }
    // At once, and one after the other.
    let all = Board::default();
    let dry = PushOptions {
        is_dry: true,
        ..PUSH
    };
    let done = push_as(&mine, &all, &names, &dry).expect("told");
    assert_eq!(done.would_send, 210, "each is counted once");
    let done = push_as(&mine, &all, &names, &PUSH).expect("pushed");
    assert_eq!(done.carried.brought.commits, 210, "each is sent once");
    for name in &names {
        let done = push_as(&mine, &board, std::slice::from_ref(name), &PUSH).expect("pushed");
        assert_eq!(done.carried.brought.commits, 1, "only its own");
    }
    for board in [&board, &all] {
        assert!(board.room() * 10 <= one * 12, "{} for {one}", board.room());
        board.tidy();
        let yours = cloned(board);
        for name in &names {
            let there = RefName::of_remote("hub", name).expect("a name");
            let end = tip(&mine, name).expect("it is here");
            assert_eq!(tip(&yours, &there), Some(end));
            assert_eq!(objects(&yours, &end), objects(&mine, &end));
        }
    }
    // What only one of them had goes with it.
    let gone = PushRef {
        name: names[3].clone(),
        commit: None,
    };
    let call = Call::at(Millis(1), "push");
    mine.push(
        call,
        &mut seen(&mine, &board),
        &[gone],
        &PUSH,
        &mut |_, _| Ok(()),
    )
    .expect("pushed");
    assert!(!board.says("fork 3") && board.says("fork 4"));
    board.tidy();
    cloned(&board);
}

#[test]
fn many_pushes_leave_few_bundles_and_each_goes_a_few_times() {
    let (mine, yours, board) = (repo(), repo(), Board::default());
    let main = [branch("main")];
    let mut sent = 0;
    for at in 0..120_u64 {
        let noise = crate::hash::hex(&fingerprint(&at.to_be_bytes()));
        say(&mine, &On::Head, &format!("{at} {noise}"));
        let done = push_as(&mine, &board, &main, &PUSH).expect("pushed");
        assert_eq!(done.carried.brought.commits, 1);
        sent += done.carried.size_bytes;
        board.tidy();
        assert!(board.names().len() <= 5, "{at}: {:?}", board.names());
        if at % 7 == 0 {
            fetch(&yours, &mut seen(&yours, &board), Follow::Head).expect("pulled");
            assert_eq!(tip(&yours, &main[0]), tip(&mine, &main[0]));
        }
    }
    let put = board.held.borrow().put_bytes;
    assert!(put < 6 * sent, "{put} for {sent}");
    let again = push_as(&mine, &board, &main, &PUSH).expect("pushed");
    assert_eq!(again.carried, Carried::default());
    // Who has an earlier end, and not the newest, sends what is new there and no more.
    let end = tip(&mine, &main[0]).expect("it has commits");
    assert_eq!(objects(&cloned(&board), &end), objects(&mine, &end));
    let behind = repo();
    let before = mine.resolve(&On::Head, "HEAD~9").expect("it is there");
    let tips = [BundleTip::new(main[0].clone(), before)];
    let (bundle, _) = mine.bundle(&tips, false).expect("bundled");
    behind
        .unbundle(
            Call::default(),
            &mut std::io::Cursor::new(bundle),
            &mut |_| {},
        )
        .expect("taken");
    let idea = branch("idea");
    behind
        .create_branch(Call::default(), &idea, &before.to_string())
        .expect("made");
    say(&behind, &On::Branch(idea.clone()), "another way");
    let done = push_as(&behind, &board, &[idea], &PUSH).expect("pushed");
    assert!(done.carried.brought.commits < 20, "{:?}", done.carried);
}

#[test]
fn a_file_that_grows_stands_there_once() {
    let (mine, yours, board) = (repo(), repo(), Board::default());
    let names = [branch("main"), RefName::session("claude-code", "s")];
    let sources = PushOptions {
        sources: true,
        ..PUSH
    };
    let mut file = Vec::new();
    let mut commits = Vec::new();
    for at in 0..12 {
        commits.push(say(&mine, &On::Head, &format!("said {at}")));
        file.extend(format!("line {at}\n").into_bytes());
        travel::keep(&mine, &names[1], &file, &commits);
        push_as(&mine, &board, &names, &sources).expect("pushed");
        board.tidy();
        assert!(board.names().len() <= 6, "{:?}", board.index().bundles);
    }
    travel::pull(&yours, &mut seen(&yours, &board), true);
    let end = *commits.last().expect("one");
    let own = travel::files(&mine, &names[1], &end);
    let there = travel::files(&yours, &names[1], &end);
    assert!(
        own.contains(&(file.clone(), 12)) && there.contains(&(file, 12)),
        "{there:?}"
    );
}

/// What one does to a shelf.
type Deed = fn(&Repo, &Board) -> Result<Pushed>;

#[test]
fn whoever_is_killed_at_any_step_loses_nobody_anything() {
    let deeds: [(&str, Deed); 5] = [
        ("grow", |mine, board| {
            push_as(mine, board, &[branch("main")], &PUSH)
        }),
        ("fork", |mine, board| {
            push_as(mine, board, &[branch("fork")], &PUSH)
        }),
        ("erase", |mine, board| {
            push_as(mine, board, &[branch("main")], &PUSH)
        }),
        ("force", |mine, board| {
            push_as(mine, board, &[branch("main")], &LEASED)
        }),
        ("delete", |mine, board| {
            let gone = PushRef {
                name: branch("fork"),
                commit: None,
            };
            let is_there = board.index().get(&gone.name).is_some();
            let gone: Vec<PushRef> = is_there.then_some(gone).into_iter().collect();
            let call = Call::at(Millis(1), "push");
            mine.push(call, &mut seen(mine, board), &gone, &PUSH, &mut |_, _| {
                Ok(())
            })
        }),
    ];
    let (mine, board) = (repo(), Board::default());
    let mut killed = 0;
    for round in 0..12 {
        let (what, deed) = deeds[[0, 0, 0, 1, 0, 0, 0, 2, 0, 3, 0, 4][round]];
        match what {
            "grow" => {
                say(&mine, &On::Head, &format!("grown {round} word-{round}"));
            }
            "fork" => {
                let at = mine.resolve(&On::Head, "HEAD~1").expect("it is there");
                let call = Call::at(Millis(1), "branch");
                mine.create_branch(call, &branch("fork"), &at.to_string())
                    .expect("made");
                say(&mine, &On::Branch(branch("fork")), "forked");
            }
            "erase" => {
                travel::erase(&mine, "word-2");
            }
            "force" => {
                let call = Call::at(Millis(4), "reset");
                mine.reset(call, "HEAD~1", ResetMode::Hard).expect("reset");
                say(&mine, &On::Head, "instead");
            }
            _ => {}
        }
        for step in 0.. {
            let before = board.index();
            board.held.borrow_mut().left = Some(step);
            let done = deed(&mine, &board);
            board.held.borrow_mut().left = None;
            let now = board.index();
            // All that was there, or all that was to be: never a part.
            cloned(&board);
            if done.is_ok() {
                break;
            }
            killed += 1;
            assert!(
                now == before || what == "erase" || now.refs != before.refs,
                "{what} {step}"
            );
        }
        // The next one takes away what was left behind.
        say(&mine, &On::Head, &format!("and more {round}"));
        push_as(&mine, &board, &[branch("main")], &PUSH).expect("pushed");
        board.tidy();
        let fresh = cloned(&board);
        let end = tip(&mine, &branch("main")).expect("it is here");
        assert_eq!(objects(&fresh, &end), objects(&mine, &end));
        assert_eq!(
            board.says("word-2 ") || board.says("word-2\""),
            (2..7).contains(&round)
        );
    }
    assert!(!board.says("forked"), "it was deleted there");
    assert!(killed > 30, "{killed}");
}

#[test]
fn of_two_at_once_both_are_there_and_of_one_ref_the_second_is_told() {
    for (theirs, is_same) in [("idea", false), ("main", true)] {
        for pushes in [1, 9] {
            let (mine, board) = (repo(), Board::default());
            let yours = Rc::new(repo());
            for at in 0..pushes {
                say(&mine, &On::Head, &format!("before {at}"));
                push_as(&mine, &board, &[branch("main")], &PUSH).expect("pushed");
            }
            fetch(&yours, &mut seen(&yours, &board), Follow::Head).expect("pulled");
            let at = tip(&yours, &branch("main")).expect("it is here");
            if !is_same {
                yours
                    .create_branch(Call::default(), &branch(theirs), &at.to_string())
                    .expect("made");
            }
            let told = say(&yours, &On::Branch(branch(theirs)), "yours");
            let own = say(&mine, &On::Head, "mine");
            let (other, there) = (Rc::clone(&yours), board.again());
            board.held.borrow_mut().meanwhile = Some(Box::new(move || {
                push_as(&other, &there, &[branch(theirs)], &PUSH).expect("pushed");
            }));
            let done = push_as(&mine, &board, &[branch("main")], &PUSH);
            let fresh = cloned(&board);
            board.tidy();
            let there = |name: &str| board.index().get(&branch(name)).map(|row| row.commit);
            assert_eq!(there(theirs), Some(told));
            if is_same {
                assert!(matches!(done, Err(Error::RefMoved { .. })), "{done:?}");
            } else {
                assert_eq!(done.expect("pushed").carried.brought.commits, 1);
                assert_eq!(there("main"), Some(own));
                assert_eq!(objects(&fresh, &own), objects(&mine, &own));
            }
        }
    }
}

#[test]
fn who_reads_what_is_just_being_folded_begins_again() {
    let (mine, yours, board) = (repo(), repo(), Board::default());
    let main = [branch("main")];
    for at in 0..5 {
        say(&mine, &On::Head, &format!("said {at}"));
        push_as(&mine, &board, &main, &PUSH).expect("pushed");
    }
    let mut reader = seen(&yours, &board);
    say(&mine, &On::Head, "one too many");
    push_as(&mine, &board, &main, &PUSH).expect("pushed");
    fetch(&yours, &mut reader, Follow::Head).expect("pulled");
    let there = tip(&yours, &main[0]).expect("it has come");
    assert_eq!(
        Some(there),
        Some(mine.resolve(&On::Head, "HEAD~1").expect("it is there"))
    );
    // What is lost is not waited for.
    let name = board.names().into_iter().next().expect("one");
    board.held.borrow_mut().bundles.remove(&name);
    let fresh = repo();
    let lost = fetch(&fresh, &mut seen(&fresh, &board), Follow::Head);
    assert!(matches!(lost, Err(Error::BrokenPeer { .. })), "{lost:?}");
}

#[test]
fn what_was_erased_stands_in_no_bundle_and_does_not_come_back() {
    let (mine, yours, board) = (repo(), repo(), Board::default());
    let main = [branch("main")];
    for text in ["hello", "a secret", "more"] {
        say(&mine, &On::Head, text);
        push_as(&mine, &board, &main, &PUSH).expect("pushed");
    }
    fetch(&yours, &mut seen(&yours, &board), Follow::Head).expect("pulled");
    assert!(board.says("a secret"));
    travel::erase(&mine, "a secret");
    let done = push_as(&mine, &board, &main, &PUSH).expect("pushed");
    assert_eq!(done.erased.listed, 1);
    assert!(!board.says("a secret") && board.says("hello") && board.says("more"));
    board.tidy();
    let end = tip(&mine, &main[0]).expect("it is here");
    assert_eq!(objects(&cloned(&board), &end), objects(&mine, &end));
    // Who has it still and pushes another branch of it brings it back to nobody.
    let idea = branch("idea");
    let at = tip(&yours, &main[0]).expect("it is here");
    yours
        .create_branch(Call::default(), &idea, &at.to_string())
        .expect("made");
    say(&yours, &On::Branch(idea.clone()), "a secret");
    push_as(&yours, &board, &[idea], &PUSH).expect("pushed");
    assert!(!board.says("a secret"));
    cloned(&board);
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    /// Whatever was said, set back, erased, deleted and pushed, whoever was killed at which step, and whoever pushed just then: what
    /// a push acknowledged is there for whoever clones, and of one that was killed all or nothing.
    #[test]
    fn what_a_push_acknowledged_is_there(
        draws in prop::collection::vec((0..3_usize, 0..9_u8, 0..14_usize), 1..40),
    ) {
        let board = Board::default();
        let people = [Rc::new(repo()), Rc::new(repo()), Rc::new(repo())];
        let own = |who: usize| branch(&format!("own-{who}"));
        for (who, mine) in people.iter().enumerate() {
            say(mine, &On::Head, &format!("first of {who}"));
            mine.rename_branch(Call::at(Millis(0), "branch"), &branch("main"), &own(who)).expect("renamed");
        }
        let mut there: [Option<CommitHash>; 3] = [None; 3];
        for (at, (who, what, step)) in draws.into_iter().enumerate() {
            let mine = &people[who];
            let name = own(who);
            let mut wanted = tip(mine, &name);
            match what {
                0 | 1 => { say(mine, &On::Head, &format!("said {at} by {who} word-{}", at % 3)); }
                2 => {
                    let call = Call::at(Millis(4), "reset");
                    if mine.reset(call, "HEAD~1", ResetMode::Hard).is_ok() {
                        say(mine, &On::Head, &format!("instead {at}"));
                    }
                }
                3 => { travel::erase(mine, &format!("by {who} word-{}", at % 3)); }
                4 => { fetch(mine, &mut seen(mine, &board), Follow::Tags).expect("fetched"); }
                _ => {
                    let other = (who + 1) % 3;
                    if step > 9 {
                        let (yours, place, name) = (Rc::clone(&people[other]), board.again(), own(other));
                        board.held.borrow_mut().meanwhile = Some(Box::new(move || {
                            let _ = push_as(&yours, &place, &[name], &LEASED).expect("pushed");
                        }));
                    } else {
                        board.held.borrow_mut().left = Some(step);
                    }
                    let done = if what == 8 && there[who].is_some() {
                        wanted = None;
                        let gone = PushRef { name: name.clone(), commit: None };
                        let call = Call::at(Millis(1), "push");
                        mine.push(call, &mut seen(mine, &board), &[gone], &PUSH, &mut |_, _| Ok(()))
                    } else {
                        push_as(mine, &board, std::slice::from_ref(&name), &LEASED)
                    };
                    board.held.borrow_mut().left = None;
                    let is_due = board.held.borrow_mut().meanwhile.take().is_some();
                    let now = |who: usize| board.index().get(&own(who)).map(|row| row.commit);
                    match done {
                        Ok(done) if done.refs[0].landed.is_refused() => prop_assert_eq!(now(who), there[who]),
                        Ok(_) => prop_assert_eq!(now(who), wanted),
                        Err(Error::Cancelled) => prop_assert!(now(who) == wanted || now(who) == there[who]),
                        Err(error) => prop_assert!(false, "{error:?}"),
                    }
                    if step > 9 && !is_due {
                        let theirs = tip(&people[other], &own(other));
                        prop_assert!(now(other) == theirs || now(other) == there[other]);
                    }
                    there = [0, 1, 2].map(now);
                }
            }
            let fresh = cloned(&board);
            for (who, commit) in there.iter().enumerate() {
                if let Some(commit) = commit {
                    let seen = RefName::of_remote("hub", &own(who)).expect("a name");
                    prop_assert_eq!(tip(&fresh, &seen), Some(*commit));
                }
            }
            prop_assert!(board.index().bundles.len() <= 5);
        }
        // The next who put anything take away what was left behind.
        for (who, mine) in people.iter().enumerate() {
            fetch(mine, &mut seen(mine, &board), Follow::Tags).expect("fetched");
            say(mine, &On::Head, "the last word");
            push_as(mine, &board, &[own(who)], &LEASED).expect("pushed");
        }
        board.tidy();
        for (who, mine) in people.iter().enumerate() {
            for word in 0..3 {
                let text = format!("by {who} word-{word}\"");
                let is_here = says_any(mine, &own(who), &text);
                prop_assert!(is_here || !board.says(&text), "{text}");
            }
            mine.second_reading()?;
        }
    }
}

/// Whether a message on a path says this.
fn says_any(repo: &Repo, name: &RefName, text: &str) -> bool {
    let all = objects(repo, &tip(repo, name).expect("it has commits"));
    let mut bodies = all.iter().flat_map(|(_, bodies)| bodies.iter().flatten());
    bodies.any(|body| body.contains(text))
}
