"""The suite itself: it finds the mistakes that hosts make, and no declaration outlives its reason."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.testing.conformance import (
    Case,
    ConversationPlan,
    KnownLimit,
    ModelScript,
    ScriptedResponse,
    ShownOutput,
    UnplayableError,
    cases,
    each_prompt,
    run_all,
    run_case,
)
from hookline.testing.conformance.harness import OVER, CaseTool
from hookline.testing.conformance.tools import ToolLog
from hookline.testing.conformance.trial import Trial
from tests.every import every
from tests.testing.conformance.by_hand import ByHand, HookedLoop
from tests.testing.conformance.mutants import MUTANTS, ContextLost, DeniedRuns

ROOT = Path(__file__).parents[3]
BY_NAME = {case.name: case for case in cases(slow=True)}


class Wrong(ByHand):
    """The host API by hand with a mistake in its loop."""

    def __init__(self, loop: type[HookedLoop], cannot: Mapping[str, KnownLimit] | None = None) -> None:
        self._loop = loop
        self.cannot = cannot or {}

    async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
        assert engine is not None
        async with engine.session(conversation.id, cwd=conversation.cwd) as session:
            return await each_prompt(conversation, self._loop(conversation, session).say)


@every(("loop", "name", "level"), MUTANTS)
def test_a_mistake_is_found(loop: type[HookedLoop], name: str, level: str) -> None:
    result = run_case(Wrong(loop), BY_NAME[name])
    assert (result.level, result.ok) == (level, False), result.account
    with pytest.raises(AssertionError, match=name):
        result.check()


def test_there_is_a_mistake_for_every_rule_of_a_host() -> None:
    """Every method of the reference loop is a rule: each is broken by a mutant, and no two are the same."""
    loops = {loop for loop, _name, _level in MUTANTS}
    assert len(loops) >= 40
    broken = {name for loop in loops for name in vars(loop) if name in vars(HookedLoop)}
    steps = {name for name, step in vars(HookedLoop).items() if callable(step)} - {"say"}
    assert steps - broken == set()


def test_a_limit_that_is_true_passes() -> None:
    cannot = {"context: before": KnownLimit("none", "the loop forgets it", "by_hand.py:1")}
    run_case(Wrong(ContextLost, cannot), BY_NAME["context: before"]).check()


@pytest.mark.parametrize(("level", "said"), [("part", "but its result is none"), ("none", "")])
def test_a_limit_must_say_how_much_is_missing(level: Any, said: str) -> None:
    result = run_case(
        Wrong(DeniedRuns, {"deny": KnownLimit(level, "it runs", "by_hand.py:1")}), BY_NAME["deny: not run"]
    )
    assert said in (result.problem or "")
    assert result.ok == (not said)


def test_a_limit_that_is_not_true_any_more_fails() -> None:
    result = run_case(
        Wrong(HookedLoop, {"deny": KnownLimit("none", "old", "by_hand.py:1")}), BY_NAME["deny: not run"]
    )
    assert not result.ok
    assert result.problem == "deny: not run works, but is declared as none (old): remove the limit"


def test_a_limit_of_a_case_that_there_is_not_fails() -> None:
    with pytest.raises(ValueError, match="limits of unknown cases: dney"):
        run_all(Wrong(HookedLoop, {"dney": KnownLimit("none", "x", "y:1")}), [BY_NAME["deny: not run"]])


def test_what_cannot_be_played_is_none() -> None:
    class Unplayable(ByHand):
        async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
            raise UnplayableError("no such entry point")

    result = run_case(Unplayable(), BY_NAME["sync: deny"])
    assert result.level == "none"
    assert result.missing == ("it can be played: no such entry point",)


def test_an_agent_that_raises_does_not_pass() -> None:
    class Raises(ByHand):
        async def play(self, conversation: ConversationPlan, engine: Engine | None) -> ShownOutput:
            raise LookupError("oh")

    for name in ("deny: not run", "unchanged: conversation", "prompt: rewritten", "cancel: no process left"):
        assert run_case(Raises(), BY_NAME[name]).level == "none", name


def test_a_case_that_looks_at_nothing_is_an_error() -> None:
    async def nothing(_trial: Trial) -> None: ...

    with pytest.raises(RuntimeError, match="without findings"):
        run_case(ByHand(), Case("odd: one", "nothing", nothing))


def test_a_script_answers_in_order_and_then_says_that_it_is_over() -> None:
    script = ModelScript([ScriptedResponse("one")])
    assert [script.answer([]).text, script.answer([]).text] == ["one", OVER]
    assert (len(script.requests), script.overruns) == (2, 1)
    assert ScriptedResponse("abc").pieces == ("ab", "c")
    assert ScriptedResponse("").pieces == ()


def test_both_forms_of_a_tool_do_the_same() -> None:
    log = ToolLog()
    note = next(tool for tool in log.tools if tool.name == "note")
    assert note.blocking("x") == asyncio.run(note.function(text="x")) == "noted x"
    assert log.calls("note") == [{"text": "x", "times": 1}] * 2
    problems: Callable[[CaseTool, Mapping[str, Any]], str | None] = CaseTool.problem
    assert problems(note, {"text": "x"}) is None
    assert problems(note, {}) == "text is missing"
    assert problems(note, {"text": "x", "times": True}) == "times is not a integer"
    assert problems(note, {"text": "x", "y": 1}) == "y is not known"


def test_names_are_unique_and_every_group_of_the_suite_is_there() -> None:
    names = [case.name for case in cases(slow=True)]
    assert len(names) == len(set(names))
    assert {case.group for case in cases()} == {
        "deny", "rewrite", "invalid", "failure", "result", "parallel", "mutation", "context", "transient", "ask",
        "stop", "prompt", "request", "answer", "end", "trouble", "closed", "cancel", "conversations", "subagent",
        "sync", "stream", "unchanged", "source",
    }  # fmt: skip
    assert set(names) - {case.name for case in cases()} == {"conversations: hundred"}


def test_the_example_runs_and_says_what_its_agent_cannot_do() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "examples/conformance/check_agent.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "none   sync: deny  (the loop is async only)" in ran.stdout
    assert ", 0 not as declared" in ran.stdout.splitlines()[-1]
