//! The keys of a record that the importer looks at; everything else stays in the source.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::LOOSE;
use crate::wire::json::{decode, is_true, string, word};

lazy! {
    /// One JSON value of a line. A record of an unknown type may hold what it likes by any key.
    pub(super) struct Record {
        kind = "type", uuid, parent_uuid = "parentUuid", logical_parent_uuid = "logicalParentUuid",
        session_id = "sessionId", request_id = "requestId", agent_id = "agentId", timestamp, cwd, subtype,
        leaf_uuid = "leafUuid", is_sidechain = "isSidechain", is_api_error_message = "isApiErrorMessage",
        is_compact_summary = "isCompactSummary", is_meta = "isMeta", message, attachment, data, content,
        compact_metadata = "compactMetadata", microcompact_metadata = "microcompactMetadata", summary,
        custom_title = "customTitle", ai_title = "aiTitle", version, model_usage = "modelUsage",
        /// What became of what is in the queue, and why.
        operation, reason,
        /// What is sent for an attachment, and whose words it is.
        rendered, rendered_role = "renderedRole",
        /// What is sent of it once it was withdrawn.
        rendered_withdrawn = "renderedWithdrawn",
        /// What results are sent as.
        replacements,
        /// Where a user's record comes from.
        origin, prompt_source = "promptSource",
        /// Of a user's record that the client made: that it is a note of the client's own, in other words when it is sent;
        /// that it is the words of a hook, and what stands in front of them.
        own_note = "ownNote", own_note_text = "ownNoteText", hook_text = "hookText", hook_text_lead = "hookTextLead",
        /// Who made a reply; of newer clients only.
        made_by = "madeBy",
        /// How much effort a reply was asked to make, where the messages say so.
        per_turn_effort = "perTurnEffort",
        /// Whether what a command says is for the screen alone.
        is_display_only = "isDisplayOnly",
    }
}

lazy! {
    /// `origin` of a user's record.
    pub(super) struct Origin { kind }
}

/// Whether the client made a user's record: the body of a skill or of a command, a caveat, a summary, a notice.
pub(super) fn is_injected(record: &str) -> bool {
    let Ok(record) = serde_json::from_str::<Record<'_>>(record) else {
        return false;
    };
    let origin: Origin<'_> = decode(record.origin).unwrap_or_default();
    let is_others = word(origin.kind).is_some_and(|kind| kind != "human");
    is_true(record.is_meta) || is_true(record.is_compact_summary) || is_others
}

/// The session of which a record is a copy: `/branch` says so of each, `--fork-session` of each reply.
pub(super) fn copied_from(record: &str) -> Option<String> {
    lazy! { struct Copied { session = "sessionId", forked = "forkedFrom", answered = "requestSessionId" } }
    lazy! { struct Forked { session = "sessionId" } }
    if !record.contains(r#""forkedFrom""#) && !record.contains(r#""requestSessionId""#) {
        return None;
    }
    let record: Copied<'_> = serde_json::from_str(record).ok()?;
    let forked: Forked<'_> = decode(record.forked).unwrap_or_default();
    let parent = string(forked.session).or_else(|| string(record.answered));
    parent.filter(|parent| string(record.session).is_some_and(|own| own != *parent))
}

/// The name of the request that a record's reply answers, be it a reply that a parent's file mirrors.
pub(super) fn request_of(record: &str) -> Option<String> {
    let outer: Record<'_> = serde_json::from_str(record).ok()?;
    let head: MessageHead<'_> = decode(outer.message).unwrap_or_default();
    request_name(&outer, &head).or_else(|| {
        let data: ProgressData<'_> = decode(outer.data)?;
        let inner: Record<'_> = decode(data.message)?;
        request_name(&inner, &decode(inner.message)?)
    })
}

/// The same of a record and its message. A server may give a message's id again: without an id of the request, the time
/// tells, which copies keep; such a name is a loose one.
pub(super) fn request_name(record: &Record<'_>, head: &MessageHead<'_>) -> Option<String> {
    let request = string(record.request_id);
    let request = request.or_else(|| Some(format!("{LOOSE}{}", string(record.timestamp)?)));
    Some(format!("{} {}", string(head.id)?, request?))
}

lazy! {
    /// `message` of a user or assistant record.
    pub(super) struct MessageHead { id, model, content, usage }
}

lazy! {
    /// What pairs calls and results.
    pub(super) struct BlockHead {
        kind = "type", id, tool_use_id, text,
        /// Who made a call; sent back as it came.
        caller,
    }
}

impl BlockHead<'_> {
    /// Whether it is of a kind.
    pub(super) fn is(&self, kind: &str) -> bool {
        word(self.kind).as_deref() == Some(kind)
    }

    /// Whether it is the result of a call.
    pub(super) fn answers(&self, call: &str) -> bool {
        word(self.tool_use_id).as_deref() == Some(call)
    }
}

lazy! {
    /// `attachment`.
    pub(super) struct Attachment {
        kind = "type", prompt, hook_name = "hookName", hook_event = "hookEvent", tool_use_id = "toolUseID",
        /// Of what became of tools: those that are offered from there on.
        surfaced_names = "surfacedNames",
        /// Of a prompt that was given in mid-turn: whether it may be sent as the user's text.
        hosts_own_turn = "hostsOwnTurn",
        /// Whether it is the user's own, and goes as such.
        human_turn = "humanTurn",
        /// Of a snapshot: the system prompt in pieces, what stands in front of it, and the tools.
        system_prompt = "systemPrompt", cli_prefix = "cliPrefix", tools,
        /// Of results that were cleared: the calls, and what is sent in place of each result.
        call_ids = "callIds", stand_in = "standIn", cause,
        /// Of thoughts that were taken back: which.
        scope, from,
        /// Of a file that was mentioned: whether it was too long to be sent whole.
        over_token_limit = "overTokenLimit",
    }
}

lazy! {
    /// `data` of a progress record.
    pub(super) struct ProgressData { kind = "type", agent_id = "agentId", message }
}

/// `compactMetadata`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CompactMetadata {
    pub(super) preserved_messages: Option<Preserved>,
}

/// The messages that a compaction keeps.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Preserved {
    pub(super) anchor_uuid: Option<String>,
    pub(super) uuids: Vec<String>,
}

/// `microcompactMetadata`.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct MicrocompactMetadata {
    pub(super) compacted_tool_ids: Vec<String>,
}

/// What a record takes back of what was sent before it.
pub(super) enum Withdrawal {
    /// Results: of each call, what is sent in place of its result.
    Results(Vec<(String, String)>),
    /// What was thought: all of it, or from a message's thought of this number on.
    Thoughts(Option<(String, usize)>),
    /// Files that were mentioned and are too long, since the last reply.
    WholeFiles,
}

impl Withdrawal {
    /// What the client takes of an attachment; none where it takes nothing back, or the client would pass it over.
    ///
    /// # Source
    ///
    /// The program of Claude Code 2.1.332.
    pub(super) fn of(attachment: &Attachment<'_>) -> Option<Self> {
        match &*word(attachment.kind)? {
            "tool_results_cut" => Self::cut(attachment),
            "thinking_stripped" => Some(Self::Thoughts(Self::from(attachment))),
            "whole_texts_withdrawn" => Some(Self::WholeFiles),
            _ => None,
        }
    }

    fn cut(attachment: &Attachment<'_>) -> Option<Self> {
        const LONGEST: usize = 200;
        // For another reason it does not take them back.
        let is_known = |cause: &str| cause == "withdrawn_by_tool";
        if attachment.cause.is_some() && !word(attachment.cause).is_some_and(|it| is_known(&it)) {
            return None;
        }
        let calls: Vec<&RawValue> = decode(attachment.call_ids)?;
        let calls = calls.into_iter().filter_map(|id| string(Some(id)));
        let stand_in = string(attachment.stand_in)?;
        let units = stand_in.encode_utf16().count();
        let calls = calls.map(|call| (call, stand_in.clone()));
        (1..=LONGEST)
            .contains(&units)
            .then(|| Self::Results(calls.collect()))
    }

    /// Where the thoughts begin that are taken back; none where all are.
    fn from(attachment: &Attachment<'_>) -> Option<(String, usize)> {
        lazy! { struct From { message = "messageId", thought = "thinkingIndex" } }
        let is_part = word(attachment.scope).is_some_and(|scope| scope != "all");
        let from: From<'_> = decode(attachment.from.filter(|_| is_part))?;
        Some((string(from.message)?, decode(from.thought)?))
    }

    /// What a record of replaced results says: what is sent of each from then on.
    pub(super) fn replaced(record: &Record<'_>) -> Option<Self> {
        lazy! { struct Replaced { kind, call = "toolUseId", text = "replacement" } }
        let replaced: Vec<Replaced<'_>> = decode(record.replacements)?;
        let of_results = replaced
            .iter()
            .filter(|it| word(it.kind).is_some_and(|kind| kind == "tool-result"));
        let pairs = of_results.filter_map(|it| Some((string(it.call)?, string(it.text)?)));
        Some(Self::Results(pairs.collect()))
    }
}

/// The first version that takes the text of an attachment from beside it; it keeps a call without a result as
/// well, since 2.1.281.
const RENDERS: [u64; 3] = [2, 1, 289];

/// Whether a client of a version takes the text of an attachment from beside it.
pub(super) fn renders(version: &str) -> bool {
    let numbers = version.split('.').map(|number| number.parse().ok());
    let numbers: Option<Vec<u64>> = numbers.collect();
    numbers.is_some_and(|numbers| numbers[..] >= RENDERS[..])
}
