"""A disk that fails: commands run with `faulty.c` before them, and what a loss of power leaves.

    disk = Disk(folder, tract)       compiles the shim; `disk.home` is the home of every command
    disk.run(work, arguments, at=3, kind="torn")
    disk.points(work, arguments)     how many points such a run has
    Power(disk, work)                a disk that remembers what is synced
"""

import os
import random
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
# 2026-03-14 12:00:00 UTC; each command of a script runs a minute after the last one.
CLOCK = 1_773_489_600_000
KINDS = ["eio", "full", "before", "torn", "after"]


class Disk:
    def __init__(self, folder, tract):
        self.folder = Path(folder)
        self.tract = str(tract)
        self.home = self.folder / "home"
        self.home.mkdir(exist_ok=True)
        self.shim = self.folder / "faulty.so"
        self.log = self.folder / "log"
        build = ["cc", "-shared", "-fPIC", "-O1", "-o", str(self.shim), str(HERE / "faulty.c"), "-ldl"]
        subprocess.run(build, check=True)

    def environment(self, minute):
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", ""),
            "TRACT_CLOCK": str(CLOCK + 60_000 * minute),
            "COLUMNS": "80",
            "TZ": "UTC",
            "NO_COLOR": "1",
        }

    def plain(self, work, arguments, minute=0, **more):
        """The program on a sound disk."""
        command = [self.tract, *arguments]
        return subprocess.run(
            command, cwd=work, env=self.environment(minute), capture_output=True, text=True,
            stdin=subprocess.DEVNULL, errors="replace", **more,
        )

    def run(self, work, arguments, minute=0, at=0, kind="", data=False):
        """The program on a disk that fails at the point `at`. Its points are in `self.log` afterwards."""
        self.log.unlink(missing_ok=True)
        environment = self.environment(minute)
        environment.update(LD_PRELOAD=str(self.shim), FAULTY_BELOW=str(work), FAULTY_LOG=str(self.log))
        if at:
            environment.update(FAULTY_AT=str(at), FAULTY_KIND=kind)
        if data:
            environment.update(FAULTY_DATA="1")
        return subprocess.run(
            [self.tract, *arguments], cwd=work, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, errors="replace", timeout=120,
        )

    def points(self):
        """What the last run did to the disk: kind, path, other path, offset, length, data."""
        if not self.log.exists():
            return []
        raw, at, found = self.log.read_bytes(), 0, []
        while at < len(raw):
            end = raw.index(b"\n", at)
            kind, path, other, offset, length = raw[at:end].split(b"\t")
            at, length = end + 1, int(length)
            data = b""
            if kind == b"w" and raw[at + length : at + length + 1] == b"\n":
                data, at = raw[at : at + length], at + length + 1
            found.append((kind.decode(), path.decode(), other.decode(), int(offset), length, data))
        return found


class Power:
    """What is on the disk if the power goes: what was synced, and of the rest any part.

    A write is there, or not, or up to one of its 512-byte sectors. Names (made, renamed, removed) reach the
    disk in their order, at the latest with the next sync of any file, as on a file system with a journal.
    The shared memory of SQLite is no file to rely on, and is never there.
    """

    def __init__(self, lies=False):
        self.lies = lies  # a disk that says "synced" and is not
        self.synced = {}  # path -> bytes
        self.now = {}
        self.owed = {}  # path -> writes that are not synced
        self.names = []  # changes of names that are not synced

    def apply(self, point):
        kind, path, other, offset, _, data = point
        if path.endswith("-shm"):
            return
        if kind == "w":
            self.owed.setdefault(path, []).append((offset, data))
            self.now[path] = put(self.now.get(path, b""), offset, data)
        elif kind == "t":
            self.owed.setdefault(path, []).append((offset, None))
            self.now[path] = cut(self.now.get(path, b""), offset)
        elif kind == "s" and not self.lies:
            for change in self.names:
                self.rename(self.synced, change)
            self.names = []
            if path in self.now:
                self.synced[path] = self.now[path]
                self.owed.pop(path, None)
        elif kind in "curl":
            change = (kind, path, other)
            self.names.append(change)
            self.rename(self.now, change)
            if kind == "r":
                self.owed[other] = self.owed.pop(path, [])
            elif kind == "u":
                self.owed.pop(path, None)

    @staticmethod
    def rename(files, change):
        kind, path, other = change
        if kind == "c":
            files.setdefault(path, b"")
        elif kind == "u":
            files.pop(path, None)
        elif path in files:
            files[other] = files[path]
            if kind == "r":
                files.pop(path)

    def left(self, chance):
        """The files after a loss of power here."""
        files = dict(self.synced)
        for change in self.names[: chance.randint(0, len(self.names))]:
            self.rename(files, change)
        keep = chance.choice([0.0, 0.5, 0.9, 1.0])
        for path, writes in self.owed.items():
            if path not in files:
                continue
            for offset, data in writes:
                if chance.random() > keep:
                    continue
                if data is None:
                    files[path] = cut(files[path], offset)
                    continue
                if chance.random() < 0.1:
                    data = data[: chance.randint(0, len(data) // 512) * 512]
                files[path] = put(files[path], offset, data)
        return files


def put(held, offset, data):
    held = held.ljust(offset, b"\0")
    return held[:offset] + data + held[offset + len(data) :]


def cut(held, size):
    return held[:size].ljust(size, b"\0")
