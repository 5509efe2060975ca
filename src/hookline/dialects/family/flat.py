"""Read flat lists of entries: an event has a list of entries, and each of them its own matcher."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hookline.dialects.dialect import DialectEvent, Layer, LoadedHooks, Tools
from hookline.dialects.family import settings
from hookline.dialects.family.settings import Fields, FileLayout
from hookline.model.diagnostics import Path
from hookline.model.hook import Hook
from hookline.model.wire import Wire


class FlatFileReader(settings.FileReader):
    """A reader of a file without groups."""

    layouts = (FileLayout(("entries",)),)

    def event_hooks(self, own_event: DialectEvent, groups: Any, path: Path) -> Sequence[Hook] | None:
        if not isinstance(groups, list):
            message = f"{own_event.name} is not a list of hooks"
            return self.refuse(own_event, "not-a-list", message, path) or None
        entries = cast("list[Any]", groups)
        return [
            hook for at, each in enumerate(entries) for hook in self.flat_hooks(own_event, each, (*path, at))
        ]

    def flat_hooks(self, own_event: DialectEvent, entry: Any, path: Path) -> Sequence[Hook]:
        if not isinstance(entry, dict):
            return self.refuse(own_event, "not-an-object", "a hook is not an object", path)
        table = cast("Fields", entry)
        if isinstance(table.get("hooks"), list) and "command" not in table:
            return self.grouped(own_event, table, path)
        group = self.shared(own_event, table, path)
        if group.matching.broken is not None:
            return ()
        rest = {key: value for key, value in table.items() if key != "matcher"}
        return self.entry_hooks(group, rest, path)

    def grouped(self, own_event: DialectEvent, table: Fields, path: Path) -> Sequence[Hook]:
        """Read an entry in the form of a group, which this agent does not have."""
        del table
        message = "its entries have no groups: this one has a list of hooks and no command"
        return self.refuse(
            own_event, "grouped-entry", message, path, fix="write each entry into the event's list"
        )


def all_layers(
    reader: type[settings.FileReader],
    layers: Sequence[Layer],
    tools: Tools,
    events: Mapping[str, DialectEvent],
    wire: Wire,
) -> LoadedHooks:
    """Read every layer: the hooks of all of them add up."""
    files = [reader(layer, tools, events, wire) for layer in layers]
    hooks = [hook for file in files for some in file.hooks().values() for hook in some]
    return LoadedHooks(tuple(hooks), tuple(one for file in files for one in file.report.diagnostics))
