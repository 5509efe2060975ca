import asyncio
import gzip
import os
import resource
import shutil
import ssl
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from hookline.extending import Failed, RawResult, Replied
from hookline.handlers.deadline import bounded
from hookline.handlers.http.handler import HttpHandler, HttpSpec
from tests.every import every
from tests.handlers.calls import call_with, finished
from tests.handlers.http.attacks import handling, posted
from tests.handlers.servers import Answer, Seen, response, serving


def reply_of(answer: Answer, **seams: Any) -> RawResult:
    async def main() -> RawResult:
        async with serving(answer) as server, handling(**seams) as handler:
            return await bounded(posted(handler, server.url), 20)

    return finished(main())


def test_the_payload_is_posted_as_json_with_its_run_id() -> None:
    async def main() -> None:
        async with serving(response(b'{"ok": true}')) as server, handling() as handler:
            raw = await posted(handler, f"{server.url}/hook?x=1", headers={"X-Mine": "yes"})
            assert raw == Replied(b'{"ok": true}', 200)
        (seen,) = server.requests
        assert seen.line == "POST /hook?x=1 HTTP/1.1"
        assert seen.body == b'{"tool_name":"Bash","tool_input":{"command":"ls"}}\n'
        assert seen.header("Host") == f"127.0.0.1:{server.port}"
        assert seen.header("Content-Type") == "application/json"
        assert seen.header("Accept-Encoding") == "identity"
        assert seen.header("Idempotency-Key") == f"1-{os.getpid():x}"
        assert seen.header("X-Mine") == "yes"
        assert seen.header("Cookie") is None

    finished(main())


def test_a_hook_may_set_its_own_content_type_but_only_one_is_sent() -> None:
    async def main() -> None:
        async with serving() as server, handling() as handler:
            await posted(handler, server.url, headers={"content-type": "application/cloudevents+json"})
        values = [value for name, value in server.requests[0].headers if name.lower() == "content-type"]
        assert values == ["application/cloudevents+json"]

    finished(main())


@every("status", [200, 201, 204, 400, 401, 404, 429, 500, 503, 599])
def test_every_status_but_a_redirect_is_a_fact(status: int) -> None:
    body = b"" if status == 204 else b"why"
    assert reply_of(response(body, f"{status} X")) == Replied(body, status)


def test_a_connection_is_used_again() -> None:
    async def main() -> None:
        async with serving() as server, handling() as handler:
            for _ in range(20):
                assert isinstance(await posted(handler, server.url), Replied)
            assert server.connects == 1
            assert len(server.requests) == 20

    finished(main())


def test_cookies_are_not_kept_from_hook_to_hook() -> None:
    async def main() -> None:
        answer = response(b"{}", "200 OK", "Set-Cookie: session=abc; Path=/")
        async with serving(answer) as server, handling() as handler:
            for _ in range(2):
                await posted(handler, server.url)
            assert server.requests[1].header("Cookie") is None

    finished(main())


def test_one_handler_serves_one_loop_after_another() -> None:
    handler = HttpHandler()

    async def main() -> None:
        async with serving() as server:
            assert isinstance(await posted(handler, server.url), Replied)
            await handler.close()
            await handler.close()
            assert isinstance(await posted(handler, server.url), Replied)
            await handler.close()

    finished(main())
    finished(main())


def test_many_hooks_at_once_all_get_their_own_answer() -> None:
    async def echo(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(response(seen.line.encode()))

    async def main() -> None:
        async with serving(echo) as server, handling() as handler:
            paths = [f"/{number}" for number in range(100)]
            results = await asyncio.gather(*(posted(handler, server.url + path) for path in paths))
            assert results == [Replied(f"POST {path} HTTP/1.1".encode(), 200) for path in paths]

    finished(main())


def sends(*parts: bytes, pause: float = 0.0, then_close: bool = True) -> Answer:
    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        if then_close:
            writer.close()

    return answer


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (sends(CHUNKED, b"3\r\n{}\n\r\n0\r\n\r\n", then_close=False), b"{}\n"),
        (sends(CHUNKED, *(b"1\r\na\r\n" for _ in range(50)), b"0\r\n\r\n"), b"a" * 50),
        (sends(b"HTTP/1.0 200 OK\r\n\r\nuntil the end"), b"until the end"),
        (sends(b"HTTP/1.1 100 Continue\r\n\r\n", response(b"late")), b"late"),
        (sends(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", response(b"late")), b"late"),
        (sends(*(bytes([byte]) for byte in response(b"dripped")), pause=0.001), b"dripped"),
    ],
)
def test_ways_of_sending_a_body_are_understood(answer: Answer, body: bytes) -> None:
    assert reply_of(answer) == Replied(body, 200)


@every(
    "answer",
    [
        sends(),
        sends(b"garbage\r\n\r\n"),
        sends(b"\x00\xff" * 1000),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        sends(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        sends(b"HTTP/1.1 999999 OK\r\n\r\n"),
        sends(CHUNKED + b"zz\r\n"),
        sends(CHUNKED + b"5\r\nab"),
        sends(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 200_000),
        sends(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        sends(response(b"x", "200 OK", "Content-Encoding: br")),
        sends(response(b"x", "200 OK", "Content-Encoding: gzip")),
        sends(response(b"not packed at all", "200 OK", "Content-Encoding: gzip")),
        sends(response(b"x", "200 OK", "Content-Encoding: gzip, gzip")),
        sends(response(gzip.compress(b"{}") + b"more", "200 OK", "Content-Encoding: gzip")),
        sends(response(gzip.compress(b"{}" * 100)[:-9], "200 OK", "Content-Encoding: gzip")),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_transport_failure_that_names_the_url(answer: Answer) -> None:
    raw = reply_of(answer)
    assert isinstance(raw, Failed)
    assert raw.cause == "transport"
    assert raw.detail.startswith("http://127.0.0.1:")
    assert raw.detail.isprintable()
    assert len(raw.detail) < 700


def test_nobody_listening_is_a_transport_failure() -> None:
    async def main() -> None:
        async with serving() as server:
            pass
        async with handling() as handler:
            raw = await posted(handler, f"{server.url}/x?key=secret")
        assert isinstance(raw, Failed)
        assert raw.cause == "transport"
        assert "secret" not in raw.detail

    finished(main())


def test_a_name_that_does_not_resolve_is_a_transport_failure() -> None:
    async def nowhere(host: str, port: int) -> list[str]:
        raise OSError("Name or service not known")

    async def no_address(host: str, port: int) -> list[str]:
        return []

    async def main() -> None:
        for resolver in (nowhere, no_address):
            async with handling(resolver=resolver) as handler:
                raw = await posted(handler, "https://missing.test/")
            assert isinstance(raw, Failed)
            assert raw.cause == "transport"

    finished(main())


@pytest.mark.parametrize("host", ["a" * 64 + ".test", "a" * 300])
def test_a_name_that_cannot_be_looked_up_is_a_typed_result(host: str) -> None:
    async def main() -> None:
        async with handling() as handler:
            raw = await posted(handler, f"https://{host}/")
        assert isinstance(raw, Failed)

    finished(main())


def test_a_resolver_that_hangs_is_bounded_by_the_time_to_connect() -> None:
    async def hangs(host: str, port: int) -> list[str]:
        await asyncio.sleep(3600)
        return []

    async def main() -> None:
        async with handling(resolver=hangs) as handler:
            raw = await handler.run(call_with(HttpSpec("https://slow.test/"), timeout=0.05))
        assert isinstance(raw, Failed)
        assert raw.cause == "transport"
        assert "no connection within 0.05 s" in raw.detail

    finished(main())


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async def two(host: str, port: int) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    async def main() -> None:
        async with serving() as server, handling(resolver=two) as handler:
            assert isinstance(await posted(handler, f"http://two.test:{server.port}/"), Replied)
            assert server.requests[0].header("Host") == f"two.test:{server.port}"

    finished(main())


def test_a_body_over_the_limit_is_cut_and_no_more_is_read() -> None:
    sent = 0

    async def endless(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            sent += 65536

    raw = reply_of(endless)
    assert isinstance(raw, Replied)
    assert raw.truncated
    assert raw.body == b"x" * (1 << 20)
    assert sent < 64 << 20


@pytest.mark.parametrize(("size", "truncated"), [(1 << 20, False), ((1 << 20) + 1, True)])
def test_the_limit_is_exact(size: int, truncated: bool) -> None:
    raw = reply_of(response(b"x" * size))
    assert isinstance(raw, Replied)
    assert (raw.truncated, len(raw.body)) == (truncated, 1 << 20)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_packed_answer_that_nobody_asked_for_is_unpacked(pack: Callable[[bytes], bytes]) -> None:
    encoding = "gzip" if pack is gzip.compress else "deflate"
    assert reply_of(response(pack(b'{"a":1}'), "200 OK", f"Content-Encoding: {encoding}")) == Replied(
        b'{"a":1}', 200
    )


def test_a_bomb_is_not_unpacked_past_the_limit() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(100)) + packer.flush()
    reply_of(response(b"{}"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    raw = reply_of(response(bomb, "200 OK", "Content-Encoding: gzip"))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert isinstance(raw, Replied)
    assert raw.truncated
    assert raw.body == bytes(1 << 20)
    # 100 MB, or 64 KiB of it at a time times a thousand, when it is unpacked whole.
    assert grown < 40 * 1024


def test_a_server_that_drips_for_ever_is_stopped_by_the_deadline_and_the_handler_goes_on() -> None:
    async def drip(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.01)

    async def main() -> None:
        async with serving(drip) as slow, serving() as quick, handling() as handler:
            with pytest.raises(TimeoutError):
                await bounded(posted(handler, slow.url), 0.2)
            assert isinstance(await posted(handler, quick.url), Replied)

    finished(main())


@pytest.mark.parametrize("by_scope", [False, True])
def test_cancelled_requests_leave_no_socket_behind(by_scope: bool) -> None:
    async def silent(_seen: Seen, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(3600)

    async def main() -> None:
        async with serving(silent) as server, handling() as handler:

            async def hook(scope: anyio.CancelScope) -> None:
                with scope:
                    await posted(handler, server.url)
                assert scope.cancelled_caught

            before = len(os.listdir("/proc/self/fd"))
            for number in range(10):
                scope = anyio.CancelScope()
                task = asyncio.create_task(hook(scope))
                while len(server.requests) <= number:
                    await asyncio.sleep(0.001)
                (scope if by_scope else task).cancel()
                await asyncio.gather(task, return_exceptions=True)
                assert task.cancelled() is not by_scope
            await asyncio.sleep(0.01)
            # The server still holds its ends until it is closed; ours must be gone.
            assert len(os.listdir("/proc/self/fd")) - before <= server.connects == 10

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("needs /proc to count open files")
    finished(main())


def test_a_payload_that_cannot_be_encoded_is_not_started() -> None:
    async def main() -> None:
        async with serving() as server, handling() as handler:
            raw = await handler.run(call_with(HttpSpec(server.url), payload=object()))
            assert isinstance(raw, Failed)
            assert raw.cause == "not_started"
            assert "cannot be encoded" in raw.detail
            assert server.connects == 0

    finished(main())


@every(
    ("spec", "problem"),
    [
        (HttpSpec("ftp://x/"), "must begin with https:// or http://"),
        (HttpSpec("https://x/", {"Host": "y"}), "the header Host cannot be set"),
        (HttpSpec("https://x/", {"X": "a\nb"}), "the value of the header X"),
        (HttpSpec("https://x/", {"X": "a", "x": "b"}), "set twice"),
        (HttpSpec("http://169.254.169.254/latest"), "is link-local"),
        (HttpSpec("https://10.0.0.1/"), "is private"),
        (HttpSpec("https://x/", {"X": "$UNLISTED"}), None),
        (HttpSpec("http://localhost:8080/"), None),
    ],
)
def test_what_can_never_run_is_known_when_the_configuration_is_read(
    spec: HttpSpec, problem: str | None
) -> None:
    received = HttpHandler().problem(spec)
    if problem is None:
        assert received is None
    else:
        assert received is not None
        assert problem in received


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "hook.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:prime256v1",
                "-nodes",
            ),
            *("-keyout", str(path), "-out", f"{path}.crt", "-days", "2", "-subj", "/CN=hook.test"),
            *("-addext", "subjectAltName=DNS:hook.test"),
        ],
        check=True,
        capture_output=True,
    )
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


async def _to_this_machine(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


def _server_tls(certificate: Path, names: list[str | None] | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if names is not None:
        context.sni_callback = lambda _socket, name, _context: names.append(name)
    return context


def test_a_pinned_connection_still_asks_for_the_name_of_the_url(certificate: Path) -> None:
    async def main() -> None:
        names: list[str | None] = []
        trusting = ssl.create_default_context(cafile=f"{certificate}.crt")
        async with (
            serving(tls=_server_tls(certificate, names)) as server,
            handling(resolver=_to_this_machine, tls=trusting) as handler,
        ):
            raw = await posted(handler, f"https://hook.test:{server.port}/")
            assert isinstance(raw, Replied), raw
            assert names == ["hook.test"]
            assert server.requests[0].header("Host") == f"hook.test:{server.port}"

    finished(main())


@pytest.mark.parametrize("trusted", [False, True])
def test_a_certificate_that_is_unknown_or_for_another_name_is_refused(
    certificate: Path, trusted: bool
) -> None:
    async def main() -> None:
        tls = ssl.create_default_context(cafile=f"{certificate}.crt") if trusted else None
        async with (
            serving(tls=_server_tls(certificate)) as server,
            handling(resolver=_to_this_machine, tls=tls) as handler,
        ):
            name = "other.test" if trusted else "hook.test"
            raw = await posted(handler, f"https://{name}:{server.port}/")
            assert isinstance(raw, Failed)
            assert raw.cause == "transport"
            assert "CERTIFICATE_VERIFY_FAILED" in raw.detail
            assert server.requests == []

    finished(main())


def test_a_handshake_that_never_ends_is_bounded_by_the_time_to_connect() -> None:
    async def main() -> None:
        async with serving() as server, handling() as handler:
            url = server.url.replace("http:", "https:")
            raw = await handler.run(call_with(HttpSpec(url), timeout=0.1))
            assert isinstance(raw, Failed)
            assert raw.cause == "transport"
            assert server.requests == []

    finished(main())


def test_the_environment_decides_neither_proxy_nor_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with serving() as server, serving() as proxy:
            for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.url)
            async with handling() as handler:
                assert isinstance(await posted(handler, server.url), Replied)
            assert (server.connects, proxy.connects) == (1, 0)

    finished(main())


def test_the_http_packages_are_loaded_by_the_first_hook_that_fires() -> None:
    program = (
        "import sys; import hookline.handlers.http.handler as h; handler = h.HttpHandler();"
        "handler.problem(h.HttpSpec('https://x/'));"
        "print([name for name in ('httpcore2', 'httpx2', 'anyio', 'h11', 'ssl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "httpcore2" not in done.stdout
    assert "httpx2" not in done.stdout
    assert "anyio" not in done.stdout
