"""Test hooks that give no answer: every cause, every reaction, every event where it matters."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import Engine, Outcome, deny, rewrite
from hookline.dialects.registry import home_dialect
from hookline.engine.host.make_hook import OnFailure
from hookline.engine.judge import effective_reaction
from hookline.engine.prepared_hook import PreparedHook
from hookline.engine.run_hook import ADMITTED
from hookline.events import (
    EVENTS,
    NOTIFICATION,
    POST_TOOL_USE,
    PRE_TOOL_USE,
    Capability,
    EventSpec,
    Notice,
    ToolCall,
)
from hookline.extending import (
    Admission,
    Decoded,
    Exited,
    Failed,
    Hook,
    HookInvocation,
    RawResult,
    Returned,
    SessionInfo,
)
from hookline.model.policy import CAUSES, FAIL_CLOSED, FAIL_OPEN, Cause, Reaction
from tests.engine.scripted_hooks import HANGS, ScriptedHost, scripted
from tests.every import every

HOME = home_dialect(EVENTS)
LS = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
BLOCKING = [event for event in EVENTS.values() if event.may & Capability.BLOCK]
REACTIONS: dict[str, Reaction] = {"open": "warn", "closed": "block", "ask": "ask"}


def sample(event: EventSpec[Any]) -> Any:
    """A payload with nothing but what the shape demands."""
    needed = {
        "tool_name": "Bash",
        "prompt": "p",
        "command_name": "c",
        "task_id": "1",
        "source": "user_settings",
    }
    needed |= {"name": "w", "agent_id": "a", "mcp_server_name": "m", "teammate_name": "t", "message": "m"}
    needed |= {"from_model": "a", "to_model": "b", "program": "rm"}
    fields: dict[str, Any] = {}
    for field in event.payload.__struct_fields__:
        if field in needed:
            fields[field] = needed[field]
    return event.payload(**fields)


def native(event: EventSpec[Any], answer: RawResult, **options: Any) -> Hook:
    return scripted("guard", event, HOME.policy(event), HOME.wire, answer, **options)


@every("cause", CAUSES)
@every("word", REACTIONS)
@every("event", BLOCKING)
def test_every_cause_under_every_reaction_on_every_blocking_event(
    event: EventSpec[Any], word: str, cause: Cause
) -> None:
    host = ScriptedHost([native(event, Failed(cause, "why it broke"), on_failure=REACTIONS[word])])
    outcome = host.fire(event, sample(event))
    run = host.runs[0]
    asks = word == "ask" and bool(event.may & Capability.PERMIT)
    closes = word == "closed" or (word == "ask" and not asks)
    assert outcome.blocked == closes
    assert (outcome.permission == "ask") == asks
    assert run.cause == cause
    assert run.failed_open == (word == "open")
    assert run.detail == "why it broke"
    translated = outcome.reason if closes or asks else outcome.messages[0].text
    assert translated == "hook guard gave no answer: why it broke"


@every("event", EVENTS.values())
def test_native_guards_fail_closed_and_everything_else_open(event: EventSpec[Any]) -> None:
    assert HOME.policy(event).failures is (FAIL_CLOSED if event.guard else FAIL_OPEN)


def test_the_native_guards_are_these_four() -> None:
    assert [e.name for e in EVENTS.values() if e.guard] == [
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "ExecStart",
    ]


def test_an_ask_nobody_can_answer_is_a_block() -> None:
    hook = native(PRE_TOOL_USE, Failed("crashed", "x"), on_failure="ask")
    assert ScriptedHost([hook]).fire(PRE_TOOL_USE, LS).permission == "ask"
    assert ScriptedHost([hook], attended=False).fire(PRE_TOOL_USE, LS).permission == "deny"


def test_a_reaction_per_cause_leaves_the_other_causes_to_the_policy() -> None:
    hook = native(PRE_TOOL_USE, Failed("crashed", "x"), on_failure={"timed_out": "warn"})
    prepared = PreparedHook(hook, None)
    assert effective_reaction(prepared, "timed_out", attended=True) == "warn"
    assert effective_reaction(prepared, "crashed", attended=True) == "block"


def test_pass_is_silent_but_counted() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Failed("crashed", "x"), on_failure="pass")])
    outcome = host.fire(PRE_TOOL_USE, LS)
    assert outcome == Outcome()
    assert host.runs[0].failed_open
    assert host.engine.journal.failed_open == 1


def test_an_observer_that_should_block_can_only_warn() -> None:
    host = ScriptedHost([native(NOTIFICATION, Failed("crashed", "x"), on_failure="block")])
    outcome = host.fire(NOTIFICATION, Notice(message="hi"))
    assert not outcome.blocked
    assert "gave no answer" in outcome.messages[0].text


def test_a_timeout_is_a_failure_with_its_limit_in_words() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Returned(), delay=HANGS, timeout=0.01)])
    assert host.fire(PRE_TOOL_USE, LS).reason == "hook guard gave no answer: no answer within 0.01 s"
    assert (host.runs[0].status, host.runs[0].cause) == ("timed_out", "timed_out")


def test_a_handler_that_raises_is_a_failure_of_the_hook() -> None:
    def explodes(_payload: Any) -> RawResult:
        raise OSError("no more pipes")

    host = ScriptedHost([scripted("guard", PRE_TOOL_USE, HOME.policy(PRE_TOOL_USE), HOME.wire, explodes)])
    assert host.fire(PRE_TOOL_USE, LS).blocked
    assert (host.runs[0].status, host.runs[0].detail) == ("not_started", "OSError: no more pipes")


class BrokenWire:
    def encode(self, call: HookInvocation) -> Any:
        raise NotImplementedError

    def decode(self, call: HookInvocation, raw: RawResult) -> Decoded:
        raise ZeroDivisionError("wire")

    def advance(self, event: EventSpec[Any], payload: Any, outcome: Outcome) -> Any:
        return payload


def test_a_wire_that_raises_is_an_unreadable_answer() -> None:
    host = ScriptedHost([scripted("guard", PRE_TOOL_USE, HOME.policy(PRE_TOOL_USE), BrokenWire(), Exited(0))])
    assert host.fire(PRE_TOOL_USE, LS).blocked
    assert (host.runs[0].cause, host.runs[0].detail) == ("unreadable", "ZeroDivisionError: wire")


def test_a_hook_that_could_not_be_read_fails_instead_of_vanishing() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Returned(), broken="timeout must be a number")])
    assert host.fire(PRE_TOOL_USE, LS).blocked
    assert (host.runs[0].status, host.runs[0].detail) == ("not_started", "timeout must be a number")


def test_a_kind_nobody_handles_is_not_started() -> None:
    hook = replace(native(PRE_TOOL_USE, Returned()), kind="telepathy", broken="x")
    host = ScriptedHost([hook])
    host.session.add_hook(replace(hook, broken=None))
    assert host.fire(PRE_TOOL_USE, LS).blocked
    assert host.runs[1].detail == "no handler for type 'telepathy'"


def refuse(hook: Hook, _info: SessionInfo) -> Admission:
    return Admission(False, "changed since it was trusted") if hook.name == "guard" else ADMITTED


def test_an_untrusted_hook_never_decides() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Exited(2, b"", b"no"))], admit=refuse)
    assert not host.fire(PRE_TOOL_USE, LS).blocked
    run = host.runs[0]
    assert (run.status, run.cause, run.detail) == ("untrusted", None, "changed since it was trusted")


@pytest.mark.parametrize("options", [{"required": True}, {"scope": "managed"}])
def test_a_required_hook_that_may_not_run_closes_the_way(options: dict[str, Any]) -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Returned(), **options)], admit=refuse)
    outcome = host.fire(PRE_TOOL_USE, LS)
    assert outcome.reason == "the required hook guard may not run: changed since it was trusted"
    assert host.runs[0].status == "untrusted"


def test_what_a_hook_may_not_do_is_dropped_and_its_run_says_so() -> None:
    answer = Returned({"hookSpecificOutput": {"updatedPermissions": [{"type": "setMode", "mode": "plan"}]}})
    host = ScriptedHost([native(PRE_TOOL_USE, answer)])
    assert host.fire(PRE_TOOL_USE, LS).permission_updates == ()
    assert "permission_updates" in host.runs[0].dropped


def test_a_policy_may_make_asking_too_much_a_failure() -> None:
    strict = replace(
        HOME.policy(POST_TOOL_USE), on_clipped="fail", may=Capability.BLOCK, failures=FAIL_CLOSED
    )
    answer = Returned({"hookSpecificOutput": {"additionalContext": "text"}})
    host = ScriptedHost([scripted("guard", POST_TOOL_USE, strict, HOME.wire, answer)])
    assert host.fire(POST_TOOL_USE, sample(POST_TOOL_USE)).blocked
    assert host.runs[0].detail == "it asked for context, which is not possible here"


def test_shadow_runs_and_records_but_never_applies() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Exited(2, b"", b"would stop it"), mode="shadow")])
    assert host.fire(PRE_TOOL_USE, LS) == Outcome()
    run = host.runs[0]
    assert (run.mode, run.decision, run.reason) == ("shadow", "deny", "would stop it")


def test_off_does_not_run() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Exited(2), mode="off")])
    assert host.fire(PRE_TOOL_USE, LS) == Outcome()
    assert host.runs == []


def test_a_closed_engine_runs_nothing_and_its_guards_close() -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Returned())])
    host.engine.closed = True
    assert host.fire(PRE_TOOL_USE, LS).reason == "hook guard gave no answer: the engine is closed"


def test_a_long_answer_is_read_beside_the_loop_and_means_the_same() -> None:
    text = "x" * 100_000
    answer = Exited(0, f'{{"systemMessage": "{text}", "decision": "block", "reason": "no"}}'.encode())
    host = ScriptedHost([native(PRE_TOOL_USE, answer)])
    outcome = host.fire(PRE_TOOL_USE, LS)
    assert (outcome.reason, outcome.messages[0].text) == ("no", text)


def test_words_nobody_knows_are_refused_where_a_hook_is_made() -> None:
    engine = Engine()
    for options in (
        {"on_failure": "opne"}, {"on_failure": {"crashed": "opne"}}, {"on_failure": {"crshed": "open"}},
        {"waiting": "asnyc"}, {"mode": "Off"}, {"timeout": -1}, {"timeout": float("nan")}, {"timeout": "5"},
        {"timeout": True},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="not "):
            engine.add(PRE_TOOL_USE, lambda _call: None, **options)  # pyright: ignore[reportArgumentType] wrong on purpose
    assert engine.hooks == ()


def test_on_failure_takes_the_words_of_the_configuration() -> None:
    def raises(_call: ToolCall) -> None:
        raise LookupError("x")

    words: list[tuple[OnFailure | dict[Cause, OnFailure], bool]] = [
        ("open", False),
        ("closed", True),
        ({"crashed": "open"}, False),
    ]
    for word, blocked in words:
        engine = Engine()
        engine.add(PRE_TOOL_USE, raises, on_failure=word)
        assert asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS)).blocked == blocked


def test_a_hooks_own_cancellation_is_its_failure_and_the_other_guards_are_heard() -> None:
    async def trips(_call: ToolCall) -> None:
        sleeping = asyncio.ensure_future(asyncio.sleep(5))
        sleeping.cancel()
        await sleeping

    engine = Engine()
    engine.add(PRE_TOOL_USE, trips, name="trips", on_failure="open")
    engine.add(PRE_TOOL_USE, lambda _call: deny("real"), name="real")
    assert asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS)).reason == "real"
    (run,) = [one for one in engine.journal.recent() if one.hook == "trips"]
    assert (run.status, run.cause) == ("failed", "crashed")


def test_no_exception_of_a_hook_gets_out_of_dispatch() -> None:
    class Rude(BaseException):
        pass

    async def rude(_call: ToolCall) -> None:
        raise Rude("out of my way")

    def rude_in_a_thread(_call: ToolCall) -> None:
        raise Rude("out of my way")

    for hook in (rude, rude_in_a_thread):
        engine = Engine()
        engine.add(PRE_TOOL_USE, hook)
        assert asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS)).blocked
        assert "Rude: out of my way" in engine.journal.recent()[-1].detail


SECRET = "ghp_" + "a1B2" * 9


def _raise_secret(_payload: object) -> None:
    raise ValueError(f"cannot log in with {SECRET}")


@pytest.mark.parametrize("event", [PRE_TOOL_USE, POST_TOOL_USE], ids=["guard", "observer"])
def test_what_a_hook_raised_is_in_the_journal_alone_and_redacted(event: EventSpec[Any]) -> None:
    """The model reads the reason of a denial and the user the message: both name the hook, and no more."""
    engine = Engine()
    engine.add(event, _raise_secret, name="login")
    outcome = asyncio.run(engine.session("s").dispatch(event, sample(event)))
    translated = outcome.reason or outcome.messages[0].text
    assert translated == "hook login gave no answer: it raised ValueError"
    (run,) = engine.journal.recent()
    assert run.detail.startswith("ValueError: cannot log in with [redacted] (")


def test_what_a_broken_program_printed_is_redacted() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, f"echo cannot log in with {SECRET} >&2; exit 1", name="login")

    async def fire() -> Outcome:
        async with engine:
            return await engine.session("s").dispatch(PRE_TOOL_USE, LS)

    outcome = asyncio.run(fire())
    assert outcome.reason == "hook login gave no answer: exit 1: cannot log in with [redacted]"


def test_a_hook_that_ignores_its_deadline_is_given_up_and_counts_as_late() -> None:
    async def immortal(_call: ToolCall) -> None:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass

    engine = Engine()
    engine.add(PRE_TOOL_USE, immortal, timeout=0.05)
    outcome = asyncio.run(engine.session("s").dispatch(PRE_TOOL_USE, LS))
    assert "was abandoned" in (outcome.reason or "")


def test_a_rewrite_that_cannot_be_applied_blocks_instead_of_raising() -> None:
    class Odd:
        tool_name = "Bash"
        tool_input = None

    row = EventSpec("Odd", Odd, "at times.", Capability.BLOCK | Capability.REWRITE, rewrites="tool_input")
    host = ScriptedHost([native(row, Returned(rewrite(command="x")))], rows=[row])
    outcome = host.fire(row, Odd())
    assert "cannot be applied" in (outcome.reason or "")


@pytest.mark.parametrize("value", ["text", 5, [1]])
def test_a_function_cannot_rewrite_an_input_to_something_else(value: Any) -> None:
    host = ScriptedHost([native(PRE_TOOL_USE, Returned(rewrite(value)))])
    outcome = host.fire(PRE_TOOL_USE, LS)
    assert outcome.blocked
    assert outcome.updated_input is None
    assert host.runs[0].cause == "unreadable"
