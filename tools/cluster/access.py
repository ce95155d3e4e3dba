"""How somebody reaches an API server, and the kubeconfig that says so to programs."""

from __future__ import annotations

import base64
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tools.cluster.authority import Pair, write_key


@dataclass(frozen=True, slots=True, repr=False)
class Access:
    """A server, its authority, and either a client certificate or a bearer token."""

    server: str
    authority: bytes
    user: str = "admin"
    certificate: Pair | None = None
    token: str = ""

    def kubeconfig(self) -> bytes:
        """The kubeconfig, everything within it."""
        user: dict[str, Any] = {"token": self.token} if self.token else {}
        if self.certificate is not None:
            user["client-certificate-data"] = _base64(self.certificate.certificate)
            user["client-key-data"] = _base64(self.certificate.key)
        cluster = {"server": self.server, "certificate-authority-data": _base64(self.authority)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "slipway", "cluster": cluster}],
            "users": [{"name": self.user, "user": user}],
            "contexts": [{"name": "slipway", "context": {"cluster": "slipway", "user": self.user}}],
            "current-context": "slipway",
        }
        return yaml.safe_dump(document).encode()

    def write(self, path: Path) -> Path:
        """Write the kubeconfig, for its owner's eyes only."""
        path.parent.mkdir(parents=True, exist_ok=True)
        return write_key(path, self.kubeconfig())

    def tls(self) -> ssl.SSLContext:
        """A context for a connection to the server."""
        context = ssl.create_default_context(cadata=self.authority.decode())
        if self.certificate is not None:
            with tempfile.NamedTemporaryFile() as both:  # ssl takes a client's certificate from a file only.
                both.write(self.certificate.certificate + self.certificate.key)
                both.flush()
                context.load_cert_chain(both.name)
        return context


def read(kubeconfig: bytes) -> Access:
    """Read the first cluster and user of a kubeconfig that holds everything within it."""
    document = yaml.safe_load(kubeconfig)
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    certificate = None
    if "client-certificate-data" in user:
        certificate = Pair(base64.b64decode(user["client-certificate-data"]), base64.b64decode(user["client-key-data"]))
    return Access(
        server=cluster["server"],
        authority=base64.b64decode(cluster["certificate-authority-data"]),
        user=document["users"][0]["name"],
        certificate=certificate,
        token=user.get("token", ""),
    )


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()
