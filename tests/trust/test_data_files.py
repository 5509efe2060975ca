"""Test which files of a command are data, and which are run."""

from hookline.trust.data_files import is_data
from tests.every import every

_DATA = (
    "grep -q OK f",
    "grep -iq OK f",
    "jq -e .ok f > /dev/null",
    'test "$(cat f)" = ok',
    "tail -n1 f | grep -q ok",
    "grep -q x < f",
    "cmp -s f other.txt",
    "cmp --bytes=9 -s f other.txt",
    "grep --quiet OK f",
    'grep -q OK "$CLAUDE_PROJECT_DIR"/f',
)
#: What it prints is the answer of the hook.
_ANSWERS = (
    "cat f",
    "jq . f",
    "grep decision f",
    "tail -1 f",
    "cat f 2> /dev/null",
    "grep -q x y; cat f",
    "grep -hesq f",
    "grep -eq f",
    "grep -e -q f",
    "grep $X -q f",
    "cmp --bytes=9 -ls other f -i s",
    "cmp -n s f g",
    "cat f; ls > /dev/null",
    "cat f '> /dev/null '",
)
_RUN = (
    "sh f", "bash ./f", ". f", "source f", "python3 f", "./f", "awk -f f x", "sed -f f x", "jq -f f x", "make -f f",
    "cat f | sh", "cat f | xargs sh -c", 'sh -c "$(cat f)"', 'eval "$(cat f)"', "$(cat f)", "sh < f", "sed e f",
    "while read l; do eval $l; done < f", "grep x f && sh f", "./grep x f", "PATH=. grep x f", "crontab f", "pytest f",
    "alias grep=sh; grep x f", "git apply f", "bc < f",
    'grep() { sh "$2"; }; grep x f', "unknown f", "ssh -F f host", "curl -K f", "node --env-file=f x.js", "perl f",
)  # fmt: skip


@every("line", _DATA)
def test_what_a_known_program_only_reads_is_data(line: str) -> None:
    text = "$CLAUDE_PROJECT_DIR/f" if "$CLAUDE" in line else "f"
    assert is_data(line, text)


@every("line", (*_RUN, *_ANSWERS))
def test_what_runs_or_may_run_is_not(line: str) -> None:
    assert not is_data(line, "f")
    assert not is_data(line, "./f")
