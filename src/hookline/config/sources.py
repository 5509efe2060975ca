"""Where native configuration is looked for: the user's directory, and `.hookline` from here up to the root."""

import os
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hookline.model.hook import Scope

#: In this order: where two stand side by side, the first one is in force.
SUFFIXES = ("toml", "yaml", "yml", "json")

Layer = Literal["user", "project", "local"]


class Source(Struct, frozen=True):
    """One place a configuration may stand; `files` are those that are there, the first one in force."""

    layer: Layer
    #: Without its suffix.
    stem: str
    files: tuple[str, ...] = ()

    @property
    def scope(self) -> Scope:
        return self.layer

    @property
    def looked_for(self) -> tuple[str, ...]:
        return tuple(f"{self.stem}.{suffix}" for suffix in SUFFIXES)


def native_sources(
    cwd: str, env: Mapping[str, str] | None = None, home: str | None = None
) -> tuple[Source, ...]:
    """Every place, in the order of its layers, also where nothing stands: `doctor` tells both."""
    user = user_directory(os.environ if env is None else env, home)
    directories = upward(os.path.abspath(cwd))
    found = [_source("user", os.path.join(user, "hooks"))] if user is not None else []
    found.append(_nearest("project", directories, "hooks"))
    if user is not None:
        found.append(_source("local", os.path.join(user, "hooks.local")))
    found.append(_nearest("local", directories, "hooks.local"))
    return tuple(found)


def user_directory(env: Mapping[str, str], home: str | None = None) -> str | None:
    """None when the user has no home: then nobody's configuration is read, least of all the root's."""
    configured = env.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(configured):
        return os.path.join(configured, "hookline")
    home = home or env.get("HOME", "")
    return os.path.join(home, ".config", "hookline") if os.path.isabs(home) else None


def _nearest(layer: Layer, directories: Sequence[str], name: str) -> Source:
    """Each name for itself: a local file deep down must not hide the project's own."""
    sources = [_source(layer, os.path.join(directory, ".hookline", name)) for directory in directories]
    return next((source for source in sources if source.files), sources[0])


def upward(start: str) -> list[str]:
    """Up to and with the root of the git repository; outside of one only the directory itself.

    Whoever can write to /tmp must not decide what runs in every directory below it.
    """
    chain = [start]
    while not os.path.lexists(os.path.join(chain[-1], ".git")):
        parent = os.path.dirname(chain[-1])
        if parent == chain[-1]:
            return [start]
        chain.append(parent)
    return chain


def _source(layer: Layer, stem: str) -> Source:
    present = tuple(f"{stem}.{suffix}" for suffix in SUFFIXES if os.path.lexists(f"{stem}.{suffix}"))
    return Source(layer, stem, present)
