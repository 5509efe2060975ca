"""Whether something of a project may run: asked when it is loaded, and again just before it runs.

Untrusted may tighten, never run and never loosen. What belongs to the user or to the system is not asked about.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.documents.document import Document
from hookline.engine.run_hook import ADMITTED, Admission
from hookline.handlers.specs import GUARDS, BuiltinSpec, CommandSpec
from hookline.model.diagnostics import Where
from hookline.model.hook import BUNDLE_VARIABLE, Hook, HookBundle, Scope
from hookline.model.outcome import GO_ON, Message, Outcome, Vote
from hookline.model.scene import Scene
from hookline.trust.items import (
    Look,
    TrustItem,
    as_utf8,
    canonical,
    group_hashes,
    hashed_together,
    hook_facts,
    item_of,
    shown_files,
    shown_path,
)
from hookline.trust.project import is_inside, project_root, trust_root, vouches_for
from hookline.trust.store import StoredItem, TrustStore

if TYPE_CHECKING:
    from hookline.trust.files import FileFinder, NamedFile
    from hookline.trust.names import Places

State = Literal["managed", "trusted", "modified", "untrusted", "disabled"]

#: Where hooks of an untrusted project may tighten, and the builtins that do nothing else.
_GUARDED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit"})
_TIGHTENING = frozenset({"deny", "ask", *GUARDS})
#: Scopes that only the user or the system can give.
_VOUCHED_SCOPES: frozenset[Scope] = frozenset(("managed", "flag"))
#: The variable with which a build trusts what it has checked.
VARIABLE = "HOOKLINE_TRUST"


class Standing(Struct, frozen=True):
    """The state of one hook, and why."""

    state: State
    why: str

    @property
    def runs(self) -> bool:
        return self.state in ("managed", "trusted")


_VOUCHED = Standing("trusted", "you trust this directory")


class Options(Struct, frozen=True, kw_only=True):
    """Who vouches for a project besides the store."""

    #: `--trust`, or the host: everything counts as trusted.
    vouched: bool = False
    #: Whether HOOKLINE_TRUST counts. Inside another agent it does not: a project's settings can set it there.
    environment: bool = True
    #: Run sealed copies of all scripts.
    strict: bool = False
    #: A guard that may not run asks the user instead, because nothing else would show that it is there.
    asks: bool = False


class Trust:
    """What may run in one project."""

    def __init__(self, cwd: str, env: Mapping[str, str], options: "Options | None" = None) -> None:
        self.root = project_root(cwd)
        self.options = options = options or Options()
        self._env = env
        self._home = os.path.realpath(env.get("HOME") or os.sep)
        self._store = TrustStore(env.get("HOME", ""))
        self._foreign: dict[tuple[str, Scope], bool] = {}
        self._files: dict[str, str] = {}
        self._facts: dict[_Key, str] = {}
        #: The directories of plugins, by the files they bring.
        self._plugins: dict[str, str] = {}
        #: By dialect: the variables of its commands that hold the project's directory.
        self._variables: dict[str, Sequence[str]] = {}
        #: Where commands run that say nothing of it, by dialect.
        self._plain_places: dict[str, Places] = {}
        self._looks: dict[tuple[_Key, str, str], tuple[Look, TrustItem]] = {}
        #: Hooks that were admitted, where, and how their files were then.
        self._admitted: dict[int, tuple[Hook, Look]] = {}
        #: What the project has now: hooks by their place, and anything else by file, kind and label.
        self._hooks: dict[_Key, TrustItem] = {}
        self._others: dict[tuple[str, str, str], TrustItem] = {}
        #: Hooks as they were read last, by file.
        self._registered: dict[str, Sequence[Hook]] = {}
        #: What was trusted and is no longer there, by what another version of it has in common with it.
        self._gone: tuple[Mapping[str, StoredItem], Mapping[_Likeness, StoredItem]] | None = None
        #: Accepted for this session only, by identity.
        self._session: set[str] = set()
        self._stored: dict[str, Mapping[str, StoredItem]] = {}
        self._vouched: bool | None = True if options.vouched else None
        #: Hooks that were trusted when they were last looked at, in the reading that is asked about.
        self._in_force: set[_Key] = set()
        #: Files that the user named one by one.
        self._named: frozenset[str] = frozenset()

    # -- what is whose

    @property
    def home(self) -> str:
        """The home directory, as the environment names it."""
        return self._env.get("HOME", "")

    @property
    def vouched(self) -> bool:
        """Whether the user vouches for the whole project: with an option, or in the settings."""
        if self._vouched is None:
            self._vouched = vouches_for(self.root, self._env)
        return self._vouched

    @cached_property
    def key(self) -> str:
        """The root that trust in the project is kept under."""
        return trust_root(self.root)

    def is_foreign(self, file: str, scope: Scope) -> bool:
        """Whether a file needs the user's trust: the project brought it, or a plugin."""
        if not file or scope in _VOUCHED_SCOPES or file in self._named:
            return False
        known = self._foreign.get((file, scope))
        if known is None:
            known = self._foreign[(file, scope)] = self._comes_with_project(file, scope)
        return known

    def _comes_with_project(self, file: str, scope: Scope) -> bool:
        if scope in ("plugin", "project"):
            return True
        if self._holds_home:
            # Then the user's own files are below the root, too.
            return scope in ("local", "session")
        path = os.path.abspath(file)
        return is_inside(path, self.root) or is_inside(os.path.realpath(path), self.root)

    @cached_property
    def _holds_home(self) -> bool:
        """Whether the root is the home directory, or above it and nobody's repository, as / is."""
        if self.root == self._home:
            return True
        return is_inside(self._home, self.root) and not os.path.lexists(os.path.join(self.root, ".git"))

    def vouch_for_files(self, files: Iterable[str]) -> None:
        """The user named these files: what is in them needs no further trust."""
        self._named |= frozenset(files)

    def whose(self, file: str, scope: Scope) -> str:
        """The root that trust in a file is kept under: the plugin's, or the project's."""
        if scope != "plugin":
            return self.key
        if file in self._plugins:
            return self._plugins[file]
        folder = os.path.dirname(os.path.realpath(file))
        return os.path.dirname(folder) if os.path.basename(folder) == "hooks" else folder

    # -- items

    def register(
        self, document: Document, hooks: Iterable[Hook], variables: Sequence[str] = (), plugin: str = ""
    ) -> None:
        """Remember what hooks are, as they were just read. `variables` of their commands hold the project.

        `plugin` is the directory of the plugin that brings them.
        """
        if plugin:
            self._plugins[document.file] = os.path.realpath(plugin)
        self._hooks = {key: item for key, item in self._hooks.items() if key[0] != document.file}
        self._gone = None
        own = [each for each in hooks if each.where.file == document.file]
        foreign = [each for each in own if self.is_foreign(document.file, each.scope)]
        for hook in foreign:
            self._facts[_key(hook)] = hook_facts(hook, document.value)
            self._variables[hook.dialect] = variables
        self._plain_places.clear()
        self._registered[document.file] = foreign

    def item(self, hook: Hook, cwd: str = "", project: str = "") -> TrustItem:
        """A hook as it is now, with the files that it names: in the project's root, or in these directories."""
        key = _key(hook)
        facts = self._facts.get(key) or hook_facts(hook, None)
        elsewhere = bool(cwd or project)
        known = self._looks.get((key, cwd, project))
        # Another hook may be in this place since the last load.
        if known is not None and known[1].facts == facts and known[0].holds():
            return known[1] if elsewhere else self._hooks.setdefault(key, known[1])
        lines = _lines(hook)
        look = self._finder.look(lines, self._places(hook, cwd, project)) if lines else Look()
        item = TrustItem(
            kind="hook",
            file=self._shown_file(hook.where.file),
            label=as_utf8(f"{hook.policy.event_name} {hook.name}"),
            facts=facts,
            files=shown_files(look.files, self.root, self._home),
            where=hook.where,
        )
        self._looks[(key, cwd, project)] = (look, item)
        if not elsewhere and self._hooks.get(key) != item:
            self._hooks[key] = item
            self._gone = None
        return item

    def settings_item(self, where: Where, label: str, facts: Any) -> TrustItem:
        return self._present(item_of("settings", where, label, facts, self.root, self._home))

    def server_item(
        self, where: Where, label: str, facts: Any, words: Sequence[str], folder: str
    ) -> TrustItem:
        """An MCP server, which starts in a directory. Its words may name files."""
        from hookline.trust.names import Places  # noqa: PLC0415 few ask about servers

        look = self._finder.look(
            words, Places(folder, self._home, {"HOME": self._home, "PWD": folder}, self._env)
        )
        return self._present(item_of("server", where, label, facts, self.root, self._home, look.files))

    def _present(self, item: TrustItem) -> TrustItem:
        self._others[(item.file, item.kind, item.label)] = item
        self._gone = None
        return item

    def path_of(self, shown: str) -> str:
        """The file that an item means by a path."""
        folder, name = (self._home, shown[2:]) if shown.startswith("~/") else (self.root, shown)
        path = os.path.join(folder, name)
        if "\\udc" in name and not os.path.lexists(path):
            # Bytes that are not UTF-8 are spelled out in an item.
            return os.path.join(
                folder, re.sub(r"\\u(dc[89a-f][0-9a-f])", lambda found: chr(int(found[1], 16)), name)
            )
        return path

    # -- decisions

    def allows(self, item: TrustItem, root: str | None = None) -> bool:
        """Whether the user has vouched for exactly this."""
        return self.vouched or self._is_accepted(item.identity, root or self.key)

    def standing(self, hook: Hook) -> Standing:
        if hook.mode == "off":
            return Standing("disabled", "it is switched off")
        if hook.scope == "managed":
            if hook.bundle is not None:
                which = f"it is of the signed bundle {hook.bundle.label}"
                return Standing(
                    "managed", which if hook.bundle.label else "it stands for a bundle that does not count"
                )
            return Standing("managed", "the administrator of this machine configured it")
        if not self.is_foreign(hook.where.file, hook.scope):
            return Standing("trusted", "it is your own" if hook.scope != "flag" else "you named it")
        if self.vouched:
            return _VOUCHED
        standing = self.item_standing(self.item(hook), self.whose(hook.where.file, hook.scope))
        if standing.runs:
            self._in_force.add(_key(hook))
        return standing

    def holds_back(self, hook: Hook) -> bool:
        """Whether a hook does not run because the user has not trusted it. One that only tightens counts anyway."""
        return self.standing(hook).state in ("untrusted", "modified") and not only_tightens(hook)

    def item_standing(self, item: TrustItem, root: str | None = None) -> Standing:
        """The state of something that is not the user's own, whose trust is kept under this root."""
        root = root or self.key
        if self.vouched:
            return _VOUCHED
        if self._is_accepted(item.identity, root):
            return Standing("trusted", "you trusted it as it is")
        before = self.before(item, root)
        if before is None:
            return Standing("untrusted", "you have not trusted it")
        changed = [
            path for path in {**before.files, **item.files} if before.files.get(path) != item.files.get(path)
        ]
        what = ", ".join(changed) if changed else "its entry"
        return Standing("modified", f"{what} changed since you trusted it")

    def before(self, item: TrustItem, root: str | None = None) -> StoredItem | None:
        """The trusted item that this one seems to be a change of: alike, and no longer there."""
        stored = self._items(root or self.key)
        if not stored:
            return None
        if self._gone is None or self._gone[0] is not stored:
            for hook in [hook for hooks in self._registered.values() for hook in hooks]:
                self.item(hook)
            there = {each.identity for each in (*self._hooks.values(), *self._others.values())}
            gone = [each for identity, each in stored.items() if identity not in there]
            self._gone = (stored, {likeness: each for each in gone for likeness in _likenesses(each)})
        return next((found for each in _likenesses(item) if (found := self._gone[1].get(each))), None)

    def admit(self, hook: Hook, scene: Scene) -> Admission:
        """Whether a hook may start now, and with which bytes."""
        if not isinstance(hook.spec, CommandSpec) and not self._needs_trust(hook):
            return ADMITTED  # it names no file
        at_root = self._at_root(scene)
        known = self._admitted.get(id(hook)) if at_root else None
        if known is not None and known[0] is hook and known[1].holds():
            return ADMITTED
        admission = self._admit(hook, scene)
        if admission is ADMITTED and at_root and (look := self._looks.get((_key(hook), "", ""))) is not None:
            self._admitted[id(hook)] = (hook, look[0])
        return admission

    def _at_root(self, scene: Scene) -> bool:
        """Whether names and variables of a command mean there what they mean in the root."""
        return scene.cwd in ("", self.root) and (scene.project_dir or "") in ("", self.root)

    def _admit(self, hook: Hook, scene: Scene) -> Admission:
        if not self._needs_trust(hook):
            return self._sealed(hook, scene, None)
        root = self.whose(hook.where.file, hook.scope)
        item = self.item(hook)
        if not self._is_accepted(item.identity, root) and not self._accepted_by_now(hook, item, root):
            return self._refused(hook)
        other = self._other_file(hook, scene)
        if other is not None:
            return _not_admitted(hook, f"{other} is not the file that was trusted", asks=True)
        return self._sealed(hook, scene, item)

    def _needs_trust(self, hook: Hook) -> bool:
        return self.is_foreign(hook.where.file, hook.scope) and not self.vouched

    def _accepted_by_now(self, hook: Hook, item: TrustItem, root: str) -> bool:
        """The user may have answered to a change of a hook in force with `hookline trust` meanwhile."""
        if _key(hook) not in self._in_force:
            return False
        self._stored.pop(root, None)
        return self._is_accepted(item.identity, root)

    def accept(self, items: Sequence[TrustItem], root: str | None = None, *, session: bool = False) -> None:
        """Trust items from now on, or for this session. Raises StoreError."""
        self._admitted.clear()
        if session:
            self._session |= {item.identity for item in items}
            return
        from hookline.trust.files import read_file_bytes  # noqa: PLC0415 only to trust something

        key = root or self.key
        gone = [before.identity for item in items if (before := self.before(item, key)) is not None]
        for item in items:
            for path, digest in item.files.items():
                content = read_file_bytes(self.path_of(path))
                if content is not None:
                    self._store.keep(digest, content)
        self._store.add(key, items, gone)
        self._stored.pop(key, None)

    @property
    def problems(self) -> tuple[str, ...]:
        """Why trust that was given does not count."""
        return tuple(self._store.problems)

    @property
    def store(self) -> TrustStore:
        return self._store

    # -- details

    @cached_property
    def _finder(self) -> "FileFinder":
        from hookline.trust.files import FileFinder  # noqa: PLC0415 only commands name files

        return FileFinder(self.root)

    @property
    def hashes(self) -> frozenset[str]:
        """What HOOKLINE_TRUST names."""
        given = self._env.get(VARIABLE, "") if self.options.environment else ""
        return frozenset(each.strip() for each in given.split(",") if each.strip())

    def accept_hashes(self, items: Sequence[TrustItem]) -> None:
        """Trust the groups of items that HOOKLINE_TRUST names: they were checked elsewhere."""
        given = self.hashes
        for group in hashed_together(items):
            if given.issuperset(group_hashes(group)):
                self._session |= {item.identity for item in group}

    def _is_accepted(self, identity: str, root: str) -> bool:
        return identity in self._session or identity in self._items(root)

    def _items(self, root: str) -> Mapping[str, StoredItem]:
        if root not in self._stored:
            self._stored[root] = {item.identity: item for item in self._store.read(root).items}
        return self._stored[root]

    def _refused(self, hook: Hook) -> Admission:
        if only_tightens(hook):
            return Admission(only_tightens=True)
        # A guard that the session began with does not vanish without a word.
        asks = self.options.asks or _key(hook) in self._in_force
        return _not_admitted(hook, self.standing(hook).why, asks=asks)

    def _sealed(self, hook: Hook, scene: Scene, item: TrustItem | None) -> Admission:
        wanted = self.options.strict or hook.required or hook.scope == "managed"
        if not wanted or not isinstance(hook.spec, CommandSpec):
            return ADMITTED
        from hookline.trust.files import sealed_files  # noqa: PLC0415 only for commands

        look = self._finder.look(_lines(hook), self._places(hook, scene.cwd, scene.project_dir or ""))
        trusted = None if item is None else self._trusted_texts(hook)
        if hook.bundle is not None:
            trusted = {each.text: _signed_digest(hook.bundle, each) for each in look.files}
        sealed = sealed_files(hook.spec, look.files, trusted)
        if isinstance(sealed, str) and hook.bundle is not None:
            why = f"the bundle {hook.bundle.label} is not as it was signed: {sealed}"
            return Admission(admitted=False, reason=f"{why}; run `hookline fleet pull` to get it again")
        return _not_admitted(hook, sealed, asks=True) if isinstance(sealed, str) else Admission(files=sealed)

    def _other_file(self, hook: Hook, scene: Scene) -> str | None:
        """A file that a name means in the directories of the moment, and that was not trusted by this name."""
        if hook.kind != "command" or self._at_root(scene):
            return None
        # One text may name several files, as a pattern does.
        trusted = {(each.text, each.digest) for each in self._looks[(_key(hook), "", "")][0].files}
        cwd, project = scene.cwd, scene.project_dir or ""
        self.item(hook, cwd, project)
        here = self._looks[(_key(hook), cwd, project)][0].files
        return next(
            (self._shown(each.path) for each in here if (each.text, each.digest) not in trusted), None
        )

    def _trusted_texts(self, hook: Hook) -> Mapping[str, str]:
        """The texts of a trusted command that name files, with the digests of those."""
        return {each.text: each.digest for each in self._looks[(_key(hook), "", "")][0].files}

    def _places(self, hook: Hook, cwd: str, project: str) -> "Places":
        from hookline.trust.names import Places  # noqa: PLC0415 as below

        spec = hook.spec
        plain = (
            not (cwd or project) and isinstance(spec, CommandSpec) and not (spec.cwd or _own_variables(spec))
        )
        if plain and hook.dialect in self._plain_places:  # as most are
            return self._plain_places[hook.dialect]
        variables = {
            "HOME": self._home,
            "PWD": cwd or self.root,
            **dict.fromkeys(self._variables.get(hook.dialect, ()), project or cwd or self.root),
            **_own_variables(spec),
        }
        folder = cwd or self.root
        if isinstance(spec, CommandSpec) and spec.cwd:
            folder = os.path.join(folder, os.path.expanduser(spec.cwd))
        places = Places(folder, self._home, variables, self._env)
        if plain:
            self._plain_places[hook.dialect] = places
        return places

    def _shown_file(self, file: str) -> str:
        if file not in self._files:
            self._files[file] = self._shown(os.path.abspath(file))
        return self._files[file]

    def _shown(self, path: str) -> str:
        return shown_path(path, self.root, self._home)


def _signed_digest(bundle: HookBundle, file: "NamedFile") -> str:
    """What a file of a bundle must have, whatever is on disk by now; of any other file, what it has."""
    if is_inside(file.path, bundle.folder):
        return bundle.files.get(os.path.relpath(file.path, bundle.folder), "")
    # A link in place of a file of the bundle leads elsewhere.
    named = BUNDLE_VARIABLE in file.text or bundle.folder in file.text
    return "" if named else file.digest


def _not_admitted(hook: Hook, why: str, *, asks: bool) -> Admission:
    """A guard may ask the user instead, because nothing else would show that it is there."""
    instead = GO_ON
    if asks and hook.event.guard and hook.mode == "enforce":
        text = (
            f"A guard of this project at {hook.where} is not trusted, so it did not run ({why}). "
            "Run `hookline trust`."
        )
        instead = Outcome(votes=(Vote("ask", text),), messages=(Message(text),))
    reason = f"{why}; run `hookline trust` to see it and decide"
    return Admission(admitted=False, reason=reason, instead=instead)


def only_tightens(hook: Hook) -> bool:
    """Whether a hook can do nothing but make something stricter, so that it needs no trust."""
    if hook.broken is not None:
        return True
    builtin = hook.spec if isinstance(hook.spec, BuiltinSpec) else None
    return hook.event.name in _GUARDED and builtin is not None and builtin.name in _TIGHTENING


#: Kind and file of an item, and one thing about it.
_Likeness = tuple[str, str, str, str]


def _likenesses(item: TrustItem | StoredItem) -> Iterator[_Likeness]:
    """What another version of an item may have in common with it, the surest first."""
    files = canonical(item.files).decode() if item.files else ""
    for name, value in (("label", item.label), ("facts", item.facts), ("files", files)):
        if value:
            yield item.kind, item.file, name, value


_Key = tuple[str, tuple[str | int, ...], str, str, int]


def _key(hook: Hook) -> _Key:
    """The place of a hook, and which reading of it: an earlier one may still be in force while a change is looked at.

    One entry may be a hook at several events. Options that change a hook leave its spec as it is.
    """
    return hook.where.file, hook.where.path, hook.event.name, hook.policy.event_name, id(hook.spec)


def _lines(hook: Hook) -> Sequence[str]:
    spec = hook.spec
    if not isinstance(spec, CommandSpec):
        return ()
    from hookline.trust.names import as_line  # noqa: PLC0415 as above

    line = spec.command if spec.args is None else as_line((spec.command, *spec.args))
    return (line, *_own_variables(spec).values())


def _own_variables(spec: Any) -> Mapping[str, str]:
    """What an entry sets for its command; some formats fill in other variables as it starts."""
    if not isinstance(spec, CommandSpec):
        return {}
    later: Mapping[str, str] = getattr(spec, "variables", {})
    return {**spec.env, **later} if later else spec.env
