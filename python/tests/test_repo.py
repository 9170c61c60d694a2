"""What Python calls, without any framework."""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import pytest

import tract

HERE = pathlib.Path(__file__).parent.parent


@pytest.fixture
def repo(tmp_path):
    with tract.init(tmp_path / "made") as repo:
        yield repo


def texts(repo, **of):
    messages = repo.context(**of)["messages"]
    return ["".join(part.get("text", "") for part in one["message"].get("parts", [])) for one in messages]


def test_a_conversation_is_committed_compiled_and_undone(repo):
    made = repo.commit(role="user", message="Name a river.")["commits"]
    assert len(made[0]["hash"]) == 64 and made[0]["tokens"]["tokens"] > 0
    repo.commit("assistant", "The Rhine.", model="m-1", temperature=0.70, note="short")
    assert texts(repo) == ["Name a river.", "The Rhine."]
    request = repo.compile("anthropic")
    assert type(request["messages"]) is list and request.commit == repo.show()["commit"]["hash"]
    assert json.loads(json.dumps(request)) == request
    assert repo.compile(request=True)["model"] == "m-1"
    assert "Name a river." in repo.compile("text")
    assert [entry["note"] for entry in repo.log()["commits"] if "note" in entry] == ["short"]
    assert repo.undo()["what"].startswith("commit -r assistant -m …") and texts(repo) == ["Name a river."]
    repo.redo()
    assert repo.find("rhine")["found"][0]["number"] == 2
    assert repo.status()["position"]["branch"] == "main"


def test_a_tool_call_in_each_vendors_form(repo):
    repo.commit("user", "How deep?")
    block = {"type": "tool_use", "id": "t1", "name": "depth", "input": {"of": "Rhine"}}
    usage = {"input_tokens": 12, "output_tokens": 5}
    reply = {"role": "assistant", "content": [block], "usage": usage, "model": "claude-sonnet-4-5", "type": "message"}
    repo.commit(json=reply)
    repo.commit(message="16 m", call="t1")
    sent = repo.compile("anthropic")["messages"]
    assert sent[1]["content"] == [block] and sent[2]["content"][0]["tool_use_id"] == "t1"
    sent = repo.compile("openai")["messages"]
    assert sent[1]["tool_calls"][0]["function"]["name"] == "depth" and sent[2]["role"] == "tool"
    assert repo.compile("responses")["input"][1]["type"] == "function_call"
    assert repo.cost()["total"]["counted"]["input_tokens"] == 12


def test_what_an_sdk_gives_is_taken_as_it_is(repo):
    class Message:
        """As pydantic's models do."""

        def model_dump(self, mode, exclude_unset):
            return {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]}

    repo.commit(json=Message())
    assert texts(repo) == ["Hello."]


def test_a_turn_is_seen_whole_or_not_at_all(repo):
    other = tract.open(repo.place)
    repo.commit("user", "before")
    with repo.turn() as inside:
        assert inside is repo
        repo.commit("user", "one")
        repo.commit("assistant", "two")
        assert texts(repo) == ["before", "one", "two"] and repo.compile()["messages"][-1]["content"] == "two"
        assert texts(other) == ["before"] and [one["preview"] for one in repo.log()["commits"]][0] == "two"
        with pytest.raises(tract.TractError, match="a turn only commits"):
            repo.truncate(keep=1)
        with pytest.raises(tract.TractError, match="under way"):
            repo.turn().__enter__()
    assert texts(other) == ["before", "one", "two"]
    with pytest.raises(ZeroDivisionError):
        with repo.turn():
            repo.commit("user", "lost")
            1 / 0
    assert texts(other) == ["before", "one", "two"]
    assert repo.undo()["what"] == "turn" and texts(other) == ["before"]
    with pytest.raises(tract.TractError) as caught:
        with repo.turn():
            repo.commit("user", "mine")
            other.commit("user", "theirs")
    assert (caught.value.kind, caught.value.exit_code) == ("ref_moved", 4)
    assert texts(repo) == ["before", "theirs"]


def test_a_first_turn_makes_the_branch(repo):
    with repo.at("idea").turn():
        pass
    idea = repo.at("idea")
    with idea.turn():
        idea.commit("user", "one")
        assert texts(idea) == ["one"]
    assert texts(repo.at("idea")) == ["one"] and texts(repo) == []


def test_a_stream_is_passed_on_and_committed(repo):
    def chunk(text, **more):
        return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}, **more}]}

    chunks = [chunk("All "), chunk("of a sudden.", finish_reason="stop")]
    assert list(repo.stream(iter(chunks))) == chunks
    for piece in repo.stream(["one ", "two"]):
        assert piece in ("one ", "two")

    def breaks():
        yield chunks[0]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        list(repo.stream(breaks()))
    for _ in repo.stream(iter(chunks)):
        break
    assert texts(repo) == ["All of a sudden.", "one two", "All ", "All "]
    cut = [one["message"].get("interrupted", False) for one in repo.context()["messages"]]
    assert cut == [False, False, True, True]


def test_branches_budgets_and_other_repositories(repo, tmp_path):
    repo.commit("user", "one")
    repo.branch("idea")
    idea = repo.at("idea")
    idea.commit("assistant", "two")
    assert len(repo.branches()["branches"]) == 2 and texts(repo) == ["one"] and len(texts(idea)) == 2
    assert [one["kind"] for one in repo.diff("main", "idea")["changes"]] == ["added"]
    repo.checkout("idea")
    repo.config("budget.max", "30")
    repo.config("budget.action", "refuse")
    with pytest.raises(tract.TractError) as caught:
        repo.commit("user", "more words " * 30)
    assert caught.value.kind == "over_budget" and caught.value.facts["max"] == 30
    assert len(texts(repo)) == 2
    there = tract.init(tmp_path / "there")
    repo.remote_add("origin", str(tmp_path / "there"))
    assert repo.push()["commits"] == 2
    assert there.branches()["branches"][0]["name"] == "idea"
    repo.remote_add("far", "ssh://far.example/talk")
    with pytest.raises(tract.TractError, match="the program"):
        repo.pull("far")


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("comit", {}, "unknown_method"),
        ("", {}, "unknown_method"),
        ("commit\x00", {}, "unknown_method"),
        ("commit", {"role": "user", "txt": "x"}, "invalid_params"),
        ("commit", {"role": 5, "message": "x"}, "invalid_params"),
        ("commit", {"role": "king", "message": "x"}, None),
        ("commit", {"role": "user", "message": "half \ud83d"}, "invalid_params"),
        ("commit", {"role": "user", "message": b"x"}, "invalid_params"),
        ("commit", {"json": {"role": "user", "content": float("nan")}}, "invalid_params"),
        ("commit", {"json": {"role": "user", "content": {1, 2}}}, "invalid_params"),
        ("commit", {"json": []}, None),
        ("commit", {"events": [{"hello": 1}]}, None),
        ("commit", {"role": "user", "message": ""}, "empty_message"),
        ("commit", {"role": "user", "message": "x", "expect": "none"}, "ref_moved"),
        ("context", {"rev": "nothing"}, "unknown_revision"),
        ("context", {"from": 1 << 80}, "invalid_params"),
        ("advance", {"rev": "HEAD", "expect": "none"}, "ref_moved"),
        ("config", {"key": "budget.max", "value": "much"}, "invalid_params"),
        (5, {}, "invalid_params"),
        ("\ud800", {}, "invalid_params"),
        ("log", [], "invalid_params"),
    ],
)
def test_what_is_wrong_is_one_exception_with_data(repo, method, params, kind):
    repo.commit("user", "before")
    with pytest.raises(tract.TractError) as caught:
        repo.call(method, params) if params != [] else repo.call(method, [1])
    fault = caught.value
    assert kind in (None, fault.kind) and fault.message and fault.exit_code in (1, 2, 4)
    assert isinstance(fault.facts, dict) and (fault.hint is None or fault.hint in str(fault))
    assert texts(repo) == ["before"] and not repo.fsck()["is_damaged"]


def test_deep_and_circular_values_are_refused(repo):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    around = {}
    around["self"] = around
    for value in (deep, around):
        with pytest.raises(tract.TractError, match="parameters:"):
            repo.commit(json={"role": "user", "content": value})
    nested = json.loads("[" * 900 + "]" * 900)
    with pytest.raises(tract.TractError):
        repo.commit(json={"role": "user", "content": [{"type": "odd", "x": nested}]})
    assert texts(repo) == []


def test_an_enormous_message_goes_through(repo):
    text = "word and word, " * 700_000
    repo.commit("user", text)
    assert texts(repo) == [text]


def test_text_of_all_kinds_comes_back(repo):
    text = "".join(map(chr, [*range(1, 0xD800, 7), *range(0xE000, 0xFFFF, 5), 0x1F600, 0x10FFFF])) + "\x00\r\n"
    repo.commit("user", text)
    assert texts(repo) == [text]


def test_places_that_are_no_repository(tmp_path):
    for place in (tmp_path, tmp_path / "missing", "a\0b", 5):
        with pytest.raises(tract.TractError) as caught:
            tract.open(place)
        assert caught.value.message
    (tmp_path / "file").write_text("x")
    with pytest.raises(tract.TractError):
        tract.init(tmp_path / "file")


def test_a_repository_of_a_newer_version_is_left_alone(tmp_path):
    import sqlite3

    tract.init(tmp_path).close()
    with sqlite3.connect(tmp_path / ".tract" / "tract.db") as db:
        db.execute("pragma user_version = 9999")
    db.close()
    before = (tmp_path / ".tract" / "tract.db").read_bytes()
    with pytest.raises(tract.TractError) as caught:
        tract.open(tmp_path)
    assert caught.value.kind == "newer_database"
    assert (tmp_path / ".tract" / "tract.db").read_bytes() == before


def test_open_finds_the_repository_above(tmp_path, monkeypatch):
    monkeypatch.delenv("TRACT_REPO", raising=False)
    tract.init(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert tract.open().place == tmp_path / ".tract"
    monkeypatch.chdir("/")
    monkeypatch.setenv("TRACT_REPO", str(tmp_path))
    assert tract.open().place == tmp_path / ".tract"


def test_a_branch_that_is_no_name_is_refused(repo):
    for name in ("\ud800", 5, None):
        with pytest.raises(tract.TractError, match="a name"):
            repo.at(name)
    with pytest.raises(tract.TractError):
        repo.at("a..b").commit("user", "x")


def test_what_is_closed_says_so(repo):
    repo.commit("user", "one")
    repo.close()
    repo.close()
    with pytest.raises(tract.TractError, match="closed"):
        repo.log()


def test_threads_share_a_repository(repo):
    def talk(name):
        branch = repo.at(name)
        for at in range(10):
            with branch.turn():
                branch.commit("user", f"{name} {at}")
                branch.commit("assistant", f"{name} {at}")

    threads = [threading.Thread(target=talk, args=(f"b{at}",)) for at in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert [len(texts(repo.at(f"b{at}"))) for at in range(6)] == [20] * 6


def test_the_interpreter_goes_on_while_it_works(repo):
    text = "some words, " * 400_000
    ticks, is_over = [], threading.Event()

    def tick():
        while not is_over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    repo.commit("user", text)
    end = time.monotonic()
    is_over.set()
    thread.join()
    inside = [at for at in ticks if begin < at < end]
    assert len(inside) > (end - begin) / 0.05


def test_long_work_tells_how_far_it_is_and_is_ended(repo):
    repo.commit(batch=[{"role": "user", "content": f"{at} " + "words " * 300} for at in range(1000)])

    def stop(done, total):
        raise KeyboardInterrupt

    seen = []
    try:
        repo.call("fsck", {}, progress=stop)
    except KeyboardInterrupt:
        seen.append("stopped")
    # Where the machine is fast enough, nobody is told.
    assert seen in ([], ["stopped"])
    assert repo.context(limit=1)["total"] == 1000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_after_a_fork_it_is_opened_again(tmp_path):
    script = f"""
import os, tract
repo = tract.init({str(tmp_path)!r})
repo.commit("user", "parent")
pid = os.fork()
if pid == 0:
    try:
        repo.commit("user", "child")
    except tract.TractError as error:
        assert "opened again" or error
        tract.open({str(tmp_path)!r}).commit("user", "child")
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
repo.commit("user", "parent again")
assert repo.context()["total"] == 3 and not repo.fsck()["is_damaged"]
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True, timeout=60)


def test_asyncio(tmp_path):
    async def talk():
        async with await tract.AsyncRepo.init(tmp_path) as repo:
            await repo.commit("user", "one")
            async with repo.turn():
                await repo.commit("assistant", "two")
                assert (await repo.compile("openai"))["messages"][-1]["content"] == "two"
            with pytest.raises(ZeroDivisionError):
                async with repo.turn():
                    await repo.commit("user", "lost")
                    1 / 0

            async def events():
                yield "three"
                yield " and four"

            assert [event async for event in repo.stream(events())] == ["three", " and four"]

            async def branch(name):
                own = repo.at(name)
                async with own.turn():
                    for at in range(5):
                        await own.commit("user", str(at))
                return (await own.context())["total"]

            assert await asyncio.gather(*(branch(f"b{at}") for at in range(8))) == [5] * 8
            with pytest.raises(tract.TractError):
                await repo.call("nothing")
            return texts(repo.sync)

    assert asyncio.run(talk()) == ["one", "two", "three and four"]


def test_the_types_are_those_of_the_interface():
    done = subprocess.run([sys.executable, HERE / "generate.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_says_that_it_is_typed():
    where = pathlib.Path(tract.__file__).parent
    assert (where / "py.typed").exists() and (where / "_tract.pyi").exists()
    assert tract.types.LogEntry.__annotations__ and "hash" in tract.types._LogEntry.__annotations__


def test_who_is_at_work_is_as_everywhere(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("TRACT_AUTHOR", "Mara <mara@example.org>")
    with tract.init(tmp_path / "named") as repo:
        repo.commit("user", "one")
        assert repo.reflog()["operations"][0]["by"]["name"] == "Mara <mara@example.org>"
        assert repo.show()["commit"]["author"]["name"] == "Mara <mara@example.org>"
    monkeypatch.delenv("TRACT_AUTHOR")
    (tmp_path / ".config/tract").mkdir(parents=True)
    (tmp_path / ".config/tract/config").write_text("author.name = Ole\n")
    with tract.open(tmp_path / "named") as repo:
        repo.commit("user", "two")
        assert repo.reflog()["operations"][0]["by"]["name"] == "Ole"
    monkeypatch.setenv("TRACT_AUTHOR", "")
    with tract.open(tmp_path / "named") as repo:
        repo.commit("user", "three")
        assert "by" not in repo.reflog()["operations"][0]


def test_a_path_and_several_are_imported(tmp_path):
    file = tmp_path / "talk.json"
    file.write_text(json.dumps([{"role": "user", "content": "Name a river."}]))
    repo = tract.ephemeral()
    [told] = repo.import_(file)["sessions"]
    assert (told["format"], told["outcome"], told["messages"]) == ("openai", "new", 1)
    assert repo.import_([str(file)])["sessions"][0]["outcome"] == "unchanged"
