#!/usr/bin/env python3
"""The vendors' own clients go on from what was merged and rebased.

    python3 tests/merging/clients.py --tract target/release/tract [--prefix FOLDER] [--only NAME] [--across] [--keep]

Claude Code and Codex are installed from npm (FOLDER keeps them) and talk to a canned model on this machine. Each has a
session, which both it and a fork of it go on with, with thinking, calls and parallel calls. The fork is merged in all three
forms and rebased, what came after a compaction is rebased to before it, and each result is resumed. The client's next
request must hold what `tract compile` says of the revision, message by message, and then the new prompt; what it holds
otherwise is counted by its cause, and must have one. An import of what the client wrote then must add the new messages
alone, and a second import nothing. `plain`, which is the session as it is, says what any resumed session differs in.
With --across the fork is gone on with in the other client, and each result is resumed in both. Nothing is sent to a provider.

C: messages that the client sent, but for the prompt; T: those of `tract compile`; =: identical as they are.

Exit status: 0 all hold, 1 one does not, 77 npm or a client cannot be had: skipped, and said so.
"""

import argparse
import collections
import difflib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import ThreadingHTTPServer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
import clients as mcp  # noqa: E402

SUMMARY = "<summary>\nThe user asked for some files.\n</summary>"
PROMPT, REPLY = "Go on from here.", "Gone on."
PLACEHOLDER = "No response requested."
SHOWN = 6  # of what does not hold of one result


class Thought(str):
    """What a model thinks in front of a reply."""


class Long(list):
    """A reply of which the model says that its request was long."""


class Model(mcp.Model):
    """Its replies may have several parts; asked for a summary, it gives one."""

    def __init__(self):
        self.replies, self.requests, self.lock = {}, {}, threading.Lock()
        handler = type("Handler", (Handler,), {"model": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def next(self, label, body):
        users = [item for item in body.get("messages") or body.get("input") or [] if item.get("role") == "user"]
        newest = json.dumps(users[-1:])
        if "Respond with TEXT ONLY" in newest or "CHECKPOINT COMPACTION" in newest:
            return SUMMARY
        return super().next(label, body)


class Handler(mcp.Handler):
    def anthropic(self, reply, body):
        parts = reply if isinstance(reply, list) else [reply]
        usage = {"input_tokens": 10, "output_tokens": 10}
        head = {"id": f"msg_{os.urandom(6).hex()}", "type": "message", "role": "assistant", "content": [],
                "model": body.get("model"), "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield {"type": "message_start", "message": head}
        for at, part in enumerate(parts):
            if isinstance(part, Thought):
                block = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": part}, {"type": "signature_delta", "signature": "Y2FubmVk"}]
            elif isinstance(part, str):
                block, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": part}]
            else:
                block = {"type": "tool_use", "id": f"toolu_{os.urandom(6).hex()}", "name": part[0], "input": {}, "caller": {"type": "direct"}}
                deltas = [{"type": "input_json_delta", "partial_json": json.dumps(part[1])}]
            yield {"type": "content_block_start", "index": at, "content_block": block}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": at, "delta": delta}
            yield {"type": "content_block_stop", "index": at}
        stop = "tool_use" if any(isinstance(part, tuple) for part in parts) else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        yield {"type": "message_stop"}

    def openai(self, reply):
        response, output = {"id": f"resp_{os.urandom(6).hex()}"}, []
        for part in reply if isinstance(reply, list) else [reply]:
            if isinstance(part, Thought):
                output.append({"type": "reasoning", "id": f"rs_{os.urandom(6).hex()}", "encrypted_content": "Y2FubmVk",
                               "summary": [{"type": "summary_text", "text": part}]})
            else:
                output += [event["item"] for event in super().openai(part) if event["type"] == "response.output_item.done"]
        tokens = 190_000 if isinstance(reply, Long) else 10
        usage = {"input_tokens": tokens, "output_tokens": 10, "total_tokens": tokens + 10}
        yield {"type": "response.created", "response": response}
        for at, item in enumerate(output):
            yield {"type": "response.output_item.added", "output_index": at, "item": item}
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        yield {"type": "response.completed", "response": {**response, "status": "completed", "output": output, "usage": usage}}


# The clients: how each begins, goes on, calls a shell, compacts; and where it keeps a session.

class ClaudeCode:
    name, form, kept = "claude-code", "anthropic", ".claude/projects"

    @staticmethod
    def start(place, url, prompt):
        ClaudeCode.run(place, url, prompt, "--session-id", mcp.SESSION)
        return mcp.SESSION

    @staticmethod
    def go_on(place, url, session, prompt):
        ClaudeCode.run(place, url, prompt, "--resume", session)

    @staticmethod
    def run(place, url, prompt, *way):
        place.run("claude", "--dangerously-skip-permissions", "-p", prompt, *way, ANTHROPIC_BASE_URL=url)

    @staticmethod
    def call(command):
        return "Bash", {"command": command, "description": "Runs it"}

    @staticmethod
    def compact(model, place, session):
        ClaudeCode.go_on(place, model.url("compact", []), session, "/compact")
        ClaudeCode.go_on(place, model.url("compact", turn(ClaudeCode, "after")), session, "After it.")


class Codex:
    name, form, kept = "codex", "responses", ".codex/sessions"

    @staticmethod
    def start(place, url, prompt):
        return re.search(r'"thread_id":"([^"]+)"', Codex.run(place, url, "--json", prompt))[1]

    @staticmethod
    def go_on(place, url, session, prompt, *options):
        Codex.run(place, url, *options, "resume", session, prompt)

    @staticmethod
    def configure(place, url):
        (place.home / ".codex/config.toml").write_text(
            f'model = "gpt-5.1-codex"\nmodel_provider = "canned"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
            f'[model_providers.canned]\nname = "canned"\nbase_url = "{url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n'
            f'request_max_retries = 1\nstream_max_retries = 0\n')

    @staticmethod
    def run(place, url, *args):
        Codex.configure(place, url)
        return place.run("codex", "exec", "--skip-git-repo-check", *args)

    @staticmethod
    def call(command):
        return "exec_command", {"cmd": command}

    @staticmethod
    def compact(model, place, session):
        Codex.go_on(place, model.url("compact", [Long(["Long."])]), session, "Much of it.")
        limit = ("-c", "model_auto_compact_token_limit=150000")  # far above what its system prompt takes
        Codex.go_on(place, model.url("compact", turn(Codex, "after")), session, "After it.", *limit)


CLIENTS = (ClaudeCode, Codex)


def turn(client, word):
    """A turn of a model: it thinks and calls twice at once, calls once more, and is done."""
    both = [client.call(f"echo {word} one; sleep 1"), client.call(f"echo {word} two")]
    return [[Thought(f"I think of {word}."), f"I look at {word}.", *both], [client.call(f"echo {word} three")], f"Done with {word}."]


# Requests, message by message

def shaped(body):
    """The messages of a request, each way to write the same one made one: a string is a text block, a result of one text its
    text; `cache_control` is about money, `is_error: false` what its absence means; ids of items are the server's; who made a
    call (`caller`) is in the client's records alone."""
    out = []
    for message in body.get("messages") or []:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        out.append({"role": message["role"], "content": [block_of(block) for block in blocks]})
    if body.get("instructions"):
        out.append({"role": "developer", "content": [{"type": "text", "text": body["instructions"]}]})
    for item in body.get("input") or []:
        item = {key: value for key, value in item.items() if key not in ("id", "status", "phase", "internal_chat_message_metadata_passthrough")}
        if item.get("type", "message") == "message":
            role = item["role"].replace("system", "developer")  # two names of one
            item = {"role": role, "content": [{"type": "text", "text": text_of(part)} for part in as_list(item["content"])]}
        elif item["type"] == "reasoning":
            item = {key: item.get(key) for key in ("type", "summary", "encrypted_content")}
        elif item["type"] == "function_call_output":
            item["output"] = [text_of(part) for part in as_list(item["output"])]
        out.append(item)
    return out


def as_list(content):
    return content if isinstance(content, list) else [content]


def text_of(part):
    return part if isinstance(part, str) else part.get("text", json.dumps(part, sort_keys=True))


def block_of(block):
    block = {key: value for key, value in block.items() if key not in ("cache_control", "caller") and (key, value) != ("is_error", False)}
    if block["type"] == "tool_result":
        content = block.get("content") or ""
        block["content"] = content[0]["text"] if isinstance(content, list) and len(content) == 1 and "text" in content[0] else content
    return block


def without(messages, is_gone):
    """The messages without the blocks of which that holds, as far as blocks stay; said with the message's role."""
    out = []
    for message in messages:
        if "role" in message:
            kept = [block for block in message["content"] if not is_gone(message["role"], block.get("text"))]
            if not kept:
                continue
            message = {**message, "content": kept}
        out.append(message)
    return out


def joined(messages):
    """neighbours of one role, which are one message"""
    out = []
    for message in messages:
        if "role" in message and out and out[-1].get("role") == message["role"]:
            out[-1] = {**out[-1], "content": out[-1]["content"] + message["content"]}
        else:
            out.append(message)
    return out


def no_empty(messages):
    """message without content"""
    return [message for message in messages if message.get("content") != []]


def no_base_prompt(messages):
    """Codex's base prompt, which the client edits"""
    return without(messages, lambda role, text: role == "developer" and (text or "").startswith("You are a coding agent"))


def no_context(messages):
    """the client's own context, told again"""
    own = r"\s*<(system-reminder|environment_context|skills_instructions|permissions instructions)>"
    return without(messages, lambda role, text: role == "system" or text is not None and re.match(own, text))


def no_placeholder(messages):
    """Claude Code's words in place of a reply"""
    return without(messages, lambda role, text: role == "assistant" and text == PLACEHOLDER)


def no_line_ends(messages):
    """Claude Code's line ends of texts that it joins"""
    return [{**message, "content": [{**block, "text": block["text"].rstrip("\n")} if "text" in block else block for block in message["content"]]}
            if "role" in message else message for message in messages]


CAUSES = (joined, no_empty, no_base_prompt, no_context, no_placeholder, no_line_ends)


def differences(theirs, ours):
    """How many messages differ on either side, how many are identical, and lines that show what differs."""
    left, right = ([json.dumps(message, sort_keys=True, ensure_ascii=False) for message in side] for side in (theirs, ours))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    lines = []
    for what, a, b, c, d in matcher.get_opcodes():
        if what != "equal":
            lines += [f"client: {line[:200]}" for line in left[a:b]] + [f"tract:  {line[:200]}" for line in right[c:d]]
    return len(left) + len(right) - 2 * same, same, lines


def compared(request, compiled):
    """Messages sent, messages compiled, identical ones; differences by cause; lines without a cause."""
    theirs, ours = shaped(request), shaped(compiled)
    prompt = {"type": "text", "text": PROMPT}
    # The prompt may stand in one message with the end of the context.
    at = max(at for at, message in enumerate(theirs) if prompt in message.get("content", []))
    rest = [block for block in theirs[at]["content"] if block != prompt]
    theirs[at:at + 1] = [{**theirs[at], "content": rest}] if rest else []
    count, same, lines = differences(theirs, ours)
    sizes, causes = (len(theirs), len(ours), same), collections.Counter()
    blocks = [block for message in request.get("messages") or [] if isinstance(message["content"], list) for block in message["content"]]
    if anonymous := sum(block["type"] == "tool_use" and "caller" not in block for block in blocks):
        causes["calls that no longer say who made them"] = anonymous
    for cause in CAUSES:
        # Leaving something out makes new neighbours.
        theirs, ours = joined(cause(theirs)), joined(cause(ours))
        now, _, lines = differences(theirs, ours)
        if now < count:
            causes[cause.__doc__] = count - now
        count = now
    return sizes, causes, lines


# The story

def tract(place, *args):
    return place.run(place.tract, *args)


def file_of(place, client, session):
    return str(next((place.home / client.kept).rglob(f"*{session}.jsonl")))


def taken_in(place, client, session):
    """Imports a session, and says what it is called."""
    tract(place, "import", file_of(place, client, session))
    return f"{client.name}/{session}"


def rows(place, ref, *options):
    """The commits of a path, newest first: (hash, what it does, role, preview)."""
    out = tract(place, "log", "-n", "0", "--format", "%H %o %r %s", *options, ref)
    return [(line.split(" ", 3) + [""])[:4] for line in out.split("\n") if line]


def resumed(model, place, client, label, once, never):
    """Resumes HEAD in the client, which goes on: it sends each of some texts once, and others never. What came of it, and
    what does not hold."""
    problems = []
    revision = tract(place, "rev-parse", "HEAD").strip()
    compiled = json.loads(tract(place, "compile", "--format", client.form))
    session = tract(place, "resume", "--in", client.name).split()[-1]
    client.go_on(place, model.url(label, [REPLY]), session, PROMPT)
    request = next(body for body in model.requests[label] if body.get("tools"))
    sizes, causes, lines = compared(request, compiled)
    problems += lines
    said = [text for message in shaped(request) for block in message.get("content") or [] for text in [block.get("text")] if text]
    for text in [*once, *never]:
        number = sum(text in it for it in said)
        if number != (text in once):
            problems.append(f"{text!r} is sent {number} times")

    ref = taken_in(place, client, session)
    path = rows(place, ref)
    hashes = [row[0] for row in path]
    if revision not in hashes:
        return sizes, causes, "NO", [*problems, "the continuation does not go on from what was resumed"]
    new = path[:hashes.index(revision)]
    said = [(role, text) for _, _, role, text in new if role in ("assistant", "tool") and text != PLACEHOLDER]
    was = {row[0] for row in rows(place, revision, "--prompts")}
    typed = [text for hash, _, _, text in rows(place, ref, "--prompts") if hash not in was]
    if said != [("assistant", REPLY)] or typed != [PROMPT] or any(row[1] != "append" for row in new):
        problems.append(f"the import added something else: {new}")
    taken_in(place, client, session)
    if rows(place, ref) != path:
        problems.append("a second import added to it")
    return sizes, causes, len(new), problems


def story(client, other, model, place):
    """What is to be resumed, one after the other, once HEAD is there: a name; what is sent once, and what never."""
    ours = client.start(place, model.url("main", turn(client, "rivers")), "Look at rivers.")
    client.go_on(place, model.url("main", turn(client, "lakes")), ours, "Look at lakes.")
    taken_in(place, client, ours)
    tract(place, "tag", "parting")
    client.go_on(place, model.url("main", turn(client, "hills")), ours, "Look at hills.")
    taken_in(place, client, ours)

    tract(place, "checkout", "parting")
    fork = tract(place, "resume", "--in", other.name).split()[-1]
    tract(place, "checkout", "main")
    for word in ("woods", "fields"):
        other.go_on(place, model.url("fork", turn(other, word)), fork, f"Look at {word}.")
    theirs = taken_in(place, other, fork)

    here, there = ["Look at rivers.", "Done with lakes.", "Look at hills.", "Done with hills."], ["Look at woods.", "Done with woods.", "Look at fields."]
    last = "Done with fields."
    yield "plain", here, [*there, last]
    tract(place, "checkout", "-b", "merged", "main")
    tract(place, "merge", theirs)
    yield "merge", [*here, last], there
    tract(place, "checkout", "-b", "messages", "main")
    tract(place, "merge", theirs, "--messages")
    yield "merge --messages", [*here, *there, last], []
    tract(place, "checkout", "-b", "prompts", "main")
    tract(place, "merge", theirs, "--prompts")
    yield "merge --prompts", [*here, "Look at woods.", "Look at fields."], ["Done with woods.", last]
    tract(place, "checkout", "-b", "rebased", theirs)
    tract(place, "rebase", "main")
    yield "rebase", [*here, *there, last], []

    # The fork goes on, and what is merged already is not merged again.
    other.go_on(place, model.url("fork", turn(other, "moors")), fork, "Look at moors.")
    taken_in(place, other, fork)
    tract(place, "checkout", "messages")
    tract(place, "merge", theirs, "--messages")
    yield "merge --messages, again", [*here, *there, last, "Done with moors."], []

    tract(place, "checkout", "main")
    tract(place, "tag", "whole")
    client.compact(model, place, ours)
    taken_in(place, client, ours)
    compaction = next(row[0] for row in rows(place, "main") if row[1] == "hide")
    yield "compacted", ["Done with after."], ["Done with lakes."]
    tract(place, "checkout", "-b", "uncompacted", "main")
    tract(place, "rebase", "whole", "--from", compaction)
    yield "rebase to before a compaction", [*here, "Done with after."], []
    tract(place, "checkout", "-b", "compacted", "main")
    tract(place, "merge", theirs, "--messages")
    yield "merge --messages into a compacted one", ["Done with after.", *there, "Done with moors."], ["Done with lakes."]


def check(client, other, model, place):
    """A line of the table for each result. What does not hold."""
    tract(place, "init")
    Codex.configure(place, model.url("none", []))  # a session that is written for it names the provider in there
    problems = []
    for at, (name, once, never) in enumerate(story(client, other, model, place)):
        for there in (client, other) if client is not other else (client,):
            sizes, causes, new, found = resumed(model, place, there, f"resumed-{at}-{there.name}", once, never)
            title = name if there is client else f"  in {there.name}"
            why = "; ".join(f"{count} {cause}" for cause, count in causes.items())
            print(f"  {title:38}{sizes[0]:4}{sizes[1]:5}{sizes[2]:5}{new:>5}  {why or '-'}{'  FAILS' if found else ''}", flush=True)
            problems += [f"{name}, in {there.name}: {line}" for line in found[:SHOWN]]
    return problems


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--prefix", type=pathlib.Path)
    options.add_argument("--only", choices=[client.name for client in CLIENTS])
    options.add_argument("--across", action="store_true")
    options.add_argument("--keep", action="store_true")
    args = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tract-merging-"))
    prefix = (args.prefix or folder / "npm").resolve()
    try:
        if not mcp.installed(prefix, mcp.PACKAGES):
            return 77
        failed = False
        for client in CLIENTS:
            if args.only and args.only != client.name:
                continue
            other = next(it for it in CLIENTS if it is not client) if args.across else client
            place = mcp.Place(folder / client.name, prefix, args.tract.resolve())
            print(f"{client.name}{f', its fork in {other.name}' if args.across else '':38}")
            print(f"  {'':38}{'C':>4}{'T':>5}{'=':>5}{'new':>5}  what differs, by cause")
            problems = check(client, other, Model(), place)
            for problem in problems:
                print(f"    {problem}")
            failed |= bool(problems)
        return int(failed)
    finally:
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
