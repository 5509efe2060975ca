"""One project with hooks of every kind of result, for the commands whose documents and statuses are frozen."""

from tests.cli.run_cli import Workspace

HOOKS = """\
[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
name = "no push"
type = "builtin"
command = "deny"
args = ["pushes are reviewed"]
if = "Bash(git push*)"

[[hooks.PreToolUse.hooks]]
name = "tidy"
rewrites = true
if = "Bash(make*)"
command = "cat rewrite.json"

[[hooks.PreToolUse]]
matcher = "Write"

[[hooks.PreToolUse.hooks]]
name = "ask first"
type = "builtin"
command = "ask"
args = ["this changes a file"]

[[hooks.UserPromptSubmit]]

[[hooks.UserPromptSubmit.hooks]]
name = "house rules"
type = "builtin"
command = "context"
args = ["tests first"]

[[hooks.PostToolUse]]

[[hooks.PostToolUse.hooks]]
name = "broken"
command = "exit 1"

[[hooks.Stop]]

[[hooks.Stop.hooks]]
name = "end it"
command = "cat stop.json"
"""

REWRITE = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "make -k"},'
    ' "additionalContext": "make goes on"}, "systemMessage": "changed to make -k"}\n'
)

CLAUDE = """\
{"hooks": {
  "PreToolUse": [{"matcher": "Bash|Edit", "hooks": [
    {"type": "command", "command": "exit 0", "timeout": 5},
    {"type": "command", "command": "exit 0"}
  ]}],
  "Stop": [{"hooks": [{"type": "prompt", "prompt": "Is it done?"}]}]
}}
"""

#: Each kind of mistake that a reader can make in a file: an event, a field, a value, a program that is missing.
MISTAKES = """\
[[hooks.PreToolUs]]
hooks = [{ command = "true" }]

[[hooks.PreToolUse]]
matcher = "Bash("
hooks = [{ command = "true", timeot = 3 }, { command = "no-such-program-here" }]

[[hooks.Stop]]
hooks = [{ type = "builtin", command = "denny" }, { command = "true", timeout = -1 }]
"""

SCRIPT = """\
- text: I push it.
  tool_calls: [{ name: Bash, input: { command: git push } }]
- text: The push was denied.
"""


def write_project(where: Workspace) -> None:
    where.write(".hookline/hooks.toml", HOOKS)
    where.write(".claude/settings.json", CLAUDE)
    where.write("rewrite.json", REWRITE)
    where.write("stop.json", '{"continue": false, "stopReason": "enough"}\n')
    where.write("mistakes.toml", MISTAKES)
    where.write("unreadable.toml", "[[hooks.PreToolUse]\n")
    where.write("failing.toml", '[[hooks.Stop]]\nhooks = [{ command = "exit 1" }]\n')
    where.write("script.yaml", SCRIPT)
    where.write("short_script.yaml", "[]\n")
    where.write("blocking.toml", '[[hooks.UserPromptSubmit]]\nhooks = [{ command = "exit 2" }]\n')
    (where.project / "new").mkdir()
