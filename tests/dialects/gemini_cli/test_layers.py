"""Places and layers: where settings are, what switches hooks off, and what extensions bring."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine, Outcome, load
from hookline.config.load import Loaded
from hookline.dialects.gemini_cli import dialect
from hookline.events import PRE_TOOL_USE, ToolCall
from hookline.trust.trust import TrustOptions
from tests.dialects.hooked_agent import HookedAgent
from tests.trusting import trust_all_of

GEMINI = dialect()


def settings(*commands: str, event: str = "BeforeTool", **more: Any) -> str:
    entries = [{"type": "command", "command": command, "name": command} for command in commands]
    return json.dumps({"hooks": {event: [{"hooks": entries}]}, **more})


class Home:
    """A user's home with a project in it."""

    def __init__(self, top: Path) -> None:
        self.home, self.project = top / "home", top / "home" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.env: Mapping[str, str] = {"HOME": str(self.home)}

    def write(self, name: str, text: str) -> None:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def loaded(self, *, trusted: bool = True) -> Loaded:
        engine = Engine()
        trust = None if trusted else engine.trust_in(str(self.project), TrustOptions())
        return engine.loader.directory(str(self.project), ["gemini-cli"], trust=trust)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    monkeypatch.setenv("HOME", str(made.home))
    for name in ("GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"):
        monkeypatch.delenv(name, raising=False)
    return made


def in_force(loaded: Loaded) -> list[str]:
    return [hook.name for hook in loaded.hooks if hook.mode != "off"]


def test_the_places_lowest_first() -> None:
    places = [
        (config_path.file, config_path.scope) for config_path in GEMINI.config_paths("/p", {"HOME": "/h"})
    ]
    assert places == [
        ("/etc/gemini-cli/system-defaults.json", "managed"),
        ("/Library/Application Support/GeminiCli/system-defaults.json", "managed"),
        ("/h/.gemini/settings.json", "user"),
        ("/p/.gemini/settings.json", "project"),
        ("/etc/gemini-cli/settings.json", "managed"),
        ("/Library/Application Support/GeminiCli/settings.json", "managed"),
    ]


def test_a_variable_adds_places_and_hides_none() -> None:
    env = {"HOME": "/h", "GEMINI_CLI_HOME": "/other", "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/s.json"}
    places = {config_path.file: config_path.scope for config_path in GEMINI.config_paths("/p", env)}
    assert places["/other/.gemini/settings.json"] == places["/h/.gemini/settings.json"] == "user"
    # Anybody can set a variable: what it names is not managed.
    assert places["/s.json"] == "user"
    assert places["/etc/gemini-cli/settings.json"] == "managed"


def test_in_the_home_directory_the_file_is_read_once() -> None:
    files = [config_path.file for config_path in GEMINI.config_paths("/h", {"HOME": "/h"})]
    assert files.count("/h/.gemini/settings.json") == 1


def test_the_lists_of_all_layers_are_one_after_another(home: Home) -> None:
    home.write("~/.gemini/settings.json", settings("user"))
    home.write(".gemini/settings.json", settings("project"))
    assert in_force(home.loaded()) == ["user", "project"]


def test_a_file_with_comments_is_read(home: Home) -> None:
    home.write(".gemini/settings.json", "// mine\n" + settings("project"))
    loaded = home.loaded()
    assert (in_force(loaded), loaded.diagnostics) == (["project"], ())
    files = load(home.project, files=[str(home.project / ".gemini/settings.json")]).loaded
    assert [hook.dialect for hook in files.hooks] == ["gemini-cli"]


def test_the_last_layer_that_says_so_switches_all_hooks_off_or_on(home: Home) -> None:
    home.write("~/.gemini/settings.json", settings("user", hooksConfig={"enabled": False}))
    home.write(".gemini/settings.json", settings("project"))
    loaded = home.loaded()
    assert in_force(loaded) == []
    assert {str(hook.disabled_by).rpartition("/")[2] for hook in loaded.hooks} == {"settings.json:1"}
    home.write(".gemini/settings.json", settings("project", hooksConfig={"enabled": True}))
    assert in_force(home.loaded()) == ["user", "project"]


def test_hooks_are_switched_off_by_name_or_by_command(home: Home) -> None:
    unnamed = {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}
    home.write(
        "~/.gemini/settings.json", json.dumps({**unnamed, "hooksConfig": {"disabled": ["a", "exit 0"]}})
    )
    home.write(".gemini/settings.json", settings("a", "b"))
    assert in_force(home.loaded()) == ["b"]


def test_a_project_that_is_not_trusted_switches_nothing_off(home: Home) -> None:
    home.write("~/.gemini/settings.json", settings("user"))
    for off in ({"enabled": False}, {"disabled": ["user"]}):
        home.write(".gemini/settings.json", settings("project", hooksConfig=off))
        loaded = home.loaded(trusted=False)
        assert "user" in in_force(loaded)
        assert [item.where.file for item in loaded.loosening] == [str(home.project / ".gemini/settings.json")]
    trust_all_of(home.home, home.project)
    assert in_force(home.loaded(trusted=False)) == ["project"]


def test_the_same_command_under_one_name_runs_once_and_under_two_twice() -> None:
    entry = {"type": "command", "command": "exit 0"}
    named = [{**entry, "name": "a"}, {**entry, "name": "b"}, {**entry, "name": "a", "timeout": 5000}]
    text = json.dumps({"hooks": {"BeforeTool": [{"hooks": named}]}})
    agent = HookedAgent(GEMINI, [("/p/.gemini/settings.json", "project", text)])
    agent.fire("BeforeTool", ToolCall(tool_name="run_shell_command", tool_input={"command": "ls"}))
    # Both run at once, so either may end first.
    assert sorted(run.hook for run in agent.runs if run.status == "ok") == ["a", "b"]


# Extensions


def extension(home: Home, name: str, root: str = "", **manifest: Any) -> None:
    directory = root or f"~/.gemini/extensions/{name}"
    home.write(
        f"{directory}/gemini-extension.json", json.dumps({"name": name, "version": "1.2.3", **manifest})
    )
    command = "sh ${extensionPath}${/}guard.sh"
    home.write(f"{directory}/hooks/hooks.json", settings(command))


def test_an_extension_of_the_user_brings_hooks_that_know_their_directory(home: Home) -> None:
    extension(home, "safety")
    (hook,) = home.loaded().hooks
    root = f"{home.home}/.gemini/extensions/safety"
    assert (hook.scope, hook.spec.command) == ("plugin", f"sh {root}/guard.sh")


def test_a_linked_extension_is_where_its_source_is(home: Home) -> None:
    extension(home, "safety", root="~/src/safety")
    linked = {"type": "link", "source": f"{home.home}/src/safety"}
    home.write("~/.gemini/extensions/safety/.gemini-extension-install.json", json.dumps(linked))
    (hook,) = home.loaded().hooks
    assert hook.spec.command == f"sh {home.home}/src/safety/guard.sh"


@pytest.mark.parametrize(
    ("overrides", "on"),
    [
        ([], True),
        (["!{home}/*"], False),
        (["!{home}/*", "{project}/*"], True),
        (["{home}/*", "!{project}/"], False),
        (["!{home}/elsewhere/*"], True),
        (["!{home}/"], True),
    ],
)
def test_the_last_rule_about_a_directory_decides_whether_an_extension_is_in_use(
    overrides: list[str], on: bool, home: Home
) -> None:
    extension(home, "safety")
    rules = [rule.format(home=home.home, project=home.project) for rule in overrides]
    home.write("~/.gemini/extensions/extension-enablement.json", json.dumps({"safety": {"overrides": rules}}))
    loaded = home.loaded()
    assert bool(loaded.hooks) is on
    dormant = Engine().loader.dormant(str(home.project), ["gemini-cli"]).files
    assert [each.when for each in dormant] == ([] if on else ["the extension safety is disabled here"])


def test_an_extension_in_a_project_is_none(home: Home) -> None:
    extension(home, "evil", root=".gemini/extensions/evil")
    assert home.loaded().hooks == ()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"safety": 5}', '{"safety": {"overrides": [5, null]}}'])
def test_a_broken_list_of_extensions_switches_none_off(text: str, home: Home) -> None:
    extension(home, "safety")
    home.write("~/.gemini/extensions/extension-enablement.json", text)
    assert len(home.loaded().hooks) == 1


# Trust of the client's own


@pytest.mark.parametrize(
    ("rules", "received"),
    [
        ({"{project}": "DO_NOT_TRUST"}, True),
        ({"{home}": "DO_NOT_TRUST"}, True),
        ({"{home}": "DO_NOT_TRUST", "{project}": "TRUST_FOLDER"}, False),
        ({"{home}": "TRUST_FOLDER"}, False),
        ({"{project}/sub": "DO_NOT_TRUST"}, False),
    ],
)
def test_a_directory_that_the_client_does_not_trust_is_named_and_its_hooks_stay(
    rules: Mapping[str, str], received: bool, home: Home
) -> None:
    home.write(".gemini/settings.json", settings("project"))
    listed = {key.format(home=home.home, project=home.project): value for key, value in rules.items()}
    home.write("~/.gemini/trustedFolders.json", json.dumps(listed))
    loaded = home.loaded()
    assert [one.code for one in loaded.diagnostics] == (["untrusted-folder"] if received else [])
    assert in_force(loaded) == ["project"]


def test_a_hook_of_the_project_runs_only_when_the_user_trusts_it(home: Home) -> None:
    home.write(".gemini/settings.json", settings("echo no >&2; exit 2"))
    call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})

    async def asked() -> Outcome:
        engine = load(home.project, dialects=["gemini-cli"]).engine
        outcome = await engine.session("s", cwd=str(home.project)).dispatch(PRE_TOOL_USE, call)
        await engine.close()
        return outcome

    assert not asyncio.run(asked()).blocked
    trust_all_of(home.home, home.project)
    assert asyncio.run(asked()).reason == "no"
