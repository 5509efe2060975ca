"""Grade findings by the harm they do: the same problem has one severity in every command.

A reader knows whether an entry can be read. Only the hook's job decides how bad a mistake is: a matcher that never
matches can be read, and its guard never guards.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from hookline.checks.commands.answers import judges
from hookline.checks.files import with_known_name
from hookline.model.diagnostics import Diagnostic, Severity
from hookline.model.events import PRE_TOOL_USE

if TYPE_CHECKING:
    from hookline.checks.context import CheckContext
    from hookline.config.load import Loaded

#: The least severity of a kind of finding. Readers rank these lower, because the hook loads.
_SEVERITIES: Final[Mapping[str, Severity]] = {
    "dead-matcher": "error",
    "dead-condition": "error",
    "never-runs": "error",
    "bad-pattern": "error",
    "timeout-unit": "error",
    "url-not-allowed": "error",
    "unread-matcher": "warning",
    "disabled": "warning",
    "off-in-its-agent": "warning",
    "not-in-force": "warning",
}
#: Seconds: a whole number of thousands from here on was meant as milliseconds.
_MILLISECONDS_MEANT: Final = 5000
ORDER: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


def graded(found: Iterable[Diagnostic], loaded: "Loaded", context: "CheckContext") -> Iterator[Diagnostic]:
    """Yield findings with their severities, and unknown events with the names that were meant."""
    timeouts_of = {(hook.where.file, hook.where.path): hook.timeout for hook in loaded.hooks}
    # Of a file that several agents read, the first one has read the hooks.
    whose = {each.file: each.dialect for each in reversed(loaded.found)}
    for one in found:
        if one.code == "async-guard" and not _may_guard(one, loaded, context):
            continue
        if one.code == "unknown-event" and one.where.file in whose:
            yield with_known_name(one, whose[one.where.file], context)
        elif one.code == "long-timeout":
            seconds = timeouts_of.get((one.where.file, one.where.path[:-1]), 0.0)
            meant = seconds >= _MILLISECONDS_MEANT and seconds % 1000 == 0
            yield replace(one, severity="error", code="timeout-unit") if meant else one
        else:
            least = _SEVERITIES.get(one.code)
            lower = least is not None and ORDER[least] < ORDER[one.severity]
            yield replace(one, severity=least) if lower else one


def _may_guard(one: Diagnostic, loaded: "Loaded", context: "CheckContext") -> bool:
    """Return True if a hook may be a guard. A reader warns of every background hook; one that only records is fine."""
    of_entry = (
        hook
        for hook in loaded.hooks
        if hook.where.file == one.where.file and hook.where.path == one.where.path[: len(hook.where.path)]
    )
    hook = next(of_entry, None)
    if hook is None:
        return True
    judging = judges(replace(hook, waiting="wait"), context)
    return judging is True or (judging is None and hook.event is PRE_TOOL_USE)
