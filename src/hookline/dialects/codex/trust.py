"""Read what Codex's user has trusted: a hash per entry, under a key that holds the entry's position in its
file.

The state is in the user's own config.toml, `[hooks.state."FILE:EVENT:GROUP:ENTRY"]` with `trusted_hash` and
`enabled`. Codex silently skips entries without a hash, or with another one. Since 0.169 it reads entries of a
project only if the same file lists it as trusted.
"""

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, cast

from hookline.dialects.codex.events import (
    BRIEF,
    CONTEXT_LIMIT,
    END_TIMEOUT,
    LONGEST_END_TIMEOUT,
    ROWS,
    TIMEOUT,
)
from hookline.dialects.dialect import Layer
from hookline.dialects.report import LoadReport
from hookline.model.events import Capability
from hookline.model.hook import Hook, Scope

#: For each type, the fields in the hash; missing or empty ones are not included.
_COUNTED = {
    "command": ("command", "async", "statusMessage", "additionalContextLimit"),
    "mcp_tool": ("server", "tool", "input", "statusMessage"),
}


def as_table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def seconds(event: str, given: Any) -> int:
    """Return the seconds that Codex waits for a hook, whatever its entry says."""
    least, at_end = max(given, 1) if isinstance(given, int) else None, event in BRIEF
    if at_end:
        return int(min(least or END_TIMEOUT, LONGEST_END_TIMEOUT))
    return least or int(TIMEOUT)


def trusted_hash(event: str, matcher: str | None, entry: Mapping[str, Any]) -> str:
    """Return the hash of an entry's meaning: files in TOML and JSON have the same."""
    import json  # noqa: PLC0415 only where it is asked for

    kind = str(entry.get("type", ""))
    counted: dict[str, Any] = {"async": False} if kind == "command" else {"input": {}}
    counted |= {key: entry[key] for key in _COUNTED.get(kind, ()) if entry.get(key) is not None}
    if counted.get("additionalContextLimit") == CONTEXT_LIMIT or not ROWS[event].may & Capability.CONTEXT:
        counted.pop("additionalContextLimit", None)
    handler = {"type": kind, "timeout": seconds(event, entry.get("timeout")), **counted}
    identity: dict[str, Any] = {"event_name": event_key(event), "hooks": [handler]}
    if matcher is not None and ROWS[event].subjects != ():
        identity["matcher"] = matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def event_key(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def state_key(file: str, event: str, group: int, entry: int) -> str:
    return f"{file}:{event_key(event)}:{group}:{entry}"


def unlisted(project: str) -> str:
    """Say that Codex loads no entries of a project without a trust level."""
    return f"Codex does not list {project} as a trusted project, and since 0.169 it loads no entries there"


#: The fix for it.
TRUST_IT = (
    "add --trust, which trusts the whole project in Codex; or run `codex exec --trust` there once; "
    "or install for the user: hookline install codex"
)


class HookTrust:
    """The trust of all layers together: which hooks run."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        tables = {layer.config_path.file: as_table(layer.document.value) for layer in layers}
        self._layers = {layer.config_path.file: layer for layer in layers}
        # No other file can grant it: a project cannot trust itself.
        users = [layer.config_path.file for layer in layers if layer.config_path.scope in ("user", "flag")]
        self._levels = {
            key: value for file in users for key, value in as_table(tables[file].get("projects")).items()
        }
        #: By key, with the file that has it.
        self._states = {
            key.strip(): (file, as_table(state))
            for file in users
            for key, state in as_table(as_table(tables[file].get("hooks")).get("state")).items()
        }
        said = {file: as_table(table.get("features")).get("hooks") for file, table in tables.items()}
        switch = next((file for file in reversed(said) if isinstance(said[file], bool)), None)
        self._off = switch if switch is not None and said[switch] is False else None
        self._managed_only = any(
            tables[file].get("allow_managed_hooks_only") is True and layer.config_path.scope == "managed"
            for file, layer in self._layers.items()
        )

    def switched_off(self, scope: Scope, file: str) -> str | None:
        """Return why no hook of a file runs, or None."""
        if self._off is not None:
            return f"features.hooks in {self._off} turns the hooks of this file off"
        if self._managed_only and scope != "managed":
            return "allow_managed_hooks_only turns the hooks of this file off"
        directory, level = self._level(file)
        if scope == "project" and level == "untrusted":
            return f"{directory} is an untrusted project, so Codex reads no hooks there"
        return None

    def trusts_plugin(self, name: str) -> bool:
        """Return True if the user has trusted hooks of a plugin. If its content has changed since, is not known here:
        Codex compares that with a baseline of its own."""
        return any(
            key.startswith(f"{name}:") and state.get("trusted_hash")
            for key, (_, state) in self._states.items()
        )

    def report_unlisted(self, scope: Scope, file: str, report: LoadReport) -> None:
        """Report that a project needs its own trust. Its hooks stay: an older Codex runs them."""
        if scope == "project" and self._level(file)[1] is None:
            message = unlisted(os.path.dirname(os.path.dirname(file)))
            report.say("warning", "unlisted-project", message, "hooks", fix=TRUST_IT)

    def _level(self, file: str) -> tuple[str, Any]:
        """Return the nearest directory of a project's file that the user's config.toml lists, and its trust level."""
        directory = os.path.dirname(os.path.dirname(file))
        while directory not in self._levels and directory != os.path.dirname(directory):
            directory = os.path.dirname(directory)
        return directory, as_table(self._levels.get(directory)).get("trust_level")

    def runs(self, hook: Hook, scope: Scope, report: LoadReport) -> bool:
        """Return True if Codex runs an entry; if not, report why. Files that the caller named are trusted."""
        if scope not in ("user", "project"):
            return True
        _, event, group, _, index = hook.where.path
        key = state_key(hook.where.file, str(event), int(group), int(index))
        groups: Any = as_table(as_table(report.document.value)["hooks"])[str(event)]
        matcher, entry = groups[group].get("matcher"), groups[group]["hooks"][index]
        known, state = self._states.get(key, ("", {}))
        stored, current = state.get("trusted_hash"), trusted_hash(str(event), matcher, entry)
        if state.get("enabled") is False:
            report.say(
                "info",
                "disabled",
                f"it is off: {known} says enabled = false",
                *hook.where.path,
                hook=hook.name,
            )
        elif stored != current:
            said = self._why_skipped(key, stored, current)
            report.say(
                "warning", *said, *hook.where.path, hook=hook.name, fix="review it with /hooks in Codex"
            )
        return stored == current and state.get("enabled") is not False

    def _why_skipped(self, key: str, stored: Any, current: str) -> tuple[str, str]:
        """Return a code and a message."""
        place = key.rsplit(":", 2)[0]
        before = [each for each, (_, state) in self._states.items() if state.get("trusted_hash") == current]
        moved = next((each for each in before if each.rsplit(":", 2)[0] == place), None)
        if moved is not None:
            was, now = moved[len(place) + 1 :], key[len(place) + 1 :]
            return (
                "moved-entry",
                f"Codex skips this hook: it was trusted as {was} of its event, and is {now} now",
            )
        if stored is not None:
            return "changed-since-trusted", "Codex skips this hook: it has changed since the user trusted it"
        return "not-trusted", "Codex silently skips this hook: the user has not trusted it"

    def report_stale(self, file: str, report: LoadReport) -> None:
        """Report states of this file for entries that do not exist."""
        for key, (_, state) in self._states.items() if file in {f for f, _ in self._states.values()} else ():
            named, event, group, index = (*key.rsplit(":", 3), "", "", "")[:4]
            if self._states[key][0] != file or named not in self._layers or not state.get("trusted_hash"):
                continue
            hooks = as_table(as_table(self._layers[named].document.value).get("hooks"))
            groups = next((value for name, value in hooks.items() if event_key(name) == event), None)
            if not _has(groups, group) or not _has(
                as_table(cast("Any", groups)[int(group)]).get("hooks"), index
            ):
                message = f"it trusts {event}:{group}:{index} of {named}, where no hook is"
                report.say("warning", "stale-trust", message, "hooks", "state", key, fix="remove it")


def _has(some: Any, index: str) -> bool:
    return isinstance(some, list) and index.isdecimal() and int(index) < len(cast("list[Any]", some))
