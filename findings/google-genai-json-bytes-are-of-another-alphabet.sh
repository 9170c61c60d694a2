#!/usr/bin/env bash
# google-genai 2.34.0: the library's own JSON of a picture reads as another picture.
#
# Expected: bytes in a content's JSON (model_dump_json) are in base64 as the API's pages show them, so that base64.b64decode, a browser's
# atob or the other SDKs give the picture back.
# Seen: they are in the alphabet for addresses, of which Python's b64decode leaves letters out without a word: fewer bytes, and other ones.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q --disable-pip-version-check google-genai==2.34.0
"$folder/env/bin/python" - <<'PYTHON'
import base64
import json
import sys
import zlib
from importlib.metadata import version

from google.genai import types

print("google-genai", version("google-genai"))


def chunk(kind, data):
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


rows = b"".join(b"\0" + bytes((x * y) % 256 for x in range(32)) for y in range(32))
head = (32).to_bytes(4, "big") * 2 + b"\x08\0\0\0\0"
picture = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
said = types.Content(role="user", parts=[types.Part.from_bytes(data=picture, mime_type="image/png")])
kept = json.loads(said.model_dump_json(by_alias=True, exclude_none=True))["parts"][0]["inlineData"]["data"]
read = base64.b64decode(kept)
own = types.Content.model_validate(json.loads(said.model_dump_json())).parts[0].inline_data.data
print("the picture:                    ", len(picture), "bytes")
print("letters of the other alphabet:  ", sum(letter in "-_" for letter in kept), "of", len(kept))
print("base64.b64decode gives:         ", len(read), "bytes, the same:", read == picture)
print("the library itself reads it back:", own == picture)
sys.exit(0 if own == picture and read != picture else 1)
PYTHON
