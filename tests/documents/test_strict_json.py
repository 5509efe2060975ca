import gc
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.documents.strict_json import LIMIT, StrictJsonError, read_strict
from tests.documents.heavy_json import HEAVY
from tests.every import every

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
        st.sampled_from([":", '{"a":1}', "\\", '\\"', "[[", "12345678901234567890"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=20,
)

PIECES = st.sampled_from([*'{}[],:"1-.\\ ', '"a"', '"b"', '"\\"', "e5", "null"])


@every(
    ("text", "said"),
    [
        (b"", "too early"),
        (b'{"a": 1', "too early"),
        (b'{"a": 1} {"b": 2}', "trailing"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "'c' appears twice"),
        (b'{"ab": 1, "a\\u0062": 2}', "'ab' appears twice"),
        (b'{"": 1, "": 2}', "'' appears twice"),
        (b'{"a": NaN}', "invalid"),
        (b'{"a": -Infinity}', "invalid"),
        (b'{"a": 1e400}', "out of range"),
        (b'{"a": 9223372036854775808}', "64 bits"),
        (b'{"a": -9223372036854775809}', "64 bits"),
        (b'{"a": ' + b"1" * 5000 + b"}", "out of range"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "malformed"),
        (b'{"a": "\\ud800"}', "JSON"),
        (b'{"a": "\\ud800x"}', "JSON"),
        (b'{"a": "\\udc00\\ud800"}', "surrogate"),
        (b'{"a": "\x01"}', "invalid"),
        (b"[" * 10_000, "64 levels"),
        (b"[" * 65 + b"]" * 65, "64 levels"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "64 levels"),
        (b"[" + b"1," * 50_001 + b"1]", "50,000 values"),
        (b"[" + b"1e300," * 1001 + b"1]", "huge exponents"),
        (b'"' + b"x" * LIMIT, "1,048,576"),
    ],
)  # fmt: skip
def test_what_could_be_read_two_ways_is_refused(text: bytes, said: str):
    with pytest.raises(StrictJsonError, match=said):
        read_strict(text)


@every(
    ("text", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        (b' {"a": [1, "}{][", "\\"", "\\\\"]} \n', {"a": [1, "}{][", '"', "\\"]}),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b"1.12345678901234567890123", 1.1234567890123457),
        (b"1234567890123456789012e3", 1.234567890123456789e24),
        (b'{"a": "12345678901234567890123"}', {"a": "12345678901234567890123"}),
        (b'{"a": {"x": 1}, "b": {"x": 2}}', {"a": {"x": 1}, "b": {"x": 2}}),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
    ],
)
def test_plain_json_is_read(text: bytes, value: Any):
    assert read_strict(text) == value


def test_64_levels_are_read():
    assert read_strict(b"[" * 64 + b"]" * 64) is not None


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_whatever_python_writes_is_read_back(value: Any, indent: int | None, ascii_only: bool):
    assert read_strict(json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()) == value


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_accepted_python_reads_the_same_and_without_duplicates(text: str):
    try:
        value = read_strict(text.encode())
    except StrictJsonError:
        return
    assert json.loads(text, object_pairs_hook=_refuse_twice) == value


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(raw: bytes):
    try:
        read_strict(raw)
    except StrictJsonError:
        pass


@every("name", HEAVY)
def test_the_worst_megabyte_does_not_hold_up_anybody(name: str):
    text = HEAVY[name]()
    assert len(text) <= LIMIT
    # What other tests keep in memory would be looked through again and again while this one is measured.
    gc.disable()
    began = time.thread_time()
    try:
        read_strict(text)
    except StrictJsonError:
        pass
    finally:
        gc.enable()
    assert time.thread_time() - began < 0.5  # ten times the goal
