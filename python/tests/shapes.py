"""What the vendors' own types say: values made by them, at random, and requests held against them, offline."""

import collections
import collections.abc
import random
import types
import typing

import pydantic
import typing_extensions

WORDS = ["Aare", "Rhine", "deep", "16 m", "ü 🌾", "a\nb", '{"a": 1}', "<b>"]


def text(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 4)))


def made(rng, of, depth=0):
    """A value of a type: of dicts with known keys, each that is not required in half of them."""
    origin, args = typing.get_origin(of), typing.get_args(of)
    if origin in (typing_extensions.Required, typing_extensions.NotRequired, typing.Annotated):
        return made(rng, args[0], depth)
    if origin is typing.Literal:
        return rng.choice(args)
    if origin in (typing.Union, types.UnionType):
        some = [one for one in args if one is not type(None)]
        if len(some) < len(args) and (depth > 4 or rng.random() < 0.3):
            return None
        return made(rng, rng.choice(some), depth)
    if origin in (list, collections.abc.Iterable, collections.abc.Sequence, typing.List, typing.Iterable):
        return [made(rng, args[0], depth + 1) for _ in range(rng.randint(0 if depth > 3 else 1, 2))]
    if origin in (dict, typing.Dict, collections.abc.Mapping):
        return {text(rng): made(rng, args[1], depth + 1) for _ in range(rng.randint(0, 2))}
    if typing_extensions.is_typeddict(of):
        hints = typing_extensions.get_type_hints(of, include_extras=True)
        keys = [key for key in hints if is_required(of, key, hints[key]) or (depth < 5 and rng.random() < 0.5)]
        return {key: made(rng, hints[key], depth + 1) for key in keys}
    simple = {str: text, bool: lambda rng: rng.random() < 0.5, int: lambda rng: rng.randint(0, 99)}
    simple[float] = lambda rng: rng.randint(0, 99) / 4
    return simple[of](rng) if of in simple else text(rng)


def is_required(of, key, hint):
    """Whether such a dict must have a key: its own list is wrong where the class's hints are texts."""
    if typing.get_origin(hint) in (typing_extensions.Required, typing_extensions.NotRequired):
        return typing.get_origin(hint) is typing_extensions.Required
    return of.__total__ and key in of.__required_keys__


def plain(value):
    """A value without the readers that pydantic makes of what may be read once, which read when they are asked."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (str, bytes)) or not isinstance(value, collections.abc.Iterable):
        return value
    return [plain(one) for one in value]


class Shape:
    """One type, to hold values against: nothing may be missing in one, of another type, or unknown."""

    def __init__(self, of, lists=()):
        self.adapter = pydantic.TypeAdapter(of)
        # The lists of a request, of which each element is held alone first: a failure names that one.
        self.lists = dict(lists)

    def holds(self, value):
        for key, shape in self.lists.items():
            for one in value.get(key, []) if isinstance(value.get(key), list) else []:
                shape.holds(one)
        try:
            read = plain(self.adapter.validate_python(value))
        except pydantic.ValidationError as error:
            raise AssertionError(f"refused: {value}\n{nearest(error)}") from None
        assert read == value, f"unknown members: {value}\nread as {read}"


def nearest(error):
    """What is wrong by the type of a union that was meant: the one with the fewest complaints."""
    by = collections.defaultdict(list)
    for one in error.errors(include_url=False, include_input=False):
        by[one["loc"][:1]].append(f"{one['loc']}: {one['msg']}")
    return min(by.values(), key=len)


def openai_responses():
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
    from openai.types.responses.response_input_item_param import ResponseInputItemParam

    return Shape(ResponseCreateParamsNonStreaming, {"input": Shape(ResponseInputItemParam)})


def openai_chat():
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    return Shape(CompletionCreateParamsNonStreaming, {"messages": Shape(ChatCompletionMessageParam)})


def anthropic():
    from anthropic.types import MessageParam
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return Shape(MessageCreateParamsNonStreaming, {"messages": Shape(MessageParam)})


class Gemini:
    """A request of Gemini's API, held against the types of google-genai and the rules of its guides."""

    # What stands in the request itself, and not in the configuration that the SDK has.
    BESIDE = "model", "contents"

    def __init__(self):
        from google.genai import types as genai

        self.content, self.config = genai.Content, genai.GenerateContentConfig

    def holds(self, request):
        try:
            contents = [self.content.model_validate(one) for one in request["contents"]]
            config = {key: one for key, one in request.items() if key not in self.BESIDE}
            self.config.model_validate({**config.pop("generationConfig", {}), **config})
        except pydantic.ValidationError as error:
            raise AssertionError(f"refused: {request}\n{error.errors(include_url=False, include_input=False)}") from None
        for content, sent in zip(contents, request["contents"], strict=True):
            again = content.model_dump(mode="json", by_alias=True, exclude_none=True)
            assert same_bytes(again) == same_bytes(sent), f"unknown members: {sent}\nread as {again}"
        self.in_order(request["contents"])

    @staticmethod
    def in_order(contents):
        """The user and the model take turns, the user first; the calls of a reply are answered right behind it, each once."""
        roles = [content["role"] for content in contents]
        assert roles == [("user", "model")[at % 2] for at in range(len(roles))], roles
        for reply, given in zip([None, *contents], contents):
            answers = [part["functionResponse"] for part in given["parts"] if "functionResponse" in part]
            calls = [part["functionCall"] for part in reply["parts"] if "functionCall" in part] if reply else []
            named = lambda some: sorted((one["id"], one["name"]) for one in some)  # noqa: E731
            assert named(calls) == named(answers), (reply, given)
            assert given["parts"] and all(part for part in given["parts"]), given
        for content in contents:
            calls = [part for part in content["parts"] if "functionCall" in part]
            # Gemini 3 refuses a first call without one.
            assert not calls or calls[0].get("thoughtSignature"), content


def same_bytes(value):
    """A value with the bytes in it as they are: the SDK writes them by the other alphabet of base64."""
    if isinstance(value, dict):
        return {key: addressed(one) if key in ("data", "thoughtSignature") else same_bytes(one) for key, one in value.items()}
    return [same_bytes(one) for one in value] if isinstance(value, list) else value


def addressed(value):
    return value.replace("+", "-").replace("/", "_") if isinstance(value, str) else value


class Requests:
    """The requests that a context makes for each provider, held against the provider's types and its rules of order."""

    def __init__(self):
        self.responses, self.chat, self.claude, self.gemini = openai_responses(), openai_chat(), anthropic(), Gemini()

    def hold(self, repo):
        if repo.status().get("messages", 1) == 0:
            return
        request = repo.compile("responses")
        self.responses.holds({"model": "m", **request})
        paired(request["input"])
        request = repo.compile("openai")
        self.chat.holds({"model": "m", **request})
        calls = set()
        for message in request["messages"]:
            calls.update(call["id"] for call in message.get("tool_calls", []))
            assert message["role"] != "tool" or message["tool_call_id"] in calls, message
            assert message.get("content") or message.get("tool_calls") or message["role"] == "tool", message
        request = repo.compile("gemini")
        if request["contents"]:
            self.gemini.holds(request)
        request = repo.compile("anthropic")
        self.claude.holds({"model": "m", "max_tokens": 10, **request})
        calls = set()
        for message in request["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else []:
                calls.update([block["id"]] if block["type"] == "tool_use" else [])
                assert block["type"] != "tool_result" or block["tool_use_id"] in calls, message


def paired(items):
    """Every output of a tool in a list of items answers a call before it, and no item is a note of tract's own."""
    calls = set()
    for item in items:
        kind = item.get("type") or "message"
        if kind.endswith("_call") and item.get("call_id"):
            calls.add((kind, item["call_id"]))
        elif kind.endswith("_call_output") and item.get("call_id"):
            assert (kind.removesuffix("_output"), item["call_id"]) in calls, item


def seeds(count):
    """As many histories are tried as TRACT_HISTORIES says, else so many; each with a seed of its own, which a failure names."""
    import os

    first = int(os.environ.get("TRACT_SEED", "0")) or random.randrange(1 << 30)
    return range(first, first + int(os.environ.get("TRACT_HISTORIES", count)))
