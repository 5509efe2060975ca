"""The resident as a process: how it starts and ends, and what belongs to the user alone."""

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
from hookline.resident.folder import FolderError, connect, open_folder
from hookline.resident.protocol import BEGINS, HEADER, MAGIC, read_frame
from hookline.resident.server import Status
from hookline.resident.start import ask
from tests.resident.residents import RefusalError, Residents, command, decision, hook_file
from tests.telemetry.collector import collecting
from tests.waiting import wait_until, waits_for

DENIES = 'type = "builtin"\ncommand = "deny"\nargs = ["no shell here"]'


def test_the_environment_of_a_call_goes_to_its_own_hooks_only(residents: Residents, tmp_path: Path) -> None:
    told = tmp_path / "told"
    file = residents.write("~/.config/hookline/hooks.toml", hook_file(command(f'echo "<$SECRET>" >> {told}')))
    assert file.exists()
    with collecting() as collector, collecting() as other:
        process = residents.start(env={"SECRET": "of the resident", **collector.env})
        residents.call(env={"SECRET": "one"})
        residents.call(env=other.env)
        residents.call(env={"SECRET": "two"})
        assert told.read_text() == "<one>\n<>\n<two>\n"
        ask(str(residents.folder), "stop", version=__version__)
        process.wait(60)
        # Telemetry goes where the resident's own environment says.
        assert [span.name for span in collector.spans].count("hookline.dispatch PreToolUse") == 3
        assert other.requests == 0


def test_a_newer_relay_makes_it_end_and_an_older_one_does_not(residents: Residents) -> None:
    process = residents.start()
    with pytest.raises(RefusalError, match="version"):
        residents.call(version="0.0.9")
    assert residents.status() is not None
    with pytest.raises(RefusalError, match="version"):
        residents.call(version="99.0")
    assert process.wait(60) == 0
    assert not (residents.folder / "relay").exists()


def test_it_ends_when_it_is_idle_but_not_with_hooks_under_way(residents: Residents, tmp_path: Path) -> None:
    go = tmp_path / "go"
    residents.write(".hookline/hooks.toml", hook_file(command(waits_for(go), "async = true")))
    process = residents.start("--idle", "1s")
    residents.call()
    time.sleep(2.5)
    assert process.poll() is None
    go.touch()
    assert process.wait(60) == 0


def test_a_second_one_ends_at_once_and_one_that_was_killed_is_replaced(residents: Residents) -> None:
    first = residents.start()
    again = residents.in_process(b"", "resident", "run", "--folder", str(residents.folder))
    assert (again.code, b"another one" in again.stderr) == (1, True)
    first.kill()
    first.wait()
    residents.start()
    assert decision(residents.call()) is None


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_after_a_stop_or_a_kill_the_next_call_starts_another(end: str, residents: Residents) -> None:
    """A relay that finds no daemon starts the program with this variable."""

    def call() -> Status:
        done = residents.in_process(
            residents.payload(), "hook", "--dialect", "claude-code", "PreToolUse",
            env={"HOOKLINE_RELAY": f"none {residents.folder}"},
        )  # fmt: skip
        assert done.code == 0
        wait_until(lambda: residents.status() is not None)
        found = residents.status()
        assert found is not None
        return found

    first = call()
    assert call().pid == first.pid
    if end == "kill":
        os.kill(first.pid, signal.SIGKILL)
    else:
        ask(str(residents.folder), "stop", version=__version__)
    wait_until(lambda: residents.status() is None)
    assert call().pid != first.pid


def test_one_that_does_not_come_to_listen_is_not_started_by_every_call(residents: Residents) -> None:
    (residents.folder / "lock").mkdir()  # nothing can be started here
    env = {"HOOKLINE_RELAY": f"none {residents.folder}"}
    times: set[int] = set()
    for _ in range(2):
        residents.in_process(
            residents.payload(), "hook", "--dialect", "claude-code", "PreToolUse", env=env
        )  # fmt: skip
        times.add((residents.folder / "tried").stat().st_mtime_ns)
    assert len(times) == 1


def test_commands_say_that_the_daemon_serves_another_home(residents: Residents, tmp_path: Path) -> None:
    residents.start()
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    said = f"the running daemon serves {residents.home}, and your home directory is {other}: each call"
    own = residents.in_process(b"", "resident", "start", "--folder", str(residents.folder))
    assert (own.code, b"it is running already" in own.stderr) == (0, True)
    for word, code in (("start", 1), ("status", 0)):
        ran = residents.in_process(
            b"", "resident", word, "--folder", str(residents.folder), env={"HOME": str(other)}
        )
        assert (ran.code, said in ran.stderr.decode()) == (code, True), ran
        assert b"running already" not in ran.stderr
        assert b"hookline resident stop" in ran.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_lets_it_finish_what_is_under_way(
    number: signal.Signals, residents: Residents, tmp_path: Path
) -> None:
    started, go = tmp_path / "started", tmp_path / "go"
    residents.write(".hookline/hooks.toml", hook_file(command(f"touch {started}; {waits_for(go)}; exit 2")))
    process = residents.start()
    folder = open_folder(str(residents.folder))
    with connect(folder, 60) as connection:
        connection.sendall(residents.request())
        assert _frame(connection) == BEGINS
        connection.sendall(b"G")
        wait_until(started.exists)
        process.send_signal(number)
        wait_until(lambda: not (residents.folder / "relay").exists())
        go.touch()
        assert _frame(connection) == b"A"
    folder.close()
    assert process.wait(60) == 0


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_folder_that_others_may_use_is_refused(mode: int, residents: Residents) -> None:
    residents.folder.chmod(mode)
    with pytest.raises(FolderError):
        open_folder(str(residents.folder))
    ran = residents.in_process(b"", "resident", "start", "--folder", str(residents.folder))
    assert (ran.code, b"chmod 700" in ran.stderr) == (1, True)


def test_a_link_in_place_of_the_folder_is_refused(residents: Residents, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(residents.folder)
    with pytest.raises(FolderError):
        open_folder(str(link))


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        HEADER.pack(MAGIC, 4_000_000_000),
        HEADER.pack(MAGIC, 4) + b"\xff\xff\xff\xff",
    ],
)
def test_bytes_that_are_no_request_are_not_answered(sent: bytes, residents: Residents) -> None:
    residents.start()
    folder = open_folder(str(residents.folder))
    with connect(folder, 60) as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        with pytest.raises(ConnectionResetError):
            _frame(connection)
    folder.close()
    assert residents.status() is not None


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
    """A folder that everybody may enter, so that it is the one of the resident that keeps others out."""
    with tempfile.TemporaryDirectory(prefix="hookline-", dir="/tmp") as top:
        os.chmod(top, 0o755)
        yield Path(top)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_can_neither_connect_nor_read_nor_answer(public: Path) -> None:
    residents = Residents(public)
    residents.start()
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
    assert _by_another_user(tries, os.path.realpath(residents.folder)) == b""
    assert decision(residents.call()) is None
    residents.stop()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can be another user")
def test_another_user_is_not_answered_where_the_folder_lets_him_in(public: Path) -> None:
    residents = Residents(public)
    residents.start()
    assert {path.name: path.stat().st_mode & 0o077 for path in residents.folder.iterdir()}["relay"] == 0
    residents.folder.chmod(0o711)
    (residents.folder / "relay").chmod(0o666)
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
        residents.request(),
        *(residents.request(words=("resident", each)) for each in ("status", "stop")),
    ]
    folder = os.path.realpath(residents.folder)
    assert _by_another_user(asks, folder, *(each.hex() for each in requests)) == b""
    residents.folder.chmod(0o700)
    status = residents.status()
    assert status is not None
    assert status.calls == 0
    residents.stop()


def _by_another_user(code: str, *words: str) -> bytes:
    """What a program of a user without rights has printed."""
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", code, *words],
        user=65534, group=65534, extra_groups=[], capture_output=True, check=False, cwd="/",
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    if b"ENOENT" in done.stderr or done.returncode == 127:
        pytest.skip("there is no python3 that another user can run")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_its_hooks_cannot_read_its_memory(residents: Residents, tmp_path: Path) -> None:
    """It knows the environments of other calls."""
    told = tmp_path / "told"
    tries = residents.write(
        "tries.py",
        "import os\nfound = []\nfor name in ('mem', 'environ', 'maps'):\n    try:\n"
        "        open(f'/proc/{os.getppid()}/{name}', 'rb').close()\n        found.append(name)\n"
        "    except PermissionError:\n        found.append('no')\n"
        f"open({str(told)!r}, 'w').write(' '.join(found))\n",
    )
    residents.write(".hookline/hooks.toml", hook_file(command(f"exec {sys.executable} {tries}")))
    # Root may read all memory, unless it has given that up.
    plain = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all") if os.getuid() == 0 else ()
    if plain and shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv")
    residents.start(by=plain)
    residents.call()
    assert told.read_text() == "no no no"
