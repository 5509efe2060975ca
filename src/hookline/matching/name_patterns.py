"""Match names against patterns of a shell: `*`, `?` and `[a-z]`, as `fnmatch` does.

Callers choose the patterns, so none is compiled or kept, and a long one takes no longer than to read it once.
"""

from functools import lru_cache

#: No file has a longer name.
LONGEST_NAME = 255
_STAR, _ANY = "*", "?"


def name_fits(name: str, pattern: str, longest: int = LONGEST_NAME) -> bool:
    """Return True if the pattern matches the name, which has at most `longest` characters."""
    parts = _parts(pattern, longest)
    if parts is None or len(parts) - parts.count(_STAR) > len(name):
        return False
    at = place = 0
    #: The last star, and how much of the name it matches.
    star = taken = -1
    while place < len(name):
        if at < len(parts) and parts[at] == _STAR:
            star, taken, at = at, place, at + 1
        elif at < len(parts) and _is_one(name[place], parts[at]):
            at, place = at + 1, place + 1
        elif star >= 0:
            taken += 1
            at, place = star + 1, taken
        else:
            return False
    return all(part == _STAR for part in parts[at:])


@lru_cache(maxsize=32)
def _parts(pattern: str, longest: int) -> tuple[str, ...] | None:
    """Return its stars, its letters (behind a `=`) and its classes (behind a `[`); None if no name is that long."""
    parts: list[str] = []
    at, letters = 0, 0
    closes = True
    while at < len(pattern):
        sign = pattern[at]
        end = _end_of_class(pattern, at) if sign == "[" and closes else -1
        # If this one is never closed, no other one is.
        closes = closes and (sign != "[" or end >= 0)
        if sign != _STAR:
            letters += 1
            parts.append(_ANY if sign == _ANY else f"[{pattern[at + 1 : end]}" if end >= 0 else f"={sign}")
        elif parts[-1:] != [_STAR]:
            parts.append(_STAR)
        if letters > longest:
            return None
        at = max(at, end) + 1
    return tuple(parts)


def _end_of_class(pattern: str, at: int) -> int:
    at += 1
    at += pattern.startswith("!", at)
    return pattern.find("]", at + pattern.startswith("]", at))


def _is_one(letter: str, part: str) -> bool:
    if part[0] != "[":
        return part in (_ANY, f"={letter}")
    inside = part[1:]
    negated = inside.startswith("!")
    return _is_in(letter, inside[negated:]) is not negated


def _is_in(letter: str, members: str) -> bool:
    at = 0
    while at < len(members):
        if members[at + 1 : at + 2] == "-" and at + 2 < len(members):
            if members[at] <= letter <= members[at + 2]:
                return True
            at += 3
        elif members[at] == letter:
            return True
        else:
            at += 1
    return False
