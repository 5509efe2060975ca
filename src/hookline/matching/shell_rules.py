"""Match the argument of a rule about a shell: `git:*`, `git *`, `npm run test`."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from msgspec import Struct

from hookline.matching.patterns import Glob, glob
from hookline.model.hook import Answer, Doubt
from hookline.shell import HOLE, ShellCommand, ShellReading, base_name
from hookline.shell.allowed_directories import HERE, Places

_QUOTES = re.compile(r"[\"'\\]")
#: A directory that only the shell knows.
_ELSEWHERE = "/"
_NO_COMMAND = Doubt("the call names no command")


class LineReader(Protocol):
    def read(self, line: str) -> ShellReading: ...


class ShellArgument(Struct, frozen=True, eq=False):
    """A test of the commands of a line. `wide` is folded to lower case: some systems run RM as rm."""

    pattern: str
    strict: tuple[Glob, ...]
    wide: tuple[Glob, ...]
    #: Finds the program in code of another language.
    mention: re.Pattern[str] | None
    reader: LineReader
    #: The way lines are judged, where that is worth saying.
    note: str = ""

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer:  # noqa: ARG002 - the protocol
        """Judge a line: sure if one command is surely meant, whatever else the line may run."""
        reading = self._reading(arguments)
        if reading is None:
            return _NO_COMMAND
        if any(map(self._is, reading.commands)):
            return True
        if reading.uncertain is not None:
            return self._doubt(reading.uncertain)
        for command in reading.commands:
            if self._may_be(command):
                return self._doubt(f"`{command.text}` may be {self.pattern}")
        if any(map(self._mentioned, reading.foreign)):
            return self._doubt(f"{self.pattern} is mentioned in text that may be run")
        return False

    def may_name(self, head: Sequence[str]) -> bool:
        """Return False if no command that begins with these words can match for sure."""
        for words in (head, (base_name(head[0]), *head[1:])):
            known = " ".join(words).casefold()
            for one in self.wide:
                if one.may_match(f"{known} ") or one.matches(known):
                    return True
        return False

    def judge_input(self, arguments: Mapping[str, Any]) -> Answer:
        """Judge what may be typed into the commands of a line: nobody is asked about it later."""
        reading = self._reading(arguments)
        return self._doubt(reading.typed) if reading is not None and reading.typed else False

    def _doubt(self, phrase: str) -> Doubt:
        text = phrase.replace(HOLE, "…")
        return Doubt(f"{text}; {self.note}" if self.note else text)

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool:
        commands = self.literal_commands(arguments)
        places = places_of(commands, (cwd,))
        return bool(commands) and all(self.covers_command(command, places) for command in commands)

    def literal_commands(self, arguments: Mapping[str, Any]) -> tuple[ShellCommand, ...]:
        """Return the commands of a line; none where no permission may be granted on it."""
        reading = self._reading(arguments)
        if reading is None or not reading.literal:
            return ()
        return tuple(one for one in reading.commands if one.needs_permission) or reading.commands

    def covers_command(self, command: ShellCommand, places: Sequence[Places]) -> bool:
        text, beyond = " ".join(command.words), command.beyond(places)
        # A rule with the exact command is about all of its words, but not about another directory.
        dialect_event = HERE not in beyond
        if any(
            one.matches(text) and ((one.exact and dialect_event) or _spells(one, beyond))
            for one in self.strict
        ):
            return True
        if not command.outer or beyond:
            return False
        around, pin = " ".join(command.outer), " ".join(command.pin)
        return any(one.matches(around) and one.pieces[0].startswith(pin) for one in self.strict)

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:  # noqa: ARG002 - the protocol
        reading = self._reading(arguments) if answer else None
        found = next(filter(self._is, reading.commands if reading is not None else ()), None)
        which = f'command "{found.text}"' if found is not None else "no command of the line"
        return f"{which} is {self.pattern}" + (f" ({self.note})" if self.note else "")

    def _reading(self, arguments: Mapping[str, Any]) -> ShellReading | None:
        command: Any = arguments.get("command")
        if (
            type(command) is not str
            and isinstance(command, Sequence)
            and not isinstance(command, str | bytes)
        ):
            words = cast("Sequence[Any]", command)
            command = " ".join(_quoted(word) for word in words if isinstance(word, str))
        return self.reader.read(command) if isinstance(command, str) and command.strip() else None

    def _is(self, command: ShellCommand) -> bool:
        """Return True if the command matches, whatever its placeholders are: in a pattern only `*` matches one."""
        for form in command.forms:
            for one in self.wide:
                if one.matches(form):
                    return True
        return False

    def _may_be(self, command: ShellCommand) -> bool:
        for form in command.forms:
            if HOLE not in form or _is_directory_alone(form):
                # Of a directory alone, its base name is a form as well.
                continue
            known = form.partition(HOLE)[0]
            if any(one.may_match(known) or one.matches(known.rstrip()) for one in self.wide):
                return True
        return False

    def _mentioned(self, text: str) -> bool:
        folded = text.casefold()
        if self.mention is not None:
            return self.mention.search(folded) is not None
        return any(Glob(("", *one.pieces, "")).matches(folded) for one in self.wide)


def places_of(commands: Sequence[ShellCommand], roots: Sequence[str]) -> tuple[Places, ...]:
    """Return the project, by each of its roots, and the directories in it where the commands of a line may be run:
    also those of a subshell, or of a command that may fail."""
    from hookline.shell.directories import MOST_DIRECTORIES, change_of, reached  # noqa: PLC0415 few lines enter one

    runs_others = any(one.by >= 0 for one in commands)
    changes = [(one, change) for one in commands if (change := change_of(one.words)) is not None]
    entering = [one for one, change in changes if change.lasts or runs_others]
    bases = reached(entering, (HERE,), _below) if entering else [HERE]
    places = (_ELSEWHERE,) if len(bases) > MOST_DIRECTORIES else tuple(bases)
    return tuple(Places(root, places) for root in roots)


def _below(word: str, directory: str) -> str:
    known = word != "-" and not word.startswith(("~", "+")) and HOLE not in word
    return posixpath.normpath(posixpath.join(directory, word)) if known else _ELSEWHERE


def _spells(rule: Glob, beyond: Sequence[str]) -> bool:
    """Return True if a rule spells every reason why a command exceeds its plain job: `sed -i:*`, `git -C
    /srv/x:*`."""
    if not beyond:
        return True
    words = rule.pieces[0].split()
    return set(beyond) <= {*words, *(word.partition("=")[2] for word in words)}


def shell_argument(pattern: str, reader: LineReader, note: str = "") -> ShellArgument:
    text = " ".join(pattern.split())
    wide = {glob(one.casefold()): None for variant in _variants(text) for one in _readings(variant)}
    return ShellArgument(
        text, tuple(map(glob, _readings(text))), tuple(wide), _mention(text.casefold()), reader, note
    )


def _readings(text: str) -> Iterator[str]:
    """Yield readings: `git:*` and `git *` are git alone, and git with anything after a blank."""
    if text.endswith((":*", " *")):
        yield text[:-2]
        yield text[:-2] + " *"
    else:
        yield text


def _variants(text: str) -> Iterator[str]:
    """Yield the pattern without quotes and by base name, as commands are compared."""
    unquoted = _QUOTES.sub("", text)
    first, blank, rest = unquoted.partition(" ")
    yield from dict.fromkeys((text, unquoted, base_name(first) + blank + rest))


def _mention(text: str) -> re.Pattern[str] | None:
    first = base_name(_QUOTES.sub("", text).removesuffix(":*").partition(" ")[0])
    if not first or "*" in first:
        return None
    return re.compile(rf"(?<![\w-]){re.escape(first)}(?![\w-]|\.\w)")


def _is_directory_alone(form: str) -> bool:
    """Return True if only the directory of the program is not known: `…/bin/java -jar x`."""
    directory, slash, name = form.partition(" ")[0].rpartition("/")
    return bool(slash) and bool(name) and HOLE in directory and HOLE not in name


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
