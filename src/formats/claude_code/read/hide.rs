//! What the client hid: compactions, microcompactions, and what it takes back of what was sent.

use std::collections::HashSet;

use super::{Reader, Told};
use crate::error::Result;
use crate::formats::claude_code::attachments;
use crate::formats::claude_code::index::{Kind, REPLACED};
use crate::formats::claude_code::path::Item;
use crate::formats::claude_code::record::{Attachment, MicrocompactMetadata, Record, Withdrawal};
use crate::formats::shared::parts::{self, time};
use crate::formats::{Action, Cover, HideStep, Step, StepEntry, StepId};
use crate::model::{HideKind, Message, Part, Role, Span};
use crate::wire::json::{decode, is_true};

/// What stands in place of a reply that was thought and no more, in the client's own words.
const REMOVED: &str = "[Thinking removed]";

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

    /// A microcompaction, or another word of the client's that takes back some of what was sent.
    pub(super) fn prune(&mut self, record: u32, next: &mut Told, told: &[Told]) -> Result<()> {
        let text = self.text(record)?;
        let outer: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
        let attachment = decode::<Attachment<'_>>(outer.attachment);
        let withdrawal = match (attachment, self.entry(record).kind) {
            (_, Kind::Replaced) => Withdrawal::replaced(&outer),
            (Some(attachment), _) => Withdrawal::of(&attachment),
            (None, _) => {
                let metadata: MicrocompactMetadata =
                    decode(outer.microcompact_metadata).unwrap_or_default();
                let calls = metadata.compacted_tool_ids.into_iter();
                let calls = calls.map(|call| (call, CLEARED.to_owned()));
                Some(Withdrawal::Results(calls.collect()))
            }
        };
        let compaction = |told: &Told| matches!(told.item, Item::Compaction(..));
        let start = told.iter().rposition(compaction).unwrap_or(0);
        let hide = match withdrawal {
            Some(Withdrawal::Results(calls)) => cleared(calls, next, told, start),
            Some(Withdrawal::Thoughts(from)) => self.stripped(from, next, told, start),
            Some(Withdrawal::WholeFiles) => self.withdrawn(&told[start..])?,
            None => None,
        };
        let Some(hide) = hide else {
            let entry = self.entry(record);
            let label = match entry.kind {
                Kind::Cut => self.attachment(entry),
                Kind::Replaced => REPLACED.to_owned(),
                _ => "system/microcompact_boundary".to_owned(),
            };
            self.teller.end.other(label);
            return Ok(());
        };
        let spans = self.index.own_spans(&[record]);
        let step = Step::new(Action::Hide(hide), Span::default()).by(spans);
        next.step = Some(self.step(step.at(time(outer.timestamp)))?);
        Ok(())
    }

    /// What was thought goes, from a thought of a message on or all of it. A reply that was nothing else says that.
    fn stripped(
        &self,
        from: Option<(String, usize)>,
        next: &mut Told,
        told: &[Told],
        start: usize,
    ) -> Option<HideStep> {
        let message = |it: &Told| match &it.item {
            Item::Reply(records) => self.entry(records[0]).message,
            _ => None,
        };
        let (first, mut skipped) = match from {
            None => (start, 0),
            Some((id, thought)) => {
                let is_it = |it: &Told| {
                    message(it).is_some_and(|message| self.index.names.of(message) == id)
                };
                let found = told[start..].iter().position(is_it);
                found.map_or((start, 0), |at| (start + at, thought))
            }
        };
        let gone: HashSet<(StepEntry, u32)> = told
            .iter()
            .flat_map(|told| told.stripped.iter().copied())
            .collect();
        let mut parts = Vec::new();
        for told in &told[first..] {
            let thoughts = &told.thoughts;
            let Some(entry) = told.entry() else {
                continue;
            };
            let kept = skipped.min(thoughts.len());
            skipped -= kept;
            let is_empty = kept == 0 && told.parts as usize == thoughts.len();
            for (at, part) in thoughts[kept..].iter().enumerate() {
                if gone.contains(&(entry, *part)) {
                    continue;
                }
                let removed = || Message::new(Role::Assistant, vec![Part::text(REMOVED)]);
                parts.push((entry, *part, (is_empty && at == 0).then(removed)));
                next.stripped.push((entry, *part));
            }
        }
        (!parts.is_empty()).then(|| HideStep::prune(parts))
    }

    /// The files that were mentioned since the last reply and are too long: each is sent in other words.
    fn withdrawn(&mut self, told: &[Told]) -> Result<Option<HideStep>> {
        let mut parts = Vec::new();
        for told in told.iter().rev() {
            let record = match told.item {
                Item::Reply(_) if told.parts as usize > told.thoughts.len() => break,
                Item::Input(record) if self.entry(record).kind == Kind::Attached => record,
                _ => continue,
            };
            let text = self.text(record)?;
            let outer: Record<'_> = serde_json::from_str(&text).unwrap_or_default();
            let attachment: Attachment<'_> = decode(outer.attachment).unwrap_or_default();
            let (Some(entry), true) = (told.entry(), is_true(attachment.over_token_limit)) else {
                continue;
            };
            let words = attachments::withdrawn(&outer).into_iter().flatten();
            let words: Vec<Part> = words.map(Part::text).collect();
            let words = (!words.is_empty()).then(|| Message::new(Role::User, words));
            parts.push((entry, 0, words));
            parts.extend((1..told.parts).map(|part| (entry, part, None)));
        }
        Ok((!parts.is_empty()).then(|| HideStep::prune(parts)))
    }
}

/// The named results go, and each has something else in its place.
fn cleared(
    calls: Vec<(String, String)>,
    next: &mut Told,
    told: &[Told],
    start: usize,
) -> Option<HideStep> {
    let gone: HashSet<&String> = told.iter().flat_map(|told| &told.cleared).collect();
    let mut parts = Vec::new();
    for (call, stand_in) in calls {
        let found = told[start..].iter().rev().find_map(|told| {
            let (_, part) = told.results.iter().find(|(id, _)| *id == call)?;
            Some((told.entry()?, *part))
        });
        if let Some((entry, part)) = found
            && !gone.contains(&call)
            && !next.cleared.contains(&call)
        {
            let result = parts::result(Some(call.clone()), vec![Part::text(stand_in)], false);
            let stub = Message::new(Role::Tool, vec![result]);
            parts.push((entry, part, Some(stub)));
            next.cleared.push(call);
        }
    }
    (!parts.is_empty()).then(|| HideStep::prune(parts))
}
