import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.matching.filerules import doubtful, from_here, from_root
from tests.matching.helpers import allows, fires


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/work/src/a.py", True),
        ("src/**", "/work/src/deep/er/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/**", "./src/./a.py", True),
        ("./src/**", "src/a.py", True),
        ("src/**", "/work/docs/a.md", False),
        ("src/**", "/work/srcs/a.md", False),
        ("src/**", "/other/src/a.py", False),
        ("src/**", "/work/lib/src/a.py", False),
        ("src/*", "/work/src/a.py", True),
        ("src/*.py", "/work/src/a.md", False),
        ("src", "/work/src/a.py", True),
        ("src/", "/work/src/a.py", True),
        ("src/", "/work/a.py", False),
        ("*.py", "/work/deep/a.py", True),
        ("*.py", "/work/deep/a.pyc", False),
        (".env", "/work/x/.env", True),
        (".env", "/work/x/.envrc", False),
        ("**/src/**", "/work/a/src/b", True),
        ("**/src/**", "/elsewhere/src/b", True),
        ("**/.env", "/etc/.env", True),
        ("a/**/b", "/work/a/b", True),
        ("a/**/b", "/work/a/x/y/b", True),
        ("a/**/b", "/work/a/x/y/c", False),
        ("**", "/work/x", True),
        ("//etc/**", "/etc/passwd", True),
        ("//etc/**", "/work/etc/passwd", False),
        ("/etc/**", "/etc/passwd", True),
        ("/src/**", "/work/src/a", True),
        ("/etc/**", "../etc/passwd", True),
        ("/etc/**", "//etc//passwd", True),
        ("~/.ssh/**", "/home/bob/.ssh/id", True),
        ("~/.ssh/**", "/root/.ssh/id", True),
        ("~/.ssh/**", "~/.ssh/id", True),
        ("~/.ssh/**", "/work/ssh/id", False),
        ("../other/**", "/other/x", True),
        ("../other/**", "/work/x", False),
        ("*.{ts,tsx}", "/work/a.tsx", True),
        ("*.{ts,tsx}", "/work/a.js", False),
        ("a?c", "/work/abc", True),
        ("a?c", "/work/a/c", False),
        ("[ab].py", "/work/a.py", True),
        ("[!ab].py", "/work/a.py", False),
        ("[!ab].py", "/work/c.py", True),
        ("a[b", "/work/a[b", True),
        ("a[b]c", "/work/a[b]c", False),
        ("a**b/c", "/work/a/x/b/c", True),
        ("a.b", "/work/axb", False),
        ("a+(b)", "/work/a+(b)", True),
        ("SRC/**", "/work/src/a", True),
        ("caf\u00e9/**", "/work/cafe\u0301/a", True),
        ("src/**", "/work/src", True),
        ("docs/**", "/work/src/../docs/a", True),
        ("docs/**", "/work/link/../x", True),
        ("docs/**", "~/x", True),
        ("docs/**", "/work/a\u200bb", True),
        ("docs/**", "/work/a\nb", True),
        ("docs/**", "/work/" + "x" * 5000, True),
    ],
)
def test_a_rule_about_files_is_a_glob_below_the_working_directory(pattern: str, path: str, expected: bool):
    assert fires(f"Edit({pattern})", "Edit", file_path=path) is expected


def test_every_field_that_names_a_file_is_read():
    assert fires("NotebookEdit(src/**)", "NotebookEdit", notebook_path="/work/src/a.ipynb")
    assert fires("Write(src/**)", "Write", path="/work/x", file_path="/work/src/a")
    assert not fires("Edit(src/**)", "Write", file_path="/work/src/a")
    assert fires("Edit(src/**)", "Edit", file_path="")
    assert fires("Edit(src/**)", "Edit", file_path=5)


def test_without_a_known_working_directory_a_rule_still_sees_its_files():
    assert fires("Edit(src/**)", "Edit", cwd="", file_path="src/a")
    assert not fires("Edit(src/**)", "Edit", cwd="", file_path="docs/a")
    assert fires("Edit(src/**)", "Edit", cwd="", file_path="/anywhere/src/a")
    assert not fires("Edit(src/**)", "Edit", cwd="", file_path="/anywhere/docs/a")
    assert fires("Edit(/etc/**)", "Edit", cwd="", file_path="x")
    assert not allows("Edit(src/**)", "Edit", cwd="", file_path="src/a")


@pytest.mark.parametrize(
    ("pattern", "arguments", "expected"),
    [
        ("src/**", {"path": "/work"}, True),
        ("src/**", {"path": "."}, True),
        ("src/**", {}, True),
        ("src/**", {"path": "src/deep"}, True),
        ("src/**", {"path": "/work/docs"}, False),
        ("src/deep/**", {"path": "src"}, True),
        ("//etc/**", {"path": "/"}, True),
        ("//etc/**", {"path": "/work"}, False),
        ("*.py", {"path": "docs"}, False),
        ("~/.ssh/**", {"path": "/"}, True),
        ("src/**", {"path": "docs", "pattern": "../src/*"}, True),
        ("src/**", {"path": "docs", "pattern": "/work/src/*"}, True),
        ("src/**", {"path": "docs", "pattern": "*.md"}, False),
        ("src/**", {"path": "docs", "pattern": "a..b", "glob": "*.md"}, False),
        ("src/**", {"path": "docs", "glob": "~/x"}, True),
    ],
)
def test_a_search_concerns_all_below_where_it_starts(pattern: str, arguments: dict[str, str], expected: bool):
    assert fires(f"Grep({pattern})", "Grep", **arguments) is expected
    assert not allows(f"Grep({pattern})", "Grep", **arguments)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/work/src/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/**", "/work/src/../secret", False),
        ("src/**", "SRC/a.py", False),
        ("src", "src/a.py", False),
        ("*.py", "a/b.py", True),
        ("**", "/etc/passwd", False),
        ("**/x", "../x", False),
        ("/etc/**", "/etc/x", True),
        ("/src/**", "/work/src/x", False),
        ("~/x/**", "/home/b/x/y", False),
        ("**", "x" * 1020, False),
        ("**", "~/x", False),
    ],
)
def test_a_permission_covers_only_files_that_are_meant_beyond_doubt(pattern: str, path: str, expected: bool):
    assert allows(f"Edit({pattern})", "Edit", file_path=path) is expected


def test_every_path_of_a_call_must_be_covered():
    assert not allows("Edit(src/**)", "Edit", file_path="/work/src/a", path="/etc/x")
    assert not allows("Edit(src/**)", "Edit")


def test_paths_are_normalised_as_text():
    assert from_root("a/./b/../c", "/w") == "/w/a/c"
    assert from_root("//etc/x", "/w") == "/etc/x"
    assert from_root("a", "") is None
    assert from_here("/w/a", "/w") == "a"
    assert from_here("/w", "/w") == "."
    assert from_here("/x/y", "/w/z") == "../../x/y"
    assert from_here("/x", "") is None
    assert not doubtful("../a/b")
    assert doubtful("a/../b")


names = st.text("ab.", min_size=1, max_size=4).filter(lambda name: name not in {".", ".."})


@given(st.text("ab*?", min_size=1, max_size=6), names)
def test_a_pattern_without_a_slash_agrees_with_fnmatch(pattern: str, name: str):
    if "**" in pattern or set(pattern) <= {"."}:
        return
    assert fires(f"Edit({pattern})", "Edit", file_path=f"/work/{name}") is (
        pattern == "*" or fnmatch.fnmatchcase(name, pattern)
    )


@given(st.lists(names, min_size=1, max_size=4), st.lists(names, min_size=1, max_size=5))
def test_a_directory_concerns_exactly_what_is_below_it(directory: list[str], path: list[str]):
    below = path[: len(directory)] == directory
    pattern = "/".join(directory)
    assert fires(f"Edit({pattern}/**)", "Edit", file_path="/work/" + "/".join(path)) is below
