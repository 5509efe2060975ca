import fnmatch

from hypothesis import given
from hypothesis import strategies as st

from hookline.matching.file_rules import doubtful, from_here, from_root
from tests.every import every
from tests.matching.rules_on_calls import allows, fires


@every(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/proj/src/a.py", True),
        ("src/**", "/proj/src/deep/er/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/**", "./src/./a.py", True),
        ("./src/**", "src/a.py", True),
        ("src/**", "/proj/docs/a.md", False),
        ("src/**", "/proj/srcs/a.md", False),
        ("src/**", "/other/src/a.py", False),
        ("src/**", "/proj/lib/src/a.py", False),
        ("src/*", "/proj/src/a.py", True),
        ("src/*.py", "/proj/src/a.md", False),
        ("src", "/proj/src/a.py", True),
        ("src/", "/proj/src/a.py", True),
        ("src/", "/proj/a.py", False),
        ("*.py", "/proj/deep/a.py", True),
        ("*.py", "/proj/deep/a.pyc", False),
        (".env", "/proj/x/.env", True),
        (".env", "/proj/x/.envrc", False),
        ("**/src/**", "/proj/a/src/b", True),
        ("**/src/**", "/elsewhere/src/b", True),
        ("**/.env", "/etc/.env", True),
        ("a/**/b", "/proj/a/b", True),
        ("a/**/b", "/proj/a/x/y/b", True),
        ("a/**/b", "/proj/a/x/y/c", False),
        ("**", "/proj/x", True),
        ("//etc/**", "/etc/passwd", True),
        ("//etc/**", "/proj/etc/passwd", False),
        ("/etc/**", "/etc/passwd", True),
        ("/src/**", "/proj/src/a", True),
        ("/etc/**", "../etc/passwd", True),
        ("/etc/**", "//etc//passwd", True),
        ("~/.ssh/**", "/home/bob/.ssh/id", True),
        ("~/.ssh/**", "/root/.ssh/id", True),
        ("~/.ssh/**", "~/.ssh/id", True),
        ("~/.ssh/**", "/proj/ssh/id", False),
        ("../other/**", "/other/x", True),
        ("../other/**", "/proj/x", False),
        ("*.{ts,tsx}", "/proj/a.tsx", True),
        ("*.{ts,tsx}", "/proj/a.js", False),
        ("a?c", "/proj/abc", True),
        ("a?c", "/proj/a/c", False),
        ("[ab].py", "/proj/a.py", True),
        ("[!ab].py", "/proj/a.py", False),
        ("[!ab].py", "/proj/c.py", True),
        ("a[b", "/proj/a[b", True),
        ("a[b]c", "/proj/a[b]c", False),
        ("a**b/c", "/proj/a/x/b/c", True),
        ("a.b", "/proj/axb", False),
        ("a+(b)", "/proj/a+(b)", True),
        ("SRC/**", "/proj/src/a", True),
        ("caf\u00e9/**", "/proj/cafe\u0301/a", True),
        ("src/**", "/proj/src", True),
        ("docs/**", "/proj/src/../docs/a", True),
        ("docs/**", "/proj/link/../x", True),
        ("docs/**", "~/x", True),
        ("docs/**", "/proj/a\u200bb", True),
        ("docs/**", "/proj/a\nb", True),
        ("docs/**", "/proj/" + "x" * 5000, True),
    ],
)
def test_a_rule_about_files_is_a_glob_below_the_working_directory(pattern: str, path: str, expected: bool):
    assert fires(f"Edit({pattern})", "Edit", file_path=path) is expected


def test_every_field_that_names_a_file_is_read():
    assert fires("NotebookEdit(src/**)", "NotebookEdit", notebook_path="/proj/src/a.ipynb")
    assert fires("Write(src/**)", "Write", path="/proj/x", file_path="/proj/src/a")
    assert not fires("Edit(src/**)", "Write", file_path="/proj/src/a")
    assert fires("Edit(src/**)", "Edit", file_path="")
    assert fires("Edit(src/**)", "Edit", file_path=5)


def test_without_a_known_working_directory_a_rule_still_sees_its_files():
    assert fires("Edit(src/**)", "Edit", cwd="", file_path="src/a")
    assert not fires("Edit(src/**)", "Edit", cwd="", file_path="docs/a")
    assert fires("Edit(src/**)", "Edit", cwd="", file_path="/anywhere/src/a")
    assert not fires("Edit(src/**)", "Edit", cwd="", file_path="/anywhere/docs/a")
    assert fires("Edit(/etc/**)", "Edit", cwd="", file_path="x")
    assert not allows("Edit(src/**)", "Edit", cwd="", file_path="src/a")


@every(
    ("pattern", "arguments", "expected"),
    [
        ("src/**", {"path": "/proj"}, True),
        ("src/**", {"path": "."}, True),
        ("src/**", {}, True),
        ("src/**", {"path": "src/deep"}, True),
        ("src/**", {"path": "/proj/docs"}, False),
        ("src/deep/**", {"path": "src"}, True),
        ("//etc/**", {"path": "/"}, True),
        ("//etc/**", {"path": "/proj"}, False),
        ("*.py", {"path": "docs"}, False),
        ("~/.ssh/**", {"path": "/"}, True),
        ("src/**", {"path": "docs", "pattern": "../src/*"}, True),
        ("src/**", {"path": "docs", "pattern": "/proj/src/*"}, True),
        ("src/**", {"path": "docs", "pattern": "*.md"}, False),
        ("src/**", {"path": "docs", "pattern": "a..b", "glob": "*.md"}, False),
        ("src/**", {"path": "docs", "glob": "~/x"}, True),
    ],
)
def test_a_search_concerns_all_below_where_it_starts(pattern: str, arguments: dict[str, str], expected: bool):
    assert fires(f"Grep({pattern})", "Grep", **arguments) is expected
    assert not allows(f"Grep({pattern})", "Grep", **arguments)


@every(
    ("pattern", "path", "expected"),
    [
        ("src/**", "/proj/src/a.py", True),
        ("src/**", "src/a.py", True),
        ("src/**", "/proj/src/../secret", False),
        ("src/**", "SRC/a.py", False),
        ("src", "src/a.py", False),
        ("*.py", "a/b.py", True),
        ("**", "/etc/passwd", False),
        ("**/x", "../x", False),
        ("/etc/**", "/etc/x", True),
        ("/src/**", "/proj/src/x", False),
        ("~/x/**", "/home/b/x/y", False),
        ("**", "x" * 1020, False),
        ("**", "~/x", False),
    ],
)
def test_a_permission_covers_only_files_that_are_meant_beyond_doubt(pattern: str, path: str, expected: bool):
    assert allows(f"Edit({pattern})", "Edit", file_path=path) is expected


def test_every_path_of_a_call_must_be_covered():
    assert not allows("Edit(src/**)", "Edit", file_path="/proj/src/a", path="/etc/x")
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
    assert fires(f"Edit({pattern})", "Edit", file_path=f"/proj/{name}") is (
        pattern == "*" or fnmatch.fnmatchcase(name, pattern)
    )


@given(st.lists(names, min_size=1, max_size=4), st.lists(names, min_size=1, max_size=5))
def test_a_directory_concerns_exactly_what_is_below_it(directory: list[str], path: list[str]):
    below = path[: len(directory)] == directory
    pattern = "/".join(directory)
    assert fires(f"Edit({pattern}/**)", "Edit", file_path="/proj/" + "/".join(path)) is below
