"""One handler entry as a hook, with every mistake in it found."""

import math
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast, get_args

import msgspec
from msgspec import Struct

from hookline.dialects.native.conditions import ConditionMistake, read_condition
from hookline.documents.shapes import misshaped
from hookline.handlers.registry import Handler
from hookline.matching.conditions import joined, problem
from hookline.matching.nearest import nearest
from hookline.matching.patterns import Patterns
from hookline.matching.shell import ShellReader
from hookline.model.diagnostics import Diagnostic, Path, Severity, Where
from hookline.model.errors import PatternError
from hookline.model.events import EventSpec
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.policy import CAUSES, Cause, Policy, Reaction
from hookline.model.run import Mode
from hookline.model.wire import Wire

#: Read for every kind.
COMMON: Mapping[str, str] = MappingProxyType(
    {
        "type": "anything",  # whether there is such a handler is asked before
        "name": "text",
        "if": "text",
        "condition": "an object",
        "timeout": "a number",
        "statusMessage": "text",
        "once": "true or false",
        "async": "true or false",
        "asyncRewake": "true or false",
        "on_failure": "text or an object",
        "onFailure": "text or an object",
        "mode": "text",
        "rewrites": "true or false",
        "required": "true or false",
    }
)

#: Read for one kind, by kind; the fields it cannot do without come first, as many as NEEDED says.
BY_KIND: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "command": {
            "command": "text",
            "args": "a list of texts",
            "shell": "text",
            "env": "an object of texts",
            "cwd": "text",
        },
        "http": {"url": "text", "headers": "an object of texts", "allowedEnvVars": "a list of texts"},
        "prompt": {"prompt": "text", "model": "text", "continueOnBlock": "true or false"},
        "agent": {"prompt": "text", "model": "text", "max_steps": "a whole number"},
        "mcp_tool": {"server": "text", "tool": "text", "input": "an object"},
        "builtin": {"command": "text", "args": "a list of texts"},
    }
)

NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "command": ("command",),
        "http": ("url",),
        "prompt": ("prompt",),
        "agent": ("prompt",),
        "mcp_tool": ("server", "tool"),
    }
)

#: Every field of every kind, to tell a field of another kind from one that nobody knows.
ALL: frozenset[str] = frozenset(COMMON).union(*BY_KIND.values())


Fields = Mapping[str, Any]


def _spec(name: str) -> Any:
    """The record of a handler kind, loaded with the first entry of that kind."""
    module, _, record = name.rpartition(".")
    return getattr(import_module(f"hookline.handlers.{module}"), record)


def _command(fields: Fields) -> Any:
    args = fields.get("args")
    return _spec("command.CommandSpec")(
        command=fields["command"],
        args=None if args is None else tuple(args),
        shell=fields.get("shell"),
        env=fields.get("env", {}),
        cwd=fields.get("cwd"),
    )


def _http(fields: Fields) -> Any:
    return _spec("http.handler.HttpSpec")(
        fields["url"], fields.get("headers", {}), tuple(fields.get("allowedEnvVars", ()))
    )


def _prompt(fields: Fields) -> Any:
    return _spec("prompt.PromptSpec")(
        fields["prompt"], fields.get("model"), fields.get("continueOnBlock", False)
    )


def _agent(fields: Fields) -> Any:
    return _spec("agent.AgentSpec")(fields["prompt"], fields.get("model"), fields.get("max_steps", 50))


def _mcp_tool(fields: Fields) -> Any:
    return _spec("mcp_tool.McpToolSpec")(fields["server"], fields["tool"], fields.get("input", {}))


def _builtin(fields: Fields) -> Any:
    # `name` is both the label and, where nothing else says it, the builtin.
    return _spec("builtin.BuiltinSpec")(
        fields.get("command") or fields.get("name", ""), tuple(fields.get("args", ()))
    )


SPECS: Mapping[str, Callable[[Fields], Any]] = MappingProxyType(
    {
        "command": _command,
        "http": _http,
        "prompt": _prompt,
        "agent": _agent,
        "mcp_tool": _mcp_tool,
        "builtin": _builtin,
    }
)

_PROGRAM = re.compile(r"[\w./~+$@%:{}-]+")
_RUNNERS = re.compile(r"(?:env|sh|bash|zsh|dash|node|npx|uvx?|ruby|perl|deno|bun|python[\d.]*)")
_LONGEST = 60


def label(kind: str, fields: Fields) -> str:
    """What people call a hook that has no name."""
    name = fields.get("name")
    if isinstance(name, str) and name.strip():
        return name.strip()
    said = next((fields[key] for key in _TELLING if isinstance(fields.get(key), str)), "")
    if kind == "command":
        said = _program(said)
    elif kind == "http":
        said = said.split("://")[-1].split("?")[0].split("@")[-1]
    elif kind == "mcp_tool":
        said = f"{said}/{fields.get('tool', '')}"
    shown = " ".join(said.split())[:_LONGEST]
    return shown or kind


_TELLING = ("command", "url", "server", "prompt")


def _program(command: str) -> str:
    """The script a command is about: `python3 hooks/check.py --fast` is check.py."""
    words = [word.replace('"', "").replace("'", "") for word in command.split()[:3]]
    if not words or not _PROGRAM.fullmatch(words[0]):
        return command.strip().split("\n")[0]
    base = words[0].rsplit("/", 1)[-1]
    if len(words) > 1 and _RUNNERS.fullmatch(base) and _PROGRAM.fullmatch(words[1]) and words[1][0] != "-":
        return words[1].rsplit("/", 1)[-1] or base
    return base


DEFAULT_TIMEOUT = 600.0

_MODES: tuple[Mode, ...] = get_args(Mode)
#: Hookline's own words, and Claude Code's.
_REACTIONS: Mapping[str, Reaction] = {
    "open": "warn",
    "closed": "block",
    "ask": "ask",
    "continue": "warn",
    "block": "block",
}


class Surroundings(Struct, frozen=True, eq=False):
    """What is the same for all entries of a file."""

    handlers: Mapping[str, Handler]
    wire: Wire
    patterns: Patterns
    shell: ShellReader
    scope: Scope


class Group(Struct, frozen=True, eq=False):
    """What the entries of one group share."""

    event: EventSpec[Any]
    policy: Policy
    matcher_text: str | None = None
    matcher: Matcher | None = None
    condition: Condition | None = None
    #: What is wrong with the group itself, for entries that must not vanish with it.
    broken: str | None = None


def stands_twice(path: Path) -> str:
    return f"the key {str(path[-1])!r} stands twice"


class EntryReader:
    """Reads one entry; made for it and thrown away."""

    def __init__(self, around: Surroundings, group: Group, entry: Mapping[str, Any], where: Where) -> None:
        self._around = around
        self._group = group
        self._entry = entry
        self._where = where
        self._fields: dict[str, Any] = {}
        self._mistakes: list[str] = [group.broken] if group.broken else []
        self.diagnostics: list[Diagnostic] = []
        #: False for a type nobody knows: its own fields cannot be judged then.
        self._known = True
        self._name = ""
        self._kind = self._read_kind()

    def hook(self, *twice: Path) -> Hook | None:
        """The hook; broken where it guards something and cannot be read, None where it can be dropped.

        `twice` are the keys that stand twice, as paths inside the entry.
        """
        self._mistakes.extend(stands_twice(path) for path in twice)
        self._read_fields()
        for path in twice:
            self._fields.pop(str(path[0]), None)
        condition = joined(self._group.condition, self._if(), self._table_condition())
        timeout, waiting = self._timeout(), self._waiting()
        on_failure, mode = self._on_failure(), self._mode()
        spec = None if self._mistakes else self._spec()
        broken = "; ".join(self._mistakes) or None
        if broken is not None and not self._group.event.guard:
            return None
        return Hook(
            name=self._name,
            event=self._group.event,
            policy=self._group.policy,
            wire=self._around.wire,
            kind=self._kind,
            spec=spec,
            matcher=self._group.matcher,
            # What could not be read as a whole is not switched off or narrowed by a part of it.
            condition=condition if broken is None else self._group.condition,
            timeout=timeout,
            waiting=waiting,
            once=broken is None and self._fields.get("once", False),
            mode=mode if broken is None else "enforce",
            on_failure=on_failure,
            rewrites=self._fields.get("rewrites", False),
            required=self._fields.get("required", False),
            status_message=self._fields.get("statusMessage"),
            scope=self._around.scope,
            where=self._where,
            identity=_identity(self._group, self._entry) if broken is None else None,
            broken=broken,
        )

    def _say(
        self, severity: Severity, code: str, message: str, *path: str | int, fix: str | None = None
    ) -> None:
        if severity == "error":
            self._mistakes.append(message)
        self.diagnostics.append(
            Diagnostic(severity, code, message, self._where.at(*path), hook=self._name, fix=fix)
        )

    def _read_kind(self) -> str:
        kind: Any = self._entry.get("type", "command")
        self._name = label(kind if isinstance(kind, str) else "command", self._entry)
        handlers = self._around.handlers
        if isinstance(kind, str) and (kind in SPECS or (kind in handlers and kind != "function")):
            return kind
        if kind == "function":
            self._say("error", "unknown-type", "function hooks are added in Python, not in a file", "type")
            return "function"
        self._known = False
        known = [*SPECS, *(each for each in handlers if each not in (*SPECS, "function"))]
        close = nearest(kind, known) if isinstance(kind, str) else None
        fix = f'type = "{close}"' if close else f"one of {', '.join(known)}"
        self._say("error", "unknown-type", f"no handler is called {kind!r}", "type", fix=fix)
        return "command"

    def _read_fields(self) -> None:
        own = BY_KIND.get(self._kind) if self._known else None
        for key, value in self._entry.items():
            shape = COMMON.get(key) or ("anything" if own is None else own.get(key))
            if shape is None:
                self._unread(key)
            elif (instead := misshaped(value, shape)) is not None:
                self._say("error", "wrong-type", f"{key} is {instead}", key)
            else:
                self._fields[key] = value
        for key in NEEDED.get(self._kind, ()) if self._known else ():
            if key not in self._entry:
                self._say("error", "missing-field", f"a {self._kind} hook needs {key}")
            elif key in self._fields and not self._fields[key].strip():
                self._say("error", "missing-field", f"{key} is empty", key)

    def _unread(self, key: str) -> None:
        if key in ALL:
            message = f"{key} is not read by {self._kind} hooks"
            self._say("warning", "unread-field", message, key, fix=f"remove {key}")
            return
        close = nearest(key, [*COMMON, *BY_KIND.get(self._kind, ())])
        message = f"no field is called {key!r}, so it is not read"
        self._say("warning", "unknown-field", message, key, fix=f"did you mean {close}?" if close else None)

    def _if(self) -> Condition | None:
        text = self._fields.get("if")
        if text is None:
            return None
        # Most entries have no `if`: they do not pay for loading the rules.
        from hookline.matching.tool_rules import tool_condition  # noqa: PLC0415 - as said

        try:
            condition = tool_condition(text, self._around.patterns, self._around.shell)
        except PatternError as error:
            self._say("error", "bad-pattern", f"if: {error}", "if")
            return None
        return self._possible(condition, "if")

    def _table_condition(self) -> Condition | None:
        table = self._fields.get("condition")
        if table is None:
            return None
        try:
            return self._possible(read_condition(table), "condition")
        except ConditionMistake as mistake:
            self._say("error", "bad-condition", f"condition: {mistake}", "condition", *mistake.path)
            return None

    def _possible(self, condition: Condition, key: str) -> Condition | None:
        impossible = problem(condition, self._group.event)
        if impossible is None:
            return condition
        self._say("error", "never-runs", impossible, key)
        return None

    def _timeout(self) -> float:
        seconds = self._fields.get("timeout")
        if seconds is None:
            return DEFAULT_TIMEOUT
        if not math.isfinite(seconds) or seconds <= 0:
            fix = "leave it out for 600 seconds"
            self._say(
                "error", "bad-timeout", f"timeout is {seconds}, not seconds above 0", "timeout", fix=fix
            )
            return DEFAULT_TIMEOUT
        return float(seconds)

    def _waiting(self) -> Waiting:
        background, rewake = self._fields.get("async", False), self._fields.get("asyncRewake", False)
        if background and rewake:
            message = "asyncRewake already means async"
            self._say("warning", "async-twice", message, "async", fix="remove async")
        if (background or rewake) and self._group.event.guard:
            message = f"a hook nobody waits for cannot stop anything at {self._group.event.name}"
            self._say("warning", "async-guard", message, "asyncRewake" if rewake else "async")
        return "rewake" if rewake else "async" if background else "wait"

    def _mode(self) -> Mode:
        word = self._fields.get("mode", "enforce")
        for mode in _MODES:
            if word == mode:
                return mode
        fix = f"one of {', '.join(_MODES)}"
        self._say("error", "bad-mode", f"mode is {word!r}", "mode", fix=fix)
        return "enforce"

    def _on_failure(self) -> Reaction | Mapping[Cause, Reaction] | None:
        key = "on_failure" if "on_failure" in self._fields else "onFailure"
        said = self._fields.get(key)
        if said is None:
            return None
        if isinstance(said, str):
            return self._reaction(said, key)
        reactions: dict[Cause, Reaction] = {}
        for cause, word in cast("Mapping[str, Any]", said).items():
            known: Cause | None = next((each for each in CAUSES if each == cause), None)
            reaction = self._reaction(word, key, cause)
            if known is None:
                close = nearest(cause, CAUSES)
                fix = f"did you mean {close}?" if close else f"one of {', '.join(CAUSES)}"
                self._say("error", "unknown-cause", f"no failure is called {cause!r}", key, cause, fix=fix)
            elif reaction is not None:
                reactions[known] = reaction
        return reactions

    def _reaction(self, word: Any, *path: str) -> Reaction | None:
        reaction = _REACTIONS.get(word) if isinstance(word, str) else None
        if reaction is None:
            self._say(
                "error", "bad-on-failure", f"{path[0]} is {word!r}", *path, fix="one of open, closed, ask"
            )
        return reaction

    def _spec(self) -> Any:
        build = SPECS.get(self._kind)
        handler = self._around.handlers.get(self._kind)
        if handler is None:
            self._say("error", "no-handler", f"no handler for {self._kind} hooks was given", "type")
            return None
        spec = build(self._fields) if build is not None else dict(self._fields)
        wrong = handler.problem(spec)
        if wrong is not None:
            self._say("error", "cannot-run", wrong)
        return spec


def _identity(group: Group, entry: Mapping[str, Any]) -> object:
    """The whole definition: equal ones run once. None equals nothing."""
    try:
        return msgspec.json.encode((group.event.name, group.matcher_text, entry), order="sorted")
    except (TypeError, ValueError):
        return None
