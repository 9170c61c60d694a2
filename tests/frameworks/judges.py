#!/usr/bin/env python3
"""What tract writes for frameworks and for data sets, judged by the packages that read it.

    python3 tests/frameworks/judges.py --tract target/release/tract [--work FOLDER]

Sessions of tests/data are exported as `otel`, `ui-message` and `pydantic-ai`. pydantic-ai's own adapter, the AI SDK of versions 5, 6
and 7 (validateUIMessages, convertToModelMessages) and the classes of opentelemetry-proto read each file. tract imports it again:
the request is the same, and every reply is billed once. `datasets.load_dataset` and DuckDB read what `tract dataset` writes.

The packages are installed from PyPI and npm into FOLDER, which keeps them. Nothing is sent anywhere.

Exit status: 0 all hold, 1 one does not, 77 a package cannot be had: skipped, and said so.
"""

import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve()
DATA = HERE.parent.parent / "data"
SESSIONS = [
    "claude-code/parallel.jsonl", "claude-code/compaction.jsonl", "claude-code/agent-progress.jsonl", "codex/plain.jsonl",
    "pydantic-ai/plain.json", "pi/plain.jsonl", "opencode/plain.json",
    "otel/conventions.json", "gemini/plain.json",
]
PYTHON = ["pydantic-ai-slim", "opentelemetry-proto", "datasets", "duckdb"]
VERSIONS = ["5", "6", "7"]
NODE = """
import { readFileSync } from "node:fs";
const { validateUIMessages, convertToModelMessages } = await import("ai");
const messages = JSON.parse(readFileSync(process.argv[2], "utf8"));
const valid = await validateUIMessages({ messages });
const sent = await convertToModelMessages(valid);
console.log(JSON.stringify(sent.map(message => [message.role, typeof message.content === "string"
    ? [["text", message.content]]
    : message.content.map(part => [part.type, part.text ?? part.toolCallId ?? ""])])));
"""


class Failed(Exception):
    pass


def run(*words, cwd=None, env=None, ok=True):
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, timeout=1800,
                          stdin=subprocess.DEVNULL)
    if ok and done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: {done.stderr.strip()[-2000:]}")
    return done


def skip(what):
    print(f"skipped: {what}")
    sys.exit(77)


def packages(work):
    """A Python with the packages, and a folder for each version of the AI SDK."""
    venv = work / "venv"
    if not (venv / "bin" / "python").exists():
        run(sys.executable, "-m", "venv", venv)
    if run(venv / "bin" / "pip", "install", "--quiet", *PYTHON, ok=False).returncode:
        skip("PyPI's packages cannot be had")
    sdks = {}
    for version in VERSIONS:
        folder = work / f"ai-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "node_modules" / "ai").exists():
            (folder / "package.json").write_text('{"type": "module"}')
            try:
                failed = run("npm", "install", "--silent", f"ai@{version}", "zod", cwd=folder, ok=False).returncode
            except FileNotFoundError:
                skip("npm is not installed")
            if failed:
                skip("npm's packages cannot be had")
        (folder / "judge.mjs").write_text(NODE)
        sdks[version] = folder
    return venv / "bin" / "python", sdks


def in_order(sent):
    """Results that stand side by side, by their ids: the AI SDK has them in the order of their calls."""
    ordered, results = [], []
    for message in [*sent, None]:
        if message and message["role"] == "tool":
            results.append(message)
            continue
        ordered += sorted(results, key=lambda result: result["tool_call_id"])
        results = []
        if message:
            ordered.append(message)
    return ordered


class Place:
    def __init__(self, tract, folder):
        self.tract, self.folder = tract, folder
        self.env = {**os.environ, "HOME": str(folder), "NO_COLOR": "1"}
        folder.mkdir(parents=True)
        self("init")

    def __call__(self, *words, ok=True):
        return run(self.tract, "-q", *words, cwd=self.folder, env=self.env, ok=ok)

    def messages(self):
        """What a model is sent, in the form of Chat Completions: the JSON of arguments without white space."""
        sent = json.loads(self("compile", "--format", "openai").stdout)
        sent = sent["messages"] if isinstance(sent, dict) else sent
        for message in sent:
            # No form knows developers, nor where instructions are cut into texts.
            if message["role"] in ("developer", "system"):
                message["role"] = "system"
                if isinstance(message["content"], list):
                    message["content"] = "".join(part["text"] for part in message["content"])
            # pydantic-ai has no names of files.
            for part in message["content"] if isinstance(message["content"], list) else []:
                part.get("file", {}).pop("filename", None)
            for call in message.get("tool_calls") or []:
                if "custom" in call:
                    custom = call.pop("custom")
                    call.update(type="function", function={"name": custom["name"], "arguments": custom["input"]})
                try:
                    call["function"]["arguments"] = json.loads(call["function"]["arguments"])
                except ValueError:
                    pass
        return in_order(sent)


def pydantic(python, path):
    code = ("import sys; from pydantic_ai.messages import ModelMessagesTypeAdapter as A\n"
            "found = A.validate_json(open(sys.argv[1]).read()); print(len(found), [m.kind for m in found].count('response'))\n"
            "assert A.validate_json(A.dump_json(found)) == found")
    return run(python, "-c", code, path).stdout.split()


def proto(python, path):
    """OTLP has ids in hexadecimal digits, and protobuf's own JSON in base64."""
    found = json.loads(path.read_text())
    for resource in found["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    other = path.with_suffix(".proto.json")
    other.write_text(json.dumps(found))
    code = ("import sys, json; from google.protobuf import json_format\n"
            "from opentelemetry.proto.trace.v1.trace_pb2 import TracesData\n"
            "found = json_format.Parse(open(sys.argv[1]).read(), TracesData())\n"
            "spans = [s for r in found.resource_spans for c in r.scope_spans for s in c.spans]\n"
            "ids = {s.span_id for s in spans}\n"
            "assert len(ids) == len(spans), 'a span id twice'\n"
            "assert all(len(s.trace_id) == 16 and len(s.span_id) == 8 for s in spans), 'ids'\n"
            "assert all(not s.parent_span_id or s.parent_span_id in ids for s in spans), 'a parent that is not there'\n"
            "assert all(s.start_time_unix_nano <= s.end_time_unix_nano for s in spans), 'times'\n"
            "named = [dict((a.key, a.value) for a in s.attributes) for s in spans]\n"
            "print(sum(a['gen_ai.operation.name'].string_value == 'chat' for a in named))")
    return int(run(python, "-c", code, other).stdout)


def judge(place, name, python, sdks, work):
    """Exports a session, has the packages read it, and imports it again."""
    sent = place.messages()
    replies = sum(message["role"] == "assistant" for message in sent)
    for form in ("pydantic-ai", "ui-message", "otel"):
        path = place.folder / f"again.{form}.json"
        place("export", "--format", form, "--allow-secrets", "-o", path)
        if form == "pydantic-ai":
            pydantic(python, path)
        elif form == "otel":
            chats = proto(python, path)
            # A request that nobody has answered yet is one more.
            if chats not in (replies, replies + 1):
                raise Failed(f"{name}: {chats} spans of requests and {replies} replies")
        else:
            for version, folder in sdks.items():
                found = json.loads(run("node", "judge.mjs", path, cwd=folder).stdout)
                roles = [role for role, _ in found if role != "tool"]
                wanted = [message["role"] for message in sent if message["role"] != "tool"]
                if roles != wanted:
                    raise Failed(f"{name}: AI SDK {version} sends {roles}, not {wanted}")
        other = Place(place.tract, work / f"{place.folder.name}-{form}")
        other("import", path)
        again = other.messages()
        if again != sent:
            raise Failed(f"{name}: {form} comes back as {json.dumps(again)[:600]}, not {json.dumps(sent)[:600]}")
    print(f"ok  {name}: {len(sent)} messages in three forms")


def datasets(place, python, work):
    """Rows as `datasets` and DuckDB read them."""
    columns = {"session": ["messages"], "turn": ["messages"], "prompt": ["prompt", "completion"]}
    for rows, said in columns.items():
        for suffix in ("jsonl", "parquet"):
            path = work / f"{rows}.{suffix}"
            done = place("dataset", "--all", "--rows", rows, "-o", path, ok=False)
            if suffix == "parquet" and "without Parquet" in done.stderr:
                print("skipped: this tract was built without Parquet")
                continue
            if done.returncode:
                raise Failed(done.stderr)
            kind = "json" if suffix == "jsonl" else "parquet"
            code = ("import sys, datasets, duckdb\n"
                    f"found = datasets.load_dataset('{kind}', data_files=sys.argv[1], split='train')\n"
                    f"assert all(row[c] for c in {said!r} for row in found)\n"
                    f"assert set(row[0]['role'] for row in found['{said[0]}']) <= {{'system', 'user', 'assistant', 'developer'}}\n"
                    f"count, tokens = duckdb.sql(f\"select count(*), sum(output_tokens) from '{{sys.argv[1]}}'\").fetchall()[0]\n"
                    "assert count == len(found) > 0, (count, len(found))\n"
                    "print(count, tokens)")
            env = {**os.environ, "HF_HOME": str(work / "hf"), "HF_HUB_OFFLINE": "1"}
            found = run(python, "-c", code, path, env=env).stdout.split()
            print(f"ok  dataset {rows} as {suffix}: {found[0]} rows, {found[1]} output tokens")
            if suffix == "parquet":
                same_rows(python, path)


def same_rows(python, path):
    """A Parquet file has the rows of JSON Lines, each column with a type that holds it."""
    code = ("import json, sys, pyarrow.parquet as pq\n"
            "def said(value):\n"
            "    if isinstance(value, dict):\n"
            "        return {key: said(one) for key, one in value.items() if one is not None}\n"
            "    return [said(one) for one in value] if isinstance(value, list) else value\n"
            "table = pq.read_table(sys.argv[1])\n"
            "lines = [said(json.loads(line)) for line in open(sys.argv[2])]\n"
            "assert said(table.to_pylist()) == lines\n"
            "assert set(table.column_names) == {key for line in open(sys.argv[2]) for key in json.loads(line)}\n"
            "types = {str(field.type) for field in table.schema}\n"
            "assert {'string', 'int64', 'double'} <= types and any(one.startswith('list<') for one in types), types\n"
            "print(len(lines), len(types))")
    count, _ = run(python, "-c", code, path, path.with_suffix(".jsonl")).stdout.split()
    print(f"ok  {path.name}: the {count} rows of {path.stem}.jsonl")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tract", required=True, type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    options = parser.parse_args()
    tract = options.tract.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        python, sdks = packages((options.work or scratch / "packages").resolve())
        try:
            all_of = Place(tract, scratch / "all")
            for session in SESSIONS:
                path = DATA / session
                if not path.exists():
                    raise Failed(f"there is no {session}")
                place = Place(tract, scratch / session.replace("/", "-").replace(".", "-"))
                # Some of them have damage in them, which is said and does not come in.
                place("import", path, ok=False)
                all_of("import", path, ok=False)
                judge(place, session, python, sdks, scratch)
            datasets(all_of, python, scratch)
        except Failed as failed:
            print(f"FAILED: {failed}")
            sys.exit(1)


if __name__ == "__main__":
    main()
