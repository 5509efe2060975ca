"""A queue that others wrote grants no trust: what it names runs only if the user's trust store says so."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import Engine
from hookline.events import POST_TOOL_USE
from hookline.journal.file import jobs_path
from hookline.model.payloads import ToolResult
from tests.homes import at_home
from tests.hook.daemon.daemons import Daemons
from tests.jobs.test_hooks import configure, hookline, user
from tests.waiting import wait_until


def evil(directory: Path) -> Path:
    """A project's file with a hook, under a name that no agent reads by default."""
    file = directory / "project" / "jobs.json"
    configure(file, f"touch {directory}/ran", name="evil")
    (directory / "project" / ".git").mkdir(exist_ok=True)
    return file


def queue_names(file: Path, env: dict[str, str]) -> Path:
    """A queue with a job that says that the user named this file, as its own process would write it."""

    async def main() -> None:
        engine = Engine(env=env)
        engine.load(file.parent, [str(file)])
        engine.background.closed = True  # so that it is accepted and not begun
        result = ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response={})
        await engine.session("s", cwd=file.parent).dispatch(POST_TOOL_USE, result)
        await engine.close(0)

    asyncio.run(main())
    path = Path(jobs_path(env))
    assert b'"scope":"flag"' in b"".join(each.read_bytes() for each in path.parent.glob("jobs.sqlite*"))
    return path


def by_command(directory: Path) -> None:
    hookline(directory, "jobs", "run", status=1)


def by_agent(directory: Path) -> None:
    (directory / "model.json").write_text(json.dumps([{"text": "done"}]))
    hookline(directory, "agent", "--json", "go", "--model", f"scripted:{directory}/model.json")


@pytest.mark.parametrize("run", [by_command, by_agent])
def test_a_queue_does_not_run_the_file_that_it_says_the_user_named(
    tmp_path: Path, run: Callable[[Path], None]
) -> None:
    file, env = evil(tmp_path), user(tmp_path)
    queue_names(file, env)
    run(tmp_path)
    states = {job["hook"]: job["state"] for job in json.loads(hookline_jobs(tmp_path))["jobs"]}
    assert states.get("evil") in ("dead", "queued")
    assert not (tmp_path / "ran").exists()
    hookline(tmp_path, "jobs", "run", status=1)  # whatever the agent left of it
    assert not (tmp_path / "ran").exists()


def hookline_jobs(directory: Path) -> str:
    words = [sys.executable, "-m", "hookline", "jobs", "--json"]
    return subprocess.run(
        words, env=user(directory), cwd=directory, capture_output=True, check=False
    ).stdout.decode()


def test_such_a_job_runs_where_the_user_trusts_the_directory(tmp_path: Path) -> None:
    file, env = evil(tmp_path), user(tmp_path)
    settings = tmp_path / "home/.config/hookline/settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f'trusted = ["{tmp_path}/project"]\n')
    queue_names(file, env)
    hookline(tmp_path, "jobs", "run")
    assert (tmp_path / "ran").exists()


def test_a_daemon_runs_nothing_that_a_queue_says_the_user_named(daemons: Daemons, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    file = evil(tmp_path)
    daemons.write("~/.config/hookline/settings.toml", "")
    queue_names(file, daemons.env)
    daemons.start()

    def judged() -> bool:
        done = daemons.in_process(b"", "jobs", "--json").stdout
        return [job["state"] for job in json.loads(done)["jobs"]] == ["dead"]

    wait_until(judged)
    assert not (tmp_path / "ran").exists()


def test_a_daemon_takes_no_place_and_no_program_from_the_call_that_starts_it(daemons: Daemons) -> None:
    """Asked of the process itself: its environment is what its hooks and Python would see."""
    bad = str(daemons.project)
    given = {"XDG_STATE_HOME": bad, "XDG_CONFIG_HOME": bad, "PYTHONPATH": bad, "TMPDIR": bad}
    path = {"PATH": f"{bad}:{os.environ['PATH']}"}
    env = {**daemons.env, **given, **path, "HOOKLINE_RELAY": f"none {daemons.directory}"}
    program = shutil.which("hookline", path=os.path.dirname(sys.executable)) or "hookline"
    subprocess.run(
        [program, *at_home(["hook", "--dialect", "claude-code"], env)], input=daemons.payload(),
        cwd=daemons.project, env=env, capture_output=True, check=False,
    )  # fmt: skip
    wait_until(lambda: daemons.status() is not None)
    status = daemons.status()
    assert status is not None
    found = Path(f"/proc/{status.pid}/environ").read_text()
    assert bad not in found
    assert "XDG_" not in found
    assert "PYTHON" not in found
