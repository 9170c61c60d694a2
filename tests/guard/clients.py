#!/usr/bin/env python3
"""`tract guard --hook` in the vendors' own clients: what a compaction must not lose stands in the request for the
summary, and what the summary lacks in the next one.

    python3 tests/guard/clients.py --tract target/release/tract [--prefix FOLDER] [--only NAME] [--keep]

Claude Code and Codex are installed from npm (FOLDER keeps them) and talk to a canned model on this machine. Fifteen facts
of all classes are told or come about; a canned summary has only three of them. Compactions are automatic and by hand,
with `-p` or `exec` and in the terminal (tmux). Nothing is sent to a provider.

Exit status: 0 all hold, 1 one does not, 77 npm or a client cannot be had: skipped, and said so.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
import clients as mcp  # noqa: E402

PIN = "Never push to the branch harbour before Friday noon."
TOLD = (f"Only Imke may rotate the heliotrope key ring.\nWrite all dates as day and month and year.\n@pin {PIN}")
SECOND = "Ask before you delete any file of the archive."
SAID = ("`parse_amount_comma` is to blame, see #4711 and https://rings.test/heliotrope/47; it came with 8.4.1, on port 65537.\n"
        "- [ ] write a note for Imke about the ring\n- [ ] close the ledger of 1998")
FAILS, READS, WRITES = "python3 -c 'import nothing_like_this'", "cat notes/ledger.txt", "src/amount.py"
ERROR = "ModuleNotFoundError: No module named 'nothing_like_this'"
FACTS = {
    "pin": [PIN], "instruction": ["Only Imke may rotate the heliotrope key ring.", "Write all dates as day and month and year.", SECOND],
    "task": ["write a note for Imke about the ring", "close the ledger of 1998"], "command": [FAILS, READS],
    "file": ["notes/ledger.txt"], "error": [ERROR], "url": ["https://rings.test/heliotrope/47"],
    "name": ["parse_amount_comma", "#4711"], "number": ["8.4.1", "65537"],
}
ALL = [fact for facts in FACTS.values() for fact in facts]
KEPT = [SECOND, READS, "#4711"]
SUMMARY = f"<summary>The user said: {SECOND} We ran {READS} because of #4711. Nothing else.</summary>"
FULL = 190_000
ID = mcp.SESSION


class Handler(mcp.Handler):
    """A reply may say how many tokens the context has: `(reply, tokens)` in a list of its own."""

    def told(self, reply, events, put):
        reply, tokens = reply if isinstance(reply, list) else (reply, 10)
        for event in events(reply):
            put(event, tokens)
            yield event

    def anthropic(self, reply, body):
        def put(event, tokens):
            for usage in (event.get("usage"), (event.get("message") or {}).get("usage")):
                if usage:
                    usage["input_tokens"] = tokens

        return self.told(reply, lambda one: super(Handler, self).anthropic(one, body), put)

    def openai(self, reply):
        def put(event, tokens):
            usage = (event.get("response") or {}).get("usage")
            if usage:
                usage.update(input_tokens=tokens, total_tokens=tokens + 10)

        return self.told(reply, super().openai, put)


mcp.Handler = Handler


class Model(mcp.Model):
    """The canned model: a request for a summary gets the summary, whatever else waits."""

    def next(self, label, body):
        if is_for_summary(body):
            with self.lock:
                self.requests.setdefault(label, []).append(body)
            return SUMMARY
        return super().next(label, body)

    def asked(self, label, summary):
        """The requests under a label: those for a summary, or the others. One without tools asks for a title."""
        found = self.requests.get(label, [])
        return [body for body in found if is_for_summary(body) == summary and (summary or body.get("tools"))]


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        yield from texts(value.get("text") or value.get("content") or value.get("output") or "")


def said(body):
    """All texts of a request's messages."""
    return "\n".join(texts(body.get("messages") or body.get("input") or []))


def last(body):
    messages = body.get("messages") or body.get("input") or [{}]
    return "\n".join(texts(messages[-1].get("content") or ""))


def is_for_summary(body):
    return any(words in last(body) for words in ("CRITICAL: Respond with TEXT ONLY", "CONTEXT CHECKPOINT COMPACTION"))


def given_back(text):
    found = re.findall(r"<tract_given_back>.*?</tract_given_back>", text, re.S)
    return found[-1] if found else ""


def lacks(text, facts=ALL):
    return [fact for fact in facts if fact not in text]


class Terminal:
    """A client in tmux."""

    def __init__(self, place, command, ready, **more):
        self.name = f"tract-guard-{place.home.parent.name}"
        env = {**place.env, "TERM": "xterm-256color", **more}
        line = shlex.join(["env", "-i", *(f"{key}={value}" for key, value in env.items()), *command])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", "c", "-x", "140", "-y", "50", "-c", str(place.project), line)
        self.until(lambda: re.search(ready, self.screen()), "it is ready")
        time.sleep(1)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.name, *args], capture_output=True, text=True)

    def screen(self):
        return self.tmux("capture-pane", "-p", "-t", "c").stdout

    def until(self, holds, what, seconds=60):
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain until {what}:\n{self.screen()}")
            time.sleep(0.1)

    def say(self, text, holds, what):
        self.tmux("send-keys", "-t", "c", "-l", text)
        time.sleep(0.6)
        self.tmux("send-keys", "-t", "c", "Enter")
        self.until(holds, what)
        time.sleep(1.5)

    def close(self):
        self.tmux("kill-server")


def hooks(place):
    one = [{"hooks": [{"type": "command", "command": f"{shlex.quote(place.tract)} guard --hook"}]}]
    return {"hooks": {event: one for event in ("PreCompact", "PostCompact", "SessionStart")}}


def furnish(place):
    place.run(place.tract, "init")
    (place.project / "notes").mkdir()
    (place.project / "notes/ledger.txt").write_text("1998: 12 crowns\n")
    (place.home / ".claude").mkdir()
    (place.home / ".claude/settings.json").write_text(json.dumps(hooks(place)))
    (place.home / ".codex/hooks.json").write_text(json.dumps(hooks(place)))
    known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "projectOnboardingSeenCount": 9}
    version = mcp.PACKAGES["claude"].rpartition("@")[2]
    (place.home / ".claude.json").write_text(json.dumps({
        "numStartups": 9, "theme": "dark", "userID": "0" * 64, "hasCompletedOnboarding": True, "lastOnboardingVersion": version,
        "lastReleaseNotesSeen": version, "autoUpdates": False, "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [place.env["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {str(place.project): known}}))


def bash(command):
    return ("Bash", {"command": command, "description": "Runs it"})


CLAUDE = ["claude", "--dangerously-skip-permissions"]
STORY = [bash(FAILS), bash(READS), SAID]


def claude(model, place, label, prompt, replies, *args, **more):
    place.run(*CLAUDE, *args, "-p", prompt, ANTHROPIC_BASE_URL=model.url(label, replies), **more)


def claude_by_hand(model, place):
    claude(model, place, "told", TOLD, STORY, "--session-id", ID)
    claude(model, place, "second", SECOND, ["I will ask."], "--resume", ID)
    claude(model, place, "compact", "/compact", [], "--resume", ID)
    claude(model, place, "next", "Go on.", ["Gone on."], "--resume", ID)
    return model.asked("compact", True), model.asked("next", False)


def claude_automatic(model, place):
    claude(model, place, "told", TOLD, STORY, "--session-id", ID)
    replies = [bash("true"), [bash("echo full"), FULL], "Gone on."]
    claude(model, place, "auto", SECOND, replies, "--resume", ID, CLAUDE_CODE_AUTO_COMPACT_WINDOW="150000")
    return model.asked("auto", True), model.asked("auto", False)[-1:]


def claude_terminal(model, place, replies, compacts, **more):
    url = model.url("tui", replies)
    command = [*CLAUDE, "--session-id", ID]
    terminal = Terminal(place, command, r"❯|> ", ANTHROPIC_BASE_URL=url, **more)
    try:
        count = lambda summary: len(model.asked("tui", summary))
        # A line feed would end the prompt: each line is a prompt of its own.
        for line in TOLD.split("\n"):
            waiting = len(model.replies["tui"])
            terminal.say(line, lambda: len(model.replies["tui"]) < waiting, "the prompt is answered")
        terminal.until(lambda: len(model.replies["tui"]) <= len(replies) - 5, "the story is told")
        compacts(terminal, count)
    finally:
        terminal.close()
    return model.asked("tui", True), model.asked("tui", False)[-1:]


def claude_terminal_by_hand(model, place):
    def compacts(terminal, count):
        before = count(False)
        terminal.say(SECOND, lambda: count(False) > before, "the prompt is answered")
        terminal.say("/compact", lambda: "Compacted" in terminal.screen(), "it has compacted")
        before = count(False)
        terminal.say("Go on.", lambda: count(False) > before, "the prompt is answered")

    return claude_terminal(model, place, ["Yes.", "Yes.", *STORY, "I will ask.", "Gone on."], compacts)


def claude_terminal_automatic(model, place):
    def compacts(terminal, count):
        terminal.say(SECOND, lambda: count(True) > 0 and "Gone on." in terminal.screen(), "it has compacted and gone on")

    replies = ["Yes.", "Yes.", *STORY, [bash("echo full"), FULL], "Gone on."]
    return claude_terminal(model, place, replies, compacts, CLAUDE_CODE_AUTO_COMPACT_WINDOW="150000")


CODEX_TRUST = "--dangerously-bypass-hook-trust"
CODEX_STORY = [("exec_command", {"cmd": FAILS}), ("exec_command", {"cmd": READS})]


def codex_config(place, url):
    (place.home / ".codex/config.toml").write_text(
        f'model = "gpt-5.1-codex"\nmodel_provider = "canned"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f'model_auto_compact_token_limit = 150000\ncheck_for_update_on_startup = false\n'
        f'[model_providers.canned]\nname = "canned"\nbase_url = "{url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n'
        f'request_max_retries = 1\nstream_max_retries = 0\n'
        f'[projects.{json.dumps(str(place.project))}]\ntrust_level = "trusted"\n')


def codex(model, place, label, replies, *args):
    codex_config(place, model.url(label, replies))
    return place.run("codex", "exec", "--skip-git-repo-check", CODEX_TRUST, "--json", *args)


def codex_automatic(model, place):
    out = codex(model, place, "told", [*CODEX_STORY, SAID], TOLD)
    session = re.search(r'"thread_id":"([^"]+)"', out)[1]
    codex(model, place, "second", [["I will ask.", FULL]], "resume", session, SECOND)
    codex(model, place, "next", ["Gone on."], "resume", session, "Go on.")
    return model.asked("next", True), model.asked("next", False)


def codex_terminal_by_hand(model, place):
    replies = [*CODEX_STORY, SAID, "I will ask.", "Gone on."]
    codex_config(place, model.url("tui", replies))
    terminal = Terminal(place, ["codex", CODEX_TRUST], r"›|OpenAI Codex")
    try:
        count = lambda summary: len(model.asked("tui", summary))
        prompt = TOLD.replace("\n@pin", " \n@pin")
        terminal.tmux("load-buffer", "-b", "told", "-")
        subprocess.run(["tmux", "-L", terminal.name, "load-buffer", "-"], input=prompt, text=True)
        terminal.tmux("paste-buffer", "-p", "-t", "c")
        terminal.say("", lambda: count(False) >= 3, "the story is told")
        terminal.say(SECOND, lambda: count(False) >= 4, "the prompt is answered")
        terminal.say("/compact", lambda: count(True) > 0, "it has compacted")
        terminal.say("Go on.", lambda: count(False) >= 5, "the prompt is answered")
    finally:
        terminal.close()
    return model.asked("tui", True), model.asked("tui", False)[-1:]


def recorded(place, kind, text):
    """Whether what was given back stands in the log, and word for word in what is compiled."""
    place.run(place.tract, "import", "--last")
    log = place.run(place.tract, "log", "-n", "0")
    form = "anthropic" if kind == "claude-code" else "responses"
    compiled = "\n".join(texts((lambda body: body.get("messages") or body.get("input"))(
        json.loads(place.run(place.tract, "compile", "--format", form)))))
    problems = []
    if "tract_given_back" not in log and "tract given back" not in log:
        problems.append("the log has no mark")
    if text not in compiled:
        problems.append("what is compiled lacks it")
    if kind == "claude-code":
        sent = place.run(place.tract, "compile", "--for", ":-1")
        if text not in "\n".join(texts(json.loads(sent)["messages"])):
            problems.append("compile --for lacks it")
    return problems


def check(story, model, place):
    """What does not hold."""
    furnish(place)
    summaries, nexts = story(model, place)
    kind = "codex" if story.__name__.startswith("codex") else "claude-code"
    problems = []
    if not summaries or not nexts:
        return [f"{len(summaries)} summaries were asked for, {len(nexts)} requests followed"]
    if kind == "claude-code":
        # Codex throws away what PreCompact prints: there the request for the summary has the conversation alone.
        told = last(summaries[0]).rpartition("Additional Instructions:")[2]
        problems += [f"not in the request for the summary: {fact}" for fact in lacks(told)]
    given = given_back(said(nexts[-1]))
    left_out = [fact for fact in ALL if fact not in KEPT]
    if kind == "codex":
        # Codex keeps the user's own words, and its file has the summary by then: what is still said is not given back.
        left_out = [fact for fact in left_out if fact not in said(nexts[-1]).replace(given, "")]
        problems += [f"given back though the summary says it: {fact}" for fact in KEPT if fact in given]
    problems += [f"not in the next request: {fact}" for fact in lacks(given, left_out)]
    if len(given) > 2_000:
        problems.append(f"{len(given)} characters were given back")
    problems += recorded(place, kind, given)
    status = place.run(place.tract, "status")
    if "failed" in status or "Guard" not in status:
        problems.append(f"status: {status}")
    return problems


STORIES = [claude_by_hand, claude_automatic, claude_terminal_by_hand, claude_terminal_automatic, codex_automatic, codex_terminal_by_hand]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--prefix", type=pathlib.Path)
    options.add_argument("--only")
    options.add_argument("--keep", action="store_true")
    args = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tract-guard-"))
    prefix = (args.prefix or folder / "npm").resolve()
    try:
        if not mcp.installed(prefix, mcp.PACKAGES):
            return 77
        failed = False
        for story in STORIES:
            if args.only and args.only != story.__name__:
                continue
            if "terminal" in story.__name__ and not shutil.which("tmux"):
                print(f"{story.__name__}: skipped, tmux is not here")
                continue
            model = Model()
            problems = check(story, model, mcp.Place(folder / story.__name__, prefix, args.tract.resolve()))
            print(f"{story.__name__}: {'all ' + str(len(ALL)) + ' facts' if not problems else 'NOT AS IT SHOULD BE'}", flush=True)
            for problem in problems:
                print(f"  {problem}")
            failed |= bool(problems)
            if args.keep:
                (folder / story.__name__ / "requests.json").write_text(json.dumps(model.requests, indent=1))
        return int(failed)
    finally:
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
