"""The log of a thread: records of which each says only what is new.

A value is kept whole, or as a change of an older one: a list that grows by a message takes that message. Nothing here
knows a framework.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, Iterable, List, Optional, Set, Tuple


def packed(data: bytes) -> str:
    """Bytes in a JSON string: as Latin-1, which is short and can be compressed, where most of them are text."""
    text = data.decode("latin-1")
    if len(json.dumps(text, ensure_ascii=False).encode()) * 3 <= len(data) * 4 + 6:
        return "l" + text
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


def same_bytes(one: memoryview, other: memoryview) -> int:
    """How many bytes two begin with in common."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


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
            body, former = memoryview(new)[start:], memoryview(before)[was:]
            keep = same_bytes(body, former)
            tail = 0
            left = min(len(body), len(former)) - keep
            if left and keep < len(former):
                # From the end: the same bytes, turned round.
                tail = same_bytes(memoryview(bytes(body[keep:])[::-1]), memoryview(bytes(former[keep:])[::-1]))
            if (keep + tail) * 2 > len(body):
                data = bytes(body[keep : len(body) - tail])
                return cls(kind, number, keep, tail, new[:start], data)
        return cls(kind, None, 0, 0, b"", new)

    def json(self) -> List[Any]:
        if self.base is None:
            return [self.kind, packed(self.data)]
        return [self.kind, packed(self.data), self.base, self.keep, self.tail, packed(self.head)]

    @classmethod
    def read(cls, kept: List[Any]) -> "Blob":
        if len(kept) == 2:
            return cls(kept[0], None, 0, 0, b"", unpacked(kept[1]))
        kind, data, base, keep, tail, head = kept
        return cls(kind, base, keep, tail, unpacked(head), unpacked(data))


Key = Tuple[str, str]
# Of each task and index: the task's path, the channel, and the value as it was serialized.
Writes = Dict[Tuple[str, int], Tuple[str, str, str, bytes]]
# A message of the conversation: what it is known by, and its commit, if it has one.
Said = Tuple[str, Optional[str]]


class Kept:
    """A checkpoint as the log has it."""

    __slots__ = ("ns", "id", "parent", "core", "meta", "channels", "tip", "at")

    def __init__(self, record: Dict[str, Any], tip: Optional[str], at: int) -> None:
        self.ns, self.id, self.parent = record["ns"], record["id"], record.get("parent")
        self.core = (record["core"][0], unpacked(record["core"][1]))
        self.meta = (record["meta"][0], unpacked(record["meta"][1]))
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
        self.read: List[str] = []
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
        # A few values whole: those that are asked for next.
        self.whole: Dict[int, bytes] = {}

    @property
    def tip(self) -> Optional[str]:
        return self.read[-1] if self.read else None

    @property
    def said_tip(self) -> Optional[str]:
        """The commit at which the conversation ends."""
        return next((made for _, made in reversed(self.said) if made is not None), None)

    def take(self, commit: str, record: Dict[str, Any]) -> None:
        """Takes the next record in."""
        op = record.get("op")
        self.blobs.extend(Blob.read(one) for one in record.get("new", []))
        if op == "put":
            say = record.get("say")
            if say is not None:
                add = [(known, made) for known, made in say["add"]]
                self.said[say["keep"] :] = add
                self.said_of = say["of"]
                self.says.append((len(self.read), say["keep"], add))
            kept = Kept(record, self.said_tip, len(self.read))
            self.kept[kept.ns, kept.id] = kept
            self.latest[kept.ns] = max(kept.id, self.latest.get(kept.ns, ""))
        elif op == "writes":
            key = (record["ns"], record["id"])
            writes = self.writes.setdefault(key, {})
            self.begun.setdefault((*key, record["task"]), len(self.read))
            for index, channel, kind, data in record["w"]:
                place = (record["task"], index)
                if index < 0 or place not in writes:
                    writes[place] = (record["path"], channel, kind, unpacked(data))
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
        self.read.append(commit)

    def value(self, number: int) -> Tuple[str, bytes]:
        """A value whole."""
        chain, at = [], number
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
        self.whole.pop(number, None)
        self.whole[number] = start
        while len(self.whole) > 32:
            self.whole.pop(next(iter(self.whole)))
        return self.blobs[number].kind, start

    def noted(self, value: Tuple[str, bytes], before: Optional[int], new: List[Tuple[Blob, bytes]]) -> int:
        """The number of a value: that of the one before it, if it is the same, or else of a new blob."""
        kind, data = value
        old = None
        if before is not None:
            old_kind, old_data = self.value(before)
            if (old_kind, old_data) == (kind, data):
                return before
            old = (before, old_data) if old_kind == kind == "msgpack" else None
        new.append((Blob.of(kind, data, old), data))
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
        whole: Dict[Key, Dict[str, Tuple[str, bytes]]],
        grounds: Dict[Key, Set[str]],
    ) -> List[Dict[str, Any]]:
        """The records of a log that never had more than these checkpoints.

        `whole` are values that checkpoints get beside their own; `grounds` are checkpoints that go, but for these channels.
        """
        fresh, records = Thread(), []
        newest: Dict[str, Dict[str, int]] = {}
        said: List[Said] = []
        says = iter([*self.says, (len(self.read), 0, [])])
        say = next(says)
        # A ground has no place of its own in the log: all of them stand first.
        gone = [(0, key, self.kept.get(key) or self.grounds[key]) for key in grounds]
        for at, key, one in [*gone, *sorted((kept.at, key, kept) for key, kept in self.kept.items() if key in stay)]:
            ns, id = key
            values = {channel: self.value(number) for channel, number in one.channels.items()}
            record: Dict[str, Any] = {"op": "put", "ns": ns, "id": id}
            if key in grounds:
                record["op"] = "ground"
                values = {channel: value for channel, value in values.items() if channel in grounds[key]}
            else:
                values.update(whole.get(key, {}))
            new: List[Tuple[Blob, bytes]] = []
            near = newest.get(ns, {})
            record["ch"] = {channel: fresh.noted(value, near.get(channel), new) for channel, value in values.items()}
            newest[ns] = {**near, **record["ch"]}
            if one.parent:
                record["parent"] = one.parent
            if isinstance(one, Kept) and key not in grounds:
                for name, (kind, data) in (("core", one.core), ("meta", one.meta)):
                    record[name] = [kind, packed(data)]
                before = list(said)
                while say[0] <= at:
                    said[say[1] :] = say[2]
                    say = next(says)
                keep = 0
                while keep < min(len(before), len(said)) and before[keep] == said[keep]:
                    keep += 1
                if ns == "" and keep < max(len(before), len(said)):
                    record["say"] = {"of": -1, "keep": keep, "add": [list(one) for one in said[keep:]]}
            if new:
                record["new"] = [blob.json() for blob, _ in new]
            fresh.take("", record)
            fresh.whole.update({number: data for number, (_, data) in enumerate(new, len(fresh.blobs) - len(new))})
            records += [record, *self._written(key, grounds.get(key))]
        for key in self.writes:
            kept = self.newest(key[0])
            # Those that are newer than all checkpoints belong to one that is to come.
            if key not in self.kept and key not in grounds and (kept is None or key[1] > kept.id):
                records += self._written(key, None)
        return records

    def _written(self, key: Key, channels: Optional[Set[str]]) -> List[Dict[str, Any]]:
        """The records of what tasks wrote to a checkpoint, in these channels or in all."""
        tasks: Dict[Tuple[str, str], List[Any]] = {}
        for (task, index), (path, channel, kind, data) in self.writes.get(key, {}).items():
            if channels is None or channel in channels:
                tasks.setdefault((task, path), []).append([index, channel, kind, packed(data)])
        record = {"op": "writes", "ns": key[0], "id": key[1]}
        return [{**record, "task": task, "path": path, "w": made} for (task, path), made in tasks.items()]
