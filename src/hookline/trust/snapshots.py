"""Cache the files that hooks name, as long as they do not change: the one cache of trust.

Trust checks a hook when it is loaded, listed, and each time before it runs. Its `HookSnapshot` has all facts
about it; the digests of its files are valid as long as a stat of each shows no change.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.disk import DISK, Disk
from hookline.documents.document import Document
from hookline.handlers.specs import CommandSpec
from hookline.model.diagnostics import Where
from hookline.model.hook import Hook, Scope
from hookline.trust.items import FileSnapshot, TrustItem, as_utf8, canonical, hook_facts, item_of, shown_files
from hookline.trust.project import ProjectFiles
from hookline.trust.store import StoredItem

if TYPE_CHECKING:
    from hookline.trust.files import FileFinder

#: The position of a hook and its reading, see `_key`.
_Key = tuple[str, tuple[str | int, ...], str, str, int]
#: Kind and file of an item, and one thing about it.
_Likeness = tuple[str, str, str, str]

#: More than people configure; then all are decided about again.
_MOST_ADMITTED = 2000


class LocatedHook(Struct, frozen=True):
    """A hook in one directory: the files it names there, and the resulting item."""

    files: FileSnapshot
    item: TrustItem


class HookSnapshot(Struct, eq=False):
    """All facts about one reading of one hook."""

    #: The hook as it was read. It keeps the spec alive, whose id is part of the key.
    hook: Hook
    #: All its meaningful facts, from its file as it was read; empty if it was not registered.
    facts: str = ""
    #: It is in its file, as that was read last.
    registered: bool = False
    #: Its item is one of those that the project has now.
    present: bool = False
    #: It was trusted when its status was last requested.
    was_trusted: bool = False
    #: By the directory and the project that it runs in; empty ones mean the project's root.
    seen: dict[tuple[str, str], LocatedHook] = {}


class HookSnapshots:
    """The hooks and other items of one project, as they were last seen."""

    def __init__(self, project: ProjectFiles, env: Mapping[str, str], disk: Disk = DISK) -> None:
        self._project = project
        self._disk = disk
        self._env = env
        self._records: dict[_Key, HookSnapshot] = {}
        #: By id, the hooks that may start in the project's root, with the files they had then. The hook itself is kept,
        #: so that no other one gets its id.
        self._admitted: dict[int, tuple[Hook, FileSnapshot]] = {}
        #: Items that are not hooks, by file, kind and label.
        self._others: dict[tuple[str, str, str], TrustItem] = {}
        #: By file and scope: the root of the trust in it; None if it needs none.
        self._owners: dict[tuple[str, Scope], str | None] = {}
        self._shown_files: dict[str, str] = {}
        #: By dialect: the variables of its commands that hold the project's directory.
        self._variables: dict[str, Sequence[str]] = {}
        #: Trusted items that are gone, by what another version may have in common with them.
        self._gone: tuple[Mapping[str, StoredItem], Mapping[_Likeness, StoredItem]] | None = None

    def owner(self, file: str, scope: Scope) -> str | None:
        """Return the root under which trust in a file is stored; None for a file that needs no trust."""
        at = (file, scope)
        if at not in self._owners:
            foreign = self._project.is_foreign(file, scope)
            self._owners[at] = self._project.owner(file, scope) if foreign else None
        return self._owners[at]

    def forget_owners(self) -> None:
        """Find the owners of files again: the user named some, or a plugin brings them."""
        self._owners.clear()

    def is_admitted(self, hook: Hook) -> bool:
        """Return True if exactly this hook was admitted to the project's root, and no file has changed since."""
        known = self._admitted.get(id(hook))
        return known is not None and known[1].holds()

    def keep_admitted(self, hook: Hook, files: FileSnapshot) -> None:
        if len(self._admitted) >= _MOST_ADMITTED:
            self._admitted.clear()  # some are made for one call alone
        self._admitted[id(hook)] = (hook, files)

    def forget_admitted(self) -> None:
        """Decide about every hook anew."""
        self._admitted.clear()

    def register(self, document: Document, hooks: Sequence[Hook], variables: Sequence[str]) -> None:
        """Take the hooks of a file that need trust, as they were just read."""
        for record in self._records.values():
            if record.hook.where.file == document.file:
                record.registered = record.present = False
        self._gone = None
        for hook in hooks:
            record = self.record(hook)
            record.hook, record.registered = hook, True
            record.facts = hook_facts(hook, document.value)
            self._variables[hook.dialect] = variables

    def record(self, hook: Hook) -> HookSnapshot:
        """Return the record of a hook, made if there is none."""
        key = _key(hook)
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = HookSnapshot(hook)
        return record

    def see(self, hook: Hook, cwd: str = "", project: str = "") -> LocatedHook:
        """Check a hook and its current files: in the project's root, or in these directories."""
        record = self.record(hook)
        facts = record.facts or hook_facts(hook, None)
        before = record.seen.get((cwd, project))
        # Copies of an unregistered hook may differ.
        if before is not None and before.item.facts == facts and before.files.holds():
            seen = before
        else:
            seen = record.seen[(cwd, project)] = self._look(hook, facts, cwd, project)
        at_root = not (cwd or project)
        if at_root and not (record.present and (seen is before or (before and before.item == seen.item))):
            record.present = True
            self._gone = None
        return seen

    def _look(self, hook: Hook, facts: str, cwd: str, project: str) -> LocatedHook:
        files = self.files_of(hook, cwd, project)
        item = TrustItem(
            kind="hook",
            file=self._shown(hook.where.file),
            label=as_utf8(f"{hook.policy.event_name} {hook.name}"),
            facts=facts,
            files=shown_files(files.files, self._project.root, self._project.real_home),
            where=hook.where,
        )
        return LocatedHook(files, item)

    def _shown(self, file: str) -> str:
        """Return a file as items name it; most hooks of a project are in one."""
        known = self._shown_files.get(file)
        if known is None:
            known = self._shown_files[file] = self._project.shown(os.path.abspath(file))
        return known

    def files_of(self, hook: Hook, cwd: str, project: str) -> FileSnapshot:
        """Read the files of a hook, whatever is known of them."""
        spec = hook.spec
        if not isinstance(spec, CommandSpec):
            return FileSnapshot()
        from hookline.trust.command_paths import CommandPaths, as_line  # noqa: PLC0415 only commands name files

        own, directory = _own_variables(spec), cwd or self._project.root
        starts_in = os.path.join(directory, os.path.expanduser(spec.cwd)) if spec.cwd else directory
        line = spec.command if spec.args is None else as_line((spec.command, *spec.args))
        plain = None if own else self._finder.snapshot_words(line, starts_in)
        if plain is not None:
            return plain
        home = self._project.real_home
        variables = {
            "HOME": home,
            "PWD": directory,
            **dict.fromkeys(self._variables.get(hook.dialect, ()), project or directory),
            **own,
        }
        return self._finder.snapshot(
            (line, *own.values()), CommandPaths(starts_in, home, variables, self._env)
        )

    # -- items that are not hooks

    def settings_item(self, where: Where, label: str, facts: Any) -> TrustItem:
        """Make the item of settings that loosen something."""
        return self._present(
            item_of("settings", where, label, facts, self._project.root, self._project.real_home)
        )

    def server_item(
        self, where: Where, label: str, facts: Any, words: Sequence[str], directory: str
    ) -> TrustItem:
        """Make the item of an MCP server, which starts in a directory. Its words may name files."""
        from hookline.trust.command_paths import CommandPaths  # noqa: PLC0415 few ask about servers

        home = self._project.real_home
        paths = CommandPaths(directory, home, {"HOME": home, "PWD": directory}, self._env)
        files = self._finder.snapshot(words, paths).files
        return self._present(item_of("server", where, label, facts, self._project.root, home, files))

    def _present(self, item: TrustItem) -> TrustItem:
        self._others[(item.file, item.kind, item.label)] = item
        self._gone = None
        return item

    # -- items that are gone

    def replaced_by(self, item: TrustItem, stored: Mapping[str, StoredItem]) -> StoredItem | None:
        """Return the stored item that this one seems to be a change of: alike, and gone."""
        if self._gone is None or self._gone[0] is not stored:
            for record in [record for record in self._records.values() if record.registered]:
                self.see(record.hook)
            there = {each.identity for each in self._items()}
            gone = [each for identity, each in stored.items() if identity not in there]
            self._gone = (stored, {likeness: each for each in gone for likeness in _likenesses(each)})
        return next((found for each in _likenesses(item) if (found := self._gone[1].get(each))), None)

    def _items(self) -> Iterator[TrustItem]:
        yield from (record.seen[("", "")].item for record in self._records.values() if record.present)
        yield from self._others.values()

    @cached_property
    def _finder(self) -> "FileFinder":
        from hookline.trust.files import FileFinder  # noqa: PLC0415 only commands name files

        return FileFinder(self._project.root, self._disk)


def _key(hook: Hook) -> _Key:
    """Name the position of a hook and its reading: an earlier one may be active while the user reviews a
    change.

    One entry may be a hook at several events. Options that change a hook leave its spec as it is.
    """
    return hook.where.file, hook.where.path, hook.event.name, hook.policy.event_name, id(hook.spec)


def _own_variables(spec: CommandSpec) -> Mapping[str, str]:
    """Return the variables that an entry sets for its command; some formats fill in others as it starts."""
    later: Mapping[str, str] = getattr(spec, "variables", {})
    return {**spec.env, **later} if later else spec.env


def _likenesses(item: TrustItem | StoredItem) -> Iterator[_Likeness]:
    """Yield what another version of an item may have in common with it, the surest first."""
    files = canonical(item.files).decode() if item.files else ""
    for name, value in (("label", item.label), ("facts", item.facts), ("files", files)):
        if value:
            yield item.kind, item.file, name, value
