"""Every payload says what it is about, and every field what it holds."""

import re
from itertools import pairwise
from pathlib import Path

from hookline.model import payloads


def test_every_payload_and_every_field_is_described() -> None:
    source = Path(payloads.__file__).read_text(encoding="utf-8")
    for name, kind in vars(payloads).items():
        if (
            isinstance(kind, type)
            and issubclass(kind, payloads.Payload)
            and kind.__module__ == payloads.__name__
        ):
            assert kind.__doc__, name
            body = source.partition(f"class {name}(")[2].partition("\n\n\n")[0].splitlines()
            for before, line in pairwise(body):
                if re.match(r" {4}\w+: ", line):
                    assert before.strip().startswith("#:"), f"{name}: {line.strip()}"
