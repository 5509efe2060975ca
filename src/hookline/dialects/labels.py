"""Make short names for hooks that have none: the script a command is about, the address of a request."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.model.safe_text import bare_url

#: The name of Hookline's own entries where hooks are shown.
INSTALLED_HERE = "Hookline, installed here"
_LONGEST = 60
# Patterns are compiled when they are first used: a configuration of builtins needs none of them.
#: Words with their quotes, separators of commands, and redirections. A substitution is part of its word.
_WORDS = (
    r"""(?:[^\s"'\\|&;<>()`$]|\$\([^()]*\)|`[^`]*`|\$|"(?:[^"\\]|\\.)*"|'[^']*'|\\.)+|[<>]+&?|[|&;\n()]+"""
)
_ASSIGNMENT = r"\w+\+?="
_NAME = r"[\w.+@%:~ -]+"
_VERSION = r"(?<=\w)@[\w.^~-]+$"
#: Commands and words that lead to the one a line is about.
_BEFORE = frozenset(
    {
        "cd", "pushd", "set", "export", "unset", "umask", "ulimit", "trap", "source", ".", "cat", "test", "[", "[[",
        "true", ":", "type", "which", "hash", "shopt", "mkdir", "exit",
    }
)  # fmt: skip
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{"})
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish"})
_LANGUAGES = r"(?:python|pypy|ruby|node|perl|php|lua)[\d.]*|tsx|ts-node|deno|bun"
#: Programs that start another one; some do so only after a certain word.
_RUNNERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("env", "sudo", "nohup", "time", "nice", "exec", "command", "stdbuf", "setsid", "xargs"), ()),
    **dict.fromkeys(("npx", "uvx", "bunx", "pnpx", "timeout", "dotenv"), ()),
    **dict.fromkeys(("uv", "pipx", "poetry", "pdm", "hatch", "rye", "pixi", "pipenv"), ("run", "tool")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "mise", "direnv", "bundle"), ("run", "exec", "dlx", "x")),
}  # fmt: skip
#: Options that are followed by a value: of runners, of interpreters.
_RUNNER_VALUES = frozenset(
    {
        "--with", "--from", "--project", "--directory", "--python", "-p", "--package", "--extra", "--group",
        "--env-file", "--signal", "-s", "-k", "-u", "-n", "-C",
    }
)  # fmt: skip
_INTERPRETER_VALUES = frozenset({"-r", "--require", "--import", "-W", "-X", "-I"})
_CODE = frozenset({"-c", "-e", "--eval", "-p", "--print"})
#: Shells in shells, and runners of runners.
_DEEPEST = 5
#: A program and arguments without anything that a shell reads: most commands.
_PLAIN = r"(?:[\w.~-]*/)*([\w.-]{1,60})(?: [\w./:,=-]*)*"
_NOT_ABOUT = _BEFORE | _KEYWORDS | _SHELLS | _RUNNERS.keys()


def command_label(command: str, args: Sequence[str] | None = None) -> str:
    """Return the script a command is about: `uv run hooks/check.py --fast` is check.py. With `args` no shell
    reads it."""
    plain = re.fullmatch(_PLAIN, command) if args is None else None
    if plain is not None and plain[1] not in _NOT_ABOUT and not re.fullmatch(_LANGUAGES, plain[1]):
        return plain[1]
    text = command[: 16 * _LONGEST]
    found = _named(_main_command(text) if args is None else [command, *args], _DEEPEST)
    return shortened(found if re.fullmatch(_NAME, found) else text.strip().split("\n", 1)[0]) or "command"


def entry_label(fields: Mapping[str, Any]) -> str:
    """Return the label of an entry with a command, which may have its arguments apart."""
    command, args = fields.get("command"), fields.get("args")
    if not isinstance(command, str):
        return ""
    return command_label(
        command, [str(each) for each in cast("list[Any]", args)] if isinstance(args, list) else None
    )


def _main_command(line: str) -> Sequence[str]:
    """Return the words of the first command that does not just prepare another one."""
    commands: list[list[str]] = [[]]
    redirected = False
    for word in re.findall(_WORDS, line, re.DOTALL):
        if word[0] in "|&;\n()":
            commands.append([])
        elif (
            not redirected
            and word[0] not in "<>"
            and (commands[-1] or not (word in _KEYWORDS or re.match(_ASSIGNMENT, word) is not None))
        ):
            commands[-1].append(word.replace('"', "").replace("'", "").replace("\\ ", " "))
        redirected = word[0] in "<>"
    commands = [words for words in commands if words]
    return next((words for words in commands if words[0] not in _BEFORE), commands[0] if commands else ())


def _named(words: Sequence[str], deepest: int) -> str:
    """Return the subject of a simple command: the program, or the one that it starts."""
    base = re.split(r"[/\\]", words[0].rstrip("/"))[-1] if words else ""
    rest, found = list(words[1:]), None
    if deepest and (base in _SHELLS or re.fullmatch(_LANGUAGES, base)):
        found = _script(rest, deepest, is_shell=base in _SHELLS)
    elif deepest and base in _RUNNERS:
        found = _started(rest, _RUNNERS[base], deepest)
    return found or re.sub(_VERSION, "", base)


def _script(rest: list[str], deepest: int, *, is_shell: bool) -> str | None:
    """Return what an interpreter runs: a module, a line of code, or a file."""
    while rest:
        word = rest.pop(0)
        clustered = is_shell and word[:1] == "-" and word[:2] != "--"
        if word == "-m" or (clustered and "c" in word):
            rest = rest[1:] if clustered and word.endswith("o") else rest
            return (_named(_main_command(rest[0]), deepest - 1) if is_shell else rest[0]) if rest else None
        if not is_shell and word in _CODE:
            return None
        if word in _INTERPRETER_VALUES or (clustered and word[-1] in "oO"):
            del rest[:1]
        elif word[:1] not in ("-", "+") and word != "run":
            return _named([word], 0)
    return None


def _started(rest: list[str], between: Sequence[str], deepest: int) -> str | None:
    """Return the program that a runner starts; None if it does something else."""
    starts = not between
    while rest:
        word = rest.pop(0)
        if word in _RUNNER_VALUES:
            del rest[:1]
        elif word in between:
            starts = True
        elif not (word[:1] in ("-", "") or word[0].isdecimal() or re.match(_ASSIGNMENT, word)):
            return _named([word, *rest], deepest - 1) if starts else None
    return None


def url_label(url: str) -> str:
    """Return the address without secrets: user, password, query."""
    return shortened(bare_url(url).rpartition("://")[2]) or "http"


def shortened(text: str) -> str:
    return " ".join(text[: 4 * _LONGEST].split())[:_LONGEST]
