"""Find Claude Code's mods: modules of plugins that sit around the agent's decisions and can overrule any hook.

A mod is a plugin whose hooks/hooks.json names `modules`. The events that it takes are read from its source, as Claude
Code does before it loads one.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from msgspec import Struct

from hookline.dialects.claude_code.own_mod import is_ours
from hookline.dialects.files import read_file
from hookline.dialects.plugin_files import subdirectories
from hookline.disk import Disk
from hookline.model.diagnostics import Diagnostic, Where

#: Events by which a mod decides instead of hooks, hides a call from them, or changes it after they saw it.
_OVERRULES = ("tool.check", "tool.call", "tool.run", "tool.judge", "plugin.register", "classic.")
_TAKES = re.compile(r"""\bon\s*\(\s*(['"`])([a-zA-Z][\w.*]{0,60})\1""")
#: Longer modules are read up to here.
_LONGEST = 1 << 20


class Mod(Struct, frozen=True):
    """A module that Claude Code loads into itself."""

    name: str
    file: str
    #: The events that it takes, in the order of its source.
    events: tuple[str, ...] = ()
    #: Its file cannot be read, or computes the names of its events.
    unreadable: bool = False

    @property
    def overrules(self) -> tuple[str, ...]:
        """The events by which it can overrule hooks."""
        return tuple(event for event in self.events if event.startswith(_OVERRULES) or event == "*")


def find_mods(directories: Sequence[str], disk: Disk) -> list[Mod]:
    """Return the mods below these directories: each plugin has a directory of its own there."""
    roots = [root for directory in directories for root in subdirectories(directory, disk)]
    return [mod for root in roots for mod in mods_of(root, disk)]


def mods_of(root: str, disk: Disk) -> Iterator[Mod]:
    """Yield the mods of the plugin in this directory."""
    manifest = f"{root}/hooks/hooks.json"
    if not disk.isfile(manifest):
        return
    value: Any = read_file(manifest, disk=disk).value
    listed: Any = cast("dict[str, Any]", value).get("modules") if isinstance(value, dict) else None
    for each in cast("list[Any]", listed) if isinstance(listed, list) else []:
        file = os.path.normpath(os.path.join(root, "hooks", str(each)))
        if not disk.isfile(file):  # its path may begin at the plugin, too
            file = os.path.normpath(os.path.join(root, str(each)))
        text = _text(file, disk)
        events = tuple(dict.fromkeys(found[2] for found in _TAKES.finditer(text or "")))
        if not is_ours(text):
            yield Mod(os.path.basename(root), file, events, unreadable=text is None or not events)


def mod_findings(mods: Sequence[Mod], managed: str) -> Iterator[Diagnostic]:
    """Report mods that can overrule hooks; `managed` is a settings file with which Claude Code keeps them from it."""
    for mod in mods:
        what = ", ".join(mod.overrules) or "events that its source does not show"
        if not mod.overrules and not mod.unreadable:
            continue
        if managed:
            message = (
                f"the mod {mod.name} takes {what}; because of {managed} it cannot lift a denial of a hook"
            )
            yield Diagnostic("info", "mod", message, Where(mod.file))
            continue
        message = f"the mod {mod.name} takes {what}: it can overrule every hook here, and nothing stops it"
        fix = (
            f"remove {os.path.dirname(os.path.dirname(mod.file))}, or run `hookline install claude-code --mod`, which "
            "asks before other mods, or let an administrator write any setting into "
            "/etc/claude-code/managed-settings.json: then a mod cannot lift a denial"
        )
        yield Diagnostic("error", "overruling-mod", message, Where(mod.file), fix=fix)


def _text(file: str, disk: Disk) -> str | None:
    try:
        descriptor = disk.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            return stream.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return None
