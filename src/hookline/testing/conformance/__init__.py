"""Check that an agent does what its hooks say: the conformance suite.

You write a harness (`hookline.testing.conformance.harness` says how); the suite plays its cases with it. With pytest::

    @pytest.mark.parametrize("case", cases(), ids=str)
    def test_conformance(case: Case) -> None:
        run_case(MyHarness(), case).check()

Without, `print(report(MyHarness()))` shows a line per case and what went wrong.
"""

from collections.abc import Sequence

from hookline.testing.conformance.harness import (
    CaseTool,
    ConversationPlan,
    Harness,
    Helper,
    KnownLimit,
    ModelScript,
    ReceivedRequest,
    Said,
    ScriptedCall,
    ScriptedResponse,
    ShownOutput,
    UnplayableError,
    each_prompt,
)
from hookline.testing.conformance.run import Case, CaseResult, SuiteReport, run_all, run_case

__all__ = [
    "Case",
    "CaseResult",
    "CaseTool",
    "ConversationPlan",
    "Harness",
    "Helper",
    "KnownLimit",
    "ModelScript",
    "ReceivedRequest",
    "Said",
    "ScriptedCall",
    "ScriptedResponse",
    "ShownOutput",
    "SuiteReport",
    "UnplayableError",
    "cases",
    "each_prompt",
    "report",
    "run_all",
    "run_case",
]


def cases(*, slow: bool = False) -> Sequence[Case]:
    """Return the rows of the suite; with `slow` those that take long, too.

    ::

        @pytest.mark.parametrize("case", cases(), ids=str)
    """
    # Only here: a harness needs the protocol, not the engine.
    from hookline.testing.conformance.suite import calls, context, conversations, questions, trouble, turns  # noqa: PLC0415

    rooms = (calls, context, questions, turns, trouble, conversations)
    return [case for room in rooms for case in room.CASES if slow or not case.slow]


def report(harness: Harness, *, slow: bool = False) -> SuiteReport:
    """Play the whole suite: print it for a line per case, errors and counts; `ok` if all is as declared.

    ::

        print(report(MyHarness()))
    """
    return SuiteReport(harness.name, tuple(run_all(harness, cases(slow=slow))))
