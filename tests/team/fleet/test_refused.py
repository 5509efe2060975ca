"""Test that no bundle is activated that was tampered with, has expired, goes back or is for others."""

import asyncio
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hookline.config.bundles.format import (
    BundleFile,
    BundleScope,
    digest_of,
    encode_body,
    message_of,
    seal,
    split,
)
from hookline.team.fleet.bundles.follow import pull
from hookline.team.fleet.bundles.keys import SigningKey
from hookline.team.fleet.bundles.transport import DirectoryTransport
from tests.team.fleet.machines import FILES, GUARD, Machine, bundle, key, signed

#: What must be refused, by the code that says why; `waiting` is for others, which is not a fault.
Case = tuple[str, frozenset[str], bytes]
_DAY = 86_400


def _codes(*codes: str) -> frozenset[str]:
    return frozenset(codes)


_DAMAGED = _codes("not-a-bundle", "signature", "digest", "key", "too-big")


def _flipped() -> Iterator[Case]:
    """Each part of the file with some of its bits turned, and all of the line before the body."""
    raw = signed(9)
    head = raw.index(b"\n") + 1
    chosen = random.Random(19).sample(range(head, len(raw)), 40)
    places = [*range(0, head, 6), head - 1, *chosen, len(raw) - 1]
    for place in places:
        changed = bytearray(raw)
        changed[place] ^= 1 << (place % 8)
        yield f"byte {place} flipped", _DAMAGED, bytes(changed)


def _cut() -> Iterator[Case]:
    raw = signed(9)
    for length in (0, 1, 20, raw.index(b"\n"), raw.index(b"\n") + 1, len(raw) // 2, len(raw) - 1):
        yield f"cut to {length}", _DAMAGED, raw[:length]
    yield "longer by a byte", _DAMAGED, raw + b" "
    yield "twice", _DAMAGED, raw + raw
    yield "too big", _DAMAGED, raw + b" " * 1_000_000


def _recomputed() -> Iterator[Case]:
    """The body changed, and the digest of the head made to fit."""
    envelope = split(signed(9))
    changed_fields: tuple[tuple[str, Any], ...] = (
        ("revision", 10), ("expires", 2_000_000_000), ("stage", 9_999), ("scope", {"machines": ["*"]}),
        ("name", "other"), ("hooks", "bin/check.sh"), ("files", []), ("digest", "0" * 64), ("issued", 1),
    )  # fmt: skip
    for field, value in changed_fields:
        body: Any = msgspec.json.decode(envelope.body)
        body[field] = value
        changed = seal(envelope.key, envelope.signature, msgspec.json.encode(body))
        yield f"{field} changed", _codes("signature"), changed
    other = split(signed(8))
    yield (
        "signature of another bundle",
        _codes("signature"),
        seal(envelope.key, other.signature, envelope.body),
    )
    yield "no signature", _codes("signature"), seal(envelope.key, bytes(64), envelope.body)


def _of_others() -> Iterator[Case]:
    stranger = key(7)
    yield "another key", _codes("key"), signed(9, stranger)
    body = encode_body(bundle(9))
    forged = stranger.sign_bytes(message_of(body))
    yield (
        "another key under the id of a believed one",
        _codes("signature"),
        seal(key().id, forged, body),
    )
    bare = key().sign_bytes(body)
    yield "signed as something else than a bundle", _codes("signature"), seal(key().id, bare, body)
    for scope in (
        BundleScope(machines=("beta",)), BundleScope(machines=("alpha?", "Alpha")), BundleScope(groups=("frontend",)),
        BundleScope(machines=("b*",), groups=("ops",)),
    ):  # fmt: skip
        yield f"for {scope}", _codes("waiting"), signed(9, scope=scope)
    yield "no stage", _codes("waiting"), signed(9, stage=0)


def _at_other_times() -> Iterator[Case]:
    now = int(time.time())
    for seconds in (1, 60, _DAY, 400 * _DAY):
        yield (
            f"expired {seconds} s ago",
            _codes("expired"),
            signed(9, issued=now - 500 * _DAY, expires=now - seconds),
        )
    yield "expires before it is issued", _codes("expired"), signed(9, issued=now, expires=now - 5)
    # Cases are made when the tests begin, which may be half an hour earlier on a busy machine.
    for seconds in (3_600, _DAY, 4_000 * _DAY):
        yield (
            f"issued {seconds} s from now",
            _codes("future"),
            signed(9, issued=now + seconds, expires=now + seconds + _DAY),
        )


def _going_back() -> Iterator[Case]:
    for revision in range(1, 5):
        yield f"revision {revision}", _codes("revision"), signed(revision)
    other = (BundleFile("hooks.toml", GUARD.encode()),)
    yield (
        "the same revision with other hooks",
        _codes("revision"),
        signed(5, files=other, digest=digest_of("hooks.toml", other), issued=int(time.time()) + 60),
    )
    yield "the same revision, issued earlier", _codes("revision"), signed(5, issued=int(time.time()) - 60)


def _with_odd_files() -> Iterator[Case]:
    """Signed by the believed key: a publisher that is not ours, or was deceived."""
    paths = (
        "../out.sh", "/etc/cron.d/x", "a/../../out", "a//b", "./a", "a/.", "..", "a\\..\\b", "C:x", "a\nb", ".hidden",
        "a/.git/config", "a/" * 8 + "x", "x" * 201, "", "HOOKS.toml", "hooks.toml/below",
    )  # fmt: skip
    for path in paths:
        files = (*FILES, BundleFile(path, b"x"))
        yield f"a file {path[:20]!r}", _codes("path"), signed(9, files=files)
    for name in ("../x", "a/b", "", "A", "x" * 65, "a\n"):
        yield f"the name {name[:9]!r}", _codes("content"), signed(9, name=name)
    for change in ({"revision": 0}, {"stage": 10_001}, {"revision": 1 << 60}, {"issued": -1}):
        yield f"{change}", _codes("content"), key().sign(replace(bundle(9), **change))
    yield "a file twice", _codes("path"), signed(9, files=(*FILES, FILES[1]))
    yield (
        "too many files",
        _codes("files"),
        signed(9, files=(*FILES, *(BundleFile(f"f{number}", b"") for number in range(500)))),
    )
    yield "no hooks file", _codes("content"), signed(9, hooks="other.toml")
    yield "digest of other files", _codes("digest"), signed(9, digest="0" * 64)
    broken = (BundleFile("hooks.toml", b"[[hooks.PreToolUse]]\nmatcher = '('\n[[hooks.PreToolUse.hooks]]\n"),)
    yield "hooks that do not load", _codes("loads"), signed(9, files=broken)
    for text in (b"hooks = [", b"\xff\xfe", b"[hooks]\nPreToolUze = []\n"):
        yield f"hooks {text[:9]!r}", _codes("loads"), signed(9, files=(BundleFile("hooks.toml", text),))


CASES = [
    *_flipped(), *_cut(), *_recomputed(), *_of_others(), *_at_other_times(), *_going_back(), *_with_odd_files()
]  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    found = Machine(tmp_path, more='groups = ["backend"]\n')
    assert found.activator.offer(signed(5)).what == "activated"
    return found


def test_none_of_them_is_put_in_force_and_the_last_good_one_stays(machine: Machine) -> None:
    before = machine.active.read_bytes()
    own = machine.activator
    wrong: list[str] = []
    for what, codes, raw in CASES:
        result = own.offer(raw)
        code = result.what if result.what != "refused" else result.code
        if code not in codes or machine.active.read_bytes() != before:
            wrong.append(f"{what}: {result}")
    assert not wrong, "\n".join(wrong)
    assert len(CASES) >= 100
    assert machine.in_force() == 5
    assert {each.name for each in machine.bundles.rglob("*") if each.is_file()} == {
        "active.bundle", "in-force.json", "report.json", "lock", "hooks.toml", "check.sh",
    }  # fmt: skip
    assert not list(machine.home.parent.rglob("out*"))


def test_the_last_good_one_still_decides_and_what_was_refused_is_reported(machine: Machine) -> None:
    for _what, _codes_of, raw in CASES[::7]:
        machine.activator.offer(raw)
    said = machine.ask("git push --force")
    assert said.blocked
    refused = machine.activator.store.report().refused
    assert refused
    assert all(each.why and each.at for each in refused)
    assert not machine.ask("git status").blocked


def test_without_the_check_of_signatures_tampered_ones_would_be_taken(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above can fail: its cases reach the check."""

    def believes(*_: object) -> None:
        """Everything."""

    monkeypatch.setattr("hookline.team.fleet.bundles.activate.verify", believes)
    taken = [what for what, _, raw in _recomputed() if machine.activator.offer(raw).what == "activated"]
    assert "revision changed" in taken
    assert "expires changed" not in taken  # by then a higher revision is active


def test_what_is_right_is_taken(machine: Machine) -> None:
    """Check that the cases above are refused for their fault: the same bundle without it is taken."""
    own = machine.activator
    assert own.offer(signed(9)).what == "activated"
    assert own.offer(signed(10, scope=BundleScope(machines=("alp*",)))).what == "activated"
    assert own.offer(signed(11, scope=BundleScope(machines=("x",), groups=("backend",)))).what == "activated"
    assert (
        own.offer(signed(11, scope=BundleScope(groups=("backend",)), issued=int(time.time()) + 9)).what
        == "renewed"
    )
    assert machine.in_force() == 11
    assert not own.store.report().refused


def test_a_machine_that_believes_two_keys_takes_bundles_of_both(tmp_path: Path) -> None:
    keys: list[SigningKey] = [key(1), key(2)]
    own = Machine(tmp_path, keys=keys).activator
    assert [own.offer(signed(number, by)).what for number, by in enumerate(keys, 1)] == ["activated"] * 2
    assert own.offer(signed(3)).code == "key"


def test_what_lies_in_a_directory_is_refused_by_its_name_until_it_is_gone(tmp_path: Path) -> None:
    """Others may write there: a pipe blocks no one, and a removed file is no longer a problem."""
    machine, bundles = Machine(tmp_path), tmp_path / "share" / "bundles"
    bundles.mkdir(parents=True)
    os.mkfifo(bundles / "pipe.1.bundle")
    (bundles / "folder.1.bundle").mkdir()
    (bundles / "guards.1.bundle").write_bytes(signed(1))

    def look() -> list[str]:
        transport = DirectoryTransport(str(tmp_path / "share"))
        return [each.line for each in asyncio.run(pull(machine.activator, transport, machine.env))]

    lines = look()
    assert [line.partition(": it is")[0] for line in lines] == [
        "a bundle: refused: published as folder.1",
        "guards 1: activated",
        "a bundle: refused: published as pipe.1",
    ]
    assert "published as pipe.1" in machine.activator.store.report().refused[0].why
    (bundles / "pipe.1.bundle").unlink()
    (bundles / "folder.1.bundle").rmdir()
    assert look() == ["guards 1: unchanged"]
    assert machine.activator.store.report().refused == ()
