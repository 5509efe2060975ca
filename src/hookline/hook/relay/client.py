"""Relay a call in Python, for installations without a compiler: it does what `relay.c` does, step by step.

It is run by `python -I -S` and imported alone, without its package: only modules built into the interpreter
may be imported, and few of those, because starting it is nearly all that it costs.
"""

import posix
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket
    import signal as _signal
    from collections.abc import Sequence
    from typing import NoReturn
else:
    import _signal

# The same limits as in relay.c.
_MOST_INPUT = (64 << 20) + 1
_MOST_FRAME = 256 << 20
_PATIENCE = 5.0
_CHUNK = 1 << 18
_HEADER = 5
_BLOCKED = 2
_FAILED = 1
_INSTALL = ": install hookline again, or remove its entries from the hooks of this agent"

# As in relay.c.
_BOOT = r"""
import sys
_, unanswered, consequence, script = sys.argv[:4]
del sys.argv[:3]
sys.path.append('%s/../lib/python%d.%d/site-packages' % (script.rpartition('/')[0], *sys.version_info[:2]))
try:
    exec(compile(open(script, 'rb').read(), script, 'exec'), {'__name__': '__main__', '__file__': script})
except ImportError as problem:
    text = f'hookline-relay: {script} cannot be run ({problem}){consequence}'
    sys.exit(sys.stderr.write(text + '@INSTALL@\n') and int(unanswered))
""".replace("@INSTALL@", _INSTALL)

Answer = tuple[int, bytes, bytes, bytes]


class LostError(Exception):
    """The daemon said nothing, or nothing that can be understood."""


class Relay:
    """One call. `programs` is the directory of `hookline`, `version` that of the package."""

    def __init__(self, programs: str, version: str, words: "Sequence[str]") -> None:
        self._program = f"{programs}/hookline"
        self._version = version.encode()
        self._words = list(words)
        self._input: bytes | None = None
        self._directory = ""
        self._environment = _environment()

    def run(self) -> "NoReturn":
        if self._words[:1] == ["--daemon"]:
            self._directory = self._words[1] if len(self._words) > 1 else ""
            if not self._directory.startswith("/"):
                _refuse((), "--daemon must name a directory by its absolute path")
            del self._words[:2]
        if _call(self._words) is None or any(map(posix.isatty, (0, 1, 2))):
            # With a terminal, a person calls; only the program itself records that.
            self._in_process(None)
        try:
            self._input = _read_input()
        except OSError:  # the program itself reports its error
            self._in_process(None)
        answer = self._ask(self._directory or _usual_directory(), self._input)
        if isinstance(answer, str):
            self._in_process(answer)
        _give(*answer)

    def _ask(self, directory: str, given: bytes) -> Answer | str:
        """Return the answer of the daemon, or the reason why the call must be made in process."""
        connection, reason = _reach(directory)
        if connection is None:
            return reason
        sent = _send(connection, self._request(given))
        if not sent:
            # A daemon that is too busy may say so and close before it has read everything.
            connection.settimeout(0)
        received = bytearray()
        try:
            kind, body = read_frame(connection, received)
            if kind == b"V":
                return refusal(body)
            answer = read_answer(body)
            if not sent:
                return "lost"
            if kind == b"B":
                connection.sendall(b"G")
        except (LostError, OSError):
            return "lost"
        # From 'G' on hooks may have run: never again in process.
        return answer if kind == b"A" else _last_answer(connection, received) or answer

    def _request(self, given: bytes) -> bytes:
        try:
            directory = posix.getcwdb()
        except OSError:
            directory = b""
        words = [word.encode("utf-8", "surrogateescape") for word in self._words]
        parts = [
            _text(self._version), _text(directory if directory.startswith(b"/") else b""),
            _number(len(words)), *map(_text, words),
            _number(len(self._environment)), *map(_text, self._environment), _number(len(given)), given,
        ]  # fmt: skip
        return b"".join((b"HKRELAY1", _number(sum(map(len, parts))), *parts))

    def _in_process(self, reason: str | None) -> "NoReturn":
        """Run `hookline` with the input that was read. Without a reason the daemon must not be asked."""
        if self._input is not None:
            try:
                _input_again(self._input)
            except OSError:
                _refuse(self._words, f"its input cannot be passed on to {self._program}")
        env = dict(entry.split(b"=", 1) for entry in self._environment if b"=" in entry[1:])
        env.pop(b"HOOKLINE_RELAY", None)
        if reason is not None:
            # A daemon is to be started where it was looked for.
            place = [self._directory.encode("utf-8", "surrogateescape")] if self._directory else []
            env[b"HOOKLINE_RELAY"] = b" ".join([reason.encode(), *place])
        try:
            if not posix.access(self._program, posix.X_OK):
                raise FileNotFoundError if not posix.access(self._program, posix.F_OK) else PermissionError
            code, consequence = _unanswered(self._words)
            boot = [sys.executable, "-I", "-c", _BOOT, str(code), consequence]
            words = [*boot, self._program, *self._words]
            posix.execve(sys.executable, words, env)
        except (OSError, ValueError) as problem:
            gone = isinstance(problem, FileNotFoundError)
            what = f"{self._program} {'is not there' if gone else 'cannot be run'}"
            _refuse(self._words, what, _INSTALL)


def main(programs: str, version: str, words: "Sequence[str]") -> "NoReturn":
    _default_interrupt()
    try:
        Relay(programs, version, words).run()
    except MemoryError:
        _refuse(words, "there is not enough memory")
    except Exception as problem:  # noqa: BLE001 whatever is wrong here, an agent must not take it for a pass
        _refuse(words, f"it broke ({type(problem).__name__}: {problem})")


def _default_interrupt() -> None:
    """Let an interrupt end the relay, as with other programs, unless it is ignored."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


def _environment() -> list[bytes]:
    """Return the environment as it was given: the interpreter may have added to its own, and has no order."""
    try:
        file = posix.open("/proc/self/environ", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return [name + b"=" + value for name, value in posix.environ.items()]
    parts: list[bytes] = []
    while part := posix.read(file, _CHUNK):
        parts.append(part)
    posix.close(file)
    return b"".join(parts).split(b"\0")[:-1]


def _call(words: "Sequence[str]") -> "tuple[str, str] | None":
    """Return the dialect and the event of a call of an agent, with options that the daemon knows; None for all else,
    which is for the program itself."""
    if words[:1] != ["hook"]:
        return None
    dialect: str | None = None
    events: list[str] = []
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if word in ("--dialect", "--config", "--from", "--home", "--hooks", "--scope"):
            if not rest or rest[0].startswith("-"):
                return None
            value = rest.pop(0)
            dialect = value if word == "--dialect" else dialect
        elif word.startswith("--dialect="):
            dialect = word.partition("=")[2]
        elif not word.startswith("-"):
            events.append(word)
        elif word != "--strict" and not word.startswith(
            ("--config=", "--from=", "--home=", "--hooks=", "--scope=")
        ):
            return None
    return None if dialect is None else (dialect, events[0] if len(events) == 1 else "")


def _unanswered(words: "Sequence[str]") -> tuple[int, str]:
    """Return how a call ends that nobody answers, and the words for it: it is blocked, except at an event that
    guards nothing."""
    words = words[2:] if words[:1] == ["--daemon"] else words
    pair = "\n%s %s\n" % (_call(words) or ("", ""))
    try:
        with open(__file__.rpartition("/")[0] + "/observed.txt") as file:
            observed = pair in "\n" + file.read()
    except (OSError, ValueError):
        observed = False
    return (_FAILED, ", so no hook was asked") if observed else (_BLOCKED, ", so this was blocked")


def _read_input() -> bytes:
    parts: list[bytes] = []
    left = _MOST_INPUT
    while left:
        try:
            part = posix.read(0, min(left, _CHUNK))
        except BlockingIOError:  # some agents pass a non-blocking stream
            _wait(0, for_input=True)
            continue
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _wait(stream: int, *, for_input: bool) -> None:
    import select  # rarely needed

    select.select([stream] if for_input else [], [] if for_input else [stream], [])


def _input_again(given: bytes) -> None:
    """Make the input standard input again."""
    if hasattr(posix, "memfd_create"):
        file = posix.memfd_create("hookline-relay", posix.MFD_CLOEXEC)
    else:
        name = f"/tmp/hookline-relay-{posix.urandom(16).hex()}"  # noqa: S108 new, our own alone, and removed at once
        file = posix.open(name, posix.O_RDWR | posix.O_CREAT | posix.O_EXCL | posix.O_CLOEXEC, 0o600)
        posix.unlink(name)
    if not _written(file, given):
        raise OSError
    posix.lseek(file, 0, 0)
    posix.dup2(file, 0)
    if file != 0:
        posix.close(file)


# The connection


def _usual_directory() -> str:
    """Return the directory, never from the environment: a project's settings can set that."""
    user = posix.geteuid()
    try:
        if _is_private(posix.lstat(f"/run/user/{user}")):
            return f"/run/user/{user}/hookline"
    except OSError:
        pass
    return f"/tmp/hookline-{user}"  # noqa: S108 it is used only if it is ours alone


def _is_private(found: posix.stat_result) -> bool:
    mode = found.st_mode
    return mode & 0o170000 == 0o040000 and found.st_uid == posix.geteuid() and not mode & 0o077


def _reach(directory: str) -> "tuple[_socket.socket | None, str]":
    """Return a connection to a daemon of the same user, or the reason why there is none."""
    only = posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        opened = _above_streams(posix.open(directory, getattr(posix, "O_PATH", posix.O_RDONLY) | only))
    except (OSError, ValueError):
        return None, "none"
    import _socket

    connection = None
    try:
        if _is_private(posix.fstat(opened)):
            connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
            if connection.fileno() <= 2:
                connection = _socket.socket(fileno=_above_streams(connection.detach()))
            connection.setblocking(False)
            connection.connect(_address(opened, directory))
            if _peer(connection) == posix.geteuid():
                connection.settimeout(_PATIENCE)
                return connection, ""
    except BlockingIOError:
        return None, "busy"
    except OSError:
        pass
    finally:
        posix.close(opened)
    return None, "none"


def _above_streams(descriptor: int) -> int:
    """Move a descriptor above the standard streams: these may be closed, and an answer must not be written
    into ours."""
    if descriptor > 2:
        return descriptor
    import fcntl  # rarely needed

    higher = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    posix.close(descriptor)
    return higher


def _address(opened: int, directory: str) -> str:
    """Return the socket in an open directory, which cannot be exchanged and whose path may be long."""
    inside = f"/proc/self/fd/{opened}"
    try:
        posix.stat(inside)
    except OSError:
        inside = directory
    return f"{inside}/relay"


def _peer(connection: "_socket.socket") -> int:
    import _socket

    if hasattr(_socket, "SO_PEERCRED"):
        found = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    else:  # struct xucred of LOCAL_PEERCRED: its version, then the user
        found = connection.getsockopt(0, 1, 76)
    return int.from_bytes(found[4:8], sys.byteorder)


def _send(connection: "_socket.socket", request: bytes) -> bool:
    """Send a request; return False if the other side stops reading, or speaks before it has read it all."""
    left = memoryview(request)
    while left:
        try:
            left = left[connection.send(left) :]
            if left:
                import select  # only for what does not fit into the connection at once

                spoke, _, _ = select.select([connection], [connection], [], _PATIENCE)
                if spoke:
                    return False
        except OSError:
            return False
    return True


def read_frame(connection: "_socket.socket", received: bytearray) -> tuple[bytes, bytes]:
    """Return the next frame; bytes after it stay in `received`. Raises `LostError` or OSError."""
    while True:
        need = _HEADER
        if len(received) >= _HEADER:
            kind, size = bytes(received[:1]), int.from_bytes(received[1:_HEADER], "little")
            if kind not in (b"V", b"B", b"A") or size > _MOST_FRAME:
                raise LostError
            need += size
            if len(received) >= need:
                body = bytes(received[_HEADER:need])
                del received[:need]
                return kind, body
        part = connection.recv(_CHUNK)
        if not part:
            raise LostError
        received += part


def _last_answer(connection: "_socket.socket", received: bytearray) -> Answer | None:
    try:
        connection.settimeout(None)
        kind, body = read_frame(connection, received)
        return read_answer(body) if kind == b"A" else None
    except (LostError, OSError):
        return None


def read_answer(body: bytes) -> Answer:
    texts: list[bytes] = []
    at = 4
    for _ in range(3):
        start = at + 4
        at = start + int.from_bytes(body[at:start], "little")
        texts.append(body[start:at])
        if start > len(body):
            raise LostError
    code = int.from_bytes(body[:4], "little")
    if at != len(body) or code > 255:
        raise LostError
    return code, texts[0], texts[1], texts[2]


def refusal(words: bytes) -> str:
    return "version" if words.startswith(b"version") else "busy"


def _text(given: bytes) -> bytes:
    return _number(len(given)) + given


def _number(number: int) -> bytes:
    return number.to_bytes(4, "little")


# The agent's part


def _give(code: int, stdout: bytes, stderr: bytes, otherwise: bytes) -> "NoReturn":
    """Write the answer and exit. If a block cannot be written, the exit code alone must block."""
    if not _written(1, stdout) and otherwise:
        code, stderr = _BLOCKED, otherwise
    _written(2, stderr if not stderr or stderr.endswith(b"\n") else stderr + b"\n")
    _leave(code)


def _refuse(words: "Sequence[str]", what: str, todo: str = "") -> "NoReturn":
    """Refuse: neither the daemon nor the program can answer."""
    code, consequence = _unanswered(words)
    _written(2, f"hookline-relay: {what}{consequence}{todo}\n".encode("utf-8", "surrogateescape"))
    _leave(code)


def _written(stream: int, given: bytes) -> bool:
    left = memoryview(given)
    try:
        while left:
            try:
                left = left[posix.write(stream, left) :]
            except BlockingIOError:
                _wait(stream, for_input=False)
    except OSError:
        return False
    return True


def _leave(code: int) -> "NoReturn":
    """Exit without tearing down the interpreter, which would cost as much as the rest."""
    posix._exit(code)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
