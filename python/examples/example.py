"""An agent with a tool, in a repository. `MODEL` is canned; with an SDK only the function `ask` is another."""

import json
import tempfile

import tract

CANNED = [
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "depth", "input": {"river": "Rhine"}}]},
    {"role": "assistant", "content": [{"type": "text", "text": "The Rhine is 16 m deep."}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It flows into the North Sea."}]},
]


def ask(request):
    # With Anthropic's SDK: return client.messages.create(model="…", max_tokens=1000, tools=TOOLS, **request)
    assert request["messages"], "the SDK takes this dict as it is"
    return CANNED.pop(0)


def depth(river):
    return {"river": river, "m": 16}


def turn(repo, said):
    """All that happens in a turn is there afterwards or, if anything fails, nothing of it."""
    with repo.turn():
        repo.commit(role="user", message=said)
        while True:
            reply = ask(repo.compile("anthropic"))
            repo.commit(json=reply)
            calls = [block for block in reply["content"] if block["type"] == "tool_use"]
            if not calls:
                return reply["content"][0]["text"]
            for call in calls:
                repo.commit(call=call["id"], message=json.dumps(depth(**call["input"])))


with tempfile.TemporaryDirectory() as folder, tract.init(folder) as repo:
    print(turn(repo, "How deep is the Rhine?"))
    print(turn(repo, "And where does it go?"))
    repo.undo()  # the second turn never was
    print(repo.status()["messages"], "messages,", repo.find("16 m")["found"][0]["lines"])
    assert repo.status()["messages"] == 4
