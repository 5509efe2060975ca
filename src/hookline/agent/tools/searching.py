"""Looking for an expression in the lines of files."""

import os
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final

from hookline.agent.tools.files import TooLargeError, read_regular
from hookline.agent.tools.off_loop import Patience
from hookline.agent.tools.walking import Walk
from hookline.matching.patterns import LONGEST_PATTERN, compile_re2
from hookline.model.errors import PatternError

_LARGEST_FILE: Final = 16 << 20
_MOST_BYTES: Final = 512 << 20
#: Bytes handed to the expression at a time, so that the clock is looked at between two.
_WINDOW: Final = 1 << 16
_LOOKED_AT: Final = 8192
_ANCHORS: Final = r"(?<!\\)(?:\\\\)*\\[Az]"


class Needle:
    """A compiled expression: linear time whatever it is. It is found within one line only."""

    def __init__(self, pattern: str, *, ignore_case: bool) -> None:
        """Raises PatternError."""
        if len(pattern) > LONGEST_PATTERN:
            raise PatternError(pattern[:40] + "...", f"longer than {LONGEST_PATTERN} characters")
        if re.search(_ANCHORS, pattern):
            raise PatternError(pattern, "lines are searched one by one: write ^ and $ for their ends")
        # For its objections, which are sentences.
        compile_re2(pattern, False)
        # Not where the agent starts: 13 ms.
        re2: Any = import_module("re2")
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.case_sensitive = not ignore_case
        self._search: Callable[..., Any] = re2.compile(f"(?m){pattern}".encode(), options).search

    def lines(self, content: bytes, patience: Patience) -> Iterator[int]:
        """Numbers of the lines that hold it, from 1."""
        at, number = 0, 1
        while at < len(content) and not patience.over:
            end = content.rfind(b"\n", at, at + _WINDOW) + 1 or content.find(b"\n", at + _WINDOW) + 1
            window = content[at : end or len(content)]
            counted = 0
            for start in self._in_window(window):
                number += window.count(b"\n", counted, start)
                counted = start
                yield number
            number += window.count(b"\n", counted)
            at += len(window)

    def _in_window(self, window: bytes) -> Iterator[int]:
        """Where the lines that hold it start."""
        at = 0
        while at < len(window):
            found = self._search(window, at)
            # What is found behind the last newline is on no line.
            if found is None or (found.start() == len(window) and window.endswith(b"\n")):
                return
            start = window.rfind(b"\n", 0, found.start()) + 1
            stop = window.find(b"\n", found.start())
            stop = len(window) if stop < 0 else stop
            if found.end() <= stop or self._search(window[start:stop]) is not None:
                yield start
            at = stop + 1


def _plain(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


class Haystack:
    """The files a search goes through. Afterwards it says what was left out."""

    def __init__(self, root: str, fits: Callable[[str], bool], patience: Patience) -> None:
        self._root = root
        self._fits = fits
        self._walk = Walk(root, patience)
        self._left = _MOST_BYTES
        self._too_large = 0
        self._unreadable = 0

    def files(self) -> Iterator[tuple[str, bytes, float]]:
        """The path, the content with plain line ends, and the time of change of each text file."""
        for path in self._paths():
            try:
                file = read_regular(path, _LARGEST_FILE, follow=path == self._root)
            except TooLargeError:
                self._too_large += 1
                continue
            except PermissionError:
                self._unreadable += 1
                continue
            except OSError:
                # It is gone, or no file with content.
                continue
            self._left -= len(file.content)
            if self._left < 0:
                return
            if b"\0" not in file.content[:_LOOKED_AT]:
                yield path, _plain(file.content), file.facts.st_mtime

    def _paths(self) -> Iterator[str]:
        if not os.path.isdir(self._root):
            yield self._root
            return
        for relative, entry in self._walk.files():
            # Links are not followed: they can lead anywhere.
            if not entry.is_symlink() and self._fits(relative):
                yield os.path.join(self._root, relative)

    @property
    def left_out(self) -> list[str]:
        said = self._walk.left_out
        if self._left < 0:
            said.append(f"it was ended after {_MOST_BYTES >> 20} MiB")
        if self._too_large:
            said.append(f"{self._too_large} files of more than {_LARGEST_FILE >> 20} MiB were not searched")
        if self._unreadable:
            said.append(f"{self._unreadable} files could not be read")
        return said
