"""Test where the loop waits for hooks: the table of the document, compared with a real run."""

from pathlib import Path

import pytest

from tests.agent.scenario_runs import events_of, played_once
from tests.agent.shared_directory import shared_place

#: Those that decide, and those a decision belongs to.
WAITED = frozenset(
    {
        "PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact", "SessionStart",
        "Stop", "PermissionDenied", "Setup",
    }
)  # fmt: skip
NOT_WAITED = frozenset(
    {
        "PostToolUse", "PostToolUseFailure", "StopFailure", "SubagentStart", "SubagentStop", "PostCompact",
        "SessionEnd", "FileChanged", "CwdChanged", "InstructionsLoaded", "TaskCreated", "TaskCompleted",
        "WorktreeCreate", "WorktreeRemove", "Notification", "ConfigChange",
    }
)  # fmt: skip


def _runs(factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """By event, the statuses of the gen-code hooks that ran each time it fired."""
    shared = shared_place(factory)
    played = [*played_once("seed001_all_events", shared), *played_once("config_change", shared)]
    found: dict[str, list[list[str]]] = {}
    for event in events_of(played):
        statuses = [run["status"] for run in event["runs"] if run["dialect"] == "gen-code"]
        if statuses:
            found.setdefault(event["event"], []).append(statuses)
    return found


def test_seed001_the_loop_waits_for_hooks_exactly_where_the_table_says_so(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    runs = _runs(tmp_path_factory)
    assert set(runs) == WAITED | NOT_WAITED
    for name in WAITED:
        assert all(statuses == ["ok"] for statuses in runs[name]), (name, runs[name])
    for name in NOT_WAITED:
        assert all(statuses[0] == "background" for statuses in runs[name]), (name, runs[name])


def test_seed001_hooks_nobody_waits_for_outlast_the_whole_run(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """They end only once the agent has come to its last prompt: it would not have got there had it waited."""
    (played,) = played_once("seed001_all_events", shared_place(tmp_path_factory))
    ended = set(Path(played.project, "not_waited.txt").read_text().split())
    # One runs in a worktree that is gone by then, one is fired in another scenario.
    assert ended == NOT_WAITED - {"WorktreeRemove", "ConfigChange"}
