"""Add a guard to Hookline's own file, try it on two commands, and write a first test of it."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from hookline.cli.agents_asking import agents_not_asking
from hookline.cli.commands.guard.files import file_for, format_of_file, guard_of, own_hooks, trust_written
from hookline.cli.commands.guard.report import (
    AddedDocument,
    RecommendedDocument,
    TriedCommand,
    WrittenTests,
)
from hookline.cli.requests import RequestError
from hookline.cli.text import with_tilde
from hookline.config.engine import Engine
from hookline.config.install import files
from hookline.config.rules import (
    EVENT,
    ConfiguredRule,
    RuleError,
    builtin_rule,
    parse_rule,
    rule_entry,
    rule_hooks,
)
from hookline.dialects.dialect import nearest_project
from hookline.dialects.registry import OWN_FORMAT
from hookline.documents.edit import appended
from hookline.engine.memory import memory_of
from hookline.guards import FORBIDDING, GUARD_NAMES, MODULES, RECOMMENDED
from hookline.guards.settings import OPTION_NAMES, OPTION_WORDS, problem
from hookline.guards.spec import policy_of
from hookline.matching.nearest import nearest
from hookline.model.events import PRE_TOOL_USE
from hookline.model.hook import Hook
from hookline.model.payloads import ToolCall
from hookline.model.run import Mode
from hookline.model.safe_text import one_line
from hookline.trust.project import project_root

_NEW_FILE = """\
# `hookline events` lists the events at which hooks run, `hookline guard add` the built-in guards.
"""
_HOW = (
    "`hookline guard add` lists them; for a rule of your own: hookline guard add NAME 'ask Bash(kubectl *)'"
)

#: Where pytest and people look for it.
_TEST_FILE = os.path.join("tests", "test_hooks.py")
_ABOUT_TESTS = f'"""Test the hooks of this project. Run it with: python -m pytest {_TEST_FILE}"""\n'
#: For a built-in guard, whose decision is known.
GUARD_TEST = (
    _ABOUT_TESTS
    + """

def test_{test}_holds(hooks):
    hooks.load(".")
    said = hooks.tool("Bash", command={caught})
    assert said.{said}
    assert {name} in said.ran


def test_{test}_leaves_other_commands_alone(hooks):
    hooks.load(".")
    assert hooks.tool("Bash", command={left}).allowed
"""
)
#: For hooks of which nothing is known.
OTHER_TEST = (
    _ABOUT_TESTS
    + """

def test_the_hooks_load(hooks):
    hooks.load(".")  # a mistake in the file fails the test and is shown with its line


# def test_what_they_deny(hooks):
#     hooks.load(".")
#     said = hooks.tool("Bash", command="rm -rf build")
#     assert said.denied == "the reason your hook gives"
"""
)


async def add(args: argparse.Namespace, cwd: str, words: Sequence[str]) -> AddedDocument | WrittenTests:
    """Write the guard, try it, trust it. Failures after writing are part of the result."""
    if args.tests and args.user:
        raise RequestError("tests are for a project: leave out --user or --tests")
    engine = Engine()
    if not words:
        return _write_tests(_test_file(engine, cwd), OTHER_TEST)
    name, rule = _forbidding(args, words) if words[0] in FORBIDDING else _named_rule(words)
    rule_hooks(engine.loader, {name: rule})  # a rule that can never match is refused before it is written
    if any(hook.name == name for hook in own_hooks(engine, cwd)):
        raise RuleError(f"there is a hook {name!r} already; `hookline guard list` shows where")
    tests = _test_file(engine, cwd) if args.tests else None
    (added,) = await _write(args, cwd, engine, {name: rule})
    if tests is None:
        return added
    return replace(added, tests=_write_tests(tests, _test_text(name, rule)))


async def add_recommended(args: argparse.Namespace, cwd: str, options: Sequence[str]) -> RecommendedDocument:
    """Write those of the recommended guards that are not there yet, try and trust each of them."""
    wrong = next((option for option in options if option not in ("ask", "deny")), None)
    if wrong is not None or args.tests:
        raise RequestError(
            f"recommended takes no {one_line(wrong or '--tests', 200)!r}: only ask, --user and --shadow; options "
            "are for single guards"
        )
    engine = Engine()
    known = {name for hook in own_hooks(engine, cwd) for name in (hook.name, guard_of(hook)) if name}
    rules = {
        name: builtin_rule(name, (*options, *more)) for name, more in RECOMMENDED.items() if name not in known
    }
    added = await _write(args, cwd, engine, rules) if rules else ()
    file = added[0].file if added else ""
    return RecommendedDocument(file, _mode(args), added, tuple(name for name in RECOMMENDED if name in known))


def _mode(args: argparse.Namespace) -> Mode:
    return "shadow" if args.shadow else "enforce"


async def _write(
    args: argparse.Namespace, cwd: str, engine: Engine, rules: Mapping[str, ConfiguredRule]
) -> tuple[AddedDocument, ...]:
    """Write the rules into the file in one step; then trust each of them, and try it."""
    before = files.snapshot(file_for(engine, cwd, user=args.user), None if args.user else project_root(cwd))
    files.refuse_unwritable(before)
    mode, text, written = _mode(args), before.text or "", dict[str, str]()
    for name, rule in rules.items():
        old, group = text, {"hooks": [rule_entry(name, rule, mode)]}
        text = appended(old or _NEW_FILE, format_of_file(before), ("hooks", EVENT), group)
        written[name] = text.removeprefix(old)
    files.replace(before, text.encode())
    documents: list[AddedDocument] = []
    silent = agents_not_asking(PRE_TOOL_USE, cwd)
    for name, rule in rules.items():
        problem = trust_written(cwd, before.file, name)
        hook = _written(cwd, before.file, name)
        tried = await _tried(hook, rule, cwd) if hook is not None else ()
        documents.append(
            AddedDocument(
                "added",
                name,
                str(rule),
                mode,
                before.file,
                text=written[name],
                is_first=before.content is None,
                tried=tried,
                active=hook is not None and hook.mode != "off",
                not_asked_by=silent,
                problem=problem or _fault(rule, tried),
            )
        )
    return tuple(documents)


def _forbidding(args: argparse.Namespace, words: Sequence[str]) -> tuple[str, ConfiguredRule]:
    """Read forbid-path PATH …, forbid-host HOST … or forbid-command COMMAND …, and their options."""
    guard, uses = words[0], [use for use in ("read", "write") if getattr(args, use)]
    option = policy_of(guard).adds[0]
    known = (*OPTION_WORDS, *(f"{name}=" for name in OPTION_NAMES))
    given = [
        word if word in OPTION_WORDS or word.startswith(known) else f"{option}={with_tilde(word)}"
        for word in words[1:]
    ]
    forbidden = [word.partition("=")[2] for word in given if word.startswith(f"{option}=")]
    wrong = problem(policy_of(guard), (*given, *uses))
    if wrong is not None:
        raise RequestError(wrong)
    return " ".join((guard, *forbidden[:1])), builtin_rule(guard, (*given, *uses))


def _named_rule(words: Sequence[str]) -> tuple[str, ConfiguredRule]:
    """Read BUILTIN [ARG ...], or NAME RULE."""
    name = words[0].strip()
    if name in GUARD_NAMES:
        return name, builtin_rule(name, words[1:])
    if not name or not name.isprintable():
        raise RequestError(f"{words[0]!r} cannot be the name of a guard; use printable characters")
    if len(words) == 1:
        close = nearest(name, GUARD_NAMES)
        meant = f"did you mean {close!r}? " if close else ""
        raise RequestError(f"no built-in guard is called {one_line(name, 200)!r}; {meant}{_HOW}")
    if len(words) > 2:
        raise RequestError(f"cannot read {one_line(words[2], 200)!r}: quote the rule")
    return name, parse_rule(words[1])


def _written(cwd: str, file: str, name: str) -> Hook | None:
    hooks = Engine().loader.directory(cwd, [OWN_FORMAT]).hooks
    return next((hook for hook in hooks if hook.where.file == file and hook.name == name), None)


async def _tried(hook: Hook, rule: ConfiguredRule, cwd: str) -> tuple[TriedCommand, ...]:
    """Run a built-in guard, as if it were enforced. Not in the user's journal: these commands are only examples."""
    if rule.about not in MODULES:
        return ()
    tried: list[TriedCommand] = []
    async with Engine() as engine:
        memory_of(engine).obeys_pauses = False
        engine.swap([replace(hook, mode="enforce", disabled_by=None)])
        session = engine.session("guard", cwd=cwd, project_dir=cwd)
        for command in _examples(rule):
            call = ToolCall(tool_name="Bash", tool_input={"command": command})
            outcome = await session.dispatch(PRE_TOOL_USE, call)
            tried.append(TriedCommand(command, outcome.permission, outcome.reason))
    return tuple(tried)


def _examples(rule: ConfiguredRule) -> tuple[str, str]:
    """Return a command that the guard stops, and one that it does not stop."""
    policy = policy_of(rule.about)
    if policy.tries is None:
        return policy.catches[0], policy.leaves[0]
    start = f"{policy.adds[0]}="
    forbidden = next((each.removeprefix(start) for each in rule.options if each.startswith(start)), "")
    writes = "write" in rule.options and "read" not in rule.options
    caught = policy.tries[0].replace("{}", forbidden.rstrip("/").removesuffix(" *"))
    return caught.replace("cat ", "touch ", 1) if writes else caught, policy.tries[1]


def _fault(rule: ConfiguredRule, tried: Sequence[TriedCommand]) -> str | None:
    """Return what is wrong with the decisions; options may change them, so then they are only shown."""
    if not tried or rule.options or [each.decision for each in tried] == [rule.answer, None]:
        return None
    return "the guard does not do what it should; `hookline doctor` may say why"


def _test_file(engine: Engine, cwd: str) -> str:
    """Return the file of a first test. Raises RequestError if it exists already: nothing is written then."""
    project = nearest_project(cwd, engine.loader.dialect(OWN_FORMAT).project_files)
    file = os.path.join(project, _TEST_FILE)
    if os.path.lexists(file):
        raise RequestError(f"{file} already exists: add your tests to it, and leave out --tests")
    return file


def _test_text(name: str, rule: ConfiguredRule) -> str:
    if rule.about not in GUARD_NAMES or rule.options:
        return OTHER_TEST
    caught, left = _examples(rule)
    said = "denied" if rule.answer == "deny" else "asked"
    test = "".join(letter if letter.isalnum() else "_" for letter in name)
    # JSON writes texts as Python does.
    texts = {"caught": caught, "left": left, "name": name}
    return GUARD_TEST.format(test=test, said=said, **{key: json.dumps(text) for key, text in texts.items()})


def _write_tests(file: str, text: str) -> WrittenTests:
    before = files.snapshot(file)
    files.refuse_unwritable(before)
    files.replace(before, text.encode())
    return WrittenTests(file, text)
