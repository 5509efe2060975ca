"""The line at the bottom: model, mode, directory, what was used, hooks in force, what waits."""

from msgspec import Struct

from hookline.model.safe_text import one_line


class Facts(Struct, kw_only=True):
    """What the status line and the start screen say. Read while the agent changes it: each value is whole."""

    model: str = ""
    mode: str = ""
    directory: str = ""
    tokens: int = 0
    cost_usd: float | None = None
    hooks: int = 0
    #: Switched to shadow or off.
    not_enforced: int = 0
    #: Not trusted, so they do not run.
    untrusted: int = 0
    queued: int = 0
    state: str = "starting"
    hint: str = ""


def status_line(facts: Facts, width: int) -> str:
    """As much as fits, the most important parts first; the hint takes the place of everything else it needs."""
    parts = [
        (facts.hint, 0),
        (one_line(facts.model, 40), 1),
        (facts.mode, 1),
        (facts.state, 2),
        (f"{facts.queued} queued" if facts.queued else "", 2),
        (_hooks(facts), 3),
        (one_line(facts.directory, 30), 4),
        (_used(facts), 4),
        ("F2 hooks", 5),
    ]
    parts = [(text, rank) for text, rank in parts if text]
    while len(" · ".join(text for text, _rank in parts)) > width - 2 and len(parts) > 1:
        parts.remove(max(parts, key=lambda part: part[1]))
    return f" {one_line(' · '.join(text for text, _rank in parts), width - 2)}".ljust(width)


def _hooks(facts: Facts) -> str:
    if not facts.hooks:
        return "no hooks"
    notes = [
        f"{facts.not_enforced} not enforced" if facts.not_enforced else "",
        f"{facts.untrusted} untrusted" if facts.untrusted else "",
    ]
    more = ", ".join(filter(None, notes))
    return f"{facts.hooks} hook{'' if facts.hooks == 1 else 's'}{f' ({more})' if more else ''}"


def _used(facts: Facts) -> str:
    tokens = f"{facts.tokens}" if facts.tokens < 10_000 else f"{facts.tokens / 1000:.0f}k"
    cost = f" {facts.cost_usd:.4f} USD" if facts.cost_usd is not None else ""
    return f"{tokens} tok{cost}"
