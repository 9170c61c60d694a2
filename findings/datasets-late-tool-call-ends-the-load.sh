#!/usr/bin/env bash
# datasets 5.2.0: a JSON Lines file of chats is not loaded if the first tool call in it comes after the first 10 MB.
#
# Expected: rows in OpenAI's form load in any order, as those do of which the first row has a call.
# Seen: the type of messages is guessed from the first block; a call that comes later ends the load (DatasetGenerationError).
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check datasets==5.2.0
WORK=$work HF_HOME=$work/hf HF_HUB_OFFLINE=1 "$work/env/bin/python" - 2>/dev/null <<'PYTHON'
import json
import os

import datasets

work = os.environ["WORK"]
call = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": "{}"}}
plain = json.dumps({"messages": [{"role": "user", "content": "How many sacks?" * 100}, {"role": "assistant", "content": "Twelve."}]})
calling = json.dumps({"messages": [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "", "tool_calls": [call]}]})


def load(name, rows):
    path = f"{work}/{name}.jsonl"
    with open(path, "w") as file:
        file.write("\n".join(rows))
    try:
        loaded = datasets.load_dataset("json", data_files=path, split="train", cache_dir=f"{work}/{name}")
        return f"{len(loaded)} rows"
    except datasets.exceptions.DatasetGenerationError as error:
        return str(error.__cause__).split("\n")[0]


first, last = load("first", [calling] + [plain] * 20_000), load("last", [plain] * 20_000 + [calling])
print("the call in the first row:", first)
print("the call in the last row: ", last)
assert first == "20001 rows" and last.startswith("Couldn't cast array of type"), (first, last)
PYTHON
