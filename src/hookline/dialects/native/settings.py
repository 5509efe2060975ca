"""Read native settings: events, groups with a matcher, entries. Every mistake is found.

A bad entry never silences the others. At an event whose hooks guard something it stays as a hook that cannot
run, so that its policy decides; elsewhere it is dropped with its error.
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import msgspec
from msgspec.structs import replace

from hookline.dialects.dialect import DialectEvent, Layer, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import Fields, Group, HookKind, MatcherNote, Matching, never_matches
from hookline.dialects.labels import entry_label, shortened, url_label
from hookline.documents.document import misshaped
from hookline.handlers.specs import AgentSpec, BuiltinSpec, CommandSpec, HttpSpec, PromptSpec
from hookline.matching.matchers import RegexMatcher, joined, parse_matcher
from hookline.model.diagnostics import Path, Repair
from hookline.model.errors import PatternError
from hookline.model.hook import (
    Condition,
    FollowedCalls,
    Hook,
    InDoubt,
    Matcher,
    Order,
    Output,
    SideEffects,
    Waiting,
)
from hookline.model.policy import CAUSES, Cause, Reaction
from hookline.model.run import Mode
from hookline.model.wire import Wire

if TYPE_CHECKING:
    from hookline.actions.table import ToolTable

_TYPES = ("always", "tool_name", "tool_category", "mode", "exit_code", "all", "any")
_DEEPEST = 16


class ConditionMistake(Exception):  # noqa: N818 - a mistake in a configuration, caught by its reader
    """An error, and its path below the condition."""

    def __init__(self, message: str, *path: str | int) -> None:
        self.path = path
        super().__init__(message)


def read_condition(table: Any, *path: str | int) -> Condition:
    if not isinstance(table, Mapping):
        raise ConditionMistake("a condition is an object with a type", *path)
    if len(path) > 2 * _DEEPEST:
        raise ConditionMistake(f"conditions nested more than {_DEEPEST} levels deep", *path)
    from hookline.matching import conditions as known  # noqa: PLC0415 most entries have none

    fields = cast("Mapping[str, Any]", table)
    kind = fields.get("type")
    if kind == "always":
        return known.Always()
    if kind == "tool_name":
        return known.tool_name(_text(fields, "name", path))
    if kind == "tool_category":
        return known.ToolCategory(_text(fields, "category", path), _tools())
    if kind == "mode":
        return known.InMode(_text(fields, "mode", path))
    if kind == "exit_code":
        return known.ExitCode(_number(fields, "code", path))
    if kind in ("all", "any"):
        inner = _several(fields, path)
        return known.AllOf(inner) if kind == "all" else known.AnyOf(inner)
    from hookline.matching.nearest import nearest  # noqa: PLC0415 only for a mistake

    close = nearest(kind, _TYPES) if isinstance(kind, str) else None
    hint = f"; did you mean {close}?" if close else f"; there are {', '.join(_TYPES)}"
    raise ConditionMistake(f"no condition is called {kind!r}{hint}", *path, "type")


def _several(fields: Mapping[str, Any], path: tuple[str | int, ...]) -> tuple[Condition, ...]:
    given = fields.get("conditions")
    if not isinstance(given, list):
        raise ConditionMistake("all and any need a list of conditions", *path)
    tables = cast("list[Any]", given)
    return tuple(read_condition(each, *path, "conditions", index) for index, each in enumerate(tables))


def _text(fields: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> str:
    value = fields.get(key)
    if not isinstance(value, str) or not value:
        raise ConditionMistake(f"{fields['type']} needs the text {key}", *path)
    return value


def _number(fields: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ConditionMistake(f"{fields['type']} needs the number {key}", *path)
    return value


def _tools() -> "ToolTable":
    """Return canonical names, and those of programs with undeclared tools."""
    from hookline.actions.standard_tools import host_table  # noqa: PLC0415 as above

    return host_table()


W = TypeVar("W", bound=str)

_MODES: tuple[Mode, ...] = get_args(Mode)
#: Hookline's own words, and Claude Code's.
_REACTIONS: Mapping[str, Reaction] = {
    "open": "warn", "closed": "block", "ask": "ask", "continue": "warn", "block": "block",
}  # fmt: skip
#: Tools that agents have: a regular expression that matches none of them was meant for some of them.
_USUAL_TOOLS = (
    "Bash", "Edit", "Write", "Read", "MultiEdit", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch",
    "Task", "Agent", "mcp__x__y",
)  # fmt: skip

#: Read for every type.
COMMON: Mapping[str, str] = {
    "type": "anything", "name": "text", "if": "text or a list of texts", "condition": "an object",
    "timeout": "a number", "statusMessage": "text", "once": "true or false", "async": "true or false",
    "asyncRewake": "true or false",
    "on_failure": "text or an object", "onFailure": "text or an object", "mode": "text",
    "rewrites": "true or false", "required": "true or false", "in_doubt": "text", "actions": "text",
    "durable": "true, false or text", "order": "text",
}  # fmt: skip


_OUTPUTS: tuple[Output, ...] = get_args(Output)
_IN_DOUBT: tuple[InDoubt, ...] = get_args(InDoubt)
#: Native hooks are asked about all calls that do what they are about, unless they say otherwise.
_ACTIONS: tuple[FollowedCalls, ...] = ("all", "named")
_SIDE_EFFECTS: tuple[SideEffects, ...] = get_args(SideEffects)
_ORDERS: tuple[Order, ...] = get_args(Order)


def _command_spec(fields: Fields) -> CommandSpec:
    args = None if fields.get("args") is None else tuple(fields["args"])
    return CommandSpec(
        fields["command"], args, fields.get("shell"), fields.get("env", {}), fields.get("cwd"),
        fields.get("warm", True),
    )  # fmt: skip


def _http_spec(fields: Fields) -> HttpSpec:
    spec = family.http_spec(fields)
    files = {name: os.path.expanduser(fields.get(name, "")) for name in ("ca", "cert", "key")}
    return replace(spec, **files, private=fields.get("private", False))


def _prompt_spec(fields: Fields) -> PromptSpec:
    return PromptSpec(fields["prompt"], fields.get("model"), fields.get("continueOnBlock", False))


def _agent_spec(fields: Fields) -> AgentSpec:
    return AgentSpec(fields["prompt"], fields.get("model"), fields.get("max_steps", 50))


def _builtin_spec(fields: Fields) -> BuiltinSpec:
    # `name` is both the label and, where nothing else says it, the builtin.
    return BuiltinSpec(fields.get("command") or fields.get("name", ""), tuple(fields.get("args", ())))


def _server_label(fields: Fields) -> str:
    server, tool = (fields.get(key) for key in ("server", "tool"))
    return shortened(f"{server if isinstance(server, str) else ''}/{tool if isinstance(tool, str) else ''}")


def _any_label(fields: Fields) -> str:
    """Return a label for a type of unknown fields: the field that looks most like its subject."""
    values = (fields.get(key) for key in ("command", "url", "server", "prompt"))
    return shortened(next((value for value in values if isinstance(value, str)), ""))


#: The fields of one type each; what a type cannot do without is `required`.
KINDS: Mapping[str, HookKind] = {
    "command": HookKind(
        {
            "command": "text", "args": "a list of texts", "shell": "text", "env": "an object of texts", "cwd": "text",
            "output": "text", "side_effects": "text", "warm": "true or false",
        },
        _command_spec, entry_label, ("command",),
    ),
    "http": HookKind(
        {
            **family.HTTP_FIELDS, "ca": "text", "cert": "text", "key": "text", "private": "true or false",
            "output": "text", "side_effects": "text",
        },
        _http_spec, family.labelled("url", url_label), ("url",)
    ),
    "prompt": HookKind(
        {"prompt": "text", "model": "text", "continueOnBlock": "true or false"},
        _prompt_spec, family.labelled("prompt", shortened), ("prompt",),
    ),
    "agent": HookKind(
        {"prompt": "text", "model": "text", "max_steps": "a whole number"},
        _agent_spec, family.labelled("prompt", shortened), ("prompt",),
    ),
    "mcp_tool": HookKind(
        {"server": "text", "tool": "text", "input": "an object", "output": "text"},
        family.mcp_tool_spec, _server_label, ("server", "tool"),
    ),
    "builtin": HookKind(
        {"command": "text", "args": "a list of texts"}, _builtin_spec, family.labelled("command", shortened)
    ),
}  # fmt: skip
#: A type that a host added, or that does not exist: its fields are not checked.
_OTHER = HookKind({}, dict, _any_label, open=True)


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, common, default_kind = "native", COMMON, "command"
    empty_if_is_absent = False

    def find_kind(self) -> HookKind:
        self.kinds = self.file.kinds
        # So that an error of the type names the hook.
        self.name = self._own_name() or _any_label(self.entry) or None
        if self.entry.get("type") == "function":
            self.kind = "function"
            self.say("error", "unknown-type", "function hooks are added in Python, not in a file", "type")
            return _OTHER
        found = super().find_kind()
        if found is None:
            self.kind = "command"
        return found or _OTHER

    def read_fields(self, kind: HookKind) -> None:
        self.name = self._own_name() or self.name
        twice = self.file.twice_below(self.path)
        if self.group.matching.broken:
            self.mistakes.append(self.group.matching.broken)
        self.mistakes.extend(map(_twice, twice))
        super().read_fields(kind)
        for path in twice:
            self.fields.pop(str(path[0]), None)

    def _own_name(self) -> str:
        name = self.entry.get("name")
        # On one line: a name must not make lines of a report.
        return " ".join(name.split()) if isinstance(name, str) else ""

    def condition(self) -> Condition | None:
        return joined(super().condition(), self._table())

    def rule(self, text: Any) -> Condition | None:
        """Read rules; of a list one rule is enough."""
        if isinstance(text, str):
            return super().rule(text)
        rules: list[Condition] = []
        for index, each in enumerate(cast("list[str]", text)):
            try:
                rule = super().rule(each)
            except PatternError as error:
                self.say("error", "bad-pattern", f"if: {error}", "if", index)
            else:
                rules += [rule] if rule is not None else []
        if not text:
            self.say(
                "error", "never-runs", "if is an empty list, so this hook never runs", "if", fix="remove if"
            )
        if len(rules) == 1:
            return rules[0]
        from hookline.matching.conditions import AnyOf  # noqa: PLC0415 as above

        return AnyOf(tuple(rules))

    def _table(self) -> Condition | None:
        table = self.fields.get("condition")
        if table is None:
            return None
        try:
            return self.possible(read_condition(table), "condition")
        except ConditionMistake as mistake:
            self.say("error", "bad-condition", f"condition: {mistake}", "condition", *mistake.path)
            return None

    def details(self, waiting: Waiting) -> dict[str, Any]:
        fields = self.fields
        return {
            "durable": self._durable(waiting),
            "order": self._word("order", _ORDERS),
            "on_failure": self._on_failure(),
            "mode": self._word("mode", _MODES),
            "output": self._word("output", _OUTPUTS),
            "in_doubt": self._word("in_doubt", _IN_DOUBT),
            "actions": self._word("actions", _ACTIONS),
            "side_effects": self._word("side_effects", _SIDE_EFFECTS),
            "once": fields.get("once", False),
            "rewrites": fields.get("rewrites", False),
            "required": fields.get("required", False),
            "identity": self._identity(),
        }

    def hook(self, kind: HookKind) -> Hook | None:
        hook = super().hook(kind)
        if hook is None or hook.broken is None:
            return hook
        # An entry that could not be read as a whole is not switched off or narrowed by a part of it.
        shared = self.group.matching.condition
        return replace(hook, condition=shared, in_doubt="match", once=False, mode="enforce", identity=None)

    def why_broken(self, spec: Any) -> str | None:
        del spec
        return "; ".join(self.mistakes) or None if self.group.own_event.event.guard else None

    def _word(self, field: str, words: tuple[W, ...]) -> W:
        """Return one of the words that a field may be; the first of them where it is missing."""
        known = field in COMMON or field in self.kinds.get(self.kind, _OTHER).fields
        # A host's own type may have a field of that name.
        word = self.fields.get(field, words[0]) if known else words[0]
        for each in words:
            if word == each:
                return each
        code = f"bad-{field.replace('_', '-')}"
        self.say("error", code, f"{field} is {word!r}", field, fix=f"one of {', '.join(words)}")
        return words[0]

    def _durable(self, waiting: Waiting) -> Any:
        durable: Any = self.fields.get("durable", False)
        if isinstance(durable, str) and durable != "fleet":
            message = f"durable is {durable!r}"
            self.say("error", "unknown-durable", message, "durable", fix="true, false or fleet")
            durable = True
        if durable and waiting == "wait":
            fix = self.file.setting("async", "true")
            message = "durable is ignored: this hook is not async"
            self.say("warning", "durable-wait", message, "durable", fix=fix)
            return False
        return durable

    def _on_failure(self) -> Reaction | Mapping[Cause, Reaction] | None:
        key = "on_failure" if "on_failure" in self.fields else "onFailure"
        said = self.fields.get(key)
        if said is None:
            return None
        if isinstance(said, str):
            return self._reaction(said, key)
        reactions: dict[Cause, Reaction] = {}
        for cause, word in cast("Mapping[str, Any]", said).items():
            known: Cause | None = next((each for each in CAUSES if each == cause), None)
            reaction = self._reaction(word, key, cause)
            if known is None:
                fix = self.file.report.meant(cause, CAUSES)
                self.say("error", "unknown-cause", f"no failure is called {cause!r}", key, cause, fix=fix)
            elif reaction is not None:
                reactions[known] = reaction
        return reactions

    def _reaction(self, word: Any, *path: str) -> Reaction | None:
        reaction = _REACTIONS.get(word) if isinstance(word, str) else None
        if reaction is None:
            fix = "one of open, closed, ask"
            self.say("error", "bad-on-failure", f"{path[0]} is {word!r}", *path, fix=fix)
        return reaction

    def _identity(self) -> object:
        """Return the whole definition: equal ones run once. None equals nothing."""
        definition = (self.group.own_event.name, self.group.text, self.entry)
        try:
            return msgspec.json.encode(definition, order="sorted")
        except (TypeError, ValueError):
            return None


class FileReader(family.FileReader):
    entry_reader = EntryReader
    group_fields = ("matcher", "hooks", "description")
    keeps_broken_groups = True

    def __init__(self, layer: Layer, tools: Tools, events: Mapping[str, DialectEvent], wire: Wire) -> None:
        super().__init__(layer, tools, events, wire)
        others = [name for name in tools.handlers if name not in KINDS and name != "function"]
        self.kinds = {**KINDS, **dict.fromkeys(others, _OTHER)}
        #: Hooks that replace all guards of a file that cannot be read.
        self.closed: list[Hook] = []

    def all_hooks(self) -> list[Hook]:
        found = self.hooks().values()
        return [*self.closed, *(hook for hooks in found for hook in hooks)]

    def hooks_table(self) -> Fields:
        document = self.report.document
        if document.value is None:
            error = next((one for one in document.diagnostics if one.severity == "error"), None)
            if error is not None:
                self._close_all_guards(error.message)
        return super().hooks_table()

    def unusable(self, message: str, *path: str | int) -> Fields:
        self._close_all_guards(message)
        return super().unusable(message, *path)

    def check(self, settings: Fields) -> bool:
        key = "disableAllHooks"
        value = settings.get(key, False)
        instead = misshaped(value, "true or false")
        if instead is not None:
            message = f"{key} is {instead}, so the hooks stay on"
            self.report.say("error", "wrong-type", message, key, fix=f"{key}: true")
        if value is True and not self._is_twice((key,)):
            self.report.say("info", "disabled", f"{key} turns all hooks of this file off", key)
            return False
        if self._is_twice(("hooks",)):
            # The first table is lost, and with it which events it guarded.
            self._close_all_guards(_twice(("hooks",)))
        return True

    def event_hooks(self, own_event: DialectEvent, groups: Any, path: Path) -> Sequence[Hook]:
        broken = self._keep_broken(own_event, _twice(path), path) if self._is_twice(path) else ()
        return (*broken, *(super().event_hooks(own_event, groups, path) or ()))

    def group_hooks(self, own_event: DialectEvent, group: Any, path: Path) -> Sequence[Hook]:
        if self._is_twice((*path, "hooks")):
            # It is unknown which of the two lists was meant, so neither is used: the group cannot run.
            return self._keep_broken(own_event, _twice(("hooks",)), path)
        return super().group_hooks(own_event, group, path)

    def shared(self, own_event: DialectEvent, table: Fields, path: Path) -> Group:
        twice = [key for key in table if self._is_twice((*path, key))]
        if "matcher" in twice:
            return Group(own_event, "", Matching(broken=_twice(("matcher",))))
        group = super().shared(own_event, table, path)
        if not twice or group.matching.broken:
            return group
        return Group(own_event, group.text, replace(group.matching, broken=_twice((twice[0],))))

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        event = own_event.event
        try:
            matcher, condition = parse_matcher(text, self.tools.patterns, self.tools.shell)
        except PatternError as error:
            broken = f"matcher: {error}"
            return Matching(note=MatcherNote("bad-pattern", broken, severity="error"), broken=broken)
        if event.needs_matcher and matcher is None and condition is None:
            broken = f"{event.name} needs a matcher: every {event.subject} would start this hook"
            note = MatcherNote(
                "no-matcher", broken, "name the programs: matcher = 'git|npm'", severity="error"
            )
            return Matching(note=note, broken=broken)
        if matcher is not None and event.subject is None:
            message = f"{event.name} has nothing to match, so the matcher is ignored"
            return Matching(note=MatcherNote("unread-matcher", message, "remove the matcher"))
        impossible = never_matches(event, matcher, condition)
        if impossible is not None:
            return Matching(matcher, condition, MatcherNote("dead-matcher", impossible))
        if event.subject == "tool_name" and self._fits_only_a_beginning(matcher):
            message = f"matcher {text!r} fits no usual tool: natively the whole name must match"
            return Matching(matcher, condition, MatcherNote("dead-matcher", message, f"{text}.*"))
        return Matching(matcher, condition)

    def _fits_only_a_beginning(self, matcher: Matcher | None) -> bool:
        """Return True if it was written for an agent that searches in the name, where `^B` finds Bash."""
        if not isinstance(matcher, RegexMatcher) or not matcher.text.startswith("^"):
            return False
        if any(matcher.matches(tool) for tool in _USUAL_TOOLS):
            return False
        anywhere = self.tools.patterns.expression(matcher.text, anchored=False)
        return any(anywhere.found(tool) for tool in _USUAL_TOOLS)

    def refuse(
        self,
        own_event: DialectEvent,
        code: str,
        message: str,
        path: Path,
        fix: str | None = None,
        matcher: Matcher | None = None,
        repair: Repair | None = None,
    ) -> Sequence[Hook]:
        super().refuse(own_event, code, message, path, fix, repair=repair)
        return self._keep_broken(own_event, message, path, matcher)

    def _keep_broken(
        self, own_event: DialectEvent, message: str, path: Path, matcher: Matcher | None = None
    ) -> Sequence[Hook]:
        if not own_event.event.guard:
            return ()
        hook = Hook(
            name=".".join(str(part) for part in path),
            event=own_event.event,
            policy=own_event.policy,
            wire=self.wire,
            kind="command",
            matcher=matcher,
            scope=self.scope,
            where=self.report.document.where(*path),
            broken=message,
        )
        return (hook,)

    def _close_all_guards(self, why: str) -> None:
        """Block everything such a file may have guarded, because its guards are not known."""
        if not self.closed:  # once is enough
            for own_event in self.events.values():
                self.closed += self._keep_broken(own_event, f"{self.file}: {why}", ("hooks",))

    def _is_twice(self, path: Path) -> bool:
        """Return True if a key appears twice: it is unknown which one was meant."""
        return any(duplicate.path == path for duplicate in self.report.document.duplicates)

    def twice_below(self, path: Path) -> Sequence[Path]:
        return [
            duplicate.path[len(path) :]
            for duplicate in self.report.document.duplicates
            if duplicate.path[: len(path)] == path
        ]


def _twice(path: Path) -> str:
    return f"the key {str(path[-1])!r} appears twice"
