"""Every command on a how-to page runs, and prints what the page shows."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.run_cli import clean_env, workspace
from tests.docs.pages import MARK, Command, PageFile, same_output, script, steps
from tests.every import every
from tests.trusting import trust_nothing
from tests.warm_process import warm_path

DOCS = Path(__file__).parents[2] / "docs"
_CALL = 'hookline hook --home "$HOME" --dialect'
PAGES = sorted(page for part in ("how-to", "explanation", "dialects") for page in DOCS.glob(f"{part}/*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_do_what_it_shows(page: Path, tmp_path: Path) -> None:
    todo = steps(page.read_text())
    commands = [step for step in todo if isinstance(step, Command)]
    if not commands:
        return
    with workspace() as where:
        trust_nothing(where.home)
        ran = subprocess.run(
            # The pages are written for a user whose home is in the user database, which a call believes.
            ["bash", "-c", script(todo, tmp_path).replace("hookline hook --dialect", _CALL)],
            cwd=where.project,
            env=clean_env(where.home, {"PATH": f"{warm_path()}{os.pathsep}{clean_env(where.home)['PATH']}"}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=100,
        )
    pieces = ran.stdout.decode().replace(f" --home {where.home}", "").split(MARK)
    outputs, statuses = pieces[0:-1:2], pieces[1::2]
    assert len(statuses) == len(commands), ran.stdout.decode()
    for command, output, status in zip(commands, outputs, statuses, strict=True):
        received = f"$ {command.line}\n{output}\n(status {status})"
        if command.expected is None:
            assert status in ("0", "2"), received
        else:
            assert same_output(output, command.expected), received


def test_a_page_is_read_in_its_order() -> None:
    page = (
        "Write:\n\n<!-- file: a.toml -->\n```toml\nx = 1\n```\n\n<!-- file: b.json\n{}\n-->\n<!-- run: true -->\n"
        "```console\n$ echo \\\n> two\ntwo\n$ false\n```\n"
    )
    assert steps(page) == [
        PageFile("a.toml", "x = 1\n"),
        PageFile("b.json", "{}\n"),
        Command("true"),
        Command("echo \\\ntwo", "two"),
        Command("false"),
    ]


@every(
    ("found", "expected", "same"),
    [
        ("a\nb\nc\n", "a\n...\nc", True),
        ("a\nc\n", "a\n...\nc", True),
        ("a\nb\n", "a\n...", True),
        ("a\n", "a\n...", True),
        ("x\ny\n", "...", True),
        ("took 12.3 ms   here\n", "took 1 ms here", True),
        ("took 12.3 ms here\n", "took ... here", True),
        ("took 12.3 ms there\n", "took ... here", False),
        ("a\nb\n", "a", False),
        ("a\n", "a\nb", False),
        ("a+b\n", "a.b", False),
        ("  a\n", "a", False),
    ],
)
def test_output_is_the_same_but_for_what_varies(found: str, expected: str, same: bool) -> None:
    assert same_output(found, expected) is same


def test_output_without_a_command_is_refused() -> None:
    with pytest.raises(ValueError, match="begins with a command"):
        steps("```console\nno command\n```\n")
