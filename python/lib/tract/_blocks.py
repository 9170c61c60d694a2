"""What a framework's own form of a message says beyond tract's: kept beside it, in a block that no model is sent."""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from typing import Any, Dict, Iterator, List, Optional

from ._errors import TractError
from .types import ContextMessage


def branch_end(name: Any) -> str:
    """Any text as the end of a branch's name."""
    text = urllib.parse.quote(str(name), safe="").replace("~", "%7E").replace(".", "%2E")
    if len(text) > 200:
        text = f"{text[:120]}%-{hashlib.sha256(text.encode()).hexdigest()}"
    return text or "%"


def _parts(message: ContextMessage) -> Iterator[Dict[str, Any]]:
    for part in message["message"].get("parts", []):
        yield part
        yield from part.get("content", [])


def block_of(message: ContextMessage, kind: str) -> Optional[Dict[str, Any]]:
    """The block of a message that says what it was; none: it has none, or is no longer what it was."""
    if message.get("edited") or message.get("placed") or message.get("masked"):
        return None
    for part in _parts(message):
        if part["type"] == "opaque":
            block = json.loads(part["data"])
            if block.get("type") == kind:
                return block
    return None


def turn_of(messages: List[ContextMessage], turns: int, what: str) -> ContextMessage:
    """The user's message with which the last so many turns begin."""
    users = [message for message in messages if message["message"]["role"] == "user"]
    if turns < 1 or len(users) < turns:
        raise TractError("refused", f"the {what} has {len(users)} turns", facts={"turns": len(users)})
    return users[-turns]


def text_of(message: ContextMessage) -> str:
    """The texts of a message."""
    return "\n".join(part["text"] for part in _parts(message) if part["type"] == "text")


def calls_of(message: ContextMessage) -> List[Dict[str, Any]]:
    """The tool calls of a message."""
    return [part for part in _parts(message) if part["type"] == "tool_call"]


def results_of(message: ContextMessage) -> List[Dict[str, Any]]:
    """The results of tools in a message, each with its text."""
    results = []
    for part in message["message"].get("parts", []):
        if part["type"] == "tool_result":
            inside = [one["text"] for one in part.get("content", []) if one["type"] == "text"]
            results.append({**part, "text": "\n".join(inside)})
    return results
