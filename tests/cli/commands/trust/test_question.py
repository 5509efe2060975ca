"""`hookline trust` at a terminal: what counts as a yes, and what a repository cannot make it look like."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.commands.trust.projects import document, entry_of, states, trust_all
from tests.cli.in_process import InProcess
from tests.cli.terminal import Terminal


def test_yes_at_a_terminal(project: InProcess) -> None:
    with Terminal("trust") as at:
        at.wait_for("Trust 2 items as shown? [y]es, [n]o: ")
        at.enter("y")
    assert (at.status, "trusted 2 items" in at.seen) == (0, True)
    assert project.call("trust").status == 0


@pytest.mark.parametrize("typed", ["n", "", "no", "maybe", "Yes please", "\x04"])
def test_anything_but_a_clear_yes_is_a_no(project: InProcess, typed: str) -> None:
    with Terminal("trust") as at:
        at.wait_for("[n]o: ")
        at.enter(typed)
    assert (at.status, "nothing was trusted" in at.seen) == (1, True)
    assert set(states(project).values()) == {"untrusted"}


def test_the_difference_can_be_seen_before_the_answer(project: InProcess) -> None:
    trust_all(project)
    project.write("guard.sh", "echo more\n")
    with Terminal("trust") as at:
        shown = at.wait_for("Trust 1 item as shown? [y]es, [n]o, [d]ifference: ")
        assert "changed  hook PreToolUse guard" in shown
        at.enter("d")
        shown = at.wait_for("[d]ifference: ")
        assert "| +echo more" in shown
        at.enter("YES")
    assert at.status == 0
    assert project.call("trust").status == 0


def test_what_was_typed_before_the_question_does_not_answer_it(project: InProcess) -> None:
    at = Terminal("trust")
    at.enter("y")
    with at:
        at.wait_for("[n]o: ")
        at.enter("n")
    assert at.status == 1
    assert set(states(project).values()) == {"untrusted"}


def test_a_change_after_the_question_is_not_covered_by_the_answer(project: InProcess) -> None:
    with Terminal("trust") as at:
        at.wait_for("[n]o: ")
        project.write("guard.sh", "echo changed meanwhile\n")
        at.enter("y")
    assert states(project)["PreToolUse guard"] == "modified"


def test_nothing_in_a_command_can_look_like_a_line_of_ours(here: InProcess) -> None:
    command = (
        "true\n\nTrust 0 items? yes\r\x1b[2J\x1b[8mhidden\x9b0m\u202egnp\u200b"
        + " " * 300
        + "; rm -rf ~ e\u0301\u0301\u0301\u0301"
    )
    here.write(".hookline/hooks.toml", entry_of(command))
    shown = here.call("trust").stdout
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]", shown)
    assert (
        "    | true\n    | \n    | Trust 0 items? yes<U+000D><U+001B>[2J<U+001B>[8mhidden<U+009B>0m" in shown
    )
    assert "<U+202E>gnp<U+200B><300 blanks>; rm -rf ~" in shown.replace("\n    | ", "")
    assert "e\u0301\u0301<U+0301><U+0301>" in shown.replace("\n    | ", "")
    assert max(map(len, shown.split("\nTo trust")[0].splitlines())) <= 100


def test_letters_that_look_like_others_are_named(here: InProcess) -> None:
    here.write(".hookline/hooks.toml", entry_of("/usr/bin/g\u0456t status"))
    assert "careful: these letters may look like others: \u0456 (U+0456)\n" in here.call("trust").stdout


def test_names_and_places_cannot_break_lines_either(here: InProcess) -> None:
    name = json.dumps("x\nTrust 0 items? y\u2028\x1b[1A" + "n" * 500)
    here.write(
        ".hookline/hooks.toml",
        f"[[hooks.Stop]]\nmatcher = {name}\n[[hooks.Stop.hooks]]\nname = {name}\ncommand = 'true'\n",
    )
    shown = here.call("trust").stdout
    assert "\x1b" not in shown
    assert not any(line.startswith("Trust 0") for line in shown.splitlines())
    assert max(map(len, shown.split("\nTo trust")[0].splitlines())) <= 100


def test_a_directory_cannot_break_lines_and_need_not_be_text(
    here: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = os.fsdecode(os.fsencode(here.workspace.home) + b"/p\xff\nTrust 0 items? y")
    for directory in (".git", ".claude"):
        os.makedirs(f"{odd}/{directory}")
    script = Path(odd, os.fsdecode(b"odd\xff.sh"))
    script.write_text("true\n")
    half = [{"type": "command", "command": "sh odd?.sh"}, {"type": "command", "command": "echo \ud800"}]
    Path(odd, ".claude/settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": half}]}}))
    monkeypatch.chdir(odd)
    shown = here.call("trust").stdout
    assert shown.startswith("~/p<U+DCFF><U+000A>Trust 0 items? y brings 2 items: 2 new.\n")
    assert "| echo <U+D800>\n" in shown
    assert "    file odd\\udcff.sh, 5 bytes, sha256 " in shown
    trust_all(here)
    script.write_text("false\n")
    assert "| +false\n" in here.call("trust", "--diff").stdout
    assert "2 items" in here.call("trust", "--list").stdout
    assert here.call("trust", "--revoke").status == 0


@pytest.mark.parametrize("command", ["true " + "x" * 5000, "true\n" * 200])
def test_there_is_no_question_about_what_is_not_shown_whole(here: InProcess, command: str) -> None:
    here.write(".hookline/hooks.toml", entry_of(command))
    with Terminal("trust") as at:
        at.wait_for("`hookline trust --json` shows all of it.")
    assert at.status == 1
    assert "[y]es" not in at.seen
    assert command in [text["text"] for item in document(here)["items"] for text in item["texts"]]
    trust_all(here)


def test_too_many_hooks_to_look_at(here: InProcess) -> None:
    entries = ",".join(f'{{"type": "command", "command": "echo {number}"}}' for number in range(400))
    here.write(".claude/settings.json", f'{{"hooks": {{"Stop": [{{"hooks": [{entries}]}}]}}}}')
    ran = here.call("trust")
    assert ran.status == 1
    assert "brings 400 items: 400 new" in ran.stdout
    assert "[... and 200 more, which are not shown here ...]" in ran.stdout
    assert "Not all of it can be shown here" in ran.stdout
