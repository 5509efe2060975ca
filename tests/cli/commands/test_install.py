"""`hookline install` and `uninstall`: our entries come and go, everything else stays as it was."""

import json
import os
import stat
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from hookline.cli.commands.hook.run import faster, pinned_program
from hookline.config.install.self_calls import isolated_program
from tests.cli.run_cli import Place, Ran, clean_env, run_cli
from tests.cli.terminal import Terminal

#: The file of each agent that has the entries, for the user and in a project.
FILES = {
    "claude-code": ("~/.claude/settings.json", ".claude/settings.json"),
    "gen-code": ("~/.gen/settings.json", ".gen/settings.json"),
    "codewhale": ("~/.codewhale/config.toml", ".codewhale/hooks.toml"),
    "reasonix": ("~/.reasonix/settings.json", ".reasonix/settings.json"),
    "codex": ("~/.codex/hooks.json", ".codex/hooks.json"),
    "docker-agent": ("~/.config/cagent/config.yaml", "agent.yaml"),
    "gemini-cli": ("~/.gemini/extensions/hookline/hooks/hooks.json", ".gemini/settings.json"),
}
AGENTS = list(FILES)
SCOPES = ("--user", "--project")
GATES = {"docker-agent": "pre_tool_use", "codewhale": "tool_call_before", "gemini-cli": "BeforeTool"}
#: What somebody has there already: blanks, order and, where they are allowed, comments of their own.
JSON = '{\n    "zeta": 1,\n\n    "hooks": {\n        "%s": [\n            %s\n        ]\n    },\n    "alpha": [1, 2]\n}'
GROUP = '{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}'
THEIRS = {
    "claude-code": JSON % ("PreToolUse", GROUP),
    "gen-code": JSON % ("PreToolUse", GROUP),
    "codewhale": '# mine\n[[hooks]]  # first\nevent = "tool_call_before"\ncommand = """\nmine"""\n# the end',
    "reasonix": JSON % ("PreToolUse", '{"match": "x", "command": "mine"}'),
    "docker-agent": """\
# mine
agents:
  root:
    model: x  # why
    hooks:
      pre_tool_use:
        - matcher: x
          hooks:
            - {type: command, command: mine}
  # next
  other: {model: y}
""",
    "codex": f'{{"hooks": {{"PreToolUse": [{GROUP}], "Stop": []}}}}',
    "gemini-cli": "// mine\n" + JSON % ("BeforeTool", GROUP + " // why"),
}


def path_of(where: Place, name: str) -> Path:
    return where.home / name[2:] if name.startswith("~/") else where.project / name


def file_of(where: Place, agent: str, scope: str) -> Path:
    return path_of(where, FILES[agent][SCOPES.index(scope)])


def theirs(agent: str, scope: str) -> str:
    text = THEIRS[agent]
    if agent == "docker-agent" and scope == "--user":
        return "settings:\n" + text.partition("  root:\n")[2].partition("  # next")[0]
    return text.replace("[[hooks]]", "[[hooks.hooks]]") if scope == "--user" else text


def command(where: Place, *words: str, env: Mapping[str, str] | None = None) -> Ran:
    return run_cli(list(words), where.project, where.home, env=env)


def install(where: Place, *words: str) -> Ran:
    ran = command(where, "install", *words, "--yes")
    assert (ran.status, ran.stderr) == (0, "")
    return ran


def uninstall(where: Place, *words: str) -> Ran:
    ran = command(where, "uninstall", *words, "--yes")
    assert (ran.status, ran.stderr) == (0, "")
    return ran


def snapshot(where: Place) -> dict[str, bytes | str]:
    """Every file and folder below the home but Hookline's own state."""
    found: dict[str, bytes | str] = {}
    for path in sorted(where.home.rglob("*")):
        name = str(path.relative_to(where.home))
        if not name.startswith((".local", ".config/hookline")):
            found[name] = path.read_bytes() if path.is_file() else "folder"
    found.pop(".config", None)
    return found


def commands(where: Place, agent: str, scope: str) -> list[str]:
    """The command of every entry in the agent's file."""
    file = file_of(where, agent, scope)
    text = file.read_text()
    if agent == "gemini-cli":
        text = "\n".join(line.partition("//")[0] for line in text.split("\n"))
    read: Callable[[str], Any] = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(
        file.suffix, json.loads
    )
    return list(_commands(read(text)))


def _commands(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        value = [] if "command" in table else list(table.values())
        yield from [table["command"]] if "command" in table else []
    for each in cast("list[Any]", value) if isinstance(value, list) else ():
        yield from _commands(each)


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_not_there_is_gone_again(where: Place, agent: str, scope: str) -> None:
    if (agent, scope) == ("docker-agent", "--project"):
        ran = command(where, "install", agent, scope, "--yes")
        assert (ran.status, "has no agent file (agent.yaml" in ran.stderr) == (1, True)
        return
    before = snapshot(where)
    install(where, agent, scope)
    found = commands(where, agent, scope)
    assert found
    assert all(f"{faster(pinned_program())} hook --dialect {agent} " in each for each in found)
    uninstall(where, agent, scope)
    assert snapshot(where) == before


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_there_stays_and_comes_back_byte_for_byte(where: Place, agent: str, scope: str) -> None:
    file = file_of(where, agent, scope)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(theirs(agent, scope))
    file.chmod(0o640)
    before = snapshot(where)
    install(where, agent, scope)
    text = file.read_text()
    assert "mine" in commands(where, agent, scope)
    assert len(commands(where, agent, scope)) > 3
    # All lines but the one that a comma was added to.
    kept = [
        line
        for line in theirs(agent, scope).split("\n")
        if "mine" not in line and "{model" not in line and line.strip(" ]}")
    ]
    assert [line for line in kept if line not in text] == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    uninstall(where, agent, scope)
    assert snapshot(where) == before
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_second_time_changes_nothing(where: Place, agent: str, scope: str) -> None:
    if agent == "docker-agent":
        where.write(FILES[agent][SCOPES.index(scope)], theirs(agent, scope))
    install(where, agent, scope)
    before = snapshot(where)
    again = command(where, "install", agent, scope)
    assert (again.status, "already installed" in again.stdout) == (0, True)
    assert snapshot(where) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_after_a_move_the_entries_are_updated(where: Place, agent: str) -> None:
    file = file_of(where, agent, "--user")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(theirs(agent, "--user"))
    if agent == "gemini-cli":
        where.write("~/.gemini/extensions/hookline/gemini-extension.json", '{"name": "hookline"}')
    before = snapshot(where)
    install(where, agent)
    fresh = snapshot(where)
    # As if another installation had written them.
    moved = file.read_text().replace(faster(pinned_program()), "/opt/old/hookline")
    file.write_text(moved)
    assert "updated" in install(where, agent).stdout
    assert "/opt/old" not in file.read_text()
    assert commands(where, agent, "--user").count("mine") == 1
    if agent != "gemini-cli":  # the comment is somewhere else in its file
        assert {**snapshot(where), str(file.relative_to(where.home)): b""} == {
            **fresh,
            str(file.relative_to(where.home)): b"",
        }
    uninstall(where, agent)
    assert commands(where, agent, "--user") == ["mine"]
    assert json.dumps(sorted(snapshot(where))) == json.dumps(sorted(before))


@pytest.mark.parametrize("agent", ["claude-code", "gen-code", "reasonix", "codex"])
def test_a_file_that_the_agent_has_rewritten_becomes_what_it_would_be_without_us(
    where: Place, agent: str
) -> None:
    file = file_of(where, agent, "--user")
    file.parent.mkdir(parents=True)
    file.write_text(theirs(agent, "--user"))
    install(where, agent)

    def rewritten(text: str) -> str:
        value = json.loads(text)
        if agent != "codex":
            value["model"] = "other"
        return json.dumps(dict(sorted(value.items())), indent=2) + "\n"

    file.write_text(rewritten(file.read_text()))
    assert "already installed" in command(where, "install", agent).stdout
    uninstall(where, agent)
    assert file.read_text() == rewritten(theirs(agent, "--user"))


def test_fields_that_a_client_dropped_are_put_back(where: Place) -> None:
    install(where, "claude-code")
    file = file_of(where, "claude-code", "--user")
    whole = file.read_text()
    value = json.loads(whole)
    for groups in value["hooks"].values():
        groups[0]["hooks"][0].pop("onFailure", None)
    file.write_text(json.dumps(value, indent=2))
    assert "updated" in install(where, "claude-code").stdout
    assert json.loads(file.read_text()) == json.loads(whole)


def test_entries_that_were_pasted_by_hand_are_taken_over(where: Place) -> None:
    printed = command(where, "hook", "--print-config", "claude-code").stdout
    file = where.write("~/.claude/settings.json", printed)
    install(where, "claude-code")
    assert all(each.startswith("/") for each in commands(where, "claude-code", "--user"))
    assert len(commands(where, "claude-code", "--user")) == 9
    uninstall(where, "claude-code")
    assert json.loads(file.read_text()) == {}


@pytest.mark.parametrize("agent", AGENTS)
def test_entries_with_and_without_the_relay_take_each_others_place(where: Place, agent: str) -> None:
    plain = f"{isolated_program()} hook --dialect {agent} "
    relay = f"{pinned_program()}-relay hook --dialect {agent} "
    install(where, agent, "--no-relay")
    before = commands(where, agent, "--user")
    assert all(plain in each for each in before)
    assert "updated" in install(where, agent).stdout
    assert commands(where, agent, "--user") == [each.replace(plain, relay) for each in before]
    assert "updated" in install(where, agent, "--no-relay").stdout
    assert commands(where, agent, "--user") == before


def test_without_a_relay_the_program_itself_is_written(tmp_path: Path) -> None:
    """Installed by something that leaves it out; and a relay alone has nothing to fall back on."""
    program = tmp_path / "a b" / "hookline"
    pinned, env = f"'{program}'", {"PATH": str(program.parent)}
    program.parent.mkdir()
    for name, expected in (
        ("hookline", (pinned, "hookline")),
        ("hookline-relay", (f"'{program}-relay'", "hookline-relay")),
    ):
        (program.parent / name).write_text("#!/bin/sh\n")
        (program.parent / name).chmod(0o755)
        assert (faster(pinned, env), faster("hookline", env)) == expected
    program.unlink()
    assert (faster(pinned, env), faster("hookline", env)) == (pinned, "hookline")


@pytest.mark.parametrize("program", ["hookline", "hookline-relay", "hookline-relay --resident /tmp/x"])
def test_lines_that_the_user_wrote_are_left(where: Place, program: str) -> None:
    ask = f"{program} hook --dialect claude-code PreToolUse"
    mine = [
        f"{ask} --strict", f"tee log | {ask}", f"if [ -d .git ]; then {ask} 2>>~/log; fi", f"[ -f x ] && {ask}",
        f"FOO=1 {ask}", f"{ask} 2>>log", f"! {ask}", f"{ask} &", f"( {ask} )", f"{ask} <<<'{{}}'", f"{ask} # mine",
        f"sh -c '[ -f x ] && {ask}'", f"python3 /my/wrapper.py {ask}", f"uvx {ask}", f"{ask}; ls", f"{ask} $(ls)",
    ]  # fmt: skip
    entries: list[Any] = [{"hooks": [{"type": "command", "command": each}]} for each in mine]
    if "--resident" in program:
        entries.append({"hooks": [{"type": "command", "command": ask}]})
    else:
        entries.append({"hooks": [{"type": "command", "command": ask, "if": "Bash(git *)"}]})
    mine.append(ask)
    file = where.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": entries}}))
    before = file.read_bytes()
    install(where, "claude-code")
    assert commands(where, "claude-code", "--user")[: len(mine)] == mine
    uninstall(where, "claude-code")
    assert file.read_bytes() == before


@pytest.mark.parametrize("agent", ["claude-code", "reasonix", "codewhale"])
def test_a_call_for_some_tools_is_the_users(where: Place, agent: str) -> None:
    """Ours asks about all of them; taking it over would drop the matcher."""
    line = f"hookline hook --dialect {agent}"
    matched = {
        "claude-code": JSON % ("PreToolUse", GROUP.replace("mine", line)),
        "reasonix": JSON % ("PreToolUse", f'{{"match": "x", "command": "{line}"}}'),
        "codewhale": (
            f'[[hooks]]\nevent = "tool_call_before"\ncommand = "{line}"\n'
            'condition = { type = "tool_name", name = "exec_shell" }\n'
        ),
    }
    file = file_of(where, agent, "--project")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(matched[agent])
    install(where, agent, "--project")
    assert line in commands(where, agent, "--project")
    uninstall(where, agent, "--project")
    assert file.read_text() == matched[agent]


@pytest.mark.parametrize("agent", AGENTS)
def test_installing_again_keeps_the_events_that_were_chosen(where: Place, agent: str) -> None:
    file = file_of(where, agent, "--project")
    if agent == "docker-agent":
        file.write_text(theirs(agent, "--project"))
    chosen = GATES.get(agent, "PreToolUse")
    install(where, agent, "--project", "--events", chosen)
    before = file.read_text()
    install(where, agent, "--project")
    assert file.read_text() == before
    install(where, agent, "--project", "--events", "all")
    assert len(file.read_text()) > len(before)


def test_a_folder_that_is_another_one_in_each_directory_is_refused(where: Place) -> None:
    ran = command(where, "install", "claude-code", "--yes", env={"CLAUDE_CONFIG_DIR": "mine"})
    assert ran.status == 1
    assert "CLAUDE_CONFIG_DIR is 'mine', which is another folder in each directory" in ran.stderr
    assert not (where.project / "mine").exists()
    assert (
        command(
            where, "install", "claude-code", "--project", "--yes", env={"CLAUDE_CONFIG_DIR": "mine"}
        ).status
        == 0
    )


@pytest.mark.parametrize("agent", AGENTS)
def test_an_installed_entry_denies_in_a_real_shell_without_a_path(where: Place, agent: str) -> None:
    where.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "deny"\nargs = ["not here"]\n',
    )
    install(where, agent, "--events", "PreToolUse")
    (line,) = commands(where, agent, "--user")
    gate = GATES.get(agent, "PreToolUse")
    told = {
        "cwd": str(where.project),
        "hook_event_name": gate,
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    }
    if agent == "reasonix":
        told = {"event": gate, "cwd": str(where.project), "toolName": "Bash", "toolArgs": {"command": "ls"}}
    env = {
        "DEEPSEEK_TOOL_NAME": "Bash",
        "DEEPSEEK_TOOL_ARGS": '{"command": "ls"}',
        "DEEPSEEK_WORKSPACE": str(where.project),
    }
    ran = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=where.project,
        env={**clean_env(where.home, env if agent == "codewhale" else None), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, input="" if agent == "codewhale" else json.dumps(told),
    )  # fmt: skip
    assert "not here" in ran.stdout + ran.stderr


# Which agents


def test_agents_are_found_by_their_folders_and_programs(where: Place) -> None:
    (where.home / ".claude").mkdir()
    program = where.write("~/bin/codex", "#!/bin/sh\n")
    path = f"{program.parent}{os.pathsep}/usr/bin"
    ran = command(where, "install", "--json", env={"PATH": path})
    assert [each["agent"] for each in json.loads(ran.stdout)["agents"]] == ["claude-code", "codex"]
    assert ran.status == 1  # nothing is written unasked


def test_no_agent_is_a_clear_line(where: Place) -> None:
    ran = command(where, "install", env={"PATH": "/nowhere"})
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.startswith("hookline install: no agent was found")
    assert "claude-code" in ran.stderr
    assert snapshot(where).keys() == {"project"}


def test_a_wrong_name_says_the_nearest(where: Place) -> None:
    ran = command(where, "install", "claud")
    assert (ran.status, "did you mean 'claude-code'?" in ran.stderr) == (1, True)
    assert command(where, "install", "native").status == 1


def test_two_versions_of_an_agent_are_named(where: Place) -> None:
    for folder in ("old", "new"):
        where.write(f"~/{folder}/claude", "#!/bin/sh\n")
    (where.home / "link").mkdir()
    (where.home / "link" / "claude").symlink_to(where.home / "new" / "claude")
    path = os.pathsep.join(str(where.home / each) for each in ("old", "new", "link"))
    ran = command(where, "install", env={"PATH": path})
    assert f"Claude Code is installed more than once ({where.home}/old/claude, {where.home}/new/claude)" in (
        " ".join(ran.stdout.replace("~", str(where.home)).split())
    )


def test_events_are_named_as_the_agent_or_hookline_names_them(where: Place) -> None:
    install(where, "gemini-cli", "codewhale", "--events", "PreToolUse,SessionStart")
    assert [each.split()[6] for each in commands(where, "gemini-cli", "--user")] == [
        "BeforeTool",
        "SessionStart",
    ]
    assert [each.split()[6] for each in commands(where, "codewhale", "--user")] == [
        "tool_call_before",
        "session_start",
    ]
    ran = command(where, "install", "gemini-cli", "--events", "SubagentStop")
    assert (ran.status, "SubagentStop" in ran.stderr) == (1, True)


# Asking


def test_nothing_is_written_unless_somebody_agrees(where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = command(where, "install", "claude-code")
    assert (ran.status, snapshot(where).keys()) == (1, {"project"})
    assert '+    "PreToolUse": [' in ran.stdout
    assert "run it again with --yes" in ran.stdout
    monkeypatch.setenv("HOME", str(where.home))
    monkeypatch.chdir(where.project)
    for typed, status in (("n", 1), ("y", 0)):
        with Terminal("install", "claude-code") as at:
            at.wait_for("[y]es, [n]o:")
            at.enter(typed)
        assert at.status == status
        assert (where.home / ".claude").exists() == (status == 0)


def test_the_file_before_is_kept(where: Place) -> None:
    file = where.write("~/.claude/settings.json", '{"a": 1}')
    ran = install(where, "claude-code")
    backup = ran.stdout.rsplit("as it was: ", 1)[1].strip().replace("~", str(where.home))
    assert Path(backup).read_text() == '{"a": 1}'
    assert stat.S_IMODE(Path(backup).stat().st_mode) == 0o600
    assert file.read_text() != '{"a": 1}'


def test_keys_beside_our_entries_are_not_shown(where: Place) -> None:
    where.write("~/.claude/settings.json", '{"env": {"X_TOKEN": "hunter2hunter2"}}')
    for words in ((), ("--json",)):
        shown = command(where, "install", "claude-code", *words).stdout
        assert ("X_TOKEN" in shown, "hunter2" in shown) == (True, False)
    install(where, "claude-code")
    assert "hunter2hunter2" in (where.home / ".claude/settings.json").read_text()


# Codex: an entry runs only with the hash of its position


def hashes(where: Place) -> dict[str, str]:
    config = tomllib.loads((where.home / ".codex" / "config.toml").read_text())
    return {
        key.removeprefix(f"{where.home}/.codex/hooks.json:"): state["trusted_hash"]
        for key, state in config["hooks"]["state"].items()
    }


def test_codex_hooks_of_the_user_keep_their_trust(where: Place) -> None:
    groups = [{"hooks": [{"type": "command", "command": f"mine {at}"}]} for at in range(2)]
    file = where.write("~/.codex/hooks.json", json.dumps({"hooks": {"PreToolUse": groups[:1]}}))
    key = f'[hooks.state."{file}:pre_tool_use:'
    config = where.write("~/.codex/config.toml", f'# mine\n{key}0:0"]\ntrusted_hash = "first"\n')
    before = config.read_text()
    install(where, "codex", "--events", "PreToolUse")
    assert hashes(where).keys() == {"pre_tool_use:0:0", "pre_tool_use:1:0"}
    # A hook behind ours, which the user has trusted in Codex.
    value = json.loads(file.read_text())
    value["hooks"]["PreToolUse"].append(groups[1])
    file.write_text(json.dumps(value))
    config.write_text(
        config.read_text() + f'\n{key}2:0"]  # theirs\ntrusted_hash = "second"\nenabled = true\n'
    )
    assert "already installed" in command(where, "install", "codex", "--events", "PreToolUse").stdout
    uninstall(where, "codex")
    assert json.loads(file.read_text()) == {"hooks": {"PreToolUse": groups}}
    assert hashes(where) == {"pre_tool_use:0:0": "first", "pre_tool_use:1:0": "second"}
    assert config.read_text() == before + f'\n{key}1:0"]  # theirs\ntrusted_hash = "second"\nenabled = true\n'


def test_codex_hashes_of_other_places_stay(where: Place) -> None:
    where.write("~/.codex/config.toml", 'model = "x"\n')
    install(where, "codex", "--events", "Stop")
    install(where, "codex", "--project", "--events", "Stop")
    uninstall(where, "codex")
    assert len(hashes(where)) == 1
    assert "nothing" not in command(where, "status", "codex", "--project").stdout
    other = where.home / "other"
    other.mkdir()
    run_cli(["uninstall", "--project", "--yes"], other, where.home)
    assert len(hashes(where)) == 1
    uninstall(where, "codex", "--project")
    assert (where.home / ".codex" / "config.toml").read_text() == 'model = "x"\n'


def test_a_project_that_codex_does_not_trust_is_named_with_what_to_do(where: Place) -> None:
    """Codex 0.169 loads no entries of a project that its config does not list as trusted."""
    says = (
        f"Codex does not list {where.project} as a trusted project, and since 0.169 it loads no entries there"
    )
    ran = command(where, "install", "codex", "--project", "--yes", "--json")
    (agent,) = json.loads(ran.stdout)["agents"]
    (note,) = [each for each in agent["notes"] if each.startswith(says)]
    assert "`codex exec --trust`" in note
    assert "hookline install codex" in note
    seen = json.loads(command(where, "status", "codex", "--json").stdout)["agents"][0]["sites"][1]
    assert seen["trusted_by_agent"] == "untrusted"
    assert seen["agent_says"] == note
    config = where.home / ".codex" / "config.toml"
    config.write_text(f'{config.read_text()}\n[projects."{where.project}"]\ntrust_level = "trusted"\n')
    seen = json.loads(command(where, "status", "codex", "--json").stdout)["agents"][0]["sites"][1]
    assert seen["trusted_by_agent"] == "trusted"
    assert says not in command(where, "install", "codex", "--project", "--events", "Stop", "--yes").stdout
    assert says not in command(where, "install", "codex", "--yes").stdout


def test_a_file_of_ours_with_a_comment_of_the_user_stays(where: Place) -> None:
    install(where, "codex", "--events", "Stop")
    config = where.home / ".codex" / "config.toml"
    config.write_text(f"# my notes\n{config.read_text()}")
    uninstall(where, "codex")
    assert config.read_text().startswith("# my notes\n")
    assert "hookline" not in config.read_text()


def test_a_hash_that_is_gone_is_written_again(where: Place) -> None:
    install(where, "codex")
    config = where.home / ".codex" / "config.toml"
    whole = hashes(where)
    config.write_text('model = "x"\n')
    install(where, "codex")
    assert hashes(where) == whole


def test_codex_accepts_the_hashes(where: Place) -> None:
    """As Codex's own rules in its dialect have it."""
    install(where, "codex")
    ran = command(where, "list", "--dialect", "codex", "--json")
    assert len(json.loads(ran.stdout)["hooks"]) == 8
    assert "trust" not in command(where, "doctor", "--dialect", "codex").stdout


def test_gen_code_says_which_hooks_it_will_not_run_any_more(where: Place) -> None:
    where.write("~/.claude/settings.json", f'{{"hooks": {{"PreToolUse": [{GROUP}]}}}}')
    ran = command(where, "install", "gen-code")
    said = " ".join(ran.stdout.split())
    assert "gen-code will no longer run the hooks of ~/.claude/settings.json at PreToolUse" in said


def test_every_agent_of_a_docker_file_asks(where: Place) -> None:
    file = where.write("agent.yaml", THEIRS["docker-agent"])
    where.write("cagent.yml", THEIRS["docker-agent"])
    ran = install(where, "docker-agent", "--project", "--events", "PreToolUse")
    assert "cagent.yml is an agent file too, and stays as it is" in " ".join(ran.stdout.split())
    agents = yaml.safe_load(file.read_text())["agents"]
    assert [list(_commands(agents[name])) for name in agents] == [
        ["mine", agents["root"]["hooks"]["pre_tool_use"][1]["hooks"][0]["command"]],
        [agents["other"]["hooks"]["pre_tool_use"][0]["hooks"][0]["command"]],
    ]


def test_what_is_installed_is_found_without_a_name(where: Place) -> None:
    install(where, "claude-code", "reasonix", "--project")
    where.write("~/.claude/settings.json", "{")  # of no concern here
    assert "nothing of Hookline is installed for you" in command(where, "uninstall", "--yes").stdout
    assert uninstall(where, "--project").stdout.count("removed: ") == 2
    again = command(where, "uninstall", "--project")
    assert (again.status, again.stdout) == (0, "nothing of Hookline is installed in this project\n")


def test_codex_keys_have_the_path_that_codex_has(where: Place) -> None:
    """It follows links in CODEX_HOME, and in no other path."""
    (where.home / "real").mkdir()
    (where.home / "link").symlink_to("real")
    env = {"CODEX_HOME": str(where.home / "link")}
    assert command(where, "install", "codex", "--yes", env=env).status == 0
    assert (
        f'[hooks.state."{where.home}/real/hooks.json:stop:0:0"]'
        in (where.home / "real/config.toml").read_text()
    )
    found = json.loads(command(where, "list", "--dialect", "codex", "--json", env=env).stdout)["hooks"]
    assert len(found) == 8


def test_a_program_in_a_cache_is_named(where: Place) -> None:
    program = where.write(
        "~/.cache/uv/x/bin/hookline", f"#!{sys.executable}\nfrom hookline.app import main\nmain()\n"
    )
    ran = subprocess.run(
        [program, "install", "claude-code"], cwd=where.project, env=clean_env(where.home), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "is in a cache, which may be emptied: install Hookline first" in " ".join(ran.stdout.split())
    assert f'"{program} hook --dialect' in "".join(ran.stdout.split("\n"))
