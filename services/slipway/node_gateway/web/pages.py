"""The templates of the page. Every value is escaped: none of them is trusted, and none is marked as safe."""

from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from slipway.diagnosis.scrubbing import scrubbed
from slipway.reports.presentation import COLUMNS, age

REFRESH_SECONDS = 10
"""After so long a browser reads a page again."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Server": "slipway",
}
"""What each answer says to browsers: nothing but our own style sheet is loaded, no script, and no site frames us."""


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        loader=PackageLoader(__package__),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(path=_path, seconds=_seconds, clock=_clock, scrubbed=scrubbed)
    environment.globals.update(columns=COLUMNS)
    return environment


def render(template: str, **values: Any) -> str:
    """Give a page."""
    now = datetime.now(UTC)
    return _environment().get_template(template).render(
        values, now=now, age=lambda then: age(now, then), refresh=values.pop("refresh", False) and REFRESH_SECONDS
    )  # fmt: skip


def style() -> bytes:
    """Give the style sheet."""
    return resources.files(__package__).joinpath("static/style.css").read_bytes()


def _path(text: str) -> str:
    """Give a part of a path, or a value of a query string, as an address has it."""
    return quote(text, safe="")


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _clock(time: datetime) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%SZ")
