"""An engine to look at hooks with. It runs none, writes no journal, and needs no model to be there."""

import os
from collections.abc import Callable
from typing import Any

from hookline.cli.diagnosing import tell_problem
from hookline.cli.fire_settings import RequestError
from hookline.config.embedding import Engine
from hookline.engine.journal import Journal
from hookline.engine.redaction import Redactor
from hookline.handlers.registry import standard_handlers
from hookline.model.errors import HooklineError


def looking_engine() -> Engine:
    """Hooks that need a model, an agent or an MCP server load in it: whether there is one is their agent's affair."""
    # Handlers only ask whether it is there until they run, which they never do here.
    there: Any = object()
    handlers = standard_handlers(completer=there, agent_runner=there, mcp=there)
    return Engine(handlers=handlers, journal=Journal(Redactor(os.environ)))


def looked(command: str, look: Callable[[], int]) -> int:
    """The exit status; what was asked for wrongly is one clear line."""
    try:
        return look()
    except (RequestError, HooklineError) as problem:
        return tell_problem(command, problem)
