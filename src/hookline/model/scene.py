"""Where and for which agent a hook runs: what wires may read besides the payload."""

from collections.abc import Mapping

from msgspec import Struct


class Scene(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Ids, directory, mode, model and agent of one dispatch. A session keeps the current one."""

    session_id: str = ""
    transcript_path: str = ""
    cwd: str = ""
    permission_mode: str = "default"
    model: str | None = None
    prompt_id: str | None = None
    turn: int | None = None
    agent_id: str | None = None
    agent_type: str | None = None
    parent_agent_id: str | None = None
    depth: int = 0
    #: False when there is no user to ask: then an `ask` is a denial.
    attended: bool = True
    project_dir: str | None = None
    #: Further facts that only one dialect has, by its own names.
    extra: Mapping[str, object] | None = None


#: The fields of a scene that a payload document may set, besides the number of the turn.
SCENE_TEXTS = (
    "session_id", "transcript_path", "cwd", "permission_mode", "model", "prompt_id", "agent_id", "agent_type",
    "parent_agent_id",
)  # fmt: skip
