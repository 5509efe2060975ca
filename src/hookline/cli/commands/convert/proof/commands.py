"""The commands of shell scripts that are followed, and what each of them does. Whatever is not here ends the proof."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from hookline.cli.commands.convert.proof.jq import JqCall, fields_of, read_call, written_object
from hookline.cli.commands.convert.proof.shell import DECLARING, Command, Shell
from hookline.cli.commands.convert.proof.shell_words import Streams
from hookline.cli.commands.convert.proof.state import ANY, SUCCESS, State, Statuses, Unproven
from hookline.cli.commands.convert.proof.values import ANYTHING, EMPTY, UNKNOWN, Value, joined, literal

Values = Sequence[Value]
_FAILED: Final[Statuses] = frozenset((1,))
_MAY_FAIL: Final[Statuses] = frozenset((0, 1))
_NUMBER: Final = re.compile(r"\d{1,3}")
_FORMAT: Final = re.compile(r"%s|%%|\\n|[^%\\]+")
#: Options of grep that need no word after them, and read nothing else.
_GREP_OPTION: Final = re.compile(r"-[qisvEFoxwnlcHhPG]+|--quiet|--silent|--ignore-case|--fixed-strings")
_FILE_TEST: Final = re.compile(r"-[abcdefghknprstuwxGLNOS]")
_NUMBER_TEST: Final = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
#: What jq reads beside its input.
_JQ_READS: Final = re.compile(r"\benv\b|\$ENV|\binput|\bimport\b|\binclude\b")
_SETTINGS: Final = re.compile(r"-[eu]+")


def _ended(shell: Shell, state: State, values: Values, streams: Streams, leaves: str) -> list[State]:
    del streams
    if len(values) > (1 if leaves == "loop" else 2):
        raise Unproven(f"calls {values[0].text} with several words")
    statuses = state.status if len(values) == 1 and leaves != "loop" else SUCCESS
    if len(values) == 2:
        shell.used(values[1])
        statuses = _status(values[1])
    return [replace(state, status=statuses, leaves=leaves)]


def _status(value: Value) -> Statuses:
    if not all(_NUMBER.fullmatch(text) for text in value.texts):
        return ANY
    return frozenset(min(3, int(text) % 256) for text in value.texts)


def _exact(shell: Shell, state: State, values: Values, streams: Streams, statuses: Statuses) -> list[State]:
    """It does nothing but end with a status."""
    del streams
    for value in values:
        shell.used(value)
    return [replace(state, status=statuses)]


def _echo(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    words, end = list(values[1:]), "\n"
    if words and words[0].text == "-n":
        words, end = words[1:], ""
    # Shells do different things with a backslash, which may also end the text, and with other options.
    plain = all("\\" not in text for word in words for text in word.texts)
    first = words[0].texts if words else ()
    if not plain or any(text.startswith("-") or (text[:1] == ANYTHING and " " not in text) for text in first):
        said = Value(whole=any(word.whole for word in words))
    else:
        said = joined((*[part for word in words for part in (literal(" "), word)][1:], literal(end)))
        said = replace(said, texts=frozenset(_up_to_unknown(text) for text in said.texts))
    return [replace(shell.written(state, said, streams[0]), status=SUCCESS)]


def _up_to_unknown(text: str) -> str:
    known, mark, _rest = text.partition(ANYTHING)
    return known + mark


def _printf(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    text = values[1].text if len(values) > 1 else None
    if text is not None and text.startswith("-"):
        raise Unproven("calls printf in a way that is not read")
    words = list(values[2:])
    parts: list[str] = _FORMAT.findall(text or "%d")
    if text is None or "".join(parts) != text or parts.count("%s") != len(words):
        said = Value(whole=any(word.whole for word in values))
        state = shell.noisy(state, streams)
    else:
        fixed: dict[str, str] = {"%%": "%", "\\n": "\n"}
        said = joined(words.pop(0) if part == "%s" else literal(fixed.get(part, part)) for part in parts)
    statuses = SUCCESS if said.texts != UNKNOWN else _MAY_FAIL
    return [replace(shell.written(state, said, streams[0]), status=statuses)]


def _cat(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    if len(values) == 1:
        read = state.stdin
        state = replace(state, stdin=EMPTY)
    else:
        for value in values[1:]:
            shell.used(value)
            shell.looks_at(value)
            if value.text is None or value.text.startswith("-"):
                state = shell.consumed(state)
        read = Value()
    state = shell.noisy(state, streams)
    return [replace(shell.written(state, read, streams[0]), status=_MAY_FAIL)]


def _jq(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    call = read_call(values[1:])
    for value in values[1:]:
        shell.used(value)
    fields = fields_of(call.program) if call is not None else None
    if call is None or (fields is None and _JQ_READS.search(call.program)):
        raise Unproven("calls jq in a way that is not read")
    if "n" in call.flags:
        return _jq_writes(shell, state, call, streams)
    if call.files:
        for value in values[1:]:
            shell.looks_at(value)
        state = shell.consumed(state)  # it may be named as a file, too
    elif fields is None:
        state = shell.consumed(state)
    else:
        shell.seen.fields |= fields if state.stdin.whole else frozenset()
        state = replace(state, stdin=EMPTY)
    state = shell.noisy(state, streams)
    return [replace(shell.written(state, Value(), streams[0]), status=ANY)]


def _jq_writes(shell: Shell, state: State, call: JqCall, streams: Streams) -> list[State]:
    """An object that is written out in the program is printed, or jq fails."""
    written = written_object(call.program, call.names)
    if written is None or "e" in call.flags:
        raise Unproven("writes an answer with jq that is not written out in it")
    said = shell.written(state, Value(frozenset((f"{written}\n",))), streams[0])
    failed = shell.noisy(state, streams)
    return [replace(said, status=SUCCESS), replace(failed, status=ANY - SUCCESS)]


def _grep(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    words = values[1:]
    options = [each.text for each in words if each.text is not None and each.text.startswith("-")]
    files = [each for each in words if each.text is None or not each.text.startswith("-")][1:]
    for value in words:
        shell.used(value)
    if not all(_GREP_OPTION.fullmatch(each) for each in options):
        raise Unproven("calls grep in a way that is not read")
    if files and all(each.text for each in files):
        for file in files:
            shell.looks_at(file)
    else:
        state = shell.consumed(state)
    quiet = any("q" in each for each in options)
    state = shell.noisy(state, streams)
    state = state if quiet else shell.written(state, Value(), streams[0])
    return [replace(state, status=frozenset((0, 1, 2)))]


def _filter(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    """It prints something of what it reads."""
    for value in values[1:]:
        shell.used(value)
        if value.text is None or value.text.startswith("--") or "/dev/" in value.text:
            raise Unproven(f"calls {values[0].text} in a way that is not read")
    state = shell.noisy(shell.consumed(state), streams)
    return [replace(shell.written(state, Value(), streams[0]), status=ANY)]


def _sed(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    """`s` alone: other commands of sed run programs, and write files."""
    words = [value.text or "" for value in values[1:]]
    if not words or not all(re.fullmatch(r"-[nErs]+|s([/|,#])[^\n;{}]*\1[gI]*", word) for word in words):
        raise Unproven("calls sed in a way that is not read")
    return _filter(shell, state, values, streams)


def _asks(shell: Shell, state: State, values: Values, streams: Streams, place: str) -> list[State]:
    """It prints something that it finds, and reads no input. `place`: why it matters where it runs."""
    for value in values[1:]:
        shell.used(value)
    if place:
        shell.seen.place = place
    state = shell.noisy(state, streams)
    return [replace(shell.written(state, Value(), streams[0]), status=ANY)]


def _git(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    """It may read an input, too."""
    return _asks(shell, shell.consumed(state), values, streams, "asks git about the directory it runs in")


def _acts(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    """It changes something and prints nothing, but for errors."""
    for value in values[1:]:
        shell.used(value)
        if value.text is None or re.match(r"-\w*v|--v", value.text):
            raise Unproven(f"calls {values[0].text} in a way that is not read")
    return [replace(shell.noisy(state, streams), status=_MAY_FAIL)]


def _test(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    before = Value()
    for value in values[1:]:
        shell.used(value)
        if before.text is not None and _FILE_TEST.fullmatch(before.text):
            shell.looks_at(value)
        before = value
    operators = {value.text for value in values}
    certain = None not in operators or len(values) <= 5
    if operators & _NUMBER_TEST or not certain:
        return [replace(shell.noisy(state, streams), status=frozenset((0, 1, 2)))]
    open_ = any("\0" in text for value in values for text in value.texts)
    statuses = frozenset((0, 1, 2)) if open_ else _MAY_FAIL
    return [replace(shell.noisy(state, streams) if open_ else state, status=statuses)]


def _read(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    state = shell.noisy(shell.consumed(state), streams)
    for value in values[1:]:
        if value.text is None:
            raise Unproven("reads into a variable whose name is known only when it runs")
        if not value.text.startswith("-"):
            shell.refuse_setting(value.text)
            state = state.named(value.text, Value())
    return [replace(state, status=ANY)]


def _declare(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    del streams
    for value in values[1:]:
        names = {text.partition("=")[0] for text in value.texts}
        (name,) = names if len(names) == 1 else ("",)
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise Unproven(f"calls {values[0].text} in a way that is not read")
        shell.refuse_setting(name)
        given = frozenset(text.partition("=")[2] for text in value.texts if "=" in text)
        if given:
            state = state.named(name, Value(given, value.whole))
        elif name not in state.names:
            state = state.named(name, Value())
    return [replace(state, status=SUCCESS)]


def _unset(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    del streams
    for value in values[1:]:
        if value.text is None or value.text.startswith("-") or f"{value.text}()" in state.names:
            raise Unproven("unsets what is known only when it runs")
        shell.refuse_setting(value.text)
        state = state.named(value.text, Value())
    return [replace(state, status=SUCCESS)]


def _set(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    """Options with which a failure, or a variable that is not set, ends the script."""
    del shell, streams
    words = [value.text or "?" for value in values[1:]]
    if words and words[-1] == "pipefail":
        words = [*words[:-2], words[-2].removesuffix("o")] if len(words) > 1 else ["?"]
        words = [word for word in words if word not in ("", "-")]
    if not all(_SETTINGS.fullmatch(word) for word in words) or not values[1:]:
        raise Unproven("calls set in a way that is not read")
    return [replace(state, status=SUCCESS, fails=True)]


def _cd(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    for value in values[1:]:
        shell.used(value)
        shell.looks_at(value)
    if len(values) != 2 or values[1].text in (None, "-", ""):
        raise Unproven("goes to a directory that is known only when it runs")
    shell.moved = True
    return [replace(shell.noisy(state, streams), status=frozenset((0, 1, 2)))]


def _command(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    if [value.text for value in values[1:2]] != ["-v"]:
        raise Unproven("calls command in a way that is not read")
    return _asks(shell, state, values, streams, "")


def _exec(shell: Shell, state: State, values: Values, streams: Streams) -> list[State]:
    if len(values) == 1:
        raise Unproven("redirects all that comes after")
    return [replace(each, leaves="program") for each in shell.called(values[1:], state, streams)]


def table(interpreters: Mapping[str, Command]) -> Mapping[str, Command]:
    """Every command by its name; what interpreters do is the caller's."""
    leave: Callable[[str], Command] = lambda leaves: partial(_ended, leaves=leaves)  # noqa: E731 a table
    fixed: Callable[[Statuses], Command] = lambda statuses: partial(_exact, statuses=statuses)  # noqa: E731 a table
    asks: Callable[[str], Command] = lambda place: partial(_asks, place=place)  # noqa: E731 a table
    here = "asks about the directory it runs in"
    return {
        **dict.fromkeys((":", "true"), fixed(SUCCESS)),
        "false": fixed(_FAILED),
        "exit": leave("program"), "return": leave("function"), **dict.fromkeys(("break", "continue"), leave("loop")),
        "echo": _echo, "printf": _printf, "cat": _cat, "jq": _jq, "git": _git, "sed": _sed,
        **dict.fromkeys(("grep", "egrep", "fgrep"), _grep),
        **dict.fromkeys(("head", "tail", "tr", "cut", "sort", "uniq", "wc", "rev"), _filter),
        **dict.fromkeys(("basename", "dirname", "date", "uname", "whoami", "hostname"), asks("")),
        **dict.fromkeys(("pwd", "ls", "realpath", "readlink"), asks(here)),
        **dict.fromkeys(("sleep", "touch", "mkdir", "rm"), _acts),
        **dict.fromkeys(("[", "test"), _test),
        **dict.fromkeys(DECLARING, _declare),
        "read": _read, "unset": _unset, "set": _set, "cd": _cd, "command": _command, "exec": _exec,
        **interpreters,
    }  # fmt: skip
