"""Every check of `doctor`, and everything found as one list.

`CHECKS` has the checks that read hooks. Two further ones need more than that, and `doctor` calls them itself: whether
the journal can be written and what failed lately (`checks.journal`), and whether an agent's own files call Hookline
(`cli.commands.doctor.calls`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.checks.answers import answers, judges
from hookline.checks.bundles import bundles
from hookline.checks.context import CheckContext, CheckFunction
from hookline.checks.files import misspelled_keys, unread_files, unsearched, untrusted, with_known_name
from hookline.checks.jobs import jobs
from hookline.checks.journal import payloads
from hookline.checks.matchers import dead_matchers
from hookline.checks.programs import unstartable
from hookline.checks.settings import (
    duplicates,
    fails_open,
    guards,
    modes_and_rewrites,
    needed_hosts,
    secrets,
    timeouts,
)
from hookline.checks.warm import cold_scripts
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic, Path, Severity
from hookline.model.events import PRE_TOOL_USE


class Check(Struct, frozen=True):
    """One kind of mistake."""

    #: Shown while doctor works.
    about: str
    find: CheckFunction
    #: False: skipped if files were given, because it inspects other files.
    of_given_files: bool = True


def of_dialects(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """What each dialect reports about its own hooks."""
    for name in dict.fromkeys(hook.dialect for hook in loaded.hooks):
        own = [hook for hook in loaded.hooks if hook.dialect == name]
        yield from context.loader.dialect(name).check(own)


#: A new check is one line here.
CHECKS: Final = (
    Check("programs", unstartable),
    Check("warm scripts", cold_scripts),
    Check("matchers", dead_matchers),
    Check("timeouts", timeouts),
    Check("duplicates", duplicates),
    Check("files that are not read", unread_files, of_given_files=False),
    Check("what is not looked for", unsearched, of_given_files=False),
    Check("misspelled keys", misspelled_keys),
    Check("answers", answers),
    Check("guards that fail open", fails_open),
    Check("guards by meaning", guards),
    Check("modes", modes_and_rewrites),
    Check("secrets", secrets),
    Check("what hooks need", needed_hosts),
    Check("agents", of_dialects),
    Check("trust", untrusted),
    Check("bundles", bundles, of_given_files=False),
    Check("jobs", jobs, of_given_files=False),
    Check("payloads", payloads, of_given_files=False),
)

#: Config readers report these as less severe, because the hook loads; but it never does what it is for.
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
_ORDER: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "info": 2}


def ranked(loaded: Loaded, found: Iterable[Diagnostic], context: CheckContext) -> tuple[Diagnostic, ...]:
    """Errors, warnings, information; each in the order of the files and their lines."""
    timeouts_of = {(hook.where.file, hook.where.path): hook.timeout for hook in loaded.hooks}
    files = {each.file: number for number, each in enumerate(loaded.found)}
    kept: dict[object, Diagnostic] = {}
    whose = {each.file: each.dialect for each in loaded.found}
    for each in found:
        if each.code == "async-guard" and not _may_guard(each, loaded, context):
            continue
        unknown = each.code == "unknown-event" and each.where.file in whose
        one = with_known_name(each, whose[each.where.file], context) if unknown else each
        graded = _with_severity(one, timeouts_of)
        same = (graded.where.file, graded.where.line, graded.code, graded.message)
        kept.setdefault(same, graded)

    def key(one: Diagnostic) -> tuple[int, int, str, int]:
        return (
            _ORDER[one.severity],
            files.get(one.where.file, len(files)),
            one.where.file,
            one.where.line or 0,
        )

    return tuple(sorted(kept.values(), key=key))


def _may_guard(one: Diagnostic, loaded: Loaded, context: CheckContext) -> bool:
    """Whether a hook may be a guard. A reader warns of each that is not waited for; one that only records is fine."""
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


def _with_severity(one: Diagnostic, timeouts_of: Mapping[tuple[str, Path], float]) -> Diagnostic:
    if one.code == "long-timeout":
        seconds = timeouts_of.get((one.where.file, one.where.path[:-1]), 0.0)
        meant = seconds >= _MILLISECONDS_MEANT and seconds % 1000 == 0
        return replace(one, severity="error", code="timeout-unit") if meant else one
    graded = _SEVERITIES.get(one.code)
    severity: Severity = one.severity if graded is None else graded
    return replace(one, severity=severity) if _ORDER[severity] < _ORDER[one.severity] else one
