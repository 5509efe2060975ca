"""Find settings by which an agent runs no hooks at all, and other things that overrule hooks here."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.dialects.files import layer_of
from hookline.disk import DISK
from hookline.model.diagnostics import Diagnostic

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect

_OF_PROJECTS = ("project", "local")


def switches(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report files that switch all hooks of an agent off, also those by which it calls Hookline.

    The agent obeys them, whether or not the user trusts the project in Hookline, and says nothing.
    """
    # The hooks of these files are reported as switched off already.
    reported = {one.where.file for one in loaded.diagnostics if one.code == "disabled"}
    for dialect in context.agents:
        for finding in switches_of(dialect, context.cwd, context.env):
            if finding.where.file not in reported:
                yield finding


def switches_of(dialect: "Dialect", cwd: str, env: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield the settings that apply in a directory and by which one agent runs no hooks there."""
    for config_path in dialect.find(cwd, env):
        if not DISK.isfile(config_path.file):
            continue
        layer = layer_of(dialect, config_path)
        value: Any = layer.document.value
        path = dialect.switched_off_by(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else ()
        if not path:
            continue
        whose = "this project" if config_path.scope in _OF_PROJECTS else "a file of yours"
        setting = ".".join(map(str, path))
        message = (
            f"{setting} of {whose} makes {dialect.title} run no hooks here, so no guard of Hookline holds in it, "
            "and it says nothing"
        )
        yield Diagnostic("error", "hooks-off", message, layer.document.where(*path), fix=f"remove {setting}")


def overrulers(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report what each agent has besides hooks that changes what hooks can do here."""
    del loaded
    if context.files_only:
        return
    for dialect in context.agents:
        yield from dialect.overrulers(context.cwd, context.env)
