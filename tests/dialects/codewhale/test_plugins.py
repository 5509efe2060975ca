"""Files of CodeWhale that are found: plugins of the user and the project, and settings under its former name."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.config.load import Loaded
from hookline.extending import CommandSpec
from tests.cli.run_cli import clean_env
from tests.warm_process import run_warm

#: What Agent Plugins call CodeWhale's part of a manifest.
EXTENSION = "net.codewhale"


def entries(*commands: str, key: str = "hooks") -> str:
    return "".join(f'[[{key}]]\nevent = "turn_end"\ncommand = "{each}"\n' for each in commands)


def manifest(path: str | None) -> dict[str, Any]:
    own = {} if path is None else {"hooks": {"path": path}}
    return {"name": "guard", "extensions": {EXTENSION: own, "com.example.other": {"hooks": {"path": "x"}}}}


class User:
    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project

    def write(self, file: str, value: Any) -> Path:
        path = self.home / file[2:] if file.startswith("~/") else self.project / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value if isinstance(value, str) else json.dumps(value))
        return path

    def load(self) -> Loaded:
        return Engine().load(str(self.project), None, ["codewhale"], trust=True)

    def commands(self) -> list[str]:
        specs = [hook.spec for hook in self.load().hooks]
        return [spec.command for spec in specs if isinstance(spec, CommandSpec)]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return User(home, project)


@pytest.mark.parametrize("directory", ["~/.codewhale", ".codewhale"])
@pytest.mark.parametrize("toml", [False, True])
def test_a_plugins_hooks_are_read_from_the_file_or_directory_its_manifest_names(
    user: User, directory: str, toml: bool
) -> None:
    root = f"{directory}/plugins/guard"

    def name(path: str) -> None:
        text = f'[plugin]\nname = "guard"\n[hooks]\npath = "{path}"\n'
        user.write(f"{root}/plugin.toml" if toml else f"{root}/plugin.json", text if toml else manifest(path))

    user.write(f"{root}/hooks/b.toml", entries("b"))
    user.write(f"{root}/hooks/a.toml", entries("a"))
    user.write(f"{root}/hooks/README.md", "no hooks")
    name("hooks")
    assert user.commands() == ["a", "b"]
    name("hooks/b.toml")
    loaded = user.load()
    assert [(hook.scope, hook.where.file.rpartition("/")[2]) for hook in loaded.hooks] == [
        ("plugin", "b.toml")
    ]
    assert loaded.diagnostics == ()


def test_plugins_run_after_the_users_hooks_and_before_the_projects(user: User) -> None:
    user.write("~/.codewhale/config.toml", entries("user", key="hooks.hooks"))
    user.write(".codewhale/hooks.toml", entries("project"))
    for directory in ("~/.codewhale", ".codewhale"):
        user.write(f"{directory}/plugins/guard/plugin.json", manifest("hooks.toml"))
    user.write("~/.codewhale/plugins/guard/hooks.toml", entries("plugin"))
    user.write(".codewhale/plugins/guard/hooks.toml", entries("same name"))
    assert user.commands() == ["user", "plugin", "project"]


def test_what_is_no_plugin_brings_no_hooks_and_what_is_wrong_is_reported(user: User) -> None:
    user.write("~/.codewhale/plugins/state.json", "{}")
    user.write("~/.codewhale/plugins/none/hooks/a.toml", entries("no manifest"))
    user.write("~/.codewhale/plugins/quiet/plugin.json", manifest(None))
    assert (user.commands(), user.load().diagnostics) == ([], ())
    user.write("~/.codewhale/plugins/gone/plugin.json", manifest("hooks"))
    user.write("~/.codewhale/plugins/outside/plugin.json", manifest("../../elsewhere.toml"))
    user.write("~/.codewhale/elsewhere.toml", entries("elsewhere"))
    loaded = user.load()
    found = [(one.where.file.split("/")[-2], one.code, one.severity) for one in loaded.diagnostics]
    assert (loaded.hooks, found) == (
        (),
        [("gone", "bad-plugin", "error"), ("outside", "bad-plugin", "error")],
    )


def test_a_plugin_needs_trust_under_its_own_directory(user: User) -> None:
    user.write("~/.codewhale/plugins/guard/plugin.json", manifest("hooks.toml"))
    user.write("~/.codewhale/plugins/guard/hooks.toml", entries("true"))
    engine = Engine()
    (hook,) = engine.load(str(user.project), None, ["codewhale"]).hooks
    assert engine.trust is not None
    assert engine.trust.status(hook).state == "untrusted"
    assert engine.trust.project.owner(hook.where.file, hook.scope) == str(
        user.home / ".codewhale/plugins/guard"
    )


def test_settings_under_the_former_name_are_read_where_there_are_no_others(user: User) -> None:
    former = user.write("~/.deepseek/config.toml", entries("former", key="hooks.hooks"))
    loaded = Engine().loader.directory(str(user.project))
    assert [hook.where.file for hook in loaded.hooks] == [str(former)]
    user.write("~/.codewhale/config.toml", entries("own", key="hooks.hooks"))
    loaded = user.load()
    assert user.commands() == ["own"]
    assert [found.file for found in loaded.found] == [str(user.home / ".codewhale/config.toml")]
    assert [(one.severity, one.where.file) for one in loaded.diagnostics] == [("info", str(former))]


def test_hookline_is_installed_into_the_settings_that_are_read(user: User) -> None:
    former = user.write("~/.deepseek/config.toml", entries("former", key="hooks.hooks"))
    ran = run_warm(["install", "codewhale", "--yes"], env=clean_env(user.home), cwd=user.project, timeout=60)
    assert ran.status == 0, ran.stderr
    assert "hookline" in former.read_text()
    assert not (user.home / ".codewhale/config.toml").exists()
