//! A request made of any messages is valid by the provider's rules, the same twice, and read again it
//! is the same request.

use serde_json::Value;
use tract::compile::{Compiled, Notice, Provider, RequestOptions, compile};
use tract::model::{Message, Settings};

use crate::check::{check_anthropic, check_openai, check_responses};

/// The providers whose rules are known.
pub const PROVIDERS: [Provider; 3] = [Provider::OpenAi, Provider::Responses, Provider::Anthropic];

fn compiled(messages: &[Message], settings: &Settings, provider: Provider) -> Compiled {
    let options = RequestOptions {
        provider,
        ..RequestOptions::default()
    };
    compile(messages, settings, &options).expect("nothing is strict")
}

/// Holds the requests of these messages against the rules.
pub fn are_valid(messages: &[Message], settings: &Settings) {
    for provider in PROVIDERS {
        let made = compiled(messages, settings, provider);
        assert_eq!(made, compiled(messages, settings, provider));
        if made.notices.contains(&Notice::NothingToSend) {
            let request: Value = serde_json::from_str(&made.payload).expect("JSON");
            let list = match provider {
                Provider::Responses => "input",
                _ => "messages",
            };
            assert_eq!(request[list].as_array().map(Vec::len), Some(0));
            continue;
        }
        is_valid(provider, &made.payload);
    }
    let made = compiled(messages, settings, Provider::Text);
    assert_eq!(made, compiled(messages, settings, Provider::Text));
}

/// Holds a request against a provider's rules.
pub fn is_valid(provider: Provider, payload: &str) {
    let request: Value = serde_json::from_str(payload).expect("JSON");
    let wrong = match provider {
        Provider::OpenAi => check_openai(&request),
        Provider::Responses => check_responses(&request),
        _ => check_anthropic(&request),
    };
    assert!(wrong.is_empty(), "{wrong:?}\n{payload}");
}
