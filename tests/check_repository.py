#!/usr/bin/env python3
"""Reads a repository by docs/object-format.md alone and says what is damaged.

    python3 tests/check_repository.py .tract/tract.db [--contexts] [--attest MANIFEST]
    python3 tests/check_repository.py --each

A second implementation, so that the page is held to what the program writes. It needs Python 3.9 and
libzstd and nothing else, and opens the file for reading only. Every fault is a line; --contexts prints,
for each ref, every visible entry: the entry, its content, and its hidden parts. --attest holds the commits of a
manifest against the repository (docs/attest.md). --each reads what stands on its lines of input. Exit status: 0 sound, 3 damaged, 77 where zstd is not at hand.
"""

import collections
import ctypes
import ctypes.util
import hashlib
import json
import re
import sqlite3
import struct
import sys
import zlib

ROLES = ["system", "developer", "user", "assistant", "tool"]
KINDS = ["truncation", "compaction", "clear", "drop", "prune"]
PRIORITIES = ["normal", "pinned", "skip"]
SEALED_NOT = {"seal", "canonical", "active"}


class Damaged(Exception):
    pass


# Bytes


def zstd():
    try:
        # Where it is called so, no program has to be asked for its name, which takes longer than all else.
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        name = ctypes.util.find_library("zstd")
        if name is None:
            print("zstd is not here: not checked", file=sys.stderr)
            sys.exit(77)
        library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_isError.argtypes = [ctypes.c_size_t]
    library.ZSTD_decompress.argtypes = [
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t
    ]
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    library.ZSTD_decompress_usingDict.restype = ctypes.c_size_t
    library.ZSTD_decompress_usingDict.argtypes = [ctypes.c_void_p] + 3 * [
        ctypes.c_void_p, ctypes.c_size_t
    ]
    return library


ZSTD = zstd()


def unpack(encoding, stored, size, dictionaries={}):
    """The `size` bytes that were packed."""
    if encoding == 1 or encoding in dictionaries:
        if not 0 <= size <= 1 << 30:
            raise Damaged("an impossible size")
        out = ctypes.create_string_buffer(size + 1)
        if encoding == 1:
            got = ZSTD.ZSTD_decompress(out, size, stored, len(stored))
        else:
            lean = dictionaries[encoding]
            frame = ctypes.create_string_buffer(stored, len(stored))
            context = ZSTD.ZSTD_createDCtx()
            got = ZSTD.ZSTD_decompress_usingDict(context, out, size, frame, len(stored), lean, len(lean))
            ZSTD.ZSTD_freeDCtx(ctypes.c_void_p(context))
        if ZSTD.ZSTD_isError(got) or got != size:
            raise Damaged("a compressed body")
        return out.raw[:size]
    if encoding != 0 or len(stored) != size:
        raise Damaged("a body of another length or encoding")
    return stored


def place_in(pack, place):
    """The body that stands in a place of a pack's text."""
    numbers = varints(place)
    if len(numbers) != 2 or sum(numbers) > len(pack):
        raise Damaged("a place that its pack does not have")
    return pack[numbers[0]:sum(numbers)]


def unpack_block(encoding, stored, size, bodies):
    """The `size` bytes of a block of a source, which may lean on bodies."""
    if encoding not in (2, 3):
        return unpack(encoding, stored, size)
    (count,), rest = varints_of(stored, 1)
    numbers, rest = varints_of(rest, 2 * count)
    said, next_ = [], 0
    for skipped, many in zip(numbers[::2], numbers[1::2]):
        first, next_ = next_ + skipped, next_ + skipped + many
        for content in range(first, next_):
            if content not in bodies:
                raise Damaged("it leans on a message that is damaged or missing")
            said.append(bodies[content])
    checksum, frame = struct.unpack("<I", rest[:4])[0], rest[4:]
    block = unpack(2, frame, size, {2: b"".join(said)})
    if zlib.crc32(block) != checksum:
        raise Damaged("what it leans on is something else")
    return block


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            values.append(value)
            value, shift = 0, 0
    if shift:
        raise Damaged("varints that end early")
    return values


# In a summary, in place of a number that is not known, and before the settings.
NOT_KNOWN = 2**64 - 1
# What stands before what works in the background.
BACKGROUND = 2**64 - 2


def varints_of(data, count):
    """So many varints, and what is behind them."""
    ends = [at + 1 for at, byte in enumerate(data) if not byte & 0x80][:count]
    if len(ends) < count:
        raise Damaged("varints that end early")
    end = ends[-1] if ends else 0
    return varints(data[:end]), data[end:]


def seal(values):
    crc = 0
    for value in values:
        if value is None:
            crc = zlib.crc32(b"\0" + bytes(8), crc)
        elif isinstance(value, int):
            crc = zlib.crc32(b"\1" + struct.pack("<q", value), crc)
        else:
            kind = b"\3" if isinstance(value, str) else b"\4"
            raw = value.encode() if isinstance(value, str) else bytes(value)
            crc = zlib.crc32(kind + struct.pack("<Q", len(raw)) + raw, crc)
    return crc


# Objects

ESCAPES = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
for code in range(32):
    ESCAPES.setdefault(code, "\\u%04x" % code)


def canonical(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return '"' + value.translate(ESCAPES) + '"'
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, dict):
        pairs = sorted(value.items())
        return "{" + ",".join(canonical(k) + ":" + canonical(v) for k, v in pairs) + "}"
    raise Damaged("a value that no object holds")


def name_of(what, text):
    return hashlib.sha256(b"tract " + what + b" 1\0" + text).hexdigest()


def read_object(raw):
    """The object of canonical bytes; anything that is not in canonical form is damaged."""

    def no_twins(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Damaged("a key twice")
        return found

    try:
        text = raw.decode() if isinstance(raw, bytes) else raw
        value = json.loads(text, object_pairs_hook=no_twins)
    except (ValueError, RecursionError) as error:
        raise Damaged("no JSON: %s" % error) from None
    if not isinstance(value, dict) or canonical(value) != text:
        raise Damaged("not in canonical form")
    check_absent(value)
    return value


def check_absent(value):
    if isinstance(value, dict):
        for inner in value.values():
            if inner is None or inner is False or inner == [] or inner == {}:
                raise Damaged("a field that counts as absent is there")
            check_absent(inner)
    elif isinstance(value, list):
        for inner in value:
            check_absent(inner)


def fields(value, needed, allowed):
    names = set(value)
    if not needed <= names or not names <= needed | allowed:
        raise Damaged("fields %s" % sorted(names))


PART_FIELDS = {
    "text": ({"text"}, set()),
    "thinking": ({"text"}, {"provider", "signature"}),
    "tool_call": ({"arguments", "id", "name"}, {"kind"}),
    "tool_result": ({"call"}, {"content", "is_error"}),
    "image": (set(), {"detail", "media_type", "name", "data", "file_id", "url"}),
    "file": (set(), {"detail", "media_type", "name", "data", "file_id", "url"}),
    "opaque": ({"data", "provider"}, set()),
}


def check_part(part):
    needed, allowed = PART_FIELDS.get(part.get("type"), ({"a type"}, set()))
    fields(part, needed | {"type"}, allowed)
    if part["type"] in ("image", "file") and len({"data", "file_id", "url"} & set(part)) != 1:
        raise Damaged("a picture or file from nowhere")
    for inner in part.get("content", []):
        check_part(inner)


def check_message(message):
    fields(message, {"role"}, {"again", "attached", "interrupted", "name", "parts", "recipient"})
    if message["role"] not in ROLES:
        raise Damaged("a role")
    for part in message.get("parts", []):
        check_part(part)


TOMBSTONES = {
    canonical({"parts": [{"text": "[purged]", "type": "text"}], "role": role}).encode()
    for role in ROLES
    if role != "tool"
}

OPERATION_FIELDS = {
    "append": ({"content"}, set()),
    "edit": ({"content", "target"}, set()),
    "hide": ({"kind"}, {"intervals", "keep", "parts", "replacements"}),
    "restore": ({"target"}, {"entries"}),
    "annotate": ({"priority"}, {"reason", "targets"}),
}


def check_commit(commit):
    fields(commit, {"operation"}, {"author", "merged", "note", "origin", "parent", "settings", "time"})
    if "author" in commit:
        fields(commit["author"], set(), {"client", "name", "run"})
        if not commit["author"]:
            raise Damaged("an author of whom nothing is known")
    operation = commit["operation"]
    needed, allowed = OPERATION_FIELDS.get(operation.get("type"), ({"a type"}, set()))
    fields(operation, needed | {"type"}, allowed)
    if operation["type"] == "hide" and operation["kind"] not in KINDS:
        raise Damaged("a kind of hide")
    for other in ("merged", "origin"):
        if other in commit and not re.fullmatch("[0-9a-f]{64}", commit[other]):
            raise Damaged("another commit")
    if operation["type"] == "annotate" and operation["priority"] not in PRIORITIES:
        raise Damaged("a priority")


def contents_of(operation):
    named = [operation["content"]] if "content" in operation else []
    named += [new["content"] for new in operation.get("replacements", [])]
    return named + [part["stub"] for part in operation.get("parts", []) if "stub" in part]


# Listings

WHITE = re.compile("[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
LINE_BYTES = 77


def one_line(text):
    line = " ".join(word for word in WHITE.split(text) if word).encode()
    if len(line) <= LINE_BYTES:
        return line.decode()
    cut = line[: LINE_BYTES - 1] if line[LINE_BYTES - 1 : LINE_BYTES] == b" " else line[:LINE_BYTES]
    return cut.decode(errors="ignore") + "…"


def pairs(text):
    """The keys of a JSON object with their values' texts, as they are written."""
    reader, space = json.JSONDecoder(), re.compile(r"[ \t\n\r]*")

    def skip(at):
        return space.match(text, at).end()

    def take(at, what):
        if text[at : at + 1] != what:
            raise ValueError(what)
        return skip(at + 1)

    found, at = [], take(skip(0), "{")
    while text[at : at + 1] != "}":
        if found:
            at = take(at, ",")
        key, at = reader.raw_decode(text, at)
        if not isinstance(key, str):
            raise ValueError("a key")
        begin = take(skip(at), ":")
        value, end = reader.raw_decode(text, begin)
        found.append((key, value, text[begin:end]))
        at = skip(end)
    if skip(at + 1) != len(text):
        raise ValueError("more")
    return found


def summary(call):
    try:
        found = pairs(call["arguments"])
    except (ValueError, RecursionError):
        raw = call["arguments"][:80]
        return call["name"] + " " + raw + ("…" if len(raw) < len(call["arguments"]) else "")
    shown = ("%s=%s" % (k, '"%s"' % v if isinstance(v, str) else raw) for k, v, raw in found)
    return call["name"] + (" " if found else "") + ", ".join(shown)


def lines_of(text):
    found = re.split("\r?\n", text)
    return found if found[-1] else found[:-1]


def failed(code, text):
    if not code:
        return text
    return "exit code %d: %s" % (code, text) if WHITE.sub("", text) else "exit code %d" % code


def behind_head(text):
    if not text.startswith(("Command: ", "Chunk ID: ", "Exit code: ", "Wall time: ")) or "\nOutput:\n" not in text:
        return None
    head, rest = text.split("\nOutput:\n", 1)
    lines = lines_of(head + "\n")
    times = [at for at, line in enumerate(lines) if line.startswith("Wall time: ")]
    if not times:
        return None
    for line in lines[times[0] + 1 :]:
        if line.startswith("Process running with session ID "):
            return rest if WHITE.sub("", rest) else line
    codes = (re.match(r"(?:Exit code: |Process exited with code )\s*([+-]?[0-9]+)\s*$", line) for line in lines)
    return failed(next((int(code[1]) for code in codes if code), 0), rest)


def in_json(text):
    if not text.startswith('{"output":'):
        return None
    try:
        found = json.loads(text)
        output, code = found["output"], found["metadata"]["exit_code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return failed(code, output) if isinstance(output, str) and type(code) is int else None


def numbered(line):
    found = re.match(r" *([0-9]+)(?:(?:→|\t|\| |: )(.*)|[|:]$)", line, re.S)
    return found and int(found[1]) < 2**32 and (int(found[1]), found[2] or "")


def unnumbered(text):
    if text.startswith("<path>") and "<content>" in text:
        text = text.split("<content>", 1)[1]
        text = text[1:] if text.startswith("\n") else text
    elif text.startswith("<file>\n"):
        text = text[len("<file>\n") :]
    found = []
    for at, line in enumerate(lines_of(text)):
        line = numbered(line)
        if not line or found and line[0] != first + at:
            if at < 2:
                return None
            break
        first = first if found else line[0]
        found.append(line[1] + "\n")
    return "".join(found) or None


def told(text):
    for way in (behind_head, in_json, unnumbered):
        found = way(text)
        if found is not None:
            return found
    return text


# What a provider's own tools did

MUTE = ("type", "id", "data", "media_type", "signature", "status", "image_url", "outcome")


def gathered(value):
    """The texts in a value, without what is for programs alone."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for one in value for text in gathered(one)]
    if not isinstance(value, dict):
        return []
    told = (one for key, one in value.items() if key not in MUTE and not key.endswith("_id") and not key.startswith("encrypted_"))
    return [text for one in told for text in gathered(one)]


def gave(value):
    """The lines of what a tool gave."""
    if isinstance(value, list):
        return [line for one in value for line in gave(one)]
    texts = [re.sub(r"\s+$", "", text) for text in gathered(value) if text.strip()]
    return [("\n" if any("\n" in text for text in texts) else "  ").join(texts)] if texts else []


def hosted(data):
    """What an opaque block says in a line, if it is a call that a provider ran itself, or what that gave."""
    try:
        block = json.loads(data)
    except ValueError:
        return None
    if not isinstance(block, dict):
        return None
    text = lambda key: block[key] if isinstance(block.get(key), str) else None
    written = lambda value: json.dumps(value if isinstance(value, dict) else {}, ensure_ascii=False, separators=(",", ":"))
    only = lambda keys: {key: one for key, one in block.items() if key in keys and one is not None} or None
    results = lambda keys: [line for key in keys if key in block for line in gave(block[key])]
    kind, call, lines = text("type"), None, []
    if kind is None:
        asked, result = block.get("executableCode"), block.get("codeExecutionResult")
        call = ("code_execution", written(asked)) if "executableCode" in block else None
        output = result.get("output") if isinstance(result, dict) else None
        lines = gave(output) + results(["stdout", "stderr"])
    elif kind in ("server_tool_use", "mcp_tool_use"):
        call = text("name") and (block["name"], written(block.get("input")))
    elif kind in ("mcp_call", "mcp_approval_request"):
        call = text("name") and (block["name"], text("arguments") or "")
        lines = results(["output", "error"]) if call else []
    elif kind == "mcp_list_tools":
        call = (kind, written(only(["server_label"])))
    elif kind.endswith("_tool_result"):
        lines = results(["content"])
    elif kind.endswith("_call"):
        given = next((block[key] for key in ("action", "operation", "arguments") if key in block), None)
        given = only(["code", "queries", "prompt"]) if given is None else given
        call = (text("name") or kind[: -len("_call")], given if isinstance(given, str) else written(given))
        lines = results(["results", "outputs", "output", "error"])
    if call:
        return summary({"name": call[0], "arguments": call[1]})
    return lines[0] if lines else None


def words(part, of_result, is_inside=False):
    kind = part["type"]
    if kind == "text":
        text = of_result(part["text"]) if is_inside else part["text"]
    elif kind == "tool_call":
        text = summary(part)
    elif kind == "tool_result":
        said = (words(inside, of_result, True) for inside in part.get("content", []))
        return next((one for one in said if one is not None), None)
    elif kind == "opaque" and is_inside:
        return hosted(part["data"])
    elif kind in ("image", "file"):
        text = "[%s]" % part.get("media_type", part.get("name", "file"))
    else:
        return None
    return text if WHITE.sub("", text) else None


def preview(message, of_result=told):
    parts = message.get("parts", [])
    text = next((said for said in (words(part, of_result) for part in parts) if said is not None), None)
    if text is None:
        other = (part for part in parts if part["type"] in ("thinking", "opaque"))
        first = next(other, None)
        if first is None:
            text = ""
        elif first["type"] == "opaque":
            text = hosted(first["data"]) or "(opaque)"
        else:
            text = "(thinking) " + first["text"]
    return one_line(("(interrupted) " if "interrupted" in message else "") + text)


def uses(message):
    parts = message.get("parts", [])
    calls = [part for part in parts if part["type"] == "tool_call"]
    return {
        "calls": [{"id": it["id"], "name": it["name"]} for it in calls],
        "answers": [part["call"] for part in parts if part["type"] == "tool_result"],
    }


def without_lines(used):
    """How tools are used, without what is said of each call in a line: that is for people."""
    for call in used["calls"]:
        if len(call.pop("line").encode()) > 80:
            raise Damaged("a line of a call is too long")
    return used


# The fold


class Entry:
    def __init__(self, name, content, placed):
        self.name = name
        self.contents = [content]
        self.undone = set()
        self.covers = set()
        self.parts = []
        self.priority = "normal"
        self.placed = placed

    def version(self):
        return max(at for at in range(len(self.contents)) if at not in self.undone)


class Order:
    def __init__(self):
        self.entries = []
        self.by_name = {}
        self.edits = {}
        self.active = {}
        self.settings = {}

    def entry(self, name):
        if name not in self.by_name:
            raise Damaged("%s is not on this path" % name[:10])
        return self.by_name[name]

    def edited(self, name):
        return self.edits[name][0] if name in self.edits else self.entry(name)

    def add(self, name, content, placed, before=None):
        entry = Entry(name, content, placed)
        at = len(self.entries) if before is None else self.entries.index(before)
        self.entries.insert(at, entry)
        self.by_name[name] = entry

    def apply(self, name, commit):
        operation = commit["operation"]
        getattr(self, operation["type"])(name, operation)
        for key in commit.get("settings", {}):
            self.settings[key] = name

    def append(self, name, operation):
        self.add(name, operation["content"], None)

    def edit(self, name, operation):
        entry = self.edited(operation["target"])
        entry.contents.append(operation["content"])
        self.edits[name] = (entry, len(entry.contents) - 1)

    def hide(self, name, operation):
        kept = [self.entry(keep) for keep in operation.get("keep", [])]
        for interval in operation.get("intervals", []):
            first = self.entries.index(self.entry(interval["first"]))
            last = self.entries.index(self.entry(interval["last"]))
            if first > last:
                raise Damaged("an interval that ends before it begins")
            for entry in self.entries[first : last + 1]:
                if entry not in kept:
                    entry.covers.add(name)
        for part in operation.get("parts", []):
            entry = self.entry(part["entry"])
            entry.parts.append((name, entry.version(), part["part"], part.get("stub")))
        new = operation.get("replacements", [])
        before = [self.entry(it["before"]) if "before" in it else None for it in new]
        for at, (it, place) in enumerate(zip(new, before)):
            own = name if len(new) == 1 else "%s#%d" % (name, at)
            self.add(own, it["content"], name, place)
        self.active[name] = operation["kind"]

    def restore(self, _, operation):
        target, named = operation["target"], operation.get("entries", [])
        if target in self.edits:
            entry, version = self.edits[target]
            if version in entry.undone or any(self.edited(it) is not entry for it in named):
                raise Damaged("an edit that cannot be undone")
            entry.undone.add(version)
            return
        if target not in self.active:
            raise Damaged("a restore of no active hide")
        entries = [self.edited(it) for it in named] or self.entries
        if not named:
            del self.active[target]
        for entry in entries:
            holds = target in entry.covers or any(part[0] == target for part in entry.parts)
            if named and not holds:
                raise Damaged("a restore of what is not hidden")
            entry.covers.discard(target)
            entry.parts = [part for part in entry.parts if part[0] != target]

    def annotate(self, _, operation):
        for target in operation.get("targets", []):
            self.edited(target).priority = operation["priority"]

    def visible(self):
        for entry in self.entries:
            there = entry.placed is None or entry.placed in self.active
            if there and not entry.covers and entry.priority != "skip":
                yield entry


def masked(entry):
    version = entry.version()
    return {part: stub for _, of, part, stub in entry.parts if of == version}


def mask_key(parts):
    if not parts:
        return b""
    told = ("%d:%s;" % (part, stub) if stub else "%d;" % part for part, stub in sorted(parts.items()))
    return hashlib.sha256("".join(told).encode()).digest()


# The file

# A directory or a person of many has positions of its own, and where refs of other repositories were seen is a ref.
POSITION = re.compile(r"((at|by)/([^\x00-\x1f\x7f]+/)?)?(HEAD|ORIG_HEAD|PREV_HEAD)\Z")
BELOW = re.compile(r"refs/(heads|tags|sessions/[^/]+|remotes/[^/]+)/[^ ~^:?*\[\\#\x00-\x1f\x7f]+\Z")


class Checker:
    def __init__(self, path):
        self.db = sqlite3.connect("file:%s?mode=ro" % path.replace("?", "%3f"), uri=True)
        self.faults = []
        self.messages = {}
        self.commits = {}
        self.rows = {"contents": {}, "commits": {}}

    def fault(self, what):
        self.faults.append(what)

    def all(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def check(self):
        if self.all("PRAGMA application_id")[0][0] != 0x54524354:
            raise Damaged("not a tract database")
        self.format = self.all("PRAGMA user_version")[0][0]
        if not 32 <= self.format <= 39:
            raise Damaged("another format")
        for (line,) in self.all("PRAGMA integrity_check"):
            if line != "ok":
                self.fault("file: " + line)
        # Not of all at once: an older SQLite doesn't know the search index's kind of table.
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
        self.tables = [name for (name,) in self.all(tables + " ORDER BY name")]
        for table in self.tables:
            for _ in self.all('PRAGMA foreign_key_check("%s")' % table):
                self.fault("file: a row of %s names a row that is not there" % table)
        self.seals()
        self.contents()
        self.histories()
        self.sources()
        self.names()
        self.totals()
        self.checkpoints()

    def seals(self):
        for table in self.tables:
            columns = [row[1] for row in self.all("SELECT * FROM pragma_table_info(?)", table)]
            if "seal" not in columns:
                continue
            sealed = [column for column in columns if column not in SEALED_NOT]
            for row in self.all("SELECT seal, %s FROM %s" % (", ".join(sealed), table)):
                if row[0] != seal(row[1:]):
                    self.fault("%s %s: its seal" % (table, row[1]))

    def contents(self):
        dictionaries = dict(self.all("SELECT id, data FROM dictionaries WHERE id > 1"))
        packs, self.bodies = {}, {}
        if "packs" in self.tables:
            for pack, first, last, size, data in self.all("SELECT id, first, last, size_bytes, data FROM packs"):
                try:
                    packs[pack] = first, last, unpack(1, data, size)
                except Damaged:
                    self.fault("pack %d" % pack)
        rows = self.all(
            "SELECT id, hash, role, size_bytes, calls, results, preview, uses, encoding, body FROM contents"
            " LEFT JOIN bodies ON bodies.content = id LEFT JOIN tool_uses ON tool_uses.content = id"
        )
        for row, name, role, size, calls, results, line, used, encoding, body in rows:
            name = name.hex()
            self.rows["contents"][row] = name
            try:
                if body is None:
                    raise Damaged("its body is missing")
                if encoding < 0:
                    first, last, text = packs.get(-encoding, (0, -1, b""))
                    if not first <= row <= last:
                        raise Damaged("its pack is damaged or missing, or not that of its number")
                    body = place_in(text, body)
                    if len(body) != size:
                        raise Damaged("a body of another length")
                else:
                    body = unpack(encoding, body, size, dictionaries)
                self.bodies[row] = body
                message = read_object(body)
                if name_of(b"content", body) != name and body not in TOMBSTONES:
                    raise Damaged("its body has another name")
                check_message(message)
                kinds = [part["type"] for part in message.get("parts", [])]
                shown = (ROLES[role % 8], role >= 8, calls, results)
                if shown != (message["role"], "attached" in message, kinds.count("tool_call"), kinds.count("tool_result")):
                    raise Damaged("its row says something else")
                # Before results were told without their heads, they were there with them.
                if line not in (preview(message), preview(message, of_result=lambda text: text)):
                    raise Damaged("its preview is %r and not %r" % (line, preview(message)))
                if used is not None and without_lines(json.loads(used)) != uses(message):
                    raise Damaged("how it uses tools is another message's")
                self.messages[name] = message
            except (Damaged, IndexError) as error:
                self.fault("message %s: %s" % (name[:10], error))

    def histories(self):
        lineages = {row[0]: row[1:] for row in self.all("SELECT id, parent, fork_depth FROM lineages")}
        rows = self.all("SELECT id, hash, lineage, depth, parent, content, canonical FROM commits")
        changed = collections.Counter(row[2] for row in rows if row[5] is None)
        for lineage, changes in self.all("SELECT id, changes FROM lineages"):
            if changes != changed[lineage]:
                self.fault("lineage %d: %d commits that append nothing are not what it has" % (lineage, changes))
        places = {row[0]: row for row in rows}
        known = set(self.rows["contents"].values())
        names = {row[1].hex() for row in rows}
        for row, name, lineage, depth, parent, content, text in rows:
            name = name.hex()
            self.rows["commits"][row] = name
            try:
                commit = read_object(text)
                if name_of(b"commit", text.encode()) != name:
                    raise Damaged("its text has another name")
                check_commit(commit)
                if self.format % 2 == 0 and {"merged", "origin"} & set(commit):
                    raise Damaged("a field that this format has not")
                if commit.get("merged", commit.get("parent")) not in names | {None}:
                    raise Damaged("what it merged is not here")
                above = places.get(parent)
                if commit.get("parent") != (above and above[1].hex()):
                    raise Damaged("its parent is another one")
                if depth != (0 if above is None else above[3] + 1):
                    raise Damaged("its depth")
                if above is None and lineages.get(lineage) != (None, None):
                    raise Damaged("a root's lineage")
                if above is not None and lineage != above[2]:
                    if lineages.get(lineage) != (above[2], above[3]):
                        raise Damaged("its lineage")
                operation = commit["operation"]
                appends = operation["content"] if operation["type"] == "append" else None
                if self.rows["contents"].get(content) != appends:
                    raise Damaged("its row appends something else")
                if any(named not in known for named in contents_of(operation)):
                    raise Damaged("it names a message that is not here")
                self.commits[name] = commit
            except Damaged as error:
                self.fault("commit %s: %s" % (name[:10], error))

    def order(self, tip):
        path = []
        while tip is not None:
            if tip not in self.commits:
                raise Damaged("commit %s is damaged or missing" % tip[:10])
            path.append(tip)
            tip = self.commits[tip].get("parent")
        order = Order()
        for name in reversed(path):
            order.apply(name, self.commits[name])
        return order

    def sources(self):
        for source, size, fingerprint in self.all("SELECT id, size_bytes, fingerprint FROM sources"):
            digest, at = hashlib.sha256(), 0
            try:
                blocks = "SELECT start, size_bytes, encoding, data FROM source_blocks"
                for start, length, encoding, data in self.all(
                    blocks + " WHERE source = ? ORDER BY start", source
                ):
                    if start != at:
                        raise Damaged("a gap")
                    digest.update(unpack_block(encoding, data, length, self.bodies))
                    at += length
                if at != size or digest.digest() != fingerprint:
                    raise Damaged("its bytes are not what was imported")
                for (spans,) in self.all("SELECT spans FROM commit_records WHERE source = ?", source):
                    numbers = varints(spans)
                    ends = map(sum, zip(numbers[::2], numbers[1::2]))
                    if len(numbers) % 2 or any(end > size for end in ends):
                        raise Damaged("a record that is not in it")
            except Damaged as error:
                self.fault("source %d: %s" % (source, error))

    def names(self):
        """Refs, and the moves that lead to them."""
        self.refs, moves = {}, {}
        for name, target, symbolic in self.all("SELECT name, target, symbolic FROM refs ORDER BY name"):
            self.refs[name] = (target, symbolic)
        for name, (target, symbolic) in self.refs.items():
            position = POSITION.match(name)
            if not position and not BELOW.match(name):
                self.fault("%s: no ref's name" % name)
            may_stand = position and position.group(4) != "ORIG_HEAD"
            if symbolic is not None and not (may_stand and symbolic.startswith("refs/heads/")):
                self.fault("%s: it stands for another ref" % name)
        numbers = [row[0] for row in self.all("SELECT id FROM operations ORDER BY id")]
        given = self.all("SELECT seq FROM sqlite_sequence WHERE name = 'operations'")
        first = self.all("SELECT operation FROM collections WHERE operation IS NOT NULL")
        first = first[0][0] if first else 1
        if numbers != list(range(first, (given[0][0] if given else 0) + 1)):
            self.fault("operations: a number is missing")
        early = self.all("SELECT min(operation) FROM reflog")[0][0]
        if early is not None and early < first:
            self.fault("operations: a move of one that is forgotten")
        log = "SELECT name, old_target, old_symbolic, new_target, new_symbolic FROM reflog ORDER BY id"
        for name, *values in self.all(log):
            moves.setdefault(name, []).append((tuple(values[:2]), tuple(values[2:])))
        # A damaged name may be none at all.
        for name in sorted(set(moves) | set(self.refs), key=str):
            at = (None, None)
            for old, new in moves.get(name, []):
                if old != at:
                    self.fault("%s: its log has a gap" % name)
                at = new
            if at != self.refs.get(name, (None, None)):
                self.fault("%s: its log leads elsewhere" % name)

    def totals(self):
        """What contexts come to, where all counts of theirs are known."""
        counts = {}
        for content, encoding, mask, tokens, estimated in self.all(
            "SELECT content, encoding, mask, tokens, estimated FROM counts"
        ):
            counts[self.rows["contents"].get(content), encoding, mask] = (tokens, estimated)
        places = {(row[1], row[2]): row[0].hex() for row in self.all("SELECT hash, lineage, depth FROM commits")}
        for lineage, depth, encoding, *kept in self.all(
            "SELECT lineage, depth, encoding, messages, tokens, estimates FROM totals"
        ):
            try:
                entries = list(self.order(places.get((lineage, depth), "")).visible())
            except Damaged:
                continue
            found = [
                counts.get((entry.contents[entry.version()], encoding, mask_key(masked(entry))))
                for entry in entries
            ]
            if None in found:
                continue
            if kept != [len(found), sum(it[0] for it in found), sum(it[1] for it in found)]:
                self.fault("total at %d of lineage %d: another context's" % (depth, lineage))
        self.summaries(counts, places)

    def more(self, data, order):
        """What a summary says behind the largest message: what was measured, what stands out, and the settings."""
        if not data:
            return True
        _, data = varints_of(data, 2)
        if data:
            _, data = varints_of(data, 1)
        while data:
            (step,), data = varints_of(data, 1)
            if step == BACKGROUND:
                data = self.background(data)
            elif step == NOT_KNOWN:
                break
        else:
            return True
        settings = {}
        while data:
            (length,), data = varints_of(data, 1)
            settings[data[:length].decode()] = data[length : length + 32].hex()
            data = data[length + 32 :]
        return settings == order.settings

    def background(self, data):
        """Reads what works in the background; what is behind it."""
        (covered, count), data = varints_of(data, 2)
        for _ in range(count):
            (called, at, length), data = varints_of(data, 3)
            if not called <= at < covered or len(data) < length:
                raise Damaged("work in the background that is nowhere")
            data[:length].decode()
            data = data[length:]
        (count,), data = varints_of(data, 1)
        calls, data = varints_of(data, count)
        if calls != sorted(set(calls)) or any(at >= covered for at in calls):
            raise Damaged("calls that are nowhere")
        return data

    def summaries(self, counts, places):
        """Contexts summed up: totals, hides, roles and the largest message."""
        for lineage, depth, encoding, data in self.all("SELECT lineage, depth, encoding, data FROM summaries"):
            try:
                order = self.order(places.get((lineage, depth), ""))
            except Damaged:
                continue
            entries = list(order.visible())
            contents = [entry.contents[entry.version()] for entry in entries]
            found = [counts.get((it, encoding, mask_key(masked(entry)))) for it, entry in zip(contents, entries)]
            if None in found or any(it not in self.messages for it in contents):
                continue
            hides = list(order.active.values())
            drops = {entry.placed for entry in entries if entry.placed and order.active[entry.placed] == "drop"}
            wanted = [len(found), sum(it[0] for it in found), sum(it[1] for it in found)]
            wanted += [len(order.entries) - len(entries)] + [hides.count(kind) for kind in KINDS] + [len(drops)]
            roles = [self.messages[it]["role"] for it in contents]
            wanted += [sum(it[0] for it, who in zip(found, roles) if who == role) for role in ROLES]
            try:
                kept, rest = varints_of(data, len(wanted) + 1)
                # Of what the user is said to have said, what a client put in: that takes a client's forms to know.
                sound = kept[:-1] == wanted and kept[-1] <= wanted[-len(ROLES) + ROLES.index("user")]
                if sound and entries:
                    most = max(it[0] for it in found)
                    at = [it[0] for it in found].index(most)
                    commit, _, index = entries[at].name.partition("#")
                    kept, rest = varints_of(rest, 4)
                    sound = kept == [at + 1, most, found[at][1], int(index) + 1 if index else 0]
                    tail = bytes.fromhex(commit) + bytes.fromhex(contents[at])
                    sound = sound and rest.startswith(tail) and self.more(rest[len(tail) :], order)
                else:
                    sound = sound and not rest
            except Damaged:
                sound = False
            if not sound:
                self.fault("summary at %d of lineage %d: another context's" % (depth, lineage))

    def checkpoints(self):
        appends = "SELECT hash, content FROM commits WHERE lineage = ? AND depth BETWEEN ? AND ?"
        appends += " AND content IS NOT NULL ORDER BY depth"
        for row, data in self.all("SELECT commit_id, data FROM checkpoints"):
            name = self.rows["commits"].get(row, "")
            try:
                order = self.order(name)
                if self.checkpoint(data, appends) != shape(order):
                    self.fault("checkpoint at %s: another context" % name[:10])
            except Damaged as error:
                self.fault("checkpoint at %s: %s" % (name[:10], error))

    def checkpoint(self, data, appends):
        at = 0

        def number():
            nonlocal at
            value, shift = 0, 0
            while True:
                if at >= len(data):
                    raise Damaged("it ends early")
                byte = data[at]
                at += 1
                value |= (byte & 0x7F) << shift
                shift += 7
                if not byte & 0x80:
                    return value

        if number() != 1:
            raise Damaged("its version")
        total = number()
        hides = {kind: count for kind, count in ((kind, number()) for kind in KINDS) if count}
        settings = {}
        for _ in range(number()):
            length = number()
            key = data[at : at + length].decode()
            at += length
            settings[key] = self.rows["commits"].get(number())
        entries = []
        while True:
            what = number()
            if what == 0:
                return (total, hides, settings, entries)
            if what == 1:
                lineage, first, last = number(), number(), number()
                for commit, content in self.all(appends, lineage, first, last):
                    entries.append(
                        (commit.hex(), self.rows["contents"].get(content), {}, "normal", None, False)
                    )
                continue
            commit, index = self.rows["commits"].get(number()), number()
            content, priority, placed, edited = number(), number(), number(), number()
            parts = {}
            for _ in range(number()):
                part, stub = number(), number()
                parts[part] = self.rows["contents"].get(stub) if stub else None
            entries.append(
                (
                    "%s#%d" % (commit, index - 1) if index else commit,
                    self.rows["contents"].get(content),
                    parts,
                    PRIORITIES[priority],
                    KINDS[placed - 1] if placed else None,
                    bool(edited),
                )
            )

    def contexts(self):
        """For each ref, what is visible there."""
        for name, (target, _) in self.refs.items():
            if target is None:
                continue
            try:
                for entry in self.order(self.rows["commits"].get(target, "")).visible():
                    content = entry.contents[entry.version()]
                    if content not in self.messages:
                        raise Damaged("message %s is damaged" % content[:10])
                    hidden = sorted(masked(entry).items())
                    parts = ";".join("%d:%s" % (part, stub or "") for part, stub in hidden)
                    yield "\t".join((name, entry.name, content, parts))
            except Damaged as error:
                self.fault("%s does not compile: %s" % (name, error))

    def attested(self, manifest):
        """Holds what a manifest says of commits against those that are here."""
        tip, path = manifest["tip"], []
        while tip is not None:
            if tip not in self.commits:
                return self.fault("attested: commit %s is not here" % tip[:10])
            path.append(bytes.fromhex(tip))
            tip = self.commits[tip].get("parent")
        root = hashlib.sha256(b"tract attest 1\0" + b"".join(reversed(path))).hexdigest()
        for name, here in (("commits", len(path)), ("root", root)):
            if manifest[name] != here:
                self.fault("attested: %s is %s, here %s" % (name, manifest[name], here))


def shape(order):
    """A context as a checkpoint tells it."""
    hides = {}
    for kind in order.active.values():
        hides[kind] = hides.get(kind, 0) + 1
    entries = []
    for entry in order.visible():
        version = entry.version()
        placed = order.active[entry.placed] if entry.placed else None
        entries.append(
            (entry.name, entry.contents[version], masked(entry), entry.priority, placed, version > 0)
        )
    return (len(order.entries), hides, order.settings, entries)


def read(path, manifest=None):
    """The contexts of a repository, and its faults."""
    try:
        checker = Checker(path)
        checker.check()
        lines = list(checker.contexts())
        if manifest is not None:
            checker.attested(manifest)
        checker.db.close()
        return lines, checker.faults
    except (Damaged, sqlite3.DatabaseError, ValueError) as error:
        return [], ["file: %s" % error]


def each():
    """Answers each line of what is asked, `faults PATH` or `contexts PATH`, by contexts and faults as a line of JSON."""
    for line in sys.stdin:
        what, path = line.rstrip("\n").split(" ", 1)
        lines, faults = read(path)
        answer = lines if what == "contexts" else [], faults
        print(json.dumps(["".join(text + "\n" for text in texts) for texts in answer]), flush=True)
    return 0


def main(arguments):
    arguments, manifest = list(arguments), None
    if "--attest" in arguments[:-1]:
        at = arguments.index("--attest")
        with open(arguments[at + 1], encoding="utf-8") as file:
            manifest = json.load(file)
        del arguments[at : at + 2]
    paths = [argument for argument in arguments if not argument.startswith("-")]
    if arguments == ["--each"]:
        return each()
    if len(paths) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    lines, faults = read(paths[0], manifest)
    if "--contexts" in arguments:
        sys.stdout.writelines(line + "\n" for line in lines)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
