"""Hooks as processes: bounded, whatever they do with their pipes and their children."""

import os
import time
from pathlib import Path

import pytest

from hookline.events import Prompt
from tests.dialects.codewhale.hooks import HELLO, agent_with, bash, entry, says
from tests.dialects.codewhale.test_observers import MOMENTS

WITHOUT_DOCUMENT = ["session_start", "session_end", "tool_call_after", "mode_change", "on_error"]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return (Path("/proc") / str(pid) / "stat").read_text().split(") ")[1][0] != "Z"


def test_a_timeout_ends_the_whole_family(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    agent = agent_with(entry("tool_call_before", f"(sleep 60 & echo $! > {pid}; wait)", timeout_secs=1))

    began = time.monotonic()
    agent.fire("tool_call_before", bash())

    assert time.monotonic() - began < 20
    assert agent.runs[0].status == "timed_out"
    assert not alive(int(pid.read_text()))


def test_a_grandchild_that_holds_the_pipe_holds_up_nobody(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hold = f"""sleep 60 & echo $! > {pid}; echo '{{"decision": "ask"}}'"""
    agent = agent_with(entry("tool_call_before", hold))

    began = time.monotonic()
    outcome = agent.fire("tool_call_before", bash())

    assert time.monotonic() - began < 20
    assert outcome.permission == "ask"
    assert not alive(int(pid.read_text()))


@pytest.mark.parametrize("event", WITHOUT_DOCUMENT)
def test_a_hook_without_a_document_reads_the_end_at_once(event: str, tmp_path: Path) -> None:
    seen = tmp_path / "stdin"
    agent = agent_with(entry(event, f"cat > {seen}", timeout_secs=20))

    agent.fire(event, MOMENTS[event])

    assert seen.read_bytes() == b""
    assert agent.runs[-1].status == "ok"


def test_a_tool_gate_without_a_document_reads_the_end_at_once() -> None:
    agent = agent_with(entry("tool_call_before", "cat; " + says({"decision": "ask"}), timeout_secs=20))

    assert agent.fire("tool_call_before", bash()).permission == "ask"


def test_a_hook_that_writes_before_it_reads_does_not_hang(tmp_path: Path) -> None:
    seen = tmp_path / "stdin"
    flood = f"head -c 1048576 /dev/zero; cat > {seen}"
    agent = agent_with(entry("message_submit", flood, timeout_secs=60))

    outcome = agent.fire("message_submit", Prompt(prompt="x" * 200_000))

    assert len(seen.read_bytes()) > 32_000
    assert agent.runs[0].status == "ok"
    assert "not JSON" in outcome.messages[0].text


def test_an_answer_is_read_up_to_64_kib_only(tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    blanks = " " * (65_536 - len('{"text": "x"}'))
    answer.write_text('{"text": "x"}' + blanks)
    whole = agent_with(entry("message_submit", f"cat {answer}")).fire("message_submit", HELLO)
    answer.write_text('{"text": "x"}' + blanks + " ")
    cut = agent_with(entry("message_submit", f"cat {answer}")).fire("message_submit", HELLO)

    assert whole.updated_prompt == "x"
    assert cut.updated_prompt is None
    assert cut.messages


def test_the_hook_inherits_the_agents_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOME_AGENT_TOKEN", "visible")
    seen = tmp_path / "seen"
    agent_with("", f"[[hooks]]\nevent='session_start'\ncommand='echo $SOME_AGENT_TOKEN > {seen}'\n").fire(
        "session_start", MOMENTS["session_start"]
    )

    assert seen.read_text() == "visible\n"
