//! By which rule pictures are counted at a commit: that of the model in force there.
//!
//! Most contexts hold no picture. So whoever counts does it without a rule first, and asks for one where anything is
//! estimated, or where that may be hidden.

use crate::context::Context;
use crate::error::Result;
use crate::hash::CommitHash;
use crate::model::tokens::PictureRule;
use crate::model::{Encoding, TokenCount};
use crate::repo::load;
use crate::repo::repository::Repo;
use crate::repo::served;
use crate::store::View;

/// The encoding with the rule for pictures at a commit; as it is where it has one.
pub(crate) fn at(view: &dyn View, commit: &CommitHash, encoding: Encoding) -> Result<Encoding> {
    if encoding != encoding.plain() {
        return Ok(encoding);
    }
    let model = served::model_at(view, commit)?;
    Ok(of_model(model, encoding))
}

/// The same in a context.
pub(crate) fn within(view: &dyn View, context: &Context, encoding: Encoding) -> Result<Encoding> {
    let named = context.settings.get("model");
    let named = named.filter(|_| encoding == encoding.plain());
    let named = named.map(|by| load::commit(view, by)).transpose()?;
    let model = named.and_then(|row| served::model_of(&row));
    Ok(match model {
        None => encoding,
        model => of_model(model, encoding),
    })
}

/// The same at a commit where what was counted is estimated; none where that was counted as it should be.
pub(crate) fn other(
    view: &dyn View,
    commit: &CommitHash,
    encoding: Encoding,
    is_estimated: bool,
) -> Result<Option<Encoding>> {
    if !is_estimated {
        return Ok(None);
    }
    let by_rule = at(view, commit, encoding)?;
    Ok((by_rule != encoding).then_some(by_rule))
}

/// Whether any of these is estimated.
pub(crate) fn are_among(counts: &[TokenCount]) -> bool {
    counts.iter().any(|count| count.estimated)
}

fn of_model(model: Option<String>, encoding: Encoding) -> Encoding {
    let rule = model.map(|model| PictureRule::of_model(&model));
    encoding.with_pictures(rule.unwrap_or_default())
}

impl Repo {
    /// An encoding with the rule for pictures of the model in force at a commit.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownRevision`](crate::Error::UnknownRevision) if it is not here, and the store's.
    pub fn encoding_at(&self, commit: &CommitHash, encoding: Encoding) -> Result<Encoding> {
        at(&*self.store.read()?, commit, encoding)
    }
}
