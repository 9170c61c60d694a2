//! The keys of arguments, by what stands under them: the one place where a new tool's words are added.
//!
//! # Source
//!
//! The tools of Claude Code, Codex, Gemini CLI, Copilot, Cursor, Roo Code, pi, opencode and others, as they stand in
//! sessions of theirs.

/// The keys of a command.
pub(super) const COMMANDS: [&str; 6] = [
    "command",
    "cmd",
    "script",
    "CommandLine",
    "commandLine",
    "expression",
];
/// The keys of what is searched for, or asked of the web.
pub(super) const SEARCHES: [&str; 10] = [
    "pattern",
    "regex",
    "query",
    "Query",
    "queries",
    "search_term",
    "glob_pattern",
    "glob",
    "url",
    "uri",
];
/// The keys of a file or a folder.
pub(super) const PATHS: [&str; 20] = [
    "file_path",
    "filePath",
    "path",
    "notebook_path",
    "absolute_path",
    "AbsolutePath",
    "filename",
    "fileName",
    "target_file",
    "targetFile",
    "TargetFile",
    "file",
    "dir_path",
    "DirectoryPath",
    "SearchDirectory",
    "SearchPath",
    "directory",
    "target_directory",
    "dir",
    "paths",
];
/// The keys of words that name what is meant.
pub(super) const NAMES: [&str; 10] = [
    "subagent_type",
    "agent_type",
    "agent_name",
    "skill",
    "name",
    "subject",
    "title",
    "topic",
    "taskId",
    "task_id",
];
/// The keys of words that say what a call is for.
pub(super) const REASONS: [&str; 6] = [
    "description",
    "explanation",
    "justification",
    "instruction",
    "intent",
    "toolSummary",
];
/// The keys of long words, which are told where nothing else is.
pub(super) const SPEECHES: [&str; 9] = [
    "prompt",
    "message",
    "question",
    "objective",
    "thought",
    "text",
    "content",
    "input",
    "summary",
];
/// The keys of how a tool is to be run: of no interest beside what it is to do. Where it runs and how long it may take
/// are none of them: the same command elsewhere, or in less time, is another one.
pub(super) const MANNERS: [&str; 11] = [
    "yield_time_ms",
    "max_output_tokens",
    "block_until_ms",
    "login",
    "tty",
    "sandbox_permissions",
    "prefix_rule",
    "required_permissions",
    "requires_approval",
    "projectRoot",
    "activeForm",
];
/// A list of steps, each with how it stands.
pub(super) const STEPS: [&str; 2] = ["todos", "plan"];
