"""The directories that the user's own settings trust: what is below them is never asked about."""

import os
from collections.abc import Mapping
from typing import Any, cast

from hookline.config.files import read_file
from hookline.config.project import is_inside
from hookline.dialects.dialect import SUFFIXES, user_directories


def vouches_for(root: str, env: Mapping[str, str]) -> bool:
    """Whether `trusted = [...]` of the user's settings names the project or a directory above it."""
    home = os.path.realpath(env.get("HOME", "") or os.sep)
    files = [
        os.path.join(folder, f"settings.{suffix}")
        for folder in user_directories(env)
        # Settings inside the project are the project's own.
        if home == root or not is_inside(os.path.realpath(folder), root)
        for suffix in SUFFIXES
    ]
    return any(
        is_inside(root, os.path.realpath(os.path.join(home, os.path.expanduser(directory))))
        for file in files
        if os.path.lexists(file)
        for directory in _trusted(read_file(file).value)
    )


def _trusted(settings: Any) -> list[str]:
    if not isinstance(settings, Mapping):
        return []
    table = cast("Mapping[str, Any]", settings)
    agent: Any = table.get("agent")
    lists: list[Any] = [table.get("trusted")]
    if isinstance(agent, Mapping):
        lists.append(cast("Mapping[str, Any]", agent).get("trusted"))
    return [
        each
        for some in lists
        if isinstance(some, list)
        for each in cast("list[Any]", some)
        if isinstance(each, str)
    ]
