#!/usr/bin/env python3
"""tract beside git and bare SQLite: the same conversation in each, whole processes in turn, as ratios.

    python3 benches/compare.py                       1,000, 10,000 and 100,000 messages
    python3 benches/compare.py --million             and 1,000,000: some 20 GB of disk, half an hour
    python3 benches/compare.py --quick               a smoke run; its figures mean nothing
    python3 benches/compare.py --sessions FOLDER     also imports each session file of 1 MB or more

Needs a release build (`cargo build --release --locked`) and git; the groups `library` and `build` run cargo.
Python's standard library alone.
Each row is two commands, run A B A B …: the median and the least of each, the ratio of the medians,
and the most memory that tract took, from one more run. A target is the ratio that design asks for. Whoever looks at something
for the first time after a change waits longer: rows such as "commit, then log" are of that. All others are of what was looked at before.
"""

import argparse
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = (
    "the file of a test that reads every line and says which of them is wrong before the next "
    "commit is made so we look at src lib module function returns error value option result "
    "context window tokens message tool call output panic thread main borrow checker lifetime"
).split()
HERE = Path(__file__).resolve().parent.parent
PLAIN = {**os.environ, "NO_COLOR": "1", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
# What is written is on the disk when a command ends, as tract's is.
GIT = ["git", "-c", "core.fsync=all", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]


# --- the conversation -------------------------------------------------------------------------


def conversation(count, seed=1, size=None):
    """Messages in OpenAI's form: prompts, calls, results and answers, most of 50 to 2,000 bytes, one
    tool output in fifty up to 50 kB. `size`: all of about so many bytes."""
    chance = random.Random(seed)
    pool = " ".join(chance.choice(WORDS) for _ in range(40_000))
    for at in range(count):
        bytes_ = size or int(50 * 40 ** chance.random())
        if at % 4 == 2 and not size and chance.random() < 0.08:
            bytes_ = chance.randrange(2_000, 50_000)
        start = chance.randrange(0, len(pool) - bytes_)
        text = f"{at}: {pool[start:start + bytes_]}"
        call = {"id": f"call_{at - at % 4}", "type": "function"}
        call["function"] = {"name": "run", "arguments": json.dumps({"command": f"make {at}"})}
        match at % 4:
            case 0:
                yield {"role": "user", "content": text}
            case 1:
                yield {"role": "assistant", "content": text, "tool_calls": [call]}
            case 2:
                yield {"role": "tool", "tool_call_id": call["id"], "content": text}
            case _:
                yield {"role": "assistant", "content": text}


def claude_code(path, megabytes, at=0, session="7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10", several=400):
    """Goes on with a session file as Claude Code writes it until it has about so many MB, by `several` messages at least, from
    message `at` on, a multiple of 400; which message would come next."""
    name = lambda at: f"00000000-0000-4000-8000-{at:012}" if at >= 0 else None
    begins = at
    with open(path, "a") as out:
        parent = name(at - 1) if out.tell() else None
        while at == begins or out.tell() < megabytes * 1_000_000:
            for message in conversation(several, seed=at):
                text = message["content"]
                record = {"parentUuid": parent, "isSidechain": False, "sessionId": session}
                record |= {"uuid": name(at), "cwd": "/home/user/p", "version": "2.1.0"}
                record["timestamp"] = f"2026-01-{1 + at // 86400 % 28:02}T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.000Z"
                if message["role"] == "assistant":
                    content = [{"type": "text", "text": text}]
                    for call in message.get("tool_calls", []):
                        made = json.loads(call["function"]["arguments"])
                        content.append({"type": "tool_use", "id": f"toolu_{at}", "name": "Bash", "input": made})
                    body = {"id": f"msg_{at}", "role": "assistant", "model": "claude-opus-4-8", "content": content}
                    body["usage"] = {"input_tokens": 10 + at, "output_tokens": len(text) // 4}
                    record |= {"type": "assistant", "message": body}
                elif message["role"] == "tool":
                    result = {"type": "tool_result", "tool_use_id": f"toolu_{at - 1}", "content": text}
                    record |= {"type": "user", "message": {"role": "user", "content": [result]}}
                    record["toolUseResult"] = {"stdout": text, "stderr": ""}
                else:
                    record |= {"type": "user", "message": {"role": "user", "content": text}}
                out.write(json.dumps(record) + "\n")
                parent, at = name(at), at + 1
    return at


# --- the repositories -------------------------------------------------------------------------


class Places:
    """Builds each repository once, below one folder."""

    def __init__(self, folder, tract):
        self.folder, self.tract_binary = Path(folder), tract

    def made(self, name, make):
        folder = self.folder / name
        if not folder.exists():
            started = time.monotonic()
            half = self.folder / f"{name}.half"
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            make(half)
            half.rename(folder)
            note(f"made {name} in {time.monotonic() - started:.0f} s")
        return folder

    def run(self, folder, *args, **more):
        done = subprocess.run([self.tract_binary, *args], cwd=folder, env=PLAIN, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, **more)
        if done.returncode:
            sys.exit(f"tract {' '.join(args)}: {done.stderr.decode()}")

    def tract(self, count, hidden=False, size=None):
        """The conversation in tract; `hidden`: all but the last 200 out of sight."""
        def make(folder):
            self.run(folder, "init", "-q")
            batch, messages = folder / "batch.jsonl", conversation(count, size=size)
            # A batch is read whole, and one that is longer than 256 MiB is refused.
            while some := list(itertools.islice(messages, 200_000)):
                batch.write_text("".join(json.dumps(message) + "\n" for message in some))
                self.run(folder, "commit", "-q", "--batch", "batch.jsonl")
            batch.unlink()
            if hidden:
                self.run(folder, "truncate", "-q", "--keep", "200")
        tail = ("-hidden" if hidden else "") + (f"-{size}" if size else "")
        return self.made(f"tract-{count}{tail}", make)

    def git(self, count, checked_out=True):
        """The same with one file a message, each in a commit."""
        def make(folder):
            subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, env=PLAIN, check=True)
            for key, value in (("user.name", "A"), ("user.email", "a@example.org")):
                subprocess.run(["git", "config", key, value], cwd=folder, env=PLAIN, check=True)
            load = subprocess.Popen(["git", "fast-import", "--quiet"], cwd=folder, env=PLAIN, stdin=subprocess.PIPE)
            for at, message in enumerate(conversation(count)):
                text = json.dumps(message).encode()
                head = f"commit refs/heads/main\ncommitter A <a@example.org> {1_700_000_000 + at} +0000\n"
                note_ = message["content"][:60].replace("\n", " ").encode()
                load.stdin.write(head.encode() + b"data %d\n" % len(note_) + note_ + b"\n")
                place = f"M 100644 inline {at // 10_000:03}/{at // 100 % 100:02}/{at % 100:02}.json\n"
                load.stdin.write(place.encode() + b"data %d\n" % len(text) + text + b"\n")
            load.stdin.close()
            if load.wait():
                sys.exit("git fast-import failed")
            if checked_out:
                subprocess.run([*GIT, "reset", "-q", "--hard"], cwd=folder, env=PLAIN, check=True)
        return self.made(f"git-{count}", make)

    def git_lines(self, count):
        """The same as one growing file, with one commit: only the cost of the next is asked."""
        def make(folder):
            subprocess.run([*GIT, "init", "-q", "-b", "main"], cwd=folder, env=PLAIN, check=True)
            for key, value in (("user.name", "A"), ("user.email", "a@example.org")):
                subprocess.run(["git", "config", key, value], cwd=folder, env=PLAIN, check=True)
            with open(folder / "talk.jsonl", "w") as out:
                out.writelines(json.dumps(message) + "\n" for message in conversation(count))
            subprocess.run([*GIT, "add", "."], cwd=folder, env=PLAIN, check=True)
            subprocess.run([*GIT, "commit", "-qm", "all"], cwd=folder, env=PLAIN, check=True)
        return self.made(f"git-lines-{count}", make)


# --- measuring --------------------------------------------------------------------------------

# Runs a command, and says its greatest size on standard output. A child's begins at that of who starts it, so this
# starts it that is small itself.
WEIGH = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
_, status, used = os.wait4(child, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Side:
    """One of two things that are compared: a command, or several that are taken in turn."""

    cpu = False

    def __init__(self, folder, *commands, before=None, env=PLAIN):
        self.folder, self.commands, self.before, self.env = folder, commands, before, env
        self.seconds, self.memory, self.round = [], 0, 0

    def run(self):
        command = self.commands[self.round % len(self.commands)]
        if self.before:
            self.before(self.round)
        self.round += 1
        started = time.monotonic()
        child = subprocess.Popen(command, cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        spent = used.ru_utime + used.ru_stime if Side.cpu else time.monotonic() - started
        self.seconds.append(spent)
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
        if child.returncode:
            sys.exit(f"{command} in {self.folder}: {child.returncode}\n{said.decode()}")

    def weigh(self):
        """One more run, which is not timed: how much memory it took."""
        command = self.commands[self.round % len(self.commands)]
        if self.before:
            self.before(self.round)
        self.round += 1
        program = shutil.which(command[0]) or command[0]
        done = subprocess.run([sys.executable, "-I", "-S", "-c", WEIGH, program, *command[1:]], cwd=self.folder, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode:
            sys.exit(f"{command} in {self.folder}: {done.returncode}\n{done.stderr.decode()}")
        self.memory = max(self.memory, int(done.stdout) / 1024)

    def finish(self):
        """Runs what is left of commands that are taken in turn."""
        while self.round % len(self.commands):
            self.run()
            self.seconds.pop()

    def median(self):
        return statistics.median(self.seconds)


def stays(command, folder, messages):
    """Has one process commit each message by itself; how many seconds each of them took."""
    api = subprocess.Popen([*command, "api"], cwd=folder, env=PLAIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    seconds = []
    for at, message in enumerate(messages):
        began = time.monotonic()
        api.stdin.write(json.dumps({"id": at, "method": "commit", "params": {"json": message}}) + "\n")
        api.stdin.flush()
        answer = api.stdout.readline()
        if '"result"' not in answer:
            sys.exit(answer)
        seconds.append(time.monotonic() - began)
    api.stdin.close()
    api.wait()
    return seconds


class Table:
    def __init__(self, runs):
        self.runs, self.rows = runs, []

    def pair(self, work, size, ours, theirs, peer, target, runs=None):
        """Runs both in turn, after one more of each, which tells what memory ours takes."""
        ours.weigh()
        theirs.run()
        theirs.seconds.clear()
        for _ in range(runs or self.runs):
            for side in (ours, theirs):
                side.run()
        ours.finish()
        theirs.finish()
        ratio = ours.median() / theirs.median()
        self.add(work, size, f"{ms(ours)}", f"{ms(theirs)} {peer}", f"{ratio:.2f} ×", target, in_megabytes(ours.memory),
                 None if target is None else ratio <= target)

    def within(self, work, size, ours, unit, most, runs=None):
        """Ours alone, which may take so many of `unit`: milliseconds or seconds."""
        ours.weigh()
        for _ in range(runs or self.runs):
            ours.run()
        ours.finish()
        spent = ours.median() * {"ms": 1000, "s": 1}[unit]
        self.add(work, size, ms(ours), "", f"{spent:.3g} {unit}", f"{most} {unit}", in_megabytes(ours.memory), spent <= most)

    def add(self, work, size, ours, theirs, figure, target, memory, holds):
        mark = {None: "", True: "yes", False: "**no**"}[holds]
        shown = "" if target is None else f"{target}"
        self.rows.append((work, size, ours, theirs, figure, shown, mark, memory))
        note(" | ".join(self.rows[-1]))

    def markdown(self):
        head = ("work", "messages", "tract", "beside", "figure", "target", "holds", "MB")
        rows = [head, tuple("---" for _ in head), *self.rows]
        return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def ms(side):
    return f"{1000 * side.median():.1f} ({1000 * min(side.seconds):.1f}) ms"


def in_megabytes(memory):
    return f"{memory:.0f}" if memory else ""


def note(text):
    print(text, file=sys.stderr, flush=True)


def thousands(count):
    return f"{count:,}"


def disk(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


# --- the rows ---------------------------------------------------------------------------------


def looking(table, places, tract, count, base):
    """What one looks at, beside git's at the same size, and beside tract's own at `base`."""
    ours, theirs, small = places.tract(count), places.git(count), places.tract(base)
    size = thousands(count)
    back = f"HEAD~{count // 2}"
    short = subprocess.run([tract, "rev-parse", back], cwd=ours, env=PLAIN, capture_output=True, text=True).stdout[:12]
    git_short = subprocess.run(["git", "rev-parse", back], cwd=theirs, env=PLAIN, capture_output=True, text=True).stdout[:12]
    small_short = subprocess.run([tract, "rev-parse", f"HEAD~{base // 2}"], cwd=small, env=PLAIN, capture_output=True, text=True).stdout[:12]
    works = [
        ("log -n 20", ["log", "-n", "20"], ["log", "-n", "20", "--oneline"]),
        ("show", ["show"], ["show"]),
        ("a prefix", ["rev-parse", short], ["rev-parse", git_short]),
        ("reset", [["reset", "-q", "HEAD~1"], ["reset", "-q", "ORIG_HEAD"]],
         [["reset", "-q", "--soft", "HEAD~1"], ["reset", "-q", "--soft", "ORIG_HEAD"]]),
        ("checkout", [["checkout", "-q", "HEAD~10"], ["checkout", "-q", "main"]],
         [["checkout", "-q", "--detach", "HEAD~10"], ["checkout", "-q", "main"]]),
        ("status", ["status"], ["status", "--short"]),
    ]
    for work, mine, git in works:
        several = isinstance(mine[0], list)
        mine, git = (mine, git) if several else ([mine], [git])
        with_tract = [[tract, *args] for args in mine]
        table.pair(work, size, Side(ours, *with_tract), Side(theirs, *([*GIT, *args] for args in git)), "git",
                   1.2 if work != "status" else None)
        if count > base and work != "status":
            there = [[tract, *(small_short if arg == short else arg for arg in args)] for args in mine]
            table.pair(work, size, Side(ours, *with_tract), Side(small, *there), f"at {thousands(base)}", 1.2)
    runs = 3 if count > 10_000 else None
    table.pair("log -n 0", size, Side(ours, [tract, "log", "--oneline", "-n", "0"]),
               Side(theirs, [*GIT, "log", "--oneline"]), "git", 0.5, runs)


def looking_first(table, places, tract, count):
    """What one sees who has just changed something: what is known of the context is to be made up for there."""
    # On a copy: other rows are of as many messages as they say.
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        ours, size = Path(folder) / "ours", thousands(count)
        shutil.copytree(places.tract(count), ours)
        one = lambda _: places.run(ours, "commit", "-q", "-r", "user", "-m", "one more message of some forty bytes")
        for work in ("log -n 20", "show", "status"):
            look = [tract, *work.split()]
            table.within(f"commit, then {work}", size, Side(ours, look, before=one), "ms", 12)
        batch = ours / "more.jsonl"
        batch.write_text("".join(json.dumps(message) + "\n" for message in conversation(1_000, seed=2)))
        many = lambda _: places.run(ours, "commit", "-q", "--batch", "more.jsonl")
        look = [tract, "log", "-n", "20"]
        runs = min(table.runs, 5)
        table.pair("a batch of 1,000, then log -n 20", size, Side(ours, look, before=many), Side(ours, look, before=one), "after one", 1.2, runs)
        batch.unlink()

        hide = lambda: places.run(ours, "truncate", "-q", "--keep", str(count // 2))

        def again(_):
            places.run(ours, "undo", "-q")
            hide()

        hide()
        for work in ("log -n 20", "status"):
            table.within(f"truncate, then {work}", size, Side(ours, [tract, *work.split()], before=again), "ms", 12, runs)
        places.run(ours, "undo", "-q")


def looking_after_import(table, places, tract, megabytes):
    made = places.made(f"session-{megabytes}", lambda folder: claude_code(folder / "session.jsonl", megabytes))
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        def fresh(_):
            shutil.rmtree(Path(folder) / ".tract", ignore_errors=True)
            places.run(folder, "init", "-q")
            places.run(folder, "import", "-q", str(made / "session.jsonl"))
        table.within("import, then log -n 20", f"made, {megabytes} MB", Side(folder, [tract, "log", "-n", "20"], before=fresh), "ms", 12, min(table.runs, 5))


def committing_far(table, places, tract, count, base):
    """That a commit costs the same, however many stand before it."""
    commit = [tract, "commit", "-q", "-r", "user", "-m", "one more message of some forty bytes"]
    ours, few = Side(places.tract(count), commit), Side(places.tract(base), commit)
    table.pair("commit", thousands(count), ours, few, f"at {thousands(base)}", 1.2)


def committing(table, places, tract, count):
    ours, files, lines = places.tract(count), places.git(count), places.git_lines(count)
    line = json.dumps({"role": "user", "content": "one more message of some forty bytes"})

    def new_file(round_):
        (files / f"new-{round_}.json").write_text(line)

    def new_line(round_):
        with open(lines / "talk.jsonl", "a") as out:
            out.write(line + "\n")

    git = "git add -A . && git commit -qm more"
    git = git.replace("git ", " ".join(GIT) + " ")
    ours_side = lambda: Side(ours, [tract, "commit", "-q", "-r", "user", "-m", "one more message of some forty bytes"])
    table.pair("commit", thousands(count), ours_side(), Side(files, ["sh", "-c", git], before=new_file), "git, files", 0.5)
    table.pair("commit", thousands(count), ours_side(), Side(lines, ["sh", "-c", git], before=new_line), "git, one file", 0.5)


def hidden(table, places, tract, count):
    """200 visible behind `count` hidden, beside a repository of just those 200."""
    ours, few = places.tract(count, hidden=True), places.tract(200)
    for work in ("status", "compile", "log -n 20"):
        table.pair(f"{work}, 200 behind", thousands(count), Side(ours, [tract, *work.split()]), Side(few, [tract, *work.split()]), "of 200", 1.3)


def compiling(table, places, tract, count):
    ours = places.tract(count, size=1_000)
    side, nothing = Side(ours, [tract, "compile"]), Side(ours, [tract, "--version"])
    side.weigh()
    for _ in range(table.runs):
        side.run()
        nothing.run()
    payload = len(subprocess.run([tract, "compile"], cwd=ours, env=PLAIN, capture_output=True).stdout)
    rate = payload / 1e6 / (side.median() - nothing.median())
    table.add("compile, cold", f"{thousands(count)} × 1 kB", ms(side), "", f"{rate:.0f} MB/s", "250", in_megabytes(side.memory), rate >= 250)
    times = side.memory * 1024 * 1024 / payload
    table.add("compile, memory", f"{thousands(count)} × 1 kB", f"{side.memory:.0f} MB", f"{payload / 1e6:.1f} MB payload", f"{times:.1f} ×", "3", in_megabytes(side.memory), times <= 3)
    back = f"HEAD~{count // 3}"
    table.pair("diff of two contexts", thousands(count), Side(ours, [tract, "diff", "--stat", back, "HEAD"]), Side(ours, [tract, "compile"]), "compile", 2.0)


def bringing_in(table, places, tract, megabytes):
    made = places.made(f"session-{megabytes}", lambda folder: claude_code(folder / "session.jsonl", megabytes))
    imported(table, places, tract, made / "session.jsonl", f"made, {megabytes} MB")


def imported(table, places, tract, source, name):
    seconds, memory, room = [], 0, 0
    for _ in range(max(1, table.runs // 4)):
        with tempfile.TemporaryDirectory(dir=places.folder) as folder:
            places.run(folder, "init", "-q")
            side = Side(folder, [tract, "import", "-q", str(source)])
            if not memory:
                side.weigh()
                memory = side.memory
                shutil.rmtree(Path(folder) / ".tract")
                places.run(folder, "init", "-q")
            side.run()
            # The search index, too: the first search makes it.
            find = Side(folder, [tract, "find", "-F", "-q", "a-word-that-is-nowhere"])
            try:
                find.run()
            except SystemExit:
                pass
            seconds.append(side.seconds[0] + find.seconds[0])
            room = disk(folder)
            subprocess.run([tract, "gc", "-q"], cwd=folder, env=PLAIN, check=True)
            left = disk(folder)
    size = os.path.getsize(source)
    rate = size / 1e6 / statistics.median(seconds)
    table.add("import and index", name, f"{1000 * statistics.median(seconds):.0f} ms", "", f"{rate:.0f} MB/s", "40", in_megabytes(memory), rate >= 40)
    for work, kept in [("disk", room), ("disk after gc", left)]:
        table.add(work, name, f"{kept / 1e6:.1f} MB", f"{size / 1e6:.1f} MB source", f"{kept / size:.2f} ×", "0.5", "", kept / size <= 0.5)


def room(table, places, tract, count):
    ours, theirs = places.tract(count), places.git(count)
    subprocess.run([*GIT, "gc", "-q", "--prune=now"], cwd=theirs, env=PLAIN, check=True)
    packed, before = disk(theirs / ".git" / "objects"), disk(ours / ".tract")
    subprocess.run([tract, "gc", "-q"], cwd=ours, env=PLAIN, check=True)
    for work, kept in [("disk", before), ("disk after gc", disk(ours / ".tract"))]:
        table.add(work, thousands(count), f"{kept / 1e6:.1f} MB", f"{packed / 1e6:.1f} MB git gc", f"{kept / packed:.2f} ×", "1.0", "", kept <= packed)


def reaching_far(table, places, tract, count):
    """What touches all of a long history, in 1 s and 200 MB at a million."""
    def once(name, *args, restore=True):
        ours = places.tract(count)
        side = Side(ours, [tract, *args])
        for run in (side.weigh, side.run, side.run, side.run):
            run()
            if restore:
                places.run(ours, "undo", "-q")
        holds = side.median() <= 1.0 and side.memory <= 200
        table.add(name, thousands(count), ms(side), "", f"{side.median():.2f} s", "1 s, 200 MB", in_megabytes(side.memory), holds)
    once("truncate", "truncate", "-q", "--keep", "200")
    once(f"compile HEAD~{count * 7 // 10}", "compile", f"HEAD~{count * 7 // 10}", restore=False)
    ours = places.tract(count, hidden=True)
    side = Side(ours, [tract, "restore", "-q", "HEAD"])
    for run in (side.weigh, side.run, side.run, side.run):
        run()
        places.run(ours, "undo", "-q")
    holds = side.median() <= 1.0 and side.memory <= 200
    table.add("restore", thousands(count), ms(side), "", f"{side.median():.2f} s", "1 s, 200 MB", in_megabytes(side.memory), holds)


def searching(table, places, tract, count):
    ours = places.tract(count)
    word = f"make {count // 2 + (1 - count // 2 % 4) % 4}"
    places.run(ours, "find", "-F", "-q", word)
    table.within("find, a rare word", thousands(count), Side(ours, [tract, "find", "-F", word]), "ms", 30)


def following(table, places, tract, megabytes, more):
    """What comes to a session that `watch` has taken in, `more` MB a time."""
    with tempfile.TemporaryDirectory(dir=places.folder) as home:
        talk = Path(home) / ".claude/projects/-home-user-p/7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10.jsonl"
        talk.parent.mkdir(parents=True)
        env = {"PATH": PLAIN["PATH"], "HOME": home, "NO_COLOR": "1"}
        at, size = claude_code(talk, megabytes), megabytes
        once = [tract, "watch", "--once", "-q"]
        subprocess.run([tract, "init", "-q"], cwd=home, env=env, check=True)
        subprocess.run(once, cwd=home, env=env, check=True)

        def grow(_):
            nonlocal at, size
            size += more
            at = claude_code(talk, size, at)

        grown, idle = Side(home, once, before=grow, env=env), Side(home, once, env=env)
        grown.weigh()
        for _ in range(table.runs):
            grown.run()
            idle.run()
        spent = 1000 * (grown.median() - idle.median())
        table.add(f"watch, {more} MB more", f"{megabytes:,} MB", ms(grown), f"{ms(idle)} nothing new", f"{spent:.0f} ms", "50",
                  in_megabytes(grown.memory), spent <= 50)


def library(table):
    """What `benches/` measures of the library, in processes of its own."""
    def said(name):
        done = subprocess.run(["cargo", "bench", "--locked", "-q", "--bench", name], cwd=HERE, env=PLAIN, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"cargo bench --bench {name}: {done.stderr}")
        return done.stdout.splitlines()

    append = re.match(r"an append +(\S+) +bare (\S+): (\S+) of", said("append")[0])
    ours, bare, share = append.groups()
    table.add("library: append", "10,000", ours, f"{bare} bare SQLite", f"{share} of its rate", "0.6", "", float(share) >= 0.6)
    units = {"ns": 0.001, "µs": 1, "ms": 1000, "s": 1_000_000}
    for line in said("cache"):
        step, number, unit = re.match(r"(.+?)  +([\d.]+)(ns|µs|ms|s)\b", line).groups()
        spent, most = float(number) * units[unit], {"cold": None, "hit": 1}.get(step, 100)
        table.add(f"cache: {step}", "10,000", f"{number} {unit}", "", f"{spent:.3g} µs", most and str(most), "", most and spent <= most)


def building(table, places):
    """A newcomer's first build, with every crate at hand."""
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        started = time.monotonic()
        env = {**PLAIN, "CARGO_TARGET_DIR": folder}
        subprocess.run(["cargo", "build", "--release", "--locked", "-q"], cwd=HERE, env=env, check=True)
        spent = time.monotonic() - started
    table.add("the first build", "", f"{spent:.0f} s", "", f"{spent:.0f} s", "90", "", spent <= 90)


def starting(table, tract):
    table.pair("--version", "", Side(".", [tract, "--version"]), Side(".", ["/bin/true"]), "/bin/true", 2.0, 4 * table.runs)
    size = os.path.getsize(tract) / 1e6
    table.add("the binary", "", f"{size:.1f} MB", "", f"{size:.1f} MB", "14", "", size <= 14)


def writing_in_bulk(table, places, tract, count):
    """A batch in one transaction, beside bare rows of the same bytes."""
    messages = [json.dumps(message) for message in conversation(count, size=200)]
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        batch = Path(folder) / "batch.jsonl"
        batch.write_text("\n".join(messages) + "\n")
        spent, bare = [], []
        for at in range(3):
            mine = Path(folder) / str(at)
            mine.mkdir()
            places.run(mine, "init", "-q")
            side = Side(mine, [tract, "commit", "-q", "--batch", str(batch)])
            if at == 0:
                side.weigh()
                memory = side.memory
                shutil.rmtree(mine / ".tract")
                places.run(mine, "init", "-q")
            side.run()
            spent.append(side.seconds[0])
            started = time.monotonic()
            rows = sqlite3.connect(mine / "bare.db")
            rows.execute("PRAGMA journal_mode=WAL")
            rows.execute("CREATE TABLE messages (id INTEGER PRIMARY KEY, body TEXT)")
            rows.executemany("INSERT INTO messages (body) VALUES (?)", ((text,) for text in messages))
            rows.commit()
            rows.close()
            bare.append(time.monotonic() - started)
    rate = count / statistics.median(spent)
    table.add("a batch", thousands(count), f"{1000 * statistics.median(spent):.0f} ms", f"{1000 * statistics.median(bare):.0f} ms bare SQLite",
              f"{rate:,.0f}/s", "60,000", in_megabytes(memory), rate >= 60_000)


def recording(table, places, tract, count):
    """A message of a live stream costs the same however long the stream is: what the recorder's CPU takes for the second thousandth
    of the stream, and for the last."""
    session = "7d0b4d9c-0b5e-4a51-9c8f-2f8b4d1f7a10"
    step = count // 100
    # A message that may go on is committed after two seconds; in a smoke run nobody waits for it.
    pause = 0.5 if count > 1_000 else 0.05
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        places.run(folder, "init", "-q")
        said = Path(folder) / "said"
        recorder = subprocess.Popen([tract, "record", "-q"], cwd=folder, env=PLAIN, stdin=subprocess.PIPE,
                                    stdout=subprocess.DEVNULL, stderr=said.open("wb"))
        tick = os.sysconf("SC_CLK_TCK")

        def spent():
            fields = Path(f"/proc/{recorder.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(fields[11]) + int(fields[12])) / tick

        def put(record):
            recorder.stdin.write(json.dumps({**record, "session_id": session, "uuid": f"{next(numbers):032x}"}).encode() + b"\n")

        def settled():
            """The CPU's time once all that was put is committed."""
            recorder.stdin.flush()
            last, same = spent(), 0
            while same < 5:
                time.sleep(pause)
                now = spent()
                # It looks at the clock now and then.
                same, last = (same + 1 if now - last <= 0.02 else 0), now
            return last

        numbers, taken, before = itertools.count(), [], None
        put({"type": "system", "subtype": "init", "cwd": "/home/user/p", "model": "claude-opus-4-8", "claude_code_version": "2.1.197", "tools": []})
        for at in range(count):
            if at in (step, 2 * step, count - step):
                now = settled()
                if at == 2 * step:
                    taken.append(now - before)
                before = now
            call, text = f"toolu_{at - at % 2}", f"{at}: one more message of some forty bytes"
            # Now and then somebody says something: calls in a row are drawn as one while more may join them.
            if at % 40 < 2:
                put({"type": "user", "message": {"role": "user", "content": text}, "parent_tool_use_id": None})
            elif at % 2:
                body = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}
                put({"type": "user", "message": body, "parent_tool_use_id": None})
            else:
                content = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"make {at}"}}]
                body = {"id": f"msg_{at}", "type": "message", "role": "assistant", "model": "claude-opus-4-8", "content": content,
                        "usage": {"input_tokens": 10, "output_tokens": 5}}
                put({"type": "assistant", "message": body, "parent_tool_use_id": None})
        taken.append(settled() - before)
        recorder.stdin.close()
        if recorder.wait():
            sys.exit(f"tract record: {said.read_text()}")
        there = subprocess.run([tract, "log", "--oneline", "-n", "0"], cwd=folder, env=PLAIN, capture_output=True, text=True).stdout
        if there.count("\n") < count:
            sys.exit(f"tract record: not all is there: {there.count(chr(10))} of {count}")
    few, many = (1000 * spent_ / step for spent_ in taken)
    table.add("record, a message", thousands(count), f"{many:.3f} ms CPU", f"{few:.3f} ms CPU at {thousands(2 * step)}", f"{many / max(few, 1e-9):.2f} ×", "1.2",
              "", many <= 1.2 * few)


def small(table, places, tract, many, few):
    """Many short conversations, of eight messages each."""
    def home(count):
        def make(folder):
            for at in range(count):
                session = f"{at:08x}-0b5e-4a51-9c8f-2f8b4d1f7a10"
                talk = folder / ".claude/projects" / f"-home-user-p{at % 40}" / f"{session}.jsonl"
                talk.parent.mkdir(parents=True, exist_ok=True)
                claude_code(talk, 0, 400 * at, session, 8)
            subprocess.run([tract, "init", "-q"], cwd=folder, env={**PLAIN, "HOME": str(folder)}, check=True)
            subprocess.run([tract, "import", "-q", "--all"], cwd=folder, env={**PLAIN, "HOME": str(folder)}, check=True, capture_output=True)
        return places.made(f"small-{count}", make)

    ours, less = home(many), home(few)
    size = f"{thousands(many)} × 8"
    env = lambda folder: {**PLAIN, "HOME": str(folder)}
    first = Side(ours, [tract, "branch"], env=env(ours))
    first.run()
    table.add("the first branch", size, ms(first), "", f"{first.seconds[0]:.2f} s", None, "", None)
    again = Side(ours, [tract, "branch"], env=env(ours))
    again.weigh()
    for _ in range(table.runs):
        again.run()
    each_ = 1000 * again.median() / many
    table.add("branch", size, ms(again), "", f"{each_:.2f} ms a branch", "0.35", in_megabytes(again.memory), each_ <= 0.35)
    for work in (["branch", "-n", "20"], ["status"], ["import", "--all", "--list", "-n", "20"]):
        look = [tract, *work]
        table.pair(" ".join(work), size, Side(ours, look, env=env(ours)), Side(less, look, env=env(less)), f"at {thousands(few)}", 1.2)
    # What an agent's client runs as a session ends.
    talk = next((ours / ".claude/projects").rglob("*.jsonl"))
    said = json.dumps({"session_id": talk.stem, "transcript_path": str(talk), "hook_event_name": "SessionEnd", "cwd": str(ours)})
    hook = ["sh", "-c", 'printf %s "$1" | "$0" import --hook', tract, said]
    table.within("a hook", f"{thousands(many)} sessions", Side(ours, hook, env=env(ours)), "ms", 300)
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}})
    answer = ["sh", "-c", 'printf "%s\\n" "$1" | "$0" mcp', tract, hello]
    table.within("mcp, the first answer", f"{thousands(many)} sessions", Side(ours, answer, env=env(ours)), "ms", 100)
    files = disk(ours / ".claude")
    subprocess.run([tract, "gc", "-q"], cwd=ours, env=env(ours), check=True)
    kept = disk(ours / ".tract")
    table.add("disk after gc", size, f"{kept / 1e6:.1f} MB", f"{files / 1e6:.1f} MB source", f"{kept / files:.2f} ×", "1.0", "", kept <= files)


def pushing(table, places, tract, megabytes):
    """A session to a new folder: processor time."""
    made = places.made(f"session-{megabytes}", lambda folder: claude_code(folder / "session.jsonl", megabytes))
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        places.run(folder, "init", "-q")
        places.run(folder, "import", "-q", str(made / "session.jsonl"))
        there = Path(folder) / "there"
        push = [tract, "push", "-q", "--all", str(there)]

        def empty(_):
            shutil.rmtree(there, ignore_errors=True)
            there.mkdir()
            places.run(there, "init", "-q")

        side = Side(folder, push, before=empty)
        clock, Side.cpu = Side.cpu, True
        table.within("push, processor time", f"made, {megabytes} MB", side, "s", 2, 3)
        Side.cpu = clock


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"), help="the program (target/release/tract)")
    parser.add_argument("--work", help="where the repositories are made, and kept")
    parser.add_argument("--runs", type=int, default=15, help="how often each of a pair is run (15)")
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of the clock's, for a busy machine")
    parser.add_argument("--quick", action="store_true", help="small and short: that it runs at all")
    parser.add_argument("--million", action="store_true", help="1,000,000 messages as well")
    parser.add_argument("--only", default="", help="groups, with commas: " + ", ".join(GROUPS))
    parser.add_argument("--sessions", help="a folder of session files to bring in")
    asked = parser.parse_args()
    Side.cpu = asked.cpu
    tract = str(Path(asked.tract).resolve())
    if not os.access(tract, os.X_OK):
        sys.exit(f"{tract} is not there: cargo build --release --locked")
    sizes = [200, 1_000] if asked.quick else [1_000, 10_000, 100_000] + [1_000_000] * asked.million
    table = Table(2 if asked.quick else asked.runs)
    only = asked.only.split(",") if asked.only else list(GROUPS)
    temporary = None if asked.work else tempfile.TemporaryDirectory(prefix="tract-compare-")
    places = Places(asked.work or temporary.name, tract)
    places.folder.mkdir(parents=True, exist_ok=True)
    base = sizes[min(1, len(sizes) - 1)]
    for group in only:
        if group not in GROUPS:
            sys.exit(f"no group {group}: {', '.join(GROUPS)}")
        GROUPS[group](table, places, tract, sizes, base, asked)
    print(table.markdown(), end="")
    if temporary:
        temporary.cleanup()


def each(row):
    def rows(table, places, tract, sizes, base, asked):
        for count in sizes:
            row(table, places, tract, count, base)
    return rows


GROUPS = {
    "start": lambda table, places, tract, sizes, base, asked: starting(table, tract),
    "commit": lambda table, places, tract, sizes, base, asked: (
        [committing(table, places, tract, count) for count in sizes[:2]],
        committing_far(table, places, tract, sizes[-1], sizes[0])),
    "look": each(lambda table, places, tract, count, base: looking(table, places, tract, count, base)),
    "first": lambda table, places, tract, sizes, base, asked: (
        [looking_first(table, places, tract, count) for count in sizes],
        looking_after_import(table, places, tract, 1 if asked.quick else 29)),
    "hidden": each(lambda table, places, tract, count, base: hidden(table, places, tract, count)),
    "compile": lambda table, places, tract, sizes, base, asked: compiling(table, places, tract, base),
    "batch": lambda table, places, tract, sizes, base, asked: writing_in_bulk(table, places, tract, 1_000 if asked.quick else 100_000),
    "find": lambda table, places, tract, sizes, base, asked: searching(table, places, tract, sizes[-1]),
    "far": lambda table, places, tract, sizes, base, asked: reaching_far(table, places, tract, sizes[-1]),
    "import": lambda table, places, tract, sizes, base, asked: (
        [bringing_in(table, places, tract, megabytes) for megabytes in ([1] if asked.quick else [29, 100, 300])],
        [imported(table, places, tract, path, path.name[:40]) for path in sorted(Path(asked.sessions).rglob("*.jsonl"))
         if os.path.getsize(path) > 1_000_000] if asked.sessions else None),
    "push": lambda table, places, tract, sizes, base, asked: pushing(table, places, tract, 1 if asked.quick else 100),
    "small": lambda table, places, tract, sizes, base, asked: small(table, places, tract, *((20, 10) if asked.quick else (100_000 if asked.million else 5_000, 500))),
    "record": lambda table, places, tract, sizes, base, asked: recording(table, places, tract, 400 if asked.quick else 100_000),
    "disk": lambda table, places, tract, sizes, base, asked: room(table, places, tract, base),
    "watch": lambda table, places, tract, sizes, base, asked: following(table, places, tract, 1 if asked.quick else 1_000, 1),
    "library": lambda table, places, tract, sizes, base, asked: None if asked.quick else library(table),
    "build": lambda table, places, tract, sizes, base, asked: None if asked.quick else building(table, places),
}


if __name__ == "__main__":
    main()
