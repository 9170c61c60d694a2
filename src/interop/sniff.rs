//! Which format a source is in: decided by its content, never by its name.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::{Lines, json_values, mend};
use super::{Format, Input};
use crate::error::{Error, Result};

/// How many records of a file of many are looked at. The first of a Claude Code file may be any of
/// ten kinds, and whole runs of them may be of one kind.
const RECORDS: usize = 200;
/// A first line longer than this is not taken for a record but for a document.
const DOCUMENT_BYTES: u64 = 256 << 20;

/// The format of `input`; none if it is in none of the known ones.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be read.
pub fn sniff(input: &dyn Input) -> Result<Option<Format>> {
    let mut start = [0u8; 64];
    let got = input.read_at(0, &mut start).map_err(Error::io("source"))?;
    let start = start[..got]
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&start[..got]);
    let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
    if !start.is_empty() && !matches!(first, None | Some(b'{' | b'[')) && !start.contains(&b'\n') {
        return Ok(None);
    }
    let mut lines = Lines::new(input)?;
    let (mut seen, mut whole) = (0, 0);
    let mut guess = None;
    while let Some(line) = lines.next_line()? {
        let text = mend(line.bytes).text;
        if text.trim().is_empty() {
            continue;
        }
        let (values, problem) = json_values(&text);
        if values.is_empty() && seen == 0 && problem.is_some() && whole == 0 {
            // Not a record: the first line of a document that is spread over lines, or damage.
            if let Some(found) = document(input)? {
                return Ok(found);
            }
        }
        whole += 1;
        for (_, value) in values {
            seen += 1;
            match record(value) {
                Some(Verdict::Sure(format)) => return Ok(Some(format)),
                Some(Verdict::Other) => return Ok(None),
                Some(Verdict::Perhaps(format)) => guess = guess.or(Some(format)),
                None => {}
            }
        }
        if seen >= RECORDS || whole >= 2 * RECORDS {
            break;
        }
    }
    Ok(guess)
}

/// What one record says.
enum Verdict {
    Sure(Format),
    /// Fits, unless a later record says better.
    Perhaps(Format),
    /// A format that is known, and none of ours.
    Other,
}

/// The whole input as one JSON value; `None` if it isn't one.
fn document(input: &dyn Input) -> Result<Option<Option<Format>>> {
    if input.size_bytes() > DOCUMENT_BYTES {
        return Ok(None);
    }
    let bytes = super::read_all(input)?;
    let text = mend(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)).text;
    let Ok(value) = serde_json::from_str::<&RawValue>(&text) else {
        return Ok(None);
    };
    Ok(Some(match record(value) {
        Some(Verdict::Sure(format) | Verdict::Perhaps(format)) => Some(format),
        Some(Verdict::Other) | None => None,
    }))
}

fn record(value: &RawValue) -> Option<Verdict> {
    if value.get().starts_with('[') {
        return array(value);
    }
    let object: Object = serde_json::from_str(value.get()).ok()?;
    object.verdict()
}

/// The keys that tell formats apart; values only where they matter.
#[derive(Deserialize)]
struct Object<'a> {
    #[serde(borrow, default)]
    r#type: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "parentUuid")]
    parent_uuid: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "sessionId")]
    session_id: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "leafUuid")]
    leaf_uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uuid: Option<&'a RawValue>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
    #[serde(borrow, default)]
    record_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    instructions: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, default)]
    messages: Option<&'a RawValue>,
    #[serde(borrow, default)]
    system: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    choices: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    trajectory: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "projectHash")]
    project_hash: Option<&'a RawValue>,
    #[serde(borrow, default)]
    mapping: Option<&'a RawValue>,
    #[serde(borrow, default)]
    info: Option<&'a RawValue>,
}

/// Types of records that only Claude Code writes.
const CLAUDE_TYPES: [&str; 9] = [
    "summary",
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "mode",
    "permission-mode",
    "custom-title",
    "ai-title",
    "agent-name",
];

impl Object<'_> {
    fn verdict(&self) -> Option<Verdict> {
        use Verdict::{Other, Perhaps, Sure};
        let kind: Option<String> = self
            .r#type
            .and_then(|kind| serde_json::from_str(kind.get()).ok());
        let kind = kind.as_deref();
        if self.trajectory.is_some() || self.project_hash.is_some() || self.mapping.is_some() {
            return Some(Other);
        }
        if self.messages.is_some() {
            return self.request();
        }
        if self.choices.is_some() {
            return Some(Sure(Format::OpenAi));
        }
        if kind == Some("session") && self.cwd.is_some() {
            return Some(Other);
        }
        if self.payload.is_some() && kind.is_some() {
            return Some(if self.session_id.is_some() {
                Other
            } else {
                Sure(Format::Codex)
            });
        }
        if self.record_type.is_some()
            || (self.instructions.is_some() && self.timestamp.is_some() && kind.is_none())
        {
            return Some(Sure(Format::Codex));
        }
        let claude = self.parent_uuid.is_some()
            || (self.uuid.is_some() && self.session_id.is_some())
            || (kind == Some("summary") && self.leaf_uuid.is_some())
            || (kind.is_some_and(|kind| CLAUDE_TYPES.contains(&kind)) && self.content.is_none())
            || (kind == Some("queue-operation"));
        if claude {
            return Some(Sure(Format::ClaudeCode));
        }
        if kind == Some("message") && self.role.is_some() && self.content.is_some() {
            return Some(Perhaps(Format::Anthropic));
        }
        None
    }

    /// A request, or a row of one: what stands beside the messages decides, else they do.
    fn request(&self) -> Option<Verdict> {
        let messages = self.messages?;
        if self.info.is_some() {
            return Some(Verdict::Other);
        }
        if self.system.is_some() {
            return Some(Verdict::Sure(Format::Anthropic));
        }
        let tools: Vec<Value> = self
            .tools
            .and_then(|tools| serde_json::from_str(tools.get()).ok())
            .unwrap_or_default();
        if tools.iter().any(|tool| tool.get("input_schema").is_some()) {
            return Some(Verdict::Sure(Format::Anthropic));
        }
        if tools.iter().any(|tool| tool.get("function").is_some()) {
            return Some(Verdict::Sure(Format::OpenAi));
        }
        array(messages)
    }
}

#[derive(Deserialize)]
struct Element<'a> {
    #[serde(default)]
    role: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, default)]
    function_call: Option<&'a RawValue>,
    #[serde(borrow, default)]
    traj: Option<&'a RawValue>,
    #[serde(borrow, default)]
    task_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    mapping: Option<&'a RawValue>,
    #[serde(borrow, default)]
    say: Option<&'a RawValue>,
    #[serde(borrow, default)]
    ask: Option<&'a RawValue>,
    #[serde(borrow, default)]
    ts: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "isSummary")]
    is_summary: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "modelInfo")]
    model_info: Option<&'a RawValue>,
    #[serde(borrow, default)]
    metrics: Option<&'a RawValue>,
    #[serde(borrow, default)]
    extra: Option<&'a RawValue>,
}

/// A list of messages, or of what holds them.
fn array(value: &RawValue) -> Option<Verdict> {
    use Verdict::{Other, Perhaps, Sure};
    let elements: Vec<Element<'_>> = serde_json::from_str(value.get()).ok()?;
    for element in &elements {
        let other = [
            element.mapping,
            element.say,
            element.ask,
            element.ts,
            element.is_summary,
            element.model_info,
            element.metrics,
            element.extra,
        ];
        if other.iter().any(Option::is_some) {
            return Some(Other);
        }
        if element.traj.is_some() && element.task_id.is_some() {
            return Some(Sure(Format::OpenAi));
        }
    }
    for element in &elements {
        let role = element.role.as_deref()?;
        if matches!(role, "tool" | "function" | "developer")
            || element.tool_calls.is_some()
            || element.function_call.is_some()
        {
            return Some(Sure(Format::OpenAi));
        }
        for kind in element.content.map(part_types).unwrap_or_default() {
            match kind.as_str() {
                "image_url" | "input_audio" | "file" | "refusal" => {
                    return Some(Sure(Format::OpenAi));
                }
                "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "image"
                | "document" | "server_tool_use" | "compaction" => {
                    return Some(Sure(Format::Anthropic));
                }
                _ => {}
            }
        }
    }
    // Plain texts fit both; OpenAI's is the commoner.
    (!elements.is_empty()).then_some(Perhaps(Format::OpenAi))
}

/// The types of the parts in a content list; none for a string.
fn part_types(content: &RawValue) -> Vec<String> {
    #[derive(Deserialize)]
    struct Typed {
        #[serde(default)]
        r#type: Option<String>,
    }
    let parts: Vec<Typed> = serde_json::from_str(content.get()).unwrap_or_default();
    parts.into_iter().filter_map(|part| part.r#type).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Format> {
        sniff(&text.as_bytes()).expect("bytes can be read")
    }

    #[test]
    fn each_format_is_told_by_what_it_holds() {
        let claude = r#"{"type":"summary","summary":"x","leafUuid":"u"}"#;
        assert_eq!(of(claude), Some(Format::ClaudeCode));
        let codex = r#"{"timestamp":"t","type":"event_msg","payload":{}}"#;
        assert_eq!(of(&format!("{codex}\n{codex}")), Some(Format::Codex));
        assert_eq!(of("{\"record_type\":\"state\"}\r\n"), Some(Format::Codex));
        let chat = r#"[{"role":"user","content":"hi"}]"#;
        assert_eq!(of(chat), Some(Format::OpenAi));
        let pretty = "{\n \"system\": \"s\",\n \"messages\": []\n}";
        assert_eq!(of(pretty), Some(Format::Anthropic));
        let block = r#"[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]"#;
        assert_eq!(of(block), Some(Format::Anthropic));
        assert_eq!(of(r#"{"choices":[]}"#), Some(Format::OpenAi));
    }

    #[test]
    fn damage_does_not_hide_what_follows() {
        let codex = r#"{"timestamp":"t","type":"event_msg","payload":{}}"#;
        assert_eq!(
            of(&format!("{{\"torn\": \n{codex}\n{codex}\n")),
            Some(Format::Codex)
        );
        assert_eq!(
            of(&format!("\u{feff}{codex}\n{{\"cut")),
            Some(Format::Codex)
        );
    }

    #[test]
    fn what_is_none_of_them_is_none() {
        for other in [
            "",
            "\n",
            "# aider chat started at",
            "SQLite format 3\0",
            "{}",
            "[1, 2]",
            "null",
            r#"{"mapping":{}}"#,
            r#"{"type":"session","cwd":"/"}"#,
            r#"[{"role":"user","content":"x","ts":1}]"#,
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
