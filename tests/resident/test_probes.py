"""What was read is kept only as long as every path is as it was, whichever agent's it is."""

import os
import time
from pathlib import Path

import pytest

from hookline import Engine
from hookline.resident.call.answer import hooks_for
from hookline.resident.probes import Probes, Remembered, recorded
from tests.cli.commands.agent_calls import Caller, repository


@pytest.fixture
def caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    made = Caller(tmp_path, monkeypatch)
    repository(made.project)
    return made


def _look(caller: Caller) -> Probes:
    with recorded() as probes:
        hooks_for(Engine(), str(caller.project), "claude-code", None)
    return probes


def test_nothing_changed_means_that_it_holds(caller: Caller) -> None:
    caller.write(".hookline/hooks.toml", "")
    probes = _look(caller)
    assert probes.hold()
    (caller.project / "README.md").write_text("not looked at")
    assert probes.hold()


def test_every_place_that_could_hold_hooks_is_looked_at(caller: Caller) -> None:
    """Also those of agents that nothing is there of yet."""
    loader = Engine().loader
    places = [Path(each) for each in loader.places(str(caller.project))]
    # The agent that calls runs its own hooks itself; another one that reads its files as well is not used here.
    own = [each for each in places if each.is_relative_to(caller.home) and ".claude" not in each.parts]
    assert len(own) > 20
    unseen: list[Path] = []
    for place in own:
        probes = _look(caller)
        made = [each for each in (*reversed(place.parents), place) if not each.exists()]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
        if probes.hold():
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
        probes = _look(caller)
        assert probes.hold()
        change()
        assert not probes.hold(), change


def test_trust_and_the_settings_of_the_user_are_looked_at(caller: Caller) -> None:
    (caller.home / ".config/hookline/settings.toml").unlink()
    caller.write(
        ".hookline/hooks.toml", '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
    )
    probes = _look(caller)
    caller.write("~/.config/hookline/settings.toml", f'trusted = ["{caller.project}"]\n')
    assert not probes.hold()
    (caller.home / ".config/hookline/settings.toml").unlink()
    probes = _look(caller)
    os.makedirs(caller.home / ".local/state/hookline/trust", mode=0o700)
    assert not probes.hold()


def test_a_plugin_that_gains_hooks_is_noticed(caller: Caller) -> None:
    root = caller.home / "plugins-elsewhere" / "tidy"
    root.mkdir(parents=True)
    installed = {"plugins": {"tidy@shop": [{"installPath": str(root), "version": "1"}]}}
    caller.write("~/.claude/plugins/installed_plugins.json", str(installed).replace("'", '"'))
    caller.write("~/.claude/settings.json", '{"enabledPlugins": {"tidy@shop": true}}')
    with recorded() as probes:
        hooks_for(Engine(), str(caller.project), "codex", None)
    assert probes.hold()
    (root / "hooks").mkdir()
    (root / "hooks" / "hooks.json").write_text('{"hooks": {}}')
    assert not probes.hold()


def test_a_new_repository_around_the_directory_is_noticed(caller: Caller) -> None:
    (caller.project / "nested").mkdir()
    with recorded() as probes:
        hooks_for(Engine(), str(caller.project / "nested"), "claude-code", None)
    repository(caller.project / "nested")
    assert not probes.hold()


def test_what_changed_just_now_is_not_settled(caller: Caller) -> None:
    file = caller.write(".hookline/hooks.toml", "")
    old = time.time() - 100
    os.utime(file, (old, old))
    changed = file.stat().st_ctime_ns
    probes = _look(caller)
    # Not even if somebody has set another time of change: that itself was a change.
    assert [probes.settled(changed + more) for more in (0, 10**7, 10**9)] == [False, False, True]


def test_the_functions_of_the_system_are_put_back(caller: Caller) -> None:
    before = os.stat, os.lstat, os.open, os.listdir
    with pytest.raises(ZeroDivisionError), recorded():
        raise ZeroDivisionError
    assert (os.stat, os.lstat, os.open, os.listdir) == before


def test_what_comes_into_a_folder_that_was_quiet_is_noticed(caller: Caller) -> None:
    """Then only the folder is looked at, not each path in it."""
    for place in (
        caller.project / ".codex",
        caller.home / ".gemini",
        caller.home / ".config/hookline/hooks.json",
    ):
        time.sleep(0.06)
        probes = _look(caller)
        assert probes.hold()
        (caller.project / "README.md").write_text("not looked at")
        assert probes.hold()
        time.sleep(0.06)
        assert probes.hold()
        place.touch()
        assert not probes.hold(), place
        place.unlink()


def test_where_a_link_leads_is_looked_at_although_its_folder_does_not_change(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere" / "file")
    (tmp_path / "elsewhere").mkdir()
    with recorded() as probes:
        assert not os.path.exists(tmp_path / "link")
    time.sleep(0.06)
    assert probes.hold()
    (tmp_path / "elsewhere" / "file").touch()
    assert not probes.hold()


def test_what_was_found_out_is_remembered_until_a_path_changes(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("one")
    found = Remembered[str](2)

    calls: list[str] = []

    def counted() -> str:
        calls.append(file.read_text() if os.path.exists(file) else "")
        return calls[-1]

    assert found.get("it", counted) == "one"
    assert found.get("it", counted) == "one"
    assert len(calls) == 2  # it has changed too shortly before
    time.sleep(0.06)
    assert [found.get("it", counted) for _ in range(3)] == ["one"] * 3
    assert len(calls) == 3
    file.write_text("two")
    assert found.get("it", counted) == "two"
    time.sleep(0.06)
    # The oldest is forgotten.
    for key in ("it", "other", "third", "it"):
        found.get(key, counted)
    assert len(calls) == 8
