"""Whatever stands in a settings file or in a payload, the answer is a diagnostic or a typed error."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as fuzz
from hypothesis import strategies as st

from hookline.dialects.reasonix import dialect
from hookline.dialects.reasonix.entry import FIELDS
from hookline.dialects.reasonix.telling import KEYS
from hookline.model.errors import HooklineError
from tests.dialects.reasonix.stage import PAYLOADS, settings

KNOWN = sorted({key.name for keys in KEYS.values() for key in keys})
_scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_entries = st.dictionaries(st.sampled_from([*FIELDS, "hooks", "x"]), _json, max_size=5)
_tables = st.dictionaries(st.sampled_from([*PAYLOADS, "x"]), _json | st.lists(_entries | _json, max_size=3))


@fuzz(max_examples=200, deadline=None)
@given(st.fixed_dictionaries({"hooks": _tables | _json}) | _json)
def test_any_settings_are_read(value: Any):
    reading = settings(json.dumps(value))
    for each in reading.diagnostics:
        assert each.where.line is not None
        assert str(each)
    assert all(hook.spec.command.strip() and hook.timeout > 0 for hook in reading.hooks)
    assert isinstance(dialect().recognises(value), bool)


@fuzz(max_examples=200, deadline=None)
@given(
    st.sampled_from([*PAYLOADS, "x"]),
    st.dictionaries(
        st.sampled_from([*KNOWN, "cwd"]),
        _json,
    ),
)
def test_any_payload_is_parsed_or_refused_in_words(event: str, document: dict[str, Any]):
    with contextlib.suppress(HooklineError):
        assert dialect().wire.parse({"event": event, **document}).event is not None


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + '{"hooks": {"Stop": [{"command": "echo x"}]}}',
        '{"hooks": {"Stop": [{"command": "echo x"}]}, "deep": ' + "[" * 40 + "]" * 40 + "}",
    ],
)
def test_what_is_unusual_but_right_is_read(text: str):
    reading = settings(text)
    assert (len(reading.hooks), reading.diagnostics) == (1, ())


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 5000, '{"hooks": {"Stop": [' + "1," * 300_000 + "1]}}", "\0"]
)
def test_what_is_too_much_is_refused_in_words(text: str):
    reading = settings(text)
    assert reading.hooks == ()
    assert [each.severity for each in reading.diagnostics] == ["error"]
