"""Read small languages of single programs: actions of tar, addresses of socat, expressions of find and the
like."""

import re
from collections.abc import Iterator
from contextlib import suppress

import msgspec

from hookline.shell.found import Foreign, Found, Inner, Line, ShellDoubt
from hookline.shell.kinds import commands
from hookline.shell.placeholders import HOLE


def tar_action(action: str) -> Iterator[Found]:
    """Read `exec=LINE` among the actions of tar's checkpoints."""
    if action.startswith("exec="):
        yield from commands.line(action.removeprefix("exec="))
    elif HOLE in action:
        yield ShellDoubt("only the shell knows what tar runs at checkpoints")


def tar_action_beyond(action: str) -> bool:
    return not re.fullmatch(r"dot|bell|echo(?:=.*)?|ttyout=.*|sleep=\d+|totals", action)


def tar_names(text: str) -> Iterator[Found]:
    """Read a list of files, in which a line that begins with a dash is an option of tar."""
    options = [line for line in text.splitlines() if line.startswith("-")]
    if options:
        yield Inner(("tar", *(word for line in options for word in commands.split(line))))


def socat_address(address: str) -> Iterator[Found]:
    """Read `EXEC:words`, `SYSTEM:line`, `SHELL:line`; options follow after a comma, `!!` joins two addresses."""
    for one in address.split("!!"):
        kind, colon, rest = one.partition(":")
        if kind.casefold() in {"exec", "system", "shell"} and colon:
            yield from commands.line(rest)
            yield from commands.line(re.split(r"(?<!\\),", rest)[0])
        elif HOLE in kind:
            yield ShellDoubt("only the shell knows what socat connects")


def socat_beyond(address: str) -> bool:
    return re.match(r"(?i)(?:exec|system|shell|open|create|file|gopen)?:?", address) is not None and bool(
        re.search(r"(?i)(?:^|!!)(?:exec|system|shell|open|create|file|gopen|[./])", address)
    )


def rsync_options(text: str) -> Iterator[Found]:
    """Read the remote shell: words of a command, to which the host is added."""
    if "-o" in text or not commands.is_usual(text.partition(" -")[0]):
        yield Inner((*commands.split(text), HOLE))


def is_path(text: str) -> bool:
    """Return True for a path; a plain name is one that the program knows."""
    return "/" in text or text.startswith(".") or HOLE in text


def linker_beyond(option: str) -> bool:
    """Check options of the linker, the assembler and the preprocessor that load code or write a file."""
    return re.search(r"plugin|@|-o\b|-T|dynamic-linker|Map|audit|-M|=|wrapper", option) is not None


def rust_setting(setting: str) -> Iterator[Found]:
    """Read `linker=PROGRAM` among the ways of generating code."""
    name, _equals, value = setting.partition("=")
    if name in {"linker", "link-self-contained"} and value:
        yield Inner((value,))


def go_flags_beyond(flags: str) -> bool:
    return (
        re.search(r"extld|extar|linkmode|plugin|toolexec|profile|-o\b|dump|asmhdr|linkobj|-I\b", flags)
        is not None
    )


def go_package_beyond(package: str) -> bool:
    """Check `go run example.com/x@latest`, which runs the program of a package, as npx does."""
    return "@" in package or package.startswith(("/", "..", "~", HOLE))


def is_flag(word: str) -> bool:
    return word.startswith(("-", HOLE))


def test_flag_beyond(word: str) -> bool:
    """Check options of a test program of Rust behind `--`: `--logfile FILE`."""
    return word.startswith("--logf")


def pytest_plugin_beyond(name: str) -> bool:
    """Check plugins: `no:cacheprovider` switches one off; any other name is a module that is loaded."""
    return not name.startswith("no:")


_HARMLESS_SETTINGS = (
    r"log_(?:cli_)?(?:level|format)|log_cli|xfail_strict|console_output_style|asyncio_mode|timeout|markers"
)


def pytest_setting_beyond(setting: str) -> bool:
    """Check settings: `addopts` are options, others name files, modules or directories."""
    name, _equals, value = setting.partition("=")
    return not (re.fullmatch(_HARMLESS_SETTINGS, name) or (name == "addopts" and not value))


def warning_beyond(text: str) -> bool:
    """Check `error::module.Class`, which loads the module."""
    return "." in "".join(text.split(":")[2:3])


def curl_format_beyond(text: str) -> bool:
    """Check `%output{FILE}`, which writes a file; `@FILE` is a format that is not seen."""
    return "%output" in text or text[:1] == "@" or HOLE in text


def report_place(text: str) -> str:
    """Return the path of `html:DIR`: a kind of report, and its directory."""
    return text.partition(":")[2]


def copied_place(text: str) -> str:
    """Return the path; `CONTAINER:PATH` is in a container."""
    return "" if re.match(r"[^/.~\0][^/]*:", text) else text


def mounted_place(text: str) -> str:
    """Return the source of `SOURCE:TARGET` or `type=bind,source=SOURCE`; a source that is not a path is a volume."""
    found = re.search(r"(?:^|,)(?:src|source)=([^,]*)", text)
    source = found[1] if found else text.partition(":")[0] if ":" in text else ""
    return source if source[:1] in {"/", ".", "~", HOLE} else ""


def go_flags(flags: str) -> Iterator[Found]:
    for name in re.findall(r"-?-ext(?:ld|ar)[= ]([^ ]+)", flags):
        yield from commands.words(name.strip("'\""))


def comma_words(text: str) -> Iterator[Found]:
    """Split `rm,y`: words of a command with commas between them."""
    yield Inner(tuple(text.split(",")))


def nmap_script(text: str) -> Iterator[Found]:
    if "/" in text or text.endswith(".nse"):
        yield from commands.file(text)
    elif HOLE in text:
        yield Foreign(text)


def options_of(program: str, operand: str, text: str) -> Iterator[Found]:
    """Return options that a variable adds to every call of a program, with an operand that keeps it from
    standard input."""
    found = commands.split(text)
    if found:
        yield Inner((*program.split(), *found, *operand.split()))


_SCRIPTS = r'"scripts"\s{0,9}:\s{0,9}\{([^}]{0,20000})'
_SCRIPT = r'"(?:[^"\\]|\\.){0,200}+"\s{0,9}:\s{0,9}("(?:[^"\\]|\\.){0,2000}+")'


def project_scripts(text: str) -> Iterator[Found]:
    """Read the scripts in a package.json or composer.json."""
    for table in re.findall(_SCRIPTS, text):
        for value in re.findall(_SCRIPT, table):
            with suppress(ValueError):
                yield Line(msgspec.json.decode(value, type=str))
