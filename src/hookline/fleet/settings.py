"""Where the fleet's server is, and the name of this machine: `fleet.toml` of the administrator and of the user.

What the administrator says goes before what the user says, key by key. A project has no say.
"""

import os
import re
import socket
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from hookline.config.files import read_file
from hookline.dialects.dialect import user_directories
from hookline.model.errors import HooklineError
from hookline.model.run import Run

#: Of the administrator of this machine.
MANAGED: Final = "/etc/hookline/fleet.toml"
_FILE: Final = "fleet.toml"
#: Names are parts of subjects and keys of the server.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")


def is_name(text: str) -> bool:
    """Whether a machine can be called so."""
    return _NAME.fullmatch(text) is not None


class SettingsError(HooklineError):
    """What is wrong with the settings of the fleet, where, and what to do."""


class FleetSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings of the fleet, as `fleet.toml` has them."""

    #: `nats://host:port` or `tls://host:port`, one or several of a cluster.
    server: str | tuple[str, ...] = ()
    #: The name of this machine; its host name, if nothing is said. Every machine needs one of its own.
    name: str = ""
    #: The user's credentials for the server: a file, as `nsc` makes it.
    credentials: str = ""
    #: TLS: whom to believe, and who we are.
    ca: str = ""
    certificate: str = ""
    key: str = ""
    #: Of how many servers each stream is kept, when it is made. 3 in a cluster.
    replicas: int = 1
    #: Seconds after which another machine may take a job whose machine has not said that it lives.
    lease: float = 30.0
    #: How many jobs this machine runs at once.
    slots: int = 8
    #: Fields of runs that are not sent to the audit, such as `stdout`. Secrets never are.
    mask: tuple[str, ...] = ()
    #: Whose bundles count here: read by `hookline.config.bundles.settings`.
    bundles: dict[str, Any] = {}

    @property
    def servers(self) -> Sequence[str]:
        return (self.server,) if isinstance(self.server, str) else self.server


def read_settings(env: Mapping[str, str], managed: str = MANAGED) -> FleetSettings:
    """Raises SettingsError, also when no server is named anywhere."""
    places = [
        managed,
        *(os.path.join(folder, _FILE) for folder in user_directories(env)),
    ]
    said: dict[str, Any] = {}
    for file in reversed([each for each in places if os.path.lexists(each)]):
        said |= _table(file)
    settings = msgspec.convert(said, FleetSettings)
    if not settings.servers:
        raise SettingsError(f'no server is named: write server = "nats://host:4222" into {places[-1]}')
    if not settings.name:
        settings = msgspec.structs.replace(settings, name=_own_name())
    return settings


def _table(file: str) -> dict[str, Any]:
    document = read_file(file)
    if document.value is None:
        raise SettingsError(f"{file}: {'; '.join(each.message for each in document.diagnostics)}")
    try:
        table = msgspec.convert(document.value, dict[str, Any])
        checked = msgspec.convert(table, FleetSettings)
    except msgspec.ValidationError as problem:
        raise SettingsError(f"{file}: {problem}") from None
    if checked.name and not is_name(checked.name):
        raise SettingsError(f"{file}: name: only letters, digits, - and _, at most 63 of them")
    if min(checked.replicas, checked.slots) < 1 or checked.lease < 1:
        raise SettingsError(f"{file}: replicas, slots and lease are at least 1")
    unknown = [name for name in checked.mask if name not in Run.__struct_fields__[1:]]
    if unknown:
        raise SettingsError(f"{file}: mask: a run has no field {unknown[0]!r} that could be left out")
    folder = os.path.dirname(file)
    for key in ("credentials", "ca", "certificate", "key"):
        if table.get(key):  # beside this file, if it is not absolute
            table[key] = os.path.join(folder, os.path.expanduser(table[key]))
    return table


def _own_name() -> str:
    found = re.sub(r"[^A-Za-z0-9_-]+", "-", socket.gethostname()).strip("-")[:63]
    if not is_name(found):
        raise SettingsError('this machine has no usable host name: write name = "…" into fleet.toml')
    return found
