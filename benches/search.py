#!/usr/bin/env python3
"""How often a search finds the message that somebody remembers among its first five.

    python3 benches/search.py REPOSITORY QUESTIONS
    python3 benches/search.py REPOSITORY QUESTIONS --misses    also lists what was not found
    python3 benches/search.py REPOSITORY QUESTIONS --words 4   with the first four words of each

QUESTIONS is a file of lines of JSON: {"question": TEXT, "answer": the beginning of a commit's hash, "hidden": whether it is
hidden}. An answer counts wherever its message stands. Beside `tract find` it asks what a plain index answers (SQLite's FTS5 with its
porter stemmer, any of the words, bm25), and what grep does: the newest messages with all of the words, and with the
question as it stands.
"""

import argparse
import hashlib
import json
import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

from compare import HERE, PLAIN

FIRST = 5


def objects(tract, repository):
    """All messages by their names, and the message that each commit brings, by the commits' order."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "all.bundle"
        subprocess.run([tract, "--repo", repository, "bundle", "--all", "--allow-secrets", str(file)], check=True, env=PLAIN)
        raw = file.read_bytes()
    begin = raw.index(b"\n", raw.index(b"\n") + 1) + 1
    lines = subprocess.run(["zstd", "-dc", "--long=27"], input=raw[begin:], check=True, capture_output=True).stdout
    name = lambda kind, text: hashlib.sha256(b"tract %s 1\0" % kind + text).hexdigest()
    messages, commits = {}, {}
    for line in lines.split(b"\n"):
        kind, _, text = line.partition(b" ")
        if kind == b"content":
            messages[name(kind, text)] = json.loads(text)
        elif kind == b"commit":
            commits[name(kind, text)] = json.loads(text)
        elif kind in (b"source", b"ref"):
            break
    return messages, commits


def text(message):
    said = []
    for part in message.get("parts", []):
        said += [part[key] for key in ("text", "name", "arguments") if isinstance(part.get(key), str)]
        said += [inner["text"] for inner in part.get("content", []) if "text" in inner]
    return "\n".join(said)


def named(commit):
    """The contents that a commit brings."""
    operation = commit["operation"]
    found = [operation["content"]] if "content" in operation else []
    found += [each["content"] for each in operation.get("replacements", [])]
    return found + [each["stub"] for each in operation.get("parts", []) if "stub" in each]


def words(question):
    return re.findall(r"\w+", question.lower())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository")
    parser.add_argument("questions")
    parser.add_argument("--tract", default=str(HERE / "target/release/tract"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--words", type=int)
    asked = parser.parse_args()
    questions = [json.loads(line) for line in open(asked.questions)]
    for one in questions if asked.words else []:
        one["question"] = " ".join(one["question"].split()[: asked.words])
    messages, commits = objects(asked.tract, asked.repository)
    texts = {name: text(message) for name, message in messages.items()}
    folded = {name: said.lower() for name, said in texts.items()}
    newest = sorted(((commit.get("time") or 0, name) for commit in commits.values() for name in named(commit)), reverse=True)
    newest = list(dict.fromkeys(name for _, name in newest))

    index = sqlite3.connect(":memory:")
    index.execute("CREATE VIRTUAL TABLE said USING fts5 (name UNINDEXED, text, tokenize = 'porter unicode61')")
    index.executemany("INSERT INTO said VALUES (?, ?)", texts.items())

    def ranked(question):
        command = [asked.tract, "--repo", asked.repository, "find", "-n", str(FIRST), "--", question]
        out = subprocess.run(command, env=PLAIN, capture_output=True, text=True).stdout
        hashes = re.findall(r"^([0-9a-f]{7,})  ", out, re.M)
        return [name for begin in hashes for full, commit in commits.items() if full.startswith(begin) for name in named(commit)]

    def plain(question):
        query = " OR ".join(f'"{word}"' for word in words(question))
        rows = index.execute("SELECT name FROM said WHERE said MATCH ? ORDER BY rank LIMIT ?", (query, FIRST))
        return [name for name, in rows]

    def all_words(question):
        wanted = words(question)
        return [name for name in newest if all(word in folded[name] for word in wanted)][:FIRST]

    def as_it_stands(question):
        return [name for name in newest if question.lower() in folded[name]][:FIRST]

    ways = {"tract find": ranked, "FTS5, porter, any word": plain, "grep, all words": all_words, "grep, as it stands": as_it_stands}
    print("| of the first five | all | hidden | visible |\n| --- | --- | --- | --- |")
    for way, find in ways.items():
        hits = {True: [], False: []}
        for one in questions:
            answers = {name for full, commit in commits.items() if full.startswith(one["answer"]) for name in named(commit)}
            hit = not answers.isdisjoint(find(one["question"]))
            hits[one["hidden"]].append(hit)
            if asked.misses and not hit and find is ranked:
                print("missed:", one["answer"], one["question"])
        share = lambda of: f"{100 * sum(of) / len(of):.1f} %" if of else ""
        print(f"| {way} | {share(hits[True] + hits[False])} | {share(hits[True])} | {share(hits[False])} |")


main()
