"""What goes wrong, as one exception."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional


class TractError(Exception):
    """What went wrong. Nothing was changed, unless the method says otherwise.

    `kind` is the word that a program goes by, such as `unknown_revision`; `hint` says what to do about it; `facts`
    is what the error knows, such as the nearest name; `exit_code` is what the program `tract` would end with:
    1 not allowed here, 2 wrong usage, 3 damaged data, 4 someone was first.
    """

    kind: str
    message: str
    hint: Optional[str]
    exit_code: int
    facts: Dict[str, Any]

    def __init__(
        self,
        kind: str,
        message: str,
        hint: Optional[str] = None,
        exit_code: int = 1,
        facts: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(kind, message, hint, exit_code, facts)
        self.kind, self.message, self.hint, self.exit_code = kind, message, hint, exit_code
        self.facts = facts or {}

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

    @classmethod
    def of(cls, fault: Exception) -> "TractError":
        """That of a fault of the extension module."""
        told = json.loads(str(fault))
        return cls(told["kind"], told["message"], told.get("hint"), told["exit_code"], told.get("facts"))


def wrong(message: str, hint: Optional[str] = None, **facts: Any) -> TractError:
    """Parameters that no method takes."""
    return TractError("invalid_params", message, hint, 2, facts)
