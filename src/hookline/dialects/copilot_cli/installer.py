"""Install Hookline in a file of its own among Copilot CLI's hooks."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.installer import Entry, Installer, Site, Standing, Texts
from hookline.documents.document import read_document

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall

_EMPTY = '{\n  "version": 1\n}\n'


class CopilotInstaller(Installer):
    def signs(self, site: Site) -> Sequence[str]:
        home = self._user_file(site.env)
        return [os.path.dirname(os.path.dirname(home))] if home else []

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        file = self.files(site)[0]
        text = texts.get(file)
        return super().added(texts if text and text.strip() else {**texts, file: _EMPTY}, calls, site)

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        result = super().removed(texts, gone, originals)
        for file in {entry.file for entry in gone}:
            if not originals.get(file) and not self.document(file, result[file]).value.keys() - {"version"}:
                result[file] = None
        return result

    def further_files(self, site: Site) -> Sequence[str]:
        return [file for file in (self._config(site),) if file]

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        del own
        if site.scope == "user":
            return "trusted", "Copilot CLI asks for no trust in hooks of your own"
        file = self._config(site)
        value: Any = read_document(texts.get(file) or "{}", "json", file, comments=True).value
        table = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        listed: Any = table.get("trusted_folders")
        known = [str(each) for each in cast("list[Any]", listed)] if isinstance(listed, list) else []
        if any(f"{site.project}/".startswith(each.rstrip("/") + "/") for each in known):
            return "trusted", f"{file} lists this directory in trusted_folders"
        return (
            "untrusted",
            f"{file} does not list this directory: trust it in Copilot CLI, or install for the user",
        )

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del calls
        if site.scope == "project" and self.standing(texts, (), site)[0] != "trusted":
            yield (
                "Copilot CLI leaves out hooks of a directory that it does not trust, in silence: "
                "trust it there, or install for the user"
            )

    def _config(self, site: Site) -> str:
        home = self._user_file(site.env)
        return os.path.join(os.path.dirname(os.path.dirname(home)), "config.json") if home else ""
