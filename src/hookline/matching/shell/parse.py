"""Parsing one shell line: a walk over the tree of tree-sitter-bash that lists every simple command."""

import re
from collections import deque
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from hookline.matching.shell import tables
from hookline.matching.shell.holes import HOLE, Words, base_name
from hookline.matching.shell.reader import (
    MOST_PARTS,
    TOO_MANY_PARTS,
    ShellCommand,
    ShellReading,
    parts_of,
    unreadable,
)
from hookline.matching.shell.words import (
    REDIRECTS,
    after_target,
    apart,
    hides_code,
    keyword_words,
    last_command,
    lost,
    quoted_here,
    source,
    value,
    word_text,
    written_file,
)
from hookline.matching.shell.wrappers import (
    Doubt,
    Foreign,
    Inner,
    Line,
    look_through,
    program_of,
    starts_programs,
)

#: How often a line found inside a line is read again.
DEEPEST_EVALUATION = 4
MOST_COMMANDS = 250
#: Reading one more line costs as much as so many words.
_COST_OF_A_LINE = 4
#: What all commands of one reading may hold together.
MOST_TEXT = 1 << 16

#: What a command may be made of and still be literal.
_LITERAL_NODES = frozenset(
    (
        "program", "list", "pipeline", "command", "command_name", "word", "number", "string",
        "string_content", "raw_string", "concatenation", "comment", "&&", "||", ";", "|", '"', "\n",
    )
)  # fmt: skip
#: Text that may become code.
_TEXT_NODES = frozenset(("heredoc_body", "herestring_redirect", "variable_assignment", "expansion"))
_KEYWORD_COMMANDS = frozenset(("declaration_command", "unset_command", "test_command"))


def read_line(line: str, parse: Any) -> ShellReading:
    problem = unreadable(line)
    return ShellReading(uncertain=problem) if problem else Walk(parse).reading(line)


class Walk:
    """One reading in the making. No recursion: a hostile line can be a very deep tree."""

    def __init__(self, parse: Any) -> None:
        self._parse = parse
        self._commands: list[ShellCommand] = []
        self._foreign: list[str] = []
        self._writes: list[str] = []
        self._doubt: str | None = None
        self._literal = True
        self._text = 0
        self._parts = 0
        self._waiting: deque[tuple[Line | Inner, int]] = deque()
        self._code = b""
        #: Words that follow a redirection are arguments, though the grammar hangs them on it.
        self._late_words: dict[int, list[Any]] = {}
        self._fed: set[int] = set()
        #: Here-documents, and whether one of them is a program.
        self._here: list[str] = []
        self._here_is_code = False

    def reading(self, line: str) -> ShellReading:
        self._waiting.append((Line(line), 0))
        while self._waiting and not self._full():
            found, depth = self._waiting.popleft()
            if isinstance(found, Line):
                self._line(found.code, depth)
            else:
                self._command(found.words, depth, fed=False, outer=found.outer)
        if self._here_is_code and any(map(starts_programs, self._here)):
            self._doubted("a program in another language starts programs")
        literal = self._literal and self._doubt is None and not self._foreign
        return ShellReading(
            tuple(self._commands), tuple(self._foreign), self._doubt, literal, tuple(self._writes)
        )

    def _full(self) -> bool:
        if len(self._commands) < MOST_COMMANDS and self._text < MOST_TEXT:
            return False
        self._doubted("the line holds too many commands")
        return True

    def _doubted(self, reason: str) -> None:
        self._doubt = self._doubt or reason

    def _line(self, code: str, depth: int) -> None:
        problem = unreadable(code) if depth else None
        if depth > DEEPEST_EVALUATION:
            problem = f"shell lines are nested more than {DEEPEST_EVALUATION} deep"
        if problem is None:
            self._parts += _COST_OF_A_LINE + parts_of(code)
            if depth and self._parts > MOST_PARTS:
                # Whatever still waits would only cost more time.
                self._waiting.clear()
                problem = TOO_MANY_PARTS
        if problem:
            self._doubted(problem)
            return
        self._late_words.clear()
        self._fed.clear()
        self._code = code.encode()
        root = self._parse(code)
        if root.has_error:
            self._doubted("the line cannot be parsed")
        self._nodes(root, depth)

    def _nodes(self, root: Any, depth: int) -> None:
        stack = [root]
        while stack and not self._full():
            node = stack.pop()
            kind = node.type
            if kind not in _LITERAL_NODES:
                self._literal = self._literal and self._harmless(node)
            if kind == "command":
                words = self._words_of(node)
                if words and words[0] in tables.RESERVED:
                    self._doubted("the line cannot be parsed")
                self._command(words, depth, node.id in self._fed)
            elif kind in _KEYWORD_COMMANDS:
                self._command(keyword_words(node), depth, fed=False)
            elif kind == "redirected_statement":
                self._redirected(node, depth)
            elif kind == "file_redirect":
                self._redirect(node)
            elif kind in _TEXT_NODES:
                self._text_node(node)
            elif lost(node):
                self._doubted("the line cannot be parsed")
            stack.extend(reversed(node.children))

    def _redirect(self, node: Any) -> None:
        file = written_file(node)
        if file is not None:
            self._writes.append(file)
            self._text += len(file)

    def _text_node(self, node: Any) -> None:
        """Text that may become code. The grammar does not see every substitution in it."""
        self._foreign.append(value(node))
        if node.type == "heredoc_body":
            self._here.append(source(node))
        if node.type in {"heredoc_body", "expansion"} and not quoted_here(node) and hides_code(node):
            self._doubted("a substitution cannot be read")

    def _harmless(self, node: Any) -> bool:
        """Redirections that change nothing: to nowhere, and between the standard streams."""
        if node.type in {"redirected_statement", "file_descriptor", ">", ">&", "&>", "2>", "<"}:
            return True
        if node.type != "file_redirect":
            return False
        target = source(node.children[-1])
        return target == "/dev/null" or (target in {"1", "2"} and any(c.type == ">&" for c in node.children))

    def _redirected(self, node: Any, depth: int) -> None:
        command = last_command(node.children[0])
        redirects = [child for child in node.children if child.type in REDIRECTS]
        late = [word for redirect in redirects for word in after_target(redirect)]
        if command is None:
            if late:
                self._doubted("words follow a redirection of no command")
            return
        self._late_words[command.id] = late
        if b"&>" in node.text:
            # To bash a redirection, to other shells the end of one command and the beginning of the next.
            words = tuple(map(word_text, late))
            all(self._queued(Inner(words[at:]), depth) for at in range(len(words)))
        if any(redirect.type != "file_redirect" for redirect in redirects):
            self._fed.add(command.id)

    def _words_of(self, command: Any) -> Words:
        nodes: list[Any] = []
        for child in command.children:
            if child.type == "command_name":
                nodes.extend(child.children)
            elif child.type in REDIRECTS:
                nodes.extend(after_target(child))
                if child.type != "file_redirect":
                    self._fed.add(command.id)
            elif child.type != "variable_assignment":
                nodes.append(child)
        nodes.extend(self._late_words.get(command.id, ()))
        if not all(apart(self._code, left, right) for left, right in pairwise(nodes)):
            self._doubted("the line cannot be parsed")
        return tuple(word_text(node) for node in nodes)

    def _command(self, words: Words, depth: int, fed: bool, outer: Words = ()) -> None:
        if not words:
            return
        command = command_of(words, outer)
        self._commands.append(command)
        self._text += sum(map(len, command.forms))
        self._foreign.extend(word for word in words if "$(" in word or "`" in word)
        if any(HOLE in word for word in words) or " " in words[0]:
            self._literal = False
        self._here_is_code |= fed and program_of(words[0]) in tables.STDIN_INTERPRETERS
        for found in look_through(words, fed):
            if isinstance(found, Doubt):
                self._doubted(found.reason)
            elif isinstance(found, Foreign):
                self._foreign.append(found.text)
            elif not self._queued(found, depth):
                return

    def _queued(self, found: Line | Inner, depth: int) -> bool:
        """Nested wrappers multiply: what waits is bounded, too."""
        self._text += len(found.words) if isinstance(found, Inner) else len(found.code)
        self._waiting.append((found, depth + isinstance(found, Line)))
        return not self._full()


# One simple command: the forms a rule may have it in, and whether it does more than its name says
#
# `git -c`, `find -delete` or `rg --pre` run or write more than git, find and rg do: a permission for the program alone
# must not count for them. Guards do not need this: they see the commands that a command runs.


def command_of(words: Words, outer: Words = ()) -> ShellCommand:
    return ShellCommand(words, base_name(words[0]), _forms(words), escapes(words), outer)


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
