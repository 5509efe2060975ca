"""Test the daemon as a process: how it starts and ends, and what belongs to the user alone."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline import __version__
from hookline.hook.daemon.directory import DirectoryError, connect, open_directory
from hookline.hook.daemon.protocol import BEGINS, HEADER, MAGIC, read_frame
from hookline.hook.daemon.server import DaemonStatus
from hookline.hook.daemon.start import ask
from tests.hook.daemon.daemons import Daemons, RefusalError, command, decision, hook_file
from tests.telemetry.collector import collecting
from tests.waiting import wait_until, waits_for

DENIES = 'type = "builtin"\ncommand = "deny"\nargs = ["no shell here"]'


def test_the_environment_of_a_call_goes_to_its_own_hooks_only(daemons: Daemons, tmp_path: Path) -> None:
    received = tmp_path / "told"
    file = daemons.write(
        "~/.config/hookline/hooks.toml", hook_file(command(f'echo "<$SECRET>" >> {received}'))
    )
    assert file.exists()
    with collecting() as collector, collecting() as other:
        process = daemons.start(env={"SECRET": "of the resident", **collector.env})
        daemons.call(env={"SECRET": "one"})
        daemons.call(env=other.env)
        daemons.call(env={"SECRET": "two"})
        assert received.read_text() == "<one>\n<>\n<two>\n"
        ask(str(daemons.directory), "stop", version=__version__)
        process.wait(60)
        # Telemetry goes where the daemon's own environment says.
        assert [span.name for span in collector.spans].count("hookline.dispatch PreToolUse") == 3
        assert other.requests == 0


def test_a_newer_relay_makes_it_end_and_an_older_one_does_not(daemons: Daemons) -> None:
    process = daemons.start()
    with pytest.raises(RefusalError, match="version"):
        daemons.call(version="0.0.9")
    assert daemons.status() is not None
    with pytest.raises(RefusalError, match="version"):
        daemons.call(version="99.0")
    assert process.wait(60) == 0
    assert not (daemons.directory / "relay").exists()


def test_it_ends_when_it_is_idle_but_not_with_hooks_under_way(daemons: Daemons, tmp_path: Path) -> None:
    go = tmp_path / "go"
    daemons.write(".hookline/hooks.toml", hook_file(command(waits_for(go), "async = true")))
    process = daemons.start("--idle", "1s")
    daemons.call()
    time.sleep(2.5)
    assert process.poll() is None
    go.touch()
    assert process.wait(60) == 0


def test_a_second_one_ends_at_once_and_one_that_was_killed_is_replaced(daemons: Daemons) -> None:
    first = daemons.start()
    again = daemons.in_process(b"", "daemon", "run", "--directory", str(daemons.directory))
    assert (again.code, b"another one" in again.stderr) == (1, True)
    first.kill()
    first.wait()
    daemons.start()
    assert decision(daemons.call()) is None


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_after_a_stop_or_a_kill_the_next_call_starts_another(end: str, daemons: Daemons) -> None:
    """A relay that finds no daemon starts the program with this variable."""

    def call() -> DaemonStatus:
        done = daemons.in_process(
            daemons.payload(), "hook", "--dialect", "claude-code", "PreToolUse",
            env={"HOOKLINE_RELAY": f"none {daemons.directory}"},
        )  # fmt: skip
        assert done.code == 0
        wait_until(lambda: daemons.status() is not None)
        found = daemons.status()
        assert found is not None
        return found

    first = call()
    assert call().pid == first.pid
    if end == "kill":
        os.kill(first.pid, signal.SIGKILL)
    else:
        ask(str(daemons.directory), "stop", version=__version__)
    wait_until(lambda: daemons.status() is None)
    assert call().pid != first.pid


def test_one_that_does_not_come_to_listen_is_not_started_by_every_call(daemons: Daemons) -> None:
    (daemons.directory / "lock").mkdir()  # nothing can be started here
    env = {"HOOKLINE_RELAY": f"none {daemons.directory}"}
    times: set[int] = set()
    for _ in range(2):
        daemons.in_process(
            daemons.payload(), "hook", "--dialect", "claude-code", "PreToolUse", env=env
        )  # fmt: skip
        times.add((daemons.directory / "tried").stat().st_mtime_ns)
    assert len(times) == 1


def test_commands_say_that_the_daemon_serves_another_home(daemons: Daemons, tmp_path: Path) -> None:
    daemons.start()
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    said = f"the running daemon serves {daemons.home}, and your home directory is {other}: each call"
    own = daemons.in_process(b"", "daemon", "start", "--directory", str(daemons.directory))
    assert (own.code, b"it is running already" in own.stderr) == (0, True)
    for word, code in (("start", 1), ("status", 0)):
        ran = daemons.in_process(
            b"", "daemon", word, "--directory", str(daemons.directory), env={"HOME": str(other)}
        )
        assert (ran.code, said in ran.stderr.decode()) == (code, True), ran
        assert b"running already" not in ran.stderr
        assert b"hookline daemon stop" in ran.stderr
        if word == "status":  # the log is the daemon's
            assert f"log       {daemons.home}/.local/state/hookline/daemon.log" in ran.stdout.decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_lets_it_finish_what_is_under_way(
    number: signal.Signals, daemons: Daemons, tmp_path: Path
) -> None:
    started, go = tmp_path / "started", tmp_path / "go"
    daemons.write(".hookline/hooks.toml", hook_file(command(f"touch {started}; {waits_for(go)}; exit 2")))
    process = daemons.start()
    directory = open_directory(str(daemons.directory))
    with connect(directory, 60) as connection:
        connection.sendall(daemons.request())
        assert _frame(connection) == BEGINS
        connection.sendall(b"G")
        wait_until(started.exists)
        process.send_signal(number)
        wait_until(lambda: not (daemons.directory / "relay").exists())
        go.touch()
        assert _frame(connection) == b"A"
    directory.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_directory_that_others_may_use_is_refused(mode: int, daemons: Daemons) -> None:
    daemons.directory.chmod(mode)
    with pytest.raises(DirectoryError):
        open_directory(str(daemons.directory))
    ran = daemons.in_process(b"", "daemon", "start", "--directory", str(daemons.directory))
    assert (ran.code, b"chmod 700" in ran.stderr) == (1, True)


def test_a_link_in_place_of_the_directory_is_refused(daemons: Daemons, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(daemons.directory)
    with pytest.raises(DirectoryError):
        open_directory(str(link))


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        HEADER.pack(MAGIC, 4_000_000_000),
        HEADER.pack(MAGIC, 4) + b"\xff\xff\xff\xff",
    ],
)
def test_bytes_that_are_no_request_are_not_answered(sent: bytes, daemons: Daemons) -> None:
    daemons.start()
    directory = open_directory(str(daemons.directory))
    with connect(directory, 60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionResetError):
            _frame(connection)
    directory.close()
    assert daemons.status() is not None


def _frame(connection: socket.socket) -> bytes:
    received = b""
    while (found := read_frame(received)) is None:
        part = connection.recv(1 << 16)
        if not part:
            raise ConnectionResetError
        received += part
    return found[0]


@pytest.fixture
def public() -> Iterator[Path]:
    """Make a directory that everyone may enter, so that the daemon's own one keeps others out."""
    with tempfile.TemporaryDirectory(prefix="hookline-", dir="/tmp") as top:
        os.chmod(top, 0o755)
        yield Path(top)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_can_neither_connect_nor_read_nor_answer(public: Path) -> None:
    daemons = Daemons(public)
    daemons.start()
    tries = """
import os, socket, sys
folder = sys.argv[1]
for attempt in (
    lambda: os.listdir(folder),
    lambda: socket.socket(socket.AF_UNIX).connect(folder + "/relay"),
    lambda: os.unlink(folder + "/relay"),
    lambda: socket.socket(socket.AF_UNIX).bind(folder + "/other"),
    lambda: os.rename(folder, folder + "-gone"),
):
    try:
        attempt()
    except PermissionError:
        continue
    sys.exit("it was allowed")
"""
    assert _by_another_user(tries, os.path.realpath(daemons.directory)) == b""
    assert decision(daemons.call()) is None
    daemons.stop()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_is_not_answered_where_the_directory_lets_him_in(public: Path) -> None:
    daemons = Daemons(public)
    daemons.start()
    assert {path.name: path.stat().st_mode & 0o077 for path in daemons.directory.iterdir()}["relay"] == 0
    daemons.directory.chmod(0o711)
    (daemons.directory / "relay").chmod(0o666)
    asks = """
import socket, sys
for request in sys.argv[2:]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1] + "/relay")
        try:
            connection.sendall(bytes.fromhex(request))
            sys.stdout.buffer.write(connection.recv(1 << 16))
        except OSError:
            pass
"""
    requests = [
        daemons.request(),
        *(daemons.request(words=("daemon", each)) for each in ("status", "stop")),
    ]
    directory = os.path.realpath(daemons.directory)
    assert _by_another_user(asks, directory, *(each.hex() for each in requests)) == b""
    daemons.directory.chmod(0o700)
    status = daemons.status()
    assert status is not None
    assert status.calls == 0
    daemons.stop()


def _by_another_user(code: str, *words: str) -> bytes:
    """Return the output of a program of a user without rights."""
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", code, *words],
        user=65534, group=65534, extra_groups=[], capture_output=True, check=False, cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    if b"ENOENT" in done.stderr or done.returncode == 127:
        pytest.skip("there is no python3 that another user can run")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_its_hooks_cannot_read_its_memory(daemons: Daemons, tmp_path: Path) -> None:
    """It knows the environments of other calls."""
    received = tmp_path / "told"
    tries = daemons.write(
        "tries.py",
        "import os\nfound = []\nfor name in ('mem', 'environ', 'maps'):\n    try:\n"
        "        open(f'/proc/{os.getppid()}/{name}', 'rb').close()\n        found.append(name)\n"
        "    except PermissionError:\n        found.append('no')\n"
        f"open({str(received)!r}, 'w').write(' '.join(found))\n",
    )
    daemons.write(".hookline/hooks.toml", hook_file(command(f"exec {sys.executable} {tries}")))
    # Root may read all memory, unless it has given that up.
    plain = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if os.getuid() == 0 else ()
    if plain and shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    daemons.start(by=plain)
    daemons.call()
    assert received.read_text() == "no no no"
