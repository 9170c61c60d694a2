//! Session files and erasures go where commits went before, and what is broken or hostile stops nothing else.

use super::*;
use crate::hash::fingerprint;
use crate::model::Span;
use crate::store::SourceState;

const SOURCES: PushOptions<'_> = PushOptions {
    sources: true,
    ..PUSH
};

fn session(name: &str) -> RefName {
    RefName::session("claude-code", name)
}

/// Keeps a session's file, of which these commits came.
pub(super) fn keep(repo: &Repo, name: &RefName, file: &[u8], commits: &[CommitHash]) {
    let tx = repo.store.write().expect("a transaction");
    tx.begin_operation(Millis(7), "import").expect("begun");
    let tip = RefValue::Commit(*commits.last().expect("one"));
    tx.set_reference(name, Some(&tip)).expect("set");
    let newest = tx.sources(name).expect("reads").first().map(|it| it.id);
    let source = tx.put_source(name, "claude-code", newest).expect("kept");
    tx.append_source(source, &SourceState::empty(), file, &fingerprint(file))
        .expect("kept");
    for commit in commits {
        let span = Span { offset: 0, len: 4 };
        tx.put_records(commit, source, &[span]).expect("kept");
    }
    tx.commit().expect("durable");
}

/// The bytes of all files of a session, and how many records of a path are in them.
pub(super) fn files(repo: &Repo, name: &RefName, tip: &CommitHash) -> Vec<(Vec<u8>, u64)> {
    let view = repo.store.read().expect("a view");
    let told = kept_files(&*view, &[*tip]).expect("told");
    let told = told.into_iter().filter(|file| file.session == *name);
    told.map(|file| {
        let sources = view.sources(name).expect("reads");
        let source = sources
            .iter()
            .find(|it| it.size_bytes == file.size_bytes)
            .expect("it is kept");
        let span = Span {
            offset: 0,
            len: source.size_bytes,
        };
        let bytes = view.source_bytes(source.id, span).expect("reads");
        (bytes, file.commits)
    })
    .collect()
}

pub(super) fn pull(to: &Repo, from: &mut dyn Peer, sources: bool) -> Fetched {
    let options = FetchOptions {
        remote: "hub",
        follow: Follow::Head,
        sources,
        ..FetchOptions::default()
    };
    let call = Call::at(Millis(3), "pull");
    to.fetch(call, from, &options, &mut |_, _| Ok(()))
        .expect("pulled")
}

fn push_to(from: &Repo, to: &mut dyn Peer, names: &[RefName], options: &PushOptions<'_>) -> Pushed {
    let wanted = wanted(from, names);
    let call = Call::at(Millis(1), "push");
    from.push(call, to, &wanted, options, &mut |_, _| Ok(()))
        .expect("pushed")
}

/// Somewhere to push to and to pull from.
enum Place {
    Directory(Repo),
    Pipes(Option<Repo>),
    Shelf(Board),
}

impl Place {
    fn all() -> [Self; 3] {
        [
            Self::Directory(repo()),
            Self::Pipes(Some(repo())),
            Self::Shelf(Board::default()),
        ]
    }

    fn with<T>(&mut self, mine: &Repo, act: impl FnOnce(&mut dyn Peer) -> T) -> T {
        match self {
            Self::Directory(repo) => act(&mut here(repo)),
            Self::Pipes(repo) => {
                let (there, done) = through_pipes(repo.take().expect("one"), |peer| act(peer));
                *repo = Some(there);
                done
            }
            Self::Shelf(board) => {
                act(&mut OnShelf::new(mine, board.again()).expect("it can be seen"))
            }
        }
    }

    /// The repository there; none on a shelf.
    fn repo(&self) -> Option<&Repo> {
        match self {
            Self::Directory(repo) => Some(repo),
            Self::Pipes(repo) => repo.as_ref(),
            Self::Shelf(_) => None,
        }
    }
}

#[test]
fn session_files_go_where_their_commits_went_before() {
    for mut place in Place::all() {
        let (mine, yours) = (repo(), repo());
        let names = [branch("main"), session("s")];
        let commits = ["one", "two", "three"].map(|text| say(&mine, &On::Head, text));
        keep(&mine, &names[1], b"the file", &commits);
        let done = place.with(&mine, |peer| push_to(&mine, peer, &names, &PUSH));
        assert_eq!(done.carried.brought.sources, 0);
        place.with(&yours, |peer| pull(&yours, peer, true));
        assert_eq!(files(&yours, &names[1], &commits[2]), []);

        let done = place.with(&mine, |peer| push_to(&mine, peer, &names, &SOURCES));
        assert!(done.refs.iter().all(|row| row.landed == Landed::Known));
        assert!(done.carried.brought.sources > 0, "{:?}", done.carried);
        assert_eq!(done.carried.brought.commits, 0, "those are there");
        let done = place.with(&mine, |peer| push_to(&mine, peer, &names, &SOURCES));
        assert_eq!(
            done.carried,
            Carried::default(),
            "a second time nothing goes"
        );

        let done = place.with(&yours, |peer| pull(&yours, peer, false));
        assert_eq!(done.carried, Carried::default());
        let done = place.with(&yours, |peer| pull(&yours, peer, true));
        assert!(done.carried.brought.sources > 0, "{:?}", done.carried);
        let own = files(&mine, &names[1], &commits[2]);
        assert_eq!(own, [(b"the file".to_vec(), 3)]);
        assert_eq!(files(&yours, &names[1], &commits[2]), own);
        let done = place.with(&yours, |peer| pull(&yours, peer, true));
        assert_eq!(done.carried, Carried::default());
        [&mine, &yours]
            .into_iter()
            .chain(place.repo())
            .for_each(sound);
    }
}

#[test]
fn records_of_further_commits_follow_a_file_that_is_there() {
    for mut place in Place::all() {
        let (mine, yours) = (repo(), repo());
        let names = [branch("main"), session("s")];
        let one = say(&mine, &On::Head, "one");
        keep(&mine, &names[1], b"the file", &[one]);
        place.with(&mine, |peer| push_to(&mine, peer, &names, &SOURCES));
        let two = say(&mine, &On::Head, "two");
        let tx = mine.store.write().expect("a transaction");
        let source = tx.sources(&names[1]).expect("reads")[0].id;
        let span = Span { offset: 4, len: 4 };
        tx.put_records(&two, source, &[span]).expect("kept");
        tx.commit().expect("durable");
        // It went without them, and they come after it.
        place.with(&mine, |peer| push_to(&mine, peer, &names, &PUSH));
        place.with(&mine, |peer| push_to(&mine, peer, &names, &SOURCES));
        place.with(&yours, |peer| pull(&yours, peer, true));
        assert_eq!(files(&yours, &names[1], &two), [(b"the file".to_vec(), 2)]);
    }
}

#[test]
fn a_file_that_has_grown_here_is_not_brought_again_as_it_was() {
    let (mine, hub) = (repo(), repo());
    let names = [branch("main"), session("s")];
    let one = say(&mine, &On::Head, "one");
    keep(&mine, &names[1], b"the file", &[one]);
    push(&mine, &hub, &names, &SOURCES).expect("pushed");
    let tx = mine.store.write().expect("a transaction");
    let source = tx.sources(&names[1]).expect("reads").remove(0);
    let print = fingerprint(b"the file has grown");
    tx.append_source(source.id, &source.state(), b" has grown", &print)
        .expect("kept");
    tx.commit().expect("durable");
    let done = pull(&mine, &mut here(&hub), true);
    assert_eq!(done.carried, Carried::default());
    assert_eq!(
        files(&mine, &names[1], &one),
        [(b"the file has grown".to_vec(), 1)]
    );
    // Nor by a bundle with new commits.
    let two = say(&hub, &On::Head, "two");
    let (bundle, _) = hub
        .bundle(&[BundleTip::new(names[0].clone(), two)], true)
        .expect("bundled");
    here(&mine).take(&bundle).expect("taken");
    let kept = mine.store.read().expect("a view").sources(&names[1]);
    assert_eq!(kept.expect("reads").len(), 1);
}

/// Erases what says this.
pub(super) fn erase(repo: &Repo, text: &str) -> u64 {
    let pattern = Pattern::regex(text).expect("one");
    let what = Erasing {
        pattern: Some(&pattern),
        ..Erasing::default()
    };
    let done = repo.erase(Call::at(Millis(5), "purge"), &what);
    done.expect("erased").contents
}

fn says(repo: &Repo, tip: &CommitHash, text: &str) -> bool {
    let all = objects(repo, tip);
    let mut bodies = all.iter().flat_map(|(_, bodies)| bodies.iter().flatten());
    bodies.any(|body| body.contains(text))
}

#[test]
fn a_pull_asks_for_erasures_and_does_what_is_set_here() {
    for mut place in Place::all() {
        let (mine, yours) = (repo(), repo());
        let main = [branch("main")];
        say(&mine, &On::Head, "a secret");
        let tip = say(&mine, &On::Head, "more");
        place.with(&mine, |peer| push_to(&mine, peer, &main, &PUSH));
        place.with(&yours, |peer| pull(&yours, peer, false));
        assert_eq!(erase(&mine, "a secret"), 1);
        if let Some(hub) = place.repo() {
            hub.set_config("receive.purge", Some("allow")).expect("set");
        }
        let told = place
            .with(&mine, |peer| push_to(&mine, peer, &main, &PUSH))
            .erased;
        let is_shelf = place.repo().is_none();
        assert_eq!(
            (told.listed, told.erased),
            if is_shelf { (1, 0) } else { (0, 1) }
        );
        let told = place
            .with(&mine, |peer| push_to(&mine, peer, &main, &PUSH))
            .erased;
        assert_eq!(told, ErasedThere::default(), "it is told once");

        let done = place.with(&yours, |peer| pull(&yours, peer, false)).erased;
        assert_eq!((done.kept, done.erased, done.commits.len()), (1, 0, 1));
        assert!(says(&yours, &tip, "a secret"));
        yours
            .set_config("receive.purge", Some("allow"))
            .expect("set");
        let done = place.with(&yours, |peer| pull(&yours, peer, false)).erased;
        assert_eq!((done.kept, done.erased), (0, 1));
        assert!(!says(&yours, &tip, "a secret"));
        let done = place.with(&yours, |peer| pull(&yours, peer, false)).erased;
        assert_eq!(done, ErasedHere::default());
        [&mine, &yours]
            .into_iter()
            .chain(place.repo())
            .for_each(sound);
    }
}

#[test]
fn what_came_erased_is_told_of_like_what_was_erased_here() {
    for mut place in Place::all() {
        let (mine, before, yours, third) = (repo(), repo(), repo(), repo());
        let main = [branch("main")];
        say(&mine, &On::Head, "a secret");
        let tip = say(&mine, &On::Head, "[purged]");
        push(&mine, &before, &main, &PUSH).expect("pushed");
        pull(&yours, &mut here(&before), false);
        let any = |repo: &Repo| repo.store.read().expect("a view").has_tombstones();
        assert!(!any(&mine).expect("reads"), "that is a message like any");
        assert_eq!(erase(&mine, "a secret"), 1);
        assert!(any(&mine).expect("reads"));

        // There it never stood, so nothing was purged there.
        place.with(&mine, |peer| push_to(&mine, peer, &main, &PUSH));
        let done = place.with(&yours, |peer| pull(&yours, peer, false)).erased;
        assert_eq!((done.kept, done.erased), (1, 0));
        place.with(&third, |peer| pull(&third, peer, false));
        let purge = third.store.read().expect("a view").last_purge();
        assert_eq!(purge.expect("reads"), None);
        for repo in [&yours, &before] {
            repo.set_config("receive.purge", Some("allow"))
                .expect("set");
        }
        let done = place.with(&yours, |peer| pull(&yours, peer, false)).erased;
        assert_eq!((done.kept, done.erased), (0, 1));
        let done = push(&third, &before, &main, &PUSH).expect("pushed").erased;
        assert_eq!((done.kept, done.erased), (0, 1));
        for repo in [&yours, &before] {
            assert!(!says(repo, &tip, "a secret"));
        }
        [&mine, &before, &yours, &third]
            .into_iter()
            .chain(place.repo())
            .for_each(sound);
    }
}

#[test]
fn a_file_of_a_session_that_came_erased_is_refused_and_others_come() {
    let (mine, before, yours, hub) = (repo(), repo(), repo(), repo());
    let names = [branch("main"), session("s")];
    let commits = ["a secret", "more"].map(|text| say(&mine, &On::Head, text));
    // Who erases it has no file of it, and so marks the session with nothing.
    let tx = mine.store.write().expect("a transaction");
    tx.begin_operation(Millis(7), "import").expect("begun");
    let tip = RefValue::Commit(commits[1]);
    tx.set_reference(&names[1], Some(&tip)).expect("set");
    tx.commit().expect("durable");
    push(&mine, &before, &names, &PUSH).expect("pushed");
    pull(&yours, &mut here(&before), true);
    keep(&yours, &names[1], b"a secret, more", &commits);
    assert_eq!(files(&yours, &names[1], &commits[1]).len(), 1);
    assert_eq!(erase(&mine, "a secret"), 1);
    push(&mine, &hub, &names, &SOURCES).expect("pushed");
    let done = push(&yours, &hub, &names, &SOURCES).expect("pushed");
    assert_eq!(done.carried.refused_files, 1);
    assert_eq!(files(&hub, &names[1], &commits[1]), []);
    // Nor by a bundle that nobody compared.
    let path = BundleTip {
        after: Some(commits[1]),
        ..BundleTip::new(names[1].clone(), commits[1])
    };
    let kept = here(&yours).kept_files(&[commits[1]]).expect("told");
    let bundle = here(&yours)
        .give_files(&[path], &kept, Packing::Small)
        .expect("given");
    assert_eq!(here(&hub).take(&bundle).expect("taken").sources, 0);

    let other = repo();
    let own = [session("t")];
    let commit = say(&other, &On::Head, "of another session");
    keep(&other, &own[0], b"another", &[commit]);
    push(&other, &hub, &own, &PUSH).expect("pushed");
    let done = push(&other, &hub, &own, &SOURCES).expect("pushed");
    assert_eq!(done.carried.refused_files, 0);
    assert_eq!(
        files(&hub, &own[0], &commit),
        [(b"another".to_vec(), 1)],
        "{done:?}"
    );
    [&mine, &before, &yours, &hub, &other]
        .into_iter()
        .for_each(sound);
}

/// A repository that says otherwise than it is.
struct Liar<'a> {
    peer: Here<'a>,
    /// What it calls erased.
    erased: Vec<ContentHash>,
    /// How deep it calls its branches of this name.
    deep: Option<RefName>,
}

impl Answers for Liar<'_> {
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>> {
        self.peer.has(commits)
    }
    fn at(&mut self, places: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>> {
        self.peer.at(places)
    }
    fn give(&mut self, tips: &[BundleTip], packing: Packing) -> Result<Vec<u8>> {
        self.peer.give(tips, packing)
    }
    fn take(&mut self, bundle: &[u8]) -> Result<Brought> {
        self.peer.take(bundle)
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
        self.peer.give_files(tips, files, packing)
    }
}

impl Peer for Liar<'_> {
    fn refs(&mut self) -> Result<PeerRefs> {
        let mut theirs = self.peer.refs()?;
        for row in &mut theirs.refs {
            if Some(&row.name) == self.deep.as_ref() {
                row.depth = 1_000_000_000_000_000_000;
            }
        }
        Ok(theirs)
    }
    fn move_refs(&mut self, what: &str, moves: &[RefMove]) -> Result<()> {
        self.peer.move_refs(what, moves)
    }
    fn erased(&mut self, contents: &[ContentHash]) -> Result<ErasedThere> {
        self.peer.erased(contents)
    }
    fn erasures(&mut self, _: &[PeerRef]) -> Result<Vec<ContentHash>> {
        Ok(self.erased.clone())
    }
    fn are_so_deep(&mut self, refs: &[PeerRef]) -> Result<Vec<bool>> {
        let told = refs.iter().map(|row| {
            let at = self.peer.at(&[(row.commit, row.depth)]);
            Ok(at.is_ok_and(|at| at == [row.commit]))
        });
        told.collect()
    }
}

#[test]
fn nobody_erases_here_what_is_not_on_their_paths() {
    let (mine, hub) = (repo(), repo());
    say(&hub, &On::Head, "theirs");
    say(&mine, &On::Head, "mine alone");
    mine.set_config("receive.purge", Some("allow"))
        .expect("set");
    let all = mine.store.read().expect("a view").all_contents();
    let mut liar = Liar {
        peer: here(&hub),
        erased: all.expect("reads"),
        deep: None,
    };
    let done = pull(&mine, &mut liar, false);
    assert_eq!(done.erased, ErasedHere::default());
    let tip = tip(&mine, &branch("main")).expect("it has commits");
    assert!(says(&mine, &tip, "mine alone"));
}

#[test]
fn a_ref_that_says_what_cannot_be_is_left_out_and_the_others_come() {
    let (mine, hub) = (repo(), repo());
    let one = say(&hub, &On::Head, "one");
    hub.create_branch(Call::at(Millis(1), "branch"), &branch("deep"), "HEAD")
        .expect("made");
    let mut liar = Liar {
        peer: here(&hub),
        erased: Vec::new(),
        deep: Some(branch("deep")),
    };
    let done = pull(&mine, &mut liar, false);
    assert_eq!(done.left_out.len(), 1, "{:?}", done.left_out);
    assert_eq!(done.left_out[0].name, "refs/heads/deep");
    assert_eq!(tip(&mine, &branch("main")), Some(one));

    let row = |name: &str, depth: &str| {
        format!(
            "{{\"name\":\"{name}\",\"commit\":\"{one}\",\"depth\":{depth},\"note\":null,\"session\":null}}"
        )
    };
    let rows = [
        row("refs/heads/main", "0"),
        row("refs/heads/main", "0"),
        row("refs/heads/HEAD", "0"),
        row("refs/heads/-rf", "0"),
        row("refs/heads/../x", "0"),
        row("refs/heads/endless", "18446744073709551615"),
        row("refs/remotes/x/y", "0"),
        "{\"name\":\"HEAD\"}".to_owned(),
        "7".to_owned(),
    ];
    let said = format!(
        "{PROTOCOL}\n{{\"ok\":{{\"head\":\"../x\",\"refs\":[{}]}}}}\n",
        rows.join(",")
    );
    let mut wired = Wired::new(said.as_bytes(), Vec::new()).expect("it greets");
    let told = wired.refs().expect("told");
    assert_eq!((told.refs.len(), told.head), (1, None));
    assert_eq!(told.left_out.len(), rows.len() - 1, "{:?}", told.left_out);
}

#[test]
fn what_a_pusher_may_not_do_is_refused() {
    let mine = repo();
    let one = say(&mine, &On::Head, "one");
    let two = say(&mine, &On::Head, "two");
    let tag = RefName::tag("v1").expect("a name");
    mine.create_tag(Call::at(Millis(1), "tag"), &tag, "HEAD", None)
        .expect("made");
    let to = |name: &str, old: Option<CommitHash>, new: Option<CommitHash>| RefMove {
        name: name.parse().expect("a name"),
        old,
        new,
        is_forced: true,
        beside: Beside::default(),
    };
    let (mine, ()) = through_pipes(mine, |there| {
        for refused in [
            to("refs/heads/HEAD", None, Some(one)),
            to("refs/heads/-rf", None, Some(one)),
            to("refs/tags/-rf", None, Some(one)),
            to("refs/heads/cafe", None, Some(one)),
            to("refs/sessions/tool", None, Some(one)),
            to("refs/remotes/hub/main", None, Some(one)),
            to("HEAD", None, Some(one)),
            to("refs/tags/v1", Some(two), Some(one)),
        ] {
            let name = refused.name.clone();
            let said = there.move_refs("push", &[refused]);
            assert!(matches!(said, Err(Error::Peer { .. })), "{name}: {said:?}");
        }
        let far = there.at(&[(one, 1_000_000_000_000_000_000)]);
        assert!(matches!(far, Err(Error::Peer { .. })), "{far:?}");
        let far = there.at(&[(one, u64::MAX)]);
        assert!(matches!(far, Err(Error::Peer { .. })), "{far:?}");
        let row = PeerRef {
            name: branch("main"),
            commit: one,
            depth: 1_000_000_000_000_000_000,
            beside: Beside::default(),
        };
        let good = PeerRef {
            depth: 0,
            ..row.clone()
        };
        let told = there.are_so_deep(&[row, good]).expect("told");
        assert_eq!(told, [false, true]);
        let what = format!("push\n\u{1b}[2J{}", "x".repeat(1 << 20));
        there
            .move_refs(&what, &[to("refs/heads/new", None, Some(one))])
            .expect("moved");
        there
            .move_refs("push", &[to("refs/tags/v1", Some(two), None)])
            .expect("a tag may go");
    });
    let operations = mine.store.read().expect("a view").operations(None, 2);
    let what = &operations.expect("reads")[1].what;
    assert!(
        what.starts_with("push  [2Jxx") && what.ends_with('…'),
        "{what}"
    );
    assert!(what.chars().count() < 1_000);
    let names: Vec<RefName> = mine
        .references("refs/")
        .expect("refs")
        .into_iter()
        .map(|row| row.0)
        .collect();
    assert_eq!(names, [branch("main"), branch("new")]);
}

#[test]
fn a_ref_that_was_made_when_it_could_be_stops_no_fetch() {
    let (mine, hub) = (repo(), repo());
    let one = say(&hub, &On::Head, "one");
    let tx = hub.store.write().expect("a transaction");
    tx.begin_operation(Millis(1), "push").expect("begun");
    let name: RefName = "refs/heads/HEAD".parse().expect("a name");
    tx.set_reference(&name, Some(&RefValue::Commit(one)))
        .expect("set");
    tx.commit().expect("durable");
    let done = pull(&mine, &mut here(&hub), false);
    assert_eq!(done.left_out[0].name, "refs/heads/HEAD");
    assert_eq!(tip(&mine, &branch("main")), Some(one));
}

proptest! {
    #![proptest_config(crate::conditions::laws(24))]

    /// Whatever was said, kept, erased and sent, and in whatever order: once all have pushed and pulled with session files,
    /// nobody lacks one that may be there and at the place between them, and nobody reads what was erased by who pushes the path. Who only pulled it
    /// erases for nobody else.
    #[test]
    fn files_and_erasures_reach_everybody(
        is_shelf in any::<bool>(),
        draws in prop::collection::vec((0..3_usize, 0..7_u8, any::<bool>()), 1..40),
    ) {
        let mut place = if is_shelf {
            Place::Shelf(Board::default())
        } else {
            Place::Directory(repo())
        };
        let people = [repo(), repo(), repo()];
        for repo in people.iter().chain(place.repo()) {
            repo.set_config("receive.purge", Some("allow")).expect("set");
        }
        let own = |who: usize| [branch(&format!("own-{who}")), session(&format!("s-{who}"))];
        for (who, mine) in people.iter().enumerate() {
            say(mine, &On::Head, &format!("first of {who}"));
            let name = own(who)[0].clone();
            mine.rename_branch(Call::at(Millis(0), "branch"), &branch("main"), &name).expect("renamed");
        }
        let mut words: [Vec<String>; 3] = Default::default();
        for (at, (who, what, flag)) in draws.into_iter().enumerate() {
            let mine = &people[who];
            let names = own(who);
            let tip = tip(mine, &names[0]).expect("it has commits");
            let held: Vec<RefName> = names
                .iter()
                .filter(|name| super::tip(mine, name).is_some())
                .cloned()
                .collect();
            match what {
                0 | 1 => { say(mine, &On::Head, &format!("said {at} word-{}", at % 3)); }
                2 => {
                    let file = format!("file {who} {}", "x".repeat(at));
                    let view = mine.store.read().expect("a view");
                    let is_there = !view.sources(&names[1]).expect("reads").is_empty();
                    let was_purged = view.last_purge().expect("reads").is_some();
                    drop(view);
                    if !is_there && !was_purged {
                        keep(mine, &names[1], file.as_bytes(), &[tip]);
                    }
                }
                3 | 4 => {
                    let options = PushOptions { sources: flag, ..PUSH };
                    place.with(mine, |peer| push_to(mine, peer, &held, &options));
                }
                5 => { place.with(mine, |peer| pull(mine, peer, flag)); }
                _ => {
                    let word = format!("word-{}", at % 3);
                    erase(mine, &word);
                    words[who].push(word);
                }
            }
        }
        for _ in 0..2 {
            for (who, mine) in people.iter().enumerate() {
                let held: Vec<RefName> = own(who)
                    .into_iter()
                    .filter(|name| tip(mine, name).is_some())
                    .collect();
                place.with(mine, |peer| pull(mine, peer, true));
                place.with(mine, |peer| push_to(mine, peer, &held, &SOURCES));
            }
        }
        for mine in &people {
            place.with(mine, |peer| pull(mine, peer, true));
        }
        for (who, mine) in people.iter().enumerate() {
            let name = own(who)[0].clone();
            let end = tip(mine, &name).expect("it has commits");
            let mine_view = mine.store.read().expect("a view");
            let told = kept_files(&*mine_view, &[end]).expect("told");
            let erased = erased::erased_on(&*mine_view, &[end]).expect("told");
            // What the place may not have comes to nobody by it.
            let passes = place.repo().map(|it| {
                let view = it.store.read().expect("a view");
                states(&*view, &[end], &told).expect("told")
            });
            let own_words = words.iter().map(Vec::as_slice);
            let others = people.iter().zip(own_words).chain(place.repo().map(|it| (it, &[][..])));
            for (other, own_words) in others {
                let view = other.store.read().expect("a view");
                let found = states(&*view, &[end], &told).expect("told");
                for (at, state) in found.into_iter().enumerate() {
                    let is_stopped = passes.as_ref().is_some_and(|all| all[at] == FileState::Refused);
                    let is_there = matches!(state, FileState::Here | FileState::Refused);
                    prop_assert!(is_there || is_stopped && state == FileState::Missing, "{state:?}");
                }
                let there = erased::erased_on(&*view, &[end]).expect("told");
                prop_assert!(erased.iter().all(|content| there.contains(content)));
                let beyond: Vec<ContentHash> =
                    there.into_iter().filter(|content| !erased.contains(content)).collect();
                for body in mine_view.bodies(&beyond).expect("reads") {
                    let body = body.expect("it is not erased here");
                    prop_assert!(own_words.iter().any(|word| body.contains(word)), "{body}");
                }
                drop(view);
                sound(other);
            }
            drop(mine_view);
            mine.second_reading()?;
        }
    }
}
