"""Leave out findings that are settled: those that `accept` lists of Hookline's own files cover, and known ones.

Known are those of a baseline, an earlier document of `hookline doctor --json`.
"""

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

import msgspec
from msgspec import Struct

from hookline.cli.requests import RequestError
from hookline.cli.text import relative_to, with_tilde
from hookline.config.engine import Engine
from hookline.config.load import Found, Loaded
from hookline.dialects.files import read_file
from hookline.dialects.registry import OWN_FORMAT
from hookline.documents.document import misshaped
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.hook import Scope
from hookline.model.safe_text import one_line
from hookline.trust.project import is_inside
from hookline.trust.trust import Trust, TrustOptions

_ACCEPT: Final = "accept"
_LONGEST_NAME: Final = 60
#: Scopes whose files may accept errors and findings of every file.
_OWN: Final[frozenset[Scope]] = frozenset(("user", "managed"))
_MOST_BYTES: Final = 20_000_000


class Acceptance(Struct, frozen=True):
    """An entry of an `accept` list."""

    finding: str
    where: Where
    scope: Scope

    def covers(self, one: Diagnostic, finding: str, scope_of: Mapping[str, Scope]) -> bool:
        """Return True if a finding is accepted. A project accepts its own findings, and no errors: its users
        decide on those.
        """
        if self.finding != finding:
            return False
        if self.scope in _OWN:
            return True
        file = one.where.file
        root = os.path.dirname(os.path.dirname(self.where.file))
        of_project = self.scope == "flag" or is_inside(os.path.abspath(file), root)
        return one.severity != "error" and of_project and scope_of.get(file) not in _OWN


def finding_id(one: Diagnostic, cwd: str, clean: Callable[[str], str]) -> str:
    """Return the kind of finding, and its hook; without a hook the file, as it is shown."""
    if one.hook is not None:
        return f"{one.code}:{one_line(clean(one.hook), _LONGEST_NAME)}"
    return f"{one.code}:{with_tilde(relative_to(cwd, one.where.file))}"


def accepted_findings(
    engine: Engine, args: argparse.Namespace, loaded: Loaded, cwd: str
) -> tuple[list[Acceptance], list[Diagnostic]]:
    """Return what the user's own files accept, and the project's files where the user has trusted them."""
    named = loaded.found if args.config is not None else ()
    trust = engine.trust or Trust(cwd, os.environ, TrustOptions())
    everything = args.config is None and args.dialect in (None, OWN_FORMAT)
    own = loaded if everything else engine.loader.directory(cwd, [OWN_FORMAT], trust=trust)
    refused = {item.where.file for item in own.loosening if not trust.allows(item)}
    found = [*named, *(each for each in own.found if not named or each.scope == "user")]
    return _acceptances(each for each in found if each.dialect == OWN_FORMAT and each.file not in refused)


def _acceptances(files: Iterable[Found]) -> tuple[list[Acceptance], list[Diagnostic]]:
    """Return the `accept` lists of these files, and their errors."""
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


def split_accepted(
    problems: Sequence[Diagnostic],
    accepted: Sequence[Acceptance],
    loaded: Loaded,
    finding: Callable[[Diagnostic], str],
) -> tuple[tuple[Diagnostic, ...], tuple[tuple[Diagnostic, Where], ...]]:
    """Return the findings that are left, and those that were accepted, each with the line that accepts it."""
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


class _Known(Struct, frozen=True):
    id: str
    file: str


class _Document(Struct, frozen=True):
    cwd: str
    problems: tuple[_Known, ...]


def without_known(
    problems: Sequence[Diagnostic], baseline: str, cwd: str, finding: Callable[[Diagnostic], str]
) -> tuple[tuple[Diagnostic, ...], int]:
    """Return the findings that the baseline does not have, and how many it has.

    A finding is known by its name and its file, not by its line: other lines of the file may change.
    """
    known = _baseline(baseline)
    left: list[Diagnostic] = []
    for one in problems:
        key = (finding(one), os.path.relpath(one.where.file or cwd, cwd))
        if known[key] > 0:
            known[key] -= 1
        else:
            left.append(one)
    return tuple(left), len(problems) - len(left)


def _baseline(file: str) -> Counter[tuple[str, str]]:
    made = "`hookline doctor --ci --json > FILE` makes one"
    try:
        with open(file, "rb") as stream:
            document = msgspec.json.decode(stream.read(_MOST_BYTES), type=_Document)
    except OSError as problem:
        raise RequestError(f"--baseline {file}: {problem.strerror}; {made}") from None
    except msgspec.DecodeError:
        raise RequestError(f"--baseline {file} is not a document of hookline doctor --json; {made}") from None
    return Counter(
        (each.id, os.path.relpath(each.file or document.cwd, document.cwd)) for each in document.problems
    )
