import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.events import EVENTS, PRE_TOOL_USE
from hookline.extending import Exited, RawResult, Replied
from hookline.model.policy import CAUSES
from tests.dialects.native.calls import WIRE, call
from tests.dialects.native.hostile import hostile_outputs

KINDS = ("command", "http", "prompt", "agent", "mcp_tool")


def raw_of(kind: str, output: bytes) -> RawResult:
    if kind == "command":
        return Exited(0, output)
    return Replied(output, 200 if kind == "http" else None)


def test_500_spoilt_outputs_give_only_typed_results():
    calls = {kind: call(PRE_TOOL_USE, kind=kind) for kind in KINDS}
    seen: set[str] = set()
    for number, output in enumerate(hostile_outputs(500)):
        kind = KINDS[number % len(KINDS)]
        decoded = WIRE.decode(calls[kind], raw_of(kind, output))
        if decoded.failure is not None:
            assert decoded.failure.cause in CAUSES
            assert decoded.failure.detail
            assert not decoded.outcome.votes
        seen.add("failed" if decoded.failure else "answered" if decoded.outcome.votes else "silent")
    assert seen == {"failed", "answered", "silent"}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(output=st.binary(max_size=200), event=st.sampled_from(list(EVENTS.values())))
def test_no_bytes_raise(kind: str, output: bytes, event: object):
    decoded = WIRE.decode(call(event, kind=kind), raw_of(kind, output))  # pyright: ignore[reportArgumentType] a row of the table
    assert decoded.failure is None or decoded.failure.cause in CAUSES


@settings(max_examples=100, deadline=None)
@given(code=st.integers(-64, 300), stdout=st.binary(max_size=60), stderr=st.binary(max_size=60))
def test_no_exit_code_raises_and_only_2_blocks(code: int, stdout: bytes, stderr: bytes):
    decoded = WIRE.decode(call(PRE_TOOL_USE), Exited(code, b"x" + stdout, stderr))
    assert decoded.outcome.blocked == (code == 2)
    assert (decoded.failure is not None) == (code != 2)
