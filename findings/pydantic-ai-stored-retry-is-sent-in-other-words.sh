#!/usr/bin/env bash
# pydantic-ai-slim 1.107.10 and 2.68.0: one stored history is sent in other words after an upgrade, in messages long past.
#
# Expected: a request repeats the older messages of a history letter by letter, whichever version wrote it: the model reads what it
# read then, and a provider's cache of the prompt holds.
# Seen: the same JSON of a run in which a reply was refused. Version 1 ends the old message with "Fix the errors and try again.",
# version 2 sends another text around the same feedback, and a system message of its own at some place before it. The history
# says nothing of these words.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/history.json" <<'JSON'
[{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "How many sacks?", "timestamp": "2026-01-02T00:00:00Z"}]},
 {"kind": "response", "parts": [{"part_kind": "text", "content": "Some."}], "timestamp": "2026-01-02T00:00:01Z"},
 {"kind": "request", "parts": [{"part_kind": "retry-prompt", "content": "Give a number.", "tool_call_id": "c1",
   "timestamp": "2026-01-02T00:00:02Z"}]},
 {"kind": "response", "parts": [{"part_kind": "text", "content": "Twelve."}], "timestamp": "2026-01-02T00:00:03Z"}]
JSON
cat >"$folder/send.py" <<'PYTHON'
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

sent = []


class Model(BaseHTTPRequestHandler):
    def do_POST(self):
        sent.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Two."}}
        body = {"id": "r", "object": "chat.completion", "created": 1, "model": "gpt-4o", "choices": [choice]}
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
provider = OpenAIProvider(api_key="none", base_url=f"http://127.0.0.1:{server.server_port}/v1")
history = ModelMessagesTypeAdapter.validate_json(Path(sys.argv[1]).read_bytes())
agent = Agent(OpenAIChatModel("gpt-4o", provider=provider))
agent.run_sync("And wheels?", message_history=history)
messages = sent[0]["messages"]
print("pydantic-ai-slim", version("pydantic-ai-slim"), "sends:", file=sys.stderr)
for message in messages:
    print("   ", json.dumps(message), file=sys.stderr)
json.dump(messages, sys.stdout)
PYTHON
for of in 1.107.10 2.68.0; do
    python3 -m venv "$folder/$of"
    "$folder/$of/bin/pip" install -q --disable-pip-version-check "pydantic-ai-slim[openai]==$of"
    "$folder/$of/bin/python" "$folder/send.py" "$folder/history.json" >"$folder/$of.json"
done
python3 - "$folder/1.107.10.json" "$folder/2.68.0.json" <<'PYTHON'
import json
import sys

one, two = (json.load(open(path)) for path in sys.argv[1:])
told = [next(it["content"] for it in sent if "Give a number." in str(it["content"])) for sent in (one, two)]
print("the words around the same feedback are the same:", told[0] == told[1])
print("system messages:", *([it["role"] for it in sent].count("system") for sent in (one, two)))
sys.exit(0 if told[0] != told[1] else 1)
PYTHON
