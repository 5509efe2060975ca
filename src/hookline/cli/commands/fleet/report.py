"""What `hookline fleet` says as JSON; of `status` it is the record of the fleet itself."""

import msgspec
from msgspec import Struct

from hookline.cli.text import json_lines
from hookline.config.bundles.format import BundleScope
from hookline.fleet.bundles.activate import Result


class KeyDocument(Struct, frozen=True, kw_only=True):
    """A key that was made."""

    file: str
    id: str
    #: The public half, as `fleet.toml` has it.
    public: str


class PublishDocument(Struct, frozen=True, kw_only=True):
    """A bundle that was published."""

    name: str
    revision: int
    #: Whether the same revision was issued again.
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


class PullDocument(Struct, frozen=True, kw_only=True):
    """What became of the bundles that were offered."""

    machine: str
    bundles: tuple[Result, ...]


def as_json(document: Struct) -> str:
    return json_lines(msgspec.to_builtins(document))
