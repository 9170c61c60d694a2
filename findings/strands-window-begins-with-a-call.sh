#!/usr/bin/env bash
# strands-agents 1.62.0: after a long run, an agent as it is made by default sends a conversation that begins with a call.
#
# Expected: what is left of a conversation begins with a prompt of the user, as the providers ask.
# Seen: the default conversation manager keeps a window of 40 messages, and looks where a cut keeps calls and results together. After a
# run of 25 calls, it cuts behind the only prompt. The next request begins with an assistant's call, and what was asked for first is gone.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check strands-agents==1.62.0
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from strands import Agent, tool
from strands.models.model import Model

CALLS = 25
sent = []


class Canned(Model):
    def update_config(self, **config): ...

    def get_config(self):
        return {}

    def structured_output(self, *given, **named):
        raise NotImplementedError

    async def stream(self, messages, *given, **named):
        sent.append([dict(message) for message in messages])
        number = len(sent)
        yield {"messageStart": {"role": "assistant"}}
        if number <= CALLS:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": f"call_{number}", "name": "read"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockDelta": {"delta": {"text": "Done."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if number <= CALLS else "end_turn"}}


@tool
def read() -> str:
    """Reads the next file."""
    return "a line"


print("strands-agents", version("strands-agents"))
agent = Agent(model=Canned(), tools=[read], callback_handler=None)
agent("Read all files, and change none of them.")
agent("What did they say?")
last = sent[-1]
prompts = [block["text"] for message in last if message["role"] == "user" for block in message["content"] if "text" in block]
first = list(last[0]["content"][0])
print(f"the request of the second prompt has {len(last)} messages, begins with {last[0]['role']}'s {first}, and has the prompts {prompts}")
sys.exit(0 if (last[0]["role"], first, prompts) == ("assistant", ["toolUse"], ["What did they say?"]) else 1)
PYTHON
