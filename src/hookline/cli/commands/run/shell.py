"""Be the shell of another agent under the exec guard: `hookline run --shell bash -- -c LINE`.

An agent that lets its user choose its shell starts this for each command, after its own permission rules and
dialogs. The first call also starts a server beside the agent, which runs the next ones: an interpreter takes longer
to start than most commands. The server is a process of the agent's tree, and a call uses it only if both are
confined alike, so that a command can do no more than one that the agent started itself.
"""

import asyncio
import contextlib
import errno
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline import __version__
from hookline.cli.commands.run.command import CANNOT_RUN, NOT_FOUND, FollowedCommand
from hookline.cli.commands.run.run import decider_in, rules_in, run_alone
from hookline.cli.engines import command_engine
from hookline.cli.output import note
from hookline.config.home import HomeError, home_by_hand, projects_here
from hookline.dialects.registry import standard_dialects
from hookline.execguard.guard import SessionDecider
from hookline.execguard.judge import ExecRules, RuleRow
from hookline.execguard.messages import Denied, ExecQuestion, Reply, SupervisedCommand, receive
from hookline.execguard.probe import Level, capabilities
from hookline.execguard.ready import Supervisors
from hookline.execguard.supervision import MOST_DENIALS, CallContext, ExecDecider
from hookline.execguard.supervisor import refusal
from hookline.hook.daemon.directory import Directory, DirectoryError, open_directory, peer
from hookline.hook.daemon.protocol import (
    ANSWER,
    BEGINS,
    HEADER,
    MAGIC,
    MOST_BYTES,
    REFUSED,
    ProtocolError,
    RelayReply,
    RelayRequest,
    answer_frame,
    frame,
    read_request,
)
from hookline.hook.daemon.start import SWITCH
from hookline.model.safe_text import printable
from hookline.shell import ShellReader, ShellReading

SHELLS: Final = ("bash", "zsh")
_PLACES: Final = ("/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
_SOCKET: Final = "shell-{}"
_CHUNK: Final = 1 << 16
#: Seconds between the request to end and the kill; and until the next supervisor is made ready.
_GRACE: Final = 2.0
_REFILL_SECONDS: Final = 0.02
_LOST: Final = RelayReply(CANNOT_RUN, stderr=b"hookline: the exec guard ended, so the command was stopped")
_NOBODY: Final = (
    "Nobody can be asked while it runs. Write the command in the line itself: then it is asked about before."
)


class _LineDecider(ExecDecider):
    """Decides by the rules of a directory; what the line itself shows was asked about before it ran."""

    def __init__(self, decider: SessionDecider, line: str) -> None:
        self._decider = decider
        self._line = line

    @cached_property
    def reading(self) -> ShellReading:
        """The line, which is read only if it matters."""
        return ShellReader().read(self._line)

    @property
    def shown(self) -> tuple[tuple[str, ...], ...]:
        """The commands of the line, which guards over files have judged with what is around them."""
        return self.reading.known if self.rules.guards else ()

    @property
    def rules(self) -> ExecRules:
        return self._decider.rules

    @property
    def asks_always(self) -> bool:
        return self._decider.asks_always

    async def answer(self, question: ExecQuestion, call: CallContext) -> Reply:
        if question.finding is not None and self.reading.shows(question.argv):
            question = replace(question, finding=None)
        reply = await self._decider.answer(question, call)
        if reply.allow or question.finding is None:
            return reply
        return Reply(reply.id, False, f"{question.finding.reason} {_NOBODY}", reply.rule, reply.source)

    def denied(self, denied: Denied, call: CallContext) -> None:
        self._decider.denied(denied, call)


class _Shell(Struct, frozen=True):
    """One call of a shell: its words, and where and how the agent started it."""

    name: str
    words: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str

    @property
    def program(self) -> str:
        """The shell itself; empty if this machine has none of that name."""
        places = (os.path.join(place, self.name) for place in _PLACES)
        return next((file for file in places if os.access(file, os.X_OK)), "")

    @property
    def line(self) -> str:
        """The command line, behind `-c` and other options."""
        words = [word for word in self.words if not word.startswith("-")]
        return words[0] if words and "-c" in self.words else ""

    @property
    def session(self) -> str:
        """The agent's session, if it names it."""
        names = (listed.session_variable for listed in standard_dialects().values())
        return next((self.env[name] for name in names if name in self.env), "")

    def job(self, decider: _LineDecider, level: Level) -> SupervisedCommand:
        program = self.program
        # Programs that start the user's shell must not ask for a guard inside the guard.
        env = {**self.env, "SHELL": program}
        return SupervisedCommand(
            argv=(program, *self.words), program=program, env=env, cwd=self.cwd,
            mode="verify" if level == "verify" else "notify", trusts_first=True, shown=decider.shown,
            asks_always=decider.asks_always, most_denials=MOST_DENIALS, outlives=True,
        )  # fmt: skip


async def run_shell(name: str, words: Sequence[str]) -> int:
    """Run a shell's command without a server, and start one for the next."""
    # Not os.environ, whose HOME is the one that Hookline uses.
    shell = _Shell(name, tuple(words), _environment_of("self") or os.environ, os.getcwd())
    if name not in SHELLS or not shell.program:
        note(printable(f"hookline: there is no shell {name[:50]!r} here, so nothing was run"))
        return NOT_FOUND
    found = capabilities()
    if found.level == "none" and found.why == refusal(OSError(errno.EBUSY, "")):
        note(f"hookline: {found.why}: its rules hold here, and no others")
        env = {**shell.env, "SHELL": shell.program}
        os.execve(shell.program, [shell.program, *words], env)  # noqa: S606 the agent asked for a shell
    if found.level == "none":
        note(printable(f"hookline: the exec guard does not work here, so nothing was run: {found.why}"))
        return CANNOT_RUN
    agent = os.getppid()
    directory = _directory_of(agent)
    _use_home_of(agent)
    if os.environ.get(SWITCH) != "off":
        _start_server(agent)
    engine = command_engine(None, directory, origin="run")
    try:
        decider = _LineDecider(decider_in(engine, directory, shell.session, quiet=True), shell.line)
        if found.level == "notify":
            note(printable(f"hookline: programs are judged, but not verified: {found.why}"))
        return await run_alone(decider, shell.job(decider, found.level), CallContext(shell.line))
    finally:
        await engine.close()


def _directory_of(agent: int) -> str:
    """Return the directory in which the agent was started: its project, wherever its shell has gone since."""
    try:
        return os.readlink(f"/proc/{agent}/cwd")
    except OSError:
        return os.getcwd()


def _use_home_of(agent: int) -> None:
    """Use the home of the user who started the agent: settings of a project can set HOME for its commands, but not
    what the agent itself was started with. Raises HomeError."""
    found = home_by_hand(_environment_of(agent), lambda: projects_here(_directory_of(agent)))
    os.environ["HOME"] = found.path


def _environment_of(process: int | str) -> dict[str, str]:
    """Return the variables that a process was started with; none if they cannot be read."""
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            entries = os.fsdecode(file.read()).split("\0")
    except OSError:
        return {}
    return {name: value for name, equals, value in (each.partition("=") for each in entries) if equals}


def _start_server(agent: int) -> None:
    """Start a server for the agent, if it has none. Without one, commands have supervisors, too, only later."""
    with contextlib.suppress(OSError, DirectoryError):
        place = open_directory(create=True)
        try:
            if _is_served(_address(place, agent)):
                return  # it is confined otherwise than this call
        finally:
            place.close()
        words = [sys.executable, "-I", "-m", "hookline", "run", "--shell-server", str(agent)]
        nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
        actions = [nothing, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        os.posix_spawn(sys.executable, words, os.environ, file_actions=actions, setsid=True)


def _address(place: Directory, agent: int) -> str:
    """Return the address of the server's socket, through a directory that is held open."""
    return f"/proc/self/fd/{place.descriptor}/{_SOCKET.format(agent)}"


async def serve_shells(agent: int) -> int:
    """Run the commands of one agent's shell until the agent ends."""
    try:
        place = open_directory(create=True)
        _remove_left(place)
        watched = os.pidfd_open(agent)
        _use_home_of(agent)
    except (OSError, DirectoryError, HomeError):
        return CANNOT_RUN
    name = _address(place, agent)
    if _is_served(name):
        return 0
    server = _Server(agent)
    if server.level == "none":
        return CANNOT_RUN
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    draft = f"{name}.{os.getpid()}"
    listening.bind(draft)
    listening.listen(64)
    os.rename(draft, name)
    made = os.stat(name)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(watched, ended.set)
    loop.add_reader(listening, server.accept, listening)
    loop.add_signal_handler(signal.SIGCHLD, server.reap)
    try:
        await ended.wait()
    finally:
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(name), made):
                os.unlink(name)
        listening.close()
        await server.close()
    return 0


def _remove_left(place: Directory) -> None:
    """Remove the sockets of servers that were killed and whose agents have ended since."""
    for name in os.listdir(place.path):
        kind, _, number = name.partition("-")
        if f"{kind}-{{}}" == _SOCKET and not os.path.exists(f"/proc/{number.partition('.')[0]}"):
            os.unlink(name, dir_fd=place.descriptor)


def _is_served(name: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        try:
            trial.connect(name)
        except OSError:
            return False
    return True


class _Server:
    """Runs commands of one agent, each under a supervisor that is ready before."""

    def __init__(self, agent: int) -> None:
        self._agent = agent
        #: This process adds no filter of its own.
        self._filters = _facts_of("self")[1:]
        self._directory = _directory_of(agent)
        found = capabilities()
        self.level: Level = found.level
        self._why = found.why
        self._engine = command_engine(None, self._directory, origin="run")
        self._supervisors = Supervisors()
        self._children: set[int] = set()
        self._calls: set[asyncio.Task[None]] = set()
        with contextlib.suppress(OSError):
            self._supervisors.prepare(decider_in(self._engine, self._directory, quiet=True).rules)

    def accept(self, listening: socket.socket) -> None:
        try:
            accepted, _address = listening.accept()
        except OSError:
            return
        accepted.setblocking(False)
        task = asyncio.ensure_future(self._call(accepted))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    def reap(self) -> None:
        for pid in list(self._children):
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0] == 0:
                    continue
            self._children.discard(pid)

    async def close(self) -> None:
        for task in self._calls:
            task.cancel()
        self._supervisors.close()
        await self._engine.close()

    async def _call(self, connection: socket.socket) -> None:
        streams: list[int] = []
        try:
            process, user = peer(connection)
            if user != os.getuid():
                return
            # What the agent starts was judged by its line; what a guarded command asks for was not.
            is_agents = _facts_of(process) == (b"%d" % self._agent, *self._filters)
            # Meanwhile the relay compares how both are confined.
            rules = rules_in(self._engine, self._directory, quiet=True) if is_agents else None
            request = await _read(connection, streams)
            refused = frame(REFUSED, b"version")
            reply = refused if rules is None else await self._answer(connection, request, streams, *rules)
            await asyncio.get_running_loop().sock_sendall(connection, reply)
        except (OSError, ProtocolError, ValueError):
            pass  # the shell is gone, or it was none
        finally:
            connection.close()
            for descriptor in streams:
                os.close(descriptor)

    async def _answer(
        self,
        connection: socket.socket,
        request: RelayRequest,
        streams: list[int],
        deny: Sequence[RuleRow],
        ask: Sequence[RuleRow],
    ) -> bytes:
        words = request.words
        shell = _Shell(words[2] if len(words) > 2 else "", words[4:], request.env, request.directory)
        if request.version != __version__ or shell.name not in SHELLS or not shell.program or not shell.cwd:
            return frame(REFUSED, b"version")
        session = self._engine.session(shell.session or "run", cwd=self._directory, attended=False)
        decider = _LineDecider(SessionDecider(session, deny, ask), shell.line)
        job, rules = shell.job(decider, self.level), decider.rules
        loop = asyncio.get_running_loop()
        await loop.sock_sendall(connection, answer_frame(BEGINS, _LOST))
        # From here on the relay does not run the command itself: it has agreed to that with its request.
        try:
            pid, channel, early = self._supervisors.hand_over(
                job, rules, (streams[0], streams[1], streams[2])
            )
        except OSError:
            self._supervisors.close()  # the next call begins anew
            raise
        self._children.add(pid)
        said = os.dup(streams[2])
        try:
            command = FollowedCommand(
                decider, CallContext(shell.line), channel, lambda text: _tell(said, text)
            )
            if self.level == "notify":
                _tell(said, f"hookline: programs are judged, but not verified: {self._why}")
            for descriptor in streams:
                os.close(descriptor)
            streams.clear()
            code = await _end(command, connection, pid)
        finally:
            early.close()
            os.close(said)
        loop.call_later(_REFILL_SECONDS, self._supervisors.refill)
        return answer_frame(ANSWER, RelayReply(code))


async def _end(command: FollowedCommand, connection: socket.socket, supervisor: int) -> int:
    """Wait for the end of a command. If its shell is killed, the command is ended, too."""
    loop = asyncio.get_running_loop()
    ending = asyncio.ensure_future(command.end())
    gone = asyncio.ensure_future(loop.sock_recv(connection, 1))
    await asyncio.wait((ending, gone), return_when=asyncio.FIRST_COMPLETED)
    if not ending.done():
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(supervisor, number)
            await asyncio.wait((ending,), timeout=_GRACE)
            if ending.done():
                break
    gone.cancel()
    return await ending


def _facts_of(process: int | str) -> tuple[bytes, ...]:
    """Return the parent of a process, and how its system calls are filtered; nothing if it is gone."""
    try:
        # Without a buffer: a call waits for it.
        with open(f"/proc/{process}/status", "rb", buffering=0) as file:
            lines = file.readall().splitlines()
    except OSError:
        return ()
    return tuple(line.split()[-1] for line in lines if line.startswith((b"PPid:", b"Seccomp")))


def _tell(stream: int, text: str) -> None:
    with contextlib.suppress(OSError):
        os.write(stream, f"{text}\n".encode("utf-8", "replace"))


async def _read(connection: socket.socket, streams: list[int]) -> RelayRequest:
    """Read a request; the streams of the shell come with its first bytes."""
    await _readable(connection)
    received, found = receive(connection, _CHUNK)
    streams += found
    while len(received) < HEADER.size:
        received += await _more(connection)
    magic, size = HEADER.unpack_from(received)
    if magic != MAGIC or size > MOST_BYTES or len(streams) != 3:
        raise ProtocolError("it is no shell")
    parts, have = [received], len(received) - HEADER.size
    while have < size:
        parts.append(await _more(connection))
        have += len(parts[-1])
    return read_request(b"".join(parts)[HEADER.size :])


async def _more(connection: socket.socket) -> bytes:
    part = await asyncio.get_running_loop().sock_recv(connection, _CHUNK)
    if not part:
        raise ProtocolError("it ends in the middle")
    return part


async def _readable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(connection)
