"""Files and folders that are this user's alone, and this process's while it works with them."""

import os
import stat

_FLAGS = os.O_RDWR | os.O_APPEND | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
)  # fmt: skip


class NotOursError(Exception):
    """Something is in the file's place, or somebody works with it; the message says which."""


def private_folder(folder: str) -> None:
    """Make it and what is missing above it, for this user alone."""
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    if above != folder:
        private_folder(above)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass


def opened_for_appending(path: str, create: int) -> int:
    """A descriptor, locked. `create` is O_CREAT, O_EXCL or 0. Raises NotOursError, OSError or ValueError."""
    if create:
        private_folder(os.path.dirname(path))
    fd = os.open(path, _FLAGS | create, 0o600)
    problem = _unusable(fd)
    if problem is not None:
        os.close(fd)
        raise NotOursError(f"{problem}: {path}")
    return fd


def _unusable(fd: int) -> str | None:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return "this is not a regular file"
    return None if _locked(fd) else "another process works with this session"


def _locked(fd: int) -> bool:
    import fcntl  # noqa: PLC0415 - not on Windows

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # A file system without locks: two at once are then the user's own doing.
        return True
    return True
