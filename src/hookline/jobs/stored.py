"""Store one call of one hook, with all that is needed to make it again in another process."""

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.jobs.port import FLEET
from hookline.model.diagnostics import Where
from hookline.model.hook import BUNDLE_VARIABLE, Hook, Scope
from hookline.model.scene import Scene

if TYPE_CHECKING:
    from hookline.engine.engine import Engine

#: The queue of hooks that are in files: any process of the user can run them.
FILES: Final = "files"
#: Whose hooks other machines may have, too.
_SHARED: Final[frozenset[Scope]] = frozenset(("managed", "user"))


class StoredCall(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of a hook, as it is kept in the queue."""

    #: What tells its hook from all others (`hook_key`), and what people call it.
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
    scene: Scene
    directory: str = ""
    told_as: str = ""
    doubt: str = ""
    rewake: bool = False
    #: The hook as every machine names it (`fleet_key`); empty if it is run on this one.
    fleet: str = ""


#: Finds the hook of a job and the engine that has it; or says why there is none, which makes the job a dead letter.
FindHook = Callable[[StoredCall], "tuple[Engine, Hook] | str"]
_decode: Final = msgspec.json.Decoder(StoredCall).decode


def stored_call(body: bytes) -> StoredCall:
    """Raises ValueError if it is none."""
    try:
        return _decode(body)
    except msgspec.MsgspecError as problem:
        raise ValueError(f"what is stored of it cannot be read: {problem}") from None


def readable_call(body: bytes) -> StoredCall | None:
    """Return what is stored of a call; None if it is damaged."""
    try:
        return stored_call(body)
    except ValueError:
        return None


def run_number(job_id: str) -> int:
    """Return the number by which all runs of a job are known; also of an id that is damaged."""
    try:
        return int(job_id[:14], 16)
    except ValueError:
        return int.from_bytes(job_id.encode()[:7])


def hook_key(hook: Hook) -> str:
    """The same for the same hook in another process; a hook whose entry was changed is another one."""
    matcher, condition = (part.text if part is not None else None for part in (hook.matcher, hook.condition))
    # The folder of a bundle is another one for each revision and on each machine.
    file = hook.where.file if hook.bundle is None else hook.bundle.name
    facts = (hook.dialect, hook.policy.event_name, file, hook.kind, hook.name, matcher, condition)
    try:
        spec = msgspec.to_builtins(hook.spec)
    except (TypeError, ValueError):
        spec = None  # a function, which its name tells from others
    if hook.bundle is not None and spec and "env" in spec:
        spec["env"] = {name: value for name, value in spec["env"].items() if name != BUNDLE_VARIABLE}
    return sha256(msgspec.json.encode((facts, spec), order="sorted")).hexdigest()[:32]


def fleet_key(hook: Hook) -> str:
    """The same on every machine of the fleet that has the hook: not where it is configured, but all that it is."""
    return hook_key(replace(hook, where=Where("")))[:24]


def goes_to_fleet(hook: Hook) -> bool:
    """What a project brings, or one program made, no other machine has."""
    return hook.durable == "fleet" and bool(hook.where.file) and hook.scope in _SHARED


def queue_of(hook: Hook, key: str) -> str:
    """A hook made in code, or by an option of the command line, only runs in a process that has it, too."""
    if goes_to_fleet(hook):
        return FLEET
    return FILES if hook.where.file and hook.scope != "session" else f"code:{key}"
