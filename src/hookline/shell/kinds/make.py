"""Find what makefiles and variables of make run."""

import re
from collections.abc import Iterator

from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt
from hookline.shell.kinds import commands, others
from hookline.shell.placeholders import HOLE

#: Variables that by custom hold programs, which make runs in a recipe.
_PROGRAMS = (
    r"\.?(?:SHELL|SHELLFLAGS|MAKE\w*|[A-Z]*CC|[A-Z]*CXX|CPP|LD|AR|AS|FC|RM|CP|MV"
    r"|INSTALL|PYTHON\d?|NODE|NPM|\w*_CMD)"
)
#: Variables whose value is options, among them further variables.
_OPTIONS = r"(?:GNU)?MAKEFLAGS|MFLAGS|MAKEOVERRIDES"
_MOST_LINES = 1000
#: Characters that make removes from a recipe, also where it comes from a variable.
_BEFORE_RECIPES = "@-+ \t"
_SHELL = r"\$[({]\s*shell\s+([^\0]*)"
_VARIABLE = r"\$\$|\$\(([^()]*)\)|\$\{([^{}]*)\}|\$(.)"
_SHELL_SIGNS = r"[;&|`$<>(){}\n\\!*?\"'#~]"


def makefile(text: str) -> Iterator[Found]:
    """Read recipes, `!=` and `$(shell …)`."""
    yield Foreign(text)
    if HOLE in text:
        yield ShellDoubt("a makefile is put together at run time")
    yield from _shell_calls(text)
    # In a recipe the shell joins the lines, elsewhere make does, with a blank.
    lines = text.replace("\\\n", " ").splitlines()
    recipes = lines if "\\\n" not in text else [*lines, *re.sub(r"\\\n\t?", "", text).splitlines()]
    if len(lines) > _MOST_LINES:
        yield ShellDoubt(f"a makefile has more than {_MOST_LINES} lines")
        return
    assigned = (re.match(r"\s*(?:export\s+|override\s+)?(\w+)\s*[:?+]*=\s*(.*)", line) for line in lines)
    values = [(one[1], _expanded(one[2])) for one in assigned if one]
    variables = "".join(f"{name}={_quoted(value.lstrip(_BEFORE_RECIPES))}\n" for name, value in values)
    for line in recipes:
        recipe = re.match(r"[^\t#][^;#:]*+:[^;]*+;\s*(.*)|\t\s*(.*)|[^#]*!=\s*(.*)", line)
        if recipe:
            code = next((group for group in recipe.groups() if group is not None), "")
            yield from _recipe(code, variables)
    if re.search(
        r"\.RECIPEPREFIX|\bdefine\b|\$[({](?:eval|call|guile|file)|^[^\S\n]*+-?s?include|^[^\S\n]*+load\b",
        text,
        re.MULTILINE,
    ):
        yield ShellDoubt("a makefile puts together what it runs")


def _recipe(code: str, variables: str) -> Iterator[Found]:
    code = _expanded(code.lstrip(_BEFORE_RECIPES))
    if code and HOLE not in code:
        yield Line(variables + code)


def _expanded(code: str) -> str:
    """Turn variables of make into those of the shell; `$$` is a dollar of the shell. Variables unknown to
    make are empty."""
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
    """Return the text up to the bracket that closes one opened before."""
    depth = 1
    for at, sign in enumerate(text):
        depth += (sign in "({") - (sign in ")}")
        if not depth:
            return text[:at]
    return text


def _doubts(name: str, value: str) -> Iterator[Found]:
    if "$" in name.replace("$$", ""):
        yield ShellDoubt("the name of a variable of make is put together at run time")
    if re.fullmatch(_OPTIONS, name) and not re.fullmatch(r"[-\sjksnBO\d]*", value):
        yield ShellDoubt("a variable of make holds options")


def variable(word: str) -> Iterator[Found]:
    """Read `NAME=value` among the operands of make."""
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
            yield ShellDoubt("a variable of make cannot be read")
        elif split and "$" in split[0].replace("$$", ""):
            yield ShellDoubt("a variable of make names the program that is run")
        elif split and split[0] != HOLE:
            # Text that only the shell knows may be empty.
            yield Inner((split[0].replace(HOLE, ""), *split[1:]))
    elif re.search(_SHELL_SIGNS, value):
        yield Foreign(value)
        if HOLE in value and ("shell" in value or "`" in value):
            yield ShellDoubt("a variable of make is put together at run time")


def options(text: str) -> Iterator[Found]:
    """Read MAKEFLAGS: make expands it, and takes it for options of every call."""
    yield from _shell_calls(text)
    yield from others.options_of("make", "", text)


def in_recipe(text: str) -> Iterator[Found]:
    """Read CFLAGS and the like, which built-in rules put into the lines of recipes."""
    yield from _shell_calls(text)
    if re.search(r"[;&|`\n]|\$\$", text):
        yield Line(f": {_expanded(text)}")


def variable_beyond(word: str) -> bool:
    """Check a variable, which a recipe may put into a line of shell."""
    name, equals, value = word.partition("=")
    if not equals or name.startswith("-"):
        return False
    return bool(
        re.fullmatch(_PROGRAMS, name.rstrip(":+?!"))
        or re.search(_SHELL_SIGNS, value)
        or name.endswith("!")
        or "$" in name
    )
