"""Hookline in Claude Code's settings. Whether the client runs the entries: it asks once for each folder."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing
from hookline.documents.document import read_document
from hookline.documents.edit import found_at

if TYPE_CHECKING:
    from hookline.dialects.claude_code import ClaudeCode

#: Whether the user trusts a folder is in there, beside much else.
_STATE = ".claude.json"


class ClaudeCodeInstaller(Installer):
    def __init__(self, dialect: "ClaudeCode") -> None:
        super().__init__(dialect, self._settings, ("claude",))

    def _settings(self, env: Mapping[str, str]) -> str | None:
        folder = self.dialect.user_folder(env)
        return os.path.join(folder, "settings.json") if folder and os.path.isabs(folder) else None

    def files(self, site: Site) -> Sequence[str]:
        folder = site.env.get("CLAUDE_CONFIG_DIR", "")
        if site.scope == "user" and folder and not os.path.isabs(folder):
            what = f"CLAUDE_CONFIG_DIR is {folder[:200]!r}, which is another folder in each directory"
            raise InstallError(f"{what}: set it to a whole path, or use --project")
        return super().files(site)

    def further_files(self, site: Site) -> Sequence[str]:
        folder = site.env.get("CLAUDE_CONFIG_DIR") or site.env.get("HOME", "")
        return (os.path.join(folder, _STATE),)

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        for file in {entry.file for entry in own}:
            if self.document(file, texts.get(file)).value.get("disableAllHooks") is True:
                return "untrusted", f"disableAllHooks in {file} turns all hooks off"
        (file,) = self.further_files(site)
        projects = found_at(read_document(texts.get(file) or "{}", "json", file).value, ("projects",))
        folder = site.project
        while found_at(projects, (folder, "hasTrustDialogAccepted")) is not True:
            if folder == os.path.dirname(folder):
                return (
                    "unknown",
                    "Claude Code asks at a terminal whether you trust this folder; with -p it does not",
                )
            folder = os.path.dirname(folder)
        return "trusted", f"you trust {folder} in Claude Code"
