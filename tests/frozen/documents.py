"""The JSON documents of the commands: scripts read their keys."""

import json
from collections.abc import Sequence

from tests.cli.run_cli import Ran, Workspace
from tests.frozen.commands import Command, command
from tests.frozen.shapes import shape

#: In this order: `log` reads what those before it did.
DOCUMENTS = {
    "fire, blocked": "fire PreToolUse Bash command='git push' --json",
    "fire, rewritten": "fire PreToolUse Bash command=make --json",
    "fire, asked": "fire PreToolUse Write file_path=a content=b --json",
    "fire, context": "fire UserPromptSubmit prompt=hello --json",
    "fire, failed": "fire PostToolUse Bash command=ls --json",
    "fire, stopped": "fire Stop --dialect native --json",
    "fire, dry run": "fire PreToolUse Bash command=ls --dry-run --json",
    "list": "list --json",
    "explain": "explain PreToolUse Bash command=make --json",
    "doctor": "doctor --json",
    "doctor, mistakes": "doctor --config mistakes.toml --json",
    "doctor, a file that cannot be read": "doctor --config unreadable.toml --json",
    "events": "events --json",
    "events, one": "events PreToolUse --json",
    "events, the name of another agent": "events before_llm_call --json",
    "events, of an agent": "events --dialect codewhale --json",
    "events, one of an agent": "events message_submit --dialect codewhale --json",
    "events, several of an agent": "events PreModelCall --dialect docker-agent --json",
    "schema": "schema --json",
    "trust": "trust --json",
    "trust, projects": "trust --list --json",
    "log": "log --json",
    "fire, times": "fire UserPromptSubmit --times 3 --json",
    "fire, times, dry run": "fire --times 3 --dry-run --json",
    "guard, builtins": "guard add --json",
    "guard, added": "guard add force-push --tests --cwd new --json",
    "guard, off": "guard off force-push --cwd new --json",
    "guard, list": "guard list --cwd new --json",
    "install": "install claude-code --json",
    "install, written": "install codex --yes --json",
    "doctor, of an agent": "doctor --dialect codex --json",
    "uninstall": "uninstall codex --yes --json",
    "convert": "convert .claude/settings.json --to codex --json",
    "agent": "agent --print 'push it' --model scripted:script.yaml --no-hooks --json",
    "agent, denied": "agent --print 'push it' --model scripted:script.yaml --trust --json",
}


def document_commands(where: Workspace) -> list[Command]:
    return [command(where, line) for line in DOCUMENTS.values()]


def approved_documents(done: Sequence[Ran]) -> str:
    blocks: list[str] = []
    for name, ran in zip(DOCUMENTS, done, strict=True):
        assert ran.stdout, f"{name}: {ran.stderr}"
        blocks.append("\n    ".join([name, *shape(json.loads(ran.stdout))]))
    return "\n".join(blocks) + "\n"
