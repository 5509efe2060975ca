"""Test that the cache holds only while every path is unchanged, whichever agent's it is."""

import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline import Engine
from hookline.disk import Disk
from hookline.hook.call.project import hooks_for
from hookline.hook.daemon.path_cache import PathCache, PathSnapshot, RecordingDisk
from tests.cli.commands.agent_calls import Caller, repository


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    made = Caller(tmp_path, monkeypatch)
    repository(made.project)
    return made


def _look(caller: Caller, dialect: str = "claude-code", below: str = "") -> PathSnapshot:
    disk = RecordingDisk()
    hooks_for(Engine(), str(caller.project / below), dialect, None, disk=disk)
    return disk.end()


def test_nothing_changed_means_that_it_holds(caller: Caller) -> None:
    caller.write(".hookline/hooks.toml", "")
    snapshot = _look(caller)
    assert snapshot.holds()
    (caller.project / "README.md").write_text("not looked at")
    assert snapshot.holds()


def test_every_place_that_could_hold_hooks_is_looked_at(caller: Caller) -> None:
    """Also those of agents that nothing is there of yet."""
    loader = Engine().loader
    places = [Path(each) for each in loader.config_files(str(caller.project))]
    # The agent that calls runs its own hooks itself; another one that reads its files as well is not used here.
    own = [each for each in places if each.is_relative_to(caller.home) and ".claude" not in each.parts]
    assert len(own) > 20
    unseen: list[Path] = []
    for place in own:
        snapshot = _look(caller)
        made = [each for each in (*reversed(place.parents), place) if not each.exists()]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
        if snapshot.holds():
            unseen.append(place)
        for each in reversed(made):
            each.unlink() if each.is_file() else each.rmdir()
    assert not unseen


def test_changes_and_removals_show(caller: Caller) -> None:
    file = caller.write(".hookline/hooks.toml", "# one\n")
    for change in (
        lambda: file.write_text("# two\n"),
        lambda: file.chmod(0o600),
        lambda: file.rename(file.with_suffix(".json")),
        lambda: file.symlink_to("/dev/null"),
        lambda: (file.unlink(), file.mkdir()),
    ):
        snapshot = _look(caller)
        assert snapshot.holds()
        change()
        assert not snapshot.holds(), change


def test_trust_and_the_settings_of_the_user_are_looked_at(caller: Caller) -> None:
    (caller.home / ".config/hookline/settings.toml").unlink()
    caller.write(
        ".hookline/hooks.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
    )
    snapshot = _look(caller)
    caller.write("~/.config/hookline/settings.toml", f'trusted = ["{caller.project}"]\n')
    assert not snapshot.holds()
    (caller.home / ".config/hookline/settings.toml").unlink()
    snapshot = _look(caller)
    os.makedirs(caller.home / ".local/state/hookline/trust", mode=0o700)
    assert not snapshot.holds()


def test_a_plugin_that_gains_hooks_is_noticed(caller: Caller) -> None:
    root = caller.home / "plugins-elsewhere" / "tidy"
    root.mkdir(parents=True)
    installed = {"plugins": {"tidy@shop": [{"installPath": str(root), "version": "1"}]}}
    caller.write("~/.claude/plugins/installed_plugins.json", str(installed).replace("'", '"'))
    caller.write("~/.claude/settings.json", '{"enabledPlugins": {"tidy@shop": true}}')
    snapshot = _look(caller, "codex")
    assert snapshot.holds()
    (root / "hooks").mkdir()
    (root / "hooks" / "hooks.json").write_text('{"hooks": {}}')
    assert not snapshot.holds()


def test_a_new_repository_around_the_directory_is_noticed(caller: Caller) -> None:
    (caller.project / "nested").mkdir()
    snapshot = _look(caller, below="nested")
    repository(caller.project / "nested")
    assert not snapshot.holds()


def test_what_changed_just_now_is_not_settled(caller: Caller) -> None:
    file = caller.write(".hookline/hooks.toml", "")
    old = time.time() - 100
    os.utime(file, (old, old))
    changed = file.stat().st_ctime_ns
    snapshot = _look(caller)
    # Not even if someone has set another time of change: that itself was a change.
    assert [snapshot.settled(changed + more) for more in (0, 10**7, 10**9)] == [False, False, True]


def test_what_comes_into_a_directory_that_was_quiet_is_noticed(caller: Caller) -> None:
    """Then only the directory is checked, not each path in it."""
    for place in (
        caller.project / ".codex",
        caller.home / ".gemini",
        caller.home / ".config/hookline/hooks.json",
    ):
        time.sleep(0.06)
        snapshot = _look(caller)
        assert snapshot.holds()
        (caller.project / "README.md").write_text("not looked at")
        assert snapshot.holds()
        time.sleep(0.06)
        assert snapshot.holds()
        place.touch()
        assert not snapshot.holds(), place
        place.unlink()


def test_where_a_link_leads_is_looked_at_although_its_directory_does_not_change(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    (tmp_path / "elsewhere").mkdir()
    disk = RecordingDisk()
    assert not disk.exists(str(tmp_path / "link"))
    snapshot = disk.end()
    time.sleep(0.06)
    assert snapshot.holds()
    (tmp_path / "elsewhere" / "file").touch()
    assert not snapshot.holds()


def test_what_was_found_out_is_remembered_until_a_path_changes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    found = PathCache(2)

    calls: list[str] = []

    def counted(disk: Disk) -> str:
        calls.append(file.read_text() if disk.exists(str(file)) else "")
        return calls[-1]

    assert found.get("it", counted, {}) == "one"
    assert found.get("it", counted, {}) == "one"
    assert len(calls) == 2  # it has changed too shortly before
    time.sleep(0.06)
    assert [found.get("it", counted, {}) for _ in range(3)] == ["one"] * 3
    assert len(calls) == 3
    file.write_text("two")
    assert found.get("it", counted, {}) == "two"
    time.sleep(0.06)
    # The oldest is forgotten.
    for key in ("it", "other", "third", "it"):
        found.get(key, counted, {})
    assert len(calls) == 8


def test_a_variable_that_was_looked_up_is_noticed_when_it_changes() -> None:
    """Also one that something looks up after the load, in the environment that it keeps; others are not compared."""
    found = PathCache(2)
    kept: list[Mapping[str, str]] = []

    def load(env: dict[str, str]) -> list[str]:
        def read(disk: Disk) -> list[str]:
            kept.append(disk.environment(env))
            return [kept[-1].get("DIRECTORY", "none")]

        return found.get("it", read, env)

    first = load({"DIRECTORY": "a", "PASSING": "1"})
    assert load({"DIRECTORY": "a", "PASSING": "2"}) is first
    assert load({"DIRECTORY": "b", "PASSING": "2"}) == ["b"]
    none = load({"PASSING": "3"})
    assert none == ["none"]
    assert load({"PASSING": "4"}) is none
    assert kept[-1].get("PASSING") == "3"
    assert load({"PASSING": "4"}) is not none


@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_link_that_leads_elsewhere_is_noticed(tmp_path: Path, target: str) -> None:
    (tmp_path / "there").write_text("same")
    link = tmp_path / "link"
    link.symlink_to(target)
    disk = RecordingDisk()
    assert disk.realpath(str(link)) == str(tmp_path / target)
    snapshot = disk.end()
    assert snapshot.holds()
    link.unlink()
    link.symlink_to("another")
    assert not snapshot.holds()


def test_a_link_to_nothing_in_place_of_nothing_is_noticed(tmp_path: Path) -> None:
    disk = RecordingDisk()
    assert not disk.is_there(str(tmp_path / "hooks.toml"))
    snapshot = disk.end()
    (tmp_path / "hooks.toml").symlink_to("nowhere")
    assert not snapshot.holds()


def test_a_disk_looks_again_after_its_reading_has_ended(tmp_path: Path) -> None:
    """Trust keeps the disk that it was read with: it must see what changed since."""
    file, disk = tmp_path / "file", RecordingDisk()
    assert not disk.exists(str(file))
    file.touch()
    assert not disk.exists(str(file))  # one reading sees one state
    disk.end()
    assert disk.exists(str(file))
    assert disk.listdir(str(tmp_path)) == ["file"]
    assert disk.realpath(str(file)) == str(file)


def test_paths_are_resolved_as_the_system_does(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    for name, target in {
        "up": "a/b/..", "abs": str(tmp_path / "a"), "far": "abs/b/../../a/./b", "self": "self", "one": "two",
        "two": "one", "lost": "nowhere/deep", "a/back": "../up/b",
    }.items():  # fmt: skip
        (tmp_path / name).symlink_to(target)
    ends = ("", "/", "/b/file", "/../a", "/./b/./file", "/back/file", "/missing/../b", "/b/file/..")
    for name in (".", "a", "up", "abs", "far", "self", "one", "lost", "a/back", "missing"):
        for end in ends:
            path = f"{tmp_path}/{name}{end}"
            assert RecordingDisk().realpath(path) == os.path.realpath(path), path
    assert RecordingDisk().realpath("") == os.path.realpath("")
    assert RecordingDisk().realpath("/../..") == "/"
