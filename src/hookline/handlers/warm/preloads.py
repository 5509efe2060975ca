"""Choose the modules that may be imported ahead: those of the standard library whose import leaves nothing
behind.

Importing one of them starts no thread, opens nothing, prints nothing, reads no variable that a start does not
read anyway, and makes no secret or clock that runs would then share (`multiprocessing` makes a key; `logging`
a clock, which is set anew for each run).
"""

from typing import Final

_CLEAN: Final = frozenset(
    (
        "abc", "argparse", "array", "ast", "asyncio", "base64", "binascii", "bisect", "bz2", "calendar", "cmath", "cmd",
        "code", "codecs", "codeop", "collections", "colorsys", "concurrent", "configparser", "contextlib",
        "contextvars", "copy", "copyreg", "csv", "ctypes", "dataclasses", "datetime", "decimal", "difflib", "dis",
        "email", "encodings", "enum", "errno", "fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib",
        "functools", "genericpath", "getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib",
        "heapq", "hmac", "html", "http", "imaplib", "importlib", "inspect", "io", "ipaddress", "itertools", "json",
        "keyword", "linecache", "locale", "logging", "lzma", "mailbox", "math", "mimetypes", "mmap", "netrc", "numbers",
        "opcode", "operator", "optparse", "os", "pathlib", "pickle", "pickletools", "pkgutil", "platform", "plistlib",
        "poplib", "posixpath", "ntpath", "nturl2path", "pprint", "pwd", "queue", "quopri", "random", "re", "reprlib",
        "resource", "runpy", "sched", "secrets", "select", "selectors", "shelve", "shlex", "shutil", "signal",
        "smtplib", "socket", "socketserver", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "ssl", "stat",
        "statistics", "string", "stringprep", "struct", "subprocess", "symtable", "syslog", "tarfile", "tempfile",
        "termios", "textwrap", "threading", "time", "timeit", "token", "tokenize", "tomllib", "traceback", "tty",
        "types", "typing", "unicodedata", "unittest", "urllib", "uuid", "warnings", "wave", "weakref", "xml", "xmlrpc",
        "zipapp", "zipfile", "zipimport", "zlib", "zoneinfo",
    )
)  # fmt: skip
#: Modules of clean packages that are not clean.
_UNCLEAN: Final = ("concurrent.futures.process", "asyncio.__main__", "unittest.__main__", "json.tool")


def may_be_preloaded(name: str) -> bool:
    """Return True if the module may be imported before a script needs it. Parts written in C come with their
    modules."""
    top = name.partition(".")[0]
    if name in _UNCLEAN or name.endswith(".__main__"):
        return False
    return top in _CLEAN or (top.startswith("_") and top.lstrip("_").rstrip("0123456789") in _CLEAN)
