"""Lists of messages are written as LangGraph's serializer writes them, whatever happened to them in place."""

import copy
import os
import random
import time
from typing import Annotated, TypedDict

import pytest

import tract

pytest.importorskip("langgraph.checkpoint.base", reason="langgraph-checkpoint is not installed")
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.base import empty_checkpoint  # noqa: E402
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: E402

from tract._members import read, written  # noqa: E402
from tract._records import Blob, Thread  # noqa: E402
from tract.langgraph import TractSaver  # noqa: E402

SEED = int(os.environ.get("PROPTEST_RNG_SEED") or time.time())


class Mine(HumanMessage):
    """A message of somebody's own."""

    mood: str = "good"


def message(chance, id):
    kind = chance.randrange(8)
    text = chance.choice(["", "é🙂", f"{id} words " * chance.randrange(40), [{"type": "text", "text": id}, "more"]])
    if kind == 0:
        call = {"name": "read", "args": {"n": chance.choice([1, 1.5, True, None, [1, {"a": ()}]])}, "id": id, "type": "tool_call"}
        usage = {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}
        return AIMessage(text, id=id, tool_calls=[call], usage_metadata=usage, response_metadata={"model_name": "m"})
    if kind == 1:
        # What a tool kept for the program is anything at all.
        return ToolMessage(text, tool_call_id=id, id=id, artifact=chance.choice([None, {"rows": [1]}, {1, 2}, (1, 2), b"\x00"]))
    if kind == 2:
        return Mine(text, id=id, mood=chance.choice(["good", "bad"]))
    if kind == 3:
        return ChatMessage(text, role="critic", id=id, additional_kwargs={"n": chance.choice([0, False, float("nan")])})
    if kind == 4:
        return chance.choice(["a bare text", {"role": "user", "content": id}, 7, None, RemoveMessage(id=id)])
    if kind == 5:
        return SystemMessage(text, id=id, extra_of_mine={"x": 1})
    return (HumanMessage if kind == 6 else AIMessage)(text, id=id)


def edit(chance, one):
    """Changes a message in place, in one of the ways in which one can be."""
    if not hasattr(one, "additional_kwargs"):
        return
    way = chance.randrange(6)
    if way == 0:
        one.content = f"edited {chance.random()}"
    elif way == 1:
        one.additional_kwargs["n"] = chance.choice([0, False, 0.0, None, "0", (0,), {"deep": [0]}])
    elif way == 2:
        one.response_metadata = {"model_name": chance.choice(["m", "n"])}
    elif way == 3 and isinstance(one.content, list):
        one.content.append({"type": "text", "text": "behind"})
    elif way == 4 and getattr(one, "tool_calls", None):
        one.tool_calls[0]["args"]["n"] = chance.choice([1, True, 1.0, "1"])
    elif way == 5:
        one.name = chance.choice([None, "bob"])


@pytest.mark.parametrize("round", range(20))
def test_bytes_are_those_of_the_serializer_and_what_is_read_is_too(round):
    chance = random.Random(SEED * 100 + round)
    serde, thread, now, number = JsonPlusSerializer(), Thread(), [], None
    for step in range(40):
        deed = chance.randrange(7)
        if deed == 0 and now:
            now = now[chance.randrange(len(now)) :]
        elif deed == 1 and now:
            edit(chance, chance.choice(now))
        elif deed == 2 and now:
            now = [*now]
            now[chance.randrange(len(now))] = message(chance, f"r{step}")
        elif deed == 3 and number is not None:
            # Another process goes on with what it read.
            now = serde.loads_typed(thread.value(number))
        elif deed == 4 and number is not None:
            if chance.random() < 0.5:
                thread.members.clear()
            now = read(serde, thread, number)
        else:
            now = [*now, *(message(chance, f"m{step}-{n}") for n in range(chance.randrange(4)))]
        new = []
        value = written(serde, now, thread.members.get(number))
        whole = serde.dumps_typed(now)
        assert (value.kind, value.data) == whole, SEED
        number = thread.noted(value, number, new)
        pieces = thread.pieces.draft()
        told = [blob.json(pieces) for blob, _ in new]
        for at, (_, one) in enumerate(new, len(thread.blobs)):
            thread.keep(at, one)
        thread.blobs += [Blob.read(one, thread.pieces) for one in told]
        assert serde.dumps_typed(read(serde, thread, number)) == serde.dumps_typed(serde.loads_typed(whole)), SEED
        thread.whole.clear()
        if chance.random() < 0.2:
            thread.members.clear()
            assert thread.value(number) == whole, SEED


def put(saver, messages, before=None):
    checkpoint = empty_checkpoint()
    version = (before[1] if before else 0) + 1
    checkpoint["channel_values"] = {"messages": messages}
    checkpoint["channel_versions"] = {"messages": version}
    place = {"thread_id": "t", "checkpoint_ns": "", **({"checkpoint_id": before[0]} if before else {})}
    saver.put({"configurable": place}, checkpoint, {"source": "loop", "step": version, "parents": {}}, {"messages": version})
    return checkpoint["id"], version


def there(saver, id=None):
    place = {"thread_id": "t", "checkpoint_ns": "", **({"checkpoint_id": id} if id else {})}
    return saver.get_tuple({"configurable": place}).checkpoint["channel_values"]["messages"]


@pytest.mark.parametrize("is_held", [True, False])
def test_a_message_that_was_edited_in_place_is_seen(tmp_path, is_held):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    messages = [HumanMessage("one", id="1"), AIMessage("two", id="2"), HumanMessage("three", id="3")]
    at = put(saver, messages)
    before = copy.deepcopy(messages)
    messages[0].content = "uno"
    messages[1].additional_kwargs["flag"] = 1
    again = put(saver if is_held else TractSaver(repo), [*messages, AIMessage("four", id="4")], at)
    messages[1].additional_kwargs["flag"] = True
    last = put(saver, [*messages, AIMessage("four", id="4")], again)
    for one in (saver, TractSaver(repo)):
        assert [message.content for message in there(one)] == ["uno", "two", "three", "four"]
        assert there(one)[1].additional_kwargs["flag"] is True
        assert type(there(one, again[0])[1].additional_kwargs["flag"]) is int
        assert there(one, at[0]) == before and last[0] != again[0]
    talk = [message["message"]["parts"][0]["text"] for message in repo.at("langgraph/t").context()["messages"]]
    assert talk == ["uno", "two", "three", "four"]


def test_what_was_read_is_nobody_elses(tmp_path):
    saver = TractSaver(tract.init(tmp_path))
    put(saver, [HumanMessage("one", id="1", additional_kwargs={"a": {"b": 1}}), AIMessage("two", id="2")])
    first = there(saver)
    first[0].content, first[0].additional_kwargs["a"]["b"] = "mine", 2
    first[1].tool_calls.append({"name": "x", "args": {}, "id": "c", "type": "tool_call"})
    second = there(saver)
    assert second[0].content == "one" and second[0].additional_kwargs == {"a": {"b": 1}} and second[1].tool_calls == []
    assert second == there(TractSaver(saver.repo)) and second[0] is not there(saver)[0]


def test_another_serializer_is_asked_for_everything(tmp_path):
    class Backwards(JsonPlusSerializer):
        def dumps_typed(self, value):
            kind, data = super().dumps_typed(value)
            return kind, data[::-1]

        def loads_typed(self, value):
            return super().loads_typed((value[0], value[1][::-1]))

    saver = TractSaver(tract.init(tmp_path), serde=Backwards())
    messages = [HumanMessage("a secret " * 9, id="1")]
    at = put(saver, messages)
    put(saver, [*messages, AIMessage("two", id="2")], at)
    assert [one.content for one in there(TractSaver(saver.repo, serde=Backwards()))] == ["a secret " * 9, "two"]
    record = saver.repo.at("langgraph-records/t").context()["messages"]
    assert "a secret" not in str(record) and "channel_versions" not in str(record)


def test_a_node_that_changes_a_message_and_does_not_say_so_is_believed(tmp_path):
    graph_module = pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    sqlite = pytest.importorskip("langgraph.checkpoint.sqlite", reason="langgraph-checkpoint-sqlite is not installed")
    State = TypedDict("State", {"messages": Annotated[list, graph_module.add_messages], "count": int})

    def redact(state):
        state["messages"][0].content = "[redacted]"
        return {"count": 1}

    builder = graph_module.StateGraph(State)
    builder.add_node("redact", redact)
    builder.add_edge(graph_module.START, "redact")
    repo = tract.init(tmp_path)
    kept = []
    with sqlite.SqliteSaver.from_conn_string(str(tmp_path / "theirs.db")) as theirs:
        for saver in (theirs, TractSaver(repo)):
            graph, place = builder.compile(checkpointer=saver), {"configurable": {"thread_id": "t"}}
            graph.invoke({"messages": [HumanMessage("The key is 123.", id="1")], "count": 0}, place, durability="sync")
            kept.append([state.values.get("messages") for state in graph.get_state_history(place)])
    assert kept[0] == kept[1] and kept[0][0][0].content == "[redacted]"
    talk = [message["message"]["parts"][0]["text"] for message in repo.at("langgraph/t").context()["messages"]]
    assert talk == ["[redacted]"]
