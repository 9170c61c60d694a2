//! The list of formats, and what is said of all of them.

use std::fmt;

use crate::error::{Error, Result};
use crate::formats::format::Format;
use crate::formats::{
    agent_framework, agno, aider, amp, anthropic, anthropic_stream, atif, bodies, chatgpt,
    claude_ai, claude_code, claude_stream, cline_cli, codex, codex_exec, continue_dev, converse,
    copilot_cli, crush, cursor, cursor_cli, droid, event_log, exported, gemini, google_adk, goose,
    hermes, inspect, kimi, kimi_cli, kiro, langgraph, llm, mistral_vibe, open_webui, openai,
    openai_agents, openai_stream, opencode, openhands, openhands_run, otel, pi, pydantic_ai, qwen,
    responses, responses_stream, roo, specstory, swe_agent, ui_message, vscode_chat, zed,
};

/// All formats: those that leave marks of their own before those that many a file could be in, and of two
/// that are alike the one that asks for more.
pub static FORMATS: [&Format; 62] = [
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &opencode::KILO,
    &opencode::OPENCODE,
    &copilot_cli::COPILOT_CLI,
    &pi::OPENCLAW,
    &pi::PI,
    &vscode_chat::VSCODE_CHAT,
    &continue_dev::CONTINUE,
    &droid::DROID,
    &kimi::KIMI,
    &kimi_cli::KIMI_CLI,
    &cline_cli::CLINE_CLI,
    &mistral_vibe::MISTRAL_VIBE,
    &atif::ATIF,
    &swe_agent::SWE_AGENT,
    &swe_agent::MINI_SWE_AGENT,
    &openhands::OPENHANDS,
    &openhands_run::OPENHANDS_RUN,
    &openai_agents::OPENAI_AGENTS,
    &goose::GOOSE,
    &crush::CRUSH,
    &hermes::HERMES,
    &llm::LLM,
    &aider::AIDER,
    &specstory::SPECSTORY,
    &exported::CLAUDE_CODE_TEXT,
    &exported::OPENCODE_TEXT,
    &exported::CLINE_TEXT,
    &kiro::KIRO,
    &amp::AMP,
    &langgraph::LANGGRAPH,
    &ui_message::MASTRA,
    &ui_message::UI_MESSAGE,
    &pydantic_ai::PYDANTIC_AI,
    &google_adk::GOOGLE_ADK,
    &agno::AGNO,
    &converse::STRANDS,
    &converse::CONVERSE,
    &agent_framework::AGENT_FRAMEWORK,
    &otel::OTEL,
    &inspect::INSPECT,
    &cursor::CURSOR,
    &cursor::CURSOR_TEXT,
    &cursor_cli::CURSOR_CLI,
    &zed::ZED,
    &roo::ROO,
    &open_webui::OPEN_WEBUI,
    &chatgpt::CHATGPT,
    &claude_ai::CLAUDE_AI,
    &bodies::BODIES,
    &event_log::EVENT_LOG,
    &claude_stream::CLAUDE_STREAM,
    &codex_exec::CODEX_EXEC,
    &anthropic_stream::ANTHROPIC_STREAM,
    &openai_stream::OPENAI_STREAM,
    &responses_stream::RESPONSES_STREAM,
    &responses::RESPONSES,
    &openai::OPENAI,
    &anthropic::ANTHROPIC,
];

impl Format {
    /// The format that goes by this name.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidInput`] with how many there are.
    pub fn named(text: &str) -> Result<&'static Self> {
        let goes_by = |format: &&Self| format.name == text || format.aliases.contains(&text);
        let found = FORMATS.into_iter().find(goes_by);
        let none = || format!("'{text}' is none of the {} that are known", FORMATS.len());
        found.ok_or_else(|| Error::input("format", none()))
    }
}

/// The names of the formats whose records are events, as they are typed.
pub fn stream_names() -> String {
    let streams = FORMATS.into_iter().filter(|format| format.events.is_some());
    streams
        .map(|format| format.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The formats, for a help text: their names, by what else they go, and which are unproven.
pub fn choices() -> String {
    let choice = |format: &Format| {
        let others = format
            .aliases
            .iter()
            .map(|name| format!("{name}: the same"));
        let said = others.chain(format.unproven.then(|| "unproven".to_owned()));
        match said.collect::<Vec<_>>().join("; ") {
            said if said.is_empty() => format.name.to_owned(),
            said => format!("{} ({said})", format.name),
        }
    };
    either(&FORMATS.map(choice))
}

/// The tools whose sessions the chosen formats hold, as people call them: `one, another or a third`.
pub fn tools(chosen: impl Fn(&Format) -> bool) -> String {
    let chosen = FORMATS.into_iter().filter(|format| chosen(format));
    let tools: Vec<_> = chosen.flat_map(|format| format.tools).collect();
    either(&tools)
}

/// The formats as a table in Markdown, as `docs/formats.md` shows it: what is done with each, and of which
/// versions of their tools the files were that were tried.
pub fn table() -> String {
    let mut table = String::from(
        "| format | sessions of | read | written | resumed | watched | seen |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mark = |done: bool| if done { "yes" } else { "" };
    for format in FORMATS {
        let whose = format.tools.join(", ");
        let (written, resumed) = (format.write.is_some(), format.resume().is_some());
        let (written, resumed, watched) =
            (mark(written), mark(resumed), mark(format.home.is_some()));
        let unproven = if format.unproven {
            "**unproven**: "
        } else {
            ""
        };
        let seen = format.seen;
        table += &format!(
            "| `{format}` | {whose} | yes | {written} | {resumed} | {watched} | {unproven}{seen} |\n"
        );
    }
    // A cell that says nothing is two spaces otherwise.
    table.replace("|  |", "| |").replace("|  |", "| |")
}

fn either(words: &[impl fmt::Display]) -> String {
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => words.concat(),
    }
}
