"""Follow a guarded command: hear its supervisor, answer questions, note what was denied."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Final

import msgspec

from hookline.execguard.messages import (
    CommandStarted,
    Denied,
    Ended,
    ExecQuestion,
    Problem,
    Report,
    encoded,
    receive,
    report_of,
    send,
)
from hookline.execguard.supervision import CallContext, ExecDecider
from hookline.model.safe_text import one_line, printable

CANNOT_RUN: Final = 126
NOT_FOUND: Final = 127
WIDEST: Final = 400
_SIGNALLED: Final = 128


class FollowedCommand:
    """One command, the channel of its supervisor, and the answers to its questions."""

    def __init__(
        self, decider: ExecDecider, call: CallContext, channel: socket.socket, say: Callable[[str], None]
    ) -> None:
        self._decider = decider
        self._call = call
        self._channel = channel
        self._say = say
        self._ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._tasks: set[asyncio.Task[None]] = set()
        #: The command's process, once it runs.
        self.pid = 0

    async def end(self) -> int:
        """Wait for the end of the command; return its exit status as a shell has it."""
        loop, number = asyncio.get_running_loop(), self._channel.fileno()
        self._channel.setblocking(False)
        loop.add_reader(number, self._hear)
        try:
            return await self._ended
        finally:
            loop.remove_reader(number)
            for task in self._tasks:
                task.cancel()
            self._channel.close()

    def _hear(self) -> None:
        try:
            message, _descriptors = receive(self._channel)
        except BlockingIOError:
            return
        except OSError:
            message = b""
        if message:
            try:
                self._handle(report_of(message))
            except msgspec.MsgspecError as error:
                self._stop(f"hookline: a report of the supervisor cannot be read: {error}")
        else:
            self._stop("hookline: the supervisor was killed, so the command can start nothing more")

    def _stop(self, why: str) -> None:
        if not self._ended.done():
            self._say(printable(why))
            self._ended.set_result(CANNOT_RUN)

    def _handle(self, report: Report) -> None:
        if isinstance(report, ExecQuestion):
            task = asyncio.ensure_future(self._answer(report))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        elif isinstance(report, Denied):
            verb = "killed" if report.killed else "denied"
            self._say(one_line(f"hookline: {verb}: {report.what}: {report.reason}", WIDEST))
            self._decider.denied(report, self._call)
        elif isinstance(report, CommandStarted):
            self.pid = report.pid
        elif isinstance(report, Problem):
            self._stop(f"hookline: not started: {report.text}")
        else:
            self._end(report)

    def _end(self, ended: Ended) -> None:
        if self._ended.done():
            return
        if ended.why:
            self._say(f"hookline: {ended.why}")
        code = os.waitstatus_to_exitcode(ended.status)
        self._ended.set_result(code if code >= 0 else _SIGNALLED - code)

    async def _answer(self, question: ExecQuestion) -> None:
        reply = await self._decider.answer(question, self._call)
        try:
            send(self._channel, encoded(reply))
        except OSError:
            pass  # the command has ended meanwhile
