"""Test that a call gets one answer, whatever the daemon does: from it, in process, or the one for its loss."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.every import every
from tests.homes import at_home
from tests.hook.relay.programs import CALL, KINDS, Kind, Relay, clean, env_of, real_relay, relay_of
from tests.hook.relay.server import Connection, answer, frame, serving
from tests.trusting import trust_all_of
from tests.waiting import wait_until

BEGUN = frame(b"B", answer(2, b"", b"it may have run"))
DONE = frame(b"A", answer(0, b"answered"))
_HUGE = (0xFFFFFFFF).to_bytes(4, "little")


def text_of(*numbers: int) -> bytes:
    return b"".join(each.to_bytes(4, "little") for each in numbers)


#: Bodies that are no answer; test_frames.py makes up more of them.
NO_ANSWER = [
    b"", text_of(0, 0, 0, 0)[:-1], text_of(0, 0, 0, 0, 0), text_of(0, 0xFFFFFFFF, 0, 0), text_of(256, 0, 0, 0),
]  # fmt: skip


def closes_at_once(connection: Connection) -> None:
    pass


def reads_a_little(connection: Connection) -> None:
    connection.link.recv(10)


def reads_and_closes(connection: Connection) -> None:
    connection.request()


def says(*frames: bytes) -> Any:
    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(*frames)

    return respond


def says_unread(*frames: bytes) -> Any:
    def respond(connection: Connection) -> None:
        connection.send(*frames)

    return respond


#: A server's behaviour up to 'G', and the reason that the program gets.
BEFORE = [
    (closes_at_once, "lost"),
    (reads_a_little, "lost"),
    (reads_and_closes, "lost"),
    (says(frame(b"V", b"version 9.9.9, and the relay is 0.1.0")), "version"),
    (says(frame(b"V", b"busy: 64 calls are running")), "busy"),
    (says(frame(b"V", b"")), "busy"),
    (says(frame(b"V", b"version"), DONE), "version"),
    (says_unread(frame(b"V", b"busy")), "busy"),
    (says(BEGUN[:4]), "lost"),
    (says(BEGUN[:-1]), "lost"),
    (says(DONE[:1]), "lost"),
    (says(DONE[:-1]), "lost"),
    # Frames that mean nothing, or are too long.
    (says(frame(b"X", b"")), "lost"),
    (says(frame(b"G", answer(0))), "lost"),
    (says(b"\0" * 100), "lost"),
    (says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "lost"),
    (says(b"A" + _HUGE), "lost"),
    (says(b"A" + text_of((256 << 20) + 1)), "lost"),
    (says(b"V" + _HUGE), "lost"),
    *((says(frame(kind, body), DONE), "lost") for kind in (b"A", b"B") for body in NO_ANSWER),
]


@every(("respond", "reason"), BEFORE)
def test_before_anything_ran_the_call_is_made_in_process(relay: Relay, respond: Any, reason: str) -> None:
    with serving(relay.directory, respond):
        ran = relay.run(given=b'{"a": 1}', env=clean() | {"KEPT": "x", "HOOKLINE_RELAY": "old"})
    received = ran.in_process
    assert (received.reason, received.words, received.input) == (reason, list(CALL), b'{"a": 1}')
    assert received.env[b"KEPT"] == b"x"
    assert received.directory == os.getcwd()


def begins(*after: bytes) -> Any:
    """Hooks are about to start, the relay agrees, and then this comes."""

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(BEGUN)
        assert connection.go() == b"G"
        connection.send(*after)

    return respond


@every(
    "after",
    [
        b"", DONE[:3], DONE[:-1], BEGUN, frame(b"V", b"busy"), frame(b"X", b""), b"A" + _HUGE,
        *(frame(b"A", body) for body in NO_ANSWER),
    ],
)  # fmt: skip
def test_after_something_may_have_run_its_loss_has_an_answer(relay: Relay, after: bytes) -> None:
    with serving(relay.directory, begins(after)):
        ran = relay.run()
    assert (ran.code, ran.stdout, ran.stderr) == (2, b"", b"it may have run\n")


def test_a_long_loss_is_given_whole(relay: Relay) -> None:
    """The answer for a loss outlives everything that came after it."""

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(frame(b"B", answer(0, b"o" * 300_000, b"e" * 200_000)))
        connection.send(frame(b"A", answer(0, b"x" * 3_000_000))[:-1])
        assert connection.go() == b"G"

    with serving(relay.directory, respond):
        ran = relay.run()
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"o" * 300_000, b"e" * 200_000 + b"\n")


@every("given", [b"", b"x" * 10_000_000])
@every("respond", [closes_at_once, reads_a_little, says_unread(frame(b"V", b"busy"))])
def test_what_was_read_is_passed_on_whole(relay: Relay, respond: Any, given: bytes) -> None:
    with serving(relay.directory, respond):
        received = relay.run(given=given).in_process
    assert (received.size, received.input) == (len(given), given[:1000])


def test_a_resident_that_refuses_need_not_close(relay: Relay) -> None:
    def respond(connection: Connection) -> None:
        connection.send(frame(b"V", b"busy"))
        # Reads nothing, and waits for the other side: the connection is full, and yet the relay sees what it says.
        while connection.link.recv(1 << 16):
            pass

    started = time.monotonic()
    with serving(relay.directory, respond):
        received = relay.run(given=b"x" * 2_000_000).in_process
    assert (received.reason, received.size) == ("busy", 2_000_000)
    assert time.monotonic() - started < 60


def test_no_more_than_a_byte_over_the_limit_is_read(relay: Relay, tmp_path: Path) -> None:
    whole = tmp_path / "long"
    with whole.open("wb") as file:
        file.truncate((64 << 20) + 100)
    with whole.open("rb") as file:
        done = subprocess.run(relay.words(), stdin=file, env=clean(), capture_output=True, check=False)
    assert b"'size': 67108865" in done.stderr


def test_a_resident_that_says_nothing_is_given_up_after_five_seconds(tmp_path: Path) -> None:
    """Both at the same time. The closed connection shows it to the server."""
    silent: list[bool] = []

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(DONE[:7])
        silent.append(connection.ended())

    found: dict[Kind, tuple[float, subprocess.Popen[bytes]]] = {}
    relays = [relay_of(kind, tmp_path / kind) for kind in KINDS]
    with serving(relays[0].directory, respond), serving(relays[1].directory, respond):
        for relay in relays:
            process = subprocess.Popen(
                relay.words(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=clean()
            )
            found[relay.kind] = time.monotonic(), process
        for started, process in found.values():
            _, received = process.communicate(timeout=60)
            assert b"'HOOKLINE_RELAY': b'lost " in received
            assert time.monotonic() - started >= 5
    assert silent == [True, True]


def test_a_slow_resident_that_goes_on_is_waited_for(relay: Relay) -> None:
    """After 'G' there is no limit: hooks may take as long as they are configured to."""

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(BEGUN)
        assert connection.go() == b"G"
        time.sleep(0.3)
        connection.send(DONE)

    with serving(relay.directory, respond):
        assert relay.run().stdout == b"answered"


def test_a_resident_that_is_gone_before_it_was_told_to_go_on_ran_nothing(relay: Relay) -> None:
    def respond(connection: Connection) -> None:
        connection.request()
        # As if it had ended right after it said so: nothing can be sent to it.
        connection.link.shutdown(socket.SHUT_RD)
        connection.send(BEGUN)

    with serving(relay.directory, respond):
        assert relay.run().in_process.reason == "lost"


# Where the daemon is


def nothing(directory: Path) -> None:
    pass


def empty(directory: Path) -> None:
    directory.mkdir(mode=0o700)


def stale(directory: Path) -> None:
    """The socket of a server that is gone."""
    directory.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(directory / "relay"))


def not_listening(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    kept = socket.socket(socket.AF_UNIX)
    kept.bind(str(directory / "relay"))
    KEPT.append(kept)


def a_file(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    (directory / "relay").write_text("not a socket")


def no_directory(directory: Path) -> None:
    directory.write_text("not a folder")


def datagrams(directory: Path) -> None:
    directory.mkdir(mode=0o700)
    kept = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    kept.bind(str(directory / "relay"))
    KEPT.append(kept)


KEPT: list[socket.socket] = []


@pytest.mark.parametrize("make", [nothing, empty, stale, not_listening, a_file, no_directory, datagrams])
def test_without_a_resident_the_call_is_made_in_process(relay: Relay, make: Any) -> None:
    make(relay.directory)
    try:
        assert relay.run().in_process.reason == "none"
    finally:
        while KEPT:
            KEPT.pop().close()


@every("mode", [0o701, 0o710, 0o750, 0o704, 0o755, 0o777, 0o1777])
def test_a_directory_that_others_may_enter_is_not_used(relay: Relay, mode: int) -> None:
    with serving(relay.directory, says(DONE)) as server:
        relay.directory.chmod(mode)
        assert relay.run().in_process.reason == "none"
        relay.directory.chmod(0o700)
        assert relay.run().stdout == b"answered"
    assert server.connections == 1


def test_a_link_to_the_directory_is_not_followed(relay: Relay, tmp_path: Path) -> None:
    with serving(relay.directory, says(DONE)) as server:
        link = tmp_path / "link"
        link.symlink_to(relay.directory)
        assert Relay(relay.kind, relay.program, link).run().in_process.reason == "none"
    assert server.connections == 0


def test_a_long_path_of_the_directory_is_no_obstacle(relay: Relay, tmp_path: Path) -> None:
    with serving(relay.directory, says(DONE)):
        deep = tmp_path.joinpath(*["x" * 200] * 3)
        deep.mkdir(parents=True)
        relay.directory.rename(deep / "resident")
        try:
            far = Relay(relay.kind, relay.program, deep / "resident")
            assert far.run().stdout == b"answered"
        finally:
            (deep / "resident").rename(relay.directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_what_belongs_to_somebody_else_is_not_used(relay: Relay) -> None:
    with serving(relay.directory, says(DONE)) as server:
        os.chown(relay.directory, 12345, 12345)
        assert relay.run().in_process.reason == "none"
        os.chown(relay.directory, 0, 0)
    assert server.connections == 0
    # Another user listens in a directory that is ours.
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(relay.directory / "relay"))
    child = os.fork()
    if not child:
        try:
            os.setuid(12345)
            listener.listen()
            listener.accept()[0].sendall(DONE)
        finally:
            os._exit(0)
    try:
        wait_until(lambda: _listens(str(relay.directory / "relay")))
        assert relay.run().in_process.reason == "none"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        listener.close()


def _listens(name: str) -> bool:
    """Return True if a socket of this name accepts connections; flags are the fourth column."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return any(line.endswith(f" {name}") and line.split()[3] == "00010000" for line in lines)


def test_a_full_queue_counts_as_busy(relay: Relay) -> None:
    relay.directory.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(relay.directory / "relay"))
        listener.listen(0)
        waiting: list[socket.socket] = []
        try:
            with pytest.raises(BlockingIOError):  # noqa: PT012 as many as fit
                while True:
                    waiting.append(socket.socket(socket.AF_UNIX))
                    waiting[-1].setblocking(False)
                    waiting[-1].connect(str(relay.directory / "relay"))
            assert relay.run().in_process.reason == "busy"
        finally:
            for each in waiting:
                each.close()


_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "/bin/sh", "-c"]
_ALONE = """mount -t tmpfs none /run && mount -t tmpfs none "$1" || exit 99
mkdir -p "/run/user/0" "$2" && chmod "$3" /run/user/0 && chmod 700 "$2" || exit 99
shift 3
exec "$@"
"""


def _has_namespaces() -> bool:
    try:
        return (
            subprocess.run(
                [*_NAMESPACE, "mount -t tmpfs none /run"], capture_output=True, check=False
            ).returncode
            == 0
        )
    except OSError:
        return False


@pytest.mark.skipif(not _has_namespaces(), reason="there are no namespaces of one's own here")
@pytest.mark.skipif(sys.executable.startswith(("/tmp/", "/run/")), reason="the namespace hides this Python")
@every(
    ("mode", "directory", "found"),
    [
        ("700", "/run/user/0/hookline", True),
        ("700", "/tmp/hookline-0", False),
        ("755", "/tmp/hookline-0", True),
        ("755", "/run/user/0/hookline", False),
    ],
)
def test_the_usual_directory_is_fixed(relay: Relay, mode: str, directory: str, found: bool) -> None:
    """Ignore the environment. In a namespace with new directories, so that no real daemon answers."""
    moved = dict.fromkeys(("HOME", "XDG_RUNTIME_DIR", "TMPDIR", "XDG_STATE_HOME"), "/tmp/elsewhere")
    code = (
        "import os, socket, subprocess, sys\n"
        f"server = socket.socket(socket.AF_UNIX); server.bind({directory + '/relay'!r}); server.listen()\n"
        "relay = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)\n"
        f"if {found}:\n"
        "    link = server.accept()[0]; link.recv(1 << 20)\n"
        f"    link.sendall({DONE!r})\n"
        "told = relay.communicate()[1]\n"
        "sys.exit(relay.returncode)\n"
    )
    # /tmp is hidden in the namespace, so the programs are elsewhere.
    with _outside_of_tmp(relay) as program:
        done = subprocess.run(
            [*_NAMESPACE, _ALONE, "sh", "/tmp", directory, mode, sys.executable, "-c", code, str(program), *CALL],
            env=clean() | moved, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
    assert done.returncode == (0 if found else 7), done.stderr.decode()


def _outside_of_tmp(relay: Relay) -> Any:
    import contextlib
    import shutil
    import tempfile

    @contextlib.contextmanager
    def copied() -> Any:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            for name in ("hookline", "hookline-relay"):
                shutil.copy(relay.program.parent / name, directory)
            yield Path(directory, "hookline-relay")

    return copied()


# What is not for the daemon


@every(
    "words",
    [
        ("hook",), ("hook", "PreToolUse"), ("hook", "--help"), ("hook", "--print-config", "native"),
        ("hook", "--dialect", "native", "--print-config=native"), ("hook", "--dialect"), ("hook", "--dialect", "-h"),
        ("hook", "--dial", "native"), ("hook", "--dialect", "native", "-h"), ("hook", "--dialect", "native", "--"),
        ("--version",), ("trust", "--list"), ("fire", "PreToolUse"), ("hooks", "--dialect", "native"), ("",),
        ("hook", "--dialect", "native", "--config"),
    ],
)  # fmt: skip
def test_what_is_no_call_of_an_agent_is_for_the_program_itself(relay: Relay, words: tuple[str, ...]) -> None:
    with serving(relay.directory, says(DONE)) as server:
        received = relay.run(*words, given=b"kept", env=clean() | {"HOOKLINE_RELAY": "none"}).in_process
    assert (received.words, received.input, received.reason) == (list(words), b"kept", None)
    assert server.connections == 0


def test_a_terminal_is_for_the_program_itself(relay: Relay) -> None:
    ours, theirs = os.openpty()
    with serving(relay.directory, says(DONE)) as server:
        process = subprocess.Popen(relay.words(), stdin=theirs, stderr=subprocess.PIPE, env=clean())
        os.close(theirs)
        os.write(ours, b"typed\n\x04")
        _, received = process.communicate(timeout=60)
        os.close(ours)
    assert (process.returncode, b"b'typed\\n'" in received, server.connections) == (7, True, 0)


def test_what_cannot_be_read_is_for_the_program_itself(relay: Relay) -> None:
    with serving(relay.directory, says(DONE)) as server, open(os.devnull, "wb") as unreadable:
        done = subprocess.run(relay.words(), stdin=unreadable, capture_output=True, env=clean(), check=False)
    assert (done.returncode, b"error 9" in done.stderr, server.connections) == (7, True, 0)


@every("words", [("--daemon",), ("--daemon", "near"), ("--daemon", "", *CALL)])
def test_a_directory_that_is_not_named_wholly_is_refused(relay: Relay, words: tuple[str, ...]) -> None:
    done = subprocess.run([relay.program, *words], input=b"", capture_output=True, env=clean(), check=False)
    assert done.returncode == 2
    assert done.stderr == (
        b"hookline-relay: --daemon must name a directory by its absolute path, so this was blocked\n"
    )


# The program beside the relay


def test_arguments_and_environment_reach_the_program_as_they_are(relay: Relay) -> None:
    env = {os.fsencode(name): os.fsencode(value) for name, value in clean().items()} | {b"ODD": b"\xff\n=x"}
    received = relay.run(*CALL[:3], b"\xff\xfe", env=env).in_process
    assert [os.fsencode(word) for word in received.words] == [b"hook", b"--dialect", b"native", b"\xff\xfe"]
    assert env_of([b"=".join(each) for each in received.env.items()]) == env | {
        b"HOOKLINE_RELAY": b"none " + os.fsencode(relay.directory)
    }


def test_a_directory_that_is_gone_stays_so(relay: Relay, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    go = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    done = subprocess.run(
        ["/bin/sh", "-c", go, "sh", *relay.words()],
        env=clean(),
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"'directory': ''" in done.stderr) == (7, True)


@every("chain", [("link",), ("a b/link", "c/link"), ("link", "../link2")])
def test_the_program_is_found_through_links(relay: Relay, chain: tuple[str, ...], tmp_path: Path) -> None:
    """As pipx and uv make them; also through two, and relative ones."""
    target = relay.program
    for number, name in enumerate(chain):
        link = tmp_path / f"{relay.kind}{len(chain)}{number}" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(target, os.path.realpath(link.parent)) if number % 2 else target)
        target = link
    assert Relay(relay.kind, target, relay.directory).run().in_process.reason == "none"
    near = subprocess.run(
        [f"./{target.name}", "--daemon", str(relay.directory), *CALL],
        cwd=target.parent, env=clean(), input=b"", capture_output=True, check=False,
    )  # fmt: skip
    assert near.returncode == 7


def copy(relay: Relay, directory: Path, program: str | None) -> Relay:
    import shutil

    directory.mkdir(parents=True)
    shutil.copy(relay.program, directory)
    if program is not None:
        (directory / "hookline").write_text(program)
        (directory / "hookline").chmod(0o755)
    return Relay(relay.kind, directory / "hookline-relay", relay.directory)


def test_without_the_program_it_blocks_and_says_so(relay: Relay, tmp_path: Path) -> None:
    alone = copy(relay, tmp_path / "alone", None)
    ran = alone.run()
    missing = f"{tmp_path}/alone/hookline is not there, so this was blocked: install hookline again".encode()
    assert (ran.code, ran.stdout) == (2, b"")
    assert ran.stderr.startswith(b"hookline-relay: " + missing)
    # An environment that was deleted: the script is there, its interpreter is not.
    broken = copy(relay, tmp_path / "broken", "#!/nowhere/bin/python\n").run()
    assert (broken.code, b"is not there, so this was blocked" in broken.stderr) == (2, True)


@every(
    "program",
    [
        "#!{python}\n{code}",
        "#! {python} -E\n{code}",
        "#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n' '''\n{code}",
        "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n{code}",
        "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n{code}",
        # Not written by an installer of packages: it is run as it is.
        '#!/bin/sh\nexec {python} -c "{code}"\n',
        "#!/usr/bin/env {python}\n{code}",
    ],
)
def test_the_program_may_be_written_by_any_installer(relay: Relay, program: str, tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write(sys.stdin.read()); sys.exit(9)"
    number = len(list(tmp_path.iterdir()))
    text = program.format(python=sys.executable, code=code)
    ran = copy(relay, tmp_path / f"a folder {number}", text).run(given=b"told")
    assert (ran.code, ran.stderr) == (9, b"told")


def test_the_real_program_answers_where_there_is_no_resident(relay: Relay, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    (project / ".hookline").mkdir(parents=True)
    (project / ".hookline" / "hooks.toml").write_text(
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "deny"\nargs = ["not here"]\n'
    )
    trust_all_of(home, project)
    real = real_relay(relay.kind, relay.directory, tmp_path / "a bin")
    env = clean() | {"HOME": str(home), "PWD": str(project), "HOOKLINE_DAEMON": "off"}
    payload = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
    words = at_home(CALL, env)
    ran = real.run(*words, given=payload, env=env, cwd=project)
    direct = subprocess.run(
        [real.program.parent / "hookline", *words],
        input=payload,
        env=env,
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert (ran.code, ran.stdout, ran.stderr) == (direct.returncode, direct.stdout, direct.stderr)
    assert b"not here" in ran.stdout + ran.stderr


# Signals


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_relay_and_its_connection(relay: Relay, number: signal.Signals) -> None:
    ended: list[bool] = []

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(BEGUN)
        assert connection.go() == b"G"
        process.send_signal(number)
        ended.append(connection.ended())

    # Tests that were started by nohup ignore one of them, and so would the relay.
    words = ["env", "--default-signal=HUP", *relay.words()]
    with serving(relay.directory, respond):
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=clean())
        _, received = process.communicate(b"{}", timeout=60)
    assert (process.returncode, received, ended) == (-number, b"", [True])


def test_a_relay_whose_input_never_ends_asks_nobody(relay: Relay) -> None:
    with serving(relay.directory, says(DONE)) as server:
        process = subprocess.Popen(relay.words(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean())
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM
        process.communicate()
    assert server.connections == 0
