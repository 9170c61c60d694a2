"""A message history of pydantic-ai that is kept in a repository.

    from tract.pydantic_ai import History

    history = History("talk-1", tract.init("talk"))
    result = agent.run_sync("Name a river.", message_history=history.messages())
    history.add(result)

A history is the branch `pydantic-ai/NAME`. Messages come back as pydantic-ai made them; what tract did to the
conversation meanwhile (an edit, a truncation, a compaction, a budget) holds for the agent, too. A run is added whole
or not at all, so that `undo` takes it back; there are `redo`, `fork`, `at` and `diff` besides.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Dict, List, Optional, Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from . import types
from ._blocks import block_of, branch_end, calls_of, results_of, text_of, turn_of
from ._deeds import Conversation, anew, settled
from ._repo import Repo

__all__ = ["History"]

FOLDER = "pydantic-ai"
_BLOCK = "pydantic_ai_message"


def _text(content: Any) -> str:
    """What of a content is text."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and any(isinstance(one, (str, dict)) for one in content):
        texts = [one if isinstance(one, str) else one.get("content") for one in content]
        if all(isinstance(text, (str, type(None))) for text in texts):
            return "\n".join(text for text in texts if text)
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _parts(content: Any) -> List[Dict[str, Any]]:
    """What a user has said, in pieces that OpenAI's chat takes. What it has no piece for stays what it is."""
    parts = []
    for one in content if isinstance(content, list) else [content]:
        kind, media = (one.get("kind"), str(one.get("media_type"))) if isinstance(one, dict) else (None, "")
        url = one.get("url") if kind == "image-url" else None
        if kind == "binary":
            # Its letters are those of URLs; a data URL has others.
            url = f"data:{media};base64,{one['data'].translate(str.maketrans('-_', '+/'))}"
        if url is not None and media.startswith("image/"):
            parts.append({"type": "image_url", "image_url": {"url": url}})
        elif url is not None and media == "application/pdf":
            parts.append({"type": "file", "file": {"filename": "document.pdf", "file_data": url}})
        elif kind is not None and not isinstance(one.get("content"), str):
            parts.append({"type": kind, **one})
        elif _text(one):
            parts.append({"type": "text", "text": _text(one)})
    return parts


def _said(message: Dict[str, Any]) -> List[Dict[str, Any]]:
    """A message as those that OpenAI's chat takes: a request may hold several. The first has it in a block."""
    if message["kind"] == "response":
        texts, calls, thoughts = [], [], []
        for part in message["parts"]:
            if part["part_kind"] == "text" and part["content"]:
                texts.append({"type": "text", "text": part["content"]})
            elif part["part_kind"] == "thinking" and part["content"]:
                thoughts.append(part["content"])
            elif part["part_kind"] == "tool-call":
                arguments = part.get("args")
                arguments = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
                function = {"name": part["tool_name"], "arguments": arguments}
                calls.append({"id": part["tool_call_id"], "type": "function", "function": function})
        said: Dict[str, Any] = {"role": "assistant", "content": texts}
        if calls:
            said["tool_calls"] = calls
        if thoughts:
            said["reasoning_content"] = "\n".join(thoughts)
        made = [said]
    else:
        made = []
        for part in message["parts"]:
            kind, text = part["part_kind"], _text(part.get("content"))
            parts = [{"type": "text", "text": text}] if text else []
            if kind in ("tool-return", "retry-prompt") and part.get("tool_name"):
                made.append({"role": "tool", "tool_call_id": part["tool_call_id"], "content": parts})
            elif kind in ("system-prompt", "instruction"):
                made.append({"role": "system", "content": parts})
            else:
                made.append({"role": "user", "content": _parts(part.get("content"))})
        made = made or [{"role": "user", "content": []}]
    for at, one in enumerate(made):
        block: Dict[str, Any] = {"type": _BLOCK, "of": len(made), "at": at}
        if at == 0:
            block["message"] = message
        one["content"] = [*one["content"], block]
    return made


def _system(instructions: str) -> Dict[str, Any]:
    """Instructions as a message of their own: of all requests' only the newest ones are sent."""
    block = {"type": _BLOCK, "instructions": instructions}
    return {"role": "system", "content": [{"type": "text", "text": instructions}, block]}


def _instructions(message: types.ContextMessage) -> Optional[str]:
    """The instructions that a message is; none: it is another one, or tract has made it say something else."""
    parts = message["message"].get("parts", [])
    blocks = [json.loads(part["data"]) for part in parts if part["type"] == "opaque"]
    of = [block.get("instructions") for block in blocks if block.get("type") == _BLOCK]
    return of[0] if of and of[0] == text_of(message) else None


def _counted(response: ModelResponse, said: Dict[str, Any]) -> Dict[str, Any]:
    """A reply with what the provider counted for it, so that tract knows what it cost."""
    usage = response.usage
    if not usage.input_tokens and not usage.output_tokens:
        return said
    counted: Dict[str, Any] = {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens}
    if usage.cache_read_tokens:
        counted["prompt_tokens_details"] = {"cached_tokens": usage.cache_read_tokens}
    whole = {"object": "chat.completion", "choices": [{"index": 0, "message": said}], "usage": counted}
    return {**whole, "model": response.model_name} if response.model_name else whole


def _remade(message: types.ContextMessage, names: Dict[str, str]) -> Optional[ModelMessage]:
    """What a message says now that tract has changed it."""
    role, text = message["message"]["role"], text_of(message)
    if role == "assistant":
        parts: List[Any] = [TextPart(text)] if text else []
        for call in calls_of(message):
            names[call["id"]] = call["name"]
            parts.append(ToolCallPart(call["name"], call["arguments"], tool_call_id=call["id"]))
        return ModelResponse(parts) if parts else None
    results = results_of(message)
    if results:
        returns = [ToolReturnPart(names.get(one["call"], ""), one["text"], one["call"]) for one in results]
        return ModelRequest(returns)
    if role in ("system", "developer"):
        return ModelRequest([SystemPromptPart(text)])
    return ModelRequest([UserPromptPart(text)]) if text else None


def _read(messages: Sequence[types.ContextMessage]) -> List[ModelMessage]:
    """Messages of a context as pydantic-ai's."""
    made: List[ModelMessage] = []
    names: Dict[str, str] = {}
    at, grows = 0, False
    messages = [message for message in messages if _instructions(message) is None]
    while at < len(messages):
        blocks = [block_of(messages[at], _BLOCK)]
        first = blocks[0]
        if first is not None and first["at"] == 0:
            blocks += [block_of(message, _BLOCK) for message in messages[at + 1 : at + first["of"]]]
            if [block and (block["at"], block["of"]) for block in blocks] == [(n, first["of"]) for n in range(first["of"])]:
                [message] = ModelMessagesTypeAdapter.validate_python([first["message"]])
                if isinstance(message, ModelResponse):
                    names.update((part.tool_call_id, part.tool_name) for part in message.parts if isinstance(part, ToolCallPart))
                made.append(message)
                at, grows = at + first["of"], False
                continue
        remade = _remade(messages[at], names)
        # Requests that are made anew are one: a model is sent the results of parallel calls together.
        if isinstance(remade, ModelRequest) and grows:
            made[-1] = ModelRequest([*made[-1].parts, *remade.parts])
        elif remade is not None:
            made.append(remade)
        grows = bool(made) and isinstance(made[-1], ModelRequest)
        at += 1
    return made


class History:
    """A message history in a repository: one branch of it."""

    def __init__(self, name: str, repo: Repo) -> None:
        self.name = name
        self._talk = Conversation(repo, FOLDER, branch_end(name), "history")
        self.repo = self._talk.repo
        """The repository as if HEAD were on the history's branch."""

    def messages(self) -> List[ModelMessage]:
        """All messages, for `message_history`."""
        return _read(self.repo.context()["messages"])

    def at(self, rev: str) -> List[ModelMessage]:
        """The messages as they were at a revision, such as `HEAD~3` or a commit of `history.repo.log()`."""
        return _read(self.repo.context(rev)["messages"])

    def add(self, run: Any) -> List[str]:
        """Adds what a run has brought: its result, or messages. Gives the commits; all are made, or none."""
        new = run.new_messages() if hasattr(run, "new_messages") else list(run)
        told = ModelMessagesTypeAdapter.dump_python(new, mode="json")
        messages: List[Dict[str, Any]] = []
        for message, one in zip(new, told):
            said = _said(one)
            messages += [_counted(message, said[0])] if isinstance(message, ModelResponse) else said
        given = [message["instructions"] for message in told if message.get("instructions")]

        def deed() -> List[str]:
            context = self.repo.context() if given else None
            there = [one for one in context["messages"] if _instructions(one) is not None] if context else []
            if not messages:
                return []
            if context is None or there:
                if there and _instructions(there[-1]) != given[-1]:
                    # Only the newest ones are sent.
                    self.repo.commit(edit=there[-1]["id"], json=_system(given[-1]))
                made = self.repo.commit(batch=messages)["commits"]
                return [commit["hash"] for commit in made]
            expect = context.get("commit", "none")
            made = self.repo.commit(batch=[_system(given[-1]), *messages], expect=expect)["commits"]
            return [commit["hash"] for commit in made[1:]]

        return anew(deed)

    async def amessages(self) -> List[ModelMessage]:
        """As `messages`, for asyncio."""
        return await asyncio.to_thread(self.messages)

    async def aadd(self, run: Any) -> List[str]:
        """As `add`, for asyncio."""
        return await settled(asyncio.to_thread(self.add, run))

    def undo(self, turns: int = 1) -> int:
        """Takes the last turns back, each from what the user said on. Gives how many messages are left."""

        def first(messages: List[types.ContextMessage]) -> types.ContextMessage:
            user = turn_of(messages, turns, "history")
            block = block_of(user, _BLOCK)
            # What stands before it in the same request goes with it.
            return messages[user["number"] - 1 - (block["at"] if block else 0)]

        to = self._talk.undo(first)
        return len(self.at(to)) if to else 0

    def redo(self) -> int:
        """Takes the last `undo` back, unless the history has gone on since. Gives how many messages there are."""
        return len(self.at(self._talk.redo()))

    def fork(self, name: str, rev: Optional[str] = None) -> "History":
        """Another history that begins as this one is, or was at a revision. What both have is there once."""
        other = History(name, self.repo)
        self._talk.fork(other._talk.branch, rev)
        return other

    def diff(self, before: Optional[str] = None, after: Optional[str] = None) -> types.DiffAnswer:
        """What the history at two revisions differs in."""
        return self.repo.diff(before, after)
