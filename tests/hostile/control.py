"""The harness itself: where the user trusts a repository, it must see what the hooks there do."""

from pathlib import Path

from tests.hostile.opened import Opened, opened
from tests.hostile.openings import Opening
from tests.hostile.repositories import REPOSITORIES
from tests.hostile.site import Site


def trusted_run(top: Path) -> tuple[Site, Opened]:
    """A repository below a directory of the user's own `trusted`, whose hooks run and send a request."""
    with Site(top / "site") as site:
        site.root = site.home / "trusted" / "repository"
        site.root.mkdir(parents=True)
        site.cwd = site.root
        REPOSITORIES["native_toml"](site)
        site.write(
            ".hookline/hooks.local.toml",
            f'[[hooks.SessionStart]]\nhooks = [{{ type = "http", url = "{site.url("http")}" }}]\n',
        )
        return site, opened(site, Opening(name="fire", words=("fire", "SessionStart")), top / "traces")
