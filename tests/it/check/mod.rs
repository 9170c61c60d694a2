//! The providers' published rules as a checker: what is wrong with a request, in words.
//!
//! Written from the rules, not from the library's writers, so that each can find the other's
//! mistakes. Deliberately absent: anything that depends on a model or an account.
//!
//! # Source
//!
//! OpenAI's references of chat completions and of the Responses API; Anthropic's reference of the Messages API and the
//! guides on tool use, vision and extended thinking.

mod anthropic;
mod openai;
mod responses;

use serde_json::{Map, Value};

pub use anthropic::check_anthropic;
pub use openai::check_openai;
pub use responses::check_responses;

#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn require(&mut self, holds: bool, at: &str, otherwise: &str) {
        if !holds {
            self.0.push(format!("{at} {otherwise}"));
        }
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value
        .as_object()
        .and_then(|object: &Map<String, Value>| object.get(key)?.as_str())
}

fn has_text(block: &Value) -> bool {
    text_of(block, "text").is_some_and(|text| !text.trim().is_empty())
}

fn is_plain(text: &str, max: usize) -> bool {
    !text.is_empty()
        && text.len() <= max
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn broken_openai_requests_are_found() {
        let call =
            json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": ""}});
        let broken = [
            json!([{"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]}, {"role": "user", "content": "x"}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call, call]},
                {"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": ""},
                {"role": "tool", "tool_call_id": "1", "content": ""}]),
            json!([{"role": "assistant", "content": null}]),
            json!([{"role": "user", "content": []}]),
            json!([{"role": "bot", "content": "x"}]),
            json!([{"role": "system", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}]),
            json!([{"role": "user", "name": "a b", "content": "x"}]),
            json!([]),
        ];
        for messages in broken {
            assert!(
                !check_openai(&json!({"messages": messages})).is_empty(),
                "{messages}"
            );
        }
        let good = json!([{"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": ""}]);
        assert_eq!(
            check_openai(&json!({"messages": good})),
            Vec::<String>::new()
        );
    }

    #[test]
    fn broken_anthropic_requests_are_found() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let hello = json!({"role": "user", "content": [text("hello")]});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id});
        let reply = |blocks: Value| json!({"role": "assistant", "content": blocks});
        let user = |blocks: Value| json!({"role": "user", "content": blocks});
        let broken = [
            json!([]),
            json!([reply(json!([text("x")]))]),
            json!([hello, hello]),
            json!([{"role": "user", "content": "x"}]),
            json!([user(json!([]))]),
            json!([user(json!([text(" ")]))]),
            json!([user(json!([result("1")]))]),
            json!([hello, reply(json!([call("1")]))]),
            json!([hello, reply(json!([call("1")])), hello]),
            json!([
                hello,
                reply(json!([call("1"), call("1")])),
                user(json!([result("1"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([text("x"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([result("1"), result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("a b")])),
                user(json!([result("a b")]))
            ]),
            json!([hello, reply(json!([text("x ")]))]),
            json!([
                hello,
                reply(json!([{"type": "thinking", "thinking": "x", "signature": "s"}]))
            ]),
            json!([
                hello,
                reply(json!([{"type": "thinking", "thinking": "x"}, text("y")]))
            ]),
            json!([hello, reply(json!([{"type": "fallback"}, text("y")]))]),
            json!([
                hello,
                reply(json!([{"type": "server_tool_use", "id": "1"}, text("y")]))
            ]),
            json!([
                hello,
                reply(json!([{"type": "tool_use", "id": "1", "name": "f", "input": "x"}])),
                user(json!([result("1")]))
            ]),
            json!([
                hello,
                reply(json!([call("1")])),
                user(json!([{"type": "tool_result", "tool_use_id": "1", "is_error": true}]))
            ]),
            json!([user(
                json!([{"type": "image", "source": {"type": "base64", "media_type": "image/bmp", "data": ""}}])
            )]),
        ];
        for messages in broken {
            assert!(
                !check_anthropic(&json!({"messages": messages})).is_empty(),
                "{messages}"
            );
        }
        let good = json!([
            hello,
            reply(json!([text("x"), call("1"), call("2")])),
            user(json!([result("2"), result("1"), text("y")]))
        ]);
        assert_eq!(
            check_anthropic(&json!({"system": [text("s")], "messages": good})),
            Vec::<String>::new()
        );
        assert!(!check_anthropic(&json!({"system": [], "messages": good})).is_empty());
    }
}
