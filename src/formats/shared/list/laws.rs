//! What holds of a list, whatever the tool does with it.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{Change, Listed, Telling};
use crate::formats::shared::contract::Told;
use crate::formats::shared::fold_check::standing;
use crate::formats::shared::teller::Teller;
use crate::formats::{SessionEnd, SessionStart, Sink, Step};
use crate::model::{Message, Part, Role, Span};

/// A record, and what its call gave back.
#[derive(Clone, Debug)]
struct Row {
    id: String,
    is_reply: bool,
    text: &'static str,
    given: Option<&'static str>,
}

impl Row {
    fn messages(&self) -> Vec<Message> {
        let role = if self.is_reply {
            Role::Assistant
        } else {
            Role::User
        };
        let text = (!self.text.is_empty()).then(|| Part::text(self.text));
        let call = self.given.map(|_| Part::ToolCall {
            id: format!("call {}", self.id),
            name: "look".into(),
            arguments: "{}".into(),
            kind: None,
        });
        let said: Vec<Part> = text.into_iter().chain(call).collect();
        let said = (!said.is_empty()).then(|| Message::new(role, said));
        let given = self.given.map(|given| {
            let result = Part::ToolResult {
                call: format!("call {}", self.id),
                content: vec![Part::text(given)],
                is_error: false,
            };
            Message::new(Role::Tool, vec![result])
        });
        said.into_iter().chain(given).collect()
    }

    fn listed(&self) -> Listed {
        let messages = self.messages().into_iter();
        Listed {
            id: self.id.clone(),
            is_reply: self.is_reply,
            steps: messages
                .map(|message| Step::append(message, Span::default()))
                .collect(),
        }
    }
}

/// What the tool does with its list.
#[derive(Clone, Debug)]
enum Doing {
    Put(bool, &'static str, Option<&'static str>),
    Change(Index, &'static str),
    /// The list from one record on, with a new one before it or not, and other words in some.
    Replace(Index, bool, Vec<(Index, &'static str)>),
    Rewind(Index),
    RewindBehind(Index),
}

fn doing() -> impl Strategy<Value = Doing> {
    let word = || select(vec!["a", "b", "go on"]);
    let given = proptest::option::of(select(vec!["x", "y"]));
    let placeholder = select(vec!["a", "b", "go on", ""]);
    let changes = proptest::collection::vec((any::<Index>(), word()), 0..3);
    prop_oneof![
        4 => word().prop_map(|word| Doing::Put(false, word, None)),
        4 => (placeholder, given).prop_map(|(word, given)| Doing::Put(true, word, given)),
        3 => (any::<Index>(), word()).prop_map(|(at, word)| Doing::Change(at, word)),
        1 => (any::<Index>(), any::<bool>(), changes)
            .prop_map(|(from, sums_up, changes)| Doing::Replace(from, sums_up, changes)),
        1 => any::<Index>().prop_map(Doing::Rewind),
        1 => any::<Index>().prop_map(Doing::RewindBehind),
    ]
}

/// The list as the tool has it in the end, told to a sink beside.
fn told(doings: Vec<Doing>, sink: &mut dyn Sink) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut telling = Telling::new(Teller::of("s", &[], sink));
    let change = Change {
        span: Span::default(),
        time: None,
    };
    for (number, doing) in doings.into_iter().enumerate() {
        let id = format!("r{number}");
        match doing {
            Doing::Put(is_reply, text, given) => {
                let row = Row {
                    id,
                    is_reply,
                    text,
                    given,
                };
                telling.put(row.listed(), change).expect("is told");
                rows.push(row);
            }
            Doing::Replace(from, sums_up, changes) if !rows.is_empty() => {
                rows.drain(..from.index(rows.len()));
                for (at, text) in changes {
                    let at = at.index(rows.len());
                    rows[at].text = text;
                }
                let summary = Row {
                    id,
                    is_reply: false,
                    text: "summary",
                    given: None,
                };
                rows.splice(0..0, sums_up.then_some(summary));
                let list = rows.iter().map(Row::listed).collect();
                telling.replace(list, change).expect("is told");
            }
            Doing::Change(at, text) if !rows.is_empty() => {
                let at = at.index(rows.len());
                let row = &mut rows[at];
                row.text = text;
                telling.put(row.listed(), change).expect("is told");
            }
            Doing::Rewind(at) if !rows.is_empty() => {
                let at = at.index(rows.len());
                telling.rewind(&rows[at].id, change).expect("is told");
                rows.truncate(at);
            }
            Doing::RewindBehind(at) if !rows.is_empty() => {
                let at = at.index(rows.len());
                telling
                    .rewind_behind(&rows[at].id, change)
                    .expect("is told");
                rows.truncate(at + 1);
            }
            _ => {}
        }
    }
    telling.settle().expect("is told");
    rows
}

proptest! {
    #![proptest_config(crate::conditions::laws(2048))]

    #[test]
    fn what_stands_is_what_the_tool_sends(doings in proptest::collection::vec(doing(), 1..16)) {
        let mut sink = Told::default();
        sink.session(SessionStart::new("s")).expect("is taken");
        let rows = told(doings, &mut sink);
        sink.end(SessionEnd::default()).expect("is taken");
        let sent: Vec<Message> = rows.iter().flat_map(Row::messages).collect();
        prop_assert_eq!(standing(&sink.sessions[0].steps), sent);
    }
}
