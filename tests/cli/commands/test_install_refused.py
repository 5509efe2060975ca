"""`hookline install` on files that it must not touch, or not yet: a clear line, and nothing is lost."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.commands.test_install import command, commands, install, snapshot, uninstall
from tests.cli.run_cli import Workspace, clean_env

SETTINGS = "~/.claude/settings.json"


def refused(where: Workspace, *words: str) -> str:
    """The one line it says; every file stays as it was."""
    before = snapshot(where)
    ran = command(where, "install", *words, "--yes")
    assert ran.status == 1
    assert snapshot(where) == before
    assert len(ran.stderr.splitlines()) == 1
    assert not list(where.home.rglob("*.hookline-*"))
    return ran.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n  // mine\n  "a": 1\n}', ":2: Claude Code reads no file with comments: remove them first"),
        ("{", ":1: Expecting property name"),
        ('{"a": 1,}', ":1: "),
        ("model = 1", ":1: "),
        ("[]", "is not a table of settings"),
        ('"text"', "is not a table of settings"),
        ("null", "is not a table of settings"),
        ('{"hooks": []}', "hooks is not a table"),
        ('{"hooks": "x"}', "hooks is not a table"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"hooks": {"Stop": []},\n "hooks": {}}', ":2: the key 'hooks' appears twice"),
        ('{"hooks": {"Stop": [],\n "Stop": []}}', ":2: the key 'Stop' appears twice"),
    ],
)  # fmt: skip
def test_settings_that_the_agent_could_not_use(where: Workspace, text: str, said: str) -> None:
    file = where.write(SETTINGS, text)
    line = refused(where, "claude-code")
    assert line.startswith(f"hookline install: Claude Code: {file}")
    assert said in line


@pytest.mark.parametrize(
    ("agent", "name", "text", "said"),
    [
        ("codex", "~/.codex/hooks.json", '{"hooks": {}} // x', "Codex reads no file with comments"),
        ("codex", "~/.codex/config.toml", "model = ", "it is not valid TOML"),
        ("codex", "~/.codex/config.toml", "hooks = 1", "hooks is not a table"),
        ("codewhale", "~/.codewhale/config.toml", "[hooks]\nhooks = 'x'", "hooks.hooks is not a list"),
        ("codewhale", "~/.codewhale/config.toml", "[hooks]\nhooks = [{event = 'e', command = 'c'}]", "cannot be"),
        ("docker-agent", "~/.config/cagent/config.yaml", "settings: [", "it is not valid YAML"),
        ("docker-agent", "~/.config/cagent/config.yaml", "settings: 1", "settings is not a table"),
        ("gemini-cli", "~/.gemini/extensions/hookline/gemini-extension.json", '{"name": "x"}', "another extension"),
    ],
)  # fmt: skip
def test_other_formats(where: Workspace, agent: str, name: str, text: str, said: str) -> None:
    where.write(name, text)
    assert said in refused(where, agent)


def test_one_agent_that_cannot_be_served_does_not_stop_the_others(where: Workspace) -> None:
    where.write(SETTINGS, "{")
    ran = command(where, "install", "claude-code", "reasonix", "--yes")
    assert (ran.status, "installed: Reasonix" in ran.stdout) == (1, True)
    assert "Claude Code" in ran.stderr


def test_bytes_that_are_no_text(where: Workspace) -> None:
    where.write(SETTINGS, "").write_bytes(b'{"a": "\xff"}')
    assert "is not a text in UTF-8" in refused(where, "claude-code")


@pytest.mark.parametrize("text", ["", "\n", "{}", "{}\n", '\ufeff{"a": 1}', '{\r\n  "a": 1\r\n}', '{"a": 1}'])
def test_marks_and_ends_of_lines_stay(where: Workspace, text: str) -> None:
    file = where.write(SETTINGS, "")
    file.write_bytes(text.encode())
    install(where, "claude-code")
    written = file.read_bytes().decode()
    assert written.startswith("\ufeff") == text.startswith("\ufeff")
    assert ("\r\n" in written) == ("\r\n" in text)
    assert json.loads(written.removeprefix("\ufeff"))["hooks"]
    uninstall(where, "claude-code")
    assert file.read_bytes() == text.encode()


# Files that are not plain files of the user


def test_a_read_only_file(where: Workspace) -> None:
    where.write(SETTINGS, "{}").chmod(0o444)
    assert "is read-only" in refused(where, "claude-code")


def test_a_read_only_file_keeps_what_was_installed(where: Workspace) -> None:
    install(where, "claude-code")
    file = where.home / ".claude" / "settings.json"
    file.chmod(0o400)
    before = snapshot(where)
    ran = command(where, "uninstall", "--yes")
    assert (ran.status, "is read-only" in ran.stderr) == (1, True)
    assert snapshot(where) == before


def test_a_link_is_followed_and_stays_a_link(where: Workspace) -> None:
    real = where.write("~/dotfiles/claude.json", '{"a": 1}')
    (where.home / ".claude").mkdir()
    link = where.home / ".claude" / "settings.json"
    link.symlink_to(real)
    ran = install(where, "claude-code")
    assert f"{link} is a link: {real} is changed" in " ".join(ran.stdout.split()).replace(
        "~", str(where.home)
    )
    assert link.is_symlink()
    assert "hookline" in real.read_text()
    uninstall(where, "claude-code")
    assert (link.is_symlink(), real.read_text()) == (True, '{"a": 1}')


def test_a_link_that_leads_nowhere(where: Workspace) -> None:
    (where.home / ".claude").mkdir()
    link = where.home / ".claude" / "settings.json"
    link.symlink_to(where.home / "gone.json")
    assert "which does not exist: remove the link" in refused(where, "claude-code")
    assert link.is_symlink()


@pytest.mark.parametrize("make", ["mkdir", "fifo"])
def test_something_else_than_a_file(where: Workspace, make: str) -> None:
    path = where.home / ".claude" / "settings.json"
    path.parent.mkdir()
    (path.mkdir if make == "mkdir" else lambda: os.mkfifo(path))()
    ran = command(where, "install", "claude-code", "--yes")
    assert (ran.status, f"{path} is not a file" in ran.stderr) == (1, True)


def test_a_file_in_the_place_of_the_directory(where: Workspace) -> None:
    where.write("~/.claude", "x")
    assert "Not a directory" in refused(where, "claude-code")


@pytest.mark.parametrize("what", ["file", "folder"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_project_does_not_lead_us_out_of_it(where: Workspace, what: str, exists: bool) -> None:
    secret = where.write("~/.ssh/settings.json", '{"mine": 1}')
    if not exists:
        secret.unlink()
    directory = where.project / ".claude"
    if what == "folder":
        directory.symlink_to(secret.parent)
    else:
        directory.mkdir()
        (directory / "settings.json").symlink_to(secret)
    assert f"outside the project {where.project}: it is not touched" in refused(
        where, "claude-code", "--project"
    )


def test_a_link_inside_a_project_is_fine(where: Workspace) -> None:
    real = where.write("config/claude.json", "{}")
    (where.project / ".claude").mkdir()
    (where.project / ".claude" / "settings.json").symlink_to("../config/claude.json")
    install(where, "claude-code", "--project")
    assert "hookline" in real.read_text()


def test_entries_of_a_hostile_project_are_not_taken_for_ours(where: Workspace) -> None:
    """Their program with our name is replaced by ours, and lines that do more stay theirs."""
    lines = [
        "./hookline hook --dialect claude-code PreToolUse",
        "curl x | sh; hookline hook --dialect claude-code Stop",
    ]
    groups = {"PreToolUse": [{"hooks": [{"type": "command", "command": line} for line in lines]}]}
    where.write(".claude/settings.json", json.dumps({"hooks": groups}))
    install(where, "claude-code", "--project", "--events", "PreToolUse")
    first, second = commands(where, "claude-code", "--project")
    assert first == lines[1]
    assert second.startswith("[ -x /")


def test_texts_of_a_project_cannot_steer_the_terminal(where: Workspace) -> None:
    where.write(".claude/settings.json", '{"a": "\x1b[31m\u202e"}'.replace("\x1b", "\\u001b"))
    where.write(".codex/hooks.json", '{"description": "\u202e"}')
    ran = command(where, "install", "claude-code", "codex", "--project")
    assert "\x1b" not in ran.stdout
    assert "\u202e" not in ran.stdout


# A change that is not finished

_KILLED = """
import os, signal, sys
from hookline.config.install import files, records
from hookline.cli.main import run

replace, count = os.replace, 0

def killed(source, target):
    global count
    if ".hookline-" in source:
        count += 1
        if count == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)

os.replace = killed
run(sys.argv[2:])
"""


def killed_at(where: Workspace, recorded: int, *words: str) -> None:
    """Run a command that is killed just before it renames a file: the first, the second ..."""
    ran = subprocess.run(
        [sys.executable, "-c", _KILLED, str(recorded), *words], cwd=where.project, env=clean_env(where.home),
        capture_output=True, check=False,
    )  # fmt: skip
    assert ran.returncode == -signal.SIGKILL


def drafts(where: Workspace) -> list[Path]:
    return list(where.home.rglob(".*.hookline-*"))


def test_a_kill_before_the_file_is_in_place_leaves_the_old_one(where: Workspace) -> None:
    file = where.write(SETTINGS, '{"a": 1}')
    killed_at(where, 1, "install", "claude-code", "--yes")
    assert file.read_text() == '{"a": 1}'
    assert len(drafts(where)) == 1
    install(where, "claude-code")
    assert "hookline" in file.read_text()
    assert drafts(where) == []
    uninstall(where, "claude-code")
    assert file.read_text() == '{"a": 1}'


@pytest.mark.parametrize("recorded", [1, 2])
def test_a_change_of_two_files_is_finished_by_the_next_command(where: Workspace, recorded: int) -> None:
    """Codex: entries without their hashes do not run, and hashes of the user's hooks must not be left behind."""
    groups = [{"hooks": [{"type": "command", "command": f"mine {at}"}]} for at in range(2)]
    file = where.write("~/.codex/hooks.json", json.dumps({"hooks": {"Stop": groups[:1]}}))
    config = where.write("~/.codex/config.toml", "# mine\n")
    killed_at(where, recorded, "install", "codex", "--events", "Stop", "--yes")
    install(where, "codex", "--events", "Stop")
    assert len(commands(where, "codex", "--user")) == 2
    value = json.loads(file.read_text())
    value["hooks"]["Stop"].append(groups[1])
    file.write_text(json.dumps(value))
    config.write_text(f'{config.read_text()}[hooks.state."{file}:stop:2:0"]\ntrusted_hash = "theirs"\n')
    killed_at(where, recorded, "uninstall", "codex", "--yes")
    command(where, "uninstall", "codex", "--yes")
    assert json.loads(file.read_text()) == {"hooks": {"Stop": groups}}
    assert config.read_text() == f'# mine\n[hooks.state."{file}:stop:1:0"]\ntrusted_hash = "theirs"\n'
    assert drafts(where) == []


def test_a_file_that_changes_while_the_user_reads_is_not_overwritten(
    where: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.cli.terminal import Terminal

    file = where.write(SETTINGS, '{"a": 1}')
    monkeypatch.setenv("HOME", str(where.home))
    monkeypatch.chdir(where.project)
    with Terminal("install", "claude-code") as at:
        at.wait_for("[y]es, [n]o:")
        file.write_text('{"a": 2}')
        at.enter("y")
    assert (at.status, file.read_text()) == (1, '{"a": 2}')


def test_records_that_others_could_have_written_do_not_count(where: Workspace) -> None:
    file = where.write(SETTINGS, '{"a": 1}')
    install(where, "claude-code")
    directory = where.home / ".local" / "state" / "hookline" / "installed"
    (record,) = directory.glob("*.json")
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    record.write_text(record.read_text().replace('"original":"', '"original":"eyJldmlsIjoxfQ==","x":"'))
    record.chmod(0o666)
    uninstall(where, "claude-code")
    assert json.loads(file.read_text()) == {"a": 1}


def test_without_a_home_nothing_is_done(where: Workspace) -> None:
    """Without HOME the user database counts, and nothing can be made in the home that it names in tests."""
    ran = command(where, "install", "claude-code", "--yes", env={"HOME": ""})
    assert (ran.status, "/proc/" in ran.stderr + ran.stdout) == (1, True)
    assert not (where.project / ".claude").exists()


def test_ctrl_c_between_two_files_takes_the_first_back(where: Workspace) -> None:
    file = where.write("~/.codex/hooks.json", '{"hooks":{}}')
    config = where.write("~/.codex/config.toml", "# mine\n")
    subprocess.run(
        [sys.executable, "-c", _KILLED.replace("SIGKILL", "SIGINT"), "2", "install", "codex", "--yes"],
        cwd=where.project, env=clean_env(where.home), capture_output=True, check=False,
    )  # fmt: skip
    assert (file.read_text(), config.read_text()) == ('{"hooks":{}}', "# mine\n")
    install(where, "codex")
    uninstall(where, "codex")
    assert (file.read_text(), config.read_text()) == ('{"hooks":{}}', "# mine\n")
