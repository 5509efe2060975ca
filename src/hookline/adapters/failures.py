"""Report runs that end with an error to hooks, with the kind of failure."""

from asyncio import CancelledError

from hookline.engine.session import Session

_STATUSES = {401: "auth_failed", 402: "billing", 403: "auth_failed", 413: "max_tokens", 429: "rate_limit"}
#: Words in the names of errors, for those without an HTTP status.
_NAMES = {
    "ratelimit": "rate_limit",
    "throttled": "rate_limit",
    "maxtokens": "max_tokens",
    "quota": "billing",
    "auth": "auth_failed",
    "permission": "auth_failed",
    "contextwindow": "max_tokens",
    "overloaded": "server",
    "unavailable": "server",
    "server": "server",
    "connection": "server",
    "timeout": "server",
}


def failure_kind(error: BaseException) -> str:
    """Return one of `ERROR_TYPES`, by the HTTP status that the error or its cause carries, or by its name."""
    kind = _kind(error)
    while kind == "unknown" and error.__cause__ is not None:
        error = error.__cause__
        kind = _kind(error)
    return kind


def _kind(error: BaseException) -> str:
    status = getattr(error, "status_code", None)
    if status is None:  # the client of Gemini calls it so
        status = getattr(error, "code", None)
    if isinstance(status, int):
        return _STATUSES.get(status, "server" if status >= 500 or status == 408 else "unknown")
    name = type(error).__name__.lower()
    return next((kind for word, kind in _NAMES.items() if word in name), "unknown")


async def tell_failure(session: Session, error: BaseException) -> None:
    """Fire Error and StopFailure; the turn of a run that was cancelled is settled. With a closed engine do nothing."""
    if session.engine.closed:
        return
    if isinstance(error, Exception):
        await session.failed(error, failure_kind(error))
    elif isinstance(error, CancelledError | GeneratorExit | KeyboardInterrupt):
        await session.cancelled()
