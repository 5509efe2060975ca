"""Register every check of `doctor`, and collect all findings as one list.

`CHECKS` has the checks that read hooks. `doctor` calls two further ones itself, which need more than that:
the journal's state and recent failures (`checks.journal`), and the agents' own files that call Hookline
(`cli.commands.doctor.calls`).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from hookline.checks.bundles import bundles
from hookline.checks.commands.answers import answers
from hookline.checks.commands.programs import unstartable
from hookline.checks.commands.shell_detours import shell_detours
from hookline.checks.commands.warm import cold_scripts
from hookline.checks.context import CheckContext, CheckFunction
from hookline.checks.files import misspelled_keys, unread_agents, unread_files, unsearched, untrusted
from hookline.checks.jobs import jobs
from hookline.checks.journal import payloads
from hookline.checks.matchers import dead_matchers
from hookline.checks.settings import (
    duplicates,
    fails_open,
    guards,
    modes_and_rewrites,
    needed_hosts,
    secrets,
    timeouts,
)
from hookline.checks.severity import ORDER, graded
from hookline.checks.surroundings import relative_paths, unset_variables
from hookline.checks.switches import overrulers, switches
from hookline.config.load import Loaded
from hookline.model.diagnostics import Diagnostic


class Check(Struct, frozen=True):
    """Check for one kind of mistake."""

    #: Shown while doctor works.
    about: str
    find: CheckFunction
    #: False: skipped if files were given, because it inspects other files.
    of_given_files: bool = True
    #: True: skipped in CI, because it inspects this machine.
    of_machine: bool = False


def of_dialects(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report what each dialect finds in its own hooks."""
    for name in dict.fromkeys(hook.dialect for hook in loaded.hooks):
        own = [hook for hook in loaded.hooks if hook.dialect == name]
        yield from context.loader.dialect(name).check(own)


#: A new check is one line here.
CHECKS: Final = (
    Check("programs", unstartable),
    Check("warm scripts", cold_scripts, of_machine=True),
    Check("matchers", dead_matchers),
    Check("timeouts", timeouts),
    Check("duplicates", duplicates),
    Check("files that are not read", unread_files, of_given_files=False),
    Check("files that are not searched for", unsearched, of_given_files=False),
    Check("agents that are not read", unread_agents, of_given_files=False),
    Check("misspelled keys", misspelled_keys),
    Check("relative paths", relative_paths),
    Check("variables", unset_variables),
    Check("guards that the shell goes around", shell_detours),
    Check("answers", answers),
    Check("guards that fail open", fails_open),
    Check("built-in guards", guards),
    Check("modes", modes_and_rewrites),
    Check("secrets", secrets),
    Check("needs of hooks", needed_hosts),
    Check("agents", of_dialects),
    Check("switches", switches, of_given_files=False),
    Check("mods", overrulers, of_given_files=False),
    Check("trust", untrusted, of_machine=True),
    Check("bundles", bundles, of_given_files=False, of_machine=True),
    Check("jobs", jobs, of_given_files=False, of_machine=True),
    Check("payloads", payloads, of_given_files=False, of_machine=True),
)


def ranked(loaded: Loaded, found: Iterable[Diagnostic], context: CheckContext) -> tuple[Diagnostic, ...]:
    """Sort findings: errors, warnings, notes; each by file and line."""
    files = {each.file: number for number, each in enumerate(loaded.found)}
    kept: dict[object, Diagnostic] = {}
    for one in graded(found, loaded, context):
        kept.setdefault((one.where.file, one.where.line, one.code, one.message, one.repair), one)

    def key(one: Diagnostic) -> tuple[int, int, str, int]:
        return (
            ORDER[one.severity],
            files.get(one.where.file, len(files)),
            one.where.file,
            one.where.line or 0,
        )

    return tuple(sorted(kept.values(), key=key))
