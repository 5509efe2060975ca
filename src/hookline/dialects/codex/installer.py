"""Hookline in Codex's hooks.json, with its trusted hashes in the user's config.toml.

The key of a hash holds the position of its entry: our entries are last, and when they go, the hashes of the user's own
hooks behind them get the keys of their new positions.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.dialects.codex.trust import TRUST_IT, as_table, state_key, trusted_hash, unlisted
from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing, Texts, located
from hookline.documents.edit import found_at, removed, renamed, with_table
from hookline.model.diagnostics import Path

if TYPE_CHECKING:
    from hookline.dialects.codex import Codex
    from hookline.dialects.install import HookCall

_STATE: Path = ("hooks", "state")
_ENTRY_STEPS = 5  # hooks, event, group, hooks, entry


class CodexInstaller(Installer):
    def __init__(self, dialect: "Codex") -> None:
        super().__init__(dialect, lambda env: _in_home(env, "hooks.json"), ("codex",))

    def files(self, site: Site) -> Sequence[str]:
        config = _in_home(site.env, "config.toml")
        if config is None:
            raise InstallError("you have no home directory: set HOME")
        return (*super().files(site), config)

    def shared_files(self, site: Site) -> Sequence[str]:
        return self.files(site)[1:]

    def trusted(self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site) -> Texts:
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
        return {**texts, config: text or texts.get(config)}

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        result = super().removed(texts, gone, originals)
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
        return {**result, config: text if texts.get(config) is not None else None}

    def standing(
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
        config = self.files(site)[1]
        if (
            site.scope == "project"
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
        """By key, what Codex must have for our entries."""
        file = self.files(site)[0]
        value = self.document(file, texts.get(file)).value
        found: dict[str, str] = {}
        for entry in own:
            event, matcher = str(entry.path[1]), found_at(value, (*entry.path[:3], "matcher"))
            found[_key(file, entry.path)] = trusted_hash(event, matcher, entry.value)
        return found


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
