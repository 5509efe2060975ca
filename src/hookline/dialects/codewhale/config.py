"""CodeWhale's configuration: `[hooks]` of the user's config.toml, files of plugins, a project's hooks.toml.

The entries of all of them are one list, in that order. What holds for all hooks (on or off, the timeout that
replaces all others, the working directory) is the user's alone to say.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects.codewhale.entry import SETTINGS, EntryReader, Surroundings
from hookline.dialects.dialect import Layer, Reading, Spelled, Tools
from hookline.dialects.reporting import Report
from hookline.model.diagnostics import Diagnostic, Path
from hookline.model.hook import Hook, Scope
from hookline.model.wire import Wire

Layout = Literal["user", "plugin", "project"]

_LAYOUTS: Mapping[Scope, Layout] = {"plugin": "plugin", "project": "project", "local": "project"}
#: Layers run in this order, whatever order they are given in; several of one kind in the order given.
_ORDER: tuple[Layout, ...] = ("user", "plugin", "project")


class Settings(Struct):
    """What holds for all hooks."""

    enabled: bool = True
    timeout: float | None = None
    working_dir: str | None = None


class _Table(Struct, frozen=True):
    """Where the entries of one file stand, and its own settings."""

    entries: Sequence[Any]
    path: Path
    settings: Mapping[str, Any]


def layout_of(layer: Layer) -> Layout:
    """By where the file was found; a file somebody named may have either shape, so its shape tells."""
    scope = layer.place.scope
    if scope in _LAYOUTS:
        return _LAYOUTS[scope]
    if scope in ("flag", "session") and isinstance(_under_hooks(layer.document.value), list):
        return "project"
    return "user"


def read_layers(
    layers: Sequence[Layer], tools: Tools, spellings: Mapping[str, Spelled], wire: Wire
) -> Reading:
    ordered = sorted(layers, key=lambda layer: _ORDER.index(layout_of(layer)))
    settings = Settings()
    hooks: list[Hook] = []
    diagnostics: list[Diagnostic] = []
    for layer in ordered:
        report = Report(layer.document)
        around = Surroundings(tools.handlers, wire, spellings, layer.place.scope, report)
        hooks.extend(_LayerReading(layer, layout_of(layer), around, settings).hooks())
        diagnostics.extend(report.diagnostics)
    diagnostics.extend(_silent_in_codewhale(ordered))
    if not settings.enabled:
        return Reading((), tuple(diagnostics))
    return Reading(tuple(_settled(hook, settings) for hook in hooks), tuple(diagnostics))


def _settled(hook: Hook, settings: Settings) -> Hook:
    """With what the user says for all hooks: there, a timeout for all replaces each hook's own."""
    changes: dict[str, Any] = {}
    if settings.timeout is not None:
        changes["timeout"] = settings.timeout
    if settings.working_dir is not None:
        changes["spec"] = replace(hook.spec, cwd=settings.working_dir)
    return replace(hook, **changes) if changes else hook


def _under_hooks(value: Any) -> Any:
    return cast("Mapping[str, Any]", value).get("hooks") if isinstance(value, Mapping) else None


def _silent_in_codewhale(layers: Sequence[Layer]) -> list[Diagnostic]:
    """A project's hooks beside a config.toml without `[hooks]`: they run here, and would not run there."""
    users = [layer for layer in layers if layout_of(layer) == "user" and layer.document.value is not None]
    others = [layer for layer in layers if layout_of(layer) != "user" and _under_hooks(layer.document.value)]
    if not users or not others or any(_under_hooks(layer.document.value) is not None for layer in users):
        return []
    message = "CodeWhale itself runs no hooks while this file has no [hooks] table; Hookline does"
    where = users[0].document.where()
    return [Diagnostic("info", "off-in-codewhale", message, where, fix="add [hooks] to switch them on there")]


class _LayerReading:
    """One file being read."""

    def __init__(self, layer: Layer, layout: Layout, around: Surroundings, settings: Settings) -> None:
        self._document = layer.document
        self._layout = layout
        self._around = around
        self._report = around.report
        self._settings = settings
        #: What a plugin's file says for its own hooks.
        self._own_timeout: float | None = None

    def hooks(self) -> list[Hook]:
        table = self._table()
        if table is None:
            return []
        switched_on = self._read_settings(table)
        found = [self._hook(entry, (*table.path, index)) for index, entry in enumerate(table.entries)]
        return [hook for several in found for hook in several] if switched_on else []

    def _table(self) -> _Table | None:
        value = self._document.value
        if value is None:
            return None
        if not isinstance(value, Mapping):
            self._report.say("error", "not-a-table", "the file does not hold a table with hooks in it")
            return None
        root = cast("Mapping[str, Any]", value)
        return self._user_table(root) if self._layout == "user" else self._own_table(root)

    def _user_table(self, root: Mapping[str, Any]) -> _Table | None:
        """`[hooks]` beside the agent's other settings."""
        if "hooks" not in root:
            return None
        hooks = root["hooks"]
        if isinstance(hooks, list):
            message = "hooks is a list here, and only a project's hooks.toml has it so"
            self._report.say("error", "not-a-table", message, "hooks", fix="[[hooks.hooks]]")
            return None
        if not isinstance(hooks, Mapping):
            self._report.say("error", "not-a-table", "hooks is not a table", "hooks", fix="[hooks]")
            return None
        settings = cast("Mapping[str, Any]", hooks)
        for key in settings:
            if key != "hooks" and key not in SETTINGS:
                known = [*SETTINGS, "hooks"]
                self._report.unknown("field", key, known, "hooks", key, severity="warning")
        return _Table(self._entries(settings, "hooks", "hooks"), ("hooks", "hooks"), settings)

    def _own_table(self, root: Mapping[str, Any]) -> _Table | None:
        """A file that holds nothing but hooks, with the entries at its root."""
        if isinstance(root.get("hooks"), Mapping):
            message = "hooks is a table here, as in config.toml; this file lists its hooks at the root"
            self._report.say("error", "not-a-list", message, "hooks", fix="[[hooks]]")
            return None
        for key in root:
            if key != "hooks" and key not in SETTINGS:
                known = [*SETTINGS, "hooks"]
                self._report.unknown("field", key, known, key, severity="warning")
        return _Table(self._entries(root, "hooks"), ("hooks",), root)

    def _entries(self, table: Mapping[str, Any], *path: str) -> Sequence[Any]:
        entries = table.get("hooks", ())
        if isinstance(entries, list | tuple):
            return cast("Sequence[Any]", entries)
        fix = f"[[{'.'.join(path)}]]"
        self._report.say("error", "not-a-list", f"{'.'.join(path)} is not a list of hooks", *path, fix=fix)
        return ()

    def _read_settings(self, table: _Table) -> bool:
        """Whether the file's hooks are in force."""
        root = table.path[:-1]
        given = {key: value for key, value in table.settings.items() if key in SETTINGS}
        if self._layout == "project":
            for key in given:
                message = f"{key} is not read in a project's file: only your own config.toml sets it"
                self._report.say("warning", "unread-field", message, *root, key, fix=f"remove {key}")
            return True
        good, _ = self._report.fields(given, SETTINGS, *root)
        enabled = good.get("enabled", True)
        timeout = self._timeout_for_all(good.get("default_timeout_secs"), *root)
        working_dir = good.get("working_dir") or None
        if not enabled:
            what = "all hooks" if self._layout == "user" else "the hooks of this file"
            self._report.say("info", "disabled", f"enabled = false turns {what} off", *root, "enabled")
        if self._layout == "plugin":
            return self._read_plugin_settings(enabled, timeout, working_dir, *root)
        self._settings.enabled = enabled
        self._settings.timeout = timeout
        self._settings.working_dir = working_dir
        return enabled

    def _read_plugin_settings(
        self, enabled: bool, timeout: float | None, working_dir: str | None, *root: str | int
    ) -> bool:
        self._own_timeout = timeout
        if working_dir is not None:
            message = "a plugin's file may not say where hooks run"
            fix = "remove working_dir"
            self._report.say("error", "unread-field", message, *root, "working_dir", fix=fix)
        return enabled

    def _timeout_for_all(self, seconds: Any, *root: str | int) -> float | None:
        if seconds is None:
            return None
        if seconds <= 0:
            message = f"default_timeout_secs is {seconds}, not seconds above 0, so it is not used"
            fix = "leave it out to let each hook keep its own timeout"
            self._report.say("error", "bad-timeout", message, *root, "default_timeout_secs", fix=fix)
            return None
        return self._around.seconds("default_timeout_secs", seconds, *root, "default_timeout_secs")

    def _hook(self, entry: Any, path: Path) -> Sequence[Hook]:
        if not isinstance(entry, Mapping):
            self._report.say("error", "not-a-table", "a hook is not a table", *path)
            return ()
        hooks = EntryReader(self._around, cast("Mapping[str, Any]", entry), path).hooks()
        if self._own_timeout is None:
            return hooks
        return [replace(hook, timeout=self._own_timeout) for hook in hooks]
