"""Find what a shell line really runs.

A reading has three parts: the commands it is sure of, the doubts, and text of other languages that can only
be searched. It lists every simple command: of lists, pipes, loops, functions, here-documents and
substitutions, and those that wrappers (`sudo`, `xargs`), evaluators (`eval`, `sh -c`) and programs such as
`find -exec` run. The line is never run and no file is read.

The path of a line: `reader` remembers readings; `walk` makes one; `parser` and `word_parser` turn text into
`syntax`; `variables` and `expand` turn its words into text; `streams` finds what commands print and read;
`runs` follows programs that run programs, whose rows are in `programs`; `options` reads options for all of
them.
"""

from hookline.shell.placeholders import HOLE, base_name
from hookline.shell.reader import ShellCommand, ShellReader, ShellReading

__all__ = ["HOLE", "ShellCommand", "ShellReader", "ShellReading", "base_name"]
