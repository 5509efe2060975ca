"""Install Hookline in Claude Code's settings, and check if the client runs the entries: it asks once for each
directory."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing
from hookline.disk import ancestors
from hookline.documents.document import read_document
from hookline.documents.edit import found_at

if TYPE_CHECKING:
    from hookline.dialects.claude_code import ClaudeCode

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
        return super().files(site)

    def further_files(self, site: Site) -> Sequence[str]:
        directory = site.env.get("CLAUDE_CONFIG_DIR") or site.env.get("HOME", "")
        return (os.path.join(directory, _STATE),)

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        for file in {entry.file for entry in own}:
            if self.document(file, texts.get(file)).value.get("disableAllHooks") is True:
                return "untrusted", f"disableAllHooks in {file} turns all hooks off"
        (file,) = self.further_files(site)
        projects = found_at(read_document(texts.get(file) or "{}", "json", file).value, ("projects",))
        for directory in ancestors(site.project):
            if found_at(projects, (directory, "hasTrustDialogAccepted")) is True:
                return "trusted", f"you trust {directory} in Claude Code"
        return "unknown", "Claude Code asks at a terminal if you trust this directory; with -p it does not"
