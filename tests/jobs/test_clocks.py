"""Jobs that were accepted under another time of day, or another clock of the machine, are run all the same, once."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.run_cli import clean_env, run_cli

_YEAR = 365 * 86_400
_HOOKS = """
[[hooks.PostToolUse]]
[[hooks.PostToolUse.hooks]]
name = "scan"
command = "echo $HOOKLINE_ATTEMPT >> $HOME/ran"
async = true
durable = true
"""
#: Accepts an event under a time of day that is wrong by so many seconds, and dies before its hook is run.
_ACCEPTS = """
import asyncio, os, sys, time
now = time.time
time.time = lambda: now() + float(sys.argv[1])
from hookline import Engine
from hookline.events import POST_TOOL_USE, ToolResult

async def main():
    engine = Engine()
    engine.load(os.getcwd())
    result = ToolResult(tool_name="Bash", tool_input={}, tool_response={})
    await engine.session("s", cwd=os.getcwd()).dispatch(POST_TOOL_USE, result)
    os._exit(0)

asyncio.run(main())
"""
#: By when the machine was started: another clock for leases.
_ANOTHER_CLOCK = ["unshare", "--user", "--map-root-user", "--fork", "--time", "--monotonic", "100000000"]


def _has_clocks() -> bool:
    try:
        return subprocess.run([*_ANOTHER_CLOCK, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.parametrize(
    ("by", "wrong"),
    [
        ([], 10 * _YEAR),
        ([], -10 * _YEAR),
        pytest.param(
            _ANOTHER_CLOCK,
            0,
            marks=pytest.mark.skipif(not _has_clocks(), reason="there are no time namespaces here"),
        ),
    ],
)
def test_a_job_of_a_wrong_clock_is_run_by_the_next_process(tmp_path: Path, by: list[str], wrong: int) -> None:
    config = tmp_path / ".config/hookline/hooks.toml"
    config.parent.mkdir(parents=True)
    config.write_text(_HOOKS)
    env = clean_env(tmp_path)
    command = [*by, sys.executable, "-c", _ACCEPTS, str(wrong)]
    subprocess.run(command, env=env, cwd=tmp_path, timeout=60, check=True)
    assert "1 job: 1 queued" in run_cli(["jobs"], tmp_path, tmp_path).stdout
    ran = run_cli(["jobs", "run"], tmp_path, tmp_path)
    assert (ran.status, ran.stdout) == (0, "1 job run to the end, 0 left to others, 0 dead letters\n")
    assert (tmp_path / "ran").read_text() == "1\n"
    over = run_cli(["jobs", "--all"], tmp_path, tmp_path)
    assert "1 settled" in over.stdout
