"""Install Hookline in Cursor's hooks.json, which needs a version beside the hooks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.dialects.installer import Entry, Installer, InstallError, Site, Texts

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall

_EMPTY = '{\n  "version": 1\n}\n'


class CursorInstaller(Installer):
    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        file = self.files(site)[0]
        text = texts.get(file)
        if not text or not text.strip():
            texts = {**texts, file: _EMPTY}
        elif "version" not in self.document(file, text).value:
            raise InstallError(f'{file}: Cursor ignores a file without "version": 1; add it first')
        return super().added(texts, calls, site)

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        """Remove our entries, and the file if nothing is left but its version and we made it."""
        result = super().removed(texts, gone, originals)
        for file in {entry.file for entry in gone}:
            left = self.document(file, result[file]).value
            if not originals.get(file) and not left.keys() - {"version"}:
                result[file] = None
        return result

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del texts, calls, site
        yield (
            "Cursor cannot ask you at preToolUse, so an ask becomes a denial; "
            "restart Cursor, or save the file again in it, so that it reads the new hooks"
        )
