#!/usr/bin/env python3
"""A home in which agents work for weeks while `tract watch` takes in what they write, and is killed.

    python3 tests/reliability/home.py                                   a short run, as the tests do it
    python3 tests/reliability/home.py --sessions 1000 --steps 5000      weeks; an hour or more

Sessions of Claude Code and Codex grow, are written half a line at a time, cut, written anew with records left out,
deleted, put back, renamed, compressed; clocks of files jump. `watch` runs on, or looks once (`--once`), and is
killed at any moment. A record that stood on disk for a second while somebody watched must be in the repository, on
some path of its session; on each path records are in the order in which they were written, and none twice.

Exit status: 0 nothing found, 1 something found. --tract names the program.
"""

import argparse
import contextlib
import json
import os
import random
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

DAY_MS = 24 * 60 * 60 * 1000
ZSTD = shutil.which("zstd")


class Session:
    """A session file, and which records of it are in which state."""

    def __init__(self, number, home, chance):
        self.number = number
        self.chance = chance
        self.is_codex = chance.random() < 0.4
        self.count = 0
        # When each mark was written, by the clock on the wall.
        self.written = {}
        self.lines = []
        self.last = None
        name = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        if self.is_codex:
            folder = home / ".codex/sessions/2026/03" / f"{number % 28 + 1:02}"
            self.path = folder / f"rollout-2026-03-01T10-00-00-{name}.jsonl"
            meta = {"id": name, "cwd": "/w", "base_instructions": {"text": "Be brief."}}
            self.lines.append((self.codex("session_meta", meta), None))
        else:
            self.path = home / f".claude/projects/-w-{number % 7}" / f"{name}.jsonl"
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        self.kept = None
        for _ in range(chance.randrange(1, 6)):
            self.say()
        self.write()

    def codex(self, kind, payload):
        self.count += 1
        at = f"2026-03-01T{self.count // 3600 % 24:02}:{self.count // 60 % 60:02}:{self.count % 60:02}.000Z"
        return json.dumps({"timestamp": at, "type": kind, "payload": payload})

    def say(self):
        """One more record with a mark of its own."""
        self.count += 1
        mark = f"s{self.number:04}m{self.count:06}"
        self.written[mark] = time.time()
        # Mostly little, now and then much.
        text = mark + " " + "word " * self.chance.choice([1, 5, 20, 2000 if self.chance.random() < 0.05 else 3])
        is_user = self.chance.random() < 0.5
        if self.is_codex:
            kind, role = ("input_text", "user") if is_user else ("output_text", "assistant")
            block = {"type": kind, "text": text}
            payload = {"type": "message", "role": role, "content": [block]}
            # Each is a reply of its own.
            begins = self.codex("event_msg", {"type": "task_started", "turn_id": mark})
            line = begins + "\n" + self.codex("response_item", payload)
        else:
            own = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
            message = {"role": "user", "content": text}
            if not is_user:
                block = {"type": "text", "text": text}
                message = {"id": f"msg_{mark}", "role": "assistant", "model": "m", "content": [block]}
            record = {
                "parentUuid": self.last,
                "isSidechain": False,
                "sessionId": self.path.stem,
                "type": message["role"],
                "uuid": own,
                "timestamp": "2026-03-01T10:00:00.000Z",
                "cwd": "/w",
                "message": message,
            }
            self.last = own
            line = json.dumps(record)
        self.lines.append((line, mark))
        return line

    def text(self):
        return "".join(line + "\n" for line, _ in self.lines)

    def write(self):
        """Writes the whole of it anew, in place."""
        self.path.write_text(self.text())

    def here(self):
        """The marks of the records that are on disk, whole."""
        if not self.path.exists():
            return set()
        return {mark for _, mark in self.lines if mark}

    def step(self):
        """Something happens to it; gives what."""
        if not self.path.exists():
            self.path = self.path.with_suffix("") if self.path.suffix == ".zst" else self.path
            self.say()
            self.write()
            return "put back"
        if self.path.suffix == ".zst":
            # The tool goes on with it: a plain file again.
            packed, self.path = self.path, self.path.with_suffix("")
            self.write()
            packed.unlink()
        chance = self.chance.random()
        if chance < 0.62:
            new = [self.say() for _ in range(self.chance.randrange(1, 8))]
            text = "".join(line + "\n" for line in new)
            with self.path.open("a") as file:
                # A tool may be slow in the middle of a line.
                cut = self.chance.randrange(len(text))
                file.write(text[:cut])
                file.flush()
                if self.chance.random() < 0.3:
                    time.sleep(0.01)
                file.write(text[cut:])
            return "append"
        if chance < 0.68 and len(self.lines) > 4:
            # What is taken back is said otherwise.
            keep = self.chance.randrange(2, len(self.lines))
            self.lines = self.lines[:keep]
            self.relink()
            self.write()
            return "truncate"
        if chance < 0.73 and len(self.lines) > 6:
            gone = self.chance.randrange(1, len(self.lines) - 2)
            del self.lines[gone : gone + 2]
            self.relink()
            self.write()
            return "rewrite"
        if chance < 0.79:
            # Another file in its place.
            other = self.path.with_suffix(".tmp")
            self.say()
            other.write_text(self.text())
            other.replace(self.path)
            return "rotate"
        if chance < 0.84:
            self.path.unlink()
            return "delete"
        if chance < 0.89:
            other = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
            name = self.path.name.replace(self.path.stem[-36:], other)
            self.path = self.path.rename(self.path.with_name(name))
            return "rename"
        if chance < 0.94 and ZSTD and self.is_codex:
            packed = self.path.with_name(self.path.name + ".zst")
            subprocess.run([ZSTD, "-q", "--rm", str(self.path), "-o", str(packed)], check=True)
            self.path = packed
            return "compress"
        jump = self.chance.choice([0, 1, 2**31, time.time() + 1e7])
        os.utime(self.path, (jump, jump))
        return "clock"

    def relink(self):
        """Each record follows the one before it, as a tool that rewrites a file leaves it."""
        if self.is_codex:
            return
        last, lines = None, []
        for line, mark in self.lines:
            record = json.loads(line)
            record["parentUuid"] = last
            last = record["uuid"]
            lines.append((json.dumps(record), mark))
        self.lines, self.last = lines, last


class Home:
    def __init__(self, options):
        self.chance = random.Random(options.seed)
        self.root = Path(tempfile.mkdtemp(prefix="tract-home-"))
        self.tract = options.tract
        self.clock = 1_772_000_000_000
        self.run("init")
        self.sessions = []
        self.watching = None
        self.expected = set()
        self.did = {}
        self.kills = 0
        # What became of who watches, and when: (seconds, what).
        self.happened = []

    def environment(self):
        return {
            "HOME": str(self.root),
            "PATH": os.environ.get("PATH", ""),
            "TRACT_CLOCK": str(self.clock),
            "TZ": "UTC",
        }

    def run(self, *arguments, codes=(0,)):
        command = [self.tract, *arguments]
        done = subprocess.run(command, cwd=self.root, env=self.environment(), capture_output=True, text=True)
        if done.returncode not in codes:
            raise SystemExit(f"FOUND: {arguments} ended with {done.returncode}\n{done.stderr}\n{self.root}")
        return done

    def note(self, what):
        self.happened.append((time.time(), what))

    def watch(self, *arguments):
        self.note("watch " + " ".join(arguments))
        log = (self.root / "watch.log").open("a")
        command = [self.tract, "watch", *arguments]
        return subprocess.Popen(command, cwd=self.root, env=self.environment(), stderr=log)

    def kill(self, process, latest):
        time.sleep(self.chance.random() * latest)
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.note("killed")
        self.kills += 1

    def on_disk(self):
        return set().union(*(session.here() for session in self.sessions))

    def look(self, second):
        """A second goes by in which somebody watches."""
        stood = self.on_disk()
        self.note("a second begins")
        if second:
            if self.watching is None:
                self.watching = self.watch()
            if self.chance.random() < 0.3:
                self.kill(self.watching, second)
                self.watching = self.watch()
            time.sleep(second)
            if self.watching.poll() is not None:
                raise SystemExit(f"FOUND: watch ended by itself; {self.root}/watch.log")
        else:
            while self.chance.random() < 0.4:
                self.kill(self.watch("--once"), 0.15)
            self.run("watch", "--once")
        self.note("it is over")
        self.expected |= stood

    def stop(self):
        if self.watching is not None:
            self.note("asked to end")
            self.watching.send_signal(signal.SIGTERM)
            if self.watching.wait(timeout=60) != 0:
                raise SystemExit(f"FOUND: a watch that was asked to end: {self.watching.returncode}")
            self.watching = None

    def paths(self):
        """The marks on each path of each session, oldest first."""
        # Nobody reads for longer than it takes: the journal could not be folded in.
        with contextlib.closing(sqlite3.connect(self.root / ".tract/tract.db")) as database:
            # All of one moment: somebody may be watching.
            database.execute("BEGIN")
            messages = "SELECT commits.id, commits.parent, preview FROM commits LEFT JOIN contents ON contents.id = content"
            commits = {row[0]: row[1:] for row in database.execute(messages)}
            tips = "SELECT name, target FROM refs WHERE name LIKE 'refs/sessions/%'"
            tips = database.execute(tips).fetchall()
        for name, at in tips:
            marks = []
            while at is not None:
                at, preview = commits[at]
                if preview and preview.startswith("s") and preview[5:6] == "m":
                    marks.append(preview[:12])
            yield name, marks[::-1]

    def story(self, mark):
        """What happened to who watched while this record was new."""
        session = self.sessions[int(mark[1:5])]
        written = session.written[mark]
        near = (f"{at - written:+.3f} {what}" for at, what in self.happened if -2 < at - written < 8)
        return f"{mark} was written to {session.path.name} at {written:.3f}: " + ", ".join(near)

    def check(self):
        found, faults = set(), []
        for name, marks in self.paths():
            found.update(marks)
            if marks != sorted(set(marks)):
                faults.append(f"{name}: not in order, or one twice")
        lost = sorted(self.expected - found)
        if lost:
            faults.append(f"{len(lost)} of {len(self.expected)} records are not here: {lost[:5]}")
            faults += [self.story(mark) for mark in lost[:5]]
        for fault in faults:
            print(f"FOUND: {fault}; {self.root}")
        return not faults


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--tract", default="target/debug/tract")
    options.add_argument("--sessions", type=int, default=8)
    options.add_argument("--steps", type=int, default=24)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--second", type=float, default=1.0, help="how long a second is; more on a busy machine")
    options = options.parse_args()
    options.tract = str(Path(options.tract).resolve())
    home = Home(options)
    began = time.time()
    is_sound = True
    for step in range(options.steps):
        home.clock += home.chance.randrange(DAY_MS // 4)
        while len(home.sessions) < options.sessions * (step + 1) / options.steps:
            home.sessions.append(Session(len(home.sessions), home.root, home.chance))
        for _ in range(home.chance.randrange(1, 2 + len(home.sessions) // 4)):
            did = home.chance.choice(home.sessions).step()
            home.did[did] = home.did.get(did, 0) + 1
        # Half of the time it runs on, half of the time it is asked to look now and then.
        runs_on = step % 8 < 4
        if not runs_on:
            home.stop()
        home.look(options.second if runs_on else 0)
        if step % 50 == 49:
            is_sound = home.check() and is_sound
    home.stop()
    is_sound = home.check() and is_sound
    home.run("fsck")
    second = check_repository.Checker(str(home.root / ".tract/tract.db"))
    second.check()
    faults = second.faults
    for fault in faults:
        print(f"FOUND: {fault}; {home.root}")
    print(
        f"{len(home.sessions)} sessions, {len(home.expected)} records that stood for a second, {home.kills} kills, "
        f"{home.did}, {time.time() - began:.0f} s"
    )
    if is_sound and not faults:
        shutil.rmtree(home.root)
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
