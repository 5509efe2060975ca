"""Test publishing: the content of a bundle, refusals before it is signed, and the command's output."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline.config.bundles.format import BundleScope
from hookline.config.bundles.store import RejectedBundle
from hookline.config.load import Loader
from hookline.dialects.registry import home_dialect
from hookline.handlers.registry import standard_handlers
from hookline.team.fleet.bundles.keys import KeyFileError, make_key, read_signing_key
from hookline.team.fleet.bundles.publish import (
    PublishError,
    PublishOptions,
    PublishPlan,
    plan,
    read_source,
    verified,
)
from hookline.team.fleet.bundles.report import MachineReport
from hookline.team.fleet.bundles.transport import Offered
from tests.cli.run_cli import Ran, Workspace, run_here
from tests.every import every
from tests.team.fleet.machines import GUARD, SCRIPT, SCRIPTED, Machine, key

LOADER = Loader(home_dialect(), standard_handlers())


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Hooks and the script they name."""
    made = tmp_path / "guards"
    (made / "bin").mkdir(parents=True)
    (made / "hooks.toml").write_text(SCRIPTED)
    (made / "bin" / "check.sh").write_bytes(SCRIPT)
    (made / "bin" / "check.sh").chmod(0o755)
    return made


# -- its content


def test_a_directory_is_published_whole_without_hidden_files(directory: Path) -> None:
    (directory / ".git").mkdir()
    (directory / ".git" / "config").write_text("x")
    (directory / "README.md").write_text("x")
    source = read_source(str(directory))
    assert [(each.path, each.executable) for each in source.files] == [
        ("README.md", False), ("hooks.toml", False), ("bin/check.sh", True)
    ]  # fmt: skip


def test_of_a_hooks_file_only_what_its_commands_name(directory: Path) -> None:
    (directory / "README.md").write_text("x")
    source = read_source(str(directory / "hooks.toml"))
    assert [each.path for each in source.files] == ["bin/check.sh", "hooks.toml"]


@every(
    ("what", "says"),
    [
        ("link", "is a link: replace it by the file itself"), ("folder behind a link", "is a link"),
        ("two formats", "hooks.toml and hooks.json: keep one of them"), ("no hooks", "has no hooks.toml"),
        ("pipe", "is not a file"), ("colon", "neither backslashes nor colons"), ("huge", "a bundle has at most"),
    ],
)  # fmt: skip
def test_what_cannot_be_in_a_bundle_is_refused(what: str, says: str, tmp_path: Path) -> None:
    made = tmp_path / what.replace(" ", "")
    made.mkdir()
    (made / "hooks.toml").write_text(GUARD)
    if what == "link":
        (made / "x.sh").symlink_to("/etc/passwd")
    elif what == "folder behind a link":
        (made / "x").symlink_to(tmp_path)
    elif what == "two formats":
        (made / "hooks.json").write_text("{}")
    elif what == "no hooks":
        (made / "hooks.toml").unlink()
    elif what == "pipe":
        os.mkfifo(made / "x")
    else:
        (made / ("a:b" if what == "colon" else "big")).write_bytes(b"x" * (1 if what == "colon" else 900_000))
    with pytest.raises(PublishError, match=says):
        read_source(str(made))


# -- revisions


def _plan(directory: Path, before: list[Offered], **wanted: Any) -> PublishPlan:
    source = read_source(str(directory))
    taken = [each.key for each in before]
    return plan(source, PublishOptions(**wanted), verified(before, key()), LOADER, taken)


def _offered(planned: PublishPlan) -> Offered:
    bundle = planned.bundle
    return Offered(f"{bundle.name}.{bundle.revision}", key().sign(bundle), 17)


def test_the_same_hooks_are_the_same_revision_issued_again(directory: Path) -> None:
    first = _plan(directory, [], stage=1_000)
    again = _plan(directory, [_offered(first)], stage=5_000)
    assert (again.bundle.revision, again.after, again.again) == (1, 17, True)
    assert again.bundle.issued > first.bundle.issued
    assert "stage: 10 % -> 50 %" in list(again.lines())
    with pytest.raises(PublishError, match="no machine goes back"):
        _plan(directory, [_offered(again)], stage=1_000)


def test_other_hooks_are_the_next_revision_and_what_changes_is_shown(directory: Path) -> None:
    first = _offered(_plan(directory, []))
    (directory / "hooks.toml").write_text(
        GUARD.replace("force-push", "privilege").replace("no force push", "no sudo")
    )
    (directory / "bin" / "check.sh").write_text("#!/bin/sh\n")
    planned = _plan(directory, [first], scope=BundleScope(groups=("backend",)))
    assert (planned.bundle.revision, planned.after) == (2, 0)
    lines = list(planned.lines())
    assert lines[1:] == [
        "replaces revision 1",
        "scope: all machines -> group=backend",
        "a machine that leaves the scope keeps its bundle until that expires, and then fails closed",
        "+ PreToolUse no sudo",
        "- PreToolUse no force push",
        "- PreToolUse check",
        "~ bin/check.sh",
    ]
    for revision in (1, 0):
        with pytest.raises(PublishError, match="leave out --revision"):
            _plan(directory, [_offered(planned)], revision=revision or 1)


def test_a_revision_that_somebody_else_has_put_there_is_not_used(directory: Path) -> None:
    strange = Offered("guards.4", b"whatever", 3)
    assert _plan(directory, [strange]).bundle.revision == 5


# -- keys


def test_a_private_key_is_for_its_owner_alone_and_never_replaced(tmp_path: Path) -> None:
    file = tmp_path / "k"
    made = make_key(str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_signing_key(str(file)).text == made.text
    with pytest.raises(KeyFileError, match="exists already"):
        make_key(str(file))
    file.chmod(0o640)
    with pytest.raises(KeyFileError, match="others can read the private key"):
        read_signing_key(str(file))
    file.chmod(0o600)
    file.write_text("-----BEGIN PRIVATE KEY-----\n")
    with pytest.raises(KeyFileError, match="is not a private key"):
        read_signing_key(str(file))


# -- the command


class Desk:
    """Make a publisher, and a machine that pulls, over a directory."""

    def __init__(self, directory: Path, tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
        self.directory, self.share, self.key = directory, tmp_path / "share", tmp_path / "k"
        self.share.mkdir()
        made = make_key(str(self.key))
        self.machine = Machine(tmp_path, keys=[made])
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def run(self, *words: str) -> Ran:
        workspace = Workspace(self.machine.home, self.machine.project)
        return run_here(words, workspace, self._capsys, self._monkeypatch)

    def __call__(self, *words: str, status: int = 0) -> Ran:
        ran = self.run("fleet", *words, "--directory", str(self.share))
        assert ran.status == status, ran
        return ran

    def publish(self, *words: str, status: int = 0) -> Ran:
        return self("publish", str(self.directory), "--key", str(self.key), *words, status=status)


@pytest.fixture
def desk(directory: Path, tmp_path: Path, capsys: Any, monkeypatch: Any) -> Desk:
    return Desk(directory, tmp_path, capsys, monkeypatch)


def test_publish_pull_status(desk: Desk) -> None:
    ran = desk.publish(status=1)
    assert "say --yes to publish without a question" in ran.stderr
    assert not list(desk.share.rglob("*.bundle"))
    assert desk.publish("--yes", "--expires", "7d").stdout.endswith("published guards 1\n")
    assert desk("pull").stdout == "guards 1: activated\n"
    assert desk("pull").stdout == "guards 1: unchanged\n"
    assert "1 machine: 1 note" in desk("status").stdout  # no agent is there
    found = json.loads(desk("status", "--json").stdout)
    assert found["bundles"][0]["machines"] == 1
    assert found["machines"][0]["report"]["bundles"][0]["revision"] == 1
    # One that is changed on the way is refused, and the status says so.
    (file,) = desk.share.rglob("*.bundle")
    file.rename(file.with_name("guards.2.bundle"))
    ran = desk("pull", status=1)
    assert "guards 1: refused: it was offered as 'guards.2', and is guards 1" in ran.stdout
    assert "alpha: refused guards 1: it was offered as" in desk("status", status=1).stdout
    assert desk.machine.in_force() == 1


def test_what_a_machine_reports_cannot_forge_lines_of_the_status(desk: Desk) -> None:
    directory = desk.share / "machines"
    directory.mkdir()
    refused = (RejectedBundle("key", "no\n2 machines: nothing is wrong\x1b[2J", 1.0),)
    forged = MachineReport(machine="x\ny\x1b[31m", at=time.time(), refused=refused)
    (directory / "x.json").write_bytes(msgspec.json.encode(forged))
    lines = desk("status", status=1).stdout.splitlines()
    assert lines[-1] == "1 machine: 1 error"
    assert not any(line.startswith("2 machines") for line in lines)
    assert "\x1b" not in "".join(lines)


def test_what_does_not_load_is_not_signed(desk: Desk) -> None:
    (desk.directory / "hooks.toml").write_text(
        SCRIPTED.replace("force-push", "force-pusch")
        .replace("$HOOKLINE_BUNDLE/", "./")
        .replace("name =", "nam =")
    )
    ran = desk.publish("--yes", status=1)
    assert re.search(r"hooks\.toml:\d: error: .*force-pusch", ran.stderr), ran.stderr
    assert "its command names bin/check.sh, which would be a file of the project it runs in" in ran.stderr
    assert not list(desk.share.rglob("*.bundle"))


@every(
    ("words", "says"),
    [
        (["--stage", "200%"], "--stage '200%' is not a share: say 10%"),
        (["--expires", "soon"], "is not a time: say 90s"),
        (["--scope", "team=x"], "is none of machine=NAME, machine!=NAME, group=NAME, project=DIRECTORY"),
        (["--name", "A B"], "small letters"),
        (["--revision", "0"], "revisions begin with 1"),
    ],
)
def test_wrong_words_are_said(words: list[str], says: str, desk: Desk) -> None:
    assert says in desk.publish("--yes", *words, status=1).stderr


def test_a_machine_without_settings_and_a_share_that_is_gone_are_said(desk: Desk) -> None:
    desk.share.rmdir()
    ran = desk("pull", status=1)
    assert f"{desk.share} does not exist; the active bundles stay until they expire" in ran.stderr
    assert desk.machine.activator.store.report().problem == f"{desk.share} does not exist"
    desk.machine.settings.unlink()
    assert "this machine takes no bundles: write [bundles]" in desk("pull", status=1).stderr


def test_doctor_says_which_bundle_is_in_force_and_what_was_refused(desk: Desk, capsys: Any) -> None:
    desk.publish("--yes", "--expires", "30d")
    desk("pull")
    desk.machine.activator.offer(b"hello")
    found = json.loads(desk.run("doctor", "--json").stdout)
    said = {each["code"]: each["message"] for each in found["problems"]}
    assert "the bundle guards 1 is active until 20" in said["bundle"]
    assert "2 hooks here, signed by" in said["bundle"]
    assert "it is not a bundle" in said["bundle-not-taken"]
