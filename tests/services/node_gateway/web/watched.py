"""A tab of a real browser in which nothing goes unseen: what it asks for, what it logs, what its policy forbids."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, Dialog, Page, Request, expect

PATIENCE = 60_000
"""Milliseconds until something must be there; the machine may be busy."""

_VIOLATIONS = "addEventListener('securitypolicyviolation', event => noteViolation(event.violatedDirective), true)"


@dataclass
class Tab:
    """A tab.

    Attributes:
        page: what a test does things with.
        origin: the site that it is for.
        requests: addresses that were asked for.
        problems: lines of the console, errors of scripts, dialogs and violations of the content policy.
    """

    page: Page
    origin: str
    requests: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    async def go(self, path: str) -> None:
        """Open a page of the site."""
        await self.page.goto(f"{self.origin}{path}")

    def check(self) -> None:
        """Nothing was logged, forbidden or executed, and no other site was asked for anything."""
        assert self.requests
        assert [address for address in self.requests if not address.startswith(f"{self.origin}/")] == []
        assert self.problems == []


@asynccontextmanager
async def tab_of(browser: Browser, port: int, *, scripts: bool = True) -> AsyncIterator[Tab]:
    """Give a tab for a site on this machine, with scripts or without."""
    context = await browser.new_context(
        java_script_enabled=scripts, viewport={"width": 900, "height": 700}, color_scheme="light"
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page = await context.new_page()
    tab = Tab(page, f"http://127.0.0.1:{port}")

    async def dismiss(dialog: Dialog) -> None:
        tab.problems.append(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def note_request(request: Request) -> None:
        tab.requests.append(request.url)

    page.on("request", note_request)
    page.on("console", lambda message: tab.problems.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: tab.problems.append(f"error: {error.message}"))
    page.on("dialog", dismiss)
    if scripts:
        await page.expose_function("noteViolation", lambda directive: tab.problems.append(f"violation: {directive}"))
        await page.add_init_script(_VIOLATIONS)
    try:
        yield tab
    finally:
        await context.close()
