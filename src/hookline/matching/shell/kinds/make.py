"""Makefiles and variables of make: what they run."""

import re
from collections.abc import Iterator

from hookline.matching.shell.found import Doubt, Foreign, Found, Inner, Line
from hookline.matching.shell.holes import HOLE
from hookline.matching.shell.kinds import commands

#: Variables that by custom hold programs: what make runs in a recipe.
_PROGRAMS = (
    r"\.?(?:SHELL|SHELLFLAGS|MAKE\w*|[A-Z]*CC|[A-Z]*CXX|CPP|LD|AR|AS|FC|RM|CP|MV"
    r"|INSTALL|PYTHON\d?|NODE|NPM|\w*_CMD)"
)
#: Variables whose value is options, among them further variables.
_OPTIONS = r"(?:GNU)?MAKEFLAGS|MFLAGS|MAKEOVERRIDES"
_MOST_LINES = 1000
#: What make takes off a recipe, also where it comes out of a variable.
_BEFORE_RECIPES = "@-+ \t"
_SHELL = r"\$[({]\s*shell\s+([^\0]*)"
_VARIABLE = r"\$\$|\$\(([^()]*)\)|\$\{([^{}]*)\}|\$(.)"
_SHELL_SIGNS = r"[;&|`$<>(){}\n\\!*?\"'#~]"


def makefile(text: str) -> Iterator[Found]:
    """Recipes, `!=` and `$(shell …)`."""
    yield Foreign(text)
    if HOLE in text:
        yield Doubt("a makefile is put together at run time")
    yield from _shell_calls(text)
    # In a recipe the shell joins the lines, elsewhere make does, with a blank.
    lines = text.replace("\\\n", " ").splitlines()
    recipes = lines if "\\\n" not in text else [*lines, *re.sub(r"\\\n\t?", "", text).splitlines()]
    if len(lines) > _MOST_LINES:
        yield Doubt(f"a makefile has more than {_MOST_LINES} lines")
        return
    assigned = (re.match(r"\s*(?:export\s+|override\s+)?(\w+)\s*[:?+]*=\s*(.*)", line) for line in lines)
    values = [(one[1], _expanded(one[2])) for one in assigned if one]
    variables = "".join(f"{name}={_quoted(value.lstrip(_BEFORE_RECIPES))}\n" for name, value in values)
    for line in recipes:
        recipe = re.match(r"[^\t#][^;#]*:[^;]*;\s*(.*)|\t\s*(.*)|[^#]*!=\s*(.*)", line)
        if recipe:
            code = next((group for group in recipe.groups() if group is not None), "")
            yield from _recipe(code, variables)
    if re.search(
        r"\.RECIPEPREFIX|\bdefine\b|\$[({](?:eval|call|guile|file)|^\s*-?s?include|^\s*load\b",
        text,
        re.MULTILINE,
    ):
        yield Doubt("a makefile puts together what it runs")


def _recipe(code: str, variables: str) -> Iterator[Found]:
    code = _expanded(code.lstrip(_BEFORE_RECIPES))
    if code and HOLE not in code:
        yield Line(variables + code)


def _expanded(code: str) -> str:
    """Variables of make as those of the shell; `$$` is a dollar of the shell. What make does not know is nothing."""
    return re.sub(_VARIABLE, _as_shell, code)


def _as_shell(found: re.Match[str]) -> str:
    if found[0] == "$$":
        return "$"
    name = next(filter(None, found.groups()), "")
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        return f"${{{name}}}"
    return "${target}" if name.strip() else ""


def _quoted(value: str) -> str:
    return '"' + re.sub(r'(["`\\])', r"\\\1", value) + '"'


def _shell_calls(text: str) -> Iterator[Found]:
    for match in re.finditer(_SHELL, text):
        code = _balanced(match[1])
        if code:
            yield Line(code.replace("$$", "$"))


def _balanced(text: str) -> str:
    """Up to the bracket that closes one opened before."""
    depth = 1
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if not depth:
            return text[:at]
    return text


def _doubts(name: str, value: str) -> Iterator[Found]:
    if "$" in name.replace("$$", ""):
        yield Doubt("the name of a variable of make is put together at run time")
    if re.fullmatch(_OPTIONS, name) and not re.fullmatch(r"[-\sjksnBO\d]*", value):
        yield Doubt("a variable of make holds options")


def variable(word: str) -> Iterator[Found]:
    """`NAME=value` among the operands of make."""
    name, equals, value = word.partition("=")
    if not equals:
        return
    if name.endswith("!"):
        yield from commands.line(value)
    yield from _shell_calls(value)
    yield from _doubts(name.rstrip(":+?!"), value)
    if re.fullmatch(_PROGRAMS, name.rstrip(":+?!")):
        split = commands.split(value.lstrip(_BEFORE_RECIPES))
        if name.startswith(".SHELLFLAGS"):
            split = ("sh", *commands.split(value))
        if split == (HOLE,) and value.strip() != HOLE:
            yield Doubt("a variable of make cannot be read")
        elif split and "$" in split[0].replace("$$", ""):
            yield Doubt("a variable of make names the program that is run")
        elif split and split[0] != HOLE:
            # What only the shell knows may be nothing.
            yield Inner((split[0].replace(HOLE, ""), *split[1:]))
    elif re.search(_SHELL_SIGNS, value):
        yield Foreign(value)
        if HOLE in value and ("shell" in value or "`" in value):
            yield Doubt("a variable of make is put together at run time")


def variable_beyond(word: str) -> bool:
    """A recipe may put it into a line of shell."""
    name, equals, value = word.partition("=")
    if not equals or name.startswith("-"):
        return False
    return bool(
        re.fullmatch(_PROGRAMS, name.rstrip(":+?!"))
        or re.search(_SHELL_SIGNS, value)
        or name.endswith("!")
        or "$" in name
    )
