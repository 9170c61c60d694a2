//! A fresh start.

use crate::context::plan::PlanInput;
use crate::error::Result;
use crate::model::{Draft, HideKind};

/// Hides everything but the system messages; with `all` those too. Pinned messages and calls still
/// open stay. None: nothing to hide.
///
/// # Errors
///
/// None at present.
pub fn clear(input: &PlanInput, all: bool) -> Result<Option<Draft>> {
    let stays = |at: usize| !all && input.order[at].role.is_system();
    let wanted = (0..input.order.len()).filter(|at| !stays(*at)).collect();
    let chosen = input.settle(&wanted, true, stays);
    if !chosen.iter().any(|at| input.order[*at].visible()) {
        return Ok(None);
    }
    let draft = input.hide(HideKind::Clear, &chosen, Vec::new(), None, Vec::new());
    Ok(Some(draft))
}
