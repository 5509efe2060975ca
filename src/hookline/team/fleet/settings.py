"""Read the fleet's server and the name of this machine from `fleet.toml` of the administrator and of the
user.

Managed values take precedence over the user's, key by key. A project cannot set any.
"""

import os
import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.dialect import user_directories
from hookline.dialects.files import read_file
from hookline.dialects.report import LoadReport
from hookline.documents.document import Document
from hookline.journal.file import account_name
from hookline.model.diagnostics import NOWHERE, Where
from hookline.model.errors import HooklineError
from hookline.model.run import Run

#: The managed file of this machine.
MANAGED: Final = "/etc/hookline/fleet.toml"
_FILE: Final = "fleet.toml"
#: Names are parts of subjects and keys of the server.
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}")
#: Between the name of a machine and a user of it; part of neither.
_OF: Final = "="
_SCHEMES: Final = ("nats", "tls")
#: The keys of the file. `bundles` is read by `hookline.config.bundles.settings`.
_SHAPES: Final[Mapping[str, str]] = {
    "server": "text or a list of texts", "name": "text", "credentials": "text", "nkey": "text", "user": "text",
    "password_file": "text", "token_file": "text", "ca": "text", "certificate": "text", "key": "text",
    "timeout": "a number", "replicas": "a whole number", "lease": "a number", "slots": "a whole number",
    "mask": "a list of texts", "audit_seconds": "a number", "audit_days": "a number",
    "approvals": "true or false", "shared": "true or false", "bundles": "an object",
}  # fmt: skip
_LEAST: Final[Mapping[str, float]] = {
    "replicas": 1, "slots": 1, "lease": 1, "timeout": 0.1, "audit_seconds": 0.1, "audit_days": 1,
}  # fmt: skip
#: Beside the settings, if they are not absolute.
_FILES: Final = ("credentials", "nkey", "password_file", "token_file", "ca", "certificate", "key")
#: Kinds of credentials; one of them is enough.
_PROOFS: Final = ("credentials", "nkey", "user", "token_file")
#: Keys that need another one.
_TOGETHER: Final = (("user", "password_file"), ("password_file", "user"), ("key", "certificate"))


def is_name(text: str) -> bool:
    """Return True if the text is a valid name of a machine."""
    return _NAME.fullmatch(text) is not None


def is_worker_name(text: str) -> bool:
    """Return True if the text is a machine, or a user of one as `MACHINE=USER`."""
    machine, of, user = text.partition(_OF)
    return is_name(machine) and (is_name(user) or not of)


def worker_name(machine: str, user: str) -> str:
    """Return the name in the fleet of the worker of one user of a machine that several use."""
    if not is_name(user):  # such as DOMAIN\\ann; without the digest it could be another user's
        letters = re.sub(r"[^A-Za-z0-9]+", "-", user).strip("-")[:40] or "user"
        user = f"{letters}-{sha256(user.encode()).hexdigest()[:8]}"
    return f"{machine}{_OF}{user}"


def machine_and_user(worker: str) -> tuple[str, str]:
    """Return the machine of a worker, and the user; that is empty for the only one of its machine."""
    machine, _, user = worker.partition(_OF)
    return machine, user


class SettingsError(HooklineError):
    """An error in the settings of the fleet, with its place and what to do."""


class FleetSettings(Struct, frozen=True, kw_only=True):
    """The settings of the fleet, as `fleet.toml` has them."""

    #: `nats://host:port` or `tls://host:port`, one or several of a cluster.
    servers: Sequence[str] = ()
    #: The name of this machine; by default its host name. Every machine needs a different one.
    name: str = ""
    #: This machine's identity, one of: credentials as `nsc` makes them, the seed of an nkey, a user with a
    #: password, a token. All but the name of the user are files.
    credentials: str = ""
    nkey: str = ""
    user: str = ""
    password_file: str = ""
    token_file: str = ""
    #: TLS: whom to believe, and our own certificate with its key.
    ca: str = ""
    certificate: str = ""
    key: str = ""
    #: Seconds that the server has for each answer.
    timeout: float = 5.0
    #: Of how many servers each stream is kept, when it is made. 3 in a cluster.
    replicas: int = 1
    #: Seconds after which another machine may take a job whose machine has not renewed its lease.
    lease: float = 30.0
    #: How many jobs this machine runs at once.
    slots: int = 8
    #: Fields of runs that are not sent to the audit, such as `stdout`. Secrets never are.
    mask: tuple[str, ...] = ()
    #: Seconds for which runs are gathered into one message of the audit, and days for which the audit has them.
    audit_seconds: float = 5.0
    audit_days: float = 90.0
    #: True if people of the team may answer what waits for an approval on this machine.
    approvals: bool = False
    #: True if several users of this machine have workers: each has a name of its own below the machine's.
    shared: bool = False
    #: Where each of them was set.
    where: Mapping[str, Where] = {}

    @property
    def worker(self) -> str:
        """The name of this user's worker in the fleet: the machine's, or `MACHINE=USER` on a shared machine."""
        return worker_name(self.name, account_name()) if self.shared else self.name

    def position(self, key: str) -> str:
        """Return where a key is set, or would be, for a message."""
        return str(self.where.get(key, NOWHERE)) or _FILE


def read_settings(env: Mapping[str, str], managed: str = MANAGED) -> FleetSettings:
    """Read the settings. Raises SettingsError, also if no server is named anywhere."""
    places = [
        managed,
        *(os.path.join(directory, _FILE) for directory in user_directories(env)),
    ]
    values: dict[str, Any] = {}
    where: dict[str, Where] = {}
    for file in reversed([each for each in places if os.path.lexists(each)]):
        for key, (value, place) in _read(file).items():
            values[key], where[key] = value, place
    if not values.get("servers"):
        raise SettingsError(f'no server is set: write server = "nats://host:4222" into {places[-1]}')
    settings = FleetSettings(**values, where=where)
    _refuse(_contradictions(settings))
    return settings if settings.name else replace(settings, name=_own_name())


def _read(file: str) -> dict[str, tuple[Any, Where]]:
    """Return the settings of a file with their positions, by name."""
    document = read_file(file)
    report = LoadReport(document)
    if document.value is not None:
        found: Any = document.value
        good, _sound = report.fields(cast("Mapping[str, Any]", found), _SHAPES)
        for key, value in good.items():
            for problem, fix in _problems(key, value):
                report.say("error", "wrong-setting", f"{key}: {problem}", key, fix=fix)
    else:
        good = {}
    _refuse(
        f"{each.where}: {each.message}" + (f"; {each.fix}" if each.fix else "")
        for each in sorted(report.diagnostics, key=lambda each: each.where.line or 0)
        if each.severity == "error" or each.code == "unknown-field"
    )
    return dict(_values(good, document))


def _values(said: Mapping[str, Any], document: Document) -> Iterator[tuple[str, tuple[Any, Where]]]:
    directory = os.path.dirname(document.file)
    for key, value in said.items():
        where = document.where(key)
        if key == "server":
            yield "servers", ((value,) if isinstance(value, str) else tuple(value), where)
        elif key in _FILES and value:
            yield key, (os.path.join(directory, os.path.expanduser(value)), where)
        elif key != "bundles":
            yield key, (tuple(value) if key == "mask" else value, where)


def _refuse(problems: Iterator[str]) -> None:
    """Raise all problems at once, so that the user corrects the file once."""
    found = list(problems)
    if found:
        raise SettingsError("\n".join(found))


def _problems(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield problems of a well-formed value, and what is allowed."""
    if key == "name" and value and not is_name(value):
        yield (
            f"{value[:80]!r} is not a valid machine name",
            "only letters, digits, - and _, at most 63 of them",
        )
    elif key in _LEAST and not _LEAST[key] <= value < float("inf"):
        yield f"{value} cannot be used", f"at least {_LEAST[key]}"
    elif key == "mask":
        fields = Run.__struct_fields__[1:]
        for each in value:
            if each not in fields:
                yield (
                    f"a run has no field {each[:80]!r} that could be left out",
                    f"one of {', '.join(fields)}",
                )
    elif key == "server":
        for each in (value,) if isinstance(value, str) else value:
            yield from _address_problems(each)


def _address_problems(address: str) -> Iterator[tuple[str, str]]:
    allowed = "nats://host:4222 or tls://host:4222"
    try:
        found = urlsplit(address)
        known = found.scheme in _SCHEMES and found.hostname and (found.port is None or found.port > 0)
    except ValueError:
        yield "it is not an address", allowed
        return
    if found.username is not None or found.password is not None:
        # Not shown: and addresses are part of messages, which others can read.
        yield "an address has no password in it", "write user and password_file, or token_file, instead"
    elif not known:
        yield f"{address[:80]!r} is not a server address", allowed


def _contradictions(settings: FleetSettings) -> Iterator[str]:
    """Yield contradictions within one file or between the two."""
    proofs = [key for key in _PROOFS if getattr(settings, key)]
    if len(proofs) > 1:
        yield f"{settings.position(proofs[1])}: {' and '.join(proofs)} both identify this machine; remove all but one"
    for key, needed in _TOGETHER:
        if getattr(settings, key) and not getattr(settings, needed):
            yield f"{settings.position(key)}: {key} has no effect without {needed}; write both"


def _own_name() -> str:
    found = re.sub(r"[^A-Za-z0-9_-]+", "-", socket.gethostname()).strip("-")[:63]
    if not is_name(found):
        raise SettingsError('this machine has no usable host name: write name = "…" into fleet.toml')
    return found
