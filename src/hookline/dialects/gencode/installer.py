"""Install Hookline in gen-code's settings, whose entries replace those in files of lower precedence."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.installer import Installer, Site
from hookline.documents.document import read_document
from hookline.documents.edit import found_at

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.gencode import GenCode


class GenCodeInstaller(Installer):
    def __init__(self, dialect: "GenCode") -> None:
        super().__init__(dialect, _settings)

    def further_files(self, site: Site) -> Sequence[str]:
        """List the files of lower precedence than the one with our entries."""
        places = [config_path.file for config_path in self.dialect.config_paths(site.project, site.env)]
        return places[: places.index(self.files(site)[0])]

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        own = self.files(site)[0]
        value = self.document(own, texts.get(own)).value
        new = [call.event for call in calls if found_at(value, ("hooks", call.event)) is None]
        for file in self.further_files(site):
            value = read_document(texts.get(file) or "{}", "json", file).value
            if lost := [event for event in new if found_at(value, ("hooks", event))]:
                yield (
                    f"gen-code will no longer run the hooks of {file} at {', '.join(lost)}: "
                    f"{own} replaces them at these events; copy them there to keep them"
                )


def _settings(env: Mapping[str, str]) -> str | None:
    home = env.get("HOME", "")
    return os.path.join(home, ".gen", "settings.json") if os.path.isabs(home) else None
