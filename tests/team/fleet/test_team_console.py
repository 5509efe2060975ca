"""The team's console: the runs of all machines, from a real server, in a real console over HTTP."""

import asyncio
import gzip
import os
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hookline.journal.file import JournalFile, journal_path, state_dir
from hookline.journal.reader import read_journal
from hookline.model.run import Called, Run
from hookline.team.fleet import connection
from hookline.team.fleet.audit import copy
from hookline.team.fleet.audit.copy import AuditCopy
from hookline.team.fleet.audit.ship import Batch
from hookline.team.fleet.bundles.report import BundleState, LastDay, MachineReport
from hookline.team.fleet.bundles.transport import ServerTransport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import FleetSettings, read_settings
from tests.team.console.scene import append, console
from tests.team.console.test_server import Browser
from tests.team.fleet.server import Server, free_port, home, needs_server
from tests.team.fleet.test_worker import at_work, is_in
from tests.waiting import until, wait_until

pytestmark = [needs_server, pytest.mark.unmeasured]
_HOSTILE = "<script>alert(1)</script>\x1b[31m"


async def send(server: Server, subject: str, *batches: Batch | bytes) -> None:
    """Send as machines do, or as someone with their rights."""
    async with connected(FleetSettings(servers=(server.url,), name="sender")) as fleet:
        await fleet.prepare()
        for each in batches:
            data = each if isinstance(each, bytes) else gzip.compress(msgspec.json.encode(each))
            await fleet.publish(f"hl.run.{subject}", data)


def batch(machine: str, first: int, *hooks: str, **more: Any) -> Batch:
    runs = tuple(Run(hook=hook, at=time.time()) for hook in hooks)
    return msgspec.structs.replace(Batch(machine=machine, count="c", first=first, runs=runs), **more)


class Copy:
    """Open a copy with a running server, in a new directory."""

    def __init__(self, directory: Path, server: Server) -> None:
        self.env = {"HOME": str(directory / "home")}
        self.settings = FleetSettings(servers=(server.url,), name="desk")
        self.said: list[str] = []
        self.copy = AuditCopy(self.settings, self.env, self.said.append)
        self.directory = directory / "home/.local/state/hookline/audit"

    def hooks(self, machine: str) -> Sequence[str]:
        path = self.copy.journals().get(machine, "")
        files = [file for file in (f"{path}.1", path) if os.path.exists(file)]
        readings = [read_journal(file) for file in files]
        assert not [problem for each in readings for problem in each.damage]
        return [run.hook for each in readings for run in each.runs]

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        task = asyncio.ensure_future(self.copy.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def up_to_date(self, number: int) -> None:
        def is_there() -> bool:
            position = self.directory / "position.json"
            return position.exists() and msgspec.json.decode(position.read_bytes())["number"] == number

        await until(is_there)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(connection, "_QUIET", 0.1)
    monkeypatch.setattr(copy, "_AGAIN", 0.1)
    found = Server(tmp_path / "server")
    yield found
    found.kill()


async def _ship(env: dict[str, str]) -> None:
    """A run of a machine, by its worker."""
    place = Path(state_dir(env)) / "fleet/audit.json"
    async with at_work(env) as said:
        await until(lambda: is_in(said))
        await until(lambda: place.exists() and '"inode":-1' in place.read_text())  # there is no journal yet
        call = Called(tool="Bash", input=_HOSTILE, project="/shop", caller="codex")
        run = Run(
            hook=f"far guard {_HOSTILE}", status="failed", failed_open=True, event="PreToolUse", call=call,
            session="far session", detail=_HOSTILE, at=time.time(),
        )  # fmt: skip
        JournalFile(journal_path(env)).append(run)
        await until(lambda: '"number":1' in place.read_text())


_REPORTED = MachineReport(
    machine="gamma",
    hookline="0.1.0",
    bundles=(BundleState(name="team", revision=7, expires=4_000_000_000),),
    last_day=LastDay(40, 2, 0, 0, ("claude-code", "codex")),
)


async def _report(server: Server) -> None:
    """A report of a machine, as `hookline fleet pull` sends it."""
    async with connected(FleetSettings(servers=(server.url,), name="gamma")) as fleet:
        await fleet.prepare()
        report = msgspec.structs.replace(_REPORTED, at=time.time())
        await ServerTransport(fleet).report("gamma", msgspec.json.encode(report))


def _look_around(browser: Browser) -> None:
    page = browser.ask("/runs?status=all").body
    assert 'class="hook">local guard' in page
    assert '<option value="beta">beta</option>' in page
    assert "<small>beta</small>" in page, "a row says where it ran, if that is elsewhere"
    assert "<small>here</small>" not in page
    of_beta = browser.ask("/runs?machine=beta&status=all").body
    assert 'class="hook">far guard' in of_beta
    assert 'class="hook">local guard' not in of_beta
    wait_until(lambda: "Machines</h2>" in browser.ask("/fleet").body)
    machines = browser.ask("/fleet").body
    for words in (
        f">{_REPORTED.hookline}<",
        "claude-code, codex",
        "team 7",
        "40 runs, 2 failed, 0 failed open",
    ):
        assert words in machines
    assert "beta" in machines, "it has a worker"
    for path in ("/runs", "/sessions", "/guards", "/time", "/session/far%20session?machine=beta"):
        body = browser.ask(path).body
        assert "<script>alert" not in body, path
        assert "beta" in body, path
    place = of_beta.partition('href="/run/')[2].partition('"')[0]
    run = browser.ask(f"/run/{place}").body
    assert "only that machine has its configuration" in run
    assert "On the command line of beta" in run
    assert browser.ask(f"/run/{place}/why").status == 404
    for path, what in (("/jobs", "Jobs are"), ("/backtests", "Backtests are"), ("/guards", "Coverage is")):
        body = browser.ask(path).body
        assert what in body
        assert "of this machine only (here)" in body
    assert "shown as of" not in page


def test_the_console_shows_the_runs_of_all_machines_and_goes_on_without_the_server(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.team.fleet.audit.ship._LOOK", 0.02)
    here = tmp_path / "here"
    home(tmp_path, "here", server, "")
    append(here, hook="local guard")
    asyncio.run(_ship(home(tmp_path, "beta", server, "")))
    asyncio.run(_report(server))
    with console(here, "--fleet") as running:
        browser = Browser(running)
        browser.log_in()
        wait_until(lambda: "far guard" in browser.ask("/runs?status=all").body)
        _look_around(browser)
        server.kill()
        wait_until(
            lambda: "The runs of other machines are shown as of" in browser.ask("/runs?status=all").body
        )
        assert "far guard" in browser.ask("/runs?status=all").body
        server.start()
        wait_until(lambda: "shown as of" not in browser.ask("/runs?status=all").body)


def test_a_copy_goes_on_where_it_was_and_counts_what_is_missing(tmp_path: Path, server: Server) -> None:
    desk = Copy(tmp_path, server)

    async def main() -> None:
        await send(server, "beta", batch("beta", 0, "a", "b"), batch("beta", 1, "b", "c"))
        async with desk.running():
            await desk.up_to_date(2)
            assert desk.hooks("beta") == ["a", "b", "c"], "what was sent twice is there once"
            assert not any("missing" in note for note in desk.copy.notes())
        with open(desk.copy.journals()["beta"], "ab") as file:
            file.write(b"written, and then killed\n")
        await send(server, "beta", batch("beta", 5, "f", missing=1))
        desk.copy = AuditCopy(desk.settings, desk.env, desk.said.append)
        async with desk.running():
            await desk.up_to_date(3)
            assert desk.hooks("beta") == ["a", "b", "c", "f"]
            await until(lambda: desk.copy.notes() == ["Runs missing in the audit: 2 of beta"])
            server.restart(wiped=True)
            await send(server, "beta", batch("beta", 5, "f", missing=1), batch("beta", 6, "g"))
            await until(lambda: desk.hooks("beta") == ["a", "b", "c", "f", "g"])
            await until(lambda: desk.copy.notes() == ["Runs missing in the audit: 2 of beta"])
        server.kill()
        desk.copy = AuditCopy(desk.settings, desk.env, desk.said.append)
        async with desk.running():
            await until(lambda: "cannot be reached" in desk.copy.notes()[0])
            assert f"are shown as of {time.strftime('%Y')}" in desk.copy.notes()[0]
            assert desk.hooks("beta")[-1] == "g"

    asyncio.run(main())


def test_nothing_that_others_send_is_believed(tmp_path: Path, server: Server) -> None:
    desk = Copy(tmp_path, server)
    bomb = gzip.compress(b'{"machine":"beta","first":0,"runs":[],"x":"' + b"a" * (32 << 20) + b'"}')
    late = Run(hook="of the year 2100", at=4.1e9)

    async def main() -> None:
        for name in ("%2e%2e%2f", "x" * 64):
            await send(server, name, batch(name, 0, "x"))
        await send(server, "gamma", batch("gamma", -1, "x"))
        await send(server, "a.b", batch("b", 0, "under another name"), batch("a.b", 0, "x"))
        await send(
            server, "beta", b"no gzip", bomb, batch("alpha", 0, "in another's name"), batch("beta", 1 << 60, "x"),
            batch("beta", 0, "x" * (1 << 20), runs=(late, Run(hook="x" * (1 << 20)))),
        )  # fmt: skip
        await send(server, "Beta", batch("Beta", 0, "another machine"))
        async with desk.running():
            await desk.up_to_date(11)
        assert desk.hooks("beta") == ["of the year 2100"]
        (run,) = read_journal(desk.copy.journals()["beta"]).runs
        assert abs(run.at - time.time()) < 3600
        assert desk.hooks("Beta") == ["another machine"]
        assert sorted(desk.copy.journals()) == ["Beta", "beta"]
        assert "9 messages of the audit were refused" in " ".join(desk.copy.notes())
        assert "1 of beta" in " ".join(desk.copy.notes()), "a run that is too long is counted"

    asyncio.run(main())


def test_a_copy_is_bounded_and_one_that_was_damaged_is_made_anew(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy, "_FULL", 600)
    monkeypatch.setattr(copy, "_MOST_MACHINES", 2)
    desk = Copy(tmp_path, server)

    async def main() -> None:
        await send(server, "old", batch("old", 0, "x"))
        await send(server, "beta", *(batch("beta", number, f"{number:0100}") for number in range(20)))
        await send(server, "new", batch("new", 0, "x"))
        async with desk.running():
            await desk.up_to_date(22)
            assert sorted(desk.copy.journals()) == ["beta", "new"]
            kept = desk.hooks("beta")
            assert 2 < len(kept) < 10
            assert kept[-1] == f"{19:0100}"
            assert "1 had to make room" in " ".join(desk.copy.notes())
            # A second console only shows what the first has.
            second = Copy(tmp_path, server)
            async with second.running():
                await until(lambda: "Another console of yours" in " ".join(second.copy.notes()))
                assert second.hooks("beta") == kept
        path = desk.copy.journals()["beta"]
        os.replace(path, f"{path}.1")  # killed after it had begun the next file
        Path(path).write_bytes(b"written, and then killed\n")
        await send(server, "beta", batch("beta", 20, "next"))
        async with desk.running():
            await desk.up_to_date(23)
        assert desk.hooks("beta")[-2:] == [f"{19:0100}", "next"]
        assert desk.said == []
        os.truncate(path, 10)
        async with desk.running():
            await until(lambda: not _is_torn(desk) and desk.hooks("beta")[-1:] == ["next"])
        assert any("is rebuilt" in line for line in desk.said)

    asyncio.run(main())


def _is_torn(desk: Copy) -> bool:
    path = desk.copy.journals().get("beta", "")
    return not path or bool(os.path.exists(path) and read_journal(path).damage)


def test_without_a_server_and_without_settings_it_says_so(tmp_path: Path) -> None:
    settings = FleetSettings(servers=(f"nats://me:secret@127.0.0.1:{free_port()}",), name="desk")
    said: list[str] = []
    copy = AuditCopy(settings, {"HOME": str(tmp_path)}, said.append)

    async def main() -> None:
        task = asyncio.ensure_future(copy.run())
        await until(lambda: said != [])
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    asyncio.run(main())
    (note,) = copy.notes()
    assert "cannot be reached" in note
    assert "not here yet" in note
    assert "secret" not in note + " ".join(said)
    with pytest.raises(Exception, match="no server is set"):
        read_settings({"HOME": str(tmp_path)}, managed=str(tmp_path / "none"))
