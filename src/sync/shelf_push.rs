//! A shelf, asked like a repository by whoever pushes: what is there is what leads to the commits that its index names, and
//! what it takes is put there later.

use std::collections::HashSet;

use super::layout::New;
use super::shelved::Shelved;
use super::{Answers, Brought, strange};
use crate::error::Result;
use crate::hash::CommitHash;
use crate::repo::ancestry::{History, leading_to};
use crate::repo::repository::Repo;
use crate::store::View;
use crate::sync::bundle::{BundleTip, FileState, KeptFile, Packing, Survey, here};

/// From how many ends on all that leads to them is read at once.
const FEW: usize = 16;

/// What leads to some commits.
enum Reach {
    Few(History),
    Many(HashSet<CommitHash>),
}

pub(super) struct Putting<'a> {
    mine: &'a Repo,
    ends: Vec<CommitHash>,
    reach: Reach,
    /// What was taken.
    pub(super) new: Vec<New>,
}

impl<'a> Putting<'a> {
    /// With what is there, and what is to be put there.
    pub(super) fn of(mine: &'a Repo, there: &Shelved, pending: &[New]) -> Result<Self> {
        let mut known = there.known();
        known.extend(pending.iter().flat_map(|it| it.survey.ends()));
        let view = mine.store.read()?;
        let ends = here(&*view, &known)?;
        Ok(Self {
            mine,
            reach: Reach::of(&*view, &ends)?,
            ends,
            new: Vec::new(),
        })
    }
}

impl Reach {
    fn of(view: &dyn View, ends: &[CommitHash]) -> Result<Self> {
        Ok(if ends.len() > FEW {
            Self::Many(leading_to(view, ends)?.into_iter().collect())
        } else {
            Self::Few(History::of(view, ends)?)
        })
    }
}

impl Answers for Putting<'_> {
    fn has(&mut self, commits: &[CommitHash]) -> Result<Vec<bool>> {
        match &self.reach {
            Reach::Many(all) => Ok(commits.iter().map(|it| all.contains(it)).collect()),
            Reach::Few(history) => history.holds(&*self.mine.store.read()?, commits),
        }
    }

    fn at(&mut self, _: &[(CommitHash, u64)]) -> Result<Vec<CommitHash>> {
        Err(strange("has no paths of its own"))
    }

    fn give(&mut self, _: &[BundleTip], _: Packing) -> Result<Vec<u8>> {
        Err(strange("makes no bundles"))
    }

    fn take(&mut self, bundle: &[u8]) -> Result<Brought> {
        let survey = Survey::of(bundle)?;
        self.ends.extend(survey.ends());
        self.reach = Reach::of(&*self.mine.store.read()?, &self.ends)?;
        let brought = Brought {
            commits: survey.commits.len() as u64,
            contents: survey.contents.len() as u64,
            ..Brought::default()
        };
        self.new.push(New {
            bytes: bundle.to_vec(),
            survey,
            files: Vec::new(),
        });
        Ok(brought)
    }

    fn kept_files(&mut self, _: &[CommitHash]) -> Result<Vec<KeptFile>> {
        Ok(Vec::new())
    }

    fn file_states(&mut self, _: &[CommitHash], _: &[KeptFile]) -> Result<Vec<FileState>> {
        Ok(Vec::new())
    }

    fn give_files(
        &mut self,
        tips: &[BundleTip],
        _: &[KeptFile],
        packing: Packing,
    ) -> Result<Vec<u8>> {
        self.give(tips, packing)
    }
}
