#!/usr/bin/env python3
"""Fuzzes whatever reads what strangers wrote, and says what it tried and found.

    python3 tests/fuzz/run.py                        two hours of processor time, shared over the targets
    python3 tests/fuzz/run.py --minutes 5            five minutes
    python3 tests/fuzz/run.py --only codex --minutes 5
    python3 tests/fuzz/run.py --replay FILE --only codex

Needs the stable toolchain and a C++ compiler. It is libFuzzer, on the compiler's own counters of edges and
comparisons (`sancov`), without a sanitizer: what it finds is panics, broken promises, endless loops and too much
memory; `unsafe` is forbidden here. What must hold is said by `tests/oracles`, which `cargo test` goes by as well.

What is kept is in target/fuzz: `corpus/TARGET`, inputs by the code that they reach; `findings/TARGET`, what broke
a promise, made small; `logs/TARGET`; `tally/TARGET`, how much was tried. A run that was stopped goes on with them. Put what was found into
`tests/oracles/found/TARGET`, with a name that says what it is, and every run of the tests tries it.
Exit status: 0 nothing found, 1 something found.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILT = ROOT / "target/fuzz"

# Where the words of each target are, the fields and kinds that its readers look for: of a format, its folder and what
# that reads messages with.
WORDS = {
    "chats": ["formats/shared/chat", "formats/openai", "formats/anthropic", "wire"],
    "streams": [
        "formats/event_log", "formats/claude_stream", "formats/codex_exec", "formats/anthropic_stream",
        "formats/openai_stream", "formats/responses_stream", "formats/shared/sse.rs",
    ],
    "messages": ["formats/shared/single.rs", "model/message", "model/commit.rs", "wire"],
    "revisions": ["repo/revision.rs", "model/refs.rs", "model/message.rs", "model/priority.rs"],
    "bundles": ["sync/bundle/read.rs", "model/message", "model/commit.rs"],
    "shown": ["render/edit", "render/html", "render/markdown"],
}
for module in sorted((ROOT / "src/formats").glob("*/mod.rs")):
    code = "".join(file.read_text() for file in module.parent.rglob("*.rs"))
    wires = re.findall(r"wire::(?:\{[^}]*\b)?(anthropic|openai|responses|gemini)\b", code)
    places = [f"formats/{module.parent.name}", *(f"wire/{wire}" for wire in sorted(set(wires)))]
    places += [f"formats/shared/{part}" for part in ("list", "states") if f"formats::shared::{part}::" in code]
    places = [place if (ROOT / "src" / place).exists() else f"{place}.rs" for place in places]
    if places[0] not in WORDS["chats"] + WORDS["streams"]:
        names = re.findall(r'Format::(?:of|only_read)\(\s*"([\w-]+)"', module.read_text())
        WORDS.update(dict.fromkeys(names, places))
# What is a word of no format, and makes structure.
COMMON = ['{"', '":', '","', '"}', "[{", "}]", "null", "true", '\\"', "\\n", "\\ud800", "\\u001b[", "\x1b]0;", "@0", "\n"]


def words(target):
    """The names of fields and kinds in the code that reads this."""
    found = set()
    for place in WORDS[target]:
        place = ROOT / "src" / place
        for file in [place] if place.is_file() else sorted(place.rglob("*.rs")):
            text = re.sub(r"^#\[cfg\(test\)\]\nmod tests \{.*", "", file.read_text(), flags=re.M | re.S)
            found.update(re.findall(r'"([A-Za-z_<][\w<>/.:-]{1,39})"', text))
            # A field that is read by its own name, in the form that its structure says.
            fields = re.findall(r"^\s+(?:pub(?:\([\w:]+\))? )?([a-z]\w+): ", text, re.M)
            for record in re.findall(r"\blazy! \{(.*?)\}", text, re.S):
                fields += re.findall(r"(\w+)(?=,| \}|$)", record)
            for field in fields:
                first, *rest = field.split("_")
                found.update([field, first + "".join(map(str.capitalize, rest))])
    return sorted(found)


def dictionary(target):
    lines = []
    for word in words(target) + COMMON:
        kept = "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\x{ord(c):02x}" for c in word)
        lines.append(f'"{kept}"\n')
    path = BUILT / "words" / f"{target}.dict"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return path


def build():
    host = re.search(r"^host: (\S+)$", subprocess.check_output(["rustc", "-vV"], text=True), re.M)[1]
    passes = ["level=4", "inline-8bit-counters", "pc-table", "trace-compares"]
    flags = ["-Cpasses=sancov-module", *(f"-Cllvm-args=-sanitizer-coverage-{name}" for name in passes)]
    environment = dict(os.environ, RUSTFLAGS=" ".join([*flags, "--cfg fuzzing", "-Ccodegen-units=1"]))
    command = ["cargo", "build", "--release", "--locked", "--target", host, "--target-dir", str(BUILT)]
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    return BUILT / host / "release/tract-fuzz"


class Target:
    def __init__(self, name, program):
        self.name, self.program = name, program
        self.corpus, self.findings = BUILT / "corpus" / name, BUILT / "findings" / name
        self.log = BUILT / "logs" / f"{name}.log"
        for folder in (self.corpus, self.findings, self.log.parent):
            folder.mkdir(parents=True, exist_ok=True)
        self.words = dictionary(name)
        self.tally = BUILT / "tally" / f"{name}.json"
        self.tally.parent.mkdir(parents=True, exist_ok=True)
        self.seconds = self.runs = self.covered = 0
        self.why = {}
        if self.tally.exists():
            self.seconds, self.runs, self.covered, self.why = json.loads(self.tally.read_text())
        environment = dict(os.environ, TRACT_FUZZ_TARGET=name, TRACT_FUZZ_SEEDS=str(self.corpus))
        subprocess.run([program], env=environment, check=True, stderr=subprocess.DEVNULL)

    def call(self, *arguments):
        """Runs the fuzzer; its exit status and what it said, with the processor's time counted."""
        # Messages that are shown to nobody go to a folder in memory, if there is one.
        memory = {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {}
        environment = dict(os.environ, TRACT_FUZZ_TARGET=self.name, RUST_BACKTRACE="0", **memory)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self.program, "-timeout=60", "-rss_limit_mb=3000", *arguments],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.seconds += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with self.log.open("a") as log:
            log.write(done.stdout)
        return done.returncode, done.stdout

    def turn(self, seconds):
        """Fuzzes for a while, and remembers what was tried."""
        self.fuzz(seconds)
        self.tally.write_text(json.dumps([self.seconds, self.runs, self.covered, self.why]))

    def fuzz(self, seconds):
        status, said = self.call(
            f"-max_total_time={max(1, int(seconds))}", f"-dict={self.words}", "-max_len=20000", "-print_final_stats=1",
            "-reload=0", "-use_value_profile=1", f"-artifact_prefix={self.findings}/", self.corpus,
        )
        runs = re.findall(r"number_of_executed_units: (\d+)", said)
        covered = re.findall(r"\bcov: (\d+)", said)
        self.runs += int(runs[-1]) if runs else 0
        self.covered = int(covered[-1]) if covered else self.covered
        if status == 0:
            return
        what = re.search(r"panicked at (.+?):\n(.*)", said)
        what = f"{what[1]}: {what[2]:.200}" if what else (re.findall(r"ERROR: (.*)", said) or ["it ended"])[-1]
        path = re.search(r"Test unit written to (\S+)", said)
        place = what.split(": ")[0]
        if place in self.why:
            return
        self.why[place] = what
        print(f"FOUND: {self.name}: {what}\n  {path and path[1]}", flush=True)
        if path and "timeout" not in path[1]:
            small = self.findings / f"small-{len(self.why)}"
            self.call("-minimize_crash=1", "-max_total_time=40", f"-exact_artifact_path={small}", path[1])
            if small.exists():
                print(f"  {small} ({small.stat().st_size} bytes)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=120, help="of processor time, shared over the targets")
    parser.add_argument("--only", action="append", choices=list(WORDS))
    parser.add_argument("--turn", type=float, default=60, help="seconds until the next target has its turn")
    parser.add_argument("--anew", action="store_true", help="counts from nothing; what was found by then stays")
    parser.add_argument("--replay", action="append", help="tries this input alone")
    options = parser.parse_args()
    program = build()
    if options.anew:
        shutil.rmtree(BUILT / "tally", ignore_errors=True)
    os.nice(19)
    targets = [Target(name, str(program)) for name in options.only or WORDS]
    if options.replay:
        return max(target.call(*options.replay)[0] != 0 for target in targets)
    share = options.minutes * 60 / len(targets)
    while waiting := [target for target in targets if target.seconds < share]:
        for target in waiting:
            target.turn(min(options.turn, share - target.seconds + 1))
        done = sum(target.seconds for target in targets)
        print(f"{time.strftime('%H:%M:%S')}: {done / 60:.0f} of {options.minutes:.0f} minutes", flush=True)
    print(f"{'target':12} {'executions':>12} {'edges':>8} {'inputs':>8} {'minutes':>8}  found")
    for target in targets:
        kept = len(list(target.corpus.iterdir()))
        print(f"{target.name:12} {target.runs:12,} {target.covered:8,} {kept:8,} {target.seconds / 60:8.1f}  {len(target.why)}")
    print(f"{sum(target.runs for target in targets):,} executions")
    return int(any(target.why for target in targets))


if __name__ == "__main__":
    sys.exit(main())
