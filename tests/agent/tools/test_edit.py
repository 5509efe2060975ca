"""Edit: one stretch of a known file for another, the rest untouched to the byte."""

import asyncio
import os
from pathlib import Path

import pytest

from hookline.agent.tools.base import ToolOutput
from tests.agent.tools.tool_runner import ToolRunner, run_tools


def edit(directory: Path, old: str, new: str, *, replace_all: bool = False) -> ToolOutput:
    async def action(runner: ToolRunner) -> ToolOutput:
        await runner.call("Read", file_path="f")
        return await runner.call(
            "Edit", file_path="f", old_string=old, new_string=new, replace_all=replace_all
        )

    return run_tools(directory, action)


def refused(directory: Path, old: str, new: str = "new", *, read_first: bool = True) -> str:
    async def action(runner: ToolRunner) -> str:
        if read_first:
            await runner.call("Read", file_path="f")
        return str(await runner.fails("Edit", file_path="f", old_string=old, new_string=new))

    return run_tools(directory, action)


def test_an_edit_is_told_as_a_patch(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\ntwo\n")
    reply = edit(tmp_path, "two", "three")
    assert file.read_text() == "one\nthree\n"
    assert reply.text == f"The file {file} has been updated successfully."
    assert reply.response == {
        "filePath": str(file),
        "oldString": "two",
        "newString": "three",
        "originalFile": "one\ntwo\n",
        "structuredPatch": [
            {
                "oldStart": 1,
                "oldLines": 2,
                "newStart": 1,
                "newLines": 2,
                "lines": [" one", "-two", "+three"],
            }
        ],
        "userModified": False,
        "replaceAll": False,
    }


def test_a_text_that_stands_twice_needs_replace_all(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("x = 1\nx = 1\n")
    assert refused(tmp_path, "x = 1") == (
        f"old_string occurs 2 times in {file}. Give more of the text around it, or set replace_all."
    )
    edit(tmp_path, "x = 1", "y", replace_all=True)
    assert file.read_text() == "y\ny\n"


def test_a_text_that_is_not_there_is_said_not_to_be(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    assert refused(tmp_path, "One").startswith(f"old_string is not in {tmp_path}/f.")
    assert (tmp_path / "f").read_text() == "one\n"


def test_an_edit_that_changes_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n")
    assert "there is nothing to change" in refused(tmp_path, "one", "one")


def test_an_unread_or_changed_file_is_not_edited(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one\n")
    assert "has not been read yet" in refused(tmp_path, "one", read_first=False)

    async def action(runner: ToolRunner) -> str:
        await runner.call("Read", file_path="f")
        os.utime(file, (5, 5))
        return str(await runner.fails("Edit", file_path="f", old_string="one", new_string="two"))

    assert "has changed since it was read" in run_tools(tmp_path, action)
    assert file.read_text() == "one\n"


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert refused(tmp_path, "x", read_first=False) == f"{tmp_path}/f does not exist."
    assert os.listdir(tmp_path) == []


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfcaf\xe9 one\n")
    edit(tmp_path, "one", "zwei é")
    assert (tmp_path / "f").read_bytes() == b"\xef\xbb\xbfcaf\xe9 zwei \xc3\xa9\n"


@pytest.mark.parametrize(("old", "new"), [("one\ntwo", "1\n2"), ("two", "2a\n2b")])
def test_line_ends_of_the_file_are_kept(tmp_path: Path, old: str, new: str) -> None:
    before = b"one\r\ntwo\r\nthree\r\n"
    (tmp_path / "f").write_bytes(before)
    edit(tmp_path, old, new)
    expected = before.decode().replace("\r\n", "\n").replace(old, new).replace("\n", "\r\n")
    assert (tmp_path / "f").read_bytes() == expected.encode()


def test_binary_and_huge_files_are_not_edited(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> list[str]:
        said: list[str] = []
        for name, content in (("bin", b"\x7fELF\0one"), ("big", b"one" + b"x" * (17 << 20))):
            (tmp_path / name).write_bytes(content)
            runner.place.read_files[str(tmp_path / name)] = (tmp_path / name).stat().st_mtime
            said.append(str(await runner.fails("Edit", file_path=name, old_string="one", new_string="x")))
        return said

    binary, big = run_tools(tmp_path, action)
    assert binary == f"{tmp_path}/bin is a binary file; Edit changes text only."
    assert "the limit is 16777216" in big


def test_a_long_file_is_edited_but_not_told_whole(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\n" + "x" * 70 + "\n" * 2_000_000)
    response = edit(tmp_path, "one", "two").response
    assert (tmp_path / "f").read_text().startswith("two\n")
    assert (response["originalFile"], response["structuredPatch"]) == (None, [])


def test_edits_at_the_same_time_do_not_lose_each_other(tmp_path: Path) -> None:
    words = [f"word{n:02}" for n in range(30)]
    (tmp_path / "f").write_text("\n".join(words))

    async def action(runner: ToolRunner) -> None:
        await runner.call("Read", file_path="f")
        await asyncio.gather(
            *(runner.call("Edit", file_path="f", old_string=word, new_string=word.upper()) for word in words)
        )

    run_tools(tmp_path, action)
    assert (tmp_path / "f").read_text() == "\n".join(words).upper()


def test_a_cancelled_edit_leaves_the_file_whole(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_text("one " * 1000)

    async def action(runner: ToolRunner) -> None:
        for turn in range(20):
            await runner.call("Read", file_path="f")
            old, new = ("one ", "two ") if "one" in file.read_text() else ("two ", "one ")
            edit = runner.call("Edit", file_path="f", old_string=old, new_string=new, replace_all=True)
            running = asyncio.create_task(edit)
            for _ in range(turn % 4):
                await asyncio.sleep(0)
            running.cancel()
            await asyncio.wait((running,))
            assert file.read_text() in {"one " * 1000, "two " * 1000}

    run_tools(tmp_path, action)
    assert os.listdir(tmp_path) == ["f"]
