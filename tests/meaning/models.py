#!/usr/bin/env python3
"""Models that others have made give the same vectors here: `tract find --like` ranks as their own tokenizers and tables do.

    python3 tests/meaning/models.py --tract target/release/tract [--folder FOLDER]

Two wheels from PyPI ship a static model: tokenlearn-static-model (Unigram, 8-bit rows, weights and a mapping) and wordllama (BPE,
16-bit rows). Reference vectors come from Hugging Face's tokenizers and numpy. Nothing is kept (FOLDER keeps what was
installed). A question is asked whose words stand in no message, so that meaning alone ranks; where the best two messages
are nearly as good, either may come first.

Exit status: 0 all hold, 1 one does not, 77 a package cannot be had: skipped, and said so.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGES = ["tokenlearn-static-model==0.1.1", "wordllama==0.4.0.post1"]
KITS = ["tokenizers==0.22.1", "numpy", "safetensors"]
SAID = [
    "Amounts are cut off after two decimal places.",
    "The login form rejects an empty password.",
    "We ship the release on Friday evening.",
    "The database migration took four minutes.",
    "Unit tests fail on Windows because of path separators.",
    "The picture in the header is far too large.",
    "Memory grows until the server is killed.",
    "Translations for French and German are missing.",
    "The cat sleeps on the warm keyboard.",
    "Rain is expected over the mountains tomorrow.",
    "She paid the invoice with her credit card.",
    "Das Passwort wurde zurückgesetzt.",
]
ASKED = [
    "rounding fractions of cents",
    "credentials for signing in",
    "when do you deploy to production",
    "moving SQL tables to another schema",
    "leaking RAM and crashing",
    "localisation into other languages",
    "a kitten napping",
    "weather forecast: storms",
    "purchase bill settled",
]
# One step of the ranking: what is nearer than that is as good.
STEP = 0.07

REFERENCE = """
import json, sys
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

folder, texts = sys.argv[1], json.loads(sys.argv[2])
tensors = load_file(folder + "/model.safetensors")
rows = next(tensors[name] for name in ("embeddings", "embedding.weight") if name in tensors).astype(np.float32)
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
tokenizer.no_padding()
tokenizer.no_truncation()
about = json.loads(tokenizer.to_str())["model"]
unknown = about.get("unk_id")
if unknown is None and about.get("unk_token"):
    unknown = tokenizer.token_to_id(about["unk_token"])
vectors = []
for text in texts:
    ids = [one for one in tokenizer.encode(text, add_special_tokens=False).ids if one != unknown][:512]
    weights = tensors["weights"][ids].astype(np.float32) if "weights" in tensors else np.ones(len(ids), np.float32)
    places = tensors["mapping"][ids] if "mapping" in tensors else ids
    sum = (rows[places] * weights[:, None]).sum(axis=0)
    vectors.append((sum / np.linalg.norm(sum)).tolist())
print(json.dumps(vectors))
"""


def models(folder):
    """The folders of the models, as the setting takes them; none: a package cannot be had."""
    for package in PACKAGES:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder / "wheels"), package]
        if subprocess.run(command, capture_output=True).returncode:
            return None
    venv = folder / "venv"
    if not venv.exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    if subprocess.run([str(venv / "bin/pip"), "install", "-q", *KITS], capture_output=True).returncode:
        return None
    found = {}
    for wheel in (folder / "wheels").glob("*.whl"):
        shutil.unpack_archive(wheel, folder / wheel.name.split("-")[0], "zip")
    for name, tensors, tokenizer in [
        ("tokenlearn", "tokenlearn_static_model/static_model/model/model.safetensors", "tokenlearn_static_model/static_model/model/tokenizer.json"),
        ("wordllama", "wordllama/wordllama/weights/l2_supercat_256.safetensors", "wordllama/wordllama/tokenizers/l2_supercat_tokenizer_config.json"),
    ]:
        place = folder / "models" / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / tensors, place / "model.safetensors")
        shutil.copyfile(folder / tokenizer, place / "tokenizer.json")
        found[name] = place
    return found


def nearest(venv, model):
    """For each question the messages that may come first, by the reference."""
    command = [str(venv / "bin/python"), "-c", REFERENCE, str(model), json.dumps(SAID + ASKED)]
    vectors = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    told = []
    for asked in vectors[len(SAID):]:
        scores = [sum(a * b for a, b in zip(asked, said)) for said in vectors[: len(SAID)]]
        best = max(scores)
        told.append({text for text, score in zip(SAID, scores) if score >= best * (1 - STEP)})
    return told


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--tract", required=True, type=pathlib.Path)
    options.add_argument("--folder", type=pathlib.Path)
    asked = options.parse_args()
    folder = (asked.folder or pathlib.Path(tempfile.mkdtemp(prefix="tract-meaning-"))).resolve()
    tract, failed = str(asked.tract.resolve()), False
    try:
        known = models(folder)
        if not known:
            print("skipped: the packages cannot be had")
            return 77
        for name, model in known.items():
            home = pathlib.Path(tempfile.mkdtemp(prefix="home-", dir=folder))
            environment = {**os.environ, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "NO_COLOR": "1"}

            def run(*words):
                return subprocess.run([tract, *words], cwd=home, env=environment, check=True, capture_output=True, text=True).stdout

            run("init", "-q")
            for text in SAID:
                run("commit", "-q", "-r", "assistant", "-m", text)
            run("config", "--global", "recall.model", str(model))
            right = 0
            for question, wanted in zip(ASKED, nearest(folder / "venv", model)):
                found = run("find", "--like", question, "-n", "1").strip().splitlines()[-1].strip()
                right += found in wanted
                if found not in wanted:
                    print(f"{name}: {question}: {found}, not {wanted}")
            print(f"{name}: {right} of {len(ASKED)} questions as the reference ranks them")
            failed |= right < len(ASKED)
        return int(failed)
    finally:
        if not asked.folder:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
