#!/usr/bin/env python3
"""What a home of Claude Code's sessions cost, as tract and as ccusage have it: by day, by session and by model.

    npm install --prefix peers @ccusage/ccusage-linux-x64@20.0.24
    python3 benches/bills.py --ccusage peers/node_modules/@ccusage/ccusage-linux-x64/bin/ccusage FOLDER...

The folders hold session files of Claude Code, with those of sub-agents where the client puts them. They are copied `--copies`
times under new ids, of sessions, agents, messages and requests, each a millisecond later. A reply without the id of its request is given one: without it ccusage
counts each record of a reply by day (findings/ccusage-days-count-what-sessions-do-not.sh). Every row that differs is
printed with what a count over the files makes of the difference, to the token; what is left unexplained ends the program
with 1. Dollars are compared where ccusage has a price for every model of a row.
"""

import argparse
import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import uuid
from datetime import datetime, timedelta
from pathlib import Path

from compare import HERE, note

COUNTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
# Half a cent.
EQUAL = 0.005
# How many rows that differ are listed.
LISTED = 30


class Reply:
    """One that a provider counted, in one file; of its records the greatest count."""

    def __init__(self, at, record, message, is_mirrored):
        self.at, self.time, self.model, self.is_mirrored = at, record["timestamp"], message.get("model"), is_mirrored
        session = record.get("sessionId")
        self.is_copy = bool(record.get("forkedFrom")) or record.get("requestSessionId", session) != session
        self.counts = (0, 0, 0, 0)


def records(text):
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def moved(time, milliseconds):
    moment = datetime.fromisoformat(time) + timedelta(milliseconds=milliseconds)
    return moment.isoformat(timespec="milliseconds")


def named(text, copy):
    """A file's text under new ids, and later by a millisecond for each copy."""
    if copy:
        text = re.sub(r'"(id|requestId)":"(msg|req)_', rf'"\1":"\2_{copy}x', text)
        text = re.sub(r'"agentId":"', f'"agentId":"c{copy}', text)
        # Two messages at one moment, in the same words, would be one commit.
        later = lambda found: f'{found[1]}{moved(found[2], copy)}Z"'
        text = re.sub(r'("timestamp":")([-0-9T:]{19}\.\d{3})Z"', later, text)
    began, lines = {}, []
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        message = record.get("message") if isinstance(record, dict) else None
        if isinstance(message, dict) and message.get("usage") and not record.get("requestId") and "timestamp" in record:
            began.setdefault(message["id"], record["timestamp"])
            line = line[:-1] + f',"requestId":"req_{message["id"]}_{began[message["id"]]}"' + "}"
        lines.append(line)
    return "".join(line + "\n" for line in lines)


def home(folder, sources, copies):
    """Copies all sessions into a home."""
    sessions = []
    for source in sources:
        for file in sorted(Path(source).rglob("*.jsonl")):
            own = list(records(file.read_text(errors="replace")))
            session = next((record["sessionId"] for record in own if isinstance(record.get("sessionId"), str)), None)
            # Other clients name sessions, too.
            is_claude = any("parentUuid" in record and "version" in record for record in own)
            if session and is_claude and "subagents" not in file.parts:
                sessions.append((file, session))
    made = 0
    for copy in range(copies):
        for at, (file, session) in enumerate(sessions):
            ids = {session, file.stem} if re.fullmatch(r"[0-9a-f-]{36}", file.stem) else {session}
            new = lambda old: str(uuid.uuid5(uuid.NAMESPACE_URL, f"{copy} {old}"))

            def write(file, to):
                text = file.read_text(errors="replace")
                for old in ids:
                    text = text.replace(old, new(old))
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(named(text, copy))

            to = folder / f".claude/projects/-home-user-{at % 40}" / new(file.stem if len(ids) > 1 or file.stem == session else session)
            # An earlier state of a session that is there.
            if to.with_suffix(".jsonl").exists():
                continue
            write(file, to.with_suffix(".jsonl"))
            made += 1
            for agent in file.with_suffix("").rglob("*.jsonl"):
                place = to / agent.relative_to(file.with_suffix(""))
                name = place.name.replace("agent-", f"agent-c{copy}") if copy else place.name
                write(agent, place.with_name(name))
    return made


def counted(folder):
    """Every reply in every file, by its message and request; where each stands: its session, and ccusage's name for it."""
    found = collections.defaultdict(list)
    for file in sorted(folder.glob(".claude/projects/**/*.jsonl")):
        parts = file.relative_to(folder / ".claude/projects").parts
        session = parts[1].removesuffix(".jsonl")
        theirs = file.parent.name if len(parts) > 4 else session
        here = {}
        for record in records(file.read_text(errors="replace")):
            is_mirrored = record.get("type") == "progress"
            if is_mirrored:
                record = (record.get("data") or {}).get("message") or {}
            message = record.get("message") if isinstance(record, dict) else None
            if not isinstance(message, dict) or not isinstance(message.get("usage"), dict) or "timestamp" not in record:
                continue
            name = (message.get("id"), record.get("requestId"))
            reply = here.setdefault(name, Reply((session, theirs), record, message, is_mirrored))
            counts = tuple(message["usage"].get(key) or 0 for key in COUNTS)
            reply.counts = max(reply.counts, counts, key=lambda counts: counts[3])
        for name, reply in here.items():
            found[name].append(reply)
    return found


def run(command, env, folder, text=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=env, cwd=folder, input=text, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(tract, by, env, folder):
    """Rows by name: four counts, dollars."""
    text, spent = run([tract, "api", "cost", json.dumps({"by": by})], env, folder)
    rows = {}
    for row in json.loads(text)["rows"]:
        counted = row["counted"]
        cached, written = counted["cached_tokens"], counted["written_tokens"]
        counts = (counted["input_tokens"] - cached - written, written, cached, counted["output_tokens"])
        rows[row["name"].split("/")[-1]] = (counts, row["dollars"])
    return rows, spent


def theirs(ccusage, by, env, folder):
    """The same, and the models that they have no price for."""
    kind = "session" if by == "session" else "daily"
    text, spent = run([str(ccusage), "claude", kind, "--json", "--offline", "--timezone", "UTC"], env, folder)
    said, rows = json.loads(text), collections.defaultdict(lambda: ((0, 0, 0, 0), 0.0))
    unpriced = set(said["totals"].get("unpricedModels", ()))
    for row in said["sessions" if by == "session" else "daily"]:
        parts = row["modelBreakdowns"] if by == "model" else [row]
        for part in parts:
            name = part["modelName"] if by == "model" else row["sessionId" if by == "session" else "date"]
            counts = tuple(part[key] for key in ("inputTokens", "cacheCreationTokens", "cacheReadTokens", "outputTokens"))
            old, dollars = rows[name]
            rows[name] = (plus(old, counts), dollars + part["cost" if by == "model" else "totalCost"])
    return rows, unpriced, spent


def plus(one, other, sign=1):
    return tuple(a + sign * b for a, b in zip(one, other))


def reasons(by, found):
    """What ccusage counts beyond tract, by row: by reason."""
    more = collections.defaultdict(lambda: collections.defaultdict(lambda: (0, 0, 0, 0)))

    def say(row, why, counts, sign=1):
        more[row][why] = plus(more[row][why], counts, sign)

    for replies in found.values():
        whole = max((reply.counts for reply in replies), key=lambda counts: counts[3])
        real = [reply for reply in replies if not reply.is_mirrored]
        first = replies[0]
        row = {"day": first.time[:10], "model": first.model, "session": first.at[0]}[by]
        if not real:
            say(row, "a sub-agent's reply that its parent's file mirrors alone is not counted there", whole, -1)
        if by != "session" or not real:
            continue
        session, name = real[0].at
        made = next((reply.at[0] for reply in real if not reply.is_copy), session)
        if made != session:
            why = "what a fork shares is counted there with the file whose name comes first"
            say(session, why, whole)
            say(made, why, whole, -1)
        if name != session:
            why = "a workflow's agents are a row of their own there"
            say(name, why, whole)
            say(session, why, whole, -1)
    return more


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--ccusage", required=True, help="where ccusage is")
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    asked = parser.parse_args()
    tract, ccusage = Path(asked.tract).resolve(), Path(asked.ccusage).resolve()
    unexplained = 0
    with tempfile.TemporaryDirectory(prefix="tract-bills-") as folder:
        folder = Path(folder)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "CLAUDE_CONFIG_DIR": str(folder / ".claude"), "TZ": "UTC", "NO_COLOR": "1"}
        sessions, repository = home(folder, asked.folders, asked.copies), folder / "repository"
        repository.mkdir()
        run([str(tract), "init", "-q"], env, repository)
        # What is wrong in a file is told, and ends the program with another code than 0; the rest of it is here.
        subprocess.run([str(tract), "import", "--all", "-q"], env=env, cwd=repository, capture_output=True)
        found = counted(folder)
        # The first one after an import reads what is new, and keeps it.
        first, times = ours(tract, "day", env, repository)[1], []
        for program in ([str(tract), "cost", "--by", "day"], [str(ccusage), "claude", "daily", "--offline", "--timezone", "UTC"]) * 5:
            times.append(run(program, env, repository)[1])
        own, other = sorted(times[::2])[2], sorted(times[1::2])[2]
        print(f"{sessions} sessions, {len(found):,} requests")
        print(f"by day, processor time, median of 5: tract {own:.3f} s (after the import once {first:.3f} s), ccusage {other:.3f} s: {own / other:.2f} of it")
        for by in ("day", "session", "model"):
            rows, spent = ours(tract, by, env, repository)
            other, unpriced, took = theirs(ccusage, by, env, repository)
            rows.pop("(other requests)", None)
            more, equal, unlike = reasons(by, found), 0, []
            models = collections.defaultdict(set)
            for reply in (reply for replies in found.values() for reply in replies):
                models[{"day": reply.time[:10], "model": reply.model, "session": reply.at[1]}[by]].add(reply.model)
            nothing = ((0, 0, 0, 0), 0.0)
            for name in sorted(set(rows) | set(other), key=str):
                (counts, dollars), (their_counts, their_dollars) = rows.get(name, nothing), other.get(name, nothing)
                is_priced = not models[name] & unpriced
                if counts == their_counts and (abs(dollars - their_dollars) < EQUAL or not is_priced):
                    equal += 1
                    continue
                why = {reason: all_of for reason, all_of in more[name].items() if any(all_of)}
                left = plus(their_counts, counts, -1)
                for all_of in why.values():
                    left = plus(left, all_of, -1)
                unexplained += any(left)
                unlike.append((name, plus(their_counts, counts, -1), why, left))
            print(f"by {by}: {equal} of {len(set(rows) | set(other))} rows are equal; tract {spent:.2f} s, ccusage {took:.2f} s of processor time")
            for name, beyond, why, left in sorted(unlike, key=lambda row: not any(row[3]))[:LISTED]:
                says = "; ".join(f"{reason}: {sum(all_of):+,}" for reason, all_of in why.items())
                print(f"    {name}: ccusage has {sum(beyond):+,} tokens. {says or 'No reason is known'}" + (f". Left: {left}" if any(left) else ""))
            if len(unlike) > LISTED:
                print(f"    and {len(unlike) - LISTED} more")
            if unpriced:
                note(f"by {by}, ccusage has no price for {', '.join(sorted(unpriced))}: dollars of such rows were left out")
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
