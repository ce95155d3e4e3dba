"""A node gateway in the network of a harbour, and what the specs of its machines need."""

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching
from tests.bootstrapper.artifacts.releases import EXPIRES, key, trust
from tests.node.harbour import Harbour
from tests.node.rendering import Store
from tests.services.certificates import Authority
from tools.oracles import machineadm
from tools.release import folder

VERSION = "1.0.0"
DEAD = "https://10.77.0.239"
EXECUTOR = {"argv": ["sh", "-c", "readlink /proc/$PPID/exe >/var/executor"]}


class Gateway:
    """A gateway in the network of a harbour, at an address of its own, and what the spec of its machines needs."""

    def __init__(self, harbour: Harbour, place: Path, address: str) -> None:
        self.address = address
        self.place = harbour.place
        self.store = place / "store"
        self._place, self._authority, signer = place, Authority(), key()
        certificates = self._authority.fill(place / "certificates", address=address)
        self.authorities = self._authority.certificate.decode()
        self.release = folder.write(
            self.store, {"linux/amd64": machineadm.require()}, [signer], expires=EXPIRES, version=VERSION
        )
        self.blob = self.store / self.release.binaries[0].path
        self.command = (
            f"ip address add {address}/32 dev br0 && exec {sys.executable} -m slipway.node_gateway "
            f"--listen-address={address}:443 --tls-cert-dir={certificates} --store=file://{self.store}"
        )
        mirrors = (DEAD, f"https://{address}")
        harbour.rendering = harbour.rendering.handing_out(
            Artifacts(Catalogue(self.store / "manifests", trust(signer)), mirrors)
        )
        self.spec: dict[str, Any] = {
            "agent": {"source": "Download", "version": VERSION},
            "commands": {"pre": [EXECUTOR]},
            "os": {"trustedCertificates": [{"name": "gateway", "certificate": {"text": self.authorities}}]},
        }

    def delivering(self, harbour: Harbour, base: str = "", *, store: Store | None = None) -> None:
        """Have the machines of a harbour fetch their user data here, or at another address that has them elsewhere."""
        fetching = Fetching(frozenset({"metal"}), base or f"https://{self.address}", self.authorities)
        harbour.rendering = harbour.rendering.delivering(fetching, store or self.keep)
        self.spec["delivery"] = {"mode": "Fetch"}

    def certificate_for(self, address: str) -> bytes:
        """Give certificate and key, PEM, of another server by the same authority."""
        held = self._authority.fill(self._place / "other", address=address)
        return b"".join((held / name).read_bytes() for name in ("tls.crt", "tls.key"))

    def keep(self, name: str, payload: bytes) -> None:
        """Have what a machine fetches."""
        (self.store / FOLDER).mkdir(exist_ok=True)
        (self.store / FOLDER / name).write_bytes(payload)

    def start(self) -> None:
        """Serve from now on."""
        self.place.serve("sh", "-c", self.command)


@contextmanager
def gateway(harbour: Harbour, engine: Callable[..., None], address: str) -> Iterator[Gateway]:
    """Have a gateway serve the machines of a harbour."""
    engine(machineadm.NAME)
    with tempfile.TemporaryDirectory(prefix="slipway-gateway-") as place:
        yield Gateway(harbour, Path(place), address)
