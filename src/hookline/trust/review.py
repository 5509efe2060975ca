"""Everything a project brings that needs trust, with what the user needs to know to decide about it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.model.hook import Hook
from hookline.trust.digest import sha256
from hookline.trust.items import TrustItem, canonical, group_hashes, hashed_together
from hookline.trust.sessions import Guard, Sessions, guards_of
from hookline.trust.trust import Trust, TrustStatus
from hookline.trust.words import Text, hook_texts, item_texts, what_hook_does, what_item_does

#: What trust in an entry says nothing about.
NOT_COVERED = (
    "what a script imports, reads or downloads",
    "interpreters and other programs that are found by PATH",
    "files that a program finds by itself (make, npm run, python -m), directories, and files larger than 5 MB",
    "instructions that the agent itself reads, such as AGENTS.md",
)


class ReviewItem(Struct, frozen=True, eq=False):
    """One item, and what is known about it."""

    item: TrustItem
    #: What the trust in it is kept under: the project, or a plugin.
    root: str
    status: TrustStatus
    #: What it may do, in plain words.
    does: tuple[str, ...] = ()
    #: All that decides what it does, as it is written: commands, addresses, prompts, settings.
    texts: tuple[Text, ...] = ()

    @property
    def is_pending(self) -> bool:
        return self.status.state in ("untrusted", "modified")


class Review(Struct, frozen=True, eq=False):
    """A project as the user is asked about it."""

    trust: Trust
    entries: tuple[ReviewItem, ...]
    #: By identity: guards that running sessions of other agents began with, and that are gone or changed.
    missed: Mapping[str, Guard] = {}
    #: By identity: guards that are there.
    guards: Mapping[str, Guard] = {}

    @property
    def pending(self) -> tuple[ReviewItem, ...]:
        return tuple(entry for entry in self.entries if entry.is_pending)

    @property
    def counts(self) -> Counter[str]:
        return Counter(entry.status.state for entry in self.entries)

    @property
    def hashes(self) -> tuple[str, ...]:
        """What `hookline trust --yes` and HOOKLINE_TRUST take: it names exactly what is here now."""
        return (*self._groups(), *([self.missed_hash] if self.missed else ()))

    @property
    def missed_hash(self) -> str:
        return sha256(canonical(["gone", *sorted(self.missed)])).hexdigest()[:32]

    def named(self, hashes: Iterable[str]) -> tuple[tuple[ReviewItem, ...], frozenset[str]]:
        """The pending entries that hashes name, and the hashes that name nothing here."""
        groups = self._groups()
        wanted = frozenset(hashes)
        meant = {identity for each in wanted for identity in groups.get(each, ())}
        unknown = wanted.difference(self.hashes)
        return tuple(entry for entry in self.pending if entry.item.identity in meant), unknown

    def accept(self, entries: Sequence[ReviewItem], *, guards: bool = True) -> None:
        """The user says yes to these entries, and to the guards that are gone. Raises StoreError."""
        for root in dict.fromkeys(entry.root for entry in entries):
            self.trust.accept([entry.item for entry in entries if entry.root == root], root)
        if guards:
            Sessions(self.trust.project.home).confirm(self.trust.root, self.guards)

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
    guards = guards_of(hooks, trust)
    missed = Sessions(trust.project.home).missed(trust.root, guards)
    return Review(trust, tuple(entries), missed, guards)


def _hook_entries(trust: Trust, hooks: Sequence[Hook]) -> Iterator[ReviewItem]:
    # All of them first: what is there decides what an entry seems to be a change of.
    items = [trust.item(hook) for hook in hooks]
    for hook, item in zip(hooks, items, strict=True):
        root = trust.project.owner(hook.where.file, hook.scope)
        yield ReviewItem(item, root, trust.status(hook), tuple(what_hook_does(hook)), tuple(hook_texts(hook)))
