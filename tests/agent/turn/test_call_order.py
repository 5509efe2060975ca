"""The order for one tool call: when an earlier check fails no hook sees the call, and the first reason is kept."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline import deny
from hookline.events import ToolCall
from hookline.model import events as e
from tests.agent.scripted_session import Probe, Say, ScriptedSession, call, calls, says

#: What makes each check fail, what it then says, and the checks that cannot fail together with it.
CHECKS: list[tuple[str, str]] = [
    ("budget", "has made all the tool calls"),
    ("mode", "In plan mode Probe does not run"),
    ("arguments", "are not a JSON object"),
    ("deny_rule", "was denied by the rule Probe"),
    ("allow_list", "is not among the tools this command may use"),
    ("caller", "cannot be called by main"),
    ("unknown_tool", "Unknown tool 'Prob'; did you mean Probe?"),
    ("schema", "do not fit Probe: `what` is missing"),
]
#: A tool that does not exist has no category and no callers, and a name no rule speaks of.
_NEEDS_A_TOOL = {"mode", "deny_rule", "caller", "schema"}


def _failing(checks: set[str], directory: Path) -> tuple[ScriptedSession, Probe, str]:
    """A session in which exactly these checks fail for the one call that is made."""
    name = "Prob" if "unknown_tool" in checks else "Probe"
    given: Any = "{broken" if "arguments" in checks else {} if "schema" in checks else {"what": "this"}
    probe = Probe(
        category="write" if "mode" in checks else "other",
        callers=frozenset({"reviewer"}) if "caller" in checks else None,
    )
    commands = directory / "home" / "project" / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "only.md").write_text("---\nallowed-tools: Read\n---\nJust look.\n")
    scripted = ScriptedSession(
        directory,
        [calls({"name": name, "input": given}), says("done")],
        tools=[probe],
        mode="plan" if "mode" in checks else "default",
        deny=("Probe",) if "deny_rule" in checks else (),
        max_tool_calls=0 if "budget" in checks else 10,
    )
    return scripted, probe, "/only" if "allow_list" in checks else "go"


def _from(position: int) -> set[str]:
    """Return the check at this position and, of those after it, all that can fail together with it."""
    first = CHECKS[position][0]
    after = {name for name, _reason in CHECKS[position:]}
    return after - _NEEDS_A_TOOL if first == "unknown_tool" else after - {"unknown_tool"}


@pytest.mark.parametrize("position", range(len(CHECKS)), ids=[name for name, _reason in CHECKS])
@pytest.mark.parametrize("together", [True, False], ids=["with_all_later_ones", "alone"])
def test_seed003_a_check_that_fails_keeps_the_call_from_hooks_and_its_reason_is_kept(
    position: int, tmp_path: Path, *, together: bool
) -> None:
    step, reason = CHECKS[position]
    scripted, probe, prompt = _failing(_from(position) if together else {step}, tmp_path)

    async def main() -> None:
        if scripted.engine is None:
            raise AssertionError
        scripted.engine.add(e.PRE_TOOL_USE, _must_not_run)
        async with scripted:
            await scripted.play(prompt)
            texts = scripted.results()
        assert len(texts) == 1
        assert reason in texts[0]

    asyncio.run(main())
    assert "PreToolUse" not in scripted.fired
    assert "PermissionRequest" not in scripted.fired
    assert ("PermissionDenied" in scripted.fired) == (step == "deny_rule")
    assert scripted.fired.count("PostToolUse") == 0
    assert probe.calls == []


def _must_not_run(call: ToolCall) -> None:
    raise AssertionError(f"a hook saw {call}")


def test_seed003_a_call_that_passes_every_check_reaches_its_hook_and_runs(tmp_path: Path) -> None:
    scripted, probe, prompt = _failing(set(), tmp_path)

    async def main() -> None:
        async with scripted:
            await scripted.play(prompt)

    asyncio.run(main())
    assert scripted.fired.count("PreToolUse") == 1
    assert probe.calls == [{"what": "this"}]


def _denying(reason: str) -> dict[str, Any]:
    return {
        "PreToolUse": [
            {"matcher": "Probe", "hooks": [{"type": "command", "command": f"echo '{reason}' >&2; exit 2"}]}
        ]
    }


def test_seed003_exit_2_denies_and_the_hooks_words_reach_the_model(tmp_path: Path) -> None:
    scripted = ScriptedSession(
        tmp_path, _one_call(), hooks=_denying("only after the review"), tools=[probe := Probe()]
    )

    async def main() -> None:
        async with scripted:
            received = await scripted.play("go")
            assert received is not None
            assert received.status == "completed"

    asyncio.run(main())
    assert scripted.results() == ["only after the review"]
    assert probe.calls == []
    assert "PermissionRequest" not in scripted.fired
    assert "PermissionDenied" not in scripted.fired


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"ask": ("Probe",)}, "only after the review"),
        ({"mode": "dontAsk", "allow": ()}, "only after the review"),
        ({"mode": "bypass"}, "only after the review"),
    ],
)
def test_seed003_a_hooks_denial_is_kept_whatever_would_have_said_no_or_yes_after_it(
    settings: dict[str, Any], kept: str, tmp_path: Path
) -> None:
    scripted = ScriptedSession(
        tmp_path, _one_call(), hooks=_denying("only after the review"), tools=[Probe()], **settings
    )

    async def main() -> None:
        async with scripted:
            await scripted.play("go")

    asyncio.run(main())
    assert scripted.results() == [kept]


def test_seed003_a_call_that_a_hook_denied_gives_its_unit_of_the_budget_back(tmp_path: Path) -> None:
    script = [calls(call("Probe", what="a")), calls(call("Probe", what="b")), says("done")]
    scripted = ScriptedSession(tmp_path, script, tools=[probe := Probe()], max_tool_calls=1)

    async def main() -> None:
        async with scripted:
            assert scripted.engine is not None
            scripted.engine.add(
                e.PRE_TOOL_USE, lambda made: deny("no") if made.tool_input["what"] == "a" else None
            )
            received = await scripted.play("go")
            assert received is not None
            assert received.status == "completed"

    asyncio.run(main())
    assert probe.calls == [{"what": "b"}]


def _one_call() -> list[Say]:
    return [calls(call("Probe", what="this")), says("done")]
