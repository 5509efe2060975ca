"""Grep: lines of files, in bounded time whatever the expression."""

import asyncio
import os
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from hookline.agent.tools.base import ToolOutput
from hookline.agent.tools.grep import LineSearch, SearchedFiles
from hookline.agent.tools.off_loop import WorkLimit
from tests.agent.tools.tool_runner import ToolRunner, run_tools
from tests.every import every


def make(directory: Path, files: dict[str, str | bytes]) -> None:
    for age, (name, content) in enumerate(files.items()):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        os.utime(path, (10_000 - age, 10_000 - age))


def grep(directory: Path, pattern: str, **arguments: Any) -> ToolOutput:
    async def action(runner: ToolRunner) -> ToolOutput:
        return await runner.call("Grep", pattern=pattern, **arguments)

    return run_tools(directory, action)


def refused(directory: Path, pattern: str, **arguments: Any) -> str:
    async def action(runner: ToolRunner) -> str:
        return str(await runner.fails("Grep", pattern=pattern, **arguments))

    return run_tools(directory, action)


FILES: dict[str, str | bytes] = {
    "z/new.py": "import os\nimport sys\n\ndef main():\n    pass\n",
    "a/old.py": "IMPORT\nimport re\n",
    "notes.md": "nothing here\n",
}


def test_files_are_named_last_changed_first(tmp_path: Path) -> None:
    make(tmp_path, FILES)
    reply = grep(tmp_path, "^import")
    new, old = str(tmp_path / "z/new.py"), str(tmp_path / "a/old.py")
    assert reply.text == f"Found 2 files\n{new}\n{old}"
    assert reply.response == {
        "mode": "files_with_matches",
        "filenames": [new, old],
        "numFiles": 2,
        "truncated": False,
    }


def test_lines_are_shown_with_their_numbers(tmp_path: Path) -> None:
    make(tmp_path, FILES)
    reply = grep(tmp_path, "import", output_mode="content")
    assert reply.text == "a/old.py:2:import re\nz/new.py:1:import os\nz/new.py:2:import sys"
    assert reply.response["numLines"] == 3
    plain = grep(tmp_path, "import re", output_mode="content", **{"-n": False})
    assert plain.text == "a/old.py:import re"


def test_lines_are_counted(tmp_path: Path) -> None:
    make(tmp_path, FILES)
    reply = grep(tmp_path, "import", output_mode="count", **{"-i": True})
    assert reply.text == "a/old.py:2\nz/new.py:2"
    assert (reply.response["numFiles"], reply.response["numMatches"]) == (2, 4)


def test_lines_around_are_shown_once_and_apart(tmp_path: Path) -> None:
    make(tmp_path, {"f": "\n".join(str(n) for n in range(1, 21))})
    reply = grep(tmp_path, "^(5|7|15)$", output_mode="content", **{"-C": 1})
    assert reply.text.split("\n") == [
        *("f-4-4", "f:5:5", "f-6-6", "f:7:7", "f-8-8", "--", "f-14-14", "f:15:15", "f-16-16"),
    ]
    assert grep(tmp_path, "^5$", output_mode="content", **{"-A": 2}).text == "f:5:5\nf-6-6\nf-7-7"
    assert grep(tmp_path, "^1$", output_mode="content", **{"-B": 2}).text == "f:1:1"


def test_files_are_chosen_by_glob(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "x", "sub/b.py": "x", "c.js": "x"})

    def found(glob: str) -> list[str]:
        return grep(tmp_path, "x", glob=glob, output_mode="count").text.split("\n")

    assert found("*.py") == ["a.py:1", "sub/b.py:1"]
    assert found("sub/**") == ["sub/b.py:1"]
    assert found("*.{js,ts}") == ["c.js:1"]
    assert found("!*.py") == ["c.js:1"]


def test_a_file_or_another_directory_can_be_searched(tmp_path: Path) -> None:
    make(tmp_path, {"a/f": "x", "b/f": "x"})
    assert grep(tmp_path, "x", path="a", output_mode="count").text == "a/f:1"
    assert grep(tmp_path, "x", path=str(tmp_path / "b/f"), output_mode="count").text == "b/f:1"


def test_no_match_is_said(tmp_path: Path) -> None:
    make(tmp_path, FILES)
    assert grep(tmp_path, "absent").text == "No files found"
    assert grep(tmp_path, "absent", output_mode="content").text == "No matches found"
    assert grep(tmp_path, "absent", output_mode="count").text == "No matches found"


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("content", "[the search is incomplete: it was ended after 3 lines]"),
        ("count", "[the search is incomplete: it was ended after 3 files]"),
        ("files_with_matches", "[the search is incomplete: 3 of 9 files are shown]"),
    ],
)
def test_only_so_many_are_shown_and_it_is_said(tmp_path: Path, mode: str, said: str) -> None:
    make(tmp_path, {f"{n}": "x\n" for n in range(9)})
    reply = grep(tmp_path, "x", output_mode=mode, head_limit=3)
    assert reply.text.split("\n")[-1] == said
    assert reply.response["truncated"] is True
    assert "not whole" not in grep(tmp_path, "x", output_mode=mode, head_limit=9).text
    assert "not whole" not in grep(tmp_path, "x", output_mode=mode, head_limit=0).text


def test_long_lines_and_long_answers_are_cut(tmp_path: Path) -> None:
    make(tmp_path, {"wide": "x" * 100_000, "many": "xyz\n" * 100_000})
    wide = grep(tmp_path, "x", path="wide", output_mode="content").text
    assert wide == "wide:1:" + "x" * 500 + "[... line cut]"
    many = grep(tmp_path, "x", path="many", output_mode="content", head_limit=0).text
    assert len(many) < 31_000
    assert "incomplete" in many


def test_binary_files_links_repositories_and_huge_files_are_skipped(tmp_path: Path) -> None:
    make(tmp_path, {"text": "x", "bin": b"x\0", ".git/config": "x", "node_modules/a": "x", "out/secret": "x"})
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link").symlink_to("../out/secret")
    with open(tmp_path / "huge", "wb") as huge:
        huge.write(b"x\n")
        huge.truncate(17 << 20)
    reply = grep(tmp_path, "x", output_mode="count")
    assert reply.text.split("\n") == [
        "text:1",
        "out/secret:1",
        "[the search is incomplete: 1 files of more than 16 MiB were not searched]",
    ]
    assert grep(tmp_path, "x", path="in").text == "No files found"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_what_may_not_be_read_is_said(tmp_path: Path) -> None:
    make(tmp_path, {"open": "x", "closed": "x", "folder/f": "x"})
    (tmp_path / "closed").chmod(0)
    (tmp_path / "folder").chmod(0)
    said = grep(tmp_path, "x", output_mode="count").text
    (tmp_path / "folder").chmod(0o700)
    assert said.split("\n") == [
        "open:1",
        "[the search is incomplete: 1 directories could not be read]",
        "[the search is incomplete: 1 files could not be read]",
    ]


def test_a_pipe_in_the_way_hangs_nobody(tmp_path: Path) -> None:
    make(tmp_path, {"text": "x"})
    os.mkfifo(tmp_path / "pipe")
    assert grep(tmp_path, "x", output_mode="count").text == "text:1"
    assert refused(tmp_path, "x", path="pipe") == (
        f"{tmp_path}/pipe is a pipe; only files and directories can be searched."
    )
    assert (
        refused(tmp_path, "x", path="pip") == f"{tmp_path}/pip does not exist. Did you mean {tmp_path}/pipe?"
    )


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?=x)", "lookahead is not supported"),
        (r"(a)\1", "back-references are not supported"),
        ("(", "a ( is never closed"),
        (r"\Ax", "lines are searched one by one"),
        ("x" * 5000, "longer than 4096 characters"),
        ("((a{1,100}){1,100}){1,100}", ""),
        ("\ud800", "it is not valid Unicode text"),
    ],
)
def test_an_expression_that_cannot_be_is_refused(tmp_path: Path, pattern: str, said: str) -> None:
    text = refused(tmp_path, pattern)
    assert text.startswith("The pattern cannot be used: ")
    assert said in text


def lines(pattern: str, content: bytes, *, ignore_case: bool = False) -> list[int]:
    return list(LineSearch(pattern, ignore_case=ignore_case).lines(content, WorkLimit()))


@every(
    ("pattern", "content", "expected"),
    [
        ("b", b"a\nb\nab\n", [2, 3]),
        ("^b$", b"ab\nb\nba", [2]),
        ("$", b"a\n\nb", [1, 2, 3]),
        ("^$", b"a\n\nb\n", [2]),
        ("x*", b"a\nb\n", [1, 2]),
        ("a\\sb", b"a\nb\na b\n", [3]),
        ("(?s)a.b", b"a\nb\naxb", [3]),
        ("[^x]+b", b"a\nb\nxb\nab\n", [4]),
        ("a", b"", []),
        (r"\\A", b"x\\A\n", [1]),
        ("é.", "caf\u00e9s\n".encode(), [1]),
    ],
)
def test_an_expression_is_found_within_a_line(pattern: str, content: bytes, expected: list[int]) -> None:
    assert lines(pattern, content) == expected


def test_case_counts_unless_it_is_ignored() -> None:
    assert lines("ABC", b"abc\nABC\n") == [2]
    assert lines("ABC", b"abc\nABC\n", ignore_case=True) == [1, 2]


def test_lines_are_counted_across_windows() -> None:
    content = b"".join(b"line %d %s\n" % (n, b"x" * (n % 200)) for n in range(1, 5001))
    assert lines(r"line \d*77\b", content) == [n for n in range(1, 5001) if str(n).endswith("77")]
    wide = b"a\n" + b"y" * 300_000 + b"\nneedle\n" + b"z" * 300_000 + b"needle"
    assert lines("needle", wide) == [3, 4]


def test_carriage_returns_do_not_hide_the_end_of_a_line(tmp_path: Path) -> None:
    make(tmp_path, {"f": b"one\r\ntwo\r\n"})
    assert grep(tmp_path, "one$", output_mode="content").text == "f:1:one"


def test_an_expression_made_to_run_for_ever_does_not(tmp_path: Path) -> None:
    make(tmp_path, {"f": "a" * 200_000})
    started = monotonic()
    assert grep(tmp_path, "(a+)+$b").text == "No files found"
    assert grep(tmp_path, "(a|aa)*c").text == "No files found"
    assert monotonic() - started < 10


def test_a_search_ends_when_nobody_waits_any_more(tmp_path: Path) -> None:
    make(tmp_path, {f"{n}/f": "x\n" * 100 for n in range(50)})

    async def action(runner: ToolRunner) -> None:
        searching = asyncio.create_task(runner.call("Grep", pattern="x"))
        await asyncio.sleep(0)
        searching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await searching

    run_tools(tmp_path, action)
    gone = WorkLimit()
    gone.cancel()
    files = SearchedFiles(str(tmp_path), lambda _path: True, gone)
    assert list(files.files()) == []
    assert files.left_out == ["it took too long and was stopped"]
    assert list(LineSearch("x", ignore_case=False).lines(b"x\n", gone)) == []
