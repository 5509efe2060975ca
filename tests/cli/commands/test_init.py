"""`hookline init`: a first guard that works, and nothing overwritten."""

import os
import runpy
import stat
import threading
import tomllib

import pytest

from hookline import Engine
from hookline.cli.commands.init.run import FIRST_TEST, GUARD, OTHER_TEST, write_new
from hookline.testing import Hooks
from tests.cli.golden import check_golden
from tests.cli.published_schema import valid_document
from tests.cli.run_cli import Place, run_cli, run_here


def test_a_new_guard_is_written_and_shown_at_work(where: Place) -> None:
    ran = run_cli(["init"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("init.txt", ran.stdout)
    file = where.project / ".hookline" / "hooks.toml"
    assert file.read_text() == GUARD
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    assert os.listdir(file.parent) == ["hooks.toml"]


def test_the_guard_is_one_that_the_next_command_finds(where: Place) -> None:
    run_cli(["init"], where.project, where.home)
    for command, status in (("true; git push -u origin x --force", 2), ("git push -u origin x", 0)):
        ran = run_cli(["fire", "PreToolUse", "Bash", f"command={command}"], where.project, where.home)
        assert ran.status == status


def test_the_guard_is_valid_and_reports_nothing(where: Place) -> None:
    assert tomllib.loads(GUARD)["hooks"]
    file = where.write(".hookline/hooks.toml", GUARD)
    assert Engine().load(str(where.project), [str(file)]).diagnostics == ()


@pytest.mark.parametrize("name", ["hooks.toml", "hooks.yaml", "hooks.yml", "hooks.json"])
def test_a_file_that_is_there_is_shown_and_left_alone(
    where: Place, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = where.write(f".hookline/{name}", "# mine\x1b[31m\n")
    ran = run_here(["init"], where, capsys, monkeypatch)
    assert ran.status == 1
    assert ran.stdout.endswith("  # mine\n")
    assert f"{name} already exists; add to it, or move it away" in ran.stderr
    assert file.read_text() == "# mine\x1b[31m\n"
    assert os.listdir(file.parent) == [name]


def test_a_link_that_leads_nowhere_counts_as_a_file(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (where.project / ".hookline").mkdir()
    (where.project / ".hookline" / "hooks.toml").symlink_to("nowhere")
    assert run_here(["init"], where, capsys, monkeypatch).status == 1
    assert not (where.project / ".hookline" / "nowhere").exists()


def test_of_many_at_once_one_writes(where: Place) -> None:
    file = str(where.project / ".hookline" / "hooks.toml")
    wrote: list[str] = []

    def try_it(text: str) -> None:
        try:
            write_new(file, text)
        except FileExistsError:
            return
        wrote.append(text)

    threads = [threading.Thread(target=try_it, args=(f"# {number}\n",)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrote) == 1
    assert (where.project / ".hookline" / "hooks.toml").read_text() == wrote[0]
    assert os.listdir(where.project / ".hookline") == ["hooks.toml"]


def test_where_nothing_can_be_written_it_says_so(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where.write(".hookline", "a file in the place of the folder\n")
    ran = run_here(["init"], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr.endswith("hooks.toml: Not a directory\n")


def test_a_directory_that_does_not_exist_is_one_clear_line(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(["init", "--cwd", "nope"], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert ran.stderr == f"hookline init: there is no directory {where.project}/nope\n"


def test_for_the_user_it_stands_in_the_users_directory(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(["init", "--user", "--json"], where, capsys, monkeypatch)
    document = valid_document("init", ran.stdout)
    assert document["file"] == str(where.home / ".config" / "hookline" / "hooks.toml")
    assert document["in_force"]
    assert [each["blocked"] for each in document["shown"]] == [True, False]


def test_a_guard_that_does_not_run_here_is_said(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where.write("~/.config/hookline/hooks.toml", 'disable = ["no force push"]\n')
    assert "it does not run here" in run_here(["init"], where, capsys, monkeypatch).stdout


def test_a_new_file_silences_no_other_hooks(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = GUARD.replace("no force push", "my own guard")
    where.write("~/.config/hookline/hooks.toml", mine)
    ran = run_here(["init"], where, capsys, monkeypatch)
    assert ran.status == 0
    assert "Note:" not in ran.stdout
    listed = run_here(["list", "--json"], where, capsys, monkeypatch)
    hooks = valid_document("list", listed.stdout)["hooks"]
    assert [hook["hook"] for hook in hooks] == ["my own guard", "no force push"]


def test_the_json_of_a_refusal_says_why(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where.write(".hookline/hooks.toml", "# mine\n")
    ran = run_here(["init", "--json"], where, capsys, monkeypatch)
    document = valid_document("init", ran.stdout)
    assert (ran.status, document["written"], document["text"]) == (1, False, "# mine\n")
    assert "already exists" in document["problem"]


def test_the_demonstration_is_no_history(where: Place) -> None:
    run_cli(["init"], where.project, where.home)
    assert not (where.home / ".local").exists()


def test_a_first_test_is_written_beside_the_guard(where: Place) -> None:
    ran = run_cli(["init", "--tests"], where.project, where.home)
    assert (ran.status, ran.stderr) == (0, "")
    check_golden("init_tests.txt", ran.stdout)
    assert (where.project / ".hookline" / "hooks.toml").read_text() == GUARD
    assert (where.project / "tests" / "test_hooks.py").read_text() == FIRST_TEST


@pytest.mark.parametrize(("there", "count"), [(False, 2), (True, 1)])
def test_the_first_test_passes(
    where: Place,
    there: bool,
    count: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page about tests runs it with pytest."""
    if there:
        where.write(".hookline/hooks.toml", GUARD.replace("no force push", "mine"))
    run_here(["init", "--tests"], where, capsys, monkeypatch)
    names = runpy.run_path(str(where.project / "tests" / "test_hooks.py"))
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == count
    for test in tests:
        with Hooks() as hooks:
            test(hooks)


def test_hooks_that_are_there_get_a_test_too(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where.write(".hookline/hooks.toml", "# mine\n")
    ran = run_here(["init", "--tests", "--json"], where, capsys, monkeypatch)
    document = valid_document("init", ran.stdout)
    assert (ran.status, document["written"], document["problem"]) == (0, False, None)
    assert document["tests"] == {
        "file": str(where.project / "tests" / "test_hooks.py"),
        "written": True,
        "text": OTHER_TEST,
    }
    compile(OTHER_TEST, "test_hooks.py", "exec")


def test_a_test_that_is_there_is_left_alone(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = where.write("tests/test_hooks.py", "# mine\n")
    ran = run_here(["init", "--tests"], where, capsys, monkeypatch)
    assert (ran.status, file.read_text()) == (1, "# mine\n")
    assert ran.stderr == (
        f"hookline init: {file} already exists; add to it, or move it away and run `hookline init --tests` again\n"
    )
    assert f"there is {file}\n\n  # mine\n" in ran.stdout


def test_tests_are_for_a_project(
    where: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(["init", "--tests", "--user"], where, capsys, monkeypatch)
    assert (ran.status, ran.stdout) == (1, "")
    assert not (where.home / ".config" / "hookline" / "hooks.toml").exists()
