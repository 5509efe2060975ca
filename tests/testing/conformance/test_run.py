"""The suite itself: it finds the mistakes that hosts make, and no declaration outlives its reason."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.events import POST_TOOL_USE, STOP, ToolResult, TurnAnswer
from hookline.host import CallResult
from hookline.testing.conformance import (
    Case,
    Conversation,
    Limit,
    Response,
    Script,
    Seen,
    ToolUse,
    UnplayableError,
    cases,
    each_prompt,
    run_all,
    run_case,
)
from hookline.testing.conformance.harness import OVER, Tool
from hookline.testing.conformance.tools import ToolLog
from hookline.testing.conformance.trial import Trial
from tests.every import every
from tests.testing.conformance.by_hand import ByHand, HookedLoop

ROOT = Path(__file__).parents[3]
BY_NAME = {case.name: case for case in cases(slow=True)}


class DeniedRuns(HookedLoop):
    """Runs every tool, whatever hooks say."""

    async def _run(self, call: ToolUse) -> CallResult | str:
        done = await super()._run(call)
        if isinstance(done, CallResult) and not done.ran:
            await self.tools[call.name].call(call.input)
        return done


class ContextLost(HookedLoop):
    """Forgets what hooks say about a call that succeeds."""

    def _store(self, response: Response, results: Sequence[CallResult | str]) -> str | None:
        plain = [done if isinstance(done, str) or done.is_error else done.plain_text for done in results]
        return super()._store(response, plain)


class Revived(HookedLoop):
    """Asks Stop hooks about a run that was stopped, and goes on if they want it."""

    async def _over(self, why: str) -> str:
        said = await self._session.dispatch(STOP, TurnAnswer(last_assistant_message=why))
        if said.blocked:
            self.ask_model()
        return await super()._over(why)


class FailureIsResult(HookedLoop):
    """Fires PostToolUse for a tool that failed."""

    async def _run(self, call: ToolUse) -> CallResult | str:
        done = await super()._run(call)
        if isinstance(done, CallResult) and done.exception is not None:
            result = ToolResult(tool_name=call.name, tool_input=call.input, tool_response=done.text)
            await self._session.dispatch(POST_TOOL_USE, result)
        return done


class EmptyIsNothing(HookedLoop):
    """Takes a result that a hook emptied for none, and keeps the old one."""

    def _store(self, response: Response, results: Sequence[CallResult | str]) -> str | None:
        kept = [done if isinstance(done, str) or done.text else "saw there" for done in results]
        return super()._store(response, kept)


class TransientKept(HookedLoop):
    """Keeps text that is for one request."""

    def ask_model(self, transient: Sequence[str] = ()) -> Response:
        self.add("user", *transient)
        return super().ask_model()


class OutOfOrder(HookedLoop):
    """Stores results as they come."""

    def _store(self, response: Response, results: Sequence[CallResult | str]) -> str | None:
        turned = Response(response.text, tuple(reversed(response.calls)))
        return super()._store(turned, list(reversed(results)))


class StopUnheard(HookedLoop):
    """Does not end a run that a hook stops."""

    def _store(self, response: Response, results: Sequence[CallResult | str]) -> str | None:
        super()._store(response, results)
        self.ask_model()
        return "out of budget"


class UncheckedRewrite(HookedLoop):
    """Does not check what a hook made of the arguments."""

    async def _run(self, call: ToolUse) -> CallResult | str:
        tool = self.tools[call.name]
        return await self._session.tool(call.name, call.input, run=tool.call, id=call.id)


class Wrong(ByHand):
    """The host API by hand with a mistake in its loop."""

    def __init__(self, loop: type[HookedLoop], cannot: Mapping[str, Limit] | None = None) -> None:
        self._loop = loop
        self.cannot = cannot or {}

    async def play(self, conversation: Conversation, engine: Engine | None) -> Seen:
        assert engine is not None
        async with engine.session(conversation.id) as session:
            return await each_prompt(conversation, self._loop(conversation, session).say)


MISTAKES = (
    (DeniedRuns, "deny: not run", "none"),
    (DeniedRuns, "ask: nobody there", "none"),
    (DeniedRuns, "trouble: crash", "none"),
    (ContextLost, "context: before", "none"),
    (ContextLost, "context: after", "none"),
    (Revived, "stop: not revived", "none"),
    (FailureIsResult, "failure: one event", "none"),
    (EmptyIsNothing, "result: emptied", "none"),
    (TransientKept, "transient: not kept", "none"),
    (OutOfOrder, "parallel: order", "none"),
    (StopUnheard, "stop: before", "none"),
    (UncheckedRewrite, "rewrite: wrong type", "none"),
    (UncheckedRewrite, "rewrite: missing key", "part"),
    (UncheckedRewrite, "invalid: arguments", "part"),
)


@every(("loop", "name", "level"), MISTAKES)
def test_a_mistake_is_found(loop: type[HookedLoop], name: str, level: str) -> None:
    result = run_case(Wrong(loop), BY_NAME[name])
    assert (result.level, result.ok) == (level, False), result.account
    with pytest.raises(AssertionError, match=name):
        result.check()


def test_a_limit_that_is_true_passes() -> None:
    cannot = {"context: before": Limit("none", "the loop forgets it", "by_hand.py:1")}
    run_case(Wrong(ContextLost, cannot), BY_NAME["context: before"]).check()


@pytest.mark.parametrize(("level", "said"), [("part", "comes out as none"), ("none", "")])
def test_a_limit_must_say_how_much_is_missing(level: Any, said: str) -> None:
    result = run_case(
        Wrong(DeniedRuns, {"deny": Limit(level, "it runs", "by_hand.py:1")}), BY_NAME["deny: not run"]
    )
    assert said in (result.problem or "")
    assert result.ok == (not said)


def test_a_limit_that_is_not_true_any_more_fails() -> None:
    result = run_case(
        Wrong(HookedLoop, {"deny": Limit("none", "old", "by_hand.py:1")}), BY_NAME["deny: not run"]
    )
    assert not result.ok
    assert result.problem == "deny: not run works, and is declared as none (old): remove the limit"


def test_a_limit_of_a_case_that_there_is_not_fails() -> None:
    with pytest.raises(ValueError, match="cases that there are not: dney"):
        run_all(Wrong(HookedLoop, {"dney": Limit("none", "x", "y:1")}), [BY_NAME["deny: not run"]])


def test_what_cannot_be_played_is_none() -> None:
    class Unplayable(ByHand):
        async def play(self, conversation: Conversation, engine: Engine | None) -> Seen:
            raise UnplayableError("no such entry point")

    result = run_case(Unplayable(), BY_NAME["sync: deny"])
    assert result.level == "none"
    assert result.missing == ("it can be played: no such entry point",)


def test_an_agent_that_raises_does_not_pass() -> None:
    class Raises(ByHand):
        async def play(self, conversation: Conversation, engine: Engine | None) -> Seen:
            raise LookupError("oh")

    for name in ("deny: not run", "unchanged: conversation", "prompt: rewritten", "cancel: no process left"):
        assert run_case(Raises(), BY_NAME[name]).level == "none", name


def test_a_case_that_looks_at_nothing_is_an_error() -> None:
    async def nothing(_trial: Trial) -> None: ...

    with pytest.raises(RuntimeError, match="looks at nothing"):
        run_case(ByHand(), Case("odd: one", "nothing", nothing))


def test_a_script_answers_in_order_and_then_says_that_it_is_over() -> None:
    script = Script([Response("one")])
    assert [script.answer([]).text, script.answer([]).text] == ["one", OVER]
    assert (len(script.requests), script.overruns) == (2, 1)
    assert Response("abc").pieces == ("ab", "c")
    assert Response("").pieces == ()


def test_both_forms_of_a_tool_do_the_same() -> None:
    log = ToolLog()
    note = next(tool for tool in log.tools if tool.name == "note")
    assert note.blocking("x") == asyncio.run(note.function(text="x")) == "noted x"
    assert log.calls("note") == [{"text": "x", "times": 1}] * 2
    problems: Callable[[Tool, Mapping[str, Any]], str | None] = Tool.problem
    assert problems(note, {"text": "x"}) is None
    assert problems(note, {}) == "text is missing"
    assert problems(note, {"text": "x", "times": True}) == "times is not a integer"
    assert problems(note, {"text": "x", "y": 1}) == "y is not known"


def test_names_are_unique_and_every_group_of_the_suite_is_there() -> None:
    names = [case.name for case in cases(slow=True)]
    assert len(names) == len(set(names))
    assert {case.group for case in cases()} == {
        "deny", "rewrite", "invalid", "failure", "result", "parallel", "mutation", "context", "transient", "ask",
        "stop", "prompt", "request", "answer", "end", "trouble", "closed", "cancel", "conversations", "sub-agent",
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
