"""The text of a hook's script, and what it evidently prints and exits with.

Read as text: only lines that can mean one thing count. A script that defines functions or moves its output
somewhere else is not judged at all.
"""

import os
import re
from typing import Final

from msgspec import Struct

from hookline.config.checkup.here import Here
from hookline.config.checkup.shebangs import first_bytes
from hookline.config.checkup.starting import started
from hookline.handlers.command import CommandSpec
from hookline.model.hook import Hook

_LONGEST: Final = 64 * 1024

_SHELL_LINE: Final = re.compile(r"#!.*\b(?:ba|da|z|k)?sh\b")
_PYTHON_LINE: Final = re.compile(r"#!.*\bpython")
#: Output that goes elsewhere, or words whose meaning a line does not show.
_UNCLEAR: Final = re.compile(
    r"\(\)\s{0,9}\{|^[ \t]*function\s|^[ \t]*exec\s|<<|\$\(\s{0,9}$|`|\{[^}\n]{0,300}\}\s{0,9}>"
    r"|^[ \t]*[})][ \t]{0,9}[>|]|\b(?:done|fi|esac)[ \t]{0,9}[>|]",
    re.MULTILINE,
)
#: `echo words` up to the end of the command: literal words that are no JSON, and go to stdout.
_ECHO: Final = re.compile(
    r"""(?:^|;|&&|\|\||\bthen\b|\bdo\b|\{)[ \t]{0,99}echo[ \t]{1,9}(?:-e[ \t]{1,9})?"""
    r"""(?:"([A-Za-z][^"\n]*)"|'([A-Za-z][^'\n]*)'|([A-Za-z][\w .,:!-]{0,300}?))[ \t]{0,9}(?=$|;|&&|\|\||\})""",
    re.MULTILINE,
)
_PRINT: Final = re.compile(
    r"""^[ \t]*print\([ \t]{0,9}f?(?:"([A-Za-z][^"\n]*)"|'([A-Za-z][^'\n]*)')[ \t]{0,9}\)[ \t]{0,9}$""",
    re.MULTILINE,
)
_EXITS: Final = re.compile(r"\b(?:sys\.)?exit(?:[ \t]{1,9}|\()(\d{1,3})\b")


class ScriptText(Struct, frozen=True):
    #: Where it is, or empty for the line in the configuration itself.
    file: str
    text: str
    language: str


def script_text(hook: Hook, here: Here) -> ScriptText | None:
    """The script a command hook runs, if it is a small shell or Python file; else a line that is all there is."""
    spec = hook.spec
    if not isinstance(spec, CommandSpec) or spec.shell in ("powershell", "pwsh"):
        return None
    for start in reversed(started(hook, here)):
        place = next((each for each in start.places if os.path.isfile(each)), None)
        if place is not None:
            language = _language(place, start.interpreter)
            text = _small(place) if language else None
            return ScriptText(place, text, language) if text is not None else None
    line = spec.command if spec.args is None and len(spec.command) <= _LONGEST else None
    return ScriptText("", line, "shell") if line is not None else None


def _language(place: str, interpreter: str) -> str:
    first = first_bytes(place).split(b"\n", 1)[0].decode("utf-8", "replace")
    if interpreter.startswith("python") or _PYTHON_LINE.match(first):
        return "python"
    return "shell" if interpreter.endswith("sh") or _SHELL_LINE.match(first) else ""


def _small(place: str) -> str | None:
    try:
        with open(place, encoding="utf-8") as file:
            text = file.read(_LONGEST + 1)
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) <= _LONGEST else None


def printed_words(script: ScriptText) -> str | None:
    """Plain words it evidently prints to stdout; None where that is not evident."""
    code = without_comments(script.text)
    if script.language == "python":
        found = None if "redirect_stdout" in code or "sys.stdout" in code else _PRINT.search(code)
    else:
        found = None if _UNCLEAR.search(code) or _quotes_over_lines(code) else _ECHO.search(code)
    return next((group for group in found.groups() if group), None) if found is not None else None


def _quotes_over_lines(code: str) -> bool:
    """Whether a text may begin on one line and end on another, so that lines are not commands."""
    return any(line.count(quote) % 2 for line in code.split("\n") for quote in "'\"")


def exit_codes(script: ScriptText) -> frozenset[int]:
    """The codes it evidently ends with."""
    return frozenset(int(found) for found in _EXITS.findall(without_comments(script.text)))


def without_comments(text: str) -> str:
    return re.sub(r"^[ \t]*#.*$", "", text, flags=re.MULTILINE)
