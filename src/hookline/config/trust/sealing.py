"""Sealed copies: a script runs from the very bytes that were checked, not from what is on disk by then."""

import re
from collections.abc import Sequence

from hookline.config.trust.files import NamedFile, digest_of, read_file_bytes
from hookline.engine.run_hook import Admission
from hookline.handlers.command import NAME_BEGINS, NAME_ENDS
from hookline.handlers.specs import CommandSpec

_QUOTE = r"[\"'\\]*"


def sealed_files(spec: CommandSpec, files: Sequence[NamedFile], trusted: frozenset[str] | None) -> Admission:
    """Admit a command with the bytes of every file it names; refuse it if one of them is not what was trusted.

    `trusted` holds the digests that count; None: those of now.
    """
    contents: dict[str, bytes] = {}
    for file in files:
        content = read_file_bytes(file.path)
        if content is None:
            return _refused(f"{file.path} cannot be read as a whole, so it cannot be sealed")
        if digest_of(content) not in (trusted if trusted is not None else {file.digest}):
            return _refused(f"{file.path} is not the file that was trusted; run `hookline trust`")
        fragments = _fragments(spec, file.text)
        if not fragments or any(fragment in contents for fragment in fragments):
            return _refused(f"{file.path} cannot be sealed: write its path as one word of the command")
        contents |= dict.fromkeys(fragments, content)
    return Admission(files=contents)


def _refused(reason: str) -> Admission:
    return Admission(admitted=False, reason=reason)


def _fragments(spec: CommandSpec, text: str) -> set[str]:
    """The parts of the command that name a file, as they are written there, quotes included."""
    if spec.args is not None:
        return {
            word for word in (spec.command, *spec.args) if word == text or word.endswith(f"={text}")
        } and {text}
    body = _QUOTE.join(re.escape(letter) for letter in text)
    found: set[str] = set()
    for pattern in (body, f"[\"']{body}", f"[\"']{body}[\"']"):
        for match in re.finditer(f"{NAME_BEGINS}{pattern}{NAME_ENDS}", spec.command):
            if all(match[0].count(quote) % 2 == 0 for quote in "\"'"):
                found.add(match[0])
    # The longest first: a quoted form holds the plain one.
    return {one for one in found if not any(one != other and one in other for other in found)}
