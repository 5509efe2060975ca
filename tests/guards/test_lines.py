"""Test what each guard catches and what it lets pass: the lines of `lines/`, and the examples in the tables."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookline.guards import GUARD_NAMES
from hookline.guards.runner import GuardDecision, GuardRunner
from hookline.guards.settings import problem
from hookline.guards.spec import policy_of
from hookline.model.payloads import ToolCall
from hookline.model.session_info import SessionInfo

LINES = Path(__file__).parent / "lines"
HOME, PROJECT = "/home/ada", "/home/ada/project"
#: One for all: it keeps nothing but readings of lines.
RUNNER = GuardRunner()


class Entry(NamedTuple):
    guard: str
    #: catches, leaves or doubts.
    expected: str
    args: tuple[str, ...]
    text: str

    @property
    def call(self) -> ToolCall:
        """A shell line, or `@ Tool {…}`."""
        if not self.text.startswith("@ "):
            return ToolCall(tool_name="Bash", tool_input={"command": self.text})
        _, name, arguments = self.text.split(" ", 2)
        return ToolCall(tool_name=name, tool_input=json.loads(arguments))


def entries(guard: str) -> Iterator[Entry]:
    """Sections begin with `= catches`, `= leaves` or `= doubts`, and may name options; ␊ is a new line."""
    expected, args = "", ()
    for line in (LINES / f"{guard}.txt").read_text().splitlines():
        if line.startswith("= "):
            expected, _, rest = line[2:].partition(" ")
            args = tuple(_options(rest))
        elif line:
            yield Entry(guard, expected, args, line.replace("␊", "\n"))


def _options(text: str) -> Iterator[str]:
    """Options are apart by blanks; a pattern of `allow` goes to the end."""
    words, _, pattern = text.partition("allow=")
    yield from words.split()
    if pattern:
        yield f"allow={pattern}"


def decision(guard: str, call: Any, *args: str) -> GuardDecision | None:
    return RUNNER.decision(guard, args, call, SessionInfo(cwd=PROJECT, project_dir=PROJECT))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.delenv("TMPDIR", raising=False)


@pytest.mark.parametrize("guard", [path.stem for path in sorted(LINES.glob("*.txt"))])
def test_each_guard_catches_and_leaves_what_it_should(guard: str) -> None:
    wrong: list[str] = []
    for entry in entries(guard):
        assert problem(policy_of(guard), entry.args) is None, entry
        found = decision(guard, entry.call, *entry.args)
        said = "leaves" if found is None else "doubts" if found.doubt else "catches"
        if said != entry.expected:
            wrong.append(f"{said} instead of {entry.expected} {entry.args}: {entry.text}")
    assert wrong == []


def test_every_guard_has_lines_of_both_kinds() -> None:
    for guard in GUARD_NAMES:
        if guard == "self-protection":
            continue
        expected = [entry.expected for entry in entries(guard)]
        assert min(expected.count("catches"), expected.count("leaves")) >= 15, (
            f"lines/{guard}.txt needs 15 of each"
        )


@pytest.mark.parametrize("guard", GUARD_NAMES)
def test_every_row_holds_what_its_example_says(guard: str) -> None:
    """Switch parts on that are off by default, for their own rows."""
    policy = policy_of(guard)
    rows = [*policy.rows, *(row for flow in policy.flows for row in flow.into)]
    silent = [
        row.example
        for row in rows
        if (found := decision(guard, bash(row.example), *with_part(row.part))) is None or found.doubt
    ]
    silent += [
        row.example
        for row in policy.secrets
        if decision(guard, bash(f"cat {row.example}"), *with_part(row.part)) is None
    ]
    assert silent == []


@pytest.mark.parametrize("guard", [name for name in GUARD_NAMES if name != "self-protection"])
def test_the_page_says_what_is_so(guard: str) -> None:
    policy = policy_of(guard)
    assert [line for line in policy.catches if decision(guard, bash(line)) is None] == []
    assert [line for line in policy.leaves if decision(guard, bash(line)) is not None] == []


def test_rows_belong_to_parts_that_there_are() -> None:
    for guard in GUARD_NAMES:
        policy = policy_of(guard)
        parts = {*policy.parts, *policy.more}
        rows = [*policy.rows, *policy.secrets, *(row for flow in policy.flows for row in flow.into)]
        assert {row.part for row in rows if row.part} <= parts, guard


def bash(line: str) -> ToolCall:
    return ToolCall(tool_name="Bash", tool_input={"command": line})


def with_part(part: str) -> tuple[str, ...]:
    return (f"with={part}",) if part else ()
