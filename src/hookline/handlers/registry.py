"""Define the handler protocol, and the handlers an engine has unless its host passes others.

A registry is a mapping from kind to handler that belongs to one engine. A new kind is one file with a spec
record and a handler, and one line in `standard_handlers`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from hookline.model.raw import RawResult
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.actions.action import Action
    from hookline.guards.judge import Protects
    from hookline.handlers.agent import AgentRunner
    from hookline.handlers.builtin import Builtin
    from hookline.handlers.http.handler import HttpRules
    from hookline.handlers.mcp_tool import McpCaller
    from hookline.handlers.process.pool import Processes
    from hookline.handlers.prompt import Completer
    from hookline.handlers.warm.scripts import WarmScripts
    from hookline.shell import ShellReader


class Handler(Protocol):
    """One way of running external code. It returns facts; the wire and the engine interpret them."""

    @property
    def kind(self) -> str: ...

    @property
    def own_clock(self) -> bool:
        """True if it keeps `call.timeout` itself and answers `timed_out`; False if the engine bounds `run`."""
        ...

    async def run(self, call: HookInvocation) -> RawResult:
        """Run one hook. Every failure is returned as a `Failed`; only cancellation is raised."""
        ...

    def problem(self, spec: Any) -> str | None:
        """Return why a hook with this spec can never run. Called when a configuration is read, so it does no I/O."""
        ...

    async def close(self) -> None:
        """Release everything held. May be called twice; the handler stays usable."""
        ...


class ProtectionPort:
    """The engine's check for calls that change what guards the agent."""

    def __init__(self) -> None:
        self.check: Protects | None = None
        #: The reader of shell lines that rules use, so that guards do not read each line once more.
        self.reader: Callable[[], ShellReader] | None = None

    def __call__(self, actions: "Sequence[Action]", cwd: str) -> str | None:
        """Return why a call with these actions may not be made, or None."""
        if self.check is None:
            raise RuntimeError("this engine has no list of protected files")
        return self.check(actions, cwd)

    def shell_reader(self) -> "ShellReader | None":
        return self.reader() if self.reader is not None else None


class Handlers(Mapping[str, Handler]):
    """Handlers by kind, each made for the first hook of its kind: most people use one or two."""

    def __init__(
        self, makers: Mapping[str, Callable[[], Handler]], protection: "ProtectionPort | None" = None
    ) -> None:
        self._makers = makers
        #: Returns what is used instead of a handler that was made.
        self.wrap: Callable[[Handler], Handler] | None = None
        self.protection = protection if protection is not None else ProtectionPort()
        self._made: dict[str, Handler] = {}

    def __getitem__(self, kind: str) -> Handler:
        made = self._made.get(kind)
        if made is None:
            made = self._makers[kind]()
            made = self._made[kind] = made if self.wrap is None else self.wrap(made)
        return made

    def __contains__(self, kind: object) -> bool:
        return kind in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def __or__(self, others: Mapping[str, Handler]) -> "Handlers":
        """Return these handlers and a host's own, which win."""
        makers = {**self._makers, **{kind: partial(others.__getitem__, kind) for kind in others}}
        joined = Handlers(makers, self.protection)
        joined.wrap = self.wrap
        joined._made = {**self._made, **others}
        return joined

    async def close(self) -> None:
        """Close the handlers that were made."""
        for handler in self._made.values():
            await handler.close()


async def close_all(handlers: Mapping[str, Handler]) -> None:
    """Close every handler once, without making any just for that."""
    if isinstance(handlers, Handlers):
        await handlers.close()
        return
    for handler in {id(each): each for each in handlers.values()}.values():
        await handler.close()


def standard_handlers(
    *,
    completer: "Completer | None" = None,
    agent_runner: "AgentRunner | None" = None,
    mcp: "McpCaller | None" = None,
    builtins: "Mapping[str, Builtin] | None" = None,
    http: "HttpRules | None" = None,
    processes: "Processes | Callable[[], Processes] | None" = None,
    warm: "WarmScripts | bool" = False,
    env: Mapping[str, str] | None = None,
) -> Handlers:
    """Return all handlers of Hookline by kind. Hooks that need something which is missing fail, and name it.

    A function for `processes` makes them for the first hook that is a command. With `warm`, Python scripts of
    command hooks are run by interpreters that were started ahead (Linux); `processes` of a host decide that
    themselves. `env` is the environment that hooks start from; without one, that of this process.
    """

    def own(given: Any, maker: str, **options: Any) -> Any:
        return given if given is not None else _made(maker, **options)

    def own_builtins() -> Any:
        if builtins is not None:
            return builtins
        return _made("builtin.standard_builtins", **({} if env is None else {"env": env}))

    protection = ProtectionPort()
    return Handlers(
        {
            "command": lambda: _made(
                "command.CommandHandler",
                processes() if callable(processes) else own(processes, "process.pool.Processes", warm=warm),
                env,
            ),
            "http": lambda: _made("http.handler.HttpHandler", http, environ=env),
            "prompt": lambda: _made("prompt.PromptHandler", completer),
            "agent": lambda: _made("agent.AgentHandler", agent_runner),
            "mcp_tool": lambda: _made("mcp_tool.McpToolHandler", mcp),
            "function": lambda: _made("function.FunctionHandler"),
            "builtin": lambda: _made(
                "builtin.BuiltinHandler", own_builtins(), protection, protection.shell_reader
            ),
        },
        protection,
    )


def _made(name: str, *arguments: Any, **options: Any) -> Any:
    module, _, maker = name.rpartition(".")
    return getattr(import_module(f"hookline.handlers.{module}"), maker)(*arguments, **options)
