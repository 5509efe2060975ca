"""Test one machine with several users, as real users: root takes the bundles, everybody has jobs, wakes and audit."""

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from hookline.team.fleet.audit.ship import Batch, batches
from hookline.team.fleet.bundles.transport import ServerTransport
from hookline.team.fleet.connection import connected
from hookline.team.fleet.settings import FleetSettings
from hookline.team.fleet.status import FleetStatus, read_status
from tests.team.fleet.machines import bundle, key
from tests.team.fleet.server import Server, needs_server
from tests.waiting import wait_until

pytestmark = [needs_server, pytest.mark.unmeasured]

#: Users without an entry in the user database, so that nothing of this machine has to change.
ANN, BOB = 65_501, 65_502
PUSH = ("fire", "PreToolUse", "Bash", "command=git push --force")


def as_user(user: int, kept: Path) -> list[str]:
    """Return the words that start a command as another user, who may have to pass a closed directory to Python.

    For that the command gets mounts of its own, in which the directories on the way are open and empty but for that.
    `kept` is an empty directory.
    """
    drop = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    needed = {each: _closed(each) for each in (sys.base_prefix, sys.prefix, str(Path(__file__).parents[3]))}
    closed = {each: over for each, over in needed.items() if over is not None}
    if not closed:
        return drop
    lines = ["set -e", f"mount -t tmpfs none {kept}"]
    for index, each in enumerate(closed):
        lines.append(f"mkdir {kept}/{index}; mount --bind {shlex.quote(each)} {kept}/{index}")
    lines += [f"mount -t tmpfs -o mode=755 none {shlex.quote(each)}" for each in sorted({*closed.values()})]
    for index, each in enumerate(closed):
        lines.append(f"mkdir -p {shlex.quote(each)}; mount --bind {kept}/{index} {shlex.quote(each)}")
    return ["unshare", "--mount", "sh", "-c", "; ".join([*lines, 'exec "$@"']), "sh", *drop]


def _closed(path: str) -> str | None:
    """Return the first directory on the way to a path that other users may not pass."""
    ways = [*reversed(Path(path).parents), Path(path)]
    return next((str(each) for each in ways if not each.stat().st_mode & 0o001), None)


def _why_not(desk: "Desk") -> str:
    if os.geteuid() != 0:
        return "it starts processes of other users, for which it needs root"
    try:
        tried = desk.run(ANN, (sys.executable, "-c", "import hookline"))
    except OSError as problem:
        return str(problem)
    return tried.stderr.strip()


class Desk:
    """One machine, its server, and the processes of its users."""

    def __init__(self, directory: Path, stack: ExitStack) -> None:
        self._directory = directory
        self._stack = stack
        self.bundles = directory / "place"
        self._mounts = directory / "mounts"
        self._mounts.mkdir()
        self.server = Server(directory / "server")
        stack.callback(self.server.kill)

    def home(self, user: int) -> dict[str, str]:
        """The environment of a user of this machine, with the settings that an administrator would write."""
        home = self._directory / str(user)
        config = home / ".config" / "hookline"
        if not config.exists():
            config.mkdir(parents=True)
            file = config / "fleet.toml"
            file.write_text(
                f'server = "{self.server.url}"\nname = "desk"\nshared = true\naudit_seconds = 0.2\nlease = 3\n'
                f'[bundles]\nkeys = ["{key().text}"]\ndirectory = "{self.bundles}"\n'
            )
            for each in (home, home / ".config", config, file):
                os.chown(each, user, user)
        return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, user: int, *words: str) -> Path:
        """Start a worker as this user. Returns the file of its messages."""
        log = self._directory / f"{user}.log"
        with log.open("ab") as stream:
            process = subprocess.Popen(
                [*as_user(user, self._mounts), *self._words("fleet", "worker", *words)],
                env=self.home(user), cwd="/", stdout=stream, stderr=stream,
            )  # fmt: skip
        self._stack.callback(process.wait)
        self._stack.callback(process.terminate)
        return log

    def run(self, user: int, words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*as_user(user, self._mounts), *words],
            env=self.home(user),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )

    def hookline(self, user: int, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.run(user, self._words(*words))

    @staticmethod
    def _words(*words: str) -> list[str]:
        return [sys.executable, "-m", "hookline", *words]

    def publish(self, revision: int) -> None:
        async def main() -> None:
            async with connected(self._settings) as fleet:
                await fleet.prepare()
                made = bundle(revision)
                await ServerTransport(fleet).put(made, key().sign(made), 0)

        asyncio.run(main())

    def status(self, *, audit: bool = False) -> FleetStatus:
        async def main() -> FleetStatus:
            async with connected(self._settings) as fleet:
                await fleet.prepare()
                return await read_status(ServerTransport(fleet), {key().id: key().public}, audit=audit)

        return asyncio.run(main())

    def audit(self) -> Mapping[str, int]:
        """The runs in the audit, by the worker that sent them."""

        async def main() -> list[Batch]:
            async with connected(self._settings) as fleet:
                return [each async for each in batches(fleet)]

        found: dict[str, int] = {}
        for each in asyncio.run(main()):
            found[each.machine] = found.get(each.machine, 0) + len(each.runs)
        return found

    @property
    def _settings(self) -> FleetSettings:
        return FleetSettings(servers=(self.server.url,), name="console")


@pytest.fixture
def desk() -> Iterator[Desk]:
    """A machine in a directory that every user can reach, as /etc and /home are."""
    directory = Path(tempfile.mkdtemp(prefix="hookline-users-"))
    directory.chmod(0o755)
    try:
        with ExitStack() as stack:
            made = Desk(directory, stack)
            why_not = _why_not(made)
            if why_not:
                pytest.skip(f"SEVERAL USERS ARE NOT TESTED: {why_not}")
            yield made
    finally:
        shutil.rmtree(directory)


def has(log: Path, words: str) -> bool:
    return words in log.read_text()


def test_root_takes_the_bundles_and_two_users_have_workers_under_one_name(desk: Desk) -> None:
    root = desk.start(0, "--for-all")
    desk.publish(1)
    wait_until(lambda: has(root, "guards 1: activated"), seconds=60)
    for user in (ANN, BOB):  # the guard that only root can write decides for everybody
        assert "no force push: deny" in desk.hookline(user, *PUSH).stdout
    logs = [desk.start(user) for user in (ANN, BOB)]
    wait_until(lambda: all(has(log, "takes the bundles of this machine") for log in logs), seconds=60)
    for user in (ANN, BOB):  # and the audit begins with the worker
        desk.hookline(user, *PUSH)
    wait_until(lambda: desk.audit() == {f"desk={ANN}": 2, f"desk={BOB}": 2}, seconds=60)

    before = {each: each.read_bytes() for each in desk.bundles.rglob("*") if each.is_file()}
    for user in (ANN, BOB):
        for word in (
            f"echo x > {desk.bundles}/guards/active.bundle",
            f"rm -rf {desk.bundles}/guards",
            f"mv {desk.bundles} x",
        ):
            assert desk.run(user, ("sh", "-c", word)).returncode != 0
        assert desk.hookline(user, "fleet", "pull").returncode != 0
    assert {each: each.read_bytes() for each in desk.bundles.rglob("*") if each.is_file()} == before

    found = desk.status(audit=True)
    (machine,) = found.machines
    assert [(each.for_all, each.user) for each in machine.parts] == [
        (True, ""),
        (False, str(ANN)),
        (False, str(BOB)),
    ]
    assert [(each.revision, each.problem) for each in machine.report.bundles] == [(1, "")]
    assert (found.bundles[0].machines, found.bundles[0].meant, found.gaps) == (1, 1, {})
    workers = [each.worker for each in machine.parts[1:] if each.worker is not None]
    assert [(each.user, each.problem, each.problems) for each in workers] == [
        (str(ANN), "", 0),
        (str(BOB), "", 0),
    ]
    assert [part.report is not None and part.report.last_day.runs >= 2 for part in machine.parts[1:]] == [
        True,
        True,
    ]
    assert found.count("error") == 0
    for log in logs:  # a directory that is not theirs never costs them the connection
        assert log.read_text().count("is in the fleet") == 1
        assert log.read_text().count("takes the bundles of this machine") == 1

    second = desk.hookline(ANN, "fleet", "worker")  # the first one stays
    assert second.returncode != 0
    assert "already running" in second.stderr
    (again,) = desk.status().machines
    assert again.parts[1].worker is not None
    assert again.parts[1].worker.pid == workers[0].pid

    assert "deleted" in desk.hookline(0, "fleet", "forget", f"desk={ANN}", "--runs").stdout
    assert desk.audit() == {f"desk={BOB}": 2}


def test_a_user_who_may_not_read_the_bundles_is_closed_and_stays_connected(desk: Desk) -> None:
    root = desk.start(0, "--for-all")
    desk.publish(1)
    wait_until(lambda: has(root, "guards 1: activated"), seconds=60)
    desk.bundles.chmod(0o700)
    assert "which counts as deny" in desk.hookline(ANN, *PUSH).stdout
    log = desk.start(ANN)
    wait_until(lambda: any("Permission denied" in each.text for each in desk.status().problems), seconds=60)
    (machine,) = desk.status().machines
    worker = machine.parts[1].worker
    assert worker is not None
    assert (worker.problem, worker.problems, log.read_text().count("is in the fleet")) == ("", 0, 1)
