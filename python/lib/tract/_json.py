"""Parameters as JSON, and answers back. What JSON or UTF-8 cannot hold is refused before anything happens."""

from __future__ import annotations

import json
from typing import Any, Dict

from ._errors import wrong


def _plain(value: Any) -> Any:
    """What the vendors' SDKs give: their models know what they were made of."""
    for name in ("model_dump", "to_dict", "dict"):
        make = getattr(value, name, None)
        if make is not None:
            return make(mode="json", exclude_unset=True) if name == "model_dump" else make()
    raise TypeError(f"{type(value).__name__} is no JSON: a dict is, or an object that has model_dump()")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def written(params: Dict[str, Any]) -> str:
    """Parameters as a JSON text. Those that are None are left out."""
    given = {key: value for key, value in params.items() if value is not None}
    try:
        text = _ENCODER.encode(given)
        # Half a surrogate pair is no character: no UTF-8 could say it.
        if not text.isascii():
            text.encode()
        return text
    except UnicodeEncodeError as error:
        around = text[max(0, error.start - 20) : error.start]
        hint = "text.encode('utf-8', 'replace').decode() puts a ? in its place"
        raise wrong("parameters: half of a surrogate pair stands in a text", hint, after=around) from None
    except RecursionError:
        raise wrong("parameters: they are nested too deep") from None
    except (TypeError, ValueError) as error:
        raise wrong(f"parameters: {error}") from None


def read(text: str) -> Any:
    """An answer."""
    return json.loads(text)
