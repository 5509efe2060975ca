"""The kinds of text that programs are given: lines of shell, programs, code, files, settings.

Rows of programs and of environment variables name them.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from hookline.matching.shell.found import Doubt, Found, Stdin
from hookline.matching.shell.kinds import awk, code, commands, editors, make, others, sed, settings
from hookline.matching.shell.kinds.kind import Kind, never, nothing


def _not_usual(text: str) -> bool:
    return not commands.is_usual(text)


def _finds(found: Kind) -> Kind:
    """Beyond the plain job only where it runs something."""

    def beyond(text: str) -> bool:
        return any(True for _ in found.found(text))

    return found._replace(beyond=beyond)


def _doubtful(reason: str, _text: str) -> Iterator[Found]:
    yield Doubt(reason)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "line": Kind(commands.line, title="a shell"),
        "completed line": Kind(commands.completed_line, title="a shell"),
        "usual line": Kind(commands.usual_line, _not_usual, "a shell"),
        "expanded": Kind(commands.expanded, title="a shell"),
        "words": Kind(commands.words),
        "usual words": Kind(commands.usual_words, _not_usual),
        "program": Kind(commands.program, _not_usual),
        "completed program": Kind(commands.completed_program, _not_usual),
        "remote shell": Kind(others.rsync_options, _not_usual),
        # A file that is a program, a file that is written, one with settings, a directory of programs.
        "file": Kind(commands.file),
        "written": Kind(nothing, commands.is_file_beyond),
        "settings": Kind(commands.settings, commands.is_file_beyond),
        "beyond": Kind(nothing),
        # Paths that belong to the plain job inside the project: of what is used, and of what is written.
        "place": Kind(nothing, place=str),
        "output": Kind(nothing, place=str, written=True),
        "report": Kind(nothing, place=others.report_place, written=True),
        "copied": Kind(nothing, place=others.copied_place, written=True),
        "mount": Kind(nothing, place=others.mounted_place),
        # Names of files and the like: read, and no more.
        "names": Kind(nothing, never),
        # Languages.
        "python": Kind(code.python, title="Python"),
        "javascript": Kind(code.node, title="JavaScript"),
        "perl": Kind(code.perl, title="Perl"),
        "perl module": Kind(code.perl, title="Perl"),
        "ruby": Kind(code.ruby, title="Ruby"),
        "php": Kind(code.php, title="PHP"),
        "lua": Kind(code.lua, title="Lua"),
        "code": Kind(code.other_language("other"), title="an interpreter"),
        "powershell": Kind(code.powershell, title="PowerShell"),
        "unread": Kind(code.unread, title="PowerShell"),
        "sed": Kind(sed.found, sed.beyond, "sed"),
        "awk": Kind(awk.found, awk.beyond, "awk"),
        "makefile": Kind(make.makefile, title="make"),
        "make variable": Kind(make.variable, make.variable_beyond),
        "vim": _finds(Kind(editors.vim, title="an editor")),
        "ed": _finds(Kind(editors.ed, title="an editor")),
        "dc": _finds(Kind(editors.dc, title="dc")),
        "m4": _finds(Kind(editors.m4, title="m4")),
        "gnuplot": _finds(Kind(editors.gnuplot, title="gnuplot")),
        "sqlite": _finds(Kind(editors.sqlite, title="a database shell")),
        "psql": _finds(Kind(editors.psql, title="a database shell")),
        "mysql": _finds(Kind(editors.mysql, title="a database shell")),
        "gdb": _finds(Kind(editors.gdb, title="a debugger")),
        "lldb": _finds(Kind(editors.lldb, title="a debugger")),
        "less": _finds(Kind(editors.less, title="a pager")),
        # Settings.
        "wget": Kind(settings.wget),
        "git setting": Kind(settings.git, settings.git_beyond),
        "kept git setting": Kind(settings.git, settings.git_kept_beyond),
        "git variable": Kind(settings.git_variable, settings.git_beyond),
        "git file": Kind(settings.git_file),
        "git value": Kind(settings.git_value),
        "git url": Kind(settings.git_url, settings.git_url_beyond),
        "ssh setting": Kind(settings.ssh, settings.ssh_beyond),
        "apt setting": Kind(settings.apt, settings.apt_beyond),
        "java option": _finds(Kind(settings.java)),
        # Small languages of single programs.
        "tar action": Kind(others.tar_action, others.tar_action_beyond),
        "tar names": _finds(Kind(others.tar_names)),
        "socat address": Kind(others.socat_address, others.socat_beyond),
        "nmap script": Kind(others.nmap_script),
        "tar options": Kind(partial(others.options_of, "tar", "")),
        "make options": Kind(partial(others.options_of, "make", "")),
        "perl options": Kind(partial(others.options_of, "perl", ".")),
        "node options": Kind(partial(others.options_of, "node", ".")),
        "ruby options": Kind(partial(others.options_of, "ruby", ".")),
        "go options": Kind(partial(others.options_of, "go build", "")),
        "less options": Kind(partial(others.options_of, "less", "")),
        "path": Kind(nothing, others.is_path),
        "linker option": Kind(nothing, others.linker_beyond),
        "rust setting": _finds(Kind(others.rust_setting)),
        "go flags": Kind(others.go_flags, others.go_flags_beyond),
        "go package": Kind(nothing, others.go_package_beyond),
        "git flag": Kind(nothing, others.is_flag),
        "test flag": Kind(nothing, others.test_flag_beyond),
        "pytest plugin": Kind(nothing, others.pytest_plugin_beyond),
        "pytest setting": Kind(nothing, others.pytest_setting_beyond),
        "warning": Kind(nothing, others.warning_beyond),
        "curl format": Kind(nothing, others.curl_format_beyond),
        "comma words": Kind(others.comma_words),
        "document": Kind(partial(_doubtful, "a document may run programs")),
        "more input": Kind(partial(_doubtful, "an interpreter goes on with its standard input")),
        "renamed": Kind(partial(_doubtful, "a command is given another name")),
    }
)


#: Kinds that are no code if nobody knows them.
_DATA = frozenset(("names", "tar names"))
#: Languages of databases, which everybody feeds from files.
_CONSOLES = frozenset(("sqlite", "psql", "mysql"))


def from_stdin(kind: str, stdin: Stdin, *, named: bool = False) -> Iterator[Found]:
    """What a program runs that takes text of this kind from standard input. `named`: its words say that it does."""
    if stdin.kind == "text":
        yield from KINDS[kind].found(stdin.text)
    elif stdin.file and kind in _CONSOLES:
        # As with `-f FILE`: what is in it is not known, but it is a file of somebody's.
        return
    elif kind not in _DATA and (named or stdin.kind == "unknown"):
        yield Doubt(f"{KINDS[kind].title} reads its commands from standard input")
