"""Fetch a web page from a checked address, and convert its HTML to text. Imported with the first fetch: it is heavy."""

import ipaddress
import re
import ssl
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from html.parser import HTMLParser
from urllib.parse import urljoin

import httpcore2
from httpx2 import create_ssl_context
from msgspec import Struct

from hookline.agent.tools.off_loop import WorkLimit
from hookline.handlers.http.addresses import RefusedAddressError, Resolver, check_addresses, resolve, unmapped
from hookline.handlers.http.client import Body
from hookline.handlers.http.network import PinnedBackend
from hookline.handlers.http.urls import UrlParts

_CONNECT_SECONDS = 10.0
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = (
    (b"User-Agent", b"hookline-agent"),
    (b"Accept", b"text/html, text/plain, application/json;q=0.9, */*;q=0.5"),
    (b"Accept-Encoding", b"gzip"),
    (b"Connection", b"close"),
)


class WebPage(Struct, frozen=True):
    """The answer of a server."""

    status: int
    content_type: str
    body: bytes
    truncated: bool
    #: The target of a redirect.
    location: str | None = None


async def get(
    target: UrlParts,
    *,
    most: int,
    local: bool,
    resolver: Resolver | None = None,
    tls: ssl.SSLContext | None = None,
) -> WebPage:
    """Fetch a page. `local` allows addresses of this machine and of private networks. Raises whatever went wrong."""
    backend = PinnedBackend(
        resolver or resolve, loopback_only=False, check=_anywhere if local else _public_only
    )
    context = (tls or create_ssl_context(trust_env=False)) if target.scheme == "https" else None
    request = httpcore2.Request(
        "GET",
        httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.resource),
        headers=[(b"Host", target.authority.encode()), *_HEADERS],
        extensions={"timeout": {"connect": _CONNECT_SECONDS}},
    )
    async with httpcore2.AsyncConnectionPool(ssl_context=context, network_backend=backend) as pool:
        response = await pool.handle_async_request(request)
        try:
            return await _read(response, most)
        finally:
            await response.aclose()


async def _read(response: httpcore2.Response, most: int) -> WebPage:
    headers = {
        name.lower().decode("latin-1"): value.decode("latin-1").strip() for name, value in response.headers
    }
    kind = headers.get("content-type", "")
    if response.status in _REDIRECTS:
        return WebPage(response.status, kind, b"", truncated=False, location=headers.get("location", ""))
    body = Body(headers.get("content-encoding", ""), most)
    async with aclosing(response.aiter_stream()) as parts:
        kept = await body.read(parts)
    return WebPage(response.status, kind, kept, body.truncated)


def _public_only(addresses: Sequence[str], *, loopback_only: bool) -> list[str]:
    usable = check_addresses(addresses, loopback_only=loopback_only)
    for address in usable:
        if ipaddress.ip_address(address).is_loopback:
            raise RefusedAddressError(f"{address} is this machine")
    return usable


def _anywhere(addresses: Sequence[str], *, loopback_only: bool) -> list[str]:
    del loopback_only
    return [str(unmapped(ipaddress.ip_address(address))) for address in addresses]


_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "iframe", "object", "head"})
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "ul", "ol", "dl", "table",
     "blockquote", "figure", "form", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "address", "details"}
)  # fmt: skip
_LINES = frozenset({"br", "tr", "dt", "dd", "hr", "summary", "option"})
_BEGINS: Mapping[str, str] = {"li": "\n- ", "td": " | ", "th": " | ", "dd": "\n  ", "code": "`", "q": '"'}
_ENDS: Mapping[str, str] = {"code": "`", "q": '"'}
_CHUNK = 16_384
#: The parser keeps text that it cannot parse; beyond this many characters it gives up.
_LONGEST_TAG = 200_000
_LONGEST_ADDRESS = 500
_BLANKS = re.compile(r"[ \t\r\f\v\xa0]+")
_MANY_LINES = re.compile(r"\n[ ]*(\n[ ]*)+")


def page_text(html: str, address: str, limit: WorkLimit) -> str:
    """Return the page's title and visible text; headings, lists, links and code keep their shape."""
    page = _Page(address)
    for begin in range(0, len(html), _CHUNK):
        if limit.over or len(page.rawdata) > _LONGEST_TAG:
            break
        page.feed(html[begin : begin + _CHUNK])
    return page.finished()


class _Page(HTMLParser):
    def __init__(self, address: str) -> None:
        super().__init__(convert_charrefs=True)
        self._address = address
        self._parts: list[str] = []
        self._silent: list[str] = []
        self._links: list[str | None] = []
        self._title: list[str] | None = None
        self._in_title = False
        self._pre = 0

    def finished(self) -> str:
        text = "".join(self._parts)
        text = _MANY_LINES.sub("\n\n", "\n".join(line.rstrip() for line in text.split("\n"))).strip()
        title = " ".join("".join(self._title or []).split())
        return f"{title}\n\n{text}" if title and not text.startswith(f"# {title}") else text

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title":
            self._in_title = self._title is None
            self._title = self._title or []
            return
        if tag in _SILENT:
            self._silent.append(tag)
        if self._silent:
            # A head that is never closed ends where the body begins.
            if tag == "body":
                self._silent.clear()
            return
        self._begin(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag in self._silent:
            del self._silent[self._silent.index(tag) :]
        elif not self._silent:
            self._end(tag)

    def handle_data(self, data: str) -> None:
        if self._in_title and self._title is not None:
            self._title.append(data)
        elif not self._silent:
            self._parts.append(data if self._pre else _BLANKS.sub(" ", data.replace("\n", " ")))

    def _begin(self, tag: str, attributes: Mapping[str, str | None]) -> None:
        if tag in _BLOCKS:
            self._parts.append("\n\n")
        elif tag in _LINES:
            self._parts.append("\n")
        if tag == "pre":
            self._pre += 1
            self._parts.append("```\n")
        elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._parts.append("#" * int(tag[1]) + " ")
        elif tag == "a":
            self._links.append(self._target(attributes.get("href")))
            self._parts.append("[" if self._links[-1] else "")
        elif tag == "img" and attributes.get("alt"):
            self._parts.append(f"[image: {attributes['alt']}]")
        elif not (tag == "code" and self._pre):
            self._parts.append(_BEGINS.get(tag, ""))

    def _end(self, tag: str) -> None:
        if tag == "a" and self._links:
            target = self._links.pop()
            self._parts.append(f"]({target})" if target else "")
        elif tag == "pre" and self._pre:
            self._pre -= 1
            self._parts.append("\n```")
        elif not (tag == "code" and self._pre):
            self._parts.append(_ENDS.get(tag, ""))
        if tag in _BLOCKS:
            self._parts.append("\n\n")

    def _target(self, href: str | None) -> str | None:
        if not href or href.startswith("#") or len(href) > _LONGEST_ADDRESS:
            return None
        try:
            target = urljoin(self._address, href.strip())
        except ValueError:
            return None
        return target if target.startswith(("http://", "https://")) else None
