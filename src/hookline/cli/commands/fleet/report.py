"""Encode the results of `hookline fleet` as JSON; `status` prints the record of the fleet itself."""

import msgspec
from msgspec import Struct

from hookline.cli.text import json_lines
from hookline.config.bundles.format import BundleScope
from hookline.team.fleet.bundles.activate import ActivationResult


class KeyDocument(Struct, frozen=True, kw_only=True):
    """A new key."""

    file: str
    id: str
    #: The public half, as `fleet.toml` has it.
    public: str


class PublishDocument(Struct, frozen=True, kw_only=True):
    """A published bundle."""

    name: str
    revision: int
    #: True if the same revision was issued again.
    again: bool
    #: Seconds since the epoch.
    issued: int
    expires: int
    #: In percent.
    stage: float
    scope: BundleScope
    digest: str
    key: str
    bytes: int
    files: tuple[str, ...]
    #: Hooks that the bundle before did not have, and those that it had and this one has not.
    added: tuple[str, ...]
    removed: tuple[str, ...]
    #: Machines known so far that it reaches; null if none has reported yet.
    machines: tuple[str, ...] | None


class ReissueDocument(Struct, frozen=True, kw_only=True):
    """Bundles that were issued again or removed."""

    bundles: tuple[str, ...]


class InitDocument(Struct, frozen=True, kw_only=True):
    """A server that has the streams and buckets of a fleet."""

    server: str
    audit_days: float


class JoinDocument(Struct, frozen=True, kw_only=True):
    """A machine that has joined a fleet, and what was done for it."""

    machine: str
    done: tuple[str, ...]


class PruneDocument(Struct, frozen=True, kw_only=True):
    """Revisions that were taken off."""

    removed: tuple[str, ...]


class ForgetDocument(Struct, frozen=True, kw_only=True):
    """Machines that were forgotten."""

    forgotten: tuple[str, ...]
    #: Messages with runs that were deleted from the audit.
    deleted: int = 0


class PullDocument(Struct, frozen=True, kw_only=True):
    """Results of the offered bundles."""

    machine: str
    bundles: tuple[ActivationResult, ...]


def as_json(document: Struct) -> str:
    return json_lines(msgspec.to_builtins(document))
