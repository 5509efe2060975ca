"""Every check that `doctor` makes, and what was found as one list: nothing twice, each as grave as it is."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.checks.answers import answers
from hookline.checks.context import CheckContext, CheckFunction
from hookline.checks.event_names import with_names
from hookline.checks.files import misspelled, trust, unread_files
from hookline.checks.matchers import impossible
from hookline.checks.programs import startable
from hookline.checks.settings import fails_open, needs, powers, secrets, twice, units
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic, Path, Severity


class Check(Struct, frozen=True):
    """One kind of mistake."""

    #: What somebody who waits is told that doctor looks at.
    about: str
    find: CheckFunction
    #: False: not where only given files are looked at.
    of_given_files: bool = True


def of_dialects(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """What each dialect has to say about its own hooks."""
    for name in dict.fromkeys(hook.dialect for hook in loaded.hooks):
        own = [hook for hook in loaded.hooks if hook.dialect == name]
        yield from context.loader.dialect(name).check(own)


#: A new check is one line here.
CHECKS: Final = (
    Check("programs", startable),
    Check("conditions", impossible),
    Check("timeouts", units),
    Check("copies", twice),
    Check("files that are not read", unread_files, of_given_files=False),
    Check("misspelled keys", misspelled),
    Check("answers", answers),
    Check("failing guards", fails_open),
    Check("powers", powers),
    Check("secrets", secrets),
    Check("what hooks need", needs),
    Check("agents", of_dialects),
    Check("trust", trust),
)

#: A reader that still makes a hook calls these milder than they are: the hook never does what it is there for.
_GRAVER: Final[Mapping[str, Severity]] = {
    "dead-matcher": "error",
    "star-matcher": "error",
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
#: Seconds: a whole number of thousands from here on is milliseconds that somebody brought along.
_MILLISECONDS_MEANT: Final = 5000
_ORDER: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


def ranked(loaded: Loaded, found: Iterable[Diagnostic], context: CheckContext) -> tuple[Diagnostic, ...]:
    """Errors, then warnings, then facts; each in the order of the files and their lines."""
    patience = {(hook.where.file, hook.where.path): hook.timeout for hook in loaded.hooks}
    files = {each.file: number for number, each in enumerate(loaded.found)}
    kept: dict[object, Diagnostic] = {}
    for one in with_names(found, loaded, context):
        graver = _as_grave_as_it_is(one, patience)
        same = (graver.where.file, graver.where.line, graver.code, graver.message)
        kept.setdefault(same, graver)

    def key(one: Diagnostic) -> tuple[int, int, str, int]:
        return (
            _ORDER[one.severity],
            files.get(one.where.file, len(files)),
            one.where.file,
            one.where.line or 0,
        )

    return tuple(sorted(kept.values(), key=key))


def _as_grave_as_it_is(one: Diagnostic, patience: Mapping[tuple[str, Path], float]) -> Diagnostic:
    if one.code == "long-timeout":
        seconds = patience.get((one.where.file, one.where.path[:-1]), 0.0)
        meant = seconds >= _MILLISECONDS_MEANT and seconds % 1000 == 0
        return replace(one, severity="error", code="timeout-unit") if meant else one
    graver = _GRAVER.get(one.code)
    severity: Severity = one.severity if graver is None else graver
    return replace(one, severity=severity) if _ORDER[severity] < _ORDER[one.severity] else one
