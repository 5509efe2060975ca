import subprocess
import sys
import time

import pytest

from bench.soak_matching import EVIL_PATTERNS, findings, hostile_subject
from hookline import PatternError
from hookline.matching.patterns import LONGEST_PATTERN, LONGEST_SUBJECT, Expression, Patterns, compile_re2
from tests.every import every


@every(
    ("pattern", "problem"),
    [
        ("(?=a)b", "lookahead"),
        ("(?!a)b", "negative lookahead"),
        ("(?<=a)b", "lookbehind"),
        ("(?<!a)b", "lookbehind"),
        ("(?>a)b", "atomic"),
        ("(a)\\1", "back-references"),
        ("a{1001}", "at most 1000"),
        ("a++", "possessive"),
        ("a**", "repeat follows a repeat"),
        ("*a", "nothing to repeat"),
        ("(a", "( is never closed"),
        ("a)", ") has no ("),
        ("[a", "[ is never closed"),
        ("a\\", "escapes nothing"),
        ("[z-a]", "runs backwards"),
        ("\\p{Nope}", "does not exist"),
        ("(?P<n", "named group"),
        ("a\ud800.", "Unicode"),
        ("(a{1,30}){1,30}", "too large"),
        ("((a{100}){100}){100}", "at most 1000"),
        ("(?z)a", "group syntax"),
        ("\\y", "not a regular expression"),
    ],
)
def test_a_refused_pattern_says_what_is_wrong_in_words(pattern: str, problem: str):
    with pytest.raises(PatternError) as caught:
        Patterns().expression(pattern, anchored=True)
    assert problem in caught.value.problem
    assert caught.value.pattern == pattern


def test_a_refused_pattern_prints_nothing(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(PatternError):
        Patterns().expression("(?=a)", anchored=True)
    assert capfd.readouterr() == ("", "")


def test_each_distinct_pattern_is_compiled_once():
    patterns = Patterns()
    first = patterns.expression("a.*", anchored=True)
    assert patterns.expression("a.*", anchored=True) is first
    assert patterns.expression("a.*", anchored=False) is not first
    assert len(patterns) == 2


def test_the_table_is_bounded_and_forgets_the_oldest():
    patterns = Patterns(remembered=2)
    first = patterns.expression("a.", anchored=True)
    patterns.expression("b.", anchored=True)
    patterns.expression("c.", anchored=True)
    assert len(patterns) == 2
    assert patterns.expression("a.", anchored=True) is not first


def test_a_pattern_that_is_too_long_is_refused_and_a_long_list_is_not():
    with pytest.raises(PatternError, match="at most"):
        Patterns().expression("." * (LONGEST_PATTERN + 1), anchored=True)
    long_list = "|".join(f"mcp__server{number}__tool" for number in range(200))
    assert len(long_list) <= LONGEST_PATTERN
    assert Patterns().expression(long_list, anchored=True).found("mcp__server7__tool")


def test_anchored_means_the_whole_subject():
    patterns = Patterns()
    assert not patterns.expression("a", anchored=True).found("ab")
    assert patterns.expression("a", anchored=False).found("xab")
    assert not patterns.expression("a", anchored=True).found("a\n")


@every(
    "pattern", ["Bash", "Bash|Read", "read_file|a-b|c d,e", "|Bash", "Bash|", "a||b", "|", "a", "Bash|Bash"]
)
@every("anchored", [True, False])
def test_plain_words_mean_what_they_mean_to_re2(pattern: str, anchored: bool):
    own, of_re2 = Patterns().expression(pattern, anchored=anchored), compile_re2(pattern, anchored)
    for subject in (
        "",
        "a",
        "Bash",
        "Bash\n",
        "xBash",
        "bash",
        "c d,e",
        "c d",
        "read_file2",
        "\ud800",
        "x" * 1025,
    ):
        assert own.found(subject) is of_re2.found(subject), subject


@every(("pattern", "needed"), [("write_file|replace", False), ("write_.+", True)])
def test_only_an_expression_needs_re2(pattern: str, needed: bool):
    code = (
        "import sys; from hookline.matching.patterns import Patterns;"
        f" Patterns().expression({pattern!r}, anchored=False); print('re2' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == str(needed)


def test_a_subject_too_long_to_be_a_name_counts_as_found():
    expression = Patterns().expression("never", anchored=True)
    assert not expression.found("x" * LONGEST_SUBJECT)
    assert expression.found("x" * (LONGEST_SUBJECT + 1))


def test_a_lone_surrogate_in_a_subject_does_not_raise():
    assert not Patterns().expression("a.", anchored=True).found("\ud800")


def test_a_fallback_is_asked_about_what_re2_refuses():
    class Yes:
        def found(self, subject: str) -> bool:
            return subject == "yes"

    asked: list[tuple[str, bool]] = []

    def fallback(pattern: str, anchored: bool) -> Expression:
        asked.append((pattern, anchored))
        return Yes()

    patterns = Patterns(fallback)
    assert patterns.expression("(?=y)yes", anchored=False).found("yes")
    assert patterns.expression("plain.", anchored=True).found("plain!")
    assert asked == [("(?=y)yes", False)]


@pytest.mark.parametrize("length", [1 << 20, LONGEST_SUBJECT])
def test_no_hostile_pattern_takes_long(length: int):
    subject = hostile_subject(length)
    assert len(EVIL_PATTERNS) >= 60
    for pattern in EVIL_PATTERNS:
        try:
            expression = Patterns().expression(pattern, anchored=True)
        except PatternError:
            continue
        begun = time.process_time()
        expression.found(subject)
        assert time.process_time() - begun < 0.1, pattern


@pytest.mark.unmeasured
def test_the_soak_of_this_layer_runs_and_reports():
    found = list(findings(searched=10, every=200))
    assert len(found) == 5
    assert all(str(finding) for finding in found)
