"""Where configuration is looked for: from a directory up to the root of its repository, and in the user's own."""

import os
from collections.abc import Mapping, Sequence

#: Formats of Hookline's own files, in this order: of two in one place the first one is in force.
SUFFIXES = ("toml", "yaml", "yml", "json")


def upward(start: str) -> list[str]:
    """The directory and its parents up to the root of the git repository; outside of one only the directory itself.

    Anybody can write to /tmp, and must not decide what runs in the directories below it.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return [start]
        chain.append(parent)
    return chain


def nearest_project(cwd: str, files: Sequence[str]) -> str:
    """The nearest directory, up to the root of the repository, that holds one of the files; else the directory."""
    start = os.path.abspath(cwd)
    for directory in upward(start):
        if any(os.path.lexists(os.path.join(directory, file)) for file in files):
            return directory
    return start


def user_directory(env: Mapping[str, str], home: str | None = None) -> str | None:
    """The user's directory of Hookline; None for a user without a home, who must not get the root's."""
    configured = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):
        return os.path.join(configured, "hookline")
    home = home or env.get("HOME", "")
    return os.path.join(home, ".config", "hookline") if os.path.isabs(home) else None
