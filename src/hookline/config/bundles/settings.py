"""Whom this machine believes: the keys of bundles, its name and groups, from the administrator's file.

`/etc/hookline/fleet.toml` belongs to the administrator. Only where there is none, a user may follow a fleet with
`~/.config/hookline/fleet.toml`. Neither is found by a variable but HOME, which a project's settings could set.
"""

import os
import stat
from collections.abc import Mapping
from typing import Any, cast

from msgspec import Struct

from hookline.config.bundles.format import key_id, read_key
from hookline.config.files import MANAGED_FLEET, fleet_files, read_file
from hookline.documents.document import Document, misshaped
from hookline.model.diagnostics import Diagnostic, Where

#: Below the home directory, unless the settings name another place.
_PLACE = (".local", "state", "hookline", "bundles")
_SHAPES: Mapping[str, str] = {
    "machine": "text", "groups": "a list of texts", "keys": "a list of texts", "bundles": "text",
    "required": "true or false",
}  # fmt: skip


class FleetSettings(Struct, frozen=True):
    """What bundles need of the settings; the rest of the file is about the connection."""

    file: str
    #: Whether it is the administrator's file.
    managed: bool
    machine: str
    groups: tuple[str, ...] = ()
    #: Public keys by their ids.
    keys: Mapping[str, bytes] = {}
    #: Where bundles are kept.
    place: str = ""
    #: Without a bundle that counts, guards close.
    required: bool = False
    problems: tuple[Diagnostic, ...] = ()
    #: Everything in the file, for what else reads it.
    table: Mapping[str, Any] = {}


def fleet_settings(env: Mapping[str, str]) -> FleetSettings | None:
    """The settings of this machine and user; None if they belong to no fleet."""
    file = next((each for each in fleet_files(env) if os.path.lexists(each)), None)
    if file is None:
        return None
    managed, home = file == MANAGED_FLEET, env.get("HOME", "")
    place = os.path.join(home, *_PLACE) if os.path.isabs(home) else ""
    document = read_file(file)
    problems = [*document.diagnostics, *_foreign(file, managed=managed)]
    value: Any = document.value
    table = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}
    known = {name: table[name] for name in _SHAPES if name in table}
    for name, given in list(known.items()):
        instead = misshaped(given, _SHAPES[name])
        if instead is not None:
            problems.append(_wrong(document, name, f"{name} is {instead}"))
            del known[name]
    place = os.path.expanduser(str(known.get("bundles", place)))
    if not os.path.isabs(place):
        problems.append(_wrong(document, "bundles", "there is no place for bundles: name one as an absolute path"))
    # Who may write the file decides whose hooks run here: in doubt nobody's.
    believed = not any(one.severity == "error" for one in problems)
    keys, wrong = _keys(document, known.get("keys", ())) if believed else ({}, ())
    return FleetSettings(
        file=file,
        managed=managed,
        machine=str(known.get("machine") or os.uname().nodename),
        groups=tuple(known.get("groups", ())),
        keys=keys,
        place=place,
        required=bool(known.get("required", False)),
        problems=(*problems, *wrong),
        table=table,
    )


def _keys(document: Document, texts: Any) -> tuple[dict[str, bytes], tuple[Diagnostic, ...]]:
    keys: dict[str, bytes] = {}
    wrong: list[Diagnostic] = []
    for index, text in enumerate(cast("list[str]", texts)):
        public = read_key(text)
        if public is None:
            message = f"{text[:60]!r} is no public key; `hookline fleet keygen` prints one as ed25519:..."
            wrong.append(Diagnostic("error", "bad-key", message, document.where("keys", index)))
        else:
            keys[key_id(public)] = public
    if not keys and not wrong:
        message = "it has no keys, so no bundle counts on this machine"
        fix = 'keys = ["ed25519:..."], as `hookline fleet keygen` prints it'
        wrong.append(Diagnostic("error", "no-keys", message, document.where(), fix=fix))
    return keys, tuple(wrong)


def _foreign(file: str, *, managed: bool) -> tuple[Diagnostic, ...]:
    """Somebody else could have written the keys."""
    try:
        found = os.stat(file)
    except OSError:
        return ()  # that it cannot be read is said already
    owners = (0,) if managed else (0, os.geteuid())
    if found.st_uid in owners and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return ()
    who = "root" if managed else "you"
    message = f"others than {who} can write it, so no key in it is believed"
    return (Diagnostic("error", "foreign-keys", message, Where(file), fix=f"chown {who} and chmod go-w {file}"),)


def _wrong(document: Document, name: str, message: str) -> Diagnostic:
    return Diagnostic("error", "wrong-type", message, document.where(name))
