"""Read settings whose value is a program or a line of shell: those of git, ssh, apt and curl-like files."""

import re
from collections.abc import Iterator

from hookline.shell.found import Found, Inner, Line, ShellDoubt
from hookline.shell.kinds import commands
from hookline.shell.placeholders import HOLE

#: Settings of git about appearance or about its own internal choices.
_GIT_HARMLESS = (
    r"user\.(?:name|email|signingkey|useconfigonly)|init\.defaultbranch|safe\.directory|credential\.username"
    r"|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath|longpaths|safecrlf|symlinks|abbrev|compression|bare"
    r"|commentchar|precomposeunicode|preloadindex|whitespace|checkstat|trustctime|protecthfs|protectntfs|bigfilethreshold"
    r"|untrackedcache|sparsecheckout\w*|logallrefupdates|warnambiguousrefs)"
    r"|(?:color|push|pull|fetch|advice|log|status|branch|rerere|rebase|column|gc|pack|index|feature|i18n|checkout|clone"
    r"|stash|versionsort|worktree|blame|grep|clean|help|rebase|am|apply|transfer|receive|extensions|http|notes"
    r"|protocol)\.(?!.*(?:cmd|command|hook|helper|browser|allow$))[\w.*:/-]+"
    r"|merge\.(?:conflictstyle|ff|renamelimit|renames|stat|log|verbosity|autostash|directoryrenames)"
    r"|(?:commit|tag)\.(?:gpgsign|verbose|sort|template|cleanup|status)|format\.(?:pretty|signoff|numbered|outputdirectory)"
    r"|diff\.(?:algorithm|renames|colormoved\w*|context|renamelimit|mnemonicprefix|noprefix|submodule|wserrorhighlight"
    r"|indentheuristic|interhunkcontext|statgraphwidth|wordregex|ignoresubmodules|suppressblankempty)"
    r"|submodule\.(?:recurse|fetchjobs|[\w./-]+\.(?:url|branch|active|ignore|shallow))|remote\.[\w./-]+\.(?:fetch|push)"
)
#: Settings whose value is a line of shell or the path of a program.
_GIT_LINES = (
    r"core\.(?:pager|editor|sshcommand|askpass|gitproxy|fsmonitor|alternaterefscommand)|pager\..*|sequence\.editor"
    r"|diff\.external|diff\..*\.(?:command|textconv)|filter\..*\.(?:clean|smudge|process)|merge\..*\.driver"
    r"|(?:merge|diff)tool\..*\.(?:cmd|path)|browser\..*|man\..*|web\.browser|gpg\.(?:.*\.)?program"
    r"|gpg\.ssh\.defaultkeycommand|interactive\.difffilter|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|"
    r"receivepack|vcs|proxy)|trailer\..*\.(?:cmd|command)|tar\..*\.command|imap\.tunnel|instaweb\.httpd|guitool\..*\.cmd"
    r"|sendemail\.(?:.*\.)?(?:smtpserver|\w+cmd)|credential\.(?:.*\.)?helper|submodule\..*\.update|receive\.procreceiverefs"
    r"|.*\.(?:cmd|command|program|driver|textconv|helper)"
)
_BOOLEAN = frozenset(("true", "false", "yes", "no", "on", "off", "0", "1", ""))


def git(setting: str) -> Iterator[Found]:
    """Read `KEY=VALUE`, as `git -c` takes it."""
    key, _equals, value = setting.partition("=")
    key = key.casefold()
    if HOLE in key:
        yield ShellDoubt("only the shell knows which setting of git is changed")
    elif key.startswith("alias."):
        yield from _alias(value)
    elif re.fullmatch(_GIT_LINES, key):
        yield from _git_program(key, value)
    elif key.startswith("url.") and "ext::" in key + value:
        yield from git_url(key.removeprefix("url."))
        yield from git_url(value)


def git_file(text: str) -> Iterator[Found]:
    """Read a file of settings: `[alias]`, and below it `x = !rm y`."""
    return (found for setting in settings_of_file(text) for found in git(setting))


def settings_of_file(text: str) -> Iterator[str]:
    """Yield the settings in a text, as `git -c` takes them; placeholders may be among them."""
    from hookline.shell.kinds.git_format import parse_settings  # noqa: PLC0415 few lines write settings

    for line in parse_settings(text):
        if line.section and (line.plain or line.value):
            yield f"{line.key}={line.value}"


def git_variable(setting: str) -> Iterator[Found]:
    """Read `KEY=NAME`: the value is that of a variable."""
    if any(True for _ in git(f"{setting.rpartition('=')[0]}={HOLE}")):
        yield ShellDoubt("what a setting of git runs is in a variable")


def git_beyond(setting: str) -> bool:
    key, _equals, value = setting.partition("=")
    return git_kept_beyond(setting) and not (
        re.fullmatch(_GIT_LINES, key.casefold()) and commands.is_usual(value)
    )


def git_kept_beyond(setting: str) -> bool:
    """Return True for a setting that is written to a file: it applies to every later call."""
    return re.fullmatch(_GIT_HARMLESS, setting.partition("=")[0].casefold()) is None


def wget(setting: str) -> Iterator[Found]:
    """Read `NAME = VALUE` of wget's settings. Blanks around it, capitals, dashes and underscores do not matter."""
    name, _equals, value = setting.partition("=")
    if HOLE in name or (HOLE in value and "ask" in name.casefold()):
        yield ShellDoubt("only the shell knows which setting of wget is changed")
    elif re.sub(r"[\s_-]", "", name).casefold() == "useaskpass":
        yield from commands.program(value.strip())


#: After these no word can follow.
_ENDS = (";", "&", "|", "}", ")", "fi", "done", "esac", '"$@"', "$@", "#")


def _alias(value: str) -> Iterator[Found]:
    if value.startswith("!"):
        yield from commands.line(value[1:])
        if not value.rstrip().endswith(_ENDS):
            # The arguments of the alias come after it.
            yield from commands.line(f'{value[1:]} "$@"')
    elif value.startswith(HOLE):
        yield ShellDoubt("only the shell knows what an alias of git runs")
    else:
        yield Inner(("git", *commands.split(value)))


def _git_program(key: str, value: str) -> Iterator[Found]:
    if value.casefold() in _BOOLEAN:
        return
    value = value.removeprefix("!")
    if key.endswith("helper"):
        # `store` is git-credential-store, a path or a line is itself.
        yield from commands.line(
            value if "/" in value or " " in value or HOLE in value else f"git-credential-{value}"
        )
        yield from commands.usual_line(value)
    elif key in {"core.sshcommand", "core.gitproxy", "diff.external"} and not commands.is_usual(value):
        yield from commands.completed_line(value)
    else:
        yield from commands.usual_line(value)


def git_value(value: str) -> Iterator[Found]:
    """Read the value of a setting whose name is not known."""
    if value.casefold() not in _BOOLEAN and HOLE not in value:
        yield Line(value.removeprefix("!"))
        # It may be core.sshCommand.
        yield from commands.completed_line(value.removeprefix("!"))


def git_url(url: str) -> Iterator[Found]:
    """Read `ext::rm y`, which runs a program: `%` and a letter are its own, `% ` is a blank."""
    at = url.find("ext::")
    if at >= 0:
        command = re.sub(r"%(.)", lambda found: " " if found[1] == " " else HOLE, url[at + 5 :])
        yield Inner(tuple(command.split()) or (HOLE,))


def git_url_beyond(url: str) -> bool:
    return "ext::" in url or url.startswith("fd::")


_SSH_LINES = frozenset(
    ("proxycommand", "localcommand", "knownhostscommand", "remotecommand", "xauthlocation", "match")
)
#: Code that is loaded, files and sockets that are made, and ways into other networks.
_SSH_OTHERS = frozenset(
    (
        "pkcs11provider", "securitykeyprovider", "include", "controlpath", "controlmaster", "localforward",
        "remoteforward", "dynamicforward", "tunnel", "permitlocalcommand", "identityagent",
    )
)  # fmt: skip


def ssh(setting: str) -> Iterator[Found]:
    """Read `ProxyCommand=LINE` or `ProxyCommand LINE`."""
    name, value = _ssh_setting(setting)
    if HOLE in name:
        yield ShellDoubt("only the shell knows which setting of ssh is changed")
    elif name in _SSH_LINES and value.casefold() != "none":
        # ssh replaces `%h` and the like.
        line = re.sub(r"^exec\s+", "", value.removeprefix("exec="))
        yield from commands.line(re.sub(r"%[A-Za-z]", HOLE, line))


def ssh_beyond(setting: str) -> bool:
    name, value = _ssh_setting(setting)
    if name == "userknownhostsfile":
        # New keys are added to it.
        return value != "/dev/null"
    return HOLE in name or name in _SSH_LINES or name in _SSH_OTHERS


def _ssh_setting(setting: str) -> tuple[str, str]:
    parts = re.split(r"[\s=]+", setting.strip().lstrip('= \t"'), maxsplit=1)
    return parts[0].casefold(), parts[1].strip('"') if len(parts) > 1 else ""


def apt(setting: str) -> Iterator[Found]:
    """Read `DPkg::Pre-Invoke::=LINE`."""
    name, _equals, value = setting.partition("=")
    name = name.casefold()
    if re.search(
        r"invoke|pre-install-pkgs|post-invoke|command|dpkg::options|::methods|dir::bin|pager|editor", name
    ):
        yield from commands.line(value.strip('"{}; '))


def apt_beyond(setting: str) -> bool:
    return any(True for _ in apt(setting))


def java(option: str) -> Iterator[Found]:
    """Read `-XX:OnError=LINE`."""
    found = re.search(r"-XX:On(?:OutOfMemory)?Error=(.*)", option, re.DOTALL)
    if found:
        yield from commands.line(found[1].strip("\"'"))
