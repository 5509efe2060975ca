"""The same guard, written for several agents: a real process that denies `git push --force`."""

import json
from pathlib import Path

_GUARD = "grep -q -e --force && { echo 'force pushes rewrite history' >&2; exit 2; }; exit 0"

NATIVE = f"""
[[hooks.PreToolUse]]
matcher = "Bash(git push *)"

[[hooks.PreToolUse.hooks]]
name = "no force push"
command = {json.dumps(_GUARD)}
"""

GROUPED = json.dumps(
    {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": _GUARD}]}]}}
)

DOCKER = f"""
agents:
  root:
    model: openai/gpt-5
    hooks:
      pre_tool_use:
        - matcher: shell
          hooks:
            - {{name: no force push, type: command, command: {json.dumps(_GUARD)}}}
      turn_start:
        - {{name: at the turn, type: command, command: echo turn}}
      before_llm_call:
        - {{name: at the call, type: command, command: echo call}}
"""


def write(directory: Path, name: str, text: str) -> Path:
    file = directory / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file
