"""Write docs/reference/transcripts.md: how much of each payload the transcripts of each agent contain."""

from collections.abc import Iterator

from hookline.dialects.registry import standard_dialects
from tests.history.transcripts.rebuilt import DIRECTORIES, NO_TRACE, NOT_THERE, RELEASES, Compared, compared
from tools.markdown import GENERATED, code, page, table

_HEAD = """# Transcripts

`hookline backtest` and `hookline coverage` read the transcripts of your agents. How close are the rebuilt payloads to
the real ones? We recorded sessions of the real agents together with every payload of their hooks. A test rebuilds each
payload from the transcript of its session and compares both, field by field. A
field is a key of the payload with everything in it; of the paths of transcripts the test compares only the file names.
It requires 98 % or more for every agent.

The sessions are in [tests/history/transcripts/recorded](../../tests/history/transcripts/recorded):
shell calls, edits, patches and
reads, calls that failed, were denied or not approved, MCP servers, plan mode, subagents, and a resumed session."""

_GONE = """## Fields that no transcript has

A backtest cannot judge hooks that depend on one of these fields. The figures above leave them out."""

_DIFFERENT = "## Rebuilt with differences"


def transcripts_page() -> str:
    found = {client: compared(client) for client in DIRECTORIES}
    figures = ("agent", "release", "sessions", "payloads", "fields that can be rebuilt", "equal", "%")
    different = [(_title(client), one) for client, each in found.items() for one in each.different]
    return page(
        GENERATED,
        _HEAD,
        table(figures, (_figures(client, each) for client, each in found.items())),
        _DIFFERENT,
        table(("agent", "field"), different) if different else "Nothing.",
        _GONE,
        table(("agent", "event", "field", "payloads", "why"), _gone(found)),
    )


def _title(client: str) -> str:
    return standard_dialects()[client].build().title


def _figures(client: str, found: Compared) -> tuple[str, ...]:
    counts = (found.sessions, found.payloads, found.recoverable, found.same)
    return (_title(client), RELEASES[client], *map(str, counts), f"{found.percent:.1f}")


def _gone(found: dict[str, Compared]) -> Iterator[tuple[str, ...]]:
    for client, each in found.items():
        for (event, key), why in NOT_THERE[client].items():
            where = "all that have it" if event == "*" else event.replace("SUBAGENT ", "of a subagent: ")
            yield _title(client), where, code(key), str(each.listed[event, key]), why
        for event in sorted(NO_TRACE[client]):
            yield _title(client), event, "all", str(each.no_trace[event]), "the event leaves no trace"
