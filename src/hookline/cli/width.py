"""How wide the terminal is. Not by shutil, which loads every archive format there is."""

import argparse
import os

UNLIMITED = 1000


def columns(default: int = UNLIMITED) -> int:
    """Columns of the terminal; what goes into a file or a pipe need not fit one."""
    try:
        return max(os.get_terminal_size().columns, 40)
    except OSError:
        told = os.environ.get("COLUMNS", "")
        return int(told) if told.isdigit() else default


def help_format(prog: str) -> argparse.HelpFormatter:
    """Keeps our line breaks, and does not ask shutil for the width."""
    return argparse.RawDescriptionHelpFormatter(prog, width=min(columns(100), 110))
