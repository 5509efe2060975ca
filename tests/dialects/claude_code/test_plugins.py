"""Plugins that Claude Code has installed: which of their files are read, and which are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.config.load import Loaded

HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo $0"}]}]}}
GUARD = "guard@market"


class User:
    """Make a home with Claude Code's directory, and a project below it."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home = home
        self.project = project
        self.root = home / ".claude/plugins/cache/market/guard/1.0"
        self.engine = Engine()

    def write(self, file: Path | str, value: Any) -> Path:
        path = self.home / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
        return path

    def install(self, *entries: dict[str, Any], name: str = GUARD, enabled: Any = True) -> None:
        """One plugin, with hooks in the usual file."""
        listed = list(entries) or [{"scope": "user", "installPath": str(self.root), "version": "1.0"}]
        self.write(".claude/plugins/installed_plugins.json", {"version": 2, "plugins": {name: listed}})
        self.write(".claude/settings.json", {} if enabled is None else {"enabledPlugins": {name: enabled}})
        self.write(self.root / "hooks/hooks.json", HOOKS)

    def load(self, cwd: Path | None = None, *, trust: bool = True) -> Loaded:
        self.engine = Engine()
        return self.engine.load(str(cwd or self.project), None, ["claude-code"], trust=trust)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PLUGIN_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return User(home, project)


def files(loaded: Loaded, user: User) -> list[str]:
    return [str(Path(hook.where.file).relative_to(user.root)) for hook in loaded.hooks]


def said(loaded: Loaded) -> list[tuple[str, str, int | None]]:
    return [(one.severity, one.code, one.where.line) for one in loaded.diagnostics]


def test_an_enabled_plugins_hooks_are_in_force_after_those_of_the_settings(user: User) -> None:
    user.install()
    user.write(user.project / ".claude/settings.local.json", HOOKS)
    loaded = user.load()
    assert [(hook.scope, Path(hook.where.file).name) for hook in loaded.hooks] == [
        ("local", "settings.local.json"),
        ("plugin", "hooks.json"),
    ]
    assert loaded.found[-1].scope == "plugin"
    assert loaded.diagnostics == ()


@pytest.mark.parametrize("enabled", [False, None])
def test_a_plugin_that_is_not_enabled_is_not_in_force(user: User, enabled: Any) -> None:
    user.install(enabled=enabled)
    loaded = user.load()
    assert (loaded.hooks, loaded.diagnostics) == ((), ())


def test_the_strongest_settings_file_that_names_a_plugin_decides(user: User) -> None:
    user.install()
    off = user.write(user.project / ".claude/settings.json", {"enabledPlugins": {GUARD: False}})
    assert user.load().hooks == ()
    user.write(user.project / ".claude/settings.local.json", {"enabledPlugins": {GUARD: True}})
    assert files(user.load(), user) == ["hooks/hooks.json"]
    user.write(user.project / ".claude/settings.local.json", {"enabledPlugins": {"other@market": True}})
    assert user.load().hooks == ()
    off.unlink()
    assert files(user.load(), user) == ["hooks/hooks.json"]


@pytest.mark.parametrize("enabled", [True, False])
def test_a_project_that_is_not_trusted_switches_no_plugin_on_or_off(user: User, enabled: bool) -> None:
    user.install(enabled=enabled)
    user.write(user.project / ".claude/settings.json", {"enabledPlugins": {GUARD: not enabled}})
    assert len(user.load(trust=False).hooks) == enabled
    assert len(user.load().hooks) == (not enabled)


@pytest.mark.parametrize("name", ["hooks/hooks.json", "more/a.json", ".claude-plugin/plugin.json"])
def test_a_plugin_runs_only_once_it_is_trusted_under_its_own_directory(user: User, name: str) -> None:
    user.install()
    (user.root / "hooks/hooks.json").unlink()
    user.write(user.root / ".claude-plugin/plugin.json", {"hooks": "./more/a.json"})
    user.write(user.root / name, HOOKS)
    (hook,) = user.load(trust=False).hooks
    trust = user.engine.trust
    assert trust is not None
    assert (trust.status(hook).state, trust.project.owner(hook.where.file, hook.scope)) == (
        "untrusted",
        str(user.root),
    )


@pytest.mark.parametrize("variable", ["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PLUGIN_CACHE_DIR"])
def test_the_directory_may_be_elsewhere(user: User, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    user.install()
    moved = user.home / "moved"
    if variable == "CLAUDE_CONFIG_DIR":
        (user.home / ".claude").rename(moved)
        root = moved / "plugins/cache/market/guard/1.0"
        listed = {"plugins": {GUARD: {"installPath": str(root)}}}  # as the first version wrote it
        user.write(moved / "plugins/installed_plugins.json", listed)
    else:
        (user.home / ".claude/plugins/installed_plugins.json").rename(user.home / "installed_plugins.json")
        moved = user.home
    assert user.load().hooks == ()
    monkeypatch.setenv(variable, str(moved))
    assert len(user.load().hooks) == 1


def test_hooks_know_the_directories_of_their_plugin(user: User) -> None:
    user.install()
    command = 'echo "$CLAUDE_PLUGIN_ROOT|$CLAUDE_PLUGIN_DATA" >&2; exit 2'
    entry = {"type": "command", "command": command}
    user.write(user.root / "hooks/hooks.json", {"hooks": {"PreToolUse": [{"hooks": [entry]}]}})
    (hook,) = user.load().hooks
    data = user.home / ".claude/plugins/data/guard-market"
    assert dict(hook.spec.env) == {"CLAUDE_PLUGIN_ROOT": str(user.root), "CLAUDE_PLUGIN_DATA": str(data)}


def test_the_manifest_names_further_files_or_holds_hooks_itself(user: User) -> None:
    user.install()
    user.write(user.root / "more/a.json", HOOKS)
    user.write(user.root / "more/b.json", HOOKS)
    manifest = user.root / ".claude-plugin/plugin.json"
    user.write(manifest, {"name": "guard", "hooks": ["./more/a.json", "./more/b.json"]})
    assert files(user.load(), user) == ["hooks/hooks.json", "more/a.json", "more/b.json"]
    user.write(manifest, {"name": "guard", "hooks": "./more/a.json"})
    assert files(user.load(), user) == ["hooks/hooks.json", "more/a.json"]
    user.write(manifest, {"name": "guard", **HOOKS})
    assert files(user.load(), user) == ["hooks/hooks.json", ".claude-plugin/plugin.json"]


def test_a_manifest_that_names_the_usual_file_is_told_of_and_the_file_read_once(user: User) -> None:
    user.install()
    user.write(user.root / ".claude-plugin/plugin.json", {"hooks": "./hooks/hooks.json"})
    loaded = user.load()
    assert files(loaded, user) == ["hooks/hooks.json"]
    assert said(loaded) == [("warning", "bad-plugin", 2)]


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        ("{", "syntax"),
        ('{"hooks": 3}', "not-an-object"),
        ('{"hooks": [3]}', "bad-plugin"),
        ('{"hooks": "more.json"}', "bad-plugin"),
        ('{"hooks": "/etc/passwd"}', "bad-plugin"),
        ('{"hooks": "./gone.json"}', "unreadable"),
        ('{"hooks": "../../../outside.json"}', "bad-plugin"),
        ('{"hooks": "./../../../outside.json"}', "bad-plugin"),
        ('{"hooks": "./linked/outside.json"}', "bad-plugin"),
    ],
)
def test_a_bad_manifest_is_an_error_and_the_usual_file_stays(user: User, manifest: str, code: str) -> None:
    user.install()
    user.write(user.root.parents[2] / "outside.json", HOOKS)
    (user.root / "linked").symlink_to(user.root.parents[2])
    user.write(user.root / ".claude-plugin/plugin.json", manifest)
    loaded = user.load()
    assert files(loaded, user) == ["hooks/hooks.json"]
    assert [(one.severity, one.code) for one in loaded.diagnostics] == [("error", code)]


@pytest.mark.parametrize("name", ["hooks", "hooks/hooks.json", ".claude-plugin"])
def test_a_link_that_leads_out_of_the_plugin_is_not_followed(user: User, name: str) -> None:
    user.install()
    outside = user.root.parent / "outside"
    (user.root / "hooks").rename(outside)
    user.write(outside / "plugin.json", HOOKS)
    link = user.root / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside / "hooks.json" if name.endswith("json") else outside)
    loaded = user.load()
    assert loaded.hooks == ()
    assert [(one.severity, one.code) for one in loaded.diagnostics] == [("error", "bad-plugin")]
    assert str(user.root) in loaded.diagnostics[0].message


@pytest.mark.parametrize(
    ("installed", "code"),
    [
        ("{", "syntax"),
        ("[]", "bad-plugin"),
        ('{"plugins": []}', "bad-plugin"),
        ('{"plugins": {"guard@market": []}}', "bad-plugin"),
        ('{"plugins": {"guard@market": [{"installPath": "relative"}]}}', "bad-plugin"),
        ('{"plugins": {"guard@market": [{"installPath": "/gone/for/good"}]}}', "bad-plugin"),
        ('{"plugins": {"guard@market": [{"installPath": 3}, "x", null]}}', "bad-plugin"),
    ],
)
def test_a_list_of_plugins_that_is_broken_stops_nothing_else(user: User, installed: str, code: str) -> None:
    user.install()
    user.write(".claude/settings.json", {"enabledPlugins": {GUARD: True}, **HOOKS})
    user.write(".claude/plugins/installed_plugins.json", installed)
    loaded = user.load()
    assert [hook.scope for hook in loaded.hooks] == ["user"]
    assert [one.code for one in loaded.diagnostics] == [code]


def test_of_several_installations_this_projects_counts(user: User) -> None:
    other = user.home / "elsewhere"
    user.write(other / "hooks/hooks.json", HOOKS)
    project = {"scope": "project", "projectPath": str(user.project), "installPath": str(other)}
    user.install({"scope": "user", "installPath": str(user.root)}, project)
    below = user.project / "src"
    below.mkdir()
    for cwd, root in ((user.project, other), (below, other), (user.home, user.root)):
        (hook,) = user.load(cwd).hooks
        assert hook.where.file == str(root / "hooks/hooks.json")


def test_what_a_plugin_says_beside_its_hooks_is_no_setting(user: User) -> None:
    user.install()
    limits = {"allowedHttpHookUrls": ["https://only.example/*"]}
    user.write(".claude/settings.json", {"enabledPlugins": {GUARD: True}, **limits})
    entry = {"type": "http", "url": "https://other.example/x"}
    hooks = {"hooks": {"PreToolUse": [{"hooks": [entry]}]}, "disableAllHooks": True}
    user.write(user.root / "hooks/hooks.json", {**hooks, "allowedHttpHookUrls": ["*"]})
    (hook,) = user.load().hooks
    assert hook.broken == "its url is not among allowedHttpHookUrls"


def test_settings_that_switch_all_hooks_off_switch_plugins_off(user: User) -> None:
    user.install()
    user.write(".claude/settings.json", {"enabledPlugins": {GUARD: True}, "disableAllHooks": True})
    loaded = user.load()
    assert loaded.hooks == ()
    assert [one.code for one in loaded.diagnostics] == ["disabled"]
