"""Show the calls that wait for a person, and answer one."""

import argparse
import os
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from hookline.cli.output import ExitStatus, note, show
from hookline.cli.requests import RequestError
from hookline.cli.text import headed_table, json_lines, terminal_width
from hookline.engine.host.approvals import ApprovalAnswer, ApprovalQueue, Approvals, OwnApprovals, QueuedCall
from hookline.journal.file import account_name
from hookline.model.safe_text import one_line, printable

_SHORT = 8
_LONGEST = 200


class ApprovalsDocument(Struct, frozen=True, kw_only=True):
    """Calls that wait for an answer."""

    waiting: tuple[QueuedCall, ...]


async def run(args: argparse.Namespace) -> int:
    async with open_approvals(fleet=args.fleet) as approvals:
        waiting = await approvals.waiting()
        if args.action == "list":
            return _list(args, waiting)
        call = _found(waiting, args.words)
        if args.action == "show":
            return show(
                json_lines(msgspec.to_builtins(call)) if args.json else _text(call), as_json=args.json
            )
        return await _answer(args, approvals, call)


@asynccontextmanager
async def open_approvals(*, fleet: bool) -> AsyncGenerator[Approvals]:
    """Open the questions of this user, or of the fleet."""
    if not fleet:
        yield OwnApprovals(ApprovalQueue(os.environ))
        return
    from hookline.team.fleet.approvals import FleetApprovals
    from hookline.team.fleet.connection import connected
    from hookline.team.fleet.settings import read_settings

    async with connected(read_settings(os.environ)) as server:
        await server.prepare()
        yield FleetApprovals(server)


def _list(args: argparse.Namespace, waiting: Sequence[QueuedCall]) -> int:
    if args.words:
        raise RequestError(f"list takes no {args.words[0][:100]!r}; did you mean show?")
    if args.json:
        return show(json_lines(msgspec.to_builtins(ApprovalsDocument(waiting=tuple(waiting)))), as_json=True)
    if not waiting:
        return show("no call waits for an approval")
    rows = [("id", "who", "call", "guard", "asked", "denied in")]
    now = time.time()
    rows += [
        (
            each.pending.id[:_SHORT], one_line(_who(each), _LONGEST), one_line(_call(each), _LONGEST),
            one_line(each.pending.hook, _LONGEST), f"{now - each.pending.asked_at:.0f} s ago",
            f"{max(0.0, each.until - now):.0f} s",
        )
        for each in waiting
    ]  # fmt: skip
    hint = "hookline approvals show ID shows one in full; allow ID and deny ID answer it"
    return show(f"{headed_table(rows, terminal_width())}\n{hint}")


def _found(waiting: Sequence[QueuedCall], words: Sequence[str]) -> QueuedCall:
    if len(words) != 1:
        raise RequestError("say which call: hookline approvals lists them")
    found = [each for each in waiting if each.pending.id.startswith(words[0])]
    if len(found) != 1:
        what = f"{len(found)} calls have an id that begins" if found else "no call waits whose id begins"
        raise RequestError(f"{what} with {words[0][:100]!r}; hookline approvals lists them")
    return found[0]


async def _answer(args: argparse.Namespace, approvals: Approvals, call: QueuedCall) -> int:
    allow = args.action == "allow"
    if allow and not args.yes and not _agreed(call):
        return ExitStatus.PROBLEM
    answer = ApprovalAnswer(allow=allow, by=account_name(), message=args.message[:2000], at=time.time())
    if not await approvals.answer(call, answer):
        note(
            f"hookline approvals: {call.pending.id[:_SHORT]} was answered meanwhile, or does not wait any more"
        )
        return ExitStatus.PROBLEM
    if args.json:
        return show(json_lines(msgspec.to_builtins(answer)), as_json=True)
    return show(f"{call.pending.id[:_SHORT]}: {'allowed' if allow else 'denied'}")


def _agreed(call: QueuedCall) -> bool:
    """Ask at the terminal: an agent that runs this command has none."""
    if not sys.stdin.isatty():
        note(_text(call))
        note("hookline approvals: nothing was answered; say --yes to allow it without a question")
        return False
    show(_text(call))
    sys.stdout.write("Let it run? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _text(call: QueuedCall) -> str:
    pending = call.pending
    facts = [
        ("id", pending.id), ("who", _who(call)), ("project", call.project), ("session", pending.session_id),
        ("guard", pending.hook), ("it asks", pending.reason), ("tool", pending.tool_name),
        ("since", time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(pending.asked_at))),
        ("denied at", time.strftime("%H:%M:%S", time.localtime(call.until))),
        ("arguments", json_lines(msgspec.to_builtins(pending.tool_input))),
    ]  # fmt: skip
    return "\n".join(f"{name:10} {printable(value)}" for name, value in facts if value)


def _who(call: QueuedCall) -> str:
    user = f"{call.user}@{call.machine}" if call.machine else call.user
    return f"{call.agent} of {user}" if user else call.agent


def _call(call: QueuedCall) -> str:
    values = [each for each in call.pending.tool_input.values() if isinstance(each, str)]
    return f"{call.pending.tool_name} {values[0] if values else ''}".strip()
