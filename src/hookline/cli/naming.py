"""Which hook somebody means by a few letters."""

import os
from collections.abc import Sequence


def means_hook(texts: Sequence[str], name: str, source: str) -> bool:
    """One of the texts is part of its name, or, written like a place (with / or :), of its file and line."""
    for text in texts:
        if text.casefold() in name.casefold():
            return True
        if ("/" in text or ":" in text) and text in source:
            return True
    return False


def seen_from_here(source: str) -> str:
    """A file and line as somebody here would write it: below the directory, below the home, or in full."""
    try:
        here = os.getcwd()
    except OSError:  # it was removed
        here = ""
    for folder, stands_for in ((here, ""), (os.environ.get("HOME", ""), "~/")):
        if len(folder) > 1 and source.startswith(f"{folder}/"):
            return stands_for + source[len(folder) + 1 :]
    return source
