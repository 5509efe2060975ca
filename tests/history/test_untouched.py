"""Looking back changes nothing: seen from outside, by strace."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run_cli import clean_env
from tests.history.past import START, ClaudeSession, rules
from tests.trusting import trust_all_of

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

_OPENED = re.compile(r'open(?:at)?\((?:AT_FDCWD, )?"([^"]*)", ([A-Z_|0-9]+)')
_CHANGED = re.compile(
    r'\b(?:unlink|rename|mkdir|rmdir|link|symlink|truncate|chmod)(?:at2?|at)?\((?:[^")]*)"([^"]*)"'
)
_CONNECTED = re.compile(r"connect\(\d+, \{sa_family=(\w+)")


@pytest.mark.parametrize("command", ["backtest", "coverage"])
def test_nothing_is_written_outside_the_users_state_and_nothing_is_connected(
    tmp_path: Path, command: str
) -> None:
    home = tmp_path / "home"
    project = home / "project"
    project.mkdir(parents=True)
    (home / ".local/state").mkdir(parents=True)
    trust_all_of(home, project)
    session = ClaudeSession(home=home, id="s", cwd=str(project), at=START, lines=[], calls=[]).prompt("go")
    session.call("touch here; curl http://127.0.0.1:9/x")
    session.write()
    marker = home / "it-ran"
    hook = f'[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\nname = "x"\ncommand = "touch {marker}"\n'
    (home / ".config/hookline").mkdir(parents=True, exist_ok=True)
    (home / ".config/hookline/hooks.toml").write_text(rules(touch="deny Bash(touch *)") + hook)
    trace = tmp_path / "trace"
    options = ["-f", "-s", "4096", "-o", str(trace), "-e", "trace=%file,connect,execve"]
    words = [*options, sys.executable, "-m", "hookline"]
    env = {**clean_env(home), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(
        ["strace", *words, command, "--since", "all"], cwd=project, env=env, capture_output=True, check=False
    )
    text = trace.read_text(errors="replace")
    assert str(project) in text, "it was really traced"
    opened = [
        path for path, flags in _OPENED.findall(text) if re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", flags)
    ]
    written = [*opened, *_CHANGED.findall(text)]
    own = str(home / ".local/state/hookline")
    assert [path for path in written if not path.startswith((own, "/dev/"))] == []
    assert _CONNECTED.findall(text) == []
    started = re.findall(r'execve\("([^"]*)"[^\n]* = 0', text)
    assert [Path(path).name for path in started if not Path(path).name.startswith("python")] == []
    assert not marker.exists()
