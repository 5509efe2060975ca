"""Make up hostile frames: both clients understand the same, and the compiled one touches nothing else.

HOOKLINE_FRAMES=100000 tries so many of them.
"""

import os
import random
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from hookline.hook.relay import client
from hookline.hook.relay.build import COMPILERS
from tests.hook.relay.server import answer, frame, text

_CASES = int(os.environ.get("HOOKLINE_FRAMES", "1000"))
_SOURCE = Path(client.__file__).parent
#: Lengths at which arithmetic goes wrong.
_ODD = [
    0,
    1,
    3,
    4,
    5,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0xFFFF,
    1 << 28,
    (1 << 28) + 1,
    1 << 31,
    (1 << 32) - 5,
    (1 << 32) - 1,
]


def _whole(chance: random.Random) -> bytes:
    words = [bytes(chance.choices(b"abc", k=chance.choice([0, 0, 1, 5, 300]))) for _ in range(3)]
    kind = chance.choice([b"A", b"A", b"B", b"V"])
    body = (
        chance.choice([b"busy", b"version 2", b""])
        if kind == b"V"
        else answer(chance.choice([0, 2, 255]), *words)
    )
    return frame(kind, body)


def _made_up(chance: random.Random) -> bytes:
    given = bytearray(_whole(chance) + _whole(chance))
    for _ in range(chance.choice([0, 1, 1, 2, 4])):
        match chance.randrange(5):
            case 0:
                given[chance.randrange(len(given))] = chance.randrange(256)
            case 1:
                at = chance.choice([1, 5, 9, 13, 17, chance.randrange(len(given))])
                given[at : at + 4] = chance.choice(_ODD).to_bytes(4, "little")
            case 2:
                del given[chance.randrange(len(given) + 1) :]
            case 3:
                at = chance.randrange(len(given))
                given[at:at] = bytes(chance.choices(range(256), k=chance.randrange(8)))
            case _:
                given[:1] = chance.choice([b"A", b"B", b"V", b"G", b"\0"])
        if not given:
            break
    return bytes(given)


def _understood(given: bytes) -> bytes:
    """Return what client.py reads, in the words of frames.c."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(given)
        theirs.shutdown(socket.SHUT_WR)
        received, said = bytearray(), bytearray()
        for _ in range(2):
            try:
                kind, body = client.read_frame(ours, received)
            except client.LostError:
                said += b"lost "
                break
            said += kind + b" "
            if kind == b"V":
                said += client.refusal(body).encode()
            else:
                try:
                    code, *texts = client.read_answer(body)
                    said += b":".join((str(code).encode(), *texts))
                except client.LostError:
                    said += b"lost"
            said += b" "
    return bytes(said)


def _built(target: Path) -> bool:
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    options = [
        "-std=c11",
        "-g",
        "-O1",
        f"-I{_SOURCE}",
        '-DHOOKLINE_VERSION="0"',
        '-DHOOKLINE_OBSERVED=""',
        "-fsanitize=address,undefined",
    ]
    source = Path(__file__).with_name("frames.c")
    words = [compiler or "", *options, "-fno-sanitize-recover=all", str(source), "-o", str(target)]
    return compiler is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_both_understand_the_same_of_what_is_made_up(tmp_path: Path) -> None:
    if not _built(tmp_path / "frames"):
        pytest.skip("there is no C compiler that checks for memory errors")
    chance = random.Random(17)
    cases = [_made_up(chance) for _ in range(_CASES)]
    done = subprocess.run(
        [tmp_path / "frames"], input=b"".join(map(text, cases)), capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    understood = [_understood(each) for each in cases]
    assert done.stdout == b"".join(each + b"\n" for each in understood)
    kinds = [sum(each.startswith(kind) for each in understood) for kind in (b"A", b"B", b"V", b"lost")]
    assert all(count > _CASES // 20 for count in kinds), kinds
