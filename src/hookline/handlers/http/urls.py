"""Parse a hook's URL once: the checked address is the one connected to."""

from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from hookline.matching.patterns import glob

_PORTS: Final = {"http": 80, "https": 443}
_LONGEST: Final = 8192
_HOST_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")


class UrlError(ValueError):
    """A URL cannot be used. The text never holds userinfo or query."""


class UrlParts(Struct, frozen=True):
    """A URL in parts, as they are sent."""

    scheme: str
    host: str
    port: int
    path: str
    query: str = ""

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def shown(self) -> str:
        """The URL in a form that is safe to show: no query, which may hold a secret."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def resource(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


def parse_url(text: str) -> UrlParts:
    """Return the parts of an absolute http(s) URL. Anything two parsers could disagree on is refused."""
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
        raise UrlError("its url holds a user name; put credentials into a header")
    host = _host(parts.hostname or "", parts.netloc)
    path = parts.path or "/"
    _refuse_dots(path)
    return UrlParts(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path, parts.query)


def url_allowed(target: UrlParts, patterns: tuple[str, ...]) -> bool:
    """Return True if one of the patterns covers it. `*` is any path text, any port, or leading host labels."""
    return any(_covers(pattern, target) for pattern in patterns)


def _host(host: str, netloc: str) -> str:
    if not host:
        raise UrlError("its url names no host")
    if netloc.startswith("["):
        return host
    if not _HOST_LETTERS.issuperset(host) or host.startswith(".") or ".." in host:
        raise UrlError("its url has an impossible host name")
    return host


def _refuse_dots(path: str) -> None:
    """Refuse `/hooks/../admin`: it would leave the part of a server that an allow-list names."""
    if any(part in {".", ".."} for part in unquote(path).replace("\\", "/").split("/")):
        raise UrlError("its url has . or .. in its path")


def _covers(pattern: str, target: UrlParts) -> bool:
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
    return not slash or glob(f"/{path}").matches(target.path)


def _split_authority(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, port = authority[1:].partition("]")
        return host, port.removeprefix(":")
    host, _, port = authority.partition(":")
    return host, port


def _host_covers(pattern: str, host: str) -> bool:
    """Compare a host with a pattern. A star is only ever whole leading labels: `shop.example*` must not cover
    `shop.example.attacker.net`."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return "*" not in pattern[2:] and host.endswith(pattern[1:]) and host != pattern[1:]
    return pattern == host
