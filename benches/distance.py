#!/usr/bin/env python3
"""What tract's commands take on a server that is far away, by way of pgbouncer, beside bare rows on the same way.

    python3 benches/distance.py                          0, 1, 10 and 50 ms there and back
    python3 benches/distance.py --write docs/scale.md    puts the table where the page has its place

Needs a build with the engine (`cargo build --release --locked --features postgres`), PostgreSQL's programs with pgbench, and
pgbouncer. The server is one of its own, as `initdb` makes it; the pooler stands beside it and gives each transaction a server's
process; the network between them and whoever asks is a proxy that holds back each byte for half of the time, in either direction.
"""

import argparse
import asyncio
import atexit
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from compare import Side, claude_code, stays
from servers import HERE, PLAIN, Server, ms, note, programs, put, table

COMMANDS = [
    ("commit", ["commit", "-q", "-r", "user", "-m", "one more message of some forty bytes"]),
    ("log -n 20", ["log", "-n", "20"]),
    ("show", ["show"]),
    ("status", ["status"]),
    ("find, words", ["find", "borrow checker"]),
    ("branch", ["branch"]),
]


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Pooler:
    """pgbouncer beside a server, as most have it."""

    def __init__(self, server, folder):
        self.port = free_port()
        home = Path(tempfile.mkdtemp(prefix="pooler-", dir=folder))
        settings = home / "pgbouncer.ini"
        settings.write_text(
            f"[databases]\n* = host={server.folder} port=5432 user=tract\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
            f"unix_socket_dir =\nauth_type = any\npool_mode = transaction\nmax_client_conn = 500\ndefault_pool_size = 20\nlogfile = {home}/log\n")
        if os.getuid() == 0:
            shutil.chown(home, "postgres", "postgres")
        self.child = subprocess.Popen([*server.runs_as, shutil.which("pgbouncer") or "/usr/sbin/pgbouncer", "-q", settings], cwd="/", env=PLAIN,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        atexit.register(self.child.terminate)
        until = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if time.monotonic() > until:
                    sys.exit("pgbouncer does not start")
                time.sleep(0.05)


class Network:
    """A way to a port that takes so many milliseconds there and back."""

    def __init__(self, port, there_and_back_ms):
        self.to, self.delay = port, there_and_back_ms / 2000
        self.port = free_port()
        ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True).start()
        ready.wait()

    async def serve(self, ready):
        server = await asyncio.start_server(self.join, "127.0.0.1", self.port)
        ready.set()
        async with server:
            await server.serve_forever()

    async def join(self, here, out):
        # To connect is a way there and back, too.
        await asyncio.sleep(2 * self.delay)
        there, on = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self.carry(here, on), self.carry(there, out))

    async def carry(self, source, target):
        """What comes in goes out after a while, while more comes in."""
        waiting = asyncio.Queue()

        async def deliver():
            while True:
                due, data = await waiting.get()
                await asyncio.sleep(max(0, due - time.monotonic()))
                if not data:
                    break
                target.write(data)
                await target.drain()
            target.close()

        delivery = asyncio.create_task(deliver())
        try:
            while data := await source.read(1 << 16):
                waiting.put_nowait((time.monotonic() + self.delay, data))
        except ConnectionError:
            pass
        waiting.put_nowait((time.monotonic() + self.delay, b""))
        try:
            await delivery
        except ConnectionError:
            pass


def spent(command, folder, runs):
    """The median of some runs, in seconds, after one more."""
    side = Side(folder, command)
    for _ in range(runs + 1):
        side.run()
    side.seconds.pop(0)
    return side.median()


def committing(command, folder, commits):
    """Seconds a commit of a process that stays, after one more."""
    text = lambda at: f"{at}: one more message of some forty bytes"
    messages = [{"role": "user", "content": text(at)} for at in range(commits + 1)]
    return statistics.median(stays(command, folder, messages)[1:])


def bare(server, port, folder, rows, connects):
    """Seconds a bare row, one transaction each."""
    script = folder / "bare.sql"
    script.write_text("INSERT INTO bare (body) VALUES ('\\x" + random.Random(1).randbytes(880).hex() + "');\n")
    began = time.monotonic()
    done = subprocess.run([server.programs / "pgbench", "-h", "127.0.0.1", "-p", str(port), "-U", "tract", "-n", "-c", "1", "-t", str(rows), "-f", script,
                           *(["-C"] if connects else []), "postgres"], env=PLAIN, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"pgbench: {done.stderr}")
    return (time.monotonic() - began) / rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--work", default=tempfile.gettempdir())
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--distances", default="0,1,10,50", help="milliseconds there and back (0,1,10,50)")
    parser.add_argument("--write", action="append", default=[], metavar="PAGE")
    asked = parser.parse_args()
    tract, found = str(Path(asked.tract).resolve()), programs()
    if not found or not (shutil.which("pgbouncer") or Path("/usr/sbin/pgbouncer").exists()):
        sys.exit("no PostgreSQL server, or no pgbouncer, is installed")
    folder = Path(tempfile.mkdtemp(prefix="tract-distance-", dir=asked.work))
    folder.chmod(0o755)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = Server(found, folder)
    pooler = Pooler(server, folder)
    talk = folder / "session.jsonl"
    claude_code(talk, 2)
    server.sql("CREATE TABLE bare (id bigserial PRIMARY KEY, body bytea NOT NULL)")
    distances = [int(text) for text in asked.distances.split(",")]
    ways = {distance: Network(pooler.port, distance).port for distance in distances}
    at = lambda port: [tract, "--repo", f"postgres://tract@127.0.0.1:{port}/postgres?schema=work&sslmode=disable"]
    for command in (["init"], ["import", "-q", str(talk)], ["find", "borrow"]):
        subprocess.run([*at(pooler.port), *command], cwd=folder, env=PLAIN, check=True, stdout=subprocess.DEVNULL)
    rows = []
    for name, command in COMMANDS:
        rows.append((name, *(ms(spent([*at(ways[far]), *command], folder, asked.runs)) for far in distances)))
        note(" | ".join(rows[-1]))
    rows.append(("a bare row, with a connection", *(ms(bare(server, ways[far], folder, 10 * asked.runs, True)) for far in distances)))
    rows.append(("commit, by a process that stays", *(ms(committing(at(ways[far]), folder, 10 * asked.runs)) for far in distances)))
    rows.append(("a bare row, by a connection that stays", *(ms(bare(server, ways[far], folder, 10 * asked.runs, False)) for far in distances)))
    text = table(("median, ms", *(f"{far} ms" for far in distances)), rows)
    print(text)
    for page in asked.write:
        put(page, "distance", text)


if __name__ == "__main__":
    main()
