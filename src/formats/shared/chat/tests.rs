//! Tests of both chat formats: fixtures for the pitfalls, and the real sessions.

mod laws;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::Result;
use crate::formats::shared::contract::{anew, fresh, written};
use crate::formats::shared::foreign::called;
use crate::formats::sniff::sniff;
use crate::formats::{
    Action, BranchStart, Document, Format, Outgoing, Problem, SessionEnd, SessionStart, Sink,
    Source, Step,
};
use crate::formats::{
    aider, amp, anthropic, atif, chatgpt, claude_code, codex, continue_dev, copilot_cli, cursor,
    droid, gemini, kimi, kiro, openai, opencode, openhands_run, pi, qwen, roo, swe_agent,
    ui_message, vscode_chat,
};
use crate::model::{Media, MediaSource, Message, Part, Role, Settings, Usage};

#[derive(Default)]
struct Session {
    id: String,
    steps: Vec<Step>,
    end: SessionEnd,
    branches: Vec<String>,
}

#[derive(Default)]
struct Collected {
    sessions: Vec<Session>,
    problems: Vec<Problem>,
}

impl Collected {
    fn last(&mut self) -> &mut Session {
        self.sessions.last_mut().expect("a session has begun")
    }
}

impl Sink for Collected {
    fn session(&mut self, session: SessionStart) -> Result<()> {
        self.sessions.push(Session {
            id: session.id,
            ..Session::default()
        });
        Ok(())
    }
    fn branch(&mut self, branch: BranchStart) -> Result<()> {
        self.last().branches.push(branch.name);
        Ok(())
    }
    fn step(&mut self, step: Step) -> Result<()> {
        self.last().steps.push(step);
        Ok(())
    }
    fn end(&mut self, end: SessionEnd) -> Result<()> {
        self.last().end = end;
        Ok(())
    }
    fn problem(&mut self, problem: Problem) -> Result<()> {
        self.problems.push(problem);
        Ok(())
    }
}

fn import(format: &Format, bytes: &[u8]) -> Collected {
    let mut collected = Collected::default();
    let source = Source {
        stem: "f",
        ..Source::of(&bytes, &mut collected)
    };
    (format.read)(source).expect("bytes can be read");
    collected
}

fn sniffed(bytes: &[u8]) -> Option<&'static Format> {
    sniff(&bytes).expect("bytes can be read")
}

fn message(step: &Step) -> &Message {
    match &step.action {
        Action::Append(message) => message,
        Action::Hide(_) => panic!("a chat file hides nothing"),
    }
}

fn record<'a>(bytes: &'a [u8], step: &Step) -> &'a str {
    let span = step.records[0];
    let at = span.offset as usize..(span.offset + span.len) as usize;
    std::str::from_utf8(&bytes[at]).expect("fixtures are UTF-8")
}

/// Messages as they would be exported, untouched or made anew.
fn outgoing(bytes: &[u8], session: &Session, untouched: bool) -> Vec<Outgoing> {
    let one = |step: &Step| Outgoing {
        records: Vec::from_iter(untouched.then(|| record(bytes, step).to_owned())),
        ..anew(message(step).clone())
    };
    session.steps.iter().map(one).collect()
}

fn export(format: &Format, messages: &[Outgoing], settings: Settings) -> (String, Vec<String>) {
    let document = Document {
        settings,
        ..Document::default()
    };
    let (out, remarks) = written(format, messages, &document);
    (String::from_utf8(out).expect("JSON is UTF-8"), remarks)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

const OPENAI: &[u8] = include_bytes!("../../../../tests/data/chat/openai-request.json");
const ANTHROPIC: &[u8] = include_bytes!("../../../../tests/data/chat/anthropic-request.json");
const OPENAI_ROWS: &[u8] = include_bytes!("../../../../tests/data/chat/openai-rows.jsonl");
const ANTHROPIC_ROWS: &[u8] = include_bytes!("../../../../tests/data/chat/anthropic-rows.jsonl");
const RUNS: &[u8] = include_bytes!("../../../../tests/data/chat/runs.json");

#[test]
fn an_openai_request_is_read() {
    assert_eq!(sniffed(OPENAI), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, OPENAI);
    let [session] = &read.sessions[..] else {
        panic!("one session")
    };
    let steps = &session.steps;
    let roles: Vec<Role> = steps.iter().map(|step| message(step).role).collect();
    use Role::{Assistant, System, Tool, User};
    assert_eq!(
        roles,
        [
            System, User, Assistant, Tool, Tool, Assistant, Tool, Assistant
        ]
    );
    assert!(record(OPENAI, &steps[0]).starts_with(r#"{"role": "system""#));
    let user = message(&steps[1]);
    assert_eq!(user.name.as_deref(), Some("ann"));
    let [
        _,
        Part::Image(image),
        Part::File(file),
        Part::Opaque { data, .. },
    ] = &user.parts[..]
    else {
        panic!("{:?}", user.parts)
    };
    assert_eq!(image.source, MediaSource::Base64("iVBO".into()));
    assert_eq!(image.detail.as_deref(), Some("low"));
    assert_eq!(file.name.as_deref(), Some("a.pdf"));
    assert!(data.contains(r#""format": "wav""#), "byte for byte");
    let calls = &message(&steps[2]).parts[1..];
    assert_eq!(
        calls[0],
        Part::ToolCall {
            id: "c1".into(),
            name: "look".into(),
            arguments: r#"{ "id": 12345678901234567890, "x": 1.0 }"#.into(),
            kind: None,
        }
    );
    assert!(matches!(&calls[1], Part::ToolCall { kind: Some(kind), .. } if kind == "custom"));
    assert!(
        matches!(&message(&steps[3]).parts[0], Part::ToolResult { content, .. }
            if content[..] == [Part::text("a\0b \u{fffd}")])
    );
    assert_eq!(session.end.lone_surrogates, 1);
    assert!(matches!(&message(&steps[6]).parts[0], Part::ToolResult { call, .. } if call == "old"));
    let lines: Vec<_> = read.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [16, 19, 20], "{:?}", read.problems);
    assert!(steps[0].settings.is_empty());
    assert_eq!(steps[7].settings["temperature"], "0.70");
    assert_eq!(steps[7].settings["model"], "\"gpt-4o\"");
}

/// A request of Anthropic's may have messages of the system in its midst.
#[test]
fn a_message_of_the_system_is_no_proof_of_a_format() {
    let system = r#"{"role":"system","content":"Today is Monday."}"#;
    let user = r#"{"role":"user","content":"List the files."}"#;
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}"#;
    let call_of_openai = r#"{"role":"assistant","tool_calls":[{"id":"t","function":{"name":"ls","arguments":"{}"}}]}"#;
    for (messages, format) in [
        ([user, system, call], &anthropic::ANTHROPIC),
        ([system, user, call], &anthropic::ANTHROPIC),
        ([user, system, user], &openai::OPENAI),
        ([system, user, call_of_openai], &openai::OPENAI),
    ] {
        let list = format!("[{}]", messages.join(","));
        let request = format!(r#"{{"model":"m","messages":{list}}}"#);
        for text in [list, request] {
            assert_eq!(sniffed(text.as_bytes()), Some(format), "{text}");
        }
    }
}

#[test]
fn an_anthropic_request_is_read() {
    assert_eq!(sniffed(ANTHROPIC), Some(&anthropic::ANTHROPIC));
    let read = import(&anthropic::ANTHROPIC, ANTHROPIC);
    assert_eq!(read.problems, []);
    let session = &read.sessions[0];
    let roles: Vec<Role> = session
        .steps
        .iter()
        .map(|step| message(step).role)
        .collect();
    use Role::{Assistant, System, Tool, User};
    assert_eq!(roles, [System, User, Assistant, Tool, User, Assistant]);
    assert!(record(ANTHROPIC, &session.steps[0]).starts_with(r#"[{"type": "text""#));
    let parts = &message(&session.steps[2]).parts;
    assert_eq!(
        parts[0],
        Part::Thinking {
            text: String::new(),
            signature: Some("c2ln".into()),
            provider: Some("anthropic".into()),
        }
    );
    assert!(matches!(&parts[3], Part::ToolCall { arguments, .. }
            if arguments == r#"{"b": 1.0,  "a": 12345678901234567890}"#));
    assert!(
        matches!(&message(&session.steps[3]).parts[1], Part::ToolResult { content, is_error: true, .. }
            if content.is_empty())
    );
    let opaque: Vec<_> = session.end.opaque_blocks.keys().cloned().collect();
    assert_eq!(
        opaque,
        ["document", "redacted_thinking", "web_search_tool_result"]
    );
    assert_eq!(session.steps[5].settings["max_tokens"], "1e3");
}

#[test]
fn rows_are_sessions_and_bad_ones_do_no_harm() {
    assert_eq!(sniffed(OPENAI_ROWS), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, OPENAI_ROWS);
    let ids: Vec<_> = read
        .sessions
        .iter()
        .map(|session| session.id.as_str())
        .collect();
    assert_eq!(ids, ["f/1", "f/3", "f/3-2"]);
    assert_eq!(read.sessions[0].end.other_records["instance_id"], 1);
    assert_eq!(read.sessions[0].steps[1].settings["tools"], "[]");
    let last = &read.sessions[2].steps[0];
    assert_eq!(
        record(OPENAI_ROWS, last),
        r#"{"role":"user","content":"d"}"#
    );
    let problems: Vec<_> = read.problems.iter().map(|p| (p.line, p.harmless)).collect();
    assert_eq!(problems, [(2, false), (4, true)]);

    assert_eq!(sniffed(ANTHROPIC_ROWS), Some(&anthropic::ANTHROPIC));
    let read = import(&anthropic::ANTHROPIC, ANTHROPIC_ROWS);
    assert_eq!(read.problems, []);
    assert_eq!(read.sessions.len(), 2);
    assert_eq!(read.sessions[0].steps.len(), 2);
    assert_eq!(record(ANTHROPIC_ROWS, &read.sessions[0].steps[0]), "\"S\"");
}

#[test]
fn runs_are_sessions_of_their_own() {
    assert_eq!(sniffed(RUNS), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, RUNS);
    let found: Vec<_> = read
        .sessions
        .iter()
        .map(|session| (session.id.as_str(), session.steps.len()))
        .collect();
    assert_eq!(found, [("f/task-3-trial-0", 1), ("f/task-3-trial-1", 2)]);
    assert_eq!(read.sessions[0].end.other_records["reward"], 1);
}

#[test]
fn responses_are_replies() {
    let body =
        br#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"refusal":"no"}},
        {"index":1,"message":{"role":"assistant","content":"b"}}],"created":1700000000,
        "model":"m","usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    assert_eq!(sniffed(body), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, body);
    assert_eq!(read.problems, []);
    let session = &read.sessions[0];
    assert_eq!(session.branches, ["choice-2"]);
    let step = &session.steps[0];
    assert_eq!(step.time.map(|time| time.0), Some(1_700_000_000_000));
    assert_eq!(step.settings["model"], "\"m\"");
    let usage = |input_tokens, output_tokens| Some(Usage::new(input_tokens, output_tokens));
    assert_eq!(step.usage, usage(7, 2));
    assert!(matches!(&message(step).parts[0], Part::Opaque { data, .. } if data.contains("no")));

    let body =
        br#"{"content":[{"type":"text","text":"a"}],"id":"msg_1","model":"m","role":"assistant",
        "type":"message","usage":{"input_tokens":1,"cache_creation_input_tokens":10,
        "cache_read_input_tokens":100,"output_tokens":5}}"#;
    assert_eq!(sniffed(body), Some(&anthropic::ANTHROPIC));
    let read = import(&anthropic::ANTHROPIC, body);
    let step = &read.sessions[0].steps[0];
    assert_eq!(step.usage, usage(111, 5).map(|it| it.cached(100, 10)));
    let out = outgoing(body, &read.sessions[0], true);
    let (text, _) = export(&anthropic::ANTHROPIC, &out, Settings::new());
    let want = r#"{"messages":[{"role":"assistant","content":[{"type":"text","text":"a"}]}]}"#;
    assert_eq!(json(&text), json(want));
}

#[test]
fn a_cut_document_gives_what_stands_before_the_cut() {
    let cut = &OPENAI[..600];
    assert_eq!(sniffed(cut), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, cut);
    assert!(!read.sessions[0].steps.is_empty());
    assert_eq!(read.problems.len(), 1);
    assert!(!read.problems[0].harmless);
}

#[test]
fn invalid_utf8_is_reported_and_the_message_kept() {
    let bytes =
        b"[{\"role\":\"user\",\"content\":\"a\xffb\"},\n{\"role\":\"user\",\"content\":\"c\"}]";
    assert_eq!(sniffed(bytes), Some(&openai::OPENAI));
    let read = import(&openai::OPENAI, bytes);
    let steps = &read.sessions[0].steps;
    assert_eq!(message(&steps[0]).parts, [Part::text("a\u{fffd}b")]);
    assert_eq!(
        record(&bytes[..], &steps[1]),
        r#"{"role":"user","content":"c"}"#
    );
    assert_eq!(read.problems.len(), 1);
}

#[test]
fn what_is_no_chat_is_none() {
    for text in [
        "",
        " \n",
        "[]",
        "{}",
        "hello",
        "# aider\n",
        r#"[{"ts":1,"type":"say","say":"text","text":"a"}]"#,
        r#"{"type":"session","cwd":"/"}"#,
        r#"{"a":[1,2]}"#,
        "SQLite format 3\0",
    ] {
        assert_eq!(sniffed(text.as_bytes()), None, "{text}");
    }
    let plain = br#"[{"role":"user","content":"a"}]"#;
    assert_eq!(sniffed(plain), Some(&openai::OPENAI));
    let claude = b"{\"type\":\"x\"}\nbroken\n{\"parentUuid\":null,\"type\":\"user\"}\n";
    assert_eq!(sniffed(claude), Some(&claude_code::CLAUDE_CODE));
    let spoilt = b"oken\"}]}\n{\"type\":\"response_item\",\"payload\":{}}\n";
    assert_eq!(sniffed(spoilt), Some(&codex::CODEX));
}

#[test]
fn untouched_messages_go_back_as_they_were() {
    for (format, bytes) in [
        (&openai::OPENAI, OPENAI),
        (&anthropic::ANTHROPIC, ANTHROPIC),
    ] {
        let read = import(format, bytes);
        let session = &read.sessions[0];
        let settings = session.steps.last().expect("steps").settings.clone();
        let (text, _) = export(format, &outgoing(bytes, session, true), settings);
        let mended = String::from_utf8_lossy(bytes).replace("\\ud83d", "\\ufffd");
        let text = text.replace("\\ud83d", "\\ufffd");
        let (mut want, got) = (json(&mended), json(&text));
        let list = want["messages"].as_array_mut().expect("messages");
        list.retain(|item| item.is_object() && item["role"] != "oracle");
        assert_eq!(got, want);
        assert!(text.contains("12345678901234567890"));
    }
}

#[test]
fn messages_made_anew_mean_the_same() {
    for (format, bytes) in [
        (&openai::OPENAI, OPENAI),
        (&anthropic::ANTHROPIC, ANTHROPIC),
    ] {
        let read = import(format, bytes);
        let session = &read.sessions[0];
        let (text, remarks) = export(format, &outgoing(bytes, session, false), Settings::new());
        assert_eq!(remarks, Vec::<String>::new());
        let again = import(format, text.as_bytes());
        let messages = |session: &Session| -> Vec<Message> {
            session
                .steps
                .iter()
                .map(|step| message(step).clone())
                .collect()
        };
        assert_eq!(messages(&again.sessions[0]), messages(session), "{text}");
    }
}

#[test]
fn what_the_other_format_cannot_hold_is_remarked() {
    let read = import(&openai::OPENAI, OPENAI);
    let mut out = outgoing(OPENAI, &read.sessions[0], false);
    out.push(out[0].clone());
    let (text, remarks) = export(&anthropic::ANTHROPIC, &out, Settings::new());
    let value = json(&text);
    assert_eq!(value["system"], "Be brief.");
    let list = value["messages"].as_array().expect("messages");
    assert_eq!(
        list[2]["content"].as_array().map(Vec::len),
        Some(2),
        "merged"
    );
    assert_eq!(list[1]["content"][1]["input"]["_raw"], "ls -l");
    assert!(remarks.iter().any(|r| r.contains("_raw")), "{remarks:?}");
    let system = "later system message";
    assert!(remarks.iter().any(|r| r.contains(system)), "{remarks:?}");

    let read = import(&anthropic::ANTHROPIC, ANTHROPIC);
    let out = outgoing(ANTHROPIC, &read.sessions[0], false);
    let (text, remarks) = export(&openai::OPENAI, &out, Settings::new());
    let value = json(&text);
    assert_eq!(value["messages"][3]["role"], "tool");
    assert_eq!(value["messages"][4]["tool_call_id"], "t2");
    assert!(
        remarks.iter().any(|r| r.contains("thinking")),
        "{remarks:?}"
    );
}

#[test]
fn what_its_provider_refuses_is_not_written_anew() {
    let picture = |media_type: &str| {
        Part::Image(Media {
            media_type: Some(media_type.into()),
            name: None,
            detail: None,
            source: MediaSource::Base64("AAAA".into()),
        })
    };
    let thinking = |signature: Option<&str>| Part::Thinking {
        text: "hm".into(),
        signature: signature.map(str::to_owned),
        provider: Some("anthropic".into()),
    };
    let result = Part::ToolResult {
        call: "c".into(),
        content: vec![picture("image/png")],
        is_error: true,
    };
    let said = [
        (Role::User, vec![picture("image/bmp"), picture("image/png")]),
        (
            Role::Assistant,
            vec![thinking(None), thinking(Some("")), Part::text("Yes.")],
        ),
        (Role::Assistant, vec![thinking(None)]),
        (Role::Tool, vec![result]),
    ];
    let out = said.map(|(role, parts)| fresh(role, parts));
    let (text, remarks) = export(&anthropic::ANTHROPIC, &out, Settings::new());
    let want = r#"{"messages":[
        {"role":"user","content":[{"type":"text","text":"[image]"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
        {"role":"assistant","content":[{"type":"text","text":"Yes."}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"[image]",
            "is_error":true}]}]}"#;
    assert_eq!(json(&text), json(want));
    let media = "images or files that the provider does not take there named in their place";
    let thinking = "thinking parts that the provider would refuse left out";
    let told = [
        format!("3 {thinking} (first: message 2)"),
        format!("2 {media} (first: message 1)"),
    ];
    assert_eq!(remarks, told);

    let (text, _) = export(&openai::OPENAI, &out, Settings::new());
    let want = r#"{"messages":[
        {"role":"user","content":[{"type":"text","text":"[image]"},
            {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
        {"role":"assistant","content":"Yes."},
        {"role":"tool","tool_call_id":"c","content":"[image]"}]}"#;
    assert_eq!(json(&text), json(want));
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn every_real_file_is_recognised() {
    let folder = crate::conditions::real_sessions();
    let mut found = Vec::new();
    files(&folder, &mut found);
    let mut wrong = Vec::new();
    for path in found {
        let name = path
            .strip_prefix(&folder)
            .expect("inside")
            .to_string_lossy()
            .into_owned();
        let lines = name.ends_with(".jsonl");
        let want = match name.split('/').next() {
            Some("claude-code") if lines => Some(&claude_code::CLAUDE_CODE),
            Some("codex") if lines => Some(&codex::CODEX),
            Some("openai-chat" | "openai-finetune") => Some(&openai::OPENAI),
            // A bare list of messages with a system prompt is OpenAI's, whoever wrote it.
            Some("swe-agent") if name.ends_with("mini-github_issue.traj.json") => {
                Some(&openai::OPENAI)
            }
            Some("anthropic-messages") => Some(&anthropic::ANTHROPIC),
            Some("roo-cline") if name.ends_with("api_conversation_history.json") => Some(&roo::ROO),
            Some("gemini-cli") => Some(&gemini::GEMINI),
            Some("qwen") => Some(&qwen::QWEN),
            Some("copilot-cli") if lines => Some(&copilot_cli::COPILOT_CLI),
            Some("pi") if lines => Some(&pi::PI),
            Some("vscode-chat") if !name.ends_with(".chatreplay.json") => {
                Some(&vscode_chat::VSCODE_CHAT)
            }
            Some("openhands") => Some(&openhands_run::OPENHANDS_RUN),
            Some("continue") => Some(&continue_dev::CONTINUE),
            Some("chatgpt-export") => Some(&chatgpt::CHATGPT),
            Some("droid") => Some(&droid::DROID),
            Some("swe-agent") if name.ends_with(".traj") => Some(&swe_agent::SWE_AGENT),
            Some("atif") => Some(&atif::ATIF),
            Some("kimi") => Some(&kimi::KIMI),
            Some("aider") => Some(&aider::AIDER),
            Some("kiro") => Some(&kiro::KIRO),
            Some("cursor") if name.ends_with(".txt") => Some(&cursor::CURSOR_TEXT),
            Some("cursor") if lines => Some(&cursor::CURSOR),
            // Its own storage is rows, or many small files: only together are they a session.
            Some("opencode") if name.matches('/').count() == 1 && name.ends_with(".json") => {
                Some(&opencode::OPENCODE)
            }
            _ => None,
        };
        let bytes = std::fs::read(&path).expect("the file can be read");
        let got = sniffed(&bytes);
        if got != want {
            wrong.push(format!("{name}: {got:?} instead of {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_only_looks_like_a_known_format_is_not_taken_for_it() {
    // Amp: Anthropic's blocks, but for the results.
    let result = r#"{"role":"user","content":[{"type":"tool_result","toolUseID":"t","run":{}}]}"#;
    let think = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}"#;
    for amp in [
        format!(r#"{{"v":4,"id":"T-1","messages":[{result}]}}"#),
        format!(r#"{{"v":4,"id":"T-1","messages":[{think}],"nextMessageId":1}}"#),
    ] {
        assert_eq!(sniffed(amp.as_bytes()), Some(&amp::AMP));
    }
    assert_eq!(sniffed(format!("[{result}]").as_bytes()), None);
    // What its messages say stands where no reader of these formats looks.
    let ui = r#"{"id":"m","role":"assistant","parts":[{"type":"tool-bash","toolCallId":"c","state":"input-available"}]}"#;
    let content = r#"{"role":"user","parts":[{"text":"Hello."}]}"#;
    for text in [
        format!("[{ui}]"),
        format!("{ui}\n{ui}\n"),
        format!(r#"{{"messages":[{ui}]}}"#),
        format!("{{\"messages\":[{ui}]}}\n{{\"messages\":[{ui}]}}\n"),
        format!(r#"{{"system":"s","messages":[{ui}]}}"#),
        format!(r#"{{"model":"m","stream":true,"messages":[{ui}],"tools":[]}}"#),
    ] {
        assert_eq!(
            sniffed(text.as_bytes()),
            Some(&ui_message::UI_MESSAGE),
            "{text}"
        );
    }
    let gemini_name = Some("a Gemini request");
    for (text, name) in [
        (format!("[{content}]"), gemini_name),
        (format!(r#"{{"contents":[{content}]}}"#), gemini_name),
        (
            r#"{"system":{"title":"Title"},"messages":{"hello":"Hello"}}"#.to_owned(),
            None,
        ),
        (r#"{"system":"s","messages":["hello"]}"#.to_owned(), None),
        (
            r#"{"system":{"title":"Title"},"messages":[]}"#.to_owned(),
            None,
        ),
        (r#"{"choices":[{"text":"Hello"}]}"#.to_owned(), None),
        (r#"[{"role":"user"},{"role":"assistant"}]"#.to_owned(), None),
    ] {
        assert_eq!(sniffed(text.as_bytes()), None, "{text}");
        assert_eq!(called(&text.as_bytes()).expect("read"), name, "{text}");
    }
    // Where it is said in their content too, that is read.
    let both = r#"[{"role":"user","content":"a","parts":[{"type":"text","text":"a"}]}]"#;
    assert_eq!(sniffed(both.as_bytes()), Some(&openai::OPENAI));
}

#[test]
fn a_message_that_says_nothing_in_any_place_that_is_read_is_refused() {
    let said = r#"{"role":"user","content":"a"}"#;
    for format in [&openai::OPENAI, &anthropic::ANTHROPIC] {
        let text = format!(
            r#"[{said},{{"role":"assistant","parts":[]}},{{"role":"assistant","content":null}}]"#
        );
        let told = import(format, text.as_bytes());
        assert_eq!(told.sessions[0].steps.len(), 2, "{format}");
        let reasons: Vec<&str> = told.problems.iter().map(|it| &*it.reason).collect();
        assert_eq!(reasons, ["a message without content"], "{format}");
    }
}

/// The messages of a document, found in another way: as a tree of values.
fn expected(value: &Value) -> Vec<Vec<Value>> {
    if let Some(list) = value.as_array() {
        if list.iter().any(|entry| entry.get("traj").is_some()) {
            let run = |entry: &Value| entry["traj"].as_array().expect("a run").clone();
            return list.iter().map(run).collect();
        }
        return vec![list.clone()];
    }
    if let Some(choices) = value.get("choices") {
        return vec![vec![choices[0]["message"].clone()]];
    }
    if value["type"] == "message" {
        return vec![vec![value.clone()]];
    }
    let system = value.get("system").filter(|system| *system != "").cloned();
    let list = value["messages"].as_array().expect("messages");
    vec![system.into_iter().chain(list.iter().cloned()).collect()]
}

#[test]
#[ignore = "needs TRACT_REAL_SESSIONS"]
fn real_sessions_have_all_their_messages_and_go_back() {
    let folder = crate::conditions::real_sessions();
    for (name, format) in [
        ("openai-chat", &openai::OPENAI),
        ("openai-finetune", &openai::OPENAI),
        ("anthropic-messages", &anthropic::ANTHROPIC),
    ] {
        let mut found = Vec::new();
        files(&folder.join(name), &mut found);
        assert!(!found.is_empty());
        for path in found {
            let bytes = std::fs::read(&path).expect("the file can be read");
            let text = std::str::from_utf8(&bytes).expect("UTF-8");
            let want: Vec<Vec<Value>> = match serde_json::from_str::<Value>(text) {
                Ok(value) => expected(&value),
                Err(_) => text
                    .lines()
                    .flat_map(|line| expected(&json(line)))
                    .collect(),
            };
            let read = import(format, &bytes);
            assert_eq!(read.problems, [], "{path:?}");
            assert_eq!(read.sessions.len(), want.len(), "{path:?}");
            for (session, want) in read.sessions.iter().zip(want) {
                let records = session.steps.iter().map(|step| json(record(&bytes, step)));
                assert!(records.eq(want.iter().cloned()), "{path:?} {}", session.id);
                let out = outgoing(&bytes, session, true);
                let (text, _) = export(format, &out, Settings::new());
                let value = json(&text);
                let system = value.get("system").cloned().into_iter();
                let list = value["messages"]
                    .as_array()
                    .expect("messages")
                    .iter()
                    .cloned();
                let got: Vec<Value> = system.chain(list).collect();
                if want[0]["type"] == "message" {
                    assert_eq!(got[0]["content"], want[0]["content"]);
                } else {
                    assert_eq!(got, want, "{path:?} {}", session.id);
                }
                let anew = outgoing(&bytes, session, false);
                let (text, remarks) = export(format, &anew, Settings::new());
                assert!(remarks.is_empty(), "{path:?}: {remarks:?}");
                let again = import(format, text.as_bytes());
                let both = again.sessions[0].steps.iter().zip(&session.steps);
                for (again, first) in both {
                    assert_eq!(message(again), message(first), "{path:?}");
                }
                assert_eq!(again.sessions[0].steps.len(), session.steps.len());
            }
        }
    }
}
