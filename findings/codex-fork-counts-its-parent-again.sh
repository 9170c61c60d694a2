#!/usr/bin/env bash
# @openai/codex 0.171.0: `turn.completed` of `codex exec --json` is the sum of all turns of the thread, and of a fork that of its parent, too.
#
# Expected: the event's `usage` is of the turn that is complete, or of the thread that `thread.started` names.
# Seen: three prompts of one request each, 100 tokens of input a request: a thread, the same resumed in another process, and a
# fork of it. The events say 100, 200 and 300. Nothing in the fork's events says that 200 of them are another thread's: who
# adds up the threads counts the parent twice, who adds up the turns counts it more often.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder/npm" --no-audit --no-fund --loglevel=error @openai/codex@0.171.0 >"$folder/npm.log"
python3 - "$folder" <<'PYTHON'
import json
import os
import pathlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = pathlib.Path(sys.argv[1]).resolve()
codex = folder / "npm" / "node_modules" / ".bin" / "codex"
project, home = folder / "project", folder / "codex"
project.mkdir()
home.mkdir()
answered = []


class Provider(BaseHTTPRequestHandler):
    """Answers each request with one text, for 100 tokens of input and 10 of output."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        size = int(self.headers.get("content-length") or 0)
        asked = json.loads(self.rfile.read(size) or b"{}") if size else {}
        if not self.path.endswith("/responses"):
            return self.send(200, "application/json", "{}")
        answered.append(asked)
        number = len(answered)
        item = {"type": "message", "role": "assistant", "id": f"msg_{number}",
                "content": [{"type": "output_text", "text": f"Done {number}.", "annotations": []}]}
        usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 110}
        response = {"id": f"resp_{number}", "object": "response", "created_at": 0, "model": asked.get("model"), "output": []}
        events = [{"type": "response.created", "response": response},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": {**response, "output": [item], "usage": usage}}]
        self.send(200, "text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def do_GET(self):
        # 426: the client gives up its web socket.
        self.send(200 if self.path.split("?")[0].endswith("/models") else 426, "application/json", json.dumps({"models": [], "data": []}))

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body.encode())
        self.close_connection = True

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
threading.Thread(target=server.serve_forever, daemon=True).start()
(home / "config.toml").write_text(f'''model = "gpt-5.1-codex"
approval_policy = "never"
model_provider = "canned"

[model_providers.canned]
name = "canned"
base_url = "http://127.0.0.1:{server.server_port}/v1"
env_key = "CANNED_KEY"
wire_api = "responses"
''')


def run(*arguments):
    """The thread of one prompt, what its last event counts, and how many requests it made."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "CODEX_HOME": str(home), "CANNED_KEY": "x"}
    before = len(answered)
    done = subprocess.run([codex, "exec", "--skip-git-repo-check", *arguments], cwd=project, env=environment, capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"codex did not run: {(done.stderr or done.stdout)[-300:]}")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    thread = next(it["thread_id"] for it in events if it["type"] == "thread.started")
    return thread, events[-1]["usage"]["input_tokens"], len(answered) - before


first = run("--json", "Say done.")
again = run("resume", "--json", first[0], "Say done again.")
fork = run("fork", "--json", first[0], "Say done once more.")
for name, (thread, counted, requests) in (("thread", first), ("resumed", again), ("fork", fork)):
    print(f"{name}: {thread[-8:]}, {requests} request(s) of 100 tokens, turn.completed says {counted}")
is_so = first[0] == again[0] != fork[0] and [it[1] for it in (first, again, fork)] == [100, 200, 300]
sys.exit(0 if is_so else 1)
PYTHON
