"""Write the filter programs that the kernel runs at each system call of a guarded tree."""

import errno
import socket
import struct
from collections.abc import Iterator
from functools import cache
from typing import Final

from hookline.execguard.kernel import IO_URING_SETUP, Architecture

_LOAD: Final = 0x20
_IF_EQUAL: Final = 0x15
_IF_NOT_BELOW: Final = 0x35
_IF_ANY_BIT: Final = 0x45
_AND: Final = 0x54
_RETURN: Final = 0x06
_NUMBER: Final = 0
_ARCH: Final = 4
_ALLOW: Final = 0x7FFF0000
_NOTIFY: Final = 0x7FC00000
_ERROR: Final = 0x00050000
_FASTOPEN: Final = 0x20000000
_TYPES: Final = 0xF
#: Options by which packets take another way than their address says, by level: source routes.
_DETOURS: Final = {socket.IPPROTO_IP: (4,), socket.IPPROTO_IPV6: (5, 6, 57)}


@cache
def guard_filter(machine: Architecture, *, network: bool = False) -> bytes:
    """Return a filter that reports each exec; with a network wall also each `connect`.

    Calls of a third set (x32) and of unknown architectures are refused.
    """
    third: list[bytes] = []
    if machine.third_from:
        third = [_op(_IF_NOT_BELOW, 0, 1, machine.third_from), _op(_RETURN, 0, 0, _ERROR | errno.ENOSYS)]
    report = [_op(_RETURN, 0, 0, _NOTIFY)]
    own = [*third, *_when(machine.execve, report), *_when(machine.execveat, report)]
    old = [op for number in machine.old_execs for op in _when(number, report)]
    if network:
        own += _network(machine)
        old += [op for number in machine.old_sockets for op in _when(number, [_refuse(errno.ENOSYS)])]
    own = [_op(_LOAD, 0, 0, _NUMBER), *own, _allow()]
    old = [_op(_LOAD, 0, 0, _NUMBER), *old, _allow()]
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


def _network(machine: Architecture) -> list[bytes]:
    """Return the rows of the network wall: which sockets there are, and what could go around `connect`."""
    calls = machine.sockets
    flags = ((calls.sendto, 3), (calls.sendmsg, 2), (calls.sendmmsg, 3))
    # It connects and sends at once.
    slow = [_op(_IF_ANY_BIT, 0, 1, _FASTOPEN), _refuse(errno.EOPNOTSUPP), _allow()]
    return [
        *_when(calls.connect, [_op(_RETURN, 0, 0, _NOTIFY)]),
        *_when(calls.socket, _sockets()),
        *(op for number, at in flags for op in _when(number, [_argument(at), *slow])),
        *_when(calls.setsockopt, [_argument(1), *_detours(), _allow()]),
        # Calls that are made through it pass no filter.
        *_when(IO_URING_SETUP, [_refuse(errno.ENOSYS)]),
    ]


def _sockets() -> list[bytes]:
    """Return the rows about `socket`: local ones, TCP, and the one by which programs list interfaces."""
    stream = [
        _argument(2),
        *_when(0, [_allow()]),
        *_when(socket.IPPROTO_TCP, [_allow()]),
        _refuse(errno.EPROTONOSUPPORT),
    ]
    internet = [
        _argument(1), _op(_AND, 0, 0, _TYPES), *_when(socket.SOCK_STREAM, stream), _refuse(errno.EPERM),
    ]  # fmt: skip
    netlink = [_argument(2), *_when(0, [_allow()]), _refuse(errno.EPROTONOSUPPORT)]
    return [
        _argument(0),
        *_when(socket.AF_UNIX, [_allow()]),
        *_when(socket.AF_INET, internet),
        *_when(socket.AF_INET6, internet),
        *_when(16, netlink),
        _refuse(errno.EAFNOSUPPORT),
    ]


def _detours() -> Iterator[bytes]:
    for level, options in _DETOURS.items():
        refused = [op for option in options for op in _when(option, [_refuse(errno.EPERM)])]
        yield from _when(level, [_argument(2), *refused, _allow()])


def _when(value: int, then: list[bytes]) -> list[bytes]:
    """Do something if the loaded value is this one. `then` must return in every case."""
    return [_op(_IF_EQUAL, 0, len(then), value), *then]


def _argument(at: int) -> bytes:
    """Load the lower half of an argument: the kernel takes no more of these."""
    return _op(_LOAD, 0, 0, 16 + 8 * at)


def _allow() -> bytes:
    return _op(_RETURN, 0, 0, _ALLOW)


def _refuse(number: int) -> bytes:
    return _op(_RETURN, 0, 0, _ERROR | number)


def _op(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
