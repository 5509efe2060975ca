"""Run many cases in one test: as separate tests, thousands of them would cost more than what they check."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Check = Callable[..., None]


def every(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Check], Check]:
    """Use it like `pytest.mark.parametrize`. All cases are tried, and all that fail are reported.

    The cases share their fixtures, so it is for tests that leave nothing behind.
    """
    arguments = [names] if isinstance(names, str) else list(names)
    rows = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    assert rows, "there is no case"

    def decorated(check: Check) -> Check:
        @functools.wraps(check)
        def test(**others: Any) -> None:
            failures: list[BaseException] = []
            received: list[str] = []
            for row in rows:
                given = dict(zip(arguments, row, strict=True))
                try:
                    check(**given, **others)
                except (Exception, pytest.fail.Exception) as failure:
                    received.append(f"with {given}"[:400])
                    failure.add_note(received[-1])
                    failures.append(failure)
            if failures:
                said = "\n".join((f"{len(failures)} of {len(rows)} cases fail", *received))
                raise BaseExceptionGroup(said, failures)

        rest = [each for name, each in inspect.signature(check).parameters.items() if name not in arguments]
        test.__signature__ = inspect.Signature(rest)  # pyright: ignore[reportAttributeAccessIssue]
        return test

    return decorated
