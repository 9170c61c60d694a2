"""A pydantic-ai history that is undone, forked and compared. The model is canned."""

import tempfile

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

import tract
from tract.pydantic_ai import History


def model(messages, info):
    return ModelResponse([TextPart(f"This is message {len(messages) + 1}.")])


agent = Agent(FunctionModel(model), system_prompt="You count.")


def say(history, text):
    result = agent.run_sync(text, message_history=history.messages())
    history.add(result)
    return result.output


with tempfile.TemporaryDirectory() as folder:
    history = History("talk-1", tract.init(folder))

    # %% Talk
    for text in ("one", "two", "three"):
        print(say(history, text))

    # %% Undo two turns, and take the undo back
    assert history.undo(2) == 2
    assert history.redo() == 6

    # %% Time travel: fork the history as it was after the first turn
    other = history.fork("talk-2", "HEAD~4")
    assert say(other, "another") == "This is message 4."

    # %% What differs
    for change in history.diff("pydantic-ai/talk-1", "pydantic-ai/talk-2")["changes"]:
        print(change["kind"], change["role"])

    # %% Resume: another process opens the same directory
    assert History("talk-1", tract.open(folder)).messages() == history.messages()
