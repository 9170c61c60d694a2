#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: the result of a forked session counts what its parent cost.
#
# Expected: `total_cost_usd` and `modelUsage` in the last line of `claude -p --output-format json` are of the process, or of the
# session that it names; so the results of all sessions add up to what all requests cost.
# Seen: with `--resume ID --fork-session` the new session's result begins with the sums of the parent: one request of
# 100 and 10 tokens in each session, and the fork's result says 200 and 20. `usage` is of the fork alone. Who adds up
# `total_cost_usd` by session counts a parent once more for each fork of it.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --prefix "$folder/npm" --no-audit --no-fund --loglevel=error @anthropic-ai/claude-code@2.1.332 >"$folder/npm.log"
python3 - "$folder" <<'PYTHON'
import json
import os
import pathlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

folder = pathlib.Path(sys.argv[1]).resolve()
claude = folder / "npm" / "node_modules" / ".bin" / "claude"
project = folder / "project"
project.mkdir()
answered = []


class Provider(BaseHTTPRequestHandler):
    """Answers each request with one text, for 100 tokens of input and 10 of output."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path or "messages" not in asked:
            return self.send("application/json", json.dumps({"input_tokens": 100}))
        answered.append(asked.get("model"))
        usage = {"input_tokens": 100, "output_tokens": 10}
        reply = {"id": f"msg_{len(answered):08d}", "type": "message", "role": "assistant", "model": asked.get("model"),
                 "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not asked.get("stream"):
            return self.send("application/json", json.dumps({**reply, "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}))
        events = [{"type": "message_start", "message": reply},
                  {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                  {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}},
                  {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
                  {"type": "message_stop"}]
        self.send("text/event-stream", "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events))

    def send(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body.encode())))
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
    """The result of one prompt, and how many requests it made."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "IS_SANDBOX": "1", "ANTHROPIC_API_KEY": "sk-ant-x",
                   "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "DISABLE_TELEMETRY": "1",
                   "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    before = len(answered)
    done = subprocess.run([claude, "-p", "--output-format", "json", *arguments], cwd=project, env=environment, capture_output=True,
                          text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"claude did not run: {(done.stderr or done.stdout)[:300]}")
    return json.loads(done.stdout), len(answered) - before


def told(result):
    """What a result says of all models, and of its turn."""
    models = result["modelUsage"].values()
    return sum(it["inputTokens"] for it in models), sum(it["outputTokens"] for it in models), result["usage"]["input_tokens"]


parent, first = run("Say done.")
fork, second = run("--resume", parent["session_id"], "--fork-session", "Say done again.")
for name, result, requests in (("parent", parent, first), ("fork", fork, second)):
    all_input, all_output, turn = told(result)
    print(f"{name}: session {result['session_id'][:8]}, {requests} request(s) of 100 tokens, modelUsage {all_input} in, "
          f"{all_output} out, usage {turn} in, total_cost_usd {result['total_cost_usd']:.6f}")
requests = first + second
said = told(parent)[0] + told(fork)[0]
print(f"{requests} requests took {100 * requests} tokens; the results of both sessions add up to {said}")
is_so = fork["session_id"] != parent["session_id"] and said > 100 * requests and told(fork)[2] == 100 * second
sys.exit(0 if is_so else 1)
PYTHON
