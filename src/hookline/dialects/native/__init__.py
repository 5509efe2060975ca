"""Run Hookline's own format: `.hookline/hooks.toml` (or YAML, or JSON), with every event of the table."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from hookline.dialects.dialect import (
    COMMANDS,
    SKILLS,
    SUFFIXES,
    USUAL_EVENTS,
    ConfigPath,
    DialectEvent,
    HomeDialect,
    Layer,
    LoadedHooks,
    Tools,
    upward,
    user_directories,
    user_directory,
)
from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.disk import DISK, Disk
from hookline.model.events import EVENTS, Capability, EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope, withholds
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.dialects.entries import HookCall
    from hookline.dialects.native.transcript import OwnTranscripts
    from hookline.matching.patterns import Patterns
    from hookline.model.diagnostics import Diagnostic
    from hookline.shell import ShellReader

_DIRECTORY = ".hookline"
#: The administrator's hooks: they run first and cannot be switched off.
_MANAGED = "/etc/hookline/hooks"
#: Seconds. A whole number of thousands from here on was meant as milliseconds.
_MILLISECONDS_MEANT = 5000.0


class Native(HomeDialect):
    """The wire, policies and matchers for the rows of one engine.

    The readers of matchers and files are imported when first used: an engine whose hooks are plain functions
    needs neither.
    """

    name = "native"
    title = "Hookline"
    has_agent = False
    directory = _DIRECTORY
    project_files = tuple(
        f"{_DIRECTORY}/{stem}.{suffix}" for stem in ("hooks", "hooks.local") for suffix in SUFFIXES
    )
    plugin_file = ""
    definitions = (SKILLS, COMMANDS)
    loosening = "accepts findings of doctor"
    fails_closed_by = dict.fromkeys(
        ("command", "http", "prompt", "agent", "mcp_tool"), 'on_failure = "closed"'
    )
    project_variables = ("HOOKLINE_PROJECT_DIR", "CLAUDE_PROJECT_DIR")
    model_refusal = b'{"ok": false, "reason": "x"}'
    call_file = ".hookline/hooks.toml of a host that uses the native format; not of this project"
    call_events = USUAL_EVENTS

    def __init__(self, events: Mapping[str, EventSpec[Any]]) -> None:
        self._rows = events
        self.wire = NativeWire(events)
        self.policies = NativePolicies()
        self._tables: tuple[Patterns, ShellReader] | None = None

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        return {
            name: DialectEvent(event, self.policies.of(event), 600.0) for name, event in self._rows.items()
        }

    @property
    def transcripts(self) -> "OwnTranscripts":
        from hookline.dialects.native.transcript import OwnTranscripts  # noqa: PLC0415 only to look back

        return OwnTranscripts()

    def policy(self, event: EventSpec[Any]) -> Policy:
        return self.policies.of(event)

    def tables(self) -> "tuple[Patterns, ShellReader]":
        if self._tables is None:
            from hookline.matching.patterns import Patterns  # noqa: PLC0415 see the class
            from hookline.shell import ShellReader  # noqa: PLC0415 see the class

            self._tables = (Patterns(), ShellReader())
        return self._tables

    def match(
        self, event: EventSpec[Any], matcher: str | None, condition: str | None
    ) -> tuple[Matcher | None, Condition | None]:
        if not matcher and not condition:
            return None, None
        from hookline.matching.matchers import (  # noqa: PLC0415 see the class
            joined,
            parse_matcher,
            problem,
        )
        from hookline.matching.tool_rules import tool_condition  # noqa: PLC0415 see the class
        from hookline.model.errors import PatternError  # noqa: PLC0415 see the class

        matches, holds = parse_matcher(matcher, *self.tables())
        wanted = tool_condition(condition, *self.tables()) if condition else None
        both = joined(holds, wanted)
        never = problem(both, event)
        if never is not None:
            raise PatternError(condition or matcher or "", never)
        return matches, both

    def owns(self, file: str) -> bool:
        return f"/{_DIRECTORY}/" in file

    def user_directory(self, env: Mapping[str, str]) -> str | None:
        return user_directory(env)

    def find(self, cwd: str, env: Mapping[str, str], disk: Disk = DISK) -> Sequence[ConfigPath]:
        """List the files of the machine, of the user, the nearest of the project, and the local ones beside
        it.

        Each name separately: a local file deep down must not hide the project's own.
        """
        directories = upward(os.path.abspath(cwd), disk)
        project, local = (_nearest(directories, name, disk) for name in ("hooks", "hooks.local"))
        return _places(env, project, local)

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        directory = os.path.join(project, _DIRECTORY)
        return _places(env, os.path.join(directory, "hooks"), os.path.join(directory, "hooks.local"))

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        if not layers:
            return LoadedHooks()
        from hookline.dialects.native.scopes import read_layers  # noqa: PLC0415 see the class

        return read_layers(layers, tools, self.events, self.wire)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        return replace(super().flag_hook(own_event, command), name=command)

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        return {"accept": settings["accept"]} if "accept" in settings else {}

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        from hookline.dialects.entries import quoted  # noqa: PLC0415 only to install

        return "\n\n".join(
            f"[[hooks.{call.event}]]\n[[hooks.{call.event}.hooks]]\n"
            f"command = {quoted(call.command)}\ntimeout = {call.seconds}"
            for call in calls
        )

    def check(self, hooks: Sequence[Hook]) -> "Iterator[Diagnostic]":
        for hook in hooks:
            yield from _remarks(hook)


def _remarks(hook: Hook) -> "Iterator[Diagnostic]":
    from hookline.dialects.report import about  # noqa: PLC0415 only for doctor
    from hookline.model.diagnostics import Repair  # noqa: PLC0415 as above

    if hook.timeout >= _MILLISECONDS_MEANT and hook.timeout % 1000 == 0:
        message = f"timeout counts seconds: {hook.timeout:g} is {hook.timeout / 3600:.1f} hours"
        yield about(
            hook,
            "error",
            "timeout-unit",
            message,
            "timeout",
            fix=f"timeout = {hook.timeout / 1000:g}",
            repair=Repair("set", (*hook.where.path, "timeout"), int(hook.timeout / 1000)),
        )
    if hook.durable == "fleet" and hook.scope not in ("managed", "user"):
        message = "other machines do not have a project's hooks, so it runs on this one"
        yield about(hook, "warning", "not-in-fleet", message, "durable", fix="durable = true")
    if hook.closes() and not hook.policy.may & Capability.BLOCK and not withholds(hook):
        message = f"on_failure has no effect: {hook.policy.event_name} cannot block"
        yield about(hook, "warning", "beyond-its-power", message, "on_failure", fix="remove on_failure")


def _places(env: Mapping[str, str], project: str, local: str) -> list[ConfigPath]:
    of_user = [
        os.path.join(directory, name)
        for directory in user_directories(env)
        for name in ("hooks", "hooks.local")
    ]
    return [
        *_files(_MANAGED, "managed"),
        *(place for stem in of_user for place in _files(stem, "user")),
        *_files(project, "project"),
        *_files(local, "local"),
    ]


def _files(stem: str, scope: Scope) -> list[ConfigPath]:
    return [ConfigPath(f"{stem}.{suffix}", scope) for suffix in SUFFIXES]


def _nearest(directories: Sequence[str], name: str, disk: Disk) -> str:
    stems = [os.path.join(directory, _DIRECTORY, name) for directory in directories]
    there = (stem for stem in stems if any(disk.is_there(f"{stem}.{suffix}") for suffix in SUFFIXES))
    return next(there, stems[0])


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Native:
    return Native(events)
