"""Hookline's own format: `.hookline/hooks.toml` (or YAML, or JSON), with every event of the table."""

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
    DialectEvent,
    HomeDialect,
    Layer,
    Place,
    Reading,
    Tools,
    is_there,
    upward,
    user_directories,
    user_directory,
)
from hookline.dialects.native.events import NativePolicies
from hookline.dialects.native.wire import NativeWire
from hookline.model.events import EVENTS, EventSpec, May
from hookline.model.hook import Condition, Hook, Matcher, Scope
from hookline.model.policy import Policy

if TYPE_CHECKING:
    from hookline.dialects.install import HookCall
    from hookline.dialects.native.transcript import OwnTranscripts
    from hookline.matching.patterns import Patterns
    from hookline.matching.shell import ShellReader
    from hookline.model.diagnostics import Diagnostic

_FOLDER = ".hookline"
#: Where the administrator puts hooks: they run first and cannot be switched off.
_MANAGED = "/etc/hookline/hooks"
#: Seconds. A whole number of thousands from here on was meant as milliseconds.
_MILLISECONDS_MEANT = 5000.0


class Native(HomeDialect):
    """The wire, policies and matchers for the rows of one engine.

    What reads matchers and files is imported with the first one: an engine whose hooks are plain functions
    needs neither.
    """

    name = "native"
    title = "Hookline"
    has_agent = False
    folder = _FOLDER
    project_files = tuple(
        f"{_FOLDER}/{stem}.{suffix}" for stem in ("hooks", "hooks.local") for suffix in SUFFIXES
    )
    plugin_file = ""
    shares = frozenset(("commands", "skills", "rules"))
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
        self.policies = NativePolicies(events.values())
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
            from hookline.matching.shell import ShellReader  # noqa: PLC0415 see the class

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
        return f"/{_FOLDER}/" in file

    def user_folder(self, env: Mapping[str, str]) -> str | None:
        return user_directory(env)

    def find(self, cwd: str, env: Mapping[str, str]) -> Sequence[Place]:
        """The files of the machine, of the user, the nearest of the project, and what is local to that.

        Each name for itself: a local file deep down must not hide the project's own.
        """
        directories = upward(os.path.abspath(cwd))
        return _places(env, _nearest(directories, "hooks"), _nearest(directories, "hooks.local"))

    def places(self, project: str, env: Mapping[str, str]) -> Sequence[Place]:
        folder = os.path.join(project, _FOLDER)
        return _places(env, os.path.join(folder, "hooks"), os.path.join(folder, "hooks.local"))

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        if not layers:
            return Reading()
        from hookline.dialects.native.layers import read_layers  # noqa: PLC0415 see the class

        return read_layers(layers, tools, self.events, self.wire)

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        return replace(super().flag_hook(own_event, command), name=command)

    def loosens(self, file: str, settings: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002 in all its files
        return {"accept": settings["accept"]} if "accept" in settings else {}

    def call_entries(self, calls: "Sequence[HookCall]") -> str:
        from hookline.dialects.install import quoted  # noqa: PLC0415 only to install

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

    if hook.timeout >= _MILLISECONDS_MEANT and hook.timeout % 1000 == 0:
        message = f"timeout counts seconds: {hook.timeout:g} is {hook.timeout / 3600:.1f} hours"
        yield about(
            hook, "error", "timeout-unit", message, "timeout", fix=f"timeout = {hook.timeout / 1000:g}"
        )
    if hook.durable == "fleet" and hook.scope not in ("managed", "user"):
        message = "other machines have no hooks of a project, so it is run on this one"
        yield about(hook, "warning", "not-in-fleet", message, "durable", fix="durable = true")
    if _closes(hook) and not hook.policy.may & May.BLOCK:
        message = f"it is to fail closed, but nothing can be blocked at {hook.policy.event_name}"
        yield about(hook, "warning", "beyond-its-power", message, "on_failure", fix="remove on_failure")


def _closes(hook: Hook) -> bool:
    said = hook.on_failure
    reactions = () if said is None else (said,) if isinstance(said, str) else tuple(said.values())
    return "block" in reactions or "ask" in reactions


def _places(env: Mapping[str, str], project: str, local: str) -> list[Place]:
    of_user = [
        os.path.join(folder, name) for folder in user_directories(env) for name in ("hooks", "hooks.local")
    ]
    return [
        *_files(_MANAGED, "managed"),
        *(place for stem in of_user for place in _files(stem, "user")),
        *_files(project, "project"),
        *_files(local, "local"),
    ]


def _files(stem: str, scope: Scope) -> list[Place]:
    return [Place(f"{stem}.{suffix}", scope) for suffix in SUFFIXES]


def _nearest(directories: Sequence[str], name: str) -> str:
    stems = [os.path.join(directory, _FOLDER, name) for directory in directories]
    there = (stem for stem in stems if any(is_there(f"{stem}.{suffix}") for suffix in SUFFIXES))
    return next(there, stems[0])


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Native:
    return Native(events)
