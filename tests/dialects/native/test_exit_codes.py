import pytest

from hookline.events import PRE_TOOL_USE, SESSION_START, STOP, USER_PROMPT_SUBMIT
from hookline.extending import Background, Exited, Failed
from hookline.model.wire import NOTHING_SAID
from tests.dialects.native.calls import WIRE, call
from tests.dialects.native.hostile import STDERRS, STDOUTS
from tests.every import every


@every("truncated", [False, True])
@every("stderr", STDERRS)
@every("stdout", STDOUTS)
@every("event", [PRE_TOOL_USE, USER_PROMPT_SUBMIT, STOP])
def test_exit_2_blocks_whatever_was_printed(event, stdout: str, stderr: str, truncated: bool):  # pyright: ignore[reportUnknownParameterType, reportMissingParameterType] an event of any payload
    decoded = WIRE.decode(call(event), Exited(2, STDOUTS[stdout], STDERRS[stderr], truncated))  # pyright: ignore[reportUnknownArgumentType] the same
    assert decoded.outcome.blocked
    assert decoded.outcome.permission == "deny"
    assert decoded.outcome.edits == ()
    assert decoded.outcome.reason


def reason(stdout: bytes, stderr: bytes = b"") -> str | None:
    return WIRE.decode(call(PRE_TOOL_USE), Exited(2, stdout, stderr)).outcome.reason


def test_the_reason_of_a_block_is_stderr_then_the_answer_then_a_sentence_with_the_hook():
    answer = b'{"decision": "block", "reason": "from JSON"}'
    assert reason(answer, b" from stderr \n") == "from stderr"
    assert reason(answer) == "from JSON"
    assert reason(b'{"decision": ') == "hook guard.sh blocked (exit 2) and gave no reason"


def test_what_cannot_weaken_a_block_is_kept_beside_it():
    stdout = (
        b'{"continue": false, "systemMessage": "m", "hookSpecificOutput": {"additionalContext": "c"}, "x": 1}'
    )
    decoded = WIRE.decode(call(PRE_TOOL_USE), Exited(2, stdout, b"no"))
    assert len(decoded.outcome.votes) == 1
    assert decoded.outcome.context == ("c",)
    assert [message.text for message in decoded.outcome.messages] == ["m"]
    assert decoded.outcome.stop
    assert decoded.ignored == ("x",)


@pytest.mark.parametrize(
    ("code", "cause", "said"),
    [
        (1, "crashed", "exit 1: first line"),
        (3, "crashed", "exit 3: first line"),
        (137, "crashed", "exit 137: first line"),
        (126, "not_started", "the program is not executable (exit 126: first line)"),
        (127, "not_started", "the program was not found (exit 127: first line)"),
    ],
)
def test_another_exit_code_is_a_failure_and_stdout_is_not_read(code: int, cause: str, said: str):
    raw = Exited(code, b'{"decision": "approve"}', b"\nfirst line\nsecond\n", queue_ms=2.5)
    decoded = WIRE.decode(call(PRE_TOOL_USE), raw)
    assert decoded.outcome == NOTHING_SAID.outcome
    assert decoded.failure is not None
    assert (decoded.failure.cause, decoded.failure.detail) == (cause, said)
    assert (decoded.failure.exit_code, decoded.failure.stdout) == (code, b'{"decision": "approve"}')
    assert decoded.failure.queue_ms == 2.5


def test_an_exit_code_alone_is_said():
    decoded = WIRE.decode(call(PRE_TOOL_USE), Exited(9))
    assert decoded.failure is not None
    assert decoded.failure.detail == "exit 9"


def test_cut_off_output_is_never_read():
    decoded = WIRE.decode(call(PRE_TOOL_USE), Exited(0, b'{"decision": "approve"}', truncated=True))
    assert decoded.failure is not None
    assert decoded.failure.cause == "truncated"
    assert decoded.outcome == NOTHING_SAID.outcome


def test_plain_text_is_context_only_where_it_is_expected():
    started = WIRE.decode(call(SESSION_START), Exited(0, b" be brief\n"))
    assert started.outcome.context == ("be brief",)
    stopped = WIRE.decode(call(STOP), Exited(0, b"checked 3 files"))
    assert stopped.outcome == NOTHING_SAID.outcome
    assert stopped.ignored == ("plain stdout",)
    assert stopped.failure is None


def test_plain_text_that_is_not_utf8_is_unreadable_where_it_would_be_context():
    decoded = WIRE.decode(call(USER_PROMPT_SUBMIT), Exited(0, b"caf\xe9"))
    assert decoded.failure is not None
    assert decoded.failure.cause == "unreadable"
    assert decoded.failure.exit_code == 0


def test_text_that_begins_like_json_and_is_none_is_unreadable_everywhere():
    for event in (PRE_TOOL_USE, SESSION_START):
        decoded = WIRE.decode(call(event), Exited(0, b"\xef\xbb\xbf  {not json"))
        assert decoded.failure is not None
        assert decoded.failure.cause == "unreadable"


def test_silence_is_no_opinion():
    assert WIRE.decode(call(PRE_TOOL_USE), Exited(0, b" \n")) is NOTHING_SAID
    assert WIRE.decode(call(PRE_TOOL_USE), Exited(0, b"{}")) is NOTHING_SAID
    assert WIRE.decode(call(PRE_TOOL_USE), Exited(0, b'{"async": true, "asyncTimeout": 5}')) is NOTHING_SAID


def test_what_follows_an_async_mark_is_the_answer():
    decoded = WIRE.decode(
        call(STOP), Exited(0, b'{"async": true}\n{"decision": "block", "reason": "late"}\n')
    )
    assert decoded.outcome.reason == "late"
    plain = WIRE.decode(call(SESSION_START), Exited(0, b'{"async": true}\nfound it\n'))
    assert plain.outcome.context == ("found it",)


def test_a_first_line_that_only_looks_like_an_async_mark_is_part_of_the_answer():
    for first in (b'{"async": false}', b'{"async"', b'["async"]'):
        decoded = WIRE.decode(call(SESSION_START), Exited(0, first + b"\ntext"))
        assert decoded.failure is not None or decoded.outcome.context == ('["async"]\ntext',)


def test_a_failure_of_the_handler_is_passed_on_and_a_background_hook_has_said_nothing():
    broke = Failed("timed_out", "after 5 s")
    assert WIRE.decode(call(PRE_TOOL_USE), broke).failure is broke
    assert WIRE.decode(call(PRE_TOOL_USE), Background(None)) is NOTHING_SAID
