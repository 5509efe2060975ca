"""Queue files of the present form: their jobs run, their results are delivered, `hookline jobs` lists them.

`data/jobs.sql` and `data/fleet.sql` are dumps of the user's queue and of a worker's file. A change of the form that a
file cannot be read by needs a new version: files of earlier versions are refused, with what to do.
"""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hookline import Engine, Outcome, deny
from hookline.events import POST_TOOL_USE, ToolResult
from hookline.jobs.file import user_queue
from hookline.jobs.outbox import Outbox
from hookline.jobs.port import Job, Wake
from hookline.jobs.remote import RemoteJobs
from hookline.journal.file import jobs_path
from hookline.model.session_info import SessionInfo
from tests.cli.run_cli import run_cli

OLD_SESSION = "old session"
SENT, SETTLED = f"{'sent':0<32}", "656b113d64b2fb1406f5d16d9db4ac9b"


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a user who has both files."""
    monkeypatch.setattr(
        "hookline.jobs.file._RARELY", 1_000_000
    )  # finished jobs are old by now, and must not go
    found = {"HOME": str(tmp_path)}
    directory = Path(jobs_path(found)).parent
    directory.mkdir(parents=True)
    for name in ("jobs", "fleet"):
        with closing(sqlite3.connect(directory / f"{name}.sqlite")) as connection:
            connection.executescript((Path(__file__).parent / f"data/{name}.sql").read_text())
        (directory / f"{name}.sqlite").chmod(0o600)
    return found


def test_a_job_runs_as_it_was_accepted_and_its_session_gets_all_results(env: dict[str, str]) -> None:
    seen: list[tuple[object, object, str]] = []

    def scan(result: ToolResult, info: SessionInfo) -> Outcome:
        seen.append((result.tool_input, result.tool_response, info.permission_mode))
        return deny("a new finding")

    async def main() -> list[str]:
        async with Engine(env=env) as engine:
            engine.add(POST_TOOL_USE, scan, "Write", name="scan", waiting="rewake", durable=True)
            session = engine.session(OLD_SESSION)
            engine.jobs.wakes.join(session)
            await engine.jobs.run_all()
            return [late.text for late in session.inbox.take_all()]

    assert asyncio.run(main()) == ["an old finding", "a new finding"]
    assert seen == [({"file_path": "/old/waiting", "content": "y"}, "done", "plan")]


def test_what_is_over_is_not_accepted_again_and_a_dead_letter_can_be_retried(env: dict[str, str]) -> None:
    queue = user_queue(env)
    assert not queue.submit(Job(id=SETTLED, session=OLD_SESSION, queue="files", body=b"{}"))
    (dead,) = queue.find("dead")
    assert (dead.queue, dead.state, dead.attempts, dead.why) == ("files", "dead", 1, "it was bad")
    assert queue.requeue(dead.id)
    assert [lease.job.id for lease in queue.claim(["files"], 8)] == [dead.id]
    queue.close()


def test_the_command_lists_them(env: dict[str, str]) -> None:
    home = Path(env["HOME"])
    ran = run_cli(["jobs", "--json"], home, home)
    assert ran.status == 1, "there is a dead letter"
    listed = {
        job["id"].rstrip("0")[:6]: (job["hook"], job["state"]) for job in json.loads(ran.stdout)["jobs"]
    }
    assert listed == {
        "46b759": ("scan", "queued"),
        "dead": ("scan", "dead"),
        "first": ("scan", "queued"),
        "second": ("scan", "queued"),
        "sent": ("scan", "queued"),
    }


def test_a_worker_goes_on_with_what_was_sent_and_taken(env: dict[str, str]) -> None:
    outbox = Outbox(env)
    assert outbox.waiting() == 1
    outbox.ask_again()
    (out,) = outbox.outgoing(8)
    assert (out.job.id, out.job.queue, out.turn) == (SENT, "fleet", 0)
    assert [each.session for each in outbox.listeners()] == [OLD_SESSION]
    assert outbox.finish(SENT, 0, "settled", [Wake(id=f"{SENT}.0.0", session="another", body=b"x")], "", 1)
    assert [wake.body for wake in outbox.wakes(OLD_SESSION)][-1] == b"x"
    assert outbox.waiting() == 0
    outbox.close()
    remote = RemoteJobs(env, lease=30.0)
    assert remote.prepare() == "dcff607d3f86f012", "it has the name by which the fleet knows it"
    assert not remote.is_new_server("2026")
    assert remote.is_new_server("2027")
    (report,) = remote.reports()
    assert (report.key, report.state) == (f"beta.{'a' * 32}.0", "settled")
    assert [wake.body for wake in report.wakes] == [b"{}"]
    assert remote.unsettled() == 1
    assert not remote.take(
        Job(id="b" * 32, session="theirs", queue="files", body=b"{}"), f"beta.{'b' * 32}.0", 0, 0
    )
    remote.close()
