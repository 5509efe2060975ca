"""Test the real program at a real terminal with a provider on loopback that fails."""

import asyncio
import json
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.agent.models.loopback_server import Loopback, Reply, error
from tests.agent.models.provider_answers import chat
from tests.agent.tui import screens
from tests.agent.tui.real_terminal import RealTerminal
from tests.agent.tui.test_real_terminal import Workspace
from tests.cli.run_cli import clean_env


@contextmanager
def serving(*replies: Reply) -> Generator[Loopback]:
    """Serve on a thread with its own loop, while the program runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = Loopback(*replies)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _usage(tokens: int) -> dict[str, int]:
    return {"prompt_tokens": tokens, "completion_tokens": 9, "total_tokens": tokens + 9}


def test_a_turn_survives_429_529_a_cut_stream_and_overflow(tmp_path: Path) -> None:
    read = ("c1", "Read", json.dumps({"file_path": "notes.txt"}))
    full = error(400, {"error": {"message": "too long", "code": "context_length_exceeded"}})
    replies = (
        chat("I look. ", calls=[read], usage=_usage(900)),
        error(429, {"error": {"message": "slow down"}}, retry_after="0"),
        error(529, {"error": {"message": "overloaded"}}, retry_after="600"),
        Reply(chunks=chat("The notes\n\nsay ", "tha").chunks[:3], then="cut"),
        full,
        chat("They looked at the notes.", usage=_usage(300)),
        chat("The notes say hello.", usage=_usage(400)),
    )
    workspace = Workspace(tmp_path)
    workspace.write([])
    (workspace.project / "notes.txt").write_text("hello\n")
    settings = tmp_path / ".config/hookline/settings.toml"
    settings.write_text(settings.read_text() + "\n[agent]\ncontext_window = 2000\n")
    with serving(*replies) as server:
        line = [sys.executable, "-m", "hookline.app", "agent", "--model", "openai:toy-1"]
        terminal = RealTerminal(
            [*line, "--base-url", f"{server.url}/v1"], workspace.project, clean_env(tmp_path), 40
        )
        try:
            terminal.until("Enter sends")
            terminal.types("what do they say?\r")
            # It asks for more than the user wants to wait: the turn ends, and is not lost.
            terminal.until("the model failed (server)")
            terminal.until("idle ·")
            terminal.types("/retry\r")
            terminal.until("↻ retry in")
            screens.check_settled("retry", lambda: _from(terminal, "> what do they say?"))
            terminal.until("The notes say hello.")
            terminal.until("idle ·")
            screens.check_settled("retried", lambda: _from(terminal, "> /retry"))
        finally:
            terminal.close()
        prompts = [str(asked.body["messages"]).count("what do they say?") for asked in server.asked]
        assert prompts == [1, 1, 1, 1, 1, 1, 1]


def _from(terminal: RealTerminal, begin: str) -> str:
    text = terminal.everything
    return text[text.index(begin) :].rstrip() + "\n"
