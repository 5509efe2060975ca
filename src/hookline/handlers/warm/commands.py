"""Find commands that can run warm: one Python script or program text, started by an interpreter, a `#!` line
or a shell.

Everything uncertain is left to a real start, with the reason. An interpreter kind is one function of `KINDS`,
which reads the words of a command: other interpreters go beside Python.
"""

import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.shell.grammar.parser import CannotParseError, Parser
from hookline.shell.grammar.syntax import Parameter, Simple, Text, Word

Form = Literal["file", "code", "module"]


class Cold(Struct, frozen=True):
    """The reason why a command cannot run warm; worded to follow a colon."""

    why: str


class WarmScript(Struct, frozen=True):
    """A command that can run warm."""

    #: The interpreter, by an absolute path whose links are not resolved.
    program: str
    #: Its whole argv, and the position of the script, the program text or the name of the module in it.
    argv: tuple[str, ...]
    script_at: int
    form: Form
    #: Its options, which are part of the interpreter started ahead.
    flags: tuple[str, ...]
    #: The shell that starts it and changes its environment; `waits` is True if the shell must wait for it.
    shell: str | None = None
    waits: bool = True

    @property
    def target(self) -> str:
        return self.argv[self.script_at]


_SHELLS: Final = {("/bin/sh", "-c"): "/bin/sh", ("bash", "-c"): "bash"}
#: A value that no shell splits or expands any further.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./:@%+=,-]+")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Variables that shells set themselves.
_OF_THE_SHELL: Final = re.compile(
    r"PWD|OLDPWD|PPID|IFS|OPT[A-Z]+|PS\d|LINENO|SHLVL|RANDOM|SECONDS|_|UID|EUID|BASH.*|HOSTNAME|HOSTTYPE|MACHTYPE"
    r"|OSTYPE|SHELLOPTS|DIRSTACK|GROUPS|FUNCNAME|PIPESTATUS|EPOCH.*|SRANDOM|COMP_.*|HIST.*|COLUMNS|LINES"
)
_EXPANDED: Final = frozenset("*?[{~")
_INTERPRETER: Final = re.compile(r"python(?:3(?:\.\d+)?)?")
_FIRST_LINE: Final = re.compile(rb"#![ \t]*(/[^\s]+)(?:[ \t]+([^\s]+))?[ \t]*\n")
_LONGEST_LINE: Final = 4096


def find_script(argv: Sequence[str], env: Mapping[str, str], cwd: str) -> WarmScript | Cold:
    """Return the script that a command runs, or why it cannot run warm."""
    shell = _SHELLS.get(tuple(argv[:2])) if len(argv) == 3 else None  # pyright: ignore[reportArgumentType]
    if shell is None:
        return _of_words(tuple(argv), env, cwd, None)
    words = shell_words(argv[2], env, bash=shell == "bash")
    if isinstance(words, Cold):
        return words
    replaced = len(words) > 1 and words[0] == "exec"
    found = _of_words(words[1:] if replaced else words, env, cwd, shell)
    return replace(found, waits=False) if replaced and isinstance(found, WarmScript) else found


def shell_words(line: str, env: Mapping[str, str], *, bash: bool) -> tuple[str, ...] | Cold:
    """Return the words of the one simple command that a line is."""
    command = _simple_command(line, bash)
    if isinstance(command, Cold):
        return command
    words: list[str] = []
    for word in command.words:
        text = _expanded(word, env)
        if isinstance(text, Cold):
            return text
        words.append(text)
    return tuple(words)


@lru_cache(256)
def _simple_command(line: str, bash: bool) -> Simple | Cold:
    if len(line) > _LONGEST_LINE:
        return Cold("its line is very long")
    try:
        items = Parser(line, bash).parse().items
        # The program behind `sh` differs from system to system: it must not matter.
        if not bash and Parser(line, True).parse().items != items:
            return Cold("shells read its line differently")
    except (CannotParseError, RecursionError):
        return Cold("its line is not a simple command")
    command = items[0].node if len(items) == 1 and not items[0].background else None
    if not isinstance(command, Simple):
        return Cold("its line is more than one simple command")
    if command.redirects or command.assignments or not command.words:
        return Cold("its line has redirections or sets variables")
    return command


def _expanded(word: Word, env: Mapping[str, str]) -> str | Cold:
    """Return the text of a word. Of expansions only `~/` and variables of the environment are certain."""
    texts: list[str] = []
    for index, part in enumerate(word):
        if isinstance(part, Text):
            text = part.text
            if not part.quoted and index == 0 and text.startswith("~/") and "HOME" in env:
                text = env["HOME"] + text[1:]
            elif not part.quoted and any(sign in _EXPANDED for sign in text):
                return Cold(f"the shell expands {text}")
            texts.append(text)
        elif isinstance(part, Parameter):
            value = _value(part, env)
            if isinstance(value, Cold):
                return value
            texts.append(value)
        else:
            return Cold("its line runs other commands")
    return "".join(texts)


def _value(part: Parameter, env: Mapping[str, str]) -> str | Cold:
    plain = not (part.operator or part.word or part.indirect) and part.subscript is None
    if not plain or not _NAME.fullmatch(part.name) or _OF_THE_SHELL.fullmatch(part.name):
        return Cold(f"only the shell knows the value of ${part.name}")
    value = env.get(part.name)
    if value is None:
        return Cold(f"${part.name} is not set")
    if not part.quoted and not _PLAIN.fullmatch(value):
        return Cold(f"${part.name} is not in double quotes")
    return value


# From words to an interpreter


def _of_words(
    words: tuple[str, ...], env: Mapping[str, str], cwd: str, shell: str | None
) -> WarmScript | Cold:
    if _INTERPRETER.fullmatch(os.path.basename(words[0])):
        program = _program(words[0], env, cwd)
        return program if isinstance(program, Cold) else KINDS["python"](program, words, shell)
    if "/" in words[0]:
        return _by_first_line(words, env, cwd, shell)
    return Cold(f"{words[0] or 'its program'} is not a Python interpreter")


def _program(name: str, env: Mapping[str, str], cwd: str) -> str | Cold:
    """Return an absolute path, as a shell and `find_program` both find it."""
    if "/" in name:
        while name.startswith("./"):
            name = name[2:].lstrip("/")
        return os.path.join(cwd, name)
    path = env.get("PATH")
    if not path:
        return Cold("PATH is not set")
    for part in path.split(":"):
        if not part.startswith("/"):
            return Cold("PATH has a part that depends on the working directory")
        candidate = f"{part}/{name}"
        try:
            mode = os.stat(candidate).st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(mode) and os.access(candidate, os.X_OK):
            return candidate
    return Cold(f"no program {name} in PATH")


def _by_first_line(
    words: tuple[str, ...], env: Mapping[str, str], cwd: str, shell: str | None
) -> WarmScript | Cold:
    """Return a script that the kernel gives to the interpreter of its `#!` line."""
    path = os.path.join(cwd, words[0])
    start = _first_line(path)
    if start is None:
        return Cold(f"{words[0]} has no plain #! line with a Python interpreter")
    program = _program(start[0], env, cwd)
    if isinstance(program, Cold):
        return program
    # A program without a shell is started by its whole path, a word of a shell line as it is written.
    script = words[0] if shell is not None else path
    return KINDS["python"](program, (*start, script, *words[1:]), shell)


def _first_line(path: str) -> tuple[str, ...] | None:
    """Return the words that a `#!` line puts before an executable script; None if that is not Python, or not
    certain."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    try:
        first = os.read(descriptor, 256) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
    line = _FIRST_LINE.match(first)
    if line is None or not os.access(path, os.X_OK):
        return None
    named, given = os.fsdecode(line[1]), os.fsdecode(line[2] or b"")
    if named in ("/usr/bin/env", "/bin/env"):
        return (given,) if _INTERPRETER.fullmatch(given) else None
    if not _INTERPRETER.fullmatch(os.path.basename(named)):
        return None
    return (named, given) if given else (named,)


# Python's command line

_BARE: Final = frozenset("bBEIOPqRsSu")
_X_OPTIONS: Final = re.compile(
    r"utf8(?:=[01])?|frozen_modules(?:=\w+)?|int_max_str_digits=\d+|no_debug_ranges|pycache_prefix=/.*",
    re.DOTALL,
)
#: Variables of the interpreter that have the same effect for a process started ahead.
_KNOWN: Final = frozenset(
    "PYTHON" + name
    for name in (
        "PATH", "UNBUFFERED", "DONTWRITEBYTECODE", "IOENCODING", "UTF8", "HASHSEED", "NOUSERSITE", "USERBASE",
        "OPTIMIZE", "SAFEPATH", "WARNINGS", "PYCACHEPREFIX", "INTMAXSTRDIGITS", "COERCECLOCALE", "ASYNCIODEBUG",
        "NODEBUGRANGES", "BREAKPOINT", "TZPATH", "STARTUP", "HISTORY", "_COLORS", "_HISTORY", "_BASIC_REPL",
    )
)  # fmt: skip


def _python(program: str, words: tuple[str, ...], shell: str | None) -> WarmScript | Cold:
    flags: list[str] = []
    script_at = 1
    while script_at < len(words) and words[script_at].startswith("-") and words[script_at] not in ("-", "--"):
        word = words[script_at]
        letters = word[1:]
        for number, letter in enumerate(letters):
            if letter in _BARE:
                flags.append(f"-{letter}")
                continue
            rest = letters[number + 1 :]
            if letter in "cm" and not rest and script_at + 1 < len(words):
                form: Form = "code" if letter == "c" else "module"
                return WarmScript(program, words, script_at + 1, form, tuple(flags), shell)
            if letter not in "WX" or (not rest and script_at + 1 >= len(words)):
                return Cold(f"{word} is an option that a script started ahead cannot have")
            value = rest or words[script_at + 1]
            if letter == "X" and not _X_OPTIONS.fullmatch(value):
                return Cold(f"-X {value} is an option that a script started ahead cannot have")
            flags += [f"-{letter}", value]
            script_at += 0 if rest else 1
            break
        script_at += 1
    if script_at >= len(words) or words[script_at] in ("-", "--"):
        return Cold("it names no script")
    return WarmScript(program, words, script_at, "file", tuple(flags), shell)


#: For each program: a function of the program, its argv and the shell before it that returns the script.
KINDS: Final[Mapping[str, Callable[[str, tuple[str, ...], str | None], WarmScript | Cold]]] = {
    "python": _python
}


def unknown_setting(env: Mapping[str, str]) -> Cold | None:
    """Return a variable that makes the start of an interpreter unlike that of one started ahead."""
    for name, value in env.items():
        if name.startswith("PYTHON") and name not in _KNOWN and value:
            return Cold(f"{name} is set")
    path = env.get("PYTHONPATH", "")
    if path and not all(part.startswith("/") for part in path.split(":")):
        return Cold("PYTHONPATH has a part that depends on the working directory")
    return None
