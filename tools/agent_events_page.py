"""Write the table of all events of all agents: each agent's name for an event, beside Hookline's."""

from collections.abc import Iterator

from hookline.dialects.registry import OWN_FORMAT, standard_dialects
from hookline.schemas.agent_event import own_event
from tools.markdown import GENERATED, code, page, sentence, table


def agent_events_page() -> str:
    dialects = [listed.build() for name, listed in standard_dialects().items() if name != OWN_FORMAT]
    total = sum(len(each.events) for each in dialects)
    return page(
        "# All events of all agents",
        GENERATED,
        f"{total} events of {len(dialects)} agents, each by the agent's own name. The second table shows "
        "which agents have an event in common. `hookline events EVENT --dialect NAME` prints all about one: its "
        "payload, its answers, its exit codes.",
        table(
            ("agent", "event", "Hookline's name", "hooks may", "waits", "fires"),
            (row for dialect in dialects for row in _rows(dialect.name, dialect.title)),
        ),
        "## By Hookline's event",
        table(("Hookline's event", "agents that have it, and what they call it"), _by_event()),
    )


def _rows(name: str, title: str) -> Iterator[tuple[str, ...]]:
    dialect = standard_dialects()[name].build()
    for own_name in dialect.events:
        own = own_event(dialect, own_name)
        may = ", ".join(own.may) or "observe"
        yield (
            title,
            code(own_name),
            ", ".join(map(_linked, own.hookline)),
            may,
            "yes" if own.waits else "no",
            sentence(own.fires),
        )


def _by_event() -> Iterator[tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for name, listed in standard_dialects().items():
        dialect = listed.build()
        for own_name in dialect.events if name != OWN_FORMAT else ():
            for event in own_event(dialect, own_name).hookline:
                found.setdefault(event, []).append(f"{dialect.title} {code(own_name)}")
    for event, agents in sorted(found.items(), key=lambda each: (-len(each[1]), each[0])):
        yield _linked(event), ", ".join(agents)


def _linked(event: str) -> str:
    return f"[{code(event)}](events.md#{event.lower()})"
