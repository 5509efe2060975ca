"""Find what a project has that the user has not trusted, before a session."""

import os
from collections.abc import Sequence

from hookline.agent.include_items import LABEL
from hookline.agent.project_items import project_items
from hookline.cli.text import count_of
from hookline.config.engine import Engine
from hookline.config.load import Loaded
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line
from hookline.trust.items import ItemKind, TrustItem
from hookline.trust.trust import Trust

_LONGEST = 400
_WORDS: dict[ItemKind, str] = {"hook": "hook", "server": "MCP server", "settings": "setting"}


class UntrustedItems:
    """Items of a project that wait for the user's decision."""

    def __init__(
        self, trust: Trust, loaded: Loaded, dormant: Sequence[Hook], others: Sequence[TrustItem]
    ) -> None:
        self.trust = trust
        self.loaded = loaded
        self.dormant = dormant
        self.others = others
        items = [trust.item(hook) for hook in (*loaded.hooks, *dormant) if trust.holds_back(hook)]
        self._items = [*items, *(item for item in (*loaded.loosening, *others) if not trust.allows(item))]

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def at_start(self) -> bool:
        """True if some of them are read only when a session starts: all but hooks."""
        return any(item.kind != "hook" for item in self._items)

    @property
    def notice(self) -> str:
        """Return one line about what does not run."""
        parts: list[str] = []
        including = [item for item in self._items if item.label == LABEL]
        for kind, word in _WORDS.items():
            of_kind = [item for item in self._items if item.kind == kind and item not in including]
            if of_kind:
                files = ", ".join(dict.fromkeys(item.file for item in of_kind))
                parts.append(f"{count_of(len(of_kind), word)} ({files})")
        if including:
            parts.append(f"files included by {', '.join(dict.fromkeys(item.file for item in including))}")
        what = one_line("; ".join(parts), _LONGEST)
        return f"not trusted, so not used: {what}. Run `hookline trust` to see it and decide"


def waiting_in(
    cwd: str, engine: Engine, trust: Trust, loaded: Loaded, names: Sequence[str] | None, *, hooks: bool
) -> UntrustedItems:
    """Find the items. `loaded` is what is active; `hooks` is False where no hook runs at all."""
    if trust.trusts_all:
        return UntrustedItems(trust, Loaded(), (), ())
    dormant = engine.loader.dormant(cwd, names, trust).files if hooks else ()
    joining = [hook for file in dormant if file.used and not file.off for hook in file.hooks]
    return UntrustedItems(trust, loaded, joining, project_items(cwd, os.environ, trust))
