"""Follow data through a line: the commands whose output, or whose list of names, reaches another one."""

from base64 import b32decode, b64decode
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from hookline.shell import HOLE, ShellReading

#: They read files and print numbers: guards let what they print pass.
MEASURES = frozenset(
    ("wc", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "b2sum", "cksum", "sum", "file")
)
_MOST_FLOWS = 400
_LONGEST_DECODED = 200

#: Pairs of commands: the output of the first reaches the second.
DataFlows = Sequence[tuple[int, int]]


#: The last line: one guard after another asks for its flows.
_last: tuple[ShellReading, DataFlows] | None = None


def flows_of(reading: ShellReading) -> DataFlows:
    """Return the flows of a line, with those of text that it keeps: in a file, an array, or the list of xargs.

    What goes into those may come out at every later command whose words only the shell knows.
    """
    global _last
    known = _last
    if known is None or known[0] is not reading:
        known = _last = reading, _flows(reading)
    return known[1]


def _flows(reading: ShellReading) -> DataFlows:
    flows: list[tuple[int, int]] = list(reading.flows[:_MOST_FLOWS])
    commands = reading.commands
    kept = {target for _, target in flows if commands[target].does("keeps")}
    spread = [at for at, one in enumerate(commands) if one.does("spreads")]
    read = [*reading.reads, *(word for at in spread for word in commands[at].words)]
    read += (word for one in commands if one.does("shows") for word in one.words[1:])
    written = [
        *reading.writes,
        *(word for one in commands if one.base_name == "tee" for word in one.words[1:]),
    ]
    again = not set(written).isdisjoint(read)
    if not (kept or spread or again):
        return flows
    sources = range(len(commands)) if again else sorted(kept.union(spread))
    takes = [at for at, one in enumerate(commands) if any(HOLE in word for word in one.words[1:])]
    flows += [(source, target) for source in sources for target in takes if again or target > source]
    return flows[: 4 * _MOST_FLOWS]


def decoded(texts: Sequence[str]) -> Iterator[str]:
    """Yield what programs that decode or turn texts around may make of these."""
    for text in texts:
        if 1 < len(text) < _LONGEST_DECODED and text.isascii():
            yield text[::-1]
            for decode in (partial(b64decode, validate=True), b32decode, bytes.fromhex):
                with suppress(ValueError):
                    yield decode(text).decode().strip()


def feeding(at: int, flows: DataFlows) -> list[int]:
    """Return the commands whose output reaches a command, directly or through others."""
    into: dict[int, list[int]] = {}
    for source, target in flows:
        into.setdefault(target, []).append(source)
    # In the order in which they were found, each once.
    found: dict[int, None] = {}
    waiting = [at]
    for each in waiting:
        new = [source for source in into.get(each, ()) if source != at and source not in found]
        found.update(dict.fromkeys(new))
        waiting += dict.fromkeys(new)
    return list(found)
