"""Test the command that a message about a missing package names: it must work for how Hookline was installed."""

import shlex
import sys
from importlib.metadata import metadata
from pathlib import Path

import pytest

from hookline.extras import command_for, how_to_add

CHECKOUT, INDEX = ("/home/ada/my code", True), ("", False)


@pytest.mark.parametrize(
    ("installer", "origin", "prefix", "expected"),
    [
        ("pip", CHECKOUT, "/v", "/v/bin/python -m pip install -e '/home/ada/my code[agent]'"),
        ("pip", ("/tmp/h-0.1.0.whl", False), "/v", "/v/bin/python -m pip install '/tmp/h-0.1.0.whl[agent]'"),
        ("pip", INDEX, "/v", "/v/bin/python -m pip install 'hookline[agent]'"),
        (
            "pip", ("git+https://example.com/h@abc", False), "/v",
            "/v/bin/python -m pip install 'hookline[agent] @ git+https://example.com/h@abc'",
        ),
        ("uv", ("/src", True), "/v", "uv pip install --python /v/bin/python -e '/src[agent]'"),
        ("uv", ("/src", False), "/home/ada/.local/share/uv/tools/hookline", "uv tool install --force '/src[agent]'"),
        ("pip", ("/src", False), "/home/ada/.local/share/pipx/venvs/hookline", "pipx install --force '/src[agent]'"),
    ],
)  # fmt: skip
def test_the_command_is_of_the_program_that_installed_it(
    installer: str, origin: tuple[str, bool], prefix: str, expected: str
) -> None:
    assert command_for("agent", installer, origin, prefix) == expected


def test_the_command_for_this_installation_finds_the_extra() -> None:
    words = shlex.split(how_to_add("otel"))
    root = Path(__file__).parents[1]
    assert words[-1] == f"{root}[otel]", words
    assert Path(words[0]).samefile(sys.executable), words
    assert "otel" in (metadata("hookline").get_all("Provides-Extra") or ())


def test_no_page_names_a_command_that_needs_a_release() -> None:
    root = Path(__file__).parents[1]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("src/hookline/**/*.py")]
    assert [str(page) for page in pages if "pip install 'hookline[" in page.read_text()] == []
