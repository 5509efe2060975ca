"""Files of commands that bring others elsewhere: copies, links, transfers, uploads and downloads."""

import re

from hookline.matching.shell.files.by_row import Call, Files, plain
from hookline.matching.shell.holes import HOLE, Words, base_name

_REMOTE = r"(?:[\w.+-]+@)?(?:[\w.-]+|\[[\da-fA-F:]+\]):|[a-z][a-z\d+.-]*://"


def is_remote(word: str) -> bool:
    """Whether a word of scp, rsync or a cloud's copy command is a place on another machine."""
    return re.match(_REMOTE, word) is not None and not word.startswith("file://")


def _base(word: str) -> str:
    return base_name(word.rstrip("/"))


def copy_files(call: Call) -> Files:
    """The last operand is written, unless an option names the directory."""
    target, sources = _target(call)
    links = call.given.has("-l", "-s", "--link", "--symbolic-link")
    folders = call.found.whole
    return call.found._replace(
        reads=plain(sources),
        writes=plain(target),
        links=plain(sources) if links else (),
        whole=False,
        into=_into(target, sources),
        contents=tuple((each, one) for one in target for each in sources) if folders else (),
    )


def _target(call: Call) -> tuple[Words, Words]:
    """Where the files go, and the files."""
    operands = call.given.operands
    named = call.given.values("-t", "--target-directory")
    if named:
        return named[-1:], operands
    # A lone word that only the shell knows may stand for several.
    return operands[-1:], operands[:-1] or tuple(word for word in operands if HOLE in word)


def _into(target: Words, sources: Words) -> Words:
    return tuple(f"{one}/{_base(each)}" for one in target for each in sources)


def install_files(call: Call) -> Files:
    if call.given.has("-d", "--directory"):
        return call.found._replace(writes=plain(call.given.operands))
    return copy_files(call)._replace(links=())


def move_files(call: Call) -> Files:
    target, sources = _target(call)
    return call.found._replace(
        reads=plain(sources), writes=plain([*sources, *target]), whole=True, into=_into(target, sources)
    )


def link_files(call: Call) -> Files:
    """A link to a file is a way around every check of its name."""
    target, sources = _target(call)
    sources = sources or target
    return call.found._replace(
        reads=plain(sources),
        writes=plain(target or (".",)),
        links=plain(sources),
        into=_into(target, sources),
    )


def transfer_files(call: Call) -> Files:
    """To or from another machine, or a container."""
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


def curl_files(call: Call) -> Files:
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


def wget_files(call: Call) -> Files:
    """Without a name it writes what the address ends with."""
    if call.found.writes or call.given.has("--spider", "-O", "--output-document"):
        return call.found
    return call.found._replace(writes=plain(map(_saved, call.given.operands)))


def _saved(address: str) -> str:
    """The name under which a download is saved."""
    place = address.rpartition("://")[2].partition("?")[0]
    return base_name(place) if "/" in place and place[-1] != "/" else "index.html"


def httpie_files(call: Call) -> Files:
    sent = [
        word.rpartition("@")[2]
        for word in call.given.operands
        if "@" in word and "/" not in word.partition("@")[0]
    ]
    return call.found._replace(reads=plain(sent), sends=plain(sent))
