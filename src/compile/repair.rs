//! Calls and results brought into the order that every provider asks for: each call answered
//! once, right after the message that makes it.

use std::borrow::Borrow;
use std::collections::HashMap;

use crate::compile::ids::{IdRule, Ids};
use crate::model::pairs::answered;
use crate::model::{Message, Part, Role};
use crate::wire::{Repair, Repairs};

/// One step of a request.
#[derive(Debug)]
pub(super) enum Item<'a> {
    /// A message without tool results.
    Spoken(Spoken<'a>),
    /// The answers to all calls of the assistant message right before.
    Answers(Vec<Answer<'a>>),
}

#[derive(Debug)]
pub(super) struct Spoken<'a> {
    /// The message's number, from 1.
    pub number: usize,
    pub role: Role,
    pub name: Option<&'a str>,
    /// What the client calls it that attached it.
    pub attached: Option<&'a str>,
    pub pieces: Vec<Piece<'a>>,
}

impl Spoken<'_> {
    /// Tells of a message that is sent what its frame loses where a provider knows neither speakers nor tools.
    pub(super) fn tell(&self, repairs: &mut Repairs) {
        if self.name.is_some() {
            repairs.add(Repair::SpeakerName, self.number);
        }
        if self.role == Role::Tool {
            repairs.add(Repair::ToolText, self.number);
        }
    }
}

#[derive(Debug)]
pub(super) enum Piece<'a> {
    /// Anything but calls and results.
    Part(&'a Part),
    /// A call, under the id that the provider gets; only in assistant messages.
    Call {
        id: String,
        name: &'a str,
        arguments: &'a str,
        kind: Option<&'a str>,
    },
}

#[derive(Debug)]
pub(super) struct Answer<'a> {
    /// The number of the message that the result stands in, or of the call's if there is none.
    pub number: usize,
    /// The call's id, as the provider gets it.
    pub id: String,
    /// What the tool gave; none: interrupted.
    pub content: Option<&'a [Part]>,
    pub is_error: bool,
}

struct Call<'a> {
    message: usize,
    id: String,
    answered: Option<Given<'a>>,
}

struct Given<'a> {
    message: usize,
    part: usize,
    content: &'a [Part],
    is_error: bool,
    found: usize,
}

/// Arranges `messages`, before which others stand that nothing here concerns but the `ids` given out, and tells
/// `repairs` what had to move, go or be made up.
pub(super) fn arrange<'a, M: Borrow<Message>>(
    messages: &'a [M],
    before: usize,
    rule: IdRule,
    ids: &mut Ids,
    repairs: &mut Repairs,
) -> Vec<Item<'a>> {
    let (calls, _) = pair(messages, before, rule, ids, repairs);
    let mut calls = calls.into_iter();
    let mut items = Vec::with_capacity(messages.len() * 2);
    for (number, message) in (before + 1..).zip(messages) {
        let message: &'a Message = message.borrow();
        if message.is_between_agents() {
            repairs.add(Repair::BetweenAgents, number);
        }
        let mut pieces = Vec::with_capacity(message.parts.len());
        let mut made = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolResult { .. } => {}
                Part::ToolCall {
                    name,
                    arguments,
                    kind,
                    ..
                } => {
                    if message.role != Role::Assistant {
                        repairs.add(Repair::MisplacedCall, number);
                        continue;
                    }
                    let call = calls.next().expect("pairing saw the same calls");
                    pieces.push(Piece::Call {
                        id: call.id.clone(),
                        name,
                        arguments,
                        kind: kind.as_deref(),
                    });
                    made.push(call);
                }
                part => pieces.push(Piece::Part(part)),
            }
        }
        // A message of results alone leaves nothing in its place; one that was empty stays.
        if !pieces.is_empty() || message.parts.is_empty() {
            items.push(Item::Spoken(Spoken {
                number,
                role: message.role,
                name: message.name.as_deref(),
                attached: message.attached.as_deref(),
                pieces,
            }));
        }
        if !made.is_empty() {
            items.push(Item::Answers(answers(made)));
        }
    }
    items
}

/// Results as they were found, then those that are missing in the order of their calls.
fn answers(mut calls: Vec<Call<'_>>) -> Vec<Answer<'_>> {
    let place = |given: &Option<Given<'_>>| given.as_ref().map_or(usize::MAX, |it| it.found);
    calls.sort_by_key(|call| place(&call.answered));
    let answers = calls.into_iter().map(|call| {
        let given = call.answered.as_ref();
        Answer {
            number: given.map_or(call.message, |given| given.message) + 1,
            content: given.map(|given| given.content),
            is_error: given.is_none_or(|given| given.is_error),
            id: call.id,
        }
    });
    answers.collect()
}

/// The results that answer no call, and that no request has: each by its message and its part, from 0.
pub fn unpaired<M: Borrow<Message>>(messages: &[M]) -> Vec<(usize, usize)> {
    let (rule, mut ids) = (IdRule::UniqueInMessage, Ids::default());
    pair(messages, 0, rule, &mut ids, &mut Repairs::default()).1
}

/// All calls in order, each with its result: a result pairs with the nearest earlier unanswered
/// call of its id, in a message with the first of them, or, if there is none, with one that it stands right behind. And the results that are left.
fn pair<'a, M: Borrow<Message>>(
    messages: &'a [M],
    before: usize,
    rule: IdRule,
    ids: &mut Ids,
    repairs: &mut Repairs,
) -> (Vec<Call<'a>>, Vec<(usize, usize)>) {
    let mut calls: Vec<Call<'a>> = Vec::new();
    let mut open: HashMap<&str, Vec<usize>> = HashMap::new();
    // The latest message with anything but results in it, before the current one.
    let mut latest_spoken = None;
    // The latest message with calls, and the results whose id fits none, with the message that they
    // stand right behind.
    let mut latest_calls = None;
    let mut stray: Vec<(Option<usize>, Given<'a>)> = Vec::new();
    let mut found = 0;
    for (index, message) in (before..).zip(messages) {
        let message: &'a Message = message.borrow();
        if rule == IdRule::UniqueInMessage {
            ids.reset();
        }
        for (place, part) in message.parts.iter().enumerate() {
            match part {
                Part::ToolCall { id, .. } if message.role == Role::Assistant => {
                    let given = ids.assign(id, rule);
                    if given != *id {
                        repairs.add(Repair::CallId, index + 1);
                    }
                    open.entry(id).or_default().push(calls.len());
                    calls.push(Call {
                        message: index,
                        id: given,
                        answered: None,
                    });
                }
                Part::ToolResult {
                    call,
                    content,
                    is_error,
                } => {
                    let given = Given {
                        message: index,
                        part: place,
                        content,
                        is_error: *is_error,
                        found,
                    };
                    found += 1;
                    let waiting = open.get_mut(call.as_str());
                    let of_message = |call: &usize| calls[*call].message;
                    let Some(answered) = waiting.and_then(|them| answered(them, of_message)) else {
                        let behind = latest_calls.filter(|_| latest_spoken == latest_calls);
                        stray.push((behind, given));
                        continue;
                    };
                    let answered = &mut calls[answered];
                    if latest_spoken.is_some_and(|spoken| spoken > answered.message) {
                        repairs.add(Repair::LateResult, index + 1);
                    }
                    answered.answered = Some(given);
                }
                _ => {}
            }
        }
        if is_spoken(message) {
            latest_spoken = Some(index);
        }
        if message.role == Role::Assistant && message.calls().next().is_some() {
            latest_calls = Some(index);
        }
    }
    let unpaired = place(&mut calls, stray, repairs);
    for call in calls.iter().filter(|call| call.answered.is_none()) {
        repairs.add(Repair::MissingResult, call.message + 1);
    }
    (calls, unpaired)
}

/// Gives results whose id fits no call to the calls right before them that nothing answers: some
/// client or gateway has changed the id. Gives those that are left.
fn place<'a>(
    calls: &mut [Call<'a>],
    stray: Vec<(Option<usize>, Given<'a>)>,
    repairs: &mut Repairs,
) -> Vec<(usize, usize)> {
    let mut unpaired = Vec::new();
    for (behind, given) in stray {
        let is_free =
            |call: &&mut Call<'_>| Some(call.message) == behind && call.answered.is_none();
        let number = given.message + 1;
        match calls.iter_mut().find(is_free) {
            Some(call) => {
                repairs.add(Repair::StrayResult, number);
                call.answered = Some(given);
            }
            None => {
                repairs.add(Repair::UnpairedResult, number);
                unpaired.push((given.message, given.part));
            }
        }
    }
    unpaired
}

/// Whether a message says anything beside results: no result behind it belongs to a call before it by its place.
pub(super) fn is_spoken(message: &Message) -> bool {
    let says = |part: &Part| match part {
        Part::ToolResult { .. } => false,
        Part::Text { text } => !text.is_empty(),
        _ => true,
    };
    !message.is_attached() && message.parts.iter().any(says)
}
