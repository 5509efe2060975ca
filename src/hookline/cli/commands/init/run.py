"""Write a first guard, show what it says to two commands, and write a first test of it."""

import argparse
import errno
import os
import secrets
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.cli.engines import working_directory
from hookline.cli.output import ExitStatus, note, paint, show
from hookline.cli.requests import RequestError
from hookline.cli.text import columns, json_lines, paragraph, terminal_width
from hookline.config.engine import Engine
from hookline.dialects.dialect import SUFFIXES, user_directory
from hookline.dialects.registry import OWN_FORMAT
from hookline.model.events import PRE_TOOL_USE
from hookline.model.payloads import ToolCall
from hookline.model.safe_text import one_line, printable
from hookline.trust.store import StoreError

GUARD = """\
# `hookline events` lists the moments a hook can react to.

[[hooks.PreToolUse]]                 # before a tool runs ...

[[hooks.PreToolUse.hooks]]
name = "no force push"
type = "builtin"                     # ... a guard that comes with Hookline looks at what the call does
command = "force-push"               # others: delete-recursive, secrets-read, write-outside-project, pipe-to-shell, ...
# args = ["ask"]                     # ask you instead of denying
"""

#: One that it must deny, one that it must not.
_DENIED, _ALLOWED = "cd app && git push -uf", "git push"

#: Where pytest and people look for it.
_TEST_FILE = os.path.join("tests", "test_hooks.py")

_ABOUT_TESTS = f'"""What the hooks of this project say. Run it with: python -m pytest {_TEST_FILE}"""\n'

FIRST_TEST = f'''\
{_ABOUT_TESTS}

def test_force_pushes_are_denied(hooks):
    hooks.load(".")
    said = hooks.tool("Bash", command="{_DENIED}")
    assert said.denied
    assert said.ran == ["no force push"]


def test_other_pushes_go_on(hooks):
    hooks.load(".")
    assert hooks.tool("Bash", command="{_ALLOWED}").allowed
'''

#: For hooks that were there before, of which nothing is known.
OTHER_TEST = f"""\
{_ABOUT_TESTS}

def test_the_hooks_load(hooks):
    hooks.load(".")  # a mistake in the file fails the test and is shown with its line


# def test_what_they_deny(hooks):
#     hooks.load(".")
#     said = hooks.tool("Bash", command="rm -rf build")
#     assert said.denied == "the reason your hook gives"
"""

_NEXT_STEPS = """\
  hookline fire PreToolUse Bash command='git push --force'  ask it yourself
  hookline doctor                                           are all your hooks alive?
  hookline install                                          let your agents ask it too"""
_RUN_TESTS = f"""\
  python -m pytest {_TEST_FILE}                      run the tests; pytest and hookline in one environment"""


class ShownCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """One command the new guard was asked about."""

    command: str
    blocked: bool
    hook: str | None = None
    reason: str | None = None


class WrittenFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file with a first guard, or a first test."""

    #: The file that was written, or the one that is there already.
    file: str
    written: bool
    #: What the file says now.
    text: str


class InitDocument(WrittenFile, frozen=True, forbid_unknown_fields=True):
    #: What the guard said when it was tried; empty when nothing was written.
    shown: tuple[ShownCommand, ...] = ()
    #: Whether it runs in this directory: `disable` in the user's own file may switch it off.
    in_force: bool = False
    #: Why nothing was written, or what the guard did not do.
    problem: str | None = None
    #: With --tests.
    tests: WrittenFile | None = None

    def as_json(self) -> str:
        return json_lines(self)

    def as_text(self, width: int) -> str:
        return "\n".join(_lines(self, width))


async def run(args: argparse.Namespace) -> ExitStatus:
    if args.tests and args.user:
        raise RequestError("tests are written for a project: leave out --user or --tests")
    document = await first_guard(args.cwd, user=args.user)
    if args.tests:
        document = _with_tests(document, working_directory(args.cwd))
    shown = show(document.as_json() if args.json else document.as_text(terminal_width()), as_json=args.json)
    if document.problem is not None:
        note(printable(f"hookline init: {document.problem}"))
        return ExitStatus.PROBLEM
    return shown


async def first_guard(cwd: str | None, *, user: bool) -> InitDocument:
    """Write the guard and try it. That the file exists, or the guard does not work, is part of the result."""
    project = working_directory(cwd)
    folder = _folder(project, user=user)
    existing = _existing_file(folder)
    if existing is not None:
        return _refused(existing)
    file = os.path.join(folder, "hooks.toml")
    try:
        write_new(file, GUARD)
    except FileExistsError:
        return _refused(file)
    except OSError as problem:
        raise RequestError(f"cannot write {file}: {problem.strerror}") from None
    shown = await _tried(file)
    return InitDocument(
        file,
        written=True,
        text=GUARD,
        shown=shown,
        in_force=_is_in_force(file, project),
        problem=_fault(shown) or _untrusted(file, project),
    )


def _refused(file: str) -> InitDocument:
    problem = f"{file} already exists; add to it, or move it away and run `hookline init` again"
    return InitDocument(file, written=False, text=_text(file), problem=problem)


def _with_tests(document: InitDocument, project: str) -> InitDocument:
    """Write the test beside the guard. Hooks that are there already are no problem: they get a test, too."""
    file = os.path.join(project, _TEST_FILE)
    text = FIRST_TEST if document.written else OTHER_TEST
    try:
        write_new(file, text)
    except FileExistsError:
        problem = f"{file} already exists; add to it, or move it away and run `hookline init --tests` again"
        return replace(document, tests=WrittenFile(file, False, _text(file)), problem=problem)
    except OSError as problem:
        raise RequestError(f"cannot write {file}: {problem.strerror}") from None
    tests = WrittenFile(file, written=True, text=text)
    return replace(document, tests=tests, problem=document.problem if document.written else None)


def _folder(project: str, *, user: bool) -> str:
    if not user:
        return os.path.join(project, ".hookline")
    folder = user_directory(os.environ)
    if folder is None:
        raise RequestError("you have no home directory: set HOME")
    return folder


def _existing_file(folder: str) -> str | None:
    files = (os.path.join(folder, f"hooks.{suffix}") for suffix in SUFFIXES)
    return next((file for file in files if os.path.lexists(file)), None)


def write_new(file: str, text: str) -> None:
    """Write all of it or nothing, and never over an existing file, not even one made a moment ago."""
    folder = os.path.dirname(file)
    try:
        os.makedirs(folder, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
    part = os.path.join(folder, f".{os.path.basename(file)}.{secrets.token_hex(4)}")
    fd = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o644)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as stream:
            os.fchmod(fd, 0o644)
            stream.write(text)
            stream.flush()
            os.fsync(fd)
        _put(part, file)
    finally:
        os.unlink(part)


def _put(part: str, file: str) -> None:
    """Unlike a rename, a link fails if the file exists; file systems without links get a copy."""
    try:
        os.link(part, file)
    except FileExistsError:
        raise
    except OSError:
        with open(part, "rb") as stream, open(file, "xb") as target:
            target.write(stream.read())
        os.chmod(file, 0o644)


def _text(file: str) -> str:
    """What is in a file of unknown kind and size."""
    try:
        fd = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(fd, "rb") as stream:
            return stream.read(64 * 1024).decode("utf-8", "replace")
    except OSError:
        return ""


def _untrusted(file: str, project: str) -> str | None:
    """Trust what was just written: the user asked for it. Why that did not work, if it did not."""
    engine = Engine()
    loaded = engine.load(project)
    trust = engine.trust
    if trust is None or trust.trusts_all:
        return None
    foreign = (hook for hook in loaded.hooks if trust.is_foreign(hook.where.file, hook.scope))
    items = [trust.item(hook) for hook in foreign if hook.where.file == file]
    try:
        if items:
            trust.accept(items)
    except StoreError as problem:
        return f"the guard is written, but it is not trusted yet: {problem}"
    return None


def _is_in_force(file: str, project: str) -> bool:
    hooks = Engine().loader.directory(project, [OWN_FORMAT]).hooks
    return any(hook.where.file == file and hook.mode != "off" for hook in hooks)


async def _tried(file: str) -> tuple[ShownCommand, ...]:
    """Not in the user's journal: these commands are only examples."""
    async with Engine() as engine:
        engine.load(os.path.dirname(file), [file], [OWN_FORMAT])
        session = engine.session("init", cwd=os.path.dirname(file))
        shown: list[ShownCommand] = []
        for command in (_DENIED, _ALLOWED):
            call = ToolCall(tool_name="Bash", tool_input={"command": command})
            outcome = await session.dispatch(PRE_TOOL_USE, call)
            vote = outcome.deciding_vote
            shown.append(ShownCommand(command, outcome.blocked, vote.by if vote else None, outcome.reason))
    return tuple(shown)


def _fault(shown: Sequence[ShownCommand]) -> str | None:
    if [each.blocked for each in shown] == [True, False]:
        return None
    return "the guard does not do what it should; `hookline doctor` may say why"


def _lines(document: InitDocument, width: int) -> Iterator[str]:
    yield from _file_lines(document.file, document.text, written=document.written)
    if document.shown:
        yield "\nAsked about two commands, it says:\n"
        yield from (_shown_line(each, width) for each in document.shown)
    tests = document.tests
    if tests is not None:
        yield ""
        yield from _file_lines(tests.file, tests.text, written=tests.written)
    if document.written:
        yield from _notes(document, width)
    steps = [*([_RUN_TESTS] if tests is not None else []), *([_NEXT_STEPS] if document.written else [])]
    if steps:
        yield "\n".join(["\nWhat to do next:\n", *steps])


def _file_lines(file: str, text: str, *, written: bool) -> Iterator[str]:
    yield f"{'wrote' if written else 'there is'} {printable(file)}"
    yield ""
    yield from (f"  {line}".rstrip() for line in printable(text).rstrip("\n").split("\n"))


def _shown_line(shown: ShownCommand, width: int) -> str:
    verdict = paint("denied", "red") if shown.blocked else paint("goes on", "green")
    reason = f": {shown.reason}" if shown.reason else ""
    command = f"  {shown.command:28}"
    taken = columns(command) + len("goes on ")
    return f"{command}  {verdict}{one_line(reason, max(width - taken - 2, 20))}"


def _notes(document: InitDocument, width: int) -> Iterator[str]:
    if not document.in_force:
        yield ""
        yield paragraph("Note: it does not run here; `hookline list` says why.", width)
