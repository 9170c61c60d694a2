"""The log of a LangGraph thread, without the framework."""

import json
import os
import random
import time

from tract._records import Pieces, Thread, applied, differences

SEED = int(os.environ.get("PROPTEST_RNG_SEED") or time.time())


def put(id, **more):
    return {"op": "put", "ns": "", "id": id, "ch": {}, "core": ["json", "l{}"], "meta": ["json", "l{}"], **more}


def writes(id, *texts, task="task"):
    made = [[index, "messages", "json", "l" + text] for index, text in enumerate(texts)]
    return {"op": "writes", "ns": "", "id": id, "task": task, "path": "", "w": made}


def read(*records):
    thread = Thread()
    for at, record in enumerate(records):
        thread.take(record)
        thread.ended(str(at))
    return thread


def test_writes_belong_to_their_checkpoint_in_whichever_order_they_come():
    early = read(writes("1", "a"), put("1"), writes("1", "ignored", "b"))
    late = read(put("1"), writes("1", "a"), writes("1", "ignored", "b"))
    assert early.writes == late.writes
    assert [value[3] for value in early.writes["", "1"].values()] == [b"a", b"b"]


def test_what_is_dropped_takes_its_writes_along():
    thread = read(put("1"), writes("1", "a"), {"op": "drop", "keys": [["", "1"]]}, writes("2", "b"), put("2"))
    assert list(thread.writes) == [("", "2")] and list(thread.kept) == [("", "2")]


def test_a_piece_that_stands_there_is_told_by_its_place():
    said, heard = Pieces(), Pieces()
    text = b"What the Rhine carries in a dry summer, in words."
    pieces = [text, b"\x81" + text + b"\x00", text[5:40], text[:20] + b"!" + text[20:], b"short", bytes(range(256)), text]
    told = json.loads(json.dumps([said.packed(one) for one in pieces]))
    assert [heard.unpacked(one) for one in told] == pieces
    assert [type(one) for one in told] == [str, list, list, list, str, str, list]
    assert len(json.dumps(told[1:4])) < len(text) * 2


def test_a_text_is_said_once_whatever_changes_around_it():
    said, heard = Pieces(), Pieces()
    text = bytes(range(32, 127)) * 2
    pieces = [b"\xc8\x01" + text + b"\xc0", b"\xc8\x02" + text + b"\xd9$id", text[:90] + b"!" + text[90:], text[40:] + b"?" + text[:40]]
    told = json.loads(json.dumps([said.packed(one) for one in pieces]))
    assert [heard.unpacked(one) for one in told] == pieces
    assert len(json.dumps(told[1:])) < len(text)


def test_what_older_logs_tell_is_read():
    heard = Pieces()
    text = b"What the Rhine carries in a dry summer, in words."
    told = ["l" + text.decode(), [0, 5, 40], [1, 20, 29, "l!"]]
    assert [heard.unpacked(one) for one in told] == [text, text[5:45], text[:20] + b"!" + text[20:]]


def test_any_pieces_come_back():
    chance = random.Random(SEED)
    for _ in range(50):
        said, heard, last = Pieces(), Pieces(), b""
        for _ in range(40):
            fresh = chance.randbytes(chance.choice([0, 3, 40, 400]))
            cut = chance.randrange(len(last) + 1)
            last = chance.choice([fresh, last[:cut] + fresh, fresh + last[cut:], last[:cut] + fresh + last[cut:], last[cut:]])[:9000]
            assert heard.unpacked(json.loads(json.dumps(said.packed(last)))) == last, SEED


def test_facts_are_told_by_what_differs():
    base = {"v": 4, "ts": "one", "versions": {"a": 1, "b": {"c": 1}}, "list": [1, 2]}
    for value, count in [
        (base, 0),
        ({**base, "ts": "two"}, 1),
        ({**base, "versions": {"a": True, "b": {"c": 1.0}}}, 2),
        ({**base, "versions": {"a": 1}}, 1),
        ({**base, "new": {}, "list": []}, 2),
    ]:
        made = differences(base, value)
        assert len(made) == count and json.dumps(applied(base, made)) == json.dumps(value)
    assert differences(base, {"v": 4}) is None and base["versions"] == {"a": 1, "b": {"c": 1}}
