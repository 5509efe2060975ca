"""Change what is published without its files: issue it again for longer, for more or other machines, or remove it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.bundles.format import WHOLE, Bundle, BundleFile, BundleScope, ScopeException, digest_of
from hookline.team.fleet.bundles.publish import PublishError
from hookline.team.fleet.bundles.transport import key_of

_HOOKS: Final = "hooks.toml"
#: Seconds for which machines can still learn that a bundle was removed.
_REMOVED_FOR: Final = 365 * 86_400
#: Bundles that a key has signed, with their writes, by name and revision.
Published = Mapping[tuple[str, int], tuple[Bundle, int]]


class Reissue(Struct, frozen=True):
    """A bundle to sign, the one that it comes from, and the write that it replaces."""

    bundle: Bundle
    before: Bundle
    after: int

    @property
    def line(self) -> str:
        bundle = self.bundle
        if bundle.removed:
            return f"{bundle.label}: machines do without {bundle.name}"
        until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(bundle.expires))
        return f"{bundle.label} again, {bundle.stage / 100:g} % of {bundle.scope}, until {until}"


def newest(published: Published, name: str) -> tuple[Bundle, int]:
    """Return the newest revision of a name. Raises PublishError."""
    own = {revision: each for (own_name, revision), each in published.items() if own_name == name}
    if not own:
        raise PublishError(f"no bundle {name} of this key is published")
    return own[max(own)]


def renewed(
    published: Published,
    name: str,
    seconds: float,
    stage: int | None = None,
    exceptions: Sequence[ScopeException] = (),
    now: float | None = None,
) -> Reissue:
    """Issue the newest revision again, for so many seconds from now. Raises PublishError."""
    now = time.time() if now is None else now
    before, write = newest(published, name)
    if before.removed:
        raise PublishError(f"{name} was removed: publish it")
    stage = before.stage if stage is None else stage
    if stage < before.stage:
        raise PublishError(
            f"{before.label} is on its way to {before.stage / 100:g} %, and no machine goes back"
        )
    issued = max(int(now), before.issued + 1)
    bundle = replace(
        before, issued=issued, expires=max(int(now + seconds), issued + 1), stage=stage,
        scope=with_exceptions(before.scope, exceptions, now),
    )  # fmt: skip
    return Reissue(bundle, before, write)


def with_exceptions(scope: BundleScope, exceptions: Sequence[ScopeException], now: float) -> BundleScope:
    """Add exceptions, each in place of an earlier one of the same machine, and drop those that are over."""
    given = {each.machine for each in exceptions}
    kept = [each for each in scope.exceptions if each.until > now and each.machine not in given]
    return replace(scope, exceptions=(*kept, *(each for each in exceptions if each.until > now)))


def removed(published: Published, name: str, highest: int = 0, now: float | None = None) -> Reissue:
    """Make the revision by which machines do without a bundle. Raises PublishError."""
    now = time.time() if now is None else now
    before, _ = newest(published, name)
    if before.removed:
        raise PublishError(f"{name} was removed already, by {before.label}")
    files = (BundleFile(_HOOKS, b""),)
    bundle = Bundle(
        name=name, revision=max(before.revision, highest) + 1, issued=int(now), expires=int(now) + _REMOVED_FOR,
        scope=BundleScope(machines=before.scope.machines, groups=before.scope.groups), hooks=_HOOKS, files=files,
        digest=digest_of(_HOOKS, files), removed=True,
    )  # fmt: skip
    return Reissue(bundle, before, 0)


def superseded(published: Published) -> Iterator[str]:
    """Yield the keys of revisions that no machine can need: a higher one is for all of their machines.

    A stage that halts needs the revision before it, so only a whole one counts.
    """
    for (name, revision), (bundle, _) in sorted(published.items()):
        higher = [
            each for (other, number), (each, _) in published.items() if other == name and number > revision
        ]
        if any(_covers(each, bundle) for each in higher):
            yield key_of(bundle)


def _covers(newer: Bundle, older: Bundle) -> bool:
    one, other = newer.scope, older.scope
    everybody = not one.machines and not one.groups
    same = (one.machines, one.groups) == (other.machines, other.groups)
    return newer.stage == WHOLE and (everybody or same)
