#!/usr/bin/env bash
# ccusage 20.0.24: days and sessions of one home disagree where the records of Claude Code bear no requestId.
#
# Claude Code writes a reply of several blocks as several records, each with the id and the usage of the whole reply. A
# provider that sends no header request-id leaves them without requestId.
#
# Expected: a reply is counted once, by day as by session.
# Seen: with a requestId both say 1,000 tokens of input. Without one, the day says 2,000 and the session 1,000.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix "$folder" @ccusage/ccusage-linux-x64@20.0.24 >/dev/null
ccusage=$folder/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage
chmod +x "$ccusage"
"$ccusage" --version

id=11111111-2222-4333-8444-555555555555
mkdir -p home/projects/-home-ada-mill

# One record of the reply: its number, its block, and what stands behind the message.
record() {
    printf '{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/home/ada/mill","sessionId":"%s",' "$id"
    printf '"version":"2.1.332","type":"assistant","uuid":"0000000%s-0000-4000-8000-000000000000",' "$1"
    printf '"timestamp":"2026-11-02T09:00:0%s.000Z","message":{"id":"msg_1","type":"message","role":"assistant",' "$1"
    printf '"model":"claude-sonnet-4-5-20250929","content":[%s],"stop_reason":"tool_use","stop_sequence":null,' "$2"
    printf '"usage":{"input_tokens":1000,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":100,'
    printf '"service_tier":"standard"}}%s}\n' "$3"
}

# What a report says of the input of the whole home, where each record bears this.
input() {
    {
        record 1 '{"type":"text","text":"I look."}' "$2"
        record 2 '{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"/a"}}' "$2"
    } >"home/projects/-home-ada-mill/$id.jsonl"
    CLAUDE_CONFIG_DIR=$folder/home "$ccusage" "$1" --json --offline |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["totals"]["inputTokens"])'
}

with="$(input daily ',"requestId":"req_1"') $(input session ',"requestId":"req_1"')"
without="$(input daily '') $(input session '')"
printf 'input by day and by session, with a requestId:    %s\n' "$with"
printf 'input by day and by session, without a requestId: %s\n' "$without"
[[ $with == '1000 1000' && $without == '2000 1000' ]]
