"""A checkpointer for LangGraph that keeps its threads in a repository.

    from tract.langgraph import TractSaver

    saver = TractSaver(tract.init("talk"))
    graph = builder.compile(checkpointer=saver)

Each thread has two branches. `langgraph/THREAD` holds its conversation, so that all of tract works on it: `log`,
`find`, `diff`, budgets, `cost`. `langgraph-records/THREAD` holds what LangGraph must have back byte for byte: of each
checkpoint only what differs from the one before it, so that a conversation that grows takes what its messages take.
Beyond other checkpointers there are `undo`, `redo`, `diff` and `commit_of`; and a thread that was deleted is there
until `tract gc`.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import hashlib
import itertools
import json
import math
import threading
import time
import urllib.parse
import uuid
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Deque,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from langchain_core.messages import AIMessage, RemoveMessage, convert_to_messages, convert_to_openai_messages
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    SerializerProtocol,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from . import types
from ._blocks import branch_end
from ._deeds import anew, settled, tip_of
from ._errors import TractError
from ._members import is_known, is_same, read, written
from ._records import Blob, Facts, Kept, Thread, Value
from ._repo import Repo

try:
    from langgraph.checkpoint.serde.types import _DeltaSnapshot as _Snapshot
except ImportError:  # a LangGraph that keeps no channel as changes
    _Snapshot = None  # type: ignore[assignment,misc]

__all__ = ["TractSaver"]

TALK = "langgraph/"
RECORDS = "langgraph-records/"
UNDONE = "langgraph-undone/"
_BLOCK = "langgraph"
# A block that names the commits of the messages which the record before it brings.
_MADE = "langgraph-made"
# How long what a task wrote waits at most for its step's checkpoint: LangGraph asks for both, one right behind the other.
_LINGER_SECONDS = 0.003
# How many threads are held in memory.
_HELD = 64
# So many digits of a commit's hash name it.
_NAME_DIGITS = 16
_UNKNOWN = object()


class TractSaver(BaseCheckpointSaver[int]):
    """Keeps LangGraph's checkpoints in a repository of tract, for sync and async graphs.

    `messages` names the channel whose messages are the conversation; none: no conversation is kept beside.
    """

    def __init__(
        self,
        repo: Repo,
        *,
        messages: Optional[str] = "messages",
        serde: Optional[SerializerProtocol] = None,
    ) -> None:
        super().__init__(serde=serde)
        self.repo, self.messages = repo, messages
        self._lock = threading.RLock()
        self._threads: Dict[str, _Thread] = {}
        # The records that callers wait for, of each thread, in their order.
        self._asks: Dict[str, Deque[_Ask]] = {}

    # What is kept.

    def _thread(self, end: str) -> "_Thread":
        """A thread's log as it is now, by the end of its branches' names: what others have written since is read."""
        thread = self._threads.pop(end, None) or _Thread()
        known = len(thread.read)
        if known and tip_of(self.repo.at(RECORDS + end)) == thread.tip:
            return self._hold(end, thread)
        messages = self._log(branch_ref(RECORDS + end), max(known, 1))
        if known and not (messages and messages[0]["number"] == known and messages[0]["id"] == thread.tip):
            # It was taken back, or is another one.
            thread, known = _Thread(), 0
            messages = self._log(branch_ref(RECORDS + end), 1)
        return self._hold(end, _taken(thread, messages[1 if known else 0 :]))

    def _hold(self, end: str, thread: "_Thread") -> "_Thread":
        self._threads[end] = thread
        while len(self._threads) > _HELD:
            self._threads.pop(next(iter(self._threads)))
        return thread

    def _log(self, rev: str, start: int = 1) -> List[types.ContextMessage]:
        try:
            return self.repo.context(rev, from_=start)["messages"]
        except TractError as error:
            if error.kind in ("unknown_revision", "empty_branch"):
                return []
            raise

    def _write(self, thread_id: Any, make: "_Make", lingers: bool = False) -> None:
        """Adds the record that `make` makes of the thread as it is, and moves the conversation along, both or neither. It is on
        the disk when this returns. Records that several callers wait for at once are one commit.

        None: there is nothing to add.
        """
        end = branch_end(thread_id)
        ask, asks = _Ask(make), self._asks.setdefault(end, collections.deque())
        asks.append(ask)
        try:
            if not (lingers and self._is_taken_along(ask)):
                with self._lock:
                    while not ask.is_done:
                        self._together(end, asks)
                    if not asks and self._asks.get(end) is asks:
                        del self._asks[end]
        except BaseException:
            # Nobody waits for it any more.
            with contextlib.suppress(ValueError):
                asks.remove(ask)
            raise
        if ask.error is not None:
            raise ask.error

    def _is_taken_along(self, ask: "_Ask") -> bool:
        """Waits a moment for a checkpoint, which takes this record along. Where another record is being written, the moment begins
        behind it."""
        with self._lock:
            pass
        return ask.done.acquire(timeout=_LINGER_SECONDS)

    def _together(self, end: str, asks: "Deque[_Ask]") -> None:
        """Adds what is asked for first, up to the first record that brings messages of the conversation, as one commit."""
        # What is held is good enough to try with: where the thread has gone on elsewhere, the commit is refused.
        thread, is_held, is_lost = self._threads.get(end), True, False
        done: List[_Ask] = []
        moves = False
        while True:
            drafts: List[_Draft] = []
            try:
                if thread is None:
                    thread, is_held = self._thread(end), False
                thread.is_lost = thread.is_lost or is_lost
                done = self._drafted(thread, list(asks), drafts)
                if drafts:
                    moves = self._add(end, thread, drafts)
                # Whether there is nothing to add is not said by what is held.
                if drafts or not is_held or all(ask.error for ask in done):
                    break
            except BaseException as error:
                if any(draft.is_taken for draft in drafts):
                    # It has records that are nowhere else.
                    self._threads.pop(end, None)
                is_lost = thread is not None and thread.is_lost
                kind = error.kind if isinstance(error, TractError) else None
                if kind == "unknown_revision" and not is_lost:
                    # A collection has taken commits of the conversation.
                    is_lost = True
                elif kind != "ref_moved" and isinstance(error, Exception):
                    done = done or list(asks)
                    for ask in done:
                        ask.error = ask.error or error
                    break
                elif kind != "ref_moved":
                    raise
                if thread is not None:
                    thread.is_lost, thread.talk = is_lost, _UNKNOWN
            thread = None
        for ask in done:
            with contextlib.suppress(ValueError):
                asks.remove(ask)
            ask.is_done = True
            ask.done.release()
        if moves:
            self._bound(end, thread)

    def _drafted(self, thread: "_Thread", asks: "List[_Ask]", drafts: "List[_Draft]") -> "List[_Ask]":
        """Drafts the records of the first of these. Gives who is served so: all up to one that brings messages.

        Each record is made of the thread with those before it.
        """
        for count, ask in enumerate(asks, 1):
            for draft in drafts:
                draft.take_into(thread)
            ask.error = None
            try:
                made = ask.make(thread)
            except Exception as error:
                ask.error = error
                continue
            if made is not None:
                drafts.append(made)
                if made.talk is not None:
                    return asks[:count]
        return asks

    def _add(self, end: str, thread: "_Thread", drafts: "List[_Draft]") -> bool:
        """Commits these records, and gives whether the conversation moved along."""
        last = drafts[-1]
        talk, moves = last.talk, []
        if talk is not None and (talk.given or talk.after != thread.talk):
            move = {"branch": TALK + end, "to": talk.after, "expect": thread.talk or "none", "batch": talk.given or None}
            moves = [{key: value for key, value in move.items() if value is not None}]
        made = self.repo.at(RECORDS + end).call("commit", {
            "json": {"role": "user", "content": [{"type": _BLOCK, **draft.record} for draft in drafts]},
            # A name is enough, and the log of operations keeps it.
            "expect": thread.tip[:_NAME_DIGITS] if thread.tip else "none",
            "moves": moves or None,
            "made_block": _MADE if talk is not None and talk.given else None,
            "unbudgeted": True,
        })
        named = [commit["hash"] for commit in made.get("moved", [])]
        _name(last.record, named)
        for draft in drafts:
            draft.take_into(thread)
        thread.ended(made["commits"][0]["hash"])
        self._hold(end, thread)
        if talk is not None:
            thread.talk, thread.is_lost = named[-1] if named else talk.after, False
            thread.id, thread.messages, thread.spoken = last.record["id"], talk.messages, len(thread.says)
        return bool(moves)

    def _bound(self, end: str, thread: "Optional[_Thread]") -> None:
        """Truncates the conversation where the budget says so. What else a budget may do is for whoever sends it."""
        settings = self.repo.config()["settings"]
        if "budget.max" in settings and "truncate" in settings.get("budget.action", ""):
            try:
                if self.repo.at(TALK + end).truncate(to_budget="100%")["commits"] and thread is not None:
                    thread.talk = _UNKNOWN
            except TractError as error:
                if error.kind != "cannot_fit":
                    raise

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Stores a checkpoint."""
        place = config["configurable"]
        thread_id, ns = str(place["thread_id"]), place.get("checkpoint_ns", "")
        core = {key: value for key, value in checkpoint.items() if key != "channel_values"}
        meta = get_checkpoint_metadata(config, metadata)
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]

        def make(thread: "_Thread") -> "_Draft":
            facts = {"core": self._facts(core), "meta": self._facts(meta)}
            parent = thread.kept.get((ns, place.get("checkpoint_id") or ""))
            near = parent or thread.newest(ns)
            former = self._core(parent, False)["channel_versions"] if parent is not None else {}
            numbers: Dict[str, int] = {}
            new: List[Tuple[Blob, Value]] = []
            for channel, value in values.items():
                before = near.channels.get(channel) if near is not None else None
                version = versions.get(channel)
                is_old = parent is not None and channel not in new_versions and version is not None
                members = thread.members.get(before) if before is not None else None
                # A node may have changed a message in place and not said so. That is looked for where it costs a look.
                is_old = is_old and (members is None or is_same(value, members))
                if is_old and before is not None and former.get(channel) == version:
                    numbers[channel] = before
                else:
                    numbers[channel] = thread.noted(written(self.serde, value, members), before, new)
            record: Dict[str, Any] = {"op": "put", "ns": ns, "id": checkpoint["id"], "ch": numbers}
            above = place.get("checkpoint_id")
            if above:
                record["parent"] = True if thread.last.get(ns) == above else above
            talk = None
            if ns == "" and self.messages is not None and (self.messages in values or self.messages in versions):
                messages = self._messages(thread, above, values.get(self.messages))
                if isinstance(messages, list):
                    talk = self._talk(branch_end(thread_id), thread, messages, numbers.get(self.messages), new)
                    record.update(talk.say)
            pieces = thread.pieces.draft()
            if new:
                record["new"] = [blob.json(pieces) for blob, _ in new]
            record.update(thread.told(record, facts, pieces))
            return _Draft(record, talk, new)

        self._write(thread_id, make)
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    def _facts(self, value: Any) -> Facts:
        """What is kept of a value: what JSON says, if that is the same, or what the serializer makes of it."""
        if is_known(self.serde) and type(value) is dict:
            # Another serializer may hide what it writes.
            try:
                return _plain(value)
            except (TypeError, ValueError, RecursionError):
                pass
        return self.serde.dumps_typed(value)

    def _value(self, facts: Facts, is_own: bool) -> Any:
        """The value of which that was kept; its own, if it may be changed."""
        if isinstance(facts, tuple):
            return self.serde.loads_typed(facts)
        return self.serde.loads_typed(self.serde.dumps_typed(facts)) if is_own else facts

    def _core(self, kept: Kept, is_own: bool = True) -> Dict[str, Any]:
        return self._value(kept.core, is_own)

    def _meta(self, kept: Kept, is_own: bool = True) -> Any:
        return self._value(kept.meta, is_own)

    def _messages(self, thread: "_Thread", parent: Optional[str], value: Any) -> Any:
        """The messages at a checkpoint: its own value or, where the channel is kept as changes, what they make."""
        if value is not None:
            return _unwrapped(value)
        channel = self.messages or ""
        if parent is not None and parent == thread.id:
            # Only what is new since then is not known.
            writes = [(task, kind, data) for task, of, kind, data in thread.ordered(("", parent)) if of == channel]
            value = thread.messages
        else:
            seed, writes, _ = thread.changes("", parent, [channel])[channel]
            value = [] if seed is None else _unwrapped(read(self.serde, thread, seed))
        if not isinstance(value, list):
            return None
        return _folded(value, [self.serde.loads_typed((kind, data)) for _, kind, data in writes])

    def _talk(
        self,
        end: str,
        thread: "_Thread",
        messages: List[Any],
        number: Optional[int],
        new: List[Tuple[Blob, Value]],
    ) -> "_Talk":
        """What is new in the messages, whose number is that of a value."""
        if thread.talk is _UNKNOWN:
            thread.talk = tip_of(self.repo.at(TALK + end))
        # Where the conversation is not there any more, all of it is said anew.
        said = [] if thread.is_lost or thread.talk is None else thread.said
        keep = 0
        if said and number is not None and number == thread.said_of:
            keep = len(said)
        elif said and number is not None and number >= len(thread.blobs):
            blob, value = new[number - len(thread.blobs)]
            if blob.base is not None and blob.base == thread.said_of:
                # What stands before did not change by a byte.
                if blob.tail == 0 and blob.keep == thread.body_size(blob.base):
                    keep = len(said)
                else:
                    keep = _in_common(thread.members.get(blob.base) or (), value.members or (), len(said))
        elif number is None and thread.spoken == len(thread.says):
            # Kept as changes: nobody else has these messages.
            while keep < min(len(said), len(messages)) and messages[keep] is thread.messages[keep]:
                keep += 1
        known = [_spoken(message) for message in messages[keep:]]
        same = 0
        while same < len(known) and keep + same < len(said) and known[same][0] == said[keep + same][0]:
            same += 1
        keep, known = keep + same, known[same:]
        tip = None if thread.is_lost else thread.talk
        if any(commit is not None for _, commit in said[keep:]):
            tip = next((commit for _, commit in reversed(said[:keep]) if commit is not None), None)
        given = [message for _, message in known if message is not None]
        add = [[text, True if message is not None else None] for text, message in known]
        is_new = said is not thread.said or keep < len(said) or add or (number is not None and number != thread.said_of)
        say = {"say": {"of": -1 if number is None else number, "keep": keep, "add": add}} if is_new else {}
        return _Talk(messages, tip, given, say)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[Tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores what a task has written, whether the checkpoint is there yet or not."""
        place = config["configurable"]
        ns, id = place.get("checkpoint_ns", ""), str(place["checkpoint_id"])
        made: List[List[Any]] = []
        for index, (channel, value) in enumerate(writes):
            made.append([WRITES_IDX_MAP.get(channel, index), channel, *self.serde.dumps_typed(value)])

        def make(thread: Thread) -> "Optional[_Draft]":
            known = thread.writes.get((ns, id), {})
            new = [one for one in made if one[0] < 0 or (task_id, one[0]) not in known]
            if not new:
                return None
            pieces = thread.pieces.draft()
            told = [[*one[:3], pieces.packed(one[3])] for one in new]
            at: Any = True if thread.last.get(ns) == id else id
            return _Draft({"op": "writes", "ns": ns, "id": at, "task": task_id, "path": task_path, "w": told}, None, [])

        # The checkpoint of the step is on its way, as a rule: both are one commit then.
        # An interruption or an error has no checkpoint behind it.
        self._write(place["thread_id"], make, lingers=all(one[0] >= 0 for one in made))

    # What is read.

    def _tuple(self, thread_id: str, thread: Thread, kept: Kept) -> CheckpointTuple:
        def place(id: str) -> RunnableConfig:
            return {"configurable": {"thread_id": thread_id, "checkpoint_ns": kept.ns, "checkpoint_id": id}}

        values = {
            channel: read(self.serde, thread, number) for channel, number in kept.channels.items()
        }
        writes = [
            (task, channel, self.serde.loads_typed((kind, data)))
            for task, channel, kind, data in thread.ordered((kept.ns, kept.id))
        ]
        return CheckpointTuple(
            place(kept.id),
            {**self._core(kept), "channel_values": values},  # type: ignore[typeddict-item]
            self._meta(kept),
            place(kept.parent) if kept.parent else None,
            writes,
        )

    def get_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        """Gives a checkpoint; the newest of its thread, where none is named."""
        with self._lock:
            thread, kept = self._found(config)
            return self._tuple(str(config["configurable"]["thread_id"]), thread, kept) if kept else None

    def _found(self, config: RunnableConfig) -> Tuple[Thread, Optional[Kept]]:
        place = config["configurable"]
        thread, ns = self._thread(branch_end(place["thread_id"])), place.get("checkpoint_ns", "")
        id = get_checkpoint_id(config)
        return thread, thread.kept.get((ns, id)) if id else thread.newest(ns)

    def list(
        self,
        config: Optional[RunnableConfig],
        *,
        filter: Optional[Dict[str, Any]] = None,
        before: Optional[RunnableConfig] = None,
        limit: Optional[int] = None,
    ) -> Iterator[CheckpointTuple]:
        """Lists checkpoints, newest first."""
        place = config["configurable"] if config is not None else {}
        ns, id = place.get("checkpoint_ns"), place.get("checkpoint_id")
        until = get_checkpoint_id(before) if before is not None else None
        with self._lock:
            ends = [branch_end(place["thread_id"])] if "thread_id" in place else self._ends()
            found = []
            for end in ends:
                thread, name = self._thread(end), str(place.get("thread_id", urllib.parse.unquote(end)))
                for kept in thread.kept.values():
                    if ns not in (None, kept.ns) or id not in (None, kept.id) or (until and kept.id >= until):
                        continue
                    if filter:
                        meta = self._meta(kept, False)
                        if any(meta.get(key) != value for key, value in filter.items()):
                            continue
                    found.append((kept.id, name, thread, kept))
        found.sort(key=lambda one: one[0], reverse=True)
        for _, name, thread, kept in found[:limit]:
            with self._lock:
                told = self._tuple(name, thread, kept)
            yield told

    def threads(self) -> List[str]:
        """The ids of all threads. One of more than 200 characters is told by its branch."""
        return [urllib.parse.unquote(end) for end in self._ends()]

    def _ends(self, folder: str = RECORDS) -> List[str]:
        names = (branch["name"] for branch in self.repo.branches()["branches"])
        return [name[len(folder) :] for name in names if name.startswith(folder)]

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        """What channels that are kept as changes are made from, at a checkpoint."""
        with self._lock:
            thread, kept = self._found(config)
            if kept is None:
                return {channel: {"writes": []} for channel in channels}
            history = {}
            for channel, (seed, writes, _) in thread.changes(kept.ns, kept.parent, channels).items():
                made = [(task, channel, self.serde.loads_typed((kind, data))) for task, kind, data in writes]
                history[channel] = {"writes": made}
                if seed is not None:
                    history[channel]["seed"] = read(self.serde, thread, seed)
            return history

    # What goes.

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread. `Repo.undo` brings it back; after `tract gc --expire now` its bytes are gone."""
        end = branch_end(thread_id)
        with self._lock:
            self._threads.pop(end, None)
            self.repo.move([{"branch": folder + end} for folder in (RECORDS, TALK, UNDONE)], what="delete_thread")

    def _drop(self, end: str, chosen: Callable[["_Thread"], Iterable[Tuple[str, str]]], what: str) -> None:
        """Takes checkpoints out of a thread: its log is written anew without them, and its branches go there.

        The conversation goes back to where it was at the newest checkpoint that stays.
        """

        def deed() -> None:
            thread = self._thread(end)
            gone = set(chosen(thread))
            stay = thread.kept.keys() - gone
            moves: List[Any] = []
            records: List[Dict[str, Any]] = []
            is_less = bool(gone) or thread.has_dropped
            if is_less or what == "prune":
                records = thread.without(stay, *self._detached(thread, stay))
            if is_less or len(records) < len(thread.before) and what == "prune":
                tip = None
                if records:
                    blocks = [{"role": "user", "content": [{"type": _BLOCK, **record}]} for record in records]
                    tip = self.repo.at(RECORDS + end).commit(batch=blocks, after="none")["commits"][-1]["hash"]
                moves.append({"branch": RECORDS + end, "to": tip, "expect": thread.tip or "none"})
                of_root = [kept for kept in (thread.kept[key] for key in stay) if kept.ns == ""]
                last = max(of_root, key=lambda kept: kept.at).tip if of_root else None
                if last != thread.said_tip:
                    moves.append({"branch": TALK + end, "to": self._there(last)})
            # What an undo went back from is no future any more, if any of it is to go.
            undone = tip_of(self.repo.at(UNDONE + end))
            if undone is not None and (moves or what == "prune" or chosen(_taken(_Thread(), self._log(undone)))):
                moves.append({"branch": UNDONE + end, "expect": undone})
            if moves:
                self.repo.move(moves, what=what)
                self._threads.pop(end, None)

        with self._lock:
            anew(deed)

    def _there(self, commit: Optional[str]) -> Optional[str]:
        """A commit of the conversation, if no collection has taken it. None: the next checkpoint says all anew."""
        try:
            return self.repo.show(commit)["commit"]["hash"] if commit is not None else None
        except TractError as error:
            if error.kind != "unknown_revision":
                raise
            return None

    def _detached(
        self, thread: "_Thread", stay: Set[Tuple[str, str]]
    ) -> Tuple[Dict[Tuple[str, str], Dict[str, Value]], Dict[Tuple[str, str], Set[str]]]:
        """What checkpoints that stay need of those that go, where channels are kept as changes.

        The messages of a conversation are known whole, and stay so; of other channels stays what they are made from.
        """
        whole: Dict[Tuple[str, str], Dict[str, Value]] = {}
        grounds: Dict[Tuple[str, str], Set[str]] = {}
        for kept in sorted((thread.kept[key] for key in stay), key=lambda kept: kept.at):
            counted = self._meta(kept, False).get("counters_since_delta_snapshot") or {}
            channels = [channel for channel in counted if channel not in kept.channels]
            for channel, (_, _, ids) in thread.changes(kept.ns, kept.parent, channels).items():
                path = [(kept.ns, id) for id in ids]
                has = itertools.takewhile(lambda key: channel not in whole.get(key, {}), path)
                gone = [key for key in has if key not in stay]
                if not gone:
                    continue
                if kept.ns == "" and channel == self.messages:
                    messages = self._messages(thread, kept.parent, None)
                    whole[kept.ns, kept.id] = {channel: Value(*self.serde.dumps_typed(_wrapped(messages)))}
                else:
                    for key in gone:
                        grounds.setdefault(key, set()).add(channel)
        return whole, grounds

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs, and what their tasks wrote; as `prune`."""
        runs = set(run_ids)

        def chosen(thread: "_Thread") -> List[Tuple[str, str]]:
            return [key for key, kept in thread.kept.items() if self._meta(kept, False).get("run_id") in runs]

        for end in sorted({*self._ends(), *self._ends(UNDONE)}):
            self._drop(end, chosen, "delete_for_runs")

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread: its copy shares all that it has with it."""
        source, target = branch_end(source_thread_id), branch_end(target_thread_id)

        def deed() -> None:
            moves: List[Any] = []
            for folder in (RECORDS, TALK):
                tip = tip_of(self.repo.at(folder + source))
                # The source is only looked at: its two branches are of the same moment.
                moves.append({"branch": folder + source, "to": tip, "expect": tip or "none"})
                moves.append({"branch": folder + target, "to": tip, "expect": "none"})
            if moves[0]["to"] is None:
                return
            if any(tip_of(self.repo.at(folder + target)) for folder in (RECORDS, TALK)):
                hint = "delete_thread deletes it"
                raise TractError("refused", f"there is a thread {target_thread_id} already", hint)
            self.repo.move(moves, what="copy_thread")

        with self._lock:
            anew(deed)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keeps only the newest checkpoint of each namespace, or none (`delete`).

        The thread's log is written anew without the others, and without what an `undo` went back from. `Repo.undo` brings
        all of it back; after `tract gc --expire now` its bytes are gone, unless a copy of the thread, a tag or another
        branch leads to them. Where messages are kept as changes, the newest checkpoint gets them whole, by LangGraph's rules of messages; other
        channels keep the changes that they are made from.
        """
        if strategy not in ("keep_latest", "delete"):
            raise TractError("invalid_params", f"no strategy '{strategy}'", "keep_latest or delete", 2)

        def chosen(thread: "_Thread") -> List[Tuple[str, str]]:
            newest = {ns: thread.newest(ns) for ns, _ in thread.kept}
            return [key for key, kept in thread.kept.items() if kept is not newest[kept.ns]]

        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._drop(branch_end(thread_id), chosen, "prune")

    # What others have not.

    def commit_of(self, config: RunnableConfig) -> Optional[str]:
        """The commit of the conversation at a checkpoint: a revision for all methods of the repository."""
        with self._lock:
            kept = self._found(config)[1]
            return kept.tip if kept is not None else None

    def diff(self, one: RunnableConfig, other: RunnableConfig) -> types.DiffAnswer:
        """What the conversations at two checkpoints differ in."""
        commits = [self.commit_of(config) for config in (one, other)]
        if None in commits:
            raise TractError("refused", "a checkpoint without a conversation has nothing to compare")
        return self.repo.diff(commits[0], commits[1])

    def undo(self, thread_id: str, turns: int = 1) -> Optional[RunnableConfig]:
        """Takes the last turns of a thread back, from the input on. Gives what is the newest checkpoint now, if any."""
        end = branch_end(thread_id)

        def deed() -> Thread:
            thread = self._thread(end)
            of_root = [kept for (ns, _), kept in thread.kept.items() if ns == ""]
            inputs = [kept for kept in of_root if self._meta(kept, False).get("source") == "input"]
            if turns < 1 or len(inputs) < turns:
                raise TractError("refused", f"the thread has {len(inputs)} turns", facts={"turns": len(inputs)})
            first = sorted(inputs, key=lambda kept: kept.at)[-turns]
            # What was said may stand at the checkpoint before, by a task of its own.
            at = thread.begun.get(("", first.parent or "", _input_task(first.parent)), first.at)
            return self._go(end, thread, thread.commit_before(min(first.at, at)), undone=thread.tip)

        with self._lock:
            newest = anew(deed).newest("")
        return self._config(thread_id, newest) if newest is not None else None

    def redo(self, thread_id: str) -> RunnableConfig:
        """Takes the last `undo` of a thread back, unless the thread has gone on since."""
        end = branch_end(thread_id)

        def deed() -> Thread:
            thread = self._thread(end)
            undone = tip_of(self.repo.at(UNDONE + end))
            read = [message["id"] for message in self._log(undone)] if undone else []
            if len(read) <= len(thread.read) or read[: len(thread.read)] != thread.read:
                raise TractError("refused", "there is nothing to redo", "the thread has gone on since")
            return self._go(end, thread, undone, undone=None)

        with self._lock:
            newest = anew(deed).newest("")
        assert newest is not None
        return self._config(thread_id, newest)

    def _go(self, end: str, thread: Thread, to: Optional[str], undone: Optional[str]) -> Thread:
        """Moves the branches of a thread to where its log ended so, if it has not gone on. Gives it as it is there."""
        there = _taken(_Thread(), self._log(to)) if to is not None else _Thread()
        moves: List[Any] = [
            {"branch": RECORDS + end, "to": to, "expect": thread.tip or "none"},
            {"branch": TALK + end, "to": self._there(there.said_tip)},
            # What is done again must be what was undone last.
            {"branch": UNDONE + end, "to": undone, **({} if undone else {"expect": to or "none"})},
        ]
        self.repo.move(moves, what="undo of a thread" if undone else "redo of a thread")
        return self._hold(end, there)

    def _config(self, thread_id: str, kept: Kept) -> RunnableConfig:
        place = {"thread_id": str(thread_id), "checkpoint_ns": kept.ns, "checkpoint_id": kept.id}
        return {"configurable": place}

    # The same for asyncio.

    async def aget_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Optional[RunnableConfig], **options: Any) -> AsyncIterator[CheckpointTuple]:
        listed = self.list(config, **options)
        while (found := await asyncio.to_thread(next, listed, None)) is not None:
            yield found

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        return await asyncio.to_thread(self.get_delta_channel_history, config=config, channels=channels)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await settled(asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await settled(asyncio.to_thread(self.put_writes, config, writes, task_id, task_path))

    async def adelete_thread(self, thread_id: str) -> None:
        await settled(asyncio.to_thread(self.delete_thread, thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await settled(asyncio.to_thread(self.delete_for_runs, run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await settled(asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await settled(asyncio.to_thread(self.prune, thread_ids, strategy=strategy))


def branch_ref(branch: str) -> str:
    """A branch as a revision that means nothing else."""
    return f"refs/heads/{branch}"


class _Thread(Thread):
    """A thread's log, and what its saver knows beside it."""

    def __init__(self) -> None:
        super().__init__()
        # Where the branch of the conversation is, and whether commits of it were found missing.
        self.talk: Any = _UNKNOWN
        self.is_lost = False
        # A checkpoint, its messages, and how often the conversation had changed when they were said.
        self.id: Optional[str] = None
        self.messages: List[Any] = []
        self.spoken = -1


class _Talk(NamedTuple):
    """A conversation that is not on its branch yet: its messages, the commit behind which the new ones come, these, and what the
    record says of them. A message whose commit is not known yet stands there as true."""

    messages: List[Any]
    after: Optional[str]
    given: List[Dict[str, Any]]
    say: Dict[str, Any]


class _Draft:
    """A record, the conversation that goes along, and the values that are new, whole."""

    __slots__ = ("record", "talk", "new", "is_taken")

    def __init__(self, record: Dict[str, Any], talk: Optional[_Talk], new: List[Tuple[Blob, Value]]) -> None:
        self.record, self.talk, self.new, self.is_taken = record, talk, new, False

    def take_into(self, thread: Thread) -> None:
        """Takes the record into a thread, once."""
        if not self.is_taken:
            self.is_taken = True
            for number, (_, value) in enumerate(self.new, len(thread.blobs)):
                thread.keep(number, value)
            thread.take(self.record)


_Make = Callable[[_Thread], Optional[_Draft]]


class _Ask:
    """A record that somebody waits for."""

    __slots__ = ("make", "is_done", "done", "error")

    def __init__(self, make: _Make) -> None:
        self.make, self.is_done = make, False
        # It is released when the record is there, or refused.
        self.done = threading.Lock()
        self.done.acquire()
        self.error: Optional[Exception] = None


def _taken(thread: _Thread, messages: Iterable[types.ContextMessage]) -> _Thread:
    """A thread with the records of these messages."""
    for message in messages:
        for record in _records(message):
            thread.take(record)
        thread.ended(message["id"])
    return thread


def _name(record: Dict[str, Any], commits: Iterable[str]) -> None:
    """Puts the commits in that the record's messages have."""
    left = iter(commits)
    for said in record.get("say", {}).get("add", []):
        if said[1] is True:
            said[1] = next(left)


def _plain(value: Any) -> Any:
    """A copy of a value of which JSON says the same as msgpack.

    Raises `TypeError` or `ValueError` where there is none.
    """
    kind = type(value)
    if kind is dict:
        if not all(type(key) is str for key in value):
            raise TypeError
        return {_plain(key): _plain(one) for key, one in value.items()}
    if kind is list:
        return [_plain(one) for one in value]
    if kind is str:
        if not value.isascii():
            # Half a surrogate pair has no bytes.
            value.encode()
    elif kind is int:
        if not -(1 << 63) <= value < 1 << 64:
            raise ValueError
    elif kind is float:
        if not math.isfinite(value):
            raise ValueError
    elif value is not None and kind is not bool:
        raise TypeError
    return value


def _input_task(checkpoint: Optional[str]) -> str:
    """The task under which LangGraph keeps, at a checkpoint, what the next run was given."""
    try:
        return str(uuid.uuid5(uuid.UUID(checkpoint or ""), "__input__"))
    except ValueError:
        return ""


def _in_common(one: Sequence[Any], other: Sequence[Any], most: int) -> int:
    """How many members two lists begin with in common, the very same ones."""
    pairs = itertools.islice(zip(one, other), most)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] is pair[1], pairs))


def _unwrapped(value: Any) -> Any:
    return value.value if _Snapshot is not None and isinstance(value, _Snapshot) else value


def _wrapped(value: Any) -> Any:
    """A value as a channel of changes takes it whole."""
    return value if _Snapshot is None else _Snapshot(value)


def _folded(messages: List[Any], changes: Iterable[Any]) -> List[Any]:
    """Messages after what was written to their channel, by LangGraph's rules: one with the id of another replaces it."""
    made = {getattr(message, "id", None) or object(): message for message in messages}
    for change in changes:
        if isinstance(change, dict) and "__overwrite__" in (change.get("type"), *change):
            made, change = {}, change.get("__overwrite__", change.get("value"))
        elif type(change).__name__ == "Overwrite":
            made, change = {}, change.value
        for message in convert_to_messages(change if isinstance(change, list) else [change] if change else []):
            if not isinstance(message, RemoveMessage):
                made[message.id or object()] = message
            elif message.id == "__remove_all__":
                made = {}
            else:
                made.pop(message.id, None)
    return list(made.values())


def _records(message: types.ContextMessage) -> List[Dict[str, Any]]:
    """The records in a message."""
    records: List[Dict[str, Any]] = []
    for part in message["message"].get("parts", []):
        if part.get("type") == "opaque":
            block = json.loads(part["data"])
            if block.get("type") == _BLOCK:
                records.append(block)
            elif block.get("type") == _MADE and records:
                _name(records[-1], block["commits"])
    return records


# Blocks of a message that LangChain itself writes as OpenAI's chat has them.
_PLAIN = ("text", "image_url")


def _medium(block: Dict[str, Any]) -> Optional[Dict[str, Any]]:
    """A picture or a file in a standard block, in any of its forms, as a piece that OpenAI's chat takes."""
    kind, media = block["type"], str(block.get("mime_type") or "")
    named = block.get("source_type")
    held = block.get("base64") or (block.get("data") if named == "base64" else None)
    url = block.get("url") or (f"data:{media};base64,{held}" if held else None)
    if kind == "image" and url:
        return {"type": "image_url", "image_url": {"url": url}}
    if held or (url and kind == "file"):
        default = "document.pdf" if media == "application/pdf" else "file"
        name = block.get("filename") or (block.get("extras") or {}).get("filename") or default
        return {"type": "file", "file": {"filename": name, "file_data": url}}
    file = block.get("file_id") or (block.get("id") if named == "id" else None)
    return {"type": "file", "file": {"file_id": file}} if file else None


def _pieces(message: Any) -> Tuple[List[Any], str]:
    """What a message says in blocks, as pieces that OpenAI's chat takes, and what was thought beside. What it has no piece
    for stays what it is."""
    pieces: List[Any] = []
    thoughts: List[str] = []
    for block in message.content:
        block = {"type": "text", "text": block} if isinstance(block, str) else block
        kind = block.get("type")
        if kind in ("reasoning", "thinking"):
            words = block.get("reasoning") or block.get("thinking")
            words = words or "\n".join(str(one.get("text", "")) for one in block.get("summary") or [])
            thoughts += [words] if words else []
        elif kind in ("text", "text-plain") and block.get("text"):
            pieces.append({"type": "text", "text": block["text"]})
        elif kind in ("tool_use", "tool_call", "tool_call_chunk", "function_call", "input_json_delta", "invalid_tool_call"):
            # It stands among the calls as well.
            pieces += [] if getattr(message, "tool_calls", None) else [block]
        elif kind in ("image", "file", "audio", "video", "text-plain"):
            pieces.append(_medium(block) or block)
        elif kind != "text":
            pieces.append(block)
    return pieces, "\n".join(thoughts)


def _as_openai(message: Any) -> Dict[str, Any]:
    """A message as OpenAI's chat has it."""
    content = message.content
    blocks = content if isinstance(content, list) else []
    if all(isinstance(block, str) or block.get("type") in _PLAIN for block in blocks):
        return dict(convert_to_openai_messages(message))
    pieces, thoughts = _pieces(message)
    bare = dict(convert_to_openai_messages(message.model_copy(update={"content": ""})))
    said = {**bare, "content": pieces}
    if thoughts and bare.get("role") == "assistant":
        said["reasoning_content"] = thoughts
    return said


# What was written to a cache: in all, or by how long it is kept.
_WRITTEN = ("cache_creation", "ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")


def _details(usage: Any, name: str) -> Dict[str, int]:
    """The counts of a part of `UsageMetadata`, without the tier's name that stands in front of them for OpenAI's."""
    details = usage.get(name) or {}
    return {key.removeprefix("flex_").removeprefix("priority_"): count for key, count in details.items() if count}


def _spoken(message: Any) -> Tuple[str, Optional[Dict[str, Any]]]:
    """What a message is known by, and the message as OpenAI writes it; none: it says nothing that is kept."""
    try:
        said: Any = _as_openai(message)
        beside = message.additional_kwargs.get("reasoning_content") if isinstance(message, AIMessage) else None
        if beside and isinstance(beside, str):
            said.setdefault("reasoning_content", beside)
    except (AttributeError, TypeError, ValueError, KeyError):
        said = None
    if not isinstance(said, dict) or not (
        said.get("content") or said.get("tool_calls") or said.get("tool_call_id") or said.get("reasoning_content")
    ):
        return "", None
    known = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[:24]
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    if usage:
        sent, made = _details(usage, "input_token_details"), _details(usage, "output_token_details")
        written = sum(sent.get(name, 0) for name in _WRITTEN)
        sent, made = _details(usage, "input_token_details"), _details(usage, "output_token_details")
        counted: Dict[str, Any] = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
        if sent:
            written = sum(sent.get(name, 0) for name in _WRITTEN)
            cached = {"cached_tokens": sent.get("cache_read", 0), "cache_write_tokens": written}
            counted["prompt_tokens_details"] = {name: count for name, count in cached.items() if count}
        if "reasoning" in made:
            counted["completion_tokens_details"] = {"reasoning_tokens": made["reasoning"]}
        model = message.response_metadata.get("model_name") or message.response_metadata.get("model")
        said = {"object": "chat.completion", "choices": [{"index": 0, "message": said}], "usage": counted}
        if model:
            said["model"] = model
    return known, said
