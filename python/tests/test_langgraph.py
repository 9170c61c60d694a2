"""LangGraph's own conformance, and what the checkpointer has beyond others."""

import asyncio
import os
import pathlib
import random
import subprocess
import sys
import threading
import time
from typing import Annotated, TypedDict

import deeds
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


def made(repo):
    """Deeds on the thread `t`: checkpoints with more messages, whose writes come first; prune stands for clear."""
    from langchain_core.messages import AIMessage, HumanMessage
    from langgraph.checkpoint.base import empty_checkpoint

    saver = TractSaver(repo)

    def add(said):
        newest = saver.get_tuple(thread("t"))
        before = newest.checkpoint["channel_values"]["messages"] if newest else []
        checkpoint = empty_checkpoint()
        new = [(HumanMessage if one[0] == "u" else AIMessage)(one, id=one) for one in said]
        checkpoint["channel_values"] = {"messages": [*before, *new]}
        checkpoint["channel_versions"] = versions = {"messages": len(before) + len(new)}
        saver.put_writes(thread("t", checkpoint["id"]), [("messages", said)], said[0])
        config = newest.config if newest else thread("t")
        saver.put(config, checkpoint, {"source": "input", "step": 1, "parents": {}, "who": said[0]}, versions)

    def undo():
        config = saver.undo("t")
        return config["configurable"]["checkpoint_id"] if config else None

    redo = lambda: saver.redo("t")["configurable"]["checkpoint_id"]  # noqa: E731
    return {"add": add, "undo": undo, "redo": redo, "clear": lambda: saver.prune(["t"])}


def test_deeds_at_once_come_one_after_the_other(tmp_path):
    from tract.langgraph import _records, _taken, _Thread

    tract.init(tmp_path).close()
    repo, came = deeds.at_once(made, tmp_path)
    saver, records = TractSaver(repo), "refs/heads/langgraph-records/t"
    puts, writes, states = [], [], {None: ([], [])}
    for operation in reversed(repo.reflog(limit=0)["operations"]):
        for moved in operation["moved"]:
            if moved["name"] != records:
                continue
            if operation["what"].startswith("commit "):
                for record in _records(repo.context(moved["new"], from_=-1)["messages"][0]):
                    if record["op"] == "put":
                        log = _taken(_Thread(), repo.context(moved["new"])["messages"])
                        who = saver._meta(log.kept["", record["id"]])["who"]
                        came.remove(next(one for one in came if one[0] == "add" and one[1][0] == who))
                        puts = [*puts, (record["id"], who)]
                    else:
                        writes = [*writes, record["id"]]
            elif operation["what"] == "prune":
                puts = [max(puts)] if puts else []
                writes = [id for id in writes if not puts or id >= puts[0][0]]
                there = repo.context(moved["new"])["messages"] if moved["new"] else []
                there = [record for one in there for record in _records(one)]
                assert [one["id"] for one in there if one["op"] == "put"] == [id for id, _ in puts], deeds.SEED
            else:
                # Each checkpoint is an input: one turn is one of them.
                was, (puts, writes) = puts, states[moved["new"]]
                assert puts == was[:-1] if operation["what"].startswith("undo") else was == puts[: len(was)], deeds.SEED
                came.remove((operation["what"].split()[0], max(puts)[0] if puts else None))
            states[moved["new"]] = puts, writes
    # What a prune found nothing to do for is no operation.
    assert [one for one in came if one != ("clear", None)] == [], deeds.SEED
    listed = list(saver.list(thread("t")))
    assert [(one.checkpoint["id"], one.metadata["who"]) for one in listed] == sorted(puts, reverse=True)
    for one in listed:
        assert bool(one.pending_writes) == (one.checkpoint["id"] in writes)
    said = saver.get_tuple(thread("t", puts[-1][0])).checkpoint["channel_values"]["messages"] if puts else []
    talk = texts(repo, "langgraph/t")
    assert talk == [message.content for message in said] and not repo.fsck()["is_damaged"]


def put(saver, config, messages, step, **beside):
    """A checkpoint behind another one, with these messages."""
    from langgraph.checkpoint.base import empty_checkpoint

    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"messages": messages, **beside}
    checkpoint["channel_versions"] = versions = dict.fromkeys(checkpoint["channel_values"], step)
    return saver.put(config, checkpoint, {"source": "loop", "step": step, "parents": {}}, versions)


def test_what_is_asked_for_at_once_is_one_commit_and_each_hears_of_its_own(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    from langchain_core.messages import HumanMessage

    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    first = put(saver, thread("t"), [HumanMessage("one", id="1")], 1)
    commits = len(repo.context("langgraph-records/t")["messages"])
    said = [HumanMessage(text, id=text) for text in ("one", "two", "three")]
    said[0].id = "1"

    def asked(pool, deed, *args, **beside):
        """Asks while another one writes, and so behind all that was asked for before."""
        waiting = sum(map(len, saver._asks.values()))
        future = pool.submit(deed, *args, **beside)
        while sum(map(len, saver._asks.values())) == waiting:
            time.sleep(0.001)
        return future

    with ThreadPoolExecutor() as pool:
        with saver._lock:
            written = [asked(pool, saver.put_writes, first, [("messages", text)], f"task {text}") for text in "ab"]
            refused = asked(pool, put, saver, first, said[:2], 2, plan=lambda: None)
            came = asked(pool, put, saver, first, said, 3)
            behind = asked(pool, saver.put_writes, first, [("messages", "c")], "task c")
        for one in (*written, behind):
            one.result()
        with pytest.raises(TypeError):
            refused.result()
        last = came.result()
    # Both writes, and the checkpoint that brings the conversation along; what is asked for behind it is the next one.
    assert len(repo.context("langgraph-records/t")["messages"]) == commits + 2
    assert texts(repo, "langgraph/t") == ["one", "two", "three"]
    for one in (saver, TractSaver(repo)):
        assert [write[2] for write in one.get_tuple(first).pending_writes] == ["a", "b", "c"]
        assert one.get_tuple(thread("t")).config == last
        assert one.commit_of(last) == repo.at("langgraph/t").log()["commits"][0]["hash"]
        assert len(list(one.list(thread("t")))) == 2
    assert not saver._asks


def test_what_a_task_wrote_returns_with_the_checkpoint_that_takes_it_along(tmp_path, monkeypatch):
    from langchain_core.messages import HumanMessage

    from tract import langgraph as bridge

    # Whoever waited to the end would wait for an hour.
    monkeypatch.setattr(bridge, "_LINGER_SECONDS", 3600)
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    first = put(saver, thread("t"), [HumanMessage("one", id="1")], 1)
    # No checkpoint follows an interruption or an error: they do not wait for one.
    saver.put_writes(first, [("__interrupt__", "Go on?")], "task a")
    saver.put_writes(first, [("__error__", "broken")], "task b")
    waits = threading.Thread(target=saver.put_writes, args=(first, [("messages", "a")], "task c"))
    before = len(repo.at("langgraph-records/t").log(limit=0)["commits"])
    waits.start()
    while not any(saver._asks.values()):
        time.sleep(0.001)
    put(saver, first, [HumanMessage("one", id="1")], 2)
    waits.join(60)
    assert not waits.is_alive()
    assert len(repo.at("langgraph-records/t").log(limit=0)["commits"]) == before + 1
    for one in (saver, TractSaver(repo)):
        assert [write[0] for write in one.get_tuple(first).pending_writes] == ["task a", "task b", "task c"]
    assert not saver._asks


def test_a_group_that_is_refused_is_made_anew(tmp_path):
    from langchain_core.messages import HumanMessage

    repo = tract.init(tmp_path)
    saver, other = TractSaver(repo), TractSaver(repo)
    first = put(saver, thread("t"), [HumanMessage("one", id="1")], 1)
    # Another process has gone on, and a collection has taken the conversation's commits.
    other.put_writes(first, [("messages", "a")], "task a")
    repo.move([{"branch": "langgraph/t"}])
    repo.gc(expire="now")
    writes = lambda: saver.put_writes(first, [("messages", "b")], "task b")  # noqa: E731
    with saver._lock:
        begun = [threading.Thread(target=writes), threading.Thread(target=put, args=(saver, first, [HumanMessage("one", id="1")], 2))]
        for count, one in enumerate(begun, 1):
            one.start()
            while sum(map(len, saver._asks.values())) < count:
                time.sleep(0.001)
    for one in begun:
        one.join()
    for one in (saver, TractSaver(repo)):
        assert [write[2] for write in one.get_tuple(first).pending_writes] == ["a", "b"]
        assert len(list(one.list(thread("t")))) == 2
    assert texts(repo, "langgraph/t") == ["one"]


def test_a_prune_keeps_the_whole_conversation_beside_a_namespace_of_its_own(tmp_path):
    from langchain_core.messages import HumanMessage

    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    said = [HumanMessage(str(number), id=str(number)) for number in range(3)]
    config = put(saver, thread("t"), said[:1], 1)
    put(saver, {"configurable": {"thread_id": "t", "checkpoint_ns": "inner"}}, said[:1], 1)
    config = put(saver, config, said, 2)
    tip = saver.commit_of(config)
    saver.prune(["t"])
    again = TractSaver(repo)
    assert again.commit_of(config) == tip
    put(again, config, [*said, HumanMessage("3", id="3")], 3)
    assert texts(repo, "langgraph/t") == ["0", "1", "2", "3"]
    # What was said before is not said anew.
    assert repo.at("langgraph/t").log()["commits"][0]["parent"] == tip


def test_what_is_kept_grows_with_what_is_said(tmp_path):
    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    sizes = []
    for turn in range(40):
        graph.invoke({"messages": [("user", f"{turn} " + "words " * 100)]}, thread("a"))
        # Those of a turn: in which of them a text stands, and how many are one commit, is chance.
        records = repo.context("langgraph-records/a")["messages"]
        parts = [part for record in records for part in record["message"]["parts"]]
        sizes.append(sum(len(part["data"]) for part in parts))
    grown = [after - before for before, after in zip(sizes, sizes[1:])]
    assert max(grown[20:]) < 1.1 * max(grown[5:20])


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


def size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def collected(repo):
    program = os.environ.get("TRACT_PROGRAM") or pytest.skip("TRACT_PROGRAM does not say where the program is")
    subprocess.run([program, "--repo", repo.place, "gc", "--expire", "now", "-q"], check=True)


def has(repo, text):
    """Whether a text stands anywhere in a repository: see `whereabouts.py`, which nobody who has it open may run."""
    pytest.importorskip("zstandard", reason="zstandard is not installed")
    script = pathlib.Path(__file__).parent / "whereabouts.py"
    found = subprocess.run([sys.executable, script, repo.place, text], capture_output=True, text=True, check=True)
    return found.stdout.split()


def long(graph, name, turns):
    chance = random.Random(3)
    for turn in range(turns):
        said = " ".join(f"w{chance.randrange(4000)}" for _ in range(800))
        graph.invoke({"messages": [("user", f"secret-{turn} {said}")]}, thread(name))


def emptied(graph, name):
    """Takes all messages out but for the last two."""
    from langchain_core.messages import RemoveMessage

    messages = graph.get_state(thread(name)).values["messages"]
    graph.update_state(thread(name), {"messages": [RemoveMessage(message.id) for message in messages[:-2]]})


def test_what_is_pruned_is_gone_after_a_collection(tmp_path):
    with tract.init(tmp_path / "empty") as repo:
        collected(repo)
        nothing = size(repo.place)
    repo = tract.init(tmp_path / "full")
    saver = TractSaver(repo)
    graph = chat(saver)
    long(graph, "a", 40)
    collected(repo)
    before = size(repo.place) - nothing
    assert has(repo, "secret-3 ")
    emptied(graph, "a")
    state = graph.get_state(thread("a"))
    saver.prune(["a"])
    # Until it is collected, it can be brought back, with the conversation.
    repo.undo()
    assert len(list(TractSaver(repo).list(thread("a")))) > 100
    repo.redo()
    collected(repo)
    assert not has(repo, "secret-3 ") and has(repo, "secret-39 ")
    assert size(repo.place) - nothing < before / 10
    for one in (saver, TractSaver(repo)):
        assert chat(one).get_state(thread("a")) == state and len(list(one.list(thread("a")))) == 1
        assert one.get_tuple(state.parent_config) is None
    assert texts(repo, "langgraph/a")[0].startswith("secret-39 ") and saver.commit_of(thread("a"))
    # The thread goes on, and what it says is undone as ever.
    chat(saver).invoke({"messages": [("user", "on")]}, thread("a"))
    assert texts(repo, "langgraph/a")[-2] == "on"
    saver.undo("a")
    assert len(texts(repo, "langgraph/a")) == 2 and not repo.fsck()["is_damaged"]


def test_a_run_that_is_deleted_is_gone_after_a_collection(tmp_path):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    for name, runs in (("a", 3), ("b", 1)):
        for run in range(runs):
            place = {**thread(name), "metadata": {"run_id": str(run)}}
            chat(saver).invoke({"messages": [("user", f"secret-{run}")]}, place)
    kept = [state for state in chat(saver).get_state_history(thread("a")) if state.metadata["run_id"] == "1"]
    saver.undo("b")
    saver.delete_for_runs(["2"])
    saver.redo("b")
    saver.undo("b")
    collected(repo)
    assert not has(repo, "secret-2") and has(repo, "secret-0") and has(repo, "secret-1")
    assert texts(repo, "langgraph/a") == ["secret-0", "answer 1", "secret-1", "answer 3"]
    for one in (saver, TractSaver(repo)):
        assert [state for state in chat(one).get_state_history(thread("a"))][: len(kept)] == kept
    saver.undo("a")
    assert texts(repo, "langgraph/a") == ["secret-0", "answer 1"]
    saver.redo("a")
    with pytest.raises(tract.TractError, match="nothing to redo"):
        saver.redo("a")
    saver.delete_for_runs(["0", "1"])
    # What was undone goes, too.
    with pytest.raises(tract.TractError, match="nothing to redo"):
        saver.redo("b")
    assert repo.branches()["branches"] == [] and saver.threads() == []
    collected(repo)
    assert not has(repo, "secret-")


def test_a_deletion_is_one_operation(tmp_path):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    chat(saver).invoke({"messages": [("user", "one")]}, thread("a"))
    saver.undo("a")
    saver.delete_thread("a")
    assert repo.branches()["branches"] == []
    repo.undo()
    saver.redo("a")
    assert texts(repo, "langgraph/a") == ["one", "answer 1"]


def test_a_copy_is_of_one_moment_and_stays_when_the_thread_is_pruned(tmp_path):
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    graph = chat(saver)
    for said in ("one", "two"):
        graph.invoke({"messages": [("user", said)]}, thread("a"))
    saver.copy_thread("a", "b")
    with pytest.raises(tract.TractError, match="a thread b already"):
        saver.copy_thread("a", "b")
    emptied(graph, "a")
    saver.prune(["a"])
    collected(repo)
    assert texts(repo, "langgraph/b") == ["one", "answer 1", "two", "answer 3"]
    assert len(list(saver.list(thread("b")))) == 6


def changing(saver, frequency, other=7):
    """A graph whose messages and notes are kept as changes."""
    graph_module = pytest.importorskip("langgraph.graph", reason="langgraph is not installed")
    delta = pytest.importorskip("langgraph.channels.delta", reason="this LangGraph keeps no channel as changes")
    from langchain_core.messages import AIMessage

    def merged(state, writes):
        for write in writes:
            state = {**(state or {}), **write}
        return state

    def said(state, writes):
        new = [one for write in writes for one in (write if isinstance(write, list) else [write])]
        return graph_module.message.add_messages(state or [], new)

    class State(TypedDict):
        messages: Annotated[list, delta.DeltaChannel(said, snapshot_frequency=frequency)]
        notes: Annotated[dict, delta.DeltaChannel(merged, dict, snapshot_frequency=other)]

    def model(state):
        many = len(state["messages"])
        return {"messages": [AIMessage(f"answer {many}")], "notes": {f"{many % 5}": many}}

    builder = graph_module.StateGraph(State)
    builder.add_node("model", model)
    builder.add_edge(graph_module.START, "model")
    return builder.compile(checkpointer=saver)


@pytest.mark.parametrize("frequency", [3, 1000])
def test_messages_that_are_kept_as_changes_are_a_conversation(tmp_path, frequency):
    pytest.importorskip("langgraph.channels.delta", reason="this LangGraph keeps no channel as changes")
    from langchain_core.messages import HumanMessage, RemoveMessage
    from langgraph.types import Overwrite

    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    graph = changing(saver, frequency)

    def state():
        here = [message.content for message in graph.get_state(thread("a")).values["messages"]]
        elsewhere = changing(TractSaver(repo), frequency).get_state(thread("a")).values["messages"]
        assert texts(repo, "langgraph/a") == here == [message.content for message in elsewhere]
        return here

    def say(text, through=graph):
        through.invoke({"messages": [HumanMessage(text, id=text)]}, thread("a"))
        return state()

    for turn in range(5):
        say(f"secret-{turn}")
    commits = repo.at("langgraph/a").log(limit=0)["commits"]
    assert [one["operation"] for one in commits] == ["append"] * 10
    graph.update_state(thread("a"), {"messages": [RemoveMessage("secret-1")]})
    graph.update_state(thread("a"), {"messages": [HumanMessage("two", id="secret-2")]})
    assert state()[:4] == ["secret-0", "answer 1", "answer 3", "two"]
    # Somebody else goes on.
    assert say("three", changing(TractSaver(repo), frequency))[-2] == "three"
    before = state()
    assert say("four")[-2] == "four"
    # What an input has said at the checkpoint before goes with it.
    saver.undo("a")
    assert state() == before
    assert say("other")[-2] == "other" and len(state()) == len(before) + 2
    values = graph.get_state(thread("a")).values
    saver.prune(["a"])
    assert graph.get_state(thread("a")).values == values and len(list(saver.list(thread("a")))) == 1
    collected(repo)
    assert not has(repo, "secret-1") and has(repo, "secret-3")
    state()
    say("five")
    # Of what is made from changes, a deletion leaves what it takes.
    place = {**thread("a"), "metadata": {"run_id": "last"}}
    graph.invoke({"messages": [HumanMessage("six", id="six")]}, place)
    say("seven")
    values = graph.get_state(thread("a")).values
    saver.delete_for_runs(["last"])
    assert graph.get_state(thread("a")).values == values
    assert changing(TractSaver(repo), frequency).get_state(thread("a")).values == values
    state()
    say("eight")
    graph.invoke({"messages": Overwrite([HumanMessage("new", id="new")])}, thread("a"))
    assert state()[0] == "new" and len(state()) == 2


def test_channels_that_are_kept_as_changes_outlast_a_prune(tmp_path):
    from langchain_core.messages import HumanMessage

    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    graph = changing(saver, 5, other=1000)
    for turn in range(7):
        graph.invoke({"messages": [HumanMessage(str(turn), id=str(turn))]}, thread("a"))
    values = graph.get_state(thread("a")).values
    assert len(values["notes"]) == 5
    for _ in range(2):
        saver.prune(["a"])
        for one in (saver, TractSaver(repo)):
            assert len(list(one.list(thread("a")))) == 1
            assert changing(one, 5, other=1000).get_state(thread("a")).values == values
        graph.update_state(thread("a"), {"notes": {"more": 1}})
        values["notes"]["more"] = 1


def test_a_deep_agent_is_a_conversation_with_its_files(tmp_path):
    deepagents = pytest.importorskip("deepagents", reason="deepagents is not installed")
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage

    class Model(FakeMessagesListChatModel):
        def bind_tools(self, tools, **rest):
            return self

    call = {"name": "write_file", "args": {"file_path": "/river.txt", "content": "Aare"}, "id": "c1"}
    replies = [AIMessage("", tool_calls=[call]), AIMessage("Written."), AIMessage("The Aare.")]
    repo = tract.init(tmp_path)
    saver = TractSaver(repo)
    agent = deepagents.create_deep_agent(model=Model(responses=replies), checkpointer=saver)
    for text in ("Write down a river.", "Which?"):
        agent.invoke({"messages": [("user", text)]}, thread("a"))
    roles = [message["message"]["role"] for message in repo.at("langgraph/a").context()["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    state = agent.get_state(thread("a")).values
    assert list(state["files"]) == ["/river.txt"]
    saver.prune(["a"])
    assert agent.get_state(thread("a")).values == state
    assert [message["role"] for message in repo.at("langgraph/a").compile("openai")["messages"]] == roles


def test_a_budget_holds_for_the_conversation_and_never_for_the_checkpoints(tmp_path):
    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    for action in ("truncate", "refuse"):
        repo.config("budget.max", "60")
        repo.config("budget.action", action)
        for turn in range(6):
            graph.invoke({"messages": [("user", f"{turn} and some more words")]}, thread(action))
        state = chat(TractSaver(repo)).get_state(thread(action)).values["messages"]
        assert len(state) == 12
    assert 0 < len(texts(repo, "langgraph/truncate")) < 12
    assert len(texts(repo, "langgraph/refuse")) == 12


def test_what_is_done_to_the_conversation_by_hand_stays(tmp_path):
    repo = tract.init(tmp_path)
    graph = chat(TractSaver(repo))
    graph.invoke({"messages": [("user", "one")]}, thread("a"))
    repo.at("langgraph/a").commit(edit=":1", message="uno")
    graph.invoke({"messages": [("user", "two")]}, thread("a"))
    assert texts(repo, "langgraph/a") == ["uno", "answer 1", "two", "answer 3"]
    # Where it was deleted, the next checkpoint says all of it.
    repo.branch("langgraph/a", delete=True)
    graph.invoke({"messages": [("user", "three")]}, thread("a"))
    assert texts(repo, "langgraph/a") == ["one", "answer 1", "two", "answer 3", "three", "answer 5"]
