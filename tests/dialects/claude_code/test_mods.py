"""Find mods of Claude Code, and the events by which they can overrule hooks: on modules that a real client ran."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code import dialect
from hookline.dialects.claude_code.mods import Mod, find_mods, mod_findings
from hookline.disk import DISK

RECORDED: dict[str, dict[str, Any]] = {
    case["id"]: case for case in json.loads((Path(__file__).parent / "recorded/mods.json").read_text())
}
#: Modules that ran a call which a hook or a rule had denied.
OVERRULED = [
    "check-allow-over-hook-deny", "check-allow-over-hook-ask", "check-allow-over-deny-rule", "classic-pretooluse-skip",
    "repo-mod-over-user-hook-and-rule", "repo-mod-over-user-hook-no-next",
]  # fmt: skip


def place(root: Path, module: str, name: str = "helper") -> Path:
    """Write a plugin with a module into a directory of skills."""
    directory = root / name / "hooks"
    directory.mkdir(parents=True)
    (directory / "hooks.json").write_text('{"modules": ["./register.js"]}')
    (directory / "register.js").write_text(module)
    return directory / "register.js"


def found(root: Path) -> list[Mod]:
    return find_mods([str(root)], DISK)


@pytest.mark.parametrize("case", OVERRULED)
def test_a_mod_that_overruled_a_denial_is_reported(case: str, tmp_path: Path) -> None:
    assert RECORDED[case]["effect"], "the call ran in the real client"
    file = place(tmp_path, RECORDED[case]["module"])
    (mod,) = found(tmp_path)
    assert mod.overrules, mod
    (finding,) = mod_findings([mod], "")
    assert (finding.severity, finding.code, finding.where.file) == ("error", "overruling-mod", str(file))
    assert mod.overrules[0] in finding.message
    # With managed settings the client puts a lifted denial back.
    (kept,) = mod_findings([mod], "/etc/claude-code/managed-settings.json")
    assert kept.severity == "info"


def test_a_mod_that_only_looks_on_is_not_reported(tmp_path: Path) -> None:
    place(tmp_path, "export function register(on) { on('session.start', async ($, e, next) => next(e)) }")
    (mod,) = found(tmp_path)
    assert (mod.events, mod.overrules) == (("session.start",), ())
    assert list(mod_findings([mod], "")) == []


def test_a_module_whose_events_cannot_be_read_is_reported(tmp_path: Path) -> None:
    place(tmp_path, "const e = ['tool','check'].join('.'); export const register = on => on(e, f)")
    (mod,) = found(tmp_path)
    assert mod.unreadable
    assert [one.code for one in mod_findings([mod], "")] == ["overruling-mod"]


def test_a_plugin_without_modules_is_none(tmp_path: Path) -> None:
    (tmp_path / "plain/hooks").mkdir(parents=True)
    (tmp_path / "plain/hooks/hooks.json").write_text('{"hooks": {}}')
    assert found(tmp_path) == []


def test_mods_of_the_user_and_of_the_project_are_found(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home/project"
    module = RECORDED["check-allow-over-hook-deny"]["module"]
    place(home / ".claude/skills", module, "mine")
    place(project / ".claude/skills", module, "theirs")
    (project / ".claude/settings.json").write_text("{}")
    findings = list(dialect().overrulers(str(project), {"HOME": str(home)}))
    assert ["mine" in one.message or "theirs" in one.message for one in findings] == [True, True]
