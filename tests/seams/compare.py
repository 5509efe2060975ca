"""Compare what hooks got, field by field, with what happened. A field that nothing is compared with is a failure."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.seams.played import Dump, ModelKind, Played, dump_command, play

#: The field must not be there.
ABSENT = object()
#: What a field must be: a value, or a function that says whether it is right.
Wanted = Mapping[str, Any]


class Seam(Struct, frozen=True, kw_only=True):
    """The hooks of one format, and what each of its events has to say."""

    dialect: str
    config: str
    #: The file, given a command for each event.
    write: Callable[[Mapping[str, str]], str]
    #: By event: every field that the format's own tables have for it.
    documented: Mapping[str, frozenset[str]]
    #: By event: what was known at the chosen one.
    wanted: Callable[[Played], Mapping[str, Wanted]]
    #: Events that no such session has.
    never: frozenset[str] = frozenset()
    #: The index of the chosen event; the first by default.
    chosen: Mapping[str, Callable[[Dump], bool]] = {}
    #: What a hook got, as fields.
    fields: Callable[[Dump], Mapping[str, Any]] = lambda dump: dump.document


def played(seam: Seam, kind: ModelKind, directory: Path) -> Played:
    dumps = directory / "dumps"
    dumps.mkdir()
    text = seam.write({event: dump_command(dumps, event) for event in seam.documented})
    return play(directory, kind, dialect=seam.dialect, config=seam.config, files={seam.config: text})


def problems(seam: Seam, session: Played) -> list[str]:
    """All that is wrong, one line each."""
    wanted = seam.wanted(session)
    seen = {dump.event for dump in session.dumps}
    found = [
        f"{event} did not fire: play it, or name it in ELSEWHERE"
        for event in seam.documented
        if event not in seen | seam.never
    ]
    found += [f"{event} fired, and is said not to" for event in sorted(seen & seam.never)]
    for event, documented in seam.documented.items():
        if event in seen:
            found += _of_event(seam, session, event, documented, wanted.get(event, {}))
    return found


def _of_event(
    seam: Seam, session: Played, event: str, documented: frozenset[str], wanted: Wanted
) -> list[str]:
    chosen = seam.chosen.get(event, lambda _: True)
    dump = next((each for each in session.of(event) if chosen(each)), None)
    if dump is None:
        return [f"{event}: none is as expected"]
    got = seam.fields(dump)
    found = [f"{event}.{name}: compared with nothing" for name in sorted(documented - set(wanted))]
    found += [f"{event}.{name}: not documented" for name in sorted(set(got) - documented)]
    for name, value in wanted.items():
        if name not in documented:
            found.append(f"{event}.{name}: is compared, and not documented")
        elif value is ABSENT:
            found += [f"{event}.{name}: is {_short(got[name])}, and nothing is known"] if name in got else []
        elif name not in got:
            found.append(f"{event}.{name}: is missing")
        elif not (value(got[name]) if callable(value) else got[name] == value):
            found.append(
                f"{event}.{name}: is {_short(got[name])}, not {'right' if callable(value) else _short(value)}"
            )
    return found


def _short(value: Any) -> str:
    return json.dumps(value, default=str)[:300]


def is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_time(value: str) -> bool:
    return value.startswith("20") and value.endswith(("Z", "+00:00"))


def is_id(value: str) -> bool:
    return len(value) == len("00000000-0000-0000-0000-000000000000")


def holds(text: str) -> Callable[[str], bool]:
    def check(value: str) -> bool:
        return text in value

    return check


def has(**fields: Any) -> Callable[[Dump], bool]:
    """Return True if a hook's document has these values."""

    def check(dump: Dump) -> bool:
        return all(dump.document.get(name) == value for name, value in fields.items())

    return check


def known(counts: Mapping[str, Any]) -> dict[str, Any]:
    """Drop unknown values."""
    return {name: value for name, value in counts.items() if value is not None}


def or_absent(value: Any) -> Any:
    return ABSENT if value is None else value
