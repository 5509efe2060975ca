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

from hookline.cli.commands.hook.entries import faster, pinned_program
from hookline.cli.main import run
from hookline.config.install.self_calls import entry_call, installed_test, isolated_program
from hookline.dialects.registry import dialect_named
from tests.agents import AGENTS, OTHERS
from tests.cli.run_cli import Ran, Workspace, clean_env, run_cli
from tests.cli.terminal import Terminal

#: The file of each agent that has the entries, for the user and in a project.
FILES = {name: (AGENTS[name].user_file, AGENTS[name].file) for name in OTHERS}
GROUP = '{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}'
JSON = '{\n    "zeta": 1,\n\n    "hooks": {\n        "%s": [\n            %s\n        ]\n    },\n    "alpha": [1, 2]\n}'
SCOPES = ("--user", "--project")
SITES = [
    (name, scope) for name in OTHERS for scope in SCOPES if scope == "--user" or AGENTS[name].has_projects
]


def path_of(where: Workspace, name: str) -> Path:
    return where.home / name[2:] if name.startswith("~/") else where.project / name


def file_of(where: Workspace, agent: str, scope: str) -> Path:
    return path_of(where, FILES[agent][SCOPES.index(scope)])


def theirs(agent: str, scope: str) -> str:
    text = AGENTS[agent].theirs
    if agent == "docker-agent" and scope == "--user":
        return "settings:\n" + text.partition("  root:\n")[2].partition("  # next")[0]
    at_user = agent == "codewhale" and scope == "--user"
    return text.replace("[[hooks]]", "[[hooks.hooks]]") if at_user else text


def command(where: Workspace, *words: str, env: Mapping[str, str] | None = None) -> Ran:
    return run_cli(list(words), where.project, where.home, env=env)


def install(where: Workspace, *words: str) -> Ran:
    ran = command(where, "install", *words, "--yes")
    assert (ran.status, ran.stderr) == (0, "")
    return ran


def uninstall(where: Workspace, *words: str) -> Ran:
    ran = command(where, "uninstall", *words, "--yes")
    assert (ran.status, ran.stderr) == (0, "")
    return ran


def snapshot(where: Workspace) -> dict[str, bytes | str]:
    """Return every file and directory below the home but Hookline's own state."""
    found: dict[str, bytes | str] = {}
    for path in sorted(where.home.rglob("*")):
        name = str(path.relative_to(where.home))
        if not name.startswith((".local", ".config/hookline")):
            found[name] = path.read_bytes() if path.is_file() else "folder"
    found.pop(".config", None)
    return found


def commands(where: Workspace, agent: str, scope: str) -> list[str]:
    """The command of every entry in the agent's file."""
    file = file_of(where, agent, scope)
    text = file.read_text()
    if agent == "gemini-cli":
        text = "\n".join(line.partition("//")[0] for line in text.split("\n"))
    read: Callable[[str], Any] = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(
        file.suffix, json.loads
    )
    return list(_commands(read(text)))


def events(where: Workspace, agent: str) -> list[str]:
    """The event that each of our entries names."""
    calls = [entry_call(each) for each in commands(where, agent, "--user")]
    return [call.arguments[-1] for call in calls if call is not None]


def _commands(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        key = next((each for each in ("command", "bash") if each in table), "")
        value = [] if key else list(table.values())
        yield from [table[key]] if key else []
    for each in cast("list[Any]", value) if isinstance(value, list) else ():
        yield from _commands(each)


@pytest.mark.parametrize(("agent", "scope"), SITES)
def test_what_was_not_there_is_gone_again(where: Workspace, agent: str, scope: str) -> None:
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


@pytest.mark.parametrize(("agent", "scope"), SITES)
def test_what_was_there_stays_and_comes_back_byte_for_byte(where: Workspace, agent: str, scope: str) -> None:
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


@pytest.mark.parametrize(("agent", "scope"), SITES)
def test_a_second_time_changes_nothing(where: Workspace, agent: str, scope: str) -> None:
    if agent == "docker-agent":
        where.write(FILES[agent][SCOPES.index(scope)], theirs(agent, scope))
    install(where, agent, scope)
    before = snapshot(where)
    again = command(where, "install", agent, scope)
    assert (again.status, "already installed" in again.stdout) == (0, True)
    assert snapshot(where) == before


@pytest.mark.parametrize("agent", OTHERS)
def test_after_a_move_the_entries_are_updated(where: Workspace, agent: str) -> None:
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
    where: Workspace, agent: str
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


def test_fields_that_a_client_dropped_are_put_back(where: Workspace) -> None:
    install(where, "claude-code")
    file = file_of(where, "claude-code", "--user")
    whole = file.read_text()
    value = json.loads(whole)
    for groups in value["hooks"].values():
        groups[0]["hooks"][0].pop("onFailure", None)
    file.write_text(json.dumps(value, indent=2))
    assert "updated" in install(where, "claude-code").stdout
    assert json.loads(file.read_text()) == json.loads(whole)


def test_entries_that_were_pasted_by_hand_are_taken_over(where: Workspace) -> None:
    printed = command(where, "hook", "--print-config", "claude-code").stdout
    file = where.write("~/.claude/settings.json", printed)
    install(where, "claude-code")
    program = f"{faster(pinned_program())} hook --dialect claude-code "
    assert all(program in each for each in commands(where, "claude-code", "--user"))
    assert len(commands(where, "claude-code", "--user")) == 9
    uninstall(where, "claude-code")
    assert json.loads(file.read_text()) == {}


@pytest.mark.parametrize("agent", OTHERS)
def test_entries_with_and_without_the_relay_take_each_others_place(where: Workspace, agent: str) -> None:
    plain, relay = isolated_program(), f"{pinned_program()}-relay"
    tests = installed_test(plain), installed_test(relay)
    install(where, agent, "--no-relay")
    before = commands(where, agent, "--user")
    assert all(f"{plain} hook --dialect {agent} " in each for each in before)
    assert "updated" in install(where, agent).stdout
    after = [each.replace(*tests).replace(plain, relay) for each in before]
    assert commands(where, agent, "--user") == after
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


@pytest.mark.parametrize("program", ["hookline", "hookline-relay", "hookline-relay --daemon /tmp/x"])
def test_lines_that_the_user_wrote_are_left(where: Workspace, program: str) -> None:
    ask = f"{program} hook --dialect claude-code PreToolUse"
    mine = [
        f"{ask} --strict", f"tee log | {ask}", f"if [ -d .git ]; then {ask} 2>>~/log; fi", f"[ -f x ] && {ask}",
        f"FOO=1 {ask}", f"{ask} 2>>log", f"! {ask}", f"{ask} &", f"( {ask} )", f"{ask} <<<'{{}}'", f"{ask} # mine",
        f"sh -c '[ -f x ] && {ask}'", f"python3 /my/wrapper.py {ask}", f"uvx {ask}", f"{ask}; ls", f"{ask} $(ls)",
    ]  # fmt: skip
    entries: list[Any] = [{"hooks": [{"type": "command", "command": each}]} for each in mine]
    if "--daemon" in program:
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
def test_a_call_for_some_tools_is_the_users(where: Workspace, agent: str) -> None:
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


@pytest.mark.parametrize("agent", [name for name in OTHERS if AGENTS[name].has_projects])
def test_installing_again_keeps_the_events_that_were_chosen(where: Workspace, agent: str) -> None:
    file = file_of(where, agent, "--project")
    if agent == "docker-agent":
        file.write_text(theirs(agent, "--project"))
    chosen = AGENTS[agent].gate
    install(where, agent, "--project", "--events", chosen)
    before = file.read_text()
    install(where, agent, "--project")
    assert file.read_text() == before
    install(where, agent, "--project", "--events", "all")
    assert len(file.read_text()) > len(before)


def test_a_directory_that_is_another_one_in_each_directory_is_refused(where: Workspace) -> None:
    ran = command(where, "install", "claude-code", "--yes", env={"CLAUDE_CONFIG_DIR": "mine"})
    assert ran.status == 1
    assert "CLAUDE_CONFIG_DIR is 'mine', which is another directory for each working directory" in ran.stderr
    assert not (where.project / "mine").exists()
    assert (
        command(
            where, "install", "claude-code", "--project", "--yes", env={"CLAUDE_CONFIG_DIR": "mine"}
        ).status
        == 0
    )


@pytest.mark.parametrize("agent", OTHERS)
def test_an_installed_entry_denies_in_a_real_shell_without_a_path(where: Workspace, agent: str) -> None:
    where.write(
        ".hookline/hooks.toml",
        '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "deny"\nargs = ["not here"]\n',
    )
    gate = AGENTS[agent].gate
    install(where, agent, "--events", gate)
    (line,) = commands(where, agent, "--user")
    translated = AGENTS[agent].call(gate, AGENTS[agent].shell, {"command": "ls"}, str(where.project))
    env = {
        "DEEPSEEK_TOOL_NAME": "Bash",
        "DEEPSEEK_TOOL_ARGS": '{"command": "ls"}',
        "DEEPSEEK_WORKSPACE": str(where.project),
    }
    ran = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=where.project,
        env={**clean_env(where.home, env if agent == "codewhale" else None), "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, input="" if agent == "codewhale" else json.dumps(translated),
    )  # fmt: skip
    assert "not here" in ran.stdout + ran.stderr


# Which agents


def test_agents_are_found_by_their_directories_and_programs(where: Workspace) -> None:
    (where.home / ".claude").mkdir()
    program = where.write("~/bin/codex", "#!/bin/sh\n")
    path = f"{program.parent}{os.pathsep}/usr/bin"
    ran = command(where, "install", "--json", env={"PATH": path})
    assert [each["agent"] for each in json.loads(ran.stdout)["agents"]] == ["claude-code", "codex"]
    assert ran.status == 1  # nothing is written unasked


def test_no_agent_is_a_clear_line(where: Workspace) -> None:
    ran = command(where, "install", env={"PATH": "/nowhere"})
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.startswith("hookline install: no agent was found")
    assert "claude-code" in ran.stderr
    assert snapshot(where).keys() == {"project"}


def test_a_wrong_name_says_the_nearest(where: Workspace) -> None:
    ran = command(where, "install", "claud")
    assert (ran.status, "did you mean 'claude-code'?" in ran.stderr) == (1, True)
    assert command(where, "install", "native").status == 1


def test_two_versions_of_an_agent_are_named(where: Workspace) -> None:
    for directory in ("old", "new"):
        where.write(f"~/{directory}/claude", "#!/bin/sh\n")
    (where.home / "link").mkdir()
    (where.home / "link" / "claude").symlink_to(where.home / "new" / "claude")
    path = os.pathsep.join(str(where.home / each) for each in ("old", "new", "link"))
    ran = command(where, "install", env={"PATH": path})
    assert f"Claude Code is installed more than once ({where.home}/old/claude, {where.home}/new/claude)" in (
        " ".join(ran.stdout.replace("~", str(where.home)).split())
    )


def test_events_are_named_as_the_agent_or_hookline_names_them(where: Workspace) -> None:
    install(where, "gemini-cli", "codewhale", "--events", "PreToolUse,SessionStart")
    assert events(where, "gemini-cli") == ["BeforeTool", "SessionStart"]
    assert events(where, "codewhale") == ["tool_call_before", "session_start"]
    ran = command(where, "install", "gemini-cli", "--events", "SubagentStop")
    assert (ran.status, "SubagentStop" in ran.stderr) == (1, True)


# Asking


def test_nothing_is_written_unless_somebody_agrees(where: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = command(where, "install", "claude-code")
    assert (ran.status, snapshot(where).keys()) == (1, {"project"})
    assert "Claude Code: ~/.claude/settings.json: 9 entries added (a new file)\n" in ran.stdout
    assert "run it again with --yes" in ran.stdout
    assert '"PreToolUse": [' not in ran.stdout
    assert '+    "PreToolUse": [' in command(where, "install", "claude-code", "--diff").stdout
    monkeypatch.setenv("HOME", str(where.home))
    monkeypatch.chdir(where.project)
    for typed, status in (("n", 1), ("y", 0)):
        with Terminal("install", "claude-code") as at:
            at.wait_for("[y]es, [n]o:")
            at.enter(typed)
        assert at.status == status
        assert (where.home / ".claude").exists() == (status == 0)


def test_the_file_before_is_kept(where: Workspace) -> None:
    file = where.write("~/.claude/settings.json", '{"a": 1}')
    ran = install(where, "claude-code")
    folder = Path(ran.stdout.rsplit("as they were: ", 1)[1].strip().replace("~", str(where.home)))
    (backup,) = folder.iterdir()
    assert Path(backup).read_text() == '{"a": 1}'
    assert stat.S_IMODE(Path(backup).stat().st_mode) == 0o600
    assert file.read_text() != '{"a": 1}'


def test_keys_beside_our_entries_are_not_shown(where: Workspace) -> None:
    where.write("~/.claude/settings.json", '{"env": {"X_TOKEN": "hunter2hunter2"}}')
    for words in (("--diff",), ("--json",)):
        shown = command(where, "install", "claude-code", *words).stdout
        assert ("X_TOKEN" in shown, "hunter2" in shown) == (True, False)
    install(where, "claude-code")
    assert "hunter2hunter2" in (where.home / ".claude/settings.json").read_text()


# What an installation brings

CHECK = '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}]}}'


def ask(where: Workspace, entry: str, **fields: object) -> Ran:
    """Run an entry as its agent does."""
    payload = {
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(where.project), "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": "t", **fields,
    }  # fmt: skip
    ran = subprocess.run(
        ["/bin/sh", "-c", entry], cwd=where.project, env=clean_env(where.home), input=json.dumps(payload),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return Ran(ran.returncode, ran.stdout, ran.stderr)


def test_hooks_of_other_agents_run_only_if_the_user_chose_that(where: Workspace) -> None:
    where.write(".claude/settings.json", CHECK)
    where.write("check.sh", "#!/bin/sh\necho no check >&2\nexit 2\n").chmod(0o755)
    ran = install(where, "codex", "--no-relay", "--events", "PreToolUse")
    assert "Hookline's own guards; 1 hook written for other agents not (--hooks all)\n" in ran.stdout
    (entry,) = commands(where, "codex", "--user")
    assert (ask(where, entry).status, ask(where, entry).stdout) == (0, "")
    ran = install(where, "codex", "--no-relay", "--hooks", "all")
    assert "  check.sh (Claude Code, PreToolUse, ~/project/.claude/settings.json:1) in Codex\n" in ran.stdout
    (entry,) = commands(where, "codex", "--user")
    assert "no check" in ask(where, entry, tool_use_id="u").stdout
    # The choice stays.
    assert "already installed" in command(where, "install", "codex", "--no-relay").stdout


def test_what_changes_is_counted_entry_by_entry(where: Workspace) -> None:
    def said(*words: str) -> str:
        return install(where, "claude-code", *words).stdout.splitlines()[0].rpartition(": ")[2]

    assert said("--events", "PreToolUse,Stop") == "2 entries added (a new file)"
    assert said("--events", "PreToolUse,SessionStart,SessionEnd") == "2 entries added, 1 removed"
    assert said("--if-missing", "block") == "1 entry updated"  # the others have nothing to block


def test_at_a_terminal_it_asks_what_to_bring(where: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    where.write(".claude/settings.json", CHECK)
    monkeypatch.setenv("HOME", str(where.home))
    monkeypatch.chdir(where.project)
    for typed, chosen in (("2", False), ("", True)):
        with Terminal("install", "codex") as at:
            asked = at.wait_for("[1] or 2:")
            assert "also 1 hook written for other agents:\n       check.sh (Claude Code, PreToolUse" in asked
            at.enter(typed)
            at.wait_for("[y]es, [n]o:")
            at.enter("y")
        assert at.status == 0
        found = commands(where, "codex", "--user")
        assert [" --hooks own " in each for each in found] == [chosen] * len(found)
        uninstall(where, "codex")


@pytest.mark.parametrize("required", [True, False])
def test_calls_are_refused_without_hookline_only_if_a_guard_is_required(
    where: Workspace, required: bool
) -> None:
    where.write(
        "~/.config/hookline/hooks.toml",
        f"[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ncommand = 'true'\nrequired = {str(required).lower()}\n",
    )
    shown = "are refused" if required else "pass"
    assert f"`hookline uninstall`: calls {shown} (" in install(where, "claude-code").stdout
    (gate,) = [each for each in commands(where, "claude-code", "--user") if each.count(" PreToolUse ")]
    gone = gate.replace(faster(pinned_program()), "/nowhere/hookline-relay")
    said = ask(where, gone)
    assert said.status == 0
    assert ("Hookline is not installed. Remove this entry from" in said.stdout) == required
    assert ('"permissionDecision":"deny"' in said.stdout) == required
    # The choice stays, and can be changed.
    other = "block" if not required else "allow"
    assert "updated" in install(where, "claude-code", "--if-missing", other).stdout
    if not required:
        assert "already installed" in command(where, "install", "claude-code").stdout


@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini-cli", "cursor"])
def test_the_administrators_file_is_written_and_restored(
    agent: str,
    where: Workspace,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = dialect_named(agent)
    assert own is not None
    file = tmp_path / "etc" / Path(own.managed_files[0]).name
    file.parent.mkdir()
    monkeypatch.setattr(type(own), "managed_files", (str(file),))
    monkeypatch.setenv("HOME", str(where.home))
    monkeypatch.chdir(where.project)
    theirs = "allow_managed_hooks_only = true\n" if agent == "codex" else '{"version": 1}'
    for before in (None, theirs):
        if before is not None:
            file.write_text(before)
        assert run(["install", agent, "--managed", "--yes"]) == 0
        assert f"{file}: " in capsys.readouterr().out
        text = file.read_text()
        assert "hookline-relay hook --dialect" in text
        assert "--home" not in text
        if agent == "codex":
            hooks = tomllib.loads(text)["hooks"]
            assert hooks["managed_dir"] == str(file.parent)
            assert len(hooks["PreToolUse"]) == 1
        assert run(["doctor", "--dialect", agent]) in (0, 1)
        assert "for everybody on this machine:" in capsys.readouterr().out
        assert run(["install", agent, "--managed"]) == 0
        assert "already installed for everybody" in capsys.readouterr().out
        assert run(["uninstall", agent, "--managed", "--yes"]) == 0
        assert (file.read_text() if file.exists() else None) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator gets as far as that")
def test_a_program_that_other_users_cannot_run_is_named(where: Workspace) -> None:
    program = where.write(
        "~/closed/bin/hookline", f"#!{sys.executable}\nfrom hookline.app import main\nmain()\n"
    )
    (where.home / "closed").chmod(0o700)
    ran = subprocess.run(
        [program, "install", "claude-code", "--managed"], cwd=where.project, env=clean_env(where.home),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "other users cannot enter" in ran.stdout
    assert "Nothing was written" in ran.stdout


def test_an_agent_without_an_administrators_file_is_named(where: Workspace) -> None:
    ran = command(where, "install", "reasonix", "--managed", "--yes")
    assert (ran.status, "Reasonix has no administrator's file for hooks" in ran.stderr) == (1, True)


# Codex: an entry runs only with the hash of its position


def hashes(where: Workspace) -> dict[str, str]:
    config = tomllib.loads((where.home / ".codex" / "config.toml").read_text())
    return {
        key.removeprefix(f"{where.home}/.codex/hooks.json:"): state["trusted_hash"]
        for key, state in config["hooks"]["state"].items()
    }


def test_codex_hooks_of_the_user_keep_their_trust(where: Workspace) -> None:
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


def test_codex_hashes_of_other_places_stay(where: Workspace) -> None:
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


def test_a_project_that_codex_does_not_trust_is_named_with_what_to_do(where: Workspace) -> None:
    """Codex 0.169 loads no entries of a project that its config does not list as trusted."""
    says = (
        f"Codex does not list {where.project} as a trusted project, and since 0.169 it loads no entries there"
    )
    ran = command(where, "install", "codex", "--project", "--yes", "--json")
    (agent,) = json.loads(ran.stdout)["agents"]
    (note,) = [each for each in agent["notes"] if each.startswith(says)]
    assert "`codex exec --trust`" in note
    assert "hookline install codex" in note
    seen = json.loads(command(where, "doctor", "--dialect", "codex", "--json").stdout)["agents"][0]["sites"][
        1
    ]
    assert seen["trusted_by_agent"] == "untrusted"
    assert seen["agent_says"] == note
    config = where.home / ".codex" / "config.toml"
    config.write_text(f'{config.read_text()}\n[projects."{where.project}"]\ntrust_level = "trusted"\n')
    seen = json.loads(command(where, "doctor", "--dialect", "codex", "--json").stdout)["agents"][0]["sites"][
        1
    ]
    assert seen["trusted_by_agent"] == "trusted"
    assert says not in command(where, "install", "codex", "--project", "--events", "Stop", "--yes").stdout
    assert says not in command(where, "install", "codex", "--yes").stdout


@pytest.mark.parametrize("installed_before", [False, True])
def test_codex_trusts_the_project_if_the_user_says_so_and_no_longer_after_uninstall(
    where: Workspace, installed_before: bool
) -> None:
    config = where.write(
        "~/.codex/config.toml", '# mine\nmodel = "x"\n\n[projects."/other"]\ntrust_level = "trusted"\n'
    )
    before = config.read_text()
    if installed_before:
        command(where, "install", "codex", "--project", "--yes")
    ran = command(where, "install", "codex", "--project", "--trust", "--yes")
    assert "trusted project" not in ran.stdout
    found = tomllib.loads(config.read_text())["projects"]
    assert found == {"/other": {"trust_level": "trusted"}, str(where.project): {"trust_level": "trusted"}}
    site = json.loads(command(where, "doctor", "--dialect", "codex", "--json").stdout)["agents"][0]["sites"][
        1
    ]
    assert site["trusted_by_agent"] == "trusted"
    assert (
        "nothing"
        in json.loads(command(where, "install", "codex", "--project", "--json").stdout)["agents"][0]["step"]
    )
    uninstall(where, "codex", "--project")
    assert config.read_text() == before


def test_a_project_that_codex_trusted_before_stays_trusted(where: Workspace) -> None:
    config = where.write("~/.codex/config.toml", f'[projects."{where.project}"]\ntrust_level = "trusted"\n')
    before = config.read_text()
    command(where, "install", "codex", "--project", "--trust", "--yes")
    uninstall(where, "codex", "--project")
    assert config.read_text() == before


def test_a_file_of_ours_with_a_comment_of_the_user_stays(where: Workspace) -> None:
    install(where, "codex", "--events", "Stop")
    config = where.home / ".codex" / "config.toml"
    config.write_text(f"# my notes\n{config.read_text()}")
    uninstall(where, "codex")
    assert config.read_text().startswith("# my notes\n")
    assert "hookline" not in config.read_text()


def test_a_hash_that_is_gone_is_written_again(where: Workspace) -> None:
    install(where, "codex")
    config = where.home / ".codex" / "config.toml"
    whole = hashes(where)
    config.write_text('model = "x"\n')
    install(where, "codex")
    assert hashes(where) == whole


def test_codex_accepts_the_hashes(where: Workspace) -> None:
    """As Codex's own rules in its dialect have it."""
    install(where, "codex")
    ran = command(where, "list", "--dialect", "codex", "--json")
    assert len(json.loads(ran.stdout)["hooks"]) == 8
    assert "trusted by Codex: yes" in command(where, "doctor", "--dialect", "codex").stdout


def test_gen_code_says_which_hooks_it_will_not_run_any_more(where: Workspace) -> None:
    where.write("~/.claude/settings.json", f'{{"hooks": {{"PreToolUse": [{GROUP}]}}}}')
    ran = command(where, "install", "gen-code")
    said = " ".join(ran.stdout.split())
    assert "gen-code will no longer run the hooks of ~/.claude/settings.json at PreToolUse" in said


def test_every_agent_of_a_docker_file_asks(where: Workspace) -> None:
    file = where.write("agent.yaml", AGENTS["docker-agent"].theirs)
    where.write("cagent.yml", AGENTS["docker-agent"].theirs)
    ran = install(where, "docker-agent", "--project", "--events", "PreToolUse")
    assert "cagent.yml is an agent file too, and stays as it is" in " ".join(ran.stdout.split())
    agents = yaml.safe_load(file.read_text())["agents"]
    assert [list(_commands(agents[name])) for name in agents] == [
        ["mine", agents["root"]["hooks"]["pre_tool_use"][1]["hooks"][0]["command"]],
        [agents["other"]["hooks"]["pre_tool_use"][0]["hooks"][0]["command"]],
    ]


def test_what_is_installed_is_found_without_a_name(where: Workspace) -> None:
    install(where, "claude-code", "reasonix", "--project")
    where.write("~/.claude/settings.json", "{")  # of no concern here
    assert "nothing of Hookline is installed for you" in command(where, "uninstall", "--yes").stdout
    assert "\nremoved: Claude Code, Reasonix\n" in uninstall(where, "--project").stdout
    again = command(where, "uninstall", "--project")
    assert (again.status, again.stdout) == (0, "nothing of Hookline is installed in this project\n")


def test_codex_keys_have_the_path_that_codex_has(where: Workspace) -> None:
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


def test_a_program_in_a_cache_is_named(where: Workspace) -> None:
    program = where.write(
        "~/.cache/uv/x/bin/hookline", f"#!{sys.executable}\nfrom hookline.app import main\nmain()\n"
    )
    ran = subprocess.run(
        [program, "install", "claude-code", "--diff"], cwd=where.project, env=clean_env(where.home),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "is in a cache, which may be emptied: install Hookline first" in " ".join(ran.stdout.split())
    assert f"{program} hook --dialect" in "".join(ran.stdout.split("\n"))
