"""List everything a project brings that needs trust, with the facts the user needs to decide."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.model.hook import Hook
from hookline.trust.describe import ItemText, hook_texts, item_texts, what_hook_does, what_item_does
from hookline.trust.digest import sha256
from hookline.trust.items import TrustItem, canonical, group_hashes, hashed_together
from hookline.trust.sessions import HookGuards, KnownGuard, SessionStore
from hookline.trust.trust import Trust, TrustStatus

#: Things that trust in an entry does not cover.
NOT_COVERED = (
    "what a script imports, reads or downloads",
    "interpreters and other programs that are found by PATH",
    "files that the command does not name (make, npm run, python -m), directories, and files larger than 5 MB",
    "instructions that the agent itself reads, such as AGENTS.md",
)


class ReviewItem(Struct, frozen=True, eq=False):
    """One item, and its facts."""

    item: TrustItem
    #: The root of the trust in it: the project, or a plugin.
    root: str
    status: TrustStatus
    #: Its possible effects, in plain words.
    does: tuple[str, ...] = ()
    #: All texts that decide its effect, as they are written: commands, addresses, prompts, settings.
    texts: tuple[ItemText, ...] = ()

    @property
    def is_pending(self) -> bool:
        return self.status.state in ("untrusted", "modified")


class Review(Struct, frozen=True, eq=False):
    """A project as the user reviews it."""

    trust: Trust
    entries: tuple[ReviewItem, ...]
    #: By identity: guards that running sessions of other agents began with, and that are gone or changed.
    missed: Mapping[str, KnownGuard] = {}
    #: By identity: guards that are present.
    guards: Mapping[str, KnownGuard] = {}

    @property
    def pending(self) -> tuple[ReviewItem, ...]:
        return tuple(entry for entry in self.entries if entry.is_pending)

    @property
    def counts(self) -> Counter[str]:
        return Counter(entry.status.state for entry in self.entries)

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hashes for `hookline trust --yes` and HOOKLINE_TRUST: they name exactly the current items."""
        return (*self._groups(), *([self.missed_hash] if self.missed else ()))

    @property
    def missed_hash(self) -> str:
        return sha256(canonical(["gone", *sorted(self.missed)])).hexdigest()[:32]

    def named(self, hashes: Iterable[str]) -> tuple[tuple[ReviewItem, ...], frozenset[str]]:
        """Return the pending entries that hashes name, and the hashes that name nothing here."""
        groups = self._groups()
        wanted = frozenset(hashes)
        meant = {identity for each in wanted for identity in groups.get(each, ())}
        unknown = wanted.difference(self.hashes)
        return tuple(entry for entry in self.pending if entry.item.identity in meant), unknown

    def accept(self, entries: Sequence[ReviewItem], *, guards: bool = True) -> None:
        """Record the user's yes to these entries, and to the guards that are gone. Raises StoreError."""
        for root in dict.fromkeys(entry.root for entry in entries):
            self.trust.accept([entry.item for entry in entries if entry.root == root], root)
        if guards:
            SessionStore(self.trust.project.home).confirm(self.trust.root, self.guards)

    def _groups(self) -> dict[str, tuple[str, ...]]:
        return {
            group_hashes(group)[0]: tuple(item.identity for item in group)
            for group in hashed_together([entry.item for entry in self.entries])
        }


def review(
    trust: Trust, hooks: Sequence[Hook], dormant: Sequence[Hook] = (), others: Sequence[TrustItem] = ()
) -> Review:
    """List everything of a project that needs trust.

    `dormant` hooks are not active yet; `others` are items that are not hooks.
    """
    foreign = [hook for hook in (*hooks, *dormant) if trust.is_foreign(hook.where.file, hook.scope)]
    entries = [*_hook_entries(trust, foreign)]
    entries += [
        ReviewItem(
            item,
            trust.project.key,
            trust.item_status(item),
            tuple(what_item_does(item)),
            tuple(item_texts(item)),
        )
        for item in others
    ]
    guards = HookGuards(hooks).present(trust)
    missed = SessionStore(trust.project.home).missed(trust.root, guards)
    return Review(trust, tuple(entries), missed, guards)


def _hook_entries(trust: Trust, hooks: Sequence[Hook]) -> Iterator[ReviewItem]:
    # All of them first: the present items decide which stored item an entry seems to be a change of.
    items = [trust.item(hook) for hook in hooks]
    for hook, item in zip(hooks, items, strict=True):
        root = trust.project.owner(hook.where.file, hook.scope)
        yield ReviewItem(item, root, trust.status(hook), tuple(what_hook_does(hook)), tuple(hook_texts(hook)))
