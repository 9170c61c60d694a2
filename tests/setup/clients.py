#!/usr/bin/env python3
"""The vendors' own clients read what `tract setup` writes and what the plugin holds: they list the server, run the hooks, recall.

    python3 tests/setup/clients.py --tract target/release/tract [--prefix FOLDER]

Claude Code and Codex are installed from npm (FOLDER keeps them) and talk to a canned model on this machine. Once by `tract setup`,
once by the plugin in docs/plugin, each in a home of its own: the client lists the server; a session's end has its hook bring
the session in; another session asks by the server's tools, and the fact stands in its next request word for word. Gemini CLI
and OpenCode, where npm has them, list the server. Then `tract setup --undo` takes all of it back. Nothing is sent to a provider.

Exit status: 0 all hold, 1 one does not, 77 npm or a client cannot be had: skipped, and said so.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "mcp"))
from clients import FACT, PACKAGES, SESSION, Model, Place, answers, installed  # noqa: E402

PLUGIN = HERE.parents[1] / "docs/plugin"
OTHERS = {"gemini": "@google/gemini-cli@0.61.0", "opencode": "opencode-ai@1.18.33"}


class Gemini(BaseHTTPRequestHandler):
    """A canned model for Gemini CLI."""

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length") or 0))
        candidate = {"content": {"role": "model", "parts": [{"text": "Noted."}]}, "finishReason": "STOP", "index": 0}
        data = json.dumps({"candidates": [candidate], "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 12}}).encode()
        is_stream = "stream" in self.path
        data = b"data: " + data + b"\n\n" if is_stream else data
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if is_stream else "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Home(Place):
    """A home with the project below it, and tract found by its name."""

    def __init__(self, folder, prefix, tract):
        super().__init__(folder, prefix, tract)
        self.project = self.home / "p"
        self.project.mkdir()
        programs = folder / "bin"
        programs.mkdir()
        (programs / "tract").symlink_to(tract)
        self.env["PATH"] = f"{programs}:{self.env['PATH']}"
        self.env["GEMINI_CLI_TRUST_WORKSPACE"] = "true"

    def tree(self):
        """Every file of settings, by its path."""
        names = [".claude/settings.json", ".claude.json", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json",
                 ".config/opencode/opencode.jsonc", ".config/tract", ".tract"]
        paths = [self.home / name for name in names]
        return {path: path.read_bytes() if path.is_file() else b"" for path in paths if path.exists()}

    def sessions(self):
        """What the repository in the home has of the fact."""
        return self.run("tract", "--repo", str(self.home), "find", "heliotrope")


def trust_hooks(home):
    """Says to Codex what a user says in /hooks, the way its own screen says it."""
    server = subprocess.Popen(["codex", "app-server"], cwd=home.project, env=home.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)

    def ask(number, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == number:
                return answer["result"]
        raise AssertionError(f"codex app-server ended at {method}")

    ask(1, "initialize", {"clientInfo": {"name": "test", "version": "1"}})
    listed = ask(2, "hooks/list", {"cwds": [str(home.project)]})["data"][0]
    assert not listed["warnings"] and not listed["errors"], listed
    hooks = [hook for hook in listed["hooks"] if "tract" in hook["command"]]
    assert sorted(hook["eventName"] for hook in hooks) == ["postCompact", "preCompact", "sessionEnd", "sessionStart"], hooks
    state = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
    ask(3, "config/batchWrite", {"edits": [{"keyPath": "hooks.state", "value": state, "mergeStrategy": "upsert"}]})
    listed = ask(4, "hooks/list", {"cwds": [str(home.project)]})["data"][0]["hooks"]
    assert all(hook["trustStatus"] == "trusted" for hook in listed if "tract" in hook["command"]), listed
    server.terminate()
    server.wait()


def claude_code(model, home, label, tools):
    """Claude Code: a session whose end brings it in, and another that asks."""
    listed = home.run("claude", "mcp", "list")
    assert "tract" in listed and "✔ Connected" in listed, listed
    common = ["claude", "--dangerously-skip-permissions", "-p"]
    home.run(*common, FACT, "--session-id", SESSION, ANTHROPIC_BASE_URL=model.url(f"{label}-told", ["Noted."]))
    found = home.sessions()
    assert "heliotrope-47" in found, f"the hook did not bring the session in: {found}"
    call = (f"{tools}recall", {"query": "heliotrope ring"})
    script = [("ToolSearch", {"query": f"select:{call[0]}", "max_results": 5}), call, "It is heliotrope-47."]
    home.run(*common, "What is it called?", ANTHROPIC_BASE_URL=model.url(f"{label}-asked", script))
    said = answers(model.requests[f"{label}-asked"], "messages")[1:]
    assert said and FACT in said[0], said
    # The setting that setup writes: the session's file has its requests.
    return next(home.home.glob(".claude/projects/*/*.jsonl"))


def codex(model, home, label, tools):
    """Codex: the same."""
    listed = home.run("codex", "mcp", "list")
    assert "tract" in listed and "enabled" in listed, listed
    trust_hooks(home)
    path = home.home / ".codex/config.toml"
    kept = path.read_text()

    def by(url):
        path.write_text(
            f'model = "gpt-5.1-codex"\nmodel_provider = "canned"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n{kept}\n'
            f'[model_providers.canned]\nname = "canned"\nbase_url = "{url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n'
            f'request_max_retries = 1\nstream_max_retries = 0\n')

    common = ["codex", "exec", "--skip-git-repo-check"]
    by(model.url(f"{label}-told", ["Noted."]))
    home.run(*common, FACT)
    found = home.sessions()
    assert "heliotrope-47" in found, f"the hook did not bring the session in: {found}"
    by(model.url(f"{label}-asked", [(f"{tools}recall", {"query": "heliotrope ring"}), "It is heliotrope-47."]))
    home.run(*common, "What is the key ring called?")
    said = answers(model.requests[f"{label}-asked"], "responses")
    path.write_text(kept)
    assert said and FACT in said[0], said


def gemini(home):
    """Gemini CLI: a session whose end brings it in, in silence."""
    http = ThreadingHTTPServer(("127.0.0.1", 0), Gemini)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    (home.home / ".gemini").mkdir()
    settings = home.home / ".gemini/settings.json"
    before = '{ "security": { "auth": { "selectedType": "gemini-api-key" } } } // mine\n'
    settings.write_text(before)
    home.run("tract", "setup", "--yes", "--only", "home", "--only", "gemini")
    home.env.update(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=f"http://127.0.0.1:{http.server_address[1]}")
    done = subprocess.run(["gemini", "-p", FACT, "-m", "gemini-2.5-flash"], cwd=home.project, env=home.env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=180)
    assert not done.returncode and "tract" not in done.stderr and "Imported" not in done.stderr, done.stderr
    assert "heliotrope-47" in home.sessions(), "the hook did not bring the session in"
    home.run("tract", "setup", "--undo")
    assert settings.read_text() == before, settings.read_text()
    print("gemini, by the setup: the hooks run")


def by_setup(model, home, client, others):
    """One client, set up by the command, and all of it taken back."""
    if client is codex:
        (home.home / ".codex/config.toml").write_text("# mine\nmodel_verbosity = \"low\"\n")
    else:
        (home.home / ".claude").mkdir()
        (home.home / ".claude/settings.json").write_text('{\n  "includeCoAuthoredBy": false\n}\n')
    before = home.tree()
    parts = ["home", "claude-code" if client is claude_code else "codex", *others]
    only = [word for part in parts for word in ("--only", part)]
    home.run("tract", "setup", "--yes", *only)
    if client is claude_code:
        transcript = client(model, home, "setup-claude", "mcp__tract__")
        assert '"type":"api-request"' in transcript.read_text(), "no request is in the session's file"
        home.run("tract", "setup", "--check", *only)
    else:
        client(model, home, "setup-codex", "mcp__tract.")
        home.run("tract", "setup", "--check", *only)
    for name in others:
        command = {"gemini": ["gemini", "mcp", "list"], "opencode": ["opencode", "mcp", "list"]}[name]
        done = subprocess.run(command, cwd=home.project, env=home.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
        listed = done.stdout + done.stderr
        assert "tract" in listed and "onnected" in listed, f"{name}: {listed}"
        print(f"{name}: lists the server, and it answers")
    home.run("tract", "setup", "--undo")
    after = home.tree()
    for path, content in before.items():
        # A client has written its own beside ours by now.
        assert b"tract" not in after[path].replace(str(home.home).encode(), b""), (path, after[path])
        assert content in after[path] or client is codex, (path, content, after[path])
    assert not (home.home / ".config/tract").exists()


def by_plugin(model, home, client):
    """One client, by the plugin."""
    home.run("tract", "init", str(home.home))
    if client is claude_code:
        for folder in (PLUGIN, PLUGIN / "tract"):
            home.run("claude", "plugin", "validate", "--strict", str(folder))
        home.run("claude", "plugin", "marketplace", "add", str(PLUGIN))
        home.run("claude", "plugin", "install", "tract@tract")
        assert "enabled" in home.run("claude", "plugin", "list")
        assert "Skills (1)" in home.run("claude", "plugin", "details", "tract")
        client(model, home, "plugin-claude", "mcp__plugin_tract_tract__")
    else:
        home.run("codex", "plugin", "marketplace", "add", str(PLUGIN))
        home.run("codex", "plugin", "add", "tract@tract")
        assert "installed, enabled" in home.run("codex", "plugin", "list")
        client(model, home, "plugin-codex", "mcp__tract.")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--prefix", type=pathlib.Path)
    options.add_argument("--keep", action="store_true")
    args = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tract-setup-"))
    prefix = (args.prefix or folder / "npm").resolve()
    try:
        if not installed(prefix, PACKAGES):
            return 77
        others = [name for name, package in OTHERS.items() if installed(prefix, {name: package})]
        model, failed, tract = Model(), False, args.tract.resolve()
        for client in (claude_code, codex):
            ways = {"setup": lambda home, client=client: by_setup(model, home, client, others if client is claude_code else []),
                    "plugin": lambda home, client=client: by_plugin(model, home, client)}
            for way, try_it in ways.items():
                try:
                    try_it(Home(folder / f"{client.__name__}-{way}", prefix, tract))
                    print(f"{client.__name__}, by the {way}: the server is listed, the hooks run, the fact is recalled")
                except (AssertionError, KeyError, StopIteration) as error:
                    failed = True
                    print(f"{client.__name__}, by the {way}: FAILED: {error}")
        if "gemini" in others:
            try:
                gemini(Home(folder / "gemini", prefix, tract))
            except AssertionError as error:
                failed = True
                print(f"gemini, by the setup: FAILED: {error}")
        return int(failed)
    finally:
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
