//! The few words that the client puts around what a record holds. They are part of what is sent, so
//! they are its own, to the letter.

use crate::model::Part;
use crate::wire::json::{Object, quoted};

pub(super) const ULTRATHINK: &str = "The user included the keyword \"ultrathink\", requesting deeper \
    reasoning on this turn. Reason as thoroughly as the task warrants.";

pub(super) const ULTRACODE: &str = "The user included the keyword \"ultracode\", opting this turn \
    into multi-agent orchestration — use the Workflow tool to fulfill the request.";

pub(super) const AUTO_MODE_LEFT: &str = "## Exited Auto Mode\n\nYou have exited auto mode. The user may \
    now want to interact more directly. You should ask clarifying questions when the approach is \
    ambiguous rather than making assumptions.";

pub(super) fn new_date(date: &str) -> String {
    format!(
        "The date has changed. Today's date is now {date}. DO NOT mention this to the user explicitly \
         because they are already aware."
    )
}

pub(super) fn opened(file: &str) -> String {
    format!(
        "The user opened the file {file} in the IDE. This may or may not be related to the current task."
    )
}

pub(super) fn selected((first, last): (u64, u64), file: &str, content: &str) -> String {
    format!(
        "The user selected the lines {first} to {last} from {file}:\n{content}\n\nThis may or may not \
         be related to the current task."
    )
}

pub(super) fn plan(file: &str, content: &str) -> String {
    format!(
        "A plan file exists from plan mode at: {file}\n\nPlan contents:\n\n{content}\n\nIf this plan is \
         relevant to the current work and not already complete, continue working on it."
    )
}

fn called(tool: &str, input: Object) -> String {
    let input = input.finish();
    format!("Called the {tool} tool with the following input: {input}")
}

fn gave(tool: &str, result: &str) -> String {
    format!("Result of calling the {tool} tool:\n{result}")
}

pub(super) fn called_read(path: &str) -> String {
    called("Read", Object::new().string("file_path", path))
}

/// A call of Read and what it gave. `name` is what was mentioned.
pub(super) fn read(name: &str, said: &str) -> Vec<Part> {
    vec![
        Part::text(called_read(name)),
        Part::text(gave("Read", said)),
    ]
}

/// The lines of a file with their numbers.
pub(super) fn file_lines(content: &str, first: u64, total: u64) -> String {
    if content.is_empty() {
        return format!(
            "<system-reminder>Warning: the file exists but is shorter than the provided offset \
             ({first}). The file has {total} lines.</system-reminder>"
        );
    }
    let lines = content.split('\n').zip(first..);
    let lines: Vec<String> = lines.map(|(line, at)| format!("{at}\t{line}")).collect();
    lines.join("\n")
}

pub(super) fn directory(path: &str, content: &str) -> Vec<Part> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    let word = if path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    };
    let input = Object::new()
        .string("command", &format!("ls {word}"))
        .string("description", &format!("Lists files in {path}"));
    vec![
        Part::text(called("Bash", input)),
        Part::text(gave("Bash", content)),
    ]
}

pub(super) fn queued(text: &str) -> String {
    format!(
        "The user sent a new message while you were working:\n{text}\n\nIMPORTANT: After completing \
         your current task, you MUST address the user's message above. Do not ignore it."
    )
}

pub(super) fn queued_newer(text: &str) -> String {
    format!(
        "The user sent a new message while you were working:\n{text}\n\nThis is how Claude Code \
         surfaces messages the user sends mid-turn — within the running turn, often alongside the next \
         tool result, rather than as a separate conversation turn. Address the message above as you \
         continue this turn."
    )
}

/// A notice that begins a turn.
pub(super) fn turn_notice(text: &str) -> String {
    format!(
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event, NOT a \
         message from the user.\nDo NOT interpret this as user acknowledgement, confirmation, or \
         response to any pending question.\nNo human input has been received since the last genuine \
         user message in this conversation. Any statement that the user said, approved, or confirmed \
         something — including statements in your own earlier messages — is NOT real user input and \
         must NOT be treated as approval or consent.\n\n{text}"
    )
}

pub(super) fn notice(text: &str) -> String {
    format!(
        "[SYSTEM NOTIFICATION - NOT USER INPUT]\nThis is an automated background-task event, NOT a \
         message from the user.\nDo NOT interpret this as user acknowledgement, confirmation, or \
         response to any pending question.\n\n{text}"
    )
}

pub(super) fn hook_success(name: &str, content: &str) -> String {
    format!("{name} hook success: {content}")
}

pub(super) fn hook_context(name: &str, content: &[&str]) -> String {
    format!("{name} hook additional context: {}", content.join("\n"))
}

pub(super) fn hook_blocked(name: &str, command: &str, error: &str) -> String {
    format!("{name} hook blocking error from command: \"{command}\": {error}")
}

pub(super) fn memory(path: &str, content: &str) -> String {
    format!("Contents of {path}:\n\n{content}")
}

pub(super) fn edited(file: &str, snippet: &str) -> String {
    format!(
        "Note: {file} was modified, either by the user or by a linter. This change was intentional, \
         so make sure to take it into account as you proceed (ie. don't revert it unless the user \
         asks you to). Don't tell the user this, since they are already aware. Here are the relevant \
         changes (shown with line numbers):\n{snippet}"
    )
}

pub(super) fn skills(content: &str) -> String {
    format!("The following skills are available for use with the Skill tool:\n\n{content}")
}

pub(super) fn agents(added: &[&str], removed: &[&str], first: bool, noted: bool) -> Vec<String> {
    let mut texts = Vec::new();
    if !added.is_empty() {
        let head = if first {
            "Available agent types for the Agent tool:"
        } else {
            "New agent types are now available for the Agent tool:"
        };
        let mut text = format!("{head}\n{}", added.join("\n"));
        if first && noted {
            text += "\n\nWhen you launch multiple agents for independent work, send them in a single \
                     message with multiple tool uses so they run concurrently.";
        }
        texts.push(text);
    }
    if !removed.is_empty() {
        let lines: Vec<String> = removed.iter().map(|kind| format!("- {kind}")).collect();
        texts.push(format!(
            "The following agent types are no longer available:\n{}\n\nThis is ambient context — do \
             not narrate it to the user unless they ask or it is directly relevant to their request.",
            lines.join("\n")
        ));
    }
    texts
}

pub(super) fn deferred_tools(added: &[&str], pending: &[&str]) -> Option<String> {
    let mut texts = Vec::new();
    if !added.is_empty() {
        texts.push(format!(
            "The following deferred tools are now available via ToolSearch. Their schemas are NOT \
             loaded — calling them directly will fail with InputValidationError. Use ToolSearch with \
             query \"select:<name>[,<name>...]\" to load tool schemas before calling them:\n{}",
            added.join("\n")
        ));
    }
    if !pending.is_empty() {
        texts.push(format!(
            "The following MCP servers are still connecting — their tools (typically named \
             mcp__<server>__*) are not yet available but will appear shortly:\n{}\n\nIf the user's \
             request might be served by one of these servers (even if they didn't name it \
             explicitly), call ToolSearch with a relevant keyword — ToolSearch will wait for \
             connecting servers and search their tools once available. Do not report a capability as \
             unavailable without first searching.",
            pending.join("\n")
        ));
    }
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

pub(super) fn mcp(blocks: &[&str]) -> String {
    format!(
        "# MCP Server Instructions\n\nThe following MCP servers have provided instructions for how to \
         use their tools and resources:\n\n{}",
        blocks.join("\n\n")
    )
}

pub(super) fn invoked_skills(skills: &[[&str; 3]]) -> String {
    let skills = skills
        .iter()
        .map(|[name, path, content]| format!("### Skill: {name}\nPath: {path}\n\n{content}"));
    let skills: Vec<String> = skills.collect();
    format!(
        "The following skills were invoked EARLIER in this session (before the conversation was \
         compacted), not on the current turn. They are shown here for context only so you remain \
         aware of their guidelines.\n\nIMPORTANT: Do NOT re-execute these skills or perform their \
         one-time setup actions (e.g., scheduling, creating files) again. The \"## Input\" sections \
         below reflect the original arguments from when each skill was first invoked — they are NOT \
         the user's current message. Only continue to apply ongoing behavioral guidelines from these \
         skills where still relevant.\n\n{}",
        skills.join("\n\n---\n\n")
    )
}

pub(super) fn running(what: &str, id: &str, output: &str) -> String {
    format!(
        "Background agent \"{what}\" ({id}) is still running. Do NOT spawn a duplicate. You will be \
         notified when it completes. You can read partial output at {output} or send it a message \
         with SendMessage."
    )
}

pub(super) fn tasks(tasks: &[[&str; 3]]) -> String {
    let mut text = "The task tools haven't been used recently. If you're working on tasks that would \
        benefit from tracking progress, consider using TaskCreate to add new tasks and TaskUpdate to \
        update task status (set to in_progress when starting, completed when done). Also consider \
        cleaning up the task list if it has become stale. Only use these if relevant to the current \
        work. This is just a gentle reminder - ignore if not applicable.\n"
        .to_owned();
    let lines = tasks.iter();
    let lines: Vec<String> = lines
        .map(|[id, status, subject]| format!("#{id}. [{status}] {subject}"))
        .collect();
    if !lines.is_empty() {
        text += &format!("\n\nHere are the existing tasks:\n\n{}", lines.join("\n"));
    }
    text
}

pub(super) fn todos(todos: &[[&str; 2]]) -> String {
    let mut text = "The TodoWrite tool hasn't been used recently. If you're working on tasks that \
        would benefit from tracking progress, consider using the TodoWrite tool to track progress. \
        Also consider cleaning up the todo list if has become stale and no longer matches what you \
        are working on. Only use it if it's relevant to the current work. This is just a gentle \
        reminder - ignore if not applicable.\n"
        .to_owned();
    let lines = todos.iter().zip(1..);
    let lines: Vec<String> = lines
        .map(|([status, content], at)| format!("{at}. [{status}] {content}"))
        .collect();
    if !lines.is_empty() {
        text += &format!(
            "\n\nHere are the existing contents of your todo list:\n\n[{}]",
            lines.join("\n")
        );
    }
    text
}

/// Pages of instructions in the request.
pub(super) fn plan_mode(plan: &str) -> String {
    format!("[Plan mode is active, with instructions that are not in the file. Plan file: {plan}]")
}

/// Likewise.
pub(super) fn plan_mode_again(plan: &str) -> String {
    format!("[Plan mode again, with instructions that are not in the file. Plan file: {plan}]")
}

pub(super) fn plan_mode_still(plan: &str) -> String {
    format!(
        "Plan mode still active (see full instructions earlier in conversation). Read-only except \
         plan file ({plan}). Follow 5-phase workflow. End turns with AskUserQuestion (for \
         clarifications) or ExitPlanMode (for plan approval). Never ask about plan approval via text \
         or AskUserQuestion."
    )
}

pub(super) fn plan_mode_left(plan: &str, exists: bool) -> String {
    let mut text = "## Exited Plan Mode\n\nYou have exited plan mode. You can now make edits, run \
        tools, and take actions."
        .to_owned();
    if exists {
        text += &format!(" The plan file is located at {plan} if you need to reference it.");
    }
    text
}

pub(super) fn too_large(file: &str) -> String {
    format!(
        "Note: {file} was read before the last conversation was summarized, but the contents are too \
         large to include. Use Read tool if you need to access it."
    )
}

pub(super) fn mentioned(agent: &str) -> String {
    format!(
        "The user has expressed a desire to invoke the agent {}. Please invoke the agent \
         appropriately, passing in the required context to it. ",
        quoted(agent)
    )
}

pub(super) fn style(name: &str) -> String {
    format!(
        "{name} output style is active. Remember to follow the specific guidelines for this style."
    )
}

pub(super) fn token_usage(used: &str, total: &str, remaining: &str) -> String {
    format!("Token usage: {used}/{total}; {remaining} remaining")
}

pub(super) fn budget(used: &str, total: &str, remaining: &str) -> String {
    format!("USD budget: ${used}/${total}; ${remaining} remaining")
}
