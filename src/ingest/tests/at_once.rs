//! Pairs of deeds at once: somebody changes what is kept, while somebody else takes away what nobody needs. Whatever was
//! acknowledged is there afterwards, however the two met, and what was refused left nothing behind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use proptest::prelude::*;

use super::collecting::chat;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::ingest::{self, ImportRequest, Reading, import};
use crate::model::pattern::Pattern;
use crate::model::retention::{Expire, Retention};
use crate::model::{Draft, Message, Millis, Part, RefName, Role};
use crate::repo::{Call, CommitOptions, On, Repo, UndoPoint, UndoTo, load};
use crate::upkeep::Erasing;

/// How many sessions are there when it begins; one more comes in.
const SESSIONS: usize = 4;

/// What changes something.
#[derive(Clone, Copy, Debug)]
enum Deed {
    /// A session comes in that was not there.
    New,
    /// A file has grown.
    Grown(usize),
    /// A file that was gone is back, as it was, and is imported once more.
    Back(usize),
    /// The same by what reads only what is new, as a watch does.
    BackNew(usize),
    Commit,
    Branch(usize),
    Tag(usize),
    /// A session's commits are taken over.
    Adopt(usize),
}

/// What takes something away.
#[derive(Clone, Copy, Debug)]
enum Collector {
    /// Lets go of all sessions but so many, and forgets them at once.
    Keep(u64),
    /// Forgets the log.
    Forget,
    Delete(usize),
    Purge,
    UndoTo,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        3 => Just(Deed::New),
        3 => (0..SESSIONS).prop_map(Deed::Grown),
        3 => (0..SESSIONS).prop_map(Deed::Back),
        2 => (0..SESSIONS).prop_map(Deed::BackNew),
        2 => Just(Deed::Commit),
        1 => (0..SESSIONS).prop_map(Deed::Branch),
        1 => (0..SESSIONS).prop_map(Deed::Tag),
        1 => (0..SESSIONS).prop_map(Deed::Adopt),
    ]
}

fn collector() -> impl Strategy<Value = Collector> {
    prop_oneof![
        5 => (0..2_u64).prop_map(Collector::Keep),
        2 => Just(Collector::Forget),
        1 => (0..SESSIONS).prop_map(Collector::Delete),
        1 => Just(Collector::Purge),
        1 => Just(Collector::UndoTo),
    ]
}

/// What must be there in the end.
enum Outcome {
    /// A session's ref leads to these texts.
    Session(RefName, Vec<usize>),
    /// A commit is on the path to a ref.
    OnThePath(RefName, CommitHash),
    At(RefName, CommitHash),
}

fn session(at: usize) -> RefName {
    RefName::session("openai", &format!("s{at}"))
}

fn file(folder: &Path, at: usize) -> PathBuf {
    folder.join(format!("s{at}.json"))
}

fn texts(at: usize, grown: bool) -> Vec<usize> {
    let first = 100 * at;
    (first..first + if grown { 4 } else { 2 }).collect()
}

fn take_in(
    repo: &Repo,
    folder: &Path,
    at: usize,
    texts: &[usize],
    reading: Reading,
) -> Result<Outcome> {
    let path = file(folder, at);
    std::fs::write(&path, chat(texts)).expect("written");
    let request = ImportRequest {
        reading,
        ..ImportRequest::at(Millis(50), "import")
    };
    import(repo, &path, &request, &mut |_| {})?;
    Ok(Outcome::Session(session(at), texts.to_vec()))
}

/// Does it; what must be there then, if it was acknowledged.
fn act(repo: &Repo, folder: &Path, deed: Deed) -> Result<Vec<Outcome>> {
    let call = Call::at(Millis(60), "deed");
    let commit_of = |at: usize| repo.resolve(&On::Head, session(at).as_str());
    Ok(match deed {
        Deed::New => vec![take_in(
            repo,
            folder,
            SESSIONS,
            &texts(SESSIONS, false),
            Reading::Whole,
        )?],
        Deed::Grown(at) => vec![take_in(repo, folder, at, &texts(at, true), Reading::Whole)?],
        Deed::Back(at) => vec![take_in(
            repo,
            folder,
            at,
            &texts(at, false),
            Reading::Whole,
        )?],
        Deed::BackNew(at) => vec![take_in(repo, folder, at, &texts(at, false), Reading::New)?],
        Deed::Commit => {
            let on = On::Branch(RefName::branch("own").expect("a name"));
            let draft = Draft::append(Message::text(Role::User, "said"));
            let made = repo.commit(call.on(&on), &[draft], &CommitOptions::default())?;
            let name = RefName::branch("own").expect("a name");
            vec![Outcome::OnThePath(name, made[0].hash)]
        }
        Deed::Branch(at) => {
            let name = RefName::branch(&format!("new{at}")).expect("a name");
            let made = repo.create_branch(call, &name, session(at).as_str())?;
            vec![Outcome::At(name, made.commit)]
        }
        Deed::Tag(at) => {
            let (name, commit) = (
                RefName::tag(&format!("t{at}")).expect("a name"),
                commit_of(at)?,
            );
            repo.create_tag(call, &name, &commit.to_string(), None)?;
            vec![Outcome::At(name, commit)]
        }
        Deed::Adopt(at) => {
            let own = RefName::branch("own").expect("a name");
            ingest::adopt(repo, &session(at), &own, Millis(60), "import --onto own")?;
            let tip = repo.resolve(&On::Head, "own")?;
            vec![Outcome::OnThePath(own, tip)]
        }
    })
}

fn collect(repo: &Repo, collector: Collector) -> Result<()> {
    let call = Call::at(Millis(70), "collector");
    match collector {
        Collector::Keep(newest) => {
            let rule = Retention {
                newest: Some(newest),
                days: None,
            };
            ingest::let_go(repo, rule, Millis(70))?;
            repo.gc(Expire::Now, Millis(70), &mut |_| {}).map(drop)
        }
        Collector::Forget => repo.gc(Expire::Now, Millis(70), &mut |_| {}).map(drop),
        Collector::Delete(at) => {
            let name = RefName::branch(&format!("b{at}")).expect("a name");
            repo.delete_reference(call, &name).map(drop)
        }
        Collector::Purge => {
            let pattern = Pattern::regex("erase me").expect("a pattern");
            let what = Erasing {
                pattern: Some(&pattern),
                ..Erasing::default()
            };
            repo.erase(call, &what).map(drop)
        }
        Collector::UndoTo => {
            // Nothing that was taken in.
            let undo = UndoTo::point(UndoPoint::Before(Millis(65)));
            repo.undo_to(undo, Millis(71)).map(drop)
        }
    }
}

/// Sessions whose files are gone but for the first one's, a branch of one's own, and a branch on each session.
fn begin(repo: &Repo, folder: &Path) {
    for at in 0..SESSIONS {
        take_in(repo, folder, at, &texts(at, false), Reading::Whole).expect("imported");
    }
    let call = || Call::at(Millis(1), "test");
    for at in 1..SESSIONS {
        std::fs::remove_file(file(folder, at)).expect("gone");
    }
    let own = RefName::branch("own").expect("a name");
    repo.create_branch(call(), &own, "main").expect("made");
    let on = On::Branch(own);
    for text in ["mine", "erase me"] {
        let draft = Draft::append(Message::text(Role::User, text));
        repo.commit(call().on(&on), &[draft], &CommitOptions::default())
            .expect("committed");
    }
    let b = RefName::branch("b1").expect("a name");
    repo.create_branch(call(), &b, "own").expect("made");
}

fn said(repo: &Repo, tip: &CommitHash) -> Vec<String> {
    let context = repo.context(tip).expect("a context");
    let messages = repo.messages(&context).expect("messages");
    let text = |message: &Message| match &message.parts[..] {
        [Part::Text { text }] => text.clone(),
        other => format!("{other:?}"),
    };
    messages.iter().map(text).collect()
}

fn check(repo: &Repo, outcomes: &[Outcome]) -> std::result::Result<(), String> {
    let tip = |name: &RefName| {
        let view = repo.store.read().expect("a view");
        load::tip(&*view, name).expect("reads")
    };
    for outcome in outcomes {
        match outcome {
            Outcome::Session(name, texts) => {
                let Some(tip) = tip(name) else {
                    return Err(format!("{name} is gone, and its file is there"));
                };
                let wanted: Vec<String> = texts.iter().map(|text| format!("text {text}")).collect();
                let said = said(repo, &tip);
                if !said.starts_with(&wanted) {
                    return Err(format!("{name}: {said:?}"));
                }
            }
            Outcome::OnThePath(name, commit) => {
                let view = repo.store.read().expect("a view");
                let tip = load::tip(&*view, name).expect("reads");
                let is_on = tip.is_some_and(|tip| view.is_ancestor(commit, &tip).expect("reads"));
                if !is_on {
                    return Err(format!("{commit} is not on {name}"));
                }
            }
            Outcome::At(name, commit) => {
                if tip(name) != Some(*commit) {
                    return Err(format!("{name} is not at {commit}"));
                }
            }
        }
    }
    let checked = repo.fsck(false, &mut |_| Ok(())).expect("checked");
    if checked.faults.is_empty() {
        repo.second_reading().map_err(|error| error.to_string())
    } else {
        Err(format!("{:?}", checked.faults))
    }
}

/// Two who are at it at once, each with a handle of their own.
fn at_once(
    open: impl Fn() -> Repo,
    deeds: &[Deed],
    collectors: &[Collector],
) -> std::result::Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    begin(&open(), folder.path());
    let (one, other) = (open(), open());
    let barrier = Barrier::new(2);
    let mut outcomes = thread::scope(|scope| {
        let (barrier, folder) = (&barrier, folder.path());
        let taking = scope.spawn(move || {
            barrier.wait();
            for collector in collectors {
                // What is refused takes nothing away.
                let _ = collect(&other, *collector);
            }
        });
        barrier.wait();
        let mut outcomes = Vec::new();
        for deed in deeds {
            outcomes.extend(act(&one, folder, *deed).unwrap_or_default());
        }
        taking.join().expect("no panic");
        outcomes
    });
    // A file may have been written anew since: what came in last is there.
    let mut last = BTreeSet::new();
    outcomes.reverse();
    outcomes.retain(|outcome| match outcome {
        Outcome::Session(name, _) => last.insert(name.clone()),
        _ => true,
    });
    check(&open(), &outcomes)
}

fn pairs() -> impl Strategy<Value = (Vec<Deed>, Vec<Collector>)> {
    let deeds = prop::collection::vec(deed(), 1..4);
    (deeds, prop::collection::vec(collector(), 1..4))
}

proptest! {
    #![proptest_config(crate::conditions::laws(1600))]

    #[test]
    fn what_is_acknowledged_is_there_whoever_collects_meanwhile((deeds, collectors) in pairs()) {
        let place = tempfile::tempdir().expect("a folder");
        let repo = Repo::init(place.path()).expect("made");
        drop(repo);
        let open = || Repo::open(place.path()).expect("opens");
        at_once(open, &deeds, &collectors).map_err(TestCaseError::fail)?;
    }
}

#[cfg(feature = "postgres")]
proptest! {
    #![proptest_config(crate::conditions::laws(320))]

    #[test]
    fn so_it_is_on_a_server((deeds, collectors) in pairs()) {
        use crate::store::postgres::Postgres;
        let Some(address) = crate::store::postgres::tests::cluster::address() else {
            return Ok(());
        };
        drop(Postgres::create(&address).expect("made"));
        let open = || Repo::of_server(Postgres::open(&address).expect("opens"));
        at_once(open, &deeds, &collectors).map_err(TestCaseError::fail)?;
    }
}

/// A session whose file comes back, and is imported, after a collection has looked which files are there, stays.
#[test]
fn a_file_that_comes_back_after_the_look_keeps_its_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let repo = Repo::ephemeral().expect("made");
    begin(&repo, folder.path());
    let rule = Retention {
        newest: Some(0),
        days: None,
    };
    let stays = ingest::held::with_files(&repo).expect("looked");
    for at in 1..SESSIONS {
        let deed = if at == 1 {
            Deed::Grown(at)
        } else {
            Deed::Back(at)
        };
        act(&repo, folder.path(), deed).expect("imported");
    }
    act(&repo, folder.path(), Deed::New).expect("imported");
    assert_eq!(repo.let_go(rule, &*stays, Millis(70)).expect("let go"), []);
}
