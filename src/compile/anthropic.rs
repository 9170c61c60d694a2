//! Requests in Anthropic's Messages form: adjacent messages of one role merged, results first.

use std::borrow::Cow;
use std::collections::HashSet;
use std::mem;

use crate::compile::body::{Body, Payload};
use crate::compile::ids::{IdRule, Ids};
use crate::compile::open::Open;
use crate::compile::repair::{Item, Piece, Spoken, arrange};
use crate::compile::runs::{Closed, Run, blocks, close_replies, end, extend, pair};
use crate::compile::server_tools::Pairing;
use crate::compile::turn::{
    Attached, Form, Numbered, OPENING_LINE, Turn, Voice, begins_with, ends_with, is_result,
};
use crate::compile::wire_form::{Contents, Said};
use crate::model::{Message, Part, Role};
use crate::wire::anthropic::{Block, Place, block, text_block};
use crate::wire::json::{Object, array, push_list};
use crate::wire::responses::in_words;
use crate::wire::{Repair, Repairs, bridge_notes};

/// A request in the making. Where one voice surely ends and the other surely begins, and no call is open, nothing that follows
/// changes what stands before, so that is written as soon as it is known. Held are the messages since then.
pub(super) struct Writer<'a> {
    contents: &'a Contents,
    /// That of what a client attached.
    form: Form,
    pub(super) payload: Payload,
    /// How many bytes stay: where nothing is attached, and where something is.
    stable: [usize; 2],
    is_begun: bool,
    has_runs: bool,
    /// Whether anything came that a client attached: it joins texts in a way of its own, and moves what it
    /// attaches as more comes in.
    client: bool,
    /// Where in the payload a client would have ended a text with a line's end, as long as nothing was attached.
    line_ends: Vec<usize>,
    /// Whether it is known that nothing that follows is attached.
    has_no_client: bool,
    pub(super) held: Vec<Cow<'a, Message>>,
    /// How many messages came before those that are held.
    before: usize,
    /// Whose word what is held surely ends with.
    ends_with: Option<Voice>,
    /// Whether nothing but results came since a reply that calls.
    is_called: bool,
    pub(super) open: Open,
    ids: Ids,
    /// The ids of the provider's own tools that are used up.
    used: HashSet<String>,
}

impl<'a> Writer<'a> {
    /// `head` are the keys before `system`, each with a comma after it.
    pub(super) fn new(head: &str, contents: &'a Contents, form: Form) -> Self {
        let payload = Payload::of(format!("{{{head}"));
        Self {
            contents,
            form,
            stable: [payload.len(); 2],
            payload,
            is_begun: false,
            has_runs: false,
            client: false,
            line_ends: Vec::new(),
            has_no_client: false,
            held: Vec::new(),
            before: 0,
            ends_with: None,
            is_called: false,
            open: Open::default(),
            ids: Ids::default(),
            used: HashSet::new(),
        }
    }

    /// The next message.
    pub(super) fn add(&mut self, message: Cow<'a, Message>, repairs: &mut Repairs) {
        let message = in_words(bridge_notes::without(message));
        if message.is_attached() {
            self.end_lines();
        }
        let turns = matches!(
            (self.ends_with, begins_with(&message)),
            (Some(Voice::User), Some(Voice::Assistant))
                | (Some(Voice::Assistant), Some(Voice::User))
        );
        // What a client wrote is told by places in the whole.
        let is_answered = self.open.is_closed() || self.open.ends_before(&message);
        if turns && is_answered && self.contents.is_empty() {
            self.write_held(false, repairs);
        }
        let answers = self.open.add(&message) && self.is_called;
        self.ends_with = ends_with(&message, answers);
        self.is_called = message.role == Role::Assistant && message.calls().next().is_some()
            || self.is_called && is_result(&message);
        self.held.push(message);
    }

    /// Whether what is written may change if a client turns out to be at work.
    pub(super) fn waits_for_client(&self) -> bool {
        !self.line_ends.is_empty()
    }

    /// No message that follows is attached by a client.
    pub(super) fn without_client(&mut self) {
        self.has_no_client = true;
        self.line_ends.clear();
        self.payload.fix();
    }

    /// Ends lines as a client does, who turns out to be at work.
    fn end_lines(&mut self) {
        if mem::replace(&mut self.client, true) || self.line_ends.is_empty() {
            return;
        }
        let ends = mem::take(&mut self.line_ends);
        self.payload.insert_at(&ends, r"\n");
        self.payload.fix();
        let before = ends.iter().filter(|end| **end < self.stable[1]);
        self.stable[1] += before.count() * r"\n".len();
    }

    /// Writes what is held; `ends`: nothing follows.
    fn write_held(&mut self, ends: bool, repairs: &mut Repairs) {
        let held = mem::take(&mut self.held);
        let leading = held.iter().take_while(|message| message.role.is_system());
        let leading = if self.is_begun { 0 } else { leading.count() };
        let mut system = Vec::new();
        let mut runs: Vec<Run<'_>> = Vec::new();
        let mut turn = Turn::default();
        let rule = IdRule::PlainAndUnique;
        for item in arrange(&held, self.before, rule, &mut self.ids, repairs) {
            match item {
                Item::Spoken(spoken) if spoken.attached.is_some() => {
                    let attached = attached(&spoken, repairs);
                    attached.into_iter().for_each(|one| turn.attach(one));
                }
                Item::Spoken(spoken) if spoken.number <= leading => {
                    system.extend(blocks(&spoken, repairs));
                }
                Item::Spoken(spoken) => {
                    let blocks = blocks(&spoken, repairs);
                    if spoken.role.is_system() && !blocks.is_empty() {
                        repairs.add(Repair::SystemInPlace, spoken.number);
                    }
                    if spoken.role != Role::Assistant {
                        turn.say(blocks, self.client);
                    } else if !blocks.is_empty() {
                        end(&mut turn, self.form, &mut runs, repairs);
                        extend(&mut runs, Voice::Assistant, blocks);
                    }
                }
                Item::Answers(answers) => turn.answer(answers),
            }
        }
        end(&mut turn, self.form, &mut runs, repairs);
        let pairing = pair(&runs, ends, &mut self.used, repairs);
        let mut said = Said::of(self.contents);
        if !mem::replace(&mut self.is_begun, true) {
            self.begin(&system, &mut said);
        }
        let told = Told {
            runs: &runs,
            pairing: &pairing,
            first: leading + 1,
            ends,
        };
        let is_paused = |pairing: &Pairing| *pairing == Pairing::Paused;
        if pairing.iter().flatten().any(is_paused) {
            // What a paused reply ends in goes again if anything but its continuation follows.
            let before = (self.payload.len(), self.has_runs);
            self.write(&told, false, said.clone(), &mut Repairs::default());
            let stable = self.stable;
            self.payload.truncate(before.0);
            self.has_runs = before.1;
            self.write(&told, true, said, repairs);
            self.stable = stable;
        } else {
            self.write(&told, false, said, repairs);
        }
        self.before += held.len();
        self.open.close();
    }

    /// Writes what stands before the messages.
    fn begin(&mut self, system: &[Numbered<'_>], said: &mut Said<'_>) {
        if !system.is_empty() {
            self.payload.push_str(r#""system":"#);
            let system: Vec<&Numbered<'_>> = system.iter().collect();
            match contents(&system, said) {
                Content::Blocks(blocks) => {
                    self.payload.push('[');
                    let mut list = String::new();
                    push_list(&mut list, blocks);
                    self.payload.push_str(&list);
                    self.stable = [self.payload.len(); 2];
                    self.payload.push_str("],");
                }
                Content::Text(text) => self.payload.extend([&*text, ","]),
            }
        }
        self.payload.push_str(r#""messages":["#);
    }

    fn write(
        &mut self,
        told: &Told<'_, '_>,
        paused: bool,
        mut said: Said<'_>,
        repairs: &mut Repairs,
    ) {
        let opening = Numbered::new(told.first, Block::Text(OPENING_LINE));
        let mut runs = close_replies(told.runs, told.pairing, paused, repairs);
        let is_reply = |run: &Closed<'_, '_>| run.voice == Voice::Assistant;
        if !self.has_runs && runs.first().is_some_and(is_reply) {
            repairs.add(Repair::OpeningLine, opening.number);
            let blocks = vec![&opening];
            let voice = Voice::User;
            runs.insert(0, Closed { voice, blocks });
        }
        for run in &runs {
            self.write_run(run, &mut said);
        }
        // A reply at the end is a beginning for the model to go on from; it may not end in white
        // space. Once a message follows, the space is there again: the bytes before it stay.
        if told.ends
            && let Some(run) = runs.last()
            && run.voice == Voice::Assistant
            && let Some(block) = run.blocks.last()
            && let Block::Text(text) = block.block
            && text.trim_end() != text
        {
            repairs.add(Repair::TrailingSpace, block.number);
            let [stable, _] = self.stable;
            self.payload.truncate(stable - block.block.json().len());
            self.payload.push_str(&text_block(text.trim_end()));
            self.stable = [self.payload.len() - r#""}"#.len(); 2];
            self.payload.push_str("]}");
        }
    }

    fn write_run(&mut self, run: &Closed<'_, '_>, said: &mut Said<'_>) {
        let payload = &mut self.payload;
        if mem::replace(&mut self.has_runs, true) {
            payload.push(',');
        }
        let role = match run.voice {
            Voice::User => "user",
            Voice::Assistant => "assistant",
            Voice::System => {
                payload.push_str(&system(&run.blocks));
                return;
            }
        };
        payload.extend([r#"{"role":""#, role, r#"","content":"#]);
        match contents(&run.blocks, said) {
            Content::Blocks(blocks) => {
                payload.push('[');
                for (index, (json, block)) in blocks.iter().zip(&run.blocks).enumerate() {
                    payload.push_str(if index == 0 { "" } else { "," });
                    payload.push_str(json);
                    if block.is_joined && !self.has_no_client {
                        let place = payload.len() - r#""}"#.len();
                        payload.loosen(place);
                        self.line_ends.push(place);
                    }
                }
                let [plain, attached] = &mut self.stable;
                *plain = payload.len();
                if run.voice == Voice::Assistant {
                    *attached = *plain;
                }
                payload.push_str("]}");
            }
            // Another message of the same role would make a list of it.
            Content::Text(text) => payload.extend([&*text, "}"]),
        }
    }

    /// The request.
    pub(super) fn finish(mut self, repairs: &mut Repairs) -> Body {
        self.write_held(true, repairs);
        let [plain, attached] = self.stable;
        self.payload.push_str("]}");
        Body {
            payload: self.payload.into_text(),
            stable_bytes: if self.client { attached } else { plain },
            nothing_to_send: !self.has_runs,
        }
    }
}

/// What is written at once.
struct Told<'b, 'a> {
    runs: &'b [Run<'a>],
    pairing: &'b [Vec<Pairing>],
    /// The number of the first message that is not the system's.
    first: usize,
    /// Whether nothing follows.
    ends: bool,
}

/// What a client attached, if anything of it is sent.
fn attached<'a>(spoken: &Spoken<'a>, repairs: &mut Repairs) -> Option<Attached<'a>> {
    let parts = spoken.pieces.iter().filter_map(|piece| match piece {
        Piece::Part(part @ Part::Text { .. }) => {
            block(part, Place::User, spoken.number, repairs).map(|_| *part)
        }
        Piece::Part(part) => Some(*part),
        Piece::Call { .. } => None,
    });
    let parts: Vec<&Part> = parts.collect();
    (!parts.is_empty()).then(|| Attached {
        number: spoken.number,
        kind: spoken.attached.unwrap_or_default(),
        parts,
    })
}

/// A system message in mid-conversation: one text, as a string where it has no other blocks.
fn system(blocks: &[&Numbered<'_>]) -> String {
    let is_text = |block: &&&Numbered<'_>| block.block.json().starts_with('"');
    let (texts, others): (Vec<&Numbered<'_>>, Vec<_>) = blocks.iter().partition(is_text);
    let others = others.iter().map(|block| block.block.json());
    let (others, configs): (Vec<String>, Vec<_>) =
        others.partition(|object| object.starts_with(r#"{"type":"#));
    let text = (!texts.is_empty()).then(|| joined(&texts));
    let content = match text {
        Some(text) if others.is_empty() => text,
        text => {
            let text = text.map(|text| Object::typed("text").raw("text", &text).finish());
            array(text.into_iter().chain(others))
        }
    };
    let message = Object::new().string("role", "system");
    let message = message.raw("content", &content);
    let config = configs.last().map(String::as_str);
    message.optional_raw("output_config", config).finish()
}

/// Texts, each a string's JSON, as one of them.
fn joined(blocks: &[&Numbered<'_>]) -> String {
    let texts = blocks.iter().map(|block| block.block.json());
    let inside = |text: String| text.get(1..text.len() - 1).map(str::to_owned);
    let texts: Vec<String> = texts.filter_map(inside).collect();
    format!("\"{}\"", texts.join(r"\n\n"))
}

/// What a message holds.
enum Content<'a> {
    Blocks(Vec<Cow<'a, str>>),
    /// A string's JSON.
    Text(Cow<'a, str>),
}

/// Blocks as their client wrote them, where that is known.
fn contents<'a>(blocks: &[&Numbered<'_>], said: &mut Said<'a>) -> Content<'a> {
    let mut written: Vec<Cow<'a, str>> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let json = block.block.json();
        let has_space = matches!(block.block, Block::Text(text) if text.trim_end() != text);
        let known = if has_space {
            None
        } else {
            said.block(block.number, &json)
        };
        match known {
            Some(text) if text.starts_with('"') && blocks.len() == 1 => {
                return Content::Text(text.into());
            }
            Some(block) if !block.starts_with('"') => written.push(block.into()),
            _ => written.push(json.into()),
        }
    }
    Content::Blocks(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(at: usize, role: Role) -> Message {
        Message::text(role, format!("{at}"))
    }

    #[test]
    fn no_more_is_held_than_one_voice_says_in_a_row() {
        let (contents, mut repairs) = (Contents::new(), Repairs::default());
        let mut writer = Writer::new("", &contents, Form::User);
        for at in 0..1_000 {
            let id = format!("c{at}");
            let mut call = text(at, Role::Assistant);
            call.parts
                .push(Part::call(id.clone(), "run".into(), "{}".into(), None));
            let answer = Message::new(Role::Tool, vec![Part::result(id, Vec::new(), false)]);
            // Two prompts in a row, and two replies.
            let said = [Role::User, Role::User].map(|role| text(at, role));
            let replied = [Role::Assistant, Role::Assistant].map(|role| text(at, role));
            for message in said.into_iter().chain([call, answer]).chain(replied) {
                writer.add(Cow::Owned(message), &mut repairs);
                assert!(writer.held.len() <= 2, "{} at {at}", writer.held.len());
            }
        }
        let mut attached = text(0, Role::User);
        attached.attached = Some("file".into());
        let before = writer.payload.len();
        writer.add(Cow::Owned(attached), &mut repairs);
        // Each first prompt is ended as a client ends it.
        assert_eq!(writer.payload.len(), before + 1_000 * r"\n".len());
    }
}
