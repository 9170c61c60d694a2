#!/usr/bin/env bash
# inspect_ai 0.3.285: what a sample's failed attempt used is in the log's total and in no sample's count.
#
# Expected: the samples' `model_usage` come to what the log's `stats.model_usage` says.
# Seen: with `retry_on_error`, a sample says what its last attempt used. The requests of the attempts before stand in
# `error_retries`, with their usage, and are part of the total alone: whoever adds samples up is told less than was paid.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check inspect_ai==0.3.285
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, solver

print("inspect_ai", version("inspect_ai"))


def reply(*_):
    output = ModelOutput.from_content("mockllm/model", "16 m")
    output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    return output


attempts = []


@solver
def fails_once():
    async def solve(state, generate):
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("down")
        return state

    return solve


task = Task(dataset=[Sample(input="How deep?", target="16 m")], solver=[generate(), fails_once()])
model = get_model("mockllm/model", custom_outputs=reply)
log = eval(task, model=model, log_dir="logs", retry_on_error=1, display="none")[0]
[sample] = log.samples
all_in = log.stats.model_usage["mockllm/model"].total_tokens
in_sample = sample.model_usage["mockllm/model"].total_tokens
events = [event for attempt in sample.error_retries for event in attempt.events]
failed = sum(event.output.usage.total_tokens for event in events if event.event == "model")
print("the log's total:", all_in, "- its only sample:", in_sample, "- the attempt that failed:", failed)
sys.exit(0 if (all_in, in_sample, failed) == (14, 7, 7) else 1)
PYTHON
