"""What changed in a text, as hunks."""

from collections.abc import Sequence
from typing import Any, Final

_CONTEXT: Final = 3
#: More changed lines than this are told as one hunk: finding the smallest change costs more than it is worth.
_MOST_COMPARED: Final = 2000

Hunk = dict[str, Any]
#: Places in the old and the new lines that differ: from, to, from, to.
Change = tuple[int, int, int, int]


def structured_patch(old: str, new: str) -> list[Hunk]:
    """Hunks with three lines around each change; empty when nothing changed."""
    before, after = _lines(old), _lines(new)
    return [_hunk(before, after, group) for group in _grouped(_changes(before, after))]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """Where they differ. What is the same at both ends is set aside first, which is nearly everything."""
    same = 0
    shortest = min(len(before), len(after))
    while same < shortest and before[same] == after[same]:
        same += 1
    same_end = 0
    while same_end < shortest - same and before[-1 - same_end] == after[-1 - same_end]:
        same_end += 1
    end_before, end_after = len(before) - same_end, len(after) - same_end
    if same == end_before and same == end_after:
        return []
    whole = (same, end_before, same, end_after)
    if same in (end_before, end_after) or end_before + end_after - 2 * same > _MOST_COMPARED:
        return [whole]
    # Only for a change in several places: 4 ms to load.
    from difflib import SequenceMatcher  # noqa: PLC0415 see above

    matcher = SequenceMatcher(None, before[same:end_before], after[same:end_after])
    return [
        (same + a, same + b, same + c, same + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _grouped(changes: Sequence[Change]) -> list[list[Change]]:
    """Changes whose surroundings touch belong to one hunk."""
    groups: list[list[Change]] = []
    for change in changes:
        if groups and change[0] - groups[-1][-1][1] <= 2 * _CONTEXT:
            groups[-1].append(change)
        else:
            groups.append([change])
    return groups


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[Change]) -> Hunk:
    start = max(group[0][0] - _CONTEXT, 0)
    end = min(group[-1][1] + _CONTEXT, len(before))
    lines: list[str] = []
    at = start
    for a, b, c, d in group:
        lines += [f" {line}" for line in before[at:a]]
        lines += [f"-{line}" for line in before[a:b]]
        lines += [f"+{line}" for line in after[c:d]]
        at = b
    lines += [f" {line}" for line in before[at:end]]
    new_start = group[0][2] - (group[0][0] - start)
    new_end = group[-1][3] + (end - group[-1][1])
    return {
        "oldStart": start + 1,
        "oldLines": end - start,
        "newStart": new_start + 1,
        "newLines": new_end - new_start,
        "lines": lines,
    }
