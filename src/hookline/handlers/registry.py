"""The handler protocol, and the handlers an engine has unless its host says otherwise.

A registry is a plain mapping from kind to handler, built by whoever builds the engine and private to it.
A new kind is one file with a spec record and a handler, and one line in `standard_handlers`.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from hookline.handlers.agent import AgentHandler, AgentRunner
from hookline.handlers.builtin import Builtin, BuiltinHandler
from hookline.handlers.builtins import standard_builtins
from hookline.handlers.function import FunctionHandler
from hookline.handlers.http import HttpHandler, HttpRules
from hookline.handlers.mcp_tool import McpCaller, McpToolHandler
from hookline.handlers.prompt import Completer, PromptHandler
from hookline.model.raw import RawResult
from hookline.model.wire import Call

if TYPE_CHECKING:
    from hookline.handlers.process import Processes


class Handler(Protocol):
    """One way of running external code. It returns facts; what they mean is the wire's and the engine's."""

    @property
    def kind(self) -> str: ...

    @property
    def own_clock(self) -> bool:
        """True: it keeps `call.timeout` itself and answers `timed_out`. False: the engine bounds `run`."""
        ...

    async def run(self, call: Call) -> RawResult:
        """Run one hook. Every failure is a `Broke`; only cancellation is raised."""
        ...

    def problem(self, spec: Any) -> str | None:
        """Why a hook with this spec can never run; asked when a configuration is read, so it does no I/O."""
        ...

    async def close(self) -> None:
        """Let go of everything held. Harmless when called twice, and the handler stays usable."""
        ...


def standard_handlers(
    *,
    completer: Completer | None = None,
    agent_runner: AgentRunner | None = None,
    mcp: McpCaller | None = None,
    builtins: Mapping[str, Builtin] | None = None,
    http: HttpRules | None = None,
    processes: "Processes | None" = None,
) -> dict[str, Handler]:
    """All handlers of Hookline by kind. Seams that are not given make their hooks say so."""
    # Only here: what runs processes is the heaviest part, and tools that read configs do without it.
    from hookline.handlers.command import CommandHandler  # noqa: PLC0415 - see above
    from hookline.handlers.process import Processes  # noqa: PLC0415 - see above

    handlers: tuple[Handler, ...] = (
        CommandHandler(processes if processes is not None else Processes()),
        HttpHandler(http),
        PromptHandler(completer),
        AgentHandler(agent_runner),
        McpToolHandler(mcp),
        FunctionHandler(),
        BuiltinHandler(builtins if builtins is not None else standard_builtins()),
    )
    return {handler.kind: handler for handler in handlers}
