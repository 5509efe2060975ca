"""Keep the user's input history: one JSON string per line, so that a damaged line affects no other."""

import os
from collections.abc import Callable

import msgspec

from hookline.agent.safe_files import UnusableFileError, opened, reason
from hookline.trust.store import replace_file

_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | sum(
    getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY")
)  # fmt: skip
_MOST_READ = 8 * 1024 * 1024


def _ignore(problem: str) -> None:
    del problem


class InputHistory:
    """Prompts as hooks left them. Nothing here raises.

    A file that cannot be read or written is reported once; the session continues without it.
    """

    def __init__(
        self,
        file: str,
        *,
        most: int = 1000,
        longest: int = 64 * 1024,
        report: Callable[[str], None] = _ignore,
    ) -> None:
        self._file = file
        self._most = most
        self._longest = longest
        self._report = report
        self._reported = False
        self._texts: list[str] | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The prompts, newest last."""
        return tuple(self._known())

    def add(self, text: str) -> None:
        known = self._known()
        if not text.strip() or (known and known[-1] == text):
            return
        known.append(text)
        del known[: -self._most]
        if len(text) <= self._longest:
            self._append(_line(text))

    def _known(self) -> list[str]:
        if self._texts is None:
            self._texts = self._read()
        return self._texts

    def _read(self) -> list[str]:
        try:
            with opened(self._file) as descriptor:
                size = os.fstat(descriptor).st_size
                raw = os.pread(descriptor, _MOST_READ, max(size - _MOST_READ, 0))
        except UnusableFileError as problem:
            if os.path.lexists(self._file):
                self._tell(str(problem))
            return []
        texts = [text for line in raw.split(b"\n") if (text := _text(line)) is not None]
        if len(texts) > 2 * self._most or size > _MOST_READ:
            self._shorten(texts[-self._most :])
        return texts[-self._most :]

    def _append(self, line: bytes) -> None:
        try:
            os.makedirs(os.path.dirname(self._file), mode=0o700, exist_ok=True)
            descriptor = os.open(self._file, _FLAGS, 0o600)
            try:
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                os.write(descriptor, b"\n" + line if torn else line)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            self._tell(f"cannot be written: {reason(error)}")

    def _shorten(self, texts: list[str]) -> None:
        try:
            replace_file(self._file, b"".join(map(_line, texts)))
        except OSError as error:
            self._tell(f"cannot be shortened: {reason(error)}")

    def _tell(self, problem: str) -> None:
        if not self._reported:
            self._reported = True
            self._report(f"the input history {self._file} {problem}")


def _line(text: str) -> bytes:
    try:
        return msgspec.json.encode(text) + b"\n"
    except UnicodeEncodeError:
        return msgspec.json.encode(text.encode("utf-8", "backslashreplace").decode()) + b"\n"


def _text(line: bytes) -> str | None:
    try:
        return msgspec.json.decode(line, type=str) if line.strip() else None
    except (msgspec.DecodeError, ValueError):
        return None
