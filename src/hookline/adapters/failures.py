"""Runs that end by an error: hooks are told what kind of failure it is."""

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
    """One of `ERROR_TYPES`, by the HTTP status that the error carries, or by its name."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _STATUSES.get(status, "server" if status >= 500 or status == 408 else "unknown")
    name = type(error).__name__.lower()
    return next((kind for word, kind in _NAMES.items() if word in name), "unknown")


async def tell_failure(session: Session, error: BaseException) -> None:
    """Error and StopFailure, unless the run was cancelled or the engine is closed."""
    if not isinstance(error, CancelledError) and not session.engine.closed:
        await session.failed(error, failure_kind(error))
