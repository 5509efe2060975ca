"""`hookline guard`: the native file is edited in place, from shadow to enforce."""

import json
from pathlib import Path

import pytest

from tests.cli.in_process import InProcess, in_process
from tests.cli.run_cli import Ran
from tests.cli.terminal import Terminal

TOML = """\
# What this project guards.

[[hooks.PreToolUse]]          # before a tool runs
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
name = "lint"                 # keep me
command = "true"
"""
YAML = """\
# What this project guards.
hooks:
  PreToolUse:
    - matcher: Bash   # before a tool runs
      hooks:
        - name: lint
          command: "true"   # keep me
"""
JSON = """\
{
  // comments are fine here
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"name": "lint", "command": "true"}]}
    ]
  }
}
"""


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> InProcess:
    return in_process(tmp_path, monkeypatch, capsys)


def guard(cli: InProcess, *words: str) -> Ran:
    return cli.call("guard", *words)


def fired(cli: InProcess, command: str) -> tuple[bool, dict[str, str]]:
    ran = cli.call("fire", "PreToolUse", "Bash", f"command={command}", "--json")
    document = json.loads(ran.stdout)
    return document["outcome"]["blocked"], {run["hook"]: run["mode"] for run in document["runs"]}


def test_a_rule_goes_from_shadow_to_enforce_and_back(cli: InProcess) -> None:
    added = guard(cli, "add", "no-force", "deny Bash(git push --force*)", "--shadow")
    assert (added.status, added.stderr) == (0, "")
    assert fired(cli, "git push --force") == (False, {"no-force": "shadow"})
    assert guard(cli, "promote", "no-force", "--yes").status == 0
    assert fired(cli, "git push --force") == (True, {"no-force": "enforce"})
    assert fired(cli, "git push")[0] is False
    assert guard(cli, "demote", "no-force").status == 0
    assert fired(cli, "git push --force") == (False, {"no-force": "shadow"})
    assert guard(cli, "off", "no-force").status == 0
    assert fired(cli, "git push --force") == (False, {"no-force": "off"})
    ran = guard(cli, "off", "no-force")
    assert (ran.status, "already" in ran.stderr) == (1, True)


@pytest.mark.parametrize(("name", "text"), [("hooks.toml", TOML), ("hooks.yaml", YAML), ("hooks.json", JSON)])
def test_the_file_keeps_its_comments_and_its_layout(cli: InProcess, name: str, text: str) -> None:
    text = text if name != "hooks.json" else text.replace("  // comments are fine here\n", "")
    file = cli.write(f".hookline/{name}", text)
    assert guard(cli, "add", "first", "ask Bash(make *)").status == 0
    for line in text.rstrip("}\n ]").splitlines():
        assert line.strip(" ,") in file.read_text()
    before = file.read_text()
    assert guard(cli, "demote", "lint").status == 0
    assert guard(cli, "demote", "first").status == 0
    assert guard(cli, "off", "first").status == 0
    assert guard(cli, "promote", "lint", "--yes").status == 0
    assert guard(cli, "promote", "first", "--yes").status == 0
    assert file.read_text() == before, "and what was set and taken back leaves nothing"


def test_what_it_writes_is_trusted_and_nothing_else_of_the_file_is(tmp_path: Path, cli: InProcess) -> None:
    settings = cli.workspace.home / ".config/hookline/settings.toml"
    settings.write_text("")  # the project is not trusted
    cli.write(".hookline/hooks.toml", TOML)
    assert guard(cli, "add", "mine", "deny Bash(rm *)").status == 0
    document = json.loads(cli.call("fire", "PreToolUse", "Bash", "command=rm x", "--json").stdout)
    assert {run["hook"]: run["status"] for run in document["runs"]} == {
        "lint": "untrusted",
        "mine": "blocked",
    }
    assert guard(cli, "demote", "lint").status == 0
    document = json.loads(cli.call("fire", "PreToolUse", "Bash", "command=rm x", "--json").stdout)
    assert {run["hook"]: run["status"] for run in document["runs"]} == {
        "lint": "untrusted",
        "mine": "blocked",
    }


@pytest.mark.parametrize("answer", ["", "n", "yeah", "\x04"])
def test_at_a_terminal_anything_but_a_yes_changes_nothing(cli: InProcess, answer: str) -> None:
    guard(cli, "add", "no-force", "deny Bash(git push --force*)", "--shadow")
    with Terminal("guard", "promote", "no-force") as at:
        shown = at.wait_for("[y/N] ")
        at.enter(answer)
    assert "deny Bash(git push --force*)" in shown
    assert "Enforce no-force?" in shown
    assert at.status == 1
    assert fired(cli, "git push --force") == (False, {"no-force": "shadow"})


@pytest.mark.parametrize("answer", ["y", "YES", " y "])
def test_at_a_terminal_a_yes_enforces_the_guard(cli: InProcess, answer: str) -> None:
    guard(cli, "add", "no-force", "deny Bash(git push --force*)", "--shadow")
    with Terminal("guard", "promote", "no-force") as at:
        at.wait_for("[y/N] ")
        at.enter(answer)
        at.wait_for("promoted no-force")
    assert at.status == 0
    assert fired(cli, "git push --force") == (True, {"no-force": "enforce"})


def test_promote_shows_what_it_would_have_done_and_does_nothing_without_a_yes(cli: InProcess) -> None:
    guard(cli, "add", "no-force", "deny Bash(git push --force*)", "--shadow")
    from hookline.journal.file import JournalFile, journal_path
    from hookline.model.run import Run

    file = cli.workspace.project / ".hookline/hooks.toml"
    journal = JournalFile(journal_path({"HOME": str(cli.workspace.home)}))
    for number in range(3):
        journal.append(
            Run(
                hook="no-force", source=f"{file}:3", event="PreToolUse", mode="shadow", session="s", at=1.0 + number,
                decision="deny" if number else None, status="blocked" if number else "ok",
            )
        )  # fmt: skip
    ran = guard(cli, "promote", "no-force")
    assert ran.status == 1
    assert "In shadow it ran 3 times. It would have decided: deny 2." in ran.stderr
    assert "nothing was changed" in ran.stderr
    assert 'mode = "shadow"' in file.read_text()
    (listed,) = json.loads(guard(cli, "list", "--json").stdout)["hooks"]
    assert (listed["rule"], listed["mode"], listed["shadow"]) == (
        "deny Bash(git push --force*)", "shadow", {"deny": 2, "pass": 1},
    )  # fmt: skip


def test_a_guard_by_meaning_is_a_rule_too(cli: InProcess) -> None:
    assert guard(cli, "add", "pushes", "ask force-push", "--user").status == 0
    assert (cli.workspace.home / ".config/hookline/hooks.toml").exists()
    assert "ask force-push" in guard(cli, "list").stdout
    document = json.loads(cli.call("fire", "PreToolUse", "Bash", "command=git push -uf", "--json").stdout)
    assert document["outcome"]["permission"] == "ask"


def test_mistakes_change_nothing_and_say_what_to_do(cli: InProcess) -> None:
    file = cli.write(".hookline/hooks.toml", TOML)
    for words, said in (
        (("ad", "x", "deny Bash"), "did you mean 'add'?"),
        (("add", "x"), "no built-in guard is called 'x'; `hookline guard add` lists them"),
        (("add", "force-psh"), "did you mean 'force-push'?"),
        (("add", "force-push", "without=lese"), "did you mean 'lease'?"),
        (("list", "x"), "list takes no name"),
        (("remove", "lnt"), "did you mean 'lint'?"),
        (("add", "x", "deny", "Bash"), "quote the rule"),
        (("add", "x", "deny Bash(("), "never closed"),
        (("add", "x", "allow force-push"), "it cannot allow"),
        (
            ("add", "x", "ask secret-read"),
            "did you mean 'secrets-read'? For a tool of that name, write 'secret-read(*)'",
        ),
        (("add", "lint", "deny Bash(x)"), "there is a hook 'lint' already"),
        (("promote", "lnt"), "did you mean 'lint'?"),
        (("promote",), "say which guard: hookline guard promote NAME"),
    ):
        ran = guard(cli, *words)
        assert (ran.status, ran.stdout) == (1, ""), words
        assert said in ran.stderr, (words, ran.stderr)
        assert file.read_text() == TOML
    cli.write(".hookline/hooks.toml", 'hooks = {PreToolUse = [{hooks = [{name = "a", command = "true"}]}]}\n')
    ran = guard(cli, "demote", "a")
    assert (ran.status, "cannot be changed in place" in ran.stderr) == (1, True)


@pytest.mark.parametrize(("name", "text"), [("hooks.toml", TOML), ("hooks.yaml", YAML), ("hooks.json", JSON)])
def test_what_is_removed_leaves_the_rest_as_it_was(cli: InProcess, name: str, text: str) -> None:
    text = text if name != "hooks.json" else text.replace("  // comments are fine here\n", "")
    file = cli.write(f".hookline/{name}", text)
    assert guard(cli, "add", "force-push").status == 0
    assert guard(cli, "add", "clusters", "ask Bash(kubectl *)").status == 0
    removed = guard(cli, "remove", "force-push", "--json")
    assert (removed.status, json.loads(removed.stdout)["done"]) == (0, "removed")
    assert fired(cli, "git push --force")[1].keys() == {"lint", "clusters"}
    assert guard(cli, "remove", "clusters").status == 0
    assert file.read_text() == text
    assert guard(cli, "remove", "lint").status == 0
    assert json.loads(guard(cli, "list", "--json").stdout)["hooks"] == []
    assert ("# What this project guards." in file.read_text()) == (name != "hooks.json")
    assert guard(cli, "add", "force-push").status == 0, "the file that is left can be added to"


def test_of_two_hooks_in_a_group_one_is_removed(cli: InProcess) -> None:
    more = '\n[[hooks.PreToolUse.hooks]]\nname = "second"\ncommand = "true"\n'
    file = cli.write(".hookline/hooks.toml", TOML + more)
    assert guard(cli, "remove", "second").status == 0
    assert file.read_text() == TOML


def test_a_removed_guard_is_taken_from_the_users_file_only_if_that_is_meant(cli: InProcess) -> None:
    assert guard(cli, "add", "force-push", "--user").status == 0
    assert guard(cli, "add", "other", "deny force-push").status == 0
    assert guard(cli, "remove", "other", "--user").status == 1
    assert guard(cli, "remove", "other").status == 0
    assert fired(cli, "git push --force") == (True, {"force-push": "enforce"})


def test_without_an_action_the_guards_are_listed(cli: InProcess) -> None:
    assert (
        guard(cli).stdout
        == "no guard of Hookline is configured here; `hookline guard add` lists the built-in ones\n"
    )
    guard(cli, "add", "force-push", "without=lease")
    assert guard(cli).stdout == guard(cli, "list").stdout
    (listed,) = json.loads(guard(cli, "--json").stdout)["hooks"]
    assert listed["rule"] == "deny force-push without=lease"
