"""Read Gemini CLI's settings: groups of command hooks, the lists of all layers together, and the switches for
hooks."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from hookline.actions.kinds import KIND_OF
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.javascript_regex import search_matcher, untestable_note
from hookline.dialects.family.settings import Fields, Group, HookKind, MatcherNote, Matching, name_or_command
from hookline.dialects.family.tool_regex import meant_instead
from hookline.dialects.gemini_cli.events import NAME, ROWS
from hookline.dialects.gemini_cli.payload import as_items, as_object
from hookline.dialects.gemini_cli.tools import TABLE
from hookline.documents.document import misshaped
from hookline.handlers.specs import CommandSpec
from hookline.matching.matchers import OneName
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Path, Repair, Where
from hookline.model.errors import PatternError
from hookline.model.hook import Hook, Matcher, Waiting
from hookline.model.wire import Wire

#: Milliseconds that are fewer than people give a program: seconds were meant.
_SECONDS_MEANT: Final = 1000
#: The longest timer of the agent; a longer one fires at once.
_LONGEST_MS: Final = 2**31 - 1
_FLAG: Final = "true or false"
_SWITCHES: Final = {"enabled": _FLAG, "disabled": "a list of texts", "notifications": _FLAG}
_PLAIN: Final = re.compile(r"[\w|-]+")


COMMON: Final[Mapping[str, str]] = {
    "type": "text", "name": "text", "description": "text", "timeout": "a number", "env": "an object of texts",
}  # fmt: skip
KINDS: Final[Mapping[str, HookKind]] = {
    "command": HookKind(
        {"command": "text"},
        lambda fields: CommandSpec(fields["command"], env=fields.get("env", {})),
        name_or_command,
        ("command",),
    )
}


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, common, kinds = NAME, COMMON, KINDS
    drops_bad_timeout = False

    def hooks(self) -> Sequence[Hook]:
        found, more = super().hooks(), ROWS[self.group.own_event.name].also
        return (
            found if not more else [*found, *(replace(hook, event=each) for hook in found for each in more)]
        )

    def timeout(self) -> float:
        usual, given = self.usual_timeout(), self.fields.get("timeout")
        if given is None:
            return usual
        if not 0 < given <= _LONGEST_MS:
            message = f"timeout is {given}, so the agent would end the hook at once"
            self.bad_timeout(message, f"{usual * 1000:.0f} milliseconds")
            return usual
        if given < _SECONDS_MEANT:
            message = f"timeout counts milliseconds: {given} are {given / 1000:g} seconds"
            repair = Repair("set", ("timeout",), int(given * 1000))
            self.say("warning", "timeout-unit", message, "timeout", fix=f"{given * 1000:.0f}", repair=repair)
        return given / 1000

    def make_spec(self, kind: HookKind) -> Any:
        """Make the settings; an extension's command names its own directory by a variable that the agent fills in."""
        spec, plugin = super().make_spec(kind), self.file.plugin
        if plugin is None:
            return spec
        command = spec.command.replace("${extensionPath}", plugin.root).replace("${/}", "/")
        command = command.replace("${pathSeparator}", "/").replace(
            "${workspacePath}", "${GEMINI_PROJECT_DIR}"
        )
        return replace(spec, command=command)

    def details(self, waiting: Waiting) -> dict[str, Any]:
        del waiting
        identity = (NAME, self.fields.get("name") or "", self.fields.get("command"))
        return {"rewrites": self.file.sequential, "identity": identity}


class FileReader(family.FileReader):
    entry_reader = EntryReader
    group_fields = ("matcher", "sequential", "hooks")

    def __init__(self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: Wire) -> None:
        super().__init__(layer, tools, events, wire)
        self.plugin = layer.config_path.plugin
        #: Of the group that is being read.
        self.sequential = False

    def check(self, settings: Fields) -> bool:
        given = settings.get("hooksConfig", {})
        if (instead := misshaped(given, "an object")) is not None:
            self.report.say("error", "wrong-type", f"hooksConfig is {instead}", "hooksConfig")
        else:
            self.report.fields(given, _SWITCHES, "hooksConfig")
        return True

    def hooks_table(self) -> Fields:
        """Return the events without obsolete switches beside them."""
        found = dict(super().hooks_table())
        for key in [key for key in found if key in _SWITCHES]:
            del found[key]
            message = f"hooks.{key} is not read"
            self.report.say("warning", "moved-setting", message, "hooks", key, fix=f"write hooksConfig.{key}")
        return found

    def shared(self, own_event: DialectEvent, table: Fields, path: Path) -> Group:
        given = table.get("sequential", False)
        self.sequential = given is True
        if not isinstance(given, bool):
            message = "sequential is not true or false, so these hooks run at once"
            self.report.say("warning", "wrong-type", message, *path, "sequential")
        return super().shared(own_event, table, path)

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: searched for anywhere in the name of a tool; elsewhere the whole text is compared,
        or nothing."""
        wanted, subjects = text.strip(), ROWS[own_event.name].subjects
        if wanted in ("", "*"):
            return family.EVERYTHING
        if own_event.event.subject == "tool_name":
            return self._tool_matcher(wanted)
        if not subjects:
            message = f"matcher is not read at {own_event.name}, so these hooks run every time"
            return Matching(note=MatcherNote("unread-matcher", message, "remove matcher"))
        message = f"the matcher can never match: it is compared as it is, with {', '.join(subjects)}"
        fix = "write a group for each" if "|" in wanted else None
        dead = MatcherNote("dead-matcher", message, fix) if wanted not in subjects else None
        return Matching(OneName(text, wanted), note=dead)

    def _tool_matcher(self, text: str) -> Matching:
        try:
            matcher = search_matcher(text, self.tools.patterns)
        except PatternError as error:
            message = f"matcher: {error}, so it is compared as plain text"
            return Matching(OneName(text, text), note=MatcherNote("bad-pattern", message))
        return Matching(matcher, note=untestable_note(matcher) or _dead(text, matcher))


def _dead(text: str, matcher: Matcher) -> MatcherNote | None:
    """Return a note about a pattern that matches no tool name, if the meaning is known."""
    bare = text.strip("^$")
    names = bare.split("|") if _PLAIN.fullmatch(bare) else []
    instead = None if names else meant_instead(text)
    # Names are quick to check. Expressions are not, and most match tools of servers and extensions.
    if not (names or instead) or any(map(matcher.matches, TABLE.names)):
        return None
    message = "the matcher can never match: it is in no name of a tool"
    if names:
        meant = [_own_name(name) for name in names]
        instead = f'"{"|".join(dict.fromkeys(meant))}"' if all(meant) else None
        message = f"the matcher can never match: Gemini CLI has no tool called {' or '.join(names)}"
    if instead is None:
        return None
    return MatcherNote("dead-matcher", message, instead, instead=instead.strip('"') if names else None)


def _own_name(name: str) -> str:
    """Return the name here of a tool that others call so; empty where that is not known."""
    if name.startswith("mcp__"):
        return name.replace("__", "_")
    if name in KIND_OF:
        return next((own for own, _form in TABLE.tools_of(KIND_OF[name].name)), "")
    return nearest(name, TABLE.names, 0.75) or ""


class _Switches:
    """The switches in the settings of all layers: the last one decides on all, and the names add up."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._off: Where | None = None
        self._names: dict[str, Where] = {}
        for layer in layers:
            config = as_object(as_object(layer.document.value).get("hooksConfig"))
            if isinstance(enabled := config.get("enabled"), bool):
                self._off = None if enabled else layer.document.where("hooksConfig", "enabled")
            for index, name in enumerate(as_items(config.get("disabled"))):
                self._names[str(name)] = layer.document.where("hooksConfig", "disabled", index)

    def applied(self, hook: Hook) -> Hook:
        name, command = cast("tuple[str, str, str]", hook.identity)[1:]
        by = self._off or self._names.get(name or command)
        return hook if by is None else replace(hook, mode="off", disabled_by=by)


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: Wire
) -> LoadedHooks:
    files = [FileReader(layer, tools, events, wire) for layer in layers]
    switches = _Switches([layer for layer in layers if layer.config_path.scope not in ("plugin", "session")])
    hooks = [switches.applied(hook) for file in files for some in file.hooks().values() for hook in some]
    return LoadedHooks(tuple(hooks), tuple(one for file in files for one in file.report.diagnostics))
