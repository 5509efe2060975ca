"""Find the texts of a command line that may name files, by a rough reading: rather too many than too few.

Some names exist only while the shell runs. An unknown part, such as the output of another command, is taken
for the command's directory, which it usually is.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, product

from msgspec import Struct

_BREAKS = r"[\s;&|<>()`]+"
_QUOTES = r"[\"'\\]"
_QUOTABLE = r"[\s;&|<>()`\"'\\]"
_QUOTED = r"\"([^\"]*)\"|'([^']*)'"
#: A word of the shell: quotes may be around any part of it, and blanks inside them.
_WORD = r"(?s)(?:\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s;&|<>()`\"'\\])+"
_QUOTING = r"(?s)'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)"
_ESCAPED = r"(?s)\\(.)"
#: Characters that make a line more than words between blanks.
_ODD = r"[\"'\\$`,:@{\[]"
#: Characters that make it more than words.
_MORE = r"[\"'\\$`,:@{\[*?=;&|<>()]|-[^\s/-]*+/"
_NOT_PLAIN = _MORE + r"|/\.|//|/(?:\s|$)|\.\.|~|\0"
#: Separators of names in one word: lists, `PATH`, `-v FILE:PATH`, `@FILE`.
_WITHIN = r"[,:@\[\]{}]+"
#: Quoted text, and outside of quotes the targets of writes: those change with every run.
_WRITTEN = (
    r"""(?s)("(?:[^"\\]|\\.)*"|'[^']*'|\\.)"""
    r"""|(?<!<)\d{0,9}&?>{1,2}[|&]?\s*+(?:"[^"$`]*"|'[^']*'|[^\s;&|<>()`"'\\]++)++"""
)
_OUTPUT = r"\$\([^()]*\)|`[^`]*`"
_EXPANSION = r"\$(?:\{(\w++)(?::?[-=]([^{}]*+)|[^{}]*+)\}|(\w++)|[@*#?!$-])"
_POWERSHELL = r"\$\{env:(\w+)\}|\$env:(\w+)"
_ASSIGNED = r"(?<![\w$])(\w++)=(\"[^\"]*\"|'[^']*'|[^\s;&|()<>]*)"
_CHOICE = r"\{([^{},]*+(?:,[^{},]*+)++)\}"
#: The working directory of a process: of this process it would be another one.
_PROCESS_DIRECTORY = r"/proc/[^/]+/cwd(?=/|$)"
#: A pattern that is run: as a command, behind a program that runs files, or in a loop over them. Other
#: patterns match the files that a program works on, which change all the time.
_RUN_PATTERN = (
    r"(?:^|[;&|(`]|(?<![\w./-])(?:do|then|else|exec|source|in|cat|(?:ba|da|z|k)?sh|node|bun|deno|ruby|perl|php|python[\d.]*|\.)\s)"
    r"\s*(?:-\w+\s+)*([\"'\w./${}~-]*[*?\[][^\s;&|<>()`]*)(?!\s*\))"
)

_DEEPEST = 4
_MOST_FILLED = 16
#: Longer texts name no file.
_LONGEST = 4096


class CommandPaths(Struct, frozen=True, gc=False):
    """The directory of a command, and the values of its variables."""

    directory: str
    home: str
    variables: Mapping[str, str] = {}
    #: Further variables: those of this process, which the command gets as well.
    env: Mapping[str, str] = {}


class Names(Struct, frozen=True, gc=False):
    """The names that lines may contain."""

    #: Every part that may be a name.
    texts: Sequence[str]
    #: Patterns of which every file that fits is run.
    patterns: Sequence[str] = ()
    #: The values that the lines themselves assign to variables.
    assigned: Mapping[str, Sequence[str]] = {}


def is_plain(line: str) -> bool:
    """Return True if a line has only plain words: no quotes, variables, patterns, dots, lists."""
    return len(line) <= _LONGEST and line.isascii() and not _compiled(_NOT_PLAIN).search(line)


def names_in(lines: Sequence[str]) -> Names:
    if len(lines) == 1 and not _compiled(_MORE).search(lines[0]):  # as most are
        return Names(lines[0].split())
    return Names(texts_of(lines), run_patterns(lines), assigned_in(lines))


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern at first use: most commands need one or two, and compiling all would cost more than
    the rest."""
    return re.compile(pattern)


def texts_of(lines: Sequence[str]) -> list[str]:
    """Return every part of the lines that may be a name, once."""
    found: dict[str, None] = {}
    for line in lines:
        if ">" in line:
            line = _compiled(_WRITTEN).sub(lambda match: match[1] or " ", line)  # noqa: PLW2901 the same line, without those
        found |= dict.fromkeys(
            _pieces(line) if _compiled(_ODD).search(line) else _compiled(_BREAKS).split(line)
        )
    further = [side for text in found if "=" in text for side in text.split("=", 1)]
    further += [text[2:] for text in found if text[:1] == "-" and "/" in text]
    return [text for text in (*found, *further) if text]


def as_line(words: Sequence[str]) -> str:
    """Join words as a shell would read them."""
    return " ".join(quoted(word) if _compiled(_QUOTABLE).search(word) else word for word in words)


def quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def words_of(lines: Sequence[str]) -> frozenset[str]:
    """Return the whole words of the lines, and the texts after an equals sign in them."""
    words = [
        _compiled(_QUOTES).sub("", part) for line in lines for part in (line, *_compiled(_BREAKS).split(line))
    ]
    words += [_unquoted(match[0]) for line in lines for match in _compiled(_WORD).finditer(line)]
    return frozenset((*words, *(word.partition("=")[2] for word in words)))


def run_patterns(lines: Sequence[str]) -> list[str]:
    """Return the patterns of which every matching file is run."""
    found = (
        _compiled(_QUOTES).sub("", match[1])
        for line in lines
        if "*" in line or "?" in line or "[" in line
        for match in _compiled(_RUN_PATTERN).finditer(line)
    )
    return list(dict.fromkeys(found))


def assigned_in(lines: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the values that the lines themselves assign to variables."""
    found: dict[str, list[str]] = {}
    for line in lines:
        for match in _compiled(_ASSIGNED).finditer(line) if "=" in line and "$" in line else ():
            found.setdefault(match[1], []).append(_compiled(_QUOTES).sub("", match[2]))
    return found


def paths_of(
    text: str, directory: str, paths: CommandPaths, assigned: Mapping[str, Sequence[str]]
) -> Sequence[str]:
    """Return the paths that a text may mean in a directory."""
    if len(text) > _LONGEST:
        return ()
    if "$" not in text and text[0] != "~" and "{" not in text:
        path = _whole(text, directory)
        return (path,) if path is not None else ()
    filled = (_home(each, directory, paths.home) for each in _filled(text, paths, assigned) if each)
    # In quotes, and where no shell reads it, a text is literal: a directory may be called `~` or `$HOME`.
    whole = (_whole(each, directory) for each in dict.fromkeys((text, *filled)))
    return [path for path in whole if path is not None]


def _pieces(line: str, depth: int = _DEEPEST) -> Iterator[str]:
    if "$env:" in line or "${env:" in line:
        line = _compiled(_POWERSHELL).sub(lambda match: f"${{{match[1] or match[2]}}}", line)
    flat = line
    for _ in range(depth):
        flat = _compiled(_OUTPUT).sub(".", flat)
    found = [_compiled(_QUOTES).sub("", part) for part in _compiled(_BREAKS).split(line)]
    found += [_unquoted(match[0]) for match in _compiled(_WORD).finditer(flat)]
    if "\\" in line:
        found += [
            _compiled(_QUOTES).sub("", part) for part in _compiled(_BREAKS).split(line.replace("\\", "/"))
        ]  # as PowerShell reads it
    yield from found
    yield from (
        part for text in found if _compiled(_WITHIN).search(text) for part in _compiled(_WITHIN).split(text)
    )
    for match in _compiled(_QUOTED).finditer(line):
        text = match[1] or match[2] or ""
        yield text
        if depth and _compiled(_BREAKS).search(text):
            yield from _pieces(text, depth - 1)


def _unquoted(word: str) -> str:
    """Return a word of the shell as a program gets it."""
    return _compiled(_QUOTING).sub(
        lambda match: match[1] or match[3] or _compiled(_ESCAPED).sub(r"\1", match[2] or ""), word
    )


def _filled(text: str, paths: CommandPaths, assigned: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the text with its variables and one of its alternatives filled in, in every likely way."""
    names = [match[1] or match[3] or "" for match in _compiled(_EXPANSION).finditer(text)]
    ways = max((len(assigned.get(name, ())) for name in names), default=0)
    for way in range(min(max(ways, 1), _MOST_FILLED)):
        filled = text
        for _ in range(_DEEPEST):
            if "$" not in filled or len(filled) > _LONGEST:
                break
            filled = _compiled(_EXPANSION).sub(lambda match: _value(match, paths, assigned, way), filled)  # noqa: B023 used at once
        yield from islice(_chosen(filled), _MOST_FILLED)


def _value(match: re.Match[str], paths: CommandPaths, assigned: Mapping[str, Sequence[str]], way: int) -> str:
    name = match[1] or match[3] or ""
    values = assigned.get(name)
    if values:
        value = values[min(way, len(values) - 1)]
        if f"${name}" not in value and f"${{{name}" not in value:
            return value
    known = paths.variables.get(name) or paths.env.get(name)
    return known or match[2] or "."


def _chosen(text: str) -> Iterable[str]:
    """Split `{a,b}` into two texts."""
    choices = _compiled(_CHOICE).findall(text)
    if not choices:
        return (text,)
    pieces = _compiled(_CHOICE).split(text)[::2]
    return (
        pieces[0] + "".join(map("".join, zip(chosen, pieces[1:], strict=True)))
        for chosen in product(*(each.split(",") for each in choices))
    )


def _home(text: str, directory: str, home: str) -> str:
    if text == "~" or text.startswith("~/"):
        return home + text[1:]
    if text == "~+" or text.startswith("~+/"):
        return directory + text[2:]
    return os.path.expanduser(text) if text[0] == "~" else text


def _whole(text: str, directory: str) -> str | None:
    if len(text) > _LONGEST or "\0" in text or not text:
        return None
    path = text if text[0] == "/" else f"{directory}/{text[2:] if text[:2] == './' else text}"
    if path.startswith("/proc/"):
        path = _compiled(_PROCESS_DIRECTORY).sub(lambda _: directory, path, count=1)
    path = os.path.normpath(path) if "/." in path or "//" in path or path[-1] == "/" else path
    return path if path.isascii() or _can_be_a_name(path) else None


def _can_be_a_name(path: str) -> bool:
    """Return False for half characters of JSON, which no file name can have."""
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return False
    return True
