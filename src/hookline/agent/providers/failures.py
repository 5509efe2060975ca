"""What a provider's failure is called in StopFailure, and the sentence that tells of it."""

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic_ai import exceptions as x

from hookline.agent.modelport import ModelError
from hookline.agent.providers.choosing import Target
from hookline.agent.providers.plain import sendable
from hookline.model.safetext import one_line

#: The first row that fits. An error with a status that no row names goes by the status.
_KINDS: Final[tuple[tuple[type[Exception], str], ...]] = (
    (x.ModelQuotaExceededError, "billing"),
    (x.ModelContextWindowExceededError, "max_tokens"),
    (x.ModelAuthenticationError, "auth_failed"),
    (x.ModelRateLimitError, "rate_limit"),
    (x.ModelUnavailableError, "server"),
    (x.ModelServerError, "server"),
    (x.ModelConnectionError, "server"),
    (x.ModelRequestTimeout, "server"),
    (x.IncompleteToolCall, "max_tokens"),
    (x.ContentFilterError, "unknown"),
)
_STATUSES: Final[Mapping[int, str]] = {
    401: "auth_failed", 402: "billing", 403: "auth_failed", 408: "server", 413: "max_tokens", 429: "rate_limit",
}  # fmt: skip
_LONGEST: Final = 600
_SHORTEST_KEY: Final = 8


def model_error(problem: Exception, target: Target) -> ModelError:
    """The error as the agent knows errors. What cannot be understood came from the server's side."""
    if isinstance(problem, ModelError):
        return problem
    kind = _kind(problem)
    said = _without_key(_told(problem, target), target)
    return ModelError(kind, one_line(said + _hint(kind, problem, target), _LONGEST))


def _kind(problem: Exception) -> str:
    for known, kind in _KINDS:
        if isinstance(problem, known):
            return kind
    if isinstance(problem, x.ModelHTTPError):
        status = problem.status_code
        return _STATUSES.get(status, "server" if status >= 500 else "unknown")
    return "unknown" if isinstance(problem, x.UserError) else "server"


def _told(problem: Exception, target: Target) -> str:
    who = f"{target.provider}:{target.model}"
    if isinstance(problem, x.ModelHTTPError):
        words = _words(problem.body)
        return f"{who} answered HTTP {problem.status_code}" + (f": {words}" if words else "")
    if isinstance(problem, x.ModelConnectionError):
        return f"{who} at {target.base_url} cannot be reached or broke off: {problem.message}"
    if isinstance(problem, x.ModelAPIError):
        return f"{who} gave no answer that can be read: {problem.message}"
    return f"{who} gave no answer that can be read: {type(problem).__name__}: {problem}"


def _words(body: object) -> str:
    """The message in an error body, whichever way it is wrapped."""
    for _ in range(3):
        if not isinstance(body, dict):
            break
        fields = cast("dict[str, Any]", body)
        body = fields.get("error") or fields.get("message") or ""
    return sendable(str(body)) if body else ""


def _hint(kind: str, problem: Exception, target: Target) -> str:
    if kind == "auth_failed":
        return f" (check {' or '.join(target.row.key_variables)})"
    wait = getattr(problem, "retry_after", None) if kind in {"rate_limit", "server"} else None
    return f" (it asks to wait {wait:.0f} s)" if isinstance(wait, int | float) else ""


def _without_key(text: str, target: Target) -> str:
    """A server may quote what it was sent."""
    key = target.api_key
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_KEY else text
