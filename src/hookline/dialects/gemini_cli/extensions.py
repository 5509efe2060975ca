"""Gemini CLI's extensions in the user's folder: which are installed and in use; and whether it trusts a folder."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from hookline.dialects.dialect import Layer, Place, Plugin, Plugins, is_there
from hookline.dialects.gemini_cli import trust_rule
from hookline.dialects.gemini_cli.payload import as_items, as_object
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic

_MANIFEST: Final = "gemini-extension.json"
_HOOKS: Final = "hooks/hooks.json"
#: Says of an extension that it is only linked to, and where it is.
_INSTALLED: Final = ".gemini-extension-install.json"
_ENABLEMENT: Final = "extension-enablement.json"
_TRUSTED: Final = "trustedFolders.json"

Read = Callable[[str], Document]


def find_extensions(folders: Sequence[str], cwd: str, settings: Sequence[Layer], read: Read) -> Plugins:
    """Of every folder of the user. An extension is in use unless a rule for this directory says otherwise."""
    places: list[Place] = []
    off: list[tuple[Place, str]] = []
    said: list[Diagnostic] = []
    for folder in folders:
        rules = _value(os.path.join(folder, "extensions", _ENABLEMENT), read)
        for plugin in _installed(os.path.join(folder, "extensions"), read):
            place = Place(os.path.join(plugin.root, _HOOKS), "plugin", plugin)
            if not is_there(place.file):
                continue
            if is_on(as_object(rules.get(plugin.name)), cwd):
                places.append(place)
            else:
                off.append((place, f"the extension {plugin.name} is disabled here"))
        said += _about_trust(os.path.join(folder, _TRUSTED), cwd, settings, read)
    return Plugins(tuple(places), tuple(off), tuple(said))


def _installed(folder: str, read: Read) -> Iterator[Plugin]:
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        root = os.path.join(folder, name)
        metadata = _value(os.path.join(root, _INSTALLED), read)
        if metadata.get("type") == "link" and os.path.isabs(str(metadata.get("source"))):
            root = str(metadata["source"]).rstrip("/")
        manifest = _value(os.path.join(root, _MANIFEST), read)
        if manifest:
            yield Plugin(str(manifest.get("name") or name), root, str(manifest.get("version", "")))


def is_on(rules: Mapping[str, Any], cwd: str) -> bool:
    """The last rule about a directory decides: `/home/ada/*` with all that is below it, `!` before it means off."""
    on, here = True, os.path.abspath(cwd).rstrip("/") + "/"
    for rule in as_items(rules.get("overrides")):
        path = str(rule).removeprefix("!")
        pattern = ".*".join(map(re.escape, path.split("*")))
        if re.fullmatch(pattern + "/?", here) or re.fullmatch(pattern, here.rstrip("/")):
            on = not str(rule).startswith("!")
    return on


def _about_trust(file: str, cwd: str, settings: Sequence[Layer], read: Read) -> Iterator[Diagnostic]:
    """In a folder that the user does not trust, the agent runs no hooks of settings; Hookline has its own trust."""
    if not settings or not is_there(file):
        return
    document = read(file)
    rule = trust_rule(as_object(document.value), cwd)
    if rule is not None and rule[1] == "DO_NOT_TRUST":
        message = f"Gemini CLI does not trust {rule[0]}, so it runs no hooks of settings files there"
        fix = "trust the folder in Gemini CLI"
        yield Diagnostic("info", "untrusted-folder", message, document.where(rule[0]), fix=fix)


def _value(file: str, read: Read) -> Mapping[str, Any]:
    return as_object(read(file).value) if is_there(file) else {}
