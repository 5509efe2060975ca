"""Install Hookline in Kimi Code's config.toml, the only file it has: nothing belongs to a project."""

from collections.abc import Sequence

from hookline.dialects.installer import Installer, InstallError, Site


class KimiInstaller(Installer):
    def files(self, site: Site) -> Sequence[str]:
        if site.scope == "project":
            raise InstallError(
                "Kimi Code has no hooks of a project: install it for the user, without --project"
            )
        return super().files(site)
