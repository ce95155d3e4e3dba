"""What profiles cost in user data, and how EC2 gets them then: measured by rendering, so that no figure goes stale."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import yaml

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compliance.profile_table import profile_ids
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.contract.errors import UserDataTooLarge
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tools.docgen.markdown import code, table

INTRODUCTION = """\
User data in kB (1,000 bytes) of a machine without profiles and with each of them: Kubernetes v1.34.2, secrets of the
usual length, and nothing else in the spec; Debian 12 but for Talos. The last column is for EC2, which takes 16.4 kB,
where the provider passes user data on as they are (`target.userDataUnchanged`). What is too large there even when it
is compressed, or cannot be compressed, is refused; with `delivery: {mode: Fetch}` EC2 gets a stub of at most 2,048
bytes instead. By default Cluster API Provider AWS keeps user data outside of the instance, where none of these is too
large."""

_LINUX = {"osFamily": "Linux", "distribution": "debian", "osVersion": "12"}
_TARGETS: dict[str, dict[str, str]] = {"cloud-init": _LINUX, "ignition": _LINUX, "talos": {}}
_ROLES = {"Init": "first control plane", "ControlPlane": "control plane", "Worker": "worker"}
_API = "bootstrap.slipway.dev/v1alpha1"


@dataclass(frozen=True, slots=True)
class Cost:
    """User data of one machine.

    Attributes:
        format: of the user data.
        raw: bytes of it.
        compressed: bytes of it after gzip.
        delivery: how EC2 gets it, in words.
    """

    format: str
    raw: int
    compressed: int
    delivery: str


def size_section() -> str:
    """Give the section of the page."""
    heads = ["Format", "Machine", "Profile", "kB", "kB, gzip", "On EC2"]
    return f"## Size\n\n{INTRODUCTION}\n\n{table(heads, list(_rows()))}"


def _rows() -> Iterator[list[str]]:
    for (_, role, profile), cost in costs().items():
        sizes = [f"{size / 1000:.1f}" for size in (cost.raw, cost.compressed)]
        yield [code(cost.format), _ROLES[role], code(profile) if profile else "none", *sizes, cost.delivery]


@cache
def costs() -> dict[tuple[str, str, str], Cost]:
    """Measure all machines of the table, by provisioner, role and profile ("" for none)."""
    keys = [
        (provisioner, role, profile) for provisioner in _TARGETS for role in _ROLES for profile in ("", *profile_ids())
    ]
    return asyncio.run(_costs(keys))


async def _costs(keys: list[tuple[str, str, str]]) -> dict[tuple[str, str, str], Cost]:
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    return {key: await _cost(bootstrapper, *key) for key in keys}


async def _cost(bootstrapper: Bootstrapper, provisioner: str, role: str, profile: str) -> Cost:
    # With a store of the provider's own nothing is too large, so that each machine has its figures.
    answer = await bootstrapper.user_data(_request(provisioner, role, profile, unchanged=False))
    try:
        inline = await bootstrapper.user_data(_request(provisioner, role, profile, unchanged=True))
        delivery = "inline, gzip" if inline.user_data.startswith(b"\x1f\x8b") else "inline"
    except UserDataTooLarge:
        delivery = "refused; `Fetch`"
    return Cost(answer.format, answer.size.raw_bytes, answer.size.gzip_bytes, delivery)


def _request(provisioner: str, role: str, profile: str, *, unchanged: bool) -> bootstrappb.GetUserDataRequest:
    target = {**_TARGETS[provisioner], "infrastructure": "aws", "userDataUnchanged": unchanged}
    spec = {
        "target": target,
        "provisioner": {"name": provisioner},
        **({"compliance": {"profiles": [profile]}} if profile else {}),
    }
    cluster = {
        "cluster": {"kubernetesVersion": "v1.34.2", "endpoint": {"host": "api.example.com"}},
        "machines": [{"name": "machine-1", "role": role, "config": "hardened"}],
    }
    documents = [
        {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": content}
        for kind, name, content in (("SlipwayCluster", "harbour", cluster), ("SlipwayConfig", "hardened", spec))
    ]
    (question,) = read_document_set({"sizes.yaml": yaml.safe_dump_all(documents)}, variables={}).questions
    return bootstrappb.GetUserDataRequest(
        subject=question.subject, credentials=question.secrets, accept_attachments=True, accept_gzip=True
    )
