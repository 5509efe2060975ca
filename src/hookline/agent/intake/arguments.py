"""Arguments put into the text of a command: `$ARGUMENTS` is all of them, `$1` to `$9` are words."""

import re
import shlex

_PLACE = re.compile(r"\$(ARGUMENTS\b|[1-9](?!\d))")


def with_arguments(body: str, arguments: str) -> str:
    """In one pass: what an argument brings in is never read as a place for another."""
    words = _words(arguments)

    def filled(place: re.Match[str]) -> str:
        if place[1] == "ARGUMENTS":
            return arguments
        number = int(place[1])
        return words[number - 1] if number <= len(words) else ""

    text, places = _PLACE.subn(filled, body)
    # A text with no place for them still has to learn them.
    return text if places or not arguments else f"{text.rstrip()}\n\nARGUMENTS: {arguments}"


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:
        # An apostrophe, most likely: it's no shell line.
        return arguments.split()
