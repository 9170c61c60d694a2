//! A fresh start.

use crate::context::plan::PlanInput;
use crate::model::{Draft, HideKind};

/// Hides everything but the system messages; with `all` those too. Pinned messages and calls still
/// open stay. None: nothing to hide.
pub fn clear(input: &PlanInput, all: bool) -> Option<Draft> {
    let stays = |at: usize| !all && input.order[at].role.is_system();
    let wanted = (0..input.order.len()).filter(|at| !stays(*at)).collect();
    let chosen = input.settle(&wanted, true, stays);
    if !chosen.iter().any(|at| input.order[*at].visible()) {
        return None;
    }
    Some(input.hide(HideKind::Clear, &chosen, Vec::new(), None))
}
