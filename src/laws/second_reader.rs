//! What the page of the format says is what the program does: a second implementation, made from
//! that page alone, reads every history as this one does.

use proptest::prelude::*;

use crate::conditions::{second_faults, second_reader};
use crate::context::laws::history::{CONTENTS, histories, message};
use crate::model::{Millis, RefName, RefValue};
use crate::repo::Repo;

proptest! {
    #![proptest_config(crate::conditions::laws(32))]

    #[test]
    fn a_reader_made_from_the_page_alone_sees_the_same_contexts(
        history in histories(60),
        every in 1_usize..9,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let (repo, _) = Repo::init(folder.path()).expect("made");
        let tx = repo.store.write().expect("a transaction");
        for number in 0..CONTENTS {
            tx.keep(&message(number)).expect("kept");
        }
        tx.begin_operation(Millis(0), "test").expect("begun");
        let mut wanted: Vec<String> = Vec::new();
        for (at, (hash, commit)) in history.0.iter().enumerate() {
            tx.keep_commit(commit).expect("kept");
            let name = RefName::tag(&format!("c{at}")).expect("a name");
            tx.set_reference(&name, Some(&RefValue::Commit(*hash))).expect("set");
            let context = history.order(at).context();
            if at % every == 0 {
                tx.put_checkpoint(hash, &context).expect("kept");
            }
            wanted.extend(context.entries.iter().map(|entry| {
                let part = |part: &crate::context::MaskedPart| {
                    format!("{}:{}", part.part, part.stub.map_or(String::new(), |stub| stub.to_string()))
                };
                let parts: Vec<String> = entry.mask.parts().iter().map(part).collect();
                format!("{name}\t{}\t{}\t{}", entry.id, entry.content, parts.join(";"))
            }));
        }
        tx.commit().expect("durable");
        if let Some((sound, contexts, faults)) = second_reader(&folder.path().join(".tract/tract.db")) {
            prop_assert!(sound, "{}", faults);
            let mut seen: Vec<&str> = contexts.lines().collect();
            seen.sort_unstable();
            wanted.sort_unstable();
            prop_assert_eq!(seen, wanted);
        }
    }
}

impl Repo {
    /// Has the second reader read a copy of it: a law with histories of its own ends so. A repository on a server is no
    /// file that it could read.
    pub(crate) fn second_reading(&self) -> Result<(), TestCaseError> {
        if self.is_on_server() {
            return Ok(());
        }
        let folder = tempfile::tempdir().expect("a folder");
        let copy = folder.path().join("copy.db");
        self.backup(&copy, &mut |_| {}).expect("copied");
        match second_faults(&copy) {
            Some(faults) if !faults.is_empty() => Err(TestCaseError::fail(faults)),
            _ => Ok(()),
        }
    }
}
