"""Test which commands can run warm, and why others cannot."""

from pathlib import Path

from hookline.handlers.warm.commands import Cold, WarmScript, find_script, unknown_setting
from tests.every import every

ENV = {"PATH": "/usr/bin:/bin", "HOME": "/home/u", "PROJECT": "/p/my project", "PLAIN": "/p/plain"}
PYTHON = "/usr/bin/python3"


def _of_line(line: str) -> WarmScript | Cold:
    return find_script(["/bin/sh", "-c", line], ENV, "/work")


@every(
    ("line", "argv", "form", "flags"),
    [
        ("python3 guard.py", ("python3", "guard.py"), "file", ()),
        ("python3 'a b.py' x", ("python3", "a b.py", "x"), "file", ()),
        ('python3 "$PROJECT/guard.py"', ("python3", "/p/my project/guard.py"), "file", ()),
        ('python3 "${PROJECT}"/guard.py', ("python3", "/p/my project/guard.py"), "file", ()),
        ("python3 $PLAIN/guard.py", ("python3", "/p/plain/guard.py"), "file", ()),
        ("python3 ~/guard.py", ("python3", "/home/u/guard.py"), "file", ()),
        ("exec python3 guard.py", ("python3", "guard.py"), "file", ()),
        ("python3 guard.py # why", ("python3", "guard.py"), "file", ()),
        ("/usr/bin/python3 -u -B x.py -v", ("/usr/bin/python3", "-u", "-B", "x.py", "-v"), "file", ("-u", "-B")),
        ("python3 -IOc 'print(1 | 2)' a", ("python3", "-IOc", "print(1 | 2)", "a"), "code", ("-I", "-O")),
        ("python3 -m tools.check --x", ("python3", "-m", "tools.check", "--x"), "module", ()),
        ("python3 -X utf8 x.py", ("python3", "-X", "utf8", "x.py"), "file", ("-X", "utf8")),
        ("python3 -Wignore x.py", ("python3", "-Wignore", "x.py"), "file", ("-W", "ignore")),
    ],
)  # fmt: skip
def test_one_simple_command_can_run_warm(
    line: str, argv: tuple[str, ...], form: str, flags: tuple[str, ...]
) -> None:
    found = _of_line(line)
    assert isinstance(found, WarmScript), found
    assert (found.program, found.argv, found.form, found.flags) == (PYTHON, argv, form, flags)
    assert found.shell == "/bin/sh"
    assert found.waits is not line.startswith("exec")


@every(
    ("line", "word"),
    [
        ("python3 guard.py | tee log", "more than one"),
        ("python3 guard.py && true", "more than one"),
        ("cd x; python3 guard.py", "more than one"),
        ("python3 guard.py &", "more than one"),
        ("if true; then python3 guard.py; fi", "more than one"),
        ("python3 guard.py 2>/dev/null", "redirections"),
        ("python3 <guard.py", "redirections"),
        ("DEBUG=1 python3 guard.py", "redirections or sets variables"),
        ("python3 *.py", "expands"),
        ("python3 {a,b}.py", "expands"),
        ("python3 $PROJECT/guard.py", "double quotes"),
        ("python3 $NOT_SET/guard.py", "not set"),
        ('python3 "${PROJECT:-x}/guard.py"', "only the shell"),
        ('python3 "$PWD/guard.py"', "only the shell"),
        ('python3 "$1"', "only the shell"),
        ("python3 $(which guard.py)", "other commands"),
        ("python3 $'a\\x20b.py'", "differently"),
        ("python3", "no script"),
        ("python3 -", "no script"),
        ("python3 -i x.py", "cannot have"),
        ("python3 -X importtime x.py", "cannot have"),
        ("python3 -v x.py", "cannot have"),
        ("node guard.js", "not a Python"),
        ("uv run guard.py", "not a Python"),
        ("python2 x.py", "not a Python"),
        ("python3.99 x.py", "no program"),
        ("'", "not a simple"),
        ("", "more than one"),
    ],
)
def test_everything_else_is_started_anew_and_says_why(line: str, word: str) -> None:
    found = _of_line(line)
    assert isinstance(found, Cold), found
    assert word in found.why


def test_a_first_line_names_the_interpreter(tmp_path: Path) -> None:
    for first, argv in (
        ("#!/usr/bin/python3", ("/usr/bin/python3", "SCRIPT", "x")),
        ("#! /usr/bin/python3 -I", ("/usr/bin/python3", "-I", "SCRIPT", "x")),
        ("#!/usr/bin/env python3", ("python3", "SCRIPT", "x")),
        ("#!/usr/bin/env -S python3 -I", None),
        ("#!/bin/sh", None),
        ("#!/usr/bin/python3\r", None),
        ("print(1)", None),
    ):
        script = tmp_path / "guard.py"
        script.write_text(f"{first}\nprint(1)\n")
        script.chmod(0o755)
        for command in (["/bin/sh", "-c", f"{script} x"], [str(script), "x"], ["./guard.py", "x"]):
            found = find_script(command, ENV, str(tmp_path))
            if argv is None:
                assert isinstance(found, Cold), first
                continue
            assert isinstance(found, WarmScript), found
            named = str(tmp_path / "./guard.py") if command[0] != "./guard.py" else f"{tmp_path}/./guard.py"
            assert found.argv == tuple(named if word == "SCRIPT" else word for word in argv)


def test_a_script_that_is_not_executable_is_started_anew(tmp_path: Path) -> None:
    script = tmp_path / "guard.py"
    script.write_text("#!/usr/bin/python3\n")
    assert isinstance(find_script([str(script)], ENV, str(tmp_path)), Cold)


def test_a_path_that_depends_on_the_directory_is_not_searched() -> None:
    found = find_script(["/bin/sh", "-c", "python3 x.py"], {**ENV, "PATH": ":/usr/bin"}, "/work")
    assert found == Cold("PATH has a part that depends on the working directory")


@every(
    ("env", "cold"),
    [
        ({"PYTHONUNBUFFERED": "1"}, False),
        ({"PYTHONPATH": "/a:/b"}, False),
        ({"PYTHONPATH": "/a:lib"}, True),
        ({"PYTHONPATH": ":/a"}, True),
        ({"PYTHONHOME": "/x"}, True),
        ({"PYTHONINSPECT": "1"}, True),
        ({"PYTHONPROFILEIMPORTTIME": "1"}, True),
        ({"PYTHONINSPECT": ""}, False),
    ],
)
def test_variables_that_change_the_start_of_the_interpreter_are_known(
    env: dict[str, str], cold: bool
) -> None:
    assert (unknown_setting(env) is not None) is cold
