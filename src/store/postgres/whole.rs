//! What is asked for along with the first question of a view that was not foreseen: tables that are small, whole, and what
//! is kept beside the newest commits. Whoever asks one question after another finds the answers to many of them here; whoever
//! has what was foreseen at the beginning never pays for it.
//!
//! A table of many rows is not whole: then its questions are asked one by one, as they come.

use std::sync::Arc;

use tokio_postgres::Row;

use super::columns::keys;
use super::driver::{Asked, Told};
use super::link::{asked, rows};
use super::path::changes_asked;
use super::refs::{ADOPTED, REFS, operations_asked};
use super::session::Session;
use super::sources::{RECORDS, all_sources};
use super::usual::remembered_asked;
use crate::error::Result;
use crate::store::Refs;
use crate::store::sources::Records;
use crate::store::tables::{FOLLOWED, FOLLOWERS, SESSIONS};

/// A table of more rows is not small.
const SMALL: usize = 256;

/// The same question, but for no more rows than those of a small table and one.
fn limited(asked: &Asked) -> Asked {
    match asked {
        Asked::Rows(sql, values) => {
            Asked::Rows(format!("{sql} LIMIT {}", SMALL + 1), values.clone())
        }
        Asked::Text(sql) => Asked::Text(sql.clone()),
    }
}

impl Session<'_> {
    /// Questions that are asked in these words by whoever wants to know.
    fn whole(&self) -> Result<Vec<Asked>> {
        let mut all = vec![
            asked(REFS, &[])?,
            asked(ADOPTED, &[])?,
            all_sources()?,
            remembered_asked(&SESSIONS, None)?,
            remembered_asked(&FOLLOWERS, None)?,
            remembered_asked(&FOLLOWED, None)?,
        ];
        if let Some(path) = self.known.last_path() {
            all.push(changes_asked(&path)?);
        }
        Ok(all)
    }

    /// The oldest operation, which tells how old all is.
    fn first_operation(&self) -> Result<Asked> {
        operations_asked(Some(self.upkeep()?.oldest() + 1), 1)
    }

    /// What is asked along with a question.
    pub(super) fn along(&self) -> Result<Vec<Asked>> {
        let mut all: Vec<Asked> = self.whole()?.iter().map(limited).collect();
        let commits = self.ahead.foreseen_commits();
        all.push(asked(RECORDS, &[&keys(&commits)])?);
        all.push(self.first_operation()?);
        Ok(all)
    }

    /// Takes its answers in.
    pub(super) fn took_along(&self, mut told: Vec<Told>) -> Result<()> {
        self.keep(self.first_operation()?, rows(told.pop()));
        let records = rows(told.pop());
        let commits = self.ahead.foreseen_commits();
        let mut found = vec![Records::new(); commits.len()];
        super::sources::each_record(&records, |at, record| found[at].push(record))?;
        self.ahead.saw_records(commits.into_iter().zip(found));
        for (asked, told) in self.whole()?.into_iter().zip(told) {
            let rows = rows(Some(told));
            if rows.len() <= SMALL {
                self.keep(asked, rows);
            }
        }
        Ok(())
    }

    /// All rows of a small table, where they were told.
    pub(super) fn all_told(&self, sql: &str) -> Result<Option<Arc<Vec<Row>>>> {
        if self.is_writing() {
            return Ok(None);
        }
        Ok(self.told(&asked(sql, &[])?))
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Message, Millis, RefName, RefValue, Role, Span};
    use crate::store::postgres::Postgres;
    use crate::store::postgres::tests::{cluster, create};
    use crate::store::{AdoptedRow, SourcesOf, Store, View, contract};

    /// What a view tells of all that may be asked for along with something.
    fn told(view: &dyn View) -> Vec<String> {
        let names = |all: &str| view.references(all).expect("read");
        let tip = names("refs/heads/main")[0].1.commit().expect("a commit");
        let path = view.ancestors(&tip, None, usize::MAX).expect("read");
        let path: Vec<_> = path.iter().map(|row| row.hash).collect();
        let session: RefName = "refs/sessions/tool/one".parse().expect("a name");
        let other: RefName = "refs/sessions/tool/none".parse().expect("a name");
        let mut all = vec![
            format!(
                "{:?}",
                (names(""), names("refs/heads/"), names("refs/tags/"))
            ),
            format!("{:?}", view.names_of(&path)),
            format!(
                "{:?}",
                [&session, &other].map(|name| view.reference(name).expect("read"))
            ),
            format!(
                "{:?}",
                [&session, &other].map(|name| view.adopted(name).expect("read"))
            ),
            format!("{:?}", (view.records(&path[..3]), view.records(&path))),
            format!("{:?}", view.changes(&tip)),
            format!(
                "{:?}",
                [&session, &other].map(|name| view.session(name).expect("read"))
            ),
            format!("{:?}", (view.followers(), view.follower(&session))),
        ];
        let of = [
            SourcesOf::All,
            SourcesOf::Any,
            SourcesOf::Session(&session),
            SourcesOf::Session(&other),
            SourcesOf::Number(1),
            SourcesOf::Number(9),
        ];
        all.extend(of.map(|of| format!("{:?}", view.sources_of(of))));
        let files = [None, Some(&session), Some(&other)];
        let files = files.map(|of| {
            view.followed_files(of.map(std::slice::from_ref))
                .expect("read")
        });
        assert_eq!(files.each_ref().map(Vec::len), [2, 1, 0]);
        all.push(format!("{files:?}"));
        all
    }

    #[test]
    fn what_is_asked_for_whole_is_what_is_asked_for_one_by_one() {
        let Some(address) = cluster::address() else {
            return;
        };
        let store = create(&address);
        let tip = contract::line(&store, 100);
        let session: RefName = "refs/sessions/tool/one".parse().expect("a name");
        let put = |name: &str| {
            let tx = store.write().expect("the lock");
            tx.begin_operation(Millis(0), "x").expect("open");
            let name: RefName = name.parse().expect("a name");
            tx.set_reference(&name, Some(&RefValue::Commit(tip)))
                .expect("moved");
            tx.commit().expect("made");
        };
        for name in [
            "refs/heads/main",
            "refs/heads/more",
            "refs/tags/t",
            "refs/sessions/tool/one",
        ] {
            put(name);
        }
        let tx = store.write().expect("the lock");
        let source = tx.put_source(&session, "tool", None).expect("kept");
        tx.put_records(&tip, source, &[Span { offset: 0, len: 3 }])
            .expect("kept");
        let third: RefName = "refs/sessions/tool/third".parse().expect("a name");
        let third = tx.put_source(&third, "tool", None).expect("kept");
        for (path, source) in [("b", source), ("a", third)] {
            tx.put_followed(&contract::followed_file(path, source))
                .expect("kept");
        }
        tx.put_adopted(
            &session,
            AdoptedRow {
                theirs: tip,
                ours: tip,
            },
        )
        .expect("kept");
        let branch: RefName = "refs/heads/main".parse().expect("a name");
        tx.set_follower(&session, &branch).expect("kept");
        tx.keep(&Message::text(Role::User, "no commit's"))
            .expect("kept");
        tx.commit().expect("made");
        let one_by_one = told(&*store.read().expect("a view"));
        let held = Postgres::open(&address).expect("opens");
        held.hold(true);
        assert_eq!(told(&*held.read().expect("a view")), one_by_one);
        // A table that is not small is not taken for whole.
        for at in 0..super::SMALL {
            put(&format!("refs/heads/b{at:03}"));
        }
        let one_by_one = told(&*store.read().expect("a view"));
        let held = Postgres::open(&address).expect("opens");
        held.hold(true);
        assert_eq!(told(&*held.read().expect("a view")), one_by_one);
    }
}
