//! Instructions that stand beside each request of a history, and of which only the newest are sent: one message, which
//! changes where they do.
//!
//! Deliberately absent: where a format says them.

use std::ops::Range;

use crate::error::Result;
use crate::formats::shared::document::ObjectTeller;
use crate::formats::{Action, Cover, HideStep, Step, StepEntry};
use crate::model::{HideKind, Message, Millis, Part, Role};

/// The instructions that hold, and the message that they are.
#[derive(Default)]
pub(in crate::formats) struct Instructions(Option<(String, StepEntry)>);

impl Instructions {
    /// From here on these are sent, or none.
    pub(in crate::formats) fn take(
        &mut self,
        new: Option<String>,
        time: Option<Millis>,
        at: &Range<usize>,
        teller: &mut ObjectTeller<'_, '_>,
    ) -> Result<()> {
        let message = |text: &String| Message::new(Role::System, vec![Part::text(text)]);
        let action = match (self.0.take(), &new) {
            (None, None) => return Ok(()),
            (Some((old, entry)), Some(new)) if old == *new => {
                self.0 = Some((old, entry));
                return Ok(());
            }
            (None, Some(new)) => Action::Append(message(new)),
            (Some((_, entry)), Some(new)) => Action::Hide(HideStep::replacing(entry, message(new))),
            (Some((_, entry)), None) => {
                Action::Hide(HideStep::of(HideKind::Drop, Cover::Range(entry, entry)))
            }
        };
        let step = Step::new(action, teller.text.span(at)).at(time);
        let entry = teller.step(step)?;
        self.0 = new.map(|new| (new, entry));
        Ok(())
    }
}
