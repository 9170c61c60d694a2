#!/usr/bin/env python3
"""How many facts a real model's summary holds, with `tract guard --hook` and without.

    python3 docs/guard/obeys.py --tract PATH [--runs N] [--model NAME]

Runs your own `claude` in a directory of its own: a few facts are told, `/compact` summarises, and the summary is searched for
them word for word. Each run is three requests to the provider, twice. Your settings and your key are used as they are.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile
import uuid

FACTS = [
    "Only Imke may rotate the heliotrope key ring.", "Write all dates as day and month and year.",
    "Never push to the branch harbour before Friday noon.", "Ask before you delete any file of the archive.",
    "write a note for Imke about the ring", "close the ledger of 1998", "https://rings.test/heliotrope/47",
    "parse_amount_comma", "#4711", "8.4.1", "65537",
]
TOLD = (f"{FACTS[0]}\n{FACTS[1]}\n@pin {FACTS[2]}\n{FACTS[3]}\nKeep this list, and say only OK:\n- [ ] {FACTS[4]}\n- [ ] {FACTS[5]}\n"
        f"See {FACTS[6]}: `{FACTS[7]}` is to blame ({FACTS[8]}); it came with {FACTS[9]}, on port {FACTS[10]}.")


def summary(folder, tract, model, guarded):
    """The summary of one run."""
    project = folder / str(uuid.uuid4())
    (project / ".claude").mkdir(parents=True)
    if guarded:
        hook = [{"hooks": [{"type": "command", "command": f"{shlex.quote(tract)} guard --hook"}]}]
        (project / ".claude/settings.json").write_text(json.dumps({"hooks": {"PreCompact": hook}}))
    session = str(uuid.uuid4())

    def say(prompt, *args):
        command = ["claude", *(["--model", model] if model else []), *args, "-p", prompt]
        subprocess.run(command, cwd=project, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)

    say(TOLD, "--session-id", session)
    say("Count from one to two hundred, a number to a line.", "--resume", session)
    say("/compact", "--resume", session)
    found = list((pathlib.Path.home() / ".claude/projects").glob(f"*/{session}.jsonl"))
    records = [json.loads(line) for line in found[0].read_text().splitlines()]
    return next(json.dumps(record["message"]["content"], ensure_ascii=False) for record in records if record.get("isCompactSummary"))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--model")
    args = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for guarded in (False, True):
            held = []
            for _ in range(args.runs):
                told = summary(pathlib.Path(folder), args.tract, args.model, guarded)
                held.append(sum(fact in told for fact in FACTS))
            print(f"{'with' if guarded else 'without'} the hook: {held} of {len(FACTS)} facts", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
