"""Interim."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from hookline.matching.shell import tables
from hookline.matching.shell.holes import Words, base_name
from hookline.matching.shell.wrappers import program_of


def _forms(words: Words) -> tuple[str, ...]:
    written = " ".join(words)
    named = " ".join((base_name(words[0]), *words[1:]))
    bare = " ".join((base_name(words[0]), *_operands(program_of(words[0]), words[1:])))
    return tuple(dict.fromkeys((written.casefold(), named.casefold(), bare.casefold())))


def _nothing(_operands: Words) -> bool:
    return False


class Escapes(Struct, frozen=True):
    """What makes one program do more than its name says. Abbreviated long options count, too."""

    options: tuple[str, ...] = ()
    #: Short options, whose value may follow without a blank.
    short: tuple[str, ...] = ()
    subcommands: frozenset[str] = frozenset()
    #: Called with all words after the program.
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


_NODE = Escapes(
    ("--script-shell", "--node-options", "--userconfig", "--globalconfig", "--shell", "--editor", "--viewer")
)
_COMPILER = Escapes(("-wrapper", "-fplugin", "-specs", "--specs"), short=("-B", "@"))

_ESCAPES: Mapping[str, Escapes] = MappingProxyType(
    {
        "git": Escapes(
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
        "gh": Escapes(subcommands=frozenset(("alias", "extension", "config", "codespace"))),
        **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _NODE),
        "cargo": Escapes(("--config",)),
        "go": Escapes(("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool")),
        **dict.fromkeys(("make", "gmake"), Escapes(("--eval",), words=_make)),
        "cmake": Escapes(short=("-E", "-P")),
        **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), _COMPILER),
        **dict.fromkeys(
            ("find", "gfind"),
            Escapes(("-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-exec", "-execdir", "-ok", "-okdir")),
        ),
        **dict.fromkeys(("sort", "gsort"), Escapes(("--output", "--compress-program"), short=("-o",))),
        "rg": Escapes(("--pre", "--hostname-bin")),
        "bat": Escapes(("--pager",)),
        "tar": Escapes(("--use-compress-program", "--checkpoint-action", "--to-command", "--rsh-command")),
        "wget": Escapes(("--use-askpass", "--execute", "--config"), short=("-e",)),
        "curl": Escapes(("--config",), short=("-K",)),
    }
)  # fmt: skip


def escapes(words: Words) -> bool:
    """Whether a permission for the program alone must not count for this command."""
    program = program_of(words[0])
    known = _ESCAPES.get(program)
    if known is None:
        return False
    rest = words[1:]
    if any(_is_escape(word, known) for word in rest):
        return True
    first = _operands(program, rest)[:1] if known.subcommands else ()
    return (bool(first) and first[0] in known.subcommands) or known.words(rest)


def _is_escape(word: str, known: Escapes) -> bool:
    if word.startswith(known.short):
        return bool(known.short)
    if not word.startswith("-"):
        return False
    name = word.partition("=")[0]
    if name in known.options:
        return True
    return (
        len(name) > 3 and name.startswith("--") and any(option.startswith(name) for option in known.options)
    )


def _operands(program: str, rest: Words) -> Words:
    """From the sub-command on: without the options before it."""
    valued = tables.GLOBAL_VALUED.get(program, frozenset[str]())
    at = 0
    while at < len(rest) and rest[at].startswith("-"):
        at += 2 if rest[at] in valued else 1
    return rest[at:]
