#!/usr/bin/env python3
"""Two people's week on real places: forks, session files, a conflict, a purge, a place that is lost.

    python3 tests/reliability/week.py --tract target/debug/tract     (a build with --features postgres,s3)

The same story is told at a directory, through sshd, on a git host, in a bucket of an S3 server that is not our own
(`moto`, from PyPI), and with both at work in one repository on PostgreSQL, behind pgbouncer. At its end all that was told
as made is with both, each erased word is nowhere, and both see the same. What is not installed is skipped, and said.
Exit status: 0 nothing found, 1 something found.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from servers import Server, programs  # noqa: E402

SESSION = HERE.parent / "data/claude-code/parallel.jsonl"
SECRET = "the word is swordfish"


class Finding(Exception):
    pass


def expect(holds, what):
    if not holds:
        raise Finding(what)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(300):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


class Person:
    """Somebody with a directory and a home of their own."""

    def __init__(self, name, folder, tract, env):
        self.name, self.tract = name, tract
        self.work = folder / name
        home = folder / f"home-{name}"
        self.work.mkdir(parents=True)
        home.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "TZ": "UTC", "LANG": "C.UTF-8", "USER": name,
                    "TRACT_AUTHOR": name, "GIT_CONFIG_GLOBAL": "/dev/null", **env}

    def run(self, *arguments, code=0, cwd=None):
        done = subprocess.run([self.tract, *arguments], cwd=cwd or self.work, env=self.env, capture_output=True, text=True, timeout=300)
        said = done.stdout + done.stderr
        expect("panicked" not in said, f"{self.name}: {arguments}: {said}")
        if code is not None:
            expect(done.returncode == code, f"{self.name}: tract {' '.join(arguments)}: {done.returncode}\n{said}")
        if done.returncode not in (0, 1) or code not in (0, None):
            expect(done.stderr.count("error: ") == 1, f"{self.name}: {arguments}: one error, not {said}")
        return said

    def say(self, text, on=None):
        self.run(*(["--on", on] if on else []), "commit", "-q", "-r", "user", "-m", text)

    def sees(self, rev):
        """All that was ever said up to there, hidden or not, and what was merged."""
        return self.run("log", "-n", "0", "--graph", "--oneline", rev)

    def hash(self, rev):
        return self.run("rev-parse", rev).strip()


def story(ann, bob, place, lose, name, hub=None):
    """At a place that both push to; `lose` takes it away and gives another."""
    said = []

    def says(who, text):
        who.say(text)
        said.append(text)

    # Monday: a session comes in, its file goes along, and the other one exports the same.
    ann.run("init")
    ann.run("import", str(SESSION))
    session = ann.run("log", "-n", "1", "--format", "%H").split()[0]
    ann.run("checkout", "-q", "-b", "main", session, code=None)
    ann.run("remote", "add", "origin", place)
    says(ann, "Monday: what shall we build?")
    ann.run("push", "-q", "--all", "--sources", *(["--create"] if Path(place).is_absolute() else []))
    bob.run("init")
    bob.run("remote", "add", "origin", place)
    bob.run("pull", "-q", "--sources", "origin")
    expect(bob.hash("HEAD") == ann.hash("main"), f"{name}: both are at one commit on Monday")
    exports = []
    for who in (ann, bob):
        told = who.run("export", session, "-o", "again.jsonl")
        exports.append((who.work / "again.jsonl").read_bytes())
    expect("untouched" in told and exports[0] == exports[1], f"{name}: the export is another one there: {told}")

    # Tuesday: a fork, which goes there and back.
    bob.run("checkout", "-q", "-b", "try", "HEAD~1")
    says(bob, "Tuesday: another way")
    bob.run("truncate", "--keep", "2", code=None)
    bob.run("push", "-q", "-u", "origin", "try")
    ann.run("fetch", "-q")
    expect(ann.run("compile", "origin/try") == bob.run("compile", "try"), f"{name}: the fork is sent otherwise")

    # Wednesday: both go on from one commit. Who comes second is told so, and nothing is lost.
    bob.run("checkout", "-q", "main")
    says(ann, "Wednesday: by Ann")
    says(bob, "Wednesday: by Bob")
    ann.run("push", "-q", "origin", "main")
    there = ann.hash("main")
    refused = bob.run("push", "origin", "main", code=None)
    expect("hint: " in refused and "main" in refused, f"{name}: a push that would lose something: {refused}")
    ann.run("fetch", "-q")
    expect(ann.hash("origin/main") == there, f"{name}: a refused push moved something")
    bob.run("pull", "-q", "--merge", "origin", "main")
    bob.run("push", "-q", "origin", "main")
    ann.run("pull", "-q", "origin", "main")
    expect(ann.hash("main") == bob.hash("main"), f"{name}: both are at one commit on Wednesday")

    # Thursday: something is erased, and that goes round.
    for who in (ann, bob):
        who.run("config", "receive.purge", "allow")
    if hub:
        ann.run("--repo", str(hub), "config", "receive.purge", "allow")
    ann.say(f"Thursday: {SECRET}")
    says(ann, "Thursday: after it")
    ann.run("push", "-q", "--allow-secrets", "origin", "main")
    bob.run("pull", "-q", "origin", "main")
    expect(SECRET in bob.sees("main"), f"{name}: it came before it was erased")
    ann.run("purge", "--match", SECRET, "--force")
    ann.run("push", "-q", "--all", "origin", code=None)
    bob.run("pull", "-q", "origin", "main", code=None)
    for who in (ann, bob):
        expect(SECRET not in who.sees("main"), f"{name}: {who.name} still has what was erased")
        expect("No message matches" in who.run("find", "-F", SECRET, code=None) or SECRET not in who.run("find", "-F", SECRET, code=None),
               f"{name}: {who.name} still finds it")

    # Friday: the place is gone. Whoever has the commits makes it anew.
    place = lose()
    wrong = bob.run("push", "origin", "main", code=None)
    for who in (ann, bob):
        who.run("remote", "remove", "origin")
        who.run("remote", "add", "origin", place)
    says(bob, "Friday: from the ashes")
    bob.run("push", "-q", "--all", "--sources", *(["--create"] if Path(place).is_absolute() else []), "origin")
    ann.run("pull", "-q", "--sources", "origin", "main")
    ann.run("fetch", "-q", "origin")
    expect(ann.hash("main") == bob.hash("main"), f"{name}: both are at one commit on Friday ({wrong})")
    for who in (ann, bob):
        seen = who.sees("main") + who.sees("try" if who is bob else "origin/try")
        for text in said:
            expect(text in seen, f"{name}: {who.name} lost '{text}'")
        expect(SECRET not in seen, f"{name}: what was erased came back")
        who.run("fsck")
    expect(ann.run("compile", "main") == bob.run("compile", "main"), f"{name}: they send otherwise")


def together(ann, bob, address, disturb, name):
    """Both in one repository on a server."""
    said = []

    def says(who, text, on=None):
        who.say(text, on)
        said.append(text)

    ann.run("init", address)
    for who in (ann, bob):
        who.env["TRACT_REPO"] = address
    ann.run("import", str(SESSION))
    says(ann, "Monday: what shall we build?", "main")
    ann.run("checkout", "-q", "main")
    bob.run("checkout", "-q", "-b", "try", "main")
    says(bob, "Tuesday: another way")
    says(ann, "Tuesday: on main")
    expect("another way" not in ann.sees("HEAD"), f"{name}: a HEAD belongs to both")
    undone = ann.run("undo")
    expect("another way" in bob.sees("try"), f"{name}: an undo took back what another did: {undone}")
    ann.run("redo")
    # Wednesday: each on one branch, at once.
    bob.run("checkout", "-q", "main")
    both = [subprocess.Popen([who.tract, "--on", "main", "commit", "-q", "-r", "user", "-m", f"Wednesday {at}: by {who.name}"],
                             cwd=who.work, env=who.env, stdout=subprocess.DEVNULL) for at in range(4) for who in (ann, bob)]
    expect(all(one.wait() == 0 for one in both), f"{name}: one of eight at once was refused")
    said.extend(f"Wednesday {at}: by {who.name}" for at in range(4) for who in (ann, bob))
    # Thursday: something is erased for both.
    bob.say(f"Thursday: {SECRET}", "main")
    ann.run("purge", "--match", SECRET, "--force")
    expect(SECRET not in bob.sees("main"), f"{name}: Bob still has what was erased")
    # Friday: the server is lost in the middle, and comes again.
    child = subprocess.Popen([ann.tract, "--on", "main", "commit", "-q", "-r", "user", "-m", "Friday: in the storm"],
                             cwd=ann.work, env=ann.env, stderr=subprocess.PIPE, text=True)
    time.sleep(0.02)
    disturb()
    wrong = child.communicate()[1]
    is_there = "in the storm" in bob.sees("main")
    expect(is_there if child.returncode == 0 else "is not known" in wrong or not is_there, f"{name}: {child.returncode} {wrong}, and {is_there}")
    says(bob, "Friday: after it", "main")
    for who in (ann, bob):
        seen = who.sees("main") + who.sees("try")
        for text in said:
            expect(text in seen, f"{name}: {who.name} lost '{text}'")
    ann.run("fsck")
    log = bob.run("reflog", "main")
    expect("ann" in log and "bob" in log, f"{name}: the reflog says who: {log}")


class Places:
    def __init__(self, folder, tract):
        self.folder, self.tract, self.ends = folder, tract, []

    def started(self, *command, **more):
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        self.ends.append(child.terminate)
        return child

    def people(self, name, env=None):
        folder = self.folder / name
        return [Person(who, folder, self.tract, env or {}) for who in ("ann", "bob")]

    def directory(self):
        first, second = self.folder / "hub-1", self.folder / "hub-2"

        def lose():
            shutil.rmtree(first)
            return str(second)

        ann, bob = self.people("directory")
        story(ann, bob, str(first), lose, "a directory", first)

    def ssh(self):
        sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        if not sshd or not shutil.which("ssh-keygen"):
            return "no sshd is installed"
        folder = self.folder / "sshd"
        folder.mkdir(mode=0o700)
        for key in ("host", "mine"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        shutil.copy(folder / "mine.pub", folder / "authorized")
        port = free_port()
        (folder / "config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\nStrictModes no\n"
            f"PidFile none\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\nSetEnv PATH={Path(self.tract).parent}:{os.environ['PATH']}\n")
        Path("/run/sshd").mkdir(exist_ok=True)
        self.started(sshd, "-D", "-f", str(folder / "config"))
        if not wait_for(port):
            return "sshd does not start here"
        command = (f"ssh -q -i {folder}/mine -o BatchMode=yes -o IdentitiesOnly=yes -o StrictHostKeyChecking=no "
                   f"-o UserKnownHostsFile=/dev/null")
        ann, bob = self.people("ssh", {"TRACT_SSH_COMMAND": command})
        first, second = folder / "hub-1", folder / "hub-2"
        for hub in (first, second):
            hub.mkdir()
            ann.run("init", str(hub))

        def lose():
            shutil.rmtree(first)
            return f"ssh://127.0.0.1:{port}{second}"

        story(ann, bob, f"ssh://127.0.0.1:{port}{first}", lose, "sshd", first)

    def git(self):
        if not shutil.which("git"):
            return "no git is installed"
        folder = self.folder / "git-host"
        hosts = [folder / "one.git", folder / "two.git"]
        for host in hosts:
            subprocess.run(["git", "init", "-q", "--bare", host], check=True)
        ann, bob = self.people("git")
        for who in (ann, bob):
            subprocess.run(["git", "init", "-q"], cwd=who.work, env=who.env, check=True)
            for remote, host in zip(("code", "other"), hosts):
                subprocess.run(["git", "remote", "add", remote, host], cwd=who.work, env=who.env, check=True)

        def lose():
            shutil.rmtree(hosts[0])
            return "git:other"

        story(ann, bob, "git:code", lose, "a git host")

    def bucket(self):
        envs = self.folder / "moto"
        subprocess.run([sys.executable, "-m", "venv", envs], check=False, stdout=subprocess.DEVNULL)
        done = subprocess.run([envs / "bin/pip", "install", "-q", "--disable-pip-version-check", "moto[server]"], check=False,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode != 0:
            return "moto cannot be installed"
        port = free_port()
        self.started(envs / "bin/moto_server", "-H", "127.0.0.1", "-p", str(port))
        if not wait_for(port):
            return "moto does not start"
        env = {"AWS_ACCESS_KEY_ID": "who", "AWS_SECRET_ACCESS_KEY": "ever", "AWS_REGION": "us-east-1",
               "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true"}
        make = ("import boto3,sys; c=boto3.client('s3', endpoint_url=sys.argv[1], region_name='us-east-1', "
                "aws_access_key_id='who', aws_secret_access_key='ever'); [c.create_bucket(Bucket=b) for b in sys.argv[2:]]")
        subprocess.run([envs / "bin/python", "-c", make, env["AWS_ENDPOINT_URL"], "talks", "others"], check=True)
        ann, bob = self.people("bucket", env)
        empty = ("import boto3,sys; r=boto3.resource('s3', endpoint_url=sys.argv[1], region_name='us-east-1', "
                 "aws_access_key_id='who', aws_secret_access_key='ever'); b=r.Bucket(sys.argv[2]); b.objects.delete(); b.delete()")

        def lose():
            subprocess.run([envs / "bin/python", "-c", empty, env["AWS_ENDPOINT_URL"], "talks"], check=True)
            return "s3://others/team"

        story(ann, bob, "s3://talks/team", lose, "a bucket")

    def server(self):
        bin_folder = programs()
        pgbouncer = shutil.which("pgbouncer", path=os.environ["PATH"] + ":/usr/sbin")
        if bin_folder is None or pgbouncer is None:
            return "no PostgreSQL, or no pgbouncer, is installed"
        server = Server(self.folder / "postgres", bin_folder)
        server.make()
        server.start()
        self.ends.append(lambda: server.kill(is_needed=False))
        pooler = self.folder / "pooler"
        pooler.mkdir()
        pooler.chmod(0o777)
        (pooler / "ini").write_text(
            f"[databases]\n* = host={server.folder} port=5432 user=tract\n[pgbouncer]\nlisten_port = 5432\nunix_socket_dir = {pooler}\n"
            f"auth_type = any\npool_mode = transaction\nserver_round_robin = 1\nlogfile = {pooler}/log\nserver_login_retry = 1\n")
        command = [pgbouncer, "-q", str(pooler / "ini")]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
        self.started(*command, cwd="/")
        for _ in range(100):
            if (pooler / ".s.PGSQL.5432").exists():
                break
            time.sleep(0.1)
        ann, bob = self.people("server")

        def disturb():
            server.kill()
            server.start()
            time.sleep(1.5)

        together(ann, bob, f"postgres://tract@/postgres?host={pooler}&schema=talks", disturb, "PostgreSQL behind pgbouncer")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tract", default=str(HERE.parent.parent / "target/debug/tract"))
    parser.add_argument("--only", action="append", choices=["directory", "ssh", "git", "bucket", "server"])
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tract-week-", dir="/tmp"))
    folder.chmod(0o755)
    # The other end of ssh looks for `tract` by that name.
    named = folder / "bin"
    named.mkdir()
    (named / "tract").symlink_to(Path(options.tract).resolve())
    places = Places(folder, str(named / "tract"))
    findings = 0
    try:
        for name in options.only or ["directory", "ssh", "git", "bucket", "server"]:
            began = time.monotonic()
            try:
                skipped = getattr(places, name)()
            except Finding as finding:
                findings += 1
                print(f"FOUND: {finding}", flush=True)
                continue
            print(f"{name}: {f'skipped, {skipped}' if skipped else f'a week in {time.monotonic() - began:.0f} s'}", flush=True)
    finally:
        for end in places.ends:
            end()
    if not findings:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{findings} findings" + (f"; {folder}" if findings else ""))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
