"""Install Hookline in Gemini CLI: as an extension for the user, as entries in other settings."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.dialects.entries import as_json
from hookline.dialects.gemini_cli import trust_rule
from hookline.dialects.gemini_cli.extensions import is_on
from hookline.dialects.gemini_cli.payload import as_items, as_object
from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing, Texts
from hookline.documents.document import read_document
from hookline.documents.edit import found_at

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.gemini_cli import GeminiCli

_NAME = "hookline"
_MANIFEST = f"extensions/{_NAME}/gemini-extension.json"
_HOOKS = f"extensions/{_NAME}/hooks/hooks.json"
_TRUSTED, _ENABLEMENT = "trustedFolders.json", "extensions/extension-enablement.json"


class GeminiInstaller(Installer):
    def __init__(self, dialect: "GeminiCli") -> None:
        super().__init__(dialect, lambda env: self._in_home(env, _HOOKS))

    def _in_home(self, env: Mapping[str, str], name: str) -> str | None:
        directory = self.dialect.user_directory(env)
        return os.path.join(directory, name) if directory else None

    def signs(self, site: Site) -> Sequence[str]:
        directory = self.dialect.user_directory(site.env)
        own = [os.path.join(site.project, self.dialect.directory)] if site.scope == "project" else []
        return [*([directory] if directory else []), *own]

    def files(self, site: Site) -> Sequence[str]:
        found = super().files(site)
        if site.scope != "user":
            return found
        return (*found, str(self._in_home(site.env, _MANIFEST)))

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        result = super().added(texts, calls, site)
        if site.scope != "user":
            return result
        file, manifest = self.files(site)
        known = as_object(self.document(manifest, texts.get(manifest)).value)
        if known.get("name", _NAME) != _NAME:
            directory = os.path.dirname(manifest)
            raise InstallError(
                f"{directory} is another extension, {str(known['name'])[:80]!r}: move it away first"
            )
        if not known:
            result[manifest] = f"{as_json({'name': _NAME, 'version': '1.0.0'})}\n"
        return {file: result[file], **result}

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        """Remove the whole extension, unless it has hooks that are not ours."""
        result = super().removed(texts, gone, originals)
        manifest = next((file for file in texts if file.endswith(_MANIFEST)), None)
        if manifest is None or not gone:
            return result
        file = gone[0].file
        left = self.document(file, result[file]).value
        if not any(True for _ in self.commands(left)) and not left.keys() - {"hooks"}:
            result |= {file: None, manifest: None}
        return result

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del texts, calls
        if site.scope == "managed":
            yield "users can still switch hooks off with hooksConfig in their own settings of Gemini CLI"

    def further_files(self, site: Site) -> Sequence[str]:
        names = (_TRUSTED, _ENABLEMENT, "settings.json")
        return [file for name in names if (file := self._in_home(site.env, name))]

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        del own
        of_project = self.files(site)[:1] if site.scope == "project" else ()
        trusted, enablement, settings, *more = (
            as_object(read_document(texts.get(file) or "{}", "json", file, comments=True).value)
            for file in (*self.further_files(site), *of_project)
        )
        for whose, found in (
            ("your settings", settings),
            *(("the project's settings", each) for each in more),
        ):
            config = as_object(found.get("hooksConfig"))
            if config.get("enabled") is False or _NAME in as_items(config.get("disabled")):
                return "untrusted", f"hooksConfig of {whose} turns it off"
        if site.scope == "user" and not is_on(as_object(enablement.get(_NAME)), site.project):
            return "untrusted", f"the extension {_NAME} is disabled here"
        return _directory_trust(trusted, settings, site.project)


def _directory_trust(
    trusted: Mapping[str, Any], settings: Mapping[str, Any], directory: str
) -> tuple[Standing, str]:
    if found_at(settings, ("security", "folderTrust", "enabled")) is False:
        return "trusted", "Gemini CLI's folder trust is switched off"
    rule = trust_rule(trusted, directory)
    if rule is None:
        return "unknown", "Gemini CLI asks if you trust this directory"
    if rule[1] == "DO_NOT_TRUST":
        return "untrusted", f"Gemini CLI does not trust {rule[0]}"
    return "trusted", f"you trust {rule[0]} in Gemini CLI"
