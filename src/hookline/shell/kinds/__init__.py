"""Define the kinds of text that programs get: lines of shell, programs, code, files, settings.

Rows of programs and of environment variables name them.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType

from hookline.shell.found import Found, ShellDoubt, Stdin, Typed
from hookline.shell.kinds import awk, code, commands, editors, make, others, sed, settings
from hookline.shell.kinds.kind import ProgramKind, never, nothing


def _not_usual(text: str) -> bool:
    return not commands.is_usual(text)


def _finds(found: ProgramKind) -> ProgramKind:
    """Go beyond the plain job only where it runs something."""

    def beyond(text: str) -> bool:
        return any(True for _ in found.found(text))

    return found._replace(beyond=beyond)


def _doubtful(reason: str, _text: str) -> Iterator[Found]:
    yield ShellDoubt(reason)


KINDS: Mapping[str, ProgramKind] = MappingProxyType(
    {
        "line": ProgramKind(commands.line, title="a shell"),
        "completed line": ProgramKind(commands.completed_line, title="a shell"),
        "usual line": ProgramKind(commands.usual_line, _not_usual, "a shell"),
        "expanded": ProgramKind(commands.expanded, title="a shell"),
        "words": ProgramKind(commands.words),
        "usual words": ProgramKind(commands.usual_words, _not_usual),
        "program": ProgramKind(commands.program, _not_usual),
        "completed program": ProgramKind(commands.completed_program, _not_usual),
        "remote shell": ProgramKind(others.rsync_options, _not_usual),
        # A file that is a program, a file that is written, one with settings, a directory of programs.
        "file": ProgramKind(commands.file),
        "written": ProgramKind(nothing, commands.is_file_beyond),
        "settings": ProgramKind(commands.settings, commands.is_file_beyond),
        "beyond": ProgramKind(nothing),
        # Paths that belong to the plain job inside the project: used ones, and written ones.
        "place": ProgramKind(nothing, place=str),
        "output": ProgramKind(nothing, place=str, written=True),
        "report": ProgramKind(nothing, place=others.report_place, written=True),
        "copied": ProgramKind(nothing, place=others.copied_place, written=True),
        "mount": ProgramKind(nothing, place=others.mounted_place),
        # Names of files and the like: read, and no more.
        "names": ProgramKind(nothing, never),
        # Languages.
        "python": ProgramKind(code.python, title="Python"),
        "javascript": ProgramKind(code.node, title="JavaScript"),
        "perl": ProgramKind(code.perl, title="Perl"),
        "perl module": ProgramKind(code.perl, title="Perl"),
        "ruby": ProgramKind(code.ruby, title="Ruby"),
        "php": ProgramKind(code.php, title="PHP"),
        "lua": ProgramKind(code.lua, title="Lua"),
        "code": ProgramKind(code.other_language("other"), title="an interpreter"),
        "powershell": ProgramKind(code.powershell, title="PowerShell"),
        "unread": ProgramKind(code.unread, title="PowerShell"),
        "sed": ProgramKind(sed.found, sed.beyond, "sed"),
        "awk": ProgramKind(awk.found, awk.beyond, "awk"),
        "makefile": ProgramKind(make.makefile, title="make"),
        "scripts": _finds(ProgramKind(others.project_scripts, title="a package manager")),
        "recipe": _finds(ProgramKind(make.in_recipe)),
        "make variable": ProgramKind(make.variable, make.variable_beyond),
        "vim": _finds(ProgramKind(editors.vim, title="an editor")),
        "ed": _finds(ProgramKind(editors.ed, title="an editor")),
        "dc": _finds(ProgramKind(editors.dc, title="dc")),
        "m4": _finds(ProgramKind(editors.m4, title="m4")),
        "gnuplot": _finds(ProgramKind(editors.gnuplot, title="gnuplot")),
        "sqlite": _finds(ProgramKind(editors.sqlite, title="a database shell")),
        "psql": _finds(ProgramKind(editors.psql, title="a database shell")),
        "mysql": _finds(ProgramKind(editors.mysql, title="a database shell")),
        "gdb": _finds(ProgramKind(editors.gdb, title="a debugger")),
        "lldb": _finds(ProgramKind(editors.lldb, title="a debugger")),
        "less": _finds(ProgramKind(editors.less, title="a pager")),
        # Settings.
        "wget": ProgramKind(settings.wget),
        "git setting": ProgramKind(settings.git, settings.git_beyond),
        "kept git setting": ProgramKind(settings.git, settings.git_kept_beyond),
        "git variable": ProgramKind(settings.git_variable, settings.git_beyond),
        "git file": ProgramKind(settings.git_file),
        "git value": ProgramKind(settings.git_value),
        "git url": ProgramKind(settings.git_url, settings.git_url_beyond),
        "ssh setting": ProgramKind(settings.ssh, settings.ssh_beyond),
        "apt setting": ProgramKind(settings.apt, settings.apt_beyond),
        "java option": _finds(ProgramKind(settings.java)),
        # Small languages of single programs.
        "tar action": ProgramKind(others.tar_action, others.tar_action_beyond),
        "tar names": _finds(ProgramKind(others.tar_names)),
        "socat address": ProgramKind(others.socat_address, others.socat_beyond),
        "nmap script": ProgramKind(others.nmap_script),
        "tar options": ProgramKind(partial(others.options_of, "tar", "")),
        "make options": ProgramKind(make.options),
        "perl options": ProgramKind(partial(others.options_of, "perl", ".")),
        "node options": ProgramKind(partial(others.options_of, "node", ".")),
        "ruby options": ProgramKind(partial(others.options_of, "ruby", ".")),
        "go options": ProgramKind(partial(others.options_of, "go build", "")),
        "less options": ProgramKind(partial(others.options_of, "less", "")),
        "path": ProgramKind(nothing, others.is_path),
        "linker option": ProgramKind(nothing, others.linker_beyond),
        "rust setting": _finds(ProgramKind(others.rust_setting)),
        "go flags": ProgramKind(others.go_flags, others.go_flags_beyond),
        "go package": ProgramKind(nothing, others.go_package_beyond),
        "git flag": ProgramKind(nothing, others.is_flag),
        "test flag": ProgramKind(nothing, others.test_flag_beyond),
        "pytest plugin": ProgramKind(nothing, others.pytest_plugin_beyond),
        "pytest setting": ProgramKind(nothing, others.pytest_setting_beyond),
        "warning": ProgramKind(nothing, others.warning_beyond),
        "curl format": ProgramKind(nothing, others.curl_format_beyond),
        "comma words": ProgramKind(others.comma_words),
        "document": ProgramKind(partial(_doubtful, "a document may run programs")),
        "more input": ProgramKind(partial(_doubtful, "an interpreter continues with its standard input")),
        "renamed": ProgramKind(partial(_doubtful, "a command is given another name")),
    }
)


#: Kinds that are not code if their content is unknown.
_DATA = frozenset(("names", "tar names"))
#: Languages of databases, which everybody feeds from files.
CONSOLES = frozenset(("sqlite", "psql", "mysql"))


def from_stdin(kind: str, stdin: Stdin, *, named: bool = False) -> Iterator[Found]:
    """Yield what a program runs that takes text of this kind from standard input. `named`: its words say that
    it does."""
    if stdin.kind == "text":
        yield from KINDS[kind].found(stdin.text)
    elif stdin.file and kind in CONSOLES:
        # As with `-f FILE`: the content is not known, but it is a file.
        return
    elif kind not in _DATA and (named or stdin.kind == "unknown"):
        yield ShellDoubt(f"{KINDS[kind].title} reads its commands from standard input")
    elif kind not in _DATA:
        yield Typed(
            f"{KINDS[kind].title} reads its commands from a terminal, and no hook sees what is typed there"
        )
