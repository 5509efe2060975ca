"""List the dialects. A new one is a directory and one line here."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from hookline.disk import DISK, Disk, ancestors
from hookline.model.events import EVENTS, EventSpec

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect, HomeDialect

#: Hookline's own format. Hooks made in Python belong to it, and files that belong to no other dialect.
OWN_FORMAT = "native"
#: Parts of an agent's directory that Hookline's own agent uses too.
Shared = Literal["commands", "skills", "rules", "instructions", "permissions", "command_hooks"]


class Listed(Struct, frozen=True):
    """A dialect by its package, which is imported only where the agent is used."""

    package: str
    # The agent is used where any of the next three is found.
    #: Files or directories in the project, above it, or in the user's home.
    markers: tuple[str, ...] = ()
    #: Absolute paths.
    system_paths: tuple[str, ...] = ()
    #: Environment variables.
    variables: tuple[str, ...] = ()
    #: Searched for everywhere.
    always: bool = False
    # Files that are protected from the agent's own edits besides the markers, and files that are not.
    #: Further files or directories that configure the agent.
    also_configure: tuple[str, ...] = ()
    #: Directories in its directory where the agent keeps notes: nothing there configures anything.
    notes: tuple[str, ...] = ()
    #: Dialects whose entries this agent runs too, and the keys by which its payloads are known there: one of these
    #: groups, in which `!key` must be missing. A payload that fits several agents belongs to the longest group.
    runs_entries_of: tuple[str, ...] = ()
    payload_keys: tuple[tuple[str, ...], ...] = ()
    #: Its programs: it is on this machine if one of them is in PATH.
    programs: tuple[str, ...] = ()
    #: Expressions for words behind one of them that switch its hooks off.
    switches: tuple[str, ...] = ()
    #: Its plugins have this file in their root.
    plugin_manifest: str = ""
    #: The file of a repository that lists plugins in its directories.
    plugin_list: str = ""
    #: The variable with the id of its session, in the shell commands that it runs.
    session_variable: str = ""
    #: The parts of its directory that Hookline's own agent uses too.
    shares: frozenset[Shared] = frozenset()
    #: False where its hooks are code inside of it: there is no file to read hooks from.
    has_files: bool = True
    #: A regular expression for the agent in code, which no module outside its directory may match; empty for
    #: the first word of its name.
    spelled: str = ""

    def build(
        self, events: Mapping[str, EventSpec[Any]] = EVENTS, env: Mapping[str, str] = os.environ
    ) -> "Dialect":
        found: Dialect = import_module(f"hookline.dialects.{self.package}").dialect(events, env)
        return found

    def is_used(self, directories: Sequence[str], env: Mapping[str, str], disk: Disk = DISK) -> bool:
        """Return True if there are signs of the agent in `searched_directories`: most people have one or two agents."""
        if self.always or any(env.get(variable) for variable in self.variables):
            return True
        if any(map(disk.is_there, self.system_paths)):
            return True
        return any(
            disk.is_there(os.path.join(directory, marker))
            for marker in self.markers
            for directory in directories
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """The options of a run that switch its hooks off."""
        return tuple(found[0] for each in self.switches if (found := re.match(r"--[a-z-]+", each)))

    def programs_in_path(self, env: Mapping[str, str]) -> list[str]:
        """Return each program once, however many links lead to it."""
        directories = [each for each in env.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
        found = [os.path.join(directory, name) for name in self.programs for directory in directories]
        there = [each for each in found if os.path.isfile(each) and os.access(each, os.X_OK)]
        return list({os.path.realpath(each): each for each in reversed(there)}.values())[::-1]


@cache
def standard_dialects() -> Mapping[str, Listed]:
    """Return the dialects by name, in the order their lanes run."""
    return {
        "claude-code": Listed(
            "claude_code",
            (".claude",),
            ("/etc/claude-code", "/Library/Application Support/ClaudeCode"),
            ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PLUGIN_CACHE_DIR"),
            also_configure=(".claude.json",),
            programs=("claude",),
            plugin_manifest=".claude-plugin/plugin.json",
            plugin_list=".claude-plugin/marketplace.json",
            session_variable="CLAUDE_CODE_SESSION_ID",
            shares=frozenset(("commands", "skills", "rules", "instructions", "permissions", "command_hooks")),
            switches=("disableAllHooks", r"plugins? (?:disable|uninstall|remove)\b", "--bare"),
            notes=("plans", "projects", "tasks", "todos", "worktrees"),
        ),
        "gen-code": Listed(
            "gencode",
            (".gen",),
            programs=("gen", "gencode"),
            shares=frozenset(("commands", "permissions")),
            spelled=r"gen-?code|\.gen\b|\bGEN_",
        ),
        "codewhale": Listed("codewhale", (".codewhale", ".deepseek"), programs=("codewhale",)),
        "reasonix": Listed("reasonix", (".reasonix",), (), ("REASONIX_HOME",), programs=("reasonix",)),
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
            programs=("docker-agent", "cagent"),
            spelled=r"docker[-_ ]?agent|cagent",
        ),
        "codex": Listed(
            "codex",
            (".codex",),
            ("/etc/codex",),
            ("CODEX_HOME",),
            programs=("codex",),
            switches=(
                r"hooks\s*=",
                r"--disable[ =]\w*hooks",
                r"features disable \w*hooks",
                r"bypass-hook-trust",
            ),
        ),
        "gemini-cli": Listed(
            "gemini_cli",
            (".gemini",),
            ("/etc/gemini-cli", "/Library/Application Support/GeminiCli"),
            ("GEMINI_CLI_HOME", "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
            notes=("tmp", "history"),
            programs=("gemini",),
            plugin_manifest="gemini-extension.json",
            switches=("hooks disable", r"extensions? (?:disable|uninstall)\b", "hooksConfig"),
        ),
        "cursor": Listed(
            "cursor",
            (".cursor",),
            ("/etc/cursor", "/Library/Application Support/Cursor"),
            programs=("cursor", "cursor-agent"),
            runs_entries_of=("claude-code",),
            payload_keys=(("cursor_version", "conversation_id"),),
            # The word has other meanings.
            spelled=r"\.cursor/|(?-i:CURSOR_[A-Z])|cursor_version",
        ),
        "copilot-cli": Listed(
            "copilot_cli",
            (".copilot", ".github/hooks"),
            (),
            ("COPILOT_HOME",),
            programs=("copilot",),
            runs_entries_of=("claude-code",),
            payload_keys=(("timestamp", "hook_event_name", "!permission_mode"), ("hookName", "sessionId")),
            # There are other copilots.
            spelled=r"copilot[-_ ]?cli|\.copilot/|COPILOT_[A-Z]|\.github/hooks",
        ),
        "grok": Listed(
            "grok",
            (".grok",),
            ("/etc/grok",),
            programs=("grok",),
            runs_entries_of=("claude-code",),
            payload_keys=(("hookEventName", "hook_event_name", "workspaceRoot", "sessionId"),),
            spelled=r"\bgrok",
        ),
        "qwen-code": Listed(
            "qwen_code",
            (".qwen",),
            notes=("projects", "tmp"),
            programs=("qwen",),
            switches=(
                "hooks disable",
                r"extensions? (?:disable|uninstall)\b",
                "disableAllHooks",
                "hooksConfig",
            ),
        ),
        "kimi-code": Listed(
            "kimi_code", (".kimi-code",), (), ("KIMI_CODE_HOME",), programs=("kimi", "kimi-code")
        ),
        "opencode": Listed(
            "opencode",
            (".opencode", ".config/opencode", "opencode.json", "opencode.jsonc"),
            programs=("opencode",),
            switches=("--pure",),
            has_files=False,
        ),
        "kilo": Listed(
            "opencode.kilo",
            (".kilo", ".kilocode", ".config/kilo", "kilo.json", "kilo.jsonc"),
            programs=("kilo", "kilocode"),
            switches=("--pure",),
            has_files=False,
            spelled=r"\bkilo(?:code)?\b",
        ),
        OWN_FORMAT: Listed(
            "native",
            (".hookline",),
            ("/etc/hookline",),
            always=True,
            notes=("worktrees",),
            shares=frozenset(("commands", "skills", "rules")),
        ),
    }


def home_dialect(events: Mapping[str, EventSpec[Any]] = EVENTS) -> "HomeDialect":
    """Return the dialect of hooks made in Python, for the rows of one engine."""
    found: HomeDialect = import_module(
        f"hookline.dialects.{standard_dialects()[OWN_FORMAT].package}"
    ).dialect(events)
    return found


def sharing(part: Shared) -> "list[Dialect]":
    """List the dialects with something in their directories that Hookline's agent uses too; its own format first."""
    found = [listed.build() for listed in standard_dialects().values() if part in listed.shares]
    return sorted(found, key=lambda dialect: dialect.has_agent)


def dialect_named(name: str) -> "Dialect | None":
    """Return the dialect of a hook, for its facts; None if it is not listed, such as a host's own."""
    listed = standard_dialects().get(name)
    return listed.build() if listed is not None else None


def caller_of(name: str, document: Mapping[str, Any]) -> str:
    """Return the agent that sent a payload to an entry of this dialect: another one may run that entry too.

    Payloads decide, not the environment, which a project can set.
    """
    best, found = 0, name
    for other, needed, missing in _runners_of_entries(name):
        many = len(needed) + len(missing)
        if many > best and needed <= document.keys() and missing.isdisjoint(document):
            best, found = many, other
    return found


@cache
def _runners_of_entries(name: str) -> tuple[tuple[str, frozenset[str], frozenset[str]], ...]:
    """Return the agents that run entries of this dialect, with the keys that their payloads have and lack."""
    return tuple(
        (
            other,
            frozenset(key for key in keys if key[0] != "!"),
            frozenset(key[1:] for key in keys if key[0] == "!"),
        )
        for other, listed in standard_dialects().items()
        if name in listed.runs_entries_of
        for keys in listed.payload_keys
    )


def searched_directories(cwd: str, env: Mapping[str, str]) -> list[str]:
    """Return the directories that are searched for signs of agents: the project, those above it, and the home."""
    home = env.get("HOME", "")
    return [*ancestors(os.path.abspath(cwd)), *([home] if home else [])]


def dialects_here(cwd: str, env: Mapping[str, str]) -> "Iterator[Dialect]":
    """Yield the dialects of the agents of which a program, a file or a directory is there."""
    directories = searched_directories(cwd, env)
    for listed in standard_dialects().values():
        if listed.is_used(directories, env) or listed.programs_in_path(env):
            yield listed.build(env=env)


def every_dialect() -> "Iterator[Dialect]":
    """Yield every dialect, built."""
    for listed in standard_dialects().values():
        yield listed.build()
