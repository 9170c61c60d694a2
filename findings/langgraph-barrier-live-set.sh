#!/usr/bin/env bash
# langgraph 1.2.24: NamedBarrierValue.checkpoint() gives the set that the channel goes on to fill, and no copy.
#
# Expected: what was a checkpoint of one step stays as it was.
# Seen: the checkpoint of the step at which one of two nodes had come names both once the second came.
# A saver that keeps what it is given until a thread of its own writes it keeps a later step's set, and the history
# of states then names other next nodes than it had.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check langgraph==1.2.24
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from langgraph.channels.named_barrier_value import NamedBarrierValue

print("langgraph", version("langgraph"))
channel = NamedBarrierValue(str, {"first", "second"}).from_checkpoint(set())
channel.update(["first"])
kept = channel.checkpoint()
before = sorted(kept)
channel.update(["second"])
after = sorted(kept)
print("the checkpoint, when it was made:", before)
print("the same one, a step later:      ", after)
sys.exit(0 if (before, after) == (["first"], ["first", "second"]) else 1)
PYTHON
