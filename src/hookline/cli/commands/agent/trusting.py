"""Before a session: what the project brings that the user has not trusted."""

from collections.abc import Iterable, Sequence

from hookline.cli.text import count_of
from hookline.config.load import Loaded
from hookline.config.trust.items import ItemKind, TrustItem
from hookline.config.trust.trust import Trust, only_tightens
from hookline.model.hook import Hook
from hookline.model.safe_text import one_line

_LONGEST = 400
_WORDS: dict[ItemKind, str] = {
    "hook": "hook",
    "server": "MCP server",
    "definition": "agent",
    "settings": "setting",
}


def untrusted(
    trust: Trust, loaded: Loaded, hooks: Iterable[Hook], others: Sequence[TrustItem]
) -> list[TrustItem]:
    """What does not run or count. A hook that only tightens does count."""
    if trust.vouched:
        return []
    held = [hook for hook in hooks if hook.mode != "off" and not trust.standing(hook).runs]
    items = [trust.item(hook) for hook in held if not only_tightens(hook)]
    return [*items, *(item for item in (*loaded.loosening, *others) if not trust.allows(item))]


def notice(items: Sequence[TrustItem]) -> str:
    """One line about what does not run."""
    parts: list[str] = []
    for kind, word in _WORDS.items():
        of_kind = [item for item in items if item.kind == kind]
        if of_kind:
            files = ", ".join(dict.fromkeys(item.file for item in of_kind))
            parts.append(f"{count_of(len(of_kind), word)} ({files})")
    what = one_line("; ".join(parts), _LONGEST)
    return f"not trusted, so not used: {what}. Run `hookline trust` to see it and decide"
