#!/usr/bin/env bash
# @anthropic-ai/claude-code 2.1.332: once ~/.claude has been copied without its files' times, --rewind-files leaves
# edited files as they are, and says that it has rewound them.
#
# Expected: a file is put back if it has other content than its checkpoint, or the client says that it was not.
# Seen: of two files that the client's own Edit tool changed, the one whose edit left the length as it was ("one" to "two")
# stays edited; the other ("one" to "three") comes back. "Files rewound to state at message ...", exit status 0. With the
# same folder copied by cp -a both come back. A checkpoint whose file is younger than the edited one, and as long, counts as
# equal to it: so it is after cp -r, a copy to another computer, or a restored backup.
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
b, c = project / "b.txt", project / "c.txt"
project.mkdir()


class Provider(BaseHTTPRequestHandler):
    """Does what a prompt says: its line `Calls: [[TOOL, INPUT], ...]`, one call a reply."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
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


def run(home, *arguments):
    home.mkdir(exist_ok=True)
    settings = {"HOME": str(home), "PATH": os.environ["PATH"], "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
                "ANTHROPIC_API_KEY": "sk-ant-dummy", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}
    done = subprocess.run([claude, *arguments], cwd=project, env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return done.returncode, (done.stdout or done.stderr).strip()


def prompt(words, calls, *which):
    code, said = run(folder / "home", *which, "--permission-mode", "acceptEdits", "-p", f"{words}\nCalls: {json.dumps(calls)}")
    if code:
        sys.exit(f"the client failed: {said}")


def contents():
    return b.read_text().strip(), c.read_text().strip()


def edit(path, new):
    return [["Read", {"file_path": str(path)}], ["Edit", {"file_path": str(path), "old_string": "one", "new_string": new}]]


def rewound(how):
    home = folder / f"home{how}"
    subprocess.run(["cp", how, str(folder / "home"), str(home)], check=True)
    code, said = run(home, "--resume", session, "--rewind-files", message, "-p")
    print(f"HOME copied by cp {how}, then --rewind-files: exit status {code}, {said!r}")
    print("  the two files:", *contents())
    return code == 0 and said.startswith("Files rewound"), contents()


print("claude-code", run(folder / "home", "--version")[1])
prompt("First.", [["Write", {"file_path": str(path), "content": "one\n"}] for path in (b, c)], "--session-id", session)
written = contents()
prompt("Second.", edit(b, "two") + edit(c, "three"), "--resume", session)
edited = contents()
print("the two files as written:", *written)
print("as edited:               ", *edited)
file = next((folder / "home" / ".claude" / "projects").glob(f"*/{session}.jsonl"))
records = [json.loads(line) for line in file.read_text().split("\n") if line]
message = next(r["uuid"] for r in records if r["type"] == "user" and "Second." in json.dumps(r["message"]))
without, kept = rewound("-r"), rewound("-a")
made = (written, edited) == (("one", "one"), ("two", "three"))
sys.exit(0 if made and without == (True, ("two", "one")) and kept == (True, ("one", "one")) else 1)
PYTHON
