"""Hooks of Codex's plugins: found in its cache, listed with their trust, and left out where Codex leaves them out."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.config.load import Loaded, Loader
from hookline.dialects.registry import home_dialect
from hookline.extending import standard_handlers

HOOKS = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "${PLUGIN_ROOT}/bin/h.sh"}]}]}}
STATE = '[hooks.state."p1@mk:%s:pre_tool_use:0:0"]\ntrusted_hash = "sha256:1"\n'


class Codex:
    """A home with one plugin in it."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / ".codex/plugins/cache/mk/p1/1.0.0"

    def load(
        self,
        where: str = "hooks/hooks.json",
        manifest: Any = None,
        config: str = "enabled = true",
        state: bool = True,
        more: str = "",
        folder: str = ".codex-plugin",
    ) -> Loaded:
        self.root.mkdir(parents=True)
        file = self.root / where
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(HOOKS))
        (self.root / folder).mkdir()
        (self.root / folder / "plugin.json").write_text(json.dumps({"name": "p1", **(manifest or {})}))
        trusted = STATE % where if state else ""
        (self.home / ".codex/config.toml").write_text(f'{more}[plugins."p1@mk"]\n{config}\n{trusted}')
        project = self.home / "project"
        project.mkdir()
        loader = Loader(home_dialect(), standard_handlers(), env={"HOME": str(self.home)})
        return loader.directory(str(project), ["codex"])


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    return Codex(tmp_path)


def commands(loaded: Loaded) -> list[str]:
    return [hook.spec.command for hook in loaded.hooks]


@pytest.mark.parametrize("folder", [".codex-plugin", ".claude-plugin", ".cursor-plugin"])
def test_an_enabled_plugin_brings_its_hooks(codex: Codex, folder: str) -> None:
    assert commands(codex.load(folder=folder)) == [f"{codex.root}/bin/h.sh"]


def test_a_manifest_names_another_file(codex: Codex) -> None:
    loaded = codex.load("conf/my.json", {"hooks": "./conf/my.json"})
    assert commands(loaded) == [f"{codex.root}/bin/h.sh"]


def test_a_file_in_the_root_is_not_found(codex: Codex) -> None:
    assert commands(codex.load("hooks.json")) == []


def test_a_path_outside_of_the_plugin_is_not_read(codex: Codex) -> None:
    loaded = codex.load("../stray.json", {"hooks": "../stray.json"})
    assert commands(loaded) == []
    assert "bad-plugin" in [one.code for one in loaded.diagnostics]


@pytest.mark.parametrize(
    ("config", "more"), [("enabled = false", ""), ("enabled = true", "[features]\nplugins = false\n")]
)
def test_a_plugin_that_is_switched_off_brings_none(codex: Codex, config: str, more: str) -> None:
    assert commands(codex.load(config=config, more=more)) == []


def test_a_plugin_that_was_never_trusted_is_named(codex: Codex) -> None:
    loaded = codex.load(state=False)
    assert commands(loaded) == []
    assert [(one.code, "p1@mk" in one.message) for one in loaded.diagnostics] == [("not-trusted", True)]
