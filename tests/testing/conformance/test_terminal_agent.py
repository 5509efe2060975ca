"""`hookline agent` does every case."""

from hookline.testing.conformance import Case, cases, run_case
from tests.every import every
from tests.testing.conformance.terminal_agent import TerminalAgent


@every("case", cases())
def test_the_terminal_agent(case: Case) -> None:
    run_case(TerminalAgent(), case).check()
