import os
from pathlib import Path
from zlib import crc32

import pytest

from hookline.extending import Run
from hookline.journal.file import encoded
from hookline.journal.reader import Damage, read_journal, scan_journal
from tests.every import every
from tests.journal.hostile_texts import unsafe_characters
from tests.journal.journal_damage import damaged_and_read


def summed(body: bytes) -> bytes:
    """A line as another version might have written it."""
    return body[:-1] + b',"sum":"%08x"}\n' % crc32(body)


A, B = Run(hook="a", reason="one"), Run(hook="b", reason='{"v":1} "quoted" \\')


@every("seed", range(100))
def test_after_any_accident_every_whole_record_is_read_and_damage_is_told(seed: int, tmp_path: Path) -> None:
    assert damaged_and_read(tmp_path, seed) is None


@pytest.mark.parametrize(
    ("text", "runs", "damage"),
    [
        (b"", (), ()),
        (encoded(A) + encoded(B), (A, B), ()),
        (encoded(A) + b"\n\n" + encoded(B), (A, B), ()),
        (encoded(A).rstrip(b"\n"), (A,), ()),
        (encoded(A) + encoded(B)[:-9], (A,), ("line 2: not a whole record",)),
        (encoded(A)[:20] + encoded(B), (B,), ("line 1: not a whole record",)),
        (encoded(A)[:-1] + b"\0\0" + encoded(B), (A, B), ("line 1: not a whole record",)),
        (b"\0" * 50 + b"\n" + encoded(B), (B,), ("line 1: not a whole record",)),
        (b"\xff\xfe\n" + encoded(B), (B,), ("line 1: not a whole record",)),
        (summed(b'{"v":1,"hook":7}') + encoded(B), (B,), ("line 1: not a whole record: Expected `str`",)),
        (b'{"v":1,"hook":"\xff"}\n' + encoded(B), (B,), ("line 1: not a whole record",)),
        (
            summed(b'{"v":1,"hook":"a","status":"new"}') + encoded(B),
            (B,),
            ("line 1: not a whole record: Invalid enum",),
        ),
        (
            summed(b'{"hook":"a"}') + encoded(B),
            (B,),
            ("line 1: not a whole record: Object missing required field `v`",),
        ),
        (
            summed(b'{"v":2,"hook":"a"}') + encoded(B),
            (B,),
            ("line 1: written by a newer version (2), not read",),
        ),
        (summed(b'{"v":1,"hook":"a","reason":"one","later":[1]}'), (A,), ()),
        (b'{"v":1,"hook":"a"}\n' + encoded(B), (B,), ("line 1: not a whole record: the check sum is wrong",)),
        (encoded(A).replace(b"one", b"two"), (), ("line 1: not a whole record: the check sum is wrong",)),
        (b"[]\nnull\n7\n", (), ("line 1: ", "line 2: ", "line 3: ")),
        (b'{"v":1,"x":' + b"[" * 100_000 + b"\n" + encoded(B), (B,), ("line 1: not a whole record",)),
        (b"x" * 3_000_000 + b"\n" + encoded(B), (B,), ("line 1: longer than 1048576 bytes, skipped",)),
        (encoded(A) + b"x" * 3_000_000, (A,), ("line 2: longer than 1048576 bytes, skipped",)),
        (b"\x1b[31m\xc2\x9b\n", (), ("line 1: not a whole record",)),
    ],
)
def test_what_is_not_a_record_is_told_with_its_line(
    text: bytes, runs: tuple[Run, ...], damage: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(text)
    reading = read_journal(str(path))
    assert reading.runs == runs
    assert len(reading.damage) == len(damage)
    assert all(said.startswith(expected) for said, expected in zip(reading.damage, damage, strict=True))
    assert unsafe_characters("".join(reading.damage)) == []


def test_a_place_that_cannot_be_read_is_damage_and_no_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "missing", tmp_path, tmp_path / "pipe", Path("nul\0")):
        reading = read_journal(str(place))
        assert reading.runs == ()
        assert reading.damage[0].startswith("the journal cannot be read: ")


def test_damage_without_end_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"x\n" * 1500 + encoded(A))
    reading = read_journal(str(path))
    assert reading.runs == (A,)
    assert len(reading.damage) == 1001
    assert reading.damage[-1] == "and 500 more"


def test_a_big_file_is_read_one_record_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(encoded(A) * 1000 + b"torn")
    scan = scan_journal(str(path))
    assert next(scan) == A
    rest = list(scan)
    assert rest[:-1] == [A] * 999
    assert isinstance(rest[-1], Damage)
    assert str(rest[-1]).startswith("line 1001: not a whole record")
