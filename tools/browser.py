"""Get what a real browser needs: Chromium from Debian's packages, Playwright from PyPI and axe-core from npm.

The last two go into .console, where the screenshots of the console are, too.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".console"
#: No download of a browser: Playwright only drives the installed one.
_PLAYWRIGHT = "playwright==1.65.0"
_AXE = "axe-core@4.14.0"
_PACKAGES = ("chromium", "fonts-dejavu", "fonts-noto-color-emoji")
#: Another apt-get may be at work, and a mirror may not answer.
_APT_OPTIONS = (
    "-o", "DPkg::Lock::Timeout=120", "-o", "Acquire::http::Timeout=30", "-o", "Acquire::Retries=1",
)  # fmt: skip
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_environment() -> Mapping[str, str] | None:
    """Return the variables with which tests find a browser; None, with lines that say why, where there is none."""
    browser = found_browser() or installed_browser()
    packages = FOLDER / "packages"
    if browser is None or not (has_playwright(packages) or got_playwright(packages)):
        return None
    return {"PYTHONPATH": str(packages), "HOOKLINE_BROWSER": browser, "HOOKLINE_AXE": str(axe() or "")}


def say(text: str) -> None:
    print(f"browser: {text}", flush=True)


def found_browser() -> str | None:
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def installed_browser() -> str | None:
    """None, with a line that says why, where it cannot be installed."""
    if shutil.which("apt-get") is None:
        say(f"there is no Chromium and no apt-get: install one of {', '.join(_NAMES)} and put it on PATH")
        return None
    if os.geteuid() != 0:
        say(f"there is no Chromium, and only root can install it: apt-get install {' '.join(_PACKAGES)}")
        return None
    say("installing Chromium from Debian's packages (a minute, once) ...")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *_PACKAGES]):
        ran = subprocess.run(
            ["apt-get", "-qq", *_APT_OPTIONS, *words], env=env, check=False, capture_output=True, text=True
        )
        if ran.returncode:  # without an update, lists that are there may do
            what = "installed" if words[0] == "install" else "looked for: apt-get update failed"
            say(f"Chromium could not be {what}: {ran.stderr.strip()[-500:]}")
    return found_browser()


def has_playwright(packages: Path) -> bool:
    return any(packages.glob(f"{_PLAYWRIGHT.replace('==', '-')}.dist-info"))


def got_playwright(packages: Path) -> bool:
    say(f"getting {_PLAYWRIGHT} (once) ...")
    shutil.rmtree(packages, ignore_errors=True)
    words = [
        "-m",
        "pip",
        "install",
        "-qq",
        "--disable-pip-version-check",
        "--target",
        str(packages),
        _PLAYWRIGHT,
    ]
    ran = subprocess.run([sys.executable, *words], check=False, capture_output=True, text=True)
    if ran.returncode:
        say(f"Playwright could not be installed: {ran.stderr.strip()[-500:]}")
    return ran.returncode == 0


def axe() -> Path | None:
    """The script that looks for what people with disabilities cannot use."""
    file = FOLDER / f"{_AXE.replace('@', '-')}.min.js"
    if file.exists():
        return file
    if shutil.which("npm") is None:
        say("there is no npm: accessibility is not looked at")
        return None
    FOLDER.mkdir(exist_ok=True)
    ran = subprocess.run(
        ["npm", "pack", "--silent", _AXE], cwd=FOLDER, check=False, capture_output=True, text=True
    )
    archive = FOLDER / f"{_AXE.replace('@', '-')}.tgz"
    if ran.returncode or not archive.exists():
        say(f"axe-core could not be got: {ran.stderr.strip()[-500:]}")
        return None
    with tarfile.open(archive) as packed:
        content = packed.extractfile("package/axe.min.js")
        if content is None:
            return None
        file.write_bytes(content.read())
    archive.unlink()
    return file
