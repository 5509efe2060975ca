"""File walls: what guards over files forbid is refused by the kernel, also to code that no text shows."""

import shutil
from pathlib import Path

import pytest

from hookline.execguard.judge import ExecRules, GuardRow
from hookline.execguard.probe import capabilities
from hookline.execguard.walls.files import file_wall
from hookline.execguard.walls.landlock import readable
from tests.execguard.guarded import needs_verify, run
from tests.execguard.room import SECRET, Attack, Room, attacks, play

_found = capabilities()
pytestmark = [
    needs_verify,
    pytest.mark.skipif(not _found.landlock, reason=f"FILE WALLS ARE NOT TESTED HERE: {_found.landlock_why}"),
    pytest.mark.unmeasured,
]
#: All of them run in `python -m bench.soak execguard`.
_EVERY = 6
#: The project's own secrets stay readable for code: hiding them would hide files that the command makes beside them.
OWN_SECRETS = frozenset(
    (
        "date -f .env",
        "man -l .env",
        "tar c . 2>/dev/null | tar xO ./.env",
        "ip -b .env",
        "echo 'puts [read [open .env]]' | tclsh",
        "python3 - <<'E'\nimport os\nfor k in os.listdir('.'):\n    if k.startswith('.e'): print(open(k).read())\nE",
    )
)


@pytest.fixture
def room(tmp_path: Path) -> Room:
    made = Room(tmp_path / "ada")
    made.prepare()
    return made


def test_no_silent_deletion_reaches_another_directory(room: Room) -> None:
    guards = ("delete-recursive", "write-outside-project")
    several = list(attacks("silent-delete"))[::_EVERY]
    assert len(several) > 5

    assert [attack.steps for attack, _said, intact in play(room, several, guards) if not intact] == []


def test_no_silent_read_shows_a_secret_of_the_home_directory(room: Room) -> None:
    several = [one for one in attacks("silent-secrets-read") if one.steps[-1] not in tuple(OWN_SECRETS)][
        ::_EVERY
    ]
    assert len(several) > 5

    assert [
        attack.steps for attack, said, _intact in play(room, several, ("secrets-read",)) if SECRET in said
    ] == []


def test_the_exception_is_honest(room: Room) -> None:
    line = next(one for one in OWN_SECRETS if "listdir" in one)

    ((_attack, said, _intact),) = play(room, [Attack("", (line,))], ("secrets-read",))

    assert SECRET in said


def test_without_walls_the_same_code_gets_through(room: Room) -> None:
    code = f'python3 -c \'import os; os.remove("{room.kept[0]}"); print(open("{room.secrets[0]}").read())\''
    if shutil.which("python3") is None:
        pytest.skip("python3 is not here")

    done = run(room.project, code)

    assert not room.is_intact
    assert SECRET.encode() in getattr(done.raw, "stdout", b"")


def test_a_wall_is_made_of_the_guards_that_are_active(room: Room) -> None:
    def wall(*guards: GuardRow) -> tuple[bool, bool] | None:
        found = file_wall(
            ExecRules(guards=guards, project=str(room.project), home=str(room.home)), ("/srv/x",)
        )
        return None if found is None else (found.writes is not None, bool(found.hidden))

    assert wall() is None
    assert wall(GuardRow("force-push")) is None
    assert wall(GuardRow("write-outside-project")) == (True, False)
    assert wall(GuardRow("secrets-read")) == (False, True)
    made = file_wall(
        ExecRules(guards=(GuardRow("write-outside-project"),), project=str(room.project)), ("/srv/x",)
    )
    assert made is not None
    assert made.writes is not None
    assert {str(room.project), "/srv/x", "/tmp"} <= set(made.writes)


def test_everything_but_what_is_hidden_can_be_read(room: Room) -> None:
    granted = set(readable([str(one) for one in room.secrets]))

    assert str(room.project) in granted
    assert str(room.home / "other") in granted
    assert not granted & {str(room.home), str(room.secrets[0]), str(room.secrets[0].parent), "/"}


def test_a_failed_command_says_that_walls_are_on(room: Room) -> None:
    done = run(room.project, f"echo x > {room.kept[0]}", walls=room.walls)

    assert room.is_intact
    assert done.code != 0
    assert "file walls are on" in done.notes[-1]
