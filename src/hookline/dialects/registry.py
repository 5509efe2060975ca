"""The dialects there are. A new one is a folder and one line here."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect


class Listed(Struct, frozen=True):
    """A dialect by the package that has it; imported when somebody uses that agent."""

    package: str
    #: Without one of these in the project, above it or in the user's home, none of the files and none of the
    #: environment variables below, nobody uses that agent here.
    folders: tuple[str, ...]
    files: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()

    def build(self) -> "Dialect":
        found: Dialect = import_module(f"hookline.dialects.{self.package}").dialect()
        return found


def standard_dialects() -> Mapping[str, Listed]:
    """By name, in the order their lanes run."""
    return {
        "claude-code": Listed(
            "claude_code",
            (".claude",),
            ("/etc/claude-code", "/Library/Application Support/ClaudeCode"),
            ("CLAUDE_CONFIG_DIR",),
        ),
        "gen-code": Listed("gencode", (".gen",)),
        "codewhale": Listed("codewhale", (".codewhale",)),
        "reasonix": Listed("reasonix", (".reasonix",), (), ("REASONIX_HOME",)),
        "docker-agent": Listed(
            "docker_agent",
            (
                "agent.yaml",
                "agent.yml",
                "docker-agent.yaml",
                "docker-agent.yml",
                "cagent.yaml",
                "cagent.yml",
                ".config/cagent",
            ),
        ),
    }
