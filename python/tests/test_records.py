"""The log of a LangGraph thread, without the framework."""

from tract._records import Thread


def put(id, **more):
    return {"op": "put", "ns": "", "id": id, "ch": {}, "core": ["json", "l{}"], "meta": ["json", "l{}"], **more}


def writes(id, *texts, task="task"):
    made = [[index, "messages", "json", "l" + text] for index, text in enumerate(texts)]
    return {"op": "writes", "ns": "", "id": id, "task": task, "path": "", "w": made}


def read(*records):
    thread = Thread()
    for at, record in enumerate(records):
        thread.take(str(at), record)
    return thread


def test_writes_belong_to_their_checkpoint_in_whichever_order_they_come():
    early = read(writes("1", "a"), put("1"), writes("1", "ignored", "b"))
    late = read(put("1"), writes("1", "a"), writes("1", "ignored", "b"))
    assert early.writes == late.writes
    assert [value[3] for value in early.writes["", "1"].values()] == [b"a", b"b"]


def test_what_is_dropped_takes_its_writes_along():
    thread = read(put("1"), writes("1", "a"), {"op": "drop", "keys": [["", "1"]]}, writes("2", "b"), put("2"))
    assert list(thread.writes) == [("", "2")] and list(thread.kept) == [("", "2")]
