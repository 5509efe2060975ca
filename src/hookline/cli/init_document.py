"""What `hookline init --json` prints."""

from msgspec import Struct


class ShownCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """One command the new guard was asked about."""

    command: str
    blocked: bool
    hook: str | None = None
    reason: str | None = None


class InitDocument(Struct, frozen=True, forbid_unknown_fields=True):
    #: The file that was written, or the one that is there already.
    file: str
    written: bool
    #: What the file says now.
    text: str
    #: What the guard said when it was tried; empty when nothing was written.
    shown: tuple[ShownCommand, ...] = ()
    #: Whether it runs in this directory: for an event the project has hooks for, the user's own do not.
    in_force: bool = False
    #: Hooks that no longer run here, because the new file stands before theirs.
    replaced: tuple[str, ...] = ()
    #: Why nothing was written, or what the guard did not do.
    problem: str | None = None
