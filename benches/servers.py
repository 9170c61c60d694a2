#!/usr/bin/env python3
"""tract on a PostgreSQL server beside tract in a file: many writers, a fleet of agents, and growth.

    python3 benches/servers.py                           writers, and a fleet
    python3 benches/servers.py --only growth --growth 10000,100000,1000000
    python3 benches/servers.py --quick                   a smoke run; its figures mean nothing
    python3 benches/servers.py --write docs/performance-figures.md --write docs/scale.md
                                                         puts each table where a page has a place for it

Needs a build with the engine (`cargo build --release --locked --features postgres`), and PostgreSQL's programs with
pgbench. Python's standard library alone. The server is one of its own, on a socket below --work, as `initdb` makes it, but
that it takes more connections: fsync is on. It is gone when this ends.

writers  so many processes at once, each so many commits: one process a commit, to a branch each and to one branch, there
         also with --expect; one process for ten commits (`--batch`); one process for all (`record`). What was acknowledged
         is held against what is there, every refusal against the commit that was first, and `fsck` has to be content.
         Then many that stay (`tract api`), on fewer branches, so that some share one.
         Beside it bare rows of as many bytes as a commit's, one transaction each, from as many connections.
fleet    agents that commit, fork, truncate, undo, compile and log over virtual days. A model says what each branch holds;
         every compile and log is held against it while others write, and all branches at the end.
growth   repositories of so many commits, straight into the tables, in the form in which commits one by one would have left
         them, and what they take and what commands on them take.
Whoever finds something lost says so and ends with 1.
"""

import argparse
import atexit
import hashlib
import heapq
import itertools
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PLAIN = {**{key: value for key, value in os.environ.items() if not key.startswith(("TRACT_", "PG"))}, "NO_COLOR": "1"}
# What is shown of the server; `initdb` and the server chose them all.
SETTINGS = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "work_mem",
            "maintenance_work_mem", "effective_cache_size", "max_wal_size", "max_connections", "autovacuum")
WORDS = (
    "the file of a test that reads every line and says which of them is wrong before the next "
    "commit is made so we look at this module and what the function returns when there is no value"
).split()
# Enough for all that stay: each has one, for it is only told to commit.
CONNECTIONS = 200
# After so many there is nothing new to see.
MOST_WRONG = 20
wrong = []


def note(text):
    print(text, file=sys.stderr, flush=True)


def hold(holds, text):
    """Something that must be so."""
    if not holds:
        wrong.append(text)
        if len(wrong) <= MOST_WRONG:
            note(f"WRONG: {text}")


def thousands(count):
    return f"{count:,}"


def megabytes(count):
    return f"{count / 1e6:,.1f}" if count < 1e8 else f"{count / 1e6:,.0f}"


def ms(seconds):
    return f"{1000 * seconds:,.1f}" if seconds < 0.1 else f"{1000 * seconds:,.0f}"


def table(head, rows):
    rows = [head, tuple("---" for _ in head), *rows]
    return "".join("| " + " | ".join(map(str, row)) + " |\n" for row in rows)


def share(values, part):
    """The value that so great a part of them is no greater than."""
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


# --- the server -------------------------------------------------------------------------------


def programs():
    """The folder of the server's programs."""
    places = [Path(folder) for folder in os.environ.get("PATH", "").split(os.pathsep)]
    debian = Path("/usr/lib/postgresql")
    if debian.is_dir():
        places += [version / "bin" for version in sorted(debian.iterdir(), reverse=True)]
    for place in places:
        if (place / "initdb").exists():
            found = (place / "initdb").resolve().parent
            if (found / "postgres").exists():
                return found
    return None


class Server:
    """A cluster of its own, on a socket in a folder."""

    def __init__(self, programs, below):
        self.programs, self.child = programs, None
        # A socket's path is at most 107 bytes long.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir=below))
        self.runs_as = []
        if os.getuid() == 0:
            # It refuses root, and is to go when this does, however that ends.
            self.runs_as = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=INT"]
            shutil.chown(self.folder, "postgres", "postgres")
            os.chmod(self.folder, 0o755)
        made = subprocess.run([*self.runs_as, programs / "initdb", "-D", self.folder / "data", "-U", "tract", "--auth=trust",
                               "-E", "UTF8", "--no-locale"], cwd="/", env=PLAIN, capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"initdb: {made.stderr}")
        atexit.register(self.remove)
        self.start()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.child = subprocess.Popen([*self.runs_as, self.programs / "postgres", "-D", self.folder / "data",
                                           "-k", self.folder, "-h", "", "-c", f"max_connections={CONNECTIONS}"], cwd="/", env=PLAIN, stdin=subprocess.DEVNULL,
                                          stdout=log, stderr=log, start_new_session=True)
        lock = self.folder / "data/postmaster.pid"
        until = time.monotonic() + 120
        while not (lock.exists() and "ready" in lock.read_text()):
            if self.child.poll() is not None or time.monotonic() > until:
                sys.exit(f"the server does not start: {(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
            self.child.wait(300)

    def restart(self):
        self.stop()
        self.start()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, *more):
        return [self.programs / "psql", "-h", self.folder, "-U", "tract", "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1", *more]

    def sql(self, *statements):
        """The last statement's rows."""
        asked = [word for statement in statements for word in ("-c", statement)]
        done = subprocess.run(self.psql("-A", "-t", "-F", "\t", *asked), env=PLAIN, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"psql: {done.stderr}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def settings(self):
        return {name: self.sql(f"SHOW {name}")[0][0] for name in SETTINGS}


# --- the repositories -------------------------------------------------------------------------


class Repository:
    """One place to commit to."""

    def __init__(self, tract, place):
        self.tract, self.place = tract, str(place)
        self.env = {**PLAIN, "TRACT_REPO": self.place}
        done = subprocess.run([tract, "init", "-q", self.place], env=PLAIN, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tract init {self.place}: {done.stderr}")

    def run(self, *args, env=None, input=None):
        return subprocess.run([self.tract, *args], env={**self.env, **(env or {})}, input=input, capture_output=True, text=True)

    def must(self, *args, **more):
        done = self.run(*args, **more)
        if done.returncode:
            sys.exit(f"tract {' '.join(args)}: {done.returncode}: {done.stderr}")
        return done.stdout

    def sound(self, what):
        done = self.run("fsck")
        hold(done.returncode == 0, f"{what}: fsck says {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return done.returncode == 0


class Both:
    """A file and a schema, by name."""

    def __init__(self, tract, server, folder):
        self.tract, self.server, self.folder = tract, server, Path(folder)
        self.count = 0

    def made(self, engine, name):
        self.count += 1
        if engine == "PostgreSQL":
            return Repository(self.tract, f"postgres://tract@/postgres?host={self.server.folder}&schema={name}_{self.count}")
        place = self.folder / f"{name}-{self.count}"
        place.mkdir()
        return Repository(self.tract, place)


def schema_of(repository):
    return re.search(r"schema=(\w+)", repository.place).group(1)


ENGINES = ("SQLite", "PostgreSQL")


# --- a hundred writers ------------------------------------------------------------------------

# A loop in a shell: what starts a process costs as little there as anywhere.
LOOP = {
    "commit": """
i=0
while [ $i -lt $COUNT ]; do
    "$TRACT" --on "$BRANCH" -q commit -r user -m "$WRITER.$i $TEXT" 2>&1; echo "exit $?"
    i=$((i + 1))
done""",
    "expect": """
i=0
while [ $i -lt $COUNT ]; do
    was=$("$TRACT" rev-parse "$BRANCH"); echo "at $was"
    "$TRACT" --on "$BRANCH" -q commit --expect "$was" -r user -m "$WRITER.$i $TEXT" 2>&1; echo "exit $?"
    i=$((i + 1))
done""",
    "batch": """
i=0
while [ $i -lt $COUNT ]; do
    j=0
    while [ $j -lt 10 ]; do
        echo "{\\"role\\":\\"user\\",\\"content\\":\\"$WRITER.$i.$j $TEXT\\"}"
        j=$((j + 1))
    done | "$TRACT" --on "$BRANCH" -q commit --batch - 2>&1; echo "exit $?"
    i=$((i + 1))
done""",
    "record": """
i=0
while [ $i -lt $COUNT ]; do
    echo "{\\"type\\":\\"user\\",\\"message\\":{\\"role\\":\\"user\\",\\"content\\":\\"$WRITER.$i $TEXT\\"},\\"parent_tool_use_id\\":null,\\"session_id\\":\\"w$WRITER\\",\\"uuid\\":\\"00000000-0000-4000-8000-$(printf %012d $i)\\"}"
    i=$((i + 1))
done | "$TRACT" record -q --format claude-stream --as "$BRANCH" 2>&1 >/dev/null; echo "exit $?" """,
    "api": """
i=0
while [ $i -lt $COUNT ]; do
    echo "{\\"id\\":$i,\\"method\\":\\"commit\\",\\"params\\":{\\"role\\":\\"user\\",\\"message\\":\\"$WRITER.$i $TEXT\\"}}"
    i=$((i + 1))
done >"$SAID"
"$TRACT" --on "$BRANCH" api <"$SAID" |
    sed -n -e 's/.*"result":.*/exit 0/p' -e 's/.*"message":"\\([^"]*\\)".*"exit_code":\\([0-9]*\\).*/error: \\1\\nexit \\2/p' """,
    "start": """
i=0
while [ $i -lt $COUNT ]; do
    "$TRACT" --version; echo "exit $?"
    i=$((i + 1))
done""",
}
TEXT = " ".join(itertools.islice(itertools.cycle(WORDS), 35))[:140]


class Writer:
    """What one of them said."""

    def __init__(self, folder, at):
        self.at, self.out = at, folder / f"{at}.out"

    def attempts(self):
        """Each attempt by its name, which is what its message begins with: where the branch was, as far as that was
        asked; the hashes that were told; the exit code; the error."""
        expected, hashes, error, number = None, [], None, 0
        for line in self.out.read_text().splitlines():
            if line.startswith("at "):
                expected = line[3:]
            elif line.startswith("exit "):
                yield f"{self.at}.{number}", expected, hashes, int(line[5:]), error
                expected, hashes, error, number = None, [], None, number + 1
            elif line.startswith("error"):
                error = line
            elif re.fullmatch("[0-9a-f]{64}", line):
                hashes.append(line)


def write(repository, loop, branches, writers, count, folder):
    """Runs all writers at once; how long they took, and what they said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    children, told = [], []
    started = time.monotonic()
    for at in range(writers):
        writer = Writer(folder, at)
        env = {**repository.env, "TRACT": repository.tract, "BRANCH": branches(at), "WRITER": str(at), "COUNT": str(count), "TEXT": TEXT,
               "SAID": str(writer.out) + ".in"}
        with open(writer.out, "w") as out:
            children.append(subprocess.Popen(["sh", "-c", LOOP[loop]], env=env, stdin=subprocess.DEVNULL, stdout=out))
        told.append(writer)
    for child in children:
        child.wait()
    return time.monotonic() - started, told


def present(repository, branches):
    """What is there: of each message's first word the commits, each with its parent."""
    here = {}
    for branch in branches:
        done = repository.run("log", "-n", "0", "--format", "%H,%P,%s", branch)
        for line in done.stdout.splitlines():
            commit, parent, text = line.split(",", 2)
            here.setdefault(text.split(" ")[0], []).append((commit, parent or None))
    return here


def is_busy(error):
    """Whether somebody waited in vain, which has the exit code of a refusal."""
    return error is not None and error.startswith("error: waited")


def judged(repository, name, loop, branches, told, count):
    """Holds what was acknowledged against what is there: how many are there, how many were acknowledged, of these how many
    are lost and how many were told another's hash, and the exit codes."""
    attempts = [attempt for writer in told for attempt in writer.attempts()]
    here = present(repository, sorted(branches))
    here.pop("first", None)
    # What one attempt brings.
    parts = {"batch": lambda at: [f"{at}.{part}" for part in range(10)],
             "record": lambda at: [f"{at.split('.')[0]}.{part}" for part in range(count)]}.get(loop, lambda at: [at])
    done = {part for at, *_, code, _ in attempts if code == 0 for part in parts(at)}
    lost, unasked = done - here.keys(), here.keys() - done
    hold(not lost, f"{name}: {len(lost)} of {len(done)} acknowledged commits are not there: {sorted(lost)[:3]}")
    hold(not unasked, f"{name}: {len(unasked)} commits are there that were refused: {sorted(unasked)[:3]}")
    twice = [part for part, commits in here.items() if len(commits) > 1]
    hold(not twice, f"{name}: {len(twice)} commits are there more than once: {twice[:3]}")
    others, won = 0, {commits[0][1] for commits in here.values()}
    for at, expected, hashes, code, error in attempts:
        if loop in ("commit", "expect") and code == 0 and at in here:
            others += hashes != [here[at][0][0]]
        if loop == "expect" and code == 0 and at in here:
            hold(here[at][0][1] == expected, f"{name}: {at} does not stand where it was expected to")
        elif loop == "expect" and code == 4 and not is_busy(error):
            hold(expected in won, f"{name}: {at} was refused at {expected}, and nobody was first")
    counted, odd = {}, set()
    for *_, code, error in attempts:
        kind = f"{code}, busy" if is_busy(error) else str(code)
        counted[kind] = counted.get(kind, 0) + 1
        if code and (loop != "expect" or kind != "4"):
            odd.add(error)
    if odd:
        note(f"{name}: {len(odd)} kinds of errors, such as {sorted(odd, key=str)[:3]}")
    hold(done, f"{name}: nobody committed anything")
    codes = "; ".join(f"{many:,} × {kind}" for kind, many in sorted(counted.items()))
    return len(here), len(done), len(lost), others, codes


def bytes_a_commit(server, repository):
    """What the rows of a commit have in them, and what they take with their indexes."""
    schema = schema_of(repository)
    tables = ("contents", "bodies", "commits", "operations", "reflog")
    rows = " + ".join(f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {schema}.{name} AS t)" for name in tables)
    (total, commits), = server.sql(f"SELECT {rows}, (SELECT count(*) FROM {schema}.commits)")
    return int(total) // int(commits)


def bare_server(server, folder, size, writers, count, connects):
    """Commits a second of bare rows, one transaction each."""
    server.sql("DROP TABLE IF EXISTS bare", "CREATE TABLE bare (id bigserial PRIMARY KEY, body bytea NOT NULL)")
    script = folder / "bare.sql"
    script.write_text("INSERT INTO bare (body) VALUES ('\\x" + random.Random(1).randbytes(size).hex() + "');\n")
    started = time.monotonic()
    done = subprocess.run([server.programs / "pgbench", "-h", server.folder, "-U", "tract", "-n", "-c", str(writers), "-j", "2",
                           "-t", str(count), "-f", script, *(["-C"] if connects else []), "postgres"], env=PLAIN, capture_output=True, text=True)
    spent = time.monotonic() - started
    (there,), = server.sql("SELECT count(*) FROM bare")
    if done.returncode or int(there) != writers * count:
        sys.exit(f"pgbench: {there} rows: {done.stderr}")
    return writers * count / spent


def bare_rows(path, body, count, start):
    rows = sqlite3.connect(path, timeout=120, isolation_level=None)
    rows.execute("PRAGMA synchronous=FULL")
    start.wait()
    for _ in range(count):
        rows.execute("INSERT INTO bare (body) VALUES (?)", (body,))
    rows.close()


def bare_file(folder, size, writers, count):
    path = folder / "bare.db"
    path.unlink(missing_ok=True)
    rows = sqlite3.connect(path)
    rows.execute("PRAGMA journal_mode=WAL")
    rows.execute("CREATE TABLE bare (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
    rows.close()
    forked = multiprocessing.get_context("fork")
    start, body = forked.Barrier(writers + 1), random.Random(1).randbytes(size)
    children = [forked.Process(target=bare_rows, args=(path, body, count, start)) for _ in range(writers)]
    for child in children:
        child.start()
    start.wait()
    started = time.monotonic()
    for child in children:
        child.join()
    spent = time.monotonic() - started
    rows = sqlite3.connect(path)
    (there,), = rows.execute("SELECT count(*) FROM bare")
    rows.close()
    if there != writers * count:
        sys.exit(f"bare SQLite: {there} rows of {writers * count}")
    return writers * count / spent


def many_writers(both, asked, server):
    writers, count = asked.writers, asked.commits
    folder = both.folder / "said"
    own, one, few = (lambda at: f"w{at}"), (lambda at: "one"), (lambda at: f"f{at % writers}")
    # So often that it is not the start of so many processes that is measured.
    each = count // 5 if asked.quick else max(80, count // 5)
    long = count if asked.quick else max(200, count)
    ways = [
        ("a process a commit, a branch each", "commit", own, count),
        ("a process a commit, one branch", "commit", one, count),
        ("the same with --expect", "expect", one, count),
        ("a process for ten, a branch each", "batch", own, max(1, count // 10)),
        ("a process for all, a branch each", "record", own, count),
        (f"{writers} that stay, a branch each", "api", own, long),
        (f"{asked.staying} that stay, {writers} branches", "api", few, each),
    ]
    measured, size, mistaken = [], None, []
    for name, loop, branches, turns in ways:
        many = asked.staying if branches is few else writers
        for engine in ENGINES:
            repository = both.made(engine, loop)
            if loop == "expect":
                repository.must("--on", "one", "commit", "-q", "-r", "user", "-m", "first of all")
            spent, told = write(repository, loop, branches, many, turns, folder)
            there, done, lost, others, codes = judged(repository, f"{name}, {engine}", loop, {branches(at) for at in range(many)}, told, turns)
            whole = repository.sound(f"{name}, {engine}")
            if loop == "commit" and size is None and engine == "PostgreSQL":
                size = bytes_a_commit(server, repository)
            if others:
                mistaken.append(f"{others:,} of {done:,} ({name}, {engine})")
            measured.append((name, engine, there, done, codes, lost, whole, there / spent))
            note(f"{name} | {engine} | {there:,} commits in {spent:.1f} s: {there / spent:,.0f}/s | {codes}")
    spent, _ = write(repository, "start", own, writers, max(1, count // 5), folder)
    starts = writers * max(1, count // 5) / spent
    bare = {"SQLite": bare_file(both.folder, size, writers, count), "PostgreSQL": bare_server(server, both.folder, size, writers, count, False)}
    connecting = bare_server(server, both.folder, size, writers, count, True)
    staying = bare_server(server, both.folder, size, asked.staying, each, False)
    rows = []
    for name, engine, there, done, codes, lost, whole, rate in measured:
        rows.append((name, engine, thousands(there), thousands(done), codes, thousands(lost), "clean" if whole else "**damage**",
                     f"{rate:,.0f}", f"{rate / bare[engine]:.2f} ×", f"{rate / connecting:.2f} ×" if engine == "PostgreSQL" else ""))
    text = table(("how", "engine", "there", "acknowledged", "exit codes", "lost", "fsck", "commits/s", "of bare rows", "with a connection each"), rows)
    text += (f"\n{writers} writers at once, {count:,} commits each (`--expect`: attempts; those that stay {long:,}, the {asked.staying} of them {each:,}). Bare rows of {size} bytes, as many as a commit's have, one "
             f"transaction each, {writers} connections: {bare['PostgreSQL']:,.0f}/s on the server, {connecting:,.0f}/s with a connection for each row, "
             f"{staying:,.0f}/s from {asked.staying}, {bare['SQLite']:,.0f}/s in an SQLite file. `tract --version` alone: {starts:,.0f}/s.\n")
    if mistaken:
        text += f"\nTold the hash of a later commit, another's, instead of their own: {'; '.join(mistaken)}.\n"
    return text


# --- a fleet ----------------------------------------------------------------------------------

DAY = 86_400_000
TURNS = (("commit", 62), ("compile", 10), ("log", 10), ("truncate", 6), ("undo", 6), ("fork", 6))
COMMON = ("Go on.", "Yes, do it.", "Run the tests again.", "Looks good.")


class Branch:
    """What a branch should hold: what its commits say, oldest first, and what a model would be sent."""

    def __init__(self, name, said=(), seen=()):
        self.name, self.said, self.seen = name, tuple(said), tuple(seen)
        self.was = None

    def move(self, said, seen):
        self.was = (self.said, self.seen)
        self.said, self.seen = said, seen


class Agent:
    """One that works on branches of its own, a command at a time."""

    def __init__(self, number, repository, seed):
        self.number, self.repository = number, repository
        self.chance = random.Random(f"{seed}.{number}")
        # How often it waited in vain, and tried again.
        self.branches, self.turn, self.waits = [], 0, 0

    def tract(self, clock, *args):
        started = time.monotonic()
        done = self.repository.run(*args, env={"TRACT_CLOCK": str(clock)})
        while done.returncode and is_busy(done.stderr):
            self.waits += 1
            done = self.repository.run(*args, env={"TRACT_CLOCK": str(clock)})
        spent = time.monotonic() - started
        hold(done.returncode == 0, f"agent {self.number}: {' '.join(args)}: {done.returncode}: {done.stderr[-300:]}")
        return done.stdout, spent

    def act(self, clock):
        """Does one thing; what it was, and the seconds that it took."""
        self.turn += 1
        if not self.branches:
            self.branches.append(Branch(f"agent-{self.number}"))
            return self.commit(self.branches[0], clock)
        branch = self.chance.choice(self.branches)
        what = self.chance.choices([name for name, _ in TURNS], [weight for _, weight in TURNS])[0]
        # A branch whose first commit was undone is not there.
        if not branch.said or what == "undo" and branch.was is None:
            what = "commit"
        return getattr(self, what)(branch, clock)

    def commit(self, branch, clock):
        is_user = len(branch.said) % 2 == 0
        text = f"agent {self.number}, turn {self.turn}: " + " ".join(self.chance.choices(WORDS, k=self.chance.randrange(4, 60)))
        if is_user and branch.said and self.chance.random() < 0.3:
            # What many say: the same content from many at once.
            text = self.chance.choice(COMMON)
        _, spent = self.tract(clock, "--on", branch.name, "commit", "-q", "-r", "user" if is_user else "assistant", "-m", text)
        branch.move((*branch.said, ("append", text)), (*branch.seen, text))
        return "commit", spent

    def fork(self, branch, clock):
        other = Branch(f"{branch.name}.{self.turn}", branch.said, branch.seen)
        _, spent = self.tract(clock, "branch", "-q", other.name, branch.name)
        self.branches.append(other)
        return "fork", spent

    def truncate(self, branch, clock):
        keep = self.chance.randrange(1, 6)
        _, spent = self.tract(clock, "--on", branch.name, "truncate", "-q", "--keep", str(keep))
        # The task stays, markers stay, and the newest.
        last = len(branch.seen) - keep
        stays = [at == 0 or at >= last or text.startswith("[Sliding") for at, text in enumerate(branch.seen)]
        hidden = stays.count(False)
        if hidden:
            marker = f"[Sliding window truncation: {hidden} messages hidden to reduce context]"
            seen = [text for text, stay in zip(branch.seen, stays) if stay]
            place = sum(stays[:last])
            branch.move((*branch.said, ("hide", marker)), (*seen[:place], marker, *seen[place:]))
        return "truncate", spent

    def undo(self, branch, clock):
        told, _ = self.tract(clock, "reflog", "-n", "1", branch.name)
        _, spent = self.tract(clock, "undo", "-q", re.search(r"#(\d+)", told).group(1))
        (branch.said, branch.seen), branch.was = branch.was, None
        return "undo", spent

    def compile(self, branch, clock):
        told, spent = self.tract(clock, "compile", "--format", "openai", branch.name)
        self.agree(branch, told)
        return "compile", spent

    def log(self, branch, clock):
        told, spent = self.tract(clock, "log", "-n", "20", "--format", "%o %s", branch.name)
        self.listed(branch, told, 20)
        return "log", spent

    def agree(self, branch, told):
        try:
            found = tuple(message["content"] for message in json.loads(told)["messages"])
        except (ValueError, KeyError):
            found = told
        hold(found == branch.seen, f"{branch.name} is sent otherwise than it should be")

    def listed(self, branch, told, limit):
        wanted = [f"{what} {preview(text)}" for what, text in reversed(branch.said)]
        hold(told.splitlines() == (wanted[:limit] if limit else wanted), f"{branch.name} is listed otherwise than it should be")


def preview(text):
    """A message in a line (docs/object-format.md); texts here have plain letters and single spaces."""
    return text if len(text) <= 77 else text[:77].rstrip() + "…"


class Count:
    """Runs work in turn by so many threads, each of which waits for a process."""

    def __init__(self, threads, work):
        self.work, self.lock = work, threading.Lock()
        self.threads = [threading.Thread(target=self.loop) for _ in range(threads)]
        for thread in self.threads:
            thread.start()
        for thread in self.threads:
            thread.join()

    def loop(self):
        try:
            while self.work(self.lock):
                pass
        except BaseException as error:
            hold(False, f"a worker ended: {error!r}")
            raise


def fleet(both, asked, server):
    text, rows = "", []
    for engine in ENGINES:
        repository = both.made(engine, "fleet")
        agents = [Agent(number, repository, asked.seed) for number in range(asked.agents)]
        # Who is next, by a clock of their own: a turn every few minutes, nights between.
        chance = random.Random(asked.seed)
        first = 1_767_225_600_000
        due = [(first + chance.randrange(3 * DAY), number) for number in range(asked.agents)]
        heapq.heapify(due)
        done, spent, last = 0, {}, first

        def turn(lock):
            nonlocal done, last
            with lock:
                if done >= asked.fleet_operations or len(wrong) >= MOST_WRONG:
                    return False
                if not due:
                    # All are at work.
                    clock = None
                else:
                    clock, number = heapq.heappop(due)
                    done += 1
                    last = max(last, clock)
            if clock is None:
                time.sleep(0.001)
                return True
            what, seconds = agents[number].act(clock)
            with lock:
                spent.setdefault(what, []).append(seconds)
                pause = int(chance.expovariate(1 / 240_000)) + (DAY if chance.random() < 0.2 else 0)
                heapq.heappush(due, (clock + pause, number))
                if done % 1_000 == 0:
                    note(f"fleet, {engine}: {done:,} operations")
            return True

        started = time.monotonic()
        Count(asked.pool, turn)
        seconds = time.monotonic() - started
        left = [(agent, branch) for agent in agents for branch in agent.branches if branch.said]
        branches = len(left)

        def check(lock):
            with lock:
                if not left:
                    return False
                agent, branch = left.pop()
            agent.listed(branch, repository.run("log", "-n", "0", "--format", "%o %s", branch.name).stdout, 0)
            agent.agree(branch, repository.run("compile", "--format", "openai", branch.name).stdout)
            return True

        Count(asked.pool, check)
        whole = repository.sound(f"fleet, {engine}")
        for what in [name for name, _ in TURNS]:
            if what in spent:
                some = spent[what]
                rows.append((what, engine, thousands(len(some)), ms(statistics.median(some)), ms(share(some, 0.99)), ms(max(some))))
        days, waits = (last - first) / DAY, sum(agent.waits for agent in agents)
        text += (f"\n{engine}: {asked.agents:,} agents, {asked.pool} at once, {done:,} commands over {days:.0f} virtual days in {seconds:.0f} s "
                 f"({done / seconds:,.0f}/s); {branches:,} branches, each as the model has it; fsck {'clean' if whole else '**damage**'}."
                 f"{f' {waits} times somebody waited in vain, and tried again.' if waits else ''}\n")
        note(text.splitlines()[-1])
    return table(("command", "engine", "runs", "median ms", "p99 ms", "most ms"), rows) + text


# --- growth -----------------------------------------------------------------------------------

RARE = "xylograph"
TABLES = ("contents", "bodies", "commits", "lineages", "refs", "operations", "reflog", "counts", "totals")
COLUMNS = {
    "contents": "id, hash, role, preview, size_bytes, calls, results",
    "bodies": "content, encoding, body",
    "commits": "id, hash, lineage, depth, parent, content, canonical",
    "lineages": "id, parent, fork_depth",
    "refs": "name, target, symbolic",
    "operations": "id, time, what, undoes, redoes",
    "reflog": "id, operation, name, old_target, old_symbolic, new_target, new_symbolic",
    "counts": "content, encoding, mask, tokens, estimated",
    "totals": "lineage, depth, encoding, messages, tokens, estimates",
}


def templates(seed=1):
    """What messages say behind their number: some of 145 bytes, so that a content has about 200."""
    chance = random.Random(seed)
    made = []
    for _ in range(64):
        text = ""
        while len(text) < 138:
            text += " " + chance.choice(WORDS)
        made.append(text)
    return made


class Talk:
    """The messages: a number of nine digits, which is three tokens, and words that come again."""

    def __init__(self, size, each):
        self.size, self.each, self.words = size, each, templates()
        self.rare_at = size // 2

    def text(self, at):
        rare = f" {RARE}" if at == self.rare_at else ""
        return f"{at:09d}{self.words[at % 64]}{rare}"

    def lines(self):
        """Which branch gets how many commits, from where: the first a tenth of all, the others `each`, a few at a
        time in turn; one in ten goes on from the middle of one that was before it."""
        main = max(1, self.size // 10)
        rest = self.size - main
        each = min(self.each, max(1, rest // 9))
        counts = [each] * (rest // each) + ([rest % each] if rest % each else [])
        at_once = max(1, min(32, len(counts) // 4))
        yield [("main", main, None)]
        for group in range(0, len(counts), at_once):
            some = []
            for number in range(group, min(group + at_once, len(counts))):
                fork = number - at_once if number % 10 == 9 and number >= at_once else None
                some.append((f"t{number}", counts[number], fork))
            yield some


def tokens(both, talk):
    """What each of the texts comes to, as the program counts it."""
    repository = both.made("PostgreSQL", "counts")
    texts = [f"{at:09d}{talk.words[at % 64]}" for at in range(64)] + [f"{at:09d}{talk.words[at % 64]} {RARE}" for at in range(64)]
    lines = [json.dumps({"role": role, "content": text}) for text in texts for role in ("user", "assistant")]
    repository.must("commit", "-q", "--batch", "-", input="\n".join(lines) + "\n")
    repository.must("status")
    schema = schema_of(repository)
    told = both.server.sql(f"SELECT tokens FROM {schema}.counts JOIN {schema}.commits USING (content) WHERE encoding = 0 AND mask = '' ORDER BY depth")
    if len(told) != len(lines):
        sys.exit(f"{len(told)} counts of {len(lines)} messages")
    told = [int(count) for count, in told]
    return lambda at, is_user, is_rare: told[2 * (at % 64 + 64 * is_rare) + (not is_user)]


class Loading:
    """Rows on their way into a schema's tables. Constraints and indexes are taken off and put back as they were."""

    def __init__(self, server, schema):
        self.server, self.schema = server, schema
        self.before = self.kept()
        tables = ", ".join(f"'{schema}.{name}'::regclass" for name in TABLES)
        constraints = server.sql(f"""SELECT conrelid::regclass, quote_ident(conname), pg_get_constraintdef(oid), contype
            FROM pg_constraint WHERE conrelid IN ({tables}) AND contype IN ('p', 'u', 'f') OR confrelid IN ({tables}) AND contype = 'f'
            ORDER BY contype = 'f'""")
        alone = server.sql(f"""SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid IN ({tables})
            AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)""")
        self.again = [f"ALTER TABLE {of} ADD CONSTRAINT {name} {how}" for of, name, how, _ in constraints]
        self.again += [how for _, how in alone]
        # Those that lean on others first.
        off = [f"ALTER TABLE {of} DROP CONSTRAINT {name}" for of, name, _, _ in reversed(constraints)]
        server.sql(*off, *(f"DROP INDEX {name}" for name, _ in alone), f"ALTER TABLE {schema}.refs DISABLE TRIGGER USER")
        self.children = {}
        for name in TABLES:
            copy = f"COPY {schema}.{name} ({COLUMNS[name]}) FROM STDIN"
            self.children[name] = subprocess.Popen(server.psql("-c", copy), env=PLAIN, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.rows = {name: [] for name in TABLES}

    def kept(self):
        """All constraints and indexes, so that they can be held against what they were."""
        return sorted(self.server.sql(f"""SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
            WHERE connamespace = '{self.schema}'::regnamespace
            UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = '{self.schema}'"""))

    def send(self):
        for name, rows in self.rows.items():
            if rows:
                self.children[name].stdin.write("".join(rows).encode())
                rows.clear()

    def finish(self):
        self.send()
        for name, child in self.children.items():
            child.stdin.close()
            if child.wait():
                sys.exit(f"COPY {name} failed")
        for statement in self.again:
            self.server.sql(statement)
        # Which looks at commits, one by one, by their key.
        self.server.sql(f"ALTER TABLE {self.schema}.refs ENABLE TRIGGER USER", f"UPDATE {self.schema}.refs SET target = target")
        if self.kept() != self.before:
            sys.exit("the tables are not as they were made")
        self.server.sql(f"VACUUM ANALYZE {', '.join(f'{self.schema}.{name}' for name in TABLES)}")


def load(both, repository, talk, tokens):
    """Commits as they would stand if each had come alone, by an operation of its own: with counts and a total at the end of
    each branch, as somebody's look would have left them; without checkpoints, summaries and index."""
    loading = Loading(both.server, schema_of(repository))
    rows, sha256 = loading.rows, hashlib.sha256
    of_content, of_commit = b"tract content 1\0", b"tract commit 1\0"
    at = operations = lineages = 0
    first = 1_767_225_600_000
    middles = {}
    what = "commit -r user -m …".encode().hex()
    for group in talk.lines():
        lines = []
        for name, count, fork in group:
            lineages += 1
            line = {"name": f"refs/heads/{name}".encode().hex(), "short": name, "count": count, "lineage": lineages, "made": 0}
            if fork is None:
                rows["lineages"].append(f"{lineages}\t\\N\t\\N\n")
                line |= {"id": None, "hash": None, "depth": -1, "tokens": 0}
            else:
                of, middle = fork, middles[fork]
                rows["lineages"].append(f"{lineages}\t{middle['lineage']}\t{middle['depth']}\n")
                line |= {key: middle[key] for key in ("id", "hash", "depth", "tokens")}
                operations += 1
                begun = f"branch {name} t{of}".encode().hex()
                rows["operations"].append(f"{operations}\t{first + at}\t\\\\x{begun}\t\\N\t\\N\n")
                rows["reflog"].append(f"{operations}\t{operations}\t\\\\x{line['name']}\t\\N\t\\N\t{line['id']}\t\\N\n")
            lines.append(line)
        while lines:
            for line in lines:
                at += 1
                operations += 1
                line["made"] += 1
                line["depth"] += 1
                depth, parent, was = line["depth"], line["hash"], line["id"]
                is_user, is_rare = depth % 2 == 0, at == talk.rare_at
                text = talk.text(at)
                role = "user" if is_user else "assistant"
                body = f'{{"parts":[{{"text":"{text}","type":"text"}}],"role":"{role}"}}'.encode()
                content = sha256(of_content + body)
                above = f'"parent":"{parent}",' if parent else ""
                canonical = f'{{"operation":{{"content":"{content.hexdigest()}","type":"append"}},{above}"time":{first + at}}}'.encode()
                commit = sha256(of_commit + canonical).hexdigest()
                count = tokens(at, is_user, is_rare)
                known = was if was is not None else "\\N"
                rows["contents"].append(f"{at}\t\\\\x{content.hexdigest()}\t{2 if is_user else 3}\t\\\\x{preview(text).encode().hex()}\t{len(body)}\t0\t0\n")
                rows["bodies"].append(f"{at}\t0\t\\\\x{body.hex()}\n")
                rows["commits"].append(f"{at}\t\\\\x{commit}\t{line['lineage']}\t{depth}\t{known}\t{at}\t\\\\x{canonical.hex()}\n")
                rows["operations"].append(f"{operations}\t{first + at}\t\\\\x{what}\t\\N\t\\N\n")
                rows["reflog"].append(f"{operations}\t{operations}\t\\\\x{line['name']}\t{known}\t\\N\t{at}\t\\N\n")
                rows["counts"].append(f"{at}\t0\t\\\\x\t{count}\tf\n")
                line["id"], line["hash"] = at, commit
                line["tokens"] += count
                if line["made"] == (line["count"] + 1) // 2 and line["short"] != "main":
                    middles[int(line["short"][1:])] = {key: line[key] for key in ("lineage", "depth", "id", "hash", "tokens")}
                if line["made"] == line["count"]:
                    rows["refs"].append(f"\\\\x{line['name']}\t{at}\t\\N\n")
                    rows["totals"].append(f"{line['lineage']}\t{depth}\t0\t{depth + 1}\t{line['tokens']}\t0\n")
                if at % 5_000 == 0:
                    loading.send()
                    if at % 500_000 == 0:
                        note(f"loading: {at:,} commits")
            lines = [line for line in lines if line["made"] < line["count"]]
    loading.finish()
    own = schema_of(repository)
    for table in ("contents", "commits", "lineages", "operations", "reflog"):
        both.server.sql(f"SELECT {own}.numbered('{table}', (SELECT max(id) FROM {own}.{table}))")
    both.server.sql("CHECKPOINT")


def fill(both, repository, talk):
    """The same conversation into a file, by batches of at most 1,000 to a branch."""
    at = 0
    for group in talk.lines():
        for name, count, fork in group:
            if fork is not None:
                # Not where the other half of it begins, but as far up.
                repository.must("branch", "-q", name, f"t{fork}~{max(0, count // 2)}")
            made = 0
            while made < count:
                some = min(1_000, count - made)
                lines = []
                for _ in range(some):
                    at += 1
                    lines.append(json.dumps({"role": "user" if made % 2 == 0 else "assistant", "content": talk.text(at)}) + "\n")
                    made += 1
                repository.must("--on", name, "commit", "-q", "--batch", "-", input="".join(lines))
                if at // 100_000 != (at - some) // 100_000:
                    note(f"filling: {at:,} commits")
            # Somebody looks: counts, and a total at the end.
            repository.must("--on", name, "log", "-n", "1")


class Timed:
    """One command, in a process of its own."""

    def __init__(self, repository, *args):
        self.repository, self.args = repository, args
        self.peak = 0

    def once(self):
        started = time.monotonic()
        child = subprocess.Popen([self.repository.tract, *self.args], env=self.repository.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        spent = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        child.stderr.close()
        if child.returncode:
            hold(False, f"{' '.join(self.args)}: {child.returncode}: {said.decode()[-300:]}")
        # A child's greatest size begins at that of who started it: it says something only above that.
        if used.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 1024:
            self.peak = max(self.peak, used.ru_maxrss)
        return spent


def disk(path):
    return sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())


def sizes(server, schema):
    """What each table takes, and its indexes."""
    told = server.sql(f"""SELECT relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class AS c
        WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r' ORDER BY pg_total_relation_size(c.oid) DESC""")
    return [(name, int(rows), int(indexes)) for name, rows, indexes in told]


def growth(both, asked, server):
    commands = [
        ("log -n 20", ("log", "-n", "20")),
        ("status", ("status",)),
        ("commit", ("commit", "-q", "-r", "user", "-m", "one more message of some forty bytes")),
        ("compile, 50 visible", ("compile",)),
        ("find, a rare word", ("find", "-F", RARE)),
        ("branch -n 20", ("branch", "-n", "20")),
        ("branch", ("branch",)),
    ]
    text, rooms, firsts, times = "", [], [], []
    for size in asked.growth:
        talk = Talk(size, asked.of_each)
        branches = sum(len(group) for group in talk.lines())
        known = tokens(both, talk)
        for engine in ENGINES:
            if engine == "SQLite" and size > asked.file_up_to:
                continue
            repository = both.made(engine, "growth")
            started = time.monotonic()
            if engine == "PostgreSQL":
                load(both, repository, talk, known)
            else:
                fill(both, repository, talk)
            took = time.monotonic() - started
            note(f"growth, {engine}: {size:,} commits on {branches:,} branches made in {took:.0f} s")
            is_checked = size <= asked.fsck_up_to
            if is_checked:
                hold(repository.sound(f"growth, {engine}, {size:,}"), "what was made is not what the program makes")
            does_find = size <= asked.find_up_to
            some = [(name, args) for name, args in commands if does_find or not name.startswith("find")]
            # What is made once: the first of each.
            once = {}
            for name, args in [("branch", ("branch",)), ("truncate --keep 50", ("truncate", "-q", "--keep", "50")), ("status", ("status",)),
                               ("log -n 20", ("log", "-n", "20")),
                               *([("find, with the index", ("find", "-F", RARE))] if does_find else [])]:
                timed = Timed(repository, *args)
                once[name] = timed.once(), timed.peak
                note(f"growth, {engine}, {size:,}: the first {name}: {once[name][0]:.2f} s")
            firsts.append((thousands(size), thousands(branches), engine, f"{took:.0f}",
                           *(f"{once[name][0]:.2f}" if name in once else "" for name in ("branch", "truncate --keep 50", "status", "log -n 20", "find, with the index")),
                           f"{max(peak for _, peak in once.values()) / 1024:.0f}" if any(peak for _, peak in once.values()) else "",
                           "clean" if is_checked else ""))
            if engine == "PostgreSQL":
                server.sql(f"VACUUM ANALYZE {schema_of(repository)}.search")
                there = sizes(server, schema_of(repository))
                whole = sum(rows + indexes for _, rows, indexes in there)
                parts = ", ".join(f"{name} {megabytes(rows)} + {megabytes(indexes)}" for name, rows, indexes in there if rows + indexes > whole // 100)
            else:
                whole, parts = disk(repository.place), "one file"
            rooms.append((thousands(size), engine, megabytes(whole), f"{whole / size:,.0f}", parts))
            for name, args in some:
                timed = Timed(repository, *args)
                cold = None
                if engine == "PostgreSQL":
                    server.restart()
                    cold = timed.once()
                # One that takes long is run less often.
                runs = max(1, min(asked.runs, int(60 / timed.once())))
                warm = [timed.once() for _ in range(runs)]
                times.append((name, thousands(size), engine, ms(cold) if cold else "", f"{ms(statistics.median(warm))} ({ms(min(warm))})",
                              f"{timed.peak / 1024:.0f}" if timed.peak else ""))
                note(" | ".join(times[-1]))
            if is_checked:
                repository.sound(f"growth, {engine}, {size:,}, at the end")
            if engine == "PostgreSQL":
                server.sql(f"DROP SCHEMA {schema_of(repository)} CASCADE")
                server.sql("CHECKPOINT")
            else:
                shutil.rmtree(repository.place)
    times.sort(key=lambda row: ([name for name, _ in commands].index(row[0]), int(row[1].replace(",", "")), row[2] != "SQLite"))
    text += table(("commits", "engine", "MB", "bytes a commit", "by table, rows + indexes, MB"), rooms)
    text += "\n" + table(("command", "commits", "engine", "cold ms", "warm ms (least)", "MB"), times)
    text += "\nWhat is made once, in seconds:\n\n"
    text += table(("commits", "branches", "engine", "filled", "branch", "truncate", "status", "log -n 20", "find and index", "MB", "fsck"), firsts)
    return text


# --- all of it --------------------------------------------------------------------------------

GROUPS = {"writers": many_writers, "fleet": fleet, "growth": growth}


def put(page, name, text):
    """Puts a table where a page has its place."""
    path = Path(page)
    was = path.read_text()
    place = re.compile(rf"(<!-- figures: {name} -->\n).*?(<!-- end -->)", re.S)
    if not place.search(was):
        return
    path.write_text(place.sub(lambda found: f"{found.group(1)}\n{text}\n{found.group(2)}", was))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"), help="the program (target/release/tract)")
    parser.add_argument("--work", default=tempfile.gettempdir(), help="below which the server and the files are made")
    parser.add_argument("--only", default="", help="groups, with commas: " + ", ".join(GROUPS) + " (without growth)")
    parser.add_argument("--writers", type=int, default=32, help="how many write at once (32)")
    parser.add_argument("--commits", type=int, default=500, help="how often each of them commits (500)")
    parser.add_argument("--staying", type=int, default=150, help="how many stay at once on as many branches as there are writers (150)")
    parser.add_argument("--agents", type=int, default=1_000, help="how many agents there are (1,000)")
    parser.add_argument("--pool", type=int, default=24, help="how many of them act at once (24)")
    parser.add_argument("--fleet-operations", type=int, default=5_000, help="what all of them do (5,000)")
    parser.add_argument("--seed", default="1", help="of the fleet's chances")
    parser.add_argument("--growth", default="", help="commits, with commas, such as 10000,100000")
    parser.add_argument("--of-each", type=int, default=1_000, help="how many of them each branch has but the first (1,000)")
    parser.add_argument("--file-up-to", type=int, default=1_000_000, help="the greatest that SQLite is filled with (1,000,000)")
    parser.add_argument("--find-up-to", type=int, default=1_000_000, help="the greatest that is searched, for the index takes long (1,000,000)")
    parser.add_argument("--fsck-up-to", type=int, default=10_000, help="the greatest that is checked (10,000)")
    parser.add_argument("--runs", type=int, default=7, help="how often a command is run warm (7)")
    parser.add_argument("--write", action="append", default=[], metavar="PAGE", help="puts the tables between `<!-- figures: GROUP -->` and `<!-- end -->`")
    parser.add_argument("--quick", action="store_true", help="small and short: that it runs at all")
    asked = parser.parse_args()
    asked.growth = [int(size) for size in asked.growth.split(",") if size]
    if asked.quick:
        asked.writers, asked.commits, asked.agents, asked.pool, asked.fleet_operations = 4, 10, 12, 4, 150
        asked.staying = 10
        asked.growth, asked.runs = asked.growth or [2_000], 1
    tract = str(Path(asked.tract).resolve())
    if not os.access(tract, os.X_OK):
        sys.exit(f"{tract} is not there: cargo build --release --locked --features postgres")
    only = asked.only.split(",") if asked.only else ["writers", "fleet"] + ["growth"] * bool(asked.growth)
    for group in only:
        if group not in GROUPS:
            sys.exit(f"no group {group}: {', '.join(GROUPS)}")
    if "growth" in only and not asked.growth:
        asked.growth = [10_000, 100_000]
    found = programs()
    if not found:
        sys.exit("no PostgreSQL server is installed")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = Path(tempfile.mkdtemp(prefix="tract-servers-", dir=asked.work))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = Server(found, folder)
    both = Both(tract, server, folder)
    settings = ", ".join(f"{name} {value}" for name, value in server.settings().items())
    about = f"{os.cpu_count()} cores, {os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 2**30:.0f} GB. The server as `initdb` makes it: {settings}."
    for group in only:
        started = time.monotonic()
        text = f"{about}\n\n{GROUPS[group](both, asked, server)}"
        note(f"{group}: {time.monotonic() - started:.0f} s")
        print(f"## {group}\n\n{text}", flush=True)
        for page in asked.write:
            put(page, group, text)
    if wrong:
        sys.exit(f"{len(wrong)} things are wrong, the first: {wrong[0]}")


if __name__ == "__main__":
    main()
