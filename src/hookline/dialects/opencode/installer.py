"""Install Hookline's plugin in OpenCode or a fork of it: one file in its directory of plugins, which is all ours."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.installer import Entry, Installer, InstallError, Site, Standing, Texts

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.dialects.entries import HookCall

#: The lines of the plugin that an installation fills in.
_CALLS = re.compile(r"^const CALLS = (\{.*\})$", re.MULTILINE)
_HOME = re.compile(r"^const HOME = .*$", re.MULTILINE)
_AGENT = re.compile(r'^const AGENT = "opencode"$', re.MULTILINE)


class OpenCodeInstaller(Installer):
    def __init__(
        self, dialect: "Dialect", user_file: Callable[[Mapping[str, str]], str | None], package: str
    ) -> None:
        """Take the package that the agent gets by itself for plugins."""
        super().__init__(dialect, user_file)
        self._package = package

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
        changed = {} if self._is_ours(text, table) else {"changed": True}
        return [Entry(file, (event,), {"command": each, **changed}, line) for event, each in table.items()]

    def wanted(self, calls: "Sequence[HookCall]", texts: Mapping[str, str | None], site: Site) -> list[Entry]:
        del texts
        file = self.files(site)[0]
        return [Entry(file, (call.event,), {"command": call.command}) for call in calls]

    def added(self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site) -> Texts:
        text = plugin_text({call.event: call.command for call in calls}, self.dialect.name)
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
            if not self._is_ours(texts.get(file) or "", {entry.event: entry.command for entry in own}):
                return "untrusted", f"{file} was changed, or is of another version: install it again"
        return (
            "trusted",
            f"{self.dialect.title} loads every plugin of this directory, unless it runs with --pure",
        )

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del texts, calls
        directory = os.path.dirname(os.path.dirname(self.files(site)[0]))
        if not os.path.exists(os.path.join(directory, "node_modules", self._package, "package.json")):
            yield (
                f"{self.dialect.title} gets the package {self._package} from npm when it first starts with a plugin, "
                "and waits for it without a network"
            )
        yield (
            f"{self.dialect.title} drops a plugin that it cannot load without a word: `hookline doctor` says when it "
            "last asked"
        )

    def _is_ours(self, text: str, calls: Mapping[str, str]) -> bool:
        """Return True for the plugin exactly as this version writes it, whatever the home directory."""
        return _HOME.sub("", text) == _HOME.sub("", plugin_text(calls, self.dialect.name))


def plugin_text(calls: Mapping[str, str], agent: str = "opencode") -> str:
    """Return the plugin with the shell line for each event."""
    text = files(__package__ or __name__).joinpath("plugin.js").read_text(encoding="utf-8")
    text = _AGENT.sub(f"const AGENT = {json.dumps(agent)}", text)
    return _CALLS.sub(lambda _: f"const CALLS = {json.dumps(dict(calls))}", text)
