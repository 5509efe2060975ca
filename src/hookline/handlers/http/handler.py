"""Check http hooks before anything is sent."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, Protocol
from weakref import WeakKeyDictionary

from msgspec import Struct

from hookline.handlers.failures import encoded_payload
from hookline.handlers.specs import HttpSpec
from hookline.model.raw import Failed, RawResult, Replied
from hookline.model.wire import HookInvocation

if TYPE_CHECKING:
    import ssl

    from hookline.handlers.http.addresses import Resolver
    from hookline.handlers.http.client import Exchange, Headers
    from hookline.handlers.http.network import NetworkRoute
    from hookline.handlers.http.response_cache import ResponseCache
    from hookline.handlers.http.urls import UrlParts


#: The current W3C `traceparent`: requests carry it, and a server continues the trace it was sent.
TRACE_PARENT: Final = ContextVar("hookline_traceparent", default="")

_VARIABLE: Final = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")
_LONGEST: Final = 16 * 1024

#: Framing, routing and identity of the request are ours; a hook that could set them could smuggle requests.
NOT_SETTABLE: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "idempotency-key",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


class HeaderError(ValueError):
    """A header cannot be sent. The text names the header, never its value."""


def check_names(headers: Mapping[str, str]) -> None:
    """Refuse names that are not header names, that only we may set, or that occur twice in different case."""
    seen: set[str] = set()
    for name in headers:
        lowered = name.lower()
        if _NAME.fullmatch(name) is None:
            raise HeaderError(f"{name[:80]!r} is not a header name")
        if lowered in NOT_SETTABLE:
            raise HeaderError(f"the header {name} cannot be set by a hook")
        if lowered in seen:
            raise HeaderError(f"the header {name} is set twice")
        seen.add(lowered)


def filled_values(headers: Mapping[str, str], variable: Callable[[str], str]) -> list[tuple[bytes, bytes]]:
    """Return the headers as they are sent: variables replaced in one pass, then every value checked."""
    filled: list[tuple[bytes, bytes]] = []
    for name, template in headers.items():
        value = _VARIABLE.sub(lambda found: variable(found[1] or found[2]), template).strip(" ")
        if len(value) > _LONGEST or not value.isascii() or not value.isprintable():
            raise HeaderError(f"the value of the header {name} has characters that cannot be sent")
        filled.append((name.encode(), value.encode()))
    return filled


class HttpRules(Struct, frozen=True):
    """The limits of http hooks; entries cannot extend them."""

    #: Patterns such as `https://hooks.example.com/*` or `http://localhost:*`; None allows every URL.
    allowed_urls: tuple[str, ...] | None = None
    #: Variables that headers may use; an entry must list them as well. None leaves it to the entry.
    allowed_env: frozenset[str] | None = None
    #: True if http:// may leave this machine.
    plain_http: bool = False


class Poster(Protocol):
    """A sender of checked requests."""

    async def post(
        self, target: "UrlParts", headers: "Headers", document: bytes, seconds: float
    ) -> RawResult: ...

    async def close(self) -> None: ...


class HttpHandler:
    """Posts the payload. Connections are kept per event loop; one handler may serve several loops.

    With a `poster` nothing is connected to: it gets every request, on any loop.
    """

    kind = "http"
    own_clock = False

    def __init__(
        self,
        rules: HttpRules | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        resolver: "Resolver | None" = None,
        tls: "ssl.SSLContext | None" = None,
        most_kept: int = 1 << 20,
        poster: Poster | None = None,
    ) -> None:
        self._poster = poster
        self._rules = rules if rules is not None else HttpRules()
        self._environ = environ if environ is not None else dict(os.environ)
        self._resolver = resolver
        self._tls = tls
        self._most_kept = most_kept
        self._exchanges: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[NetworkRoute, Exchange]] = (
            WeakKeyDictionary()
        )
        self._repeats: ResponseCache | None = None

    async def run(self, call: HookInvocation) -> RawResult:
        spec: HttpSpec = call.hook.spec
        try:
            target = self._target(spec)
            headers = self._headers(spec)
        except ValueError as refused:
            return Failed("not_started", str(refused))
        document = encoded_payload(call)
        if isinstance(document, Failed):
            return document
        repeated = self._repeated(spec, headers, document)
        if repeated is not None:
            return repeated
        asked = tuple(headers)
        if call.run_id:
            # With the process: a fork of the host counts its runs from the same number.
            headers.append((b"Idempotency-Key", f"{call.run_id}-{os.getpid():x}".encode()))
        if (trace := TRACE_PARENT.get()) and b"traceparent" not in {name.lower() for name, _ in headers}:
            headers.append((b"traceparent", trace.encode()))
        raw = await self._exchange(spec).post(target, headers, document, call.timeout)
        if isinstance(raw, Replied) and raw.repeatable:
            self._keep(spec, asked, document, raw)
        return raw

    def _repeated(self, spec: HttpSpec, headers: "Headers", document: bytes) -> Replied | None:
        """Return the server's answer to the same question, for as long as it allows."""
        if not self._repeats:
            return None
        from hookline.handlers.http.response_cache import question_of  # noqa: PLC0415 - only for servers that allow it

        return self._repeats.find(question_of(spec.url, headers, document))

    def _keep(self, spec: HttpSpec, headers: "Headers", document: bytes, answer: Replied) -> None:
        from hookline.handlers.http.response_cache import ResponseCache, question_of  # noqa: PLC0415 - as above

        if self._repeats is None:
            self._repeats = ResponseCache()
        self._repeats.keep(question_of(spec.url, headers, document), answer)

    def problem(self, spec: Any) -> str | None:
        from hookline.handlers.http.addresses import literal_refusal  # noqa: PLC0415 - only http hooks need it

        try:
            target = self._target(spec)
            check_names(spec.headers)
            filled_values(spec.headers, lambda _name: "")
        except ValueError as refused:
            return str(refused)
        if spec.key and not spec.cert:
            return "it has a key and no cert"
        for name in ("ca", "cert", "key"):
            file: str = getattr(spec, name)
            if file and not os.path.isabs(file):
                return f"its {name} {file} must be an absolute path"
        reason = literal_refusal(target.host, private=spec.private)
        return f"{target.shown} is refused: {reason}" if reason is not None else None

    async def close(self) -> None:
        """Close the connections of this loop; those of a loop that has ended went with it."""
        exchanges = self._exchanges.pop(asyncio.get_running_loop(), None) if self._exchanges else None
        for exchange in (exchanges or {}).values():
            await exchange.close()

    def _target(self, spec: HttpSpec) -> "UrlParts":
        from hookline.handlers.http.urls import parse_url, url_allowed  # noqa: PLC0415 - only http hooks need it

        target = parse_url(spec.url)
        allowed = self._rules.allowed_urls
        if allowed is not None and not url_allowed(target, allowed):
            raise ValueError(f"{target.shown} is refused: it is not among the allowed URLs")
        return target

    def _headers(self, spec: HttpSpec) -> list[tuple[bytes, bytes]]:
        if not spec.headers:
            return []
        check_names(spec.headers)
        usable = frozenset(spec.allowed_env_vars)
        if self._rules.allowed_env is not None:
            usable &= self._rules.allowed_env
        return filled_values(spec.headers, lambda name: self._environ.get(name, "") if name in usable else "")

    def _exchange(self, spec: HttpSpec) -> Poster:
        if self._poster is not None:
            return self._poster
        from hookline.handlers.http.network import NetworkRoute  # noqa: PLC0415 - as the next one

        exchanges = self._exchanges.setdefault(asyncio.get_running_loop(), {})
        route = NetworkRoute(spec.ca, spec.cert, spec.key, spec.private)
        exchange = exchanges.get(route)
        if exchange is None:
            from hookline.handlers.http.client import Exchange  # noqa: PLC0415 - the http packages are heavy

            exchange = exchanges[route] = Exchange(
                resolver=self._resolver,
                plain_http=self._rules.plain_http,
                tls=self._tls,
                most_kept=self._most_kept,
                route=route,
            )
        return exchange
