"""Decide where a permission applies: in the project, as far as the words of a line show.

No file is read: a link inside the project that leads out of it is not seen.
"""

import posixpath
from typing import NamedTuple

from hookline.shell.placeholders import HOLE, Words

_STREAMS = frozenset(("", "-", "/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin"))
_TEMPORARY = ("/tmp/", "/var/tmp/")  # noqa: S108 nothing is written here


#: The directory of a command.
HERE = "."


class Beyond(NamedTuple):
    """A reason why a command exceeds the plain job of its program.

    Either the name of an option by which it writes a file, which a rule may spell; or a text with a blank,
    which no word of a rule has.
    """

    word: str
    #: It is a path, and inside the project it belongs to the plain job: `make -C web`.
    place: bool = False
    #: Something is written there, which is as harmless in a temporary directory: `go build -o /tmp/app`.
    written: bool = False


class Places(NamedTuple):
    """The project, and the directories in it that a command may be run in."""

    root: str = ""
    #: Relative to the directory in which the line is started, or absolute.
    bases: Words = (HERE,)

    def hold(self, one: Beyond) -> bool:
        """Return True if it is a path inside the project, in whichever of the directories the command is run."""
        path = one.word
        if not one.place or path in _STREAMS:
            return one.place
        if HOLE in path or path.startswith(("~", "@")) or "://" in path:
            return False
        paths = [posixpath.normpath(posixpath.join(base, path)) for base in self.bases]
        return all(self._inside(path) or (one.written and path.startswith(_TEMPORARY)) for path in paths)

    def _inside(self, path: str) -> bool:
        if not path.startswith("/"):
            return path != ".." and not path.startswith("../")
        root = self.root.rstrip("/")
        return bool(root) and (path == root or path.startswith(f"{root}/"))
