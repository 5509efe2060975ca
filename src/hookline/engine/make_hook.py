"""Making a hook from a Python function or a command line, for hosts that configure in code."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from hookline.model.events import EventSpec
from hookline.model.hook import Hook, InDoubt, Scope, Waiting
from hookline.model.policy import CAUSES, Cause, Reaction
from hookline.model.run import Mode
from hookline.model.scene import Scene

P = TypeVar("P")

if TYPE_CHECKING:
    from hookline.engine.engine import Home
    from hookline.guards import Guard

    #: What a hook made in code does: a function of the payload (and the scene), sync or async, a shell command, or a
    #: guard by meaning.
    Action = Callable[[P], Any] | Callable[[P, Scene], Any] | str | Guard

#: What a failure means, by the names of the configuration or those of the engine.
OnFailure = Literal["open", "closed", "ask", "pass", "warn", "block"]
_REACTIONS: Mapping[str, Reaction] = {
    "open": "warn", "closed": "block", "ask": "ask", "pass": "pass", "warn": "warn", "block": "block",
}  # fmt: skip


def make_hook(
    home: "Home",
    event: EventSpec[P],
    action: "Action[P]",
    matcher: str | None = None,
    *,
    condition: str | None = None,
    in_doubt: InDoubt = "match",
    name: str | None = None,
    timeout: float = 600.0,
    waiting: Waiting = "wait",
    once: bool = False,
    mode: Mode = "enforce",
    on_failure: OnFailure | Mapping[Cause, OnFailure] | None = None,
    rewrites: bool = False,
    required: bool = False,
    status_message: str | None = None,
    scope: Scope = "user",
) -> Hook:
    """One hook. A matcher or condition that cannot be parsed raises PatternError here, not later."""
    _refuse_unknown(
        waiting=(waiting, get_args(Waiting)),
        mode=(mode, get_args(Mode)),
        in_doubt=(in_doubt, get_args(InDoubt)),
    )
    _refuse_timeout(timeout)
    matches, holds = home.match(event, matcher, condition)
    kind, spec, label = _made_of(action)
    return Hook(
        name=name or label,
        event=event,
        policy=home.policy(event),
        wire=home.wire,
        kind=kind,
        spec=spec,
        matcher=matches,
        condition=holds,
        in_doubt=in_doubt,
        timeout=timeout,
        waiting=waiting,
        once=once,
        mode=mode,
        on_failure=_reactions(on_failure),
        rewrites=rewrites,
        required=required,
        status_message=status_message,
        scope=scope,
        # A function is the program's own code: it knows the program's tools.
        as_called=kind == "function",
    )


def _refuse_timeout(timeout: Any) -> None:
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0 < timeout < float("inf"):
        raise ValueError(f"timeout is {timeout!r}, not seconds above 0")


def _refuse_unknown(**options: tuple[str, tuple[str, ...]]) -> None:
    """Refuse values that are not known: a typo must not silently switch a guard off."""
    for name, (word, known) in options.items():
        if word not in known:
            raise ValueError(f"{name} is {word!r}, not one of {', '.join(known)}")


def _reactions(
    given: OnFailure | Mapping[Cause, OnFailure] | None,
) -> Reaction | Mapping[Cause, Reaction] | None:
    if given is None:
        return None
    words = (
        {"on_failure": given}
        if isinstance(given, str)
        else {f"on_failure for {c}": w for c, w in given.items()}
    )
    _refuse_unknown(**{name: (word, tuple(_REACTIONS)) for name, word in words.items()})
    if isinstance(given, str):
        return _REACTIONS[given]
    for cause in given:
        _refuse_unknown(cause=(cause, CAUSES))
    return {cause: _REACTIONS[word] for cause, word in given.items()}


def _made_of(action: "Action[Any]") -> tuple[str, Any, str]:
    """The kind of hook that an action makes, its settings, and what it is called."""
    if isinstance(action, str):
        return _shell(action)
    return _function(action) if callable(action) else _guard(action)


def _guard(guard: "Guard") -> tuple[str, Any, str]:
    from hookline.handlers.specs import BuiltinSpec  # noqa: PLC0415 as below

    return "builtin", BuiltinSpec(guard.name, guard.args), guard.name


def _shell(command: str) -> tuple[str, Any, str]:
    from hookline.handlers.command import CommandSpec  # noqa: PLC0415 a host of functions runs no processes

    return "command", CommandSpec(command=command), command


def _function(function: Callable[..., Any]) -> tuple[str, Any, str]:
    from hookline.handlers.function import FunctionSpec  # noqa: PLC0415 a host of commands calls no functions

    return "function", FunctionSpec(function), getattr(function, "__qualname__", repr(function))
