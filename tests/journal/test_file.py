import fcntl
import os
import pwd
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from hookline.extending import JournalFile, Run
from hookline.journal.file import encoded, journal_path, rotate, state_dir
from hookline.journal.reader import read_journal
from tests.journal.journal_damage import LIMITED, full_disk, write_concurrently, write_in_child


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_line_holds_what_is_set_and_reads_back_the_same(tmp_path: Path) -> None:
    run = Run(
        hook="guard",
        status="failed",
        cause="crashed",
        dropped=("context",),
        exit_code=0,
        at=1.5,
        stdout="a\nb",
    )
    line = msgspec.json.decode(encoded(run))
    assert len(line.pop("sum")) == 8
    assert line == {
        "v": 1, "hook": "guard", "status": "failed", "cause": "crashed", "dropped": ["context"], "exit_code": 0,
        "stdout": "a\nb", "at": 1.5,
    }  # fmt: skip
    path = tmp_path / "journal.jsonl"
    file = JournalFile(str(path))
    file.append(run)
    file.append(Run(hook=""))
    assert read_journal(str(path)).runs == (run, Run(hook=""))
    assert path.read_bytes().count(b"\n") == 2
    file.close()


def test_every_field_of_a_run_is_written_when_it_is_set() -> None:
    values = {field.name: f"not the default of {field.name}" for field in msgspec.structs.fields(Run)}
    line = msgspec.json.decode(encoded(Run(**values)))  # pyright: ignore[reportArgumentType] - texts everywhere
    assert {name: line[name] for name in values} == values
    defaults = {field.name: field.default for field in msgspec.structs.fields(Run) if field.name != "hook"}
    assert msgspec.json.decode(encoded(Run(hook="x", **defaults))).keys() == {"v", "hook", "sum"}


def test_nothing_is_created_before_the_first_run_and_then_only_for_this_user(tmp_path: Path) -> None:
    path = tmp_path / "state" / "hookline" / "journal.jsonl"
    file = JournalFile(str(path))
    assert not path.parent.exists()
    old = os.umask(0)
    try:
        file.append(Run(hook="x"))
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    file.close()


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.touch(mode=0o644)
    file = JournalFile(str(path))
    file.append(Run(hook="x"))
    file.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_descriptor_is_not_inherited_and_is_given_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    file = JournalFile(str(tmp_path / "journal.jsonl"))
    file.append(Run(hook="x"))
    assert file._fd is not None  # pyright: ignore[reportPrivateUsage] - no public way to see it
    assert not os.get_inheritable(file._fd)  # pyright: ignore[reportPrivateUsage] - the same
    file.close()
    file.close()
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/a"}, "/home/a/.local/state/hookline"),
        ({"HOME": "/home/a"}, "/home/a/.local/state/hookline"),
    ],
)
def test_state_is_below_the_home_whatever_other_variables_say(env: dict[str, str], expected: str) -> None:
    assert state_dir(env) == expected
    assert journal_path(env) == expected + "/journal.jsonl"


def test_without_a_home_the_account_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    own = pwd.getpwuid(os.getuid()).pw_dir
    assert state_dir({}) == os.path.join(own, ".local/state/hookline")
    monkeypatch.setenv("HOME", "")
    assert state_dir({"HOME": ""}) == os.path.join(own, ".local/state/hookline")


def _fixed(path: str) -> Callable[[Path], str]:
    return lambda _directory: path


def _under_a_file(directory: Path) -> str:
    (directory / "file").touch()
    return str(directory / "file" / "journal.jsonl")


def _a_link(directory: Path) -> str:
    (directory / "victim").touch()
    (directory / "link.jsonl").symlink_to(directory / "victim")
    return str(directory / "link.jsonl")


def _a_pipe(directory: Path) -> str:
    os.mkfifo(directory / "pipe")
    return str(directory / "pipe")


def _a_socket(directory: Path) -> str:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "s"))
    return str(directory / "s")


def _a_directory(directory: Path) -> str:
    (directory / "journal.jsonl").mkdir()
    return str(directory / "journal.jsonl")


def _of_somebody_else(directory: Path) -> str:
    if os.geteuid() != 0:
        pytest.skip("only root can make a file that belongs to somebody else")
    (directory / "theirs").touch()
    os.chown(directory / "theirs", 12345, 12345)
    return str(directory / "theirs")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (_fixed("/dev/full"), "No space left on device"),
        (_fixed("/proc/journal.jsonl"), "No such file or directory"),
        (_fixed("/proc/nowhere/hookline/journal.jsonl"), "No such file or directory"),
        (_fixed("relative.jsonl"), "not an absolute path"),
        (_fixed("/tmp/nul\0.jsonl"), "embedded null byte"),
        (_fixed("/tmp/" + "long" * 100), "File name too long"),
        (_under_a_file, "Not a directory"),
        (_a_link, "a symbolic link is in its place"),
        (_a_pipe, "not a regular file"),
        (_a_socket, "No such device or address"),
        (_a_directory, "Is a directory"),
        (_of_somebody_else, "owned by another user"),
    ],
)  # fmt: skip
def test_a_place_that_cannot_be_written_is_said_once_and_nothing_else_changes(
    place: Callable[[Path], str], reason: str, tmp_path: Path
) -> None:
    before = len(os.listdir("/proc/self/fd"))
    path = place(tmp_path)
    log, file = full_disk(path)
    assert (log.runs, len(log.recent()), file.lost) == (20, 20, 20)
    (problem,) = log.problems
    assert problem.startswith(f"journal off: {reason} (")
    log.close()
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_linked_file_is_not_touched(tmp_path: Path) -> None:
    full_disk(_a_link(tmp_path))
    assert (tmp_path / "victim").read_bytes() == b""


def test_a_directory_that_may_not_be_written_is_said(tmp_path: Path) -> None:
    code = """
import os, sys
from hookline.journal.file import JournalFile
from hookline.model.run import Run
if os.geteuid() == 0:
    os.seteuid(65534)
file = JournalFile(sys.argv[1])
file.append(Run(hook="x"))
print(*file.problems)
"""
    (tmp_path / "closed").mkdir(mode=0o500)
    path = tmp_path / "closed" / "journal.jsonl"
    ran = write_in_child(code, str(path))
    assert (ran.stdout, ran.stderr) == (f"journal off: Permission denied ({path})\n", "")


def test_a_file_under_a_lease_is_not_waited_for(tmp_path: Path) -> None:
    if not hasattr(fcntl, "F_SETLEASE"):
        pytest.skip("no leases on this system")
    code = """
import fcntl, os, signal, sys
from hookline.journal.file import JournalFile
from hookline.model.run import Run
signal.signal(signal.SIGIO, signal.SIG_IGN)
held = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_RDLCK)
file = JournalFile(sys.argv[1])
file.append(Run(hook="x"))
print(*file.problems)
"""
    path = tmp_path / "journal.jsonl"
    path.touch()
    ran = write_in_child(code, str(path))
    assert (ran.stdout, ran.stderr) == (f"journal off: Resource temporarily unavailable ({path})\n", "")


def test_a_disk_that_fills_up_tears_at_most_one_line_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    ran = write_in_child(LIMITED, str(path))
    assert ran.stderr == ""
    runs, lost, problems, said = ran.stdout.split(maxsplit=3)
    reading = read_journal(str(path))
    assert (runs, problems) == ("200", "1")
    assert said.startswith("journal off: File too large (")
    assert len(reading.runs) + int(lost) == 200
    assert len(reading.runs) > 10
    assert len(reading.damage) == 1
    assert path.stat().st_size == 3000


def test_after_a_while_it_is_tried_again_and_the_gap_is_on_record(tmp_path: Path) -> None:
    clock = Clock()
    blocked = tmp_path / "state"
    blocked.touch()
    file = JournalFile(str(blocked / "journal.jsonl"), clock=clock)
    for number in range(4):
        file.append(Run(hook=str(number)))
    blocked.unlink()
    file.append(Run(hook="too early"))
    assert not blocked.exists()
    clock.now += 31
    file.append(Run(hook="back"))
    file.append(Run(hook="and on"))
    file.close()
    reading = read_journal(file.path)
    assert [run.hook for run in reading.runs] == ["back", "and on"]
    assert reading.damage == ("line 1: 5 runs are missing here: they could not be written",)
    assert file.lost == 5


def test_the_same_trouble_again_is_not_said_again(tmp_path: Path) -> None:
    clock = Clock()
    file = JournalFile(_under_a_file(tmp_path), clock=clock)
    for _ in range(5):
        file.append(Run(hook="x"))
        clock.now += 31
    assert len(file.problems) == 1


def test_a_half_line_left_by_somebody_does_not_swallow_the_next(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encoded(Run(hook="first")) + b'{"v":1,"hook":"ha')
    file = JournalFile(str(path))
    file.append(Run(hook="next"))
    file.close()
    reading = read_journal(str(path))
    assert [run.hook for run in reading.runs] == ["first", "next"]
    assert len(reading.damage) == 1
    assert reading.damage[0].startswith("line 2: not a whole record")
    assert path.read_bytes().endswith(b"\n" + encoded(Run(hook="next")))


def test_half_a_surrogate_pair_is_spelled_out(tmp_path: Path) -> None:
    file = JournalFile(str(tmp_path / "journal.jsonl"))
    file.append(Run(hook="a\ud800b", dropped=("\udfff",)))
    file.close()
    (run,) = read_journal(file.path).runs
    assert (run.hook, run.dropped) == ("a\\ud800b", ("\\udfff",))


def test_a_run_that_cannot_be_encoded_costs_only_itself(tmp_path: Path) -> None:
    file = JournalFile(str(tmp_path / "journal.jsonl"))
    file.append(Run(hook="x", agent=object()))  # pyright: ignore[reportArgumentType] - wrong type on purpose
    file.append(Run(hook="y"))
    file.close()
    assert [run.hook for run in read_journal(file.path).runs] == ["y"]
    assert (file.lost, len(file.problems)) == (1, 1)


def test_a_full_file_is_moved_aside(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    file = JournalFile(str(path), rotate_at=500)
    for number in range(20):
        file.append(Run(hook=f"hook number {number}"))
    file.close()
    older, newer = read_journal(f"{path}.1"), read_journal(str(path))
    assert older.runs[-1].hook != newer.runs[-1].hook == "hook number 19"
    assert path.stat().st_size <= 560
    assert older.damage == newer.damage == ()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_is_moved_aside_only_while_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"x" * 100)
    rotate(str(path), 101)
    assert path.exists()
    rotate(str(path), 100)
    assert not path.exists()


def test_a_file_another_process_is_moving_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    file = JournalFile(str(path), rotate_at=10)
    file.append(Run(hook="a"))
    with path.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        file.append(Run(hook="b"))
        assert len(read_journal(str(path)).runs) == 2
    file.append(Run(hook="c"))
    file.close()
    assert [run.hook for run in read_journal(str(path)).runs] == ["c"]
    assert file.problems == ()


def test_a_descriptor_somebody_closed_is_said(tmp_path: Path) -> None:
    file = JournalFile(str(tmp_path / "journal.jsonl"))
    file.append(Run(hook="a"))
    os.close(file._fd or 0)  # pyright: ignore[reportPrivateUsage] - the accident itself
    file.append(Run(hook="b"))
    assert (file.lost, len(file.problems)) == (1, 2)
    assert "Bad file descriptor" in file.problems[0]


def test_a_file_that_was_removed_or_moved_is_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    file = JournalFile(str(path))
    file.append(Run(hook="a"))
    path.unlink()
    file.append(Run(hook="b"))
    path.rename(tmp_path / "elsewhere")
    file.append(Run(hook="c"))
    path.unlink()
    path.write_bytes(encoded(Run(hook="new")))
    file.append(Run(hook="d"))
    file.close()
    assert [run.hook for run in read_journal(str(path)).runs] == ["new", "d"]
    assert [run.hook for run in read_journal(str(tmp_path / "elsewhere")).runs] == ["b"]


def test_two_processes_write_one_file_and_every_line_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    said = write_concurrently(path, 2, 1500, 1 << 30)
    reading = read_journal(str(path))
    assert said == ["0", "0"]
    assert reading.damage == ()
    for name in "ab":
        assert [run.hook for run in reading.runs if run.hook.startswith(name)] == [
            f"{name} {n}" for n in range(1500)
        ]


def test_processes_that_find_the_file_full_at_once_move_it_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    said = write_concurrently(path, 2, 600, 300_000)
    runs = [*read_journal(f"{path}.1").runs, *read_journal(str(path)).runs]
    assert said == ["0", "0"]
    assert len(runs) == 1200
    assert (tmp_path / "journal.jsonl.1").stat().st_size >= 300_000


def test_a_forked_child_writes_to_the_same_file(tmp_path: Path) -> None:
    code = """
import os, sys
from hookline.journal.file import JournalFile
from hookline.model.run import Run
file = JournalFile(sys.argv[1])
file.append(Run(hook="before"))
child = os.fork()
for number in range(300):
    file.append(Run(hook="child" if child == 0 else "parent", stdout="x" * number))
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""
    path = tmp_path / "journal.jsonl"
    assert write_in_child(code, str(path)).stderr == ""
    reading = read_journal(str(path))
    hooks = [run.hook for run in reading.runs]
    assert reading.damage == ()
    assert (hooks.count("before"), hooks.count("child"), hooks.count("parent")) == (1, 300, 300)
