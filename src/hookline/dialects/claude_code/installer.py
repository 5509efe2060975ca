"""Install Hookline in Claude Code's settings, and check if the client runs the entries: it asks once for each
directory."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.claude_code.own_mod import (
    DIRECTORY,
    is_ours,
    line_of,
    mod_files,
    mod_texts,
    placed_first,
    without_mod,
)
from hookline.dialects.installer import (
    INSIDE,
    Entry,
    Installer,
    InstallError,
    Site,
    Standing,
    Texts,
    located,
)
from hookline.disk import ancestors
from hookline.documents.document import read_document
from hookline.documents.edit import found_at
from hookline.journal.file import state_dir

if TYPE_CHECKING:
    from hookline.dialects.claude_code import ClaudeCode
    from hookline.dialects.entries import HookCall

#: The client's file with the user's trust in directories, beside much else.
_STATE = ".claude.json"


class ClaudeCodeInstaller(Installer):
    def __init__(self, dialect: "ClaudeCode") -> None:
        super().__init__(dialect, self._settings)

    def _settings(self, env: Mapping[str, str]) -> str | None:
        directory = self.dialect.user_directory(env)
        return os.path.join(directory, "settings.json") if directory and os.path.isabs(directory) else None

    def files(self, site: Site) -> Sequence[str]:
        directory = site.env.get("CLAUDE_CONFIG_DIR", "")
        if site.scope == "user" and directory and not os.path.isabs(directory):
            what = f"CLAUDE_CONFIG_DIR is {directory[:200]!r}, which is another directory for each working directory"
            raise InstallError(f"{what}: set it to a whole path, or use --project")
        found = super().files(site)
        return (*found, *mod_files(_root(found[0]))) if site.scope == "user" else found

    def entries(self, texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        """List every command of a hook, and the call of our mod."""
        found = super().entries(texts, site)
        module = self.files(site)[1] if site.scope == "user" else ""
        inside = line_of(texts.get(module))
        if inside is None:
            return found
        # A changed module is another one than is wanted: installing again writes it anew.
        changed = {} if is_ours(texts.get(module)) else {"changed": True}
        return [*found, Entry(module, INSIDE, {"command": inside[0], **changed}, inside[1])]

    def wanted(self, calls: "Sequence[HookCall]", texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        listed = super().wanted([call for call in calls if not call.inside], texts, site)
        inside = [
            Entry(self.files(site)[1], INSIDE, {"command": call.command}) for call in calls if call.inside
        ]
        return [*listed, *inside]

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        """Add our entries, and our mod before the user's other plugins."""
        result = super().added(texts, [call for call in calls if not call.inside], site)
        settings = self.files(site)[0]
        for call in calls:
            if call.inside:
                address = os.path.join(state_dir(site.env), "daemon-http.json")
                with located(settings):
                    result[settings] = placed_first(result[settings])
                result |= mod_texts(_root(settings), call.command, address)
        return result

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        result = super().removed(texts, [entry for entry in gone if entry.path != INSIDE], originals)
        settings = next(iter(texts))
        if any(entry.path == INSIDE for entry in gone):
            with located(settings):
                result = without_mod(result, _root(settings), settings, originals)
        return result

    def further_files(self, site: Site) -> Sequence[str]:
        directory = site.env.get("CLAUDE_CONFIG_DIR") or site.env.get("HOME", "")
        return (os.path.join(directory, _STATE),)

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        for file in {entry.file for entry in own if entry.path != INSIDE}:
            if self.document(file, texts.get(file)).value.get("disableAllHooks") is True:
                return "untrusted", f"disableAllHooks in {file} turns all hooks off"
        changed = [entry.file for entry in own if entry.path == INSIDE and not is_ours(texts.get(entry.file))]
        if changed:
            return "untrusted", f"{changed[0]} was changed, or is of another version: install it again"
        (file,) = self.further_files(site)
        projects = found_at(read_document(texts.get(file) or "{}", "json", file).value, ("projects",))
        for directory in ancestors(site.project):
            if found_at(projects, (directory, "hasTrustDialogAccepted")) is True:
                return "trusted", f"you trust {directory} in Claude Code"
        return "unknown", "Claude Code asks at a terminal if you trust this directory; with -p it does not"


def _root(settings: str) -> str:
    """Return the directory of our mod beside the user's settings."""
    return os.path.join(os.path.dirname(settings), DIRECTORY)
