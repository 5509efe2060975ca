"""What `hookline log --json` prints; with --follow, one `Run` per line instead."""

from msgspec import Struct

from hookline.model.run import Run


class HookCounts(Struct, frozen=True, forbid_unknown_fields=True):
    """The runs of one hook, in numbers."""

    hook: str
    source: str
    dialect: str
    runs: int
    #: Held the action back: said no, or failed where a failure means no.
    blocked: int
    failed: int
    passed_without_answer: int
    p50_ms: float | None = None


class Totals(Struct, frozen=True, forbid_unknown_fields=True):
    runs: int
    blocked: int
    failed: int
    passed_without_answer: int


class LogDocument(Struct, frozen=True, forbid_unknown_fields=True):
    journal: str
    #: Whether there is a journal at all.
    exists: bool
    #: The newest that were asked for, oldest first.
    runs: tuple[Run, ...]
    #: Over everything the filters let through, also what --limit left out.
    totals: Totals
    hooks: tuple[HookCounts, ...]
    #: What in the file is not a whole record.
    damage: tuple[str, ...] = ()
