"""Test which answers may be cached, and for how long."""

import json

from hookline.handlers.http.response_cache import LONGEST_SECONDS, ResponseCache, question_of
from hookline.model.raw import Replied
from tests.every import every

ANSWER = Replied(b"{}", 200, decision_id="a", repeatable=10)


def question(**fields: object) -> bytes:
    return question_of("http://x/", [(b"A", b"b")], json.dumps(fields).encode())


@every(
    ("other", "same"),
    [
        ({"tool_name": "Bash", "session_id": "s", "tool_use_id": "2"}, True),
        ({"tool_name": "Bash", "session_id": "s", "prompt_id": "2", "turn": 3}, True),
        ({"session_id": "s", "tool_name": "Bash"}, True),
        ({"tool_name": "Bash", "session_id": "t"}, False),
        ({"tool_name": "Bash ", "session_id": "s"}, False),
        ({"tool_name": "Bash", "session_id": "s", "cwd": "/"}, False),
    ],
)
def test_only_the_same_question_has_the_same_answer(other: dict[str, object], same: bool) -> None:
    assert (question(**other) == question(tool_name="Bash", session_id="s", tool_use_id="1")) is same


def test_other_servers_and_other_callers_are_other_questions() -> None:
    document = b'{"a": 1}'
    questions = {
        question_of("http://x/", [(b"A", b"b")], document),
        question_of("http://y/", [(b"A", b"b")], document),
        question_of("http://x/", [(b"A", b"c")], document),
        question_of("http://x/", [(b"Ab", b"")], document),
        question_of("http://x/", [], b"no JSON"),
    }
    assert len(questions) == 5


def test_an_answer_lives_as_long_as_its_server_says_and_never_longer_than_an_hour() -> None:
    now = [0.0]
    repeats = ResponseCache(clock=lambda: now[0])
    repeats.keep(b"short", ANSWER)
    repeats.keep(b"long", Replied(b"{}", 200, decision_id="b", repeatable=1e9))
    for seconds, short, long in ((9.0, True, True), (10.0, False, True), (LONGEST_SECONDS, False, False)):
        now[0] = seconds
        assert (repeats.find(b"short") is not None, repeats.find(b"long") is not None) == (short, long)
    assert len(repeats) == 0


def test_what_cannot_be_trusted_or_is_too_big_is_not_kept_and_the_oldest_goes_first() -> None:
    repeats = ResponseCache(clock=lambda: 0.0)
    repeats.keep(b"cut", Replied(b"{}", 200, True, "a", 10))
    repeats.keep(b"big", Replied(b"x" * 100_000, 200, False, "a", 10))
    repeats.keep(b"once", Replied(b"{}", 200, decision_id="a"))
    assert len(repeats) == 0
    for number in range(300):
        repeats.keep(str(number).encode(), ANSWER)
    assert (len(repeats), repeats.find(b"43"), repeats.find(b"44")) == (256, None, repeats.find(b"299"))
    kept = repeats.find(b"299")
    assert kept is not None
    assert (kept.repeated, kept.repeatable) == (True, 0.0)
