"""Machines of a fleet with a real server: jobs, wakes and runs go between them, and files have them meanwhile."""

import asyncio
import gzip
import json
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from hookline import Engine
from hookline.events import POST_TOOL_USE
from hookline.jobs.outbox import Outbox
from hookline.journal.file import JournalFile, journal_path, state_dir
from hookline.model.payloads import ToolResult
from hookline.model.run import Run
from hookline.team.fleet.audit import ship
from hookline.team.fleet.connection import AUDIT, Fleet, FleetError, connected
from hookline.team.fleet.machine import NameTakenError
from hookline.team.fleet.settings import read_settings
from hookline.team.fleet.worker import AlreadyRunningError, Worker, with_slots
from tests.team.fleet.server import Server, home, needs_server
from tests.waiting import until

pytestmark = [needs_server, pytest.mark.unmeasured]
Env = dict[str, str]


def hooks(directory: Path, command: str = "") -> str:
    said = command or f"echo $HOME >>{directory}/ran; echo found >&2; exit 2"
    return (
        '[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\nname = "scan"\n'
        f'command = {json.dumps(said)}\nasyncRewake = true\ndurable = "fleet"\n'
    )


def result(command: str = "ls") -> ToolResult:
    return ToolResult(tool_name="Bash", tool_input={"command": command}, tool_response={})


@asynccontextmanager
async def at_work(env: Env, slots: int | None = None) -> AsyncGenerator[list[str]]:
    """A worker of a machine, and what it says."""
    said: list[str] = []
    task = asyncio.ensure_future(Worker(with_slots(read_settings(env), slots), env, said.append).run())
    try:
        yield said
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def agent(env: Env, directory: Path) -> AsyncGenerator[Engine]:
    async with Engine(env=env, drain_seconds=0) as engine:
        engine.load(directory)
        yield engine


def is_in(said: list[str]) -> bool:
    return any("is in the fleet" in line for line in said)


def test_a_job_is_run_by_another_machine_and_its_session_is_told(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")

    async def main() -> None:
        alpha, beta = (home(tmp_path, name, server, hooks(tmp_path)) for name in ("alpha", "beta"))
        async with at_work(alpha, 0), at_work(beta), agent(alpha, tmp_path) as engine:
            session = engine.session("s", cwd=tmp_path)
            await session.dispatch(POST_TOOL_USE, result())
            late = await session.inbox.next_wake()
            assert late is not None
            assert (late.kind, late.text) == ("wake", "found")
            assert (tmp_path / "ran").read_text().strip() == beta["HOME"]
            assert await session.inbox.next_wake() is None
            await session.dispatch(POST_TOOL_USE, result("x" * 1_100_000))
            late = await session.inbox.next_wake()
            assert late is not None
            assert "larger than the 1,048,576 bytes that the server accepts" in late.text
            assert [job.state for job in engine.jobs.queue.open_jobs("s")] == []

    try:
        asyncio.run(main())
    finally:
        server.kill()


def test_without_the_server_jobs_are_accepted_and_they_are_run_when_it_is_there(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")
    server.kill()

    async def main() -> None:
        alpha = home(tmp_path, "alpha", server, hooks(tmp_path))
        async with at_work(alpha) as said, agent(alpha, tmp_path) as engine:
            session = engine.session("s", cwd=tmp_path)
            await session.dispatch(POST_TOOL_USE, result())
            await until(lambda: any("cannot be reached" in line for line in said))
            assert len(engine.jobs.queue.open_jobs("s")) == 1
            assert not (tmp_path / "ran").exists()
            server.start()
            late = await session.inbox.next_wake()
            assert late is not None

    try:
        asyncio.run(main())
    finally:
        server.kill()


def test_what_comes_for_a_session_goes_to_the_machine_that_opened_it_last_and_is_told_once(
    tmp_path: Path,
) -> None:
    server = Server(tmp_path / "server")

    async def main() -> None:
        alpha, beta, gamma = (
            home(tmp_path, name, server, hooks(tmp_path)) for name in ("alpha", "beta", "gamma")
        )
        async with (
            at_work(alpha, 0) as said, at_work(beta, 0) as there,
            agent(alpha, tmp_path) as first, agent(beta, tmp_path) as second,
        ):  # fmt: skip
            await until(lambda: is_in(said) and is_in(there))
            old = first.session("s", cwd=tmp_path)
            first.jobs.wakes.join(old)
            await old.dispatch(POST_TOOL_USE, result())
            await until(lambda: [each.claimed for each in Outbox(alpha).listeners()] != [None])
            new = second.session("s", cwd=tmp_path)
            second.jobs.wakes.join(new)
            await until(lambda: any("continues on beta" in line for line in said))
            async with at_work(gamma):
                late = await asyncio.wait_for(new.inbox.get(), 30)
                assert late.text == "found"
                await until(lambda: not Outbox(alpha).away_count())
            assert old.inbox.take() is None
            assert new.inbox.take() is None
            assert Outbox(beta).wakes("s") == Outbox(alpha).wakes("s") == []

    try:
        asyncio.run(main())
    finally:
        server.kill()


def test_a_name_is_had_by_one_machine_and_a_machine_by_one_worker(tmp_path: Path) -> None:
    server = Server(tmp_path / "server")

    async def main() -> None:
        alpha = home(tmp_path, "alpha", server, "")
        other = home(tmp_path / "other", "alpha", server, "")
        async with at_work(alpha) as said:
            await until(lambda: is_in(said))
            with pytest.raises(NameTakenError, match="another machine or user of the fleet is called alpha"):
                await Worker(read_settings(other), other, said.append).run()
            with pytest.raises(
                AlreadyRunningError, match="a worker of yours is already running on this machine"
            ):
                await Worker(read_settings(alpha), alpha, said.append).run()
        async with at_work(other) as said:
            await until(lambda: is_in(said))  # it was given back

    try:
        asyncio.run(main())
    finally:
        server.kill()


def test_runs_are_sent_without_secrets_and_every_gap_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(tmp_path / "server")
    monkeypatch.setattr("hookline.team.fleet.audit.ship._LOOK", 0.02)

    async def main() -> None:
        alpha = home(tmp_path, "alpha", server, "", mask=["stderr"]) | {"DEPLOY_TOKEN": "hunter2-hunter2"}
        journal = JournalFile(journal_path(alpha))
        journal.append(Run(hook="before the machine came"))
        async with at_work(alpha) as said:
            await until(lambda: is_in(said))
            await until(lambda: _position(alpha).get("inode"))
            journal.append(Run(hook="one", stdout="the token is hunter2-hunter2", stderr="private"))
            with open(journal.path, "ab") as file:
                file.write(b'{"v":1,"torn":\n')
            journal.append(Run(hook="two"))
            await until(lambda: _position(alpha).get("number") == 3)
            async with connected(read_settings(alpha)) as fleet:
                runs = [run async for batch in ship.batches(fleet) for run in batch.runs]
                assert [run.hook for run in runs] == ["one", "two"]
                assert "hunter2" not in str(runs)
                assert "private" not in str(runs)
                assert await ship.gaps(fleet) == {"alpha": 1}
                await fleet.streams.purge_stream(AUDIT)
                journal.append(Run(hook="three"))
                await until(lambda: _position(alpha).get("number") == 4)
                assert await ship.gaps(fleet) == {"alpha": 0}, "what is too old to be kept is not missing"
            server.restart(wiped=True)
            journal.append(Run(hook="four"))
            await until(lambda: _position(alpha).get("number") == 5)
            async with connected(read_settings(alpha)) as fleet:
                assert await ship.gaps(fleet) == {"alpha": 4}, "the server has lost what it had"

    try:
        asyncio.run(main())
    finally:
        server.kill()


def _position(env: Mapping[str, str]) -> dict[str, int]:
    file = Path(state_dir(env), "fleet", "audit.json")
    return json.loads(file.read_text()) if file.exists() else {}


class Outage:
    """Stands in for a server: it takes what it gets once it is up."""

    def __init__(self) -> None:
        self.up = False
        self.batches: list[ship.Batch] = []

    async def publish(self, _subject: str, data: bytes, _headers: Mapping[str, str]) -> int:
        if not self.up:
            raise FleetError("down")
        self.batches.append(ship.msgspec.json.decode(gzip.decompress(data), type=ship.Batch))
        return 1


def test_a_journal_that_cannot_be_sent_is_kept_up_to_a_bound_and_then_counted(tmp_path: Path) -> None:
    env, said = {"HOME": str(tmp_path)}, list[str]()
    Path(state_dir(env), "fleet").mkdir(parents=True)
    shipper = ship.Shipper(env, "alpha", said.append)
    shipper.look()
    journal, outage = journal_path(env), Outage()
    fleet: Fleet = outage  # pyright: ignore[reportAssignmentType] what is asked of one
    for number in range(8):
        file = JournalFile(journal)
        for index in range(3):
            file.append(Run(hook=f"{number}.{index}"))
        file.close()
        shipper.look()
        os.replace(journal, f"{journal}.1")  # as a journal that is full is rotated
    with pytest.raises(FleetError):
        asyncio.run(shipper.run(fleet))
    outage.up = True

    async def send() -> None:
        sending = asyncio.ensure_future(shipper.run(fleet))
        await until(lambda: not shipper.unsent())
        sending.cancel()

    asyncio.run(send())
    sent = [run.hook for batch in outage.batches for run in batch.runs]
    assert sent == [f"{number}.{index}" for number in range(3, 8) for index in range(3)]
    assert sum(batch.missing for batch in outage.batches) == 9
    assert outage.batches[0].first == 9
    assert any("3 runs were not sent in time" in line for line in said)
