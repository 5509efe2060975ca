"""Test the rights of each role at a real server: what a machine needs is allowed, and what is another's is refused."""

import asyncio
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest

from hookline import Engine
from hookline.engine.host.approvals import ApprovalAnswer, ApprovalQueue, QueuedCall
from hookline.engine.host.pending import PendingCall
from hookline.events import POST_TOOL_USE
from hookline.journal.file import account_name
from hookline.team.fleet.approvals import FleetApprovals
from hookline.team.fleet.bundles.transport import ServerTransport
from hookline.team.fleet.connection import (
    APPROVALS,
    AUDIT,
    BUNDLES,
    MACHINES,
    WAKE,
    Fleet,
    FleetError,
    connected,
    inbox_of,
)
from hookline.team.fleet.permissions import Role, rights_of
from hookline.team.fleet.settings import machine_and_user, read_settings, worker_name
from hookline.team.fleet.status import read_status
from tests.team.fleet.machines import bundle, key
from tests.team.fleet.server import Server, home, needs_server
from tests.team.fleet.test_worker import at_work, hooks, is_in, result
from tests.waiting import until

pytestmark = [needs_server, pytest.mark.unmeasured]
#: This user's part of a machine that others use, too.
BETA = worker_name("beta", account_name())
USERS: tuple[tuple[Role, str], ...] = (
    ("machine", "alpha"), ("machine", BETA), ("publisher", "publisher"), ("console", "console"),
    ("administrator", "administrator"),
)  # fmt: skip


@pytest.fixture
def server(tmp_path: Path) -> Generator[Server]:
    users = "\n".join(
        f'{{ user: "{name}", password: "x", {rights_of(role, name).config()} }}' for role, name in USERS
    )
    made = Server(tmp_path / "nats", f"authorization {{ users: [\n{users}\n] }}\n")
    yield made
    made.wipe()


def user(directory: Path, server: Server, name: str, hooks: str = "") -> dict[str, str]:
    password = directory / "password"
    password.write_text("x")
    password.chmod(0o600)
    machine, owner = machine_and_user(name)
    return home(
        directory, name, server, hooks, name=machine, shared=bool(owner), user=name, password_file=str(password),
        timeout=1, approvals=True,
    )  # fmt: skip


async def refused(
    fleet: Fleet, subject: str, data: bytes = b"", headers: dict[str, str] | None = None
) -> str:
    """Return the permission that the server denies."""
    fleet.denied = ""
    with suppress(Exception):
        await fleet.client.request(subject, data, timeout=0.3, headers=headers)
    return fleet.denied


def test_each_role_does_its_work_with_its_rights_and_no_more(server: Server, tmp_path: Path) -> None:
    async def main() -> None:
        everyone = {name: user(tmp_path, server, name, hooks(tmp_path)) for _role, name in USERS}
        async with connected(read_settings(everyone["administrator"])) as fleet:
            await fleet.prepare(update=True)
        await _work(everyone, tmp_path)
        await _misuse(everyone)

    asyncio.run(main())


async def _work(everyone: dict[str, dict[str, str]], directory: Path) -> None:
    """A job from one machine to the other and back, a bundle, and the status: none of it is denied."""
    alpha, beta = everyone["alpha"], everyone[BETA]
    async with at_work(alpha, 0) as one, at_work(beta) as other, Engine(env=alpha, drain_seconds=0) as engine:
        await until(lambda: is_in(one) and is_in(other))
        engine.load(directory)
        session = engine.session("s", cwd=directory)
        await session.dispatch(POST_TOOL_USE, result())
        late = await session.inbox.next_wake()
        assert late is not None
        assert late.text == "found"
        async with connected(read_settings(everyone["publisher"])) as fleet:
            await fleet.prepare()
            made = bundle(1)
            await ServerTransport(fleet).put(made, key().sign(made), 0)
        async with connected(read_settings(everyone["console"])) as fleet:
            await fleet.prepare()
            found = await read_status(ServerTransport(fleet), None)
            while not (await fleet.extent(AUDIT))[2]:
                await asyncio.sleep(0.05)
            assert [data async for data, _headers in fleet.read(AUDIT, "hl.run.>")]
            await _approve(fleet, alpha)
        assert [each.report.machine for each in found.machines] == ["alpha", "beta"]
        assert not [line for line in (*one, *other) if "denies" in line]


async def _approve(fleet: Fleet, env: dict[str, str]) -> None:
    """A question on one machine is answered by somebody who sees all of them."""
    pending = PendingCall(tool_name="Bash", tool_input={"command": "ls"}, given={}, reason="sure?")
    asking = asyncio.ensure_future(
        ApprovalQueue(env).ask(QueuedCall(pending=pending, agent="An Agent", until=time.time() + 300))
    )
    approvals = FleetApprovals(fleet)
    while not (waiting := await approvals.waiting()):
        await asyncio.sleep(0.05)
    assert (waiting[0].machine, waiting[0].pending.tool_input) == ("alpha", {"command": "ls"})
    answer = ApprovalAnswer(allow=True, by="ann")
    assert await approvals.answer(waiting[0], answer)
    assert not await approvals.answer(waiting[0], answer)
    assert await asking == answer
    while await fleet.names(APPROVALS) and await approvals.waiting():
        await asyncio.sleep(0.05)


async def _misuse(everyone: dict[str, dict[str, str]]) -> None:
    async with connected(read_settings(everyone["alpha"])) as fleet:
        for subject in (
            f"$JS.API.STREAM.PURGE.{AUDIT}", f"$JS.API.STREAM.DELETE.KV_{BUNDLES}", f"$JS.API.STREAM.UPDATE.{AUDIT}",
            f"$JS.API.STREAM.MSG.DELETE.{AUDIT}", f"$JS.API.STREAM.MSG.GET.{AUDIT}", f"$JS.API.STREAM.MSG.GET.{WAKE}",
            f"$JS.API.STREAM.MSG.GET.KV_{MACHINES}", f"$KV.{BUNDLES}.guards.1", f"$KV.{BUNDLES}.guards.2",
            f"$KV.{MACHINES}.report.{BETA}", f"$KV.{MACHINES}.machine.{BETA}", f"$KV.{MACHINES}.root.beta",
            f"$JS.API.DIRECT.GET.KV_{MACHINES}.$KV.{MACHINES}.report.{BETA}",
            f"$JS.API.DIRECT.GET.{AUDIT}.hl.run.{BETA}", f"hl.run.{BETA}", "hl.bundle",
            f"$JS.API.CONSUMER.MSG.NEXT.{WAKE}.wake-{BETA}", f"$KV.{APPROVALS}.a.alpha.x",
            f"$KV.{APPROVALS}.q.{BETA}.x", f"$JS.API.STREAM.MSG.GET.KV_{APPROVALS}", "hl.approval.alpha",
            f"$JS.API.CONSUMER.CREATE.{WAKE}.wake-alpha.hl.wake.{BETA}.*",
            f"$JS.API.CONSUMER.DURABLE.CREATE.{WAKE}.wake-alpha", f"$JS.API.CONSUMER.CREATE.{AUDIT}",
            f"$JS.API.CONSUMER.DELETE.{WAKE}.wake-{BETA}", f"$JS.ACK.{WAKE}.wake-{BETA}.1.1.1.1.1",
        ):  # fmt: skip
            assert "denies this machine a permission" in await refused(fleet, subject), subject
        for subject in (
            f"{inbox_of(BETA)}.>",
            "_INBOX.>",
            "hl.run.>",
            f"$KV.{MACHINES}.>",
            f"hl.over.{BETA}",
            ">",
        ):
            fleet.denied = ""
            await fleet.client.subscribe(subject)
            await until(lambda: "denies this machine a permission" in fleet.denied)
    for name, subject in (
        ("publisher", f"$JS.API.STREAM.PURGE.KV_{BUNDLES}"), ("publisher", "hl.run.alpha"),
        ("publisher", f"$JS.API.STREAM.MSG.GET.{AUDIT}"), ("console", f"$KV.{BUNDLES}.guards.3"),
        ("console", f"$JS.API.STREAM.PURGE.{AUDIT}"),
    ):  # fmt: skip
        async with connected(read_settings(everyone[name])) as fleet:
            assert "denies this machine a permission" in await refused(fleet, subject), subject


def test_rights_that_are_too_small_for_a_worker_are_said(server: Server, tmp_path: Path) -> None:
    """Nothing is created by a machine: it says which permission it lacks, and whose rights it needs."""

    async def main() -> None:
        async with connected(read_settings(user(tmp_path, server, "alpha"))) as fleet:
            with pytest.raises(FleetError):
                await fleet.prepare()
            assert "stream.create" in fleet.denied
            assert "hookline fleet init --permissions machine" in fleet.denied

    asyncio.run(main())
