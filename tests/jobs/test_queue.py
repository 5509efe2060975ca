"""The queue in its file: real SQLite, several queues as several processes would have them."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.jobs.file import DurableFile
from hookline.jobs.owner import is_gone, owner_name
from hookline.jobs.port import MAX_ATTEMPTS, DurableError, Job, Lease, Wake
from tests.waiting import wait_until

LANES = ("files",)


def job(number: int, *, session: str = "s", ordered: bool = False, queue: str = "files") -> Job:
    return Job(id=f"{number:04}", session=session, queue=queue, body=b"{}", ordered=ordered)


def queue(directory: Path, **options: Any) -> DurableFile:
    return DurableFile(str(directory / "state" / "jobs.sqlite"), back_off=(0.0,), **options)


def ids(leases: Sequence[Lease]) -> list[str]:
    return [lease.job.id for lease in leases]


def test_what_was_accepted_is_there_for_the_next_process_and_the_same_id_is_accepted_once(
    tmp_path: Path,
) -> None:
    first = queue(tmp_path)
    assert first.submit(job(1))
    assert not first.submit(job(1))
    (lease,) = first.claim(LANES, 8)
    assert first.settle(lease, [Wake(id="1.0", session="s", body=b"x")]) == "settled"
    assert not first.submit(job(1)), "also when it is over"
    first.close()
    second = queue(tmp_path)
    assert [wake.id for wake in second.wakes("s")] == ["1.0"]
    second.seen("1.0")
    assert second.wakes("s") == []
    assert oct(os.stat(second.path).st_mode & 0o777) == "0o600"


def test_two_queues_never_have_one_job(tmp_path: Path) -> None:
    one, two = queue(tmp_path), queue(tmp_path)
    for number in range(200):
        one.submit(job(number))
    one.close()  # so that no process owns them
    taken = [
        *ids(one.claim(LANES, 60)),
        *ids(two.claim(LANES, 60)),
        *ids(one.claim(LANES, 60)),
        *ids(two.claim(LANES, 60)),
    ]
    assert len(taken) == 200 == len(set(taken))


def test_a_second_queue_of_a_process_takes_no_locks_from_the_first(tmp_path: Path) -> None:
    """Else another process removes the log into which the first still writes, when it closes the file."""
    one, two = queue(tmp_path), queue(tmp_path)
    one.submit(job(1))
    two.jobs()
    assert _known_elsewhere(one) == ["0001"]
    one.submit(job(2))
    assert _known_elsewhere(one) == ["0001", "0002"]


def _known_elsewhere(here: DurableFile) -> list[str]:
    """Return the ids of the jobs that another process finds. It closes the file."""
    code = (
        "import sys; from contextlib import closing; from hookline.jobs.file import DurableFile\n"
        "with closing(DurableFile(sys.argv[1])) as queue: print(*[job.id for job in queue.jobs()])"
    )
    ran = subprocess.run([sys.executable, "-c", code, here.path], capture_output=True, text=True, check=True)
    return ran.stdout.split()


def test_a_job_of_a_living_process_is_not_taken(tmp_path: Path) -> None:
    one, two = queue(tmp_path), queue(tmp_path)
    one.submit(job(1))
    assert two.claim(LANES, 8) == ()
    assert ids(one.claim(LANES, 8)) == ["0001"]
    assert two.claim(LANES, 8) == ()


def test_who_was_stopped_past_the_lease_can_settle_nothing_and_keep_nothing(tmp_path: Path) -> None:
    stopped, other = queue(tmp_path, lease=0.05), queue(tmp_path, grace=0.1)
    stopped.submit(job(1))
    (old,) = stopped.claim(LANES, 8)
    found: list[Lease] = []
    wait_until(lambda: found.extend(other.claim(LANES, 8)) or found)
    assert found[0].attempt == 2
    assert not stopped.extend(old)
    wake = Wake(id="1.0", session="s", body=b"x")
    assert [stopped.settle(old, [wake]), stopped.bury(old, [wake], "x"), stopped.retry(old, [wake], "x")] == [
        "lost"
    ] * 3
    assert other.wakes("s") == []
    assert other.settle(found[0], [wake]) == "settled"


def test_a_job_that_fails_is_tried_three_times_and_is_then_a_dead_letter_with_its_wake(
    tmp_path: Path,
) -> None:
    here = queue(tmp_path)
    here.submit(job(1))
    wake = Wake(id="1.0", session="s", body=b"dead")
    ends: list[str] = []
    for attempt in range(1, MAX_ATTEMPTS + 1):
        (lease,) = here.claim(LANES, 8)
        assert lease.attempt == attempt
        ends.append(here.retry(lease, [wake], "it crashed"))
    assert ends == ["queued", "queued", "dead"]
    assert [(known.state, known.why, known.attempts) for known in here.jobs()] == [("dead", "it crashed", 3)]
    assert [each.body for each in here.wakes("s")] == [b"dead"]
    assert here.requeue("0001")
    assert [lease.attempt for lease in here.claim(LANES, 8)] == [1]
    assert not here.drop("0001"), "it is running"


def test_ordered_jobs_of_a_session_run_one_after_another_and_others_beside_them(tmp_path: Path) -> None:
    here = queue(tmp_path)
    for number, (session, ordered) in enumerate([("a", True), ("a", True), ("b", True), ("a", False)]):
        here.submit(job(number, session=session, ordered=ordered))
    first = here.claim(LANES, 8)
    assert ids(first) == ["0000", "0002", "0003"]
    assert here.claim(LANES, 8) == ()
    here.retry(first[0], [], "later")
    again = here.claim(LANES, 8)
    assert ids(again) == ["0000"], "a failure keeps its place"
    here.settle(again[0], [])
    assert ids(here.claim(LANES, 8)) == ["0001"]


def test_only_a_process_that_has_the_hook_gets_its_job(tmp_path: Path) -> None:
    here = queue(tmp_path)
    here.submit(job(1, queue="code:x"))
    here.close()
    other = queue(tmp_path)
    assert other.claim(LANES, 8) == ()
    assert ids(other.claim(("files", "code:x"), 8)) == ["0001"]


def test_jobs_of_a_dead_process_are_taken_before_their_lease_ends(tmp_path: Path) -> None:
    code = (
        "import os, sys; from tests.jobs.test_queue import *\n"
        "q = queue(Path(sys.argv[1])); q.submit(job(1)); q.submit(job(2)); print(len(q.claim(LANES, 1))); os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == b"1\n", done.stderr
    here = queue(tmp_path, grace=0.2)
    (begun,) = here.claim(LANES, 8)
    assert begun.job.id == "0002", "what had not begun at once"
    here.settle(begun, [])
    found: list[Lease] = []
    wait_until(lambda: found.extend(here.claim(LANES, 8)) or found)
    assert [(lease.job.id, lease.attempt) for lease in found] == [("0001", 2)], (
        "the other when its hook is gone, too, and alone"
    )


def test_a_name_says_whether_its_process_is_gone() -> None:
    own = owner_name()
    machine, pid, began, rest = own.split("/")
    assert not is_gone(own)
    assert is_gone(f"{machine}/{pid}/{int(began) + 1}/{rest}"), "another process has its number now"
    assert is_gone(f"0{machine}/{pid}/{began}/{rest}"), "before the machine was started anew"
    assert not is_gone("x"), "who knows"


def test_a_clock_that_began_anew_does_not_keep_jobs_for_ever(tmp_path: Path) -> None:
    first, other = queue(tmp_path, lease=10_000_000.0), queue(tmp_path)
    first.submit(job(1))
    assert ids(other.claim(LANES, 8)) == ["0001"]


def test_a_damaged_file_is_said_and_nothing_is_accepted(tmp_path: Path) -> None:
    here = queue(tmp_path)
    here.submit(job(1))
    here.close()
    Path(here.path).write_bytes(b"this is no database" * 500)
    for damaged in (here, queue(tmp_path)):
        with pytest.raises(DurableError, match="not a database: move it away"):
            damaged.submit(job(2))


def test_a_file_that_was_removed_is_made_anew(tmp_path: Path) -> None:
    here = queue(tmp_path)
    here.submit(job(1))
    for file in Path(here.path).parent.iterdir():
        file.unlink()
    time.sleep(0.02)  # what comes within ten milliseconds is taken to go where the last one went
    assert here.submit(job(2))
    assert [known.id for known in queue(tmp_path).jobs()] == ["0002"]


def test_a_lock_that_is_not_given_up_is_said(tmp_path: Path) -> None:
    here = queue(tmp_path)
    here.submit(job(1))
    other = sqlite3.connect(here.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DurableError, match="locked"):
        here.submit(job(2))
    other.execute("ROLLBACK")
    other.close()
    assert here.submit(job(2))


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    here = queue(tmp_path)
    here.submit(job(1))
    here._do(lambda connection: connection.execute("PRAGMA max_page_count = 20"))  # pyright: ignore[reportPrivateUsage]
    large = [Job(id=str(number), session="s", queue="files", body=b"x" * 4000) for number in range(100)]
    with pytest.raises(DurableError, match="full"):
        list(map(here.submit, large))


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "else").touch()
    (tmp_path / "state" / "jobs.sqlite").symlink_to(tmp_path / "else")
    with pytest.raises(DurableError):
        queue(tmp_path).submit(job(1))


def test_a_file_that_cannot_be_written_is_said_whether_it_was_open_before_or_not() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        directory.chmod(0o755)
        here = queue(directory)
        here.submit(job(1))
        here._do(lambda connection: connection.execute("PRAGMA query_only = ON"))  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(DurableError, match="readonly"):
            here.submit(job(2))
        here.close()
        (directory / "state").chmod(0o755)
        Path(here.path).chmod(0o444)
        with unprivileged(), pytest.raises(DurableError, match="you may not read and write it"):
            queue(directory).submit(job(2))
        Path(here.path).chmod(0o600)
        assert [known.id for known in queue(directory).jobs()] == ["0001"], (
            "nothing was lost, nothing half accepted"
        )


@contextmanager
def unprivileged() -> Generator[None]:
    """Act as another user than root, which may write anything."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_jump_of_the_clock_ends_no_lease_and_loses_no_wake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = queue(tmp_path), queue(tmp_path)
    for number in (1, 2):
        here.submit(job(number))
    first, second = here.claim(LANES, 8)
    here.settle(first, [Wake(id="1.0", session="s", body=b"x")])
    monkeypatch.setattr("hookline.jobs.file._RARELY", 1)  # so that the next one who opens it tidies up
    for years in (40, -40):
        jumped = time.time() + years * 365 * 86_400
        monkeypatch.setattr(time, "time", lambda jumped=jumped: jumped)
        assert other.claim(LANES, 8) == ()
        assert [wake.id for wake in queue(tmp_path).wakes("s")] == ["1.0"]
        monkeypatch.undo()
        monkeypatch.setattr("hookline.jobs.file._RARELY", 1)
    assert here.settle(second, []) == "settled"
