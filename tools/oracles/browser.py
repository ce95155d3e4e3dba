"""A real browser, Chromium without a window, driven by Playwright: it executes what a page has."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from playwright.async_api import Browser, async_playwright

from tools.oracles import roots

NAME = "browser"
_PROGRAM = "/usr/bin/chromium"
_OPTIONS = (
    # Of the names in the world it resolves none: what a page asks of other sites fails, and nothing of a test leaves.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-dev-shm-usage",
    "--disable-lcd-text",
)


def require() -> None:
    """Does nothing when the browser is on this machine.

    Raises:
        EngineMissing: it is not.
    """
    roots.require_packages(roots.BROWSER_PACKAGES, NAME)


def build() -> None:
    """Installs the browser on this machine unless it is there; Playwright brings none."""
    roots.install_packages(roots.BROWSER_PACKAGES)


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator[Browser]:
    """Gives a browser with a profile of its own, and ends it.

    Raises:
        EngineMissing: it was not built.
    """
    require()
    async with async_playwright() as playwright:
        # Root has no sandbox of Chromium's; what it shows are pages of ours with texts of a test.
        browser = await playwright.chromium.launch(
            executable_path=_PROGRAM, chromium_sandbox=False, args=list(_OPTIONS)
        )
        try:
            yield browser
        finally:
            await browser.close()
