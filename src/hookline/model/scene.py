"""Where and for whom a hook runs: what every wire may read beside the payload."""

from collections.abc import Mapping

from msgspec import Struct


class Scene(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The surroundings of one dispatch. A session keeps the current one."""

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
    #: False where nobody can be asked, so that an `ask` has to be a denial.
    attended: bool = True
    project_dir: str | None = None
    #: What a dialect knows beyond this, by its own names.
    extra: Mapping[str, object] | None = None
