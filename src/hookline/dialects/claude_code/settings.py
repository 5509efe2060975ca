"""Read Claude Code's settings files: hooks of all levels add up, other settings override by level."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.claude_code.events import NAME, ROWS, SESSION_END_MOST, EventRow, default_timeout
from hookline.dialects.claude_code.matchers import read_matching
from hookline.dialects.claude_code.rules import read_if
from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings as family
from hookline.dialects.family.settings import Fields, HookKind, Matching, labelled
from hookline.dialects.labels import entry_label, shortened, url_label
from hookline.documents.document import misshaped
from hookline.handlers.http.urls import UrlError, parse_url, url_allowed
from hookline.handlers.specs import AgentSpec, CommandSpec, HttpSpec, PromptSpec
from hookline.model.diagnostics import Diagnostic
from hookline.model.hook import Condition, Hook, Scope, Waiting
from hookline.model.policy import Reaction
from hookline.model.wire import Wire

COMMON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "type": "text",
        "if": "text",
        "timeout": "a number",
        "statusMessage": "text",
        "once": "true or false",
    }
)

_PLACEHOLDER: Final = re.compile(r"(\$\{CLAUDE_(?:PROJECT_DIR|PLUGIN_ROOT|PLUGIN_DATA)\})")


def _command(fields: Fields) -> CommandSpec:
    command, args = fields["command"], fields.get("args")
    if args is None:
        # The client runs `sh` for every shell but PowerShell.
        return CommandSpec(command, shell="powershell" if fields.get("shell") == "powershell" else None)
    if any(_PLACEHOLDER.search(word) for word in (command, *args)):
        return CommandSpec(_as_line((command, *args)))
    return CommandSpec(command, tuple(args))


def _as_line(words: tuple[str, ...]) -> str:
    """Join the exec form for a shell that only fills in placeholders: the project is known per event."""
    return "exec " + " ".join("".join(map(_quoted, _PLACEHOLDER.split(word))) or "''" for word in words)


def _quoted(piece: str) -> str:
    if _PLACEHOLDER.fullmatch(piece):
        return f'"{piece}"'
    return "'" + piece.replace("'", "'\\''") + "'" if piece else ""


def _http(fields: Fields) -> HttpSpec:
    spec = family.http_spec(fields)
    return replace(spec, headers={name: _one_line(value) for name, value in spec.headers.items()})


def _one_line(value: str) -> str:
    return value.replace("\r", "").replace("\n", "").replace("\0", "")


def _prompt(fields: Fields) -> PromptSpec:
    prompt = _with_place(fields["prompt"])
    return PromptSpec(prompt, fields.get("model"), fields.get("continueOnBlock", False))


def _agent(fields: Fields) -> AgentSpec:
    return AgentSpec(_with_place(fields["prompt"]), fields.get("model"), 50)


def _with_place(prompt: str) -> str:
    """Add the payload below a prompt without a placeholder for it, as the client does."""
    placed = "$ARGUMENTS" in prompt.replace("\\$ARGUMENTS", "")
    return prompt if placed else f"{prompt}\n\nARGUMENTS: $ARGUMENTS"


def _tool_label(fields: Fields) -> str:
    server, tool = fields.get("server"), fields.get("tool")
    return shortened(f"{server}/{tool}") if isinstance(server, str) and isinstance(tool, str) else ""


KINDS: Final[Mapping[str, HookKind]] = MappingProxyType(
    {
        "command": HookKind(
            {
                "command": "text", "args": "a list of texts", "shell": "text", "async": "true or false",
                "asyncRewake": "true or false", "onFailure": "text",
            },
            _command, entry_label, ("command",),
        ),
        "http": HookKind(
            {**family.HTTP_FIELDS, "onFailure": "text"}, _http, labelled("url", url_label), ("url",)
        ),
        "mcp_tool": HookKind(
            {"server": "text", "tool": "text", "input": "an object"},
            family.mcp_tool_spec, _tool_label, ("server", "tool"), hosted=True,
        ),
        "prompt": HookKind(
            {"prompt": "text", "model": "text", "continueOnBlock": "true or false"},
            _prompt, labelled("prompt", shortened), ("prompt",), hosted=True,
        ),
        "agent": HookKind(
            {"prompt": "text", "model": "text"},
            _agent, labelled("prompt", shortened), ("prompt",), hosted=True,
        ),
    }
)  # fmt: skip


class HttpLimits(Struct, frozen=True):
    """The limits of http hooks by the settings of all levels together."""

    urls: tuple[str, ...] | None = None
    env: frozenset[str] | None = None


class EntryReader(family.EntryReader):
    file: "FileReader"
    dialect, common, kinds = NAME, COMMON, KINDS

    @property
    def row(self) -> EventRow:
        return ROWS[self.group.own_event.name]

    def find_kind(self) -> HookKind | None:
        kind = super().find_kind()
        if kind is None or self.kind in self.row.kinds:
            return kind
        message = f"{self.group.own_event.name} runs no {self.kind} hooks"
        self.say("error", "kind-not-here", message, "type", fix=f"one of {', '.join(self.row.kinds)}")
        return None

    def usual_timeout(self) -> float:
        return default_timeout(self.group.own_event.name, self.kind)

    def doubt_timeout(self, given: float) -> None:
        if given >= 3600 and given % 500 == 0:
            message = f"timeout is {given:g} seconds, which is {given / 3600:.1f} hours"
            fix, meant = f"{given / 1000:g}, if these are ms", family.milliseconds_meant(given)
            self.say("warning", "long-timeout", message, "timeout", fix=fix, repair=meant)

    def rule(self, text: str) -> Condition | None:
        tools = self.file.tools
        return read_if(text, tools.patterns, tools.shell, self.file.home)

    def details(self, waiting: Waiting) -> dict[str, Any]:
        if self.fields.get("shell", "bash") not in ("bash", "powershell"):
            message = f"shell is {self.fields['shell']!r}"
            self.say("error", "unknown-shell", message, "shell", fix="bash or powershell")
        return {
            "once": self._once(),
            "on_failure": self._on_failure(waiting),
            "identity": (self.file.env.get("CLAUDE_PLUGIN_ROOT"), *self._identity()),
        }

    def _identity(self) -> tuple[object, ...]:
        """Return the identity of a hook: its command, and `if`. Timeout, shell, matcher and file are not part
        of it."""
        fields, condition = self.fields, self.fields.get("if") or ""
        if self.kind == "command":
            args = fields.get("args")
            return self.kind, fields.get("command"), None if args is None else tuple(args), condition
        ran = tuple(fields.get(key) for key in KINDS[self.kind].required)
        return self.kind, *ran, repr(fields.get("input")), condition

    def _once(self) -> bool:
        """Return True for a skill's hooks with `once`, which join a session; those of settings files run each
        time."""
        if not self.fields.get("once"):
            return False
        if self.file.scope == "session":
            return True
        message = "once is read in a skill's hooks only"
        self.say("warning", "unread-field", message, "once", fix="remove once")
        return False

    def _on_failure(self, waiting: Waiting) -> Reaction | None:
        word = self.fields.get("onFailure")
        if word is None or word == "continue":
            return None
        if word != "block":
            message = f"onFailure is {word!r}"
            self.say("error", "bad-on-failure", message, "onFailure", fix="continue or block")
            return None
        if waiting != "wait" or not self.row.on_failure:
            where = "of an async hook" if waiting != "wait" else f"at {self.group.own_event.name}"
            self.say("warning", "unread-field", f"onFailure {where} is not read", "onFailure")
            return None
        return "block"

    def make_spec(self, kind: HookKind) -> Any:
        spec, usable = kind.spec(self.fields), self.file.limits.env
        if isinstance(spec, CommandSpec):
            return replace(spec, env=self.file.env) if self.file.env else spec
        if isinstance(spec, HttpSpec) and usable is not None:
            names = tuple(name for name in spec.allowed_env_vars if name in usable)
            return replace(spec, allowed_env_vars=names)
        return spec

    def why_broken(self, spec: Any) -> str | None:
        """Return why a valid entry may not run all the same. It stays, so that each of its runs reports it."""
        allowed = self.file.limits.urls
        if self.mistakes or allowed is None or not isinstance(spec, HttpSpec):
            return None
        try:
            if url_allowed(parse_url(spec.url), allowed):
                return None
        except UrlError as error:
            return str(error)
        message = "its url is not among allowedHttpHookUrls"
        self.say("warning", "url-not-allowed", message, "url", fix="add it to allowedHttpHookUrls")
        return message


class FileReader(family.FileReader):
    entry_reader = EntryReader
    null_matcher_is_absent = False

    def __init__(
        self,
        layer: Layer,
        tools: Tools,
        events: Mapping[str, DialectEvent],
        wire: Wire,
        limits: HttpLimits,
        home: str,
    ) -> None:
        super().__init__(layer, tools, events, wire)
        self.limits = limits
        self.home = home
        #: Variables that commands get besides the usual ones: the directory of their plugin.
        self.env = _plugin_env(layer)

    def check(self, settings: Fields) -> bool:
        disabled = settings.get("disableAllHooks")
        if disabled is not None and not isinstance(disabled, bool):
            message = "disableAllHooks is not true or false, so it is not read"
            self.report.say("error", "wrong-type", message, "disableAllHooks")
        for key in _LIMITS:
            instead = misshaped(settings[key], "a list of texts") if key in settings else None
            if instead is None:
                continue
            message = f"{key} is {instead}, so it allows nothing"
            if isinstance(settings[key], list):
                message = f"{key} holds something that is not text, which is ignored"
            self.report.say("error", "wrong-type", message, key, fix=f'"{key}": ["..."]')
        return True

    def read_matcher(self, own_event: DialectEvent, text: str) -> Matching:
        return read_matching(own_event.name, text, self.tools.patterns)


#: The levels that decide on a setting, the strongest first.
PRECEDENCE: Final[tuple[Scope, ...]] = ("managed", "flag", "local", "project", "user")
#: Lists that limit http hooks: their addresses, and their variables in a header.
_LIMITS: Final = ("allowedHttpHookUrls", "httpHookAllowedEnvVars")
#: The order in which hooks of the levels are listed.
_ORDER: Final[tuple[Scope, ...]] = ("managed", "user", "project", "local", "flag", "plugin", "session")


class Settings(Struct, frozen=True):
    """The settings of all levels about hooks as a whole."""

    disabled_by: Layer | None = None
    managed_only: bool = False
    limits: HttpLimits = HttpLimits()


def as_table(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def as_list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def table_of(layer: Layer) -> Mapping[str, Any]:
    return as_table(layer.document.value)


def settings_of(layers: Sequence[Layer]) -> Settings:
    by_scope = {layer.config_path.scope: layer for layer in layers}
    ranked = [by_scope[scope] for scope in PRECEDENCE if scope in by_scope]
    said = next((layer for layer in ranked if isinstance(table_of(layer).get("disableAllHooks"), bool)), None)
    disabled = said if said is not None and table_of(said)["disableAllHooks"] else None
    managed = by_scope.get("managed")
    managed_only = managed is not None and table_of(managed).get("allowManagedHooksOnly") is True
    urls, env = (_joined(layers, key) for key in _LIMITS)
    return Settings(disabled, managed_only, HttpLimits(urls, None if env is None else frozenset(env)))


def _joined(layers: Sequence[Layer], key: str) -> tuple[str, ...] | None:
    """Join the lists of all levels; None when no level has one. A value that is not a list allows nothing."""
    given = [table_of(layer)[key] for layer in layers if key in table_of(layer)]
    return tuple(word for some in given for word in as_list(some) if isinstance(word, str)) if given else None


class SettingsReader:
    """Reads the layers of one engine."""

    def __init__(
        self, events: Mapping[str, DialectEvent], wire: Wire, home: str, end_budget: float | None
    ) -> None:
        self._events = events
        self._wire = wire
        self._home = home
        self._end_budget = end_budget

    def read(self, layers: Sequence[Layer], tools: Tools) -> LoadedHooks:
        # Keys beside the hooks of a plugin or a skill are not settings.
        settings = settings_of([layer for layer in layers if layer.config_path.scope in PRECEDENCE])
        events = {**self._events, "SessionEnd": self._with_budget(self._events["SessionEnd"], layers)}
        hooks: list[Hook] = []
        diagnostics: list[Diagnostic] = []
        for layer in sorted(layers, key=lambda one: _ORDER.index(one.config_path.scope)):
            file = FileReader(layer, tools, events, self._wire, settings.limits, self._home)
            found = [hook for some in file.hooks().values() for hook in some]
            off = _switched_off(layer, settings)
            if off and found:
                place = "disableAllHooks" if settings.disabled_by is layer else "hooks"
                file.report.say("info", "disabled", off, place)
                found = []
            hooks.extend(found)
            diagnostics.extend(file.report.diagnostics)
        return LoadedHooks(tuple(hooks), tuple(diagnostics))

    def _with_budget(self, session_end: DialectEvent, layers: Sequence[Layer]) -> DialectEvent:
        """Return the event with the time that all SessionEnd hooks share: little, or the longest of their
        timeouts."""
        policy = session_end.policy
        if self._end_budget is not None:
            return session_end
        tables = (table_of(layer) for layer in layers if layer.config_path.scope != "plugin")
        asked = [timeout for table in tables for timeout in _session_end_timeouts(table)]
        longest = min(max(asked, default=0.0), SESSION_END_MOST)
        if longest <= (policy.budget or 0.0):
            return session_end
        return replace(session_end, policy=replace(policy, budget=longest))


def _session_end_timeouts(settings: Mapping[str, Any]) -> Iterator[float]:
    for group in as_list(as_table(settings.get("hooks")).get("SessionEnd")):
        for entry in as_list(as_table(group).get("hooks")):
            timeout = as_table(entry).get("timeout")
            if isinstance(timeout, int | float) and not isinstance(timeout, bool):
                yield float(timeout)


def _plugin_env(layer: Layer) -> Mapping[str, str]:
    """Return the variables of a plugin, by which its scripts find each other: `<plugin>/hooks/hooks.json`."""
    plugin = layer.config_path.plugin
    if plugin is not None:
        return {"CLAUDE_PLUGIN_ROOT": plugin.root, "CLAUDE_PLUGIN_DATA": plugin.data}
    if layer.config_path.scope != "plugin":
        return {}
    directory = layer.config_path.file.rpartition("/")[0]
    root = directory.rpartition("/")[0] if directory.endswith("/hooks") else directory
    return {"CLAUDE_PLUGIN_ROOT": root}


def _switched_off(layer: Layer, settings: Settings) -> str | None:
    managed = layer.config_path.scope == "managed"
    # For a plugin it depends on the level that enabled it: see plugins.
    if settings.managed_only and not managed and layer.config_path.plugin is None:
        return "allowManagedHooksOnly turns the hooks of this file off"
    by = settings.disabled_by
    if by is not None and (not managed or by.config_path.scope == "managed"):
        return f"disableAllHooks in {by.config_path.file} turns the hooks of this file off"
    return None
