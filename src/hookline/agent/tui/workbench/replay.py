"""Fire an event of a session again, at the hooks as they are now, without a model and without the session."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.agent.hooks import EngineHooks, EventLog, FiredEvent
from hookline.config.engine import Engine
from hookline.config.journals import user_journal
from hookline.engine.judge import Skipped
from hookline.handlers.registry import Handlers
from hookline.model.events import EVENTS
from hookline.model.raw import RawResult

if TYPE_CHECKING:
    from hookline.handlers.registry import Handler
    from hookline.model.hook import Hook
    from hookline.model.wire import HookInvocation

#: The kinds of hooks that ask a model, which a replay does not.
_ASK_A_MODEL = ("prompt", "agent")
#: Seconds that processes of a replay have to end after it.
_LONGEST_END = 5.0


class NotReplayed:
    """A handler that runs nothing."""

    own_clock = False

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def begin(self, call: "HookInvocation") -> RawResult:
        del call
        return Skipped("cancelled", "not replayed: it asks a model")

    async def run(self, call: "HookInvocation") -> RawResult:
        return self.begin(call)

    def problem(self, spec: Any) -> str | None:
        del spec
        return None

    async def close(self) -> None:
        pass


def _every(hook: "Hook") -> bool:
    del hook
    return True


async def replay(
    engine: Engine, fired: FiredEvent, wanted: "Callable[[Hook], bool]" = _every
) -> tuple[Engine, FiredEvent]:
    """Fire it again at the `wanted` hooks, in a session of its own. Background hooks are waited for.

    The runs are in the journal, marked as those of `hookline fire` are: an agent did not make the call.
    """
    nothing: Mapping[str, Handler] = {kind: NotReplayed(kind) for kind in _ASK_A_MODEL}
    given = engine.handlers
    handlers = given | nothing if isinstance(given, Handlers) else {**given, **nothing}
    log = EventLog(keep=False)
    journal = user_journal(engine.env, caller=engine.journal.caller, origin="fire", subscribers=(log.ran,))
    try:
        own = Engine(
            handlers=handlers,
            events=[row for name, row in engine.events.items() if name not in EVENTS],
            journal=journal,
            admit=engine.admit,
            tools=engine.tools,
            env=engine.env,
            loader=engine.loader,
        )
        added = fired.session.hooks if fired.session is not None else ()
        own.swap([_alone(hook, engine) for hook in (*engine.hooks, *added) if wanted(hook)])
        session = own.session(fired.info.session_id)
        session.info = fired.info
        if fired.session is not None:
            session.tools, session.admit = fired.session.tools, fired.session.admit
        again = await log.dispatch(EngineHooks(session), engine.events[fired.event], fired.payload)
        await own.drain(_LONGEST_END)
        return own, again
    finally:
        journal.close()


def _alone(hook: "Hook", engine: Engine) -> "Hook":
    """Return a hook that is waited for, and runs however often it has run already."""
    return replace(hook, mode=engine.mode_of(hook), once=False, waiting="wait", durable=False)
