"""Test what the relay sends, and how it gives the agent the daemon's answer."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import hookline
from tests.every import every
from tests.hook.relay.programs import CALL, Relay, clean, env_of
from tests.hook.relay.server import Connection, Respond, Server, answer, frame, serving


def replying(*frames: bytes, server: list[Server] | None = None) -> Respond:
    """Read the request and send these frames."""

    def respond(connection: Connection) -> None:
        asked = connection.request()
        if server:
            server[0].asked.append(asked)
        for each in frames:
            connection.send(each)
            assert not each.startswith(b"B") or connection.go() == b"G"

    return respond


DONE = frame(b"A", answer(0))


def ask(relay: Relay, *words: str | bytes, **more: object) -> Server:
    """One call; the server has what was asked."""
    known: list[Server] = []
    with serving(relay.directory, replying(DONE, server=known)) as server:
        known.append(server)
        ran = relay.run(*words, **more)  # pyright: ignore[reportArgumentType]
    assert (ran.code, ran.stdout, ran.stderr) == (0, b"", b"")
    return server


def test_the_request_has_all_that_the_call_consists_of(relay: Relay, tmp_path: Path) -> None:
    place = tmp_path / "a place"
    place.mkdir()
    words = ("hook", "--dialect=native", "--config", "a b", "--strict", "", "näh", b"\xff\xfe")
    env = {b"PATH": os.fsencode(os.defpath), b"PWD": os.fsencode(place), b"ODD": b"\xff\n=x", b"EMPTY": b""}
    (asked,) = ask(relay, *words, given=b'{"a": "\xff\0"}', env=env, cwd=place).asked
    assert asked.version == hookline.__version__.encode()
    assert asked.directory == os.fsencode(place)
    assert asked.arguments == tuple(os.fsencode(word) for word in words)
    assert env_of(asked.environment) == env
    assert asked.input == b'{"a": "\xff\0"}'


def test_a_thousand_variables_arrive(relay: Relay) -> None:
    env = clean() | {f"V{each}": str(each) * 50 for each in range(1000)}
    (asked,) = ask(relay, env=env).asked
    assert env_of(asked.environment) == {name.encode(): value.encode() for name, value in env.items()}
    if relay.kind == "compiled":
        assert asked.environment == tuple(f"{name}={value}".encode() for name, value in env.items())


@every("size", [0, 1, 65_535, 65_536, 65_537, 10_000_000])
def test_input_of_any_size_arrives(relay: Relay, size: int) -> None:
    given = os.urandom(1000) * (size // 1000) + b"x" * (size % 1000)
    (asked,) = ask(relay, given=given).asked
    assert asked.input == given


def test_a_directory_that_is_gone_is_empty(relay: Relay, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    go = f'cd "{gone}" && rmdir "{gone}" && exec "$@"'
    known: list[Server] = []
    with serving(relay.directory, replying(DONE, server=known)) as server:
        known.append(server)
        done = subprocess.run(
            ["/bin/sh", "-c", go, "sh", *relay.words()],
            env=clean(),
            input=b"{}",
            capture_output=True,
            check=False,
        )
    assert (done.returncode, server.asked[0].directory) == (0, b"")


@every(
    ("code", "stdout", "stderr", "shown"),
    [
        (0, b"", b"", b""),
        (0, b'{"a": 1}', b"", b""),
        (2, b"", b"no", b"no\n"),
        (1, b"x\n", b"no\n", b"no\n"),
        (255, b"\xff\0\xfe", b"\n\n", b"\n\n"),
        (0, b"x" * 5_000_000, b"y" * 100_000, b"y" * 100_000 + b"\n"),
    ],
)
def test_the_answer_is_given_as_it_is(
    relay: Relay, code: int, stdout: bytes, stderr: bytes, shown: bytes
) -> None:
    last = frame(b"A", answer(code, stdout, stderr, b"otherwise"))
    for frames in ((last,), (frame(b"B", answer(2, b"", b"lost")), last)):
        with serving(relay.directory, replying(*frames)):
            ran = relay.run()
        assert (ran.code, ran.stdout == stdout, ran.stderr == shown) == (code, True, True)


def test_hooks_start_only_after_the_relay_agreed(relay: Relay) -> None:
    seen: list[bytes] = []

    def respond(connection: Connection) -> None:
        connection.request()
        connection.send(frame(b"B", answer(2, b"", b"lost")))
        seen.append(connection.go())
        connection.send(frame(b"A", answer(0, b"done")))

    with serving(relay.directory, respond):
        assert relay.run().stdout == b"done"
    assert seen == [b"G"]


def test_a_frame_may_come_in_pieces(relay: Relay) -> None:
    whole = frame(b"B", answer(2)) + frame(b"A", answer(3, b"out", b"err"))

    def respond(connection: Connection) -> None:
        connection.request()
        for byte in whole:
            connection.send(bytes([byte]))
        assert connection.go() == b"G"

    with serving(relay.directory, respond):
        ran = relay.run()
    assert (ran.code, ran.stdout, ran.stderr) == (3, b"out", b"err\n")


# Streams of the agent that are not as they should be

_HELD_BACK = frame(b"A", answer(0, b'{"decision": "block"}' * 10_000, b"note", b"it was denied"))


def in_shell(relay: Relay, line: str, frames: bytes = _HELD_BACK) -> subprocess.CompletedProcess[bytes]:
    """`line` is shell in which "$@" is the relay."""
    with serving(relay.directory, replying(frames)):
        return subprocess.run(
            ["/bin/sh", "-c", line, "sh", *relay.words()],
            env=clean(), input=b"{}", capture_output=True, check=False,
        )  # fmt: skip


@every("line", ['exec "$@" >&-', 'exec "$@" >/dev/full', '{ "$@"; echo $? >&2; } | true'])
def test_what_holds_the_agent_back_does_so_without_stdout(relay: Relay, line: str) -> None:
    done = in_shell(relay, line)
    if "| true" in line:
        assert done.stderr == b"it was denied\n2\n"
    else:
        assert (done.returncode, done.stderr) == (2, b"it was denied\n")


@every("line", ['exec "$@" >&-', 'exec "$@" >/dev/full'])
def test_an_answer_that_does_not_hold_it_back_keeps_its_code(relay: Relay, line: str) -> None:
    done = in_shell(relay, line, frame(b"A", answer(0, b'{"context": "x"}', b"note")))
    assert (done.returncode, done.stderr) == (0, b"note\n")


def test_an_empty_answer_needs_no_streams(relay: Relay) -> None:
    assert in_shell(relay, 'exec "$@" >&- 2>&-', DONE).returncode == 0
    done = in_shell(relay, 'exec "$@" 2>&-', frame(b"A", answer(2, b"out", b"err")))
    assert (done.returncode, done.stdout) == (2, b"out")


@every("closed", ["0", "1", "2", "01", "12", "02", "012"])
def test_closed_streams_do_not_become_the_connection(relay: Relay, closed: str) -> None:
    """With standard input closed, the program itself runs; it says what is wrong."""
    marks = {"0": "<&-", "1": ">&-", "2": "2>&-"}
    line = f'exec "$@" {" ".join(marks[each] for each in closed)}'
    reading = "0" not in closed

    def respond(connection: Connection) -> None:
        asked = connection.request()
        assert asked.arguments == tuple(os.fsencode(word) for word in CALL)
        connection.send(frame(b"A", answer(5, b"out", b"err")))
        # Nothing of the answer may come back here.
        assert connection.ended()

    with serving(relay.directory, respond) as server:
        done = subprocess.run(
            ["/bin/sh", "-c", line, "sh", *relay.words()],
            env=clean(), input=b"{}" if reading else None, capture_output=True, check=False,
        )  # fmt: skip
    assert server.connections == int(reading)
    if reading:
        shown = b"" if "1" in closed else b"out", b"" if "2" in closed else b"err\n"
        assert (done.returncode, done.stdout, done.stderr) == (5, *shown)


def test_streams_that_do_not_block_are_waited_for(relay: Relay) -> None:
    """Some agents pass the ends of pipes as they have them themselves."""
    size = 1_000_000
    with serving(relay.directory, replying(frame(b"A", answer(0, b"x" * size)))):
        ours_in, theirs_in = os.pipe()
        os.set_blocking(ours_in, False)
        ours, theirs = os.pipe()
        os.set_blocking(theirs, False)
        process = subprocess.Popen(relay.words(), stdin=ours_in, stdout=theirs, env=clean())
        os.close(ours_in)
        os.close(theirs)
        with open(theirs_in, "wb") as stream:
            stream.write(b"{")
            stream.flush()
            stream.write(b"}")
        with open(ours, "rb") as stream:
            assert len(stream.read()) == size
    assert process.wait() == 0


def test_the_agent_gets_nothing_before_the_whole_answer_is_there(relay: Relay) -> None:
    """Half an answer would be read as one."""
    half = frame(b"A", answer(0, b"x" * 1000))[:-500]
    with serving(relay.directory, replying(frame(b"B", answer(2, b"", b"lost")), half)):
        ran = relay.run()
    assert (ran.code, ran.stdout, ran.stderr) == (2, b"", b"lost\n")


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_nothing_of_the_relay_is_left_open_for_the_program(relay: Relay) -> None:
    lists = relay.program.parent / "lists"
    lists.mkdir(exist_ok=True)
    moved = lists / "hookline-relay"
    if not moved.exists():
        os.link(relay.program, moved)
    listing = f"#!{sys.executable} -IS\nimport posix\nprint(sorted(posix.listdir('/proc/self/fd')))\n"
    (lists / "hookline").write_text(listing)
    (lists / "hookline").chmod(0o755)
    with serving(relay.directory, replying(frame(b"V", b"busy"))):
        ran = Relay(relay.kind, moved, relay.directory).run()
    # The fourth lists the directory.
    assert ran.stdout.splitlines()[0] == b"['0', '1', '2', '3']"
