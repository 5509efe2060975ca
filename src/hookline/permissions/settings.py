"""Read the `permissions` of a settings file: rules, mode and directories, each mistake with its position."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from msgspec import Struct

from hookline.matching.nearest import nearest
from hookline.model.diagnostics import Path
from hookline.model.safe_text import one_line
from hookline.permissions.modes import MODES, ModeName, mode_of
from hookline.permissions.rules import BEHAVIORS, Behavior, PermissionRule, RuleReader, RuleSet

_KEYS = (*BEHAVIORS, "defaultMode", "additionalDirectories")
#: Keys that are ignored in a file that the user has not trusted.
LOOSENING = ("allow", "defaultMode", "additionalDirectories")
#: Keys of other agents that have no meaning here and are not mistakes.
_IGNORED = frozenset(("disableBypassPermissionsMode", "disableAutoMode"))


class SettingsProblem(Struct, frozen=True):
    """A mistake, and the path to it in the document."""

    path: Path
    message: str


class PermissionSettings(NamedTuple):
    rules: RuleSet
    mode: ModeName | None
    directories: tuple[str, ...]
    problems: tuple[SettingsProblem, ...]


def permission_settings(
    document: Any, source: str, *, reader: RuleReader | None = None, trusted: bool = True
) -> PermissionSettings:
    """Read the permissions in a settings document. Everything else in it, right or wrong, has no effect.

    A file that is not trusted can only tighten: its deny and ask rules hold, and nothing else.
    """
    reading = _Reading(source, reader if reader is not None else RuleReader())
    section = reading.section(document)
    if not trusted:
        section = {name: value for name, value in section.items() if name not in LOOSENING}
    for behavior in BEHAVIORS:
        reading.list_of_rules(behavior, section.get(behavior))
    mode = reading.mode(section.get("defaultMode"))
    directories = tuple(reading.directories(section.get("additionalDirectories")))
    reading.unknown_keys(section)
    return PermissionSettings(reading.rules, mode, directories, tuple(reading.problems))


class _Reading:
    """One document while it is read."""

    def __init__(self, source: str, reader: RuleReader) -> None:
        self._source = source
        self.rules = RuleSet(reader=reader)
        self.problems: list[SettingsProblem] = []

    def section(self, document: Any) -> Mapping[str, Any]:
        if not isinstance(document, Mapping):
            self._wrong("the settings are not an object")
            return {}
        section: Any = cast("Mapping[str, Any]", document).get("permissions")
        if section is None:
            return {}
        if not isinstance(section, Mapping):
            self._wrong("permissions is not an object, so its rules are not known", "permissions")
            return {}
        return cast("Mapping[str, Any]", section)

    def list_of_rules(self, behavior: Behavior, given: Any) -> None:
        found: list[PermissionRule] = []
        for place, text in self._items(behavior, given):
            rule, problem = self.rules.read(behavior, text, self._source)
            if problem is not None:
                self._wrong(problem, *place)
            if rule is not None:
                found.append(rule)
        self.rules = self.rules.with_rule(*found)

    def mode(self, given: Any) -> ModeName | None:
        if given is None:
            return None
        known = mode_of(given) if isinstance(given, str) else None
        if known is None:
            shown = one_line(given, 60) if isinstance(given, str) else type(given).__name__
            self._wrong(
                f"no permission mode is called {shown!r}; there are: {', '.join(MODES)}",
                "permissions",
                "defaultMode",
            )
        return known

    def directories(self, given: Any) -> Iterator[str]:
        for place, directory in self._items("additionalDirectories", given):
            if not isinstance(directory, str) or not directory:
                self._wrong("this is not the path of a directory", *place)
            else:
                yield directory

    def unknown_keys(self, section: Mapping[str, Any]) -> None:
        for key in section:
            if key not in _KEYS and key not in _IGNORED:
                meant = nearest(str(key), _KEYS)
                hint = f"; did you mean {meant!r}?" if meant else f"; there are: {', '.join(_KEYS)}"
                self._wrong(
                    f"nothing is called {one_line(str(key), 60)!r} here{hint}", "permissions", str(key)
                )

    def _items(self, name: str, given: Any) -> Iterator[tuple[Path, Any]]:
        """Yield each item with its path. One text where a list belongs is taken as a list of it."""
        if given is None:
            return
        if isinstance(given, str):
            self._wrong(f"{name} is a text, not a list; it is read as a list of one", "permissions", name)
            yield ("permissions", name), given
        elif isinstance(given, list | tuple):
            for at, item in enumerate(cast("list[Any]", given)):
                yield ("permissions", name, at), item
        else:
            self._wrong(f"{name} is not a list", "permissions", name)

    def _wrong(self, message: str, *path: str | int) -> None:
        self.problems.append(SettingsProblem(path, message))
