"""Test what happens to a bundle after it is published: renewed, excepted, removed, pruned, and refused before that."""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline.config.bundles.format import BundleScope, ScopeException
from hookline.team.fleet.bundles.keys import make_key
from hookline.team.fleet.bundles.report import BundleState, MachineReport
from tests.cli.run_cli import Ran, Workspace, run_here
from tests.every import every
from tests.team.fleet.machines import GUARD, Machine, bundle, key, signed

DAY = 86_400


class Desk:
    """A publisher and a machine that share a directory."""

    def __init__(self, directory: Path, capsys: Any, monkeypatch: Any) -> None:
        self.key_file = directory / "guards.key"
        made = make_key(str(self.key_file))
        self.machine = Machine(directory, keys=[made])
        self.share = directory / "share"
        self.share.mkdir()
        self.guards = directory / "guards"
        self.guards.mkdir()
        (self.guards / "hooks.toml").write_text(GUARD)
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, *words: str, status: int = 0) -> Ran:
        workspace = Workspace(self.machine.home, self.machine.project)
        words = ("fleet", *words, "--directory", str(self.share))
        ran = run_here(words, workspace, self._capsys, self._monkeypatch)
        assert ran.status == status, ran
        return ran

    def sign(self, action: str, *words: str, status: int = 0) -> Ran:
        return self(action, *words, "--key", str(self.key_file), "--yes", status=status)

    def publish(self, *words: str, status: int = 0) -> Ran:
        return self.sign("publish", str(self.guards), *words, status=status)

    def change(self) -> None:
        """Other hooks, so that the next revision is another one."""
        with (self.guards / "hooks.toml").open("a") as file:
            file.write(f"# {time.time_ns()}\n")

    def report(self, **facts: Any) -> None:
        raw = MachineReport(machine="other", at=time.time(), **facts)
        (self.share / "machines").mkdir(exist_ok=True)
        (self.share / "machines" / "other.json").write_bytes(msgspec.json.encode(raw))

    @property
    def keys(self) -> list[str]:
        return sorted(each.stem for each in (self.share / "bundles").glob("*.bundle"))


@pytest.fixture
def desk(tmp_path: Path, capsys: Any, monkeypatch: Any) -> Desk:
    return Desk(tmp_path, capsys, monkeypatch)


def test_superseded_revisions_are_pruned_unless_a_stage_needs_them(desk: Desk) -> None:
    desk.publish()
    desk.change()
    desk.publish("--stage", "10%")
    assert desk.keys == ["guards.1", "guards.2"]
    assert "every published revision may be needed" in desk("prune", "--key", str(desk.key_file)).stdout
    assert "took guards.1 off: no machine can need it" in desk.publish("--stage", "100%").stdout
    assert desk.keys == ["guards.2"]
    desk.change()
    assert "published guards 3" in desk.publish().stdout


def test_renew_needs_no_files_and_keeps_the_scope(desk: Desk) -> None:
    desk.publish("--scope", "machine=a*", "--expires", "1d")
    desk("pull")
    before = desk.machine.active.read_bytes()
    assert "guards 1 again, 100 % of machine=a*, until" in desk.sign("renew", "--expires", "9d").stdout
    assert desk("pull").stdout == "guards 1: renewed\n"
    assert desk.machine.active.read_bytes() != before
    assert "no bundle others of this key is published" in desk.sign("renew", "others", status=1).stderr


def test_a_removed_bundle_is_gone_on_the_machines_and_does_not_come_back(desk: Desk) -> None:
    desk.publish()
    first = (desk.share / "bundles" / "guards.1.bundle").read_bytes()
    desk("pull")
    assert desk.machine.ask("git push -f").blocked
    assert "guards 2: machines do without guards" in desk.sign("remove", "guards").stdout
    assert desk.keys == ["guards.2"]
    assert desk("pull").stdout == "guards 2: released: it was removed\n"
    assert desk("pull").stdout == "guards 2: unchanged: it was removed\n"
    assert not desk.machine.ask("git push -f").blocked
    assert desk.machine.load()[1].errors == ()
    # What a lying server, or a user with an old file, would bring back.
    assert desk.machine.activator.offer(first).code == "revision"
    assert "removed" in desk("status").stdout
    assert "was removed already" in desk.sign("remove", "guards", status=1).stderr
    desk.change()
    assert "published guards 3" in desk.publish().stdout
    assert desk("pull").stdout == "guards 3: activated\n"


def test_an_excluded_machine_does_without_and_an_exception_ends_closed(desk: Desk) -> None:
    desk.report()
    desk.publish()
    desk("pull")
    assert "machine!=alpha" in desk.publish("--scope", "machine!=alpha").stdout
    assert "guards 1: released" in desk("pull").stdout
    assert not desk.machine.ask("git push -f").blocked
    desk.publish()
    assert desk("pull").stdout == "guards 1: renewed\n"
    desk.sign("renew", "--except", "alpha=2d: the old build")
    assert "guards 1: released: an exception: the old build" in desk("pull").stdout
    assert "alpha does without it until" in desk("status").stdout
    assert not desk.machine.ask("git push -f").blocked
    # When it is over and nobody has pulled, nothing passes.
    record = desk.machine.bundles / "in-force.json"
    kept = json.loads(record.read_bytes())
    kept["bundles"]["guards"]["until"] = time.time() - 1
    record.write_bytes(json.dumps(kept).encode())
    assert desk.machine.ask("ls").blocked
    scope = BundleScope(exceptions=(ScopeException("alpha", int(time.time()) - 1, "the old build"),))
    over = signed(1, name="guards", scope=scope, issued=int(time.time()) + 30)
    assert desk.machine.activator.offer(over).code == "key"


def test_a_machine_that_must_have_a_bundle_is_not_closed_by_an_exception(tmp_path: Path) -> None:
    machine = Machine(tmp_path, more="required = true\n")
    assert machine.ask("ls").blocked
    scope = BundleScope(exceptions=(ScopeException("alpha", int(time.time()) + DAY, "the old build"),))
    assert machine.activator.offer(signed(1, scope=scope)).what == "released"
    assert not machine.ask("ls").blocked
    later = machine.at(time.time() + 2 * DAY)
    assert later.offer(signed(1, scope=scope, expires=int(time.time()) + 9 * DAY)).what == "renewed"
    assert machine.ask("git push -f").blocked


@every(
    ("facts", "words", "says"),
    [
        ({"keys": ("0123456789abcdef",)}, (), "none of the 1 machines that have reported trusts the key"),
        ({}, ("--scope", "machine=nobody"), "machine=nobody is none of the 1 machines that have reported"),
        ({"bundles": (BundleState(name="guards", revision=7),)}, ("--revision", "3"),
        "machines have revision 7 of guards and refuse a lower one than that: hookline fleet publish … --revision 8"),
    ],
)  # fmt: skip
def test_what_no_machine_would_take_is_not_published(
    desk: Desk, facts: dict[str, Any], words: tuple[str, ...], says: str
) -> None:
    desk.report(**facts)
    ran = desk.publish(*words, status=1)
    assert says in ran.stderr
    assert "nothing was published; --force does it all the same" in ran.stderr
    assert desk.keys == []
    desk.publish(*words, "--force")
    assert len(desk.keys) == 1
    for each in (desk.share / "bundles").iterdir():
        each.unlink()


def test_a_first_bundle_on_another_server_goes_on_from_what_machines_have(desk: Desk) -> None:
    desk.report(bundles=(BundleState(name="guards", revision=7),))
    assert "published guards 8" in desk.publish().stdout


def test_forget_drops_a_machine(desk: Desk) -> None:
    desk.report()
    assert desk("forget", "other").stdout == "forgot other\n"
    assert "no machine other has reported" in desk("forget", "other", status=1).stderr
    assert "no machine has reported" in desk("status").stdout


def test_a_machine_says_that_a_published_revision_is_lower_than_its_own(desk: Desk) -> None:
    """As when a bundle is carried to it in a directory that does not know the machine yet."""
    desk.publish("--revision", "7")
    desk("pull")
    for each in (*(desk.share / "bundles").iterdir(), *(desk.share / "machines").iterdir()):
        each.unlink()
    desk.publish()
    lower = "guards 1: waiting: this machine has 7 already, and takes none that is lower"
    assert lower in desk("pull").stdout
    desk.publish()  # now it has reported
    assert "guards 8: activated" in desk("pull").stdout


def test_each_action_has_a_help_of_its_own_and_refuses_options_of_others(desk: Desk) -> None:
    shown = desk("renew", "--help").stdout
    assert "usage: hookline fleet renew [NAME ...] [options]" in shown
    assert "--expires" in shown
    assert "--slots" not in shown
    assert "pull has no --stage" in desk("pull", "--stage", "10%", status=1).stderr


def test_an_older_version_reads_a_bundle_that_needs_nothing_new() -> None:
    body = key().sign(bundle(1)).partition(b"\n")[2]
    assert set(json.loads(body)) <= {"name", "revision", "issued", "expires", "hooks", "files", "digest"}
