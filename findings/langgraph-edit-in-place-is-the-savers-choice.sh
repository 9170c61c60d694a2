#!/usr/bin/env bash
# langgraph 1.2.24, langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2: whether a message that a node changed in
# place is changed in the thread depends on the checkpointer.
#
# Expected: the run's answer, the state of the thread and the next turn say the same, whichever checkpointer there is.
# Seen: a node redacts a message in place and returns another channel. The run answers with the redacted message. With
# SqliteSaver the thread has it, and so does the next turn. With InMemorySaver, which writes a channel only if its version
# moved (as the one for PostgreSQL does), the thread has the old text, and the next turn sends it again.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check \
    langgraph==1.2.24 langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2 langchain-core==1.8.3
"$folder/env/bin/python" - <<'PYTHON'
import operator
import sqlite3
import sys
from importlib.metadata import version
from typing import Annotated, TypedDict

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages

State = TypedDict("State", {"messages": Annotated[list, add_messages], "runs": Annotated[int, operator.add]})


def turns(saver):
    began_with = []

    def redact(state):
        began_with.append(state["messages"][0].content)
        state["messages"][0].content = "[redacted]"
        return {"runs": 1}

    builder = StateGraph(State)
    builder.add_node("redact", redact)
    builder.add_edge(START, "redact")
    graph = builder.compile(checkpointer=saver)
    place = {"configurable": {"thread_id": "t"}}
    answer = graph.invoke({"messages": [HumanMessage("The key is 123.", id="1")]}, place, durability="sync")
    kept = graph.get_state(place).values["messages"][0].content
    graph.invoke({"messages": [HumanMessage("Go on.", id="2")]}, place, durability="sync")
    return answer["messages"][0].content, kept, began_with[1]


print("langgraph", version("langgraph"), "langgraph-checkpoint-sqlite", version("langgraph-checkpoint-sqlite"))
memory = turns(InMemorySaver())
file = turns(SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False)))
for name, (answer, kept, began_with) in (("InMemorySaver", memory), ("SqliteSaver", file)):
    print(f"{name}: answered {answer!r}, kept {kept!r}, the next turn begins with {began_with!r}")
old, new = "The key is 123.", "[redacted]"
sys.exit(0 if (memory, file) == ((new, old, old), (new, new, new)) else 1)
PYTHON
