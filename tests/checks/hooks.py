"""Make hooks as a file would, for the tests of checks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline import Engine
from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.extending import standard_handlers
from hookline.shell import ShellReader


def here(cwd: Path, **env: str) -> CheckContext:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(cwd / "home"), **env}
    return CheckContext(str(cwd), environment, ShellReader(), looking().loader)


def claude(project: Path, event: str, entry: Mapping[str, Any], matcher: str = "") -> Loaded:
    """One entry in the settings of a project."""
    file = project / ".claude" / "settings.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        json.dumps({"hooks": {event: [{"matcher": matcher, "hooks": [{"type": "command", **entry}]}]}})
    )
    return looking().load(str(project), [str(file)], ["claude-code"])


def native(project: Path, text: str) -> Loaded:
    file = project / ".hookline" / "hooks.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return looking().load(str(project), [str(file)], ["native"])


def looking() -> Engine:
    there: Any = object()
    return Engine(handlers=standard_handlers(completer=there, agent_runner=there, mcp=there))
