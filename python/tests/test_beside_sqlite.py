"""The checkpointer beside LangGraph's own for SQLite: whatever a graph or a program asks, both say the same."""

import asyncio
import contextlib
import itertools
import operator
import os
import random
import time
import uuid
from typing import Annotated, TypedDict

import pytest

import tract

pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
aio = pytest.importorskip("langgraph.checkpoint.sqlite.aio", reason="its part for asyncio is not there")
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage  # noqa: E402
from langgraph.checkpoint.base import empty_checkpoint  # noqa: E402
from langgraph.graph import START, StateGraph  # noqa: E402
from langgraph.graph.message import add_messages  # noqa: E402
from langgraph.types import Command, interrupt  # noqa: E402

from tract.langgraph import TractSaver  # noqa: E402

SEED = int(os.environ.get("PROPTEST_RNG_SEED") or time.time())
# A sixteenth of the cases, unless told otherwise: as TRACT_LAWS is for the program's laws.
SHARE = eval(os.environ.get("TRACT_LAWS", "1/16"), {})  # noqa: S307


def cases(count):
    return [SEED * 1000 + at for at in range(max(2, int(count * SHARE)))]


class Both:
    """Both savers. Ours may be called as asyncio does, and by a process that has just begun."""

    def __init__(self, chance, folder, theirs):
        self.chance, self.folder, self.theirs = chance, folder, theirs
        self.repo = tract.init(folder)
        self.ours = TractSaver(self.repo)

    def crash(self):
        if self.chance.random() < 0.5:
            self.repo.close()
            self.repo = tract.open(self.folder)
        self.ours = TractSaver(self.repo)

    def do(self, name, *args, **options):
        getattr(self.theirs, name)(*args, **options)
        if self.chance.random() < 0.3:
            asyncio.run(getattr(self.ours, "a" + name)(*args, **options))
        else:
            getattr(self.ours, name)(*args, **options)

    def same(self, name, *args, **options):
        theirs, ours = (getattr(saver, name)(*args, **options) for saver in (self.theirs, self.ours))
        if name == "list":
            theirs, ours = list(theirs), list(ours)
        assert told(ours) == told(theirs), (SEED, name, args, options)
        return theirs


def told(answer):
    if isinstance(answer, list):
        return [told(one) for one in answer]
    if answer is None or isinstance(answer, dict):
        return answer
    place = {key: answer.config["configurable"][key] for key in ("thread_id", "checkpoint_ns", "checkpoint_id")}
    return {**answer._asdict(), "config": place}


CHANNELS = ["messages", "count", "plan", "branch:to:x"]


class Places:
    """The checkpoints of a thread, and those that its tasks have written to already, though they are not there yet."""

    def __init__(self):
        self.there, self.coming = {}, []


def value(chance, channel):
    if channel == "messages":
        return [HumanMessage("word " * chance.randrange(9), id=str(n)) for n in range(chance.randrange(4))]
    return chance.choice([None, 0, "text", b"\x00\xff", {"a": [1, 2.5, None]}, [chance.randrange(9) for _ in range(chance.randrange(40))]])


def planned(chance, places, ns):
    """A checkpoint that follows one that is there."""
    known = [one for one in places.there.values() if one[1] == ns]
    checkpoint, parent = empty_checkpoint(), None
    if known:
        parent = chance.choice(known) if chance.random() < 0.3 else known[-1]
        for part in ("channel_values", "channel_versions"):
            checkpoint[part] = dict(parent[0][part])
    new = {}
    for channel in chance.sample(CHANNELS, chance.randint(1, 3)):
        new[channel] = checkpoint["channel_versions"].get(channel, 0) + 1
        checkpoint["channel_versions"][channel] = new[channel]
        checkpoint["channel_values"].pop(channel, None)
        if chance.random() < 0.8:
            checkpoint["channel_values"][channel] = value(chance, channel)
    return checkpoint, ns, parent[0]["id"] if parent else None, new


def place(thread, ns, id=None):
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ns, **({"checkpoint_id": id} if id else {})}}


@pytest.mark.parametrize("seed", cases(64))
def test_a_program_sees_the_same(tmp_path, seed):
    chance = random.Random(seed)
    with sqlite.SqliteSaver.from_conn_string(str(tmp_path / "theirs.db")) as theirs:
        both = Both(chance, tmp_path / "ours", theirs)
        threads = {name: Places() for name in ("a", "b/ü")}
        for step in range(50):
            name = chance.choice([*threads])
            places, ns = threads[name], chance.choice(["", "", "inner:1"])
            deed = chance.choices(["plan", "put", "write", "get", "list", "delete", "crash"], [4, 6, 8, 4, 2, 0.3, 1])[0]
            if deed == "plan":
                places.coming.append(planned(chance, places, ns))
            elif deed == "put":
                coming = places.coming.pop(0) if places.coming else planned(chance, places, ns)
                checkpoint, ns, parent, new = coming
                meta = {"source": chance.choice(["input", "loop"]), "step": step, "parents": {}, "who": chance.randrange(3)}
                both.do("put", place(name, ns, parent), checkpoint, meta, new)
                places.there[checkpoint["id"]] = coming
            elif deed == "write" and (places.there or places.coming):
                checkpoint, ns, _, _ = chance.choice([*places.there.values(), *places.coming])
                special = chance.random() < 0.3
                names = ["__interrupt__", "__error__", "__resume__"] if special else CHANNELS
                writes = [(channel, value(chance, channel)) for channel in chance.sample(names, chance.randint(1, 3))]
                task = str(uuid.UUID(int=chance.randrange(3)))
                both.do("put_writes", place(name, ns, checkpoint["id"]), writes, task, chance.choice(["", "~a", "~b"]))
            elif deed == "delete":
                both.do("delete_thread", name)
                threads[name] = Places()
            elif deed == "crash":
                both.crash()
            elif deed == "list":
                options = {"filter": {"who": 1}} if chance.random() < 0.5 else {}
                if chance.random() < 0.5:
                    options["limit"] = chance.randrange(1, 4)
                if places.there and chance.random() < 0.5:
                    options["before"] = place(name, ns, chance.choice([*places.there]))
                both.same("list", place(name, ns), **options)
            for id in [None, *chance.sample([*places.there], min(2, len(places.there)))]:
                both.same("get_tuple", place(name, ns, id))
                # Of what is changes they give what is there, whatever the channel is.
                asked = {"config": place(name, ns, id), "channels": ["messages", "plan"]}
                both.same("get_delta_channel_history", **asked)
        for name in threads:
            for ns in ("", "inner:1"):
                both.same("list", place(name, ns))


def graph(chance, changes):
    """A graph of a few layers of nodes side by side, with what becomes of each. It says how often each has run."""
    messages = add_messages
    if changes:
        delta = pytest.importorskip("langgraph.channels.delta", reason="this LangGraph keeps no channel as changes")

        def folded(state, writes):
            return add_messages(state or [], [one for write in writes for one in write])

        messages = delta.DeltaChannel(folded, snapshot_frequency=chance.choice([2, 3, 1000]))
    State = TypedDict("State", {"messages": Annotated[list, messages], "count": Annotated[int, operator.add]})
    layers, fate = [], {}
    for depth in range(chance.randint(1, 4)):
        layers.append([f"n{depth}{side}" for side in range(chance.randint(1, 3))])
        for name in layers[-1]:
            fate[name] = chance.choices(["says", "fails", "asks", "removes"], [6, 2, 2, 1])[0]
            # Which of two failures is the first is chance, and two may not take out one message.
            if fate[name] in {"fails", "removes"} & {fate[one] for one in layers[-1] if one != name and one in fate}:
                fate[name] = "says"

    def built(saver):
        ran, failed = {}, set()

        def node(name):
            def run(state):
                ran[name] = ran.get(name, 0) + 1
                turn = sum(message.type == "human" for message in state["messages"])
                if fate[name] == "fails" and (name, turn) not in failed:
                    # The others end before.
                    time.sleep(0.15)
                    failed.add((name, turn))
                    raise RuntimeError(name)
                if fate[name] == "asks":
                    return {"messages": [AIMessage(interrupt(f"{name}?"), id=f"{name}-{turn}")], "count": 1}
                if fate[name] == "removes" and len(state["messages"]) > 2:
                    return {"messages": [RemoveMessage(state["messages"][0].id)], "count": 1}
                return {"messages": [AIMessage(f"{name} says", id=f"{name}-{turn}")], "count": 1}

            return run

        builder = StateGraph(State)
        for name in fate:
            builder.add_node(name, node(name))
        # No edge has several beginnings: LangGraph's channel for it (NamedBarrierValue) gives out its own set, which the next
        # step may change before a saver in the background has written it.
        for before, after in zip([[START], *layers], layers):
            for one, other in itertools.product(before, after):
                builder.add_edge(one, other)
        return builder.compile(checkpointer=saver), ran

    return built


async def by_loop(made, what, config, how, theirs):
    """Goes on with a graph in asyncio, for which LangGraph has another saver of the same file."""
    if theirs is None:
        return await made.ainvoke(what, config, **how)
    saver = made.checkpointer
    async with aio.AsyncSqliteSaver.from_conn_string(str(theirs / "theirs.db")) as made.checkpointer:
        try:
            return await made.ainvoke(what, config, **how)
        finally:
            made.checkpointer = saver


def seen(made, config):
    """What a graph shows of its thread."""

    def shown(state):
        asked = sorted(one.value for task in state.tasks for one in task.interrupts)
        meta = {key: (state.metadata or {}).get(key) for key in ("source", "step")}
        errors = sorted(str(task.error) for task in state.tasks if task.error)
        return state.values, sorted(state.next), asked, meta, errors

    return [shown(made.get_state(config)), *(shown(state) for state in made.get_state_history(config))]


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("seed", cases(32))
def test_a_graph_sees_the_same(tmp_path, seed, changes):
    chance = random.Random(seed)
    built = graph(chance, changes)
    config = {"configurable": {"thread_id": "t"}}
    with sqlite.SqliteSaver.from_conn_string(str(tmp_path / "theirs.db")) as theirs:
        repo = tract.init(tmp_path / "ours")
        ours = TractSaver(repo)
        (one, one_ran), (other, other_ran) = built(theirs), built(ours)
        turn, given = 0, None
        for _ in range(10):
            state = one.get_state(config)
            if any(task.interrupts for task in state.tasks):
                ids = [(asked.value, asked.id) for task in state.tasks for asked in task.interrupts]
                given = [Command(resume={id: f"answer to {value}" for value, id in ids})]
                asked = [(it.value, it.id) for task in other.get_state(config).tasks for it in task.interrupts]
                given.append(Command(resume={id: f"answer to {value}" for value, id in asked}))
            elif state.next:
                given = [None, None]
            else:
                turn += 1
                said = {"messages": [HumanMessage(f"turn {turn}", id=f"h{turn}")], "count": 0}
                given = [said, said]
            how = {"durability": chance.choice(["sync", "async", "exit"])}
            by_asyncio = chance.random() < 0.4
            if chance.random() < 0.4:
                # Whoever goes on may be another process.
                other.checkpointer = TractSaver(repo)
            for made, what in zip((one, other), given):
                with contextlib.suppress(RuntimeError):
                    if by_asyncio:
                        asyncio.run(by_loop(made, what, config, how, tmp_path if made is one else None))
                    else:
                        made.invoke(what, config, **how)
            assert seen(other, config) == seen(one, config), (SEED, seed)
            assert other_ran == one_ran, (SEED, seed)
        # What was said at the newest checkpoint is the conversation.
        state = other.get_state(other.get_state(config).config)
        talk = [message["message"]["parts"][0]["text"] for message in repo.at("langgraph/t").context()["messages"]]
        assert talk == [message.content for message in state.values["messages"]], (SEED, seed)
        assert not repo.fsck()["is_damaged"]
