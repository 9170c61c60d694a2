//! What a provider says of a reply beside its counts: why it ended, and how it was served.
//!
//! Providers have few words for it, and clients keep them where providers say them, so that one list knows the places in
//! the records of every format. Deliberately absent: what the words mean.

use serde_json::{Deserializer, Value};

/// What a provider said of a reply. Hostile until escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarked {
    /// Why the reply ended, in the vendor's word.
    pub stop: Option<String>,
    /// The tier of service.
    pub tier: Option<String>,
    /// The speed.
    pub speed: Option<String>,
}

/// Where a record says why a reply ended.
const STOP: &[&str] = &[
    // Anthropic: a record with the message, an event, a response.
    "/message/stop_reason",
    "/event/delta/stop_reason",
    "/delta/stop_reason",
    "/stop_reason",
    "/body/stop_reason",
    // OpenAI: a response or a part of one; of the other API only what has cut a reply off.
    "/choices/0/finish_reason",
    "/incomplete_details/reason",
    "/response/incomplete_details/reason",
    // pi and OpenClaw, Amp, Kimi, OpenCode and Kilo.
    "/message/stopReason",
    "/state/stopReason",
    "/event/finishReason",
    "/info/finish",
];

/// Where it says the tier.
const TIER: &[&str] = &[
    "/message/usage/service_tier",
    "/event/message/usage/service_tier",
    "/usage/service_tier",
    "/body/usage/service_tier",
    "/service_tier",
    "/response/service_tier",
];

/// Where it says the speed.
const SPEED: &[&str] = &["/message/usage/speed", "/usage/speed", "/body/usage/speed"];

impl Remarked {
    /// What the records of a reply say, the last one first: what a reply ends with is said at its end.
    pub fn of(records: &[String]) -> Self {
        let mut found = Self::default();
        for record in records.iter().rev() {
            // An event of a stream stands behind the word `data:`.
            let from = record.find('{').unwrap_or(0);
            let mut values = Deserializer::from_str(&record[from..]).into_iter::<Value>();
            let Some(Ok(record)) = values.next() else {
                continue;
            };
            let said = |places: &[&str]| {
                let mut words = places.iter().filter_map(|at| record.pointer(at)?.as_str());
                words.find(|word| !word.is_empty()).map(str::to_owned)
            };
            found.stop = found.stop.or_else(|| said(STOP));
            found.tier = found.tier.or_else(|| said(TIER));
            found.speed = found.speed.or_else(|| said(SPEED));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vendors_words_are_found_and_those_of_a_message_are_not() {
        let stop = |record: &str| Remarked::of(&[record.to_owned()]).stop;
        for record in [
            r#"{"message":{"stop_reason":"end"}}"#,
            r#"data: {"type":"message_delta","delta":{"stop_reason":"end"}}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"end"}]}"#,
            r#"{"response":{"incomplete_details":{"reason":"end"}}}"#,
            r#"{"type":"message","message":{"role":"assistant","stopReason":"end"}}"#,
            r#"{"info":{"finish":"end"},"parts":[]}"#,
            r#"{"type":"context.append_loop_event","event":{"finishReason":"end"}}"#,
        ] {
            assert_eq!(stop(record).as_deref(), Some("end"), "{record}");
        }
        for record in [
            r#"{"message":{"stop_reason":null,"content":[{"input":{"stop_reason":"no"}}]}}"#,
            r#"{"message":{"stopReason":""}}"#,
            "no JSON { at all",
            "",
        ] {
            assert_eq!(stop(record), None, "{record}");
        }
        let records = [
            r#"{"message":{"stop_reason":null,"usage":{"service_tier":"batch","speed":"fast"}}}"#,
            r#"{"message":{"stop_reason":"tool_use","usage":{"service_tier":"standard"}}}"#,
        ];
        let said = Remarked::of(&records.map(str::to_owned));
        let words = [said.stop, said.tier, said.speed];
        assert_eq!(words.map(Option::unwrap), ["tool_use", "standard", "fast"]);
    }
}
