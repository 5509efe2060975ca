"""Read Codex's hooks.json and config.toml: hooks of all layers add up, and only those run that the user has
trusted."""

import os
import string
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects.codex.events import BRIEF, CONTEXT_LIMIT, LONGEST_END_TIMEOUT, NAME, ROWS
from hookline.dialects.codex.tools import OTHER_NAMES
from hookline.dialects.codex.trust import HookTrust, as_table, seconds
from hookline.dialects.codex.wire import CodexWire
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import Fields, HookKind, MatcherNote, Matching, labelled
from hookline.dialects.family.tool_regex import dead_note
from hookline.dialects.labels import entry_label, shortened
from hookline.handlers.specs import CommandSpec
from hookline.matching.matchers import OtherNames, can_match, regex_or_names
from hookline.model.errors import PatternError
from hookline.model.events import Capability
from hookline.model.hook import Hook, Waiting

_PLAIN = frozenset(string.ascii_letters + string.digits + "_|")
_COMMON: Mapping[str, str] = {"type": "text", "timeout": "a whole number", "statusMessage": "text"}
_LIMIT = "additionalContextLimit"
_KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {"command": "text", "commandWindows": "text", "async": "true or false", _LIMIT: "a whole number"},
        lambda fields: CommandSpec(fields["command"]), entry_label, ("command",),
    ),
    "mcp_tool": HookKind(
        {"server": "text", "tool": "text", "input": "an object"},
        family.mcp_tool_spec, labelled("tool", shortened), ("server", "tool"), hosted=True,
    ),
}  # fmt: skip
#: Keys below `hooks` that are not events.
_BESIDE = ("state", "managed_dir", "windows_managed_dir")
_PLUGIN_VARIABLES = ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, common, kinds, null_is_absent = NAME, _COMMON, _KINDS, True

    def find_kind(self) -> HookKind | None:
        kind, event = self.entry.get("type"), self.group.own_event.name
        if kind not in ("prompt", "agent") and not (kind == "mcp_tool" and event == "SessionEnd"):
            return super().find_kind()
        where = f" at {event}" if kind == "mcp_tool" else ""
        self.say("error", "kind-not-here", f"Codex skips {kind} hooks{where}", "type", fix="type command")
        return None

    def unread(self, key: str, kind: HookKind) -> None:
        if key not in ("if", "once", "asyncRewake", "shell", "args", "env", "cwd", "onFailure"):
            return super().unread(key, kind)
        message = f"Codex ignores {key}"
        return self.say("warning", "unread-field", message, key, fix=f"remove {key}")

    def timeout(self) -> float:
        given, event = self.fields.get("timeout"), self.group.own_event.name
        if event in BRIEF and given is not None and given > LONGEST_END_TIMEOUT:
            message = f"Codex waits at most {LONGEST_END_TIMEOUT:g} seconds at {event}"
            self.say("warning", "clamped-timeout", message, "timeout", fix="3")
        elif given is not None and given >= 3600 and given % 500 == 0:
            message = f"timeout is {given} seconds, which is {given / 3600:.1f} hours"
            fix, meant = f"{given // 1000}, if these are ms", family.milliseconds_meant(given)
            self.say("warning", "long-timeout", message, "timeout", fix=fix, repair=meant)
        return float(min(seconds(event, given), family.LONGEST_TIMEOUT))

    def waiting(self) -> Waiting:
        if self.fields.get("async") and self.group.own_event.name == "SessionEnd":
            self.say("warning", "unread-field", "Codex waits for every hook at SessionEnd", "async")
            return "wait"
        return super().waiting()

    def details(self, waiting: Waiting) -> dict[str, Any]:
        limit = self.fields.get(_LIMIT)
        if limit is not None and not self.group.own_event.policy.may & Capability.CONTEXT:
            message = (
                f"{_LIMIT} is not read at {self.group.own_event.name}, which takes no text for the model"
            )
            self.say("warning", "unread-field", message, _LIMIT, fix=f"remove {_LIMIT}")
        elif limit is not None and limit != CONTEXT_LIMIT:
            self.wire = CodexWire(max(limit, 0))
        return super().details(waiting)

    def make_spec(self, kind: HookKind) -> Any:
        spec, root = super().make_spec(kind), self.file.plugin_root
        if not root or not isinstance(spec, CommandSpec):
            return spec
        command = spec.command
        for name in _PLUGIN_VARIABLES:
            command = command.replace(f"${{{name}}}", root)
        return replace(spec, command=command, env=dict.fromkeys(_PLUGIN_VARIABLES, root))


class FileReader(family.FileReader):
    entry_reader = EntryReader

    def __init__(
        self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: CodexWire
    ) -> None:
        super().__init__(layer, tools, events, wire)
        self.plugin = layer.config_path.plugin

    @property
    def plugin_root(self) -> str:
        if self.scope != "plugin":
            return ""
        return self.plugin.root if self.plugin is not None else self.file.rpartition("/hooks/")[0]

    def hooks_table(self) -> Fields:
        return {key: value for key, value in super().hooks_table().items() if key not in _BESIDE}

    def check(self, settings: Fields) -> bool:
        for key in settings if self.file.endswith(".json") else ():
            if key not in ("description", "hooks") and key not in self.events:
                message = f"Codex reads no hook of a file with the key {key!r}; Hookline does"
                self.report.say("error", "unknown-setting", message, key, fix=f"remove {key}")
        if self.scope in ("project", "local") and "state" in as_table(settings.get("hooks")):
            message = (
                "Codex reads which hooks are trusted from the user's own config.toml, not from a project"
            )
            self.report.say("warning", "unread-state", message, "hooks", "state", fix="remove hooks.state")
        return True

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        """Read a matcher: `a|b` are names; anything else is a regular expression that may match anywhere."""
        row = ROWS[own_event.name]
        if text in ("", "*"):
            return family.EVERYTHING
        if row.subjects == ():
            message = f"{own_event.name} has nothing to match, so the matcher is not read"
            return Matching(note=MatcherNote("unread-matcher", message, "remove the matcher"))
        try:
            matcher = regex_or_names(text, self.tools.patterns, anchored=False, plain=_PLAIN)
        except PatternError as error:
            message = f"matcher: {error}, so Codex skips these hooks"
            return Matching(note=MatcherNote("bad-pattern", message, severity="error"), broken=message)
        if matcher is None or own_event.event.subject != "tool_name":
            known = row.subjects or own_event.event.subjects
            dead = f"the matcher can never match: {own_event.event.subject} is one of {', '.join(known)}"
            return Matching(
                matcher, note=None if can_match(matcher, known) else MatcherNote("dead-matcher", dead)
            )
        named = [name for name in text.split("|") if name == "exec_command"]
        note = MatcherNote("dead-matcher", "hooks see exec_command as Bash", '"Bash"') if named else None
        return Matching(OtherNames(matcher, OTHER_NAMES), note=note or dead_note(text))


def read_layers(
    layers: Sequence[Layer], tools: Tools, events: Mapping[str, DialectEvent], wire: CodexWire
) -> LoadedHooks:
    trust = HookTrust(layers)
    files = [FileReader(layer, tools, events, wire) for layer in layers]
    hooks: list[Hook] = []
    directories: dict[str, str] = {}
    for file in files:
        found = file.hooks()
        some = [hook for name in events for hook in found.get(name, ())]
        off = trust.switched_off(file.scope, file.file)
        if some and off is not None:
            file.report.say("warning", "disabled", off, "hooks")
            continue
        if some and file.plugin is not None and not trust.trusts_plugin(file.plugin.name):
            message = f"Codex skips these hooks: you have not trusted the plugin {file.plugin.name}"
            file.report.say(
                "warning", "not-trusted", message, "hooks", fix="review them with /hooks in Codex"
            )
            continue
        if some:
            trust.report_unlisted(file.scope, file.file, file.report)
        directory, other = os.path.dirname(file.file), directories.get(os.path.dirname(file.file))
        if some and other is not None and file.scope != "flag":
            message = f"{other} has hooks too: Codex loads both, with a warning"
            file.report.say(
                "warning", "two-forms", message, "hooks", fix="keep all hooks of a directory in one file"
            )
        directories |= {directory: file.file} if some else {}
        hooks += [hook for hook in some if trust.runs(hook, file.scope, file.report)]
    for file in files:
        trust.report_stale(file.file, file.report)
    return LoadedHooks(tuple(hooks), tuple(one for file in files for one in file.report.diagnostics))
