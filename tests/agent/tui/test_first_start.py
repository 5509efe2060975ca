"""Test the first start at a real terminal, with a key and without one; and text that is piped to the agent."""

import subprocess
import sys
import time
from pathlib import Path

from hookline.agent.tui.dialog import GUARD
from tests.agent.models.provider_answers import chat
from tests.agent.tui.real_terminal import RealTerminal
from tests.agent.tui.test_provider_faults import serving
from tests.agent.tui.test_real_terminal import Workspace
from tests.cli.run_cli import clean_env, command_line
from tests.waiting import LONG

_LINE = [sys.executable, "-m", "hookline.app", "agent"]


def test_with_a_key_it_asks_for_a_model_once(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with serving(chat("Hello."), chat("Again.")) as server:
        env = clean_env(tmp_path, {"OPENAI_API_KEY": "sk-0123456789", "OPENAI_BASE_URL": f"{server.url}/v1"})
        first = RealTerminal(_LINE, workspace.project, env)
        try:
            first.until("Which model?")
            assert "openai:gpt" in first.text
            _answers(first, "openai:toy-1\r", "Which model?")
            first.until("openai:toy-1 is remembered")
            first.until("idle ·")
            first.types("hi\r")
            first.until("Hello.")
            first.types("\x04")
            assert first.status() == 0
        finally:
            first.close()
        again = subprocess.run(
            command_line(["agent", "--print", "hi"]), cwd=workspace.project, env=env, input="", capture_output=True,
            text=True, timeout=LONG, check=False,
        )  # fmt: skip
        assert again.stdout == "Again.\n"
        assert [asked.body["model"] for asked in server.asked] == ["toy-1", "toy-1"]


def _answers(terminal: RealTerminal, keys: str, question: str) -> None:
    """Answer a question, which listens once nothing was typed for half a second; again if that was too early."""
    while question in terminal.text:
        time.sleep(2 * GUARD)
        terminal.types(keys)
        time.sleep(GUARD)


def test_without_a_key_the_demo_leaves_nothing_behind(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    before = _files(tmp_path)
    terminal = RealTerminal(_LINE, workspace.project, clean_env(tmp_path))
    try:
        terminal.until("No model is set up")
        assert "set HOOKLINE_MODEL" in terminal.text
        _answers(terminal, "1", "No model is set up")
        terminal.until("idle ·")
        terminal.types("\x04")
        assert terminal.status() == 0
    finally:
        terminal.close()
    assert _files(tmp_path) == before


def _files(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def test_piped_text_is_context_of_the_prompt(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    with serving(chat("It is short.")) as server:
        env = clean_env(tmp_path, {"OPENAI_API_KEY": "sk-0123456789", "OPENAI_BASE_URL": f"{server.url}/v1"})
        words = ["agent", "--print", "what is this?", "--model", "openai:toy-1"]
        done = subprocess.run(
            command_line(words), cwd=workspace.project, env=env, input="line one\nline two\n", capture_output=True,
            text=True, timeout=LONG, check=False,
        )  # fmt: skip
        assert done.stdout == "It is short.\n"
        sent = server.asked[0].body["messages"][-1]["content"]
        assert sent == "what is this?\n\n<stdin>\nline one\nline two\n</stdin>"
