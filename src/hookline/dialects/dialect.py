"""What a dialect is: another agent's hook format, its wire, and how it behaves at its own events.

A dialect is one folder whose `__init__` has a subclass of `Dialect`, and one line in the registry. The subclass states
the facts that differ from the defaults below; code outside the folder reads them here and never names an agent.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from hookline.documents.document import Document
from hookline.model.diagnostics import Diagnostic, Path, Where
from hookline.model.events import STOP, TURN_END, EventSpec, May
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.outcome import Outcome
from hookline.model.policy import Policy
from hookline.model.wire import HookReply, Parsed, Wire

if TYPE_CHECKING:
    from hookline.dialects.install import HookCall
    from hookline.dialects.installer import Installer
    from hookline.handlers.registry import Handler
    from hookline.matching.patterns import Patterns
    from hookline.matching.shell import ShellReader
    from hookline.tools.table import ToolTable
    from hookline.transcripts.reader import Transcripts

#: What Claude-shaped agents are asked to report: every guard, and what is cheap to see besides.
USUAL_EVENTS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
    "Stop", "SubagentStop", "SessionEnd",
)  # fmt: skip
#: Parts of an agent's folder that Hookline's own agent uses too.
Shared = Literal["commands", "skills", "rules", "instructions", "permissions", "command_hooks"]

#: Formats of Hookline's own files, in this order: of two in one place the first one is in force.
SUFFIXES = ("toml", "yaml", "yml", "json")


class DialectEvent(Struct, frozen=True, eq=False):
    """An event under a dialect's own name, and how the dialect behaves there."""

    event: EventSpec[Any]
    policy: Policy
    #: Seconds a hook has when its entry does not say.
    timeout: float = 60.0
    #: What is peculiar about when it fires, as the rest of a sentence that begins with its name.
    remark: str = ""

    @property
    def name(self) -> str:
        return self.policy.event_name

    @property
    def guards(self) -> bool:
        """Whether an action that no hook has judged must be blocked."""
        return self.event.guard and bool(self.policy.may & May.BLOCK)


class Plugin(Struct, frozen=True):
    """A plugin of an agent: code of others, installed below one directory."""

    #: As the agent's settings name it.
    name: str
    #: The directory it is in. Nothing outside of it is the plugin's.
    root: str
    version: str = ""
    #: The directory in which it may keep files of its own.
    data: str = ""


class Place(Struct, frozen=True):
    """A file that may hold hooks of a dialect."""

    file: str
    scope: Scope
    #: Whose file it is, if a plugin that was found by itself brings it.
    plugin: Plugin | None = None

    @property
    def root(self) -> str:
        """The directory of its plugin; empty for a file of no plugin."""
        return self.plugin.root if self.plugin is not None else ""


class Layer(Struct, frozen=True):
    """A file that is there, read."""

    place: Place
    document: Document


class Plugins(Struct, frozen=True):
    """The files with hooks that installed plugins bring."""

    places: tuple[Place, ...] = ()
    #: Files of plugins that are switched off, and why they are.
    off: tuple[tuple[Place, str], ...] = ()
    #: What is wrong with how plugins are installed. Mistakes in the files themselves are found when those are read.
    diagnostics: tuple[Diagnostic, ...] = ()


class Definitions(Struct, frozen=True):
    """Markdown files whose front matter may hold hooks. Those run only while what the file defines is used."""

    #: Below the agent's folder.
    folder: str
    #: When the hooks run; {} is the name of what is defined.
    when: str
    #: The file in a folder of its own for each; empty where each is a file with a name of its own.
    file: str = ""
    #: Event names that mean another event in such a file.
    renamed: Mapping[str, str] = MappingProxyType({})
    #: Whether plugins bring them too.
    in_plugins: bool = True
    #: Whether Hookline's own agent uses them.
    used: bool = True


SKILLS = Definitions("skills", "while skill {} is in use", "SKILL.md")
COMMANDS = Definitions("commands", "while command {} is in use")


class Tools(Struct, frozen=True, eq=False):
    """What a reader needs to make hooks: the handlers that will run them, and compiled patterns."""

    handlers: "Mapping[str, Handler]"
    patterns: "Patterns"
    shell: "ShellReader"


class Disabled(Struct, frozen=True):
    """A hook that the user has switched off, by its name; and where."""

    name: str
    where: Where


class Reading(Struct, frozen=True):
    """The hooks of all layers, combined as the agent combines them, and everything that is wrong with them."""

    hooks: tuple[Hook, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    #: Files that are there and were not used, because another one took their place.
    unused: tuple[str, ...] = ()
    #: Hooks of whichever dialect that the user's own file switches off.
    disabled: tuple[Disabled, ...] = ()


class AgentFile(Struct, frozen=True):
    """How a dialect describes whole agents in a file."""

    #: Fields that have no meaning for Hookline's agent.
    unused: frozenset[str] = frozenset()
    #: What separates provider and model in a model's name.
    model_separator: str = ":"


class ReversibleWire(Wire, Protocol):
    """A wire that also works in the other direction: it reads an agent's payload and answers that agent."""

    def parse(self, document: Mapping[str, Any]) -> Parsed:
        """A payload in the agent's own shape. Raises ConfigError or UnknownEventError that say what is wrong."""
        ...

    def answer(self, event_name: str, outcome: Outcome, payload: Any = None) -> HookReply:
        """The outcome in the agent's own terms, and what of it the agent cannot express.

        The payload is what the agent asked about; None where it could not be read.
        """
        ...


class Dialect(ABC):
    """One agent's hooks. Built once per engine; its policies are the same objects for all its hooks.

    Asking for a fact must stay cheap: the modules that read files and payloads are imported when they are first used.
    """

    # --- who it is -----------------------------------------------------------------------------------------------
    #: As `--dialect` and the journal name it.
    name: str
    #: As people call the agent.
    title: str
    #: False for Hookline's own format: no other agent runs these hooks by itself.
    has_agent: bool = True

    # --- where its files are -------------------------------------------------------------------------------------
    #: Its folder in a project and in the user's home directory; empty where it has none.
    folder: str = ""
    #: Paths below a project that make it one of this agent's; the first is the one to write hooks into.
    project_files: Sequence[str] = ()
    #: How the path of a file ends in which a plugin brings its hooks.
    plugin_file: str = "hooks/hooks.json"
    #: The file that makes a directory a plugin.
    plugin_manifest: str = ""
    #: What of its folder Hookline's own agent uses too.
    shares: frozenset[Shared] = frozenset()
    #: Further files of its folder that may hold hooks.
    definitions: Sequence[Definitions] = ()
    #: What of its hooks is not looked for, as people call it.
    unsearched: str = ""
    #: How it describes whole agents, if it does.
    agent_file: AgentFile | None = None

    #: Whether its JSON files may hold comments.
    json_comments: bool = False

    # --- what an entry says --------------------------------------------------------------------------------------
    #: In which unit its files count timeouts.
    timeout_unit: Literal["s", "ms"] = "s"
    #: Its names of fields, by the name Hookline has for them.
    entry_fields: Mapping[str, str] = MappingProxyType({})
    #: What `loosens` finds, in the words of `hookline trust`.
    loosening: str = "changes other hooks"
    #: What makes an entry of a handler kind fail closed. A kind that is not here cannot.
    fails_closed_by: Mapping[str, str] = MappingProxyType({})

    # --- what a hook gets and answers ----------------------------------------------------------------------------
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
    #: Variables that each hook gets with a value of its own.
    own_variables: tuple[str, ...] = ()
    #: Dialects whose payloads its hooks can be given instead of its own.
    speaks: tuple[str, ...] = ()
    #: How a model refuses in a prompt or agent hook; None where a hook's model is read in another way.
    model_refusal: bytes | None = None

    # --- how the agent is made to call Hookline ------------------------------------------------------------------
    #: Where such entries go, for people.
    call_file: str = ""
    #: The events most people want Hookline to see: every guard, and what is cheap to see besides.
    call_events: Sequence[str] = ()

    @cached_property
    @abstractmethod
    def wire(self) -> ReversibleWire: ...

    @cached_property
    @abstractmethod
    def events(self) -> Mapping[str, DialectEvent]:
        """By its own event names."""

    @abstractmethod
    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Every file that may hold its hooks, in layer order, whether it is there or not. Pure."""

    @abstractmethod
    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        """Hooks in the order they run. A bad entry is reported and dropped; the rest load."""

    @property
    def tools(self) -> "ToolTable":
        """What its agent's tools are called, and what they do."""
        known: ToolTable | None = getattr(self.wire, "tools", None)
        if known is not None:
            return known
        from hookline.tools.standard import STANDARD  # noqa: PLC0415 a dialect of a host need not say anything

        return STANDARD

    @property
    def own_tools(self) -> "ToolTable | None":
        """Its tools, for sessions in which its agent calls them; None where they have canonical names."""
        return None if getattr(self.wire, "standard_tools", True) else getattr(self.wire, "tools", None)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        """The hook that `--hook EVENT=COMMAND` means, at one of the moments of that event."""
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
        """The text to add to the agent's configuration so that it calls Hookline; empty where there is none."""
        del calls
        return ""

    @property
    def installer(self) -> "Installer | None":
        """How such entries are put into the agent's own files; None where they cannot be."""
        return None

    @property
    def transcripts(self) -> "Transcripts | None":
        """How its agent keeps past sessions; None where that is not known."""
        return None

    def recognises(self, value: Any) -> bool:
        """Whether a document has the shape of this agent's configuration and of no other's."""
        del value
        return False

    def owns(self, file: str) -> bool:
        """Whether a file is the agent's by its path, which is absolute and has forward slashes."""
        return any(file.endswith(f"/{name}") for name in self.project_files)

    def find(self, cwd: str, env: Mapping[str, str]) -> Sequence[Place]:
        """Every file that may hold hooks for a directory, in layer order."""
        return self.places(nearest_project(cwd, self.project_files), env)

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], read: Callable[[str], Document]
    ) -> Plugins:
        """What installed plugins add to the settings files, which switch plugins on and off. Looks at the disk."""
        del cwd, env, settings, read
        return Plugins()

    def user_folder(self, env: Mapping[str, str]) -> str | None:
        """Where a user's own commands and skills are, if Hookline's agent uses them too."""
        del env
        return None

    def asked_at(self, event: EventSpec[Any]) -> Sequence[EventSpec[Any]]:
        """The events at which hooks are asked when its agent says that this one has come.

        For an agent without TurnEnd, the gates of a turn are asked at Stop, first.
        """
        if event is not STOP or any(own.event is TURN_END for own in self.events.values()):
            return (event,)
        return (TURN_END, STOP)

    def moments(self, name: str) -> Sequence[DialectEvent]:
        """Every moment at which hooks under one of its own event names run: usually one."""
        return (self.events[name],)

    def hook_tables(self, value: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """The tables of a document in which a key `hooks` may be, each with its path."""
        yield (), value

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """What of a file changes or switches off hooks of other files: it counts only once the user has trusted it."""
        del file, settings
        return {}

    def field_path(self, entry: Path, field: str) -> Path:
        """Where the entry at this path has a field, by Hookline's name of it. Matchers are in the group around it."""
        if field == "matcher":
            return (*entry[:-2], field)
        return (*entry, self.entry_fields.get(field, field))

    def answerable(self, outcome: Outcome, parsed: Parsed) -> Outcome:
        """The outcome as this call can be answered, where that depends on more than the event."""
        del parsed
        return outcome

    def without_cut(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """A payload without the arguments that the agent cut off; None where it cut none."""
        del document
        return None

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        """What `doctor` should say about the hooks of this dialect beyond what its reader reports."""
        del hooks
        yield from ()


class HomeDialect(Dialect):
    """The dialect that hooks made in Python belong to."""

    #: Made at once: the engine needs it for every such hook.
    wire: ReversibleWire  # pyright: ignore[reportIncompatibleVariableOverride] an attribute in place of a cached one

    @abstractmethod
    def policy(self, event: EventSpec[Any]) -> Policy:
        """Always the same object for the same row."""

    @abstractmethod
    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]:
        """Raises PatternError for a pattern that cannot be understood, or can never match at this event."""

    @abstractmethod
    def tables(self) -> "tuple[Patterns, ShellReader]":
        """Compiled patterns and shell lines already read, shared by everything of one engine."""


def is_there(path: str) -> bool:
    """Return whether a path exists, or may: only "does not exist" says that there is nothing to read.

    A directory that may not be searched could hold guards. Reading the path then fails, and that is reported.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, ValueError):
        return False
    except OSError:
        return True
    return True


def upward(start: str) -> list[str]:
    """The directory and its parents up to the root of the git repository; outside of one only the directory itself.

    Every user can write to /tmp: a file there must not decide what runs in the directories below it.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return [start]
        chain.append(parent)
    return chain


def nearest_project(cwd: str, files: Sequence[str]) -> str:
    """The nearest directory, up to the root of the repository, that holds one of the files; else the directory."""
    start = os.path.abspath(cwd)
    for directory in upward(start):
        if any(os.path.lexists(os.path.join(directory, file)) for file in files):
            return directory
    return start


def user_directories(env: Mapping[str, str]) -> list[str]:
    """Return the user's directory of Hookline; nothing for a user without a home.

    XDG_CONFIG_HOME does not move it: a project's settings could set that, and hooks there would count as the user's.
    """
    home = env.get("HOME", "")
    return (
        [os.path.join(home, ".config", "hookline")] if os.path.isabs(home) else []
    )  # else it would be /.config


def unused_files(env: Mapping[str, str]) -> list[str]:
    """Return hooks and settings that XDG_CONFIG_HOME leads to, and that the user may believe to be active."""
    moved = env.get("XDG_CONFIG_HOME", "")
    own = user_directory(env)
    if (
        not os.path.isabs(moved)
        or own is None
        or os.path.realpath(os.path.dirname(own)) == os.path.realpath(moved)
    ):
        return []
    stems = [os.path.join(moved, "hookline", name) for name in ("hooks", "hooks.local", "settings")]
    return [file for stem in stems for suffix in SUFFIXES if is_there(file := f"{stem}.{suffix}")]


def user_directory(env: Mapping[str, str]) -> str | None:
    """The user's directory of Hookline that new files are written to."""
    return next(iter(user_directories(env)), None)
