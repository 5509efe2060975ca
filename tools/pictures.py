"""`make pictures`: the pictures of the README, from a real run in a scratch home.

The terminal is drawn as SVG from what the commands print there; the console is photographed by an installed Chromium.
"""

import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from tests.docs.first_hour import settle
from tools.browser import found_browser
from tools.pictures_svg import as_svg
from tools.screen_pictures import draw_screens

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
_PROGRAM = str(Path(sys.executable).parent / "hookline")
_WIDTH = 100
#: The commands of the picture, the line that it begins with, and how many it shows.
_SHOWN: tuple[tuple[Sequence[str], str, int], ...] = (
    (("doctor",), "Errors", 10),
    (("guard", "add", "recommended", "--user"), "added", 8),
    (("backtest",), "4 sessions", 11),
    (("guard", "test", "cd app && git push -uf"), "denied", 4),
)
#: Calls that an agent makes for the picture of the console.
_CALLS = (
    "git status", "npm test", "git diff", "ls src", "npm run build", "git log -3", "grep -rn TODO src", "git push",
    "curl -T a.tgz https://files.example.com", "rm -rf node_modules", "cp app.conf /etc/app.conf", "sudo ls",
    "cat .env", "git push -f",
)  # fmt: skip


def main() -> int:
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as top:
        home = Path(top).resolve() / "ada"
        project = home / "shop"
        project.mkdir(parents=True)
        settle(home, project)
        env = {**os.environ, "HOME": str(home), "COLUMNS": str(_WIDTH), "TERM": "xterm-256color"}
        draw_screens(home / "screens", env, PICTURES)
        (PICTURES / "terminal.svg").write_text(_terminal(project, env, home))
        browser = found_browser()
        if browser is None:
            print("pictures: no Chromium is installed: docs/pictures/console.png stays as it is")
            return 0
        _work(project, env)
        _console(project, env, browser, PICTURES / "console.png")
    return 0


def _terminal(project: Path, env: Mapping[str, str], home: Path) -> str:
    console = Console(record=True, width=_WIDTH, file=open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 all along
    for words, begin, most in _SHOWN:
        line = " ".join(f"'{word}'" if " " in word else word for word in words)
        console.print(Text(f"$ hookline {line}", style="bold"))
        lines = "".join(_printed([_PROGRAM, *words], project, env)).replace(str(home), "~").split("\n")
        texts = [Text.from_ansi(each) for each in lines]
        start = next(number for number, text in enumerate(texts) if text.plain.startswith(begin))
        if start:
            console.print(Text("...", style="dim"))
        for text in texts[start : start + most]:
            console.print(text)
        if any(text.plain.strip() for text in texts[start + most :]):
            console.print(Text("...", style="dim"))
        console.print()
    return as_svg(console, "~/shop")


def _printed(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Yield what a command prints at a terminal."""
    master, slave = pty.openpty()
    os.set_blocking(master, True)
    _resize(slave)
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        yield part.decode().replace("\r\n", "\n")
    process.wait()
    os.close(master)


def _resize(terminal: int) -> None:
    import fcntl  # noqa: PLC0415 not on every system
    import struct  # noqa: PLC0415
    import termios  # noqa: PLC0415

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, _WIDTH, 0, 0))


def _work(project: Path, env: Mapping[str, str]) -> None:
    """Let an agent call Hookline, in a project without mistakes, with one more guard in shadow mode."""
    for agent in (".claude", ".gemini"):
        shutil.rmtree(project / agent)
    run = [_PROGRAM, "install", "claude-code", "--yes"]
    subprocess.run(run, cwd=project, env=env, stdout=subprocess.DEVNULL, check=True)
    run = [_PROGRAM, "guard", "add", "privilege", "--shadow", "--user"]
    subprocess.run(run, cwd=project, env=env, stdout=subprocess.DEVNULL, check=True)
    for number, line in enumerate(_CALLS * 2):
        call: dict[str, Any] = {
            "hook_event_name": "PreToolUse", "session_id": f"session-{number % 3}", "cwd": str(project),
            "tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": f"call-{number}",
        }  # fmt: skip
        words = [_PROGRAM, "hook", "--home", env["HOME"], "--dialect", "claude-code", "PreToolUse"]
        # With both streams read, as agents do: a call at a terminal counts as one by hand.
        subprocess.run(
            words, cwd=project, env=env, input=json.dumps(call).encode(), capture_output=True, check=False
        )


def _console(project: Path, env: Mapping[str, str], browser: str, picture: Path) -> None:
    """Start the console and photograph its first page."""
    words = [_PROGRAM, "console", "--no-open", "--json", "--port", "0"]
    with subprocess.Popen(words, cwd=project, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link: str = json.loads(process.stdout.readline())["link"]
        try:
            subprocess.run(
                [
                    *(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
                    *("--force-color-profile=srgb", "--window-size=1280,620", "--virtual-time-budget=4000"),
                    *(f"--user-data-dir={env['HOME']}/.browser", f"--screenshot={picture}", link),
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
                timeout=60,
            )
        finally:
            process.terminate()


if __name__ == "__main__":
    sys.exit(main())
