"""Install Hookline's plugin in OpenCode: one file in its directory of plugins, which is all ours."""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing, Texts

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall

#: The lines of the plugin that an installation fills in.
_CALLS = re.compile(r"^const CALLS = (\{.*\})$", re.MULTILINE)
_HOME = re.compile(r"^const HOME = .*$", re.MULTILINE)
#: The package that OpenCode gets by itself for plugins, below its directories.
_PACKAGE = "node_modules/@opencode-ai/plugin/package.json"


class OpenCodeInstaller(Installer):
    def entries(self, texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        """List the calls in our plugin. Raises InstallError for a file of that name that is not ours."""
        file = self.files(site)[0]
        text = texts.get(file)
        if not text or not text.strip():
            return []
        found = _CALLS.search(text)
        try:
            calls: Any = json.loads(found[1]) if found is not None else None
        except ValueError:
            calls = None
        if not isinstance(calls, dict):
            raise InstallError(f"{file} is not Hookline's plugin: move it away first; nothing was changed")
        line = text[: found.start()].count("\n") + 1 if found is not None else None
        table = cast("dict[str, Any]", calls)
        # A changed plugin is another one than is wanted: installing again writes it anew.
        changed = {} if _is_ours(text, table) else {"changed": True}
        return [Entry(file, (event,), {"command": each, **changed}, line) for event, each in table.items()]

    def wanted(self, calls: "Sequence[HookCall]", texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        del texts
        file = self.files(site)[0]
        return [Entry(file, (call.event,), {"command": call.command}) for call in calls]

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        text = plugin_text({call.event: call.command for call in calls})
        if site.scope == "user":
            # The user's home directory is where the entries' --home says, whatever variables say.
            text = _HOME.sub(lambda _: f"const HOME = {json.dumps(site.env.get('HOME', ''))}", text)
        return {**texts, self.files(site)[0]: text}

    def removed(
        self, texts: Mapping[str, str | None], gone: Sequence[Entry], originals: Mapping[str, str | None]
    ) -> Texts:
        del originals
        return {**texts, **{entry.file: None for entry in gone}}

    def standing(
        self, texts: Mapping[str, str | None], own: Sequence[Entry], site: Site
    ) -> tuple[Standing, str]:
        del site
        for file in {entry.file for entry in own}:
            if not _is_ours(texts.get(file) or "", {entry.event: entry.command for entry in own}):
                return "untrusted", f"{file} was changed, or is of another version: install it again"
        return "trusted", "OpenCode loads every plugin of this directory, unless it runs with --pure"

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del texts, calls
        directory = os.path.dirname(os.path.dirname(self.files(site)[0]))
        if not os.path.exists(os.path.join(directory, _PACKAGE)):
            yield (
                "OpenCode gets the package @opencode-ai/plugin from npm when it first starts with a plugin, and "
                "waits for it without a network"
            )
        yield "OpenCode drops a plugin that it cannot load without a word: `hookline doctor` says when it last asked"


def _is_ours(text: str, calls: Mapping[str, str]) -> bool:
    """Return True for the plugin exactly as this version writes it, whatever the home directory."""
    return _HOME.sub("", text) == _HOME.sub("", plugin_text(calls))


def plugin_text(calls: Mapping[str, str]) -> str:
    """Return the plugin with the shell line for each event."""
    text = files(__package__ or __name__).joinpath("plugin.js").read_text(encoding="utf-8")
    return _CALLS.sub(lambda _: f"const CALLS = {json.dumps(dict(calls))}", text)
