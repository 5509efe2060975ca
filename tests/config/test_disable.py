"""Test that `disable` switches hooks off by name in the user's own file, and in no other."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hookline.config.change_hooks import disable_problems, switched_off
from hookline.config.load import Loaded, Loader
from hookline.dialects.dialect import ConfigPath, Layer, Tools
from hookline.dialects.registry import home_dialect
from hookline.documents.document import read_document
from hookline.extending import standard_handlers
from hookline.model.hook import Scope

GUARD = '[[hooks.PreToolUse]]\nhooks = [{{ name = "{name}", command = "true" }}]\n'
CLAUDE = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./lint.sh"}]}]}}


class Machine:
    def __init__(self, root: Path) -> None:
        self.user, self.project = root / "home/.config/hookline", root / "project"
        self._env = {"HOME": str(root / "home")}
        (self.project / ".git").mkdir(parents=True)

    def write(self, path: str, text: str) -> None:
        file = self.user.parent.parent / path[2:] if path.startswith("~/") else self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def load(self, names: Sequence[str] | None = None, **env: str) -> Loaded:
        loader = Loader(home_dialect(), standard_handlers(), env={**self._env, **env})
        return loader.directory(str(self.project), names)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def off(loaded: Loaded) -> dict[str, str]:
    """By name, the lines that switched hooks off."""
    for hook in loaded.hooks:
        assert (hook.mode == "off") == (hook.disabled_by is not None)
    return {hook.name: str(hook.disabled_by) for hook in loaded.hooks if hook.disabled_by is not None}


def said(loaded: Loaded) -> list[tuple[str, str]]:
    return [(one.severity, one.code) for one in loaded.diagnostics]


def test_hooks_of_every_layer_and_format_are_switched_off_by_name(machine: Machine):
    machine.write(
        "~/.config/hookline/hooks.toml",
        'disable = [\n  "mine",\n  "theirs",\n  "lint.sh",\n]\n' + GUARD.format(name="mine"),
    )
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs") + GUARD.format(name="other"))
    machine.write(".claude/settings.json", json.dumps(CLAUDE))
    loaded = machine.load()
    file = machine.user / "hooks.toml"
    assert off(loaded) == {"mine": f"{file}:2", "theirs": f"{file}:3", "lint.sh": f"{file}:4"}
    assert [hook.name for hook in loaded.hooks] == ["lint.sh", "mine", "theirs", "other"]
    assert loaded.diagnostics == ()


def test_the_local_file_of_the_user_counts_too(machine: Machine):
    machine.write("~/.config/hookline/hooks.local.toml", 'disable = ["theirs"]\n')
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs"))
    assert list(off(machine.load())) == ["theirs"]


@pytest.mark.parametrize("file", [".hookline/hooks.toml", ".hookline/hooks.local.toml"])
def test_a_project_cannot_switch_anything_off(machine: Machine, file: str):
    machine.write("~/.config/hookline/hooks.toml", GUARD.format(name="mine"))
    machine.write(file, 'disable = ["mine"]\n')
    loaded = machine.load()
    assert off(loaded) == {}
    (problem,) = loaded.diagnostics
    assert (problem.severity, problem.code, problem.where.line) == ("error", "misplaced-disable", 1)
    assert problem.fix == "move it to ~/.config/hookline/hooks.toml"


def test_it_holds_where_only_another_format_is_read(machine: Machine):
    machine.write("~/.config/hookline/hooks.toml", 'disable = ["lint.sh"]\n')
    machine.write(".claude/settings.json", json.dumps(CLAUDE))
    loaded = machine.load(["claude-code"])
    assert list(off(loaded)) == ["lint.sh"]


def test_a_name_that_no_hook_has_is_told_with_the_nearest(machine: Machine):
    machine.write("~/.config/hookline/hooks.toml", 'disable = ["thiers", "of another project"]\n')
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs"))
    loaded = machine.load()
    assert off(loaded) == {}
    near, far = loaded.diagnostics
    assert (near.severity, near.code, near.fix) == ("warning", "unknown-hook", "did you mean theirs?")
    assert (far.severity, far.code, far.fix) == ("info", "unknown-hook", None)
    # If hooks were left out, their names are unknown.
    assert said(machine.load(["native"])) == []


@pytest.mark.parametrize("value", ['"theirs"', "[1]", "true"])
def test_what_is_no_list_of_names_is_an_error_and_the_hooks_stay_on(machine: Machine, value: str):
    machine.write("~/.config/hookline/hooks.toml", f"disable = {value}\n")
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs"))
    loaded = machine.load()
    assert off(loaded) == {}
    assert said(loaded) == [("error", "wrong-type")]


def test_of_two_lists_in_one_file_neither_counts(machine: Machine):
    machine.write("~/.config/hookline/hooks.json", '{"disable": ["theirs"], "disable": ["other"]}')
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs") + GUARD.format(name="other"))
    loaded = machine.load()
    assert off(loaded) == {}
    assert loaded.diagnostics


def test_an_entry_that_cannot_be_read_can_be_switched_off_too(machine: Machine):
    machine.write("~/.config/hookline/hooks.toml", 'disable = ["theirs"]\n')
    machine.write(".hookline/hooks.toml", GUARD.format(name="theirs").replace('"true"', "3"))
    assert list(off(machine.load())) == ["theirs"]


def test_managed_hooks_run_first_and_stay_on():
    home = home_dialect()
    files: dict[str, tuple[Scope, str]] = {
        "/etc/hookline/hooks.toml": ("managed", GUARD.format(name="theirs")),
        "/u/hooks.toml": ("user", 'disable = ["theirs", "mine"]\n' + GUARD.format(name="mine")),
    }
    layers = [
        Layer(ConfigPath(file, scope), read_document(text, "toml", file))
        for file, (scope, text) in files.items()
    ]
    reading = home.read(layers[::-1], Tools(standard_handlers(), *home.tables()))
    hooks = switched_off(reading.hooks, reading.disabled)
    assert [(hook.name, hook.scope, hook.mode) for hook in hooks] == [
        ("theirs", "managed", "enforce"),
        ("mine", "user", "off"),
    ]
    (problem,) = disable_problems(reading.hooks, reading.disabled)
    assert (problem.severity, problem.code, problem.where.line) == ("warning", "managed-hook", 1)
