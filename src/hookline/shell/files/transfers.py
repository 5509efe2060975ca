"""Find the files of commands that copy, link, transfer, upload and download."""

import re

from hookline.shell.files.by_row import CommandFiles, ParsedCommand, plain
from hookline.shell.placeholders import HOLE, Words, base_name

_REMOTE = r"(?:[\w.+-]+@)?(?:[\w.-]+|\[[\da-fA-F:]+\]):|[a-z][a-z\d+.-]*://"


def is_remote(word: str) -> bool:
    """Return True if a word of scp, rsync or a cloud's copy command is a path on another machine."""
    return re.match(_REMOTE, word) is not None and not word.startswith("file://")


def copy_files(call: ParsedCommand) -> CommandFiles:
    """Handle copies: the last operand is written, unless an option names the directory."""
    target, sources = _target(call)
    links = call.given.has("-l", "-s", "--link", "--symbolic-link")
    directories = call.found.whole
    return call.found._replace(
        reads=plain(sources),
        writes=plain(target),
        links=plain(sources) if links else (),
        whole=False,
        into=_into(target, sources),
        contents=tuple((each, one) for one in target for each in sources) if directories else (),
    )


def _target(call: ParsedCommand) -> tuple[Words, Words]:
    """Return the target directories, and the files."""
    operands = call.given.operands
    named = call.given.values("-t", "--target-directory")
    if named:
        return named[-1:], operands
    # A lone word that only the shell knows may be several.
    return operands[-1:], operands[:-1] or tuple(word for word in operands if HOLE in word)


def _into(target: Words, sources: Words) -> Words:
    return tuple(f"{one}/{base_name(each.rstrip('/'))}" for one in target for each in sources)


def install_files(call: ParsedCommand) -> CommandFiles:
    if call.given.has("-d", "--directory"):
        return call.found._replace(writes=plain(call.given.operands))
    return copy_files(call)._replace(links=())


def move_files(call: ParsedCommand) -> CommandFiles:
    target, sources = _target(call)
    return call.found._replace(
        reads=plain(sources), writes=plain([*sources, *target]), whole=True, into=_into(target, sources)
    )


def link_files(call: ParsedCommand) -> CommandFiles:
    """Handle links: a link to a file evades every check of its name."""
    target, sources = _target(call)
    sources = sources or target
    return call.found._replace(
        reads=plain(sources),
        writes=plain(target or (".",)),
        links=plain(sources),
        into=_into(target, sources),
    )


def transfer_files(call: ParsedCommand) -> CommandFiles:
    """Handle transfers to or from another machine, or a container."""
    given, found = call.given, call.found
    target, sources = given.operands[-1:], given.operands[:-1]
    local = tuple(word for word in sources if not is_remote(word))
    away = any(map(is_remote, target))
    here = () if away else target
    moved = local if given.has("--remove-source-files") else ()
    return found._replace(
        reads=plain([*found.reads, *local]),
        writes=plain([*found.writes, *here, *moved]),
        sends=plain(local) if away else (),
        into=_into(here, sources),
        contents=tuple((each, one) for one in here for each in sources if each.endswith("/")),
        whole=any(option.name.startswith("--del") for option in given.given),
    )


def curl_files(call: ParsedCommand) -> CommandFiles:
    found = call.found
    addresses = (*call.given.operands, *call.given.values("--url"))
    cookies = [word for word in call.given.values("-b", "--cookie") if "=" not in word]
    files = [word[5:].removeprefix("//") for word in addresses if word[:5].casefold() == "file:"]
    found = found._replace(reads=plain([*found.reads, *files, *cookies]))
    sent = next((one for one in ("-T", "--upload-file") if call.given.has(one)), "")
    if sent and files:
        found = found._replace(writes=plain([*found.writes, *files]), by_option=(*found.by_option, sent))
    option = next((one for one in ("-O", "--remote-name", "--remote-name-all") if call.given.has(one)), "")
    if option:
        found = found._replace(
            writes=plain([*found.writes, *map(_saved, addresses)]), by_option=(*found.by_option, option)
        )
    return found


def wget_files(call: ParsedCommand) -> CommandFiles:
    """Handle wget: without a name it writes the end of the address."""
    if call.found.writes or call.given.has("--spider", "-O", "--output-document"):
        return call.found
    return call.found._replace(writes=plain(map(_saved, call.given.operands)))


def _saved(address: str) -> str:
    """Return the name under which a download is saved."""
    place = address.rpartition("://")[2].partition("?")[0]
    return base_name(place) if "/" in place and place[-1] != "/" else "index.html"


def httpie_files(call: ParsedCommand) -> CommandFiles:
    sent = [
        word.rpartition("@")[2]
        for word in call.given.operands
        if "@" in word and "/" not in word.partition("@")[0]
    ]
    return call.found._replace(reads=plain(sent), sends=plain(sent))
