"""What a hook's program can be seen to use: the words of its text, its exit statuses, and the answers written in it.

Only shell lines, shell scripts and Python scripts are read, and only if all that they run is known. Of anything else
it is said why nothing can be said.
"""

import ast
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from hookline.handlers.specs import CommandSpec
from hookline.matching.shell import HOLE, ShellCommand, ShellReader, ShellReading

#: Programs that print what they are given, find something in it, or say by their status what they found.
_PLAIN: Final = frozenset(
    (
        ".", ":", "[", "[[", "basename", "break", "cat", "cd", "command", "continue", "cut", "date", "declare",
        "dirname", "echo", "egrep", "exit", "export", "false", "fgrep", "git", "grep", "head", "jq", "local", "ls",
        "mkdir", "mktemp", "printf", "pwd", "read", "readlink", "readonly", "realpath", "return", "rev", "rm",
        "sed", "set", "shift", "sleep", "sort", "source", "tail", "tee", "test", "touch", "tr", "true", "type",
        "umask", "uname", "uniq", "unset", "wait", "wc"
    )
)  # fmt: skip
#: Of these, the ones that print a file that they name, or run it.
_PRINT, _RUN = frozenset(("cat", "head", "tail")), frozenset((".", "source"))
_SHELLS: Final = re.compile(r"(?:ba|da|z|k)?sh")
_PYTHON: Final = re.compile(r"python[\d.]*")
_MODULES: Final = frozenset(
    (
        "__future__", "collections", "dataclasses", "datetime", "enum", "fnmatch", "functools", "itertools", "json",
        "os", "pathlib", "re", "shlex", "string", "sys", "textwrap", "time", "typing"
    )
)  # fmt: skip
#: Names by which a Python program runs something else, or code that is not written in it.
_RUNS: Final = frozenset(
    ("system", "popen", "eval", "exec", "compile", "__import__", "import_module", "fork")
)
_FUNCTION: Final = re.compile(r"^[ \t]*+(?:function[ \t]++)?+([A-Za-z_]\w*+)[ \t]*+\([ \t]*+\)", re.MULTILINE)
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
#: How a shell script ends with a status, and how a Python program does; and where another branch begins.
_EXIT: Final = re.compile(r"\b(?:exit|return)\b[ \t]*([^\s;)&|}]*)")
_PYTHON_EXIT: Final = re.compile(r"(?:\bexit|\b_exit|SystemExit|\bquit)\b[ (]*([^\s;)]*)")
_BRANCH: Final = re.compile(
    r";;|\b(?:fi|else|elif|except|esac)\b|\b(?:exit|_exit|SystemExit|quit|return)\b[^\n;]*"
)
#: What prints whatever it does, and what prints what it finds unless it is told to be quiet.
_PRINTERS: Final = frozenset(
    (
        "cat", "cut", "date", "echo", "git", "head", "jq", "ls", "printf", "pwd", "sed", "sort", "tail", "tee",
        "tr", "uniq", "uname", "wc"
    )
)  # fmt: skip
_FINDERS: Final = frozenset(("grep", "egrep", "fgrep"))
_PRINTING: Final = _PRINTERS | _FINDERS
_PART: Final = re.compile(r"[;\n]|&&|\|\||\bthen\b|\bdo\b|\belse\b|\)\s")
_ELSEWHERE: Final = re.compile(r"(?<![2-9])>")
_SAYS_WHY: Final = re.compile(r">&2|/dev/stderr|stderr")
#: Longer texts, and scripts that run scripts that run scripts, are not read.
_LONGEST, _DEEPEST = 64 * 1024, 3
#: Lines and characters before an exit that are searched for what it says.
_LINES, _NEAR = 3, 1000
#: Braces of a text: more of them are no script that somebody wrote.
_MOST_BRACES: Final = 2000


class Script(Struct, frozen=True):
    """What was read."""

    text: str
    #: Why there may be more to it than its text says, each as the rest of a sentence that begins with "it".
    unseen: tuple[str, ...] = ()
    #: Whether it may exit with 2 and say nothing.
    silent: bool = False
    #: Whether it may print text, besides answers that are written in it.
    prints: bool = False
    #: The statuses that it exits with, as they are written.
    statuses: frozenset[str] = frozenset()

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.text))


def read_script(spec: CommandSpec, project: str, variables: Sequence[str], shell: ShellReader) -> Script:
    """Everything that a command runs; `variables` hold the project's directory."""
    if spec.shell in ("powershell", "pwsh"):
        return Script(spec.command, ("is for PowerShell, which is not read",))
    line = spec.command if spec.args is None else shlex.join((spec.command, *spec.args))
    reader = _Reader(project, variables, shell)
    reader.line(line, 0)
    if sum(text.count("{") for text in reader.texts) > _MOST_BRACES or len(line) > _LONGEST:
        return Script("", ("is too long to be read",))
    return Script(
        "\n".join(reader.texts),
        tuple(dict.fromkeys(reader.unseen)),
        reader.silent,
        reader.prints,
        frozenset(reader.statuses),
    )


class _Reader:
    def __init__(self, project: str, variables: Sequence[str], shell: ShellReader) -> None:
        self._project = project
        self._shell = shell
        names = "|".join(map(re.escape, variables))
        self._variable = re.compile(rf"\$(?:\{{(?:{names})\}}|(?:{names})\b)") if names else None
        self.texts: list[str] = []
        self.unseen: list[str] = []
        self.silent = False
        self.prints = False
        self.statuses: set[str] = set()

    def line(self, text: str, depth: int) -> None:
        """A line or a script for a shell."""
        self.texts.append(text)
        self._look_at_exits(text, _EXIT)
        filled = self._variable.sub(lambda _: shlex.quote(self._project), text) if self._variable else text
        reading = self._shell.read(filled)
        self.unseen += [f"cannot be read for certain: {doubt}" for doubt in reading.doubts]
        self.unseen += ["has code of another language in it"] if reading.foreign else []
        self.prints = self.prints or _prints(reading, text)
        own = set(_FUNCTION.findall(text))
        for command in reading.commands:
            if command.base_name not in own:
                self._command(command, depth)

    def _look_at_exits(self, text: str, exits: re.Pattern[str]) -> None:
        """Whether something is said on stderr before each exit with a status that may be 2, in the same branch."""
        for found in exits.finditer(text):
            # Python prints a text on stderr, and exits with 1.
            status = "1" if exits is _PYTHON_EXIT and found[1][:1] in ("'", '"') else found[1].strip("\"'")
            self.statuses.add(status)
            if status in ("", "0", "1"):
                continue
            near = text[max(0, found.start() - _NEAR) : found.start()]
            before = "\n".join(near.rstrip().rsplit("\n", _LINES)[-_LINES:])
            if not _SAYS_WHY.search(_BRANCH.split(before)[-1]):
                self.silent = True

    def _command(self, command: ShellCommand, depth: int) -> None:
        words = command.words
        name = command.base_name
        if _SHELLS.fullmatch(name) or _PYTHON.fullmatch(name):
            self._interpreted(name, words[1:], depth)
        elif name in _PRINT | _RUN:
            for word in words[1:]:
                if not word.startswith("-") and (name in _RUN or not word.isdecimal()):
                    self._file(word, depth, printed=name in _PRINT)
        elif "/" in words[0]:
            self._file(words[0], depth)
        elif name not in _PLAIN:
            self.unseen.append(f"runs {words[0].replace(HOLE, '…')}, which is not read")

    def _interpreted(self, name: str, words: Sequence[str], depth: int) -> None:
        script = next((word for word in words if not word.startswith("-")), None)
        if script is None or any(word in ("-c", "-m", "-s") for word in words[: words.index(script)]):
            if _PYTHON.fullmatch(name):
                self.unseen.append("has code of another language in it")
            return  # what a shell is given as text, the reader has read
        self._file(script, depth, language=name)

    def _file(self, word: str, depth: int, *, language: str = "", printed: bool = False) -> None:
        found = self._content(word) if HOLE not in word and depth < _DEEPEST else None
        if found is None:
            self.unseen.append(f"needs {word.replace(HOLE, '…')}, which cannot be read")
            return
        first = found.partition("\n")[0]
        interpreter = os.path.basename(
            language or (first.split() or [""])[-1] if first.startswith("#!") else language
        )
        if printed:
            self.texts.append(found)
        elif _PYTHON.fullmatch(interpreter) or (not interpreter and word.endswith(".py")):
            self._python(found, word)
        elif _SHELLS.fullmatch(interpreter) or not interpreter:
            self.line(found, depth + 1)
        else:
            self.unseen.append(f"runs {word}, a program for {interpreter}, which is not read")

    def _content(self, word: str) -> str | None:
        path = os.path.join(self._project, os.path.expanduser(word))
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > _LONGEST:
                return None
            with open(path, encoding="utf-8") as stream:
                return stream.read()
        except (OSError, UnicodeDecodeError, ValueError):
            return None

    def _python(self, text: str, word: str) -> None:
        self.texts.append(text)
        self._look_at_exits(text, _PYTHON_EXIT)
        lines = [line for line in text.splitlines() if "print(" in line or "stdout" in line]
        self.prints = self.prints or any("stderr" not in line and "{" not in line for line in lines)
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            self.unseen.append(f"runs {word}, which is no Python that can be read")
            return
        self.unseen += [f"uses {name} in {word}, which is not read" for name in _python_uses(tree)]


def _prints(reading: ShellReading, text: str) -> bool:
    """Whether more commands may print than there are that write elsewhere, or into another command."""
    into = {first for first, _second in reading.flows}
    printing = [
        command
        for number, command in enumerate(reading.commands)
        if number not in into
        and (command.base_name in _PRINTERS or (command.base_name in _FINDERS and not _is_quiet(command)))
        and not any("{" in word for word in command.words)
    ]
    parts = _PART.split(text)
    elsewhere = [part for part in parts if _ELSEWHERE.search(part) and not _PRINTING.isdisjoint(part.split())]
    return len(printing) > len(elsewhere)


def _is_quiet(command: ShellCommand) -> bool:
    return any(
        word.startswith("-") and not word.startswith("--") and "q" in word for word in command.words[1:]
    )


def _python_uses(tree: ast.AST) -> Iterator[str]:
    """What a program uses beyond the modules that only compute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] not in _MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] not in _MODULES:
            yield node.module or "a module beside it"
        elif isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in _RUNS or (isinstance(node, ast.Attribute) and name.startswith(("exec", "spawn"))):
                yield name


# --- the answers that are written in it: objects as JSON, Python and jq have them

#: Levels of nesting, characters of a value and number of answers that are read.
_DEEPEST_VALUE, _LONGEST_VALUE, _MOST = 4, 2_000, 100
_KEY: Final = re.compile(r"""\s*+,?+\s*+(?:"([^"\n]+)"|'([^'\n]+)'|([A-Za-z_]\w*+))\s*+:\s*+""")
_LITERAL: Final = re.compile(r""""((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'""")
_REST: Final = re.compile(r"[^,}\]]*")
_END: Final = re.compile(r"\s*+,?+\s*+\}")
_FIXED: Final[Mapping[str, Any]] = {"true": True, "True": True, "false": False, "False": False}


class Unknown(Struct, frozen=True):
    """A value that is known when the program runs."""


UNKNOWN: Final = Unknown()


def answers_in(text: str, keys: frozenset[str]) -> list[dict[str, Any]]:
    """The objects written in a program that have one of the keys, outermost ones only."""
    plain, found, at = text.replace('\\"', '"'), list[dict[str, Any]](), 0
    while (at := plain.find("{", at)) >= 0 and len(found) < _MOST:
        value, end = _object(plain, at)
        if value is not None and not keys.isdisjoint(value):
            found.append(value)
            at = end
        else:
            at += 1
    return found


def _object(text: str, at: int, depth: int = 0) -> tuple[dict[str, Any] | None, int]:
    """An object as JSON, Python or jq have it, and where it ends; None where the text is something else."""
    found: dict[str, Any] = {}
    at += 1
    while (key := _KEY.match(text, at)) is not None and depth < _DEEPEST_VALUE:
        value, at = _value(text, key.end(), depth)
        found[key[1] or key[2] or key[3]] = value
    closing = _END.match(text, at)
    return (found, closing.end()) if closing else (None, at)


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    if text[at : at + 1] == "{":
        value, end = _object(text, at, depth + 1)
        return (UNKNOWN, _closed(text, at)) if value is None else (value, end)
    if (found := _LITERAL.match(text, at)) is not None:
        end = found.end()
        said = found[1] if found[1] is not None else found[2]
        rest = _REST.match(text, end)
        whole = rest is None or not rest[0].strip()
        return (
            said if whole and "$" not in said and "%" not in said else UNKNOWN
        ), rest.end() if rest else end
    if text[at : at + 1] in ("(", "["):
        return UNKNOWN, _closed(text, at)
    rest = _REST.match(text, at)
    end = rest.end() if rest else at
    return _FIXED.get(text[at:end].strip(), UNKNOWN), end


def _closed(text: str, at: int) -> int:
    """After the bracket that closes the one here."""
    depth = 0
    for place in range(at, min(len(text), at + _LONGEST_VALUE)):
        depth += (text[place] in "{[(") - (text[place] in "}])")
        if not depth:
            return place + 1
    return at + 1
