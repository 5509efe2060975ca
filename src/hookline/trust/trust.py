"""Decide if something of a project may run: when it is loaded, and again just before it runs.

An untrusted hook may tighten, never run and never loosen. The user's and the system's own hooks need no
trust.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.disk import DISK, Disk
from hookline.documents.document import Document
from hookline.engine.run_hook import ADMITTED, Admission
from hookline.handlers.specs import GUARDS, BuiltinSpec, CommandSpec
from hookline.model.diagnostics import Where
from hookline.model.events import Capability
from hookline.model.hook import BUNDLE_VARIABLE, Hook, HookBundle, Scope
from hookline.model.outcome import PASS, Message, Outcome, Vote
from hookline.model.session_info import SessionInfo
from hookline.trust.items import TrustItem, group_hashes, hashed_together
from hookline.trust.project import ProjectFiles, is_inside, is_trusted_directory
from hookline.trust.snapshots import HookSnapshots
from hookline.trust.store import AcceptedItems, StoredItem, TrustStore

if TYPE_CHECKING:
    from hookline.trust.files import NamedFile

State = Literal["managed", "trusted", "modified", "untrusted", "disabled"]

#: Events where hooks of an untrusted project may tighten, and the builtins that do nothing else.
_GUARDED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})
_TIGHTENING = frozenset({"deny", "ask", *GUARDS})
#: The variable with which a build trusts what it has checked.
VARIABLE = "HOOKLINE_TRUST"


class TrustStatus(Struct, frozen=True):
    """The state of one hook, and why."""

    state: State
    why: str

    @property
    def runs(self) -> bool:
        return self.state in ("managed", "trusted")


_TRUSTED_DIRECTORY = TrustStatus("trusted", "you trust this directory")


class TrustOptions(Struct, frozen=True, kw_only=True):
    """Options that decide about trust in a project besides the store."""

    #: `--trust`, or the host: everything counts as trusted.
    trusts_all: bool = False
    #: HOOKLINE_TRUST is used. Inside another agent it is not: a project's settings can set it there.
    environment: bool = True
    #: Run sealed copies of all scripts.
    strict: bool = False
    #: A guard that may not run asks the user instead, because nothing else would show that it exists.
    asks: bool = False


class Trust:
    """The decisions about what may run in one project."""

    def __init__(
        self, cwd: str, env: Mapping[str, str], options: "TrustOptions | None" = None, disk: Disk = DISK
    ) -> None:
        self.options = options or TrustOptions()
        self._disk = disk
        self.project = ProjectFiles(cwd, env.get("HOME", ""), disk)
        self.root = self.project.root
        self._env = env
        #: How often the user trusted something since.
        self.answers = 0
        self._accepted = AcceptedItems(TrustStore(env.get("HOME", ""), disk))
        self._hooks = HookSnapshots(self.project, env, disk)

    @cached_property
    def trusts_all(self) -> bool:
        """True if the user trusts the whole project: with an option, or in the settings."""
        return self.options.trusts_all or is_trusted_directory(self.root, self._env, self._disk)

    @property
    def store(self) -> TrustStore:
        return self._accepted.store

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why given trust is not used."""
        return tuple(self.store.problems)

    # -- files and items

    def is_foreign(self, file: str, scope: Scope) -> bool:
        """Return True if a file needs the user's trust: the project brought it, or a plugin."""
        return self._hooks.owner(file, scope) is not None

    def trust_files(self, files: Iterable[str]) -> None:
        """Take the files that the user named one by one: they need no further trust."""
        self.project.name_files(files)
        self._hooks.forget_owners()

    def register(
        self, document: Document, hooks: Iterable[Hook], variables: Sequence[str] = (), plugin: str = ""
    ) -> None:
        """Remember hooks as they were just read. `variables` of their commands hold the project.

        `plugin` is the directory of the plugin that brings them.
        """
        if plugin:
            self.project.add_plugin(document.file, plugin)
            self._hooks.forget_owners()
        own = [each for each in hooks if each.where.file == document.file]
        foreign = [each for each in own if self.is_foreign(document.file, each.scope)]
        self._hooks.register(document, foreign, variables)

    def item(self, hook: Hook) -> TrustItem:
        """Return a hook as it is now, with the files that it names in the project's root."""
        return self._hooks.see(hook).item

    def settings_item(self, where: Where, label: str, facts: Any) -> TrustItem:
        return self._hooks.settings_item(where, label, facts)

    def server_item(
        self, where: Where, label: str, facts: Any, words: Sequence[str], directory: str
    ) -> TrustItem:
        """Return an MCP server, which starts in a directory. Its words may name files."""
        return self._hooks.server_item(where, label, facts, words, directory)

    # -- status

    def allows(self, item: TrustItem, root: str | None = None) -> bool:
        """Return True if the user trusts exactly this."""
        return self.trusts_all or self._accepted.has(item, root or self.project.key)

    def status(self, hook: Hook) -> TrustStatus:
        """Return what a hook may do, and why."""
        if hook.mode == "off":
            return TrustStatus("disabled", "it is switched off")
        if hook.scope == "managed":
            return TrustStatus("managed", _why_managed(hook.bundle))
        root = self._hooks.owner(hook.where.file, hook.scope)
        if root is None:
            return TrustStatus("trusted", "it is your own" if hook.scope != "flag" else "you named it")
        if self.trusts_all:
            return _TRUSTED_DIRECTORY
        status = self.item_status(self.item(hook), root)
        if status.runs:
            self._hooks.record(hook).was_trusted = True
        return status

    def holds_back(self, hook: Hook) -> bool:
        """Return True if a hook does not run for want of trust. One that only tightens is used anyway."""
        return self.status(hook).state in ("untrusted", "modified") and not only_tightens(hook)

    def item_status(self, item: TrustItem, root: str | None = None) -> TrustStatus:
        """Return what an item that is not the user's own may do; its trust is stored under this root."""
        root = root or self.project.key
        if self.trusts_all:
            return _TRUSTED_DIRECTORY
        if self._accepted.has(item, root):
            return TrustStatus("trusted", "you trusted it as it is")
        before = self.before(item, root)
        if before is None:
            return TrustStatus("untrusted", "you have not trusted it")
        changed = [
            path for path in {**before.files, **item.files} if before.files.get(path) != item.files.get(path)
        ]
        what = ", ".join(changed) if changed else "its entry"
        return TrustStatus("modified", f"{what} changed since you trusted it")

    def before(self, item: TrustItem, root: str | None = None) -> StoredItem | None:
        """Return the trusted item that this one seems to be a change of: alike, and gone."""
        stored = self._accepted.stored(root or self.project.key)
        return self._hooks.replaced_by(item, stored) if stored else None

    # -- just before a hook runs

    def admit(self, hook: Hook, info: SessionInfo) -> Admission:
        """Decide if a hook may start now, and with which bytes."""
        root = self._hooks.owner(hook.where.file, hook.scope)
        if root is None:
            return self._sealed(hook, info, None)
        at_root = self._is_root(info)
        if at_root and self._hooks.is_admitted(hook):
            return ADMITTED
        if self.trusts_all:
            return self._sealed(hook, info, None)
        seen = self._hooks.see(hook)
        if not self._accepted.has(seen.item, root) and not self._accepted_by_now(hook, seen.item, root):
            return self._refused(hook)
        other = None if at_root else self._other_file(hook, info, seen.files.files)
        if other is not None:
            return _not_admitted(hook, f"{other} is not the file that was trusted", asks=True)
        admission = self._sealed(hook, info, seen.files.files)
        if admission is ADMITTED and at_root:
            self._hooks.keep_admitted(hook, seen.files)
        return admission

    def _is_root(self, info: SessionInfo) -> bool:
        """Return True if names and variables of a command have the same values there as in the root."""
        return info.cwd in ("", self.root) and (info.project_dir or "") in ("", self.root)

    def _accepted_by_now(self, hook: Hook, item: TrustItem, root: str) -> bool:
        """Read the store again: the user may have accepted a change of an active hook with `hookline trust`
        meanwhile."""
        if not self._hooks.record(hook).was_trusted:
            return False
        self._accepted.reload(root)
        return self._accepted.has(item, root)

    def _refused(self, hook: Hook) -> Admission:
        if only_tightens(hook):
            return Admission(only_tightens=True)
        # A guard that the session began with does not vanish silently.
        asks = self.options.asks or self._hooks.record(hook).was_trusted
        return _not_admitted(hook, self.status(hook).why, asks=asks)

    def _other_file(self, hook: Hook, info: SessionInfo, files: "Sequence[NamedFile]") -> str | None:
        """Find a file that a name means in the directories of the event, and that was not trusted by this name."""
        if hook.kind != "command":
            return None
        # One text may name several files, as a pattern does.
        trusted = {(each.text, each.digest) for each in files}
        here = self._hooks.see(hook, info.cwd, info.project_dir or "").files.files
        strange = (each.path for each in here if (each.text, each.digest) not in trusted)
        return next(map(self.project.shown, strange), None)

    def _sealed(self, hook: Hook, info: SessionInfo, seen: "Sequence[NamedFile] | None") -> Admission:
        """Admit a hook, with the bytes of its files if they must be the trusted ones until it ends.

        They must be as they were `seen`; None accepts any.
        """
        wanted = self.options.strict or hook.required or hook.scope == "managed"
        if not wanted or not isinstance(hook.spec, CommandSpec):
            return ADMITTED
        from hookline.trust.files import sealed_files  # noqa: PLC0415 only for commands

        files = self._hooks.files_of(hook, info.cwd, info.project_dir or "").files
        trusted = None if seen is None else {each.text: each.digest for each in seen}
        if hook.bundle is not None:
            trusted = {each.text: _signed_digest(hook.bundle, each) for each in files}
        sealed = sealed_files(hook.spec, files, trusted, self._disk)
        if isinstance(sealed, str) and hook.bundle is not None:
            why = f"the bundle {hook.bundle.label} differs from what was signed: {sealed}"
            return Admission(admitted=False, reason=f"{why}; run `hookline fleet pull` to get it again")
        return _not_admitted(hook, sealed, asks=True) if isinstance(sealed, str) else Admission(files=sealed)

    # -- answers of the user

    def accept(self, items: Sequence[TrustItem], root: str | None = None, *, session: bool = False) -> None:
        """Trust items from now on, or for this session. Raises StoreError."""
        self._hooks.forget_admitted()
        if session:
            self._accepted.add_for_session(items)
        else:
            self._store(items, root or self.project.key)
        # Last: who sees it counts again.
        self.answers += 1

    def _store(self, items: Sequence[TrustItem], key: str) -> None:
        from hookline.trust.files import read_file_bytes  # noqa: PLC0415 only to trust something

        gone = [before.identity for item in items if (before := self.before(item, key)) is not None]
        for item in items:
            for path, digest in item.files.items():
                content = read_file_bytes(self.project.path_of(path), self._disk)
                if content is not None:
                    self.store.keep(digest, content)
        self._accepted.add(key, items, gone)

    @property
    def hashes(self) -> frozenset[str]:
        """The hashes that HOOKLINE_TRUST names."""
        given = self._env.get(VARIABLE, "") if self.options.environment else ""
        return frozenset(each.strip() for each in given.split(",") if each.strip())

    def accept_hashes(self, items: Sequence[TrustItem]) -> None:
        """Trust the groups of items that HOOKLINE_TRUST names: they were checked elsewhere."""
        given = self.hashes
        for group in hashed_together(items):
            if given.issuperset(group_hashes(group)):
                self._accepted.add_for_session(group)


def _why_managed(bundle: HookBundle | None) -> str:
    if bundle is None:
        return "the administrator of this machine configured it"
    if not bundle.label:
        return "it replaces a bundle that is not valid"
    return f"it is part of the signed bundle {bundle.label}"


def _signed_digest(bundle: HookBundle, file: "NamedFile") -> str:
    """Return the digest a bundle's file must have, whatever is on disk by now; for any other file, the one it has."""
    if is_inside(file.path, bundle.directory):
        return bundle.files.get(os.path.relpath(file.path, bundle.directory), "")
    # A link instead of a file of the bundle leads elsewhere.
    named = BUNDLE_VARIABLE in file.text or bundle.directory in file.text
    return "" if named else file.digest


def _not_admitted(hook: Hook, why: str, *, asks: bool) -> Admission:
    """Refuse a hook. Each time one is skipped that could have stopped something, the user sees a line about it; a guard
    may ask the user instead, because nothing else would show that it exists."""
    instead = PASS
    if (
        hook.mode == "enforce"
        and hook.waiting == "wait"
        and hook.event.may & hook.policy.may & Capability.BLOCK
    ):
        kind = "guard" if hook.event.guard else "hook"
        text = f"A {kind} of this project at {hook.where} did not run: {why}. Run `hookline trust`."
        votes = (Vote("ask", text),) if asks and hook.event.guard else ()
        instead = Outcome(votes=votes, messages=(Message(text),))
    reason = f"{why}; run `hookline trust` to see it and decide"
    return Admission(admitted=False, reason=reason, instead=instead)


def only_tightens(hook: Hook) -> bool:
    """Return True if a hook can do nothing but make something stricter, so that it needs no trust."""
    if hook.broken is not None:
        return True
    builtin = hook.spec if isinstance(hook.spec, BuiltinSpec) else None
    return hook.event.name in _GUARDED and builtin is not None and builtin.name in _TIGHTENING
