"""Test what is remembered of a session, and what happens to files that others wrote."""

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline import Engine
from hookline.trust.sessions import HookGuards, KnownGuard, SeenSession, SessionStore
from hookline.trust.trust import Trust

RECORD = SeenSession(
    dialect="claude-code",
    session="s-1",
    directory="/project/sub",
    root="/project",
    guards={"1": KnownGuard("PreToolUse", "a (x:1)"), "2": KnownGuard("PreToolUse", "b (x:2)")},
    shown=("a line",),
)


def file_of(home: Path) -> Path:
    (found,) = [
        each for each in (home / ".local/state/hookline/sessions").iterdir() if each.suffix == ".json"
    ]
    return found


def ids(record: SeenSession) -> SeenSession:
    return SeenSession(dialect=record.dialect, session=record.session, files=record.files)


def test_a_session_is_known_by_agent_and_id(tmp_path: Path) -> None:
    sessions = SessionStore(str(tmp_path))
    assert sessions.recall(ids(RECORD)) is None
    assert sessions.keep(RECORD)
    assert SessionStore(str(tmp_path)).recall(ids(RECORD)) == RECORD
    for other in ({"session": "s-2"}, {"dialect": "native"}, {"files": ("a.toml",)}):
        assert sessions.recall(replace(ids(RECORD), **other)) is None
    assert sessions.problems == []


def test_only_the_user_can_read_it_and_no_variable_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "moved"))
    SessionStore(str(tmp_path)).keep(replace(RECORD, session="../../s-1\0" + "x" * 10_000))
    file = file_of(tmp_path)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert not (tmp_path / "moved").exists()


def to_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def to_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def to_link(file: Path) -> None:
    other = file.parent.parent / "other"
    file.rename(other)
    file.symlink_to(other)


def to_link_directory(file: Path) -> None:
    other = file.parent.parent / "other"
    file.parent.rename(other)
    file.parent.symlink_to(other)


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda file: file.write_bytes(file.read_bytes()[:-20]), "it is damaged"),
    "emptied": (lambda file: file.write_bytes(b""), "it is damaged"),
    "garbled": (lambda file: file.write_bytes(os.urandom(300)), "it is damaged"),
    "of other types": (lambda file: file.write_text('{"dialect": 7, "session": []}'), "it is damaged"),
    "too large": (lambda file: file.write_bytes(b" " * (5 << 20)), "it is too large"),
    "of another session": (
        lambda file: file.write_text(file.read_text().replace("s-1", "s-2")), "it was written for something else",
    ),
    "of another version": (
        lambda file: file.write_text(file.read_text().replace('"version":1', '"version":2')), "something else",
    ),
    "a fifo": (to_fifo, "it is not a file"),
    "a directory": (to_directory, "Is a directory"),
    "a link": (to_link, "symbolic link"),
    "below a link": (to_link_directory, "it is a symbolic link; check its owner and mode"),
    "writable by all": (lambda file: file.chmod(0o666), "other users can write it"),
    "below a folder for all": (lambda file: file.parent.chmod(0o777), "other users can write it"),
}  # fmt: skip


@pytest.mark.parametrize(("damage", "why"), DAMAGES.values(), ids=list(DAMAGES))
def test_a_file_that_cannot_be_trusted_is_not_used(
    tmp_path: Path, damage: Callable[[Path], object], why: str
) -> None:
    SessionStore(str(tmp_path)).keep(RECORD)
    file = file_of(tmp_path)
    damage(file)
    sessions = SessionStore(str(tmp_path))
    assert sessions.recall(ids(RECORD)) is None
    (problem,) = sessions.problems
    assert problem.startswith(f"{file} is not used: ")
    assert why in problem
    assert problem.endswith("; the session is treated as new")
    # Where only the file was bad, the next call knows the session again.
    if sessions.keep(RECORD):
        assert SessionStore(str(tmp_path)).recall(ids(RECORD)) == RECORD
    else:
        assert "cannot be written" in sessions.problems[-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("of_directory", [False, True], ids=["file", "directory"])
def test_a_file_of_another_user_is_not_used(tmp_path: Path, of_directory: bool) -> None:
    SessionStore(str(tmp_path)).keep(RECORD)
    file = file_of(tmp_path)
    os.chown(file.parent if of_directory else file, 65534, 65534)
    sessions = SessionStore(str(tmp_path))
    assert sessions.recall(ids(RECORD)) is None
    assert "it belongs to another user (uid 65534)" in sessions.problems[0]


def test_where_nothing_can_be_written_that_is_said_and_nothing_is_raised(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # Modes do not stop root; this file system does.
        home = "/proc"
    else:
        home = str(tmp_path)
        tmp_path.chmod(0o500)
    sessions = SessionStore(home)
    assert sessions.recall(ids(RECORD)) is None
    assert not sessions.keep(RECORD)
    sessions.sweep()
    (problem,) = sessions.problems
    assert "cannot be written" in problem
    assert sessions.confirm("/project", []) == 0


@pytest.mark.parametrize("home", ["", "relative", "./x"])
def test_without_a_home_nothing_is_remembered_and_nothing_written(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sessions = SessionStore(home)
    assert not sessions.keep(RECORD)
    assert sessions.recall(ids(RECORD)) is None
    sessions.sweep()
    assert list(tmp_path.iterdir()) == []


def test_old_sessions_are_removed_once_a_day(tmp_path: Path) -> None:
    sessions = SessionStore(str(tmp_path))
    for name in ("old", "alive", "new"):
        sessions.keep(replace(RECORD, session=name))
    directory = tmp_path / ".local/state/hookline/sessions"
    long_ago = time.time() - 40 * 86_400
    for file in directory.iterdir():
        os.utime(file, (long_ago, long_ago) if b'"new"' not in file.read_bytes() else None)
    # What cannot be removed does not keep the rest.
    for name in ("0", "x", "~"):
        (directory / name).mkdir()
        os.utime(directory / name, (long_ago, long_ago))
    # A session with a new call is alive, however old its file is.
    assert sessions.recall(replace(ids(RECORD), session="alive")) is not None
    sessions.sweep()
    left = [name for name in ("old", "alive", "new") if sessions.recall(replace(ids(RECORD), session=name))]
    assert left == ["alive", "new"]
    sessions.keep(replace(RECORD, session="old"))
    for file in directory.glob("*.json"):
        os.utime(file, (long_ago, long_ago))
    sessions.sweep()
    assert len(list(directory.glob("*.json"))) == 3


def test_a_confirmation_reaches_the_sessions_of_that_project_only(tmp_path: Path) -> None:
    sessions = SessionStore(str(tmp_path))
    sessions.keep(RECORD)
    sessions.keep(replace(RECORD, session="s-2", root="/other"))
    (tmp_path / ".local/state/hookline/sessions/x.json").write_text("{")
    assert sessions.confirm("/project", ["2", "3"]) == 1
    assert sessions.recall(ids(RECORD)) == replace(RECORD, guards={"2": RECORD.guards["2"]})
    other = sessions.recall(replace(ids(RECORD), session="s-2"))
    assert other is not None
    assert other.guards == RECORD.guards
    assert sessions.confirm("/project", ["2", "3"]) == 0


EXAMPLES = Path(__file__).parents[2] / "examples"
IDENTITIES = """
import sys
from hookline import Engine
from hookline.trust.sessions import HookGuards
from hookline.trust.trust import Trust
for file in sys.argv[1:]:
    print(*HookGuards(Engine().loader.files([file]).hooks).present(Trust("/", {})))
"""


def test_a_guard_is_the_same_in_every_process() -> None:
    """Of every dialect: an identity that has an address or the order of a set in it would be missed at once."""
    files = [str(file) for file in EXAMPLES.glob("*/**/*") if file.suffix in (".json", ".toml", ".yaml")]
    trust = Trust("/", {})
    hooks = [Engine().loader.files([file]).hooks for file in files]
    here = [identity for each in hooks for identity in HookGuards(each).present(trust)]
    ran = subprocess.run(
        [sys.executable, "-c", IDENTITIES, *files],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == here
    assert len(here) > 10
