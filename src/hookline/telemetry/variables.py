"""Name the variables that a process of ours takes over from a call of an agent."""

import os
import re
from collections.abc import Mapping
from typing import Final

_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: A project's settings could have set everything else, PATH and HOME as well.
_TAKEN: Final = re.compile(
    r"LANG|LC_.*|TZ"
    # Telemetry, which it sends to this machine only.
    r"|OTEL_(SDK_DISABLED|SERVICE_NAME|RESOURCE_ATTRIBUTES|(TRACES|METRICS)_EXPORTER|TRACES_SAMPLER(_ARG)?|"
    r"EXPORTER_OTLP_.*|BSP_.*|METRIC_EXPORT_.*|INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT)",
    re.DOTALL,
)


def taken_over(env: Mapping[str, str], home: str) -> dict[str, str]:
    """Return the environment of a process that outlives the call which starts it. `home` was decided on already."""
    own = {name: value for name, value in env.items() if _TAKEN.fullmatch(name)}
    return own | {"PATH": _PATH, "HOME": home}


def spawn_detached(words: list[str], env: Mapping[str, str]) -> int:
    """Start a program in its own session, with nothing inherited; return the process. Raises OSError."""
    nothing = (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0)
    actions = [nothing, (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
    return os.posix_spawn(words[0], words, env, file_actions=actions, setsid=True)
