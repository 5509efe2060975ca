"""Read: numbered lines of text files, and a clear word about everything else."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.agent.tools.base import ToolOutput
from hookline.agent.tools.off_loop import WorkLimit
from hookline.agent.tools.read import MOST_CHARACTERS
from tests.agent.tools.tool_runner import ToolRunner, run_tools


def read(directory: Path, name: str, **arguments: Any) -> ToolOutput:
    async def action(runner: ToolRunner) -> ToolOutput:
        return await runner.call("Read", file_path=name, **arguments)

    return run_tools(directory, action)


def refused(directory: Path, name: str, **arguments: Any) -> str:
    async def action(runner: ToolRunner) -> str:
        failure = await runner.fails("Read", file_path=name, **arguments)
        assert runner.place.read_files == {}
        return str(failure)

    return run_tools(directory, action)


def test_lines_are_numbered_and_the_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    reply = read(tmp_path, str(file))
    assert reply.text == "1\tone\n2\ttwo\n3\t"
    assert reply.response == {
        "type": "text",
        "file": {
            "filePath": str(file),
            "content": "one\ntwo\n",
            "numLines": 3,
            "startLine": 1,
            "totalLines": 3,
        },
    }


def test_a_part_is_read_with_offset_and_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    reply = read(tmp_path, "a", offset=4, limit=2)
    assert reply.text == "4\tline 4\n5\tline 5\n[the file has 11 lines; continue with offset 6]"
    assert reply.response["file"]["content"] == "line 4\nline 5"
    assert (reply.response["file"]["startLine"], reply.response["file"]["numLines"]) == (4, 2)
    assert read(tmp_path, "a", offset=0, limit=1).text.startswith("1\tline 1\n")


def test_two_thousand_lines_are_shown_unless_more_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n" * 5000)
    assert read(tmp_path, "a").text.endswith("2000\tx\n[the file has 5001 lines; continue with offset 2001]")
    assert read(tmp_path, "a", limit=6000).text.endswith("5000\tx\n5001\t")


def test_long_lines_and_long_texts_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("é" * 3000 + "\n" + ("y" * 1000 + "\n") * 500)
    reply = read(tmp_path, "a")
    first = reply.text.split("\n")[0]
    assert first == "1\t" + "é" * 2000 + "[... line cut at 2000 characters]"
    assert len(reply.text) < MOST_CHARACTERS + 3000
    assert "continue with offset" in reply.text.split("\n")[-1]


def test_a_line_of_many_megabytes_is_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"z" * (9 << 20) + b"\nend")
    reply = read(tmp_path, "a")
    assert reply.text.endswith("characters]\n2\tend")
    assert len(reply.text) < 2100


def test_carriage_returns_and_a_byte_order_mark_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read(tmp_path, "a").text == "1\tone\n2\ttwo\n3\t"


def test_bytes_that_are_no_utf8_are_shown_as_marks(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9\n")
    assert read(tmp_path, "a").text == "1\tcaf�\n2\t"


def test_an_empty_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert read(tmp_path, "a").text == "(the file is empty)"


def test_what_was_read_is_remembered_with_its_time_under_its_real_name(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")

    async def action(runner: ToolRunner) -> None:
        await runner.call("Read", file_path="link")
        real = str(tmp_path / "real")
        assert runner.place.read_files == {real: os.stat(real).st_mtime}

    run_tools(tmp_path, action)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n123", "a PNG image"),
        (b"\xff\xd8\xff\xe0JFIF", "a JPEG image"),
        (b"GIF89a", "a GIF image"),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", "a WebP image"),
        (b"BM\x10\x00\x00\x00", "a BMP image"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x7fELF\x02\x01\x01\x00", "a binary file"),
        ("wide".encode("utf-16"), "a binary file"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, kind: str) -> None:
    (tmp_path / "a").write_bytes(content)
    assert refused(tmp_path, "a") == f"{tmp_path}/a is {kind}; Read shows text only."


def test_a_text_may_start_like_a_bitmap(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("BM is a name")
    assert read(tmp_path, "a").text == "1\tBM is a name"


def test_a_missing_file_says_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").touch()
    assert refused(tmp_path, "confg.yaml") == (
        f"{tmp_path}/confg.yaml does not exist. Did you mean {tmp_path}/config.yaml?"
    )
    assert refused(tmp_path, "zzz") == f"{tmp_path}/zzz does not exist."
    assert (
        refused(tmp_path, "no/way")
        == f"{tmp_path}/no/way does not exist: the directory {tmp_path}/no is missing."
    )


def test_pipes_devices_and_directories_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    assert refused(tmp_path, "pipe") == f"{tmp_path}/pipe is a pipe."
    assert refused(tmp_path, "/dev/zero") == "/dev/zero is a device."
    assert refused(tmp_path, "link") == "/dev/zero is a device."
    assert refused(tmp_path, ".").startswith(f"{tmp_path} is a directory; Glob")


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "x" * 5000, "loop"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert "cannot be used: " in refused(tmp_path, name)


def test_a_file_larger_than_can_be_gone_through_is_refused(tmp_path: Path) -> None:
    with open(tmp_path / "big", "wb") as big:
        big.truncate(1 << 40)
    assert "more than Read reads" in refused(tmp_path, "big")


def test_lines_beyond_the_end_are_said_not_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    assert refused(tmp_path, "a", offset=5).endswith("a has only 1 lines, so line 5 does not exist.")


def test_a_file_of_the_kernel_that_tells_no_size_is_read(tmp_path: Path) -> None:
    assert "Name:" in read(tmp_path, "/proc/self/status").text


def test_a_home_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    (tmp_path / "me").mkdir()
    (tmp_path / "me" / "a").write_text("mine")
    assert read(tmp_path, "~/a").text == "1\tmine"


def test_a_work_limit_ends_with_its_time_or_when_cancelled() -> None:
    assert not WorkLimit().over
    assert WorkLimit(-1).over
    limit = WorkLimit()
    limit.cancel()
    assert limit.over


def test_reading_in_many_calls_at_once_gives_each_its_own(tmp_path: Path) -> None:
    for n in range(20):
        (tmp_path / str(n)).write_text(f"text {n}")

    async def action(runner: ToolRunner) -> list[str]:
        replies = await asyncio.gather(*(runner.call("Read", file_path=str(n)) for n in range(20)))
        return [reply.text for reply in replies]

    assert run_tools(tmp_path, action) == [f"1\ttext {n}" for n in range(20)]
