"""`hookline agent` does every case."""

import pytest

from hookline.testing.conformance import Case, cases, run_case
from tests.testing.conformance.terminal_agent import TerminalAgent


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_terminal_agent(case: Case) -> None:
    run_case(TerminalAgent(), case).check()
