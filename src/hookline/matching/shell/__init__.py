"""What a shell line really runs.

A reading says three things: the commands it is sure of, what it could not tell, and text of other languages that can
only be searched. Every simple command counts: of lists, pipes, loops, functions, here-documents and substitutions, and
what wrappers (`sudo`, `xargs`), evaluators (`eval`, `sh -c`) and programs such as `find -exec` run. The line is never
run and nothing is looked up.

The way of a line: `reader` remembers readings; `walk` makes one; `parser` and `word_parser` turn text into `syntax`;
`variables` and `expand` turn its words into text; `streams` says what commands print and read; `runs` looks through
programs that run programs, whose rows are in `programs`; `options` reads options for all of them.
"""

from hookline.matching.shell.holes import HOLE, base_name
from hookline.matching.shell.reader import ShellCommand, ShellReader, ShellReading

__all__ = ["HOLE", "ShellCommand", "ShellReader", "ShellReading", "base_name"]
