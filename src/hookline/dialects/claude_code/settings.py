"""Claude Code's settings files: hooks of all levels add up, other settings override by level."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.claude_code.events import ROWS, SESSION_END_MOST, Row, default_timeout
from hookline.dialects.claude_code.matchers import Judged, judged
from hookline.dialects.claude_code.rules import read_if
from hookline.dialects.dialect import DialectEvent, Layer, Reading, Tools
from hookline.dialects.labels import command_label, shortened, url_label
from hookline.dialects.report import Report
from hookline.documents.shapes import misshaped
from hookline.handlers.agent import AgentSpec
from hookline.handlers.command import CommandSpec
from hookline.handlers.http.handler import HttpSpec
from hookline.handlers.http.urls import UrlError, parse_url, url_allowed
from hookline.handlers.mcp_tool import McpToolSpec
from hookline.handlers.prompt import PromptSpec
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Path, Severity
from hookline.model.errors import PatternError
from hookline.model.hook import Condition, Hook, Matcher, Scope, Waiting
from hookline.model.policy import Policy, Reaction
from hookline.model.wire import Wire

Fields = Mapping[str, Any]

_COMMON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "type": "text",
        "if": "text",
        "timeout": "a number",
        "statusMessage": "text",
        "once": "true or false",
    }
)

SHAPES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "command": {
            **_COMMON, "command": "text", "args": "a list of texts", "shell": "text", "async": "true or false",
            "asyncRewake": "true or false", "onFailure": "text",
        },
        "http": {
            **_COMMON, "url": "text", "headers": "an object of texts", "allowedEnvVars": "a list of texts",
            "onFailure": "text",
        },
        "mcp_tool": {**_COMMON, "server": "text", "tool": "text", "input": "an object"},
        "prompt": {**_COMMON, "prompt": "text", "model": "text", "continueOnBlock": "true or false"},
        "agent": {**_COMMON, "prompt": "text", "model": "text"},
    }
)  # fmt: skip

NEEDED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "command": ("command",),
        "http": ("url",),
        "mcp_tool": ("server", "tool"),
        "prompt": ("prompt",),
        "agent": ("prompt",),
    }
)


_PLACEHOLDER: Final = re.compile(r"(\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\})")


def _command(fields: Fields, env: Mapping[str, str]) -> CommandSpec:
    command, args = fields["command"], fields.get("args")
    if args is None:
        # The client runs `sh` whatever an entry says, PowerShell apart.
        return CommandSpec(
            command, shell="powershell" if fields.get("shell") == "powershell" else None, env=env
        )
    if any(_PLACEHOLDER.search(word) for word in (command, *args)):
        return CommandSpec(_as_line((command, *args)), env=env)
    return CommandSpec(command, tuple(args), env=env)


def _as_line(words: tuple[str, ...]) -> str:
    """The exec form for a shell that only fills in placeholders: which project it is, is known per event."""
    return "exec " + " ".join("".join(map(_quoted, _PLACEHOLDER.split(word))) or "''" for word in words)


def _quoted(piece: str) -> str:
    if _PLACEHOLDER.fullmatch(piece):
        return f'"{piece}"'
    return "'" + piece.replace("'", "'\\''") + "'" if piece else ""


def _http(fields: Fields, _env: Mapping[str, str]) -> HttpSpec:
    headers = {name: _one_line(value) for name, value in fields.get("headers", {}).items()}
    return HttpSpec(fields["url"], headers, tuple(fields.get("allowedEnvVars", ())))


def _one_line(value: str) -> str:
    return value.replace("\r", "").replace("\n", "").replace("\0", "")


def _prompt(fields: Fields, _env: Mapping[str, str]) -> PromptSpec:
    return PromptSpec(
        _with_place(fields["prompt"]), fields.get("model"), fields.get("continueOnBlock", False)
    )


def _agent(fields: Fields, _env: Mapping[str, str]) -> AgentSpec:
    return AgentSpec(_with_place(fields["prompt"]), fields.get("model"), 50)


def _with_place(prompt: str) -> str:
    """A prompt without a place for the payload gets it below, as the client puts it."""
    placed = "$ARGUMENTS" in prompt.replace("\\$ARGUMENTS", "")
    return prompt if placed else f"{prompt}\n\nARGUMENTS: $ARGUMENTS"


def _mcp_tool(fields: Fields, _env: Mapping[str, str]) -> McpToolSpec:
    return McpToolSpec(fields["server"], fields["tool"], fields.get("input", {}))


SPECS: Final[Mapping[str, Callable[[Fields, Mapping[str, str]], Any]]] = MappingProxyType(
    {"command": _command, "http": _http, "mcp_tool": _mcp_tool, "prompt": _prompt, "agent": _agent}
)


def label(kind: str, fields: Fields) -> str:
    """What people call a hook."""
    if kind == "command":
        return command_label(fields["command"])
    if kind == "http":
        return url_label(fields["url"])
    if kind == "mcp_tool":
        return shortened(f"{fields['server']}/{fields['tool']}")
    return shortened(fields["prompt"]) or kind


def identity(kind: str, fields: Fields) -> tuple[object, ...]:
    """What makes two entries one hook: what is run, and `if`. Timeout, shell, matcher and file do not count."""
    condition = fields.get("if") or ""
    if kind == "command":
        args = fields.get("args")
        return kind, fields["command"], None if args is None else tuple(args), condition
    ran = tuple(fields[key] for key in NEEDED[kind])
    return kind, *ran, repr(fields.get("input")), condition


class HttpLimits(Struct, frozen=True):
    """What the settings of all levels together let http hooks do."""

    urls: tuple[str, ...] | None = None
    env: frozenset[str] | None = None


class Around(Struct, frozen=True, eq=False):
    """What is the same for all entries of a file."""

    tools: Tools
    wire: Wire
    scope: Scope
    limits: HttpLimits
    home: str
    #: What the entries are run with beside the usual variables: where their plugin is.
    env: Mapping[str, str] = {}


class Group(Struct, frozen=True, eq=False):
    """What the entries of one group share."""

    name: str
    row: Row
    policy: Policy
    matcher: Matcher | None = None


class EntryReader:
    """Reads one entry; made for it and thrown away."""

    def __init__(self, around: Around, group: Group, report: Report, path: Path) -> None:
        self._around = around
        self._group = group
        self._report = report
        self._path = path
        self._sound = True
        self._name: str | None = None

    def hook(self, entry: Mapping[str, Any]) -> Hook | None:
        kind = self._kind(entry)
        if kind is None:
            return None
        fields, sound = self._report.fields(entry, SHAPES[kind], *self._path)
        self._sound = self._sound and sound
        self._needed(kind, entry, fields)
        if not self._sound:
            return None
        self._name = label(kind, fields)
        timeout, condition = self._timeout(kind, fields), self._condition(fields)
        waiting = self._waiting(fields)
        on_failure = self._on_failure(fields, waiting)
        spec = self._spec(kind, fields) if self._sound else None
        if not self._sound:
            return None
        once = self._once(fields)
        return Hook(
            name=self._name,
            event=self._group.row.event,
            policy=self._group.policy,
            wire=self._around.wire,
            kind=kind,
            spec=spec,
            matcher=self._group.matcher,
            condition=condition,
            timeout=timeout,
            waiting=waiting,
            once=once,
            on_failure=on_failure,
            status_message=fields.get("statusMessage"),
            dialect="claude-code",
            scope=self._around.scope,
            where=self._report.document.where(*self._path),
            identity=(self._around.env.get("CLAUDE_PLUGIN_ROOT"), *identity(kind, fields)),
            broken=self._refused(spec),
        )

    def _say(
        self, severity: Severity, code: str, message: str, key: str = "", fix: str | None = None
    ) -> None:
        if severity == "error":
            self._sound = False
        path = (*self._path, key) if key else self._path
        self._report.say(severity, code, message, *path, fix=fix, hook=self._name)

    def _kind(self, entry: Mapping[str, Any]) -> str | None:
        kind = entry.get("type")
        if not isinstance(kind, str) or kind not in SPECS:
            close = nearest(kind, SPECS) if isinstance(kind, str) else None
            known = ", ".join(SPECS)
            if kind is None:
                self._say("error", "missing-field", "a hook needs a type", fix=f"one of {known}")
            else:
                fix = f"did you mean {close}?" if close else f"one of {known}"
                self._say("error", "unknown-type", f"no handler is called {kind!r}", "type", fix)
            return None
        if kind not in self._group.row.kinds:
            known = ", ".join(self._group.row.kinds)
            message = f"{self._group.name} runs no {kind} hooks"
            self._say("error", "kind-not-here", message, "type", f"one of {known}")
            return None
        return kind

    def _needed(self, kind: str, entry: Mapping[str, Any], fields: Mapping[str, Any]) -> None:
        for key in NEEDED[kind]:
            if key not in entry:
                self._say("error", "missing-field", f"a {kind} hook needs {key}")
            elif key in fields and not fields[key].strip():
                self._say("error", "missing-field", f"{key} is empty", key)

    def _timeout(self, kind: str, fields: Mapping[str, Any]) -> float:
        seconds = fields.get("timeout")
        usual = default_timeout(self._group.name, kind)
        if seconds is None:
            return usual
        if not math.isfinite(seconds) or seconds <= 0:
            fix = f"leave it out for {usual:g} seconds"
            self._say("error", "bad-timeout", f"timeout is {seconds}, not seconds above 0", "timeout", fix)
            return usual
        if seconds >= 3600 and seconds % 500 == 0:
            message = f"timeout is {seconds:g} seconds, which is {seconds / 3600:.1f} hours"
            self._say("warning", "long-timeout", message, "timeout", f"{seconds / 1000:g}, if these are ms")
        return float(seconds)

    def _condition(self, fields: Mapping[str, Any]) -> Condition | None:
        text = fields.get("if", "")
        if not text:
            return None
        try:
            tools = self._around.tools
            condition = read_if(text, tools.patterns, tools.shell, self._around.home)
        except PatternError as error:
            self._say("error", "bad-pattern", f"if: {error}", "if")
            return None
        if condition is not None and not self._group.row.about_tool:
            message = f"{self._group.name} is not about a tool, so a hook with if never runs"
            self._say("error", "never-runs", message, "if", "remove if")
        return condition

    def _waiting(self, fields: Mapping[str, Any]) -> Waiting:
        rewake, background = fields.get("asyncRewake", False), fields.get("async", False)
        if not rewake and not background:
            return "wait"
        if self._group.row.event.guard:
            message = f"a hook nobody waits for cannot stop anything at {self._group.name}"
            self._say("warning", "async-guard", message, "asyncRewake" if rewake else "async")
        return "rewake" if rewake else "async"

    def _on_failure(self, fields: Mapping[str, Any], waiting: Waiting) -> Reaction | None:
        word = fields.get("onFailure")
        if word is None or word == "continue":
            return None
        if word != "block":
            self._say("error", "bad-on-failure", f"onFailure is {word!r}", "onFailure", "continue or block")
            return None
        if waiting != "wait" or not self._group.row.on_failure:
            where = "a hook nobody waits for" if waiting != "wait" else self._group.name
            self._say("warning", "unread-field", f"onFailure is not read at {where}", "onFailure")
            return None
        return "block"

    def _spec(self, kind: str, fields: Mapping[str, Any]) -> Any:
        if kind == "command" and fields.get("shell", "bash") not in ("bash", "powershell"):
            self._say("error", "bad-shell", f"shell is {fields['shell']!r}", "shell", "bash or powershell")
            return None
        handler = self._around.tools.handlers.get(kind)
        if handler is None:
            self._say("error", "no-handler", f"no handler for {kind} hooks was given", "type")
            return None
        spec = SPECS[kind](fields, self._around.env)
        if isinstance(spec, HttpSpec) and self._around.limits.env is not None:
            usable = tuple(name for name in spec.allowed_env_vars if name in self._around.limits.env)
            spec = HttpSpec(spec.url, spec.headers, usable)
        wrong = handler.problem(spec)
        if wrong is not None:
            self._say("warning" if kind in _HOSTED else "error", "cannot-run", wrong)
        return spec

    def _once(self, fields: Mapping[str, Any]) -> bool:
        """A skill's hooks join a session; those of settings files run each time, whatever they say."""
        if not fields.get("once"):
            return False
        if self._around.scope == "session":
            return True
        self._say("warning", "unread-field", "once is read in a skill's hooks only", "once", "remove once")
        return False

    def _refused(self, spec: Any) -> str | None:
        """Why an entry in order may not run all the same. It stays, so that its run says so each time."""
        allowed = self._around.limits.urls
        if allowed is None or not isinstance(spec, HttpSpec):
            return None
        try:
            if url_allowed(parse_url(spec.url), allowed):
                return None
        except UrlError as error:
            return str(error)
        message = "its url is not among allowedHttpHookUrls"
        self._say("warning", "url-not-allowed", message, "url", "add it to allowedHttpHookUrls")
        return message


#: Kinds whose handlers need something of the host: a mistake of the host, not of the file.
_HOSTED = frozenset({"prompt", "agent", "mcp_tool"})


#: Whose word on a setting counts, the strongest first.
_PRECEDENCE: Final[tuple[Scope, ...]] = ("managed", "flag", "local", "project", "user")
_GROUP_FIELDS: Final = ("matcher", "hooks")
#: Lists of what http hooks may do: which addresses, and which variables in a header.
_LIMITS: Final = ("allowedHttpHookUrls", "httpHookAllowedEnvVars")
#: The order in which hooks of the levels are listed.
_ORDER: Final[tuple[Scope, ...]] = ("managed", "user", "project", "local", "flag", "plugin", "session")


class Settings(Struct, frozen=True):
    """What the levels together say about hooks as a whole."""

    disabled_by: Layer | None = None
    managed_only: bool = False
    limits: HttpLimits = HttpLimits()


def table_of(layer: Layer) -> Mapping[str, Any]:
    value = layer.document.value
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def settings_of(layers: Sequence[Layer]) -> Settings:
    by_scope = {layer.place.scope: layer for layer in layers}
    ranked = [by_scope[scope] for scope in _PRECEDENCE if scope in by_scope]
    said = next((layer for layer in ranked if isinstance(table_of(layer).get("disableAllHooks"), bool)), None)
    disabled = said if said is not None and table_of(said)["disableAllHooks"] else None
    managed = by_scope.get("managed")
    managed_only = managed is not None and table_of(managed).get("allowManagedHooksOnly") is True
    urls, env = (_joined(layers, key) for key in _LIMITS)
    return Settings(disabled, managed_only, HttpLimits(urls, None if env is None else frozenset(env)))


def _joined(layers: Sequence[Layer], key: str) -> tuple[str, ...] | None:
    """Lists of all levels together; None when no level has one. What should be a list and is none allows nothing."""
    given = [table_of(layer)[key] for layer in layers if key in table_of(layer)]
    lists = [cast("list[Any]", value) for value in given if isinstance(value, list)]
    return tuple(word for some in lists for word in some if isinstance(word, str)) if given else None


class SettingsReader:
    """Reads the layers of one engine."""

    def __init__(
        self, dialect_events: Mapping[str, DialectEvent], wire: Wire, home: str, end_budget: float | None
    ) -> None:
        self._events = dialect_events
        self._wire = wire
        self._home = home
        self._end_budget = end_budget

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        settings = settings_of(layers)
        policies = {name: own_event.policy for name, own_event in self._events.items()}
        policies["SessionEnd"] = self._with_budget(policies["SessionEnd"], layers)
        hooks: list[Hook] = []
        diagnostics: list[Diagnostic] = []
        for layer in sorted(layers, key=lambda one: _ORDER.index(one.place.scope)):
            env = _plugin_env(layer)
            around = Around(tools, self._wire, layer.place.scope, settings.limits, self._home, env)
            reading = _LayerReading(layer, around, policies)
            found = list(reading.hooks())
            off = _switched_off(layer, settings)
            if off and found:
                reading.report.say("info", "disabled", off, *_place_of(layer, settings))
                found = []
            hooks.extend(found)
            diagnostics.extend(reading.report.diagnostics)
        return Reading(tuple(hooks), tuple(diagnostics))

    def _with_budget(self, policy: Policy, layers: Sequence[Layer]) -> Policy:
        """All SessionEnd hooks share little time, or as much as the most patient of them asks for."""
        if self._end_budget is not None:
            return policy
        asked = [
            timeout
            for layer in layers
            if layer.place.scope != "plugin"
            for timeout in _session_end_timeouts(table_of(layer))
        ]
        longest = min(max(asked, default=0.0), SESSION_END_MOST)
        return replace(policy, budget=longest) if longest > (policy.budget or 0.0) else policy


def _session_end_timeouts(table: Mapping[str, Any]) -> Iterator[float]:
    hooks: Any = table.get("hooks")
    groups: Any = hooks.get("SessionEnd") if isinstance(hooks, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] any JSON
    for group in cast("list[Any]", groups) if isinstance(groups, list) else ():
        entries: Any = cast("dict[str, Any]", group).get("hooks") if isinstance(group, dict) else None
        for entry in cast("list[Any]", entries) if isinstance(entries, list) else ():
            timeout: Any = cast("dict[str, Any]", entry).get("timeout") if isinstance(entry, dict) else None
            if isinstance(timeout, int | float) and not isinstance(timeout, bool):
                yield float(timeout)


def _plugin_env(layer: Layer) -> Mapping[str, str]:
    """`<plugin>/hooks/hooks.json`: its scripts find each other by the root of the plugin."""
    if layer.place.scope != "plugin":
        return {}
    folder = layer.place.file.rpartition("/")[0]
    root = folder.rpartition("/")[0] if folder.endswith("/hooks") else folder
    return {"CLAUDE_PLUGIN_ROOT": root}


def _switched_off(layer: Layer, settings: Settings) -> str | None:
    managed = layer.place.scope == "managed"
    if settings.managed_only and not managed:
        return "allowManagedHooksOnly turns the hooks of this file off"
    by = settings.disabled_by
    if by is not None and (not managed or by.place.scope == "managed"):
        return f"disableAllHooks in {by.place.file} turns the hooks of this file off"
    return None


def _place_of(layer: Layer, settings: Settings) -> Path:
    by = settings.disabled_by
    return ("disableAllHooks",) if by is layer else ("hooks",)


class _LayerReading:
    """One file being read."""

    def __init__(self, layer: Layer, around: Around, policies: Mapping[str, Policy]) -> None:
        self.report = Report(layer.document)
        self._layer = layer
        self._around = around
        self._policies = policies
        #: Most groups of a long file say one of few things.
        self._matchers: dict[tuple[str, str], Judged] = {}

    def hooks(self) -> Iterator[Hook]:
        for name, groups in self._table().items():
            if name not in ROWS:
                self.report.unknown("event", name, ROWS, "hooks", name)
            elif not isinstance(groups, list):
                message, fix = f"{name} is not a list of groups", '[{"hooks": [...]}]'
                self.report.say("error", "not-a-list", message, "hooks", name, fix=fix)
            else:
                for index, group in enumerate(cast("list[Any]", groups)):
                    yield from self._group(name, group, ("hooks", name, index))

    def _table(self) -> Mapping[str, Any]:
        value = self._layer.document.value
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            self.report.say("error", "not-a-table", "the file does not hold an object of settings")
            return {}
        settings = cast("Mapping[str, Any]", value)
        for key in settings:
            if key in ROWS:
                message = f"{key} stands outside hooks, where nobody reads it"
                self.report.say("error", "misplaced-event", message, key, fix=f"hooks.{key}")
        disabled = settings.get("disableAllHooks")
        if disabled is not None and not isinstance(disabled, bool):
            message = "disableAllHooks is not true or false, so it is not read"
            self.report.say("error", "wrong-type", message, "disableAllHooks")
        for key in _LIMITS:
            self._limit(settings, key)
        hooks = settings.get("hooks", {})
        if not isinstance(hooks, Mapping):
            self.report.say("error", "not-a-table", "hooks is not an object of events", "hooks")
            return {}
        return cast("Mapping[str, Any]", hooks)

    def _limit(self, settings: Mapping[str, Any], key: str) -> None:
        instead = misshaped(settings[key], "a list of texts") if key in settings else None
        if instead is None:
            return
        if isinstance(settings[key], list):
            message = f"{key} holds something that is no text, which is not read"
        else:
            message = f"{key} is {instead}, so it allows nothing"
        self.report.say("error", "wrong-type", message, key, fix=f'"{key}": ["..."]')

    def _group(self, name: str, group: Any, path: Path) -> Iterator[Hook]:
        if not isinstance(group, dict):
            self.report.say("error", "not-a-table", "a group is not an object with hooks", *path)
            return
        table = cast("Mapping[str, Any]", group)
        entries = table.get("hooks")
        unknown = [each for each in table if each not in _GROUP_FIELDS]
        if not isinstance(entries, list):
            # Nothing else of it: whoever forgot the group, or misspelled hooks, made one mistake.
            fix = '"hooks": [{...}]' if "hooks" in table else 'put the entry into "hooks": [...]'
            meant = next((key for key in unknown if nearest(key, _GROUP_FIELDS) == "hooks"), None)
            if meant is not None and "hooks" not in table:
                fix = f"write hooks instead of {meant}"
            self.report.say("error", "missing-field", "a group needs a list of hooks", *path, fix=fix)
            return
        for key in unknown:
            self.report.unknown("field", key, _GROUP_FIELDS, *path, key, severity="warning")
        sound, matcher = self._matcher(name, table, path)
        if not sound:
            return
        shared = Group(name, ROWS[name], self._policies[name], matcher)
        for index, entry in enumerate(cast("list[Any]", entries)):
            hook = self._entry(shared, entry, (*path, "hooks", index))
            if hook is not None:
                yield hook

    def _entry(self, group: Group, entry: Any, path: Path) -> Hook | None:
        if not isinstance(entry, dict):
            self.report.say("error", "not-a-table", "a hook is not an object", *path)
            return None
        return EntryReader(self._around, group, self.report, path).hook(cast("Mapping[str, Any]", entry))

    def _matcher(self, name: str, table: Mapping[str, Any], path: Path) -> tuple[bool, Matcher | None]:
        text = table.get("matcher", "")
        if not isinstance(text, str):
            self.report.say("error", "wrong-type", "matcher is not text", *path, "matcher")
            return False, None
        known = self._matchers.get((name, text))
        if known is None:
            known = self._matchers[name, text] = judged(name, text, self._around.tools.patterns)
        if known.note is not None:
            note = known.note
            self.report.say(note.severity, note.code, note.message, *path, "matcher", fix=note.fix)
        return known.sound, known.matcher
