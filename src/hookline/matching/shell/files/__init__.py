"""Which files a command reads and writes, of what its words show.

What programs do is in the rows of the table of programs, what no row can say in `programs`, `transfers` and
`scripts`. A program without a row may read and write every file it is given. Redirections are not words: the
reading of the line has them.
"""

from hookline.matching.shell.files.by_row import NOTHING, Files
from hookline.matching.shell.files.programs import (
    files_of,
    found_by_find,
    is_reader,
    option_values,
    runs_standard_input,
    writes_by_option,
)
from hookline.matching.shell.files.scripts import Script, awk_script, sed_script
from hookline.matching.shell.files.transfers import is_remote

__all__ = [
    "NOTHING",
    "Files",
    "Script",
    "awk_script",
    "files_of",
    "found_by_find",
    "is_reader",
    "is_remote",
    "option_values",
    "runs_standard_input",
    "sed_script",
    "writes_by_option",
]
