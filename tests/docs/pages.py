"""Run how-to pages as programs: write the files they show, run their commands, compare their output.

In a page::

    <!-- file: .hookline/hooks.toml -->      the fenced block that follows is this file (a reader sees only the block)
    <!-- file: event.json                    a file the page needs but does not show
    {"hook_event_name": "Stop"}
    -->
    <!-- run: git init -q -->                a command the page needs but does not show

    ```console
    $ hookline list                          run in the project; lines that begin with "> " continue it
    ...                                      any number of lines; inside a line, any text
    ```

Everything happens in the order of the page, in one shell, so `$ echo $?` works. A command with no output shown
must exit 0 or 2. `~/` in a file name is the user's home.
"""

import re
import shlex
from pathlib import Path

from msgspec import Struct

from tests.cli.golden import normalised

_PART = re.compile(
    r"^<!-- file: (?P<named>\S+) -->\n+```\w*[^\n]*\n(?P<shown>.*?)^```"
    r"|^<!-- file: (?P<hidden>\S+)\n(?P<text>.*?)^-->"
    r"|^<!-- run: (?P<run>.*?) -->"
    r"|^```console\n(?P<console>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
#: Stands between the outputs of two commands, and around the status of the first.
MARK = "\x1e"


class PageFile(Struct, frozen=True):
    name: str
    text: str


class Command(Struct, frozen=True):
    line: str
    #: None where the page shows no output.
    expected: str | None = None


Step = PageFile | Command


def steps(page: str) -> list[Step]:
    found: list[Step] = []
    for part in _PART.finditer(page):
        name = part["named"] or part["hidden"]
        if name:
            found.append(PageFile(name, part["shown"] if part["named"] else part["text"]))
        elif part["run"]:
            found.append(Command(part["run"]))
        else:
            found += _commands(part["console"])
    return found


def _commands(block: str) -> list[Command]:
    """Output before the first command would be compared with nothing, so it is an error."""
    head, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if head.strip() or not parts:
        raise ValueError(f"a console block begins with a command: {block!r}")
    commands: list[Command] = []
    for part in parts:
        lines = part.split("\n")
        end = next((at for at, line in enumerate(lines[1:], 1) if not line.startswith("> ")), len(lines))
        line = "\n".join([lines[0], *(each[2:] for each in lines[1:end])])
        commands.append(Command(line, "\n".join(lines[end:]).strip("\n") or None))
    return commands


def script(todo: list[Step], stage: Path) -> str:
    """One shell script for the page. The status of a command is still there for the next."""
    lines = ["exec 2>&1"]
    for number, step in enumerate(todo):
        if isinstance(step, PageFile):
            staged = stage / str(number)
            staged.write_text(step.text)
            staged.chmod(0o755 if step.text.startswith("#!") else 0o644)
            target = f'"$HOME"/{shlex.quote(step.name[2:])}' if step.name.startswith("~/") else step.name
            lines.append(f'mkdir -p "$(dirname {target})" && cp {shlex.quote(str(staged))} {target}')
        else:
            lines.append(f"{step.line}\n_status=$?; printf '{MARK}%s{MARK}' $_status; (exit $_status)")
    return "\n".join(lines) + "\n"


def same_output(found: str, expected: str) -> bool:
    """Durations, dates and the width of gaps aside, and `...` for what the page left out."""
    pattern = "\n".join(
        "@ANY@" if line.strip() == "..." else ".*".join(re.escape(part) for part in line.split("..."))
        for line in _tidy(expected).split("\n")
    )
    pattern = (
        pattern.replace("@ANY@\n", "(?:.*\n)*").replace("\n@ANY@", "(?:\n.*)*").replace("@ANY@", "(?s:.*)")
    )
    return re.fullmatch(pattern, _tidy(found)) is not None


def _tidy(text: str) -> str:
    lines = [
        re.sub(r"(?<=\S)[ \t]+", " ", line).rstrip() for line in normalised(text).strip("\n").split("\n")
    ]
    return "\n".join(lines)
