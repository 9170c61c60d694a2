"""Every method says in Python what it says to programs: the list that the program's own test walks as well."""

import json
import os
import pathlib
import subprocess

import pytest

import tract

TESTS = pathlib.Path(__file__).parent.parent.parent / "tests"
PROGRAM = os.environ.get("TRACT_PROGRAM")
NOW = "1773489600000"


class Place:
    """A door's own repository, and another one that it is pushed to."""

    def __init__(self, root):
        self.root = root
        for name in ("home", "work", "there"):
            (root / name).mkdir(parents=True)
        tract.init(root / "there").close()
        self.made = {}

    def filled(self, params):
        names = {"data": TESTS / "data", "there": self.root / "there", "work": self.root / "work"} | self.made
        text = json.dumps(params)
        for name, value in names.items():
            text = text.replace("{%s}" % name, str(value))
        return json.loads(text)

    def told(self, answer, chance):
        """An answer as it would be elsewhere."""
        answer = json.loads(json.dumps(answer).replace(str(self.root), ""))
        assert "error" not in answer, answer
        for pointer in chance:
            answer[pointer.strip("/")] = "*"
        if isinstance(answer.get("commits"), list) and answer["commits"] and "hash" in answer["commits"][0]:
            self.made["last"] = answer["commits"][0]["hash"]
        if "commit" in answer:
            self.made["begun"] = answer["commit"]
        return answer


@pytest.mark.skipif(not PROGRAM, reason="TRACT_PROGRAM does not say where the program is")
def test_every_method_says_what_the_program_says(tmp_path, monkeypatch):
    here, there = Place(tmp_path / "python"), Place(tmp_path / "program")
    monkeypatch.setenv("TRACT_CLOCK", NOW)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(here.root / "home"))
    monkeypatch.setenv("TRACT_AUTHOR", "")
    repo = tract.init(here.root / "work")
    env = {"HOME": str(there.root / "home"), "PATH": os.environ["PATH"], "TRACT_CLOCK": NOW, "TRACT_AUTHOR": ""}
    tract.init(there.root / "work").close()
    walked = set()
    for line in (TESTS / "doors" / "steps.jsonl").read_text().splitlines():
        step = json.loads(line)
        name, params, chance = step["method"], step.get("params", {}), step.get("chance", [])
        walked.add(name)
        asked = json.dumps(there.filled(params))
        done = subprocess.run(
            [PROGRAM, "api", name, asked], cwd=there.root / "work", env=env, capture_output=True, text=True, check=False
        )
        program = there.told(json.loads(done.stdout), chance)
        assert here.told(repo.call(name, here.filled(params)), chance) == program, step
    described = subprocess.run([PROGRAM, "api", "describe"], env=env, capture_output=True, text=True, check=True)
    assert walked == {method["name"] for method in json.loads(described.stdout)["methods"]}
