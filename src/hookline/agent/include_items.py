"""List the files that a project's file includes, for the user to trust, and keep them inside the project."""

import os
from collections.abc import Sequence

from hookline.agent.safe_files import UnusableFileError
from hookline.model.diagnostics import Where
from hookline.model.safe_text import one_line
from hookline.trust.items import INCLUDES, TrustItem
from hookline.trust.project import is_inside
from hookline.trust.trust import Trust

#: The kind of item, before the names.
LABEL = "files that it includes"
_WIDEST = 300


def inside(path: str, within: str) -> str:
    """Return the real path of a file. Raises UnreadableError unless that is below the directory."""
    if not is_below(path, within):
        raise UnusableFileError(f"was left out: it is or leads outside {one_line(within, _WIDEST)}")
    return os.path.realpath(path)


def is_below(path: str, within: str) -> bool:
    """Return True if a file is really below the directory: others are left out, trusted or not."""
    return is_inside(os.path.realpath(path), os.path.realpath(within))


def leads_elsewhere(file: str, within: str) -> bool:
    """Return True if this file, or a directory between the two, is a link."""
    own = os.path.join(os.path.realpath(within), os.path.relpath(file, within))
    return os.path.realpath(file) != own


def include_item(trust: Trust, where: Where, targets: Sequence[str]) -> TrustItem:
    """Return what the user has to trust for a file to include others: their names, and where links lead."""
    item = trust.settings_item(where, LABEL, {INCLUDES: sorted(set(targets))})
    if trust.hashes:
        trust.accept_hashes([item])
    return item


def link_item(file: str, within: str, trust: Trust) -> TrustItem:
    """Return what the user has to trust for a link to be read like the file that it replaces."""
    return include_item(trust, Where(file), [target(file, within)])


def target(path: str, within: str) -> str:
    """Name an included file for `include_item`: from the directory, with the file that a link leads to."""
    root = os.path.realpath(within)
    named, real = os.path.relpath(path, within), os.path.relpath(os.path.realpath(path), root)
    return named if named == real else f"{named} -> {real}"
