"""Find settings by which an agent runs no hooks at all, and other things that overrule hooks here."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from hookline.checks.context import CheckContext
from hookline.config.load import Loaded
from hookline.dialects.files import layer_of
from hookline.dialects.registry import standard_dialects
from hookline.disk import DISK
from hookline.model.diagnostics import Diagnostic

if TYPE_CHECKING:
    from hookline.dialects.dialect import Dialect
    from hookline.dialects.installer import InstallScope

_OF_PROJECTS = ("project", "local")
#: Installations that hold in every project. An administrator's holds in spite of such a setting.
_EVERYWHERE: "tuple[InstallScope, ...]" = ("user", "plugin")


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


def switches_of(
    dialect: "Dialect", cwd: str, env: Mapping[str, str], *, of_projects: bool = False
) -> Iterator[Diagnostic]:
    """Yield the settings that apply in a directory and by which one agent runs no hooks there.

    `of_projects`: only those that the project itself has.
    """
    for config_path in dialect.find(cwd, env):
        if not DISK.isfile(config_path.file) or (of_projects and config_path.scope not in _OF_PROJECTS):
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


def switched_off_here(cwd: str, env: Mapping[str, str], *, but: str = "") -> Iterator[tuple[str, Diagnostic]]:
    """Yield the agents that ask Hookline everywhere but in this project, which switches their hooks off.

    `but` is a dialect that is left out: the agent that asks at this moment.
    """
    for name, listed in standard_dialects().items():
        if name == but or not (listed.switches and listed.has_files):
            continue
        dialect = listed.build(env=env)
        found = next(switches_of(dialect, cwd, env, of_projects=True), None)
        if found is not None and _is_installed(dialect, env):
            yield dialect.title, found


def _is_installed(dialect: "Dialect", env: Mapping[str, str]) -> bool:
    from hookline.config.install.plan import installed_entries  # noqa: PLC0415 few projects have a switch
    from hookline.dialects.installer import InstallError, Site  # noqa: PLC0415 as above

    try:
        return any(installed_entries(dialect, Site(scope, "", env)) for scope in _EVERYWHERE)
    except (InstallError, OSError):  # it has no such file, or one that it cannot read itself
        return False


def overrulers(loaded: Loaded, context: CheckContext) -> Iterator[Diagnostic]:
    """Report what each agent has besides hooks that changes what hooks can do here."""
    del loaded
    if context.files_only:
        return
    for dialect in context.agents:
        yield from dialect.overrulers(context.cwd, context.env)
