use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::ranking::{Ranking, best};
use super::*;
use crate::model::query::Query;
use crate::model::word_weights::Weigher;
use crate::model::{Message, Role};

/// The index in memory, and how many bytes were ever put there.
#[derive(Default)]
struct Memory(RefCell<BTreeMap<i64, (Segment, Vec<Kept>)>>, Cell<u64>);

/// The first word of a block, and the block.
type Kept = (Vec<u8>, Vec<u8>);

impl Shelf for Memory {
    fn segments(&self) -> Result<Vec<Segment>> {
        Ok(self
            .0
            .borrow()
            .values()
            .map(|(segment, _)| *segment)
            .collect())
    }

    fn blocks(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(i64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for (last, (_, blocks)) in self.0.borrow().iter() {
            let first = blocks.iter().rposition(|(word, _)| word.as_slice() <= from);
            for (word, data) in &blocks[first.unwrap_or(0)..] {
                if word.as_slice() <= to {
                    visit(*last, data)?;
                }
            }
        }
        Ok(())
    }

    fn blocks_of(&self, segment: i64) -> Result<Vec<Vec<u8>>> {
        let all = self.0.borrow();
        Ok(all[&segment]
            .1
            .iter()
            .map(|(_, data)| data.clone())
            .collect())
    }

    fn put_segment(&self, segment: Segment, blocks: &[Block]) -> Result<()> {
        let blocks = blocks
            .iter()
            .map(|block| (block.word.clone(), block.data.clone()));
        let blocks = blocks.collect();
        let size_bytes = segment.size_bytes.cast_unsigned();
        self.1.set(self.1.get() + size_bytes);
        self.0.borrow_mut().insert(segment.last, (segment, blocks));
        Ok(())
    }

    fn drop_segment(&self, last: i64) -> Result<()> {
        self.0.borrow_mut().remove(&last);
        Ok(())
    }
}

/// All contents with a word, from an index and what is not in it yet.
fn having(shelf: &Memory, tail: &Gathered, word: &str) -> BTreeSet<i64> {
    let query = Query::parse(word).expect("a query");
    let ranking = Ranking {
        query: &query,
        role: None,
        most: usize::MAX,
    };
    let best = best(shelf, tail, ranking, &mut |_| Ok(true)).expect("ranked");
    best.contents.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn segments_become_one_where_they_are_many() {
    let (shelf, mut weigher) = (Memory::default(), Weigher::default());
    for id in 1..=200_i64 {
        let mut gathered = Gathered::since(id - 1);
        let said = Message::text(Role::User, format!("common number{id} {}", id % 7));
        gathered.add(id, &weigher.message(&said));
        gathered.keep(&shelf).expect("kept");
    }
    let segments = shelf.segments().expect("told");
    assert!(segments.len() < 16, "{}", segments.len());
    assert_eq!(segments.last().map(|one| one.last), Some(200));
    assert!(segments.windows(2).all(|two| two[0].last == two[1].since));
    let nothing = Gathered::since(200);
    assert_eq!(having(&shelf, &nothing, "common").len(), 200);
    assert_eq!(having(&shelf, &nothing, "number77"), [77].into());
    assert_eq!(having(&shelf, &nothing, "number19*").len(), 11);
}

/// A stream is recorded message by message, each of which makes a segment.
#[test]
fn what_comes_in_one_by_one_is_written_again_a_few_times_only() {
    let (shelf, mut weigher, mut came) = (Memory::default(), Weigher::default(), 0);
    for id in 1..=4_000_i64 {
        let before = shelf.1.get();
        let mut gathered = Gathered::since(id - 1);
        let said = format!(
            "one more of number{id}, which is {} and after {}",
            7 * id,
            id % 90
        );
        gathered.add(id, &weigher.message(&Message::text(Role::User, said)));
        let segment = (gathered.since, gathered.last);
        put(&shelf, segment, gathered.written()).expect("put");
        came += shelf.1.get() - before;
        join(&shelf).expect("joined");
    }
    let times = shelf.1.get() as f64 / came as f64;
    assert!(times < 9.0, "each byte is written {times:.1} times");
}

proptest! {
    #![proptest_config(crate::conditions::laws(128))]

    /// However contents came in, and whatever was taken out, each is found by its words.
    #[test]
    fn every_word_is_found_in_what_is_left(
        texts in prop::collection::vec("(ab|ac|bb|bc|abc|zz){1,3}( (ab|ac|bb|bc|abc|zz)){0,3}", 1..40),
        breaks in prop::collection::vec(any::<bool>(), 40),
        gone in prop::collection::btree_set(1..41_i64, 0..12),
        shorter in 0..3_i64,
    ) {
        let (shelf, mut weigher) = (Memory::default(), Weigher::default());
        let mut gathered = Gathered::since(0);
        for (at, text) in texts.iter().enumerate() {
            let id = at as i64 + 1;
            gathered.add(id, &weigher.message(&Message::text(Role::User, text)));
            if breaks[at] {
                std::mem::replace(&mut gathered, Gathered::since(id)).keep(&shelf).expect("kept");
            }
        }
        let newest = texts.len() as i64 - shorter;
        forget(&shelf, &gone, newest).expect("forgotten");
        let mut kept = indexed(&shelf).expect("read");
        for (at, text) in texts.iter().enumerate() {
            let id = at as i64 + 1;
            let is_there = !gone.contains(&id) && id <= newest;
            let said = weigher.message(&Message::text(Role::User, text));
            if let Some(sum) = kept.take(id) {
                let of_it = if is_there { WordSum::of(&said) } else { WordSum::default() };
                prop_assert_eq!(sum, of_it);
            }
        }
        prop_assert_eq!(kept.left(), 0);
        let of_tail = gathered.since + 1..=gathered.last;
        for word in ["ab", "ac", "bb", "bc", "abc", "zz", "ab*"] {
            let expected: BTreeSet<i64> = (1..=texts.len() as i64)
                .filter(|id| of_tail.contains(id) || (!gone.contains(id) && *id <= newest))
                .filter(|id| {
                    let mut words = texts[*id as usize - 1].split(' ');
                    words.any(|one| one == word || word.strip_suffix('*').is_some_and(|start| one.starts_with(start)))
                })
                .collect();
            prop_assert_eq!(having(&shelf, &gathered, word), expected, "{}", word);
        }
    }
}
