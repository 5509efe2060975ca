"""How much of what hooks are given is in the transcripts of each agent: docs/reference/transcripts.md."""

from collections.abc import Iterator

from hookline.dialects.registry import standard_dialects
from tests.transcripts.rebuilt import FOLDERS, NO_TRACE, NOT_THERE, RELEASES, Compared, compared
from tools.markdown import GENERATED, code, page, table

_HEAD = """# What transcripts say

`hookline backtest` and `hookline observed` go by the transcripts of your agents. How close is what they rebuild to
what a hook was really given? Sessions of the real agents were recorded together with every payload that their hooks
got, and each payload is compared with the one that is rebuilt from the transcript of its session, field by field. A
field is a key of the payload with all that is in it; of the paths of transcripts only the names of the files are
compared. A test holds every agent to 98 % or more.

The sessions are in [tests/transcripts/recorded](../../tests/transcripts/recorded): shell calls, edits, patches and
reads, calls that failed, were denied or not approved, MCP servers, plan mode, sub-agents, and a resumed session."""

_GONE = """## What no transcript says

Hooks that judge by one of these cannot be judged by looking back. The fields are left out of the figures above."""

_DIFFERENT = "## What is rebuilt in another way"


def transcripts_page() -> str:
    found = {client: compared(client) for client in FOLDERS}
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
            where = "all that have it" if event == "*" else event.replace("SUBAGENT ", "of a sub-agent: ")
            yield _title(client), where, code(key), str(each.listed[event, key]), why
        for event in sorted(NO_TRACE[client]):
            yield _title(client), event, "all", str(each.no_trace[event]), "the event leaves no trace"
