"""Where the agent works, read from the system and from files: no process is started."""

import os
from typing import Any

from hookline.handlers.builtins.files import read_start, upward
from hookline.model.answers import context
from hookline.model.outcome import Outcome
from hookline.model.scene import Scene


def add_environment_info(_args: tuple[str, ...], _payload: Any, scene: Scene) -> Outcome:
    cwd = scene.cwd or os.getcwd()
    system = os.uname()
    return context(
        "Environment:\n"
        f"- Working directory: {cwd}\n"
        f"- Operating system: {system.sysname} {system.release}\n"
        f"- Architecture: {system.machine}\n"
        f"- Git repository: {_git(cwd)}"
    )


def _git(cwd: str) -> str:
    """`no`, or `yes` with the branch."""
    for directory in upward(cwd, None):
        marker = os.path.join(directory, ".git")
        if not os.path.exists(marker):
            continue
        try:
            head = _text(os.path.join(_git_directory(marker), "HEAD"))
        except OSError:
            head = ""
        if not head:
            return "yes"
        branch = head.removeprefix("ref: refs/heads/")
        return f"yes, branch {branch}" if branch != head else f"yes, at commit {head[:12]}"
    return "no"


def _git_directory(marker: str) -> str:
    """In a worktree or a submodule `.git` is a file that names the real directory."""
    if os.path.isdir(marker):
        return marker
    named = _text(marker).removeprefix("gitdir:").strip()
    return os.path.join(os.path.dirname(marker), named)


def _text(path: str) -> str:
    lines = read_start(path, 4096).decode("utf-8", "replace").splitlines()
    return lines[0].strip() if lines else ""
