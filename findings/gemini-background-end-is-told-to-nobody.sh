#!/usr/bin/env bash
# @google/gemini-cli 0.61.0: that a command in the background ended is told to nobody. The model is sent "Command moved to background
# (PID: N)", and nothing after it: neither the next request nor the session's file has the end or the exit status, though the client's
# own log of the command has all that it printed. Claude Code, Codex, Copilot, Kimi and Qwen tell both. Who reads the record has to take each such command
# for one that may still run.
# Expected: the request after the end names it, or the session's file does. Exit status 1 if so.
# Seen (30 November 2026): requests after the start: 3; the client's own log: ['wagtail\n']; words of the end in requests: 0, in the session's file: 0
set -euo pipefail
W=$(mktemp -d); SRV=; trap 'kill $SRV 2>/dev/null || true; rm -rf "$W"' EXIT
mkdir -p "$W/home/.gemini" "$W/p" "$W/log"
cat > "$W/server.py" <<'PY'
import json, pathlib, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
log = pathlib.Path(sys.argv[1])
class H(BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        text = json.dumps(body)
        if "tools" in body: (log / f"{len(list(log.iterdir())):02d}.json").write_text(text)
        shell = lambda **args: {"functionCall": {"name": "run_shell_command", "args": args}}
        answers = text.count('"functionResponse"')
        say = {"text": "Canned."}
        if "tools" in body and "HERON" in text:
            say = [shell(command="sleep 2; echo wagtail; exit 3", is_background=True), shell(command="sleep 6"), say, say, say][min(answers, 4)]
        part = {"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [say]}}],
                "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}}
        stream = "stream" in self.path
        data = (b"data: " + json.dumps(part).encode() + b"\n\n") if stream else json.dumps(part).encode()
        self.send_response(200); self.send_header("content-type", "text/event-stream" if stream else "application/json")
        self.send_header("content-length", str(len(data))); self.end_headers(); self.wfile.write(data)
server = ThreadingHTTPServer(("127.0.0.1", 0), H); print(server.server_address[1], flush=True); server.serve_forever()
PY
python3 "$W/server.py" "$W/log" > "$W/port" & SRV=$!
until [ -s "$W/port" ]; do sleep 0.1; done
npm install --silent --no-audit --no-fund --prefix "$W/n" @google/gemini-cli@0.61.0 >/dev/null
echo '{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}' > "$W/home/.gemini/settings.json"
cd "$W/p"; git init -q
run() { env -i HOME="$W/home" PATH="$W/n/node_modules/.bin:$PATH" GEMINI_API_KEY=k GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:$(cat "$W/port")" GEMINI_CLI_TRUST_WORKSPACE=true timeout 120 gemini "$@" </dev/null 2>&1; }
run --version
run -m gemini-2.5-pro --yolo -p 'HERON: start it.' >/dev/null
run -m gemini-2.5-pro --yolo -r latest -p 'Did it end?' >/dev/null
python3 - "$W" <<'PY'
import json, pathlib, re, sys
w = pathlib.Path(sys.argv[1])
bodies = [f.read_text() for f in sorted((w / "log").glob("*.json"))]
began = [b for b in bodies if "moved to background" in b]
files = [f.read_text() for f in w.glob("home/.gemini/tmp/*/chats/*.jsonl")]
own = [f.read_text() for f in w.glob("home/.gemini/tmp/background-processes/*.log")]
pid = re.search(r"PID: (\d+)", began[-1])[1]
def ends(text):
    text = re.sub(r"sleep 2; echo wagtail; exit 3", "", text)
    return len(re.findall(rf"wagtail|exit(?:ed| code| status)[^a-z]{{0,12}}3\b|{pid}[^\"]{{0,40}}(?:ended|exited|finished|completed)", text, re.I))
told, kept = sum(map(ends, bodies)), sum(map(ends, files))
print(f"requests after the start: {len(began)}; the client's own log: {own}; words of the end in requests: {told}, in the session's file: {kept}")
sys.exit(not (len(began) >= 3 and any("wagtail" in o for o in own) and not told and not kept))
PY
