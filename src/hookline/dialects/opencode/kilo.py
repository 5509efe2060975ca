"""Ask Hookline from inside Kilo 7.7, a fork of OpenCode: the same plugin in Kilo's directories."""

from collections.abc import Mapping
from typing import Any

from hookline.dialects.opencode import OpenCode
from hookline.model.events import EVENTS, EventSpec


class Kilo(OpenCode):
    name = "kilo"
    title = "Kilo"
    directory = ".kilo"
    project_files = (".kilo/plugin/hookline.js",)
    call_file = "~/.config/kilo/plugin/hookline.js, by hookline install kilo"
    config_directory = "kilo"
    project_directories = (".kilo", ".kilocode")
    plugin_package = "@kilocode/plugin"


def dialect(
    events: Mapping[str, EventSpec[Any]] = EVENTS,  # noqa: ARG001 its events are its own
    env: Mapping[str, str] | None = None,  # noqa: ARG001 it reads nothing there
) -> Kilo:
    return Kilo()
