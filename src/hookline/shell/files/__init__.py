"""Find the files that a command reads and writes, as far as its words show.

The rows of the table of programs describe programs; `programs`, `transfers` and `scripts` have the code where
no row suffices. A program without a row may read and write every file it is given. Redirections are not
words: the reading of the line has them.
"""

from hookline.shell.files.by_row import NOTHING, CommandFiles
from hookline.shell.files.programs import (
    files_of,
    finder_of,
    has_option,
    is_reader,
    option_values,
    parsed,
    prints_nothing,
    read_operands,
    runs_standard_input,
    writes_by_option,
)
from hookline.shell.files.scripts import ScriptFiles, awk_script, sed_script
from hookline.shell.files.transfers import is_remote

__all__ = [
    "NOTHING",
    "CommandFiles",
    "ScriptFiles",
    "awk_script",
    "files_of",
    "finder_of",
    "has_option",
    "is_reader",
    "is_remote",
    "option_values",
    "parsed",
    "prints_nothing",
    "read_operands",
    "runs_standard_input",
    "sed_script",
    "writes_by_option",
]
