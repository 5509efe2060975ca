"""From the first guard to the proof that it holds in the user's agents, and back without a trace."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from hookline.testing import recorded
from tests.agents import AGENTS, OTHERS
from tests.cli.run_cli import Workspace, clean_env, run_cli
from tests.history.past import ClaudeSession
from tests.journeys.journey import FORCE, MISSING, Journey
from tests.team.fleet.machines import FILES, Machine, signed

KNOWN = ("claude-code", "codex", "gemini-cli")
THEIRS = {name: AGENTS[name].written(AGENTS[name].gate, "true") for name in KNOWN}
#: Clients of which payloads were recorded.
RECORDED = [name for name in OTHERS if name not in ("gen-code", "codewhale", "docker-agent", "grok")]


@pytest.fixture
def journey(where: Workspace) -> Journey:
    return Journey(where)


def has_guard(journey: Journey) -> None:
    journey.run("guard", "add", "force-push", "--user")


def pushing(document: Any) -> Any:
    """Return a recorded payload with our command in place of the recorded one."""
    if isinstance(document, dict):
        table = cast("dict[str, Any]", document)
        return {key: FORCE if key == "command" else pushing(value) for key, value in table.items()}
    return document


def test_from_the_first_guard_to_the_proof_and_back(journey: Journey) -> None:
    where = journey.where
    for name in KNOWN:
        where.write(
            AGENTS[name].user_file if name != "gemini-cli" else "~/.gemini/settings.json", THEIRS[name]
        )
    before = journey.snapshot()

    # The hooks that are there.
    said = journey.run("doctor").stdout
    listed = json.loads(journey.run("list", "--json").stdout)["hooks"]
    assert f"{len(listed)} hook" in said.splitlines()[-1]
    assert "`hookline install` installs it" in said

    # A guard: what it says about two lines is what fire says.
    said = journey.run("guard", "add", "force-push", "--user").stdout
    assert "in ~/.config/hookline/hooks.toml: it is active" in said
    assert "Claude Code, Codex, Gemini CLI do not ask Hookline yet: run `hookline install`." in said
    assert 'command = "force-push"' in (where.home / ".config/hookline/hooks.toml").read_text()
    fired = journey.run("fire", "PreToolUse", "Bash", f"command={FORCE}", status=2).stdout
    assert "outcome  deny (force-push)" in fired
    assert (
        "would not ask true, force-push: Hookline is not installed there (hookline install --hooks all)"
        in " ".join(fired.split())
    )
    # The hooks of the agents themselves see the line, too; nobody asked them here.
    said = " ".join(journey.run("guard", "test", "ls").stdout.split())
    assert "not asked: true of Claude Code" in said

    # Installed in all three, and nothing else changed.
    said = journey.run("install", *KNOWN, "--yes").stdout
    journey.check_install(said)
    assert "runs there: Hookline's own guards; " in said
    assert "not ask Hookline" not in journey.run("guard", "add", "disk", "--user").stdout
    journey.run("guard", "remove", "disk", "--user")
    fired = journey.run("fire", "PreToolUse", "Bash", f"command={FORCE}", status=2).stdout
    assert "would not ask force-push" not in fired
    assert "would not ask true: only Hookline's own hooks run there" in " ".join(fired.split())
    for name in KNOWN:
        assert journey.status(name)["seen"] is None
        assert [site["scope"] for site in journey.status(name)["sites"] if site["events"]] == ["user"]

    # Asked by each, and doctor says so of those alone that asked.
    for number, name in enumerate(KNOWN):
        assert not journey.push(name, session_id=f"s-{name}")
        assert [journey.status(each)["seen"] is not None for each in KNOWN] == [
            position <= number for position in range(len(KNOWN))
        ]
    assert "last asked: never" not in journey.run("doctor").stdout

    # The hooks of the agents' own files did not run here.
    asked = [each["hook"] for each in journey.runs() if not each["call"]["origin"]]
    assert asked == ["force-push"] * len(KNOWN)

    # Back: byte for byte.
    said = journey.run("uninstall", "--yes").stdout
    assert "removed: Claude Code, Codex, Gemini CLI" in said
    assert journey.snapshot() == before
    assert not any(journey.entries(name) for name in KNOWN)
    # The guard is still there, and no agent asks it: that is an error now.
    said = journey.run("doctor", status=1).stdout
    assert "`hookline install` installs it" in said
    assert "1 error" in said.splitlines()[-1]
    assert "nothing of Hookline is installed for you" in journey.run("uninstall").stdout


@pytest.mark.parametrize("agent", RECORDED)
def test_a_recorded_call_of_each_client_is_judged_by_the_installed_entry(
    agent: str, journey: Journey
) -> None:
    has_guard(journey)
    journey.check_install(journey.run("install", agent, "--yes").stdout)
    gate = AGENTS[agent].gate
    found = [each for each in recorded(agent, gate) if '"command"' in json.dumps(each.payload)]
    assert found
    project = str(journey.where.project)
    (journey.where.project / "sub").mkdir()
    text = json.dumps(found[0].placed(project)).replace("<TMP>/ws", project)
    said = journey.ask(journey.entry(agent, gate), pushing(json.loads(text)))
    assert "force-push" in said.stdout + said.stderr
    last = journey.runs()[-1]
    assert (last["call"]["caller"], last["decision"]) == (agent, "deny")
    assert journey.status(agent)["seen"]["project"].startswith(project)
    # The same call as it was recorded proceeds.
    assert "force-push" not in journey.ask(journey.entry(agent, gate), json.loads(text)).stdout


def test_coverage_proves_the_guard_and_shadow_becomes_enforced(journey: Journey) -> None:
    where = journey.where
    has_guard(journey)
    journey.run("install", "claude-code", "--yes")
    session = ClaudeSession(
        home=where.home, id="s-1", cwd=str(where.project), at=time.time() - 60, lines=[], calls=[]
    )
    session.prompt("push it")
    made = session.call(FORCE)
    session.write()
    said = journey.run("coverage", "--since", "all", status=1).stdout
    assert "1 call that should have been guarded and was not" in said

    # In shadow it is asked, and stops nothing; each report counts it as such.
    journey.run("guard", "demote", "force-push")
    assert journey.push("claude-code", session_id="s-1", tool_use_id=made.id)
    assert "would have denied" in journey.run("fire", "PreToolUse", "Bash", f"command={FORCE}").stdout
    said = journey.run("coverage", "--since", "all").stdout
    assert "should have been guarded and was not" not in said

    # Enforced.
    said = journey.run("guard", "promote", "force-push", "--yes").stdout
    assert "force-push" in said
    assert not journey.push("claude-code", session_id="s-1", tool_use_id="another")
    assert "outcome  deny" in journey.run("fire", "PreToolUse", "Bash", f"command={FORCE}", status=2).stdout


@pytest.mark.parametrize("choice", ["own", "all"])
def test_doctor_names_the_agents_that_really_ask_a_hook(choice: str, journey: Journey) -> None:
    """A guard of Claude Code is asked about calls of Codex only if the user brought it there."""
    where = journey.where
    line = f"echo ran >> {where.home}/ran; exit 2"
    where.write("~/.claude/settings.json", AGENTS["claude-code"].written("PreToolUse", line))
    journey.run("install", "codex", "--hooks", choice, "--yes")
    said = journey.run("doctor").stdout
    (guard,) = [row for row in said.splitlines() if row.startswith("  echo ")]
    fired = journey.run("fire", "PreToolUse", "Bash", f"command={FORCE}", status=2).stdout
    (where.home / "ran").unlink()
    payload = AGENTS["codex"].call("PreToolUse", "Bash", {"command": FORCE}, str(where.project))
    journey.ask(journey.entry("codex", "PreToolUse"), payload)
    asked = (where.home / "ran").exists()
    assert ("Codex" in guard, "Codex would not ask" not in fired, asked) == ((choice == "all"),) * 3


# Out again, in every order


def second_installation(directory: Path) -> Path:
    """Another environment with Hookline; return its program."""
    program = directory / "bin" / "hookline"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!{sys.executable}\nfrom hookline.app import main\nmain()\n")
    program.chmod(0o755)
    return program


def by(program: Path, journey: Journey, *words: str, status: int = 0) -> str:
    ran = subprocess.run(
        [program, *words], cwd=journey.where.project, env=clean_env(journey.where.home), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == status, ran
    return " ".join(ran.stdout.split())


@pytest.mark.parametrize("order", ["uninstalled first", "program first", "edited in between"])
def test_uninstalled_in_any_order_nothing_stays(order: str, journey: Journey) -> None:
    where = journey.where
    file = where.write("~/.claude/settings.json", THEIRS["claude-code"])
    before = journey.snapshot()
    program = second_installation(where.home / ".local" / "other")
    by(program, journey, "install", "claude-code", "--yes")
    by(program, journey, "install", "claude-code", "--project", "--yes")
    start, gate = journey.entry("claude-code", "SessionStart"), journey.entry("claude-code", "PreToolUse")
    assert MISSING not in journey.ask(start, {"hook_event_name": "SessionStart", "session_id": "s"}).stdout
    if order == "edited in between":
        settings = json.loads(file.read_text())
        settings["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "mine"}]})
        file.write_text(json.dumps(settings, indent=2))
    if order == "program first":
        shutil.rmtree(program.parent.parent)
        said = journey.ask(start, {"hook_event_name": "SessionStart", "session_id": "s"})
        assert json.loads(said.stdout)["systemMessage"].startswith(f"{MISSING} {file}, or install it again.")
        assert (journey.ask(gate, {}).status, journey.ask(gate, {}).stdout) == (0, "")
        # A later installation finds the old entries.
        ran = run_cli(["doctor"], where.project, where.home)
        assert f"{program} does not exist" in " ".join(ran.stdout.split())
        assert "moved:printf" not in ran.stdout  # the entry has the name of what it is
        assert {each["program_problem"] for each in journey.status("claude-code")["sites"]} == {
            f"{program} does not exist"
        }
    journey.run("uninstall", "--yes")
    assert (journey.entries("claude-code"), len(journey.entries("claude-code", "project"))) == ([], 9)
    journey.run("uninstall", "--project", "--yes")
    after = journey.snapshot()
    if order == "edited in between":
        kept = json.loads(file.read_text())["hooks"]
        assert [each["command"] for groups in kept.values() for group in groups for each in group["hooks"]] == [
            "true", "mine"
        ]  # fmt: skip
    else:
        assert after == before
    assert not journey.entries("claude-code", "project")


def test_a_second_environment_takes_over_and_is_named(journey: Journey) -> None:
    has_guard(journey)
    journey.run("install", "claude-code", "--yes")
    other = second_installation(journey.where.home / ".local" / "other")
    assert "it starts" in by(other, journey, "doctor", "--dialect", "claude-code")
    assert "updated: Claude Code" in by(other, journey, "install", "claude-code", "--yes")
    assert f"{other} hook --dialect claude-code" in journey.entry("claude-code", "PreToolUse")
    assert not journey.push("claude-code", session_id="s")
    said = " ".join(journey.run("doctor", "--dialect", "claude-code").stdout.split())
    where = journey.where
    where.write("guard.sh", "#!/bin/sh\ngrep -q rm && exit 2\nexit 0\n").chmod(0o755)
    theirs = {
        "hooks": {
            "PreToolUse": [{"hooks": [{"type": "command", "command": str(where.project / "guard.sh")}]}]
        }
    }
    where.write(".claude/settings.json", json.dumps(theirs))
    assert f"another Hookline is asked there: it starts {other}".replace(str(journey.where.home), "~") in said
    kept = other.read_bytes()
    other.unlink()
    problems = json.loads(run_cli(["doctor", "--json"], where.project, where.home).stdout)["problems"]
    # The agent itself still runs the hook of its own file.
    assert [one["hook"] for one in problems if one["code"] == "unasked-guard"] == ["force-push"]
    other.write_bytes(kept)
    other.chmod(0o755)
    # Its Python is gone, but the program is there: it blocks.
    other.write_text("#!/nowhere/python\n")
    gate = journey.entry("claude-code", "PreToolUse")
    broken = journey.ask(gate, {})
    assert (broken.status, "hookline could not be run, so this was blocked" in broken.stderr) == (2, True)
    assert "updated: Claude Code" in journey.run("install", "claude-code", "--yes").stdout
    assert not journey.push("claude-code", session_id="t")


# What others leave


def test_what_a_killed_process_left_is_done_later(journey: Journey) -> None:
    """A durable hook whose process was killed: the queue says what waits, and it runs once."""
    where = journey.where
    where.write(
        "~/.config/hookline/hooks.toml",
        "[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\nname = 'tell'\ndurable = true\nasync = true\n"
        f"command = 'test -e {where.home}/go || {{ kill -9 $PPID; exit 1; }}; echo told >> {where.home}/told'\n",
    )
    journey.run("install", "claude-code", "--yes")
    line = journey.entry("claude-code", "PostToolUse")
    payload: Mapping[str, Any] = {
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(where.project), "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_response": {}, "tool_use_id": "t",
    }  # fmt: skip
    journey.ask(line, payload)
    waiting = json.loads(journey.run("jobs", "--json").stdout)["jobs"]
    assert [each["hook"] for each in waiting] == ["tell"]
    (where.home / "go").touch()
    journey.run("jobs", "run")
    assert (where.home / "told").read_text() == "told\n"
    assert json.loads(journey.run("jobs", "--json").stdout)["jobs"] == []


def test_an_expired_bundle_denies_and_every_command_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    journey = Journey(Workspace(machine.home, machine.project))
    now = int(time.time())
    offered = signed(4, files=FILES, issued=now - 9_000, expires=now - 60)
    assert machine.at(now - 7_200).offer(offered).what == "activated"
    # The bundle's guards are managed: without Hookline, calls are refused.
    said = journey.run("install", "claude-code", "--yes").stdout
    assert "calls are refused (--if-missing)" in said
    expired = "the bundle guards 4 expired on "
    payload = AGENTS["claude-code"].call("PreToolUse", "Bash", {"command": "ls"}, str(machine.project))
    gate = journey.entry("claude-code", "PreToolUse")
    assert expired in journey.ask(gate, payload).stdout
    assert expired in journey.run("fire", "PreToolUse", "Bash", "command=ls", status=2).stdout
    assert expired in " ".join(journey.run("doctor", status=1).stdout.split())
    # A new revision, and the same call proceeds.
    assert machine.activator.offer(signed(5)).what == "activated"
    assert expired not in journey.ask(gate, payload).stdout
    assert expired not in journey.run("doctor").stdout


def test_a_hook_about_files_is_asked_about_shell_lines_in_its_own_agent(where: Workspace) -> None:
    """An agent asks its own hooks about its tools for files; Hookline asks them about what a shell line writes."""
    journey = Journey(where)
    line = "grep -q generated && { echo not by hand >&2; exit 2; } || echo asked >> $HOME/asked"
    hook = {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": line}]}
    where.write("~/.claude/settings.json", json.dumps({"hooks": {"PreToolUse": [hook]}}))
    first = journey.run("install", "claude-code", "--yes").stdout
    assert "1 hook about files, written for other agents: not asked about shell lines" in " ".join(
        first.split()
    )
    own = AGENTS["claude-code"]

    def denied(tool: str, **arguments: str) -> bool:
        call = own.call(own.gate, tool, arguments, str(where.project))
        said = journey.ask(
            journey.entry("claude-code", own.gate), {**call, "tool_use_id": f"{tool} {arguments}"}
        )
        return "not by hand" in said.stdout

    lines = ("sed -i s/a/b/ src/generated/x.py", "echo x | tee src/generated/x.py", "cp a src/generated/x.py")
    assert not any(denied("Bash", command=each) for each in lines)
    said = journey.run("install", "claude-code", "--yes", "--actions", "all").stdout
    assert "asked about shell lines, too (~/.config/hookline/hooks.toml:1)" in " ".join(said.split())
    assert (where.home / ".config/hookline/hooks.toml").read_text().startswith('actions = "all"\n')
    assert all(denied("Bash", command=each) for each in lines)
    assert not denied("Bash", command="cat src/generated/x.py")
    # About its own tools the agent asks it.
    assert not denied("Edit", file_path="src/generated/x.py", old_string="a", new_string="b")
    assert "shell lines" not in journey.run("install", "claude-code", "--yes").stdout
    assert "shell-detour" not in run_cli(["doctor"], where.project, where.home).stdout
