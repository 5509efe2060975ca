"""Match the argument of a rule about any other tool: a glob over its values, or the host of a URL."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec import Struct

from hookline.matching.patterns import Glob, glob
from hookline.model.hook import Answer, Doubt

_MOST_VALUES = 10_000
_LONGEST_JSON = 1 << 20
#: A URL that every parser understands alike. Any other is in doubt.
_PLAIN_URL = re.compile(r"[a-z][a-z0-9+.-]*://([a-z0-9.-]+)(?::\d{0,5})?(?:[/?#][!-\[\]-~]*)?", re.IGNORECASE)
_ODD_URL = Doubt("the URL is not a plain one")
_TOO_MANY = Doubt(f"the call has more than {_MOST_VALUES} values")
_NO_JSON = Doubt("the arguments are too long to be searched, or no JSON")


class ValueArgument(Struct, frozen=True):
    """Any text in the arguments, at any depth, or the arguments as one JSON text."""

    pattern: str
    glob: Glob

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer:  # noqa: ARG002 - the protocol
        for count, text in enumerate(texts(arguments)):
            if count >= _MOST_VALUES:
                return _TOO_MANY
            if self.glob.matches(text):
                return True
        whole = _json(arguments)
        return _NO_JSON if whole is None else self.glob.matches(whole)

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool:  # noqa: ARG002 - the protocol
        found = list(_first(texts(arguments)))
        return 0 < len(found) <= _MOST_VALUES and all(self.glob.matches(text) for text in found)

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:  # noqa: ARG002 - the protocol
        return f"{'a' if answer else 'no'} value is {self.pattern}"


class DomainArgument(Struct, frozen=True):
    """Exactly this host; `*.example.com` for the hosts below it."""

    pattern: str
    host: Glob

    def judge(self, arguments: Mapping[str, Any], cwd: str) -> Answer:  # noqa: ARG002 - the protocol
        host = host_of(arguments)
        return _ODD_URL if host is None else self.host.matches(host)

    def covers(self, arguments: Mapping[str, Any], cwd: str) -> bool:  # noqa: ARG002 - the protocol
        host = host_of(arguments)
        return host is not None and self.host.matches(host)

    def why(self, arguments: Mapping[str, Any], cwd: str, answer: bool) -> str:  # noqa: ARG002 - the protocol
        return f'host "{host_of(arguments)}" {"is" if answer else "is not"} {self.pattern}'


def value_argument(pattern: str) -> ValueArgument:
    return ValueArgument(pattern, glob(pattern))


def domain_argument(pattern: str) -> DomainArgument:
    host = pattern.removeprefix("domain:").strip().casefold().rstrip(".")
    return DomainArgument(host, glob(host))


def host_of(arguments: Mapping[str, Any]) -> str | None:
    """Return the host; None where it is missing or where parsers could disagree about it."""
    url = arguments.get("url")
    found = _PLAIN_URL.fullmatch(url.strip()) if isinstance(url, str) else None
    return found[1].casefold().rstrip(".") if found else None


def texts(value: Any) -> Iterator[str]:
    """Yield every text at any depth, without recursion: the input may be hostile."""
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            waiting.extend(cast("Mapping[Any, Any]", one).values())
        elif isinstance(one, list | tuple):
            waiting.extend(cast("list[Any]", one))


def _first(found: Iterator[str]) -> Iterator[str]:
    for _count, text in zip(range(_MOST_VALUES + 1), found, strict=False):
        yield text


def _json(arguments: Mapping[str, Any]) -> str | None:
    """Return the arguments as JSON; None when they cannot be written or are too long to search."""
    try:
        written = msgspec.json.encode(arguments)
    except (TypeError, ValueError, RecursionError, OverflowError, UnicodeError):
        return None
    return written.decode() if len(written) <= _LONGEST_JSON else None
