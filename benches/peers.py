#!/usr/bin/env python3
"""tract beside what others keep of the same conversations, or say of the same files.

    python3 -m venv peers && peers/bin/pip install langgraph langgraph-checkpoint-sqlite llm
    npm install --prefix peers ccusage
    python3 benches/peers.py --python peers/bin/python --ccusage peers/node_modules/.bin/ccusage

A peer that is not there is left out, and said to be. Needs a release build (`cargo build --release --locked`).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import HERE, PLAIN, Places, Side, Table, claude_code, conversation, disk, note, stays, thousands

# Each turn is a run of the graph on the thread so far: what a chat does whose memory is a checkpointer.
LANGGRAPH = """
import json, sys, time
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
turns = [json.loads(line) for line in open(sys.argv[1])]
graph = StateGraph(MessagesState)
graph.add_node("model", lambda state: {"messages": [AIMessage(next(answers))]})
graph.add_edge(START, "model")
graph.add_edge("model", END)
answers = (turn["answer"] for turn in turns)
began = time.monotonic()
with SqliteSaver.from_conn_string(sys.argv[2]) as saver:
    app = graph.compile(checkpointer=saver)
    for turn in turns:
        app.invoke({"messages": [HumanMessage(turn["prompt"])]}, {"configurable": {"thread_id": "1"}})
print(time.monotonic() - began)
"""

# What `llm` itself does after each answer of a conversation.
LLM = """
import json, sys, time
import llm, sqlite_utils
from llm.migrations import migrate
class Canned(llm.Model):
    model_id = "canned"
    def execute(self, prompt, stream, response, conversation):
        yield answer
turns = [json.loads(line) for line in open(sys.argv[1])]
db = sqlite_utils.Database(sys.argv[2])
migrate(db)
talk = Canned().conversation()
began = time.monotonic()
for turn in turns:
    answer = turn["answer"]
    response = talk.prompt(turn["prompt"])
    response.text()
    response.log_to_db(db)
print(time.monotonic() - began)
"""


def turns(folder, count, size):
    """So many turns of about so many bytes in all, for peers, and as messages for tract."""
    said = list(conversation(2 * count, size=size // count // 2))
    pairs = [{"prompt": a["content"], "answer": b["content"]} for a, b in zip(said[::2], said[1::2])]
    (folder / "turns.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return [{"role": role, "content": pair[key]} for pair in pairs for role, key in (("user", "prompt"), ("assistant", "answer"))]


def keeping(table, tract, python, count, size, places):
    with tempfile.TemporaryDirectory(dir=places.folder) as folder:
        folder = Path(folder)
        messages = turns(folder, count, size)
        subprocess.run([tract, "init", "-q"], cwd=folder, env=PLAIN, check=True)
        spent = sum(stays([tract], folder, messages))
        subprocess.run([tract, "gc", "-q"], cwd=folder, env=PLAIN, check=True)
        ours = disk(folder / ".tract")
        for name, script in (("LangGraph's SQLite saver", LANGGRAPH), ("llm", LLM)):
            kept = folder / f"{name.split()[0]}.db"
            done = subprocess.run([python, "-c", script, str(folder / "turns.jsonl"), str(kept)], env={**PLAIN, "LLM_USER_PATH": str(folder)},
                                  capture_output=True, text=True) if python else None
            if done is None or done.returncode:
                note(f"{name} was left out: {done.stderr.strip().splitlines()[-1] if done else 'no --python'}")
                continue
            theirs, took = disk_of(kept), float(done.stdout)
            work, total = f"{thousands(count)} turns", f"{size / 1e6:.2f} MB said"
            table.add(f"{work}, room", total, f"{ours / 1e6:.2f} MB", f"{theirs / 1e6:.2f} MB {name}", f"{ours / theirs:.3f} ×", None, "", None)
            table.add(f"{work}, time", total, f"{spent:.1f} s", f"{took:.1f} s {name}", f"{spent / took:.2f} ×", None, "", None)


def disk_of(database):
    """A database with its log."""
    return sum(file.stat().st_size for file in database.parent.glob(f"{database.name}*"))


def listing(table, tract, ccusage, megabytes, places):
    if not ccusage:
        return note("ccusage was left out: no --ccusage")
    with tempfile.TemporaryDirectory(dir=places.folder) as home:
        for number in range(30):
            talk = Path(home) / ".claude/projects/-home-user-p" / f"{number:08}-0b5e-4a51-9c8f-2f8b4d1f7a10.jsonl"
            talk.parent.mkdir(parents=True, exist_ok=True)
            claude_code(talk, megabytes / 30, 0, talk.stem)
        env = {"PATH": os.environ["PATH"], "HOME": home, "NO_COLOR": "1"}
        ours = Side(home, [tract, "import", "--all", "--list", "-n", "0"], env=env)
        theirs = Side(home, [str(ccusage), "session", "--offline", "--json"], env=env)
        table.pair("a list of sessions", f"{megabytes} MB", ours, theirs, "ccusage session", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--python", help="a Python that has langgraph, langgraph-checkpoint-sqlite and llm")
    parser.add_argument("--ccusage", help="where ccusage is")
    parser.add_argument("--turns", type=int, default=1_000)
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
    tract = str(Path(asked.tract).resolve())
    table = Table(asked.runs)
    with tempfile.TemporaryDirectory(prefix="tract-peers-") as folder:
        places = Places(folder, tract)
        keeping(table, tract, asked.python, asked.turns, 980 * asked.turns, places)
        listing(table, tract, asked.ccusage and Path(asked.ccusage).resolve(), 31, places)
    print(table.markdown(), end="")


if __name__ == "__main__":
    main()
