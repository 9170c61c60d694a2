"""LangGraph's own conformance, and what the checkpointer has beyond others."""

import asyncio

import pytest

import tract

pytest.importorskip("langgraph.checkpoint.base", reason="langgraph-checkpoint is not installed")
from tract._blocks import branch_end  # noqa: E402
from tract.langgraph import TractSaver  # noqa: E402


def thread(name, id=None):
    place = {"thread_id": name, "checkpoint_ns": ""}
    return {"configurable": {**place, "checkpoint_id": id} if id else place}


def test_conformance():
    conformance = pytest.importorskip("langgraph.checkpoint.conformance", reason="its tests are not installed")

    @conformance.checkpointer_test(name="TractSaver")
    async def saver():
        repo = tract.ephemeral()
        yield TractSaver(repo)
        repo.close()

    report = asyncio.run(conformance.validate(saver))
    results = report.results
    assert len(results) == 8
    for name, result in results.items():
        assert result.detected and result.passed, (name, result.failures)


def chat(saver):
    """A graph whose model answers by a list."""
    graph_module = pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    from langchain_core.messages import AIMessage

    def model(state):
        said = len(state["messages"])
        usage = {"input_tokens": 10 * said, "output_tokens": 3, "total_tokens": 10 * said + 3}
        answer = AIMessage(
            f"answer {said}", usage_metadata=usage, response_metadata={"model_name": "gpt-4o"}
        )
        return {"messages": [answer]}

    builder = graph_module.StateGraph(graph_module.MessagesState)
    builder.add_node("model", model)
    builder.add_edge(graph_module.START, "model")
    return builder.compile(checkpointer=saver)


def texts(repo, branch):
    messages = repo.at(branch).context()["messages"]
    return [message["message"]["parts"][0]["text"] for message in messages]


def test_a_graph_talks_and_the_repository_knows_what_was_said(tmp_path):
    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    for said in ("one", "two"):
        graph.invoke({"messages": [("user", said)]}, thread("t/1 ü"))
    branch = "langgraph/" + branch_end("t/1 ü")
    assert texts(repo, branch) == ["one", "answer 1", "two", "answer 3"]
    assert repo.find("answer 3")["found"][0]["branch"] == f"refs/heads/{branch}"
    assert repo.cost(branch)["total"]["counted"]["input_tokens"] == 40
    repo.close()
    # Another process goes on where this one ended.
    repo = tract.open(tmp_path)
    graph = chat(TractSaver(repo))
    state = graph.invoke({"messages": [("user", "three")]}, thread("t/1 ü"))
    assert [message.content for message in state["messages"]][-2:] == ["three", "answer 5"]
    assert texts(repo, branch)[-2:] == ["three", "answer 5"]
    assert TractSaver(repo).threads() == ["t/1 ü"]


def test_undo_and_redo_take_turns_back(tmp_path):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    graph = chat(saver)
    for said in ("one", "two", "three"):
        graph.invoke({"messages": [("user", said)]}, thread("a"))
    saver.undo("a", 2)
    assert [m.content for m in graph.get_state(thread("a")).values["messages"]] == ["one", "answer 1"]
    assert texts(repo, "langgraph/a") == ["one", "answer 1"]
    saver.redo("a")
    assert [m.content for m in graph.get_state(thread("a")).values["messages"]][-1] == "answer 5"
    assert texts(repo, "langgraph/a")[-1] == "answer 5"
    with pytest.raises(tract.TractError, match="nothing to redo"):
        saver.redo("a")
    saver.undo("a", 3)
    assert not graph.get_state(thread("a")).values and texts(repo, "langgraph/a") == []
    graph.invoke({"messages": [("user", "other")]}, thread("a"))
    with pytest.raises(tract.TractError, match="nothing to redo"):
        saver.redo("a")
    assert texts(repo, "langgraph/a") == ["other", "answer 1"]


def test_a_replay_from_an_older_checkpoint_is_told_by_the_diff(tmp_path):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    graph = chat(saver)
    for said in ("one", "two"):
        graph.invoke({"messages": [("user", said)]}, thread("a"))
    before = graph.get_state(thread("a")).config
    older = next(state for state in graph.get_state_history(thread("a")) if len(state.values["messages"]) == 2)
    graph.invoke({"messages": [("user", "other")]}, older.config)
    assert texts(repo, "langgraph/a") == ["one", "answer 1", "other", "answer 3"]
    after = graph.get_state(thread("a")).config
    changed = saver.diff(before, after)
    assert [(change["kind"], change["before"]) for change in changed["changes"]] == [("modified", 3)]
    # The older end is as it was.
    assert [m.content for m in graph.get_state(before).values["messages"]][2] == "two"


def test_a_message_that_is_edited_or_removed_is_in_the_conversation(tmp_path):
    from langchain_core.messages import HumanMessage, RemoveMessage

    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    graph.invoke({"messages": [HumanMessage("one", id="m1")]}, thread("a"))
    graph.update_state(thread("a"), {"messages": [HumanMessage("uno", id="m1")]})
    assert texts(repo, "langgraph/a") == ["uno", "answer 1"]
    graph.update_state(thread("a"), {"messages": [RemoveMessage(id="m1")]})
    assert texts(repo, "langgraph/a") == ["answer 1"]


def test_writes_that_come_before_their_checkpoint_are_its_writes(tmp_path):
    from langgraph.checkpoint.base import empty_checkpoint

    repo = tract.init(tmp_path)
    saver, checkpoint = TractSaver(repo), empty_checkpoint()
    of = thread("a", checkpoint["id"])
    saver.put_writes(of, [("messages", "paid for")], "task")
    assert saver.get_tuple(of) is None
    saver.put(thread("a"), checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})
    for one in (saver, TractSaver(repo)):
        assert one.get_tuple(of).pending_writes == [("task", "messages", "paid for")]


def test_a_node_that_had_finished_when_another_failed_does_not_run_again(tmp_path):
    graph_module = pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    from langgraph.types import interrupt

    paid, down = [], [True]

    def pay(state):
        paid.append(1)
        return {"messages": [("ai", "paid")]}

    def other(state):
        if down[0]:
            raise RuntimeError("down")
        return {"messages": [("ai", interrupt("really?"))]}

    builder = graph_module.StateGraph(graph_module.MessagesState)
    builder.add_node("plan", lambda state: {"messages": [("ai", "plan")]})
    builder.add_edge(graph_module.START, "plan")
    for node in (pay, other):
        builder.add_node(node.__name__, node)
        builder.add_edge("plan", node.__name__)
    repo = tract.init(tmp_path)
    graph = builder.compile(checkpointer=TractSaver(repo))
    with pytest.raises(RuntimeError):
        graph.invoke({"messages": [("user", "go")]}, thread("a"))
    down[0] = False
    # Another process goes on, and a third one reads the question.
    builder.compile(checkpointer=TractSaver(repo)).invoke(None, thread("a"))
    graph = builder.compile(checkpointer=TractSaver(repo))
    tasks = graph.get_state(thread("a")).tasks
    assert [one.value for task in tasks for one in task.interrupts] == ["really?"]
    assert len(paid) == 1


def test_two_savers_write_one_thread(tmp_path):
    one = TractSaver(tract.init(tmp_path))
    other = TractSaver(tract.open(tmp_path))
    graphs = [chat(one), chat(other)]
    for turn in range(6):
        graphs[turn % 2].invoke({"messages": [("user", str(turn))]}, thread("a"))
    assert len(graphs[0].get_state(thread("a")).values["messages"]) == 12
    assert len(list(one.list(thread("a")))) == len(list(other.list(thread("a")))) == 18


def test_what_is_kept_grows_with_what_is_said(tmp_path):
    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    sizes = []
    for turn in range(40):
        graph.invoke({"messages": [("user", f"{turn} " + "words " * 100)]}, thread("a"))
        records = repo.context("langgraph-records/a", from_=-1)["messages"]
        sizes.append(len(records[0]["message"]["parts"][0]["data"]))
    assert max(sizes[20:]) < 1.3 * max(sizes[5:20])


def test_values_of_all_kinds_come_back(tmp_path):
    from langgraph.checkpoint.base import empty_checkpoint

    saver = TractSaver(tract.init(tmp_path))
    config = thread("a")
    values = [
        {"x": list(range(n)), "text": "ä\x00\ud7ff" * n, "none": None, "bytes": bytes(range(256)) * n, "map": {str(i): i for i in range(n)}}
        for n in (0, 1, 15, 16, 17, 300, 70000, 17, 16, 3)
    ]
    configs = []
    for version, value in enumerate(values, 1):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = value
        checkpoint["channel_versions"] = {name: version for name in value}
        config = saver.put(config, checkpoint, {"step": version}, checkpoint["channel_versions"])
        configs.append(config)
    again = TractSaver(saver.repo)
    for one in (saver, again):
        for config, value in zip(configs, values):
            assert one.get_tuple(config).checkpoint["channel_values"] == value


def test_asyncio(tmp_path):
    saver = TractSaver(tract.init(tmp_path))
    graph = chat(saver)

    async def talk(name):
        for turn in range(3):
            await graph.ainvoke({"messages": [("user", f"{name} {turn}")]}, thread(name))
        return [state async for state in graph.aget_state_history(thread(name))]

    async def all():
        return await asyncio.gather(*(talk(str(name)) for name in range(8)))

    assert [len(states) for states in asyncio.run(all())] == [9] * 8
