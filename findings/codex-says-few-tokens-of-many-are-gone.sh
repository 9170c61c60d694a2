#!/usr/bin/env bash
# codex 0.171.0: a long result of an MCP server is cut twice. The first cut leaves a mark of what is gone, in characters; the second one
# cuts that mark out of the middle and puts its own there, which counts the first mark alone. The model reads that 8 tokens are missing
# where 288,000 characters are; the session's file has the first mark.
# Expected: the mark that the model reads says how much is missing. Exit status 1 if it does.
# Seen (30 November 2026): the server gave 300000 characters; the file: 288033 chars truncated; the model reads: 8 tokens truncated
set -euo pipefail
W=$(mktemp -d); SRV=; trap 'kill $SRV 2>/dev/null || true; rm -rf "$W"' EXIT
mkdir -p "$W/home/.codex" "$W/p"
cat > "$W/tool.py" <<'PY'
# An MCP server with one tool, which gives 300,000 characters.
import json, sys
tool = {"name": "long", "description": "Gives a long text.", "inputSchema": {"type": "object", "properties": {}}}
answers = {
    "initialize": lambda p: {"protocolVersion": p.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}},
    "tools/list": lambda p: {"tools": [tool]},
    "tools/call": lambda p: {"content": [{"type": "text", "text": "word " * 60000}]},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        result = answers.get(request["method"], lambda p: {})(request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
PY
cat > "$W/server.py" <<'PY'
# A canned server of the Responses API: calls the tool once, then says a word. Keeps each request as LOG/NN.json.
import json, pathlib, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
log = pathlib.Path(sys.argv[1]); log.mkdir(); lock = threading.Lock(); count = [0]
class H(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def send(self, status, kind, data):
        self.send_response(status); self.send_header("content-type", kind); self.send_header("content-length", str(len(data))); self.end_headers()
        self.wfile.write(data)
    def do_GET(self):
        self.send(426 if self.headers.get("upgrade") else 404, "text/plain", b"no")
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        if "input" not in body: return self.send(200, "application/json", b"{}")
        with lock: count[0] += 1; n = count[0]
        (log / f"{n:02d}.json").write_text(json.dumps(body))
        is_answered = any(item.get("type") == "function_call_output" for item in body["input"])
        item = {"type": "message", "role": "assistant", "id": f"msg_{n}", "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
        if not is_answered:
            item = {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "long", "namespace": "mcp__t", "arguments": "{}", "status": "completed"}
        usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 12}
        response = {"id": f"resp_{n}", "object": "response", "created_at": 1, "model": body.get("model"), "status": "in_progress", "output": []}
        events = [("response.created", {"response": response}), ("response.output_item.added", {"output_index": 0, "item": item}),
                  ("response.output_item.done", {"output_index": 0, "item": item}),
                  ("response.completed", {"response": {**response, "status": "completed", "output": [item], "usage": usage}})]
        data = b"".join(f"event: {name}\ndata: {json.dumps({'type': name, 'sequence_number': at, **more})}\n\n".encode() for at, (name, more) in enumerate(events))
        self.send(200, "text/event-stream", data)
server = ThreadingHTTPServer(("127.0.0.1", 0), H); server.daemon_threads = True
print(server.server_address[1], flush=True); server.serve_forever()
PY
python3 "$W/server.py" "$W/log" > "$W/port" & SRV=$!
until [ -s "$W/port" ]; do sleep 0.1; done
U=http://127.0.0.1:$(cat "$W/port")
cat > "$W/home/.codex/config.toml" <<TOML
model = "gpt-5.1-codex"
model_provider = "custom"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.custom]
name = "custom"
base_url = "$U/v1"
env_key = "CUSTOM_KEY"
wire_api = "responses"
[mcp_servers.t]
command = "$(command -v python3)"
args = ["$W/tool.py"]
TOML
npm install --silent --no-audit --no-fund --prefix "$W/n" @openai/codex@0.171.0 >/dev/null
cd "$W/p"
env -i HOME="$W/home" PATH="$W/n/node_modules/.bin:$PATH" CUSTOM_KEY=k timeout 120 codex exec --skip-git-repo-check "Ask the tool." >/dev/null 2>&1 </dev/null
python3 - "$W" <<'PY'
import json, pathlib, re, sys
w = pathlib.Path(sys.argv[1])
def mark(items):
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    texts = [piece.get("text", "") for output in outputs for piece in (output if isinstance(output, list) else [{"text": output}])]
    marks = re.findall("…([0-9]+) (chars|tokens) truncated…", " ".join(texts))
    if len(marks) != 1: sys.exit(f"not one mark: {marks}")
    return marks[0]
file = next(w.glob("home/.codex/sessions/*/*/*/rollout-*.jsonl"))
records = [json.loads(line) for line in file.read_text().splitlines()]
kept = mark([record["payload"] for record in records if record["type"] == "response_item"])
read = mark(json.loads(sorted((w / "log").glob("*.json"))[-1].read_text())["input"])
print(f"the server gave 300000 characters; the file: {' '.join(kept)} truncated; the model reads: {' '.join(read)} truncated")
is_short = read[1] == "tokens" and int(read[0]) * 100 < int(kept[0])
sys.exit(not is_short)
PY
