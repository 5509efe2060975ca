"""Report hooks that failed to the program they run in: to its log, and to `on_hook_error` of its engine.

The model and the end user get a neutral sentence; only the program may see what a hook raised.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from hookline.handlers.failures import text_of
from hookline.model.policy import Cause
from hookline.model.raw import Failed
from hookline.model.run import Status

if TYPE_CHECKING:
    from hookline.config.engine import Engine
    from hookline.engine.prepared_hook import PreparedHook
    from hookline.model.session_info import SessionInfo

#: Statuses of hooks that gave no answer although they were to give one.
_REPORTED: frozenset[Status] = frozenset({"failed", "timed_out", "not_started"})


class HookError(Struct, frozen=True, kw_only=True):
    """A hook that gave no answer, as `on_hook_error` of an engine gets it.

    ::

        def report(error: HookError) -> None:
            sentry_sdk.capture_exception(error.exception)

        engine = Engine(on_hook_error=report)
    """

    #: The hook's name.
    hook: str
    #: Its event: `PreToolUse`.
    event: str
    cause: Cause
    #: A description without secrets.
    detail: str
    #: The exception that a function raised, with its traceback; its text may hold secrets.
    exception: BaseException | None = None
    session_id: str = ""


OnHookError = Callable[[HookError], None]


def _without_secrets(error: BaseException, redact: Callable[[str], str], left: int = 10) -> BaseException:
    """Return what a log shows of an exception: name, traceback and causes, with their texts, without secrets."""
    kind = type(error)
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    shown = cast("type[Exception]", type(kind.__name__, (Exception,), names))(redact(text_of(error)))
    for name in ("__cause__", "__context__"):
        other: BaseException | None = getattr(error, name)
        setattr(
            shown, name, _without_secrets(other, redact, left - 1) if other is not None and left else None
        )
    shown.__suppress_context__ = error.__suppress_context__
    for note in getattr(error, "__notes__", ()):
        shown.add_note(redact(str(note)))
    return shown.with_traceback(error.__traceback__)


def report_failure(
    engine: "Engine", prepared: "PreparedHook", info: "SessionInfo", status: Status, failure: Failed
) -> None:
    """Log a failure, and call `on_hook_error`. What that raises is logged, too."""
    if status not in _REPORTED:
        return
    hook, logger = prepared.hook, logging.getLogger("hookline")
    if not logger.handlers:  # without a handler Python would print to stderr, which agents read
        logger.addHandler(logging.NullHandler())
    error = HookError(
        hook=hook.name,
        event=hook.event.name,
        cause=failure.cause,
        detail=engine.journal.without_secrets(failure.logged or failure.detail),
        exception=failure.raised,
        session_id=info.session_id,
    )
    text = "hook %s of %s gave no answer (%s): %s"
    raised = (
        None if failure.raised is None else _without_secrets(failure.raised, engine.journal.without_secrets)
    )
    logger.error(text, error.hook, error.event, error.cause, error.detail, exc_info=raised)
    if engine.on_hook_error is not None:
        try:
            engine.on_hook_error(error)
        except Exception:
            logger.exception("on_hook_error failed")
