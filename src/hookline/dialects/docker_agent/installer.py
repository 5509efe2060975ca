"""Install Hookline in Docker Agent: for every agent of a project's file, or in the user's own settings for
all of them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.installer import Installer, InstallError, Site, commands_below
from hookline.model.diagnostics import Path

if TYPE_CHECKING:
    from hookline.dialects.docker_agent import DockerAgent
    from hookline.dialects.entries import HookCall

_USER: Path = ("settings", "hooks")


class DockerAgentInstaller(Installer):
    def __init__(self, dialect: "DockerAgent") -> None:
        super().__init__(dialect, self._user_settings)

    def _user_settings(self, env: Mapping[str, str]) -> str | None:
        return next((each.file for each in self.dialect.config_paths("", env) if each.scope == "user"), None)

    def project_file(self, site: Site) -> str:
        """Return the existing agent file: it defines the agents, so there is nothing to write into another."""
        found = self._agent_files(site)
        if not found:
            names = ", ".join(self.dialect.project_files[::2])
            raise InstallError(f"{site.project} has no agent file ({names}): its agents are defined there")
        return found[0]

    def _agent_files(self, site: Site) -> list[str]:
        files = [os.path.join(site.project, name) for name in self.dialect.project_files]
        return [file for file in files if os.path.lexists(file)]

    def signs(self, site: Site) -> Sequence[str]:
        return self._agent_files(site) if site.scope == "project" else super().signs(site)

    def commands(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        for path, table in self._owners(value):
            yield from commands_below(table.get("hooks"), (*path, "hooks"))

    def _owners(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the tables with hooks: agents, and the settings of the user's own file."""
        yield from self.dialect.hook_tables(value)
        settings = value.get(str(_USER[0]))
        if isinstance(settings, Mapping):
            yield _USER[:1], cast("Mapping[str, Any]", settings)

    def additions(
        self, calls: "Sequence[HookCall]", site: Site, value: Mapping[str, Any]
    ) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield entries for each agent: subagents inherit no hooks."""
        agents = [(*path, "hooks") for path, _ in self.dialect.hook_tables(value)]
        homes = [_USER] if site.scope == "user" else agents
        if not homes:
            raise InstallError(f"{self.project_file(site)} defines no agents; nothing was changed")
        for path, item in super().additions(calls, site, value):
            event = path[-1]
            yield from (((*home, event), item) for home in homes)

    def notes(
        self, texts: Mapping[str, str | None], calls: "Sequence[HookCall]", site: Site
    ) -> Iterator[str]:
        del texts, calls
        for file in self._agent_files(site)[1:] if site.scope == "project" else ():
            yield f"{file} is an agent file too, and stays as it is"
