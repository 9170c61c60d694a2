#!/usr/bin/env python3
"""A home full of sessions in one repository: what comes in, what room it takes, how soon a word is found.

    python3 benches/home.py                              1,000 sessions, 3 GB: some 6 GB of disk, ten minutes
    python3 benches/home.py --sessions 20 --megabytes 40 a smoke run; its figures mean nothing

Needs a release build (`cargo build --release --locked`). The sessions are made: Claude Code's, of up to twice the average
size, in 40 directories, of words as rare as words are (the n-th of
60,000 comes up 1/n as often as the first). A search is held beside
`grep -rlF` over the files, in turn: the median and the least.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from compare import HERE, PLAIN, Side, disk, note

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
WEIGHTS = (12, 9, 8, 7.5, 7, 6.7, 6.3, 6, 6, 4.2, 4, 2.8, 2.8, 2.4, 2.4, 2.2, 2, 2, 1.9, 1, 1.5, 2, 0.8, 0.15, 0.15, 0.1)
DIRECTORIES = 40
# Every so manieth session says a word that no other one says.
NEEDLE = 100


class Words:
    def __init__(self, seed=7):
        self.chance = random.Random(seed)
        word = lambda: "".join(self.chance.choices(LETTERS, WEIGHTS, k=self.chance.randint(2, 11)))
        self.all = [word() for _ in range(60_000)]
        ranks = [1 / (rank + 3) for rank in range(len(self.all))]
        said = self.chance.choices(self.all, ranks, k=6_000_000)
        self.pool = " ".join(word + "\n" * (at % 13 == 12) for at, word in enumerate(said))

    def text(self, length):
        start = self.chance.randrange(len(self.pool) - length)
        return self.pool[start : start + length]

    def around(self, rank):
        """A word of about this rank that is long enough to be asked for."""
        return next(word for word in self.all[rank:] if len(word) > 5)


def write(path, number, words, size):
    """A session file of about so many bytes."""
    chance, session = words.chance, path.stem
    name = lambda at: f"00000000-{number:04}-4000-8000-{at:012}" if at >= 0 else None
    with open(path, "w") as out:
        at = 0
        while out.tell() < size or at < 10:
            length = int(50 * 40 ** chance.random())
            if at % 4 == 2 and chance.random() < 0.3:
                length = chance.randrange(2_000, 50_000)
            text = words.text(length)
            if at == 8 and number % NEEDLE == 0:
                text += f" needle{number}x"
            clock = f"{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}"
            record = {"parentUuid": name(at - 1), "isSidechain": False, "sessionId": session, "uuid": name(at)}
            record |= {"cwd": f"/home/user/p{number % DIRECTORIES}", "version": "2.1.0"}
            record["timestamp"] = f"2026-{1 + number % 9:02}-{1 + number % 28:02}T{clock}.000Z"
            if at % 2:
                content = [{"type": "text", "text": text}]
                if at % 4 == 1:
                    call = {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": "Bash"}
                    content.append(call | {"input": {"command": f"make {at}"}})
                said = {"id": f"msg_{number}_{at}", "role": "assistant", "model": "claude-opus-4-8", "content": content}
                record |= {"type": "assistant", "message": said}
            elif at % 4 == 2:
                result = {"type": "tool_result", "tool_use_id": f"toolu_{number}_{at - 1}", "content": text}
                record |= {"type": "user", "message": {"role": "user", "content": [result]}}
                record["toolUseResult"] = {"stdout": text, "stderr": ""}
            else:
                record |= {"type": "user", "message": {"role": "user", "content": text}}
            out.write(json.dumps(record) + "\n")
            at += 1


def fill(home, asked, words):
    average = asked.megabytes * 1e6 / asked.sessions
    for number in range(asked.sessions):
        folder = home / ".claude/projects" / f"-home-user-p{number % DIRECTORIES}"
        folder.mkdir(parents=True, exist_ok=True)
        session = uuid.UUID(int=words.chance.getrandbits(128), version=4)
        write(folder / f"{session}.jsonl", number, words, 2 * average * words.chance.random())


def ms(side):
    return f"{1000 * side.median():.0f} ({1000 * min(side.seconds):.0f}) ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--sessions", type=int, default=1_000)
    parser.add_argument("--megabytes", type=float, default=3_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--below", help="the folder to work in; the system's temporary one by default")
    asked = parser.parse_args()
    tract = str(Path(asked.tract).resolve())
    folder = Path(tempfile.mkdtemp(prefix="tract-home-", dir=asked.below))
    home, work = folder / "home", folder / "work"
    work.mkdir()
    words = Words()
    fill(home, asked, words)
    files = disk(home)
    env = {**PLAIN, "HOME": str(home)}
    rows = [("work", "tract", "grep -rlF", "")]

    def once(what, *command, beside=None):
        began = time.monotonic()
        subprocess.run([tract, *command], cwd=work, env=env, check=True, capture_output=True)
        seconds = time.monotonic() - began
        rows.append((what, f"{seconds:.1f} s", "", beside or f"{files / seconds / 1e6:.0f} MB/s"))
        note(" | ".join(rows[-1]))

    def often(what, *command):
        side = Side(work, [tract, *command], env=env)
        for _ in range(asked.runs):
            side.run()
        rows.append((what, ms(side), "", f"{asked.sessions:,} sessions"))
        note(" | ".join(rows[-1]))

    def search(what, word, *more):
        ours = Side(work, [tract, "find", "-F", word, *more], env=env)
        theirs = Side(home, ["grep", "-rlF", word, "."])
        for _ in range(asked.runs):
            ours.run()
            theirs.run()
        all_ = subprocess.run([tract, "find", "-F", word, "-n", "0"], cwd=work, env=env, capture_output=True, text=True)
        heads = (line.split(" ")[0] for line in all_.stdout.splitlines())
        found = sum(len(head) == 7 and all(digit in "0123456789abcdef" for digit in head) for head in heads)
        rows.append((what, ms(ours), ms(theirs), f"in {found:,} messages"))
        note(" | ".join(rows[-1]))

    subprocess.run([tract, "init"], cwd=work, env=env, check=True, capture_output=True)
    once("import --all", "import", "--all")
    room = disk(work / ".tract")
    once("the first search for words after it", "find", "needle0x")
    for few in ([20_000], [1_000], [10], [20_000, 300, 10], [400, 200, 100], [10, 20, 30, 40]):
        asked_for = " ".join(words.around(rank) for rank in few)
        often(f"find, the best 20: the {', '.join(f'{rank:,}th' for rank in few)} word", "find", asked_for)
    often("find, the best 20 of a phrase", "find", '"' + words.text(40).split("\n")[0].split(" ", 1)[-1].rsplit(" ", 1)[0] + '"')
    once("the first exact search, which makes its index", "find", "-F", "needle0x")
    search("find -F, a word of one message", "needle0x")
    for rank in (20_000, 1_000, 100, 10):
        search(f"find -F, the {rank:,}th word", words.around(rank))
    often("status", "status")
    once("the first branch, which sums up", "branch", beside=f"{asked.sessions:,} sessions")
    often("branch", "branch")
    rows.append(("room", f"{room / 1e6:,.0f} MB", f"{files / 1e6:,.0f} MB of files", f"{room / files:.2f} ×"))
    rows.append(("room, with the index", f"{disk(work / '.tract') / 1e6:,.0f} MB", "", f"{disk(work / '.tract') / files:.2f} ×"))
    once("gc", "gc")
    rows.append(("room after gc", f"{disk(work / '.tract') / 1e6:,.0f} MB", "", f"{disk(work / '.tract') / files:.2f} ×"))
    shutil.rmtree(folder)
    rows.insert(1, ("---",) * 4)
    print("".join("| " + " | ".join(row) + " |\n" for row in rows), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
