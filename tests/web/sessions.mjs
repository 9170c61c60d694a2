// A home full of made sessions, as Claude Code leaves them.

import { mkdirSync, writeFileSync, appendFileSync } from "node:fs";
import { join } from "node:path";

const WORDS = "parser token stream buffer index cache branch commit merge list page value error line".split(" ");

// A sequence of numbers that is the same each time.
export function chance(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const sentence = (random, length) =>
  Array.from({ length }, () => WORDS[Math.floor(random() * WORDS.length)]).join(" ");

// What the session of this number is called.
export function idOf(number) {
  return `${String(number).padStart(8, "0")}-0000-4000-8000-000000000000`;
}

// A session file that grows by whole records.
export class Session {
  constructor(home, number, directory = `/home/user/p${number % 40}`) {
    this.random = chance(number + 1);
    this.number = number;
    this.id = idOf(number);
    this.directory = directory;
    const folder = join(home, ".claude/projects", directory.replaceAll(/[^A-Za-z0-9]/g, "-"));
    mkdirSync(folder, { recursive: true });
    this.path = join(folder, `${this.id}.jsonl`);
    this.records = 0;
    this.text = "";
    this.clock = Date.UTC(2026, number % 9, 1 + (number % 28), 8);
  }

  name(at) {
    return `${String(this.number).padStart(8, "0")}-0000-4000-9000-${String(at).padStart(12, "0")}`;
  }

  put(record, parent = this.records - 1) {
    this.clock += 1000;
    const head = {
      parentUuid: parent < 0 ? null : this.name(parent),
      isSidechain: false,
      sessionId: this.id,
      uuid: this.name(this.records),
      cwd: this.directory,
      version: "2.1.0",
      timestamp: new Date(this.clock).toISOString(),
    };
    this.records += 1;
    this.text += `${JSON.stringify({ ...head, ...record })}\n`;
    return this;
  }

  says(text) {
    return this.put({ type: "user", message: { role: "user", content: text } });
  }

  reply(content) {
    const usage = { input_tokens: 12, cache_read_input_tokens: 900, cache_creation_input_tokens: 100, output_tokens: 40 };
    const message = { id: `msg_${this.number}_${this.records}`, role: "assistant", model: "claude-opus-4-8", content, usage };
    return this.put({ type: "assistant", message });
  }

  // A prompt, a call of a tool with its result, and an answer.
  turn(prompt = sentence(this.random, 12), answer = sentence(this.random, 30)) {
    const id = `toolu_${this.number}_${this.records}`;
    this.says(prompt);
    const input = { command: `make ${this.records}`, description: "Build it" };
    this.reply([{ type: "text", text: "I look." }, { type: "tool_use", id, name: "Bash", input }]);
    const said = sentence(this.random, 20);
    const result = { type: "tool_result", tool_use_id: id, content: said };
    this.put({ type: "user", message: { role: "user", content: [result] }, toolUseResult: { stdout: said, stderr: "" } });
    return this.reply([{ type: "text", text: answer }]);
  }

  // All before is replaced by a summary.
  compact(summary) {
    this.put(
      {
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        logicalParentUuid: this.name(this.records - 1),
        compactMetadata: { trigger: "manual", preTokens: 20000 },
      },
      -1,
    );
    const message = { role: "user", content: summary };
    return this.put({ type: "user", isCompactSummary: true, isVisibleInTranscriptOnly: true, message });
  }

  // On the disk, what is new behind what is there.
  write() {
    appendFileSync(this.path, this.text);
    this.text = "";
    return this;
  }

  // In its place.
  rewrite() {
    writeFileSync(this.path, this.text);
    this.text = "";
    return this;
  }
}

// So many sessions of a few turns each; some begin with what a browser must never run.
export function fill(home, count) {
  const hostile = [
    "<script>document.title='ran'</script> closes a bracket",
    "<img src=x onerror=\"document.title='ran'\"> shows a picture",
    "[click](javascript:document.title='ran') or <svg onload=\"document.title='ran'\">",
    "\u202eright to left\u202c and a \u0000 byte",
  ];
  for (let number = 0; number < count; number += 1) {
    const session = new Session(home, number);
    const turns = 2 + (number % 4);
    for (let turn = 0; turn < turns; turn += 1) {
      session.turn(turn === 0 ? hostile[number % 50] : undefined);
    }
    session.write();
  }
}
