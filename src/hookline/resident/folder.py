"""The folder with the resident's socket: where it is, and that nobody else can answer or read there.

Its place depends on the user alone, never on a variable: settings of a project can set those for its agent's hooks.
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


class FolderError(HooklineError):
    """A folder that cannot be used; the message says why."""


def default_folder() -> str:
    """`/run/user/UID/hookline` where the system has such a folder for the user, else `/tmp/hookline-UID`."""
    runtime = f"/run/user/{os.getuid()}"
    try:
        found = os.lstat(runtime)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
            return f"{runtime}/hookline"
    except OSError:
        pass
    return f"/tmp/hookline-{os.getuid()}"  # noqa: S108 who it belongs to is checked


class Folder:
    """The folder, held open: whoever exchanges it afterwards changes nothing."""

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = descriptor

    @property
    def address(self) -> str:
        """The socket's, through the descriptor: paths of sockets may have only some 100 bytes."""
        held = f"/proc/self/fd/{self.descriptor}/{SOCKET}"
        return held if os.path.isdir("/proc/self/fd") else os.path.join(self.path, SOCKET)

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def open_folder(path: str | None = None, *, create: bool = False) -> Folder:
    """Raises FolderError if it is not there, or others could write to it."""
    path = path or default_folder()
    if not os.path.isabs(path):
        raise FolderError(f"the folder {path} of the resident must be an absolute path")
    if create:
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise FolderError(f"there is no folder {path}") from None
    except OSError as problem:
        raise FolderError(f"{path} cannot be used for the resident: {problem.strerror}") from None
    found = os.fstat(descriptor)
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        os.close(descriptor)
        raise FolderError(f"{path} belongs to another user, or others may use it; remove it or chmod 700 it")
    return Folder(path, descriptor)


def peer(connection: socket.socket) -> tuple[int, int]:
    """The process on the other side of a connection, and its user; 0 for a process that the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        pid, uid, _gid = struct.unpack(
            "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        )
        return pid, uid
    # The folder lets nobody else in.
    return 0, os.getuid()


def connect(folder: Folder, seconds: float = 5.0) -> socket.socket:
    """A connection to the resident. Raises OSError where there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(folder.address)
        own = peer(connection)[1] == os.getuid()
    except BaseException:
        connection.close()
        raise
    if not own:
        connection.close()
        raise PermissionError("the resident runs as another user")
    return connection
