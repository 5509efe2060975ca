"""One directory, several agents' hooks: found, read as each agent reads them, and run as lanes of one session."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline import Engine, load
from hookline.config.load import Loaded, Loader
from hookline.dialects.registry import home_dialect, standard_dialects
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.extending import standard_handlers
from hookline.model.errors import UnknownDialectError
from hookline.trust.trust import TrustOptions
from tests.trusting import trust_all_of, trust_nothing

CLAUDE = {
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]
    }
}
NATIVE = '[[hooks.PreToolUse]]\nhooks = [{ command = "true", name = "native" }]\n'
WHALE = '[[hooks]]\nevent = "tool_call_before"\ncommand = "true"\nname = "whale"\n'
REASONIX = {"hooks": {"PreToolUse": [{"match": "*", "command": "true"}]}}


def everything(directory: Path) -> Loaded:
    """Load what the commands find there: every dialect, with the user's trust."""
    engine = Engine()
    return engine.loader.directory(str(directory), trust=engine.trust_in(str(directory), TrustOptions()))


def loader(env: Mapping[str, str] = {}) -> Loader:
    return Loader(home_dialect(), standard_handlers(), env=env)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    (tmp_path / "home").mkdir()
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    trust_all_of(tmp_path / "home", project)
    for file, text in {
        ".claude/settings.json": json.dumps(CLAUDE),
        ".hookline/hooks.toml": NATIVE,
        ".codewhale/hooks.toml": WHALE,
        ".reasonix/settings.json": json.dumps(REASONIX),
    }.items():
        (project / file).parent.mkdir()
        (project / file).write_text(text)
    return project


def test_every_agents_hooks_are_found_and_run_as_lanes_in_registry_order(project: Path) -> None:
    installed = load(project, dialects=["claude-code", "codewhale", "reasonix", "native"])
    assert [hook.dialect for hook in installed.engine.hooks] == [
        "claude-code",
        "codewhale",
        "reasonix",
        "native",
    ]
    assert {found.dialect for found in installed.found} == {"claude-code", "codewhale", "reasonix", "native"}
    session = installed.engine.session("s", cwd=str(project))
    call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})

    async def story() -> bool:
        outcome = await session.dispatch(PRE_TOOL_USE, call)
        await installed.engine.close()
        return outcome.blocked

    assert asyncio.run(story())
    ran = [(run.dialect, run.status) for run in installed.engine.journal.recent()]
    assert [dialect for dialect, _ in ran] == ["claude-code", "codewhale", "reasonix", "native"]
    assert ran[0] == ("claude-code", "blocked")


def test_without_a_choice_commands_look_for_all_of_them_and_hosts_for_native_files(project: Path) -> None:
    assert [hook.dialect for hook in everything(project).hooks] == [
        "claude-code",
        "codewhale",
        "reasonix",
        "native",
    ]
    installed = load(project)
    assert [hook.dialect for hook in installed.engine.hooks] == ["native"]
    assert {found.dialect for found in installed.found} == {"native"}


def test_a_file_two_agents_read_runs_once_and_that_is_said(project: Path) -> None:
    (project / ".gen").mkdir()
    own = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    (project / ".gen" / "settings.json").write_text(json.dumps(own))
    found = everything(project)
    hooks = [(hook.dialect, hook.event.name) for hook in found.hooks]
    assert hooks[:2] == [("claude-code", "PreToolUse"), ("gen-code", "Stop")]
    (said,) = [one for one in found.diagnostics if one.code == "read-already"]
    assert said.severity == "info"
    assert str(said.where).endswith(".claude/settings.json")
    alone = load(project, dialects=["gen-code"]).engine.hooks
    assert [hook.event.name for hook in alone] == ["PreToolUse", "Stop"]


def test_every_dialects_project_files_need_trust_and_the_users_own_do_not(
    project: Path, tmp_path: Path
) -> None:
    own = tmp_path / "home/.config/hookline/hooks.toml"
    own.write_text(NATIVE)
    assert {found.needs_trust for found in everything(project).found} == {False}
    trust_nothing(tmp_path / "home")
    needs = {(found.dialect, found.scope): found.needs_trust for found in everything(project).found}
    assert needs == {
        ("claude-code", "project"): True,
        ("codewhale", "project"): True,
        ("reasonix", "project"): True,
        ("native", "user"): False,
        ("native", "project"): True,
    }


@pytest.mark.parametrize(
    ("file", "dialect"),
    [
        (".claude/settings.json", "claude-code"),
        (".codewhale/hooks.toml", "codewhale"),
        (".reasonix/settings.json", "reasonix"),
        (".hookline/hooks.toml", "native"),
    ],
)
def test_a_file_is_known_by_its_place(project: Path, file: str, dialect: str) -> None:
    assert loader().whose(str(project / file)) == dialect


def test_a_file_elsewhere_is_known_by_its_shape_or_counts_as_native(project: Path) -> None:
    whale = project / "whale.toml"
    whale.write_text(WHALE)
    strange = project / "strange.json"
    strange.write_text('{"hooks": {}}')
    assert loader().whose(str(whale)) == "codewhale"
    assert loader().whose(str(strange)) == "native"
    assert loader().whose(str(project / "missing.json")) == "native"


def test_given_files_of_several_dialects_are_each_read_as_their_own(project: Path) -> None:
    files = [str(project / ".codewhale/hooks.toml"), str(project / ".hookline/hooks.toml")]
    assert [hook.dialect for hook in load(project, files=files).engine.hooks] == ["codewhale", "native"]


def test_a_dialect_nobody_knows_says_the_nearest() -> None:
    with pytest.raises(UnknownDialectError, match="did you mean 'claude-code'"):
        loader().dialect("claude-cod")
    with pytest.raises(UnknownDialectError, match="there are: claude-code"):
        loader().dialect("x")


def test_every_place_is_known_before_anything_is_there(tmp_path: Path) -> None:
    places = loader({"HOME": str(tmp_path / "home")}).config_files(str(tmp_path))
    for file in (
        ".claude/settings.json",
        ".codewhale/hooks.toml",
        ".reasonix/settings.json",
        ".hookline/hooks.toml",
    ):
        assert str(tmp_path / file) in places


def test_an_agent_whose_home_is_elsewhere_is_found_by_its_variable(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for variable, dialect, config in (
        ("CLAUDE_CONFIG_DIR", "claude-code", CLAUDE),
        ("REASONIX_HOME", "reasonix", REASONIX),
    ):
        directory = tmp_path / variable
        directory.mkdir()
        (directory / "settings.json").write_text(json.dumps(config))
        monkeypatch.setenv(variable, str(directory))
        assert [hook.dialect for hook in everything(bare).hooks] == [dialect]
        monkeypatch.delenv(variable)
    assert everything(bare).hooks == ()


def test_every_managed_place_is_known_to_the_registry() -> None:
    """A managed guard must be found for a user who never had a directory of that agent."""
    for listed in standard_dialects().values():
        for config_path in listed.build().config_paths("/p", {"HOME": "/h"}):
            if config_path.scope == "managed":
                assert config_path.file.startswith(listed.system_paths)


def test_a_healthy_file_of_one_agent_gets_no_complaints_from_another(project: Path) -> None:
    hook: dict[str, object] = {
        "type": "command",
        "command": "true",
        "args": [],
        "onFailure": "block",
        "timeout": 1.5,
    }
    config: dict[str, object] = {
        "hooks": {"PostToolBatch": [{"hooks": [hook]}], "PreToolUse": [{"hooks": [hook]}]}
    }
    (project / ".claude" / "settings.json").write_text(json.dumps(config))
    (project / ".gen").mkdir()
    assert [one for one in everything(project).diagnostics if one.severity != "info"] == []


def test_a_home_that_is_the_project_has_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps(CLAUDE))
    for dialect in ("gen-code", "claude-code"):
        assert len(load(tmp_path, dialects=[dialect]).engine.hooks) == 1


def test_several_files_of_one_dialect_are_its_layers(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps(CLAUDE))
    second.write_text('{"disableAllHooks": true}')
    files = [str(first), str(second)]
    assert load(tmp_path, dialects=["claude-code"], files=files).engine.hooks == ()


def test_a_plugins_hooks_know_where_the_plugin_is(tmp_path: Path) -> None:
    (tmp_path / "plug" / "hooks").mkdir(parents=True)
    script = tmp_path / "plug" / "guard.sh"
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)
    entry = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh"}
    file = tmp_path / "plug" / "hooks" / "hooks.json"
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [entry]}]}}))
    installed = load(tmp_path, dialects=["claude-code"], files=[str(file)])

    async def story() -> str | None:
        outcome = await installed.engine.session("s", cwd=str(tmp_path)).dispatch(
            PRE_TOOL_USE, ToolCall(tool_name="Bash", tool_input={"command": "ls"})
        )
        await installed.engine.close()
        return outcome.reason

    assert "no" in (asyncio.run(story()) or "")
