from typing import cast

import pytest
from msgspec.structs import replace

from hookline.events import STOP, Capability
from hookline.extending import Hook, Policy
from hookline.model.wire import Wire


def hook(name: str) -> Hook:
    policy = Policy(event_name="Stop", may=Capability.BLOCK)
    return Hook(name=name, event=STOP, policy=policy, wire=cast("Wire", None), kind="function")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("no force push", "no force push"),
        ("schlüssel  漢字", "schlüssel  漢字"),
        ("a\nblocked: b", "a blocked: b"),
        ("a\r\n\tb\x1b[31m\x00", "a b"),
        ("a\u2028b\u202ec", "a<U+2028>b<U+202E>c"),
        ("\x1b[2J", "?"),
    ],
)
def test_the_name_of_a_hook_is_one_line(name: str, shown: str) -> None:
    assert hook(name).name == shown
    assert replace(hook("x"), name=name).name == shown
