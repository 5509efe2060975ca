"""List agents that run hooks of their own and that Hookline has no dialect for: where their hooks are.

An agent that gets a dialect drops out by its name, without a change here.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from glob import glob
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.files import read_file


class UnreadAgent(Struct, frozen=True):
    """One agent, and the files that hold its hooks."""

    #: The name that its dialect would have.
    name: str
    title: str
    #: Patterns of files below a project, and below the user's home.
    project: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    #: True if a file counts only with values under `hooks`: it has other settings, too.
    under_hooks: bool = False


UNREAD_AGENTS = (
    UnreadAgent(
        "antigravity",
        "Antigravity",
        (".agents/hooks.json", ".agent/hooks.json", "_agents/hooks.json", "_agent/hooks.json"),
        (".gemini/config/hooks.json",),
    ),
    UnreadAgent(
        "goose", "Goose", (".agents/plugins/*/hooks/hooks.json",), (".agents/plugins/*/hooks/hooks.json",)
    ),
    UnreadAgent("windsurf", "Windsurf", (".windsurf/hooks.json",), (".codeium/windsurf/hooks.json",)),
    UnreadAgent(
        "factory-droid",
        "Factory Droid",
        (".factory/hooks.json", ".factory/hooks/hooks.json"),
        (".factory/hooks.json", ".factory/hooks/hooks.json"),
    ),
    UnreadAgent(
        "auggie",
        "Auggie",
        (".augment/settings.json", ".augment/settings.local.json"),
        (".augment/settings.json",),
        under_hooks=True,
    ),
    UnreadAgent("cline", "Cline", (".clinerules/hooks/*",), ()),
)


def unread_files(
    directories: Collection[str], home: str, names: Collection[str]
) -> Iterator[tuple[UnreadAgent, str]]:
    """Yield the files of agents that have no dialect among these names."""
    for agent in UNREAD_AGENTS:
        if agent.name in names:
            continue
        patterns = [os.path.join(each, pattern) for each in directories for pattern in agent.project]
        patterns += [os.path.join(home, pattern) for pattern in agent.user] if os.path.isabs(home) else []
        for file in dict.fromkeys(found for pattern in patterns for found in sorted(glob(pattern))):
            if os.path.isfile(file) and (not agent.under_hooks or _has_hooks(file)):
                yield agent, file


def _has_hooks(file: str) -> bool:
    value: Any = read_file(file, comments=True).value
    return isinstance(value, Mapping) and bool(cast("Mapping[str, Any]", value).get("hooks"))
