"""Show questions of one machine to the people of a team, and bring their answers back.

A machine writes its questions, and reads the answers to them; only who may answer writes those. So nothing that
runs on a machine, with that machine's rights, can approve its own call. The file of the question on its machine
decides: the first answer counts, wherever it comes from.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from hookline.engine.host.approvals import ApprovalAnswer, ApprovalQueue, QueuedCall
from hookline.journal.journal import Journal
from hookline.journal.redaction import Redactor
from hookline.team.fleet.connection import APPROVALS, Fleet

#: Poll intervals of the questions on this machine, and of an answer whose hint was lost, in seconds.
_LOOK: Final = 1.0
_ASK: Final = 5.0


def _hint(machine: str) -> str:
    return f"hl.approval.{machine}"


class FleetApprovals:
    """The questions of all machines."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def waiting(self) -> list[QueuedCall]:
        """Return the calls that wait, the longest first. Raises FleetError."""
        names = await self._fleet.names(APPROVALS)
        answered = {name.removeprefix("a.") for name in names if name.startswith("a.")}
        asked = [name for name in names if name.startswith("q.") and name.removeprefix("q.") not in answered]
        found: list[QueuedCall] = []
        for entry in await self._fleet.values(APPROVALS, asked):
            try:
                call = msgspec.json.decode(entry.value, type=QueuedCall)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # of another version
            machine, _, name = entry.key.removeprefix("q.").partition(".")
            # The key decides whose question it is: a machine can only write its own.
            if call.pending.id == name and call.until > time.time():
                found.append(replace(call, machine=machine))
        return sorted(found, key=lambda each: each.pending.asked_at)

    async def answer(self, call: QueuedCall, answer: ApprovalAnswer) -> bool:
        """Answer a call; its machine takes it as soon as it hears of it. Raises FleetError."""
        key = f"a.{call.machine}.{call.pending.id}"
        if await self._fleet.put(APPROVALS, key, msgspec.json.encode(answer), 0) is None:
            return False
        await self._fleet.say(_hint(call.machine), call.pending.id.encode())
        return True


class ApprovalForwarder:
    """Sender of this user's questions to the fleet, and receiver of the answers, until cancelled."""

    def __init__(
        self, fleet: Fleet, env: Mapping[str, str], machine: str, note: Callable[[str], None]
    ) -> None:
        self._fleet = fleet
        self._queue = ApprovalQueue(env)
        self._machine = machine
        self._note = note
        self._journal = Journal(Redactor(env))
        #: When the answer to each question that was sent is asked for next.
        self._sent: dict[str, float] = {}

    async def run(self) -> None:
        """Raises FleetError."""
        hinted = asyncio.Event()

        def hint(_data: bytes) -> None:
            self._sent = dict.fromkeys(self._sent, 0.0)
            hinted.set()

        async with self._fleet.listening(_hint(self._machine), hint):
            while True:
                waiting = {each.pending.id: each for each in self._queue.waiting()}
                for name in [each for each in self._sent if each not in waiting]:
                    del self._sent[name]
                    await self._fleet.purge(APPROVALS, f"q.{self._machine}.{name}")
                for name, call in waiting.items():
                    await self._follow(name, call)
                hinted.clear()
                try:
                    async with asyncio.timeout(_LOOK):
                        await hinted.wait()
                except TimeoutError:
                    pass

    async def _follow(self, name: str, call: QueuedCall) -> None:
        clock = time.monotonic()
        if name not in self._sent:
            self._sent[name] = clock + _ASK
            # It leaves this machine: without the secrets that are known here.
            shown = self._journal.without_secrets(replace(call, machine=self._machine))
            await self._fleet.put(APPROVALS, f"q.{self._machine}.{name}", msgspec.json.encode(shown))
        elif clock >= self._sent[name]:
            self._sent[name] = clock + _ASK
            found = await self._fleet.get(APPROVALS, f"a.{self._machine}.{name}")
            if found is not None:
                self._take(name, found.value)

    def _take(self, name: str, raw: bytes) -> None:
        try:
            answer = msgspec.json.decode(raw, type=ApprovalAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError) as problem:
            self._note(f"the answer to a call that waits for an approval cannot be read: {problem}")
            return
        self._queue.answer(name, answer)
