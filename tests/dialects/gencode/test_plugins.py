"""Plugins that gen-code has installed: found where it looks for them, and below every settings file."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.config.load import Loaded
from hookline.extending import CommandSpec


def hooks(*commands: str, event: str = "Stop") -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": each} for each in commands]}]}}


class User:
    """A home and a project, each of which may have plugins."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project

    def write(self, file: str, value: Any) -> Path:
        """A file of the project, or of the home if its name begins with ~."""
        path = self.home / file[2:] if file.startswith("~/") else self.project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def load(self, *, trust: bool = True) -> Loaded:
        return Engine().load(str(self.project), None, ["gen-code"], trust=trust)

    def commands(self, *, trust: bool = True) -> list[str]:
        specs = [hook.spec for hook in self.load(trust=trust).hooks]
        return [spec.command for spec in specs if isinstance(spec, CommandSpec)]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    home, project = tmp_path / "home", tmp_path / "project"
    for each in (home / ".gen", project / ".gen"):
        each.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return User(home, project)


MANIFESTS = (".gen-plugin/plugin.json", ".claude-plugin/plugin.json", "plugin.json")


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_hooks_of_a_plugins_manifest_are_active(user: User, manifest: str) -> None:
    user.write(f"~/.gen/plugins/guard/{manifest}", {"name": "guard", **hooks("from-manifest")})
    loaded = user.load()
    (hook,) = loaded.hooks
    assert (hook.scope, loaded.diagnostics) == ("plugin", ())
    assert user.commands() == ["from-manifest"]


def test_a_manifest_may_name_a_file_or_hold_the_whole_of_one(user: User) -> None:
    manifest = f"~/.gen/plugins/guard/{MANIFESTS[0]}"
    user.write("~/.gen/plugins/guard/hooks/hooks.json", hooks("usual"))
    assert user.commands() == ["usual"]
    user.write("~/.gen/plugins/guard/more.json", hooks("chosen"))
    for named in (
        "more.json",
        "./more.json",
        "${GEN_PLUGIN_ROOT}/more.json",
        "${CLAUDE_PLUGIN_ROOT}/more.json",
    ):
        user.write(manifest, {"name": "guard", "hooks": named})
        assert user.commands() == ["chosen"]
    user.write(manifest, {"name": "guard", "hooks": hooks("inside")})
    assert user.commands() == ["inside"]
    user.write(manifest, {"name": "guard"})
    assert user.commands() == ["usual"]


def test_a_manifest_cannot_name_a_file_outside_of_its_plugin(user: User) -> None:
    user.write("~/elsewhere.json", hooks("elsewhere"))
    user.write(f"~/.gen/plugins/guard/{MANIFESTS[0]}", {"name": "guard", "hooks": "../../../elsewhere.json"})
    loaded = user.load()
    assert (loaded.hooks, [each.code for each in loaded.diagnostics]) == ((), ["bad-plugin"])


def test_settings_replace_the_hooks_of_plugins_event_by_event(user: User) -> None:
    user.write(
        "~/.gen/plugins/guard/hooks/hooks.json",
        {"hooks": {**hooks("plugin")["hooks"], **hooks("plugin-setup", event="Setup")["hooks"]}},
    )
    user.write("~/.gen/settings.json", hooks("user"))
    assert sorted(user.commands()) == ["plugin-setup", "user"]
    user.write("~/.gen/settings.json", {})
    user.write(".gen/settings.json", {"hooks": {"Stop": []}})
    assert user.commands() == ["plugin-setup"]


@pytest.mark.parametrize(
    ("directory", "on"), [("~/.gen/plugins", True), (".gen/plugins", False), (".gen/plugins-local", False)]
)
def test_the_users_plugins_are_on_and_a_projects_are_off_unless_settings_say_otherwise(
    user: User, directory: str, on: bool
) -> None:
    user.write(f"{directory}/guard/hooks/hooks.json", hooks("mine"))
    assert user.commands() == (["mine"] if on else [])
    for settings in ("~/.gen/settings.json", ".gen/settings.local.json"):
        for said in (True, False):
            user.write(settings, {"enabledPlugins": {"guard": said}})
            assert user.commands() == (["mine"] if said else [])


def test_installed_plugins_are_on_in_both_forms_of_the_list(user: User) -> None:
    root = user.write("~/cache/guard/hooks/hooks.json", hooks("cached")).parent.parent
    listed = "~/.gen/plugins/installed_plugins.json"
    user.write(
        listed, {"version": 2, "plugins": {"guard@market": [{"scope": "user", "installPath": str(root)}]}}
    )
    assert user.commands() == ["cached"]
    user.write(listed, [{"source": "guard@market", "path": str(root)}])
    assert user.commands() == ["cached"]
    user.write("~/.gen/settings.json", {"enabledPlugins": {"guard@market": False}})
    assert user.commands() == []


def test_what_cannot_be_used_is_reported_and_the_rest_loads(user: User) -> None:
    user.write("~/.gen/plugins/broken/.gen-plugin/plugin.json", "{")
    user.write("~/.gen/plugins/cache/old/hooks/hooks.json", hooks("in-cache"))
    user.write("~/.gen/plugins/good/hooks/hooks.json", hooks("good"))
    user.write("~/.gen/plugins/installed_plugins.json", "[{}, 3]")
    user.write("~/.gen/plugins/README.md", "no plugin")
    loaded = user.load()
    assert [each.where.file.rpartition("/plugins/")[2] for each in loaded.diagnostics] == [
        "broken/.gen-plugin/plugin.json"
    ]
    assert user.commands() == ["good"]


def test_a_plugin_runs_only_once_it_is_trusted(user: User) -> None:
    user.write("~/.gen/plugins/guard/hooks/hooks.json", hooks("true"))
    engine = Engine()
    (hook,) = engine.load(str(user.project), None, ["gen-code"]).hooks
    assert engine.trust is not None
    assert engine.trust.status(hook).state == "untrusted"
    assert engine.trust.project.owner(hook.where.file, hook.scope) == str(user.home / ".gen/plugins/guard")


def test_a_project_that_is_not_trusted_switches_no_plugin_on_or_off(user: User) -> None:
    user.write("~/.gen/plugins/mine/hooks/hooks.json", hooks("mine"))
    user.write(".gen/plugins/theirs/hooks/hooks.json", hooks("theirs"))
    user.write(".gen/settings.json", {"enabledPlugins": {"mine": False, "theirs": True}})
    assert user.commands(trust=False) == ["mine"]
    assert user.commands() == ["theirs"]
