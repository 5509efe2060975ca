"""Define what can be trusted: one item for each hook, MCP server, and file with settings that loosen.

Two items are the same if they do the same: neither a line, nor the order of entries, nor the project's own
path is part of an item, so formatting does not matter and a clone elsewhere has the same items.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from hookline.model.diagnostics import NOWHERE, Path, Where
from hookline.model.hook import Hook
from hookline.trust.digest import sha256

ItemKind = Literal["hook", "server", "settings"]
#: The name of the fact that a file of the project has other files sent to the model with it.
INCLUDES = "sends to the model"


#: Device, number, size and times of a file: equal ones mean the same content.
Signature = tuple[int, int, int, int, int]


class NamedFile(Struct, frozen=True, gc=False):
    """A file that a command names."""

    #: The text that names it.
    text: str
    #: Its real path.
    path: str
    #: The sha256 of its content; else the reason why it is not covered, in brackets.
    digest: str


def signature(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class FileSnapshot(Struct, frozen=True, gc=False):
    """The files that command lines name, and the state of every path that they may name."""

    files: tuple[NamedFile, ...] = ()
    #: Signatures by path; None where there is nothing.
    seen: tuple[tuple[str, Signature | None], ...] = ()
    #: Directories that were searched: device and number by path.
    directories: tuple[tuple[str, int, int], ...] = ()
    #: False: something changed just now, so that a further change may not show.
    settled: bool = True

    def holds(self) -> bool:
        """Return True if everything is as it was."""
        stat_of, there = os.stat, os.access
        try:
            for path, before in self.seen:
                if before is None:
                    if there(path, os.F_OK):
                        return False
                elif signature(stat_of(path)) != before:
                    return False
            for path, device, number in self.directories:
                now = stat_of(path)
                if (now.st_dev, now.st_ino) != (device, number):
                    return False
        except OSError:
            return False
        return self.settled


class TrustItem(Struct, frozen=True, gc=False):
    """Something a project brings that runs code or loosens what the user has decided."""

    kind: ItemKind
    #: The file it is configured in, from the root of the project.
    file: str
    #: Its name for users.
    label: str
    #: All its meaningful facts, as canonical JSON.
    facts: str
    #: Files that it runs, by path from the root, with their digests.
    files: Mapping[str, str] = {}
    where: Where = NOWHERE

    @property
    def identity(self) -> str:
        # No part can hold a zero byte: paths have none, and JSON escapes them.
        parts = [self.kind, self.file, self.facts]
        for path in self.files if len(self.files) < 2 else sorted(self.files):
            parts += (path, self.files[path])
        return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def canonical(value: Any) -> bytes:
    """Encode a value: equal values have equal texts, whatever the order of their keys."""
    try:
        return msgspec.json.encode(value, order="deterministic", enc_hook=str)
    except UnicodeEncodeError:
        # A JSON file may hold half a character, which has no UTF-8.
        import json  # noqa: PLC0415 hardly ever needed

        plain: Any = msgspec.to_builtins(value, order="deterministic", enc_hook=str, str_keys=True)
        return json.dumps(plain).encode()


def readable(facts: str) -> str:
    """Format the facts of an item for people: a line for each, in a fixed order."""
    import json  # noqa: PLC0415 only where it is shown

    return json.dumps(decoded(facts), indent=2, ensure_ascii=False)


def decoded(facts: str) -> Any:
    """Decode the facts of an item. They may hold half a character, which msgspec refuses."""
    import json  # noqa: PLC0415 only where it is shown

    return json.loads(facts)


def as_utf8(text: str) -> str:
    """Return the text, with escapes for what UTF-8 does not have."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def shown_path(path: str, root: str, home: str) -> str:
    """Return a path from the root of the project, from the home directory, or whole."""
    if path.startswith(f"{root.rstrip(os.sep)}/"):
        path = path[len(root.rstrip(os.sep)) + 1 :]
    elif home and path.startswith(f"{home.rstrip(os.sep)}/"):
        path = f"~/{path[len(home.rstrip(os.sep)) + 1 :]}"
    return as_utf8(path)


def shown_files(files: Sequence[NamedFile], root: str, home: str) -> dict[str, str]:
    """Return digests by the paths that are shown. Different files may be shown alike, as `~/x` in the root
    and in the home."""
    found: dict[str, str] = {}
    for each in files:
        path = shown_path(each.path, root, home)
        while path in found:
            path = f"./{path}"
        found[path] = each.digest
    return found


def hook_facts(hook: Hook, document: Any) -> str:
    """Return all meaningful facts of a hook: its entry as it was written, and the values read from it.

    Take it from the hook as it was loaded: options such as `--strict` change it afterwards.
    """
    entry, group = _written(document, hook.where.path)
    facts = {
        "dialect": hook.dialect,
        "event": hook.event.name,
        "event_name": hook.policy.event_name,
        "type": hook.kind,
        "matcher": None if hook.matcher is None else hook.matcher.text,
        "condition": None if hook.condition is None else hook.condition.text,
        "timeout": hook.timeout,
        "waiting": hook.waiting,
        "scope": hook.scope,
        # The names around the entry, such as that of an agent; not its position in a list.
        "at": [part for part in hook.where.path if isinstance(part, str)],
        "group": group,
        "entry": _as_read(hook) if entry is None else entry,
    }
    return canonical({name: fact for name, fact in facts.items() if fact not in (None, {})}).decode()


def _as_read(hook: Hook) -> Mapping[str, Any]:
    """Reconstruct the entry of a hook whose written form is not known."""
    return {
        "spec": hook.spec,
        "once": hook.once,
        "mode": hook.mode,
        "on_failure": hook.on_failure,
        "rewrites": hook.rewrites,
        "required": hook.required,
        "output": hook.output,
        "in_doubt": hook.in_doubt,
    }


def _written(document: Any, path: Path) -> tuple[Any, dict[str, Any]]:
    """Return the entry at a path of a document, and the other keys of the groups around it."""
    around: dict[str, Any] = {}
    value: Any = document
    for at, key in enumerate(path):
        step: Any = value
        if isinstance(value, Mapping) and at and isinstance(path[at - 1], int):
            table = cast("Mapping[str, Any]", value)
            around |= {name: each for name, each in table.items() if name != key}
        try:
            value = step[key]
        except (KeyError, IndexError, TypeError):
            return None, around
    return value, around


def item_of(
    kind: ItemKind,
    where: Where,
    label: str,
    facts: Any,
    root: str,
    home: str,
    files: Sequence[NamedFile] = (),
) -> TrustItem:
    """Make an item that is not a hook."""
    return TrustItem(
        kind=kind,
        file=shown_path(os.path.abspath(where.file), root, home),
        label=as_utf8(label),
        facts=canonical(facts).decode(),
        files=shown_files(files, root, home),
        where=where,
    )


def group_hashes(items: Sequence[TrustItem]) -> tuple[str, ...]:
    """Return one hash for each group, as `HOOKLINE_TRUST` and `hookline trust --yes` take them."""
    groups = hashed_together(items)
    return tuple(
        sha256(canonical(sorted(each.identity for each in group))).hexdigest()[:32] for group in groups
    )


def hashed_together(items: Sequence[TrustItem]) -> list[list[TrustItem]]:
    """Group the items by file and kind. Several readers read the settings of one file, so each has a separate
    hash."""
    groups: dict[tuple[str, str, str], list[TrustItem]] = {}
    for item in items:
        label = item.label if item.kind == "settings" else ""
        groups.setdefault((item.file, item.kind, label), []).append(item)
    return [group for _, group in sorted(groups.items())]
