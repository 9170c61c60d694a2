"""Tells where a text stands in a repository: in which files as they are, and in which tables, unpacked.

    python tests/whereabouts.py DIRECTORY TEXT

It is a program of its own: whoever closes a file gives up the locks that its process holds on it.
"""

import contextlib
import pathlib
import sqlite3
import sys

import zstandard


def whereabouts(place, text):
    sought = text.encode()
    for path in place.rglob("*"):
        if path.is_file() and sought in path.read_bytes():
            yield path.name
    with contextlib.closing(sqlite3.connect(place / "tract.db")) as db:
        made = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        for (table,) in db.execute(made).fetchall():
            for value in (value for row in db.execute(f"SELECT * FROM {table}") for value in row):
                value = value.encode() if isinstance(value, str) else value
                if isinstance(value, bytes):
                    with contextlib.suppress(zstandard.ZstdError):
                        value += zstandard.ZstdDecompressor().decompressobj().decompress(value)
                    if sought in value:
                        yield table


if __name__ == "__main__":
    print(*whereabouts(pathlib.Path(sys.argv[1]), sys.argv[2]), sep="\n")
