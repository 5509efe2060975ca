"""`hookline doctor` begins with where Hookline is installed, whether the agents run it, and when they last did."""

import json
import re
import subprocess
from typing import Any

import pytest

from hookline.cli.commands.hook.entries import faster, pinned_program
from tests.cli.commands.test_install import OTHERS, command, commands, file_of, install
from tests.cli.published_schema import valid_document
from tests.cli.run_cli import Workspace, clean_env
from tests.trusting import trust_nothing

GUARD = '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "builtin"\ncommand = "allow"\n'


def doctor(where: Workspace, *words: str) -> dict[str, Any]:
    return valid_document("doctor", command(where, "doctor", *words, "--json").stdout)


def codes(document: dict[str, Any]) -> list[str]:
    return [each["code"] for each in document["problems"]]


def sites(document: dict[str, Any], at: int = 0) -> list[Any]:
    return document["agents"][at]["sites"]


def test_nothing_installed_is_said(where: Workspace) -> None:
    (where.home / ".claude").mkdir()
    ran = command(where, "doctor")
    begins = "Where Hookline is installed and asked\n  Claude Code: not installed\n  `hookline install` installs it\n\n"
    assert ran.stdout.startswith(begins)
    assert [each["agent"] for each in doctor(where)["agents"]] == ["claude-code"]
    for words in (["--dialect", "native"], ["--config", str(where.write("x.toml", GUARD))]):
        assert doctor(where, *words)["agents"] == []
        assert "Where Hookline is installed" not in command(where, "doctor", *words).stdout


@pytest.mark.parametrize("agent", OTHERS)
def test_the_file_and_line_of_the_first_entry_are_told(where: Workspace, agent: str) -> None:
    install(where, agent)
    document = doctor(where, "--dialect", agent)
    user, project = sites(document)
    file = file_of(where, agent, "--user")
    assert (user["file"], project["line"], len(document["agents"])) == (str(file), None, 1)
    around = "\n".join(file.read_text().split("\n")[user["line"] - 1 : user["line"] + 6])
    assert "hook --dialect" in around
    assert user["trusted_by_us"] is True
    assert document["agents"][0]["seen"] is None


def test_a_call_is_seen_with_and_without_a_hook(where: Workspace) -> None:
    install(where, "claude-code", "--events", "PreToolUse")
    (line,) = commands(where, "claude-code", "--user")

    def call(session: str) -> dict[str, Any]:
        translated = {"session_id": session, "cwd": str(where.project), "hook_event_name": "PreToolUse"}
        translated |= {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": session}
        subprocess.run(
            ["/bin/sh", "-c", line], cwd=where.project, env=clean_env(where.home), input=json.dumps(translated),
            text=True,
            capture_output=True, check=True,
        )  # fmt: skip
        return doctor(where, "--dialect", "claude-code")["agents"][0]["seen"]

    assert call("one")["project"] == str(where.project)
    where.write(".hookline/hooks.toml", GUARD)
    assert call("two")["event"] == "PreToolUse"
    shown = command(where, "doctor").stdout
    assert re.search(r"    last asked: \S+ \S+ at PreToolUse in ~/project\n", shown)


def test_what_keeps_an_agent_from_running_it_is_said(where: Workspace) -> None:
    install(where, "claude-code", "codex", "gemini-cli", "codewhale")
    where.write(
        "~/.claude.json", json.dumps({"projects": {str(where.home): {"hasTrustDialogAccepted": True}}})
    )
    where.write("~/.gemini/trustedFolders.json", json.dumps({str(where.project): "DO_NOT_TRUST"}))
    config = where.home / ".codex" / "config.toml"
    config.write_text(config.read_text().replace("sha256:", "sha256:0", 1))
    whale = where.home / ".codewhale" / "config.toml"
    whale.write_text(f"[hooks]\nenabled = false\n{whale.read_text()}")
    document = doctor(where)
    translated = {
        each["agent"]: (each["sites"][0]["trusted_by_agent"], each["sites"][0]["agent_says"])
        for each in document["agents"]
    }
    assert codes(document).count("agent-does-not-run") == 3
    assert command(where, "doctor", "--strict-warnings").status == 1
    assert translated["claude-code"] == ("trusted", f"you trust {where.home} in Claude Code")
    assert translated["codex"][0] == "untrusted"
    assert "has no trusted hash for" in translated["codex"][1]
    assert translated["gemini-cli"] == ("untrusted", f"Gemini CLI does not trust {where.project}")
    assert translated["codewhale"] == ("untrusted", f"hooks.enabled in {whale} turns all hooks off")


def test_a_program_that_has_moved_is_said_here_and_by_the_doctor(where: Workspace) -> None:
    install(where, "claude-code", "--events", "PreToolUse,Stop")
    file = file_of(where, "claude-code", "--user")
    file.write_text(file.read_text().replace(faster(pinned_program()), "/opt/old/hookline"))
    document = doctor(where)
    assert sites(document)[0]["program_problem"] == "/opt/old/hookline does not exist"
    assert "run `hookline install` again" in command(where, "doctor").stdout
    moved, _of_stop = [each for each in document["problems"] if each["code"] == "moved"]
    assert moved["fix"] == "hookline install claude-code"
    other = where.write("~/other/hookline", "#!/bin/sh\n")
    file.write_text(file.read_text().replace("/opt/old/hookline", str(other)))
    problem = sites(doctor(where))[0]["program_problem"]
    assert problem == f"it starts {other}, and this is {pinned_program()}"
    install(where, "claude-code", "--events", "PreToolUse,Stop")
    assert sites(doctor(where))[0]["program_problem"] is None
    # A link to the relay, as pipx and uv make them; and the relay of another installation.
    link = where.home / "bin" / "hookline-relay"
    link.parent.mkdir()
    link.symlink_to(faster(pinned_program()))
    file.write_text(file.read_text().replace(faster(pinned_program()), str(link)))
    assert sites(doctor(where))[0]["program_problem"] is None
    relay = where.write("~/other/hookline-relay", "#!/bin/sh\n")
    file.write_text(file.read_text().replace(str(link), str(relay)))
    problem = sites(doctor(where))[0]["program_problem"]
    assert problem == f"it starts {relay}, and this is {pinned_program()}"


def test_our_own_entries_in_a_project_are_trusted_and_no_others(where: Workspace) -> None:
    trust_nothing(where.home)
    mine = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}'
    where.write(".claude/settings.json", mine)
    # Their own program, under our name.
    fake = where.write("tool/hookline", "#!/bin/sh\n")
    line = f"{fake} hook --dialect reasonix PreToolUse"
    where.write(".reasonix/settings.json", json.dumps({"hooks": {"PreToolUse": [{"command": line}]}}))
    install(where, "claude-code", "--project")
    document = doctor(where)
    assert sites(document)[1]["trusted_by_us"] is True
    waiting = json.loads(command(where, "trust", "--json").stdout)["items"]
    assert [each["label"] for each in waiting if each["state"] != "trusted"] == [
        "Stop mine",
        "PreToolUse hookline",
    ]
    assert document["waiting_for_trust"] == 2


def test_a_file_that_cannot_be_read_is_a_line(where: Workspace) -> None:
    where.write("~/.claude/settings.json", "{")
    ran = command(where, "doctor")
    assert (ran.status, ran.stderr) == (1, "")
    assert "for you: ~/.claude/settings.json:1: " in ran.stdout
