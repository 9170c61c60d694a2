"""A message history of pydantic-ai, against a model with canned answers."""

import asyncio

import deeds
import pytest

import tract

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")
from pydantic_ai import Agent, BinaryContent, ImageUrl, VideoUrl  # noqa: E402
from pydantic_ai.models.test import TestModel  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel  # noqa: E402
from pydantic_ai.usage import RequestUsage  # noqa: E402

from tract.pydantic_ai import History  # noqa: E402


def guide():
    """An agent that asks its tool once in each turn, and then answers."""
    sent = []

    def answer(messages, info):
        sent.append(list(messages))
        usage = RequestUsage(input_tokens=100 * len(messages), output_tokens=7)
        last = messages[-1].parts[-1]
        if isinstance(last, UserPromptPart):
            calls = [ToolCallPart("depth", {"river": name}, tool_call_id=f"{name}-{len(messages)}") for name in ("Rhine", "Elbe")]
            return ModelResponse(calls, usage=usage, model_name="gpt-4o")
        return ModelResponse([TextPart(f"answer {len(messages)}")], usage=usage, model_name="gpt-4o")

    agent = Agent(FunctionModel(answer), system_prompt="You know rivers.")

    @agent.tool_plain
    def depth(river: str) -> dict:
        return {"river": river, "m": 16}

    return agent, sent


def talk(history, *said):
    agent, sent = guide()
    for one in said:
        history.add(agent.run_sync(one, message_history=history.messages()))
    return sent


def made(repo):
    history = History("s", repo)

    def add(texts):
        history.add([ModelRequest([UserPromptPart(text)]) if text[0] == "u" else ModelResponse([TextPart(text)]) for text in texts])

    return {"add": add, "undo": history.undo, "redo": history.redo}


def test_deeds_at_once_come_one_after_the_other(tmp_path):
    tract.init(tmp_path).close()
    repo, came = deeds.at_once(made, tmp_path)
    items = deeds.held_against_the_model(repo, "pydantic-ai/s", came)
    assert [message.parts[0].content for message in History("s", repo).messages()] == items


def test_messages_come_back_as_they_were_made(tmp_path):
    repo = tract.init(tmp_path)
    history = History("a/b ü", repo)
    agent, sent = guide()
    whole = []
    for said in ("How deep is the Rhine?", ["two", "parts"]):
        result = agent.run_sync(said, message_history=history.messages())
        history.add(result)
        whole = result.all_messages()
    assert history.messages() == whole
    assert repo.cost(history.repo.branch_name)["total"]["counted"]["output_tokens"] == 28
    roles = [message["role"] for message in history.repo.compile("openai")["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant"] + ["user", "assistant", "tool", "tool", "assistant"]
    repo.close()
    assert History("a/b ü", tract.open(tmp_path)).messages() == whole


def test_undo_redo_fork_and_diff(tmp_path):
    history = History("s", tract.init(tmp_path))
    talk(history, "one", "two", "three")
    whole = history.messages()
    assert history.undo(2) == 4 and history.messages() == whole[:4]
    assert history.redo() == 12 and history.messages() == whole
    with pytest.raises(tract.TractError, match="nothing to redo"):
        history.redo()
    assert history.undo(3) == 0 and history.redo() == 12
    other = history.fork("t", "HEAD~10")
    talk(other, "other")
    assert history.messages() == whole and other.messages()[:4] == whole[:4] and len(other.messages()) == 8
    assert history.diff("pydantic-ai/t", "pydantic-ai/s")["changes"]


def test_a_run_is_one_operation(tmp_path):
    repo = tract.init(tmp_path)
    history = History("s", repo)
    talk(history, "one", "two")
    repo.undo()
    assert len(history.messages()) == 4


def test_what_tract_does_holds_for_the_agent(tmp_path):
    history = History("s", tract.init(tmp_path))
    talk(history, "one")
    history.repo.commit(edit=":2", message="uno")
    [sent] = [one for one in talk(history, "two") if isinstance(one[-1].parts[-1], UserPromptPart)]
    assert [part.content for part in sent[0].parts] == ["You know rivers.", "uno"]
    history.repo.drop([":4"])
    kinds = [[part.part_kind for part in message.parts] for message in history.messages()]
    # One of two parallel calls went, with its result.
    assert kinds[:3] == [["system-prompt", "user-prompt"], ["tool-call"], ["tool-return"]]


def test_a_provider_is_sent_the_pictures_and_the_newest_instructions(tmp_path):
    history = History("s", tract.init(tmp_path))
    picture = BinaryContent(b"\xfb\xff\x89PNG", media_type="image/png")
    page = BinaryContent(b"%PDF", media_type="application/pdf")
    for instructions, said in (("In French.", ["What is it?", picture, ImageUrl("https://x.org/y.png"), page]), ("In Welsh.", "And now?")):
        agent = Agent(TestModel(custom_output_text="A cat."), instructions=instructions)
        result = agent.run_sync(said, message_history=history.messages())
        history.add(result)
        # JSON does not tell a picture from bytes of its type.
        assert ModelMessagesTypeAdapter.dump_json(history.messages()) == ModelMessagesTypeAdapter.dump_json(result.all_messages())
    request = history.repo.compile("openai", strict=True)
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert request["messages"][0]["content"] == "In Welsh."
    text, one, other, file = request["messages"][1]["content"]
    assert text == {"type": "text", "text": "What is it?"}
    assert one["image_url"]["url"] == "data:image/png;base64,+/+JUE5H" and other["image_url"]["url"] == "https://x.org/y.png"
    assert file["file"]["file_data"] == "data:application/pdf;base64,JVBERg=="
    anthropic = history.repo.compile("anthropic", strict=True)
    assert anthropic["system"] == [{"type": "text", "text": "In Welsh."}]
    assert [part["type"] for part in anthropic["messages"][0]["content"]] == ["text", "image", "image", "document"]
    responses = history.repo.compile("responses")
    assert responses["instructions"] == "In Welsh."
    assert {item["type"] for item in responses["input"]} == {"message"}
    assert history.undo(2) == 0 and history.redo() == 4
    # What has no form there is said to be missing.
    history.add([ModelRequest([UserPromptPart(["Listen.", VideoUrl("https://x.org/z.mp4")])])])
    assert history.repo.compile("openai").notices


def test_asyncio(tmp_path):
    history = History("s", tract.init(tmp_path))

    async def run():
        agent, _ = guide()
        await history.aadd(await agent.run("one"))
        return await history.amessages()

    assert len(asyncio.run(run())) == 4
    assert isinstance(history.messages()[0], ModelRequest)


def test_what_is_told_of_a_reply_that_could_not_be_used_is_worded_as_it_is_sent():
    from pydantic_ai import messages

    if not hasattr(messages, "RetryFeedbackPart"):
        pytest.skip("pydantic-ai is older")
    fault = {"type": "missing", "loc": ("sacks",), "msg": "Field required", "input": {"carts": 1}}
    causes = {"model_retry": "Fewer.", "validation_error": [fault], "no_output": "Please return text."}
    parts = [
        messages.RetryFeedbackPart(content, retry=messages.RetryInfo(cause=cause)) for cause, content in causes.items()
    ]
    history = History("h", tract.ephemeral())
    history.add([ModelRequest([UserPromptPart("Count.")]), ModelResponse([TextPart("No.")]), ModelRequest(parts)])
    sent = history.repo.compile("openai")["messages"][2:]
    assert [one["content"] for one in sent] == [part.model_response() for part in parts]
    assert [one["role"] for one in sent] == ["user", "user", "system"]
    assert history.messages()[-1].parts == parts
