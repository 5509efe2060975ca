"""Test durable hooks in an engine, in the command, and in the agent: accepted, run, retried, delivered."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hookline import Engine
from hookline.config.engine import hooks_of
from hookline.events import POST_TOOL_USE, PRE_TOOL_USE
from hookline.jobs.file import DurableFile
from hookline.jobs.port import JobSettings
from hookline.journal.file import jobs_path
from hookline.model.payloads import ToolCall, ToolResult
from tests.waiting import wait_until
from tests.warm_process import run_warm

RESULT = ToolResult(tool_name="Bash", tool_input={"command": "ls"}, tool_response={})


def queue(directory: Path) -> DurableFile:
    return DurableFile(str(directory / "jobs.sqlite"), back_off=(0.01,))


def hookline(directory: Path, *words: str, status: int = 0) -> str:
    """Run the command, for a user whose home is in the directory."""
    env = user(directory)
    done = run_warm(words, cwd=directory / "project", env=env)
    assert done.status == status, (done.stdout, done.stderr)
    return done.stdout.decode()


def user(directory: Path) -> dict[str, str]:
    home = directory / "home"
    home.mkdir(exist_ok=True)
    (directory / "project").mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home)}


def configure(file: Path, command: str, **settings: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    entry = {"command": command, "asyncRewake": True, "durable": True, **settings}
    file.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": [entry]}]}}))


def accept(directory: Path, cwd: Path) -> str:
    """Accept a job in a process that then ends without having begun it."""

    async def main() -> str:
        env = user(directory)
        engine = Engine(env=env)
        engine.load(cwd)
        engine.background.closed = True  # so that nothing begins
        await engine.session("s", cwd=cwd, project_dir=cwd).dispatch(POST_TOOL_USE, RESULT)
        (job,) = engine.jobs.queue.open_jobs("s")
        await engine.close(0)
        return job.id

    return asyncio.run(main())


def test_a_hook_is_accepted_run_and_told_with_its_event_and_attempt(tmp_path: Path) -> None:
    async def main() -> None:
        async with Engine(durable=queue(tmp_path)) as engine:
            command = f'echo "$HOOKLINE_EVENT_ID $HOOKLINE_ATTEMPT" >>{tmp_path}/ran; echo found >&2; exit 2'
            engine.add(POST_TOOL_USE, command, name="scan", waiting="rewake", durable=True)
            session = engine.session("s", cwd=tmp_path)
            assert not (await session.dispatch(POST_TOOL_USE, RESULT)).blocked
            late = await session.inbox.next_wake()
            assert late is not None
            assert (late.kind, late.text, late.hook) == ("wake", "found", "scan")
            assert (await session.inbox.next_wake()) is None
            event_id, attempt = (tmp_path / "ran").read_text().split()
            assert attempt == "1"
            assert event_id
            runs = [run for run in engine.journal.recent() if run.hook == "scan"]
            assert [run.status for run in runs] == ["background", "blocked"]
            assert len({run.run_id for run in runs}) == 1

    asyncio.run(main())
    assert queue(tmp_path).wakes("s") == []


def test_a_hook_that_fails_is_tried_again_and_then_a_dead_letter_that_is_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with Engine(durable=queue(tmp_path)) as engine:
            engine.add(
                POST_TOOL_USE, f"echo x >>{tmp_path}/ran; exit 7", name="bad", waiting="rewake", durable=True
            )
            session = engine.session("s", cwd=tmp_path)
            await session.dispatch(POST_TOOL_USE, RESULT)
            late = await session.inbox.next_wake()
            assert late is not None
            assert late.kind == "wake"
            assert "bad was not run to its end" in late.text
            assert "hookline jobs show" in late.text

    asyncio.run(main())
    assert (tmp_path / "ran").read_text() == "x\n" * 3
    assert [job.state for job in queue(tmp_path).jobs()] == ["dead"]


def test_a_function_hook_of_a_program_is_run_when_the_program_comes_back(tmp_path: Path) -> None:
    ran: list[str] = []

    def note(result: ToolResult) -> None:
        ran.append(result.tool_name)

    async def main(*, begins: bool) -> None:
        async with Engine(durable=queue(tmp_path)) as engine:
            engine.add(POST_TOOL_USE, note, name="note", waiting="async", durable=True)
            if begins:
                engine.background.closed = True
                await engine.session("s").dispatch(POST_TOOL_USE, RESULT)
            else:
                await engine.jobs.run_all()

    asyncio.run(main(begins=True))
    assert ran == []
    asyncio.run(main(begins=False))
    assert ran == ["Bash"]


@pytest.mark.parametrize("on_failure", [None, "closed"])
def test_what_cannot_be_accepted_is_a_failure_of_the_hook_and_other_hooks_decide_as_before(
    tmp_path: Path, on_failure: Any
) -> None:
    (tmp_path / "jobs.sqlite").write_bytes(b"no database at all" * 300)

    async def main() -> None:
        async with Engine(durable=queue(tmp_path)) as engine:
            options: Any = {} if on_failure is None else {"on_failure": on_failure}
            engine.add(PRE_TOOL_USE, "exit 0", name="scan", waiting="async", durable=True, **options)
            engine.add(PRE_TOOL_USE, "exit 0", name="guard")
            call = ToolCall(tool_name="Bash", tool_input={"command": "ls"})
            outcome = await engine.session("s", cwd=tmp_path).dispatch(PRE_TOOL_USE, call)
            assert outcome.blocked is (on_failure == "closed")
            said = [*(message.text for message in outcome.messages), outcome.reason or ""]
            assert any("not a database" in text for text in said)
            statuses = {run.hook: run.status for run in engine.journal.recent()}
            assert statuses == {"scan": "not_started", "guard": "ok"}
            assert engine.jobs.problems

    asyncio.run(main())


def test_another_process_runs_what_was_left_and_jobs_shows_it(tmp_path: Path) -> None:
    user(tmp_path)
    configure(tmp_path / "home/.config/hookline/hooks.json", f"echo x >>{tmp_path}/ran", name="scan")
    job_id = accept(tmp_path, tmp_path / "project")
    (listed,) = json.loads(hookline(tmp_path, "jobs", "--json"))["jobs"]
    assert (listed["id"], listed["state"], listed["hook"]) == (job_id, "queued", "scan")
    assert "scan" in hookline(tmp_path, "jobs", "show", job_id[:6])
    assert "1 job run to the end" in hookline(tmp_path, "jobs", "run")
    assert (tmp_path / "ran").read_text() == "x\n"
    assert "no jobs wait" in hookline(tmp_path, "jobs")


def test_a_hook_that_is_no_longer_trusted_does_not_run_and_that_is_said(tmp_path: Path) -> None:
    user(tmp_path)
    (tmp_path / "project" / ".git").mkdir()
    configure(tmp_path / "project/.hookline/hooks.json", f"echo x >>{tmp_path}/ran", name="scan")
    hashes = json.loads(hookline(tmp_path, "trust", "--json", status=1))["hashes"]
    hookline(tmp_path, "trust", "--yes", hashes)
    job_id = accept(tmp_path, tmp_path / "project")  # which would not be accepted without trust
    hookline(tmp_path, "trust", "--revoke")
    assert "1 dead letter" in hookline(tmp_path, "jobs", "run", status=1)
    assert not (tmp_path / "ran").exists()
    # It is for the user: the model cannot trust anything, so it is not woken.
    (wake,) = DurableFile(jobs_path(user(tmp_path))).wakes("s")
    assert json.loads(wake.body)["kind"] == "message"
    assert "may not run: you have not trusted it" in hookline(tmp_path, "jobs", "show", job_id)
    hookline(tmp_path, "jobs", "retry", job_id)
    hookline(tmp_path, "jobs", "drop", job_id)
    hookline(tmp_path, "jobs", "drop", job_id, status=1)
    assert "no jobs wait" in hookline(tmp_path, "jobs", "run") + hookline(tmp_path, "jobs")


def test_an_engine_that_trusts_a_project_runs_its_jobs_that_another_process_left(tmp_path: Path) -> None:
    """`--trust` covers jobs taken over, of this project and of no other."""
    user(tmp_path)
    (tmp_path / "project" / ".git").mkdir()
    configure(tmp_path / "project/.hookline/hooks.json", f"echo x >>{tmp_path}/ran", name="scan")
    hashes = json.loads(hookline(tmp_path, "trust", "--json", status=1))["hashes"]
    hookline(tmp_path, "trust", "--yes", hashes)
    accept(tmp_path, tmp_path / "project")
    hookline(tmp_path, "trust", "--revoke")
    (tmp_path / "other").mkdir()

    def trusted(directory: str) -> bool:
        engine = Engine(env=user(tmp_path))
        engine.load(tmp_path / directory, trust=True)
        other, (hook,), _unreadable = hooks_of(engine, str(tmp_path / "project"))
        return other.trust is not None and other.trust.status(hook).runs

    assert trusted("project")
    assert not trusted("other")


def test_the_agent_can_make_every_hook_durable_that_is_not_waited_for(tmp_path: Path) -> None:
    user(tmp_path)
    file = tmp_path / "home/.config/hookline/hooks.json"
    file.parent.mkdir(parents=True)
    entry = {"command": f'echo "$HOOKLINE_JOB_ID" >>{tmp_path}/ran', "async": True}
    file.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": [entry]}]}}))
    call = {"text": "", "tool_calls": [{"name": "Bash", "input": {"command": "echo hi"}}]}
    (tmp_path / "model.json").write_text(json.dumps([call, {"text": "done"}]))
    words = ["agent", "--json", "go", "--model", f"scripted:{tmp_path}/model.json", "--allow", "Bash"]
    hookline(tmp_path, *words, "--durable")
    wait_until((tmp_path / "ran").exists)
    wait_until((tmp_path / "ran").read_text)
    over = json.loads(hookline(tmp_path, "jobs", "--all", "--json"))["jobs"]
    assert [(job["state"], job["attempts"], f"{job['id']}\n") for job in over] == [
        ("settled", 1, (tmp_path / "ran").read_text())
    ]


def test_what_cannot_be_settled_now_is_settled_later_and_told_once(tmp_path: Path) -> None:
    async def main() -> None:
        here = queue(tmp_path)
        async with Engine(durable=here) as engine:
            engine.add(
                POST_TOOL_USE, f"until [ -e {tmp_path}/go ]; do sleep 0.01; done; echo x >&2; exit 2",
                waiting="rewake", durable=True,
            )  # fmt: skip
            session = engine.session("s", cwd=tmp_path)
            await session.dispatch(POST_TOOL_USE, RESULT)
            while not any(known.state == "running" for known in here.jobs()):
                await asyncio.sleep(0.01)
            read_only(here, on=True)
            (tmp_path / "go").touch()
            while not engine.jobs.problems:
                await asyncio.sleep(0.01)
            assert "readonly" in engine.jobs.problems[0]
            said = [run.detail for run in engine.journal.recent() if run.type == "durable"]
            assert said == engine.jobs.problems, "it is in the journal once"
            read_only(here, on=False)
            late = await session.inbox.next_wake()
            assert late is not None
            assert late.text == "x"
            assert await session.inbox.next_wake() is None

    asyncio.run(main())


def read_only(here: DurableFile, *, on: bool) -> None:
    here._do(lambda connection: connection.execute(f"PRAGMA query_only = {'ON' if on else 'OFF'}"))  # pyright: ignore[reportPrivateUsage]


def test_a_hook_whose_entry_is_gone_is_a_dead_letter(tmp_path: Path) -> None:
    user(tmp_path)
    file = tmp_path / "home/.config/hookline/hooks.json"
    configure(file, f"echo x >>{tmp_path}/ran")
    job_id = accept(tmp_path, tmp_path / "project")
    configure(file, f"echo another >>{tmp_path}/ran")
    hookline(tmp_path, "jobs", "run", status=1)
    assert not (tmp_path / "ran").exists()
    assert "no longer has this hook" in hookline(tmp_path, "jobs", "show", job_id)


def test_a_file_that_cannot_be_read_now_is_not_said_to_have_lost_the_hook(tmp_path: Path) -> None:
    user(tmp_path)
    file = tmp_path / "home/.config/hookline/hooks.json"
    configure(file, f"echo x >>{tmp_path}/ran")
    job_id, text = accept(tmp_path, tmp_path / "project"), file.read_text()
    file.write_text(text[:-3])
    hookline(tmp_path, "jobs", "run", status=1)
    said = hookline(tmp_path, "jobs", "show", job_id)
    assert f"{file} cannot be read; when it can, run `hookline jobs retry ID`" in " ".join(said.split())
    file.write_text(text)
    hookline(tmp_path, "jobs", "retry", job_id)
    hookline(tmp_path, "jobs", "run")
    assert (tmp_path / "ran").read_text() == "x\n"


def test_a_wake_reaches_the_resumed_session_of_a_killed_agent_once(tmp_path: Path) -> None:
    env, go, began = user(tmp_path), tmp_path / "go", tmp_path / "began"
    command = (
        f"echo x >>{began}; while [ ! -e {go} ]; do sleep 0.02; done; echo a secret was found >&2; exit 2"
    )
    configure(tmp_path / "home/.config/hookline/hooks.json", command)
    calls = [
        {"text": "", "tool_calls": [{"name": "Bash", "input": {"command": "echo hi"}}]},
        {"text": "done"},
    ]
    (tmp_path / "first.json").write_text(json.dumps(calls))
    (tmp_path / "then.json").write_text(json.dumps([{"text": "dealt with"}, {"text": "went on"}]))

    def agent(script: str, *words: str) -> list[str]:
        model = f"scripted:{tmp_path / script}"
        return [
            sys.executable,
            "-m",
            "hookline",
            "agent",
            "--json",
            "go",
            "--model",
            model,
            "--allow",
            "Bash",
            *words,
        ]

    place = tmp_path / "project"
    with subprocess.Popen(agent("first.json"), env=env, cwd=place, stdout=subprocess.PIPE) as first:
        wait_until(began.exists)
        first.kill()
    go.touch()
    delivered: list[int] = []
    for _ in range(2):
        done = subprocess.run(
            agent("then.json", "--continue"), env=env, cwd=place, capture_output=True, check=False
        )
        document = json.loads(done.stdout)
        delivered.append(Path(document["transcript"]).read_text().count("reason: a secret was found"))
    assert delivered == [1, 1]
    assert began.read_text() == "x\n" * 2


def test_a_hook_that_kills_its_process_is_a_dead_letter_after_three_times_and_others_run(
    tmp_path: Path,
) -> None:
    user(tmp_path)
    poison = {"command": f"echo x >>{tmp_path}/poison; kill -9 $PPID; sleep 60", "name": "poison"}
    good = {"command": f"echo x >>{tmp_path}/good", "name": "good"}
    hooks = [{**entry, "async": True, "durable": True} for entry in (poison, good)]
    file = tmp_path / "home/.config/hookline/hooks.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"hooks": {"PostToolUse": [{"hooks": hooks}]}}))

    async def fire() -> None:
        engine = Engine(env=user(tmp_path))
        engine.load(tmp_path / "project")
        engine.background.closed = True
        await engine.session("s", cwd=tmp_path / "project").dispatch(POST_TOOL_USE, RESULT)
        await engine.close(0)

    asyncio.run(fire())
    for _ in range(3):
        hookline(tmp_path, "jobs", "run", status=-9)
        # The job is free at once, instead of a little later.
        with closing(DurableFile(jobs_path(user(tmp_path)), grace=0.0)) as jobs:
            jobs.claim((), 0)
    hookline(tmp_path, "jobs", "run", status=1)
    assert (tmp_path / "poison").read_text() == "x\n" * 3
    assert "x\n" in (tmp_path / "good").read_text()
    (left,) = json.loads(hookline(tmp_path, "jobs", "--json", status=1))["jobs"]
    assert (left["hook"], left["state"]) == ("poison", "dead")
    assert "ended 3 times" in left["why"]


def test_an_agent_that_has_the_hook_leaves_a_job_of_the_fleet_to_the_worker(tmp_path: Path) -> None:
    env, cwd = user(tmp_path), tmp_path / "project"
    ran = tmp_path / "ran"
    configure(tmp_path / "home/.config/hookline/hooks.json", f"touch {ran}", durable="fleet")

    async def main() -> None:
        async with Engine(env=env) as engine:
            engine.load(cwd)
            await engine.session("s", cwd=cwd, project_dir=cwd).dispatch(POST_TOOL_USE, RESULT)
            await engine.jobs.run_all()
            (job,) = engine.jobs.queue.open_jobs("s")
            assert (job.queue, job.state, job.attempts) == ("fleet", "queued", 0)

    asyncio.run(main())
    assert not ran.exists()


def test_dead_letters_are_retried_and_dropped_many_at_once(tmp_path: Path) -> None:
    settings = tmp_path / "home/.config/hookline/settings.toml"
    configure(tmp_path / "home/.config/hookline/hooks.json", f"test -e {tmp_path}/up", name="scan")
    settings.write_text("[jobs]\ndelays = []\n")  # one attempt

    async def fire() -> None:
        """A session without a directory: its hook is in the user's own file, so another process finds it."""
        engine = Engine(env=user(tmp_path))
        engine.load(tmp_path / "project")
        engine.background.closed = True
        for number in range(3):
            await engine.session(f"s{number}").dispatch(POST_TOOL_USE, RESULT)
        await engine.close(0)

    asyncio.run(fire())
    hookline(tmp_path, "jobs", "run", status=1)
    dead = json.loads(hookline(tmp_path, "jobs", "--json", status=1))["jobs"]
    assert [(each["state"], each["attempts"]) for each in dead] == [("dead", 1)] * 3
    assert "0 dead letters wait again, 3 left" in hookline(tmp_path, "jobs", "retry", "--hook", "other")
    assert "0 dead letters wait again, 3 left" in hookline(tmp_path, "jobs", "retry", "--since", "2100-01-01")
    (tmp_path / "up").touch()
    assert "3 dead letters wait again, 0 left" in hookline(
        tmp_path, "jobs", "retry", "--hook", "scan", "--since", "1h"
    )
    hookline(tmp_path, "jobs", "run")
    assert "no jobs wait" in hookline(tmp_path, "jobs")
    (tmp_path / "up").unlink()
    asyncio.run(fire())
    hookline(tmp_path, "jobs", "run", status=1)
    assert "3 dead letters are forgotten, 0 left" in hookline(tmp_path, "jobs", "drop", "--all")
    assert "say which job" in hookline_error(tmp_path, "jobs", "drop")


def test_the_default_outlasts_ten_minutes() -> None:
    assert sum(JobSettings().delays) * 0.8 >= 590


def hookline_error(directory: Path, *words: str) -> str:
    return run_warm(words, cwd=directory / "project", env=user(directory)).stderr.decode()
