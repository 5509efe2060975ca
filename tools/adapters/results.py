"""Read and write the file of results per host, from which the table is made."""

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
    #: The events that fired.
    events: tuple[str, ...] = ()

    def same_as(self, other: "Result") -> bool:
        """Return True if only the framework's release differs."""
        return (self.levels, self.limits, self.events) == (other.levels, other.limits, other.events)


def read_results(root: Path) -> dict[str, Result]:
    file = root / RESULTS
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Result]) if file.exists() else {}


def written(results: Mapping[str, Result]) -> str:
    # Hosts without a framework have a space in their names, and come first.
    order = sorted(results, key=lambda name: (" " not in name, name.lower()))
    return json_pretty({name: results[name] for name in order}) + "\n"
