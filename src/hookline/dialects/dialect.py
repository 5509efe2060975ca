"""Define dialects: another agent's hook format, its wire, and its behaviour at its own events.

A dialect is one directory whose `__init__` has a subclass of `Dialect`, and one line in the registry. The
subclass states the facts that differ from the defaults below; code outside the directory reads them here and
never names an agent.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from hookline.dialects.registry import Listed, standard_dialects
from hookline.disk import DISK, Disk
from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Path, Where
from hookline.model.events import STOP, TURN_END, Capability, EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.outcome import Outcome
from hookline.model.policy import Policy
from hookline.model.wire import HookReply, Parsed, Wire

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable
    from hookline.dialects.entries import HookCall
    from hookline.dialects.installer import Installer
    from hookline.dialects.own_plugin import OwnPlugin
    from hookline.dialects.transcript_reader import Transcripts
    from hookline.handlers.registry import Handler
    from hookline.matching.patterns import Patterns
    from hookline.shell import ShellReader

#: The events that Claude-shaped agents report: every guard, and others that are cheap.
USUAL_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
    "Stop", "SubagentStop", "SessionEnd",
)  # fmt: skip

#: Formats of Hookline's own files, in this order: of two in one directory the first one is active.
SUFFIXES = ("toml", "yaml", "yml", "json")


class DialectEvent(Struct, frozen=True, eq=False):
    """An event under a dialect's own name, and how the dialect behaves there."""

    event: EventSpec[Any]
    policy: Policy
    #: Seconds a hook has when its entry does not say.
    timeout: float = 60.0
    #: A peculiarity of when it fires, as the rest of a sentence that begins with its name.
    remark: str = ""

    @property
    def name(self) -> str:
        return self.policy.event_name

    @property
    def guards(self) -> bool:
        """True if an action that no hook has judged must be blocked."""
        return self.event.guard and bool(self.policy.may & Capability.BLOCK)


class Plugin(Struct, frozen=True):
    """A plugin of an agent: code of others, installed below one directory."""

    #: Its name in the agent's settings.
    name: str
    #: Its directory. Files outside of it are not the plugin's.
    root: str
    version: str = ""
    #: The directory in which it may keep its files.
    data: str = ""


class ConfigPath(Struct, frozen=True):
    """A file that may hold hooks of a dialect."""

    file: str
    scope: Scope
    #: The plugin that brings the file, if one was found without being named.
    plugin: Plugin | None = None

    @property
    def root(self) -> str:
        """The directory of its plugin; empty for a file of no plugin."""
        return self.plugin.root if self.plugin is not None else ""


class Layer(Struct, frozen=True):
    """A file that exists, read."""

    config_path: ConfigPath
    document: Document


class Plugins(Struct, frozen=True):
    """The files with hooks that installed plugins bring."""

    config_paths: tuple[ConfigPath, ...] = ()
    #: Files of plugins that are switched off, and why they are.
    off: tuple[tuple[ConfigPath, str], ...] = ()
    #: Errors in the installation of plugins. Mistakes in the files themselves are found when those are read.
    diagnostics: tuple[Diagnostic, ...] = ()


class DefinitionFiles(Struct, frozen=True):
    """Markdown files whose front matter may hold hooks. Those run only while the file's definition is used."""

    #: Below the agent's directory.
    directory: str
    #: The time when the hooks run; {} is the name of the definition.
    when: str
    #: The file in a directory for each; empty where each is a file with its own name.
    file: str = ""
    #: Event names that mean another event in such a file.
    renamed: Mapping[str, str] = MappingProxyType({})
    #: True if plugins bring them too.
    in_plugins: bool = True
    #: True if Hookline's own agent uses them.
    used: bool = True


SKILLS = DefinitionFiles("skills", "while skill {} is in use", "SKILL.md")
COMMANDS = DefinitionFiles("commands", "while command {} is in use")


class Tools(Struct, frozen=True, eq=False):
    """The tools of a reader: the handlers that will run hooks, and compiled patterns."""

    handlers: "Mapping[str, Handler]"
    patterns: "Patterns"
    shell: "ShellReader"


class Disabled(Struct, frozen=True):
    """A hook that the user has switched off, by its name; and the line that does it."""

    name: str
    where: Where


class Followed(Struct, frozen=True):
    """A hook, by its name, or a file whose hooks are asked about all calls that touch a file that they are about."""

    #: `all` for the hooks of all files.
    name: str
    where: Where


class LoadedHooks(Struct, frozen=True):
    """The hooks of all layers, combined as the agent combines them, and all their errors."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    #: Files that exist and were not used, because another one replaced them.
    unused: tuple[str, ...] = ()
    #: Hooks of whichever dialect that the user's own file switches off.
    disabled: tuple[Disabled, ...] = ()
    #: Hooks of other agents' formats that are to follow actions.
    followed: tuple[Followed, ...] = ()


class AgentFile(Struct, frozen=True):
    """A dialect's format for whole agents in a file."""

    #: Fields that have no meaning for Hookline's agent.
    unused: frozenset[str] = frozenset()
    #: The separator of provider and model in a model's name.
    model_separator: str = ":"


class ReversibleWire(Wire, Protocol):
    """A wire that also works in the other direction: it reads an agent's payload and answers that agent."""

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """Parse a payload in the agent's own shape. Raises ConfigError or UnknownEventError with the error."""
        ...

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        """Write the outcome in the agent's own terms, and name the parts that the agent cannot express.

        The payload is the one the agent sent; None where it could not be read.
        """
        ...


class Dialect(ABC):
    """One agent's hooks. Built once per engine; its policies are the same objects for all its hooks.

    Asking for a fact must stay cheap: the modules that read files and payloads are imported when they are
    first used.
    """

    # --- identity
    # ------------------------------------------------------------------------------------------------
    #: Its name in `--dialect` and the journal.
    name: str
    #: The agent's usual name.
    title: str
    #: False for Hookline's own format: no other agent runs these hooks.
    has_agent: bool = True

    # --- files
    # ---------------------------------------------------------------------------------------------------
    #: Its directory in a project and in the user's home directory; empty where it has none.
    directory: str = ""
    #: Paths below a project that make it one of this agent's; the first is the one to write hooks into.
    project_files: Sequence[str] = ()
    #: The end of the path of a plugin's file with hooks.
    plugin_file: str = "hooks/hooks.json"
    #: Further files of its directory that may hold hooks.
    definitions: Sequence[DefinitionFiles] = ()
    #: Its hooks that are not searched for, in words for users.
    unsearched: str = ""
    #: Its format for whole agents, if it has one.
    agent_file: AgentFile | None = None

    #: True if its JSON files may hold comments.
    json_comments: bool = False
    #: The release of its agent that Hookline was compared with; later ones may have further events.
    tested_release: str = ""

    # --- entries
    # -------------------------------------------------------------------------------------------------
    #: The directory that relative paths in its commands start from: that of the project, or the one in which the agent
    #: works at that time. None: not known.
    relative_to: Literal["project", "session"] | None = None
    #: The unit of timeouts in its files.
    timeout_unit: Literal["s", "ms"] = "s"
    #: Its names of fields, by the name Hookline has for them.
    entry_fields: Mapping[str, str] = MappingProxyType({})
    #: The findings of `loosens`, in the words of `hookline trust`.
    loosening: str = "changes other hooks"
    #: The setting that makes an entry of a handler kind fail closed. A kind that is not listed cannot.
    fails_closed_by: Mapping[str, str] = MappingProxyType({})

    # --- payloads and answers
    # ------------------------------------------------------------------------------------
    #: The key under which a payload names its event.
    event_key: str = "hook_event_name"
    #: False where neither payload nor environment says which event it is.
    names_event: bool = True
    #: Prefixes of environment variables that carry the payload.
    payload_variables: tuple[str, ...] = ()
    #: Variables that hold the project's directory when a hook runs.
    project_variables: tuple[str, ...] = ()
    #: Variables of an entry that the agent fills in for a plugin.
    plugin_variables: frozenset[str] = frozenset()
    #: Further variables that it sets for hooks; one that ends in `_` is a prefix.
    other_variables: tuple[str, ...] = ()
    #: Files of the home directory or of a project that people take for its settings: it reads no hooks in them.
    files_without_hooks: tuple[str, ...] = ()
    #: Variables that have another value for each hook.
    own_variables: tuple[str, ...] = ()
    #: It runs an entry that is in two files twice, in order, and gives both the same: each of ours names its file.
    repeats_entries: bool = False
    #: Options with which its agent runs without a user, if it then waits in vain for an answer to a question.
    headless_options: tuple[str, ...] = ()
    #: Codes of findings about hooks of its own that have run before, and that it now skips without a word: a session
    #: begins with them.
    skips_silently: frozenset[str] = frozenset()
    #: Dialects whose payloads its hooks can get instead of its own.
    speaks: tuple[str, ...] = ()
    #: A model's refusal in a prompt or agent hook; None where a hook's model is read in another way.
    model_refusal: bytes | None = None

    # --- installation
    # --------------------------------------------------------------------------------------------
    #: The files for such entries, for people.
    call_file: str = ""
    #: The administrator's file for such entries, on Linux and last on macOS; empty where it has none.
    managed_files: Sequence[str] = ()
    #: The event at which Hookline can ask as a module inside the agent; empty where it cannot.
    inside_event: str = ""
    #: The setting in its files by which its user chooses the shell of its commands, and of nothing else; it runs that
    #: shell after its own permission rules and dialogs. Empty where it has none.
    shell_setting: tuple[str, ...] = ()
    #: The events most people want Hookline to see: every guard, and others that are cheap.
    call_events: Sequence[str] = ()

    @cached_property
    @abstractmethod
    def wire(self) -> ReversibleWire: ...

    @cached_property
    @abstractmethod
    def events(self) -> Mapping[str, DialectEvent]:
        """Its events by its own names."""

    @abstractmethod
    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List every file that may hold its hooks, in layer order, existing or not. Pure."""

    @abstractmethod
    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        """Read hooks in the order they run. A bad entry is reported and dropped; the rest load."""

    @property
    def tools(self) -> "ToolTable":
        """The names of its agent's tools, and what they do."""
        known: ToolTable | None = getattr(self.wire, "tools", None)
        if known is not None:
            return known
        from hookline.actions.standard_tools import STANDARD  # noqa: PLC0415 a dialect of a host need not say anything

        return STANDARD

    @property
    def own_tools(self) -> "ToolTable | None":
        """Its tools, for sessions in which its agent calls them; None where they have canonical names."""
        return None if getattr(self.wire, "standard_tools", True) else getattr(self.wire, "tools", None)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        """Make the hook that `--hook EVENT=COMMAND` means, at one of the times of that event."""
        from hookline.dialects.labels import command_label  # noqa: PLC0415 only for a flag
        from hookline.handlers.specs import CommandSpec  # noqa: PLC0415 only for a flag

        return Hook(
            name=command_label(command),
            event=own_event.event,
            policy=own_event.policy,
            wire=self.wire,
            kind="command",
            spec=CommandSpec(command),
            timeout=own_event.timeout,
            dialect=self.name,
            scope="flag",
        )

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        """Return the text to add to the agent's configuration so that it calls Hookline; empty where there is
        none."""
        del calls
        return ""

    @property
    def listed(self) -> Listed:
        """The facts by which its agent is found before anything of its directory is imported."""
        return standard_dialects().get(self.name) or Listed("")

    @property
    def installer(self) -> "Installer | None":
        """The installer of such entries in the agent's own files; None where they cannot be installed."""
        return None

    @property
    def own_plugin(self) -> "OwnPlugin | None":
        """The form of Hookline as a plugin of this agent; None where Hookline cannot be one."""
        return None

    @property
    def transcripts(self) -> "Transcripts | None":
        """The reader of its agent's past sessions; None where their format is not known."""
        return None

    def recognises(self, value: Any) -> bool:
        """Return True if a document has the shape of this agent's configuration and of no other's."""
        del value
        return False

    def owns(self, file: str) -> bool:
        """Return True if a file is the agent's by its path, which is absolute and has forward slashes."""
        return any(file.endswith(f"/{name}") for name in self.project_files)

    def find(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Sequence[ConfigPath]:
        """List every file that may hold hooks for a directory, in layer order."""
        return self.config_paths(nearest_project(cwd, self.project_files, disk), env)

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        """Find files that installed plugins add to the settings files, which switch plugins on and off."""
        del cwd, env, settings, disk
        return Plugins()

    def user_directory(self, env: Mapping[str, str]) -> str | None:
        """Return the directory of a user's own commands and skills, if Hookline's agent uses them too."""
        del env
        return None

    def asked_at(self, event: EventSpec[Any]) -> Sequence[EventSpec[Any]]:
        """Return the events whose hooks run when its agent reports this one.

        For an agent without TurnEnd, the gates of a turn run at Stop, first.
        """
        if event is not STOP or any(own.event is TURN_END for own in self.events.values()):
            return (event,)
        return (TURN_END, STOP)

    def recorded_events(self, name: str) -> Sequence[DialectEvent]:
        """Return every time at which hooks under one of its own event names run: usually one."""
        return (self.events[name],)

    def hook_tables(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield the tables of a document in which a key `hooks` may be, each with its path."""
        yield (), value

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the settings of a file that change or switch off hooks of other files: they apply only once
        the user has trusted it."""
        del file, settings
        return {}

    def switched_off_by(self, settings: Mapping[str, Any]) -> Path:
        """Return the path of the setting by which its agent runs no hooks at all; empty if a file has none."""
        del settings
        return ()

    def overrulers(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Iterator[Diagnostic]:
        """Yield findings for `doctor` about what, besides hooks, changes what hooks can do in a directory."""
        del cwd, env, disk
        yield from ()

    def field_path(self, entry: Path, field: str) -> Path:
        """Return the path of a field of the entry at this path, by Hookline's name of it. Matchers are in the
        group around it."""
        if field == "matcher":
            return (*entry[:-2], field)
        return (*entry, self.entry_fields.get(field, field))

    def sets_variable(self, name: str) -> bool:
        """Return True for one of the further variables that it sets for hooks."""
        return any(
            name.startswith(each) if each.endswith("_") else name == each for each in self.other_variables
        )

    def plugin_at(self, root: str, disk: Disk = DISK) -> Sequence[ConfigPath]:
        """Return the files with hooks of a directory that is itself a plugin; none for any other directory."""
        manifest = os.path.join(root, self.listed.plugin_manifest)
        file = os.path.join(root, self.plugin_file)
        if not self.listed.plugin_manifest or not disk.is_there(manifest) or not disk.is_there(file):
            return ()
        return (ConfigPath(file, "plugin", Plugin(os.path.basename(root), root)),)

    def answerable(self, outcome: Outcome, parsed: Parsed) -> Outcome:
        """Return the outcome as this call can be answered, where that depends on more than the event."""
        del parsed
        return outcome

    def without_cut(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a payload without the arguments that the agent cut off; None where it cut none."""
        del document
        return None

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """Yield findings for `doctor` about the hooks of this dialect beyond those its reader reports."""
        del hooks
        yield from ()


class HomeDialect(Dialect):
    """The dialect that hooks made in Python belong to."""

    #: Made at once: the engine needs it for every such hook.
    wire: ReversibleWire  # pyright: ignore[reportIncompatibleVariableOverride] an attribute in place of a cached one

    @abstractmethod
    def policy(self, event: EventSpec[Any]) -> Policy:
        """Return the policy: always the same object for the same row."""

    @abstractmethod
    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]:
        """Read matcher and condition. Raises PatternError for a pattern that cannot be understood, or can
        never match at this event."""

    @abstractmethod
    def tables(self) -> "tuple[Patterns, ShellReader]":
        """Return compiled patterns and shell lines already read, shared by everything of one engine."""


def upward(start: str, disk: Disk = DISK) -> list[str]:
    """List the directory and its parents up to the root of the git repository; outside of one only the
    directory itself.

    Every user can write to /tmp: a file there must not decide what runs in the directories below it.
    """
    chain = [start]
    while not disk.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return [start]
        chain.append(parent)
    return chain


def nearest_project(cwd: str, files: Sequence[str], disk: Disk = DISK) -> str:
    """Return the nearest directory, up to the root of the repository, that holds one of the files; else the
    directory."""
    start = os.path.abspath(cwd)
    for directory in upward(start, disk):
        if any(disk.lexists(os.path.join(directory, file)) for file in files):
            return directory
    return start


def user_directories(env: Mapping[str, str]) -> list[str]:
    """Return the user's directory of Hookline; nothing for a user without a home.

    XDG_CONFIG_HOME does not move it: a project's settings could set that, and hooks there would be treated as
    the user's.
    """
    home = env.get("HOME", "")
    return (
        [os.path.join(home, ".config", "hookline")] if os.path.isabs(home) else []
    )  # else it would be /.config


def unused_files(env: Mapping[str, str], disk: Disk = DISK) -> list[str]:
    """Return hooks and settings that XDG_CONFIG_HOME leads to, and that the user may believe to be active."""
    moved = env.get("XDG_CONFIG_HOME", "")
    own = user_directory(env)
    if not os.path.isabs(moved) or own is None or disk.realpath(os.path.dirname(own)) == disk.realpath(moved):
        return []
    stems = [os.path.join(moved, "hookline", name) for name in ("hooks", "hooks.local", "settings")]
    return [file for stem in stems for suffix in SUFFIXES if disk.is_there(file := f"{stem}.{suffix}")]


def user_directory(env: Mapping[str, str]) -> str | None:
    """Return the user's directory of Hookline that new files are written to."""
    return next(iter(user_directories(env)), None)
