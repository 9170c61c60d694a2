"""Lists of messages as LangGraph's own serializer writes them: a member that has not changed is not written again.

A list in msgpack is a head and its members, one behind the other. Of each member stands here what it was when it was
written, so that a change in place is seen, and its bytes. What comes out is byte for byte what the serializer makes of the
whole list, and what is read is a copy that shares nothing with another. Deliberately absent: any serializer but
`JsonPlusSerializer` itself, and classes of messages that are not LangChain's own; those go the serializer's way.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import itertools
import operator
from typing import Any, Dict, Iterator, List, Optional, Sequence, Type

import ormsgpack
from langchain_core import messages
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from . import _records
from ._records import Value, head_for, head_of

# Only what msgpack knows: a state that holds anything else is none.
_PLAIN = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_SUBCLASS
    | ormsgpack.OPT_PASSTHROUGH_UUID
)
_READ = ormsgpack.OPT_NON_STR_KEYS


# LangChain imports its classes when they are asked for.
_KINDS = (getattr(messages, name, None) for name in messages.__all__)
_OWN = frozenset(kind for kind in _KINDS if isinstance(kind, type) and issubclass(kind, messages.BaseMessage))


def _state(message: Any) -> Optional[bytes]:
    """All that a message holds; none: it is not LangChain's own, or holds more than plain values."""
    if message.__class__ not in _OWN:
        return None
    try:
        return None if message.__pydantic_extra__ else ormsgpack.packb(message.__dict__, option=_PLAIN)
    except (TypeError, ValueError):
        return None


class Member(_records.Member):
    """A message of a list: what it was when it was written, and its bytes."""

    __slots__ = ("kind", "state", "names")

    def __init__(self, kind: Type[Any], state: Optional[bytes], data: bytes) -> None:
        super().__init__(data)
        self.kind, self.state = kind, state
        # The fields that are set once it is read; none: it was not read yet, or no copy of it can be made.
        self.names: Optional[frozenset] = None

    def takes(self, read: Any) -> None:
        """Takes the message in that these bytes were read as: if copies of it can be made, they are it from now on."""
        state = _state(read) if read.__class__ is self.kind else None
        if state is None or read.__pydantic_private__ is not None:
            return
        # Whoever goes on from here has what was read.
        self.names, self.state = frozenset(read.__pydantic_fields_set__), state
        [copy] = _made([self], [ormsgpack.unpackb(state, option=_READ)])
        if copy != read or copy.__pydantic_fields_set__ != read.__pydantic_fields_set__:
            self.names = None


_KIND, _STATE, _NAMES = map(operator.attrgetter, ("kind", "state", "names"))

# Where pydantic keeps what a message holds; to set it so takes a third of what a line of Python for each takes.
_SET_FIELDS, _SET_EXTRA, _SET_NAMES, _SET_PRIVATE = (
    next(kind.__dict__[name] for kind in messages.BaseMessage.__mro__ if name in kind.__dict__).__set__
    for name in ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
)


def _made(members: Sequence[Member], held: Sequence[Any]) -> List[Any]:
    """Messages anew, of their fields. Of each member the names are known."""
    made = list(map(object.__new__, map(_KIND, members)))
    for put, values in (
        (_SET_FIELDS, held),
        (_SET_EXTRA, map(dict, itertools.repeat(()))),
        (_SET_NAMES, map(set, map(_NAMES, members))),
        (_SET_PRIVATE, itertools.repeat(None)),
    ):
        collections.deque(map(put, made, values), maxlen=0)
    return made


Members = List[Member]

# Thousands of members are looked at several times a turn: without a line of Python for each.
_FIELDS, _EXTRA = operator.attrgetter("__dict__"), operator.attrgetter("__pydantic_extra__")


def is_known(serde: SerializerProtocol) -> bool:
    """Whether a serializer is LangGraph's own, of which lists are written so."""
    return type(serde) is JsonPlusSerializer


def _is_list(value: Any) -> bool:
    return type(value) is list and bool(value) and value[0].__class__ in _OWN


def _begins_with(messages: List[Any], before: Members) -> bool:
    """Whether a list begins with all the members of another one, unchanged. All of them are looked at in one go."""
    first = messages[: len(before)]
    if list(map(type, first)) != list(map(_KIND, before)):
        return False
    try:
        if any(map(_EXTRA, first)):
            return False
        # Whose state is not known has none to be joined.
        states = ormsgpack.packb(list(map(_FIELDS, first)), option=_PLAIN)
        return states == head_for(len(before)) + b"".join(map(_STATE, before))
    except (AttributeError, TypeError, ValueError):
        return False


def is_same(value: Any, members: Sequence[Any]) -> bool:
    """Whether a value is a list of these members, unchanged."""
    return type(value) is list and len(value) == len(members) and _begins_with(value, list(members))


def written(serde: SerializerProtocol, value: Any, former: Optional[Sequence[Any]]) -> Value:
    """What `serde.dumps_typed(value)` gives; members of the value before it that are the same are taken from there."""
    if not is_known(serde) or not _is_list(value):
        return Value(*serde.dumps_typed(value))
    before: Members = list(former or ())
    members: Members = before if before and _begins_with(value, before) else []
    known: Optional[Dict[Any, Member]] = None
    for at, message in enumerate(value[len(members) :], len(members)):
        state, kind = _state(message), message.__class__
        member = before[at] if at < len(before) else None
        if member is not None and (state is None or member.state != state or member.kind is not kind):
            # It stood elsewhere, or was not there.
            if known is None:
                known = {(one.kind, one.state): one for one in before}
            member = known.get((kind, state)) if state is not None else None
        if member is None:
            spelt, data = serde.dumps_typed([message])
            if spelt != "msgpack" or data[:1] != b"\x91":
                return Value(*serde.dumps_typed(value))
            member = Member(kind, state, data[1:])
        members.append(member)
    return Value("msgpack", None, members)


def read(serde: SerializerProtocol, thread: _records.Thread, number: int) -> Any:
    """What `serde.loads_typed` gives of a value of a thread."""
    members: Any = thread.members.get(number)
    if members is None or not is_known(serde):
        kind, data = thread.value(number)
        made = serde.loads_typed((kind, data))
        if kind == "msgpack" and is_known(serde) and _is_list(made):
            members = _split(data, made)
            if members is not None:
                thread.keep(number, Value(kind, None, members))
        return made
    apart: Dict[int, Any] = {}
    if not all(map(_NAMES, members)):
        for at, member in enumerate(members):
            if member.names is None:
                [apart[at]] = serde.loads_typed(("msgpack", b"\x91" + member.data))
                member.takes(apart[at])
    whole = [member for at, member in enumerate(members) if at not in apart] if apart else members
    with _no_collection():
        held = ormsgpack.unpackb(head_for(len(whole)) + b"".join(map(_STATE, whole)), option=_READ)
        made = _made(whole, held)
    for at in sorted(apart):
        made.insert(at, apart[at])
    return made


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Keeps Python from looking for garbage, for some milliseconds: thousands of new objects of which none can be garbage
    would have it look through all that there is, again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _split(data: bytes, made: List[Any]) -> Optional[Members]:
    """The members of a list that was read; none: they are not where they are looked for."""
    at, count = head_of(data)
    if count != len(made):
        return None
    members: Members = []
    for message in made:
        end = _end_of_ext(data, at)
        if end is None:
            return None
        member = Member(type(message), None, data[at:end])
        member.takes(message)
        members.append(member)
        at = end
    return members if at == len(data) else None


# How many bytes announce an extension of msgpack, and how many of them its length.
_EXT = {0xC7: 1, 0xC8: 2, 0xC9: 4}


def _end_of_ext(data: bytes, at: int) -> Optional[int]:
    width = _EXT.get(data[at]) if at < len(data) else None
    if width is None:
        return None
    return at + 2 + width + int.from_bytes(data[at + 1 : at + 1 + width], "big")
