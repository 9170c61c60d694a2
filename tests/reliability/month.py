#!/usr/bin/env python3
"""A month of a home: clients write their sessions, and tract meets them in every way that it has.

    python3 tests/reliability/month.py --tract target/debug/tract                        one story, as .ci/run has it
    python3 tests/reliability/month.py --tract target/release/tract --seeds 20 --seconds 3600

Five clients and more write sessions into a home: with sub-agents, forks, copies that `tract resume` wrote, compactions,
rewinds, prompts that stand in a queue, projects that are moved, a directory that is a link, and a second account. tract
meets them in random order: by `import` in all its ways, by hooks, by `watch`, killed and started again, with `undo`,
`gc`, a purge, and by push and pull between two homes. The generator keeps its own account of all that was said. At the
end of each week and of the month:

- every text is found;
- every reply counts once, under the session that made it;
- every prompt is listed once;
- a home that reads the same files at once has the same refs, but for forks and copies: what they share with others are the
  commits of whichever came in first.

Exit status: 0 nothing found, 1 something found.
"""

import argparse
import collections
import contextlib
import copy
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import check_repository  # noqa: E402

BEGIN_MS = 1_772_000_000_000
DAY_MS = 24 * 60 * 60 * 1000
DAYS = 28
MARK = re.compile(r"mark\d{6}")


class Finding(Exception):
    """Something that is not as it should be."""


class Account:
    """What was said and paid for, by the generator's own count."""

    def __init__(self):
        self.number = 0
        # The texts: each mark, and the session that says it.
        self.texts = {}
        # What people typed: each mark, and its session.
        self.prompts = {}
        # Replies by session: tokens in, tokens out, one pair each.
        self.replies = collections.defaultdict(list)

    def mark(self, session, is_prompt=False):
        self.number += 1
        mark = f"mark{self.number:06}"
        self.texts[mark] = session.name
        if is_prompt:
            self.prompts[mark] = session.name
        return mark

    def reply(self, session, chance):
        usage = chance.randrange(100, 3000), chance.randrange(1, 500)
        self.replies[session.name].append(usage)
        return usage


class World:
    """A home's folders, the clock, chance and the account."""

    def __init__(self, root, chance):
        self.root, self.chance, self.account = root, chance, Account()
        self.clock = BEGIN_MS
        self.sessions = []
        # Forks and copies, and what they began with: their commits are those of whichever came in first.
        self.kin = set()
        self.projects = [root / "src/mill", root / "src/mill-race", root / "src/mill/race"]
        for project in self.projects:
            project.mkdir(parents=True)
        # A directory that is reached by a link.
        (root / "work").symlink_to(root / "src", target_is_directory=True)
        self.projects.append(root / "work/mill")

    def id(self):
        return str(uuid.UUID(int=self.chance.getrandbits(128), version=4))

    def tick(self):
        self.clock += self.chance.randrange(1000, 60_000)
        return self.clock

    def stamp(self):
        at = self.tick()
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at // 1000)) + f".{at % 1000:03}Z"


class Session:
    """A conversation as a client keeps it."""

    tool = ""
    # What else than a turn may happen in it.
    acts = ()

    def __init__(self, world, project, id=None):
        self.world, self.project = world, project
        self.id = id or world.id()
        self.name = f"refs/sessions/{self.tool}/{self.id}"
        self.path = self.place()
        self.path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def account(self):
        return self.world.account

    def mark(self, is_prompt=False):
        return self.account.mark(self, is_prompt)

    def reply(self):
        return self.account.reply(self, self.world.chance)

    def append(self, *records):
        with self.path.open("a") as file:
            file.write("".join(json.dumps(record) + "\n" for record in records))

    def step(self):
        """It goes on in some way; gives which."""
        chance = self.world.chance
        act = chance.choice(self.acts) if self.acts and chance.random() < 0.4 else "turn"
        getattr(self, act)()
        return act


class Claude(Session):
    tool = "claude-code"
    acts = ("agent", "mirrored", "compact", "rewind", "queue", "fork", "workflow", "move")

    def __init__(self, world, project, id=None, account="~/.claude"):
        self.home = world.root / account.replace("~/", "")
        super().__init__(world, project, id)
        self.last = None
        # The records that a prompt may follow, for a rewind.
        self.places = [None]
        self.records = []

    def place(self):
        slug = "".join(letter if letter.isalnum() else "-" for letter in str(self.project))
        return self.home / "projects" / slug / f"{self.id}.jsonl"

    def record(self, kind, **fields):
        return {
            "parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": str(self.project),
            "sessionId": self.id, "version": "2.1.63", "gitBranch": "main", "type": kind, "uuid": self.world.id(),
            "timestamp": self.world.stamp(), **fields,
        }

    def put(self, kind, **fields):
        record = self.record(kind, **fields)
        self.last = record["uuid"]
        self.records.append(record)
        self.append(record)
        return record

    def user(self, content, **fields):
        return self.put("user", message={"role": "user", "content": content}, **fields)

    def said(self, blocks, usage=None, id=None):
        """A reply's message. One block each is a record of its own."""
        usage = usage or self.reply()
        counts = {"input_tokens": usage[0], "output_tokens": usage[1], "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
        return {
            "id": id or f"msg_{self.world.id()}", "type": "message", "role": "assistant", "model": "claude-opus-4-5-20251101",
            "content": blocks, "stop_reason": "end_turn", "stop_sequence": None, "usage": counts,
        }

    def answer(self, *blocks):
        usage, id = self.reply(), f"msg_{self.world.id()}"
        for block in blocks:
            self.put("assistant", message=self.said([block], usage, id))

    def text(self):
        return {"type": "text", "text": self.mark()}

    def call(self, name="Bash", **given):
        return {"type": "tool_use", "id": f"toolu_{self.world.id()}", "name": name, "input": given or {"command": self.mark()}}

    @staticmethod
    def result(call, text):
        return [{"tool_use_id": call["id"], "type": "tool_result", "content": text}]

    def turn(self):
        self.places.append(self.last)
        self.user(self.mark(True))
        if self.world.chance.random() < 0.7:
            calls = [self.call() for _ in range(self.world.chance.choice([1, 1, 2]))]
            self.answer(self.text(), *calls)
            for call in calls:
                self.user(self.result(call, self.mark()))
        self.answer(self.text())

    def rewind(self):
        """The next prompt follows an earlier place; what stood behind it stays in the file."""
        if self.places:
            self.last = self.world.chance.choice(self.places)
        self.turn()

    def compact(self):
        if self.last is None:
            return self.turn()
        before, self.last = self.last, None
        self.put("system", subtype="compact_boundary", logicalParentUuid=before, content="Conversation compacted",
                 compactMetadata={"trigger": "auto", "preTokens": 1000})
        self.user(self.mark(), isVisibleInTranscriptOnly=True, isCompactSummary=True)
        # There is no way back over a boundary.
        self.places = []
        self.turn()

    def queue(self):
        """A prompt is typed while the agent works; only the queue's record has it."""
        def note(operation, **fields):
            self.append({"type": "queue-operation", "operation": operation, "timestamp": self.world.stamp(), "sessionId": self.id, **fields})
        self.user(self.mark(True))
        call = self.call()
        self.answer(call)
        note("enqueue", content=self.mark(True))
        self.user(self.result(call, self.mark()))
        note("remove")
        self.answer(self.text())
        self.places = []

    def agent(self, mirror=False, folder="subagents"):
        """A sub-agent works in a file of its own; its texts may be mirrored, and its counts half so."""
        self.user(self.mark(True))
        task = self.mark()
        call = self.call("Task", description="Look", prompt=task, subagent_type="general-purpose")
        self.answer(call)
        agent = f"a{self.world.chance.getrandbits(64):016x}"
        path = self.path.with_suffix("") / folder / f"agent-{agent}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        last, mirrored = None, []
        used, output = self.call(), self.mark()
        blocks = [
            ("user", {"role": "user", "content": task}),
            ("assistant", self.said([self.text(), used])),
            ("user", {"role": "user", "content": self.result(used, output)}),
            ("assistant", self.said([self.text()])),
        ]
        with path.open("w") as file:
            for kind, message in blocks:
                id = f"msg_{self.world.id()}" if kind == "user" else message["id"]
                parts = message["content"] if kind == "assistant" else [message["content"]]
                for part in parts:
                    one = dict(message, content=[part] if kind == "assistant" else part, **({"id": id} if kind == "assistant" else {}))
                    record = dict(self.record(kind, message=one), parentUuid=last, isSidechain=True, agentId=agent)
                    last = record["uuid"]
                    file.write(json.dumps(record) + "\n")
                    if mirror and not (kind == "assistant" and part["type"] == "text"):
                        half = dict(one)
                        if kind == "assistant":
                            half["usage"] = dict(one["usage"], output_tokens=1)
                        mirrored.append({"type": kind, "message": half, "uuid": record["uuid"], "timestamp": record["timestamp"]})
        for inner in mirrored:
            self.put("progress", data={"message": inner, "type": "agent_progress", "prompt": "", "agentId": agent},
                     toolUseID="agent_" + call["id"], parentToolUseID=call["id"])
        self.user(self.result(call, [{"type": "text", "text": self.mark()}]), toolUseResult={"status": "completed", "prompt": task, "agentId": agent})
        self.answer(self.text())
        self.places = []

    def mirrored(self):
        self.agent(mirror=True)

    def workflow(self):
        self.agent(folder=f"subagents/workflows/wf_{self.world.chance.getrandbits(32):08x}")

    def fork(self):
        """Another session begins with all of this one's records, under its own id."""
        if not any(record["type"] == "assistant" for record in self.records):
            return self.turn()
        other = Claude(self.world, self.project, account=self.home.name.replace(".", "~/.", 1))
        for record in self.records:
            origin = {"sessionId": self.id, "messageUuid": record["uuid"]}
            other.records.append(dict(record, sessionId=other.id, forkedFrom=origin))
        other.append(*other.records)
        other.last, other.places = self.last, []
        other.turn()
        self.world.sessions.append(other)
        self.world.kin |= {self.name, other.name}

    def move(self):
        """The project is somewhere else now, and the file with it."""
        self.turn()
        self.project = self.world.chance.choice(self.world.projects)
        new = self.place()
        if new != self.path and not new.exists() and not self.path.with_suffix("").exists():
            new.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.path.rename(new)

    def resumed(self, path):
        """It goes on in a session that tract wrote: what stands there is a copy."""
        other = Claude(self.world, self.project, id=path.stem)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        other.path = path
        other.last = next(line["uuid"] for line in reversed(lines) if line.get("uuid"))
        other.places = []
        other.records = [line for line in lines if line.get("uuid")]
        other.turn()
        self.world.sessions.append(other)
        self.world.kin |= {self.name, other.name}


class Codex(Session):
    tool = "codex"
    acts = ("fork", "archive", "compact")

    def __init__(self, world, project, parent=None):
        super().__init__(world, project)
        self.totals = [0, 0]
        self.lines = []
        self.put("session_meta", {"id": self.id, "timestamp": world.stamp(), "cwd": str(project), "originator": "codex-tui",
                                  "cli_version": "0.142.0", "source": "cli", "model_provider": "openai",
                                  "base_instructions": {"text": "Be brief."}, **({"forked_from_id": parent.id} if parent else {})})

    def place(self):
        at = time.gmtime(self.world.clock // 1000)
        name = f"rollout-{time.strftime('%Y-%m-%dT%H-%M-%S', at)}-{self.id}.jsonl"
        return self.world.root / ".codex/sessions" / time.strftime("%Y/%m/%d", at) / name

    def put(self, kind, payload):
        line = {"timestamp": self.world.stamp(), "type": kind, "payload": payload}
        self.lines.append(line)
        self.append(line)

    def item(self, role, text):
        kind = "output_text" if role == "assistant" else "input_text"
        self.put("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def count(self):
        usage = self.reply()
        self.totals = [have + new for have, new in zip(self.totals, usage)]
        def counts(tokens):
            return {"input_tokens": tokens[0], "cached_input_tokens": 0, "output_tokens": tokens[1],
                    "reasoning_output_tokens": 0, "total_tokens": sum(tokens)}
        info = {"total_token_usage": counts(self.totals), "last_token_usage": counts(usage), "model_context_window": 200000}
        self.put("event_msg", {"type": "token_count", "info": info, "rate_limits": None})

    def turn(self):
        turn = self.world.id()
        self.put("event_msg", {"type": "task_started", "turn_id": turn})
        self.put("turn_context", {"turn_id": turn, "cwd": str(self.project), "approval_policy": "never",
                                  "sandbox_policy": {"type": "workspace-write"}, "model": "gpt-5.5", "effort": "high", "summary": "auto"})
        prompt = self.mark(True)
        self.item("user", prompt)
        self.put("event_msg", {"type": "user_message", "message": prompt, "images": []})
        if self.world.chance.random() < 0.6:
            call = f"call_{self.world.id()}"
            self.put("response_item", {"type": "function_call", "name": "shell", "arguments": json.dumps({"command": [self.mark()]}), "call_id": call})
            self.count()
            self.put("response_item", {"type": "function_call_output", "call_id": call, "output": self.mark()})
        self.item("assistant", self.mark())
        self.count()
        self.put("event_msg", {"type": "task_complete", "turn_id": turn})

    def compact(self):
        if len(self.lines) < 3:
            return self.turn()
        summary = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": self.mark()}]}
        self.put("compacted", {"message": "", "replacement_history": [summary]})
        self.put("event_msg", {"type": "context_compacted"})
        self.turn()

    def fork(self):
        """Its history is copied, with the times of the copying."""
        if len(self.lines) < 3:
            return self.turn()
        other = Codex(self.world, self.project, self)
        for line in self.lines:
            other.put(line["type"], line["payload"])
        other.totals = list(self.totals)
        other.turn()
        self.world.sessions.append(other)
        self.world.kin |= {self.name, other.name}

    def archive(self):
        self.turn()
        new = self.world.root / ".codex/archived_sessions" / self.path.name
        if self.path != new:
            new.parent.mkdir(parents=True, exist_ok=True)
            self.path = self.path.rename(new)


class Gemini(Session):
    tool = "gemini"
    acts = ("rewind",)

    def __init__(self, world, project):
        super().__init__(world, project)
        self.ids = []
        at = world.stamp()
        self.append({"sessionId": self.id, "projectHash": "0" * 64, "startTime": at, "lastUpdated": at, "kind": "main"})

    def place(self):
        stamp = time.strftime("%Y-%m-%dT%H-%M", time.gmtime(self.world.clock // 1000))
        return self.world.root / ".gemini/tmp" / self.project.name / "chats" / f"session-{stamp}-{self.id[:8]}.jsonl"

    def message(self, kind, **fields):
        id = self.world.id()
        self.append({"id": id, "timestamp": self.world.stamp(), "type": kind, **fields})
        return id

    def turn(self):
        self.ids.append(self.message("user", content=[{"text": self.mark(True)}]))
        usage = self.reply()
        tokens = {"input": usage[0], "output": usage[1], "cached": 0, "thoughts": 0, "tool": 0, "total": sum(usage)}
        more = {}
        if self.world.chance.random() < 0.5:
            id = f"ls__{self.world.id()}"
            answer = {"functionResponse": {"id": id, "name": "ls", "response": {"output": self.mark()}}}
            more = {"toolCalls": [{"id": id, "name": "ls", "args": {"path": self.mark()}, "result": [answer],
                                   "status": "success", "timestamp": self.world.stamp()}]}
        self.message("gemini", content=self.mark(), tokens=tokens, model="gemini-2.5-flash", **more)

    def rewind(self):
        if len(self.ids) > 1:
            at = self.world.chance.randrange(1, len(self.ids))
            self.append({"$rewindTo": self.ids[at]})
            del self.ids[at:]
        self.turn()


class Pi(Session):
    tool = "pi"
    acts = ("rewind", "compact")

    def __init__(self, world, project):
        super().__init__(world, project)
        self.last, self.places, self.count = None, [None], 0
        self.append({"type": "session", "version": 3, "id": self.id, "timestamp": world.stamp(), "cwd": str(project)})

    def place(self):
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S-000Z", time.gmtime(self.world.clock // 1000))
        return self.world.root / ".pi/agent/sessions" / f"--{str(self.project).strip('/').replace('/', '-')}--" / f"{stamp}_{self.id}.jsonl"

    def put(self, kind, **fields):
        self.count += 1
        id = f"{self.count:08x}"
        self.append({"type": kind, "id": id, "parentId": self.last, "timestamp": self.world.stamp(), **fields})
        self.last = id
        return id

    def message(self, **message):
        return self.put("message", message={**message, "timestamp": self.world.clock})

    def said(self, *blocks):
        usage = self.reply()
        counts = {"input": usage[0], "output": usage[1], "cacheRead": 0, "cacheWrite": 0, "totalTokens": sum(usage),
                  "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}}
        self.message(role="assistant", content=list(blocks), api="anthropic-messages", provider="anthropic",
                     model="claude-opus-4-5", usage=counts, stopReason="stop")

    def turn(self):
        self.places.append(self.last)
        self.message(role="user", content=[{"type": "text", "text": self.mark(True)}])
        if self.world.chance.random() < 0.5:
            call = f"c{self.world.id()}"
            self.said({"type": "text", "text": self.mark()}, {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": self.mark()}})
            self.message(role="toolResult", toolCallId=call, toolName="bash", content=[{"type": "text", "text": self.mark()}], isError=False)
        self.said({"type": "text", "text": self.mark()})

    def rewind(self):
        if self.places:
            self.last = self.world.chance.choice(self.places)
        self.turn()

    def compact(self):
        if self.last is None:
            return self.turn()
        self.put("compaction", summary=self.mark(), firstKeptEntryId=self.last, tokensBefore=70)
        self.places = []
        self.turn()


class Qwen(Session):
    tool = "qwen"

    def __init__(self, world, project):
        super().__init__(world, project)
        self.last = None

    def place(self):
        slug = "".join(letter if letter.isalnum() else "-" for letter in str(self.project))
        return self.world.root / ".qwen/projects" / slug / "chats" / f"{self.id}.jsonl"

    def put(self, kind, parts, role, **fields):
        id = self.world.id()
        self.append({"uuid": id, "parentUuid": self.last, "sessionId": self.id, "timestamp": self.world.stamp(), "type": kind,
                     "cwd": str(self.project), "version": "0.15.10", "message": {"role": role, "parts": parts}, **fields})
        self.last = id

    def turn(self):
        self.put("user", [{"text": self.mark(True)}], "user")
        usage = self.reply()
        counts = {"promptTokenCount": usage[0], "candidatesTokenCount": usage[1], "thoughtsTokenCount": 0,
                  "totalTokenCount": sum(usage), "cachedContentTokenCount": 0}
        self.put("assistant", [{"text": self.mark()}], "model", model="coder-model", usageMetadata=counts)


class Droid(Session):
    tool = "droid"

    def __init__(self, world, project):
        super().__init__(world, project)
        self.last = None
        self.append({"type": "session_start", "id": self.id, "title": "A talk", "sessionTitle": "A talk", "owner": "ada", "version": 2, "cwd": str(project)})

    def place(self):
        slug = "".join(letter if letter.isalnum() else "-" for letter in str(self.project))
        return self.world.root / ".factory/sessions" / slug / f"{self.id}.jsonl"

    def put(self, role, *blocks):
        id = self.world.id()
        record = {"type": "message", "id": id, "timestamp": self.world.stamp(), "message": {"role": role, "content": list(blocks)}}
        self.append(dict(record, parentId=self.last) if self.last else record)
        self.last = id

    def turn(self):
        self.put("user", {"type": "text", "text": self.mark(True)})
        self.put("assistant", {"type": "text", "text": self.mark()})


CLIENTS = [Claude, Claude, Claude, Codex, Codex, Gemini, Pi, Qwen, Droid]


class Home:
    """A home with a repository, and whoever types there."""

    def __init__(self, root, tract, world):
        self.root, self.tract, self.world = root, tract, world
        root.mkdir(exist_ok=True)
        self.run("init")
        # Each name, and how often it was done.
        self.did = collections.Counter()
        # Texts that were erased.
        self.erased = set()

    def environment(self):
        return {"HOME": str(self.root), "PATH": os.environ.get("PATH", ""), "TRACT_CLOCK": str(self.world.clock), "TZ": "UTC",
                "TRACT_AUTHOR": "Ada", "GIT_CONFIG_GLOBAL": "/dev/null"}

    def start(self, *arguments, cwd=None, **more):
        return subprocess.Popen([self.tract, *map(str, arguments)], cwd=cwd or self.root, env=self.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run(self, *arguments, codes=(0,), cwd=None, input=None):
        child = self.start(*arguments, cwd=cwd, stdin=subprocess.PIPE)
        out, err = child.communicate(input or "", timeout=600)
        self.told = err
        if child.returncode not in codes or "panicked" in err:
            raise Finding(f"tract {' '.join(map(str, arguments))}: {child.returncode}\n{out}{err}")
        return out

    def ask(self, *requests):
        """The answers of `tract api`, in the order of the requests."""
        lines = [json.dumps({"id": at, "method": method, "params": params}) for at, (method, params) in enumerate(requests)]
        answers = {}
        for line in self.run("api", input="\n".join(lines) + "\n").splitlines():
            answer = json.loads(line)
            if "progress" not in answer:
                answers[answer["id"]] = answer
        for at, request in enumerate(requests):
            if "error" in answers[at]:
                raise Finding(f"{request}: {answers[at]['error']}")
        return [answers[at]["result"] for at in range(len(requests))]

    # The ways in.

    def import_all(self):
        # The second account's folder is none that a client has by itself: there may be nothing.
        self.run("import", "--all", codes=(0, 1))

    def import_file(self):
        self.run("import", self.world.chance.choice(self.world.sessions).path)

    def import_folder(self):
        self.run("import", self.world.chance.choice(self.world.sessions).path.parent)

    def import_id(self):
        # The second account's folder is none that a client has by itself.
        sessions = [one for one in self.world.sessions if ".claude-work" not in one.path.parts]
        if sessions:
            session = self.world.chance.choice(sessions)
            self.run("import", session.id, cwd=session.project)

    def import_last(self):
        self.run("import", "--last", cwd=self.world.chance.choice(self.world.projects), codes=(0, 1, 2))

    def hook(self):
        sessions = [one for one in self.world.sessions if one.tool == "claude-code"]
        if sessions:
            session = self.world.chance.choice(sessions)
            event = self.world.chance.choice(["PreCompact", "SessionEnd", "Stop"])
            given = {"session_id": session.id, "transcript_path": str(session.path), "cwd": str(session.project), "hook_event_name": event}
            self.run("import", "--hook", input=json.dumps(given))

    def watch(self):
        self.run("watch", "--once")

    def killed(self):
        child = self.start(*self.world.chance.choice([("watch", "--once"), ("import", "--all")]))
        time.sleep(self.world.chance.random() * 0.3)
        child.send_signal(signal.SIGKILL)
        child.communicate()

    # What people do with what came in.

    def undo(self):
        self.run("undo", codes=(0, 1))

    def undo_since(self):
        self.run("undo", "--since", "1h", codes=(0, 1, 2))

    def redo(self):
        self.run("redo", codes=(0, 1))

    def look(self):
        self.run("status", cwd=self.world.chance.choice(self.world.projects), codes=(0, 1))

    def commit(self):
        self.run("--on", "notes", "commit", "-r", "user", "-m", "A note.", codes=(0, 1, 2))

    def branch(self):
        """One of the branches; none where there are none yet."""
        names = [line[2:].split(" ")[0] for line in self.run("branch").splitlines()]
        return self.world.chance.choice(names) if names else None

    def rename(self):
        if branch := self.branch():
            self.run("branch", "-m", branch, f"called-{self.did['rename']}", codes=(0, 1))

    def forget(self):
        if branch := self.branch():
            self.run("branch", "-d", branch, codes=(0, 1))

    def checkout(self):
        if branch := self.branch():
            self.run("checkout", branch)

    def shorten(self):
        if branch := self.branch():
            self.run("--on", branch, "truncate", "--keep", "1", "--force", codes=(0, 1, 2))

    def collect(self):
        self.run("gc", *self.world.chance.choice([(), ("--expire", "now"), ("--keep", "2"), ("--keep", "1", "--expire", "now")]))

    def merge(self):
        session = self.world.chance.choice(self.world.sessions)
        self.run("--on", "notes", "merge", session.name, "--allow-unrelated-histories", codes=(0, 1, 2))

    def purge(self):
        """A prompt is erased for good wherever it came in; the clients' files have it still."""
        self.take_all()
        mark = self.world.chance.choice(sorted(self.world.account.prompts))
        if self.is_found(mark):
            self.run("purge", "--match", mark, "--force")
            self.erased.add(mark)

    def is_found(self, mark):
        return bool(self.ask(("find", {"text": mark, "exact": True, "limit": 1}))[0]["found"])

    def resume(self):
        sessions = [one for one in self.world.sessions if isinstance(one, Claude) and one.path.is_file()]
        if not sessions:
            return
        session = self.world.chance.choice(sessions)
        self.run("import", session.path)
        before = set(self.root.glob(".claude/projects/*/*.jsonl"))
        self.run("resume", session.name, "--in", "claude-code", cwd=session.project)
        new = set(self.root.glob(".claude/projects/*/*.jsonl")) - before
        if len(new) != 1:
            raise Finding(f"resume {session.name} wrote {len(new)} sessions")
        session.resumed(new.pop())

    WAYS = ["import_all", "import_all", "import_file", "import_file", "import_folder", "import_id", "import_last", "hook", "hook", "watch", "killed"]
    DEEDS = ["undo", "undo_since", "redo", "look", "commit", "collect", "resume", "merge", "purge",
             "rename", "forget", "checkout", "shorten"]

    def step(self):
        act = self.world.chance.choice(self.WAYS if self.world.chance.random() < 0.7 else self.DEEDS)
        self.did[act] += 1
        getattr(self, act)()

    # What must hold.

    def take_all(self):
        """All there is comes in: what the clients have, and the second account by its folder."""
        self.import_all()
        other = self.root / ".claude-work/projects"
        if other.exists():
            self.run("import", other)

    def refs(self):
        """Where each session ends, its sub-agents and what was taken back in it."""
        with contextlib.closing(sqlite3.connect(self.root / ".tract/tract.db")) as database:
            rows = database.execute("SELECT refs.name, hex(commits.hash) FROM refs JOIN commits ON commits.id = target WHERE name LIKE 'refs/sessions/%'")
            return dict(rows.fetchall())

    def lost(self):
        """The texts that are not found, and erased ones that are."""
        account = self.world.account
        marks = sorted(set(account.texts) - self.erased)
        for mark, answer in zip(marks, self.ask(*(("find", {"text": mark, "exact": True, "limit": 1}) for mark in marks))):
            if not answer["found"]:
                yield f"{mark} of {account.texts[mark]} is found nowhere"
        for mark in sorted(self.erased):
            if self.is_found(mark):
                yield f"{mark} of {account.texts[mark]} was erased, and is found"

    def faults(self):
        """What of the account is not here."""
        account = self.world.account
        yield from self.lost()
        # Every reply counts once, under the session that made it.
        rows = self.ask(("cost", {"by": "session"}))[0]["rows"]
        counted = collections.defaultdict(lambda: [0, 0, 0])
        for row in rows:
            name = "/".join(row["name"].split("/")[:4])
            have = counted[name]
            have[0] += row["replies"]
            have[1] += row["counted"]["input_tokens"]
            have[2] += row["counted"]["output_tokens"]
        for name in sorted(set(account.replies) | set(counted)):
            made = account.replies[name]
            right = [len(made), sum(usage[0] for usage in made), sum(usage[1] for usage in made)]
            if counted[name] != right:
                yield f"{name}: replies, tokens in and out are {right}; cost says {counted[name]}"
        # Every prompt is listed once, whatever path it stands on.
        refs = self.refs()
        listed = collections.defaultdict(set)
        for name, answer in zip(refs, self.ask(*(("log", {"rev": name, "prompts": True, "limit": 0}) for name in refs))):
            for entry in answer["commits"]:
                for mark in MARK.findall(entry.get("preview") or ""):
                    listed[mark].add((entry["hash"], "/".join(name.split("/")[:4])))
        for mark, name in account.prompts.items():
            own = {commit for commit, of in listed[mark] if of == name}
            if mark not in self.erased and len(own) != 1:
                yield f"{mark}: its session {name} lists it {len(own)} times as a prompt"

    def check(self, when):
        self.take_all()
        faults = list(self.faults())
        self.run("fsck")
        checker = check_repository.Checker(str(self.root / ".tract/tract.db"))
        checker.check()
        return [f"{when}: {fault}" for fault in faults + checker.faults]


def at_once(home, options):
    """A repository that reads the same files at once has the same refs."""
    refs = home.refs()
    ours, aside = home.root / ".tract", home.root / ".tract-aside"
    ours.rename(aside)
    fresh = Home(home.root, options.tract, home.world)
    fresh.take_all()
    anew = fresh.refs()
    shutil.rmtree(ours)
    aside.rename(ours)
    names = [name for name in sorted(set(refs) | set(anew)) if "/".join(name.split("/")[:4]) not in home.world.kin]
    return [f"{name} is {refs.get(name)}, and {anew.get(name)} where the files come in at once" for name in names if refs.get(name) != anew.get(name)]


def two_homes(home, options):
    """A conversation grows on two machines at once; both have all of it once they have pulled and pushed."""
    world, chance = home.world, home.world.chance
    sessions = [one for one in world.sessions if isinstance(one, Claude) and one.last and one.home.name == ".claude"]
    if not sessions:
        return []
    laptop = Home(home.root / "laptop", options.tract, world)
    laptop.run("remote", "add", "origin", home.root)
    laptop.run("pull", "--sources", "origin")
    session = chance.choice(sessions)
    # The file is copied, and both copies grow.
    other = copy.copy(session)
    other.home = laptop.root / ".claude"
    other.path = laptop.root / session.path.relative_to(home.root)
    other.path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(session.path, other.path)
    other.records, other.places = list(session.records), list(session.places)
    deeds = [lambda: session.turn(), lambda: other.turn(), lambda: home.run("import", session.path), lambda: laptop.run("import", other.path),
             lambda: laptop.run("pull", "--merge", "--sources", "origin", codes=(0, 1)), lambda: laptop.run("push", "--all", "--sources", "origin", codes=(0, 1))]
    for deed in chance.choices(deeds, k=chance.randrange(6, 14)):
        deed()
    session.turn()
    other.turn()
    home.run("import", session.path)
    laptop.run("import", other.path)
    laptop.run("pull", "--merge", "--sources", "origin")
    laptop.run("push", "--all", "--sources", "origin", codes=(0, 1))
    for branch in re.findall(r"^  refused  \S+  (\S+)$", laptop.told, re.MULTILINE):
        laptop.run("--on", branch, "pull", "--merge", "--sources", "origin")
    laptop.run("push", "--all", "--sources", "origin")
    laptop.run("pull", "--merge", "--sources", "origin")
    faults = []
    for where, one in (("home", home), ("the laptop", laptop)):
        one.erased = home.erased
        # A session that parted stays beside the other's: what the other said came with the branch.
        faults += [f"two homes, {where}: {fault}" for fault in one.lost()]
        one.run("fsck")
    return faults


def story(options, seed):
    chance = random.Random(seed)
    root = Path(tempfile.mkdtemp(prefix="tract-month-")).resolve()
    world = World(root, chance)
    faults = []
    try:
        home = Home(root, options.tract, world)
        for day in range(DAYS):
            world.clock = max(world.clock, BEGIN_MS + day * DAY_MS)
            if chance.random() < 0.5 or not world.sessions:
                of = chance.choice(CLIENTS)
                given = {"account": "~/.claude-work"} if of is Claude and chance.random() < 0.2 else {}
                session = of(world, chance.choice(world.projects), **given)
                session.turn()
                world.sessions.append(session)
            for _ in range(chance.randrange(1, 4)):
                home.did[chance.choice(world.sessions).step()] += 1
            for _ in range(chance.randrange(1, 4)):
                home.step()
            if day % 7 == 6:
                faults += home.check(f"day {day + 1}")
                if faults:
                    break
        faults = faults or at_once(home, options) or two_homes(home, options)
    except Finding as finding:
        faults.append(str(finding))
    did = ", ".join(f"{name} {count}" for name, count in sorted(home.did.items()))
    print(f"seed {seed}: {len(world.sessions)} sessions, {len(world.account.texts)} texts; {did}")
    for fault in faults[: options.show]:
        print(f"FOUND: {fault}; {root}")
    if len(faults) > options.show:
        print(f"FOUND: {len(faults) - options.show} more")
    if not faults:
        shutil.rmtree(root)
    return not faults


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--tract", default="target/debug/tract")
    options.add_argument("--seed", type=int, default=1, help="the first seed")
    options.add_argument("--seeds", type=int, default=1, help="how many")
    options.add_argument("--seconds", type=float, default=3600, help="no story begins after so long")
    options.add_argument("--show", type=int, default=20, help="how many faults of a story are printed")
    options = options.parse_args()
    options.tract = str(Path(options.tract).resolve())
    began = time.time()
    is_sound = True
    for seed in range(options.seed, options.seed + options.seeds):
        if time.time() - began > options.seconds:
            break
        is_sound = story(options, seed) and is_sound
    print(f"{time.time() - began:.0f} s")
    return 0 if is_sound else 1


if __name__ == "__main__":
    sys.exit(main())
