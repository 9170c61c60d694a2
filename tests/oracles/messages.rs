//! Whatever stands where a message is expected: it is refused with a word, or it is a message that is
//! kept as it is and can be sent.

use tract::error::Error;
use tract::formats::shared::single;
use tract::hash::canonical;
use tract::model::{Commit, Draft, Message, Settings, depth};
use tract::repo::{Call, CommitOptions, On};

use super::{Care, repository, requests, sessions};

/// Holds a text against what is promised of `commit --json` and of each line of `commit --batch`.
pub fn hold(text: &str, care: Care) {
    as_objects(text);
    let texts = [text].into_iter().chain(text.lines());
    let mut said: Vec<Message> = texts.filter_map(read).collect();
    said.truncate(20);
    if said.is_empty() {
        return;
    }
    requests::are_valid(&said, &Settings::new());
    if care == Care::Read {
        return;
    }
    let drafts: Vec<Draft> = said.iter().cloned().map(Draft::append).collect();
    let (_kept, repo) = repository();
    let made = repo.commit(Call::default(), &drafts, &CommitOptions::default());
    let made = made.expect("what was read can be committed");
    sessions::is_whole(&repo, "what was committed");
    let context = repo
        .context(&made.last().expect("one").hash)
        .expect("a context");
    let kept = repo.messages(&context).expect("its messages");
    assert_eq!(kept, said);
    for made in &made {
        let entry = repo.resolve_entry(&On::Head, &made.hash.to_string());
        assert_eq!(entry.expect("an entry").commit, made.hash);
    }
}

/// The message in a text, if it is one that a commit takes.
fn read(text: &str) -> Option<Message> {
    let message = match single::message(text).map(|read| read.message.into_inner()) {
        Ok(message) => message,
        Err(Error::InvalidInput { .. } | Error::SeveralMessages { .. }) => return None,
        Err(error) => panic!("refused: {error:?}"),
    };
    if message.is_empty() {
        return None;
    }
    depth::check_message(&message).expect("whoever read it has looked");
    Some(message)
}

/// What reads as the canonical form of an object is printed as it stands, but for what a person may
/// have put otherwise, and reads as the same.
fn as_objects(text: &str) {
    if let Ok(message) = Message::from_canonical(text) {
        let printed = message.canonical();
        let again = Message::from_canonical(&printed).expect("it was printed here");
        assert_eq!(again, message);
        assert_eq!(again.canonical(), printed);
        assert_eq!(again.hash(), message.hash());
    }
    if let Ok(commit) = Commit::from_canonical(text) {
        let printed = commit.canonical();
        let again = Commit::from_canonical(&printed).expect("it was printed here");
        assert_eq!(again, commit);
        assert_eq!(again.canonical(), printed);
    }
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
        let printed = canonical(&value);
        let again: serde_json::Value = serde_json::from_str(&printed).expect("it was printed here");
        assert_eq!(canonical(&again), printed);
    }
}

/// Messages in every form that is read, one a text.
pub fn seeds() -> Vec<Vec<u8>> {
    [
        r#"{"role":"user","content":"hello"}"#,
        r#"{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}]}"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}],"refusal":"no"}"#,
        r#"{"role":"tool","tool_call_id":"c","name":"f","content":"done"}"#,
        r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"t","name":"f","input":{"a":[1.0]}}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}]}"#,
        r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi","annotations":[]}}]}"#,
        r#"{"id":"r","output":[{"type":"reasoning","encrypted_content":"e","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}]}"#,
        r#"{"interrupted":true,"name":"n","parts":[{"text":"a","type":"text"},{"data":"{\"type\":\"x\"}","provider":"openai","type":"opaque"},{"call":"c","content":[{"file_id":"f","type":"file"}],"is_error":true,"type":"tool_result"}],"role":"assistant"}"#,
        r#"{"operation":{"content":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9","type":"append"},"settings":{"model":"\"m\""},"time":-1}"#,
        r#"{"note":"n","operation":{"intervals":[{"first":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9","last":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9#1"}],"kind":"drop","type":"hide"},"time":0}"#,
        r#"{"merged":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9","operation":{"priority":"normal","type":"annotate"},"origin":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9","parent":"4a1cdc6854652478cd533f198d90ae3bd09fa5899e5e0082323e03ac971019d9"}"#,
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}
