"""What came out of the last run for each host: the file that the table is made from."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from tools.adapters.measure import Declared
from tools.markdown import json_pretty

RESULTS = "tests/adapters/results.json"


class Result(Struct, frozen=True):
    """full, part or none by the name of the case, and why it is not full."""

    levels: dict[str, str]
    limits: dict[str, Declared]
    #: Of the framework, for which this came out.
    releases: str = ""

    def same_as(self, other: "Result") -> bool:
        """A new release of the framework, for which the same comes out, is no news."""
        return (self.levels, self.limits) == (other.levels, other.limits)


def read_results(root: Path) -> dict[str, Result]:
    file = root / RESULTS
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Result]) if file.exists() else {}


def written(results: Mapping[str, Result]) -> str:
    return json_pretty(results) + "\n"
