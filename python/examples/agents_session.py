"""A session of the OpenAI Agents SDK that is undone, forked and edited. The model is canned."""

import asyncio
import tempfile

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

import tract
from tract.openai_agents import TractSession

set_tracing_disabled(True)


class Canned(Model):
    async def get_response(self, system_instructions, input, *args, **kwargs):
        text = f"You have said {sum(1 for one in input if one.get('role') == 'user')} things."
        content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
        message = ResponseOutputMessage(id="m", content=content, role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


agent = Agent(name="guide", model=Canned())


async def say(session, text):
    return (await Runner.run(agent, text, session=session)).final_output


async def main(folder):
    session = TractSession("talk-1", tract.init(folder))

    # %% Talk
    for text in ("one", "two", "three"):
        print(await say(session, text))

    # %% Undo two turns, and take the undo back
    assert session.undo(2) == 2
    assert session.redo() == 6

    # %% Time travel: fork the session as it was after the first turn
    other = session.fork("talk-2", "HEAD~4")
    assert await say(other, "another") == "You have said 2 things."

    # %% What differs
    for change in session.diff("agents/talk-1", "agents/talk-2")["changes"]:
        print(change["kind"], change["role"])

    # %% What tract does holds for the agent
    session.repo.drop([":3", ":4"])
    assert await say(session, "four") == "You have said 3 things."

    # %% Resume: another process opens the same directory
    again = TractSession("talk-1", tract.open(folder))
    assert len(await again.get_items()) == 6


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(folder))
