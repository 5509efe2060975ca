"""schemas/cli-NAME.schema.json: the JSON of the commands, from the records they encode."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, cast

import msgspec
import msgspec.inspect

from tools.markdown import json_pretty

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: By command: the module and the record of its document, or several where it has several.
DOCUMENTS: Mapping[str, tuple[str, ...]] = {
    "convert": ("hookline.cli.commands.convert.run.ConvertDocument",),
    "doctor": ("hookline.cli.commands.doctor.report.DoctorDocument",),
    "events": (
        "hookline.cli.commands.events.run.EventTable",
        "hookline.cli.commands.events.run.EventDocument",
        "hookline.cli.commands.events.run.MeantDocument",
        "hookline.cli.commands.events.run.OwnTable",
        "hookline.schemas.agent_event.OwnEvent",
        "hookline.cli.commands.events.run.OwnDocuments",
    ),
    "explain": ("hookline.cli.commands.explain.report.ExplainDocument",),
    "fire": (
        "hookline.cli.commands.fire.report.FireDocument",
        "hookline.cli.commands.fire.times_report.TimesDocument",
    ),
    "list": ("hookline.cli.commands.list.run.ListDocument",),
    "schema": ("hookline.cli.commands.schema.run.SchemaList",),
    "install": ("hookline.cli.commands.install.report.InstallDocument",),
    "uninstall": ("hookline.cli.commands.install.report.InstallDocument",),
    "trust": (
        "hookline.cli.commands.trust.report.TrustReport",
        "hookline.cli.commands.trust.report.ProjectsDocument",
    ),
    "log": ("hookline.cli.commands.log.report.LogDocument",),
    "coverage": ("hookline.cli.commands.coverage.report.CoverageDocument",),
    "backtest": ("hookline.cli.commands.backtest.report.BacktestDocument",),
    "guard": (
        "hookline.cli.commands.guard.report.GuardsDocument",
        "hookline.cli.commands.guard.report.GuardDocument",
        "hookline.cli.commands.guard.report.AddedDocument",
        "hookline.cli.commands.guard.report.WrittenTests",
        "hookline.cli.commands.guard.report.BuiltinsDocument",
        "hookline.cli.commands.guard.report.RecommendedDocument",
        "hookline.cli.commands.guard.report.ChangesDocument",
        "hookline.cli.commands.guard.report.LineDocument",
        "hookline.cli.commands.guard.pause.PauseDocument",
    ),
    "jobs": (
        "hookline.cli.commands.jobs.report.JobsDocument",
        "hookline.cli.commands.jobs.report.JobDocument",
    ),
    "fleet": (
        "hookline.team.fleet.status.FleetStatus",
        "hookline.cli.commands.fleet.report.PublishDocument",
        "hookline.cli.commands.fleet.report.PullDocument",
        "hookline.cli.commands.fleet.report.KeyDocument",
        "hookline.cli.commands.fleet.report.ReissueDocument",
        "hookline.cli.commands.fleet.report.PruneDocument",
        "hookline.cli.commands.fleet.report.ForgetDocument",
        "hookline.cli.commands.fleet.report.InitDocument",
        "hookline.cli.commands.fleet.report.JoinDocument",
        "hookline.team.fleet.permissions.Rights",
    ),
    "approvals": (
        "hookline.cli.commands.approvals.run.ApprovalsDocument",
        "hookline.engine.host.approvals.QueuedCall",
        "hookline.engine.host.approvals.ApprovalAnswer",
    ),
}


def cli_schemas() -> dict[str, str]:
    """Every file by its path, with its text."""
    return {
        f"schemas/cli-{command}.schema.json": json_pretty(_schema(command, names)) + "\n"
        for command, names in DOCUMENTS.items()
    }


def _schema(command: str, names: tuple[str, ...]) -> dict[str, Any]:
    (found, *more), definitions = msgspec.json.schema_components(
        [_record(name) for name in names], ref_template="#/$defs/{name}"
    )
    for record in _records(msgspec.inspect.multi_type_info([_record(name) for name in names])):
        if not record.__struct_config__.omit_defaults:
            # The output has every field, also one that is at its default.
            definition = definitions[record.__name__]
            definition["required"] = list(definition["properties"])
            for each in definition["properties"].values():
                each.pop("default", None)
    shape = {"anyOf": [found, *more]} if more else found
    return {"$schema": DRAFT, "title": f"hookline {command} --json", **shape, "$defs": definitions}


def _records(info: Any) -> Iterator[type[msgspec.Struct]]:
    """Every record in a description of types."""
    if isinstance(info, msgspec.inspect.StructType):
        yield info.cls
    if isinstance(info, msgspec.inspect.Type | msgspec.inspect.Field):
        info = [getattr(info, name) for name in info.__struct_fields__]
    if isinstance(info, list | tuple):
        for each in cast("list[Any]", info):
            yield from _records(each)


def _record(name: str) -> Any:
    module, _, record = name.rpartition(".")
    return getattr(import_module(module), record)
