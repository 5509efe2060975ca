"""Store one call of a hook with all that another process needs to repeat it."""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.jobs.port import FLEET
from hookline.model.diagnostics import Where
from hookline.model.hook import BUNDLE_VARIABLE, Hook, Scope
from hookline.model.session_info import SessionInfo

if TYPE_CHECKING:
    from hookline.config.engine import Engine

#: The queue of hooks that are in files: any process of the user can run them.
FILES: Final = "files"
#: Whose hooks other machines may have, too.
_SHARED: Final[frozenset[Scope]] = frozenset(("managed", "user"))


class StoredCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a hook, as stored in the queue."""

    #: The hook's unique key (`hook_key`), and its name.
    hook: str
    name: str
    type: str
    event: str
    event_id: str
    dialect: str
    #: Where it is configured; empty for one that is made in code.
    file: str = ""
    source: str = ""
    scope: Scope = "user"
    payload: msgspec.Raw
    info: SessionInfo
    directory: str = ""
    translated_tool: str = ""
    doubt: str = ""
    rewake: bool = False
    #: The hook as every machine names it (`fleet_key`); empty if it is run on this one.
    fleet: str = ""


#: Finds the hook of a job and its engine; or returns why there is none, which makes the job a dead letter.
FindHook = Callable[[StoredCall], "tuple[Engine, Hook] | str"]
_decode: Final = msgspec.json.Decoder(StoredCall).decode


def stored_call(body: bytes) -> StoredCall:
    """Decode a stored call. Raises ValueError if it is damaged."""
    try:
        return _decode(body)
    except msgspec.MsgspecError as problem:
        raise ValueError(f"its stored call cannot be read: {problem}") from None


def readable_call(body: bytes) -> StoredCall | None:
    """Decode a stored call; return None if it is damaged."""
    try:
        return stored_call(body)
    except ValueError:
        return None


def run_number(job_id: str) -> int:
    """Return the number that all runs of a job share, also for a damaged id."""
    try:
        return int(job_id[:14], 16)
    except ValueError:
        return int.from_bytes(job_id.encode()[:7])


def hook_key(hook: Hook) -> str:
    """Return a key of a hook that is the same in other processes; it changes with the hook's entry."""
    matcher, condition = (part.text if part is not None else None for part in (hook.matcher, hook.condition))
    # Each revision of a bundle has its own directory on each machine.
    file = hook.where.file if hook.bundle is None else hook.bundle.name
    facts = (hook.dialect, hook.policy.event_name, file, hook.kind, hook.name, matcher, condition)
    try:
        spec = msgspec.to_builtins(hook.spec)
    except (TypeError, ValueError):
        spec = None  # a function, identified by its name
    if hook.bundle is not None and spec and "env" in spec:
        spec["env"] = {name: value for name, value in spec["env"].items() if name != BUNDLE_VARIABLE}
    return sha256(msgspec.json.encode((facts, spec), order="sorted")).hexdigest()[:32]


def fleet_key(hook: Hook) -> str:
    """Return a key of a hook that is the same on every machine of the fleet, wherever it is configured."""
    return hook_key(replace(hook, where=Where("")))[:24]


def goes_to_fleet(hook: Hook) -> bool:
    """Return True if the fleet may run a hook. Hooks of projects and programs do not exist on other machines."""
    return hook.durable == "fleet" and bool(hook.where.file) and hook.scope in _SHARED


def queue_of(hook: Hook, key: str) -> str:
    """Return the queue of a hook.

    A hook made in code, or by a command-line option, runs only in processes that have it.
    """
    if goes_to_fleet(hook):
        return FLEET
    return FILES if hook.where.file and hook.scope != "session" else f"code:{key}"
