"""WebFetch against real servers on this machine."""

import asyncio
import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.hooks import NoHooks
from hookline.agent.tools.base import ToolOutput, Workplace
from hookline.agent.tools.off_loop import WorkLimit
from hookline.agent.tools.web.fetch import WebFetch
from hookline.agent.tools.web.page import page_text
from hookline.model.errors import ToolError
from tests.agent.scripted_session import ScriptedSession, call, calls, says
from tests.handlers.servers import Answer, Seen, response, serving

LOCAL = ("127.0.0.1",)
PAGE = b"""<!doctype html><html><head><title>A  page</title><style>p{}</style></head><body>
<h1>Head</h1><p>Some <b>bold</b> text,
 over two lines. <a href="/more?a=1">more</a></p><script>alert(1)</script>
<ul><li>one</li><li>two</li></ul><pre>  kept
   as it is</pre><table><tr><td>a</td><td>b</td></tr></table></body></html>"""


async def fetch(url: str, local: Sequence[str] = LOCAL, **more: Any) -> ToolOutput:
    tool = WebFetch(local, **more).tool()
    arguments = {"url": url, "prompt": "what is it?"}
    assert tool.problem(arguments) is None
    return await tool.run(arguments, Workplace(NoHooks(), "/", env={}))


async def fails(url: str, local: Sequence[str] = LOCAL, **more: Any) -> str:
    with pytest.raises(ToolError) as failure:
        await fetch(url, local, **more)
    return str(failure.value)


def html(body: bytes, *more: str) -> bytes:
    return response(body, "200 OK", "Content-Type: text/html; charset=utf-8", *more)


def fetched(answer: Answer, path: str = "/x") -> ToolOutput:
    async def main() -> ToolOutput:
        async with serving(answer) as server:
            return await fetch(server.url + path)

    return asyncio.run(main())


def refused(answer: Answer, path: str = "/x", **more: Any) -> str:
    async def main() -> str:
        async with serving(answer) as server:
            return await fails(server.url + path, **more)

    return asyncio.run(main())


def test_a_page_is_made_readable():
    reply = fetched(html(PAGE))
    head, _, text = reply.text.partition("\n\n")
    assert head.endswith("/x")
    base = head.removesuffix("/x")
    assert text == (
        f"A page\n\n# Head\n\nSome bold text, over two lines. [more]({base}/more?a=1)\n\n- one\n- two\n\n"
        "```\n  kept\n   as it is\n```\n\n| a | b"
    )
    assert reply.response["code"] == 200
    assert reply.response["codeText"] == "OK"
    assert reply.response["bytes"] == len(PAGE)


def test_it_asks_by_get_and_says_nothing_of_the_user():
    async def main() -> Seen:
        async with serving(response(b"x", "200 OK", "Content-Type: text/plain")) as server:
            await fetch(f"{server.url}/a/b?c=d#e")
            return server.requests[0]

    seen = asyncio.run(main())
    assert seen.line == "GET /a/b?c=d HTTP/1.1"
    assert {name for name, _ in seen.headers} == {
        "Host", "User-Agent", "Accept", "Accept-Encoding", "Connection",
    }  # fmt: skip


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:PORT/", "http://localhost:PORT/", "http://[::ffff:7f00:1]:PORT/"]
)
def test_this_machine_is_refused_unless_the_settings_name_it(url: str):
    async def main() -> str:
        async with serving() as server:
            said = await fails(url.replace("PORT", str(server.port)), local=("other.example", "*.0.0.1"))
            assert server.connects == 0
            return said

    said = asyncio.run(main())
    assert "is this machine" in said
    assert "`local_hosts`" in said


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("192.168.1.1", "private"),
        ("fd00::1", "private"),
    ],
)
def test_private_networks_are_refused_whatever_name_they_hide_behind(address: str, kind: str):
    async def resolver(host: str, port: int) -> Sequence[str]:
        return [address]

    assert f"{address} is {kind}" in asyncio.run(
        fails("https://innocent.example/", local=(), resolver=resolver)
    )


def test_a_name_that_the_settings_give_may_be_anywhere_and_only_that_name():
    async def resolver(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async def main() -> None:
        async with serving(response(b"hello", "200 OK", "Content-Type: text/plain")) as server:
            local = ("wiki.corp", "*.inside.corp")
            for host in ("wiki.corp", "WIKI.corp", "a.inside.corp"):
                reply = await fetch(f"http://{host}:{server.port}/", local, resolver=resolver)
                assert "hello" in reply.text
            for host in ("evilwiki.corp", "inside.corp.evil", "x.wiki.corp"):
                said = await fails(f"http://{host}:{server.port}/", local, resolver=resolver)
                assert "is this machine" in said

    asyncio.run(main())


def test_redirects_within_the_host_are_followed_and_one_that_leaves_it_is_told():
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        where = {"/a": "/b", "/b": "./c", "/out": "https://elsewhere.example/x?y"}.get(seen.line.split()[1])
        body = response(b"", "302 Found", f"Location: {where}") if where else response(b"the end")
        writer.write(body)
        await writer.drain()

    async def main() -> None:
        async with serving(answer) as server:
            assert (await fetch(f"{server.url}/a")).text == f"{server.url}/c\n\nthe end"
            reply = await fetch(f"{server.url}/out")
            assert "redirects to https://elsewhere.example/x?y, on another host" in reply.text
            assert reply.response["code"] == 302

    asyncio.run(main())


def test_redirects_without_an_end_are_not_followed_for_ever():
    async def main() -> None:
        async with serving(response(b"", "301 Moved", "Location: /again")) as server:
            assert "redirects more than 5 times" in await fails(f"{server.url}/a")
            assert len(server.requests) == 6

    asyncio.run(main())


@pytest.mark.parametrize(
    "where", ["http://user:pw@127.0.0.1/", "file:///etc/passwd", "ftp://127.0.0.1/x", "/%2e%2e/x", "/ü"]
)
def test_a_redirect_to_what_cannot_be_asked_for_fails(where: str):
    assert "cannot be fetched" in refused(response(b"", "302 Found", f"Location: {where}"))


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/",
        "example.com",
        "http://u:p@x/",
        "http://x/..",
        "http://\x00x",
        "https://",
    ],
)
def test_what_is_no_plain_http_address_is_refused(url: str):
    assert "cannot be fetched" in asyncio.run(fails(url))


def test_a_status_of_failure_is_a_failure():
    said = refused(response(b"gone fishing", "404 Not Found", "Content-Type: text/plain"))
    assert "status 404 Not Found: gone fishing" in said


def test_only_text_is_read():
    assert "image/png, 4 bytes; only text is read" in refused(
        response(b"\x89PNG", "200 OK", "Content-Type: image/png")
    )
    assert "is not text" in refused(response(b"a\0b", "200 OK"))
    assert '{"a": 1}' in fetched(response(b'{"a": 1}', "200 OK", "Content-Type: application/ld+json")).text


def test_a_page_may_be_packed_and_in_any_letters():
    packed = gzip.compress("grüß".encode("latin-1"))
    more = ("Content-Type: text/plain; charset=iso-8859-1", "Content-Encoding: gzip")
    assert "grüß" in fetched(response(packed, "200 OK", *more)).text
    assert "gr�" in fetched(response(b"gr\xff", "200 OK", "Content-Type: text/plain; charset=nonsense")).text


def test_a_page_without_an_end_is_cut():
    bomb = gzip.compress(b"a" * (50 << 20))
    reply = fetched(response(bomb, "200 OK", "Content-Type: text/plain", "Content-Encoding: gzip"))
    assert reply.response["bytes"] == 2 << 20
    assert reply.text.endswith("[cut: the page is longer than 100000 characters or 2 MB]")
    assert len(reply.text) < 101_000


def test_a_server_that_drips_is_left_when_the_time_is_over():
    async def drip(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    assert "no complete answer within 0.3 s" in refused(drip, seconds=0.3)


def test_a_server_that_speaks_no_http_fails_with_words():
    assert "cannot be fetched" in refused(b"SSH-2.0-x\r\n\r\n")


@pytest.mark.parametrize(
    "hostile",
    [
        "<" * 300_000,
        "<!--" * 100_000,
        "<a " * 100_000,
        "<div>" * 100_000,
        "<a href='" + "x" * 500_000,
        "&" * 300_000,
    ],
)
def test_a_hostile_page_is_read_for_so_long_and_no_longer(hostile: str):
    assert isinstance(page_text(hostile, "http://x/", WorkLimit(5)), str)


def test_in_a_session_a_rule_of_its_domain_lets_it_run(tmp_path: Path):
    async def main() -> None:
        async with serving(response(b"hello", "200 OK", "Content-Type: text/plain")) as server:
            script = (calls(call("WebFetch", url=f"{server.url}/x")), says("done"))
            scripted = ScriptedSession(tmp_path, script, allow=("WebFetch(domain:127.0.0.1)",))
            (scripted.project / ".hookline").mkdir()
            (scripted.project / ".hookline" / "settings.toml").write_text(
                '[agent]\nlocal_hosts = ["127.0.0.1"]\n'
            )
            async with scripted:
                await scripted.play("go")
                assert scripted.results() == [f"{server.url}/x\n\nhello"]
                (fired,) = scripted.events("PostToolUse")
                assert fired.payload.tool_category == "web"

    asyncio.run(main())


def test_in_a_session_another_domain_is_asked_about(tmp_path: Path):
    async def main() -> None:
        script = (calls(call("WebFetch", url="https://example.org/")), says("done"))
        async with ScriptedSession(tmp_path, script, allow=("WebFetch(domain:example.com)",)) as scripted:
            await scripted.play("go")
            assert scripted.events("PermissionRequest")
            assert not scripted.events("PostToolUse")

    asyncio.run(main())
