"""Vouching for a scratch project, as a user does it once for the directories of their own work."""

import json
from pathlib import Path


def vouch_for(home: Path, *folders: Path) -> None:
    """From now on what is below `folders` runs without a question, for the user of `home`."""
    file = home / ".config/hookline/settings.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text() if file.exists() else ""
    file.write_text(f"trusted = {json.dumps([str(folder) for folder in folders])}\n{before}")


def vouch_for_nothing(home: Path) -> None:
    """Take it back: what a project brings is as strange to the user of `home` as that of anybody else."""
    (home / ".config/hookline/settings.toml").unlink()
