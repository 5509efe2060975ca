"""The exit status of every command in fixed situations: scripts and agents act on it."""

from collections.abc import Sequence

from tests.cli.run_cli import Ran, Workspace
from tests.frozen.commands import Command, command

#: As typed, in a project with hooks; in the order they are run.
HERE = """\
--version
--help
fier
--no-such-option
fire PreToolUse Bash command='git push'
fire PreToolUse Bash command=ls
fire PreToolUse Bash command='git push' --dry-run
fire PreToolUse Write file_path=a content=b
fire Stop --dialect native
fire PostToolUse Bash command=ls
fire PreToolUs
fire
fire Stop --no-such-option
fire Stop --config missing.toml
fire PreToolUse Bash command=ls --config unreadable.toml
fire Stop --config failing.toml
fire Stop --config failing.toml --strict
fire Stop --hook 'Stop=exit 2' --config mistakes.toml
fire --payload missing.json
fire --payload stop.json
fire Stop --dialect no-such-agent
list
list PreToolUs
list --config mistakes.toml
explain PreToolUse Bash command=ls
explain PreToolUs
explain Stop --config mistakes.toml
doctor
doctor --strict-warnings
doctor --config mistakes.toml
doctor --config unreadable.toml
doctor --config missing.toml
events
events PreToolUse
events before_llm_call
events PreToolUs
schema
schema config
schema payload PreToolUse
schema payload
schema answer PreToolUs
trust
trust --diff
trust --list
trust --yes 0000
trust --revoke
trust --list --diff
log
log --since 2h --decision deny
log --since yesterday
log --decision perhaps
fire UserPromptSubmit --times 1
fire Stop --config failing.toml --times 1
fire Stop --times 1 --dry-run
fire PreToolUs --times 1
fire Stop --times 0
guard
guard add
guard add force-push --cwd new
guard add force-push --cwd new
guard add force-push --cwd missing
guard add no-such-guard
guard promote force-push --cwd new
guard demote force-push --cwd new
guard remove force-push --cwd new
completion bash
completion zsh
completion fish
completion tcsh
hook
hook --print-config claude-code
hook --print-config no-such-agent
hook --print-config codewhale PreToolUse
agent --print 'push it' --model scripted:script.yaml
agent --print 'push it' --model scripted:short_script.yaml
agent --print 'push it' --model scripted:missing.yaml
agent --print 'push it' --model scripted:script.yaml --config blocking.toml
agent --print 'push it' --model scripted:script.yaml --mode no-such-mode
agent --print 'push it' --model scripted:script.yaml --resume no-such-session
agent --print 'push it'
agent --print
"""

#: In a directory and for a user with no hooks at all.
NOTHING = """\
fire Stop
list
explain Stop
doctor
fire --times 1
log
hook --dialect claude-code Stop
"""


def status_commands(where: Workspace, nothing: Workspace) -> list[Command]:
    return [
        *(command(where, line) for line in HERE.splitlines()),
        *(command(nothing, line, stdin="{}") for line in NOTHING.splitlines()),
    ]


def approved_statuses(done: Sequence[Ran]) -> str:
    """Also whether there was anything on stdout and stderr: help goes to one, complaints to the other."""
    lines = [*HERE.splitlines(), *(f"{line}    # nothing is configured" for line in NOTHING.splitlines())]
    return "".join(
        f"{ran.status} {'out' if ran.stdout else '---'} {'err' if ran.stderr else '---'}  hookline {line}\n"
        for line, ran in zip(lines, done, strict=True)
    )
