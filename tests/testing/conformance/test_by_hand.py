"""The host API by hand does every case in full."""

from hookline.testing.conformance import Case, cases, run_case
from tests.every import every
from tests.testing.conformance.by_hand import ByHand


@every("case", cases())
def test_the_host_api(case: Case) -> None:
    run_case(ByHand(), case).check()
