"""Test the reader of git's settings against git itself, and on text that git would refuse."""

import subprocess
from pathlib import Path

from hookline.shell import HOLE
from hookline.shell.kinds.git_format import parse_settings
from hookline.shell.kinds.settings import settings_of_file


def test_the_format_of_git_is_read(tmp_path: Path) -> None:
    file = tmp_path / "c"
    file.write_text(
        '# a\n[core]\n\tbare = false ; b\n[remote "a\\"b \\\\ c"] push = "+x  y"  # c\n\tmirror\n'
        '[Section.Sub]\r\n\tKey = one \\\n  two\\tthree "#4" \r\n[alias]\n  p = "push \\"-f\\""\n  empty =\n',
        encoding="utf-8",
    )
    said = subprocess.run(
        ["git", "config", "--file", file, "--list", "-z"], capture_output=True, check=True, text=True
    ).stdout.split("\0")
    expected = [
        (key, value if newline else "true")
        for key, newline, value in (one.partition("\n") for one in said if one)
    ]

    assert [(line.key, line.value) for line in parse_settings(file.read_text(encoding="utf-8"))] == expected


def test_lines_that_git_refuses_are_marked() -> None:
    for text in (
        "[x\n",
        "push = +main\n",
        "[remote]\n= x\n",
        "[a]\nb c\n",
        '[a]\nb = "c\n',
        f"[alias]\n{HOLE} = !rm y\n",
    ):
        assert not [*parse_settings(text)][-1].plain, text


def test_what_they_hold_is_read_all_the_same() -> None:
    assert [*settings_of_file(f"[alias]\n{HOLE} = !rm y\n\\n x = push -f\nword\n")] == [
        f"alias.{HOLE}=!rm y",
        "alias.\\n x=push -f",
        "alias.word=true",
    ]
