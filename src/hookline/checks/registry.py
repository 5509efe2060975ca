"""Every check of `doctor`, everything found as one list, and what of it the user has accepted.

`CHECKS` has the checks that read hooks. Two further ones need more than that, and `doctor` calls them itself: whether
the journal can be written and what failed lately (`checks.journal`), and whether an agent's own files call Hookline
(`cli.commands.doctor.calls`).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.checks.answers import answers, judges
from hookline.checks.context import CheckContext, CheckFunction
from hookline.checks.files import misspelled_keys, unread_files, unsearched, untrusted, with_known_name
from hookline.checks.matchers import dead_matchers
from hookline.checks.programs import unstartable
from hookline.checks.settings import (
    duplicates,
    fails_open,
    modes_and_rewrites,
    needed_hosts,
    secrets,
    timeouts,
)
from hookline.config.files import read_file
from hookline.config.load import Found, Loaded
from hookline.config.project import is_inside
from hookline.documents.document import misshaped
from hookline.model.diagnostics import Diagnostic, Path, Severity, Where
from hookline.model.events import PRE_TOOL_USE
from hookline.model.hook import Scope
from hookline.model.safe_text import one_line


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
    Check("matchers", dead_matchers),
    Check("timeouts", timeouts),
    Check("duplicates", duplicates),
    Check("files that are not read", unread_files, of_given_files=False),
    Check("what is not looked for", unsearched, of_given_files=False),
    Check("misspelled keys", misspelled_keys),
    Check("answers", answers),
    Check("guards that fail open", fails_open),
    Check("modes", modes_and_rewrites),
    Check("secrets", secrets),
    Check("what hooks need", needed_hosts),
    Check("agents", of_dialects),
    Check("trust", untrusted),
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


# Findings that somebody has accepted

_ACCEPT: Final = "accept"
_LONGEST_NAME: Final = 60
#: Files by which the user, or the administrator for them, may accept errors and findings of every file.
_OWN: Final[frozenset[Scope]] = frozenset(("user", "managed"))


class Acceptance(Struct, frozen=True):
    """An entry of an `accept` list."""

    finding: str
    where: Where
    scope: Scope

    def covers(self, one: Diagnostic, finding: str, scope_of: Mapping[str, Scope]) -> bool:
        """A project accepts for itself, and no errors: whether hooks of its users run is not for it to say."""
        if self.finding != finding:
            return False
        if self.scope in _OWN:
            return True
        file = one.where.file
        root = os.path.dirname(os.path.dirname(self.where.file))
        of_project = self.scope == "flag" or is_inside(os.path.abspath(file), root)
        return one.severity != "error" and of_project and scope_of.get(file) not in _OWN


def finding_id(one: Diagnostic, cwd: str, clean: Callable[[str], str]) -> str:
    """The kind of finding, and the hook it is about; without a hook the file, as it is shown."""
    if one.hook is not None:
        return f"{one.code}:{one_line(clean(one.hook), _LONGEST_NAME)}"
    home = os.environ.get("HOME", "").rstrip("/")
    file = one.where.file.removeprefix(f"{cwd.rstrip('/')}/")
    return f"{one.code}:{f'~{file[len(home) :]}' if home and file.startswith(f'{home}/') else file}"


def acceptances(files: Iterable[Found]) -> tuple[list[Acceptance], list[Diagnostic]]:
    """The `accept` lists of these files, and what is wrong with them."""
    accepted: list[Acceptance] = []
    wrong: list[Diagnostic] = []
    for found in files:
        document = read_file(found.file)
        value: Any = document.value
        given: Any = cast("Mapping[str, Any]", value).get(_ACCEPT) if isinstance(value, Mapping) else None
        instead = misshaped(given, "a list of texts") if given is not None else None
        if instead is not None:
            message = f"{_ACCEPT} is {instead}, so nothing is accepted"
            fix = f'{_ACCEPT} = ["code:name"]'
            wrong.append(Diagnostic("warning", "wrong-type", message, document.where(_ACCEPT), fix=fix))
            continue
        for index, text in enumerate(cast("list[str]", given or [])):
            where = document.where(_ACCEPT, index)
            accepted.append(Acceptance(text, where, found.scope))
            if ":" not in text:
                message = f"{_ACCEPT} has {text!r}, which names no finding"
                fix = "write the kind of finding, a colon, and the name of the hook, as doctor shows them"
                wrong.append(Diagnostic("warning", "accepts-nothing", message, where, fix=fix))
    return accepted, wrong


def sorted_out(
    problems: Sequence[Diagnostic],
    accepted: Sequence[Acceptance],
    loaded: Loaded,
    finding: Callable[[Diagnostic], str],
) -> tuple[tuple[Diagnostic, ...], tuple[tuple[Diagnostic, Where], ...]]:
    """The findings that are left, and those that somebody has accepted, each with the place that says so."""
    if not accepted:
        return tuple(problems), ()
    scope_of: dict[str, Scope] = {found.file: found.scope for found in loaded.found}
    left: list[Diagnostic] = []
    settled: list[tuple[Diagnostic, Where]] = []
    for one in problems:
        by = next((each for each in accepted if each.covers(one, finding(one), scope_of)), None)
        if by is None:
            left.append(one)
        else:
            settled.append((one, by.where))
    return tuple(left), tuple(settled)
