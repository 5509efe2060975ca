"""Kilo, a fork of OpenCode, in which Hookline is the same plugin."""

from msgspec.structs import replace

from tools.clients.agents.opencode import OPENCODE


def _environment(_url: str) -> dict[str, str]:
    return {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_DISABLE_MODELS_FETCH": "1"}


KILO = replace(
    OPENCODE,
    name="kilo",
    package="@kilocode/cli",
    program="kilo",
    environment=_environment,
    settings=".config/kilo/plugin/a-mine.js",
    project_settings=".kilo/plugin/a-mine.js",
    beforehand={".config/kilo/kilo.json": OPENCODE.beforehand[".config/opencode/opencode.json"]},
    packages={".config/kilo": "@kilocode/plugin"},
)
