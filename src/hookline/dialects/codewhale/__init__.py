"""Run CodeWhale's hooks: TOML entries, each a shell command with a condition."""

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from hookline.dialects.dialect import (
    ConfigPath,
    Dialect,
    DialectEvent,
    Layer,
    LoadedHooks,
    Plugins,
    Tools,
    nearest_project,
)
from hookline.dialects.entries import BROKEN, HookCall, answered_in_shell, quoted
from hookline.disk import DISK, Disk
from hookline.model.diagnostics import Diagnostic, Where
from hookline.model.events import EVENTS, EventSpec
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Vote

if TYPE_CHECKING:
    from hookline.dialects.codewhale.installer import CodeWhaleInstaller
    from hookline.dialects.codewhale.wire import CodeWhaleWire

#: Its directory in the user's home before the agent got its name.
FORMER_DIRECTORY = ".deepseek"
_PROJECT_FILE = os.path.join(".codewhale", "hooks.toml")
#: Names of the arguments of a tool in a payload; the agent cuts long ones off.
_ARGUMENTS = ("DEEPSEEK_TOOL_ARGS", "CODEWHALE_TOOL_ARGS", "tool_args")


class CodeWhale(Dialect):
    name = "codewhale"
    title = "CodeWhale"
    repeats_entries = True
    directory = ".codewhale"
    project_files = (_PROJECT_FILE,)
    entry_fields = MappingProxyType({"if": "condition"})
    fails_closed_by = MappingProxyType({"command": "continue_on_error = false"})
    event_key = "event"
    names_event = False
    payload_variables = ("CODEWHALE_", "DEEPSEEK_")
    project_variables = ("DEEPSEEK_WORKSPACE",)
    call_file = (
        ".codewhale/hooks.toml in a project; in ~/.codewhale/config.toml write [[hooks.hooks]] for [[hooks]]"
    )
    call_events = (
        "session_start", "message_submit", "tool_call_before", "tool_call_after", "turn_end", "session_end",
    )  # fmt: skip

    @cached_property
    def wire(self) -> "CodeWhaleWire":
        from hookline.dialects.codewhale.wire import CodeWhaleWire  # noqa: PLC0415 facts are asked for without it

        return CodeWhaleWire()

    @cached_property
    def events(self) -> Mapping[str, DialectEvent]:
        from hookline.dialects.codewhale.events import dialect_events  # noqa: PLC0415 as above

        return dialect_events()

    def config_paths(self, project: str, env: Mapping[str, str]) -> Sequence[ConfigPath]:
        """List the user's settings, then the project's hooks, which the agent runs once the user trusts them."""
        home, own = env.get("HOME", ""), ConfigPath(os.path.join(project, _PROJECT_FILE), "project")
        users = [os.path.join(home, each, "config.toml") for each in (FORMER_DIRECTORY, self.directory)]
        return [*(ConfigPath(each, "user") for each in users), own] if os.path.isabs(home) else [own]

    def plugins(
        self, cwd: str, env: Mapping[str, str], settings: Sequence[Layer], disk: Disk = DISK
    ) -> Plugins:
        del settings
        roots = [
            root for root in (env.get("HOME", ""), nearest_project(cwd, self.project_files, disk)) if root
        ]
        directories = [os.path.join(root, self.directory, "plugins") for root in roots if os.path.isabs(root)]
        if not any(map(disk.isdir, directories)):
            return Plugins()
        # Only here: most people have no plugins.
        from hookline.dialects.codewhale.plugins import find_plugins  # noqa: PLC0415 see above

        return find_plugins(directories, disk)

    def recognises(self, value: Any) -> bool:
        """Return True for a list of hooks that name their own event: under `hooks` in a project,
        `hooks.hooks` elsewhere."""
        hooks = _get(value, "hooks")
        entries = _get(hooks, "hooks") if isinstance(hooks, Mapping) else hooks
        if not isinstance(entries, list) or not entries:
            return False
        return all(isinstance(_get(entry, "event"), str) for entry in cast("list[Any]", entries))

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        from hookline.dialects.codewhale.settings import read_layers  # noqa: PLC0415 as above

        return read_layers(layers, tools, self.events, self.wire)

    def recorded_events(self, name: str) -> Sequence[DialectEvent]:
        from hookline.dialects.codewhale.events import BY_NAME  # noqa: PLC0415 as above

        known = self.events[name]
        return [DialectEvent(event, known.policy, known.timeout) for event in BY_NAME[name].events]

    def flag_hook(self, own_event: DialectEvent, command: str) -> Hook:
        from hookline.dialects.codewhale.settings import as_own_hook  # noqa: PLC0415 only for a flag

        return as_own_hook(super().flag_hook(own_event, command), own_event, command)

    def without_cut(self, document: Mapping[str, Any]) -> dict[str, Any] | None:
        from hookline.dialects.codewhale.texts import PAYLOAD_CUT  # noqa: PLC0415 only where Hookline is the hook

        cut = [name for name in _ARGUMENTS if str(document.get(name, "")).endswith(PAYLOAD_CUT)]
        return {key: value for key, value in document.items() if key not in cut} if cut else None

    @property
    def installer(self) -> "CodeWhaleInstaller":
        from hookline.dialects.codewhale.installer import CodeWhaleInstaller  # noqa: PLC0415 only to install

        return CodeWhaleInstaller(self)

    def call_entries(self, calls: Sequence[HookCall]) -> str:
        """Write strict entries: otherwise CodeWhale continues when a broken hook has not judged a call.

        It shows a reason only from an answer, never what a hook wrote to its standard error.
        """
        return "\n\n".join(
            f"[[hooks]]\nevent = {quoted(call.event)}\ncommand = {quoted(self._line(call))}\n"
            f"timeout_secs = {call.seconds}" + ("\ncontinue_on_error = false" if call.guards else "")
            for call in calls
        )

    def _line(self, call: HookCall) -> str:
        if not call.guards:
            return call.command
        return answered_in_shell(
            call.command, self.wire.answer(call.event, Outcome(votes=(Vote("block", BROKEN),)))
        )

    def check(self, hooks: Sequence[Hook]) -> Iterator[Diagnostic]:
        message = "`codewhale exec` runs none of these hooks: CodeWhale runs them on its screen only"
        yield from (Diagnostic("info", "screen-only", message, Where(hook.where.file)) for hook in hooks[:1])


def _get(value: Any, key: str) -> Any:
    return cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> CodeWhale:
    return CodeWhale()
