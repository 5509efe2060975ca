"""Install Hookline in CodeWhale's files: `[[hooks.hooks]]` in the user's settings, `[[hooks]]` in a project."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.dialects.codewhale import FORMER_DIRECTORY
from hookline.dialects.installer import Entry, Installer, Site, Standing
from hookline.documents.edit import found_at
from hookline.model.diagnostics import Path

if TYPE_CHECKING:
    from hookline.dialects.codewhale import CodeWhale
    from hookline.dialects.entries import HookCall


class CodeWhaleInstaller(Installer):
    def __init__(self, dialect: "CodeWhale") -> None:
        super().__init__(dialect, _settings)

    def additions(
        self, calls: "Sequence[HookCall]", site: Site, value: Mapping[str, Any]
    ) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the entries; in the user's file they are beside the settings of all hooks."""
        for path, item in super().additions(calls, site, value):
            yield ((*path, "hooks") if site.scope == "user" else path), item

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        del own
        file = _settings(site.env) or ""
        if found_at(self.document(file, texts.get(file)).value, ("hooks", "enabled")) is False:
            return "untrusted", f"hooks.enabled in {file} turns all hooks off"
        if site.scope == "project":
            return "unknown", "CodeWhale runs hooks of a project once you trust the workspace in it"
        return "trusted", "CodeWhale asks for no trust in hooks of your own"

    def further_files(self, site: Site) -> Sequence[str]:
        file = _settings(site.env)
        return (file,) if file else ()


def _settings(env: Mapping[str, str]) -> str | None:
    """Return the file that CodeWhale reads: a new one would replace that under its former name."""
    home = env.get("HOME", "")
    own, former = (os.path.join(home, each, "config.toml") for each in (".codewhale", FORMER_DIRECTORY))
    file = former if os.path.lexists(former) and not os.path.lexists(own) else own
    return file if os.path.isabs(home) else None
