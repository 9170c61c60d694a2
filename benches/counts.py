#!/usr/bin/env python3
"""What sessions of many clients cost: as tract has it, and as a few lines of Python for each client count their files.

    python3 -m venv peers && peers/bin/pip install genai-prices==0.2.1
    peers/bin/python benches/counts.py --tract target/release/tract FILE-OR-FOLDER...

Each file or folder is a session of a client, with its sub-agents where the client puts them. It is imported into a repository
of its own, with the home that a client would have. Tokens are compared by model, and dollars where the list has the model. The
readers here share nothing with tract: each says in a line what its client's counts mean. A session that differs is printed,
and ends the program with 1.
"""

import argparse
import collections
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

from genai_prices import Usage, calc_price

HERE = Path(__file__).resolve().parent.parent


class Request:
    """What one request was counted with: all input, of it what was read from a cache and written to one, all output."""

    def __init__(self, model, time, input, cached=0, written=0, hour=0, output=0, searches=0):
        self.model, self.time = model, time
        self.input, self.cached, self.written, self.hour, self.output = input, cached, written, hour, output
        self.searches = searches

    def dollars(self):
        """None where the list does not have the model."""
        counts = {
            "input_tokens": self.input, "cache_read_tokens": self.cached, "cache_write_tokens": self.written, "output_tokens": self.output,
        }
        if self.hour:
            counts |= {"cache_write_1h_tokens": self.hour, "cache_write_5m_tokens": self.written - self.hour}
        counts = {key: count for key, count in counts.items() if count}
        if not self.model:
            return None
        try:
            found = calc_price(Usage(**counts), model_ref=self.model, genai_request_timestamp=self.time)
        except (LookupError, ValueError):
            return None
        return float(found.total_price) + self.searches / 100


def records(path):
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def at(text):
    if isinstance(text, (int, float)):
        return datetime.fromtimestamp(text / 1000, timezone.utc)
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def files(path, pattern="*.jsonl"):
    return [path] if path.is_file() else sorted(path.rglob(pattern))


def claude_code(path):
    """A reply has several records, of one id and one request; the last is whole. Input is told without what a cache had a part in."""
    found = {}
    own = files(path) + (sorted(path.with_suffix("").rglob("*.jsonl")) if path.is_file() else [])
    for record in (record for file in own for record in records(file)):
        if record.get("type") == "progress":
            record = (record.get("data") or {}).get("message") or {}
        message = record.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if record.get("type") != "assistant" or not usage or message.get("model") == "<synthetic>":
            continue
        name = (message["id"], record.get("requestId"))
        if name not in found or usage.get("output_tokens", 0) >= found[name][0]["output_tokens"]:
            time = found[name][2] if name in found else at(record["timestamp"])
            found[name] = (usage, message["model"], time)
    for usage, model, time in found.values():
        searches = (usage.get("server_tool_use") or {}).get("web_search_requests", 0)
        rounds = usage.get("iterations") or []
        for one in rounds if len(rounds) > 1 else [usage]:
            cached, written = one.get("cache_read_input_tokens") or 0, one.get("cache_creation_input_tokens") or 0
            hour = (one.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
            yield Request(one.get("model") or model, time, one["input_tokens"] + cached + written, cached, written, hour, one["output_tokens"], searches)
            searches = 0


def codex(path):
    """A count is told with each request, and again where a limit changed: then the sum of all is as it was."""
    own, told = files(path), set()
    if path.is_file():
        id = (next(records(path)).get("payload") or {}).get("id")
        own += [file for file in sorted(path.parent.glob("*.jsonl")) if id and parent_of(file) == id]
    for file in own:
        model = None
        for record in records(file):
            payload = record.get("payload") or {}
            if record.get("type") == "turn_context":
                model = payload.get("model") or model
            info = payload.get("info") if payload.get("type") == "token_count" else None
            total = json.dumps(info.get("total_token_usage")) if info else None
            # A sub-agent that began as a copy repeats what its parent was told.
            if info and total not in told:
                told.add(total)
                usage = info["last_token_usage"]
                yield Request(model, at(record["timestamp"]), usage["input_tokens"], usage.get("cached_input_tokens", 0), 0, 0, usage["output_tokens"])


def parent_of(file):
    """The session that started this one as its sub-agent."""
    source = (next(records(file)).get("payload") or {}).get("source")
    spawn = (source.get("subagent") or {}) if isinstance(source, dict) else {}
    return (spawn.get("thread_spawn") or {}).get("parent_thread_id") if isinstance(spawn, dict) else None


def gemini(path):
    """Thoughts are told beside the output; what a cache had is part of the input."""
    if path.suffix == ".json":
        messages = json.loads(path.read_text())["messages"]
    else:
        messages = list({record["id"]: record for record in records(path) if "id" in record}.values())
    for message in messages:
        tokens = message.get("tokens")
        if tokens:
            yield Request(message.get("model"), at(message["timestamp"]), tokens["input"] + tokens.get("tool", 0), tokens.get("cached", 0), 0, 0, tokens["output"] + tokens.get("thoughts", 0))


def pi(path):
    """Input is told without what a cache had a part in."""
    for record in (record for file in files(path) for record in records(file)):
        message = record.get("message") or {}
        usage = message.get("usage")
        if usage:
            cached, written = usage["cacheRead"], usage["cacheWrite"]
            time = at(message.get("timestamp") or record["timestamp"])
            yield Request(message["model"], time, usage["input"] + cached + written, cached, written, 0, usage["output"])


def qwen(path):
    """Its telemetry, where it is kept, tells each request, those of sub-agents and for titles too. Thoughts are part of the output."""
    own = [record for file in files(path) for record in records(file)]
    events = [(record.get("systemPayload") or {}).get("uiEvent") or {} for record in own]
    events = [event for event in events if event.get("event.name", "").endswith("api_response")]
    for event in events:
        yield Request(event["model"], at(event["event.timestamp"]), event["input_token_count"], event["cached_content_token_count"], 0, 0, event["output_token_count"])
    for record in own if not events else []:
        usage = record.get("usageMetadata")
        if usage:
            cached, output = usage.get("cachedContentTokenCount", 0), usage.get("candidatesTokenCount", 0)
            yield Request(record.get("model"), at(record["timestamp"]), usage["promptTokenCount"], cached, 0, 0, output)


def kimi(path):
    """Each request has a record. Where replies are told with theirs, that holds: of one that was broken off the record is empty."""
    for file in files(path):
        own, replies = list(records(file)), []
        for record in own:
            if record.get("type") == "agent.message.appended":
                usage = (record["message"].get("meta") or {}).get("usage")
                replies += [(record, usage)] if usage else []
        named = [record["model"].split("/")[-1] for record in own if record.get("type") == "usage.record"]
        of_records = [(record, record["usage"]) for record in own if record.get("type") == "usage.record"]
        beside = [(record, usage) for record, usage in of_records if record.get("usageScope") == "session"]
        for record, usage in replies + beside if replies else of_records:
            cached, written = usage.get("inputCacheRead", 0), usage.get("inputCacheCreation", 0)
            yield Request(named[0], at(record["time"]), usage["inputOther"] + cached + written, cached, written, 0, usage["output"])


def opencode(path):
    """Input is told without what a cache had a part in, and reasoning beside the output."""
    if path.suffix == ".json":
        infos = [message["info"] for message in json.loads(path.read_text())["messages"]]
    elif path.suffix == ".db":
        with sqlite3.connect(path) as database:
            infos = [json.loads(data) for (data,) in database.execute("SELECT data FROM message")]
    else:
        infos = [json.loads(file.read_text()) for file in files(path / "message", "*.json")]
    for info in infos:
        tokens = info.get("tokens")
        if info.get("role") == "assistant" and tokens:
            cached, written = tokens["cache"]["read"], tokens["cache"]["write"]
            output = tokens["output"] + tokens["reasoning"]
            yield Request(info["modelID"], at(info["time"]["created"]), tokens["input"] + cached + written, cached, written, 0, output)


def copilot(path):
    """The end of each run says what all requests came to since the session began."""
    last = {}
    for record in (record for file in files(path, "events.jsonl") for record in records(file)):
        if record.get("type") == "session.shutdown":
            last = {model: (metrics["usage"], record["timestamp"]) for model, metrics in record["data"]["modelMetrics"].items()}
    for model, (usage, time) in last.items():
        yield Request(model, at(time), usage["inputTokens"], usage["cacheReadTokens"], usage["cacheWriteTokens"], 0, usage["outputTokens"])


def openhands(path):
    """The state says what each of the client's models came to."""
    state = json.loads((path / "base_state.json").read_text())
    for metrics in state["stats"]["usage_to_metrics"].values():
        for usage in metrics["token_usages"]:
            cached, written = usage["cache_read_tokens"], usage["cache_write_tokens"]
            yield Request(usage["model"], None, usage["prompt_tokens"], cached, written, 0, usage["completion_tokens"])


CLIENTS = {
    "claude-code": claude_code, "codex": codex, "gemini-cli": gemini, "pi": pi, "qwen": qwen, "kimi": kimi,
    "opencode": opencode, "copilot-cli": copilot, "openhands": openhands,
}


def client_of(path):
    """By the name of a folder that it is in."""
    for part in reversed(path.resolve().parts):
        for name in CLIENTS:
            if part.startswith(name):
                return name
    sys.exit(f"{path}: no client's name is in its path")


def ours(tract, path):
    """Tokens and dollars by model, and all dollars; what no reply shows is of the model None."""
    with tempfile.TemporaryDirectory(prefix="tract-counts-") as folder:
        env = {"PATH": os.environ["PATH"], "HOME": folder, "TZ": "UTC", "NO_COLOR": "1"}
        run = lambda *words: subprocess.run([tract, *words], env=env, cwd=folder, capture_output=True, text=True)
        run("init", "-q")
        done = run("import", str(path.resolve()))
        told = run("api", "cost", '{"by": "model"}')
        try:
            told = json.loads(told.stdout)
        except ValueError:
            sys.exit(f"{path}: {done.stderr}{told.stderr}")
        rows = {row["name"]: row for row in told["rows"]}
        return rows, told["total"]


def compare(tract, path):
    """What differs, in words; and the sum."""
    client = client_of(path)
    wanted = collections.defaultdict(lambda: [0, 0, 0, 0])
    dollars, unpriced, requests = 0.0, set(), 0
    for request in CLIENTS[client](path):
        model, requests = request.model or "", requests + 1
        for place, count in enumerate((request.input, request.cached, request.written, request.output)):
            wanted[model][place] += count
        price = request.dollars()
        dollars += price or 0
        unpriced |= {model} if price is None else set()
    rows, total = ours(tract, path)
    keys = ("input_tokens", "cached_tokens", "written_tokens", "output_tokens")
    found = {name: [row["counted"][key] for key in keys] for name, row in rows.items()}
    others = found.pop("(other requests)", None)
    wanted = {model: counts for model, counts in wanted.items() if any(counts)}
    found = {model: counts for model, counts in found.items() if any(counts)}
    unlike = []
    whole = [sum(column) for column in zip(*wanted.values())] or [0] * 4
    all_here = [sum(column) for column in zip(*found.values(), *([others] if others else []))] or [0] * 4
    if (found != wanted if not others else whole != all_here):
        unlike.append(f"tokens: tract {dict(found)}{f', other requests {others}' if others else ''}, counted {dict(wanted)}")
    if abs(total["dollars"] - dollars) >= 0.005:
        unlike.append(f"dollars: tract {total['dollars']:.4f}, counted {dollars:.4f}")
    priced = f"${dollars:.2f}" if dollars else "no price"
    return client, f"{client:12} {requests:5} requests {sum(whole):13,} tokens {priced:>10}  {path.name}", unlike


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("sessions", nargs="+", type=Path, metavar="FILE-OR-FOLDER")
    asked = parser.parse_args()
    tract, clients, different = str(Path(asked.tract).resolve()), collections.Counter(), 0
    for path in asked.sessions:
        client, says, unlike = compare(tract, path)
        clients[client] += 1
        different += bool(unlike)
        print(says, *unlike, sep="\n    ")
    print(f"{len(asked.sessions)} sessions of {len(clients)} clients, {different} differ")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
