//! The importer: the items of a history as steps.

use std::ops::Range;

use super::item::{Item, Told, told};
use crate::error::Result;
use crate::formats::shared::document::{Document, Member, ObjectTeller};
use crate::formats::shared::parts::usage;
use crate::formats::shared::places;
use crate::formats::{Action, Cover, HideStep, Moment, Step, StepEntry};
use crate::model::{Message, Role, Span, StatedUsage, Usage};
use crate::wire::json::{decode, quoted};

/// A session.
#[derive(Default)]
pub(super) struct Session {
    items: Vec<Item>,
    places: Vec<Span>,
    /// What is sent by now, in order.
    sent: Vec<StepEntry>,
    /// What all requests came to, those among them of which an item is gone.
    all: Option<Usage>,
    /// What the tool takes them to have cost.
    dollars: f64,
}

impl Document for Session {
    const RECORDS: &'static str = "history";

    fn member(&mut self, member: &Member<'_>, teller: &mut ObjectTeller<'_, '_>) -> bool {
        match (member.key, member.word()) {
            ("sessionId", Some(id)) => teller.start.id = id,
            ("title", Some(title)) => teller.end.title = Some(title),
            ("workspaceDirectory", Some(place)) => teller.end.cwd = Some(places::path(&place)),
            ("usage", None) => {
                lazy! { struct Total { cost = "totalCost" } }
                let total: Total<'_> = decode(Some(member.raw)).unwrap_or_default();
                self.dollars = decode(total.cost).unwrap_or_default();
                self.all = usage(Some(member.raw), &["promptTokens", "completionTokens"]);
            }
            ("sessionId" | "title" | "workspaceDirectory", None) => {}
            _ => teller.end.other(member.key),
        }
        false
    }

    fn record(&mut self, at: &Range<usize>, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        if let Some(item) = teller.read(at, |raw, notes| Item::of(raw.get(), notes))? {
            self.items.push(item);
            self.places.push(teller.text.span(at));
        }
        Ok(())
    }

    fn finish(&mut self, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let told = told(&self.items);
        let mut silent = vec![true; self.items.len()];
        for told in &told {
            let (Told::Message(_, by) | Told::Summary(_, by)) = told;
            silent[by.clone()].fill(false);
        }
        let silent = self
            .items
            .iter()
            .zip(&silent)
            .filter(|(_, silent)| **silent);
        for (item, _) in silent {
            teller.end.other(format!("{} (not sent)", item.role));
        }
        teller.end.stated = self.stated().if_any();
        told.into_iter()
            .try_for_each(|told| self.tell(told, teller))
    }
}

impl Session {
    /// What the tool says that all requests came to.
    fn stated(&self) -> StatedUsage {
        let counted = |item: &Item| Some((item.model.clone()?, item.usage.as_ref()?.usage));
        let replies: Vec<(String, Usage)> = self.items.iter().filter_map(counted).collect();
        let all = self.all.map(|all| StatedUsage::of_all(all, &replies));
        let mut stated = all.unwrap_or_default();
        stated.cost(self.dollars);
        stated
    }

    fn tell(&mut self, told: Told, teller: &mut ObjectTeller<'_, '_>) -> Result<()> {
        let (action, usage, by) = match told {
            Told::Message(message, by) => {
                let last = self.items.get(by.end - 1);
                let last = last.filter(|_| message.role == Role::Assistant);
                let model = last.and_then(|it| it.model.as_deref());
                teller.set("model", model.map(quoted));
                (
                    Action::Append(message),
                    last.and_then(|it| it.usage.clone()),
                    by,
                )
            }
            Told::Summary(message, by) => (self.summary(message), None, by),
        };
        let is_hide = matches!(action, Action::Hide(_));
        let records = &self.places[by];
        let step = Step::new(action, records[0]).by(records.to_vec());
        let entry = teller.step(step.recorded(usage))?;
        if is_hide {
            self.sent.clear();
        }
        self.sent.push(entry);
        Ok(())
    }

    /// A summary stands in place of what is sent by now; when that was shows only the place.
    fn summary(&self, message: Message) -> Action {
        let (Some(first), Some(last)) = (self.sent.first(), self.sent.last()) else {
            return Action::Append(message);
        };
        let hide = HideStep::summary(Cover::Range(*first, *last), message);
        Action::Hide(hide.made(Moment::Since(0)))
    }
}
