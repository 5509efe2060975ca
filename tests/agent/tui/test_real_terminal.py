"""The real program at a real terminal: it comes, works and goes, and leaves nothing behind."""

import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.agent.tui.real_terminal import RealTerminal
from tests.cli.run_cli import clean_env
from tests.trusting import trust_all_of
from tests.waiting import wait_until, waits_for

LINE = [sys.executable, "-m", "hookline.app", "agent", "--model", "scripted:script.json"]
_READ = {"name": "Read", "input": {"file_path": "script.json"}}


class Workspace:
    def __init__(self, home: Path) -> None:
        self.home, self.project = home, home / "project"
        self.project.mkdir()
        trust_all_of(home, self.project)

    def write(self, script: list[dict[str, Any]], **hooks: str) -> None:
        (self.project / "script.json").write_text(json.dumps(script))
        entries = {
            event: [{"hooks": [{"type": "command", "command": command, "name": f"the {event} one"}]}]
            for event, command in hooks.items()
        }
        (self.project / ".hookline").mkdir(exist_ok=True)
        (self.project / ".hookline/hooks.json").write_text(json.dumps({"hooks": entries}))

    @contextmanager
    def terminal(self, line: list[str] = LINE) -> Generator[RealTerminal]:
        terminal = RealTerminal(line, self.project, clean_env(self.home))
        try:
            yield terminal
        finally:
            terminal.close()

    def left_running(self) -> list[str]:
        """Processes that were started for this home, and still run."""
        found: list[str] = []
        for directory in Path("/proc").iterdir():
            if not directory.name.isdigit():
                continue
            try:
                environment = (directory / "environ").read_bytes()
                line = (directory / "cmdline").read_bytes()
            except OSError:
                continue
            if f"HOME={self.home}\0".encode() in environment and line:
                found.append(line.replace(b"\0", b" ").decode())
        return found


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def _ended(terminal: RealTerminal, workspace: Workspace, status: int = 0) -> None:
    assert terminal.status() == status
    assert terminal.settings == terminal.before
    wait_until(lambda: not workspace.left_running())


def test_a_session_from_its_start_to_ctrl_d(workspace: Workspace) -> None:
    """A paste is one prompt, Ctrl-C keeps what has arrived, another width is another layout."""
    slow = "".join(f"line {number} of it\n\n" for number in range(2000))
    workspace.write(
        [{"text": "You pasted."}, {"text": slow, "pause": 0.02}, {"text": "The end."}],
        SessionEnd="cat > ended.json",
    )
    with workspace.terminal() as terminal:
        terminal.until("Enter sends")
        assert "an agent under your hooks" in terminal.text
        assert terminal.settings != terminal.before
        # The end of the last line begins no further one.
        terminal.pastes("".join(f"pasted {number}\r" for number in range(40)))
        terminal.until("> [pasted 40 lines]")
        terminal.types("\r")
        terminal.until("You pasted.")
        assert terminal.everything.count("> pasted 0") == 1
        assert "  pasted 39" in terminal.everything
        terminal.types("stream\r")
        terminal.until("line 8 of it")
        terminal.until("scripted:script.json writes")
        terminal.types("\x03")
        terminal.until("■ stopped: the model's answer")
        assert "line 1 of it" in terminal.everything
        terminal.resize(24, 60)
        terminal.types("is it there")
        # It says less on a narrower line.
        terminal.until(
            lambda: "is it there" in terminal.text and not terminal.text.rstrip().endswith("F2 hooks")
        )
        terminal.types("\r")
        terminal.until("The end.")
        terminal.until("idle ·")
        terminal.types("\x04")
        _ended(terminal, workspace, 0)
    assert json.loads((workspace.project / "ended.json").read_text())["reason"] == "prompt_input_exit"
    assert b"\x1b[?1049h" not in terminal.raw


def test_lines_typed_before_the_screen_is_there_are_prompts_in_order(workspace: Workspace) -> None:
    workspace.write([{"text": "One."}, {"text": "Two."}, {"text": "Three."}], SessionEnd="cat > ended.json")
    with workspace.terminal([*LINE, "zeroth"]) as terminal:
        terminal.types("first\rsecond\rhalf a li")
        terminal.until("Three.")
        terminal.until("> half a li")
        shown = terminal.everything[terminal.everything.index("an agent under") :]
        order = ("> zeroth", "One.", "> first", "Two.", "> second", "Three.", "> half a li")
        places = [shown.index(each) for each in order]
        assert places == sorted(places)
        terminal.types("\x15/exit\r")
        _ended(terminal, workspace)
    assert json.loads((workspace.project / "ended.json").read_text())["reason"] == "prompt_input_exit"


def test_ctrl_c_in_a_hook_ends_the_hook_and_twice_it_leaves(workspace: Workspace) -> None:
    workspace.write(
        [{"tool_calls": [_READ]}, {"text": "never"}], PreToolUse="sleep 3600", SessionEnd="cat > ended.json"
    )
    with workspace.terminal() as terminal:
        terminal.until("Enter sends")
        terminal.types("go\r")
        terminal.until("hook the PreToolUse one")
        wait_until(lambda: any("sleep 3600" in line for line in workspace.left_running()))
        terminal.types("\x03")
        terminal.until("■ stopped: hook the PreToolUse one (PreToolUse)")
        wait_until(lambda: not any("sleep 3600" in line for line in workspace.left_running()))
        # The first one leaves, if it comes soon after the one that stopped the hook; else the second one does.
        terminal.types("\x03")
        terminal.until(
            lambda: (workspace.project / "ended.json").exists() or "\n Ctrl-C again leaves" in terminal.text
        )
        if not (workspace.project / "ended.json").exists():
            terminal.types("\x03")
        _ended(terminal, workspace, 130)
    assert json.loads((workspace.project / "ended.json").read_text())["reason"] == "prompt_input_exit"


def test_a_signal_ends_the_hook_that_runs_and_the_session(workspace: Workspace) -> None:
    """SIGTERM, as of a machine that shuts down: the end of the session is seen, its hooks have their time."""
    ends = f"cat > ended.json; {waits_for(workspace.project / 'go')}"
    workspace.write([{"tool_calls": [_READ]}], PreToolUse="sleep 3600", SessionEnd=ends)
    with workspace.terminal() as terminal:
        terminal.until("Enter sends")
        terminal.types("go\r")
        wait_until(lambda: any("sleep 3600" in line for line in workspace.left_running()))
        terminal.process.terminate()
        terminal.until("hook the SessionEnd one")
        assert not any("sleep 3600" in line for line in workspace.left_running())
        (workspace.project / "go").touch()
        _ended(terminal, workspace, 130)
    assert json.loads((workspace.project / "ended.json").read_text())["reason"] == "other"


def test_a_closed_terminal_ends_the_session_and_everything_in_it(workspace: Workspace) -> None:
    workspace.write([{"tool_calls": [_READ]}], PreToolUse="sleep 3600", SessionEnd="cat > ended.json")
    with workspace.terminal() as terminal:
        terminal.until("Enter sends")
        terminal.types("go\r")
        wait_until(lambda: any("sleep 3600" in line for line in workspace.left_running()))
        terminal.hangs_up()
        terminal.status()
        wait_until(lambda: not workspace.left_running())
    assert json.loads((workspace.project / "ended.json").read_text())["reason"] == "other"


def test_it_is_suspended_and_comes_back(workspace: Workspace) -> None:
    workspace.write([{"text": "Still here."}])
    with workspace.terminal(["/bin/bash", "--norc", "--noediting", "-i"]) as terminal:
        terminal.types(f"PS1='shell: '; {' '.join(LINE)}\r")
        terminal.until("Enter sends")
        terminal.types("\x1a")
        terminal.until("Stopped")
        terminal.types("echo $((6 * 7)) in the shell\r")
        terminal.until("42 in the shell")
        terminal.types("fg\r")
        terminal.until(lambda: terminal.text.rstrip().endswith("F2 hooks"))
        terminal.types("hello\r")
        terminal.until("Still here.")
        terminal.types("\x04")
        terminal.until(lambda: terminal.text.rstrip().endswith("shell:"))
        terminal.types("exit\r")
        assert terminal.status() == 0


def test_a_hook_that_writes_to_the_terminal_does_not_wreck_it(workspace: Workspace) -> None:
    mess = r"\033[?1049h\033[2J\033[10;1H\033[31;7mBOO\033[5;10r\033[?25l\033(0"
    workspace.write(
        [{"tool_calls": [_READ]}, {"text": "All is well."}],
        PreToolUse=f"printf '{mess}' > $(cat device); stty -F $(cat device) sane; touch ran",
    )
    with workspace.terminal() as terminal:
        (workspace.project / "device").write_text(os.ttyname(terminal.device))
        terminal.until("Enter sends")
        terminal.types("go\r")
        terminal.until("All is well.")
        assert (workspace.project / "ran").exists()
        terminal.until(lambda: terminal.settings[3] != terminal.before[3])
        terminal.types("hello there")
        terminal.until("> hello there")
        rows = [row.rstrip() for row in terminal.text.rstrip().split("\n")]
        assert rows[-2] == "> hello there"
        assert "idle ·" in rows[-1]
        terminal.types("\x15\x04")
        _ended(terminal, workspace, 0)
