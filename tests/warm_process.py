"""`hookline` as a real process that does not have to load everything first.

One process per test worker has the program loaded, and forks for each command. The command has its own streams,
directory, environment, signals and exit status; only the second that loading takes is saved. What the start itself
does is tested with `fresh` processes, and measured by `make bench`.
"""

import atexit
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
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
_SERVER = """
import gc, importlib, json, os, pkgutil, signal, socket, sys, time
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
gc.collect()
gc.freeze()
link = socket.socket(fileno=int(sys.argv[1]))
while True:
    request, streams, _, _ = socket.recv_fds(link, 1 << 24, 3)
    if not request:
        os._exit(0)
    while not request.endswith(b"\\n"):
        request += link.recv(1 << 24)
    child = os.fork()
    if not child:
        asked = json.loads(request)
        link.close()
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
        sys.argv = [hookline.app.__file__, *asked["words"]]
        hookline.app.main()
    for stream in streams:
        os.close(stream)
    link.sendall(f"{child}\\n".encode())
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    link.sendall(f"{status}\\n".encode())
"""


class Ran(Struct, frozen=True):
    status: int
    stdout: bytes
    stderr: bytes


class _Server:
    def __init__(self) -> None:
        self._link, theirs = socket.socketpair()
        # What the interpreter itself reads at its start must be as the commands will have it.
        env = {"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONUTF8": "1", "TZ": "UTC"}
        code = f"HEAVY = {_HEAVY!r}\n{_SERVER}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env=env,
            stdin=subprocess.DEVNULL,
            cwd=Path(__file__).parents[1],
        )
        theirs.close()
        self._answers = self._link.makefile("rb")
        self._lock = threading.Lock()
        atexit.register(self.close)

    def start(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """The number of the process."""
        self._lock.acquire()
        socket.send_fds(self._link, [json.dumps(request).encode() + b"\n"], list(streams))
        return int(self._answers.readline())

    def wait(self) -> int:
        """Its exit status, once it has ended."""
        try:
            return int(self._answers.readline())
        finally:
            self._lock.release()

    def close(self) -> None:
        self._answers.close()
        self._link.close()
        self._process.wait()


@cache
def _server() -> _Server:
    return _Server()


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
    server = _server()
    reads, writes = zip(*(os.pipe() for _ in range(3)), strict=True)
    request = {"words": at_home(words, env), "cwd": str(cwd), "env": dict(env), "closed": list(closed)}
    pid = server.start(request, (reads[0], writes[1], writes[2]))
    for ours in (reads[0], writes[1], writes[2]):
        os.close(ours)
    try:
        output = _communicate(writes[0], reads[1:], stdin, timeout)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        server.wait()
        raise subprocess.TimeoutExpired(list(words), timeout) from None
    return Ran(server.wait(), *output)


def _communicate(into: int, out_of: Sequence[int], stdin: bytes, timeout: float) -> list[bytes]:
    """What came out until both streams ended. Threads, because any of the three may wait for another."""
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
