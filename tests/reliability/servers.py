#!/usr/bin/env python3
"""PostgreSQL servers and clients that are killed while eight write, and replicas that take over: what was told is true.

    python3 tests/reliability/servers.py                                    a short run
    python3 tests/reliability/servers.py --kills 1000 --failovers 50        an hour

Eight writers commit to four branches by one program each. A server dies as its machine would (`immediate`), one of its
processes does, or a writer is killed. For a failover the server dies and a replica that it waits for
(`synchronous_standby_names`) is promoted; what was the server becomes the next replica. Whatever the writers were told
is held against what is there: a commit that was told as made is, one that was told as not made is not. Where nobody
could know, the program says that.

Needs a PostgreSQL server's programs and Python's standard library. --tract names the program. Exit status: 0 nothing
found, 1 something found, 77 where no server is installed.
"""

import argparse
import glob
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
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITERS, BRANCHES = 8, 4
UNKNOWN = "is not known"
SAID = re.compile(r"w\d+n\d+\.")


def programs():
    found = shutil.which("initdb")
    folders = [str(Path(found).resolve().parent)] if found else []
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return next((folder for folder in folders if Path(folder, "postgres").exists()), None)


class Server:
    """A server in a folder; it may follow another one."""

    def __init__(self, folder, bin_folder):
        self.folder, self.bin = folder, bin_folder
        folder.mkdir()
        folder.chmod(0o777)

    def run(self, program, *arguments, is_needed=True):
        command = [f"{self.bin}/{program}", *map(str, arguments)]
        if os.geteuid() == 0:  # it refuses root
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if is_needed and done.returncode != 0:
            log = (self.folder / "log").read_text(errors="replace")[-2_000:] if (self.folder / "log").exists() else ""
            raise RuntimeError(f"{command}: {done.returncode}\n{log}")
        return done.returncode == 0

    @property
    def data(self):
        return self.folder / "data"

    def make(self):
        self.run("initdb", "-D", self.data, "-U", "tract", "--auth=trust", "-E", "UTF8", "--no-locale")
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(f"max_connections = 100\nmax_wal_senders = 4\nwal_keep_size = 256MB\ncluster_name = '{self.folder.name}'\n")

    def follow(self, other):
        for time_left in reversed(range(50)):  # the other one may be recovering
            shutil.rmtree(self.data, ignore_errors=True)
            arguments = ("-h", other.folder, "-U", "tract", "-D", self.data, "-R", "-c", "fast")
            if self.run("pg_basebackup", *arguments, is_needed=time_left == 0):
                break
            time.sleep(0.2)
        with open(self.data / "postgresql.conf", "a") as conf:
            conf.write(f"cluster_name = '{self.folder.name}'\n")

    def start(self):
        for _ in range(20):
            options = f"-k {self.folder} -h ''"
            if self.run("pg_ctl", "-w", "-t", "60", "-D", self.data, "-l", self.folder / "log", "-o", options, "start", is_needed=False):
                return
            time.sleep(0.2)
        self.run("pg_ctl", "-w", "-D", self.data, "-l", self.folder / "log", "-o", f"-k {self.folder} -h ''", "start")

    def kill(self, is_needed=True):
        self.run("pg_ctl", "-w", "-D", self.data, "-m", "immediate", "stop", is_needed=is_needed)

    def promote(self):
        self.run("pg_ctl", "-w", "-D", self.data, "promote")

    def sql(self, text):
        done = subprocess.run([f"{self.bin}/psql", "-h", str(self.folder), "-U", "tract", "-d", "postgres", "-Atc", text],
                              capture_output=True, text=True, cwd="/")
        if done.returncode != 0:
            raise RuntimeError(f"{text}: {done.stderr}")
        return done.stdout.strip()

    def kill_a_process(self, chance):
        """One that serves somebody: the server then ends all of them and recovers."""
        try:
            pids = self.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
            os.kill(int(chance.choice(pids.split())), signal.SIGKILL)
        except (RuntimeError, IndexError, ProcessLookupError):
            return False
        return True


class Trial:
    def __init__(self, options, folder, bin_folder):
        self.options, self.folder = options, folder
        self.chance = random.Random(options.seed)
        self.servers = [Server(folder / name, bin_folder) for name in ("one", "two")]
        # Whoever serves is found here, as by an address that moves with it.
        self.place = folder / "here"
        self.told = {}  # what each text's commit was told as: made, not made, unknown
        self.branch_of = {}
        self.counts = Counter()
        self.findings = []
        self.lock = threading.Lock()
        self.is_over = threading.Event()
        self.running = [None] * WRITERS
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "TZ": "UTC", "LANG": "C.UTF-8", "USER": "tester"}

    @property
    def address(self):
        return f"postgres://tract@/postgres?host={self.place}&schema=talks&connect_timeout=10"

    def serve(self, server):
        made = self.folder / "next"
        made.symlink_to(server.folder)
        made.replace(self.place)

    def found(self, what):
        with self.lock:
            self.findings.append(what)
        print(f"FOUND: {what}", flush=True)

    def tract(self, *arguments, started=None):
        child = subprocess.Popen([self.options.tract, "--repo", self.address, *arguments], cwd=self.folder, env=self.env,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if started is not None:
            self.running[started] = child
        try:
            said, wrong = child.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            child.kill()
            said, wrong = child.communicate()
            self.found(f"{arguments}: no end after two minutes")
        return child.returncode, said, wrong

    def write(self, number):
        at = 0
        while not self.is_over.is_set():
            at += 1
            text, branch = f"w{number}n{at}.", f"b{number % BRANCHES}"
            self.branch_of[text] = branch
            code, _, wrong = self.tract("--on", branch, "commit", "-q", "-r", "user", "-m", text, started=number)
            if code == 0:
                told = "made"
            elif code < 0 or UNKNOWN in wrong:
                told = "killed" if code < 0 else "unknown"
            else:
                # Whatever else it is, nothing was written, said or not.
                told = "not made"
                reason = wrong.split("\n")[0].replace("error: ", "").replace(self.address, "")
                self.counts[f"said: {re.split('[:;␊] ?', reason.lstrip(': '))[-1]}"] += 1
                if not wrong.startswith("error: ") or "panicked" in wrong or code not in (1, 2, 4):
                    self.found(f"exit {code}: {wrong!r}")
                time.sleep(0.05)
            with self.lock:
                self.told[text] = told
                self.counts[told] += 1

    def check(self):
        """What was told against what is there."""
        # What is told while the branches are read may be there or not yet.
        with self.lock:
            told = dict(self.told)
        there = {}
        for branch in range(BRANCHES):
            for _ in range(100):  # it may be recovering
                code, said, wrong = self.tract("log", "-n", "0", "--oneline", f"b{branch}")
                if code == 0:
                    break
                time.sleep(0.2)
            else:
                self.found(f"log: {code} {wrong}")
                return
            there[f"b{branch}"] = Counter(SAID.findall(said))
        for text, how in told.items():
            times = there[self.branch_of[text]][text]
            if how == "made" and times != 1 or how == "not made" and times != 0 or times > 1:
                self.found(f"{text} was told as {how} and is there {times} times")
        self.counts["checks"] += 1

    def go(self):
        first, second = self.servers
        first.make()
        first.start()
        self.serve(first)
        code, _, wrong = self.tract("init", self.address)
        if code != 0:
            raise RuntimeError(wrong)
        self.tract("commit", "-q", "-r", "system", "-m", "begins")
        for branch in range(BRANCHES):
            self.tract("branch", f"b{branch}")
        writers = [threading.Thread(target=self.write, args=(number,)) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        try:
            for at in range(self.options.kills):
                self.disturb(first)
                if at % 50 == 49:
                    self.check()
                    print(f"{at + 1} kills: {dict(self.counts)}", flush=True)
            if self.options.failovers:
                second.follow(first)
                second.start()
            for at in range(self.options.failovers):
                self.fail_over()
                if at % 10 == 9:
                    self.check()
                    print(f"{at + 1} failovers: {dict(self.counts)}", flush=True)
        finally:
            self.is_over.set()
            for writer in writers:
                writer.join()
        self.check()
        code, said, wrong = self.tract("fsck")
        if code != 0:
            self.found(f"fsck: {code} {said} {wrong}")

    def disturb(self, server):
        time.sleep(self.chance.uniform(0.02, 0.6))
        kind = self.chance.choice(["server", "process", "writer", "writer", "writer"])
        if kind == "server":
            server.kill()
            time.sleep(self.chance.choice([0, 0, 0.5]))
            server.start()
        elif kind == "process":
            if not server.kill_a_process(self.chance):
                return
            time.sleep(0.5)
        else:
            child = self.running[self.chance.randrange(WRITERS)]
            if child is None:
                return
            child.kill()
        self.counts[f"kills of a {kind}"] += 1

    def fail_over(self):
        first, second = self.servers
        # From here on nothing is told as made that the replica has not.
        first.sql(f"ALTER SYSTEM SET synchronous_standby_names = '{second.folder.name}'")
        first.sql("SELECT pg_reload_conf()")
        for _ in range(200):
            if first.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1":
                break
            time.sleep(0.1)
        else:
            raise RuntimeError("the replica does not follow")
        # What was told before it waited for the replica has gone there as well, by now.
        time.sleep(self.chance.uniform(0.3, 1.0))
        first.kill()
        # It follows no more, and waits for nobody.
        with open(second.data / "postgresql.auto.conf", "a") as conf:
            conf.write("synchronous_standby_names = ''\n")
        second.promote()
        second.run("pg_ctl", "-D", second.data, "reload")
        self.serve(second)
        self.counts["failovers"] += 1
        self.servers = [second, first]
        time.sleep(self.chance.uniform(0.3, 1.0))
        first.follow(second)
        first.start()

    def end(self):
        for server in self.servers:
            if server.data.exists():
                server.kill(is_needed=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE.parent.parent / "target/debug/tract"))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--failovers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.tract = str(Path(options.tract).resolve())
    bin_folder = programs()
    if bin_folder is None:
        print("no PostgreSQL server is installed: not run", file=sys.stderr)
        return 77
    folder = Path(tempfile.mkdtemp(prefix="tract-servers-", dir="/tmp"))
    folder.chmod(0o777)
    trial = Trial(options, folder, bin_folder)
    began = time.monotonic()
    try:
        trial.go()
    finally:
        trial.end()
    print(f"{time.monotonic() - began:.0f} s; {dict(trial.counts)}; {len(trial.findings)} findings")
    if not trial.findings:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if trial.findings else 0


if __name__ == "__main__":
    sys.exit(main())
