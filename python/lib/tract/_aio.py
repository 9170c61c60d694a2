"""The same for asyncio: each call runs in a thread, so that the loop goes on."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Any, AsyncIterable, AsyncIterator, Dict, List, Optional, TypeVar, Union

from . import _repo, types
from ._methods import AsyncMethods

Event = TypeVar("Event")


class AsyncRepo(AsyncMethods):
    """A repository for asyncio. `repo.sync` is the one underneath."""

    def __init__(self, repo: _repo.Repo) -> None:
        self.sync = repo

    @classmethod
    async def init(cls, dir: Union[str, "os.PathLike[str]"] = ".") -> "AsyncRepo":
        """As `tract.init`."""
        return cls(await asyncio.to_thread(_repo.init, dir))

    @classmethod
    async def open(cls, dir: Union[None, str, "os.PathLike[str]"] = None) -> "AsyncRepo":
        """As `tract.open`."""
        return cls(await asyncio.to_thread(_repo.open, dir))

    @classmethod
    async def ephemeral(cls) -> "AsyncRepo":
        """As `tract.ephemeral`."""
        return cls(await asyncio.to_thread(_repo.ephemeral))

    def at(self, branch: str) -> "AsyncRepo":
        """As `Repo.at`."""
        return AsyncRepo(self.sync.at(branch))

    async def close(self) -> None:
        """As `Repo.close`."""
        await asyncio.to_thread(self.sync.close)

    async def __aenter__(self) -> "AsyncRepo":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def call(self, method: str, params: Optional[Dict[str, Any]] = None, **options: Any) -> Any:
        """As `Repo.call`."""
        return await asyncio.to_thread(self.sync.call, method, params, **options)

    async def _ask(self, method: str, params: Dict[str, Any]) -> Any:
        return await asyncio.to_thread(self.sync._ask, method, params)

    async def compile(self, format: Optional[str] = None, **options: Any) -> Any:
        """As `Repo.compile`."""
        return await asyncio.to_thread(self.sync.compile, format, **options)

    async def import_(self, path: Any = None, **options: Any) -> types.ImportAnswer:  # type: ignore[override]
        """As `Repo.import_`."""
        return await asyncio.to_thread(self.sync.import_, path, **options)

    @contextlib.asynccontextmanager
    async def turn(self, what: str = "turn") -> AsyncIterator["AsyncRepo"]:
        """As `Repo.turn`. Tasks that are started inside commit in the same turn."""
        turn = self.sync.turn(what)
        # Where it begins and ends is this task's; its two calls are short.
        turn.__enter__()
        try:
            yield self
        except BaseException as error:
            turn.__exit__(type(error), error, error.__traceback__)
            raise
        turn.__exit__(None, None, None)

    async def stream(self, events: AsyncIterable[Event], *, note: Optional[str] = None) -> AsyncIterator[Event]:
        """As `Repo.stream`, of an async stream. Close it (`contextlib.aclosing`) where you may stop early."""
        heard: List[Any] = []
        try:
            async for event in events:
                heard.append(event)
                yield event
        finally:
            if heard:
                # Whoever is cancelled still keeps what came.
                self.sync.commit(**_repo.streamed(heard), note=note)
