"""Small languages of single programs: actions of tar, addresses of socat, expressions of find and the like."""

import re
from collections.abc import Iterator

from hookline.matching.shell.found import Doubt, Foreign, Found, Inner
from hookline.matching.shell.holes import HOLE
from hookline.matching.shell.kinds import commands


def tar_action(action: str) -> Iterator[Found]:
    """`exec=LINE` among the actions of tar's checkpoints."""
    if action.startswith("exec="):
        yield from commands.line(action.removeprefix("exec="))
    elif HOLE in action:
        yield Doubt("what tar runs at checkpoints, only the shell knows")


def tar_action_beyond(action: str) -> bool:
    return not re.fullmatch(r"dot|bell|echo(?:=.*)?|ttyout=.*|sleep=\d+|totals", action)


def tar_names(text: str) -> Iterator[Found]:
    """A list of files, in which a line that begins with a dash is an option of tar."""
    options = [line for line in text.splitlines() if line.startswith("-")]
    if options:
        yield Inner(("tar", *(word for line in options for word in commands.split(line))))


def socat_address(address: str) -> Iterator[Found]:
    """`EXEC:words`, `SYSTEM:line`, `SHELL:line`; options follow after a comma, `!!` joins two addresses."""
    for one in address.split("!!"):
        kind, colon, rest = one.partition(":")
        if kind.casefold() in {"exec", "system", "shell"} and colon:
            yield from commands.line(rest)
            yield from commands.line(re.split(r"(?<!\\),", rest)[0])
        elif HOLE in kind:
            yield Doubt("what socat connects, only the shell knows")


def socat_beyond(address: str) -> bool:
    return re.match(r"(?i)(?:exec|system|shell|open|create|file|gopen)?:?", address) is not None and bool(
        re.search(r"(?i)(?:^|!!)(?:exec|system|shell|open|create|file|gopen|[./])", address)
    )


def rsync_options(text: str) -> Iterator[Found]:
    """The remote shell: words of a command, to which the host is added."""
    if "-o" in text or not commands.is_usual(text.partition(" -")[0]):
        yield from commands.words(text)


def is_path(text: str) -> bool:
    """A name of its own is one that the program knows; a path is a file of somebody's."""
    return "/" in text or text.startswith(".") or HOLE in text


def linker_beyond(option: str) -> bool:
    return re.search(r"plugin|@|-o\b|-T|dynamic-linker|Map|audit", option) is not None


def rust_setting(setting: str) -> Iterator[Found]:
    """`linker=PROGRAM` among the ways of generating code."""
    name, _equals, value = setting.partition("=")
    if name in {"linker", "link-self-contained"} and value:
        yield Inner((value,))


def go_flags_beyond(flags: str) -> bool:
    return re.search(r"extld|extar|linkmode|plugin|toolexec", flags) is not None


def go_flags(flags: str) -> Iterator[Found]:
    for name in re.findall(r"-?-ext(?:ld|ar)[= ]([^ ]+)", flags):
        yield from commands.words(name.strip("'\""))


def comma_words(text: str) -> Iterator[Found]:
    """`rm,y`: words of a command with commas between them."""
    yield Inner(tuple(text.split(",")))


def nmap_script(text: str) -> Iterator[Found]:
    if "/" in text or text.endswith(".nse"):
        yield from commands.file(text)
    elif HOLE in text:
        yield Foreign(text)


def options_of(program: str, operand: str, text: str) -> Iterator[Found]:
    """Options that a variable adds to every call of a program, with an operand that keeps it from standard input."""
    found = commands.split(text)
    if found:
        yield Inner((*program.split(), *found, *operand.split()))
