"""A LangGraph chat that is undone, replayed and compared. The model is canned."""

import tempfile

from langchain_core.messages import AIMessage
from langgraph.graph import START, MessagesState, StateGraph

import tract
from tract.langgraph import TractSaver


def model(state: MessagesState):
    return {"messages": [AIMessage(f"You said {state['messages'][-1].content}.")]}


def chat(saver):
    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_edge(START, "model")
    return builder.compile(checkpointer=saver)


def say(graph, text, config):
    return graph.invoke({"messages": [("user", text)]}, config)["messages"][-1].content


with tempfile.TemporaryDirectory() as folder:
    saver = TractSaver(tract.init(folder))
    graph, thread = chat(saver), {"configurable": {"thread_id": "t1"}}

    # %% Talk
    for text in ("one", "two", "three"):
        print(say(graph, text, thread))
    end = graph.get_state(thread).config

    # %% Undo two turns, and take the undo back
    saver.undo("t1", 2)
    assert len(graph.get_state(thread).values["messages"]) == 2
    saver.redo("t1")

    # %% Time travel: go on from after the first turn
    older = next(one for one in graph.get_state_history(thread) if len(one.values["messages"]) == 2)
    print(say(graph, "another", older.config))

    # %% What differs
    for change in saver.diff(end, graph.get_state(thread).config)["changes"]:
        print(change["kind"], change["role"], change.get("before"), change.get("after"))

    # %% The conversation is a branch, for all of tract
    talk = saver.repo.at("langgraph/t1")
    print([one["preview"] for one in talk.log()["commits"]])
    assert talk.compile("openai")["messages"][-1]["content"] == "You said another."

    # %% Resume: another process opens the same directory
    graph = chat(TractSaver(tract.open(folder)))
    assert say(graph, "again", thread) == "You said again."
