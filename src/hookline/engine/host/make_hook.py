"""Make a hook from a Python function or a command line, for hosts that configure in code."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypedDict, TypeVar, get_args, overload

from hookline.engine.host.misuse import never_holds
from hookline.model.events import Capability, EventSpec
from hookline.model.hook import (
    Condition,
    FollowedCalls,
    Hook,
    InDoubt,
    Matcher,
    Order,
    Scope,
    Waiting,
    withholds,
)
from hookline.model.outcome import Outcome
from hookline.model.policy import CAUSES, Cause, Policy, Reaction
from hookline.model.run import Mode
from hookline.model.session_info import SessionInfo
from hookline.model.wire import Wire

P = TypeVar("P")
#: A function's return value: an outcome, an answer as a command hook would print it, or nothing.
Said = Outcome | Mapping[str, Any] | None
R = TypeVar("R", bound=Said | Awaitable[Said])

if TYPE_CHECKING:
    from hookline.guards import Guard

    #: The action of a hook made in code: a function of the payload (and the session info), sync or async, a
    #: shell command, or a built-in guard.
    Action = (
        Callable[[P], Said | Awaitable[Said]]
        | Callable[[P, SessionInfo], Said | Awaitable[Said]]
        | str
        | Guard
    )

#: The reaction to a failure, by the names of the configuration or those of the engine.
OnFailure = Literal["open", "closed", "ask", "pass", "warn", "block"]
_REACTIONS: Mapping[str, Reaction] = {
    "open": "warn", "closed": "block", "ask": "ask", "pass": "pass", "warn": "warn", "block": "block",
}  # fmt: skip


class PythonDialect(Protocol):
    """The dialect of hooks made in Python."""

    @property
    def wire(self) -> Wire: ...

    def policy(self, event: EventSpec[Any]) -> Policy: ...

    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]: ...


class HookDecorator(Protocol[P]):
    """A decorator, returned by `engine.on(EVENT)`: it takes a function of that event's payload and returns it."""

    @overload
    def __call__(self, function: Callable[[P], R], /) -> Callable[[P], R]: ...

    @overload
    def __call__(self, function: Callable[[P, SessionInfo], R], /) -> Callable[[P, SessionInfo], R]: ...


class HookOptions(TypedDict, total=False):
    """The options of `engine.on`, `engine.add` and `session.add`.

    ::

        def guard_tool(tool: str, **options: Unpack[HookOptions]) -> Hook:
            return engine.add(PRE_TOOL_USE, no_secrets, tool, **options)
    """

    #: A rule about the arguments, besides the matcher: `Bash(git push *)`.
    condition: str | None
    #: The reaction when the match is uncertain: `match`, `ask` the user, or `pass`.
    in_doubt: InDoubt
    #: The calls that a hook about files is asked about: `all` that touch such a file, also by a shell line, or those of
    #: tools that are `named`.
    actions: FollowedCalls
    #: Its name in messages and in the journal; by default the function's name.
    name: str | None
    #: Seconds that it may take.
    timeout: float
    #: `wait` for its answer, `async`: run it in the background, `rewake`: and wake the agent if it denies.
    waiting: Waiting
    #: For a background hook: once its event was accepted, run it to its end, after this process if need be.
    durable: bool
    #: `session`: run a session's durable hooks that say so one after another.
    order: Order
    #: Run it once in a session.
    once: bool
    #: `enforce`, `shadow`: run it without effect, or `off`.
    mode: Mode
    #: The reaction to a failure: `open`, `closed` or `ask`, for all failures or by cause: `{"timed_out":
    #: "open"}`.
    on_failure: OnFailure | Mapping[Cause, OnFailure] | None
    #: It rewrites what the event is about, so it runs before the hooks that judge.
    rewrites: bool
    #: A plain function that neither waits nor computes for long: it runs on the event loop, not in a thread.
    quick: bool
    #: It must run: if it may not, the call is blocked, and it cannot be switched off.
    required: bool
    #: Shown while it runs.
    status_message: str | None


def check_hook(
    where: str,
    event: object,
    matcher: object,
    options: Mapping[str, Any],
    events: Mapping[str, EventSpec[Any]],
) -> None:
    """Raise TypeError for arguments that make no hook: not an event, a matcher that is not text, an unknown
    option."""
    if not isinstance(event, EventSpec):
        from hookline.engine.host.misuse import not_an_event  # noqa: PLC0415 only for a mistake

        raise not_an_event(event, events, where + "({})", decorates=where.endswith(".on"))
    if matcher is not None and not isinstance(matcher, str):
        raise TypeError(
            f"the matcher of {where} is a text such as 'Bash', not {type(matcher).__name__}: {matcher!r}"
        )
    if event.needs_matcher and not matcher:
        raise TypeError(
            f"{event.name} fires for every {event.subject}: give {where} a matcher such as 'git|npm'"
        )
    if not options.keys() <= HookOptions.__annotations__.keys():
        from hookline.engine.host.misuse import unknown_option  # noqa: PLC0415 only for a mistake

        raise unknown_option(where, options, ("matcher", *HookOptions.__annotations__))


def make_hook(
    home: PythonDialect,
    event: EventSpec[P],
    action: "Action[P]",
    matcher: str | None = None,
    *,
    condition: str | None = None,
    in_doubt: InDoubt = "match",
    actions: FollowedCalls = "all",
    name: str | None = None,
    timeout: float = 600.0,
    waiting: Waiting = "wait",
    durable: bool = False,
    order: Order = "none",
    once: bool = False,
    mode: Mode = "enforce",
    on_failure: OnFailure | Mapping[Cause, OnFailure] | None = None,
    rewrites: bool = False,
    quick: bool = False,
    required: bool = False,
    status_message: str | None = None,
    scope: Scope = "user",
) -> Hook:
    """Make one hook. A matcher or condition that cannot be parsed raises PatternError here, not later."""
    _refuse_unknown(
        waiting=(waiting, get_args(Waiting)),
        order=(order, get_args(Order)),
        mode=(mode, get_args(Mode)),
        in_doubt=(in_doubt, get_args(InDoubt)),
        actions=(actions, ("all", "named")),
    )
    _refuse_timeout(timeout)
    if durable and waiting == "wait":
        raise ValueError("durable=True is for hooks that are not waited for: say waiting='async' or 'rewake'")
    matches, holds = home.match(event, matcher, condition)
    kind, spec, label = _made_of(action, event, quick=quick)
    hook = Hook(
        name=name or label,
        event=event,
        policy=home.policy(event),
        wire=home.wire,
        kind=kind,
        spec=spec,
        matcher=matches,
        condition=holds,
        in_doubt=in_doubt,
        actions=actions,
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
    _refuse_impossible(hook)
    return hook


def _refuse_impossible(hook: Hook) -> None:
    """Refuse what could never have an effect at the hook's event: its author relies on it."""
    event, may = hook.event, hook.event.may & hook.policy.may
    if hook.matcher is not None and event.subject is None:
        raise never_holds(
            event, f"the matcher {hook.matcher.text!r}", "the event has no subject", "leave it out"
        )
    if hook.matcher is not None and event.subjects and not any(map(hook.matcher.matches, event.subjects)):
        known = f"{event.subject} is one of {', '.join(event.subjects)}"
        raise never_holds(event, f"the matcher {hook.matcher.text!r}", known, "choose one of them")
    if hook.kind == "builtin" and not (event.guard and event.subject == "tool_name"):
        raise never_holds(
            event, f"the guard {hook.name}", "it judges tool calls before they run", "add it to PRE_TOOL_USE"
        )
    if event.declared_only:
        text = "the hook %s waits for %s, which nothing in Hookline fires yet: only your own dispatch does"
        logging.getLogger("hookline").warning(text, hook.name, event.name)
    if hook.rewrites and not may & Capability.REWRITE:
        raise never_holds(event, "rewrites=True", "nothing is rewritten there", "leave it out")
    if hook.closes() and not (may & Capability.BLOCK or withholds(hook)):
        raise never_holds(event, "on_failure", "nothing can be stopped there", "leave it out")
    if hook.closes("ask") and not may & Capability.PERMIT:
        raise never_holds(event, "on_failure='ask'", "no user is asked there", "say 'closed'")


def _refuse_timeout(timeout: Any) -> None:
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0 < timeout < float("inf"):
        raise ValueError(f"timeout is {timeout!r}, not seconds above 0")


def _refuse_unknown(**options: tuple[str, tuple[str, ...]]) -> None:
    """Refuse unknown values: a typo must not silently switch a guard off."""
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


def _made_of(action: "Action[Any]", event: EventSpec[Any], *, quick: bool) -> tuple[str, Any, str]:
    """Return the kind of hook that an action makes, its settings, and its name."""
    if quick and not callable(action):
        raise ValueError("quick=True is for functions: a command is a process, and a guard is quick anyway")
    if isinstance(action, str):
        from hookline.handlers.command import CommandSpec  # noqa: PLC0415 a host of functions runs no processes

        return "command", CommandSpec(command=action), action
    return _function(action, event, quick=quick) if callable(action) else _guard(action, event)


def _guard(guard: object, event: EventSpec[Any]) -> tuple[str, Any, str]:
    from hookline.guards import Guard  # noqa: PLC0415 as below
    from hookline.handlers.specs import BuiltinSpec  # noqa: PLC0415 as below

    if not isinstance(guard, Guard):
        from hookline.engine.host.misuse import not_an_action  # noqa: PLC0415 only for a mistake

        raise not_an_action(guard, event)
    return "builtin", BuiltinSpec(guard.name, guard.args), guard.name


def _function(function: Callable[..., Any], event: EventSpec[Any], *, quick: bool) -> tuple[str, Any, str]:
    from hookline.handlers.function import FunctionSpec  # noqa: PLC0415 a host of commands calls no functions

    spec = FunctionSpec(function, quick=quick)
    if spec.fault is not None:
        raise TypeError(f"this cannot be a hook of {event.name}: {spec.fault}")
    return "function", spec, getattr(function, "__qualname__", repr(function))
