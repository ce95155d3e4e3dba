"""Boots the same machine by both deliveries and both executors, and says how long each takes; `make bench-boots`.

A gateway in the network of the machine has the user data that is fetched, and machineadm. Each is booted in turn; what
counts is the median.
"""

import asyncio
import dataclasses
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from statistics import median

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.bootstrapper.bootstrapper import Bootstrapper, utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.certificates.authority import Authority, Subject
from slipway.contract.version import VERSION
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.bench.process_figures import machine
from tools.bench.sections import BOOTS, PAGE, with_section
from tools.node import site, timeline
from tools.node.compare import NATIVE, Boot
from tools.oracles import machineadm
from tools.release import folder

VARIANTS = {
    "inline, the runner": (specpb.DELIVERY_MODE_INLINE, specpb.AGENT_SOURCE_NONE),
    "inline, machineadm": (specpb.DELIVERY_MODE_INLINE, specpb.AGENT_SOURCE_DOWNLOAD),
    "fetched, the runner": (specpb.DELIVERY_MODE_FETCH, specpb.AGENT_SOURCE_NONE),
    "fetched, machineadm": (specpb.DELIVERY_MODE_FETCH, specpb.AGENT_SOURCE_DOWNLOAD),
}
"""Delivery and executor of each machine."""

ROUNDS = 2
_ADDRESS = "169.254.21.9"
_SECONDS = 600.0


@dataclasses.dataclass(frozen=True, slots=True)
class Gateway:
    """What a gateway serves, and how a machine gets to it."""

    place: Path
    store: Path
    bootstrapper: Bootstrapper

    @classmethod
    def filled(cls, place: Path, program: Path) -> "Gateway":
        """Fill a folder with a release of machineadm, which is the program, and a certificate."""
        now, store = utc_now(), place / "store"
        signer = Ed25519PrivateKey.generate()
        expires = now + timedelta(days=2)
        folder.write(store, {"linux/amd64": program}, [signer], expires=expires)
        authority = Authority(trust_domain="bench", now=now, validity=timedelta(days=2))
        issued = authority.issue(Subject(role="node-gateway", name="node-gateway", hosts=(_ADDRESS,)))
        for name, data in (("tls.crt", issued.certificate), ("tls.key", issued.key)):
            (place / name).write_bytes(data)
        trusted = authority.certificate.decode()
        catalogue = Catalogue(store / "manifests", Trust((signer.public_key(),), None, utc_now))
        bootstrapper = dataclasses.replace(
            embedded_bootstrapper(store=EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now))),
            artifacts=Artifacts(catalogue, (f"https://{_ADDRESS}",), trusted),
            fetching=Fetching(frozenset({"metal"}), f"https://{_ADDRESS}", trusted),
        )
        return cls(place, store, bootstrapper)

    @property
    def command(self) -> str:
        """A line of shell that serves, in the network between the machines."""
        return (
            f"ip address add {_ADDRESS}/32 dev br0 && exec {sys.executable} -m slipway.node_gateway "
            f"--listen-address={_ADDRESS}:443 --tls-cert-dir={self.place} --store=file://{self.store}"
        )

    def user_data(self, mode: specpb.DeliveryMode.ValueType, agent: specpb.AgentSource.ValueType) -> bytes:
        """Render the machine; what it fetches is kept."""
        (question,) = read_document_set({"boots.yaml": NATIVE}, variables={}, substitute=False).questions
        spec = question.subject.spec
        spec.provisioner.name, spec.target.infrastructure = "cloud-init", "metal"
        spec.delivery.mode = mode
        if agent == specpb.AGENT_SOURCE_DOWNLOAD:
            spec.agent.source, spec.agent.version = agent, VERSION
        request = bootstrappb.GetUserDataRequest(
            subject=question.subject, credentials=question.secrets, accept_attachments=True
        )
        answer = asyncio.run(self.bootstrapper.user_data(request))
        for attachment in answer.attachments:
            if attachment.url:
                (self.store / FOLDER).mkdir(exist_ok=True)
                (self.store / FOLDER / attachment.name).write_bytes(attachment.content)
        return answer.user_data


def rounds(count: int) -> Iterator[tuple[str, Boot]]:
    """Boot each variant in turn, and each time from another one on, so that a busy hour is busy for all."""
    names = list(VARIANTS)
    for number in range(count):
        for name in names[number:] + names[:number]:
            with tempfile.TemporaryDirectory(prefix="slipway-boots-") as scratch, site.opened() as place:
                gateway = Gateway.filled(Path(scratch), machineadm.require())
                node = place.machine("node")
                place.serve("sh", "-c", gateway.command)
                node.boot(gateway.user_data(*VARIANTS[name]))
                node.wait_sentinel(timeout=_SECONDS)
                used = node.processor_seconds
                yield name, Boot(round(timeline.read(node)[-1].seconds, 1), round(used, 1))


def section(measured: Mapping[str, Sequence[Boot]], *, load: float) -> str:
    """Return the section of the page; `load` is the machine's load average before its measurement began."""
    rows = []
    for name, boots in measured.items():
        passed, used = (median(getattr(boot, of) for boot in boots) for of in ("seconds", "processor_seconds"))
        each = ", ".join(f"{boot.seconds} ({boot.processor_seconds})" for boot in boots)
        rows.append(f"| {name} | {passed:.1f} | {used:.1f} | {each} |")
    return "\n".join(
        [
            BOOTS, "",
            f"Measured by `make bench-boots` on {machine()}: the first control plane of a cluster, a real one",
            "(kubeadm, kubelet and containerd under systemd), booted by cloud-init. A node gateway on the same machine",
            "has machineadm, and the user data that are fetched. From power to sentinel, medians; other programs ran",
            f"meanwhile: the load average was {load:.0f}, so that the seconds of the processors say more.",
            "",
            "| user data, executor | seconds | seconds of the processors | each boot |",
            "| --- | --- | --- | --- |",
            *rows,
        ]
    )  # fmt: skip


def main() -> None:
    """Measure, and write the section of the page."""
    load = os.getloadavg()[0]
    measured: dict[str, list[Boot]] = {name: [] for name in VARIANTS}
    for name, boot in rounds(ROUNDS):
        print(f"{name}: {boot.seconds} s, {boot.processor_seconds} s of the processors", flush=True)
        measured[name].append(boot)
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), section(measured, load=load)), encoding="utf-8")


if __name__ == "__main__":
    main()
