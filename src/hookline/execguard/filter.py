"""Write the filter programs that the kernel runs at each system call of a guarded tree."""

import errno
import struct
from collections.abc import Iterable, Iterator
from typing import Final

from hookline.execguard.kernel import Machine

_LOAD: Final = 0x20
_IF_EQUAL: Final = 0x15
_IF_NOT_BELOW: Final = 0x35
_RETURN: Final = 0x06
_NUMBER: Final = 0
_ARCH: Final = 4
_ALLOW: Final = 0x7FFF0000
_NOTIFY: Final = 0x7FC00000
_ERROR: Final = 0x00050000


def exec_filter(machine: Machine) -> bytes:
    """Return a filter that reports each exec. Calls of a third set (x32) and of unknown architectures are refused."""
    third: list[bytes] = []
    if machine.third_from:
        third = [_op(_IF_NOT_BELOW, 0, 1, machine.third_from), _op(_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    own = [*third, *_reported((machine.execve, machine.execveat))]
    old = [*_reported(machine.old_execs)]
    own = [_op(_LOAD, 0, 0, _NUMBER), *own, _op(_RETURN, 0, 0, _ALLOW)]
    old = [_op(_LOAD, 0, 0, _NUMBER), *old, _op(_RETURN, 0, 0, _ALLOW)]
    return b"".join(
        (
            _op(_LOAD, 0, 0, _ARCH),
            _op(_IF_EQUAL, 0, len(own), machine.arch),
            *own,
            _op(_IF_EQUAL, 0, len(old), machine.old_arch),
            *old,
            _op(_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        )
    )


def _reported(numbers: Iterable[int]) -> Iterator[bytes]:
    for number in numbers:
        yield _op(_IF_EQUAL, 0, 1, number)
        yield _op(_RETURN, 0, 0, _NOTIFY)


def _op(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
