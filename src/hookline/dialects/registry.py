"""The dialects there are. A new one is a folder and one line here."""

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect, HomeDialect, Shared

#: Hookline's own format. Hooks made in Python belong to it, and files that belong to no other dialect.
OWN_FORMAT = "native"


class Listed(Struct, frozen=True):
    """A dialect by its package, which is imported only where the agent is used."""

    package: str
    # The agent counts as used where any of the next three is found.
    #: Files or folders in the project, above it, or in the user's home.
    markers: tuple[str, ...] = ()
    #: Absolute paths.
    system_paths: tuple[str, ...] = ()
    #: Environment variables.
    variables: tuple[str, ...] = ()
    #: Looked for everywhere.
    always: bool = False
    # What is protected from the agent's own edits besides the markers, and what is not.
    #: Further files or folders that configure the agent.
    also_configure: tuple[str, ...] = ()
    #: Folders in its folder where the agent keeps notes of its own: nothing there configures anything.
    notes: tuple[str, ...] = ()

    def build(
        self, events: Mapping[str, EventSpec[Any]] = EVENTS, env: Mapping[str, str] = os.environ
    ) -> "Dialect":
        found: Dialect = import_module(f"hookline.dialects.{self.package}").dialect(events, env)
        return found


def standard_dialects() -> Mapping[str, Listed]:
    """By name, in the order their lanes run."""
    return {
        "claude-code": Listed(
            "claude_code",
            (".claude",),
            ("/etc/claude-code", "/Library/Application Support/ClaudeCode"),
            ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PLUGIN_CACHE_DIR"),
            also_configure=(".claude.json",),
            notes=("plans", "projects", "tasks", "todos", "worktrees"),
        ),
        "gen-code": Listed("gencode", (".gen",)),
        "codewhale": Listed("codewhale", (".codewhale", ".deepseek")),
        "reasonix": Listed("reasonix", (".reasonix",), (), ("REASONIX_HOME",)),
        "docker-agent": Listed(
            "docker_agent",
            (
                "agent.yaml",
                "agent.yml",
                "docker-agent.yaml",
                "docker-agent.yml",
                "cagent.yaml",
                "cagent.yml",
                ".config/cagent",
            ),
        ),
        "codex": Listed("codex", (".codex",), ("/etc/codex",), ("CODEX_HOME",)),
        "gemini-cli": Listed(
            "gemini_cli",
            (".gemini",),
            ("/etc/gemini-cli", "/Library/Application Support/GeminiCli"),
            ("GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
            notes=("tmp", "history"),
        ),
        OWN_FORMAT: Listed("native", (".hookline",), ("/etc/hookline",), always=True, notes=("worktrees",)),
    }


def home_dialect(events: Mapping[str, EventSpec[Any]] = EVENTS) -> "HomeDialect":
    """The dialect of hooks made in Python, for the rows of one engine."""
    found: HomeDialect = import_module(
        f"hookline.dialects.{standard_dialects()[OWN_FORMAT].package}"
    ).dialect(events)
    return found


def sharing(part: "Shared") -> "list[Dialect]":
    """The dialects that have something in their folders which Hookline's agent uses too; its own format first."""
    found = [dialect for dialect in every_dialect() if part in dialect.shares]
    return sorted(found, key=lambda dialect: dialect.has_agent)


def dialect_named(name: str) -> "Dialect | None":
    """The dialect of a hook, for its facts; None if it is not listed, such as a host's own."""
    listed = standard_dialects().get(name)
    return listed.build() if listed is not None else None


def every_dialect() -> "Iterator[Dialect]":
    """Every dialect, built."""
    for listed in standard_dialects().values():
        yield listed.build()
