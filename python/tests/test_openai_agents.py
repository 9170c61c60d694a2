"""A session of the OpenAI Agents SDK, against a model with canned answers. The SDK's own tests: `agents_own.py`."""

import asyncio

import deeds
import pytest

import tract

pytest.importorskip("agents", reason="openai-agents is not installed")
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from tract.openai_agents import TractSession  # noqa: E402

set_tracing_disabled(True)


def says(text):
    content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="msg_1", content=content, role="assistant", status="completed", type="message")


def calls(name, arguments):
    return ResponseFunctionToolCall(id="fc_1", call_id="call_1", type="function_call", name=name, arguments=arguments)


class Canned(Model):
    """A model that gives one answer after the other, and remembers what it was sent."""

    def __init__(self, *answers):
        self.answers, self.sent = list(answers), []

    async def get_response(self, system_instructions, input, *args, **kwargs):
        self.sent.append(input)
        return ModelResponse(output=[self.answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


@function_tool
def depth(river: str) -> str:
    """How deep a river is."""
    return f"{river}: 16 m"


def run(session, said, *answers):
    model = Canned(*answers)
    agent = Agent(name="guide", model=model, tools=[depth])
    result = asyncio.run(Runner.run(agent, said, session=session))
    return result.final_output, model


def made(repo):
    session = TractSession("s", repo)

    def add(texts):
        items = [{"role": "user" if text[0] == "u" else "assistant", "content": text} for text in texts]
        asyncio.run(session.add_items(items))

    def pop():
        item = asyncio.run(session.pop_item())
        return item and item["content"]

    clear = lambda: asyncio.run(session.clear_session())  # noqa: E731
    return {"add": add, "pop": pop, "undo": session.undo, "redo": session.redo, "clear": clear}


def test_deeds_at_once_come_one_after_the_other(tmp_path):
    tract.init(tmp_path).close()
    repo, came = deeds.at_once(made, tmp_path)
    items = deeds.held_against_the_model(repo, "agents/s", came)
    assert [item["content"] for item in TractSession("s", repo).items()] == items


def test_a_message_of_several_items_is_popped_item_by_item(tmp_path):
    session = TractSession("s", tract.init(tmp_path))
    call = {"id": "c1", "type": "function", "function": {"name": "depth", "arguments": "{}"}}
    session.repo.commit(json={"role": "assistant", "content": "Let me see.", "tool_calls": [call]})
    said, asked = session.items()
    assert asyncio.run(session.pop_item()) == asked and session.items() == [said]
    assert asyncio.run(session.pop_item()) == said and session.items() == []


def test_a_fork_of_an_empty_session_is_empty(tmp_path):
    assert TractSession("s", tract.init(tmp_path)).fork("t").items() == []


def test_items_come_back_as_they_were_given(tmp_path):
    repo = tract.init(tmp_path)
    session = TractSession("a/b ü", repo)
    out, model = run(session, "How deep is the Rhine?", calls("depth", '{"river": "Rhine"}'), says("16 m."))
    assert out == "16 m."
    items = session.items()
    assert [item.get("type", "message") for item in items] == [
        "message", "function_call", "function_call_output", "message",
    ]
    assert items[1]["arguments"] == '{"river": "Rhine"}' and items[3]["id"] == "msg_1"
    # And so does tract know them.
    messages = session.repo.compile("anthropic")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]
    assert messages[1]["content"][0]["input"] == {"river": "Rhine"}
    assert repo.find("16 m.")["found"]
    repo.close()
    again = TractSession("a/b ü", tract.open(tmp_path))
    assert again.items() == items
    _, model = run(again, "And the Elbe?", says("No idea."))
    assert model.sent[0][:4] == items


def test_a_request_has_the_items_and_nothing_of_tracts(tmp_path):
    from openai.types.responses import ResponseInputItemParam
    from pydantic import TypeAdapter

    session = TractSession("s", tract.init(tmp_path))
    run(session, "How deep is the Rhine?", calls("depth", '{"river": "Rhine"}'), says("16 m."))
    shell = {"type": "shell_call", "call_id": "c2", "id": "s1", "status": "completed", "action": {"commands": ["ls"]}}
    asyncio.run(session.add_items([shell]))
    request = session.repo.compile("responses")
    kinds = [item["type"] for item in request["input"]]
    assert kinds == ["message", "function_call", "function_call_output", "message", "shell_call"]
    # The types want ids and annotations of a reply's message, which the API and its clients do without.
    others = [item for item in request["input"] if item.get("role") != "assistant"]
    TypeAdapter(list[ResponseInputItemParam]).validate_python(others)
    for format in ("responses", "openai", "anthropic", "text"):
        assert "agents_item" not in str(session.repo.compile(format))


def test_undo_redo_fork_and_diff(tmp_path):
    session = TractSession("s", tract.init(tmp_path))
    for turn in ("one", "two", "three"):
        run(session, turn, says(f"answer {turn}"))
    place = session.repo.status()["position"]["commit"]
    assert session.undo(2) == 2
    assert session.items()[0]["content"] == "one"
    assert session.redo() == 6
    with pytest.raises(tract.TractError, match="nothing to redo"):
        session.redo()
    other = session.fork("t", "HEAD~4")
    run(other, "other", says("answer other"))
    assert len(session.items()) == 6 and len(other.items()) == 4
    assert [item["content"] for item in other.at(place)][::2] == ["one", "two", "three"]
    assert session.diff("agents/t", "agents/s")["changes"]
    session.undo()
    run(session, "four", says("answer four"))
    with pytest.raises(tract.TractError, match="nothing to redo"):
        session.redo()


def test_what_tract_does_holds_for_the_agent(tmp_path):
    repo = tract.init(tmp_path)
    session = TractSession("s", repo)
    run(session, "How deep is the Rhine?", calls("depth", '{"river": "Rhine"}'), says("16 m."))
    session.repo.commit(edit=":1", message="How deep is the Elbe?")
    session.repo.drop([":2"])
    _, model = run(session, "Really?", says("Yes."))
    assert model.sent[0][0] == {"role": "user", "content": "How deep is the Elbe?"}
    assert [item.get("type", "message") for item in model.sent[0]] == ["message"] * 3
    # A budget takes the oldest turns out while the agent runs.
    repo.config("budget.max", "60")
    repo.config("budget.action", "truncate")
    for turn in range(6):
        _, model = run(session, f"{turn} more words than before", says("and an answer to them"))
    assert session.repo.status()["tokens"]["tokens"] <= 60 and session.repo.status()["hidden"] > 0


def test_pop_and_clear_can_be_undone(tmp_path):
    repo = tract.init(tmp_path)
    session = TractSession("s", repo)
    items = [{"role": "user", "content": "one"}, {"role": "assistant", "content": ""}, {"type": "odd", "x": [1.5, None]}]
    asyncio.run(session.add_items(items))
    assert session.items() == items
    assert asyncio.run(session.pop_item()) == items[2]
    asyncio.run(session.clear_session())
    assert session.items() == [] and asyncio.run(session.pop_item()) is None
    repo.undo()
    assert session.items() == items[:2]
    with pytest.raises(tract.TractError) as caught:
        asyncio.run(session.add_items([{"role": "user", "content": "\ud800"}]))
    assert caught.value.kind == "invalid_params" and session.items() == items[:2]
