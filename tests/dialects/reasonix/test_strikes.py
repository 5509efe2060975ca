"""Test three blocks in a row: the agent then continues without the gate."""

from pathlib import Path
from typing import Any

import pytest

from hookline.events import ModelRequest, TurnAnswer, TurnBegun
from tests.dialects.hooked_agent import HookedAgent
from tests.dialects.reasonix.hooks import agent_with, message_texts

#: Blocks as long as there is a file `closed` in the working directory.
GATES = """
{"hooks": {
  "PreModelCall": [{"command": "test ! -e closed || exit 2"}],
  "TurnEnd": [{"command": "test ! -e closed || { echo '@@INJECT: once more'; exit 2; }"}]
}}
"""
REQUEST, ANSWER = ModelRequest(model="m"), TurnAnswer(last_assistant_message="done")


def gated_agent(tmp_path: Path) -> HookedAgent:
    (tmp_path / "closed").touch()
    return agent_with(GATES, cwd=str(tmp_path))


def said(agent: HookedAgent, event: str, payload: Any, times: int) -> list[tuple[bool, bool, bool]]:
    outcomes = [agent.fire(event, payload) for _ in range(times)]
    return [(each.blocked, each.stop, each.limit_reached) for each in outcomes]


GOES_ON, BLOCKED = (False, False, False), (True, False, False)


def test_the_third_block_before_a_model_call_ends_the_turn_and_two_and_a_pass_go_on(tmp_path: Path):
    agent = gated_agent(tmp_path)
    assert said(agent, "PreModelCall", REQUEST, 2) == [BLOCKED, BLOCKED]
    (tmp_path / "closed").unlink()
    assert said(agent, "PreModelCall", REQUEST, 1) == [GOES_ON]
    (tmp_path / "closed").touch()
    assert said(agent, "PreModelCall", REQUEST, 2) == [BLOCKED, BLOCKED]
    outcome = agent.fire("PreModelCall", REQUEST)
    assert (outcome.blocked, outcome.stop, outcome.limit_reached) == (True, True, True)
    assert message_texts(outcome)[-1] == "PreModelCall blocked 3 times in a row: the turn ends"


def test_a_turn_is_sent_back_until_the_gate_passes_or_a_third_time(tmp_path: Path):
    agent = gated_agent(tmp_path)
    outcome = agent.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.context) == (True, ("once more",))
    (tmp_path / "closed").unlink()
    outcome = agent.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.context, outcome.messages) == (False, (), ())
    (tmp_path / "closed").touch()
    assert said(agent, "TurnEnd", ANSWER, 2) == [BLOCKED, BLOCKED]
    outcome = agent.fire("TurnEnd", ANSWER)
    assert (outcome.blocked, outcome.stop, outcome.limit_reached) == (False, False, True)
    assert message_texts(outcome)[-1] == "TurnEnd blocked 3 times in a row: not obeyed this time"
    # The turn is over: no one is left to read the message.
    assert outcome.context_items == ()


@pytest.mark.parametrize(("event", "payload"), [("TurnEnd", ANSWER), ("PreModelCall", REQUEST)])
def test_a_pass_and_a_new_turn_start_the_count_anew(tmp_path: Path, event: str, payload: Any):
    agent = gated_agent(tmp_path)
    for turn in range(3):
        agent.fire("TurnStart", TurnBegun(turn=turn))
        assert said(agent, event, payload, 2) == [BLOCKED, BLOCKED]
    (tmp_path / "closed").unlink()
    assert said(agent, event, payload, 1) == [GOES_ON]
    (tmp_path / "closed").touch()
    assert said(agent, event, payload, 2) == [BLOCKED, BLOCKED]
    assert agent.fire(event, payload).limit_reached


def test_the_two_gates_are_counted_apart(tmp_path: Path):
    agent = gated_agent(tmp_path)
    for _ in range(2):
        assert not agent.fire("TurnEnd", ANSWER).limit_reached
        assert not agent.fire("PreModelCall", REQUEST).limit_reached
    assert agent.fire("TurnEnd", ANSWER).limit_reached
    assert agent.fire("PreModelCall", REQUEST).limit_reached
