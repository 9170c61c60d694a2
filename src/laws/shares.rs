//! The law of sums: over any history, what all messages have cost is what all requests were billed for.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::commands::{Draw, command};
use crate::context::Context;
use crate::hash::CommitHash;
use crate::model::price::Prices;
use crate::model::{Draft, Encoding, EntryId, Message, Millis, RefName, Role, Usage};
use crate::query::BilledReply;
use crate::query::spread::BillShare;
use crate::repo::{Call, CommitOptions, On, Repo, load};
use crate::store::CommitRow;

/// Has the newest commits of a path counted, as far as `draws` say so.
fn counted(repo: &Repo, draws: &[(bool, u32, u32, u32, u16)]) {
    let tx = repo.store.write().expect("the lock");
    let mut seen: BTreeSet<CommitHash> = BTreeSet::new();
    let mut draws = draws.iter().cycle();
    for prefix in [RefName::HEADS, RefName::TAGS] {
        for (_, tip) in load::tips(&*tx, prefix).expect("tips") {
            let path = tx.ancestors(&tip, None, usize::MAX).expect("a path");
            let is_append = |row: &&CommitRow| row.appended().is_some();
            for row in path.iter().filter(is_append) {
                let (is_reply, input, cached, written, output) = draws.next().expect("a cycle");
                if seen.insert(row.hash) && *is_reply {
                    let usage = Usage {
                        written_hour_tokens: (written % 3).into(),
                        ..Usage::new((*input).into(), (*output).into())
                            .cached((*cached).into(), (*written).into())
                    };
                    tx.put_usage(&row.hash, usage).expect("kept");
                }
            }
        }
    }
    tx.commit().expect("durable");
}

fn context_before(repo: &Repo, commit: &CommitHash) -> Context {
    let row = repo.store.read().and_then(|view| view.commit(commit));
    let parent = row.expect("read").expect("here").commit.parent;
    parent.map_or_else(Context::default, |parent| {
        repo.context(&parent).expect("a context")
    })
}

#[test]
fn shares_of_a_long_history_read_as_much_for_each_message_as_those_of_a_short_one() {
    let steps = |messages: usize| {
        let (repo, steps) = Repo::counted();
        let said = |at: usize| {
            let role = [Role::User, Role::Assistant][at % 2];
            Draft::append(Message::text(role, at.to_string()))
        };
        let talk: Vec<Draft> = (0..messages).map(said).collect();
        let done = repo.commit(Call::default(), &talk, &CommitOptions::default());
        let tx = repo.store.write().expect("the lock");
        for made in done.expect("commits").iter().skip(1).step_by(2) {
            let usage = Usage::new(90_000, 7).cached(80_000, 9_000);
            tx.put_usage(&made.hash, usage).expect("kept");
        }
        tx.commit().expect("durable");
        let before = steps.load(Ordering::Relaxed);
        let shares = repo.shares(None, &prices(), Encoding::default(), &|_| true);
        let shares = shares.expect("shared");
        assert_eq!(
            (shares.messages.len(), shares.replies.len()),
            (messages, messages / 2)
        );
        steps.load(Ordering::Relaxed) - before
    };
    let (few, many) = (steps(500), steps(5_000));
    assert!(many < 11 * few, "{few} and {many} steps");
}

/// A list of two models: one with prices, one that becomes dearer where a request is long.
fn prices() -> Prices {
    let list = r#"[{"id":"mine","name":"Mine","api_pattern":"x","model_match":{"starts_with":"m"},"models":[
        {"id":"m1","match":{"equals":"m1"},"prices":{"input_mtok":3,"cache_read_mtok":0.3,"cache_write_mtok":3.75,"output_mtok":15}},
        {"id":"m2","match":{"equals":"m2"},"prices":{"input_mtok":{"base":1.1,"tiers":[{"start":1000,"price":2.3}]},"output_mtok":7}}]}]"#;
    Prices::read(list.as_bytes()).expect("a list")
}

proptest! {
    #![proptest_config(crate::conditions::laws(64))]

    #[test]
    fn what_messages_have_cost_is_what_requests_were_billed_for(
        draws in prop::collection::vec(any::<Draw>(), 1..40),
        counts in prop::collection::vec((any::<bool>(), 0..90_000_u32, 0..60_000_u32, 0..60_000_u32, any::<u16>()), 1..9),
        models in prop::collection::vec(0..3_usize, 1..5),
    ) {
        let repo = Repo::ephemeral().expect("made");
        for (at, draw) in draws.into_iter().enumerate() {
            if at % 7 == 0 {
                let model = ["\"m1\"", "\"m2\"", "\"unpriced\""][models[at / 7 % models.len()]];
                let draft = Draft {
                    settings: [("model".to_owned(), model.to_owned())].into(),
                    ..Draft::append(Message::text(Role::Assistant, "I see."))
                };
                let call = Call::at(Millis(at as i64), "test");
                let _ = repo.commit(call, &[draft], &Default::default());
            }
            let _ = command(&repo, draw, Millis(at as i64));
        }
        counted(&repo, &counts);
        let tip = repo.head(&On::Head).expect("a head").commit();
        let prices = prices();
        for tip in [None, tip.as_ref()] {
            let billed = repo.billed(tip, &prices).expect("billed");
            let is_old = |reply: &BilledReply| reply.time < Some(Millis(20));
            for wanted in [&|_: &BilledReply| true, &is_old as &dyn Fn(&BilledReply) -> bool] {
                let shares = repo.shares(tip, &prices, Encoding::default(), wanted).expect("shared");
                let billed: Vec<BilledReply> = billed.iter().filter(|reply| wanted(reply)).cloned().collect();
                prop_assert_eq!(&shares.replies, &billed);
                let (mut whole, mut sum) = (BillShare::default(), shares.rest);
                let mut sent: BTreeSet<EntryId> = BTreeSet::new();
                for reply in &billed {
                    let price = reply.served().and_then(|served| prices.apart(served, &reply.usage, reply.time));
                    whole.add(&BillShare::of(&reply.usage, price));
                    sent.insert(EntryId::of(reply.commit));
                    sent.extend(context_before(&repo, &reply.commit).entries.iter().map(|entry| entry.id));
                    prop_assert_eq!(price.is_some(), reply.dollars.is_some());
                }
                for one in &shares.messages {
                    sum.add(&one.share);
                    prop_assert!(sent.contains(&one.entry));
                }
                prop_assert!(sum.is_as_much_as(&whole), "{:?} is not {:?}", sum, whole);
                let by_tool = repo.shares_by_tool(&shares, Encoding::default()).expect("shared");
                let mut tools = BillShare::default();
                by_tool.values().for_each(|(_, share)| tools.add(share));
                prop_assert!(tools.is_as_much_as(&whole), "{:?} is not {:?}", tools, whole);
            }
        }
        repo.second_reading()?;
    }
}
