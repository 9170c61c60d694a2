//! The law of what is kept once: over any history of imports, single messages, purges, collections and kept files that
//! go, each message is as it was said, or its tombstone, each kept file is there to the byte, and no pack holds anything
//! of what was erased.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::Sqlite;
use super::codec::{ZSTD, unpack};
use super::session::Session;
use crate::hash::{CommitHash, ContentHash, fingerprint};
use crate::model::{Message, Millis, Operation, RefName, Role, Sealed, Span, tombstone};
use crate::store::columns::Columns;
use crate::store::contract::{faults, step};
use crate::store::{Objects, SourceState, Sources, Store};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Files {
    Before,
    After,
    Stay,
}

#[derive(Clone, Debug)]
enum Act {
    /// So many messages in one transaction, of about so many words.
    Say(usize, usize),
    /// A file with the records of so many of the last messages, kept in so many blocks.
    File(usize, usize),
    /// The message of this number goes, and the files with a record of it before, after, or not at all.
    Purge(usize, Files),
    /// A file goes.
    Drop(usize),
    Collect,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        3 => (1..60_usize, 0..320_usize).prop_map(|(many, words)| Act::Say(many, words)),
        3 => (1..80_usize, 1..4_usize).prop_map(|(many, blocks)| Act::File(many, blocks)),
        2 => (any::<usize>(), files()).prop_map(|(at, files)| Act::Purge(at, files)),
        1 => any::<usize>().prop_map(Act::Drop),
        2 => Just(Act::Collect),
    ]
}

fn files() -> impl Strategy<Value = Files> {
    prop_oneof![Just(Files::Before), Just(Files::After), Just(Files::Stay)]
}

struct Said {
    content: ContentHash,
    commit: CommitHash,
    message: Message,
    is_erased: bool,
}

struct Kept {
    id: u64,
    bytes: Vec<u8>,
    says: BTreeSet<usize>,
}

#[derive(Default)]
struct Known {
    said: Vec<Said>,
    kept: Vec<Kept>,
    files: usize,
}

/// A text that no other message has, some of them long.
fn text(number: usize, words: usize) -> String {
    let words = if number % 23 == 22 { words * 60 } else { words };
    let word = |at: usize| format!("{:x}", (number * 7_919 + at * at * 31) % 4_093);
    let words: Vec<String> = (0..words).map(word).collect();
    format!("«{number}» {} \"quoted\"\n", words.join(" "))
}

impl Known {
    fn say(&mut self, store: &Sqlite, many: usize, words: usize) {
        let tx = store.write().expect("the lock");
        for _ in 0..many {
            let number = self.said.len();
            let message = Message::text(Role::User, text(number, words));
            let sealed = Sealed::new(message.clone());
            tx.put_message(&sealed, None).expect("kept");
            let content = sealed.hash();
            let parent = self.said.last().map(|said| said.commit);
            let commit = step(parent, Operation::Append { content });
            let (commit, _) = tx.keep_commit(&commit).expect("kept");
            self.said.push(Said {
                content,
                commit,
                message,
                is_erased: false,
            });
        }
        let tip = crate::model::RefValue::Commit(self.said.last().expect("one").commit);
        tx.begin_operation(Millis(0), "x").expect("begun");
        let main = RefName::branch("main").expect("a name");
        tx.set_reference(&main, Some(&tip)).expect("moved");
        tx.commit().expect("durable");
    }

    fn keep(&mut self, store: &Sqlite, many: usize, blocks: usize) {
        let first = self.said.len().saturating_sub(many);
        let (mut bytes, mut records, mut says) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (at, said) in self.said.iter().enumerate().skip(first) {
            if said.is_erased {
                continue;
            }
            let text = serde_json::to_string(&text_of(&said.message)).expect("JSON");
            let record = format!("{{\"id\":\"{}\",\"said\":{text}}}\n", said.commit);
            let span = Span {
                offset: bytes.len() as u64,
                len: record.len() as u64,
            };
            records.push((said.commit, span));
            bytes.extend(record.into_bytes());
            says.insert(at);
        }
        let name = RefName::session("x", &format!("s{}", self.files));
        self.files += 1;
        let press = store.press();
        let tx = store.write().expect("the lock");
        let id = tx.put_source(&name, "x", None).expect("kept");
        let mut state = SourceState::empty();
        for block in bytes.chunks((bytes.len() / blocks).max(1)) {
            let (start, end) = (state.size_bytes, state.size_bytes + block.len() as u64);
            let within = records
                .iter()
                .filter(|(_, span)| span.offset < end && span.offset + span.len > start);
            let within: Vec<CommitHash> = within.map(|(commit, _)| *commit).collect();
            let pressed = press(block, &tx.said(&within).expect("read"));
            let fingerprint = fingerprint(&bytes[..end as usize]);
            tx.append_pressed(id, &state, (block, pressed), &fingerprint)
                .expect("kept");
            state = SourceState {
                size_bytes: end,
                fingerprint,
            };
        }
        for (commit, span) in records {
            tx.put_records(&commit, id, &[span]).expect("kept");
        }
        tx.commit().expect("durable");
        self.kept.push(Kept { id, bytes, says });
    }

    fn purge(&mut self, store: &Sqlite, at: usize, files: Files) {
        let all = self.said.len();
        let Some(said) = self
            .said
            .get_mut(at % all.max(1))
            .filter(|said| !said.is_erased)
        else {
            return;
        };
        said.is_erased = true;
        let content = said.content;
        let number = at % all;
        let goes = |kept: &Kept| files != Files::Stay && kept.says.contains(&number);
        let (gone, kept) = std::mem::take(&mut self.kept).into_iter().partition(goes);
        let gone: Vec<Kept> = gone;
        self.kept = kept;
        let tx = store.write().expect("the lock");
        let drop_files = || {
            gone.iter()
                .for_each(|kept| tx.purge_source(kept.id).expect("gone"))
        };
        if files == Files::Before {
            drop_files();
        }
        tx.purge_content(&content).expect("erased");
        tx.unindex(&[content]).expect("erased");
        if files == Files::After {
            drop_files();
        }
        let operation = tx.begin_operation(Millis(0), "purge").expect("begun");
        tx.purge_operations(operation).expect("remembered");
        tx.commit().expect("durable");
    }

    fn holds(&self, store: &Sqlite) {
        let view = Session::read(store).expect("a view");
        let names: Vec<ContentHash> = self.said.iter().map(|said| said.content).collect();
        let read = view.contents(&names).expect("read");
        for (said, read) in self.said.iter().zip(read) {
            let wanted = match said.is_erased {
                true => tombstone(Role::User),
                false => said.message.clone(),
            };
            assert_eq!(read, Some(wanted));
        }
        for kept in &self.kept {
            let all = Span {
                offset: 0,
                len: kept.bytes.len() as u64,
            };
            assert!(view.source_bytes(kept.id, all).expect("read") == kept.bytes);
        }
        let mut packs = Vec::new();
        view.scan("SELECT data, size_bytes FROM packs", [], |row| {
            packs.extend(unpack(ZSTD, row.get(0)?, row.unsigned(1)?)?);
            Ok(true)
        })
        .expect("read");
        let packs = String::from_utf8(packs).expect("text");
        for (number, said) in self.said.iter().enumerate() {
            let is_there = packs.contains(&format!("«{number}»"));
            assert!(!(is_there && said.is_erased), "{number}");
        }
        drop(view);
        assert_eq!(faults(store), []);
    }
}

fn text_of(message: &Message) -> String {
    let canonical = Sealed::new(message.clone()).canonical().to_owned();
    let value: serde_json::Value = serde_json::from_str(&canonical).expect("JSON");
    value["parts"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

proptest! {
    #![proptest_config(crate::conditions::laws(512))]

    #[test]
    fn what_is_said_is_kept_once_and_comes_back(acts in prop::collection::vec(act(), 1..12)) {
        let store = Sqlite::in_memory().expect("a database");
        let mut known = Known::default();
        for act in acts {
            match act {
                Act::Say(many, words) => known.say(&store, many, words),
                Act::File(many, blocks) => known.keep(&store, many, blocks),
                Act::Purge(at, files) => known.purge(&store, at, files),
                Act::Drop(at) => {
                    if !known.kept.is_empty() {
                        let kept = known.kept.remove(at % known.kept.len());
                        let tx = store.write().expect("the lock");
                        tx.purge_source(kept.id).expect("gone");
                        tx.commit().expect("durable");
                    }
                }
                Act::Collect => store.recompress(&mut |_, _| {}).expect("packed"),
            }
            known.holds(&store);
        }
    }
}
