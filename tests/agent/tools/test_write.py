"""Write: whole files, in one step, never over something the model does not know."""

import asyncio
import os
import stat
from pathlib import Path

import pytest

from hookline import Engine
from hookline.agent.session.watch import FileWatch
from hookline.agent.tools.base import ToolOutput
from hookline.events import FILE_CHANGED, FileEdit
from tests.agent.tools.tool_runner import ToolRunner, run_tools


def write(directory: Path, name: str, content: str, *, read_first: bool = False) -> ToolOutput:
    async def action(runner: ToolRunner) -> ToolOutput:
        if read_first:
            await runner.call("Read", file_path=name)
        return await runner.call("Write", file_path=name, content=content)

    return run_tools(directory, action)


def refused(directory: Path, name: str, content: str = "new") -> str:
    async def action(runner: ToolRunner) -> str:
        return str(await runner.fails("Write", file_path=name, content=content))

    return run_tools(directory, action)


def test_a_new_file_is_made_with_its_directories(tmp_path: Path) -> None:
    reply = write(tmp_path, "a/b/new.txt", "alpha\n")
    path = tmp_path / "a" / "b" / "new.txt"
    assert path.read_text() == "alpha\n"
    assert reply.text == f"File created successfully at: {path}"
    assert reply.response == {
        "type": "create",
        "filePath": str(path),
        "content": "alpha\n",
        "structuredPatch": [],
        "originalFile": None,
        "userModified": False,
    }


def test_a_known_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("one\n")
    file.chmod(0o751)
    reply = write(tmp_path, "run.sh", "two\n", read_first=True)
    assert file.read_text() == "two\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    assert reply.text == f"The file {file} has been updated successfully."
    assert reply.response["type"] == "update"
    assert reply.response["originalFile"] == "one\n"
    assert reply.response["structuredPatch"] == [
        {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-one", "+two"]}
    ]


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path, "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_file_nobody_read_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("precious")
    assert refused(tmp_path, "a") == f"{tmp_path}/a has not been read yet. Read it first, then change it."
    assert (tmp_path / "a").read_text() == "precious"


def test_a_file_that_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("one")

    async def action(runner: ToolRunner) -> str:
        await runner.call("Read", file_path="a")
        file.write_text("somebody else's")
        os.utime(file, (1, 1))
        return str(await runner.fails("Write", file_path="a", content="mine"))

    assert (
        run_tools(tmp_path, action) == f"{file} has changed since it was read. Read it again, then change it."
    )
    assert file.read_text() == "somebody else's"


def test_what_was_written_can_be_written_again(tmp_path: Path) -> None:
    async def action(runner: ToolRunner) -> None:
        for text in ("one", "two", "three"):
            await runner.call("Write", file_path="a", content=text)

    run_tools(tmp_path, action)
    assert (tmp_path / "a").read_text() == "three"


def test_a_link_is_written_through_and_the_real_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("one")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("not-yet")
    reply = write(tmp_path, "link", "two", read_first=True)
    assert reply.response["filePath"] == str(tmp_path / "real")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "two"
    assert write(tmp_path, "dangling", "new").response["filePath"] == str(tmp_path / "not-yet")


def test_what_is_no_regular_file_is_not_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    assert refused(tmp_path, "pipe") == f"{tmp_path}/pipe is a pipe."
    assert refused(tmp_path, "/dev/null") == "/dev/null is a device."
    assert refused(tmp_path, ".").startswith(f"{tmp_path} is a directory")
    assert refused(tmp_path, "file/below") == f"{tmp_path}/file/below cannot be used: Not a directory."


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    assert "cannot be" in refused(tmp_path, name)
    assert os.listdir(tmp_path) == []


def test_text_that_cannot_be_encoded_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, "a", "\ud800") == "The text cannot be written as UTF-8: surrogates not allowed."
    assert os.listdir(tmp_path) == []


def test_nothing_is_left_beside_a_file_that_could_not_be_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_old: str, _new: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert refused(tmp_path, "a") == f"{tmp_path}/a cannot be written: No space left on device."
    assert os.listdir(tmp_path) == []


def test_hooks_are_told_of_files_added_and_changed(tmp_path: Path) -> None:
    engine = Engine()
    received: list[FileEdit] = []
    engine.add(FILE_CHANGED, received.append, name="watch")

    async def action(runner: ToolRunner) -> None:
        runner.place.files = FileWatch()
        runner.place.watch(["a.txt"])
        await runner.call("Write", file_path="a.txt", content="one")
        await runner.call("Write", file_path="a.txt", content="two")
        await runner.call("Write", file_path="b.txt", content="not watched")
        await runner.fails("Edit", file_path="a.txt", old_string="nowhere", new_string="x")
        await runner.call("Edit", file_path="a.txt", old_string="two", new_string="three")

    run_tools(tmp_path, action, engine)
    path = str(tmp_path / "a.txt")
    assert received == [FileEdit(file_path=path, event=event) for event in ("add", "change", "change")]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    texts = [letter * 500_000 for letter in "ab"]

    async def action(runner: ToolRunner) -> set[str]:
        seen: set[str] = set()
        await runner.call("Write", file_path="f", content=texts[0])
        for turn in range(20):
            writing = asyncio.create_task(runner.call("Write", file_path="f", content=texts[turn % 2]))
            while not writing.done():
                seen.add((tmp_path / "f").read_text())
                await asyncio.sleep(0)
            await writing
        return seen

    assert run_tools(tmp_path, action) <= set(texts)
