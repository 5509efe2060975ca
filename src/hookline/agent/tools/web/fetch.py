"""Fetch a page of the web as text (WebFetch)."""

import asyncio
import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urljoin

from msgspec import Meta, Struct

from hookline.agent.tools.base import RecordTool, ToolOutput, Workplace
from hookline.agent.tools.off_loop import off_loop
from hookline.handlers.failures import described, shortened
from hookline.handlers.http.addresses import RefusedAddressError, Resolver
from hookline.handlers.http.urls import UrlError, UrlParts, parse_url
from hookline.model.errors import ToolError

if TYPE_CHECKING:
    import ssl

    from hookline.agent.tools.web.page import WebPage

_SECONDS = 30.0
_READING_SECONDS = 10.0
_LARGEST = 2 << 20
_LONGEST_TEXT = 100_000
_MOST_REDIRECTS = 5
_CHARSET = re.compile(r"charset=[\"']?([A-Za-z0-9._:-]{1,40})", re.IGNORECASE)
_TEXT = re.compile(r"text/|application/(.*[+])?(json|xml|javascript|x-yaml|yaml|toml|x-sh)|application/xhtml")
_HTML = ("text/html", "application/xhtml")

_DESCRIPTION = """\
Fetches a page with GET and returns it as text; HTML is converted. Addresses of this machine and of private \
networks are refused unless the user's settings name them. A redirect to another host is not followed: the result \
names its target, which you can fetch."""


class WebFetchArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(min_length=1, description="An http or https address.")]
    prompt: Annotated[str, Meta(description="The information you want from the page.")] = ""


class WebFetch:
    """Tool for pages. `local_hosts` may be on this machine or a private network: names, addresses, or `*.name`."""

    def __init__(
        self,
        local_hosts: Iterable[str] = (),
        *,
        resolver: Resolver | None = None,
        tls: "ssl.SSLContext | None" = None,
        seconds: float = _SECONDS,
    ) -> None:
        self._local = frozenset(host.casefold().strip("[]") for host in local_hosts)
        self._resolver = resolver
        self._tls = tls
        self._seconds = seconds

    def tool(self) -> RecordTool[WebFetchArguments]:
        return RecordTool("WebFetch", _DESCRIPTION, "web", WebFetchArguments, self._run)

    async def _run(self, arguments: WebFetchArguments, workplace: Workplace) -> ToolOutput:
        del workplace
        target = _target(arguments.url)
        try:
            async with asyncio.timeout(self._seconds):
                page, target = await self._followed(target)
        except TimeoutError:
            raise ToolError(f"{target.shown} gave no complete answer within {self._seconds:g} s.") from None
        if page.location is not None:
            return _elsewhere(page, target)
        text = await _readable(page, target)
        return ToolOutput(text=_headed(page, target, text), response=_response(page, target, text))

    async def _followed(self, target: UrlParts) -> "tuple[WebPage, UrlParts]":
        """Follow redirects within the host; one to another host may lead where no rule allows."""
        for _ in range(_MOST_REDIRECTS + 1):
            page = await self._got(target)
            if page.location is None:
                return page, target
            following = _target(urljoin(_whole(target), page.location))
            if following.host != target.host or (target.scheme, following.scheme) == ("https", "http"):
                return page, target
            target = following
        raise ToolError(f"{target.shown} redirects more than {_MOST_REDIRECTS} times.")

    async def _got(self, target: UrlParts) -> "WebPage":
        from hookline.agent.tools.web.page import get  # noqa: PLC0415 - the http packages are heavy

        try:
            return await get(
                target,
                most=_LARGEST,
                local=self._is_local(target.host),
                resolver=self._resolver,
                tls=self._tls,
            )
        except RefusedAddressError as refused:
            raise ToolError(
                f"{target.shown} is refused: {refused}, and only hosts listed in `local_hosts` of the settings "
                "may have such addresses."
            ) from None
        except TimeoutError:
            raise
        except Exception as error:  # noqa: BLE001 - any failure means no page
            raise ToolError(f"{target.shown} cannot be fetched: {described(error)}") from None

    def _is_local(self, host: str) -> bool:
        host = host.casefold()
        if host in self._local:
            return True
        # A star is for names: the end of an address says nothing about its network.
        named = any(letter.isalpha() for letter in host.rpartition(".")[2])
        return named and any(each.startswith("*.") and host.endswith(each[1:]) for each in self._local)


def _target(url: str) -> UrlParts:
    try:
        return parse_url(url.partition("#")[0])
    except UrlError as problem:
        raise ToolError(f"{shortened(url, 200)} cannot be fetched: {problem}.") from None


def _whole(target: UrlParts) -> str:
    return f"{target.scheme}://{target.authority}{target.resource}"


async def _readable(page: "WebPage", target: UrlParts) -> str:
    kind = page.content_type.casefold()
    if kind and not _TEXT.match(kind):
        raise ToolError(
            f"{target.shown} is {shortened(page.content_type, 80)}, {len(page.body)} bytes; only text is read."
        )
    if not kind and b"\0" in page.body[:4096]:
        raise ToolError(f"{target.shown} is not text.")
    text = _decoded(page)
    if page.status >= 400:
        said = shortened(text, 300)
        raise ToolError(f"{target.shown} answered with status {page.status} {_phrase(page.status)}: {said}")
    if kind.startswith(_HTML) or (not kind and "<html" in text[:2000].casefold()):
        from hookline.agent.tools.web.page import page_text  # noqa: PLC0415 - only pages need a parser

        whole = _whole(target)
        return await off_loop(lambda limit: page_text(text, whole, limit), seconds=_READING_SECONDS)
    return text


def _decoded(page: "WebPage") -> str:
    """Decode with the charset of the header, else of the page, else UTF-8; invalid bytes are replaced."""
    said = _CHARSET.search(page.content_type) or _CHARSET.search(page.body[:2048].decode("latin-1"))
    try:
        return page.body.decode(said[1] if said else "utf-8", "replace")
    except (LookupError, ValueError):
        return page.body.decode("utf-8", "replace")


def _headed(page: "WebPage", target: UrlParts, text: str) -> str:
    cut = len(text) > _LONGEST_TEXT or page.truncated
    end = (
        f"\n\n[cut: the page is longer than {_LONGEST_TEXT} characters or {_LARGEST >> 20} MB]" if cut else ""
    )
    return f"{target.shown}\n\n{text[:_LONGEST_TEXT] or '(the page is empty)'}{end}"


def _elsewhere(page: "WebPage", target: UrlParts) -> ToolOutput:
    where = shortened(urljoin(_whole(target), page.location or ""), 2000)
    text = f"{target.shown} redirects to {where}, on another host. Fetch that address if you want it."
    return ToolOutput(text=text, response=_response(page, target, text))


def _response(page: "WebPage", target: UrlParts, text: str) -> dict[str, Any]:
    return {
        "url": target.shown,
        "code": page.status,
        "codeText": _phrase(page.status),
        "bytes": len(page.body),
        "result": text[:_LONGEST_TEXT],
    }


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
