"""Trust under attack, at full count: changes behind the user's back (S1), and in the middle of a start (S2)."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.findings import Finding
from tests.trust.flipper import flipped_runs, one_hook
from tests.trust.trusted_samples import SAMPLES, TrustedProject, changes

Say = Callable[[str], None]

_FEWEST_TRIES = 200
_RUNS = 400


def s1(say: Say) -> Iterator[Finding]:
    """Every change of every entry: what was not trusted does not start."""
    tries = started = 0
    for sample in SAMPLES:
        with tempfile.TemporaryDirectory() as place:
            project, tampered = TrustedProject(Path(place).resolve(), sample), 0
            for what, document in changes(sample.document):
                project.write(document)
                strange, may_start = project.strangers()
                tampered += strange > 0
                started += len(may_start)
                for hook in may_start:
                    say(f"S1: after {what} this may start: {hook}")
            tries += tampered
            say(f"S1: {sample.dialect}, {tampered} changes of what a hook does")
    goal = f"0 of at least {_FEWEST_TRIES}"
    ok = started == 0 and tries >= _FEWEST_TRIES
    yield Finding("S1 changed hooks that may start", f"{started} of {tries:,}", goal, ok)


def s2(_say: Say) -> Iterator[Finding]:
    """A script that is exchanged every millisecond. Only sealed copies are safe from that; the rest is printed."""
    for name, sample, sealed in (
        ("a required hook, which runs a sealed copy", one_hook(required=True), True),
        ("any other hook, which is hashed just before its start", one_hook(), False),
    ):
        with tempfile.TemporaryDirectory() as place:
            seen = flipped_runs(Path(place).resolve(), sample, _RUNS)
        shown = f"{seen['evil']} of {_RUNS} ({seen['good']} trusted, {seen['refused']} refused)"
        ok = seen["good"] > 0 and seen["refused"] > 0 and not (sealed and seen["evil"])
        yield Finding(f"S2 other bytes that ran: {name}", shown, "0" if sealed else "printed", ok)
