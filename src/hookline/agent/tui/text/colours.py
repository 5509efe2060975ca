"""Know which colours a terminal shows."""

from collections.abc import Mapping
from typing import Literal

ColourSystem = Literal["standard", "256"]


def is_coloured(env: Mapping[str, str]) -> bool:
    """Return False where the user wants no colours (https://no-color.org)."""
    return not env.get("NO_COLOR")


def code_theme(env: Mapping[str, str]) -> str:
    """Return the theme of code: a terminal that says that its background is light gets darker colours."""
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return "ansi_light" if background in ("7", "9", "10", "11", "12", "13", "14", "15") else "ansi_dark"


def colour_system(env: Mapping[str, str]) -> ColourSystem:
    """Return how many colours to use: backgrounds are tinted only where there are 256."""
    many = "256color" in env.get("TERM", "") or env.get("COLORTERM") in ("truecolor", "24bit")
    return "256" if many and is_coloured(env) else "standard"
