"""Version control for the context of conversations with language models.

    import tract

    repo = tract.init("talk")
    repo.commit(role="user", message="Name a river.")
    request = repo.compile("anthropic")     # a dict for Anthropic's SDK

`tract.types` says what the answers hold. The bridges are modules of their own: `tract.langgraph`,
`tract.openai_agents` and `tract.pydantic_ai`.
"""

from . import types
from ._aio import AsyncRepo
from ._errors import TractError
from ._repo import Repo, Request, ephemeral, init, open
from ._tract import __version__

__all__ = ["AsyncRepo", "Repo", "Request", "TractError", "__version__", "ephemeral", "init", "open", "types"]
