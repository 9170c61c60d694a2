//! OpenAI's Responses API, as Codex keeps it: a message is one item or several.
//!
//! # Source
//!
//! `codex-rs/protocol` of <https://github.com/openai/codex>, and OpenAI's API reference,
//! "Responses", where that takes more than the tool writes.

mod pairs;
mod read;
mod shell;
mod write;

/// The kinds of items, each with a member that it has: those of the vendor's own types, `openai` 3.57.
pub const ITEMS: [(&str, &str); 30] = [
    ("additional_tools", "tools"),
    ("apply_patch_call", "operation"),
    ("apply_patch_call_output", "call_id"),
    ("code_interpreter_call", "container_id"),
    ("compaction", "encrypted_content"),
    ("compaction_trigger", "type"),
    ("computer_call", "call_id"),
    ("computer_call_output", "output"),
    ("configuration_update", "type"),
    ("custom_tool_call", "call_id"),
    ("custom_tool_call_output", "output"),
    ("file_search_call", "queries"),
    ("function_call", "call_id"),
    ("function_call_output", "output"),
    ("image_generation_call", "id"),
    ("item_reference", "id"),
    ("local_shell_call", "call_id"),
    ("local_shell_call_output", "output"),
    ("mcp_approval_request", "server_label"),
    ("mcp_approval_response", "approval_request_id"),
    ("mcp_call", "server_label"),
    ("mcp_list_tools", "server_label"),
    ("program", "code"),
    ("program_output", "result"),
    ("reasoning", "summary"),
    ("shell_call", "call_id"),
    ("shell_call_output", "output"),
    ("tool_search_call", "arguments"),
    ("tool_search_output", "tools"),
    ("web_search_call", "action"),
];

pub use super::media::image_url;
pub use super::openai::PROVIDER;
pub use pairs::OutputPairs;
pub use read::{Meaning, call_of, communication, messages, of_items, read};
pub use shell::in_words;
pub use write::{cut_off, gives_something, items, takes, with_files};
