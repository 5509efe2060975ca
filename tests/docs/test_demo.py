"""`make demo`: what it prints, and that it keeps to itself."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from tests.cli.golden import check_golden
from tests.cli.run_cli import clean_env
from tests.docs.pages import same_output

ROOT = Path(__file__).parents[2]
#: How long something took is another matter.
_TIMES = re.compile(r"^ *\d+\.\d\d s", re.MULTILINE)


class Demo(Struct, frozen=True):
    status: int
    stdout: str
    stderr: str
    home: Path

    @property
    def text(self) -> str:
        return without_times(self.stdout)


def without_times(text: str) -> str:
    return _TIMES.sub(" N.NN s", text)


def tree(directory: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(directory)): file.read_bytes() for file in directory.rglob("*") if file.is_file()
    }


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Played once, for a user whose own hooks would leave a trace."""
    home = tmp_path_factory.mktemp("home")
    (home / ".claude").mkdir()
    ours = {"hooks": [{"type": "command", "command": f"touch {home / 'trace'}"}]}
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [ours]}}))
    ran = subprocess.run(
        [sys.executable, "examples/demo.py"],
        cwd=ROOT,
        env=clean_env(home, {"XDG_STATE_HOME": str(home / "state"), "HOOKLINE_TRACE": "1"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    return Demo(ran.returncode, ran.stdout, ran.stderr, home)


def test_the_demo_tells_its_story(demo: Demo) -> None:
    assert (demo.status, demo.stderr) == (0, "")
    check_golden("demo.txt", demo.text)


@pytest.mark.parametrize(
    "whose", ["Claude Code", "Gemini CLI", "CodeWhale", "Reasonix", "gen-code", "Hookline"]
)
def test_hooks_of_every_agent_speak_in_the_demo(demo: Demo, whose: str) -> None:
    assert f"{whose}'s hook (" in demo.text


def test_the_demo_keeps_out_of_the_users_home(demo: Demo) -> None:
    assert list(tree(demo.home)) == [".claude/settings.json"]


def test_the_demo_leaves_its_project_as_it_is(demo: Demo) -> None:
    assert demo.status == 0
    project = tree(ROOT / "examples" / "demo")
    assert project["shop.py"].endswith(b"return net\n")
    assert not [name for name in project if "__pycache__" in name or name == ".gen/found"]


def test_the_readme_shows_a_part_of_the_demo(demo: Demo) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.findall(r"^```console\n\$ make demo\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
    assert len(shown) == 1
    assert same_output(demo.text, without_times(shown[0]))
    assert len(shown[0].splitlines()) < len(demo.text.splitlines())
