"""Find where the files of a call are: inside the directories, or outside them."""

import posixpath
import re
from collections.abc import Sequence

from hookline.actions.kinds import PATH_ARGUMENTS
from hookline.matching.file_rules import doubtful, from_root
from hookline.permissions.facts import CallFacts
from hookline.trust.project import is_inside

_MAGIC = re.compile(r"[*?\[{]")


def paths_of(facts: CallFacts) -> tuple[str, ...] | None:
    """Return the paths a call names, with the real one where it is known; None when they are not clear."""
    found: list[str] = []
    for name in PATH_ARGUMENTS:
        value = facts.tool_input.get(name)
        if value is None or value == "":
            continue
        if not isinstance(value, str):
            return None
        found.append(value)
    if facts.tool_name == "Glob":
        start = _start_of_pattern(facts)
        if start is None:
            return None
        found.append(start)
    if facts.real_path is not None:
        found.append(facts.real_path)
    return tuple(found)


def _start_of_pattern(facts: CallFacts) -> str | None:
    """Return the directory a file pattern starts from; None when it can lead anywhere."""
    pattern = facts.tool_input.get("pattern", "")
    path = facts.tool_input.get("path") or "."
    if not isinstance(pattern, str) or not isinstance(path, str) or ".." in pattern:
        return None
    plain = _MAGIC.split(pattern, maxsplit=1)[0].rpartition("/")[0]
    if pattern.startswith(("~", "{")):
        return None
    return posixpath.join(path, plain or ("/" if pattern.startswith("/") else "."))


def all_inside(paths: Sequence[str], cwd: str, directories: Sequence[str]) -> bool:
    return all(inside(path, cwd, directories) for path in paths)


def inside(path: str, cwd: str, directories: Sequence[str]) -> bool:
    """Return True if the path is certainly in one of the directories."""
    if doubtful(path):
        return False
    whole = from_root(path, cwd)
    return whole is not None and any(is_inside(whole, directory) for directory in directories)
