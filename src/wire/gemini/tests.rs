use serde_json::value::RawValue;

use super::{message_parts, seal_of, write_message};
use crate::model::Part;
use crate::wire::Notes;

fn read(json: &str) -> Vec<Part> {
    let raw = RawValue::from_string(json.to_owned()).expect("JSON");
    let mut notes = Notes::default();
    message_parts(Some(&raw), &mut notes)
}

fn written(parts: &[Part]) -> String {
    write_message(
        parts,
        |_| "look".to_owned(),
        || panic!("nothing is left out"),
    )
}

#[test]
fn a_signature_stays_with_the_part_that_it_came_with() {
    let same = [
        r#"[{"text":"I look.","thoughtSignature":"c2VhbA=="},{"functionCall":{"id":"c1","name":"look","args":{}},"thoughtSignature":"b3RoZXI="}]"#,
        r#"[{"text":"Done."},{"text":"","thoughtSignature":"c2VhbA=="}]"#,
        r#"[{"text":"Where?","thought":true,"thoughtSignature":"c2VhbA=="},{"text":"There."}]"#,
    ];
    for json in same {
        let parts = read(json);
        assert_eq!(written(&parts), json);
        let seals = parts.iter().filter(|part| seal_of(part).is_some()).count();
        let words =
            json.matches("thoughtSignature").count() - json.matches("thought\":true").count();
        assert_eq!(seals, words, "{json}");
    }
}

#[test]
fn an_answer_in_words_of_its_own_is_written_once() {
    let json = r#"[{"functionResponse":{"id":"c1","name":"look","response":{"hits":2}}}]"#;
    assert_eq!(written(&read(json)), json);
}
