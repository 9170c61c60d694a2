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
import hashlib
import json
import threading
import urllib.parse
from typing import Any, AsyncIterator, Dict, Iterator, List, Optional, Sequence, Tuple

from langchain_core.messages import AIMessage, convert_to_openai_messages
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
    writes_sort_key,
)

from . import types
from ._blocks import branch_end
from ._errors import TractError
from ._records import Blob, Kept, Thread, head_of, packed
from ._repo import Repo

__all__ = ["TractSaver"]

TALK = "langgraph/"
RECORDS = "langgraph-records/"
UNDONE = "langgraph-undone/"
_BLOCK = "langgraph"
# How many threads are held in memory, and how often a record is written again when somebody else was first.
_HELD = 64
_TRIES = 20


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
        self._threads: Dict[str, Thread] = {}

    # What is kept.

    def _thread(self, thread_id: Any) -> Thread:
        """A thread's log as it is now: what others have written since is read."""
        name = branch_end(thread_id)
        thread = self._threads.pop(name, None) or Thread()
        known = len(thread.read)
        log = self._log(RECORDS + name, max(known, 1))
        if log is None:
            thread = Thread()
        else:
            messages = log["messages"]
            if known and not (messages and messages[0]["number"] == known and messages[0]["id"] == thread.tip):
                # It was taken back, or is another one.
                thread, known = Thread(), 0
                messages = (self._log(RECORDS + name, 1) or {"messages": []})["messages"]
            for message in messages[1 if known else 0 :]:
                thread.take(message["id"], _record(message))
        self._threads[name] = thread
        while len(self._threads) > _HELD:
            self._threads.pop(next(iter(self._threads)))
        return thread

    def _log(self, branch: str, start: int) -> Optional[types.ContextAnswer]:
        try:
            return self.repo.context(branch_ref(branch), from_=start)
        except TractError as error:
            if error.kind in ("unknown_revision", "empty_branch"):
                return None
            raise

    def _write(self, thread_id: Any, make: Any) -> None:
        """Adds a record that `make` makes of the thread as it is."""
        at = self.repo.at(RECORDS + branch_end(thread_id))
        for _ in range(_TRIES):
            thread = self._thread(thread_id)
            record = make(thread)
            if record is None:
                return
            block = {"type": _BLOCK, **record}
            try:
                made = at.commit(
                    message={"role": "user", "content": [block]}, expect=thread.tip or "none"
                )
            except TractError as error:
                if error.kind != "ref_moved":
                    raise
                continue
            thread.take(made["commits"][0]["hash"], record)
            return
        raise TractError("busy", f"others write to the thread {thread_id} all the time", "try again", 4)

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
        versions = checkpoint["channel_versions"]
        say: Optional[Dict[str, Any]] = None

        def make(thread: Thread) -> Dict[str, Any]:
            nonlocal say
            parent = thread.kept.get((ns, place.get("checkpoint_id") or ""))
            near = parent or thread.newest(ns)
            former = self._core(parent)["channel_versions"] if parent is not None else {}
            numbers: Dict[str, int] = {}
            new: List[Blob] = []
            whole: Dict[int, bytes] = {}
            for channel, value in checkpoint["channel_values"].items():
                before = near.channels.get(channel) if near is not None else None
                version = versions.get(channel)
                is_old = parent is not None and channel not in new_versions and version is not None
                if is_old and before is not None and former.get(channel) == version:
                    numbers[channel] = before
                    continue
                kind, data = self.serde.dumps_typed(value)
                old = None
                if before is not None:
                    old_kind, old_data = thread.value(before)
                    if (old_kind, old_data) == (kind, data):
                        numbers[channel] = before
                        continue
                    old = (before, old_data) if old_kind == kind == "msgpack" else None
                numbers[channel] = len(thread.blobs) + len(new)
                whole[numbers[channel]] = data
                new.append(Blob.of(kind, data, old))
            if say is None and ns == "" and self.messages in numbers:
                number = numbers[self.messages]
                blob = new[number - len(thread.blobs)] if number >= len(thread.blobs) else None
                say = self._said(thread_id, thread, checkpoint["channel_values"][self.messages], number, blob)
            thread.whole.update(whole)
            record = {"op": "put", "ns": ns, "id": checkpoint["id"], "ch": numbers}
            if place.get("checkpoint_id"):
                record["parent"] = place["checkpoint_id"]
            for name, what in (("core", core), ("meta", meta)):
                kind, data = self.serde.dumps_typed(what)
                record[name] = [kind, packed(data)]
            if new:
                record["new"] = [blob.json() for blob in new]
            if say:
                record["say"] = say
            return record

        with self._lock:
            self._write(thread_id, make)
        return {"configurable": {"thread_id": thread_id, "checkpoint_ns": ns, "checkpoint_id": checkpoint["id"]}}

    def _core(self, kept: Kept) -> Dict[str, Any]:
        return self.serde.loads_typed(kept.core)

    def _said(
        self, thread_id: str, thread: Thread, messages: Any, number: int, blob: Optional[Blob]
    ) -> Dict[str, Any]:
        """Brings the conversation to what the messages are; what of it is new, for the record. Empty: nothing is."""
        if number == thread.said_of or not isinstance(messages, list):
            return {}
        keep = 0
        if blob is not None and blob.base is not None and blob.base == thread.said_of:
            # What stands before did not change by a byte.
            whole = thread.value(blob.base)[1]
            if blob.tail == 0 and blob.keep == len(whole) - head_of(whole)[0]:
                keep = len(thread.said)
        known = [_spoken(message) for message in messages[keep:]]
        if keep == 0:
            texts = [text for text, _ in known]
            while keep < len(texts) and keep < len(thread.said) and texts[keep] == thread.said[keep][0]:
                keep += 1
            known = known[keep:]
        at = self.repo.at(TALK + branch_end(thread_id))
        if keep < len(thread.said):
            made = [commit for _, commit in thread.said[:keep] if commit is not None]
            gone = [commit for _, commit in thread.said[keep:] if commit is not None]
            if gone:
                at.reset(made[-1] if made else None)
        given = [message for _, message in known if message is not None]
        commits = iter(at.commit(messages=given)["commits"][: len(given)]) if given else iter(())
        add = [[text, next(commits)["hash"] if message is not None else None] for text, message in known]
        return {"of": number, "keep": keep, "add": add}

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[Tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Stores what a task has written."""
        place = config["configurable"]
        ns, id = place.get("checkpoint_ns", ""), str(place["checkpoint_id"])
        made = []
        for index, (channel, value) in enumerate(writes):
            kind, data = self.serde.dumps_typed(value)
            made.append([WRITES_IDX_MAP.get(channel, index), channel, kind, packed(data)])

        def make(thread: Thread) -> Optional[Dict[str, Any]]:
            known = thread.writes.get((ns, id), {})
            new = [one for one in made if one[0] < 0 or (task_id, one[0]) not in known]
            if not new:
                return None
            return {"op": "writes", "ns": ns, "id": id, "task": task_id, "path": task_path, "w": new}

        with self._lock:
            self._write(place["thread_id"], make)

    # What is read.

    def _tuple(self, thread_id: str, thread: Thread, kept: Kept) -> CheckpointTuple:
        def place(id: str) -> RunnableConfig:
            return {"configurable": {"thread_id": thread_id, "checkpoint_ns": kept.ns, "checkpoint_id": id}}

        values = {
            channel: self.serde.loads_typed(thread.value(number)) for channel, number in kept.channels.items()
        }
        writes = [
            (writes_sort_key(path, task, index), (task, channel, self.serde.loads_typed((kind, data))))
            for (task, index), (path, channel, kind, data) in thread.writes.get((kept.ns, kept.id), {}).items()
        ]
        writes.sort(key=lambda one: one[0])
        return CheckpointTuple(
            place(kept.id),
            {**self._core(kept), "channel_values": values},  # type: ignore[typeddict-item]
            self.serde.loads_typed(kept.meta),
            place(kept.parent) if kept.parent else None,
            [write for _, write in writes],
        )

    def get_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        """Gives a checkpoint; the newest of its thread, where none is named."""
        with self._lock:
            thread, kept = self._found(config)
            return self._tuple(str(config["configurable"]["thread_id"]), thread, kept) if kept else None

    def _found(self, config: RunnableConfig) -> Tuple[Thread, Optional[Kept]]:
        place = config["configurable"]
        thread, ns = self._thread(place["thread_id"]), place.get("checkpoint_ns", "")
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
            names = [str(place["thread_id"])] if "thread_id" in place else self.threads()
            found = []
            for name in names:
                thread = self._thread(name)
                for kept in thread.kept.values():
                    if ns not in (None, kept.ns) or id not in (None, kept.id) or (until and kept.id >= until):
                        continue
                    if filter:
                        meta = self.serde.loads_typed(kept.meta)
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
        names = (branch["name"] for branch in self.repo.branches()["branches"])
        return [urllib.parse.unquote(name[len(RECORDS) :]) for name in names if name.startswith(RECORDS)]

    # What goes.

    def delete_thread(self, thread_id: str) -> None:
        """Deletes a thread. `Repo.undo` brings its branches back; `tract gc` lets it go for good."""
        name = branch_end(thread_id)
        with self._lock:
            self._threads.pop(name, None)
            for folder in (RECORDS, TALK, UNDONE):
                self._forget(folder + name)

    def _forget(self, branch: str) -> None:
        try:
            self.repo.branch(branch, delete=True)
        except TractError as error:
            if self._log(branch, 1) is not None:
                raise error

    def _drop(self, thread_id: str, chosen: Any) -> None:
        def make(thread: Thread) -> Optional[Dict[str, Any]]:
            keys = chosen(thread)
            return {"op": "drop", "keys": keys} if keys else None

        with self._lock:
            self._write(thread_id, make)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Deletes the checkpoints of runs."""
        runs = set(run_ids)

        def chosen(thread: Thread) -> List[List[str]]:
            kept = thread.kept.values()
            return [[one.ns, one.id] for one in kept if self.serde.loads_typed(one.meta).get("run_id") in runs]

        for thread_id in self.threads():
            self._drop(thread_id, chosen)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copies a thread: its copy shares all that it has with it."""
        source, target = branch_end(source_thread_id), branch_end(target_thread_id)
        with self._lock:
            if self._log(RECORDS + source, 1) is None:
                return
            if self._log(RECORDS + target, 1) is not None:
                hint = "delete_thread deletes it"
                raise TractError("refused", f"there is a thread {target_thread_id} already", hint)
            for folder in (TALK, RECORDS):
                if self._log(folder + source, 1) is not None:
                    self.repo.branch(folder + target, branch_ref(folder + source))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keeps only the newest checkpoint of each namespace, or none (`delete`)."""
        if strategy not in ("keep_latest", "delete"):
            raise TractError("invalid_params", f"no strategy '{strategy}'", "keep_latest or delete", 2)

        def chosen(thread: Thread) -> List[List[str]]:
            stay = set()
            for ns in {ns for ns, _ in thread.kept}:
                one = thread.newest(ns)
                while one is not None:
                    stay.add((one.ns, one.id))
                    # What a channel of changes is made from stays, too.
                    counters = self.serde.loads_typed(one.meta).get("counters_since_delta_snapshot")
                    one = thread.kept.get((ns, one.parent or "")) if counters else None
            return [[ns, id] for ns, id in thread.kept if (ns, id) not in stay]

        for thread_id in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread_id)
            else:
                self._drop(thread_id, chosen)

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
        name = branch_end(thread_id)
        with self._lock:
            thread = self._thread(thread_id)
            of_root = [kept for (ns, _), kept in thread.kept.items() if ns == ""]
            inputs = [kept for kept in of_root if self.serde.loads_typed(kept.meta).get("source") == "input"]
            if turns < 1 or len(inputs) < turns:
                raise TractError("refused", f"the thread has {len(inputs)} turns", facts={"turns": len(inputs)})
            first = sorted(inputs, key=lambda kept: kept.at)[-turns]
            # What an undo took back before is no future any more.
            self._forget(UNDONE + name)
            self.repo.branch(UNDONE + name, branch_ref(RECORDS + name))
            self._go(thread_id, thread.read[: first.at])
            found = self.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
            return found.config if found else None

    def redo(self, thread_id: str) -> RunnableConfig:
        """Takes the last `undo` of a thread back, unless the thread has gone on since."""
        name = branch_end(thread_id)
        with self._lock:
            thread = self._thread(thread_id)
            undone = self._log(UNDONE + name, 1)
            commits = [message["id"] for message in undone["messages"]] if undone else []
            if not commits or commits[: len(thread.read)] != thread.read:
                raise TractError("refused", "there is nothing to redo", "the thread has gone on since")
            self._go(thread_id, commits)
            self._forget(UNDONE + name)
            found = self.get_tuple({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}})
            assert found is not None
            return found.config

    def _go(self, thread_id: str, read: List[str]) -> None:
        """Moves both branches of a thread to where the log ended so."""
        name = branch_end(thread_id)
        self.repo.at(RECORDS + name).reset(read[-1] if read else None)
        thread = self._thread(thread_id)
        tips = [commit for _, commit in thread.said if commit is not None]
        if self._log(TALK + name, 1) is not None or tips:
            self.repo.at(TALK + name).reset(tips[-1] if tips else None)

    # The same for asyncio.

    async def aget_tuple(self, config: RunnableConfig) -> Optional[CheckpointTuple]:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: Optional[RunnableConfig], **options: Any) -> AsyncIterator[CheckpointTuple]:
        listed = self.list(config, **options)
        while (found := await asyncio.to_thread(next, listed, None)) is not None:
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[Tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await asyncio.to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await asyncio.to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await asyncio.to_thread(self.prune, thread_ids, strategy=strategy)


def branch_ref(branch: str) -> str:
    """A branch as a revision that means nothing else."""
    return f"refs/heads/{branch}"


def _record(message: types.ContextMessage) -> Dict[str, Any]:
    """The record in a message; one that is none says nothing."""
    for part in message["message"].get("parts", []):
        if part.get("type") == "opaque":
            block = json.loads(part["data"])
            if block.get("type") == _BLOCK:
                return block
    return {}


def _spoken(message: Any) -> Tuple[str, Optional[Dict[str, Any]]]:
    """What a message is known by, and the message as OpenAI writes it; none: it says nothing that is kept."""
    try:
        said = convert_to_openai_messages(message)
    except (TypeError, ValueError, KeyError):
        said = None
    if not isinstance(said, dict) or not (said.get("content") or said.get("tool_calls") or said.get("tool_call_id")):
        return "", None
    known = hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[:24]
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    if usage:
        counted = {"prompt_tokens": usage["input_tokens"], "completion_tokens": usage["output_tokens"]}
        cached = (usage.get("input_token_details") or {}).get("cache_read")
        if cached:
            counted["prompt_tokens_details"] = {"cached_tokens": cached}
        model = message.response_metadata.get("model_name") or message.response_metadata.get("model")
        said = {"object": "chat.completion", "choices": [{"index": 0, "message": said}], "usage": counted}
        if model:
            said["model"] = model
    return known, said
