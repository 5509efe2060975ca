"""What hostile patterns and hostile shell lines cost, at the counts of the goal sheet."""

import time
from collections.abc import Iterator

from bench.findings import Finding
from hookline.matching.matchers import parse_matcher
from hookline.matching.patterns import LONGEST_SUBJECT, Patterns
from hookline.matching.shell import ShellReader
from hookline.model.errors import PatternError

#: Patterns that take a backtracking engine for ever, or that ask for what re2 does not have.
EVIL_PATTERNS: tuple[str, ...] = (
    *(
        pattern.replace("A", "[a-z]")
        for pattern in (
            "(A+)+$", "(A*)*$", "(A|A)*$", "(A|A?)+$", "(.*A){20}", "(A+)+b", "^(A+)*b$", "((A+)+)+$",
            "(A?){30}A{30}", "(A{1,30}){1,30}$", "(.*)*!", "(.+)+!", "(.*.*.*.*.*)!", "(\\w+\\s?)*!",
            "(\\w*\\d*\\w*)*!", "([^x]+)+x", "(A+A+)+!", "(A|AA)+$", "(AA|A)*!", "(A+|A+)*!",
            "A*A*A*A*A*A*A*A*!", ".*.*.*.*.*.*.*!", "(.*)(.*)(.*)(.*)!", "(A.*)*!", "(?i)(a+)+$",
            "(?s)(.*)+!", "(a|b|c|d|e|f)*!", "(a|ab|abc|abcd)*!", "(A*!)*", "(?:A+){2,50}!",
        )
    ),
    "(a|b)*a(a|b){12}", "[ab]*a[ab]{14}", "(.*a){8}.*", ".*a.{10}b.*", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$",
    "([a-zA-Z0-9])(([-.]|[_]+)?([a-zA-Z0-9]+))*!", "(a{0,50}){0,10}!", "(a{0,45}){0,10}!", "(((a*)*)*)*!",
    "(a?a?a?a?a?)*!",
    "a{1001}", "(a{1000}){1000}", "((a{100}){100}){100}", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(a)\\1",
    "(?P<n>a)(?P=n)", "a++b", "(?>a+)b", "(", "[", "*a", "a**", "\\", "(?P<n", "[z-a]", "\\p{Nope}", ")",
)  # fmt: skip


def hostile_subject(length: int) -> str:
    return "a" * (length - 1) + "\n"


def pattern_costs(length: int) -> Iterator[tuple[str, float | None]]:
    """Milliseconds of one question for each pattern; None where the pattern is refused."""
    patterns, shell = Patterns(), ShellReader()
    parse_matcher("warm.*up", patterns, shell)
    subject = hostile_subject(length)
    for pattern in EVIL_PATTERNS:
        try:
            matcher, _condition = parse_matcher(f"{pattern}|.*never", patterns, shell)
        except PatternError:
            yield pattern, None
            continue
        assert matcher is not None
        begun = time.process_time()
        matcher.matches(subject)
        yield pattern, (time.process_time() - begun) * 1e3


def evil_patterns() -> Iterator[Finding]:
    """S10: no pattern over 10 ms of CPU on 1 MiB (not searched: it counts as found), nor on the longest
    subject that is searched."""
    for name, length in (("1 MiB", 1 << 20), ("the longest subject searched", LONGEST_SUBJECT)):
        costs = list(pattern_costs(length))
        refused = sum(cost is None for _pattern, cost in costs)
        worst, pattern = max((cost, pattern) for pattern, cost in costs if cost is not None)
        yield Finding(
            f"S10 {len(costs)} hostile patterns on {name}",
            f"worst {worst:.2f} ms ({pattern}), {refused} refused when read",
            "<= 10 ms",
            worst <= 10,
        )


HOSTILE_LINES: tuple[str, ...] = (
    "a;" * 8000, "x=(" * 4000, "${" * 5000, "f() " * 3900, "<<E " * 3000, "a[ " * 5000, "$(" * 5000,
    'x=(")" ' * 2000, "docker run " + "a " * 8000, "sudo " * 3000 + "rm y", "strace " * 2000,
    "npx 'a b' " * 1500, "echo " + "$(a)" * 500, "a" * 16000, '"' * 16000, "\\" * 16000, "`" * 16000,
    "a && " * 3000 + "b", "eval " * 3000 + "ls", "docker exec " * 1300, "if " * 4000, "! " * 8000,
    "case a in " * 1500, "[[ " * 4000, "{ " * 8000, "sh -c 'sh -c ls' " * 500, "a|" * 8000, "a<b " * 4000,
    "?fi" * 5000, "a == " * 3000, "for - " * 2500, ") " * 8000,
)  # fmt: skip


def hostile_lines() -> Iterator[Finding]:
    """The slowest reading of a shell line made to be slow."""
    reader = ShellReader()
    reader.read("ls")
    worst, line = 0.0, ""
    for candidate in HOSTILE_LINES:
        begun = time.process_time()
        reader.read(candidate)
        cost = (time.process_time() - begun) * 1e3
        if cost > worst:
            worst, line = cost, candidate[:20]
    yield Finding(
        f"{len(HOSTILE_LINES)} hostile shell lines",
        f"worst {worst:.1f} ms ({line!r})",
        "<= 250 ms",
        worst <= 250,
    )


def findings() -> Iterator[Finding]:
    yield from evil_patterns()
    yield from hostile_lines()


if __name__ == "__main__":
    for finding in findings():
        print(finding)
