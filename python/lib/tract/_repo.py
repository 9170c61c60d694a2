"""A repository, as Python calls it."""

from __future__ import annotations

import contextlib
import contextvars
import os
import pathlib
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, TypeVar, Union

from . import _tract, types
from ._errors import TractError, wrong
from ._json import read, written
from ._methods import Methods

Progress = Callable[[int, Optional[int]], Any]
Event = TypeVar("Event")

# What acts on a commit of its own choice, so that in a turn it is told of what the turn has.
_LOOKS = {"log", "show", "context", "compile", "cache", "dropped", "did"}


class Request(Dict[str, Any]):
    """A request in a provider's form: a dict for the provider's SDK, with what should be known about it beside.

    `commit` is the commit whose context it is; `notices` says what had to be repaired or left out; `is_recorded`
    says whether its client recorded it, so that it is what was sent.
    """

    commit: str
    notices: List[str]
    is_recorded: bool


def requested(answer: types.CompileAnswer) -> Any:
    """A request of an answer; a text where that was asked for."""
    payload = answer["payload"]
    if not isinstance(payload, dict):
        return payload
    request = Request(payload)
    request.commit, request.is_recorded = answer["commit"], answer["is_recorded"]
    request.notices = answer.get("notices", [])
    return request


class _Turn:
    """Commits that no branch has yet: where they began, and the newest."""

    def __init__(self, start: Optional[str]) -> None:
        self.start, self.tip = start, start


class Repo(Methods):
    """A repository. `tract.init`, `tract.open` and `tract.ephemeral` give one.

    All threads may use it; calls wait for each other, without the interpreter's lock. After a fork, open it again.
    """

    def __init__(self, inner: "_tract.Repo", branch: Optional[str] = None) -> None:
        self._inner, self._branch = inner, branch
        # Each task and thread has its own turn.
        self._turn: "contextvars.ContextVar[Optional[_Turn]]" = contextvars.ContextVar("turn", default=None)

    @property
    def place(self) -> Optional[pathlib.Path]:
        """The directory `.tract`; none of a repository in memory."""
        place = self._inner.place
        return pathlib.Path(place) if place is not None else None

    @property
    def branch_name(self) -> Optional[str]:
        """The branch that is acted on; none: the one where HEAD is."""
        return self._branch

    def at(self, branch: str) -> "Repo":
        """The same repository as if HEAD were on this branch. HEAD stays. The first commit makes the branch."""
        return Repo(self._inner, _name(branch))

    def close(self) -> None:
        """Closes it, for everybody who has it."""
        self._inner.close()

    def __enter__(self) -> "Repo":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        on = f" on {self._branch}" if self._branch else ""
        return f"<tract.Repo {self.place or 'in memory'}{on}>"

    def call(
        self,
        method: str,
        params: Optional[Dict[str, Any]] = None,
        *,
        progress: Optional[Progress] = None,
    ) -> Any:
        """Calls a method of the interface by its name. The answer is a plain dict: `tract.types` says what of.

        `progress` is called with what is done and with the whole, where that is known. What it raises ends the work.
        """
        if not isinstance(params or {}, dict):
            raise wrong("parameters are a dict")
        return self._raw(_name(method), params or {}, progress)

    def _raw(self, method: str, params: Dict[str, Any], progress: Optional[Progress] = None) -> Any:
        text = written(params)
        try:
            return read(self._inner.call(method, text, self._branch, progress))
        except _tract.Fault as fault:
            raise TractError.of(fault) from None

    def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        turn = self._turn.get()
        if turn is None:
            return self._raw(method, params)
        if method == "commit":
            if params.get("expect") is not None or params.get("after") is not None:
                raise wrong("in a turn, 'expect' and 'after' are the turn's own")
            answer = self._raw(method, {**params, "after": turn.tip or "none"})
            turn.tip = answer["commits"][-1]["hash"]
            return answer
        if method in _LOOKS and params.get("rev") is None and params.get("for") is None:
            if turn.tip != turn.start:
                return self._raw(method, {**params, "rev": turn.tip})
            return self._raw(method, params)
        if method in _CHANGES:
            hint = "do it before the turn, or after it"
            raise TractError("refused", f"{method}: a turn only commits", hint)
        return self._raw(method, params)

    def compile(
        self,
        format: Optional[str] = None,
        *,
        rev: Optional[str] = None,
        for_: Optional[str] = None,
        request: Optional[bool] = None,
        strict: Optional[bool] = None,
    ) -> Any:
        """Gives the request that a model would be sent, in a provider's form: a dict that its SDK takes as it is.

        - `format`: openai, responses, anthropic, gemini or text; the setting `compile.format`, or else openai, unless given.
          `text` gives a string.
        - `rev`: The commit whose context is compiled; HEAD's unless given.
        - `for_`: The reply whose request is wanted, in place of `rev`: what it answered.
        - `request`: Add model, limits and tools, from the settings.
        - `strict`: Fail where anything has to be repaired.
        """
        return requested(self._compile(format, rev=rev, for_=for_, request=request, strict=strict))

    @contextlib.contextmanager
    def turn(self, what: str = "turn") -> Iterator["Repo"]:
        """All that is committed inside becomes visible at once, or, where an exception leaves the block, never.

        What looks (`compile`, `context`, `log`, …) sees it inside already. It is one operation: one `undo` takes it
        back. If the branch has moved meanwhile, `TractError` says so (`ref_moved`), and nothing is visible.
        """
        if self._turn.get() is not None:
            raise TractError("refused", "a turn is under way", "turns do not stand in each other")
        position = self._raw("status", {})["position"]
        if position.get("branch") is None:
            hint = "tract.Repo.checkout attaches it"
            raise TractError("detached_head", "HEAD is on no branch", hint)
        turn = _Turn(position.get("commit"))
        token = self._turn.set(turn)
        try:
            yield self
        finally:
            self._turn.reset(token)
        if turn.tip != turn.start:
            self._raw("advance", {"rev": turn.tip, "expect": turn.start or "none", "what": what})

    def stream(self, events: Iterable[Event], *, note: Optional[str] = None) -> Iterator[Event]:
        """Passes the events of a streamed reply on, and commits the reply at its end.

        `events` is what Anthropic's or OpenAI's SDK gives, or texts. If the stream breaks off, or whoever reads it
        stops, what came until then is committed, and marked as cut.
        """
        heard: List[Any] = []
        try:
            for event in events:
                heard.append(event)
                yield event
        finally:
            if heard:
                self.commit(**streamed(heard), note=note)

    def import_(self, path: Any = None, **options: Any) -> types.ImportAnswer:  # type: ignore[override]
        """Brings a session in, or several: `path` may be a `pathlib.Path`, or a list of paths. See `Methods.import_`."""
        paths = path if path is None or isinstance(path, (list, tuple)) else [path]
        return super().import_(None if paths is None else [os.fspath(one) for one in paths], **options)


def streamed(heard: List[Any]) -> Dict[str, Any]:
    """Events of a stream, or pieces of text, as parameters of a commit."""
    if all(isinstance(one, str) for one in heard):
        return {"role": "assistant", "message": "".join(heard)}
    return {"events": [one for one in heard if not _is_helper(one)]}


# What Anthropic's SDK puts between the events that its API sends.
_HELPERS = {"text", "input_json", "citation", "thinking", "signature", "compaction", "content_block"}


def _is_helper(event: Any) -> bool:
    kind = event.get("type") if isinstance(event, dict) else getattr(event, "type", None)
    return kind in _HELPERS


_CHANGES = {
    one["name"] for one in read(_tract.describe())["methods"] if one["changes"] and one["name"] not in ("commit",)
}


def _name(text: Any) -> str:
    """A name that UTF-8 can say."""
    try:
        str.encode(text)
    except (TypeError, UnicodeEncodeError) as error:
        raise wrong(f"a name: {error}") from None
    return text


def _opened(make: Callable[[], "_tract.Repo"]) -> Repo:
    try:
        return Repo(make())
    except _tract.Fault as fault:
        raise TractError.of(fault) from None


def _path(dir: Any) -> str:
    try:
        path = os.path.abspath(os.path.expanduser(os.fspath(dir)))
        path.encode("utf-8", "surrogateescape")
        return path
    except (TypeError, ValueError) as error:
        raise wrong(f"a directory: {error}") from None


def init(dir: Union[str, "os.PathLike[str]"] = ".") -> Repo:
    """Makes a repository in a directory, or opens the one that is there. The directory is made where it is missing."""
    return _opened(lambda: _tract.Repo.init(_path(dir)))


def open(dir: Union[None, str, "os.PathLike[str]"] = None) -> Repo:
    """Opens the repository of a directory; without one, the nearest one here or above, as the program does."""
    if dir is not None:
        return _opened(lambda: _tract.Repo.open(_path(dir), False))
    named = os.environ.get("TRACT_REPO")
    return _opened(lambda: _tract.Repo.open(_path(named or "."), not named))


def ephemeral() -> Repo:
    """Makes a repository in memory, gone when it is closed."""
    return _opened(_tract.Repo.ephemeral)
