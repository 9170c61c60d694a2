"""What bridges do to branches, without any framework: every deed is seen once, whoever else is at work."""

import asyncio

import deeds
import pytest

import tract
from tract._blocks import text_of, turn_of
from tract._deeds import Conversation, settled


def item(message):
    return [text_of(message)]


def said(text):
    return {"role": "user" if text[0] == "u" else "assistant", "content": text}


def made(repo):
    talk = Conversation(repo, "talks", "one", "talk")

    def undo():
        to = talk.undo(lambda messages: turn_of(messages, 1, "talk"))
        return repo.context(to)["total"] if to else 0

    return {
        "add": lambda texts: talk.repo.commit(batch=[said(text) for text in texts]),
        "pop": lambda: talk.pop(item, said),
        "undo": undo,
        "redo": lambda: repo.context(talk.redo())["total"],
        "clear": talk.clear,
    }


def test_deeds_at_once_come_one_after_the_other(tmp_path):
    tract.init(tmp_path).close()
    repo, came = deeds.at_once(made, tmp_path)
    items = deeds.held_against_the_model(repo, "talks/one", came)
    assert [text_of(message) for message in repo.at("talks/one").context()["messages"]] == items
    assert not repo.fsck()["is_damaged"]


def test_what_a_deed_leaves_is_let_go_by_a_collection_but_not_by_undo(tmp_path):
    repo = tract.init(tmp_path)
    do = made(repo)
    do["add"](["u1", "a2"])
    do["clear"]()
    with pytest.raises(tract.TractError) as caught:
        repo.show("ORIG_HEAD")
    assert caught.value.kind == "unknown_revision"
    repo.undo()
    assert do["pop"]() == "a2" and do["pop"]() == "u1" and do["pop"]() is None
    repo.undo()
    assert do["pop"]() == "u1"


def test_what_was_popped_does_not_come_back_by_redo():
    do = made(tract.ephemeral())
    do["add"](["u1", "a2", "u3", "a4"])
    assert do["undo"]() == 2 and do["pop"]() == "a2"
    with pytest.raises(tract.TractError, match="nothing to redo"):
        do["redo"]()


def test_a_redo_takes_back_the_undo_that_is_the_last_by_then():
    repo = tract.ephemeral()
    talk = Conversation(repo, "talks", "one", "talk")
    do, go = made(repo), talk.go
    do["add"](["u1"])
    do["undo"]()
    others = [lambda: (do["add"](["u2", "a3"]), do["undo"]())]

    def late(*args):
        while others:
            others.pop()()
        go(*args)

    talk.go = late
    assert repo.context(talk.redo())["total"] == 2


def test_whoever_is_cancelled_leaves_no_half():
    repo = tract.ephemeral()
    do = made(repo)

    async def cancelled():
        task = asyncio.create_task(settled(asyncio.to_thread(do["add"], ["u1", "u2", "u3"])))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return repo.at("talks/one").context()["total"]

    assert asyncio.run(cancelled()) == 3
