#!/usr/bin/env bash
# pydantic-ai-slim 2.68.0: a picture given as BinaryContent comes back from the library's own JSON as BinaryImage.
#
# Expected: messages that go through ModelMessagesTypeAdapter and back are equal to what they were, as those of words alone are.
# Seen: the same bytes and media type, of another class, and not equal. Whoever compares a stored history with the one
# in memory takes it for changed.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check pydantic-ai-slim==2.68.0
"$folder/env/bin/python" - <<'PYTHON'
import sys
from importlib.metadata import version

from pydantic_ai.messages import BinaryContent, ModelMessagesTypeAdapter, ModelRequest, UserPromptPart

print("pydantic-ai-slim", version("pydantic-ai-slim"))
picture = BinaryContent(data=b"\x89PNG\r\n\x1a\n", media_type="image/png")
words = [ModelRequest(parts=[UserPromptPart(content=["Look."])])]
kept = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(words)) == words
print("messages of words alone are equal:", kept)
said = [ModelRequest(parts=[UserPromptPart(content=["Look.", picture])])]
again = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(said))
back = again[0].parts[0].content[1]
print("given:    ", type(picture).__name__, picture.media_type, len(picture.data), "bytes")
print("come back:", type(back).__name__, back.media_type, len(back.data), "bytes")
print("those with a picture are equal:  ", again == said)
same = (back.data, back.media_type) == (picture.data, picture.media_type)
sys.exit(0 if kept and same and type(back) is not BinaryContent and again != said else 1)
PYTHON
