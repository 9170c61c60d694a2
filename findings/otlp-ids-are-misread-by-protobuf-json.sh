#!/usr/bin/env bash
# opentelemetry-proto 1.45.2, protobuf 7.36.2: the ids of a span in OTLP's JSON are read as others, without an error.
#
# Expected: OTLP has ids in hexadecimal digits there, so protobuf's parser refuses them or reads 16 and 8 bytes.
# Seen: it takes the digits for base64, and gives ids of 24 and 12 bytes. Its own writer makes the digits of them again, so that a
# program that reads and writes by these classes alone never notices.
# Exits 0 while this is so, 1 once it is not.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check opentelemetry-proto==1.45.2 protobuf==7.36.2
"$work/env/bin/python" - <<'PYTHON'
import json

from google.protobuf import json_format
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

# The ids are those of the W3C's examples of trace contexts.
span = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "chat"}
text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
read = json_format.Parse(text, TracesData()).resource_spans[0].scope_spans[0].spans[0]
print("written:", span["traceId"], span["spanId"])
print("read:   ", read.trace_id.hex(), read.span_id.hex())
assert (len(read.trace_id), len(read.span_id)) == (24, 12)
again = json_format.MessageToDict(TracesData(resource_spans=json_format.Parse(text, TracesData()).resource_spans))
print("written again by the same classes:", again["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"])
PYTHON
