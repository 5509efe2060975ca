"""Trust what the user saved in place of what was trusted: an edit made through Hookline, or one that was confirmed."""

import os
from collections.abc import Sequence

from hookline.model.hook import Hook
from hookline.trust.digest import sha256
from hookline.trust.items import TrustItem
from hookline.trust.store import StoreError
from hookline.trust.trust import Trust


def accept_change(trust: Trust, root: str, items: Sequence[TrustItem]) -> str:
    """Trust changed items as long as those before them: for good, or for this session. Return why not for good."""
    try:
        # Trust for this session only covers changes for this session only.
        trust.accept(items, root, session=not trust.store.read(root).items)
    except StoreError as problem:
        trust.accept(items, root, session=True)
        return f"trusted for this session only: {problem}"
    return ""


class UserEdit:
    """An edit of one file by the user. Make it before the edit: it knows what was trusted then."""

    def __init__(self, trust: Trust, hooks: Sequence[Hook], file: str) -> None:
        self._trust = trust
        self._real = os.path.realpath(file)
        foreign = [hook for hook in hooks if trust.is_foreign(hook.where.file, hook.scope)]
        self._hooks = [(hook, item) for hook in foreign if self._concerns(hook, item := trust.item(hook))]
        #: The bytes before the edit were trusted, or need no trust: so is what the user saves.
        self.was_trusted = all(trust.status(hook).runs for hook, _item in self._hooks if hook.mode != "off")

    def _concerns(self, hook: Hook, item: TrustItem) -> bool:
        return os.path.realpath(hook.where.file) == self._real or any(map(self._is_it, item.files))

    def _is_it(self, path: str) -> bool:
        return os.path.realpath(self._trust.project.path_of(path)) == self._real

    def accept(self, content: bytes) -> str:
        """Trust the scripts that the user saved, if the file has these bytes and nothing else changed.

        Return why not for good, or nothing. Entries of a configuration are trusted when it is loaded again.
        """
        digest, problem = sha256(content).hexdigest(), ""
        if not self.was_trusted or self._trust.trusts_all:
            return ""
        for hook, before in self._hooks:
            now = self._trust.item(hook)
            paths = {
                path
                for path in {**before.files, **now.files}
                if before.files.get(path) != now.files.get(path)
            }
            own = all(self._is_it(path) and now.files.get(path) == digest for path in paths)
            if paths and own and now.facts == before.facts:
                root = self._trust.project.owner(hook.where.file, hook.scope)
                problem = accept_change(self._trust, root, [now]) or problem
        return problem
