#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: the file of a fork sub-agent holds nothing of the conversation that the fork was given,
# and its first reply is a copy of one that another file holds.
#
# Expected: as with every other sub-agent, the file in SESSION/subagents/ begins with what the agent was first asked, and
# each reply in it was made for it.
# Seen: an agent of the type "fork" (CLAUDE_CODE_FORK_SUBAGENT=1) is sent the whole conversation of its parent, up to the
# prompt that started it. Its file has none of those messages: its first record, fork-context-ref, names the parent's session
# and the last record there. The first assistant record is the parent's own call of the fork, with the parent's id of the
# reply and its usage: who adds up usage by file counts the input of that reply twice.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder/npm" --no-audit --no-fund --loglevel=error @anthropic-ai/claude-code@2.1.332 >"$folder/npm.log"
python3 - "$folder" <<'PYTHON'
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = pathlib.Path(sys.argv[1]).resolve()
claude = folder / "npm" / "node_modules" / ".bin" / "claude"
project, session = folder / "project", "00000000-0000-4000-8000-000000000001"
project.mkdir()
requests = []


class Provider(BaseHTTPRequestHandler):
    """Does what a prompt says: its line `Calls: [[TOOL, INPUT], ...]`, one call a reply."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        requests.append(asked)
        calls, done = [], 0
        for message in asked.get("messages", []):
            parts = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
            for part in parts:
                done += part["type"] == "tool_result"
                if part["type"] == "text" and (found := re.search(r"^Calls: (.*)$", part["text"], re.M)):
                    calls, done = json.loads(found[1]), 0
        if done < len(calls) and asked.get("tools"):
            name, given = calls[done]
            block = {"type": "tool_use", "id": f"toolu_{len(asked['messages']):08d}", "name": name, "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(given)}, "tool_use"
        else:
            block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        usage = {"input_tokens": 100, "output_tokens": 10}
        reply = {"id": f"msg_{len(asked.get('messages', [])):08d}", "type": "message", "role": "assistant", "model": asked.get("model"),
                 "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events = [{"type": "message_start", "message": reply}, {"type": "content_block_start", "index": 0, "content_block": block},
                  {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}, {"type": "message_stop"}]
        if asked.get("stream"):
            kind, body = "text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
        else:
            kind, body = "application/json", json.dumps({**reply, "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"})
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()


def run(*arguments):
    home = folder / "home"
    home.mkdir(exist_ok=True)
    settings = {"HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
                "ANTHROPIC_API_KEY": "sk-ant-dummy", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_FORK_SUBAGENT": "1"}
    done = subprocess.run([claude, *arguments], cwd=project, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"the client failed: {(done.stdout or done.stderr).strip()}")
    return done.stdout.strip()


def records(path):
    return [json.loads(line) for line in path.read_text().split("\n") if line]


print("claude-code", run("--version"))
run("--session-id", session, "-p", "The number is 4711.")
fork = {"description": "Looks again", "subagent_type": "fork", "prompt": "Look again.\nCalls: []"}
calls = [["Agent", fork], ["Bash", {"command": "sleep 4", "description": "Waits"}]]
run("--resume", session, "--allowedTools", "Bash", "-p", f"Have it looked at.\nCalls: {json.dumps(calls)}")

file = next((folder / "home" / ".claude" / "projects").glob(f"*/{session}.jsonl"))
own = next(file.with_suffix("").glob("subagents/agent-*.jsonl"))
parents, forks = records(file), records(own)
said = lambda record: json.dumps(record.get("message"))
sent = next(r for r in requests if "<fork-boilerplate>" in json.dumps(r["messages"]))
given = "The number is 4711." in json.dumps(sent["messages"])
kept = any("The number is 4711." in said(record) for record in forks)
named = next(r for r in parents if r.get("uuid") == forks[0].get("parentLastUuid"))
replies = {r["message"]["id"]: r for r in parents if r["type"] == "assistant"}
first = next(r for r in forks if r["type"] == "assistant")
parent = replies.get(first["message"]["id"])
counted = lambda record: {key: record["message"]["usage"][key] for key in ("input_tokens", "output_tokens")}
print("the fork was sent its parent's first prompt:", given)
print("its file has it:", kept)
print("its first record:", forks[0]["type"], "names", named["type"], said(named)[:60])
print("its first reply:", first["message"]["id"], counted(first), "| in the parent's file:", parent and counted(parent))
same = parent and counted(first)["input_tokens"] == counted(parent)["input_tokens"] > 0
sys.exit(0 if given and not kept and forks[0]["type"] == "fork-context-ref" and "Have it looked at." in said(named) and same else 1)
PYTHON
