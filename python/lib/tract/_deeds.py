"""What bridges do to branches: each deed is one conditional move, and is done anew where somebody else was first."""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, List, Optional, TypeVar

from . import types
from ._errors import TractError
from ._repo import Repo

Done = TypeVar("Done")


def anew(deed: Callable[[], Done]) -> Done:
    """Does a deed, and does it anew as long as a branch was not where the deed expected it.

    Whoever loses has seen somebody else get on, so somebody always does.
    """
    while True:
        try:
            return deed()
        except TractError as error:
            if error.kind != "ref_moved":
                raise


def tip_of(branch: Repo) -> Optional[str]:
    """The newest commit of a branch, in a time that does not grow with the branch. None: the branch has none."""
    try:
        # Where a branch went last is a row of its own; a log also says what is known of the commit.
        moves = branch.reflog(f"refs/heads/{branch.branch_name}", limit=1).get("moves")
        if moves:
            return moves[0]["new"]
    except TractError as error:
        if error.kind != "unknown_revision":
            raise
    try:
        return branch.log(limit=1)["commits"][0]["hash"]
    except TractError as error:
        if error.kind != "empty_branch":
            raise
        return None


async def settled(work: Any) -> Any:
    """Waits for what has begun, whoever is cancelled meanwhile: half of it is never there."""
    task = asyncio.ensure_future(work)
    cancelled: Optional[asyncio.CancelledError] = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        task.exception()
        raise cancelled
    return task.result()


class Conversation:
    """A branch, and beside it a branch at the place from which the last undo went back."""

    def __init__(self, repo: Repo, folder: str, end: str, what: str) -> None:
        self.branch, self.undone, self.what = f"{folder}/{end}", f"{folder}-undone/{end}", what
        self.repo = repo.at(self.branch)

    def go(self, to: Optional[str], expect: Optional[str], undone: Optional[str], deed: str, redone: Optional[str] = None) -> None:
        """Moves the branch, if it is where it is expected. What an undo left there before is no future any more; what is
        redone must be that still."""
        future: Any = {"branch": self.undone, "to": undone}
        if redone is not None:
            future["expect"] = redone
        moves: List[Any] = [{"branch": self.branch, "to": to, "expect": expect or "none"}, future]
        self.repo.move(moves, what=f"{self.what} {deed}")

    def clear(self) -> None:
        """Takes all messages out."""
        anew(lambda: self.go(None, tip_of(self.repo), None, "clear"))

    def pop(
        self, items_of: Callable[[types.ContextMessage], List[Any]], message_of: Callable[[Any], Dict[str, Any]]
    ) -> Optional[Any]:
        """Takes the newest item out, and gives it. A message may hold several, or none."""

        def deed() -> List[Any]:
            context = self.repo.context(from_=-1)
            if not context["messages"]:
                return [None]
            [message], tip = context["messages"], context["commit"]
            items = items_of(message)
            newest = self.repo.show(tip)["commit"]
            if newest["hash"] == message["id"]:
                to = newest.get("parent")
                if items[:-1]:
                    left = [message_of(item) for item in items[:-1]]
                    to = self.repo.commit(batch=left, after=to or "none")["commits"][-1]["hash"]
                self.go(to, tip, None, "pop")
            else:
                # Something was done after it: it is hidden, and what was done stays.
                self.repo.annotate([message["id"]], skip=True, reason="popped", expect=tip)
            return items

        items: List[Any] = []
        while not items:
            items = anew(deed)
        return items[-1]

    def undo(self, first: Callable[[List[types.ContextMessage]], types.ContextMessage]) -> Optional[str]:
        """Goes back to before the message that `first` chooses. Gives where that is."""

        def deed() -> Optional[str]:
            context = self.repo.context()
            chosen = first(context["messages"])
            to = self.repo.show(chosen["id"])["commit"].get("parent")
            self.go(to, context["commit"], context["commit"], "undo")
            return to

        return anew(deed)

    def redo(self) -> str:
        """Takes the last undo back, unless the branch has gone on since. Gives where that is."""

        def deed() -> str:
            undone, place = tip_of(self.repo.at(self.undone)), tip_of(self.repo)
            there = {one["hash"] for one in self.repo.log(undone, limit=0)["commits"]} if undone else set()
            if undone is None or undone == place or (place is not None and place not in there):
                raise TractError("refused", "there is nothing to redo", f"the {self.what} has gone on since")
            # The branch may be where it was, and another undo have come between.
            self.go(undone, place, None, "redo", undone)
            return undone

        return anew(deed)

    def fork(self, branch: str, rev: Optional[str]) -> None:
        """Begins another branch where this one is, or was at a revision. One without commits begins with its first."""
        start = rev or tip_of(self.repo)
        if start is not None:
            self.repo.branch(branch, start)
