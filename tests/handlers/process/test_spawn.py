"""Test that every way a program can fail to start has its own message that names the culprit."""

import asyncio
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.process_cases import ROOT
from hookline.extending import Exited, Failed, RawResult
from hookline.handlers.process.pool import Processes
from hookline.handlers.process.spawn import find_program

PATH = {"PATH": "/usr/bin:/bin"}


def started(argv: Sequence[str], cwd: str = "/", env: Mapping[str, str] = PATH, **more: Any) -> RawResult:
    async def main() -> RawResult:
        processes = Processes()
        fds = os.listdir("/proc/self/fd")
        result = await processes.run(argv, env=env, cwd=cwd, timeout=20, run_id="r", **more)
        await processes.close()
        assert len(os.listdir("/proc/self/fd")) <= len(fds)  # others may close theirs meanwhile
        return result

    return asyncio.run(main())


def why(argv: Sequence[str], cwd: str = "/", env: Mapping[str, str] = PATH, **more: Any) -> str:
    result = started(argv, cwd, env, **more)
    assert isinstance(result, Failed), result
    assert result.cause == "not_started"
    return result.detail


def program(directory: Path, content: bytes, mode: int = 0o755, name: str = "hook") -> str:
    file = directory / name
    file.write_bytes(content)
    file.chmod(mode)
    return str(file)


def test_a_missing_program_is_named(tmp_path: Path) -> None:
    assert "no program '/no/such/thing'" in why(["/no/such/thing"])
    assert "no program 'surely-not-there' in PATH" in why(["surely-not-there"])
    assert "./gone" in why(["./gone"], cwd=str(tmp_path))
    assert "empty" in why([""])


def test_a_file_that_is_not_executable_is_told_from_a_missing_one(tmp_path: Path) -> None:
    assert "not executable" in why([program(tmp_path, b"#!/bin/sh\n", 0o644)])


def test_a_directory_is_not_a_program(tmp_path: Path) -> None:
    assert "is a directory" in why([str(tmp_path)])


def test_a_missing_interpreter_is_named_and_not_the_script(tmp_path: Path) -> None:
    detail = why([program(tmp_path, b"#! /no/such/python3 -u\nprint()\n")])
    assert "interpreter '/no/such/python3'" in detail
    assert "hook" in detail


def test_a_carriage_return_in_the_first_line_is_called_that(tmp_path: Path) -> None:
    detail = why([program(tmp_path, b"#!/bin/sh\r\nexit 0\r\n")])
    assert "CRLF" in detail
    assert "LF line endings" in detail


def test_an_interpreter_that_is_not_executable_is_named(tmp_path: Path) -> None:
    interpreter = program(tmp_path, b"x", 0o644, "interpreter")
    assert f"interpreter {interpreter!r}" in why([program(tmp_path, f"#!{interpreter}\n".encode())])


def test_a_script_without_a_first_line_is_no_program(tmp_path: Path) -> None:
    assert "no #! line" in why([program(tmp_path, b"exit 0\n")])


def test_a_binary_of_another_machine_is_told_from_a_script(tmp_path: Path) -> None:
    assert "cannot run on this machine" in why([program(tmp_path, b"\x7fELF" + b"\x7f" * 100)])


def test_a_working_directory_that_is_gone_is_told_before_anything_starts(tmp_path: Path) -> None:
    assert "working directory" in why(["/bin/true"], cwd=str(tmp_path / "gone"))
    assert "is not a directory" in why(["/bin/true"], cwd=program(tmp_path, b""))
    assert "working directory" in why(["/bin/true"], cwd="/bad\0dir")


def test_characters_that_no_program_can_get_are_found(tmp_path: Path) -> None:
    assert "argument 1 holds a NUL" in why(["/bin/echo", "a\0b"])
    assert "environment variable 'A' holds a NUL" in why(["/bin/true"], env={"A": "x\0y"})
    assert "cannot be the name" in why(["/bin/true"], env={"A=B": "x"})
    assert "argument 2 holds a character that cannot be encoded" in why(["/bin/echo", "a", "\ud800"])
    assert "environment variable 'A'" in why(["/bin/true"], env={"A": "\ud800"})


def test_arguments_and_environments_that_are_too_long_are_told() -> None:
    assert "too long" in why(["/bin/true", "x" * 200_000])
    assert "too long" in why(["/bin/true"], env={f"V{number}": "x" * 100_000 for number in range(40)})


def test_a_path_that_is_too_long_or_circular_is_told(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert "symbolic links" in why([str(loop)])
    assert "too long" in why(["/" + "x" * 5000])
    assert "not a directory" in why(["/bin/true/x"])


def test_a_host_without_descriptors_gets_a_typed_answer_and_goes_on() -> None:
    code = """
import asyncio, os, resource
from bench.process_cases import Processes
async def main():
    processes = Processes()
    run = lambda: processes.run(["/bin/true"], env={}, cwd="/", timeout=20, run_id="r")
    print(await run())
    held = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    while held:
        print(await run())
        os.close(held.pop())
        if len(held) < 30: break
    print(await run(), processes.slots.taken, processes.alive)
    await processes.close()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    first, *middle, last = done.stdout.splitlines()
    assert first.startswith("Exited(code=0")
    assert "no file descriptor left" in middle[0]
    assert all(line.startswith(("Exited(code=0", "Failed(cause='not_started'")) for line in middle)
    assert last.startswith("Exited(code=0")
    assert last.endswith(" 0 0")


@pytest.mark.skipif(os.getuid() == 0, reason="the limit does not hold for root")
def test_a_host_that_may_start_no_more_processes_says_so() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    resource.setrlimit(resource.RLIMIT_NPROC, (1, hard))
    try:
        assert "allows no further process" in why(["/bin/true"])
    finally:
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))


@pytest.mark.parametrize(("line", "code"), [("surely-not-there", 127), ("/etc/passwd", 126), ("/tmp", 126)])
def test_what_a_shell_cannot_start_stays_its_exit_status(line: str, code: int) -> None:
    result = started(["/bin/sh", "-c", line])
    assert isinstance(result, Exited)
    assert result.code == code


def test_programs_are_found_only_in_absolute_parts_of_the_path(tmp_path: Path) -> None:
    program(tmp_path, b"#!/bin/sh\necho mine\n", name="ls")
    for trap in (f".:{'/usr/bin'}", ":/usr/bin:", "bin:/usr/bin"):
        found = find_program("ls", trap, str(tmp_path))
        assert found == "/usr/bin/ls"
    assert find_program("ls", f"{tmp_path}:/usr/bin", "/") == f"{tmp_path}/ls"
    assert isinstance(find_program("ls", ".", str(tmp_path)), Failed)
    assert isinstance(find_program("ls", "", str(tmp_path)), Failed)


def test_a_file_on_the_path_that_is_not_executable_is_passed_over_and_named_if_alone(tmp_path: Path) -> None:
    program(tmp_path, b"#!/bin/sh\n", 0o644, name="ls")
    assert find_program("ls", f"{tmp_path}:/usr/bin", "/") == "/usr/bin/ls"
    alone = find_program("ls", str(tmp_path), "/")
    assert isinstance(alone, Failed)
    assert "not an executable file" in alone.detail


def test_a_relative_program_is_taken_from_the_working_directory(tmp_path: Path) -> None:
    program(tmp_path, b"#!/bin/sh\npwd\n")
    result = started(["./hook"], cwd=str(tmp_path))
    assert isinstance(result, Exited)
    assert result.stdout.decode().strip() == str(tmp_path)


def test_a_deleted_working_directory_of_the_host_does_not_matter() -> None:
    code = """
import asyncio, os, tempfile
from bench.process_cases import shell
from bench.process_cases import Processes
async def main():
    processes = Processes()
    gone = tempfile.mkdtemp(); os.chdir(gone); os.rmdir(gone)
    print(await shell(processes, "exit 0"))
    await processes.close()
asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Exited(code=0"), done.stderr
