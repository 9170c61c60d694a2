#!/usr/bin/env bash
# langchain-core 1.8.3: `trim_messages` with the options that its documentation gives for chats leaves the system prompt alone
# where a run of tools has grown past the limit.
#
# Expected: as much of the end as fits, as between two prompts of a user.
# Seen: with strategy="last", include_system=True, start_on="human", end_on=("human", "tool"), all that is left must begin with a
# user's message. In the middle of a run the last one stands before all of its calls. Once these are more than the limit, nothing
# but the system prompt is left: no prompt, no call, no result. There is no error and no warning.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check langchain-core==1.8.3
"$folder/env/bin/python" -W error - <<'PYTHON'
import sys
from importlib.metadata import version

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately, trim_messages


def trimmed(messages):
    return trim_messages(
        messages,
        max_tokens=200,
        token_counter=count_tokens_approximately,
        strategy="last",
        include_system=True,
        start_on="human",
        end_on=("human", "tool"),
    )


def turn(prompt, calls):
    messages = [HumanMessage(prompt)]
    for number in range(calls):
        messages.append(AIMessage("", tool_calls=[{"name": "read", "args": {"file": number}, "id": f"call_{number}"}]))
        messages.append(ToolMessage("a line of a file " * 15, tool_call_id=f"call_{number}"))
    return messages


print("langchain-core", version("langchain-core"))
system = SystemMessage("Be brief.")
chat = [system, *turn("Read the first.", 1), AIMessage("Done."), HumanMessage("And now?")]
between = [message.type for message in trimmed(chat)]
one, three = ([message.type for message in trimmed([system, *turn("Read them all.", calls)])] for calls in (1, 3))
print(f"between two prompts: {between}\nafter one call: {one}\nafter three calls: {three}")
sys.exit(0 if (between[-1], one, three) == ("human", ["system", "human", "ai", "tool"], ["system"]) else 1)
PYTHON
