"""The log of a thread: records of which each says only what is new.

A value is kept whole, or as a change of an older one: a list that grows by a message takes that message. Nothing here
knows a framework.
"""

from __future__ import annotations

import base64
import json
from typing import Any, Dict, List, Optional, Tuple


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


class Kept:
    """A checkpoint as the log has it."""

    __slots__ = ("ns", "id", "parent", "core", "meta", "channels", "tip", "at")

    def __init__(self, record: Dict[str, Any], tip: Optional[str], at: int) -> None:
        self.ns, self.id, self.parent = record["ns"], record["id"], record.get("parent")
        self.core = (record["core"][0], unpacked(record["core"][1]))
        self.meta = (record["meta"][0], unpacked(record["meta"][1]))
        self.channels: Dict[str, int] = record["ch"]
        self.tip, self.at = tip, at


# Of each task and index: the task's path, the channel, and the value as it was serialized.
Writes = Dict[Tuple[str, int], Tuple[str, str, str, bytes]]


class Thread:
    """What a thread's log says, as far as it was read."""

    def __init__(self) -> None:
        self.read: List[str] = []
        self.kept: Dict[Tuple[str, str], Kept] = {}
        # By checkpoint, whether it is there yet or not: a framework may save what tasks wrote before the checkpoint.
        self.writes: Dict[Tuple[str, str], Writes] = {}
        self.blobs: List[Blob] = []
        # Of each message of the conversation: what it was known by, and its commit, if it has one.
        self.said: List[Tuple[str, Optional[str]]] = []
        self.said_of: Optional[int] = None
        # A few values whole: those that are asked for next.
        self.whole: Dict[int, bytes] = {}

    @property
    def tip(self) -> Optional[str]:
        return self.read[-1] if self.read else None

    def take(self, commit: str, record: Dict[str, Any]) -> None:
        """Takes the next record in."""
        op = record.get("op")
        if op == "put":
            self.blobs.extend(Blob.read(one) for one in record.get("new", []))
            say = record.get("say")
            if say is not None:
                self.said[say["keep"] :] = [(known, made) for known, made in say["add"]]
                self.said_of = say["of"]
            tips = (made for _, made in reversed(self.said) if made is not None)
            kept = Kept(record, next(tips, None), len(self.read))
            self.kept[kept.ns, kept.id] = kept
        elif op == "writes":
            writes = self.writes.setdefault((record["ns"], record["id"]), {})
            for index, channel, kind, data in record["w"]:
                key = (record["task"], index)
                if index < 0 or key not in writes:
                    writes[key] = (record["path"], channel, kind, unpacked(data))
        elif op == "drop":
            for ns, id in record["keys"]:
                self.kept.pop((ns, id), None)
                self.writes.pop((ns, id), None)
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

    def newest(self, ns: str) -> Optional[Kept]:
        ids = [id for of, id in self.kept if of == ns]
        return self.kept[ns, max(ids)] if ids else None
