"""Measures the Python package beside what it stands on.

    python benches/measure.py                                  LangGraph's SQLite saver and ours, in one run
    python benches/measure.py --turns                          the first turns of threads, both savers in turn
    python benches/measure.py --rate PATH/commit_rate          commits in a second, beside the library's own
    python benches/measure.py --tract PATH/tract               compile of 10,000 messages, beside the program's

The figures mean something of a release build on a disk that is waited for.
"""

import argparse
import json
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

import tract


def size(folder):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*") if path.is_file())


def checkpoints(count):
    """A conversation of `count` checkpoints that grows by a message of 1 kB in each."""
    from langchain_core.messages import HumanMessage
    from langgraph.checkpoint.base import empty_checkpoint
    from langgraph.checkpoint.sqlite import SqliteSaver

    from tract.langgraph import TractSaver

    def fill(saver):
        config = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}
        messages = []
        begin = time.perf_counter()
        for at in range(1, count + 1):
            words = " ".join(str((at * 7919 + n * 104729) % 99991) for n in range(170))
            messages = [*messages, HumanMessage(f"{at} {words}", id=str(at))]
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"messages": messages}
            checkpoint["channel_versions"] = {"messages": at}
            config = saver.put(config, checkpoint, {"source": "loop", "step": at}, {"messages": at})
        wrote = time.perf_counter() - begin
        begin = time.perf_counter()
        found = saver.get_tuple({"configurable": {"thread_id": "t", "checkpoint_ns": ""}})
        assert len(found.checkpoint["channel_values"]["messages"]) == count
        return wrote, time.perf_counter() - begin, sum(len(one.content) for one in messages)

    for name in ("SqliteSaver", "TractSaver", "TractSaver without the conversation"):
        with tempfile.TemporaryDirectory() as folder:
            if name == "SqliteSaver":
                db = sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False)
                wrote, read, said = fill(SqliteSaver(db))
                db.close()
            else:
                repo = tract.init(folder)
                wrote, read, said = fill(TractSaver(repo, messages="messages" if name == "TractSaver" else None))
                repo.close()
            facts = {"checkpoints": count, "seconds": round(wrote, 2), "newest_ms": round(read * 1000, 1)}
            print(name, json.dumps({**facts, "bytes": size(folder), "said_bytes": said}))


def turns(count):
    """The first ten turns of `count` threads of a graph of one node, with two messages of 350 bytes each, both savers in turn."""
    from langchain_core.messages import AIMessage
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import START, MessagesState, StateGraph

    from tract.langgraph import TractSaver

    chance = random.Random(7)

    def text():
        return " ".join(f"w{chance.randrange(9999)}" for _ in range(60))

    counted = {"input_tokens": 100, "output_tokens": 60, "total_tokens": 160}
    builder = StateGraph(MessagesState)
    builder.add_node("reply", lambda _: {"messages": [AIMessage(text(), usage_metadata=counted)]})
    builder.add_edge(START, "reply")
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(f"{folder}/checkpoints.db", check_same_thread=False)
        repo = tract.init(f"{folder}/talk")
        savers = {"SqliteSaver": SqliteSaver(db), "TractSaver": TractSaver(repo)}
        graphs = {name: builder.compile(checkpointer=saver) for name, saver in savers.items()}
        taken = {name: [] for name in graphs}
        for thread in range(count):
            config = {"configurable": {"thread_id": str(thread)}}
            for _ in range(10):
                for name, graph in graphs.items():
                    begin, work = time.perf_counter(), time.process_time()
                    graph.invoke({"messages": [("user", text())]}, config, durability="sync")
                    taken[name].append((time.perf_counter() - begin, time.process_time() - work))
        repo.close()
        db.close()
    for name, both in taken.items():
        wall, work = (round(statistics.median(one) * 1000, 1) for one in zip(*both))
        print(name, json.dumps({"turns": len(both), "median_ms": wall, "median_cpu_ms": work}))


def rate(program, count):
    """Commits in a second: the library's by a program of its own, and ours, one after the other, three times."""
    text = "some words " * 20
    rates = []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as folder:
            own = float(subprocess.run([program, folder, str(count)], capture_output=True, check=True).stdout)
        with tempfile.TemporaryDirectory() as folder, tract.init(folder) as repo:
            begin = time.perf_counter()
            for at in range(count):
                repo.commit(role="user", message=f"message {at}: {text}")
            rates.append((own, count / (time.perf_counter() - begin)))
    for own, ours in rates:
        print("commit", json.dumps({"library": round(own), "python": round(ours), "share": round(ours / own, 2)}))


def compiling(program, count):
    """Compile of `count` messages of 1 kB: the program's whole run, and ours from opening on and once more."""
    with tempfile.TemporaryDirectory() as folder:
        with tract.init(folder) as repo:
            repo.commit(batch=[{"role": "user", "content": f"{at} " + "words " * 170} for at in range(count)])
        for _ in range(3):
            begin = time.perf_counter()
            subprocess.run([program, "--repo", folder, "compile"], stdout=subprocess.DEVNULL, check=True)
            theirs = time.perf_counter() - begin
            script = "import sys, tract; tract.open(sys.argv[1]).compile()"
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", script, folder], check=True)
            process = time.perf_counter() - begin
            begin = time.perf_counter()
            repo = tract.open(folder)
            repo.compile()
            cold = time.perf_counter() - begin
            begin = time.perf_counter()
            repo.compile()
            warm = time.perf_counter() - begin
            repo.close()
            told = {"program": theirs, "python_process": process, "open_and_compile": cold, "compile_again": warm}
            print("compile", json.dumps({key: round(value * 1000, 1) for key, value in told.items()}))


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("--rate")
    asked.add_argument("--tract")
    asked.add_argument("--turns", action="store_true")
    asked.add_argument("--count", type=int)
    asked = asked.parse_args()
    if asked.turns:
        turns(asked.count or 30)
    if asked.rate:
        rate(asked.rate, asked.count or 1000)
    if asked.tract:
        compiling(asked.tract, asked.count or 10_000)
    if not asked.rate and not asked.tract and not asked.turns:
        checkpoints(asked.count or 1000)


if __name__ == "__main__":
    main()
