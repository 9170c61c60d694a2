//! What the client hid: compactions and microcompactions.

use std::collections::HashSet;

use super::{Reader, Told};
use crate::error::Result;
use crate::formats::claude_code::index::Kind;
use crate::formats::claude_code::path::Item;
use crate::formats::claude_code::record::{Attachment, Cut, MicrocompactMetadata, Record};
use crate::formats::shared::parts::{self, time};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::model::{HideKind, Message, Part, Role, Span};
use crate::wire::json::decode;

/// What stands in place of a cleared result, in the client's own words.
const CLEARED: &str = "[Old tool result content cleared]";

impl Reader<'_> {
    /// A compaction: everything before it goes but what it names. Returns its step.
    pub(super) fn compaction(
        &mut self,
        boundary: Option<u32>,
        summary: u32,
        front: &[u32],
        told: &[Told],
    ) -> Result<StepId> {
        let mut in_front = Vec::with_capacity(front.len());
        for &record in front {
            let piece = self.piece(record)?;
            let mut message = Message::new(Role::User, piece.parts);
            message.attached = piece.attached;
            in_front.push((record, piece.time, message));
        }
        let piece = self.piece(summary)?;
        let message = Message::new(Role::User, piece.parts);
        let kept: HashSet<u32> = boundary
            .and_then(|boundary| self.index.preserved.get(&boundary))
            .into_iter()
            .flat_map(|kept| &kept.uuids)
            .filter_map(|uuid| self.index.by_uuid.get(uuid).copied())
            .collect();
        let keep: Vec<StepEntry> = told
            .iter()
            .filter(|told| told.item.records().iter().any(|r| kept.contains(r)))
            .filter_map(Told::entry)
            .collect();
        // The summary stands before what is kept, unless that is anchored at the boundary itself.
        let anchored = boundary.is_some_and(|boundary| {
            let kept = self.index.preserved.get(&boundary);
            let anchor = kept.and_then(|kept| kept.anchor);
            anchor.is_some() && anchor == self.entry(boundary).uuid
        });
        let first = keep.first().copied().filter(|_| !anchored);
        let mut records: Vec<u32> = boundary.into_iter().chain([summary]).collect();
        let action = if told.iter().all(|told| told.step.is_none()) {
            for (record, time, message) in in_front {
                let spans = self.index.own_spans(&[record]);
                let step = Step::append(message, Span::default()).by(spans);
                self.step(step.at(time))?;
            }
            Action::Append(message)
        } else {
            records.extend(front);
            let in_front = in_front.into_iter().map(|(_, _, message)| message);
            let messages = in_front.chain([message]);
            let hide = HideStep::of(HideKind::Compaction, Cover::Everything).keeping(keep);
            Action::Hide(hide.putting(messages.map(|message| (first, message)).collect()))
        };
        let spans = self.index.own_spans(&records);
        self.step(Step::new(action, Span::default()).by(spans).at(piece.time))
    }

    /// A microcompaction, or the client's word of results that it cleared after an idle hour: the named results go.
    pub(super) fn prune(&mut self, record: u32, next: &mut Told, told: &[Told]) -> Result<()> {
        let text = self.text(record)?;
        let outer: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
        let attachment = decode::<Attachment<'_>>(outer.attachment);
        let (calls, stand_in) = match attachment.as_ref().and_then(Cut::of) {
            Some(cut) => (cut.calls, cut.stand_in),
            None => {
                let metadata: MicrocompactMetadata =
                    decode(outer.microcompact_metadata).unwrap_or_default();
                (metadata.compacted_tool_ids, CLEARED.to_owned())
            }
        };
        let gone: HashSet<&String> = told.iter().flat_map(|told| &told.cleared).collect();
        let compaction = |told: &Told| matches!(told.item, Item::Compaction(..));
        let start = told.iter().rposition(compaction).unwrap_or(0);
        let mut parts = Vec::new();
        for call in calls {
            let found = told[start..].iter().rev().find_map(|told| {
                let (_, part) = told.results.iter().find(|(id, _)| *id == call)?;
                Some((told.entry()?, *part))
            });
            if let Some((entry, part)) = found
                && !gone.contains(&call)
                && !next.cleared.contains(&call)
            {
                let cleared = vec![Part::text(stand_in.as_str())];
                let result = parts::result(Some(call.clone()), cleared, false);
                let stub = Message::new(Role::Tool, vec![result]);
                parts.push((entry, part, Some(stub)));
                next.cleared.push(call);
            }
        }
        if parts.is_empty() {
            let entry = self.entry(record);
            let label = match entry.kind {
                Kind::Cut => self.attachment(entry),
                _ => "system/microcompact_boundary".to_owned(),
            };
            self.teller.end.other(label);
            return Ok(());
        }
        let hide = Action::Hide(HideStep::prune(parts));
        let spans = self.index.own_spans(&[record]);
        let step = Step::new(hide, Span::default()).by(spans);
        next.step = Some(self.step(step.at(time(outer.timestamp)))?);
        Ok(())
    }
}
