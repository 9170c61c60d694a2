#!/usr/bin/env bash
# ccusage 20.0.24: what the request for a compaction's summary took in a session of pi is in no report, though its entry says it.
#
# pi (@earendil-works/pi-coding-agent 1.6.0) keeps the usage of that request in the compaction's entry, and counts it in its
# own statistics of the session.
#
# Expected: both say the same: 1,000 tokens of input for the reply and 500 for the summary.
# Seen: pi says 1,500, ccusage 1,000.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" node@24.21.0 @earendil-works/pi-coding-agent@1.6.0 \
    @ccusage/ccusage-linux-x64@20.0.24 >/dev/null
ccusage=$folder/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage
chmod +x "$ccusage"
"$ccusage" --version
export HOME=$folder/home PATH=$folder/node_modules/.bin:$PATH PI_OFFLINE=1 ANTHROPIC_API_KEY=none

cat >make.mjs <<'JS'
import { SessionManager } from "@earendil-works/pi-coding-agent";
const session = SessionManager.create("/work", process.argv[2]);
const text = (text) => [{ type: "text", text }];
const usage = (input) => ({ input, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } });
const prompt = session.appendMessage({ role: "user", content: text("Name a river."), timestamp: Date.now() });
session.appendMessage({
  role: "assistant", content: text("The Aare."), api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5",
  usage: usage(1000), stopReason: "stop", timestamp: Date.now(),
});
session.appendCompaction("A river was named.", prompt, 1010, undefined, false, usage(500));
JS
sessions=home/.pi/agent/sessions/--work--
mkdir -p "$sessions" work
node make.mjs "$sessions"
file=$(echo "$folder/$sessions"/*.jsonl)
by_pi=$(cd work && echo '{"id":"1","type":"get_session_stats"}' | timeout 60 pi --mode rpc --session "$file" 2>/dev/null |
    python3 -c 'import json, sys; print([v["data"]["tokens"]["input"] for v in map(json.loads, sys.stdin) if v.get("id") == "1"][0])')
by_ccusage=$("$ccusage" pi session --json --offline |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["inputTokens"])')
printf 'input by pi: %s, by ccusage: %s\n' "$by_pi" "$by_ccusage"
[[ $by_pi == 1500 && $by_ccusage == 1000 ]]
