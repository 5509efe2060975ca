"""Words and redirections of shell scripts, and what every command may do: read, write, fail."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from hookline.cli.commands.convert.proof.state import UNSET, Seen, State, Unproven, one, told_apart
from hookline.cli.commands.convert.proof.values import (
    EMPTY,
    NOTHING,
    PERHAPS,
    UNKNOWN,
    Value,
    after,
    joined,
    literal,
)
from hookline.matching.shell.grammar.syntax import List, Parameter, Part, Redirect, Substitution, Text, Word

#: Where the descriptors 1 and 2 lead: "out", "err", "null", or "file".
Streams = tuple[str, str]

#: Variables that a program has from its user, and that every agent leaves as they are.
_OF_THE_USER: Final = frozenset(("HOME", "USER", "LOGNAME", "LANG", "TMPDIR"))
#: Variables that change what commands do.
_CHANGE_COMMANDS: Final = re.compile(
    r"PATH|HOME|PWD|OLDPWD|IFS|ENV|BASH\w*|SHELLOPTS|CDPATH|GLOBIGNORE|PS4|POSIXLY_CORRECT|LD_\w+|DYLD_\w+"
    r"|PYTHON\w*|GIT_\w+|GREP_\w+|JQ\w*|LC_\w+|LANG|\w*_OPTIONS"
)
_SPECIAL: Final = re.compile(r"[\d@*#?$!_-]|\d+")
_EXPANDED: Final = re.compile(r"[*?\[~{]")
_ONE_WORD: Final = re.compile(r"[\w./:@%+=,-]+")
#: Files that are none.
FILES: Final = {"/dev/null": "null", "/dev/stdout": "out", "/dev/stderr": "err"}
_ERROR: Final = Value(frozenset((PERHAPS,)))


class ShellWords(ABC):
    def __init__(self, seen: Seen, settings: Mapping[str, str]) -> None:
        self.seen = seen
        #: Variables whose value is known, as that with the project's directory.
        self._settings = settings
        #: How many outputs around this point are caught: what is written there is not what the hook prints.
        self._caught = 0

    @abstractmethod
    def subshell(self, body: List, state: State, streams: Streams) -> list[State]: ...

    # --- redirections --------------------------------------------------------------------------------------------

    def redirected(
        self, redirects: Sequence[Redirect], state: State, streams: Streams
    ) -> tuple[State, Streams]:
        out, err = streams
        for each in redirects:
            operator, number = each.operator, each.number
            if each.variable or number not in ("", "0", "1", "2"):
                raise Unproven("uses descriptors beyond the usual three")
            if operator in ("<<", "<<<", "<"):
                state = self._input(each, state, streams)
                continue
            state, target = self.value(each.target, state, streams)
            self.used(target)
            if operator == "&>":
                out = err = _place(target.text)
            elif operator in (">", ">>", ">|"):
                place = _place(target.text)
                out, err = (out, place) if number == "2" else (place, err)
            elif operator == ">&" and target.text in ("1", "2"):
                place = out if target.text == "1" else err
                out, err = (out, place) if number == "2" else (place, err)
            else:
                raise Unproven(f"redirects with {operator}, which is not read")
        return state, (out, err)

    def _input(self, redirect: Redirect, state: State, streams: Streams) -> State:
        if redirect.number not in ("", "0"):
            raise Unproven("uses descriptors beyond the usual three")
        if redirect.operator == "<":
            state, file = self.value(redirect.target, state, streams)
            self.used(file)
            self.looks_at(file)
            if not (file.text or "/dev/stdin").startswith("/dev/"):
                return replace(state, stdin=Value())
            raise Unproven("reads a device")
        state, value = self.value(tuple(redirect.body or redirect.target), state, streams)
        return replace(state, stdin=value if redirect.operator == "<<" else joined((value, literal("\n"))))

    # --- words ---------------------------------------------------------------------------------------------------

    def value(self, word: Word, state: State, streams: Streams) -> tuple[State, Value]:
        found: list[Value] = []
        for part in word:
            state, value = self._part(part, state, streams)
            found.append(value)
        return state, joined(found) if len(found) != 1 else found[0]

    def _part(self, part: Part, state: State, streams: Streams) -> tuple[State, Value]:
        if isinstance(part, Text):
            open_ = not part.quoted and part.text != "[" and _EXPANDED.search(part.text.removeprefix("~/"))
            return state, Value() if open_ else literal(part.text)
        if isinstance(part, Parameter):
            return self._parameter(part, state, streams)
        if isinstance(part, Substitution):
            if part.direction:
                raise Unproven("gives a command as a file")
            state, value = self.catch(
                lambda now: self.subshell(part.body, now, ("out", _err_of(streams))), state
            )
            texts = frozenset(text.rstrip("\n") for text in value.texts)
            return state, _split(Value(texts, value.whole), part.quoted)
        refuse_changes(part.parts)
        for inner in part.parts:
            state, value = self._part(inner, state, streams)
            self.used(value)
        return state, Value()

    def _parameter(self, part: Parameter, state: State, streams: Streams) -> tuple[State, Value]:
        if part.indirect or part.subscript is not None:
            raise Unproven("uses a variable whose name is known only when it runs")
        if part.operator.endswith(("?", "=")):
            raise Unproven(f"uses ${{{part.name}{part.operator}}}, which is not read")
        value = self.variable(part.name, state)
        if part.operator:
            state, word = self.value(part.word, state, streams)
            value = Value(whole=value.whole or word.whole)
        return state, _split(value, part.quoted)

    def variable(self, name: str, state: State) -> Value:
        if _SPECIAL.fullmatch(name):
            return Value()
        if name not in state.names or state.names[name] is UNSET:
            if name not in _OF_THE_USER:
                self.seen.variables.add(name)
            known = self._settings.get(name)
            return literal(known) if known is not None else Value()
        return state.names[name]

    def catch(self, run: Callable[[State], list[State]], state: State) -> tuple[State, Value]:
        """What is written to the output meanwhile."""
        self._caught += 1
        found = one(told_apart(run(replace(state, out=NOTHING, out_whole=False))))
        self._caught -= 1
        return replace(found, out=state.out, out_whole=state.out_whole), Value(found.out, found.out_whole)

    # --- what commands do ----------------------------------------------------------------------------------------

    def written(self, state: State, value: Value, place: str) -> State:
        if value.whole and place != "null" and not (place == "out" and self._caught):
            self.seen.fields.add(())
        if place == "out":
            return replace(state, out=after(state.out, value.texts), out_whole=state.out_whole or value.whole)
        return replace(state, err=after(state.err, value.texts)) if place == "err" else state

    def refuse_setting(self, name: str) -> None:
        if _CHANGE_COMMANDS.fullmatch(name):
            raise Unproven(f"sets {name}, with which commands may do something else")

    def noisy(self, state: State, streams: Streams) -> State:
        """A program may have said why it failed."""
        return self.written(state, _ERROR, streams[1])

    def used(self, value: Value) -> None:
        """It is looked at as it is."""
        if value.whole:
            self.seen.fields.add(())

    def consumed(self, state: State) -> State:
        """A command reads the input."""
        self.used(state.stdin)
        return replace(state, stdin=EMPTY)

    def looks_at(self, file: Value) -> None:
        """A file whose name is relative is another one where the program runs in another directory."""
        if any(text.startswith(("/dev/", "/proc/")) for text in file.texts):
            raise Unproven("reads a device")
        if file.text is None or not file.text.startswith(("/", "~/")):
            self.seen.place = "looks at files by relative names"


def refuse_changes(expression: Word) -> None:
    """Arithmetic may also change variables."""
    text = "".join(part.text for part in expression if isinstance(part, Text))
    if re.search(r"\+\+|--|(?<![=!<>])=(?!=)", text):
        raise Unproven("changes a variable by arithmetic")


def _place(file: str | None) -> str:
    """Where a redirection to a file leads."""
    if file is None:
        raise Unproven("writes to a file whose name is known only when it runs")
    if file.startswith(("/dev/", "/proc/")) and file not in FILES:
        raise Unproven(f"writes to {file}, which is not read")
    return FILES.get(file, "file")


def _split(value: Value, quoted: bool) -> Value:
    """Without quotes, a text may be no word or several."""
    if quoted or all(_ONE_WORD.fullmatch(text) for text in value.texts):
        return value
    return Value(UNKNOWN, value.whole)


def _err_of(streams: Streams) -> str:
    if streams[1] == "out":
        raise Unproven("writes both outputs into one")
    return streams[1]
