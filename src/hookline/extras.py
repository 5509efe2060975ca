"""Name the command that adds an extra to this installation: of a checkout, by pip, pipx or uv."""

import json
import os
import shlex
import sys
from typing import Any, cast
from urllib.parse import unquote, urlsplit

_PACKAGE = "hookline"


def how_to_add(extra: str, *, prefix: str = sys.prefix) -> str:
    """Return the command, such as `pipx install --force '/home/ada/hookline[agent]'`."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 only for something that is missing

    try:
        found = distribution(_PACKAGE)
        installer = (found.read_text("INSTALLER") or "").strip()
        origin = _origin(found.read_text("direct_url.json") or "")
    except PackageNotFoundError:
        # Its sources are run without being installed.
        installer, origin = "", (os.path.dirname(os.path.dirname(os.path.dirname(__file__))), True)
    return command_for(extra, installer, origin, prefix)


def command_for(extra: str, installer: str, origin: tuple[str, bool], prefix: str) -> str:
    """Return the command for an installation by this program, from this origin, in this environment."""
    source, editable = origin
    if not source:  # of a package index, which has the extra as well
        wanted = shlex.quote(f"{_PACKAGE}[{extra}]")
    elif "://" in source:
        wanted = shlex.quote(f"{_PACKAGE}[{extra}] @ {source}")
    else:
        wanted = shlex.quote(f"{source}[{extra}]")
    parts = prefix.replace(os.sep, "/").split("/")
    if "pipx" in parts and "venvs" in parts:
        return f"pipx install --force {wanted}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool install --force {wanted}"
    edits = "-e " if editable else ""
    python = shlex.quote(os.path.join(prefix, "bin", "python"))
    if installer == "uv":
        return f"uv pip install --python {python} {edits}{wanted}"
    return f"{python} -m pip install {edits}{wanted}"


def _origin(text: str) -> tuple[str, bool]:
    """Read where it was installed from: a path or an address, and True if it is used in place."""
    try:
        document: Any = json.loads(text) if text else {}
    except ValueError:
        return "", False
    facts = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    url = facts.get("url")
    if not isinstance(url, str) or not url:
        return "", False
    if "vcs_info" in facts:
        details = cast("dict[str, Any]", facts["vcs_info"])
        return f"{details.get('vcs', 'git')}+{url}@{details.get('commit_id', 'HEAD')}", False
    parts = urlsplit(url)
    if parts.scheme != "file":
        return url, False
    details = facts.get("dir_info")
    editable = isinstance(details, dict) and cast("dict[str, Any]", details).get("editable") is True
    return unquote(parts.path), editable
