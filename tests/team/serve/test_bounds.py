"""Test who gets no answer, and what a caller cannot do to the server: all of it is reported, and counted."""

import asyncio
import json
from pathlib import Path

import pytest

from hookline.handlers.http.handler import HttpHandler
from hookline.handlers.specs import HttpSpec
from hookline.model.raw import Failed, Replied
from hookline.team.serve.access import Access, AccessError, require_safe_bind
from hookline.team.serve.app import ServerLimits
from tests.certificates import make_certificate
from tests.every import every
from tests.handlers.calls import call_with, finished
from tests.team.serve.servers import TOKEN, Deciding, deciding, payload
from tests.waiting import until

DENY = '[[hooks.PreToolUse]]\nhooks = [{ name = "no", type = "builtin", command = "deny", args = ["no"] }]\n'
ASK = f"Host: x\r\nAuthorization: Bearer {TOKEN}\r\n"


def test_what_is_refused(tmp_path: Path) -> None:
    deep = b"[" * 5000 + b"]" * 5000
    asked = payload("ls")

    async def info() -> None:
        async with deciding(tmp_path, DENY, bounds=ServerLimits(body=10_000, deadline=60)) as server:

            async def status(raw: bytes) -> int:
                return (await server.send(raw)).status

            refused = {
                "no token": (await server.ask(asked, token=None), 401),
                "another token": (await server.ask(asked, token=f"{TOKEN}x"), 401),
                "half of it": (await server.ask(asked, token=TOKEN[:10]), 401),
                "two tokens": (await server.ask(asked, more={"AUTHORIZATION": f"Bearer {TOKEN}"}), 401),
                "a page": (await server.ask(asked, more={"Origin": "http://evil"}), 403),
                "a frame": (await server.ask(asked, more={"Sec-Fetch-Site": "none"}), 403),
                "a path": (await server.ask(asked, path="/v2/decide"), 404),
                "a method": (await server.ask(b"", method="PUT"), 405),
                "packed": (await server.ask(asked, more={"Content-Encoding": "gzip"}), 415),
                "long": (await server.ask(payload("x" * 10_000)), 413),
                "no JSON": (await server.ask(b"{"), 400),
                "no object": (await server.ask(b"[]"), 400),
                "two keys": (await server.ask(b'{"hook_event_name": "Stop", "hook_event_name": "x"}'), 400),
                "nested": (await server.ask(deep[:9000]), 400),
                "no event": (await server.ask(payload("ls", hook_event_name="Nothing")), 400),
                "no tool": (await server.ask(b'{"hook_event_name": "PreToolUse"}'), 400),
                "a wrong type": (await server.ask(payload("ls", tool_name=5)), 400),
                "a long directory": (await server.ask(payload("ls", cwd="/x" * 2100)), 400),
            }
            assert {name: reply.status for name, (reply, _) in refused.items()} == {
                name: expected for name, (_, expected) in refused.items()
            }
            for name, (reply, _) in refused.items():
                assert reply.body["error"], name
                assert reply.body["hookline"]["version"] == 1, name
            # A declared length, and bytes in pieces without one.
            huge = f"POST /v1/decide HTTP/1.1\r\n{ASK}Content-Length: 99999999999999\r\n\r\n"
            assert await status(huge.encode()) == 413
            pieces = f"POST /v1/decide HTTP/1.1\r\n{ASK}Transfer-Encoding: chunked\r\n\r\n".encode()
            assert await status(pieces + b"2710\r\n" + b"x" * 10_000 + b"\r\n" + b"1\r\nx\r\n") == 413
            for raw in (
                b"\x16\x03\x01 not http\r\n\r\n",
                b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n",
                b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                b"POST /v1/decide HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 70_000,
            ):
                assert await _first_line(server, raw) in (b"HTTP/1.1 400 Bad Request", b""), raw[:60]
            counted = server.app.counts
            assert (counted.refused["token"], counted.refused["payload"]) == (4, 8)
            assert (counted.refused["body"], counted.refused["browser"], counted.decisions) == (3, 2, 0)
            # After all that it answers as before.
            assert (await server.ask(asked)).body["hookSpecificOutput"]["permissionDecision"] == "deny"

    finished(info())


async def _first_line(server: Deciding, raw: bytes) -> bytes:
    reader, writer = await server.connect()
    try:
        writer.write(raw)
        return (await reader.readline()).strip()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_callers_that_are_slow_or_gone_keep_nothing(tmp_path: Path) -> None:
    head = f"POST /v1/decide HTTP/1.1\r\n{ASK}Content-Length: 500\r\n\r\n".encode()

    async def info() -> None:
        bounds = ServerLimits(receive=0.1, connections=8, deadline=60)
        async with deciding(tmp_path, DENY, bounds=bounds) as server:
            # Says nothing, drips its head, stops in the middle of its body.
            slow = [await server.connect() for _ in range(3)]
            slow[1][1].write(head[:40])
            slow[2][1].write(head + b"{")
            dripping = asyncio.create_task(_drip(slow[1][1]))
            for reader, _ in slow:
                with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
                    await reader.readexactly(1)
            dripping.cancel()
            assert server.refused("slow") == 3
            # Gone in the middle of its request.
            _, gone = await server.connect()
            gone.write(head + b"{")
            await gone.drain()
            gone.transport.abort()
            await until(lambda: server.refused("vanished") >= 2)
            # More connections than there may be.
            many = [await server.connect() for _ in range(9)]
            await until(lambda: server.refused("connections") >= 1)
            for _, writer in (*slow, *many):
                writer.transport.abort()
            await until(lambda: not server.app.under_way)
            assert server.app.counts.decisions == 0

    finished(info())


async def _drip(writer: asyncio.StreamWriter) -> None:
    while not writer.transport.is_closing():
        writer.write(b"X")
        await asyncio.sleep(0.02)


def test_certificates_say_who_asks(tmp_path: Path) -> None:
    for name, signer in (
        ("authority", None),
        ("server", "authority"),
        ("caller", "authority"),
        ("other", None),
    ):
        make_certificate(tmp_path, name, signer)
    ca, own, foreign = (str(tmp_path / name) for name in ("authority.crt", "caller.pem", "other.pem"))
    tls = Access(cert=str(tmp_path / "server.crt"), key=str(tmp_path / "server.key"), client_ca=ca).tls()

    async def info() -> None:
        async with deciding(
            tmp_path, DENY, bounds=ServerLimits(receive=0.3, deadline=60), token="", tls=tls
        ) as server:
            handler = HttpHandler()

            async def result(ca: str = "", cert: str = "") -> Replied | Failed:
                raw = await handler.run(call_with(HttpSpec(server.url, ca=ca, cert=cert)))
                assert isinstance(raw, Replied | Failed)
                return raw

            answered = await result(ca=ca, cert=own)
            # The plain wire of this call posts no event; that it is read at all is the point.
            assert isinstance(answered, Replied)
            assert (answered.status, json.loads(answered.body)["hookline"]["version"]) == (400, 1)
            for fields in ({"ca": ca}, {"ca": ca, "cert": foreign}, {"cert": own}):
                assert isinstance(await result(**fields), Failed), fields
            missing = await result(ca=str(tmp_path / "missing.pem"))
            assert isinstance(missing, Failed)
            assert (missing.cause, "missing.pem cannot be used" in missing.detail) == ("not_started", True)
            # A handshake that is never finished is ended.
            reader, writer = await server.connect()
            assert await reader.read() == b""
            writer.close()
            await handler.close()
            assert server.app.counts.decisions == 0

    finished(info())


@every(
    ("host", "access", "fine"),
    [
        ("127.0.0.1", Access(token_file="t"), True),
        ("::1", Access(token_file="t"), True),
        ("localhost", Access(token_file="t"), True),
        ("0.0.0.0", Access(token_file="t"), False),
        ("10.0.0.5", Access(token_file="t"), False),
        ("::", Access(token_file="t"), False),
        ("example.com", Access(token_file="t"), False),
        ("0.0.0.0", Access(token_file="t", cert="c"), True),
        ("0.0.0.0", Access(cert="c", client_ca="a"), True),
        ("0.0.0.0", Access(cert="c"), False),
    ],
)
def test_other_machines_are_listened_to_only_with_tls(host: str, access: Access, fine: bool) -> None:
    if fine:
        require_safe_bind(host, access)
    else:
        with pytest.raises(AccessError, match="can be reached from other machines"):
            require_safe_bind(host, access)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    token = tmp_path / "token"
    first = Access(token_file=str(token)).tokens()
    assert (len(first[0]) >= 16, Access(token_file=str(token)).tokens()) == (True, first)
    assert token.stat().st_mode & 0o777 == 0o600
    token.chmod(0o644)
    with pytest.raises(AccessError, match="can be used by others"):
        Access(token_file=str(token)).tokens()
    token.chmod(0o600)
    token.write_text("short")
    with pytest.raises(AccessError, match="at least 16"):
        Access(token_file=str(token)).tokens()
    with pytest.raises(AccessError, match=r"none\.pem cannot be used for TLS"):
        Access(cert=str(tmp_path / "none.pem")).tls()
    with pytest.raises(AccessError, match="need --cert"):
        Access(client_ca="ca.pem").tls()


def test_ids_of_megabytes_do_not_push_earlier_denials_out_of_the_journal(tmp_path: Path) -> None:
    long = "é" * 1_300_000  # 7.8 MB as JSON

    async def info() -> None:
        async with deciding(tmp_path, DENY) as server:
            assert (await server.ask(payload("first"))).status == 200
            for field in (
                "session_id",
                "tool_use_id",
                "tool_name",
                "agent_id",
                "agent_type",
                "prompt_id",
            ):
                reply = await server.ask(payload("ls", **{field: long}))
                assert reply.status == 200, field
            # Two that differ only at their end stay two.
            await server.ask(payload("ls", session_id=f"{long}1"))
            runs = server.runs
            assert runs[0].call.input == "first"
            assert {run.decision for run in runs} == {"deny"}
            assert len({run.session for run in runs}) == 3
            assert all(len(line) < 8000 for line in server.journal.read_bytes().splitlines())

    asyncio.run(info())
