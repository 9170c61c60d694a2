#!/usr/bin/env bash
# @mastra/core 1.71.0, @mastra/libsql 1.23.1, @mastra/memory 1.31.0: a picture that a user sends is stored twice in one message, and sent once.
#
# Expected: a stored message has what was said. Seen: `content.parts` has the picture as a part of the type `file`, and
# `content.experimental_attachments` has it once more, by another name of its type. The next request has it once. Who reads both sends
# or counts it twice; a picture of 1 MB takes 2 MB of the database.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '{"type": "module"}' > package.json
npm install --silent --no-audit --no-fund @mastra/core@1.71.0 @mastra/libsql@1.23.1 @mastra/memory@1.31.0 ai@7.0.173 zod@4 >/dev/null
cat > run.mjs <<'NODE'
import { Agent } from "@mastra/core/agent";
import { Memory } from "@mastra/memory";
import { LibSQLStore } from "@mastra/libsql";
import { createClient } from "@libsql/client";
import { simulateReadableStream } from "ai";
import { MockLanguageModelV3 } from "ai/test";

const sent = [];
const usage = { inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 2, text: 2, reasoning: 0 } };
const chunks = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "A dot." }, { type: "text-end", id: "t" },
  { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
];
const model = new MockLanguageModelV3({ modelId: "canned", doStream: async ({ prompt }) => {
  sent.push(prompt);
  return { stream: simulateReadableStream({ chunks }) };
} });
const url = "file:talk.db";
const memory = new Memory({ storage: new LibSQLStore({ id: "s", url }) });
const agent = new Agent({ id: "a", name: "a", instructions: "Be brief.", model, memory });
const picture = { type: "image", image: "data:image/png;base64,iVBORw0KGgo=", mediaType: "image/png" };
const turns = [[{ role: "user", content: [{ type: "text", text: "What is it?" }, picture] }], "Sure?"];
for (const turn of turns) {
  const reply = await agent.stream(turn, { memory: { thread: "t", resource: "r" } });
  await reply.consumeStream();
}
const rows = await createClient({ url }).execute("SELECT content FROM mastra_messages WHERE role = 'user' ORDER BY createdAt");
const { parts, experimental_attachments: beside } = JSON.parse(rows.rows[0].content);
const stored = parts.filter(part => part.type === "file").length + (beside ?? []).length;
const said = sent[1].filter(message => message.role === "user")[0].content;
const times = said.filter(part => part.type === "file").length;
console.log("parts:      ", JSON.stringify(parts));
console.log("attachments:", JSON.stringify(beside));
console.log(`stored ${stored} times, sent ${times} time in the next request`);
process.exit(stored === 2 && times === 1 ? 0 : 1);
NODE
node run.mjs
