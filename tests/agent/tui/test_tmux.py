"""Test in tmux, which wraps drawn rows when it becomes narrower, and keeps erased ones whole."""

import shlex
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.agent.tui.test_real_terminal import LINE, Workspace
from tests.cli.run_cli import clean_env
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    """A new server with one window."""

    def __init__(self, workspace: Workspace) -> None:
        self._words = ["tmux", "-S", str(workspace.home / "socket"), "-f", "/dev/null"]
        self._env = {**clean_env(workspace.home), "LC_ALL": "C.UTF-8"}
        self._cwd = workspace.project
        self.does("new-session", "-d", "-x", "100", "-y", "30", shlex.join(LINE))

    def does(self, *words: str) -> str:
        done = subprocess.run(
            [*self._words, *words], env=self._env, cwd=self._cwd, check=True, capture_output=True, text=True
        )
        return done.stdout

    @property
    def rows(self) -> list[str]:
        """Everything, also what has scrolled away."""
        return [row.rstrip() for row in self.does("capture-pane", "-p", "-S", "-").rstrip().split("\n")]

    def until(self, wanted: str) -> None:
        wait_until(lambda: any(wanted in row for row in self.rows))

    def is_quiet(self) -> None:
        """tmux wraps at once and reports it later: rows drawn in between go wrong for every program."""
        before: list[str] = []
        while before != (before := self.rows):
            time.sleep(0.3)


@pytest.fixture
def tmux(tmp_path: Path) -> Generator[Tmux]:
    workspace = Workspace(tmp_path)
    workspace.write([{"text": "Here."}])
    one = Tmux(workspace)
    yield one
    one.does("kill-server")


def test_a_narrower_window_leaves_no_stale_rows(tmux: Tmux) -> None:
    tmux.until("Enter sends")
    tmux.does("send-keys", "some words that are wrapped when it is narrow", "C-j", "and a second line")
    wait_until(lambda: "idle ·" in tmux.rows[-1] and tmux.rows[-2].endswith("a second line"))
    tmux.is_quiet()
    tmux.does("resize-window", "-x", "45", "-y", "30")
    # Redrawn, the line at the bottom is shorter; wrapped, it would continue in the next row.
    wait_until(lambda: "idle" in tmux.rows[-1] and tmux.rows[-2].endswith("a second line"))
    tmux.is_quiet()
    tmux.does("resize-window", "-x", "90", "-y", "30")
    wait_until(lambda: tmux.rows[-1].endswith("F2 hooks"))
    rows = tmux.rows
    assert rows[-4:-1] == ["─" * 20, "> some words that are wrapped when it is narrow", "  and a second line"]
    # Neither are rows that were drawn earlier, at the start, anywhere above.
    for drawn in ("─" * 5, "starting", "idle ·", "some words"):
        assert sum(drawn in row for row in rows) <= 1, "\n".join(rows)
