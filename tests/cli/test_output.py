"""The exit status is the answer, whatever becomes of the text."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.warm_process import warm_path

BLOCK = "fire Stop --hook 'Stop=cat >/dev/null; sleep 0.3; echo caf\u00e9 \U0001f600 >&2; exit 2'"
PASS = "fire Stop --hook 'Stop=true'"


def shell(directory: Path, line: str, **env: str) -> "subprocess.CompletedProcess[str]":
    """`H` in the line is the command; its status is the last line of stderr."""
    # A process that starts with a closed stream or another encoding has to start; the others may be warm.
    fresh = "&-" in line or env
    line = line.replace(
        "H ", f"{sys.executable} -m hookline.app " if fresh else f"{warm_path()}/hookline ", 1
    )
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=directory, capture_output=True, text=True, check=False, timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": str(directory), "PYTHONUTF8": "1", **env},
    )  # fmt: skip


@pytest.mark.parametrize(("command", "status"), [(BLOCK, "2"), (PASS, "0")])
def test_a_reader_who_is_gone_does_not_change_the_status(tmp_path: Path, command: str, status: str) -> None:
    ran = shell(tmp_path, f"(H {command}; echo $? >&2) | true")
    assert ran.stderr == f"{status}\n"


@pytest.mark.parametrize("command", [BLOCK, f"{BLOCK} --json"])
@pytest.mark.parametrize("where", [">/dev/full", ">&-", ">&- <&-"])
def test_stdout_that_takes_nothing_is_said_and_a_block_still_exits_2(
    tmp_path: Path, command: str, where: str
) -> None:
    ran = shell(tmp_path, f"H {command} {where}")
    assert ran.returncode == 2
    assert ran.stderr.startswith("hookline: cannot write to stdout: ")
    assert ran.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", [PASS, "--help", "fire --help", "--version", "events", "events Stop --json"]
)
def test_an_answer_that_was_lost_is_a_problem(tmp_path: Path, command: str) -> None:
    ran = shell(tmp_path, f"H {command} >/dev/full")
    assert (ran.returncode, ran.stderr) == (1, "hookline: cannot write to stdout: No space left on device\n")


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-", "2>&1 >/dev/full 2>/dev/full"])
def test_stderr_that_takes_nothing_does_not_change_the_status(tmp_path: Path, where: str) -> None:
    (tmp_path / "bad.toml").write_text(
        '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ncommand = "true"\ntimeout = "x"\n'
    )
    ran = shell(tmp_path, f"H {BLOCK} --config bad.toml {where}")
    assert (ran.returncode, ran.stderr) == (2, "")
    assert shell(tmp_path, f"H fire Nope {where}").returncode == 1
    assert shell(tmp_path, f"H fire --nope {where}").returncode == 1


def test_words_for_a_closed_stderr_do_not_go_into_the_json(tmp_path: Path) -> None:
    ran = shell(tmp_path, "H fire Stop --json 2>&-")
    assert json.loads(ran.stdout)["event"] == "Stop"


def test_text_the_stream_cannot_encode_is_escaped(tmp_path: Path) -> None:
    ran = shell(tmp_path, f"H {BLOCK}", PYTHONIOENCODING="ascii")
    assert (ran.returncode, ran.stderr) == (2, "")
    assert "reason: caf\\xe9 \\U0001f600" in ran.stdout


def test_json_the_stream_cannot_encode_is_still_json(tmp_path: Path) -> None:
    ran = shell(tmp_path, f"H {BLOCK} --json", PYTHONIOENCODING="latin-1:strict")
    assert json.loads(ran.stdout)["outcome"]["reason"] == "caf\u00e9 \U0001f600"
    assert (ran.returncode, ran.stderr) == (2, "")


def test_a_payload_from_a_closed_stdin_is_one_clear_line(tmp_path: Path) -> None:
    ran = shell(tmp_path, "H fire --payload - <&-")
    assert (ran.returncode, ran.stderr) == (
        1,
        "hookline fire: cannot read the payload: standard input is closed\n",
    )


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["doctor", "--nonsense"], 1), ([], 1)])
def test_the_interpreter_is_not_torn_down_whoever_ends_the_command(words: list[str], status: int) -> None:
    """That would take longer than a hook, and in a process that was forked it copies all of its memory."""
    code = "import atexit; atexit.register(print, 'torn down'); from hookline.app import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert ran.returncode == status
    assert "torn down" not in ran.stdout
