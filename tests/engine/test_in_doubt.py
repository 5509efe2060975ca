"""Hooks that a call concerns only in doubt: what they say, and what `in_doubt` makes of it."""

import asyncio
from typing import Any

import pytest

from hookline import Engine, Outcome, allow, ask, deny, rewrite
from hookline.engine.run_hook import Admission
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE, EventSpec, ToolCall, ToolResult
from hookline.extending import Hook, Run, SessionInfo
from hookline.journal.journal import trace_line
from tests.engine.translating_hooks import NO, OWN, Host, hook

FORCE = "Bash(git push --force*)"
UNSURE = ToolCall(tool_name="Bash", tool_input={"command": "git push $X"})
SURE = ToolCall(tool_name="Bash", tool_input={"command": "git push --force; git push $X"})
DOUBT = "`git push …` may be git push --force*"


def fired(
    engine: Engine, payload: Any = UNSURE, event: EventSpec[Any] = PRE_TOOL_USE
) -> tuple[Outcome, list[Run]]:
    runs: list[Run] = []
    engine.journal.subscribe(runs.append)
    return asyncio.run(engine.session("s", cwd="/p").dispatch(event, payload)), runs


def explained(engine: Engine, payload: Any = UNSURE) -> list[tuple[bool, str]]:
    return [(one.selected, one.why) for one in engine.session("s").explain(PRE_TOOL_USE, payload)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (deny("not here"), f"not here (in doubt: {DOUBT})"),
        (ask("really?"), f"really? (in doubt: {DOUBT})"),
        (ask(""), f"in doubt: {DOUBT}"),
    ],
)
def test_what_could_not_be_told_is_in_the_reason_and_on_record(answer: Outcome, reason: str) -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: answer, FORCE)
    outcome, (run,) = fired(engine)
    assert (outcome.reason, run.reason, run.doubt) == (reason, reason, DOUBT)
    assert " in-doubt " in trace_line(run)
    outcome, (run,) = fired(engine, SURE)
    assert "in doubt" not in (outcome.reason or "")
    assert run.doubt is None


def test_a_function_that_allows_has_seen_the_call() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: allow("fine"), FORCE)
    outcome, (run,) = fired(engine)
    assert (outcome.permission, run.reason, run.doubt) == ("allow", "fine", DOUBT)


def test_a_hook_that_passes_is_on_record_as_in_doubt_too() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, FORCE)
    outcome, (run,) = fired(engine)
    assert (outcome, run.doubt) == (Outcome(), DOUBT)


def test_a_failure_that_blocks_in_doubt_says_so() -> None:
    engine = Engine()

    def raises(_call: ToolCall) -> None:
        raise LookupError

    engine.add(PRE_TOOL_USE, raises, FORCE, on_failure="closed")
    outcome, _ = fired(engine)
    assert outcome.blocked
    assert (outcome.reason or "").endswith(f"(in doubt: {DOUBT})")


def test_pass_is_no_match_unless_it_is_sure() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: deny("not here"), FORCE, in_doubt="pass")
    assert fired(engine) == (Outcome(), [])
    ((selected, why),) = explained(engine)
    assert not selected
    assert why.startswith("not matched: only in doubt, in_doubt = pass: ")
    assert why.endswith(f'if "{FORCE}": in doubt: {DOUBT}')
    assert fired(engine, SURE)[0].reason == "not here"


def test_ask_asks_the_user_in_place_of_the_hook() -> None:
    engine, ran = Engine(), list[ToolCall]()
    engine.add(PRE_TOOL_USE, ran.append, FORCE, name="no-force", in_doubt="ask")
    outcome, (run,) = fired(engine)
    said = f"hook no-force may be about this (in doubt: {DOUBT})"
    assert (outcome.permission, outcome.reason, ran) == ("ask", said, [])
    assert (run.status, run.decision, run.doubt) == ("ok", "ask", DOUBT)
    assert explained(engine)[0][1].startswith(
        "matched: only in doubt, in_doubt = ask, the user is asked in its place: "
    )
    fired(engine, SURE)
    assert ran == [SURE]


def test_ask_denies_where_nothing_can_be_asked_and_runs_what_is_not_waited_for() -> None:
    engine, ran = Engine(), list[Any]()
    engine.add(POST_TOOL_USE, ran.append, FORCE, name="look", in_doubt="ask")
    result = ToolResult(tool_name="Bash", tool_input=UNSURE.tool_input, tool_response="")
    outcome, _ = fired(engine, result, POST_TOOL_USE)
    assert (outcome.blocked, ran) == (True, [])

    async def background() -> None:
        async with Engine() as other:
            other.add(PRE_TOOL_USE, ran.append, FORCE, in_doubt="ask", waiting="async")
            assert "in its place" not in explained(other)[0][1]
            await other.session("s").dispatch(PRE_TOOL_USE, UNSURE)
            await other.drain()

    asyncio.run(background())
    assert ran == [UNSURE]


def test_shadow_records_the_question_and_asks_nobody() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: None, FORCE, in_doubt="ask", mode="shadow")
    outcome, (run,) = fired(engine)
    assert (outcome.permission, run.decision) == (None, "ask")


def test_a_word_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="in_doubt is 'deny', not one of match, ask, pass"):
        Engine().add(PRE_TOOL_USE, lambda _call: None, FORCE, in_doubt="deny")  # pyright: ignore[reportArgumentType] wrong on purpose


def test_a_guard_is_asked_again_once_and_about_the_doubt_that_there_is_then() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, lambda _call: deny("not here"), FORCE, name="guard")
    engine.add(
        PRE_TOOL_USE, lambda call: rewrite({"command": call.tool_input["command"] + " --force"}), name="more"
    )
    engine.add(PRE_TOOL_USE, lambda _call: None, name="last")
    _, runs = fired(engine)
    guard = [(run.recheck, run.doubt) for run in runs if run.hook == "guard"]
    assert guard == [(False, DOUBT), (True, DOUBT.replace("…", "… --force"))]


# Hooks that get a translated call


@pytest.mark.parametrize(
    ("in_doubt", "permission", "asked"), [("match", "deny", 1), ("ask", "ask", 0), ("pass", None, 0)]
)
def test_it_holds_for_calls_in_other_terms(in_doubt: Any, permission: str | None, asked: int) -> None:
    log: list[Any] = []
    host = Host(hook("native", NO, "Bash", FORCE, in_doubt=in_doubt, log=log), tools=OWN)
    outcome = host.call("run_shell", cmd="git push $X")
    assert (outcome.permission, len(log)) == (permission, asked)
    assert (f"(in doubt: {DOUBT})" in (outcome.reason or "")) == (permission is not None)
    call = ToolCall(tool_name="run_shell", tool_input={"cmd": "git push $X"})
    (explanation,) = host.session.explain(PRE_TOOL_USE, call)
    assert explanation.selected == (permission is not None)
    assert (f"only in doubt, in_doubt = {in_doubt}" in explanation.why) == (in_doubt != "match")


def test_a_function_that_sees_the_call_as_it_is_made_is_asked_about_its_doubt_too() -> None:
    host = Host(tools=OWN)
    host.engine.add(PRE_TOOL_USE, lambda _call: deny("not here"), FORCE)
    host.engine.add(PRE_TOOL_USE, lambda _call: deny("never"), FORCE, in_doubt="pass")
    assert host.call("run_shell", cmd="git push $X").reason == f"not here (in doubt: {DOUBT})"
    assert host.call("run_shell", cmd="git push --force").reason == "not here"


def test_the_model_reads_nothing_of_an_untrusted_rule() -> None:
    def tighten(_hook: Hook, _info: SessionInfo) -> Admission:
        return Admission(only_tightens=True)

    host = Host(hook("native", NO, "Bash", FORCE, in_doubt="ask"), admit=tighten)
    outcome = host.call("Bash", command="git push $X")
    assert (outcome.permission, "force" in (outcome.reason or "")) == ("ask", False)
    assert DOUBT in outcome.messages[0].text
