"""What a line defines and then calls itself: aliases, functions that run their arguments, scripts that it writes."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from hookline.matching.shell.found import Doubt, Foreign, Found, Inner, Line, Stdin
from hookline.matching.shell.holes import HOLE, Words
from hookline.matching.shell.kinds import KINDS
from hookline.matching.shell.kinds.commands import is_stdin
from hookline.matching.shell.programs import row_of
from hookline.matching.shell.reader import ShellCommand
from hookline.matching.shell.runs import program_of

_INTERPRETERS = frozenset(("python", "perl", "ruby", "node", "php", "lua", "tclsh", "awk", "gawk", "sed"))
#: What begins a script of another language.
_OTHER_LANGUAGE = ("#!/usr/bin/env python", "#!/usr/bin/python", "#!/usr/bin/env node", "#!/usr/bin/env perl")


_MOST_ALIASES = 8
_LONGEST_NAME = 256
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
#: Shells and git run these by themselves, later.
_RUN_LATER = re.compile(
    r"(?:^|/)(?:\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.profile|\.zshrc|\.zshenv|\.zprofile|\.kshrc"
    r"|\.envrc|\.git/hooks/[\w-]+)$"
)
_OF_GIT = re.compile(r"\.gitconfig$|\.git/(?:config$|hooks/)")
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "su", "sudo", "login"))
#: Consoles of databases, and the kind of what they read.
_CONSOLES = {
    "psql": "psql",
    "pgcli": "psql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
    "duckdb": "sqlite",
}
#: They write files that their options and scripts name.
_FILTERS = frozenset(
    ("sort", "sed", "awk", "gawk", "mawk", "nawk", "busybox", "split", "uniq", "patch", "ed", "ex")
)
_COPIES = frozenset(("cp", "ln", "install", "mv", "link"))
#: Where such a document begins and ends is not the same in all shells.
HERE_IN_ALIAS = Doubt("an alias holds a here-document")
_RUNS_ITS_OWN = Doubt("it runs a file that it writes, and what is in it is not known")
_PROGRAM_FILE = re.compile(r"(?:^|/)s?bin/[^/]+$")


class Definitions:
    def __init__(self) -> None:
        self._aliases: dict[str, list[str]] = {}
        self._runs_arguments: set[str] = set()
        #: By the name of its file; None is text that is not known.
        self._scripts: dict[str, list[str | None]] = {}
        self._names: set[str] = set()
        #: Commands that may write the files that they name.
        self._filters: list[Words] = []
        self._sets_arguments = False
        self._loaded: set[str] = set()
        #: Files that consoles of databases read from standard input, with the kind of what is in them.
        self._fed: set[tuple[str, str]] = set()
        self._told: set[tuple[int, Found]] = set()

    def note(self, words: Words, stdin: Stdin) -> Iterator[Found]:
        """Remembers what a command defines; what of it will be run for sure is told at once."""
        program = program_of(words[0])
        if program == "alias":
            yield from self._note_aliases(words)
        elif program == "tee":
            for word in words[1:]:
                yield from self._fed_to(word, stdin)
        elif program in _CONSOLES and stdin.file:
            self._fed.update((_CONSOLES[program], _file(file)) for file in stdin.file.split("\n"))
        elif program in _FILTERS:
            self._filters.append(words)
        elif program in _COPIES or program == "dd":
            yield from self._note_copies(program, words, stdin)

    def _note_aliases(self, words: Words) -> Iterator[Found]:
        for name, equals, value in (word.partition("=") for word in words[1:]):
            values = self._aliases.setdefault(name, []) if equals else []
            if len(values) >= _MOST_ALIASES:
                yield Doubt(f"the alias {name} is made too often")
            elif equals and value not in values:
                values.append(value)

    def _note_copies(self, program: str, words: Words, stdin: Stdin) -> Iterator[Found]:
        """A program under another name is still that program."""
        sources, targets = words[1:-1], words[-1:]
        if program == "dd":
            sources = tuple(word[3:] for word in words[1:] if word.startswith("if="))
            targets = tuple(word[3:] for word in words[1:] if word.startswith("of="))
        yield from (Inner((word,)) for word in sources if _is_program(word))
        if program == "dd" or any(map(is_stdin, sources)):
            for target in targets:
                yield from self._fed_to(target, stdin)

    def _fed_to(self, file: str, stdin: Stdin) -> Iterator[Found]:
        yield from self.script(file, stdin.text if stdin.kind == "text" else None)

    def replaces(self, name: str) -> bool:
        """Whether the line gives something of its own the name of a program."""
        return name in self._aliases or name in self._names

    def runs_arguments(self, function: str) -> None:
        """`f() { "$@"; }`."""
        self._runs_arguments.add(function)

    def loads(self, file: str) -> None:
        """`GIT_CONFIG_GLOBAL=file`: programs will read it."""
        self._loaded.add(_file(file))

    def sets_arguments(self) -> None:
        """`set -- rm y`: what a function runs as its arguments may be these."""
        self._sets_arguments = True

    def calls(self, name: str) -> bool:
        """Whether a command of this name is a call of what the line defines."""
        return name in self._runs_arguments or name in self._aliases

    def script(self, file: str, text: str | None) -> Iterator[Found]:
        """`cat > x.sh <<E`: what a file will hold when the line runs it. None: that is not known."""
        if text is not None and _RUN_LATER.search(file):
            yield Line(text)
        elif file := _file(file):
            texts = self._scripts.setdefault(file, [])
            self._names.add(posixpath.basename(file))
            if text not in texts:
                texts.append(text)

    def called(self, commands: Sequence[ShellCommand]) -> Iterator[tuple[int, Found]]:
        """What the commands run by being calls of these, with the place of the command; each is told once."""
        if not self._aliases and not self._runs_arguments and not self._scripts and not self._filters:
            return
        for told in self._calls(commands):
            if told not in self._told:
                self._told.add(told)
                yield told

    def _calls(self, commands: Sequence[ShellCommand]) -> Iterator[tuple[int, Found]]:
        if self._sets_arguments and self._runs_arguments and commands:
            yield 0, Doubt("what a function runs as its arguments is set by the line")
        for kind, file in tuple(self._fed):
            for text in self._texts(file):
                yield from (
                    (0, one) for one in ((_RUNS_ITS_OWN,) if text is None else KINDS[kind].found(text))
                )
        for at in range(len(commands)):
            yield from ((at, found) for found in self._by(commands[at].words))

    def _by(self, words: Words) -> Iterator[Found]:
        if words[0] in self._runs_arguments:
            yield from (Inner(words[begin:]) for begin in range(1, len(words)))
        for value in self._aliases.get(words[0], ()):
            if value.split()[:1] == [words[0]]:
                continue  # a shell does not expand it again
            if "<<" in value:
                yield HERE_IN_ALIAS
            if any(HOLE in word for word in words[1:]):
                yield Doubt(f"what the alias {words[0]} is given is known only to the shell")
            rest = tuple(_quoted(word.replace(HOLE, "")) for word in words[1:])
            yield Line(" ".join((value, *rest)))
            if value[-1:].isspace():
                # Then the next word may be an alias, too.
                for following in (each for name in words[1:2] for each in self._aliases.get(name, ())):
                    yield Line(" ".join((value, following, *rest[1:])))
        if self._scripts:
            yield from self._by_script(words)
        if self._filters and self._is_filtered(words):
            yield _RUNS_ITS_OWN

    def _is_filtered(self, words: Words) -> bool:
        """`sed 'w o' f; sh o`: whether a command runs a file that a filter may have written."""
        name = posixpath.basename(_file(words[0]))
        if len(words[0]) > _LONGEST_NAME or not name or row_of(name) is not None:
            return False
        named = re.compile(rf"(?:(?<![\w.])|(?<=w)|(?<=^-\w)){re.escape(name)}(?![\w.])")
        return any(
            named.search(word) or (filtered[0] == "split" and name.startswith(word))
            for filtered in self._filters
            for word in (*filtered[1:], "x")
        )

    def _loaded_by(self, program: str, file: str) -> str:
        """`MAKEFILES=o make`."""
        name = posixpath.basename(file)
        loaded = program == "make" and any(posixpath.basename(each) == name for each in self._loaded)
        return "makefile" if loaded else ""

    def _texts(self, file: str) -> Iterator[str | None]:
        """What this file may hold. The directory does not count: the line may have changed to it."""
        name = posixpath.basename(file)
        if name and name in self._names:
            for each, texts in self._scripts.items():
                if posixpath.basename(each) == name:
                    yield from texts

    def _by_script(self, words: Words) -> Iterator[Found]:
        if any(None in self._texts(file) for file in self._loaded):
            yield _RUNS_ITS_OWN
        for text in self._texts(_file(words[0])):
            if text is None:
                yield _RUNS_ITS_OWN
            else:
                yield Foreign(text) if text.startswith(_OTHER_LANGUAGE) else Line(text, words)
        program = program_of(words[0])
        if program in _INTERPRETERS:
            named = [file for file in self._scripts if any(_names(word, file) for word in words[1:])]
            for text in (text for file in named for text in self._scripts[file]):
                yield _RUNS_ITS_OWN if text is None else Foreign(text)
        for file, text in ((file, text) for file, texts in self._scripts.items() for text in texts):
            kind = _read_by(program, file, words) or self._loaded_by(program, file)
            if kind and text is not None:
                yield from KINDS[kind].found(text)
            elif kind and (program != "git" or _OF_GIT.search(file) or _given(file, words)):
                yield _RUNS_ITS_OWN


def _names(word: str, file: str) -> bool:
    """`o`, `$PWD/o`, `-fo`, `--file=o`."""
    name = posixpath.basename(file)
    return posixpath.basename(_file(word)) == name or (word[:1] == "-" and word.endswith(name))


def _is_program(file: str) -> bool:
    return _PROGRAM_FILE.search(posixpath.normpath(file)) is not None


def _read_by(program: str, file: str, words: Words) -> str:
    """As what the program reads this file by itself, or because a word names it; nothing where it does not."""
    name = posixpath.basename(file)
    if program == "make":
        named = name in _MAKEFILES or any(word.endswith(name) for word in words)
        return "makefile" if named else ""
    if program == "git":
        # Variables and settings may name any file.
        return "git file"
    if program in _CONSOLES:
        return _CONSOLES[program] if any(word.endswith(name) for word in words) else ""
    return "line" if program in _SHELLS and _RUN_LATER.search(file) else ""


def _given(file: str, words: Words) -> bool:
    """`-c include.path=file`."""
    return any(word.partition("=")[2].endswith(posixpath.basename(file)) for word in words)


def _file(name: str) -> str:
    """The name that a file is remembered by; nothing where it is not known. `$PWD/o` and `o$X` may be o."""
    name = name.removeprefix(f"{HOLE}/").replace(HOLE, "")
    return posixpath.normpath(name) if name else ""


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
