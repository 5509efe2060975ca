"""Attacks on http hooks: forbidden addresses in every spelling, and tricks with headers.

Used by the tests and by the soak run. What counts is what really happens: every `connect` this process
makes is seen by an audit hook, and real listeners count who comes.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from msgspec import Struct

from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.http.handler import HttpHandler, HttpRules, HttpSpec
from tests.handlers.calls import call_with
from tests.handlers.servers import Server, response, serving

#: Hosts that stand for addresses no hook may talk to; what a resolver says of them is not asked.
FORBIDDEN_SPELLINGS = (
    # unspecified, which Linux takes for this machine: a listener here would really be reached
    "0.0.0.0", "0", "0x0", "00.0.0.0", "0.0", "0x0.0x0", "[::]", "[0:0:0:0:0:0:0:0]", "[::ffff:0.0.0.0]",
    "[::ffff:0:0]",
    # the metadata address
    "169.254.169.254", "169.254.43518", "169.16689662", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376", "025177524776", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]", "[64:ff9b::169.254.169.254]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::1]",
    "[2001:0:4136:e378:8000:63bf:5601:5601]", "[::a9fe:a9fe]", "[fe80::5efe:a9fe:a9fe]",
    "[2606:4700::5efe:a9fe:a9fe]", "[fd00:ec2::254]",
    # private networks
    "10.0.0.1", "10.1", "0x0a000001", "012.0.0.1", "167772161", "172.16.0.1", "172.31.255.254", "192.168.1.1",
    "192.168.257", "[::ffff:10.0.0.1]", "[64:ff9b::10.0.0.1]", "[2002:0a00:0001::]", "[fc00::1]", "[fd12:3456::1]",
    # shared, link-local, multicast, reserved, documentation, loopback at the far end of a tunnel
    "100.64.0.1", "100.100.100.200", "[fe80::1]", "[fec0::1]", "224.0.0.1", "239.255.255.250", "[ff02::1]",
    "255.255.255.255", "240.0.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "192.88.99.1", "[2001:db8::1]", "[3fff::1]", "[5f00::1]", "[100::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
)  # fmt: skip

#: URLs that are no plain http URLs, or that two parsers could read differently.
FORBIDDEN_URLS = (
    "http://alice@127.0.0.1:{port}/", "http://alice:secret@127.0.0.1:{port}/", "http://127.0.0.1:{port}@0.0.0.0:{port}/",
    "http://@127.0.0.1:{port}/", "http://0.0.0.0:{port}#@127.0.0.1/", "http://127.0.0.1\\@0.0.0.0:{port}/",
    "http:\\\\127.0.0.1:{port}/", "http://127.0.0.1:{port}/a b", "http://127.0.0.1:{port}/\r\nX: y",
    "http://127.0.0.1:{port}/\tx", "http://127.0.0.1:{port}/\x00", "http://１２７.0.0.1:{port}/", "http://①②⑦.0.0.1:{port}/",
    "http://127.0.0.1。:{port}/", "ftp://127.0.0.1:{port}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/",
    "//127.0.0.1:{port}/", "127.0.0.1:{port}", "http:///path", "http://", "", "http://[127.0.0.1", "http://[::1",
    "http://127.0.0.1:99999/", "http://127.0.0.1:-1/", "http://127.0.0.1:x/", "http://.127.0.0.1:{port}/",
    "http://127..0.1:{port}/", "http://127.0.0.1:{port}/a/../b", "http://127.0.0.1:{port}/a/%2e%2e/b",
    "http://127.0.0.1:{port}/%2e/b", "http://127.0.0.1:{port}/a/..%2fb", "http://127.0.0.1:{port}/a/..%5cb",
    "unix:///var/run/docker.sock", "http+unix://%2Fvar%2Frun/", "javascript:1", "data:,x",
    "http://127.0.0.1:{port}/" + "x" * 9000, "http://" + "a" * 9000 + "/",
)  # fmt: skip

#: Spellings of this machine, which is allowed.
LOOPBACK_SPELLINGS = (
    "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.53", "localhost", "LOCALHOST",
    "[::ffff:127.0.0.1]", "0x7f.1",
)  # fmt: skip


class Trick(Struct, frozen=True):
    """A header template, what the environment holds, and what may be sent (None: nothing at all)."""

    template: str
    sent: str | None
    environ: Mapping[str, str] = {}
    allowed: tuple[str, ...] = ("TOKEN",)


SECRET = "hunter2-secret"
_HOSTILE = (
    "a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\x00b", "a\r\n\r\nGET /x HTTP/1.1", "a\x0bb",
    "a\x0cb", "a\x1bb", "a\x7fb", "a\x85b", "a\u2028b", "a\u2029b", "é", "漢", "a\tb", "\x01", "a\u200bb", "a\xa0b",
    "\r\n", "\n", "x" * 20_000, "a\x80", "\udcff",
)  # fmt: skip
TRICKS = (
    *(Trick("$TOKEN", None, {"TOKEN": value}) for value in _HOSTILE),
    *(Trick(value, None) for value in _HOSTILE),
    # an unlisted variable is empty, however it is written
    *(
        Trick(template, sent, {"SECRET": SECRET, "TOKEN": "t"})
        for template, sent in (
            ("$SECRET", ""), ("${SECRET}", ""), ("x$SECRET-y", "x-y"), ("$TOKEN$SECRET", "t"), ("${TOKEN}", "t"),
            ("Bearer $TOKEN", "Bearer t"), ("$TOKENS", ""), ("${TOKEN}S", "tS"), ("$$SECRET", "$"),
            ("$${SECRET}", "$"), ("${${SECRET}}", "${}"), ("${SECRET:-x}", "${SECRET:-x}"),
            ("$(printenv SECRET)", "$(printenv SECRET)"), ("`echo $SECRET`", "`echo `"), ("%SECRET%", "%SECRET%"),
            ("\\$SECRET", "\\"), ("${ SECRET }", "${ SECRET }"), ("$secret", ""), ("${!SECRET}", "${!SECRET}"),
            ("{SECRET}", "{SECRET}"), ("$1", "$1"), ("$", "$"), ("${}", "${}"), ("${TOKEN", "${TOKEN"),
        )
    ),
    # a value is never expanded again
    Trick("$TOKEN", "$SECRET", {"TOKEN": "$SECRET", "SECRET": SECRET}, ("TOKEN", "SECRET")),
    Trick("$TOKEN", "${SECRET}", {"TOKEN": "${SECRET}", "SECRET": SECRET}, ("TOKEN", "SECRET")),
    Trick("$SEC${TOKEN}", "RET", {"TOKEN": "RET", "SECRET": SECRET}),
    Trick("$TOKEN", "", {}),
)  # fmt: skip

#: Headers that would change where a request goes, how it is framed, or which run it is.
FORBIDDEN_HEADERS = (
    "Host", "host", "HOST", "Content-Length", "content-length", "Transfer-Encoding", "Connection", "Keep-Alive",
    "Upgrade", "TE", "Trailer", "Expect", "Proxy-Authorization", "Proxy-Connection", "Accept-Encoding",
    "Content-Encoding", "Idempotency-Key", "X:Y", "X Y", "X\r\nY", "X\nY: z", "", ":authority", "X\x00", "É",
    "X-" + "a" * 200, " Host", "Host ", "\tHost",
)  # fmt: skip


@contextmanager
def watched_connects() -> Generator[list[Any]]:
    """Every address this process tries to connect to meanwhile. (An audit hook can only be switched off.)"""
    seen: list[Any] = []
    on = True

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        if on and event == "socket.connect":
            seen.append(arguments[1])

    sys.addaudithook(audit)
    try:
        yield seen
    finally:
        on = False


@asynccontextmanager
async def handling(rules: HttpRules | None = None, **seams: Any) -> AsyncGenerator[HttpHandler]:
    handler = HttpHandler(rules, **seams)
    try:
        yield handler
    finally:
        await handler.close()


async def posted(handler: HttpHandler, url: str, **spec: Any) -> RawResult:
    return await handler.run(call_with(HttpSpec(url, **spec), kind="http"))


ANY_HTTP = HttpRules(plain_http=True)


async def try_addresses(dialect_events: Sequence[str] = FORBIDDEN_SPELLINGS) -> list[str]:
    """Every spelling, over http and https, against a listener on all addresses. Returns what went wrong."""
    wrong: list[str] = []
    async with serving(host="0.0.0.0") as server, handling(ANY_HTTP) as handler:
        with watched_connects() as connects:
            for scheme in ("http", "https"):
                for spelling in dialect_events:
                    raw = await posted(handler, f"{scheme}://{spelling}:{server.port}/x?token=secret")
                    if not _refused(raw, "token", "secret"):
                        wrong.append(f"{scheme}://{spelling}: {raw}")
        wrong.extend(f"connected to {address}" for address in connects)
        wrong.extend(["the listener was reached"] * server.connects)
    return wrong


async def try_urls(urls: Sequence[str] = FORBIDDEN_URLS) -> list[str]:
    wrong: list[str] = []
    async with serving(host="0.0.0.0") as server, handling(ANY_HTTP) as handler:
        with watched_connects() as connects:
            for url in urls:
                raw = await posted(handler, url.replace("{port}", str(server.port)))
                if not _refused(raw, "secret", "alice"):
                    wrong.append(f"{url!r}: {raw}")
        wrong.extend(f"connected to {address}" for address in connects)
        wrong.extend(["the listener was reached"] * server.connects)
    return wrong


async def try_rebinding(rounds: int = 20) -> list[str]:
    """A name that is this machine when it is checked and the metadata address a little later, and back."""
    wrong: list[str] = []
    async with serving(response(b"{}", "200 OK", "Connection: close")) as server:
        for forbidden in ("169.254.169.254", "0.0.0.0", "10.0.0.1", "::"):
            turns = 0

            async def flipping(host: str, port: int, forbidden: str = forbidden) -> list[str]:
                nonlocal turns
                turns += 1
                return ["127.0.0.1"] if turns % 2 else [forbidden]

            before = server.connects
            async with handling(ANY_HTTP, resolver=flipping) as handler:
                with watched_connects() as connects:
                    results = [
                        await posted(handler, f"http://rebind.test:{server.port}/") for _ in range(rounds)
                    ]
            replies = sum(isinstance(raw, Replied) for raw in results)
            refusals = sum(_refused(raw) for raw in results)
            if (replies, refusals, server.connects - before) != (rounds // 2, rounds // 2, rounds // 2):
                wrong.append(
                    f"{forbidden}: {replies} replies, {refusals} refusals, {server.connects} connects"
                )
            wrong.extend(f"connected to {to}" for to in connects if to[0] != "127.0.0.1")
    return wrong


async def try_mixed_answers() -> list[str]:
    """A name with a good and a forbidden address is refused as a whole, in any order."""
    wrong: list[str] = []
    async with serving() as server:
        for addresses in (
            ["127.0.0.1", "10.0.0.1"],
            ["10.0.0.1", "127.0.0.1"],
            ["127.0.0.1", "not-an-address"],
        ):

            async def both(host: str, port: int, addresses: list[str] = addresses) -> list[str]:
                return addresses

            async with handling(ANY_HTTP, resolver=both) as handler:
                raw = await posted(handler, f"http://mixed.test:{server.port}/")
            if not _refused(raw) or server.connects:
                wrong.append(f"{addresses}: {raw}")
    return wrong


async def try_redirects() -> list[str]:
    """Every redirect status, towards this machine and elsewhere: followed never."""
    wrong: list[str] = []
    async with serving() as prize, handling(ANY_HTTP) as handler:
        for status in (300, 301, 302, 303, 304, 305, 307, 308, 399):
            for location in (
                f"{prize.url}/prize",
                "http://169.254.169.254/",
                "//0.0.0.0/",
                "file:///etc/passwd",
            ):
                reply = response(b"", f"{status} Moved", f"Location: {location}")
                async with serving(reply) as server:
                    raw = await posted(handler, server.url)
                if not (isinstance(raw, Failed) and raw.cause == "transport" and str(status) in raw.detail):
                    wrong.append(f"{status} {location}: {raw}")
        wrong.extend(["a redirect was followed"] * prize.connects)
    return wrong


async def try_tricks(tricks: Sequence[Trick] = TRICKS) -> list[str]:
    """Every header trick against a server that keeps the bytes it was sent."""
    wrong: list[str] = []
    async with serving() as server:
        for trick in tricks:
            server.requests.clear()
            async with handling(environ=trick.environ) as handler:
                raw = await posted(
                    handler, server.url, headers={"X-Try": trick.template}, allowed_env_vars=trick.allowed
                )
            problem = _trick_problem(trick, raw, server)
            if problem is not None:
                wrong.append(f"{trick.template[:60]!r} {trick.environ!r:.80}: {problem}")
    return wrong


async def try_header_names(names: Sequence[str] = FORBIDDEN_HEADERS) -> list[str]:
    wrong: list[str] = []
    async with serving() as server, handling() as handler:
        for name in names:
            spec = HttpSpec(server.url, {name: SECRET})
            raw = await handler.run(call_with(spec, kind="http"))
            if not _refused(raw, SECRET) or handler.problem(spec) is None:
                wrong.append(f"{name!r}: {raw}")
        wrong.extend(f"sent: {seen.raw!r}" for seen in server.requests)
    return wrong


def _trick_problem(trick: Trick, raw: RawResult, server: Server) -> str | None:
    if trick.sent is None:
        if server.requests:
            return f"it was sent: {server.requests[0].raw!r}"
        return None if _refused(raw) and "X-Try" in getattr(raw, "detail", "") else f"{raw}"
    if not isinstance(raw, Replied) or len(server.requests) != 1:
        return f"{raw}"
    seen = server.requests[0]
    if SECRET.encode() in seen.raw and trick.sent != SECRET:
        return "the secret was sent"
    return None if seen.header("X-Try") == trick.sent else f"sent {seen.header('X-Try')!r}"


def _refused(raw: RawResult, *secrets: str) -> bool:
    """Not started, with a reason, and without the parts of a URL or header that may be secret."""
    return (
        isinstance(raw, Failed)
        and raw.cause == "not_started"
        and bool(raw.detail)
        and not any(secret in raw.detail for secret in secrets)
    )


async def every_attack() -> Mapping[str, list[str]]:
    """By name, what went wrong."""
    return {
        "addresses": await try_addresses(),
        "urls": await try_urls(),
        "rebinding": await try_rebinding(),
        "mixed answers": await try_mixed_answers(),
        "redirects": await try_redirects(),
        "headers": await try_tricks(),
        "header names": await try_header_names(),
    }


def run_attacks() -> Mapping[str, list[str]]:
    return asyncio.run(every_attack())
