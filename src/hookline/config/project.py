"""The project a directory belongs to, and under which name the user's trust in it is kept."""

import os

from hookline.dialects.dialect import upward

#: No line of git's own small files is longer.
_MOST = 4096


def project_root(cwd: str) -> str:
    """The root of the repository, as a real path; outside of one the directory itself."""
    return os.path.realpath(upward(os.path.abspath(cwd))[-1])


def trust_root(root: str) -> str:
    """The directory that trust is kept under: worktrees share that of their repository.

    Any directory can claim to be a worktree of a trusted repository, so the repository has to name it, too.
    """
    named = _line(os.path.join(root, ".git")).removeprefix("gitdir:").strip()
    if not named:
        return root
    own = os.path.realpath(os.path.join(root, named))
    back = _line(os.path.join(own, "gitdir"))
    common = os.path.realpath(os.path.join(own, _line(os.path.join(own, "commondir")) or "."))
    listed = os.path.dirname(own) == os.path.join(common, "worktrees")
    known = back and os.path.realpath(os.path.join(own, back)) == os.path.join(root, ".git")
    if not (listed and known and os.path.basename(common) == ".git"):
        return root
    return os.path.dirname(common)


def is_inside(file: str, directory: str) -> bool:
    """Whether a path is the directory or below it. Both are real paths."""
    return file == directory or file.startswith(directory.rstrip(os.sep) + os.sep)


def _line(file: str) -> str:
    """The first line of a small regular file; nothing for anything else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _MOST).decode("utf-8", "replace")
    except OSError:  # a directory
        return ""
    finally:
        os.close(descriptor)
    return text.partition("\n")[0].strip()
