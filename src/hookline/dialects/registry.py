"""The dialects there are. A new one is a folder and one line here."""

from collections.abc import Callable, Mapping

from hookline.dialects.dialect import Dialect


def standard_dialects() -> Mapping[str, Callable[[], Dialect]]:
    """Builders by name, in the order their lanes run. Built when asked for: most projects have one or two."""
    return {}
