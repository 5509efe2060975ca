"""Show what changed since the user trusted something: its entry, and the files that it names."""

import difflib
from collections.abc import Iterator

from hookline.disk import DISK
from hookline.trust.digest import sha256
from hookline.trust.files import read_file_bytes
from hookline.trust.items import readable
from hookline.trust.review import ReviewItem
from hookline.trust.store import StoredItem
from hookline.trust.trust import Trust

#: Lines of a file beyond which it is not compared, and lines of a difference that are shown.
_MOST_LINES, _MOST_SHOWN = 20_000, 2_000


def difference(entry: ReviewItem, trust: Trust) -> Iterator[str]:
    """Yield the lines of a unified diff; none for an item that was never trusted. They are as in the files,
    not safe to print."""
    before = trust.before(entry.item, entry.root)
    if before is None:
        return
    item = entry.item
    old, new = readable(before.facts).splitlines(), readable(item.facts).splitlines()
    yield from _unified(old, new, f"{item.file}: {before.label}", f"{item.file}: {item.label}")
    for path in sorted({*before.files, *item.files}):
        if before.files.get(path) != item.files.get(path):
            yield from _of_file(path, before, entry, trust)


def _of_file(path: str, before: StoredItem, entry: ReviewItem, trust: Trust) -> Iterator[str]:
    was, now = before.files.get(path, ""), entry.item.files.get(path, "")
    old = trust.store.kept(was) if was else b""
    new = read_file_bytes(trust.project.path_of(path), DISK) if now else b""
    if new is not None and now and sha256(new).hexdigest() != now:
        yield f"{path} changes while it is being compared"
        return
    older, newer = _lines(old), _lines(new)
    if older is None or newer is None:
        yield f"{path} cannot be compared; it was {_short(was)}, it is {_short(now)}"
        return
    yield from _unified(
        older, newer, f"{path} (trusted)" if was else "/dev/null", path if now else "/dev/null"
    )


def _lines(content: bytes | None) -> list[str] | None:
    if content is None or b"\0" in content:
        return None
    lines = content.decode("utf-8", "backslashreplace").split("\n")
    return lines if len(lines) <= _MOST_LINES else None


def _unified(old: list[str], new: list[str], was: str, now: str) -> Iterator[str]:
    for number, line in enumerate(difflib.unified_diff(old, new, was, now, lineterm="")):
        if number == _MOST_SHOWN:
            yield f"[... more than {_MOST_SHOWN} lines differ ...]"
            return
        yield line


def _short(digest: str) -> str:
    return digest if not digest or digest.startswith("(") else f"sha256 {digest[:12]}"
