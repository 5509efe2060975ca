"""Call a tool of an MCP server as a hook. The host provides the connection to the server."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

import msgspec
from msgspec import Struct

from hookline.handlers.failures import broken_by, encoded_payload, shortened
from hookline.handlers.prompt import replied
from hookline.handlers.specs import McpToolSpec
from hookline.model.raw import Failed, RawResult
from hookline.model.wire import HookInvocation

_PLACEHOLDER: Final = re.compile(r"\$\{([^${}]+)\}")
_DEEPEST: Final = 64


class McpReply(Struct, frozen=True):
    text: str
    is_error: bool = False


class McpCaller(Protocol):
    """The host's MCP connections. A server that is not connected is an exception."""

    async def call_tool(self, server: str, tool: str, arguments: Mapping[str, Any]) -> McpReply: ...


class McpToolHandler:
    kind = "mcp_tool"
    own_clock = False

    def __init__(self, caller: McpCaller | None) -> None:
        self._caller = caller

    async def run(self, call: HookInvocation) -> RawResult:
        spec: McpToolSpec = call.hook.spec
        problem = self.problem(spec)
        if self._caller is None or problem is not None:
            return Failed("not_started", problem or "")
        document = encoded_payload(call)
        if isinstance(document, Failed):
            return document
        try:
            arguments = filled(spec.input, msgspec.json.decode(document))
        except (msgspec.DecodeError, RecursionError) as error:
            return broken_by(error, "not_started", "the payload cannot be read for its input: ")
        try:
            reply = await self._caller.call_tool(spec.server, spec.tool, arguments)
        except Exception as error:  # noqa: BLE001 - every error of an MCP client means no answer
            return broken_by(error, "transport", f"{spec.server}/{spec.tool}: ")
        if reply.is_error:
            return Failed("transport", f"{spec.server}/{spec.tool} reports an error: {shortened(reply.text)}")
        return replied(reply.text)

    def problem(self, spec: Any) -> str | None:
        if self._caller is None:
            return "mcp_tool hooks need MCP servers, which `hookline agent` connects to (in Python: pass mcp)"
        if not spec.server or not spec.tool:
            return "it needs both server and tool"
        return "its input is nested too deeply" if _depth(spec.input) > _DEEPEST else None

    async def close(self) -> None:
        """Do nothing: the connections belong to the host."""


def filled(value: Any, document: Any) -> Any:
    """Replace every placeholder of the value from the document, in one pass; keys stay as they are.

    A string that is one placeholder and nothing else becomes the value itself, with its JSON type.
    """
    if isinstance(value, str):
        whole = _PLACEHOLDER.fullmatch(value)
        if whole is not None:
            return found(document, whole[1])
        return _PLACEHOLDER.sub(lambda match: _as_text(found(document, match[1])), value)
    if isinstance(value, Mapping):
        return {key: filled(inner, document) for key, inner in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [filled(inner, document) for inner in cast("Sequence[Any]", value)]
    return value


def found(document: Any, path: str) -> Any:
    """Return the value at `path.to.field` (numbers index lists), or the empty string."""
    here = document
    for name in path.strip().split("."):
        if isinstance(here, dict) and name in here:
            here = cast("dict[str, Any]", here)[name]
        elif isinstance(here, list) and name.isdecimal() and int(name) < len(cast("list[Any]", here)):
            here = cast("list[Any]", here)[int(name)]
        else:
            return ""
    return here


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _depth(value: Any, so_far: int = 0) -> int:
    if so_far > _DEEPEST:
        return so_far
    if isinstance(value, Mapping):
        inner: Sequence[Any] = tuple(cast("Mapping[str, Any]", value).values())
    elif isinstance(value, (list, tuple)):
        inner = cast("Sequence[Any]", value)
    else:
        return so_far
    return max((_depth(each, so_far + 1) for each in inner), default=so_far + 1)
