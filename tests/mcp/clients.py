#!/usr/bin/env python3
"""The vendors' own clients recall through `tract mcp` what their compaction removed; and the protocol's own tools use it.

    python3 tests/mcp/clients.py --tract target/release/tract [--prefix FOLDER]

Claude Code and Codex are installed from npm (FOLDER keeps them) and talk to a canned model on this machine, which says
what it is told to: a fact, a compaction whose summary has lost it, and calls of the tools. What the tools answer must
hold the fact word for word, and stand in the client's next request. Nothing is sent to a provider. The protocol's
inspector (npm) and its Python client (PyPI) list and call all tools.

Exit status: 0 all hold, 1 one does not, 77 npm or a client cannot be had: skipped, and said so.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"
PYTHON_CLIENT = "mcp==2.3.0"
TOOLS = {"recall": {"query": "heliotrope"}, "read": {"id": ":1"}, "dropped": {}, "did": {"path": "x"}, "context": {}, "pin": {"id": ":1"}}
PACKAGES = {"claude": "@anthropic-ai/claude-code@2.1.330", "codex": "@openai/codex@0.169.0"}
FACT = "The staging key ring is called heliotrope-47, and only Imke may rotate it."
SUMMARY = "The user told a fact. Nothing else happened."
SESSION = "11111111-2222-4333-8444-555555555555"


class Model:
    """A canned model: each label has replies that wait, and remembers what it was sent."""

    def __init__(self):
        self.replies, self.requests, self.lock = {}, {}, threading.Lock()
        handler = type("Handler", (Handler,), {"model": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def url(self, label, replies):
        self.replies[label] = list(replies)
        return f"http://127.0.0.1:{self.http.server_address[1]}/{label}"

    def next(self, label, body):
        """The next reply: a text, or a tool's name and what it is given."""
        with self.lock:
            self.requests.setdefault(label, []).append(body)
            waiting = self.replies.get(label) or []
            return waiting.pop(0) if waiting and body.get("tools") else "Done."


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        _, label, *rest = self.path.split("?")[0].split("/")
        if rest[-1] == "count_tokens":
            data = b'{"input_tokens": 10}'
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        reply = self.model.next(label, body)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        events = self.anthropic(reply, body) if rest[-1] == "messages" else self.openai(reply)
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def anthropic(self, reply, body):
        usage = {"input_tokens": 10, "output_tokens": 10}
        head = {"id": f"msg_{os.urandom(6).hex()}", "type": "message", "role": "assistant", "content": [],
                "model": body.get("model"), "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield {"type": "message_start", "message": head}
        if isinstance(reply, str):
            block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply}, "end_turn"
        else:
            name, given = reply
            block = {"type": "tool_use", "id": f"toolu_{os.urandom(6).hex()}", "name": name, "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(given)}, "tool_use"
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    def openai(self, reply):
        item_id, response = f"x_{os.urandom(6).hex()}", {"id": f"resp_{os.urandom(6).hex()}"}
        if isinstance(reply, str):
            content = [{"type": "output_text", "text": reply, "annotations": []}]
            item = {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}
        else:
            name, given = reply
            space, _, name = name.rpartition(".")
            item = {"type": "function_call", "id": item_id, "call_id": f"c{item_id}", "name": name,
                    "arguments": json.dumps(given), "status": "completed", **({"namespace": space} if space else {})}
        yield {"type": "response.created", "response": response}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        yield {"type": "response.completed", "response": {**response, "status": "completed", "output": [item], "usage": usage}}


class Place:
    """A home and a project of their own."""

    def __init__(self, folder, prefix, tract):
        self.home, self.project, self.tract = folder / "home", folder / "p", str(tract)
        self.project.mkdir(parents=True)
        (self.home / ".codex").mkdir(parents=True)
        path = f"{(prefix / 'node_modules/.bin').resolve()}{os.pathsep}{os.environ['PATH']}"
        self.env = {"HOME": str(self.home), "PATH": path, "NO_COLOR": "1", "IS_SANDBOX": "1", "LANG": "C.UTF-8",
                    "ANTHROPIC_API_KEY": "sk-ant-none", "OPENAI_API_KEY": "sk-none", "CODEX_API_KEY": "sk-none",
                    "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1", "DISABLE_AUTOUPDATER": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}

    def run(self, *command, **more):
        done = subprocess.run(command, cwd=self.project, env={**self.env, **more}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=180)
        if done.returncode:
            raise AssertionError(f"{' '.join(command)[:200]}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done.stdout


def answers(requests, kind):
    """What tools have answered, in the newest request."""
    def texts(value):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            for one in value:
                yield from texts(one)
        elif isinstance(value, dict):
            yield from texts(value.get("text") or value.get("content") or value.get("output") or "")

    newest = requests[-1]
    if kind == "messages":
        blocks = [block for message in newest["messages"] if isinstance(message["content"], list) for block in message["content"]]
        return ["\n".join(texts(block["content"])) for block in blocks if block.get("type") == "tool_result"]
    return ["\n".join(texts(item["output"])) for item in newest["input"] if item.get("type") == "function_call_output"]


def claude_code(model, place):
    """Claude Code: the fact, a compaction, then the tools."""
    config = place.project / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"tract": {"command": place.tract, "args": ["mcp"]}}}))
    common = ["claude", "--dangerously-skip-permissions", "--mcp-config", str(config)]
    place.run(*common, "-p", FACT, "--session-id", SESSION, ANTHROPIC_BASE_URL=model.url("fact", ["Noted."]))
    place.run(*common, "-p", "/compact", "--resume", SESSION, ANTHROPIC_BASE_URL=model.url("compact", [SUMMARY]))
    calls = [("mcp__tract__recall", {"query": "heliotrope ring"}), ("mcp__tract__dropped", {}), ("mcp__tract__context", {})]
    loaded = ",".join(name for name, _ in calls)
    script = [("ToolSearch", {"query": f"select:{loaded}", "max_results": 5}), *calls, "It is heliotrope-47."]
    place.run(*common, "-p", "What is it called?", "--resume", SESSION, ANTHROPIC_BASE_URL=model.url("ask", script))
    return answers(model.requests["ask"], "messages")[1:]


def codex(model, place):
    """Codex: the fact, which the second session asks for."""
    def config(url):
        (place.home / ".codex/config.toml").write_text(
            f'model = "gpt-5.1-codex"\nmodel_provider = "canned"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
            f'[model_providers.canned]\nname = "canned"\nbase_url = "{url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n'
            f'request_max_retries = 1\nstream_max_retries = 0\n'
            f'[mcp_servers.tract]\ncommand = {json.dumps(place.tract)}\nargs = ["mcp"]\n')

    common = ["codex", "exec", "--skip-git-repo-check"]
    config(model.url("told", ["Noted."]))
    place.run(*common, FACT)
    # The session that asks is another one: recall looks further than itself once a watch, or this, has taken it in.
    place.run(place.tract, "import", "--last")
    calls = [("mcp__tract.recall", {"query": "heliotrope ring"}), ("mcp__tract.context", {})]
    config(model.url("asked", [*calls, "It is heliotrope-47."]))
    place.run(*common, "What is the key ring called?")
    return answers(model.requests["asked"], "responses")


def inspector(place, prefix):
    """The inspector lists the tools and calls each."""
    command = [str(prefix / "node_modules/.bin/mcp-inspector"), "--cli", place.tract, "mcp"]
    listed = json.loads(place.run(*command, "--method", "tools/list"))
    assert [tool["name"] for tool in listed["tools"]] == list(TOOLS), listed
    for name, given in TOOLS.items():
        given = [part for key, value in given.items() for part in ("--tool-arg", f"{key}={value}")]
        done = json.loads(place.run(*command, "--method", "tools/call", "--tool-name", name, *given))
        assert not done["isError"] and done["content"][0]["text"], done


PYTHON_SCRIPT = """
import asyncio, json, jsonschema, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main(tract, tools):
    async with stdio_client(StdioServerParameters(command=tract, args=["mcp"])) as streams, ClientSession(*streams) as session:
        await session.initialize()
        listed = (await session.list_tools()).tools
        assert [tool.name for tool in listed] == list(tools)
        schemas = {tool.name: tool.output_schema for tool in listed}
        for name, given in tools.items():
            # The client holds the data against the schema as well.
            done = await session.call_tool(name, given)
            assert not done.is_error and done.content[0].text, done
            jsonschema.Draft202012Validator.check_schema(schemas[name])
            jsonschema.validate(done.structured_content, schemas[name], jsonschema.Draft202012Validator)
        assert (await session.get_prompt("handover")).messages

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""


def python_client(place, folder):
    """The Python client lists the tools and calls each; false where it cannot be had."""
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    if subprocess.run([venv / "bin/pip", "install", "-q", PYTHON_CLIENT], capture_output=True).returncode:
        return False
    place.run(str(venv / "bin/python"), "-c", PYTHON_SCRIPT, place.tract, json.dumps(TOOLS))
    return True


def installed(prefix, packages):
    """Installs what is not there, by the names of its programs; false, and said, where it cannot be had."""
    if all((prefix / "node_modules/.bin" / name).exists() for name in packages):
        return True
    if not shutil.which("npm"):
        print("skipped: npm is not here")
        return False
    prefix.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["npm", "install", "--prefix", str(prefix), "--no-audit", "--no-fund", *packages.values()],
                          capture_output=True, text=True)
    if done.returncode:
        print(f"skipped: npm cannot install the clients: {done.stderr.strip()[-200:]}")
    return done.returncode == 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--prefix", type=pathlib.Path)
    options.add_argument("--keep", action="store_true")
    args = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tract-mcp-"))
    prefix = (args.prefix or folder / "npm").resolve()
    try:
        if not installed(prefix, {**PACKAGES, "mcp-inspector": INSPECTOR}):
            return 77
        model, failed = Model(), False
        for client in (claude_code, codex):
            place = Place(folder / client.__name__, prefix, args.tract.resolve())
            place.run(place.tract, "init")
            said = client(model, place)
            is_told = bool(said) and FACT in said[0]
            print(f"{client.__name__}: {'recalled word for word' if is_told else 'NOT RECALLED'}")
            if not is_told or args.keep:
                print(json.dumps(said, indent=1, ensure_ascii=False))
            failed |= not is_told
        place = Place(folder / "kits", prefix, args.tract.resolve())
        place.run(place.tract, "init")
        place.run(place.tract, "commit", "-r", "user", "-m", FACT)
        inspector(place, prefix)
        print("inspector: all tools")
        is_there = python_client(place, folder)
        print("python client: all tools" if is_there else "python client: skipped, it cannot be installed")
        return int(failed)
    finally:
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
