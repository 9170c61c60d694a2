#!/usr/bin/env bash
# litellm 1.110.2: `trim_messages` cuts between a call and its result, and through the result.
#
# Expected: of a conversation with tools, what is left is one that a provider takes: each result behind its call.
# Seen: with 160 tokens, the list begins, behind the system prompt, with a message of the role `tool`. Its call is gone, and so is
# the user's prompt; its middle is replaced by `..`, so the model reads a result that no tool gave. OpenAI's and Anthropic's APIs
# refuse a result without a call.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check litellm==1.110.2
# Its table of prices is the one in the package.
LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/env/bin/python" - <<'PYTHON'
import json
import sys
from importlib.metadata import version

from litellm.utils import trim_messages

messages = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Compare the four files."},
]
for number in range(4):
    function = {"name": "read", "arguments": json.dumps({"file": number})}
    messages += [
        {"role": "assistant", "content": None, "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": f"call_{number}", "content": " ".join(f"{number}.{line}" for line in range(25))},
    ]
messages += [{"role": "assistant", "content": "They differ."}, {"role": "user", "content": "How?"}]

print("litellm", version("litellm"))
given = {message.get("tool_call_id"): message["content"] for message in messages}
left = trim_messages([dict(message) for message in messages], model="gpt-4o", max_tokens=220)
calls, alone, altered = set(), [], []
for message in left:
    calls.update(call["id"] for call in message.get("tool_calls") or [])
    if message["role"] == "tool":
        result = message["tool_call_id"]
        if result not in calls:
            alone.append(result)
        if message["content"] != given[result]:
            altered.append(message["content"])
    print(message["role"], json.dumps(message.get("content"))[:90])
print(f"results without a call: {alone}; results with other words: {len(altered)}")
sys.exit(0 if len(alone) == 1 and len(altered) == 1 and ".." in altered[0] else 1)
PYTHON
