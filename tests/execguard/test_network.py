"""The network wall: nothing of a command reaches a host that is not named, by any call and by no race."""

import errno
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.execguard.messages import NetworkWall
from hookline.execguard.probe import capabilities
from hookline.execguard.supervision import GuardedResult, Walls
from hookline.execguard.walls.network import name_servers, wrong_host
from tests.every import every
from tests.execguard.guarded import needs_verify, run
from tests.execguard.room import Attack, Room, attacks, play
from tests.waiting import wait_until

_found = capabilities()
pytestmark = [
    needs_verify,
    pytest.mark.skipif(
        bool(_found.network_why), reason=f"NO NETWORK WALL IS TESTED HERE: {_found.network_why}"
    ),
    pytest.mark.unmeasured,
]
_HERE = Path(__file__).parent
_EVIL = "evil.example"
#: A thousand of each run in `python -m bench.soak execguard`.
ATTEMPTS = 200


def own_address() -> str:
    """Return an address of this machine that is not loopback: a host as good as any other."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            found = probe.getsockname()[0]
        except OSError:
            found = ""
    if not found or found.startswith("127."):
        pytest.skip("NO NETWORK WALL IS TESTED HERE: this machine has loopback addresses only")
    return found


class Listener:
    """A TCP listener that counts who comes, and a UDP socket that keeps what it gets."""

    def __init__(self, host: str, port: int = 0) -> None:
        self.host = host
        self._tcp = socket.create_server((host, port))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((host, self.port))
        self._udp.setblocking(False)
        self.count = 0
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                reached, _peer = self._tcp.accept()
            except OSError:
                return
            self.count += 1
            reached.sendall(b"hello\n")
            reached.close()

    @property
    def datagrams(self) -> int:
        count = 0
        while True:
            try:
                self._udp.recv(100)
            except BlockingIOError:
                return count
            count += 1

    @property
    def name(self) -> str:
        return f"{self.host}:{self.port}"

    def close(self) -> None:
        self._tcp.shutdown(socket.SHUT_RDWR)
        self._tcp.close()
        self._udp.close()


@pytest.fixture
def near() -> Iterator[Listener]:
    made = Listener("127.0.0.1")
    yield made
    made.close()


@pytest.fixture
def far() -> Iterator[Listener]:
    made = Listener(own_address())
    yield made
    made.close()


def walled(directory: Path, line: str, *hosts: str) -> GuardedResult:
    return run(directory, line, walls=Walls(network=NetworkWall(hosts)))


_CTYPES = "import ctypes, errno, os, socket, struct, sys; c = ctypes.CDLL(None, use_errno=True);"
_ADDRESS = 'a = struct.pack("=H", 2) + struct.pack("!H", {port}) + socket.inet_aton("{host}") + bytes(8);'
#: Each reaches the listener in its own way, if nothing stops it: TCP, or a datagram.
WAYS = {
    "bash": "exec 3<>/dev/tcp/{host}/{port}; cat <&3",
    "curl": "curl -s -m 5 telnet://{host}:{port} </dev/null",
    "python": "python3 -c 'import socket; socket.create_connection((\"{host}\", {port}), 5)'",
    "without blocking": (
        "python3 -c 'import asyncio; asyncio.run(asyncio.open_connection(\"{host}\", {port}))'"
    ),
    "node": 'node -e \'require("net").connect({port}, "{host}").on("connect", () => process.exit(0))\'',
    "a mapped address": (
        "python3 -c 'import socket; s = socket.socket(socket.AF_INET6); s.connect((\"::ffff:{host}\", {port}))'"
    ),
    "fast open": (
        'python3 -c \'import socket; s = socket.socket(); s.sendto(b"x", 0x20000000, ("{host}", {port}))\''
    ),
    "fast open by sendmsg": (
        'python3 -c \'import socket; s = socket.socket(); s.sendmsg([b"x"], [], 0x20000000, ("{host}", {port}))\''
    ),
    "fast open at connect": (
        'python3 -c \'import socket; s = socket.socket(); s.setsockopt(6, 30, 1); s.connect(("{host}", {port}));'
        ' s.send(b"x")\''
    ),
    "a datagram": (
        'python3 -c \'import socket; s = socket.socket(2, 2); s.sendto(b"x", ("{host}", {port}))\''
    ),
    "a connected datagram": (
        'python3 -c \'import socket; s = socket.socket(2, 2); s.connect(("{host}", {port})); s.send(b"x")\''
    ),
    "a datagram of IPv6": (
        'python3 -c \'import socket; s = socket.socket(10, 2); s.sendto(b"x", ("::ffff:{host}", {port}))\''
    ),
    "another protocol": (
        "python3 -c 'import socket; s = socket.socket(2, 1, 262); s.connect((\"{host}\", {port}))'"
    ),
    "a raw socket": (
        "python3 -c 'import socket, struct; s = socket.socket(2, 3, 17);"
        ' s.sendto(struct.pack("!HHHH", 9, {port}, 9, 0) + b"x", ("{host}", 0))\''
    ),
    "a thread with descriptors of its own": (
        "python3 -c '" + _CTYPES + _ADDRESS + " import threading\n"
        "def go():\n c.unshare(0x400); s = socket.socket(); sys.exit(c.connect(s.fileno(), a, 16))\n"
        "t = threading.Thread(target=go); t.start(); t.join()'"
    ),
    "a process that cannot be read": (
        "python3 -c '" + _CTYPES + _ADDRESS + " c.prctl(4, 0, 0, 0, 0); s = socket.socket();"
        " sys.exit(c.connect(s.fileno(), a, 16))'"
    ),
    "a namespace of its own": (
        "unshare -r python3 -c 'import socket; socket.create_connection((\"{host}\", {port}), 5)'"
    ),
    "in the background": "(exec 3<>/dev/tcp/{host}/{port}; cat <&3) & wait",
}


@pytest.mark.parametrize("way", WAYS)
def test_no_way_leads_to_a_host_that_is_not_named(way: str, tmp_path: Path, far: Listener) -> None:
    line = WAYS[way].replace("{host}", far.host).replace("{port}", str(far.port))
    words = line.split()
    if shutil.which(words[0]) is None and not line.startswith(("exec", "(")):
        pytest.skip(f"{words[0]} is not here")

    walled(tmp_path, line)

    assert (far.count, far.datagrams) == (0, 0)
    run(tmp_path, line)
    if way != "another protocol":  # else it reaches nothing without a wall either
        wait_until(lambda: far.count + far.datagrams > 0)


@every("way", ["bash", "curl", "python", "without blocking", "a mapped address", "fast open at connect"])
def test_loopback_is_reached_as_without_a_wall(way: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    near = Listener("127.0.0.1")
    line = WAYS[way].replace("{host}", near.host).replace("{port}", str(near.port))

    done = walled(tmp_path_factory.mktemp("d"), line)

    assert (way, done.code, near.count) == (way, 0, 1)
    near.close()


def test_named_hosts_are_reached(tmp_path: Path, far: Listener) -> None:
    line = WAYS["bash"].replace("{host}", far.host).replace("{port}", str(far.port))

    assert walled(tmp_path, line, far.host).code == 0
    assert walled(tmp_path, line, f"{far.host}/24").code == 0
    assert walled(tmp_path, line, "203.0.113.7").code != 0
    assert far.count == 2


def test_a_name_stands_for_its_addresses(tmp_path: Path, far: Listener) -> None:
    name = socket.gethostname()
    if far.host not in {one[4][0] for one in socket.getaddrinfo(name, None)}:
        pytest.skip("the name of this machine has no address that is not loopback")
    line = WAYS["python"].replace("{host}", far.host).replace("{port}", str(far.port))

    assert walled(tmp_path, line, name).code == 0
    assert far.count == 1


@every("kind", ["address", "descriptor"])
def test_no_race_leads_to_it(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert raced(tmp_path_factory.mktemp("d"), kind, ATTEMPTS) == 0


@every("kind", ["address", "descriptor"])
def test_a_wall_that_lets_calls_continue_loses_so_the_test_bites(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    # A race needs luck, on a busy machine more of it.
    rounds = (raced(tmp_path_factory.mktemp("d"), kind, 5 * ATTEMPTS, naive=True) for _ in range(20))
    assert any(rounds)


def raced(directory: Path, kind: str, attempts: int, *, naive: bool = False) -> int:
    """Return how often the forbidden listener was reached."""
    near, far = Listener("127.0.0.1"), Listener(own_address())
    words = [sys.executable, str(_HERE / "connector.py"), kind, str(attempts), near.name, far.name]
    try:
        if naive:
            wall = [sys.executable, str(_HERE / "naive_wall.py"), far.host]
            subprocess.run([*wall, *words], check=True, capture_output=True, timeout=120)
        else:
            done = run(
                directory, words, walls=Walls(network=NetworkWall()), most_denials=10 * attempts, timeout=120
            )
            assert done.code == 0, done
            assert near.count > 0 or kind != "address", "nothing was connected at all"
        return far.count
    finally:
        near.close()
        far.close()


def uploads(directory: Path, *, behind_wall: bool) -> tuple[int, list[object]]:
    """Play uploads that text does not show; return how many there are, and those that reach their host."""
    host, room = own_address(), Room(directory / "ada")
    reached: list[object] = []
    several = [
        one
        for one in attacks("silent-network-upload")
        if _EVIL in str(one.steps) and "{" not in str(one.steps[0])
    ]
    walls = Walls(network=NetworkWall()) if behind_wall else Walls()
    listeners = [Listener(host, port) for port in (80, 4444)]
    try:
        for one in several:
            before = sum(each.count + each.datagrams for each in listeners)
            changed = Attack(one.kind, tuple(str(step).replace(_EVIL, host) for step in one.steps))
            list(play(room, [changed], (), walls))
            if sum(each.count + each.datagrams for each in listeners) > before:
                reached.append(one.steps)
    finally:
        for each in listeners:
            each.close()
    return len(several), reached


def test_code_that_is_not_a_call_of_a_library_finds_no_socket_either(tmp_path: Path) -> None:
    """By the numbers of the older architecture, and by a ring."""
    code = """
import ctypes, mmap, os, platform
c = ctypes.CDLL(None, use_errno=True)
c.syscall(425, 8, ctypes.create_string_buffer(200))
print("ring", ctypes.get_errno())
if platform.machine() == "x86_64":
    run = bytes.fromhex("53b867010000bb02000000b902000000ba00000000cd805bc3")  # socket(AF_INET, SOCK_DGRAM, 0)
    page = mmap.mmap(-1, 4096, prot=7)
    page.write(run)
    made = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    print("old", made)
import socket
s = socket.socket()
try:
    s.setsockopt(0, 4, bytes([131, 7, 4, 192, 0, 2, 1, 0]))
except PermissionError:
    print("no detour")
"""
    done = run(tmp_path, [sys.executable, "-c", code], walls=Walls(network=NetworkWall()))

    said = getattr(done.raw, "stdout", b"").decode().split("\n")
    assert said[0] == f"ring {errno.ENOSYS}"
    assert said[1] in (f"old -{errno.ENOSYS}", "no detour")
    assert "no detour" in said


def test_a_denied_connection_is_said_once_and_named(tmp_path: Path, far: Listener) -> None:
    line = f"exec 3<>/dev/tcp/{far.host}/{far.port}; exec 3<>/dev/tcp/{far.host}/{far.port}; exit 3"

    done = walled(tmp_path, line, "203.0.113.7")

    assert [one.rule for one in done.denied] == ["network wall"]
    assert f"connect to {far.name}" in done.notes[0]
    assert "loopback, 203.0.113.7 only" in done.notes[0]
    assert "use no UDP" in done.notes[-1]


def test_local_sockets_and_lists_of_interfaces_work(tmp_path: Path) -> None:
    code = """
import os, socket
server = socket.socket(socket.AF_UNIX); server.bind("s"); server.listen()
client = socket.socket(socket.AF_UNIX); client.connect("s")
one, other = socket.socketpair()
socket.send_fds(one, [b"x"], [client.fileno()])
print(socket.recv_fds(other, 10, 1)[0], bool(socket.if_nameindex()), socket.getaddrinfo("localhost", 80)[0][4][1])
"""
    done = run(tmp_path, [sys.executable, "-c", code], walls=Walls(network=NetworkWall(("localhost",))))

    assert (done.code, getattr(done.raw, "stdout", b"")) == (0, b"b'x' True 80\n")


def test_wrong_hosts_are_named() -> None:
    assert wrong_host(["example.org", "10.0.0.0/8", "::1", "localhost"]) is None
    for host in ("https://example.org", "example.org:443", "*.example.org", ""):
        assert "is not a host" in (wrong_host([host]) or "")


def test_name_servers_are_read(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("# x\nnameserver 192.0.2.53\nnameserver fe80::1%eth0\noptions use-vc\n")

    assert {str(one) for one in name_servers(str(tmp_path / "r"))} == {"192.0.2.53", "fe80::1"}
    assert name_servers(str(tmp_path / "missing")) == frozenset()
