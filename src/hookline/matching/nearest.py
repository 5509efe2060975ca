"""Find the name that was probably meant."""

from collections.abc import Iterable


def nearest(word: str, choices: Iterable[str], alike: float = 0.6) -> str | None:
    """Return the choice most similar to the word; None when none is at least `alike` similar. Case is ignored."""
    wanted = word[:200].casefold()
    size, ceiling = len(wanted), alike / 2
    # Two that share too few letters, in any order, cannot be alike: this check is much faster.
    possible: dict[str, str] = {}
    for choice in choices:
        folded = choice.casefold()
        if sum(map(folded.__contains__, wanted)) >= ceiling * (size + len(folded)) and (
            # Of two that differ in case alone, the one that begins as the word does.
            folded not in possible or choice[:1].islower() == word[:1].islower()
        ):
            possible[folded] = choice
    if not possible:
        return None
    # Only a mistake in a configuration needs it.
    from difflib import get_close_matches  # noqa: PLC0415 - 4 ms for a rare sentence

    close = get_close_matches(wanted, possible, n=1, cutoff=alike)
    return possible[close[0]] if close else None
