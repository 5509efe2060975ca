"""Where the files of a call are: inside the directories, outside them, or at a protected path."""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hookline.dialects.registry import standard_dialects
from hookline.matching.file_rules import doubtful, from_root
from hookline.permissions.facts import CallFacts

PATH_FIELDS = ("file_path", "notebook_path", "path")

_MAGIC = re.compile(r"[*?\[{]")

_HOOKS = "what is configured there runs on its own"
_SHELL_START = "every new shell runs it"


def _agent_folders() -> Iterator[str]:
    """Folders that only an agent has; a name with more parts or without a dot is too common to protect."""
    for listed in standard_dialects().values():
        yield from (name for name in listed.markers if name.startswith(".") and "/" not in name)


#: Writing here can make programs run later, so it is always asked. Case does not count.
PROTECTED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".git", ".husky", ".gitconfig", ".gitmodules"), "git runs programs named there"),
        **dict.fromkeys(_agent_folders(), _HOOKS),
        **dict.fromkeys((".codex", ".gemini", ".mcp.json"), _HOOKS),
        **dict.fromkeys((".vscode", ".idea"), "an editor runs tasks named there"),
        **dict.fromkeys((".bashrc", ".bash_profile", ".bash_login", ".bash_logout"), _SHELL_START),
        **dict.fromkeys((".bash_aliases", ".profile", ".kshrc", "config.fish"), _SHELL_START),
        **dict.fromkeys((".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout"), _SHELL_START),
        **dict.fromkeys(
            (".envrc", ".ssh"), "it gives access to this machine, or runs when the directory is entered"
        ),
    }
)


def paths_of(facts: CallFacts) -> tuple[str, ...] | None:
    """The paths a call names, with the real one where it is known; None when they are not clear."""
    found: list[str] = []
    for name in PATH_FIELDS:
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
    """The directory a file pattern starts from; None when it can lead anywhere."""
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
    """Whether the path is sure to be in one of the directories."""
    if doubtful(path):
        return False
    whole = from_root(path, cwd)
    return whole is not None and any(_below(whole, directory) for directory in directories)


def _below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def below_worktree(path: str, facts: CallFacts) -> str:
    """The path inside a worktree: that lies at a protected path, but its files are the project's."""
    whole = from_root(path, facts.cwd)
    if not facts.worktree or doubtful(path) or whole is None or not _below(whole, facts.worktree):
        return path
    return whole[len(facts.worktree) :]


def protected_part(path: str) -> str | None:
    """The part of the path that is protected, as the table spells it."""
    for text in (path, posixpath.normpath(path)):
        for segment in text.split("/"):
            # Some file systems treat these as the name without them.
            name = segment.casefold().rstrip(" .").partition(":")[0]
            if name in PROTECTED:
                return name
    return None
