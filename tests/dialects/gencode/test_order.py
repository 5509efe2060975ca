import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.dialects.gencode import dialect
from hookline.events import PRE_TOOL_USE, SESSION_START
from hookline.model.outcome import PASS
from tests.dialects.gencode.hooks import PAYLOADS, WAITED, agent_with, agent_with_hooks, bash, prints, says
from tests.every import every
from tests.waiting import wait_until, waits_for

BLOCK = prints(code=2, stderr="no")


def test_hooks_run_one_after_another_and_a_block_ends_it_keeping_the_contexts_before(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    agent = agent_with_hooks(
        "PreToolUse",
        f"sleep 0.2; echo first >> {mark}; " + prints(says("PreToolUse", additionalContext="before")),
        f"echo second >> {mark}; {BLOCK}",
        f"echo third >> {mark}",
    )
    outcome = agent.fire("PreToolUse", bash("ls"))
    assert (outcome.blocked, outcome.reason, outcome.context) == (True, "no", ("before",))
    assert mark.read_text().split() == ["first", "second"]


@pytest.mark.parametrize("answer", [{"continue": False}, says("PreToolUse", permissionDecision="deny")])
def test_a_block_in_json_ends_it_too(answer: Any) -> None:
    agent = agent_with_hooks("PreToolUse", prints(answer), "true")
    assert agent.fire("PreToolUse", bash("ls")).blocked
    assert len(agent.runs) == 1


def test_equal_hooks_all_run() -> None:
    agent = agent_with_hooks("PreToolUse", "true", "true")
    agent.fire("PreToolUse", bash("ls"))
    assert len(agent.runs) == 2


def test_settings_come_before_hooks_of_the_host_and_those_before_hooks_of_the_session() -> None:
    agent = agent_with_hooks("PreToolUse", "true")
    agent.session.add(PRE_TOOL_USE, lambda call: None, name="session")
    agent.engine.add(PRE_TOOL_USE, lambda call: None, name="host")
    agent.fire("PreToolUse", bash("ls"))
    assert [run.hook for run in agent.runs] == ["true", "host", "session"]


def test_a_hook_of_the_session_is_removed_by_its_id_or_with_the_session() -> None:
    agent = agent_with_hooks("PreToolUse", "true")
    first = agent.session.add(PRE_TOOL_USE, lambda call: None, name="first")
    second = agent.session.add(PRE_TOOL_USE, lambda call: None, name="second")
    assert len({first, second, ""}) == 3
    assert agent.session.remove(first)
    assert not agent.session.remove(first)
    agent.fire("PreToolUse", bash("ls"))
    assert [run.hook for run in agent.runs] == ["true", "second"]
    agent.session.clear()
    agent.fire("PreToolUse", bash("ls"))
    assert [run.hook for run in agent.runs[2:]] == ["true"]


def test_once_is_once_per_session_source_and_matcher() -> None:
    text = """{"hooks": {"PreToolUse": [
      {"matcher": "Bash", "hooks": [{"command": "true", "once": true}, {"command": "true", "once": true}]},
      {"matcher": "Bash|Edit", "hooks": [{"command": "true", "once": true}]}
    ]}}"""
    agent = agent_with(text)
    agent.fire("PreToolUse", bash("ls"))
    assert len(agent.runs) == 2
    agent.fire("PreToolUse", bash("ls"))
    assert len(agent.runs) == 2
    agent.session.clear()
    agent.fire("PreToolUse", bash("ls"))
    assert len(agent.runs) == 4


def test_once_is_used_up_by_a_run_that_failed() -> None:
    agent = agent_with_hooks("PreToolUse", {"command": "exit 1", "once": True})
    for _ in range(2):
        agent.fire("PreToolUse", bash("ls"))
    assert [run.status for run in agent.runs] == ["failed"]


def test_an_async_hook_never_changes_the_outcome_and_leaves_two_records() -> None:
    answer = {"systemMessage": "late", **says("PreToolUse", permissionDecision="deny")}
    agent = agent_with_hooks("PreToolUse", {"command": prints(answer), "async": True})
    assert agent.fire("PreToolUse", bash("ls")) == PASS
    assert [run.status for run in agent.runs] == ["background", "blocked"]
    assert len({run.run_id for run in agent.runs}) == 1
    assert agent.late == []


def test_async_is_not_waited_for(tmp_path: Path) -> None:
    agent = agent_with_hooks("Stop", {"command": waits_for(tmp_path / "never"), "async": True})

    async def main() -> None:
        # Returns although the hook never ends.
        await agent.session.dispatch(agent.dialect.events["Stop"].event, PAYLOADS["Stop"])
        await agent.engine.close(0)

    asyncio.run(main())


@pytest.mark.parametrize("event", ["Stop", "PostToolUse", "Notification", "SessionEnd"])
def test_async_rewake_does_not_block_but_wakes_the_agent_with_the_reason(event: str) -> None:
    agent = agent_with_hooks(event, {"command": prints(code=2, stderr="found a hole"), "asyncRewake": True})
    assert agent.fire(event, PAYLOADS[event]) == PASS
    (late,) = agent.late
    assert (late.kind, late.event, late.hook, late.text) == ("wake", event, "printf", "found a hole")
    about = next(run for run in agent.runs if run.run_id == late.run_id)
    assert (about.type, about.source) == ("command", ".gen/settings.json:1")
    clean = agent_with_hooks(event, {"command": prints({"systemMessage": "fine"}), "asyncRewake": True})
    assert clean.fire(event, PAYLOADS[event]) == PASS
    assert clean.late == []


@pytest.mark.parametrize(
    "ending",
    [
        "sleep 0.3; exit 2",
        "exit 2",
        prints(says("PreToolUse", permissionDecision="allow", additionalContext="late")),
        "sleep 0.3; " + prints(says("PreToolUse", permissionDecision="deny")),
    ],
)
def test_a_first_line_that_says_async_moves_the_hook_to_the_background_for_good(
    ending: str, tmp_path: Path
) -> None:
    mark = tmp_path / "went_on"
    agent = agent_with_hooks("PreToolUse", f"echo '{{\"async\": true}}'; touch {mark}; {ending}")
    assert agent.fire("PreToolUse", bash("ls")) == PASS
    assert mark.exists()
    assert agent.runs[-1].status == "ok"
    assert agent.runs[-1].dropped == (("its output after async",) if "printf" in ending else ())
    assert agent.late == []


def test_the_status_message_of_the_newest_running_hook_shows_and_goes() -> None:
    agent = agent_with_hooks(
        "PreToolUse",
        {"command": "true", "statusMessage": "first"},
        {"command": "true", "statusMessage": "second"},
    )
    seen: list[str | None] = []
    agent.engine.status.subscribe(lambda running: seen.append(running.message))
    agent.fire("PreToolUse", bash("ls"))
    assert seen == ["first", None, "second", None]


def test_without_hooks_nothing_happens() -> None:
    for text in (
        "{}",
        '{"hooks": {}}',
        '{"hooks": {"Stop": []}}',
        '{"hooks": {"PreToolUse": [{"hooks": []}]}}',
    ):
        agent = agent_with(text)
        assert not agent.reading.diagnostics
        assert not agent.session.has(PRE_TOOL_USE)
        assert agent.fire("PreToolUse", bash("ls")) is PASS
        assert agent.runs == []


def test_each_run_leaves_a_record_of_what_came_of_it() -> None:
    agent = agent_with(
        """{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"command": "true"},
        {"command": "exit 7"},
        {"command": "echo no >&2; exit 2"}
      ]}
    ]
  }
}"""
    )
    agent.fire("PreToolUse", bash("ls"))
    received = [(run.event, run.source, run.status, run.reason) for run in agent.runs]
    assert received == [
        ("PreToolUse", ".gen/settings.json:5", "ok", None),
        ("PreToolUse", ".gen/settings.json:6", "failed", None),
        ("PreToolUse", ".gen/settings.json:7", "blocked", "no"),
    ]
    assert all(run.duration_ms > 0 and run.dialect == "gen-code" for run in agent.runs)
    late = agent_with_hooks("PreToolUse", {"command": "true", "async": True})
    late.fire("PreToolUse", bash("ls"))
    assert [run.status for run in late.runs] == ["background", "ok"]


def test_these_events_are_waited_for() -> None:
    assert set(WAITED) == {
        "SessionStart", "Setup", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PermissionDenied", "Stop",
        "PreCompact",
    }  # fmt: skip


@every("event", sorted(set(PAYLOADS) - set(WAITED)))
def test_at_all_others_nobody_waits_and_nothing_is_said(event: str) -> None:
    agent = agent_with_hooks(event, prints({"systemMessage": "late", "continue": False}))
    assert agent.fire(event, PAYLOADS[event]) == PASS
    assert agent.runs[0].status == "background"
    assert agent.late == []


@pytest.mark.parametrize("event", ["CwdChanged", "FileChanged"])
def test_paths_to_watch_count_also_where_nobody_waits(event: str) -> None:
    agent = agent_with_hooks(event, prints(says(event, watchPaths=["/a"])))
    assert agent.fire(event, PAYLOADS[event]) == PASS
    assert [(late.kind, late.paths) for late in agent.late] == [("watch", ("/a",))]


def test_a_process_left_behind_lives_on(tmp_path: Path) -> None:
    mark = tmp_path / "late"
    agent = agent_with_hooks("PreToolUse", f"(sleep 0.3; touch {mark}) >/dev/null 2>&1 &")
    agent.fire("PreToolUse", bash("ls"))
    wait_until(mark.exists)
    assert mark.exists()


def test_policies_are_the_same_objects_for_all_hooks_of_one_dialect() -> None:
    agent = agent_with_hooks("PreToolUse", "true", "true")
    first, second = agent.reading.hooks
    assert first.policy is second.policy is agent.dialect.events["PreToolUse"].policy
    assert dialect().events["PreToolUse"].policy is not first.policy


def test_a_flag_stands_for_a_hook() -> None:
    agent = agent_with("{}")
    hook = agent.dialect.flag_hook(agent.dialect.events["SessionStart"], prints({"systemMessage": "hi"}))
    engine = Engine([hook])

    async def main() -> tuple[str, ...]:
        outcome = await engine.session("s").dispatch(SESSION_START, PAYLOADS["SessionStart"])
        await engine.close()
        return outcome.context

    assert asyncio.run(main()) == ("hi",)
    assert (hook.dialect, hook.scope, hook.timeout) == ("gen-code", "flag", 600)
