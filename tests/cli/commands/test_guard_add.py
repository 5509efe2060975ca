"""`hookline guard add`: a guard that works at once, the file that it is written to, and a first test of it."""

import json
import os
import runpy
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import Engine
from hookline.cli.commands.guard.add import OTHER_TEST
from hookline.guards import GUARD_NAMES, RECOMMENDED
from hookline.testing import Hooks
from tests.cli.golden import check_golden
from tests.cli.in_process import InProcess, in_process
from tests.cli.published_schema import valid_document
from tests.cli.run_cli import Ran, Workspace, run_cli
from tests.cli.terminal import Terminal
from tests.every import every
from tests.history.past import codex_session


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def add(cli: InProcess, *words: str) -> Ran:
    return cli.call("guard", "add", *words)


def test_a_new_guard_is_written_and_shown_at_work(where: Workspace) -> None:
    ran = run_cli(["guard", "add", "force-push"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("guard_add.txt", ran.stdout)
    file = where.project / ".hookline" / "hooks.toml"
    assert os.listdir(file.parent) == ["hooks.toml"]
    assert Engine().load(str(where.project), [str(file)]).diagnostics == ()
    for command, status in (("true; git push -u origin x --force", 2), ("git push -u origin x", 0)):
        ran = run_cli(["fire", "PreToolUse", "Bash", f"command={command}"], where.project, where.home)
        assert ran.status == status


def test_the_builtin_guards_are_listed_and_nothing_is_written(cli: InProcess) -> None:
    listed = valid_document("guard", add(cli, "--json").stdout)
    assert [each["name"] for each in listed["builtins"]] == list(GUARD_NAMES)
    assert set(next(each for each in listed["builtins"] if each["name"] == "force-push")["parts"]) == {
        "lease",
        "config",
    }
    text = add(cli).stdout
    assert all(name in text for name in (*GUARD_NAMES, *listed["options"]))
    assert not (cli.workspace.project / ".hookline").exists()


@every("name", GUARD_NAMES)
def test_every_builtin_guard_holds_when_it_is_tried(name: str, cli: InProcess) -> None:
    ran = add(cli, name, "--json")
    document = valid_document("guard", ran.stdout)
    assert (ran.status, document["problem"], document["active"]) == (0, None, True)
    assert [each["decision"] for each in document["tried"]] == ["deny", None], document["tried"]
    cli.call("guard", "remove", name)


def test_options_follow_the_name(cli: InProcess) -> None:
    assert add(cli, "secrets-read", "ask", "allow=.env.test").status == 0
    text = (cli.workspace.project / ".hookline/hooks.toml").read_text()
    assert 'args = ["ask", "allow=.env.test"]' in text
    for file, permission in ((".env", "ask"), (".env.test", None)):
        ran = cli.call("fire", "PreToolUse", "Bash", f"command=cat {file}", "--json")
        assert json.loads(ran.stdout)["outcome"]["permission"] == permission


def test_in_shadow_the_text_says_that_it_stops_nothing(cli: InProcess) -> None:
    shadow, enforced = add(cli, "force-push", "--shadow").stdout, add(cli, "secrets-read").stdout
    assert "it says, but in shadow mode it stops nothing:" in " ".join(shadow.split())
    assert "it says:" in enforced


def test_in_shadow_it_is_tried_as_if_it_were_enforced_and_stops_nothing(cli: InProcess) -> None:
    document = valid_document("guard", add(cli, "force-push", "--shadow", "--json").stdout)
    assert (document["mode"], document["problem"]) == ("shadow", None)
    assert [each["decision"] for each in document["tried"]] == ["deny", None]
    assert cli.call("fire", "PreToolUse", "Bash", "command=git push -f").status == 0


@pytest.mark.parametrize("name", ["hooks.toml", "hooks.yaml", "hooks.yml", "hooks.json"])
def test_it_goes_into_the_file_that_is_there(cli: InProcess, name: str) -> None:
    file = cli.write(f".hookline/{name}", "{}" if name == "hooks.json" else "# mine\n")
    assert add(cli, "force-push").status == 0
    assert os.listdir(file.parent) == [name]
    assert cli.call("fire", "PreToolUse", "Bash", "command=git push -f").status == 2
    assert "# mine" in file.read_text() or name == "hooks.json"


def test_a_link_that_leads_nowhere_is_not_written_through(cli: InProcess) -> None:
    (cli.workspace.project / ".hookline").mkdir()
    (cli.workspace.project / ".hookline" / "hooks.toml").symlink_to("nowhere")
    assert add(cli, "force-push").status == 1
    assert not (cli.workspace.project / ".hookline" / "nowhere").exists()


def test_where_nothing_can_be_written_it_says_so(cli: InProcess) -> None:
    cli.write(".hookline", "a file in the place of the directory\n")
    ran = add(cli, "force-push")
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.endswith("hooks.toml cannot be read: Not a directory\n")


def test_a_directory_that_does_not_exist_is_one_clear_line(cli: InProcess) -> None:
    ran = add(cli, "force-push", "--cwd", "nope")
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr == f"hookline guard: no such directory: {cli.workspace.project}/nope\n"


def test_for_the_user_it_stands_in_the_users_directory(cli: InProcess) -> None:
    document = valid_document("guard", add(cli, "force-push", "--user", "--json").stdout)
    assert document["file"] == str(cli.workspace.home / ".config" / "hookline" / "hooks.toml")
    assert document["active"]


def test_a_guard_that_does_not_run_here_is_said(cli: InProcess) -> None:
    cli.write("~/.config/hookline/hooks.toml", 'disable = ["force-push"]\n')
    assert "it does not run here" in add(cli, "force-push").stdout


def test_the_demonstration_is_no_history(where: Workspace) -> None:
    run_cli(["guard", "add", "force-push"], where.project, where.home)
    assert not (where.home / ".local" / "state" / "hookline" / "journal.jsonl").exists()


def test_a_first_test_is_written_beside_the_guard(where: Workspace) -> None:
    ran = run_cli(["guard", "add", "force-push", "--tests"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("guard_add_tests.txt", ran.stdout)


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["force-push"], 2),
        (["secrets-read", "ask"], 2),
        (["force-push", "without=lease"], 1),
        (["x", "deny Bash(kubectl *)"], 1),
    ],
)
def test_the_first_test_passes(cli: InProcess, words: list[str], count: int) -> None:
    """The page about tests runs it with pytest."""
    assert add(cli, *words, "--tests").status == 0
    tests = written_tests(cli)
    assert len(tests) == count
    for test in tests:
        with Hooks() as hooks:
            test(hooks)


def test_the_first_test_fails_without_the_guard(cli: InProcess) -> None:
    add(cli, "force-push", "--tests")
    cli.call("guard", "remove", "force-push")
    holds, _ = written_tests(cli)
    with Hooks() as hooks, pytest.raises(AssertionError):
        holds(hooks)


def written_tests(cli: InProcess) -> list[Callable[[Hooks], None]]:
    names = runpy.run_path(str(cli.workspace.project / "tests" / "test_hooks.py"))
    return [value for name, value in names.items() if name.startswith("test_")]


def test_hooks_that_are_there_get_a_test_too(cli: InProcess) -> None:
    file = cli.write(".hookline/hooks.toml", "# mine\n")
    document = valid_document("guard", add(cli, "--tests", "--json").stdout)
    assert document == {"file": str(cli.workspace.project / "tests" / "test_hooks.py"), "text": OTHER_TEST}
    assert file.read_text() == "# mine\n"


def test_a_test_that_is_there_is_left_alone_and_nothing_is_written(cli: InProcess) -> None:
    file = cli.write("tests/test_hooks.py", "# mine\n")
    for words in (["force-push", "--tests"], ["--tests"]):
        ran = add(cli, *words)
        assert (ran.status, ran.stdout, file.read_text()) == (1, "", "# mine\n")
        assert (
            ran.stderr
            == f"hookline guard: {file} already exists: add your tests to it, and leave out --tests\n"
        )
    assert not (cli.workspace.project / ".hookline").exists()


def test_tests_are_for_a_project(cli: InProcess) -> None:
    ran = add(cli, "force-push", "--tests", "--user")
    assert (ran.status, ran.stdout) == (1, "")
    assert not (cli.workspace.home / ".config" / "hookline" / "hooks.toml").exists()


def test_the_recommended_guards_are_added_together(cli: InProcess) -> None:
    document = valid_document("guard", add(cli, "recommended", "--json").stdout)
    assert [each["name"] for each in document["added"]] == list(RECOMMENDED)
    assert {each["tried"][0]["decision"] for each in document["added"]} == {"deny"}
    for command, status in (
        ("git push -uf", 2),
        ("cat .env", 2),
        ("rm -rf src", 2),
        ("rm -rf node_modules", 0),
    ):
        assert cli.call("fire", "PreToolUse", "Bash", f"command={command}").status == status
    again = add(cli, "recommended")
    assert (again.status, "are there already" in again.stdout) == (0, True)
    assert cli.call("guard", "remove", "recommended").status == 0
    assert json.loads(cli.call("guard", "list", "--json").stdout)["hooks"] == []


def test_of_the_recommended_guards_only_those_that_are_missing_are_added(cli: InProcess) -> None:
    assert add(cli, "pushes", "ask force-push", "--user").status == 0
    document = valid_document("guard", add(cli, "recommended", "--shadow", "--json").stdout)
    assert document["already"] == ["force-push"]
    assert {each["mode"] for each in document["added"]} == {"shadow"}
    assert cli.call("fire", "PreToolUse", "Bash", "command=cat .env").status == 0
    promoted = valid_document("guard", cli.call("guard", "promote", "recommended", "--yes", "--json").stdout)
    assert {each["name"] for each in promoted["changes"]} == set(RECOMMENDED) - {"force-push"}
    assert cli.call("fire", "PreToolUse", "Bash", "command=cat .env").status == 2
    mode = {each["name"]: each["mode"] for each in json.loads(cli.call("guard", "--json").stdout)["hooks"]}
    assert set(mode.values()) == {"enforce"}


@every(
    ("line", "decision", "said"),
    (
        ("git push --force", "deny", "denied by force-push (.hookline/hooks.toml:5): git push --force"),
        ("git push", None, "no built-in guard would stop it either"),
        ("sudo ls", None, "to add one: hookline guard add privilege"),
        ("cat .env", None, "these are in shadow mode and would have stopped it: secrets-read"),
    ),
)
def test_a_line_is_judged_in_three_sentences(
    line: str, decision: str | None, said: str, cli: InProcess
) -> None:
    if not (cli.workspace.project / ".hookline").exists():
        add(cli, "force-push")
        add(cli, "secrets-read", "--shadow")
    before = sorted(cli.workspace.project.rglob("*"))
    ran = cli.call("guard", "test", line, "--json")
    document = valid_document("guard", ran.stdout)
    assert (document["decision"], ran.status) == (decision, 2 if decision == "deny" else 0)
    text = cli.call("guard", "test", line).stdout
    assert said in " ".join(text.split()), text
    assert sum(not row.startswith(" ") for row in text.splitlines()) <= 5
    assert sorted(cli.workspace.project.rglob("*")) == before, "nothing is written"


def test_the_builtin_guards_are_listed_with_what_they_would_have_stopped(cli: InProcess) -> None:
    commands = ("git push -f", "ls", "cat .env")
    codex_session(cli.workspace.home, "1", str(cli.workspace.project), commands, time.time() - 3600)
    listed = valid_document("guard", add(cli, "--json").stdout)
    stopped = {each["name"]: each["would_have_stopped"] for each in listed["builtins"]}
    assert (listed["sessions"], listed["calls"]) == (1, 3)
    assert {name for name, number in stopped.items() if number} == {"force-push", "secrets-read"}
    assert "of 3 tool calls in 1 session" in " ".join(add(cli).stdout.split())


def test_install_and_doctor_offer_the_recommended_guards_until_there_is_one(cli: InProcess) -> None:
    cli.write(".claude/settings.json", "{}\n")
    offer = "hookline guard add recommended --user"

    def installed() -> str:
        with Terminal("install", "claude-code") as at:
            at.wait_for("[n]o: ")
            at.enter("y")
            at.wait_for("installed")
        cli.call("uninstall", "claude-code", "--yes")
        return at.seen

    assert offer in installed()
    assert offer in cli.call("doctor").stdout
    add(cli, "recommended", "--user")
    assert offer not in installed()
    assert offer not in cli.call("doctor").stdout
