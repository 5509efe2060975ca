"""The pytest plugin, as a user's test run loads it: by its entry point."""

import sys
from pathlib import Path

import pytest

from tests.testing.projects import DOCKER, GROUPED, NATIVE, write

pytest_plugins = ["pytester"]


@pytest.fixture
def user(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a guard, and pytest as its user starts it: without the other plugins of this run."""
    monkeypatch.setenv(
        "PYTEST_ADDOPTS", "-p no:randomly -p no:xdist -p no:cacheprovider -p no:cov --strict-markers"
    )
    write(pytester.path, ".hookline/hooks.toml", NATIVE)
    return pytester


def test_tests_as_the_documentation_shows_them_pass(user: pytest.Pytester) -> None:
    write(user.path, ".claude/settings.json", GROUPED)
    write(user.path, ".gen/settings.json", GROUPED)
    write(user.path, "agent.yaml", DOCKER)
    user.makepyfile(
        """
        import pytest
        from hookline import ask, rewrite
        from hookline.events import POST_TOOL_USE, PRE_TOOL_USE
        from hookline.testing import Hooks, recorded

        def test_force_push(hooks: Hooks):
            hooks.load(".")
            said = hooks.tool("Bash", command="cd app && git push --force")
            assert said.denied == "force pushes rewrite history"
            assert said.ran == ["no force push"]
            assert hooks.tool("Read", file_path="x").skipped["no force push"].startswith("not matched")

        def test_redacts(hooks):
            hooks.add(POST_TOOL_USE, lambda _: rewrite("***"))
            assert hooks.result("Bash", "SECRET").output == "***"

        @pytest.mark.hookline(approve=False)
        def test_asks(hooks):
            hooks.add(PRE_TOOL_USE, lambda _: ask("money"), "pay")
            assert hooks.tool("pay", amount=9).asked == "money"

        @pytest.mark.hookline(caller="reasonix", all_hooks_ran=True)
        def test_of_another_agent(hooks):
            hooks.load()
            assert hooks.tool("bash", command="git push --force").denied

        @pytest.mark.parametrize("payload", recorded("claude-code", "Stop"))
        def test_recorded(hooks, payload):
            hooks.event(payload)

        @pytest.mark.anyio
        async def test_async(async_hooks):
            async_hooks.load()
            assert (await async_hooks.tool("Bash", command="git push --force")).denied

        @pytest.fixture
        def anyio_backend():
            return "asyncio"

        @pytest.mark.parametrize("file", [".claude/settings.json", ".gen/settings.json", "agent.yaml"])
        def test_of_several_agents(hooks, file):
            hooks.load(file)
            assert hooks.tool("Bash", command="git push --force").denied == "force pushes rewrite history"
            assert hooks.tool("Bash", command="git push").allowed
        """
    )
    ran = user.runpytest_subprocess("-v", "-rA")
    ran.assert_outcomes(passed=9)
    ran.stdout.fnmatch_lines(["*::test_recorded[[]Stop[]] PASSED*"])
    assert "what the hooks did" not in ran.stdout.str()


def test_a_failing_assertion_shows_what_became_of_each_hook(user: pytest.Pytester) -> None:
    write(
        user.path,
        ".hookline/hooks.toml",
        NATIVE + '\n[[hooks.PreToolUse.hooks]]\nname = "audit"\ncommand = "echo lost >&2; exit 3"\n'
        'on_failure = "open"\n\n[[hooks.PreToolUse]]\nmatcher = "Read"\n[[hooks.PreToolUse.hooks]]\n'
        'name = "reader"\ncommand = "true"\n',
    )
    user.makepyfile(
        """
        def test_it(hooks):
            hooks.load(".")
            said = hooks.tool("Bash", command="git push --force")
            assert said.denied == "something else"
        """
    )
    ran = user.runpytest_subprocess()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(
        [
            "E * - something else",
            "*- what the hooks did -*",
            'PreToolUse: Bash {"command":"git push --force"}',
            "  no force push  .hookline/hooks.toml:5",
            "    ran, deny 'force pushes rewrite history', exit code 2, * ms",
            '      matched: matcher "Bash" is "Bash"; if "Bash(git push ?)": *',
            "      stderr:",
            "        force pushes rewrite history",
            "  audit  .hookline/hooks.toml:9",
            "    ran, crashed, so it failed open, exit code 3, * ms",
            "        lost",
            "  reader  .hookline/hooks.toml:16",
            "    did not run",
            '      not matched: matcher "Read" is not "Bash"',
            "  => denied 'force pushes rewrite history'; message *",
        ]
    )


def test_expectations_that_are_not_met_fail_the_test(user: pytest.Pytester) -> None:
    write(user.path, "broken.toml", NATIVE.replace("matcher", "macher"))
    user.makepyfile(
        """
        import pytest

        def test_response_not_used(hooks):
            hooks.http.add_response(url="https://hooks.example.com")

        @pytest.mark.hookline(all_hooks_ran=True)
        def test_hook_not_run(hooks):
            hooks.load()

        def test_a_diagnostic(hooks):
            hooks.load("broken.toml")

        @pytest.mark.hookline(aprove=True)
        def test_a_wrong_marker(hooks):
            pass

        def test_of_many_events(hooks):
            hooks.load()
            for number in range(12):
                hooks.tool("Read", file_path=str(number))
            assert False
        """
    )
    ran = user.runpytest_subprocess()
    ran.assert_outcomes(failed=4, errors=1)
    assert ran.stdout.str().count("<Result PreToolUse; allowed; did not run: no force push>") == 4
    assert ran.stdout.str().count("PreToolUse: Read") == 8
    ran.stdout.fnmatch_lines_random(
        [
            "no http hook was answered with the response for https://hooks.example.com (200)",
            "  no force push (.hookline/hooks.toml:5): PreToolUse was never fired",
            "E * *broken.toml:3: *macher*",
            "*It does not take [[]'aprove'[]]*",
        ]
    )


def test_a_run_that_does_not_use_it_loads_nothing_of_it(user: pytest.Pytester) -> None:
    user.makepyfile(
        """
        import sys

        def test_it():
            loaded = {name for name in sys.modules if name.partition(".")[0] in ("hookline", "msgspec")}
            assert loaded == {"hookline", "hookline.testing", "hookline.testing.plugin"}
        """
    )
    user.runpytest_subprocess("-p", "no:hypothesispytest").assert_outcomes(passed=1)


def test_the_entry_point_is_that_of_this_package() -> None:
    """If it is missing: `pip install -e .` again."""
    from importlib.metadata import entry_points

    [found] = [each for each in entry_points(group="pytest11") if each.name == "hookline"]
    assert found.value == "hookline.testing.plugin"
    assert Path(str(sys.modules["hookline.testing.plugin"].__file__)).parts[-3:] == (
        "hookline",
        "testing",
        "plugin.py",
    )
