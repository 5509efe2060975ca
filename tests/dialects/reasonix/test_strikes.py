"""Three blocks in a row, and the agent goes on without the gate."""

from pathlib import Path
from typing import Any

import pytest

from hookline.model.payloads import ModelRequest, TurnAnswer, TurnBegun
from tests.dialects.play import Play
from tests.dialects.reasonix.stage import play, texts

#: Blocks as long as there is a file `closed` in the working directory.
GATES = """
{"hooks": {
  "PreModelCall": [{"command": "test ! -e closed || exit 2"}],
  "TurnEnd": [{"command": "test ! -e closed || { echo '@@INJECT: once more'; exit 2; }"}]
}}
"""
REQUEST, ANSWER = ModelRequest(model="m"), TurnAnswer(last_assistant_message="done")


def staged(tmp_path: Path) -> Play:
    (tmp_path / "closed").touch()
    return play(GATES, cwd=str(tmp_path))


def said(play_: Play, event: str, payload: Any, times: int) -> list[tuple[bool, bool, bool]]:
    outcomes = [play_.fire(event, payload) for _ in range(times)]
    return [(each.blocked, each.stop, each.limit_reached) for each in outcomes]


GOES_ON, BLOCKED = (False, False, False), (True, False, False)


def test_the_third_block_before_a_model_call_ends_the_turn_and_two_and_a_pass_go_on(tmp_path: Path):
    play_ = staged(tmp_path)
    assert said(play_, "PreModelCall", REQUEST, 2) == [BLOCKED, BLOCKED]
    (tmp_path / "closed").unlink()
    assert said(play_, "PreModelCall", REQUEST, 1) == [GOES_ON]
    (tmp_path / "closed").touch()
    assert said(play_, "PreModelCall", REQUEST, 2) == [BLOCKED, BLOCKED]
    outcome = play_.fire("PreModelCall", REQUEST)
    assert (outcome.blocked, outcome.stop, outcome.limit_reached) == (True, True, True)
    assert texts(outcome)[-1] == "PreModelCall blocked 3 times in a row: the turn ends"


def test_a_turn_is_sent_back_until_the_gate_passes_or_a_third_time(tmp_path: Path):
    play_ = staged(tmp_path)
    outcome = play_.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.context) == (True, ("once more",))
    (tmp_path / "closed").unlink()
    outcome = play_.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.context, outcome.messages) == (False, (), ())
    (tmp_path / "closed").touch()
    assert said(play_, "TurnEnd", ANSWER, 2) == [BLOCKED, BLOCKED]
    outcome = play_.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.stop, outcome.limit_reached) == (False, False, True)
    assert texts(outcome)[-1] == "TurnEnd blocked 3 times in a row: not obeyed this time"
    # The turn is over: nobody is left to read the message.
    assert outcome.context_items == ()


@pytest.mark.parametrize(("event", "payload"), [("TurnEnd", ANSWER), ("PreModelCall", REQUEST)])
def test_a_pass_and_a_new_turn_start_the_count_anew(tmp_path: Path, event: str, payload: Any):
    play_ = staged(tmp_path)
    for turn in range(3):
        play_.fire("TurnStart", TurnBegun(turn=turn))
        assert said(play_, event, payload, 2) == [BLOCKED, BLOCKED]
    (tmp_path / "closed").unlink()
    assert said(play_, event, payload, 1) == [GOES_ON]
    (tmp_path / "closed").touch()
    assert said(play_, event, payload, 2) == [BLOCKED, BLOCKED]
    assert play_.fire(event, payload).limit_reached


def test_the_two_gates_are_counted_apart(tmp_path: Path):
    play_ = staged(tmp_path)
    for _ in range(2):
        assert not play_.fire("TurnEnd", ANSWER).limit_reached
        assert not play_.fire("PreModelCall", REQUEST).limit_reached
    assert play_.fire("TurnEnd", ANSWER).limit_reached
    assert play_.fire("PreModelCall", REQUEST).limit_reached
