"""Test that no record of the command line restates one of the domain: `--json` encodes those."""

import pkgutil
from collections.abc import Iterable, Iterator
from importlib import import_module

import msgspec

import hookline
from hookline import cli

#: A record with this part of another one's fields restates it, unless it extends it.
_MOST = 0.6
_FEWEST = 4
#: They import what is not always there, or what takes long, and have no records that a command shows.
_ELSEWHERE = ("hookline.adapters", "hookline.testing", "hookline.handlers.warm.zygote", "hookline.agent.tui")
#: Those that do so on purpose, and why.
_REASONS = {
    "BacktestDocument": "numbers and examples as they are shown, where the totals hold sets that are added up",
    "BacktestedHook": "as above",
    "ConsoleOptions": "the command line does not import the console: the application hands them over",
    "CoveredHook": "joins what transcripts show with what the journal shows, without secrets",
    "DiagnosticDocument": "with the line, which is looked for in the file, and without secrets and repairs",
    "DormantDocument": "counts hooks, which hold functions",
    "HookCounts": "as RunTotals",
    "ItemDocument": "with the state of trust, the texts and the sizes of files",
    "LaneFacts": "the fields of a policy that say something here, and the same in words",
    "MissedCalls": "with its cause, and without what only finding the cause needs",
    "ProblemDocument": "as DiagnosticDocument, with the id by which it is accepted",
    "AcceptedDocument": "as above",
    "PublishDocument": "the bundle with what publishing it changed, and without its hooks",
    "RunTotals": "counted from runs; the console's totals are columns of its index",
}


def test_every_record_extends_what_it_repeats_or_has_a_reason() -> None:
    domain = [each for each in _records(hookline.__path__, "hookline.") if not _is_of_commands(each)]
    found = {
        record.__name__: other.__qualname__
        for record in _records(cli.__path__, "hookline.cli.")
        if not record.__name__.startswith("_")
        for other in domain
        if _restates(record, other)
    }
    unexplained = {name: other for name, other in found.items() if name not in _REASONS}
    assert not unexplained, "extend the record of the domain, or say why not"
    assert set(_REASONS) <= set(found), "a reason without a record"


def _restates(record: type[msgspec.Struct], other: type[msgspec.Struct]) -> bool:
    bases = [
        each
        for each in record.__mro__[1:]
        if issubclass(each, msgspec.Struct) and each is not msgspec.Struct and not _is_of_commands(each)
    ]
    inherited = {field for each in bases for field in each.__struct_fields__}
    fields = set(other.__struct_fields__)
    both = (set(record.__struct_fields__) - inherited) & fields
    return len(both) >= _FEWEST and len(both) / len(fields) >= _MOST


def _is_of_commands(record: type) -> bool:
    return record.__module__.startswith("hookline.cli.")


def _records(path: Iterable[str], prefix: str) -> Iterator[type[msgspec.Struct]]:
    for module in pkgutil.walk_packages(path, prefix):
        if module.name.startswith(_ELSEWHERE) or module.name.endswith("__main__"):
            continue
        for found in vars(import_module(module.name)).values():
            if (
                isinstance(found, type)
                and issubclass(found, msgspec.Struct)
                and found.__module__ == module.name
            ):
                yield found
