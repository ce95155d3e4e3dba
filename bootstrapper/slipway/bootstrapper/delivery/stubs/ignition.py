"""An Ignition config that is replaced by another one. Source: configuration-v3_3.md of coreos/ignition."""

import json
from typing import Any
from urllib.parse import quote

from slipway.bootstrapper.delivery.stubs.source import Source

TOTAL_SECONDS = 3600
"""How long Ignition tries. Without a limit it tries for ever, whatever fails: a wrong certificate as well."""

_SAFE = "/:@!$&'()*+,;="


def ignition(source: Source, *, version: str) -> bytes:
    """Give the user data of a specification, which is 3.1.0 or newer: older ones send no header."""
    resource: dict[str, Any] = {"source": source.url, "verification": {"hash": f"sha256-{source.sha256}"}}
    if source.ticket:
        resource["httpHeaders"] = [{"name": "Authorization", "value": f"Bearer {source.ticket}"}]
    about: dict[str, Any] = {
        "version": version,
        "config": {"replace": resource},
        "timeouts": {"httpTotal": TOTAL_SECONDS},
    }
    if source.proxy:
        about["proxy"] = {"httpsProxy": source.proxy}
    authorities = [{"source": f"data:,{quote(pem, safe=_SAFE)}"} for pem in source.certificates()]
    if authorities:
        about["security"] = {"tls": {"certificateAuthorities": authorities}}
    return json.dumps({"ignition": about}, separators=(",", ":")).encode()
