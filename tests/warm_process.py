"""`hookline` as a real process that does not have to load everything first.

One process per test worker has the program loaded, and forks for each command. The command has its own streams,
directory, environment, signals and exit status; only the second that loading takes is saved. Shells get such commands
with `warm_path`. What the start itself does is tested with `fresh` processes, and measured by `make bench`.
"""

import atexit
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.homes import at_home

#: What takes seconds to load, and hardly any command needs.
_HEAVY = ("pydantic_ai", "mcp", "openai", "anthropic", "google", "opentelemetry", "uvicorn")

# A request is one JSON line with the descriptors of the three streams; the answers are the pid, then the status.
# Patterns that a command has compiled are compiled here as well: that takes many commands most of their time.
_SERVER = """
import gc, importlib, json, os, pkgutil, re, select, signal, socket, sys, time
for heavy in HEAVY:
    sys.modules[heavy] = None
from tests.homes import hide_own_home
hide_own_home()
import hookline, hookline.app
for module in pkgutil.walk_packages(hookline.__path__, "hookline."):
    try:
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    except ImportError:
        for name in [name for name in sys.modules if name == module.name]:
            del sys.modules[name]
for heavy in HEAVY:
    del sys.modules[heavy]
re._MAXCACHE = 5000
gc.collect()
gc.freeze()
listener = socket.socket(fileno=int(sys.argv[1]))
lessons, report = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
lessons.setblocking(False)
report.setblocking(False)
running, clients = {}, {}
poll = select.poll()
for descriptor in (0, listener.fileno(), lessons.fileno()):
    poll.register(descriptor, select.POLLIN)

def command(asked, streams):
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number in asked["closed"]:
        os.close(number)
        setattr(sys, ("stdin", "stdout", "stderr")[number], None)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    time.tzset()
    known, leave = set(re._cache), os._exit
    def reported(status):
        new = [key[1:] for key in re._cache if key not in known and key[0] is str]
        try:
            report.send(json.dumps(new).encode())
        except OSError:
            pass
        leave(status)
    os._exit = reported
    sys.argv = [hookline.app.__file__, *asked["words"]]
    hookline.app.main()

def accept():
    connection, _ = listener.accept()
    request, streams, _, _ = socket.recv_fds(connection, 1 << 24, 3)
    while request and not request.endswith(b"\\n"):
        request += connection.recv(1 << 24)
    if not (child := os.fork()):
        for each in (listener, connection, lessons, *clients.values()):
            each.close()
        for each in running:
            os.close(each)
        command(json.loads(request), streams)
    for stream in streams:
        os.close(stream)
    watched = os.pidfd_open(child)
    running[watched], clients[connection.fileno()] = (child, connection), connection
    poll.register(watched, select.POLLIN)
    poll.register(connection, 0)  # only whether it was closed
    say(connection, child)

def ended(watched):
    poll.unregister(watched)
    os.close(watched)
    child, connection = running.pop(watched)
    say(connection, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if clients.pop(connection.fileno(), None):
        poll.unregister(connection)
    connection.close()

def left(descriptor):
    connection = clients.pop(descriptor)
    poll.unregister(descriptor)
    for child, theirs in running.values():
        if theirs is connection:
            os.kill(child, signal.SIGTERM)

def say(connection, number):
    try:
        connection.sendall(f"{number}\\n".encode())
    except OSError:
        pass

while True:
    for descriptor, _ in poll.poll():
        if descriptor == 0:
            os._exit(0)
        elif descriptor == listener.fileno():
            accept()
        elif descriptor == lessons.fileno():
            for pattern, flags in json.loads(lessons.recv(1 << 22)):
                re.compile(pattern, flags)
        elif descriptor in running:
            ended(descriptor)
        elif descriptor in clients:
            left(descriptor)
"""

# In place of `hookline` where a shell runs it; as little as there can be, because it starts each time.
_CLIENT = """\
#!{python} -IS
import _socket, posix, sys
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connection.connect({path!r})
from _json import encode_basestring_ascii as text
decode = lambda raw: raw.decode("utf-8", "surrogateescape")
env = ",".join(f"{{text(decode(name))}}:{{text(decode(value))}}" for name, value in posix.environ.items())
words = ",".join(map(text, sys.argv[1:]))
request = f'{{{{"words":[{{words}}],"cwd":{{text(posix.getcwd())}},"env":{{{{{{env}}}}}},"closed":[]}}}}\\n'.encode()
streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
sent = connection.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
connection.sendall(request[sent:])
answer = b""
while answer.count(b"\\n") < 2 and (more := connection.recv(100)):
    answer += more
posix._exit(int(answer.split()[1]) % 256)
"""


class Ran(Struct, frozen=True):
    status: int
    stdout: bytes
    stderr: bytes


class _Server:
    def __init__(self) -> None:
        directory = tempfile.mkdtemp(prefix="hl-warm-", dir="/tmp")  # the path of a socket must be short
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        self._path = os.path.join(directory, "socket")
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self._path)
        listener.listen(64)
        # What the interpreter itself reads at its start must be as the commands will have it.
        env = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONUTF8": "1", "TZ": "UTC"}
        code = f"HEAVY = {_HEAVY!r}\n{_SERVER}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            env=env,
            stdin=subprocess.PIPE,
            cwd=Path(__file__).parents[1],
        )
        listener.close()
        self.bin = os.path.join(directory, "bin")
        os.mkdir(self.bin)
        program = Path(self.bin, "hookline")
        program.write_text(_CLIENT.format(python=sys.executable, path=self._path))
        program.chmod(0o755)
        Path(self.bin, "hookline-relay").symlink_to(Path(sys.executable).parent / "hookline-relay")
        atexit.register(self.close)

    def start(self, request: Mapping[str, Any], streams: Sequence[int]) -> "_Command":
        link = socket.socket(socket.AF_UNIX)
        link.connect(self._path)
        # The rest of a request that the socket does not take at once goes without the streams.
        raw = json.dumps(request).encode() + b"\n"
        sent = socket.send_fds(link, [raw], list(streams))
        link.sendall(raw[sent:])
        return _Command(link)

    def close(self) -> None:
        self._process.communicate()  # it ends when nobody can ask any more


class _Command:
    """A command that the server has started."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._answers = link.makefile("rb")
        self.pid = int(self._answers.readline())

    def wait(self) -> int:
        """Return its exit status, once it has ended."""
        with self._link, self._answers:
            return int(self._answers.readline())


@cache
def _server() -> _Server:
    return _Server()


def warm_path() -> str:
    """Return a directory for PATH, in which `hookline` is a command of the warm process."""
    return _server().bin


def run_warm(
    words: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    timeout: float = 60,
    closed: Sequence[int] = (),
) -> Ran:
    """Run `hookline WORDS`, without the streams `closed`. Raises subprocess.TimeoutExpired, like subprocess.run."""
    reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
    request = {"words": at_home(words, env), "cwd": str(cwd), "env": dict(env), "closed": list(closed)}
    command = _server().start(request, (reads[0], writes[1], writes[2]))
    for ours in (reads[0], writes[1], writes[2]):
        os.close(ours)
    try:
        output = _communicate(writes[0], reads[1:], stdin, timeout)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(command.pid, signal.SIGKILL)
        command.wait()
        raise subprocess.TimeoutExpired(list(words), timeout) from None
    return Ran(command.wait(), *output)


def _communicate(into: int, out_of: Sequence[int], stdin: bytes, timeout: float) -> list[bytes]:
    """Return the output until both streams ended. Threads, because any of the three may wait for another."""
    texts = [b"" for _ in out_of]

    def write() -> None:
        with contextlib.suppress(BrokenPipeError), open(into, "wb") as stream:
            stream.write(stdin)

    def read(number: int) -> None:
        with open(out_of[number], "rb") as stream:
            texts[number] = stream.read()

    threads = [threading.Thread(target=write, daemon=True)]
    threads += [threading.Thread(target=read, args=(number,), daemon=True) for number in range(len(out_of))]
    for thread in threads:
        thread.start()
    for thread in threads[1:]:
        thread.join(timeout)
        if thread.is_alive():
            raise TimeoutError
    return texts
