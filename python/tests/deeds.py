"""Deeds on one branch at once, held against a model in memory, in the order in which the log of operations has them."""

import asyncio
import multiprocessing
import os
import random
import threading
import time

import tract

SEED = int(os.environ.get("PROPTEST_RNG_SEED") or time.time())


def worker(do, seed, name, count):
    """Does deeds by chance, and gives what came of them. `do` has a function for each deed."""
    chance, came = random.Random(seed), []
    for at in range(count):
        deed = chance.choices(["add", "pop", "undo", "redo", "clear"], [8, 4, 2, 2, 1])[0]
        if deed not in do:
            continue
        try:
            if deed == "add":
                # Its first letter says who speaks.
                new = [f"{chance.choice('ua')}{name}.{at}.{n}" for n in range(chance.randint(1, 3))]
                do["add"](new)
                came.append(("add", new))
            else:
                came.append((deed, do[deed]()))
        except tract.TractError as error:
            if error.kind != "refused":
                raise
    return came


def in_a_process(make, path, seed, name, count, told):
    came = None
    try:
        with tract.open(path) as repo:
            came = worker(make(repo), seed, name, count)
    finally:
        told.put(came)


def at_once(make, path, *, threads=3, tasks=3, processes=2, count=12):
    """Has all of them do deeds on the repository at `path`. `make` gives the functions of a repository."""
    print(f"seed {SEED}")
    repo, came, spawn = tract.open(path), [], multiprocessing.get_context("spawn")
    told = spawn.Queue()
    others = [spawn.Process(target=in_a_process, args=(make, path, SEED + 100 + n, f"p{n}", count, told)) for n in range(processes)]
    for other in others:
        other.start()

    def run(name, seed):
        came.append(worker(make(repo), seed, name, count))

    async def run_tasks():
        await asyncio.gather(*(asyncio.to_thread(run, f"t{n}", SEED + 200 + n) for n in range(tasks)))

    here = [threading.Thread(target=run, args=(f"h{n}", SEED + n)) for n in range(threads)]
    here.append(threading.Thread(target=lambda: asyncio.run(run_tasks())))
    for one in here:
        one.start()
    for one in here:
        one.join()
    came += [one for one in [told.get() for _ in others] if one is not None]
    for other in others:
        other.join()
    assert len(came) == threads + tasks + processes, "one of them failed"
    return repo, [one for list in came for one in list]


def back(items):
    """What an undo of one turn leaves."""
    return items[: max(at for at, item in enumerate(items) if item[0] == "u")]


def held_against_the_model(repo, branch, came):
    """Does what was done once more in a list, as the log of operations has it; gives what is there at the end."""
    items, undone = [], None
    for operation in reversed(repo.reflog(limit=0)["operations"]):
        if not any(moved["name"] == f"refs/heads/{branch}" for moved in operation["moved"]):
            continue
        what = operation["what"].split()
        deed = "add" if what[0] == "commit" else what[-1]
        if deed == "add":
            done = next(one for one in came if one[0] == "add" and one[1][0] == added(repo, branch, operation))
            items = items + done[1]
        elif deed == "pop":
            done, items, undone = ("pop", items[-1]), items[:-1], None
        elif deed == "clear":
            done, items, undone = ("clear", None), [], None
        elif deed == "undo":
            undone, items = items, back(items)
            done = ("undo", len(items))
        else:
            assert deed == "redo" and undone[: len(items)] == items
            items, undone = undone, None
            done = ("redo", len(items))
        # Each was told to exactly one.
        came.remove(done)
    left = [one for one in came if one not in [("pop", None), ("clear", None)]]
    assert left == [], (SEED, left)
    return items


def added(repo, branch, operation):
    """The first item that an operation has added."""
    [moved] = [one for one in operation["moved"] if one["name"] == f"refs/heads/{branch}"]
    new = [one["hash"] for one in repo.log(moved["new"], limit=0)["commits"]]
    before = new.index(moved["old"]) if moved["old"] else len(new)
    return repo.show(new[before - 1])["message"]["parts"][0]["text"]
