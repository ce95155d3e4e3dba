"""What a machine can reach: servers of ours on its own loopback device, and nothing else in the world."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Answer:
    """What a server says to one path; ``needs`` is a header line, in lower case, without which it refuses."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    needs: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Site:
    """A server at an IPv4 address, of which the machine takes possession.

    Attributes:
        address: loopback's, or one that only clouds have.
        port: where it listens.
        answers: by path, as a client writes it once its percent-encoding is undone; any other is not found.
        certificate: PEM of its certificate and key, for HTTPS.
    """

    address: str
    port: int
    answers: Mapping[str, Answer]
    certificate: bytes = b""


def order(sites: Sequence[Site]) -> list[dict[str, Any]]:
    """The sites as JSON has them, for the program that serves them."""
    return [
        {
            "address": site.address,
            "port": site.port,
            "certificate": site.certificate.decode(),
            "answers": {
                path: {
                    "body": base64.b64encode(answer.body).decode(),
                    "status": answer.status,
                    "headers": dict(answer.headers),
                    "needs": answer.needs,
                }
                for path, answer in site.answers.items()
            },
        }
        for site in sites
    ]
