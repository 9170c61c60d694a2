//! What an exporter made of any messages is made again of what its importer reads there.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn text() -> impl Strategy<Value = Part> {
    select(vec!["", " \n", "hello", "\u{0}\"\\é🙂"]).prop_map(Part::text)
}

fn media() -> impl Strategy<Value = Media> {
    let source = select(vec![
        MediaSource::Base64("iVBORw0KGgoAAAA".into()),
        MediaSource::Base64("AAAA".into()),
        MediaSource::Url("https://example.org/a.png".into()),
        MediaSource::Url("ftp://example.org".into()),
        MediaSource::FileId("file-1".into()),
        MediaSource::FileId("file_1".into()),
    ]);
    let word = |words: &[Option<&str>]| {
        let words = words.iter().map(|word| word.map(str::to_owned));
        select(words.collect::<Vec<_>>())
    };
    let types = [
        None,
        Some("image/png"),
        Some("image/bmp"),
        Some("application/pdf"),
    ];
    (
        source,
        word(&types),
        word(&[None, Some("low"), Some("best")]),
    )
        .prop_map(|(source, media_type, detail)| Media {
            media_type,
            name: detail.clone(),
            detail,
            source,
        })
}

fn opaque() -> impl Strategy<Value = Part> {
    let blocks = select(vec![
        ("anthropic", r#"{"type":"redacted_thinking","data":"x"}"#),
        ("anthropic", r#"{"type":"tool_reference","tool_name":"t"}"#),
        ("anthropic", r#"{"type":"fallback","from":"a"}"#),
        ("anthropic", r#"{"type":"server_tool_use","id":"s"}"#),
        ("anthropic", "no JSON"),
        ("openai", r#"{"type":"input_audio","input_audio":{}}"#),
        ("openai", r#"{"type":"refusal","refusal":"no"}"#),
        ("openai", r#"{"type":"web_search_call","id":"w"}"#),
        ("other", "{}"),
    ]);
    blocks.prop_map(|(provider, data)| Part::Opaque {
        provider: provider.into(),
        data: data.into(),
    })
}

fn leaf() -> impl Strategy<Value = Part> {
    prop_oneof![
        3 => text(),
        1 => media().prop_map(Part::Image),
        1 => media().prop_map(Part::File),
        1 => opaque(),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let thinking = (
        select(vec![None, Some("anthropic"), Some("openai")]),
        select(vec![None, Some(""), Some("c2ln")]),
    );
    let thinking = thinking.prop_map(|(provider, signature)| Part::Thinking {
        text: "hm".into(),
        signature: signature.map(str::to_owned),
        provider: provider.map(str::to_owned),
    });
    let call = (
        select(vec!["read", "a.b", ""]),
        select(vec!["{}", "{\"a\": 1.0}", "", "[1]", "1e999"]),
        select(vec![None, Some("custom"), Some("function_call")]),
    );
    let call = call.prop_map(|(name, arguments, kind)| Part::ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
        kind: kind.map(str::to_owned),
    });
    let result = (proptest::collection::vec(leaf(), 0..3), any::<bool>());
    let result = result.prop_map(|(content, is_error)| Part::ToolResult {
        call: "c".into(),
        content,
        is_error,
    });
    prop_oneof![3 => leaf(), 1 => thinking, 1 => call, 1 => result]
}

fn said() -> impl Strategy<Value = Message> {
    use Role::{Assistant, System, Tool, User};
    (
        select(vec![System, User, Assistant, Tool]),
        select(vec![None, Some("ann"), Some("a b")]),
        proptest::collection::vec(part(), 0..4),
    )
        .prop_map(|(role, name, parts)| Message {
            attached: None,
            recipient: None,
            interrupted: false,
            role,
            name: name.map(str::to_owned),
            parts,
        })
}

fn new(messages: &[Message]) -> Vec<Outgoing> {
    messages.iter().cloned().map(anew).collect()
}

fn read(format: &Format, text: &str) -> Vec<Message> {
    let sessions = import(format, text.as_bytes()).sessions;
    let steps = sessions.iter().flat_map(|session| &session.steps);
    steps.map(|step| message(step).clone()).collect()
}

proptest! {
    #![proptest_config(crate::conditions::laws(256))]

    /// So whatever a provider refuses has been left out or changed the first time.
    #[test]
    fn what_was_written_anew_is_written_again_without_a_repair(
        messages in proptest::collection::vec(said(), 0..5),
    ) {
        for format in [&anthropic::ANTHROPIC, &openai::OPENAI] {
            let (first, _) = export(format, &new(&messages), Settings::new());
            let once = read(format, &first);
            let (second, remarks) = export(format, &new(&once), Settings::new());
            prop_assert_eq!(remarks, Vec::<String>::new(), "{}", first);
            // Results of neighbouring messages come into one.
            let parts = |messages: &[Message]| -> Vec<Part> {
                let parts = messages.iter().flat_map(|message| &message.parts);
                parts.cloned().collect()
            };
            let twice = read(format, &second);
            prop_assert_eq!(parts(&twice), parts(&once), "{}\n{}", first, second);
        }
    }
}
