"""Test a queue that cannot be used: `hookline jobs` names the file, the fault and the next step, and ends."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from hookline.jobs.file import DurableFile
from hookline.jobs.port import Job
from hookline.jobs.stored import StoredCall
from hookline.model.session_info import SessionInfo
from tests.cli.run_cli import clean_env, run_cli


def _queue(home: Path) -> Path:
    return home / ".local/state/hookline/jobs.sqlite"


def _fill(file: Path) -> None:
    queue = DurableFile(str(file))
    for number in range(60):
        queue.submit(Job(id=f"{number:04}", session="s", queue="files", body=b'{"x":"' + b"y" * 2000 + b'"}'))
    queue.close()


def _garble(file: Path) -> None:
    _fill(file)
    rng, data = random.Random(1), bytearray(file.read_bytes())
    for page in range(2, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 200] = rng.randbytes(200)
    file.write_bytes(data)


def _execute(sql: str) -> Callable[[Path], None]:
    def execute(file: Path) -> None:
        _fill(file)
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute(sql)

    return execute


def _write(content: bytes, mode: int = 0o600) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_bytes(content)
        file.chmod(mode)

    return write


def _parent_is_a_file(file: Path) -> None:
    file.parent.rmdir()
    file.parent.touch()


_CASES: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "a directory": (Path.mkdir, "it is a directory: move it away, and a new one is made"),
    "random bytes": (_write(random.Random(1).randbytes(9000)), "not a database: move it away"),
    "pages overwritten": (_garble, "malformed: move it away"),
    "cut": (lambda file: (_fill(file), os.truncate(file, 9000)), "malformed: move it away"),
    "a link to nothing": (lambda file: file.symlink_to("/nowhere/at/all"), "it is a symbolic link"),
    "a pipe": (os.mkfifo, "it is not a regular file: move it away"),
    "writable by others": (_write(b"", 0o666), "make it yours (chmod 600)"),
    "of an earlier version": (_execute("PRAGMA user_version = 2"), "an earlier Hookline made it"),
    "of a newer version": (_execute("PRAGMA user_version = 99"), "a newer Hookline made it: update this one"),
    "not where a file can be": (_parent_is_a_file, "a part of its path is not a directory"),
    "damaged text": (
        _execute("UPDATE job SET why = CAST(x'ff' AS TEXT)"),
        "a text in it is damaged: move it away",
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_a_queue_that_cannot_be_used_is_said_with_its_path_and_what_to_do(tmp_path: Path, name: str) -> None:
    make, words = _CASES[name]
    file = _queue(tmp_path)
    file.parent.mkdir(parents=True)
    make(file)
    for action in (["list"], ["show", "0001"], ["run"]):
        ran = run_cli(["jobs", *action], tmp_path, tmp_path)
        assert (ran.status, ran.stdout) == (1, ""), action
        assert ran.stderr.startswith(f"hookline jobs: the queue {file} cannot be used: "), action
        assert words in ran.stderr
        assert len(ran.stderr.splitlines()) == 1


def test_a_queue_that_may_not_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    file = _queue(tmp_path)
    file.parent.mkdir(parents=True)
    _fill(file)
    by: list[str] = []
    if os.geteuid() == 0:  # root reads everything, unless it gives that up
        if shutil.which("setpriv") is None:
            pytest.skip("root reads every file, and without setpriv it cannot give that up")
        by = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    for locked in (file, file.parent):
        locked.chmod(0)
        ran = subprocess.run(
            [*by, sys.executable, "-m", "hookline", "jobs"],
            capture_output=True, text=True, cwd="/", env=clean_env(tmp_path), timeout=60, check=False,
        )  # fmt: skip
        locked.chmod(0o700)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert (
            f"{file} cannot be used: you may not read and write it: make it and its directory yours"
            in ran.stderr
        )


def test_a_number_that_became_a_text_spoils_neither_the_list_nor_the_other_jobs(tmp_path: Path) -> None:
    file = _queue(tmp_path)
    file.parent.mkdir(parents=True)
    _execute(
        "UPDATE job SET attempts = 'many', sent = 'x', due = 'z', epoch = 'e', owner = 7, body = 'text' WHERE n < 4"
    )(file)
    listed = run_cli(["jobs"], tmp_path, tmp_path)
    assert (listed.status, listed.stderr) == (0, "")
    assert "60 jobs: 60 queued" in listed.stdout
    ran = run_cli(["jobs", "run"], tmp_path, tmp_path)
    # The stored content of the others is not a call of a hook either: each is a dead letter that says so.
    assert "3 left to others, 57 dead letters" in ran.stdout


def test_a_queue_that_breaks_while_jobs_run_ends_the_command(tmp_path: Path) -> None:
    """Not even the files beside it can be made: opening it fails each time."""
    file = _queue(tmp_path)
    (file.parent / "jobs.sqlite-wal").mkdir(parents=True)
    ran = run_cli(["jobs", "run"], tmp_path, tmp_path)
    assert ran.status == 1
    assert "disk I/O error: check the disk and the files beside it (-wal, -shm)" in ran.stderr


def _submit(home: Path, job_id: str, payload: object) -> None:
    file = _queue(home)
    file.parent.mkdir(parents=True)
    stored = StoredCall(
        hook="k", name="scan", type="command", event="PostToolUse", event_id="e", dialect="native",
        payload=msgspec.Raw(msgspec.json.encode(payload)), info=SessionInfo(session_id="s", cwd=str(home)),
    )  # fmt: skip
    queue = DurableFile(str(file))
    queue.submit(Job(id=job_id, session="s", queue="files", body=msgspec.json.encode(stored)))
    queue.close()


def test_a_job_with_a_damaged_id_becomes_a_dead_letter_like_any_other(tmp_path: Path) -> None:
    _submit(tmp_path, "no number", {})
    ran = run_cli(["jobs", "run"], tmp_path, tmp_path, timeout=20)
    assert (ran.status, ran.stdout) == (1, "0 jobs run to the end, 0 left to others, 1 dead letter\n")
    shown = run_cli(["jobs", "show", "no number"], tmp_path, tmp_path)
    assert "no longer has this hook" in shown.stdout


def test_what_is_shown_of_a_job_has_no_secrets(tmp_path: Path) -> None:
    payload = {"tool_input": {"command": "export TOKEN=ghp_" + "a1B2" * 9, "password": "hunter22"}}
    _submit(tmp_path, "0001", payload)
    for words in ([], ["--json"]):
        shown = run_cli(["jobs", "show", "0001", *words], tmp_path, tmp_path)
        assert shown.status == 0
        assert "export TOKEN=[redacted]" in shown.stdout
        assert "ghp_" not in shown.stdout
        assert "hunter22" not in shown.stdout
