import pytest

from hookline.events import PRE_TOOL_USE, SESSION_START, STOP
from hookline.extending import Decoded, Failed, Replied
from hookline.model.wire import NOTHING_SAID
from tests.dialects.native.calls import WIRE, call
from tests.every import every


def http(body: bytes, status: int, *, truncated: bool = False) -> Decoded:
    return WIRE.decode(call(PRE_TOOL_USE, kind="http"), Replied(body, status, truncated))


def asked(body: bytes, kind: str = "prompt") -> Decoded:
    return WIRE.decode(call(STOP, kind=kind), Replied(body))


def failure(decoded: Decoded) -> Failed:
    assert decoded.failure is not None
    return decoded.failure


def test_an_empty_reply_is_no_opinion():
    assert http(b"", 204) is NOTHING_SAID
    assert http(b" \n", 200) is NOTHING_SAID


@pytest.mark.parametrize("status", [199, 304, 400, 403, 500, 503])
def test_a_status_alone_neither_allows_nor_blocks(status: int):
    decoded = http(b'{"decision": "approve"}\nmore', status)
    assert failure(decoded).cause == "transport"
    assert failure(decoded).detail == f'HTTP {status}: {{"decision": "approve"}}'
    assert not decoded.outcome.votes


def test_a_status_without_a_body_is_said_alone():
    assert failure(http(b"", 502)).detail == "HTTP 502"


@pytest.mark.parametrize("body", [b"OK", b"<html>", b"[]", b'"block"', b"{", b"\xff"])
def test_a_body_that_is_no_json_object_is_unreadable(body: bytes):
    found = failure(http(body, 200))
    assert found.cause == "unreadable"
    assert found.stdout == body


def test_a_cut_off_reply_is_never_read():
    assert failure(http(b'{"decision": "approve"}', 200, truncated=True)).cause == "truncated"
    for kind in ("prompt", "mcp_tool"):
        raw = Replied(b"{}", None, truncated=True)
        assert failure(WIRE.decode(call(PRE_TOOL_USE, kind=kind), raw)).cause == "truncated"


@every("kind", ["prompt", "agent"])
@every(
    "body",
    [
        b'{"ok": false, "reason": "tests fail"}',
        b'  {"ok": false, "reason": "tests fail"}\n',
        b'```json\n{"ok": false, "reason": "tests fail"}\n```',
        b'```\n{"ok": false, "reason": "tests fail"}\n```\n',
        b'```{"ok": false, "reason": "tests fail"}```',
        b'```json {"ok": false, "reason": "tests fail"} ```',
        b'```JSON\r\n{"ok": false, "reason": "tests fail"}\r\n```',
    ],
)
def test_a_model_may_put_its_answer_into_a_code_block(kind: str, body: bytes):
    assert asked(body, kind).outcome.reason == "tests fail"


@pytest.mark.parametrize(
    "body", [b"", b"I think it is fine.", b"```json\n```", b'Sure! {"ok": true}', b"[]", b"```"]
)
def test_a_model_that_gives_no_object_has_given_no_answer(body: bytes):
    assert failure(asked(body)).cause == "unreadable"


def test_what_a_model_adds_is_listed():
    assert asked(b'{"ok": true, "impossible": false}').ignored == ("impossible",)


def test_text_of_an_mcp_tool_is_read_like_stdout():
    started = WIRE.decode(call(SESSION_START, kind="mcp_tool"), Replied(b"remember this"))
    assert started.outcome.context == ("remember this",)
    stopped = WIRE.decode(call(STOP, kind="mcp_tool"), Replied(b"fine"))
    assert stopped.ignored == ("plain stdout",)
    guarded = WIRE.decode(call(PRE_TOOL_USE, kind="mcp_tool"), Replied(b"fine"))
    assert failure(guarded).cause == "unreadable"
