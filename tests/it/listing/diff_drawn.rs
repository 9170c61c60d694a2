//! Whole diffs, on repositories in memory: on a terminal of 80 and of 120 columns, and piped.

use tract::compile::{Provider, shared_prefix};
use tract::context::plan::{self, compact, skip};
use tract::diff::DiffOptions;
use tract::hash::CommitHash;
use tract::model::{
    Draft, Encoding, EntryId, Media, MediaSource, Message, Millis, Part, Priority, Role,
};
use tract::repo::{Call, CommitOptions, On, Repo};
use tract::rewrite::{Scene, SurgeryOptions};

use tract::render::diff::{Form, Frame, Kept, Show, lines};
use tract::render::{ansi, plain};

/// A repository with a clock of its own.
struct World {
    repo: Repo,
    tips: Vec<CommitHash>,
}

impl World {
    fn new() -> Self {
        Self {
            repo: Repo::ephemeral().expect("in memory"),
            tips: Vec::new(),
        }
    }

    /// A conversation of five messages, with a tool.
    fn talk() -> Self {
        let mut world = Self::new();
        world.say(Role::System, "You are terse.");
        world.say(
            Role::User,
            "Please use the batch parser.\nIt reads the whole file at once.\nThe file is small.",
        );
        world.append(call("c1", "price", r#"{"items": ["a", "b"]}"#));
        world.append(result("c1", r#"{"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5, "tags": ["x"]}], "ok": true}"#));
        world.say(Role::Assistant, "Both have a price.");
        world
    }

    fn commit(&mut self, drafts: Vec<Draft>) {
        let call = Call::at(Millis(self.tips.len() as i64 * 1_000), "test");
        let made = self.repo.commit(call, &drafts, &CommitOptions::default());
        let made = made.expect("it can be committed");
        self.tips.extend(made.iter().map(|commit| commit.hash));
    }

    fn append(&mut self, message: Message) {
        self.commit(vec![Draft::append(message)]);
    }

    fn say(&mut self, role: Role, text: &str) {
        self.append(Message::text(role, text));
    }

    fn id(&self, at: usize) -> EntryId {
        EntryId::of(self.tips[at])
    }

    fn edit(&mut self, at: usize, message: Message, settings: &[(&str, &str)]) {
        let mut draft = Draft::edit(self.id(at), message);
        let settings = settings.iter().map(|(k, v)| (k.to_string(), v.to_string()));
        draft.settings = settings.collect();
        self.commit(vec![draft]);
    }

    fn plan(&mut self, plan: impl FnMut(&Scene) -> tract::Result<Vec<Draft>>) {
        let call = Call::at(Millis(self.tips.len() as i64 * 1_000), "test");
        let options = SurgeryOptions::default();
        let needs = tract::rewrite::Needs::default();
        let done = self.repo.operate(call, needs, &options, plan);
        let made = done.expect("the plan is carried out").commits;
        assert!(!made.is_empty(), "the plan did nothing");
        self.tips.extend(made.iter().map(|commit| commit.hash));
    }

    /// The diff of two of the commits, counted from 0; the second is the newest.
    fn lines(&self, before: usize, show: &Show, width_cols: Option<usize>) -> String {
        let after = self.tips.len() - 1;
        diff_of(
            &self.repo,
            self.tips[before],
            self.tips[after],
            show,
            width_cols,
        )
    }

    /// The whole diff of a commit and the newest on each medium.
    fn shown(&self, before: usize) -> String {
        media(|width| self.lines(before, &Show::default(), width))
    }

    /// The last commit's diff.
    fn last(&self) -> String {
        self.shown(self.tips.len() - 2)
    }
}

fn diff_of(
    repo: &Repo,
    before: CommitHash,
    after: CommitHash,
    show: &Show,
    width_cols: Option<usize>,
) -> String {
    let options = DiffOptions::default();
    let found = repo
        .diff(Some(&before), Some(&after), &options, Encoding::default())
        .expect("both are there");
    let provider = Provider::OpenAi;
    let prefix = shared_prefix(&found.before.messages, &found.after.messages, provider);
    let prefix = prefix.expect("it compiles");
    let frame = Frame {
        names: (before.short(), after.short()),
        remark: None,
        prefix: Some(Kept {
            messages: prefix.messages,
            size_bytes: prefix.size_bytes,
            provider: provider.as_str(),
        }),
    };
    let lines = lines(&found, &frame, show, width_cols);
    for line in &lines {
        let fits = width_cols.is_none_or(|width| line.width_cols() <= width);
        assert!(fits, "wider than {width_cols:?}: {line:?}");
    }
    let lines: Vec<String> = lines.iter().map(plain::paint).collect();
    lines.join("\n")
}

/// What is seen at 80 columns, and where it differs, at 120 and in a pipe.
fn media(lines: impl Fn(Option<usize>) -> String) -> String {
    let mut out = lines(Some(80));
    let mut last = out.clone();
    for (title, width) in [("120 columns", Some(120)), ("piped", None)] {
        let now = lines(width);
        out += &if now == last {
            format!("\n=== {title}: the same")
        } else {
            format!("\n=== {title}\n{now}")
        };
        last = now;
    }
    out
}

fn call(id: &str, name: &str, arguments: &str) -> Message {
    Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Assistant,
        name: None,
        parts: vec![Part::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
            kind: None,
        }],
    }
}

fn result(id: &str, text: &str) -> Message {
    Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::Tool,
        name: None,
        parts: vec![Part::ToolResult {
            call: id.into(),
            content: vec![Part::text(text)],
            is_error: false,
        }],
    }
}

fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

#[test]
fn an_append() {
    let mut world = World::talk();
    world.say(Role::User, "Thanks. Now write a test that fails when a price is missing, and one that fails when it is negative.\n\nThen stop.");
    insta::assert_snapshot!(world.last(), @r#"
    comparing b023fd0 with 197f0de

    + :6  197f0de  user  +30 tokens
      + Thanks. Now write a test that fails when a price is missing, and one that
      + fails when it is negative.
      +
      + Then stop.

    1 message added, tokens: +30 (103 → 133)
    cache   first 5 of 6 messages identical (103 tokens, 77%; 529 B for openai)
            first difference: :6 (b023fd0 ends before it, 197f0de 197f0de)
    === 120 columns
    comparing b023fd0 with 197f0de

    + :6  197f0de  user  +30 tokens
      + Thanks. Now write a test that fails when a price is missing, and one that fails when it is negative.
      +
      + Then stop.

    1 message added, tokens: +30 (103 → 133)
    cache   first 5 of 6 messages identical (103 tokens, 77%; 529 B for openai)
            first difference: :6 (b023fd0 ends before it, 197f0de 197f0de)
    === piped: the same
    "#);
}

#[test]
fn an_edit_of_the_text() {
    let mut world = World::talk();
    world.edit(1, user("Please use the streaming parser.\nIt reads the whole file at once.\nThe file is small."), &[]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing b023fd0 with 603f666

    ~ :2  3007022  user  0 tokens
      - Please use the batch parser.
      + Please use the streaming parser.
        It reads the whole file at once.
        The file is small.

    1 message modified, tokens: 0 (103 → 103)
    cache   first 1 of 5 messages identical (11 tokens, 11%; 99 B for openai)
            first difference: :2 (3007022)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn an_edit_of_the_role() {
    let mut world = World::talk();
    world.edit(4, user("Both have a price."), &[]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing b023fd0 with 0369b71

    ~ :5  b023fd0  role: assistant → user  0 tokens

    1 message modified, tokens: 0 (103 → 103)
    cache   first 4 of 5 messages identical (94 tokens, 91%; 487 B for openai)
            first difference: :5 (b023fd0)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn an_edit_of_the_settings_alone() {
    let mut world = World::talk();
    let text =
        user("Please use the batch parser.\nIt reads the whole file at once.\nThe file is small.");
    world.edit(
        1,
        text.clone(),
        &[("temperature", "0.7"), ("model", "\"m-1\"")],
    );
    world.edit(
        1,
        text.clone(),
        &[("temperature", "0.9"), ("model", "\"m-1\"")],
    );
    insta::assert_snapshot!(world.last(), @r#"
    comparing 54409c8 with f88d5ee

    ~ :2  3007022  user  0 tokens
      temperature: 0.7 → 0.9

    1 message modified, tokens: 0 (103 → 103)
    cache   all 5 messages identical
    === 120 columns: the same
    === piped: the same
    "#);
    // An edit that sets none inherits.
    world.edit(1, text, &[]);
    assert!(world.last().contains("no differences"));
}

#[test]
fn a_change_of_the_tools_is_a_change_of_keys() {
    let mut world = World::talk();
    let tools = |name: &str| {
        format!(
            r#"[{{"name": "{name}", "input_schema": {{"type": "object", "properties": {{}}}}}}]"#
        )
    };
    for name in ["price", "cost"] {
        let mut draft = Draft::append(user("Go on."));
        draft.settings = [("tools".to_owned(), tools(name))].into();
        world.commit(vec![draft]);
    }
    insta::assert_snapshot!(world.shown(4), @r#"
    comparing b023fd0 with 0934a39

    + :6  653a0e2  user  +7 tokens
      + Go on.

    + :7  0934a39  user  +7 tokens
      tools: (unset) → … (72 B)
      + Go on.

    2 messages added, tokens: +14 (103 → 117)
    cache   first 5 of 7 messages identical (103 tokens, 88%; 529 B for openai)
            first difference: :6 (b023fd0 ends before it, 0934a39 653a0e2)
            but tools differ: a provider's cache then keeps nothing
    === 120 columns: the same
    === piped: the same
    "#);
    insta::assert_snapshot!(world.last(), @r#"
    comparing 653a0e2 with 0934a39

    + :7  0934a39  user  +7 tokens
      tools:
        tools[0].name: "price" → "cost"
      + Go on.

    1 message added, tokens: +7 (110 → 117)
    cache   first 6 of 7 messages identical (110 tokens, 94%; 564 B for openai)
            first difference: :7 (653a0e2 ends before it, 0934a39 0934a39)
            but tools differ: a provider's cache then keeps nothing
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn a_part_that_is_hidden() {
    let mut world = World::talk();
    let mut message = call("c2", "price", "{}");
    message.parts.insert(0, Part::text("I'll look it up."));
    world.append(message);
    world.append(result("c2", "12"));
    let id = world.id(5);
    world.plan(|scene| {
        Ok(plan::drop::drop(&scene.input, &[], &[(id, 0)], false)?
            .into_iter()
            .collect())
    });
    insta::assert_snapshot!(world.last(), @r#"
    comparing 393397a with 247ee0d

    ~ :6  3724d02  assistant  price  text, tool_call → tool_call  -5 tokens
      - I'll look it up.

    1 message modified, tokens: -5 (119 → 114)
    cache   first 5 of 7 messages identical (103 tokens, 90%; 560 B for openai)
            first difference: :6 (3724d02)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn a_hide() {
    let mut world = World::talk();
    let id = world.id(2);
    world.plan(|scene| {
        Ok(plan::drop::drop(&scene.input, &[id], &[], false)?
            .into_iter()
            .collect())
    });
    insta::assert_snapshot!(world.last(), @r#"
    comparing b023fd0 with a98a05f

    - :3 … :4  2 messages hidden, -60 tokens
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a…

    2 messages hidden, tokens: -60 (103 → 43)
    cache   first 2 of 3 messages identical (34 tokens, 79%; 199 B for openai)
            first difference: :3 (b023fd0 d4e0a33, a98a05f b023fd0)
    === 120 columns
    comparing b023fd0 with a98a05f

    - :3 … :4  2 messages hidden, -60 tokens
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5…

    2 messages hidden, tokens: -60 (103 → 43)
    cache   first 2 of 3 messages identical (34 tokens, 79%; 199 B for openai)
            first difference: :3 (b023fd0 d4e0a33, a98a05f b023fd0)
    === piped
    comparing b023fd0 with a98a05f

    - :3 … :4  2 messages hidden, -60 tokens
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5, "tags": ["x"]}],…

    2 messages hidden, tokens: -60 (103 → 43)
    cache   first 2 of 3 messages identical (34 tokens, 79%; 199 B for openai)
            first difference: :3 (b023fd0 d4e0a33, a98a05f b023fd0)
    "#);
}

#[test]
fn a_skip_is_a_hide_and_a_pin_is_nothing() {
    let mut world = World::talk();
    let id = world.id(4);
    for priority in [Priority::Pinned, Priority::Skip] {
        let before = world.tips.len() - 1;
        world.plan(|scene| {
            Ok(skip::annotate(&scene.input, &[id], priority, None)?
                .into_iter()
                .collect())
        });
        let oneline = Show {
            form: Form::Lines,
            ..Show::default()
        };
        match priority {
            Priority::Pinned => assert_eq!(world.lines(before, &oneline, None), ""),
            _ => {
                insta::assert_snapshot!(world.lines(before, &oneline, None), @"- :5  b023fd0  hidden    assistant  -9  Both have a price.")
            }
        }
    }
}

#[test]
fn a_compaction_and_its_restore() {
    let mut world = World::talk();
    for number in 0..5 {
        world.say(Role::User, &format!("Question {number}?"));
        world.say(
            Role::Assistant,
            &format!("Answer {number}, which is a little longer than the question was."),
        );
    }
    world.plan(|scene| {
        Ok(compact::compact(
            &scene.input,
            &compact::Extent::KeepLast(2),
            "We talked about prices.",
        )?
        .into_iter()
        .collect())
    });
    insta::assert_snapshot!(world.last(), @r#"
    comparing 5f5ff5e with 5d055e6

    - :2 … :13  12 messages hidden, -196 tokens
        - :2   3007022  user       -23  Please use the batch parser. It reads the w…
        - :3   d4e0a33  assistant  -15  price items=["a", "b"]
          … 9 more (--full)
        - :13  45dd589  assistant  -18  Answer 3, which is a little longer than the…

    + :2  5d055e6  user  +9 tokens
      + We talked about prices.

    1 message added, 12 hidden, tokens: -187 (233 → 46)
    cache   first 1 of 4 messages identical (11 tokens, 24%; 84 B for openai)
            first difference: :2 (5f5ff5e 3007022, 5d055e6 5d055e6)
    === 120 columns
    comparing 5f5ff5e with 5d055e6

    - :2 … :13  12 messages hidden, -196 tokens
        - :2   3007022  user       -23  Please use the batch parser. It reads the whole file at once. The file is sma…
        - :3   d4e0a33  assistant  -15  price items=["a", "b"]
          … 9 more (--full)
        - :13  45dd589  assistant  -18  Answer 3, which is a little longer than the question was.

    + :2  5d055e6  user  +9 tokens
      + We talked about prices.

    1 message added, 12 hidden, tokens: -187 (233 → 46)
    cache   first 1 of 4 messages identical (11 tokens, 24%; 84 B for openai)
            first difference: :2 (5f5ff5e 3007022, 5d055e6 5d055e6)
    === piped: the same
    "#);
    let hide = *world.tips.last().expect("some");
    let restore = tract::model::Operation::Restore {
        target: hide,
        entries: Vec::new(),
    };
    world.commit(vec![Draft::new(restore, Vec::new())]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing 5d055e6 with fe3a946

    - :2  5d055e6  hidden    user       -9  We talked about prices.
    + :2 … :13  12 messages returned, +196 tokens
        + :2   3007022  user       +23  Please use the batch parser. It reads the w…
        + :3   d4e0a33  assistant  +15  price items=["a", "b"]
          … 9 more (--full)
        + :13  45dd589  assistant  +18  Answer 3, which is a little longer than the…

    1 message hidden, 12 returned, tokens: +187 (46 → 233)
    cache   first 1 of 15 messages identical (11 tokens, 5%; 84 B for openai)
            first difference: :2 (5d055e6 5d055e6, fe3a946 3007022)
    === 120 columns
    comparing 5d055e6 with fe3a946

    - :2  5d055e6  hidden    user       -9  We talked about prices.
    + :2 … :13  12 messages returned, +196 tokens
        + :2   3007022  user       +23  Please use the batch parser. It reads the whole file at once. The file is sma…
        + :3   d4e0a33  assistant  +15  price items=["a", "b"]
          … 9 more (--full)
        + :13  45dd589  assistant  +18  Answer 3, which is a little longer than the question was.

    1 message hidden, 12 returned, tokens: +187 (46 → 233)
    cache   first 1 of 15 messages identical (11 tokens, 5%; 84 B for openai)
            first difference: :2 (5d055e6 5d055e6, fe3a946 3007022)
    === piped: the same
    "#);
    // The two together change nothing.
    assert!(world.shown(world.tips.len() - 3).contains("no differences"));
}

#[test]
fn a_clear() {
    let mut world = World::talk();
    world.plan(|scene| {
        Ok(plan::clear::clear(&scene.input, false)
            .into_iter()
            .collect())
    });
    insta::assert_snapshot!(world.last(), @r#"
    comparing b023fd0 with 8b57c79

    - :2 … :5  4 messages hidden, -92 tokens
        - :2  3007022  user       -23  Please use the batch parser. It reads the wh…
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a…
        - :5  b023fd0  assistant   -9  Both have a price.

    4 messages hidden, tokens: -92 (103 → 11)
    cache   first 1 of 1 message identical (11 tokens, 100%; 57 B for openai)
            first difference: :2 (b023fd0 3007022, 8b57c79 ends before it)
    === 120 columns
    comparing b023fd0 with 8b57c79

    - :2 … :5  4 messages hidden, -92 tokens
        - :2  3007022  user       -23  Please use the batch parser. It reads the whole file at once. The file is sma…
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5…
        - :5  b023fd0  assistant   -9  Both have a price.

    4 messages hidden, tokens: -92 (103 → 11)
    cache   first 1 of 1 message identical (11 tokens, 100%; 57 B for openai)
            first difference: :2 (b023fd0 3007022, 8b57c79 ends before it)
    === piped
    comparing b023fd0 with 8b57c79

    - :2 … :5  4 messages hidden, -92 tokens
        - :2  3007022  user       -23  Please use the batch parser. It reads the whole file at once. The file is sma…
        - :3  d4e0a33  assistant  -15  price items=["a", "b"]
        - :4  8c39faf  tool       -45  price items=["a", "b"] → {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5, "tags": ["x"]}],…
        - :5  b023fd0  assistant   -9  Both have a price.

    4 messages hidden, tokens: -92 (103 → 11)
    cache   first 1 of 1 message identical (11 tokens, 100%; 57 B for openai)
            first difference: :2 (b023fd0 3007022, 8b57c79 ends before it)
    "#);
}

#[test]
fn a_tool_result_of_nested_json() {
    let mut world = World::talk();
    let text = r#"{"ok": true, "items": [{"n": "new", "price": 3, "note": "a value that is long enough to need more than one line of a terminal, even of a wide one, for itself"}, {"n": "a", "price": 1}, {"n": "b", "price": 13}], "log": "first\nsecond"}"#;
    world.edit(3, result("c1", text), &[]);
    world.edit(2, call("c1", "price", r#"{"items":["a","c","b"]}"#), &[]);
    insta::assert_snapshot!(world.shown(4), @r#"
    comparing b023fd0 with 107e751

    ~ :3  d4e0a33  assistant  price  0 tokens
      + arguments.items[1]: "c"

    ~ :4  8c39faf  tool  price  +40 tokens
      + result.items[0]:
        + {
        +   "n": "new",
        +   "note": "a value that is long enough to need more than one line of a
        + terminal, even of a wide one, for itself",
        +   "price": 3
        + }
        result.items[2].price: 12.5 → 13
      - result.items[2].tags: ["x"]
      + result.log: "first\nsecond"

    2 messages modified, tokens: +40 (103 → 143)
    cache   first 2 of 5 messages identical (34 tokens, 24%; 298 B for openai)
            first difference: :3 (d4e0a33)
    === 120 columns
    comparing b023fd0 with 107e751

    ~ :3  d4e0a33  assistant  price  0 tokens
      + arguments.items[1]: "c"

    ~ :4  8c39faf  tool  price  +40 tokens
      + result.items[0]:
        + {
        +   "n": "new",
        +   "note": "a value that is long enough to need more than one line of a terminal, even of a wide one, for itself",
        +   "price": 3
        + }
        result.items[2].price: 12.5 → 13
      - result.items[2].tags: ["x"]
      + result.log: "first\nsecond"

    2 messages modified, tokens: +40 (103 → 143)
    cache   first 2 of 5 messages identical (34 tokens, 24%; 298 B for openai)
            first difference: :3 (d4e0a33)
    === piped: the same
    "#);
    // Another spelling of the same JSON is told apart from another value.
    world.edit(
        2,
        call("c1", "price", r#"{ "items": ["a", "c", "b"] }"#),
        &[],
    );
    insta::assert_snapshot!(world.last(), @r#"
    comparing 107e751 with af02468

    ~ :3  d4e0a33  assistant  price  +4 tokens
        arguments: the same JSON in another spelling

    1 message modified, tokens: +4 (143 → 147)
    cache   first 2 of 5 messages identical (34 tokens, 23%; 288 B for openai)
            first difference: :3 (d4e0a33)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn branches_without_a_common_beginning() {
    let mut one = World::talk();
    let main = one.tips.len() - 1;
    let other = On::Branch(tract::model::RefName::branch("other").expect("a name"));
    let options = CommitOptions::default();
    let messages = [
        Message::text(Role::System, "You are terse."),
        user(
            "Please use the streaming parser.\nIt reads the whole file at once.\nThe file is small.",
        ),
        call("call_9", "price", r#"{"items": ["a", "b"]}"#),
        result("call_9", "no such item"),
    ];
    let drafts: Vec<Draft> = messages.into_iter().map(Draft::append).collect();
    let made = one
        .repo
        .commit(Call::default().on(&other), &drafts, &options)
        .expect("committed");
    one.tips.push(made.last().expect("some").hash);
    insta::assert_snapshot!(one.shown(main), @r#"
    comparing b023fd0 with 0eb2519

    ~ :2  a864797  user  0 tokens
      - Please use the batch parser.
      + Please use the streaming parser.
        It reads the whole file at once.
        The file is small.

    - :4  8c39faf  tool  price  -45 tokens
      - {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5, "tags":
      - ["x"]}], "ok": true}

    - :5  b023fd0  assistant  -9 tokens
      - Both have a price.

    + :4  0eb2519  tool  price  +7 tokens
      + no such item

    1 message modified, 1 added, 2 removed, tokens: -47 (103 → 56)
    cache   first 1 of 4 messages identical (11 tokens, 20%; 99 B for openai)
            first difference: :2 (b023fd0 3007022, 0eb2519 a864797)
    === 120 columns
    comparing b023fd0 with 0eb2519

    ~ :2  a864797  user  0 tokens
      - Please use the batch parser.
      + Please use the streaming parser.
        It reads the whole file at once.
        The file is small.

    - :4  8c39faf  tool  price  -45 tokens
      - {"items": [{"n": "a", "price": 1}, {"n": "b", "price": 12.5, "tags": ["x"]}], "ok": true}

    - :5  b023fd0  assistant  -9 tokens
      - Both have a price.

    + :4  0eb2519  tool  price  +7 tokens
      + no such item

    1 message modified, 1 added, 2 removed, tokens: -47 (103 → 56)
    cache   first 1 of 4 messages identical (11 tokens, 20%; 99 B for openai)
            first difference: :2 (b023fd0 3007022, 0eb2519 a864797)
    === piped: the same
    "#);
}

#[test]
fn a_picture() {
    let picture = |data: &str| Message {
        attached: None,
        recipient: None,
        interrupted: false,
        role: Role::User,
        name: None,
        parts: vec![
            Part::text("What is this?"),
            Part::Image(Media {
                media_type: Some("image/png".into()),
                name: Some("screen.png".into()),
                detail: None,
                source: MediaSource::Base64(data.into()),
            }),
        ],
    };
    let mut world = World::new();
    world.append(picture(&"iVBORw0K".repeat(400)));
    world.edit(0, picture(&"iVBORw0L".repeat(500)), &[]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing 9a9721a with c2c9382

    ~ :1  9a9721a  user  0 tokens
      - [image screen.png, image/png, 2.4 kB, hash 54a80360]
      + [image screen.png, image/png, 3.0 kB, hash 90ee0806]

    1 message modified, tokens: 0 (~1,511 → ~1,511)
    cache   no message from the start is identical
            first difference: :1 (9a9721a)
    === 120 columns: the same
    === piped: the same
    "#);
    world.edit(0, user("What is this?"), &[]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing c2c9382 with 89b70bb

    ~ :1  9a9721a  user  text, image → text  -1,500 tokens
      - [image screen.png, image/png, 3.0 kB, hash 90ee0806]

    1 message modified, tokens: -1,500 (~1,511 → 11)
    cache   no message from the start is identical
            first difference: :1 (9a9721a)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn wide_and_joined_characters() {
    let mut world = World::new();
    world.say(Role::User, "この文書を要約してください。結論だけを三行で書いてください。出典は不要です。 👩\u{200d}💻 ありがとう");
    world.edit(0, user("この文書を要約してください。結論だけを五行で書いてください。出典は必要です。 👩\u{200d}🔬 ありがとう"), &[]);
    insta::assert_snapshot!(world.last(), @r#"
    comparing 3d12c96 with 5e81626

    ~ :1  3d12c96  user  0 tokens
      - この文書を要約してください。結論だけを三行で書いてください。出典は不要です。
      - 👩‍💻 ありがとう
      + この文書を要約してください。結論だけを五行で書いてください。出典は必要です。
      + 👩‍🔬 ありがとう

    1 message modified, tokens: 0 (39 → 39)
    cache   no message from the start is identical
            first difference: :1 (3d12c96)
    === 120 columns
    comparing 3d12c96 with 5e81626

    ~ :1  3d12c96  user  0 tokens
      - この文書を要約してください。結論だけを三行で書いてください。出典は不要です。 👩‍💻 ありがとう
      + この文書を要約してください。結論だけを五行で書いてください。出典は必要です。 👩‍🔬 ありがとう

    1 message modified, tokens: 0 (39 → 39)
    cache   no message from the start is identical
            first difference: :1 (3d12c96)
    === piped: the same
    "#);
}

#[test]
fn what_a_terminal_would_act_on_is_shown() {
    let mut world = World::new();
    world.append(call("c", "sh", r#"{"run": "\u001b[2J", "key\u0007": 1}"#));
    world.append(result("c", "plain \u{1b}]0;title\u{7}\nnext"));
    world.edit(
        0,
        call(
            "c",
            "sh\u{1b}[31m",
            r#"{"run": "\u001b[3J", "key\u0007": 2}"#,
        ),
        &[("mo\u{1b}del", "\"\\u001b[1m\"")],
    );
    world.edit(1, result("c", "plain \u{202e}title\nnext\r\n"), &[]);
    let shown = world.shown(1);
    assert!(
        !shown.chars().any(|c| c.is_control() && c != '\n'),
        "{shown:?}"
    );
    insta::assert_snapshot!(shown, @r#"
    comparing 91b7522 with c213926

    ~ :1  6318db4  assistant  sh, sh␛[31m  +4 tokens
      mo␛del: (unset) → ␛[1m
      - → sh run="␛[2J", key␇=1
      + → sh␛[31m run="␛[3J", key␇=2

    ~ :2  91b7522  tool  sh, sh␛[31m  -3 tokens
      - plain ␛]0;title␇
      - next
      + plain \u{202e}title
      + next␍
      +

    2 messages modified, tokens: +1 (42 → 43)
    cache   no message from the start is identical
            first difference: :1 (6318db4)
    === 120 columns: the same
    === piped: the same
    "#);
}

#[test]
fn bars_and_filters() {
    let mut world = World::talk();
    world.edit(3, result("c1", "{}"), &[]);
    world.say(Role::User, "Thanks.");
    let stat = Show {
        form: Form::Stat,
        ..Show::default()
    };
    insta::assert_snapshot!(media(|width| world.lines(4, &stat, width)), @r#"
    comparing b023fd0 with 8e9afff

    ~ :4  tool  price items=["a", "b"] → {} | -40 --------------------------------
    + :6  user  Thanks.                     |  +6 +++++

    1 message modified, 1 added, tokens: -34 (103 → 69)
    cache   first 3 of 6 messages identical (49 tokens, 71%; 367 B for openai)
            first difference: :4 (8c39faf)
    === 120 columns
    comparing b023fd0 with 8e9afff

    ~ :4  tool  price items=["a", "b"] → {} | -40 ----------------------------------------
    + :6  user  Thanks.                     |  +6 ++++++

    1 message modified, 1 added, tokens: -34 (103 → 69)
    cache   first 3 of 6 messages identical (49 tokens, 71%; 367 B for openai)
            first difference: :4 (8c39faf)
    === piped
    comparing b023fd0 with 8e9afff

    ~ :4  tool  price items=["a", "b"] → {} | -40 --------------------------------
    + :6  user  Thanks.                     |  +6 +++++

    1 message modified, 1 added, tokens: -34 (103 → 69)
    cache   first 3 of 6 messages identical (49 tokens, 71%; 367 B for openai)
            first difference: :4 (8c39faf)
    "#);
    let tool = Show {
        tool: Some("price".into()),
        ..Show::default()
    };
    insta::assert_snapshot!(world.lines(4, &tool, Some(80)), @r#"
    comparing b023fd0 with 8e9afff

    ~ :4  8c39faf  tool  price  -40 tokens
      - result.items: [{"n":"a","price":1},{"n":"b","price":12.5,"tags":["x"]}]
      - result.ok: true

    1 message modified, tokens: -40 (of 2 changes)
    cache   first 3 of 6 messages identical (49 tokens, 71%; 367 B for openai)
            first difference: :4 (8c39faf)
    "#);
    let role = Show {
        role: Some(Role::System),
        form: Form::Stat,
        ..Show::default()
    };
    insta::assert_snapshot!(world.lines(4, &role, Some(80)), @r#"
    comparing b023fd0 with 8e9afff

    no such message differs, tokens: 0 (of 2 changes)
    cache   first 3 of 6 messages identical (49 tokens, 71%; 367 B for openai)
            first difference: :4 (8c39faf)
    "#);
}

#[test]
fn a_message_of_ten_megabytes_is_folded() {
    let text = |salt: usize| -> String {
        let line = |n: usize| format!("line {n} of a log, {}\n", n * salt % 1_009);
        (0..300_000).map(line).collect()
    };
    let mut world = World::new();
    world.append(result("c", &text(7)));
    world.edit(
        0,
        result("c", &text(7).replace("line 150000 ", "line 15 ")),
        &[],
    );
    let one = world.lines(0, &Show::default(), Some(80));
    assert!(one.lines().count() < 20, "{one}");
    world.edit(0, result("c", &text(11)), &[]);
    let all = world.lines(1, &Show::default(), Some(80));
    assert!(
        all.lines().count() < 100 && all.contains("more lines (--full)"),
        "{all}"
    );
}

#[test]
fn colour_marks_the_words_that_changed() {
    let mut world = World::new();
    world.say(Role::User, "Use the batch parser.");
    world.edit(0, user("Use the streaming parser."), &[]);
    let options = DiffOptions::default();
    let found = world
        .repo
        .diff(
            Some(&world.tips[0]),
            Some(&world.tips[1]),
            &options,
            Encoding::default(),
        )
        .expect("both are there");
    let lines = lines(&found, &Frame::default(), &Show::default(), Some(80));
    let lines: Vec<String> = lines
        .iter()
        .map(|line| ansi::paint(line).replace('\u{1b}', "^"))
        .collect();
    insta::assert_snapshot!(lines[3..5].join("\n"), @r#"
    ^[31m  - ^[0m^[31mUse the ^[0m^[31;7mbatch^[0m^[31m parser.^[0m
    ^[32m  + ^[0m^[32mUse the ^[0m^[32;7mstreaming^[0m^[32m parser.^[0m
    "#);
}
