"""Glob: names of files, newest first, never more than can be read."""

import os
from pathlib import Path

import pytest

from hookline import PatternError
from hookline.agent.tools.base import ToolOutput
from hookline.agent.tools.off_loop import WorkLimit
from hookline.agent.tools.walk import DirectoryWalk, path_pattern, split_base
from tests.agent.tools.tool_runner import ToolRunner, run_tools
from tests.every import every


def make(directory: Path, *names: str) -> None:
    """Files with these names, each a second older than the one before."""
    for age, name in enumerate(names):
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
        os.utime(path, (10_000 - age, 10_000 - age))


def glob(directory: Path, pattern: str, path: str = "") -> ToolOutput:
    async def action(runner: ToolRunner) -> ToolOutput:
        return await runner.call("Glob", pattern=pattern, path=path)

    return run_tools(directory, action)


def names(directory: Path, pattern: str, path: str = "") -> list[str]:
    found: list[str] = glob(directory, pattern, path).response["filenames"]
    return [os.path.relpath(name, directory) for name in found]


@every(
    ("pattern", "path", "fits"),
    [
        ("*.py", True, ["a.py", "src/b.py", "src/x/c.py", "a/b.py"]),
        ("src/*.py", True, ["src/b.py"]),
        ("src/**/*.py", True, ["src/b.py", "src/x/y/c.py"]),
        ("src/**", True, ["src/b", "src/x/c"]),
        ("**", True, ["a", "b/c"]),
        ("**/x/*", True, ["x/a", "b/x/a"]),
        ("*.{ts,tsx}", True, ["a.ts", "b/a.tsx"]),
        ("[a-c]?", True, ["b1"]),
        ("[!a]x", True, ["bx"]),
        ("./top", True, ["top"]),
        ("a\\*", True, ["a*"]),
        ("{a", True, ["{a"]),
        ("a,b", True, ["a,b"]),
        ("./top", False, ["below/top"]),
        ("*.py", False, ["a.pyc", "py"]),
        ("src/*.py", False, ["a/src/b.py", "src/x/b.py", "b.py"]),
        ("src/**", False, ["src", "xsrc/a"]),
        ("a*c", False, ["a/c"]),
        ("a?c", False, ["a/c"]),
        ("[!a]x", False, ["ax", "/x/y"]),
        ("a.c", False, ["abc"]),
    ],
)
def test_patterns_fit_as_people_expect(pattern: str, path: bool, fits: list[str]) -> None:
    matches = path_pattern(pattern)
    assert [matches(one) for one in fits] == [path] * len(fits)


@pytest.mark.parametrize("pattern", ["[z-a]", "x" * 5000, "\ud800"])
def test_a_pattern_that_cannot_be_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(PatternError):
        path_pattern(pattern)

    async def action(runner: ToolRunner) -> str:
        return str(await runner.fails("Glob", pattern=pattern))

    assert run_tools(tmp_path, action).startswith("The pattern cannot be used: ")


@pytest.mark.parametrize(
    ("pattern", "base", "rest"),
    [
        ("*.py", "", "*.py"),
        ("src/lib/*.py", "src/lib", "./*.py"),
        ("src/main.py", "src", "./main.py"),
        ("/etc/*.conf", "/etc", "./*.conf"),
        ("/*.conf", "/", "./*.conf"),
        ("../x/**", "../x", "./**"),
        ("a*/b", "", "./a*/b"),
    ],
)
def test_the_directory_in_a_pattern_is_where_the_search_starts(pattern: str, base: str, rest: str) -> None:
    assert split_base(pattern) == (base, rest)


def test_a_pattern_bound_to_a_directory_is_not_looked_for_deeper(tmp_path: Path) -> None:
    make(tmp_path, "src/main.py", "src/x/main.py")
    assert names(tmp_path, "src/main.py") == ["src/main.py"]
    assert names(tmp_path, "./main.py") == []


def test_files_come_last_changed_first(tmp_path: Path) -> None:
    make(tmp_path, "new.txt", "sub/middle.txt", "old.txt")
    reply = glob(tmp_path, "**/*.txt")
    assert reply.text == f"{tmp_path}/new.txt\n{tmp_path}/sub/middle.txt\n{tmp_path}/old.txt"
    assert reply.response["numFiles"] == 3
    assert reply.response["truncated"] is False


def test_directories_repositories_and_packages_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.js", ".git/a.js", "node_modules/x/a.js", "sub/node_modules/a.js", ".hidden/a.js")
    (tmp_path / "folder.js").mkdir()
    assert sorted(names(tmp_path, "*.js")) == [".hidden/a.js", "a.js"]


def test_only_a_hundred_are_shown_and_it_is_said(tmp_path: Path) -> None:
    make(tmp_path, *(f"{n:03}.txt" for n in range(150)))
    reply = glob(tmp_path, "*.txt")
    assert reply.response["numFiles"] == 100
    assert reply.response["truncated"] is True
    lines = reply.text.split("\n")
    assert lines[0].endswith("/000.txt")
    assert lines[-1] == "[100 of 150 files are shown; a narrower pattern shows others]"


def test_other_places_are_searched_when_they_are_named(tmp_path: Path) -> None:
    make(tmp_path, "here/a.txt", "there/b.txt")

    async def action(runner: ToolRunner) -> list[list[str]]:
        runner.place.cwd = str(tmp_path / "here")
        calls = (
            {"pattern": "*.txt"},
            {"pattern": "*.txt", "path": "../there"},
            {"pattern": "../there/*.txt"},
            {"pattern": f"{tmp_path}/there/*"},
        )
        return [(await runner.call("Glob", **call)).response["filenames"] for call in calls]

    there = [str(tmp_path / "there" / "b.txt")]
    assert run_tools(tmp_path, action) == [[str(tmp_path / "here" / "a.txt")], there, there, there]


def test_links_are_named_but_not_followed(tmp_path: Path) -> None:
    make(tmp_path, "real/a.txt")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "link.txt").symlink_to("real/a.txt")
    assert sorted(names(tmp_path, "*.txt")) == ["link.txt", "real/a.txt"]


def test_nothing_found_and_no_such_directory_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert glob(tmp_path, "*.none").text == "No files found"

    async def action(runner: ToolRunner) -> list[str]:
        return [str(await runner.fails("Glob", pattern="*", path=path)) for path in ("nowhere", "file")]

    assert run_tools(tmp_path, action) == [
        f"{tmp_path}/nowhere does not exist.",
        f"{tmp_path}/file is not a directory.",
    ]


def test_a_name_that_is_no_utf8_does_not_spoil_the_list(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.txt", "wb"):
        pass
    reply = glob(tmp_path, "*.txt")
    assert reply.text == f"{tmp_path}/caf?.txt"
    reply.text.encode()


def test_a_walk_ends_after_so_many_entries_or_when_nobody_waits(tmp_path: Path) -> None:
    make(tmp_path, *(f"d{n}/{m}" for n in range(10) for m in range(10)))
    walk = DirectoryWalk(str(tmp_path), WorkLimit(), most=30)
    assert len(list(walk.files())) < 30
    assert walk.left_out == ["only the first 30 files and directories were visited"]
    late = DirectoryWalk(str(tmp_path), WorkLimit(-1))
    assert list(late.files()) == []
    assert late.left_out == ["it took too long and was stopped"]


def test_a_walk_goes_in_order_and_counts_what_it_cannot_see(tmp_path: Path) -> None:
    make(tmp_path, "b", "a/2", "a/1", "c/x")
    walk = DirectoryWalk(str(tmp_path), WorkLimit())
    assert [path for path, _ in walk.files()] == ["b", "a/1", "a/2", "c/x"]
    assert walk.left_out == []
    gone = DirectoryWalk(str(tmp_path / "gone"), WorkLimit())
    assert list(gone.files()) == []
    assert gone.left_out == ["1 directories could not be read"]
