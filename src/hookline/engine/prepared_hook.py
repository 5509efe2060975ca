"""Prepare a hook for its runs: everything that stays the same between two of them, computed once."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.actions.kinds import KIND_OF
from hookline.handlers.registry import Handler
from hookline.model.events import Capability
from hookline.model.hook import Hook
from hookline.model.raw import Failed, RawResult
from hookline.model.run import Mode
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    from hookline.engine.session import Session
    from hookline.engine.translate_calls import TranslatedCall

Begin = Callable[[HookInvocation], RawResult | Coroutine[Any, Any, RawResult]]

#: The payload field that says which tool is called.
TOOL_NAME = "tool_name"
#: Tools that rules about edits mean as well; only programs have them, no agent, so they serve hooks of any
#: agent.
_EDITS = frozenset(("MultiEdit", "NotebookEdit"))
_ONLY_OURS = frozenset(("Delete", "Move"))
#: For canonical tools that agents have: the argument with the action, and other keys it may be under.
_MAIN_KEYS = {name: (kind.needs, kind.other_keys) for name, kind in KIND_OF.items() if name not in _ONLY_OURS}
_PLAIN_KEYS = {name: keys for name, keys in _MAIN_KEYS.items() if name not in _EDITS}


class PreparedHook:
    """A hook with everything that stays the same between two runs, computed once."""

    __slots__ = (
        "_knows_tools",
        "_source",
        "_standard_tools",
        "begin",
        "can_block",
        "decode",
        "doubt",
        "followed",
        "handler",
        "hook",
        "in_process",
        "key",
        "may",
        "may_bits",
    )

    def __init__(self, hook: Hook, handler: Handler | None) -> None:
        self.hook = hook
        self.decode = hook.wire.decode
        self.run_by(handler)
        self.may = hook.event.may & hook.policy.may
        if hook.waiting == "rewake":
            # The agent does not wait for it, so its block stops nothing: it wakes the agent, at any event.
            self.may |= Capability.BLOCK
        # Computed here because the arithmetic of enum.Flag costs a microsecond a time.
        self.may_bits: int = self.may.value
        self.can_block = bool(self.may & Capability.BLOCK)
        #: The key that `once` uses: a reloaded config keeps its marks. A hook without an identity is its own
        #: key; its address is not used, because the next hook may get it.
        self.key: object = (hook.event.name, hook.identity if hook.identity is not None else hook)
        #: True if tool calls may have other names for its agent; `_standard_tools` is True if the agent has
        #: canonical ones.
        self._knows_tools = hook.event.subject == TOOL_NAME and hasattr(hook.wire, "standard_tools")
        self._standard_tools: bool = getattr(hook.wire, "standard_tools", False)
        self._source: str | None = None
        #: Why the match is uncertain, if it is.
        self.doubt = ""
        #: The actions it is asked about, if those match it and the call itself does not.
        self.followed: TranslatedCall | None = None

    def run_by(self, handler: Handler | None) -> None:
        """Run it with this handler from now on."""
        self.handler = handler
        #: It is a function, which could change its input.
        self.in_process = self.hook.kind == "function"
        #: Begins a run: returns the result, or the rest, to be awaited.
        self.begin = begin_by(handler)

    def marked_in_doubt(self, doubt: str) -> "PreparedHook | None":
        """Return the same hook marked as matching in doubt; None if it ignores such matches."""
        if self.hook.in_doubt == "pass":
            return None
        doubted = PreparedHook(self.hook, self.handler)
        doubted.key, doubted.doubt = self.key, doubt
        return doubted

    def asked_about(self, followed: "TranslatedCall") -> "PreparedHook":
        """Return the same hook, to be asked about these actions of a call that it does not match."""
        asked = PreparedHook(self.hook, self.handler)
        asked.key, asked.followed = self.key, followed
        return asked

    def in_mode(self, mode: Mode) -> "PreparedHook":
        if mode == self.hook.mode:
            return self
        other = PreparedHook(replace(self.hook, mode=mode), self.handler)
        other.key = self.key
        return other

    def waited_for(self) -> "PreparedHook":
        """Return the same hook, waited for instead of run in the background."""
        waited = PreparedHook(replace(self.hook, waiting="wait"), self.handler)
        waited.key, waited.doubt, waited.followed = self.key, self.doubt, self.followed
        return waited

    def marked_broken(self, why: str) -> "PreparedHook":
        """Return the same hook with a reason why it cannot run: it fails not_started under its policy."""
        broken = PreparedHook(replace(self.hook, broken=why), self.handler)
        broken.key = self.key
        return broken

    def is_unchanged(self, payload: Any, session: "Session") -> bool:
        """Return True if its agent would make the call as it was made. Most calls are such."""
        if not self._knows_tools:
            return True
        if session.tools is None and self._standard_tools and not session.engine.tools:
            try:
                main, others = _PLAIN_KEYS[payload.tool_name]
                if type(payload.tool_input[main]) is str and others.isdisjoint(payload.tool_input):
                    return True
            except (AttributeError, LookupError, TypeError):
                pass  # not such a call: check in full
        return self._is_unchanged(payload, session)

    def _is_unchanged(self, payload: Any, session: "Session") -> bool:
        if session.tools is not None:
            return session.tools is getattr(self.hook.wire, "tools", None)
        name = getattr(payload, TOOL_NAME, None)
        if not isinstance(name, str):
            return True
        keys = _MAIN_KEYS.get(name) if self._standard_tools else None
        if keys is None or name in session.engine.tools or (name in _EDITS and self._is_canonical):
            return False
        # A program may give a tool of a canonical name other arguments.
        given: Any = payload.tool_input
        main, others = keys
        return not given or not main or (_is_text(given, main) and others.isdisjoint(given))

    @property
    def _is_canonical(self) -> bool:
        return getattr(self.hook.wire, "tools").canonical  # noqa: B009 wires of hosts need not have one

    @property
    def source(self) -> str:
        """file:line, computed at most once."""
        if self._source is None:
            self._source = str(self.hook.where)
        return self._source


def begin_by(handler: Handler | None) -> Begin:
    """Return the function that begins a run with this handler."""
    return getattr(handler, "begin", None) or partial(_begin, handler)


def _begin(handler: Handler | None, call: HookInvocation) -> RawResult | Coroutine[Any, Any, RawResult]:
    """Begin a run of a handler without `begin`: what ends in its first step needs no timer."""
    if handler is None:
        return Failed("not_started", f"no handler for type {call.hook.kind!r}")
    running = handler.run(call)
    if handler.own_clock:
        return running
    from contextvars import copy_context  # noqa: PLC0415 functions and builtins need none

    context = copy_context()
    try:
        waits_for = context.run(running.send, None)
    except StopIteration as stop:
        return stop.value
    from hookline.handlers.deadline import Rest  # noqa: PLC0415 builtins never wait

    return Rest(running, waits_for, context, call.started).within(call.timeout)


def _is_text(arguments: Any, name: str) -> bool:
    try:
        return type(arguments[name]) is str
    except (LookupError, TypeError):  # no such argument, or not an object at all
        return False


def prepare(hooks: Iterable[Hook], handlers: Mapping[str, Handler | None]) -> list[PreparedHook]:
    return [PreparedHook(hook, handlers.get(hook.kind)) for hook in hooks]
