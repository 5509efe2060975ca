"""Find Gemini CLI's extensions in the user's directory: installed and active ones; and its trust in a
directory."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hookline.dialects.dialect import ConfigPath, Layer, Plugin, Plugins
from hookline.dialects.files import read_file
from hookline.dialects.gemini_cli import trust_rule
from hookline.dialects.gemini_cli.payload import as_items, as_object
from hookline.disk import Disk
from hookline.matching.patterns import glob
from hookline.model.diagnostics import Diagnostic

_MANIFEST: Final = "gemini-extension.json"
_HOOKS: Final = "hooks/hooks.json"
#: Marks an extension that is only linked to, with its path.
_INSTALLED: Final = ".gemini-extension-install.json"
_ENABLEMENT: Final = "extension-enablement.json"
_TRUSTED: Final = "trustedFolders.json"


def find_extensions(directories: Sequence[str], cwd: str, settings: Sequence[Layer], disk: Disk) -> Plugins:
    """Find extensions in every directory of the user. An extension is active unless a rule for this directory
    says otherwise."""
    config_paths: list[ConfigPath] = []
    off: list[tuple[ConfigPath, str]] = []
    said: list[Diagnostic] = []
    for directory in directories:
        rules = _value(os.path.join(directory, "extensions", _ENABLEMENT), disk)
        for plugin in _installed(os.path.join(directory, "extensions"), disk):
            place = ConfigPath(os.path.join(plugin.root, _HOOKS), "plugin", plugin)
            if not disk.is_there(place.file):
                continue
            if is_on(as_object(rules.get(plugin.name)), cwd):
                config_paths.append(place)
            else:
                off.append((place, f"the extension {plugin.name} is disabled here"))
        said += _about_trust(os.path.join(directory, _TRUSTED), cwd, settings, disk)
    return Plugins(tuple(config_paths), tuple(off), tuple(said))


def _installed(directory: str, disk: Disk) -> Iterator[Plugin]:
    for name in sorted(disk.listdir(directory)) if disk.isdir(directory) else ():
        root = os.path.join(directory, name)
        metadata = _value(os.path.join(root, _INSTALLED), disk)
        if metadata.get("type") == "link" and os.path.isabs(str(metadata.get("source"))):
            root = str(metadata["source"]).rstrip("/")
        manifest = _value(os.path.join(root, _MANIFEST), disk)
        if manifest:
            yield Plugin(str(manifest.get("name") or name), root, str(manifest.get("version", "")))


def is_on(rules: Mapping[str, Any], cwd: str) -> bool:
    """Return True if the last rule about a directory enables it: `/home/ada/*` with all that is below it, `!`
    before it means off."""
    on, here = True, os.path.abspath(cwd).rstrip("/") + "/"
    for rule in as_items(rules.get("overrides")):
        path = str(rule).removeprefix("!")
        if any(glob(path).matches(each) for each in (here, here.rstrip("/"))):
            on = not str(rule).startswith("!")
    return on


def _about_trust(file: str, cwd: str, settings: Sequence[Layer], disk: Disk) -> Iterator[Diagnostic]:
    """Report a directory that the user does not trust: the agent runs no hooks of settings there; Hookline
    has its own trust."""
    if not settings or not disk.is_there(file):
        return
    document = read_file(file, disk=disk)
    rule = trust_rule(as_object(document.value), cwd)
    if rule is not None and rule[1] == "DO_NOT_TRUST":
        message = f"Gemini CLI does not trust {rule[0]}, so it runs no hooks of settings files there"
        fix = "trust the directory in Gemini CLI"
        yield Diagnostic("info", "untrusted-folder", message, document.where(rule[0]), fix=fix)


def _value(file: str, disk: Disk) -> Mapping[str, Any]:
    return as_object(read_file(file, disk=disk).value) if disk.is_there(file) else {}
