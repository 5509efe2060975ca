"""The commands inside a shell line, by tree-sitter-bash.

Every simple command of the line is listed: of lists, pipes, loops, functions, here-documents and
substitutions, and what wrappers (`sudo`, `xargs`), evaluators (`eval`, `sh -c`) and `find -exec` run.
The line is never run and nothing is looked up: what only the shell knows is a hole, and where the command itself is
a hole, the whole reading is uncertain.
"""

from hookline.matching.shell.holes import HOLE, base_name
from hookline.matching.shell.reader import ShellCommand, ShellReader, ShellReading

__all__ = ["HOLE", "ShellCommand", "ShellReader", "ShellReading", "base_name"]
