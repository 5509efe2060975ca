"""Files whose hooks their own agent holds back until the user has trusted them."""

from collections.abc import Iterator

from hookline.config.checkup.here import AGENTS, Here
from hookline.config.loaded import Loaded
from hookline.model.diagnostics import Diagnostic, Where


def trust(loaded: Loaded, here: Here) -> Iterator[Diagnostic]:
    del here
    used = {hook.where.file for hook in loaded.hooks}
    for found in loaded.found:
        if found.needs_trust and found.file in used:
            agent = AGENTS.get(found.dialect, found.dialect)
            message = f"{agent} runs these hooks only once you have trusted this project there"
            yield Diagnostic("info", "needs-trust", message, Where(found.file))
