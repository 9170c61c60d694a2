#!/usr/bin/env python3
"""The vendors' own clients go on from contexts that `tract run` and `tract bisect run` hand them.

    python3 tests/runs/clients.py --tract target/release/tract [--prefix FOLDER] [--only NAME] [--chance] [--keep]

Claude Code and Codex are installed from npm (FOLDER keeps them) and talk to a canned model on this machine. The model fails
exactly if one message is visible in what the client sends. `tract run` makes three runs of the session, one branch each, of
which a judge says that they are bad; from before that message, that they are good; `tract bisect run` finds the message. Then either of
two messages makes it fail: both are found. With --chance it fails in one of five answers: the message is found with the stated
confidence, in some hundred answers. Nothing is sent to a provider.

Exit status: 0 all hold, 1 one does not, 77 npm or a client cannot be had: skipped, and said so.
"""

import argparse
import json
import math
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
import clients as mcp  # noqa: E402

FAULT = "The ledger is kept in Old Norse."
PROMPTS = ["We keep a ledger.", "It has three columns.", "The first is the day.", FAULT, "The second is the sum.", "The third is who paid."]
OTHER = "It has three columns."
ASKED = "What is in the second column?"
GOOD, BAD = "It holds the sum.", "Ek veit eigi."
SESSION = mcp.SESSION


class Model(mcp.Model):
    """It fails where the fault stands in what it is sent, and was asked something: always, where another stands there as well, or by
    chance."""

    faults, one_in = [FAULT], 1
    chance = random.Random(5)

    def next(self, label, body):
        with self.lock:
            self.requests.setdefault(label, []).append(body)
            waiting = self.replies.get(label) or []
            if waiting and body.get("tools"):
                return waiting.pop(0)
        said = json.dumps(body.get("messages") or body.get("input") or [], ensure_ascii=False)
        if ASKED not in said:
            return "Noted."
        with self.lock:
            drawn = self.chance.randrange(self.one_in) == 0
        return BAD if drawn and any(fault in said for fault in self.faults) else GOOD


def tract(place, *args, fails=False, **env):
    done = subprocess.run([place.tract, *args], cwd=place.project, env={**place.env, **env}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=1800)
    if (done.returncode != 0) != fails:
        raise AssertionError(f"tract {' '.join(args)[:200]}: {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def claude_code(model, place):
    """A session of some prompts."""
    url = model.url("claude", [])
    common = ["claude", "--dangerously-skip-permissions", "-p"]
    for at, prompt in enumerate(PROMPTS):
        way = ["--resume", SESSION] if at else ["--session-id", SESSION]
        place.run(*common, prompt, *way, ANTHROPIC_BASE_URL=url)
    return ["--in", "claude-code", "--tool-arg=--dangerously-skip-permissions"], {"ANTHROPIC_BASE_URL": url}


def codex(model, place):
    """The same."""
    url = model.url("codex", [])
    (place.home / ".codex/config.toml").write_text(
        f'model = "gpt-5.1-codex"\nmodel_provider = "canned"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.canned]\nname = "canned"\nbase_url = "{url}/v1"\nenv_key = "CODEX_API_KEY"\nwire_api = "responses"\n'
        f'request_max_retries = 1\nstream_max_retries = 0\n')
    out = place.run("codex", "exec", "--skip-git-repo-check", "--json", PROMPTS[0])
    session = re.search(r'"thread_id":"([^"]+)"', out)[1]
    for prompt in PROMPTS[1:]:
        place.run("codex", "exec", "--skip-git-repo-check", "resume", session, prompt)
    return ["--in", "codex"], {}


def check(client, model, place, by_chance):
    """What does not hold."""
    place.run(place.tract, "init")
    way, env = client(model, place)
    place.run(place.tract, "import", "--last")
    problems = []
    judge = f"! tail -c 2000 | grep -q '{BAD}'"

    whole = tract(place, "run", "-n", "3", "-j", "2", "--name", "whole", *way, "--judge", judge, "--", ASKED, **env)
    if len(re.findall(r"run/whole/\d +bad", whole)) != 3:
        problems.append(f"the runs of the whole context are not bad, all three: {whole}")
    again = tract(place, "run", "-n", "3", "--name", "whole", *way, "--judge", judge, "--", ASKED, **env)
    if "begun" in again:
        problems.append(f"runs that are there were begun again: {again}")
    at = next(line for line in tract(place, "log", "-n", "0", "--oneline").splitlines() if FAULT in line).split()[0]
    before = tract(place, "run", f"{at}^", "--name", "before", *way, "--judge", judge, "--", ASKED, **env)
    if not re.search(r"run/before/1 +good", before):
        problems.append(f"the run from before the fault is not good: {before}")
    for branch in ("run/whole/1", "run/before/1"):
        said = tract(place, "log", branch, "-n", "0")
        if ASKED not in said or (BAD if "whole" in branch else GOOD) not in said:
            problems.append(f"{branch} lacks what the client did: {said}")

    found = tract(place, "bisect", "run", *way, "--prompt", ASKED, "--branch", "without", "--", judge, **env)
    if FAULT not in found or found.count("It goes wrong by") != 1:
        problems.append(f"the bisection found something else: {found}")
    steps, n = int(re.search(r"found in (\d+) runs", found)[1]), int(re.search(r"1  (\d+) of", found)[1])
    if steps > 2 * math.log2(n) + 3:
        problems.append(f"it took {steps} runs, of {n} messages")
    if FAULT in tract(place, "compile", "without", "--format", "text"):
        problems.append("the branch without it has it")
    print(f"{client.__name__}: found in {steps} runs, of {n} messages")

    model.faults = [FAULT, OTHER]
    found = tract(place, "bisect", "run", *way, "--prompt", ASKED, "--", judge, **env)
    if FAULT not in found or OTHER not in found or "And by this alone" not in found:
        problems.append(f"of two messages that are each enough, it found: {found}")
    if by_chance:
        model.faults, model.one_in = [FAULT], 5
        found = tract(place, "bisect", "run", "-n", "20", *way, "--prompt", ASKED, "--", judge, **env)
        if FAULT not in found or not (sure := re.search(r"found in (\d+) runs.*", found)):
            problems.append(f"by chance it found: {found}")
        else:
            print(f"{client.__name__}: by chance {sure[0]}")
    return problems


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--prefix", type=pathlib.Path)
    options.add_argument("--only")
    options.add_argument("--chance", action="store_true")
    options.add_argument("--keep", action="store_true")
    args = options.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="tract-runs-"))
    prefix = (args.prefix or folder / "npm").resolve()
    try:
        if not mcp.installed(prefix, mcp.PACKAGES):
            return 77
        failed = False
        for client in (claude_code, codex):
            if args.only and args.only != client.__name__:
                continue
            place = mcp.Place(folder / client.__name__, prefix, args.tract.resolve())
            problems = check(client, Model(), place, args.chance)
            for problem in problems:
                print(f"  {problem}")
            failed |= bool(problems)
        return int(failed)
    finally:
        if args.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
