"""Reads shell lines and remembers the last of them."""

from importlib import import_module
from typing import Any

from hookline.matching.shell.reading import ShellReading


class ShellReader:
    """Reads shell lines and remembers the last of them. Build one and pass it down."""

    def __init__(self, remembered: int = 128) -> None:
        self._remembered = remembered
        self._readings: dict[str, ShellReading] = {}
        self._parser: Any = None

    def read(self, line: str) -> ShellReading:
        """Never raises. A line that cannot be read gives an uncertain reading that says why."""
        readings = self._readings
        known = readings.pop(line, None)
        if known is None:
            # Loaded with the first shell line that somebody has a rule about, as the parser is.
            from hookline.matching.shell.walk import read_line  # noqa: PLC0415 - 5 ms that most never need

            known = read_line(line, self._parse)
            if len(readings) >= self._remembered:
                del readings[next(iter(readings))]
        readings[line] = known
        return known

    def _parse(self, line: str) -> Any:
        if self._parser is None:
            tree_sitter: Any = import_module("tree_sitter")
            grammar: Any = import_module("tree_sitter_bash")
            self._parser = tree_sitter.Parser(tree_sitter.Language(grammar.language()))
        return self._parser.parse(line.encode()).root_node
