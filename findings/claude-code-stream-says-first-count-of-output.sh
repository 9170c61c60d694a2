#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: the usage of an assistant line of `--output-format stream-json` is the count from before
# the reply was written.
#
# Expected: the line of a whole reply has the reply's usage, as the record of the same uuid in the session's file does.
# Seen: the provider says 1 token of output in message_start and 50 in message_delta. The line in the stream says 1, the
# record of the same reply in the file says 50. Only `result` has the sum of the turn; which reply took what of it is in no line
# unless --include-partial-messages is given. Who adds up the lines' usage finds hardly any output.
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
    """A call of a tool first, then a text; each reply has 50 tokens of output."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path or not asked.get("stream"):
            return self.send("application/json", json.dumps({"input_tokens": 100}))
        answered.append(asked)
        is_first = len(answered) == 1
        if is_first:
            block = {"type": "tool_use", "id": "toolu_00000001", "name": "Bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": "echo mill", "description": "Says it"})}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}
        usage = {"input_tokens": 100, "output_tokens": 1}
        reply = {"id": f"msg_{len(answered):08d}", "type": "message", "role": "assistant", "model": asked.get("model"),
                 "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = {"stop_reason": "tool_use" if is_first else "end_turn", "stop_sequence": None}
        events = [{"type": "message_start", "message": reply}, {"type": "content_block_start", "index": 0, "content_block": block},
                  {"type": "content_block_delta", "index": 0, "delta": delta}, {"type": "content_block_stop", "index": 0},
                  {"type": "message_delta", "delta": stop, "usage": {**usage, "output_tokens": 50}}, {"type": "message_stop"}]
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
environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "IS_SANDBOX": "1", "ANTHROPIC_API_KEY": "sk-ant-x",
               "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}", "DISABLE_TELEMETRY": "1",
               "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
done = subprocess.run([claude, "-p", "--dangerously-skip-permissions", "--verbose", "--output-format", "stream-json", "Say mill."],
                      cwd=project, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
if done.returncode:
    raise SystemExit(f"claude did not run: {(done.stderr or done.stdout)[:300]}")
lines = [json.loads(line) for line in done.stdout.splitlines()]
result = lines[-1]
[file] = (folder / ".claude" / "projects").rglob(f"{result['session_id']}.jsonl")


def outputs(records):
    return {it["message"]["id"]: it["message"]["usage"]["output_tokens"] for it in records if it["type"] == "assistant"}


streamed, kept = outputs(lines), outputs(json.loads(line) for line in file.read_text().splitlines())
for reply, output in streamed.items():
    print(f"{reply}: {output} token(s) of output by the stream's line, {kept.get(reply)} by the session's file")
print(f"the result of the turn: {result['usage']['output_tokens']} of output")
sys.exit(0 if len(streamed) == 2 and set(streamed.values()) == {1} and set(kept.values()) == {50} else 1)
PYTHON
