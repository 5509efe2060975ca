"""Read the signers that this machine trusts: the table `[bundles]` of `fleet.toml`, with their keys.

`/etc/hookline/fleet.toml` belongs to the administrator. Only where that has no such table, a user may follow
a fleet with `~/.config/hookline/fleet.toml`. No variable but HOME leads to either: a project's settings could
set others.
"""

import os
import re
import stat
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.config.bundles.format import key_id, read_key
from hookline.dialects.files import MANAGED_FLEET, fleet_files, read_file
from hookline.disk import DISK, Disk
from hookline.documents.document import Document, misshaped
from hookline.model.diagnostics import Diagnostic, Where

#: Below the home directory, unless the settings name another directory.
_DIRECTORY = (".local", "state", "hookline", "bundles")
_TABLE = "bundles"
_SHAPES: Mapping[str, str] = {
    "keys": "a list of texts", "groups": "a list of texts", "directory": "text", "required": "true or false",
}  # fmt: skip


class BundleSettings(Struct, frozen=True):
    """The settings for bundles: the trusted keys, and this machine's name."""

    file: str
    #: True if it is the administrator's file.
    managed: bool
    #: The name of this machine, and the groups it belongs to.
    machine: str
    groups: tuple[str, ...] = ()
    #: Public keys by their ids.
    keys: Mapping[str, bytes] = {}
    #: The directory of bundles.
    directory: str = ""
    #: Without a valid bundle, guards fail closed.
    required: bool = False
    problems: tuple[Diagnostic, ...] = ()


def bundle_settings(env: Mapping[str, str], disk: Disk = DISK) -> BundleSettings | None:
    """Return the settings of this machine and user; None if they take no bundles."""
    for file in fleet_files(env):
        if disk.is_there(file):
            document = read_file(file, disk=disk)
            found: Any = document.value
            table = cast("Mapping[str, Any]", found if isinstance(found, Mapping) else {})
            # An unreadable file may have had it.
            if _TABLE in table or document.value is None:
                return _settings(document, table, env, disk)
    return None


def _settings(
    document: Document, table: Mapping[str, Any], env: Mapping[str, str], disk: Disk
) -> BundleSettings:
    file = document.file
    managed = file == MANAGED_FLEET
    problems = [one for one in document.diagnostics if one.severity == "error"]
    problems += _foreign(file, disk, managed=managed)
    own: dict[str, Any] = {}
    given: Any = table.get(_TABLE, {})
    if not isinstance(given, Mapping):
        problems.append(_wrong(document, f"{_TABLE} is {misshaped(given, 'an object')}"))
        given = {}
    for name, value in cast("Mapping[str, Any]", given).items():
        if name not in _SHAPES:
            message = f"{name} is none of {', '.join(_SHAPES)}"
            problems.append(_wrong(document, message, name))
        elif (instead := misshaped(value, _SHAPES[name])) is not None:
            problems.append(_wrong(document, f"{name} is {instead}", name))
        else:
            own[name] = value
    home = env.get("HOME", "")
    directory = str(own.get("directory", os.path.join(home, *_DIRECTORY)))
    directory = f"{home}{directory[1:]}" if directory[:2] == "~/" else directory
    if not os.path.isabs(directory):
        problems.append(
            _wrong(document, "no directory for bundles: name one as an absolute path", "directory")
        )
    # The users who can write the file decide whose hooks run here: in doubt no bundle is used.
    keys, wrong = ({}, ()) if problems else _keys(document, own.get("keys", ()))
    return BundleSettings(
        file=file,
        managed=managed,
        machine=str(table.get("name") or own_name()),
        groups=tuple(own.get("groups", ())),
        keys=keys,
        directory=directory,
        # The error may be in this setting, or in the directory of the bundles.
        required=bool(problems or own.get("required", False)),
        problems=(*problems, *wrong),
    )


def own_name() -> str:
    """Return the host name, as far as it can be the name of a machine."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", os.uname().nodename).strip("-")[:63]


def _keys(document: Document, texts: Any) -> tuple[dict[str, bytes], tuple[Diagnostic, ...]]:
    keys: dict[str, bytes] = {}
    wrong: list[Diagnostic] = []
    for index, text in enumerate(cast("list[str]", texts)):
        public = read_key(text)
        if public is None:
            message = f"{text[:60]!r} is not a public key; `hookline fleet keygen` prints one as ed25519:..."
            wrong.append(Diagnostic("error", "bad-key", message, document.where(_TABLE, "keys", index)))
        else:
            keys[key_id(public)] = public
    if not keys and not wrong:
        message = "it has no keys, so no bundle is valid on this machine"
        fix = 'keys = ["ed25519:..."], as `hookline fleet keygen` prints it'
        wrong.append(Diagnostic("error", "no-keys", message, document.where(_TABLE), fix=fix))
    return keys, tuple(wrong)


def _foreign(file: str, disk: Disk, *, managed: bool) -> list[Diagnostic]:
    """Report keys that another user could have written."""
    try:
        found = disk.stat(file)
    except OSError:
        return []  # that it cannot be read was reported already
    owners = (0,) if managed else (0, os.geteuid())
    if found.st_uid in owners and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return []
    who = "root" if managed else "you"
    message = f"keys ignored: users other than {who} can write this file"
    return [Diagnostic("error", "foreign-keys", message, Where(file), fix=f"chmod go-w {file}")]


def _wrong(document: Document, message: str, *path: str) -> Diagnostic:
    return Diagnostic("error", "wrong-setting", message, document.where(_TABLE, *path))
