"""Open the directory with the daemon's socket, and make sure that no other user can answer or read there.

Its path depends on the user alone, never on a variable: settings of a project can set those for its agent's
hooks.
"""

import os
import socket
import stat
import struct
from contextlib import suppress

from hookline.model.errors import HooklineError

SOCKET = "relay"
#: A mark that a call has started a daemon; one that listens removes it.
TRIED = "tried"


class DirectoryError(HooklineError):
    """A directory that cannot be used; the message says why."""


def default_directory() -> str:
    """Return `/run/user/UID/hookline` where the system has such a directory for the user, else
    `/tmp/hookline-UID`."""
    runtime = f"/run/user/{os.getuid()}"
    try:
        found = os.lstat(runtime)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            return f"{runtime}/hookline"
    except OSError:
        pass
    return f"/tmp/hookline-{os.getuid()}"  # noqa: S108 who it belongs to is checked


class Directory:
    """The directory, held open: exchanging it afterwards changes nothing."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @property
    def address(self) -> str:
        """The socket's address, through the descriptor: paths of sockets may have only some 100 bytes."""
        held = f"/proc/self/fd/{self.descriptor}/{SOCKET}"
        return held if os.path.isdir("/proc/self/fd") else os.path.join(self.path, SOCKET)

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def open_directory(path: str | None = None, *, create: bool = False) -> Directory:
    """Open the directory. Raises DirectoryError if it does not exist, or others could write to it."""
    path = path or default_directory()
    if not os.path.isabs(path):
        raise DirectoryError(f"the daemon's directory {path} must be an absolute path")
    if create:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise DirectoryError(f"no such directory: {path}") from None
    except OSError as problem:
        raise DirectoryError(f"{path} cannot be used for the daemon: {problem.strerror}") from None
    found = os.fstat(descriptor)
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        os.close(descriptor)
        raise DirectoryError(
            f"{path} belongs to another user, or others may use it; remove it or chmod 700 it"
        )
    return Directory(path, descriptor)


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return the process on the other side of a connection, and its user; 0 for an unknown process."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        pid, uid, _gid = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        )
        return pid, uid
    # Other users cannot open the directory.
    return 0, os.getuid()


def connect(directory: Directory, seconds: float = 5.0) -> socket.socket:
    """Connect to the daemon. Raises OSError where there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(directory.address)
        own = peer(connection)[1] == os.getuid()
    except BaseException:
        connection.close()
        raise
    if not own:
        connection.close()
        raise PermissionError("the daemon runs as another user")
    return connection
