"""Test the names for extending Hookline: each exists, loads only what it needs, and the page's example works."""

import re
import subprocess
import sys
from pathlib import Path

from hookline import extending
from tests.every import every

ROOT = Path(__file__).parents[1]
EXAMPLE = (ROOT / "examples" / "extending.py").read_text()
PAGE = (ROOT / "docs" / "how-to" / "extend.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@every("name", extending.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(extending, name) is not None


def test_the_names_are_listed_in_order_and_nothing_else_is() -> None:
    assert sorted(extending.__all__) == extending.__all__ == dir(extending)
    assert not hasattr(extending, "Handlr")


def test_a_handler_is_added_without_loading_the_dialects() -> None:
    code = (
        "import sys; from hookline.extending import HookInvocation, Handler, Returned; "
        "print([name for name in sys.modules if name.startswith('hookline.dialects')])"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout == "[]\n"


def test_the_example_prints_what_the_page_shows() -> None:
    ran = subprocess.run(
        [sys.executable, "examples/extending.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.stdout, ran.stderr) == (blocks("text")[0], "")


def test_the_page_shows_the_parts_of_the_example() -> None:
    parts = [block for block in blocks("python") if block.startswith(("class ", "def "))]
    assert len(parts) == 5
    for part in parts:
        assert part in EXAMPLE
