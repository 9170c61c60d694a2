#!/usr/bin/env bash
# cline 3.0.65: the request that asks for the summary of a compaction is paid for like any other, and counted nowhere: neither in
# the session's messages, nor in `metadata.usage` of its manifest, nor in `aggregateUsage`.
# Expected: what the session says it used is what its requests used. Exit status 1 if it is.
# Seen (29 November 2026): asked of the provider 8 times, 8000 input tokens; the session says 7000, its messages 7000
set -euo pipefail
W=$(mktemp -d); SRV=; trap 'kill $SRV 2>/dev/null || true; rm -rf "$W"' EXIT
mkdir -p "$W/home" "$W/p"
cat > "$W/server.py" <<'PY'
# A canned OpenAI-style chat server: keeps each request as LOG/NN.json, answers what reply() says.
import json, sys, threading, pathlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
log = pathlib.Path(sys.argv[1]); log.mkdir(); lock = threading.Lock(); count = [0]
def reply(body, n):
    if not body.get("tools"): return "CANNED SUMMARY.", []
    last = str([m for m in body["messages"] if m["role"] == "user"][-1]["content"])
    since = len(body["messages"]) - 1 - [i for i, m in enumerate(body["messages"]) if m["role"] == "user"][-1]
    return ("I look.", [("run_commands", {"commands": ["cat note.txt"]})]) if "Look" in last and since < 8 else ("Canned.", [])
def usage_of(body, n):
    return {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010}
class H(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def send(self, kind, data):
        self.send_response(200); self.send_header("content-type", kind); self.send_header("content-length", str(len(data))); self.end_headers()
        self.wfile.write(data)
    def do_GET(self):
        self.send("application/json", json.dumps({"object": "list", "data": [{"id": "canned", "object": "model"}]}).encode())
    def do_POST(self):
        if "chunked" in (self.headers.get("transfer-encoding") or ""):
            raw = b""
            while size := int(self.rfile.readline(), 16): raw += self.rfile.read(size); self.rfile.readline()
        else: raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        body = json.loads(raw or b"{}")
        if "messages" not in body: return self.send("application/json", b"{}")
        with lock: count[0] += 1; n = count[0]
        text, calls = reply(body, n)
        (log / f"{n:02d}.json").write_text(json.dumps(body, indent=1))
        head = {"id": f"c{n}", "created": 1, "model": "canned"}
        calls = [{"index": i, "id": f"call_{n}_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}} for i, (name, args) in enumerate(calls)]
        end, usage = "tool_calls" if calls else "stop", usage_of(body, n)
        if not body.get("stream"):
            message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
            return self.send("application/json", json.dumps({**head, "object": "chat.completion", "usage": usage, "choices": [{"index": 0, "finish_reason": end, "message": message}]}).encode())
        lines = [{"role": "assistant", "content": text}, *({"tool_calls": [call]} for call in calls)]
        chunks = [{**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in lines]
        chunks.append({**head, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
        chunks.append({**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.send("text/event-stream", b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in chunks) + b"data: [DONE]\n\n")
server = ThreadingHTTPServer(("127.0.0.1", 0), H); server.daemon_threads = True
print(server.server_address[1], flush=True); server.serve_forever()
PY
python3 "$W/server.py" "$W/log" > "$W/port" & SRV=$!
until [ -s "$W/port" ]; do sleep 0.1; done
U=http://127.0.0.1:$(cat "$W/port")
cat > "$W/keys.py" <<'PY'
# Types into a program on a terminal of its own: STEP... -- COMMAND; a number waits so many seconds, ENTER, anything else is typed.
import os, pty, select, signal, struct, sys, time, fcntl, termios
at = sys.argv.index("--"); steps, command = sys.argv[1:at], sys.argv[at + 1:]
pid, fd = pty.fork()
if pid == 0: os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 150, 0, 0))
def read(seconds):
    end = time.time() + seconds
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try: data = os.read(fd, 65536)
            except OSError: return
            for ask, answer in ((b"\x1b[6n", b"\x1b[1;1R"), (b"\x1b[c", b"\x1b[?62;22c"), (b"\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x07")):
                if ask in data: os.write(fd, answer)
for step in steps:
    try:
        if step.replace(".", "").isdigit(): read(float(step))
        else: os.write(fd, b"\r" if step == "ENTER" else step.encode()); read(1.2)
    except OSError: break
try: os.kill(pid, signal.SIGTERM); read(2); os.kill(pid, signal.SIGKILL)
except ProcessLookupError: pass
PY
npm install --silent --no-audit --no-fund --prefix "$W/n" cline@3.0.65 >/dev/null
cd "$W/p"; git init -q; echo FINDING-4711 > note.txt
run() { env -i HOME="$W/home" PATH="$W/n/node_modules/.bin:$PATH" TERM=xterm-256color CLINE_TELEMETRY_DISABLED=1 "$@"; }
run cline --version
run timeout 60 cline auth -p openai-compatible -k k -m canned -b "$U/v1" >/dev/null 2>&1 </dev/null
run timeout 90 cline 'Look at the note, several times.' >/dev/null 2>&1 </dev/null
S=$(ls "$W/home/.cline/data/sessions" | head -n 1)
run timeout 90 python3 "$W/keys.py" 10 'One.' ENTER 6 'Two.' ENTER 6 /compact ENTER 10 -- cline --id "$S" -i
python3 - "$W" <<'PY'
import json, pathlib, sys
w = pathlib.Path(sys.argv[1])
asked = len(list((w / "log").glob("*.json")))
folder = next(w.glob("home/.cline/data/sessions/*"))
manifest = json.loads((folder / f"{folder.name}.json").read_text())["metadata"]
messages = json.loads((folder / f"{folder.name}.messages.json").read_text())["messages"]
if not (folder / f"{folder.name}.compaction.json").exists(): sys.exit("no compaction was made")
paid, said = 1000 * asked, manifest["aggregateUsage"]["inputTokens"]
own = sum(m.get("metrics", {}).get("inputTokens", 0) for m in messages)
print(f"asked of the provider {asked} times, {paid} input tokens; the session says {said}, its messages {own}")
sys.exit(not said < paid)
PY
