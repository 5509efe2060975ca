"""Install Hookline in Codex's hooks.json, with its trusted hashes in the user's config.toml.

The key of a hash holds the position of its entry: our entries are last, and when they are removed, the hashes
of the user's own hooks behind them get the keys of their new positions.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.dialects.codex.trust import TRUST_IT, as_table, state_key, trusted_hash, unlisted
from hookline.dialects.installer import (
    Entry,
    Installer,
    InstallError,
    Site,
    Standing,
    Texts,
    lists_of,
    located,
)
from hookline.documents.document import read_document
from hookline.documents.edit import found_at, read_value, removed, renamed, with_table, with_value
from hookline.model.diagnostics import Path

if TYPE_CHECKING:
    from hookline.dialects.codex import Codex
    from hookline.dialects.entries import HookCall

_STATE: Path = ("hooks", "state")
_MANAGED_DIRECTORY: Path = ("hooks", "managed_dir")
_ENTRY_STEPS = 5  # hooks, event, group, hooks, entry


class CodexInstaller(Installer):
    def __init__(self, dialect: "Codex") -> None:
        super().__init__(dialect, lambda env: _in_home(env, "hooks.json"))

    def files(self, site: Site) -> Sequence[str]:
        if site.scope == "managed":
            return super().files(site)
        config = _in_home(site.env, "config.toml")
        if config is None:
            raise InstallError("you have no home directory: set HOME")
        return (*super().files(site), config)

    def additions(
        self, calls: "Sequence[HookCall]", site: Site, value: Mapping[str, Any]
    ) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        del site, value
        yield from lists_of(read_document(self.dialect.call_entries(calls), "json", "").value, ())

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        """Add our entries. In the administrator's file, hooks need a directory that exists."""
        if site.scope == "managed":
            (file,) = self.files(site)
            text, directory = texts.get(file) or "", os.path.dirname(file)
            hooks = self.document(file, text).value.get(_MANAGED_DIRECTORY[0])
            with located(file):
                if hooks is None:
                    text = with_table(text, "toml", _MANAGED_DIRECTORY[:1], {"managed_dir": directory})
                elif "managed_dir" not in hooks:
                    text = with_value(text, "toml", _MANAGED_DIRECTORY, directory)
            texts = {**texts, file: text}
        return super().added(texts, calls, site)

    def shared_files(self, site: Site) -> Sequence[str]:
        return self.files(site)[1:]

    def trusted(self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site) -> Texts:
        if site.scope == "managed":
            return dict(texts)
        _, config = self.files(site)
        text = texts.get(config) or ""
        states = self._states(config, text)
        with located(config):
            for key, wanted in self._hashes(texts, own, site).items():
                known = as_table(states.get(key))
                if known.get("trusted_hash") == wanted and known.get("enabled") is not False:
                    continue
                text = removed(text, "toml", (*_STATE, key)) if key in states else text
                text = with_table(text, "toml", (*_STATE, key), {"trusted_hash": wanted})
            if (
                site.scope == "project"
                and site.trusts_project
                and _level(self.document(config, text).value, site) is None
            ):
                path = ("projects", os.path.realpath(site.project))
                text = with_table(text, "toml", path, {"trust_level": "trusted"})
        return {**texts, config: text or texts.get(config)}

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        result = super().removed(texts, gone, originals)
        if len(texts) == 1:
            return self._without_directory(result, gone, originals)
        config = next(file for file in texts if file.endswith(".toml"))
        file = next(file for file in texts if file != config)
        left = {entry.path for entry in gone}
        before = [path for path, _ in self.commands(self.document(file, texts[file]).value)]
        after = [path for path, _ in self.commands(self.document(file, result[file]).value)]
        moved = dict(zip([path for path in before if path not in left], after, strict=True))
        text = texts.get(config) or ""
        states = self._states(config, text)
        with located(config):
            # In this order a key is free by the time another entry gets it.
            for path in before:
                key = _key(file, path)
                if key not in states:
                    continue
                if path in left:
                    text = removed(text, "toml", (*_STATE, key))
                elif (new := _key(file, moved[path])) != key:
                    text = renamed(text, "toml", (*_STATE, key), new)
            text = _without_level(text, file, config, originals)
        return {**result, config: text if texts.get(config) is not None else None}

    def _without_directory(
        self, texts: Texts, gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        """Remove the directory that we have added to the administrator's file, with the last of its hooks."""
        (file,) = texts
        value = self.document(file, texts[file]).value
        before = found_at(self.document(file, originals.get(file)).value, _MANAGED_DIRECTORY)
        if not gone or before is not None or any(True for _ in self.commands(value)):
            return texts
        with located(file):
            text = removed(texts[file] or "", "toml", _MANAGED_DIRECTORY)
            left = found_at(self.document(file, text).value, _MANAGED_DIRECTORY[:1])
            return {file: removed(text, "toml", _MANAGED_DIRECTORY[:1]) if left == {} else text}

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        if site.scope == "managed":
            return "trusted", "Codex runs the hooks of this file without asking"
        return self._trust(texts, own, site)

    def asked(self, program: str, own: Sequence[Entry], site: Site) -> tuple[Standing, str] | None:
        from hookline.dialects.codex.app_server import listed_hooks  # noqa: PLC0415 starts a program

        if site.scope == "managed":
            return None
        found = listed_hooks(program, site.project, site.env)
        if found is None:
            return None
        known = {hook.key: hook for hook in found}
        file = self.files(site)[0]
        for entry in own:
            key = _key(file, entry.path)
            hook = known.get(key)
            if hook is None:
                why = (
                    f"{unlisted(site.project)}: {TRUST_IT}"
                    if site.scope == "project"
                    else "its hooks are off"
                )
                return "untrusted", f"Codex does not load {key}: {why}"
            if not hook.enabled or hook.trust not in ("trusted", "managed"):
                state = hook.trust if hook.enabled else "off"
                return "untrusted", f"Codex says that {key} is {state}: trust it there with /hooks"
        return "trusted", "Codex says so itself"

    def _trust(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        _, config = self.files(site)
        value = self.document(config, texts.get(config)).value
        if found_at(value, ("features", "hooks")) is False:
            return "untrusted", f"features.hooks in {config} turns all hooks off"
        level = _level(value, site) if site.scope == "project" else "trusted"
        if level == "untrusted":
            return "untrusted", f"{site.project} is an untrusted project in Codex"
        states = as_table(found_at(value, _STATE))
        for key, wanted in self._hashes(texts, own, site).items():
            state = as_table(states.get(key))
            if state.get("enabled") is False:
                return "untrusted", f"{config} says enabled = false of {key}"
            if state.get("trusted_hash") != wanted:
                return "untrusted", f"{config} has no trusted hash for {key}: trust it in Codex with /hooks"
        if level is None:
            return "untrusted", f"{unlisted(site.project)}: {TRUST_IT}"
        return "trusted", f"{config} has the trusted hash of each entry"

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del calls
        if site.scope == "managed":
            return
        config = self.files(site)[1]
        if (
            site.scope == "project"
            and not site.trusts_project
            and _level(self.document(config, texts.get(config)).value, site) != "trusted"
        ):
            yield f"{unlisted(site.project)}: {TRUST_IT}"
        beside = self.files(site)[0].removesuffix("hooks.json") + "config.toml"
        hooks = as_table(self.document(beside, texts.get(beside)).value.get("hooks"))
        if hooks.keys() - {"state"}:
            yield f"{beside} has hooks too: Codex runs those of both files, and says at each start that there are two"

    def _states(self, config: str, text: str) -> Mapping[str, Any]:
        return as_table(found_at(self.document(config, text).value, _STATE))

    def _hashes(self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site) -> Mapping[str, str]:
        """Return the hashes that Codex must have for our entries, by key."""
        file = self.files(site)[0]
        value = self.document(file, texts.get(file)).value
        found: dict[str, str] = {}
        for entry in own:
            event, matcher = str(entry.path[1]), found_at(value, (*entry.path[:3], "matcher"))
            found[_key(file, entry.path)] = trusted_hash(event, matcher, entry.value)
        return found


def _without_level(text: str, file: str, config: str, originals: Mapping[str, str | None]) -> str:
    """Remove the trust in a project that installing there has added."""
    path: Path = ("projects", os.path.realpath(os.path.dirname(os.path.dirname(file))))
    ours = os.path.dirname(file) != os.path.dirname(config) and config in originals
    if not ours or found_at(read_value(originals[config] or "", "toml"), path) is not None:
        return text
    if found_at(read_value(text, "toml"), path) == {"trust_level": "trusted"}:
        text = removed(text, "toml", path)
    return text


def _level(config: Mapping[str, Any], site: Site) -> Any:
    """Return the trust level of the project. Codex keeps it under the path without links."""
    real = os.path.realpath(site.project)
    found = [found_at(config, ("projects", each, "trust_level")) for each in (site.project, real)]
    return next((level for level in found if level is not None), None)


def _key(file: str, path: Path) -> str:
    if len(path) != _ENTRY_STEPS:
        raise InstallError(f"{file}: its hooks have another form than Codex reads; nothing was changed")
    return state_key(file, str(path[1]), int(path[2]), int(path[4]))


def _in_home(env: Mapping[str, str], name: str) -> str | None:
    own, home = env.get("CODEX_HOME", ""), env.get("HOME", "")
    if os.path.isabs(own):
        # Codex itself follows links there, and keys its hashes by the path it gets.
        return os.path.join(os.path.realpath(own), name)
    return os.path.join(home, ".codex", name) if os.path.isabs(home) else None
