"""Generated histories of each bridge: they come back equal, and what they compile to is what the providers' types take.

TRACT_HISTORIES says how many, TRACT_SEED which is the first; a failure names its seed.
"""

import json
import random
import typing

import pytest

import tract

for package in ("openai", "anthropic", "google.genai"):
    pytest.importorskip(package, reason=f"{package} is not installed")

import shapes  # noqa: E402

COUNT = 1000
PNG = "data:image/png;base64,iVBORw0KGgo="
# Whose outputs answer calls of which kind.
OUTPUTS = "function_call", "custom_tool_call", "shell_call", "apply_patch_call", "computer_call", "local_shell_call"


def each(seed, check):
    try:
        check(random.Random(seed))
    except BaseException:
        print(f"TRACT_SEED={seed}")
        raise


def agents_items(rng):
    """A list of items by the SDK's own types, of every kind that it has; what answers a call stands behind it."""
    from openai.types.responses.response_input_item_param import ResponseInputItemParam

    kinds = typing.get_args(ResponseInputItemParam)
    items, open_calls = [], []
    for at in range(rng.randint(1, 12)):
        if open_calls and rng.random() < 0.6:
            kind, call = open_calls.pop(0)
            [of] = [one for one in kinds if kind + "_output" in type_of(one)]
            item = shapes.made(rng, of)
            item["id" if kind == "local_shell_call" else "call_id"] = call
        else:
            item = shapes.made(rng, rng.choice(kinds))
            kind = item.get("type") or "message"
            if kind.endswith("_call_output"):
                continue
            if kind in OUTPUTS:
                item["call_id"] = f"call_{at}"
                open_calls.append((kind, item["call_id"]))
        for name in ("image_url", "file_url"):
            pictures(item, name)
        items.append(item)
    return items


def type_of(one):
    """The kinds that a type of items names: one, or none."""
    import typing_extensions

    hint = typing_extensions.get_type_hints(one, include_extras=False).get("type")
    args = [inner for arg in typing.get_args(hint) for inner in typing.get_args(arg) or [arg]]
    return [arg for arg in args if isinstance(arg, str)]


def pictures(value, name):
    """Addresses of pictures and files are some."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == name and isinstance(one, str):
                value[key] = PNG if name == "image_url" else "https://mill.example/list.pdf"
            pictures(one, name)
    for one in value if isinstance(value, list) else []:
        pictures(one, name)


def test_items_of_the_agents_sdk_come_back_and_are_requests():
    pytest.importorskip("agents", reason="openai-agents is not installed")
    import asyncio

    from tract.openai_agents import TractSession

    requests, repo = shapes.Requests(), tract.ephemeral()

    def check(rng):
        items = agents_items(rng)
        requests.responses.holds({"model": "m", "input": items})
        session = TractSession(f"s{rng.random()}", repo)
        for at in range(0, len(items), 3):
            asyncio.run(session.add_items(items[at : at + 3]))
        assert asyncio.run(session.get_items()) == items
        requests.hold(session.repo)

    for seed in shapes.seeds(COUNT):
        each(seed, check)


def test_every_kind_of_item_is_read(tmp_path):
    from openai.types.responses.response_input_item_param import ResponseInputItemParam

    rng = random.Random(5)
    for of in typing.get_args(ResponseInputItemParam):
        [kind, *_] = type_of(of) or ["message"]
        # A reference names its kind in no need.
        item = {**shapes.made(rng, of), "type": kind}
        if kind == "message":
            continue
        path = tmp_path / f"{kind}.json"
        path.write_text(json.dumps([{"role": "user", "content": "Name a river."}, item]))
        [told] = tract.ephemeral().import_(path)["sessions"]
        assert told["format"] == "responses", (kind, told)


def pydantic_messages(rng):
    """A history of pydantic-ai with every part that it has."""
    from pydantic_ai import messages as m

    text = lambda: shapes.text(rng)  # noqa: E731

    def content():
        if rng.random() < 0.5:
            return text()
        made = [
            text,
            lambda: m.ImageUrl("https://mill.example/cart.png"),
            lambda: m.DocumentUrl("https://mill.example/list.pdf"),
            lambda: m.AudioUrl("https://mill.example/bell.mp3"),
            lambda: m.VideoUrl("https://mill.example/wheel.mp4"),
            lambda: m.BinaryContent(b"\xfb\xff\x89PNG", media_type="image/png"),
            lambda: m.BinaryContent(b"%PDF-1", media_type="application/pdf"),
            lambda: m.BinaryContent(b"RIFF", media_type="audio/wav"),
            lambda: m.UploadedFile("file-1", provider_name="openai"),
            lambda: m.CachePoint(),
        ]
        return [rng.choice(made)() for _ in range(rng.randint(1, 4))]

    history, open_calls = [], []
    for at in range(rng.randint(1, 8)):
        parts = []
        if at == 0 and rng.random() < 0.5:
            parts.append(m.SystemPromptPart(text()))
        for call in open_calls:
            picture = m.BinaryContent(b"\x89PNG", media_type="image/png")
            given = rng.choice([text(), {"m": 16}, [1, "two"], None, True, [text(), picture], picture])
            outcome = rng.choice(["success", "success", "failed", "denied"])
            parts.append(m.ToolReturnPart(call.tool_name, given, call.tool_call_id, outcome=outcome))
        if not open_calls or rng.random() < 0.3:
            parts.append(m.UserPromptPart(content()))
        if rng.random() < 0.1:
            parts.append(m.RetryFeedbackPart(text(), retry=m.RetryInfo(cause="model_retry")))
        instructions = rng.choice([None, "In French.", "In Welsh."])
        history.append(m.ModelRequest(parts, instructions=instructions))
        reply, open_calls = [], []
        if rng.random() < 0.3:
            seal = rng.choice([(None, None), ("c2VhbA==", "anthropic"), ("c2VhbA==", "openai"), ("c2VhbA==", "google")])
            reply.append(m.ThinkingPart(text(), signature=seal[0], provider_name=seal[1]))
        if rng.random() < 0.1:
            reply.append(m.FilePart(m.BinaryImage(b"\x89PNG", media_type="image/png")))
        if rng.random() < 0.1 and hasattr(m, "NativeToolCallPart"):
            call = m.NativeToolCallPart("web_search", {"q": text()}, tool_call_id=f"b{at}")
            reply += [call, m.NativeToolReturnPart("web_search", {"hits": 2}, tool_call_id=f"b{at}")]
        if rng.random() < 0.7:
            reply.append(m.TextPart(text()))
        for number in range(rng.choice([0, 0, 1, 2])):
            arguments = rng.choice([{"river": text()}, '{"river": "Aare"}', None])
            open_calls.append(m.ToolCallPart("depth", arguments, tool_call_id=f"c{at}-{number}"))
        history.append(m.ModelResponse([*reply, *open_calls], model_name="m"))
    return history


def test_messages_of_pydantic_ai_come_back_and_are_requests():
    pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    from tract.pydantic_ai import History

    requests, repo = shapes.Requests(), tract.ephemeral()

    def check(rng):
        messages = pydantic_messages(rng)
        history = History(f"s{rng.random()}", repo)
        for at in range(0, len(messages), 4):
            history.add(messages[at : at + 4])
        dump = ModelMessagesTypeAdapter.dump_json
        assert dump(history.messages()) == dump(messages)
        requests.hold(history.repo)
        sent = json.dumps(history.repo.compile("responses"))
        told = [name for name in ("In French.", "In Welsh.") if name in sent]
        newest = [message for message in messages if message.kind == "request"][-1]
        assert told == [newest.instructions] or newest.instructions is None and len(told) < 2, (told, newest)

    for seed in shapes.seeds(COUNT):
        each(seed, check)


def langchain_messages(rng):
    """Messages of LangChain with its standard blocks, and those of providers."""
    from langchain_core import messages as m

    text = lambda: shapes.text(rng)  # noqa: E731
    blocks = [
        lambda: {"type": "text", "text": text()},
        lambda: {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"},
        lambda: {"type": "image", "url": "https://mill.example/cart.png"},
        lambda: {"type": "image", "file_id": "file-1"},
        lambda: {"type": "file", "base64": "JVBERi0x", "mime_type": "application/pdf", "filename": "list.pdf"},
        lambda: {"type": "file", "url": "https://mill.example/list.pdf", "mime_type": "application/pdf"},
        lambda: {"type": "file", "file_id": "file-2"},
        lambda: {"type": "audio", "base64": "UklGRg==", "mime_type": "audio/wav"},
        lambda: {"type": "text-plain", "text": text(), "mime_type": "text/plain"},
        lambda: {"type": "image_url", "image_url": {"url": PNG}},
    ]
    replied = [
        lambda: {"type": "text", "text": text()},
        lambda: {"type": "reasoning", "reasoning": text()},
        lambda: {"type": "reasoning", "reasoning": text(), "extras": {"signature": "c2VhbA=="}},
        lambda: {"type": "thinking", "thinking": text(), "signature": "c2VhbA=="},
    ]
    searched = {"type": "server_tool_call", "id": "w1", "name": "web_search", "args": {"query": "Aare"}}
    found = {"type": "server_tool_result", "tool_call_id": "w1", "status": "success", "output": {"hits": 2}}

    def content(some):
        return text() if rng.random() < 0.4 else [rng.choice(some)() for _ in range(rng.randint(1, 3))]

    messages = [m.SystemMessage(text())] if rng.random() < 0.5 else []
    for at in range(rng.randint(1, 6)):
        messages.append(m.HumanMessage(content(blocks)))
        calls = [{"name": "depth", "args": {"river": text()}, "id": f"c{at}-{n}"} for n in range(rng.choice([0, 0, 1, 2]))]
        beside = {"reasoning_content": text()} if rng.random() < 0.2 else {}
        said = content(replied)
        if isinstance(said, list) and rng.random() < 0.2:
            said += [searched, found]
        messages.append(m.AIMessage(said, tool_calls=calls, additional_kwargs=beside))
        for call in calls:
            messages.append(m.ToolMessage(content(blocks), tool_call_id=call["id"], status=rng.choice(["success", "error"])))
        if calls:
            messages.append(m.AIMessage(text()))
    for at, message in enumerate(messages):
        message.id = str(at)
    return messages


def test_messages_of_langchain_come_back_and_are_requests():
    pytest.importorskip("langgraph.checkpoint.base", reason="langgraph is not installed")
    from langgraph.checkpoint.base import empty_checkpoint

    from tract._blocks import branch_end
    from tract.langgraph import TALK, TractSaver

    requests, repo = shapes.Requests(), tract.ephemeral()
    saver = TractSaver(repo)

    def check(rng):
        messages, thread = langchain_messages(rng), f"t{rng.random()}"
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        cuts = sorted({rng.randint(1, len(messages)), len(messages)})
        for version, cut in enumerate(cuts, 1):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"messages": messages[:cut]}
            checkpoint["channel_versions"] = {"messages": version}
            config = saver.put(config, checkpoint, {"source": "loop", "step": version}, {"messages": version})
        found = saver.get_tuple({"configurable": {"thread_id": thread, "checkpoint_ns": ""}})
        assert found.checkpoint["channel_values"]["messages"] == messages
        talk = repo.at(TALK + branch_end(thread))
        requests.hold(talk)
        roles = [one["message"]["role"] for one in talk.context()["messages"]]
        kinds = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
        assert roles == [kinds[message.type] for message in messages]

    for seed in shapes.seeds(COUNT):
        each(seed, check)
