#!/usr/bin/env bash
# google-genai 3.6.1: a chat forgets a prompt and its answer, where the stream's last chunk says only why it ended.
#
# The same words are streamed twice. Once the last word's chunk has the finishReason; once a chunk of its own has it, without content, which
# is optional in a candidate. The program is given the same text each time.
# Expected: the next request of the chat has the first prompt and its answer both times.
# Seen: the second time it has the new prompt alone. chat.get_history() shows all of it; only get_history(curated=True) does not.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check google-genai==3.6.1
"$folder/env/bin/python" - <<'PYTHON'
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

from google import genai

print("google-genai", version("google-genai"))


def words(text, **more):
    return {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": text}]}, **more}]}


usage = {"promptTokenCount": 5, "candidatesTokenCount": 4, "totalTokenCount": 9}
STREAMS = {
    "with the last word": [words("It is "), words("Bern.", finishReason="STOP") | {"usageMetadata": usage}],
    "in a chunk of its own": [words("It is "), words("Bern."), {"candidates": [{"index": 0, "finishReason": "STOP"}], "usageMetadata": usage}],
}
requests = []


class Canned(BaseHTTPRequestHandler):
    """Answers each request with the stream that is due."""

    def log_message(self, *args):
        pass

    def do_POST(self):
        requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        data = "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in STREAMS[due]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = ThreadingHTTPServer(("127.0.0.1", 0), Canned)
threading.Thread(target=server.serve_forever, daemon=True).start()
options = {"base_url": f"http://127.0.0.1:{server.server_address[1]}"}
client = genai.Client(api_key="none", vertexai=False, http_options=options)
sent = {}
for due in STREAMS:
    chat = client.chats.create(model="gemini-2.5-flash")
    told = ["".join(chunk.text or "" for chunk in chat.send_message_stream(prompt)) for prompt in ("What is the capital?", "And its river?")]
    assert told == ["It is Bern."] * 2, told
    sent[due] = [f'{one["role"]}: {"".join(part["text"] for part in one["parts"])}' for one in requests[-1]["contents"]]
    print(f"finishReason {due}:")
    print("  the program is given:", told[0])
    print("  the second request:  ", sent[due])
    print("  get_history():       ", len(chat.get_history()), "contents, curated:", len(chat.get_history(curated=True)))
whole, bare = sent.values()
sys.exit(0 if "user: What is the capital?" in whole and bare == ["user: And its river?"] else 1)
PYTHON
