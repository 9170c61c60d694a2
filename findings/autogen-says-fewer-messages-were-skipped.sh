#!/usr/bin/env bash
# autogen-core 0.7.5: HeadAndTailChatCompletionContext tells the model how many messages are left out, and says too few.
#
# Expected: the number in the message that stands for what was left out is how many messages were.
# Seen: of 11 messages with a head of 2 and a tail of 3, the head ends with a call and the tail begins with a result. Both are taken
# out as well, for a provider refuses them alone. The model reads `Skipped 6 messages.` where 8 are gone.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check autogen-core==0.7.5
"$folder/env/bin/python" - <<'PYTHON'
import asyncio
import re
import sys
from importlib.metadata import version

from autogen_core import FunctionCall
from autogen_core.model_context import HeadAndTailChatCompletionContext
from autogen_core.models import AssistantMessage, FunctionExecutionResult, FunctionExecutionResultMessage, UserMessage

messages = [UserMessage(content="Compare the files.", source="user")]
for number in range(4):
    call = FunctionCall(id=f"call_{number}", name="read", arguments="{}")
    result = FunctionExecutionResult(content="lines", name="read", call_id=call.id, is_error=False)
    messages += [AssistantMessage(content=[call], source="assistant"), FunctionExecutionResultMessage(content=[result])]
messages += [AssistantMessage(content="They differ.", source="assistant"), UserMessage(content="How?", source="user")]


async def look():
    context = HeadAndTailChatCompletionContext(head_size=2, tail_size=3, initial_messages=list(messages))
    return await context.get_messages()


print("autogen-core", version("autogen-core"))
left = asyncio.run(look())
for message in left:
    print(type(message).__name__, message.content)
said = next(int(found[1]) for one in left if (found := re.match(r"Skipped (\d+) messages", str(one.content))))
gone = len(messages) - (len(left) - 1)
print(f"said to be skipped: {said}; gone: {gone}")
sys.exit(0 if (said, gone) == (6, 8) else 1)
PYTHON
