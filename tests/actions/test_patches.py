"""Test which files a patch changes, also one that was written to hide them."""

import pytest

from hookline.actions.patches import PatchError, patch_in_line, read_patch, write_patch
from tests.every import every


def _files(text: str) -> list[tuple[str, ...]]:
    return [
        (change.does, change.path, *([change.moved_to] if change.moved_to else []))
        for change in read_patch(text)
    ]


def test_marked_patches() -> None:
    text = (
        "*** Begin Patch\r\n*** Add File: new\r\n+x\r\n"
        "*** Update File: a b\r\n*** Move to: c\r\n@@ f\r\n x\r\n-y\r\n+z\r\n*** Delete File: d\r\n*** End Patch\r\n"
    )

    assert _files(text) == [("write", "new"), ("edit", "a b", "c"), ("delete", "d")]
    edit = read_patch(text)[1]
    assert (edit.removed, edit.added) == (["x", "y"], ["x", "z"])


def test_blanks_before_a_mark_do_not_hide_a_file() -> None:
    text = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n  *** Delete File: .env\n\t*** Add File: b\n*** End Patch"

    assert _files(text) == [("edit", "a"), ("delete", ".env"), ("write", "b")]


def test_many_blanks_before_a_mark_do_not_hide_a_file() -> None:
    text = f"*** Begin Patch\n*** Add File: a\n+x\n{' ' * 60}*** Delete File: .env\n*** End Patch"

    assert _files(text) == [("write", "a"), ("delete", ".env")]


def test_text_that_is_added_is_no_mark() -> None:
    text = "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n*** End Patch"

    assert _files(text) == [("write", "a")]


def test_unified_diffs() -> None:
    text = """diff --git a/x b/x
index 1..2 100644
--- a/x
+++ b/x
@@ -1,2 +1,2 @@
-removed
+++ added
 kept
diff --git a/old b/new
similarity index 100%
rename from old
rename to new
diff --git a/picture b/picture
index 1..2
GIT binary patch
--- /dev/null
+++ b/made\t2026-01-01
@@ -0,0 +1 @@
+x
--- gone
+++ /dev/null
@@ -1 +0,0 @@
-x
"""

    assert _files(text) == [
        ("edit", "x"),
        ("edit", "old", "new"),
        ("edit", "picture"),
        ("write", "made"),
        ("delete", "gone"),
    ]
    assert _files('+++ "b/.env"\n@@ -1 +1 @@\n-a\n+b') == [("edit", ".env")]


def test_lines_that_could_name_a_file_do() -> None:
    """They could also be text that is removed and added, and not everybody counts the lines to find out."""
    assert _files("--- a/x\n+++ b/x\n@@ -1,99 +1,99 @@\n-a\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-b") == [
        ("edit", "x"),
        ("edit", ".env"),
    ]


_HEAD = "--- a/ok\n+++ b/ok\n"
_MADE = "@@ -0,0 +1 @@\n+x\n"


@every(
    ("text", "file"),
    [
        (f"{_HEAD}@@ -0,0 +1,0 @@\n+++ b/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}@@ -0,0 +1,1 @@\n-a\n-b\n+++ b/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}@@ -1,1 +1,1 @@\n\\\n\\\n\\\n\\\n+++ b/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}@@ -1,99 +1,99 @@\n-a\ndiff it\n+++ b/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}@@ it @@\n-a\n+++ b/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}{_MADE}--- a/.env\n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x", ("delete", ".env")),
        (f"{_HEAD}{_MADE}--- a/.env\n+++ dev/null\n@@ -1 +0,0 @@\n-x", ("delete", ".env")),
        (f"{_HEAD}{_MADE}--- /dev/null\n+++ a//etc/x\n{_MADE}", ("write", "/etc/x")),
        (f"{_HEAD}{_MADE}--- b/.env\n+++ a/.env\n{_MADE}", ("edit", ".env")),
        (f"{_HEAD}{_MADE}--- /dev/null\n+++ \tb/.env\t2026\n{_MADE}", ("write", ".env")),
        (f'{_HEAD}{_MADE}--- /dev/null\n+++ "b/\\056env"\n{_MADE}', ("write", ".env")),
        (f"{_HEAD}{_MADE}diff --git a/my file b/my file\nold mode 1\nnew mode 2", ("edit", "my file")),
    ],
)
def test_no_way_to_write_a_diff_hides_a_file(text: str, file: tuple[str, ...]) -> None:
    """As those read it who apply patches: they are less strict about headers than git."""
    assert _files(text) == [("edit", "ok"), file]


def test_marks_mean_nothing_in_a_unified_diff() -> None:
    text = f"*** Update File: ok\n--- /dev/null\n+++ b/.env\n{_MADE}"

    assert [change.path for change in read_patch(text, unified=True)] == [".env"]
    assert [change.path for change in read_patch("*** Delete File: a", unified=True)] == ["a"]


def test_what_is_no_patch() -> None:
    for text in ("", "hello", "*** Begin Patch\n*** End Patch", "*** Update Fil: a", "-x\n+y"):
        with pytest.raises(PatchError, match="names no file"):
            read_patch(text)
    with pytest.raises(PatchError, match="too long"):
        read_patch("+\n" * 200_000)


def test_patches_in_a_line() -> None:
    one = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
    other = one.replace("a\n", ".env\n")

    assert patch_in_line("git apply x") is None
    assert patch_in_line(f"echo '{one}'") is None
    both = patch_in_line(f"apply_patch <<'E'\n{one}\nE\napply_patch <<'E'\n{other}\nE\n")
    assert both is not None
    assert _files(both) == [("write", "a"), ("write", ".env")]


@every("unified", [False, True])
@every(
    ("kind", "arguments", "files"),
    [
        ("write", {"file_path": "/p/a", "content": "x\ny"}, [("write", "/p/a")]),
        ("edit", {"file_path": "/p/a", "old_string": "x", "new_string": "y\nz"}, [("edit", "/p/a")]),
        ("delete", {"file_path": "/p/a"}, [("delete", "/p/a")]),
        ("move", {"source": "/p/a", "destination": "/p/b"}, [("edit", "/p/a", "/p/b")]),
    ],
)
def test_an_act_as_a_patch_is_read_as_that_act(
    kind: str, arguments: dict[str, str], files: list[tuple[str, ...]], unified: bool
) -> None:
    text = write_patch(kind, arguments, unified=unified)

    assert _files(text) == files
    (change,) = read_patch(text)
    assert "\n".join(change.added) == arguments.get("content", arguments.get("new_string", ""))
    assert "\n".join(change.removed) == arguments.get("old_string", "")
