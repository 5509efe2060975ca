import subprocess
import sys
from difflib import get_close_matches
from random import Random

from hookline.matching.nearest import nearest
from tests.every import every

NAMES = ("read_file", "write_file", "run_shell_command", "glob", "Bash", "PreToolUse", "PostToolUse", "a", "")


@every("alike", [0.5, 0.6, 0.75, 0.9])
def test_the_nearest_is_the_one_that_difflib_calls_closest(alike: float):
    random = Random(7)
    folded = {name.casefold(): name for name in NAMES}
    for _ in range(2_000):
        word = list(random.choice(NAMES))
        for _ in range(random.randrange(4)):
            word.insert(random.randrange(len(word) + 1), random.choice("aebstR_x"))
        word = "".join(word)[random.randrange(2) :]
        expected = get_close_matches(word.casefold(), folded, n=1, cutoff=alike)
        assert nearest(word, NAMES, alike) == (folded[expected[0]] if expected else None), word


@every(("word", "needed"), [("Tool7", False), ("read_fil", True)])
def test_a_word_that_is_like_nothing_is_seen_without_difflib(word: str, needed: bool):
    code = (
        "import sys; from hookline.matching.nearest import nearest;"
        f" nearest({word!r}, {NAMES!r}, 0.75); print('difflib' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == str(needed)


@every(("word", "expected"), [("preToolCall", "preToolUse"), ("PreToolCall", "PreToolUse")])
def test_of_two_that_differ_in_case_the_one_that_begins_alike(word: str, expected: str):
    assert nearest(word, ("preToolUse", "PreToolUse")) == expected
    assert nearest(word, ("PreToolUse", "preToolUse")) == expected
