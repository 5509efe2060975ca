"""Journals to read: written by the real thing."""

import time
from typing import Any

from hookline.extending import JournalFile, Run
from hookline.model.run import Called
from tests.cli.run_cli import Workspace

NOW = time.time()


def journal_of(where: Workspace) -> str:
    return str(where.home / ".local" / "state" / "hookline" / "journal.jsonl")


def write_runs(where: Workspace, *runs: Run) -> str:
    file = JournalFile(journal_of(where))
    for run in runs:
        file.append(run)
    assert file.problems == ()
    file.close()
    return file.path


def a_run(hook: str = "guard", ago: float = 60.0, **facts: Any) -> Run:
    facts = {
        "event": "PreToolUse",
        "dialect_event": "PreToolUse",
        "session": "s-1",
        "duration_ms": 3.0,
    } | facts
    return Run(hook=hook, at=NOW - ago, **facts)


#: One of each kind that a reader tells apart.
STORY = (
    a_run("date", 3 * 3600, event="UserPromptSubmit", dialect_event="UserPromptSubmit", type="builtin"),
    a_run(
        "no force push", 3600, status="blocked", decision="deny", reason="force pushes rewrite history",
        source="/p/.hookline/hooks.toml:6",
        call=Called(tool="Bash", input="git push --force origin main", project="/p", caller="claude-code"),
    ),
    a_run(
        "ask first", 1800, decision="ask", reason="this changes the remote", session="s-2",
        call=Called(tool="Bash", input="git push", project="/src/shop", origin="fire", caller="claude-code"),
    ),
    a_run(
        "lint", 600, status="failed", cause="crashed", detail="exit 1: no such file", failed_open=True,
        event="PostToolUse", dialect_event="tool_call_after", dialect="codewhale", duration_ms=12.0,
        translated_tool="write",
        call=Called(tool="write_file", input="/src/shop/cart.py", project="/src/shop", caller="hookline agent"),
    ),
    a_run(
        "scan", 300, status="timed_out", cause="timed_out", detail="no answer within 5 s", decision="deny",
        reason="hook scan gave no answer", duration_ms=5000.0,
    ),
    a_run("lint", 120, duration_ms=14.0, dialect="codewhale", event="PostToolUse", dialect_event="tool_call_after"),
    a_run("try it", 60, decision="allow", mode="shadow", dropped=("rewrite",), why="the event allows none"),
)  # fmt: skip
