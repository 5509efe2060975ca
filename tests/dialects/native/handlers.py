"""Handlers for reading configurations: the real ones, except that no process can be started."""

from typing import Any

from hookline.dialects.native import dialect
from hookline.documents.document import Document
from hookline.events import EVENTS, event_table
from hookline.extending import (
    ConfigPath,
    Failed,
    Handler,
    HookInvocation,
    Layer,
    LoadedHooks,
    RawResult,
    Tools,
    standard_builtins,
)
from hookline.handlers.agent import AgentHandler
from hookline.handlers.builtin import BuiltinHandler
from hookline.handlers.http.handler import HttpHandler
from hookline.handlers.mcp_tool import McpToolHandler
from hookline.handlers.prompt import PromptHandler
from hookline.matching.patterns import Patterns
from hookline.model.hook import Scope
from hookline.shell import ShellReader


class NoProcess:
    """Stands in for commands where nothing is run; refuses a shell it does not know, as commands do."""

    own_clock = True

    def __init__(self, kind: str) -> None:
        self.kind = kind

    async def run(self, call: HookInvocation) -> RawResult:
        return Failed("not_started", f"{call.hook.name} is not run here")

    def problem(self, spec: Any) -> str | None:
        return "no shell is called fish" if getattr(spec, "shell", None) == "fish" else None

    async def close(self) -> None:
        pass


def read_file(
    document: Document, scope: Scope = "project", *rows: Any, more: tuple[Handler, ...] = ()
) -> LoadedHooks:
    """A document as an engine with these handlers reads it."""
    handlers: tuple[Handler, ...] = (
        NoProcess("command"),
        HttpHandler(None),
        PromptHandler(None),
        AgentHandler(None),
        McpToolHandler(None),
        BuiltinHandler(standard_builtins()),
        *more,
    )
    tools = Tools({handler.kind: handler for handler in handlers}, Patterns(), ShellReader())
    native = dialect(event_table((*EVENTS.values(), *rows)))
    return native.read([Layer(ConfigPath(document.file, scope), document)], tools)
