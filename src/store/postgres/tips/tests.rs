use proptest::prelude::*;

use super::*;
use crate::model::{
    Message, Millis, Operation, Priority, RefName, RefValue, Role, Span, Summed, Total,
};
use crate::store::postgres::Postgres;
use crate::store::postgres::tests::{cluster, create};
use crate::store::{Facts, SessionRow, SourcesOf, Store, Tx, View, contract};

/// A commit: the one before it, what it is, whether a total, a summary and a record stand at it.
type Drawn = (prop::sample::Index, u8, [bool; 3]);

fn session(at: usize) -> RefName {
    format!("refs/sessions/tool/{at}").parse().expect("a name")
}

/// What each of these is.
fn make(tx: &dyn Tx, drawn: &[Drawn]) -> Vec<CommitHash> {
    let sources = [0, 1].map(|at| tx.put_source(&session(at), "tool", None).expect("kept"));
    let known = SessionRow {
        title: Some("a title".to_owned()),
        ..SessionRow::default()
    };
    tx.put_session(&session(0), &known).expect("kept");
    let mut made: Vec<CommitHash> = Vec::new();
    for (at, (index, kind, [total, summary, record])) in drawn.iter().enumerate() {
        // Near the end mostly, so that lines grow; sometimes a root.
        let parent = match index.index(at + 2) {
            0 => None,
            pick if pick % 3 == 0 => Some(pick - 1).filter(|before| *before < at),
            _ => at.checked_sub(1),
        };
        let parent = parent.map(|before| made[before]);
        let said = Message::text(Role::User, at.to_string());
        let content = tx.keep(&said).expect("kept");
        let target = made.get(index.index(made.len().max(1))).copied();
        let operation = match (kind % 4, target) {
            (0, Some(target)) => Operation::Edit {
                target: target.into(),
                content,
            },
            (1, Some(target)) => Operation::Annotate {
                targets: vec![target.into()],
                priority: Priority::Pinned,
                reason: None,
            },
            _ => Operation::Append { content },
        };
        let commit = contract::step(parent, operation);
        let (hash, _) = tx.keep_commit(&commit).expect("kept");
        let number = at as u64;
        if *total {
            let total = Total {
                messages: number,
                ..Total::default()
            };
            tx.put_total(&hash, Encoding::default(), total)
                .expect("kept");
        }
        if *summary {
            let summary = Summed {
                hidden: number,
                ..Summed::default()
            };
            tx.put_summary(&hash, Encoding::default(), &summary)
                .expect("kept");
        }
        if *record {
            let span = Span {
                offset: number,
                len: 1,
            };
            for source in &sources[..1 + at % 2] {
                tx.put_records(&hash, *source, &[span]).expect("kept");
            }
        }
        made.push(hash);
    }
    made
}

/// What a view tells of the paths to these.
fn told(view: &dyn View, made: &[CommitHash]) -> Vec<String> {
    let mut all = Vec::new();
    let encoding = Encoding::default();
    let facts = Facts {
        links: true,
        counts: Some(encoding),
    };
    for tip in made {
        let path = view.ancestors(tip, None, 5).expect("read");
        let path: Vec<CommitHash> = path.iter().map(|row| row.hash).collect();
        let changes = view.changes(tip).expect("read");
        let named = changes
            .iter()
            .flat_map(|row| row.commit.operation.entries());
        let named: Vec<CommitHash> = named.map(|id| id.commit).collect();
        let mut appended = Vec::new();
        view.appended(tip, 0..3, facts, &mut |one| {
            appended.push(one);
            Ok(())
        })
        .expect("read");
        all.push(format!("{changes:?} {path:?} {appended:?}"));
        all.push(format!("{:?}", view.commits(&named)));
        all.push(format!("{:?}", view.newest_total(tip, encoding)));
        all.push(format!("{:?}", view.newest_summary(tip, encoding)));
        all.push(format!(
            "{:?}",
            view.listing(tip, None, usize::MAX, encoding)
        ));
        all.push(format!("{:?}", view.records(&path)));
        all.push(format!("{:?}", view.ancestor_at(tip, 0)));
    }
    for at in 0..4 {
        all.push(format!("{:?}", view.session(&session(at))));
        all.push(format!(
            "{:?}",
            view.sources_of(SourcesOf::Number(at as u64))
        ));
    }
    all.push(format!("{:?}", view.references("refs/heads/")));
    for most in [2, 9] {
        all.push(format!("{:?}", view.active_branches(None, most)));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig {
        source_file: Some(file!()),
        ..crate::conditions::laws(64)
    })]

    /// Whoever looks ahead is told the same.
    #[test]
    fn looking_ahead_changes_no_answer(
        drawn in prop::collection::vec(any::<Drawn>(), 1..60),
        tips in prop::collection::vec(any::<prop::sample::Index>(), 1..6),
    ) {
        let Some(address) = cluster::address() else {
            return Ok(());
        };
        let store = create(&address);
        let tx = store.write().expect("the lock");
        let made = make(&*tx, &drawn);
        let tips: Vec<CommitHash> = tips.iter().map(|tip| *tip.get(&made)).collect();
        tx.begin_operation(Millis(0), "x").expect("open");
        for (at, tip) in tips.iter().enumerate() {
            let name = RefName::branch(&format!("b{at}")).expect("a name");
            tx.set_reference(&name, Some(&RefValue::Commit(*tip))).expect("moved");
        }
        tx.commit().expect("made");
        let one_by_one = told(&*store.read().expect("a view"), &made);
        for ahead in [Tips::To(&tips), Tips::At(&tips), Tips::Active(None, 2), Tips::Active(None, 9)] {
            for is_held in [false, true] {
                let store = Postgres::open(&address).expect("opens");
                store.hold(is_held);
                let view = store.read().expect("a view");
                view.look_ahead(ahead).expect("asked");
                prop_assert_eq!(told(&*view, &made), one_by_one.clone());
            }
        }
    }
}

#[test]
fn what_was_looked_ahead_for_is_not_asked_for() {
    let Some(address) = cluster::address() else {
        return;
    };
    let store = create(&address);
    let tip = contract::line(&store, 100);
    let view = store.read().expect("a view");
    view.look_ahead(Tips::To(&[tip])).expect("asked");
    let asked = || store.trips().load(std::sync::atomic::Ordering::Relaxed);
    let before = asked();
    let path = view.ancestors(&tip, None, 100).expect("read");
    assert_eq!(path.len(), 100);
    assert_eq!(view.changes(&tip).expect("read"), []);
    assert_eq!(
        view.newest_total(&tip, Encoding::default()).expect("read"),
        None
    );
    assert_eq!(view.shared(&tip, &path[50].hash).expect("read"), 50);
    view.look_ahead(Tips::At(&[tip])).expect("asked");
    assert_eq!(asked(), before);
}
