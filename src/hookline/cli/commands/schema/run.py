"""The JSON of `hookline schema --json`."""

from msgspec import Struct


class SchemaKind(Struct, frozen=True):
    kind: str
    description: str
    #: Those it can be asked of; empty where there is one for all.
    events: tuple[str, ...]


class SchemaList(Struct, frozen=True):
    """The JSON Schemas that there are."""

    schemas: tuple[SchemaKind, ...]
