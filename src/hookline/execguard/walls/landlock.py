"""Build file walls by Landlock: a command may write only below named directories, and not read hidden files.

Landlock can only grant. To hide a file, everything beside it is granted, level by level up to the root; so what is
created later directly beside a hidden file, or beside a directory above it, cannot be read by the same command.
Names in those directories stay visible.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from hookline.execguard.kernel import call, forbid_new_privileges
from hookline.execguard.messages import FileWall

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_BENEATH: Final = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_IOCTL_DEVICE: Final = 1 << 15
#: Remove, make, link and rename: rights of directories.
_CHANGE_DIR: Final = 0b1_1111_1111_0000
_REFER: Final = 1 << 13
_CONNECT_TCP: Final = 1 << 1
NETWORK_VERSION: Final = 4
#: Commands need these, and nothing in them lasts.
_DEVICES: Final = ("/dev", "/proc")


def version() -> tuple[int, str]:
    """Return the version of Landlock; 0 and why, without."""
    try:
        return call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(1)), ""
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            return 0, "Landlock is switched off when this kernel boots"
        return 0, "this kernel has no Landlock (Linux 5.13 has)"


def restrict(wall: FileWall) -> None:
    """Put the wall around this thread and everything it starts. Raises OSError."""
    supported, why = version()
    if not supported:
        raise OSError(why)
    writes = (
        _WRITE_FILE | _CHANGE_DIR | (_REFER if supported >= 2 else 0) | (_TRUNCATE if supported >= 3 else 0)
    )
    handled = (writes if wall.writes is not None else 0) | (_READ_FILE if wall.hidden else 0)
    if not handled:
        return
    with _rules(struct.pack("Q", handled)) as rules:
        for directory in (*(wall.writes or ()), *_DEVICES) if wall.writes is not None else ():
            _grant(rules, directory, writes)
        for path in readable(wall.hidden) if wall.hidden else ():
            _grant(rules, path, _READ_FILE)


def forbid_connecting() -> None:
    """Refuse all TCP connections of this thread and of everything it starts. Raises OSError."""
    if version()[0] < NETWORK_VERSION:
        raise OSError("this kernel's Landlock knows no network (Linux 6.7 does)")
    with _rules(struct.pack("QQ", 0, _CONNECT_TCP)):  # and grant nothing
        pass


@contextmanager
def _rules(handled: bytes) -> Generator[int]:
    """Make rules about these rights, and put them around this thread when they are filled."""
    form = ctypes.create_string_buffer(handled, len(handled))
    rules = call(_CREATE, form, ctypes.c_size_t(len(handled)), ctypes.c_uint(0))
    try:
        yield rules
        forbid_new_privileges()
        call(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint(0))
    finally:
        os.close(rules)


def readable(hidden: Sequence[str]) -> Iterator[str]:
    """Yield the paths to grant so that everything but the hidden files and directories can be read."""
    closed = {os.path.realpath(path) for path in hidden}
    above = {path[:at] or "/" for path in closed for at, letter in enumerate(path) if letter == "/"}

    def below(directory: str) -> Iterator[str]:
        try:
            names = os.listdir(directory)
        except OSError:
            return
        for name in names:
            path = os.path.join(directory, name)
            if path in above:
                yield from below(path)
            elif path not in closed and not os.path.islink(path):
                yield path

    yield from below("/")


def _grant(rules: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no right
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
        call(
            _ADD, ctypes.c_int(rules), ctypes.c_int(_BENEATH),
            ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor)), ctypes.c_uint(0),
        )  # fmt: skip
    finally:
        os.close(descriptor)
