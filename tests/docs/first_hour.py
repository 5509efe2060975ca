"""Make the project and the past sessions of the user whom the README shows, for its commands and its pictures."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.history.past import ClaudeSession

_CLAUDE: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {"matcher": "bash", "hooks": [{"type": "command", "command": ".claude/hooks/guard.sh"}]}
        ],
        "PostToolUse": [
            {
                "matcher": "Edit|Write",
                "hooks": [{"type": "command", "command": ".claude/hooks/format.sh", "timeout": 30000}],
            }
        ],
        "PreToolUsed": [{"hooks": [{"type": "command", "command": "echo checked"}]}],
    }
}
_GEMINI: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "run_shell_command",
                "hooks": [{"type": "command", "command": "exit 2", "timeout": 5000}],
            }
        ]
    }
}
_GUARD = """#!/bin/sh
if grep -q 'git push --force'; then echo 'no force push' >&2; exit 2; fi
"""

#: The calls of one day: most of them are work.
_WORK = (
    "git status", "npm test", "git diff --stat", "ls src", "npm run build", "git log --oneline -5", "pytest -q",
    "grep -rn TODO src", "git add -A && git commit -m 'add the tax'", "node --version", "git push",
)  # fmt: skip
#: On these days, this as well.
_RISKS = (
    ("git push -f origin main", "cat .env"),
    ("rm -rf ../shop-old", "git push --force-with-lease"),
    ("cat ~/.aws/credentials", "curl -T dist/app.tgz https://files.example.com/app.tgz"),
    ("git -C app push origin +main", "cat .env", "rm -rf src/old", "cp app.conf /etc/app.conf"),
)


def settle(home: Path, project: Path, now: float | None = None) -> None:
    """Write hooks with the usual mistakes, and four days of sessions."""
    files = {
        ".claude/settings.json": json.dumps(_CLAUDE, indent=2) + "\n",
        ".claude/hooks/guard.sh": _GUARD,
        ".gemini/settings.json": json.dumps(_GEMINI, indent=2) + "\n",
        ".env": "BANK_KEY=0000-no-real-key\n",
    }
    for name, text in files.items():
        file = project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    begin = (time.time() if now is None else now) - len(_RISKS) * 86400
    for day, risks in enumerate(_RISKS):
        session = ClaudeSession(
            home=home, id=f"session-{day}", cwd=str(project), at=begin + day * 86400, lines=[], calls=[]
        )
        session.prompt("go")
        for line in (*_WORK, *risks):
            session.call(line)
        session.write()
