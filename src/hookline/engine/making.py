"""A hook out of a Python function or a command line, for hosts that configure in code."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hookline.model.events import EventSpec
from hookline.model.hook import Hook, Scope, Waiting
from hookline.model.policy import Cause, Reaction
from hookline.model.run import Mode
from hookline.model.scene import Scene

if TYPE_CHECKING:
    from hookline.engine.core import Home

P = TypeVar("P")

#: What a hook made in code does: a function of the payload (and the scene), sync or async, or a shell command.
Action = Callable[[P], Any] | Callable[[P, Scene], Any] | str


def make_hook(
    home: "Home",
    event: EventSpec[P],
    action: Action[P],
    matcher: str | None = None,
    *,
    condition: str | None = None,
    name: str | None = None,
    timeout: float = 600.0,
    waiting: Waiting = "wait",
    once: bool = False,
    mode: Mode = "enforce",
    on_failure: Reaction | Mapping[Cause, Reaction] | None = None,
    rewrites: bool = False,
    required: bool = False,
    status_message: str | None = None,
    scope: Scope = "user",
) -> Hook:
    """One hook. A matcher or condition that cannot be understood raises PatternError here, not later."""
    matches, holds = home.match(event, matcher, condition)
    kind, spec, label = _shell(action) if isinstance(action, str) else _function(action)
    return Hook(
        name=name or label,
        event=event,
        policy=home.policy(event),
        wire=home.wire,
        kind=kind,
        spec=spec,
        matcher=matches,
        condition=holds,
        timeout=timeout,
        waiting=waiting,
        once=once,
        mode=mode,
        on_failure=on_failure,
        rewrites=rewrites,
        required=required,
        status_message=status_message,
        scope=scope,
    )


def _shell(command: str) -> tuple[str, Any, str]:
    from hookline.handlers.command import CommandSpec  # noqa: PLC0415 a host of functions runs no processes

    return "command", CommandSpec(command=command), command


def _function(function: Callable[..., Any]) -> tuple[str, Any, str]:
    from hookline.handlers.function import FunctionSpec  # noqa: PLC0415 a host of commands calls no functions

    return "function", FunctionSpec(function), getattr(function, "__qualname__", repr(function))
