"""Runs the OpenAI Agents SDK's own tests of sessions on `TractSession`.

    python tests/agents_own.py DIRECTORY     the unpacked source archive of openai-agents
    python tests/agents_own.py               fetches the archive of the version that is installed

Its tests make an `SQLiteSession` with a file; here that is a session in a repository beside that file. What is left
out looks at SQLite itself: its tables, connections, locks and rows that somebody spoilt.
"""

import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

FILES = [
    "tests/memory/test_session.py",
    "tests/memory/test_session_limit.py",
    "tests/memory/test_session_context_wrapper.py",
]
# Of SQLite's own workings.
SQLITE = ["corrupt", "closed", "connection", "lock", "rolls_back", "post_commit"]
SHIM = '''
import pathlib, tract
from agents.memory import SessionSettings
from tract.openai_agents import TractSession

_REPOS = {}

class SQLiteSession(TractSession):
    def __init__(self, session_id, db_path=":memory:", session_settings=None, **other):
        where = str(db_path)
        if where == ":memory:":
            repo = tract.ephemeral()
        elif where in _REPOS:
            repo = _REPOS[where]
        else:
            repo = _REPOS[where] = tract.init(where + ".repository")
        super().__init__(session_id, repo, session_settings=session_settings)
        self._whole = repo

    def close(self):
        pass

import agents, agents.memory, agents.memory.sqlite_session
for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = SQLiteSession
'''


def source(folder):
    """The source archive of the version that is installed, unpacked."""
    from importlib.metadata import version

    wanted = f"openai-agents=={version('openai-agents')}"
    ask = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", folder, wanted]
    subprocess.run(ask, check=True)
    archive = next(pathlib.Path(folder).glob("*.tar.gz"))
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return next(path for path in pathlib.Path(folder).iterdir() if path.is_dir())


def main():
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else source(folder)
        plugin = pathlib.Path(folder) / "shim"
        plugin.mkdir()
        (plugin / "tract_in_its_place.py").write_text(SHIM)
        left_out = " and ".join(f"not {word}" for word in SQLITE)
        env = {**os.environ, "PYTHONPATH": f"{plugin}{os.pathsep}{where}", "OPENAI_API_KEY": "none"}
        ask = [sys.executable, "-m", "pytest", "-q", "-p", "tract_in_its_place", "-p", "no:warnings", "-k", left_out]
        return subprocess.run([*ask, *FILES, *os.environ.get("PYTEST_MORE", "").split()], cwd=where, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
