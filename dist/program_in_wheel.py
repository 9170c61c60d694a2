#!/usr/bin/env python3
"""Puts the program into a wheel, so that pip, pipx and uv install it as a command.

    python3 dist/program_in_wheel.py WHEEL PROGRAM OUT

The program goes where the format has scripts (NAME-VERSION.data/scripts), as it is: no Python runs when it is started. OUT is the
directory of the new wheel, which has the name of the old one.
"""

import base64
import csv
import hashlib
import io
import pathlib
import sys
import zipfile


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(wheel, program, out):
    wheel, program, out = map(pathlib.Path, (wheel, program, out))
    name, version = wheel.name.split("-")[:2]
    data = program.read_bytes()
    command = "tract.exe" if program.suffix == ".exe" else "tract"
    place = f"{name}-{version}.data/scripts/{command}"
    out.mkdir(parents=True, exist_ok=True)
    made = out / wheel.name
    draft = made.with_suffix(".draft")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as new:
        record = f"{name}-{version}.dist-info/RECORD"
        for entry in old.infolist():
            if entry.filename not in (record, place):
                new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED)
        entry = zipfile.ZipInfo(place, date_time=(1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100755 << 16
        new.writestr(entry, data, zipfile.ZIP_DEFLATED)
        rows = [row for row in csv.reader(io.StringIO(old.read(record).decode())) if row[0] != place]
        rows.insert(len(rows) - 1, [place, digest(data), str(len(data))])
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(rows)
        new.writestr(zipfile.ZipInfo(record, date_time=(1980, 1, 1, 0, 0, 0)), text.getvalue())
    draft.replace(made)
    print(made)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1].strip())
    main(*sys.argv[1:])
