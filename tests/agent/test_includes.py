"""Files that instructions and commands include: read like a Read call of the model, and only of a trusted project.

Each test plays a real session and looks for the secret in what was sent to the model.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.cli.run_cli import run_cli

_SECRET = "hunter2-is-the-password"
_GUARD = '[[hooks.PreToolUse]]\nhooks = [{ type = "builtin", name = "secrets-read", args = ["deny"] }]\n'


class Played(Struct, frozen=True):
    """A session that was played."""

    document: Any

    @property
    def sent(self) -> str:
        return json.dumps(self.document["requests"])

    @property
    def notices(self) -> list[str]:
        return [each["text"] for each in self.document["notices"]]

    def said(self, *parts: str) -> bool:
        """Return True if one notice has all of this."""
        return any(all(part in text for part in parts) for text in self.notices)

    def payloads(self, event: str) -> list[Any]:
        return [each["payload"] for each in self.document["events"] if each["event"] == event]

    @property
    def loaded(self) -> list[tuple[str, str]]:
        found = self.payloads("InstructionsLoaded")
        return [(Path(each["file_path"]).name, each["load_reason"]) for each in found]


class Site:
    """A repository with a secret in it, and a home."""

    def __init__(self, top: Path) -> None:
        self.home, self.project = top / "home", top / "home" / "project"
        (self.project / ".git").mkdir(parents=True)
        self.write(".env", f"PASSWORD={_SECRET}\n")

    def write(self, name: str, text: str) -> None:
        file = self.home / name[2:] if name.startswith("~/") else self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def link(self, name: str, to: str) -> None:
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(to)

    def play(
        self,
        *words: str,
        script: Sequence[Any] = (),
        prompt: str = "hello",
        trust: bool = True,
        below: str = "",
    ) -> Played:
        self.write("~/script.json", json.dumps([*script, {"text": "done"}]))
        model = f"scripted:{self.home / 'script.json'}"
        trusted = ["--trust"] if trust else []
        ran = run_cli(
            ["agent", "--print", "--json", "--model", model, *trusted, *words, prompt],
            self.project / below,
            self.home,
        )
        assert ran.status == 0, ran.stderr
        return Played(json.loads(ran.stdout))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_a_project_that_is_not_trusted_includes_nothing_and_says_so_with_the_line(site: Site) -> None:
    site.write("AGENTS.md", "Be kind.\n\nSee @.env and @docs/style.md.x and @docs/style.md\n")
    site.write("docs/style.md", "Short sentences.")
    played = site.play(trust=False)
    assert "Be kind." in played.sent
    assert _SECRET not in played.sent
    assert "Short sentences." not in played.sent
    assert played.said("AGENTS.md:3: left out @.env, @docs/style.md: ", "run `hookline trust`")
    assert played.loaded == [("AGENTS.md", "session_start")]
    assert played.payloads("PreToolUse") == []


def test_hookline_trust_lists_what_is_included_and_takes_exactly_that(site: Site) -> None:
    site.write("AGENTS.md", "@docs/style.md\n")
    site.write("docs/style.md", "Short sentences.")
    shown = run_cli(["trust", "--json"], site.project, site.home)
    (item,) = json.loads(shown.stdout)["items"]
    assert (item["source"], item["facts"]) == (
        f"{site.project}/AGENTS.md:1",
        {"sends to the model": ["docs/style.md"]},
    )
    assert (
        run_cli(["trust", "--yes", json.loads(shown.stdout)["hashes"]], site.project, site.home).status == 0
    )
    assert "Short sentences." in site.play(trust=False).sent
    site.write("AGENTS.md", "@docs/style.md @.env\n")
    played = site.play(trust=False)
    assert _SECRET not in played.sent
    assert played.said("AGENTS.md:1: left out @docs/style.md, @.env: its entry changed since you trusted it")
    # The same name, and now it is a link.
    site.write("AGENTS.md", "@docs/style.md\n")
    (site.project / "docs/style.md").unlink()
    site.link("docs/style.md", "../.env")
    assert _SECRET not in site.play(trust=False).sent


def test_the_user_is_asked_only_about_files_that_could_be_sent_in_plain_words(site: Site) -> None:
    site.write("~/.ssh/id_rsa", _SECRET)
    site.write("AGENTS.md", "@~/.ssh/id_rsa @.env @gone.md\n")
    site.write(".claude/commands/ship.md", "Ship @~/.ssh/id_rsa and @.env\n")
    shown = run_cli(["trust"], site.project, site.home)
    assert "has these files sent to the model with it: .env\n" in shown.stdout
    assert "id_rsa" not in shown.stdout
    played = site.play(prompt="/ship", trust=False)
    assert _SECRET not in played.sent
    assert played.said(
        "not used: files included by AGENTS.md, .claude/commands/ship.md. Run `hookline trust`"
    )
    assert played.said("AGENTS.md:1: left out @.env: you have not trusted it")
    assert played.said("AGENTS.md:1: @~/.ssh/id_rsa was left out: it is or leads outside")
    assert played.said("AGENTS.md:1: @gone.md was left out: no such file")
    assert played.said("ship.md:1: left out @.env: you have not trusted it")
    assert played.said("ship.md: @~/.ssh/id_rsa was left out: it is or leads outside")


def test_a_deny_rule_holds_for_includes_and_names_what_was_left_out(site: Site) -> None:
    site.write("AGENTS.md", "@style.md\n@.env\n")
    site.write("style.md", "Short sentences.")
    played = site.play("--deny", "Read(.env)")
    assert "Short sentences." in played.sent
    assert _SECRET not in played.sent
    assert played.said("AGENTS.md:2: @.env was left out: ", "the rule Read(.env)")
    assert played.loaded == [("AGENTS.md", "session_start"), ("style.md", "include")]


def test_guards_are_asked_about_includes_as_about_a_read_call(site: Site) -> None:
    site.write("~/.config/hookline/hooks.toml", _GUARD)
    site.write("AGENTS.md", "@style.md\n@.env\n")
    site.write("style.md", "Short sentences. @deeper.md")
    site.write("deeper.md", "@.env.production")
    site.write(".env.production", _SECRET)
    played = site.play()
    assert "Short sentences." in played.sent
    assert _SECRET not in played.sent
    assert played.said("AGENTS.md:2: @.env was left out: ")
    assert played.said("deeper.md:1: @.env.production was left out: ")
    asked = [Path(each["tool_input"]["file_path"]).name for each in played.payloads("PreToolUse")]
    assert asked == ["style.md", "deeper.md", ".env.production", ".env"]
    assert {each["tool_name"] for each in played.payloads("PreToolUse")} == {"Read"}


def test_a_question_that_no_user_can_answer_leaves_the_file_out(site: Site) -> None:
    site.write("AGENTS.md", "@.env\n")
    played = site.play("--ask", "Read(.env)")
    assert _SECRET not in played.sent
    assert played.said("AGENTS.md:1: @.env was left out: ", "no user is present")


def test_hooks_see_the_result_of_an_include_and_may_replace_it(site: Site) -> None:
    site.write("AGENTS.md", "@.env\n")
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": "[redacted]"}}
    played = site.play("--hook", f"PostToolUse=echo '{json.dumps(answer)}'")
    assert _SECRET not in played.sent
    assert "[redacted]" in played.sent
    (result,) = played.payloads("PostToolUse")
    assert _SECRET in result["tool_response"]["file"]["content"]


def test_includes_of_a_trusted_project_are_told_with_the_file_that_has_them(site: Site) -> None:
    site.write("AGENTS.md", "@docs/style.md\n")
    site.write("docs/style.md", "Short sentences. @../deeper.md")
    site.write("deeper.md", "Deeper.")
    played = site.play()
    assert "Short sentences." in played.sent
    assert "Deeper." in played.sent
    received = [
        (each["file_path"], each.get("parent_file_path"), each["load_reason"], each["memory_type"])
        for each in played.payloads("InstructionsLoaded")
    ]
    root = site.project
    assert received == [
        (f"{root}/AGENTS.md", None, "session_start", "Project"),
        (f"{root}/docs/style.md", f"{root}/AGENTS.md", "include", "Project"),
        (f"{root}/deeper.md", f"{root}/docs/style.md", "include", "Project"),
    ]


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"])
def test_a_link_in_place_of_an_instruction_file_is_an_include(site: Site, name: str) -> None:
    site.link(name, ".env")
    untrusted = site.play(trust=False)
    assert _SECRET not in untrusted.sent
    assert untrusted.said(f"{name} was left out: it is a link to .env", "run `hookline trust`")
    assert untrusted.loaded == []
    denied = site.play("--deny", "Read(.env)")
    assert _SECRET not in denied.sent
    assert denied.said(f"{name} was left out: ", "the rule Read(.env)")
    assert _SECRET in site.play().sent


def test_a_link_to_another_instruction_file_needs_no_trust(site: Site) -> None:
    site.write("AGENTS.md", "Be kind.")
    site.link("CLAUDE.md", "AGENTS.md")
    played = site.play(trust=False)
    assert played.sent.count("Be kind.") == 1
    assert played.notices == []


def test_a_link_among_the_included_files_is_judged_by_where_it_leads(site: Site) -> None:
    site.write("~/outside.txt", _SECRET)
    site.write("AGENTS.md", "@style.md\n@notes.md\n@../outside.txt\n")
    site.link("style.md", ".env")
    site.link("notes.md", "../outside.txt")
    played = site.play("--deny", "Read(.env)")
    assert _SECRET not in played.sent
    assert played.said("AGENTS.md:1: @style.md was left out: ", "the rule Read(.env)")
    assert played.said("AGENTS.md:2: @notes.md was left out: it is or leads outside")
    assert played.said("AGENTS.md:3: @../outside.txt was left out: it is or leads outside")


def test_files_near_a_touched_file_are_held_to_the_same(site: Site) -> None:
    site.write("src/a.py", "x = 1\n")
    site.write("src/AGENTS.md", "Only here.\n@../.env\n")
    site.write("notes.md", f'---\npaths: "**/*.py"\n---\n{_SECRET}')
    site.link(".claude/rules/python.md", "../../notes.md")
    read = {"tool_calls": [{"name": "Read", "input": {"file_path": "src/a.py"}}]}
    untrusted = site.play(script=[read, read], trust=False)
    assert "Only here." in untrusted.sent
    assert _SECRET not in untrusted.sent
    near = f"run `hookline trust --cwd {site.project}/src`"
    assert untrusted.said("src/AGENTS.md:2: left out @../.env: ", near)
    assert untrusted.said(".claude/rules/python.md was left out: it is a link to notes.md")
    assert len([text for text in untrusted.notices if "left out" in text]) == 2
    listed = run_cli(["trust", "--json", "--cwd", "src"], site.project, site.home)
    assert "src/AGENTS.md" in listed.stdout
    denied = site.play("--deny", "Read(.env)", "--deny", "Read(notes.md)", script=[read, read])
    assert _SECRET not in denied.sent
    assert denied.said("src/AGENTS.md:2: @../.env was left out: ")
    assert denied.loaded == [("AGENTS.md", "nested_traversal")]
    assert _SECRET in site.play(script=[read]).sent


def test_the_users_own_files_need_no_trust_but_pass_rules_and_guards(site: Site) -> None:
    site.write("~/.config/hookline/AGENTS.md", "Mine. @notes.md @.env @../../project/.env\n")
    site.write("~/.config/hookline/notes.md", "My notes.")
    site.write("~/.config/hookline/.env", _SECRET)
    site.write("~/.config/hookline/hooks.toml", _GUARD)
    played = site.play(trust=False)
    assert "My notes." in played.sent
    assert _SECRET not in played.sent
    file = site.home / ".config/hookline/AGENTS.md"
    assert played.said(f"{file}:1: @.env was left out: ")
    assert played.said(f"{file}:1: @../../project/.env was left out: it is or leads outside")
    assert played.loaded == [("AGENTS.md", "session_start"), ("notes.md", "include")]


def test_an_instruction_file_that_a_rule_denies_is_not_sent(site: Site) -> None:
    site.write("private/AGENTS.md", _SECRET)
    played = site.play("--deny", "Read(/private/**)", below="private")
    assert _SECRET not in played.sent
    assert played.said("private/AGENTS.md was left out: ", "the rule Read(/private/**)")


def test_a_session_in_a_directory_below_includes_files_of_the_whole_project(site: Site) -> None:
    site.write("AGENTS.md", "@docs/style.md\n")
    site.write("docs/style.md", "Short sentences.")
    site.write("src/a.py", "")
    assert "Short sentences." in site.play(below="src").sent


def test_commands_of_a_project_are_held_to_the_same(site: Site) -> None:
    site.write(".claude/commands/ship.md", "---\ndescription: x\n---\nShip it.\nWith @.env and @$1\n")
    untrusted = site.play(prompt="/ship notes.md", trust=False)
    assert "Ship it." in untrusted.sent
    assert _SECRET not in untrusted.sent
    assert untrusted.said(".claude/commands/ship.md:5: left out @.env: ", "run `hookline trust`")
    denied = site.play("--deny", "Read(.env)", prompt="/ship notes.md")
    assert _SECRET not in denied.sent
    assert denied.said(".claude/commands/ship.md: @.env was left out: ", "the rule Read(.env)")
    site.write("~/.config/hookline/hooks.toml", _GUARD)
    assert _SECRET not in site.play(prompt="/ship").sent


@pytest.mark.parametrize("prompt", ["/ship @.env", "/send .env", "what is in @.env"])
def test_what_the_user_types_is_the_users_word(site: Site, prompt: str) -> None:
    site.write(".claude/commands/ship.md", "Ship $1")
    site.write(".claude/commands/send.md", "Send @$1")
    played = site.play(prompt=prompt, trust=False)
    assert _SECRET in played.sent
    assert played.notices == []


def test_a_name_that_the_user_types_only_a_part_of_is_not(site: Site) -> None:
    site.write(".claude/commands/ship.md", "Ship @.$1")
    played = site.play(prompt="/ship env", trust=False)
    assert _SECRET not in played.sent
    assert played.said(".claude/commands/ship.md:1: left out @.env: ")


def test_a_link_in_place_of_a_command_is_an_include(site: Site) -> None:
    site.write("~/outside.md", _SECRET)
    site.link(".claude/commands/near.md", "../../.env")
    site.link(".claude/commands/far.md", "../../../outside.md")
    site.link(".claude/skills/skilled/SKILL.md", "../../../.env")
    for prompt in ("/near", "/far", "/skilled"):
        self_sent = _refused(site, prompt, trust=False)
        assert "is a link to another file, and you have not trusted it" in self_sent
    assert "the rule Read(.env)" in _refused(site, "/near", "--deny", "Read(.env)")
    assert "it is or leads outside" in _refused(site, "/far")


def _refused(site: Site, prompt: str, *words: str, trust: bool = True) -> str:
    """Play a prompt that must not be sent; return the notices."""
    site.write("~/script.json", json.dumps([{"text": "done"}]))
    model = f"scripted:{site.home / 'script.json'}"
    trusted = ["--trust"] if trust else []
    ran = run_cli(
        ["agent", "--print", "--json", "--model", model, *trusted, *words, prompt], site.project, site.home
    )
    document = json.loads(ran.stdout)
    assert document["status"] == "blocked"
    assert document["requests"] == []
    return "\n".join(each["text"] for each in document["notices"])
