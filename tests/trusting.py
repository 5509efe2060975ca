"""Trust a scratch project, as a user does once for the directories of their own work."""

import json
from pathlib import Path


def trust_all_of(home: Path, *directories: Path) -> None:
    """Trust everything below `folders` without a question, for the user of `home`."""
    file = home / ".config/hookline/settings.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text() if file.exists() else ""
    file.write_text(f"trusted = {json.dumps([str(directory) for directory in directories])}\n{before}")


def trust_nothing(home: Path) -> None:
    """Take it back: the user of `home` trusts no project."""
    (home / ".config/hookline/settings.toml").unlink()
