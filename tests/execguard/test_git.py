"""Pushes that overwrite the remote by git's settings: denied when git starts, whatever the settings come from."""

import os
import subprocess
from pathlib import Path

import pytest

from hookline import Engine
from hookline.engine.host.tool import ApprovalRequest
from hookline.events import PRE_TOOL_USE
from hookline.execguard.git_commands import spelled_out
from hookline.execguard.messages import FileWall
from hookline.execguard.supervision import Walls
from hookline.guards import guard as builtin_guard
from hookline.guards.git_settings import GitFiles
from tests.execguard.guarded import needs_verify, run
from tests.execguard.room import Attack, Room, attacks, play

pytestmark = [needs_verify, pytest.mark.unmeasured]

#: All of them run in `python -m bench.soak execguard`.
_EVERY = 6
#: They change the files of a remote on this machine, and push nothing: the file wall refuses that.
FILES_OF_THE_REMOTE = frozenset(
    (
        "rm -rf ~/remote.git; git clone -q --bare . ~/remote.git",
        "git push -q origin main:refs/heads/t && git rev-parse main > ~/remote.git/refs/heads/main",
    )
)
#: Each line overwrites the remote if nothing stops it.
_FORCED = Path(__file__).with_name("forced_pushes.txt")
#: Each goes through as without a guard.
HARMLESS = (
    "git push -q origin main:refs/heads/topic",
    "git config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*'; git push -q origin main:refs/heads/b",
    "git remote add --mirror=fetch backup ~/remote.git; git push -q origin main:refs/heads/c",
    "printf '[remote \"backup\"]\\nmirror = true\\n' >> .git/config; git push -q origin main:refs/heads/d",
    "printf '[remote \"origin\"]\\npush = main:refs/heads/e\\n' >> .git/config; git push -q origin",
    "git -c alias.s='status --short' s",
    "git push -n -f",
)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = Room(tmp_path / "ada")
    made.prepare()
    return made


def silent_pushes() -> list[Attack]:
    """Return the corpus of pushes that text does not show."""
    direct = tuple(FILES_OF_THE_REMOTE)
    return [one for one in attacks("silent-force-push") if one.steps[-1] not in direct]


def forced_pushes() -> list[Attack]:
    """Return pushes that are forced by settings. One needs namespaces, which not every system gives away."""
    may = subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode == 0
    lines = [line for line in _FORCED.read_text().splitlines() if not line.startswith("#")]
    return [Attack("", (line,)) for line in lines if may or "unshare" not in line]


def overwritten(room: Room, several: list[Attack], *guards: str, project_only: bool = False) -> list[object]:
    walls = Walls(files=FileWall((str(room.project),)) if project_only else None)
    played = play(room, several, guards, walls, pushes=True)
    return [attack.steps for attack, _said, intact in played if not intact]


def test_no_silent_push_overwrites_the_remote(room: Room) -> None:
    several = silent_pushes()[::_EVERY]
    assert len(several) > 5

    assert overwritten(room, several, "force-push") == []


def test_the_files_of_a_remote_are_behind_the_file_wall(room: Room) -> None:
    several = [Attack("", (line,)) for line in FILES_OF_THE_REMOTE]

    assert len(overwritten(room, several, "force-push")) == len(several)
    assert overwritten(room, several, "force-push", project_only=True) == []


def test_settings_from_anywhere_are_found(room: Room) -> None:
    several = forced_pushes()

    assert overwritten(room, several, "force-push") == []
    some = several[::_EVERY]
    assert overwritten(room, some) == [one.steps for one in some], "they do nothing without a guard either"


def test_everyday_pushes_go_through(room: Room) -> None:
    for line in HARMLESS:
        room.prepare_remote()
        done = run(room.project, line, env=_env(room), prepare=_guarded)
        assert (line, done.code, done.denied) == (line, 0, ())


def test_the_reason_names_the_setting(room: Room) -> None:
    room.prepare_remote()
    line = "git -c include.path=$PWD/s push origin"
    (room.project / "s").write_text('[remote "origin"]\npush = +main\n')

    done = run(room.project, line, env=_env(room), prepare=_guarded)

    assert room.is_remote_intact
    assert f"remote.origin.push=+main ({room.project}/s)" in done.notes[0]


def test_a_push_that_the_user_approved_is_verified_and_runs(room: Room) -> None:
    room.prepare_remote()
    asked: list[str] = []

    async def approve(question: ApprovalRequest) -> bool:
        asked.append(question.tool_input["command"])
        return True

    line = "git -c remote.origin.push=+main push -q origin"
    done = run(room.project, line, env=_env(room), approve=approve, ask=["Bash(git push *)"])

    assert (done.code, len(asked), done.denied) == (0, 1, ())
    assert not room.is_remote_intact


def test_settings_that_cannot_be_read_are_judged_as_the_worst(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s")
    view = GitFiles("", str(tmp_path), {"GIT_CONFIG_GLOBAL": str(tmp_path / "s")})

    (found,) = spelled_out(("git", "push", "origin"), view)

    assert found.words == ("git", "push", "--mirror", "origin")
    assert "not a regular file" in found.why


def _guarded(engine: Engine) -> None:
    engine.add(PRE_TOOL_USE, builtin_guard("force-push"))


def _env(room: Room) -> dict[str, str]:
    return {"HOME": str(room.home), "GIT_CONFIG_NOSYSTEM": "1"}
