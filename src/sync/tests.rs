mod shelves;
mod travel;

use std::io::{BufReader, pipe};
use std::thread;

use proptest::prelude::*;

use shelves::Board;

use super::*;
use crate::error::Error;
use crate::laws::commands::command;
use crate::model::pattern::Pattern;
use crate::model::secret::{Leaving, Secrets};
use crate::model::{Draft, Message, Millis, RefValue, Role};
use crate::repo::{Call, CommitOptions, On, Repo, ResetMode, Target, load};
use crate::rewrite::SurgeryOptions;
use crate::sync::bundle::{Packing, kept_files, states};
use crate::upkeep::Erasing;
use crate::upkeep::fsck::Fsck;

const PUSH: PushOptions<'_> = PushOptions {
    is_named: false,
    remote: Some("hub"),
    sources: false,
    with_lease: false,
    is_dry: false,
    leaving: Leaving::Allowed,
};

fn repo() -> Repo {
    crate::laws::repository()
}

fn say(repo: &Repo, on: &On, text: &str) -> CommitHash {
    let draft = Draft::append(Message::text(Role::User, text));
    let call = Call::at(Millis(1), "commit").on(on);
    let made = repo.commit(call, &[draft], &CommitOptions::default());
    made.expect("committed")[0].hash
}

fn branch(name: &str) -> RefName {
    RefName::branch(name).expect("a name")
}

fn tip(repo: &Repo, name: &RefName) -> Option<CommitHash> {
    load::tip(&*repo.store.read().expect("a view"), name).expect("reads")
}

fn wanted(repo: &Repo, names: &[RefName]) -> Vec<PushRef> {
    let to = |name: &RefName| PushRef {
        name: name.clone(),
        commit: tip(repo, name),
    };
    names.iter().map(to).collect()
}

fn here(repo: &Repo) -> Here<'_> {
    Here {
        repo,
        now: &|| Millis(2),
    }
}

fn push(from: &Repo, to: &Repo, names: &[RefName], options: &PushOptions<'_>) -> Result<Pushed> {
    let wanted = wanted(from, names);
    from.push(
        Call::at(Millis(1), "push"),
        &mut here(to),
        &wanted,
        options,
        &mut |_, _| Ok(()),
    )
}

fn fetch(to: &Repo, from: &mut dyn Peer, follow: Follow) -> Result<Fetched> {
    let options = FetchOptions {
        remote: "hub",
        follow,
        ..FetchOptions::default()
    };
    to.fetch(Call::at(Millis(3), "pull"), from, &options, &mut |_, _| {
        Ok(())
    })
}

fn sound(repo: &Repo) {
    let Fsck { faults, .. } = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    assert!(faults.is_empty(), "{faults:?}");
}

/// All that leads anywhere: commits and messages, by their canonical forms.
fn objects(repo: &Repo, tip: &CommitHash) -> Vec<(CommitHash, Vec<Option<String>>)> {
    let view = repo.store.read().expect("a view");
    let rows = view.ancestors(tip, None, usize::MAX).expect("a path");
    let told = rows.into_iter().map(|row| {
        let bodies = view.bodies(
            &row.commit
                .operation
                .contents()
                .into_iter()
                .collect::<Vec<_>>(),
        );
        (row.hash, bodies.expect("bodies"))
    });
    told.collect()
}

#[test]
fn what_is_pushed_is_pulled_and_a_second_time_nothing_moves() {
    let (mine, hub, yours) = (repo(), repo(), repo());
    let main = branch("main");
    for at in 0..5 {
        say(&mine, &On::Head, &format!("said {at}"));
    }
    let done = push(&mine, &hub, std::slice::from_ref(&main), &PUSH).expect("pushed");
    assert_eq!(
        (done.carried.brought.commits, done.carried.brought.contents),
        (5, 5)
    );
    assert_eq!(done.refs[0].landed, Landed::New);
    let done = fetch(&yours, &mut here(&hub), Follow::Head).expect("pulled");
    assert_eq!(done.carried.brought.commits, 5);
    assert_eq!(tip(&yours, &main), tip(&mine, &main));
    let seen = RefName::of_remote("hub", &main).expect("a name");
    assert_eq!(tip(&yours, &seen), tip(&mine, &main));
    assert_eq!(
        tip(&mine, &seen),
        tip(&mine, &main),
        "where it was pushed to is known"
    );
    let tip_mine = tip(&mine, &main).expect("it has commits");
    assert_eq!(objects(&yours, &tip_mine), objects(&mine, &tip_mine));

    let again = push(&mine, &hub, std::slice::from_ref(&main), &PUSH).expect("pushed");
    assert_eq!(again.carried, Carried::default());
    let again = fetch(&yours, &mut here(&hub), Follow::Head).expect("pulled");
    assert_eq!(again.carried, Carried::default());
    assert!(again.refs.iter().all(|row| row.landed == Landed::Known));
    assert_eq!(
        yours.resolve(&On::Head, "hub/main").expect("it has a name"),
        tip_mine
    );
    [&mine, &hub, &yours].into_iter().for_each(sound);
}

#[test]
fn one_undo_takes_a_pull_back() {
    let (mine, yours) = (repo(), repo());
    say(&mine, &On::Head, "one");
    let before = yours.references("").expect("refs");
    fetch(&yours, &mut here(&mine), Follow::Head).expect("pulled");
    yours.undo(None, Millis(4)).expect("undone");
    assert_eq!(yours.references("").expect("refs"), before);
}

#[test]
fn only_what_is_missing_is_sent_wherever_two_paths_part() {
    for (shared, own, theirs) in [
        (0, 3, 0),
        (1, 1, 1),
        (40, 1, 1),
        (40, 40, 3),
        (100, 1, 50),
        (33, 90, 0),
        (1_100, 1_300, 2),
    ] {
        let (mine, hub) = (repo(), repo());
        let main = branch("main");
        for at in 0..shared {
            say(&mine, &On::Head, &format!("shared {at}"));
        }
        if shared > 0 {
            push(&mine, &hub, std::slice::from_ref(&main), &PUSH).expect("pushed");
        }
        for at in 0..theirs {
            say(&hub, &On::Head, &format!("theirs {at}"));
        }
        for at in 0..own {
            say(&mine, &On::Head, &format!("mine {at}"));
        }
        let to = PushRef {
            name: branch("mine"),
            commit: tip(&mine, &main),
        };
        let mut counted = Counted::of(here(&hub));
        let call = Call::at(Millis(1), "push");
        let done = mine.push(call, &mut counted, &[to], &PUSH, &mut |_, _| Ok(()));
        let brought = done.expect("pushed").carried.brought;
        assert_eq!(brought.commits, own, "{shared} {own} {theirs}");
        assert_eq!(counted.commits, own, "none is sent for nothing");
        assert!(counted.rounds <= 12, "{} rounds", counted.rounds);
        sound(&hub);
    }
}

/// Counts what is asked and sent.
struct Counted<'a> {
    peer: Here<'a>,
    rounds: u64,
    commits: u64,
    /// After so many takes it has gone away.
    takes: usize,
    /// Which byte of a bundle arrives otherwise.
    flip: Option<usize>,
}

impl<'a> Counted<'a> {
    fn of(peer: Here<'a>) -> Self {
        Self {
            peer,
            rounds: 0,
            commits: 0,
            takes: usize::MAX,
            flip: None,
        }
    }

    fn altered(&self, bundle: &[u8]) -> Vec<u8> {
        let mut bundle = bundle.to_vec();
        if let Some(at) = self.flip {
            let at = at % bundle.len();
            bundle[at] ^= 1;
        }
        bundle
    }

    fn one_less(&mut self) -> Result<()> {
        let gone = Error::BrokenPeer {
            detail: "has gone away".to_owned(),
        };
        self.takes = self.takes.checked_sub(1).ok_or(gone)?;
        Ok(())
    }
}

impl Answers for Counted<'_> {
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>> {
        self.rounds += 1;
        self.peer.has(commits)
    }

    fn at(&mut self, places: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>> {
        self.rounds += 1;
        self.peer.at(places)
    }

    fn give(&mut self, tips: &[BundleTip], packing: Packing) -> Result<Vec<u8>> {
        self.one_less()?;
        let bundle = self.peer.give(tips, packing)?;
        Ok(self.altered(&bundle))
    }

    fn take(&mut self, bundle: &[u8]) -> Result<Brought> {
        self.one_less()?;
        let all = zstd::decode_all(&bundle[80..]).expect("a frame");
        let lines = all.split(|byte| *byte == b'\n');
        self.commits += lines.filter(|line| line.starts_with(b"commit ")).count() as u64;
        let bundle = self.altered(bundle);
        self.peer.take(&bundle)
    }

    fn kept_files(&mut self, tips: &[CommitHash]) -> Result<Vec<KeptFile>> {
        self.peer.kept_files(tips)
    }

    fn file_states(&mut self, tips: &[CommitHash], files: &[KeptFile]) -> Result<Vec<FileState>> {
        self.peer.file_states(tips, files)
    }

    fn give_files(
        &mut self,
        tips: &[BundleTip],
        files: &[KeptFile],
        packing: Packing,
    ) -> Result<Vec<u8>> {
        self.one_less()?;
        self.peer.give_files(tips, files, packing)
    }
}

impl Peer for Counted<'_> {
    fn refs(&mut self) -> Result<PeerRefs> {
        self.rounds += 1;
        self.peer.refs()
    }

    fn move_refs(&mut self, what: &str, moves: &[RefMove]) -> Result<()> {
        self.one_less()?;
        self.peer.move_refs(what, moves)
    }

    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        self.peer.erased(contents)
    }

    fn erasures(&mut self, refs: &[PeerRef]) -> Result<Vec<ContentHash>> {
        self.peer.erasures(refs)
    }
}

#[test]
fn what_broke_off_goes_on_where_it_stopped() {
    let (mine, hub, yours) = (repo(), repo(), repo());
    let main = branch("main");
    for at in 0..3_500 {
        say(&mine, &On::Head, &format!("said {at}"));
    }
    let to = wanted(&mine, std::slice::from_ref(&main));
    let call = Call::at(Millis(1), "push");
    let mut counted = Counted::of(here(&hub));
    counted.takes = 1;
    let broken = mine.push(call, &mut counted, &to, &PUSH, &mut |_, _| Ok(()));
    assert!(
        matches!(broken, Err(Error::BrokenPeer { .. })),
        "{broken:?}"
    );
    assert_eq!(tip(&hub, &main), None, "no ref has moved");
    sound(&hub);
    let mut counted = Counted::of(here(&hub));
    mine.push(call, &mut counted, &to, &PUSH, &mut |_, _| Ok(()))
        .expect("pushed");
    assert_eq!(
        counted.commits,
        3_500 - 1_024,
        "what was there was not sent again"
    );

    let mut counted = Counted::of(here(&hub));
    counted.takes = 2;
    assert!(fetch(&yours, &mut counted, Follow::Head).is_err());
    assert_eq!(yours.references("").expect("refs"), []);
    let done = fetch(&yours, &mut here(&hub), Follow::Head).expect("pulled");
    assert_eq!(done.carried.brought.commits, 3_500 - 1_024 - 2_048);
    assert_eq!(tip(&yours, &main), tip(&mine, &main));
}

#[test]
fn what_was_damaged_on_the_way_is_refused() {
    let (mine, hub) = (repo(), repo());
    let main = branch("main");
    for at in 0..20 {
        say(&mine, &On::Head, &format!("said {at}"));
    }
    let to = wanted(&mine, std::slice::from_ref(&main));
    for flip in (0..2_000).step_by(37) {
        let mut counted = Counted::of(here(&hub));
        counted.flip = Some(flip);
        let call = Call::at(Millis(1), "push");
        let refused = mine.push(call, &mut counted, &to, &PUSH, &mut |_, _| Ok(()));
        assert!(
            matches!(refused, Err(Error::BrokenBundle { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(hub.references("").expect("refs"), []);
    assert_eq!(
        hub.store
            .read()
            .expect("a view")
            .all_contents()
            .expect("reads"),
        []
    );
}

#[test]
fn a_ref_there_only_goes_on_unless_it_is_where_it_was_seen() {
    let (mine, hub, yours) = (repo(), repo(), repo());
    let main = [branch("main")];
    say(&mine, &On::Head, "one");
    push(&mine, &hub, &main, &PUSH).expect("pushed");
    fetch(&yours, &mut here(&hub), Follow::Head).expect("pulled");
    say(&yours, &On::Head, "yours");
    push(&yours, &hub, &main, &PUSH).expect("pushed");
    let there = tip(&hub, &main[0]);
    say(&mine, &On::Head, "mine");

    let done = push(&mine, &hub, &main, &PUSH).expect("it was tried");
    assert_eq!(done.refs[0].landed, Landed::Parted);
    let leased = PushOptions {
        with_lease: true,
        ..PUSH
    };
    let done = push(&mine, &hub, &main, &leased).expect("it was tried");
    assert_eq!(done.refs[0].landed, Landed::Unseen, "it was seen elsewhere");
    assert_eq!(tip(&hub, &main[0]), there);

    let done = fetch(&mine, &mut here(&hub), Follow::Head).expect("fetched");
    assert_eq!((done.parted[0].ours, done.parted[0].theirs), (1, 1));
    let done = push(&mine, &hub, &main, &PUSH).expect("it was tried");
    assert_eq!(done.refs[0].landed, Landed::Parted);
    let done = push(&mine, &hub, &main, &leased).expect("pushed");
    assert_eq!(done.refs[0].landed, Landed::Replaced);
    assert_eq!(tip(&hub, &main[0]), tip(&mine, &main[0]));
}

/// What a hub is set to refuse stays, and the rest goes; who does not know of it is refused whole.
#[test]
fn what_a_hub_denies_stays_and_the_rest_goes() {
    let (mine, hub) = (repo(), repo());
    say(&mine, &On::Head, "one");
    let head = |name: &str| {
        let call = Call::at(Millis(1), "branch");
        mine.create_branch(call, &branch(name), "HEAD")
            .expect("made");
        branch(name)
    };
    let all = [branch("main"), head("old"), head("free"), head("release/1")];
    push(&mine, &hub, &all, &PUSH).expect("pushed");
    let delete = |names: &[&RefName]| {
        let gone = |name: &&RefName| PushRef {
            name: (*name).clone(),
            commit: None,
        };
        let wanted: Vec<PushRef> = names.iter().map(gone).collect();
        let call = Call::at(Millis(1), "push");
        let done = mine.push(call, &mut here(&hub), &wanted, &PUSH, &mut |_, _| Ok(()));
        let done = done.expect("it was tried").refs.into_iter();
        done.map(|row| row.landed).collect::<Vec<_>>()
    };
    let set = |key: &str, value: &str| hub.set_config(key, Some(value)).expect("kept");
    set("receive.protect", "main,release/*");
    let protected = Landed::Denied(Denial::Protected);
    let [main, old, free, release] = &all;
    assert_eq!(
        delete(&[main, old, release]),
        [protected, Landed::Deleted, protected]
    );
    assert!(tip(&hub, main).is_some() && tip(&hub, old).is_none());
    set("receive.denyDeletes", "true");
    assert_eq!(delete(&[free]), [Landed::Denied(Denial::Deletes)]);

    // The same of commits that would be lost, whatever the lease; what only goes on goes.
    let leased = PushOptions {
        with_lease: true,
        ..PUSH
    };
    set("receive.denyNonFastForwards", "true");
    let on = On::Branch(free.clone());
    say(&mine, &on, "two");
    push(&mine, &hub, &all, &leased).expect("pushed");
    let call = |on| Call::at(Millis(1), "reset").on(on);
    mine.reset(call(&on), "HEAD~1", ResetMode::Hard)
        .expect("reset");
    say(&mine, &on, "another two");
    say(&mine, &On::Head, "more");
    let done = push(&mine, &hub, &all[..3], &leased).expect("it was tried");
    let landed: Vec<Landed> = done.refs.iter().map(|row| row.landed).collect();
    let forced = Landed::Denied(Denial::NonFastForwards);
    assert_eq!(landed, [Landed::Grown, Landed::Known, forced]);
    assert_eq!(tip(&hub, main), tip(&mine, main));
    assert_ne!(tip(&hub, free), tip(&mine, free));

    // By pipes it is told as well, and who does not ask is refused.
    let before = hub.references("").expect("refs");
    let lost = RefMove {
        name: main.clone(),
        old: tip(&hub, main),
        new: None,
        is_forced: true,
        beside: Beside::default(),
    };
    let refused = here(&hub).move_refs("push", std::slice::from_ref(&lost));
    assert!(matches!(refused, Err(Error::Denied { .. })), "{refused:?}");
    let mut moved = lost.clone();
    (moved.name, moved.old, moved.new) = (free.clone(), tip(&hub, free), tip(&hub, old));
    let refused = here(&hub).move_refs("push", &[moved]);
    assert!(matches!(refused, Err(Error::Denied { .. })), "{refused:?}");
    assert_eq!(hub.references("").expect("refs"), before);
    let told = serde_json::to_string(&here(&hub).refs().expect("told")).expect("JSON");
    assert!(told.contains("\"denies\":{\"deletes\":true,"), "{told}");
    assert!(
        !serde_json::to_string(&here(&mine).refs().expect("told"))
            .expect("JSON")
            .contains("denies")
    );
}

#[test]
fn who_comes_second_loses_and_nothing_moves() {
    let (mine, hub) = (repo(), repo());
    let one = say(&mine, &On::Head, "one");
    push(&mine, &hub, &[branch("main")], &PUSH).expect("pushed");
    let two = say(&mine, &On::Head, "two");
    push(&mine, &hub, &[branch("main")], &PUSH).expect("pushed");
    let to = |name: &str, old, new| RefMove {
        name: branch(name),
        old,
        new: Some(new),
        is_forced: false,
        beside: Beside::default(),
    };
    let before = hub.references("").expect("refs");
    let moves = [to("new", None, one), to("main", Some(one), two)];
    let lost = here(&hub).move_refs("push", &moves);
    assert!(matches!(lost, Err(Error::RefMoved { .. })), "{lost:?}");
    let back = here(&hub).move_refs("push", &[to("new", None, one), to("main", Some(two), one)]);
    assert!(matches!(back, Err(Error::NotForward { .. })), "{back:?}");
    let nowhere = CommitHash::of("{}");
    let gone = here(&hub).move_refs("push", &[to("new", None, nowhere)]);
    assert!(matches!(gone, Err(Error::Overtaken { .. })), "{gone:?}");
    for name in ["HEAD", "refs/remotes/hub/main", "refs/heads/cafe"] {
        let mut odd = to("new", None, one);
        odd.name = name.parse().expect("a name");
        assert!(here(&hub).move_refs("push", &[odd]).is_err(), "{name}");
    }
    assert_eq!(hub.references("").expect("refs"), before);
}

#[test]
fn what_was_erased_does_not_come_back_and_the_other_side_is_told() {
    let (mine, hub) = (repo(), repo());
    let main = [branch("main")];
    say(&mine, &On::Head, "a secret");
    say(&mine, &On::Head, "more");
    push(&mine, &hub, &main, &PUSH).expect("pushed");
    let pattern = Pattern::regex("a secret").expect("one");
    let what = Erasing {
        pattern: Some(&pattern),
        ..Erasing::default()
    };
    mine.erase(Call::at(Millis(5), "purge"), &what)
        .expect("erased");
    let says = |repo: &Repo| -> Vec<Message> {
        let tip = tip(repo, &main[0]).expect("it has commits");
        repo.messages(&repo.context(&tip).expect("folds"))
            .expect("reads")
    };
    fetch(&mine, &mut here(&hub), Follow::Head).expect("pulled");
    assert_eq!(says(&mine)[0], Message::text(Role::User, "[purged]"));
    let told = push(&mine, &hub, &main, &PUSH).expect("pushed").erased;
    assert_eq!(
        told,
        ErasedThere {
            kept: 1,
            ..ErasedThere::default()
        }
    );
    assert_eq!(says(&hub)[0], Message::text(Role::User, "a secret"));
    hub.set_config("receive.purge", Some("allow"))
        .expect("kept");
    let told = push(&mine, &hub, &main, &PUSH).expect("pushed").erased;
    assert_eq!(
        told,
        ErasedThere {
            erased: 1,
            ..ErasedThere::default()
        }
    );
    assert_eq!(says(&hub), says(&mine));
    let told = push(&mine, &hub, &main, &PUSH).expect("pushed").erased;
    assert_eq!(told, ErasedThere::default());
    [&mine, &hub].into_iter().for_each(sound);
}

#[test]
fn nothing_leaves_while_there_is_a_secret_in_it() {
    let (mine, hub) = (repo(), repo());
    let main = [branch("main")];
    say(&mine, &On::Head, "fine");
    push(&mine, &hub, &main, &PUSH).expect("pushed");
    say(
        &mine,
        &On::Head,
        &format!("the key is AKIA{}", "QWERTYUIOPASDFGH"),
    );
    let secrets = Secrets::allowing(&[]).expect("made");
    let guarded = PushOptions {
        leaving: Leaving::Refused(&secrets),
        ..PUSH
    };
    let before = hub.references("").expect("refs");
    let refused = push(&mine, &hub, &main, &guarded);
    assert!(matches!(refused, Err(Error::Leaks { .. })), "{refused:?}");
    assert_eq!(hub.references("").expect("refs"), before);
    assert_eq!(
        hub.store
            .read()
            .expect("a view")
            .all_contents()
            .expect("reads")
            .len(),
        1
    );
}

#[test]
fn a_branch_goes_away_there_when_that_is_asked() {
    let (mine, hub) = (repo(), repo());
    say(&mine, &On::Head, "one");
    push(&mine, &hub, &[branch("main")], &PUSH).expect("pushed");
    let gone = PushRef {
        name: branch("main"),
        commit: None,
    };
    let call = Call::at(Millis(1), "push");
    let done = mine.push(
        call,
        &mut here(&hub),
        std::slice::from_ref(&gone),
        &PUSH,
        &mut |_, _| Ok(()),
    );
    assert_eq!(done.expect("pushed").refs[0].landed, Landed::Deleted);
    assert_eq!(hub.references("").expect("refs"), []);
    let again = mine.push(call, &mut here(&hub), &[gone], &PUSH, &mut |_, _| Ok(()));
    assert!(again.is_err(), "there is none");
}

/// All that a repository says.
trait Talks: Peer + Answers {}
impl<T: Peer + Answers> Talks for T {}

/// Lets `act` talk to `repo` through pipes.
fn through_pipes<T>(repo: Repo, act: impl FnOnce(&mut dyn Talks) -> T) -> (Repo, T) {
    let (asks, mut to) = pipe().expect("a pipe");
    let (from, answers) = pipe().expect("a pipe");
    let there = thread::spawn(move || {
        let answers = serve(&repo, &|| Millis(2), BufReader::new(asks), answers);
        answers.expect("served");
        repo
    });
    let mut wired = Wired::new(BufReader::new(from), &mut to).expect("it greets");
    let done = act(&mut wired);
    drop(wired);
    drop(to);
    (there.join().expect("it ended"), done)
}

#[test]
fn through_pipes_all_is_as_it_is_beside_each_other() {
    let (mine, yours) = (repo(), repo());
    let main = [branch("main")];
    for at in 0..1_500 {
        say(&mine, &On::Head, &format!("said {at}"));
    }
    let tag: RefName = RefName::tag("v1").expect("a name");
    mine.create_tag(Call::at(Millis(1), "tag"), &tag, "HEAD", Some("a note"))
        .expect("made");
    let to = wanted(&mine, &[main[0].clone(), tag.clone()]);
    let call = Call::at(Millis(1), "push");
    let (hub, done) = through_pipes(repo(), |there| {
        mine.push(call, there, &to, &PUSH, &mut |_, _| Ok(()))
    });
    assert_eq!(done.expect("pushed").carried.brought.commits, 1_500);
    let mut beside = here(&mine);
    let own = beside.refs().expect("refs");
    let (hub, refs) = through_pipes(hub, |there| there.refs());
    let refs = refs.expect("refs");
    assert_eq!(
        (&refs.head, &refs.refs),
        (&own.head, &own.refs),
        "notes, too"
    );
    let (hub, done) = through_pipes(hub, |there| fetch(&yours, there, Follow::Head));
    assert_eq!(done.expect("pulled").carried.brought.commits, 1_500);
    assert_eq!(tip(&yours, &tag), tip(&mine, &tag));
    let (_, refused) = through_pipes(hub, |there| there.at(&[(CommitHash::of("{}"), 3)]));
    assert!(matches!(refused, Err(Error::Peer { .. })), "{refused:?}");
    sound(&yours);
}

#[test]
fn who_speaks_otherwise_is_not_understood() {
    let greeted = format!("{PROTOCOL}\n");
    for said in [
        "",
        &format!("{PROTOCOL}\n{{\"ok\":18446744073709551615}}\n"),
        "Welcome to build.example\n",
        &greeted,
        &format!("{greeted}{{}}\n"),
        &format!("{greeted}{{\"ok\":{{\"head\":null,\"refs\":["),
    ] {
        let wired = Wired::new(said.as_bytes(), Vec::new());
        let refs = wired.and_then(|mut wired| wired.refs());
        assert!(
            matches!(refs, Err(Error::BrokenPeer { .. })),
            "{said:?}: {refs:?}"
        );
    }
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    /// Three who write, each on a branch of its own and on one that all share, and one whom all push to.
    #[test]
    fn whatever_was_done_all_agree_in_the_end(
        draws in prop::collection::vec((0..3_u8, any::<u8>(), any::<u8>(), any::<u8>()), 1..60),
    ) {
        let hub = repo();
        let people = [repo(), repo(), repo()];
        for (at, (who, kind, a, b)) in draws.into_iter().enumerate() {
            let mine = &people[who as usize];
            let now = Millis(at as i64);
            let call = Call::at(now, "test");
            let own = branch(&format!("own-{who}"));
            match kind % 8 {
                0 => {
                    let name = if a % 2 == 0 { own } else { branch("main") };
                    if tip(mine, &name).is_none() {
                        let _ = mine.create_branch(call, &name, "HEAD");
                    }
                    if tip(mine, &name).is_some() {
                        let to = Target::Named(name.short().to_owned());
                        mine.checkout(call, &to).expect("there it is");
                    }
                }
                1 | 2 => {
                    let names: Vec<RefName> = [own, branch("main")]
                        .into_iter()
                        .filter(|name| tip(mine, name).is_some())
                        .collect();
                    let to = wanted(mine, &names);
                    let mut counted = Counted::of(here(&hub));
                    // A third of them break off.
                    counted.takes = if a % 3 == 0 { b as usize % 3 } else { usize::MAX };
                    let _ = mine.push(call, &mut counted, &to, &PUSH, &mut |_, _| Ok(()));
                }
                3 => {
                    let mut counted = Counted::of(here(&hub));
                    counted.takes = if a % 3 == 0 { b as usize % 2 } else { usize::MAX };
                    let _ = fetch(mine, &mut counted, Follow::Head);
                }
                4 if a % 4 == 0 => {
                    let options = SurgeryOptions::default();
                    if mine.clear(call, true, &options).is_ok() {
                        // Of a branch that has nothing, or of what has a reason, it is refused.
                        let _ = mine.purge(call);
                    }
                }
                4 if a % 4 == 1 => {
                    let mode = ResetMode::Soft;
                    let _ = mine.reset(call, "HEAD^", mode);
                }
                _ => {
                    let _ = command(mine, (kind / 8, a, b), now);
                }
            }
        }
        // Everybody says what they have, and hears what there is.
        for (who, mine) in people.iter().enumerate() {
            let own = branch(&format!("own-{who}"));
            let all = mine.references(RefName::HEADS).expect("refs");
            if let Some((_, RefValue::Commit(commit))) = all.first() {
                let to = PushRef { name: own, commit: Some(*commit) };
                let leased = PushOptions { with_lease: true, ..PUSH };
                fetch(mine, &mut here(&hub), Follow::Tags).expect("fetched");
                let call = Call::at(Millis(1_000), "push");
                mine.push(call, &mut here(&hub), &[to], &leased, &mut |_, _| Ok(())).expect("pushed");
            }
        }
        sound(&hub);
        let there = here(&hub).refs().expect("refs").refs;
        for mine in &people {
            fetch(mine, &mut here(&hub), Follow::Tags).expect("fetched");
            for row in &there {
                let seen = RefName::of_remote("hub", &row.name).expect("a name");
                prop_assert_eq!(tip(mine, &seen), Some(row.commit));
                let (ours, theirs) = (objects(mine, &row.commit), objects(&hub, &row.commit));
                prop_assert_eq!(ours.len(), theirs.len());
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    prop_assert_eq!(ours.0, theirs.0);
                    // What was erased on one side may be here on the other, and nothing else differs.
                    for (ours, theirs) in ours.1.iter().zip(&theirs.1) {
                        let is_erased = |body: &Option<String>| {
                            body.as_ref().is_some_and(|body| body.contains("[purged]"))
                        };
                        prop_assert!(ours == theirs || is_erased(ours) || is_erased(theirs));
                    }
                }
            }
            sound(mine);
            mine.second_reading()?;
            let again = fetch(mine, &mut here(&hub), Follow::Tags).expect("fetched");
            prop_assert_eq!(again.carried, Carried::default());
        }
    }
}

/// As it is where somebody renames or removes the remote while its commits come.
#[test]
fn where_refs_were_seen_is_kept_for_a_remote_that_still_has_its_name() {
    let (mine, hub) = (repo(), repo());
    let main = branch("main");
    let said = say(&hub, &On::Head, "there");
    let seen = RefName::of_remote("hub", &main).expect("a name");
    let fetched = || {
        let options = FetchOptions {
            remote: "hub",
            is_named: true,
            ..FetchOptions::default()
        };
        mine.fetch(Call::default(), &mut here(&hub), &options, &mut |_, _| {
            Ok(())
        })
    };
    assert!(matches!(fetched(), Err(Error::Overtaken { .. })));
    assert_eq!(tip(&mine, &seen), None);
    mine.add_remote("hub", "elsewhere").expect("set");
    fetched().expect("fetched");
    assert_eq!(tip(&mine, &seen), Some(said));

    let other = say(&mine, &On::Branch(branch("own")), "here");
    mine.forget_remote(Call::default(), "hub")
        .expect("forgotten");
    let to = [PushRef {
        name: branch("own"),
        commit: Some(other),
    }];
    let options = PushOptions {
        is_named: true,
        ..PUSH
    };
    let call = Call::default();
    mine.push(call, &mut here(&hub), &to, &options, &mut |_, _| Ok(()))
        .expect("pushed");
    assert_eq!(tip(&hub, &branch("own")), Some(other));
    let seen = RefName::of_remote("hub", &branch("own")).expect("a name");
    assert_eq!(tip(&mine, &seen), None);
}
