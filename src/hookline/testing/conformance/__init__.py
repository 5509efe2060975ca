"""The conformance suite: does an agent do what its hooks say?

You write a harness (`hookline.testing.conformance.harness` says how); the suite plays its cases with it. With pytest::

    @pytest.mark.parametrize("case", cases(), ids=str)
    def test_conformance(case: Case) -> None:
        run_case(MyHarness(), case).check()

Without, `print(report(MyHarness()))` shows a line per case and what went wrong.
"""

from collections.abc import Sequence

from hookline.testing.conformance.harness import (
    Conversation,
    Harness,
    Helper,
    Limit,
    Request,
    Response,
    Said,
    Script,
    Seen,
    Tool,
    ToolUse,
    UnplayableError,
    each_prompt,
)
from hookline.testing.conformance.run import Case, CaseResult, Report, run_all, run_case

__all__ = [
    "Case",
    "CaseResult",
    "Conversation",
    "Harness",
    "Helper",
    "Limit",
    "Report",
    "Request",
    "Response",
    "Said",
    "Script",
    "Seen",
    "Tool",
    "ToolUse",
    "UnplayableError",
    "cases",
    "each_prompt",
    "report",
    "run_all",
    "run_case",
]


def cases(*, slow: bool = False) -> Sequence[Case]:
    """The rows of the suite; with `slow` those that take long, too.

    ::

        @pytest.mark.parametrize("case", cases(), ids=str)
    """
    # Only here: a harness needs the protocol, not the engine.
    from hookline.testing.conformance.suite import calls, context, conversations, questions, trouble, turns  # noqa: PLC0415

    rooms = (calls, context, questions, turns, trouble, conversations)
    return [case for room in rooms for case in room.CASES if slow or not case.slow]


def report(harness: Harness, *, slow: bool = False) -> Report:
    """Play the whole suite: print it for a line per case, what is wrong, and the counts; `ok` if nothing is.

    ::

        print(report(MyHarness()))
    """
    return Report(harness.name, tuple(run_all(harness, cases(slow=slow))))
