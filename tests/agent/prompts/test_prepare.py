"""Test how a prompt is prepared: local commands, commands and skills people wrote, routes, and plain text."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from hookline.agent.prompts.history import InputHistory
from hookline.agent.prompts.local_commands import LOCAL_COMMANDS
from hookline.agent.prompts.prepare import ProjectPrompts, help_text, prepare
from hookline.agent.prompts.prompt import LONGEST_ROUTED, PreparedPrompt, PromptContext, PromptRoute, Router


class Project:
    """A project and a home, both empty."""

    def __init__(self, root: Path) -> None:
        self.cwd = root / "project"
        self.home = root / "home"
        (self.cwd / ".git").mkdir(parents=True)
        self.home.mkdir()

    def write(self, file: str, text: str) -> None:
        path = (self.home / file[2:]) if file.startswith("~/") else self.cwd / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def prepare(self, text: str, *, below: str = "", router: Router | None = None) -> PreparedPrompt:
        return asyncio.run(prepare(text, self.around(below, router)))

    def around(self, below: str = "", router: Router | None = None) -> PromptContext:
        return PromptContext(cwd=str(self.cwd / below), env={"HOME": str(self.home)}, router=router)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "fix the bug",
        "",
        "/",
        "/ clear",
        " /clear",
        "/etc/hosts is wrong",
        "//",
        "/1",
        "say /clear",
        "\n/exit",
    ],
)
def test_plain_text_is_sent_as_it_is(project: Project, text: str) -> None:
    assert project.prepare(text) == PreparedPrompt(shown=text, text=text)


def test_an_unknown_command_names_the_nearest_and_is_not_sent(project: Project) -> None:
    project.write(".claude/commands/deploy.md", "Deploy.")
    prepared = project.prepare("/deplyo now")
    assert not prepared.sends
    assert prepared.text == ""
    assert "unknown command /deplyo; did you mean /deploy?" in prepared.problems[0]
    assert "did you mean /clear?" in project.prepare("/claer").problems[0]
    assert "/help lists" in project.prepare("/qqqqqqqq").problems[0]


def test_a_command_puts_its_arguments_in_place_and_tells_what_its_front_matter_asks_for(
    project: Project,
) -> None:
    project.write(
        ".claude/commands/review.md",
        "---\ndescription: Review one thing\nallowed-tools: Bash(git diff:*), Read\nmodel: fast-one\n"
        "argument-hint: [pr] [priority]\nhooks:\n  PreToolUse:\n    - hooks: []\n---\n"
        "Review $1 with priority $2 ($ARGUMENTS). $3 costs $10.\n",
    )
    prepared = project.prepare("/review 'pull request' high")
    assert prepared == PreparedPrompt(
        shown="/review 'pull request' high",
        text="Review pull request with priority high ('pull request' high).  costs $10.",
        model="fast-one",
        allowed_tools=("Bash(git diff:*)", "Read"),
        command="review",
        command_kind="command",
        command_arguments="'pull request' high",
        command_source="projectSettings",
        command_file=prepared.command_file,
        hooks={"PreToolUse": [{"hooks": []}]},
        hooks_at=prepared.hooks_at,
    )
    assert str(prepared.hooks_at) == f"{prepared.command_file}:6"
    assert prepared.command_file.endswith("/.claude/commands/review.md")


def test_an_argument_is_never_read_as_a_place_for_another(project: Project) -> None:
    project.write(".hookline/commands/twice.md", "First $1, all $ARGUMENTS")
    assert project.prepare("/twice $2 $ARGUMENTS").text == "First $2, all $2 $ARGUMENTS"


def test_arguments_without_a_place_follow_the_text(project: Project) -> None:
    project.write(".hookline/commands/plan.md", "Make a plan.\n")
    assert project.prepare("/plan it's big").text == "Make a plan.\n\nARGUMENTS: it's big"
    assert project.prepare("/plan").text == "Make a plan."


def test_the_project_wins_over_the_user_and_the_nearest_directory_over_the_root(project: Project) -> None:
    project.write("~/.claude/commands/who.md", "the user's claude")
    assert project.prepare("/who").command_source == "userSettings"
    project.write("~/.config/hookline/commands/who.md", "the user")
    assert project.prepare("/who").text == "the user"
    for directory in (".gen", ".claude", ".hookline"):
        project.write(f"{directory}/commands/who.md", directory)
        assert project.prepare("/who").text == directory
    project.write("sub/.gen/commands/who.md", "below")
    assert project.prepare("/who", below="sub").text == "below"


def test_commands_in_directories_have_both_names_and_the_short_one_is_the_outer_files(
    project: Project,
) -> None:
    project.write(".claude/commands/ui/button.md", "a button")
    project.write(".claude/commands/ui/plan.md", "a nested plan")
    project.write(".claude/commands/plan.md", "the plan")
    assert project.prepare("/ui:button").text == project.prepare("/button").text == "a button"
    assert project.prepare("/plan").text == "the plan"
    assert project.prepare("/ui:plan").text == "a nested plan"
    assert not project.prepare("/ui:..:plan").sends


def test_a_skill_wraps_the_prompt_and_says_where_its_files_are(project: Project) -> None:
    project.write(
        ".claude/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: Fill forms\nallowed-tools: [Read, 'Bash(python *)']\n---\n"
        "# PDF\nUse fill.py, see @missing.txt.\n",
    )
    prepared = project.prepare("/pdf the form")
    directory = project.cwd / ".claude/skills/pdf"
    assert prepared.text == (
        f"Follow the skill 'pdf'. Files it names are in {directory}.\n\n"
        "# PDF\nUse fill.py, see @missing.txt.\n\nARGUMENTS: the form"
    )
    assert (prepared.command, prepared.command_kind) == ("pdf", "skill")
    assert prepared.allowed_tools == ("Read", "Bash(python *)")
    assert prepared.problems == ()


def test_a_command_wins_over_a_skill(project: Project) -> None:
    project.write(".hookline/skills/x/SKILL.md", "skill")
    project.write(".hookline/commands/x.md", "command")
    assert project.prepare("/x").text == "command"


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("allowed-tools: 7", "allowed-tools is neither text nor a list of texts"),
        ("allowed-tools: [Read, 7]", "allowed-tools is neither text nor a list of texts"),
        (
            "allowed-tools: Read\nallowed-tools: Bash",
            "line 3 of its front matter: the key 'allowed-tools' appears twice",
        ),
        ("hooks: [1]", "hooks is not an object of events"),
        ("model: [a]", "model is not text"),
        ("- a list", "its front matter is not a list of fields"),
        ("a: {b\n c: [", "of its front matter"),
    ],
)
def test_a_command_whose_limits_cannot_be_known_is_not_used(project: Project, front: str, says: str) -> None:
    project.write(".claude/commands/bad.md", f"---\n{front}\n---\nDo it.")
    prepared = project.prepare("/bad")
    assert not prepared.sends
    assert prepared.text == ""
    assert says in prepared.problems[0]
    assert "bad.md" in prepared.problems[0]


def test_front_matter_that_never_ends_is_no_text_to_send(project: Project) -> None:
    project.write(".claude/commands/torn.md", "---\nallowed-tools: Read\nDo it.")
    assert "no closing --- line" in project.prepare("/torn").problems[0]


def test_front_matter_as_people_write_it_is_read(project: Project) -> None:
    project.write(
        ".claude/commands/loose.md",
        "---\nargument-hint: [id] [title]\ndescription: Fix: one thing\n"
        "allowed-tools: Bash(git add:*), Bash(npm run test, x) Read\n---\nx",
    )
    prepared = project.prepare("/loose")
    assert prepared.problems == ()
    assert prepared.allowed_tools == ("Bash(git add:*)", "Bash(npm run test, x)", "Read")


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ("allowed-tools: []", ()),
        ("allowed-tools: ''", ()),
        ("allowed-tools:", None),
        ("description: x", None),
    ],
)
def test_an_empty_list_of_tools_allows_none_and_no_list_restricts_nothing(
    project: Project, said: str, rules: tuple[str, ...] | None
) -> None:
    project.write(".claude/commands/c.md", f"---\n{said}\n---\nx")
    assert project.prepare("/c").allowed_tools == rules


def test_a_command_file_that_is_no_text_is_refused_at_once(project: Project) -> None:
    directory = project.cwd / ".claude/commands"
    directory.mkdir(parents=True)
    os.mkfifo(directory / "pipe.md")
    (directory / "zero.md").symlink_to("/dev/zero")
    (directory / "big.md").write_text("x" * 300_000)
    (directory / "bytes.md").write_bytes(b"\xff\xfe")
    (directory / "gone.md").symlink_to("nowhere")
    for name, says in (
        ("pipe", "is a device or a pipe"),
        ("zero", "is a device or a pipe"),
        ("big", "has more than 262,144 bytes"),
        ("bytes", "is not UTF-8 text"),
        ("gone", "cannot be read: No such file"),
    ):
        assert says in project.prepare(f"/{name}").problems[0]


def test_the_first_route_that_fits_the_final_text_names_the_model(project: Project) -> None:
    router = Router(
        [
            PromptRoute(r"(?i)\brefactor\b", "strong"),
            PromptRoute("^quick", "fast"),
            PromptRoute("refactor", "never"),
        ]
    )
    assert router.problems == ()
    assert project.prepare("please Refactor it", router=router).model == "strong"
    assert project.prepare("quick refactor", router=router).model == "strong"
    assert project.prepare("quick one", router=router).model == "fast"
    assert project.prepare("something", router=router).model is None


def test_a_commands_own_model_wins_over_routes_which_see_what_was_typed(project: Project) -> None:
    router = Router([PromptRoute("go", "routed")])
    project.write(".claude/commands/own.md", "---\nmodel: own\n---\nx")
    project.write(".claude/commands/none.md", "---\nmodel: inherit\n---\nplain text")
    assert project.prepare("/own go", router=router).model == "own"
    assert project.prepare("/none go", router=router).model == "routed"


def test_a_route_that_cannot_be_read_is_told_and_the_others_hold(project: Project) -> None:
    router = Router(
        [
            PromptRoute("(?=x)", "a\x1b[31m"),
            PromptRoute("[", "b"),
            PromptRoute("x" * 5000, "c"),
            PromptRoute("x", "d"),
        ]
    )
    assert len(router.problems) == 3
    assert "lookahead is not supported" in router.problems[0]
    assert "\x1b" not in "".join(router.problems)
    assert router.model_for("x") == "d"


def test_a_long_prompt_is_routed_by_what_stands_in_its_beginning() -> None:
    router = Router([PromptRoute("needle", "found")])
    assert router.model_for("x" * 5000 + "needle") == "found"
    assert router.model_for("x" * 5000) is None
    assert router.model_for("x" * LONGEST_ROUTED + "needle") is None


def test_hostile_patterns_on_a_long_prompt_come_to_an_end() -> None:
    router = Router(
        [
            PromptRoute(r"(x+x+)+y", "a"),
            PromptRoute(r"(a|b)*a(a|b){12}c", "b"),
            PromptRoute(r"[\w\s]{200}z", "c"),
        ]
    )
    began = time.perf_counter()
    assert router.model_for("ab x" * 100_000) is None
    assert time.perf_counter() - began < 10


def test_help_lists_every_command_with_what_it_is_for(project: Project) -> None:
    project.write(
        ".claude/commands/pr.md", "---\ndescription: Open \x1b[31m one\nargument-hint: [branch]\n---\n"
    )
    project.write(".claude/skills/pdf/SKILL.md", "x")
    project.write(".claude/commands/bad.md", "---\n- x\n---\n")
    shown = asyncio.run(help_text(project.around()))
    lines = {line.split()[0]: line for line in shown.splitlines()}
    assert set(lines) == {f"/{name}" for name in LOCAL_COMMANDS} | {"/pr", "/pdf", "/bad"}
    assert "/compact [INSTRUCTIONS]" in lines["/compact"]
    assert "cannot be used" in lines["/bad"]
    assert "\x1b" not in shown


def test_the_prompts_of_a_project_are_prepared_and_remembered(project: Project, tmp_path: Path) -> None:
    history = InputHistory(str(tmp_path / "state" / "history"))
    prompts = ProjectPrompts(PromptContext(cwd="/", env={"HOME": str(project.home)}), history)
    project.write(".claude/commands/hi.md", "Hello $1")
    assert asyncio.run(prompts.prepare("/hi you", str(project.cwd))).text == "Hello you"
    prompts.remember("/hi you")
    assert history.texts == ("/hi you",)
    assert "/hi" in asyncio.run(prompts.help_text(str(project.cwd)))


def test_prompts_without_a_history_are_forgotten() -> None:
    ProjectPrompts(PromptContext(cwd="/")).remember("x")
