"""Test the accounts of an event: every hook has one, run or not, with the reason."""

import asyncio
from typing import Any

from hookline import Engine, Outcome, context, deny, rewrite
from hookline.engine.explain import HookAccount, accounts_of
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.model.run import Run


def accounts(engine: Engine, **arguments: Any) -> tuple[dict[str, HookAccount], list[Run]]:
    call = ToolCall(tool_name="Bash", tool_input=arguments)

    async def fire() -> tuple[list[HookAccount], list[Run]]:
        async with engine:
            session = engine.session("s")
            decisions = session.explain(PRE_TOOL_USE, call)
            await session.dispatch(PRE_TOOL_USE, call)
            await engine.drain()
            return accounts_of(decisions, engine.journal.recent(), engine.journal.cleaned)

    found, again = asyncio.run(fire())
    return {account.decision.prepared.hook.name: account for account in found}, again


def passes(call: ToolCall) -> None: ...


def test_hooks_that_ran_and_hooks_that_did_not() -> None:
    engine = Engine()
    engine.add(PRE_TOOL_USE, passes, "Bash", name="ran")
    engine.add(PRE_TOOL_USE, passes, "Read", name="of another tool")
    engine.add(PRE_TOOL_USE, passes, mode="off", name="switched off")
    engine.add(PRE_TOOL_USE, passes, condition="Bash(git *)", name="of another command")
    found, again = accounts(engine, command="ls")
    assert {name: account.ran for name, account in found.items()} == {
        "ran": True, "of another tool": False, "switched off": False, "of another command": False,
    }  # fmt: skip
    assert found["ran"].runs[0].status == "ok"
    assert found["ran"].runs[0].why.startswith("matched")
    assert found["of another tool"].runs[0].why.startswith("not matched")
    assert found["switched off"].runs[0].why == "switched off: mode is off"
    assert again == []


def test_a_hook_that_was_asked_again_and_one_that_only_a_rewrite_concerns() -> None:
    engine = Engine()

    def to_git(call: ToolCall) -> Outcome:
        return rewrite({"command": "git status"})

    engine.add(PRE_TOOL_USE, to_git, rewrites=True, name="rewriter")
    engine.add(PRE_TOOL_USE, passes, condition="Bash(git *)", name="about git")

    def to_ls(call: ToolCall) -> Outcome | None:
        return rewrite({"command": "ls"}) if call.tool_input["command"] != "ls" else None

    engine.add(PRE_TOOL_USE, to_ls, name="not marked")
    engine.add(PRE_TOOL_USE, passes, name="saw the older value")
    found, again = accounts(engine, command="make")
    assert found["about git"].ran
    assert found["about git"].runs[0].why == "matched: on what another hook rewrote"
    assert [run.why for run in again if run.hook == "saw the older value"] == [
        "asked again: another hook rewrote what it had seen"
    ]


def test_a_background_hook_has_one_account_with_how_it_ended() -> None:
    engine = Engine()

    def slow(call: ToolCall) -> Outcome:
        return context("late")

    def fails(call: ToolCall) -> Outcome:
        raise RuntimeError("oh")

    engine.add(PRE_TOOL_USE, slow, waiting="async", name="slow")
    engine.add(PRE_TOOL_USE, fails, waiting="async", name="fails")
    engine.add(PRE_TOOL_USE, lambda call: deny("no"), name="guard")
    found, _again = accounts(engine, command="ls")
    assert [found[name].runs[0].status for name in ("slow", "fails", "guard")] == [
        "background",
        "failed",
        "blocked",
    ]
    assert all(len(account.runs) == 1 for account in found.values())
