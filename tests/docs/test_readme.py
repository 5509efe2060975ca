"""Test that the README and the how-to pages show what really happens."""

import os
import pkgutil
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hookline
from hookline import Engine
from hookline.telemetry.vocabulary import AT_BEGINNING, AT_END, MACHINE, METRICS, OF_HOOK
from tests.cli.run_cli import clean_env, workspace
from tests.docs.first_hour import settle
from tests.docs.pages import Command, same_output, steps
from tests.trusting import trust_nothing

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def run(*words: str, cwd: Path = ROOT, home: Path | None = None) -> "subprocess.CompletedProcess[str]":
    env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if home is not None:
        env |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "XDG_STATE_HOME": str(home)}
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=60
    )


def test_the_first_example_is_the_file_in_examples_and_prints_what_is_shown() -> None:
    shown = blocks(README, "python")[0]
    file = (ROOT / "examples" / "first.py").read_text()
    assert file.split('"""\n\n', 1)[1] == shown
    assert run("examples/first.py").stdout == blocks(README, "text")[0]


def test_the_commands_of_the_readme_print_what_it_shows() -> None:
    """In the home of a user with the usual mistakes and some past sessions, one after the other."""
    commands = [
        step for step in steps(README) if isinstance(step, Command) and step.line.startswith("hookline ")
    ]
    assert len(commands) >= 5
    with workspace() as where:
        trust_nothing(where.home)
        settle(where.home, where.project)
        for command in commands:
            words = [sys.executable, "-m", "hookline.app", *shlex.split(command.line)[1:]]
            ran = subprocess.run(
                words, cwd=where.project, env=clean_env(where.home), capture_output=True, text=True, check=False,
                timeout=60,
            )  # fmt: skip
            assert same_output(ran.stdout, command.expected or ""), (
                f"{command.line}\n{ran.stdout}{ran.stderr}"
            )


def test_its_first_screen_shows_ten_lines_of_doctor() -> None:
    first = README[: README.index("## Install")]
    doctor = first.index("$ hookline doctor\n")
    assert first[:doctor].count("\n") <= 16
    assert len(blocks(first[doctor - len("```console\n") :], "console")[0].splitlines()) >= 10
    order = ["$ hookline doctor", "$ hookline backtest", "$ hookline guard test", "`hookline install`"]
    assert [first.index(each) for each in order] == sorted(first.index(each) for each in order)


def test_the_version_of_the_readme_is_that_of_the_package() -> None:
    assert f"$ hookline --version\nhookline {hookline.__version__}\n" in blocks(README, "console")
    assert f"dist/hookline-{hookline.__version__}-py3-none-any.whl" in README


@pytest.mark.parametrize("name", ["first", "sync_host"])
def test_every_example_runs(name: str) -> None:
    ran = run(f"examples/{name}.py")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout


def test_guards_hold_for_the_tools_of_a_program() -> None:
    assert run("examples/own_tools.py").stdout.splitlines() == [
        "run_in_box: denied: run_in_box may not delete: cd app && rm -rf build",
        "show: denied: keys stay where they are",
        "save: go ahead",
        "download: denied: not from there",
        "execute: go ahead",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_configs_on_the_pages_are_valid(page: Path, tmp_path: Path) -> None:
    for number, text in enumerate(blocks(page.read_text(), "toml")):
        if not text.startswith("[[hooks."):
            continue
        head = "" if re.match(r"\[\[hooks\.\w+\]\]\n", text) else "[[hooks.PreToolUse]]\n"
        tomllib.loads(head + text)
        file = tmp_path / f"{number}.toml"
        file.write_text(head + text)
        whose = "codewhale" if head + text.split("\n")[0] == "[[hooks.hooks]]" else "native"
        said = Engine().load(str(tmp_path), [str(file)], [whose]).diagnostics
        # This engine has no model; the page is right that a prompt hook needs one.
        assert [each for each in said if each.code != "cannot-run"] == []


def test_the_page_about_blocking_blocks(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "how-to" / "block-a-command.md").read_text()
    (tmp_path / ".hookline").mkdir()
    (tmp_path / ".hookline" / "hooks.toml").write_text(blocks(text, "toml")[0])
    fired = run(
        "-m",
        "hookline.app",
        "fire",
        "PreToolUse",
        "Bash",
        "command=true && rm -rf build",
        cwd=tmp_path,
        home=tmp_path,
    )
    assert fired.returncode == 2


def links(page: Path) -> list[Path]:
    """The files a page links to."""
    return [
        (page.parent / target).resolve()
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    ]


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for target in links(page):
            assert target.exists(), f"{page}: {target}"


def test_names_of_the_package_on_a_page_are_there() -> None:
    spoken = {
        "hookline.dispatch",
        "hookline.hook",
        "hookline.refused",
        MACHINE,
        *(each.name for each in (*AT_BEGINNING, *AT_END, *OF_HOOK, *METRICS)),
    }
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        for name in re.findall(r"`(hookline(?:\.\w+)+)", page.read_text()):
            assert name in spoken or pkgutil.resolve_name(name) is not None, f"{page}: {name}"


def test_the_index_leads_to_every_page() -> None:
    """Directly, or by one of the lists that it ends with."""
    index = ROOT / "docs" / "index.md"
    assert index in links(ROOT / "README.md")
    lists = [page for page in links(index) if page.name == "index.md"]
    listed = {index, *links(index), *(page for each in lists for page in links(each))}
    assert set((ROOT / "docs").rglob("*.md")) - listed == set()


def test_a_journey_has_at_most_five_pages() -> None:
    sections = (ROOT / "docs" / "index.md").read_text().split("\n## ")[1:]
    journeys = [each for each in sections if each.startswith("I ")]
    assert [each.split("\n")[0] for each in journeys] == [
        *("I have hooks", "I want guards", "I build an agent", "I run it for a team"),
    ]
    assert max(len(re.findall(r"^\d+\. ", each, re.MULTILINE)) for each in journeys) <= 5


def test_every_stored_file_is_on_the_page_about_them() -> None:
    page = (ROOT / "docs" / "how-to" / "what-is-stored.md").read_text()
    stored = set[str]()
    for file in (ROOT / "src" / "hookline").rglob("*.py"):
        text = file.read_text()
        stored.update(re.findall(r'state_dir\([^)]*\)+, "([^"]+)"', text))
        stored.update(re.findall(r'"\.local", "state", "hookline", "([^"]+)"', text))
    assert {"journal.jsonl", "trust", "pauses.json"} <= stored
    assert [name for name in sorted(stored) if f"`{name}`" not in page] == []
