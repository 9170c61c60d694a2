#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: a session that is resumed after its client was killed is told that a shell in the
# background is stopped. The shell runs on.
#
# Expected: a task whose process is there still is told as running, or as unknown.
# Seen: the client is killed (SIGKILL, as by a closed machine or by the system when memory is short). Its command in the
# background lives on. Going on with --resume puts a notice into the conversation, in the user's name, of the form in which
# ends are told: <status>stopped</status>, with a note that it may have been running when the client exited. The process is
# the same one, and nothing has been asked of it; ps finds it before and after. An agent that reads the status starts it again.
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
import signal
import subprocess
import sys
import threading
import time
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


def start(*arguments):
    home = folder / "home"
    home.mkdir(exist_ok=True)
    settings = {"HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
                "ANTHROPIC_API_KEY": "sk-ant-dummy", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    return subprocess.Popen([claude, *arguments], cwd=project, env=settings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def run(*arguments):
    client = start(*arguments)
    said = client.communicate(timeout=120)[0]
    if client.returncode:
        sys.exit(f"the client failed: {said.strip()}")
    return said.strip()


def processes():
    """The process of the command, if it runs."""
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
    return [int(line.split()[0]) for line in listed if line.split()[1:] == ["sleep", seconds]]


seconds = str(86400 + os.getpid())
print("claude-code", run("--version"))
calls = [["Bash", {"command": f"sleep {seconds}", "description": "Serves", "run_in_background": True}],
         ["Bash", {"command": "read -t 30 < <(sleep 30)", "description": "Waits"}]]
client = start("--session-id", session, "--allowedTools", "Bash", "-p", f"Serve.\nCalls: {json.dumps(calls)}")
until = time.monotonic() + 60
while len([r for r in requests if r.get("tools")]) < 2 and time.monotonic() < until:
    time.sleep(0.2)
time.sleep(2)
before = processes()
os.kill(client.pid, signal.SIGKILL)
client.wait()
try:
    run("--resume", session, "-p", "Does it run?\nCalls: []")
    after = processes()
finally:
    for process in processes():
        os.kill(process, signal.SIGKILL)
texts = json.dumps(requests[-1]["messages"])
notice = re.search(r"<task-notification>.*?</task-notification>", texts)
print("before the kill:", before, "| once resumed:", after)
print("the model is told:", notice and notice[0].replace("\\n", " "))
sys.exit(0 if before and before == after and notice and "<status>stopped</status>" in notice[0] else 1)
PYTHON
