"""The host API by hand does every case in full."""

import pytest

from hookline.testing.conformance import Case, cases, run_case
from tests.testing.conformance.by_hand import ByHand


@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_host_api(case: Case) -> None:
    run_case(ByHand(), case).check()
