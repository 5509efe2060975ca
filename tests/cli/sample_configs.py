"""Configurations of several agents beside each other."""

NATIVE = """\
[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
name = "no force push"
type = "builtin"
command = "deny"
args = ["force pushes rewrite history"]
if = "Bash(git push --force*)"

[[hooks.PreToolUse.hooks]]
name = "tidy"
rewrites = true
command = "cat > /dev/null"
on_failure = "open"

[[hooks.PreToolUse]]
matcher = "Edit|Write"

[[hooks.PreToolUse.hooks]]
name = "lint"
command = "ruff check"
mode = "shadow"
timeout = 2.5

[[hooks.Stop]]

[[hooks.Stop.hooks]]
name = "tell"
type = "http"
url = "http://127.0.0.1:9/done?token=x"
async = true
once = true
"""

USER = """\
[[hooks.PreToolUse]]

[[hooks.PreToolUse.hooks]]
name = "of the user"
command = "true"

[[hooks.SessionStart]]
matcher = "startup"

[[hooks.SessionStart.hooks]]
name = "greet"
command = "echo hello"
"""

CLAUDE = """\
{"hooks": {
  "PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
    {"type": "command", "command": "python3 guard.py", "timeout": 5},
    {"type": "command", "command": "python3 guard.py"}
  ]}],
  "Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]
}}
"""

REASONIX = """\
{"hooks": {"Stop": [{"command": "say done", "timeout": 2000}]}}
"""

DOCKER = """\
agents:
  root:
    model: openai/gpt-5
    instruction: help
    hooks:
      turn_start:
        - type: command
          command: date
"""

#: By the file each one stands in.
ALL = {
    ".hookline/hooks.toml": NATIVE,
    "~/.config/hookline/hooks.toml": USER,
    ".claude/settings.json": CLAUDE,
    ".reasonix/settings.json": REASONIX,
    "agent.yaml": DOCKER,
}
