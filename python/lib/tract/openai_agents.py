"""A session of the OpenAI Agents SDK that is kept in a repository.

    from tract.openai_agents import TractSession

    session = TractSession("talk-1", tract.init("talk"))
    result = await Runner.run(agent, "Name a river.", session=session)

A session is the branch `agents/SESSION`. Items come back as the SDK gave them; what tract did to the conversation
meanwhile (an edit, a truncation, a compaction, a budget) holds for the agent, too. Beyond other sessions there are
`undo`, `redo`, `fork`, `diff` and `at`, and a session that was cleared is there until `tract gc`.
"""

from __future__ import annotations

import asyncio
from typing import Any, Dict, List, Optional, Union

from agents import TResponseInputItem
from agents.memory import SessionABC, SessionSettings
from agents.memory.session_settings import coerce_session_settings, resolve_session_limit

from . import types
from ._blocks import block_of, branch_end, calls_of, results_of, text_of, turn_of
from ._deeds import Conversation, settled
from ._repo import Repo

__all__ = ["TractSession"]

FOLDER = "agents"
_BLOCK = "agents_item"
_ROLES = ("user", "assistant", "system", "developer")


def _said(item: Any) -> Dict[str, Any]:
    """An item as a message that OpenAI's chat takes, with the item itself in a block."""
    item = dict(item)
    content, kind = item.get("content"), item.get("type", "message")
    role = item.get("role") if item.get("role") in _ROLES else None
    if set(item) == {"role", "content"} and role and isinstance(content, str) and content.strip():
        return {"role": role, "content": content}
    block = {"type": _BLOCK, "item": item}
    parts: List[Dict[str, Any]] = []
    if kind == "message" and role:
        if isinstance(content, str) and content:
            parts.append({"type": "text", "text": content})
        for part in content if isinstance(content, list) else []:
            text = part.get("text") or part.get("refusal") if isinstance(part, dict) else None
            if isinstance(text, str) and text:
                parts.append({"type": "text", "text": text})
            elif isinstance(part, dict) and part.get("type") == "input_image" and part.get("image_url"):
                parts.append({"type": "image_url", "image_url": {"url": part["image_url"]}})
        return {"role": role, "content": [*parts, block]}
    call = item.get("call_id")
    if kind == "function_call" and call:
        function = {"name": item.get("name", ""), "arguments": item.get("arguments", "")}
        calls = [{"id": call, "type": "function", "function": function}]
        return {"role": "assistant", "content": [block], "tool_calls": calls}
    if kind == "function_call_output" and call:
        output = item.get("output")
        told = output if isinstance(output, list) else [{"text": output}]
        texts = [one["text"] for one in told if isinstance(one, dict) and isinstance(one.get("text"), str)]
        parts = [{"type": "text", "text": text} for text in texts if text]
        return {"role": "tool", "tool_call_id": call, "content": [*parts, block]}
    summary = item.get("summary")
    for one in summary if kind == "reasoning" and isinstance(summary, list) else []:
        parts.append({"type": "text", "text": str(one.get("text", ""))})
    thought = "\n".join(part["text"] for part in parts if part["text"])
    return {"role": "assistant", "content": [block], **({"reasoning_content": thought} if thought else {})}


def _items(message: types.ContextMessage) -> List[Any]:
    """The items of a message: the one that it was made of or, where tract made it what it is, what it says now."""
    block = block_of(message, _BLOCK)
    if block is not None:
        return [block["item"]]
    items: List[Any] = []
    role, text = message["message"]["role"], text_of(message)
    for result in results_of(message):
        items.append({"type": "function_call_output", "call_id": result["call"], "output": result["text"]})
    if not items and text:
        items.append({"role": role, "content": text})
    for call in calls_of(message):
        known = {"call_id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        items.append({"type": "function_call", **known})
    return items


class TractSession(SessionABC):
    """A session in a repository: one branch of it."""

    session_settings: Optional[SessionSettings] = None

    def __init__(
        self,
        session_id: str,
        repo: Repo,
        *,
        session_settings: Union[SessionSettings, Dict[str, Any], None] = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or SessionSettings())
        self._talk = Conversation(repo, FOLDER, branch_end(session_id), "session")
        self.repo = self._talk.repo
        """The repository as if HEAD were on the session's branch."""

    # What the SDK asks.

    async def get_items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """The items, oldest first; at most `limit` of the newest."""
        limit = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self.items, limit)

    def items(self, limit: Optional[int] = None) -> List[TResponseInputItem]:
        """As `get_items`, without asyncio."""
        if limit == 0:
            return []
        count = limit if limit is not None and limit > 0 else None
        context = self.repo.context(from_=-count) if count else self.repo.context()
        items = [item for message in context["messages"] for item in _items(message)]
        return items[-count:] if count else items

    async def add_items(self, items: List[TResponseInputItem]) -> None:
        """Adds items, all of them or none."""
        if items:
            messages = [_said(item) for item in items]
            await settled(asyncio.to_thread(self.repo.commit, batch=messages))

    async def pop_item(self) -> Optional[TResponseInputItem]:
        """Takes the newest item out, and gives it."""
        return await settled(asyncio.to_thread(self._talk.pop, _items, _said))

    async def clear_session(self) -> None:
        """Takes all items out."""
        await settled(asyncio.to_thread(self._talk.clear))

    # What others have not.

    def undo(self, turns: int = 1) -> int:
        """Takes the last turns back, each from what the user said on. Gives how many items are left."""
        to = self._talk.undo(lambda messages: turn_of(messages, turns, "session"))
        return len(self.at(to)) if to else 0

    def redo(self) -> int:
        """Takes the last `undo` back, unless the session has gone on since. Gives how many items there are."""
        return len(self.at(self._talk.redo()))

    def fork(self, session_id: str, rev: Optional[str] = None) -> "TractSession":
        """Another session that begins as this one is, or was at a revision. What both have is there once."""
        other = TractSession(session_id, self.repo, session_settings=self.session_settings)
        self._talk.fork(other._talk.branch, rev)
        return other

    def at(self, rev: str) -> List[TResponseInputItem]:
        """The items as they were at a revision, such as `HEAD~3` or a commit of `session.repo.log()`."""
        return [item for message in self.repo.context(rev)["messages"] for item in _items(message)]

    def diff(self, before: Optional[str] = None, after: Optional[str] = None) -> types.DiffAnswer:
        """What the session at two revisions differs in."""
        return self.repo.diff(before, after)
