"""Test where trust is stored: what is not relied on, and what is forgotten."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands.trust.projects import ASKS, document, states, store, trust_all
from tests.cli.in_process import InProcess


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def garbled(file: Path) -> None:
    file.write_bytes(b"\xff\x00 no JSON")


def linked(file: Path) -> None:
    file.rename(file.with_suffix(".moved"))
    file.symlink_to(file.with_suffix(".moved"))


def writable_by_others(file: Path) -> None:
    file.chmod(0o620)


def directory_writable_by_others(file: Path) -> None:
    file.parent.chmod(0o770)


def of_another_user(file: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(file, 12345, -1)


def a_directory(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def of_another_project(file: Path) -> None:
    file.write_text(file.read_text().replace("/project", "/another"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (truncated, "it is damaged"),
        (garbled, "it is damaged"),
        (linked, "it is a symbolic link"),
        (writable_by_others, "other users can write it"),
        (directory_writable_by_others, "other users can write it"),
        (of_another_user, "it belongs to another user (uid 12345)"),
        (a_directory, "it is not a file"),
        (a_fifo, "it is not a file"),
        (of_another_project, "it was written for something else"),
    ],
)
def test_a_store_that_cannot_be_relied_on_trusts_nothing(
    project: InProcess, spoil: Callable[[Path], None], said: str
) -> None:
    trust_all(project)
    (file,) = store(project).glob("*.json")
    spoil(file)
    ran = project.call("trust")
    assert ran.status == 1
    assert (ran.stderr.count("\n"), said in ran.stderr, "is not used: " in ran.stderr) == (1, True, True)
    assert "2 new" in ran.stdout
    project.call(*ASKS)
    assert not (project.workspace.project / "ran.txt").exists()


def test_a_damaged_store_is_replaced_by_the_next_yes(project: InProcess) -> None:
    trust_all(project)
    (file,) = store(project).glob("*.json")
    garbled(file)
    listed = project.call("trust", "--list")
    assert (listed.status, listed.stderr.count("it is damaged")) == (1, 1)
    trust_all(project)
    assert project.call("trust").status == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_disk_that_cannot_be_written_is_one_clear_line(project: InProcess) -> None:
    hashes = document(project)["hashes"]
    directory = project.workspace.home / ".local/state/hookline"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "trust").write_text("a file where the folder should be")
    ran = project.call("trust", "--yes", hashes)
    assert (ran.status, ran.stdout) == (1, "")
    assert "trust cannot be stored in" in ran.stderr


def test_a_home_inside_the_project_has_no_say(project: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.workspace.project / "home").mkdir()
    (project.workspace.project / ".git").mkdir(exist_ok=True)
    hashes = document(project)["hashes"]
    monkeypatch.setenv("HOME", str(project.workspace.project / "home"))
    ran = project.call("trust", "--yes", hashes)
    assert "which is inside the project" in ran.stderr
    assert "trust cannot be stored in /proc/" in ran.stderr  # the home of the user database, in tests


def test_without_a_home_the_store_of_the_user_database_counts(
    project: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust_all(project)
    (project.workspace.home / ".local").rename(project.workspace.project / ".local")
    monkeypatch.delenv("HOME")
    assert project.call("trust", "--list").stdout == "nothing is trusted in any project\n"
    assert set(states(project).values()) == {"untrusted"}


def test_projects_are_listed_and_forgotten(project: InProcess) -> None:
    assert project.call("trust", "--list").stdout == "nothing is trusted in any project\n"
    trust_all(project)
    listed = json.loads(project.call("trust", "--list", "--json").stdout)["projects"]
    assert [(each["root"], each["items"]) for each in listed] == [(str(project.workspace.project), 2)]
    assert listed[0]["at"].startswith("20")
    ran = project.call("trust", "--revoke")
    assert (ran.status, ran.stdout) == (0, "withdrew the trust in ~/project\n")
    assert set(states(project).values()) == {"untrusted"}
    again = project.call("trust", "--revoke", str(project.workspace.project))
    assert (again.status, "nothing was trusted in" in again.stderr) == (1, True)


def test_a_project_that_is_gone_can_be_forgotten(project: InProcess) -> None:
    trust_all(project)
    project.workspace.project.rename(project.workspace.home / "moved")
    assert project.call("trust", "--revoke", str(project.workspace.project)).status == 0
