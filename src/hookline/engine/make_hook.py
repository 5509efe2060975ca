"""Making a hook from a Python function or a command line, for hosts that configure in code."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, get_args, overload

from hookline.model.events import EventSpec
from hookline.model.hook import Hook, InDoubt, Order, Scope, Waiting
from hookline.model.outcome import Outcome
from hookline.model.policy import CAUSES, Cause, Reaction
from hookline.model.run import Mode
from hookline.model.scene import Scene

P = TypeVar("P")
#: What a function says: an outcome, an answer as a hook that is a command would print it, or nothing.
Said = Outcome | Mapping[str, Any] | None
R = TypeVar("R", bound=Said | Awaitable[Said])

if TYPE_CHECKING:
    from hookline.engine.engine import Home
    from hookline.guards import Guard

    #: What a hook made in code does: a function of the payload (and the scene), sync or async, a shell command, or a
    #: guard by meaning.
    Action = (
        Callable[[P], Said | Awaitable[Said]] | Callable[[P, Scene], Said | Awaitable[Said]] | str | Guard
    )

#: What a failure means, by the names of the configuration or those of the engine.
OnFailure = Literal["open", "closed", "ask", "pass", "warn", "block"]
_REACTIONS: Mapping[str, Reaction] = {
    "open": "warn", "closed": "block", "ask": "ask", "pass": "pass", "warn": "warn", "block": "block",
}  # fmt: skip


class HookDecorator(Protocol[P]):
    """What `engine.on(EVENT)` returns: it takes a function of that event's payload, and gives it back."""

    @overload
    def __call__(self, function: Callable[[P], R], /) -> Callable[[P], R]: ...

    @overload
    def __call__(self, function: Callable[[P, Scene], R], /) -> Callable[[P, Scene], R]: ...


class HookOptions(TypedDict, total=False):
    """The options of `engine.on`, `engine.add` and `session.add`.

    ::

        def guard_tool(tool: str, **options: Unpack[HookOptions]) -> Hook:
            return engine.add(PRE_TOOL_USE, no_secrets, tool, **options)
    """

    #: A rule about the arguments, besides the matcher: `Bash(git push *)`.
    condition: str | None
    #: What counts where it cannot be told whether the hook is concerned: `match`, `ask` the user, or `pass`.
    in_doubt: InDoubt
    #: What it is called in messages and in the journal; without one the function's name.
    name: str | None
    #: Seconds that it may take.
    timeout: float
    #: `wait` for its answer, `async`: run it in the background, `rewake`: and wake the agent if it denies.
    waiting: Waiting
    #: If it is not waited for: once its event was accepted, run it to its end, after this process if need be.
    durable: bool
    #: `session`: of the durable hooks of a session that say so, run one after another.
    order: Order
    #: Run it once in a session.
    once: bool
    #: `enforce`, `shadow`: run it without effect, or `off`.
    mode: Mode
    #: What a failure means: `open`, `closed` or `ask`, for all failures or by cause: `{"timed_out": "open"}`.
    on_failure: OnFailure | Mapping[Cause, OnFailure] | None
    #: It rewrites what the event is about, so it runs before the hooks that judge.
    rewrites: bool
    #: It must run: if it may not, the call is blocked, and it cannot be switched off.
    required: bool
    #: What is shown while it runs.
    status_message: str | None


def check_hook(
    where: str,
    event: object,
    matcher: object,
    options: Mapping[str, Any],
    events: Mapping[str, EventSpec[Any]],
) -> None:
    """Raise TypeError for what makes no hook: no event, a matcher that is no text, an option that does not exist."""
    if not isinstance(event, EventSpec):
        from hookline.model.wrong_use import not_an_event  # noqa: PLC0415 only for a mistake

        raise not_an_event(event, events, where + "({})", decorates=where.endswith(".on"))
    if matcher is not None and not isinstance(matcher, str):
        raise TypeError(
            f"the matcher of {where} is a text such as 'Bash', not {type(matcher).__name__}: {matcher!r}"
        )
    if not options.keys() <= HookOptions.__annotations__.keys():
        from hookline.model.wrong_use import unknown_option  # noqa: PLC0415 only for a mistake

        raise unknown_option(where, options, ("matcher", *HookOptions.__annotations__))


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
    durable: bool = False,
    order: Order = "none",
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
        order=(order, get_args(Order)),
        mode=(mode, get_args(Mode)),
        in_doubt=(in_doubt, get_args(InDoubt)),
    )
    _refuse_timeout(timeout)
    if durable and waiting == "wait":
        raise ValueError("durable=True is for hooks that are not waited for: say waiting='async' or 'rewake'")
    matches, holds = home.match(event, matcher, condition)
    kind, spec, label = _made_of(action, event)
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
        durable=durable,
        order=order,
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


def _made_of(action: "Action[Any]", event: EventSpec[Any]) -> tuple[str, Any, str]:
    """The kind of hook that an action makes, its settings, and what it is called."""
    if isinstance(action, str):
        return _shell(action)
    return _function(action, event) if callable(action) else _guard(action, event)


def _guard(guard: object, event: EventSpec[Any]) -> tuple[str, Any, str]:
    from hookline.guards import Guard  # noqa: PLC0415 as below
    from hookline.handlers.specs import BuiltinSpec  # noqa: PLC0415 as below

    if not isinstance(guard, Guard):
        from hookline.model.wrong_use import not_an_action  # noqa: PLC0415 only for a mistake

        raise not_an_action(guard, event)
    return "builtin", BuiltinSpec(guard.name, guard.args), guard.name


def _shell(command: str) -> tuple[str, Any, str]:
    from hookline.handlers.command import CommandSpec  # noqa: PLC0415 a host of functions runs no processes

    return "command", CommandSpec(command=command), command


def _function(function: Callable[..., Any], event: EventSpec[Any]) -> tuple[str, Any, str]:
    from hookline.handlers.function import FunctionSpec  # noqa: PLC0415 a host of commands calls no functions

    spec = FunctionSpec(function)
    if spec.fault is not None:
        raise TypeError(f"this cannot be a hook of {event.name}: {spec.fault}")
    return "function", spec, getattr(function, "__qualname__", repr(function))
