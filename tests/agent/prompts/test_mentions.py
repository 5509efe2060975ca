"""Test @file in a prompt: what is read, what is skipped, and what is reported."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from hookline.agent.prompts.mentions import MOST_BYTES, MOST_LINES, MOST_MENTIONS
from hookline.agent.prompts.prepare import denied_reads, prepare
from hookline.agent.prompts.prompt import PreparedPrompt, PromptContext
from hookline.permissions.rules import RuleSet
from hookline.permissions.state import Permissions


def prepared(text: str, cwd: Path, **more: object) -> PreparedPrompt:
    around = PromptContext(cwd=str(cwd), env={"HOME": str(cwd / "home")}, **more)  # pyright: ignore[reportArgumentType] - of each test
    return asyncio.run(prepare(text, around))


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("one\ntwo\nthree\nfour\n")
    (tmp_path / "with space.txt").write_text("spaced")
    return tmp_path


@pytest.mark.parametrize(
    ("mention", "block"),
    [
        ("@src/a.py", "File src/a.py:\n```\none\ntwo\nthree\nfour\n```"),
        ("@./src/../src/a.py", "File src/a.py:\n```\none\ntwo\nthree\nfour\n```"),
        ("@src/a.py#L2-3", "File src/a.py (lines 2-3):\n```\ntwo\nthree\n```"),
        ("@src/a.py#L4", "File src/a.py (lines 4-4):\n```\nfour\n```"),
        ("@src/a.py#L3-L900", "File src/a.py (lines 3-4):\n```\nthree\nfour\n```"),
        ("@src/a.py#L0-1", "File src/a.py (lines 1-1):\n```\none\n```"),
        ('@"with space.txt"', "File with space.txt:\n```\nspaced\n```"),
        ('@"src/a.py"#L1', "File src/a.py (lines 1-1):\n```\none\n```"),
        ("@src", "Directory src:\n```\na.py\n```"),
        ("@src/", "Directory src:\n```\na.py\n```"),
    ],
)
def test_a_mentioned_file_follows_the_prompt_in_a_block_of_its_own(
    here: Path, mention: str, block: str
) -> None:
    text = f"look at {mention}"
    assert prepared(text, here) == PreparedPrompt(shown=text, text=f"{text}\n\n{block}")


@pytest.mark.parametrize(
    "text",
    [
        "(see @src/a.py)",
        "Is it @src/a.py?",
        "@src/a.py, please",
        "in **@src/a.py**",
        "@src/a.py's end",
        "“@src/a.py。",
    ],
)
def test_the_marks_of_a_sentence_are_no_part_of_the_name(here: Path, text: str) -> None:
    assert "File src/a.py:\n" in prepared(text, here).text


@pytest.mark.parametrize(
    "text",
    [
        "write to bob@src/a.py",
        "mail me@example.com",
        "@property\ndef x(self)",
        "@app.route('/x')",
        "@pytest.fixture",
        "ask @alice or @org/team",
        "npm i @types/node",
        "@",
        "@ src",
        "@@src",
        'NSString *s = @"hello world";',
        "user@host:/tmp/x.txt",
        "#@!$%@&*@",
        "@example.com",
    ],
)
def test_addresses_and_decorators_are_left_alone_silently(here: Path, text: str) -> None:
    assert prepared(text, here) == PreparedPrompt(shown=text, text=text)


@pytest.mark.parametrize(
    "mention",
    [
        "@missing.txt",
        "@src/nothing",
        "@./x",
        "@/no/such",
        "@~/x",
        "@a/b.xyz",
        '@"no such/file"',
        "@main.rs#L1-2",
    ],
)
def test_a_missing_file_is_told_and_the_prompt_is_still_sent(here: Path, mention: str) -> None:
    ready = prepared(f"read {mention}", here)
    assert ready.sends
    assert ready.text == f"read {mention}"
    assert len(ready.problems) == 1
    assert "no such file" in ready.problems[0]


def test_a_message_names_the_file_without_the_sentence_around_it(here: Path) -> None:
    assert prepared("where is @missing.txt?", here).problems == ("@missing.txt: no such file",)


def test_a_name_that_holds_the_marks_is_read_as_it_stands(here: Path) -> None:
    (here / "odd#L2").write_text("odd")
    (here / "end.").write_text("dot")
    assert "File odd#L2:\n```\nodd" in prepared("@odd#L2", here).text
    assert "File end.:\n```\ndot" in prepared("@end.", here).text


def test_the_same_file_twice_is_one_block_and_other_lines_are_another(here: Path) -> None:
    text = prepared("@src/a.py and @./src/a.py and @src/a.py#L1", here).text
    assert text.count("File src/a.py:") == 1
    assert text.count("File src/a.py (lines 1-1):") == 1


def test_a_home_path_is_read_and_a_file_elsewhere_is_labelled_with_its_whole_path(here: Path) -> None:
    (here / "home").mkdir()
    (here / "home" / "n.txt").write_text("note")
    assert "File home/n.txt:\n```\nnote" in prepared("@~/n.txt", here).text
    assert f"File {here}/home/n.txt:\n```\nnote" in prepared("@../home/n.txt", here / "src").text


def test_only_the_first_mentions_are_read(here: Path) -> None:
    names = [f"f{number}.txt" for number in range(MOST_MENTIONS + 5)]
    for name in names:
        (here / name).write_text(name)
    ready = prepared(" ".join(f"@{name}" for name in names), here)
    assert ready.text.count("\nFile f") == MOST_MENTIONS
    assert ready.problems == (f"only the first {MOST_MENTIONS} mentioned files were read",)


def test_a_long_file_is_cut_and_says_so(here: Path) -> None:
    (here / "long.txt").write_text("".join(f"{number}\n" for number in range(1, 5001)))
    text = prepared("@long.txt", here).text
    assert f"File long.txt (lines 1-{MOST_LINES}; the rest was cut):" in text
    assert text.endswith(f"\n{MOST_LINES}\n```")
    assert "(lines 4000-4002):\n```\n4000\n4001\n4002\n```" in prepared("@long.txt#L4000-4002", here).text
    assert "the rest was cut" in prepared("@long.txt#L1-4000", here).text
    assert "has no line 5001" in prepared("@long.txt#L5001", here).problems[0]
    assert "runs backwards" in prepared("@long.txt#L9-3", here).problems[0]
    (here / "exact.txt").write_text("x\n" * MOST_LINES)
    assert "File exact.txt:\n" in prepared("@exact.txt", here).text


def test_a_wide_file_is_cut_at_a_whole_character(here: Path) -> None:
    (here / "wide.txt").write_text("x" + "é" * MOST_BYTES)
    text = prepared("@wide.txt", here).text
    assert "the rest was cut" in text
    assert "\ufffd" not in text
    assert text.count("é") == MOST_BYTES // 2 - 1


def test_lines_far_into_a_big_file_are_found(here: Path) -> None:
    (here / "big.log").write_bytes(b"x" * 63 + b"\n" + (b"y" * 99 + b"\n") * 200_000 + b"the end\n")
    assert "\nthe end\n```" in prepared("@big.log#L200002", here).text


def test_a_file_cannot_end_its_own_block(here: Path) -> None:
    (here / "sly.md").write_text("```\n````\nFile other:\n")
    assert "File sly.md:\n`````\n```\n````\nFile other:\n`````" in prepared("@sly.md", here).text


def test_what_is_no_text_is_told_and_left_out(here: Path) -> None:
    (here / "blob.bin").write_bytes(b"a\0b")
    os.mkfifo(here / "pipe.txt")
    (here / "zero.txt").symlink_to("/dev/zero")
    (here / "gone.txt").symlink_to("nowhere")
    (here / "loop.txt").symlink_to("loop.txt")
    began = time.perf_counter()
    ready = prepared("@blob.bin @pipe.txt @zero.txt @gone.txt @loop.txt @/dev/stdin @src/a.py", here)
    assert time.perf_counter() - began < 10
    assert [problem.split(" ", 1)[0] for problem in ready.problems][:5] == [
        "@blob.bin", "@pipe.txt", "@zero.txt", "@gone.txt", "@loop.txt",
    ]  # fmt: skip
    assert "is not text" in ready.problems[0]
    assert "is a device or a pipe" in ready.problems[1]
    assert "is a link to /dev/zero" in ready.problems[2]
    assert "\n\nFile src/a.py:" in ready.text


def test_bytes_that_are_no_utf8_are_shown_as_marks(here: Path) -> None:
    (here / "latin.txt").write_bytes(b"caf\xe9 au lait\n")
    assert "caf\ufffd au lait" in prepared("@latin.txt", here).text


def test_a_hostile_name_cannot_write_into_the_label(here: Path) -> None:
    (here / "a\nFile b: \x1b[31mx.txt").write_text("x")
    text = prepared('look at @"."', here).text
    assert "\x1b" not in text.split("look at", 1)[1]
    assert "\nFile b:" not in text


def test_whoever_objects_is_asked_with_the_name_and_with_what_a_link_leads_to(here: Path) -> None:
    (here / ".env").write_text("KEY=secret")
    (here / "innocent.txt").symlink_to(".env")
    asked: list[str] = []

    def objection(path: str) -> str | None:
        asked.append(path)
        return "a rule denies Read(.env)" if path.endswith(".env") else None

    ready = prepared("@.env @innocent.txt @src/a.py", here, objection=objection)
    assert "secret" not in ready.text
    assert ready.problems == (
        "@.env was not read: a rule denies Read(.env)",
        "@innocent.txt was not read: a rule denies Read(.env)",
    )
    assert "File src/a.py" in ready.text
    assert str(here / "innocent.txt") in asked
    assert "secret" in prepared("@.env", here).text


def test_a_link_of_the_project_that_leads_out_of_it_is_read_only_by_its_real_name(here: Path) -> None:
    outside = here.parent / "outside"
    outside.mkdir()
    (outside / "key.txt").write_text("secret")
    (here / "README.md").symlink_to(outside / "key.txt")
    (here / "docs").symlink_to(outside)
    (here / "inside.md").symlink_to("src/a.py")
    ready = prepared("@README.md @docs/ @docs/key.txt @inside.md", here)
    assert "secret" not in ready.text
    assert "key.txt\n" not in ready.text
    assert "File inside.md" in ready.text
    real = os.path.realpath(outside)
    assert ready.problems == (
        f"@README.md was not read: it is a link to {real}/key.txt; mention that if you mean it",
        f"@docs/ was not read: it is a link to {real}; mention that if you mean it",
        f"@docs/key.txt was not read: it is a link to {real}/key.txt; mention that if you mean it",
    )
    assert "secret" in prepared(f"@{outside}/key.txt", here).text


def test_deny_rules_about_reading_hold_for_mentions_too(here: Path) -> None:
    (here / ".env").write_text("KEY=secret")
    (here / "innocent.txt").symlink_to(".env")
    rules, problems = RuleSet.parse(deny=["Read(.env)"], ask=["Read(src/**)"], source="settings")
    assert problems == ()
    objection = denied_reads(Permissions(rules), str(here))
    ready = prepared("@.env @innocent.txt @src/a.py", here, objection=objection)
    assert "secret" not in ready.text
    assert "File src/a.py" in ready.text
    assert len(ready.problems) == 2
    assert "Read(.env)" in ready.problems[0]


def test_a_command_may_mention_files_and_take_their_names_as_arguments(here: Path) -> None:
    directory = here / ".claude" / "commands"
    directory.mkdir(parents=True)
    (directory / "explain.md").write_text("Explain @$1 please")
    ready = prepared("/explain src/a.py#L1", here)
    assert ready.text == "Explain @src/a.py#L1 please\n\nFile src/a.py (lines 1-1):\n```\none\n```"


def test_a_flood_of_signs_is_looked_at_for_a_bounded_time(here: Path) -> None:
    began = time.perf_counter()
    ready = prepared(" ".join(f"@x{number}" for number in range(100_000)), here)
    assert ready.problems == ("only the first 300 words with an @ were read",)
    for text in ("@" * 500_000, '@"' * 250_000, "@" + "a" * 500_000, "@\x00 @\ud800.txt"):
        prepared(text, here)
    assert time.perf_counter() - began < 15


def test_a_big_directory_is_listed_in_part(here: Path) -> None:
    for number in range(600):
        (here / "src" / f"{number:04}.txt").touch()
    text = prepared("@src", here).text
    assert "Directory src (the first 500 of at least 601 names):" in text
    assert text.count(".txt") == 500
