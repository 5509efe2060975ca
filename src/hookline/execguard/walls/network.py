"""Judge connections of a guarded tree, and make those that are allowed in its place.

A wall of three parts holds the network back. The filter (`hookline.execguard.filter`) leaves a command two kinds of
sockets that leave the machine or reach it: local ones and TCP. Landlock refuses every TCP connection that the command
makes itself. `connect` is reported to the supervisor, which reads the address once, judges its own copy, takes the
socket of the waiting task and connects it. So nothing that the task changes meanwhile, its memory or its descriptors,
leads elsewhere: what the supervisor does not connect stays unconnected.
"""

import ctypes
import errno
import ipaddress
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from hookline.execguard.kernel import Notification, answer, is_waiting, let_continue, libc, take_descriptor
from hookline.execguard.messages import Denied, NetworkWall

_LONGEST_ADDRESS: Final = 128
#: Seconds for which the addresses of names are good.
_FRESH: Final = 5.0
_DNS: Final = 53

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Connections:
    """The connections of one command."""

    def __init__(self, wall: NetworkWall) -> None:
        self._wall = wall
        self._networks = [network for host in wall.hosts if (network := _network(host)) is not None]
        self._names = [host for host in wall.hosts if _network(host) is None]
        self._known: set[Address] = set()
        self._resolved = 0.0
        self._lock = threading.Lock()
        self._servers = name_servers() if self._names else frozenset[Address]()
        self._denied: deque[Denied] = deque()
        #: Readable when a connection was denied.
        self.denials = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)

    def reported(self, listener: int, found: Notification) -> None:
        """Answer a `connect` that waits; one that takes time in a thread."""
        held = _taken_socket(found)
        raw = _internet_address(held, found) if held is not None else None
        if held is None or raw is None or not is_waiting(listener, found.id):
            if held is not None:
                held.close()
            # Landlock refuses it, if it would leave the machine.
            let_continue(listener, found.id)
            return
        address, port = _read(raw)
        if self._is_known(address, port) and not os.get_blocking(held.fileno()):
            self._connect(listener, found, held, raw)
        else:
            threading.Thread(
                target=self._decide, args=(listener, found, held, raw, address, port), daemon=True
            ).start()

    def said(self) -> list[Denied]:
        """Return the denials since the last call."""
        with suppress(BlockingIOError):
            os.eventfd_read(self.denials)
        return [self._denied.popleft() for _ in range(len(self._denied))]

    def _decide(
        self,
        listener: int,
        found: Notification,
        held: socket.socket,
        raw: bytes,
        address: Address | None,
        port: int,
    ) -> None:
        if self._is_known(address, port) or (self._names and self._is_named(address)):
            self._connect(listener, found, held, raw)
            return
        held.close()
        where = f"[{address}]:{port}" if isinstance(address, ipaddress.IPv6Address) else f"{address}:{port}"
        hosts = ", ".join(("loopback", *self._wall.hosts))
        said = f"The network wall lets it connect to {hosts} only."
        self._denied.append(Denied(f"connect to {where}", said, "network wall"))
        os.eventfd_write(self.denials, 1)
        answer(listener, found.id, error=errno.EPERM)  # last: the process may end at once

    def _connect(self, listener: int, found: Notification, held: socket.socket, raw: bytes) -> None:
        with held:
            failed = libc().connect(held.fileno(), raw, len(raw))
            answer(listener, found.id, error=ctypes.get_errno() if failed else 0)

    def _is_known(self, address: Address | None, port: int) -> bool:
        if address is None or address.is_loopback or address.is_unspecified:
            return True
        return (
            address in self._known
            or any(address in network for network in self._networks)
            or (port == _DNS and address in self._servers)
        )

    def _is_named(self, address: Address | None) -> bool:
        """Return True if a named host has this address now."""
        with self._lock:
            if address not in self._known and time.monotonic() - self._resolved > _FRESH:
                for name in self._names:
                    self._known |= addresses_of(name)
                self._resolved = time.monotonic()
            return address in self._known


def addresses_of(name: str) -> set[Address]:
    """Return the addresses of a host; none if it has no name here."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return set()
    return {_plain(ipaddress.ip_address(str(one[4][0]).partition("%")[0])) for one in found}


def name_servers(file: str = "/etc/resolv.conf") -> frozenset[Address]:
    """Return the servers by which this machine resolves names."""
    found: set[Address] = set()
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                words = line.split()
                if len(words) > 1 and words[0] == "nameserver":
                    found.add(_plain(ipaddress.ip_address(words[1].partition("%")[0])))
    except (OSError, ValueError):
        pass
    return frozenset(found)


def wrong_host(hosts: Sequence[str]) -> str | None:
    """Return what is wrong with hosts that a user named: addresses, networks or names, without a port."""
    for host in hosts:
        if _network(host) is None and (not host or set(host) & set("/:*@ ")):
            return f"{host!r} is not a host: write a name, an address or a network such as 10.0.0.0/8"
    return None


def _network(host: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(host, strict=False)
    except ValueError:
        return None


def _taken_socket(found: Notification) -> socket.socket | None:
    """Return the socket that a waiting task wants to connect; None if it has none there, or cannot be read."""
    try:
        taken = take_descriptor(found.tid, found.arguments[0] & 0xFFFFFFFF)
    except (OSError, OverflowError):
        return None
    try:
        return socket.socket(fileno=taken)
    except OSError:
        os.close(taken)
        return None


def _internet_address(held: socket.socket, found: Notification) -> bytes | None:
    """Return our copy of the address that a TCP socket is to be connected to; None for any other socket."""
    try:
        if held.family not in (socket.AF_INET, socket.AF_INET6) or held.type & 0xF != socket.SOCK_STREAM:
            return None
        memory = os.open(f"/proc/{found.tid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(
                memory, min(found.arguments[2] & 0xFFFFFFFF, _LONGEST_ADDRESS), found.arguments[1]
            )
        finally:
            os.close(memory)
    except (OSError, OverflowError):
        return None


def _read(raw: bytes) -> tuple[Address | None, int]:
    """Return address and port; no address where the kernel will not connect, or only disconnects."""
    family = int.from_bytes(raw[:2], "little") if len(raw) >= 2 else socket.AF_UNSPEC
    port = int.from_bytes(raw[2:4], "big")
    if family == socket.AF_INET and len(raw) >= 8:
        return ipaddress.IPv4Address(raw[4:8]), port
    if family == socket.AF_INET6 and len(raw) >= 24:
        return _plain(ipaddress.IPv6Address(raw[8:24])), port
    return None, port


def _plain(address: Address) -> Address:
    """Return the IPv4 address inside one of IPv6, if there is one."""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped if mapped is not None else address
