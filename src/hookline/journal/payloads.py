"""Keep payloads of events beside the journal, if the user enables it: redacted, bounded, one JSON line each.

The journal has only one line of each call. Payloads are in a separate file, so that the journal stays small
and a fleet's audit, which is sent to a server, never has them.
"""

import mmap
import os
import re
import time
from collections.abc import Mapping
from typing import Any, Final, cast

import msgspec

from hookline.journal.file import VERSION, JournalFile, is_whole, state_dir, summed
from hookline.journal.journal import RunCleaner
from hookline.journal.redaction import MARK, Redactor

#: Two files of this size at most: the full one that was renamed, and the one in use.
_ROTATE_AT: Final = 16 * 1024 * 1024
#: Bytes of one payload.
_LARGEST: Final = 64 * 1024
#: Characters kept of each end of a text, and items of each list or object: first generously, then to make it fit.
_BOUNDS: Final = ((4096, 500), (256, 50))
_DEEPEST: Final = 32
_LONGEST_NAME: Final = 200
_ID: Final = re.compile(r"[0-9a-f]{16}")


def payloads_path(env: Mapping[str, str]) -> str:
    return os.path.join(state_dir(env), "payloads.jsonl")


class PayloadFile:
    """A file of payloads. Its methods never raise: failures are added to the problems."""

    def __init__(self, path: str, redactor: Redactor) -> None:
        self._file = JournalFile(path, rotate_at=_ROTATE_AT, encode=summed)
        self._cleaner = RunCleaner(redactor)
        self._problem: str | None = None

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self._file.problems, *([self._problem] if self._problem else ()))

    def keep(self, payload: Any) -> str:
        """Write a payload, and return the id under which `kept_payload` finds it. Empty: it was not written."""
        try:
            clean = self._clean(payload)
        except Exception as error:  # noqa: BLE001 - payloads may come from the host
            self._problem = f"a payload was not kept: reading it raised {type(error).__name__}"
            return ""
        name, lost = os.urandom(8).hex(), self._file.lost
        self._file.append({"v": VERSION, "id": name, "at": time.time(), "payload": clean})
        return name if self._file.lost == lost else ""

    def close(self) -> None:
        self._file.close()

    def _clean(self, payload: Any) -> Any:
        plain = msgspec.to_builtins(payload, enc_hook=_foreign, str_keys=True)
        for text, items in _BOUNDS:
            clean = self._bounded(plain, "", text, items, _DEEPEST)
            if len(msgspec.json.encode(clean)) <= _LARGEST:
                return clean
        return {"left_out": f"the payload is longer than {_LARGEST} bytes even when its texts are cut"}

    def _bounded(self, value: Any, name: str, text: int, items: int, depth: int) -> Any:
        """Return a copy without secrets. `name`: its field, which can mark the value as a secret."""
        if isinstance(value, str):
            return MARK if self._cleaner.is_secret(name, value) else self._cleaner.clean_text(value, text)
        if not isinstance(value, dict | list):
            return value
        if not depth:
            return "[... nested too deeply ...]"
        if isinstance(value, dict):
            fields = list(cast("dict[str, Any]", value).items())
            kept = {
                self._cleaner.clean_text(key[:_LONGEST_NAME], _LONGEST_NAME): self._bounded(
                    each, key, text, items, depth - 1
                )
                for key, each in fields[:items]
            }
            return kept | ({"[...]": f"{len(fields) - items} fields left out"} if len(fields) > items else {})
        some = cast("list[Any]", value)
        shown = [self._bounded(each, name, text, items, depth - 1) for each in some[:items]]
        return shown + ([f"[... {len(some) - items} items left out ...]"] if len(some) > items else [])


def kept_payload(path: str, name: str) -> Any:
    """Return the payload stored under this id; None if it is gone."""
    if not _ID.fullmatch(name):
        return None
    for file in (path, f"{path}.1"):
        line = _line(file, b'{"v":%d,"id":"%b",' % (VERSION, name.encode()))
        if line and is_whole(line):
            return msgspec.json.decode(line).get("payload")
    return None


def _line(file: str, beginning: bytes) -> bytes:
    """Return the line with this beginning. It cannot match inside a line: quotes in texts are escaped."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as content:
            at = content.find(beginning)
            if at < 0:
                return b""
            content.seek(at)
            return content.readline()
    except (OSError, ValueError):  # empty, or no regular file
        return b""
    finally:
        os.close(fd)


def _foreign(value: Any) -> str:
    return f"[{type(value).__name__}]"
