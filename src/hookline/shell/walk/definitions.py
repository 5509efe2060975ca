"""Follow what a line defines and then calls itself: aliases, functions that run their arguments, scripts that
it writes."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence

from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt, Stdin
from hookline.shell.kinds import CONSOLES, KINDS
from hookline.shell.kinds.commands import is_stdin
from hookline.shell.placeholders import HOLE, Words
from hookline.shell.programs import ProgramRow, row_of, table
from hookline.shell.reader import ShellCommand
from hookline.shell.runs import does, program_of
from hookline.shell.walk.given_options import GivenOptions

#: First lines of scripts of other languages.
_OTHER_LANGUAGE = ("#!/usr/bin/env python", "#!/usr/bin/python", "#!/usr/bin/env node", "#!/usr/bin/env perl")


_MOST_ALIASES = 8
_LONGEST_NAME = 256
# Compiled when they are first used: most lines write nothing that is run later.
#: Texts in the words of a command that changes scripts of a project.
_EDITED = r"""["'`]([\w./~-]+\s[^"'`\n]{1,500})["'`]|^s(\W)(?:\\.|(?!\2).)*+\2([\w./~-]+\s(?:\\.|(?!\2).){1,500})\2"""
#: Shells and git run these later, without being asked.
_RUN_LATER = (
    r"(?:^|/)(?:\.bashrc|\.bash_profile|\.bash_login|\.bash_logout|\.profile|\.zshrc|\.zshenv|\.zprofile|\.kshrc"
    r"|\.envrc|\.git/hooks/[\w-]+|git-[\w-]+|(?:pre|post|prepare|commit|update|push|sendemail|fsmonitor|reference)-"
    r"(?:commit|push|merge|merge-commit|rebase|checkout|rewrite|applypatch|receive|update|auto-gc|msg|commit-msg))$"
)
_OF_GIT = r"\.gitconfig$|\.git/(?:config$|hooks/)"
_MOST_COPIES = 64
#: A finding: such a document begins and ends differently in different shells.
HERE_IN_ALIAS = ShellDoubt("an alias holds a here-document")
_RUNS_ITS_OWN = ShellDoubt("it runs a file that it writes, and what is in it is not known")
_PROGRAM_FILE = r"(?:^|/)s?bin/[^/]+$"


class ShellDefinitions:
    def __init__(self) -> None:
        self._aliases: dict[str, list[str]] = {}
        self._runs_arguments: set[str] = set()
        #: By the name of its file; None is text that is not known.
        self._scripts: dict[str, list[str | None]] = {}
        self._names: set[str] = set()
        #: Commands that may write the files that they name.
        self._filters: list[Words] = []
        #: By the name of a copy or a link, the files that it may be one of.
        self._copies: dict[str, list[str]] = {}
        self.options = GivenOptions()
        #: Commands that name the scripts of a project.
        self._edits: list[Words] = []
        self._sets_arguments = False
        self._loaded: set[str] = set()
        #: Files that consoles of databases read from standard input, with the kind of their content.
        self._fed: set[tuple[str, str]] = set()
        self._translated: set[tuple[int, Found]] = set()

    def note(self, words: Words, stdin: Stdin) -> Iterator[Found]:
        """Remember what a command defines; yield at once the parts that will certainly run."""
        program = program_of(words[0])
        self.options.note(program, words)
        told = "\n".join(words[1:])
        if "package.json" in told or ".scripts" in told:
            self._edits.append(words)
        if program == "alias":
            yield from self._note_aliases(words)
        elif program in {"tee", "sponge"}:
            for word in words[1:]:
                yield from self._fed_to(word, stdin)
        elif stdin.file and (console := _console(table().get(program))):
            self._fed.update((console, _file(file)) for file in stdin.file.split("\n"))
        elif does(words[0], "filters"):
            self._filters.append(words)
        elif does(words[0], "renames"):
            yield from self._note_copies(program, words, stdin)

    def _note_aliases(self, words: Words) -> Iterator[Found]:
        for name, equals, value in (word.partition("=") for word in words[1:]):
            values = self._aliases.setdefault(name, []) if equals else []
            if len(values) >= _MOST_ALIASES:
                yield ShellDoubt(f"the alias {name} is made too often")
            elif equals and value not in values:
                values.append(value)

    def _note_copies(self, program: str, words: Words, stdin: Stdin) -> Iterator[Found]:
        """Handle copies: a program under another name is still that program."""
        sources, targets = words[1:-1], words[-1:]
        if program in {"dd", "gdd"}:
            sources = tuple(word[3:] for word in words[1:] if word.startswith("if="))
            targets = tuple(word[3:] for word in words[1:] if word.startswith("of="))
        yield from (Inner((word,), renamed=True) for word in sources if _is_program(word))
        for target in targets:
            known = self._copies.setdefault(posixpath.basename(_file(target)), [])
            known.extend(sources[: _MOST_COPIES - len(known)])
        if program in {"dd", "gdd"} or any(map(is_stdin, sources)):
            for target in targets:
                yield from self._fed_to(target, stdin)

    def _fed_to(self, file: str, stdin: Stdin) -> Iterator[Found]:
        yield from self.script(file, stdin.text if stdin.kind == "text" else None)

    def replaces(self, name: str) -> bool:
        """Return True if the line gives its own definition the name of a program."""
        return name in self._aliases or name in self._names

    def runs_arguments(self, function: str) -> None:
        """Note a function such as `f() { "$@"; }`."""
        self._runs_arguments.add(function)

    def loads(self, file: str) -> None:
        """Note `GIT_CONFIG_GLOBAL=file`: programs will read it."""
        self._loaded.add(_file(file))

    def sets_arguments(self) -> None:
        """Note `set -- rm y`: a function may run these as its arguments."""
        self._sets_arguments = True

    def calls(self, name: str) -> bool:
        """Return True if a command of this name calls a definition of the line."""
        return name in self._runs_arguments or name in self._aliases

    def script(self, file: str, text: str | None) -> Iterator[Found]:
        """Note `cat > x.sh <<E`: the content of a file when the line runs it. None if it is not known."""
        if text is not None and re.search(_RUN_LATER, file):
            yield Line(text)
        elif file := _file(file):
            texts = self._scripts.setdefault(file, [])
            self._names.add(posixpath.basename(file))
            if text not in texts:
                texts.append(text)

    def contents(self) -> Mapping[str, str]:
        """Return the text that the line writes to each file, where it is known and the only one."""
        return {
            file: texts[0]
            for file, texts in self._scripts.items()
            if len(texts) == 1 and texts[0] is not None
        }

    def called(self, commands: Sequence[ShellCommand]) -> Iterator[tuple[int, Found]]:
        """Yield what commands run by calling these definitions, with the position of the command; each is
        reported once."""
        defined = self._aliases, self._runs_arguments, self._scripts, self._filters, self._copies, self._edits
        if not any(defined) and not self.options.given:
            return
        self.options.note_files(self._scripts)
        for shown in self._calls(commands):
            if shown not in self._translated:
                self._translated.add(shown)
                yield shown

    def _calls(self, commands: Sequence[ShellCommand]) -> Iterator[tuple[int, Found]]:
        if self._sets_arguments and self._runs_arguments and commands:
            yield 0, ShellDoubt("what a function runs as its arguments is set by the line")
        for kind, file in tuple(self._fed):
            for text in self._texts(file):
                yield from (
                    (0, one) for one in ((_RUNS_ITS_OWN,) if text is None else KINDS[kind].found(text))
                )
        for name in (name for name in self._copies if re.search(_RUN_LATER, name)):
            yield from ((0, Line(text)) for text in self._texts(name) if text is not None)
        for at in range(len(commands)):
            yield from ((at, found) for found in self._by(commands[at].words))

    def _by(self, words: Words) -> Iterator[Found]:
        if words[0] in self._runs_arguments:
            yield from (Inner(words[begin:]) for begin in range(1, len(words)))
        yield from self._by_alias(words)
        yield from self._by_copy(words)
        yield from self.options.found(program_of(words[0]), words)
        if self._scripts:
            yield from self._by_script(words)
        if self._filters and self._is_filtered(words):
            yield _RUNS_ITS_OWN
        row = table().get(program_of(words[0])) if self._edits else None
        if row is not None and row.package:
            for text, sign, new in (
                found for each in self._edits for word in each[1:] for found in re.findall(_EDITED, word)
            ):
                yield Line(text or new.replace(f"\\{sign}", sign))

    def _by_alias(self, words: Words) -> Iterator[Found]:
        for value in self._aliases.get(words[0], ()):
            if value.split()[:1] == [words[0]]:
                continue  # a shell does not expand it again
            if "<<" in value:
                yield HERE_IN_ALIAS
            if any(HOLE in word for word in words[1:]):
                yield ShellDoubt(f"what the alias {words[0]} is given is known only to the shell")
            rest = tuple(_quoted(word.replace(HOLE, "")) for word in words[1:])
            yield Line(" ".join((value, *rest)))
            if value[-1:].isspace():
                # Then the next word may be an alias, too.
                for following in (each for name in words[1:2] for each in self._aliases.get(name, ())):
                    yield Line(" ".join((value, following, *rest[1:])))

    def _by_copy(self, words: Words) -> Iterator[Found]:
        """Yield the command under the name of the program that was copied or linked: `cp /bin/rm x; ./x y`."""
        name = posixpath.basename(_file(words[0]))
        for source in self._names_of(name) if name in self._copies else ():
            if posixpath.basename(source) != name and _may_be_program(source):
                yield Inner((source, *words[1:]))

    def _names_of(self, name: str) -> list[str]:
        """Return the files whose copy a file may be, itself included."""
        found = [name]
        for each in found:
            sources = self._copies.get(posixpath.basename(each), ())
            found += [source for source in sources if source not in found][: _MOST_COPIES - len(found)]
        return found

    def _is_filtered(self, words: Words) -> bool:
        """Return True if a command runs a file that a filter may have written: `sed 'w o' f; sh o`."""
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
        """Return the kind of a file that a variable makes a program load: `MAKEFILES=o make`."""
        name = posixpath.basename(file)
        loaded = program == "make" and any(posixpath.basename(each) == name for each in self._loaded)
        return "makefile" if loaded else ""

    def _texts(self, file: str) -> Iterator[str | None]:
        """Yield the texts this file may hold. The directory is ignored: the line may have changed to it."""
        names = {posixpath.basename(_file(each)) for each in self._names_of(posixpath.basename(file))}
        if not names.isdisjoint(self._names):
            for each, texts in self._scripts.items():
                if posixpath.basename(each) in names:
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
        row = table().get(program)
        if row is not None and row.loads is not None:
            loaded = row.loads
            named = [
                file
                for file in self._scripts
                if ("/" not in file and file.endswith(loaded))
                or any(_names(word, file) for word in words[1:])
            ]
            for text in (text for file in named for text in self._scripts[file]):
                yield _RUNS_ITS_OWN if text is None else Foreign(text)
        for file, text in ((file, text) for file, texts in self._scripts.items() for text in texts):
            kind = _read_by(program, file, words) or self._loaded_by(program, file)
            if kind and text is not None:
                yield from KINDS[kind].found(text)
            # Settings of a project are changed every day, by text that this line shows.
            elif kind not in {"", "scripts"} and (
                program != "git" or re.search(_OF_GIT, file) or _given(file, words)
            ):
                yield _RUNS_ITS_OWN


def _names(word: str, file: str) -> bool:
    """Return True if a word names the file: `o`, `$PWD/o`, `-fo`, `--file=o`."""
    name = posixpath.basename(file)
    return posixpath.basename(_file(word)) == name or (word[:1] == "-" and word.endswith(name))


def _may_be_program(source: str) -> bool:
    """Return True for `/usr/bin/git`, and for `git` where `$(which git)` was replaced by it."""
    return _is_program(source) or ("/" not in source and program_of(source) in table())


def _is_program(file: str) -> bool:
    return re.search(_PROGRAM_FILE, posixpath.normpath(file)) is not None


def _read_by(program: str, file: str, words: Words) -> str:
    """Return the kind as which the program reads this file, by default or because a word names it; or nothing."""
    name = posixpath.basename(file)
    row = table().get(program)
    if row is None:
        return ""
    if row.package:
        return "scripts" if name == row.package else ""
    if program == "git":
        # Variables and settings may name any file.
        return "git file"
    kind = "makefile" if row.recipes else "line" if "schedules" in row.does else _console(row)
    if kind and (name in row.recipes or any(word.endswith(name) for word in words)):
        return kind
    starts_shell = row.scripts or "logs-in" in row.does
    return "line" if starts_shell and re.search(_RUN_LATER, file) else ""


def _console(row: ProgramRow | None) -> str:
    """Return the kind of text that the console of a database reads."""
    return row.stdin if row is not None and row.stdin in CONSOLES else ""


def _given(file: str, words: Words) -> bool:
    """Return True for `-c include.path=file`."""
    return any(word.partition("=")[2].endswith(posixpath.basename(file)) for word in words)


def _file(name: str) -> str:
    """Return the name that a file is remembered by; nothing where it is not known. `$PWD/o` and `o$X` may be o."""
    name = name.removeprefix(f"{HOLE}/").replace(HOLE, "")
    return posixpath.normpath(name) if name else ""


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
