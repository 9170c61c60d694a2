#!/usr/bin/env python3
"""How often a question in other words finds the right turn among the first three answers, and what it costs.

    python3 benches/recall.py REPOSITORY QUESTIONS
    python3 benches/recall.py REPOSITORY QUESTIONS --model FOLDER    by meaning as well, beside
    python3 benches/recall.py REPOSITORY QUESTIONS --misses          also lists what was not found

QUESTIONS is a file of lines of JSON: {"question": TEXT, "answer": the beginning of the commit's hash that brought the message}.
The questions are written by reading the sessions, in other words than the answer's. The right turn is the answer, the prompt
before it, and what follows up to the next prompt; a copy of one of its messages in another session counts as well. Time is of
the processor, of whole processes, the median of all questions; the first search by meaning, which makes the vectors, is told apart.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from compare import HERE, PLAIN

FIRST = 3
AROUND = 40


class Api:
    """One process that answers many requests."""

    def __init__(self, tract, repository):
        command = [tract, "--repo", repository, "api"]
        self.process = subprocess.Popen(command, env=PLAIN, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0

    def ask(self, method, **params):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number and ("result" in answer or "error" in answer):
                return answer.get("result")


def is_prompt(message):
    parts = message["message"].get("parts", [])
    return message["message"]["role"] == "user" and any(part.get("type") == "text" for part in parts)


def said(message):
    return json.dumps(message["message"], sort_keys=True)


def turn(api, answer):
    """The messages of the turn that a message is in."""
    read = api.ask("read", rev=answer, around=AROUND)["messages"]
    at = next(at for at, message in enumerate(read) if message["id"].startswith(answer))
    begin = next((place for place in range(at, -1, -1) if is_prompt(read[place])), at)
    end = next((place for place in range(at + 1, len(read)) if is_prompt(read[place])), len(read))
    return {said(message) for message in read[begin:end]}


def find(tract, repository, settings, question, is_alike):
    """The ids of the first answers, and the processor's seconds."""
    environment = {**PLAIN, "XDG_CONFIG_HOME": settings}
    params = {"text": question, "limit": FIRST, **({"like": True} if is_alike else {})}
    params = json.dumps({"id": 1, "method": "find", "params": params})
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([tract, "--repo", repository, "api"], input=params + "\n", env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    result = next((answer["result"] for answer in answers if answer.get("id") == 1 and "result" in answer), None)
    return [found["id"] for found in result["found"]] if result else [], seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("questions")
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--model")
    parser.add_argument("--misses", action="store_true")
    asked = parser.parse_args()
    questions = [json.loads(line) for line in open(asked.questions)]
    api = Api(asked.tract, asked.repository)
    right = [turn(api, one["answer"]) for one in questions]
    with tempfile.TemporaryDirectory() as settings:
        ways = {"words": False}
        if asked.model:
            command = [asked.tract, "config", "--global", "recall.model", os.path.abspath(asked.model)]
            subprocess.run(command, env={**PLAIN, "XDG_CONFIG_HOME": settings}, check=True)
            ways["words and meaning"] = True
            begun = time.monotonic()
            _, seconds = find(asked.tract, asked.repository, settings, questions[0]["question"], True)
            print(f"vectors made in {time.monotonic() - begun:.1f} s, {seconds:.1f} s of the processor")
            kept = Path(asked.repository) / ".tract" / "vectors"
            print(f"{kept.stat().st_size / 1e6:.1f} MB of vectors")
        print("| by | questions | right turn among the first 3 | first | processor, median |\n| --- | --- | --- | --- | --- |")
        for way, is_alike in ways.items():
            hits, firsts, times = 0, 0, []
            for one, wanted in zip(questions, right):
                ids, seconds = find(asked.tract, asked.repository, settings, one["question"], is_alike)
                found = [said(api.ask("read", rev=found)["messages"][0]) in wanted for found in ids]
                hits, firsts = hits + any(found), firsts + bool(found and found[0])
                times.append(seconds)
                if asked.misses and not any(found):
                    print(f"missed by {way}:", one["answer"], one["question"])
            count = len(questions)
            print(f"| {way} | {count} | {100 * hits / count:.0f} % | {100 * firsts / count:.0f} % | {1000 * statistics.median(times):.0f} ms |")


main()
