"""Test that payloads of the real clients are rebuilt from the transcripts that these clients wrote."""

import pytest

from hookline.dialects.recorded_event import HookNote, Tally
from hookline.dialects.registry import dialect_named
from tests.history.transcripts.rebuilt import DIRECTORIES, NOT_THERE, RECORDED, compared, recorded_events


@pytest.mark.parametrize("client", DIRECTORIES)
def test_payloads_are_rebuilt_as_hooks_got_them(client: str) -> None:
    found = compared(client)
    print(f"{client}: {found.same} of {found.recoverable} fields are equal, {found.percent:.1f} %")
    assert found.missing == [], "nothing is rebuilt of these"
    assert found.invented == [], "no hook was given these"
    assert found.percent >= 98, found.different
    assert found.different == []
    assert found.recoverable > 150


def test_every_field_that_is_listed_as_missing_is_missing() -> None:
    """Check that every entry of the list is needed: a needless one would hide what is lost."""
    for client, listed in NOT_THERE.items():
        assert compared(client).listed.keys() == listed.keys(), client


def test_a_denial_a_failure_and_a_result_are_told_apart() -> None:
    claude = recorded_events("claude-code", RECORDED / "claude-code/1-bash-edit-read")
    assert [(m.kind, m.tool) for m in claude if m.kind in ("result", "failure", "denial")] == [
        ("result", "Read"), ("result", "Edit"), ("result", "Bash"), ("failure", "Bash"), ("result", "Write"),
    ]  # fmt: skip
    plan = recorded_events("claude-code", RECORDED / "claude-code/4-mcp-plan")
    assert [(m.kind, m.tool) for m in plan if m.kind == "denial"] == [("denial", "Bash")]
    codex = recorded_events("codex", RECORDED / "codex/2-denied-and-hooks")
    assert [m.kind for m in codex if m.tool] == ["call", "denial", "call", "result"]
    gemini = recorded_events("gemini-cli", RECORDED / "gemini/4-default-mode-not-approved")
    assert [m.kind for m in gemini] == [
        "start", "prompt", "denial", "turn_end", "end", "start", "prompt", "turn_end", "end",
    ]  # fmt: skip


def test_moments_say_agent_session_directory_model_mode_time_and_sub_agent() -> None:
    inner = [
        m
        for m in recorded_events("claude-code", RECORDED / "claude-code/3-subagent")
        if m.subagent and m.tool
    ]
    assert {(m.agent, m.session[:8], m.cwd, m.model, m.mode, m.subagent, m.headless) for m in inner} == {
        ("claude-code", "52a37a9a", "/home/user/project", "claude-opus-5-5", "", "ac19e1fe5cc3b5bb4", True)
    }
    assert [round(m.at) for m in inner] == [1794797763, 1794797764]
    child = [m for m in recorded_events("codex", RECORDED / "codex/3-subagent") if m.subagent]
    assert [m.kind for m in child] == ["subagent_start", "prompt", "call", "result", "subagent_end"]
    assert {m.document()["agent_type"] for m in child} == {"default"}
    gemini = [m for m in recorded_events("gemini-cli", RECORDED / "gemini/3-mcp-subagent") if m.subagent]
    assert {(m.session[:8], m.subagent[:8], m.model) for m in gemini} == {
        ("db466929", "e72d374e", "gemini-2.5-pro")
    }


def test_a_transcript_says_which_hooks_its_agent_ran() -> None:
    dialect = dialect_named("claude-code")
    assert dialect is not None
    reader = dialect.transcripts
    assert reader is not None
    file = next(iter((RECORDED / "claude-code/1-bash-edit-read").rglob("5622*.jsonl")))
    notes = [item for item in reader.read(str(file), Tally()) if isinstance(item, HookNote)]
    assert [(note.event, note.status, note.command[:3]) for note in notes] == [("Stop", "ok", "cat")]
