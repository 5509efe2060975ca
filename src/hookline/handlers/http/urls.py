"""One reading of a hook's URL: what is checked is what is connected to."""

from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

_PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 8192
_HOST_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")


class UrlError(ValueError):
    """Why a URL cannot be used. The text never holds userinfo or query."""


class Target(Struct, frozen=True):
    """A URL in parts, as they are sent."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """Safe to show: no query, which may hold a secret."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def resource(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def parse_url(text: str) -> Target:
    """The parts of an absolute http(s) URL. Anything two parsers could disagree on is refused."""
    if len(text) > _LONGEST:
        raise UrlError("its url is too long")
    if not text.isascii() or not text.isprintable() or " " in text or "\\" in text:
        raise UrlError("its url has characters that must be escaped (a host name in punycode, others with %)")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise UrlError("its url cannot be read") from error
    if parts.scheme not in _PORTS:
        raise UrlError("its url must begin with https:// or http://")
    if "@" in parts.netloc:
        raise UrlError("its url holds a user name; credentials belong into a header")
    host = _host(parts.hostname or "", parts.netloc)
    path = parts.path or "/"
    _refuse_dots(path)
    return Target(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path, parts.query)


def url_allowed(target: Target, patterns: tuple[str, ...]) -> bool:
    """Does one of the patterns cover it? `*` stands for any path text, any port, or leading host labels."""
    return any(_covers(pattern, target) for pattern in patterns)


def _host(host: str, netloc: str) -> str:
    if not host:
        raise UrlError("its url names no host")
    if netloc.startswith("["):
        return host
    if not _HOST_LETTERS.issuperset(host) or host.startswith(".") or ".." in host:
        raise UrlError("its url has a host name that cannot be")
    return host


def _refuse_dots(path: str) -> None:
    """`/hooks/../admin` would leave the part of a server that an allow-list names."""
    if any(part in {".", ".."} for part in unquote(path).replace("\\", "/").split("/")):
        raise UrlError("its url has . or .. in its path")


def _covers(pattern: str, target: Target) -> bool:
    if pattern == "*":
        return True
    scheme, separator, rest = pattern.partition("://")
    if not separator or scheme.lower() != target.scheme:
        return False
    authority, slash, path = rest.partition("/")
    host, port = _split_authority(authority)
    if not _host_covers(host.lower(), target.host):
        return False
    if port != "*" and port != str(target.port) and not (port == "" and target.port == _PORTS[target.scheme]):
        return False
    return not slash or _glob(f"/{path}", target.path)


def _split_authority(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def _host_covers(pattern: str, host: str) -> bool:
    """A star only ever stands for whole leading labels: `shop.example*` must not cover a stranger's name."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return "*" not in pattern[2:] and host.endswith(pattern[1:]) and host != pattern[1:]
    return pattern == host


def _glob(pattern: str, text: str) -> bool:
    """`*` is any text. In time linear in the text per star, whatever the pattern."""
    first, *others = pattern.split("*")
    if not others:
        return pattern == text
    if not text.startswith(first):
        return False
    *middle, last = others
    position = len(first)
    for part in middle:
        position = text.find(part, position)
        if position < 0:
            return False
        position += len(part)
    return len(text) - position >= len(last) and text.endswith(last)
