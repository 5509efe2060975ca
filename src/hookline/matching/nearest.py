"""The name that was probably meant."""

from collections.abc import Iterable


def nearest(word: str, choices: Iterable[str], alike: float = 0.6) -> str | None:
    """The choice most similar to the word; None when none is at least `alike` similar. Case does not count."""
    # Only a mistake in a configuration needs it.
    from difflib import get_close_matches  # noqa: PLC0415 - 4 ms for a rare sentence

    by_folded = {choice.casefold(): choice for choice in choices}
    close = get_close_matches(word[:200].casefold(), by_folded, n=1, cutoff=alike)
    return by_folded[close[0]] if close else None
