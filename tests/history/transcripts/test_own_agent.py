"""Test that sessions of `hookline agent` are read back as events."""

from pathlib import Path

from hookline.agent.transcript.records import SessionFacts
from hookline.agent.transcript.writer import TranscriptWriter
from hookline.dialects.recorded_event import RecordedEvent, Tally
from hookline.dialects.registry import OWN_FORMAT, dialect_named
from hookline.model.messages import Assistant, ToolMessage, ToolUse, Usage, User


def recorded_events(file: Path) -> list[RecordedEvent]:
    dialect = dialect_named(OWN_FORMAT)
    assert dialect is not None
    assert dialect.transcripts is not None
    tally = Tally()
    found = [item for item in dialect.transcripts.read(str(file), tally) if isinstance(item, RecordedEvent)]
    assert (tally.torn, tally.unknown) == (0, 0)
    for recorded in found:
        if recorded.event:
            dialect.wire.parse(recorded.document())
    return found


def written(directory: Path, name: str, parent: str | None = None) -> Path:
    transcript = TranscriptWriter.create(
        str(directory), name, SessionFacts(cwd="/p", model="m", parent=parent)
    )
    transcript.message(User(text="do it"))
    transcript.message(User(text="from a hook", by="hook"))
    uses = (
        ToolUse(id="a", name="Bash", input={"command": "ls"}),
        ToolUse(id="b", name="Bash", input="no object"),
    )
    transcript.message(Assistant(text="I look", tool_calls=uses))
    transcript.message(ToolMessage(tool_use_id="a", name="Bash", text="hi"))
    transcript.message(ToolMessage(tool_use_id="b", name="Bash", text="not an object", is_error=True))
    transcript.message(Assistant(tool_calls=(ToolUse(id="c", name="Bash", input={"command": "rm x"}),)))
    transcript.message(ToolMessage(tool_use_id="c", name="Bash", text="denied", is_error=True))
    transcript.message(Assistant(text="done"))
    transcript.turn(1, "completed", Usage(), Usage())
    transcript.close()
    return directory / f"{name}.jsonl"


def test_a_session_is_its_prompts_calls_results_and_turns(tmp_path: Path) -> None:
    found = recorded_events(written(tmp_path, "s1"))
    assert [(m.kind, m.event, m.tool, m.certain) for m in found] == [
        ("start", "SessionStart", "", True),
        ("prompt", "UserPromptSubmit", "", True),
        ("call", "PreToolUse", "Bash", True),
        ("result", "PostToolUse", "Bash", True),
        ("call", "PreToolUse", "Bash", False),  # it may have been refused before any hook
        ("failure", "PostToolUseFailure", "Bash", False),
        ("turn_end", "Stop", "", True),
        ("end", "SessionEnd", "", False),
    ]
    assert {(m.session, m.cwd, m.model, m.subagent) for m in found} == {("s1", "/p", "m", "")}


def test_a_sub_agent_belongs_to_the_session_it_works_for(tmp_path: Path) -> None:
    found = recorded_events(written(tmp_path / "s1" / "subagents", "agent7", parent="s1"))
    assert [m.kind for m in found] == [
        "subagent_start", "call", "result", "call", "failure", "subagent_end",
    ]  # fmt: skip
    assert {(m.session, m.subagent) for m in found} == {("s1", "agent7")}
