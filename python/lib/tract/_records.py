"""The log of a thread: records of which each says only what is new.

A value is kept whole, or as a change of an older one: a list that grows by a message takes that message. Bytes that a record
before has said already are told by their place there. Nothing here knows a framework.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set, Tuple, Union


# Bytes that are themselves in a JSON string, and how many more the others take there, as Latin-1 in UTF-8.
_PLAIN_BYTES = bytes(byte for byte in range(0x20, 0x80) if byte not in b'"\\')
_MORE_BYTES = [len(json.dumps(chr(byte), ensure_ascii=False).encode()) - 3 for byte in range(256)]


def packed(data: bytes) -> str:
    """Bytes in a JSON string: as Latin-1, which is short and can be compressed, where most of them are text."""
    if sum(map(_MORE_BYTES.__getitem__, data.translate(None, _PLAIN_BYTES))) * 3 <= len(data):
        return "l" + data.decode("latin-1")
    return "b" + base64.b64encode(data).decode("ascii")


def unpacked(text: str) -> bytes:
    return text[1:].encode("latin-1") if text[0] == "l" else base64.b64decode(text[1:])


def head_of(data: bytes) -> Tuple[int, int]:
    """How long the head of a list or a map in msgpack is, and how many members it announces."""
    first = data[0] if data else 0
    if 0x80 <= first <= 0x9F:
        return 1, first & 0x0F
    if first in (0xDC, 0xDE):
        return 3, int.from_bytes(data[1:3], "big")
    if first in (0xDD, 0xDF):
        return 5, int.from_bytes(data[1:5], "big")
    return 0, 0


def head_for(count: int) -> bytes:
    """The head of a list in msgpack."""
    if count < 16:
        return bytes((0x90 | count,))
    return b"\xdc" + count.to_bytes(2, "big") if count < 1 << 16 else b"\xdd" + count.to_bytes(4, "big")


def same_bytes(one: bytes, other: bytes) -> int:
    """How many bytes two begin with in common."""
    low, high = 0, min(len(one), len(other))
    if one.startswith(other if len(other) == high else other[:high]):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


# Shorter ones are said as they are, and of longer ones nothing is told.
_PIECE_BYTES = range(24, 1 << 16)
# How many pieces are at hand.
_PIECES = 8
# Bytes that two pieces have in common are found where as many of them begin at a multiple of this.
_BLOCK_BYTES = 12


class _Piece:
    """The bytes of a piece, its number, and where its blocks stand in it, once that was asked for."""

    __slots__ = ("data", "number", "_blocks")

    def __init__(self, data: bytes, number: int) -> None:
        self.data, self.number = data, number
        self._blocks: Optional[Dict[bytes, Tuple[int, int]]] = None

    @property
    def blocks(self) -> Dict[bytes, Tuple[int, int]]:
        """The blocks, with the piece's number and where in it they stand."""
        if self._blocks is None:
            data, number = self.data, self.number
            starts = range(0, len(data) - _BLOCK_BYTES + 1, _BLOCK_BYTES)
            self._blocks = {data[start : start + _BLOCK_BYTES]: (number, start) for start in starts}
        return self._blocks


class Pieces:
    """The newest pieces of a log, oldest first. What stands in them is told by its place.

    A piece is a text, as `packed` makes it; or `[back, start, size]`, a part of the piece so far back; or `[0, [...]]`, texts and
    such parts in turn. Older logs have `[back, keep, tail, text]`: the first and last bytes of a piece, and what stands between.
    """

    def __init__(self, recent: Sequence[_Piece] = ()) -> None:
        self._recent = list(recent)

    def draft(self) -> "Pieces":
        """The same, for records that may never be there."""
        return Pieces(self._recent)

    def _put(self, data: bytes) -> None:
        if len(data) in _PIECE_BYTES:
            self._recent.append(_Piece(data, self._recent[-1].number + 1 if self._recent else 0))
            del self._recent[:-_PIECES]

    def _told(self, data: bytes) -> Optional[List[Any]]:
        """The parts of a piece that stand in others, and what stands between them; none: nothing of it does."""
        last = self._recent[-1].number
        for piece in reversed(self._recent):
            start = piece.data.find(data)
            if start >= 0:
                return [[last - piece.number, start, len(data)]]
        # Of a block that stands twice the newer place holds.
        places: Dict[bytes, Tuple[int, int]] = {}
        for piece in self._recent:
            places.update(piece.blocks)
        told: List[Any] = []
        done = at = 0
        while at <= len(data) - _BLOCK_BYTES:
            found = places.get(data[at : at + _BLOCK_BYTES])
            if found is None:
                at += 1
                continue
            back, start = last - found[0], found[1]
            old = self._recent[-1 - back].data
            while at > done and start > 0 and data[at - 1] == old[start - 1]:
                at, start = at - 1, start - 1
            size = same_bytes(data[at:], old[start:])
            if size in _PIECE_BYTES:
                if at > done:
                    told.append(packed(data[done:at]))
                told.append([back, start, size])
                done = at + size
            at += size
        if told and done < len(data):
            told.append(packed(data[done:]))
        return told or None

    def packed(self, data: bytes) -> Any:
        """The next piece."""
        told = self._told(data) if self._recent and len(data) in _PIECE_BYTES else None
        self._put(data)
        if told is None:
            return packed(data)
        return told[0] if len(told) == 1 else [0, told]

    def _part(self, told: Any) -> bytes:
        """The bytes of a text, or of a part of another piece."""
        if isinstance(told, str):
            return unpacked(told)
        back, start, size = told
        return self._recent[-1 - back].data[start : start + size]

    def unpacked(self, told: Any) -> bytes:
        """The bytes of the next piece."""
        if isinstance(told, str) or len(told) == 3:
            data = self._part(told)
        elif len(told) == 2:
            data = b"".join(map(self._part, told[1]))
        else:
            back, keep, tail, text = told
            old = self._recent[-1 - back].data
            data = old[:keep] + unpacked(text) + (old[-tail:] if tail else b"")
        self._put(data)
        return data


Plain = Dict[str, Any]


def differences(base: Plain, value: Plain) -> Optional[List[List[Any]]]:
    """What makes a value of its base, each with the keys that lead there; none: something is gone."""
    if not base.keys() <= value.keys():
        return None
    found: List[List[Any]] = []
    for key, now in value.items():
        was = base.get(key)
        if isinstance(now, dict) and isinstance(was, dict) and now.keys() >= was.keys():
            found += [[key, *one] for one in differences(was, now) or []]
        elif type(now) is type(was) and type(now) in (str, int):
            found += [] if now == was else [[key, now]]
        elif key not in base or json.dumps(was) != json.dumps(now):
            found.append([key, now])
    return found


def applied(base: Plain, differences: Iterable[Sequence[Any]]) -> Plain:
    """A value by its base, which stays as it is."""
    made = dict(base)
    for first, *rest in differences:
        made[first] = rest[0] if len(rest) == 1 else applied(made[first], [rest])
    return made


class Blob:
    """A value as its thread's log has it: whole, or as a change of another one."""

    __slots__ = ("kind", "base", "keep", "tail", "head", "data")

    def __init__(self, kind: str, base: Optional[int], keep: int, tail: int, head: bytes, data: bytes) -> None:
        self.kind, self.base, self.keep, self.tail, self.head, self.data = kind, base, keep, tail, head, data

    @classmethod
    def of(cls, kind: str, new: bytes, old: Optional[Tuple[int, bytes]]) -> "Blob":
        """That of a value, as a change of an older one where they have much in common."""
        if old is not None:
            number, before = old
            start, was = head_of(new)[0], head_of(before)[0]
            body, former = new[start:], before[was:]
            keep = same_bytes(body, former)
            tail = 0
            left = min(len(body), len(former)) - keep
            if left and keep < len(former):
                # From the end: the same bytes, turned round.
                tail = same_bytes(body[keep:][::-1], former[keep:][::-1])
            if (keep + tail) * 2 > len(body):
                return cls(kind, number, keep, tail, new[:start], body[keep : len(body) - tail])
        return cls(kind, None, 0, 0, b"", new)

    def json(self, pieces: Pieces) -> List[Any]:
        if self.base is None:
            return [self.kind, pieces.packed(self.data)]
        return [self.kind, pieces.packed(self.data), self.base, self.keep, self.tail, packed(self.head)]

    @classmethod
    def read(cls, kept: List[Any], pieces: Pieces) -> "Blob":
        if len(kept) == 2:
            return cls(kept[0], None, 0, 0, b"", pieces.unpacked(kept[1]))
        kind, data, base, keep, tail, head = kept
        return cls(kind, base, keep, tail, unpacked(head), pieces.unpacked(data))


class Member:
    """A member of a list, by its bytes. Two of the same bytes may be two."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


class Value:
    """A value as it was serialized: whole or, where it is a list in msgpack, as its members."""

    __slots__ = ("kind", "members", "_data")

    def __init__(self, kind: str, data: Optional[bytes], members: Optional[Sequence[Member]] = None) -> None:
        self.kind, self._data, self.members = kind, data, members

    @property
    def data(self) -> bytes:
        if self._data is None:
            members = self.members or ()
            self._data = head_for(len(members)) + b"".join([one.data for one in members])
        return self._data


Key = Tuple[str, str]
# Of each task and index: the task's path, the channel, and the value as it was serialized.
Writes = Dict[Tuple[str, int], Tuple[str, str, str, bytes]]
# A message of the conversation: what it is known by, and its commit, if it has one.
Said = Tuple[str, Optional[str]]


# What is known of a checkpoint: as it was serialized or, where JSON says the same, as JSON has it.
Facts = Union[Tuple[str, bytes], Plain]


class Kept:
    """A checkpoint as the log has it."""

    __slots__ = ("ns", "id", "parent", "core", "meta", "channels", "tip", "at")

    def __init__(
        self, record: Dict[str, Any], parent: Optional[str], facts: Dict[str, Facts], tip: Optional[str], at: int
    ) -> None:
        self.ns, self.id, self.parent = record["ns"], record["id"], parent
        self.core, self.meta = facts["core"], facts["meta"]
        self.channels: Dict[str, int] = record["ch"]
        self.tip, self.at = tip, at


class Ground:
    """What is left of a checkpoint that is gone, but that channels of another one are made from."""

    __slots__ = ("parent", "channels")

    def __init__(self, parent: Optional[str], channels: Dict[str, int]) -> None:
        self.parent, self.channels = parent, channels


class Thread:
    """What a thread's log says, as far as it was read."""

    def __init__(self) -> None:
        # Its commits, and of each record how many stand before the one that has it: one may have several.
        self.read: List[str] = []
        self.before: List[int] = []
        self.kept: Dict[Key, Kept] = {}
        # The newest checkpoint of each namespace.
        self.latest: Dict[str, str] = {}
        self.grounds: Dict[Key, Ground] = {}
        # By checkpoint, whether it is there yet or not: a framework may save what tasks wrote before the checkpoint.
        self.writes: Dict[Key, Writes] = {}
        # Where in the log a task's first writes to a checkpoint stand.
        self.begun: Dict[Tuple[str, str, str], int] = {}
        self.blobs: List[Blob] = []
        self.said: List[Said] = []
        self.said_of: Optional[int] = None
        # How the conversation changed: where in the log, how much of it stayed, and what came.
        self.says: List[Tuple[int, int, List[Said]]] = []
        self.has_dropped = False
        # The last checkpoint of each namespace that was put, and what JSON says of one, newest.
        self.last: Dict[str, str] = {}
        self.plain: Dict[Key, Plain] = {}
        self.pieces = Pieces()
        # A few values whole, and the members of a few: those that are asked for next.
        self.whole: Dict[int, bytes] = {}
        self.members: Dict[int, Sequence[Member]] = {}

    @property
    def tip(self) -> Optional[str]:
        return self.read[-1] if self.read else None

    @property
    def said_tip(self) -> Optional[str]:
        """The commit at which the conversation ends."""
        return next((made for _, made in reversed(self.said) if made is not None), None)

    def take(self, record: Dict[str, Any]) -> None:
        """Takes the next record in. Its commit is told of by `ended`."""
        at = len(self.before)
        self.before.append(len(self.read))
        op = record.get("op")
        self.blobs.extend(Blob.read(one, self.pieces) for one in record.get("new", []))
        if op == "put":
            say = record.get("say")
            if say is not None:
                add = [(known, made) for known, made in say["add"]]
                self.said[say["keep"] :] = add
                self.said_of = say["of"]
                self.says.append((at, say["keep"], add))
            facts = {name: self._facts(record, name) for name in ("core", "meta")}
            parent = record.get("parent")
            parent = self.last[record["ns"]] if parent is True else parent
            kept = Kept(record, parent, facts, self.said_tip, at)
            self.kept[kept.ns, kept.id] = kept
            self.last[kept.ns] = kept.id
            self.latest[kept.ns] = max(kept.id, self.latest.get(kept.ns, ""))
        elif op == "writes":
            key = (record["ns"], self.last[record["ns"]] if record["id"] is True else record["id"])
            writes = self.writes.setdefault(key, {})
            self.begun.setdefault((*key, record["task"]), at)
            for index, channel, kind, data in record["w"]:
                place, whole = (record["task"], index), self.pieces.unpacked(data)
                if index < 0 or place not in writes:
                    writes[place] = (record["path"], channel, kind, whole)
        elif op == "ground":
            self.grounds[record["ns"], record["id"]] = Ground(record.get("parent"), record["ch"])
        elif op == "drop":
            self.has_dropped = True
            for ns, id in record["keys"]:
                self.kept.pop((ns, id), None)
                self.writes.pop((ns, id), None)
            self.latest = {}
            for ns, id in self.kept:
                self.latest[ns] = max(id, self.latest.get(ns, ""))

    def ended(self, commit: str) -> None:
        """Tells the commit of the records that were taken in since the one before it."""
        self.read.append(commit)

    def commit_before(self, record: int) -> Optional[str]:
        """The commit behind which that of a record stands."""
        count = self.before[record]
        return self.read[count - 1] if count else None

    def _facts(self, record: Dict[str, Any], name: str) -> Facts:
        told, key = record[name], (record["ns"], name)
        if isinstance(told, list):
            return told[0], self.pieces.unpacked(told[1])
        base = self.plain.get(key, {}) if told["on"] else {}
        own = [["id", record["id"]]] if "id" in base else []
        self.plain[key] = applied(base, [*own, *told["set"]])
        return self.plain[key]

    def told(self, record: Dict[str, Any], facts: Dict[str, Facts], pieces: Pieces) -> Dict[str, Any]:
        """What a record of a checkpoint says of it beside its values: only what differs from the checkpoint before it."""
        said: Dict[str, Any] = {}
        for name, value in facts.items():
            if isinstance(value, tuple):
                said[name] = [value[0], pieces.packed(value[1])]
                continue
            base = self.plain.get((record["ns"], name), {})
            own = [["id", record["id"]]] if "id" in base else []
            base = applied(base, own)
            changes = differences(base, value)
            is_on = changes is not None and json.dumps(applied(base, changes)) == json.dumps(value)
            said[name] = {"on": is_on, "set": changes if is_on else [list(one) for one in value.items()]}
        return said

    def keep(self, number: int, value: Value) -> None:
        """Keeps a value at hand. Of a list whose members are known, they are enough."""
        if value.members is None:
            _put(self.whole, number, value.data, 32)
        else:
            _put(self.members, number, value.members, 8)

    def body_size(self, number: int) -> int:
        """How many bytes of a value stand behind the head."""
        blob = self.blobs[number]
        return len(blob.data) - head_of(blob.data)[0] if blob.base is None else blob.keep + len(blob.data) + blob.tail

    def value(self, number: int) -> Tuple[str, bytes]:
        """A value whole."""
        chain, at = [], number
        if number not in self.whole and number in self.members:
            kind = self.blobs[number].kind
            return kind, Value(kind, None, self.members[number]).data
        while at not in self.whole:
            blob = self.blobs[at]
            chain.append(blob)
            if blob.base is None:
                break
            at = blob.base
        if at in self.whole:
            start = self.whole[at]
        else:
            start = chain.pop().data
        if chain:
            head, body = b"", bytearray(start)
            del body[: head_of(start)[0]]
            for blob in reversed(chain):
                end = bytes(body[len(body) - blob.tail :]) if blob.tail else b""
                del body[blob.keep :]
                body += blob.data
                body += end
                head = blob.head
            start = head + bytes(body)
        _put(self.whole, number, start, 32)
        return self.blobs[number].kind, start

    def noted(self, value: Value, before: Optional[int], new: List[Tuple[Blob, Value]]) -> int:
        """The number of a value: that of the one before it, if it is the same, or else of a new blob."""
        former = self.members.get(before) if before is not None else None
        same = len(former) if former is not None else 0
        if same and value.members is not None and value.members[:same] == former:
            # Only members came, or none.
            rest = value.members[same:]
            if not rest:
                return before  # type: ignore[return-value]
            size = self.body_size(before)  # type: ignore[arg-type]
            data = b"".join([one.data for one in rest])
            if size > len(data):
                new.append((Blob(value.kind, before, size, 0, head_for(same + len(rest)), data), value))
                return len(self.blobs) + len(new) - 1
        old = None
        if before is not None:
            old_kind, old_data = self.value(before)
            if (old_kind, old_data) == (value.kind, value.data):
                return before
            old = (before, old_data) if old_kind == value.kind == "msgpack" else None
        new.append((Blob.of(value.kind, value.data, old), value))
        return len(self.blobs) + len(new) - 1

    def newest(self, ns: str) -> Optional[Kept]:
        id = self.latest.get(ns)
        return self.kept[ns, id] if id is not None else None

    def ordered(self, key: Key) -> List[Tuple[str, str, str, bytes]]:
        """What tasks wrote to a checkpoint, in the order in which it counts: task, channel, kind, value."""
        writes = sorted(self.writes.get(key, {}).items(), key=lambda one: (one[1][0], one[0]))
        return [(task, channel, kind, data) for (task, _), (_, channel, kind, data) in writes]

    def changes(
        self, ns: str, parent: Optional[str], channels: Iterable[str]
    ) -> Dict[str, Tuple[Optional[int], List[Tuple[str, str, bytes]], List[str]]]:
        """What channels that are kept as changes are made from, at a child of `parent`.

        Of each channel: the value to begin with, if there is one; what was written since, oldest first; and the ids of the
        checkpoints in which all that stands.
        """
        left = dict.fromkeys(channels)
        found: Dict[str, Tuple[Optional[int], List[Tuple[str, str, bytes]], List[str]]]
        found = {channel: (None, [], []) for channel in left}
        seen = set()
        while left and parent is not None and parent not in seen:
            seen.add(parent)
            above = self.kept.get((ns, parent)) or self.grounds.get((ns, parent))
            if above is None:
                break
            for task, channel, kind, data in reversed(self.ordered((ns, parent))):
                if channel in left:
                    found[channel][1].append((task, kind, data))
            for channel in [*left]:
                found[channel][2].append(parent)
                if channel in above.channels:
                    found[channel] = (above.channels[channel], *found[channel][1:])
                    del left[channel]
            parent = above.parent
        for _, writes, _ in found.values():
            writes.reverse()
        return found

    def without(
        self,
        stay: Set[Key],
        whole: Dict[Key, Dict[str, Value]],
        grounds: Dict[Key, Set[str]],
    ) -> List[Dict[str, Any]]:
        """The records of a log that never had more than these checkpoints.

        `whole` are values that checkpoints get beside their own; `grounds` are checkpoints that go, but for these channels.
        """
        fresh, records = Thread(), []
        newest: Dict[str, Dict[str, int]] = {}
        said: List[Said] = []
        says = iter([*self.says, (len(self.before), 0, [])])
        say = next(says)
        # A ground has no place of its own in the log: all of them stand first.
        gone = [(0, key, self.kept.get(key) or self.grounds[key]) for key in grounds]
        for at, key, one in [*gone, *sorted((kept.at, key, kept) for key, kept in self.kept.items() if key in stay)]:
            ns, id = key
            values = {channel: Value(*self.value(number)) for channel, number in one.channels.items()}
            record: Dict[str, Any] = {"op": "put", "ns": ns, "id": id}
            if key in grounds:
                record["op"] = "ground"
                values = {channel: value for channel, value in values.items() if channel in grounds[key]}
            else:
                values.update(whole.get(key, {}))
            new: List[Tuple[Blob, Value]] = []
            near = newest.get(ns, {})
            record["ch"] = {channel: fresh.noted(value, near.get(channel), new) for channel, value in values.items()}
            newest[ns] = {**near, **record["ch"]}
            if one.parent:
                record["parent"] = one.parent
            pieces = fresh.pieces.draft()
            if new:
                record["new"] = [blob.json(pieces) for blob, _ in new]
            if isinstance(one, Kept) and key not in grounds:
                record.update(fresh.told(record, {"core": one.core, "meta": one.meta}, pieces))
                while say[0] <= at:
                    said[say[1] :] = say[2]
                    say = next(says)
                keep = 0
                while keep < min(len(fresh.said), len(said)) and fresh.said[keep] == said[keep]:
                    keep += 1
                # Other namespaces have no conversation of their own.
                if ns == "" and keep < max(len(fresh.said), len(said)):
                    record["say"] = {"of": -1, "keep": keep, "add": [list(one) for one in said[keep:]]}
            fresh.take(record)
            for number, (_, value) in enumerate(new, len(fresh.blobs) - len(new)):
                fresh.keep(number, value)
            records += [record, *self._written(key, grounds.get(key), fresh)]
        for key in self.writes:
            kept = self.newest(key[0])
            # Those that are newer than all checkpoints belong to one that is to come.
            if key not in self.kept and key not in grounds and (kept is None or key[1] > kept.id):
                records += self._written(key, None, fresh)
        return records

    def _written(self, key: Key, channels: Optional[Set[str]], fresh: "Thread") -> List[Dict[str, Any]]:
        """The records of what tasks wrote to a checkpoint, in these channels or in all, behind those of another log."""
        tasks: Dict[Tuple[str, str], List[Any]] = {}
        for (task, index), (path, channel, kind, data) in self.writes.get(key, {}).items():
            if channels is None or channel in channels:
                tasks.setdefault((task, path), []).append([index, channel, kind, data])
        records = []
        for (task, path), made in tasks.items():
            pieces = fresh.pieces.draft()
            told = [[*one[:3], pieces.packed(one[3])] for one in made]
            records.append({"op": "writes", "ns": key[0], "id": key[1], "task": task, "path": path, "w": told})
            fresh.take(records[-1])
        return records


def _put(kept: Dict[int, Any], number: int, value: Any, most: int) -> None:
    """Keeps a value as the newest, and no more than so many."""
    kept.pop(number, None)
    kept[number] = value
    while len(kept) > most:
        kept.pop(next(iter(kept)))
