"""A command from its words, in all the ways a rule may have it."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from hookline.matching.shell import tables
from hookline.matching.shell.reader import ShellCommand, Words, base_name
from hookline.matching.shell.wrappers import program_of


def _nothing(_operands: Words) -> bool:
    return False


class Door(Struct, frozen=True):
    """What opens the door of one program. Long options count when they are abbreviated, too."""

    options: tuple[str, ...] = ()
    #: Short options, with a value that may be glued to them.
    short: tuple[str, ...] = ()
    subcommands: frozenset[str] = frozenset()
    #: Asked about all words after the program.
    words: Callable[[Words], bool] = _nothing


_GIT_SETTINGS = re.compile(
    r"(?:user\.(?:name|email|signingkey)|init\.defaultbranch|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath"
    r"|longpaths|safecrlf)|(?:color|push|pull|fetch|advice|log|status|branch|rerere|rebase|column)\.[\w.-]+"
    r"|merge\.(?:conflictstyle|ff)|commit\.(?:gpgsign|verbose)|diff\.(?:algorithm|renames|colormoved))",
    re.IGNORECASE,
)
_GIT_READS_SETTINGS = frozenset(
    (
        "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l", "get", "list", "--unset",
        "--unset-all", "unset", "--show-origin",
    )
)  # fmt: skip
_GIT_SETTINGS_FILES = ("-f", "--file", "-e", "--edit", "edit")


def _git(operands: Words) -> bool:
    if any("ext::" in word or word.startswith("fd::") for word in operands):
        return True
    after = _operands("git", operands)
    if after[:1] == ("config",):
        return _sets_a_program(after[1:])
    if after[:1] == ("help",):
        return "-w" in after
    return after[:1] == ("grep",) and any(word.startswith("-O") for word in after)


def _sets_a_program(words: Words) -> bool:
    """Whether a setting is written that is not known to be harmless."""
    if any(word.partition("=")[0] in _GIT_SETTINGS_FILES for word in words):
        return True
    named = [
        word for word in words if not word.startswith("-") and word not in {"set", "get", "unset", "list"}
    ]
    if _GIT_READS_SETTINGS.intersection(words) or (len(named) == 1 and "set" not in words):
        return False
    return not named or _GIT_SETTINGS.fullmatch(named[0]) is None


_SHELL_SIGNS = re.compile(r"[;&|`$<>(){}\n\\!*?\"'#~]")
_MAKE_PROGRAMS = re.compile(
    r"\.?(?:SHELL|SHELLFLAGS|MAKE\w*|[A-Z]*CC|CXX|CPP|LD|AR|AS|FC|RM|INSTALL|PYTHON\d?|NODE|NPM)"
)


def _make(operands: Words) -> bool:
    for word in operands:
        name, equals, value = word.partition("=")
        name = name.rstrip(":+?!")
        if (
            equals
            and not name.startswith("-")
            and (_MAKE_PROGRAMS.fullmatch(name) or _SHELL_SIGNS.search(value))
        ):
            return True
    return False


_NODE = Door(
    ("--script-shell", "--node-options", "--userconfig", "--globalconfig", "--shell", "--editor", "--viewer")
)
_COMPILER = Door(("-wrapper", "-fplugin", "-specs", "--specs"), short=("-B", "@"))

_DOORS: Mapping[str, Door] = MappingProxyType(
    {
        "git": Door(
            (
                "--exec", "--exec-path", "--upload-pack", "--receive-pack", "--open-files-in-pager", "--extcmd",
                "--template", "--config", "--config-env", "--output", "--git-dir", "--web", "--access-hook",
            ),
            subcommands=frozenset(
                (
                    "difftool", "mergetool", "send-email", "imap-send", "instaweb", "web--browse", "daemon", "hook",
                    "p4", "svn", "cvsserver", "cvsimport", "credential", "credential-store", "credential-cache",
                    "upload-pack", "receive-pack", "upload-archive", "http-backend", "shell", "remote-ext",
                    "remote-fd", "maintenance", "gui", "citool", "quiltimport", "archimport", "for-each-repo",
                )
            ),
            words=_git,
        ),
        "gh": Door(subcommands=frozenset(("alias", "extension", "config", "codespace"))),
        **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NODE),
        "cargo": Door(("--config",)),
        "go": Door(("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool")),
        **dict.fromkeys(("make", "gmake"), Door(("--eval",), words=_make)),
        "cmake": Door(short=("-E", "-P")),
        **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
        **dict.fromkeys(
            ("find", "gfind"),
            Door(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir")),
        ),
        **dict.fromkeys(("sort", "gsort"), Door(("--output", "--compress-program"), short=("-o",))),
        "rg": Door(("--pre", "--hostname-bin")),
        "bat": Door(("--pager",)),
        "tar": Door(("--use-compress-program", "--checkpoint-action", "--to-command", "--rsh-command")),
        "wget": Door(("--use-askpass", "--execute", "--config"), short=("-e",)),
        "curl": Door(("--config",), short=("-K",)),
    }
)  # fmt: skip


def opens_a_door(words: Words) -> bool:
    """Whether a permission for the program alone must not count for this command."""
    program = program_of(words[0])
    door = _DOORS.get(program)
    if door is None:
        return False
    rest = words[1:]
    if any(_opens(word, door) for word in rest):
        return True
    first = _operands(program, rest)[:1] if door.subcommands else ()
    return (bool(first) and first[0] in door.subcommands) or door.words(rest)


def _opens(word: str, door: Door) -> bool:
    if word.startswith(door.short):
        return bool(door.short)
    if not word.startswith("-"):
        return False
    name = word.partition("=")[0]
    if name in door.options:
        return True
    return len(name) > 3 and name.startswith("--") and any(option.startswith(name) for option in door.options)


def _operands(program: str, rest: Words) -> Words:
    """From the sub-command on: without the options before it."""
    valued = tables.GLOBAL_VALUED.get(program, frozenset[str]())
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in valued else 1
    return rest[at:]


def command_of(words: Words, outer: Words = ()) -> ShellCommand:
    return ShellCommand(words, base_name(words[0]), _forms(words), opens_a_door(words), outer)


def _forms(words: Words) -> tuple[str, ...]:
    written = " ".join(words)
    named = " ".join((base_name(words[0]), *words[1:]))
    bare = " ".join((base_name(words[0]), *_without_leading_options(words)))
    return tuple(dict.fromkeys((written.casefold(), named.casefold(), bare.casefold())))


def _without_leading_options(words: Words) -> Words:
    valued = tables.GLOBAL_VALUED.get(program_of(words[0]), frozenset[str]())
    at = 1
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in valued else 1
    return words[at:]
