#!/usr/bin/env python3
"""An older program on a newer repository, and the reverse, with a program that is really older.

    python3 tests/versions/older.py --tract target/debug/tract [--commit COMMIT | --old PROGRAM] [--work FOLDER]

The older one is built from the commit before the engine's newest migration, unless one is named: its files are taken out of git and
compiled below --work, which takes minutes once. On both engines, in a file and on a server of its own:

- the older program on a newer repository says one `error:` and one `hint:`, ends with exit code 3, and changes nothing: the file
  is the same to the byte, the server's rows are the same;
- the newer program on an older repository brings it up to date: the same commits, the same requests, the same files come out,
  nothing is damaged, and it can be written to.

Exit code 77: no older program can be had here. Where no PostgreSQL is installed, its part is skipped, and that is said.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
sys.path.insert(0, str(PROJECT / "benches"))
from servers import Server, programs  # noqa: E402

SESSION = PROJECT / "tests/data/claude-code/compaction.jsonl"
SKIPPED = 77

faults = []


def hold(holds, what):
    if not holds:
        print(f"  FAULT {what}")
        faults.append(what)


def before_migration(of):
    """The newest commit before the newest of these migrations: the engine's format is the one before there."""

    def asked(*words):
        found = subprocess.run(["git", "-C", str(PROJECT), *words], capture_output=True, text=True)
        return found.stdout.strip() if found.returncode == 0 else ""

    # A file that is renamed is no new one.
    added = asked("log", "-1", "--first-parent", "-m", "-M", "--format=%H", "--diff-filter=A", "--", of)
    return asked("rev-parse", "--verify", "--quiet", f"{added}^") or None if added else None


def built(commit, work):
    """The program as it was then."""
    folder = work / commit[:12]
    program = folder / "target/debug/tract"
    if program.exists():
        return program
    folder.mkdir(parents=True, exist_ok=True)
    archive = subprocess.Popen(["git", "-C", str(PROJECT), "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", str(folder)], stdin=archive.stdout, check=True)
    if archive.wait():
        sys.exit(f"git archive {commit} failed")
    env = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    subprocess.run(["cargo", "build", "--locked", "--features", "postgres", "--bin", "tract"], cwd=folder, env=env, check=True)
    # A few hundred megabytes that nobody needs again.
    for name in ("deps", "build", "incremental", ".fingerprint"):
        shutil.rmtree(folder / f"target/debug/{name}", ignore_errors=True)
    return program


class Program:
    def __init__(self, path, home):
        self.path = pathlib.Path(path).resolve()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "TZ": "UTC", "USER": "somebody", "TRACT_CLOCK": "1773489600000"}

    def run(self, place, *arguments):
        return subprocess.run([self.path, "--repo", str(place), *arguments], env=self.env, capture_output=True, text=True, cwd=self.env["HOME"], stdin=subprocess.DEVNULL)

    def ok(self, place, *arguments):
        done = self.run(place, *arguments)
        hold(done.returncode == 0, f"{' '.join(arguments)}: {done.returncode} {done.stderr}")
        return done.stdout


class File:
    """A repository in a file."""

    name = "a file"
    migrations = ":(glob)migrations/*.sql"

    def __init__(self, folder, name):
        self.place = folder / name

    def format(self):
        database = sqlite3.connect(f"file:{self.place}/.tract/tract.db?mode=ro", uri=True)
        return database.execute("PRAGMA user_version").fetchone()[0]

    def state(self):
        """All bytes; the index of the journal is made anew by whoever looks."""
        files = sorted(path for path in (self.place / ".tract").iterdir() if not path.name.endswith("-shm"))
        return [(path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


class Schema:
    """A repository on a server."""

    name = "a server"
    migrations = "migrations/postgres"

    def __init__(self, server, name):
        self.server, self.schema = server, f"versions_{name}"
        self.place = f"postgres://tract@/postgres?host={server.folder}&schema={self.schema}"

    def psql(self, sql):
        command = self.server.psql("-A", "-t", "-c", sql)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def format(self):
        return int(self.psql(f"SELECT format FROM {self.schema}.tract_repository"))

    def state(self):
        """All tables with all of their rows."""
        tables = self.psql(f"SELECT tablename FROM pg_tables WHERE schemaname = '{self.schema}' ORDER BY 1").split()
        return [(table, self.psql(f"SELECT * FROM {self.schema}.{table} AS t ORDER BY t::text")) for table in tables]


def fill(program, place, files):
    """A repository with a bit of everything."""
    done = subprocess.run([program.path, "init", str(place)], env=program.env, capture_output=True, text=True, cwd=program.env["HOME"])
    hold(done.returncode == 0, f"init: {done.stderr}")
    program.ok(place, "import", str(SESSION))
    program.ok(place, "commit", "-r", "user", "-m", "one more question")
    program.ok(place, "commit", "-r", "assistant", "-m", "one more answer")
    program.ok(place, "branch", "aside", "HEAD~1")
    program.ok(place, "tag", "v1", "-m", "a note")
    program.ok(place, "truncate", "--keep", "1")
    program.ok(place, "undo")
    program.ok(place, "config", "window.size", "7")
    program.ok(place, "find", "question")


def told(program, place):
    """What must be the same whichever program tells it."""
    answers = {"config": program.ok(place, "config")}
    for rev in ("HEAD", "aside", "v1"):
        answers[f"log {rev}"] = program.ok(place, "log", "-n", "0", "--format", "%H", rev)
        answers[f"compile {rev}"] = program.ok(place, "compile", "--format", "openai", rev)
    return answers


def older_on_newer(old, new, of, files):
    print(f"an older program on a newer repository, in {of.name}")
    fill(new, of.place, files)
    of_new, before = of.format(), of.state()
    for arguments in (["log"], ["status"], ["commit", "-r", "user", "-m", "lost"], ["gc"], ["fsck", "--repair"], ["undo"]):
        done = old.run(of.place, *arguments)
        lines = done.stderr.splitlines()
        what = f"{' '.join(arguments)}: exit {done.returncode}, {done.stderr!r}"
        hold(done.returncode == 3, what)
        hold(done.stdout == "", what)
        hold(len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("hint: "), what)
        hold(of.state() == before, f"{' '.join(arguments)} changed something")
    hold(of.format() == of_new, "the format is another one")
    new.ok(of.place, "fsck")


def newer_on_older(old, new, of, files):
    print(f"a newer program on an older repository, in {of.name}")
    fill(old, of.place, files)
    of_old, before = of.format(), told(old, of.place)
    after = told(new, of.place)
    for name, answer in before.items():
        hold(after[name] == answer, f"{name} is another one: {answer!r} and {after[name]!r}")
    of_new = of.format()
    hold(of_new > of_old, f"the format stays {of_old}")
    print(f"  format {of_old} became {of_new}")
    new.ok(of.place, "fsck")
    # What nobody is known to have done, on a server nobody takes back.
    new.ok(of.place, "commit", "-r", "user", "-m", "by the newer one")
    new.ok(of.place, "undo")
    new.ok(of.place, "redo")
    new.ok(of.place, "find", "newer")
    new.ok(of.place, "gc", "--expire", "now")
    new.ok(of.place, "fsck")
    done = old.run(of.place, "log")
    hold(done.returncode == 3, f"the older program opens what is newer now: {done.stdout}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", required=True, help="the program, built with --features postgres")
    parser.add_argument("--old", help="an older program, instead of one that is built")
    parser.add_argument("--commit", help="the commit that it is built from")
    parser.add_argument("--work", default=PROJECT / "target/older", type=pathlib.Path, help="where it is built and kept")
    asked = parser.parse_args()

    def older(engine):
        commit = asked.commit or before_migration(engine.migrations)
        return asked.old or commit and built(commit, asked.work)

    old, old_of_servers = older(File), older(Schema)
    if old is None or old_of_servers is None:
        print("no older commit is here: older programs are SKIPPED")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory(prefix="tract-versions-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        (folder / "home").mkdir()
        home = folder / "home"
        old, old_of_servers, new = (Program(it, home) for it in (old, old_of_servers, asked.tract))
        older_on_newer(old, new, File(folder, "newer"), folder)
        newer_on_older(old, new, File(folder, "older"), folder)
        found = programs()
        knows = "built without" not in old_of_servers.run("postgres:///nowhere?host=/nonexistent", "log").stderr
        if found is None:
            print("no PostgreSQL is installed: servers are SKIPPED")
        elif not knows:
            print("the older program knows no servers: they are SKIPPED")
        else:
            server = Server(found, folder)
            try:
                older_on_newer(old_of_servers, new, Schema(server, "newer"), folder)
                newer_on_older(old_of_servers, new, Schema(server, "older"), folder)
            finally:
                server.stop()
    if faults:
        sys.exit(f"{len(faults)} faults")
    print("all good")


if __name__ == "__main__":
    main()
