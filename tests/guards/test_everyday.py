"""Test that guards stop everyday lines only if they are right to."""

import pytest

from bench.soak_allow import STOPPING, everyday_alarms
from tests.permissions.permission_cases import corpus


def test_hardly_an_everyday_line_is_stopped_without_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one, and all that are about a guard; `make soak` asks about the others as well."""
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("TMPDIR", raising=False)
    entries = list(corpus("everyday.txt"))
    some = [entry for at, entry in enumerate(entries) if at % 2 == 0 or entry.hits]
    found = everyday_alarms(some)
    alarms = {name: lines for name, lines in found.false.items() if len(lines) > len(some) * 0.01}
    assert not alarms, {name: (len(lines), lines) for name, lines in alarms.items()}
    assert not found.missed
    assert set(STOPPING) >= {mark for entry in entries for mark in entry.hits | entry.either} - {"all"}
