//! The importer: the runs of a session, in their order.

use std::ops::Range;

use super::message::{self, Spoken};
use super::{RUNS, SESSION};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::instructions::Instructions;
use crate::formats::shared::parts::{said, seconds};
use crate::formats::{Action, Cover, HideStep, Step};
use crate::model::{HideKind, Role};
use crate::wire::json::{decode, quoted};

/// A session.
#[derive(Default)]
pub(super) struct Session {
    instructions: Instructions,
}

impl Document for Session {
    const RECORDS: &'static str = RUNS;
    const LACKING: &'static [&'static str] = &["tool definitions"];

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        lazy! {
            struct Row { session_id, created_at, agent_data, team_data }
            struct Owner { model }
            struct Model { id }
        }
        if member.key != SESSION {
            return false;
        }
        let row: Row<'_> = decode(Some(member.raw)).unwrap_or_default();
        teller.name(said(row.session_id));
        teller.start.descent.begun = seconds(row.created_at);
        let owner: Owner<'_> = decode(row.agent_data.or(row.team_data)).unwrap_or_default();
        let model: Model<'_> = decode(owner.model).unwrap_or_default();
        teller.set("model", said(model.id).map(|id| quoted(&id)));
        true
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let Some(run) = teller.read(at, message::read)? else {
            return Ok(());
        };
        if run.is_members {
            teller.end.other("run of a team's member");
            return Ok(());
        }
        self.instructions.take(run.system, run.time, at, teller)?;
        teller.set("model", run.model.as_deref().map(quoted));
        let mut entries = Vec::new();
        for Spoken {
            message,
            time,
            usage,
        } in run.messages
        {
            let usage = usage.filter(|_| message.role == Role::Assistant);
            entries.push(teller.append(message, at, time, usage)?);
        }
        let ends = entries.first().zip(entries.last());
        if let Some(((first, last), status)) = ends.zip(run.left) {
            teller.end.other(format!("run that ended in '{status}'"));
            let hide = HideStep::of(HideKind::Drop, Cover::Range(*first, *last));
            let step = Step::new(Action::Hide(hide), teller.text.span(at));
            teller.step(step.at(run.time))?;
        }
        Ok(())
    }
}
