#!/usr/bin/env python3
"""Kills, failing disks, lost power, many at once, random histories: nothing acknowledged is lost.

    python3 tests/reliability/run.py                     a short run, as the tests do it
    python3 tests/reliability/run.py --long              every point of every command; hours of nothing else
    python3 tests/reliability/run.py --only kills --rounds 1000

Needs Linux, a C compiler and libzstd; Python's standard library alone. --tract names the program (a debug
build unless it is said otherwise). What is left by each disaster is read by the program (`tract fsck`) and by
the second reader, `tests/check_repository.py`; a finding is a line, and the folder that shows it is kept.
Exit status: 0 nothing found, 1 something found, 77 where a part cannot be run here.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import check_repository  # noqa: E402
from disk import KINDS, Disk, Power  # noqa: E402

DATA = HERE.parent / "data"
SECRET = "secret-thing"
# What every message of a random history holds, to be found again in a request.
MARK = re.compile(r"said\d+x\d+(?:p\d+)?\.")
LONG = "a long line that compresses well " * 40


def script():
    """Commands of every kind, each with something to do. Those that this build lacks are left out."""
    yield "init"
    yield "commit -r system -m sys"
    for at in range(4):
        yield f"commit -r user -m question-{at}"
        yield ["commit", "-r", "assistant", "-m", f"answer-{at} {LONG}"]
    yield f"import {DATA}/claude-code/compaction.jsonl"
    yield f"import {DATA}/codex/plain.jsonl --onto main"
    yield f"import {DATA}/chat/anthropic-request.json"
    yield "checkout main"
    yield "commit --edit :2 -m question-better"
    yield "annotate :3 --pin"
    yield "truncate --keep 3"
    yield "commit -r user -m more --set temperature=0.5"
    yield "drop --force :-1"
    yield "restore HEAD"
    yield "undo"
    yield "redo"
    yield "tag -m note v1"
    yield "branch other HEAD~2"
    yield "branch -m other else"
    yield "compact -m summary --keep 1"
    yield "find question"
    yield "log -n 0"
    yield "status"
    yield "checkout -b side HEAD^"
    yield f"commit -r user -m {SECRET}"
    yield "checkout main"
    yield "reset HEAD^"
    yield "config budget.max 100000"
    yield "export -o out.jsonl"
    yield "backup copy.db"
    yield "bundle some.bundle main"
    yield "fsck --repair"
    yield "checkout side"
    yield "clear --purge --force"
    yield "commit -r user -m after"
    yield "gc --expire=now"
    yield "checkout main"
    yield "clear"


class Trouble(Exception):
    pass


def state(work):
    """What a person would see: refs, what is visible at each, configuration. None without a repository.

    Raises Trouble where the second reader finds damage."""
    database = work / ".tract/tract.db"
    if not database.exists():
        return None
    try:
        checker = check_repository.Checker(str(database))
        if not checker.all("SELECT 1 FROM sqlite_schema LIMIT 1"):
            return None
        checker.check()
        seen = sorted(checker.contexts())
        refs = sorted((name, str(value)) for name, value in checker.refs.items())
        config = sorted(map(str, checker.all("SELECT * FROM config")))
        checker.db.close()
    except Exception as error:  # whatever it stumbles over is a finding
        raise Trouble(f"the second reader: {type(error).__name__}: {error}") from error
    if checker.faults:
        raise Trouble(f"the second reader: {checker.faults[:3]}")
    return refs, seen, config


class Bench:
    """A folder to break things in, and what was found."""

    def __init__(self, options):
        self.options = options
        self.chance = random.Random(options.seed)
        self.folder = Path(tempfile.mkdtemp(prefix="tract-reliability-", dir=options.work))
        self.disk = Disk(self.folder, Path(options.tract).resolve())
        self.findings = []
        self.counts = {}

    def count(self, what, by=1):
        self.counts[what] = self.counts.get(what, 0) + by

    def found(self, what, work=None):
        kept = ""
        if work is not None and len(self.findings) < 20 and not self.options.lies:
            kept = self.folder / f"finding-{len(self.findings) + 1}"
            shutil.copytree(work, kept, symlinks=True)
            kept = f" ({kept})"
        self.findings.append(what)
        print(f"FOUND: {what}{kept}", flush=True)

    def fresh(self, name, held=None):
        work = self.folder / name
        shutil.rmtree(work, ignore_errors=True)
        if held is None:
            work.mkdir()
        else:
            shutil.copytree(held, work, symlinks=True)
        return work

    def sound(self, work, what):
        """Whether both readers find nothing; what is seen there."""
        if (work / ".tract/tract.db").exists() and state(work) is not None:
            told = self.disk.plain(work, ["fsck"])
            if told.returncode != 0:
                raise Trouble(f"{what}: fsck says {told.stdout.strip()} {told.stderr.strip()}")
        return state(work)

    def steps(self):
        """The script's commands that this build has, with their minutes."""
        known = self.disk.plain(self.folder, ["help", "--all"]).stdout
        for minute, step in enumerate(script()):
            arguments = step.split() if isinstance(step, str) else step
            if re.search(rf"^\s+{arguments[0]}\b", known, re.M):
                yield minute, arguments

    # --- a disk that fails ---

    def faults(self):
        """Each command again and again, with each of its calls to the disk failing in each way."""
        before = self.fresh("before")
        for minute, arguments in self.steps():
            clean = self.fresh("clean", before)
            told = self.disk.run(clean, arguments, minute)
            if told.returncode != 0:
                raise Trouble(f"{arguments}: {told.returncode} {told.stderr}")
            points = len(self.disk.points())
            was, becomes = state(before), state(clean)
            for at, kind in self.chosen(points):
                work = self.fresh("work", before)
                name = f"{' '.join(arguments)[:40]}, point {at} of {points}, {kind}"
                try:
                    self.fault(work, arguments, minute, at, kind, was, becomes)
                except Trouble as trouble:
                    self.found(f"{name}: {trouble}", work)
                except subprocess.TimeoutExpired:
                    self.found(f"{name}: it does not end", work)
                self.count("faults")
            before = self.fresh("before", clean)
            if self.options.verbose:
                print(f"{' '.join(arguments)[:60]}: {points} points, {len(self.findings)} findings", flush=True)

    def chosen(self, points):
        every = [(at, kind) for at in range(1, points + 1) for kind in KINDS]
        few = self.options.faults
        return every if few is None or few >= len(every) else self.chance.sample(every, few)

    def fault(self, work, arguments, minute, at, kind, was, becomes):
        told = self.disk.run(work, arguments, minute, at, kind)
        killed = told.returncode == -signal.SIGKILL
        if kind in ("before", "torn", "after") and not killed:
            return  # the run took another way and never came to that point
        if "panicked" in told.stderr or told.returncode not in (0, 1, 2, 3, 4, -signal.SIGKILL):
            raise Trouble(f"exit {told.returncode}: {told.stderr.strip()}")
        if told.returncode == 3:
            raise Trouble(f"a failing disk is taken for damage: {told.stderr.strip()}")
        held = self.sound(work, "afterwards")
        if not between(was, held, becomes, arguments):
            raise Trouble(f"something is half done (exit {told.returncode}: {told.stderr.strip()})")
        if told.returncode == 0 and held != becomes:
            raise Trouble("exit 0, and it was not done")
        words = ("the change was made", "HEAD is now", "the files still hold it", "nothing is erased yet")
        said = any(word in told.stderr for word in words)
        # Where the last sync fails, nobody knows whether it was done.
        points = self.disk.points()
        said = said or (kind == "eio" and at <= len(points) and points[at - 1][0] == "s")
        # A repository that was made and can't be opened then is a repository.
        said = said or arguments == ["init"]
        if told.returncode > 0 and was != becomes and held == becomes and not said:
            raise Trouble(f"exit {told.returncode}, and it was done: {told.stderr.strip()}")
        if told.returncode > 0 and "error: " not in told.stderr:
            raise Trouble(f"exit {told.returncode} without a word")
        if "--purge" in arguments and held == becomes:
            # Erased, the next command that writes finishes it; before that, the same command does.
            again = ["commit", "-r", "user", "-m", "next"] if "Erased" in told.stderr else arguments
            self.disk.plain(work, again, minute)
            for path in (work / ".tract").iterdir():
                if path.is_file() and SECRET.encode() in path.read_bytes():
                    raise Trouble(f"{path.name} still holds what was erased")
        if held != becomes:
            again = self.disk.plain(work, arguments, minute)
            if again.returncode != 0:
                raise Trouble(f"it cannot be done again: {again.stderr.strip()}")
            if self.sound(work, "done again") != becomes:
                raise Trouble("done again, it is not the same")

    # --- lost power ---

    def power(self):
        """The script on a disk that remembers what is synced; the power goes at any point of it."""
        work = self.fresh("powered")
        power, states, kept = Power(self.options.lies), [None], []
        for minute, arguments in self.steps():
            told = self.disk.run(work, arguments, minute, data=True)
            if told.returncode != 0:
                raise Trouble(f"{arguments}: {told.returncode} {told.stderr}")
            points = self.disk.points()
            few = self.options.power
            when = set(range(len(points))) if few is None else set(self.chance.sample(range(len(points)), min(few, len(points))))
            states.append(None)
            for at, point in enumerate(points):
                power.apply(point)
                if at in when:
                    kept.append((power.left(self.chance), len(states) - 2, f"{' '.join(arguments)[:40]}, point {at + 1}"))
            # Acknowledged: from here on nothing may be missing.
            states[-1] = state(work)
            for _ in range(2):
                kept.append((power.left(self.chance), len(states) - 1, f"{' '.join(arguments)[:40]}, done"))
            for files, done, name in kept:
                self.lost(work, files, states[done], states[min(done + 1, len(states) - 1)], name)
                self.count("losses of power")
            kept = []

    def lost(self, work, files, was, becomes, name):
        image = self.fresh("image")
        for path, held in files.items():
            target = image / Path(path).relative_to(work)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(held)
        try:
            held = self.sound(image, "afterwards")
            if not between(was, held, becomes, name.split()):
                raise Trouble("what was acknowledged is gone, or something is half done")
        except Trouble as trouble:
            self.found(f"power lost at {name}: {trouble}", image)

    # --- kills ---

    def kills(self):
        """Writers of every kind, killed at random moments; what they had said was done is there."""
        work, said, hushed, lap = None, [], {}, 0
        for number in range(self.options.rounds):
            if lap == 0:
                work, said, hushed = self.fresh("killed"), [], {}
                self.disk.plain(work, ["init"])
                lap = 40
            lap -= 1
            try:
                self.kill(work, said, hushed, number)
            except Trouble as trouble:
                self.found(f"kill {number}: {trouble}", work)
                lap = 0
            self.count("kill rounds")

    def kill(self, work, said, hushed, number):
        chance = self.chance
        ends = time.monotonic() + chance.uniform(0.01, 0.25)
        lines, lock, living = [], threading.Lock(), set()
        over = threading.Event()

        def writer(who):
            # What this one has written that nobody is to know, since it was last erased.
            turn, hush = 0, hushed.setdefault(who, [])
            while not over.is_set():
                turn += 1
                text = f"r{number}w{who}t{turn}"
                kind = chance.randrange(6)
                arguments = ["commit", "-r", "user", "-m", text]
                if kind == 3:
                    arguments[-1] = f"hush{who}-{text}."
                elif kind == 4:
                    arguments = ["import", str(DATA / "claude-code/compaction.jsonl")]
                elif kind == 5:
                    arguments = chance.choice([
                        ["truncate", "--keep", "5"], ["undo"], ["annotate", ":1", "--pin"], ["gc"],
                        ["backup", "--force", f"copy{who}.db"], ["bundle", "--force", f"some{who}.bundle", "main"],
                        ["purge", "--match", f"hush{who}-", "--force"], ["purge", "--match", f"hush{who}-", "--force"],
                    ])
                with lock:
                    if over.is_set():
                        return
                    process = subprocess.Popen(
                        [self.disk.tract, *arguments], cwd=work, env=self.disk.environment(number),
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    )
                    living.add(process)
                out, err = process.communicate()
                with lock:
                    living.discard(process)
                if "panicked" in err or process.returncode == 3:
                    lines.append(("trouble", f"{arguments}: exit {process.returncode}: {err.strip()}"))
                if process.returncode == 0 and kind == 3:
                    hush.append(arguments[-1])
                elif process.returncode == 0 and kind < 4:
                    lines.append(("said", text))
                elif process.returncode == 0 and arguments[0] == "purge":
                    lines.extend(("erased", text) for text in hush)
                    hush.clear()

        threads = [threading.Thread(target=writer, args=(who,)) for who in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, ends - time.monotonic()))
        with lock:
            over.set()
            for process in living:
                process.kill()
        for thread in threads:
            thread.join()
        for kind, text in lines:
            if kind == "trouble":
                raise Trouble(text)
        said += [text for kind, text in lines if kind == "said"]
        self.count("kills", 1)
        self.sound(work, "afterwards")
        # Hidden or undone, it is in the history all the same.
        there = everything(work)
        for text in said:
            if text not in there:
                raise Trouble(f"{text} was acknowledged and is gone")
        erased = [text for kind, text in lines if kind == "erased"]
        self.count("messages erased", len(erased))
        held = [path.read_bytes() for path in (work / ".tract").iterdir() if path.is_file()]
        for text in erased:
            if text in there or any(text.encode() in bytes for bytes in held):
                raise Trouble(f"{text} was erased and is there")

    # --- many at once ---

    def together(self):
        """Many processes commit to one branch while others look, hide elsewhere, import and check."""
        writers, each = self.options.writers, self.options.commits
        work = self.fresh("together")
        self.disk.plain(work, ["init"])
        self.disk.plain(work, ["commit", "-r", "user", "-m", "first"])
        self.disk.plain(work, ["branch", "side"])
        known = self.disk.plain(self.folder, ["help", "--all"]).stdout
        troubles, over = [], threading.Event()

        def writer(who):
            for turn in range(each):
                told = self.disk.plain(work, ["commit", "-r", "user", "-m", f"w{who}t{turn}"])
                if told.returncode != 0:
                    troubles.append(f"commit: {told.returncode} {told.stderr.strip()}")

        others = [
            ["log", "-n", "20"], ["status"], ["compile"], ["--on", "side", "commit", "-r", "user", "-m", "aside"],
            ["--on", "side", "compact", "-m", "so far", "--keep", "1"], ["import", str(DATA / "claude-code/compaction.jsonl")],
            ["find", "first"], ["find", "-F", "w1"], ["fsck"], ["gc", "--expire", "now"], ["backup", "--force", "copy.db"],
            ["bundle", "--force", "some.bundle", "side"], ["watch", "--once"],
        ]
        others = [other for other in others if re.search(rf"^\s+{next(w for w in other if w not in ('--on', 'side'))}\b", known, re.M)]

        def other(who):
            turn = who
            while not over.is_set():
                arguments = others[turn % len(others)]
                turn += 1
                told = self.disk.plain(work, arguments)
                # Someone may have been first; nothing else is an excuse.
                if told.returncode not in (0, 4) or "panicked" in told.stderr:
                    if "nothing to" not in told.stderr:
                        troubles.append(f"{arguments}: {told.returncode} {told.stderr.strip()}")

        mine = [threading.Thread(target=writer, args=(who,)) for who in range(writers)]
        theirs = [threading.Thread(target=other, args=(who,)) for who in range(2)]
        for thread in mine + theirs:
            thread.start()
        for thread in mine:
            thread.join()
        over.set()
        for thread in theirs:
            thread.join()
        for trouble in sorted(set(troubles))[:10]:
            self.found(f"together: {trouble}")
        try:
            self.sound(work, "together")
            told = self.disk.plain(work, ["compile", "main", "--format", "openai"])
            seen = [message["content"] for message in json.loads(told.stdout)["messages"]] if told.returncode == 0 else []
            for who in range(writers):
                mine = [text for text in seen if text.startswith(f"w{who}t")]
                if mine != [f"w{who}t{turn}" for turn in range(each)]:
                    raise Trouble(f"writer {who}: {len(mine)} of {each} messages, or out of order")
        except Trouble as trouble:
            self.found(f"together: {trouble}", work)
        self.count("commits at once", writers * each)

    # --- random histories ---

    def histories(self):
        """Random commands; what each format is sent is what the second reader says is visible."""
        for number in range(self.options.histories):
            work = self.fresh("history")
            try:
                self.history(work, number)
            except Trouble as trouble:
                self.found(f"history {number}: {trouble}", work)
            self.count("histories")

    def history(self, work, number):
        chance, minute = random.Random(f"{self.options.seed} {number}"), 0
        self.disk.plain(work, ["init"])
        for turn in range(chance.randint(5, 40)):
            minute += 1
            at = f":{chance.randint(1, turn + 1)}"
            tools = work / f"tools{turn}.jsonl"
            tools.write_text("".join(json.dumps(message) + "\n" for message in talk(number, turn, chance)))
            arguments = chance.choice([
                ["commit", "-r", "user", "-m", f"said{number}x{turn}."],
                ["commit", "-r", "assistant", "-m", f"said{number}x{turn}."],
                ["commit", "--batch", tools.name],
                ["commit", "--batch", tools.name],
                ["prune", "--turns", "0"],
                ["commit", "-r", "system", "-m", f"said{number}x{turn}."],
                ["commit", "--edit", at, "-m", f"said{number}x{turn}."],
                ["annotate", at, chance.choice(["--pin", "--skip", "--normal"])],
                ["truncate", "--keep", str(chance.randint(0, 6))],
                ["compact", "-m", f"said{number}x{turn}.", "--keep", str(chance.randint(0, 3))],
                ["drop", "--force", at], ["clear"], ["restore", "HEAD"], ["undo"], ["redo"],
                ["checkout", "-b", f"b{turn}"], ["checkout", "-"], ["checkout", "main"],
                ["reset", "HEAD^"], ["pick", at],
            ])
            told = self.disk.plain(work, arguments, minute)
            self.count("random commands")
            if "panicked" in told.stderr or told.returncode not in (0, 1, 2):
                raise Trouble(f"{arguments}: {told.returncode} {told.stderr.strip()}")
        self.sound(work, "at the end")
        for ref, expected in self.visible(work).items():
            for kind in ("anthropic", "openai", "text"):
                told = self.disk.plain(work, ["compile", ref, "--format", kind])
                if told.returncode != 0:
                    if "nothing" in told.stderr or "no message" in told.stderr:
                        continue
                    raise Trouble(f"compile {ref} --format {kind}: {told.stderr.strip()}")
                sent = MARK.findall(told.stdout)
                if not agrees(sent, kind, expected):
                    raise Trouble(f"compile {ref} --format {kind}: {sent} for {expected}")
                self.count("requests compared")

    @staticmethod
    def visible(work):
        checker = check_repository.Checker(str(work / ".tract/tract.db"))
        checker.check()
        seen = {}
        for line in checker.contexts():
            ref, _, content, hidden = line.split("\t")
            message = checker.messages[content]
            stubs = dict(part.split(":", 1) for part in hidden.split(";") if part)
            said, calls = seen.setdefault(ref, ([], set()))
            for at, part in enumerate(message.get("parts", [])):
                if part["type"] == "tool_call" and str(at) not in stubs:
                    calls.add(part["id"])
                # Where a call was edited away, no provider takes its result.
                role = "stray" if part["type"] == "tool_result" and part["call"] not in calls else message["role"]
                said += [(role, text) for text in MARK.findall(stubs.get(str(at), json.dumps(part)))]
        checker.db.close()
        return {ref: said for ref, (said, _) in seen.items() if ref.startswith("refs/heads/")}


def between(was, held, becomes, arguments):
    """Whether what is held is what was there before a command or after it."""
    if held in (was, becomes):
        return True
    if was is None:
        return held[1] == []  # made, and empty
    # An import is several transactions; done again, it goes on where it was stopped.
    return arguments[0] == "import" and held is not None and set(was[0]) <= set(held[0])


def talk(number, turn, chance):
    """A reply with parallel calls and their results, some of them missing, in OpenAI's form."""
    calls = [f"call{turn}n{at}" for at in range(chance.randint(1, 3))]
    mark = iter(f"said{number}x{turn}p{at}." for at in range(9))
    function = lambda: {"name": "run", "arguments": json.dumps({"command": next(mark)})}
    asked = [{"id": call, "type": "function", "function": function()} for call in calls]
    yield {"role": "assistant", "content": next(mark), "tool_calls": asked}
    for call in calls[: chance.choice([len(calls), len(calls), len(calls) - 1])]:
        yield {"role": "tool", "tool_call_id": call, "content": next(mark)}


def agrees(sent, kind, expected):
    """Whether what is sent is what is visible. Anthropic takes what the system says apart or where it stands."""
    if kind != "text":
        expected = [(role, text) for role, text in expected if role != "stray"]
    if kind != "anthropic":
        return sent == [text for _, text in expected]
    system = {text for role, text in expected if role == "system"}
    parted = [[text for text in sent if (text in system) == of] for of in (False, True)]
    wanted = [[text for _, text in expected if (text in system) == of] for of in (False, True)]
    return parted == wanted


def everything(work):
    """Every text that is stored."""
    checker = check_repository.Checker(str(work / ".tract/tract.db"))
    checker.check()
    checker.db.close()
    return {
        part["text"]
        for message in checker.messages.values()
        for part in message.get("parts", [])
        if part.get("type") == "text"
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE.parent.parent / "target/debug/tract"))
    parser.add_argument("--work", help="where to break things (a folder in memory makes it quick)")
    parser.add_argument("--only", action="append", choices=["faults", "power", "kills", "together", "histories"])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--share", default="1", help="how much of a short run, as 1/4")
    parser.add_argument("--lies", action="store_true", help="the disk only says that it synced: something must be found")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, help="rounds of kills")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    times, _, part = options.share.partition("/")

    def share(number):
        return max(1, number * int(times) // int(part or 1))

    options.faults = None if options.long else share(6)
    options.power = None if options.long else share(3)
    options.rounds = options.rounds or (1_000 if options.long else share(50))
    options.writers, options.commits = (8, 500) if options.long else (4, 12)
    options.histories = 500 if options.long else share(6)
    if not sys.platform.startswith("linux") or shutil.which("cc") is None:
        print("needs Linux and a C compiler: not run", file=sys.stderr)
        return 77
    bench = Bench(options)
    for part in options.only or ["faults", "power", "kills", "together", "histories"]:
        began = time.monotonic()
        getattr(bench, part)()
        counts = ", ".join(f"{number:,} {what}" for what, number in bench.counts.items())
        print(f"{part}: {time.monotonic() - began:.0f} s; so far {counts}; {len(bench.findings)} findings", flush=True)
    if not bench.findings or options.lies:
        shutil.rmtree(bench.folder)
    return 1 if bench.findings else 0


if __name__ == "__main__":
    sys.exit(main())
