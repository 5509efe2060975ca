"""Convert between units of agents: seconds and milliseconds, lines from 0 or 1, words or a line.

A unit reads an agent's value into canonical terms and writes a canonical value back. Reading raises
`UnitError` with the error; writing raises it where the agent cannot express the value.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct

#: The canonical arguments of the call, for units that need a second one.
Known = Mapping[str, Any]


class UnitError(ValueError):
    """A value that cannot be read, or that the agent cannot express."""


class Unit(Struct, frozen=True, eq=False):
    """`read(value, known)` gives the canonical value, `write(value, known, before)` the agent's and what was
    lost.

    `before` is the agent's value so far; None where there is none.
    """

    name: str
    read: Callable[[Any, Known], Any]
    write: Callable[[Any, Known, Any], tuple[Any, str]]
    #: Another canonical argument that the written value also depends on.
    depends_on: str = ""


#: No file has more lines, and no command more milliseconds.
_LARGEST = 10**15


def _number(value: Any) -> int | float:
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise UnitError("it is not a number")
    if not -_LARGEST < value < _LARGEST:
        raise UnitError("it is too large")
    return value


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise UnitError("it is not a whole number")
    return int(number)


def _seconds_read(value: Any, _known: Known) -> int:
    return round(_number(value) * 1000)


def _seconds_written(value: Any, _known: Known, _before: Any) -> tuple[int, str]:
    number = _number(value)
    seconds = math.ceil(number / 1000)
    return seconds, "" if seconds * 1000 == number else f"{number:g} ms are {seconds} s"


SAME = Unit("as it is", lambda value, _: value, lambda value, _known, _before: (value, ""))
SECONDS = Unit("seconds", _seconds_read, _seconds_written)
FROM_ZERO = Unit(
    "lines from 0", lambda value, _: _whole(value) + 1, lambda value, _known, _before: (_whole(value) - 1, "")
)


def _signed_read(value: Any, _known: Known) -> Any:
    """Read a signed line number. The canonical form cannot express a negative one: it reads all of the file."""
    if _whole(value) < 0:
        raise UnitError("it counts from the end of the file")
    return value


#: Lines from 1; negative ones from the end.
FROM_EITHER_END = Unit(
    "lines from 1, or from the end", _signed_read, lambda value, _known, _before: (value, "")
)


def _last_line_read(value: Any, known: Known) -> int:
    return _length(_whole(known.get("offset") or 1), _whole(value))


def _length(first: int, last: int) -> int:
    if last < first:
        raise UnitError("the last line is before the first")
    return last - first + 1


def _last_line_written(value: Any, known: Known, _before: Any) -> tuple[int, str]:
    return _whole(known.get("offset") or 1) + _whole(value) - 1, ""


#: The last line instead of the number of lines.
LAST_LINE = Unit("the last line", _last_line_read, _last_line_written, depends_on="offset")


def _range_of(value: Any) -> tuple[int, int | None]:
    """Return first and last line, of `[5, 9]` or "5-9"; the last one is None where everything after the first
    is read."""
    parts: Any = value
    if isinstance(parts, str):
        parts = [int(part) if part.isdecimal() and len(part) < 16 else part for part in parts.split("-")]
    if isinstance(parts, list | tuple) and len(cast("list[Any]", parts)) == 2:
        first, last = (_whole(part) for part in cast("list[Any]", parts))
        return first, None if last < 0 else last
    raise UnitError("it is not a range of lines")


def _length_read(value: Any, _known: Known) -> int | None:
    first, last = _range_of(value)
    return None if last is None else _length(first, last)


def _range_written(as_text: bool) -> Callable[[Any, Known, Any], tuple[Any, str]]:
    def write(_value: Any, known: Known, _before: Any) -> tuple[Any, str]:
        first = _whole(known.get("offset") or 1)
        limit = known.get("limit")
        last = -1 if limit is None else first + _whole(limit) - 1
        if not as_text:
            return [first, last], ""
        if last < 0:
            raise UnitError("a range needs both ends")
        return f"{first}-{last}", ""

    return write


RANGE_START = Unit(
    "[first, last]", lambda value, _: _range_of(value)[0], _range_written(False), depends_on="limit"
)
RANGE_LENGTH = Unit("[first, last]", _length_read, _range_written(False), depends_on="offset")
TEXT_RANGE_START = Unit(
    "first-last", lambda value, _: _range_of(value)[0], _range_written(True), depends_on="limit"
)
TEXT_RANGE_LENGTH = Unit("first-last", _length_read, _range_written(True), depends_on="offset")


#: More than a program is ever started with, and reading them takes time.
_MOST_WORDS = 20_000
#: A line with these has an operator or an expansion, which only a shell understands.
_SHELL_ONLY = frozenset("|&;<>()$`\\\n*?[]{}~!#")


def _words_read(value: Any, _known: Known) -> str:
    if isinstance(value, str):
        return value
    words: Any = value
    if isinstance(words, list | tuple) and len(cast("list[Any]", words)) > _MOST_WORDS:
        raise UnitError(f"it has more than {_MOST_WORDS} words")
    if isinstance(words, list | tuple) and all(isinstance(word, str) for word in cast("list[Any]", words)):
        from shlex import join  # noqa: PLC0415 few agents have the words of a command

        return join(cast("list[str]", words))
    raise UnitError("it is neither text nor a list of words")


def _words_written(value: Any, _known: Known, before: Any) -> tuple[Any, str]:
    if not isinstance(value, str):
        raise UnitError("it is not text")
    if isinstance(before, str):
        return value, ""
    if not _SHELL_ONLY.isdisjoint(_outside_quotes(value)):
        raise UnitError("the line needs a shell, and the tool runs one program")
    from shlex import split  # noqa: PLC0415 as above

    try:
        return split(value), ""
    except ValueError:
        raise UnitError("a quote in the line is not closed") from None


def _outside_quotes(line: str) -> str:
    """Return the line without quoted text; in double quotes, a shell's expansions stay."""
    left: list[str] = []
    quote = ""
    for character in line:
        if quote:
            if character == quote:
                quote = ""
            elif quote == '"' and character in "$`\\":
                left.append(character)
        elif character in "'\"":
            quote = character
        else:
            left.append(character)
    return "".join(left)


#: The words of one command, instead of a line for a shell.
WORDS = Unit("words of one command", _words_read, _words_written)


def _globs_read(value: Any, _known: Known) -> Any:
    patterns: Any = value
    if not isinstance(patterns, list | tuple):
        return patterns
    names = cast("list[Any]", patterns)
    if not all(isinstance(name, str) for name in names):
        raise UnitError("it is not a list of patterns")
    return names[0] if len(names) == 1 else "{" + ",".join(names) + "}"


#: A list of patterns, instead of one.
GLOBS = Unit("a list of patterns", _globs_read, lambda value, _known, _before: ([value], ""))


def listed(canonical: str, own: str) -> Unit:
    """Make a unit for a list of objects whose main key has another name; without a name, a list of texts."""

    def read(value: Any, _known: Known) -> Any:
        return [_renamed(one, own, canonical) for one in _objects(value)]

    def write(value: Any, _known: Known, _before: Any) -> tuple[Any, str]:
        items = [_renamed(one, canonical, own) for one in _objects(value)]
        less = not own and any(isinstance(one, dict) and len(cast("Any", one)) > 1 for one in _objects(value))
        return items, "only the texts are passed" if less else ""

    return Unit(f"a list of objects with {own}" if own else "a list of texts", read, write)


def _objects(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return list(cast("list[Any]", value))
    raise UnitError("it is not a list")


def _renamed(item: Any, before: str, after: str) -> Any:
    if not before:
        return {after: item}
    if not isinstance(item, Mapping) or before not in item:
        return cast("Any", item)
    found = cast("Mapping[str, Any]", item)
    return (
        {after if key == before else key: value for key, value in found.items()} if after else found[before]
    )
