"""Claude Code's settings files: hooks of all levels add up, other settings override by level."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.claude_code.entry import Around, EntryReader, Group, HttpLimits
from hookline.dialects.claude_code.matchers import Judged, judged
from hookline.dialects.claude_code.vocabulary import ROWS, SESSION_END_MOST
from hookline.dialects.dialect import Layer, Reading, Spelled, Tools
from hookline.dialects.reporting import Report
from hookline.documents.shapes import misshaped
from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.hook import Hook, Matcher, Scope
from hookline.model.policy import Policy
from hookline.model.wire import Wire

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
        self, spellings: Mapping[str, Spelled], wire: Wire, home: str, end_budget: float | None
    ) -> None:
        self._spellings = spellings
        self._wire = wire
        self._home = home
        self._end_budget = end_budget

    def read(self, layers: Sequence[Layer], tools: Tools) -> Reading:
        settings = settings_of(layers)
        policies = {name: spelled.policy for name, spelled in self._spellings.items()}
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
