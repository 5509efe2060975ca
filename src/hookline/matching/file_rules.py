"""Match the argument of a rule about files: gitignore-like globs, relative to the working directory.

`src/**` lies below the working directory, `*.py` and `**/x` at any depth, `/etc/**` and `//etc/**` at the
root, `~/.ssh/**` in a home. Paths are normalised as text; symbolic links cannot be followed here, so a path
that climbs back out of a directory (`a/../b`) is in doubt.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from hookline.matching.patterns import LONGEST_SUBJECT, Expression, Patterns
from hookline.model.errors import PatternError
from hookline.model.hook import Answer, Doubt
from hookline.shell.grammar.limits import INVISIBLE

_MOST_ALTERNATIVES = 64
_ALTERNATIVES = re.compile(r"\{([^{},]*+,[^{}]*+)\}")
_CLASS = re.compile(r"\[[!^]?\]?[^\]/]*\]")
_MAGIC = re.compile(r"[*?\[]")
_NO_PATH = Doubt("the call names no path")
_WANDERS = Doubt("the search goes outside of its path")
_NOWHERE = Doubt("the working directory is not known")
_CLIMBS = re.compile(r"(?:^|/)(?!\.\.?/)[^/]+/(?:\./|/)*\.\.(?:/|$)")


class FileArgument(Struct, frozen=True, eq=False):
    pattern: str
    fields: tuple[str, ...]
    #: True if the tool searches everything below its path.
    searches: bool
    #: Tested against the path from the working directory, and against the path from the root.
    relative: Expression | None
    absolute: Expression | None
    strict_relative: Expression | None
    strict_absolute: Expression | None
    #: The directories, from the working directory or from the root, that hold all that can match.
    roots: tuple[str, ...]

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer:
        paths = self._paths(arguments)
        if not paths:
            return _NO_PATH
        total: Answer = False
        for path in paths:
            answer = self._touches(path, cwd)
            if answer is True:
                return True
            total = total or answer
        return total or (_WANDERS if self._wanders(arguments) else False)

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool:
        paths = self._paths(arguments)
        return bool(paths) and not self.searches and all(self._within(path, cwd) for path in paths)

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:
        paths = self._paths(arguments)
        path = next((path for path in paths if self._touches(path, cwd) is True), paths[0])
        if answer and self.searches:
            return f'a search of "{path}" reaches {self.pattern}'
        return f'path "{path}" {"is" if answer else "is not"} in {self.pattern}'

    def spelled_out(self, arguments: Mapping[str, Any], cwd: str) -> Mapping[str, Any]:
        """Return the same call with its paths from the root, so that it can be judged from another directory."""
        given = {
            name: value for name in self.fields if isinstance(value := arguments.get(name), str) and value
        }
        if not given and self.searches:
            given = {self.fields[0]: "."}
        # A doubtful path stays as it is: as an absolute path it would look certain.
        whole = {name: from_root(path, cwd) for name, path in given.items() if not doubtful(path)}
        return {**arguments, **{name: path for name, path in whole.items() if path is not None}}

    def _paths(self, arguments: Mapping[str, Any]) -> list[str]:
        found = [value for name in self.fields if isinstance(value := arguments.get(name), str) and value]
        return found or (["."] if self.searches else [])

    def _wanders(self, arguments: Mapping[str, Any]) -> bool:
        if not self.searches:
            return False
        given = [arguments.get("pattern") if "glob" not in arguments else None, arguments.get("glob")]
        return any(isinstance(one, str) and (one[:1] in {"/", "~"} or ".." in one) for one in given)

    def _touches(self, path: str, cwd: str) -> Answer:
        # A pattern about homes matches `~` of any user.
        whole = "/" + path if path.startswith("~") else path
        relative, absolute = from_here(whole, cwd), from_root(whole, cwd)
        # An expression treats a text that is too long as found.
        if len(absolute or relative or "") > LONGEST_SUBJECT:
            return Doubt(f"the path is longer than {LONGEST_SUBJECT} characters")
        if _found(self.relative, relative) or _found(self.absolute, absolute):
            return True
        if absolute is not None and self.searches and self._holds_a_root(absolute, cwd):
            return True
        if doubtful(path):
            return Doubt(f'"{path}" does not show which file it is')
        return _NOWHERE if self._may_touch(relative, absolute) else False

    def _may_touch(self, relative: str | None, absolute: str | None) -> bool:
        """Return True if it would match from some working directory."""
        if absolute is None:
            return self.absolute is not None
        return relative is None and any(_found(self.relative, tail) for tail in _tails(absolute))

    def _holds_a_root(self, absolute: str, cwd: str) -> bool:
        roots = (from_root(root, cwd) or absolute for root in self.roots)
        return any(
            (root + "/").casefold().startswith(absolute.rstrip("/").casefold() + "/") for root in roots
        )

    def _within(self, path: str, cwd: str) -> bool:
        if doubtful(path):
            return False
        relative, absolute = from_here(path, cwd), from_root(path, cwd)
        # An expression treats a text that is too long as found; a permission must not.
        if absolute is None or len(absolute) > LONGEST_SUBJECT:
            return False
        if _found(self.strict_absolute, absolute):
            return True
        return relative is not None and relative[:2] != ".." and _found(self.strict_relative, relative)


def doubtful(path: str) -> bool:
    """Return True if the text of a path does not show which file it is."""
    return (
        len(path) > LONGEST_SUBJECT
        or path.startswith("~")
        or INVISIBLE.search(path) is not None
        or "\n" in path
        or _CLIMBS.search(path) is not None
    )


def from_root(path: str, cwd: str) -> str | None:
    """Return the normalised path from the root; None when the working directory is not known."""
    whole = path if path.startswith("/") else posixpath.join(cwd, path)
    return composed("/" + posixpath.normpath(whole).lstrip("/")) if whole.startswith("/") else None


def from_here(path: str, cwd: str) -> str | None:
    """Return the path from the working directory, with `..` where it is outside; None when that is not known."""
    if not path.startswith("/"):
        return composed(posixpath.normpath(path))
    if not cwd.startswith("/"):
        return None
    here, there = _segments(cwd), _segments(path)
    shared = 0
    while shared < min(len(here), len(there)) and here[shared] == there[shared]:
        shared += 1
    return composed("/".join([".."] * (len(here) - shared) + there[shared:]) or ".")


def composed(path: str) -> str:
    """Return one spelling for letters with accents: some file systems distinguish them, some do not."""
    if path.isascii():
        return path
    from unicodedata import normalize  # noqa: PLC0415 - only for paths beyond ASCII

    return normalize("NFC", path)


def file_argument(pattern: str, fields: tuple[str, ...], searches: bool, patterns: Patterns) -> FileArgument:
    if pattern.startswith("!"):
        raise PatternError(pattern, "a rule cannot exclude files with !; write what it is about")
    each = [composed(one) for one in _alternatives(pattern)]
    return FileArgument(
        pattern,
        fields,
        searches,
        _union(pattern, patterns, [e for one in each for e in _relative(one, wide=True)], wide=True),
        _union(pattern, patterns, [e for one in each for e in _absolute(one, wide=True)], wide=True),
        _union(pattern, patterns, [e for one in each for e in _relative(one, wide=False)], wide=False),
        _union(pattern, patterns, [e for one in each for e in _absolute(one, wide=False)], wide=False),
        tuple(_root(one) for one in each),
    )


def _relative(pattern: str, *, wide: bool) -> Iterator[str]:
    """Yield expressions for the path from the working directory."""
    if pattern.startswith(("//", "~")):
        return
    if pattern.startswith("/"):
        # Some agents read `/src` from the project's root: a guard matches both.
        if wide:
            yield _expression(pattern.lstrip("/"), wide=wide)
        return
    here = pattern.removeprefix("./")
    yield _expression(here if "/" in here.rstrip("/") else "**/" + here, wide=wide)


def _absolute(pattern: str, *, wide: bool) -> Iterator[str]:
    """Yield expressions for the path from the root."""
    if pattern.startswith("/"):
        yield "/" + _expression(pattern.lstrip("/"), wide=wide)
    elif pattern.startswith("~"):
        # The user is not known here: a guard matches every directory that could be a home.
        if wide:
            yield "/" + _expression("**/" + pattern.partition("/")[2], wide=wide)
    elif pattern.startswith("**") and wide:
        yield "/" + _expression(pattern, wide=wide)


def _expression(pattern: str, *, wide: bool) -> str:
    segments = [segment for segment in pattern.rstrip("/").split("/") if segment not in {"", "."}]
    if pattern.endswith("/"):
        segments.append("**")
    if wide and len(segments) > 1 and segments[-1] == "**":
        # `src/**` matches src itself as well; everything below is added to every wide expression.
        segments.pop()
    written = ""
    for at, segment in enumerate(segments):
        last = at == len(segments) - 1
        if segment == "**":
            written += "(?:.*)" if last else "(?:.*/)?"
        else:
            written += _segment(segment) + ("" if last else "/")
    return written


def _segment(segment: str) -> str:
    written, at = "", 0
    while at < len(segment):
        found = _CLASS.match(segment, at)
        if found:
            written += _class(found[0])
            at = found.end()
            continue
        stars = len(segment) - at - len(segment[at:].lstrip("*"))
        if stars:
            written += ".*" if stars > 1 else "[^/]*"
            at += stars
            continue
        written += "[^/]" if segment[at] == "?" else re.escape(segment[at])
        at += 1
    return written


def _class(text: str) -> str:
    inner = text[1:-1]
    negated = inner[:1] in {"!", "^"}
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
    return ("[^/" if negated else "[") + body + "]"


def _union(pattern: str, patterns: Patterns, written: Sequence[str], *, wide: bool) -> Expression | None:
    if not written:
        return None
    # A directory stands for all below it, and some file systems ignore case.
    flags, below = ("(?is)", "(?:/.*)?") if wide else ("(?s)", "")
    try:
        return patterns.expression(f"{flags}(?:{'|'.join(written)}){below}", anchored=True)
    except PatternError as error:
        raise PatternError(pattern, error.problem) from None


def _alternatives(pattern: str) -> list[str]:
    """Split `*.{ts,tsx}` into two patterns."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        found = _ALTERNATIVES.search(one)
        if not found:
            done.append(one)
            continue
        waiting.extend(one[: found.start()] + part + one[found.end() :] for part in found[1].split(","))
        if len(done) + len(waiting) > _MOST_ALTERNATIVES:
            raise PatternError(pattern, f"it expands to more than {_MOST_ALTERNATIVES} patterns")
    return done


def _root(pattern: str) -> str:
    """Return the deepest directory that holds all that can match."""
    if pattern.startswith("~"):
        return "/"
    segments = pattern.removeprefix("./").split("/")
    plain = 0
    while plain < len(segments) - 1 and not _MAGIC.search(segments[plain]):
        plain += 1
    return "/".join(segments[:plain]) or ("/" if pattern.startswith("/") else ".")


def _found(expression: Expression | None, path: str | None) -> bool:
    return expression is not None and path is not None and expression.found(path)


def _segments(path: str) -> list[str]:
    return [segment for segment in posixpath.normpath(path).split("/") if segment]


def _tails(path: str) -> Iterator[str]:
    segments = _segments(path)
    for at in range(len(segments)):
        yield "/".join(segments[at:])
