"""Draw screens of the agent as SVG, from a real session at a pseudo-terminal with a scripted model."""

import json
import os
import sys
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.style import Style
from rich.text import Text

from tests.agent.tui.real_terminal import RealTerminal
from tools.pictures_svg import as_svg

_PROGRAM = str(Path(sys.executable).parent / "hookline")
_COLUMNS, _ROWS = 130, 30
_F3, _UP = "\x1bOR", "\x1b[A"
_GUARD = """import json, sys
call = json.load(sys.stdin)
if "--force" in call["tool_input"]["command"]:
    print("force pushes rewrite history", file=sys.stderr)
    sys.exit(2)
"""
_HOOKS = """[[hooks.PreToolUse]]
matcher = "Bash"
[[hooks.PreToolUse.hooks]]
name = "no force push"
command = "python3 .hookline/guard.py"

[[hooks.PreToolUse]]
matcher = "Edit"
[[hooks.PreToolUse.hooks]]
name = "style"
command = "true"

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
name = "audit"
mode = "shadow"
command = 'grep -q push && { echo "pushes need a review" >&2; exit 2; } || true'
"""
_SCRIPT: list[dict[str, Any]] = [
    {"text": "I read it first.", "tool_calls": [{"name": "Read", "input": {"file_path": "shop.py"}}]},
    {
        "text": "The tax is missing.",
        "tool_calls": [
            {
                "name": "Edit",
                "input": {
                    "file_path": "shop.py",
                    "old_string": "return net",
                    "new_string": "return net * (100 + VAT) // 100",
                },
            }
        ],
    },
    {"tool_calls": [{"name": "Bash", "input": {"command": "git push --force-with-lease"}}]},
    {"text": "The tax is **in**. A guard of yours denied the push."},
]


def draw_screens(home: Path, env: Mapping[str, str], pictures: Path) -> None:
    """Play a session, and draw its start, a denial, the workbench and a run in it."""
    project = home / "till"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline/hooks.toml").write_text(_HOOKS)
    (project / ".hookline/guard.py").write_text(_GUARD)
    (project / "shop.py").write_text("VAT = 19\n\n\ndef price(net):\n    return net\n")
    (project / "AGENTS.md").write_text("Prices are in cents.\n")
    (project / "script.json").write_text(json.dumps(_SCRIPT))
    settings = home / ".config/hookline/settings.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(f'trusted = ["{project}"]\n')
    line = [_PROGRAM, "agent", "--model", "scripted:script.json", "--mode", "bypass"]
    given = {name: value for name, value in env.items() if name not in ("NO_COLOR", "COLUMNS", "TMUX")}
    terminal = RealTerminal(line, project, {**given, "HOME": str(home)}, rows=_ROWS, columns=_COLUMNS)
    try:
        terminal.until("Enter sends")
        terminal.until("idle ·")
        _draw(terminal, pictures / "agent-welcome.svg", 10)
        terminal.types("add the tax and push\r")
        terminal.until("denied the push")
        terminal.until(lambda: "calls ·" in terminal.text)
        _draw(terminal, pictures / "agent-denial.svg", _ROWS)
        terminal.types(_F3)
        terminal.until("not matched")
        _draw(terminal, pictures / "agent-workbench.svg", _ROWS)
        terminal.types(f"{_UP}{_UP}\r")
        terminal.until("understood as")
        _draw(terminal, pictures / "agent-run.svg", _ROWS)
    finally:
        terminal.close()


def _draw(terminal: RealTerminal, picture: Path, rows: int) -> None:
    console = Console(record=True, width=_COLUMNS, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 all along
    texts = [_text(terminal.screen.buffer[at]) for at in range(terminal.screen.lines)]
    while texts and not texts[-1].plain.strip():
        texts.pop()
    for text in texts[-rows:]:
        console.print(text, no_wrap=True, crop=True)
    picture.write_text(as_svg(console, "hookline agent"))


def _text(row: Mapping[int, Any]) -> Text:
    """Turn a row of pyte's into text with its colours; neighbours of one style are one piece."""
    text = Text()
    for style, cells in groupby((row[at] for at in range(max(row, default=-1) + 1)), _style):
        text.append("".join(cell.data for cell in cells), style)
    return text


def _style(cell: Any) -> Style:
    return Style(color=_colour(cell.fg), bgcolor=_colour(cell.bg), bold=cell.bold, reverse=cell.reverse)


def _colour(name: str) -> str | None:
    if name == "default":
        return None
    if len(name) == 6 and all(each in "0123456789abcdef" for each in name):
        return f"#{name}"
    return {"brown": "yellow"}.get(
        name, name.replace("bright", "bright_").replace("bright_brown", "bright_yellow")
    )
