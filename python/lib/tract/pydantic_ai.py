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
    if isinstance(content, dict) and content.get("kind") == "text-content":
        return str(content.get("content", ""))
    return "" if content is None else json.dumps(content, ensure_ascii=False)


def _medium(one: Any) -> Optional[Dict[str, Any]]:
    """A picture or a file as a piece that OpenAI's chat takes; none of anything else."""
    kind, media = (one.get("kind"), str(one.get("media_type"))) if isinstance(one, dict) else (None, "")
    if kind == "uploaded-file":
        return {"type": "file", "file": {"file_id": one["file_id"]}}
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": one["url"]}}
    if kind == "document-url":
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": one["url"]}}
    if kind != "binary":
        return None
    # Its letters are those of URLs; a data URL has others.
    url = f"data:{media};base64,{one['data'].translate(str.maketrans('-_', '+/'))}"
    if media.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    name = "document.pdf" if media == "application/pdf" else "file"
    return {"type": "file", "file": {"filename": name, "file_data": url}}


def _parts(content: Any) -> List[Dict[str, Any]]:
    """What a user has said, in pieces that OpenAI's chat takes. What it has no piece for stays what it is."""
    parts: List[Dict[str, Any]] = []
    for one in content if isinstance(content, list) else [content]:
        kind = one.get("kind") if isinstance(one, dict) else None
        medium = _medium(one)
        if medium is not None:
            parts.append(medium)
        elif kind is not None and kind.endswith("-url"):
            parts.append({"type": kind, **one})
        # Where a cache is to end is of a request.
        elif kind != "cache-point" and _text(one):
            parts.append({"type": "text", "text": _text(one)})
    return parts


def _given(content: Any) -> List[Dict[str, Any]]:
    """What a tool has given: a text or JSON, or what of it is pictures and files, with the rest beside them."""
    if not any(_medium(one) for one in (content if isinstance(content, list) else [content])):
        return [{"type": "text", "text": _text(content)}] if _text(content) else []
    return _parts(content)


def _response(message: Dict[str, Any]) -> List[Dict[str, Any]]:
    """A response; what the provider's own tools gave in it stands between what was said before and after."""
    made: List[Dict[str, Any]] = []
    said: Dict[str, Any] = {"role": "assistant", "content": []}
    for part in message["parts"]:
        kind = part["part_kind"]
        if kind in ("text", "compaction") and part["content"]:
            said["content"].append({"type": "text", "text": part["content"]})
        elif kind == "speech" and part.get("transcript"):
            said["content"].append({"type": "text", "text": part["transcript"]})
        elif kind == "file":
            said["content"] += _parts(part["content"])
        elif kind == "thinking" and part["content"]:
            before = said.get("reasoning_content")
            said["reasoning_content"] = f"{before}\n{part['content']}" if before else part["content"]
        elif kind in ("tool-call", "builtin-tool-call"):
            arguments = part.get("args")
            arguments = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
            function = {"name": part["tool_name"], "arguments": arguments}
            said.setdefault("tool_calls", []).append({"id": part["tool_call_id"], "type": "function", "function": function})
        elif kind == "builtin-tool-return":
            given = {"role": "tool", "tool_call_id": part["tool_call_id"], "content": _given(part.get("content"))}
            made += [said, given]
            said = {"role": "assistant", "content": []}
    return [*made, said] if len(said) > 2 or said["content"] or not made else made


def _feedback(message: Dict[str, Any]) -> Dict[int, str]:
    """What a model is told of replies that could not be used, in the framework's words, by the place of the part."""
    if not any(part["part_kind"].startswith("retry-") for part in message["parts"]):
        return {}
    [read] = ModelMessagesTypeAdapter.validate_python([message])
    parts = enumerate(read.parts)
    return {at: part.model_response() for at, part in parts if hasattr(part, "model_response")}


def _request(message: Dict[str, Any]) -> List[Dict[str, Any]]:
    """A request: it may be several messages."""
    made: List[Dict[str, Any]] = []
    feedback = _feedback(message)
    for at, part in enumerate(message["parts"]):
        kind, content = part["part_kind"], part.get("content")
        if kind in ("tool-return", "retry-prompt") and part.get("tool_name"):
            made.append({"role": "tool", "tool_call_id": part["tool_call_id"], "content": _given(content)})
        elif kind in ("system-prompt", "instruction"):
            made.append({"role": "system", "content": _parts(content)})
        elif kind == "speech":
            made.append({"role": "user", "content": _parts(part.get("transcript"))})
        elif kind == "user-prompt":
            made.append({"role": "user", "content": _parts(content)})
        elif at in feedback:
            # The framework's own fixed words are the system's.
            role = "system" if feedback[at] == content else "user"
            made.append({"role": role, "content": [{"type": "text", "text": feedback[at]}]})
        elif content is not None:
            # What stands for older messages.
            made.append({"role": "user", "content": [{"type": "text", "text": _text(content)}]})
    return made or [{"role": "user", "content": []}]


def _said(message: Dict[str, Any]) -> List[Dict[str, Any]]:
    """A message as those that OpenAI's chat takes: there may be several. The first has it in a block."""
    made = _response(message) if message["kind"] == "response" else _request(message)
    for at, one in enumerate(made):
        block: Dict[str, Any] = {"type": _BLOCK, "of": len(made), "at": at}
        if at == 0:
            block["message"] = message
        one["content"] = [*one["content"], block]
    return made


# What a request of a tool's results alone is made of: it says nothing of instructions.
_RESULTS = ("tool-return", "retry-prompt", "retry-feedback")


def _in_force(messages: List[Dict[str, Any]], before: Optional[str]) -> Optional[str]:
    """The instructions that are sent after these messages: the newest request's."""
    for message in messages:
        if message["kind"] == "request":
            kinds = {part["part_kind"] for part in message["parts"]}
            given = message.get("instructions")
            before = given if given is not None or not kinds.issubset(_RESULTS) else before
    return before


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
            if isinstance(message, ModelResponse):
                said[0] = _counted(message, said[0])
            messages += said

        def deed() -> List[str]:
            if not messages:
                return []
            context = self.repo.context()
            there = [one for one in context["messages"] if _instructions(one) is not None]
            before = _instructions(there[-1]) if there else None
            now = _in_force(told, before)
            if before is not None and now != before:
                # Only the newest ones are sent.
                if now is None:
                    self.repo.drop([there[-1]["id"]])
                else:
                    self.repo.commit(edit=there[-1]["id"], json=_system(now))
            if before is not None or now is None:
                made = self.repo.commit(batch=messages)["commits"]
                return [commit["hash"] for commit in made]
            expect = context.get("commit", "none")
            made = self.repo.commit(batch=[_system(now), *messages], expect=expect)["commits"]
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
