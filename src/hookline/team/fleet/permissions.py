"""List the rights that each role needs at the server, as small as they can be.

A machine reads and writes what is its own: its name, its report, its runs, its wakes, its answers. What it shares
with others are the jobs that any machine may run, and their ledger. Nobody but a publisher writes bundles, and
nobody but an administrator creates, empties or deletes anything.
"""

from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from hookline.team.fleet.connection import (
    APPROVALS,
    AUDIT,
    BUNDLES,
    HOOKS,
    MACHINES,
    SESSIONS,
    SETTLED,
    WAKE,
    inbox_of,
)

Role = Literal["machine", "publisher", "console", "administrator"]
_API: Final = "$JS.API"
_READS: Final = (f"{_API}.STREAM.INFO.KV_{BUNDLES}", f"{_API}.STREAM.MSG.GET.KV_{BUNDLES}")


class Rights(Struct, frozen=True):
    """Subjects that a user of the server may publish to and subscribe to; everything else is denied."""

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]

    def config(self) -> str:
        """Return them as the configuration of the server has them."""
        lines = ["permissions: {"]
        for name, subjects in (("publish", self.publish), ("subscribe", self.subscribe)):
            lines += [f"  {name}: {{", "    allow: ["]
            lines += [f'      "{each}"' for each in subjects]
            lines += ["    ]", "  }"]
        return "\n".join([*lines, "}"])


def rights_of(role: Role, name: str) -> Rights:
    """Return the rights of a role. `name` is that of the machine, or the person's name in `fleet.toml`."""
    inbox = f"{inbox_of(name)}.>"
    if role == "machine":
        heard = ("hl.bundle", "hl.moved", f"hl.over.{name}", f"hl.home.{name}", f"hl.approval.{name}")
        return Rights(tuple(_machine(name)), (inbox, *heard))
    if role == "publisher":
        return Rights(tuple(_publisher()), (inbox,))
    if role == "console":
        return Rights(tuple(_console()), (inbox,))
    return Rights(("hl.>", "$KV.>", f"{_API}.>", "$JS.ACK.>"), ("hl.>", inbox))


def _machine(name: str) -> Iterator[str]:
    yield from _info()
    yield f"{_API}.STREAM.INFO.KV_{BUNDLES}"
    # Its name, its report, its runs.
    for key in (f"machine.{name}", f"report.{name}", f"root.{name}"):
        yield f"$KV.{MACHINES}.{key}"
        yield f"{_API}.DIRECT.GET.KV_{MACHINES}.$KV.{MACHINES}.{key}"
    yield f"hl.run.{name}"
    yield f"{_API}.DIRECT.GET.{AUDIT}.hl.run.{name}"
    # Its questions, and the answers, which it cannot write.
    yield f"$KV.{APPROVALS}.q.{name}.*"
    yield f"{_API}.DIRECT.GET.KV_{APPROVALS}.$KV.{APPROVALS}.a.{name}.*"
    # Bundles, which are signed.
    yield f"{_API}.STREAM.MSG.GET.KV_{BUNDLES}"
    # Its wakes, and those that it sends.
    yield f"{_API}.CONSUMER.CREATE.{WAKE}.wake-{name}.hl.wake.{name}.*"
    yield f"{_API}.CONSUMER.MSG.NEXT.{WAKE}.wake-{name}"
    yield f"$JS.ACK.{WAKE}.wake-{name}.>"
    yield "hl.wake.*.*"
    # Jobs that any machine may run, and the ledger of who has them.
    yield "hl.job.*.*"
    yield f"{_API}.CONSUMER.CREATE.{HOOKS}.*.hl.job.*.*"
    yield f"{_API}.CONSUMER.MSG.NEXT.{HOOKS}.*"
    yield f"$JS.ACK.{HOOKS}.>"
    yield from (f"{_API}.STREAM.MSG.GET.KV_{each}" for each in (SETTLED, SESSIONS))
    yield from (f"$KV.{SETTLED}.>", f"$KV.{SESSIONS}.>", "hl.over.*", "hl.home.*", "hl.moved")


def _publisher() -> Iterator[str]:
    yield from _status()
    yield f"$KV.{BUNDLES}.>"
    yield "hl.bundle"


def _console() -> Iterator[str]:
    yield from _status()
    yield f"{_API}.CONSUMER.CREATE.{AUDIT}"
    yield f"{_API}.CONSUMER.CREATE.{AUDIT}.>"
    yield f"{_API}.CONSUMER.INFO.{AUDIT}.*"
    yield f"{_API}.CONSUMER.MSG.NEXT.{AUDIT}.*"
    # A person who sees everything may answer, too.
    yield f"{_API}.DIRECT.GET.KV_{APPROVALS}.>"
    yield f"$KV.{APPROVALS}.a.*.*"
    yield "hl.approval.*"


def _info() -> Iterator[str]:
    for stream in (HOOKS, WAKE, AUDIT, *(f"KV_{each}" for each in (SETTLED, SESSIONS, MACHINES, APPROVALS))):
        yield f"{_API}.STREAM.INFO.{stream}"


def _status() -> Iterator[str]:
    """Yield what `hookline fleet status` needs."""
    yield from _info()
    yield from _READS
    yield f"{_API}.STREAM.MSG.GET.KV_{MACHINES}"
    yield f"{_API}.DIRECT.GET.KV_{MACHINES}.>"
